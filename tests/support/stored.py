"""Rows to store, in a module that forked writers can import without a test module."""

import numpy as np

from experiments.store.rows import to_table
from experiments.store.store import cell_key

KEY, OTHER = cell_key({"cell": 1}), cell_key({"cell": 2})


def rows(key=KEY, n=3, status="ok", value=0.5, n_weights=5):
    return to_table(
        {
            "cell_key": key,
            "kind": "ranking",
            "dataset": "blobs",
            "ranker": "a",
            "protocol": "tiny",
            "repeat": 0,
            "fold": fold,
            "seed": 0,
            "status": status,
            "error": None if status == "ok" else "ValueError: boom",
            "f1_micro": np.array([value, np.nan, 1.0]),
            "aurf1_micro": float("nan"),
            "weights": np.full(n_weights, value),
            "latent_dimension": 3 if fold else None,
        }
        for fold in range(n)
    )


def same(one, other):
    """Equal to the bit; NaN equals NaN."""
    return one.schema.equals(other.schema) and repr(one.to_pylist()) == repr(other.to_pylist())


def visible(store):
    return sorted(store.results.glob("rows/??/*.parquet"))
