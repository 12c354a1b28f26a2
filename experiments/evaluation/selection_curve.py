"""Scores of two learners on the best 1, 2, 3, … features of one table, ranked inside each training fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from experiments.datasets.assignment import Assignment
from experiments.evaluation.evaluate import fold_seed, make_learner
from experiments.evaluation.splits import folds
from experiments.learners.nearest_neighbours import neighbour_means
from experiments.metrics.f1 import f1_micro_macro, f1_micro_macro_labels
from experiments.rankers.instrumentation import one_thread
from reliefe.ranking import descending_order


@dataclass(frozen=True)
class SelectionCurve:
    """Scores along rankings, one for each fold.

    Attributes
    ----------
    sizes : int64 ndarray of shape (k,)
        Numbers of best features.
    scores : float64 ndarray of shape (r, f, k)
        Micro F1, or for numbers R², of nearest neighbours in each repeat and fold.
    macro : float64 ndarray of shape (r, f, k), or None
        Macro F1; None for numbers.
    linear : float64 ndarray of shape (r, f, k)
        The same as ``scores``, of the linear learner.
    """

    sizes: np.ndarray
    scores: np.ndarray
    macro: np.ndarray | None
    linear: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Mean over all folds, shape (k,)."""
        return self.scores.mean(axis=(0, 1))

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of ``mean``, as :func:`standard_error` has it, shape (k,)."""
        return standard_error(self.scores)


def standard_error(scores: np.ndarray) -> np.ndarray:
    """Return the standard error of the mean over the folds of one repeat: (r, f, …) → (…).

    The variance among the folds of a repeat is averaged over repeats and divided by the number of folds. More
    repeats do not make it smaller: their folds share all samples.
    """
    return np.sqrt(scores.var(axis=1, ddof=1).mean(axis=0) / scores.shape[1])


def selection_curve(
    rank: Callable[[np.ndarray, Any, int], np.ndarray],
    X: np.ndarray,
    y: Any,
    *,
    task: str,
    sizes: np.ndarray,
    learner: Mapping[str, Any],
    n_splits: int,
    n_repeats: int,
    seed: int,
    categories: Mapping[int, int] | None = None,
    assignment: Assignment | None = None,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> SelectionCurve:
    """Rank the features in every training fold and score nearest neighbours and a linear learner on the best.

    Neither the ranker nor what is done about missing values sees a test sample. For the learners, a missing number
    becomes the median of the training samples, and a category becomes a 0/1 column for each of its values, all 0
    where it is missing. Neighbours are those of Relief: Manhattan distance, each number divided by its range,
    another category at distance 1.

    Parameters
    ----------
    rank : callable
        (X, y, seed) of training samples → weight of each feature.
    X : float64 ndarray of shape (n, p)
        NaN: missing. A category is a number of its value, from 0.
    y : int array of shape (n,), csr_matrix of shape (n, L), or float array of shape (n,)
        By the task.
    task : str
        ``"classes"``, ``"labels"`` or ``"numbers"``.
    sizes : int64 ndarray of shape (k,)
        Numbers of best features, ascending.
    learner : mapping
        Block of the linear learner for classes or numbers; for labels it is ridge regression of 0 and 1.
    n_splits, n_repeats : int
        Folds, and how often they are drawn: those of the benchmark.
    seed : int
        Of the folds and the ranker.
    categories : mapping of int to int, optional
        Column of X that is a category → number of its values.
    assignment : Assignment, optional
        Groups of samples that stay together.
    n_jobs : int
        Threads of the neighbours; the scores do not depend on it.
    progress : callable
        Told how many folds are done, of how many.

    Returns
    -------
    SelectionCurve

    Raises
    ------
    BadInputError
        Where the samples cannot be split.
    """
    categories = categories or {}
    micro = np.empty((n_repeats, n_splits, len(sizes)))
    macro, linear = np.empty_like(micro), np.empty_like(micro)
    dense = y.toarray().astype(np.uint8) if sparse.issparse(y) else y
    for repeat in range(n_repeats):
        splits = folds(y, n_splits=n_splits, repeat=repeat, seed=seed, assignment=assignment)
        for fold, (train, test) in enumerate(splits):
            progress(repeat * n_splits + fold, n_repeats * n_splits)
            of_fold = fold_seed(seed, repeat, fold)
            order = descending_order(rank(X[train], y[train], of_fold))[: sizes[-1]]
            columns, widths, category = for_learner(X[train], X[test], order, categories)
            ends = [int(widths[size - 1]) for size in sizes]
            with one_thread():
                near = _neighbours(columns, dense[train], ends, category, dense, task, n_jobs)
                along = _linear(learner, task, of_fold, columns, dense[train], ends)
            found = np.array([_score(task, y[test], each, y) for each in near])
            micro[repeat, fold], macro[repeat, fold] = found.T
            linear[repeat, fold] = [_score(task, y[test], each, y)[0] for each in along]
    progress(n_repeats * n_splits, n_repeats * n_splits)
    return SelectionCurve(sizes, micro, None if task == "numbers" else macro, linear)


def for_learner(
    train: np.ndarray, test: np.ndarray, order: np.ndarray, categories: Mapping[int, int]
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
    """Make columns without missing values of the features, in their order.

    Parameters
    ----------
    train, test : float64 ndarrays of shape (n, p) and (m, p)
        NaN: missing.
    order : int ndarray of shape (q,)
        Features, the best first.
    categories : mapping of int to int
        Feature that is a category → number of its values.

    Returns
    -------
    columns : pair of float64 ndarrays, shapes (n, c) and (m, c)
        Of training and test samples.
    ends : int64 ndarray of shape (q,)
        Number of columns of the first 1, 2, … features.
    category : bool ndarray of shape (c,)
        Whether a column stands for a value of a category.
    """
    parts: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for feature in order:
        number = categories.get(int(feature))
        if number is None:
            known = train[:, feature][~np.isnan(train[:, feature])]
            middle = float(np.median(known)) if known.size else 0.0
            for part, X in zip(parts, (train, test), strict=True):
                column = X[:, feature]
                part.append(np.where(np.isnan(column), middle, column)[:, np.newaxis])
        else:
            for part, X in zip(parts, (train, test), strict=True):
                part.append((X[:, feature][:, np.newaxis] == np.arange(number)).astype(np.float64))
    widths = [part.shape[1] for part in parts[0]]
    category = np.repeat([int(feature) in categories for feature in order], widths)
    return (np.hstack(parts[0]), np.hstack(parts[1])), np.cumsum(widths), category


def _neighbours(
    columns: tuple[np.ndarray, np.ndarray],
    y_train: np.ndarray,
    ends: Sequence[int],
    category: np.ndarray,
    y: np.ndarray,
    task: str,
    n_jobs: int,
) -> list[np.ndarray]:
    """Predict by nearest neighbours on the first columns, for each of their numbers."""
    scaler = MinMaxScaler()
    train, test = scaler.fit_transform(columns[0]), scaler.transform(columns[1])
    train[:, category], test[:, category] = columns[0][:, category] / 2, columns[1][:, category] / 2
    if task == "classes":
        targets = np.equal.outer(y_train, np.arange(int(y.max()) + 1))
    else:
        targets = y_train if task == "labels" else y_train[:, np.newaxis]
    means = neighbour_means(train, test, targets, ends, n_jobs)
    if task == "classes":
        return list(means.argmax(axis=2))
    return list((means >= 0.5).astype(np.uint8) if task == "labels" else means[:, :, 0])


def _linear(
    learner: Mapping[str, Any],
    task: str,
    seed: int,
    columns: tuple[np.ndarray, np.ndarray],
    y_train: np.ndarray,
    ends: Sequence[int],
) -> list[np.ndarray]:
    """Predict by the linear learner on the first columns, for each of their numbers."""
    scaler = MaxAbsScaler() if task == "classes" else StandardScaler()
    train, test = scaler.fit_transform(columns[0]), scaler.transform(columns[1])
    made = Ridge() if task == "labels" else make_learner(learner, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if hasattr(made, "path"):
            fitted = made.path(train, y_train, ends)
            return [model.predict(test[:, :end]) for model, end in zip(fitted, ends, strict=True)]
        predicted = [made.fit(train[:, :end], y_train).predict(test[:, :end]) for end in ends]
    return [(each >= 0.5).astype(np.uint8) for each in predicted] if task == "labels" else predicted


def _score(task: str, y_test: Any, predicted: np.ndarray, y: Any) -> tuple[float, float]:
    if task == "numbers":
        return (float(r2_score(y_test, predicted)),) * 2
    if task == "labels":
        return f1_micro_macro_labels(y_test, predicted)
    return f1_micro_macro(y_test, predicted, int(np.max(y)) + 1)


def smallest_within_one_error(curve: SelectionCurve) -> tuple[int, int]:
    """Choose how many features to keep.

    Parameters
    ----------
    curve : SelectionCurve
        Scores of all sizes.

    Returns
    -------
    keep : int
        Place in ``sizes`` of the smallest size whose mean is at least the best mean less its standard error.
    best : int
        Place of the best mean; the smallest size on ties.

    Notes
    -----
    The rule is that of Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984).
    """
    mean = curve.mean
    tie = 1e-12 * np.abs(mean).max()
    best = int(np.flatnonzero(mean >= mean.max() - tie)[0])
    least = mean[best] - curve.standard_error[best]
    return int(np.flatnonzero(mean >= least - tie)[0]), best


def act_together(curve: SelectionCurve, keep: int) -> int | None:
    """Return the smallest place below ``keep`` from which the neighbours gain and the linear learner does not.

    The gain of the neighbours up to place ``keep`` is above two of its standard errors, and the linear learner has
    less than a quarter of it. None where there is no such place.
    """
    for place in range(keep):
        gains = curve.scores[:, :, keep] - curve.scores[:, :, place]
        gain, linear = gains.mean(), (curve.linear[:, :, keep] - curve.linear[:, :, place]).mean()
        if gain > 2 * float(standard_error(gains)) and 4 * linear < gain:
            return place
    return None
