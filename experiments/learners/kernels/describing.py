"""Features as lists of what is not their most frequent value, and as ranks where no value is frequent."""

from __future__ import annotations

import numpy as np

from experiments.learners.kernels import inner_kernel, kernel
from experiments.learners.kernels.layout import DENSE, FEW, TWO
from experiments.learners.kernels.splits import apart

#: Features whose most frequent value has at least this share of the rows are kept as lists.
_SHARE = 0.7


@inner_kernel
def _sort_values(values, rows, n):
    """Sort ``values[:n]`` ascending, with the rows they come from (heapsort)."""
    for size in range(n, 0, -1):
        # Build the heap at first, then take its top away again and again.
        first = n // 2 if size == n else 0
        for top in range(first, -1, -1):
            at = top
            value, row = values[at], rows[at]
            while 2 * at + 1 < size:
                child = 2 * at + 1
                if child + 1 < size and values[child + 1] > values[child]:
                    child += 1
                if values[child] <= value:
                    break
                values[at], rows[at] = values[child], rows[child]
                at = child
            values[at], rows[at] = value, row
        values[0], values[size - 1] = values[size - 1], values[0]
        rows[0], rows[size - 1] = rows[size - 1], rows[0]


@inner_kernel
def _find_values(column, n_stored, n_zeros, values, n_values):
    """Write the different values of a feature, ascending, with the zeros that are not stored among them.

    Returns
    -------
    n_ranks : int
        How many values there are.
    zero_rank : int
        Rank of the zeros that are not stored; -1 when all are.
    common, most : int
        Rank of the most frequent value, and how often it is there.
    """
    zero = np.float32(0)
    n_ranks = 0
    zero_rank = -1
    common = 0
    most = 0
    s = 0
    while s < n_stored or (n_zeros > 0 and zero_rank < 0):
        if n_zeros > 0 and zero_rank < 0 and (s == n_stored or column[s] > zero):
            value = zero
            number = n_zeros
            zero_rank = n_ranks
        else:
            value = column[s]
            number = 0
            while s < n_stored and column[s] == value:
                number += 1
                s += 1
        values[n_values + n_ranks] = value
        if number > most:
            most = number
            common = n_ranks
        n_ranks += 1
    return n_ranks, zero_rank, common, most


@kernel
def describe(start, row_of, data, dense, order, first, last, n, columns, list_row, list_rank, counters):
    """Describe features: their different values, and the rows that do not have the most frequent one.

    Parameters
    ----------
    start, row_of, data : arrays
        Columns of a sparse matrix, without stored zeros; not looked at when there is a dense one.
    dense : float32 array of shape (last - first, n) or (0, 0)
        These columns of a dense matrix.
    order : int array of shape (last - first, n) or (0, 0)
        The rows of these columns in ascending order of value.
    first, last : int
        The features to describe; those before are described.
    n : int
        Number of rows.
    columns : Columns
        Is filled, except for entries by rows, and for ranks of dense features of a sparse matrix.
    list_row, list_rank : arrays
        Entries, feature by feature; are filled.
    counters : int64 array of shape (4,)
        How many values, entries, dense features, and features with few other values there are.
    """
    kind, close, default, slot = columns.kind, columns.close, columns.default, columns.slot
    values = columns.values
    column = np.empty(n, dtype=np.float32)
    rows = np.empty(n, dtype=np.int32)
    is_stored = np.zeros(n, dtype=np.bool_)
    n_values, n_entries, n_dense = counters[0], counters[1], counters[2]
    for f in range(first, last):
        if dense.shape[0] > 0:
            n_stored = n
            for s in range(n):
                rows[s] = order[f - first, s]
                column[s] = dense[f - first, rows[s]] + np.float32(0)  # no negative zeros
        else:
            n_stored = start[f + 1] - start[f]
            in_order = True
            for s in range(n_stored):
                column[s] = data[start[f] + s]
                rows[s] = row_of[start[f] + s]
                in_order = in_order and (s == 0 or column[s] >= column[s - 1])
            if not in_order:
                _sort_values(column, rows, n_stored)
        n_zeros = n - n_stored
        n_ranks, zero_rank, common, most = _find_values(column, n_stored, n_zeros, values, n_values)
        if n_ranks > 1 and not apart(values, n_values, 0, n_ranks - 1):
            n_ranks = 1  # constant to scikit-learn
        close[f] = False
        for rank in range(1, n_ranks):
            if not apart(values, n_values, rank - 1, rank):
                close[f] = True
        kind[f] = TWO
        if n_ranks > 2:
            kind[f] = FEW if most >= _SHARE * n else DENSE
        slot[f] = -1
        default[f] = common if n_ranks > 1 else 0
        rank = 0
        if kind[f] == DENSE:
            slot[f] = n_dense
            default[f] = -1
            if dense.shape[0] > 0:
                for s in range(n):
                    while values[n_values + rank] != column[s]:
                        rank += 1
                    columns.ranks[n_dense, rows[s]] = rank
            n_dense += 1
        elif n_ranks > 1:
            counters[3] += kind[f] == FEW
            if common != zero_rank and n_zeros > 0:
                for s in range(n_stored):
                    is_stored[rows[s]] = True
                for i in range(n):
                    if not is_stored[i]:
                        list_row[n_entries] = i
                        list_rank[n_entries] = zero_rank
                        n_entries += 1
                    is_stored[i] = False
            for s in range(n_stored):
                while values[n_values + rank] != column[s]:
                    rank += 1
                if rank != common:
                    list_row[n_entries] = rows[s]
                    list_rank[n_entries] = rank
                    n_entries += 1
        n_values += n_ranks
        columns.value_start[f + 1] = n_values
        columns.region[f + 1] = n_entries
    counters[0], counters[1], counters[2] = n_values, n_entries, n_dense


@kernel
def fill_ranks(start, row_of, data, slot, value_start, values, ranks):
    """Fill the ranks of the values of dense features of a sparse matrix."""
    column = np.empty(ranks.shape[1], dtype=np.float32)
    for f in range(slot.shape[0]):
        if slot[f] < 0:
            continue
        column[:] = np.float32(0)
        for q in range(start[f], start[f + 1]):
            column[row_of[q]] = data[q]
        for i in range(ranks.shape[1]):
            low, high = value_start[f], value_start[f + 1] - 1
            while low < high:
                middle = (low + high) // 2
                if values[middle] < column[i]:
                    low = middle + 1
                else:
                    high = middle
            ranks[slot[f], i] = low - value_start[f]


@kernel
def by_rows(region, list_row, list_rank, n, start, feature, rank):
    """Turn lists of rows, feature by feature, into lists of features, row by row."""
    start[:] = 0
    for at in range(region[-1]):
        start[list_row[at] + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    for f in range(region.shape[0] - 1):
        for at in range(region[f], region[f + 1]):
            i = list_row[at]
            feature[start[i]] = f
            if rank.shape[0] > 0:
                rank[start[i]] = list_rank[at]
            start[i] += 1
    for i in range(n, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0


@kernel
def by_features(start, feature, rank, n, region, list_row, list_key):
    """Turn lists of features, row by row, into lists of rows, feature by feature."""
    top = region[:-1].copy()
    for i in range(n):
        for q in range(start[i], start[i + 1]):
            at = top[feature[q]]
            top[feature[q]] += 1
            if rank.shape[0] > 0:
                list_key[at] = (np.int64(rank[q]) << 32) | i
            else:
                list_row[at] = i
