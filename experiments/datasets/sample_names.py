"""Columns that name the samples of a person's table: found by their values, and by what people call them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.datasets.column_kinds import are_dates, no_feature, numbers_of, odd_number
from experiments.datasets.names import all_whole_and_different, as_typed, counts_rows, names_rows
from experiments.datasets.raw import as_text
from experiments.errors import DatasetError

#: What a column of whole numbers, another in each row, is called if it names samples.
_CALLED = re.compile(
    r"(^|[\s_.\-])(id|ids|nr|no|number|barcode|accession|key|uid|uuid|mrn)$|^(id|uid|barcode|accession)([\s_.\-]|$)"
    r"|^(patient|subject|sample|participant|person|individual|case|donor|animal|mouse|probe|row|record)s?"
    r"([\s_.\-]?(id|nr|no|number|name|code|key))?$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"[a-z](ID|Id|Nr|No)$")

#: From so many rows on a column that counts them is taken for their names, whatever it is called.
_COUNTED_FROM = 10


def sample_name_columns(
    frame: pd.DataFrame, header: Sequence[str], skipped: set[int], file: str, decimal: str | None
) -> list[tuple[int, str]]:
    """Find columns that name samples."""
    found = []
    looked_at = _not_measured(frame) - skipped
    for place in range(frame.shape[1]):
        if place in looked_at:
            why = _why(frame.iloc[:, place], str(header[place]), place, file, decimal)
            if why:
                found.append((place, why))
    return found


def _not_measured(frame: pd.DataFrame) -> set[int]:
    """Return the places of all columns but those of numbers that are not all whole, which name nothing."""
    kinds = list(frame.dtypes)
    floats = [place for place, kind in enumerate(kinds) if isinstance(kind, np.dtype) and kind.kind == "f"]
    values = frame.iloc[:, floats].to_numpy(dtype=np.float64)
    with np.errstate(invalid="ignore"):
        measured = ((values != np.floor(values)) & ~np.isnan(values)).any(axis=0)
    return set(range(frame.shape[1])) - {floats[place] for place in np.flatnonzero(measured)}


def _why(column: pd.Series, name: str, place: int, file: str, decimal: str | None) -> str:
    there = column.notna()
    if there.sum() < 2 or pd.api.types.is_bool_dtype(column.dtype):
        return ""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return _why_of_numbers(column.to_numpy(dtype=np.float64, na_value=np.nan), name, place)
    if no_feature(column):
        return ""  # the reader refuses it
    texts = [as_text(each).strip() for each in column[there]]
    if len(set(texts)) < len(texts):
        return ""
    if decimal is not None or pd.api.types.is_object_dtype(column.dtype):
        numbers = numbers_of(column.astype(object), decimal)
        typed = decimal is None and all(isinstance(each, str) for each in column[there])
        if not typed and (~np.isnan(numbers[there.to_numpy()])).sum() * 2 > len(texts):
            return ""  # numbers, with a typing error among them
    if sum(bool(odd_number(text, decimal)) for text in texts) * 2 > len(texts):
        return ""
    if are_dates(np.array(texts)):
        raise DatasetError(
            f"{file}: column {name!r} holds dates or times such as {texts[0]!r}; make a number of it, such as days "
            f"since a day, or leave it out: dataset.leave_out={as_typed(name)}"
        )
    return "holds another value in each row"


def _why_of_numbers(numbers: np.ndarray, name: str, place: int) -> str:
    if names_rows(name, place, numbers):
        return "has no name of its own, and another whole number in each row"
    if len(numbers) >= _COUNTED_FROM and counts_rows(numbers):
        return "counts the rows"
    if (_CALLED.search(name) or _CAMEL.search(name)) and all_whole_and_different(numbers):
        return "holds another whole number in each row"
    return ""
