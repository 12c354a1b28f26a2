"""ReliefF: neighbours in the space of the features themselves."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from reliefe._neighbour_ranker import NeighbourRanker


class ReliefF(NeighbourRanker):
    """Rank features by how they differ between near samples of different classes and of the same class.

    Multi-class: for each sample used, the nearest samples of every class are found by the Manhattan distance on
    range-normalised features. A feature loses weight by its difference to neighbours of the sample's own class and
    gains weight by its difference to neighbours of every other class q, times P(q) / (1 − P(own class)). A
    constant feature has weight exactly 0; multi-class weights lie in −1 … 1.

    Multi-label: the nearest samples are found among all samples. With t_l the target distance of neighbour l in 0 …
    1 and D_lj its difference in feature j, t = mean t_l, d_j = mean D_lj and td_j = mean t_l · D_lj, feature j
    gains td_j / t − (d_j − td_j) / (1 − t); a term whose denominator is 0 adds nothing. With ``abs_mean``, D_lj
    keeps its sign in both means, and d_j and td_j are the absolute values of these means.

    Regression (``target="regression"``, RReliefF): the nearest samples are found among all samples. With t the
    difference of targets divided by their range, D that in feature j, and d the influence of a neighbour, which
    falls with its rank r as exp(−(r / σ)²) and is 1 in all for each sample, the feature's weight is Σ d t D / Σ d t
    less Σ d (1 − t) D / Σ d (1 − t), sums over all samples and neighbours: how far near samples with different
    targets differ, less how far those with similar targets do.

    Missing values (``missing="ignore"``): the distance of two samples is the sum of differences over the features
    known in both, times p over the number of these; samples that know no feature in common are p apart, as far as
    can be. A sample whose value in feature j is missing adds nothing to its weight, neighbours whose value is
    missing are left out, and means are over those that are left. A feature's range is over its known values.

    Discrete features: the difference of two values is 0 or 1. ``abs_mean`` leaves them as they are, since codes
    have no mean.

    The first fit of an installation compiles its kernels, which takes up to half a minute; they are then kept on
    disk.

    Parameters
    ----------
    n_neighbors : int or "adaptive", default=15
        k, the number of neighbours per class; smaller classes give all their samples. "adaptive" takes, for each
        sample and class, the neighbours before the largest gap between consecutive distances (Algorithm 3).
    abs_mean : bool, default=False
        Compare a sample with the mean of its neighbours (the paper's absMean update) instead of averaging the
        differences to each of them.
    n_iterations : int or None, default=None
        s, the number of samples to update from. None, or anything from the number of samples on, uses every sample
        once and draws no random number; less draws that many at random, without replacement.
    target_distance : {"f1", "accuracy", "subset", "hamming", "cosine", "hyperbolic"}, default="hamming"
        Distance between label sets when the target is multi-label. "cosine" and "hyperbolic" are taken between
        embedded targets (UMAP on the label matrix, its dimension estimated as in ReliefE).
    n_features_to_select : int, float or None, default=None
        How many features ``transform`` keeps, as a number or a share in (0, 1]; None keeps all.
    n_jobs : int or None, default=None
        Number of threads (None is 1, −1 all cores). The weights do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Used to draw samples when ``n_iterations`` asks for fewer than there are.
    verbose : bool, default=False
        Whether to show a progress bar on standard error when a fit takes more than a second.
    memory : None, str or joblib.Memory, default=None
        Where embeddings are kept for the next fit that needs the same one, as in scikit-learn's pipelines: of the
        targets, and in ReliefE of the samples. It changes no weight.
    target : {"classification", "regression"}, default="classification"
        Whether y holds classes (1-D) or label sets (2-D), or numbers. It is never guessed.
    sigma : float or None, default=20.0
        σ, the decrease of a neighbour's influence with its rank; None gives all the same. Only with
        ``target="regression"``.
    missing : {"raise", "ignore"}, default="raise"
        What missing values in X (NaN, NaT, None, ``pandas.NA``, masked values) are: an error, or left out. In y
        they are an error.
    discrete_features : None, "auto", "from_dtype", or array-like, default=None
        Features whose values are categories: a mask of booleans, feature numbers, or names of a data frame's
        columns. "auto" takes those with at most ``discrete_threshold`` distinct values, as skrebate does;
        "from_dtype" those of a type of categories in a data frame of pandas, polars or Arrow, whatever their values
        are.
    discrete_threshold : int, default=10
        See ``discrete_features``.
    compatible : None or "skrebate", default=None
        "skrebate" follows scikit-rebate 0.8 where that departs from the articles: a sample can be its own
        neighbour, classes beyond two are weighed otherwise, and so are features where some are discrete and some
        are not; docs/differences.md has the formulas. One class per sample, every sample used, a fixed
        ``n_neighbors``.

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
    n_neighbors_used_ : int64 ndarray of shape (s, n_classes), or (s,) without classes
        Neighbours taken per sample (and class); only with ``n_neighbors="adaptive"``.
    target_n_components_ : int or None
        Dimension of the embedded targets, None where embedding them was skipped; only when they are embedded.
    sample_indices_ : int64 ndarray of shape (s,)
        The samples that were used, ascending.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Feature names, when ``fit`` was given a data frame with text names.
    timings_ : dict of str to float
        Wall-clock seconds by phase, and "total"; of an embedding from the cache, those that computing it took.
    cached_seconds_ : float
        Seconds of these that were not spent now; negative where writing an embedding down took time.
    discrete_features_ : bool ndarray of shape (n_features_in_,)
        Features taken as discrete; only when ``discrete_features`` is given.

    Notes
    -----
    Two distances that differ by no more than rounding can explain are a tie, and ties go to the lower sample
    number.
    Sources: Robnik-Šikonja and Kononenko (2003), Theoretical and empirical analysis of ReliefF and RReliefF,
    Machine Learning 53; absMean and the adaptive number of neighbours from Škrlj et al., ReliefE, the
    sections on adaptive neighbour selection and multi-class classification.

    Examples
    --------
    >>> from reliefe import ReliefF
    >>> X = [[0, 7, 1], [1, 7, 0], [2, 7, 1], [3, 7, 0], [4, 7, 0]]
    >>> ranker = ReliefF(n_neighbors=2).fit(X, ["lo", "lo", "lo", "mid", "hi"])
    >>> ranker.feature_importances_.round(6).tolist()
    [0.35, 0.0, 0.15]
    >>> ranker.ranking_.tolist()
    [1, 3, 2]
    """

    def __init__(
        self,
        n_neighbors: int | Literal["adaptive"] = 15,
        *,
        abs_mean: bool = False,
        n_iterations: int | None = None,
        target_distance: Literal["f1", "accuracy", "subset", "hamming", "cosine", "hyperbolic"] = "hamming",
        n_features_to_select: float | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
        memory: Any = None,
        target: Literal["classification", "regression"] = "classification",
        sigma: float | None = 20.0,
        missing: Literal["raise", "ignore"] = "raise",
        discrete_features: ArrayLike | None = None,
        discrete_threshold: int = 10,
        compatible: Literal["skrebate"] | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.abs_mean = abs_mean
        self.n_iterations = n_iterations
        self.target_distance = target_distance
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.memory = memory
        self.target = target
        self.sigma = sigma
        self.missing = missing
        self.discrete_features = discrete_features
        self.discrete_threshold = discrete_threshold
        self.compatible = compatible

    def _neighbours_of(self, Z, full, codes, groups, random_state, phases):
        """Return the object that finds neighbours."""
        from reliefe.columns import Columns
        from reliefe.distances import DenseColumns, ExactColumns, MixedColumns, SparseColumns
        from reliefe.packed import MixedRows, PackedRows

        with phases("distances"):
            if full is not None:
                return (MixedRows if isinstance(Z, Columns) else MixedColumns)(Z, groups)
            if sparse.issparse(Z):
                return SparseColumns(Z, groups)
            if not Z.rest.size:
                return PackedRows(Z, groups)
            return DenseColumns(Z, groups) if groups.k else ExactColumns(Z, groups)
