"""Delimited text as it lies in a file: what its first lines are, its columns' names, its cells.

Cells become numbers where the reader asks for numbers; the text of each cell stays at hand, since ``01`` and ``1``,
or ``3.1`` and ``3.10``, are one number and two names.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from experiments.datasets.download import Content
from experiments.datasets.names import find_columns
from experiments.datasets.raw import numbered_names
from experiments.errors import DatasetError

#: Words that mean a missing value unless others are named, beside the empty cell: those of pandas, and the mark of
#: UCI and Weka.
MISSING_WORDS = (
    "?", "NA", "N/A", "n/a", "<NA>", "#NA", "#N/A", "#N/A N/A", "NaN", "nan", "-NaN", "-nan", "NULL",
    "null", "None",
    "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip

_LINE = re.compile(r"\r\n|\n|\r")

#: Excel's first line that says what separates the cells; a table of several columns may fill it up.
_SEPARATOR = re.compile(r'"?sep=(.)"?[,;\t ]*', re.IGNORECASE)

#: So many lines are looked through for a header that is not the first line.
_LOOKED_THROUGH = 30


@dataclass(frozen=True)
class FirstLines:
    """What stands before the first row."""

    skipped: int
    delimiter: str
    header: list[str] | None
    first_row: int
    n_columns: int


def first_lines(
    text: str,
    file: str,
    *,
    delimiter: str | None,
    default: str = ",",
    header: bool,
    skip_lines: int | None = None,
    wanted: Sequence[str | int] = (),
    hint: Callable[[str, str], str] = lambda line, delimiter: "",
) -> FirstLines:
    """Find the header and the first row."""
    lines = _lines(text)
    comments: list[tuple[int, str]] = []
    number, line = 0, None
    for number, line in enumerate(lines, start=1):
        if skip_lines is not None and number <= skip_lines:
            line = None
            continue
        said = _SEPARATOR.fullmatch(line.strip("\ufeff"))
        if said and not comments:
            delimiter = said[1] if delimiter is None else delimiter
        elif skip_lines is None and line.lstrip().startswith("#"):
            comments.append((number, line))
        elif skip_lines is not None or line.strip(f'{delimiter or default} \t"'):
            break
        line = None
    delimiter = default if delimiter is None else delimiter
    if line is None and not comments:
        why = "it is empty" if not text.strip() else "no line holds a cell"
        raise DatasetError(
            f"{file} holds no table: {why}; give it a line of names and a line for each sample"
        )
    start = number
    if comments:
        start = _after_comments(comments, number, line, file, delimiter, header, wanted)
    rows = _rows(text, start, delimiter)
    try:
        top = next(rows)
        names = [each.strip() for each in top.cells] if header else None
        first = next((row for row in rows if any(row.cells)), None) if header else top
    except csv.Error as error:
        raise DatasetError(f"{file} is no even table: {_said(error)}, from line {start} on") from error
    n_columns = len(top.cells)
    if names is not None and first is not None and len(first.cells) > n_columns:
        extra = first.cells[n_columns:]
        if any(each.strip() for each in extra):
            raise _too_few_names(file, start, names, first, hint(line_at(text, start), delimiter))
        n_columns = len(first.cells)
        names += [""] * (n_columns - len(names))
    return FirstLines(start - 1, delimiter, names, top.next_line if header else start, n_columns)


def _said(error: csv.Error) -> str:
    """Put what Python's reader of delimited text says in words of a person's."""
    if "field larger" in str(error):
        return "a cell is longer than 131,072 characters (a quotation mark that is not closed?)"
    return f"the cells cannot be told apart ({error})"


@dataclass(frozen=True)
class _Row:
    cells: list[str]
    line: int
    next_line: int


def _rows(text: str, start: int, delimiter: str) -> Iterator[_Row]:
    """Yield the rows from a line on, with the lines they begin on; a quoted cell may hold line ends."""
    source = (line + "\n" for number, line in enumerate(_lines(text), start=1) if number >= start)
    if delimiter == " ":
        for number, words in enumerate(source, start=start):
            yield _Row(words.split(), number, number + 1)
        return
    reader = csv.reader(source, delimiter=delimiter, skipinitialspace=True)
    line = start
    for cells in reader:
        following = start + reader.line_num
        yield _Row(cells, line, following)
        line = following


def _lines(text: str) -> Iterator[str]:
    """Yield lines one by one: the first ones of a long text are had without cutting it up."""
    position = 0
    for end in _LINE.finditer(text):
        yield text[position : end.start()]
        position = end.end()
    if position < len(text):
        yield text[position:]


def line_at(text: str, number: int) -> str:
    """Return one line of a text, counted from 1; empty if there are fewer."""
    return next((line for place, line in enumerate(_lines(text), start=1) if place == number), "")


def _after_comments(
    comments: Sequence[tuple[int, str]],
    number: int,
    line: str | None,
    file: str,
    delimiter: str,
    header: bool,
    wanted: Sequence[str | int],
) -> int:
    """Say on which line the table begins: after the comments, or with the last one, which may hold the names."""
    at, last = comments[-1]
    if line is None:
        return at
    cells, below = cells_of(last, delimiter), cells_of(line, delimiter)
    if len(cells) != len(below) or len(cells) < 2:
        return number
    names = [each for each in wanted if isinstance(each, str)]
    in_comment = any(find_columns(each, cells) for each in names)
    in_line = header and any(find_columns(each, below) for each in names)
    if header and in_comment and not in_line:
        return at
    if in_line and not in_comment:
        return number
    raise DatasetError(
        f"{file}, line {at}: begins with # and has as many cells as line {number}; if it is a comment, say "
        f"dataset.skip_lines={at}, if it is a line of the table, dataset.skip_lines={at - 1}"
    )


def cells_of(line: str, delimiter: str) -> list[str]:
    """Part one line into cells, blanks around them taken off."""
    if delimiter == " ":
        return line.split()
    try:
        return [
            each.strip() for each in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
        ]
    except csv.Error:
        return []


def _too_few_names(file: str, start: int, names: Sequence[str], first: _Row, hint: str) -> DatasetError:
    told = (
        f"{file} is no even table: lines have more cells than the first one has names: line {start} has "
        f"{len(names)}, "
        f"line {first.line} {len(first.cells)}"
    )
    if hint:
        return DatasetError(told + hint)
    if len(first.cells) == len(names) + 1 and len(names) > 1:
        return DatasetError(
            f"{told}; if the first cells name the rows (R's write.table), write the table without them, or begin "
            "line "
            f"{start} with a name for them and leave that column out: dataset.leave_out=[0]"
        )
    return DatasetError(
        f"{told}; if line {start} is no part of the table, pass over it: dataset.skip_lines={start}"
    )


class TextTable:
    """A delimited text file."""

    def __init__(
        self,
        content: Content,
        lines: FirstLines,
        *,
        words: Sequence[str] = MISSING_WORDS,
        decimal: str = ".",
        hint: str = "",
    ) -> None:
        self.file = content.name
        self.lines = lines
        self.words = ["", *words]
        self._text = content.text.rstrip("\r\n")
        ends = [
            end.end() for end, _ in zip(_LINE.finditer(self._text), range(lines.first_row - 1), strict=False)
        ]
        self._rows_text = self._text[ends[-1] :] if len(ends) == lines.first_row - 1 > 0 else self._text
        if len(ends) < lines.first_row - 1:
            self._rows_text = ""
        self._decimal = decimal
        self._hint = hint
        self._known: dict[int, pd.Series] = {}
        self._text_places: list[int] = []
        if lines.header is None:
            self.names, self.header = numbered_names(lines.n_columns), None
        else:
            self.names = made_different(lines.header)
            self.header = [name or made for name, made in zip(lines.header, self.names, strict=True)]

    def frame(self) -> pd.DataFrame:
        """Read the cells, as numbers where a column holds nothing else."""
        frame = self._read(self.words)
        for place in range(frame.shape[1]):
            self._without_blanks(frame, place)
        while frame.shape[1] > 1 and self._is_nothing(frame):
            frame = frame.iloc[:, :-1]
            del self.names[-1]
            if self.header is not None:
                del self.header[-1]
        frame.columns = self.names
        texts = [not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
        self._text_places = [place for place, is_text in enumerate(texts) if is_text]
        return frame

    def _without_blanks(self, frame: pd.DataFrame, place: int) -> None:
        """Take blanks off the cells of a column of text: a word that means a missing value may have some."""
        column = frame.iloc[:, place]
        if not (pd.api.types.is_object_dtype(column.dtype) or pd.api.types.is_string_dtype(column.dtype)):
            return
        bare = column.map(lambda each: each.strip() if isinstance(each, str) else each)
        missing = bare.isin(self.words) & column.notna()
        if missing.any():
            bare = bare.mask(missing)
            numbers = pd.to_numeric(bare, errors="coerce")
            only = (numbers.notna() | bare.isna()).all() and self._decimal == "."
            frame.isetitem(place, numbers if only else bare)

    def texts(self, places: Sequence[int]) -> dict[int, pd.Series]:
        """Return the cells of columns as text, blanks around them taken off; missing ones are NaN."""
        self._know(places)
        return {place: self._known[place].mask(self._known[place].isin(self.words)) for place in places}

    def _is_nothing(self, frame: pd.DataFrame) -> bool:
        last = frame.shape[1] - 1
        named = self.lines.header is not None and self.lines.header[last]
        return not named and len(frame) > 0 and bool(frame.iloc[:, last].isna().all())

    def column_text(self, place: int) -> pd.Series:
        """Return the cells of one column as they stand in the file, blanks around them taken off."""
        self._know([place])
        return self._known[place]

    def _know(self, places: Sequence[int]) -> None:
        if not set(places) <= set(
            self._known
        ):  # all columns of text in one pass, as one is asked for after another
            unknown = sorted({*places, *self._text_places} - set(self._known))
            cells = self._read(None, unknown)
            self._known |= {place: cells[place].fillna("").map(str.strip) for place in unknown}

    def place_of(self, row: int) -> str:
        """Say on which line a row (0-based) stands, and if the line has too few cells."""
        number = self.lines.first_row + row
        n_cells = len(cells_of(line_at(self._text, number), self.lines.delimiter))
        short = f" ({n_cells} of {len(self.names)} cells)" if 0 < n_cells < len(self.names) else ""
        return f"line {number}{short}"

    def _uneven(self, error: Exception) -> str:
        """Say why the lines are no table; in the words of pandas where no line is found that is to blame."""
        n_columns, delimiter = self.lines.n_columns, self.lines.delimiter
        first = f"line {self.lines.skipped + 1}" if self.lines.header is not None else "the first line"
        last = self.lines.first_row
        try:
            for row in _rows(self._text, self.lines.first_row, delimiter):
                last = row.line
                if len(row.cells) > n_columns and "EOF inside string" not in str(error):
                    return (
                        f"lines have more cells than the first one: {first} has {n_columns}, line {row.line} "
                        f"{len(row.cells)}; take out what is too many, or put a cell that holds {delimiter!r} in "
                        "quotation marks"
                    )
        except csv.Error as wrong:
            return _said(wrong)
        if "EOF inside string" in str(error):
            return (
                f"line {last}: a quotation mark opens a cell that does not end before the file does; close it, or "
                "take it out"
            )
        return str(error).strip().splitlines()[0]

    def line_with(self, column: str) -> int | None:
        """Find a line after the header among whose cells is a name: then that line may be the header."""
        rows = _rows(self._text, self.lines.first_row, self.lines.delimiter)
        try:
            for row, _ in zip(rows, range(_LOOKED_THROUGH), strict=False):
                if find_columns(column, [each.strip() for each in row.cells]):
                    return row.line
        except csv.Error:
            pass
        return None

    def _with_all_cells(self) -> str:
        """Put a line with all cells before the rows: pandas refuses a table whose rows all lack one."""
        # All different: pandas takes the square of their number to tell equal ones apart.
        first = self.lines.delimiter.join(f"x{place}" for place in range(self.lines.n_columns))
        return f"{first}\n{self._rows_text}"

    def _read(self, words: Sequence[str] | None, places: Sequence[int] | None = None) -> pd.DataFrame:
        """Read the columns at ``places``, all of them if not given; as text where no words are given."""
        delimiter = self.lines.delimiter
        if words is None:
            kinds = {"na_filter": False, "dtype": str}
        else:
            kinds = {"keep_default_na": False, "na_values": list(words)}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)  # longer lines are cut else
                return pd.read_csv(
                    io.StringIO(self._with_all_cells()),
                    sep=r"\s+" if delimiter == " " else delimiter,
                    decimal=self._decimal,
                    header=0,  # the line that has all cells
                    names=range(self.lines.n_columns),
                    usecols=places,
                    low_memory=False,
                    skip_blank_lines=False,
                    skipinitialspace=True,
                    index_col=False,
                    **kinds,
                )
        except (
            pd.errors.ParserError,
            pd.errors.ParserWarning,
            pd.errors.EmptyDataError,
            ValueError,
        ) as error:
            raise DatasetError(f"{self.file} is no even table: {self._uneven(error)}{self._hint}") from error


def made_different(names: Sequence[str]) -> list[str]:
    """Make names unique by numbers, and name the nameless, both as pandas does."""
    given, used, result = set(names), set(), []
    for place, name in enumerate(names):
        made = name or f"Unnamed: {place}"
        number = 0
        while made in used or (number and made in given):
            number += 1
            made = f"{name or f'Unnamed: {place}'}.{number}"
        used.add(made)
        result.append(made)
    return result
