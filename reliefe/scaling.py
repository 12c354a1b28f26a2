"""Range normalisation of columns: the scale on which every feature difference is taken.

The difference of two rows in column j is |x_ij − x_lj| / (max_j − min_j) (the paper's ReliefF; the range over
the rows given to ``fit``, implicit zeros of a sparse matrix counted). A difference does not change when a
constant is added to the column, so columns are shifted only as far as sparse storage allows: not at all where
0 lies between minimum and maximum, to a minimum of 0 elsewhere. Zeros stay zeros, every value ends in −1 … 1,
and dense and sparse storage of one matrix give the same numbers bit by bit.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

_ENTRIES = 2**17  # of a sparse matrix worked on at a time


def column_scaling(X):
    """Return shift and range of every column.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, p)
        Finite float64 values; CSR in canonical form (sorted, no duplicates).

    Returns
    -------
    shift : float64 ndarray of shape (p,)
        0 where min ≤ 0 ≤ max, the minimum elsewhere.
    extent : float64 ndarray of shape (p,)
        max − min; 0 marks a constant column.
    """
    if sparse.issparse(X):
        low = X.min(axis=0).toarray().ravel()
        high = X.max(axis=0).toarray().ravel()
    else:
        low = X.min(axis=0)
        high = X.max(axis=0)
    low = low.astype(np.float64, copy=False)
    high = high.astype(np.float64, copy=False)
    shift = np.where((low <= 0.0) & (high >= 0.0), 0.0, low)
    with np.errstate(over="ignore"):
        extent = high - low
    return shift, extent


def normalise(X, in_place=False):
    """Divide every column by its range.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, p)
        Finite float64 values.
    in_place : bool
        Whether a sparse X may be overwritten and returned; else it is not modified.

    Returns
    -------
    Z : ndarray (C order) or csr_matrix of shape (n, p), float64
        Values in −1 … 1; constant columns are zero. Sparse results hold no stored zeros.

    Raises
    ------
    ValueError
        If the range of a column is too large for float64.
    """
    shift, extent = column_scaling(X)
    too_wide = np.flatnonzero(~np.isfinite(extent))
    if too_wide.size:
        raise ValueError(
            f"X: the range of column {too_wide[0]} exceeds what float64 can hold; rescale the column first."
        )
    constant = extent == 0.0
    divisor = np.where(constant, 1.0, extent)
    if not sparse.issparse(X):
        Z = np.subtract(X, shift, order="C", dtype=np.float64)
        Z /= divisor
        Z[:, constant] = 0.0
        Z += 0.0  # −0.0 becomes 0.0, as in sparse storage
        return Z
    Z = X if in_place else X.copy()
    Z = sparse.csr_matrix((Z.data, Z.indices, Z.indptr), shape=Z.shape)  # one type for both kinds of index
    divisor[constant] = np.inf  # which turns every value of a constant column into 0
    for start in range(0, Z.nnz, _ENTRIES):
        part = slice(start, start + _ENTRIES)
        columns = Z.indices[part]
        Z.data[part] -= shift[columns]
        Z.data[part] /= divisor[columns]
    Z.eliminate_zeros()
    return Z
