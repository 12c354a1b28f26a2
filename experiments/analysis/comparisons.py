"""Rows → score tables → comparisons of all rankers of a study.

What a ranker did not finish on a data set is missing there, in every table; nothing takes its place. The
hierarchical test of two rankers is over the data sets that both finished, ranks are over those that all
finished.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pandas as pd

from experiments.analysis import scores
from experiments.analysis.bayes import HierarchicalPosterior, hierarchical_tests
from experiments.analysis.selection import PAIR, coverage, expected_from_rows, study_rows
from experiments.errors import BadScoresError

_COLUMNS = [
    "ranker_a",
    "ranker_b",
    "p_a",
    "p_rope",
    "p_b",
    "standard_error",
    "n_datasets",
    "datasets",
    "left_out",
    "max_rhat",
    "min_ess",
    "divergences",
]


def f1_along(
    rows: pd.DataFrame, *, statistic: str = "max", top: int | None = None, average: str = "micro"
) -> pd.Series:
    """Sum the F1 curve of every row up in one number.

    Parameters
    ----------
    rows : DataFrame
        Rows; those that are not "ok" get NaN.
    statistic : {"max", "mean"}, default="max"
        Over the points of the curve.
    top : int, optional
        Only points with at most so many features; by default all.
    average : {"micro", "macro"}, default="micro"
        Which F1.

    Returns
    -------
    Series
        With the index of ``rows``.

    Raises
    ------
    ValueError
        If a parameter is none of those.
    """
    if statistic not in ("max", "mean") or average not in ("micro", "macro"):
        raise ValueError(f"no such numbers: {statistic!r} of {average!r} F1")
    if top is not None and top < 1:
        raise ValueError(f"top must be at least 1, not {top}")
    numbers = np.full(len(rows), np.nan)
    ok = (rows["status"] == "ok").to_numpy()
    numbers[ok] = scores.f1_along(rows[ok], getattr(np, statistic), top, average)
    return pd.Series(numbers, index=rows.index)


def score_table(
    frame: pd.DataFrame, expected: pd.DataFrame | None = None, *, score: str = "best_f1_micro"
) -> pd.DataFrame:
    """Average a number of the rows over folds, for :func:`experiments.analysis.critical_distance.compare_ranks`.

    Parameters
    ----------
    frame : DataFrame
        Rows of one protocol, perhaps with columns added, such as from :func:`f1_along`.
    expected : DataFrame, optional
        From :func:`experiments.analysis.selection.expected_of`; by default what the fullest ranker of a data
        set has.
    score : str, default="best_f1_micro"
        Column.

    Returns
    -------
    DataFrame
        Data sets × rankers, in the order of the study; NaN where a ranker lacks a fold, or one has no number.

    Raises
    ------
    BadScoresError
        If the rows are of more than one protocol, or there are none.
    """
    expected, rows = _of_one_protocol(frame, expected)
    covered = coverage(frame, expected)
    mean = rows.groupby(["dataset", "ranker"], sort=False)[score].agg(
        lambda values: values.mean(skipna=False)
    )
    keys = pd.MultiIndex.from_frame(covered[["dataset", "ranker"]])
    values = mean.reindex(keys).where(covered["complete"].to_numpy())
    datasets, rankers = (list(dict.fromkeys(covered[name])) for name in ("dataset", "ranker"))
    return values.unstack("ranker").reindex(index=datasets, columns=rankers).astype(np.float64)


def compare_rankers(
    frame: pd.DataFrame,
    expected: pd.DataFrame | None = None,
    *,
    score: str = "best_f1_micro",
    rope: float = 0.05,
    n_samples: int = 10_000,
    random_state: int = 0,
    pairs: Iterable[tuple[str, str]] | None = None,
) -> tuple[pd.DataFrame, dict[tuple[str, str], HierarchicalPosterior]]:
    """Make the hierarchical Bayesian test of every two rankers.

    Parameters
    ----------
    frame, expected, score
        As for :func:`score_table`; scores are those of single folds.
    rope : float, default=0.05
        Differences up to this count as equivalence.
    n_samples, random_state
        See :func:`experiments.analysis.bayes.hierarchical_test`.
    pairs : iterable of (str, str), optional
        Which rankers to compare; by default every two, in the order of the study.

    Returns
    -------
    table : DataFrame
        One line per pair: ``ranker_a``, ``ranker_b``, ``p_a`` (a is better), ``p_rope``, ``p_b``,
        ``standard_error`` (largest Monte-Carlo error of the three), ``n_datasets``, ``datasets``,
        ``left_out`` (data sets that one of the two did not finish), ``max_rhat``, ``min_ess``,
        ``divergences``. Probabilities are NaN for a pair without a data set in common.
    posteriors : dict
        (a, b) → posterior, of the pairs that could be tested.

    Raises
    ------
    BadScoresError
        As :func:`score_table`, and if data sets have different numbers of repeats.
    """
    expected, rows = _of_one_protocol(frame, expected)
    repeats = sorted(set(expected["n_repeats"]))
    if len(repeats) != 1:
        raise BadScoresError(
            f"data sets with different numbers of repeats ({repeats}) cannot be tested together"
        )
    means = score_table(frame, expected, score=score)
    if pairs is None:
        pairs = itertools.combinations(means.columns, 2)
    folds = {
        key: group[score].to_numpy(dtype=np.float64) for key, group in rows.groupby(["dataset", "ranker"])
    }
    tables, common = {}, {}
    for a, b in pairs:
        both = means[[a, b]].notna().all(axis=1)
        common[a, b] = tuple(means.index[both]), tuple(means.index[~both])
        if both.any():
            tables[a, b] = tuple([folds[dataset, ranker] for dataset in common[a, b][0]] for ranker in (a, b))
    posteriors = hierarchical_tests(tables, rope, repeats[0], n_samples, random_state)
    lines = [_line(pair, *common[pair], posteriors.get(pair)) for pair in common]
    return pd.DataFrame(lines, columns=_COLUMNS), posteriors


def _line(pair, datasets, left_out, posterior):
    line = {"ranker_a": pair[0], "ranker_b": pair[1], "n_datasets": len(datasets)}
    line |= {"datasets": datasets, "left_out": left_out, "divergences": 0}
    if posterior is None:
        return line | dict.fromkeys(("p_a", "p_rope", "p_b", "standard_error", "max_rhat", "min_ess"), np.nan)
    p_a, p_rope, p_b = map(float, posterior.probs())
    return line | {
        "p_a": p_a,
        "p_rope": p_rope,
        "p_b": p_b,
        "standard_error": float(posterior.standard_errors().max()),
        "max_rhat": posterior.max_rhat,
        "min_ess": posterior.min_ess,
        "divergences": posterior.divergences,
    }


def _of_one_protocol(frame, expected):
    expected = expected_from_rows(frame) if expected is None else expected
    protocols = list(dict.fromkeys(expected["protocol"]))
    if len(protocols) != 1:
        told = ", ".join(protocols) or "none"
        raise BadScoresError(f"rankers are compared under one protocol; these rows have {told}")
    return expected, study_rows(frame, expected).sort_values([*PAIR, "repeat", "fold"])
