"""Rows between plain dictionaries, Arrow tables and data frames; always with the columns of ``ROW_SCHEMA``.

Also what their statuses say of a cell: whether it is finished, and under which limits.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import pandas as pd
import pyarrow as pa

from experiments.schema import ADDED_COLUMNS, ROW_SCHEMA

#: What :func:`settled` asks of a row.
_SETTLED_BY = ["status", "time_limit_seconds", "memory_limit_mib"]


def to_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Make a table of rows.

    Parameters
    ----------
    rows : iterable of mapping
        Column → value; columns left out are null. A NaN outside of lists is null as well.

    Returns
    -------
    pyarrow.Table
        With the columns and types of ``ROW_SCHEMA``.

    Raises
    ------
    ValueError
        If a row has a column that the schema does not know.
    """
    rows = list(rows)
    unknown = sorted({name for row in rows for name in row} - set(ROW_SCHEMA.names))
    if unknown:
        raise ValueError(f"not columns of a row: {', '.join(unknown)}")
    return _assemble({name: [row.get(name) for row in rows] for name in ROW_SCHEMA.names})


def from_frame(frame: pd.DataFrame) -> pa.Table:
    """Turn a frame with the columns of ``ROW_SCHEMA`` into a table; see :func:`to_table`.

    Parameters
    ----------
    frame : pandas.DataFrame
        As :func:`to_frame` gives it.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    ValueError
        If columns are missing or unknown.
    """
    differing = set(frame.columns) ^ set(ROW_SCHEMA.names)
    if not differing <= set(ADDED_COLUMNS):
        raise ValueError(f"columns missing or unknown: {', '.join(sorted(differing))}")
    nothing = [None] * len(frame)
    return _assemble({name: frame[name] if name in frame else nothing for name in ROW_SCHEMA.names})


def _assemble(columns: Mapping[str, Any]) -> pa.Table:
    # from_pandas makes NaN null, which is the same to a reader of scalars, but inside a curve a NaN is a value.
    arrays = [
        pa.array(list(columns[field.name]), type=field.type)
        if pa.types.is_list(field.type)
        else pa.array(columns[field.name], type=field.type, from_pandas=True)
        for field in ROW_SCHEMA
    ]
    return pa.table(arrays, schema=ROW_SCHEMA)


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Turn a table of rows into a frame.

    Parameters
    ----------
    table : pyarrow.Table
        With the columns of ``ROW_SCHEMA``.

    Returns
    -------
    pandas.DataFrame
        Curves, grid and weights are numpy arrays (None where null). Types do not depend on what is null:
        ``latent_dimension`` is always a float (NaN for none), ``learner_converged`` pandas' ``boolean``.
    """
    table = table.combine_chunks()
    dimension = table.schema.get_field_index("latent_dimension")
    table = table.set_column(dimension, "latent_dimension", table["latent_dimension"].cast(pa.float64()))
    return table.to_pandas(types_mapper={pa.bool_(): pd.BooleanDtype()}.get)


def all_ok(table: pa.Table) -> bool:
    """Whether there are rows and every one has status "ok".

    Parameters
    ----------
    table : pyarrow.Table
        Rows of one cell.

    Returns
    -------
    bool
    """
    return table.num_rows > 0 and set(table["status"].to_pylist()) == {"ok"}


def settled(row: Mapping[str, Any], seconds: float | None, memory_mib: float | None) -> bool:
    """Whether a row is the last word under these limits.

    Parameters
    ----------
    row : mapping
        ``status``, ``time_limit_seconds`` and ``memory_limit_mib`` of a row.
    seconds, memory_mib : float or None
        The limits of now; None for none.

    Returns
    -------
    bool
        True for "ok", and for a fit that was stopped by a limit at least as high as the one of now. A higher
        limit, or none, is a reason to try again.
    """
    if row["status"] == "ok":
        return True
    stopped_by, now = {
        "timeout": (row["time_limit_seconds"], seconds),
        "out_of_memory": (row["memory_limit_mib"], memory_mib),
    }.get(row["status"], (None, None))
    return stopped_by is not None and now is not None and stopped_by >= now


def is_settled(table: pa.Table, seconds: float | None, memory_mib: float | None) -> bool:
    """Whether nothing of a cell is to be run again under these limits.

    Parameters
    ----------
    table : pyarrow.Table
        Rows of one cell.
    seconds, memory_mib : float or None
        As for :func:`settled`.

    Returns
    -------
    bool
    """
    if all_ok(table):
        return True
    rows = table.select(_SETTLED_BY).to_pylist()
    return bool(rows) and all(settled(row, seconds, memory_mib) for row in rows)


def state_of(table: pa.Table) -> str:
    """Say how a cell is in one word.

    Parameters
    ----------
    table : pyarrow.Table
        Its rows, at least one.

    Returns
    -------
    str
        "ok" when every row is, else the status of the first that is not.
    """
    return next((status for status in table["status"].to_pylist() if status != "ok"), "ok")


@lru_cache(maxsize=1)
def machine() -> dict[str, Any]:
    """Describe the machine, without a name that would tell whose it is.

    Returns
    -------
    dict
        ``system``, ``processor``, ``cores``.
    """
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            processor = next(
                (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), processor
            )
    except OSError:
        pass
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor,
        "cores": os.cpu_count(),
    }
