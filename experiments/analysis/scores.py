"""Rows → one number per data set × ranker for everything that rankers are compared by, and means over data sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from experiments.analysis.ties import equalised, equalised_rows
from experiments.tasks import REGRESSION, TASKS


@dataclass(frozen=True)
class Measure:
    """What rankers are compared by.

    Attributes
    ----------
    key : str
        Its name in tables.
    title : str
        Its name for people.
    meaning : str
        What the number is, in words.
    higher_is_better : bool
        False for times.
    unit : str
        "" for scores.
    """

    key: str
    title: str
    meaning: str
    higher_is_better: bool = True
    unit: str = ""


def _of_curve(key: str, size: int | None, what: str) -> Measure:
    of = "the whole curve" if size is None else f"the top {size} features (all, where there are fewer)"
    title = ("max F1" if what == "best" else "mean F1") + ("" if size is None else f", top {size} features")
    said = "highest" if what == "best" else "mean"
    return Measure(key, title, f"{said} F1 of a fold over the grid points of {of}")


#: Measure → how it is read from a fold's curve: which statistic, and up to how many features.
_CURVES = {
    "best_f1": ("best", None),
    "mean_f1": ("mean", None),
    "best_f1_top_10": ("best", 10),
    "mean_f1_top_10": ("mean", 10),
    "best_f1_top_50": ("best", 50),
    "best_f1_top_100": ("best", 100),
}

#: Everything that rankers are compared by, in the order in which it is told.
MEASURES: dict[str, Measure] = {
    **{key: _of_curve(key, size, what) for key, (what, size) in _CURVES.items()},
    "aurf1": Measure("aurf1", "AUrF1", "area under the relative F1 curve of a fold, where it is defined"),
    "fit_seconds": Measure(
        "fit_seconds", "fit time", "wall clock of a ranker's fit on a fold", higher_is_better=False, unit="s"
    ),
}


#: Kind of target → its measures: the same keys, with the name of its own score in what is told of them.
_MEASURES_OF = {
    name: {
        key: replace(
            measure, key=task.column(key), title=task.said(measure.title), meaning=task.said(measure.meaning)
        )
        for key, measure in MEASURES.items()
    }
    for name, task in TASKS.items()
}

#: Kind of target → the measures by which ranks are told, those of the paper first.
DIAGRAMS = {
    "multiclass": ("best_f1", "mean_f1", "best_f1_top_50", "best_f1_top_100", "fit_seconds"),
    "multilabel": ("best_f1_top_10", "mean_f1_top_10", "best_f1", "mean_f1", "fit_seconds"),
    REGRESSION: ("best_f1", "mean_f1", "best_f1_top_50", "best_f1_top_100", "fit_seconds"),
}


def measures_of(task: str) -> dict[str, Measure]:
    """Return what rankers are compared by where there is one kind of target.

    With the keys of :data:`MEASURES`. Of a numeric target, "best_f1" is the highest R² and is called so:
    ``key="best_r2"``, ``title="max R²"``.
    """
    return _MEASURES_OF[task]


def fold_scores(rows: pd.DataFrame, measure: str, *, average: str = "micro") -> np.ndarray:
    """Return one number per row.

    NaN where there is none: AUrF1 of a fold whose all-features F1 is 0 (R² not above 0), a time that was not
    kept.

    The grid always holds 10, 50 and 100, so that "top 50" ends at 50 on every data set that has as many features.
    """
    if measure == "aurf1":
        return rows[f"aurf1_{average}"].to_numpy(dtype=float, na_value=np.nan)
    if measure == "fit_seconds":
        return rows["fit_seconds"].to_numpy(dtype=float, na_value=np.nan)
    if measure not in _CURVES:
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}, not {measure!r}")
    statistic, size = _CURVES[measure]
    return _along(rows, np.max if statistic == "best" else np.mean, size, average)


def _along(rows: pd.DataFrame, function: Callable, size: int | None, average: str) -> np.ndarray:
    """Sum up the F1 curve of each row, to at most ``size`` features, in one number."""
    grids, curves = (rows[name].to_list() for name in ("grid", f"f1_{average}"))
    of_length: dict[tuple[int, int], list[int]] = {}
    for place, (grid, curve) in enumerate(zip(grids, curves, strict=True)):
        if np.ndim(curve) == 0:  # a row without a curve
            continue
        # The grid ascends, so the top ones come first; a grid has always a first point.
        n_points = len(grid) if size is None else max(1, int(np.searchsorted(grid, size, side="right")))
        of_length.setdefault((len(grid), n_points), []).append(place)
    numbers = np.full(len(rows), np.nan)
    for (_, n_points), places in of_length.items():
        table = np.array([curves[place] for place in places], dtype=np.float64)
        numbers[places] = function(table[:, :n_points], axis=1)
    return numbers


def score_table(rows: pd.DataFrame, measure: str, *, average: str = "micro") -> pd.DataFrame:
    """Average a measure over folds.

    Data sets × rankers, each in the order of ``rows``; NaN where a ranker is not complete on a data set or
    the measure has no value in any fold. Means that differ by rounding alone are one number within a data set
    (:func:`experiments.analysis.ties.equalised`), so that whoever compares them sees them as equal.
    """
    values = rows[["dataset", "ranker"]].assign(value=fold_scores(rows, measure, average=average))
    means = values.groupby(["dataset", "ranker"], sort=False)["value"].mean()
    table = means.unstack("ranker") if len(means) else pd.DataFrame(dtype=float)
    table = table.reindex(index=rows["dataset"].unique(), columns=rows["ranker"].unique())
    table.index.name, table.columns.name = "dataset", "ranker"
    return equalised_rows(table)


def comparable(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Leave out rankers until some data set is left on which all others have a number.

    table : DataFrame
        All data sets × the rankers that are compared; still NaN where one of them lacks a data set.
    left_out : list of str
        Rankers that are not compared: without a number anywhere, or, where no data set is common to all, those
        with the fewest data sets, one after the other.
    """
    counts = table.notna().sum(axis=0)
    left_out = [str(ranker) for ranker in counts.index[counts == 0]]
    kept = table.drop(columns=left_out)
    while kept.shape[1] > 1 and not kept.notna().all(axis=1).any():
        counts = kept.notna().sum(axis=0)
        worst = counts.index[::-1][
            int(np.argmin(counts.to_numpy()[::-1]))
        ]  # the last of those with the fewest
        left_out.append(str(worst))
        kept = kept.drop(columns=worst)
    return kept, left_out


def common(table: pd.DataFrame) -> pd.DataFrame:
    """Choose the data sets on which all rankers have a number."""
    return table[table.notna().all(axis=1)]


def averages(table: pd.DataFrame, *, higher_is_better: bool = True, confidence: float = 0.95) -> pd.DataFrame:
    """Average over the data sets on which all compared rankers have a number.

    Best first: ``ranker``, ``mean`` and ``sd`` over data sets (n − 1; NaN for one), ``minus_sd``, ``plus_sd``
    (mean ∓ sd), ``lower``, ``upper`` (t interval of the mean over data sets; NaN for one), ``minimum``,
    ``maximum``, ``n_datasets``. Rankers that :func:`comparable` leaves out are not among them.
    ``attrs["datasets"]`` lists the data sets, ``attrs["left_out"]`` the rankers left out and
    ``attrs["not_common"]`` the data sets that some compared ranker lacks.
    """
    kept, left_out = comparable(table)
    shared = common(kept) if kept.shape[1] else kept.iloc[:0]
    n = len(shared)
    lines = []
    quantile = stats.t.ppf(0.5 + confidence / 2, n - 1) if n > 1 else np.nan
    for ranker in shared.columns if n else []:
        values = shared[ranker].to_numpy(dtype=float)
        mean, sd = float(values.mean()), float(values.std(ddof=1)) if n > 1 else np.nan
        half = quantile * sd / np.sqrt(n) if n > 1 else np.nan
        around = [mean - sd, mean + sd, mean - half, mean + half]
        lines.append([ranker, mean, sd, *around, float(values.min()), float(values.max()), n])
    columns = ["ranker", "mean", "sd", "minus_sd", "plus_sd", "lower", "upper", "minimum", "maximum"]
    found = pd.DataFrame(lines, columns=[*columns, "n_datasets"])
    found["mean"] = equalised(found["mean"])
    found = found.sort_values("mean", ascending=not higher_is_better, kind="stable", ignore_index=True)
    found.attrs["datasets"] = [str(each) for each in shared.index]
    found.attrs["left_out"] = left_out
    found.attrs["not_common"] = [str(each) for each in kept.index if each not in shared.index]
    return found


def speed_ratios(table: pd.DataFrame, slow: list[str], fast: list[str]) -> pd.DataFrame:
    """Divide the times of some rankers by those of others, data set by data set.

    ``dataset``, ``slow``, ``fast``, ``ratio`` (seconds of the slow one / seconds of the fast one), wherever
    both have a time.
    """
    names, values = list(table.columns), table.to_numpy(dtype=float)
    place = {name: number for number, name in enumerate(names)}
    lines = []
    for dataset, seconds in zip(table.index, values, strict=True):
        for one, other in itertools.product(slow, fast):
            if one in place and other in place:
                above, below = seconds[place[one]], seconds[place[other]]
                if above > 0 and below > 0:
                    lines.append([str(dataset), one, other, float(above / below)])
    return pd.DataFrame(lines, columns=["dataset", "slow", "fast", "ratio"])
