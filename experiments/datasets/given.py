"""What a reader hands over, brought to plain arrays: a mask, objects and odd storage decide nothing in silence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets.column_kinds import equal_as_floats, merged, no_feature
from experiments.datasets.raw import as_text
from experiments.errors import DatasetError
from reliefe.inputs import plain_table as numbers_of_table
from reliefe.inputs import unmasked


def plain_table(X: Any, names: Sequence[str]) -> Any:
    """Bring features to an array or a sparse matrix of numbers."""
    if sparse.issparse(X):
        X = _unmasked_sparse(X)
        if X.dtype.kind not in "biuf":
            raise DatasetError(f"the features are no table of numbers ({X.dtype})")
        return X
    if not isinstance(X, pd.DataFrame):
        X = unmasked(X) if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
        if X.dtype.kind in "biuf" and X.dtype.itemsize <= 8:
            return X
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=list(names))
    for place in range(frame.shape[1]):
        kind = no_feature(frame.iloc[:, place])
        if kind:
            raise DatasetError(f"column {names[place]!r} holds neither numbers nor text ({kind})")
    try:
        numbers = numbers_of_table(frame)
    except (TypeError, ValueError) as error:
        told = (
            str(error)
            .removeprefix("X: ")
            .replace(
                "encode it as numbers first, for example with sklearn.preprocessing.OneHotEncoder.",
                "a reader hands over places in a list of texts, and that list as nominal",
            )
        )
        raise DatasetError(told) from error
    if sparse.issparse(numbers):
        return numbers
    for place in range(frame.shape[1]):
        found = merged(frame.iloc[:, place].to_numpy(dtype=object), numbers[:, place])
        if found:
            raise DatasetError(equal_as_floats(f"column {names[place]!r}", found[1], found[2]))
    return numbers


def plain_labels(labels: Any) -> Any:
    """Bring classes or labels to an array or a sparse matrix, without looking at their values."""
    if sparse.issparse(labels):
        return _unmasked_sparse(labels)
    return unmasked(labels) if isinstance(labels, np.ma.MaskedArray) else np.asarray(labels)


def texts_of_classes(labels: np.ndarray, place_of: Callable[[int], str]) -> np.ndarray:
    """Write classes of any objects as text."""
    missing = np.flatnonzero(pd.isna(labels))
    if missing.size:
        raise DatasetError(
            f"{place_of(int(missing[0]))}: no class ({missing.size} of {len(labels)} rows have none)"
        )
    kind = no_feature(pd.Series(labels, dtype=object))
    if kind:
        raise DatasetError(f"the classes are {kind}; make text of them where they are classes")
    met: dict[str, bool] = {}
    for row, label in enumerate(labels):
        if isinstance(label, float | np.floating) and not np.isfinite(label):
            raise DatasetError(f"{place_of(row)}: the class label is NaN or infinite")
        if met.setdefault(as_text(label), isinstance(label, str)) != isinstance(label, str):
            raise DatasetError(
                f"{place_of(row)}: the class {as_text(label)} is text in some rows and a number in others; make "
                "all of them text, or all numbers"
            )
    return np.array(
        [as_text(each) for each in labels], dtype=object
    )  # a fixed width would drop a NUL at the end


def label_numbers(labels: np.ndarray, names: Sequence[str], place_of: Callable[[int], str]) -> np.ndarray:
    """Make numbers of a label matrix of objects."""
    for row, column in np.argwhere(pd.isna(labels)):
        raise DatasetError(f"{place_of(int(row))}: label {str(names[column])!r} is missing, neither 0 nor 1")
    for (row, column), value in np.ndenumerate(labels):
        if not isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
            said = value.item() if isinstance(value, np.generic) else value  # 'a', not np.str_('a')
            raise DatasetError(f"{place_of(row)}: label {str(names[column])!r} is {said!r}, neither 0 nor 1")
    return labels.astype(np.float64)


def _unmasked_sparse(matrix: sparse.spmatrix | sparse.sparray) -> sparse.spmatrix | sparse.sparray:
    """Return a sparse matrix that has an array of values, NaN where one is masked."""
    if matrix.format in ("dok", "lil"):
        return matrix.tocsr()
    if isinstance(matrix.data, np.ma.MaskedArray):
        values = unmasked(matrix.data)
        matrix = matrix.copy()
        matrix.data = values
    return matrix
