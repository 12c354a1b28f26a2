"""Fitting a learner to predict once, which for random forests needs neither scikit-learn's time nor its memory.

A random forest is grown by :mod:`experiments.learners.random_forest` where that is known to give the same
predictions. Otherwise it is scikit-learn's own, a few trees at a time where rows and labels are many: the leaves of
a tree hold a share for every label, so a forest of full trees takes gigabytes (290 MB a tree on delicious), and
only its predictions are wanted here, which are sums over trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

#: Trees grown together take about this much, bytes.
_TOGETHER = 256 * 2**20

#: How predictions came about: trees equal to scikit-learn's, or the learner's own ``fit`` and ``predict``.
OWN_TREES, LEARNER = "own_trees", "learner"


def fit_predict(learner: Any, X_train: Any, y_train: np.ndarray, X_test: Any) -> tuple[np.ndarray, str]:
    """Fit a learner and predict, and say how.

    Parameters
    ----------
    learner : estimator
        Not fitted; afterwards of no use.
    X_train, X_test : ndarray or csr_matrix, shapes (n, p) and (m, p)
        Features.
    y_train : ndarray of shape (n,) or (n, L)
        Classes, or 0/1 labels.

    Returns
    -------
    predicted : ndarray or scipy sparse, shape (m,) or (m, L)
        The same as ``learner.fit(X_train, y_train).predict(X_test)``.
    way : str
        ``OWN_TREES`` or ``LEARNER``.
    """
    if type(learner) is RandomForestClassifier:
        # numba takes a while to import, and most studies have no forest.
        from experiments.learners import random_forest, self_check

        if random_forest.covers(learner, X_train, y_train, X_test) and self_check.passes():
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

    Parameters
    ----------
    learner : estimator
        Not fitted; afterwards of no use.
    X_train, X_test : ndarray or csr_matrix, shapes (n, p) and (m, p)
        Features.
    y_train : array of shape (n, L)
        0/1 labels.

    Returns
    -------
    ndarray or scipy sparse, shape (m, L)
        What the learner predicts.
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
    # Dividing first, as the forest does: it decides what counts as a draw. A label of which the training rows know
    # one class only has zeros in the place of others, which never win.
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
