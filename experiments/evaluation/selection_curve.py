"""The score of a learner on the best 1, 2, 3, … features of one table, ranked inside each training fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from experiments.errors import BadInputError
from experiments.evaluation.evaluate import fold_seed, make_learner
from experiments.evaluation.splits import folds
from experiments.learners.forest import fit_predict
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
        Micro F1, or for numbers R², of each repeat and fold.
    macro : float64 ndarray of shape (r, f, k), or None
        Macro F1; None for numbers.
    """

    sizes: np.ndarray
    scores: np.ndarray
    macro: np.ndarray | None

    @property
    def mean(self) -> np.ndarray:
        """Mean over all folds, shape (k,)."""
        return self.scores.mean(axis=(0, 1))

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean over the folds of one repeat, shape (k,).

        The variance among the folds of a repeat is averaged over repeats and divided by the number of folds. More
        repeats do not make it smaller: their folds share all samples.
        """
        return np.sqrt(self.scores.var(axis=1, ddof=1).mean(axis=0) / self.scores.shape[1])


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
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> SelectionCurve:
    """Rank the features in every training fold and score a learner on the best of them.

    Neither the ranker nor what is done about missing values sees a test sample. For the learner, a missing number
    becomes the median of the training samples, and a category becomes a 0/1 column for each of its values, all 0
    where it is missing.

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
        Block of the learner for classes or labels; for numbers it is ridge regression on standardised features.
    n_splits, n_repeats : int
        Folds, and how often they are drawn; stratified for classes and labels.
    seed : int
        Of the folds and the ranker.
    categories : mapping of int to int, optional
        Column of X that is a category → number of its values.
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
    macro = np.empty_like(micro)
    for repeat in range(n_repeats):
        for fold, (train, test) in enumerate(_splits(y, task, n_splits, repeat, seed)):
            progress(repeat * n_splits + fold, n_repeats * n_splits)
            of_fold = fold_seed(seed, repeat, fold)
            order = descending_order(rank(X[train], y[train], of_fold))[: sizes[-1]]
            columns, ends = for_learner(X[train], X[test], order, categories)
            score = _score_numbers if task == "numbers" else partial(_score_f1, learner, task, of_fold)
            with one_thread():
                found = score(*columns, y[train], y[test], [int(ends[size - 1]) for size in sizes], y)
            micro[repeat, fold], macro[repeat, fold] = found
    progress(n_repeats * n_splits, n_repeats * n_splits)
    return SelectionCurve(sizes, micro, None if task == "numbers" else macro)


def for_learner(
    train: np.ndarray, test: np.ndarray, order: np.ndarray, categories: Mapping[int, int]
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
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
    ends = np.cumsum([part.shape[1] for part in parts[0]])
    return (np.hstack(parts[0]), np.hstack(parts[1])), ends


def _splits(y: Any, task: str, n_splits: int, repeat: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    if task != "numbers":
        return folds(y, n_splits=n_splits, repeat=repeat, seed=seed)
    if len(y) < n_splits:
        raise BadInputError(f"{len(y)} samples cannot be split into {n_splits} folds")
    made = KFold(n_splits, shuffle=True, random_state=fold_seed(seed, repeat, n_splits))
    return list(made.split(np.empty(len(y))))


def _score_f1(
    learner: Mapping[str, Any],
    task: str,
    seed: int,
    train: np.ndarray,
    test: np.ndarray,
    y_train: Any,
    y_test: Any,
    ends: Sequence[int],
    y: Any,
) -> tuple[list[float], list[float]]:
    labels = y_train.toarray().astype(np.uint8) if sparse.issparse(y_train) else y_train
    if task == "classes":
        scaler = MaxAbsScaler()
        train, test = scaler.fit_transform(train), scaler.transform(test)
    made = make_learner(learner, seed)
    predictions: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if hasattr(made, "path"):
            fitted = made.path(train, labels, ends)
            predictions = [model.predict(test[:, :end]) for model, end in zip(fitted, ends, strict=True)]
        else:
            predictions = [
                fit_predict(make_learner(learner, seed), train[:, :end], labels, test[:, :end])[0]
                for end in ends
            ]
    if task == "labels":
        scores = [f1_micro_macro_labels(y_test, each) for each in predictions]
    else:
        n_classes = int(np.max(y)) + 1
        scores = [f1_micro_macro(y_test, each, n_classes) for each in predictions]
    return [micro for micro, _ in scores], [macro for _, macro in scores]


def _score_numbers(
    train: np.ndarray, test: np.ndarray, y_train: Any, y_test: Any, ends: Sequence[int], y: Any
) -> tuple[list[float], list[float]]:
    scaler = StandardScaler()
    train, test = scaler.fit_transform(train), scaler.transform(test)
    scores = [
        float(r2_score(y_test, Ridge().fit(train[:, :end], y_train).predict(test[:, :end]))) for end in ends
    ]
    return scores, scores


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
