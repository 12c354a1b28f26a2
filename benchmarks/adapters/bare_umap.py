"""The UMAP calls that one ``ReliefE.fit`` made, made again outside of it.

With the same arguments, a search index handed over as ``precomputed_knn`` is the library's own object and does here
what it does there; making it is not part of the calls. With ``plain``, UMAP looks for neighbours itself.
"""

from __future__ import annotations

import pickle
import warnings
from importlib import metadata

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from umap import UMAP


def versions():
    """Return umap-learn's version."""
    return {"umap-learn": metadata.version("umap-learn")}


class Job:
    """Settings: ``calls``, the file ``ours`` wrote under ``record_umap``; ``plain``, no neighbours given."""

    def __init__(self, settings):
        with open(settings["calls"], "rb") as file:
            self._models = pickle.load(file)
        if not self._models:
            raise ValueError("ReliefE made no UMAP call on these data: there is nothing to compare with")
        for each in self._models:
            given = each["parameters"].get("precomputed_knn")
            if settings.get("plain"):
                each["parameters"].pop("precomputed_knn", None)
            # The library's search index answers for rows announced to it, in double precision.
            each["index"] = None if settings.get("plain") or given is None else given[2]
        self.weights = None
        self.notes = {
            "calls": [
                [f"{name} {X.shape[0]} x {X.shape[1]}" for name, X in each["calls"]] for each in self._models
            ],
            "n_components": [each["parameters"]["n_components"] for each in self._models],
        }

    def warm_up(self):
        """Compile what the calls need."""
        self.fit()

    def fit(self):
        """Make the calls."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for each in self._models:
                model = UMAP(**each["parameters"])
                for name, X in each["calls"]:
                    if hasattr(each["index"], "pending"):
                        each["index"].pending = X
                    getattr(model, name)(X)


def open_job(X, y, settings, threads):
    """Return a job; X, y and threads are the recorded calls' own."""
    return Job(settings)
