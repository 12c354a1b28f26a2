"""The low-dimensional space in which ReliefE looks for neighbours.

Steps, in this order: representatives → sparsification (dense data only) → latent dimension → embedding.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController, threadpool_limits

from reliefe._compiled import kept_where_possible
from reliefe._forks import refuse_after_fork
from reliefe.inputs import masked_places
from reliefe.nearest import NearestRows
from reliefe.sparsification import checked, own_csr, sparsification_epsilon, sparsify, sparsify_in_place, unit

__all__ = [
    "embed",
    "embed_targets",
    "label_set_codes",
    "latent_dimension",
    "representatives",
    "sparsification_epsilon",
    "sparsify",
    "two_nn_line",
]

logger = logging.getLogger("reliefe")

_UMAP_NEIGHBORS = 15  # UMAP's default
_TRANSFORM_ROWS = 8192  # samples embedded at once; UMAP holds distances from these to all representatives
_DENSE_ABOVE = 0.15  # share of non-zeros above which plain arrays are cheaper to embed
_EQUAL_LOG_RATIOS = 1e-12
#: Functions that a fit calls and that UMAP does not keep.
_COMPILED_BY_UMAP = (
    ("umap.umap_", "smooth_knn_dist"),
    ("umap.umap_", "compute_membership_strengths"),
    ("umap.layouts", "_nb_optimize_layout_euclidean_single_epoch"),
)


def representatives(
    codes: np.ndarray, n_representatives: int, random_state: int | np.random.RandomState | None = None
) -> np.ndarray:
    """Choose samples that stand for all, taking the target values in turn (Section "Scaling up UMAP").

    Parameters
    ----------
    codes : int array of shape (n,)
        Target value of each sample; values are taken in ascending order.
    n_representatives : int
        ν, how many samples to choose. With ν ≥ n all samples are taken, in their own order.
    random_state : int, RandomState instance or None
        Decides the order of the samples within a value, and of the values when there are more than ν.

    Returns
    -------
    int64 ndarray of shape (min(n, ν),)
        Sample numbers in the order of choice. With more than ν distinct values, one sample of each of ν values
        taken at random.
    """
    codes = np.asarray(codes)
    n = codes.shape[0]
    if n <= n_representatives:
        return np.arange(n, dtype=np.int64)
    rng = check_random_state(random_state)
    values, inverse = np.unique(codes, return_inverse=True)
    shuffled = rng.permutation(n)
    grouped = shuffled[np.argsort(inverse[shuffled], kind="stable")]
    sizes = np.bincount(inverse)
    turn = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # position of a sample within its value
    if values.shape[0] > n_representatives:
        first_rows = grouped[turn == 0]
        return first_rows[rng.permutation(values.shape[0])[:n_representatives]].astype(np.int64)
    order = np.lexsort((inverse[grouped], turn))
    return grouped[order[:n_representatives]].astype(np.int64)


def _share_of_nonzeros(X):
    return (X.nnz if sparse.issparse(X) else np.count_nonzero(X)) / (X.shape[0] * X.shape[1])


def _distinct_rows(X):
    """Return the samples of X (dense or canonical CSR) without repetitions, in order of first appearance."""
    seen = {}
    if sparse.issparse(X):
        for i in range(X.shape[0]):
            span = slice(X.indptr[i], X.indptr[i + 1])
            seen.setdefault((X.indices[span].tobytes(), X.data[span].tobytes()), i)
    else:
        for i, row in enumerate(X):
            seen.setdefault(row.tobytes(), i)
    return X[np.fromiter(seen.values(), dtype=np.int64)]


def latent_dimension(X: Any) -> int | None:
    """Estimate the intrinsic dimension from the two nearest neighbours of each sample (TwoNN, Algorithm 2).

    Repeated samples are taken once. With r1 ≤ r2 the Euclidean distances to the two nearest other samples,
    μ = r2 / r1 and EMP(x) the share of μ strictly below x, the estimate is the slope of the least-squares line
    through the origin of −log(1 − EMP(μ)) on log μ, rounded, and held between 2 and min(p, n − 2).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        Finite values.

    Returns
    -------
    int or None
        None when no such number exists: fewer than 4 samples or 2 features, fewer than 3 distinct samples, or all
        ratios equal to 1.

    References
    ----------
    Facco, d'Errico, Rodriguez, Laio (2017). Estimating the intrinsic dimension of datasets by a minimal
    neighborhood information. Scientific Reports 7, 12140.
    """
    return _dimension(_rescaled(X))


def two_nn_line(X: Any) -> Any:
    """Return the points that :func:`latent_dimension` fits its line to, and the slope of that line.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p)
        Finite values.

    Returns
    -------
    log_ratio : float64 ndarray of shape (m,)
        log μ of each distinct sample, ascending; empty with fewer than 3 distinct samples.
    minus_log_rest : float64 ndarray of shape (m,)
        −log(1 − EMP(μ)).
    slope : float or None
        Not rounded, not held between bounds; None where it is undefined.
    """
    X = _rescaled(X)
    rows = _distinct_rows(X)
    if rows.shape[0] < 3:
        return np.empty(0), np.empty(0), None
    return _two_nn_fit(NearestRows(rows).among_themselves(2)[1])


def _rescaled(X):
    """Copy X to float64 (C order or canonical CSR) with values of which no square is too large or too small."""
    X = checked(X)
    X = own_csr(X) if sparse.issparse(X) else np.array(X, dtype=np.float64, order="C") + 0.0
    values = X.data if sparse.issparse(X) else X
    np.ldexp(values, -unit(values), out=values)  # a common power of two changes nothing
    return X


def _dimension(X, distances=None):
    """As :func:`latent_dimension`, for float64 samples, C order or canonical CSR.

    ``distances``, those of each sample to its nearest other samples, saves looking for them where none of them is
    0.
    """
    highest = min(X.shape[1], X.shape[0] - 2)
    if highest < 2:
        return None
    if distances is None or distances.shape[1] < 2 or not distances[:, 0].min() > 0.0:
        rows = _distinct_rows(X)
        if rows.shape[0] < 3:
            return None
        _, distances = NearestRows(rows).among_themselves(2)
    slope = _two_nn_slope(distances[:, :2])
    if slope is None:
        return None
    return int(np.clip(np.rint(min(slope, 2.0**31)), 2, highest))


def _two_nn_fit(nearest):
    """As :func:`two_nn_line`, for the two nearest distances of each sample."""
    nearest = nearest[nearest[:, 0] > 0.0]  # distinct samples can still meet when squares underflow
    log_ratio = np.sort(np.log(nearest[:, 1]) - np.log(nearest[:, 0]))
    # Equal ratios come out equal up to rounding only; without this, noise would decide which is "strictly below".
    log_ratio[log_ratio <= _EQUAL_LOG_RATIOS] = 0.0
    opens_group = np.diff(log_ratio, prepend=-np.inf) > _EQUAL_LOG_RATIOS
    below = np.flatnonzero(opens_group)[np.cumsum(opens_group) - 1] / log_ratio.shape[0]
    minus_log_rest = -np.log1p(-below)
    denominator = float(log_ratio @ log_ratio)
    slope = float(log_ratio @ minus_log_rest) / denominator if denominator > 0.0 else None
    return log_ratio, minus_log_rest, slope


def _two_nn_slope(nearest):
    """Slope of the TwoNN line, or None where it is undefined."""
    return _two_nn_fit(nearest)[2]


@dataclass
class Embedded:
    """Where neighbours are looked for, and how it came about.

    Attributes
    ----------
    E : ndarray or csr_matrix of shape (n, d)
        Embedded samples, or the range-normalised samples themselves where the embedding was skipped.
    n_components : int or None
        d, or None where the embedding was skipped.
    """

    E: object
    n_components: int | None


def embed(
    Z, codes, *, embedding, n_components, n_representatives, sparsify_above, n_jobs, random_state, phases
):
    """Embed range-normalised samples (the steps named at the top of this module).

    Parameters
    ----------
    Z : ndarray or csr_matrix of shape (n, p)
        Range-normalised samples.
    codes : int ndarray of shape (n,)
        Target value of each sample.
    embedding : "umap" or object with ``fit`` and ``transform``
        An object is cloned and used with its own settings.
    n_components : "twonn" or int
        Dimension of the embedding.
    n_representatives : int
        ν, number of samples the embedding is fitted on.
    sparsify_above : float
        Share of non-zeros above which the samples are sparsified.
    n_jobs : int or None
        Number of threads for the exact neighbours; nothing depends on it.
    random_state : RandomState instance
        Source of randomness.
    phases : reliefe.engine.Phases
        Collects the seconds of each step.

    Returns
    -------
    Embedded
    """
    n, p = Z.shape
    with phases("representatives"):
        chosen = representatives(codes, n_representatives, random_state)
    sparsify_seed, umap_seed = random_state.randint(np.iinfo(np.int32).max, size=2)
    with phases("sparsify"):
        B = _as_embedded(Z, sparsify_above, sparsify_seed)
        fitted_on = B if chosen.shape[0] == n else B[chosen]
        blas = ThreadpoolController().select(user_api="blas")
    if not isinstance(embedding, str):
        model = _user_model(embedding, n_components)
        with phases("embedding"), blas.limit(limits=1):  # sums in a product may depend on the threads
            return _fit_transform(model, Z, B, fitted_on, chosen)
    with phases("latent_dimension"), blas.limit(limits=effective_n_jobs(n_jobs)):
        knn = _ExactNeighbours(fitted_on, n_jobs)
        d = _dimension(fitted_on, knn.distances) if n_components == "twonn" else n_components
    if d is None or d >= p or chosen.shape[0] < 4:
        logger.info(
            "ReliefE: embedding skipped, neighbours are looked for in the feature space "
            "(%d samples, %d representatives, %d features, latent dimension %s).",
            n, chosen.shape[0], p, "undefined" if d is None else d,
        )  # fmt: skip
        return Embedded(Z, None)
    with phases("embedding"), blas.limit(limits=1):
        return _fit_transform(_umap(d, knn, int(umap_seed)), Z, B, fitted_on, chosen, knn)


def _as_embedded(Z, sparsify_above, seed):
    """Sparsify samples that are not sparse enough; the result shares its values with Z where nothing is changed."""
    B = Z
    if _share_of_nonzeros(B) > sparsify_above:
        B = sparsify_in_place(B.copy(), check_random_state(seed))
    # One storage for both kinds of input from here on, so that dense and sparse data embed alike.
    if _share_of_nonzeros(B) > _DENSE_ABOVE:
        return B.toarray() if sparse.issparse(B) else B
    return sparse.csr_matrix(B)


def label_set_codes(T: Any) -> np.ndarray:
    """Give each sample the number of its label set among the distinct ones, sorted as tuples of labels.

    Parameters
    ----------
    T : csr_matrix of shape (n, q)
        Labels in canonical form.

    Returns
    -------
    int64 ndarray of shape (n,)
    """
    sets = [tuple(T.indices[T.indptr[i] : T.indptr[i + 1]].tolist()) for i in range(T.shape[0])]
    number = {each: place for place, each in enumerate(sorted(set(sets)))}
    return np.fromiter((number[each] for each in sets), dtype=np.int64, count=T.shape[0])


def embed_targets(T, codes, hyperbolic, n_representatives, n_jobs, random_state, phases):
    """Embed label sets: UMAP on the label matrix, its dimension by TwoNN on the label matrix.

    Parameters
    ----------
    T : csr_matrix of shape (n, q)
        Labels in canonical form.
    codes : int64 ndarray of shape (n,)
        Number of each sample's label set.
    hyperbolic : bool
        Whether to embed on a hyperboloid instead of in Euclidean space.
    n_representatives : int
        ν, number of samples the embedding is fitted on.
    n_jobs : int or None
        Number of threads for the exact neighbours; nothing depends on it.
    random_state : RandomState instance
        Source of randomness.
    phases : reliefe.engine.Phases
        Collects the seconds of "target_embedding".

    Returns
    -------
    vectors : float64 ndarray of shape (n, d) or None
        None where embedding is skipped: the label matrix itself is used, and stays sparse.
    n_components : int or None
        d, or None where embedding is skipped.
    """
    n, q = T.shape
    with phases("target_embedding"), threadpool_limits(limits=1, user_api="blas"):
        chosen = representatives(codes, n_representatives, random_state)
        seed = int(random_state.randint(np.iinfo(np.int32).max))
        B = T.toarray() if T.nnz > _DENSE_ABOVE * n * q else T
        fitted_on = B if chosen.shape[0] == n else B[chosen]
        knn = _ExactNeighbours(fitted_on, n_jobs)
        d = _dimension(fitted_on, knn.distances)
        if d is None or d >= q or chosen.shape[0] < 4:
            logger.info(
                "embedding of the targets skipped, the labels themselves are used "
                "(%d samples, %d labels, latent dimension %s).",
                n, q, "undefined" if d is None else d,
            )  # fmt: skip
            return None, None
        extra = {"output_metric": "hyperboloid"} if hyperbolic else {}
        embedded = _fit_transform(_umap(d, knn, seed, **extra), T, B, fitted_on, chosen, knn)
        if embedded.n_components is None:
            return None, None
        return embedded.E, embedded.n_components


class _ExactNeighbours:
    """Exact neighbours for UMAP, which would look for approximate ones or measure all pairs by calls from Python.

    Stands in for the search index of ``precomputed_knn`` too. UMAP passes on samples rounded to single precision;
    the search uses the samples themselves, which have to be announced in :attr:`pending` before.

    Parameters
    ----------
    fitted_on : float64 ndarray or canonical csr_matrix of shape (ν, p)
        The representatives, at least 2.
    n_jobs : int or None
        Number of threads.

    Attributes
    ----------
    n_neighbors : int
        UMAP's number of neighbours, a sample itself being the first.
    ids, distances : ndarrays of shape (ν, n_neighbors − 1)
        The nearest other samples.
    pending : ndarray or csr_matrix of shape (m, p)
        The samples that UMAP will ask for next.
    """

    _angular_trees = False  # read by UMAP to decide how hard an approximate search should try

    def __init__(self, fitted_on, n_jobs=None):
        n = fitted_on.shape[0]
        self.n_neighbors = min(_UMAP_NEIGHBORS, n - 1)
        self._search = NearestRows(fitted_on, n_jobs)
        self.ids, self.distances = self._search.among_themselves(max(1, min(_UMAP_NEIGHBORS - 1, n - 1)))
        self.pending = None

    def precomputed(self):
        """Return the value of UMAP's ``precomputed_knn``."""
        n = self.ids.shape[0]
        width = self.n_neighbors - 1
        ids = np.column_stack((np.arange(n, dtype=np.int32), self.ids[:, :width]))
        distances = np.column_stack((np.zeros(n), self.distances[:, :width]))
        return np.ascontiguousarray(ids), distances.astype(np.float32), self

    def query(self, X, k, epsilon):
        """Answer UMAP's ``transform``."""
        if X.shape != self.pending.shape:
            raise RuntimeError(
                f"UMAP asked for {X.shape[0]} samples, {self.pending.shape[0]} were announced."
            )
        ids, distances = self._search.of(self.pending, k)
        return ids, distances.astype(np.float32)


def _umap(d, knn, seed, **extra):
    """UMAP as the paper uses it: its defaults, random start, d dimensions; the neighbours are exact."""
    refuse_after_fork()
    with kept_where_possible(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # umap warns of optional packages that are not needed here
        from umap import UMAP  # heavy to import, and not needed by every user of this package

        _keep_compiled()
    if knn.n_neighbors < _UMAP_NEIGHBORS:
        logger.info(
            "ReliefE: UMAP's n_neighbors lowered to %d for %d samples.", knn.n_neighbors, knn.ids.shape[0]
        )
    return UMAP(
        n_components=d,
        n_neighbors=knn.n_neighbors,
        init="random",
        random_state=seed,
        n_jobs=1,
        precomputed_knn=knn.precomputed(),
        **extra,
    )


@lru_cache(maxsize=1)
def _keep_compiled():
    """Keep on disk what UMAP compiles anew in each process that fits, seconds each time.

    Copies are tied to the version of UMAP, since numba only looks at the file of the function itself. The
    parallel variant of the layout, which fits here do not use, is not kept: numba would not tell its copies apart.
    """
    for module, name in _COMPILED_BY_UMAP:
        function = getattr(import_module(module), name, None)
        with suppress(AttributeError):  # another version of UMAP, or nothing is compiled
            function.enable_caching()
            file = function._cache._cache_file
            file._source_stamp = (file._source_stamp, version("umap-learn"))


def _user_model(embedding, n_components):
    """Return a fresh copy of the user's embedding, with its own settings unless a dimension was asked for."""
    model = clone(embedding, safe=False)
    if not isinstance(n_components, str):
        if not (hasattr(model, "get_params") and "n_components" in model.get_params()):
            raise ValueError(
                "n_components was given, but the object passed as embedding has no parameter n_components; "
                'leave n_components at "twonn" and set the dimension on the object.'
            )
        model.set_params(n_components=n_components)
    return model


def _plain(embedded, model, n_rows, n_columns):
    """Return what an embedding gave as a float64 array, if it is what was asked for.

    Parameters
    ----------
    embedded : object
        What ``transform`` returned.
    model : object
        The embedding.
    n_rows : int
        How many samples it was given.
    n_columns : int or None
        How many columns it gave for other samples, if it was asked before.

    Returns
    -------
    float64 ndarray of shape (n_rows, n_columns)

    Raises
    ------
    ValueError
        Naming the embedding, what it gave, and what was expected.
    """
    if sparse.issparse(embedded):
        embedded = embedded.toarray()
    masked = masked_places(embedded) is not None
    try:
        array = np.asarray(embedded)
        if array.dtype.kind == "O":
            array = array.astype(np.float64)
    except (TypeError, ValueError):
        array = np.empty(0, dtype=object)
    wrong = None
    if array.dtype.kind not in "biuf":
        held = type(embedded).__name__ if array.dtype.kind == "O" else f"values of type {array.dtype}"
        wrong = f"complex numbers ({array.dtype})" if array.dtype.kind == "c" else held
    elif array.ndim != 2 or array.shape[0] != n_rows or n_columns not in (None, array.shape[1]):
        wrong = f"shape {array.shape}"
    elif array.shape[1] == 0:
        wrong = f"shape {array.shape}, no columns"
    elif masked:
        wrong = "masked values"
    if wrong is not None:
        raise _wrong_embedding(
            model, wrong, n_rows, "d ≥ 1" if n_columns is None else f"d = {n_columns} as before"
        )
    return array.astype(np.float64, copy=False)


def _wrong_embedding(model, gave, n_rows, columns):
    return ValueError(
        f"embedding: transform did not return a table of numbers for {n_rows} samples: {type(model).__name__} gave "
        f"{gave}; expected are finite real numbers in the shape ({n_rows}, d), {columns}."
    )


def _fit_transform(model, Z, B, fitted_on, chosen, knn=None):
    """Fit on the representatives, transform the rest in batches, and put all samples in their places."""
    n = B.shape[0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # A user's object may work in place, and the samples are needed as they are.
        model.fit(fitted_on if knn is not None else fitted_on.copy())
        # UMAP's own place for a sample it was fitted on; its `transform` would move those of a sparse matrix again.
        part = model.transform(fitted_on.copy()) if knn is None else model.embedding_
        part = _plain(part, model, chosen.shape[0], None)
        E = np.empty((n, part.shape[1]), dtype=np.float64)
        E[chosen] = part
        rest = np.setdiff1d(np.arange(n), chosen)
        for start in range(0, rest.shape[0], _TRANSFORM_ROWS):
            rows = rest[start : start + _TRANSFORM_ROWS]
            part = B[rows]
            if knn is not None:
                knn.pending = part
            E[rows] = _plain(model.transform(part), model, rows.shape[0], E.shape[1])
    messages = {str(w.message).strip().splitlines()[0] for w in caught}
    for message in sorted(each for each in messages if not each.startswith("precomputed_knn[2]")):
        logger.info("ReliefE: %s: %s", type(model).__name__, message)
    finite = np.isfinite(E).all(axis=1)
    if not finite.all() and knn is None:
        row = int(np.flatnonzero(~finite)[0])
        gave = f"{'NaN' if np.isnan(E[row]).any() else 'infinity'} for sample {row}"
        raise _wrong_embedding(model, gave, n, f"d = {E.shape[1]}")
    if not finite.all():
        logger.warning(
            "ReliefE: %s returned values that are not finite; embedding skipped, neighbours are looked for in "
            "the feature space.",
            type(model).__name__,
        )
        return Embedded(Z, None)
    return Embedded(E, E.shape[1])
