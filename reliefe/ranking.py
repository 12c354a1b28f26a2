"""Weights → order of features: the one place that says which weights are equal."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Weights this close to one another are equal, as a share of the largest absolute weight.
TIE = 1e-12


def descending_order(weights: Any, tolerance: float | None = None) -> np.ndarray:
    """Put features in order of their weights, the highest first; equal weights go by index.

    Parameters
    ----------
    weights : array-like of shape (p,) or (n_lists, p)
        Finite numbers. Lists are put in order one by one.
    tolerance : float or None, default=None
        A weight that lies at most this much below the one before it, in descending order, is equal to it. None is
        :data:`TIE` times the largest absolute weight of a list.

    Returns
    -------
    int64 ndarray of the same shape
        Indices of the features.

    Raises
    ------
    ValueError
        If a weight is not finite, or the array has another number of dimensions.

    Notes
    -----
    Sums of the same numbers in another order (dense or sparse storage, permuted samples) differ in their last
    digits. On data with two values most weights are equal on paper, and an order by last digits would be an order
    by noise.
    """
    weights = _checked(weights)
    order = np.argsort(-weights, axis=-1, kind="stable")
    group = _groups(weights, order, tolerance)
    return np.take_along_axis(order, np.lexsort((order, group), axis=-1), axis=-1)


def ranks(weights: Any) -> np.ndarray:
    """Rank features by their weights.

    Parameters
    ----------
    weights : array-like of shape (p,)
        Finite numbers.

    Returns
    -------
    int64 ndarray of shape (p,)
        1 is the highest weight; equal weights stand in the order of their index (:func:`descending_order`).

    Raises
    ------
    ValueError
        If a weight is not finite.
    """
    order = descending_order(weights)
    places = np.empty(order.shape[0], dtype=np.int64)
    places[order] = np.arange(1, order.shape[0] + 1)
    return places


def tied_with_next(weights: Any, tolerance: float | None = None) -> np.ndarray:
    """Tell which places of the order have a weight equal to that of the next place.

    Parameters
    ----------
    weights : array-like of shape (p,) or (n_lists, p)
        Finite numbers.
    tolerance : float or None, default=None
        As for :func:`descending_order`.

    Returns
    -------
    bool ndarray of shape (p − 1,) or (n_lists, p − 1)
        Entry i is about places i and i + 1, from 0.

    Raises
    ------
    ValueError
        If a weight is not finite, or the array has another number of dimensions.
    """
    weights = _checked(weights)
    return np.diff(_groups(weights, np.argsort(-weights, axis=-1, kind="stable"), tolerance), axis=-1) == 0


def _checked(weights):
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim not in (1, 2):
        raise ValueError(f"weights must have one or two dimensions, not the shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("weights must be finite")
    return weights


def _groups(weights, order, tolerance):
    """Return, for each place of the order, the number of its group of equal weights, from 0."""
    if weights.shape[-1] == 0:
        return np.zeros(weights.shape, dtype=np.int64)
    ordered = np.take_along_axis(weights, order, axis=-1)
    if tolerance is None:
        tolerance = TIE * np.abs(weights).max(axis=-1, keepdims=True)
    # Halves, since the difference of two finite weights may be infinite.
    drops = ordered[..., :-1] / 2 - ordered[..., 1:] / 2
    groups = np.zeros(weights.shape, dtype=np.int64)
    np.cumsum(drops > np.asarray(tolerance) / 2, axis=-1, out=groups[..., 1:])
    return groups
