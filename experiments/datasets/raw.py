"""What a source hands over before anything is checked or coded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from experiments.datasets.names import Column, places_of

#: An array, or a sparse matrix of SciPy, which has no types.
Matrix: TypeAlias = Any


@dataclass
class RawData:
    """A table and its classes or labels, as they lie in the source.

    Attributes
    ----------
    X : ndarray or scipy sparse, shape (n, p)
        Numbers; any storage, any numeric type. NaN stands for a missing value.
    labels : ndarray of shape (n,), or ndarray or scipy sparse of shape (n, L)
        The class of each row, an integer or text, or its number where the target is numeric; or, for
        multi-label data, 1 where the row has the label and 0 where not.
    feature_names : sequence of str, length p
        In column order.
    class_names : mapping of str to str
        Readable names for classes, by the class written as text; a class that is missing keeps its own.
    label_names : sequence of str, length L
        Names of the label columns; ``None`` for one class per sample.
    nominal : mapping of int to sequence of str
        Columns of X that hold no numbers but places in the given list of values.
    place_of : callable, optional
        Row number (0-based) → where the row stands in its source, for messages; ``row 3`` and so on if not given.
    informative : sequence of str, optional
        Names of the columns that decide the class, where it is known that no others do.
    missing_word : callable, optional
        Row and column of X (0-based) where a value is missing → the word that stands there in the source,
        empty where
        nothing does.
    groups : ndarray of shape (n,), optional
        Text; samples of one group are to stay together in folds.
    target : str, optional
        Name of the target column, where there is one.
    """

    X: Matrix
    labels: Matrix
    feature_names: Sequence[str]
    class_names: Mapping[str, str] | None = None
    label_names: Sequence[str] | None = None
    nominal: Mapping[int, Sequence[str]] | None = None
    place_of: Callable[[int], str] | None = None
    informative: Sequence[str] | None = None
    missing_word: Callable[[int, int], str] | None = None
    groups: np.ndarray | None = None
    target: str | None = None


def without_columns(raw: RawData, leave_out: Column | Sequence[Column], file: str) -> RawData:
    """Take columns out of the features."""
    names = [str(each) for each in raw.feature_names]
    gone = places_of(leave_out, names, file)
    if not gone:
        return raw
    kept = [place for place in range(len(names)) if place not in gone]
    X = raw.X.tocsc()[:, kept].tocsr() if sparse.issparse(raw.X) else np.asarray(raw.X)[:, kept]
    return replace(raw, X=X, feature_names=[names[place] for place in kept])


def numbered_names(n_features: int) -> list[str]:
    """Names for columns that have none: ``x1``, ``x2``, … by their place in the source."""
    return [f"x{number}" for number in range(1, n_features + 1)]


def as_text(value: Any) -> str:
    """Write a label as text; whole numbers without a decimal point, whatever type they came in."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value)
