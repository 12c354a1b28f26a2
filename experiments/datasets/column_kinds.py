"""What a column of a typed table holds: numbers, text, or neither, such as dates; and odd numbers in text."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

from experiments.datasets.classes import exactly
from experiments.errors import DatasetError

_HEXADECIMAL = re.compile(r"[+-]?0x[0-9a-f]+", re.IGNORECASE)

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[ap]m)?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE = (
    r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})"
    rf"|\d{{1,2}}[- ./]?{_MONTH}[- ./,]*\d{{2,4}}|{_MONTH}[- .]?\d{{1,2}},?[- ]\d{{4}})"
)
_DATE_TEXT = re.compile(
    rf"(?:{_DATE}(?:[T ]\s*{_CLOCK})?|{_CLOCK})\s*(?:Z|[+-]\d{{2}}:?\d{{2}}|UTC)?", re.IGNORECASE
)

#: Kinds of single cells that are no features, and what a message calls them; the first that fits.
_NO_FEATURES = (
    ((datetime.date, datetime.datetime, np.datetime64, pd.Period), "dates"),
    (datetime.time, "times of day"),
    ((datetime.timedelta, np.timedelta64), "durations"),
    (pd.Interval, "intervals"),
    ((bytes, bytearray, memoryview), "bytes"),
    ((complex, np.complexfloating), "complex numbers"),
)

#: Whole numbers up to this one are exact as floats.
EXACT = 2.0**53
#: What to do about a column with larger ones, where a file has no names to declare.
SMALLER = "leave it out, or make smaller numbers of them"


def no_feature(column: pd.Series) -> str:
    """Say what a column holds that is neither numbers nor text; empty if it holds these."""
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return no_feature(pd.Series(kind.categories))
    if pd.api.types.is_datetime64_any_dtype(kind) or isinstance(kind, pd.PeriodDtype):
        return "dates"
    if pd.api.types.is_timedelta64_dtype(kind):
        return "durations"
    if isinstance(kind, pd.IntervalDtype):
        return "intervals"
    if pd.api.types.is_complex_dtype(kind):
        return "complex numbers"
    if pd.api.types.is_object_dtype(kind):
        for cell_kind in {type(each) for each in column.to_numpy()}:
            for kinds, name in _NO_FEATURES:
                if cell_kind is not type(pd.NaT) and issubclass(cell_kind, kinds):
                    return name
        return ""
    if pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_string_dtype(kind):
        return ""
    return str(kind)


def are_dates(texts: np.ndarray) -> bool:
    """Whether texts are dates or times of day, all of them."""
    return len(texts) > 0 and all(_DATE_TEXT.fullmatch(str(each)) for each in texts)


def numbers_of(column: pd.Series, decimal: str | None) -> np.ndarray:
    """Read a column of text or mixed cells as numbers."""
    if decimal == ",":
        # A point is no decimal point then, and what has one is not read as if it were.
        column = column.astype(object).map(
            lambda each: (
                (np.nan if "." in each else each.replace(",", ".")) if isinstance(each, str) else each
            )
        )
    return pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)


def odd_number(text: str, decimal: str | None) -> str:
    """Say in what odd way a text is a number: ``"hexadecimal"``, ``"comma"``, ``"point"``; empty if in none."""
    if _HEXADECIMAL.fullmatch(text):
        return "hexadecimal"
    point = decimal or "."
    other = "," if point == "." else "."
    if _other_point(point, other).fullmatch(text):
        return "comma" if other == "," else "point"
    return ""


def _other_point(point: str, other: str) -> re.Pattern[str]:
    """Describe numbers whose decimal point, or what parts their thousands, is ``other``."""
    point, other = re.escape(point), re.escape(other)
    whole = rf"\d*{other}\d+"
    grouped = rf"\d{{1,3}}(?:{other}\d{{3}})+{point}\d*"
    grouped_by_point = rf"\d{{1,3}}(?:{point}\d{{3}})+{other}\d*"
    several = rf"\d{{1,3}}(?:{other}\d{{3}})+"
    return re.compile(rf"[+-]?(?:{whole}|{grouped}|{grouped_by_point}|{several})(?:[eE][+-]?\d+)?")


def merged(cells: np.ndarray, numbers: np.ndarray) -> tuple[int, object, object] | None:
    """Find two different whole numbers beyond 2^53 that are equal as floats."""
    met: dict[float, tuple[Decimal, object]] = {}
    for row in np.flatnonzero(np.abs(numbers) >= EXACT):
        cell = cells[row]
        exact = exactly(cell)
        if exact is None or exact != exact.to_integral_value():
            continue
        first = met.setdefault(float(numbers[row]), (exact, cell))
        if first[0] != exact:
            return int(row), first[1], cell
    return None


def equal_as_floats(place: str, first: object, second: object, advice: str = SMALLER) -> str:
    """Say that two different whole numbers of a column, as :func:`merged` finds them, are equal as floats."""
    told = f"{place} holds {second} beside {first}, which are equal as floats"
    return f"{told} (whole numbers are exact up to 2^53); {advice}"


class LargeNumbers:
    """Whole numbers beyond 2^53 met so far in each column of a text file, whose attributes may have names."""

    def __init__(self, names: Sequence[str] | None = None) -> None:
        self._names = names
        self._met: dict[tuple[int, float], tuple[Decimal, str]] = {}

    def check(self, columns: np.ndarray, values: np.ndarray, texts: Sequence[str], where: str) -> None:
        """Refuse a number that is another than one met before in its column, and the same as a float."""
        for place in np.flatnonzero(np.abs(values) >= EXACT).tolist():
            exact = exactly(texts[place])
            if exact is None:
                continue
            key = int(columns[place]), float(values[place])
            first = self._met.setdefault(key, (exact, texts[place]))
            if first[0] != exact:
                column = f"column {key[0]}" if self._names is None else f"attribute {self._names[key[0]]!r}"
                raise DatasetError(f"{where}: {equal_as_floats(column, first[1], texts[place])}")
