"""Dense Manhattan neighbours: a float32 pass finds who is near, fixed point settles who is nearer.

The screen is cheap and wrong in its last digits by a known bound. Only rows whose screened distance lies within
that bound of the k-th are measured again, in fixed point, so that neighbours and ties are the same as if every
distance had been summed exactly.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from reliefe.kernels.neighbours import _adaptive_count, _kth_smallest, _select

COLUMNS_PER_TILE = 512
_ROWS_PER_TILE = 64


@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def _screen_tile(F, positions, r, last, m0, m1, j0, j1, out):
    """Add the differences in columns ``j0 … j1 − 1`` between four rows and the rows ``m0 … m1 − 1`` to ``out``."""
    # Four rows against two at a time keeps the sums in registers; a last short group repeats a row.
    r1 = min(r + 1, last)
    r2 = min(r + 2, last)
    r3 = min(r + 3, last)
    a0 = F[positions[r], j0:j1]
    a1 = F[positions[r1], j0:j1]
    a2 = F[positions[r2], j0:j1]
    a3 = F[positions[r3], j0:j1]
    for m in range(m0, m1, 2):
        n1 = min(m + 1, m1 - 1)
        b0 = F[m, j0:j1]
        b1 = F[n1, j0:j1]
        s00 = np.float32(0.0)
        s01 = np.float32(0.0)
        s10 = np.float32(0.0)
        s11 = np.float32(0.0)
        s20 = np.float32(0.0)
        s21 = np.float32(0.0)
        s30 = np.float32(0.0)
        s31 = np.float32(0.0)
        for j in range(j1 - j0):
            s00 += abs(a0[j] - b0[j])
            s01 += abs(a0[j] - b1[j])
            s10 += abs(a1[j] - b0[j])
            s11 += abs(a1[j] - b1[j])
            s20 += abs(a2[j] - b0[j])
            s21 += abs(a2[j] - b1[j])
            s30 += abs(a3[j] - b0[j])
            s31 += abs(a3[j] - b1[j])
        # Read all before writing any: repeated rows then get the same sum and not twice the addend.
        t00 = out[r, m] + s00
        t01 = out[r, n1] + s01
        t10 = out[r1, m] + s10
        t11 = out[r1, n1] + s11
        t20 = out[r2, m] + s20
        t21 = out[r2, n1] + s21
        t30 = out[r3, m] + s30
        t31 = out[r3, n1] + s31
        out[r, m] = t00
        out[r, n1] = t01
        out[r1, m] = t10
        out[r1, n1] = t11
        out[r2, m] = t20
        out[r2, n1] = t21
        out[r3, m] = t30
        out[r3, n1] = t31


@njit(nogil=True, cache=True)
def screen(F, positions, mirrored, lo, hi, out):
    """Single-precision Manhattan distances from the rows ``F[positions[lo:hi]]`` to all rows of ``F``.

    Parameters
    ----------
    F : float32 array of shape (n, p)
        Range-normalised rows.
    positions : int64 array of shape (b,)
        Rows of ``F`` to measure from.
    mirrored : bool
        Whether ``positions`` are consecutive numbers. Distances among them are then measured once and written in
        both places: rows ``lo … hi − 1`` of ``out`` are complete once the pieces before them are done too.
    lo, hi : int
        Range of ``positions`` to work on.
    out : float32 array of shape (b, n)
        Rows ``lo … hi − 1`` are overwritten, and with ``mirrored`` parts of the rows after them.
    """
    n, p = F.shape
    first = positions[0]
    for r0 in range(lo, hi, _ROWS_PER_TILE):
        r_end = min(hi, r0 + _ROWS_PER_TILE)
        # What lies left of the block's own rows, and what lies right of what earlier rows have mirrored.
        for part in range(2):
            start = 0
            stop = n
            if part == 0:
                stop = first if mirrored else 0
            elif mirrored:
                start = first + r0
            for r in range(r0, r_end):
                for m in range(start, stop):
                    out[r, m] = np.float32(0.0)
            for j0 in range(0, p, COLUMNS_PER_TILE):
                j1 = min(p, j0 + COLUMNS_PER_TILE)
                for m0 in range(start, stop, _ROWS_PER_TILE):
                    m1 = min(stop, m0 + _ROWS_PER_TILE)
                    for r in range(r0, r_end, 4):
                        _screen_tile(F, positions, r, r_end - 1, m0, m1, j0, j1, out)
        if mirrored:
            for m0 in range(r_end, positions.shape[0], _ROWS_PER_TILE):
                for m in range(m0, min(positions.shape[0], m0 + _ROWS_PER_TILE)):
                    for r in range(r0, r_end):
                        out[m, first + r] = out[r, first + m]


@njit(nogil=True, cache=True)
def _exact(Z, i, other, factor):
    """Manhattan distance of two rows in fixed point."""
    total = np.int64(0)
    for j in range(Z.shape[1]):
        total += abs(np.int64(np.rint(Z[i, j] * factor)) - np.int64(np.rint(Z[other, j] * factor)))
    return total


@njit(nogil=True, cache=True)
def _count_within(keys, limit):
    """Count the keys that do not exceed ``limit``."""
    count = np.int32(0)
    for t in range(keys.shape[0]):
        count += np.int32(keys[t] <= limit)
    return count


@njit(nogil=True, cache=True)
def _shortlist(keys, k, slack, slack_rate, extra, guess, heap, near_keys, listed):
    """List who may be among the k nearest, or so near that it takes a second look.

    Everybody whose key does not exceed the k-th smallest by more than ``2.1 * (slack + slack_rate * k-th) + extra``
    is on the list. ``guess``, a limit that fitted a row before, only decides how fast it goes; ``listed`` has room
    for one more than there are keys.

    Returns
    -------
    count : int
        How many are listed.
    kth : float
        The k-th smallest key.
    limit : float
        A guess for the next row.
    """
    size = keys.shape[0]
    most = 3 * k + 8
    below = np.float32(0.0)
    above = np.float32(np.inf)
    limit = guess
    fits = False
    for _ in range(12):
        count = _count_within(keys, limit)
        if count < k:
            below = limit
            grown = limit * np.float32(1.15) + np.float32(1e-6)
            limit = grown if np.isinf(above) else np.float32(0.5) * (below + above)
        elif count > most:
            above = limit
            limit = np.float32(0.5) * (below + above) if below > 0.0 else np.float32(0.87) * limit
        else:
            fits = True
            break
    if not fits:  # far off, or many equal keys
        limit = _kth_smallest(keys, size, k, heap)
    reach = np.float32(limit + 2.2 * (slack + slack_rate * limit) + extra)
    count = 0
    for t in range(size):  # without a branch, which would be mispredicted too often
        listed[count] = t
        count += np.int64(keys[t] <= reach)
    for s in range(count):
        near_keys[s] = keys[listed[s]]
    return count, _kth_smallest(near_keys, count, k, heap), limit


@njit(nogil=True, cache=True)
def _settle(
    Z,
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
    exact,
    listed,
    unsure,
    out,
):
    """Write the k nearest of the rows ``ids`` to ``out``, ascending, given screened distances ``keys``.

    ``m`` counts the candidates whose key is finite; a row never is its own neighbour because its key is not.
    Returns a guess for the next row, see :func:`_shortlist`.
    """
    extra = 4.0 * tolerance / factor
    n_listed, kth, limit = _shortlist(keys, k, slack, slack_rate, extra, guess, heap, near_keys, listed)
    margin = 2.1 * (slack + slack_rate * kth) + extra
    everybody = False
    while True:
        low = kth - margin
        high = kth + margin
        sure = 0
        c = 0
        for s in range(n_listed):
            t = s if everybody else listed[s]
            key = keys[t]
            if key < low:
                out[sure] = ids[t]
                sure += 1
            elif key <= high:
                unsure[c] = ids[t]
                c += 1
        missing = k - sure
        if c == missing:
            for t in range(c):
                out[sure + t] = unsure[t]
            break
        for t in range(c):
            exact[t] = _exact(Z, i, unsure[t], factor)
        order = np.argsort(exact[:c])
        last = missing
        while last < c and exact[order[last]] - exact[order[last - 1]] <= tolerance:
            last += 1
        first = missing - 1
        while first > 0 and exact[order[first]] - exact[order[first - 1]] <= tolerance:
            first -= 1
        edge = slack + slack_rate * high
        open_above = sure + c < m and exact[order[last - 1]] + tolerance >= (high - edge) * factor
        open_below = sure > 0 and exact[order[first]] - tolerance <= (low + edge) * factor
        if not (open_above or open_below):
            tied = np.sort(unsure[order[first:last]])
            for t in range(first):
                out[sure + t] = unsure[order[t]]
            for t in range(first, missing):
                out[sure + t] = tied[t - first]
            break
        margin *= 4.0
        everybody = True
        n_listed = keys.shape[0]
    for s in range(1, k):  # insertion sort: k is small, and what was sure is in order already
        value = out[s]
        t = s - 1
        while t >= 0 and out[t] > value:
            out[t + 1] = out[t]
            t -= 1
        out[t + 1] = value
    return limit


@njit(nogil=True, cache=True)
def _settle_adaptive(
    Z, i, ids, keys, m, factor, tolerance, slack, slack_rate, scratch, near, unsure, exact, out
):
    """As :func:`_settle` for the adaptive number of neighbours; return it."""
    size = ids.shape[0]
    ordered = np.sort(keys)
    widest = -1.0
    second = -1.0
    before = 0
    for t in range(m - 1):
        gap = np.float64(ordered[t + 1]) - np.float64(ordered[t])
        if gap > widest:
            second = widest
            widest = gap
            before = t
        elif gap > second:
            second = gap
    error = slack + slack_rate * ordered[m - 1]
    if m == 1 or widest - max(second, 0.0) > 4.2 * error + 4.0 * tolerance / factor:
        edge = ordered[before] if m > 1 else ordered[0]
        c = 0
        for t in range(size):
            if keys[t] <= edge:
                out[c] = ids[t]
                c += 1
        return c
    c = 0
    for t in range(size):
        if ids[t] != i:
            exact[c] = _exact(Z, i, ids[t], factor)
            unsure[c] = ids[t]
            c += 1
    wanted = _adaptive_count(np.sort(exact[:c]), tolerance)
    return _select(exact, unsure, c, wanted, tolerance, scratch[0], scratch[1], near, out)


@njit(nogil=True, cache=True)
def nearest_screened(
    screened,
    Z,
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
        Output of :func:`screen`, columns in the order of ``members``. A row's distance to itself is overwritten.
    Z : float64 array of shape (n, p)
        Range-normalised rows in their own order.
    positions : int64 array of shape (b,)
        Where the block's rows stand in ``members``.
    members, class_ptr, segment_ptr, neighbours, counts : arrays
        As in :func:`reliefe.kernels.neighbours.nearest_per_class`.
    k : int
        Number of neighbours per class, or 0 for the adaptive number.
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
    heap = np.empty(largest, dtype=np.float32)
    exact = np.empty(largest, dtype=np.int64)
    scratch = np.empty((2, largest), dtype=np.int64)
    unsure = np.empty(largest, dtype=np.int32)
    listed = np.empty(largest + 1, dtype=np.int32)
    near_keys = np.empty(largest, dtype=np.float32)
    guesses = np.ones(n_classes, dtype=np.float32)
    near = np.empty(largest, dtype=np.int32)
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
            if k == 0:
                counts[r, q] = _settle_adaptive(
                    Z,
                    i,
                    ids,
                    keys,
                    m,
                    factor,
                    tolerance,
                    slack,
                    slack_rate,
                    scratch,
                    near,
                    unsure,
                    exact,
                    out,
                )
            elif m <= k:
                c = 0
                for t in range(stop - start):
                    if ids[t] != i:
                        out[c] = ids[t]
                        c += 1
                counts[r, q] = m
            else:
                guesses[q] = _settle(
                    Z,
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
                    exact,
                    listed,
                    unsure,
                    out,
                )
                counts[r, q] = k
