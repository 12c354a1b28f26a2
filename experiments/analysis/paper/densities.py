"""Points → densities that can be drawn: kernel estimates on grids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

#: Dimensions → points that a kernel density needs, so that its mean squared error at the centre of a normal
#: distribution is below a tenth of the squared density there (B. W. Silverman: Density Estimation for Statistics
#: and Data Analysis, 1986, table 4.2). Fewer points are shown as points.
FEWEST_POINTS = {1: 4, 2: 19}


def density_of_shares(before: Sequence[float], after: Sequence[float], *, n_points: int = 80) -> pd.DataFrame:
    """Estimate the joint density of shares of non-zeros before and after sparsification.

    Parameters
    ----------
    before, after : sequence of float
        Shares in 0 … 1, a pair per data set (and ε).
    n_points : int, default=80
        Grid points per axis, from 0 to 1.

    Returns
    -------
    DataFrame
        ``before``, ``after``, ``density`` on the grid. Empty when the pairs lie on a line, or when fewer than 19 of
        them differ (:data:`FEWEST_POINTS`): then the points alone are to be drawn.

    Notes
    -----
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

    Parameters
    ----------
    counted : DataFrame
        From :func:`experiments.analysis.paper.measurements.points`, kind "adaptive_k".
    bandwidth : float, default=0.08
        Standard deviation of the Gaussian kernel, decades. One for all curves: a rule that goes by the standard
        deviation smears the two ends of a data set whose rows take either one neighbour or nearly all.
    n_points : int, default=200
        Grid points per curve.

    Returns
    -------
    DataFrame
        ``dataset``, ``ranker``, ``k`` (from 1 to the largest class), ``density`` (per decade of k), and ``median``,
        ``n`` (of the numbers counted; equal on all lines of a curve). A row that found no neighbour (k = 0) is not
        counted. With a single possible k, or fewer than four numbers counted (:data:`FEWEST_POINTS`), there is a
        line for each k that was found, whose density is NaN.

    Notes
    -----
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
