"""How alike the rankings of different folds are: top sets (for Nogueira's measure), FUJI of the whole lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.metrics.fuji import areas_under_fuji
from reliefe.ranking import TIE, descending_order, tied_with_next


def orders(weights: Any) -> np.ndarray:
    """Put the features of each list in order, best (highest) first; ties go to the lower index."""
    return descending_order(weights)


def top_sets(order: Any, size: int) -> np.ndarray:
    """Mark the first ``size`` features of each list; all of them where there are no more."""
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    order = np.asarray(order)
    marked = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(marked, order[:, :size], True, axis=1)
    return marked


def tied_cuts(weights: Any, size: int) -> np.ndarray:
    """Tell where the last feature of a top set and the first one outside have the same weight.

    Which of them is in the set is then decided by their index, the same in all lists, and not by the ranker: the
    set looks more stable than it is.

    False where there are no more features than ``size``.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if size >= weights.shape[1]:
        return np.zeros(len(weights), dtype=bool)
    return tied_with_next(weights)[:, size - 1]


def rounding_as_zero(weights: Any) -> np.ndarray:
    """Set weights to 0 that differ from 0 by rounding alone.

    Notes
    -----
    FUJI divides by the smallest score inside a top set, and memberships are 1 where that is 0: a score of 1e-17
    that is 0 on paper gives other memberships altogether.

    That is at most :data:`reliefe.ranking.TIE` of the largest absolute weight of their list.
    """
    weights = np.asarray(weights, dtype=np.float64)
    sizes = np.abs(weights)
    return np.where(sizes <= TIE * sizes.max(axis=-1, keepdims=True, initial=0.0), 0.0, weights)


def fold_pairs(n_folds: int, at_most: int = 100) -> list[tuple[int, int]]:
    """Choose which folds are compared.

    All pairs where they are at most ``at_most``. Else each fold with the next one, then with the next but one,
    and so on, as long as whole rounds fit, so that each fold is in equally many pairs.
    """
    pairs: list[tuple[int, int]] = []
    for step in range(1, n_folds // 2 + 1):
        # Half way round, a round meets every pair twice.
        length = n_folds if 2 * step < n_folds else n_folds // 2
        if pairs and len(pairs) + length > at_most:
            break
        pairs += [(fold, (fold + step) % n_folds) for fold in range(length)]
    return pairs


def ranking_stability(weights: Any, at_most: int = 100) -> float:
    """Average the area under FUJI over pairs of lists.

    From 0 to 1 (all lists the same), over the pairs of :func:`fold_pairs`. Negative weights, and those of
    :func:`rounding_as_zero`, count as 0.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 2 or len(weights) < 2:
        raise ValueError(f"stability needs two lists or more, not an array of shape {weights.shape}")
    weights = rounding_as_zero(weights)
    return float(np.mean(areas_under_fuji(weights, fold_pairs(len(weights), at_most), negative="clip")))
