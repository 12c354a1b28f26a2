"""Splits of a node by one feature, each judged as scikit-learn judges it.

Sums of weights are whole numbers and so exact in any order; only the Gini terms are rounded. Two numbers follow
from the counts of labels: |l|² / w_left + |r|² / w_right, which needs no pass over the labels, and scikit-learn's
own objective, rounded in its order of operations. They differ by no more than a margin, so that a split that stays
behind the best by more than that is passed over, and only the others are judged by scikit-learn's.

The margin: with u the unit roundoff, each of L Gini terms is at most 1/2 and off by 1.5 u, and their running sum by
u L / 2 at each of L additions. Divided by L and times the weight W, the objective is off by W u (L / 2 + 6) at
most, and twice that when two are compared. The cheap number is the objective times L / 2, up to a constant, so the
margin is W L u (L / 2 + 6), doubled to be safe, with 16 in the place of 6 for the rounding of the cheap number.

A label that no row of a side has, or every row, adds a term of exactly 0 to the side's impurity and is left out.

``best`` holds the best split so far: the cheap objective, scikit-learn's, the impurities left and right, the weight
on the left, the feature (-1: none), and the ranks of the values below and above the threshold. ``total`` holds the
weight with each label in the node, and on the side that is being judged.
"""

from __future__ import annotations

import numpy as np

from experiments.learners.kernels import inner_kernel
from experiments.learners.kernels.layout import (
    CHEAP,
    CHOSEN,
    FIRST,
    HIGH,
    IMPURITY_LEFT,
    IMPURITY_RIGHT,
    LAST,
    LOW,
    ROW,
    SIZE,
    VALUE,
    WEIGHT,
    WEIGHT_LEFT,
)


@inner_kernel
def impurities(total, present, node, side):
    """Return the Gini impurity of the side that is judged, which has weight ``side``, and that of the other."""
    other = node.weight - side
    side_squared = float(side) * float(side)
    other_squared = float(other) * float(other)
    of_side = 0.0
    of_other = 0.0
    for j in range(node.n_present):
        k = present[j]
        n_with = np.int64(total[k, 1])
        n_without = side - n_with
        if n_with > 0 and n_without > 0:
            squares = n_without * n_without + n_with * n_with
            of_side += 1.0 - float(squares) / side_squared
        n_with = np.int64(total[k, 0]) - n_with
        n_without = other - n_with
        if n_with > 0 and n_without > 0:
            squares = n_without * n_without + n_with * n_with
            of_other += 1.0 - float(squares) / other_squared
    return of_side / node.n_labels, of_other / node.n_labels


@inner_kernel
def is_behind(cheapest, node_weight, node_squares, margin, side, own, shared):
    """Whether a split stays behind the best so far, by its cheap objective."""
    side = float(side)
    other = float(node_weight) - side
    squares_other = float(node_squares - 2 * shared + own)
    return float(own) * other + squares_other * side < (cheapest - margin) * (side * other)


@inner_kernel
def judge(best, total, present, node, side, own, shared, on_right, equal_wins, feature, low, high):
    """Take a split when scikit-learn's objective is better than the best so far.

    Parameters
    ----------
    side : int
        Weight of the side that is judged.
    own, shared : int
        |r|² of its label counts r, and t · r with those of the node.
    on_right : bool
        Whether it is the right side.
    equal_wins : bool
        Whether to take a split that is as good.
    feature, low, high : int
        The feature, and the ranks of the values on both sides of the threshold.

    Returns
    -------
    bool
        Whether it was taken.
    """
    other = node.weight - side
    squares_other = node.squares - 2 * shared + own
    if node.single:
        of_side = 1.0 - float(own) / (float(side) * float(side))
        of_other = 1.0 - float(squares_other) / (float(other) * float(other))
    else:
        of_side, of_other = impurities(total, present, node, side)
    if on_right:
        value = -(float(side) * of_side) - float(other) * of_other
    else:
        value = -(float(other) * of_other) - float(side) * of_side
    if not (value > best[VALUE] or (equal_wins and value == best[VALUE])):
        return False
    best[CHEAP] = float(own) / float(side) + float(squares_other) / float(other)
    best[VALUE] = value
    best[IMPURITY_LEFT] = of_other if on_right else of_side
    best[IMPURITY_RIGHT] = of_side if on_right else of_other
    best[WEIGHT_LEFT] = other if on_right else side
    best[CHOSEN] = feature
    best[LOW] = low
    best[HIGH] = high
    return True


@inner_kernel
def in_two(rows, n_side, about, pairs, total, present, node, best, feature, on_right):
    """Judge the one split of a feature of two values, of which ``rows[:n_side]`` have the rarer one."""
    side = np.int64(0)
    size = np.int64(0)
    own = np.int64(0)
    shared = np.int64(0)
    for a in range(n_side):
        i = rows[a]
        side += about[i, WEIGHT]
        size += about[i, SIZE]
        for q in range(about[i, FIRST], about[i, LAST]):
            k = pairs[q, 0]
            c = np.int64(pairs[q, 1])
            before = np.int64(total[k, 1])
            own += c * (2 * before + c)
            shared += c * total[k, 0]
            total[k, 1] = before + c
    taken = False
    if size >= node.min_leaf and node.size - size >= node.min_leaf:
        if not is_behind(best[CHEAP], node.weight, node.squares, node.margin, side, own, shared):
            taken = judge(best, total, present, node, side, own, shared, on_right, False, feature, 0, 1)
    for a in range(n_side):
        i = rows[a]
        for q in range(about[i, FIRST], about[i, LAST]):
            total[pairs[q, 0], 1] = 0
    return taken


@inner_kernel
def apart(values, start, low, high):
    """Whether scikit-learn takes the values of two ranks as different: in 32 bits, as it does."""
    return values[start + high] > np.float32(values[start + low] + np.float32(1e-7))


@inner_kernel
def along(
    keys, n_keys, default, values, value_start, close, about, pairs, total, present, node, best, feature
):
    """Judge all splits of a feature of which most rows may have the value of rank ``default``.

    ``keys`` are the other rows, sorted by rank. Those below the default are walked upwards, those above it
    downwards, so that the default's rows are never looked at. Of splits that are equally good the lowest wins.
    """
    n_default = node.n_groups - n_keys
    n_below = 0
    while n_below < n_keys and (keys[n_below] >> 32) < default:
        n_below += 1
    for walk in range(2):
        upwards = walk == 0
        taken = False
        side = np.int64(0)
        size = np.int64(0)
        own = np.int64(0)
        shared = np.int64(0)
        a, step, n_steps = (0, 1, n_below) if upwards else (n_keys - 1, -1, n_keys - n_below)
        for s in range(n_steps):
            i = keys[a] & ROW
            here = keys[a] >> 32
            side += about[i, WEIGHT]
            size += about[i, SIZE]
            for q in range(about[i, FIRST], about[i, LAST]):
                k = pairs[q, 0]
                c = np.int64(pairs[q, 1])
                before = np.int64(total[k, 1])
                own += c * (2 * before + c)
                shared += c * total[k, 0]
                total[k, 1] = before + c
            a += step
            if s + 1 < n_steps:
                there = keys[a] >> 32
            elif n_default > 0:
                there = np.int64(default)
            elif not upwards and n_below > 0:
                there = keys[a] >> 32
            else:
                break  # all rows are on this side, or the other walk judges this split
            if there == here or size < node.min_leaf or node.size - size < node.min_leaf:
                continue
            low, high = (here, there) if upwards else (there, here)
            if close and not apart(values, value_start, low, high):
                continue
            if is_behind(best[CHEAP], node.weight, node.squares, node.margin, side, own, shared):
                continue
            if judge(best, total, present, node, side, own, shared, not upwards, taken, feature, low, high):
                taken = taken or not upwards
        first, last = (0, n_below) if upwards else (n_below, n_keys)
        if node.n_present <= last - first:
            for j in range(node.n_present):
                total[present[j], 1] = 0
            continue
        for s in range(first, last):
            i = keys[s] & ROW
            for q in range(about[i, FIRST], about[i, LAST]):
                total[pairs[q, 0], 1] = 0


@inner_kernel
def sort_keys(keys, spare, n, n_ranks, histogram):
    """Sort ``keys[:n]`` by rank; return the array that holds them afterwards, ``keys`` or ``spare``, as 0 or 1."""
    if n <= 40:
        for s in range(1, n):
            key = keys[s]
            a = s - 1
            while a >= 0 and keys[a] > key:
                keys[a + 1] = keys[a]
                a -= 1
            keys[a + 1] = key
        return 0
    n_bits = 1
    while (n_ranks - 1) >> n_bits > 0:
        n_bits += 1
    n_passes = 1
    while (n_bits + n_passes - 1) // n_passes > 9:
        n_passes += 1
    width = (n_bits + n_passes - 1) // n_passes
    n_buckets = 1 << width
    where = 0
    shift = 32
    for _ in range(n_passes):
        source, target = (keys, spare) if where == 0 else (spare, keys)
        histogram[:n_buckets] = 0
        for a in range(n):
            histogram[(source[a] >> shift) & (n_buckets - 1)] += 1
        total = 0
        for b in range(n_buckets):
            count = histogram[b]
            histogram[b] = total
            total += count
        for a in range(n):
            key = source[a]
            b = (key >> shift) & (n_buckets - 1)
            target[histogram[b]] = key
            histogram[b] += 1
        where = 1 - where
        shift += width
    return where
