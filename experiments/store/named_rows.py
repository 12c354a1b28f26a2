"""Rows of cells under the names that people give to data sets, rankers and protocols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from experiments.store.store import Store


def rows_of(store: Store, cells: Sequence[Any]) -> pa.Table:
    """Read the rows of cells, under the names that the cells bear now.

    Parameters
    ----------
    store : Store
        Where they lie.
    cells : sequence of Cell, or of what has its ``key`` and names
        Which; the same key may stand there under several names, and gives its rows under each.

    Returns
    -------
    pyarrow.Table
        Columns of ``ROW_SCHEMA``; in the order of the cells, then of folds. Cells without a good file have none.
    """
    keys = list(dict.fromkeys(cell.key for cell in cells))
    table = store.read_tables(keys)
    place_of = {key: place for place, key in enumerate(keys)}
    place_of_rows = pc.index_in(table["cell_key"], value_set=pa.array(keys, pa.string())).to_numpy()
    first = np.searchsorted(place_of_rows, np.arange(len(keys)))
    n_rows = np.bincount(place_of_rows, minlength=len(keys))
    places = np.array([place_of[cell.key] for cell in cells], dtype=np.int64)
    cell_of_rows = np.repeat(np.arange(len(cells)), n_rows[places])
    within = np.arange(len(cell_of_rows)) - np.repeat(
        np.cumsum(n_rows[places]) - n_rows[places], n_rows[places]
    )
    taken = first[places][cell_of_rows] + within
    if len(keys) < len(cells):
        table = table.take(taken)
    for name in ("dataset", "ranker", "protocol"):
        names = pa.array([getattr(cell, name) for cell in cells], pa.string()).take(pa.array(cell_of_rows))
        table = table.set_column(table.schema.get_field_index(name), table.schema.field(name), names)
    return table
