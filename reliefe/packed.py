"""Neighbours and thresholds among rows whose columns all hold few values: distances by counting bits.

Such distances are exact sums. With differences of 1, 1/2 and 1/3 they are counted in units of 1/6 at most, so that
two distances are equal or a unit apart at least: a tie in fixed point (:mod:`reliefe.distances`) is one here.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from reliefe._threads import pieces
from reliefe.fixed import fixed_point
from reliefe.kernels import bits, zones
from reliefe.kernels.neighbours import nearest_first, nearest_per_class

_BLOCK_BYTES = 32 * 2**20
_STEPS = 1e11  # differences in a piece of work: well below a second
_EXACT = 2**24  # up to which float32 holds every whole number


def units_in_one(bands):
    """Return in how many units a difference of 1 is counted so that all differences are whole numbers of them."""
    return math.lcm(*(band.n_planes for band in bands))


def measure(bands, members, positions, mirrored, lo, hi, out):
    """Fill rows of ``out`` with distances in units: :func:`reliefe.kernels.bits.add_differing`, band by band.

    Parameters
    ----------
    bands : list of reliefe.columns.Band
        Which hold all columns.
    members, positions, mirrored, lo, hi
        As there.
    out : array of shape (b, n)
        Rows ``lo … hi − 1`` are overwritten, and with ``mirrored`` parts of the rows after them.
    """
    units = units_in_one(bands)
    for number, band in enumerate(bands):
        weight = out.dtype.type(units // band.n_planes)
        words = (band.packed, 0, band.packed.shape[2], weight)
        bits.add_differing(*words, members, positions, mirrored, number == 0, lo, hi, out)
    if mirrored:
        bits.mirror(positions[0], lo, hi, out)


def add_packed(bands, one, members, positions, mirrored, lo, hi, out):
    """Add the distances in packed columns to distances in others.

    Parameters
    ----------
    bands : list of reliefe.columns.Band
        Which hold some columns.
    one : number
        What a difference of 1 counts.
    members, positions, mirrored, lo, hi, out
        As in :func:`measure`, where ``out`` holds the distances in the other columns.
    """
    whole = out.dtype.kind == "i"
    for band in bands:
        weight = out.dtype.type(round(one / band.n_planes) if whole else one / band.n_planes)
        words = (band.packed, 0, band.packed.shape[2], weight)
        bits.add_differing(*words, members, positions, mirrored, False, lo, hi, out)
    if bands and mirrored:
        bits.mirror(positions[0], lo, hi, out)


class PackedRows:
    """Manhattan distances among rows whose columns are all packed, in units.

    It stands in for :class:`reliefe.thresholds.DenseRows`.

    Parameters
    ----------
    Z : reliefe.columns.Columns
        The rows; nothing in ``Z.rest``.
    groups : reliefe.distances.Groups
        The order of the rows.

    Attributes
    ----------
    tolerance : float
        What rounding would do to a distance in fixed point; there is none here.
    """

    errors = None

    def __init__(self, Z, groups):
        n, p = Z.shape
        self._bands, self._members = Z.bands, groups.members
        units = units_in_one(Z.bands)
        self.dtype = np.dtype(np.int32 if units * p < np.iinfo(np.int32).max else np.int64)
        factor, tolerance = fixed_point(2 * p, p)
        self.tolerance = units * tolerance / factor
        self._piece_rows = int(np.clip(_STEPS / (n * p), 16, 64))

    def measure_block(self, first, out, team, advance=None):
        """Fill ``out`` (b, n) with the distances of the rows at ``first … first + b − 1``."""
        positions = np.arange(first, first + out.shape[0], dtype=np.int64)
        team.each(
            lambda lo, hi: measure(self._bands, self._members, positions, True, lo, hi, out),
            pieces(out.shape[0], self._piece_rows),
            advance=advance,
        )


class PackedColumns:
    """Neighbours by Manhattan distance on columns that are all packed.

    Parameters
    ----------
    Z : reliefe.columns.Columns
        The rows; nothing in ``Z.rest``.
    groups : reliefe.distances.Groups
        Who is looked for.

    Attributes
    ----------
    nearest_first : bool
        As in :class:`reliefe.distances.DenseColumns`.
    """

    nearest_first = False

    def __init__(self, Z, groups):
        n, p = Z.shape
        self._bands = Z.bands
        self.groups = groups
        self._position = groups.places()
        exact = units_in_one(Z.bands) * p < _EXACT
        self._dtype = np.dtype(np.float32 if exact else np.float64)
        self.block_rows = int(np.clip(_BLOCK_BYTES // (self._dtype.itemsize * n), 16, 4096))
        self._piece_rows = int(np.clip(_STEPS / (n * p), 16, 64))
        self._buffer = None

    def find(self, rows, neighbours, counts, team, phases):
        """As :meth:`reliefe.distances.DenseColumns.find`."""
        groups, b = self.groups, rows.shape[0]
        if self._buffer is None:
            self._buffer = np.empty((b, groups.members.shape[0]), dtype=self._dtype)
        distances = self._buffer[:b]
        positions = self._position[rows]
        with phases("distances"):
            mirrored = bool(np.array_equal(positions, np.arange(positions[0], positions[0] + b)))
            team.each(
                lambda lo, hi: measure(self._bands, groups.members, positions, mirrored, lo, hi, distances),
                pieces(b, self._piece_rows),
                advance=phases.advance,
            )
        with phases("neighbours"):
            part_rows = max(64, -(-b // (4 * team.size)))
            team.each(
                lambda lo, hi: self._choose(distances, positions, lo, hi, neighbours, counts),
                pieces(b, part_rows),
            )

    def _choose(self, distances, positions, lo, hi, neighbours, counts):
        """Find the nearest rows of the rows ``lo … hi − 1`` of a block in their distances."""
        groups, number = self.groups, self._dtype.type
        part = slice(lo, hi)
        guesses = np.full((groups.class_ptr.shape[0] - 1, 2), 10.0)
        nearest_per_class(
            distances[part],
            positions[part],
            groups.members,
            groups.class_ptr,
            groups.segment_ptr,
            groups.k,
            number(0),
            number(np.inf),
            guesses,
            neighbours[part],
            counts[part],
        )
        if self.nearest_first:
            rest = (groups.segment_ptr, counts[part], number(0), neighbours[part])
            nearest_first(distances[part], self._position, *rest)


class PackedPairs:
    """Weighted differences of pairs of rows in packed columns, where rows in a zone of another count the same.

    Parameters
    ----------
    Z : reliefe.columns.Columns
        The rows.
    groups : reliefe.distances.Groups
        The order of the rows.
    most : int
        Rows in a block.
    far : bool
        Whether far rows count.
    """

    def __init__(self, Z, groups, most, far):
        self._Z, self._groups = Z, groups
        n = Z.shape[0]
        shape = (most, -(-n // bits.WORD))
        self._zones = [np.empty(shape, dtype=np.uint64) for _ in range(2 if far else 1)]
        self._stretches = _stretches(groups.class_ptr)

    def note(self, block, places, team):
        """Keep who is near and who is far of the rows of a block, given their distances and thresholds."""
        near, beyond = self._zones[0], self._zones[-1]
        given = (block.distances, places, block.below, block.above, len(self._zones) > 1)
        team.split(lambda lo, hi: zones.zone_bits(*given, lo, hi, near, beyond), places.shape[0])

    def add(self, block, places, weights, team):
        """Add the differences of these rows to the weights of the packed columns, the first of ``weights``."""
        Z, b = self._Z, places.shape[0]
        factors = [np.ascontiguousarray(each[:, :b]) for each in (block.near, block.far)[: len(self._zones)]]

        def part(lo, hi):
            band, start = Z.part(lo)
            words = band.words(lo - start, hi - start)
            columns = np.empty((words[2] - words[1], self._zones[0].shape[1], bits.WORD), dtype=np.uint64)
            for plane in range(band.n_planes):
                zones.turned(
                    band.packed, words[0], words[1] + plane * band.width, self._groups.members, columns
                )
                gained = np.zeros((columns.shape[0], bits.WORD))
                for word, sums in zip(columns, gained, strict=True):
                    for zone, factor in zip(self._zones, factors, strict=True):
                        zones.add_zones(word, zone[:b], places, *self._stretches, factor, sums)
                weights[lo:hi] += band.unit * gained.ravel()[: hi - lo]

        width = bits.WORD * int(np.clip(_STEPS / (b * self._zones[0].shape[1] * 64.0**2), 1, 4))
        team.each(part, Z.few_columns(width, True, packed_only=True))


def _stretches(class_ptr):
    """Return in which words of bits by place each class lies, and with which bits, as ``add_zones`` takes it."""
    words, masks, ends = [], [], [0]
    for start, stop in pairwise(class_ptr.tolist()):
        for word in range(start // bits.WORD, -(-stop // bits.WORD)):
            first, last = max(start - bits.WORD * word, 0), min(stop - bits.WORD * word, bits.WORD)
            words.append(word)
            masks.append((1 << last) - (1 << first))
        ends.append(len(words))
    return np.array(ends), np.array(words, dtype=np.int64), np.array(masks, dtype=np.uint64)
