"""Whether the installed scikit-learn grows the trees that :mod:`experiments.learners.random_forest` grows."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import sklearn
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

_logger = logging.getLogger(__name__)


@lru_cache(maxsize=1)
def passes() -> bool:
    """Grow small forests on made-up data both ways, once in a process.

    Returns
    -------
    bool
        Whether all trees and predictions were equal. If not, a warning is logged.
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
    from experiments.learners.random_forest import Forest, fit_predict

    for name, X, y, settings in _made_up():
        learner = RandomForestClassifier(3, **{"random_state": 5, **settings})
        forest = Forest(learner, X, y)
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
        if not np.array_equal(fit_predict(learner, X, y, X), theirs.predict(X)):
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
