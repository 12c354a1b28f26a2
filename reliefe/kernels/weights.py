"""Weight updates from neighbour lists, multi-class (the update rule of Algorithm 1).

For every row i of a block and every class q with neighbours N, the weight of column j grows by
``coefficient[i, q]`` times the mean over N of |z_ij − z_lj| (plain) or times |z_ij − mean over N of z_lj|
(absMean). Within a column all sums run in the order of the rows, whatever the threads.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel

_CACHE_BYTES = 2**19
_LEAST_COLUMNS = 64


@kernel()
def _columns_at_once(n):
    """So many columns that the values of all n rows in them stay in the second-level cache."""
    return max(_LEAST_COLUMNS, _CACHE_BYTES // (8 * n))


@kernel()
def update_dense(Z, rows, neighbours, segment_ptr, counts, coefficients, abs_mean, lo, hi, weights):
    """Add a block's updates to ``weights[lo:hi]``.

    Parameters
    ----------
    Z : float64 array of shape (n, p)
        Range-normalised rows.
    rows : int64 array of shape (b,)
        Row numbers of the block.
    neighbours, segment_ptr, counts : arrays
        As filled by :func:`reliefe.kernels.neighbours.nearest_per_class`.
    coefficients : float64 array of shape (b, c)
        −1 for a row's own class, P(q) / (1 − P(own class)) for any other.
    abs_mean : bool
        Whether to average the neighbours before taking the difference.
    lo, hi : int
        Range of columns to work on.
    weights : float64 array of shape (p,)
        Changed in place.
    """
    n = Z.shape[0]
    step = _columns_at_once(n)
    total = np.empty(min(step, hi - lo), dtype=np.float64)
    for j0 in range(lo, hi, step):
        j1 = min(hi, j0 + step)
        width = j1 - j0
        gained = weights[j0:j1]
        for r in range(rows.shape[0]):
            own = Z[rows[r], j0:j1]
            for q in range(counts.shape[1]):
                m = counts[r, q]
                if m == 0:
                    continue
                near = neighbours[r, segment_ptr[q] : segment_ptr[q] + m]
                _sum_up(Z, own, near, j0, j1, abs_mean, total)
                coefficient = coefficients[r, q]
                if abs_mean:
                    for j in range(width):
                        gained[j] += coefficient * abs(own[j] - total[j] / m)
                else:
                    coefficient /= m
                    for j in range(width):
                        gained[j] += coefficient * total[j]


@kernel()
def _sum_up(Z, own, near, j0, j1, abs_mean, total):
    """Put the sums over the neighbours of their values, or of their differences to ``own``, into ``total``."""
    width = j1 - j0
    for j in range(width):
        total[j] = 0.0
    # Four neighbours at a time: the sums are then read and written once per four.
    whole = near.shape[0] - near.shape[0] % 4
    for t in range(0, whole, 4):
        a = Z[near[t], j0:j1]
        b = Z[near[t + 1], j0:j1]
        c = Z[near[t + 2], j0:j1]
        d = Z[near[t + 3], j0:j1]
        if abs_mean:
            for j in range(width):
                total[j] += (a[j] + b[j]) + (c[j] + d[j])
        else:
            for j in range(width):
                total[j] += (abs(own[j] - a[j]) + abs(own[j] - b[j])) + (
                    abs(own[j] - c[j]) + abs(own[j] - d[j])
                )
    for t in range(whole, near.shape[0]):
        a = Z[near[t], j0:j1]
        if abs_mean:
            for j in range(width):
                total[j] += a[j]
        else:
            for j in range(width):
                total[j] += abs(own[j] - a[j])


@kernel()
def update_sparse(
    indptr, indices, values, rows, neighbours, segment_ptr, counts, coefficients, abs_mean, lo, hi, weights
):
    """Add the updates of the rows ``rows[lo:hi]`` to ``weights``, for CSR storage.

    Cost grows with the stored values of the rows and their neighbours, not with the number of columns.
    Parameters are those of :func:`update_dense`, but for the matrix as ``indptr, indices, values`` and
    ``lo, hi`` as a range of positions in ``rows``.
    """
    p = weights.shape[0]
    own = np.zeros(p, dtype=np.float64)
    total = np.zeros(p, dtype=np.float64)
    present = np.zeros(p, dtype=np.int64)
    touched = np.empty(p, dtype=np.int64)
    for r in range(lo, hi):
        i = rows[r]
        for e in range(indptr[i], indptr[i + 1]):
            own[indices[e]] = values[e]
        for q in range(counts.shape[1]):
            m = counts[r, q]
            if m == 0:
                continue
            n_touched = 0
            for t in range(segment_ptr[q], segment_ptr[q] + m):
                other = neighbours[r, t]
                for e in range(indptr[other], indptr[other + 1]):
                    j = indices[e]
                    if present[j] == 0:
                        touched[n_touched] = j
                        n_touched += 1
                        total[j] = 0.0
                    present[j] += 1
                    total[j] += values[e] if abs_mean else abs(own[j] - values[e])
            coefficient = coefficients[r, q]
            for e in range(indptr[i], indptr[i + 1]):  # columns the row has and all its neighbours lack
                j = indices[e]
                if present[j] == 0:
                    weights[j] += coefficient * abs(values[e])
            for t in range(n_touched):
                j = touched[t]
                if abs_mean:
                    weights[j] += coefficient * abs(own[j] - total[j] / m)
                else:
                    weights[j] += coefficient / m * (total[j] + abs(own[j]) * (m - present[j]))
                present[j] = 0
        for e in range(indptr[i], indptr[i + 1]):
            own[indices[e]] = 0.0
