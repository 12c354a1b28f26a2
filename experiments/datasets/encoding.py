"""From a table as it lies in its source to numbers: nominal columns, missing values, constant columns, classes.

A nominal column with two values becomes one 0/1 column, one with more values a 0/1 column per value. Columns stay
sparse where they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from experiments.datasets.classes import check_target_is_no_number
from experiments.datasets.column_kinds import EXACT, equal_as_floats, merged
from experiments.datasets.given import (
    label_numbers,
    plain_labels,
    plain_table,
    texts_of_classes,
)
from experiments.datasets.names import as_typed, is_nameless, names_rows
from experiments.datasets.numbers import target_numbers
from experiments.datasets.raw import Matrix, RawData, as_text
from experiments.errors import DatasetError, wrong_name
from experiments.tasks import REGRESSION
from reliefe.inputs import plain_sparse

#: What may be done about missing values.
MISSING = ("error", "most_frequent", "drop_rows", "ranker")

#: A sparse file with a larger share of non-zeros is kept dense: above it CSR takes more memory than the full
#: matrix (12 bytes a non-zero and more against 8 a cell) and every ranker is slower on it.
DENSE_ABOVE = 0.5


def coded(
    raw: RawData, task: str, *, drop_constant: bool = False, missing: str = "error"
) -> tuple[Matrix, np.ndarray | sparse.csr_matrix, tuple[str, ...], tuple[str, ...]]:
    """Code a table and its targets as numbers."""
    if missing not in MISSING:
        raise wrong_name("way to treat missing values (dataset.missing)", str(missing), MISSING)
    X, names = _table(raw)
    labels = plain_labels(raw.labels)
    if labels.shape[:1] != X.shape[:1]:
        found = labels.shape[0] if labels.ndim else 0
        raise DatasetError(f"{found} labels for {X.shape[0]} rows")
    if task == "multiclass" and raw.target is not None and labels.dtype.kind in "biufU":
        texts = [as_text(each) for each in np.unique(labels)]
        check_target_is_no_number(texts, len(labels), raw.target)
    rows = rows_kept(X, missing)
    if missing == "drop_rows":
        if not rows.size:
            raise DatasetError("every sample has a missing value")
        X, labels = X[rows], (labels.tocsr() if sparse.issparse(labels) else labels)[rows]
    elif missing == "most_frequent":
        X = _filled(X, names)

    def place_of(row: int) -> str:
        return raw.place_of(int(rows[row])) if raw.place_of else f"row {rows[row]}"

    def word_of(row: int, column: int) -> str:
        return raw.missing_word(int(rows[row]), column) if raw.missing_word else ""

    _check_finite(X, names, place_of, word_of, may_miss=missing == "ranker")
    X, names = _one_hot(X, names, raw.nominal or {})
    _check_made_names(names, raw)
    if drop_constant:
        kept = np.flatnonzero(~_constant_columns(X))
        if not kept.size:
            raise DatasetError("all features are constant")
        X, names = X[:, kept], [names[index] for index in kept]
    if task == REGRESSION:
        return _stored(X), target_numbers(labels, place_of, raw.target), tuple(names), ()
    if task == "multilabel":
        y, class_names = _label_matrix(labels, raw.label_names, place_of)
    else:
        y, class_names = _class_codes(labels, raw, place_of)
    return _stored(X), y, tuple(names), class_names


def _table(raw: RawData) -> tuple[Matrix, list[str]]:
    names = [str(each) for each in raw.feature_names]
    X = raw.X if hasattr(raw.X, "shape") else np.asarray(raw.X)
    if len(X.shape) != 2:
        raise DatasetError(f"the features are no table of samples and features (shape {X.shape})")
    if X.shape[1] == len(names):
        X = plain_table(X, names)
        raw = replace(raw, X=X)
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise DatasetError(f"the table is empty ({X.shape[0]} samples × {X.shape[1]} features)")
    if len(names) != X.shape[1]:
        raise DatasetError(f"{len(names)} feature names for {X.shape[1]} features")
    _check_row_names(raw, names)
    _check_exact(raw, names)
    if sparse.issparse(X):
        X = sparse.csr_matrix(plain_sparse(X, "X"), copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        return X, names
    X = np.asarray(X)
    return np.ascontiguousarray(X, dtype=np.int8 if X.dtype == np.int8 else np.float64), names


def _check_row_names(raw: RawData, names: Sequence[str]) -> None:
    """Refuse names of rows whatever reader let them through; readers of files say where the column stands."""
    for place, name in enumerate(names):
        if not is_nameless(name) or place in (raw.nominal or {}):
            continue
        column = raw.X[:, [place]]
        column = column.toarray() if sparse.issparse(column) else np.asarray(column)
        if names_rows(name, place, column.astype(np.float64).ravel()):
            raise DatasetError(
                f"column {place} ({name!r}) has no name of its own and counts the rows (another whole number in "
                "each), "
                f"so it is no feature; leave it out: dataset.leave_out={as_typed(name)} (if it is a feature, name "
                "it)"
            )


def _check_exact(raw: RawData, names: Sequence[str]) -> None:
    """Refuse 64-bit whole numbers that are different and become equal as floats."""
    values = raw.X.data if sparse.issparse(raw.X) else np.asarray(raw.X)
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return
    if values.max() < EXACT and values.min() > -EXACT:
        return
    stored = sparse.csc_matrix(raw.X)
    for column in range(stored.shape[1]):
        cells = stored.data[stored.indptr[column] : stored.indptr[column + 1]]
        found = merged(cells, cells.astype(np.float64))
        if found:
            raise DatasetError(equal_as_floats(f"column {names[column]!r}", found[1], found[2]))


def rows_kept(X: Matrix, missing: str) -> np.ndarray:
    """Return which samples stay."""
    if missing == "drop_rows":
        return np.flatnonzero(~_rows_with_missing(X))
    return np.arange(X.shape[0])


def _rows_with_missing(X: Matrix) -> np.ndarray:
    if not sparse.issparse(X):
        return np.isnan(X).any(axis=1)
    found = np.zeros(X.shape[0], dtype=bool)
    found[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[np.isnan(X.data)]] = True
    return found


def _filled(X: Matrix, names: Sequence[str]) -> Matrix:
    missing = np.isnan(X.data if sparse.issparse(X) else X)
    if not missing.any():
        return X
    X = X.copy()
    columns = X.indices[missing] if sparse.issparse(X) else np.nonzero(missing)[1]
    for column in np.unique(columns):
        values = X[:, [column]].toarray().ravel() if sparse.issparse(X) else X[:, column]
        known, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        if not known.size:
            raise DatasetError(f"column {names[column]!r} holds missing values only")
        fill = known[np.argmax(counts)]
        if sparse.issparse(X):
            X.data[missing & (X.indices == column)] = fill
        else:
            X[missing[:, column], column] = fill
    if sparse.issparse(X):
        X.eliminate_zeros()
    return X


def _check_finite(
    X: Matrix,
    names: Sequence[str],
    place_of: Callable[[int], str],
    word_of: Callable[[int, int], str],
    *,
    may_miss: bool = False,
) -> None:
    stored = X.data if sparse.issparse(X) else X
    bad = np.isinf(stored) if may_miss else ~np.isfinite(stored)
    if not bad.any():
        return
    if sparse.issparse(X):
        place = int(np.flatnonzero(bad)[0])
        row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, X.indices[place]
        values = X.data
        value = values[place]
    else:
        row, column = (int(each[0]) for each in np.nonzero(bad))
        values = X
        value = values[row, column]
    where = f"{place_of(row)}, column {names[column]!r}"
    if np.isnan(value):
        n_missing = int(np.isnan(values).sum())
        word = word_of(row, int(column))
        told = f"{word!r} means that by dataset.na_values" if word else "NaN"
        raise DatasetError(
            f"{where} is missing ({told}); {_counted(n_missing)} missing, and dataset.missing says what to do: "
            "most_frequent fills in the column's most frequent value, drop_rows leaves out the row, ranker leaves "
            "them to the rankers that take them (others get values filled in from the training samples), "
            "error (the default) is this error"
        )
    raise DatasetError(
        f"{where} is infinite; {_counted(int(np.isinf(values).sum()))} infinite: put a finite number in its place, "
        "or mark it as missing and say what to do by dataset.missing"
    )


def _counted(number: int) -> str:
    return "1 value is" if number == 1 else f"{number} values are"


def _one_hot(X: Matrix, names: list[str], nominal: Mapping[int, Sequence[str]]) -> tuple[Matrix, list[str]]:
    """Turn places in lists of values into 0/1 columns, in the place of the column they come from."""
    if not nominal:
        return X, names
    if sparse.issparse(X):
        X = X.tocsc()
    parts, out, start = [], [], 0
    for column in sorted(nominal):
        made, made_names = _indicators(X, column, [str(each) for each in nominal[column]], names[column])
        if made is None:  # the column is its own 0/1 column already
            continue
        parts += [X[:, start:column], *made]
        out += names[start:column] + made_names
        start = column + 1
    parts.append(X[:, start:])
    out += names[start:]
    if sparse.issparse(X):
        return sparse.hstack(parts, format="csr", dtype=np.float64), out
    return np.hstack(parts), out


def nominal_groups(raw: RawData, feature_names: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Find the columns that nominal columns have become."""
    places = {name: place for place, name in enumerate(feature_names)}
    groups = []
    for column, values in (raw.nominal or {}).items():
        name = str(raw.feature_names[column])
        made = [name, *(f"{name}={value}" for value in values)]
        if found := sorted(places[each] for each in made if each in places):
            groups.append(tuple(found))
    return tuple(sorted(groups))


def _check_made_names(names: Sequence[str], raw: RawData) -> None:
    given = {str(each) for each in raw.feature_names}
    if len(given) < len(raw.feature_names) or len(set(names)) == len(names):
        return
    twice = next(name for name, times in Counter(names).items() if times > 1)
    raise DatasetError(
        f"two columns would be called {twice!r}: one of that name, and one made of a value of a nominal column; "
        "rename one, or leave one out (dataset.leave_out)"
    )


def _indicators(
    X: Matrix, column: int, values: list[str], name: str
) -> tuple[list[Matrix] | None, list[str]]:
    # Values that are declared and never met would give constant columns, and two values of three met are binary.
    if values == ["0", "1"]:
        return None, []
    codes = X[:, [column]]
    codes = codes.toarray().ravel() if sparse.issparse(codes) else codes.ravel()
    missing = np.isnan(codes)
    met = [values[int(code)] for code in np.unique(codes[~missing])]
    if set(met) <= {"0", "1"}:
        wanted, named = ["1"], {"1": name}
    else:
        # Sorted, so that neither the order in the header nor that of the rows decides. One column per binary
        # attribute: that of the first value, as in the paper's own file of kr-vs-kp.
        wanted = sorted(met) if len(met) > 2 else sorted(met)[:1]
        named = {value: f"{name}={value}" for value in wanted}
    made = []
    for value in wanted:
        one = (codes == values.index(value) if value in values else np.zeros(len(codes))).astype(np.float64)
        one[missing] = np.nan
        made.append(sparse.csc_matrix(one[:, None]) if sparse.issparse(X) else one[:, None])
    return made, [named[value] for value in wanted]


def _constant_columns(X: Matrix) -> np.ndarray:
    if sparse.issparse(X):  # implicit zeros are values as any other
        low, high = (np.asarray(each(axis=0).todense()).ravel() for each in (X.nanmin, X.nanmax))
    else:
        low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    with np.errstate(invalid="ignore"):
        return ~(low < high)  # those without any value too


def _stored(X: Matrix) -> Matrix:
    if sparse.issparse(X) and X.count_nonzero() > DENSE_ABOVE * X.shape[0] * X.shape[1]:
        X = X.toarray()
    if sparse.issparse(X):
        X.sort_indices()  # choosing columns need not keep them in order
        return X
    return np.ascontiguousarray(X)


def _class_codes(
    labels: np.ndarray, raw: RawData, place_of: Callable[[int], str]
) -> tuple[np.ndarray, tuple[str, ...]]:
    if labels.ndim != 1:
        raise DatasetError(
            f"{labels.shape[1]} label columns, but the task is multiclass: one class per sample"
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise DatasetError(f"{place_of(row)}: the class label is NaN or infinite")
    if labels.dtype.kind in "mM":
        raise DatasetError(
            f"the classes are dates or durations ({labels.dtype}); make text of them where they are"
        )
    if labels.dtype.kind not in "biufUO":
        labels = labels.astype(object)
    if labels.dtype.kind == "O":
        labels = texts_of_classes(labels, place_of)
    distinct, codes = np.unique(labels, return_inverse=True)
    texts = [as_text(each) for each in distinct]
    check_target_is_no_number(texts, len(labels))
    readable = {str(key): str(value) for key, value in (raw.class_names or {}).items()}
    return codes.astype(np.int64), tuple(readable.get(text, text) for text in texts)


def _label_matrix(
    labels: Any, names: Sequence[str] | None, place_of: Callable[[int], str]
) -> tuple[sparse.csr_matrix, tuple[str, ...]]:
    if labels.ndim != 2:
        raise DatasetError("one class per sample, but the task is multilabel: a column of 0 and 1 per label")
    if names is None:
        names = [f"y{number}" for number in range(1, labels.shape[1] + 1)]
    if len(names) != labels.shape[1] or not labels.shape[1]:
        raise DatasetError(f"{len(names)} label names for {labels.shape[1]} label columns")
    if labels.shape[1] == 1:
        raise DatasetError("a single label is a class: the task is multiclass")
    if labels.dtype.kind == "O" and not sparse.issparse(labels):
        labels = label_numbers(labels, names, place_of)
    _check_labels(labels, names, place_of)
    # A label that is stored twice is there, and not 2.
    T = sparse.csr_matrix(sparse.csr_matrix(labels, dtype=np.int64) != 0, dtype=np.int8)
    T.eliminate_zeros()
    T.sort_indices()
    return T, tuple(str(each) for each in names)


def _check_labels(labels: Any, names: Sequence[str], place_of: Callable[[int], str]) -> None:
    stored = sparse.coo_array(labels) if sparse.issparse(labels) else labels
    values = stored.data if sparse.issparse(labels) else labels
    if values.dtype.kind not in "biuf":
        raise DatasetError(f"labels are neither 0 nor 1 but of the type {values.dtype}")
    wrong = ~np.isin(values, (0, 1))
    if not wrong.any():
        return
    if sparse.issparse(labels):
        first = min(np.flatnonzero(wrong), key=lambda place: (stored.row[place], stored.col[place]))
        row, column, value = int(stored.row[first]), int(stored.col[first]), values[first]
    else:
        row, column = (int(each[0]) for each in np.nonzero(wrong))
        value = values[row, column]
    raise DatasetError(f"{place_of(row)}: label {str(names[column])!r} is {as_text(value)}, neither 0 nor 1")
