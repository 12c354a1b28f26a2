"""Data of the measurements, seeded, and what is compared on them."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits

ROOT = Path(__file__).resolve().parents[1]
SEED = 20210310
K = 10


@dataclass
class Data:
    """X, y and what to say of them."""

    X: Any
    y: np.ndarray
    description: str

    def write(self, path):
        """Write them to one .npz file, which every process reads; return its path."""
        if sparse.issparse(self.X):
            parts = {
                "data": self.X.data,
                "indices": self.X.indices,
                "indptr": self.X.indptr,
                "shape": np.array(self.X.shape),
            }
        else:
            parts = {"X": self.X}
        np.savez(path, y=self.y, **parts)
        return path


@dataclass
class Contender:
    """One implementation with its settings.

    ``goal`` is the least number of times that its fit is to take as long as ours; ``at_most`` turns it around: the
    largest number of times that ours may take as long as it. ``once_above`` (seconds): a fit that takes longer is
    timed once only.
    """

    name: str
    implementation: str
    settings: dict = field(default_factory=dict)
    goal: float | None = None
    at_most: float | None = None
    storage: str | None = None
    once_above: float = float("inf")


@dataclass
class Check:
    """One comparison of weights: peer and ours each fit once, untimed, with these settings on these data."""

    peer: str
    implementation: str
    on: str
    reason: str
    tolerance: float | None
    peer_settings: dict = field(default_factory=dict)
    our_settings: dict = field(default_factory=dict)
    storage: str | None = None


@dataclass
class Workload:
    """Data sets by name ("timed" is the one that is timed), ours first among the contenders, and the checks."""

    title: str
    data: Callable[[], dict[str, Data]]
    contenders: list[Contender]
    checks: Callable[[dict[str, Data]], list[Check]] = lambda data: []
    record_umap: bool = False


# --- data ----------------------------------------------------------------------------------------


def local_folder():
    """Return the folder of data sets that are not bundled; it need not exist."""
    given = os.environ.get("RELIEFE_LOCAL_DATA")
    return Path(given) if given else ROOT.parent / "shared" / "data"


def digits(tiny):
    X, y = load_digits(return_X_y=True)
    if tiny:
        X, y = X[:150], y[:150]
    return Data(X, y, f"digits of scikit-learn, {X.shape[0]} x {X.shape[1]}, 10 classes")


def optdigits(tiny):
    n = 200 if tiny else 5620
    path = local_folder() / "optdigits" / "optdigits.dat.gz"
    if path.is_file():
        with gzip.open(path, "rt") as file:
            table = np.loadtxt(file, delimiter=",")
        X, y = np.ascontiguousarray(table[:n, :-1]), table[:n, -1].astype(np.int64)
        return Data(X, y, f"optdigits, the real file, {n} x 64, 10 classes")
    rng = np.random.default_rng(SEED)
    X = rng.integers(0, 17, size=(n, 64)).astype(np.float64)
    return Data(
        X,
        rng.integers(0, 10, size=n),
        f"RANDOM integers 0 to 16 in place of optdigits (no {path.name} in the local data folder), {n} x 64",
    )


def wide(tiny):
    n, p = (90, 400) if tiny else (800, 20_000)
    rng = np.random.default_rng(SEED)
    return Data(
        rng.standard_normal((n, p)), rng.integers(0, 5, size=n), f"random normal, {n} x {p}, 5 classes"
    )


def low_dimensional(n, p, rng, d=10, classes=5):
    """Rows near a d-dimensional plane in p columns, and a class that depends on the place in it."""
    factors = rng.standard_normal((n, d))
    X = factors @ rng.standard_normal((d, p))
    X += 0.5 * rng.standard_normal((n, p))
    y = np.digitize(factors[:, 0] + 0.3 * factors[:, 1], [-1.0, -0.3, 0.3, 1.0][: classes - 1])
    return X, y


def wide_low_dimensional(tiny):
    n, p = (120, 300) if tiny else (800, 20_000)
    X, y = low_dimensional(n, p, np.random.default_rng(SEED))
    return Data(X, y, f"10 random factors plus noise, {n} x {p}, 5 classes")


def random_sparse(n, p, density, rng):
    """CSR with uniformly placed values in (0, 1]."""
    per_row = rng.binomial(p, density, size=n)
    indptr = np.concatenate(([0], np.cumsum(per_row)))
    indices = np.concatenate([np.sort(rng.choice(p, size=m, replace=False)) for m in per_row])
    return sparse.csr_matrix((1.0 - rng.random(indptr[-1]), indices.astype(np.int32), indptr), shape=(n, p))


def sparse_table(tiny):
    n, p = (300, 400) if tiny else (11_162, 11_465)
    rng = np.random.default_rng(SEED)
    X = random_sparse(n, p, 0.005, rng)
    return Data(X, rng.integers(0, 10, size=n), f"random sparse, {n} x {p}, 0.5 % non-zeros, 10 classes")


def sparse_arff(path, n_labels):
    """Read a sparse ARFF file whose attributes are all {0,1} and whose last ``n_labels`` are the labels."""
    n_columns, indices, indptr = 0, [], [0]
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if line.lower().startswith("@attribute"):
                n_columns += 1
            elif line.startswith("{"):
                pairs = [pair.split() for pair in line.strip().strip("{}").split(",") if pair.strip()]
                indices += sorted(int(place) for place, value in pairs if value == "1")
                indptr.append(len(indices))
    table = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(len(indptr) - 1, n_columns))
    return table[:, :-n_labels].tocsr(), table[:, -n_labels:].toarray().astype(np.int8)


def bibtex(tiny):
    path = local_folder() / "bibtex" / "bibtex.arff.gz"
    if path.is_file():
        X, T = sparse_arff(path, 159)
        said = "bibtex, the real file"
    else:
        rng = np.random.default_rng(SEED)
        X = random_sparse(7395, 1836, 0.0374, rng)
        X.data[:] = 1.0
        T = (rng.random((7395, 159)) < 0.0151).astype(np.int8)
        said = f"RANDOM, of the shape and density of bibtex (no {path.name} in the local data folder)"
    if tiny:
        X, T = X[:200, -300:].tocsr(), T[:200]
    return Data(X, T, f"{said}, {X.shape[0]} x {X.shape[1]} sparse, {T.shape[1]} labels")


def tie_free(data, tiny):
    """As many rows of each class, and a little noise on every value.

    No two distances are equal, no column is constant, and all classes have one share of the rows: what is left
    to differ between two implementations of one definition is rounding.
    """
    rng = np.random.default_rng(SEED + 1)
    classes, counts = np.unique(data.y, return_counts=True)
    m = min(int(counts.min()), 12 if tiny else 100)
    rows = np.sort(np.concatenate([np.flatnonzero(data.y == each)[:m] for each in classes]))
    X = data.X[rows] + 0.1 * rng.random((rows.shape[0], data.X.shape[1]))
    return Data(X, data.y[rows], f"{m} rows of each class of it, plus noise: no ties, equal class shares")


# --- what is compared ----------------------------------------------------------------------------

SINGLE = "single precision inside: rounding at about 1e-7 of a sum's terms"
TIES = (
    "the values are integers, so many distances are equal; ties are exact with us and go to the lower row, while "
    "rounding decides them here"
)


def ours(**parameters):
    """Return settings of our ReliefF."""
    return {"parameters": {"n_neighbors": K, **parameters}}


def papers_rows(n, n_iterations):
    """Return the rows that the paper's package takes, in its own sampling."""
    return np.sort(np.random.RandomState(42).permutation(n)[:n_iterations]).tolist()


def paper_check(data, on, n_iterations, tolerance, reason, **parameters):
    n = data[on].X.shape[0]
    return Check(
        "paper",
        "paper",
        on,
        f"on the {n_iterations} rows it takes: {reason}",
        tolerance,
        {"parameters": {"k": K, **parameters}, "n_iterations": n_iterations},
        {**ours(), "rows": papers_rows(n, n_iterations)},
    )


def fast_select_check(on, tolerance, reason, discrete_limit=0):
    settings = {"parameters": {"n_neighbors": K, "discrete_limit": discrete_limit}}
    return Check("fast_select", "fast_select", on, reason, tolerance, settings, ours())


def image_checks(data, iterations, with_skrebate):
    few = "columns of at most 10 values are taken as nominal (its default): another definition"
    checks = [
        fast_select_check("tie_free", 1e-4, f"one definition; {SINGLE}"),
        fast_select_check("timed", None, f"one definition but for ties: {TIES}"),
        fast_select_check("timed", None, f"{few}; ties as well", discrete_limit=10),
        paper_check(data, "tie_free", iterations, 1e-9, "one definition"),
        paper_check(data, "timed", iterations, None, f"one definition but for ties: {TIES}"),
    ]
    if with_skrebate:
        checks += [
            Check(
                "skrebate",
                "skrebate",
                "tie_free",
                "one definition where all classes have equal shares (every column declared continuous)",
                1e-9,
                {"parameters": {"n_neighbors": K, "categorical_features": []}},
                ours(),
            ),
            Check(
                "skrebate",
                "skrebate",
                "timed",
                f"misses of every class weigh the same instead of P(c) / (1 - P(own)); {few}, and where there are "
                "such columns a difference above a standard deviation counts as 1 in the others; ties go as "
                "the sort leaves them",
                None,
                {"parameters": {"n_neighbors": K}},
                ours(),
            ),
        ]
    return checks


def two_classes(data):
    """Even classes against odd ones: with two classes, all implementations of MultiSURF share a definition."""
    return Data(data.X, data.y % 2, f"{data.description}, even classes against odd ones")


def multisurf_check(peer, on, tolerance, reason, parameters, compatible=None):
    settings = {"ranker": "MultiSURF", "parameters": parameters}
    return Check(
        peer,
        peer,
        on,
        reason,
        tolerance,
        settings,
        {"ranker": "MultiSURF", "parameters": {"compatible": compatible}},
    )


def multisurf_workloads(tiny):
    """Return the races of MultiSURF, by name."""
    our_settings = {"ranker": "MultiSURF"}
    fast = {"ranker": "MultiSURF", "parameters": {}}
    fast_continuous = {"ranker": "MultiSURF", "parameters": {"discrete_limit": 0}}
    pooled = "misses of all classes are one group here, with us each class counts by its share"
    borders = "a row within single precision of a threshold may be on its other side"

    def digits_of_all_kinds():
        timed = digits(tiny)
        free = tie_free(timed, tiny)
        return {"timed": timed, "tie_free": free, "two_classes": two_classes(free)}

    def wide_of_both_kinds():
        timed = wide(tiny)
        return {"timed": timed, "two_classes": two_classes(timed)}

    continuous = {"discrete_limit": 0}
    return {
        "multisurf_digits": Workload(
            "MultiSURF, digits",
            digits_of_all_kinds,
            [
                Contender("ours", "ours", our_settings),
                Contender("fast_select", "fast_select", fast, goal=2),
                Contender("fast_select, all continuous", "fast_select", fast_continuous, goal=2),
                Contender("skrebate", "skrebate", {"ranker": "MultiSURF"}, goal=200, once_above=10.0),
            ],
            lambda data: [
                multisurf_check(
                    "fast_select", "two_classes", 1e-3, f"one definition; {SINGLE}, and {borders}", continuous
                ),
                multisurf_check("fast_select", "tie_free", None, pooled, continuous),
                multisurf_check(
                    "skrebate",
                    "two_classes",
                    1e-9,
                    "one definition (every column declared continuous)",
                    {"categorical_features": []},
                ),
                multisurf_check(
                    "skrebate",
                    "tie_free",
                    1e-9,
                    'one definition with compatible="skrebate" (every column declared continuous)',
                    {"categorical_features": []},
                    compatible="skrebate",
                ),
            ],
        ),
        "multisurf_wide": Workload(
            "MultiSURF, wide random data",
            wide_of_both_kinds,
            [
                Contender("ours", "ours", our_settings),
                Contender("fast_select", "fast_select", fast, goal=4),
            ],
            lambda data: [
                multisurf_check(
                    "fast_select",
                    "two_classes",
                    1e-2,
                    f"one definition; {SINGLE}, and 20,000 terms a distance; {borders}",
                    continuous,
                ),
                multisurf_check("fast_select", "timed", None, pooled, continuous),
            ],
        ),
    }


def race_workloads(tiny=False):
    """Return the workloads in which implementations are timed in turn, by name."""
    iterations = 5 if tiny else 20

    def with_tie_free(make):
        def both():
            timed = make(tiny)
            return {"timed": timed, "tie_free": tie_free(timed, tiny)}

        return both

    fast = {"parameters": {"n_neighbors": K}}
    fast_continuous = {"parameters": {"n_neighbors": K, "discrete_limit": 0}}
    reliefe = {"ranker": "ReliefE", "parameters": {"random_state": 0}}
    found = {
        "digits": Workload(
            "ReliefF, digits, k = 10",
            with_tie_free(digits),
            [
                Contender("ours", "ours", ours()),
                Contender("fast_select", "fast_select", fast, goal=2.5),
                Contender("fast_select, all continuous", "fast_select", fast_continuous, goal=2.5),
                Contender("skrebate", "skrebate", {"parameters": {"n_neighbors": K}}, goal=300),
                Contender("paper", "paper", {"parameters": {"k": K}, "n_iterations": iterations}, goal=150),
            ],
            lambda data: image_checks(data, iterations, with_skrebate=True),
        ),
        "wide": Workload(
            "ReliefF, wide random data, k = 10",
            lambda: {"timed": wide(tiny)},
            [
                Contender("ours", "ours", ours()),
                Contender("fast_select", "fast_select", fast, goal=5),
                Contender("paper", "paper", {"parameters": {"k": K}, "n_iterations": 2}, goal=5000),
            ],
            lambda data: [
                fast_select_check(
                    "timed", 1e-3, f"one definition, no ties; {SINGLE}, and 20,000 terms a distance"
                ),
                paper_check(data, "timed", 2, 1e-9, "one definition, no ties"),
            ],
        ),
        "optdigits": Workload(
            "ReliefF, optdigits, k = 10",
            with_tie_free(optdigits),
            [
                Contender("ours", "ours", ours()),
                Contender("fast_select", "fast_select", fast, goal=2.5),
                Contender("fast_select, all continuous", "fast_select", fast_continuous, goal=2.5),
            ],
            lambda data: [
                each for each in image_checks(data, iterations, False) if each.peer == "fast_select"
            ],
        ),
        "sparse": Workload(
            "ReliefF, sparse data, k = 10, against our own dense path",
            lambda: {"timed": sparse_table(tiny)},
            [
                Contender("ours", "ours", ours()),
                Contender("ours, dense", "ours", ours(), goal=25, storage="dense", once_above=60.0),
            ],
        ),
        "multilabel": Workload(
            "ReliefF, multi-label (Hamming), k = 10",
            lambda: {"timed": bibtex(tiny)},
            [
                Contender("ours", "ours", ours()),
                Contender(
                    "paper",
                    "paper",
                    {"parameters": {"k": K, "mlc_distance": "hamming"}, "n_iterations": 4},
                    goal=100,
                ),
            ],
            lambda data: [
                paper_check(
                    data,
                    "timed",
                    40,
                    None,
                    "its update is the misprinted equation, (d - t) / (1 - t) where Algorithm 1 has "
                    "(d - td) / (1 - t), it leaves out rows with t = 0 or t = 1, and binary data are full of ties",
                    mlc_distance="hamming",
                )
            ],
        ),
    }
    found |= multisurf_workloads(tiny)
    for name, make in (("digits", digits), ("optdigits", optdigits), ("wide", wide_low_dimensional)):
        found[f"reliefe_{name}"] = Workload(
            f"ReliefE, {name}, against the bare UMAP calls it makes",
            lambda make=make: {"timed": make(tiny)},
            [
                Contender("ours", "ours", reliefe),
                Contender("bare UMAP", "bare_umap", {"plain": True}, at_most=1.2),
                Contender("bare UMAP, same neighbours given", "bare_umap", {"plain": False}, at_most=1.2),
            ],
            record_umap=True,
        )
    return found
