"""Nearest rows per class out of a block of distances; adaptive numbers of neighbours (Algorithm 3)."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def _kth_smallest(keys, m, k, heap):
    """Return the k-th smallest of ``keys[:m]`` (k from 1), with a bounded heap."""
    for t in range(k):
        heap[t] = keys[t]
    for start in range(k // 2 - 1, -1, -1):
        _sift_down(heap, k, start)
    for t in range(k, m):
        if keys[t] < heap[0]:
            heap[0] = keys[t]
            _sift_down(heap, k, 0)
    return heap[0]


@njit(nogil=True, cache=True)
def _select(keys, ids, m, k, tolerance, heap, near_keys, near, out):
    """Write the ids of the k nearest of m candidates to ``out``, ascending; return how many.

    Keys within ``tolerance`` of the next smaller one are a tie, and ties go to the lower id. ``ids`` must
    ascend. ``heap``, ``near_keys`` and ``near`` are scratch of at least m elements.
    """
    if m <= k:
        for t in range(m):
            out[t] = ids[t]
        return m
    kth = _kth_smallest(keys, m, k, heap)
    width = 4 * tolerance
    while True:
        limit = kth + width
        c = 0
        for t in range(m):
            if keys[t] <= limit:
                near_keys[c] = keys[t]
                near[c] = ids[t]
                c += 1
        if c == k:  # nobody else is close to the k-th: no tie to settle
            for t in range(k):
                out[t] = near[t]
            return k
        order = np.argsort(near_keys[:c])
        last = k  # one past the tied group that holds the k-th
        while last < c and near_keys[order[last]] - near_keys[order[last - 1]] <= tolerance:
            last += 1
        if last < c or c == m or limit - near_keys[order[last - 1]] >= tolerance:
            break
        width = 4 * width + tolerance
    first = k - 1
    while first > 0 and near_keys[order[first]] - near_keys[order[first - 1]] <= tolerance:
        first -= 1
    tied = np.sort(near[order[first:last]])
    for t in range(first):
        out[t] = near[order[t]]
    for t in range(first, k):
        out[t] = tied[t - first]
    out[:k] = np.sort(out[:k])
    return k


@njit(nogil=True, cache=True)
def _adaptive_count(ordered, tolerance):
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


@njit(nogil=True, cache=True)
def nearest_per_class(
    distances, rows, members, class_ptr, segment_ptr, k, tolerance, lo, hi, neighbours, counts
):
    """Find the nearest rows of every class for the rows ``rows[lo:hi]`` of a block.

    Parameters
    ----------
    distances : int64 or float64 array of shape (b, n)
        Distances from the block's rows to all rows.
    rows : int64 array of shape (b,)
        Row numbers of the block; a row is never its own neighbour.
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
    lo, hi : int
        Range of positions in ``rows`` to work on.
    neighbours : int32 array of shape (b, segment_ptr[-1])
        Filled with row numbers, ascending inside a class.
    counts : int64 array of shape (b, c)
        Filled with how many neighbours there are.
    """
    n_classes = class_ptr.shape[0] - 1
    largest = 0
    for q in range(n_classes):
        largest = max(largest, class_ptr[q + 1] - class_ptr[q])
    keys = np.empty(largest, dtype=distances.dtype)
    heap = np.empty(largest, dtype=distances.dtype)
    near_keys = np.empty(largest, dtype=distances.dtype)
    ids = np.empty(largest, dtype=np.int32)
    near = np.empty(largest, dtype=np.int32)
    for r in range(lo, hi):
        i = rows[r]
        for q in range(n_classes):
            m = 0
            for t in range(class_ptr[q], class_ptr[q + 1]):
                other = members[t]
                if other != i:
                    keys[m] = distances[r, other]
                    ids[m] = other
                    m += 1
            out = neighbours[r, segment_ptr[q] : segment_ptr[q + 1]]
            if k > 0:
                wanted = k
            else:
                wanted = _adaptive_count(np.sort(keys[:m]), tolerance)
            counts[r, q] = _select(keys, ids, m, wanted, tolerance, heap, near_keys, near, out)
