"""Fitting a learner to predict once, which for random forests needs neither scikit-learn's time nor its memory.

A random forest is grown by :mod:`experiments.learners.random_forest` where that is known to give the same
predictions. Otherwise it is scikit-learn's own, a few trees at a time where rows and labels are many: the leaves of
a tree hold a share for every label, so a forest of full trees takes gigabytes (290 MB a tree on delicious), and
only its predictions are wanted here, which are sums over trees.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

_logger = logging.getLogger(__name__)

#: Trees grown together take about this much, bytes.
_TOGETHER = 256 * 2**20

#: How predictions came about: trees equal to scikit-learn's, or the learner's own ``fit`` and ``predict``.
OWN_TREES, LEARNER = "own_trees", "learner"


def fit_predict(learner: Any, X_train: Any, y_train: np.ndarray, X_test: Any) -> tuple[np.ndarray, str]:
    """Fit a learner and predict, and say how.

    Returns what ``learner.fit(X_train, y_train).predict(X_test)`` would, and ``OWN_TREES`` or ``LEARNER``.
    """
    if type(learner) is RandomForestClassifier:
        # numba takes a while to import, and most studies have no forest.
        from experiments.learners import random_forest

        if random_forest.covers(learner, X_train, y_train, X_test) and passes_self_check():
            return random_forest.fit_predict(learner, X_train, y_train, X_test), OWN_TREES
    if y_train.ndim == 2:
        return fit_predict_labels(learner, X_train, y_train, X_test), LEARNER
    learner.fit(X_train, y_train)
    return learner.predict(X_test), LEARNER


def fit_predict_labels(learner: Any, X_train: Any, y_train: np.ndarray, X_test: Any) -> np.ndarray:
    """Fit a learner and predict labels, with scikit-learn's trees.

    The same as ``learner.fit(X_train, y_train).predict(X_test)``. Forests are grown a few trees at a time
    (``warm_start``, which draws the seeds of the trees as one fit does); their votes are added up in the order of
    the trees, as the forest does, and the trees are forgotten.
    """
    if not _in_parts(learner) or X_train.shape[1] != X_test.shape[1]:
        learner.fit(X_train, y_train)
        return learner.predict(X_test)
    n_trees = learner.n_estimators
    # Once here instead of in every part: what fitting and the trees turn the features into anyway.
    if sparse.issparse(X_train):
        X_train, X_test = X_train.astype(np.float32).tocsc(), X_test.astype(np.float32).tocsr()
        X_train.sort_indices()
    else:
        X_train, X_test = (np.ascontiguousarray(each, dtype=np.float32) for each in (X_train, X_test))
    learner.set_params(warm_start=True)
    votes: np.ndarray | None = None
    n_grown, n_more = 0, 1  # the first tree tells how large they are
    while n_grown < n_trees:
        n_more = min(n_more, n_trees - n_grown)
        learner.set_params(n_estimators=n_grown + n_more).fit(X_train, y_train)
        for tree in learner.estimators_[n_grown:]:
            # Shares of the classes for all labels at once; ``predict_proba`` has them label by label.
            shares = tree.tree_.predict(X_test)
            votes = shares if votes is None else np.add(votes, shares, out=votes)
        n_grown += n_more
        n_more = max(1, _TOGETHER // max(1, learner.estimators_[-1].tree_.value.nbytes))
        learner.estimators_[:] = [None] * n_grown  # their number is all that the next part asks for
    # Dividing first, as the forest does: it decides what counts as a draw. A label of which the training samples
    # know one class only has zeros in the place of others, which never win.
    winners = np.argmax(votes / n_trees, axis=2)
    predicted = np.empty((X_test.shape[0], y_train.shape[1]), dtype=y_train.dtype)
    for label, classes in enumerate(learner.classes_):
        predicted[:, label] = classes.take(winners[:, label])
    return predicted


def _in_parts(learner: Any) -> bool:
    """Whether a learner is a forest that gives the same predictions when it is grown in parts."""
    if type(learner) not in (RandomForestClassifier, ExtraTreesClassifier):
        return False
    parameters = learner.get_params(deep=False)
    seed = parameters["random_state"]
    return (
        isinstance(parameters["n_estimators"], int)
        and parameters["n_estimators"] > 1
        and isinstance(seed, int)  # a generator would go on instead of starting anew
        and not parameters["oob_score"]
        and not parameters["warm_start"]
        and parameters["class_weight"] is None  # "balanced" and warm_start do not go together
    )


@lru_cache(maxsize=1)
def passes_self_check() -> bool:
    """Say whether the installed scikit-learn grows the trees that :mod:`experiments.learners.random_forest` grows.

    Small forests on made-up data are grown both ways, once in a process.
    """
    try:
        differing = _differing()
    except Exception as error:
        differing = f"{type(error).__name__}: {error}"
    if differing:
        _logger.warning(
            "random forests are left to scikit-learn %s, whose trees are not those that are grown here (%s)",
            sklearn.__version__,
            differing,
        )
    return not differing


def _differing() -> str:
    """Return the first kind of data on which trees or predictions differ, or ""."""
    from experiments.learners import random_forest

    for name, X, y, settings in _made_up():
        learner = RandomForestClassifier(3, **{"random_state": 5, **settings})
        forest = random_forest.Forest(learner, X, y)
        theirs = RandomForestClassifier(**learner.get_params()).fit(X, y)
        for (tree, n_nodes), other in zip(forest.trees(), theirs.estimators_, strict=True):
            other = other.tree_
            if (
                n_nodes != other.node_count
                or not np.array_equal(tree.threshold[:n_nodes], other.threshold)
                or not np.array_equal(tree.feature[:n_nodes], np.maximum(other.feature, -1))
                or not np.array_equal(tree.left[:n_nodes], other.children_left)
                or not np.array_equal(tree.right[:n_nodes], other.children_right)
            ):
                return name
        if not np.array_equal(random_forest.fit_predict(learner, X, y, X), theirs.predict(X)):
            return name
    return ""


def _made_up() -> Iterator[tuple[str, object, np.ndarray, dict]]:
    """Yield names, features, classes or labels, and settings of forests."""
    rng = np.random.default_rng(3)
    n = 90
    classes = rng.integers(0, 3, n)
    # Labels that hang together, one that all rows have, one that none has.
    labels = (rng.random((n, 7)) < [0.05, 0.1, 0.3, 0.5, 0.8, 0, 1]).astype(np.uint8)
    labels[:, 3] |= labels[:, 1]
    signs = (rng.random((n, 12)) < 0.5 * rng.random(12)).astype(float)
    # The same split more than once, the other way round too: ties whose rounding decides.
    twice = np.hstack([signs, 1 - signs, signs])
    counts = np.where(rng.random((n, 30)) < 0.15, rng.integers(-2, 5, (n, 30)), 0).astype(float)
    few = rng.integers(0, 3, (n, 6)) + 6e-8 * rng.integers(0, 3, (n, 6))
    continuous = rng.normal(size=(n, 9)) + labels[:, 1:2]
    yield "0/1 values", sparse.csr_matrix(twice), labels, {}
    yield "0/1 values, repeated samples", twice[rng.integers(0, n // 3, n)], labels, {}
    yield "counts", sparse.csr_matrix(counts), labels, {"max_features": 0.4}
    yield "counts, classes", counts, classes, {"min_samples_leaf": 3, "max_features": "log2"}
    yield "continuous values", continuous, labels, {"max_depth": 5}
    yield "continuous values, classes", continuous, classes, {"bootstrap": False}
    yield "values that are nearly equal", few, labels, {"max_features": None, "min_impurity_decrease": 1e-3}
