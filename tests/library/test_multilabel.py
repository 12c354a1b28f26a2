"""Multi-label targets against the twin: six target distances, plain and absMean, fixed and adaptive."""

import tracemalloc
from functools import cache

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from covering import covered
from samples import SAMPLES, GivenRows, assert_weights_equal

import reliefe.embedding
from reliefe import ReliefE, ReliefF

VARIANTS = [(k, abs_mean) for k in (3, 15, "adaptive") for abs_mean in (False, True)]
NAMES = ["random_dense", "ties", "symmetric_ties", "constant_column", "duplicated_rows", "mostly_zeros"]


@cache
def labels(name):
    """Six labels, some of which follow the class; rows without labels and rows with equal sets are among them."""
    X, y, _ = SAMPLES[name]
    T = (np.random.default_rng(70).random((len(X), 6)) < 0.3).astype(int)
    T[:, 0], T[:, 1] = y == 0, y == 1
    T[[0, 3, 9]] = 0
    return T


@cache
def embedded(name):
    return np.random.default_rng(71).normal(size=(len(SAMPLES[name].X), 3))


@cache
def twin(name, distance, k, abs_mean, in_embedding=False):
    X, _, exact = SAMPLES[name]
    where = {"embedded": embedded(name), "metric": "cosine"} if in_embedding else {}
    return naive.relieff_multilabel(X, labels(name), k, abs_mean, distance, exact=exact, **where)


@pytest.mark.filterwarnings("error")
@covered(
    {
        "name": NAMES,
        "distance": list(naive.SET_DISTANCES),
        "k,abs_mean": VARIANTS,
        "storage": [np.asarray, sp.csr_matrix],
    },
    full={"name": ["mostly_zeros"]},
)
def test_fast_is_naive(name, distance, k, abs_mean, storage):
    X = storage(SAMPLES[name].X)
    expected, used = twin(name, distance, k, abs_mean)
    for T in (labels(name), sp.csr_matrix(labels(name)), labels(name).astype(bool)):
        ranker = ReliefF(n_neighbors=k, abs_mean=abs_mean, target_distance=distance).fit(X, T)
        assert_weights_equal(ranker.feature_importances_, expected)
        if k == "adaptive":
            np.testing.assert_array_equal(ranker.n_neighbors_used_, used)


@pytest.mark.parametrize(("k", "abs_mean"), VARIANTS)
@pytest.mark.parametrize("distance", naive.SET_DISTANCES)
@pytest.mark.parametrize("name", ["random_dense", "mostly_zeros"])
def test_neighbours_in_an_embedding(name, distance, k, abs_mean):
    expected, _ = twin(name, distance, k, abs_mean, in_embedding=True)
    ranker = ReliefE(
        n_neighbors=k, abs_mean=abs_mean, target_distance=distance, embedding=GivenRows(embedded(name))
    )
    assert_weights_equal(ranker.fit(SAMPLES[name].X, labels(name)).feature_importances_, expected)


def _places(kind):
    """Embedded targets: apart; or few distinct places, as equal label sets get, and multiples of each other."""
    rng = np.random.default_rng(72)
    if kind == "apart":
        return rng.normal(size=(36, 2)) * 3
    if kind == "repeated":
        return (rng.normal(size=(4, 2)) * 3)[rng.integers(0, 4, 36)]
    if kind == "some at 0":
        return rng.normal(size=(36, 2)) * (rng.random((36, 1)) < 0.7)
    return rng.choice([0.3, 0.7, -1.1], size=(36, 1)) * np.array([[0.6, -1.7]])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("k", "abs_mean"), VARIANTS)
@pytest.mark.parametrize("kind", ["apart", "repeated", "some at 0", "on a line through 0"])
@pytest.mark.parametrize("distance", naive.EMBEDDED_DISTANCES)
def test_distances_between_embedded_targets(distance, kind, k, abs_mean, monkeypatch):
    """The embedding of the targets is put in by hand: UMAP's has no twin."""
    X, _, exact = SAMPLES["random_dense"]
    places = _places(kind)
    monkeypatch.setattr(reliefe.embedding, "embed_targets", lambda **rest: (places, 2))
    ranker = ReliefF(n_neighbors=k, abs_mean=abs_mean, target_distance=distance)
    ranker.fit(X, labels("random_dense"))
    expected, _ = naive.relieff_multilabel(
        X, labels("random_dense"), k, abs_mean, distance, exact=exact, embedded_targets=places
    )
    assert_weights_equal(ranker.feature_importances_, expected)


@pytest.mark.parametrize("distance", naive.EMBEDDED_DISTANCES)
@pytest.mark.parametrize("kind", [ReliefF, ReliefE])
def test_targets_embedded_by_umap(kind, distance):
    rng = np.random.default_rng(73)
    X = rng.normal(size=(80, 8))
    T = np.column_stack([X[:, :4] + X[:, 4:] > 0.5, rng.random((80, 6)) < 0.3])
    first = kind(n_neighbors=5, target_distance=distance, random_state=0).fit(X, T)
    again = kind(n_neighbors=5, target_distance=distance, random_state=0, n_jobs=2).fit(X, sp.csr_matrix(T))
    assert np.isfinite(first.feature_importances_).all()
    assert first.target_n_components_ is None or 2 <= first.target_n_components_ < 10
    assert first.feature_importances_.tobytes() == again.feature_importances_.tobytes()


def test_few_distinct_label_sets():
    rng = np.random.default_rng(74)
    X = rng.normal(size=(60, 6))
    T = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0]])[rng.integers(0, 3, 60)]
    for distance in [*naive.SET_DISTANCES, *naive.EMBEDDED_DISTANCES]:
        ranker = ReliefE(target_distance=distance, n_representatives=40, random_state=0).fit(X, T)
        assert np.isfinite(ranker.feature_importances_).all()


def test_fewer_iterations():
    X, _, _ = SAMPLES["random_dense"]
    T = labels("random_dense")
    for k, abs_mean in VARIANTS:
        ranker = ReliefF(n_neighbors=k, abs_mean=abs_mean, n_iterations=7, random_state=2).fit(X, T)
        rows = ranker.sample_indices_
        assert len(set(rows.tolist())) == 7
        assert_weights_equal(
            ranker.feature_importances_, naive.relieff_multilabel(X, T, k, abs_mean, rows=rows)[0]
        )


def test_default_distance_is_hamming():
    X, _, _ = SAMPLES["random_dense"]
    assert_weights_equal(
        ReliefF().fit(X, labels("random_dense")).feature_importances_,
        twin("random_dense", "hamming", 15, False)[0],
    )


@pytest.mark.parametrize(
    ("T", "message"),
    [
        (np.arange(12).reshape(12, 1) % 2, "column"),
        (np.arange(24).reshape(12, 2) % 3, r"\by\b"),
        (np.full((12, 2), np.nan), r"\by\b"),
        (np.ones((12, 3)), r"\by\b"),
        (np.ones((11, 3)), "length|inconsistent|samples"),
        (np.empty((12, 0)), r"\by\b"),
    ],
)
def test_wrong_label_matrices(T, message):
    X = np.random.default_rng(75).normal(size=(12, 4))
    for given in (T, sp.csr_matrix(T)):
        with pytest.raises(ValueError, match=message):
            ReliefF().fit(X, given)


def test_an_unknown_target_distance_is_named():
    X, y, _ = SAMPLES["random_dense"]
    for wrong in ("foo", None, 3):
        with pytest.raises((TypeError, ValueError), match="target_distance"):
            ReliefF(target_distance=wrong).fit(X, y)


@pytest.mark.parametrize("distance", ["cosine", "hyperbolic"])
def test_labels_that_are_not_embedded_stay_sparse(distance):
    n = 6000  # the embedding is fitted on 2,048 rows, whatever n
    rng = np.random.default_rng(9)
    X, T = rng.random((n, 4)), sp.eye_array(n, format="csr")
    tracemalloc.start()
    ranker = ReliefF(5, target_distance=distance, n_iterations=50, random_state=0).fit(X, T)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ranker.target_n_components_ is None
    assert np.isfinite(ranker.feature_importances_).all()
    assert peak < 8 * n * n / 3
