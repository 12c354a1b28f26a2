"""A dense matrix as it was handed in, and its columns on the scale of their differences, made a few at a time.

One pass over the values finds the range of every column, and which columns hold few values. Those are kept as bits
(:mod:`reliefe.kernels.bits`); what kernels need of the others is made anew from the caller's matrix, so that there
is no second matrix of floats. The values are those of :func:`reliefe.scaling.normalise`, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from threading import Lock

import numpy as np
from numpy.lib.stride_tricks import as_strided

from reliefe._threads import Team, pieces
from reliefe.kernels import bits, few
from reliefe.kernels import columns as kernels
from reliefe.scaling import distinct_values, normalise_mixed, refuse_wide, shift_and_extent

_LOOKED_AT = 2**22  # values that a thread looks at before anything else gets a chance
_CACHED = 2**20  # bytes of a few columns of all rows, which stay in the second-level cache
_MOST_PLANES = 3
_WORDS = 128  # in a row of a tile: 1 KiB
_LEAST_PACKED = 32  # columns of few values below which it does not pay to treat them apart
_LARGEST_WHOLE = 2.0**53


def _strided(X):
    """Return a view of all memory between the first and the last value of X, and the steps of rows and columns."""
    if X.dtype.kind == "b":
        X = X.view(np.uint8)
    size = X.itemsize
    steps = [stride // size for stride in X.strides]
    sound = X.flags.aligned and X.dtype.isnative and all(s >= 0 and s % size == 0 for s in X.strides)
    if not sound:
        X = np.ascontiguousarray(X, dtype=X.dtype.newbyteorder("="))
        steps = [X.shape[1], 1]
    length = 1 + (X.shape[0] - 1) * steps[0] + (X.shape[1] - 1) * steps[1]
    return as_strided(X, shape=(length,), strides=(size,), writeable=False), *map(int, steps)


@dataclass(frozen=True)
class Profile:
    """What one pass over a dense matrix tells of its columns.

    Attributes
    ----------
    low, high : float64 ndarrays of shape (p,)
        Smallest and largest known value; ∞ and −∞ where none is known.
    whole : bool ndarray of shape (p,)
        Whether all known values are whole numbers.
    known : bool ndarray of shape (p,)
        Whether no value is missing (NaN).
    """

    low: np.ndarray
    high: np.ndarray
    whole: np.ndarray
    known: np.ndarray

    @classmethod
    def of(cls, X, team):
        """Look at X (n, p), of any type of real numbers, once."""
        n, p = X.shape
        dtype = np.dtype(np.uint8) if X.dtype.kind == "b" else X.dtype
        whole, known = np.ones(p, dtype=np.uint8), np.ones(p, dtype=np.uint8)
        if dtype.kind == "f":
            low, high = np.full(p, np.inf, dtype=dtype), np.full(p, -np.inf, dtype=dtype)
        else:
            low, high = (np.full(p, end, dtype=dtype) for end in (np.iinfo(dtype).max, np.iinfo(dtype).min))
        flat, row_step, column_step = _strided(X)
        by_column = row_step < column_step
        lock = Lock()

        def part(lo, hi):
            r0, r1, j0, j1 = (0, n, lo, hi) if by_column else (lo, hi, 0, p)
            if dtype.kind != "f":
                found = X[r0:r1, j0:j1].min(axis=0), X[r0:r1, j0:j1].max(axis=0)
            else:
                found = [each.copy() for each in (low, high, whole, known)]
                kernels.look_at(flat, row_step, column_step, r0, r1, j0, j1, *found)
                found = [each[j0:j1] for each in found]
            with lock:
                np.minimum(low[j0:j1], found[0], out=low[j0:j1])
                np.maximum(high[j0:j1], found[1], out=high[j0:j1])
                for mine, theirs in zip((whole, known), found[2:], strict=False):
                    mine[j0:j1] &= theirs

        length, across = (p, n) if by_column else (n, p)
        team.each(part, pieces(length, max(1, _LOOKED_AT // across)))
        return cls(low.astype(np.float64), high.astype(np.float64), whole != 0, known != 0)

    @property
    def infinite(self):
        """Whether any value is infinite."""
        return bool(np.isposinf(self.high).any() or np.isneginf(self.low).any())


class Band:
    """Columns of equally few values, as bits.

    Parameters
    ----------
    columns : int64 ndarray of shape (c,)
        Their numbers in the matrix, rising.
    n_planes : int
        Largest value, counted from the smallest of its column.

    Attributes
    ----------
    packed : uint64 ndarray of shape (tiles, n, words)
        From :func:`reliefe.kernels.bits.pack`; None before :meth:`fill`.
    width : int
        Words of a plane in a row of a tile.
    per_tile : int
        Columns in a tile.
    """

    def __init__(self, columns, n_planes):
        self.columns, self.n_planes = columns, n_planes
        words = -(-columns.shape[0] // bits.WORD)
        most = _WORDS // n_planes
        tiles = -(-words // most)
        self.width = -(-words // tiles)
        if tiles > 1:
            self.width = min(most, 8 * -(-self.width // 8))  # whole vectors
        self.per_tile = self.width * bits.WORD
        self._tiles = -(-columns.shape[0] // self.per_tile)
        self.packed = None

    def fill(self, flat, row_step, column_step, n, cuts, team):
        """Pack the columns; ``cuts`` (n_planes, c) are those of :func:`reliefe.kernels.bits.pack`."""
        self.packed = np.empty((self._tiles, n, self.width * self.n_planes), dtype=np.uint64)
        given = (flat, row_step, column_step, self.columns, cuts, False)
        team.each(
            lambda lo, hi: bits.pack(*given, lo, hi, self.packed),
            pieces(n, max(1, _LOOKED_AT // self.columns.shape[0])),
        )

    @property
    def halves(self):
        """Whether all differences are whole multiples of a half, so that no sum of them is rounded."""
        return self.n_planes <= 2

    @property
    def unit(self):
        """By how much two values differ that differ in one plane; rounded with three planes."""
        return 1.0 / self.n_planes

    def words(self, lo, hi):
        """Return the tile, and the words of each plane, that hold the columns at ``lo … hi − 1``."""
        tile, place = divmod(lo, self.per_tile)
        return tile, place // bits.WORD, -(-(place + hi - lo) // bits.WORD)

    def values(self, lo, hi):
        """Return the columns at ``lo … hi − 1``, of one tile and from a whole word on, as bytes (n, ≥ hi − lo)."""
        tile, w0, w1 = self.words(lo, hi)
        n = self.packed.shape[1]
        found = np.empty((n, 8 * (w1 - w0)), dtype=np.uint64)
        bits.unpack(self.packed, tile, self.n_planes, False, w0, w1, 0, n, found)
        return found.view(np.uint8)


class Columns:
    """The columns of a dense matrix divided by their range, those of few values kept as bits.

    Columns stand in an order of their own: band by band, then those that are not packed.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The caller's matrix, of any type of numbers, all of them finite. Not modified, and not copied.
    profile : Profile
        What it holds.
    team : reliefe._threads.Team
        Threads for the packing.

    Attributes
    ----------
    shape : (int, int)
        As of X.
    order : int64 ndarray of shape (p,)
        Which column of X stands where.
    bands : list of Band
        In their order.
    rest : int64 ndarray
        Columns that are not packed.
    """

    def __init__(self, X, profile, team):
        n, p = self.shape = X.shape
        self._X = X  # who owns the memory
        self.flat, self.row_step, self.column_step = _strided(X)
        self.shift, extent = shift_and_extent(profile.low, profile.high)
        self.divisor = np.where(extent == 0.0, np.inf, extent)
        self._low, self._rows = profile.low, np.arange(n)
        self.bands = []
        kinds = _kinds(profile)
        self.rest = np.flatnonzero(kinds == 0)
        if p - self.rest.shape[0] < min(p, _LEAST_PACKED):
            kinds, self.rest = np.zeros(p, dtype=np.int64), np.arange(p)
        self._step = np.where((kinds == 2) & (extent < 2.0), 0.5 * extent, 1.0)
        for n_planes in range(1, _MOST_PLANES + 1):
            columns = np.flatnonzero(kinds == n_planes)
            if columns.size:
                band = Band(columns, n_planes)
                band.fill(self.flat, self.row_step, self.column_step, n, self._cuts(band, extent), team)
                self.bands.append(band)
        self.order = np.concatenate([*(band.columns for band in self.bands), self.rest])
        sizes = [band.columns.shape[0] for band in self.bands]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @classmethod
    def normalised(cls, Z):
        """Wrap an output of :func:`reliefe.scaling.normalise`; no column is packed."""
        p, unknown = Z.shape[1], np.zeros(Z.shape[1], dtype=bool)
        return cls(Z, Profile(np.zeros(p), np.ones(p), unknown, unknown), None)

    def _cuts(self, band, extent):
        """Return what the values of a band are compared with; the last cut that means something is repeated."""
        low, most = self._low[band.columns], np.maximum(extent[band.columns], 1.0) - 1.0
        levels = np.minimum(np.arange(band.n_planes)[:, np.newaxis], most)
        return (low + levels).astype(self.flat.dtype)

    @property
    def n_packed(self):
        """How many columns are packed; they stand before the others."""
        return int(self._starts[-1])

    def in_given_order(self, values):
        """Put values by column (…, p) into the order of the columns of X."""
        out = np.empty_like(values)
        out[..., self.order] = values
        return out

    def part(self, lo):
        """Return the band that the column at place ``lo`` belongs to, and its first place; None, if to no band."""
        band = int(np.searchsorted(self._starts, lo, side="right")) - 1
        if band >= len(self.bands):
            return None, self.n_packed
        return self.bands[band], int(self._starts[band])

    def few_columns(self, most, as_bytes=False, packed_only=False):
        """Cut the places of the columns into pieces that a thread works on at a time, each of one band.

        Parameters
        ----------
        most : int
            How many columns a piece may have.
        as_bytes : bool
            Whether columns of no more than three values are worked on as bytes, not as floats.
        packed_only : bool
            Whether columns that are not packed are left out.

        Returns
        -------
        list of (int, int)
        """
        n, p = self.shape
        found = []
        for band, (start, stop) in zip([*self.bands, None], pairwise([*self._starts, p]), strict=True):
            size = n if as_bytes and band is not None and band.halves else 8 * n
            width = max(1, min(most, max(64, min(_CACHED // size, 1024))))
            if band is None and packed_only:
                continue
            if band is None:
                found += [(start + lo, start + hi) for lo, hi in pieces(stop - start, width)]
                continue
            width = bits.WORD * max(1, width // bits.WORD)
            for first in range(start, stop, band.per_tile):
                length = min(stop - first, band.per_tile)
                found += [(first + lo, first + hi) for lo, hi in pieces(length, width)]
        return [(int(lo), int(hi)) for lo, hi in found]

    def values(self, lo, hi):
        """Return packed columns at ``lo … hi − 1`` as bytes, from :meth:`Band.values`."""
        band, start = self.part(lo)
        return band.values(lo - start, hi - start)

    def tile(self, lo, hi, rows=None):
        """Return the columns at ``lo … hi − 1`` of all rows, or of some, as float64 (rows, hi − lo)."""
        band, start = self.part(lo)
        if band is None:
            rows = self._rows if rows is None else rows
            out = np.empty((rows.shape[0], hi - lo), dtype=np.float64)
            self._normalised(rows, self.rest, lo - start, hi - start, out)
            return out
        values, columns = band.values(lo - start, hi - start), band.columns[lo - start : hi - start]
        values = values if rows is None else values[rows]
        out = np.empty((values.shape[0], hi - lo), dtype=np.float64)
        few.to_values(values, columns, self._low, self._step, self.shift, self.divisor, hi - lo, out)
        return out

    def rows(self, rows):
        """Return some rows, their columns in the order of X, as float64 (rows, p)."""
        out = np.empty((rows.shape[0], self.shape[1]), dtype=np.float64)
        self._normalised(rows, np.arange(self.shape[1]), 0, self.shape[1], out)
        return out

    def toarray(self):
        """Return all of it as a new float64 array (n, p), its columns in the order of X."""
        return self.rows(self._rows)

    def _normalised(self, rows, columns, lo, hi, out):
        given = (self.flat, self.row_step, self.column_step, rows, columns, self.shift, self.divisor)
        kernels.normalised(*given, lo, hi, out)

    def in_memory(self):
        """Return what kernels that read single values take: the matrix as it lies in memory, shift and divisor."""
        return self.flat, self.row_step, self.column_step, self.shift, self.divisor


def prepare(X, discrete, profile, n_jobs):
    """Bring columns to the scale of their differences, without a copy if that will do.

    As :func:`reliefe.scaling.prepare` for dense data.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Finite or NaN.
    discrete : bool ndarray of shape (p,), or None
        Columns whose difference is 0 or 1.
    profile : Profile
        What X holds.
    n_jobs : int or None
        Number of threads.

    Returns
    -------
    Z : Columns, or ndarray of shape (n, p)
        The latter where values are missing, or columns hold codes of categories.
    full : float64 ndarray of shape (p,), or None
        As there.

    Raises
    ------
    ValueError
        If the range of a column is too large for float64.
    """
    chosen = np.empty(0, dtype=np.int64) if discrete is None else np.flatnonzero(discrete)
    if not profile.known.all() or (chosen.size and (distinct_values(X[:, chosen]) > 2).any()):
        return normalise_mixed(X, np.zeros(X.shape[1], dtype=bool) if discrete is None else discrete)
    refuse_wide(shift_and_extent(profile.low, profile.high)[1])
    with Team(n_jobs) as team:
        return Columns(X, profile, team), None


def _kinds(profile):
    """Return in how many planes of bits each column is kept; 0, if it is not."""
    with np.errstate(over="ignore", invalid="ignore"):
        extent = profile.high - profile.low
    small = np.maximum(np.abs(profile.low), np.abs(profile.high)) < _LARGEST_WHOLE
    few_values = profile.whole & profile.known & small & (extent <= _MOST_PLANES)
    kinds = np.where(few_values, np.maximum(extent, 1.0), 0.0).astype(np.int64)
    if (kinds == 1).sum() < (kinds == 2).sum():  # then they are not worth a band of their own
        kinds[kinds == 1] = 2
    return kinds
