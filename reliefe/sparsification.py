"""Random sparsification that keeps the expectation (PrMS, Algorithm 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_random_state


def sparsify(
    X: Any, random_state: int | np.random.RandomState | None = None, epsilon: float | None = None
) -> Any:
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
    B, power = _in_units(X)
    if epsilon is not None:
        epsilon = np.ldexp(float(epsilon), -power)
    B = sparsify_in_place(B, check_random_state(random_state), epsilon)
    np.ldexp(B.data, power, out=B.data)
    return B


def sparsification_epsilon(X: Any) -> float:
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
    B, power = _in_units(X)
    return float(np.ldexp(_epsilon(B), power))


def _in_units(X):
    """Return a checked copy of X divided by a power of two, so that no sum overflows, and that power."""
    B = own_csr(checked(X))
    power = unit(B.data)
    np.ldexp(B.data, -power, out=B.data)
    return B, power


def checked(X):
    """Check what a user hands to a function of the embedding's modules."""
    return check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")


def unit(values):
    """Power of two of the largest absolute value; 0 where all are 0."""
    largest = max(-values.min(initial=0.0), values.max(initial=0.0))
    return int(np.frexp(largest)[1]) if largest > 0.0 else 0


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
