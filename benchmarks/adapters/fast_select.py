"""fast-select's rankers on its CPU backend."""

from __future__ import annotations

import warnings
from importlib import metadata

import fast_select
import numpy as np


def versions():
    """Return the versions that matter."""
    return {name: metadata.version(name) for name in ("fast-select", "numba", "numpy")}


class Job:
    """Settings: ``ranker`` (ReliefF unless said), and its ``parameters``."""

    def __init__(self, X, y, settings, threads):
        self._X, self._y = np.asarray(X), y
        kind = getattr(fast_select, settings.get("ranker", "ReliefF"))
        self._ranker = kind(**{"backend": "cpu", "n_jobs": threads, **settings.get("parameters", {})})
        self.weights = None
        self.notes = {}

    def warm_up(self):
        """Compile what one fit needs."""
        self.fit()

    def fit(self):
        """Fit once."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._ranker.fit(self._X, self._y)
        self.weights = self._ranker.feature_importances_


def open_job(X, y, settings, threads):
    """Return a job; see the package's docstring."""
    return Job(X, y, settings, threads)
