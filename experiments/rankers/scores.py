"""Rankers from scikit-learn's parts that are no rankers by themselves."""

from __future__ import annotations

import inspect

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import chi2 as chi2_scores
from sklearn.feature_selection import f_classif, r_regression
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler

#: What asks for the L1 penalty: newer versions of scikit-learn deprecate ``penalty``.
_L1 = (
    {"l1_ratio": 1.0}
    if inspect.signature(LogisticRegression).parameters["penalty"].default == "deprecated"
    else {"penalty": "l1"}
)


def anova_f(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Score features by the F value of a one-way analysis of variance.

    As the share of a feature's variance between the classes, 0 … 1 (η²): F's order, but finite where classes do
    not vary within themselves. 0 for a constant feature.
    """
    n_between, n_within = _degrees(y)
    scores, varying = np.zeros(X.shape[1]), np.ptp(X, axis=0) > 0
    if varying.any():
        with np.errstate(divide="ignore"):
            F = f_classif(X[:, varying], y)[0]
            scores[varying] = 1.0 / (1.0 + n_within / (n_between * F))
    return scores


def linear_f(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Score features by the F value of a linear regression of a numeric target on each of them.

    As the share of the target's variance that the feature explains, 0 … 1 (r²): F's order, but finite where it
    explains all. 0 for a constant feature.
    """
    scores, varying = np.zeros(X.shape[1]), np.ptp(X, axis=0) > 0
    if varying.any():
        scores[varying] = r_regression(X[:, varying], y) ** 2
    return scores


linear_f.takes_numbers = True  # type: ignore[attr-defined]


def _degrees(y: np.ndarray) -> tuple[int, int]:
    n_classes = len(np.unique(y))
    if n_classes < 2 or len(y) <= n_classes:
        raise ValueError(
            f"variance between and within classes needs two classes and more samples than classes; there are "
            f"{len(y)} samples of {n_classes} classes"
        )
    return n_classes - 1, len(y) - n_classes


def chi2(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Score features by the χ² statistic of their sums over classes.

    Features are scaled to 0 … 1 first: the statistic takes no negative values and depends on units. 0 for a
    constant feature.
    """
    if np.ndim(y) != 1:
        raise ValueError(f"chi2 takes one class per sample, not a matrix of labels of shape {np.shape(y)}")
    scores = chi2_scores(MinMaxScaler(clip=True).fit_transform(X), y)[0]
    return np.where(np.ptp(X, axis=0) > 0, scores, 0.0)


class L1Logistic(BaseEstimator):
    """Size of the coefficients of a logistic regression with L1 penalty, one class against the rest.

    Features are standardised first, so that coefficients compare. Most coefficients are exactly 0, and features
    that share that weight are ranked by their index.

    ``feature_importances_``: the largest absolute coefficient over the classes.
    """

    def __init__(
        self, C: float = 1.0, tol: float = 1e-4, max_iter: int = 1000, random_state: int | None = None
    ):
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> L1Logistic:
        """Fit the classifier to samples (n, p) and class codes (n,); raises ValueError for a single class."""
        if len(np.unique(y)) < 2:
            raise ValueError("logistic regression needs at least two classes; there is one")
        learner = LogisticRegression(
            solver="liblinear",
            C=self.C,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=self.random_state,
            **_L1,
        )
        fitted = OneVsRestClassifier(learner).fit(StandardScaler().fit_transform(X), y)
        self.feature_importances_ = np.max([np.abs(each.coef_[0]) for each in fitted.estimators_], axis=0)
        return self


class ForestPermutation(BaseEstimator):
    """Permutation importance of a random forest: how much accuracy a feature's shuffling costs.

    Forest and importance see the same samples, those given to ``fit``: none is spared from training.

    ``feature_importances_``: mean loss of accuracy; may be a little below 0.
    """

    _forest: type = RandomForestClassifier

    def __init__(
        self,
        n_estimators: int = 100,
        n_repeats: int = 5,
        n_jobs: int | None = None,
        random_state: int | None = None,
    ):
        self.n_estimators = n_estimators
        self.n_repeats = n_repeats
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> ForestPermutation:
        """Grow the forest on samples (n, p) and class codes or numbers (n,), and shuffle its features."""
        forest = self._forest(
            n_estimators=self.n_estimators, n_jobs=self.n_jobs, random_state=self.random_state
        ).fit(X, y)
        self.feature_importances_ = permutation_importance(
            forest, X, y, n_repeats=self.n_repeats, random_state=self.random_state
        ).importances_mean
        return self


class ForestPermutationOfNumbers(ForestPermutation):
    """The same with a forest for a numeric target: how much R² a feature's shuffling costs.

    ``feature_importances_``: mean loss of R²; may be a little below 0.
    """

    _forest = RandomForestRegressor
    takes_numbers = True
