"""Dense Manhattan neighbours: sums in 32 bits find who is near, finer fixed point settles who is nearer.

The screen is cheap and wrong in its last digits by a known bound. Only rows whose screened distance lies within
that bound of the k-th are measured again, in fixed point, so that neighbours and ties are the same as if every
distance had been summed exactly.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel
from reliefe.kernels.neighbours import _list_within, _order, _rough_limit, kth_smallest
from reliefe.kernels.sorting import _insertion_sort, sort, sort_pairs

_COPIED = 16  # columns turned at a time: two cache lines


@kernel()
def side_by_side(Z, members, lo, hi, columns):
    """Copy columns of a matrix of rows, its rows in another order.

    Parameters
    ----------
    Z : float array of shape (n, p)
        The rows.
    members : int64 array of shape (n,)
        Row numbers in the order in which they are to stand.
    lo, hi : int
        Range of columns to work on.
    columns : float array of shape (p, n)
        Rows ``lo … hi − 1`` are overwritten.
    """
    n = members.shape[0]
    for j0 in range(lo, hi, _COPIED):
        j1 = min(hi, j0 + _COPIED)
        for m0 in range(0, n, _COPIED):
            for j in range(j0, j1):
                for m in range(m0, min(n, m0 + _COPIED)):
                    columns[j, m] = Z[members[m], j]


@kernel()
def _fixed_value(value, shift, divisor, factor, is_fixed):
    """Return a value in fixed point, normalised, unless it is both already."""
    if is_fixed:
        return np.int64(value)
    return np.int64(np.rint(((value - shift) / divisor) * factor))


@kernel()
def _fix(matrix, i, factor, own):
    """Put row i in fixed point."""
    flat, row_step, column_step, shift, divisor, is_fixed = matrix
    p = own.shape[0]
    start = i * row_step
    if column_step == 1:
        values = flat[start : start + p]
        for j in range(p):
            own[j] = _fixed_value(values[j], shift[j], divisor[j], factor, is_fixed)
    else:
        for j in range(p):
            own[j] = _fixed_value(flat[start + j * column_step], shift[j], divisor[j], factor, is_fixed)


@kernel()
def _exact(matrix, own, other, factor):
    """Manhattan distance in fixed point between a row that is in fixed point and another."""
    flat, row_step, column_step, shift, divisor, is_fixed = matrix
    p = own.shape[0]
    start = other * row_step
    total = np.int64(0)
    if column_step == 1:
        values = flat[start : start + p]
        for j in range(p):
            total += abs(own[j] - _fixed_value(values[j], shift[j], divisor[j], factor, is_fixed))
    else:
        for j in range(p):
            value = flat[start + j * column_step]
            total += abs(own[j] - _fixed_value(value, shift[j], divisor[j], factor, is_fixed))
    return total


@kernel()
def _shortlist(keys, k, slack, slack_rate, extra, guess, heap, near_keys, listed):
    """List who may be among the k nearest, or so near that it takes a second look.

    Everybody whose key does not exceed the k-th smallest by more than ``2.1 * (slack + slack_rate * k-th) + extra``
    is on the list. ``guess`` is for :func:`reliefe.kernels.neighbours._rough_limit`.

    Returns
    -------
    count : int
        How many are listed.
    kth : float
        The k-th smallest key.
    """
    _rough_limit(keys, k, guess, heap)
    limit = heap[0]
    count = _list_within(keys, np.float32(limit + 2.2 * (slack + slack_rate * limit) + extra), listed)
    for s in range(count):
        near_keys[s] = keys[listed[s]]
    return count, kth_smallest(near_keys, count, k, heap)


@kernel()
def _settle(
    matrix,
    i,
    ids,
    keys,
    m,
    k,
    factor,
    tolerance,
    slack,
    slack_rate,
    guess,
    heap,
    near_keys,
    own,
    exact,
    listed,
    unsure,
    out,
):
    """Write the k nearest of the rows ``ids`` to ``out``, ascending, given screened distances ``keys``.

    ``m`` counts the candidates whose key is finite; a row never is its own neighbour because its key is not.
    ``guess`` is for :func:`_shortlist`.
    """
    extra = 4.0 * tolerance / factor
    n_listed, kth = _shortlist(keys, k, slack, slack_rate, extra, guess, heap, near_keys, listed)
    margin = 2.1 * (slack + slack_rate * kth) + extra
    everybody = False
    while True:
        low = kth - margin
        high = kth + margin
        sure = 0
        c = np.int64(0)
        for s in range(n_listed):
            t = s if everybody else listed[s]
            key = keys[t]
            if sure < k:  # else only kept from being overrun
                out[sure] = ids[t]
            sure += np.int64(key < low)
            unsure[c] = ids[t]
            c += np.int64(low <= key) & np.int64(key <= high)
        missing = k - sure
        if c == missing:
            for t in range(c):
                out[sure + t] = unsure[t]
            break
        if not everybody:
            _fix(matrix, i, factor, own)
        for t in range(c):
            exact[t] = _exact(matrix, own, np.int64(unsure[t]), factor)
        sort_pairs(exact, unsure, c)
        last = missing
        while last < c and exact[last] - exact[last - 1] <= tolerance:
            last += 1
        first = missing - 1
        while first > 0 and exact[first] - exact[first - 1] <= tolerance:
            first -= 1
        edge = slack + slack_rate * high
        open_above = sure + c < m and exact[last - 1] + tolerance >= (high - edge) * factor
        open_below = sure > 0 and exact[first] - tolerance <= (low + edge) * factor
        if not (open_above or open_below):
            sort(unsure[first:last], last - first)
            for t in range(missing):
                out[sure + t] = unsure[t]
            break
        margin *= 4.0
        everybody = True
        n_listed = keys.shape[0]
    _insertion_sort(out, np.int64(0), k - 1)  # k is small, and what was sure is in order already


@kernel()
def nearest_screened(
    screened,
    matrix,
    positions,
    members,
    class_ptr,
    segment_ptr,
    k,
    factor,
    tolerance,
    slack,
    slack_rate,
    lo,
    hi,
    neighbours,
    counts,
):
    """Find the nearest rows of every class for part of a block, given screened distances.

    Parameters
    ----------
    screened : float32 array of shape (b, n)
        Distances in single precision, in the order of ``members``. A row's distance to itself is overwritten.
    matrix : tuple
        ``flat, row_step, column_step, shift, divisor, is_fixed``: the rows in their own order, as in
        :func:`reliefe.kernels.columns.normalised`; with ``is_fixed``, they are in fixed point already.
    positions : int64 array of shape (b,)
        Where the block's rows stand in ``members``.
    members, class_ptr, segment_ptr, neighbours, counts : arrays
        As in :func:`reliefe.kernels.neighbours.nearest_per_class`.
    k : int
        Number of neighbours per class.
    factor : float
        The power of two of the fixed point.
    tolerance : int
        Fixed-point distances this close are a tie.
    slack, slack_rate : float
        A screened distance t is off by at most ``slack + slack_rate * t``.
    lo, hi : int
        Range of ``positions`` to work on.
    """
    n_classes = class_ptr.shape[0] - 1
    largest = 0
    for q in range(n_classes):
        largest = max(largest, class_ptr[q + 1] - class_ptr[q])
    own = np.empty(matrix[3].shape[0], dtype=np.int64)
    heap = np.empty(largest, dtype=np.float32)
    exact = np.empty(largest, dtype=np.int64)
    unsure = np.empty(largest + 1, dtype=np.int32)
    listed = np.empty(largest + 1, dtype=np.int32)
    near_keys = np.empty(largest, dtype=np.float32)
    guesses = np.empty((n_classes, 2), dtype=np.float64)
    for q in range(n_classes):
        guesses[q, 0] = 10.0
        guesses[q, 1] = 10.0
    for r in range(lo, hi):
        position = positions[r]
        i = members[position]
        screened[r, position] = np.inf
        for q in range(n_classes):
            start = class_ptr[q]
            stop = class_ptr[q + 1]
            m = stop - start
            if start <= position < stop:
                m -= 1
            if m == 0:
                counts[r, q] = 0
                continue
            ids = members[start:stop]
            keys = screened[r, start:stop]
            out = neighbours[r, segment_ptr[q] : segment_ptr[q + 1]]
            if m <= k:
                c = 0
                for t in range(stop - start):
                    if ids[t] != i:
                        out[c] = ids[t]
                        c += 1
                counts[r, q] = m
            else:
                _settle(
                    matrix,
                    i,
                    ids,
                    keys,
                    m,
                    k,
                    factor,
                    tolerance,
                    slack,
                    slack_rate,
                    guesses[q],
                    heap,
                    near_keys,
                    own,
                    exact,
                    listed,
                    unsure,
                    out,
                )
                counts[r, q] = k


@kernel()
def nearest_first(matrix, rows, segment_ptr, counts, factor, tolerance, lo, hi, neighbours):
    """Put neighbours in the order of their distances, group by group, ties to the lower number.

    Parameters
    ----------
    matrix : tuple
        As in :func:`nearest_screened`.
    rows : int64 array of shape (b,)
        Row numbers of the block.
    segment_ptr, counts, neighbours : arrays
        As filled by :func:`nearest_screened`; ``neighbours`` is changed in place.
    factor : float
        The power of two of the fixed point.
    tolerance : int
        Fixed-point distances this close are a tie.
    lo, hi : int
        Range of ``rows`` to work on.
    """
    keys = np.empty(neighbours.shape[1], dtype=np.int64)
    own = np.empty(matrix[3].shape[0], dtype=np.int64)
    for r in range(lo, hi):
        _fix(matrix, rows[r], factor, own)
        for q in range(counts.shape[1]):
            near = neighbours[r, segment_ptr[q] : segment_ptr[q + 1]]
            m = counts[r, q]
            for t in range(m):
                keys[t] = _exact(matrix, own, np.int64(near[t]), factor)
            _order(keys, near, m, tolerance)
