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
from reliefe.bands import Band, kinds_of
from reliefe.chosen import Chosen
from reliefe.kernels import bits, few
from reliefe.kernels import columns as kernels
from reliefe.scaling import distinct_values, refuse_wide, shift_and_extent

_LOOKED_AT = 2**22  # values that a thread looks at before anything else gets a chance
_CACHED = 2**20  # bytes of a few columns of all rows, which stay in the second-level cache
_LARGEST_WHOLE = 2.0**53
_LEAST_PACKED = 32  # columns of few values below which it does not pay to treat them apart


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
        Smallest and largest known value; 0 where none is known.
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
        low, high = low.astype(np.float64), high.astype(np.float64)
        unknown = low > high
        low[unknown] = high[unknown] = 0.0
        return cls(low, high, whole != 0, known != 0)

    @property
    def extent(self):
        """Range of each column; infinite where float64 cannot hold it."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.high - self.low

    @property
    def exact(self):
        """Whether all values of a column are whole numbers small enough for their differences to be exact."""
        return self.whole & (np.maximum(np.abs(self.low), np.abs(self.high)) < _LARGEST_WHOLE)

    def n_distinct(self, X, chosen, team):
        """Count the distinct known values of some columns of X (n, p), the matrix that was looked at.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            That matrix.
        chosen : int64 ndarray of shape (c,)
            Numbers of columns, rising.
        team : reliefe._threads.Team
            Threads.

        Returns
        -------
        int64 ndarray of shape (c,)
        """
        counts = np.zeros(chosen.shape[0], dtype=np.int64)
        narrow = (self.exact & (self.extent < bits.WORD))[chosen]
        some, n = chosen[narrow], X.shape[0]
        found, (flat, row_step, column_step) = np.zeros(some.shape[0], dtype=np.uint64), _strided(X)
        given = (flat, row_step, column_step, some, self.low[some].astype(flat.dtype), 0, n)
        width = max(1, _LOOKED_AT // n)
        team.each(lambda lo, hi: kernels.presence(*given, lo, hi, found), pieces(some.shape[0], width))
        for value in range(bits.WORD):
            counts[narrow] += (found >> np.uint64(value) & np.uint64(1)).astype(np.int64)
        places = np.flatnonzero(~narrow)
        for lo, hi in pieces(places.shape[0], max(1, 2**17 // n)):
            counts[places[lo:hi]] = distinct_values(X[:, chosen[places[lo:hi]]])
        return counts

    @property
    def infinite(self):
        """Whether any value is infinite."""
        return bool(np.isposinf(self.high).any() or np.isneginf(self.low).any())

    def among(self, columns):
        """Return the profile of some columns, given as numbers."""
        return Profile(self.low[columns], self.high[columns], self.whole[columns], self.known[columns])


def kept_as_bits(profile):
    """Say which columns are kept as bits where none holds categories.

    Parameters
    ----------
    profile : Profile
        What the columns hold.

    Returns
    -------
    bool ndarray of shape (p,)
    """
    return kinds_of(profile, np.zeros(profile.low.shape[0], dtype=bool)) != 0


class Columns:
    """The columns of a dense matrix divided by their range, those of few values kept as bits.

    Columns stand in an order of their own: band by band, then those that are not packed. Columns of categories hold
    codes, and missing values are NaN, as :func:`reliefe.scaling.normalise_mixed` has it.

    Parameters
    ----------
    X : ndarray or reliefe.chosen.Chosen of shape (n, p)
        The caller's matrix, of any type of numbers, finite or NaN. Not modified, and not copied.
    profile : Profile
        What it holds.
    team : reliefe._threads.Team
        Threads for the packing.
    coded : bool ndarray of shape (p,), optional
        Columns of categories.

    Attributes
    ----------
    shape : (int, int)
        As of X.
    order : int64 ndarray of shape (p,)
        Which column of X stands where.
    bands : list of reliefe.bands.Band
        In their order.
    rest : int64 ndarray
        Columns that are not packed.
    has_gaps : bool
        Whether values are missing.
    """

    def __init__(self, X, profile, team, coded=None):
        n, p = self.shape = X.shape
        places = np.arange(p)  # of the columns in memory
        if isinstance(X, Chosen):
            X, places = X.whole, X.columns
        self._X = X  # who owns the memory
        self.flat, self.row_step, self.column_step = _strided(X)
        coded = np.zeros(p, dtype=bool) if coded is None else coded
        self.shift, extent = shift_and_extent(profile.low, profile.high)
        self.divisor = np.where(coded, 1.0, np.where(extent == 0.0, np.inf, extent))
        self._low, self._rows, self.has_gaps = profile.low, np.arange(n), not profile.known.all()
        kinds = kinds_of(profile, coded)
        if (kinds != 0).sum() < min(p, _LEAST_PACKED):
            kinds[:] = 0
        self.rest = np.flatnonzero(kinds == 0)
        self._step = np.where((kinds == 2) & (extent < 2.0), 0.5 * extent, 1.0)
        self._found = self._values_of_categories(coded & ~profile.exact)
        self.bands = []
        for gaps in (False, True):
            for kind in np.unique(kinds[(profile.known != gaps) & (kinds != 0)]).tolist():
                band = Band(
                    np.flatnonzero((profile.known != gaps) & (kinds == kind)), abs(kind), kind < 0, gaps
                )
                where = (self.flat, self.row_step, self.column_step, places[band.columns])
                band.fill(*where, n, self._cuts(band, extent), team)
                self.bands.append(band)
        self.order = np.concatenate([*(band.columns for band in self.bands), self.rest])
        sizes = [band.columns.shape[0] for band in self.bands]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @classmethod
    def normalised(cls, Z):
        """Wrap an output of :func:`reliefe.scaling.normalise`; no column is packed."""
        p = Z.shape[1]
        return cls(Z, Profile(np.zeros(p), np.ones(p), np.zeros(p, dtype=bool), np.ones(p, dtype=bool)), None)

    def _values_of_categories(self, chosen):
        """Return the values of categories that are no whole numbers, by column, and which of them has code 0."""
        found = {}
        for j in np.flatnonzero(chosen).tolist():
            values = self._X[:, j].astype(np.float64)
            values = np.unique(values[~np.isnan(values)])
            # 0 gets the code 0; where there is no 0, the lowest value does.
            place = int(np.searchsorted(values, 0.0))
            found[j] = values, place if place < values.shape[0] and values[place] == 0.0 else 0
            self.shift[j] = 0.0
        return found

    def _cuts(self, band, extent):
        """Return what the values of a band are compared with; the last cut that means something is repeated."""
        levels = np.arange(band.n_planes)[:, np.newaxis]
        if not band.categories:
            levels = np.minimum(levels, np.maximum(extent[band.columns], 1.0) - 1.0)
        return (self._low[band.columns] + levels).astype(self.flat.dtype)

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

    def few_columns(self, most, as_bytes=False, which="all"):
        """Cut the places of the columns into pieces that a thread works on at a time, each of one band.

        Parameters
        ----------
        most : int
            How many columns a piece may have.
        as_bytes : bool
            Whether columns whose differences are multiples of a half are worked on as bytes, not as floats.
        which : {"all", "packed", "rest"}
            Which columns.

        Returns
        -------
        list of (int, int)
        """
        n, p = self.shape
        found = []
        for band, (start, stop) in zip([*self.bands, None], pairwise([*self._starts, p]), strict=True):
            if which == ("packed" if band is None else "rest"):
                continue
            size = n if as_bytes and band is not None and band.halves else 8 * n
            width = max(1, min(most, max(64, min(_CACHED // size, 1024))))
            if band is None:
                found += [(start + lo, start + hi) for lo, hi in pieces(stop - start, width)]
                continue
            width = bits.WORD * max(1, width // bits.WORD)
            for first in range(start, stop, band.per_tile):
                length = min(stop - first, band.per_tile)
                found += [(first + lo, first + hi) for lo, hi in pieces(length, width)]
        return [(int(lo), int(hi)) for lo, hi in found]

    def tile(self, lo, hi, rows=None):
        """Return the columns at ``lo … hi − 1`` of all rows, or of some, as float64 (rows, hi − lo)."""
        band, start = self.part(lo)
        if band is None:
            return self._made(self._rows if rows is None else rows, self.rest[lo - start : hi - start])
        values, columns = band.values(lo - start, hi - start), band.columns[lo - start : hi - start]
        values = values if rows is None else values[rows]
        out = np.empty((values.shape[0], hi - lo), dtype=np.float64)
        few.to_values(values, columns, self._low, self._step, self.shift, self.divisor, hi - lo, out)
        return out

    def rows(self, rows):
        """Return some rows, their columns in the order of X, as float64 (rows, p)."""
        return self._made(rows, np.arange(self.shape[1]))

    def column(self, j):
        """Return column j of X as float64 (n,)."""
        return self._made(self._rows, np.array([j]))[:, 0]

    def toarray(self):
        """Return all of it as a new float64 array (n, p), its columns in the order of X."""
        return self.rows(self._rows)

    def _made(self, rows, columns):
        """Make some columns of some rows from the caller's matrix, as float64."""
        out = np.empty((rows.shape[0], columns.shape[0]), dtype=np.float64)
        given = (self.flat, self.row_step, self.column_step, rows, columns, self.shift, self.divisor)
        kernels.normalised(*given, 0, columns.shape[0], out)
        for place, j in enumerate(columns.tolist() if self._found else ()):
            if j in self._found:
                values, zero = self._found[j]
                known = ~np.isnan(out[:, place])
                out[known, place] = np.searchsorted(values, out[known, place]) - zero
        return out

    def in_memory(self):
        """Return what kernels that read single values take: the matrix as it lies in memory, shift and divisor."""
        return self.flat, self.row_step, self.column_step, self.shift, self.divisor

    def not_zero(self):
        """Count the values of each row that are not 0 (among them, missing ones), and those that are missing.

        Returns
        -------
        stored, missing : int64 ndarrays of shape (n,)
        """
        stored, missing = np.zeros((2, self.shape[0]), dtype=np.int64)
        start = 0
        for band in self.bands:
            stop = start + band.columns.shape[0]
            if (self.shift[band.columns] == self._low[band.columns]).all():
                found = band.not_zero()
                stored += found[0]
                missing += found[1]
            else:
                self._look_for_zeros(start, stop, stored, missing)
            start = stop
        self._look_for_zeros(start, self.shape[1], stored, missing)
        return stored, missing

    def _look_for_zeros(self, start, stop, stored, missing):
        for lo, hi in self.few_columns(1024):
            if start <= lo < stop:
                tile = self.tile(lo, hi)
                stored += np.count_nonzero(tile, axis=1)
                missing += np.isnan(tile).sum(axis=1)


def prepare(X, discrete, profile, n_jobs):
    """Bring columns to the scale of their differences, without a copy.

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
    Z : Columns
        The columns.
    full : float64 ndarray of shape (p,), or None
        As there, in the order in which the columns stand in ``Z``.

    Raises
    ------
    ValueError
        If the range of a column is too large for float64.
    """
    coded = np.zeros(X.shape[1], dtype=bool)
    with Team(n_jobs) as team:
        if discrete is not None and discrete.any():
            chosen = np.flatnonzero(discrete)
            coded[chosen] = profile.n_distinct(X, chosen, team) > 2
        refuse_wide(np.where(coded, 0.0, profile.extent))
        Z = Columns(X, profile, team, coded)
    if profile.known.all() and not coded.any():
        return Z, None
    return Z, np.where(coded, 0.0, 1.0)[Z.order]
