"""Fixed point: range-normalised values as whole numbers, whose sums do not depend on their order."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

import numpy as np
from scipy import sparse

from reliefe._threads import pieces
from reliefe.columns import Columns
from reliefe.kernels import distances as kernels

_COARSE_BITS = 25  # of 32-bit fixed point, which leaves room for sums of 127 values
_DEPTH = 124  # columns that are summed up at a time, in fours


def most_terms(Z):
    """No sum of the norms of two rows, with every value counted as 1 at most, exceeds this."""
    if isinstance(Z, Columns):
        stored = Z.not_zero()[0] if Z.bands else _most_stored(Z)
    else:
        stored = np.diff(Z.indptr) if sparse.issparse(Z) else np.count_nonzero(Z, axis=1)
    return max(1, 2 * int(np.max(stored, initial=0)))


def _most_stored(Z):
    """Largest number of values of a row that are not 0, or one that is as good to :class:`FixedPoint`."""
    n, p = Z.shape
    most = 0
    for lo, hi in pieces(n, max(1, 2**17 // p)):
        most = max(most, int(np.count_nonzero(Z.rows(np.arange(lo, hi)), axis=1).max()))
        if 2 * most >= p and (2 * most).bit_length() == (2 * p).bit_length():
            break
    return most


def fixed_point(terms, p):
    """Return the factor of the fixed point, and what rounding can do to a distance in it.

    Parameters
    ----------
    terms : int
        From :func:`most_terms`.
    p : int
        Number of columns.
    """
    bits = min(52, 61 - terms.bit_length())
    # A term is off by at most one unit, and by a few units in the last place of z where bits is near 52.
    return float(2**bits), min(terms, p) * (2.0 + 2.0 ** (bits - 49))


class FixedPoint:
    """Fixed-point numbers fine enough for Manhattan distances of the given rows.

    Parameters
    ----------
    Z : reliefe.columns.Columns, ndarray or csr_matrix of shape (n, p)
        Range-normalised rows.
    """

    def __init__(self, Z):
        terms = most_terms(Z)
        self.factor, tolerance = fixed_point(terms, Z.shape[1])
        self.tolerance = np.int64(int(tolerance))

    def __call__(self, values):
        """Return values as fixed-point numbers, int64."""
        return np.rint(values * self.factor).astype(np.int64)


@dataclass(frozen=True)
class FixedColumns:
    """The columns of a dense matrix in fixed point, rows side by side, for :func:`manhattan_dense`.

    Attributes
    ----------
    columns : int64 or uint32 ndarray of shape (p, n)
        Rows in the order in which they were asked for.
    sums : int64 ndarray of shape (n,)
        Sum of the values of each row.
    errors : int64 ndarray of shape (n,)
        By how much the values of each row are off in all: a distance is off by at most the sum of two of these.
        In units of the fixed point that was asked for, as ``unit``.
    unit : int
        What 1 in ``columns`` stands for.
    depth : int
        How many columns may be summed up at a time.
    """

    columns: np.ndarray
    sums: np.ndarray
    errors: np.ndarray
    unit: int
    depth: int

    @classmethod
    def exact(cls, Z, members, factor, team):
        """Copy the rows ``members`` of the columns of Z that are not packed in fixed point, as it is."""
        n, p = Z.shape[0], Z.rest.shape[0]
        columns = np.empty((p, n), dtype=np.int64)

        def part(lo, hi):
            tile = Z.tile(Z.n_packed + lo, Z.n_packed + hi)
            kernels.fixed_columns(tile, members, factor, 0, hi - lo, columns[lo:hi])

        team.each(part, few_columns(n, p))
        return cls(columns, columns.sum(axis=0), np.zeros(n, dtype=np.int64), 1, _DEPTH)

    @classmethod
    def coarse(cls, Z, members, factor, team):
        """Copy them rounded to 32 bits, which is quicker to sum up."""
        n, p = Z.shape[0], Z.rest.shape[0]
        bits = int(factor).bit_length() - 1 - _COARSE_BITS
        columns = np.empty((p, n), dtype=np.uint32)
        sums, errors, lock = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), Lock()

        def part(lo, hi):
            found = np.zeros((2, n), dtype=np.int64)
            tile = Z.tile(Z.n_packed + lo, Z.n_packed + hi)
            kernels.coarse_columns(tile, members, factor, bits, 0, hi - lo, columns[lo:hi], *found)
            with lock:
                np.add(sums, found[0], out=sums)
                np.add(errors, found[1], out=errors)

        team.each(part, few_columns(n, p))
        return cls(columns, sums, errors, 2**bits, min(_DEPTH, 2 ** (32 - _COARSE_BITS) - 1))

    def measure(self, unit, positions, mirrored, lo, hi, out):
        """Fill rows of ``out``: :func:`reliefe.kernels.distances.manhattan_dense`."""
        kernels.manhattan_dense(self.columns, self.sums, self.depth, unit, positions, mirrored, lo, hi, out)


def few_columns(n, p):
    """Pieces of p columns of n rows that are copied at a time."""
    return pieces(p, int(np.clip(2**17 // n, 16, 1024)))
