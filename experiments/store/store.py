"""Rows on disk: one file per cell, whole or not there; many finished cells together, so that many can be read.

A worker writes each cell into a file of its own (:mod:`experiments.store.cell_file`). Opening 100,000 of them takes
minutes, so finished cells are moved into packs (:mod:`experiments.store.pack_folder`) when there are many. A
cell gets into a pack before it leaves its own file, and readers look into the files before the packs: at no
moment is it in neither.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from filelock import FileLock, Timeout

from experiments.store.cell_file import (
    UntrustedError,
    conforming,
    dump_cell,
    load_cell,
    write_whole_synced,
)
from experiments.store.keys import cell_key
from experiments.store.pack_folder import PackFolder, signature_of
from experiments.store.rows import all_ok, from_frame, state_of, to_frame

__all__ = ["Quarantined", "Store", "cell_key"]

logger = logging.getLogger(__name__)

#: A writer needs milliseconds, so what is a day old was left behind.
_STALE_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Quarantined:
    """A file that could not be trusted, and where it is now."""

    path: Path
    moved_to: Path
    reason: str


class Store:
    """The rows below one results folder.

    Nothing is created before the first write.

    Parameters
    ----------
    results : path
        The results folder. Below it, cells lie at ``rows/<first two digits>/<key>.parquet`` and packs of finished
        ones in ``rows/packs``. Packs in ``published/rows/packs`` are read too, and never written to: cells that
        somebody has published need not run again.

    Attributes
    ----------
    quarantined : list of Quarantined
        Files found torn or foreign by this object, oldest first.
    """

    def __init__(self, results: str | os.PathLike[str]):
        self.results = Path(results)
        self.quarantined: list[Quarantined] = []
        self._packs = PackFolder(self.results / "rows" / "packs", self._move_aside)
        self._published = PackFolder(self.results / "published" / "rows" / "packs", self._move_aside)
        #: Files that are no use to :meth:`compact`: key → (inode, size, time of change).
        self._unfinished: dict[str, tuple[int, int, int]] = {}

    def path(self, key: str) -> Path:
        """Return where the file of a cell lies before the cell is packed, whether it exists or not.

        Parameters
        ----------
        key : str
            From :func:`cell_key`.

        Returns
        -------
        Path

        Raises
        ------
        ValueError
            If it is not 64 hexadecimal digits.
        """
        if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
            raise ValueError(f"not the key of a cell: {key!r}")
        return self.results / "rows" / key[:2] / f"{key}.parquet"

    def has(self, key: str) -> bool:
        """Whether a cell is done: its file reads well and every row has status "ok".

        Parameters
        ----------
        key : str
            The cell's key.

        Returns
        -------
        bool
        """
        table = self.read_table(key)
        return table is not None and all_ok(table)

    def read(self, key: str) -> pd.DataFrame | None:
        """Return the rows of a cell, failed ones too.

        A torn or foreign file is moved to ``aside/``, logged by name, and counts as missing.

        Parameters
        ----------
        key : str
            The cell's key.

        Returns
        -------
        pandas.DataFrame or None
            As :func:`experiments.store.rows.to_frame` makes it; None when there is no good file.
        """
        table = self.read_table(key)
        return None if table is None else to_frame(table)

    def read_table(self, key: str) -> pa.Table | None:
        """Do as :meth:`read`, giving an Arrow table.

        Parameters
        ----------
        key : str
            The cell's key.

        Returns
        -------
        pyarrow.Table or None
        """
        table = self._read_loose(key)
        if table is not None and all_ok(table):
            return table
        for packs in (self._packs, self._published):
            packed = packs.read([key])
            if packed.num_rows:
                return packed
        return table

    def read_tables(self, keys: Iterable[str], columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows of many cells.

        Parameters
        ----------
        keys : iterable of str
            Keys of cells; those without a good file are skipped.
        columns : sequence of str, optional
            All when not given.

        Returns
        -------
        pyarrow.Table
            In the order of the keys, then of the folds as stored.
        """
        keys = list(dict.fromkeys(keys))
        needed = None if columns is None else list(dict.fromkeys(["cell_key", "status", *columns]))
        loose, unfinished = [], {}
        for key in self._loose(keys):
            table = self._read_loose(key, needed)
            if table is not None and all_ok(table):
                loose.append(table)
            elif table is not None:
                unfinished[key] = table
        found = {table["cell_key"][0].as_py() for table in loose}
        packed = []
        for packs in (self._packs, self._published):
            packed.append(packs.read([key for key in keys if key not in found], needed))
            found |= set(packed[-1]["cell_key"].unique().to_pylist())
        loose += [table for key, table in unfinished.items() if key not in found]
        table = pa.concat_tables([*packed, *loose])
        places = pc.index_in(table["cell_key"], value_set=pa.array(keys, pa.string())).to_numpy()
        if (np.diff(places) < 0).any():
            table = table.take(np.argsort(places, kind="stable"))
        return table if columns is None else table.select(columns)

    def states(self, keys: Iterable[str]) -> dict[str, str]:
        """Say how cells are.

        All bytes of their files are compared with their checksums.

        Parameters
        ----------
        keys : iterable of str
            Keys of cells.

        Returns
        -------
        dict
            Key → "ok" when every row is ok, else the status of the first row that is not. Cells without a good file
            are left out.
        """
        wanted = dict.fromkeys(keys)
        found: dict[str, str] = {}
        for key in self._loose(wanted):
            table = self._read_loose(key, ["status"])
            if table is not None:
                found[key] = state_of(table)
        for packs in (self._packs, self._published):
            found |= dict.fromkeys(packs.among(wanted), "ok")
        return {key: found[key] for key in wanted if key in found}

    def write(self, key: str, rows: pd.DataFrame | pa.Table) -> None:
        """Write the rows of a cell, all or nothing.

        Once this returns, the rows survive a loss of power; when it does not return, the file is as it was before.
        Rows with failures do not replace a cell that is done.

        Parameters
        ----------
        key : str
            The cell's key.
        rows : pandas.DataFrame or pyarrow.Table
            Its rows, with the columns of ``ROW_SCHEMA``.

        Raises
        ------
        ValueError
            If there is no row, or one belongs to another cell.
        OSError
            If the disk is full or refuses.
        """
        path = self.path(key)
        table = from_frame(rows) if isinstance(rows, pd.DataFrame) else conforming(rows)
        if set(table["cell_key"].to_pylist()) != {key}:
            raise ValueError(f"rows of another cell, or none, for {key}")
        if not all_ok(table) and self.has(key):
            return
        write_whole_synced(path, [dump_cell(table, key)])

    def write_many(self, tables: Mapping[str, pa.Table]) -> None:
        """Write the rows of several cells at once, with one wait for the disk instead of one for each.

        Once this returns, the rows survive a loss of power; when it does not return, some cells may be there.

        Parameters
        ----------
        tables : mapping
            Key → rows of that cell, with the columns of ``ROW_SCHEMA``. Finished ones go into a pack; those with
            failures, and one alone, get files of their own as from :meth:`write`.

        Raises
        ------
        ValueError
            If there is no row for a key, or one belongs to another cell.
        OSError
            If the disk is full or refuses.
        """
        finished = {key: table for key, table in tables.items() if all_ok(table)}
        if len(finished) < 2:
            finished = {}
        for key, table in tables.items():
            if key not in finished:
                self.write(key, table)
            elif set(table["cell_key"].to_pylist()) != {key}:
                raise ValueError(f"rows of another cell, or none, for {key}")
        for _ in self._packs.write(conforming(table) for table in finished.values()):
            pass

    def compact(self, at_least: int = 2000) -> int:
        """Move finished cells from files of their own into packs, and put small packs together.

        Any number of processes may read, write and compact meanwhile, and one that is killed leaves nothing torn
        and nothing lost. Cells with failures keep their files.

        Parameters
        ----------
        at_least : int, default=2000
            Leave cells where they are when there are fewer files.

        Returns
        -------
        int
            How many cells were moved.

        Raises
        ------
        OSError
            If the disk is full or refuses; then the cells are where they were.
        """
        loose = [key for key in sorted(self._loose()) if not self._is_unfinished(key)]
        few = len(loose) < max(at_least, 1)
        if few and not self._packs.scattered():
            return 0
        self._packs.path.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self._packs.path / ".lock", timeout=0):
                n_moved = 0 if few else self._pack(loose)
                self._packs.merge()
        except (Timeout, NotImplementedError):  # another process is at it, or the file system has no locks
            return 0
        return n_moved

    def _pack(self, loose: Sequence[str]) -> int:
        def finished() -> Iterator[pa.Table]:
            for key in loose:
                if key in packed:
                    continue
                signature = signature_of(self.path(key))
                table = self._read_loose(key)
                if table is not None and all_ok(table):
                    yield table
                elif table is not None and signature is not None:
                    self._unfinished[key] = signature

        # Those whose files a process that was killed could not remove any more.
        packed = self._packs.among(loose)
        for key in packed:
            self.path(key).unlink(missing_ok=True)
        n_moved = len(packed)
        for pack in self._packs.write(finished()):
            # Whoever writes one of these cells anew meanwhile writes the same rows, so the file may go in any case.
            for key in pack.names():
                self.path(key).unlink(missing_ok=True)
            n_moved += len(pack.keys)
        return n_moved

    def clean(self) -> list[Path]:
        """Delete temporary files that a killed process left more than a day ago.

        Returns
        -------
        list of Path
            What was deleted.
        """
        deleted = []
        rows = self.results / "rows"
        for path in [*rows.glob("??/.*.tmp"), *rows.glob("packs/.*.tmp")]:
            try:
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()
                    deleted.append(path)
            except FileNotFoundError:
                continue
        return deleted

    # --- files of single cells ---

    def _loose(self, wanted: Iterable[str] | None = None) -> list[str]:
        """Return the keys of cells, all or of those wanted, that have files of their own."""
        if wanted is not None and len(wanted := list(wanted)) < 256:  # fewer than there are folders
            return [key for key in wanted if os.path.exists(self.path(key))]
        there: dict[str, None] = {}
        try:
            folders = [each.path for each in os.scandir(self.results / "rows") if len(each.name) == 2]
        except FileNotFoundError:
            return []
        for folder in folders:
            names = os.listdir(folder)
            there |= dict.fromkeys(
                name[:64] for name in names if len(name) == 72 and name.endswith(".parquet")
            )
        return list(there) if wanted is None else [key for key in wanted if key in there]

    def _read_loose(self, key: str, columns: Sequence[str] | None = None) -> pa.Table | None:
        path = self.path(key)
        try:
            return load_cell(path, key, columns)
        except FileNotFoundError:
            return None
        except UntrustedError as reason:
            return self._put_aside(path, key, str(reason), columns)

    def _is_unfinished(self, key: str) -> bool:
        known = self._unfinished.get(key)
        return known is not None and known == signature_of(self.path(key))

    def _put_aside(
        self, path: Path, key: str, reason: str, columns: Sequence[str] | None = None
    ) -> pa.Table | None:
        moved_to = self._aside(path)
        try:
            os.rename(path, moved_to)
        except FileNotFoundError:
            return self._read_loose(key, columns)  # another process moved it; by now there may be a good one
        try:
            table = load_cell(moved_to, key, columns)
        except UntrustedError:
            self._tell_aside(path, moved_to, reason)
            return None
        # Between our reading and our moving another process put a good file there: give it back.
        os.replace(moved_to, path)
        return table

    def _move_aside(self, path: Path, reason: str) -> None:
        moved_to = self._aside(path)
        try:
            os.rename(path, moved_to)
        except FileNotFoundError:  # another process was faster
            return
        self._tell_aside(path, moved_to, reason)

    def _aside(self, path: Path) -> Path:
        moved_to = self.results / "aside" / f"{path.name}.{time.time_ns()}.{uuid.uuid4().hex[:8]}"
        moved_to.parent.mkdir(parents=True, exist_ok=True)
        return moved_to

    def _tell_aside(self, path: Path, moved_to: Path, reason: str) -> None:
        logger.warning("%s is not read as data: %s; moved to %s", path, reason, moved_to)
        self.quarantined.append(Quarantined(path, moved_to, reason))
