"""Rows → one line per data set × protocol × ranker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.selection import PAIR, Selection, select
from experiments.analysis.ties import equalised, first_bests

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
    columns = _columns(rows)
    groups = {
        pair: _numbers({name: values[places] for name, values in columns.items()})
        for pair, places in rows.groupby(PAIR, sort=False).indices.items()
    }
    lines = [groups.get(pair, {}) for pair in covered[PAIR].itertuples(index=False, name=None)]
    numbers = pd.DataFrame(lines, columns=_NUMBERS, index=covered.index).astype("float64")
    summed = pd.concat([covered, numbers], axis=1)
    # Means that are compared with one another, those of one data set, are equal when they differ by rounding alone.
    of_one = summed.groupby(["dataset", "protocol"], sort=False)
    return summed.assign(**{name: of_one[name].transform(equalised) for name in _COMPARED})


def complete(summed: pd.DataFrame) -> pd.DataFrame:
    """Choose the lines that may be compared.

    Best first: by micro F1, highest first; equal ones stay in the order they had.
    """
    chosen = summed[summed["complete"]]
    return chosen.sort_values("best_f1_micro_mean", ascending=False, kind="stable", ignore_index=True)


def incomplete(summed: pd.DataFrame) -> pd.DataFrame:
    """Choose the lines that must not be compared; ``reason`` says why."""
    return summed[~summed["complete"]].reset_index(drop=True)


def publishable(summed: pd.DataFrame) -> pd.DataFrame:
    """Make the table for a file: comparable lines first, best first; then the others without numbers.

    Someone who reads the file without looking at ``complete`` then compares nothing that cannot be compared.

    All columns of ``summed``.
    """
    bare = incomplete(summed)
    bare[_NUMBERS] = np.nan
    table = pd.concat([part for part in (complete(summed), bare) if len(part)] or [summed], ignore_index=True)
    counts = ["rf1_undefined_folds", "learner_not_converged_folds", "n_rows", "n_features"]
    return table.astype(dict.fromkeys(counts, "Int64"))


def _columns(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """Take the columns that are summed up out of the frame, whose groups would be slow to make as frames."""
    curves = ["grid", *(f"f1_{average}" for average in AVERAGES)]
    scalars = [
        name.format(average) for average in AVERAGES for name in ("best_f1_{}", "aurf1_{}", "f1_{}_all")
    ]
    scalars += ["fit_seconds", "warm_up_seconds", "peak_memory_mib", "latent_dimension", "n_features"]
    return {
        **{name: rows[name].to_numpy(dtype=object) for name in curves},
        **{name: rows[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in scalars},
        "n_rows": (rows["n_train"] + rows["n_test"]).to_numpy(dtype=np.float64, na_value=np.nan),
        "converged": rows["learner_converged"].fillna(True).to_numpy(dtype=bool),
    }


def _numbers(columns: dict[str, np.ndarray]) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    for average in AVERAGES:
        curves = columns[f"f1_{average}"]
        known = [place for place, curve in enumerate(curves) if np.ndim(curve)]
        # Of equal scores the first counts, which has the smallest number of features.
        firsts = zip(columns["grid"][known], first_bests([curves[place] for place in known]), strict=True)
        at = [grid[first] for grid, first in firsts]
        best, area, whole = (
            columns[name.format(average)] for name in ("best_f1_{}", "aurf1_{}", "f1_{}_all")
        )
        values = (
            *_mean_sd(best),
            float(np.median(at)) if at else np.nan,
            *_mean_sd(_known(area)),
            *_mean_sd(whole),
        )
        numbers |= zip((name.format(average) for name in _OF_AVERAGE), values, strict=True)
    mean, sd = _mean_sd(_known(columns["fit_seconds"]))  # null in folds whose times do not count
    latent = _known(columns["latent_dimension"])
    return numbers | {
        "rf1_undefined_folds": int(np.isnan(columns["aurf1_micro"]).sum()),
        "fit_seconds_mean": mean,
        "fit_seconds_sd": sd,
        "warm_up_seconds_max": _largest(columns["warm_up_seconds"]),
        "peak_memory_mib_max": _largest(columns["peak_memory_mib"]),
        "latent_dimension": np.median(latent) if latent.size else np.nan,
        "learner_not_converged_folds": int((~columns["converged"]).sum()),
        "n_rows": _largest(columns["n_rows"]),
        "n_features": _largest(columns["n_features"]),
    }


def _known(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)]


def _largest(values: np.ndarray) -> float:
    known = _known(values)
    return float(known.max()) if known.size else np.nan


def _mean_sd(values: np.ndarray) -> tuple[float, float]:
    if values.size == 0:
        return np.nan, np.nan
    return float(values.mean()), float(values.std(ddof=1)) if values.size > 1 else np.nan
