"""Nearest rows per class out of a block of distances; adaptive numbers of neighbours (Algorithm 3)."""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel
from reliefe.kernels.sorting import sort, sort_pairs


@kernel()
def _sift_down(heap, size, start):
    """Restore the max-heap order below position ``start``."""
    parent = start
    while True:
        child = 2 * parent + 1
        if child >= size:
            return
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= heap[parent]:
            return
        heap[parent], heap[child] = heap[child], heap[parent]
        parent = child


@kernel()
def kth_smallest(keys, m, k, heap):
    """Return the k-th smallest of ``keys[:m]`` (k from 1), with a bounded heap."""
    for t in range(k):
        heap[t] = keys[t]
    for start in range(k // 2 - 1, -1, -1):
        _sift_down(heap, k, start)
    for t in range(k, m):
        if keys[t] < heap[0]:
            heap[0] = keys[t]
            _sift_down(heap, k, np.int64(0))
    return heap[0]


@kernel()
def _count_within(keys, limit):
    """Count the keys that do not exceed ``limit``."""
    count = np.int32(0)
    for t in range(keys.shape[0]):
        count += np.int32(keys[t] <= limit)
    return count


@kernel()
def _list_within(keys, limit, listed):
    """Write the places of the keys that do not exceed ``limit`` to ``listed``; return how many there are.

    ``listed`` has room for one more than there are keys.
    """
    count = 0
    for t in range(keys.shape[0]):  # without a branch, which would be mispredicted too often
        listed[count] = t
        count += np.int64(keys[t] <= limit)
    return count


@kernel()
def _rough_limit(keys, k, guess, heap):
    """Put a number that at least k keys, and seldom many more, do not exceed into ``heap[0]``.

    ``guess[0]``, what came out for a row before, and ``guess[1]``, the power of the limit with which the number of
    keys within it grew, only decide how fast it goes and are brought up to date.
    """
    wanted = 2 * k + 2
    most = 4 * k + 8
    below = 0.0
    above = np.inf
    limit = min(guess[0], 2.0**62)  # fits every type
    last_limit = 0.0
    last_count = 0
    for _ in range(8):
        heap[0] = limit  # in the type of the keys
        count = _count_within(keys, heap[0])
        if k <= count <= most:
            guess[0] = limit
            return
        if last_count > 0 and count > 0 and count != last_count:
            power = np.log(count / last_count) / np.log(limit / last_limit)
            guess[1] = min(max(0.75 * guess[1] + 0.25 * power, 0.5), 200.0)
        last_limit = limit
        last_count = count
        if count < k:
            below = limit
        else:
            above = limit
        limit = limit * (wanted / max(count, 0.25)) ** (1.0 / guess[1])
        if not below < limit < above:
            limit = 0.5 * (below + above) if above < np.inf else 2.0 * below
        limit = min(limit, 2.0**62)
    # Far off, or many equal keys.
    guess[0] = max(np.float64(kth_smallest(keys, keys.shape[0], k, heap)), 1e-300)


@kernel()
def _select(keys, ids, m, k, tolerance, partial, complete, heap, near_keys, near, out):
    """Write the ids of the k nearest of m candidates to ``out``, ascending; return how many.

    Keys within ``tolerance`` of the next smaller one are a tie, and ties go to the lower id. ``ids`` must
    ascend. ``heap``, ``near_keys`` and ``near`` are scratch of at least m + 1 elements. With ``partial``,
    candidates whose keys exceed ``complete`` are missing, and −1 is returned when they make a difference.
    """
    if m <= k:
        for t in range(m):
            out[t] = ids[t]
        return m
    kth = kth_smallest(keys, m, k, heap)
    width = 4 * tolerance
    while True:
        limit = kth + width
        if partial and limit > complete:
            return -1
        c = np.int64(0)
        for t in range(m):
            near_keys[c] = keys[t]
            near[c] = ids[t]
            c += np.int64(keys[t] <= limit)
        if c == k:  # nobody else is close to the k-th: no tie to settle
            for t in range(k):
                out[t] = near[t]
            return k
        sort_pairs(near_keys, near, c)
        last = k  # one past the tied group that holds the k-th
        while last < c and near_keys[last] - near_keys[last - 1] <= tolerance:
            last += 1
        if last < c or (c == m and not partial) or limit - near_keys[last - 1] >= tolerance:
            break
        width = 4 * width + tolerance
    first = k - 1
    while first > 0 and near_keys[first] - near_keys[first - 1] <= tolerance:
        first -= 1
    sort(near[first:last], last - first)
    for t in range(k):
        out[t] = near[t]
    sort(out, k)
    return k


@kernel()
def adaptive_count(ordered, tolerance):
    """How many of the ascending distances lie before the first largest gap (at least one)."""
    m = ordered.shape[0]
    if m <= 1:
        return m
    widest = ordered[1] - ordered[0]
    for t in range(1, m - 1):
        gap = ordered[t + 1] - ordered[t]
        if gap > widest:
            widest = gap
    for t in range(m - 1):
        if ordered[t + 1] - ordered[t] >= widest - tolerance:
            return t + 1
    return 1


@kernel()
def nearest_per_class(
    distances,
    positions,
    members,
    class_ptr,
    segment_ptr,
    k,
    tolerance,
    infinite,
    guesses,
    neighbours,
    counts,
):
    """Find the nearest rows of every class for some rows, given their distances to all rows.

    Parameters
    ----------
    distances : int64 or float64 array of shape (b, n)
        Columns in the order of ``members``. A row's distance to itself is overwritten.
    positions : int64 array of shape (b,)
        Where the rows stand in ``members``; a row is never its own neighbour.
    members : int64 array of shape (n,)
        Row numbers grouped by class, ascending inside a class.
    class_ptr : int64 array of shape (c + 1,)
        Class q holds ``members[class_ptr[q]:class_ptr[q + 1]]``.
    segment_ptr : int64 array of shape (c + 1,)
        Neighbours of class q go to ``neighbours[r, segment_ptr[q]:]``.
    k : int
        Number of neighbours per class, or 0 for the adaptive number.
    tolerance : number of the type of ``distances``
        Distances this close are a tie.
    infinite : number of the type of ``distances``
        Larger than every distance.
    guesses : float64 array of shape (c, 2)
        Kept from call to call; only decides how fast it goes, see :func:`_rough_limit`.
    neighbours : int32 array of shape (b, segment_ptr[-1])
        Filled with row numbers, ascending inside a class.
    counts : int64 array of shape (b, c)
        Filled with how many neighbours there are.
    """
    n_classes = class_ptr.shape[0] - 1
    largest = 0
    for q in range(n_classes):
        largest = max(largest, class_ptr[q + 1] - class_ptr[q])
    keys = np.empty(largest + 1, dtype=distances.dtype)
    heap = np.empty(largest + 1, dtype=distances.dtype)
    near_keys = np.empty(largest + 1, dtype=distances.dtype)
    ids = np.empty(largest + 1, dtype=np.int32)
    near = np.empty(largest + 1, dtype=np.int32)
    listed = np.empty(largest + 1, dtype=np.int32)
    for r in range(positions.shape[0]):
        position = positions[r]
        distances[r, position] = infinite
        for q in range(n_classes):
            start = class_ptr[q]
            stop = class_ptr[q + 1]
            own = start <= position < stop
            out = neighbours[r, segment_ptr[q] : segment_ptr[q + 1]]
            measured = distances[r, start:stop]
            if 0 < k < stop - start - own:
                _rough_limit(measured, k, guesses[q], heap)
                # Ties take a second look, in whole numbers with room for the rounding of large ones.
                complete = heap[0] + 8 * tolerance
                m = _list_within(measured, complete, listed)
                for t in range(m):
                    keys[t] = measured[listed[t]]
                    ids[t] = members[start + listed[t]]
                partial = np.bool_(True)
                found = _select(keys, ids, m, k, tolerance, partial, complete, heap, near_keys, near, out)
                if found >= 0:
                    counts[r, q] = found
                    continue
            m = np.int64(0)
            for t in range(stop - start):
                keys[m] = measured[t]
                ids[m] = members[start + t]
                m += np.int64(start + t != position)
            wanted = k
            if k == 0:
                for t in range(m):
                    heap[t] = keys[t]
                sort(heap, m)
                wanted = adaptive_count(heap[:m], tolerance)
            complete = infinite + 0 * tolerance  # of the type that it has above
            partial = np.bool_(False)
            counts[r, q] = _select(
                keys, ids, m, wanted, tolerance, partial, complete, heap, near_keys, near, out
            )


@kernel()
def _order(keys, ids, m, tolerance):
    """Sort ``ids[:m]`` by ``keys[:m]``; keys within ``tolerance`` of the next smaller one tie, lower id first."""
    sort_pairs(keys, ids, m)
    first = 0
    while first < m:
        last = first + 1
        while last < m and keys[last] - keys[last - 1] <= tolerance:
            last += 1
        sort(ids[first:last], last - first)
        first = last


@kernel()
def nearest_first(distances, places, segment_ptr, counts, tolerance, neighbours):
    """Put neighbours in the order of their distances, group by group, ties to the lower number.

    Parameters
    ----------
    distances : int64 or float64 array of shape (≥ b, n)
        Distances from the rows to all rows.
    places : int64 array of shape (n,)
        Where each row stands in a row of ``distances``.
    segment_ptr, counts, neighbours : arrays
        As filled by :func:`nearest_per_class`; ``neighbours`` is changed in place.
    tolerance : number of the type of ``distances``
        Distances this close are a tie.
    """
    keys = np.empty(neighbours.shape[1], dtype=distances.dtype)
    for r in range(counts.shape[0]):
        for q in range(counts.shape[1]):
            near = neighbours[r, segment_ptr[q] : segment_ptr[q + 1]]
            m = counts[r, q]
            for t in range(m):
                keys[t] = distances[r, places[near[t]]]
            _order(keys, near, m, tolerance)
