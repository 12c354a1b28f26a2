"""Tables with named columns of numbers and text, taken apart into features and a class or labels."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets.classes import classes_of_texts, exactly
from experiments.datasets.column_kinds import (
    EXACT,
    are_dates,
    equal_as_floats,
    merged,
    no_feature,
    numbers_of,
    odd_number,
)
from experiments.datasets.names import (
    COMPARED,
    EXCHANGE,
    Column,
    as_typed,
    check_first_column,
    composed,
    counts_rows,
    find_columns,
    is_nameless,
    listed,
    names_rows,
    row_names_error,
    suggestion,
    words_setting,
)
from experiments.datasets.raw import RawData, as_text
from experiments.errors import DatasetError

logger = logging.getLogger(__name__)

#: Text columns with at least this many values, all different, are taken for names of rows and refused.
_NAMES_FROM = 20

_LABEL_TEXTS = {"0": 0, "1": 1, "false": 0, "true": 1}

#: How many names a warning lists before it says "…".
_SHOWN = 10

#: A word that means a missing value as a rule, and is a name as likely: no program writes it for a missing value.
_DOUBTFUL = "None"

#: Marks that are no names.
_PLAIN_MARKS = ("", "?", "<NA>")


class FrameReader:
    """A data frame that becomes features and a class, or features and labels."""

    def __init__(
        self,
        frame: pd.DataFrame,
        file: str,
        place_of: Callable[[int], str],
        hint: str = "",
        *,
        decimal: str | None = None,
        header: Sequence[str] | None = None,
        named: bool = True,
        cells: Callable[[int], pd.Series] | None = None,
        words: Sequence[str] = (),
        words_given: bool = True,
        line_with: Callable[[str], int | None] | None = None,
        turnable: bool = True,
    ) -> None:
        self._frame = frame
        self._names = [str(each) for each in frame.columns]
        self._file = file
        self._place_of = place_of
        self._hint = hint
        self._decimal = decimal
        self._named = named
        self._cells = cells
        self._words = list(words)
        self._words_given = words_given
        self._line_with = line_with
        self._turnable = turnable
        self._kept: set[int] = set()
        header = list(self._names if header is None else header)
        self._twice = {
            name for name, count in pd.Series(header, dtype=object).value_counts().items() if count > 1
        }
        self._header = header

    def place(self, column: Column, key: str) -> int:
        """Return the place of a column."""
        text = str(column)
        found = find_columns(column, self._header)
        if not found or (len(found) == 1 and text in self._names and text not in self._header):
            found = find_columns(column, self._names)
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(str(place) for place in found[:_SHOWN])
            raise DatasetError(
                f"{self._file}: {len(found)} columns are called {column!r} (dataset.{key}): {shown}, from 0 "
                f"({COMPARED}); give the place of the one that is meant in place of the name"
            )
        near = suggestion(text, self._names)
        row = self._row_called(text)
        line = self._line_with(text) if self._line_with and row is None else None
        hint = near or self._hint
        if row is not None:
            hint = (
                f"{near}; {self._place_of(row)} begins with it: if the table has a line for each feature, such as "
                f"genes × samples, {EXCHANGE}"
            )
        elif line is not None:
            hint = f"{near}; line {line} holds it: if that line holds the names, type dataset.skip_lines={line - 1}"
        raise DatasetError(
            f"{self._file} has no column {column!r} (dataset.{key}) among its {len(self._names)}{hint}"
        )

    def _row_called(self, name: str) -> int | None:
        """Find the row that begins with a name and goes on with values, where each row has a name of its own."""
        if not self._turnable or not self._frame.shape[1]:
            return None
        called = [composed(as_text(each).strip()) for each in self._frame.iloc[:, 0]]
        if called.count(composed(name.strip())) != 1 or len(set(called)) < len(called):
            return None
        row = called.index(composed(name.strip()))
        cells = [as_text(each).strip() for each in self._frame.iloc[row, 1:] if not pd.isna(each)]
        are_values = len(set(cells)) < len(cells) or any(exactly(each) is not None for each in cells)
        return row if are_values else None

    @property
    def file(self) -> str:
        """What messages call the file."""
        return self._file

    def name(self, place: int) -> str:
        """Return the name of the column at a place."""
        return self._names[place]

    def texts(self, place: int) -> list[str]:
        """Return the cells of a column as text; empty where they are missing."""
        column = self._frame.iloc[:, place]
        self._check_kind(column, self._names[place])
        self._check_lists(column, column.notna().to_numpy(), self._names[place])
        return ["" if pd.isna(each) else as_text(each) for each in column]

    def where(self, row: int) -> str:
        """Say where a row (0-based) stands, with the file."""
        return self._in_file(row)

    def raw(
        self,
        target: Column | Sequence[Column],
        leave_out: Column | Sequence[Column],
        nominal: Column | Sequence[Column],
        kept: Sequence[int] = (),
    ) -> RawData:
        """Take the frame apart."""
        self._kept = set(kept)
        single = isinstance(target, str) or not isinstance(target, Sequence)
        wanted = [self.place(each, "target") for each in listed(target)]
        if len(set(wanted)) < len(wanted):
            raise DatasetError(f"{self._file}: a column is named twice in dataset.target")
        named = {self.place(each, "nominal") for each in listed(nominal)}
        gone = {*wanted, *(self.place(each, "leave_out") for each in listed(leave_out))}
        kept = [place for place in range(len(self._names)) if place not in gone]
        self._tell_of_doubles(kept)
        X, values = self._features(kept, named)
        parts: dict[str, Any] = {
            "nominal": values or None,
            "place_of": self._in_file,
            "missing_word": lambda row, column: self._word(row, kept[column]),
        }
        names = [self._names[place] for place in kept]
        if single:
            classes, class_names = self._classes(wanted[0])
            return RawData(X, classes, names, class_names or None, target=self._names[wanted[0]], **parts)
        labels = (
            np.column_stack([self._label(place) for place in wanted]) if wanted else np.empty((len(X), 0))
        )
        label_names = [self._names[place] for place in wanted]
        return RawData(X, sparse.csr_matrix(labels), names, label_names=label_names, **parts)

    def _features(self, kept: Sequence[int], named: set[int]) -> tuple[np.ndarray, dict[int, list[str]]]:
        """Return columns as numbers, and the values of those that are nominal."""
        X = np.empty((len(self._frame), len(kept)))
        values = {}
        for new, place in enumerate(kept):
            X[:, new], texts = self._feature(place, place in named)
            if texts is not None:
                values[new] = texts
        self._check_counters(X, kept, values)
        return X, values

    def _in_file(self, row: int) -> str:
        return f"{self._file}, {self._place_of(row)}"

    def _word(self, row: int, place: int) -> str:
        """Return the word that stands for a missing value; empty for an empty cell or where it is not known."""
        return str(self._cells(place).iloc[row]).strip() if self._cells else ""

    def _tell_of_doubles(self, kept: Sequence[int]) -> None:
        doubles = {
            self._names[place]: self._header[place] for place in kept if self._header[place] in self._twice
        }
        if doubles:
            known = ", ".join(list(doubles)[:_SHOWN]) + (", …" if len(doubles) > _SHOWN else "")
            logger.warning(
                "%s: several columns have the same name; known as %s (%s)", self._file, known, COMPARED
            )

    def _tell_of_nameless(self, X: np.ndarray, kept: Sequence[int], values: dict[int, list[str]]) -> None:
        """Tell of columns without a name that hold whole numbers: rows taken twice have the same one twice."""
        found = [
            place
            for new, place in enumerate(kept)
            if new not in values
            and place not in self._kept
            and is_nameless(self._header[place])
            and _are_whole(X[:, new])
        ]
        if found:
            logger.warning(
                "%s: without a name, and taken for features: columns %s, from 0; if they number the rows, say "
                "dataset.leave_out=%s",
                self._file,
                ", ".join(str(place) for place in found[:_SHOWN]),
                as_typed(*found[:_SHOWN]),
            )

    def _check_counters(self, X: np.ndarray, kept: Sequence[int], values: dict[int, list[str]]) -> None:
        """Look for columns that count the rows: refused where no column has a name, told of where they have."""
        if not self._named:
            if kept[:1] == [0] and 0 not in values:
                check_first_column(X, self._file, "give the file a line of names", can_be_named=True)
            return
        self._tell_of_nameless(X, kept, values)
        counting = [
            self._names[place]
            for new, place in enumerate(kept)
            if new not in values and place not in self._kept and _counts(X[:, new])
        ]
        if 0 < len(counting) < len(kept):
            logger.warning(
                "%s: the values of %s are a number for each row; if they are no feature, say dataset.leave_out=%s",
                self._file,
                ", ".join(counting[:_SHOWN]),
                as_typed(*counting[:_SHOWN]),
            )

    def _feature(self, place: int, as_names: bool) -> tuple[np.ndarray, list[str] | None]:
        """Return a column's numbers; for a nominal one places in a list of values, and that list."""
        column, name = self._frame.iloc[:, place], self._names[place]
        kind = column.dtype
        there = column.notna().to_numpy()
        if not there.any() and len(column) and self._named and is_nameless(self._header[place]):
            raise DatasetError(
                f"{self._file}: column {place} has neither a name nor values; leave it out: "
                f"dataset.leave_out=[{place}]"
            )
        self._check_kind(column, name)
        if isinstance(kind, pd.CategoricalDtype):
            as_names = True
        elif pd.api.types.is_numeric_dtype(kind):
            numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
            self._check_row_names(place, numbers)
            if not as_names:
                self._check_merged(place, column, numbers)
                return numbers, None
        self._check_lists(column, there, name)
        numbers = None if isinstance(kind, pd.CategoricalDtype) else numbers_of(column, self._decimal)
        if numbers is not None and not np.isnan(numbers[there]).any():
            self._check_row_names(place, numbers)
        if not as_names and self._is_text(column, there):
            self._check_odd_numbers(column, there, name)
            as_names = self._told_of_numbers(numbers[there], name)
        if not as_names:
            is_number = ~np.isnan(numbers)
            if is_number[there].all():
                self._check_merged(place, column, numbers)
                return numbers, None
            self._check_odd_numbers(column, there & ~is_number, name)
            if is_number.any():
                row = int(np.flatnonzero(there & ~is_number)[0])
                word = str(column.iloc[row]).strip()
                words = (
                    ""
                    if self._cells is None
                    else f"; if it means a missing value, {words_setting([*self._words, word])}"
                )
                raise DatasetError(
                    f"{self._file}, {self._place_of(row)}: column {name!r} holds {word!r} among "
                    f"numbers; if its values are names, say dataset.nominal={as_typed(name)}{words}"
                )
        self._check_missing_words(place, there)
        self._check_nul(column[there], name)
        texts = [self._text(each) for each in column[there]]
        distinct, codes = np.unique(texts, return_inverse=True)
        self._check_names(place, distinct, len(texts), as_names)
        coded = np.full(len(column), np.nan)
        coded[there] = codes
        return coded, [str(each) for each in distinct]

    def _check_nul(self, column: pd.Series, name: str) -> None:
        """Refuse NUL characters: arrays of text drop them at the end, and two values would become one."""
        for cell in column.unique():
            if isinstance(cell, str) and "\0" in cell:
                raise DatasetError(
                    f"{self._file}: column {name!r} has a NUL character in {cell!r}; take it out"
                )

    def _is_text(self, column: pd.Series, there: np.ndarray) -> bool:
        """Whether the format says that the column is text: then it holds names, whatever they look like."""
        if self._decimal is not None:
            return False
        if not pd.api.types.is_object_dtype(column.dtype):
            return pd.api.types.is_string_dtype(column.dtype)
        return bool(there.any()) and all(isinstance(each, str) for each in column[there])

    def _told_of_numbers(self, numbers: np.ndarray, name: str) -> bool:
        """Tell of text that holds numbers; return whether there is any."""
        found = bool((~np.isnan(numbers)).any())
        if found:
            logger.warning(
                "%s: column %s is text with numbers in it, so its values are names; store them as numbers if they "
                "are",
                self._file,
                name,
            )
        return found

    def _text(self, cell: object) -> str:
        text = as_text(cell).strip()
        if self._decimal == "," and exactly(text.replace(",", ".")) is not None:
            return text.replace(",", ".")
        return text

    def _check_kind(self, column: pd.Series, name: str, role: str = "") -> None:
        kind = no_feature(column)
        if kind:
            advice = f"leave it out: dataset.leave_out={as_typed(name)}"
            if kind in ("dates", "times of day", "durations"):
                advice = f"make a number of it, such as days since a day, or {advice}"
            if role:
                advice = f"make text of it where it is a {role}"
            raise DatasetError(
                f"{self._file}: column {name!r} holds neither numbers nor text ({kind}); {advice}"
            )

    def _check_row_names(self, place: int, numbers: np.ndarray) -> None:
        if self._named and place not in self._kept and names_rows(self._header[place], place, numbers):
            raise row_names_error(self._file, place, self._header[place])

    def _check_names(self, place: int, distinct: np.ndarray, n_there: int, as_names: bool) -> None:
        """Refuse names of rows and dates, which would become a column for each value."""
        if as_names:
            return
        name = self._names[place]
        nameless = self._named and is_nameless(self._header[place])
        if len(distinct) == n_there >= (2 if nameless else _NAMES_FROM):
            column = as_typed(place if nameless else name)
            raise DatasetError(
                f"{self._file}: column {place if nameless else repr(name)} holds another text in every row; if it "
                "names "
                f"the rows, leave it out: dataset.leave_out={column}; else say dataset.nominal={column}"
            )
        if are_dates(distinct):
            raise DatasetError(
                f"{self._file}: column {name!r} holds dates or times such as {str(distinct[0])!r}; make a number "
                "of "
                "it, "
                f"or leave it out: dataset.leave_out={as_typed(name)}; if its values are names, say "
                f"dataset.nominal={as_typed(name)}"
            )

    def _check_missing_words(self, place: int, there: np.ndarray) -> None:
        """Tell of words in a column of names that are taken for missing values though nobody said so."""
        if self._words_given or self._cells is None or there.all():
            return
        words = self._cells(place)[~there]
        counts = words[~words.isin(_PLAIN_MARKS)].value_counts()
        if not len(counts):
            return
        name = self._names[place]
        if _DOUBTFUL in counts.index:
            row = int(np.flatnonzero((self._cells(place) == _DOUBTFUL).to_numpy())[0])
            raise DatasetError(
                f"{self._file}, {self._place_of(row)}: column {name!r} holds {_DOUBTFUL!r} among names; say which "
                "words "
                f"mean a missing value: {words_setting(self._words)} if it is one, "
                f"{words_setting(self._without(_DOUBTFUL))} if it is a name"
            )
        shown = ", ".join(f"{word!r} ({count} times)" for word, count in counts.items())
        logger.warning(
            "%s: in column %s %s means a missing value; dataset.na_values says which words do",
            self._file,
            name,
            shown,
        )

    def _without(self, word: str) -> list[str]:
        return [each for each in self._words if each != word]

    def _check_lists(self, column: pd.Series, there: np.ndarray, name: str) -> None:
        if not pd.api.types.is_object_dtype(column.dtype):
            return
        for row, cell in zip(np.flatnonzero(there), column[there].to_numpy(dtype=object), strict=True):
            if pd.api.types.is_list_like(cell):
                raise DatasetError(
                    f"{self._file}, {self._place_of(int(row))}: column {name!r} holds lists or records, neither "
                    "numbers nor text; make a column of each part, or leave it out: "
                    f"dataset.leave_out={as_typed(name)}"
                )

    def _check_merged(self, place: int, column: pd.Series, numbers: np.ndarray) -> None:
        """Refuse whole numbers that only a text or a longer type keeps apart."""
        if not (np.abs(numbers) >= EXACT).any():
            return
        is_float = pd.api.types.is_float_dtype(column.dtype)
        cells = self._cells(place) if is_float and self._cells else column
        found = merged(cells.to_numpy(dtype=object), numbers)
        if found:
            row, first, second = found
            name = as_typed(self._names[place])
            told = equal_as_floats(
                f"column {self._names[place]!r}",
                first,
                second,
                f"if they are names, say dataset.nominal={name}, else leave it out: dataset.leave_out={name}",
            )
            raise DatasetError(f"{self._file}, {self._place_of(row)}: {told}")

    def _check_odd_numbers(self, column: pd.Series, which: np.ndarray, name: str) -> None:
        """Refuse numbers that are written in another way: as names they would become a column for each value."""
        as_names = f"if its values are names, say dataset.nominal={as_typed(name)}"
        for row, cell in zip(np.flatnonzero(which), column[which].to_numpy(dtype=object), strict=True):
            text = str(cell).strip()
            odd = odd_number(text, self._decimal)
            if not odd:
                continue
            start = f"{self._file}, {self._place_of(int(row))}: column {name!r} holds {text!r}"
            if odd == "hexadecimal":
                raise DatasetError(
                    f"{start}, a hexadecimal number; write it with decimal digits, or {as_names}"
                )
            if self._decimal is None:
                advice = "store it as a number"
            else:
                advice = (
                    f"if that is the decimal {odd}, say dataset.decimal='{',' if odd == 'comma' else '.'}'; "
                    "if it parts thousands, take it out of the file"
                )
            raise DatasetError(f"{start}, a number with a {odd}: {advice}; {as_names}")

    def _classes(self, place: int) -> tuple[np.ndarray, dict[str, str]]:
        column, name = self._frame.iloc[:, place], self._names[place]
        missing = np.flatnonzero(column.isna().to_numpy())
        if missing.size:
            row = int(missing[0])
            word = self._word(row, place)
            told = f"no class in column {name!r}"
            if word:
                told = (
                    f"{word!r} in column {name!r} means a missing value, so the row has no class; if it is a "
                    "class, say which words mean a missing value: "
                    f"{words_setting(self._without(word))}"
                )
            raise DatasetError(
                f"{self._in_file(row)}: {told} ({missing.size} of {len(column)} rows have none)"
                + ("" if word else "; put one there, or take the row out of the file")
            )
        self._check_kind(column, name, "class")
        self._check_lists(column, column.notna().to_numpy(), name)
        self._check_nul(column, name)
        class_names: dict[str, str] = {}
        if pd.api.types.is_numeric_dtype(column.dtype):
            classes = column.to_numpy()
        elif self._decimal is None:
            classes = np.array([as_text(each).strip() for each in column])
        else:
            classes, class_names = classes_of_texts([self._text(each) for each in column])
        return classes, class_names

    def _label(self, place: int) -> np.ndarray:
        column, name = self._frame.iloc[:, place], self._names[place]
        self._check_kind(column, name, "label")
        texts = [as_text(each).strip().lower() for each in column]
        for row, text in enumerate(texts):
            if text not in _LABEL_TEXTS:
                if pd.isna(column.iloc[row]):
                    word = self._word(row, place)
                    told = f"missing ({word!r}: dataset.na_values)" if word else "missing"
                else:
                    told = repr(str(column.iloc[row]))
                raise DatasetError(f"{self._in_file(row)}: label {name!r} is {told}, neither 0 nor 1")
        return np.array([_LABEL_TEXTS[text] for text in texts], dtype=np.int8)


def _counts(values: np.ndarray) -> bool:
    return len(values) >= _NAMES_FROM and counts_rows(values)


def _are_whole(values: np.ndarray) -> bool:
    """Whether there are more than two different numbers, all known ones whole."""
    known = values[np.isfinite(values)]
    return len(np.unique(known)) > 2 and bool((known == np.floor(known)).all())
