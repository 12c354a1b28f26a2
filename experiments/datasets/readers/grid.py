"""Typed tables as data frames: one sheet of a spreadsheet, and tables with lines and columns exchanged."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from experiments.datasets.download import Content, reason_of
from experiments.datasets.readers.arff import parse
from experiments.errors import DatasetError, wrong_name

#: A number that is no code: without zeros before it.
_PLAIN_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*|(?=\.))(\.\d*)?([eE][+-]?\d+)?")
#: A formula in the file of a sheet.
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")


def sheet_grid(file: Content, sheet: str | None = None, skip_lines: int = 0) -> tuple[np.ndarray, str]:
    """Read all cells of one sheet of an ``.xlsx`` file."""
    from openpyxl import load_workbook

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells of each style that it has no use for
            book = load_workbook(io.BytesIO(file.data), read_only=True, data_only=True)
            named = [sheet] if sheet in book.sheetnames else book.sheetnames
            read = {each.title: _rows(each) if each.title in named else [] for each in book.worksheets}
    except Exception as error:  # the package raises many kinds on damaged input
        raise DatasetError(
            f"{file.name} cannot be read as a spreadsheet ({reason_of(error, file)})"
        ) from error
    found = {name: _cells(rows) for name, rows in read.items()}
    names = list(found)
    if sheet is not None and sheet not in found:
        if not (sheet.isdecimal() and 1 <= int(sheet) <= len(names)):
            raise wrong_name(f"sheet of {file.name} (dataset.sheet)", sheet, names)
        sheet = names[int(sheet) - 1]
    if sheet is None:
        filled = [name for name, cells in found.items() if cells.size or _formulas_without_value(book[name])]
        if len(filled) > 1:
            raise DatasetError(
                f"{file.name} has {len(filled)} sheets; say which one: dataset.sheet=NAME\n"
                f"they are: {', '.join(repr(name) for name in filled)}"
            )
        sheet = filled[0] if filled else names[0]
    if any(None in row for row in read[sheet]):
        _refuse(_formulas_without_value(book[sheet]), file, sheet, skip_lines)
    if not found[sheet].size:
        raise DatasetError(f"{file.name}: sheet {sheet!r} is empty")
    return found[sheet], sheet


def check_formulas(file: Content, sheet: str) -> None:
    """Refuse a sheet with a formula whose value is not in the file, which readers take for an empty cell."""
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(file.data), read_only=True, data_only=True)
    _refuse(_formulas_without_value(book[sheet]), file, sheet, 0)


def _refuse(formulas: Sequence[tuple[int, str]], file: Content, sheet: str, skip_lines: int) -> None:
    for line, cell in formulas:
        if line > skip_lines:
            raise DatasetError(
                f"{file.name}, sheet {sheet!r}: cell {cell} holds a formula without a value; open and save the "
                "file in a spreadsheet program first"
            )


def _formulas_without_value(sheet: Any) -> list[tuple[int, str]]:
    """Find formulas that no program has computed: line and name of each cell."""
    from openpyxl.utils import column_index_from_string, get_column_letter

    with sheet._get_source() as source:
        content = source.read()
    if not _FORMULA.search(content):
        return []
    found: list[tuple[int, str]] = []
    line = 0
    for _, row in ElementTree.iterparse(io.BytesIO(content)):
        if _tag(row) != "row":
            continue
        line, column = int(float(row.get("r", line + 1))), 0
        for cell in row:
            letters = re.match("[A-Z]+", cell.get("r", ""))
            name = letters[0] if letters else get_column_letter(column + 1)
            column = column_index_from_string(name)
            parts = {_tag(each): each.text for each in cell}
            if "f" in parts and not (parts.get("v") or ("v" in parts and cell.get("t") == "str")):
                found.append((line, f"{name}{line}"))
        row.clear()
    return found


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _rows(sheet: Any) -> list[tuple]:
    sheet.reset_dimensions()  # some programs state others than those of the table
    return list(sheet.iter_rows(values_only=True))


def _cells(rows: list[tuple]) -> np.ndarray:
    rows = [tuple(_cell(each) for each in row) for row in rows]
    while rows and all(each is None for each in rows[-1]):
        rows.pop()
    width = max((last + 1 for row in rows for last, each in enumerate(row) if each is not None), default=0)
    cells = np.full((len(rows), width), None, dtype=object)
    for place, row in enumerate(rows):
        cells[place, : len(row[:width])] = row[:width]
    return cells


def _cell(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def grid_frame(cells: np.ndarray, words: Sequence[str], skip_lines: int = 0) -> pd.DataFrame:
    """Make a frame of cells whose first line holds names."""
    cells = cells[skip_lines:]
    names = ["" if each is None else _name(each) for each in cells[0]]
    numbers = {float(word) for word in words if _is_number(word)}
    columns = []
    for place in range(cells.shape[1]):
        column = pd.Series(cells[1:, place], dtype=object)
        gone = column.map(lambda each: _means_missing(each, words, numbers))
        column = column.mask(gone.to_numpy(dtype=bool), np.nan)
        if column.map(lambda each: isinstance(each, int | float) and not isinstance(each, bool)).all():
            column = pd.to_numeric(column)
        columns.append(column)
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame()
    frame.columns = names
    return frame


def _name(cell: object) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _is_number(word: str) -> bool:
    try:
        return float(word) == float(word)
    except ValueError:
        return False


def _means_missing(cell: object, words: Sequence[str], numbers: set[float]) -> bool:
    if cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, float) and np.isnan(cell)):
        return True
    if isinstance(cell, str):
        return cell.strip() in words or not cell.strip()
    return isinstance(cell, int | float) and not isinstance(cell, bool) and float(cell) in numbers


def numbers_in_text(column: pd.Series, *, whole: bool) -> pd.Series | None:
    """Read a column of text as numbers, if all of its cells are numbers and none is a code such as ``01``."""
    there = column.dropna()
    if not len(there) or not all(isinstance(each, str) for each in there):
        return None
    texts = [each.strip() for each in there]
    if not all(_PLAIN_NUMBER.fullmatch(each) for each in texts):
        return None
    if not whole and all(each.lstrip("-").isdecimal() for each in texts):
        return None
    return pd.to_numeric(column.map(lambda each: each.strip() if isinstance(each, str) else each))


def grid_of(frame: pd.DataFrame) -> np.ndarray:
    """Write a frame as cells, its names in the first line."""
    cells = np.empty((len(frame) + 1, frame.shape[1]), dtype=object)
    cells[0] = [str(each) for each in frame.columns]
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place].astype(object)
        cells[1:, place] = column.where(column.notna(), None)
    return cells


def arff_frame(file: Content, words: Sequence[str]) -> tuple[pd.DataFrame, Callable[[int], str]]:
    """Read an ARFF file as a frame."""
    found = parse(file.data, file.name)
    table = found.table if isinstance(found.table, np.ndarray) else found.table.toarray()
    columns = []
    for place, values in enumerate(found.values):
        column = pd.Series(np.asarray(table[:, place], dtype=np.float64))
        if values is not None:
            texts = found.texts.get(place, []) if values == "text" else list(values)
            codes = np.where(np.isnan(column), -1, column).astype(np.int64)
            named = np.array([*texts, None], dtype=object)[codes]
            column = pd.Series(named, dtype=object)
            column = column.mask(column.isin(list(words)).to_numpy(), None)
            if values != "text":
                column = column.astype("category")
        columns.append(column)
    frame = pd.concat(columns, axis=1)
    frame.columns = found.names
    return frame, lambda row: f"data row {row + 1}"
