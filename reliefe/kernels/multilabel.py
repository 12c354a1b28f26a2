"""Weight updates from neighbour lists, multi-label (the update of Algorithm 1's multi-label branch).

For a row with m neighbours, target distances t_l and feature differences D_lj, with t the mean of t_l, d_j the mean
of D_lj and td_j the mean of t_l · D_lj, column j gains td_j / t − (d_j − td_j) / (1 − t). A term whose denominator
is 0 adds 0. With absMean the differences keep their sign inside the means, and the means lose it.

Both forms are sums over neighbours with weights that do not depend on the column, which is what is computed here.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel
from reliefe.kernels.weights import _columns_at_once


@kernel()
def _shares(targets, m):
    """Return 1 / (m t) and 1 / (m (1 − t)), each 0 where t, or 1 − t, is 0."""
    total = 0.0
    rest = 0.0
    for s in range(m):
        total += targets[s]
        rest += 1.0 - targets[s]
    return (1.0 / total if total > 0.0 else 0.0), (1.0 / rest if rest > 0.0 else 0.0)


@kernel()
def update_dense(Z, rows, neighbours, counts, targets, abs_mean, lo, hi, weights):
    """Add a block's updates to ``weights[lo:hi]``.

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
    targets : float64 array of shape (b, k)
        Target distances of the neighbours, in 0 … 1.
    abs_mean : bool
        Whether signed differences are averaged before the absolute value is taken.
    lo, hi : int
        Range of columns to work on.
    weights : float64 array of shape (p,)
        Changed in place.
    """
    step = _columns_at_once(Z.shape[0])
    plain = np.empty(min(step, hi - lo), dtype=np.float64)
    weighted = np.empty(min(step, hi - lo), dtype=np.float64)
    for j0 in range(lo, hi, step):
        j1 = min(hi, j0 + step)
        width = j1 - j0
        gained = weights[j0:j1]
        for r in range(rows.shape[0]):
            m = counts[r, 0]
            if m == 0:
                continue
            own = Z[rows[r], j0:j1]
            misses, hits = _shares(targets[r], m)
            if abs_mean:
                plain[:width] = 0.0
                weighted[:width] = 0.0
                for t in range(m):
                    other = Z[neighbours[r, t], j0:j1]
                    target = targets[r, t]
                    for j in range(width):
                        gap = own[j] - other[j]
                        plain[j] += gap
                        weighted[j] += target * gap
                for j in range(width):
                    both = abs(weighted[j])
                    gained[j] += both * misses - (abs(plain[j]) - both) * hits
            else:
                plain[:width] = 0.0
                for t in range(m):
                    other = Z[neighbours[r, t], j0:j1]
                    coefficient = targets[r, t] * misses - (1.0 - targets[r, t]) * hits
                    for j in range(width):
                        plain[j] += coefficient * abs(own[j] - other[j])
                for j in range(width):
                    gained[j] += plain[j]


@kernel()
def update_sparse(indptr, indices, values, rows, neighbours, counts, targets, abs_mean, lo, hi, weights):
    """Add the updates of the rows ``rows[lo:hi]`` to ``weights``, for CSR storage.

    Parameters are those of :func:`update_dense`, but for the matrix as ``indptr, indices, values`` and ``lo, hi``
    as a range of positions in ``rows``.
    """
    p = weights.shape[0]
    own = np.zeros(p, dtype=np.float64)
    plain = np.zeros(p, dtype=np.float64)
    weighted = np.zeros(p, dtype=np.float64)
    seen = np.full(p, -1, dtype=np.int64)
    touched = np.empty(p, dtype=np.int64)
    stamp = np.int64(-1)
    for r in range(lo, hi):
        m = counts[r, 0]
        if m == 0:
            continue
        i = rows[r]
        for e in range(indptr[i], indptr[i + 1]):
            own[indices[e]] = values[e]
        misses, hits = _shares(targets[r], m)
        if abs_mean:
            stamp += 1
            n_touched = 0
            total = 0.0
            for t in range(m):
                target = targets[r, t]
                total += target
                other = neighbours[r, t]
                for e in range(indptr[other], indptr[other + 1]):
                    j = indices[e]
                    if seen[j] != stamp:
                        seen[j] = stamp
                        touched[n_touched] = j
                        n_touched += 1
                        plain[j] = 0.0
                        weighted[j] = 0.0
                    plain[j] += values[e]
                    weighted[j] += target * values[e]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if seen[j] != stamp:
                    touched[n_touched] = j
                    n_touched += 1
                    plain[j] = 0.0
                    weighted[j] = 0.0
            for t in range(n_touched):
                j = touched[t]
                both = abs(total * own[j] - weighted[j])
                weights[j] += both * misses - (abs(m * own[j] - plain[j]) - both) * hits
        else:
            for t in range(m):
                stamp += 1
                coefficient = targets[r, t] * misses - (1.0 - targets[r, t]) * hits
                other = neighbours[r, t]
                for e in range(indptr[other], indptr[other + 1]):
                    j = indices[e]
                    seen[j] = stamp
                    weights[j] += coefficient * abs(own[j] - values[e])
                for e in range(indptr[i], indptr[i + 1]):
                    j = indices[e]
                    if seen[j] != stamp:
                        weights[j] += coefficient * abs(values[e])
        for e in range(indptr[i], indptr[i + 1]):
            own[indices[e]] = 0.0
