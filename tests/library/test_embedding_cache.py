"""Embeddings that several rankers need are computed once, change no weight, and count in the seconds of each."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from reliefe import ReliefE, ReliefF


def labels(X):
    return sparse.csr_matrix((X[:, :6] > np.median(X[:, :6], axis=0)).astype(np.int8))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_rankers_that_differ_in_what_follows_share_an_embedding(tmp_path, computed_embeddings, storage):
    X, y = load_wine(return_X_y=True)
    X = storage(X)
    for number, settings in enumerate(
        [{}, {"abs_mean": True}, {"n_neighbors": "adaptive"}, {"metric": "euclidean"}]
    ):
        plain = ReliefE(**settings, random_state=5).fit(X, y)
        del computed_embeddings[:]
        kept = ReliefE(**settings, random_state=5, memory=str(tmp_path)).fit(X, y)
        assert computed_embeddings == (["embed"] if number == 0 else [])
        assert np.array_equal(kept.feature_importances_, plain.feature_importances_)
        assert kept.n_components_ == plain.n_components_
        assert plain.cached_seconds_ == 0.0
        assert (kept.cached_seconds_ > 0.0) == (number > 0)
        # A fit that takes it from the cache is charged what computing took.
        assert kept.timings_["total"] > kept.timings_["embedding"] > 0.0
        if number == 0:
            first = kept.timings_["embedding"]
        assert kept.timings_["embedding"] == first


@pytest.mark.parametrize(
    "other",
    [{"random_state": 6}, {"n_components": 3}, {"n_representatives": 50}, {"sparsify_above": 1.0}],
    ids=str,
)
def test_what_decides_an_embedding_is_told_apart(tmp_path, computed_embeddings, other):
    X, y = load_wine(return_X_y=True)
    settings = {"random_state": 5, "memory": str(tmp_path)}
    ReliefE(**settings).fit(X, y)
    changed = ReliefE(**settings | other).fit(X, y)
    assert computed_embeddings == ["embed", "embed"]
    again = ReliefE(**(settings | other | {"memory": None})).fit(X, y)
    assert np.array_equal(changed.feature_importances_, again.feature_importances_)
    ReliefE(**settings).fit(X[:, ::-1], y)
    assert computed_embeddings == ["embed"] * 4


def test_random_numbers_after_a_cached_embedding_are_the_same(tmp_path, computed_embeddings):
    X, _ = load_wine(return_X_y=True)
    Y = labels(X)
    for estimator in (ReliefF, ReliefE):
        settings = {"target_distance": "cosine", "n_iterations": 40, "random_state": 1}
        plain = estimator(**settings).fit(X, Y)
        first = estimator(**settings, memory=str(tmp_path)).fit(X, Y)
        del computed_embeddings[:]
        second = estimator(**settings, memory=str(tmp_path)).fit(X, Y)
        assert computed_embeddings == []
        for each in (first, second):
            assert np.array_equal(each.feature_importances_, plain.feature_importances_)
            assert each.target_n_components_ == plain.target_n_components_


def test_a_skipped_embedding_is_cached_as_skipped(tmp_path, computed_embeddings):
    X, y = load_wine(return_X_y=True)
    X = X[:, :2]
    plain = ReliefE(random_state=0).fit(X, y)
    for _ in range(2):
        kept = ReliefE(random_state=0, memory=str(tmp_path)).fit(X, y)
        assert kept.n_components_ is None
        assert np.array_equal(kept.feature_importances_, plain.feature_importances_)
    assert computed_embeddings == ["embed", "embed"]


def test_embeddings_by_objects_of_the_user_are_not_cached(tmp_path):
    X, y = load_wine(return_X_y=True)

    class Plane:
        def fit(self, X):
            fitted.append(1)
            return self

        def transform(self, X):
            return np.asarray(X)[:, :2]

        def get_params(self, deep=True):
            return {}

    fitted = []
    for _ in range(2):
        ReliefE(embedding=Plane(), sparsify_above=1.0, memory=str(tmp_path), random_state=0).fit(X, y)
    assert len(fitted) == 2


@pytest.mark.parametrize("memory", [3, True, object()])
def test_a_wrong_memory_is_named(memory):
    with pytest.raises(TypeError, match="memory must be None"):
        ReliefF(memory=memory).fit(*load_wine(return_X_y=True))
