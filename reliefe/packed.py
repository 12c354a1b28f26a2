"""Distances in blocks of dense rows: columns that hold few values by counting bits, the others as floats.

Where all columns hold few values, distances are exact sums. With differences of 1, 1/2 and 1/3 they are counted in
units of 1/6 at most, so that two distances are equal or a unit apart at least: a tie in fixed point
(:mod:`reliefe.fixed`) is one here. With missing values or categories among them, distances are sums of floats that
are multiples of a power of two, so coarse that every sum is exact.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from reliefe._threads import pieces
from reliefe.fixed import fixed_point, most_terms
from reliefe.kernels import bits, mixed_distances, tiles, zones
from reliefe.kernels.neighbours import nearest_first, nearest_per_class

_BLOCK_BYTES = 32 * 2**20
_TILE_BYTES = 2**22  # of columns that are not packed, which are measured at a time
_STEPS = 1e11  # differences by bits in a piece of work: well below a second
_EXACT = 2**24  # up to which float32 holds every whole number


def add_packed(bands, one, unit, members, positions, mirrored, lo, hi, out):
    """Add the distances in packed columns without gaps to distances in others.

    Parameters
    ----------
    bands : list of reliefe.bands.Band
        Which hold some columns.
    one : float
        The power of two of the fixed point: what a difference of 1 is there.
    unit : float
        What 1 in fixed point counts in ``out``.
    members, positions, mirrored, lo, hi
        As in :func:`reliefe.kernels.bits.add_differing`.
    out : array of shape (b, n)
        Rows ``lo … hi − 1`` change, and with ``mirrored`` parts of the rows after them.
    """
    for band in bands:
        weights = (band.weights(one) * unit).astype(out.dtype)
        _add_band(band, weights, members, positions, mirrored, False, lo, hi, out)
    if bands and mirrored:
        tiles.mirror(positions[0], lo, hi, out)


def _add_band(band, weights, members, positions, mirrored, fresh, lo, hi, out):
    """Add the distances in a band without gaps, its planes together where they count the same."""
    same = (weights == weights[0]).all()
    for plane in range(1 if same else band.n_planes):
        words = (0, band.packed.shape[2]) if same else (plane * band.width, (plane + 1) * band.width)
        given = (*words, weights[plane], members, positions, mirrored, fresh and plane == 0)
        bits.add_differing(band.packed, *given, lo, hi, out)


def infinite(dtype):
    """Return a number of this type that is larger than every distance."""
    return np.int64(np.iinfo(np.int64).max) if dtype.kind == "i" else dtype.type(np.inf)


class Blocks:
    """Distances of a block of rows at a time, and the nearest rows in them.

    Parameters
    ----------
    Z : reliefe.columns.Columns
        The rows.
    groups : reliefe.distances.Groups
        Who is looked for.
    dtype : dtype
        Of the distances.
    bytes_per_pair : int
        How many bytes a pair of rows takes.

    Attributes
    ----------
    dtype : dtype
        Of the distances.
    tolerance : number
        Distances this close are a tie.
    nearest_first : bool
        As in :class:`reliefe.distances.DenseColumns`.
    errors : None
        No distance is coarse, as there are in :class:`reliefe.distances.DenseRows`.
    """

    nearest_first = False
    errors = None

    def __init__(self, Z, groups, dtype, bytes_per_pair):
        n, p = Z.shape
        self._Z, self.groups = Z, groups
        self._position = groups.places()
        self.dtype = np.dtype(dtype)
        self.block_rows = int(np.clip(_BLOCK_BYTES // (bytes_per_pair * n), 16, 4096))
        self._piece_rows = int(np.clip(_STEPS / (n * p), 16, 64))
        self._buffer = None

    def _measure(self, positions, mirrored, out, team, advance):
        raise NotImplementedError

    def measure_block(self, first, out, team, advance=None):
        """Fill ``out`` (b, n) with the distances of the rows at ``first … first + b − 1``."""
        self._measure(np.arange(first, first + out.shape[0], dtype=np.int64), True, out, team, advance)

    def find(self, rows, neighbours, counts, team, phases):
        """As :meth:`reliefe.distances.DenseColumns.find`."""
        groups, b = self.groups, rows.shape[0]
        if self._buffer is None:
            self._buffer = np.empty((b, groups.members.shape[0]), dtype=self.dtype)
        distances = self._buffer[:b]
        positions = self._position[rows]
        with phases("distances"):
            mirrored = bool(np.array_equal(positions, np.arange(positions[0], positions[0] + b)))
            self._measure(positions, mirrored, distances, team, phases.advance)
        with phases("neighbours"):
            part_rows = max(64, -(-b // (4 * team.size)))
            team.each(
                lambda lo, hi: self._choose(distances, positions, lo, hi, neighbours, counts),
                pieces(b, part_rows),
            )

    def _choose(self, distances, positions, lo, hi, neighbours, counts):
        """Find the nearest rows of the rows ``lo … hi − 1`` of a block in their distances."""
        groups, number = self.groups, self.dtype.type
        part, tolerance = slice(lo, hi), number(self.tolerance)
        guesses = np.full((groups.class_ptr.shape[0] - 1, 2), 10.0)
        nearest_per_class(
            distances[part],
            positions[part],
            groups.members,
            groups.class_ptr,
            groups.segment_ptr,
            groups.k,
            tolerance,
            infinite(self.dtype),
            guesses,
            neighbours[part],
            counts[part],
        )
        if self.nearest_first:
            rest = (groups.segment_ptr, counts[part], tolerance, neighbours[part])
            nearest_first(distances[part], self._position, *rest)


class PackedRows(Blocks):
    """Manhattan distances among rows whose columns are all packed, without gaps, in whole units.

    Parameters
    ----------
    Z : reliefe.columns.Columns
        The rows; nothing in ``Z.rest``.
    groups : reliefe.distances.Groups
        Who is looked for.
    whole : bool
        Whether distances are wanted as integers, which thresholds take, and not as floats.
    """

    def __init__(self, Z, groups, whole=False):
        p = Z.shape[1]
        self._units = math.lcm(*(band.n_planes for band in Z.bands))  # in a difference of 1
        most = self._units * p
        if whole:
            dtype = np.int32 if most <= np.iinfo(np.int32).max else np.int64
        else:
            dtype = np.float32 if most < _EXACT else np.float64
        super().__init__(Z, groups, dtype, np.dtype(dtype).itemsize)
        # What rounding would do to a distance in fixed point: thresholds are rounded, distances are not.
        factor, tolerance = fixed_point(most_terms(Z), p)
        self.tolerance = self._units * tolerance / factor if whole else 0

    def _measure(self, positions, mirrored, out, team, advance):
        members = self.groups.members

        def part(lo, hi):
            for number, band in enumerate(self._Z.bands):
                weights = np.full(band.n_planes, self._units // band.n_planes, dtype=out.dtype)
                _add_band(band, weights, members, positions, mirrored, number == 0, lo, hi, out)
            if mirrored:
                tiles.mirror(positions[0], lo, hi, out)

        team.each(part, pieces(positions.shape[0], self._piece_rows), advance=advance)


class MixedRows(Blocks):
    """Distances where values are missing or columns hold codes, as :class:`reliefe.distances.MixedColumns`.

    Parameters
    ----------
    Z : reliefe.columns.Columns
        The rows.
    groups : reliefe.distances.Groups
        Who is looked for.
    """

    def __init__(self, Z, groups):
        n, p = Z.shape
        super().__init__(Z, groups, np.float64, 16)
        stored, missing = Z.not_zero()
        self._unit, self.tolerance = rounding(2 * int(stored.max(initial=0)), p, int(missing.max(initial=0)))
        self._n_complete = sum(band.columns.shape[0] for band in Z.bands if not band.gaps)
        if not Z.has_gaps:
            self.block_rows = int(np.clip(_BLOCK_BYTES // (8 * n), 16, 4096))

    def _measure(self, positions, mirrored, out, team, advance):
        Z, members, b = self._Z, self.groups.members, positions.shape[0]
        known = np.zeros((b if Z.has_gaps else 0, Z.shape[0]))
        weights = [self._unit * band.weights(1.0 / self._unit) for band in Z.bands]

        def packed(lo, hi):
            out[lo:hi] = 0.0
            if Z.has_gaps:
                known[lo:hi] = self._n_complete
            for band, counted in zip(Z.bands, weights, strict=True):
                if band.gaps:
                    bits.add_known(band.packed, counted, members, positions, mirrored, lo, hi, out, known)
                else:
                    _add_band(band, counted, members, positions, mirrored, False, lo, hi, out)

        parts = pieces(b, self._piece_rows)
        # Rows that are measured later are mirrored then: no piece writes what another one reads.
        team.each(packed, parts, advance=advance)
        width = int(np.clip(_TILE_BYTES // (8 * Z.shape[0]), 16, 1024))
        for c0, c1 in pieces(Z.rest.shape[0], width):
            columns = Z.tile(Z.n_packed + c0, Z.n_packed + c1, members).T / self._unit
            columns = np.ascontiguousarray(np.rint(columns) * self._unit)
            missing = bool(np.isnan(columns).any())
            if Z.has_gaps and not missing:
                known += c1 - c0
            given, sums = (columns, missing, positions, mirrored), (out, known)
            team.each(
                lambda lo, hi, given=given, sums=sums: mixed_distances.add_dense(*given, lo, hi, *sums), parts
            )

        def mirror(lo, hi):
            for each in (out, known) if Z.has_gaps else (out,):
                tiles.mirror(positions[0], lo, hi, each)

        if mirrored:
            team.each(mirror, parts)
        if Z.has_gaps:
            team.each(lambda lo, hi: mixed_distances.stretch(Z.shape[1], known, lo, hi, out), parts)


def rounding(terms, p, most_missing):
    """Return the unit of sums of floats that are exact, and what rounding to it can do to a distance.

    Parameters
    ----------
    terms : int
        From :func:`reliefe.fixed.most_terms`.
    p : int
        Number of columns.
    most_missing : int
        Largest number of missing values in a row.

    Returns
    -------
    unit, tolerance : float
    """
    terms = max(1, terms)
    bits_ = min(52, 53 - terms.bit_length())
    unit = 2.0**-bits_
    # Rounding of every term by about a unit, stretched where columns are missing, and that of the stretching.
    fewest = max(1, p - 2 * most_missing)
    stretched = min(p, min(terms, p) * p / fewest)
    return unit, stretched * (2.0 + 2.0 ** (bits_ - 49)) * unit + 2.0**-50 * min(p, terms * p / fewest)


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
    means : bool
        Whether the mean over the known rows of a zone counts as much as all of it, as where values are missing.
    similarity : bool
        With ``means``, whether far rows count by 1 − difference.
    """

    def __init__(self, Z, groups, most, far, means=False, similarity=False):
        self._Z, self._groups, self._means, self._similarity = Z, groups, means, similarity
        n = Z.shape[0]
        n_words = -(-n // bits.WORD)
        # Vectors of words that begin with any word of a row end within the array.
        shape = (most, n_words + zones.LANES - 1)
        self._zones = [np.zeros(shape, dtype=np.uint64) for _ in range(2 if far else 1)]
        self._stretches = _stretches(groups.class_ptr)
        self._all = np.full((n_words, bits.WORD), np.iinfo(np.uint64).max, dtype=np.uint64)

    def note(self, block, places, team):
        """Keep who is near and who is far of the rows of a block, given their distances and thresholds."""
        near, beyond = self._zones[0], self._zones[-1]
        given = (block.distances, places, block.below, block.above, len(self._zones) > 1)
        team.split(lambda lo, hi: zones.zone_bits(*given, lo, hi, near, beyond), places.shape[0])

    def add(self, block, places, weights, team):
        """Add the differences of these rows to the weights of the packed columns, the first of ``weights``."""
        Z, b = self._Z, places.shape[0]
        given = []
        for zone, factors in zip(self._zones, (block.near, block.far), strict=False):
            factors = factors[:, :b]
            if self._means:
                given.append((zone[:b], places, *self._stretches, np.ascontiguousarray(factors)))
                continue
            pairs = (zone[:b], int(places[0]), *self._stretches, np.ascontiguousarray(factors.T))
            given.append((*pairs, np.zeros(Z.shape[0])))
            zones.shared(*pairs, 0, b, given[-1][-1])

        def part(lo, hi):
            band, start = Z.part(lo)
            tile, w0, w1 = band.words(lo - start, hi - start)
            turned = np.empty(
                (band.n_planes + band.gaps, w1 - w0, self._all.shape[0], bits.WORD), dtype=np.uint64
            )
            for plane, columns in enumerate(turned):
                zones.turned(band.packed, tile, w0 + plane * band.width, self._groups.members, columns)
            gained = np.zeros((w1 - w0, bits.WORD))
            for v, sums in enumerate(gained):
                for is_far, zone in enumerate(given):
                    if self._means:
                        columns = np.ascontiguousarray(turned[band.gaps :, v])
                        known = turned[0, v] if band.gaps else self._all
                        similar = bool(is_far) and self._similarity
                        zones.add_known_zones(columns, known, band.unit, *zone, similar, sums)
                        continue
                    for columns in turned[:, v]:
                        zones.add_zones(columns, *zone, sums)
            unit = 1.0 if self._means else band.unit
            weights[lo:hi] += unit * gained.ravel()[: hi - lo]

        width = bits.WORD * int(np.clip(_STEPS / (b * self._all.shape[0] * 64.0**2), 1, 4))
        team.each(part, Z.few_columns(width, True, "packed"))


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
