"""F1 or R² along a ranking, relative to that of all features, and the area under it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import simpson

#: Sizes every grid has when there are that many features: readers ask for the top 10, 50 and 100.
_ALWAYS = (10, 50, 100)


def feature_grid(n_features: int, n_points: int = 50) -> np.ndarray:
    """Return the numbers of top features at which a ranking is evaluated.

    Every number from 1 when there are at most ``n_points`` features, else ``n_points`` geometrically spaced ones
    from 1 to all, rounded and without repetition, and 10, 50 and 100 where they are missing.

    Strictly increasing, up to ``n_features``; small steps coincide, so it may be shorter than ``n_points``.
    """
    if n_features < 1 or n_points < 1:
        raise ValueError(f"n_features and n_points must be at least 1, got {n_features} and {n_points}")
    if n_features <= n_points:
        return np.arange(1, n_features + 1, dtype=np.int64)
    steps = np.rint(np.geomspace(1, n_features, n_points)).astype(np.int64)
    extra = [size for size in _ALWAYS if size < n_features]
    return np.unique(np.concatenate([steps, np.array([*extra, n_features], dtype=np.int64)]))


def relative_f1(f1_curve: Any) -> np.ndarray:
    """Divide F1 along a ranking by F1 with all features: rF1(f) = F1_f / F1_|F|.

    Notes
    -----
    Source: the paper, section on additional experiments and statistical evaluation.

    The last point of ``f1_curve`` (shape (..., n_points); R² for a numeric target) is that of all features. All
    NaN along a curve where it is not above 0: relative to a negative R² the worse would be the higher.
    """
    f1_curve = np.asarray(f1_curve, dtype=np.float64)
    if f1_curve.ndim == 0 or f1_curve.shape[-1] == 0:
        raise ValueError("f1_curve must have at least one point")
    whole = f1_curve[..., -1:]
    return f1_curve / np.where(whole > 0, whole, np.nan)


def area_under_relative_f1(rf1):
    """Return the area under rF1 by Simpson's rule over the positions in the grid, per step.

    Notes
    -----
    Positions (0, 1, 2, …), not numbers of features, are integrated over: the grid is geometric, and on the
    features' own scale the first hundred of 20,000 would not count. Source: the paper, section on additional
    experiments and statistical evaluation (normalised by the number of steps so that 1 means "as all features").

    NaN for a curve with a NaN in it. A constant curve gives exactly that constant, a single point that point.
    """
    rf1 = np.asarray(rf1, dtype=np.float64)
    if rf1.ndim == 0 or rf1.shape[-1] == 0:
        raise ValueError("rf1 must have at least one point")
    last = rf1[..., -1]
    if rf1.shape[-1] == 1:
        area = last
    else:
        # Simpson's rule is exact for constants but its rounding is not: for the level of the last point only the
        # deviations from it are integrated, so a constant curve has no rounding at all.
        area = last + simpson(rf1 - last[..., None], dx=1.0, axis=-1) / (rf1.shape[-1] - 1)
    return float(area) if np.ndim(area) == 0 else area
