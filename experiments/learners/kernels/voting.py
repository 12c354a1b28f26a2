"""The rows that a tree is grown on, and the votes of the tree when it has grown."""

from __future__ import annotations

import numpy as np

from experiments.learners.kernels import kernel
from experiments.learners.kernels.layout import FIRST, LAST, SIZE, WEIGHT


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
