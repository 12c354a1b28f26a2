"""Weights of many targets on the same X, whose distances and features are made once.

A target decides which of the near samples are hits and which are misses, and nothing else: distances between
samples are those of X. They are kept, and every target chooses neighbours among them, by the kernels that a fit
uses. Weights are then sums of differences of pairs of samples, each times a number, and the differences of a pair
are made once for many targets. Where weights are no such sums (``abs_mean``, missing values) or X is sparse, every
target is weighed as in a fit, distances apart.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from scipy import sparse

from reliefe._threads import Team, pieces
from reliefe.base import without_noise
from reliefe.columns import Columns
from reliefe.distances import DenseRows, Groups, MixedColumns, SparseColumns, _Measured
from reliefe.engine import Phases, relief_weights
from reliefe.kernels import pairs as kernels
from reliefe.near import directed_weights, near_weights, thresholds_of
from reliefe.packed import MixedRows, PackedRows
from reliefe.relieff import ReliefF
from reliefe.row_pairs import Block, Pairs
from reliefe.surf import _ThresholdRanker
from reliefe.targets import EMBEDDED_DISTANCES, Classes, LabelSets, Responses
from reliefe.threshold_weights import Rule, threshold_weights

_LARGEST_TABLE = 2**27  # bytes of distances that are kept: 4,096 samples
_LISTED = 2**22  # pairs of all targets that are worked on together
_AT_ONCE = 256  # targets
_COLUMNS = 256  # worked on together


def kept_weights(ranker, X, y, n):
    """Fit a ranker, and keep what other targets on the same X need.

    Parameters
    ----------
    ranker : estimator
        Of any kind; not fitted before.
    X, y : as for its ``fit``
        n samples.
    n : int
        Their number.

    Returns
    -------
    Kept or None
        None, and the ranker is not fitted, where distances depend on the target, or are too many.
    """
    if not suits(ranker, y, n):
        return None
    prepared = ranker._fit(X, y)
    return (_KeptNear if isinstance(ranker, ReliefF) else _KeptZones)(ranker, prepared)


def suits(ranker, y, n):
    """Say whether distances of n samples are those of the features, which no target changes, and can be kept."""
    if getattr(ranker, "compatible", None) is not None or 8 * n * n > _LARGEST_TABLE:
        return False
    if type(ranker) is not ReliefF and not (
        isinstance(ranker, _ThresholdRanker) and ranker.embedding is None
    ):
        return False
    several = getattr(y, "ndim", np.ndim(y)) == 2
    return not (several and ranker._parameter("target_distance") in EMBEDDED_DISTANCES)


def target_of(ranker, given, order):
    """Return a checked target in an order, as a fit makes it."""
    if sparse.issparse(given):
        return LabelSets(given[order], ranker.target_distance)
    if ranker._parameter("target") == "regression":
        return Responses(given[order], ranker._parameter("sigma"))
    return Classes(given[order], ranker.classes_.shape[0])


class _KeptDistances(_Measured):
    """Distances that are there already, in the order in which they are asked for."""

    def __init__(self, table, groups, tolerance):
        self.dtype = table.dtype
        super().__init__(groups, tolerance, float(table.shape[0]))
        self._table = table

    def measure(self, rows, positions, out):
        """As the others."""
        out[: rows.shape[0]] = self._table[rows[:, np.newaxis], self.groups.members]


class _Kept:
    """What both kinds of ranker share.

    Parameters
    ----------
    ranker : Ranker
        Fitted.
    prepared : reliefe.base.Prepared
        What the fit made of its data.
    """

    def __init__(self, ranker, prepared):
        self._ranker, self._prepared = ranker, prepared
        Z = prepared.Z
        n = self._n = Z.shape[0]
        everyone = Groups.of(np.zeros(n, dtype=np.int64), 1, 1)
        with Team(ranker.n_jobs) as team:
            source = self._source(Z, prepared.full, everyone, team)
            self._table = _all_distances(source, n, team)
        self._tolerance = source.tolerance
        gaps = isinstance(Z, Columns) and Z.has_gaps
        self._by_pairs = isinstance(Z, Columns) and not gaps and not getattr(ranker, "abs_mean", False)
        self._same = None  # neighbours, or thresholds, where no target changes them
        first, second = np.triu_indices(n, 1)
        self._first, self._second = first.astype(np.int32), second.astype(np.int32)

    def _source(self, Z, full, everyone, team):
        """Return where exact distances come from."""
        if full is not None:
            return (MixedRows if isinstance(Z, Columns) else MixedColumns)(Z, everyone)
        if sparse.issparse(Z):
            return SparseColumns(Z, everyone)
        return DenseRows(Z, everyone, team) if Z.rest.size else PackedRows(Z, everyone, self._whole)

    def weights(self, orders, n_jobs):
        """Yield the weights (b, p) for the target in each of the given orders, some at a time.

        Parameters
        ----------
        orders : list of int64 ndarrays of shape (n,)
            Which sample's target each sample gets.
        n_jobs : int or None
            Number of threads; the result does not depend on it.
        """
        with Team(n_jobs) as team:
            if not self._by_pairs:
                for lo, hi in pieces(len(orders), 16 * team.size):
                    found = np.empty((hi - lo, self._prepared.Z.shape[1]))

                    def part(start, stop, lo=lo, found=found):
                        for number in range(start, stop):
                            found[number] = without_noise(self._weigh(orders[lo + number]))

                    team.each(part, pieces(hi - lo, 1))
                    yield found
                return
            # As many at a time as the pairs of the first ones let expect, whatever the number of threads.
            at_once = 8
            start = 0
            while start < len(orders):
                lists, offsets, divisors = self._lists(orders[start : start + at_once], team)
                yield self._sum_up(lists, offsets, divisors, team)
                start += len(lists)
                largest = max(each[0].shape[0] for each in lists)
                at_once = int(np.clip(_LISTED // max(1, largest), 8, _AT_ONCE))

    def _lists(self, orders, team):
        """List the pairs that count for each target, with what is to be added to, and divided by, in the end."""
        n, n_pairs = self._n, self._first.shape[0]
        spare = deque()
        lists = [None] * len(orders)
        offsets, divisors = np.zeros(len(orders)), np.ones(len(orders))

        def part(lo, hi):
            try:
                directed, pairs, values = spare.pop()
            except IndexError:
                directed = np.empty((n, n))
                pairs, values = np.empty(n_pairs + 1, dtype=np.int32), np.empty(n_pairs + 1)
            for number in range(lo, hi):
                directed[:] = 0.0
                divisors[number], offsets[number] = self._direct(orders[number], directed)
                block_ptr = np.empty(-(-n_pairs // kernels.PAIRS) + 1, dtype=np.int64)
                m = kernels.list_pairs(directed, pairs, values, block_ptr)
                lists[number] = pairs[:m].copy(), values[:m].copy(), block_ptr
            spare.append((directed, pairs, values))

        team.each(part, pieces(len(orders), 4))
        return lists, offsets, divisors

    def _sum_up(self, lists, offsets, divisors, team):
        """Return the weights (b, p) of listed pairs."""
        Z = self._prepared.Z
        starts = np.cumsum([0, *(each[0].shape[0] for each in lists)])
        pairs, values = (np.concatenate([each[part] for each in lists]) for part in (0, 1))
        block_ptr = np.stack([each[2] + start for each, start in zip(lists, starts[:-1], strict=True)])
        found = np.empty((len(lists), Z.shape[1]))

        def part(lo, hi):
            gained = np.zeros((len(lists), hi - lo))
            kernels.add_pairs(
                np.ascontiguousarray(Z.tile(lo, hi)),
                self._first,
                self._second,
                pairs,
                values,
                block_ptr,
                gained,
            )
            found[:, lo:hi] = gained

        team.each(part, Z.few_columns(_COLUMNS))
        found /= divisors[:, np.newaxis]
        found += (offsets / divisors)[:, np.newaxis]
        return np.stack([without_noise(each) for each in Z.in_given_order(found)])

    def _target(self, order):
        return target_of(self._ranker, self._prepared.target, order)

    def _direct(self, order, directed):
        """Fill ``directed`` (n, n) with what differences count; return what sums are divided by, and an offset."""
        raise NotImplementedError

    def _weigh(self, order):
        """Return the weights (p,), as a fit computes them."""
        raise NotImplementedError


def _all_distances(source, n, team):
    table = np.empty((n, n), dtype=source.dtype)
    if hasattr(source, "measure_block"):
        source.measure_block(0, table, team)
        return table
    places = np.arange(n, dtype=np.int64)
    team.each(
        lambda lo, hi: source.measure(places[lo:hi], places[lo:hi], table[lo:hi]),
        pieces(n, source.piece_rows),
    )
    return table


class _KeptNear(_Kept):
    """ReliefF and RReliefF."""

    _whole = False

    def __init__(self, ranker, prepared):
        super().__init__(ranker, prepared)
        if self._table.dtype == np.float32:
            self._table = self._table.astype(np.float64)
        self._n_neighbors = None if ranker.n_neighbors == "adaptive" else min(ranker.n_neighbors, self._n)

    def _neighbours(self, target):
        """Return where neighbours come from, and those of all samples that are updated from."""
        rows = self._prepared.rows
        groups = target.groups(self._n_neighbors)
        source = _KeptDistances(self._table, groups, self._tolerance)
        source.nearest_first = target.nearest_first
        near = np.empty((rows.shape[0], int(groups.segment_ptr[-1])), dtype=np.int32)
        counts = np.zeros((rows.shape[0], groups.class_ptr.shape[0] - 1), dtype=np.int64)
        source.find(rows, near, counts, Team(1), Phases(None))
        return groups, near, counts

    def _direct(self, order, directed):
        """As :meth:`_Kept._direct`."""
        target, rows = self._target(order), self._prepared.rows
        found = self._same or self._neighbours(target)
        if not isinstance(target, Classes):
            self._same = found
        groups, near, counts = found
        coefficients, divisor = target.pair_coefficients(rows, groups, near, counts)
        kernels.spread_neighbours(rows, near, groups.segment_ptr, counts, coefficients, directed)
        return divisor, 0.0

    def _weigh(self, order):
        """As :meth:`_Kept._weigh`."""
        Z, full, _, rows = self._prepared
        target = self._target(order)
        source = _KeptDistances(self._table, target.groups(self._n_neighbors), self._tolerance)
        abs_mean = bool(self._ranker.abs_mean)
        return relief_weights(Z, target, source, rows, abs_mean, 1, Phases(None), full)[0]


class _KeptZones(_Kept):
    """SURF, MultiSURF and their starred variants."""

    _whole = True

    def __init__(self, ranker, prepared):
        super().__init__(ranker, prepared)
        self._rule = Rule(ranker._per_row, ranker._far, ranker._similarity)
        off_diagonal = self._table.sum(dtype=np.float64) - np.trace(self._table, dtype=np.float64)
        self._threshold = None if ranker._per_row else off_diagonal / (self._n * (self._n - 1))

    def _kept_source(self, order):
        groups = Groups.of(self._prepared.target[order], self._ranker.classes_.shape[0], 1)
        return groups, self._source_among(groups)

    def _source_of_all(self, target):
        groups = target.groups(self._n)
        return groups, self._source_among(groups)

    def _source_among(self, groups):
        source = _KeptDistances(self._table, groups, 0)
        source.tolerance = self._tolerance  # a share of a unit where distances are whole numbers
        return source

    def _direct(self, order, directed):
        """As :meth:`_Kept._direct`."""
        target, n = self._target(order), self._n
        if not isinstance(target, Classes):
            if self._same is None:
                source = self._source_of_all(target)
                self._same = thresholds_of(*source, self._rule, self._threshold, self._table)
            return directed_weights(target, self._table, self._same, directed), 0.0
        groups, source = self._kept_source(order)
        members = groups.members
        places = np.arange(n, dtype=np.int64)
        block = Block(n, n, self._ranker.classes_.shape[0], source.dtype)
        source.measure(members, places, block.distances)
        pairs = Pairs(groups, source)
        pairs.set_thresholds(block, places, self._rule, self._threshold, 0, n)
        pairs.weigh_zones(block, places, self._rule, False, 0, n)
        found = np.empty((n, n))
        pairs.fill_weights(block, places, 0, n, found)
        directed[members[:, np.newaxis], members] = found
        return n, block.offsets.sum() if self._rule.similarity else 0.0

    def _weigh(self, order):
        """As :meth:`_Kept._weigh`."""
        Z, full, _, _ = self._prepared
        target = self._target(order)
        if not isinstance(target, Classes):
            return near_weights(Z, full, *self._source_of_all(target), self._rule, target, 1, Phases(None))
        groups, source = self._kept_source(order)
        return threshold_weights(Z, full, groups, source, self._rule, False, 1, Phases(None))
