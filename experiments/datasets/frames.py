"""Tables with named columns of numbers and text, taken apart into features and a class or labels."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets.raw import RawData, as_text
from experiments.errors import DatasetError, near_names

logger = logging.getLogger(__name__)

Column = str | int

#: Text columns with at least this many values, all different, are taken for names of rows and refused.
_NAMES_FROM = 20

#: What pandas calls columns without a name; writing a frame with its index makes one.
_NAMELESS = "Unnamed: "

_LABEL_TEXTS = {"0": 0, "1": 1, "false": 0, "true": 1}

#: How many names a warning lists before it says "…".
_SHOWN = 10

_HEXADECIMAL = re.compile(r"[+-]?0x[0-9a-f]+", re.IGNORECASE)


def listed(columns: Column | Sequence[Column] | None) -> list[Column]:
    """Make a list of what may be one name or place, several, or none.

    Parameters
    ----------
    columns : str, int, sequence of them, or None
        As typed: ``dataset.leave_out=id`` or ``dataset.leave_out=[id,day]``.

    Returns
    -------
    list of str or int
    """
    if columns is None:
        return []
    return [columns] if isinstance(columns, str | int) else list(columns)


class FrameReader:
    """A data frame that becomes features and a class, or features and labels.

    Parameters
    ----------
    frame : DataFrame
        Columns named by text.
    file : str
        Where it is from, for messages.
    place_of : callable
        Row number (0-based) → where the row stands in the file, for messages.
    hint : str
        What a message adds when a column is not there.
    decimal : str, optional
        The decimal point of numbers in text, ``"."`` or ``","``, where the user can choose it.
    header : sequence of str, optional
        Names as they stand in the file, where those of the frame were made different from one another.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        file: str,
        place_of: Callable[[int], str],
        hint: str = "",
        *,
        decimal: str | None = None,
        header: Sequence[str] | None = None,
    ) -> None:
        self._frame = frame
        self._names = [str(each) for each in frame.columns]
        self._file = file
        self._place_of = place_of
        self._hint = hint
        self._decimal = decimal
        header = list(self._names if header is None else header)
        self._twice = {
            name for name, count in pd.Series(header, dtype=object).value_counts().items() if count > 1
        }
        self._header = header

    def raw(
        self,
        target: Column | Sequence[Column],
        leave_out: Sequence[Column],
        nominal: Sequence[Column],
    ) -> RawData:
        """Take the frame apart.

        Parameters
        ----------
        target : str, int, or sequence of them
            The class column, by name or place; several are labels.
        leave_out : sequence of str or int
            Columns that are no features.
        nominal : sequence of str or int
            Columns that hold names even where they look like numbers.

        Returns
        -------
        RawData

        Raises
        ------
        DatasetError
            No such column, or two of that name; text among numbers, numbers with a comma or in hexadecimal, dates,
            lists, names of rows; two features of one name; a row without a class; a label other than 0 and 1.
        """
        single = isinstance(target, str) or not isinstance(target, Sequence)
        wanted = [self._place(each, "target") for each in ([target] if single else target)]
        if len(set(wanted)) < len(wanted):
            raise DatasetError(f"{self._file}: a column is named twice in dataset.target")
        named = {self._place(each, "nominal") for each in listed(nominal)}
        gone = {*wanted, *(self._place(each, "leave_out") for each in listed(leave_out))}
        kept = [place for place in range(len(self._names)) if place not in gone]
        self._tell_of_doubles(kept)
        X = np.empty((len(self._frame), len(kept)))
        values = {}
        for new, place in enumerate(kept):
            X[:, new], texts = self._feature(place, place in named)
            if texts is not None:
                values[new] = texts
        names = [self._names[place] for place in kept]
        if single:
            return RawData(X, self._classes(wanted[0]), names, nominal=values or None, place_of=self._in_file)
        labels = (
            np.column_stack([self._label(place) for place in wanted]) if wanted else np.empty((len(X), 0))
        )
        label_names = [self._names[place] for place in wanted]
        return RawData(
            X,
            sparse.csr_matrix(labels),
            names,
            label_names=label_names,
            nominal=values or None,
            place_of=self._in_file,
        )

    def _in_file(self, row: int) -> str:
        return f"{self._file}, {self._place_of(row)}"

    def _tell_of_doubles(self, kept: Sequence[int]) -> None:
        doubles = {
            self._names[place]: self._header[place] for place in kept if self._header[place] in self._twice
        }
        if doubles:
            known = ", ".join(list(doubles)[:_SHOWN]) + (", …" if len(doubles) > _SHOWN else "")
            logger.warning("%s: several columns have the same name; known as %s", self._file, known)

    def _place(self, column: Column, key: str) -> int:
        if str(column) in self._twice:
            places = [place for place, name in enumerate(self._header) if name == str(column)]
            shown = ", ".join(str(place) for place in places[:_SHOWN])
            raise DatasetError(
                f"{self._file}: {len(places)} columns are called {column!r} (dataset.{key}): {shown}, from 0; "
                "give the place of the one that is meant in place of the name"
            )
        if str(column) in self._names:
            return self._names.index(str(column))
        n_columns = len(self._names)
        if isinstance(column, int) and not isinstance(column, bool) and -n_columns <= column < n_columns:
            return column % n_columns
        near = near_names(str(column), self._names)
        near = f"; did you mean {' or '.join(near)}?" if near else ""
        raise DatasetError(
            f"{self._file} has no column {column!r} (dataset.{key}) among its {n_columns}{near}{self._hint}"
        )

    def _feature(self, place: int, as_names: bool) -> tuple[np.ndarray, list[str] | None]:
        """Return a column's numbers; for a nominal one places in a list of values, and that list."""
        column, name = self._frame.iloc[:, place], self._names[place]
        kind = column.dtype
        if name.startswith(_NAMELESS) and np.array_equal(column, np.arange(len(column))):
            raise DatasetError(
                f"{self._file}: column {place} has no name and counts the rows, so it is no feature; "
                f"leave it out: dataset.leave_out=[{place}]"
            )
        if isinstance(kind, pd.CategoricalDtype):
            as_names = True
        elif pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind):
            if not as_names:
                return column.to_numpy(dtype=np.float64, na_value=np.nan), None
        elif not (pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind)):
            raise DatasetError(
                f"{self._file}: column {name!r} holds neither numbers nor text ({kind}); "
                f"leave it out: dataset.leave_out=[{name}]"
            )
        there = column.notna().to_numpy()
        self._check_lists(column, there, name)
        if not as_names:
            numbers = self._numbers(column)
            is_number = ~np.isnan(numbers)
            if is_number[there].all():
                return numbers, None
            self._check_odd_numbers(column, there & ~is_number, name)
            if is_number.any():
                row = int(np.flatnonzero(there & ~is_number)[0])
                raise DatasetError(
                    f"{self._file}, {self._place_of(row)}: column {name!r} holds {str(column.iloc[row])!r} among "
                    f"numbers; if its values are names, say dataset.nominal=[{name}]"
                )
        texts = [as_text(each).strip() for each in column[there]]
        distinct, codes = np.unique(texts, return_inverse=True)
        if len(distinct) == len(texts) >= _NAMES_FROM and not as_names:
            raise DatasetError(
                f"{self._file}: column {name!r} holds another text in every row; if it names the rows, leave it "
                f"out: dataset.leave_out=[{name}]; if not, say dataset.nominal=[{name}]"
            )
        coded = np.full(len(column), np.nan)
        coded[there] = codes
        return coded, [str(each) for each in distinct]

    def _check_lists(self, column: pd.Series, there: np.ndarray, name: str) -> None:
        for row, cell in zip(np.flatnonzero(there), column[there].to_numpy(dtype=object), strict=True):
            if pd.api.types.is_list_like(cell):
                raise DatasetError(
                    f"{self._file}, {self._place_of(int(row))}: column {name!r} holds lists or records, neither "
                    f"numbers nor text; make a column of each part, or leave it out: dataset.leave_out=[{name}]"
                )

    def _numbers(self, column: pd.Series) -> np.ndarray:
        if self._decimal == ",":
            # A point is no decimal point then, and what has one is not read as if it were.
            texts = column.astype(object).map(
                lambda each: (
                    (np.nan if "." in each else each.replace(",", ".")) if isinstance(each, str) else each
                )
            )
            return pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        return pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)

    def _check_odd_numbers(self, column: pd.Series, which: np.ndarray, name: str) -> None:
        """Refuse numbers that are written in another way: as names they would become a column for each value."""
        as_names = f"if its values are names, say dataset.nominal=[{name}]"
        point = self._decimal or "."
        other = "," if point == "." else "."
        written = _other_point(point, other)
        for row, cell in zip(np.flatnonzero(which), column[which].to_numpy(dtype=object), strict=True):
            text = str(cell).strip()
            is_hexadecimal = _HEXADECIMAL.fullmatch(text)
            if not (is_hexadecimal or written.fullmatch(text)):
                continue
            start = f"{self._file}, {self._place_of(int(row))}: column {name!r} holds {text!r}"
            if is_hexadecimal:
                raise DatasetError(
                    f"{start}, a hexadecimal number; write it with decimal digits, or {as_names}"
                )
            what = "comma" if other == "," else "point"
            if self._decimal is None:
                advice = "store it as a number"
            else:
                advice = (
                    f"if that is the decimal {what}, say dataset.decimal='{other}'; "
                    "if it parts thousands, take it out of the file"
                )
            raise DatasetError(f"{start}, a number with a {what}: {advice}; {as_names}")

    def _classes(self, place: int) -> np.ndarray:
        column, name = self._frame.iloc[:, place], self._names[place]
        missing = np.flatnonzero(column.isna().to_numpy())
        if missing.size:
            raise DatasetError(
                f"{self._file}, {self._place_of(int(missing[0]))}: no class in column {name!r} "
                f"({missing.size} of {len(column)} rows have none)"
            )
        if pd.api.types.is_numeric_dtype(column.dtype):
            return column.to_numpy()
        return np.array([as_text(each).strip() for each in column])

    def _label(self, place: int) -> np.ndarray:
        column, name = self._frame.iloc[:, place], self._names[place]
        texts = [as_text(each).strip().lower() for each in column]
        for row, text in enumerate(texts):
            if text not in _LABEL_TEXTS:
                raise DatasetError(
                    f"{self._file}, {self._place_of(row)}: label {name!r} is {str(column.iloc[row])!r}, "
                    "neither 0 nor 1"
                )
        return np.array([_LABEL_TEXTS[text] for text in texts], dtype=np.int8)


def _other_point(point: str, other: str) -> re.Pattern[str]:
    """Describe numbers whose decimal point, or what parts their thousands, is ``other``."""
    point, other = re.escape(point), re.escape(other)
    whole = rf"\d*{other}\d+"
    grouped = rf"\d{{1,3}}(?:{other}\d{{3}})+{point}\d*"
    grouped_by_point = rf"\d{{1,3}}(?:{point}\d{{3}})+{other}\d*"
    several = rf"\d{{1,3}}(?:{other}\d{{3}})+"
    return re.compile(rf"[+-]?(?:{whole}|{grouped}|{grouped_by_point}|{several})(?:[eE][+-]?\d+)?")
