"""Slow, obvious twins of SURF and MultiSURF with label sets and numeric targets; see ``naive.py``.

Who is near is decided as in ``naive_thresholds.py``; near rows count by ReliefF's updates (``naive_mixed.py``).
"""

from fractions import Fraction

import naive
import naive_mixed
import naive_thresholds
import numpy as np
import scipy.sparse as sp


def near(name, X, discrete=None, exact=False, embedded=None, metric="manhattan"):
    """Columns on the scale of their differences, which are discrete, and the near rows of every row."""
    rows = naive_mixed.table(X, exact)
    discrete = [False] * len(rows[0]) if discrete is None else list(discrete)
    z = naive_mixed.prepared(rows, discrete)
    if embedded is None:
        distances = [[naive_mixed.distance(a, b, discrete) for b in z] for a in z]
    else:
        space = naive.table(embedded)
        distances = [[naive.METRICS[metric](a, b) for b in space] for a in space]
    per_row = naive_thresholds.RULES[name][0]
    return z, discrete, [listed for listed, _ in naive_thresholds.zones(distances, per_row, False)]


def near_rows(distances, i, below):
    """Rows nearer to row i than ``below``, from the distances of that row."""
    return [m for m, d in enumerate(distances) if m != i and d < below]


def label_weights(t):
    """What the difference to each near row counts with label sets, from their target distances."""
    rest = len(t) - sum(t)
    return [(own / sum(t) if sum(t) else 0) - ((1 - own) / rest if rest else 0) for own in t]


def response_sums(values, i, listed):
    """How many near rows row i has, and the sum of their target distances."""
    return len(listed), sum(abs(values[i] - values[m]) for m in listed)


def response_weights(t, influence, far, alike):
    """What the difference to each near row counts with numeric targets; ``far`` and ``alike`` are 1 / Σ."""
    return [influence * (own * far - (1 - own) * alike) for own in t]


def pairs_once(pairs, first):
    """Weights of pairs (i, m) as seen from consecutive rows, those among these rows summed up; none that is 0."""
    whole = {}
    for r, row in enumerate(pairs):
        for m, weight in enumerate(row):
            pair = (first + r, m) if (m, first + r) not in whole else (m, first + r)
            whole[pair] = whole.get(pair, 0.0) + weight
    return {pair: weight for pair, weight in whole.items() if weight != 0.0}


def of_labels(name, X, T, target_distance="hamming", embedded_targets=None, **where):
    """Label sets: the multi-label update, for each column over the near rows that are known there.

    ``embedded_targets`` (n × d) is needed for the target distances "cosine" and "hyperbolic"; other parameters are
    those of ``near``.
    """
    z, discrete, lists = near(name, X, **where)
    if target_distance in naive.SET_DISTANCES:
        T = T.toarray() if sp.issparse(T) else np.asarray(T)
        targets, measure = T.astype(int).tolist(), naive.SET_DISTANCES[target_distance]
    else:
        targets, measure = (
            np.asarray(embedded_targets).tolist(),
            naive.EMBEDDED_DISTANCES[target_distance],
        )
    weights = [Fraction(0)] * len(z[0])
    for i, listed in enumerate(lists):
        t = [Fraction(measure(targets[i], targets[row])) for row in listed]
        for j in range(len(z[0])):
            known = naive_mixed.counted(z, i, listed, j, discrete, False)
            if not known:
                continue
            mean_t = sum(t[place] for place, _ in known) / len(known)
            d = sum(Fraction(gap) for _, gap in known) / len(known)
            td = sum(t[place] * Fraction(gap) for place, gap in known) / len(known)
            weights[j] += td / mean_t if mean_t != 0 else 0
            weights[j] -= (d - td) / (1 - mean_t) if mean_t != 1 else 0
    return np.array([float(w / len(z)) for w in weights])


def of_numbers(name, X, y, sample_weight=None, **where):
    """Numeric targets: RReliefF's N_dC, N_dA, N_dC&dA and m per column; a row's near rows share its influence."""
    z, discrete, lists = near(name, X, **where)
    n, p = len(z), len(z[0])
    y = [Fraction(value) for value in np.asarray(y).tolist()]
    extent = max(y) - min(y)
    counts = [Fraction(1)] * n if sample_weight is None else [Fraction(w) for w in sample_weight]
    n_dc, n_da, n_dcda, m = ([Fraction(0)] * p for _ in range(4))
    for i, listed in enumerate(lists):
        t = [abs(y[i] - y[row]) / extent for row in listed]
        for j in range(p):
            for place, gap in naive_mixed.counted(z, i, listed, j, discrete, False):
                influence = counts[i] / len(listed)
                n_dc[j] += influence * t[place]
                n_da[j] += influence * Fraction(gap)
                n_dcda[j] += influence * t[place] * Fraction(gap)
                m[j] += influence
    weights = []
    for j in range(p):
        far = n_dcda[j] / n_dc[j] if n_dc[j] != 0 else 0
        alike = (n_da[j] - n_dcda[j]) / (m[j] - n_dc[j]) if m[j] != n_dc[j] else 0
        weights.append(float(far - alike))
    return np.array(weights)
