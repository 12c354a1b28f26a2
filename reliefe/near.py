"""Weights from every sample within a distance for label sets and numeric targets: distances → near ones → weights.

SURF and MultiSURF with the updates of :mod:`reliefe.targets`. As in :mod:`reliefe.row_pairs`, one number per pair
of samples decides how much its differences count, the same for all features; here it depends on the target distance
of the pair. Where values are missing or features hold codes, near samples are listed and the update is that of
ReliefF.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from reliefe._threads import Team, pieces
from reliefe.columns import Columns
from reliefe.distances import Groups
from reliefe.kernels import near as kernels
from reliefe.kernels import thresholds as pair_kernels
from reliefe.row_pairs import STEPS, TILE_BYTES, Blocks, DensePairs, Pairs, SparsePairs
from reliefe.targets import LabelSets, Responses
from reliefe.threshold_weights import common_threshold

_FEW_ROWS = 16  # whose near samples are listed at a time
_MOST_SETS = 32  # different ones, up to which features kept as bits are summed up set by set


def near_groups(target, codes, Z, full):
    """Return the groups in which samples are looked for, for :func:`near_weights`.

    Parameters
    ----------
    target : reliefe.targets.LabelSets or reliefe.targets.Responses
        The target.
    codes : int64 ndarray of shape (n,)
        Number of each sample's label set.
    Z, full
        As there.

    Returns
    -------
    reliefe.distances.Groups
        All samples in one; or by label set, where there are few of them and features are kept as bits: the
        differences to the near samples with a label set all count the same.
    """
    as_bits = full is None and isinstance(Z, Columns) and bool(Z.bands)
    n_sets = int(codes.max()) + 1
    if as_bits and isinstance(target, LabelSets) and not target.embedded and n_sets <= _MOST_SETS:
        return Groups.of(codes, n_sets, 1)
    return target.groups(codes.shape[0])


def near_weights(Z, full, groups, source, rule, target, n_jobs, phases):
    """Weights of all features from pairs of samples that are near.

    Parameters
    ----------
    Z, full, source, n_jobs, phases
        As in :func:`reliefe.threshold_weights.threshold_weights`.
    groups : reliefe.distances.Groups
        From :func:`near_groups`, or all samples in one: ``target.groups(n)``.
    rule : reliefe.threshold_weights.Rule
        Without far samples.
    target : reliefe.targets.LabelSets or reliefe.targets.Responses
        What differences count. Responses have no σ: the near samples of a sample have the same influence.

    Returns
    -------
    float64 ndarray of shape (p,)
    """
    n = groups.members.shape[0]
    if isinstance(Z, np.ndarray) and full is None:
        Z = Columns.normalised(Z)
    if full is not None:
        rows = _ListedRows(Z, full, groups, source, target)
    elif groups.class_ptr.shape[0] > 2:
        rows = _SetRows(Z, groups, source, target)
    else:
        rows = (_SparseRows if sparse.issparse(Z) else _DenseRows)(Z, groups, source, target)
    again = 0 if rows.at_once else 1  # distances are measured once more
    before = again if not (rule.per_row or hasattr(source, "mean_distance")) else 0
    before += again if rows.takes_sums else 0
    with Team(n_jobs) as team, phases.bar((1 + before) * n):
        threshold = None if rule.per_row else common_threshold(rows, source, team, phases)
        weights = rows.weigh(rule, threshold, team, phases)
    return Z.in_given_order(weights) if isinstance(Z, Columns) else weights


def thresholds_of(groups, source, rule, threshold, distances):
    """Return what distances have to be less than for samples to be near.

    Parameters
    ----------
    groups, source, rule
        As in :func:`near_weights`.
    threshold : float or None
        The mean distance, where there is one threshold for all.
    distances : array of shape (n, n)
        Among all samples, exact.

    Returns
    -------
    array of shape (n,), of the type of ``distances``
    """
    places = np.arange(distances.shape[0], dtype=np.int64)
    return Pairs(groups, source).thresholds(distances, places, rule, threshold)


def directed_weights(target, distances, below, out):
    """Weigh the pairs of all samples, as seen from each.

    Parameters
    ----------
    target : reliefe.targets.LabelSets or reliefe.targets.Responses
        As in :func:`near_weights`.
    distances : array of shape (n, n)
        Among all samples.
    below : array of shape (n,)
        From :func:`thresholds_of`.
    out : float64 array of shape (n, n)
        Overwritten.

    Returns
    -------
    int
        What sums of weighted differences are divided by.
    """
    n = distances.shape[0]
    places = np.arange(n, dtype=np.int64)
    pairs = _pairs_of(target, n)
    if pairs.takes_sums:
        pairs.note(distances, places, below)
        pairs.noted()
    pairs.fill(distances, places, below, out)
    return pairs.divisor


class _LabelPairs:
    """What the difference to each near sample counts with label sets."""

    takes_sums = False

    def __init__(self, target, n):
        self._target, self.divisor = target, n

    def fill(self, distances, places, below, out):
        """Fill ``out`` (b, n) with the weights of the pairs of some samples, as seen from these."""
        b, n = out.shape
        most = min(b, _FEW_ROWS)
        near, targets = np.empty((most, n), dtype=np.int32), np.empty((most, n))
        counts = np.empty((most, 1), dtype=np.int64)
        for lo, hi in pieces(b, _FEW_ROWS):
            rows, size = places[lo:hi], hi - lo
            kernels.list_near(distances[lo:hi], rows, below[lo:hi], 0, size, near, counts)
            self._target.measure(rows, near, counts, 0, size, targets)
            kernels.label_weights(near, counts, targets, 0, size, out[lo:hi])


class _ResponsePairs:
    """What the difference to each near sample counts with numeric targets, once sums over all pairs are known."""

    takes_sums = True
    divisor = 1

    def __init__(self, target, n):
        self._target = target
        self._counts, self._sums = np.zeros(n, dtype=np.int64), np.zeros(n)
        self._rest = None

    def note(self, distances, places, below):
        """Take note of the near samples of some samples, for the sums."""
        kernels.response_sums(
            distances, places, below, self._target.values, 0, places.shape[0], self._counts, self._sums
        )

    def noted(self):
        """Turn what was noted of all samples into the sums."""
        influence, far, alike = self._target.shares(self._counts, self._sums)
        self._rest = self._target.values, influence, far, alike

    def fill(self, distances, places, below, out):
        """As :meth:`_LabelPairs.fill`."""
        kernels.response_weights(distances, places, below, *self._rest, 0, out.shape[0], out)


def _pairs_of(target, n):
    return (_ResponsePairs if isinstance(target, Responses) else _LabelPairs)(target, n)


class _TargetPairs:
    """Weights of pairs by target distance in place of those by zone and class, for a subclass of ``Pairs``."""

    _pairs_of: _LabelPairs | _ResponsePairs

    @property
    def takes_sums(self):
        """Whether sums over all pairs have to be known before one can be weighed."""
        return self._pairs_of.takes_sums

    def weigh_zones(self, block, places, rule, skrebate, lo, hi):
        block.offsets[lo:hi] = 0.0

    def fill_weights(self, block, places, lo, hi, out):
        part = slice(lo, hi)
        self._pairs_of.fill(block.distances[part], places[part], block.below[part], out[part])


class _DenseRows(_TargetPairs, Blocks):
    """Pairs of dense rows without missing values, each pair inside a block once."""

    def __init__(self, Z, groups, source, target):
        self._shares_memory = source.dtype.itemsize == 8  # distances and the weights of listed pairs
        super().__init__(Z, groups, source, 20 if self._shares_memory else 12 + 8 + source.dtype.itemsize)
        self._pairs_of = _pairs_of(target, self._n)

    def weigh(self, rule, threshold, team, phases):
        """Sum up the weighted differences of all pairs; return the weights, features in the order of Z."""
        block, n = self._block, self._n
        if self.takes_sums:
            for first, b in self._blocks(team, phases):
                with phases("neighbours"):
                    places = np.arange(first, first + b, dtype=np.int64)
                    self._weigh_block(places, rule, False, threshold, team)
                    team.split(
                        lambda lo, hi, places=places: self._pairs_of.note(
                            block.distances[lo:hi], places[lo:hi], block.below[lo:hi]
                        ),
                        b,
                    )
            self._pairs_of.noted()
        weights = np.zeros(self._Z.shape[1])
        pairs, ids = np.empty((self._b, n)), np.empty((self._b, n), dtype=np.int32)
        ends = np.empty((self._b, -(-n // pair_kernels.TILE_ROWS)), dtype=np.int64)
        values = block.distances.view(np.float64) if self._shares_memory else np.empty((self._b, n))
        for first, b in self._blocks(team, phases):
            with phases("neighbours"):
                places = np.arange(first, first + b, dtype=np.int64)
                self._weigh_block(places, rule, False, threshold, team)
                team.split(lambda lo, hi, places=places: self.fill_weights(block, places, lo, hi, pairs), b)
                # Distances are not needed any more; their place is taken by the weights of listed pairs.
                self._is_measured = False
                lists = ids, values, ends
                team.split(
                    lambda lo, hi, first=first, b=b, lists=lists: kernels.list_pairs(
                        pairs[:b], first, lo, hi, *lists
                    ),
                    b,
                )
            with phases("weights"):
                self._add_listed((first, ids, values, ends[:b]), weights, team)
        return weights / self._pairs_of.divisor

    def _add_listed(self, lists, weights, team):
        """Add the differences of listed pairs to the weights of all features."""
        Z, members = self._Z, self._groups.members

        def part(lo, hi):
            pair_kernels.update_dense(Z.tile(lo, hi), members, *lists, 0, hi - lo, weights[lo:hi])

        listed = max(1.0, float(lists[-1][:, -1].sum()))
        most = max(64, int(min(STEPS / listed, TILE_BYTES // (8 * self._n))))
        team.each(part, Z.few_columns(min(most, -(-Z.shape[1] // team.size))))


class _SetRows(DensePairs):
    """Pairs of dense rows that stand in the order of their label sets."""

    takes_sums = False

    def __init__(self, Z, groups, source, target):
        super().__init__(Z, groups, source)
        first = groups.members[groups.class_ptr[:-1]]
        n_sets = first.shape[0]
        self._table = np.empty((n_sets, n_sets))
        others = np.tile(first.astype(np.int32), (n_sets, 1))
        target.measure(first, others, np.full((n_sets, 1), n_sets), 0, n_sets, self._table)

    def weigh_zones(self, block, places, rule, skrebate, lo, hi):
        given = (block.distances, places, self._groups.class_ptr, block.below, self._table)
        kernels.set_factors(*given, lo, hi, block.near)
        block.far[:, lo:hi] = 0.0
        block.offsets[lo:hi] = 0.0

    def weigh(self, rule, threshold, team, phases):
        """As :meth:`_DenseRows.weigh`."""
        return super().weigh(rule, False, threshold, team, phases)[0] / self._n


class _SparseRows(_TargetPairs, SparsePairs):
    """Pairs of sparse rows, a few samples at a time on each thread."""

    def __init__(self, Z, groups, source, target):
        super().__init__(Z, groups, source)
        self._pairs_of = _pairs_of(target, self._n)

    def weigh(self, rule, threshold, team, phases):
        """As :meth:`_DenseRows.weigh`."""
        if self.takes_sums:

            def part(block, places):
                b = places.shape[0]
                self.set_thresholds(block, places, rule, threshold, 0, b)
                self._pairs_of.note(block.distances[:b], places, block.below[:b])

            self.look_at_all(part, team, phases)
            self._pairs_of.noted()
        return super().weigh(rule, False, threshold, team, phases)[0] / self._pairs_of.divisor


class _ListedRows(_TargetPairs, Blocks):
    """Near samples where values are missing or features hold codes."""

    takes_sums = False  # each feature has its own

    def __init__(self, Z, full, groups, source, target):
        super().__init__(Z, groups, source, 64)
        self._full, self._target = full, target

    def weigh(self, rule, threshold, team, phases):
        """As :meth:`_DenseRows.weigh`."""
        n, p = self._Z.shape
        sums = self._target.new_sums(p)
        near, counts = np.empty((self._b, n), dtype=np.int32), np.empty((self._b, 1), dtype=np.int64)
        most = self._b if isinstance(self._Z, Columns) else max(16, int(STEPS / (n * p)))
        block = self._block
        for first, b in self._blocks(team, phases):
            with phases("neighbours"):
                places = np.arange(first, first + b, dtype=np.int64)
                self._weigh_block(places, rule, False, threshold, team)
                self._is_measured = False
                team.split(
                    lambda lo, hi, places=places: kernels.list_near(
                        block.distances, places, block.below, lo, hi, near, counts
                    ),
                    b,
                )
            with phases("weights"):
                for lo, hi in pieces(b, most):
                    listed = near[lo:hi], counts[lo:hi]
                    self._target.update(
                        self._Z, places[lo:hi], self._groups, *listed, False, sums, team, self._full
                    )
        return self._target.weights(sums, n)
