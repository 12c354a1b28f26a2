"""Rows of measurements → long tables and densities, and one line per data set × ranker × repeat for people.

Which columns there are depends on the kind of the measurement (``experiments.evaluation.measurements``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

_WHERE = ["kind", "dataset", "protocol", "ranker", "repeat"]
#: Dimensions → points that a kernel density needs, so that its mean squared error at the centre of a normal
#: distribution is below a tenth of the squared density there (B. W. Silverman: Density Estimation for Statistics
#: and Data Analysis, 1986, table 4.2). Fewer points are shown as points.
FEWEST_POINTS = {1: 4, 2: 19}


def points(frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Spread the measurements of one kind over lines.

    ``dataset``, ``protocol``, ``ranker``, ``repeat``, and

    sparsity
        ``epsilon``, ``share_before``, ``share`` (of non-zeros, after), ``estimated`` (ε is the estimate);
    latent_dimension
        ``rows`` ("ranked", "normalised" or "raw"), ``log_ratio``, ``minus_log_rest``, ``slope``;
    adaptive_k
        ``class_number``, ``class_size``, ``neighbors``, ``count``;
    phases
        ``phase``, ``seconds``, ``share`` (of all phases);
    recovery
        ``n_features``, ``n_informative``, ``top`` (1, 2, 5, 10, … and the number of informative features),
        ``found`` (informative features among the ``top`` best), ``share`` (of what could have been found
        there).

    Rows with a status other than "ok", and phases without times, are left out.
    """
    if kind not in _POINTS:
        raise ValueError(f"kind must be one of {', '.join(_POINTS)}, not {kind!r}")
    spread, columns = _POINTS[kind]
    lines = []
    for row in _ok(frame, kind).to_dict("records"):
        where = [row[name] for name in _WHERE[1:]]
        lines += [[*where, *line] for line in spread(row)]
    return pd.DataFrame(lines, columns=[*_WHERE[1:], *columns])


def recovered(frame: pd.DataFrame) -> pd.DataFrame:
    """Average what was found over data sets that differ in their seed alone.

    ``family`` (the data set without its seed and number of noise features), ``ranker``, ``n_noise``, ``share``
    (mean share of the informative features among as many best), ``n_datasets``; ordered as the rows are, then
    by ``n_noise``.
    """
    table = points(frame, "recovery")
    table = table[table["top"] == table["n_informative"]]
    table = table.assign(
        family=[_family(name) for name in table["dataset"]],
        n_noise=table["n_features"] - table["n_informative"],
    )
    grouped = table.groupby(["family", "ranker", "n_noise"], sort=False)
    averaged = grouped.agg(share=("share", "mean"), n_datasets=("dataset", "nunique")).reset_index()
    places = {family: place for place, family in enumerate(averaged["family"].unique())}
    return averaged.sort_values(
        ["family", "n_noise"], key=lambda column: column.map(places) if column.name == "family" else column,
        kind="stable", ignore_index=True,
    )  # fmt: skip


def _family(dataset: str) -> str:
    """Take seed and number of noise features out of a name such as ``xor[source.n_noise=20,source.seed=1]``."""
    name, bracket, changes = dataset.partition("[")
    if not bracket:
        return name
    kept = [
        each.removeprefix("source.")
        for each in changes.removesuffix("]").split(",")
        if not re.fullmatch(r"(source\.)?(n_noise|seed)=\d+", each)
    ]
    return f"{name}[{','.join(kept)}]" if kept else name


def phase_means(spread: pd.DataFrame) -> pd.DataFrame:
    """Average the seconds of phases over repeats.

    ``dataset``, ``ranker``, ``phase``, ``seconds`` (mean), ``share`` (of the sum over phases), ``before`` (sum
    of the shares of the phases before), ``total`` (seconds of all phases), ``n_repeats``; phases in the order
    in which they first come.
    """
    keys = ["dataset", "ranker", "phase"]
    # An empty table has columns of objects.
    means = spread.astype({"seconds": float}).groupby(keys, sort=False)["seconds"].mean().reset_index()
    repeats = spread.groupby(keys[:2], sort=False)["repeat"].nunique().rename("n_repeats").reset_index()
    means = means.merge(repeats, on=keys[:2], how="left")
    means["total"] = means.groupby(keys[:2], sort=False)["seconds"].transform("sum")
    means["share"] = means["seconds"] / means["total"]
    means["before"] = means.groupby(keys[:2], sort=False)["share"].cumsum() - means["share"]
    return means[[*keys, "seconds", "share", "before", "total", "n_repeats"]]


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Say what came of each measurement.

    ``kind``, ``dataset``, ``protocol``, ``ranker``, ``repeat``, ``result``: in words, or the measurement itself
    for a kind that is not known here. Recoveries are averaged as by :func:`recovered`: a line for each family
    of data sets and ranker, with the repeat 0.
    """
    lines = []
    chosen = _ok(frame)
    for protocol, rows in chosen[chosen["kind"] == "recovery"].groupby("protocol", sort=False):
        for (family, ranker), part in recovered(rows).groupby(["family", "ranker"], sort=False):
            shares = [f"{line.share:.2f} ({line.n_noise:,})" for line in part.itertuples()]
            words = f"share found (among so many noise features): {', '.join(shares)}"
            lines.append(["recovery", family, protocol, ranker, 0, words])
    for row in chosen[chosen["kind"] != "recovery"].to_dict("records"):
        told = _WORDS.get(row["kind"], lambda row: str(row["measurement"]))
        lines.append([*(row[name] for name in _WHERE), told(row)])
    return pd.DataFrame(lines, columns=[*_WHERE, "result"])


def averaged(frame: pd.DataFrame) -> pd.DataFrame:
    """Say what came of each measurement in a line for each data set and ranker.

    ``kind``, ``dataset``, ``ranker``, ``result``: of phases the mean over repeats, else the first repeat.
    """
    summed = summary(frame)
    summed = summed[summed["repeat"] == 0].drop(columns=["protocol", "repeat"])
    means = phase_means(points(frame, "phases"))
    told = {}
    for pair, part in means.groupby(["dataset", "ranker"], sort=False):
        seconds = dict(zip(part["phase"], part["seconds"], strict=True))
        n = int(part["n_repeats"].iloc[0])
        told[pair] = _shares(seconds) + (f" (mean of {n} fits)" if n > 1 else "")
    result = [
        told.get((line.dataset, line.ranker), line.result) if line.kind == "phases" else line.result
        for line in summed.itertuples()
    ]
    return summed.assign(result=result).reset_index(drop=True)


def _ok(frame: pd.DataFrame, kind: str | None = None) -> pd.DataFrame:
    chosen = frame[frame["measurement"].notna() & (frame["status"] == "ok")]
    return chosen if kind is None else chosen[chosen["kind"] == kind]


def _measured(row: Mapping[str, Any]) -> dict[str, Any]:
    return json.loads(row["measurement"])


def _seconds(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds of each phase, without their total; empty where times do not count."""
    if not isinstance(row["phase_seconds"], str):
        return {}
    return {phase: value for phase, value in json.loads(row["phase_seconds"]).items() if phase != "total"}


def _sparsity(row: Mapping[str, Any]) -> Iterator[list[Any]]:
    found = _measured(row)
    for epsilon, share in zip(found["epsilons"], found["shares"], strict=True):
        yield [epsilon, found["share"], share, False]
    yield [found["epsilon_estimated"], found["share"], found["share_estimated"], True]


def _latent_dimension(row: Mapping[str, Any]) -> Iterator[list[Any]]:
    found = _measured(row)
    for rows in ("ranked", "normalised", "raw"):
        part = found[rows]
        for log_ratio, minus_log_rest in zip(part["log_ratio"], part["minus_log_rest"], strict=True):
            yield [rows, log_ratio, minus_log_rest, part["slope"]]


def _adaptive_k(row: Mapping[str, Any]) -> Iterator[list[Any]]:
    found = _measured(row)
    per_class = zip(found["class_sizes"], found["neighbors"], found["counts"], strict=True)
    for number, (size, neighbors, counts) in enumerate(per_class):
        for k, n in zip(neighbors, counts, strict=True):
            yield [number, size, k, n]


def _phases(row: Mapping[str, Any]) -> Iterator[list[Any]]:
    seconds = _seconds(row)
    total = sum(seconds.values())
    for phase, value in seconds.items():
        yield [phase, value, value / total if total > 0 else np.nan]


def _recovery(row: Mapping[str, Any]) -> Iterator[list[Any]]:
    measured = _measured(row)
    ranks, p = measured["ranks"], measured["n_features"]
    tops = {len(ranks)} | {step * 10**power for step in (1, 2, 5) for power in range(len(str(p)))}
    for top in sorted(each for each in tops if each <= p):
        found = sum(rank <= top for rank in ranks)
        yield [p, len(ranks), top, found, found / min(top, len(ranks))]


_POINTS: dict[str, tuple[Callable[[Mapping[str, Any]], Iterator[list[Any]]], list[str]]] = {
    "sparsity": (_sparsity, ["epsilon", "share_before", "share", "estimated"]),
    "latent_dimension": (_latent_dimension, ["rows", "log_ratio", "minus_log_rest", "slope"]),
    "adaptive_k": (_adaptive_k, ["class_number", "class_size", "neighbors", "count"]),
    "phases": (_phases, ["phase", "seconds", "share"]),
    "recovery": (_recovery, ["n_features", "n_informative", "top", "found", "share"]),
}


#: Kinds of which :func:`points` makes a table.
KINDS = tuple(_POINTS)


def _sparsity_words(row: Mapping[str, Any]) -> str:
    found = _measured(row)
    kept = "" if found["sparsified"] else " (the ranker leaves these samples unchanged)"
    return (
        f"non-zeros {found['share']:.4f} → {found['share_estimated']:.4f} "
        f"with the estimated ε = {found['epsilon_estimated']:.4g}{kept}"
    )


def _latent_dimension_words(row: Mapping[str, Any]) -> str:
    found = _measured(row)
    slopes = [
        f"{rows} {'undefined' if found[rows]['slope'] is None else format(found[rows]['slope'], '.2f')}"
        for rows in ("ranked", "normalised", "raw")
    ]
    return f"dimension {found['latent_dimension'] or 'undefined'}; slopes: {', '.join(slopes)}"


def _adaptive_k_words(row: Mapping[str, Any]) -> str:
    found = _measured(row)
    k = np.concatenate([np.asarray(each, dtype=np.int64) for each in found["neighbors"]])
    counts = np.concatenate([np.asarray(each, dtype=np.int64) for each in found["counts"]])
    low, middle, high = np.percentile(np.repeat(k, counts), [5, 50, 95], method="lower")
    smallest = min(found["class_sizes"])
    return f"k: median {middle}, 5 % to 95 % {low} to {high}; classes of {smallest} samples and more"


def _phases_words(row: Mapping[str, Any]) -> str:
    seconds = _seconds(row)
    if not sum(seconds.values()) > 0:
        return "no times: more threads were at work than there are cores"
    return _shares(seconds)


def _shares(seconds: Mapping[str, float]) -> str:
    total = sum(seconds.values())
    largest = sorted(seconds.items(), key=lambda each: -each[1])
    shares = [f"{phase} {value / total:.0%}" for phase, value in largest if value / total >= 0.005]
    return f"{total:.3g} s: {', '.join(shares)}"


_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "sparsity": _sparsity_words,
    "latent_dimension": _latent_dimension_words,
    "adaptive_k": _adaptive_k_words,
    "phases": _phases_words,
}


def density_of_shares(before: Sequence[float], after: Sequence[float], *, n_points: int = 80) -> pd.DataFrame:
    """Estimate the joint density of shares of non-zeros before and after sparsification.

    ``before``, ``after``, ``density`` on the grid. Empty when the pairs lie on a line, or when fewer than 19 of
    them differ (:data:`FEWEST_POINTS`): then the points alone are to be drawn.

    Gaussian kernel, bandwidth by Scott's rule (``scipy.stats.gaussian_kde``).
    """
    pairs = np.array([before, after], dtype=float)
    grid = np.linspace(0, 1, n_points)
    columns = ["before", "after", "density"]
    spread = np.linalg.matrix_rank(pairs - pairs.mean(axis=1, keepdims=True), tol=1e-9) if pairs.size else 0
    if spread < 2 or np.unique(pairs, axis=1).shape[1] < FEWEST_POINTS[2]:
        return pd.DataFrame(columns=columns, dtype=float)
    x, y = (axis.ravel() for axis in np.meshgrid(grid, grid, indexing="ij"))
    density = stats.gaussian_kde(pairs)(np.array([x, y]))
    return pd.DataFrame({"before": x, "after": y, "density": density}, columns=columns)


def density_of_neighbors(
    counted: pd.DataFrame, *, bandwidth: float = 0.08, n_points: int = 200
) -> pd.DataFrame:
    """Estimate the density of the numbers of neighbours that an adaptive ranker took, on a logarithmic scale.

    ``dataset``, ``ranker``, ``k`` (from 1 to the largest class), ``density`` (per decade of k), and ``median``,
    ``n`` (of the numbers counted; equal on all lines of a curve). A row that found no neighbour (k = 0) is not
    counted. With a single possible k, or fewer than four numbers counted (:data:`FEWEST_POINTS`), there is a
    line for each k that was found, whose density is NaN.

    Kernels are reflected at 1 and at the largest class, so that no density lies where no k can be, and every curve
    has area 1.
    """
    parts = []
    columns = ["dataset", "ranker", "k", "density", "median", "n"]
    for (dataset, ranker), mine in counted[counted["neighbors"] > 0].groupby(
        ["dataset", "ranker"], sort=False
    ):
        counts = mine.groupby("neighbors")["count"].sum()
        k, weights = counts.index.to_numpy(dtype=float), counts.to_numpy(dtype=float)
        median = float(k[np.searchsorted(np.cumsum(weights), weights.sum() / 2)])
        low, high = 0.0, float(np.log10(max(mine["class_size"].max(), k.max())))
        if high <= low or weights.sum() < FEWEST_POINTS[1]:
            at, density = k, np.full(len(k), np.nan)
        else:
            positions, centres = np.linspace(low, high, n_points), np.log10(k)
            images = np.concatenate([centres, 2 * low - centres, 2 * high - centres])
            kernels = stats.norm.pdf(positions[:, None], loc=images[None, :], scale=bandwidth)
            at, density = 10**positions, kernels @ np.tile(weights / weights.sum(), 3)
        lines = {"dataset": dataset, "ranker": ranker, "k": at, "density": density, "median": median}
        parts.append(pd.DataFrame(lines | {"n": int(weights.sum())}, columns=columns))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
