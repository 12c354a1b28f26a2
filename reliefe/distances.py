"""Where distances between rows come from: the columns themselves (ReliefF) or an embedding (ReliefE)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from reliefe.kernels import distances as kernels
from reliefe.kernels import screening
from reliefe.kernels.neighbours import nearest_per_class

METRICS = {"cosine": kernels.COSINE, "euclidean": kernels.EUCLIDEAN, "manhattan": kernels.MANHATTAN}


def _wide_pointers(Z):
    """Return the three arrays of a CSR or CSC matrix, pointers as int64 (they may exceed 2³¹)."""
    return Z.indptr.astype(np.int64), Z.indices, Z.data


_BLOCK_BYTES = 32 * 2**20
_PIECE_ROWS = 64  # rows a thread screens at a time


@dataclass(frozen=True)
class Groups:
    """Rows grouped by class, and how many neighbours are wanted from each.

    Attributes
    ----------
    members : int64 ndarray of shape (n,)
        Row numbers grouped by class, ascending inside a class.
    class_ptr : int64 ndarray of shape (c + 1,)
        Class q holds ``members[class_ptr[q]:class_ptr[q + 1]]``.
    segment_ptr : int64 ndarray of shape (c + 1,)
        Where the neighbours of each class stand in a row of the neighbour array.
    k : int
        Neighbours per class; 0 for the adaptive number.
    """

    members: np.ndarray
    class_ptr: np.ndarray
    segment_ptr: np.ndarray
    k: int

    @classmethod
    def of(cls, codes, n_classes, n_neighbors):
        """Group rows by ``codes`` (n,); ``n_neighbors`` None stands for the adaptive number."""
        sizes = np.bincount(codes, minlength=n_classes)
        capacity = sizes if n_neighbors is None else np.minimum(sizes, n_neighbors)
        return cls(
            members=np.argsort(codes, kind="stable").astype(np.int64),
            class_ptr=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            segment_ptr=np.concatenate(([0], np.cumsum(capacity))).astype(np.int64),
            k=0 if n_neighbors is None else int(min(n_neighbors, codes.shape[0])),
        )


def _block_rows(bytes_per_row):
    return int(np.clip(_BLOCK_BYTES // bytes_per_row, 16, 4096))


class _FixedPoint:
    """Fixed-point numbers fine enough for Manhattan distances of the given rows.

    Parameters
    ----------
    Z : ndarray or csr_matrix of shape (n, p)
        Range-normalised rows.
    """

    def __init__(self, Z):
        stored = np.diff(Z.indptr) if sparse.issparse(Z) else np.count_nonzero(Z, axis=1)
        # |z| ≤ 1, so no sum of two norms exceeds twice the largest number of non-zeros in a row.
        terms = max(1, 2 * int(stored.max(initial=0)))
        bits = min(52, 61 - terms.bit_length())
        self.factor = float(2**bits)
        # A term is off by at most one unit, and by a few units in the last place of z where bits is near 52.
        self.tolerance = np.int64(int(min(terms, Z.shape[1]) * (2.0 + 2.0 ** (bits - 49))))

    def __call__(self, values):
        return np.rint(values * self.factor).astype(np.int64)


class DenseColumns:
    """Neighbours by Manhattan distance on range-normalised columns of a dense matrix.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Output of :func:`reliefe.scaling.normalise`.
    groups : Groups
        Who is looked for.
    """

    def __init__(self, Z, groups):
        n, p = Z.shape
        self._Z = Z
        self.groups = groups
        self._fixed = _FixedPoint(Z)
        self._columns = np.ascontiguousarray(Z[groups.members].T, dtype=np.float32)
        self._position = np.empty(n, dtype=np.int64)
        self._position[groups.members] = np.arange(n)
        # Rounding of the two values of every difference, and of differences and sums.
        self._slack = p * 2.0**-23
        self._slack_rate = 1.01 * screening.depth(p) * 2.0**-24
        self.block_rows = _block_rows(4 * n)
        self._buffer = None

    def find(self, rows, neighbours, counts, team, phases):
        """Fill ``neighbours`` and ``counts`` for ``rows`` (b,), at most ``block_rows`` of them.

        Rows that follow one another in ``groups.members`` cost less: distances among them are measured once.
        """
        groups, b = self.groups, rows.shape[0]
        if self._buffer is None:
            self._buffer = np.empty((b, self._Z.shape[0]), dtype=np.float32)
        screened = self._buffer[:b]
        positions = self._position[rows]
        with phases("distances"):
            mirrored = bool(np.array_equal(positions, np.arange(positions[0], positions[0] + b)))
            team.each(
                lambda lo, hi: screening.screen(self._columns, positions, mirrored, lo, hi, screened),
                [(lo, min(b, lo + _PIECE_ROWS)) for lo in range(0, b, _PIECE_ROWS)],
            )
        with phases("neighbours"):
            team.split(
                lambda lo, hi: screening.nearest_screened(
                    screened,
                    self._Z,
                    positions,
                    groups.members,
                    groups.class_ptr,
                    groups.segment_ptr,
                    groups.k,
                    self._fixed.factor,
                    self._fixed.tolerance,
                    self._slack,
                    self._slack_rate,
                    lo,
                    hi,
                    neighbours,
                    counts,
                ),
                b,
            )


class _Measured:
    """Neighbours from a block of distances to all rows."""

    dtype = np.dtype(np.float64)

    def __init__(self, n, groups, tolerance):
        self.groups = groups
        self._tolerance = self.dtype.type(tolerance)
        self.block_rows = _block_rows(8 * n)
        self._n = n
        self._buffer = None

    def find(self, rows, neighbours, counts, team, phases):
        """Fill ``neighbours`` and ``counts`` for ``rows`` (b,), at most ``block_rows`` of them."""
        groups, b = self.groups, rows.shape[0]
        if self._buffer is None:
            self._buffer = np.empty((b, self._n), dtype=self.dtype)
        measured = self._buffer[:b]
        with phases("distances"):
            team.split(lambda lo, hi: self._measure(rows, lo, hi, measured), b)
        with phases("neighbours"):
            team.split(
                lambda lo, hi: nearest_per_class(
                    measured,
                    rows,
                    groups.members,
                    groups.class_ptr,
                    groups.segment_ptr,
                    groups.k,
                    self._tolerance,
                    lo,
                    hi,
                    neighbours,
                    counts,
                ),
                b,
            )


class SparseColumns(_Measured):
    """Neighbours by Manhattan distance on range-normalised columns of a sparse matrix, in fixed point.

    Parameters
    ----------
    Z : csr_matrix of shape (n, p)
        Output of :func:`reliefe.scaling.normalise`.
    groups : Groups
        Who is looked for.
    """

    dtype = np.dtype(np.int64)

    def __init__(self, Z, groups):
        fixed = _FixedPoint(Z)
        super().__init__(Z.shape[0], groups, fixed.tolerance)
        values = fixed(Z.data)
        self._rows = (Z.indptr.astype(np.int64), Z.indices, values)
        self._columns = _wide_pointers(
            sparse.csr_matrix((values, Z.indices, Z.indptr), shape=Z.shape).tocsc()
        )
        self._norms = np.zeros(Z.shape[0], dtype=np.int64)
        np.add.at(self._norms, np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr)), np.abs(values))

    def _measure(self, rows, lo, hi, out):
        kernels.manhattan_sparse(rows, *self._rows, *self._columns, self._norms, lo, hi, out)


class EmbeddedRows(_Measured):
    """Neighbours among embedded rows, or among the rows themselves where the embedding is skipped.

    Parameters
    ----------
    E : ndarray or csr_matrix of shape (n, d)
        Embedded rows, float64, finite.
    metric : {"cosine", "euclidean", "manhattan"}
        Cosine is 1 − cos; a row of zeros is at distance 1 from every other.
    groups : Groups
        Who is looked for.
    """

    def __init__(self, E, metric, groups):
        self.is_sparse = sparse.issparse(E)
        self._metric = METRICS[metric]
        if self.is_sparse:
            self._rows = _wide_pointers(E)
            self._n_columns = E.shape[1]
            self._norms = np.sqrt(np.asarray(E.multiply(E).sum(axis=1), dtype=np.float64).ravel())
            spread = E.max(axis=0).toarray().ravel() - E.min(axis=0).toarray().ravel()
        else:
            self._E = np.ascontiguousarray(E, dtype=np.float64)
            self._norms = np.sqrt(np.square(self._E).sum(axis=1))
            spread = np.ptp(self._E, axis=0)
        scale = {
            "cosine": 1.0,
            "euclidean": float(np.sqrt(np.square(spread).sum())),
            "manhattan": float(spread.sum()),
        }[metric]
        super().__init__(E.shape[0], groups, 1e-12 * scale)

    def _measure(self, rows, lo, hi, out):
        if self.is_sparse:
            kernels.metric_sparse(rows, *self._rows, self._n_columns, self._norms, self._metric, lo, hi, out)
        else:
            kernels.metric_dense(rows, self._E, self._norms, self._metric, lo, hi, out)
