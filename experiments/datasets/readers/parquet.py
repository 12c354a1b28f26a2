"""Parquet files as data frames whose cells are what the file holds."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from experiments.datasets.download import Content, reason_of
from experiments.datasets.names import Column, find_columns
from experiments.errors import DatasetError

logger = logging.getLogger(__name__)


def parquet_frame(
    file: Content, words: Sequence[str], wanted: Sequence[Column]
) -> tuple[pd.DataFrame, Callable[[int], pd.Series]]:
    """Read a Parquet file."""
    import pyarrow.parquet as pq

    try:
        frame = pq.read_table(io.BytesIO(file.data)).to_pandas(integer_object_nulls=True)
    except Exception as error:  # pyarrow raises many kinds on damaged input
        raise DatasetError(
            f"{file.name} cannot be read as a Parquet file ({reason_of(error, file)})"
        ) from error
    named = [name for name in frame.index.names if name is not None]
    asked = [name for name in named if any(find_columns(str(each), [str(name).strip()]) for each in wanted)]
    if asked:
        frame = frame.reset_index(level=asked)
    left_out = [str(name) for name in named if name not in asked]
    if left_out:
        logger.warning(
            "%s: what pandas stored as its index is no feature: %s", file.name, ", ".join(left_out)
        )
    frame = frame.reset_index(drop=True)
    frame.columns = [str(each).strip() for each in frame.columns]
    if not words:
        return frame, lambda place: pd.Series("", index=frame.index)
    stored = frame
    places = range(frame.shape[1])
    frame = pd.concat([_without(frame.iloc[:, place], words) for place in places], axis=1)
    return frame, lambda place: stored.iloc[:, place].astype(object).map(str, na_action="ignore").fillna("")


def _without(column: pd.Series, words: Sequence[str]) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        kept = [each for each in column.cat.categories if str(each).strip() not in words]
        return column.cat.set_categories(kept)
    if pd.api.types.is_bool_dtype(column.dtype):
        return column
    if pd.api.types.is_numeric_dtype(column.dtype):
        numbers = (
            pd.to_numeric(pd.Series(list(words), dtype=object), errors="coerce")
            .dropna()
            .to_numpy(dtype=float)
        )
        found = np.isin(column.to_numpy(dtype=float, na_value=np.nan), numbers)
        return column.mask(found) if found.any() else column
    return column.mask(
        column.map(lambda each: isinstance(each, str) and each.strip() in words, na_action=None)
    )
