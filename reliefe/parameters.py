"""Every check of a ranker's parameters, made once; the code behind it trusts them."""

from __future__ import annotations

from difflib import get_close_matches
from numbers import Integral, Real

import numpy as np

from reliefe._threads import Team
from reliefe.inputs import categorical_columns
from reliefe.scaling import distinct_values

#: What the parameters ``target`` and ``missing`` may be.
TARGETS = ("classification", "regression")
MISSING = ("raise", "ignore")

_DISCRETE_FEATURES = "discrete_features must be None, a mask, a list of feature numbers or of names"


def check_parameters(estimator):
    """Check the parameters of a ReliefF or ReliefE object.

    Raises
    ------
    TypeError, ValueError
        Naming the parameter, its value and what is allowed.
    """
    parameters = estimator.get_params(deep=False)
    k = parameters["n_neighbors"]
    if isinstance(k, str):
        if k != "adaptive":
            raise ValueError(f'n_neighbors must be a positive integer or "adaptive", got {k!r}.')
    else:
        _positive_integer("n_neighbors", k, ' or "adaptive"')
    for name in ("abs_mean", "verbose"):
        _check_switch(name, parameters[name])
    _check_target_distance(parameters["target_distance"])
    if parameters["n_iterations"] is not None:
        _positive_integer("n_iterations", parameters["n_iterations"], " or None")
    _check_selection(parameters["n_features_to_select"])
    check_n_jobs(parameters["n_jobs"])
    check_random_state(parameters["random_state"])
    _check_memory(parameters["memory"])
    _check_target(parameters["target"], parameters["sigma"])
    check_column_parameters(parameters)
    if "compatible" in parameters:
        _check_compatible(parameters["compatible"])
        if parameters["compatible"]:
            _check_skrebate_has_it(parameters)
    if "metric" in parameters:
        _check_embedding(parameters)


def _check_skrebate_has_it(parameters):
    """Refuse what has no counterpart in scikit-rebate's ReliefF."""
    for name, only in (("target", "classification"), ("abs_mean", False), ("n_iterations", None)):
        if parameters[name] != only:
            raise ValueError(
                f'compatible="skrebate" goes with {name}={only!r} only, got {parameters[name]!r}, which '
                "scikit-rebate's ReliefF does not know or takes for something else; use compatible=None."
            )
    if parameters["n_neighbors"] == "adaptive":
        raise ValueError(
            'compatible="skrebate" needs n_neighbors as a number (scikit-rebate\'s default is 100), got "adaptive".'
        )


def check_threshold_parameters(estimator):
    """Check the parameters of SURF, SURFStar, MultiSURF or MultiSURFStar; see :func:`check_parameters`."""
    parameters = estimator.get_params(deep=False)
    _check_switch("verbose", parameters["verbose"])
    _check_selection(parameters["n_features_to_select"])
    check_n_jobs(parameters["n_jobs"])
    check_random_state(parameters["random_state"])
    check_column_parameters(parameters)
    _check_compatible(parameters["compatible"])
    if "target" in parameters:
        _check_target_distance(parameters["target_distance"])
        _check_target(parameters["target"])
        if parameters["compatible"] and parameters["target"] == "regression":
            raise ValueError(
                'compatible="skrebate" goes with target="classification" only: numeric targets are ranked by '
                "RReliefF's weights here, and otherwise in scikit-rebate; use compatible=None."
            )
    _check_embedding({**parameters, "embedding": "umap"} if parameters["embedding"] is None else parameters)


def check_wrapper_parameters(estimator):
    """Check the parameters of TuRF or VLS; see :func:`check_parameters`."""
    parameters = estimator.get_params(deep=False)
    ranker = parameters["estimator"]
    if ranker is not None and (isinstance(ranker, type) or not hasattr(ranker, "fit")):
        raise TypeError(
            f"estimator must be None or a ranker with fit and then feature_importances_, got {ranker!r}."
        )
    for name in ("removed", "subset_size"):
        if name in parameters:
            _check_amount(name, parameters[name])
    if parameters.get("n_subsets") is not None:
        _positive_integer("n_subsets", parameters["n_subsets"], " or None")
    if parameters.get("n_final") is not None:
        _check_amount("n_final", parameters["n_final"], "None, ")
    _check_selection(parameters["n_features_to_select"])
    check_random_state(parameters["random_state"])


def _check_compatible(compatible):
    if compatible is not None and (not isinstance(compatible, str) or compatible != "skrebate"):
        raise ValueError(f'compatible must be None or "skrebate", got {compatible!r}.')


def _check_switch(name, value):
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}.")


def check_n_jobs(n_jobs):
    """Refuse what is no number of jobs: neither None nor an integer other than 0."""
    if n_jobs is not None and (not _is_integer(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}.")


def _check_embedding(parameters):
    from reliefe.distances import METRICS  # here: reliefe.inspection checks its parameters without kernels

    if not isinstance(parameters["metric"], str) or parameters["metric"] not in METRICS:
        raise ValueError(f"metric must be one of {sorted(METRICS)}, got {parameters['metric']!r}.")
    embedding = parameters["embedding"]
    if isinstance(embedding, str):
        if embedding != "umap":
            raise ValueError(
                f'embedding must be "umap" or an object with fit and transform, got {embedding!r}.'
            )
    elif isinstance(embedding, type) or not (hasattr(embedding, "fit") and hasattr(embedding, "transform")):
        raise TypeError(f'embedding must be "umap" or an object with fit and transform, got {embedding!r}.')
    d = parameters["n_components"]
    if isinstance(d, str):
        if d != "twonn":
            raise ValueError(f'n_components must be a positive integer or "twonn", got {d!r}.')
    else:
        _positive_integer("n_components", d, ' or "twonn"')
    _positive_integer("n_representatives", parameters["n_representatives"])
    share = parameters["sparsify_above"]
    if not isinstance(share, Real) or isinstance(share, bool):
        raise TypeError(f"sparsify_above must be a number from 0 to 1, got {share!r}.")
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"sparsify_above must be a number from 0 to 1, got {share!r}.")


def _check_target_distance(distance):
    from reliefe.targets import EMBEDDED_DISTANCES, SET_DISTANCES  # here, as above

    known = {**SET_DISTANCES, **EMBEDDED_DISTANCES}
    if not isinstance(distance, str) or distance not in known:
        raise ValueError(f"target_distance must be one of {sorted(known)}, got {distance!r}.")


def _check_target(target, sigma=None):
    if not isinstance(target, str) or target not in TARGETS:
        raise ValueError(f"target must be one of {list(TARGETS)}, got {target!r}.")
    if sigma is None:
        return
    if not isinstance(sigma, Real) or isinstance(sigma, (bool, np.bool_)):
        raise TypeError(f"sigma must be a positive number or None, got {sigma!r}.")
    if not 0.0 < sigma < np.inf:
        raise ValueError(f"sigma must be a positive number or None, got {sigma!r}.")


def check_column_parameters(parameters):
    """Check ``missing``, ``discrete_features`` and ``discrete_threshold`` as far as this goes without knowing X.

    Parameters
    ----------
    parameters : dict
        Of an estimator.

    Raises
    ------
    TypeError, ValueError
        Naming the parameter, its value and what is allowed.
    """
    missing = parameters["missing"]
    if not isinstance(missing, str) or missing not in MISSING:
        raise ValueError(f"missing must be one of {list(MISSING)}, got {missing!r}.")
    if "discrete_features" not in parameters:  # ReliefE
        return
    _positive_integer("discrete_threshold", parameters["discrete_threshold"])
    discrete = parameters["discrete_features"]
    if isinstance(discrete, str) and discrete not in ("auto", "from_dtype"):
        raise ValueError(f'{_DISCRETE_FEATURES}, "auto" or "from_dtype", got {discrete!r}.')


def categories_of(discrete_features, X):
    """Say which columns of the caller's X hold categories by their type, if that is asked for.

    Parameters
    ----------
    discrete_features : object
        As in :class:`reliefe.ReliefF`.
    X : object
        As the caller handed it in.

    Returns
    -------
    bool ndarray of shape (p,), or None
        None unless ``discrete_features`` is "from_dtype".
    """
    asked = isinstance(discrete_features, str) and discrete_features == "from_dtype"
    return categorical_columns(X) if asked else None


def discrete_columns(
    discrete_features, threshold, X, profile=None, n_jobs=None, *, names=None, categories=None
):
    """Say which features are discrete.

    Parameters
    ----------
    discrete_features : None, "auto", "from_dtype", or array-like of booleans (p,), of integers or of names
        As in :class:`reliefe.ReliefF`.
    threshold : int
        With "auto", the largest number of distinct values of a discrete feature.
    X : ndarray or csr_matrix of shape (n, p)
        From :func:`reliefe.validation.check_X`.
    profile : reliefe.columns.Profile, optional
        From there, too.
    n_jobs : int or None
        Number of threads.
    names : array-like of str (p,), optional
        Names of the features.
    categories : bool ndarray of shape (p,), optional
        From :func:`categories_of`; needed with "from_dtype".

    Returns
    -------
    bool ndarray of shape (p,), or None when there are none
    """
    p = X.shape[1]
    if discrete_features is None:
        return None
    if isinstance(discrete_features, str):
        if discrete_features == "from_dtype":
            return categories
        if profile is None:
            return distinct_values(X) <= threshold
        with Team(n_jobs) as team:
            return profile.n_distinct(X, np.arange(p), team) <= threshold
    given = np.asarray(discrete_features)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "biuUTO"):
        raise TypeError(f'{_DISCRETE_FEATURES}, "auto" or "from_dtype", got {discrete_features!r}.')
    if given.dtype.kind == "b":
        if given.shape[0] != p:
            raise ValueError(
                f"discrete_features is a mask for {given.shape[0]} features, but X has {p} features."
            )
        return given.copy()
    if given.size and given.dtype.kind in "UTO":
        given = _places_of(discrete_features, names)
    outside = given[(given < 0) | (given >= p)]
    if outside.size:
        raise ValueError(f"discrete_features names the feature {outside[0]}; X has the features 0 … {p - 1}.")
    mask = np.zeros(p, dtype=bool)
    mask[given.astype(np.int64)] = True
    return mask


def _places_of(wanted, names):
    """Find features by name."""
    if not all(isinstance(name, str) for name in wanted):
        raise TypeError(f'{_DISCRETE_FEATURES}, "auto" or "from_dtype", got {wanted!r}.')
    if names is None:
        raise ValueError(
            f"discrete_features names the feature {str(wanted[0])!r}, but the features of X have no names; hand in "
            "a data frame, or give feature numbers."
        )
    places = {str(name): place for place, name in enumerate(names)}
    strange = [str(name) for name in wanted if str(name) not in places]
    if strange:
        near = get_close_matches(strange[0], places, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"discrete_features names the feature {strange[0]!r}, which X does not have{hint}")
    return np.array([places[str(name)] for name in wanted], dtype=np.int64)


def _check_memory(memory):
    if memory is not None and not isinstance(memory, str) and not hasattr(memory, "cache"):
        raise TypeError(f"memory must be None, the path of a folder or a joblib.Memory, got {memory!r}.")


def _is_integer(value):
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def _positive_integer(name, value, otherwise=""):
    if not _is_integer(value):
        raise TypeError(f"{name} must be a positive integer{otherwise}, got {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be a positive integer{otherwise}, got {value!r}.")


def _check_selection(value):
    """Check n_features_to_select as far as this goes without knowing the number of features."""
    if value is not None:
        _check_amount("n_features_to_select", value, "None, ")


def _check_amount(name, value, otherwise=""):
    """Check a number of features, or a share of them."""
    if _is_integer(value):
        if value >= 1:
            return
    elif isinstance(value, Real) and not isinstance(value, (bool, np.bool_)):
        if 0.0 < value <= 1.0:
            return
    else:
        raise TypeError(f"{name} must be {otherwise}a positive integer or a share in (0, 1], got {value!r}.")
    raise ValueError(f"{name} must be {otherwise}a positive integer or a share in (0, 1], got {value!r}.")


def check_random_state(value):
    """Refuse what is no seed: neither None, nor an integer in 0 … 2**32 − 1, nor a RandomState of numpy."""
    if value is None or isinstance(value, np.random.RandomState):
        return
    if not _is_integer(value):
        raise TypeError(f"random_state must be None, an integer or a numpy RandomState, got {value!r}.")
    if not 0 <= value < 2**32:
        raise ValueError(f"random_state must lie in 0 … 2**32 − 1, got {value!r}.")
