"""Slow, obvious twins of SURF, SURF*, MultiSURF, MultiSURF*, TuRF and VLS; see ``naive.py``."""

import math
from fractions import Fraction

import naive
import naive_mixed
import numpy as np

#: Ranker → thresholds of each row's own, far rows count, far rows count by similarity.
RULES = {
    "SURF": (False, False, False),
    "SURFStar": (False, True, False),
    "MultiSURF": (True, False, False),
    "MultiSURFStar": (True, True, True),
}


def moments(values):
    """Mean and variance of numbers."""
    mean = sum(values) * Fraction(1, len(values))
    return mean, sum((value - mean) ** 2 for value in values) * Fraction(1, len(values))


def zone(distance, mean, variance, tolerance):
    """−1 for near (below mean − deviation / 2), 1 for far (above mean + deviation / 2), 0 between.

    With Fractions no root is taken: |d − mean| > σ / 2 where 4 (d − mean)² > σ².
    """
    gap = distance - mean
    if isinstance(gap, Fraction) and isinstance(variance, Fraction):
        beyond = 4 * gap * gap > variance
    else:
        beyond = abs(gap) > math.sqrt(variance) / 2 + tolerance
    return 0 if not beyond else (-1 if gap < 0 else 1)


def zones(distances, per_row, skrebate, missing=False):
    """For each row, the numbers of its near rows and of its far rows.

    ``distances`` is a matrix as lists; a row's distance to itself is not looked at. skrebate's mean is over the
    whole square: the diagonal is 0, and where values are missing, so is the half above it.
    """
    n = len(distances)
    apart = [[distances[i][m] for m in range(n) if m != i] for i in range(n)]
    scale = max(max(row) for row in apart)
    tolerance = 1e-12 * scale if isinstance(scale, float) else 0
    everything = [d for row in apart for d in row]
    threshold = moments(everything + ([0] * n if skrebate else []))[0]
    if skrebate and missing:
        threshold = threshold * Fraction(1, 2)
    result = []
    for i in range(n):
        mean, variance = moments(apart[i]) if per_row else (threshold, Fraction(0))
        where = {m: zone(distances[i][m], mean, variance, tolerance) for m in range(n) if m != i}
        result.append(([m for m in where if where[m] == -1], [m for m in where if where[m] == 1]))
    return result


def too_near(distances, i, thresholds, margin):
    """Whether any other row is as far from row i as one of the thresholds, give or take the margin."""
    others = [d for m, d in enumerate(distances) if m != i]
    return any(abs(d - threshold) <= margin for d in others for threshold in thresholds)


def class_factors(members, own, sizes, n, skrebate):
    """What the mean over each class in a zone is multiplied by; ``members`` are rows by class, none empty."""
    misses = sum(len(rows) for c, rows in members.items() if c != own)
    factors = {}
    for c, rows in members.items():
        if c == own:
            factors[c] = Fraction(-1)
        elif skrebate:  # its share of the misses, squared, times the number of other classes
            factors[c] = Fraction(len(rows), misses) ** 2 * (len(sizes) - 1)
        else:
            factors[c] = Fraction(sizes[c], n - sizes[own])
    return factors


def pair_weights(i, near, far, y, far_counts, skrebate):
    """How much the difference to each other row counts in what row i adds to the weights."""
    sizes = {c: y.count(c) for c in sorted(set(y))}
    result = [0] * len(y)
    for rows, sign in ((near, 1), (far if far_counts else [], -1)):
        members = {c: [m for m in rows if y[m] == c] for c in sizes}
        members = {c: found for c, found in members.items() if found}
        for c, factor in class_factors(members, y[i], sizes, len(y), skrebate).items():
            for m in members[c]:
                result[m] = sign * factor / len(members[c])
    return result


def weighted_differences(z, pairs):
    """Per column, the sum over pairs of rows (as numbers i, m) of their weight times their difference."""
    return [sum(w * abs(z[i][j] - z[m][j]) for (i, m), w in pairs.items()) for j in range(len(z[0]))]


def weights(name, X, y, discrete=None, exact=False, embedded=None, metric="manhattan", skrebate=False):
    """Weights by one of the :data:`RULES`; values may be missing.

    Parameters are those of ``naive_mixed.relieff``; ``embedded`` and ``metric`` as in ``naive.relieff``.
    """
    per_row, far_counts, similarity = RULES[name]
    rows = naive_mixed.table(X, exact)
    n, p = len(rows), len(rows[0])
    discrete = [False] * p if discrete is None else list(discrete)
    z, y = naive_mixed.prepared(rows, discrete), list(np.asarray(y).tolist())
    if embedded is None:
        distances = [[naive_mixed.distance(a, b, discrete) for b in z] for a in z]
    else:
        space = naive.table(embedded)
        distances = [[naive.METRICS[metric](a, b) for b in space] for a in space]
    sizes = {c: y.count(c) for c in sorted(set(y))}
    missing = any(value is None for row in rows for value in row)
    total = [0] * p
    for i, (near, far) in enumerate(zones(distances, per_row, skrebate, missing)):
        for j in range(p):
            for listed, is_far in ((near, False), (far if far_counts else [], True)):
                known = dict(naive_mixed.counted(z, i, listed, j, discrete, False))
                members = {c: [place for place in known if y[listed[place]] == c] for c in sizes}
                members = {c: places for c, places in members.items() if places}
                for c, factor in class_factors(members, y[i], sizes, n, skrebate).items():
                    mean = sum(known[place] for place in members[c]) * Fraction(1, len(members[c]))
                    if is_far:
                        mean = 1 - mean if similarity else -mean
                    total[j] += factor * mean
    return np.array([float(w) / n for w in total])


def relieff_as_skrebate(X, y, k, discrete=None, exact=False):
    """ReliefF with the neighbours and the class factors of skrebate; its distances for one kind of column only.

    A row is the last of its own neighbours: a hit without a difference where its class has no more than k rows.
    """
    rows = naive_mixed.table(X, exact)
    n, p = len(rows), len(rows[0])
    discrete = [False] * p if discrete is None else list(discrete)
    z, y = naive_mixed.prepared(rows, discrete), list(np.asarray(y).tolist())
    sizes = {c: y.count(c) for c in sorted(set(y))}
    total = [0] * p
    for i in range(n):
        near = {}
        for c in sizes:
            near[c] = naive_mixed.nearest(i, [row for row in range(n) if y[row] == c], z, discrete, k)
        near[y[i]] = [*near[y[i]], i][:k]
        for j in range(p):
            gaps = {
                c: [gap for _, gap in naive_mixed.counted(z, i, near[c], j, discrete, False)] for c in sizes
            }
            gaps = {c: found for c, found in gaps.items() if found}
            for c, factor in class_factors(gaps, y[i], sizes, n, True).items():
                total[j] += factor * sum(gaps[c]) * Fraction(1, len(gaps[c]))
    return np.array([float(w) / n for w in total])


def turf(weigh, p, removed, n_final):
    """TuRF: weigh, drop the ``removed`` worst columns, weigh the others, until ``n_final`` or fewer are left.

    ``weigh`` maps column numbers to their weights. Returns the columns, best first.
    """
    left, tail = list(range(p)), []
    while True:
        found = dict(zip(left, weigh(left), strict=True))
        order = sorted(left, key=lambda j: (-found[j], j))
        if len(left) <= n_final:
            return order + tail
        keep = max(n_final, len(left) - removed)
        tail = order[keep:] + tail
        left = sorted(order[:keep])


def vls(weigh, subsets, p):
    """VLS: the largest weight a column has in any of the subsets it is in."""
    best = [-math.inf] * p
    for subset in subsets:
        for j, w in zip(subset, weigh(subset), strict=True):
            best[j] = max(best[j], w)
    return best
