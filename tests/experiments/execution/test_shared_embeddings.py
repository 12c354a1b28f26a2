"""A study computes an embedding that several rankers need once, and its rows are the same otherwise."""

import json

import numpy as np
from cheap import config

from experiments.execution.runner import run_study


def test_a_study_embeds_each_fold_once_and_has_the_rows_of_one_that_does_not(
    tmp_path, computed_embeddings, monkeypatch
):
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
    # One more for each ranker, which warms up without the cache.
    assert len(computed_embeddings) == n_folds + 2
    with monkeypatch.context() as patch:
        patch.setattr("experiments.rankers.adapters._share_embeddings", lambda *arguments: None)
        del computed_embeddings[:]
        apart = frame("apart")
    assert len(computed_embeddings) == 2 * n_folds + 2
    for column in ("weights", "f1_micro", "f1_macro", "latent_dimension"):
        for one, other in zip(shared[column], apart[column], strict=True):
            assert np.array_equal(one, other), column
    embedding_seconds = shared["phase_seconds"].map(lambda text: json.loads(text)["embedding"])
    assert (shared["fit_seconds"] > embedding_seconds).all() and (embedding_seconds > 0).all()
    # Memory of a fit that left a part out is not that of the ranker.
    assert shared["peak_memory_mib"].isna().sum() in (n_folds, len(shared))
