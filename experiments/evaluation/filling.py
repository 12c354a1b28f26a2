"""Missing values that were left in the data (``dataset.missing=ranker``), filled in from the training samples."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

#: Raised by one when other values are filled in; part of the keys of cells whose data have missing values.
VERSION = 1


def filled(train: Any, test: Any, nominal: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Fill in missing values of a fold.

    The training samples alone decide. A missing number becomes the median of the column's known values. A missing
    nominal value becomes the most frequent one, on ties the first in the order of the columns (of a single 0/1
    column, 0). Where no training sample has a value, it becomes 0 in all samples, and no value of a nominal
    feature.

    Parameters
    ----------
    train, test : float ndarrays of shape (n, p) and (m, p), or csr_matrices
        NaN: missing. Not modified.
    nominal : sequence of sequence of int
        Columns that stand for the values of one nominal feature: 0/1, and missing all together.

    Returns
    -------
    train, test
        Without NaN, in the same storage.
    """
    values = _fills(train, nominal, _has_gaps(train) | _has_gaps(test))
    return _put(train, values), _put(test, values)


def _fills(train: Any, nominal: Sequence[Sequence[int]], gaps: np.ndarray) -> np.ndarray:
    """Return what a missing value of each column with gaps becomes, shape (p,)."""
    fills = np.zeros(train.shape[1])
    by_column = train.tocsc() if sparse.issparse(train) else train
    for columns in nominal:
        counts = np.nansum(_dense(by_column, columns), axis=0)
        if len(columns) == 1:
            n_known = (~np.isnan(_dense(by_column, columns))).sum()
            fills[columns[0]] = float(2 * counts[0] > n_known)
        elif counts.any():
            fills[columns[int(counts.argmax())]] = 1.0
    gaps[[column for columns in nominal for column in columns]] = False
    numbers = np.flatnonzero(gaps)
    if numbers.size:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of columns without a value
            medians = np.nanmedian(_dense(by_column, numbers), axis=0)
        fills[numbers] = np.nan_to_num(medians)
    return fills


def _dense(X: Any, columns: Any) -> np.ndarray:
    part = X[:, list(columns)]
    return part.toarray() if sparse.issparse(part) else part


def _has_gaps(X: Any) -> np.ndarray:
    if not sparse.issparse(X):
        return np.isnan(X).any(axis=0)
    found = np.zeros(X.shape[1], dtype=bool)
    found[X.indices[np.isnan(X.data)]] = True
    return found


def _put(X: Any, values: np.ndarray) -> Any:
    X = X.copy()
    if sparse.issparse(X):
        missing = np.isnan(X.data)
        X.data[missing] = values[X.indices[missing]]
        X.eliminate_zeros()
        return X
    rows, columns = np.nonzero(np.isnan(X))
    X[rows, columns] = values[columns]
    return X
