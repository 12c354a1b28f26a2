"""One tree of scikit-learn's random forest, node by node in its order, without looking at what is zero.

What makes the tree the same: the splitter's generator is drawn from as often and for the same ranges; the order of
features, which every draw changes, is kept; nodes are made depth first, left before right. Features known to be
constant need not change places when they are drawn: only how many were drawn matters, and the order that
scikit-learn restores afterwards is then never lost.

Where the work goes down:

* A sparse feature is a list of the rows that do not have its most frequent value. A feature without such rows in a
  node is constant, and no row is looked at to know it (:mod:`experiments.learners.kernels.lists`).
* At 64 rows and fewer, each feature is a word with a bit for every row
  (:mod:`experiments.learners.kernels.words`).
* Sums over labels take the labels that rows have, not all labels (:mod:`experiments.learners.kernels.splits`).
"""

from __future__ import annotations

import numpy as np

from experiments.learners.kernels import inner_kernel
from experiments.learners.kernels.bits import count
from experiments.learners.kernels.layout import (
    CHEAP,
    CHOSEN,
    FIRST,
    HIGH,
    IMPURITY_LEFT,
    IMPURITY_RIGHT,
    LAST,
    LOW,
    SIZE,
    VALUE,
    WEIGHT,
    WEIGHT_LEFT,
    WORD,
    Node,
)
from experiments.learners.kernels.lists import (
    drop,
    load,
    make_lists,
    move,
    part,
    save_moved,
    save_others,
    take_moved,
)
from experiments.learners.kernels.searching import search
from experiments.learners.kernels.words import (
    clear_masks,
    count_labels,
    make_masks,
    word_part,
    word_rows,
)

_EPSILON = float(np.finfo(np.float64).eps)

# How a node that waits finds its rows and the lists of its features: the lists are as they should be; they were put
# aside; it is small, and its words are not made yet; or they are.
_IN_PLACE, _SAVED, _FRESH, _WORD = 0, 1, 2, 3


@inner_kernel
def _add_labels(rows, first, last, about, pairs, total, sign):
    """Add the labels of rows to counts."""
    for a in range(first, last):
        i = rows[a]
        for q in range(about[i, FIRST], about[i, LAST]):
            total[pairs[q, 0], 0] += sign * pairs[q, 1]


@inner_kernel
def _present(total, present):
    """List the labels of a large node; return how many, and the sum of the squares of their counts."""
    n_present = 0
    squares = np.int64(0)
    for k in range(total.shape[0]):
        if total[k, 0] > 0:
            squares += np.int64(total[k, 0]) * np.int64(total[k, 0])
            present[n_present] = k
            n_present += 1
    return n_present, squares


@inner_kernel
def _root_impurity(total, weight, single, squares):
    """Return the Gini impurity of all rows."""
    square = float(weight) * float(weight)
    if single:
        return 1.0 - float(squares) / square
    impurity = 0.0
    for k in range(total.shape[0]):
        n_with = np.int64(total[k, 0])
        n_without = weight - n_with
        impurity += 1.0 - float(n_without * n_without + n_with * n_with) / square
    return impurity / total.shape[0]


@inner_kernel
def _size_of(rows, first, last, about):
    size = np.int64(0)
    for a in range(first, last):
        size += about[rows[a], SIZE]
    return size


@inner_kernel
def _split_large(columns, sample, work, start, middle, end, splits_left, splits_right, keeps_lists, counters):
    """Bring lists and label counts to where the children of a node need them; return how the right one finds them.

    ``counters`` are how many lists are put aside, and how many are not empty.
    """
    about, pairs, rows, total = sample.about, sample.pairs, work.rows, work.total
    left_is_smaller = middle - start <= end - middle
    first, last = (start, middle) if left_is_smaller else (middle, end)
    smaller_splits = splits_left if left_is_smaller else splits_right
    larger_splits = splits_right if left_is_smaller else splits_left
    both = smaller_splits and larger_splits
    n_moved = 0
    if smaller_splits and keeps_lists:
        n_moved = move(columns, work, first, last)
    elif larger_splits and keeps_lists:
        drop(columns, work, first, last)
    if larger_splits and not (both and left_is_smaller):
        _add_labels(rows, first, last, about, pairs, total, -1)
        if both and keeps_lists:
            counters[0] = save_moved(work, n_moved, counters[0])
    elif smaller_splits:
        if keeps_lists:
            if both:
                counters[0] = save_others(work, counters[1], counters[0])
            counters[1] = take_moved(work, n_moved, counters[1])
        total[:, 0] = 0
        _add_labels(rows, first, last, about, pairs, total, 1)
    if both:
        return _SAVED
    return _IN_PLACE if splits_right else _FRESH


@inner_kernel
def grow(columns, sample, n_rows, single, rules, min_decrease, seed, work, tree):
    """Grow a tree.

    Parameters
    ----------
    columns : Columns
    sample : Sample
    n_rows : int
        How many rows were drawn: the first of ``work.rows``.
    single : bool
        Whether each row has one of several classes, instead of any number of labels.
    rules : int64 array of shape (6,)
        Features to draw, largest depth, fewest rows to split, fewest rows of a leaf, sum of all weights, and
        whether to keep lists.
    min_decrease : float
        Least decrease of impurity.
    seed : uint32
        State of the splitter's generator.
    work : Work
    tree : Tree
        Is filled.

    Returns
    -------
    int
        Number of nodes.
    """
    max_features, max_depth, min_split, min_leaf = rules[0], rules[1], rules[2], rules[3]
    all_weight = float(rules[4])
    keeps_lists = rules[5] != 0
    n_features, n_labels = columns.kind.shape[0], work.total.shape[0]
    about, pairs, rows, stack, best = sample.about, sample.pairs, work.rows, work.stack, work.best
    counters = work.counters
    counters[:] = 0
    nothing = np.uint64(0)
    state = np.uint32(seed)
    for f in range(n_features):
        work.features[f] = f
    work.place[:] = -1
    node_weight = np.int64(0)
    for a in range(n_rows):
        work.place[rows[a]] = a
        node_weight += about[rows[a], WEIGHT]
    work.total[:, 0] = 0
    _add_labels(rows, 0, n_rows, about, pairs, work.total, 1)
    if keeps_lists and n_rows > WORD:
        counters[1] = make_lists(columns, n_rows, work)
    _, squares = _present(work.total, work.present)
    # By how much the cheap objective and scikit-learn's may differ, for each unit of weight.
    unit = 64 * _EPSILON if single else n_labels * _EPSILON * (n_labels / 2 + 16)

    n_nodes = 0
    n_leaf_rows = 0
    n_touched = 0  # features with a word
    word_start = 0  # the first of the rows that words stand for
    n_waiting = 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n_rows, -1, 0
    stack[0, 4], stack[0, 5] = 0, 0
    stack[0, 6] = _IN_PLACE if n_rows > WORD else _FRESH
    stack[0, 7], stack[0, 8], stack[0, 9] = node_weight, _size_of(rows, 0, n_rows, about), 0
    work.impurity[0] = _root_impurity(work.total, node_weight, single, squares)
    work.word[0] = nothing
    while n_waiting > 0:
        n_waiting -= 1
        start, end, parent = stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
        is_left, n_known, depth = stack[n_waiting, 3], stack[n_waiting, 4], stack[n_waiting, 5]
        mode, node_weight, size = stack[n_waiting, 6], stack[n_waiting, 7], stack[n_waiting, 8]
        impurity, word = work.impurity[n_waiting], work.word[n_waiting]
        node = n_nodes
        n_nodes += 1
        if parent >= 0:
            if is_left:
                tree.left[parent] = node
            else:
                tree.right[parent] = node
        if mode == _SAVED:
            first, last = stack[n_waiting, 9], counters[0]
            if keeps_lists:
                counters[1] = load(work, counters[1], first, last)
                counters[0] = first
            work.total[:, 0] = 0
            _add_labels(rows, start, end, about, pairs, work.total, 1)
        is_leaf = depth >= max_depth or size < min_split or size < 2 * min_leaf or impurity <= _EPSILON
        n_total = n_known
        if not is_leaf:
            if mode == _FRESH:
                clear_masks(work.touched, n_touched, work.mask, work.is_touched)
                n_touched = make_masks(columns, work, start, end)
                word_start = start
                word = ~nothing >> np.uint64(WORD - (end - start))
                mode = _WORD
            if mode == _WORD:
                total, start, n_groups = work.small_total, word_start, count(word)
                n_present, squares = count_labels(
                    word, rows, word_start, about, pairs, total, work.present_bits, work.present
                )
            else:
                total, n_groups = work.total, end - start
                n_present, squares = _present(total, work.present)
            best[CHEAP] = -np.inf
            best[VALUE] = -np.inf
            best[CHOSEN] = -1
            facts = Node(
                node_weight,
                size,
                n_groups,
                squares,
                n_present,
                n_labels,
                single,
                min_leaf,
                unit * node_weight,
            )
            state, n_total = search(
                columns,
                sample,
                work,
                facts,
                total,
                n_known,
                max_features,
                keeps_lists,
                start,
                end,
                word,
                state,
            )
            if mode == _WORD:
                for j in range(n_present):
                    total[work.present[j], 0] = 0
            is_leaf = best[CHOSEN] < 0
            if not is_leaf:
                w = float(node_weight)
                w_left = best[WEIGHT_LEFT]
                w_right = w - w_left
                decrease = (w / all_weight) * (
                    impurity - (w_right / w * best[IMPURITY_RIGHT]) - (w_left / w * best[IMPURITY_LEFT])
                )
                is_leaf = decrease + _EPSILON < min_decrease

        if is_leaf:
            tree.feature[node] = -1
            tree.left[node] = -1
            tree.right[node] = -1
            tree.threshold[node] = -2.0
            tree.leaf_start[node] = n_leaf_rows
            if mode == _WORD:
                n_leaf_rows += word_rows(word, rows, word_start, tree.leaf_rows[n_leaf_rows:])
            else:
                for a in range(start, end):
                    tree.leaf_rows[n_leaf_rows] = rows[a]
                    n_leaf_rows += 1
            tree.leaf_end[node] = n_leaf_rows
            continue

        f, low, high = np.int64(best[CHOSEN]), np.int64(best[LOW]), np.int64(best[HIGH])
        values_at = columns.value_start[f]
        tree.feature[node] = f
        tree.threshold[node] = (
            float(columns.values[values_at + low]) / 2.0 + float(columns.values[values_at + high]) / 2.0
        )
        left_weight = np.int64(best[WEIGHT_LEFT])
        left_word = right_word = nothing
        middle = start
        n_saved = counters[0]
        if mode == _WORD:
            left_word = word_part(columns, work, word, word_start, f, low)
            right_word = word & ~left_word
            n_left = word_rows(left_word, rows, word_start, work.some_rows)
            left_size = _size_of(work.some_rows, 0, n_left, about)
            left_mode = right_mode = _WORD
        else:
            middle = part(columns, work, f, low, start, end, keeps_lists)
            if middle - start <= end - middle:
                left_size = _size_of(rows, start, middle, about)
            else:
                left_size = size - _size_of(rows, middle, end, about)
            goes_on = depth + 1 < max_depth
            splits_left = (
                middle - start > WORD
                and goes_on
                and left_size >= min_split
                and best[IMPURITY_LEFT] > _EPSILON
            )
            splits_right = (
                end - middle > WORD
                and goes_on
                and size - left_size >= min_split
                and best[IMPURITY_RIGHT] > _EPSILON
            )
            left_mode = _IN_PLACE if splits_left else _FRESH
            right_mode = _split_large(
                columns, sample, work, start, middle, end, splits_left, splits_right, keeps_lists, counters
            )
        # The left one comes last, so it is next.
        for is_left in range(2):
            at = n_waiting
            stack[at, 0], stack[at, 1] = (start, middle) if is_left else (middle, end)
            stack[at, 2], stack[at, 3], stack[at, 4], stack[at, 5] = node, is_left, n_total, depth + 1
            stack[at, 6] = left_mode if is_left else right_mode
            stack[at, 7] = left_weight if is_left else node_weight - left_weight
            stack[at, 8] = left_size if is_left else size - left_size
            stack[at, 9] = n_saved
            work.impurity[at] = best[IMPURITY_LEFT] if is_left else best[IMPURITY_RIGHT]
            work.word[at] = left_word if is_left else right_word
            n_waiting += 1
    clear_masks(work.touched, n_touched, work.mask, work.is_touched)
    return n_nodes
