"""SURF, SURF*, MultiSURF and MultiSURF*: every sample within a distance is a neighbour."""

from __future__ import annotations

import time
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_random_state

from reliefe.base import Prepared, Ranker, without_noise


class _ThresholdRanker(Ranker):
    """What the four rankers share; a subclass says which rule it follows."""

    _per_row = False
    _far = False
    _similarity = False

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        embedding: Any = None,
        metric: Literal["cosine", "euclidean", "manhattan"] = "cosine",
        n_components: int | Literal["twonn"] = "twonn",
        n_representatives: int = 2048,
        sparsify_above: float = 0.15,
        missing: Literal["raise", "ignore"] = "raise",
        discrete_features: ArrayLike | None = None,
        discrete_threshold: int = 10,
        compatible: Literal["skrebate"] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ):
        self.n_features_to_select = n_features_to_select
        self.embedding = embedding
        self.metric = metric
        self.n_components = n_components
        self.n_representatives = n_representatives
        self.sparsify_above = sparsify_above
        self.missing = missing
        self.discrete_features = discrete_features
        self.discrete_threshold = discrete_threshold
        self.compatible = compatible
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self) -> None:
        """As :meth:`reliefe.base.Ranker.check_parameters`."""
        from reliefe.parameters import check_threshold_parameters

        check_threshold_parameters(self)

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Compute the weights.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, p)
            Numbers of any type, finite or, with ``missing="ignore"``, NaN; at least 2 samples. Not modified. Sparse
            matrices are never made dense.
        y : array-like of shape (n,), or array-like or sparse matrix of shape (n, q) with q ≥ 2
            Class of each sample (numbers, text or booleans), at least two different. ``SURF`` and ``MultiSURF``
            also take 0/1 for each of q labels and, with ``target="regression"``, a number per sample.
        sample_weight : array-like of shape (n,), optional
            As in :class:`reliefe.ReliefF`; thresholds are those of all samples. Not with label sets.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            For a wrong parameter, for X with NaN, infinity or text, for y of another length, with missing
            labels, or with one class only; for label sets where the ranker takes none. The message names the
            parameter or the place.

        Warns
        -----
        UserWarning
            If more than half of the samples have no near sample of their class, or none of another class.
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, X, y, sample_weight=None):
        """Compute the weights; return what was made of the data, a :class:`reliefe.base.Prepared`."""
        # Set below, but not by every fit.
        self._forget("n_components_", "discrete_features_", "classes_", "target_n_components_")
        # Kernels are imported here: they cost a second, which `import reliefe` should not.
        from reliefe import compatible
        from reliefe.distances import Groups
        from reliefe.engine import Phases
        from reliefe.near import near_groups, near_weights
        from reliefe.scaling import any_missing, normalise_mixed
        from reliefe.targets import Classes
        from reliefe.threshold_weights import Rule, threshold_weights

        started = time.perf_counter()
        phases = Phases(type(self).__name__ if self.verbose else None)
        with phases("validation"):
            X, profile, y, sample_weight, discrete = self._checked(X, y, sample_weight)
            n, p = X.shape
            random_state = check_random_state(self.random_state)
            gaps = any_missing(X) if profile is None else not profile.known.all()
            if self.compatible and self.embedding is not None and gaps:
                raise ValueError(
                    f'{type(self).__name__}: X has missing values, for which compatible="skrebate" knows no '
                    "embedding; use embedding=None or compatible=None."
                )
            if self.compatible and self.classes_.shape[0] > 2 and gaps:
                raise ValueError(
                    f'{type(self).__name__}: compatible="skrebate" does not take missing values with more '
                    "than two classes, where skrebate weighs classes anew in every feature."
                )
        with phases("normalise"):
            Z, full = self._prepared(X, profile, discrete)
            plain = Z
            if self.embedding is not None and full is not None:
                # Codes of categories are for differences; the samples that are embedded are range-normalised.
                plain = normalise_mixed(X, np.zeros(p, dtype=bool))[0]
            del X
        target, codes = self._target(y, random_state, phases)
        by_class = isinstance(target, Classes)
        if sample_weight is not None and not by_class:
            target.weigh(sample_weight, np.arange(n))
        groups = (
            Groups.of(codes, self.classes_.shape[0], 1) if by_class else near_groups(target, codes, Z, full)
        )
        if self.embedding is not None:
            source = self._embedded_rows(plain, codes, groups, random_state, phases)
        elif self.compatible and compatible.both_kinds(discrete):
            with phases("distances"):
                source = compatible.distances(Z, discrete, groups)
        else:
            source = self._rows(Z, full, groups, phases)
        rule = Rule(self._per_row, self._far, self._similarity)
        if by_class:
            counted = (source, rule, self.compatible is not None, self.n_jobs, phases)
            lacking = np.zeros((2, n), dtype=bool)
            weights = threshold_weights(Z, full, groups, *counted, sample_weight, lacking)
            self._warn_of_few_near(lacking)
        else:
            weights = near_weights(Z, full, groups, source, rule, target, self.n_jobs, phases)
        self._set_weights(without_noise(weights))
        self.timings_ = {**phases.seconds, "total": time.perf_counter() - started}
        return Prepared(Z, full, y, np.arange(n))

    def _checked_target(self, y, n):
        """Return y as classes; no article says how label sets or numbers are ranked."""
        from reliefe.validation import check_classes

        y, self.classes_ = check_classes(self, y, n)
        return y

    def _n_target_representatives(self):
        return self.n_representatives

    def _rows(self, Z, full, groups, phases):
        """Return where distances between the features themselves come from."""
        from reliefe._threads import Team
        from reliefe.columns import Columns
        from reliefe.distances import DenseRows, MixedColumns, SparseColumns
        from reliefe.packed import MixedRows, PackedRows

        with phases("distances"):
            if full is not None:
                return (MixedRows if isinstance(Z, Columns) else MixedColumns)(Z, groups)
            if sparse.issparse(Z):
                return SparseColumns(Z, groups)
            if not Z.rest.size:
                return PackedRows(Z, groups, whole=True)
            with Team(self.n_jobs) as team:
                return DenseRows(Z, groups, team, coarse=True)

    def __sklearn_tags__(self):
        """Say what kinds of input are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "ignore"
        return tags


class _NearRanker(_ThresholdRanker):
    """What the two rankers share that look at near samples alone: they take label sets and numeric targets too."""

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        embedding: Any = None,
        metric: Literal["cosine", "euclidean", "manhattan"] = "cosine",
        n_components: int | Literal["twonn"] = "twonn",
        n_representatives: int = 2048,
        sparsify_above: float = 0.15,
        missing: Literal["raise", "ignore"] = "raise",
        discrete_features: ArrayLike | None = None,
        discrete_threshold: int = 10,
        compatible: Literal["skrebate"] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
        target: Literal["classification", "regression"] = "classification",
        target_distance: Literal["f1", "accuracy", "subset", "hamming", "cosine", "hyperbolic"] = "hamming",
    ):
        super().__init__(
            n_features_to_select,
            embedding=embedding,
            metric=metric,
            n_components=n_components,
            n_representatives=n_representatives,
            sparsify_above=sparsify_above,
            missing=missing,
            discrete_features=discrete_features,
            discrete_threshold=discrete_threshold,
            compatible=compatible,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.target = target
        self.target_distance = target_distance

    _checked_target = Ranker._checked_target

    def __sklearn_tags__(self):
        """Say what kinds of input are taken."""
        tags = super().__sklearn_tags__()
        if self.target == "regression":
            tags.classifier_tags = None
        else:
            tags.classifier_tags.multi_label = self.compatible is None
        return tags


class SURF(_NearRanker):
    """Rank features by differences to all samples that are nearer than the mean distance of all pairs.

    A feature loses weight by its mean difference to the near samples of a sample's own class and gains by its mean
    difference to those of every other class q, times P(q) / (1 − P(own class)); a class without a near sample adds
    nothing. Distances are Manhattan on range-normalised features. No number of neighbours has to be chosen.

    Multi-label: the update of :class:`reliefe.ReliefF`, with the near samples as neighbours. A sample without any
    adds nothing.

    Regression (``target="regression"``): the weight of RReliefF as in :class:`reliefe.ReliefF`, with the near
    samples as neighbours. Those of a sample have the same influence, 1 in all (a threshold gives them no ranks, so
    there is no σ); a sample without any does not count.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features ``transform`` keeps, as a number or a share in (0, 1]; None keeps all.
    embedding : None, "umap" or object with ``fit`` and ``transform``, default=None
        Where distances are taken: None, between the features themselves; else in an embedding, as in
        :class:`reliefe.ReliefE`. Differences are those of the features all the same.
    metric : {"cosine", "euclidean", "manhattan"}, default="cosine"
        Distance in the embedding. Not looked at without one, as the next three.
    n_components, n_representatives, sparsify_above
        As in :class:`reliefe.ReliefE`. The second one is also for embedded label sets.
    missing : {"raise", "ignore"}, default="raise"
        What missing values in X are: an error, or left out as in :class:`reliefe.ReliefF`, with an embedding as in
        :class:`reliefe.ReliefE`.
    discrete_features : None, "auto", "from_dtype", or array-like, default=None
        Features whose values are categories: a mask of booleans, feature numbers, or names of a data frame's
        columns. "auto" takes those with at most ``discrete_threshold`` distinct values, as skrebate does;
        "from_dtype" those of a type of categories in a data frame of pandas, polars or Arrow, whatever their values
        are.
    discrete_threshold : int, default=10
        See ``discrete_features``.
    compatible : None or "skrebate", default=None
        "skrebate" follows scikit-rebate 0.8 where that departs from the articles; docs/differences.md says where.
    n_jobs : int or None, default=None
        Number of threads (None is 1, −1 all cores). The weights do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the embedding; not used without one.
    verbose : bool, default=False
        Whether to show a progress bar on standard error when a fit takes more than a second.
    target : {"classification", "regression"}, default="classification"
        Whether y holds classes (1-D) or label sets (2-D), or numbers. It is never guessed.
    target_distance : {"f1", "accuracy", "subset", "hamming", "cosine", "hyperbolic"}, default="hamming"
        Distance between label sets, as in :class:`reliefe.ReliefF`.

    Attributes
    ----------
    feature_importances_ : float64 ndarray of shape (n_features_in_,)
        Weights, the higher the more relevant. No unit.
    coef_ : float64 ndarray of shape (n_features_in_,)
        The weights without their sign, in the same order, for ``SelectFromModel`` and ``RFE``: these take absolute
        values, and with ``importance_getter="feature_importances_"`` the most negative weights would win.
    ranking_ : int64 ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is best, equal weights stand in the order of the features.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted; the label numbers when the target is multi-label; not set with
        ``target="regression"``.
    target_n_components_ : int or None
        Dimension of the embedded targets, None where embedding them was skipped; only when they are embedded.
    n_components_ : int or None
        Dimension of the embedding, None where it was skipped; only with an embedding.
    discrete_features_ : bool ndarray of shape (n_features_in_,)
        Features taken as discrete; only when ``discrete_features`` is given.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names, when ``fit`` was given a data frame with text names.
    timings_ : dict of str to float
        Wall-clock seconds by phase, and "total".

    Notes
    -----
    A distance that differs from a threshold by no more than rounding can explain is equal to it, thus not near.
    Source: Greene, Penrod, Kiralis and Moore (2009), Spatially uniform ReliefF (SURF) for computationally-
    efficient filtering of gene-gene interactions, BioData Mining 2; classes beyond two as in ReliefF. Numeric
    targets: its rule for neighbours, and the weights of Robnik-Šikonja and Kononenko (2003), Theoretical and
    empirical analysis of ReliefF and RReliefF, Machine Learning 53. Label sets: the update of Škrlj et al.,
    ReliefE. scikit-rebate takes numeric targets in another way; docs/differences.md says how.

    Examples
    --------
    >>> from reliefe import SURF
    >>> X = [[0, 7, 1], [1, 7, 0], [2, 7, 1], [3, 7, 0], [4, 7, 0]]
    >>> SURF().fit(X, ["lo", "lo", "lo", "hi", "hi"]).ranking_.tolist()
    [1, 2, 3]
    """


class SURFStar(_ThresholdRanker):
    """SURF*: as SURF, and the differences to all samples farther than the mean distance count the other way round.

    Parameters
    ----------
    n_features_to_select, embedding, metric, n_components, n_representatives, sparsify_above, missing, \
discrete_features, discrete_threshold, compatible, n_jobs, random_state, verbose
        As in :class:`SURF`.

    Attributes
    ----------
    feature_importances_, coef_, ranking_, classes_, n_components_, discrete_features_, n_features_in_, \
feature_names_in_, timings_
        As in :class:`SURF`.

    Notes
    -----
    A distance that differs from the threshold by no more than rounding can explain is neither near nor far.
    Source: Greene, Himmelstein, Kiralis and Moore (2010), The informative extremes: using both nearest and farthest
    individuals can improve Relief algorithms in the domain of human genetics, EvoBIO; classes beyond two as in
    ReliefF. No article says what far samples count with label sets or numeric targets, which SURF and MultiSURF
    take.
    """

    _far = True


class MultiSURF(_NearRanker):
    """As SURF, with a threshold of its own for each sample: the mean of its distances less half their deviation.

    Parameters
    ----------
    n_features_to_select, embedding, metric, n_components, n_representatives, sparsify_above, missing, \
discrete_features, discrete_threshold, compatible, n_jobs, random_state, verbose, target, target_distance
        As in :class:`SURF`.

    Attributes
    ----------
    feature_importances_, coef_, ranking_, classes_, target_n_components_, n_components_, discrete_features_, \
n_features_in_, feature_names_in_, timings_
        As in :class:`SURF`.

    Notes
    -----
    The standard deviation is that of the n − 1 distances of a sample (the sum of squares divided by n − 1). A
    distance that differs from the threshold by no more than rounding can explain is equal to it, thus not near.
    Source: Urbanowicz, Olson, Schmitt, Meeker and Moore (2018), Benchmarking Relief-based feature selection methods
    for bioinformatics data mining, Journal of Biomedical Informatics 85; classes beyond two as in ReliefF, label
    sets and numeric targets as in SURF.
    """

    _per_row = True


class MultiSURFStar(_ThresholdRanker):
    """MultiSURF*: as MultiSURF, and samples farther than the mean plus half the deviation count by similarity.

    Of far samples 1 − difference is taken in place of the difference: a feature loses weight where it is alike in
    far samples of the own class and gains where it is alike in far samples of other classes. Samples in between do
    not count.

    Parameters
    ----------
    n_features_to_select, embedding, metric, n_components, n_representatives, sparsify_above, missing, \
discrete_features, discrete_threshold, compatible, n_jobs, random_state, verbose
        As in :class:`SURF`.

    Attributes
    ----------
    feature_importances_, coef_, ranking_, classes_, n_components_, discrete_features_, n_features_in_, \
feature_names_in_, timings_
        As in :class:`SURF`.

    Notes
    -----
    Up to a constant that every feature gets (a constant one too), far samples count by the negative difference, as
    in SURF*. The constant is 0 where each class has a far sample, as in most data.
    Source: Granizo-Mackenzie and Moore (2013), Multiple threshold spatially uniform ReliefF for the genetic
    analysis of complex human diseases, EvoBIO; classes beyond two as in ReliefF. No article says what far samples
    count with label sets or numeric targets, which SURF and MultiSURF take.
    """

    _per_row = True
    _far = True
    _similarity = True
