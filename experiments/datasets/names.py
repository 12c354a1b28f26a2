"""Columns by name or place, and columns that name the rows and are no features."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from experiments.errors import DatasetError, meant, near_names

Column = str | int

#: Names that stand for "no name": of pandas ("Unnamed: 0", and in OpenML's spelling "Unnamed:_0";
#: "__index_level_0__"
#: in Parquet files), of R's readr ("...1"), and those that pandas and R give the numbers or names of rows.
_NAMELESS = re.compile(
    r"\s*|unnamed:[ _]?\d+([._]\d+|_level_\d+)*|__index_level_\d+__|\.\.\.\d+"
    r"|index|level_\d+|rows?[._ ]?(names?|numbers?|index)",
    re.IGNORECASE,
)

#: What R's read.csv and fread call a column without a name; real names too, so more must speak against them.
_MADE_BY_R = ("X", "X.1", "V1")

#: A first column of a table without names is looked at from so many rows on; fewer may be whole numbers by chance.
_COUNTED_FROM = 10

#: What messages say of two columns of one name: readers of tables take spaces around names off.
COMPARED = "names are compared without spaces around them"

#: What messages advise where lines are features; where a program can do it, it says so in place of this.
EXCHANGE = "write it with lines and columns exchanged"

_PLAIN = re.compile(r"[A-Za-z0-9_.\-]+")
#: Texts that need no quotation marks in a list, but one pair around the whole setting for a shell.
_NO_MARKS = re.compile(r"[^\s,'\"\[\]{}\\]([^,'\"\[\]{}\\]*[^\s,'\"\[\]{}\\])?")


def listed(columns: Column | Sequence[Column] | None) -> list[Column]:
    """Make a list of what may be one name or place, several, or none."""
    if columns is None:
        return []
    return [columns] if isinstance(columns, str | int) else list(columns)


def composed(text: str) -> str:
    """Write accented letters in one way: as one character each where there is one (Unicode's form NFC)."""
    return unicodedata.normalize("NFC", text)


def find_columns(column: Column, names: Sequence[str]) -> list[int]:
    """Find the places a column may stand at."""
    text = str(column)
    found = [place for place, name in enumerate(names) if name == text]
    if not found and not text.isascii():
        form = composed(text)
        found = [place for place, name in enumerate(names) if composed(name) == form]
    if not found and text.strip() != text:
        return find_columns(text.strip(), names)
    if not found and isinstance(column, int) and not isinstance(column, bool):
        return [column % len(names)] if -len(names) <= column < len(names) else []
    return found


def places_of(
    columns: Column | Sequence[Column], names: Sequence[str], file: str, key: str = "leave_out"
) -> set[int]:
    """Find the places of columns."""
    places = set()
    for each in listed(columns):
        found = find_columns(each, names)
        if len(found) != 1:
            what = f"{len(found)} columns" if found else "no column"
            raise DatasetError(
                f"{file} has {what} {each!r} (dataset.{key}) among its {len(names)}{suggestion(each, names)}"
            )
        places.add(found[0])
    return places


def suggestion(name: Column, valid: Sequence[str] | Mapping[str, object]) -> str:
    """Write the end of a message: names that may have been meant; empty when none is near."""
    near = near_names(str(name), valid, dotted=False)
    alike = near and _looks(near[0]) == _looks(str(name))
    return meant(str(name), valid, dotted=False) + (" (other characters that look the same)" if alike else "")


def _looks(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text)
    return " ".join("".join(each for each in plain if unicodedata.category(each) != "Cf").split())


def as_typed(*columns: Column) -> str:
    """Write a list of columns as the command line takes it: ``[a,'b c',0]``."""
    return f"[{','.join(_quoted(each) for each in columns)}]"


def words_setting(words: Sequence[str]) -> str:
    """Write the setting of words that mean a missing value as a shell takes it."""
    words = list(dict.fromkeys(words))
    if all(_PLAIN.fullmatch(each) for each in words):
        return f"dataset.na_values=[{','.join(words)}]"
    if all(_NO_MARKS.fullmatch(each) for each in words):
        return f"'dataset.na_values=[{','.join(words)}]'"
    return '"dataset.na_values=' + re.sub(r'(["$`])', r"\\\1", as_typed(*words)) + '"'


def _quoted(column: Column) -> str:
    if isinstance(column, int) or _PLAIN.fullmatch(column):
        return str(column)
    return "'" + column.replace("\\", "\\\\").replace("'", "\\'") + "'"


def is_nameless(name: str) -> bool:
    """Whether a name is empty, or one that programs make up for a column without a name or for names of rows."""
    seen = "".join(each for each in name if unicodedata.category(each) not in ("Cf", "Cc"))
    return _NAMELESS.fullmatch(seen) is not None


def all_whole_and_different(values: np.ndarray) -> bool:
    """Whether there are at least two numbers, all known ones whole and none twice."""
    known = values[~np.isnan(values)]
    return (
        len(known) > 1
        and bool(np.isfinite(known).all() and (known == np.floor(known)).all())
        and len(np.unique(known)) == len(known)
    )


def counts_rows(values: np.ndarray) -> bool:
    """Whether the numbers are 0 … n − 1 or 1 … n in any order."""
    if len(values) < 2 or np.isnan(values).any():
        return False
    return np.array_equal(np.sort(values), np.arange(len(values)) + (values.min() == 1))


def names_rows(name: str, place: int, values: np.ndarray) -> bool:
    """Whether a column names the rows, by its name and its values."""
    if is_nameless(name):
        return all_whole_and_different(values)
    return name in _MADE_BY_R and place == 0 and len(values) >= _COUNTED_FROM and counts_rows(values)


def check_row_names(
    X: np.ndarray | sparse.spmatrix,
    names: Sequence[str],
    file: str,
    places: Sequence[int] | None = None,
    advice: str | None = None,
) -> None:
    """Refuse a column that names the rows: without a name, and of whole numbers that are all different."""
    for number, name in enumerate(names):
        place = number if places is None else places[number]
        if (is_nameless(str(name)) or str(name) in _MADE_BY_R) and names_rows(
            str(name), place, _column(X, number)
        ):
            raise row_names_error(file, place, str(name), advice)


def check_first_column(
    X: np.ndarray | sparse.spmatrix, file: str, otherwise: str, *, can_be_named: bool = False
) -> None:
    """Refuse a first column that counts the rows in a file in which no column has a name."""
    if X.shape[0] < _COUNTED_FROM or X.shape[1] < 2:
        return
    first = _column(X, 0)
    refused = counts_rows(first)
    if can_be_named and not refused and all_whole_and_different(first):
        refused = not any(all_whole_and_different(_column(X, place)) for place in range(1, X.shape[1]))
    if refused:
        raise DatasetError(
            f"{file}: column 0 counts the rows, so it is no feature; leave it out: dataset.leave_out=[0] "
            f"(if it is a feature, {otherwise})"
        )


def row_names_error(file: str, place: int, name: str, advice: str | None = None) -> DatasetError:
    """Build the error for a column that names the rows."""
    none = not name.strip() or name.lower().startswith(("unnamed:", "..."))
    return DatasetError(
        f"{file}: column {place} has {'no name' if none else f'the name {name!r}'} and counts the rows (another "
        "whole number in each), so it is no feature; "
        f"{advice or f'leave it out: dataset.leave_out=[{place}]'} (if it is a "
        f"feature, give it {'a name' if none else 'another name'})"
    )


def _column(X: Any, place: int) -> np.ndarray:
    column = X[:, [place]]
    return np.asarray(column.toarray() if sparse.issparse(column) else column, dtype=np.float64).ravel()
