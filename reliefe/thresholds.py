"""Relief weights from every row within a distance (SURF and its kin): rows → distances → thresholds → weights.

One number per pair of rows decides how much its differences count, so no list of neighbours per class is kept.
Dense rows are worked on in blocks, each pair inside a block once. Sparse rows are worked on a few at a time, and
only pairs that share a column are looked at one by one: beside the matrix, memory grows with the number of rows
alone.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from reliefe._threads import Team, pieces
from reliefe.columns import Columns
from reliefe.fixed import FixedColumns, FixedPoint
from reliefe.kernels import distances as measuring
from reliefe.kernels import mixed
from reliefe.kernels import thresholds as kernels
from reliefe.packed import PackedPairs, add_packed
from reliefe.scaling import any_missing
from reliefe.targets import add_updates, weighted_coefficients

_BLOCK_BYTES = 32 * 2**20
_ROW_BYTES = 2**20  # distances that a thread holds at a time where rows are worked on a few at a time
_FEW = 0.25  # share of a block's rows up to which it pays to measure these again one by one
_STEPS = 4e8  # steps of a piece of work: well below a second, so that a fit can be interrupted
_TILE_BYTES = 2**20  # of columns whose pairs are worked on together
_FEW_COLUMNS = 256  # that are measured again at a time
_PIECES = 16  # sums of sparse updates, however many threads there are; added up in order

#: A distance within this share of the mean distance of a threshold is equal to it: what rounding can explain.
RELATIVE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Rule:
    """What tells the members of the family apart.

    Attributes
    ----------
    per_row : bool
        Thresholds from each row's own distances (mean ∓ half their standard deviation), or one threshold for all:
        the mean over all pairs.
    far : bool
        Whether far rows count, with the sign turned.
    similarity : bool
        Whether far rows add 1 − difference in place of −difference. That is the same up to a constant that all
        columns get, and the constant is 0 where every class has a far row.
    """

    per_row: bool
    far: bool
    similarity: bool = False


def threshold_weights(Z, full, groups, source, rule, skrebate, n_jobs, phases, sample_weight=None):
    """Weights of all columns from pairs of rows that are near (and far).

    Parameters
    ----------
    Z : reliefe.columns.Columns, ndarray or csr_matrix of shape (n, p)
        Range-normalised rows; feature differences are taken here.
    full : float64 ndarray of shape (p,), or None
        From :func:`reliefe.scaling.prepare`; None where no value is missing and no column holds codes.
    groups : reliefe.distances.Groups
        Rows by class.
    source : DenseRows, PackedRows, MixedRows, SparseColumns, MixedColumns or EmbeddedRows
        Where distances come from.
    rule : Rule
        Which member of the family.
    skrebate : bool
        Whether to weigh classes and to place SURF's threshold as scikit-rebate does.
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    phases : reliefe.engine.Phases
        Collects the seconds spent on "distances", "neighbours" and "weights".
    sample_weight : float64 ndarray of shape (n,), optional
        What each row counts; not with ``skrebate``.

    Returns
    -------
    float64 ndarray of shape (p,)
    """
    n = groups.members.shape[0]
    if isinstance(Z, np.ndarray) and full is None:
        Z = Columns.normalised(Z)
    if full is not None:
        rows = _MixedPairs(Z, full, groups, source)
    else:
        rows = (_SparsePairs if sparse.issparse(Z) else _DensePairs)(Z, groups, source)
    if sample_weight is not None:
        rows.weigh_rows(sample_weight)
    passes = 1 if rule.per_row or rows.at_once or hasattr(source, "mean_distance") else 2
    with Team(n_jobs) as team, phases.bar(passes * n):
        threshold = None
        if not rule.per_row:
            threshold = common_threshold(rows, source, team, phases)
            if skrebate:  # the mean over the whole square, its diagonal of zeros among it
                threshold *= (n - 1) / n
                gaps = Z.has_gaps if isinstance(Z, Columns) else any_missing(Z)
                if gaps:  # and the half above it, which is then left at 0
                    threshold /= 2.0
        weights, offset = rows.weigh(rule, skrebate, threshold, team, phases)
    if isinstance(Z, Columns):
        weights = Z.in_given_order(weights)
    weights /= n
    if rule.similarity:
        weights += offset / n
    return weights


def common_threshold(rows, source, team, phases):
    """Return the mean distance of all pairs of rows."""
    if not hasattr(source, "mean_distance"):
        return rows.means(team, phases).mean()
    with phases("distances"):
        return source.mean_distance(team)


class DenseRows:
    """Manhattan distances among the range-normalised samples of a dense matrix, in fixed point.

    Parameters
    ----------
    Z : reliefe.columns.Columns of shape (n, p)
        The rows.
    groups : Groups
        The order of the rows.
    team : Team
        Threads for the copy that is made.
    coarse : bool
        Whether values are rounded to 32 bits at first, which is quicker to sum up. Every distance is then off by
        at most the sum of the two rows' ``errors``, and rows for which that matters can be measured again.

    Attributes
    ----------
    tolerance : float
        What rounding can do to a distance that is not coarse.
    errors : int64 ndarray of shape (n,)
        By how much the values of each row, by place, are off in all.
    """

    dtype = np.dtype(np.int64)

    def __init__(self, Z, groups, team, coarse=False):
        n, p = Z.shape
        self._fixed = FixedPoint(Z)
        self.tolerance = float(self._fixed.tolerance)
        self._Z, self._members = Z, groups.members
        self._copy(FixedColumns.coarse if coarse else FixedColumns.exact, team)
        self._piece_rows = int(np.clip(4 * _STEPS / (n * p), 4, 64))

    def _copy(self, way, team):
        self._columns = None  # before there are two of them
        self._columns = way(self._Z, self._members, self._fixed.factor, team)
        self.errors = self._columns.errors

    def measure_block(self, first, out, team, advance=None):
        """Fill ``out`` (b, n) with the distances of the rows at ``first … first + b − 1``."""
        columns, b = self._columns, out.shape[0]
        positions = np.arange(first, first + b, dtype=np.int64)

        def part(lo, hi):
            columns.measure(columns.unit, positions, True, lo, hi, out)
            add_packed(self._Z.bands, self._fixed.factor, 1.0, self._members, positions, True, lo, hi, out)

        team.each(part, pieces(b, self._piece_rows), advance=advance)

    def mean_distance(self, team):
        """Return the mean distance of all pairs: from the order of the values of each column, not from distances.

        Of n values in rising order, the one at place k is the larger one in k pairs, and the smaller one in the
        n − 1 − k others.
        """
        n, p = self._Z.shape
        signs, sums = 2.0 * np.arange(n) - (n - 1), np.zeros(p)

        def part(lo, hi):
            ordered = np.sort(np.ascontiguousarray(self._Z.tile(lo, hi).T), axis=1)
            sums[lo:hi] = np.einsum("ij,j->i", np.rint(ordered * self._fixed.factor), signs)

        team.each(part, self._Z.few_columns(1024))
        return float(sums.sum()) / (n * (n - 1) / 2.0)

    def measure_again(self, first, rows, out, team):
        """Measure some rows of a block without rounding to 32 bits.

        Parameters
        ----------
        first : int
            Place of the block's first row.
        rows : int64 ndarray of shape (f,)
            Which of its rows.
        out : int64 ndarray of shape (b, n)
            Distances of the block. These rows are overwritten, and the columns of these rows in the other rows.
            When there are many, all of it is, and further blocks are not coarse any more.

        Returns
        -------
        int64 ndarray
            The rows whose distances are now right.
        """
        b, n = out.shape
        if rows.shape[0] > _FEW * b:
            self._copy(FixedColumns.exact, team)
            self.measure_block(first, out, team)
            return np.arange(b)
        Z, factor, places = self._Z, self._fixed.factor, first + rows
        found = np.zeros((rows.shape[0], n), dtype=np.int64)

        def part(lo, hi):
            for c0, c1 in pieces(Z.rest.shape[0], _FEW_COLUMNS):
                few = (Z.n_packed + c0, Z.n_packed + c1)
                own, others = Z.tile(*few, self._members[places]), Z.tile(*few, self._members[lo:hi])
                measuring.manhattan_rows(own, others, factor, found[:, lo:hi])

        most = int(_STEPS / (4.0 * rows.shape[0] * Z.shape[1]))
        team.each(part, pieces(n, int(np.clip(most, 1, -(-n // team.size)))))
        rest = (self._members, places, False, 0, rows.shape[0], found)
        add_packed(Z.bands, factor, 1.0, *rest)
        out[rows] = found
        out[:, places] = out[rows, first : first + b].T
        return rows


class _Pairs:
    """What both storages share: thresholds, and the weights of the pairs of some rows."""

    def __init__(self, groups, source):
        self._groups = groups
        self._source = source
        self._n = groups.members.shape[0]
        self._n_classes = groups.class_ptr.shape[0] - 1
        # Rounding of the distance, of the mean, and of the deviation.
        self._tolerance = 3.0 * float(source.tolerance)
        self._row_factors = None

    def weigh_rows(self, sample_weight):
        """Let pairs count by the weight (n,) of the row that they are seen from, and classes by theirs."""
        class_ptr, weight = self._groups.class_ptr, sample_weight[self._groups.members]
        sizes = np.diff(class_ptr)
        own = np.repeat(np.arange(self._n_classes), sizes)
        shares = np.bincount(own, weights=weight)
        # What the kernel takes for the share of a class, and what it is to be; by place and class.
        plain = weighted_coefficients(own, sizes.astype(np.float64))
        factors = weighted_coefficients(own, shares) / plain
        factors *= (weight * (self._n / weight.sum()))[:, np.newaxis]
        self._row_factors, self._plain_shares = np.ascontiguousarray(factors.T), np.ascontiguousarray(plain.T)

    def _thresholds(self, block, places, rule, threshold, lo, hi):
        """Take the thresholds of the rows ``lo … hi − 1`` of a block from their distances."""
        part = slice(lo, hi)
        if rule.per_row:
            kernels.spread(block.distances, places, lo, hi, block.means, block.deviations)
            middle, half = block.means[part], 0.5 * block.deviations[part]
        else:
            middle, half = np.full(hi - lo, threshold), 0.0
            block.means[part] = middle
        slack = self._slack(middle)
        below, above = middle - half - slack, middle + half + slack
        if self._source.dtype.kind == "i":
            below, above = np.ceil(below), np.floor(above)
        block.below[part], block.above[part] = below, above

    def thresholds(self, distances, places, rule, threshold):
        """Return what the distances (b, n) of the rows at some places have to be less than for a row to be near."""
        b, n = distances.shape
        block = _Block(b, n, self._n_classes, distances.dtype, distances)
        self._thresholds(block, places, rule, threshold, 0, b)
        return block.below

    def _slack(self, middle):
        return self._tolerance + RELATIVE_TOLERANCE * middle

    def _factors(self, block, places, rule, skrebate, lo, hi):
        """Turn the distances of the rows ``lo … hi − 1`` of a block into weights by zone and class."""
        kernels.zone_factors(
            block.distances,
            places,
            self._groups.class_ptr,
            block.below,
            block.above,
            rule.far,
            skrebate,
            lo,
            hi,
            block.near,
            block.far,
            block.offsets,
        )
        if self._row_factors is not None:
            part, factors = slice(lo, hi), self._row_factors[:, places[lo:hi]]
            there = block.far[:, part] != 0.0
            block.near[:, part] *= factors
            block.far[:, part] *= factors
            plain = self._plain_shares[:, places[lo:hi]]
            block.offsets[part] = (there * factors * plain).sum(axis=0)

    def _pair_weights(self, block, places, lo, hi, out):
        """Fill ``out`` (b, n) with the weights of the pairs of the rows ``lo … hi − 1``."""
        zones = (block.below, block.above, block.near, block.far)
        kernels.pair_weights(block.distances, places, self._groups.class_ptr, *zones, lo, hi, out)


class _Block:
    """Arrays of a block of b rows; see :mod:`reliefe.kernels.thresholds`."""

    def __init__(self, b, n, n_classes, dtype, distances=None):
        self.distances = np.empty((b, n), dtype=dtype) if distances is None else distances
        self.below, self.above = np.empty(b, dtype=dtype), np.empty(b, dtype=dtype)
        self.near, self.far = np.empty((n_classes, b)), np.empty((n_classes, b))
        self.offsets, self.means, self.deviations = np.empty(b), np.empty(b), np.empty(b)


class _Blocks(_Pairs):
    """Pairs of a block of rows at a time."""

    def __init__(self, Z, groups, source, pair_bytes):
        super().__init__(groups, source)
        self._Z = Z
        self._b = min(self._n, max(16, _BLOCK_BYTES // (pair_bytes * self._n)))
        self.at_once = self._b == self._n
        self._block = _Block(self._b, self._n, self._n_classes, source.dtype)
        self._is_measured = False  # whether the block that is all rows holds its distances

    def _blocks(self, team, phases):
        """Yield the first place, and the number of rows, of each block whose distances are there."""
        for first in range(0, self._n, self._b):
            b = min(self._b, self._n - first)
            if not self._is_measured:
                with phases("distances"):
                    self._measure(first, self._block.distances[:b], team, phases)
                self._is_measured = self.at_once
            yield first, b

    def _measure(self, first, out, team, phases):
        if hasattr(self._source, "measure_block"):
            self._source.measure_block(first, out, team, phases.advance)
            return
        places = np.arange(first, first + out.shape[0], dtype=np.int64)
        rows = self._groups.members[places]
        team.each(
            lambda lo, hi: self._source.measure(rows[lo:hi], places[lo:hi], out[lo:hi]),
            pieces(out.shape[0], self._source.piece_rows),
            advance=phases.advance,
        )

    def means(self, team, phases):
        """Mean distance of each row to the others, (n,)."""
        means, deviations = np.empty(self._n), np.empty(self._n)
        for first, b in self._blocks(team, phases):
            with phases("neighbours"):
                places = np.arange(first, first + b, dtype=np.int64)
                found = means[first : first + b], deviations[first : first + b]
                team.split(
                    lambda lo, hi, places=places, found=found: kernels.spread(
                        self._block.distances, places, lo, hi, *found
                    ),
                    b,
                )
        return means

    def _weigh_block(self, places, rule, skrebate, threshold, team):
        """Turn the distances of a block into weights by zone and class."""
        block, b = self._block, places.shape[0]

        def part(lo, hi):
            self._thresholds(block, places, rule, threshold, lo, hi)

        team.split(part, b)
        for row in self._settle(places, rule, team):
            part(row, row + 1)
        team.split(lambda lo, hi: self._factors(block, places, rule, skrebate, lo, hi), b)

    def _settle(self, places, rule, team):
        """Measure again where a coarse distance does not tell on which side of a threshold it lies; say which rows.

        A threshold of a row is off by at most 1.5 times the error of its distances: the mean by that error at most,
        and half the deviation by half of it.
        """
        errors = getattr(self._source, "errors", None)
        if errors is None or not errors.any():
            return ()
        block, b = self._block, places.shape[0]
        error = (errors[places] + errors.max()).astype(np.float64)
        margins = np.ceil(2.5 * error + self._slack(block.means[:b])).astype(np.int64) + 1
        found = np.empty(b, dtype=np.bool_)
        zones = (block.distances[:b], places, block.below, block.above, rule.far, margins)
        team.split(lambda lo, hi: kernels.doubtful(*zones, lo, hi, found), b)
        rows = np.flatnonzero(found)
        if not rows.size:
            return ()
        return self._source.measure_again(int(places[0]), rows, block.distances[:b], team)


class _DensePairs(_Blocks):
    """Pairs of dense rows without missing values, each pair inside a block once."""

    def __init__(self, Z, groups, source):
        super().__init__(Z, groups, source, 8 if Z.rest.size else source.dtype.itemsize)

    def weigh(self, rule, skrebate, threshold, team, phases):
        """Sum up the weighted differences of all pairs; return the sums and what is to be added to all columns."""
        weights, offset = np.zeros(self._Z.shape[1]), 0.0
        packed = PackedPairs(self._Z, self._groups, self._b, rule.far) if self._Z.bands else None
        some = self._Z.rest.size > 0
        ids = np.empty((self._b, self._n if some else 0), dtype=np.int32)
        ends = np.empty((self._b, -(-self._n // kernels.TILE_ROWS)), dtype=np.int64)
        block = self._block
        for first, b in self._blocks(team, phases):
            with phases("neighbours"):
                places = np.arange(first, first + b, dtype=np.int64)
                self._weigh_block(places, rule, skrebate, threshold, team)
                offset += block.offsets[:b].sum()
                if packed is not None:
                    packed.note(block, places, team)
                # Distances are not needed any more; their place is taken by the weights of listed pairs.
                self._is_measured = False
            with phases("weights"):
                if packed is not None:
                    packed.add(block, places, weights, team)
            if not some:
                continue
            with phases("neighbours"):
                values = block.distances.view(np.float64)
                zones = (block.below, block.above, block.near, block.far)
                arguments = (block.distances[:b], first, self._groups.class_ptr, *zones)
                team.split(
                    lambda lo, hi, arguments=arguments, values=values: kernels.list_pairs(
                        *arguments, lo, hi, ids, values, ends
                    ),
                    b,
                )
            with phases("weights"):
                self._add_listed((first, ids, values, ends[:b]), weights, team)
        return weights, offset

    def _add_listed(self, lists, weights, team):
        """Add the differences of listed pairs to the weights of the columns that are not packed."""
        Z, members = self._Z, self._groups.members

        def part(lo, hi):
            tile = Z.tile(Z.n_packed + lo, Z.n_packed + hi)
            gained = weights[Z.n_packed + lo : Z.n_packed + hi]
            kernels.update_dense(tile, members, *lists, 0, hi - lo, gained)

        p = Z.rest.shape[0]
        most = max(
            64, int(min(_STEPS / max(1.0, float(lists[-1][:, -1].sum())), _TILE_BYTES // (8 * self._n)))
        )
        team.each(part, pieces(p, min(most, -(-p // team.size))))


class _MixedPairs(_Blocks):
    """Pairs where values are missing or columns hold codes: near and far rows are listed class by class."""

    def __init__(self, Z, full, groups, source):
        # Lists of near and far rows, with what the kernels take for each of them; or bits and no more.
        listed = not isinstance(Z, Columns) or Z.rest.size > 0
        super().__init__(Z, groups, source, 64 if listed else 16)
        self._full = full

    def weigh(self, rule, skrebate, threshold, team, phases):
        """As in :class:`_DensePairs`."""
        class_ptr, members = self._groups.class_ptr, self._groups.members
        zones = 2 if rule.far else 1
        n_segments = zones * (class_ptr.shape[0] - 1)
        segment_ptr = np.concatenate([[0], np.cumsum(np.tile(np.diff(class_ptr), zones))]).astype(np.int64)
        similar = (
            np.arange(n_segments) >= class_ptr.shape[0] - 1 if rule.similarity else np.zeros(n_segments, bool)
        )
        by_column = isinstance(self._Z, Columns)
        packed = None
        if by_column and self._Z.bands:
            packed = PackedPairs(self._Z, self._groups, self._b, rule.far, True, rule.similarity)
        listed = not by_column or self._Z.rest.size > 0
        shape = (self._b if listed else 0, segment_ptr[-1])
        near = np.empty(shape, dtype=np.int32)
        counts = np.empty((self._b, n_segments), dtype=np.int64)
        sums = np.empty((self._b, n_segments), dtype=np.float64)
        pairs = np.empty((shape[0], self._n), dtype=np.float64)
        ones, zeros = np.ones(shape), np.zeros(shape)
        weights, offset = np.zeros((1, self._Z.shape[1])), 0.0
        for first, b in self._blocks(team, phases):
            block = self._block
            with phases("neighbours"):
                places = np.arange(first, first + b, dtype=np.int64)
                self._weigh_block(places, rule, skrebate, threshold, team)
                self._is_measured = False
                if packed is not None:
                    packed.note(block, places, team)
            if packed is not None:
                with phases("weights"):
                    packed.add(block, places, weights[0], team)
            if not listed:
                continue
            with phases("neighbours"):
                team.split(
                    lambda lo, hi, places=places: self._pair_weights(self._block, places, lo, hi, pairs), b
                )
                lists = (pairs, block.distances, block.below, class_ptr, segment_ptr, members, rule.far)
                team.split(
                    lambda lo, hi, lists=lists: kernels.list_zones(*lists, lo, hi, near, counts, sums), b
                )
                coefficients = np.where(similar, -sums[:b], sums[:b])
            with phases("weights"):
                most = b if by_column else max(16, int(_STEPS / (self._n * self._Z.shape[1])))
                for lo, hi in pieces(b, most):
                    part = slice(lo, hi)
                    lists = (near[part], segment_ptr, counts[part], coefficients[part], similar)
                    rest = (*lists, ones[part], zeros[part], mixed.CLASSES, False)
                    rows = members[first + lo : first + hi]
                    add_updates(mixed, self._Z, rows, rest, weights, team, self._full, which="rest")
            if sparse.issparse(self._Z):  # where nothing is stored, all is similar
                offset += coefficients[:, similar].sum()
        return weights[0], offset


class _SparsePairs(_Pairs):
    """Pairs of sparse rows, a few rows at a time on each thread."""

    at_once = False

    def __init__(self, Z, groups, source):
        super().__init__(groups, source)
        self._Z = Z
        by_column = Z.tocsc()
        in_column = np.diff(by_column.indptr).astype(np.float64)
        shared = float(in_column @ in_column) / self._n
        by_column.indices[:] = groups.places()[by_column.indices]
        self._rows = (Z.indptr.astype(np.int64), Z.indices, Z.data)
        self._columns = (by_column.indptr.astype(np.int64), by_column.indices, by_column.data)
        self._few = int(np.clip(min(_ROW_BYTES // (8 * self._n), source.piece_rows), 1, 64))
        self._part_rows = max(self._few, int(_STEPS / (source.work_per_row + 10.0 * self._n + 2.0 * shared)))
        self._spare = deque()  # what a thread needs for itself, handed on
        self._seconds = []

    def _few_rows(self, lo, hi):
        """Yield arrays with the distances of a few rows at a time, places and numbers of the rows, and seconds."""
        try:
            block, pairs, seconds = self._spare.pop()
        except IndexError:
            block = _Block(self._few, self._n, self._n_classes, self._source.dtype)
            pairs, seconds = np.empty((self._few, self._n)), np.zeros(3)
            self._seconds.append(seconds)
        for start in range(lo, hi, self._few):
            places = np.arange(start, min(hi, start + self._few), dtype=np.int64)
            rows = self._groups.members[places]
            began = time.perf_counter()
            self._source.measure(rows, places, block.distances)
            seconds[0] += time.perf_counter() - began
            yield block, pairs, places, rows, seconds
        self._spare.append((block, pairs, seconds))

    def _share(self, began, phases):
        names = ("distances", "neighbours", "weights")
        phases.share(time.perf_counter() - began, dict(zip(names, sum(self._seconds), strict=True)))
        self._spare.clear()
        self._seconds.clear()

    def means(self, team, phases):
        """Mean distance of each row to the others, (n,)."""
        means, deviations = np.empty(self._n), np.empty(self._n)

        def part(block, places):
            found = means[places[0] : places[-1] + 1], deviations[places[0] : places[-1] + 1]
            kernels.spread(block.distances, places, 0, places.shape[0], *found)

        self.look_at_all(part, team, phases)
        return means

    def look_at_all(self, look, team, phases):
        """Call ``look(block, places)`` with the distances of a few rows at a time, once for each row."""

        def part(lo, hi):
            for block, _, places, _, seconds in self._few_rows(lo, hi):
                began = time.perf_counter()
                look(block, places)
                seconds[1] += time.perf_counter() - began

        began = time.perf_counter()
        team.each(part, pieces(self._n, self._part_rows), advance=phases.advance)
        self._share(began, phases)

    def weigh(self, rule, skrebate, threshold, team, phases):
        """As in :class:`_DensePairs`."""
        n, p = self._Z.shape
        weights, received, offsets = np.zeros(p), np.zeros(n), np.empty(n)
        began = time.perf_counter()
        for start in range(0, n, _PIECES * self._part_rows):
            size = min(n - start, _PIECES * self._part_rows)
            bounds = sorted({start + size * i // _PIECES for i in range(_PIECES + 1)})
            sums = {lo: (np.zeros(n), np.zeros(p)) for lo in bounds[:-1]}

            def part(lo, hi, sums=sums):
                for block, pairs, places, rows, seconds in self._few_rows(lo, hi):
                    began = time.perf_counter()
                    b = places.shape[0]
                    self._thresholds(block, places, rule, threshold, 0, b)
                    self._factors(block, places, rule, skrebate, 0, b)
                    self._pair_weights(block, places, 0, b, pairs)
                    offsets[places] = block.offsets[:b]
                    between = time.perf_counter()
                    kernels.update_sparse(rows, pairs, *self._rows, *self._columns, 0, b, *sums[lo])
                    seconds[1:] += (between - began, time.perf_counter() - between)

            team.each(part, list(pairwise(bounds)), advance=phases.advance)
            for lo in bounds[:-1]:
                received += sums[lo][0]
                weights += sums[lo][1]
        self._share(began, phases)
        by_row = np.empty(n)
        by_row[self._groups.members] = received
        sizes = sparse.csr_matrix(
            (np.abs(self._Z.data), self._Z.indices, self._Z.indptr), shape=self._Z.shape
        )
        weights += sizes.T @ by_row
        return weights, offsets.sum()
