"""Slow, obvious twins for missing values, discrete columns and numeric targets; see ``naive.py``.

A missing value is None. Nothing here is fast and nothing is shared with ``reliefe``.
"""

import math
from fractions import Fraction

import naive
import numpy as np
import scipy.sparse as sp


def table(X, exact=False):
    """Rows as lists of Fractions or floats, None where a value is missing."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)
    kind = Fraction if exact else float
    return [[None if math.isnan(v) else kind(v) for v in row] for row in X.tolist()]


def distinct(column):
    """How many different known values a column has."""
    return len({value for value in column if value is not None})


def prepared(rows, discrete):
    """Continuous columns divided by the range of their known values; discrete ones as they are."""
    result = [list(row) for row in rows]
    for j in range(len(rows[0])):
        known = [row[j] for row in rows if row[j] is not None]
        if discrete[j] or not known:
            continue
        low, high = min(known), max(known)
        for i, row in enumerate(rows):
            if row[j] is not None:
                result[i][j] = (row[j] - low) / (high - low) if high > low else low - low
    return result


def filled(z):
    """The median of a column's known values in place of each missing one; 0 where none is known."""
    medians = []
    for column in zip(*z, strict=True):
        known = sorted(value for value in column if value is not None)
        middle = len(known) // 2
        medians.append((known[middle] + known[-middle - 1]) / 2 if known else 0)
    return [[m if value is None else value for value, m in zip(row, medians, strict=True)] for row in z]


def difference(a, b, discrete):
    """None when a value is missing, 0 or 1 for categories, else how far apart the values are."""
    if a is None or b is None:
        return None
    return int(a != b) if discrete else abs(a - b)


def distance(a, b, discrete):
    """Sum of the differences over columns known in both, times p over their number; p when there are none."""
    differences = [difference(u, v, d) for u, v, d in zip(a, b, discrete, strict=True)]
    known = [each for each in differences if each is not None]
    return sum(known) * Fraction(len(a), len(known)) if known else len(a)


def nearest(i, candidates, space, discrete, k):
    """The k nearest rows, nearest first, ties to the lower row, i left out."""
    distances = {row: distance(space[i], space[row], discrete) for row in candidates if row != i}
    if not distances:
        return []
    tolerance = naive.tie_tolerance(distances.values())
    if k == "adaptive":
        k = naive.adaptive_k(sorted(distances.values()), tolerance)
    return naive.in_order(distances, tolerance)[:k]


def counted(z, i, neighbours, j, discrete, signed):
    """Which of the neighbours are known in column j, and their differences to row i."""
    result = []
    for place, row in enumerate(neighbours):
        if z[i][j] is not None and z[row][j] is not None:
            gap = (
                z[i][j] - z[row][j]
                if signed and not discrete[j]
                else difference(z[i][j], z[row][j], discrete[j])
            )
            result.append((place, gap))
    return result


def class_means(z, i, neighbours, discrete, abs_mean):
    """Per column, the mean difference to the neighbours known there (with abs_mean: to their mean), or None."""
    means = []
    for j in range(len(z[0])):
        known = counted(z, i, neighbours, j, discrete, abs_mean)
        means.append(abs(sum(gap for _, gap in known)) / len(known) if known else None)
    return means


def neighbours(i, candidates, z, discrete, k, embedded, metric):
    """As ``nearest``, in an embedding where there is one."""
    if embedded is None:
        return nearest(i, candidates, z, discrete, k)
    return naive.nearest(i, candidates, naive.table(embedded), k, metric)


def relieff(X, y, k=15, abs_mean=False, discrete=None, exact=False, embedded=None, metric=None):
    """ReliefF where values may be missing and columns discrete; weights and numbers of neighbours.

    With ``embedded`` it is ReliefE: neighbours are found there.
    """
    rows = table(X, exact)
    discrete = [False] * len(rows[0]) if discrete is None else list(discrete)
    z, y = prepared(rows, discrete), list(np.asarray(y).tolist())
    classes, n = sorted(set(y)), len(y)
    weights, used = [0] * len(z[0]), []
    for i in range(n):
        used.append([])
        for c in classes:
            candidates = [row for row in range(n) if y[row] == c]
            near = neighbours(i, candidates, z, discrete, k, embedded, metric)
            used[-1].append(len(near))
            factor = -1 if c == y[i] else Fraction(y.count(c), n - y.count(y[i]))
            for j, mean in enumerate(class_means(z, i, near, discrete, abs_mean)):
                if mean is not None:
                    weights[j] += factor * mean
    return np.array([float(w) / n for w in weights]), np.array(used)


def relieff_multilabel(
    X,
    T,
    k=15,
    abs_mean=False,
    target_distance="hamming",
    discrete=None,
    exact=False,
    embedded=None,
    metric=None,
):
    """As ``relieff`` with 0/1 labels: each column looks only at the neighbours known there."""
    rows = table(X, exact)
    discrete = [False] * len(rows[0]) if discrete is None else list(discrete)
    z, labels = prepared(rows, discrete), np.asarray(T).astype(int).tolist()
    weights = [0] * len(z[0])
    for i in range(len(z)):
        near = neighbours(i, range(len(z)), z, discrete, k, embedded, metric)
        t = [naive.SET_DISTANCES[target_distance](labels[i], labels[row]) for row in near]
        for j in range(len(z[0])):
            known = counted(z, i, near, j, discrete, abs_mean)
            if not known:
                continue
            mean_t = sum(t[place] for place, _ in known) / len(known)
            d = abs(sum(gap for _, gap in known) / len(known))
            td = abs(sum(t[place] * gap for place, gap in known) / len(known))
            weights[j] += td / mean_t if mean_t != 0 else 0
            weights[j] -= (d - td) / (1 - mean_t) if mean_t != 1 else 0
    return np.array([float(w) / len(z) for w in weights])


def influences(k, sigma):
    """d(i, j) of k neighbours: exp(−(rank / σ)²), normalised (Robnik-Šikonja and Kononenko, d and d1)."""
    falling = [1.0 if sigma is None else math.exp(-((rank / sigma) ** 2)) for rank in range(1, k + 1)]
    return [each / sum(falling) for each in falling]


def rrelieff(X, y, k=15, sigma=20.0, abs_mean=False, discrete=None, exact=False, embedded=None, metric=None):
    """RReliefF as published (Robnik-Šikonja and Kononenko 2003), with its N_dC, N_dA, N_dC&dA and m per column.

    Where nothing is missing all columns have the same N_dC and m. ``embedded``: neighbours are found there.
    """
    rows = table(X, exact)
    p = len(rows[0])
    discrete = [False] * p if discrete is None else list(discrete)
    z = prepared(rows, discrete)
    target = [float(value) for value in y]
    extent = max(target) - min(target)
    n_dc, n_da, n_dcda, m = [0.0] * p, [0.0] * p, [0.0] * p, [0.0] * p
    for i in range(len(z)):
        near = neighbours(i, range(len(z)), z, discrete, k, embedded, metric)
        shares = influences(len(near), sigma)
        t = [abs(target[i] - target[row]) / extent for row in near]
        for j in range(p):
            known = counted(z, i, near, j, discrete, abs_mean)
            n_dc[j] += sum(shares[place] * t[place] for place, _ in known)
            n_da[j] += abs(sum(shares[place] * float(gap) for place, gap in known))
            n_dcda[j] += abs(sum(shares[place] * t[place] * float(gap) for place, gap in known))
            m[j] += sum(shares[place] for place, _ in known)
    least = 1e-12 * len(z)  # what is no more than this is 0 but for rounding
    weights = []
    for j in range(p):
        far = n_dcda[j] / n_dc[j] if n_dc[j] > least else 0.0
        near = (n_da[j] - n_dcda[j]) / (m[j] - n_dc[j]) if m[j] - n_dc[j] > least else 0.0
        weights.append(far - near)
    return np.array(weights)
