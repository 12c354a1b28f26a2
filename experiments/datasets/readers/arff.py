"""ARFF files, dense and sparse, with a class or with labels; label lists of Mulan.

Rows are read one by one into arrays of numbers, so that a sparse file never becomes a dense table.
"""

from __future__ import annotations

import array
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy import sparse

from experiments.datasets.column_kinds import EXACT, LargeNumbers
from experiments.datasets.download import Content, read_files
from experiments.datasets.names import COMPARED, Column, check_row_names, find_columns, listed, suggestion
from experiments.datasets.raw import Matrix, RawData
from experiments.errors import ConfigError, DatasetError
from experiments.formatting import count
from experiments.paths import Places

#: An attribute's name and type: a name in quotation marks with backslashes before those inside, or with none before
#: them, or a name without; the first that leaves a type.
_ATTRIBUTES = tuple(
    re.compile(rf"@attribute\s+({name})\s+(.+)", re.IGNORECASE)
    for name in (r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", r"\".*\"|'.*'", r"[^{}%,\s]*")
)

#: A cell of a dense row and what follows it, and a pair of a sparse one; values may stand in quotation marks.
_CELL = re.compile(r"""\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^,'"\s][^,]*?|)\s*(,|$)""")
_PAIR = re.compile(r"""\s*(\d+)\s+('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^,'"\s][^,]*?)\s*(?:,|$)""")

#: The longest piece of a line that a message repeats.
_SHOWN = 60


@dataclass(frozen=True)
class Arff:
    """What is in an ARFF file."""

    names: list[str]
    values: list[list[str] | str | None]
    table: Matrix
    file: str
    texts: Mapping[int, list[str]] = field(default_factory=dict)


def arff(
    path: str | None = None,
    *,
    places: Places | Sequence[Path],
    files: Sequence[Mapping[str, Any]] | None = None,
    target: str | int | None = None,
    labels: Sequence[Column] | None = None,
    leave_out: Column | Sequence[Column] = (),
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
    class_names: Mapping[str, str] | None = None,
) -> RawData:
    """Read an ARFF file, dense or sparse, plain or packed."""
    if (target is None) == (labels is None):
        raise ConfigError("an ARFF file needs either target (a class) or labels (several)")
    contents = read_files(places, path, files, sha256, download)

    table = stacked([parse(each.data, each.name) for each in contents])
    return raw_data(table, target=target, labels=labels, leave_out=leave_out, class_names=class_names)


def mulan(
    files: Sequence[Mapping[str, Any]], *, places: Places | Sequence[Path], n_labels: int | None = None
) -> RawData:
    """Read a multi-label data set of Mulan: ARFF files, and an XML file that names the labels."""
    lists = [place for place, each in enumerate(files) if str(each.get("path", "")).endswith(".xml")]
    if len(lists) != 1 or len(files) < 2:
        raise ConfigError("a Mulan data set is one XML file and at least one ARFF file")
    contents = read_files(places, files=files)

    listed = contents.pop(lists[0])
    names = label_list(listed)
    table = stacked([parse(each.data, each.name) for each in contents])
    _check_label_list(table, names, listed.name, n_labels)
    return raw_data(table, labels=names, listed_in=listed.name)


def parse(content: bytes, name: str) -> Arff:
    """Parse an ARFF file; errors name the line."""
    lines = Content(name, content, "").text.replace("\r", "").split("\n")
    names, values, start = _header(lines, name)
    rows = [(number, line.strip()) for number, line in enumerate(lines[start:], start + 1)]
    rows = [(number, line) for number, line in rows if line and not line.startswith("%")]
    number, line = 0, ""
    texts: dict[int, dict[str, int]] = {index: {} for index, kind in enumerate(values) if kind == "text"}
    is_sparse = bool(rows) and rows[0][1].startswith("{")
    readers = [_reader(kind, texts.get(index, {}), is_sparse) for index, kind in enumerate(values)]
    cells, indices, ends = array.array("d"), array.array("q"), [0]
    try:
        for number, line in rows:  # noqa: B007 -- errors name the line
            if is_sparse:
                pairs = _pairs(line)
                places = [index for index, _ in pairs]
                if len(set(places)) < len(places):
                    twice = next(index for index in places if places.count(index) > 1)
                    raise ValueError(
                        f"index {twice} stands twice in the row; a sparse row has each index once"
                    )
                if places and max(places) >= len(names):
                    raise _MisfitError
                indices.extend(places)
                ends.append(len(indices))
                row = [(readers[index], cell) for index, cell in pairs]
            else:
                row = list(zip(readers, _cells(line), strict=True))
            cells.extend([math.nan if cell is None else read(cell) for read, cell in row])
    except _MisfitError:
        raise DatasetError(
            f"{name}, line {number}: the row does not fit the attributes: {_cut(line)}"
        ) from None
    except KeyError as error:
        raise DatasetError(
            f"{name}, line {number}: {error.args[0]!r} is not among the values of its attribute ({_cut(line)})"
        ) from None
    except ValueError as error:
        reason = str(error)
        if "zip()" in reason:
            reason = "the row does not fit the attributes"
        elif "convert string to float" in reason:
            reason = f"{_cut(reason.partition(': ')[2])} is not a number"
        raise DatasetError(f"{name}, line {number}: {reason}: {_cut(line)}") from None
    if is_sparse:
        shape = (len(rows), len(names))
        table = sparse.csr_matrix((np.array(cells), np.array(indices), np.array(ends)), shape=shape)
        table.eliminate_zeros()
        table.sort_indices()
    else:
        table = np.array(cells).reshape(len(rows), len(names))
    _check_large(rows, table, names, values, name)
    return Arff(
        names, values, table, name, {} if is_sparse else {index: list(each) for index, each in texts.items()}
    )


class _MisfitError(Exception):
    """A row that does not fit the attributes."""


def _header(lines: Sequence[str], file: str) -> tuple[list[str], list[list[str] | str | None], int]:
    """Return names and kinds of the attributes, and the number of lines before the first row."""
    kinds: dict[str, list[str] | str | None] = {}
    seen = False
    for number, line in enumerate(lines, 1):
        line = line.strip().replace("\t", " ")
        keyword = line.partition(" ")[0].lower()
        seen = seen or keyword in ("@relation", "@attribute", "@data")
        if keyword == "@data":
            return list(kinds), list(kinds.values()), number
        if keyword == "@attribute":
            name, kind = _attribute(line, f"{file}, line {number}")
            if name in kinds:
                raise DatasetError(
                    f"{file}, line {number}: attribute {name!r} is declared twice ({COMPARED})"
                )
            kinds[name] = kind
        elif line and not line.startswith("%") and keyword != "@relation":
            if seen:
                raise DatasetError(
                    f"{file}, line {number}: no @data line before {_cut(line)}: is it ARFF, and whole?"
                )
            break
    if seen:
        raise DatasetError(f"{file}: no @data line found: is it ARFF, and whole?")
    raise DatasetError(f"{file}: no @RELATION, @ATTRIBUTE or @DATA line found: is it ARFF?")


def _attribute(line: str, where: str) -> tuple[str, list[str] | str | None]:
    for pattern in _ATTRIBUTES:
        match = pattern.fullmatch(line)
        if not match:
            continue
        name, kind = match[1], match[2].strip()
        if len(name) > 1 and name[0] in "'\"" and name[-1] == name[0]:
            name = name[1:-1]
        name = _unescaped(name).strip()
        if kind.lower() in ("numeric", "real", "integer"):
            return name, None
        if kind.lower() == "string":
            return name, "text"
        if kind.startswith("{") and kind.endswith("}"):
            return name, [each or "" for each in _cells(kind[1:-1], known="?")]
    raise DatasetError(
        f"{where}: attributes of this type are not read: {_cut(line)}; those read are numeric, real, integer (the "
        "word alone), string and {a,b,…}; declare it as string and leave it out (dataset.leave_out)"
    )


def _cells(line: str, known: str | None = None) -> list[str | None]:
    """Split a row at commas outside quotation marks; an unquoted ? is None."""
    if "'" not in line and '"' not in line:
        plain = [cell.strip() for cell in line.split(",")]
        return [known if cell == "?" else cell for cell in plain] if "?" in line else [*plain]
    cells: list[str | None] = []
    place = 0
    while True:
        match = _CELL.match(line, place)
        if not match:
            raise ValueError("a quotation mark is not closed, or stands beside a value")
        cells.append(_value(match[1], known))
        place = match.end()
        if not match[2]:
            return cells


def _pairs(line: str) -> list[tuple[int, str | None]]:
    """Split a row of a sparse file into indices and values."""
    if not (line.startswith("{") and line.endswith("}")):
        raise _MisfitError
    pairs: list[tuple[int, str | None]] = []
    place, inner = 0, line[1:-1].strip().rstrip(",")
    if "'" not in inner and '"' not in inner:
        split = [cell.split(None, 1) for cell in inner.split(",")] if inner else []
        try:
            return [(int(index), None if value.strip() == "?" else value.strip()) for index, value in split]
        except ValueError:
            raise _MisfitError from None
    while place < len(inner):
        match = _PAIR.match(inner, place)
        if not match:
            raise _MisfitError
        pairs.append((int(match[1]), _value(match[2], None)))
        place = match.end()
    return pairs


def _value(cell: str, known: str | None) -> str | None:
    if len(cell) > 1 and cell[0] in "'\"" and cell[-1] == cell[0]:
        return re.sub(r"\\(.)", r"\1", cell[1:-1])
    return known if cell == "?" else cell


def _reader(kind: list[str] | str | None, texts: dict[str, int], is_sparse: bool) -> Callable[[str], float]:
    """Return what makes a number of a cell: for values and texts their place in the list."""
    if isinstance(kind, list):
        return {value: place for place, value in enumerate(kind)}.__getitem__
    if kind == "text":
        return (lambda cell: math.nan) if is_sparse else (lambda cell: texts.setdefault(cell, len(texts)))
    return float


def _check_large(
    rows: Sequence[tuple[int, str]], table: Matrix, names: list[str], values: Sequence[Any], file: str
) -> None:
    """Refuse whole numbers beyond 2^53 that differ in the file and are equal as floats."""
    stored = table.data if sparse.issparse(table) else table
    if not (np.abs(stored) >= EXACT).any():
        return
    large = LargeNumbers(names)
    for number, line in rows:
        pairs = _pairs(line) if sparse.issparse(table) else list(enumerate(_cells(line)))
        kept = [(index, cell) for index, cell in pairs if cell is not None and values[index] is None]
        numbers = np.array([float(cell) for _, cell in kept])
        columns = np.array([index for index, _ in kept], dtype=np.int64)
        large.check(columns, numbers, [cell for _, cell in kept], f"{file}, line {number}")


def _cut(line: str) -> str:
    return line if len(line) <= _SHOWN else line[:_SHOWN] + " …"


def stacked(tables: Sequence[Arff]) -> Arff:
    """Put parts with the same attributes under one another."""
    first = tables[0]
    for other in tables[1:]:
        if (other.names, other.values) != (first.names, first.values):
            raise DatasetError(f"{other.file} has other attributes than {first.file}")
    if len(tables) == 1:
        return first
    matrices = [each.table for each in tables]
    is_sparse = any(sparse.issparse(each) for each in matrices)
    texts = {} if is_sparse else {index: _joined(tables, matrices, index) for index in first.texts}
    table = sparse.vstack(matrices, format="csr") if is_sparse else np.vstack(matrices)
    return Arff(first.names, first.values, table, first.file, texts)


def _joined(tables: Sequence[Arff], matrices: list, index: int) -> list[str]:
    """Give the parts one list of texts, and their columns the places in it."""
    joined: dict[str, int] = {}
    for part, (table, matrix) in enumerate(zip(tables, list(matrices), strict=True)):
        found = table.texts.get(index, [])
        places = np.array([joined.setdefault(text, len(joined)) for text in found], dtype=np.float64)
        there = ~np.isnan(matrix[:, index])
        matrices[part] = matrix.copy()
        matrices[part][there, index] = places[matrix[there, index].astype(np.int64)]
    return list(joined)


def raw_data(
    table: Arff,
    *,
    target: Column | None = None,
    labels: Sequence[Column] | None = None,
    leave_out: Column | Sequence[Column] = (),
    class_names: Mapping[str, str] | None = None,
    listed_in: str | None = None,
) -> RawData:
    """Take a table apart into features and a class, or features and labels."""
    place = {name: index for index, name in enumerate(table.names)}
    wanted = sorted(_place(each, place, table.file, "label", listed_in) for each in labels or ())
    if target is not None:
        wanted = [_place(target, place, table.file, "class", None)]
    gone = {*wanted, *(_place(each, place, table.file, "attribute", None) for each in listed(leave_out))}
    kept = [index for index in range(len(table.names)) if index not in gone]
    for index in kept:
        if table.values[index] == "text":
            raise DatasetError(
                f"{table.file}: attribute {table.names[index]!r} is text, no number; leave it out: "
                f"dataset.leave_out=[{table.names[index]}]"
            )
    columns = table.table.tocsc() if sparse.issparse(table.table) else table.table
    X = columns[:, kept]
    nominal = {
        new: values for new, index in enumerate(kept) if isinstance(values := table.values[index], list)
    }
    names = [table.names[index] for index in kept]
    numeric = [new for new in range(len(kept)) if new not in nominal]
    check_row_names(
        X[:, numeric], [names[new] for new in numeric], table.file, [kept[new] for new in numeric]
    )
    X = X.tocsr() if sparse.issparse(X) else X
    if target is not None:
        return RawData(X, _classes(table, wanted[0]), names, class_names, nominal=nominal or None)
    for index in wanted:
        values = table.values[index]
        if isinstance(values, str) or not {"0", "1"}.issuperset(values or ()):
            raise DatasetError(f"{table.file}: label {table.names[index]!r} has other values than 0 and 1")
    T = [sparse.csc_matrix(columns[:, [index]]) for index in wanted]
    for new, index in enumerate(
        wanted
    ):  # codes are places in the list of values, and a label may list 1 first
        if table.values[index] in (["1", "0"], ["1"]):
            T[new] = sparse.csc_matrix(1 - T[new].toarray())
    return RawData(
        X,
        sparse.hstack(T, format="csr"),
        names,
        label_names=[table.names[index] for index in wanted],
        nominal=nominal or None,
    )


def label_list(file: Content) -> list[str]:
    """Read the names of an XML label list of Mulan, nested ones too."""
    # Such lists need no document type, and without one there are no entities that could grow or read files.
    if b"<!DOCTYPE" in file.data or b"<!ENTITY" in file.data:
        raise DatasetError(f"{file.name} declares a document type, which a label list does not need")
    try:
        root = ElementTree.fromstring(file.data)
    except ElementTree.ParseError as error:
        raise DatasetError(f"{file.name} is no XML: {error}") from error
    given = [each.get("name") for each in root.iter() if each.tag.rpartition("}")[2] == "label"]
    found = [_unescaped(each).strip() for each in given if each is not None]
    if not found or len(found) < len(given):
        raise DatasetError(f"{file.name}: " + ("a label has no name" if given else "no labels in it"))
    twice = sorted({each for each in found if found.count(each) > 1})
    if twice:
        raise DatasetError(f"{file.name} lists the label {twice[0]!r} twice")
    return found


def _unescaped(name: str) -> str:
    # liac-arff leaves the backslash of 'MacGillivray\\'s Warbler' in the name, and some label lists have it too.
    return re.sub(r"\\(['\"\\])", r"\1", name)


def _place(name: Column, place: Mapping[str, int], file: str, what: str, listed_in: str | None) -> int:
    if isinstance(name, str) and name in place:
        return place[name]
    names = list(place)
    found = find_columns(name, names)
    if len(found) == 1:
        return place[names[found[0]]]
    by = f" that {listed_in} lists" if listed_in else ""
    if isinstance(name, int):
        raise DatasetError(f"{file} has {len(place)} attributes, so there is no attribute {name}")
    raise DatasetError(f"{file} has no attribute for the {what} {name!r}{by}{suggestion(name, names)}")


def _classes(table: Arff, index: int) -> np.ndarray:
    values, name = table.values[index], table.names[index]
    if values == "text":
        if index not in table.texts:
            raise DatasetError(
                f"{table.file}: the class {name!r} is text in a sparse file; declare it with its values, {{a,b,…}}"
            )
        values = table.texts[index]
    codes = table.table[:, [index]]
    codes = codes.toarray().ravel() if sparse.issparse(codes) else codes.ravel()
    if np.isnan(codes).any():
        n_missing = count(np.isnan(codes).sum(), "row has", "rows have")
        raise DatasetError(f"{table.file}: {n_missing} no class ({name!r}): there is a ? in it")
    return codes if values is None else np.array(values)[codes.astype(np.int64)]


def _check_label_list(table: Arff, names: Sequence[str], listed_in: str, n_labels: int | None) -> None:
    """Find a label that the list forgot: it would become a feature that gives the others away."""
    place = {name: index for index, name in enumerate(table.names)}
    places = sorted(_place(name, place, table.file, "label", listed_in) for name in names)
    of_labels = set(places)
    for index in range(places[0], places[-1]):
        if index not in of_labels:
            raise DatasetError(
                f"{listed_in} does not list {table.names[index]!r}, which stands between labels in {table.file}; "
                "if it is a feature, name the labels themselves: dataset=arff dataset.target=[l1,l2,…]"
            )
    if n_labels is not None and len(names) != n_labels:
        beside = (places[0] - 1, places[-1] + 1)
        shown = " and ".join(repr(table.names[each]) for each in beside if 0 <= each < len(table.names))
        hint = f"; beside its labels {table.file} has {shown}" if shown else ""
        raise DatasetError(f"{listed_in} lists {len(names)} labels, not {n_labels}{hint}")
