"""Weights of one column whose values are permuted, while the other columns and the target stay.

The distance of two rows changes by what the column adds to it, and by nothing else. Distances are sums of
multiples of a power of two (:func:`reliefe.packed.rounding`), so that subtracting one difference and adding
another one is exact. Neighbours are then those of a fit on the changed columns, and only the weight of this
column is summed up.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel
from reliefe.kernels.mixed import CLASSES, LABEL_SETS
from reliefe.kernels.neighbours import nearest_first, nearest_per_class

#: Ways of choosing neighbours besides a number of them: by each row's own threshold, by one threshold for
#: all.
PER_ROW, COMMON = -1, -2

_ROWS = 16  # whose distances are there at a time


@kernel(fastmath={"reassoc"})  # sums in another order decide nothing: see the tolerance of a threshold
def _measure(distances, known, n_columns, place, before, after, full, guess, out):
    """Fill ``out`` (n,) with a row's distances after the change; return mean and deviation without itself."""
    n = out.shape[0]
    old = before[place]
    new = after[place]
    total = 0.0
    squares = 0.0
    if known.shape[0] < n:
        for m in range(n):
            away = abs(old - before[m])
            near = abs(new - after[m])
            d = distances[m] - (away if away <= full else 1.0) + (near if near <= full else 1.0)
            out[m] = d
            total += d - guess
            squares += (d - guess) * (d - guess)
    else:
        for m in range(n):
            away = abs(old - before[m])
            near = abs(new - after[m])
            lost = away == away
            won = near == near
            d = distances[m] - ((away if away <= full else 1.0) if lost else 0.0)
            d += (near if near <= full else 1.0) if won else 0.0
            count = known[m] - (1.0 if lost else 0.0) + (1.0 if won else 0.0)
            if count < n_columns:
                d = d * (n_columns / count) if count > 0.0 else n_columns
            out[m] = d
            total += d - guess
            squares += (d - guess) * (d - guess)
    own = out[place] - guess
    mean = (total - own) / (n - 1)
    variance = (squares - own * own) / (n - 1) - mean * mean
    return guess + mean, np.sqrt(max(variance, 0.0))


@kernel(fastmath={"reassoc"})
def _zone(distances, values, own, full, low, high, lo, hi):
    """Count the known differences to near and to far rows of a class, and add them up."""
    near = 0.0
    near_sum = 0.0
    far = 0.0
    far_sum = 0.0
    row = distances[lo:hi]
    others = values[lo:hi]
    for m in range(hi - lo):
        gap = abs(own - others[m])
        size = gap if gap <= full else 1.0
        is_near = row[m] < low and gap == gap
        is_far = row[m] > high and gap == gap
        near += 1.0 if is_near else 0.0
        near_sum += size if is_near else 0.0
        far += 1.0 if is_far else 0.0
        far_sum += size if is_far else 0.0
    return near, near_sum, far, far_sum


@kernel(fastmath={"reassoc"})
def _near(distances, values, targets, own, full, low):
    """Count near rows; of known ones, add up 1 − t, t, differences, and differences times t."""
    count = 0.0
    hits = 0.0
    misses = 0.0
    plain = 0.0
    weighted = 0.0
    for m in range(distances.shape[0]):
        gap = abs(own - values[m])
        size = gap if gap <= full else 1.0
        near = distances[m] < low
        ok = near and gap == gap
        t = targets[m]
        count += 1.0 if near else 0.0
        hits += 1.0 - t if ok else 0.0
        misses += t if ok else 0.0
        plain += size if ok else 0.0
        weighted += t * size if ok else 0.0
    return count, hits, misses, plain, weighted


@kernel()
def _add(kind, influence, hits, misses, plain, weighted, sums):
    """Add what the neighbours of a row say to ``sums``, as :func:`reliefe.kernels.mixed._added`."""
    both = abs(weighted)
    if kind == LABEL_SETS:
        if misses > 0.0:
            sums[0] += both / misses
        if hits > 0.0:
            sums[0] -= (abs(plain) - both) / hits
    else:
        sums[0] += influence * both
        sums[1] += influence * (abs(plain) - both)
        sums[2] += influence * misses
        sums[3] += influence * hits


@kernel()
def _add_listed(kind, neighbours, count, values, targets, own, full, signed, falling, coefficient, sums):
    """Add what the listed neighbours of a row say to ``sums``."""
    hits = 0.0
    misses = 0.0
    plain = 0.0
    weighted = 0.0
    whole = 0.0
    for t in range(count):
        other = neighbours[t]
        gap = own - values[other]
        influence = falling[t] if falling.shape[0] > 0 else 1.0
        whole += influence
        if gap != gap:
            continue
        size = abs(gap)
        size = size if size <= full else 1.0
        difference = influence * (gap if signed else size)
        target = 0.0 if kind == CLASSES else targets[other]
        hits += influence * (1.0 - target)
        misses += influence * target
        plain += difference
        weighted += target * difference
    if kind == CLASSES:
        if hits > 0.0:
            sums[0] += coefficient * (abs(plain) / hits)
    else:
        _add(kind, 1.0 / whole if whole > 0.0 else 0.0, hits, misses, plain, weighted, sums)


@kernel()
def permuted_weights(
    distances,
    known,
    n_columns,
    means,
    values,
    rounded,
    full,
    orders,
    members,
    class_ptr,
    segment_ptr,
    places,
    k,
    tolerance,
    relative,
    far,
    similar,
    kind,
    abs_mean,
    coefficients,
    targets,
    falling,
    observed,
    slack,
    tie,
    wanted,
    out,
):
    """Weights of a column under one permutation after the other, until enough of them are large.

    Parameters
    ----------
    distances : float64 array of shape (n, n)
        Sums of differences over all columns, by place: exact sums of multiples of a power of two.
    known : float64 array of shape (n, n) or (n, 0)
        Number of columns known in both rows; empty where nothing is missing.
    n_columns : int
        p.
    means : float64 array of shape (n,)
        About the mean distance of each place, from which deviations are taken.
    values, rounded : float64 arrays of shape (n,)
        The column by row number, and rounded as in ``distances``.
    full : float
        A difference above it counts as 1: 0 for codes, 1 for others.
    orders : int64 array of shape (b, n)
        Which row's value each row gets.
    members, class_ptr, segment_ptr : int64 arrays
        As in :class:`reliefe.distances.Groups`; a place is a position in ``members``.
    places : int64 array of shape (s,)
        Rows that are updated from.
    k : int
        Neighbours per class, 0 for the adaptive number, or :data:`PER_ROW` or :data:`COMMON` for thresholds.
    tolerance : float
        Distances this close are a tie.
    relative : float
        Share of a threshold within which a distance is equal to it.
    far, similar : bool
        Whether far rows count, and by 1 − difference.
    kind : int
        As in :func:`reliefe.kernels.mixed.update_dense`.
    abs_mean : bool
        As there.
    coefficients : float64 array of shape (n, c)
        By place: what the mean difference to each class counts. Not looked at without classes.
    targets : float64 array of shape (n, n) or (1, n)
        Target distances by place; not looked at with classes.
    falling : float64 array of shape (k,) or (0,)
        Influence of a neighbour by its rank; none where all have the same.
    observed, slack, tie : float
        A weight is large from ``observed`` less ``slack``, or less ``tie`` times its own size, if that is
        more.
    wanted : int
        After so many large weights the rest is left out.
    out : float64 array of shape (b,)
        The weights.

    Returns
    -------
    done, larger : int
        Number of weights in ``out``, and how many of them are large.
    """
    n = members.shape[0]
    n_classes = class_ptr.shape[0] - 1
    signed = abs_mean and full > 0.0
    before = np.empty(n)
    after = np.empty(n)
    column = np.empty(n)
    itself = np.arange(n)
    block = np.empty((min(_ROWS, places.shape[0]), n))
    near = np.empty((block.shape[0], segment_ptr[n_classes]), dtype=np.int32)
    counts = np.empty((block.shape[0], n_classes), dtype=np.int64)
    guesses = np.full((n_classes, 2), 10.0)
    positions = np.empty(block.shape[0], dtype=np.int64)
    sums = np.empty(4)
    larger = np.int64(0)
    nothing = targets[0]
    for m in range(n):
        before[m] = rounded[members[m]]
    for o in range(orders.shape[0]):
        for m in range(n):
            source = orders[o, members[m]]
            column[m] = values[source]
            after[m] = rounded[source]
        sums[:] = 0.0
        middle = 0.0
        if k == COMMON:
            for i in range(n):
                middle += _measure(
                    distances[i], known[i], n_columns, i, before, after, full, means[i], block[0]
                )[0]
            middle /= n
        for first in range(0, places.shape[0], block.shape[0]):
            size = min(block.shape[0], places.shape[0] - first)
            for r in range(size):
                i = places[first + r]
                positions[r] = i
                mean, deviation = _measure(
                    distances[i], known[i], n_columns, i, before, after, full, means[i], block[r]
                )
                if k >= 0:
                    continue
                if k == COMMON:
                    mean = middle
                    deviation = 0.0
                margin = 0.5 * deviation + 3.0 * tolerance + relative * mean
                block[r, i] = mean  # neither near nor far
                if kind != CLASSES:
                    count, hits, misses, plain, weighted = _near(
                        block[r], column, targets[i], column[i], full, mean - margin
                    )
                    _add(kind, 1.0 / count if count > 0.0 else 0.0, hits, misses, plain, weighted, sums)
                    continue
                for q in range(n_classes):
                    hits, plain, beyond, beyond_sum = _zone(
                        block[r],
                        column,
                        column[i],
                        full,
                        mean - margin,
                        mean + margin,
                        class_ptr[q],
                        class_ptr[q + 1],
                    )
                    if hits > 0.0:
                        sums[0] += coefficients[i, q] * (plain / hits)
                    if far and beyond > 0.0:
                        sums[0] += coefficients[i, q] * ((1.0 if similar else 0.0) - beyond_sum / beyond)
            if k < 0:
                continue
            nearest_per_class(
                block[:size],
                positions[:size],
                itself,
                class_ptr,
                segment_ptr,
                k,
                tolerance,
                np.inf,
                guesses,
                near[:size],
                counts[:size],
            )
            if falling.shape[0] > 0:
                nearest_first(block[:size], itself, segment_ptr, counts[:size], tolerance, near[:size])
            for r in range(size):
                i = positions[r]
                for q in range(n_classes):
                    listed = near[r, segment_ptr[q] : segment_ptr[q + 1]]
                    row = nothing if kind == CLASSES else targets[i]
                    coefficient = coefficients[i, q] if kind == CLASSES else 0.0
                    _add_listed(
                        kind,
                        listed,
                        counts[r, q],
                        column,
                        row,
                        column[i],
                        full,
                        signed,
                        falling,
                        coefficient,
                        sums,
                    )
        if kind == CLASSES or kind == LABEL_SETS:
            weight = sums[0] / places.shape[0]
        else:
            least = 1e-12 * places.shape[0]
            weight = sums[0] / sums[2] if sums[2] > least else 0.0
            weight -= sums[1] / sums[3] if sums[3] > least else 0.0
        out[o] = weight
        larger += np.int64(weight >= observed - max(slack, tie * abs(weight)))
        if larger == wanted:
            return o + 1, larger
    return orders.shape[0], larger
