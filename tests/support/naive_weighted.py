"""Slow, obvious twins of rankers whose rows do not count the same; see ``naive.py``.

A row's update is multiplied by its weight, the sum is divided by the sum of the weights, and P(q) is the share of
class q in the weights of all rows. Ranges, neighbours and thresholds do not look at weights.
"""

from fractions import Fraction

import naive
import naive_mixed
import naive_thresholds
import numpy as np


def shares(y, sample_weight):
    """Weight of each class."""
    return {c: sum(w for w, each in zip(sample_weight, y, strict=True) if each == c) for c in sorted(set(y))}


def factor(c, own, of_class):
    """What the mean difference to the neighbours of class c is multiplied by, for a row of class ``own``."""
    return -1 if c == own else Fraction(of_class[c], sum(of_class.values()) - of_class[own])


def relieff(X, y, sample_weight, k, abs_mean=False, rows=None, discrete=None):
    """ReliefF, where values may be missing; weights of rows are whole numbers."""
    table = naive_mixed.table(X, exact=True)
    discrete = [False] * len(table[0]) if discrete is None else list(discrete)
    z, y = naive_mixed.prepared(table, discrete), list(np.asarray(y).tolist())
    of_class, rows = shares(y, sample_weight), range(len(y)) if rows is None else rows
    weights = [Fraction(0)] * len(z[0])
    for i in rows:
        for c in of_class:
            near = naive_mixed.nearest(i, [row for row in range(len(y)) if y[row] == c], z, discrete, k)
            for j, mean in enumerate(naive_mixed.class_means(z, i, near, discrete, abs_mean)):
                if mean is not None:
                    weights[j] += sample_weight[i] * factor(c, y[i], of_class) * mean
    return np.array([float(w / sum(sample_weight[i] for i in rows)) for w in weights])


def rrelieff(X, y, sample_weight, k, sigma=20.0):
    """RReliefF: each row's influence is multiplied by its weight."""
    z = naive.normalised(naive.table(X))
    extent = max(y) - min(y)
    n_dc, m, n_da, n_dcda = 0.0, 0.0, [0.0] * len(z[0]), [0.0] * len(z[0])
    for i in range(len(z)):
        near = naive.nearest(i, range(len(z)), z, k)
        for share, row in zip(naive_mixed.influences(len(near), sigma), near, strict=True):
            d, t = share * sample_weight[i], abs(y[i] - y[row]) / extent
            n_dc += d * t
            m += d
            for j in range(len(z[0])):
                n_da[j] += d * abs(z[i][j] - z[row][j])
                n_dcda[j] += d * t * abs(z[i][j] - z[row][j])
    return np.array([both / n_dc - (a - both) / (m - n_dc) for both, a in zip(n_dcda, n_da, strict=True)])


def by_thresholds(name, X, y, sample_weight, discrete=None):
    """SURF and its kin, where values may be missing."""
    per_row, far_counts, similarity = naive_thresholds.RULES[name]
    table = naive_mixed.table(X, exact=True)
    discrete = [False] * len(table[0]) if discrete is None else list(discrete)
    z, y = naive_mixed.prepared(table, discrete), list(np.asarray(y).tolist())
    distances = [[naive_mixed.distance(a, b, discrete) for b in z] for a in z]
    of_class = shares(y, sample_weight)
    weights = [Fraction(0)] * len(z[0])
    for i, (near, far) in enumerate(naive_thresholds.zones(distances, per_row, False)):
        for j in range(len(z[0])):
            for rows, is_far in ((near, False), (far if far_counts else [], True)):
                for c in of_class:
                    gaps = [
                        gap
                        for place, gap in naive_mixed.counted(z, i, rows, j, discrete, False)
                        if y[rows[place]] == c
                    ]
                    if not gaps:
                        continue
                    mean = Fraction(sum(gaps), len(gaps))
                    if is_far:
                        mean = 1 - mean if similarity else -mean
                    weights[j] += sample_weight[i] * factor(c, y[i], of_class) * mean
    return np.array([float(w / sum(sample_weight)) for w in weights])
