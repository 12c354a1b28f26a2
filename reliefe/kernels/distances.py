"""Distances from a block of rows to all rows.

Manhattan distances on range-normalised columns (Section 2 of the paper's ReliefF) are summed in fixed point:
every value becomes a multiple of a power of two held in an int64. Integer sums do not depend on their order,
so dense and sparse storage, any permutation of the columns and any number of threads give the same distances
to the last bit.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel

#: Codes of the metrics that :func:`metric_dense` and :func:`metric_sparse` understand.
COSINE, EUCLIDEAN, MANHATTAN = 0, 1, 2


@kernel()
def manhattan_sparse(rows, indptr, indices, values, factor, col_indptr, col_rows, col_values, norms, out):
    """Fixed-point Manhattan distances from sparse rows to all rows, through an inverted index.

    The distance of two rows is the sum of their norms plus a correction on the columns that both have, so
    pairs of rows without a common column cost nothing beyond the sum of norms.

    Parameters
    ----------
    rows : int64 array of shape (b,)
        Numbers of the rows to measure from.
    indptr, indices, values : arrays
        The matrix by rows (CSR), values as floats.
    factor : float
        The power of two of the fixed point.
    col_indptr, col_rows, col_values : arrays
        The same matrix by columns (CSC), values in fixed point (int64), its rows in the order of ``out``.
    norms : int64 array of shape (n,)
        Sum of absolute values of each row, in fixed point, in the order of ``out``.
    out : int64 array of shape (b, n)
        Overwritten.
    """
    n = norms.shape[0]
    for r in range(rows.shape[0]):
        i = rows[r]
        own = np.int64(0)
        for e in range(indptr[i], indptr[i + 1]):
            own += abs(np.int64(np.rint(values[e] * factor)))
        for m in range(n):
            out[r, m] = own + norms[m]
        for e in range(indptr[i], indptr[i + 1]):
            v = np.int64(np.rint(values[e] * factor))
            size = abs(v)
            j = indices[e]
            for f in range(col_indptr[j], col_indptr[j + 1]):
                u = col_values[f]
                out[r, col_rows[f]] += abs(v - u) - size - abs(u)


@kernel()
def metric_dense(positions, columns, norms, metric, out):
    """Distances in an embedding, from some rows to all rows.

    Parameters
    ----------
    positions : int64 array of shape (b,)
        The rows to measure from, as places in a column.
    columns : float64 array of shape (d, n)
        The embedding with its rows side by side.
    norms : float64 array of shape (n,)
        Euclidean norms of the rows.
    metric : int
        :data:`COSINE` (1 − cos; 1 where a row is zero), :data:`EUCLIDEAN` or :data:`MANHATTAN`.
    out : float64 array of shape (b, n)
        Overwritten.
    """
    d, n = columns.shape
    for r in range(positions.shape[0]):
        i = positions[r]
        total = out[r]
        for m in range(n):
            total[m] = 0.0
        for j in range(d):
            own = columns[j, i]
            column = columns[j]
            if metric == COSINE:
                for m in range(n):
                    total[m] += own * column[m]
            elif metric == EUCLIDEAN:
                for m in range(n):
                    total[m] += (own - column[m]) * (own - column[m])
            else:
                for m in range(n):
                    total[m] += abs(own - column[m])
        if metric == COSINE:
            for m in range(n):
                size = norms[i] * norms[m]
                total[m] = 1.0 - total[m] / size if size > 0.0 else 1.0
        elif metric == EUCLIDEAN:
            for m in range(n):
                total[m] = np.sqrt(total[m])


@kernel()
def metric_sparse(positions, indptr, indices, values, n_columns, norms, metric, out):
    """As :func:`metric_dense`, for rows stored as CSR with sorted columns.

    The part of row i that row l does not have is ``(all of i) − (i on the columns of l)``; both sums run in
    the order of the columns, so that equal rows are at distance exactly 0.
    """
    n = norms.shape[0]
    query = np.zeros(n_columns, dtype=np.float64)
    for r in range(positions.shape[0]):
        i = positions[r]
        whole = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            v = values[e]
            query[indices[e]] = v
            whole += v * v if metric == EUCLIDEAN else abs(v)
        for m in range(n):
            total = 0.0
            shared = 0.0
            for e in range(indptr[m], indptr[m + 1]):
                q = query[indices[e]]
                u = values[e]
                if metric == COSINE:
                    total += q * u
                elif metric == EUCLIDEAN:
                    total += (q - u) * (q - u)
                    shared += q * q
                else:
                    total += abs(q - u)
                    shared += abs(q)
            if metric == COSINE:
                size = norms[i] * norms[m]
                out[r, m] = 1.0 - total / size if size > 0.0 else 1.0
            elif metric == EUCLIDEAN:
                out[r, m] = np.sqrt(max(0.0, total + (whole - shared)))
            else:
                out[r, m] = max(0.0, total + (whole - shared))
        for e in range(indptr[i], indptr[i + 1]):
            query[indices[e]] = 0.0
