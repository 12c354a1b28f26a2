"""ReliefE: neighbours in a low-dimensional embedding of the samples."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from reliefe._neighbour_ranker import NeighbourRanker


class ReliefE(NeighbourRanker):
    """ReliefF with neighbours found in a manifold embedding whose dimension is estimated from the data.

    Samples are range-normalised, representatives of all classes (or label sets) chosen, dense data sparsified at
    random, the latent dimension estimated from two nearest neighbours (TwoNN), and all samples embedded by UMAP
    fitted on the representatives. Neighbours come from the embedding; feature differences come from the
    range-normalised features.

    Missing values (``missing="ignore"``): the dimension is estimated from samples, the embedding is fitted on
    samples, and it places other samples by their values; distances over shared features would not do. For these
    steps the median of its feature's known values stands for a missing one, 0 where no value is known. Given the
    neighbours, the update is that of ReliefF with ``missing="ignore"``: a sample whose value is missing adds
    nothing to that feature's weight, and neighbours whose value is missing are left out.

    Parameters
    ----------
    n_neighbors : int or "adaptive", default=15
        As in :class:`reliefe.ReliefF`.
    abs_mean : bool, default=False
        As in :class:`reliefe.ReliefF`.
    n_iterations : int or None, default=None
        As in :class:`reliefe.ReliefF`.
    target_distance : {"f1", "accuracy", "subset", "hamming", "cosine", "hyperbolic"}, default="hamming"
        As in :class:`reliefe.ReliefF`.
    n_features_to_select : int, float or None, default=None
        As in :class:`reliefe.ReliefF`.
    metric : {"cosine", "euclidean", "manhattan"}, default="cosine"
        Distance in the embedding; cosine is 1 − cos.
    embedding : "umap" or object with ``fit`` and ``transform``, default="umap"
        An object is cloned and used with its own settings; the latent dimension is then not estimated. Its
        ``transform`` has to give finite real numbers, a row for each sample it gets and always as many columns;
        it is called on the representatives and on batches of the other samples. Anything else is an error.
    n_components : int or "twonn", default="twonn"
        Dimension of the embedding; "twonn" estimates it.
    n_representatives : int, default=2048
        ν, the number of samples the dimension is estimated on and the embedding is fitted on.
    sparsify_above : float, default=0.15
        Share of non-zeros above which the samples are sparsified (PrMS) for the estimate and the embedding; 1
        turns it off.
    n_jobs : int or None, default=None
        Number of threads for neighbours and weights. The embedding runs on one, which makes it repeatable.
    random_state : int, RandomState instance or None, default=None
        Seed of representatives, sparsification, embedding and the samples that are drawn.
    verbose : bool, default=False
        As in :class:`reliefe.ReliefF`; the bar covers what comes after the embedding.
    memory : None, str or joblib.Memory, default=None
        As in :class:`reliefe.ReliefF`. An embedding by an object of the user's own is not kept.
    target : {"classification", "regression"}, default="classification"
        As in :class:`reliefe.ReliefF`. Representatives of a numeric target are chosen at random.
    sigma : float or None, default=20.0
        As in :class:`reliefe.ReliefF`.
    missing : {"raise", "ignore"}, default="raise"
        What missing values in X are: an error, or left out of differences as in :class:`reliefe.ReliefF`. Where
        neighbours are looked for, the median of the known values of its feature stands for a missing one.

    Attributes
    ----------
    n_components_ : int or None
        Dimension of the embedding. None when it was skipped and neighbours were looked for among the
        range-normalised features: no dimension from 2 to min(p, ν − 2) below the number of features p exists,
        or UMAP's embedding was not finite. A message on the logger "reliefe" says so.
    feature_importances_, coef_, ranking_, classes_, n_neighbors_used_, sample_indices_, n_features_in_, \
feature_names_in_, target_n_components_, timings_, cached_seconds_
        As in :class:`reliefe.ReliefF`.

    See Also
    --------
    reliefe.embedding.latent_dimension : the estimate on its own.
    reliefe.embedding.sparsify : the sparsification on its own.

    Notes
    -----
    Source: Škrlj, Džeroski, Lavrač, Petković, ReliefE: feature ranking in high-dimensional spaces via manifold
    embeddings, Algorithm "ReliefE" and the sections it refers to.
    """

    def __init__(
        self,
        n_neighbors: int | Literal["adaptive"] = 15,
        *,
        abs_mean: bool = False,
        n_iterations: int | None = None,
        target_distance: Literal["f1", "accuracy", "subset", "hamming", "cosine", "hyperbolic"] = "hamming",
        n_features_to_select: float | None = None,
        metric: Literal["cosine", "euclidean", "manhattan"] = "cosine",
        embedding: Any = "umap",
        n_components: int | Literal["twonn"] = "twonn",
        n_representatives: int = 2048,
        sparsify_above: float = 0.15,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
        memory: Any = None,
        target: Literal["classification", "regression"] = "classification",
        sigma: float | None = 20.0,
        missing: Literal["raise", "ignore"] = "raise",
    ):
        # ReliefF's parameters but for those on discrete features, which UMAP does not take, and for `compatible`:
        # scikit-rebate knows no embedding.
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
        self.metric = metric
        self.embedding = embedding
        self.n_components = n_components
        self.n_representatives = n_representatives
        self.sparsify_above = sparsify_above

    def _n_target_representatives(self):
        return self.n_representatives

    def _neighbours_of(self, Z, full, codes, groups, random_state, phases):
        return self._embedded_rows(Z, codes, groups, random_state, phases)
