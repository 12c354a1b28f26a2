"""Where distances between rows come from: the columns themselves (ReliefF) or an embedding (ReliefE)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from reliefe.kernels import distances as kernels

METRICS = {"cosine": kernels.COSINE, "euclidean": kernels.EUCLIDEAN, "manhattan": kernels.MANHATTAN}


def _wide_pointers(Z):
    """Return the three arrays of a CSR or CSC matrix, pointers as int64 (they may exceed 2³¹)."""
    return Z.indptr.astype(np.int64), Z.indices, Z.data


class ColumnDistances:
    """Manhattan distances on range-normalised columns, in fixed point.

    Parameters
    ----------
    Z : ndarray or csr_matrix of shape (n, p)
        Output of :func:`reliefe.scaling.normalise`.

    Attributes
    ----------
    dtype : numpy dtype
        Type of the distances; their unit is 2 to the power ``-bits``.
    tolerance : int
        Two exact distances that are equal cannot end further apart than this.
    """

    dtype = np.dtype(np.int64)

    def __init__(self, Z):
        self.n_rows = Z.shape[0]
        self.is_sparse = sparse.issparse(Z)
        stored = np.diff(Z.indptr) if self.is_sparse else np.count_nonzero(Z, axis=1)
        # |z| ≤ 1, so no sum of two norms exceeds twice the largest number of non-zeros in a row.
        terms = max(1, 2 * int(stored.max(initial=0)))
        self.bits = min(52, 61 - terms.bit_length())
        self.factor = float(2**self.bits)
        # A term is off by at most one unit, and by a few units in the last place of z where bits is near 52.
        self.tolerance = np.int64(int(min(terms, Z.shape[1]) * (2.0 + 2.0 ** (self.bits - 49))))
        self._Z = Z
        if self.is_sparse:
            self._rows = (*_wide_pointers(Z)[:2], self._fixed(Z.data))
            by_column = sparse.csr_matrix((self._rows[2], Z.indices, Z.indptr), shape=Z.shape).tocsc()
            self._columns = _wide_pointers(by_column)
            self._norms = np.zeros(self.n_rows, dtype=np.int64)
            np.add.at(self._norms, np.repeat(np.arange(self.n_rows), stored), np.abs(self._rows[2]))

    def _fixed(self, values):
        return np.rint(values * self.factor).astype(np.int64)

    def block(self, rows, out, team):
        """Fill ``out`` (b × n) with the distances from ``rows`` (b,) to all rows."""
        if self.is_sparse:
            team.split(
                lambda lo, hi: kernels.manhattan_sparse(
                    rows, *self._rows, *self._columns, self._norms, lo, hi, out
                ),
                rows.shape[0],
            )
        else:
            queries = self._fixed(self._Z[rows])
            team.split(
                lambda lo, hi: kernels.manhattan_dense(queries, self._Z, self.factor, lo, hi, out),
                self.n_rows,
            )


class EmbeddedDistances:
    """Distances among embedded rows, or among the rows themselves where the embedding is skipped.

    Parameters
    ----------
    E : ndarray or csr_matrix of shape (n, d)
        Embedded rows, float64, finite.
    metric : {"cosine", "euclidean", "manhattan"}
        Cosine is 1 − cos; a row of zeros is at distance 1 from every other.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, E, metric):
        self.n_rows = E.shape[0]
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
        self.tolerance = 1e-12 * scale

    def block(self, rows, out, team):
        """Fill ``out`` (b × n) with the distances from ``rows`` (b,) to all rows."""
        if self.is_sparse:
            team.split(
                lambda lo, hi: kernels.metric_sparse(
                    rows, *self._rows, self._n_columns, self._norms, self._metric, lo, hi, out
                ),
                rows.shape[0],
            )
        else:
            team.split(
                lambda lo, hi: kernels.metric_dense(rows, self._E, self._norms, self._metric, lo, hi, out),
                rows.shape[0],
            )
