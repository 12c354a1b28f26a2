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

``best`` holds the cheap objective, scikit-learn's, the impurities left and right, and the weight on the left;
``chosen`` the feature (-1: none), and the ranks of the values below and above the threshold.
"""

from __future__ import annotations

import numpy as np

from experiments.learners.kernels import inner_kernel

#: Bits of a key that are the row; the rank of its value lies above.
ROW = 0xFFFFFFFF


@inner_kernel
def impurities(t, r, present, n_present, weight, side, n_labels):
    """Return the Gini impurity of a side with label counts ``r`` and weight ``side``, and that of the other."""
    other = weight - side
    side_squared = float(side) * float(side)
    other_squared = float(other) * float(other)
    of_side = 0.0
    of_other = 0.0
    for j in range(n_present):
        k = present[j]
        n_with = np.int64(r[k])
        n_without = side - n_with
        if n_with > 0 and n_without > 0:
            squares = n_without * n_without + n_with * n_with
            of_side += 1.0 - float(squares) / side_squared
        n_with = np.int64(t[k]) - n_with
        n_without = other - n_with
        if n_with > 0 and n_without > 0:
            squares = n_without * n_without + n_with * n_with
            of_other += 1.0 - float(squares) / other_squared
    return of_side / n_labels, of_other / n_labels


@inner_kernel
def offer(best, chosen, of_side, of_other, side, other, on_right, equal_wins, cheap, feature, low, high):
    """Take a split when it is better than the best so far; return whether it was taken."""
    if on_right:
        value = -(float(side) * of_side) - float(other) * of_other
    else:
        value = -(float(other) * of_other) - float(side) * of_side
    if value > best[1] or (equal_wins and value == best[1]):
        best[0] = cheap
        best[1] = value
        if on_right:
            best[2] = of_other
            best[3] = of_side
            best[4] = other
        else:
            best[2] = of_side
            best[3] = of_other
            best[4] = side
        chosen[0] = feature
        chosen[1] = low
        chosen[2] = high
        return True
    return False


@inner_kernel
def judge(
    best,
    chosen,
    margin,
    t,
    r,
    present,
    n_present,
    n_labels,
    single,
    weight,
    side,
    squares_side,
    squares_other,
    on_right,
    equal_wins,
    feature,
    low,
    high,
):
    """Judge the split off of a side with label counts ``r``; return whether it was taken."""
    other = weight - side
    product = float(side) * float(other)
    cheap = float(squares_side) * float(other) + float(squares_other) * float(side)
    if cheap < (best[0] - margin) * product:
        return False
    if single:
        of_side = 1.0 - float(squares_side) / (float(side) * float(side))
        of_other = 1.0 - float(squares_other) / (float(other) * float(other))
    else:
        of_side, of_other = impurities(t, r, present, n_present, weight, side, n_labels)
    return offer(
        best,
        chosen,
        of_side,
        of_other,
        side,
        other,
        on_right,
        equal_wins,
        cheap / product,
        feature,
        low,
        high,
    )


@inner_kernel
def in_two(
    rows,
    first,
    last,
    weights,
    sizes,
    label_start,
    labels,
    counts,
    t,
    squares,
    weight,
    size,
    min_leaf,
    r,
    present,
    n_present,
    n_labels,
    single,
    margin,
    best,
    chosen,
    feature,
    on_right,
):
    """Judge the one split of a feature of two values, of which ``rows[first:last]`` have the rarer one."""
    side = np.int64(0)
    n_side = np.int64(0)
    own = np.int64(0)  # |r|²
    shared = np.int64(0)  # t · r
    for a in range(first, last):
        i = rows[a]
        side += weights[i]
        n_side += sizes[i]
        for q in range(label_start[i], label_start[i + 1]):
            k = labels[q]
            c = np.int64(counts[q])
            before = np.int64(r[k])
            own += c * (2 * before + c)
            shared += c * t[k]
            r[k] = before + c
    if n_side >= min_leaf and size - n_side >= min_leaf:
        judge(
            best,
            chosen,
            margin,
            t,
            r,
            present,
            n_present,
            n_labels,
            single,
            weight,
            side,
            own,
            squares - 2 * shared + own,
            on_right,
            False,
            feature,
            0,
            1,
        )
    for a in range(first, last):
        i = rows[a]
        for q in range(label_start[i], label_start[i + 1]):
            r[labels[q]] = 0


@inner_kernel
def apart(values, start, low, high):
    """Whether scikit-learn takes the values of two ranks as different: in 32 bits, as it does."""
    return values[start + high] > np.float32(values[start + low] + np.float32(1e-7))


@inner_kernel
def along(
    keys,
    n_keys,
    n_default,
    default,
    values,
    value_start,
    close,
    weights,
    sizes,
    label_start,
    labels,
    counts,
    t,
    squares,
    weight,
    size,
    min_leaf,
    r,
    present,
    n_present,
    n_labels,
    single,
    margin,
    best,
    chosen,
    feature,
):
    """Judge all splits of a feature of which most rows have the value of rank ``default``.

    ``keys`` are the other rows, sorted by rank. Those below the default are walked upwards, those above it
    downwards, so that the default's rows are never looked at. Of splits that are equally good the lowest wins.
    """
    n_below = 0
    while n_below < n_keys and (keys[n_below] >> 32) < default:
        n_below += 1
    for upwards in (True, False):
        taken = False
        side = np.int64(0)
        n_side = np.int64(0)
        own = np.int64(0)
        shared = np.int64(0)
        a, step, n_steps = (0, 1, n_below) if upwards else (n_keys - 1, -1, n_keys - n_below)
        for s in range(n_steps):
            key = keys[a]
            i = key & ROW
            here = key >> 32
            side += weights[i]
            n_side += sizes[i]
            for q in range(label_start[i], label_start[i + 1]):
                k = labels[q]
                c = np.int64(counts[q])
                before = np.int64(r[k])
                own += c * (2 * before + c)
                shared += c * t[k]
                r[k] = before + c
            a += step
            if s + 1 < n_steps:
                there = keys[a] >> 32
            elif n_default > 0:
                there = default
            elif not upwards and n_below > 0:
                there = keys[a] >> 32
            else:
                break  # all rows are on this side, or the other walk judges this split
            if there == here or n_side < min_leaf or size - n_side < min_leaf:
                continue
            low, high = (here, there) if upwards else (there, here)
            if close and not apart(values, value_start, low, high):
                continue
            if judge(
                best,
                chosen,
                margin,
                t,
                r,
                present,
                n_present,
                n_labels,
                single,
                weight,
                side,
                own,
                squares - 2 * shared + own,
                not upwards,
                taken,
                feature,
                low,
                high,
            ):
                taken = taken or not upwards
        for s in range(n_keys):
            if (s < n_below) == upwards:
                i = keys[s] & ROW
                for q in range(label_start[i], label_start[i + 1]):
                    r[labels[q]] = 0


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
