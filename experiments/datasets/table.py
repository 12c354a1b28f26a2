"""A person's table whose features are to be ranked: any file format, sample names found, kinds of columns kept.

Unlike :mod:`experiments.datasets.own`, columns of text stay one feature each (a category), missing values stay
missing, columns that name the samples are found, and the target may be a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets.classes import check_target_is_no_number, is_numeric_target
from experiments.datasets.download import Content, read_file
from experiments.datasets.names import COMPARED, Column, as_typed, find_columns, is_nameless
from experiments.datasets.numbers import check_one_target
from experiments.datasets.raw import RawData, as_text
from experiments.datasets.readers.delimited import MISSING_WORDS
from experiments.datasets.readers.frame import FrameReader
from experiments.datasets.readers.grid import arff_frame, grid_frame, grid_of, numbers_in_text, sheet_grid
from experiments.datasets.readers.parquet import parquet_frame
from experiments.datasets.readers.text_file import TextFile
from experiments.datasets.sample_names import sample_name_columns
from experiments.errors import ConfigError, DatasetError, wrong_name

#: What the target may be taken for.
KINDS = ("auto", "classes", "numbers")

#: What stands for the name of a column that has none; the first is number 1.
_NUMBERED = re.compile(r"number (\d+)")


@dataclass(frozen=True)
class Layout:
    """How a file is to be read; each as typed, None where nothing was."""

    transpose: bool = False
    na_values: tuple[str, ...] | None = None
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    decimal: str = "."
    skip_rows: int | None = None


@dataclass(frozen=True)
class Table:
    """Features and target of a person's table."""

    file: str
    sha256: str
    X: np.ndarray
    names: tuple[str, ...]
    categories: dict[int, list[str]]
    task: str
    y: Any
    targets: tuple[str, ...]
    class_names: tuple[str, ...] = ()
    name_columns: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = ()
    groups: np.ndarray | None = None

    @property
    def constant(self) -> list[str]:
        """Names of features with one known value only, or none."""
        with np.errstate(invalid="ignore"):
            low = np.fmin.reduce(self.X, axis=0)
            high = np.fmax.reduce(self.X, axis=0)
        return [name for name, same in zip(self.names, ~(low < high), strict=True) if same]

    @property
    def missing(self) -> np.ndarray:
        """Where a value is missing: bool ndarray of shape (n, p)."""
        return np.isnan(self.X)


@dataclass
class _Source:
    """A frame, and what is known of its file."""

    file: Content
    frame: pd.DataFrame
    make_reader: Callable[[], FrameReader]
    header: list[str]
    as_texts: Callable[[Sequence[int]], None] | None = None
    decimal: str | None = None
    cells: Callable[[int], pd.Series] | None = field(default=None)


def read_table(
    path: str,
    targets: Sequence[str],
    *,
    kind: str = "auto",
    layout: Layout | None = None,
    keep: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    categories: Sequence[str] = (),
    groups: str | None = None,
) -> Table:
    """Read a table; ``groups`` names the column with the group of each sample, which is not a feature."""
    if kind not in KINDS:
        raise wrong_name("kind of target (dataset.kind)", kind, KINDS)
    layout = layout or Layout()
    file = read_file(path, [Path.cwd()])
    source = _source(file, path, layout, [*targets, *keep, *leave_out, *categories])
    reader = source.make_reader()
    wanted = _places(reader, source.header, targets)
    if kind == "numbers":
        check_one_target([source.header[place] for place in wanted])
    kept = {_place(reader, each, source.header, "keep") for each in keep}
    gone = [_place(reader, each, source.header, "leave_out") for each in leave_out]
    named = [_place(reader, each, source.header, "nominal") for each in categories]
    together = [] if groups is None else [_place(reader, groups, source.header, "groups")]
    group_codes = _groups(source, together[0], wanted) if together else None
    _check_twice(file.name, source.header, {*gone})
    skipped = {*wanted, *gone, *kept, *named, *together}
    found = sample_name_columns(source.frame, source.header, skipped, file.name, source.decimal)
    left = [*{*gone, *together}, *(place for place, _ in found)]
    named += [place for place in kept if not pd.api.types.is_numeric_dtype(source.frame.dtypes.iloc[place])]
    numeric = len(wanted) == 1 and _is_numeric(source.frame.iloc[:, wanted[0]], kind)
    y = _numbers(source, wanted[0], reader) if numeric else None
    if source.as_texts is not None:
        source.as_texts([*named, *(wanted if len(wanted) == 1 else [])])
        reader = source.make_reader()
    raw = (
        reader.raw([], [*left, wanted[0]], named, sorted(kept))
        if numeric
        else reader.raw(wanted[0] if len(wanted) == 1 else wanted, left, named, sorted(kept))
    )
    X = np.ascontiguousarray(raw.X, dtype=np.float64)
    _check_values(X, raw, file.name, [_shown(source.header[place], place) for place, _ in found])
    task = "numbers" if numeric else ("classes" if len(wanted) == 1 else "labels")
    class_names: tuple[str, ...] = ()
    if task == "classes":
        y, class_names = _classes(raw, kind)
    elif task == "labels":
        y, class_names = sparse.csr_matrix(raw.labels, dtype=np.int8), tuple(raw.label_names or ())
    return Table(
        file.name,
        file.sha256,
        X,
        tuple(str(each) for each in raw.feature_names),
        {place: [str(each) for each in values] for place, values in (raw.nominal or {}).items()},
        task,
        y,
        tuple(source.header[place] for place in wanted),
        class_names,
        tuple((_shown(source.header[place], place), why) for place, why in found),
        tuple(source.header[place] for place in gone),
        group_codes,
    )


def _groups(source: _Source, place: int, targets: Sequence[int]) -> np.ndarray:
    column, name = source.frame.iloc[:, place], source.header[place]
    if place in targets:
        raise DatasetError(f"dataset.groups={name} is the target too; name another column")
    missing = np.flatnonzero(column.isna())
    if missing.size:
        raise DatasetError(
            f"{source.make_reader().where(int(missing[0]))}: no group in column {name!r} "
            f"({missing.size} of {len(column)} samples have none); each sample needs one"
        )
    codes, found = pd.factorize(column)
    if len(found) < 2:
        raise DatasetError(f"column {name!r} has one group only; at least two are needed")
    return codes.astype(np.int64)


def _shown(name: str, place: int) -> str:
    made_up = not name.strip() or name.lower().startswith(("unnamed:", "...", "__index_level_"))
    return f"number {place + 1}" if made_up and is_nameless(name) else name


def column_names(path: str, layout: Layout | None = None) -> list[str]:
    """Return the names of a table's columns."""
    return _source(read_file(path, [Path.cwd()]), path, layout or Layout(), []).header


def _source(file: Content, path: str, layout: Layout, wanted: Sequence[Column]) -> _Source:
    """Read a file by its ending."""
    name = path.lower()
    for ending in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(ending)
    if name.endswith((".xls", ".ods")):
        raise ConfigError(f"{file.name}: spreadsheets are read as .xlsx; save it as that, or as CSV")
    words = list(MISSING_WORDS if layout.na_values is None else layout.na_values)
    if name.endswith((".xlsx", ".xlsm")):
        cells, sheet = sheet_grid(file, layout.sheet, layout.skip_rows or 0)
        where = f"{file.name}, sheet {sheet!r}"
        first = 2 + (layout.skip_rows or 0)
        return _of_cells(file, cells, layout, words, where, first)
    if layout.sheet is not None:
        raise ConfigError(f"{file.name} has no sheets (dataset.sheet): it is no .xlsx file")
    if name.endswith((".parquet", ".pq")):
        frame, _ = parquet_frame(file, words, wanted)
        if layout.transpose:
            return _of_cells(file, grid_of(frame), layout, words, file.name, 1)
        return _of_frame(file, frame, file.name, lambda row: f"row {row + 1}")
    if name.endswith(".arff"):
        if layout.transpose:
            raise ConfigError(f"{file.name}: ARFF has a line for each sample; it cannot be transposed")
        frame, place_of = arff_frame(file, words)
        return _of_frame(file, frame, file.name, place_of, turnable=False)
    text = TextFile(
        file,
        path,
        delimiter=layout.delimiter,
        decimal=layout.decimal,
        skip_lines=layout.skip_rows,
        na_values=layout.na_values,
        encoding=layout.encoding,
        wanted=wanted,
        transpose=layout.transpose,
    )
    header = list(text.header or text.frame.columns)[: text.frame.shape[1]]
    return _Source(file, text.frame, text.reader, header, text.as_texts, layout.decimal)


def _of_cells(
    file: Content, cells: np.ndarray, layout: Layout, words: Sequence[str], where: str, first: int
) -> _Source:
    skipped = layout.skip_rows or 0
    if layout.transpose:
        cells, skipped, first = cells[skipped:].T, 0, 2
    if len(cells) < 2 + skipped:
        raise DatasetError(f"{where}: there is no line below the names")
    frame = grid_frame(cells, words, skipped)
    for place in range(frame.shape[1]):
        numbers = numbers_in_text(frame.iloc[:, place], whole=layout.transpose)
        if numbers is not None:
            frame.isetitem(place, numbers)
    return _of_frame(file, frame, where, lambda row: f"line {row + first}")


def _of_frame(
    file: Content, frame: pd.DataFrame, where: str, place_of: Callable[[int], str], *, turnable: bool = True
) -> _Source:
    header = [str(each) for each in frame.columns]
    frame.columns = [name or f"Unnamed: {place}" for place, name in enumerate(header)]
    return _Source(
        file, frame, lambda: FrameReader(frame, where, place_of, header=header, turnable=turnable), header
    )


def _place(reader: FrameReader, typed: str, header: Sequence[str], key: str) -> int:
    """Find a column by its name where there is one of it, else by its number from 1, or by its place from 0."""
    if not find_columns(typed, header):
        number = _NUMBERED.fullmatch(typed)
        if number and 1 <= int(number[1]) <= len(header):
            return int(number[1]) - 1
        if typed.lstrip("-").isdecimal():
            return reader.place(int(typed), key)
    return reader.place(typed, key)


def _places(reader: FrameReader, header: Sequence[str], targets: Sequence[str]) -> list[int]:
    places = []
    for typed in targets:
        parts = [typed]
        if "," in typed and not find_columns(typed, header):
            parts = [each.strip() for each in typed.split(",") if each.strip()]
        places += [_place(reader, each, header, "target") for each in parts]
    if len(set(places)) < len(places):
        raise DatasetError("a column is named twice in dataset.target")
    return places


def _check_twice(file: str, header: Sequence[str], gone: set[int]) -> None:
    places: dict[str, list[int]] = {}
    for place, name in enumerate(header):
        if place not in gone and name:
            places.setdefault(name, []).append(place)
    for name, found in places.items():
        if len(found) > 1:
            shown = ", ".join(str(place + 1) for place in found)
            raise DatasetError(
                f"{file}: {len(found)} columns are called {name!r} (columns {shown}; {COMPARED}); give them "
                f"different names, or leave all but one out by its place, from 0: dataset.leave_out={found[1]}"
            )


def _is_numeric(column: pd.Series, kind: str) -> bool:
    if kind != "auto":
        return kind == "numbers"
    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return False
    known = column.dropna().to_numpy(dtype=np.float64)
    return is_numeric_target([as_text(each) for each in np.unique(known)], len(known))


def _numbers(source: _Source, place: int, reader: FrameReader) -> np.ndarray:
    column, name = source.frame.iloc[:, place], source.header[place]
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        row = int(wrong[0])
        value = column.iloc[row]
        said = "is missing" if pd.isna(value) else f"is {str(value)!r}, no number"
        raise DatasetError(
            f"{reader.where(row)}: the target {name!r} {said} ({wrong.size} of {len(column)} samples are without a "
            "number); put a number there, or take the sample out of the file"
        )
    return numbers


def _check_values(X: np.ndarray, raw: RawData, file: str, name_columns: Sequence[str]) -> None:
    if not X.shape[1]:
        told = ""
        if name_columns:
            shown = " and ".join(repr(each) for each in name_columns)
            one = len(name_columns) == 1
            told = (
                f": {shown} {'was' if one else 'were'} taken for names of the samples; "
                f"dataset.keep={as_typed(*name_columns)} keeps {'it' if one else 'them'} as a feature"
            )
        raise DatasetError(f"{file}: no column is left that could be a feature{told}")
    if not X.shape[0]:
        raise DatasetError(f"{file}: there is no sample")
    for row, column in np.argwhere(np.isinf(X))[:1]:
        where = raw.place_of(int(row)) if raw.place_of else f"{file}, row {row + 1}"
        raise DatasetError(
            f"{where}: column {raw.feature_names[column]!r} is infinite; put a finite number there, or leave the "
            "cell empty"
        )


def _classes(raw: RawData, kind: str) -> tuple[np.ndarray, tuple[str, ...]]:
    distinct, codes = np.unique(raw.labels, return_inverse=True)
    readable = {str(key): str(value) for key, value in (raw.class_names or {}).items()}
    texts = [as_text(each) for each in distinct]
    if kind == "auto":
        check_target_is_no_number(texts, len(codes), raw.target)
    return codes.astype(np.int64), tuple(readable.get(text, text) for text in texts)
