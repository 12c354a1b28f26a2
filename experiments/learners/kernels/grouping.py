"""Rows that are equal in all features."""

from __future__ import annotations

import numpy as np

from experiments.learners.kernels import kernel


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
