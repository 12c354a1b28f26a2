"""Tests of one feature after the other, each stopped when enough weights are large."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse

from reliefe._threads import Team, pieces
from reliefe.inspection import refits
from reliefe.ranking import TIE

#: Weights at least as large after which a feature stops (h of Besag and Clifford).
STOP = 10
_FIRST, _NEXT = 16, 64  # orders that are drawn at a time


def features_by_permutation(kept, tested, ranker, X, target, exchange, weights, seed, n_permutations, n_jobs):
    """Count weights of permuted features that are at least as large as their own.

    Parameters
    ----------
    kept : reliefe.inspection.one_feature.KeptFeatures or None
        Kept distances; None takes refits.
    tested : int64 ndarray of shape (t,)
        Numbers of features.
    ranker, X, target
        For refits.
    exchange : reliefe.inspection.exchange.Exchange
        Makes orders.
    weights : float64 ndarray of shape (p,)
        Of the data themselves.
    seed, n_permutations, n_jobs : int
        As for the test.

    Returns
    -------
    n_larger, n_used : int64 ndarrays of shape (t,)
    """
    rest = exchange, weights, seed, n_permutations
    if kept is None:
        from reliefe.base import Ranker

        way = {"prefer": "threads"} if isinstance(ranker, Ranker) else {}
        found = Parallel(n_jobs=n_jobs, **way)(
            delayed(_by_refits)(ranker, X, target, int(j), *rest) for j in tested
        )
        found = np.array(found, dtype=np.int64)
    else:
        found = np.empty((tested.shape[0], 2), dtype=np.int64)

        def part(lo, hi):
            for place in range(lo, hi):
                found[place] = _by_distances(kept, int(tested[place]), *rest)

        with Team(n_jobs) as team:
            team.each(part, pieces(tested.shape[0], 1))
    return found[:, 0], found[:, 1]


def orders_of(feature, exchange, constant, seed, n_permutations):
    """Yield orders (b, n) of a feature's values, some at a time; they depend on seed and feature alone."""
    rng = np.random.default_rng([seed, feature, 1])
    done, size = 0, _FIRST
    while done < n_permutations:
        size = min(size, n_permutations - done)
        yield np.stack([exchange.order(rng, constant) for _ in range(size)])
        done, size = done + size, _NEXT


def _by_distances(kept, feature, exchange, weights, seed, n_permutations):
    constant = exchange.is_constant(kept.column(feature))
    observed, slack = float(weights[feature]), TIE * float(np.abs(weights).max())
    larger = used = 0
    for orders in orders_of(feature, exchange, constant, seed, n_permutations):
        found, more = kept.weights(feature, orders, observed, slack, TIE, STOP - larger)
        larger, used = larger + more, used + found.shape[0]
        if larger == STOP:
            break
    return larger, used


def _by_refits(ranker, X, target, feature, exchange, weights, seed, n_permutations):
    constant = exchange.is_constant(column_of(X, feature))
    observed, largest = float(weights[feature]), float(np.abs(weights).max())
    larger = used = 0
    for orders in orders_of(feature, exchange, constant, seed, n_permutations):
        for order in orders:
            permuted = with_permuted(X, feature, order)
            weight = float(refits.fitted_weights(ranker, permuted, target, weights.shape[0])[feature])
            larger += weight >= observed - TIE * max(largest, abs(weight))
            used += 1
            if larger == STOP:
                return larger, used
    return larger, used


def column_of(X, feature):
    """Return the values (n,) of a feature of an array, data frame, list or sparse matrix."""
    if sparse.issparse(X):
        return X.tocsc()[:, [feature]].toarray()[:, 0]
    if hasattr(X, "iloc"):
        return X.iloc[:, feature].to_numpy()
    if hasattr(X, "columns"):  # polars and Arrow
        return np.asarray(X[X.columns[feature]] if hasattr(X, "with_columns") else X.column(feature))
    return np.asarray(X)[:, feature]


def with_permuted(X, feature, order):
    """Return a copy of X whose feature has its values in another order; its type is that of X."""
    if sparse.issparse(X):
        X = X.tocsc()
        return sparse.hstack([X[:, :feature], X[:, [feature]][order], X[:, feature + 1 :]], format="csr")
    if hasattr(X, "iloc"):
        X, column = X.copy(), X.iloc[:, feature]
        X.isetitem(feature, column.iloc[order].set_axis(X.index))
        return X
    if hasattr(X, "with_columns"):
        return X.with_columns(X.to_series(feature)[order])
    if hasattr(X, "set_column"):
        return X.set_column(feature, X.column_names[feature], X.column(feature).take(order))
    X = X.copy() if isinstance(X, np.ndarray) else np.array(X)
    X[:, feature] = X[order, feature]
    return X
