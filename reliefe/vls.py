"""VLS: weigh many random subsets of the features, keep the best weight of each."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np

from reliefe.base import amount_of
from reliefe.wrapper import SubsetRanker

_TOGETHER = 0.95  # how likely two features are to share a subset, where their number is left open
_FEWEST = (
    3  # features in which an interaction shows; in two of two values each, SURF's near samples are equal
)


class VLS(SubsetRanker):
    """Very large scale ReliefF: a ranker is fitted on random subsets of the features; the largest weight counts.

    Among thousands of features of noise, distances say little; in a small subset that happens to hold two
    interacting features, they show. Features are dealt out in a random order, again and again, so that none is left
    out; the last subset of a round is filled up with other features.

    Parameters
    ----------
    estimator : ranker or None, default=None
        As in :class:`reliefe.TuRF`.
    subset_size : int or float, default=0.2
        Features in a subset, as a number or a share in (0, 1] of all features. A share comes to 3 features at
        least, or to all where there are fewer, since an interaction does not show in a subset of one or two. A
        number is taken as it is; with 1, no two features ever share a subset.
    n_subsets : int or None, default=None
        Number of subsets; no feature may be left out. None is as many as it takes for two given features to share a
        subset with a probability of 0.95 (74 subsets with a fifth of many features). Where a share comes to fewer
        than 3 features (a fifth of fewer than 15), features are dealt out until each two have shared a subset.
    n_features_to_select : int, float or None, default=None
        How many features ``transform`` keeps, as a number or a share in (0, 1]; None keeps all.
    random_state : int, RandomState instance or None, default=None
        Draws the subsets, and gives the wrapped ranker a seed where it has none of its own.

    Attributes
    ----------
    feature_importances_ : float64 ndarray of shape (n_features_in_,)
        Largest weight of each feature in any of its subsets.
    ranking_ : int64 ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is best, equal weights stand in the order of the features.
    subsets_ : list of int64 ndarray
        Features of each subset, ascending.
    coef_, classes_, n_features_in_, feature_names_in_
        As in :class:`reliefe.ReliefF`.

    Notes
    -----
    Source: Eppstein and Haake (2008), Very large scale ReliefF for genome-wide association analysis, IEEE Symposium
    on Computational Intelligence in Bioinformatics and Computational Biology.

    Examples
    --------
    >>> from reliefe import VLS, MultiSURF
    >>> X = [[0, 7, 1, 2], [1, 7, 0, 1], [2, 7, 1, 2], [3, 7, 0, 2], [4, 7, 0, 1]]
    >>> ranker = VLS(MultiSURF(), subset_size=2, n_subsets=4, random_state=0).fit(X, [0, 0, 0, 1, 1])
    >>> len(ranker.subsets_), int(ranker.ranking_.argmin())
    (4, 0)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        subset_size: float = 0.2,
        n_subsets: int | None = None,
        n_features_to_select: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.estimator = estimator
        self.subset_size = subset_size
        self.n_subsets = n_subsets
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def _weigh(self, X, y, random_state):
        p = X.shape[1]
        size = min(p, amount_of(self.subset_size, p))
        few = size < min(p, _FEWEST) and not isinstance(self.subset_size, Integral)
        size = min(p, _FEWEST) if few else size
        least = -(-p // size)
        if few and self.n_subsets is None:
            self.subsets_ = subsets_with_all_pairs(p, size, random_state)
        else:
            n_subsets = max(least, subsets_for_pairs(p, size)) if self.n_subsets is None else self.n_subsets
            if n_subsets < least:
                raise ValueError(
                    f"n_subsets={n_subsets} subsets of {size} features leave out some of the {p} features; take at "
                    f"least {least}."
                )
            self.subsets_ = draw_subsets(p, size, n_subsets, random_state)
        weights = np.full(p, -np.inf)
        for columns in self.subsets_:
            found = self._weights_of(columns, X, y, random_state)
            weights[columns] = np.maximum(weights[columns], found)
        return weights


def subsets_for_pairs(p, size):
    """Return after how many random subsets two given features have shared one with a probability of 0.95.

    Parameters
    ----------
    p, size : int
        Number of features, and of features in a subset.

    Returns
    -------
    int
        1 where every subset holds all features, or no two.
    """
    together = size * (size - 1) / (p * (p - 1)) if p > 1 else 1.0
    if together in (0.0, 1.0):
        return 1
    return math.ceil(math.log(1.0 - _TOGETHER) / math.log1p(-together))


def subsets_with_all_pairs(p, size, random_state):
    """Deal out features in random orders until each two have shared a subset.

    Parameters
    ----------
    p, size : int
        Number of features, and of features in a subset: 2 at least, or all.
    random_state : RandomState
        Gives the orders.

    Returns
    -------
    list of int64 ndarray of shape (size,)
        Different features, ascending.
    """
    met = np.eye(p, dtype=bool)
    subsets = []
    while not met.all():
        dealt = draw_subsets(p, size, -(-p // size), random_state)
        for subset in dealt:
            met[np.ix_(subset, subset)] = True
        subsets += dealt
    return subsets


def draw_subsets(p, size, n_subsets, random_state):
    """Deal out features in random orders until there are enough subsets.

    Parameters
    ----------
    p, size, n_subsets : int
        Number of features, of features in a subset, and of subsets.
    random_state : RandomState
        Gives the orders.

    Returns
    -------
    list of int64 ndarray of shape (size,)
        Different features, ascending.
    """
    subsets = []
    while len(subsets) < n_subsets:
        order = random_state.permutation(p)
        for start in range(0, p, size):
            subset = order[start : start + size]
            missing = size - subset.shape[0]
            if missing:  # the last of a round is filled with features that come before it
                subset = np.concatenate([subset, random_state.choice(order[:start], missing, replace=False)])
            subsets.append(np.sort(subset).astype(np.int64))
    return subsets[:n_subsets]
