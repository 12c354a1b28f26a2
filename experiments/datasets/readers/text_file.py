"""A delimited text file of a user's own: decoded, taken apart into cells, lines and columns exchanged if asked."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Sequence

from experiments.datasets.download import Content, decoded
from experiments.datasets.names import Column
from experiments.datasets.readers.delimited import MISSING_WORDS, TextTable, cells_of, first_lines, line_at
from experiments.datasets.readers.frame import FrameReader
from experiments.errors import ConfigError, DatasetError

#: Words, and what else is typed, for what separates cells; a shell or YAML may keep a tab itself from getting here.
_DELIMITERS = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ","}


class TextFile:
    """A text file as a data frame, and the reader that takes it apart."""

    def __init__(
        self,
        file: Content,
        path: str,
        *,
        delimiter: str | None = None,
        decimal: str = ".",
        header: bool = True,
        skip_lines: int | None = None,
        na_values: Sequence[str] | None = None,
        encoding: str | None = None,
        wanted: Sequence[Column] = (),
        transpose: bool = False,
    ) -> None:
        if decimal not in (".", ","):
            raise ConfigError(f"dataset.decimal={decimal!r} is neither '.' nor ','")
        if skip_lines is not None and skip_lines < 0:
            raise ConfigError(f"dataset.skip_lines={skip_lines}: a number of lines is not negative")
        file = in_utf8(file, encoding)
        text = file.text.rstrip("\r\n")
        typed = None if delimiter is None else _delimiter(delimiter, path)
        lines = first_lines(
            text,
            file.name,
            delimiter=typed,
            default=_delimiter(None, path),
            header=header,
            skip_lines=skip_lines,
            wanted=wanted,
            hint=_delimiter_hint,
        )
        top = line_at(text, lines.skipped + 1)
        hint = _delimiter_hint(top, lines.delimiter)
        parts, n_cells = lines.delimiter, len(cells_of(top, lines.delimiter))
        if transpose:
            file = _turned(file, text, lines.skipped, lines.delimiter)
            text = file.text.rstrip("\r\n")
            skip_lines = 0
            lines = first_lines(text, file.name, delimiter=",", header=header, skip_lines=0, wanted=wanted)
        words = MISSING_WORDS if na_values is None else na_values
        self._table = TextTable(file, lines, words=words, decimal=decimal, hint=hint)
        if (n_cells if transpose else len(self._table.names)) == 1 and not hint:
            hint = f"; a line has one cell, so is {parts!r} what separates the cells (dataset.delimiter)?"
        self._hint, self._decimal, self._named = hint, decimal, header
        self._words_given = na_values is not None
        self._words = [each for each in words if self._words_given or each in text]
        self._skip_lines = skip_lines
        self.name = file.name
        self.frame = self._table.frame()
        self.header = self._table.header

    def reader(self) -> FrameReader:
        """Return what takes the frame apart, as it is now."""
        table = self._table
        return FrameReader(
            self.frame,
            self.name,
            table.place_of,
            self._hint,
            decimal=self._decimal,
            header=table.header,
            named=self._named,
            cells=table.column_text,
            words=self._words,
            words_given=self._words_given,
            line_with=table.line_with if self._named and self._skip_lines is None else None,
        )

    def as_texts(self, places: Sequence[int]) -> None:
        """Put the text of the cells of some columns in place of numbers; missing ones are NaN."""
        for place, texts in self._table.texts(places).items():
            self.frame.isetitem(place, texts)


def in_utf8(file: Content, encoding: str | None) -> Content:
    """Bring a text file to UTF-8."""
    if encoding is None:
        advice = "or say its encoding, such as dataset.encoding=cp1252 (Windows, western Europe)"
        if file.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DatasetError(
                f"{file.name} is UTF-16 text; save it as UTF-8, or say dataset.encoding=utf-16"
            )
        try:
            decoded(file.data, file.name)
        except DatasetError as error:
            raise DatasetError(f"{error}, {advice}") from error
        return file
    try:
        codecs.lookup(encoding)
        text = file.data.decode(encoding)
    except LookupError as error:
        raise ConfigError(
            f"dataset.encoding={encoding}: there is no such encoding; utf-8, utf-16, cp1252, latin-1 are some"
        ) from error
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        raise DatasetError(
            f"{file.name}, line {line}: not text in dataset.encoding={encoding} ({error.reason})"
        ) from error
    return Content(file.name, text.removeprefix("\ufeff").encode(), file.sha256)


def _turned(file: Content, text: str, skipped: int, delimiter: str) -> Content:
    """Write the table with lines and columns exchanged, as text with commas."""
    lines = text.splitlines(keepends=True)[skipped:]
    if delimiter == " ":
        rows = [line.split() for line in lines]
    else:
        try:
            rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
        except csv.Error as error:
            raise DatasetError(f"{file.name} is no even table: {error}") from error
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    width = len(rows[0])
    for row in rows:
        if len(row) != width:
            raise DatasetError(
                f"{file.name} is no even table: the line that begins with {row[0]!r} has {len(row)} cells, the "
                f"first one {width}"
            )
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(zip(*rows, strict=True))
    return Content(file.name, written.getvalue().encode(), file.sha256)


def _delimiter(typed: str | None, path: str) -> str:
    if typed is None:
        name = path.lower().removesuffix(".gz").removesuffix(".bz2").removesuffix(".xz")
        return "\t" if name.endswith((".tsv", ".tab")) else ","
    found = _DELIMITERS.get(typed.lower(), typed) if isinstance(typed, str) else ""
    if len(found) != 1 or found in '\r\n"':
        raise ConfigError(
            f"dataset.delimiter={typed!r}: it must be one character that separates cells, such as ';', or one of "
            f"the words {', '.join(each for each in _DELIMITERS if each.isalpha())}"
        )
    return found


def _delimiter_hint(first: str, delimiter: str) -> str:
    """Say what would part the first line into as many cells as the delimiter does, or more."""
    n_cells = len(cells_of(first, delimiter))
    for word in ("semicolon", "tab"):
        mark = _DELIMITERS[word]
        if mark != delimiter and len(cells_of(first, mark)) >= max(n_cells, 2):
            return (
                f"; its first line has a {word} in it, so is {delimiter!r} what separates the cells "
                f"(dataset.delimiter={word})?"
            )
    return ""
