"""Rankers that let another ranker weigh some of the features at a time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from reliefe.base import Ranker


def _may_take_missing(ranker):
    """Say whether a ranker takes NaN; one that is not this library's decides when it sees one."""
    return not isinstance(ranker, Ranker) or get_tags(ranker).input_tags.allow_nan


def weights_of(ranker, n_columns, who):
    """Return the weights of a fitted ranker of any library, (n_columns,).

    Raises
    ------
    ValueError
        Where these are not finite numbers, one for each feature in their order; ``who`` stands first.
    """
    given = getattr(ranker, "feature_importances_", np.empty(0))
    who = f"{who}: {type(ranker).__name__}"
    if hasattr(given, "iloc") and list(given.index) != list(range(len(given))):
        raise ValueError(
            f"{who} gave feature_importances_ with labels, whose order is not known to be that of the features; "
            "an array is needed."
        )
    if np.ma.is_masked(given) or np.asarray(given).dtype.kind not in "biuf":
        raise ValueError(f"{who} gave feature_importances_ that are no numbers, or masked.")
    found = np.asarray(given, dtype=np.float64)
    if found.shape != (n_columns,) or not np.isfinite(found).all():
        raise ValueError(
            f"{who} gave no feature_importances_ with one finite weight for each of {n_columns} features "
            f"(shape {found.shape})."
        )
    return found


def _takes_chosen(ranker):
    """Say whether a ranker can work on features where they lie (:class:`reliefe.chosen.Chosen`)."""
    from reliefe.relieff import ReliefF
    from reliefe.surf import SURF, MultiSURF, MultiSURFStar, SURFStar

    plain = type(ranker) in (ReliefF, SURF, SURFStar, MultiSURF, MultiSURFStar)
    others = ("discrete_features", "embedding", "compatible")
    return plain and all(getattr(ranker, name, None) is None for name in others)


class SubsetRanker(Ranker):
    """What TuRF and VLS share; a subclass decides which features are weighed when."""

    def check_parameters(self) -> None:
        """As :meth:`reliefe.base.Ranker.check_parameters`, those of a wrapped ranker of this library too."""
        from reliefe.parameters import check_wrapper_parameters

        check_wrapper_parameters(self)
        if isinstance(self.estimator, Ranker):
            self.estimator.check_parameters()

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Compute the weights.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, p)
            As the wrapped ranker takes it.
        y : array-like
            As the wrapped ranker takes it.
        sample_weight : array-like of shape (n,), optional
            What each sample counts, as the wrapped ranker takes it.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            For a wrong parameter, for sample_weight where the wrapped ranker takes none, or from that ranker.
        """
        from reliefe.columns import kept_as_bits
        from reliefe.parameters import categories_of
        from reliefe.validation import check_sample_weight, check_X, target_array

        for left_over in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, left_over)
        self.check_parameters()
        ranker = self._ranker()
        categories = categories_of(getattr(ranker, "discrete_features", None), X)
        missing = "ignore" if _may_take_missing(ranker) else "raise"
        X, profile = check_X(self, X, y, missing, categories=categories)
        self._given = {"categories": categories}
        if profile is not None and _takes_chosen(ranker):
            self._given |= {"profile": profile, "suited": kept_as_bits(profile)}
        if sample_weight is not None:
            if not has_fit_parameter(ranker, "sample_weight"):
                raise TypeError(f"{type(self).__name__}: {type(ranker).__name__} takes no sample_weight.")
            check_sample_weight(sample_weight, X.shape[0])
            self._given["sample_weight"] = np.asarray(sample_weight)
        target_array(y)  # a ranker of another library may drop a mask, or take NaT for a class
        self._check_selection_against(X.shape[1], depth=3)
        random_state = check_random_state(self.random_state)
        try:
            self._set_weights(self._weigh(X, y, random_state))
        finally:
            del self._given
        return self

    def _ranker(self):
        """Return a new ranker of the wrapped kind."""
        if self.estimator is not None:
            return clone(self.estimator)
        from reliefe.relieff import ReliefF

        return ReliefF()

    def _weights_of(self, columns, X, y, random_state):
        """Weights of some features of X when there are no others, (number of features,)."""
        from reliefe.chosen import Chosen
        from reliefe.parameters import discrete_columns

        ranker = self._ranker()
        parameters = ranker.get_params(deep=False) if hasattr(ranker, "get_params") else {}
        changed = {}
        if parameters.get("random_state", 0) is None:
            changed["random_state"] = int(random_state.randint(np.iinfo(np.int32).max))
        if isinstance(ranker, Ranker):
            changed["n_features_to_select"] = None  # selecting is the wrapper's business
            discrete = parameters.get("discrete_features")
            if discrete is not None and not (isinstance(discrete, str) and discrete == "auto"):
                names = getattr(self, "feature_names_in_", None)
                mask = discrete_columns(discrete, None, X, names=names, categories=self._given["categories"])
                changed["discrete_features"] = mask[columns]
        if changed:
            ranker.set_params(**changed)
        if "suited" in self._given and self._given["suited"][columns].all():
            part = Chosen(X, self._given["profile"], columns)
        else:
            part = X if columns.shape[0] == X.shape[1] else X[:, columns]  # all features stay where they are
        if not isinstance(ranker, Ranker):
            part = part.astype(np.float64, copy=False)
        if isinstance(ranker, Ranker):
            ranker._quiet = self._quiet or self._given.get("warned", False)
        with self._naming_columns(columns):
            ranker.fit(
                part, y, **{name: self._given[name] for name in ("sample_weight",) if name in self._given}
            )
        self._given["warned"] = self._given.get("warned", False) or getattr(ranker, "_has_warned", False)
        if hasattr(ranker, "classes_"):
            self.classes_ = ranker.classes_
        return weights_of(ranker, columns.shape[0], type(self).__name__)

    def __sklearn_tags__(self):
        """Say what kinds of input are taken: those of the wrapped ranker."""
        tags = super().__sklearn_tags__()
        wrapped = get_tags(self._ranker())
        tags.input_tags = wrapped.input_tags
        tags.target_tags = wrapped.target_tags
        tags.target_tags.required = True
        tags.classifier_tags = wrapped.classifier_tags
        return tags
