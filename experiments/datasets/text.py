"""Data sets in text files: delimited tables, Orange tables, CLUTO's sparse lines."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets.files import Content, read_file, read_files
from experiments.datasets.parsed_cache import remember
from experiments.datasets.raw import RawData, numbered_names
from experiments.errors import ConfigError, DatasetError, near_names
from experiments.places import Places

_CONTINUOUS = {"continuous", "c", "numeric", "n"}
_ROLE_LEFT_OUT = {"meta", "m", "ignore", "i", "weight", "w"}

#: Raised by one when the same bytes are read differently.
_VERSION = 1


def delimited(
    path: str | None = None,
    target: int | str | None = None,
    *,
    places: Places | Sequence[Path],
    files: Sequence[Mapping[str, Any]] | None = None,
    target_file: Mapping[str, Any] | None = None,
    delimiter: str = ",",
    header: bool = False,
    skip_lines: int = 0,
    leave_out: Sequence[int | str] = (),
    missing_cells: Sequence[str] = (),
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
    class_names: Mapping[str, str] | None = None,
) -> RawData:
    """Read delimited text, one row a line, plain or packed.

    Parameters
    ----------
    path, places, files, sha256, download
        As for :func:`experiments.datasets.files.read_files`; several files are parts of one table.
    target : int or str
        The class column: its name when the file has a header, else its position (0-based; −1 is the last).
    target_file : mapping, optional
        A block of a file (``path``, ``sha256``, ``download``) of the same delimiter, header and number of rows that
        holds the class column, in place of the table.
    delimiter : str
        What separates the cells; ``" "`` stands for any white space.
    header : bool
        Whether the first line holds the column names.
    skip_lines : int
        Lines before that one (or before the first row) to be passed over.
    leave_out : sequence of int or str
        Columns that are no features, such as row numbers, named as ``target`` is.
    missing_cells : sequence of str
        What stands for a missing value; the empty cell counts as one of them if any is given. The data set's
        ``missing`` says what is done about them.
    class_names : mapping, optional
        Readable names for the classes.

    Returns
    -------
    RawData

    Raises
    ------
    DatasetError
        File missing or damaged, uneven lines, no such column, a cell that is no number (with column and line).
    """
    if target is None:
        raise ConfigError("a delimited file needs target, the column of the class")
    contents = read_files(places, path, files, sha256, download)
    of_target = None
    if target_file is not None:
        of_target = read_files(places, files=[target_file])[0]
    layout = {
        "delimiter": delimiter,
        "header": header,
        "skip_lines": skip_lines,
        "missing_cells": list(missing_cells),
    }
    parameters = {**layout, "target": target, "leave_out": leave_out, "class_names": class_names}

    def made() -> RawData:
        parts = [_Table(each, **layout) for each in contents]
        first = parts[0]
        for other in parts[1:]:
            if other.names != first.names:
                raise DatasetError(f"{other.file} has other columns than {first.file}")
        gone = {first.place(each, "to leave out") for each in leave_out}
        if of_target is None:
            place = first.place(target, "for the class")
            gone.add(place)
            labels = [_labels(each.cells.iloc[:, place], each.file) for each in parts]
        else:
            aside = _Table(of_target, **layout)
            labels = [_labels(aside.cells.iloc[:, aside.place(target, "for the class")], aside.file)]
        kept = [index for index in range(len(first.names)) if index not in gone]
        blocks = [_numbers(each, kept, bool(missing_cells)) for each in parts]
        X = blocks[0] if len(blocks) == 1 else np.vstack(blocks)
        names = [first.names[index] for index in kept]
        return RawData(X, np.concatenate(labels), names, class_names)

    everything = contents if of_target is None else [*contents, of_target]
    return remember(places, "delimited", _VERSION, everything, parameters, made)


def orange_tab(
    path: str,
    *,
    places: Places | Sequence[Path],
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
    class_names: Mapping[str, str] | None = None,
) -> RawData:
    """Read Orange's tab-separated format: names, types and roles in the first three lines.

    The class column is the one whose role is ``class``; columns with the roles meta, ignore and weight are left
    out.

    Parameters
    ----------
    path, places, sha256, download
        As for :func:`experiments.datasets.files.read_file`.
    class_names : mapping, optional
        Readable names for the classes.

    Returns
    -------
    RawData

    Raises
    ------
    DatasetError
        File missing or damaged, not one class column, a feature that is not continuous, a cell that is no number.
    """
    content = read_file(path, places, sha256, download)

    def made() -> RawData:
        lines = content.text.split("\n", 3)
        file = content.name
        if len(lines) < 4:
            raise DatasetError(
                f"{file} has {len(lines)} lines; an Orange table has three before the first row"
            )
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
        kept = [
            index for index, role in enumerate(roles) if index != classes[0] and role not in _ROLE_LEFT_OUT
        ]
        for index in kept:
            if types[index].strip().lower() not in _CONTINUOUS:
                raise DatasetError(
                    f"{file}: column {names[index]!r} is {types[index]!r}; only continuous ones are read"
                )
        table = _Table(content, delimiter="\t", skip_lines=3)
        if table.cells.shape[1] != len(names):
            raise DatasetError(f"{file}: rows of {table.cells.shape[1]} cells under {len(names)} names")
        table.names = names
        labels = _labels(table.cells.iloc[:, classes[0]], file)
        return RawData(_numbers(table, kept), labels, [names[index] for index in kept], class_names)

    return remember(places, "orange_tab", _VERSION, [content], {"class_names": class_names}, made)


def cluto(
    files: Sequence[Mapping[str, Any]],
    *,
    places: Places | Sequence[Path],
    class_names: Mapping[str, str] | None = None,
) -> RawData:
    """Read a sparse table of CLUTO and its class file.

    The first line of the table says how many rows and columns there are; a row is its number of non-zeros and then
    pairs of a column (0-based) and a value. The class file has a line of 0 and 1 per class; a 1 stands at the rows
    that belong to it.

    Parameters
    ----------
    files : sequence of mapping
        Two, as for :func:`experiments.datasets.files.read_files`: the table, then the classes.
    places
        Where to look.
    class_names : mapping, optional
        Readable names for the classes, which are the numbers 1, 2, … in the order of the lines.

    Returns
    -------
    RawData
        ``X`` as csr_matrix.

    Raises
    ------
    DatasetError
        File missing or damaged; a line that is not as said (with its number); a row with no or several classes.
    """
    if len(files) != 2:
        raise ConfigError("a CLUTO data set is two files: the table, then the classes")
    contents = read_files(places, files=files)

    def made() -> RawData:
        X = _cluto_table(contents[0])
        return RawData(X, _cluto_classes(contents[1], X.shape[0]), numbered_names(X.shape[1]), class_names)

    return remember(places, "cluto", _VERSION, contents, {"class_names": class_names}, made)


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
    for number, line in enumerate(rows, start=2):
        cells = _line_of_numbers(line, content.name, number)
        columns, values = cells[1::2], cells[2::2]
        if not cells[0] == len(columns) == len(values):
            raise DatasetError(
                f"{content.name}, line {number}: not the {cells[0]:.0f} pairs its start tells of"
            )
        if len(columns) and not (columns.min() >= 0 and columns.max() < n_columns):
            raise DatasetError(f"{content.name}, line {number}: a column outside 0 … {n_columns - 1}")
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
    marks = np.array(marks).reshape(len(marks), n_rows)
    wrong = np.flatnonzero(marks.sum(axis=0) != 1)
    if wrong.size:
        raise DatasetError(
            f"{content.name}: row {wrong[0]} of the table has {marks[:, wrong[0]].sum():.0f} classes"
        )
    return marks.argmax(axis=0) + 1


def _line_of_numbers(line: str, file: str, number: int) -> np.ndarray:
    try:
        return np.array(line.split(), dtype=np.float64)
    except ValueError as error:
        raise DatasetError(f"{file}, line {number}: {error}") from error


class _Table:
    """The cells of a delimited file, the names of its columns, and the line of its first row."""

    def __init__(
        self,
        content: Content,
        delimiter: str = ",",
        header: bool = False,
        skip_lines: int = 0,
        missing_cells: Sequence[str] = (),
    ) -> None:
        self.file = content.name
        self.header = header
        text = content.text.rstrip("\r\n")
        try:
            self.cells = pd.read_csv(
                io.StringIO(text),
                sep=r"\s+" if delimiter == " " else delimiter,
                header=0 if header else None,
                skiprows=skip_lines,
                low_memory=False,
                skip_blank_lines=False,
                index_col=False,
                na_values=list(missing_cells),
            )
        except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise DatasetError(f"{self.file} is no even table: {reason}") from error
        if not header and text.partition("\n")[0].rstrip("\r").endswith(delimiter.strip() or "\n"):
            # A line that ends in a delimiter does not make a column of its own.
            if self.cells.iloc[:, -1].isna().all():
                self.cells = self.cells.iloc[:, :-1]
        self.first_line = 1 + skip_lines + int(header)
        n_columns = self.cells.shape[1]
        self.names = [str(each) for each in self.cells.columns] if header else numbered_names(n_columns)

    def place(self, column: int | str, what: str) -> int:
        """Return the place of a column that is named or counted."""
        if isinstance(column, str):
            if not self.header:
                raise DatasetError(
                    f"{self.file} has no header line, so the column {what} needs a number, not {column!r}"
                )
            if column not in self.names:
                near = near_names(column, self.names)
                hint = f"; did you mean {' or '.join(near)}?" if near else ""
                raise DatasetError(f"{self.file} has no column {column!r} {what}{hint}")
            return self.names.index(column)
        if not -len(self.names) <= column < len(self.names):
            raise DatasetError(f"{self.file} has {len(self.names)} columns, so there is no column {column}")
        return column % len(self.names)


def _numbers(table: _Table, kept: Sequence[int], may_be_missing: bool = False) -> np.ndarray:
    X = np.empty((len(table.cells), len(kept)), dtype=np.float64)
    for place, index in enumerate(kept):
        column = table.cells.iloc[:, index]
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        bad = ~np.isfinite(numbers)
        if may_be_missing:
            bad &= ~column.isna().to_numpy()
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            cell = column.iloc[row]
            what = "is empty or missing" if pd.isna(cell) else f"holds {str(cell)!r}, no finite number"
            raise DatasetError(
                f"{table.file}, line {table.first_line + row}: column {table.names[index]!r} {what}"
            )
        X[:, place] = numbers
    return X


def _labels(column: pd.Series, file: str) -> np.ndarray:
    if column.isna().any():
        raise DatasetError(f"{file}: {int(column.isna().sum())} rows have no class")
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy()
    return np.array([str(each).strip() for each in column])
