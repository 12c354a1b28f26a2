"""Classes that are written as text: numbers where nothing is lost by it, and targets that are no classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import numpy as np

from experiments.datasets.raw import as_text
from experiments.errors import DatasetError

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?")
#: Numbers with commas, or beyond all others: no classes either, when there are many.
_OTHER_NUMBER = re.compile(r"[+-]?(?:\d[\d.,]*(?:[eE][+-]?\d{1,4})?|inf(?:inity)?)", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d+")
_IS_WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?")
_INT64 = range(-(2**63), 2**63)

#: A target is numeric, here and in the command rank, with more different numbers than this, and fewer rows than ten
#: to each on average, or numbers that are not whole.
_MOST_CLASSES = 10
_ROWS_PER_CLASS = 10


def classes_of_texts(
    texts: Sequence[str] | np.ndarray, class_names: Mapping[str, str] | None = None
) -> tuple[np.ndarray, dict[str, str]]:
    """Make classes of texts that may be numbers."""
    given = {str(key): str(value) for key, value in (class_names or {}).items()}
    distinct, places = np.unique(np.asarray(texts, dtype=str), return_inverse=True)
    numbers = _numbers([str(each) for each in distinct])
    if numbers is None:
        return distinct[places], given
    names = {as_text(number): str(text) for number, text in zip(numbers, distinct, strict=True)}
    named = {number: given.get(text, given.get(number, text)) for number, text in names.items()}
    return numbers[places], named


def _numbers(distinct: Sequence[str]) -> np.ndarray | None:
    """Read numbers; ``None`` if one is none, or two become the same."""
    if not distinct or not all(_NUMBER.fullmatch(text) for text in distinct):
        return None
    if all(_WHOLE.fullmatch(text) for text in distinct):
        whole = [int(text) for text in distinct]
        if len(set(whole)) < len(whole) or any(each not in _INT64 for each in whole):
            return None
        return np.array(whole, dtype=np.int64)
    numbers = np.array([float(text) for text in distinct])
    if len(np.unique(numbers)) < len(numbers) or not np.isfinite(numbers).all():
        return None
    return numbers


def check_target_is_no_number(class_names: Iterable[str], n_rows: int, target: str | None = None) -> None:
    """Refuse a numeric target, whose numbers would be taken for classes."""
    names = list(class_names)
    if not is_numeric_target(names, n_rows):
        return
    column = "the target" if target is None else f"the target column {target!r}"
    raise DatasetError(
        f"{column} is numeric: {len(names)} different numbers in {n_rows} rows; say dataset.task=regression, "
        "choose a column of classes (dataset.target), or make names of the numbers, such as low and high"
    )


def is_numeric_target(class_names: Sequence[str], n_rows: int) -> bool:
    """Whether classes look like the values of a numeric target."""
    if not are_many_numbers(class_names):
        return False
    few = n_rows < _ROWS_PER_CLASS * len(class_names)
    return few or not all(_IS_WHOLE.fullmatch(str(each)) for each in class_names)


def are_many_numbers(class_names: Sequence[str]) -> bool:
    """Whether there are more than 10 classes, and all are numbers."""
    return len(class_names) > _MOST_CLASSES and all(
        _NUMBER.fullmatch(str(each)) or _OTHER_NUMBER.fullmatch(str(each)) for each in class_names
    )


def exactly(value: object) -> Decimal | None:
    """Return the exact number that a cell holds, a number or a text; ``None`` if it is none."""
    text = str(value).strip()
    return Decimal(text) if _NUMBER.fullmatch(text) else None
