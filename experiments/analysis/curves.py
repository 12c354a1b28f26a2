"""Rows → points of curves: rF1 against the number of features, and quality against the number of iterations."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from experiments.analysis.groups import Group
from experiments.analysis.scores import fold_scores
from experiments.analysis.selection import PAIR, Selection, complete_rows, select
from experiments.analysis.ties import equalised


def rf1_curve(
    frame: pd.DataFrame | Selection,
    expected: pd.DataFrame | None = None,
    *,
    average: str = "micro",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Average rF1 over folds, with a confidence band.

    One line per data set × protocol × ranker × number of features: ``dataset``, ``protocol``, ``ranker``,
    ``n_features``, ``rf1_mean``, ``rf1_lower``, ``rf1_upper`` (NaN with fewer than two folds), ``n_folds`` (in
    the mean), ``n_undefined`` (folds left out because their all-features F1 is 0). Rankers of which a fold is
    missing or failed are left out; :func:`~experiments.analysis.selection.coverage` names them.

    Training sets of different folds overlap, so the plain t interval is much too narrow. The band is the corrected
    resampled t: mean ± t · s · √(1/J + n_test/n_train) with J folds and J − 1 degrees of freedom. Source: C. Nadeau
    and Y. Bengio, Inference for the Generalization Error, Machine Learning 52 (2003), section 3.
    """
    if average not in ("micro", "macro"):
        raise ValueError(f"average must be 'micro' or 'macro', not {average!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence!r}")
    rows = select(frame, expected).complete
    parts = [
        _points(group, f"rf1_{average}", confidence).assign(**dict(zip(PAIR, pair, strict=True)))
        for pair, group in rows.groupby(PAIR, sort=False)
    ]
    columns = [*PAIR, "n_features", "rf1_mean", "rf1_lower", "rf1_upper", "n_folds", "n_undefined"]
    if not parts:
        return pd.DataFrame({name: pd.Series(dtype=float) for name in columns}).astype(
            dict.fromkeys(PAIR, str) | dict.fromkeys(("n_features", "n_folds", "n_undefined"), "int64")
        )
    points = pd.concat(parts, ignore_index=True)[columns]
    # Rankers are put in order at every number of features.
    at_each = points.groupby([*PAIR[:2], "n_features"], sort=False)["rf1_mean"]
    return points.assign(rf1_mean=at_each.transform(equalised))


def mean_and_half_width(
    values: np.ndarray, n_test: np.ndarray, n_train: np.ndarray, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Average over folds, with half of the width of the corrected resampled t interval.

    mean, half : ndarray, shape (n_points,)
        NaN without a value; ``half`` also with a single one.
    n : ndarray of int64, shape (n_points,)
        Values in the mean.

    See :func:`rf1_curve`.
    """
    there = ~np.isnan(values)
    n = there.sum(axis=0)
    n_some, n_two = np.maximum(n, 1), np.maximum(n, 2)
    mean = np.where(there, values, 0.0).sum(axis=0) / n_some
    spread = np.where(there, values - mean, 0.0)
    deviation = np.sqrt((spread**2).sum(axis=0) / (n_two - 1))
    ratio = (n_test @ there) / np.maximum(n_train @ there, 1)
    half = stats.t.ppf(0.5 + confidence / 2, n_two - 1) * deviation * np.sqrt(1 / n_some + ratio)
    return np.where(n > 0, mean, np.nan), np.where(n > 1, half, np.nan), n.astype(np.int64)


def _points(rows: pd.DataFrame, column: str, confidence: float) -> pd.DataFrame:
    grids = [np.asarray(grid, dtype=np.int64) for grid in rows["grid"]]
    sizes = np.unique(np.concatenate(grids))
    values = np.full((len(rows), sizes.size), np.nan)
    asked = np.zeros(values.shape, dtype=bool)
    for place, (grid, curve) in enumerate(zip(grids, rows[column], strict=True)):
        at = np.searchsorted(sizes, grid)
        values[place, at] = np.asarray(curve, dtype=float)
        asked[place, at] = True
    n_test, n_train = (rows[name].to_numpy(dtype=float) for name in ("n_test", "n_train"))
    mean, half, n_folds = mean_and_half_width(values, n_test, n_train, confidence)
    return pd.DataFrame(
        {
            "n_features": sizes,
            "rf1_mean": mean,
            "rf1_lower": mean - half,
            "rf1_upper": mean + half,
            "n_folds": n_folds,
            "n_undefined": asked.sum(axis=0) - n_folds,
        }
    )


def convergence(
    frame: pd.DataFrame | Selection, group: Group, *, measure: str = "aurf1", confidence: float = 0.95
) -> pd.DataFrame:
    """Average a measure for every number of iterations.

    One line per data set × family of rankers × number of iterations, ascending: ``dataset``, ``ranker``,
    ``family``, ``label``, ``n_iterations`` (for "every sample once" the largest number of training samples of
    a fold), ``every_row`` (bool), ``mean``, ``lower``, ``upper`` (corrected resampled t; NaN with one fold),
    ``minimum``, ``maximum``, ``n_folds``. Rankers of which a fold is missing or failed are left out.

    Source: the paper's section "Convergence to the final ranking".
    """
    rows = complete_rows(frame, group.expected)
    rows = rows.assign(value=fold_scores(rows, measure))
    families = group.families.set_index("ranker")
    lines = []
    for (dataset, ranker), mine in rows.groupby(["dataset", "ranker"], sort=False):
        of_ranker = families.loc[ranker]
        every_row = bool(np.isnan(of_ranker["n_iterations"]))
        n_iterations = int(mine["n_train"].max()) if every_row else int(of_ranker["n_iterations"])
        values, n_test, n_train = (
            mine[name].to_numpy(dtype=float) for name in ("value", "n_test", "n_train")
        )
        mean, half, n_folds = (
            each.item() for each in mean_and_half_width(values[:, None], n_test, n_train, confidence)
        )
        where = [dataset, ranker, of_ranker["family"], of_ranker["label"], n_iterations, every_row]
        ends = [np.nan, np.nan] if n_folds == 0 else [np.nanmin(values), np.nanmax(values)]
        lines.append([*where, mean, mean - half, mean + half, *ends, n_folds])
    columns = ["dataset", "ranker", "family", "label", "n_iterations", "every_row"]
    columns += ["mean", "lower", "upper", "minimum", "maximum", "n_folds"]
    found = pd.DataFrame(lines, columns=columns)
    order = {name: place for place, name in enumerate(dict.fromkeys(group.expected["dataset"]))}
    of_family = {name: place for place, name in enumerate(dict.fromkeys(group.families["family"]))}
    placed = found.assign(_dataset=found["dataset"].map(order), _family=found["family"].map(of_family))
    placed = placed.sort_values(["_dataset", "_family", "n_iterations"], kind="stable", ignore_index=True)
    return placed[columns]
