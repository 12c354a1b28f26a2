"""Distances from a block of rows to all rows.

Manhattan distances on range-normalised columns (Section 2 of the paper's ReliefF) are summed in fixed point:
every value becomes a multiple of a power of two held in an int64. Integer sums do not depend on their order,
so dense and sparse storage, any permutation of the columns and any number of threads give the same distances
to the last bit.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel
from reliefe.kernels.tiles import SIDE, mirror, tiles

#: Codes of the metrics that :func:`metric_dense` and :func:`metric_sparse` understand.
COSINE, EUCLIDEAN, MANHATTAN = 0, 1, 2

_COPIED = 16  # columns turned at a time
_LANES = 512  # rows measured side by side; with them, four columns stay in the first-level cache


@kernel()
def _fixed_tile(Z, members, factor, j0, j1, tile):
    """Put the columns ``j0 … j1 − 1`` in fixed point, side by side, into the first rows of ``tile``."""
    n = members.shape[0]
    for m0 in range(0, n, _COPIED):
        for j in range(j0, j1):
            for m in range(m0, min(n, m0 + _COPIED)):
                tile[j - j0, m] = np.int64(np.rint(Z[members[m], j] * factor))


@kernel()
def fixed_columns(Z, members, factor, lo, hi, columns):
    """Copy columns of a matrix of rows into fixed point, its rows in another order.

    Parameters
    ----------
    Z : float64 array of shape (n, p)
        The rows.
    members : int64 array of shape (n,)
        Row numbers in the order in which they are to stand.
    factor : float
        The power of two of the fixed point.
    lo, hi : int
        Range of columns to work on.
    columns : int64 array of shape (p, n)
        Rows ``lo … hi − 1`` are overwritten.
    """
    for j0 in range(lo, hi, _COPIED):
        _fixed_tile(Z, members, factor, j0, min(hi, j0 + _COPIED), columns[j0:])


@kernel()
def _add_columns(query, columns, m0, m1, j0, j1, n_rows, totals):
    """Add the larger values, column by column, of ``n_rows`` queries and the rows ``m0 … m1 − 1`` to ``totals``.

    Queries are worked on in fours, the last four to their end, whether all of them are wanted or not.
    """
    width = m1 - m0
    j = j0
    # Four queries and four columns at a time: each value is then read once per four, and so is each running sum.
    while j + 4 <= j1:
        c0 = columns[j, m0:m1]
        c1 = columns[j + 1, m0:m1]
        c2 = columns[j + 2, m0:m1]
        c3 = columns[j + 3, m0:m1]
        q0 = query[j - j0]
        q1 = query[j - j0 + 1]
        q2 = query[j - j0 + 2]
        q3 = query[j - j0 + 3]
        for r in range(0, n_rows, 4):
            t0 = totals[r * _LANES : r * _LANES + width]
            t1 = totals[(r + 1) * _LANES : (r + 1) * _LANES + width]
            t2 = totals[(r + 2) * _LANES : (r + 2) * _LANES + width]
            t3 = totals[(r + 3) * _LANES : (r + 3) * _LANES + width]
            a0, a1, a2, a3 = q0[r], q1[r], q2[r], q3[r]
            b0, b1, b2, b3 = q0[r + 1], q1[r + 1], q2[r + 1], q3[r + 1]
            d0, d1, d2, d3 = q0[r + 2], q1[r + 2], q2[r + 2], q3[r + 2]
            e0, e1, e2, e3 = q0[r + 3], q1[r + 3], q2[r + 3], q3[r + 3]
            for m in range(width):
                x0, x1, x2, x3 = c0[m], c1[m], c2[m], c3[m]
                t0[m] += (max(a0, x0) + max(a1, x1)) + (max(a2, x2) + max(a3, x3))
                t1[m] += (max(b0, x0) + max(b1, x1)) + (max(b2, x2) + max(b3, x3))
                t2[m] += (max(d0, x0) + max(d1, x1)) + (max(d2, x2) + max(d3, x3))
                t3[m] += (max(e0, x0) + max(e1, x1)) + (max(e2, x2) + max(e3, x3))
        j += 4
    while j < j1:
        c0 = columns[j, m0:m1]
        for r in range(n_rows):
            total = totals[r * _LANES : r * _LANES + width]
            q = query[j - j0, r]
            for m in range(width):
                total[m] += max(q, c0[m])
        j += 1


@kernel()
def _take_rows(columns, positions, mirrored, j0, j1, r0, r1, query):
    """Copy the columns ``j0 … j1 − 1`` of the rows ``positions[r0:r1]``."""
    first = positions[0]
    for j in range(j0, j1):
        values = query[j - j0]
        if mirrored:
            near = columns[j, first + r0 : first + r1]
            for r in range(near.shape[0]):
                values[r] = near[r]
        else:
            column = columns[j]
            for r in range(r0, r1):
                values[r - r0] = column[positions[r]]


@kernel()
def manhattan_dense(columns, sums, depth, unit, positions, mirrored, lo, hi, out):
    """Manhattan distances from the rows ``positions[lo:hi]`` to all rows, summed in fixed point.

    The difference of two values is twice the larger one less both. The sums of the values of a row are known
    beforehand, so that a maximum and an addition are left for each pair of rows and column.

    Parameters
    ----------
    columns : int64 or uint32 array of shape (p, n)
        Range-normalised columns in fixed point: the matrix with its rows side by side.
    sums : int64 array of shape (n,)
        Sum of the values of each row.
    depth : int
        How many columns are summed in the type of ``columns`` at a time.
    unit : int or float
        What 1 in ``columns`` stands for in ``out``.
    positions : int64 array of shape (b,)
        Rows to measure from, as places in a column.
    mirrored : bool
        Whether ``positions`` are consecutive numbers. Distances among them are then measured once and written in
        both places: rows ``lo … hi − 1`` of ``out`` are complete once the pieces before them are done too.
    lo, hi : int
        Range of ``positions`` to work on.
    out : array of shape (b, n)
        Rows ``lo … hi − 1`` are overwritten, and with ``mirrored`` parts of the rows after them.
    """
    p, n = columns.shape
    query = np.zeros((min(p, depth), SIDE), dtype=columns.dtype)
    totals = np.empty(SIDE * _LANES, dtype=columns.dtype)
    before = np.empty(SIDE * _LANES if p > depth else 0, dtype=np.int64)
    for r0, r1, m0, m1 in tiles(lo, hi, positions[0], mirrored, n, np.int64(_LANES)):
        others = sums[m0:m1]
        for t in range(before.shape[0]):
            before[t] = 0
        for j0 in range(0, p, depth):
            j1 = min(p, j0 + depth)
            _take_rows(columns, positions, mirrored, j0, j1, r0, r1, query)
            for t in range(totals.shape[0]):
                totals[t] = 0
            _add_columns(query, columns, m0, m1, j0, j1, r1 - r0, totals)
            for r in range(r0, r1):
                place = (r - r0) * _LANES
                total = totals[place : place + (m1 - m0)]
                if j1 < p:
                    sofar = before[place : place + (m1 - m0)]
                    for m in range(m1 - m0):
                        sofar[m] += np.int64(total[m])
                    continue
                row = out[r, m0:m1]
                own = sums[positions[r]]
                if j0 == 0:
                    for m in range(m1 - m0):
                        row[m] = (2 * np.int64(total[m]) - own - others[m]) * unit
                else:
                    sofar = before[place : place + (m1 - m0)]
                    for m in range(m1 - m0):
                        row[m] = (2 * (sofar[m] + np.int64(total[m])) - own - others[m]) * unit
    if mirrored:
        mirror(positions[0], lo, hi, out)


@kernel()
def coarse_columns(Z, members, factor, bits, lo, hi, columns, sums, errors):
    """Copy columns of a matrix of rows into fixed point of 32 bits, its rows in another order.

    Parameters
    ----------
    Z : float64 array of shape (n, p)
        The rows; the values of a column lie within a stretch of length 1.
    members : int64 array of shape (n,)
        Row numbers in the order in which they are to stand.
    factor : float
        The power of two of the fine fixed point.
    bits : int
        How many bits of it are rounded away.
    lo, hi : int
        Range of columns to work on.
    columns : uint32 array of shape (p, n)
        Rows ``lo … hi − 1`` are overwritten: values less the smallest of their column, rounded.
    sums : int64 array of shape (n,)
        Grows by the values of each row.
    errors : int64 array of shape (n,)
        Grows by what the values of a row are off, in units of the fine fixed point.
    """
    n = members.shape[0]
    half = np.int64(1) << (bits - 1)
    fine = np.empty((_COPIED, n), dtype=np.int64)
    for j0 in range(lo, hi, _COPIED):
        j1 = min(hi, j0 + _COPIED)
        _fixed_tile(Z, members, factor, j0, j1, fine)
        for j in range(j0, j1):
            values = fine[j - j0]
            lowest = values[0]
            for m in range(1, n):
                lowest = min(lowest, values[m])
            column = columns[j]
            for m in range(n):
                value = values[m] - lowest
                coarse = (value + half) >> bits
                column[m] = np.uint32(coarse)
                sums[m] += coarse
                errors[m] += abs(value - (coarse << bits))


@kernel()
def manhattan_rows(own, others, factor, out):
    """Add fixed-point Manhattan distances between a few rows and others, in some columns.

    Parameters
    ----------
    own, others : float64 arrays of shape (f, w) and (m, w)
        Range-normalised rows, in these columns alone.
    factor : float
        The power of two of the fixed point.
    out : int64 array of shape (f, m)
        Grows by the distances.
    """
    width = own.shape[1]
    query = np.empty(own.shape, dtype=np.int64)
    fixed = np.empty(width, dtype=np.int64)
    for f in range(own.shape[0]):
        for j in range(width):
            query[f, j] = np.int64(np.rint(own[f, j] * factor))
    for m in range(others.shape[0]):
        for j in range(width):
            fixed[j] = np.int64(np.rint(others[m, j] * factor))
        for f in range(own.shape[0]):
            own_fixed = query[f]
            total = np.int64(0)
            for j in range(width):
                total += abs(fixed[j] - own_fixed[j])
            out[f, m] += total


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
