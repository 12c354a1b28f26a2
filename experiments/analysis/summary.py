"""Rows → one line per data set × protocol × ranker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.selection import PAIR, Selection, select
from experiments.analysis.ties import equalised, first_best

#: How F1 is averaged over classes. Micro is the paper's.
AVERAGES = ("micro", "macro")

_OF_AVERAGE = (
    "best_f1_{}_mean",
    "best_f1_{}_sd",
    "best_f1_{}_at",
    "aurf1_{}_mean",
    "aurf1_{}_sd",
    "f1_{}_all_mean",
    "f1_{}_all_sd",
)
_COMPARED = [
    name.format(average)
    for average in AVERAGES
    for name in ("best_f1_{}_mean", "aurf1_{}_mean", "f1_{}_all_mean")
]
_NUMBERS = [
    *(name.format(average) for average in AVERAGES for name in _OF_AVERAGE),
    "rf1_undefined_folds",
    "fit_seconds_mean",
    "fit_seconds_sd",
    "warm_up_seconds_max",
    "peak_memory_mib_max",
    "latent_dimension",
    "learner_not_converged_folds",
    "n_rows",
    "n_features",
]


def summary(frame: pd.DataFrame | Selection, expected: pd.DataFrame | None = None) -> pd.DataFrame:
    """Sum up what every ranker reaches on every data set.

    Parameters
    ----------
    frame : DataFrame
        Rows.
    expected : DataFrame, optional
        From :func:`experiments.analysis.selection.expected_of`; by default what the fullest ranker of a data
        set and protocol has.

    Returns
    -------
    DataFrame
        One line per data set × protocol × ranker, in the order of ``expected``; first the columns of
        :func:`experiments.analysis.selection.coverage`, then, over the folds with status "ok" (sd with n − 1, NaN
        for a single fold):

        ``best_f1_micro_mean``, ``…_sd``
            the highest F1 of a fold along its ranking;
        ``best_f1_micro_at``
            median number of features at which it is first reached;
        ``aurf1_micro_mean``, ``…_sd``
            area under rF1, over the folds in which it is defined;
        ``f1_micro_all_mean``, ``…_sd``
            F1 with all features;
        the same with ``macro``;
        ``rf1_undefined_folds``
            folds whose all-features F1 is 0, so that rF1 has no value;
        ``fit_seconds_mean``, ``…_sd``, ``warm_up_seconds_max``, ``peak_memory_mib_max``
            time and memory of the ranker's fit;
        ``latent_dimension``
            median, NaN when no fold has one;
        ``learner_not_converged_folds``, ``n_rows``, ``n_features``.

        Numbers of a line with ``complete`` False are over other folds than those of the complete ones and must
        not be compared with them: :func:`complete` and :func:`incomplete` keep the two apart.
    """
    selection = select(frame, expected)
    covered, rows = selection.coverage, selection.rows
    rows = rows[rows["status"] == "ok"]
    groups = {tuple(pair): _numbers(group) for pair, group in rows.groupby(PAIR, sort=False)}
    lines = [groups.get(pair, {}) for pair in covered[PAIR].itertuples(index=False, name=None)]
    numbers = pd.DataFrame(lines, columns=_NUMBERS, index=covered.index).astype("float64")
    summed = pd.concat([covered, numbers], axis=1)
    # Means that are compared with one another, those of one data set, are equal when they differ by rounding alone.
    of_one = summed.groupby(["dataset", "protocol"], sort=False)
    return summed.assign(**{name: of_one[name].transform(equalised) for name in _COMPARED})


def complete(summed: pd.DataFrame) -> pd.DataFrame:
    """Choose the lines that may be compared.

    Parameters
    ----------
    summed : DataFrame
        From :func:`summary`.

    Returns
    -------
    DataFrame
        Best first: by micro F1, highest first; equal ones stay in the order they had.
    """
    chosen = summed[summed["complete"]]
    return chosen.sort_values("best_f1_micro_mean", ascending=False, kind="stable", ignore_index=True)


def incomplete(summed: pd.DataFrame) -> pd.DataFrame:
    """Choose the lines that must not be compared; ``reason`` says why.

    Parameters
    ----------
    summed : DataFrame
        From :func:`summary`.

    Returns
    -------
    DataFrame
    """
    return summed[~summed["complete"]].reset_index(drop=True)


def publishable(summed: pd.DataFrame) -> pd.DataFrame:
    """Make the table for a file: comparable lines first, best first; then the others without numbers.

    Someone who reads the file without looking at ``complete`` then compares nothing that cannot be compared.

    Parameters
    ----------
    summed : DataFrame
        From :func:`summary`.

    Returns
    -------
    DataFrame
        All columns of ``summed``.
    """
    bare = incomplete(summed)
    bare[_NUMBERS] = np.nan
    table = pd.concat([part for part in (complete(summed), bare) if len(part)] or [summed], ignore_index=True)
    counts = ["rf1_undefined_folds", "learner_not_converged_folds", "n_rows", "n_features"]
    return table.astype(dict.fromkeys(counts, "Int64"))


def _numbers(rows: pd.DataFrame) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    for average in AVERAGES:
        best = rows[f"best_f1_{average}"].to_numpy(dtype=float)
        pairs = zip(rows["grid"], rows[f"f1_{average}"], strict=True)
        # Of equal scores the first counts, which has the smallest number of features.
        at = [grid[first_best(curve)] for grid, curve in pairs]
        area = rows[f"aurf1_{average}"].dropna().to_numpy(dtype=float)
        whole = rows[f"f1_{average}_all"].to_numpy(dtype=float)
        values = (*_mean_sd(best), float(np.median(at)), *_mean_sd(area), *_mean_sd(whole))
        numbers |= zip((name.format(average) for name in _OF_AVERAGE), values, strict=True)
    seconds = rows["fit_seconds"].dropna().to_numpy(dtype=float)  # null in folds whose times do not count
    mean, sd = _mean_sd(seconds)
    return numbers | {
        "rf1_undefined_folds": int(rows["aurf1_micro"].isna().sum()),
        "fit_seconds_mean": mean,
        "fit_seconds_sd": sd,
        "warm_up_seconds_max": rows["warm_up_seconds"].max(),
        "peak_memory_mib_max": rows["peak_memory_mib"].max(),
        "latent_dimension": rows["latent_dimension"].astype(float).median(),
        "learner_not_converged_folds": int((~rows["learner_converged"].fillna(True).astype(bool)).sum()),
        "n_rows": (rows["n_train"] + rows["n_test"]).max(),
        "n_features": rows["n_features"].max(),
    }


def _mean_sd(values: np.ndarray) -> tuple[float, float]:
    if values.size == 0:
        return np.nan, np.nan
    return float(values.mean()), float(values.std(ddof=1)) if values.size > 1 else np.nan
