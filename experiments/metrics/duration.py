"""How long a fold takes, from the size of the data set alone: a model for what has not run yet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Size:
    """What a data set is like.

    Attributes
    ----------
    rows, features : int
        Its shape.
    stored : int
        Values that are not 0.
    targets : int
        Classes, or labels; 1 for a numeric target.
    labels : bool
        Whether a sample has several labels instead of one class.
    sparse : bool
        Whether it is kept sparse.
    """

    rows: int
    features: int
    stored: int
    targets: int
    labels: bool
    sparse: bool


@dataclass(frozen=True)
class FoldSeconds:
    """What one fold takes on one thread, in seconds.

    Attributes
    ----------
    ranking : float
        What no other ranker needs too.
    embeddings : dict
        What is computed once for all rankers that need it, by name.
    learning : float
        All fits of the learner.
    """

    ranking: float
    embeddings: dict[str, float]
    learning: float


def fold_seconds(
    ranking: Mapping[str, Any], learner: Mapping[str, Any], size: Size, n_points: int
) -> FoldSeconds:
    """Estimate what one fold of ten takes on one thread.

    The factors were chosen by hand to fit measurements within a factor of about two (``docs/cost.md``); they belong
    to the machine that those were made on.

    Parameters
    ----------
    ranking, learner : mapping
        The blocks of the ranker and the learner.
    size : Size
        Of the data set.
    n_points : int
        Numbers of features that the learner is fitted on, at most.

    Returns
    -------
    FoldSeconds
    """
    target = str(ranking.get("_target_", ""))
    embeddings = {}
    if target.startswith("reliefe.ReliefE"):
        n = size.rows
        embeddings["rows"] = 0.03 + 1e-3 * min(n, 2048) + 6e-4 * max(n - 2048, 0) + 1e-8 * _entries(size)
    distance = str(ranking.get("target_distance", ""))
    if size.labels and distance in _TARGETS:
        embeddings[distance] = _TARGETS[distance] * size.rows
    return FoldSeconds(_ranking(target, ranking, size), embeddings, _learning(learner, size, n_points))


#: Of embedding the labels of a sample.
_TARGETS = {"cosine": 5e-3, "hyperbolic": 1e-2}


def _entries(size: Size) -> float:
    """Return how many values are looked at: of sparse data, those that are stored."""
    return size.stored if size.sparse else size.rows * size.features


def _ranking(target: str, ranking: Mapping[str, Any], size: Size) -> float:
    n, p, entries = size.rows, size.features, _entries(size)
    if target.startswith("skrebate."):
        return 3.0 + 1.5e-8 * n * n * p
    if target.startswith(("reliefe.", "fast_select.")):
        several = 4 if any(name in target for name in ("SURF", "TuRF", "VLS")) else 1
        adaptive = 6e-8 * n * n if ranking.get("n_neighbors") == "adaptive" else 0.0
        return 2e-3 + several * (1.5e-8 * entries + 3e-9 * n * n + 1.5e-11 * n * entries) + adaptive
    if "mutual_info" in target:
        return 1.1e-3 * p + (7e-6 if size.sparse else 2e-6) * n * p
    if "Forest" in target or "Trees" in target or "Boost" in target:
        return 0.12 + 1.5e-6 * n * p**0.5 * math.log2(n + 1)
    return 1e-3 + 2e-8 * n * p


def _learning(learner: Mapping[str, Any], size: Size, n_points: int) -> float:
    target = str(learner.get("_target_", ""))
    n, p = size.rows, size.features
    n_points = max(min(n_points, p) - 1, 1)
    if not target:
        return 0.0
    if "Forest" in target or "Trees" in target:
        n_trees = learner.get("n_estimators") or 100
        a_row = 8e-7 * (1 + size.targets / 600) * (1 + p / 40_000) if size.sparse else 2.2e-6
        return n_points * (2e-3 + n_trees * a_row * 0.9 * n)
    if size.targets == 2:
        return n_points * (2e-3 + 2.5e-9 * _entries(size))
    coefficients = 2e-6 * size.targets * p if size.sparse else 0.0
    return n_points * (5e-3 + 7e-9 * size.targets * min(_entries(size), n * min(n, p)) + coefficients)
