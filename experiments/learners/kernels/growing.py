"""One tree of scikit-learn's random forest, node by node in its order, without looking at what is zero.

What makes the tree the same: the generator of the splitter (:func:`next_random`) is drawn from as often and for
the same ranges; the order of features, which every draw changes, is kept; nodes are made depth first, left before
right. Features known to be constant need not change places when they are drawn: only how many were drawn matters,
and the order that scikit-learn restores afterwards is then never lost.

Where the work goes down:

* A sparse feature is a list of the rows that do not have its most frequent value. While a node is large, the part
  of the list that lies in the node is kept together: when a node is split, the rows of the smaller child are moved
  to the end of their lists. A feature without such rows is constant, and no row is looked at to know it.
* At 64 rows and fewer, each feature is a word with a bit for every row, and the rows of a node are a word as well.
* Sums over labels take the labels that rows have, not all labels (:mod:`experiments.learners.kernels.splits`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from experiments.learners.kernels import inner_kernel
from experiments.learners.kernels.bits import count, lowest
from experiments.learners.kernels.splits import ROW, along, apart, in_two, sort_keys

#: Kinds of features: two values; most rows share one value; neither.
TWO, FEW, DENSE = 0, 1, 2
#: Most rows that are one word.
WORD = 64
_EPSILON = float(np.finfo(np.float64).eps)

# How a node that waits finds its rows and the lists of its features.
_IN_PLACE, _SAVED, _FRESH, _MASKED = 0, 1, 2, 3


class Columns(NamedTuple):
    """The features of the training rows."""

    kind: np.ndarray  # (p,) int8
    close: np.ndarray  # (p,) bool: has different values that scikit-learn takes as equal
    default: np.ndarray  # (p,) int32: rank of the value that is not stored; -1 where all are
    value_start: np.ndarray  # (p + 1,) int64
    values: np.ndarray  # float32: the different values of each feature, ascending
    region: np.ndarray  # (p + 1,) int64: where the list of a feature begins
    start: np.ndarray  # (n + 1,) int64
    feature: np.ndarray  # int32: of the stored entries, row by row
    rank: np.ndarray  # int32: of their values; empty when all sparse features have two values
    list_row: np.ndarray  # int32: rows of the entries, feature by feature; empty when trees keep lists
    list_rank: np.ndarray  # int32: of their values; empty when ``rank`` is
    slot: np.ndarray  # (p,) int32: row of ``ranks``, for dense features
    ranks: np.ndarray  # (number of dense features, n) int32


class Sample(NamedTuple):
    """The rows that a tree is grown on, numbered anew."""

    row: np.ndarray  # int32: number in ``Columns``
    weight: np.ndarray  # int32: how often it was drawn
    size: np.ndarray  # int32: how many rows it stands for
    label_start: np.ndarray  # int32
    labels: np.ndarray  # int32
    counts: np.ndarray  # int32: weight with that label


class Tree(NamedTuple):
    """A tree."""

    feature: np.ndarray  # int32; -1 for leaves
    threshold: np.ndarray  # float64
    left: np.ndarray  # int32
    right: np.ndarray  # int32
    leaf_start: np.ndarray  # int32: first place in ``leaf_rows``
    leaf_end: np.ndarray  # int32
    leaf_rows: np.ndarray  # int32: rows as numbered in ``Sample``


class Work(NamedTuple):
    """Room for growing a tree, used again for the next."""

    rows: np.ndarray  # int32
    place: np.ndarray  # int32: where a row of ``Columns`` is in ``rows``; -1 for nowhere
    chosen_rows: np.ndarray  # int32
    keys: np.ndarray  # int64
    spare: np.ndarray  # int64
    histogram: np.ndarray  # int64
    features: np.ndarray  # int32: in the order that draws make
    begin: np.ndarray  # int32: the list of a feature in the current node
    end: np.ndarray  # int32
    end_before: np.ndarray  # int32; -1 for features that were not touched
    moved: np.ndarray  # (p,) int32: lists that lost rows
    touched: np.ndarray  # (p,) int32: features with a word
    list_row: np.ndarray  # int32
    list_entry: np.ndarray  # int32
    list_place: np.ndarray  # int32: where an entry is in its list
    mask: np.ndarray  # (p,) uint64
    is_touched: np.ndarray  # uint64: a bit for each feature with a word, and for dense ones
    total: np.ndarray  # (L,) int32
    total_small: np.ndarray  # (L,) int32
    side: np.ndarray  # (L,) int32
    present: np.ndarray  # (L,) int32
    present_bits: np.ndarray  # uint64
    stack: np.ndarray  # (deep, 10) int64
    impurity: np.ndarray  # (deep,) float64
    word: np.ndarray  # (deep,) uint64
    saved: np.ndarray  # (many, 3) int32: lists of the features of nodes that wait
    best: np.ndarray  # (5,) float64
    chosen: np.ndarray  # (3,) int64


@inner_kernel
def next_random(state):
    """Return the next state of the xorshift generator of scikit-learn's trees."""
    if state == 0:
        state = np.uint32(1)
    state = np.uint32(state ^ np.uint32(state << np.uint32(13)))
    state = np.uint32(state ^ np.uint32(state >> np.uint32(17)))
    return np.uint32(state ^ np.uint32(state << np.uint32(5)))


@inner_kernel
def _make_lists(columns, sample, n_rows, work):
    """List the rows of each sparse feature."""
    for f in range(work.end.shape[0]):
        work.begin[f] = columns.region[f]
        work.end[f] = columns.region[f]
    end, list_row, list_entry, list_place = work.end, work.list_row, work.list_entry, work.list_place
    feature = columns.feature
    for i in range(n_rows):
        row = sample.row[i]
        for q in range(columns.start[row], columns.start[row + 1]):
            f = feature[q]
            at = end[f]
            end[f] = at + 1
            list_row[at] = i
            list_entry[at] = q
            list_place[q] = at


@inner_kernel
def _drop(columns, sample, work, first, last):
    """Take rows out of the lists."""
    feature, end = columns.feature, work.end
    list_row, list_entry, list_place = work.list_row, work.list_entry, work.list_place
    for a in range(first, last):
        row = sample.row[work.rows[a]]
        for q in range(columns.start[row], columns.start[row + 1]):
            f = feature[q]
            at = list_place[q]
            tail = end[f] - 1
            end[f] = tail
            if at != tail:
                other = list_entry[tail]
                list_row[at] = list_row[tail]
                list_entry[at] = other
                list_place[other] = at


@inner_kernel
def _move(columns, sample, work, first, last):
    """Move rows to the ends of the lists, and the ends before them; return how many lists have such rows.

    These are ``moved``, and ``end_before`` their ends as they were.
    """
    feature, end = columns.feature, work.end
    list_row, list_entry, list_place = work.list_row, work.list_entry, work.list_place
    n_moved = 0
    for a in range(first, last):
        i = work.rows[a]
        row = sample.row[i]
        for q in range(columns.start[row], columns.start[row + 1]):
            f = feature[q]
            at = list_place[q]
            tail = end[f] - 1
            if work.end_before[f] < 0:
                work.end_before[f] = end[f]
                work.moved[n_moved] = f
                n_moved += 1
            end[f] = tail
            if at != tail:
                other = list_entry[tail]
                list_row[at] = list_row[tail]
                list_entry[at] = other
                list_place[other] = at
                list_row[tail] = i
                list_entry[tail] = q
                list_place[q] = tail
    return n_moved


@inner_kernel
def _save(saved, top, f, begin, end):
    """Put the list of a feature aside; return how many are."""
    saved[top, 0] = f
    saved[top, 1] = begin
    saved[top, 2] = end
    return top + 1


@inner_kernel
def _to_the_right(sample, work, n_movers, end):
    """Move the rows ``chosen_rows[:n_movers]`` of a node to its end; return where they begin."""
    rows, place = work.rows, work.place
    for a in range(n_movers):
        i = work.chosen_rows[a]
        end -= 1
        other = rows[end]
        at = place[sample.row[i]]
        rows[at] = other
        place[sample.row[other]] = at
        rows[end] = i
        place[sample.row[i]] = end
    return end


@inner_kernel
def _to_the_left(sample, work, n_movers, start):
    """Move the rows ``chosen_rows[:n_movers]`` of a node to its start; return where they end."""
    rows, place = work.rows, work.place
    for a in range(n_movers):
        i = work.chosen_rows[a]
        other = rows[start]
        at = place[sample.row[i]]
        rows[at] = other
        place[sample.row[other]] = at
        rows[start] = i
        place[sample.row[i]] = start
        start += 1
    return start


@inner_kernel
def _rows_inside(columns, work, f, start, end):
    """Find the rows of a node that are in the list of a feature; return how many."""
    rows, place, chosen, list_row = work.rows, work.place, work.chosen_rows, columns.list_row
    n_inside = 0
    for q in range(columns.region[f], columns.region[f + 1]):
        at = place[list_row[q]]
        if start <= at < end:
            chosen[n_inside] = rows[at]
            n_inside += 1
    return n_inside


@inner_kernel
def _keys_inside(columns, work, f, start, end, keeps_lists):
    """Make keys of a node's rows that are in the list of a feature; return how many, least and largest rank."""
    keys = work.keys
    n_keys = 0
    least = np.int64(0x7FFFFFFF)
    largest = np.int64(-1)
    if keeps_lists:
        for a in range(work.begin[f], work.end[f]):
            rank = np.int64(columns.rank[work.list_entry[a]])
            least = min(least, rank)
            largest = max(largest, rank)
            keys[n_keys] = (rank << 32) | work.list_row[a]
            n_keys += 1
    else:
        for q in range(columns.region[f], columns.region[f + 1]):
            at = work.place[columns.list_row[q]]
            if start <= at < end:
                rank = np.int64(columns.list_rank[q])
                least = min(least, rank)
                largest = max(largest, rank)
                keys[n_keys] = (rank << 32) | work.rows[at]
                n_keys += 1
    return n_keys, least, largest


@inner_kernel
def _part(columns, sample, work, f, low, start, end, keeps_lists):
    """Bring rows whose value of a feature has rank ``low`` or less to the left; return where the others begin."""
    rows, movers = work.rows, work.chosen_rows
    n_movers = 0
    if columns.kind[f] == DENSE:
        ranks = columns.ranks[columns.slot[f]]
        for a in range(start, end):
            if ranks[sample.row[rows[a]]] > low:
                movers[n_movers] = rows[a]
                n_movers += 1
        return _to_the_right(sample, work, n_movers, end)
    default_left = columns.default[f] <= low
    if columns.kind[f] == FEW:
        n_keys, _, _ = _keys_inside(columns, work, f, start, end, keeps_lists)
        for a in range(n_keys):
            if ((work.keys[a] >> 32) <= low) != default_left:
                movers[n_movers] = work.keys[a] & ROW
                n_movers += 1
    elif keeps_lists:
        for at in range(work.begin[f], work.end[f]):
            movers[n_movers] = work.list_row[at]
            n_movers += 1
    else:
        n_movers = _rows_inside(columns, work, f, start, end)
    if default_left:
        return _to_the_right(sample, work, n_movers, end)
    return _to_the_left(sample, work, n_movers, start)


@inner_kernel
def _make_masks(columns, sample, work, start, end):
    """Make the words of the features that the rows of a node do not all have the default of; return how many."""
    n_touched = 0
    feature, mask, touched, is_touched = columns.feature, work.mask, work.touched, work.is_touched
    one = np.uint64(1)
    for a in range(start, end):
        row = sample.row[work.rows[a]]
        bit = one << np.uint64(a - start)
        for q in range(columns.start[row], columns.start[row + 1]):
            f = feature[q]
            if mask[f] == 0:
                touched[n_touched] = f
                n_touched += 1
                is_touched[f >> 6] |= one << np.uint64(f & 63)
            mask[f] |= bit
    return n_touched


@inner_kernel
def _clear_masks(work, n_touched):
    """Forget the words of features."""
    for a in range(n_touched):
        f = work.touched[a]
        work.mask[f] = 0
        work.is_touched[f >> 6] &= ~(np.uint64(1) << np.uint64(f & 63))


@inner_kernel
def _stored_rank(columns, row, f):
    """Return the rank of a value that is not the default: of the entry of a row."""
    low, high = columns.start[row], columns.start[row + 1] - 1
    while low < high:
        middle = (low + high) >> 1
        if columns.feature[middle] < f:
            low = middle + 1
        else:
            high = middle
    return np.int64(columns.rank[low])


@inner_kernel
def _add_labels(sample, i, total, sign):
    """Add the labels of a row to counts."""
    for q in range(sample.label_start[i], sample.label_start[i + 1]):
        total[sample.labels[q]] += sign * sample.counts[q]


@inner_kernel
def grow(columns, sample, n_rows, n_labels, single, rules, min_decrease, seed, work, tree):
    """Grow a tree.

    Parameters
    ----------
    columns : Columns
    sample : Sample
        Its first ``n_rows`` rows.
    n_rows : int
    n_labels : int
        Labels, or classes when ``single``.
    single : bool
        Whether each row has one of several classes, instead of any number of labels.
    rules : int64 array of shape (6,)
        Features to draw, largest depth, fewest rows to split, fewest rows of a leaf, sum of all weights, and
        whether
        to keep lists.
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
    n_features = columns.kind.shape[0]
    kinds, mask, is_touched, features = columns.kind, work.mask, work.is_touched, work.features
    weights, sizes, label_start = sample.weight, sample.size, sample.label_start
    labels, counts = sample.labels, sample.counts
    rows, chosen_rows, stack = work.rows, work.chosen_rows, work.stack
    total, side, present = work.total, work.side, work.present
    keeps_lists = rules[5] != 0
    n_saved = 0
    saved, best, chosen = work.saved, work.best, work.chosen
    nothing = np.uint64(0)
    state = np.uint32(seed)
    for f in range(n_features):
        features[f] = f
    total[:] = 0
    all_size = np.int64(0)
    node_weight = np.int64(0)
    work.place[:] = -1
    for i in range(n_rows):
        rows[i] = i
        work.place[sample.row[i]] = i
        all_size += sizes[i]
        node_weight += weights[i]
        _add_labels(sample, i, total, 1)
    if keeps_lists and n_rows > WORD:
        _make_lists(columns, sample, n_rows, work)
    impurity = 0.0
    squares = np.int64(0)
    for k in range(n_labels):
        squares += np.int64(total[k]) * np.int64(total[k])
        if not single:
            without = node_weight - total[k]
            both = without * without + np.int64(total[k]) * np.int64(total[k])
            impurity += 1.0 - float(both) / (float(node_weight) * float(node_weight))
    if single:
        impurity = 1.0 - float(squares) / (float(node_weight) * float(node_weight))
    else:
        impurity /= n_labels
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
    stack[0, 7], stack[0, 8], stack[0, 9] = node_weight, all_size, 0
    work.impurity[0] = impurity
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
        is_leaf = depth >= max_depth or size < min_split or size < 2 * min_leaf or impurity <= _EPSILON
        n_total = n_known
        chosen[0] = -1
        if not is_leaf:
            # The rows, the words or lists of features, and the counts of labels.
            if mode == _FRESH:
                _clear_masks(work, n_touched)
                n_touched = _make_masks(columns, sample, work, start, end)
                word_start = start
                word = ~nothing >> np.uint64(WORD - (end - start))
                mode = _MASKED
            if mode == _SAVED:
                n_before = stack[n_waiting, 9]
                if keeps_lists:
                    work.begin[:] = 0
                    work.end[:] = 0
                    for a in range(n_before, n_saved):
                        work.begin[saved[a, 0]] = saved[a, 1]
                        work.end[saved[a, 0]] = saved[a, 2]
                    n_saved = n_before
                total[:] = 0
                for a in range(start, end):
                    _add_labels(sample, rows[a], total, 1)
                mode = _IN_PLACE
            n_present = 0
            squares = 0
            if mode == _MASKED:
                m = count(word)
                t = work.total_small
                rest = word
                while rest != 0:
                    i = rows[word_start + lowest(rest)]
                    rest &= rest - np.uint64(1)
                    for q in range(label_start[i], label_start[i + 1]):
                        k = labels[q]
                        c = np.int64(counts[q])
                        before = np.int64(t[k])
                        squares += c * (2 * before + c)
                        t[k] = before + c
                        work.present_bits[k >> 6] |= np.uint64(1) << np.uint64(k & 63)
                for b in range(work.present_bits.shape[0]):
                    rest = work.present_bits[b]
                    work.present_bits[b] = 0
                    while rest != 0:
                        present[n_present] = (b << 6) + lowest(rest)
                        n_present += 1
                        rest &= rest - np.uint64(1)
            else:
                m = end - start
                t = total
                for k in range(n_labels):
                    if t[k] > 0:
                        squares += np.int64(t[k]) * np.int64(t[k])
                        present[n_present] = k
                        n_present += 1
            margin = unit * node_weight
            best[0] = -np.inf
            best[1] = -np.inf
            best_word = nothing

            n_left_to_draw = n_features
            n_visited = 0
            n_drawn = 0
            n_found = 0
            while n_left_to_draw > n_total and (n_visited < max_features or n_visited <= n_found + n_drawn):
                n_visited += 1
                state = next_random(state)
                n_possible = np.uint32(n_left_to_draw - n_found - n_drawn)
                at = n_drawn + np.int64(np.uint32((state & np.uint32(0x7FFFFFFF)) % n_possible))
                if at < n_known:
                    n_drawn += 1
                    continue
                at += n_found
                f = features[at]
                if mode == _MASKED and not (is_touched[f >> 6] >> np.uint64(f & 63)) & np.uint64(1):
                    features[at] = features[n_total]
                    features[n_total] = f
                    n_found += 1
                    n_total += 1
                    continue
                kind = kinds[f]
                inside = nothing
                n_inside = 0
                n_keys = 0
                constant = False
                judged = False
                if mode == _MASKED:
                    inside = mask[f] & word
                    if kind != DENSE:
                        if inside == 0 or (kind == TWO and inside == word):
                            constant = True
                        elif kind == TWO:
                            # The same rows apart as by the best so far: not better.
                            judged = inside == best_word or inside == word & ~best_word
                elif kind != DENSE:
                    if keeps_lists:
                        n_inside = work.end[f] - work.begin[f]
                    elif kind == TWO:
                        n_inside = _rows_inside(columns, work, f, start, end)
                    else:
                        n_keys, lowest_rank, highest_rank = _keys_inside(columns, work, f, start, end, False)
                        n_inside = n_keys
                    constant = n_inside == 0 or (kind == TWO and n_inside == m)
                where = 0
                if kind != TWO and not constant:
                    keys = work.keys
                    if kind == DENSE:
                        ranks = columns.ranks[columns.slot[f]]
                        lowest_rank = np.int64(0x7FFFFFFF)
                        highest_rank = np.int64(-1)
                        if mode == _MASKED:
                            rest = word
                            while rest != 0:
                                i = rows[word_start + lowest(rest)]
                                rest &= rest - np.uint64(1)
                                rank = np.int64(ranks[sample.row[i]])
                                lowest_rank = min(lowest_rank, rank)
                                highest_rank = max(highest_rank, rank)
                                keys[n_keys] = (rank << 32) | i
                                n_keys += 1
                        else:
                            for a in range(start, end):
                                i = rows[a]
                                rank = np.int64(ranks[sample.row[i]])
                                lowest_rank = min(lowest_rank, rank)
                                highest_rank = max(highest_rank, rank)
                                keys[n_keys] = (rank << 32) | i
                                n_keys += 1
                    else:
                        if mode == _MASKED:
                            lowest_rank = np.int64(0x7FFFFFFF)
                            highest_rank = np.int64(-1)
                            rest = inside
                            while rest != 0:
                                i = rows[word_start + lowest(rest)]
                                rest &= rest - np.uint64(1)
                                rank = _stored_rank(columns, sample.row[i], f)
                                lowest_rank = min(lowest_rank, rank)
                                highest_rank = max(highest_rank, rank)
                                keys[n_keys] = (rank << 32) | i
                                n_keys += 1
                        elif keeps_lists:
                            n_keys, lowest_rank, highest_rank = _keys_inside(
                                columns, work, f, start, end, True
                            )
                        if n_keys < m:
                            lowest_rank = min(lowest_rank, np.int64(columns.default[f]))
                            highest_rank = max(highest_rank, np.int64(columns.default[f]))
                    constant = lowest_rank == highest_rank or (
                        columns.close[f]
                        and not apart(columns.values, columns.value_start[f], lowest_rank, highest_rank)
                    )
                    if not constant:
                        n_ranks = columns.value_start[f + 1] - columns.value_start[f]
                        where = sort_keys(work.keys, work.spare, n_keys, n_ranks, work.histogram)
                if constant:
                    features[at] = features[n_total]
                    features[n_total] = f
                    n_found += 1
                    n_total += 1
                    continue
                n_left_to_draw -= 1
                features[at] = features[n_left_to_draw]
                features[n_left_to_draw] = f
                if judged:
                    continue
                if kind == TWO:
                    candidates, first, last = chosen_rows, 0, n_inside
                    if mode != _MASKED and keeps_lists:
                        candidates, first, last = work.list_row, work.begin[f], work.end[f]
                    if mode == _MASKED:
                        last = 0
                        rest = inside
                        while rest != 0:
                            chosen_rows[last] = rows[word_start + lowest(rest)]
                            last += 1
                            rest &= rest - np.uint64(1)
                    before_best = best[1]
                    in_two(
                        candidates,
                        first,
                        last,
                        weights,
                        sizes,
                        label_start,
                        labels,
                        counts,
                        t,
                        squares,
                        node_weight,
                        size,
                        min_leaf,
                        side,
                        present,
                        n_present,
                        n_labels,
                        single,
                        margin,
                        best,
                        chosen,
                        f,
                        columns.default[f] == 0,
                    )
                    if best[1] > before_best:
                        best_word = inside
                else:
                    before_best = best[1]
                    along(
                        work.keys if where == 0 else work.spare,
                        n_keys,
                        m - n_keys,
                        columns.default[f],
                        columns.values,
                        columns.value_start[f],
                        columns.close[f],
                        weights,
                        sizes,
                        label_start,
                        labels,
                        counts,
                        t,
                        squares,
                        node_weight,
                        size,
                        min_leaf,
                        side,
                        present,
                        n_present,
                        n_labels,
                        single,
                        margin,
                        best,
                        chosen,
                        f,
                    )
                    if best[1] > before_best:
                        best_word = nothing
            if mode == _MASKED:
                for j in range(n_present):
                    work.total_small[present[j]] = 0
            is_leaf = chosen[0] < 0
            if not is_leaf:
                w = float(node_weight)
                w_left = best[4]
                w_right = w - w_left
                improvement = (w / all_weight) * (impurity - (w_right / w * best[3]) - (w_left / w * best[2]))
                is_leaf = improvement + _EPSILON < min_decrease

        if is_leaf:
            tree.feature[node] = -1
            tree.left[node] = -1
            tree.right[node] = -1
            tree.threshold[node] = -2.0
            tree.leaf_start[node] = n_leaf_rows
            if mode == _MASKED:
                rest = word
                while rest != 0:
                    tree.leaf_rows[n_leaf_rows] = rows[word_start + lowest(rest)]
                    n_leaf_rows += 1
                    rest &= rest - np.uint64(1)
            else:
                for a in range(start, end):
                    tree.leaf_rows[n_leaf_rows] = rows[a]
                    n_leaf_rows += 1
            tree.leaf_end[node] = n_leaf_rows
            if mode == _SAVED:
                n_saved = stack[n_waiting, 9]
            continue

        f, low, high = chosen[0], chosen[1], chosen[2]
        value_start = columns.value_start[f]
        tree.feature[node] = f
        tree.threshold[node] = (
            float(columns.values[value_start + low]) / 2.0 + float(columns.values[value_start + high]) / 2.0
        )
        left_weight = np.int64(best[4])
        right_weight = node_weight - left_weight
        left_impurity, right_impurity = best[2], best[3]
        left_word = right_word = nothing
        middle = start
        n_saved_before = n_saved
        left_size = np.int64(0)
        if mode == _MASKED:
            if kinds[f] == DENSE:
                ranks = columns.ranks[columns.slot[f]]
                rest = word
                while rest != 0:
                    a = lowest(rest)
                    rest &= rest - np.uint64(1)
                    if ranks[sample.row[rows[word_start + a]]] <= low:
                        left_word |= np.uint64(1) << np.uint64(a)
            else:
                left_word = word & ~mask[f] if columns.default[f] <= low else nothing
                if kinds[f] == FEW:
                    rest = word & mask[f]
                    while rest != 0:
                        a = lowest(rest)
                        rest &= rest - np.uint64(1)
                        if _stored_rank(columns, sample.row[rows[word_start + a]], f) <= low:
                            left_word |= np.uint64(1) << np.uint64(a)
                elif columns.default[f] > low:
                    left_word = word & mask[f]
            right_word = word & ~left_word
            rest = left_word
            while rest != 0:
                left_size += sizes[rows[word_start + lowest(rest)]]
                rest &= rest - np.uint64(1)
            left_mode = right_mode = _MASKED
        else:
            middle = _part(columns, sample, work, f, low, start, end, keeps_lists)
            for a in range(start, middle):
                left_size += sizes[rows[a]]
            right_size = size - left_size
            n_left, n_right = middle - start, end - middle
            at_end = depth + 1 >= max_depth
            splits_left = n_left > WORD and not at_end and left_size >= min_split and left_impurity > _EPSILON
            splits_right = (
                n_right > WORD and not at_end and right_size >= min_split and right_impurity > _EPSILON
            )
            left_mode = _IN_PLACE if splits_left else _FRESH
            right_mode = _IN_PLACE if splits_right else _FRESH
            left_is_small = n_left <= n_right
            first, last = (start, middle) if left_is_small else (middle, end)
            small_splits = splits_left if left_is_small else splits_right
            large_splits = splits_right if left_is_small else splits_left
            if large_splits and not small_splits:
                if keeps_lists:
                    _drop(columns, sample, work, first, last)
                for a in range(first, last):
                    _add_labels(sample, rows[a], total, -1)
            elif small_splits:
                n_moved = _move(columns, sample, work, first, last) if keeps_lists else 0
                if large_splits:
                    right_mode = _SAVED
                if large_splits and not left_is_small:
                    for a in range(n_moved):
                        g = work.moved[a]
                        n_saved = _save(saved, n_saved, g, work.end[g], work.end_before[g])
                        work.end_before[g] = -1
                    for a in range(first, last):
                        _add_labels(sample, rows[a], total, -1)
                else:
                    if keeps_lists and large_splits:
                        for g in range(n_features):
                            if work.end[g] > work.begin[g]:
                                n_saved = _save(saved, n_saved, g, work.begin[g], work.end[g])
                    if keeps_lists:
                        for a in range(n_moved):
                            g = work.moved[a]
                            work.begin[g] = work.end[g]
                        for g in range(n_features):
                            if work.end_before[g] < 0:
                                work.begin[g] = work.end[g]
                            else:
                                work.end[g] = work.end_before[g]
                                work.end_before[g] = -1
                    total[:] = 0
                    for a in range(first, last):
                        _add_labels(sample, rows[a], total, 1)
        for which in range(2):
            # The left one comes last, so it is next.
            if which == 0:
                stack[n_waiting, 0], stack[n_waiting, 1] = middle, end
                stack[n_waiting, 3], stack[n_waiting, 6] = 0, right_mode
                stack[n_waiting, 7], stack[n_waiting, 8] = right_weight, size - left_size
                stack[n_waiting, 9] = n_saved_before
                work.impurity[n_waiting], work.word[n_waiting] = right_impurity, right_word
            else:
                stack[n_waiting, 0], stack[n_waiting, 1] = start, middle
                stack[n_waiting, 3], stack[n_waiting, 6] = 1, left_mode
                stack[n_waiting, 7], stack[n_waiting, 8] = left_weight, left_size
                stack[n_waiting, 9] = n_saved
                work.impurity[n_waiting], work.word[n_waiting] = left_impurity, left_word
            stack[n_waiting, 2], stack[n_waiting, 4], stack[n_waiting, 5] = node, n_total, depth + 1
            n_waiting += 1
    _clear_masks(work, n_touched)
    return n_nodes
