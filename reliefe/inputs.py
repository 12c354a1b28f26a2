"""What users hand in, brought to plain arrays: NaN for whatever means missing, dense or CSR storage.

Whether a value may be missing, or infinite, is decided in :mod:`reliefe.validation`.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy import sparse

#: Types of numbers that dense data keep; others become float64, the first of them.
KEPT_TYPES = [np.float64, np.float32, np.bool_, np.int8, np.uint8, np.int16, np.uint16]
KEPT_TYPES += [np.int32, np.uint32, np.int64, np.uint64]

_CATEGORICAL = ("category", "categorical", "enum", "dictionary")  # how types of categories are called

_CSR_BELOW = 1 / 3  # share of stored values below which CSR takes less memory than a dense array


def is_missing(value: Any) -> bool:
    """Say whether a single value stands for a missing one.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    bool
        True for None, NaN of any type, NaT, ``pandas.NA`` and a masked value.
    """
    if value is None or (isinstance(value, np.ma.MaskedArray) and value.ndim == 0 and bool(value.mask)):
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA: nothing is known of its comparisons
        return True
    except (ArithmeticError, ValueError):  # a signalling Decimal NaN; an array, which is no single value
        return not hasattr(value, "__len__")


def is_frame(X: Any) -> bool:
    """Say whether X is a table of named columns (pandas, polars, Arrow)."""
    return hasattr(X, "columns") and (hasattr(X, "dtypes") or hasattr(X, "column_names"))


def categorical_columns(X):
    """Say which columns of a data frame hold categories, as their types have it.

    Parameters
    ----------
    X : data frame of shape (n, p)
        Of pandas, polars or Arrow.

    Returns
    -------
    bool ndarray of shape (p,)

    Raises
    ------
    TypeError
        For what has no types of columns.
    """
    if not is_frame(X):
        raise TypeError(
            f'discrete_features="from_dtype" needs a data frame, whose columns have types; X is a '
            f"{type(X).__name__}."
        )
    kinds = [str(getattr(column, "dtype", getattr(column, "type", ""))) for _, column in _columns(X)]
    return np.array([kind.lower().startswith(_CATEGORICAL) for kind in kinds], dtype=bool)


def plain_table(X: Any, categories: np.ndarray | None = None) -> Any:
    """Bring X to numbers, if it is a kind of table that scikit-learn would not read as it is meant.

    Parameters
    ----------
    X : array-like, masked array, data frame or sparse matrix of shape (n, p)
        Not modified.
    categories : bool ndarray of shape (p,), optional
        Columns of a data frame whose values may be anything; they become numbers from 0 on, in their order.

    Returns
    -------
    object
        ndarray of one of :data:`KEPT_TYPES`, csr_matrix of float64, or X itself where it is for scikit-learn to
        judge. Missing values are NaN. Sparse columns of a data frame stay sparse.

    Raises
    ------
    TypeError, ValueError
        For values that are not real numbers, naming the column.
    """
    if hasattr(X, "collect") and hasattr(X, "collect_schema") and not hasattr(X, "__array__"):
        raise TypeError(f"X is a {type(X).__name__}, which holds no values yet; hand over X.collect().")
    if sparse.issparse(X):
        return plain_sparse(X, "X") if X.ndim == 2 else X
    if is_frame(X):
        return _plain_frame(X, categories)
    array = unmasked(X) if _is_masked(X) else X if hasattr(X, "dtype") else np.asarray(X)
    if not isinstance(array, np.ndarray) or isinstance(array, np.matrix) or array.ndim != 2:
        return array
    if array.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # values beyond float64 become infinite, which is refused later
            return array if array.dtype.type in KEPT_TYPES else array.astype(np.float64)
    numbers = np.empty(array.shape, dtype=np.float64)
    for position in range(array.shape[1]):
        numbers[:, position] = _numbers(array[:, position], f"column {position}")
    return numbers


def selectable_table(X):
    """Return X in a form from which scikit-learn takes columns as they are meant.

    Parameters
    ----------
    X : array-like, masked array, data frame or sparse matrix of shape (n, p)
        Not modified.

    Returns
    -------
    object
        X itself where it hides nothing from scikit-learn. Else without a mask, as numbers where it holds objects,
        and as one kind of column where only some columns of a data frame are sparse, or leave out another value
        than 0. Missing values are NaN.
    """
    if is_frame(X):
        if not hasattr(X, "iloc"):
            return X
        columns = [column for _, column in _columns(X)]
        n_zero_filled = sum(map(_is_zero_filled, columns))
        if n_zero_filled in (0, len(columns)) and not any(map(_is_opaque, columns)):
            return X
        values, labels = _plain_frame(X), {"index": X.index, "columns": X.columns}
        if sparse.issparse(values):
            return type(X).sparse.from_spmatrix(values, **labels)
        return type(X)(values, **labels)
    if sparse.issparse(X):
        return plain_sparse(X, "X") if isinstance(getattr(X, "data", None), np.ma.MaskedArray) else X
    array = unmasked(X) if _is_masked(X) else np.asarray(X) if isinstance(X, (list, tuple)) else X
    if isinstance(array, np.ndarray) and array.dtype.kind == "O" and array.ndim == 2:
        return plain_table(array)
    return array


def plain_sparse(X: Any, name: str) -> Any:
    """Bring a scipy matrix or array of any format and type of numbers to CSR.

    Parameters
    ----------
    X : sparse matrix or array of shape (n, p)
        Not modified.
    name : str
        What the errors call it.

    Returns
    -------
    csr_matrix of shape (n, p), float64
        May share its values with X. Indices need not be sorted, and entries may be stored twice.

    Raises
    ------
    ValueError
        For values that are not real numbers.
    """
    if X.format in ("dok", "lil") or X.dtype.kind == "b":
        X = X.tocoo()
    if X.dtype.kind not in "biuf":
        raise _not_real(name, X.dtype)
    values = X.data
    if X.dtype.kind == "b":  # True stored twice is True, not 2
        X = X.copy()
        X.sum_duplicates()
        values = X.data
    elif isinstance(values, np.ma.MaskedArray):
        values = unmasked(values)
    with np.errstate(over="ignore"):
        values = values.astype(np.float64, copy=False)
    X = copy(X)
    X.data = values
    return sparse.csr_matrix(X)


def unmasked(values: Any) -> np.ndarray:
    """Return a masked array, or rows some of which are masked, as an array without a mask.

    Parameters
    ----------
    values : masked array of any shape, or sequence of rows
        Not modified.

    Returns
    -------
    ndarray
        NaN (numbers) or None (anything else) stands for what was masked; the type is kept where nothing was.
    """
    if not isinstance(values, np.ma.MaskedArray):
        rows = [row if isinstance(row, np.ma.MaskedArray) else _cells(row) for row in values]
        return np.array(
            [unmasked(row).tolist() if hasattr(row, "mask") else row for row in rows], dtype=object
        )
    mask, data = np.ma.getmaskarray(values), np.asarray(values)
    if mask.dtype.kind != "b" or not mask.any():
        return data
    if data.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            data = data.astype(np.float64)
        data[mask] = np.nan
        return data
    data = data.astype(object)
    data[mask] = None
    return data


def masked_places(values):
    """Return where values are masked, as an array of booleans of their shape, or None where nothing is."""
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        return mask if mask.dtype.kind == "b" and mask.any() else None
    if not _is_masked(values):
        return None
    rows = [np.ma.getmaskarray(row) if isinstance(row, np.ma.MaskedArray) else _masked(row) for row in values]
    mask = (
        np.array(rows)
        if len({np.shape(row) for row in rows}) == 1
        else np.array([np.any(row) for row in rows])
    )
    return mask if mask.any() else None


def _is_masked(X):
    """Say whether X is a masked array, or a sequence of values or rows of which some are masked."""
    if isinstance(X, np.ma.MaskedArray):
        return True
    return isinstance(X, (list, tuple)) and any(
        isinstance(row, np.ma.MaskedArray)
        or (isinstance(row, (list, tuple)) and any(isinstance(cell, np.ma.MaskedArray) for cell in row))
        for row in X
    )


def _cells(row):
    """Return a row with None in place of its masked values."""
    return [None if is_missing(cell) else cell for cell in row] if isinstance(row, (list, tuple)) else row


def _masked(row):
    """Say which values of a row are masked; one value, if the row is a single one."""
    if isinstance(row, (list, tuple)):
        return [bool(np.ma.is_masked(cell)) for cell in row]
    return np.zeros(np.shape(row), dtype=bool)


def _not_real(name, dtype):
    if np.dtype(dtype).kind == "c":
        return ValueError(f"Complex data not supported: {name} holds complex numbers ({dtype}).")
    return ValueError(f"{name} holds values of the type {dtype}, which are not numbers.")


def _columns(X):
    """Names and columns of a data frame."""
    names = X.columns if hasattr(X, "dtypes") else X.column_names
    for position, name in enumerate(names):
        yield name, X.iloc[:, position] if hasattr(X, "iloc") else X[name]


def _is_sparse_column(column):
    """Say whether a column of a data frame is stored as pandas' sparse arrays are."""
    return type(getattr(column, "dtype", None)).__name__ == "SparseDtype"


def _is_opaque(column):
    """Say whether a column of a data frame holds objects, or is sparse and leaves out another value than 0."""
    if _is_sparse_column(column):
        return not _is_zero_filled(column)
    return isinstance(column.dtype, np.dtype) and column.dtype.kind == "O"


def _is_zero_filled(column):
    """Say whether a column of a data frame is a sparse one of numbers of which 0 is not stored."""
    if not _is_sparse_column(column) or np.asarray(column.array.sp_values).dtype.kind not in "biuf":
        return False
    return not is_missing(column.array.fill_value) and bool(column.array.fill_value == 0)


def _plain_frame(X, categories=None):
    """As :func:`plain_table`, for a data frame."""
    dtypes = getattr(X, "dtypes", None)
    if hasattr(X, "iloc") and all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes):
        only = {dtype.type for dtype in dtypes}
        with np.errstate(over="ignore"):
            return X.to_numpy(dtype=only.pop() if len(only) == 1 and only <= {*KEPT_TYPES} else np.float64)
    columns = list(_columns(X))
    if any(_is_sparse_column(column) for _, column in columns):
        return _sparse_frame(columns, X.shape, categories)
    numbers = np.empty(X.shape, dtype=np.float64)
    for position, (name, column) in enumerate(columns):
        coded = categories is not None and categories[position]
        numbers[:, position] = _codes(column) if coded else _column_numbers(column, f"column {name!r}")
    return numbers


def _codes(column):
    """Bring a column of categories to numbers of those that are there, from 0 on, and NaN."""
    if hasattr(column, "cat") and hasattr(column.cat, "codes"):
        codes = np.array(column.cat.codes, dtype=np.float64)
        codes[codes < 0.0] = np.nan
        return codes
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    known = sorted(
        {value for value in values if not is_missing(value)}, key=lambda value: (str(type(value)), value)
    )
    places = {value: float(place) for place, value in enumerate(known)}
    return np.array([np.nan if is_missing(value) else places[value] for value in values], dtype=np.float64)


def _sparse_frame(columns, shape, categories=None):
    """Bring a data frame with sparse columns to CSR, or to a dense array if that is smaller."""
    rows, values, all_zero_filled = [], [], True
    for position, (name, column) in enumerate(columns):
        if _is_zero_filled(column):
            rows.append(column.array.sp_index.to_int_index().indices)
            values.append(np.asarray(column.array.sp_values, dtype=np.float64))
            continue
        all_zero_filled = False
        coded = categories is not None and categories[position]
        numbers = _codes(column) if coded else _column_numbers(column, f"column {name!r}")
        rows.append(np.flatnonzero(numbers))
        values.append(numbers[rows[-1]])
    starts = np.concatenate([[0], np.cumsum([len(each) for each in rows], dtype=np.int64)])
    table = sparse.csc_matrix((np.concatenate(values), np.concatenate(rows), starts), shape=shape)
    if all_zero_filled or table.nnz <= _CSR_BELOW * shape[0] * shape[1]:
        return sparse.csr_matrix(table)
    return table.toarray()


def _column_numbers(column, where):
    """Bring a column of a data frame to float64."""
    dtype = getattr(column, "dtype", None)
    kind = None if _is_sparse_column(column) else getattr(dtype, "kind", None)
    if hasattr(column, "array") and kind in tuple("biuf") and not isinstance(dtype, np.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)  # pandas' own types, which know pandas.NA
    if kind in ("m", "M"):
        raise _dates(where, dtype)
    return _numbers(np.asarray(column), where)


def _numbers(column, where):
    """Bring a 1-D array of any type to float64; what is missing becomes NaN."""
    kind = column.dtype.kind
    if kind in "mM":
        raise _dates(where, column.dtype)
    if kind in "biuf":
        with np.errstate(over="ignore"):
            return column.astype(np.float64, copy=False)
    if kind not in "OUST":
        raise _not_real(f"X: {where}", column.dtype)
    numbers = np.empty(column.shape[0], dtype=np.float64)
    for row, value in enumerate(column.tolist()):
        if isinstance(value, (np.str_, np.bytes_)):  # in a column of objects
            value = value.item()
        if isinstance(value, (str, bytes)):
            raise ValueError(
                f"X: {where} holds text ({value!r} in row {row}); encode it as numbers first, for example with "
                "sklearn.preprocessing.OneHotEncoder."
            )
        if is_missing(value):
            numbers[row] = np.nan
            continue
        if isinstance(value, (complex, np.complexfloating)):
            raise _not_real(f"X: {where}", np.complex128)
        try:
            numbers[row] = float(value)
        except OverflowError:
            numbers[row] = np.inf
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"X: {where} holds {value!r} in row {row}, which is no number ({error}).") from None
    return numbers


def _dates(where, dtype):
    return ValueError(f"X: {where} holds dates or times ({dtype}); turn it into numbers first.")
