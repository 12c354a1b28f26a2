"""Data sets in R data files and in spreadsheets."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.datasets.column_kinds import equal_as_floats, merged, no_feature
from experiments.datasets.download import read_file
from experiments.datasets.names import (
    Column,
    check_first_column,
    check_row_names,
    find_columns,
    is_nameless,
    listed,
    places_of,
    suggestion,
)
from experiments.datasets.raw import RawData, as_text, numbered_names
from experiments.datasets.readers.grid import check_formulas
from experiments.errors import DatasetError
from experiments.formatting import count
from experiments.paths import Places


def r_data(
    path: str,
    variable: str,
    *,
    places: Places | Sequence[Path],
    features: str = "x",
    target: str = "y",
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
    class_names: Mapping[str, str] | None = None,
    leave_out: Column | Sequence[Column] = (),
) -> RawData:
    """Read a list of a table and a factor from an R data file."""
    file = read_file(path, places, sha256, download)

    import rdata

    classes: dict[Any, Any] = {**rdata.conversion.DEFAULT_CLASS_MAP, **_R_TIMES}
    try:
        with warnings.catch_warnings():
            # It tells of each attribute of each column that it has no use for.
            warnings.simplefilter("ignore")
            found = rdata.conversion.convert(rdata.parser.parse_data(file.data), classes)
    except Exception as error:  # the package raises many kinds on damaged input
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise DatasetError(f"{file.name} cannot be read as an R data file ({reason})") from error
    elements = _element(found, variable, "variable", file.name)
    if not isinstance(elements, Mapping):
        raise DatasetError(f"{file.name}: {variable} is no list with {features} and {target}")
    table = _element(elements, features, f"element of {variable}", file.name)
    X, names = _matrix(table, listed(leave_out), file.name)
    labels = _r_classes(_element(elements, target, f"element of {variable}", file.name), target, file.name)
    return RawData(X, labels, names, class_names)


def spreadsheet(
    path: str,
    features: str,
    target: str,
    *,
    places: Places | Sequence[Path],
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
    class_names: Mapping[str, str] | None = None,
    leave_out: Column | Sequence[Column] = (),
) -> RawData:
    """Read an ``.xlsx`` file with the features on one sheet and the class on another, names in the first line."""
    file = read_file(path, places, sha256, download)

    try:
        # Cells as the file types them: else pandas makes numbers of text, and nothing of the word None.
        sheets = pd.read_excel(
            io.BytesIO(file.data),
            sheet_name=None,
            engine="openpyxl",
            dtype=object,
            keep_default_na=False,
            na_values=[""],
        )
    except Exception as error:  # the package raises many kinds on damaged input
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise DatasetError(f"{file.name} cannot be read as a spreadsheet ({reason})") from error
    table = _element(sheets, features, "sheet", file.name)
    classes = _element(sheets, target, "sheet", file.name)
    for name, cells in sheets.items():
        if cells is table or cells is classes:
            check_formulas(file, name)
    if classes.shape[1] != 1:
        raise DatasetError(f"{file.name}: sheet {target!r} has {classes.shape[1]} columns, not one")
    gone = places_of(leave_out, [str(each) for each in table.columns], file.name)
    kept = [place for place in range(table.shape[1]) if place not in gone]
    X = np.empty((len(table), len(kept)))
    for new, place in enumerate(kept):
        X[:, new] = _sheet_numbers(table.iloc[:, place], f"{file.name}, sheet {features!r}", place)
    names = [str(table.columns[place]) for place in kept]
    check_row_names(X, names, f"{file.name}, sheet {features!r}", kept)
    labels = _sheet_classes(classes.iloc[:, 0], f"{file.name}, sheet {target!r}")
    return RawData(X, labels, names, class_names)


def _sheet_numbers(column: pd.Series, where: str, place: int) -> np.ndarray:
    if column.isna().all() and is_nameless(str(column.name)):
        raise DatasetError(
            f"{where}: column {place} has neither a name nor values; leave it out: dataset.leave_out=[{place}]"
        )
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    is_text = column.map(lambda each: isinstance(each, str)).to_numpy(dtype=bool)
    bad = np.flatnonzero(~np.isfinite(numbers) | is_text)
    if not bad.size:
        found = merged(column.to_numpy(dtype=object), numbers)
        if found:
            told = equal_as_floats(f"column {str(column.name)!r}", found[1], found[2])
            raise DatasetError(f"{where}: {told}")
        return numbers
    cell = column.iloc[bad[0]]
    start = f"{where}, line {bad[0] + 2}: column {column.name!r}"
    kind = no_feature(column.iloc[[bad[0]]])
    if kind:
        raise DatasetError(
            f"{start} holds neither a number nor text ({kind}); make a number of it, such as days since a day, or "
            f"leave it out: dataset.leave_out=[{place}]"
        )
    what = "is empty" if pd.isna(cell) else f"holds {cell!r}, no finite number"
    if is_text[bad[0]] and np.isfinite(numbers[bad[0]]):
        what = f"holds {cell!r} as text"
    raise DatasetError(f"{start} {what}; put a number there, or leave it out: dataset.leave_out=[{place}]")


def _sheet_classes(column: pd.Series, where: str) -> np.ndarray:
    column = column.map(lambda each: np.nan if isinstance(each, str) and not each.strip() else each)
    missing = np.flatnonzero(column.isna().to_numpy())
    if missing.size:
        raise DatasetError(
            f"{where}, line {missing[0] + 2}: the cell is empty; {count(missing.size, 'row')} without a class"
        )
    kind = no_feature(column)
    if kind:
        raise DatasetError(f"{where}: the classes are {kind}; make text of them where they are classes")
    if all(isinstance(each, int | float) for each in column):
        return pd.to_numeric(column).to_numpy()
    return np.array([as_text(each).strip() for each in column])


def _r_times(
    convert: Callable[..., Any], unit: str
) -> Callable[[Any, Mapping[str, Any]], pd.api.extensions.ExtensionArray]:
    def construct(values: Any, attributes: Mapping[str, Any]) -> pd.api.extensions.ExtensionArray:
        numbers = np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)
        return convert(pd.Series(numbers), unit=unit, errors="coerce").array

    return construct


def _not_read(values: Any, attributes: Mapping[str, Any]) -> Any:
    """Refuse a class whose stored numbers mean something else, such as days or the bits of a whole number."""
    raise TypeError(
        f"columns of R's class {' '.join(map(str, attributes['class']))} are not read; convert them in R"
    )


#: R has numbers in these, which do not say what they are: base R, then other packages.
_R_TIMES: dict[str, Callable[..., Any]] = {
    "Date": _r_times(pd.to_datetime, "D"),
    "POSIXct": _r_times(pd.to_datetime, "s"),
    "difftime": _r_times(pd.to_timedelta, "s"),
    **dict.fromkeys(("IDate", "ITime", "hms", "dates", "chron", "times", "yearmon", "yearqtr"), _not_read),
    "integer64": _not_read,
}


def _r_classes(found: Any, name: str, file: str) -> np.ndarray:
    column = pd.Series(_unmasked(found)) if getattr(found, "ndim", 1) == 1 else None
    if column is None:
        raise DatasetError(f"{file}: {name} is no single column of classes")
    kind = no_feature(column)
    if kind:
        raise DatasetError(f"{file}: {name} holds {kind}; make text of them where they are classes")
    missing = np.flatnonzero(column.isna().to_numpy())
    if missing.size:
        raise DatasetError(
            f"{file}, row {missing[0] + 1} (counted from 1): no class in {name} (NA); "
            f"{count(missing.size, 'row has', 'rows have')} none"
        )
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy()
    return np.array([str(each) for each in column])


def _unmasked(values: Any) -> Any:
    """Put NaN where R has NA in whole numbers, which come with a mask."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    return values.data if not values.mask.any() else np.ma.filled(values.astype(np.float64), np.nan)


def _element(found: Mapping[Any, Any], name: str, what: str, file: str) -> Any:
    there = {str(key): value for key, value in found.items()}
    if name not in there:
        alike = find_columns(name, list(there))
        if len(alike) == 1:
            return list(there.values())[alike[0]]
        raise DatasetError(
            f"{file} has no {what} {name!r} (it has {', '.join(there) or 'none'}){suggestion(name, there)}"
        )
    return there[name]


def _matrix(table: Any, leave_out: Sequence[Column], file: str) -> tuple[np.ndarray, list[str]]:
    if isinstance(table, pd.DataFrame):
        names = [str(each) for each in table.columns]
        gone = places_of(leave_out, names, file)
        kept = [place for place in range(len(names)) if place not in gone]
        X = np.empty((len(table), len(kept)))
        for new, place in enumerate(kept):
            X[:, new] = _r_numbers(table.iloc[:, place], place, file)
        names = [names[place] for place in kept]
        check_row_names(X, names, file, kept)
        return X, names
    # A labelled array of xarray when the matrix has dimnames, a plain one when not.
    coordinates = getattr(table, "coords", {})
    last = getattr(table, "dims", (None,))[-1]
    given = [str(each) for each in coordinates[last].values] if last in coordinates else None
    table = np.asarray(_unmasked(table))
    if table.dtype.kind == "O" and all(isinstance(each, int | float) for each in table.ravel()):
        table = table.astype(np.float64)
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        raise DatasetError(f"{file}: the features are no table of numbers ({table.ndim}-d {table.dtype})")
    gone = places_of(leave_out, given or numbered_names(table.shape[1]), file)
    kept = [place for place in range(table.shape[1]) if place not in gone]
    X = table if not gone else table[:, kept]
    if given is None:
        if kept[:1] == [0]:
            check_first_column(X, file, "let it not be the first")
        given = numbered_names(table.shape[1])
    names = [given[place] for place in kept]
    check_row_names(X, names, file, kept)
    return X, names


def _r_numbers(column: pd.Series, place: int, file: str) -> np.ndarray:
    kind = no_feature(column)
    if (
        kind
        or isinstance(column.dtype, pd.CategoricalDtype)
        or not pd.api.types.is_numeric_dtype(column.dtype)
    ):
        raise DatasetError(
            f"{file}: the features are no table of numbers: column {column.name!r} holds {kind or 'text'}; leave "
            "it "
            f"out: dataset.leave_out=[{place}]"
        )
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    found = merged(column.to_numpy(dtype=object), numbers)
    if found:
        told = equal_as_floats(f"column {str(column.name)!r}", found[1], found[2])
        raise DatasetError(f"{file}: {told}")
    return numbers
