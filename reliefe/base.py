"""What all rankers share as scikit-learn estimators."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from reliefe.ranking import ranks

_NEXT_TO_NOTHING = 1e-100  # its square is a number too
_ROUNDING = 1e-14  # of sums of differences of 0 … 1; weights none of which is larger are 0 on paper


class Prepared(NamedTuple):
    """What a fit made of its data, and what it was made of: kept where many targets are tried on the same X."""

    Z: Any  #: as for :func:`reliefe.engine.relief_weights`
    full: np.ndarray | None  #: as there
    target: Any  #: checked: classes as codes, label sets as a csr_matrix, or numbers from 0 to 1
    rows: np.ndarray  #: that were updated from, ascending


class _Checked(NamedTuple):
    """Data of a fit, checked, and what is known about them."""

    X: Any
    profile: Any  #: of the values of dense data, None of sparse ones
    y: Any  #: as in :class:`Prepared`
    weight: np.ndarray | None  #: of samples
    discrete: np.ndarray | None  #: mask of features


def _depth_of_caller():
    """Return the stack level, seen from the calling function, of the first line outside of the libraries."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in (
        "reliefe",
        "sklearn",
        "joblib",
    ):
        frame, depth = frame.f_back, depth + 1
    return depth


class Ranker(SelectorMixin, BaseEstimator):
    """A ranker of features: weights become ranks, and ranks a selection.

    A subclass has a parameter ``n_features_to_select`` and sets ``feature_importances_`` and ``ranking_`` by
    :meth:`_set_weights` in ``fit``.
    """

    feature_importances_: np.ndarray
    ranking_: np.ndarray
    n_features_in_: int
    # Of samples without near ones: not to warn, since another fit did; has warned.
    _quiet = _has_warned = False

    def check_parameters(self) -> None:
        """Check the parameters as far as this goes without data; ``fit`` does so too.

        Raises
        ------
        TypeError, ValueError
            Naming the parameter, its value and what is allowed.
        """
        raise NotImplementedError

    def _forget(self, *names):
        """Remove attributes of an earlier fit that not every fit sets."""
        for name in names:
            if hasattr(self, name):
                delattr(self, name)

    @contextmanager
    def _naming_columns(self, columns=None):
        """Name the feature as the user knows it in errors about one; ``columns`` are those that were handed on."""
        from reliefe.column_error import ColumnError

        try:
            yield
        except ColumnError as error:
            raise error.among(columns, getattr(self, "feature_names_in_", None)) from None

    def _embedded_rows(self, Z, codes, groups, random_state, phases):
        """Embed range-normalised samples as the parameters say; return where distances among them come from.

        An embedding needs all values: a missing one is the median of the known values of its feature.
        """
        from reliefe.columns import Columns
        from reliefe.distances import EmbeddedRows
        from reliefe.embedding_cache import cached_embedding
        from reliefe.scaling import any_missing, filled

        if isinstance(Z, Columns):
            Z = Z.toarray()
        if any_missing(Z):
            Z = filled(Z)
        embedded = cached_embedding(
            getattr(self, "memory", None) if isinstance(self.embedding, str) else None,
            "rows",
            {
                "Z": Z,
                "codes": codes,
                "embedding": self.embedding,
                "n_components": self.n_components,
                "n_representatives": self.n_representatives,
                "sparsify_above": self.sparsify_above,
            },
            n_jobs=self.n_jobs,
            random_state=random_state,
            phases=phases,
        )
        self.n_components_ = embedded.n_components
        with phases("distances"):
            return EmbeddedRows(embedded.E, self.metric, groups)

    def _checked(self, X, y, sample_weight):
        """Check parameters and data, in the order in which a user would want to hear of faults."""
        from reliefe.parameters import categories_of, discrete_columns
        from reliefe.validation import check_X

        self.check_parameters()
        categories = categories_of(self._parameter("discrete_features"), X)
        X, profile = check_X(self, X, y, self._parameter("missing"), self.n_jobs, categories)
        n, p = X.shape
        self._check_selection_against(p, depth=5)
        y = self._checked_target(y, n)
        weight = self._checked_weight(sample_weight, y, n)
        given = (self._parameter("discrete_features"), self._parameter("discrete_threshold"), X)
        names = getattr(self, "feature_names_in_", None)
        discrete = discrete_columns(*given, profile, self.n_jobs, names=names, categories=categories)
        if discrete is not None:
            self.discrete_features_ = discrete
        return _Checked(X, profile, y, weight, discrete)

    def _checked_target(self, y, n):
        """Return y as classes, label sets or range-normalised numbers, if the ranker takes it."""
        from reliefe.validation import check_response, check_y

        if self.target == "regression":
            return check_response(y, n)
        y, self.classes_ = check_y(y, n)
        if sparse.issparse(y) and self._parameter("compatible") is not None:
            raise ValueError(
                f'{type(self).__name__}: compatible="skrebate" takes one class per sample, but y has '
                f"{y.shape[1]} labels, which scikit-rebate does not know; use compatible=None."
            )
        return y

    def _check_weight_of_classes(self, weight, codes):
        """Refuse weights that leave one class only, or that have no counterpart where scikit-rebate is followed."""
        if self._parameter("compatible") is not None:
            raise ValueError(
                f'{type(self).__name__}: compatible="skrebate" goes without sample_weight, which scikit-rebate '
                "does not know; use compatible=None."
            )
        if codes is not None and (np.bincount(codes, weights=weight) > 0.0).sum() < 2:
            raise ValueError(
                "sample_weight is 0 in all classes but one; ranking needs samples of at least 2 classes."
            )

    def _checked_weight(self, sample_weight, y, n):
        """Return what each sample counts, (n,), or None where all count the same; ``y`` has been checked."""
        from reliefe.validation import check_sample_weight

        weight = check_sample_weight(sample_weight, n)
        if weight is None:
            return None
        if sparse.issparse(y):
            raise ValueError(
                f"{type(self).__name__}: sample_weight goes with one class or number per sample, not with label "
                "sets."
            )
        self._check_weight_of_classes(weight, None if self._parameter("target") == "regression" else y)
        return weight

    def _target(self, y, random_state, phases):
        """Return what turns neighbours into updates, and a code for each distinct target value."""
        from reliefe.compatible import SkrebateClasses
        from reliefe.embedding import label_set_codes
        from reliefe.embedding_cache import cached_embedding
        from reliefe.targets import EMBEDDED_DISTANCES, Classes, LabelSets, Responses

        if not sparse.issparse(y):
            if self._parameter("target_distance") != "hamming":
                held = "number" if self._parameter("target") == "regression" else "class"
                warnings.warn(
                    f"target_distance={self.target_distance!r} has no effect: y holds one {held} per sample, "
                    "and target distances are for multi-label targets.",
                    UserWarning,
                    stacklevel=4,
                )
            if self._parameter("target") == "regression":
                # One code for all: representatives are then samples chosen at random.
                return Responses(y, self._parameter("sigma")), np.zeros(y.shape[0], dtype=np.int64)
            kind = Classes if self._parameter("compatible") is None else SkrebateClasses
            return kind(y, self.classes_.shape[0]), y
        codes = label_set_codes(y)
        if self.target_distance not in EMBEDDED_DISTANCES:
            return LabelSets(y, self.target_distance), codes
        vectors, self.target_n_components_ = cached_embedding(
            getattr(self, "memory", None),
            "targets",
            {
                "T": y,
                "codes": codes,
                "hyperbolic": self.target_distance == "hyperbolic",
                "n_representatives": self._n_target_representatives(),
            },
            n_jobs=self.n_jobs,
            random_state=random_state,
            phases=phases,
        )
        return LabelSets(y, self.target_distance, vectors), codes

    def _n_target_representatives(self):
        """Say how many samples an embedding of the targets is fitted on."""
        return 2048

    def _parameter(self, name):
        """Value of a parameter, or what stands for it where a subclass has no such parameter."""
        defaults = {
            "missing": "raise",
            "discrete_features": None,
            "discrete_threshold": 10,
            "compatible": None,
            "target": "classification",
            "target_distance": "hamming",
            "sigma": None,
        }
        return getattr(self, name, defaults[name])

    def _prepared(self, X, profile, discrete):
        """Bring features to the scale of their differences; return them, and which differences count as 1."""
        from reliefe import columns, compatible, scaling

        skrebate = self._parameter("compatible") is not None
        own_ways = skrebate and profile is not None
        own_ways = own_ways and (compatible.both_kinds(discrete) or not profile.known.all())
        with self._naming_columns():
            if profile is not None and not own_ways:
                return columns.prepare(X, discrete, profile, self.n_jobs)
            # A sparse X is a copy of the user's already and is worked on in place.
            return (compatible if skrebate else scaling).prepare(X, discrete, in_place=profile is None)

    def _set_weights(self, weights):
        """Keep the weights, and rank the features by them; equal weights stand in the order of the features."""
        self.feature_importances_ = weights
        self.ranking_ = ranks(weights)

    @property
    def coef_(self) -> np.ndarray:
        """Weights for ``SelectFromModel`` and ``RFE``, without negative ones; see :func:`unsigned`.

        scikit-learn's selectors take absolute values of importances, or squares, which would put a feature with a
        large negative weight before a good one. They ask for ``coef_`` before ``feature_importances_``, and thus
        get the order of the ranker.

        Returns
        -------
        float64 ndarray of shape (n_features_in_,)

        Raises
        ------
        NotFittedError
            Before ``fit``.
        """
        check_is_fitted(self, "ranking_")
        return unsigned(self.feature_importances_, self.ranking_)

    def _warn_of_few_near(self, lacking):
        """Warn where most samples have no near sample of their own class, or of the others; bools (2, n)."""
        n = lacking.shape[1]
        n_hits, n_misses = lacking.sum(axis=1)
        if self._quiet or max(n_hits, n_misses) <= n / 2:
            return
        self._has_warned = True
        warnings.warn(
            f"{type(self).__name__}: of {n} samples, {n_misses} have no near miss (sample of another class) and "
            f"{n_hits} no near hit (of the same class), so that a relevant feature may get a low weight. "
            "This happens with few features: look at each feature alone too, or use ReliefF.",
            UserWarning,
            stacklevel=_depth_of_caller(),
        )

    def _check_selection_against(self, p, depth):
        if isinstance(self.n_features_to_select, Integral) and self.n_features_to_select > p:
            warnings.warn(
                f"n_features_to_select={self.n_features_to_select} is more than the {p} features of X; all of them "
                "are kept.",
                UserWarning,
                stacklevel=depth,
            )

    def _get_support_mask(self):
        check_is_fitted(self)
        p = self.n_features_in_
        wanted = p if self.n_features_to_select is None else amount_of(self.n_features_to_select, p)
        return self.ranking_ <= wanted

    def transform(self, X: Any) -> Any:
        """Keep the selected features.

        Parameters
        ----------
        X : array-like, masked array, data frame or sparse matrix of shape (n, n_features_in_)
            Of any type that ``fit`` takes.

        Returns
        -------
        array, data frame or csr_matrix of shape (n, number of selected features)
            Of the type of X where that can be; a masked value is NaN.

        Raises
        ------
        ValueError
            For X with other features than those that were fitted, or with NaN where ``missing`` is not "ignore".
        """
        from reliefe.inputs import selectable_table

        check_is_fitted(self)
        return super().transform(selectable_table(X))

    def inverse_transform(self, X: Any) -> Any:
        """Put selected features back in their places, among columns of zeros.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, number of selected features)
            As :meth:`transform` gave it.

        Returns
        -------
        ndarray or sparse matrix of shape (n, n_features_in_)

        Raises
        ------
        ValueError
            For another number of features, or for missing values.
        """
        from reliefe.inputs import selectable_table

        return super().inverse_transform(selectable_table(X))

    def __sklearn_tags__(self):
        """Say what kinds of input are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags(multi_class=True, multi_label=False)
        return tags


def without_noise(weights: np.ndarray) -> np.ndarray:
    """Return zeros where all Relief weights are 0 but for rounding, which storage and order of samples decide.

    Parameters
    ----------
    weights : float64 ndarray of shape (p,)
        Means of differences of range-normalised features.

    Returns
    -------
    float64 ndarray of shape (p,)
        The weights themselves where one of them is more than rounding.
    """
    return weights if np.abs(weights).max() > _ROUNDING else np.zeros_like(weights)


def unsigned(weights: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """Turn weights into importances of which neither absolute values nor squares are in another order.

    Parameters
    ----------
    weights : float64 ndarray of shape (p,)
        Finite.
    ranking : int64 ndarray of shape (p,)
        Rank of each feature; 1 is best.

    Returns
    -------
    float64 ndarray of shape (p,)
        In the order of the ranks. Positive weights are as they were, so that thresholds above 0 mean the same; the
        others lie between 0 and 1e-100 (or half the smallest positive weight), the lowest at 0.
    """
    order = np.argsort(ranking)
    importances = weights[order].astype(np.float64)
    lowest = importances.min()
    if lowest < 0.0:
        rest = importances <= 0.0
        most = min(_NEXT_TO_NOTHING, importances.min(where=~rest, initial=np.inf) / 2)
        importances[rest] = most * (1.0 - importances[rest] / lowest)
    found = np.empty_like(importances)
    found[order] = np.minimum.accumulate(importances)  # weights that tie differ by rounding, in any order
    return found


def amount_of(value: Any, p: int) -> int:
    """Turn a number, or a share, of p features into a number of features, at least 1."""
    if isinstance(value, Integral):
        return int(value)
    return max(1, int(round(value * p, 6)))  # 0.29 · 100 is 28.999… in floating point
