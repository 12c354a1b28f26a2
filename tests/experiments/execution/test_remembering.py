"""Embeddings that several rankers need are computed once, change no number, and are nobody's for nothing."""

import json

import numpy as np
import pytest
from cheap import config
from scipy import sparse
from sklearn.datasets import load_wine

from experiments.execution.runner import run_study
from reliefe import ReliefE, ReliefF, embedding

N_SPLITS = 2


@pytest.fixture
def computed(monkeypatch):
    """What is embedded while the test runs."""
    calls = []
    for name in ("embed", "embed_targets"):
        function = getattr(embedding, name)

        def counted(*arguments, name=name, function=function, **settings):
            calls.append(name)
            return function(*arguments, **settings)

        monkeypatch.setattr(embedding, name, counted)
    return calls


def labels(X):
    return sparse.csr_matrix((X[:, :6] > np.median(X[:, :6], axis=0)).astype(np.int8))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_rankers_that_differ_in_what_follows_share_an_embedding(tmp_path, computed, storage):
    X, y = load_wine(return_X_y=True)
    X = storage(X)
    for number, settings in enumerate(
        [{}, {"abs_mean": True}, {"n_neighbors": "adaptive"}, {"metric": "euclidean"}]
    ):
        plain = ReliefE(**settings, random_state=5).fit(X, y)
        del computed[:]
        kept = ReliefE(**settings, random_state=5, memory=str(tmp_path)).fit(X, y)
        assert computed == (["embed"] if number == 0 else [])
        assert np.array_equal(kept.feature_importances_, plain.feature_importances_)
        assert kept.n_components_ == plain.n_components_
        assert plain.remembered_seconds_ == 0.0
        assert (kept.remembered_seconds_ > 0.0) == (number > 0)
        # Whoever remembers is charged what computing took.
        assert kept.timings_["total"] > kept.timings_["embedding"] > 0.0
        if number == 0:
            first = kept.timings_["embedding"]
        assert kept.timings_["embedding"] == first


@pytest.mark.parametrize(
    "other",
    [{"random_state": 6}, {"n_components": 3}, {"n_representatives": 50}, {"sparsify_above": 1.0}],
    ids=str,
)
def test_what_decides_an_embedding_is_told_apart(tmp_path, computed, other):
    X, y = load_wine(return_X_y=True)
    settings = {"random_state": 5, "memory": str(tmp_path)}
    ReliefE(**settings).fit(X, y)
    changed = ReliefE(**settings | other).fit(X, y)
    assert computed == ["embed", "embed"]
    again = ReliefE(**(settings | other | {"memory": None})).fit(X, y)
    assert np.array_equal(changed.feature_importances_, again.feature_importances_)
    ReliefE(**settings).fit(X[:, ::-1], y)
    assert computed == ["embed"] * 4


def test_random_numbers_after_a_remembered_embedding_are_the_same(tmp_path, computed):
    X, _ = load_wine(return_X_y=True)
    Y = labels(X)
    for estimator in (ReliefF, ReliefE):
        settings = {"target_distance": "cosine", "n_iterations": 40, "random_state": 1}
        plain = estimator(**settings).fit(X, Y)
        first = estimator(**settings, memory=str(tmp_path)).fit(X, Y)
        del computed[:]
        second = estimator(**settings, memory=str(tmp_path)).fit(X, Y)
        assert computed == []
        for each in (first, second):
            assert np.array_equal(each.feature_importances_, plain.feature_importances_)
            assert each.target_n_components_ == plain.target_n_components_


def test_a_skipped_embedding_is_remembered_as_skipped(tmp_path, computed):
    X, y = load_wine(return_X_y=True)
    X = X[:, :2]
    plain = ReliefE(random_state=0).fit(X, y)
    for _ in range(2):
        kept = ReliefE(random_state=0, memory=str(tmp_path)).fit(X, y)
        assert kept.n_components_ is None
        assert np.array_equal(kept.feature_importances_, plain.feature_importances_)
    assert computed == ["embed", "embed"]


def test_objects_of_the_user_are_not_remembered(tmp_path):
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


def test_a_study_embeds_each_fold_once_and_has_the_rows_of_one_that_does_not(tmp_path, computed, monkeypatch):
    def frame(results):
        monkeypatch.setattr("experiments.evaluation.evaluate._warm", set())
        configs = [
            config(
                tmp_path / results,
                ranker={
                    "_target_": "reliefe.ReliefE",
                    "abs_mean": abs_mean,
                    "random_state": None,
                    "n_jobs": 1,
                },
                ranker_key=f"abs_mean_{abs_mean}",
            )
            for abs_mean in (False, True)
        ]
        return run_study(configs, n_workers=1).frame

    shared = frame("shared")
    n_folds = len(shared) // 2
    # One more for each ranker, which warms up without remembering.
    assert len(computed) == n_folds + 2
    with monkeypatch.context() as patch:
        patch.setattr("experiments.rankers.adapters._share_embeddings", lambda *arguments: None)
        del computed[:]
        apart = frame("apart")
    assert len(computed) == 2 * n_folds + 2
    for column in ("weights", "f1_micro", "f1_macro", "latent_dimension"):
        for one, other in zip(shared[column], apart[column], strict=True):
            assert np.array_equal(one, other), column
    embedding_seconds = shared["phase_seconds"].map(lambda text: json.loads(text)["embedding"])
    assert (shared["fit_seconds"] > embedding_seconds).all() and (embedding_seconds > 0).all()
    # Memory of a fit that left a part out is not that of the ranker.
    assert shared["peak_memory_mib"].isna().sum() in (n_folds, len(shared))
