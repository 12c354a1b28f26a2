"""Boruta as a ranker."""

from __future__ import annotations

import numpy as np
from boruta import BorutaPy
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier


class Boruta(BaseEstimator):
    """Features that do better in random forests than shuffled copies of features (Kursa and Rudnicki, 2010).

    Boruta sorts features into confirmed, tentative and rejected ones and orders the rejected; among features that
    it leaves level, the mean importance over its iterations decides here.

    ``feature_importances_``: how many places are below a feature's own in ``ranking_``, plus its share of the
    highest mean importance, which is below 1.
    """

    def __init__(
        self,
        n_estimators: int | str = "auto",
        max_depth: int = 5,
        max_iter: int = 100,
        perc: int = 100,
        alpha: float = 0.05,
        n_jobs: int | None = None,
        random_state: int | None = None,
    ):
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_iter = max_iter
        self.perc = perc
        self.alpha = alpha
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Boruta:
        """Run Boruta on samples (n, p) and class codes (n,)."""
        forest = RandomForestClassifier(max_depth=self.max_depth, n_jobs=self.n_jobs)
        found = BorutaPy(
            forest,
            n_estimators=self.n_estimators,
            max_iter=self.max_iter,
            perc=self.perc,
            alpha=self.alpha,
            random_state=self.random_state,
        ).fit(X, y)
        self.ranking_ = found.ranking_
        # The first line of the history is zeros; a feature that was rejected counts 0 from then on.
        importance = np.nan_to_num(found.importance_history_[1:]).mean(axis=0)
        highest = importance.max()
        within = importance / highest * (1 - 1e-9) if highest > 0 else importance
        self.feature_importances_ = self.ranking_.max() - self.ranking_ + within
        return self
