"""Weight updates from neighbour lists for numeric targets (RReliefF).

With d the influence of a neighbour (a row's neighbours have influence 1 together), t its target distance and D its
difference in a column, two sums over rows and neighbours are kept per column: of d · t · D, and of d · (1 − t) · D.
With absMean the differences keep their sign inside a row's sums, and the sums lose it.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel
from reliefe.kernels.weights import _columns_at_once


@kernel()
def update_dense(Z, rows, neighbours, counts, influence, targets, abs_mean, lo, hi, sums):
    """Add a block's updates to ``sums[:2, lo:hi]``.

    Parameters
    ----------
    Z : float64 array of shape (n, p)
        Range-normalised rows.
    rows : int64 array of shape (b,)
        Row numbers of the block.
    neighbours : int32 array of shape (b, k)
        Row numbers of the neighbours.
    counts : int64 array of shape (b, 1)
        Number of neighbours of each row.
    influence : float64 array of shape (b, k)
        Influence of each neighbour.
    targets : float64 array of shape (b, k)
        Target distances of the neighbours, in 0 … 1.
    abs_mean : bool
        Whether signed differences are summed before the absolute value is taken.
    lo, hi : int
        Range of columns to work on.
    sums : float64 array of shape (≥ 2, p)
        The first two rows are changed in place.
    """
    step = _columns_at_once(Z.shape[0])
    plain = np.empty(min(step, hi - lo), dtype=np.float64)
    weighted = np.empty(min(step, hi - lo), dtype=np.float64)
    for j0 in range(lo, hi, step):
        j1 = min(hi, j0 + step)
        width = j1 - j0
        misses = sums[0, j0:j1]
        hits = sums[1, j0:j1]
        for r in range(rows.shape[0]):
            own = Z[rows[r], j0:j1]
            plain[:width] = 0.0
            weighted[:width] = 0.0
            for t in range(counts[r, 0]):
                other = Z[neighbours[r, t], j0:j1]
                whole = influence[r, t]
                part = whole * targets[r, t]
                if abs_mean:
                    for j in range(width):
                        gap = own[j] - other[j]
                        plain[j] += whole * gap
                        weighted[j] += part * gap
                else:
                    for j in range(width):
                        gap = abs(own[j] - other[j])
                        plain[j] += whole * gap
                        weighted[j] += part * gap
            for j in range(width):
                both = abs(weighted[j])
                misses[j] += both
                hits[j] += abs(plain[j]) - both


@kernel()
def update_sparse(
    indptr, indices, values, rows, neighbours, counts, influence, targets, abs_mean, lo, hi, sums
):
    """Add the updates of the rows ``rows[lo:hi]`` to ``sums``, for CSR storage.

    Parameters are those of :func:`update_dense`, but for the matrix as ``indptr, indices, values`` and ``lo, hi``
    as a range of positions in ``rows``.
    """
    p = sums.shape[1]
    own = np.zeros(p, dtype=np.float64)
    plain = np.zeros(p, dtype=np.float64)
    weighted = np.zeros(p, dtype=np.float64)
    seen = np.full(p, -1, dtype=np.int64)
    touched = np.empty(p, dtype=np.int64)
    for r in range(lo, hi):
        m = counts[r, 0]
        i = rows[r]
        n_touched = 0
        all_plain = 0.0
        all_weighted = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            own[indices[e]] = values[e]
        for t in range(m):
            all_plain += influence[r, t]
            all_weighted += influence[r, t] * targets[r, t]
        # Every column starts as if all neighbours had a 0 there; those that have not are corrected for.
        for t in range(-1, m):
            other = i if t < 0 else np.int64(neighbours[r, t])
            for e in range(indptr[other], indptr[other + 1]):
                j = indices[e]
                if seen[j] != r:
                    seen[j] = r
                    touched[n_touched] = j
                    n_touched += 1
                    start = own[j] if abs_mean else abs(own[j])
                    plain[j] = all_plain * start
                    weighted[j] = all_weighted * start
                if t < 0:
                    continue
                whole = influence[r, t]
                change = -values[e] if abs_mean else abs(own[j] - values[e]) - abs(own[j])
                plain[j] += whole * change
                weighted[j] += whole * targets[r, t] * change
        for s in range(n_touched):
            j = touched[s]
            both = abs(weighted[j])
            sums[0, j] += both
            sums[1, j] += abs(plain[j]) - both
        for e in range(indptr[i], indptr[i + 1]):
            own[indices[e]] = 0.0
