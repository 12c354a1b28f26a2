"""Data sets in text files: delimited tables, Orange tables, CLUTO's sparse lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets.classes import classes_of_texts
from experiments.datasets.column_kinds import EXACT, LargeNumbers, equal_as_floats, merged
from experiments.datasets.download import Content, read_file, read_files
from experiments.datasets.names import (
    Column,
    as_typed,
    check_first_column,
    check_row_names,
    find_columns,
    listed,
    suggestion,
)
from experiments.datasets.raw import RawData, numbered_names, without_columns
from experiments.datasets.readers.delimited import TextTable, first_lines
from experiments.errors import ConfigError, DatasetError
from experiments.formatting import count
from experiments.paths import Places

_CONTINUOUS = {"continuous", "c", "numeric", "n"}
#: What stands in an Orange table for a value that is not known, beside the empty cell.
_ORANGE_MISSING = ("?", ".", "~", "NA")
_ROLE_LEFT_OUT = {"meta", "m", "ignore", "i", "weight", "w"}


def delimited(
    path: str | None = None,
    target: int | str | None = None,
    *,
    places: Places | Sequence[Path],
    files: Sequence[Mapping[str, Any]] | None = None,
    target_file: Mapping[str, Any] | None = None,
    delimiter: str = ",",
    header: bool = False,
    skip_lines: int | None = None,
    leave_out: Column | Sequence[Column] = (),
    missing_cells: str | Sequence[str] = (),
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
    class_names: Mapping[str, str] | None = None,
) -> RawData:
    """Read delimited text, one row a line, plain or packed."""
    if target is None:
        raise ConfigError("a delimited file needs target, the column of the class")
    contents = read_files(places, path, files, sha256, download)
    of_target = None
    if target_file is not None:
        of_target = read_files(places, files=[target_file])[0]
    layout: dict[str, Any] = {
        "delimiter": delimiter,
        "header": header,
        "skip_lines": skip_lines,
        "missing_cells": [str(each) for each in listed(missing_cells)],
    }

    parts = [_Table(each, **layout, wanted=[target, *listed(leave_out)]) for each in contents]
    first = parts[0]
    for other in parts[1:]:
        if other.names != first.names:
            raise DatasetError(f"{other.file} has other columns than {first.file}")
    gone = {first.place(each, "to leave out") for each in listed(leave_out)}
    if of_target is None:
        place = first.place(target, "for the class")
        gone.add(place)
        labels = [each.classes(place) for each in parts]
    else:
        aside = _Table(of_target, **layout)
        labels = [aside.classes(aside.place(target, "for the class"))]
    kept = [index for index in range(len(first.names)) if index not in gone]
    blocks = [each.numbers(kept) for each in parts]
    X = blocks[0] if len(blocks) == 1 else np.vstack(blocks)
    names = [first.names[index] for index in kept]
    if first.header is not None:
        check_row_names(X, [first.header[index] for index in kept], first.file, kept)
    elif kept[:1] == [0]:
        check_first_column(X, first.file, "let it not be the first")
    classes, readable = classes_of_texts(np.concatenate(labels), class_names)
    return RawData(X, classes, names, readable or None)


def orange_tab(
    path: str,
    *,
    places: Places | Sequence[Path],
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
    class_names: Mapping[str, str] | None = None,
) -> RawData:
    """Read Orange's tab-separated format: names, types and roles in the first three lines."""
    content = read_file(path, places, sha256, download)

    lines = content.text.split("\n", 3)
    file = content.name
    if len(lines) < 4:
        raise DatasetError(f"{file} has {len(lines)} lines; an Orange table has three before the first row")
    names, types, roles = (line.rstrip("\r").split("\t") for line in lines[:3])
    if not len(names) == len(types) == len(roles):
        raise DatasetError(
            f"{file}: {len(names)} names, {len(types)} types and {len(roles)} roles in lines 1 to 3"
        )
    # A role may carry attributes after it ("class more=words").
    roles = [role.split()[0].lower() if role.strip() else "" for role in roles]
    classes = [index for index, role in enumerate(roles) if role in ("class", "c")]
    if len(classes) != 1:
        raise DatasetError(f"{file} has {len(classes)} columns with the role class; there must be one")
    kept = [index for index, role in enumerate(roles) if index != classes[0] and role not in _ROLE_LEFT_OUT]
    for index in kept:
        if types[index].strip().lower() not in _CONTINUOUS:
            raise DatasetError(
                f"{file}: column {names[index]!r} is {types[index]!r}; only continuous ones are read"
            )
    table = _Table(content, delimiter="\t", skip_lines=3, missing_cells=_ORANGE_MISSING)
    if len(table.names) != len(names):
        raise DatasetError(f"{file}: rows of {len(table.names)} cells under {len(names)} names")
    table.names = names
    X = table.numbers(kept)
    check_row_names(
        X,
        [names[index] for index in kept],
        file,
        kept,
        advice="give it the role meta in line 3",
    )
    labels, readable = classes_of_texts(table.classes(classes[0]), class_names)
    return RawData(X, labels, [names[index] for index in kept], readable or None)


def cluto(
    files: Sequence[Mapping[str, Any]],
    *,
    places: Places | Sequence[Path],
    class_names: Mapping[str, str] | None = None,
    leave_out: Column | Sequence[Column] = (),
) -> RawData:
    """Read a sparse table of CLUTO and its class file."""
    if len(files) != 2:
        raise ConfigError("a CLUTO data set is two files: the table, then the classes")
    contents = read_files(places, files=files)

    X = _cluto_table(contents[0])
    file = contents[0].name
    if not listed(leave_out):
        check_first_column(X, file, "let it not be the first")
    classes = _cluto_classes(contents[1], X.shape[0])
    raw = RawData(X, classes, numbered_names(X.shape[1]), class_names)
    return without_columns(raw, leave_out, file)


def _cluto_table(content: Content) -> sparse.csr_matrix:
    lines = content.text.splitlines()
    numbers = _line_of_numbers(lines[0] if lines else "", content.name, 1)
    if len(numbers) != 2:
        raise DatasetError(f"{content.name}, line 1: {len(numbers)} numbers, not the two of a table's size")
    n_rows, n_columns = (int(each) for each in numbers)
    rows = [line for line in lines[1:] if line.strip()]
    if len(rows) != n_rows:
        raise DatasetError(f"{content.name}: {len(rows)} rows, but line 1 says {n_rows}")
    data, indices, ends = [], [], [0]
    large = LargeNumbers()
    for number, line in enumerate(rows, start=2):
        cells = _line_of_numbers(line, content.name, number)
        columns, values, texts = cells[1::2], cells[2::2], line.split()[2::2]
        if not cells[0] == len(columns) == len(values):
            raise DatasetError(
                f"{content.name}, line {number}: not the {cells[0]:.0f} pairs its start tells of"
            )
        if len(columns) and not (columns.min() >= 0 and columns.max() < n_columns):
            raise DatasetError(f"{content.name}, line {number}: a column outside 0 … {n_columns - 1}")
        if (columns != np.floor(columns)).any() or len(np.unique(columns)) < len(columns):
            raise DatasetError(f"{content.name}, line {number}: a column is no whole number, or occurs twice")
        large.check(columns, values, texts, f"{content.name}, line {number}")
        data.append(values)
        indices.append(columns.astype(np.int64))
        ends.append(ends[-1] + len(columns))
    return sparse.csr_matrix(
        (np.concatenate(data), np.concatenate(indices), np.array(ends)), shape=(n_rows, n_columns)
    )


def _cluto_classes(content: Content, n_rows: int) -> np.ndarray:
    lines = [line for line in content.text.splitlines() if line.strip()]
    marks = [_line_of_numbers(line, content.name, number) for number, line in enumerate(lines, start=1)]
    for number, mark in enumerate(marks, start=1):
        if len(mark) != n_rows or not np.isin(mark, (0, 1)).all():
            raise DatasetError(f"{content.name}, line {number}: not {n_rows} times 0 or 1")
    table = np.array(marks).reshape(len(marks), n_rows)
    wrong = np.flatnonzero(table.sum(axis=0) != 1)
    if wrong.size:
        raise DatasetError(
            f"{content.name}: row {wrong[0]} of the table has {table[:, wrong[0]].sum():.0f} classes"
        )
    return table.argmax(axis=0) + 1


def _line_of_numbers(line: str, file: str, number: int) -> np.ndarray:
    try:
        return np.array(line.split(), dtype=np.float64)
    except ValueError as error:
        raise DatasetError(f"{file}, line {number}: {error}") from error


class _Table:
    """The cells of a delimited file, and the names of its columns."""

    def __init__(
        self,
        content: Content,
        delimiter: str = ",",
        header: bool = False,
        skip_lines: int | None = None,
        missing_cells: Sequence[str] = (),
        wanted: Sequence[Column] = (),
    ) -> None:
        self.file = content.name
        lines = first_lines(
            content.text.rstrip("\r\n"),
            content.name,
            delimiter=delimiter,
            header=header,
            skip_lines=skip_lines,
            wanted=wanted,
        )
        self._may_be_missing = bool(missing_cells)
        self._table = TextTable(content, lines, words=missing_cells)
        self._cells = self._table.frame()
        self.names = list(self._table.names)
        self.header = self._table.header

    def place(self, column: Column, what: str) -> int:
        """Return the place of a column that is named or counted."""
        if self.header is None and isinstance(column, str):
            raise DatasetError(
                f"{self.file} has no header line, so the column {what} needs a number, not {column!r}"
            )
        found = find_columns(column, self.names)
        if len(found) == 1:
            return found[0]
        if isinstance(column, str):
            raise DatasetError(f"{self.file} has no column {column!r} {what}{suggestion(column, self.names)}")
        raise DatasetError(f"{self.file} has {len(self.names)} columns, so there is no column {column}")

    def numbers(self, kept: Sequence[int]) -> np.ndarray:
        """Return columns as numbers; NaN where a cell is missing and may be."""
        X = np.empty((len(self._cells), len(kept)), dtype=np.float64)
        for place, index in enumerate(kept):
            column = self._cells.iloc[:, index]
            numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
            bad = ~np.isfinite(numbers)
            if self._may_be_missing:
                bad &= ~column.isna().to_numpy()
            if bad.any():
                row = int(np.flatnonzero(bad)[0])
                cell = column.iloc[row]
                what = "is empty" if pd.isna(cell) else f"holds {str(cell)!r}, no finite number"
                raise DatasetError(
                    f"{self.file}, {self._table.place_of(row)}: column {self.names[index]!r} {what}; if that means "
                    "a "
                    f"missing value, missing_cells names it: {as_typed('NA' if pd.isna(cell) else str(cell))}"
                )
            found = None
            if (np.abs(numbers) >= EXACT).any():
                found = merged(self._table.column_text(index).to_numpy(dtype=object), numbers)
            if found:
                told = equal_as_floats(f"column {self.names[index]!r}", found[1], found[2])
                raise DatasetError(f"{self.file}, {self._table.place_of(found[0])}: {told}")
            X[:, place] = numbers
        return X

    def classes(self, place: int) -> np.ndarray:
        """Return the texts of the class column."""
        column = self._table.texts([place])[place]
        missing = np.flatnonzero(column.isna().to_numpy())
        if missing.size:
            word = self._table.column_text(place).iloc[missing[0]]
            told = f"{word!r} means a missing value (missing_cells)" if word else "the cell is empty"
            raise DatasetError(
                f"{self.file}, {self._table.place_of(int(missing[0]))}: no class in column {self.names[place]!r}, "
                f"{told}; {count(missing.size, 'row has', 'rows have')} no class"
            )
        return column.to_numpy(dtype=str)
