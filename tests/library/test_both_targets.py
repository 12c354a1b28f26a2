"""What holds for ReliefF and ReliefE, classes and labels alike: adaptive k, storages of a matrix, threads."""

import naive
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from covering import covered
from samples import SAMPLES, GivenRows, LinearMap, assert_weights_equal, normalised
from sklearn.base import clone

from reliefe import ReliefE, ReliefF

# ------------------------------------------------------------------------------- numbers of neighbours, adaptive


@covered(
    {
        "name": ["random_dense", "classes_of_1_2_and_15", "ties", "mostly_zeros"],
        "metric": [None, *naive.METRICS],
        "multilabel": [False, True],
        "abs_mean": [False, True],
        "storage": [np.array, sp.csr_matrix],
        "n_iterations": [None, 11],
    },
    full={"name": ["classes_of_1_2_and_15"]},
)
def test_neighbours_used_by_row_and_class(name, metric, multilabel, abs_mean, storage, n_iterations):
    """The numbers stand in the order of sample_indices_; ``metric`` None is ReliefF."""
    X, y, exact = SAMPLES[name]
    rng = np.random.default_rng(134)
    T = (rng.random((len(X), 4)) < 0.4).astype(int)
    matrix = rng.normal(size=(X.shape[1], 3))
    parameters = {"abs_mean": abs_mean, "n_iterations": n_iterations, "random_state": 4}
    if metric is None:
        where, ranker = {}, ReliefF("adaptive", **parameters)
    else:
        where = {"embedded": normalised(X) @ matrix, "metric": metric}
        ranker = ReliefE(
            "adaptive", embedding=LinearMap(matrix), metric=metric, sparsify_above=1.0, **parameters
        )
    ranker.fit(storage(X), T if multilabel else y)
    rows = ranker.sample_indices_
    assert len(rows) == (n_iterations or len(X)) and (np.diff(rows) > 0).all()
    if multilabel:
        expected, used = naive.relieff_multilabel(X, T, "adaptive", abs_mean, rows=rows, exact=exact, **where)
        assert used.shape == (len(rows),)
    else:
        expected, used = naive.relieff(X, y, "adaptive", abs_mean, rows=rows, exact=exact, **where)
        assert used.shape == (len(rows), len(set(y)))
        # Only a row without others of its class has none to take from it.
        alone = np.bincount(y)[y[rows]] == 1
        np.testing.assert_array_equal((used == 0).any(axis=1), alone)
    assert ranker.n_neighbors_used_.dtype == np.int64
    np.testing.assert_array_equal(ranker.n_neighbors_used_, used)
    if name == "random_dense":  # else one number for all would pass, in whatever order
        assert len(np.unique(used)) >= 3
    assert_weights_equal(ranker.feature_importances_, expected)
    assert not hasattr(ranker.set_params(n_neighbors=3).fit(X, y), "n_neighbors_used_")


# ----------------------------- one matrix in many storages, where test_relieff.py does not go: labels, ReliefE


def _unsorted(X):
    X = sp.csr_matrix(X)
    for a, b in zip(X.indptr, X.indptr[1:], strict=False):
        X.indices[a:b], X.data[a:b] = X.indices[a:b][::-1].copy(), X.data[a:b][::-1].copy()
    X.has_sorted_indices = False
    return X


def _stored_twice(X):
    """Every value as two halves, and zeros stored in between."""
    row, column = np.indices(X.shape).reshape(2, -1)
    half = X[row, column] / 2
    return sp.coo_array((np.tile(half, 2), (np.tile(row, 2), np.tile(column, 2))), shape=X.shape)


CLOTHES = {
    "fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "int8": lambda X: X.astype(np.int8),
    "csr_matrix": sp.csr_matrix,
    "csr_array": sp.csr_array,
    "csr int8": lambda X: sp.csr_matrix(X.astype(np.int8)),
    "csc": sp.csc_matrix,
    "coo": sp.coo_matrix,
    "unsorted": _unsorted,
    "twice and zeros": _stored_twice,
    "polars": lambda X: pl.DataFrame(X.astype(np.int8)),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("kind", [ReliefF, ReliefE])
@pytest.mark.parametrize("name", CLOTHES)
def test_same_matrix_in_other_clothes(name, kind, multilabel):
    rng = np.random.default_rng(135)
    X = np.where(rng.random((28, 5)) < 0.4, 0, rng.choice([-128, -100, -3, 1, 50, 127], (28, 5))).astype(
        float
    )
    y = (rng.random((28, 3)) < 0.4).astype(int) if multilabel else rng.integers(0, 3, 28)
    for k, abs_mean in ((2, False), ("adaptive", True)):
        E = GivenRows(rng.normal(size=(28, 2)))
        parameters = {"embedding": E} if kind is ReliefE else {}
        ranker = kind(k, abs_mean=abs_mean, **parameters)
        expected = clone(ranker, safe=False).fit(X, y).feature_importances_
        found = ranker.fit(CLOTHES[name](X), y).feature_importances_
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


# ------------------------------------------------------------------- equal columns and threads, several labels


@pytest.mark.parametrize("storage", [np.array, sp.csr_matrix])
@pytest.mark.parametrize(("k", "abs_mean"), [(5, False), (5, True), ("adaptive", False), ("adaptive", True)])
def test_equal_columns_and_many_threads_with_labels(k, abs_mean, storage):
    rng = np.random.default_rng(136)
    X = rng.normal(size=(90, 40)) * (rng.random((90, 40)) < 0.7)
    copies = np.sort(rng.permutation(40)[:30])
    X[:, copies] = X[:, copies[:1]]
    T = (rng.random((90, 4)) < 0.4).astype(int)
    first = ReliefF(k, abs_mean=abs_mean).fit(storage(X), T)
    assert len(np.unique(first.feature_importances_[copies].view(np.int64))) == 1
    assert (np.diff(first.ranking_[copies]) == 1).all()
    for n_jobs in (1, 2, 4, 8):
        for _ in range(10):
            again = ReliefF(k, abs_mean=abs_mean, n_jobs=n_jobs).fit(storage(X), T)
            assert again.feature_importances_.tobytes() == first.feature_importances_.tobytes()
