"""Rows as dictionaries, Arrow tables and data frames (columns of ``ROW_SCHEMA``), and the state of a cell."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from experiments.metrics.relative_f1 import relative_f1
from experiments.schema import ADDED_COLUMNS, ROW_SCHEMA

#: Curve of relative scores → the scores that it follows from.
CURVES = {"rf1_micro": "f1_micro", "rf1_macro": "f1_macro", "rr2": "r2"}


def to_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Return rows as a table; columns left out are null, and so is a NaN outside of lists."""
    rows = list(rows)
    unknown = sorted({name for row in rows for name in row} - set(ROW_SCHEMA.names))
    if unknown:
        raise ValueError(f"not columns of a row: {', '.join(unknown)}")
    return _assemble({name: [row.get(name) for row in rows] for name in ROW_SCHEMA.names})


def from_frame(frame: pd.DataFrame) -> pa.Table:
    """Return a frame with the columns of ``ROW_SCHEMA`` as a table."""
    differing = set(frame.columns) ^ set(ROW_SCHEMA.names)
    if not differing <= set(ADDED_COLUMNS):
        raise ValueError(f"columns missing or unknown: {', '.join(sorted(differing))}")
    nothing = [None] * len(frame)
    return _assemble({name: frame[name] if name in frame else nothing for name in ROW_SCHEMA.names})


def _assemble(columns: Mapping[str, Any]) -> pa.Table:
    # from_pandas makes NaN null, which is the same for scalars; inside a curve a NaN is a value.
    arrays = [
        pa.array(list(columns[field.name]), type=field.type)
        if pa.types.is_list(field.type)
        else pa.array(columns[field.name], type=field.type, from_pandas=True)
        for field in ROW_SCHEMA
    ]
    return pa.table(arrays, schema=ROW_SCHEMA)


def conforming(table: pa.Table, columns: Sequence[str] | None = None) -> pa.Table:
    """Return columns of a stored table (default: all); those that came later are null."""
    wanted = pa.schema([ROW_SCHEMA.field(name) for name in columns or ROW_SCHEMA.names])
    names = set(table.schema.names)
    if not names <= set(ROW_SCHEMA.names) or not set(wanted.names) - names <= set(ADDED_COLUMNS):
        raise ValueError("its rows have other columns than this version's")
    if any(field.name in names and table.field(field.name).type != field.type for field in wanted):
        raise ValueError("its rows have other columns than this version's")
    nothing = {
        field.name: pa.nulls(table.num_rows, field.type) for field in wanted if field.name not in names
    }
    return pa.table(
        [nothing.get(name, table[name] if name in names else None) for name in wanted.names], wanted
    )


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Return a table of rows as a frame; lists are numpy arrays (None where null)."""
    # Types do not depend on what is null: a dimension is a float always, NaN for none.
    table = table.combine_chunks()
    dimension = table.schema.get_field_index("latent_dimension")
    table = table.set_column(dimension, "latent_dimension", table["latent_dimension"].cast(pa.float64()))
    frame = table.to_pandas(types_mapper={pa.bool_(): pd.BooleanDtype()}.get)
    # Published rows have an empty list for a curve that follows from the scores.
    for name, source in CURVES.items():
        curves, scores = frame[name].to_numpy(copy=True), frame[source].to_numpy()
        sizes = np.array(
            [0 if curve is None or len(curve) else len(scores[i]) for i, curve in enumerate(curves)]
        )
        for size in np.unique(sizes[sizes > 0]):
            places = np.flatnonzero(sizes == size)
            for place, curve in zip(places, relative_f1(np.stack(scores[places])), strict=True):
                curves[place] = curve
        frame[name] = curves
    return frame


def without_curves(table: pa.Table) -> pa.Table:
    """Return rows with an empty list for each curve that :func:`to_frame` makes again to the bit."""
    for name, source in CURVES.items():
        curves = table[name].to_pylist()
        for place, scores in enumerate(table[source].to_pylist()):
            if curves[place] and scores and _bits(relative_f1(scores)) == _bits(curves[place]):
                curves[place] = []
        field = table.schema.field(name)
        table = table.set_column(table.schema.get_field_index(name), field, pa.array(curves, field.type))
    return table


def _bits(curve: Any) -> bytes:
    return np.asarray(curve, dtype=np.float64).tobytes()


def all_ok(table: pa.Table) -> bool:
    """Return whether a cell has rows and every one has status "ok"."""
    return table.num_rows > 0 and set(table["status"].to_pylist()) == {"ok"}


def settled(row: Mapping[str, Any], seconds: float | None, memory_mib: float | None) -> bool:
    """Return whether a row is final: "ok", or stopped by a limit not below that of now (None: no limit)."""
    if row["status"] == "ok":
        return True
    stopped_by, now = {
        "timeout": (row["time_limit_seconds"], seconds),
        "out_of_memory": (row["memory_limit_mib"], memory_mib),
    }.get(row["status"], (None, None))
    return stopped_by is not None and now is not None and stopped_by >= now


def is_settled(table: pa.Table, seconds: float | None, memory_mib: float | None) -> bool:
    """Return whether a cell has rows and all of them are final under these limits."""
    rows = table.select(["status", "time_limit_seconds", "memory_limit_mib"]).to_pylist()
    return bool(rows) and all(settled(row, seconds, memory_mib) for row in rows)


def state_of(table: pa.Table) -> str:
    """Return "ok" when every row of a cell is, else the status of the first that is not."""
    return next((status for status in table["status"].to_pylist() if status != "ok"), "ok")


@lru_cache(maxsize=1)
def machine() -> dict[str, Any]:
    """Return system, processor and cores of this machine, without a name that would tell whose it is."""
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
