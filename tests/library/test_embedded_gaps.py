"""Missing values where rows are embedded: medians for the embedding, nothing at all for the differences."""

from fractions import Fraction

import naive_mixed as twin
import naive_thresholds
import numpy as np
import pytest
import scipy.sparse as sp
from covering import covered
from mixtures import with_gaps
from samples import SAMPLES, GivenRows, LinearMap, Watcher, assert_weights_equal

from reliefe import SURF, VLS, MultiSURF, ReliefE, ReliefF, TuRF
from reliefe.scaling import filled

STORAGES = [np.ascontiguousarray, sp.csr_matrix]
STORAGE = pytest.mark.parametrize("storage", STORAGES)
TARGETS = ["classes", "labels", "numbers"]


def target_of(kind, n):
    rng = np.random.default_rng(250)
    return {
        "classes": np.arange(n) % 3,
        "labels": (rng.random((n, 4)) < 0.4).astype(int),
        "numbers": rng.integers(0, 12, n),
    }[kind]


def medians(X):
    """Range-normalised rows as an embedding is to see them, with medians for what is missing; float64."""
    columns = []
    for column in zip(*twin.table(X, exact=True), strict=True):
        known = [value for value in column if value is not None] or [0]
        low, high = min(known), max(known)
        shift = 0 if low <= 0 <= high else low
        extent = high - low
        columns.append(
            [None if v is None else (v - shift) / extent if extent else Fraction(0) for v in column]
        )
    rows = twin.filled(list(zip(*columns, strict=True)))
    return np.array([[float(value) for value in row] for row in rows])


@pytest.fixture(autouse=True)
def nothing_shown():
    Watcher.shown.clear()


@covered(
    {
        "name": ["random_dense", "ties", "mostly_zeros", "constant_column"],
        "target": TARGETS,
        "k,abs_mean": [(3, False), (15, True), ("adaptive", False)],
        "metric": ["cosine", "euclidean", "manhattan"],
        "storage": STORAGES,
    },
    full={"name": ["mostly_zeros"]},
)
def test_fast_is_naive(name, target, k, abs_mean, metric, storage):
    """The embedding depends on the values that it is shown."""
    X = with_gaps(SAMPLES[name].X, 0.2, 1)
    y = target_of(target, len(X))
    matrix = np.random.default_rng(251).normal(size=(X.shape[1], 3))
    where = {"embedded": medians(X) @ matrix, "metric": metric}
    if target == "numbers":
        expected = twin.rrelieff(X, y, k, abs_mean=abs_mean, **where)
    elif target == "labels":
        expected = twin.relieff_multilabel(X, y, k, abs_mean, **where)
    else:
        expected, _ = twin.relieff(X, y, k, abs_mean, **where)
    ranker = ReliefE(k, abs_mean=abs_mean, embedding=LinearMap(matrix), metric=metric, sparsify_above=1.0)
    ranker.set_params(missing="ignore", target="regression" if target == "numbers" else "classification")
    found = ranker.fit(storage(X), y).feature_importances_
    assert_weights_equal(found, expected)
    assert found[2] == 0.0  # no value of it is known
    many = ranker.set_params(n_jobs=3).fit(storage(X), y).feature_importances_
    np.testing.assert_array_equal(many, found)
    with pytest.raises(ValueError, match="NaN: sample"):
        ranker.set_params(missing="raise").fit(storage(X), y)


@pytest.mark.parametrize("kind", [ReliefE, SURF, MultiSURF])
@STORAGE
def test_an_embedding_is_shown_medians(storage, kind):
    X = with_gaps(SAMPLES["mostly_zeros"].X, 0.3, 2)
    before = X.copy()
    for given in (X, X - 20.0, X + 3.0):
        Watcher.shown.clear()
        ranker = kind(embedding=Watcher(), metric="euclidean", missing="ignore", sparsify_above=1.0)
        ranker.fit(storage(given), SAMPLES["mostly_zeros"].y)
        shown = [rows for _, rows in Watcher.shown]
        assert len(shown) == 2 and all(
            np.allclose(rows, medians(given), rtol=0, atol=1e-15) for rows in shown
        )
    np.testing.assert_array_equal(X, before)


def test_filled():
    nan = np.nan
    X = np.array([[1.0, 0.0, nan, 0.0], [nan, 0.0, nan, 2.0], [3.0, nan, nan, nan], [9.0, 5.0, nan, nan]])
    expected = [[1, 0, 0, 0], [3, 0, 0, 2], [3, 0, 0, 1], [9, 5, 0, 1]]
    given = X.copy()
    assert filled(X).tolist() == expected
    S = filled(sp.csr_matrix(X))
    assert S.toarray().tolist() == expected
    assert S.nnz == 8 and S.has_sorted_indices and (S.data != 0.0).all()
    np.testing.assert_array_equal(X, given)


@pytest.mark.parametrize("target", TARGETS)
def test_without_missing_values_nothing_changes(target):
    rng = np.random.default_rng(252)
    X = rng.normal(size=(60, 10))
    y = target_of(target, 60)
    if target == "numbers":
        given = {"target": "regression"}
    else:
        given = {"n_neighbors": "adaptive", "abs_mean": True}
    plain = ReliefE(random_state=0, **given).fit(X, y)
    ignoring = ReliefE(random_state=0, missing="ignore", **given).fit(X, y)
    np.testing.assert_array_equal(ignoring.feature_importances_, plain.feature_importances_)
    assert ignoring.n_components_ == plain.n_components_


def test_umap_on_dense_and_sparse_rows_cached_or_not(tmp_path):
    rng = np.random.default_rng(253)
    y = rng.integers(0, 2, 70)
    X = rng.normal(size=(70, 12)) + np.where(np.arange(12) < 3, 4, 0) * y[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    ranker = ReliefE(missing="ignore", random_state=0).fit(X, y)
    assert ranker.n_components_ is not None and set(np.argsort(ranker.ranking_)[:3]) == {0, 1, 2}
    for memory in (None, str(tmp_path), str(tmp_path)):
        for storage in (np.asfortranarray, sp.csr_matrix):
            again = ReliefE(missing="ignore", random_state=0, memory=memory, n_jobs=2).fit(storage(X), y)
            np.testing.assert_allclose(
                again.feature_importances_, ranker.feature_importances_, rtol=0, atol=1e-12
            )


def test_where_the_embedding_is_skipped_neighbours_are_those_of_the_medians():
    X = with_gaps(SAMPLES["random_dense"].X, 0.2, 1)[:, :1]
    X = np.column_stack([X, SAMPLES["random_dense"].X[:, :1]])
    y = SAMPLES["random_dense"].y
    ranker = ReliefE(3, missing="ignore", metric="manhattan", random_state=0).fit(X, y)
    assert ranker.n_components_ is None
    expected, _ = twin.relieff(X, y, 3, embedded=medians(X), metric="manhattan")
    assert_weights_equal(ranker.feature_importances_, expected)
    others = ReliefF(3, missing="ignore").fit(X, y).feature_importances_  # by distances over shared columns
    assert np.abs(others - expected).max() > 1e-6


@STORAGE
def test_thresholds_in_an_embedding(storage):
    X, y, _ = SAMPLES["random_dense"]
    X = with_gaps(X, 0.2, 3)
    E = np.random.default_rng(254).normal(size=(len(X), 2))
    for kind in (SURF, MultiSURF):
        found = kind(embedding=GivenRows(E), metric="euclidean", missing="ignore").fit(storage(X), y)
        expected = naive_thresholds.weights(kind.__name__, X, y, embedded=E, metric="euclidean")
        assert_weights_equal(found.feature_importances_, expected)


def test_wrappers_hand_missing_values_on():
    rng = np.random.default_rng(255)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 8)) + np.where(np.arange(8) == 5, 6, 0) * y[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    for wrapper in (TuRF, VLS):
        inner = ReliefE(missing="ignore", embedding=LinearMap(np.eye(8)[:, 4:6]), metric="euclidean")
        if wrapper is VLS:
            inner.set_params(embedding="umap", random_state=0)
            ranker = VLS(inner, subset_size=4, n_subsets=6, random_state=0)
        else:
            inner.set_params(embedding=Watcher(), sparsify_above=1.0)
            ranker = TuRF(inner, removed=2)
        assert ranker.fit(X, y).ranking_[5] == 1


@pytest.mark.parametrize("wrong", [None, "drop", 1])
def test_wrong_parameter(wrong):
    with pytest.raises(ValueError, match="missing must be one of"):
        ReliefE(missing=wrong).fit(SAMPLES["ties"].X, SAMPLES["ties"].y)
