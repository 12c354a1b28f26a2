"""Rows → pairs of score tables for the hierarchical Bayesian test, and its answers → frames."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.same_rankers import STAND_INS, stands_for
from experiments.analysis.scores import fold_scores
from experiments.analysis.ties import equalised, equalised_rows

#: Difference of two F1 below which they count as equal (the paper's).
ROPE = 0.05

#: Pairs of the paper's figure 7 (the first six) and figure 8. Its plain "ReliefF" is taken for scikit-rebate's,
#: since its own is called "ReliefF-this" elsewhere.
PAPER_PAIRS = (
    ("skrebate_multisurf_star", "mutual_information"),
    ("skrebate_multisurf_star", "random_forest"),
    ("skrebate_multisurf_star", "reliefe_absmean_adaptive"),
    ("skrebate_multisurf_star", "reliefe"),
    ("skrebate_multisurf_star", "skrebate_surf"),
    ("skrebate_multisurf_star", "skrebate_relieff"),
    ("reliefe_absmean_adaptive", "skrebate_surf"),
    ("reliefe_absmean_adaptive", "skrebate_multisurf"),
    ("reliefe_absmean_adaptive", "random_forest"),
    ("reliefe_absmean_adaptive", "skrebate_relieff"),
)


@dataclass(frozen=True)
class Pair:
    """Two rankers and their scores on the data sets that both finished.

    Attributes
    ----------
    a, b : str
        Rankers.
    x, y : ndarray of float64, shape (n_datasets, n_repeats × n_splits)
        Best F1 of every fold, of ``a`` and ``b``; the same folds in the same order.
    datasets : tuple of str
        The data sets, in order.
    left_out : tuple of str
        Data sets that one of the two did not finish.
    runs : int
        Repeats of the cross-validation.
    """

    a: str
    b: str
    x: np.ndarray
    y: np.ndarray
    datasets: tuple[str, ...]
    left_out: tuple[str, ...]
    runs: int

    def digest(self, **settings: Any) -> str:
        """Return the SHA-256 (hex) of everything that decides the pair's posterior."""
        said = repr((self.x.shape, self.runs, sorted(settings.items()))).encode()
        x, y = (np.ascontiguousarray(each, dtype="<f8").tobytes() for each in (self.x, self.y))
        return hashlib.sha256(b"\0".join([said, x, y])).hexdigest()


@dataclass(frozen=True)
class Posteriors:
    """What the hierarchical tests say of all pairs.

    Attributes
    ----------
    table : DataFrame
        One line per pair, the paper's first: ``ranker_a``, ``ranker_b``, ``p_a`` (a is better), ``p_rope`` (no
        difference that matters), ``p_b``, ``in_paper``, ``n_datasets``, ``datasets`` and ``left_out`` (names with
        commas), ``r_hat``, ``ess``, ``divergences``, ``n_draws``, ``message`` (why there is no answer, or what
        to be careful about; ""). Probabilities are NaN where there is no answer.
    draws : dict
        (a, b) → ndarray, shape (n, 3): for some draws of the posterior, evenly chosen, the probabilities that a is
        better, that there is no difference, and that b is better, on the next data set.
    sampling : dict
        How the posterior was sampled: word → value.
    """

    table: pd.DataFrame
    draws: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)
    sampling: dict[str, Any] = field(default_factory=dict)

    def of(self, a: str, b: str) -> tuple[float, float, float]:
        """Return the probabilities (a better, equal, b better) of a pair in either order.

        NaN three times when the pair was not tested.
        """
        found = self._of_pair(a, b)
        if not found:
            return (np.nan, np.nan, np.nan)
        three = (float(found["p_a"]), float(found["p_rope"]), float(found["p_b"]))
        return three if found["ranker_a"] == a else three[::-1]

    def n_datasets(self, a: str, b: str) -> int:
        """Return over how many data sets a pair was tested, in either order; 0 for one that was not."""
        return int(self._of_pair(a, b).get("n_datasets", 0))

    def _of_pair(self, a: str, b: str) -> dict[str, Any]:
        """Return the line of a pair in either order; {} for one that was not tested."""
        for one, other in ((a, b), (b, a)):
            found = self.table[(self.table["ranker_a"] == one) & (self.table["ranker_b"] == other)]
            if len(found):
                return found.iloc[0].to_dict()
        return {}


def pairs_of(
    rows: pd.DataFrame,
    rankers: Sequence[str],
    *,
    most: int = 91,
    fewest: int = 2,
    also: Sequence[str] = (),
    only: Sequence[tuple[str, str]] | None = None,
) -> tuple[list[Pair], list[str]]:
    """Pair the rankers of a group.

    pairs : list of Pair
        The paper's first. Pairs with too few common data sets are not among them.
    not_tested : list of str
        Rankers that were left out because there would have been too many pairs.
    """
    rows = rows.assign(value=fold_scores(rows, "best_f1"))
    values = {
        key: part.sort_values(["repeat", "fold"])
        for key, part in rows.groupby(["dataset", "ranker"], sort=False)
    }
    datasets = list(dict.fromkeys(rows["dataset"]))
    chosen, not_tested = [ranker for ranker in rankers if ranker not in also], []
    n_most = int((1 + np.sqrt(1 + 8 * most)) / 2)  # rankers that make no more pairs than allowed
    if len(chosen) > n_most:
        # Means over different data sets compare nothing, so a data set's mean is taken off first.
        own = rows[~rows["ranker"].isin(list(also))]
        table = own.groupby(["dataset", "ranker"], sort=False)["value"].mean().unstack("ranker")
        table = equalised_rows(table)
        # The mean of all is put back on: a difference near 0 has lost the digits by which ties are told.
        level = table.sub(table.mean(axis=1), axis=0).mean(axis=0) + float(np.nanmean(table))
        level = pd.Series(equalised(level.reindex(chosen)), index=chosen).sort_values(
            ascending=False, kind="stable"
        )
        best = set(level.index[:n_most])
        not_tested = [ranker for ranker in chosen if ranker not in best]
        chosen = [ranker for ranker in chosen if ranker in best]
    chosen = [ranker for ranker in rankers if ranker in chosen or ranker in also]
    wanted = list(paper_pairs(_candidates(rankers, values)).values())
    turned = {frozenset(pair) for pair in wanted}
    wanted += [pair for pair in itertools.combinations(chosen, 2) if frozenset(pair) not in turned]
    made = []
    for a, b in wanted if only is None else only:
        both = [name for name in datasets if (name, a) in values and (name, b) in values]
        if len(both) < max(fewest, 1):
            continue
        x, y = (np.array([values[name, each]["value"] for name in both], dtype=float) for each in (a, b))
        others = tuple(name for name in datasets if name not in both)
        runs = int(values[both[0], a]["repeat"].nunique())
        made.append(Pair(a, b, x, y, tuple(both), others, runs))
    return made, not_tested


def paper_pairs(tested: Iterable[tuple[str, str, int]]) -> dict[tuple[str, str], tuple[str, str]]:
    """Find which of some pairs the paper's figures show.

    Pair of :data:`PAPER_PAIRS` → the pair that counts for it, those without one left out. A stand-in counts for
    skrebate's ranker (:mod:`experiments.analysis.same_rankers`). Of several pairs the one with the most data
    sets counts, and of those the first.
    """
    found: dict[tuple[str, str], tuple[str, str, int]] = {}
    for a, b, n_datasets in tested:
        named = (stands_for(a), stands_for(b))
        named = named if named in PAPER_PAIRS else named[::-1]
        if named not in found or n_datasets > found[named][2]:
            found[named] = (a, b, n_datasets)
    return {pair: found[pair][:2] for pair in PAPER_PAIRS if pair in found}


def _candidates(rankers: Sequence[str], values: Iterable[tuple[str, str]]) -> list[tuple[str, str, int]]:
    """List the ways to test the paper's pairs, skrebate's own rankers before their stand-ins."""
    there: dict[str, set[str]] = {ranker: set() for ranker in rankers}
    for dataset, ranker in values:
        there.setdefault(ranker, set()).add(dataset)
    ways = [
        (a, b)
        for pair in PAPER_PAIRS
        for a, b in itertools.product(*((each, STAND_INS.get(each, each)) for each in pair))
        if a in rankers and b in rankers
    ]
    return [(a, b, len(there[a] & there[b])) for a, b in dict.fromkeys(ways)]


def posteriors_of(
    pairs: Sequence[Pair], answers: Sequence[dict[str, Any]], sampling: dict[str, Any]
) -> Posteriors:
    """Put the answers of the tests together."""
    in_paper = set(paper_pairs((pair.a, pair.b, len(pair.datasets)) for pair in pairs).values())
    lines = []
    for pair, answer in zip(pairs, answers, strict=True):
        p_a, p_rope, p_b = (float(each) for each in answer["probabilities"])
        lines.append(
            {
                "ranker_a": pair.a,
                "ranker_b": pair.b,
                "p_a": p_a,
                "p_rope": p_rope,
                "p_b": p_b,
                "in_paper": (pair.a, pair.b) in in_paper,
                "n_datasets": len(pair.datasets),
                "datasets": ", ".join(pair.datasets),
                "left_out": ", ".join(pair.left_out),
                "r_hat": float(answer["r_hat"]),
                "ess": float(answer["ess"]),
                "divergences": int(answer["divergences"]),
                "n_draws": int(answer["n_draws"]),
                "message": str(answer["message"]),
            }
        )
    draws = {(pair.a, pair.b): answer["draws"] for pair, answer in zip(pairs, answers, strict=True)}
    return Posteriors(pd.DataFrame(lines, columns=COLUMNS), draws, sampling)


COLUMNS = [
    *("ranker_a", "ranker_b", "p_a", "p_rope", "p_b", "in_paper", "n_datasets", "datasets", "left_out"),
    *("r_hat", "ess", "divergences", "n_draws", "message"),
]
