"""ReliefE against its twin on embeddings with a known result, with UMAP, and the cases on embedding (7, 8)."""

import logging
import warnings
from functools import cache

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numba import NumbaWarning
from samples import SAMPLES, GivenRows, LinearMap, Watcher, assert_weights_equal, normalised
from sklearn.base import clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from reliefe import ReliefE

METRICS = ["cosine", "euclidean", "manhattan"]
VARIANTS = [(k, abs_mean) for k in (15, 3, "adaptive") for abs_mean in (False, True)]


def fit(X, y, k=15, abs_mean=False, **parameters):
    return ReliefE(n_neighbors=k, abs_mean=abs_mean, **parameters).fit(X, y)


# ------------------------------------------------------------------------------- fast == naive, E being known


@cache
def linear(name):
    """A fixed linear map for a sample, and where it puts the rows."""
    X = SAMPLES[name].X
    matrix = np.random.default_rng(20).normal(size=(X.shape[1], 3))
    return matrix, normalised(X) @ matrix


@cache
def twin(name, metric, k, abs_mean):
    X, y, exact = SAMPLES[name]
    return naive.relieff(X, y, k, abs_mean, exact=exact, embedded=linear(name)[1], metric=metric)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("k", "abs_mean"), VARIANTS)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", SAMPLES)
def test_fast_is_naive(name, metric, k, abs_mean, storage):
    X, y, _ = SAMPLES[name]
    embedding = LinearMap(linear(name)[0])
    ranker = fit(storage(X), y, k, abs_mean, metric=metric, embedding=embedding, sparsify_above=1.0)
    expected, used = twin(name, metric, k, abs_mean)
    assert_weights_equal(ranker.feature_importances_, expected)
    if k == "adaptive":
        np.testing.assert_array_equal(ranker.n_neighbors_used_, used)
    assert not hasattr(embedding, "fitted_")


@pytest.mark.parametrize("exact_metric", METRICS)
@pytest.mark.parametrize(("k", "abs_mean"), VARIANTS)
def test_ties_zero_vectors_and_float32_in_the_embedding(exact_metric, k, abs_mean):
    """Lattice points: many equal distances, parallel rows (cosine 0) and zero vectors (cosine 1 to all)."""
    rng = np.random.default_rng(21)
    E = rng.integers(-2, 3, size=(30, 2)).astype(float)
    E[[0, 7]] = 0
    X, y, _ = SAMPLES["ties"]
    expected, used = naive.relieff(X, y, k, abs_mean, exact=True, embedded=E, metric=exact_metric)
    for given in (E, E.astype(np.float32), np.asfortranarray(E)):
        ranker = fit(X, y, k, abs_mean, metric=exact_metric, embedding=GivenRows(given))
        assert_weights_equal(ranker.feature_importances_, expected)
        if k == "adaptive":
            np.testing.assert_array_equal(ranker.n_neighbors_used_, used)


@pytest.mark.parametrize("metric", METRICS)
def test_embedding_far_from_the_origin_and_very_small(metric):
    """Distances must not be lost in the size of the coordinates."""
    X, y, _ = SAMPLES["random_dense"]
    E = np.random.default_rng(22).normal(size=(36, 3))
    for moved in (E + 1000.0, E * 1e-8, E * 1e8):
        expected, _ = naive.relieff(X, y, 3, embedded=moved, metric=metric)
        found = fit(X, y, 3, metric=metric, embedding=GivenRows(moved)).feature_importances_
        assert_weights_equal(found, expected)


def test_differences_are_taken_in_the_data_not_in_the_embedding():
    """More columns than the embedding has, the informative one last; the published code read past the end here."""
    rng = np.random.default_rng(23)
    y = rng.integers(0, 2, 40)
    X = np.column_stack([rng.normal(size=(40, 30)), y])
    found = fit(X, y, embedding=GivenRows(rng.normal(size=(40, 2)))).feature_importances_
    assert found.shape == (31,) and found[-1] == pytest.approx(1.0) and np.abs(found).max() <= 1
    assert found.argmax() == 30


def test_default_metric_is_cosine():
    X, y, _ = SAMPLES["random_dense"]
    E = np.random.default_rng(24).normal(size=(36, 3))
    default, cosine = (
        fit(X, y, 3, embedding=GivenRows(E)),
        fit(X, y, 3, metric="cosine", embedding=GivenRows(E)),
    )
    np.testing.assert_array_equal(default.feature_importances_, cosine.feature_importances_)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_fewer_iterations(storage):
    X, y, _ = SAMPLES["random_dense"]
    matrix, E = linear("random_dense")
    for k, abs_mean in VARIANTS:
        ranker = fit(
            storage(X),
            y,
            k,
            abs_mean,
            embedding=LinearMap(matrix),
            sparsify_above=1.0,
            n_iterations=9,
            random_state=1,
        )
        rows = ranker.sample_indices_
        assert len(set(rows.tolist())) == 9
        expected, _ = naive.relieff(X, y, k, abs_mean, rows=rows, embedded=E, metric="cosine")
        assert_weights_equal(ranker.feature_importances_, expected)


# -------------------------------------------------------------------------------- what the embedding is shown


@pytest.fixture
def watcher():
    Watcher.shown.clear()
    yield Watcher()
    Watcher.shown.clear()


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_embedding_is_fitted_on_representatives_and_transforms_the_rest(watcher, storage):
    X, y, exact = SAMPLES["mostly_zeros"]
    X = X.copy()
    X[:, 4] = np.random.default_rng(0).permutation(32) + 1  # no two rows are equal
    z = normalised(X)
    ranker = fit(
        storage(X), y, 3, embedding=watcher, n_representatives=11, sparsify_above=1.0, random_state=4
    )
    (kind, fitted_on), *rest = Watcher.shown
    assert kind == "fit" and all(kind == "transform" for kind, _ in rest)
    assert fitted_on.shape == (11, 12)
    chosen = [int(np.flatnonzero((z == row).all(axis=1))[0]) for row in fitted_on]
    naive.check_representatives(y, 11, chosen)
    seen = np.unique(np.concatenate([fitted_on, *(rows for _, rows in rest)]), axis=0)
    np.testing.assert_array_equal(seen, np.unique(z, axis=0))
    expected, _ = naive.relieff(X, y, 3, exact=exact, embedded=z[:, :2], metric="cosine")
    assert_weights_equal(ranker.feature_importances_, expected)


def test_dense_data_are_sparsified_for_the_embedding_only(watcher):
    rng = np.random.default_rng(25)
    X, y = rng.exponential(size=(80, 30)), rng.integers(0, 2, 80)
    z = normalised(X)
    fit(X, y, embedding=watcher, sparsify_above=0.15, random_state=0)
    shown = Watcher.shown[0][1]
    values, probabilities = naive.sparsify_rule(z)
    assert ((shown != 0) <= (values != 0)).all() and np.count_nonzero(shown) < np.count_nonzero(z)
    np.testing.assert_allclose(shown[shown != 0], values[shown != 0], rtol=1e-12)
    assert (shown[probabilities == 1] != 0).all()

    E = rng.normal(size=(80, 2))
    ranker = fit(X, y, 4, embedding=GivenRows(E), sparsify_above=0.15, random_state=0)
    assert_weights_equal(ranker.feature_importances_, naive.relieff(X, y, 4, embedded=E, metric="cosine")[0])


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("share", "changed"), [(0.10, False), (0.20, True)])
def test_only_data_with_more_than_the_given_share_of_non_zeros_are_sparsified(
    watcher, share, changed, storage
):
    rng = np.random.default_rng(26)
    X = np.zeros(4000)
    X[: int(4000 * share)] = rng.uniform(0.001, 1, int(4000 * share))
    X = rng.permutation(X).reshape(80, 50)
    z = normalised(X)
    assert np.count_nonzero(z) == int(4000 * share)
    fit(storage(X), rng.integers(0, 2, 80), embedding=watcher, random_state=0)
    assert (np.abs(Watcher.shown[0][1] - z).max() > 1e-12) == changed


def test_object_embedding_is_left_untouched():
    X, y, _ = SAMPLES["random_dense"]
    pca = PCA(2)
    ranker = fit(X, y, embedding=pca, sparsify_above=1.0)
    assert not hasattr(pca, "components_") and ranker.embedding is pca
    E = PCA(2).fit(normalised(X)).transform(normalised(X))
    expected, _ = naive.relieff(X, y, embedded=E, metric="cosine")
    assert_weights_equal(ranker.feature_importances_, expected)


# -------------------------------------------------------------------------- equal columns and threads, ReliefE


@pytest.mark.parametrize(("k", "abs_mean"), [(5, False), ("adaptive", True)])
def test_equal_columns_and_many_threads(k, abs_mean):
    rng = np.random.default_rng(27)
    X = rng.normal(size=(90, 40))
    copies = np.sort(rng.permutation(40)[:30])
    X[:, copies] = X[:, copies[:1]]
    y = rng.integers(0, 3, 90)
    E = rng.normal(size=(90, 3))
    first = fit(X, y, k, abs_mean, embedding=GivenRows(E))
    assert len(np.unique(first.feature_importances_[copies].view(np.int64))) == 1
    assert (np.diff(first.ranking_[copies]) == 1).all()
    for n_jobs in (1, 2, 4, 8):
        for _ in range(10):
            again = fit(X, y, k, abs_mean, embedding=GivenRows(E), n_jobs=n_jobs)
            assert again.feature_importances_.tobytes() == first.feature_importances_.tobytes()


# ------------------------------------------------------------------------------------------------- with UMAP


@pytest.fixture(scope="module")
def manifold():
    """150 rows near a surface in 12 columns, two classes along it; 90 of them are representatives."""
    rng = np.random.default_rng(28)
    plane = rng.uniform(size=(150, 2))
    X = np.column_stack([plane, np.sin(3 * plane), plane @ rng.normal(size=(2, 8))])
    return X + rng.normal(scale=0.01, size=X.shape), (plane[:, 0] > 0.5).astype(int)


@pytest.fixture(scope="module")
def fitted(manifold):
    return ReliefE(n_neighbors=10, n_representatives=90, random_state=6).fit(*manifold)


def test_umap_ranker_is_finite_and_says_what_it_used(fitted, manifold):
    assert np.isfinite(fitted.feature_importances_).all() and np.abs(fitted.feature_importances_).max() <= 1
    assert 2 <= fitted.n_components_ <= 12 and isinstance(fitted.n_components_, int)
    assert sorted(fitted.ranking_.tolist()) == list(range(1, 13))
    assert fitted.timings_ and all(seconds >= 0 for seconds in fitted.timings_.values())
    # The classes are halves along column 0; the neighbours of the other class lie across the border.
    assert fitted.feature_importances_[0] > 0.1


def test_one_seed_one_result(fitted, manifold):
    np.random.seed(99)  # noqa: NPY002 - the global state must not matter
    same = ReliefE(n_neighbors=10, n_representatives=90, random_state=6).fit(*manifold)
    np.random.seed(100)  # noqa: NPY002
    copy = clone(fitted).set_params(n_jobs=4).fit(*manifold)
    refitted = clone(fitted).fit(*manifold)
    for other in (same, copy, refitted):
        assert other.feature_importances_.tobytes() == fitted.feature_importances_.tobytes()
        assert other.n_components_ == fitted.n_components_
    another = clone(fitted).set_params(random_state=7).fit(*manifold)
    assert another.feature_importances_.tobytes() != fitted.feature_importances_.tobytes()


def test_given_dimension_is_used(manifold):
    ranker = ReliefE(n_components=3, n_representatives=60, random_state=0).fit(*manifold)
    assert ranker.n_components_ == 3 and np.isfinite(ranker.feature_importances_).all()


# -------------------------------------------------------------------------------- little or degenerate data


def _distinct_rows_repeated(n, distinct, p):
    rng = np.random.default_rng(29)
    return rng.normal(size=(distinct, p))[np.resize(np.arange(distinct), n)]


LITTLE = {
    "every row twice": (_distinct_rows_repeated(80, 40, 9), 2048),
    "2000 rows of which 7 are distinct": (_distinct_rows_repeated(2000, 7, 9), 2048),
    "8 rows of 500 columns": (np.random.default_rng(30).normal(size=(8, 500)), 2048),
    "one column": (np.random.default_rng(31).normal(size=(40, 1)), 2048),
    "rows left for transform": (np.random.default_rng(32).normal(size=(60, 9)), 25),
    "sparse rows left for transform": (
        sp.csr_array(sp.random(60, 30, density=0.1, random_state=np.random.default_rng(33), format="csr")),
        25,
    ),
    "all rows equal but one": (np.vstack([np.zeros((30, 9)), np.ones((1, 9))]), 2048),
    "corners at one distance": (np.repeat(np.eye(6), 4, axis=0), 2048),
    "two rows": (np.array([[0.0, 1, 2], [1, 0, 2]]), 2048),
    "one representative": (np.random.default_rng(34).normal(size=(20, 9)), 1),
}


@pytest.mark.parametrize("name", LITTLE)
def test_little_or_degenerate_data(name, caplog):
    X, n_representatives = LITTLE[name]
    n, p = X.shape
    y = np.arange(n) % 2
    ranker = ReliefE(n_representatives=n_representatives, random_state=0)
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("error", NumbaWarning)
        ranker.fit(X, y)
    assert ranker.feature_importances_.shape == (p,) and np.isfinite(ranker.feature_importances_).all()
    messages = [record.getMessage() for record in caplog.records if record.name.startswith("reliefe")]
    assert len(messages) == len(set(messages)), "said more than once"
    d, largest = ranker.n_components_, min(p, min(n, n_representatives) - 2)
    if d is None:
        assert len(messages) == 1, "a skipped embedding is logged, once"
    else:
        assert isinstance(d, int) and 2 <= d <= largest and d < p
    must_embed = {"every row twice", "8 rows of 500 columns", "rows left for transform"}
    must_skip = {
        "one column",
        "all rows equal but one",
        "corners at one distance",
        "two rows",
        "one representative",
    }
    assert not (name in must_embed and d is None) and not (name in must_skip and d is not None)


@pytest.mark.parametrize("metric", METRICS)
def test_without_an_embedding_neighbours_are_found_among_the_columns(metric):
    """One column, and a dimension that is not below the number of columns: X itself takes the place of E."""
    rng = np.random.default_rng(35)
    for X in (rng.normal(size=(30, 1)), rng.normal(size=(30, 2))):
        y = rng.integers(0, 3, 30)
        ranker = ReliefE(metric=metric, n_neighbors=4, random_state=0).fit(X, y)
        assert ranker.n_components_ is None
        expected, _ = naive.relieff(X, y, 4, embedded=normalised(X), metric=metric)
        assert_weights_equal(ranker.feature_importances_, expected)


def test_fewer_neighbours_than_umap_wants_are_logged_once(caplog):
    rng = np.random.default_rng(36)
    with caplog.at_level(logging.DEBUG):
        ReliefE(random_state=0).fit(rng.normal(size=(8, 500)), np.arange(8) % 2)
    messages = [record.getMessage() for record in caplog.records if record.name.startswith("reliefe")]
    assert len([m for m in messages if "neighbour" in m or "neighbor" in m]) == 1


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("n_representatives", [40, 500])
def test_an_embedding_that_works_in_place_changes_nothing_but_its_own_copy(storage, n_representatives, rng):
    X = rng.random((120, 12)) * (rng.random((120, 12)) < 0.6)
    y = rng.integers(0, 3, 120)
    weights = []
    for copy in (True, False):
        in_place = make_pipeline(MaxAbsScaler(copy=copy), TruncatedSVD(3, random_state=0))
        ranker = ReliefE(
            embedding=in_place, sparsify_above=1.0, n_representatives=n_representatives, random_state=0
        )
        given = storage(X.copy())
        weights.append(ranker.fit(given, y).feature_importances_)
        assert np.array_equal(given.toarray() if sp.issparse(given) else given, X)
    assert np.array_equal(*weights)


class Sparse:
    """An embedding whose transform gives a sparse matrix."""

    def fit(self, X):
        return self

    def transform(self, X):
        return sp.csr_matrix(X)[:, :3]


class Words(Sparse):
    """An embedding whose transform gives no numbers."""

    def transform(self, X):
        return [["a", "b"]] * X.shape[0]


def test_an_embedding_may_give_a_sparse_matrix_but_no_words(rng):
    X, y = rng.random((50, 6)), rng.integers(0, 2, 50)
    first = ReliefE(embedding=Sparse(), metric="manhattan").fit(X, y)
    assert first.n_components_ == 3
    with pytest.raises(ValueError, match="embedding: transform did not return a table of numbers"):
        ReliefE(embedding=Words()).fit(X, y)
