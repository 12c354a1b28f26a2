"""The package that the authors of ReliefE published (``reliefe`` 0.18), asked for plain ReliefF.

With ``embedding_based_distances=False`` its kernels look for neighbours by Manhattan distance on range-normalised
columns. ``sparsity_threshold=1`` leaves out a sparsification whose result is thrown away then: the package is
timed at its best. Its kernels run on one thread; ``num_threads`` has no effect in 0.18.

A fit takes ``n_iterations`` of its iterations. The seconds of all n are those outside its update loop plus those
inside times n / ``n_iterations``.
"""

from __future__ import annotations

import logging
import time
import warnings
from importlib import metadata

import numpy as np
from scipy import sparse

try:
    VERSION = metadata.version("reliefe")
except metadata.PackageNotFoundError:
    VERSION = "not installed"
if VERSION != "0.18":  # a package of another project may be imported by that name
    raise ImportError(f"reliefe 0.18 of the paper's authors is needed; in this Python it is {VERSION}")
warnings.simplefilter("ignore")
import reliefe  # noqa: E402

logging.getLogger().setLevel(logging.WARNING)  # the package sets it to INFO when imported


def versions():
    """Return the versions that matter."""
    return {name: metadata.version(name) for name in ("reliefe", "numba", "numpy")}


class Job:
    """Settings: ``parameters`` of its ``ReliefE``, and ``n_iterations`` (None for all rows)."""

    def __init__(self, X, y, settings, threads):
        # It makes CSR of what it gets; sparse input fails where scikit-learn refuses numpy.matrix.
        self._X = X.toarray() if sparse.issparse(X) else np.asarray(X)
        self._y = sparse.csr_matrix(y, dtype=np.int8) if y.ndim == 2 else y
        self._n_iterations = settings.get("n_iterations") or X.shape[0]
        self._parameters = settings.get("parameters", {})
        self.weights = None
        self.notes = {"iterations": self._n_iterations, "of": X.shape[0]}

    def _fit(self, n_iterations):
        ranker = reliefe.ReliefE(
            **{
                "num_iter": n_iterations,
                "embedding_based_distances": False,
                "sparsity_threshold": 1.0,
                **self._parameters,
            }
        )
        start = time.perf_counter()
        ranker.fit(self._X, self._y)
        return ranker, time.perf_counter() - start

    def warm_up(self):
        """Compile; one iteration does."""
        self._fit(1)

    def fit(self):
        """Fit with the iterations asked for, and return the seconds that all rows would take."""
        ranker, seconds = self._fit(self._n_iterations)
        self.weights = ranker.feature_importances_
        inside = ranker.timed["Feature weight updates"]
        self.notes["seconds_measured"] = seconds
        return seconds - inside + inside * self._X.shape[0] / self._n_iterations


def open_job(X, y, settings, threads):
    """Return a job; see the package's docstring."""
    return Job(X, y, settings, threads)
