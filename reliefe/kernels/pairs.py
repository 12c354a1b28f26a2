"""Weights of many targets on the same rows: sums of the differences of pairs of rows, each times a number.

The differences of a pair are made once for all targets, a few columns and a few pairs at a time.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel

#: Pairs whose differences are worked on together.
PAIRS = 128
_COLUMNS = 64  # the differences are then 64 KiB


@kernel()
def spread_neighbours(rows, neighbours, segment_ptr, counts, coefficients, directed):
    """Write what the difference to each neighbour counts to ``directed``.

    Parameters
    ----------
    rows : int64 array of shape (b,)
        Row numbers.
    neighbours, segment_ptr, counts : arrays
        As filled by :func:`reliefe.kernels.neighbours.nearest_per_class`.
    coefficients : float64 array of the shape of ``neighbours``
        What each of them counts.
    directed : float64 array of shape (n, n)
        Entry (i, l) is what the difference of row i to its neighbour l counts; changed in place.
    """
    for r in range(rows.shape[0]):
        own = directed[rows[r]]
        for q in range(counts.shape[1]):
            for t in range(segment_ptr[q], segment_ptr[q] + counts[r, q]):
                own[neighbours[r, t]] = coefficients[r, t]


@kernel()
def list_pairs(directed, pairs, values, block_ptr):
    """List the pairs of rows whose differences count, in the order (0, 1), (0, 2), …, (1, 2), ….

    Parameters
    ----------
    directed : float64 array of shape (n, n)
        From :func:`spread_neighbours`; a pair counts by the sum of both entries.
    pairs : int32 array of shape (n (n − 1) / 2 + 1,)
        Overwritten with the numbers of the pairs.
    values : float64 array of the same shape
        Overwritten with what they count.
    block_ptr : int64 array of shape (blocks + 1,)
        Overwritten with where the pairs of each block of :data:`PAIRS` begin in the list.

    Returns
    -------
    int
        How many there are.
    """
    n = directed.shape[0]
    e = 0
    m = 0
    for i in range(n):
        for other in range(i + 1, n):
            if e % PAIRS == 0:
                block_ptr[e // PAIRS] = m
            value = directed[i, other] + directed[other, i]
            pairs[m] = e
            values[m] = value
            m += np.int64(value != 0.0)
            e += 1
    block_ptr[block_ptr.shape[0] - 1] = m
    return m


@kernel(fastmath={"contract"})
def add_pairs(columns, first, second, pairs, values, block_ptr, out):
    """Add the differences of listed pairs, each times its value, to the sums of each list.

    Parameters
    ----------
    columns : float64 array of shape (n, w)
        Some columns of all rows, on the scale of their differences; two categories differ by 1 or more.
    first, second : int32 arrays of shape (n (n − 1) / 2,)
        The rows of each pair.
    pairs, values : arrays
        Lists from :func:`list_pairs`, one after the other.
    block_ptr : int64 array of shape (lists, blocks + 1)
        Where the pairs of each block begin in ``pairs``, and where the last block ends.
    out : float64 array of shape (lists, w)
        Changed in place.
    """
    n_pairs = first.shape[0]
    differences = np.empty((PAIRS, _COLUMNS), dtype=np.float64)
    for j0 in range(0, columns.shape[1], _COLUMNS):
        j1 = min(columns.shape[1], j0 + _COLUMNS)
        width = j1 - j0
        for block in range(block_ptr.shape[1] - 1):
            e0 = block * PAIRS
            for e in range(e0, min(n_pairs, e0 + PAIRS)):
                a = columns[first[e], j0:j1]
                b = columns[second[e], j0:j1]
                made = differences[e - e0]
                for j in range(width):
                    made[j] = min(abs(a[j] - b[j]), 1.0)
            for v in range(block_ptr.shape[0]):
                gained = out[v, j0:j1]
                start = block_ptr[v, block]
                stop = block_ptr[v, block + 1]
                whole = stop - (stop - start) % 8
                for t in range(start, whole, 8):  # the sums are then read and written once per eight pairs
                    d0 = differences[pairs[t] - e0]
                    d1 = differences[pairs[t + 1] - e0]
                    d2 = differences[pairs[t + 2] - e0]
                    d3 = differences[pairs[t + 3] - e0]
                    d4 = differences[pairs[t + 4] - e0]
                    d5 = differences[pairs[t + 5] - e0]
                    d6 = differences[pairs[t + 6] - e0]
                    d7 = differences[pairs[t + 7] - e0]
                    v0 = values[t]
                    v1 = values[t + 1]
                    v2 = values[t + 2]
                    v3 = values[t + 3]
                    v4 = values[t + 4]
                    v5 = values[t + 5]
                    v6 = values[t + 6]
                    v7 = values[t + 7]
                    for j in range(width):
                        gained[j] += ((v0 * d0[j] + v1 * d1[j]) + (v2 * d2[j] + v3 * d3[j])) + (
                            (v4 * d4[j] + v5 * d5[j]) + (v6 * d6[j] + v7 * d7[j])
                        )
                for t in range(whole, stop):
                    da = differences[pairs[t] - e0]
                    va = values[t]
                    for j in range(width):
                        gained[j] += va * da[j]
