"""What a ranker left behind: one finite number per feature, or an error that says what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.errors import RankerError

#: Where weights are looked for, in this order.
_ATTRIBUTES = ("feature_importances_", "scores_", "coef_", "ranking_")


def fitted_weights(estimator: Any, name: str, n_features: int) -> np.ndarray:
    """Take the weights of a fitted ranker.

    ``feature_importances_``, else ``scores_``, else ``coef_`` (of several classes: the sum of absolute values, as
    in scikit-learn's ``SelectFromModel``), else ``ranking_`` (1 is the best). A copy.
    """
    for attribute in ("feature_importances_", "scores_"):
        weights = getattr(estimator, attribute, None)
        if weights is not None:
            return checked_weights(weights, name, n_features)
    for attribute, read in (("coef_", _of_coefficients), ("ranking_", _of_ranking)):
        found = getattr(estimator, attribute, None)
        if found is not None:
            return checked_weights(read(found, name, n_features), name, n_features)
    for attribute in _ATTRIBUTES:
        if hasattr(estimator, attribute):
            raise RankerError(f"{name} has {attribute}, but it is None after fit")
    raise RankerError(f"{name} has neither {', '.join(_ATTRIBUTES[:-1])} nor {_ATTRIBUTES[-1]} after fit")


def _of_coefficients(coefficients: Any, name: str, n_features: int) -> np.ndarray:
    """Return one weight per feature: how large its coefficients are."""
    if sparse.issparse(coefficients):
        coefficients = coefficients.toarray()
    rows = np.atleast_2d(np.asarray(coefficients))
    if rows.ndim != 2 or rows.shape[1] != n_features or rows.dtype.kind not in "fiu":
        raise RankerError(
            f"{name} gave coefficients (coef_) of shape {rows.shape} and type {rows.dtype} for {n_features} "
            "features; they must be real numbers, one column per feature"
        )
    return np.abs(rows).sum(axis=0)


def _of_ranking(places: Any, name: str, n_features: int) -> np.ndarray:
    """Return weights that put the feature with the lowest place first."""
    return -checked_weights(places, f"{name} (ranking_)", n_features)


def checked_weights(weights: Any, name: str, n_features: int) -> np.ndarray:
    """Make an array of what a ranker gave as weights.

    One finite real number per feature; labels of a Series or mapping must be positions of features, in any order.
    A copy, in the order of the features; RankerError otherwise.
    """
    if weights is None:
        raise RankerError(f"{name} gave None instead of weights")
    weights = _by_position(weights, name, n_features)
    try:
        weights = _as_numbers(weights)
    except (TypeError, ValueError) as error:
        raise RankerError(f"{name} gave weights that are no numbers: {error}") from error
    if weights.shape != (n_features,):
        raise RankerError(f"{name} gave weights of shape {weights.shape} for {n_features} features")
    bad = np.flatnonzero(~np.isfinite(weights))
    if bad.size:
        raise RankerError(
            f"{name} gave {bad.size} of {n_features} weights that are not finite; "
            f"the first is {weights[bad[0]]} for feature {bad[0]}"
        )
    return weights


def _by_position(weights: Any, name: str, n_features: int) -> Any:
    """Put weights that say whose they are in the order of the features, which have no names here."""
    if isinstance(weights, Mapping):
        weights = pd.Series(list(weights.values()), index=pd.Index(list(weights), dtype=object), dtype=object)
        weights.index = weights.index.infer_objects()
    if isinstance(weights, pd.DataFrame) and weights.shape[1] == 1:
        weights = weights.iloc[:, 0]
    if not isinstance(weights, pd.Series) or len(weights) != n_features:
        return weights  # the shape will be found wrong, if it is
    positions = np.arange(n_features)
    index = weights.index
    if pd.api.types.is_integer_dtype(index.dtype) and np.array_equal(np.sort(index.to_numpy()), positions):
        return weights.reindex(positions)
    shown = ", ".join(map(repr, index[:3].tolist())) + (", …" if n_features > 3 else "")
    raise RankerError(
        f"{name} gave weights under the labels {shown}, which do not say what features they are for; give an array "
        f"in the order of the features, or the labels 0 to {n_features - 1}"
    )


def _as_numbers(weights: Any) -> np.ndarray:
    """Return a float64 copy; raises for what numpy would turn into numbers though it is none."""
    if sparse.issparse(weights):
        raise TypeError("they are a sparse matrix")
    if np.ma.is_masked(weights):
        raise ValueError(f"{np.ma.count_masked(weights)} of them are masked")
    weights = np.asarray(weights)
    if np.iscomplexobj(weights):
        raise TypeError("they are complex")
    kind = weights.dtype.kind
    texts = (each for each in weights.ravel() if isinstance(each, str | bytes)) if kind == "O" else iter(())
    text = weights.ravel()[0] if kind in "US" and weights.size else next(texts, None)
    if text is not None:
        raise TypeError(f"they hold text, such as {str(text)!r}")
    if kind in "mM":
        raise TypeError("they are dates or times")
    return np.array(weights, dtype=np.float64, copy=True)
