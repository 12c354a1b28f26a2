"""scikit-rebate's rankers."""

from __future__ import annotations

from importlib import metadata

import numpy as np
import skrebate


def versions():
    """Return the versions that matter."""
    return {name: metadata.version(name) for name in ("skrebate", "numpy")}


class Job:
    """Settings: ``ranker`` (ReliefF unless said), and its ``parameters``."""

    def __init__(self, X, y, settings, threads):
        self._X, self._y = np.asarray(X), y
        self._threads = threads
        self._kind = getattr(skrebate, settings.get("ranker", "ReliefF"))
        self._parameters = settings.get("parameters", {})
        self.weights = None
        self.notes = {}

    def _fit(self, X, y):
        ranker = self._kind(**{"n_jobs": self._threads, **self._parameters})
        ranker.fit(X, y)
        return np.asarray(ranker.feature_importances_)

    def warm_up(self):
        """Start the worker processes; there is nothing to compile, so a few rows do."""
        rows = np.concatenate([np.flatnonzero(self._y == each)[:12] for each in np.unique(self._y)])
        self._fit(self._X[rows], self._y[rows])

    def fit(self):
        """Fit once."""
        self.weights = self._fit(self._X, self._y)


def open_job(X, y, settings, threads):
    """Return a job; see the package's docstring."""
    return Job(X, y, settings, threads)
