"""Pairs of samples whose differences count by their distance: thresholds, and sums over the pairs of all samples.

One number per pair decides how much its differences count, so no list of neighbours per class is kept. Dense
rows are worked on in blocks, each pair inside a block once. Sparse rows are worked on a few at a time, and
only pairs that share a feature are looked at one by one: beside the matrix, memory grows with the number of samples
alone.
"""

from __future__ import annotations

import time
from collections import deque
from itertools import pairwise

import numpy as np
from scipy import sparse

from reliefe._threads import pieces
from reliefe.columns import Columns
from reliefe.kernels import mixed
from reliefe.kernels import thresholds as kernels
from reliefe.packed import PackedPairs
from reliefe.targets import add_updates, weighted_coefficients

STEPS = 4e8  # steps of a piece of work: well below a second, so that a fit can be interrupted
TILE_BYTES = 2**20  # of features whose pairs are worked on together
_BLOCK_BYTES = 32 * 2**20
_ROW_BYTES = 2**20  # distances that a thread holds at a time where samples are worked on a few at a time
_PIECES = 16  # sums of sparse updates, however many threads there are; added up in order

#: A distance within this share of the mean distance of a threshold is equal to it: what rounding can explain.
RELATIVE_TOLERANCE = 1e-12


class Pairs:
    """What both storages share: thresholds, and the weights of the pairs of some samples."""

    def __init__(self, groups, source):
        self._groups = groups
        self._source = source
        self._n = groups.members.shape[0]
        self._n_classes = groups.class_ptr.shape[0] - 1
        # Rounding of the distance, of the mean, and of the deviation.
        self._tolerance = 3.0 * float(source.tolerance)
        self._row_factors = None
        self.lacking = None  # (2, n): whether samples have no near sample of their class, and of another

    def weigh_rows(self, sample_weight):
        """Let pairs count by the weight (n,) of the sample that they are seen from, and classes by theirs."""
        class_ptr, weight = self._groups.class_ptr, sample_weight[self._groups.members]
        sizes = np.diff(class_ptr)
        own = np.repeat(np.arange(self._n_classes), sizes)
        shares = np.bincount(own, weights=weight)
        # What the kernel takes for the share of a class, and what it is to be; by place and class.
        plain = weighted_coefficients(own, sizes.astype(np.float64))
        factors = weighted_coefficients(own, shares) / plain
        factors *= (weight * (self._n / weight.sum()))[:, np.newaxis]
        self._row_factors, self._plain_shares = np.ascontiguousarray(factors.T), np.ascontiguousarray(plain.T)

    def set_thresholds(self, block, places, rule, threshold, lo, hi):
        """Take the thresholds of the samples ``lo … hi − 1`` of a block from their distances."""
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
        """Return what the distances (b, n) from some places have to be less than for samples to be near."""
        b, n = distances.shape
        block = Block(b, n, self._n_classes, distances.dtype, distances)
        self.set_thresholds(block, places, rule, threshold, 0, b)
        return block.below

    def _slack(self, middle):
        return self._tolerance + RELATIVE_TOLERANCE * middle

    def weigh_zones(self, block, places, rule, skrebate, lo, hi):
        """Turn the distances of the samples ``lo … hi − 1`` of a block into weights by zone and class."""
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
        if self.lacking is not None:
            near = block.near[:, lo:hi] != 0.0
            own = np.searchsorted(self._groups.class_ptr, places[lo:hi], side="right") - 1
            hits = near[own, np.arange(hi - lo)]
            self.lacking[:, places[lo:hi]] = ~hits, near.sum(axis=0) == hits
        if self._row_factors is not None:
            part, factors = slice(lo, hi), self._row_factors[:, places[lo:hi]]
            there = block.far[:, part] != 0.0
            block.near[:, part] *= factors
            block.far[:, part] *= factors
            plain = self._plain_shares[:, places[lo:hi]]
            block.offsets[part] = (there * factors * plain).sum(axis=0)

    def fill_weights(self, block, places, lo, hi, out):
        """Fill ``out`` (b, n) with the weights of the pairs of the samples ``lo … hi − 1``."""
        zones = (block.below, block.above, block.near, block.far)
        kernels.pair_weights(block.distances, places, self._groups.class_ptr, *zones, lo, hi, out)


class Block:
    """Arrays of a block of b samples; see :mod:`reliefe.kernels.thresholds`."""

    def __init__(self, b, n, n_classes, dtype, distances=None):
        self.distances = np.empty((b, n), dtype=dtype) if distances is None else distances
        self.below, self.above = np.empty(b, dtype=dtype), np.empty(b, dtype=dtype)
        self.near, self.far = np.empty((n_classes, b)), np.empty((n_classes, b))
        self.offsets, self.means, self.deviations = np.empty(b), np.empty(b), np.empty(b)


class Blocks(Pairs):
    """Pairs of a block of samples at a time."""

    def __init__(self, Z, groups, source, pair_bytes):
        super().__init__(groups, source)
        self._Z = Z
        self._b = min(self._n, max(16, _BLOCK_BYTES // (pair_bytes * self._n)))
        self.at_once = self._b == self._n
        self._block = Block(self._b, self._n, self._n_classes, source.dtype)
        self._is_measured = False  # whether the block that is all samples holds its distances

    def _blocks(self, team, phases):
        """Yield the first place, and the number of samples, of each block whose distances are there."""
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
        """Mean distance of each sample to the others, (n,)."""
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
            self.set_thresholds(block, places, rule, threshold, lo, hi)

        team.split(part, b)
        for row in self._settle(places, rule, team):
            part(row, row + 1)
        team.split(lambda lo, hi: self.weigh_zones(block, places, rule, skrebate, lo, hi), b)

    def _settle(self, places, rule, team):
        """Measure again where a coarse distance does not tell on which side of a threshold it lies; say where.

        A threshold of a sample is off by at most 1.5 times the error of its distances: the mean by that error at
        most, and half the deviation by half of it.
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


class DensePairs(Blocks):
    """Pairs of dense rows without missing values, each pair inside a block once."""

    def __init__(self, Z, groups, source):
        super().__init__(Z, groups, source, 8 if Z.rest.size else source.dtype.itemsize)

    def weigh(self, rule, skrebate, threshold, team, phases):
        """Sum up the weighted differences of all pairs; return the sums and what is to be added to all features."""
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
        """Add the differences of listed pairs to the weights of the features that are not packed."""
        Z, members = self._Z, self._groups.members

        def part(lo, hi):
            tile = Z.tile(Z.n_packed + lo, Z.n_packed + hi)
            gained = weights[Z.n_packed + lo : Z.n_packed + hi]
            kernels.update_dense(tile, members, *lists, 0, hi - lo, gained)

        p = Z.rest.shape[0]
        most = max(64, int(min(STEPS / max(1.0, float(lists[-1][:, -1].sum())), TILE_BYTES // (8 * self._n))))
        team.each(part, pieces(p, min(most, -(-p // team.size))))


class MixedPairs(Blocks):
    """Pairs where values are missing or features hold codes: near and far samples are listed class by class."""

    def __init__(self, Z, full, groups, source):
        # Lists of near and far samples, with what the kernels take for each of them; or bits and no more.
        listed = not isinstance(Z, Columns) or Z.rest.size > 0
        super().__init__(Z, groups, source, 64 if listed else 16)
        self._full = full

    def weigh(self, rule, skrebate, threshold, team, phases):
        """As in :class:`DensePairs`."""
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
                    lambda lo, hi, places=places: self.fill_weights(self._block, places, lo, hi, pairs), b
                )
                lists = (pairs, block.distances, block.below, class_ptr, segment_ptr, members, rule.far)
                team.split(
                    lambda lo, hi, lists=lists: kernels.list_zones(*lists, lo, hi, near, counts, sums), b
                )
                coefficients = np.where(similar, -sums[:b], sums[:b])
            with phases("weights"):
                most = b if by_column else max(16, int(STEPS / (self._n * self._Z.shape[1])))
                for lo, hi in pieces(b, most):
                    part = slice(lo, hi)
                    lists = (near[part], segment_ptr, counts[part], coefficients[part], similar)
                    rest = (*lists, ones[part], zeros[part], mixed.CLASSES, False)
                    rows = members[first + lo : first + hi]
                    add_updates(mixed, self._Z, rows, rest, weights, team, self._full, which="rest")
            if sparse.issparse(self._Z):  # where nothing is stored, all is similar
                offset += coefficients[:, similar].sum()
        return weights[0], offset


class SparsePairs(Pairs):
    """Pairs of sparse rows, a few samples at a time on each thread."""

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
        self._part_rows = max(self._few, int(STEPS / (source.work_per_row + 10.0 * self._n + 2.0 * shared)))
        self._spare = deque()  # what a thread needs for itself, handed on
        self._seconds = []

    def _few_rows(self, lo, hi):
        """Yield arrays with the distances of a few samples at a time, their places and numbers, and seconds."""
        try:
            block, pairs, seconds = self._spare.pop()
        except IndexError:
            block = Block(self._few, self._n, self._n_classes, self._source.dtype)
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
        """Mean distance of each sample to the others, (n,)."""
        means, deviations = np.empty(self._n), np.empty(self._n)

        def part(block, places):
            found = means[places[0] : places[-1] + 1], deviations[places[0] : places[-1] + 1]
            kernels.spread(block.distances, places, 0, places.shape[0], *found)

        self.look_at_all(part, team, phases)
        return means

    def look_at_all(self, look, team, phases):
        """Call ``look(block, places)`` with the distances of a few samples at a time, once for each sample."""

        def part(lo, hi):
            for block, _, places, _, seconds in self._few_rows(lo, hi):
                began = time.perf_counter()
                look(block, places)
                seconds[1] += time.perf_counter() - began

        began = time.perf_counter()
        team.each(part, pieces(self._n, self._part_rows), advance=phases.advance)
        self._share(began, phases)

    def weigh(self, rule, skrebate, threshold, team, phases):
        """As in :class:`DensePairs`."""
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
                    self.set_thresholds(block, places, rule, threshold, 0, b)
                    self.weigh_zones(block, places, rule, skrebate, 0, b)
                    self.fill_weights(block, places, 0, b, pairs)
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
