"""Neighbours among more rows and columns than one block holds, where an exact answer comes from integers."""

import numpy as np
import pytest
import scipy.sparse as sp
from samples import assert_weights_equal

from reliefe import ReliefF


def integer_twin(X, y, k, abs_mean):
    """ReliefF on whole numbers: distances times the least common multiple of the ranges are exact integers."""
    X = np.asarray(X, dtype=np.int64)
    ranges = X.max(axis=0) - X.min(axis=0)
    common = np.lcm.reduce(ranges[ranges > 0])
    assert float(common) * X.shape[1] < 2**62
    factor = np.where(ranges > 0, common // np.maximum(ranges, 1), 0)
    scale = np.where(ranges > 0, 1 / np.maximum(ranges, 1), 0)
    classes, sizes = np.unique(y, return_counts=True)
    weights, used = np.zeros(X.shape[1]), []
    for i in range(len(X)):
        distances = (np.abs(X - X[i]) * factor).sum(axis=1)
        for c, size in zip(classes, sizes, strict=True):
            candidates = np.flatnonzero((y == c) & (np.arange(len(X)) != i))
            if len(candidates) == 0:
                used.append(0)
                continue
            candidates = candidates[np.argsort(distances[candidates], kind="stable")]
            take = k
            if k == "adaptive":
                gaps = np.diff(distances[candidates])
                take = int(np.argmax(gaps)) + 1 if len(gaps) else 1
            near = X[candidates[:take]]
            used.append(len(near))
            if abs_mean:
                difference = np.abs(X[i] * len(near) - near.sum(axis=0)) / len(near) * scale
            else:
                difference = np.abs(near - X[i]).mean(axis=0) * scale
            own = (y == y[i]).sum()
            weights += difference * (-1.0 if c == y[i] else size / (len(y) - own))
    return weights / len(X), np.array(used).reshape(len(X), len(classes))


def few_values(rng, n, p):
    return rng.integers(0, 3, size=(n, p)) * np.array([1, 2, 5])[np.arange(p) % 3]


def different_ranges(rng, n, p):
    X = np.column_stack([rng.integers(0, high + 1, n) for high in np.resize([1, 2, 3, 5, 7, 9, 11], p)])
    X[0], X[1] = 0, np.resize([1, 2, 3, 5, 7, 9, 11], p)
    return X


def nearly_equal(rng, n, p):
    """Half the columns decide in steps of 1, the others by 1 part in 10⁸: lost in single precision."""
    X = rng.integers(0, 2, size=(n, p))
    X[:, ::2] = rng.integers(0, 4, size=(n, len(range(0, p, 2))))
    X[0], X[1] = 0, 10**8
    X[1, 1::2] = 1
    return X


def mostly_zeros(rng, n, p):
    return rng.integers(-3, 7, size=(n, p)) * (rng.random((n, p)) < 0.05)


def duplicates(rng, n, p):
    return few_values(rng, n, p)[rng.integers(0, n // 20, n)]


@pytest.mark.parametrize("shape", [(700, 24), (130, 1500)])
@pytest.mark.parametrize("make", [few_values, different_ranges, nearly_equal, mostly_zeros, duplicates])
def test_the_neighbours_are_the_exact_ones(make, shape):
    rng = np.random.default_rng(80)
    X = make(rng, *shape)
    y = rng.choice(4, p=[0.5, 0.3, 0.19, 0.01], size=shape[0])
    for k, abs_mean in ((10, False), ("adaptive", True)):
        expected, used = integer_twin(X, y, k, abs_mean)
        for storage in (np.asarray, sp.csr_matrix):
            ranker = ReliefF(n_neighbors=k, abs_mean=abs_mean, n_jobs=2).fit(storage(X.astype(float)), y)
            assert_weights_equal(ranker.feature_importances_, expected)
            if k == "adaptive":
                np.testing.assert_array_equal(ranker.n_neighbors_used_, used)
