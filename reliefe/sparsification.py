"""Random sparsification that keeps the expectation (PrMS, Algorithm 1)."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state


def sparsify(X, random_state=None, epsilon=None):
    """Set small entries to zero or to the threshold at random, keeping the expectation (PrMS, Algorithm 1).

    With N = rows + columns, entries above ε / √N in absolute value are kept; any other entry x becomes
    sgn(x) · ε / √N with probability √N |x| / ε, else 0.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (m, p)
        Finite values. Not modified.
    random_state : int, RandomState instance or None
        Source of the random decisions; one number is drawn for each entry that may change, row by row.
    epsilon : float, optional
        ε, not negative: the error allowed. By default as :func:`sparsification_epsilon` estimates it.

    Returns
    -------
    csr_matrix of shape (m, p), float64
        Without stored zeros. Its expectation is X.

    Raises
    ------
    ValueError
        If ``epsilon`` is no finite number, or negative.
    """
    if epsilon is not None and not (np.isreal(epsilon) and np.isfinite(epsilon) and epsilon >= 0.0):
        raise ValueError(f"epsilon must be a finite number, not negative; got {epsilon!r}.")
    return sparse.csr_matrix(sparsify_in_place(own_csr(X), check_random_state(random_state), epsilon))


def sparsification_epsilon(X):
    """Estimate the error ε that :func:`sparsify` allows.

    It is the largest row or column sum of absolute values divided by N = rows + columns, which is the norm of the
    symmetric matrix with X and its transpose off the diagonal, per column (Section "Input sparsification").

    Parameters
    ----------
    X : array-like or sparse matrix of shape (m, p)
        Finite values. Not modified.

    Returns
    -------
    float
    """
    return float(_epsilon(own_csr(X)))


def own_csr(X):
    """Copy X to a canonical float64 csr_matrix without stored zeros."""
    B = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    B.sum_duplicates()
    B.eliminate_zeros()
    return B


def _epsilon(B):
    """As :func:`sparsification_epsilon`, for a float64 array in C order or a canonical CSR matrix."""
    from reliefe.kernels.sparsify import absolute_sums

    m, p = B.shape
    if sparse.issparse(B):
        size = np.abs(B.data)
        row_sums = np.bincount(np.repeat(np.arange(m), np.diff(B.indptr)), weights=size, minlength=m)
        column_sums = np.bincount(B.indices, weights=size, minlength=p)
    else:
        row_sums, column_sums = absolute_sums(B)
    return max(row_sums.max(), column_sums.max()) / (m + p)


def sparsify_in_place(B, rng, epsilon=None):
    """As :func:`sparsify`, for a float64 array in C order or a canonical CSR matrix that may be overwritten."""
    from reliefe.kernels.sparsify import count_small, decide

    m, p = B.shape
    values = B.data if sparse.issparse(B) else B.reshape(-1)
    threshold = (_epsilon(B) if epsilon is None else epsilon) / np.sqrt(m + p)
    decide(values, threshold, rng.random_sample(count_small(values, threshold)))
    if sparse.issparse(B):
        B.eliminate_zeros()
    return B
