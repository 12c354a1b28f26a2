"""ARFF files, dense and sparse, with a class or with labels; label lists of Mulan.

The package liac-arff reads them row by row, so that a sparse file never becomes a dense table and never many
objects at once.
"""

from __future__ import annotations

import array
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import arff as liac
import numpy as np
from scipy import sparse

from experiments.datasets.classes import exactly
from experiments.datasets.column_kinds import EXACT, equal_as_floats
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
    """Parse an ARFF file."""
    lines = _Lines(Content(name, content, "").text)
    if not lines.has_keywords:
        raise DatasetError(f"{name}: no @RELATION, @ATTRIBUTE or @DATA line found: is it ARFF?")
    decoder = _Decoder()
    texts: dict[int, list[str]] = {}
    try:
        header = decoder.decode(lines, encode_nominal=True, return_type=lines.kind)
        attributes = header["attributes"]
        is_text = np.array([kind == "STRING" for _, kind in attributes], dtype=bool)
        _read_exactly(decoder, attributes)
        if lines.kind == liac.LOD_GEN:
            table = _sparse_rows(header["data"], is_text, lines)
        else:
            table, texts = _dense_rows(header["data"], is_text)
    except liac.ArffException as error:
        raise DatasetError(f"{name}, line {lines.number}: {_reason(error, lines)}") from error
    except (ValueError, TypeError, StopIteration, OverflowError, _MergedError) as error:
        raise DatasetError(f"{name}, line {lines.number}: {error}") from error
    values = [
        [str(each) for each in kind] if isinstance(kind, list) else ("text" if kind == "STRING" else None)
        for _, kind in attributes
    ]
    return Arff([attribute for attribute, _ in attributes], values, table, name, texts)


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


class _Lines:
    """The lines of a text, counted as they are read; the first line of data says whether it is sparse."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self.number = 0
        self.kind = liac.DENSE_GEN
        self.has_data = False
        self.has_keywords = any(
            line.lstrip()[:10].upper().startswith(("@RELATION", "@ATTRIBUTE", "@DATA"))
            for line in self._lines
        )
        for line in self._lines:
            line = line.strip()
            if self.has_data and line and not line.startswith("%"):
                self.kind = liac.LOD_GEN if line.startswith("{") else liac.DENSE_GEN
                break
            self.has_data = self.has_data or line[:5].upper() == "@DATA"

    def __iter__(self) -> Iterator[str]:
        in_data = False
        for line in self._lines:
            self.number += 1
            # liac-arff wants a space after the keyword, and many headers have a tab there.
            yield line if in_data else line.replace("\t", " ")
            in_data = in_data or line.strip()[:5].upper() == "@DATA"

    @property
    def current(self) -> str:
        return self._lines[max(self.number, 1) - 1].strip()


class _Decoder(liac.ArffDecoder):
    """Decoder that takes one pair of quotation marks off a name, not all that it begins and ends with."""

    def _decode_attribute(self, s: str) -> tuple[str, Any]:
        refused: liac.ArffException = liac.BadAttributeFormat()
        for pattern in _ATTRIBUTES:
            found = pattern.fullmatch(s)
            if not found:
                continue
            name, kind = found.groups()
            if len(name) > 1 and name[0] in "'\"" and name[-1] == name[0]:
                name = name[1:-1]
            try:
                return _unescaped(name).strip(), super()._decode_attribute(f"@attribute x {kind}")[1]
            except liac.BadAttributeType as error:
                refused = error
        raise refused


def _read_exactly(decoder: liac.ArffDecoder, attributes: Sequence[tuple[str, Any]]) -> None:
    """Make the decoder keep all of a number, and refuse whole ones that are different and equal as floats."""
    for index, (name, kind) in enumerate(attributes):
        if kind in ("NUMERIC", "REAL", "INTEGER"):
            decoder._conversors[index] = _Number(name)


class _MergedError(Exception):
    """Of its own kind, since the decoder drops a ValueError."""


class _Number:
    """Reads the numbers of one attribute."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._large: dict[float, str] = {}

    def __call__(self, text: str) -> float:
        number = float(text)
        if abs(number) >= EXACT:
            first = self._large.setdefault(number, text)
            if first != text and exactly(first) != exactly(text):
                raise _MergedError(
                    equal_as_floats(
                        f"attribute {self._name!r}",
                        first,
                        text,
                        "if they are names, declare the attribute with its values, {a,b,…}",
                    )
                )
        return number


def _dense_rows(rows: Iterable[list], is_text: np.ndarray) -> tuple[np.ndarray, dict[int, list[str]]]:
    cells = array.array("d")
    places: dict[int, dict[str, int]] = {int(index): {} for index in np.flatnonzero(is_text)}
    n_rows = 0
    for row in rows:
        for index, known in places.items():
            if row[index] is not None:
                row[index] = known.setdefault(str(row[index]), len(known))
        cells.extend([np.nan if cell is None else cell for cell in row])
        n_rows += 1
    texts = {index: list(known) for index, known in places.items()}
    if not n_rows:
        return np.empty((0, len(is_text))), texts
    return np.frombuffer(cells, dtype=np.float64).reshape(n_rows, len(is_text)), texts


def _sparse_rows(rows: Iterable[dict], is_text: np.ndarray, lines: _Lines) -> sparse.csr_matrix:
    data, indices, ends = array.array("d"), array.array("l"), [0]
    for row in rows:
        # A row is a dict, which keeps the last of several values; a quoted comma or a last one may make the count
        # of commas larger, so the indices are looked at only then.
        if lines.current.count(",") >= max(len(row), 1):
            _check_indices(lines.current)
        for index in sorted(row):
            if is_text[index]:
                row[index] = None
            indices.append(index)
            data.append(np.nan if row[index] is None else row[index])
        ends.append(len(indices))
    table = sparse.csr_matrix(
        (np.array(data), np.array(indices), np.array(ends)), shape=(len(ends) - 1, len(is_text))
    )
    table.eliminate_zeros()
    return table


def _check_indices(line: str) -> None:
    bare = re.sub(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", "text", line)
    seen = set()
    for cell in bare.strip("{} ").split(","):
        index = cell.split(None, 1)[0] if cell.strip() else ""
        if index and index in seen:
            raise ValueError(f"index {index} stands twice in the row; a sparse row has each index once")
        seen.add(index)


def _unescaped(name: str) -> str:
    # liac-arff leaves the backslash of 'MacGillivray\\'s Warbler' in the name, and some label lists have it too.
    return re.sub(r"\\(['\"\\])", r"\1", name)


def _reason(error: liac.ArffException, lines: _Lines) -> str:
    line = lines.current
    shown = line if len(line) <= _SHOWN else line[:_SHOWN] + " …"
    if isinstance(error, liac.BadDataFormat):
        return f"the row does not fit the attributes: {shown}"
    if isinstance(error, liac.BadAttributeType):
        return (
            f"attributes of this type are not read: {shown}; those read are numeric, real, integer (the word "
            "alone), string and {a,b,…}; declare it as string and leave it out (dataset.leave_out)"
        )
    if not lines.has_data:
        return "no @data line found: is it ARFF, and whole?"
    if isinstance(error, liac.BadAttributeName):
        error.line = lines.number
        told = re.sub(r" at line [0-9]+", "", str(error)).rstrip(".")[:200]
        return f"{told}; {COMPARED} ({shown})"
    error.line = lines.number
    told = re.sub(r",? (?:at|in) line -?[0-9]+(?=[.:]?)", "", str(error))
    return f"{told[:200]} ({shown})"


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
