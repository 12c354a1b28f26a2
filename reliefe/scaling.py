"""Range normalisation of features: the scale on which every feature difference is taken.

The difference of two samples in feature j is |x_ij − x_lj| / (max_j − min_j) (the paper's ReliefF; the range over
the samples given to ``fit``, implicit zeros of a sparse matrix counted). A difference does not change when a
constant is added to the feature, so features are shifted only as far as sparse storage allows: not at all where
0 lies between minimum and maximum, to a minimum of 0 elsewhere. Zeros stay zeros, every value ends in −1 … 1,
and dense and sparse storage of one matrix give the same numbers bit by bit.

Discrete features of three values or more hold codes instead: whole numbers, one per value, 0 for 0. Any two of them
are at least 1 apart, so that min(|a − b|, 1) is the difference for both kinds of feature. With two values the
range-normalised difference is 0 or 1 already. Missing values (NaN) stay where they are.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from reliefe.column_error import ColumnError

_ENTRIES = 2**17  # of a matrix worked on at a time


def column_scaling(X):
    """Return shift and range of every feature.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, p)
        Finite float64 values; CSR in canonical form (sorted, no duplicates).

    Returns
    -------
    shift : float64 ndarray of shape (p,)
        0 where min ≤ 0 ≤ max, the minimum elsewhere.
    extent : float64 ndarray of shape (p,)
        max − min; 0 marks a constant feature.
    """
    if sparse.issparse(X):
        low = X.min(axis=0).toarray().ravel()
        high = X.max(axis=0).toarray().ravel()
    else:
        low = X.min(axis=0)
        high = X.max(axis=0)
    return shift_and_extent(low, high)


def shift_and_extent(low, high):
    """Return shift and range of features from their smallest and largest values, as :func:`column_scaling`."""
    low = low.astype(np.float64, copy=False)
    high = high.astype(np.float64, copy=False)
    shift = np.where((low <= 0.0) & (high >= 0.0), 0.0, low)
    with np.errstate(over="ignore"):
        extent = high - low
    return shift, extent


def refuse_wide(extent):
    """Refuse a feature whose range (p,) is too large for float64.

    Raises
    ------
    ValueError
        Naming the first such feature.
    """
    too_wide = np.flatnonzero(~np.isfinite(extent))
    if too_wide.size:
        raise ColumnError(
            "X: the range of {column} exceeds what float64 can hold; rescale it first.",
            int(too_wide[0]),
        )


def normalise(X, in_place=False):
    """Divide every feature by its range.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, p)
        Finite float64 values.
    in_place : bool
        Whether a sparse X may be overwritten and returned; else it is not modified.

    Returns
    -------
    Z : ndarray (C order) or csr_matrix of shape (n, p), float64
        Values in −1 … 1; constant features are zero. Sparse results hold no stored zeros.

    Raises
    ------
    ValueError
        If the range of a feature is too large for float64.
    """
    shift, extent = column_scaling(X)
    refuse_wide(extent)
    constant = extent == 0.0
    divisor = np.where(constant, 1.0, extent)
    if not sparse.issparse(X):
        Z = np.empty(X.shape, dtype=np.float64)
        step = max(1, _ENTRIES // X.shape[1])
        for start in range(0, X.shape[0], step):  # one step after the other on what is in the cache
            part = Z[start : start + step]
            np.subtract(X[start : start + step], shift, out=part)
            part /= divisor
            part[:, constant] = 0.0
            part += 0.0  # −0.0 becomes 0.0, as in sparse storage
        return Z
    Z = X if in_place else X.copy()
    Z = sparse.csr_matrix((Z.data, Z.indices, Z.indptr), shape=Z.shape)  # one type for both kinds of index
    divisor[constant] = np.inf  # which turns every value of a constant feature into 0
    for start in range(0, Z.nnz, _ENTRIES):
        part = slice(start, start + _ENTRIES)
        columns = Z.indices[part]
        Z.data[part] -= shift[columns]
        Z.data[part] /= divisor[columns]
    Z.eliminate_zeros()
    return Z


def distinct_values(X):
    """Count the distinct known values of every feature.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, p)
        float64, NaN allowed; CSR in canonical form.

    Returns
    -------
    int64 ndarray of shape (p,)
        Implicit zeros of a sparse matrix are a value.
    """
    n, p = X.shape
    counts = np.zeros(p, dtype=np.int64)
    if not sparse.issparse(X):
        step = max(1, _ENTRIES // n)
        for start in range(0, p, step):
            ordered = np.sort(X[:, start : start + step], axis=0)  # NaN comes last
            new = (ordered[1:] != ordered[:-1]) & ~np.isnan(ordered[1:])
            counts[start : start + step] = new.sum(axis=0) + ~np.isnan(ordered[0])
        return counts
    columns = X.tocsc()
    owner = np.repeat(np.arange(p), np.diff(columns.indptr))
    known = ~np.isnan(columns.data)
    owner, values = owner[known], columns.data[known]
    order = np.lexsort((values, owner))
    owner, values = owner[order], values[order]
    new = np.ones(values.shape[0], dtype=bool)
    new[1:] = (owner[1:] != owner[:-1]) | (values[1:] != values[:-1])
    counts += np.bincount(owner[new], minlength=p)
    return counts + (np.diff(columns.indptr) < n)


def normalise_mixed(X, discrete):
    """Divide features by their range where that gives their differences, put codes into the others.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, p)
        float64, finite or NaN; CSR in canonical form without stored zeros. Not modified.
    discrete : bool ndarray of shape (p,)
        Features whose difference is 0 or 1.

    Returns
    -------
    Z : ndarray (C order) or csr_matrix of shape (n, p), float64
        As from :func:`normalise` wherever a feature has no NaN and no codes. Sparse results hold no stored zeros.
    full : float64 ndarray of shape (p,)
        A difference above it counts as 1: 0 for features that hold codes, 1 for others.

    Raises
    ------
    ValueError
        If the range of a feature is too large for float64.
    """
    coded = np.asarray(discrete, dtype=bool).copy()
    if coded.any():
        chosen = np.flatnonzero(coded)
        coded[chosen] = distinct_values(X[:, chosen]) > 2
    is_sparse = sparse.issparse(X)
    Z = X.tocsc() if is_sparse else np.array(X, dtype=np.float64, order="C")
    if is_sparse and Z is X:
        Z = Z.copy()
    for j in np.flatnonzero(coded):
        if is_sparse:
            values = Z.data[Z.indptr[j] : Z.indptr[j + 1]]
            has_zero = values.shape[0] < Z.shape[0]
        else:
            values = Z[:, j]
            has_zero = bool((values == 0.0).any())
        known = ~np.isnan(values)
        found, codes = np.unique(values[known], return_inverse=True)
        # 0 gets the code 0; where there is no 0, the lowest value does.
        lowest = np.searchsorted(found, 0.0) if has_zero else 0
        if has_zero and is_sparse:  # the zeros are not among the stored values
            codes = codes - lowest + (codes >= lowest)
        else:
            codes = codes - lowest
        values[known] = codes
    if is_sparse:
        Z = Z.tocsr()
        low, high = (bound.toarray().ravel() for bound in (Z.nanmin(axis=0), Z.nanmax(axis=0)))
    else:
        low, high = np.fmin.reduce(Z, axis=0), np.fmax.reduce(Z, axis=0)
    unknown = np.isnan(low)
    shift, extent = shift_and_extent(np.where(unknown, 0.0, low), np.where(unknown, 0.0, high))
    refuse_wide(extent)
    shift[coded] = 0.0
    extent[coded] = 1.0
    constant = extent == 0.0
    divisor = np.where(constant, np.inf, extent)
    if is_sparse:
        Z = sparse.csr_matrix((Z.data, Z.indices, Z.indptr), shape=Z.shape)
        Z.data -= shift[Z.indices]
        Z.data /= divisor[Z.indices]
        Z.eliminate_zeros()
        Z.sort_indices()
    else:
        Z -= shift
        Z /= divisor
        Z += 0.0
    return Z, np.where(coded, 0.0, 1.0)


def any_missing(X):
    """Say whether there is a NaN among the values of a dense or sparse matrix without infinities."""
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore"):  # finite values may have no finite sum
        total = values.sum()
    return bool(np.isnan(total)) and bool(np.isnan(values).any())


def filled(Z):
    """Put the median of a feature's known values in place of its missing ones.

    Parameters
    ----------
    Z : ndarray or csr_matrix of shape (n, p)
        float64, finite or NaN. Implicit zeros of a sparse matrix are values. Not modified.

    Returns
    -------
    ndarray (C order) or csr_matrix of shape (n, p)
        Without NaN; 0 where no value of a feature is known. Sparse results hold no stored zeros.
    """
    if not sparse.issparse(Z):
        Z = np.array(Z, dtype=np.float64, order="C")
        for j in np.flatnonzero(np.isnan(Z).any(axis=0)):
            unknown = np.isnan(Z[:, j])
            Z[unknown, j] = np.median(Z[~unknown, j]) if not unknown.all() else 0.0
        return Z
    columns = Z.tocsc(copy=True)
    owner = np.repeat(np.arange(Z.shape[1]), np.diff(columns.indptr))
    for j in np.unique(owner[np.isnan(columns.data)]):
        values = columns.data[columns.indptr[j] : columns.indptr[j + 1]]  # a view
        unknown = np.isnan(values)
        known = np.concatenate([values[~unknown], np.zeros(Z.shape[0] - values.shape[0])])
        values[unknown] = np.median(known) if known.size else 0.0
    Z = sparse.csr_matrix(columns)
    Z.eliminate_zeros()
    Z.sort_indices()
    return Z


def prepare(X, discrete=None, in_place=False):
    """Bring features to the scale of their differences, the plain way if that will do.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, p)
        float64, finite or NaN; CSR in canonical form without stored zeros.
    discrete : bool ndarray of shape (p,), optional
        Features whose difference is 0 or 1.
    in_place : bool
        As in :func:`normalise`.

    Returns
    -------
    Z : ndarray (C order) or csr_matrix of shape (n, p), float64
        From :func:`normalise`, or from :func:`normalise_mixed`.
    full : float64 ndarray of shape (p,), or None
        As from :func:`normalise_mixed`; None where no value is missing and no feature holds codes.
    """
    if not any_missing(X):
        if discrete is None or not discrete.any():
            return normalise(X, in_place), None
        chosen = np.flatnonzero(discrete)
        if (distinct_values(X[:, chosen]) <= 2).all():
            return normalise(X, in_place), None
    return normalise_mixed(X, np.zeros(X.shape[1], dtype=bool) if discrete is None else discrete)
