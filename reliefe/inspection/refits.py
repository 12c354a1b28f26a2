"""Refit a ranker on changed data: what permutation tests and subsamples have in common."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.utils.multiclass import type_of_target

_LARGEST_SEED = np.iinfo(np.int32).max


def seeded(ranker, random_state):
    """Return a clone of a ranker in which a seed drawn from ``random_state`` stands for every one that is None.

    All fits of a test then use the same random numbers, and differ in their data alone.
    """
    ranker = clone(ranker)
    if hasattr(ranker, "get_params"):
        names = sorted(
            name for name, value in ranker.get_params().items() if value is None and _is_seed(name)
        )
        ranker.set_params(**{name: draw_seed(random_state) for name in names})
    return ranker


def _is_seed(name):
    return name == "random_state" or name.endswith("__random_state")


def draw_seed(random_state):
    """Draw a seed."""
    return int(random_state.randint(_LARGEST_SEED))


def each_fit(ranker, fits, n_features, n_jobs, warn=False):
    """Yield the weights (n_features,) of one clone of a ranker after the other, in the order of ``fits``.

    Parameters
    ----------
    ranker : estimator
        Cloned for each fit.
    fits : iterable of (X, y)
        What it is fitted on.
    n_features : int
        Number of weights that are expected.
    n_jobs : int or None
        As in scikit-learn. Rankers of this library run on threads, others in processes.
    warn : bool, default=False
        Whether the first fit warns of samples without near samples of a class; the others do not.
    """
    from reliefe.base import Ranker

    way = {"prefer": "threads"} if isinstance(ranker, Ranker) else {}
    pool = Parallel(n_jobs=n_jobs, return_as="generator", **way)
    return pool(
        delayed(fitted_weights)(ranker, X, y, n_features, warn and number == 0)
        for number, (X, y) in enumerate(fits)
    )


def fitted_weights(ranker, X, y, n_features, warn=False):
    """Return the weights (n_features,) of a clone of a ranker; see :func:`each_fit`."""
    from reliefe.base import Ranker
    from reliefe.wrapper import weights_of

    ranker = clone(ranker)
    if isinstance(ranker, Ranker):
        ranker._quiet = not warn
    return weights_of(ranker.fit(X, y), n_features, "inspection")


def n_rows_of(X):
    """Return the number of samples of an array, data frame, list or sparse matrix."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def n_columns_of(X):
    """Return the number of features of an array, data frame, list or sparse matrix."""
    return X.shape[1] if hasattr(X, "shape") else len(X[0])


def names_of(X, ranker, n_features):
    """Return names (n_features,) of the features: of the fitted ranker, else of the data frame; else None."""
    names = getattr(ranker, "feature_names_in_", None)
    if names is None:
        names = getattr(X, "columns", None)
    if names is None or len(names) != n_features:
        return None
    return np.array([str(name) for name in names], dtype=object)


def takes_numbers(ranker):
    """Say whether a ranker, or one that it wraps, takes a numeric target."""
    if is_regressor(ranker):
        return True
    parameters = ranker.get_params() if hasattr(ranker, "get_params") else {}
    return any(
        value == "regression"
        for name, value in parameters.items()
        if isinstance(value, str) and (name == "target" or name.endswith("__target"))
    )


def holds_classes(y, ranker):
    """Say whether y (an array or csr_matrix) holds one class per sample for this ranker."""
    if sparse.issparse(y) or y.ndim != 1 or takes_numbers(ranker):
        return False
    return type_of_target(y) in ("binary", "multiclass")


def check_ranker(ranker):
    """Refuse what is no estimator."""
    if isinstance(ranker, type) or not (hasattr(ranker, "fit") and hasattr(ranker, "get_params")):
        raise TypeError(
            f"ranker must be an estimator with fit and then feature_importances_, got {ranker!r}."
        )


def check_number(name, value, least):
    """Refuse what is no whole number, or below ``least``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}.")
