"""What a target does with neighbours: whom to look for, and how weights change.

A target says in which groups neighbours are looked for (one per class, or all samples together) and turns the
neighbours of a block of samples into updates.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from reliefe.columns import Columns
from reliefe.distances import Groups
from reliefe.kernels import few as few_values
from reliefe.kernels import mixed, multilabel, regression
from reliefe.kernels import targets as kernels
from reliefe.kernels import weights as multiclass

#: Distances between label sets, and between embedded targets.
SET_DISTANCES = {
    "f1": kernels.F1,
    "accuracy": kernels.ACCURACY,
    "subset": kernels.SUBSET,
    "hamming": kernels.HAMMING,
}
EMBEDDED_DISTANCES = {"cosine": kernels.COSINE, "hyperbolic": kernels.HYPERBOLIC}

#: Sparse updates are summed in this many pieces per block, however many threads there are, so that the
#: order of every sum is fixed by the data alone.
_PIECES = 16
_UPDATES = 4 * 10**8  # differences added up in a piece of work: well below a second


def add_updates(kernels_of, Z, block, rest, weights, team, full=None, few=None, advance=None, which="all"):
    """Add one block's updates to ``weights``.

    Dense columns are shared out over the threads. Sparse rows are worked on in a fixed number of pieces whose
    partial weights are added up in order.

    Parameters
    ----------
    kernels_of : module
        Has ``update_dense`` and ``update_sparse``.
    Z : reliefe.columns.Columns, ndarray or csr_matrix of shape (n, p)
        Range-normalised samples.
    block : int64 ndarray of shape (b,)
        Sample numbers of the block.
    rest : tuple
        What the kernels take between the block and the range to work on.
    weights : float64 ndarray of shape (p,) or (·, p)
        Changed in place.
    team : reliefe._threads.Team
        The threads.
    full : float64 ndarray of shape (p,), optional
        What the kernels take before the block, if anything.
    few : callable, optional
        ``few(values, band, n_columns, weights)`` adds the updates of features of a band, given as bytes, to their
        weights.
    advance : callable, optional
        Is told which share of the work is done.
    which : {"all", "rest"}
        Which features of ``Z``, if some are packed.
    """
    before = () if full is None else (full,)
    if isinstance(Z, Columns):
        _add_by_columns(kernels_of, Z, block, rest, weights, team, before, few, advance, which)
        return
    if not sparse.issparse(Z):
        team.split(
            lambda lo, hi: kernels_of.update_dense(Z, *before, block, *rest, lo, hi, weights), Z.shape[1]
        )
        return
    size = block.shape[0]
    n_pieces = min(_PIECES, size)
    bounds = [size * i // n_pieces for i in range(n_pieces + 1)]
    partial = {lo: np.zeros_like(weights) for lo in bounds[:-1]}
    team.each(
        lambda lo, hi: kernels_of.update_sparse(
            Z.indptr, Z.indices, Z.data, *before, block, *rest, lo, hi, partial[lo]
        ),
        list(pairwise(bounds)),
    )
    for lo in bounds[:-1]:
        weights += partial[lo]


def _add_by_columns(kernels_of, Z, block, rest, weights, team, before, few, advance, which):
    """Add a block's updates a few features at a time, which are made for that alone."""
    p = Z.shape[1]

    def part(lo, hi):
        band, start = Z.part(lo)
        gained = np.ascontiguousarray(weights[..., lo:hi])
        if few is not None and band is not None and band.halves:
            few(band.values(lo - start, hi - start), band, hi - lo, gained)
        else:
            kept = [each[lo:hi] for each in before]
            kernels_of.update_dense(Z.tile(lo, hi), *kept, block, *rest, 0, hi - lo, gained)
        weights[..., lo:hi] = gained

    team.each(
        part,
        Z.few_columns(min(-(-p // team.size), max(16, _UPDATES // rest[0].size)), few is not None, which),
        advance=None if advance is None else lambda steps: advance(steps / p),
    )


def class_coefficients(codes, class_sizes, rows):
    """Weight of every class in the update of every sample: −1 for its own, P(q) / (1 − P(own)) for class q.

    Parameters
    ----------
    codes : int ndarray of shape (n,)
        Class of each sample.
    class_sizes : int ndarray of shape (c,)
        Number of samples of each class.
    rows : int ndarray of shape (b,)
        Samples to give coefficients for.

    Returns
    -------
    float64 ndarray of shape (b, c)
    """
    own = codes[rows]
    rest = codes.shape[0] - class_sizes[own]
    coefficients = class_sizes[np.newaxis, :] / rest[:, np.newaxis]
    coefficients[np.arange(rows.shape[0]), own] = -1.0
    return coefficients


def weighted_coefficients(own, shares):
    """As :func:`class_coefficients`, where classes are not as large as the number of their samples.

    Parameters
    ----------
    own : int ndarray of shape (b,)
        Classes of the samples to give coefficients for.
    shares : float64 ndarray of shape (c,)
        How large each class is, in any unit; at least two of them more than 0.

    Returns
    -------
    float64 ndarray of shape (b, c)
    """
    rest = np.array([np.delete(shares, each).sum() for each in range(shares.shape[0])])
    coefficients = shares[np.newaxis, :] / rest[own][:, np.newaxis]
    coefficients[np.arange(own.shape[0]), own] = -1.0
    return coefficients


class _Target:
    """What all targets have: sums kept feature by feature, and weights made from them at the end.

    Attributes
    ----------
    nearest_first : bool
        Whether neighbours are needed in the order of their distances.
    """

    nearest_first = False
    _row_weight = None

    def weigh(self, sample_weight, rows):
        """Let updates count by the weights (n,) of their samples; ``rows`` (s,) are those that are updated from.

        Raises
        ------
        ValueError
            When none of these samples counts.
        """
        total = sample_weight[rows].sum()
        if total == 0.0:
            raise ValueError(
                "sample_weight is 0 for all samples that were drawn to update from; raise n_iterations."
            )
        self._row_weight = sample_weight * (rows.shape[0] / total)

    def new_sums(self, p):
        """Return what updates are added to."""
        return np.zeros(p, dtype=np.float64)

    def weights(self, sums, n_iterations):
        """Turn what was added up over all iterations into weights, (p,)."""
        return sums / n_iterations

    def pair_coefficients(self, rows, groups, near, counts):
        """Return what the difference to each neighbour counts where weights are sums of such differences.

        Parameters
        ----------
        rows : int64 ndarray of shape (s,)
            All samples that are updated from.
        groups : reliefe.distances.Groups
            Who was looked for.
        near, counts : ndarrays
            Their neighbours, as an update takes them.

        Returns
        -------
        coefficients : float64 ndarray of the shape of ``near``
            Of use where there are neighbours.
        divisor : int
            What the sums are divided by at the end.
        """
        raise NotImplementedError


class Classes(_Target):
    """A class per sample; neighbours are looked for class by class.

    Parameters
    ----------
    codes : int64 ndarray of shape (n,)
        Classes 0 … c − 1.
    n_classes : int
        Number of classes c.
    """

    def __init__(self, codes, n_classes):
        self.codes = codes
        self._sizes = np.bincount(codes, minlength=n_classes)

    def groups(self, n_neighbors):
        """Group samples by class; ``n_neighbors`` None is the adaptive number."""
        return Groups.of(self.codes, self._sizes.shape[0], n_neighbors)

    def used(self, counts):
        """Numbers of neighbours as shown to the user, (s, c)."""
        return counts

    def weigh(self, sample_weight, rows):
        """As :meth:`_Target.weigh`; classes have their share of the weight of all samples."""
        super().weigh(sample_weight, rows)
        self._sizes = np.bincount(self.codes, weights=sample_weight, minlength=self._sizes.shape[0])

    def _coefficients(self, block, counts):
        """Return what the mean difference to the neighbours of each class is multiplied by, (b, c)."""
        if self._row_weight is None:
            return class_coefficients(self.codes, self._sizes, block)
        return weighted_coefficients(self.codes[block], self._sizes) * self._row_weight[block, np.newaxis]

    def pair_coefficients(self, rows, groups, near, counts):
        """As :meth:`_Target.pair_coefficients`."""
        each = self._coefficients(rows, counts) / np.maximum(counts, 1)
        return np.repeat(each, np.diff(groups.segment_ptr), axis=1), rows.shape[0]

    def update(self, Z, block, groups, near, counts, abs_mean, weights, team, full=None, advance=None):
        """Add one block's updates to ``weights``. With ``full`` (p,), features may hold codes and values be NaN."""
        coefficients = self._coefficients(block, counts)
        if full is not None:
            similar = np.zeros(counts.shape[1], dtype=bool)
            shares = similar, np.ones(near.shape), np.zeros(near.shape)
            rest = (near, groups.segment_ptr, counts, coefficients)

            def few_known(values, band, n_columns, gained):
                unit = 1.0 if band.categories else band.unit
                given = (values, unit, band.categories, block, *rest, n_columns)
                few_values.update_known(*given, gained[0])

            halves = None if abs_mean else few_known
            rest_of_all = (*rest, *shares, mixed.CLASSES, abs_mean)
            add_updates(mixed, Z, block, rest_of_all, weights[np.newaxis], team, full, halves, advance)
            return
        rest = (near, groups.segment_ptr, counts, coefficients)

        def few(values, band, n_columns, gained):
            few_values.update(values, band.unit, block, *rest, n_columns, gained)

        halves = None if abs_mean else few  # means of neighbours are rounded, one division a value
        add_updates(multiclass, Z, block, (*rest, abs_mean), weights, team, None, halves, advance)


class LabelSets(_Target):
    """A set of labels per sample; neighbours are looked for among all samples and weighed by target distance.

    Parameters
    ----------
    T : csr_matrix of shape (n, q)
        Labels, canonical, every stored value 1.
    distance : str
        A key of :data:`SET_DISTANCES` or of :data:`EMBEDDED_DISTANCES`.
    vectors : float64 ndarray of shape (n, d), optional
        Embedded targets, for the latter; without them the labels themselves are the vectors.

    Attributes
    ----------
    measure : callable
        ``measure(rows, neighbours, counts, lo, hi, out)`` puts target distances to neighbours into ``out``; see
        :func:`reliefe.kernels.targets.between_sets`.
    embedded : bool
        Whether distances are between embedded targets, which samples with the same labels may not share.
    """

    def __init__(self, T, distance, vectors=None):
        self._n_rows, n_labels = T.shape
        self.embedded = vectors is not None
        if vectors is None:
            kind = {**SET_DISTANCES, **EMBEDDED_DISTANCES}[distance]
            indptr, indices = T.indptr, T.indices
            self.measure = lambda *rest: kernels.between_sets(indptr, indices, n_labels, kind, *rest)
        else:
            kind = EMBEDDED_DISTANCES[distance]
            self.measure = lambda *rest: kernels.between_vectors(vectors, kind, *rest)

    def groups(self, n_neighbors):
        """Put all samples in one group; ``n_neighbors`` None is the adaptive number."""
        return Groups.of(np.zeros(self._n_rows, dtype=np.int64), 1, n_neighbors)

    def used(self, counts):
        """Numbers of neighbours as shown to the user, (s,)."""
        return counts[:, 0]

    def pair_coefficients(self, rows, groups, near, counts):
        """As :meth:`_Target.pair_coefficients`."""
        distances = np.zeros(near.shape, dtype=np.float64)
        self.measure(rows, near, counts, 0, rows.shape[0], distances)
        there = np.arange(near.shape[1]) < counts
        far, alike = distances * there, (1.0 - distances) * there
        misses, hits = (
            np.divide(1.0, total, out=np.zeros_like(total), where=total > 0.0)
            for total in (far.sum(axis=1, keepdims=True), alike.sum(axis=1, keepdims=True))
        )
        return far * misses - alike * hits, rows.shape[0]

    def update(self, Z, block, groups, near, counts, abs_mean, weights, team, full=None, advance=None):
        """As :meth:`Classes.update`."""
        distances = np.empty(near.shape, dtype=np.float64)
        team.split(lambda lo, hi: self.measure(block, near, counts, lo, hi, distances), block.shape[0])
        if full is not None:
            shares = np.ones((block.shape[0], 1)), np.zeros(1, dtype=bool), np.ones(near.shape), distances
            rest = (near, groups.segment_ptr, counts, *shares, mixed.LABEL_SETS, abs_mean)
            add_updates(mixed, Z, block, rest, weights[np.newaxis], team, full, advance=advance)
            return
        rest = (near, counts, distances, abs_mean)
        add_updates(multilabel, Z, block, rest, weights, team, advance=advance)


class Responses(_Target):
    """A number per sample (RReliefF); neighbours are looked for among all samples and weighed by target distance.

    A neighbour's influence falls with its rank r as exp(−(r / σ)²), and the influences of a sample's neighbours are
    1 together.

    Parameters
    ----------
    values : float64 ndarray of shape (n,)
        Range-normalised target, not constant.
    sigma : float or None
        σ; None gives all neighbours the same influence.

    Attributes
    ----------
    values : float64 ndarray of shape (n,)
        As given.
    """

    #: Share of all influence below which a sum is rounding of what was taken away from the whole.
    _NEGLIGIBLE = 1e-12
    #: Well above what makes the influence of the first neighbour, exp(−1 / σ²), underflow.
    _SMALL_SIGMA = 0.1

    nearest_first = True

    def __init__(self, values, sigma):
        self.values = values
        self._sigma = sigma

    def groups(self, n_neighbors):
        """Put all samples in one group; ``n_neighbors`` None is the adaptive number."""
        return Groups.of(np.zeros(self.values.shape[0], dtype=np.int64), 1, n_neighbors)

    def used(self, counts):
        """Numbers of neighbours as shown to the user, (s,)."""
        return counts[:, 0]

    def new_sums(self, p):
        """Return what updates are added to: with differences to far and to near targets, then without them."""
        return np.zeros((4, p), dtype=np.float64)

    def _influence(self, counts, k):
        ranks = np.arange(1, k + 1)
        if self._sigma is None:
            falling = np.ones(k)
        elif self._sigma > self._SMALL_SIGMA:
            falling = np.exp(-np.square(ranks / self._sigma))
        else:  # relative to the first neighbour's, which may be too small for a float; the ratios are the same
            with np.errstate(over="ignore"):
                falling = np.exp(-((ranks[1:] - 1) / self._sigma) * ((ranks[1:] + 1) / self._sigma))
            falling = np.concatenate([[1.0], falling])
        influence = np.where(ranks <= counts, falling, 0.0)
        total = influence.sum(axis=1, keepdims=True)
        return influence / np.where(total > 0.0, total, 1.0)  # a sample may have no near samples

    def shares(self, counts, sums):
        """Return what makes weights of differences, where the neighbours of a sample have the same influence.

        Parameters
        ----------
        counts : int64 ndarray of shape (n,)
            Number of neighbours of each sample.
        sums : float64 ndarray of shape (n,)
            Sum of the target distances t to these.

        Returns
        -------
        influence : float64 ndarray of shape (n,)
            d, that of each neighbour of a sample; 0 without any.
        far, alike : float
            1 / Σ d t and 1 / Σ d (1 − t), 0 where the sum is 0 but for rounding.
        """
        influence = np.divide(1.0, counts, out=np.zeros(counts.shape[0]), where=counts > 0)
        if self._row_weight is not None:
            influence *= self._row_weight
        least = self._NEGLIGIBLE * counts.shape[0]
        totals = (influence * sums).sum(), (influence * (counts - sums)).sum()
        far, alike = (1.0 / total if total > least else 0.0 for total in totals)
        return influence, far, alike

    def _influence_and_distances(self, block, near, counts):
        influence = self._influence(counts, near.shape[1])
        if self._row_weight is not None:
            influence *= self._row_weight[block, np.newaxis]
        chosen = np.where(
            influence > 0.0, near, 0
        )  # beyond the neighbours there is nothing that could be read
        return influence, np.abs(self.values[block][:, np.newaxis] - self.values[chosen])

    def pair_coefficients(self, rows, groups, near, counts):
        """As :meth:`_Target.pair_coefficients`."""
        influence, distances = self._influence_and_distances(rows, near, counts)
        far, alike = influence * distances, influence * (1.0 - distances)
        least = self._NEGLIGIBLE * rows.shape[0]
        parts = [part / part.sum() if part.sum() > least else np.zeros_like(part) for part in (far, alike)]
        return parts[0] - parts[1], 1

    def update(self, Z, block, groups, near, counts, abs_mean, sums, team, full=None, advance=None):
        """As :meth:`Classes.update`, to ``sums``."""
        influence, distances = self._influence_and_distances(block, near, counts)
        if full is None:
            rest = (near, counts, influence, distances, abs_mean)
            add_updates(regression, Z, block, rest, sums, team, advance=advance)
        else:
            shares = np.ones((block.shape[0], 1)), np.zeros(1, dtype=bool), influence, distances
            rest = (near, groups.segment_ptr, counts, *shares, mixed.RESPONSES, abs_mean)
            add_updates(mixed, Z, block, rest, sums, team, full, advance=advance)
            if not sparse.issparse(Z):
                return
        sums[2] += (influence * distances).sum()
        sums[3] += (influence * (1.0 - distances)).sum()

    def weights(self, sums, n_iterations):
        """As :meth:`_Target.weights`; a term without anything to divide by is 0."""
        least = self._NEGLIGIBLE * n_iterations
        far, near = (
            np.divide(sums[part], sums[part + 2], out=np.zeros(sums.shape[1]), where=sums[part + 2] > least)
            for part in range(2)
        )
        return far - near
