"""Rows with known answers, and the configurations they would come from."""

from __future__ import annotations

import numpy as np

from experiments.metrics.relative_f1 import area_under_relative_f1
from experiments.store.rows import to_frame, to_table


def row(ranker="a", repeat=0, fold=0, curve=(0.5, 1.0, 0.8), grid=(1, 2, 4), **changes):
    """One fold that is ok; F1 along ``grid`` is ``curve``, its last point that of all features. Macro is half."""
    curve = np.array(curve, dtype=float)
    relative = curve / curve[-1] if curve[-1] else np.full_like(curve, np.nan)
    made = {
        "cell_key": f"{ranker}{repeat}",
        "kind": "ranking",
        "dataset": "d",
        "ranker": ranker,
        "protocol": "p",
        "repeat": repeat,
        "fold": fold,
        "seed": 0,
        "status": "ok",
        "n_train": 8,
        "n_test": 2,
        "n_features": grid[-1],
        "fit_seconds": 1.0,
        "warm_up_seconds": 0.0,
        "peak_memory_mib": 100.0,
        "learner_converged": True,
        "grid": list(grid),
    }
    for average, share in (("micro", 1.0), ("macro", 0.5)):
        made |= {
            f"f1_{average}": share * curve,
            f"f1_{average}_all": share * curve[-1],
            f"rf1_{average}": relative,
            f"aurf1_{average}": area_under_relative_f1(relative),
            f"best_f1_{average}": share * curve.max(),
        }
    return made | changes


def failed(ranker="a", repeat=0, fold=0, error="ValueError: no luck", **changes):
    """One fold that failed: null where numbers would be."""
    kept = (
        "cell_key",
        "kind",
        "dataset",
        "ranker",
        "protocol",
        "repeat",
        "fold",
        "seed",
        "n_train",
        "n_test",
    )
    whole = row(ranker, repeat, fold, **changes)
    return {name: whole[name] for name in kept} | {"status": "failed", "error": error}


def repeats(ranker="a", n_repeats=1, n_splits=2, **settings):
    """Every fold of some repeats, all alike."""
    return [row(ranker, repeat, fold, **settings) for repeat in range(n_repeats) for fold in range(n_splits)]


def frame(*rows):
    """Rows as the runner gives them; lists of rows are taken apart."""
    flat = [each for part in rows for each in (part if isinstance(part, list) else [part])]
    return to_frame(to_table(flat))


def config(ranker="a", n_repeats=1, n_splits=2, dataset="d", protocol="p", display_name=None):
    """As much of a resolved configuration as a report looks at."""
    return {
        "dataset": {"name": dataset, "task": "multiclass"},
        "dataset_key": dataset,
        "ranker_key": ranker,
        "ranker": {"_target_": "x.Y", "display_name": display_name or ranker.upper()},
        "protocol": {"name": protocol, "n_splits": n_splits, "n_repeats": n_repeats},
    }
