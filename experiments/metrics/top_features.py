"""The best features of one ranking: which of them stand among the first 20, where equal weights share their places.

A ranking as it is evaluated puts equal weights in the order of their indices. To count which features are chosen
by that would let the order of features decide. So features of equal weight share their places here: of a group of m
features on whose places r of the first 20 fall, each is chosen to the share r / m, which is the probability if the
order among them were drawn at random.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reliefe.ranking import TIE, descending_order, tied_with_next

#: As many places count as the first ones.
TOP = 20
#: More features are not kept of one ranking: a larger group of equal weights across the 20th place is left out.
MOST = 100


class TopFeatures(NamedTuple):
    """Those features of a ranking that have, or share, one of the first places."""

    columns: np.ndarray  # indices of the features, best first, equal weights by index
    ranks: np.ndarray  # 1 is best; equal weights share the mean of their places
    weights: np.ndarray  # theirs


def top_features(weights: Any) -> TopFeatures:
    """Find the features that have or share one of the first :data:`TOP` places of a ranking.

    All features where there are no more. A group of equal weights that crosses the last place is left out when
    more than :data:`MOST` features would be kept with it, else it is kept whole.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(f"weights must have one dimension, not the shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("weights must be finite")
    tolerance = TIE * np.abs(weights).max(initial=0.0)
    near = np.arange(len(weights))
    if len(weights) > MOST + 1:
        # One more than can be kept: a group that goes on beyond them is too large in any case.
        last = -np.partition(-weights, MOST)[MOST]  # from the other end it is slow where most are equal
        above = np.flatnonzero(weights > last)
        near = np.sort(np.r_[above, np.flatnonzero(weights == last)[: MOST + 1 - len(above)]])
    order = near[descending_order(weights[near], tolerance)]
    tied = tied_with_next(weights[near], tolerance)
    end = min(TOP, len(order))
    while end < len(order) and tied[end - 1]:
        end += 1
    if end > MOST:
        end = TOP
        while end > 0 and tied[end - 1]:
            end -= 1
    columns = order[:end]
    group = np.concatenate([[0], np.cumsum(~tied[: max(end - 1, 0)])])[:end]
    places = np.arange(1, end + 1, dtype=np.float64)
    size = np.bincount(group) if end else np.zeros(0)
    ranks = (np.bincount(group, places) / size)[group] if end else places
    return TopFeatures(columns.astype(np.int64), ranks, weights[columns])


def chosen_shares(ranks: Any) -> np.ndarray:
    """Say to what share each of the kept features of a ranking is among the first :data:`TOP`.

    1 for features with all their places among the first; r / m for a group of m features on r of them.
    """
    ranks = np.asarray(ranks, dtype=np.float64)
    if not len(ranks):
        return np.zeros(0)
    values, group, size = np.unique(ranks, return_inverse=True, return_counts=True)
    before = values - (size + 1) / 2  # how many features stand before the group
    return (np.clip(TOP - before, 0, size) / size)[group]
