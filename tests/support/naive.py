"""Slow, obvious twins of everything the library computes; the tests compare the two.

Nothing here is fast and nothing is shared with ``reliefe``. Rows are plain lists of numbers of one of two kinds:

* exact: ``fractions.Fraction`` (``table(X, exact=True)``), for small integer or rational data, where a tie is a
  tie and no rounding can hide it;
* float: two distances within 1e-12 of the scale of the distances are a tie, which is linked on: sorted
  distances, each within that tolerance of the one before it, are one group.

Where the paper (Škrlj et al., ReliefE) leaves something open, the docstrings say what is done and
``docs/differences.md`` says why.
"""

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

RELATIVE_TOLERANCE = 1e-12


def table(X, exact=False):
    """Rows of a dense or sparse matrix as lists of Fractions or of floats."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    if exact:
        return [[v if isinstance(v, Fraction) else Fraction(v) for v in row] for row in X.tolist()]
    return [[float(v) for v in row] for row in X.tolist()]


# ----------------------------------------------------------------------------------------- rows and distances


def normalised(rows):
    """Columns divided by their range over all rows.

    A column is moved to a minimum of 0 only where 0 is not already between its minimum and its maximum (the
    differences are the same either way, but an embedding sees the values); a constant column becomes 0.
    """
    n_columns = len(rows[0])
    result = [[None] * n_columns for _ in rows]
    for j in range(n_columns):
        column = [row[j] for row in rows]
        low, high = min(column), max(column)
        shift = low - low if low <= 0 <= high else low
        for i, value in enumerate(column):
            result[i][j] = (value - shift) / (high - low) if high > low else low - low
    return result


def manhattan(a, b):
    """Sum of absolute differences."""
    return sum(abs(u - v) for u, v in zip(a, b, strict=True))


def euclidean(a, b):
    """Root of the sum of squared differences."""
    return math.sqrt(sum((u - v) ** 2 for u, v in zip(a, b, strict=True)))


def cosine(a, b):
    """One minus the cosine; a zero vector has distance 1 to everything, itself included."""
    length_a, length_b = math.sqrt(sum(u * u for u in a)), math.sqrt(sum(v * v for v in b))
    if length_a == 0 or length_b == 0:
        return 1.0
    return 1.0 - float(sum(u * v for u, v in zip(a, b, strict=True))) / (length_a * length_b)


METRICS = {"manhattan": manhattan, "euclidean": euclidean, "cosine": cosine}


def tie_tolerance(distances, metric="manhattan"):
    """How far apart two equal distances may be computed: 0 for Fractions, 1e-12 × scale for floats."""
    if not any(isinstance(d, float) for d in distances):
        return 0
    largest = max(abs(d) for d in distances)
    return RELATIVE_TOLERANCE * (max(largest, 1.0) if metric == "cosine" else largest)


# ------------------------------------------------------------------------------------------------- neighbours


def kth_smallest(values, k):
    """The k-th smallest of the values, k from 1 (bounded heap of the neighbour search)."""
    return sorted(values)[k - 1]


def in_order(distances, tolerance):
    """Keys of the dict ``distances`` (row → distance), nearest first, ties by the lower row."""
    by_distance = sorted(distances, key=lambda row: (distances[row], row))
    groups = []
    for row in by_distance:
        if groups and distances[row] - distances[groups[-1][-1]] <= tolerance:
            groups[-1].append(row)
        else:
            groups.append([row])
    return [row for group in groups for row in sorted(group)]


def adaptive_k(sorted_distances, tolerance):
    """How many candidates lie before the first largest gap (Algorithm 3)."""
    if len(sorted_distances) <= 1:
        return len(sorted_distances)
    gaps = [b - a for a, b in pairwise(sorted_distances)]
    largest = max(gaps)
    return next(place for place, gap in enumerate(gaps) if gap >= largest - tolerance) + 1


def nearest(i, candidates, space, k, metric="manhattan"):
    """The k rows of ``candidates`` nearest to row i in ``space``; i is left out by its index.

    Fewer than k candidates: all of them. None: an empty list.
    """
    distances = {row: METRICS[metric](space[i], space[row]) for row in candidates if row != i}
    if not distances:
        return []
    tolerance = tie_tolerance(distances.values(), metric)
    order = in_order(distances, tolerance)
    if k == "adaptive":
        k = adaptive_k(sorted(distances.values()), tolerance)
    return order[:k]


def nearest_rows(query, rows, k, without=None):
    """The k rows nearest to ``query`` by Euclidean distance, ties by the lower row."""
    squares = {
        m: sum((u - v) ** 2 for u, v in zip(query, row, strict=True))
        for m, row in enumerate(rows)
        if m != without
    }
    return sorted(squares, key=lambda m: (squares[m], m))[:k]


# ------------------------------------------------------------------------------------------------ multi-class


def multiclass_update(z, i, y, neighbours, priors, abs_mean):
    """What row i adds to the weight of each column ("Multi-class classification")."""
    added = [z[i][0] - z[i][0]] * len(z[i])
    for c, rows in neighbours.items():
        if not rows:
            continue
        factor = -1 if c == y[i] else priors[c] / (1 - priors[y[i]])
        for j in range(len(z[i])):
            if abs_mean:
                difference = abs(z[i][j] - sum(z[row][j] for row in rows) / len(rows))
            else:
                difference = sum(abs(z[i][j] - z[row][j]) for row in rows) / len(rows)
            added[j] = added[j] + factor * difference
    return added


def relieff(X, y, k=15, abs_mean=False, rows=None, exact=False, embedded=None, metric="manhattan"):
    """ReliefF, and with ``embedded`` ReliefE (Algorithm "ReliefE", multi-class part).

    Parameters
    ----------
    X, y : data, n × p, and classes
    k : int or "adaptive"
    rows : rows to update from; all of them when None
    exact : compute with Fractions
    embedded : n × d or None; neighbours are found here, differences are taken in X
    metric : distance in ``embedded``

    Returns
    -------
    weights : float array (p,)
    used : int array (rows, classes in sorted order), the number of neighbours
    """
    z = normalised(table(X, exact))
    space = z if embedded is None else table(embedded)
    y = list(np.asarray(y).tolist())
    classes = sorted(set(y))
    priors = {c: Fraction(y.count(c), len(y)) for c in classes}
    rows = range(len(y)) if rows is None else list(rows)
    weights, used = [z[0][0] - z[0][0]] * len(z[0]), []
    for i in rows:
        neighbours = {
            c: nearest(i, [row for row in range(len(y)) if y[row] == c], space, k, metric) for c in classes
        }
        used.append([len(neighbours[c]) for c in classes])
        added = multiclass_update(z, i, y, neighbours, priors, abs_mean)
        weights = [w + a for w, a in zip(weights, added, strict=True)]
    return np.array([float(w / len(rows)) for w in weights]), np.array(used)


# ------------------------------------------------------------------------------------------------ multi-label


def f1_distance(a, b):
    """One minus the F1 of two label vectors (the paper's table of target distances)."""
    total = sum(a) + sum(b)
    return 1 - Fraction(2 * sum(u * v for u, v in zip(a, b, strict=True)), total) if total else Fraction(0)


def accuracy_distance(a, b):
    """One minus the Jaccard index of two label vectors."""
    union = sum(1 for u, v in zip(a, b, strict=True) if u or v)
    return 1 - Fraction(sum(1 for u, v in zip(a, b, strict=True) if u and v), union) if union else Fraction(0)


def subset_distance(a, b):
    """0 for equal label vectors, 1 otherwise (the paper's table has it the other way)."""
    return Fraction(0) if list(a) == list(b) else Fraction(1)


def hamming_distance(a, b):
    """Share of labels in which two vectors differ."""
    return Fraction(sum(1 for u, v in zip(a, b, strict=True) if u != v), len(a))


def cosine_target_distance(a, b):
    """Half of one minus the cosine of two embedded targets, in 0 … 1; Decimal of 50 digits.

    The cosine with a zero vector is taken as 0, but equal targets are at distance 0, zero or not, as two empty
    label sets are (a zero vector is one of these where the embedding is skipped).
    """
    if list(a) == list(b):
        return Decimal(0)
    with localcontext(prec=50):
        a, b = [Decimal(u) for u in a], [Decimal(v) for v in b]
        length_a, length_b = sum(u * u for u in a).sqrt(), sum(v * v for v in b).sqrt()
        if length_a == 0 or length_b == 0:
            return Decimal("0.5")
        cos = sum(u * v for u, v in zip(a, b, strict=True)) / (length_a * length_b)
        return without_rounding((1 - cos) / 2)


def hyperbolic_target_distance(a, b):
    """H / (1 + h), h the hyperboloid's distance of two embedded targets; Decimal of 50 digits."""
    with localcontext(prec=100):
        a, b = [Decimal(u) for u in a], [Decimal(v) for v in b]
        height_a, height_b = ((1 + sum(u * u for u in point)).sqrt() for point in (a, b))
        cosh = max(Decimal(1), height_a * height_b - sum(u * v for u, v in zip(a, b, strict=True)))
        h = (cosh + (cosh * cosh - 1).sqrt()).ln()
        return without_rounding(h / (1 + h))


def without_rounding(value):
    """0 and 1 where only rounding of the coordinates keeps a distance from them: parallel vectors of floats."""
    for end in (0, 1):
        if abs(value - end) < Decimal("1e-15"):
            return Decimal(end)
    return value


SET_DISTANCES = {
    "f1": f1_distance,
    "accuracy": accuracy_distance,
    "subset": subset_distance,
    "hamming": hamming_distance,
}
EMBEDDED_DISTANCES = {"cosine": cosine_target_distance, "hyperbolic": hyperbolic_target_distance}


def multilabel_update(z, i, neighbours, target_distances, abs_mean):
    """What row i adds to the weight of each column (Algorithm "ReliefE").

    ``target_distances`` has one distance for each of ``neighbours``. A term whose denominator is 0 adds 0.
    """
    k = len(neighbours)
    t = sum(target_distances) / k
    if isinstance(t, Decimal):
        target_distances, t = [Fraction(d) for d in target_distances], Fraction(t)
    added = []
    for j in range(len(z[i])):
        differences = [z[i][j] - z[row][j] for row in neighbours]
        if not abs_mean:
            differences = [abs(difference) for difference in differences]
        d = abs(sum(differences) / k)
        td = abs(sum(t_l * D for t_l, D in zip(target_distances, differences, strict=True)) / k)
        added.append((td / t if t != 0 else 0) - ((d - td) / (1 - t) if t != 1 else 0))
    return added


def relieff_multilabel(
    X,
    T,
    k=15,
    abs_mean=False,
    target_distance="hamming",
    rows=None,
    exact=False,
    embedded=None,
    metric="manhattan",
    embedded_targets=None,
):
    """Multi-label ReliefF, and with ``embedded`` ReliefE (Algorithm "ReliefE", multi-label part).

    As ``relieff``, with T an n × L matrix of 0 and 1. ``embedded_targets`` (n × d) is needed for the target
    distances "cosine" and "hyperbolic". ``used`` has one number per sample.
    """
    z = normalised(table(X, exact))
    space = z if embedded is None else table(embedded)
    if target_distance in SET_DISTANCES:
        T = T.toarray() if sp.issparse(T) else np.asarray(T)
        targets, distance = T.astype(int).tolist(), SET_DISTANCES[target_distance]
    else:
        targets, distance = table(embedded_targets), EMBEDDED_DISTANCES[target_distance]
    rows = range(len(z)) if rows is None else list(rows)
    weights, used = [z[0][0] - z[0][0]] * len(z[0]), []
    for i in rows:
        neighbours = nearest(i, range(len(z)), space, k, metric)
        used.append(len(neighbours))
        target_distances = [distance(targets[i], targets[row]) for row in neighbours]
        added = multilabel_update(z, i, neighbours, target_distances, abs_mean)
        weights = [w + a for w, a in zip(weights, added, strict=True)]
    return np.array([float(w / len(rows)) for w in weights]), np.array(used)


# -------------------------------------------------------------------------------------------------- embedding


def check_representatives(targets, n_representatives, chosen):
    """Raise AssertionError unless ``chosen`` are representatives of ``targets``.

    ``targets`` has one hashable, sortable value per row: a class, or a tuple of 0 and 1 for a label set. Which
    row stands for a value is random, so only the sequence of values can be foretold.
    """
    targets, chosen = list(targets), [int(row) for row in chosen]
    n, values = len(targets), sorted(set(targets))
    assert len(chosen) == min(n, n_representatives), "wrong number of representatives"
    assert len(set(chosen)) == len(chosen), "a row was chosen twice"
    assert all(0 <= row < n for row in chosen), "no such row"
    taken = [targets[row] for row in chosen]
    if n <= n_representatives:
        return
    if len(values) > n_representatives:
        assert len(set(taken)) == len(taken), "a value was chosen twice before the others had their turn"
        return
    left, expected = Counter(targets), []
    while len(expected) < n_representatives:
        for value in values:
            if left[value] and len(expected) < n_representatives:
                left[value] -= 1
                expected.append(value)
    assert taken == expected, "values are not taken in turn"


def sparsify_epsilon(B):
    """ε from the block matrix itself, which the library must never build (PrMS, Algorithm 1).

    A = [[0, B], [Bᵀ, 0]] is symmetric; ε is its largest row sum of absolute values divided by its order.
    """
    B = np.asarray(B, dtype=float)
    m, p = B.shape
    A = np.block([[np.zeros((m, m)), B], [B.T, np.zeros((p, p))]])
    assert (A == A.T).all()
    return np.abs(A).sum(axis=1).max() / (m + p)


def sparsify_rule(B):
    """For each entry: the value it gets when it is not zeroed, and the probability of that (Algorithm 1)."""
    B = np.asarray(B, dtype=float)
    threshold = sparsify_epsilon(B) / math.sqrt(sum(B.shape))
    values, probabilities = np.zeros_like(B), np.zeros_like(B)
    for (i, j), b in np.ndenumerate(B):
        if abs(b) > threshold:
            values[i, j], probabilities[i, j] = b, 1.0
        elif b != 0:
            values[i, j], probabilities[i, j] = math.copysign(threshold, b), abs(b) / threshold
    return values, probabilities


def two_nn_slope(X, exact=False):
    """The TwoNN estimate before it is rounded and bounded (Algorithm 2). None: no number."""
    distinct = list(dict.fromkeys(tuple(row) for row in table(X, exact)))
    if len(distinct) < 3:
        return None
    squared_ratios = []
    for a in range(len(distinct)):
        squared = sorted(
            sum((u - v) ** 2 for u, v in zip(distinct[a], distinct[b], strict=True))
            for b in range(len(distinct))
            if b != a
        )
        squared_ratios.append(squared[1] / squared[0])
    near = 0 if exact else RELATIVE_TOLERANCE  # ratios that are equal but for rounding are equal
    log_ratios = [math.log(r) / 2 if r > 1 + near else 0.0 for r in squared_ratios]
    share_below = [
        sum(1 for o in squared_ratios if o < r * (1 - near)) / len(distinct) for r in squared_ratios
    ]
    heights = [-math.log(1 - share) for share in share_below]
    denominator = sum(x * x for x in log_ratios)
    if denominator == 0:
        return None
    return sum(x * h for x, h in zip(log_ratios, heights, strict=True)) / denominator


def latent_dimension(X, exact=False):
    """TwoNN with repeated rows taken once, as an integer from 2 to min(p, n − 2), or None."""
    n, p = len(table(X, exact)), len(table(X, exact)[0])
    largest = min(p, n - 2)
    slope = two_nn_slope(X, exact) if largest >= 2 else None
    return None if slope is None else min(max(round(slope), 2), largest)
