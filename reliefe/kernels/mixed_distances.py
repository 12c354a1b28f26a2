"""Distances where values are missing (NaN) or columns hold codes of categories; see :mod:`reliefe.kernels.mixed`.

Distances are sums of floats that are multiples of a power of two, small enough for every sum to be exact: like the
fixed point of :mod:`reliefe.kernels.distances`, they depend on no order.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel

_COLUMNS_PER_TILE = 64
_LANES = 1024


@kernel()
def _add_all(query, columns, m0, m1, j0, j1, total):
    """Add the differences in columns ``j0 … j1 − 1`` between a row and others, nothing missing, to ``total``."""
    width = m1 - m0
    j = j0
    # Four columns at a time: the sums are then read and written once per four.
    while j + 4 <= j1:
        q0 = query[j]
        q1 = query[j + 1]
        q2 = query[j + 2]
        q3 = query[j + 3]
        c0 = columns[j, m0:m1]
        c1 = columns[j + 1, m0:m1]
        c2 = columns[j + 2, m0:m1]
        c3 = columns[j + 3, m0:m1]
        for m in range(width):
            d0 = abs(q0 - c0[m])
            d1 = abs(q1 - c1[m])
            d2 = abs(q2 - c2[m])
            d3 = abs(q3 - c3[m])
            total[m] += ((d0 if d0 < 1.0 else 1.0) + (d1 if d1 < 1.0 else 1.0)) + (
                (d2 if d2 < 1.0 else 1.0) + (d3 if d3 < 1.0 else 1.0)
            )
        j += 4
    while j < j1:
        q0 = query[j]
        c0 = columns[j, m0:m1]
        for m in range(width):
            d0 = abs(q0 - c0[m])
            total[m] += d0 if d0 < 1.0 else 1.0
        j += 1


@kernel()
def _add_known(query, columns, m0, m1, j0, j1, total, known):
    """As :func:`_add_all` where both values are known; count these columns in ``known``."""
    width = m1 - m0
    j = j0
    while j + 4 <= j1:
        q0 = query[j]
        q1 = query[j + 1]
        q2 = query[j + 2]
        q3 = query[j + 3]
        c0 = columns[j, m0:m1]
        c1 = columns[j + 1, m0:m1]
        c2 = columns[j + 2, m0:m1]
        c3 = columns[j + 3, m0:m1]
        for m in range(width):
            d0 = abs(q0 - c0[m])
            d1 = abs(q1 - c1[m])
            d2 = abs(q2 - c2[m])
            d3 = abs(q3 - c3[m])
            # A NaN is neither below 1 nor equal to itself.
            k0 = 1.0 if d0 == d0 else 0.0
            k1 = 1.0 if d1 == d1 else 0.0
            k2 = 1.0 if d2 == d2 else 0.0
            k3 = 1.0 if d3 == d3 else 0.0
            total[m] += ((d0 if d0 < 1.0 else k0) + (d1 if d1 < 1.0 else k1)) + (
                (d2 if d2 < 1.0 else k2) + (d3 if d3 < 1.0 else k3)
            )
            known[m] += (k0 + k1) + (k2 + k3)
        j += 4
    while j < j1:
        q0 = query[j]
        c0 = columns[j, m0:m1]
        for m in range(width):
            d0 = abs(q0 - c0[m])
            k0 = 1.0 if d0 == d0 else 0.0
            total[m] += d0 if d0 < 1.0 else k0
            known[m] += k0
        j += 1


@kernel()
def add_dense(columns, missing, positions, mirrored, lo, hi, out, known):
    """Add differences between the rows ``positions[lo:hi]`` and all rows in some columns, where both are known.

    Parameters
    ----------
    columns : float64 array of shape (w, n)
        Columns with the rows side by side: range-normalised values, codes, NaN; multiples of a power of two.
    missing : bool
        Whether there is any NaN. Else ``known`` is not looked at.
    positions : int64 array of shape (b,)
        The rows to measure from, as places in a column.
    mirrored : bool
        Whether ``positions`` are consecutive numbers. Distances to places among them that come before ``lo`` are
        then left to :func:`reliefe.kernels.tiles.mirror`.
    lo, hi : int
        Range of ``positions`` to work on; no more than 64 with ``mirrored``.
    out : float64 array of shape (≥ b, n)
        Sums of differences, which grow.
    known : float64 array of shape (≥ b, n)
        Grows by the number of columns known in both rows.
    """
    p, n = columns.shape
    first = positions[0]
    queries = np.empty((hi - lo, p), dtype=np.float64)
    for r in range(lo, hi):
        queries[r - lo] = columns[:, positions[r]]
    for part in range(2):
        start = 0
        stop = n
        if part == 0:
            stop = first if mirrored else 0
        elif mirrored:
            start = first + lo
        for m0 in range(start, stop, _LANES):
            m1 = min(stop, m0 + _LANES)
            for j0 in range(0, p, _COLUMNS_PER_TILE):
                j1 = min(p, j0 + _COLUMNS_PER_TILE)
                for r in range(lo, hi):
                    row = out[r, m0:m1]
                    if missing:
                        _add_known(queries[r - lo], columns, m0, m1, j0, j1, row, known[r, m0:m1])
                    else:
                        _add_all(queries[r - lo], columns, m0, m1, j0, j1, row)


@kernel()
def stretch(n_columns, known, lo, hi, out):
    """Multiply sums of differences by the number of all columns over that of columns known in both rows.

    Parameters
    ----------
    n_columns : int
        Number of all columns.
    known : float64 array of shape (≥ b, n)
        Number of columns that are known in both rows.
    lo, hi : int
        Rows to work on.
    out : float64 array of shape (≥ b, n)
        Changed in place; ``n_columns`` where two rows know no column in common.
    """
    for r in range(lo, hi):
        row = out[r]
        counts = known[r]
        for m in range(row.shape[0]):
            count = counts[m]
            row[m] = row[m] * (n_columns / count) if count > 0.0 else n_columns


@kernel()
def distances_sparse(
    rows, indptr, indices, values, col_indptr, col_rows, col_values, norms, unknown, n_columns, out
):
    """Distances from some rows to all rows for sparse rows, through an inverted index.

    A distance is the sum of differences over columns known in both rows, times p / number of these.

    Parameters
    ----------
    rows : int64 array of shape (b,)
        Numbers of the rows to measure from.
    indptr, indices, values : arrays
        The matrix by rows (CSR); multiples of a power of two, codes, NaN.
    col_indptr, col_rows, col_values : arrays
        The same matrix by columns (CSC), its rows in the order of ``out``.
    norms : float64 array of shape (n,)
        Sum of min(|value|, 1) over the known values of each row, in the order of ``out``.
    unknown : int64 array of shape (n,)
        Number of NaN in each row, in the order of ``out``.
    n_columns : int
        p.
    out : float64 array of shape (≥ b, n)
        Overwritten; p where two rows know no column in common.
    """
    n = norms.shape[0]
    both = np.zeros(n, dtype=np.int64)
    for r in range(rows.shape[0]):
        i = rows[r]
        own = 0.0
        own_unknown = 0
        for e in range(indptr[i], indptr[i + 1]):
            if np.isnan(values[e]):
                own_unknown += 1
            else:
                own += min(abs(values[e]), 1.0)
        for m in range(n):
            out[r, m] = own + norms[m]
            both[m] = 0
        for e in range(indptr[i], indptr[i + 1]):
            v = values[e]
            size = min(abs(v), 1.0)
            j = indices[e]
            if np.isnan(v):
                for f in range(col_indptr[j], col_indptr[j + 1]):
                    u = col_values[f]
                    if np.isnan(u):
                        both[col_rows[f]] += 1
                    else:
                        out[r, col_rows[f]] -= min(abs(u), 1.0)
            else:
                for f in range(col_indptr[j], col_indptr[j + 1]):
                    u = col_values[f]
                    if np.isnan(u):
                        out[r, col_rows[f]] -= size
                    else:
                        out[r, col_rows[f]] += min(abs(v - u), 1.0) - size - min(abs(u), 1.0)
        for m in range(n):
            count = n_columns - own_unknown - unknown[m] + both[m]
            if count < n_columns:
                out[r, m] = out[r, m] * (n_columns / count) if count > 0 else n_columns
