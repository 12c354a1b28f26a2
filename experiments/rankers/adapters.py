"""From a ranker's YAML block to weights.

Any class with ``fit(X, y)`` that leaves ``feature_importances_``, ``scores_``, ``coef_`` or ``ranking_``
behind is a ranker, and so is any function ``f(X, y)`` that returns one score per feature. Nothing here knows
the rankers by name; what they can be given is asked of :mod:`experiments.rankers.accepted_targets`.
"""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from experiments.errors import ConfigError, RankerError, wrong_name
from experiments.locate import RESERVED, is_score_function, locate, parameter_names
from experiments.rankers.accepted_targets import why_no_classes, why_no_labels, why_no_numbers
from experiments.rankers.weights import checked_weights, fitted_weights


@dataclass(frozen=True)
class RankResult:
    """What a ranker made of one training fold."""

    weights: np.ndarray  # one finite weight per feature; larger is more relevant
    # Wall clock of ``fit`` (or of the score function) alone, seconds, with those of a cached embedding.
    fit_seconds: float
    # ``latent_dimension`` (int or None), ``phase_seconds`` (dict of phase → seconds) and ``neighbors_used``
    # (for each class, or for all labels together, a dict of number of neighbours → how many samples) where
    # the fitted estimator states them as ``n_components_``, ``timings_`` and ``n_neighbors_used_``;
    # ``cached_seconds`` where it had a memory for embeddings.
    info: dict[str, Any] = field(default_factory=dict)


def build(ranker: Mapping[str, Any]) -> Any:
    """Make the unfitted estimator, or the score function with its settings bound.

    ``_partial_: true`` is for score functions ``f(X, y)``. A parameter may be a block with ``_target_``. Values
    are checked by the target's constructor, and by its ``check_parameters`` if it has one (ConfigError).
    """
    target = ranker.get("_target_")
    if target is None:
        raise ConfigError("the ranker has no _target_ (package.module.Class)")
    obj = locate(target)
    scores = is_score_function(obj, ranker.get("_partial_"))
    names, any_name = parameter_names(obj, leave_out=2 if scores else 0)
    settings = {key: value for key, value in ranker.items() if key not in RESERVED or key in names}
    settings.pop("_target_", None)
    settings.pop("_partial_", None)
    for key in settings:
        if not any_name and key not in names:
            raise wrong_name(f"parameter of {target}", key, names)
    settings = {key: built_value(value) for key, value in settings.items()}
    if scores:
        return functools.partial(obj, **settings)
    try:
        built = obj(**settings)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit() too: it must not end the study
        raise ConfigError(f"{target} cannot be made: {type(error).__name__}: {error}") from error
    if callable(check := getattr(built, "check_parameters", None)):
        try:
            check()
        except (TypeError, ValueError) as error:  # known now, and not only when the first fold has failed
            raise ConfigError(f"{target} refuses its parameters: {error}") from error
    if not callable(getattr(built, "fit", None)):
        raise ConfigError(f"{target} is no ranker: it has no fit(X, y)")
    return built


def built_value(value: Any) -> Any:
    """Make what a value of a configuration stands for.

    Blocks with ``_target_`` become objects, in lists and other blocks too; other values stay as they are.
    """
    if isinstance(value, Mapping):
        if "_target_" not in value:
            return {key: built_value(each) for key, each in value.items()}
        obj = locate(value["_target_"])
        names, any_name = parameter_names(obj)
        settings = {key: each for key, each in value.items() if key not in ("_target_", "_partial_")}
        for key in settings:
            if not any_name and key not in names:
                raise wrong_name(f"parameter of {value['_target_']}", key, names)
        settings = {key: built_value(each) for key, each in settings.items()}
        return functools.partial(obj, **settings) if value.get("_partial_") else obj(**settings)
    if isinstance(value, list | tuple):
        return [built_value(each) for each in value]
    return value


def rank(
    ranker: Mapping[str, Any],
    X: np.ndarray | sparse.csr_matrix,
    y: np.ndarray,
    seed: int,
    *,
    around_fit: Callable[[], AbstractContextManager[Any]] = nullcontext,
    memory: str | None = None,
) -> RankResult:
    """Fit a configured ranker on one training fold.

    The ranker gets a copy of the data, so that none can change what the learner sees later; a dense float64 C
    copy when its scikit-learn tags do not say that it takes sparse input. Data of int8 stay int8 for the rankers of
    this project's library. Copying and densifying happen before the clock starts: the time of a
    ranker is that of ``fit`` alone.

    Parameters
    ----------
    ranker : mapping
        As for :func:`build`.
    X : ndarray or csr_matrix, shape (n, p)
        Training samples; not modified.
    y : ndarray of int, shape (n,), csr_matrix, shape (n, L), or ndarray of float, shape (n,)
        Class codes; 1 for each label a sample has; or a number for each sample. Not modified. Labels reach ReliefF
        and ReliefE as a csr_matrix and every other ranker as a 0/1 array.
    seed : int
        Given to every ``random_state`` that the configuration leaves null, and to the global generators of
        numpy and the standard library while ``fit`` runs (some rankers offer no other way); these are put
        back afterwards.
    around_fit : callable returning a context manager
        Entered just around ``fit``, outside the clock; for measuring memory.
    memory : str, optional
        Folder where Relief estimators keep embeddings for each other. What they did not spend is added to the time
        of the fit, so that none gets its embedding for nothing.

    Returns
    -------
    RankResult

    Raises
    ------
    ConfigError
        As from :func:`build`.
    RankerError
        When the ranker does not take what y holds (classes, labels, numbers); when there are no weights afterwards,
        not one per feature, or any is NaN or infinite.
    Exception
        Whatever the ranker's own ``fit`` raises, unchanged.
    """
    built = build(ranker)
    name = ranker.get("display_name") or ranker["_target_"]
    y = _own_labels(built, y, name) if sparse.issparse(y) else np.array(y, copy=True)
    if y.ndim == 1:
        numbers = y.dtype.kind == "f"
        if why := why_no_numbers(built) if numbers else why_no_classes(built, len(np.unique(y))):
            raise RankerError(f"{name} {why}")
    n_features = X.shape[1]
    if hasattr(built, "fit"):
        seed_estimator(built, seed)
        _share_embeddings(built, memory)
        X = _own_copy(X, keep_sparse=_accepts_sparse(built), keep_type=_accepts_any_type(built))
        run = functools.partial(built.fit, X, y)
    else:
        if "random_state" in parameter_names(built.func)[0] and built.keywords.get("random_state") is None:
            built = functools.partial(built, random_state=seed)
        run = functools.partial(built, _own_copy(X, keep_sparse=False), y)
    with around_fit(), _global_seed(seed):
        start = time.perf_counter()
        returned = run()
        fit_seconds = time.perf_counter() - start
    if hasattr(built, "fit"):
        info = _fitted_info(built)
        fit_seconds += info.get("cached_seconds", 0.0)
        return RankResult(fitted_weights(built, name, n_features), fit_seconds, info)
    return RankResult(checked_weights(returned, name, n_features), fit_seconds)


def _own_copy(X: Any, keep_sparse: bool, keep_type: bool = False) -> Any:
    if sparse.issparse(X):
        # tocsr keeps the flavour (matrix or array) the caller uses
        return X.tocsr(copy=True) if keep_sparse else np.ascontiguousarray(X.toarray(), dtype=np.float64)
    return np.array(X, dtype=X.dtype if keep_type else np.float64, order="C", copy=True)


def _accepts_any_type(estimator: Any) -> bool:
    """Whether a ranker reads genotypes of one byte as they are; others get floats, as all do of other data."""
    return type(estimator).__module__.partition(".")[0] == "reliefe"


def _accepts_sparse(estimator: Any) -> bool:
    if not hasattr(estimator, "__sklearn_tags__"):
        return False
    return bool(estimator.__sklearn_tags__().input_tags.sparse)


def _own_labels(built: Any, y: sparse.csr_matrix, name: str) -> sparse.csr_matrix | np.ndarray:
    """Copy a label matrix in the form that the ranker takes, or say that it takes none.

    scikit-learn's tags do not say in what form several targets are taken; dense is what its own estimators want.
    """
    if why := why_no_labels(built):
        raise RankerError(f"{name} {why}")
    if hasattr(built, "get_params") and "target_distance" in built.get_params(deep=False):
        return y.copy()
    return y.astype(np.int8).toarray()


def seed_estimator(estimator: Any, seed: int) -> None:
    """Set ``random_state`` of an estimator, and of those in it, where it is None."""
    if hasattr(estimator, "get_params") and hasattr(estimator, "set_params"):
        unset = {
            key: seed
            for key, value in estimator.get_params(deep=True).items()
            if value is None and (key == "random_state" or key.endswith("__random_state"))
        }
        if unset:
            estimator.set_params(**unset)
    elif getattr(estimator, "random_state", seed) is None:
        estimator.random_state = seed


def _share_embeddings(estimator: Any, memory: str | None) -> None:
    """Let a Relief estimator use the folder; the ``memory`` of a pipeline, say, would make fits look cheap."""
    if memory is None or not hasattr(estimator, "get_params"):
        return
    parameters = estimator.get_params(deep=False)
    if "target_distance" in parameters and parameters.get("memory", memory) is None:
        estimator.set_params(memory=memory)


@contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    ours, numpys = random.getstate(), np.random.get_state()  # noqa: NPY002 - the global one is the point here
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(ours)
        np.random.set_state(numpys)  # noqa: NPY002


def _fitted_info(estimator: Any) -> dict[str, Any]:
    info: dict[str, Any] = {}
    if hasattr(estimator, "n_components_"):
        dimension = estimator.n_components_
        info["latent_dimension"] = None if dimension is None else int(dimension)
    if isinstance(getattr(estimator, "timings_", None), Mapping):
        info["phase_seconds"] = {str(phase): float(value) for phase, value in estimator.timings_.items()}
    if getattr(estimator, "memory", None) is not None and hasattr(estimator, "cached_seconds_"):
        info["cached_seconds"] = float(estimator.cached_seconds_)
    used = getattr(estimator, "n_neighbors_used_", None)
    if isinstance(used, np.ndarray) and used.ndim in (1, 2):
        counted = [np.unique(column, return_counts=True) for column in used.reshape(len(used), -1).T]
        info["neighbors_used"] = [
            dict(zip(numbers.tolist(), counts.tolist(), strict=True)) for numbers, counts in counted
        ]
    return info


def call(ranker: Mapping[str, Any], X: Any, y: Any, seed: int) -> Any:
    """Call a ranker on the very data given: no copy, no checks, and global random generators as they are."""
    built = build(ranker)
    if hasattr(built, "fit"):
        seed_estimator(built, seed)
        built.fit(X, y)
        return built
    if "random_state" in parameter_names(built.func)[0] and built.keywords.get("random_state") is None:
        built = functools.partial(built, random_state=seed)
    return built(X, y)
