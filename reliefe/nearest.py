"""Exact Euclidean neighbours, for the latent dimension and for the embedding.

Matrix products are fast and lose digits by a known bound. They name the candidates of each row; the distances that
decide are computed again from the differences themselves.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from reliefe._threads import Team, pieces

_BLOCK_BYTES = 64 * 2**20
_STEPS = 1e10  # multiplications of a product, a fraction of a second
_PIECE_ROWS = 64


class NearestRows:
    """Search among fixed rows.

    Parameters
    ----------
    rows : float64 ndarray (C order) or canonical csr_matrix of shape (n, p)
        The rows searched in.
    n_jobs : int or None
        Number of threads that settle candidates. What is found depends on no number of threads, that of the matrix
        products included.
    """

    def __init__(self, rows, n_jobs=None):
        self.rows = rows
        self._n_jobs = n_jobs
        self._transposed = rows.T.tocsr() if sparse.issparse(rows) else rows.T
        self._squares = _squared_norms(rows)

    def among_themselves(self, k):
        """Find each row's k nearest other rows.

        Parameters
        ----------
        k : int
            1 … n − 1.

        Returns
        -------
        ids : int32 ndarray of shape (n, k)
            Row numbers, nearest first, ties to the lower number; a row is never among its own.
        distances : float64 ndarray of shape (n, k)
        """
        return self._search(self.rows, k, themselves=True)

    def of(self, queries, k):
        """Find the k nearest rows of each query.

        Parameters
        ----------
        queries : float64 ndarray (C order) or canonical csr_matrix of shape (m, p)
            Stored as the rows are.
        k : int
            1 … n.

        Returns
        -------
        ids : int32 ndarray of shape (m, k)
        distances : float64 ndarray of shape (m, k)
            As for :meth:`among_themselves`.
        """
        return self._search(queries, k, themselves=False)

    def _search(self, queries, k, themselves):
        # Imported here: compiled code, which `import reliefe.embedding` should not load.
        from reliefe.kernels import euclidean as kernels

        n, p = self.rows.shape
        m = queries.shape[0]
        ids = np.empty((m, k), dtype=np.int32)
        squares = np.empty((m, k), dtype=np.float64)
        query_squares = self._squares if themselves else _squared_norms(queries)
        # Norms and products are sums of p terms, each of them no larger in all than the largest squared norm.
        largest = max(query_squares.max(initial=0.0), self._squares.max(initial=0.0))
        slack = 4.0 * (p + 4.0) * np.finfo(np.float64).eps * largest
        width = self.rows.nnz / n if sparse.issparse(self.rows) else p
        step = int(np.clip(min(_BLOCK_BYTES // (8 * n), _STEPS / (n * max(1.0, width))), 1, max(1, m)))
        for start in range(0, m, step):
            stop = min(m, start + step)
            product = queries[start:stop] @ self._transposed
            rough = product.toarray() if sparse.issparse(product) else product
            rough *= -2.0
            rough += self._squares
            rough += query_squares[start:stop, np.newaxis]
            if themselves:
                rough[np.arange(stop - start), np.arange(start, stop)] = np.inf
            if sparse.issparse(queries):
                kernel, both = kernels.nearest_sparse, (*_arrays(queries), start, *_arrays(self.rows))
            else:
                kernel, both = kernels.nearest_dense, (queries, start, self.rows)
            found = (ids[start:stop], squares[start:stop])
            with Team(self._n_jobs) as team:
                team.each(_on(kernel, rough, slack, both, found), pieces(stop - start, _PIECE_ROWS))
        return ids, np.sqrt(squares)


def _on(kernel, rough, slack, both, found):
    return lambda lo, hi: kernel(rough, slack, *both, lo, hi, *found)


def _arrays(X):
    return X.indptr.astype(np.int64, copy=False), X.indices, X.data


def _squared_norms(X):
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X)
