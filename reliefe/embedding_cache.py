"""Embeddings kept on disk for the next estimator that needs the same one."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib.metadata import version

from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_memory

import reliefe
from reliefe import embedding
from reliefe.engine import Phases


def cached_embedding(memory, kind, arguments, *, n_jobs, random_state, phases):
    """Embed samples or targets, or take the embedding that the same arguments gave before.

    Parameters
    ----------
    memory : None, str or joblib.Memory
        Where embeddings are kept; None keeps none.
    kind : {"rows", "targets"}
        For :func:`reliefe.embedding.embed` or :func:`reliefe.embedding.embed_targets`.
    arguments : dict
        Arguments of that function other than the following.
    n_jobs : int or None
        Number of threads; nothing depends on it.
    random_state : RandomState instance
        Source of randomness. Its state is part of the arguments, and is the same afterwards either way.
    phases : reliefe.engine.Phases
        Gets the seconds that computing took, now or then; ``phases.saved`` is told what was not spent.

    Returns
    -------
    object
        What the function returns.
    """
    if memory is None:
        return _function(kind)(**arguments, n_jobs=n_jobs, random_state=random_state, phases=phases)
    started = time.perf_counter()
    call = check_memory(memory).cache(_computed, ignore=["n_jobs"])
    result, state, seconds = call(
        kind, arguments, random_state.get_state(), _versions(), n_jobs=effective_n_jobs(n_jobs)
    )
    random_state.set_state(state)
    for phase, spent in seconds.items():
        phases.seconds[phase] += spent
    # Looking up and writing down are no part of the embedding, so they are taken off.
    phases.saved += sum(seconds.values()) - (time.perf_counter() - started)
    if kind == "rows" and result.E is None:
        return replace(result, E=arguments["Z"])
    return result


def _versions():
    """Name what decides an embedding besides its arguments."""
    others = {name: version(name) for name in ("umap-learn", "numba", "numpy", "scipy", "scikit-learn")}
    return {"reliefe": reliefe.__version__, **others}


def _computed(kind, arguments, state, versions, n_jobs):
    """Embed; also return the state of the generator afterwards, and the seconds by phase."""
    random_state = check_random_state(0)
    random_state.set_state(state)
    phases = Phases(None)
    result = _function(kind)(**arguments, n_jobs=n_jobs, random_state=random_state, phases=phases)
    if kind == "rows" and result.E is arguments["Z"]:  # skipped: the samples themselves are not worth keeping
        result = replace(result, E=None)
    return result, random_state.get_state(), dict(phases.seconds)


def _function(kind):
    return embedding.embed if kind == "rows" else embedding.embed_targets
