"""Rows → points of curves."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from experiments.analysis.coverage import PAIR, coverage, study_rows


def rf1_curve(
    frame: pd.DataFrame,
    expected: pd.DataFrame | None = None,
    *,
    average: str = "micro",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Average rF1 over folds, with a confidence band.

    Parameters
    ----------
    frame : DataFrame
        Rows.
    expected : DataFrame, optional
        From :func:`experiments.analysis.coverage.expected_of`; by default what the fullest ranker of a data set and
        protocol has.
    average : {"micro", "macro"}, default="micro"
        Which F1.
    confidence : float, default=0.95
        Of the band, between 0 and 1.

    Returns
    -------
    DataFrame
        One line per data set × protocol × ranker × number of features: ``dataset``, ``protocol``, ``ranker``,
        ``n_features``, ``rf1_mean``, ``rf1_lower``, ``rf1_upper`` (NaN with fewer than two folds), ``n_folds`` (in
        the mean), ``n_undefined`` (folds left out because their all-features F1 is 0). Rankers of which a fold is
        missing or failed are left out; :func:`~experiments.analysis.coverage.coverage` names them.

    Raises
    ------
    ValueError
        If ``average`` or ``confidence`` is none of those.

    Notes
    -----
    Training sets of different folds overlap, so the plain t interval is much too narrow. The band is the corrected
    resampled t: mean ± t · s · √(1/J + n_test/n_train) with J folds and J − 1 degrees of freedom. Source: C. Nadeau
    and Y. Bengio, Inference for the Generalization Error, Machine Learning 52 (2003), section 3.
    """
    if average not in ("micro", "macro"):
        raise ValueError(f"average must be 'micro' or 'macro', not {average!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence!r}")
    covered = coverage(frame, expected)
    whole = covered.loc[covered["complete"], PAIR]
    rows = study_rows(frame, expected).merge(whole, on=PAIR, how="inner")
    parts = [
        _points(group, f"rf1_{average}", confidence).assign(**dict(zip(PAIR, pair, strict=True)))
        for pair, group in rows.groupby(PAIR, sort=False)
    ]
    columns = [*PAIR, "n_features", "rf1_mean", "rf1_lower", "rf1_upper", "n_folds", "n_undefined"]
    if not parts:
        return pd.DataFrame({name: pd.Series(dtype=float) for name in columns}).astype(
            dict.fromkeys(PAIR, str) | dict.fromkeys(("n_features", "n_folds", "n_undefined"), "int64")
        )
    return pd.concat(parts, ignore_index=True)[columns]


def corrected_half_width(
    values: np.ndarray, n_test: pd.Series, n_train: pd.Series, confidence: float = 0.95
) -> float:
    """Return half of the width of the corrected resampled t interval of a mean over folds.

    Parameters
    ----------
    values : ndarray, shape (n_folds,)
        One per fold.
    n_test, n_train : Series, shape (n_folds,)
        Rows of the folds.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    float
        NaN with fewer than two folds.

    Notes
    -----
    See :func:`rf1_curve`.
    """
    if values.size < 2:
        return np.nan
    ratio = n_test.sum() / n_train.sum()
    quantile = stats.t.ppf(0.5 + confidence / 2, values.size - 1)
    return float(quantile * values.std(ddof=1) * np.sqrt(1 / values.size + ratio))


def _points(rows: pd.DataFrame, column: str, confidence: float) -> pd.DataFrame:
    sizes = rows["grid"].map(len).to_numpy()
    points = pd.DataFrame(
        {
            "n_features": np.concatenate([np.asarray(grid, dtype=np.int64) for grid in rows["grid"]]),
            "rf1": np.concatenate([np.asarray(curve, dtype=float) for curve in rows[column]]),
            "n_train": np.repeat(rows["n_train"].to_numpy(dtype=float), sizes),
            "n_test": np.repeat(rows["n_test"].to_numpy(dtype=float), sizes),
        }
    )
    lines = []
    for n_features, group in points.groupby("n_features"):
        defined = group[group["rf1"].notna()]
        values = defined["rf1"].to_numpy()
        mean = values.mean() if values.size else np.nan
        half = corrected_half_width(values, defined["n_test"], defined["n_train"], confidence)
        lines.append(
            {
                "n_features": int(n_features),
                "rf1_mean": mean,
                "rf1_lower": mean - half,
                "rf1_upper": mean + half,
                "n_folds": values.size,
                "n_undefined": len(group) - values.size,
            }
        )
    return pd.DataFrame(lines)
