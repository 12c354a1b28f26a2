"""Where distances between samples come from: features (ReliefF, the SURF rankers) or an embedding (ReliefE)."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from reliefe._threads import pieces
from reliefe.columns import Columns
from reliefe.fixed import FixedColumns, FixedPoint, few_columns, most_terms
from reliefe.kernels import distances as kernels
from reliefe.kernels import mixed_distances, screening
from reliefe.kernels.neighbours import nearest_first, nearest_per_class
from reliefe.packed import Blocks, add_packed, infinite, rounding

METRICS = {"cosine": kernels.COSINE, "euclidean": kernels.EUCLIDEAN, "manhattan": kernels.MANHATTAN}


def wide_pointers(Z):
    """Return the three arrays of a CSR or CSC matrix, pointers as int64 (they may exceed 2³¹)."""
    return Z.indptr.astype(np.int64), Z.indices, Z.data


_BLOCK_BYTES = 32 * 2**20
_PIECE_ROWS = 64  # rows a thread screens at a time
_ROW_BYTES = 2**20  # distances that a thread keeps between measuring and choosing
_FEW = 0.25  # share of a block's rows up to which it pays to measure these again one by one
_FEW_COLUMNS = 256  # that are measured again at a time
_STEPS = 4e8  # steps of a piece of work: well below a second, so that a fit can be interrupted
_SLACK_RATE = 1.01 * 2.0**-24  # what single precision can do to a distance, as a share of it
_FEW_VALUES = 2**20  # of a matrix that may be held once more, as 64-bit fixed point


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

    def places(self):
        """Return where each row stands in ``members``, (n,)."""
        places = np.empty(self.members.shape[0], dtype=np.int64)
        places[self.members] = np.arange(self.members.shape[0])
        return places


def _block_rows(bytes_per_row):
    return int(np.clip(_BLOCK_BYTES // bytes_per_row, 16, 4096))


class DenseColumns:
    """Neighbours by Manhattan distance on range-normalised columns of a dense matrix.

    Parameters
    ----------
    Z : reliefe.columns.Columns, or ndarray of shape (n, p)
        The rows; an array is an output of :func:`reliefe.scaling.normalise`.
    groups : Groups
        Who is looked for.

    Attributes
    ----------
    nearest_first : bool
        Whether ``find`` is to list neighbours by distance instead of by number.
    """

    nearest_first = False

    def __init__(self, Z, groups):
        n, p = Z.shape
        self._Z = Z if isinstance(Z, Columns) else Columns.normalised(Z)
        self.groups = groups
        self._fixed = FixedPoint(Z)
        self._matrix = self._single_values()
        self._columns = None
        self._position = groups.places()
        self._piece_rows = int(np.clip(4 * _STEPS / (n * p), 4, _PIECE_ROWS))
        self.block_rows = _block_rows(4 * n)
        self._buffer = None

    def _single_values(self):
        """Return the rows for kernels that measure some distances again; in fixed point if they are few."""
        n, p = self._Z.shape
        if n * p > _FEW_VALUES:
            return *self._Z.in_memory(), False
        fixed = self._fixed(self._Z.rows(np.arange(n)))
        return fixed.ravel(), p, 1, np.zeros(p), np.ones(p), True

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
            if self._columns is None:
                self._columns = FixedColumns.coarse(self._Z, groups.members, self._fixed.factor, team)
            columns, factor = self._columns, self._fixed.factor
            mirrored = bool(np.array_equal(positions, np.arange(positions[0], positions[0] + b)))

            def part(lo, hi):
                columns.measure(columns.unit / factor, positions, mirrored, lo, hi, screened)
                add_packed(
                    self._Z.bands, factor, 1.0 / factor, groups.members, positions, mirrored, lo, hi, screened
                )

            team.each(part, pieces(b, self._piece_rows), advance=phases.advance)
        # What is packed differs from its fixed point by less than the tolerance, and takes two roundings a band.
        slack = 2.0 * float(columns.errors.max()) / factor
        slack_rate = _SLACK_RATE
        if self._Z.bands:
            slack += float(self._fixed.tolerance) / factor
            slack_rate *= 1 + 2 * len(self._Z.bands)
        with phases("neighbours"):
            team.each(
                lambda lo, hi: screening.nearest_screened(
                    screened,
                    self._matrix,
                    positions,
                    groups.members,
                    groups.class_ptr,
                    groups.segment_ptr,
                    groups.k,
                    self._fixed.factor,
                    self._fixed.tolerance,
                    slack,
                    slack_rate,
                    lo,
                    hi,
                    neighbours,
                    counts,
                ),
                pieces(b, max(_PIECE_ROWS, -(-b // (4 * team.size)))),
            )
            if self.nearest_first:
                fixed = self._fixed.factor, self._fixed.tolerance
                team.split(
                    lambda lo, hi: screening.nearest_first(
                        self._matrix, rows, groups.segment_ptr, counts, *fixed, lo, hi, neighbours
                    ),
                    b,
                )


class ExactColumns(Blocks):
    """As :class:`DenseColumns`, with all distances in fixed point, since the adaptive number sorts them all."""

    def __init__(self, Z, groups):
        super().__init__(Z, groups, np.int64, 8)
        self._fixed = FixedPoint(Z)
        self.tolerance = self._fixed.tolerance
        self._columns = None

    def _measure(self, positions, mirrored, out, team, advance):
        Z, members, factor = self._Z, self.groups.members, self._fixed.factor
        if self._columns is None:
            self._columns = FixedColumns.exact(Z, members, factor, team)

        def part(lo, hi):
            self._columns.measure(1, positions, mirrored, lo, hi, out)
            add_packed(Z.bands, factor, 1.0, members, positions, mirrored, lo, hi, out)

        team.each(part, pieces(positions.shape[0], self._piece_rows), advance=advance)


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
                kernels.manhattan_rows(own, others, factor, found[:, lo:hi])

        most = int(_STEPS / (4.0 * rows.shape[0] * Z.shape[1]))
        team.each(part, pieces(n, int(np.clip(most, 1, -(-n // team.size)))))
        rest = (self._members, places, False, 0, rows.shape[0], found)
        add_packed(Z.bands, factor, 1.0, *rest)
        out[rows] = found
        out[:, places] = out[rows, first : first + b].T
        return rows


class _Measured:
    """Neighbours from distances to all rows, a few rows at a time.

    Parameters
    ----------
    groups : Groups
        Who is looked for.
    tolerance : number
        Distances this close are a tie.
    work_per_row : float
        Rough number of steps it takes to measure from one row; decides how many rows make a piece.
    """

    dtype: np.dtype = np.dtype(np.float64)
    nearest_first = False  # as in DenseColumns

    def __init__(self, groups, tolerance, work_per_row):
        self.groups = groups
        n = groups.members.shape[0]
        self.tolerance = self.dtype.type(tolerance)
        self.work_per_row = work_per_row
        self._position = groups.places()
        self.block_rows = max(1, n)
        self.piece_rows = int(np.clip(min(_ROW_BYTES // (8 * n), _STEPS / work_per_row), 1, 64))

    def find(self, rows, neighbours, counts, team, phases):
        """Fill ``neighbours`` and ``counts`` for ``rows`` (b,), at most ``block_rows`` of them."""
        groups, b = self.groups, rows.shape[0]
        positions = self._position[rows]
        spare = deque()  # what a piece needs for itself, handed on to later pieces

        def piece(lo, hi):
            try:
                measured, guesses, seconds = spare.pop()
            except IndexError:
                measured = np.empty((self.piece_rows, groups.members.shape[0]), dtype=self.dtype)
                guesses, seconds = np.full((groups.class_ptr.shape[0] - 1, 2), 10.0), np.zeros(2)
            start = time.perf_counter()
            self.measure(rows[lo:hi], positions[lo:hi], measured)
            between = time.perf_counter()
            nearest_per_class(
                measured,
                positions[lo:hi],
                groups.members,
                groups.class_ptr,
                groups.segment_ptr,
                groups.k,
                self.tolerance,
                infinite(self.dtype),
                guesses,
                neighbours[lo:hi],
                counts[lo:hi],
            )
            if self.nearest_first:
                nearest_first(
                    measured,
                    self._position,
                    groups.segment_ptr,
                    counts[lo:hi],
                    self.tolerance,
                    neighbours[lo:hi],
                )
            seconds += (between - start, time.perf_counter() - between)
            spare.append((measured, guesses, seconds))

        start = time.perf_counter()
        team.each(piece, pieces(b, self.piece_rows), advance=phases.advance)
        phases.share(
            time.perf_counter() - start,
            dict(zip(("distances", "neighbours"), sum(each[2] for each in spare), strict=True)),
        )


def side_by_side(X, members):
    """Return the rows ``members`` of X, all of them in some order, side by side, as the columns of a new array."""
    columns = np.empty(X.shape[::-1])
    for lo, hi in few_columns(*X.shape):
        screening.side_by_side(X, members, lo, hi, columns)
    return columns


class SparseColumns(_Measured):
    """Neighbours by Manhattan distance on range-normalised columns of a sparse matrix, in fixed point.

    Parameters
    ----------
    Z : csr_matrix of shape (n, p)
        Output of :func:`reliefe.scaling.normalise`.
    groups : Groups
        Who is looked for.
    """

    dtype: np.dtype = np.dtype(np.int64)

    def __init__(self, Z, groups):
        self._fixed = FixedPoint(Z)
        n = Z.shape[0]
        by_column = sparse.csr_matrix((self._fixed(Z.data), Z.indices, Z.indptr), shape=Z.shape).tocsc()
        in_column = np.diff(by_column.indptr).astype(np.float64)
        super().__init__(groups, self._fixed.tolerance, n + float(in_column @ in_column) / n)
        self._rows = wide_pointers(Z)
        self._columns = (by_column.indptr.astype(np.int64), by_column.indices, by_column.data)
        self._norms = np.zeros(n, dtype=np.int64)
        by_column.indices[:] = self._position[by_column.indices]
        np.add.at(self._norms, by_column.indices, np.abs(by_column.data))

    def measure(self, rows, positions, out):
        """Put the distances from ``rows``, which stand at ``positions``, to all rows into ``out`` (≥ b, n)."""
        kernels.manhattan_sparse(rows, *self._rows, self._fixed.factor, *self._columns, self._norms, out)


class MixedColumns(_Measured):
    """Neighbours where values are missing or columns hold codes: differences over columns known in both rows.

    Their sum is multiplied by p over the number of these columns; two rows that know none in common are p apart.
    Values are rounded to multiples of a power of two for which every sum of floats is exact, so that distances are
    the same for dense and sparse storage and in any order.

    Parameters
    ----------
    Z : ndarray or csr_matrix of shape (n, p)
        Output of :func:`reliefe.scaling.normalise_mixed`.
    groups : Groups
        Who is looked for.
    """

    def __init__(self, Z, groups):
        n, p = Z.shape
        self.is_sparse = sparse.issparse(Z)
        unknown = np.isnan(Z.data if self.is_sparse else Z)
        if self.is_sparse:
            per_row = np.bincount(np.repeat(np.arange(n), np.diff(Z.indptr))[unknown], minlength=n)
        else:
            per_row = unknown.sum(axis=1)
        unit, tolerance = rounding(most_terms(Z), p, int(per_row.max(initial=0)))
        if self.is_sparse:
            rounded = sparse.csr_matrix((np.rint(Z.data / unit) * unit, Z.indices, Z.indptr), shape=Z.shape)
            by_column = rounded.tocsc()
            in_column = np.diff(by_column.indptr).astype(np.float64)
            super().__init__(groups, tolerance, n + float(in_column @ in_column) / n)
            self._rows = wide_pointers(rounded)
            by_column.indices[:] = self._position[by_column.indices]
            self._columns = (by_column.indptr.astype(np.int64), by_column.indices, by_column.data)
            sizes = np.minimum(np.abs(by_column.data), 1.0)
            sizes[np.isnan(sizes)] = 0.0
            self._norms = np.zeros(n, dtype=np.float64)
            np.add.at(self._norms, by_column.indices, sizes)
            self._unknown = per_row[groups.members].astype(np.int64)
            self._n_columns = p
        else:
            super().__init__(groups, tolerance, float(n * p))
            columns = side_by_side(Z, groups.members)
            columns /= unit
            np.rint(columns, out=columns)
            columns *= unit
            self._columns = columns
            self._missing = bool(unknown.any())

    def measure(self, rows, positions, out):
        """Put the distances from ``rows``, which stand at ``positions``, to all rows into ``out`` (≥ b, n)."""
        if self.is_sparse:
            mixed_distances.distances_sparse(
                rows, *self._rows, *self._columns, self._norms, self._unknown, self._n_columns, out
            )
        else:
            b = positions.shape[0]
            out[:b] = 0.0
            known = np.zeros((b if self._missing else 0, out.shape[1]))
            mixed_distances.add_dense(self._columns, self._missing, positions, False, 0, b, out, known)
            if self._missing:
                mixed_distances.stretch(self._columns.shape[0], known, 0, b, out)


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
        self._metric = METRICS[metric]
        self.is_sparse = sparse.issparse(E)
        if self.is_sparse:
            E = E[groups.members]
            self._rows = wide_pointers(E)
            self._n_columns = E.shape[1]
            self._norms = np.sqrt(np.asarray(E.multiply(E).sum(axis=1), dtype=np.float64).ravel())
            spread = E.max(axis=0).toarray().ravel() - E.min(axis=0).toarray().ravel()
        else:
            self._columns = side_by_side(E, groups.members)
            self._norms = np.sqrt(np.einsum("ij,ij->j", self._columns, self._columns))
            spread = np.ptp(E, axis=0)
        scale = {
            "cosine": 1.0,
            "euclidean": float(np.sqrt(np.square(spread).sum())),
            "manhattan": float(spread.sum()),
        }[metric]
        super().__init__(groups, 1e-12 * scale, float(E.nnz if self.is_sparse else E.size))

    def measure(self, rows, positions, out):
        """Put the distances from ``rows``, which stand at ``positions``, to all rows into ``out`` (≥ b, n)."""
        if self.is_sparse:
            kernels.metric_sparse(positions, *self._rows, self._n_columns, self._norms, self._metric, out)
        else:
            kernels.metric_dense(positions, self._columns, self._norms, self._metric, out)
