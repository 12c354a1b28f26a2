"""A numeric target: what a source holds, brought to floats. It is never guessed: the data set says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.datasets.classes import exactly
from experiments.datasets.names import Column, as_typed
from experiments.datasets.raw import as_text
from experiments.errors import DatasetError

_INSTEAD = "dataset.task=regression takes one number per sample"
_IF_A_CLASS = re.compile(
    r"; if it is a class, say which words mean a missing value: ['\"]?dataset\.na_values=\[.*\]['\"]?"
)


def check_one_target(targets: Sequence[Column]) -> None:
    """Refuse several targets where the target is a number."""
    if len(targets) > 1:
        one = as_typed(targets[0])[1:-1]
        raise DatasetError(f"{len(targets)} target columns, but {_INSTEAD}; name one: dataset.target={one}")


def target_numbers(labels: Any, place_of: Callable[[int], str], name: str | None = None) -> np.ndarray:
    """Return a numeric target as floats."""
    column = "the target" if name is None else f"the target {name!r}"
    if labels.ndim != 1:
        raise DatasetError(f"{labels.shape[1]} target columns, but {_INSTEAD}")
    kind = labels.dtype.kind
    if kind in "bmMc":
        held = {"b": "truth values", "c": "complex numbers"}.get(kind, "dates or durations")
        raise DatasetError(f"{column} holds {held} ({labels.dtype}); {_INSTEAD}")
    if kind not in "iuf":
        labels = _of_objects(labels, place_of, column)
    numbers = labels.astype(np.float64) + 0.0  # −0 is 0
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        held = "missing" if np.isnan(numbers[wrong[0]]) else "infinite"
        rows = "1 sample is" if wrong.size == 1 else f"{wrong.size} samples are"
        raise DatasetError(
            f"{place_of(int(wrong[0]))}: {column} is {held} ({rows} without a number); put a number there, or take "
            "the sample out of the file"
        )
    if numbers.min() == numbers.max():
        raise DatasetError(
            f"{column} is {as_text(float(numbers[0]))} in each of the {len(numbers)} samples; there is nothing to "
            "predict"
        )
    return numbers


def _of_objects(labels: np.ndarray, place_of: Callable[[int], str], column: str) -> np.ndarray:
    numbers = np.empty(len(labels))
    for row, value in enumerate(labels):
        if not isinstance(value, str) and pd.isna(value):
            numbers[row] = np.nan
            continue
        exact = None if isinstance(value, bool | np.bool_) else exactly(value)
        if exact is None:
            raise DatasetError(
                f"{place_of(row)}: {column} is {str(value)!r}, no number; {_INSTEAD} (without it the target holds "
                "classes)"
            )
        numbers[row] = float(exact)
    return numbers


def in_words_of_numbers(message: str) -> str:
    """Say what readers say of a sample without a class of one without a number."""
    return _IF_A_CLASS.sub("", message).replace("no class", "no number")
