"""Small data sets on which fast code and naive twins are compared, and embeddings with a known result.

``exact`` says that the twin should compute with Fractions: all values are integers, so there are true ties.
"""

from typing import NamedTuple

import numpy as np


class Sample(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    exact: bool


def random_dense():
    rng = np.random.default_rng(1)
    return Sample(rng.normal(size=(36, 6)), rng.integers(0, 3, 36), False)


def classes_of_1_2_and_15():
    rng = np.random.default_rng(2)
    y = np.array([0] * 15 + [1] * 2 + [2])
    return Sample(rng.normal(size=(18, 5)) + y[:, None], rng.permutation(y), False)


def ties():
    """Integers whose columns have ranges 3, 7, 10 and 1: equal distances are sums of different fractions."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, high + 1, 30) for high in (3, 7, 10, 1)])
    X[:2] = [[0, 0, 0, 0], [3, 7, 10, 1]]
    return Sample(X.astype(float), rng.integers(0, 3, 30), True)


def symmetric_ties():
    """A grid around 0: most distances are shared by many rows, on both sides of the row."""
    X = np.array([[a, b, c] for a in (-1, 0, 1) for b in (-3, 0, 3) for c in (-7, 0, 7)], dtype=float)
    return Sample(X, np.random.default_rng(4).integers(0, 2, 27), True)


def constant_column():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(24, 5))
    X[:, 1], X[:, 3] = 7.25, 0.0
    return Sample(X, rng.integers(0, 2, 24), False)


def duplicated_rows():
    rng = np.random.default_rng(6)
    chosen = rng.integers(0, 9, 30)
    return Sample(rng.normal(size=(9, 4))[chosen], rng.integers(0, 3, 30), False)


def mostly_zeros():
    """Counts, four fifths of them zero, with negative values and one column without a zero."""
    rng = np.random.default_rng(7)
    X = rng.integers(-4, 9, size=(32, 12)) * (rng.random((32, 12)) < 0.2)
    X[:, 4] = rng.integers(3, 8, 32)
    return Sample(X.astype(float), rng.integers(0, 4, 32), True)


def wide_ranges():
    """Columns whose scales differ by twelve orders of magnitude, and one far from 0."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(26, 5)) * [1e-6, 1.0, 1e3, 1e6, 1.0] + [0, 0, 0, 0, 1e6]
    return Sample(X, rng.integers(0, 2, 26), False)


SAMPLES = {
    make.__name__: make()
    for make in (
        random_dense,
        classes_of_1_2_and_15,
        ties,
        symmetric_ties,
        constant_column,
        duplicated_rows,
        mostly_zeros,
        wide_ranges,
    )
}


def assert_weights_equal(got, expected):
    """Agree to 1e-10 relative; a weight that is a difference of equal sums may be off by rounding (1e-14)."""
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-14)


def normalised(X):
    """Range-normalised columns, as the embedding is meant to see them; float64."""
    import naive

    return np.array([[float(v) for v in row] for row in naive.normalised(naive.table(X, exact=True))])


def _dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


class LinearMap:
    """An embedding with only ``fit`` and ``transform``: rows times a fixed matrix."""

    def __init__(self, matrix):
        self.matrix = matrix

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        assert self.fitted_
        return _dense(X) @ self.matrix


class GivenRows:
    """An embedding that returns rows decided beforehand, whatever values it is shown."""

    def __init__(self, E):
        self.E = E

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        assert self.fitted_ and X.shape[0] == len(self.E)
        return self.E


class Watcher:
    """An embedding that keeps the first columns and remembers, across copies, what it was shown."""

    shown = []  # noqa: RUF012 - shared by all copies on purpose

    def __init__(self, n_columns=2):
        self.n_columns = n_columns

    def fit(self, X, y=None):
        self.shown.append(("fit", _dense(X).copy()))
        return self

    def transform(self, X):
        self.shown.append(("transform", _dense(X).copy()))
        return _dense(X)[:, : self.n_columns]
