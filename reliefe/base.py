"""What all rankers share as scikit-learn estimators."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted


class Ranker(SelectorMixin, BaseEstimator):
    """A ranker of columns: weights become ranks, and ranks a selection.

    A subclass has a parameter ``n_features_to_select`` and sets ``feature_importances_`` and ``ranking_`` by
    :meth:`_set_weights` in ``fit``.
    """

    _multi_label = False

    def _set_weights(self, weights):
        """Keep the weights, and rank the columns by them; equal weights stand in the order of the columns."""
        self.feature_importances_ = weights
        order = np.argsort(-weights, kind="stable")
        self.ranking_ = np.empty(weights.shape[0], dtype=np.int64)
        self.ranking_[order] = np.arange(1, weights.shape[0] + 1)

    def _check_selection_against(self, p):
        if isinstance(self.n_features_to_select, Integral) and self.n_features_to_select > p:
            raise ValueError(
                f"n_features_to_select={self.n_features_to_select} is more than the {p} columns of X."
            )

    def _get_support_mask(self):
        check_is_fitted(self)
        p = self.n_features_in_
        wanted = self.n_features_to_select
        if wanted is None:
            wanted = p
        elif not isinstance(wanted, Integral):
            wanted = max(1, int(round(wanted * p, 6)))  # 0.29 · 100 is 28.999… in floating point
        return self.ranking_ <= wanted

    def __sklearn_tags__(self):
        """Say what kinds of input are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        # "0/1 for each of several labels" has its place here, as in scikit-learn's RFE, no classifier either.
        # target_tags.multi_output stays False: that is several columns of classes, which `fit` refuses.
        tags.classifier_tags = ClassifierTags(multi_class=True, multi_label=self._multi_label)
        return tags
