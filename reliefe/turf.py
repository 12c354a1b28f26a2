"""TuRF: weigh, drop the worst features, weigh what is left."""

from __future__ import annotations

from typing import Any

import numpy as np

from reliefe.base import amount_of
from reliefe.ranking import TIE, descending_order
from reliefe.wrapper import SubsetRanker

_STEP = 0.01  # share of the last weights' spread that separates features dropped in different iterations


class TuRF(SubsetRanker):
    """Tuned ReliefF: a ranker is fitted again and again, each time without the features that were worst.

    Distances are then less and less disturbed by features that have nothing to say. In each iteration the
    ``removed`` features with the lowest weights are dropped, until no more than ``n_final`` are left, which get the
    weights of the last fit. A feature ranks below all that were dropped after it.

    Parameters
    ----------
    estimator : ranker or None, default=None
        Object with ``fit`` and then ``feature_importances_``; cloned for each iteration. None is
        :class:`reliefe.ReliefF` with its defaults. A ``random_state`` of None is replaced by a seed, and
        ``discrete_features`` of this library's rankers are carried over, as numbers, names or types; other
        parameters that name features are not.
    removed : int or float, default=0.1
        How many features an iteration drops, as a number or a share in (0, 1] of all features; at least one.
    n_final : int, float or None, default=None
        How many features are left in the last fit at most, as a number or a share of all. None is as many as are
        dropped in an iteration, so that with ``removed=0.1`` there are ten fits.
    n_features_to_select : int, float or None, default=None
        How many features ``transform`` keeps, as a number or a share in (0, 1]; None keeps all.
    random_state : int, RandomState instance or None, default=None
        Gives the wrapped ranker a seed where it has none of its own.

    Attributes
    ----------
    feature_importances_ : float64 ndarray of shape (n_features_in_,)
        Weight of each feature in the last fit it was part of; lowered, where need be, so that the best of the
        features that an iteration drops is below the worst of those that stay, by 1 % of the spread of the last
        weights (by 0.01 where these are equal, or differ by rounding alone).
    ranking_ : int64 ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is best.
    n_fits_ : int64 ndarray of shape (n_features_in_,)
        How many fits each feature was part of.
    coef_, classes_, n_features_in_, feature_names_in_
        As in :class:`reliefe.ReliefF`.

    Notes
    -----
    Source: Moore and White (2007), Tuning ReliefF for genome-wide genetic analysis, EvoBIO.

    Examples
    --------
    >>> from reliefe import SURF, TuRF
    >>> X = [[0, 7, 1], [1, 7, 0], [2, 7, 1], [3, 7, 0], [4, 7, 0]]
    >>> TuRF(SURF(), removed=1).fit(X, ["lo", "lo", "lo", "hi", "hi"]).n_fits_.tolist()
    [3, 1, 2]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        removed: float = 0.1,
        n_final: float | None = None,
        n_features_to_select: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.estimator = estimator
        self.removed = removed
        self.n_final = n_final
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def _weigh(self, X, y, random_state):
        p = X.shape[1]
        removed = min(p, amount_of(self.removed, p))
        n_final = removed if self.n_final is None else amount_of(self.n_final, p)
        left, dropped = np.arange(p), []
        self.n_fits_ = np.zeros(p, dtype=np.int64)
        while True:
            found = self._weights_of(left, X, y, random_state)
            self.n_fits_[left] += 1
            if left.shape[0] <= n_final:
                break
            order = descending_order(found)
            keep = max(n_final, left.shape[0] - removed)
            dropped.append((left[order[keep:]], found[order[keep:]]))
            left = np.sort(left[order[:keep]])
        weights = np.empty(p, dtype=np.float64)
        weights[left] = found
        floor, step = found.min(), _STEP * np.ptp(found)
        largest = max(np.abs(each).max() for each in (found, *(each for _, each in dropped)))
        if step <= 10.0 * TIE * largest:
            # The last weights are equal but for rounding: their range gives no step that separates.
            step = _STEP
        for columns, found in reversed(dropped):
            weights[columns] = found + min(0.0, floor - step - found.max())
            floor = weights[columns].min()
        return weights
