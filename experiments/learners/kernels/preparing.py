"""What all trees of a forest share, and the rows that each is grown on; votes of the grown trees."""

from __future__ import annotations

import numpy as np

from experiments.learners.kernels import inner_kernel, kernel
from experiments.learners.kernels.layout import DENSE, FEW, FIRST, LAST, SIZE, TWO, WEIGHT
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
    dense : float32 array of shape (p, n) or (0, 0)
        Columns of a dense matrix.
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
                column[s] = dense[f, rows[s]] + np.float32(0)  # no negative zeros
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
def by_features(start, feature, rank, n, region, list_row, list_rank):
    """Turn lists of features, row by row, into lists of rows, feature by feature."""
    top = region[:-1].copy()
    for i in range(n):
        for q in range(start[i], start[i + 1]):
            at = top[feature[q]]
            top[feature[q]] += 1
            list_row[at] = i
            if rank.shape[0] > 0:
                list_rank[at] = rank[q]


@kernel
def row_hashes(start, feature, rank, ranks, n, hashes):
    """Give rows numbers that are equal for equal rows, and hardly ever for others."""
    for i in range(n):
        h = np.uint64(0x9E3779B97F4A7C15)
        for q in range(start[i], start[i + 1]):
            h = (h ^ np.uint64(feature[q])) * np.uint64(0xFF51AFD7ED558CCD)
            h ^= h >> np.uint64(32)
            if rank.shape[0] > 0:
                h = (h ^ np.uint64(rank[q])) * np.uint64(0xC4CEB9FE1A85EC53)
                h ^= h >> np.uint64(29)
        for s in range(ranks.shape[0]):
            h = (h ^ np.uint64(ranks[s, i])) * np.uint64(0xC4CEB9FE1A85EC53)
            h ^= h >> np.uint64(29)
        hashes[i] = h


@kernel
def same_rows(start, feature, rank, ranks, group, first):
    """Whether every row equals the first of its group."""
    for i in range(group.shape[0]):
        j = first[group[i]]
        n_entries = start[i + 1] - start[i]
        if start[j + 1] - start[j] != n_entries:
            return False
        for a in range(n_entries):
            if feature[start[i] + a] != feature[start[j] + a]:
                return False
            if rank.shape[0] > 0 and rank[start[i] + a] != rank[start[j] + a]:
                return False
        for s in range(ranks.shape[0]):
            if ranks[s, i] != ranks[s, j]:
                return False
    return True


@kernel
def group_labels(group, in_order, n_labels, row_start, row_labels, start, labels, slot):
    """List the different labels of each group of rows, and where each label of a row is in these lists."""
    place = np.full(n_labels, -1, dtype=np.int64)
    top = 0
    a = 0
    n = group.shape[0]
    start[0] = 0
    while a < n:
        g = group[in_order[a]]
        first = top
        while a < n and group[in_order[a]] == g:
            i = in_order[a]
            for q in range(row_start[i], row_start[i + 1]):
                k = row_labels[q]
                if place[k] < first:
                    place[k] = top
                    labels[top] = k
                    top += 1
                slot[q] = place[k]
            a += 1
        start[g + 1] = top
    return top


@kernel
def draw(
    indices,
    n,
    group,
    row_start,
    row_labels,
    slot,
    label_start,
    labels,
    n_drawn,
    group_weight,
    group_size,
    group_counts,
    sample,
    rows,
):
    """Count the rows that were drawn, group by group; without ``indices`` every row once. ``rows`` lists them.

    ``group`` is empty when each row is a group of its own.

    Returns
    -------
    int
        How many rows the sample has.
    """
    if indices.shape[0] == 0:
        n_drawn[:] = 1
    else:
        n_drawn[:] = 0
        for a in range(indices.shape[0]):
            n_drawn[indices[a]] += 1
    about, pairs = sample.about, sample.pairs
    m = 0
    top = 0
    if group.shape[0] == 0:
        for i in range(n):
            if n_drawn[i] > 0:
                rows[m] = i
                about[i, WEIGHT] = n_drawn[i]
                about[i, SIZE] = 1
                about[i, FIRST] = top
                for q in range(row_start[i], row_start[i + 1]):
                    pairs[top, 0] = row_labels[q]
                    pairs[top, 1] = n_drawn[i]
                    top += 1
                about[i, LAST] = top
                m += 1
        return m
    group_weight[:] = 0
    group_size[:] = 0
    group_counts[:] = 0
    for i in range(n):
        drawn = n_drawn[i]
        if drawn > 0:
            g = group[i]
            group_weight[g] += drawn
            group_size[g] += 1
            for q in range(row_start[i], row_start[i + 1]):
                group_counts[slot[q]] += drawn
    for g in range(group_weight.shape[0]):
        if group_weight[g] > 0:
            rows[m] = g
            about[g, WEIGHT] = group_weight[g]
            about[g, SIZE] = group_size[g]
            about[g, FIRST] = top
            for q in range(label_start[g], label_start[g + 1]):
                if group_counts[q] > 0:
                    pairs[top, 0] = labels[q]
                    pairs[top, 1] = group_counts[q]
                    top += 1
            about[g, LAST] = top
            m += 1
    return m


@kernel
def leaves_dense(tree, X, leaf):
    """Find the leaf of each row of a dense matrix."""
    for x in range(X.shape[0]):
        node = 0
        while tree.feature[node] >= 0:
            node = tree.left[node] if X[x, tree.feature[node]] <= tree.threshold[node] else tree.right[node]
        leaf[x] = node


@kernel
def leaves_sparse(tree, start, feature, data, row, leaf):
    """Find the leaf of each row of a sparse matrix; ``row`` holds zeros, before and after."""
    for x in range(leaf.shape[0]):
        for q in range(start[x], start[x + 1]):
            row[feature[q]] = data[q]
        node = 0
        while tree.feature[node] >= 0:
            node = tree.left[node] if row[tree.feature[node]] <= tree.threshold[node] else tree.right[node]
        leaf[x] = node
        for q in range(start[x], start[x + 1]):
            row[feature[q]] = 0.0


@kernel
def leaf_labels(tree, n_nodes, sample, leaf, total, known, leaf_weight, start):
    """Count the labels of the leaves that rows fell into.

    Parameters
    ----------
    tree : Tree
    n_nodes : int
    sample : Sample
    leaf : int32 array
        Leaves of rows; becomes their places in the lists that are returned.
    total : int32 array
        A zero for every label.
    known : int32 array
        Room for all nodes.
    leaf_weight : int64 array
        Room for all rows: weights of the leaves.
    start : int64 array
        Room for all rows and one more: where the labels of each leaf begin.

    Returns
    -------
    n_leaves : int
    labels, counts : int32 arrays
    """
    known[:n_nodes] = -1
    n_leaves = 0
    top = 0
    labels = np.empty(256, dtype=np.int32)
    counts = np.empty(256, dtype=np.int32)
    start[0] = 0
    for x in range(leaf.shape[0]):
        node = leaf[x]
        if known[node] < 0:
            known[node] = n_leaves
            weight = np.int64(0)
            for a in range(tree.leaf_start[node], tree.leaf_end[node]):
                i = tree.leaf_rows[a]
                weight += sample.about[i, WEIGHT]
                for q in range(sample.about[i, FIRST], sample.about[i, LAST]):
                    k = sample.pairs[q, 0]
                    if total[k] == 0:
                        if top == labels.shape[0]:
                            more = np.empty(2 * top, dtype=np.int32)
                            more[:top] = labels
                            labels = more
                            more = np.empty(2 * top, dtype=np.int32)
                            more[:top] = counts
                            counts = more
                        labels[top] = k
                        top += 1
                    total[k] += sample.pairs[q, 1]
            for at in range(start[n_leaves], top):
                counts[at] = total[labels[at]]
                total[labels[at]] = 0
            leaf_weight[n_leaves] = weight
            n_leaves += 1
            start[n_leaves] = top
        leaf[x] = known[node]
    return n_leaves, labels, counts


@kernel
def vote(leaf, start, labels, counts, leaf_weight, single, absent, votes_against, votes):
    """Add the votes of a tree: the shares of each label's classes in the leaf of each row.

    ``absent`` holds a one for every label, before and after.
    """
    n_labels = votes.shape[1]
    for x in range(leaf.shape[0]):
        at = leaf[x]
        weight = float(leaf_weight[at])
        for q in range(start[at], start[at + 1]):
            votes[x, labels[q]] += float(counts[q]) / weight
        if single:
            continue
        for q in range(start[at], start[at + 1]):
            absent[labels[q]] = float(leaf_weight[at] - counts[q]) / weight
        for k in range(n_labels):
            votes_against[x, k] += absent[k]
        for q in range(start[at], start[at + 1]):
            absent[labels[q]] = 1.0
