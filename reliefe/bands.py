"""Columns of few values, kept as bits (:mod:`reliefe.kernels.bits`)."""

from __future__ import annotations

import numpy as np

from reliefe._threads import pieces
from reliefe.kernels import bits

PACKED_AT_ONCE = 2**22  # values that a thread packs before anything else gets a chance
_WORDS = 128  # in a row of a tile: 1 KiB
_MOST_PLANES = 3
_MOST_CATEGORIES = 8


class Band:
    """Columns that are kept as equally many bits.

    Parameters
    ----------
    columns : int64 ndarray of shape (c,)
        Their numbers in the matrix, rising.
    n_planes : int
        Bits of a value: its distance from the smallest one in its column at most, or the number of categories.
    categories : bool
        Whether there is a bit for each category, of which two differ where two values do.
    gaps : bool
        Whether values are missing.

    Attributes
    ----------
    packed : uint64 ndarray of shape (tiles, n, words)
        From :func:`reliefe.kernels.bits.pack`; None before :meth:`fill`.
    width : int
        Words of a plane in a row of a tile.
    per_tile : int
        Columns in a tile.
    """

    def __init__(self, columns, n_planes, categories=False, gaps=False):
        self.columns, self.n_planes, self.categories, self.gaps = columns, n_planes, categories, gaps
        self._all_planes = n_planes + gaps
        words = -(-columns.shape[0] // bits.WORD)
        most = max(1, _WORDS // self._all_planes)
        tiles = -(-words // most)
        self.width = -(-words // tiles)
        if tiles > 1:
            self.width = min(most, 8 * -(-self.width // 8))  # whole vectors
        self.per_tile = self.width * bits.WORD
        self._tiles = -(-columns.shape[0] // self.per_tile)
        self.packed = None

    def fill(self, flat, row_step, column_step, columns, n, cuts, team):
        """Pack the columns, which in memory have the numbers ``columns`` (c,).

        ``cuts`` (n_planes, c) are those of :func:`reliefe.kernels.bits.pack`.
        """
        self.packed = np.empty((self._tiles, n, self.width * self._all_planes), dtype=np.uint64)
        given = (flat, row_step, column_step, columns, cuts, self.categories, self.gaps)
        rows = max(bits.WORD, PACKED_AT_ONCE // self.columns.shape[0])
        team.each(
            lambda lo, hi: bits.pack(*given, lo, hi, self.packed), pieces(n, min(rows, -(-n // team.size)))
        )

    @property
    def halves(self):
        """Whether all differences are whole multiples of a half, so that no sum of them is rounded."""
        return self.categories or self.n_planes <= 2

    @property
    def unit(self):
        """By how much two values differ that differ in one bit; rounded with three planes."""
        return 0.5 if self.categories else 1.0 / self.n_planes

    def weights(self, one):
        """Return what each plane counts (n_planes,) in fixed point, where 1 is ``one``, a large power of two."""
        if self.halves:
            return np.full(self.n_planes, self.unit * one)
        return np.diff(np.rint(np.arange(self.n_planes + 1) / self.n_planes * one))

    def words(self, lo, hi):
        """Return the tile, and the words of each plane, that hold the columns at ``lo … hi − 1``."""
        tile, place = divmod(lo, self.per_tile)
        return tile, place // bits.WORD, -(-(place + hi - lo) // bits.WORD)

    def values(self, lo, hi):
        """Return the columns at ``lo … hi − 1``, of one tile and from a whole word on, as bytes (n, ≥ hi − lo).

        Values count from the smallest one of their column; 128 is a missing one.
        """
        tile, w0, w1 = self.words(lo, hi)
        n = self.packed.shape[1]
        found = np.empty((n, 8 * (w1 - w0)), dtype=np.uint64)
        bits.unpack(self.packed, tile, self.n_planes, self.gaps, self.categories, w0, w1, 0, n, found)
        return found.view(np.uint8)

    def not_zero(self):
        """Count the values of each row that are missing or not the smallest of their column, and the missing."""
        n = self.packed.shape[1]
        known, first = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        start = self.gaps * self.width

        if self.gaps:
            bits.count_set(self.packed, 0, self.width, 0, n, known)
        bits.count_set(self.packed, start, start + self.width, 0, n, first)
        missing = self.columns.shape[0] - known if self.gaps else np.zeros(n, dtype=np.int64)
        # The first plane is that of the smallest value, or of all others.
        return self.columns.shape[0] - first if self.categories else first + missing, missing


def kinds_of(profile, coded):
    """Say how each column is packed.

    Parameters
    ----------
    profile : reliefe.columns.Profile
        What the columns hold.
    coded : bool ndarray of shape (p,)
        Columns of categories.

    Returns
    -------
    int64 ndarray of shape (p,)
        The number of planes, less than 0 for categories; 0 for columns that are not packed.
    """
    extent = profile.extent
    suited = profile.exact | (extent == 0.0)
    kinds = np.where(suited & ~coded & (extent <= _MOST_PLANES), np.maximum(extent, 1.0), 0.0)
    kinds = np.where(suited & coded & (extent < _MOST_CATEGORIES), -1.0 - extent, kinds).astype(np.int64)
    for complete in (True, False):  # those of two values are not worth a band of their own if they are few
        chosen = profile.known == complete
        if (chosen & (kinds == 1)).sum() < (chosen & (kinds == 2)).sum():
            kinds[chosen & (kinds == 1)] = 2
    return kinds
