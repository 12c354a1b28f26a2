"""Rows that do not count the same, beside slow twins."""

import naive_weighted
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import LinearMap, assert_weights_equal

from reliefe import SURF, VLS, MultiSURF, MultiSURFStar, ReliefE, ReliefF, SURFStar, TuRF, row_pairs

THRESHOLDS = [SURF, SURFStar, MultiSURF, MultiSURFStar]
STORAGES = {
    "dense": lambda X: X.astype(float),
    "bytes": lambda X: X.astype(np.int8),
    "sparse": lambda X: sp.csr_matrix(X.astype(float)),
}


def table(rng, n=40, p=50, highest=2):
    """Columns of few values, which are packed, and others."""
    X = rng.integers(0, highest + 1, size=(n, p))
    X[:, ::7] = rng.integers(-9, 10, size=(n, len(range(0, p, 7))))
    return X, rng.integers(0, 3, n), rng.integers(0, 5, n)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(
    "given", [dict(), dict(abs_mean=True), dict(n_neighbors="adaptive"), dict(n_neighbors=1)]
)
def test_relieff_is_as_the_twin_says(given, storage, rng):
    X, y, weight = table(rng)
    k = given.get("n_neighbors", 15)
    expected = naive_weighted.relieff(X, y, weight.tolist(), k, given.get("abs_mean", False))
    found = ReliefF(**given).fit(STORAGES[storage](X), y, sample_weight=weight).feature_importances_
    assert_weights_equal(found, expected)
    assert np.abs(found - ReliefF(**given).fit(X, y).feature_importances_).max() > 1e-3


def test_some_rows_only(rng):
    X, y, weight = table(rng)
    ranker = ReliefF(n_iterations=11, random_state=0).fit(X, y, sample_weight=weight)
    rows = ranker.sample_indices_.tolist()
    assert len(rows) == 11
    expected = naive_weighted.relieff(X, y, weight.tolist(), 15, rows=rows)
    assert_weights_equal(ranker.feature_importances_, expected)
    only = np.ones(40)
    only[rows] = 0
    with pytest.raises(
        ValueError, match=r"sample_weight is 0 for all samples that were drawn .* raise n_iterations"
    ):
        ReliefF(n_iterations=11, random_state=0).fit(X, y, sample_weight=only)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("sigma", [20.0, None])
def test_rrelieff_is_as_the_twin_says(sigma, storage, rng):
    X, _, weight = table(rng)
    y = rng.normal(size=40)
    expected = naive_weighted.rrelieff(X, y.tolist(), weight.tolist(), 15, sigma)
    found = (
        ReliefF(target="regression", sigma=sigma).fit(STORAGES[storage](X), y, weight).feature_importances_
    )
    assert_weights_equal(found, expected)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kind", THRESHOLDS)
def test_thresholds_are_as_the_twin_says(kind, storage, rng, monkeypatch):
    monkeypatch.setattr(row_pairs, "_BLOCK_BYTES", 8 * 40 * 16)  # more than one block
    X, y, weight = table(rng)
    expected = naive_weighted.by_thresholds(kind.__name__, X, y, weight.tolist())
    found = kind(n_jobs=2).fit(STORAGES[storage](X), y, sample_weight=weight).feature_importances_
    assert_weights_equal(found, expected)
    assert np.abs(found - kind().fit(X, y).feature_importances_).max() > 1e-3


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_with_missing_values_and_categories(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, p = data.draw(st.integers(5, 12)), data.draw(st.sampled_from([1, 3, 40]))
    X = rng.integers(0, data.draw(st.integers(2, 6)), size=(n, p)).astype(float)
    X[rng.random((n, p)) < data.draw(st.sampled_from([0.0, 0.2]))] = np.nan
    y = np.array([0, 1, *rng.integers(0, data.draw(st.integers(1, 3)), n - 2)])
    weight = np.array([1, 2, *rng.integers(0, 4, n - 2)])
    discrete = rng.random(p) < 0.5
    shared = dict(missing="ignore", discrete_features=discrete)
    for given_X in (X, sp.csr_matrix(X)):
        expected = naive_weighted.relieff(X, y, weight.tolist(), 3, discrete=discrete)
        assert_weights_equal(ReliefF(3, **shared).fit(given_X, y, weight).feature_importances_, expected)
        for kind in THRESHOLDS:
            expected = naive_weighted.by_thresholds(kind.__name__, X, y, weight.tolist(), discrete)
            assert_weights_equal(kind(**shared).fit(given_X, y, weight).feature_importances_, expected)


@pytest.mark.parametrize(
    "ranker", [ReliefF(3), ReliefF(3, target="regression"), *(kind() for kind in THRESHOLDS)]
)
def test_equal_weights_change_nothing_and_their_unit_does_not_matter(ranker, rng):
    X, y, weight = table(rng)
    plain = ranker.fit(X, y).feature_importances_
    np.testing.assert_array_equal(ranker.fit(X, y, np.full(40, 0.3)).feature_importances_, plain)
    np.testing.assert_array_equal(ranker.fit(X, y, None).feature_importances_, plain)
    weighted = ranker.fit(X, y, weight).feature_importances_
    np.testing.assert_array_equal(ranker.fit(X, y, (weight * 1024.0).tolist()).feature_importances_, weighted)


def test_embedded_rows_and_wrapped_rankers(rng):
    X, y, weight = table(rng, p=6)
    embedding = LinearMap(np.eye(6))
    given = dict(embedding=embedding, metric="manhattan", sparsify_above=1.0)
    found = ReliefE(5, **given).fit(X, y, weight).feature_importances_
    assert_weights_equal(found, naive_weighted.relieff(X, y, weight.tolist(), 5))
    found = TuRF(MultiSURF(), n_final=6).fit(X, y, sample_weight=weight).feature_importances_
    np.testing.assert_array_equal(found, MultiSURF().fit(X, y, weight).feature_importances_)
    found = VLS(ReliefF(4), subset_size=6, n_subsets=1).fit(X, y, sample_weight=weight).feature_importances_
    np.testing.assert_array_equal(found, ReliefF(4).fit(X, y, weight).feature_importances_)
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(TypeError, match=r"TuRF: KNeighborsClassifier takes no sample_weight"):
        TuRF(KNeighborsClassifier()).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(39), r"sample_weight has the shape \(39,\); it needs one number for each of the 40 samples"),
        (np.ones((40, 1)), r"the shape \(40, 1\)"),
        (np.r_[np.ones(7), -1.0, np.ones(32)], r"sample_weight is -1\.0 for sample 7"),
        (np.r_[np.nan, np.ones(39)], r"sample_weight is nan for sample 0"),
        (["a"] * 40, "sample_weight holds what is no number"),
        (np.zeros(40), "sample_weight is zero for every sample"),
    ],
)
def test_what_is_no_weight(weight, message, rng):
    X, y, _ = table(rng)
    for ranker in (ReliefF(), MultiSURF(), TuRF()):
        with pytest.raises(ValueError, match=message):
            ranker.fit(X, y, sample_weight=weight)


def test_where_there_is_no_weighing(rng):
    X, y, weight = table(rng)
    for kind in (ReliefF, SURF):
        with pytest.raises(ValueError, match=r"sample_weight is 0 in all classes but one"):
            kind().fit(X, y, sample_weight=(y == 1).astype(float))
        with pytest.raises(ValueError, match=r'compatible="skrebate" goes without sample_weight'):
            kind(compatible="skrebate").fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=r"ReliefF: sample_weight goes with one class or number per sample"):
        ReliefF().fit(X, np.eye(3, dtype=int)[y], sample_weight=weight)
