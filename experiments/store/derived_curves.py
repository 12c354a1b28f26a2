"""Curves that follow from others: packs that are to be small leave them out, and reading makes them again.

In such a pack an empty list stands for a curve of relative scores that is, bit for bit, what
:func:`experiments.metrics.relative_f1.relative_f1` makes of the row's scores. A curve with other bits is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from experiments.metrics.relative_f1 import relative_f1

#: Curve that follows → the one that it follows from.
SOURCES = {"rf1_micro": "f1_micro", "rf1_macro": "f1_macro", "rr2": "r2"}


class _Lists:
    """A column of lists: all values, and where each row's begin and end; a null row has none."""

    def __init__(self, column: pa.ChunkedArray):
        array = column.combine_chunks()
        self.values = array.flatten().to_numpy(zero_copy_only=False)
        self.lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        self.ends = np.cumsum(self.lengths)
        self.is_null = array.is_null().to_numpy(zero_copy_only=False)

    def alike(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
        """Yield the numbers of rows whose lists have one length, and this length."""
        for length in np.unique(self.lengths[rows]):
            yield np.flatnonzero(rows & (self.lengths == length)), int(length)


def _places(ends: np.ndarray, rows: np.ndarray, length: int) -> np.ndarray:
    """Return where the values of lists of one length are: shape (n_rows, length)."""
    return ends[rows, np.newaxis] - length + np.arange(length)


def with_sources(columns: Sequence[str]) -> list[str]:
    """Return columns, and those that curves among them may follow from.

    Parameters
    ----------
    columns : sequence of str
        Names of columns.

    Returns
    -------
    list of str
    """
    return list(dict.fromkeys([*columns, *(SOURCES[name] for name in columns if name in SOURCES)]))


def without_curves(table: pa.Table) -> pa.Table:
    """Put an empty list in place of each curve that follows from another of its row.

    Parameters
    ----------
    table : pyarrow.Table
        Rows of the store.

    Returns
    -------
    pyarrow.Table
        With the same columns.
    """
    for name, source in SOURCES.items():
        found, other = _Lists(table[name]), _Lists(table[source])
        stays, lengths = np.ones(len(found.values), dtype=bool), found.lengths.copy()
        for rows, length in found.alike((found.lengths > 0) & (found.lengths == other.lengths)):
            places = _places(found.ends, rows, length)
            made = relative_f1(other.values[_places(other.ends, rows, length)]).view(np.int64)
            follows = (made == found.values[places].view(np.int64)).all(axis=1)
            stays[places[follows]] = False
            lengths[rows[follows]] = 0
        table = _replaced(table, name, found.values[stays], lengths, found.is_null)
    return table


def with_curves(table: pa.Table) -> pa.Table:
    """Make the curves that an empty list stands for.

    Parameters
    ----------
    table : pyarrow.Table
        Rows; where a curve of :data:`SOURCES` is among the columns, so is its source.

    Returns
    -------
    pyarrow.Table
        With the same columns.
    """
    for name, source in SOURCES.items():
        if name not in table.schema.names or source not in table.schema.names:
            continue
        # Rows that a run has written have no such list, and this is all that reading them costs.
        if not pc.any(pc.equal(pc.list_value_length(table[name]), 0)).as_py():
            continue
        found, other = _Lists(table[name]), _Lists(table[source])
        is_empty = ~found.is_null & (found.lengths == 0)
        lengths = np.where(is_empty, other.lengths, found.lengths)
        ends = np.cumsum(lengths)
        values = np.empty(int(ends[-1]))
        for rows, length in found.alike(~is_empty):
            values[_places(ends, rows, length)] = found.values[_places(found.ends, rows, length)]
        for rows, length in other.alike(is_empty & (other.lengths > 0)):
            scores = other.values[_places(other.ends, rows, length)]
            values[_places(ends, rows, length)] = relative_f1(scores)
        table = _replaced(table, name, values, lengths, found.is_null)
    return table


def _replaced(
    table: pa.Table, name: str, values: np.ndarray, lengths: np.ndarray, is_null: np.ndarray
) -> pa.Table:
    """Give a column other lists."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    lists = pa.ListArray.from_arrays(offsets, pa.array(values), mask=pa.array(is_null))
    return table.set_column(table.schema.names.index(name), table.schema.field(name), lists)
