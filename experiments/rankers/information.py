"""Rankers that pick features one after the other by mutual information; entropies are fast-select's."""

from __future__ import annotations

import numpy as np
from fast_select import calculate_mi_single_pair, mRMR
from sklearn.base import BaseEstimator

from reliefe.ranking import descending_order

__all__ = ["JMI", "MRMR"]


class _Picked(BaseEstimator):
    """What both have in common: features in bins, and weights from the order of picking."""

    def __init__(self, n_bins: int = 10):
        self.n_bins = n_bins

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Picked:
        """Pick features."""
        if self.n_bins < 2:
            raise ValueError(f"n_bins={self.n_bins}: at least 2")
        binned = _binned(np.asarray(X), self.n_bins)
        self.order_ = self._order(binned, np.unique(y, return_inverse=True)[1].astype(np.int32))
        n_features = X.shape[1]
        self.feature_importances_ = np.empty(n_features)
        self.feature_importances_[self.order_] = 1.0 - np.arange(n_features) / n_features
        return self

    def _order(self, binned: np.ndarray, y: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class MRMR(_Picked):
    """Minimum redundancy, maximum relevance.

    The next feature has the highest mutual information with the class minus its mean mutual information with the
    features picked before (the difference form, MID, of Peng, Long and Ding, 2005). fast-select picks; its own
    ``feature_importances_`` are the relevances alone, so the weights here come from the order of picking.

    Features with more than ``n_bins`` distinct values are cut into bins of about as many samples each.
    ``feature_importances_``: 1 for the feature picked first, 1 / p for the last (``order_``).
    """

    def _order(self, binned: np.ndarray, y: np.ndarray) -> np.ndarray:
        picked = mRMR(n_features_to_select=binned.shape[1], method="MID", backend="cpu").fit(binned, y)
        return np.asarray(picked.top_features_)


class JMI(_Picked):
    """Joint mutual information.

    The next feature has the highest sum, over the features picked before, of the mutual information that it and
    that feature have with the class together (Yang and Moody, 1999). The first has the highest by itself. Ties, to
    rounding, go to the feature with the lower index.

    Parameters and attributes are those of :class:`MRMR`.
    """

    def _order(self, binned: np.ndarray, y: np.ndarray) -> np.ndarray:
        n_features = binned.shape[1]
        score = np.array([_information(feature, y) for feature in binned.T])
        left = np.ones(n_features, dtype=bool)
        order = [int(descending_order(score)[0])]
        joint = np.zeros(n_features)
        while len(order) < n_features:
            left[order[-1]] = False
            latest = binned[:, order[-1]]
            n_codes = int(latest.max()) + 1
            rest = np.flatnonzero(left)
            for feature in rest:
                joint[feature] += _information(binned[:, feature] * n_codes + latest, y)
            order.append(int(rest[descending_order(joint[rest])[0]]))
        return np.array(order)


def _information(codes: np.ndarray, y: np.ndarray) -> float:
    return calculate_mi_single_pair(codes, y, backend="cpu", unit="bit")


def _binned(X: np.ndarray, n_bins: int) -> np.ndarray:
    """Code every feature: its distinct values where there are no more than bins, else bins of about equal size."""
    binned = np.empty(X.shape, dtype=np.int32)
    for place, feature in enumerate(X.T):
        values, codes = np.unique(feature, return_inverse=True)
        if len(values) > n_bins:
            edges = np.unique(np.quantile(feature, np.arange(1, n_bins) / n_bins))
            codes = np.searchsorted(edges, feature, side="right")
        binned[:, place] = codes
    return binned
