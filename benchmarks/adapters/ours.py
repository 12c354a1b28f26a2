"""Rankers of this project."""

from __future__ import annotations

import pickle

import numpy as np

import reliefe


def versions():
    """Return the library's version."""
    return {"reliefe": f"{reliefe.__version__} (this project)"}


class Job:
    """One ranker on one data set.

    Settings: ``ranker`` ("ReliefF" or "ReliefE"), ``parameters`` of it, ``rows`` (row numbers to update from, in
    place of a random sample; None for the ranker's own choice), ``record_umap`` (a file for the UMAP calls made).
    """

    def __init__(self, X, y, settings, threads):
        self._X, self._y = X, y
        self._settings = settings
        base = getattr(reliefe, settings.get("ranker", "ReliefF"))
        rows = settings.get("rows")
        if rows is not None:
            rows = np.sort(np.asarray(rows, dtype=np.int64))

            class OnGivenRows(base):
                """The same ranker; a peer that samples rows can only be checked on the rows it took."""

                def _rows_to_use(self, n, random_state):
                    return rows

            OnGivenRows.__init__ = base.__init__  # scikit-learn reads the parameters off the signature
            base = OnGivenRows
        self._ranker = base(**{"n_jobs": threads, **settings.get("parameters", {})})
        self.weights = None
        self.notes = {}

    def warm_up(self):
        """Compile what one fit needs."""
        self.fit()

    def fit(self):
        """Fit once."""
        path = self._settings.get("record_umap")
        if path is None:
            self._ranker.fit(self._X, self._y)
        else:
            with _Recorder(path) as recorder:
                self._ranker.fit(self._X, self._y)
        self.weights = self._ranker.feature_importances_
        self.notes = {"phases": self._ranker.timings_}
        if hasattr(self._ranker, "n_components_"):
            self.notes["n_components"] = self._ranker.n_components_
        if path is not None:
            self.notes["precomputed"] = recorder.precomputed()


class _Recorder:
    """Write down which UMAP models are fitted and what they are asked to transform."""

    _METHODS = ("fit", "transform", "fit_transform")

    def __init__(self, path):
        self._path = path
        self._models = {}
        self._copies = {}
        self._depth = 0

    def __enter__(self):
        import umap

        self._class = umap.UMAP
        self._kept = {name: getattr(self._class, name) for name in self._METHODS}
        for name in self._METHODS:
            setattr(self._class, name, self._wrapped(name))
        return self

    def __exit__(self, kind, error, trace):
        for name, method in self._kept.items():
            setattr(self._class, name, method)
        if kind is None:
            with open(self._path, "wb") as file:
                pickle.dump([entry for _, entry in self._models.values()], file)

    def precomputed(self):
        """Say whether neighbours were handed over to any of the models."""
        given = [entry["parameters"].get("precomputed_knn") for _, entry in self._models.values()]
        return any(each is not None and each[0] is not None for each in given)

    def _wrapped(self, name):
        method, recorder = self._kept[name], self

        def call(model, X, *args, **kwargs):
            # fit_transform calls fit: only what the library asked for is written down.
            if recorder._depth == 0:
                entry = recorder._models.setdefault(
                    id(model), (model, {"parameters": model.get_params(deep=False), "calls": []})
                )[1]
                entry["calls"].append((name, recorder._copy(X)))
            recorder._depth += 1
            try:
                return method(model, X, *args, **kwargs)
            finally:
                recorder._depth -= 1

        return call

    def _copy(self, X):
        # One copy per array, so that the same array given twice is the same array again when the file is read.
        return self._copies.setdefault(id(X), (X, X.copy()))[1]


def open_job(X, y, settings, threads):
    """Return a job; see the package's docstring."""
    return Job(X, y, settings, threads)
