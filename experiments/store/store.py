"""Rows on disk: a file for each cell, and files of many finished cells, so that many can be read.

Finished cells are moved into files of many (packs) when there are many. A cell gets into a pack before it
leaves its own file, and readers look at files of single cells before packs: at no moment is it in neither.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from filelock import FileLock, Timeout

from experiments.schema import ROW_SCHEMA
from experiments.store.files import (
    PACK_BYTES,
    UntrustedError,
    dump,
    groups_of,
    read,
    signature_of,
    write_packs,
    write_synced,
)
from experiments.store.keys import cell_key
from experiments.store.rows import all_ok, conforming, from_frame, state_of, to_frame

__all__ = ["Quarantined", "Store", "cell_key"]

logger = logging.getLogger(__name__)

#: A writer needs milliseconds, so what is a day old was left behind.
_STALE_SECONDS = 24 * 3600
#: Packs of less than half the usual size are put together when there are more of them than this.
_SMALL_PACKS = 8


@dataclass(frozen=True)
class Quarantined:
    """A file that could not be trusted, and where it is now: a published one stays where it was."""

    path: Path
    moved_to: Path
    reason: str


class Store:
    """The rows below one results folder; nothing is created before the first write.

    Parameters
    ----------
    results : path
        The results folder. Below it, cells lie at ``rows/<first two digits>/<key>.parquet``, and many
        finished ones together in ``rows/packs``. Packs in ``published/rows/packs`` are read too, and never
        written or moved: cells that somebody has published need not run again.

    Attributes
    ----------
    quarantined : list of Quarantined
        Files found torn, foreign or not regular by this object, oldest first. They are moved to ``aside/``
        and logged by name; their cells count as missing.
    """

    def __init__(self, results: str | os.PathLike[str]):
        self.results = Path(results)
        self.quarantined: list[Quarantined] = []
        self._published = self.results / "published" / "rows" / "packs"
        self._packs = self.results / "rows" / "packs"
        self._left_out: set[Path] = set()  # published packs that cannot be trusted

    def path(self, key: str) -> Path:
        """Return where the file of a cell lies before the cell is packed, whether it exists or not."""
        if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
            raise ValueError(f"not the key of a cell: {key!r}")
        return self.results / "rows" / key[:2] / f"{key}.parquet"

    def has(self, key: str) -> bool:
        """Return whether a cell is done: every row has status "ok"."""
        table = self.read_table(key)
        return table is not None and all_ok(table)

    def read(self, key: str) -> pd.DataFrame | None:
        """Return the rows of a cell as a frame, failed ones too; None without a good file."""
        table = self.read_table(key)
        return None if table is None else to_frame(table)

    def read_table(self, key: str) -> pa.Table | None:
        """Return the rows of a cell, failed ones too; None without a good file."""
        table = self.read_tables([key])
        return table if table.num_rows else None

    def read_tables(self, keys: Iterable[str], columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows of many cells (those without a good file have none), in the order of the keys."""
        keys = list(dict.fromkeys(keys))
        needed = None if columns is None else list(dict.fromkeys(["cell_key", "status", *columns]))
        loose = {
            key: table for key in self._loose(keys) if (table := self._read_loose(key, needed)) is not None
        }
        unfinished = {key: table for key, table in loose.items() if not all_ok(table)}
        packed = self._read_packed(set(keys) - (loose.keys() - unfinished.keys()), needed)
        for key in unfinished.keys() & {
            key for table in packed for key in table["cell_key"].unique().to_pylist()
        }:
            del loose[key]  # a pack has it finished
        schema = ROW_SCHEMA if needed is None else pa.schema([ROW_SCHEMA.field(name) for name in needed])
        table = pa.concat_tables([schema.empty_table(), *packed, *loose.values()])
        places = pc.index_in(table["cell_key"], value_set=pa.array(keys, pa.string())).to_numpy()
        if (np.diff(places) < 0).any():
            table = table.take(np.argsort(places, kind="stable"))
        return table if columns is None else table.select(columns)

    def rows_of(self, cells: Sequence[Any]) -> pa.Table:
        """Return the rows of cells, in their order, under the names that the cells bear now."""
        table = self.read_tables(cell.key for cell in cells)
        places = defaultdict(list)
        for place, key in enumerate(table["cell_key"].to_pylist()):
            places[key].append(place)
        if len({cell.key for cell in cells}) < len(cells):  # one may stand there under several names
            table = table.take([place for cell in cells for place in places[cell.key]])
        for name in ("dataset", "ranker", "protocol"):
            names = [getattr(cell, name) for cell in cells for _ in places[cell.key]]
            field = table.schema.field(name)
            table = table.set_column(table.schema.get_field_index(name), field, pa.array(names, pa.string()))
        return table

    def states(self, keys: Iterable[str]) -> dict[str, str]:
        """Return key → "ok", or the status of the first row that is not; without a good file, no key."""
        wanted = dict.fromkeys(keys)
        tables = ((key, self._read_loose(key)) for key in self._loose(wanted))
        states = {key: state_of(table) for key, table in tables if table is not None}
        for _, group_of in self._look():
            states |= dict.fromkeys(wanted.keys() & group_of.keys(), "ok")
        return {key: states[key] for key in wanted if key in states}

    def write(self, key: str, rows: pd.DataFrame | pa.Table) -> None:
        """Write the rows of a cell, all or nothing; rows with failures do not replace a cell that is done.

        Once this returns, the rows survive a loss of power. ValueError: rows of another cell, or none.
        OSError: the disk is full or refuses, and the file is as it was.
        """
        path = self.path(key)
        table = from_frame(rows) if isinstance(rows, pd.DataFrame) else conforming(rows)
        if set(table["cell_key"].to_pylist()) != {key}:
            raise ValueError(f"rows of another cell, or none, for {key}")
        if all_ok(table) or not self.has(key):
            write_synced(path, dump([table]))

    def write_many(self, tables: Mapping[str, pa.Table]) -> None:
        """Write the rows of several cells as :meth:`write`, all finished ones into one file."""
        finished = {key: table for key, table in tables.items() if all_ok(table)}
        if len(finished) < 2:
            finished = {}
        for key, table in tables.items():
            if key not in finished:
                self.write(key, table)
            elif set(table["cell_key"].to_pylist()) != {key}:
                raise ValueError(f"rows of another cell, or none, for {key}")
        for _ in write_packs(self._packs, map(conforming, finished.values())):
            pass

    def compact(self, at_least: int = 2000) -> int:
        """Move finished cells into packs when there are so many files, and merge small packs.

        Any number of processes may read, write and compact meanwhile, and one that is killed leaves nothing torn
        and nothing lost. Returns how many cells were moved. OSError: the cells are where they were.
        """
        n_loose = len(self._loose())
        if n_loose < max(at_least, 1) and len(self._small()) <= 4 * _SMALL_PACKS:
            return 0
        self._packs.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self._packs / ".lock", timeout=0):
                n_moved = self._pack() if n_loose >= max(at_least, 1) else 0
                small = self._small()
                if len(small) > _SMALL_PACKS:
                    written = set(write_packs(self._packs, self._of_packs(small)))
                    for path in set(small) - written:
                        _remove(path)
        except (Timeout, NotImplementedError):  # another process is at it, or the file system has no locks
            return 0
        return n_moved

    def clean(self) -> list[Path]:
        """Delete temporary files that a killed process left more than a day ago, and return them."""
        deleted = []
        for path in (self.results / "rows").glob("*/.*.tmp"):
            try:
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()
                    deleted.append(path)
            except FileNotFoundError:
                continue
        return deleted

    # --- packs ---

    def _look(self) -> list[tuple[Path, dict[str, int]]]:
        """Return the packs, and in which row group each has its cells."""
        while True:
            paths = [*sorted(self._packs.glob("*.parquet")), *sorted(self._published.glob("*.parquet"))]
            try:
                return [
                    (path, groups_of(path, signature_of(path)))
                    for path in paths
                    if path not in self._left_out
                ]
            except FileNotFoundError:  # merged with others since the folder was read
                continue
            except UntrustedError as error:
                self._put_aside(error.path, str(error))

    def _read_packed(self, keys: set[str], columns: Sequence[str] | None) -> list[pa.Table]:
        while keys:
            wanted, tables = set(keys), []
            try:
                for path, group_of in self._look():
                    if here := wanted & group_of.keys():
                        groups = sorted({group_of[key] for key in here})
                        tables.append(_only(read(path, columns, groups), here))
                        wanted -= here
                return tables
            except FileNotFoundError:
                continue
            except UntrustedError as error:
                self._put_aside(error.path, str(error))
        return []

    def _small(self) -> list[Path]:
        packs = [path for path, _ in self._look() if path.parent == self._packs]
        return [path for path in packs if path.stat().st_size < PACK_BYTES / 2]

    def _of_packs(self, paths: Sequence[Path]) -> Iterator[pa.Table]:
        """Yield the cells of packs, each once."""
        seen: set[str] = set()
        for path in paths:
            group_of = groups_of(path, signature_of(path))
            for group in sorted(set(group_of.values())):
                fresh = {key for key, its in group_of.items() if its == group} - seen
                seen |= fresh
                yield _only(read(path, None, [group]), fresh)

    def _pack(self) -> int:
        """Move finished cells from files of their own into packs; those with failures keep their files."""
        moved: list[str] = []

        def finished() -> Iterator[pa.Table]:
            for key in sorted(self._loose()):
                table = None if key in packed else self._read_loose(key)
                if table is not None and all_ok(table):
                    moved.append(key)
                    yield table

        # Those whose files a process that was killed could not remove any more.
        packed = {key for _, group_of in self._look() for key in group_of}
        moved += [key for key in self._loose() if key in packed]
        for _ in write_packs(self._packs, finished()):
            pass
        # A process that writes one of these cells anew meanwhile writes the same rows.
        for key in moved:
            self.path(key).unlink(missing_ok=True)
        return len(moved)

    # --- files of single cells ---

    def _loose(self, wanted: Iterable[str] | None = None) -> list[str]:
        """Return the keys of cells, all or of those wanted, that have files of their own."""
        if wanted is not None and len(wanted := list(wanted)) < 256:  # fewer than there are folders
            return [key for key in wanted if os.path.lexists(self.path(key))]
        there = dict.fromkeys(path.stem for path in (self.results / "rows").glob(f"??/{'?' * 64}.parquet"))
        return list(there) if wanted is None else [key for key in wanted if key in there]

    def _read_loose(self, key: str, columns: Sequence[str] | None = None) -> pa.Table | None:
        path = self.path(key)
        try:
            return _cell(path, key, columns)
        except FileNotFoundError:
            return None
        except UntrustedError as error:
            if self._put_aside(path, str(error), key):
                return None
            return self._read_loose(key, columns)  # another process moved it; by now there may be a good one

    def _put_aside(self, path: Path, reason: str, key: str | None = None) -> bool:
        """Move a file away and say so; False if it was gone or has become good (it is back then)."""
        moved_to = self.results / "aside" / f"{path.name}.{time.time_ns()}.{uuid.uuid4().hex[:8]}"
        if path.parent == self._published:
            self._left_out.add(path)
            moved_to = path
        else:
            moved_to.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.rename(path, moved_to)
                if key is not None:
                    _cell(
                        moved_to, key
                    )  # another process put a good file there before it was moved: give it back
                    os.replace(moved_to, path)
                    return False
            except FileNotFoundError:
                return False
            except UntrustedError:
                pass
        where = "it stays where it is, and" if moved_to == path else f"moved to {moved_to};"
        logger.warning("%s is not read as data: %s; %s its cells count as missing", path, reason, where)
        self.quarantined.append(Quarantined(path, moved_to, reason))
        return True


def _cell(path: Path, key: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Return columns of the file of a cell, all bytes of which were looked at."""
    table = read(path)
    if set(table["cell_key"].to_pylist()) != {key}:
        raise UntrustedError(path, "it holds another cell")
    return table if columns is None else table.select(list(columns))


def _only(table: pa.Table, keys: set[str]) -> pa.Table:
    if len(table["cell_key"].unique()) == len(keys):
        return table
    return table.filter(pc.is_in(table["cell_key"], value_set=pa.array(list(keys), pa.string())))


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except PermissionError:  # Windows, while another process reads it: its cells are in two packs then
        pass
