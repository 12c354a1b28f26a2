"""The search for the best split of a node: features drawn in scikit-learn's order, their splits judged."""

from __future__ import annotations

import numpy as np

from experiments.learners.kernels import inner_kernel
from experiments.learners.kernels.layout import CHOSEN, DENSE, TWO
from experiments.learners.kernels.lists import kept_keys, kept_rows, keys_inside, rows_inside
from experiments.learners.kernels.splits import along, apart, in_two, sort_keys
from experiments.learners.kernels.words import word_keys, word_keys_dense, word_rows


@inner_kernel
def next_random(state):
    """Return the next state of the xorshift generator of scikit-learn's trees."""
    if state == 0:
        state = np.uint32(1)
    state = np.uint32(state ^ np.uint32(state << np.uint32(13)))
    state = np.uint32(state ^ np.uint32(state >> np.uint32(17)))
    return np.uint32(state ^ np.uint32(state << np.uint32(5)))


@inner_kernel
def search(columns, sample, work, node, total, n_known, max_features, keeps_lists, start, end, word, state):
    """Draw features and judge their splits.

    Parameters
    ----------
    columns, sample, work, node : Columns, Sample, Work, Node
    total : array
        Label counts of the node.
    n_known : int
        Features known to be constant; they come first in ``work.features``.
    max_features : int
        Features to draw.
    keeps_lists : bool
    start, end : int
        Rows of the node; of a small one, the first of the rows that words stand for.
    word : uint64
        Rows of a small node; 0 for a large one.
    state : uint32
        Of the generator.

    Returns
    -------
    state : uint32
    n_total : int
        Features known to be constant now.
    """
    kinds, defaults, features = columns.kind, columns.default, work.features
    mask, is_touched, bounds, best = work.mask, work.is_touched, work.bounds, work.best
    rows, some_rows, keys, present = work.rows, work.some_rows, work.keys, work.present
    about, pairs = sample.about, sample.pairs
    region, list_row, list_key, place = columns.region, columns.list_row, columns.list_key, work.place
    lists = work.lists
    nothing = np.uint64(0)
    one = np.uint64(1)
    small = word != 0
    best_word = nothing
    n_left = features.shape[0]
    n_total = n_known
    n_visited = 0
    n_drawn = 0
    n_found = 0
    while n_left > n_total and (n_visited < max_features or n_visited <= n_found + n_drawn):
        n_visited += 1
        state = next_random(state)
        n_possible = np.uint32(n_left - n_found - n_drawn)
        at = n_drawn + np.int64(np.uint32((state & np.uint32(0x7FFFFFFF)) % n_possible))
        if at < n_known:
            n_drawn += 1
            continue
        at += n_found
        f = features[at]
        if small and not (is_touched[f >> 6] >> np.uint64(f & 63)) & one:
            features[at] = features[n_total]
            features[n_total] = f
            n_found += 1
            n_total += 1
            continue
        kind = kinds[f]
        inside = nothing
        n_inside = 0
        if kind == TWO:
            if small:
                inside = mask[f] & word
                constant = inside == 0 or inside == word
            else:
                if keeps_lists:
                    n_inside = bounds[f, 1] - bounds[f, 0]
                else:
                    n_inside = rows_inside(
                        list_row, list_key, region[f], region[f + 1], place, start, end, some_rows
                    )
                constant = n_inside == 0 or n_inside == node.n_groups
        else:
            if kind == DENSE:
                ranks = columns.ranks[columns.slot[f]]
                if small:
                    n_inside = word_keys_dense(word, rows, start, ranks, keys)
                else:
                    n_inside = end - start
                    for a in range(start, end):
                        keys[a - start] = (np.int64(ranks[rows[a]]) << 32) | rows[a]
            elif small:
                n_inside = word_keys(columns, mask[f] & word, rows, start, f, keys)
            elif keeps_lists:
                n_inside = bounds[f, 1] - bounds[f, 0]
                kept_keys(lists, bounds[f, 0], bounds[f, 1], columns.rank, keys)
            else:
                n_inside = keys_inside(list_key, region[f], region[f + 1], place, start, end, keys)
            constant = n_inside == 0
            if not constant:
                least = keys[0]
                most = keys[0]
                for a in range(1, n_inside):
                    least = min(least, keys[a])
                    most = max(most, keys[a])
                low = least >> 32
                high = most >> 32
                if n_inside < node.n_groups:
                    low = min(low, np.int64(defaults[f]))
                    high = max(high, np.int64(defaults[f]))
                constant = low == high or (
                    columns.close[f] and not apart(columns.values, columns.value_start[f], low, high)
                )
        if constant:
            features[at] = features[n_total]
            features[n_total] = f
            n_found += 1
            n_total += 1
            continue
        n_left -= 1
        features[at] = features[n_left]
        features[n_left] = f
        if kind == TWO:
            if small:
                if inside == best_word or inside == word & ~best_word:
                    continue  # the same rows apart as by the best so far: not better
                n_inside = word_rows(inside, rows, start, some_rows)
            elif keeps_lists:
                kept_rows(lists, bounds[f, 0], bounds[f, 1], some_rows)
            if in_two(some_rows, n_inside, about, pairs, total, present, node, best, f, defaults[f] == 0):
                best_word = inside
        else:
            n_ranks = columns.value_start[f + 1] - columns.value_start[f]
            where = sort_keys(keys, work.spare, n_inside, n_ranks, work.histogram)
            along(
                keys if where == 0 else work.spare,
                n_inside,
                np.int64(defaults[f]),
                columns.values,
                columns.value_start[f],
                columns.close[f],
                about,
                pairs,
                total,
                present,
                node,
                best,
                f,
            )
            if best[CHOSEN] == f:
                best_word = nothing
    return state, n_total
