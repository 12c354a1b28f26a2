"""Distances and weight updates where values are missing (NaN) or columns hold codes of categories.

One difference serves both kinds of column, ``min(|a − b|, 1)``: the range-normalised difference where a column is
divided by its range, and 0 or 1 where it holds whole numbers that name categories. A difference with a NaN in it is
left out of every sum, and what is averaged is divided by the number (or the influence) of what was counted.

Distances are sums of floats that are multiples of a power of two, small enough for every sum to be exact: like the
fixed point of :mod:`reliefe.kernels.distances`, they depend on no order.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel
from reliefe.kernels.weights import _columns_at_once

#: What :func:`update_dense` and :func:`update_sparse` do with the neighbours of a row.
CLASSES, LABEL_SETS, RESPONSES = 0, 1, 2

_COLUMNS_PER_TILE = 64
_LANES = 1024
_NEGLIGIBLE = 1e-12  # share of the whole that is rounding of what was taken away from it


@kernel()
def _add_all(query, columns, m0, m1, j0, j1, total):
    """Add the differences in columns ``j0 … j1 − 1`` between a row and others, nothing missing, to ``total``."""
    width = m1 - m0
    for j in range(j0, j1):
        own = query[j]
        column = columns[j, m0:m1]
        for m in range(width):
            gap = abs(own - column[m])
            total[m] += gap if gap < 1.0 else 1.0


@kernel()
def _add_known(query, columns, m0, m1, j0, j1, total, known):
    """As :func:`_add_all` where both values are known; count these columns in ``known``."""
    width = m1 - m0
    for j in range(j0, j1):
        own = query[j]
        if np.isnan(own):
            continue
        column = columns[j, m0:m1]
        for m in range(width):
            gap = abs(own - column[m])
            counted = 1.0 if gap == gap else 0.0
            total[m] += counted * (gap if gap < 1.0 else 1.0)
            known[m] += counted


@kernel()
def distances_dense(positions, columns, missing, out):
    """Distances from some rows to all rows: the sum over columns known in both, times p / number of these.

    Parameters
    ----------
    positions : int64 array of shape (b,)
        The rows to measure from, as places in a column.
    columns : float64 array of shape (p, n)
        The matrix with its rows side by side: range-normalised values, codes, NaN; multiples of a power of two.
    missing : bool
        Whether there is any NaN.
    out : float64 array of shape (≥ b, n)
        Overwritten; p where two rows know no column in common.
    """
    p, n = columns.shape
    b = positions.shape[0]
    queries = np.empty((b, p), dtype=np.float64)
    for r in range(b):
        queries[r] = columns[:, positions[r]]
        out[r] = 0.0
    known = np.zeros((b, min(n, _LANES)), dtype=np.float64)
    for m0 in range(0, n, _LANES):
        m1 = min(n, m0 + _LANES)
        for j0 in range(0, p, _COLUMNS_PER_TILE):
            j1 = min(p, j0 + _COLUMNS_PER_TILE)
            for r in range(b):
                if missing:
                    _add_known(queries[r], columns, m0, m1, j0, j1, out[r, m0:m1], known[r])
                else:
                    _add_all(queries[r], columns, m0, m1, j0, j1, out[r, m0:m1])
        if missing:
            for r in range(b):
                for m in range(m0, m1):
                    count = known[r, m - m0]
                    out[r, m] = out[r, m] * (p / count) if count > 0.0 else p
                    known[r, m - m0] = 0.0


@kernel()
def distances_sparse(
    rows, indptr, indices, values, col_indptr, col_rows, col_values, norms, unknown, n_columns, out
):
    """As :func:`distances_dense` for sparse rows, through an inverted index.

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
        Overwritten.
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


@kernel()
def _size(gap, full):
    """Return how large a difference is."""
    size = abs(gap)
    return size if size <= full else 1.0


@kernel()
def _added(kind, coefficient, similar, hits, misses, plain, weighted, j, sums):
    """Add what one group of neighbours says about column ``j`` to ``sums``.

    ``hits`` and ``misses`` are the influence of those counted, shared out by target distance (with classes, all of
    it is in ``hits``); ``plain`` and ``weighted`` are the sums of differences, the second times target distance.
    """
    if kind == CLASSES:
        if hits > 0.0:
            mean = abs(plain) / hits
            sums[0, j] += coefficient * (1.0 - mean if similar else mean)
    elif kind == LABEL_SETS:
        both = abs(weighted)
        if misses > 0.0:
            sums[0, j] += both / misses
        if hits > 0.0:
            sums[0, j] -= (abs(plain) - both) / hits
    else:
        sums[0, j] += abs(weighted)
        sums[1, j] += abs(plain) - abs(weighted)
        sums[2, j] += misses
        sums[3, j] += hits


@kernel()
def update_dense(
    Z,
    full,
    rows,
    neighbours,
    segment_ptr,
    counts,
    coefficients,
    similar,
    influence,
    targets,
    kind,
    abs_mean,
    lo,
    hi,
    sums,
):
    """Add a block's updates to ``sums[:, lo:hi]``.

    Parameters
    ----------
    Z : float64 array of shape (n, p)
        Range-normalised values, codes, NaN.
    full : float64 array of shape (p,)
        A difference above it counts as 1: 0 for columns that hold codes, 1 for others. Codes have no mean, so that
        ``abs_mean`` changes nothing for them.
    rows : int64 array of shape (b,)
        Row numbers of the block.
    neighbours : int32 array of shape (b, segment_ptr[-1])
        Row numbers of the neighbours, group by group.
    segment_ptr : int64 array of shape (c + 1,)
        Neighbours of group q are in ``neighbours[r, segment_ptr[q]:]``.
    counts : int64 array of shape (b, c)
        How many there are.
    coefficients : float64 array of shape (b, c)
        With :data:`CLASSES`, what a group's mean difference is multiplied by; not looked at otherwise.
    similar : bool array of shape (c,)
        With :data:`CLASSES`, groups whose mean is of 1 − difference instead; not looked at otherwise.
    influence : float64 array of shape (b, segment_ptr[-1])
        Influence of each neighbour, at least 0.
    targets : float64 array of shape (b, segment_ptr[-1])
        Target distance of each neighbour in 0 … 1; 0 with :data:`CLASSES`.
    kind : int
        :data:`CLASSES`, the multi-class update; :data:`LABEL_SETS`, the multi-label one; or :data:`RESPONSES`, the
        four sums of RReliefF: of influence times target distance times difference, of influence times the
        complement times difference, and both without the difference.
    abs_mean : bool
        Whether differences keep their sign inside sums over neighbours.
    lo, hi : int
        Range of columns to work on.
    sums : float64 array of shape (1, p), or (4, p) with :data:`RESPONSES`
        Changed in place.
    """
    step = min(_columns_at_once(Z.shape[0]), hi - lo)
    hits = np.empty(step, dtype=np.float64)
    misses = np.empty(step, dtype=np.float64)
    plain = np.empty(step, dtype=np.float64)
    weighted = np.empty(step, dtype=np.float64)
    signed = np.empty(step, dtype=np.bool_)
    most = np.empty(step, dtype=np.float64)
    for j0 in range(lo, hi, step):
        j1 = min(hi, j0 + step)
        width = j1 - j0
        for j in range(width):
            signed[j] = abs_mean and full[j0 + j] > 0.0
            most[j] = full[j0 + j]
        for r in range(rows.shape[0]):
            own = Z[rows[r], j0:j1]
            for q in range(counts.shape[1]):
                m = counts[r, q]
                if m == 0:
                    continue
                hits[:width] = 0.0
                misses[:width] = 0.0
                plain[:width] = 0.0
                weighted[:width] = 0.0
                for t in range(segment_ptr[q], segment_ptr[q] + m):
                    other = Z[neighbours[r, t], j0:j1]
                    miss = influence[r, t] * targets[r, t]
                    hit = influence[r, t] * (1.0 - targets[r, t])
                    for j in range(width):
                        gap = own[j] - other[j]
                        known = gap == gap
                        size = abs(gap)
                        size = size if size <= most[j] else 1.0
                        difference = (gap if signed[j] else size) if known else 0.0
                        hits[j] += hit if known else 0.0
                        misses[j] += miss if known else 0.0
                        plain[j] += influence[r, t] * difference
                        weighted[j] += miss * difference
                coefficient = coefficients[r, q]
                for j in range(width):
                    here = j0 + j
                    _added(
                        kind, coefficient, similar[q], hits[j], misses[j], plain[j], weighted[j], here, sums
                    )


@kernel()
def update_sparse(
    indptr,
    indices,
    values,
    full,
    rows,
    neighbours,
    segment_ptr,
    counts,
    coefficients,
    similar,
    influence,
    targets,
    kind,
    abs_mean,
    lo,
    hi,
    sums,
):
    """Add the updates of the rows ``rows[lo:hi]`` to ``sums``, for CSR storage.

    Parameters are those of :func:`update_dense`, but for the matrix as ``indptr, indices, values`` and ``lo, hi``
    as a range of positions in ``rows``. With :data:`RESPONSES`, the last two rows of ``sums`` get only what is
    missing in each column, as negative numbers: the whole is the same for all columns. So it is with groups that
    are ``similar``: where a row and its neighbours are all 0 a column gains the whole coefficient, which is left to
    the caller to add to every column, and ``sums`` gets what a column falls short of it.
    """
    p = sums.shape[1]
    own = np.zeros(p, dtype=np.float64)
    seen = np.full(p, -1, dtype=np.int64)
    touched = np.empty(p, dtype=np.int64)
    stored_hits = np.empty(p, dtype=np.float64)  # of neighbours that store the column, known or not
    stored_misses = np.empty(p, dtype=np.float64)
    hits = np.empty(p, dtype=np.float64)
    misses = np.empty(p, dtype=np.float64)
    plain = np.empty(p, dtype=np.float64)
    weighted = np.empty(p, dtype=np.float64)
    stamp = np.int64(-1)
    for r in range(lo, hi):
        i = rows[r]
        for e in range(indptr[i], indptr[i + 1]):
            own[indices[e]] = values[e]
        for q in range(counts.shape[1]):
            m = counts[r, q]
            if m == 0:
                continue
            stamp += 1
            n_touched = 0
            all_hits = 0.0
            all_misses = 0.0
            for t in range(segment_ptr[q], segment_ptr[q] + m + 1):
                # One step more than there are neighbours: the row itself, whose columns matter too.
                itself = t == segment_ptr[q] + m
                other = i if itself else np.int64(neighbours[r, t])
                miss = 0.0 if itself else influence[r, t] * targets[r, t]
                hit = 0.0 if itself else influence[r, t] * (1.0 - targets[r, t])
                both = 0.0 if itself else influence[r, t]
                all_hits += hit
                all_misses += miss
                for e in range(indptr[other], indptr[other + 1]):
                    j = indices[e]
                    if seen[j] != stamp:
                        seen[j] = stamp
                        touched[n_touched] = j
                        n_touched += 1
                        stored_hits[j] = 0.0
                        stored_misses[j] = 0.0
                        hits[j] = 0.0
                        misses[j] = 0.0
                        plain[j] = 0.0
                        weighted[j] = 0.0
                    if itself:
                        continue
                    stored_hits[j] += hit
                    stored_misses[j] += miss
                    gap = own[j] - values[e]
                    if not np.isnan(gap):
                        difference = gap if abs_mean and full[j] > 0.0 else _size(gap, full[j])
                        hits[j] += hit
                        misses[j] += miss
                        plain[j] += both * difference
                        weighted[j] += miss * difference
            least = _NEGLIGIBLE * (all_hits + all_misses)
            for s in range(n_touched):
                j = touched[s]
                if not np.isnan(own[j]):
                    # Neighbours that do not store the column have a 0 there.
                    rest_hits = all_hits - stored_hits[j]
                    rest_misses = all_misses - stored_misses[j]
                    rest_hits = rest_hits if rest_hits > least else 0.0
                    rest_misses = rest_misses if rest_misses > least else 0.0
                    difference = own[j] if abs_mean and full[j] > 0.0 else _size(own[j], full[j])
                    hits[j] += rest_hits
                    misses[j] += rest_misses
                    plain[j] += (rest_hits + rest_misses) * difference
                    weighted[j] += rest_misses * difference
                coefficient = coefficients[r, q]
                if kind == RESPONSES:
                    hits[j] -= all_hits
                    misses[j] -= all_misses
                elif kind == CLASSES and similar[q]:
                    sums[0, j] -= coefficient
                _added(kind, coefficient, similar[q], hits[j], misses[j], plain[j], weighted[j], j, sums)
        for e in range(indptr[i], indptr[i + 1]):
            own[indices[e]] = 0.0
