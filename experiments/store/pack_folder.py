"""The folder of packs: finished cells in large files, found, read, added, put together and mended."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from experiments.schema import ROW_SCHEMA
from experiments.store.cell_file import UntrustedError
from experiments.store.pack import (
    PACK_BYTES,
    Pack,
    damaged_groups,
    open_pack,
    read_groups,
    write_packs,
)

#: Packs of less than half the usual size are put together when there are more of them than this.
_SMALL_PACKS = 8

#: Packs that writers of many cells made are put together when there are more small ones than this.
_MANY_PACKS = 32

#: For all stores of this process: path, inode, size and time of change → what the pack holds, and whether all of
#: its bytes were compared with their checksums.
_known: dict[tuple[str, int, int, int], tuple[Pack, bool]] = {}


class PackFolder:
    """The packs of one store.

    A pack that cannot be trusted is quarantined; what is undamaged in it is kept in a new one.

    Parameters
    ----------
    path : Path
        The folder; need not exist.
    quarantined : callable
        ``quarantined(path, reason)`` moves a file away and says so; it must bear that the file is gone already.
    """

    def __init__(self, path: Path, quarantined: Callable[[Path, str], None]):
        self.path = path
        self._quarantine = quarantined

    def among(self, keys: Iterable[str]) -> set[str]:
        """Say which cells are in packs, after comparing all bytes of all packs with their checksums.

        Parameters
        ----------
        keys : iterable of str
            Keys of cells.

        Returns
        -------
        set of str
        """
        sought = np.array(list(keys), dtype="S64")
        there = [sought[np.isin(sought, pack.keys)] for pack in self.packs(whole=True)]
        return set(np.concatenate(there).astype(str).tolist()) if there else set()

    def packs(self, *, whole: bool = False) -> list[Pack]:
        """Return what the packs hold.

        Parameters
        ----------
        whole : bool, default=False
            Whether all of their bytes are compared with their checksums, not just those of the index. Once per
            process and pack.

        Returns
        -------
        list of Pack
        """
        while (found := self._look(whole)) is None:
            pass
        return found

    def _look(self, whole: bool) -> list[Pack] | None:
        """Do as :meth:`packs`, or return None when something changed on the way."""
        try:
            names = sorted(name for name in os.listdir(self.path) if name.endswith(".parquet"))
        except FileNotFoundError:
            return []
        found = []
        for name in names:
            path = self.path / name
            signature = signature_of(path)
            if signature is None:  # merged with others since the folder was read
                return None
            at = (str(path), *signature)
            pack, checked = _known.get(at, (None, False))
            try:
                pack = open_pack(path) if pack is None else pack
                damaged = damaged_groups(pack) if whole and not checked else []
            except FileNotFoundError:
                return None
            except UntrustedError as reason:
                self._quarantine(path, str(reason))
                return None
            if damaged:
                self._mend(pack, damaged)
                return None
            _known[at] = (pack, checked or whole)
            found.append(pack)
        here = {str(pack.path) for pack in found}
        for at in [at for at in _known if at[0] not in here and os.path.dirname(at[0]) == str(self.path)]:
            _known.pop(at, None)
        return found

    def read(self, keys: Iterable[str], columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows of cells.

        Parameters
        ----------
        keys : iterable of str
            Keys of cells; those that are in no pack are skipped.
        columns : sequence of str, optional
            All when not given.

        Returns
        -------
        pyarrow.Table
            Each cell once, its rows together; the cells in any order.
        """
        keys = list(keys)
        while (parts := self._read(set(keys), columns)) is None:
            pass
        fields = ROW_SCHEMA if columns is None else pa.schema([ROW_SCHEMA.field(name) for name in columns])
        return pa.concat_tables([fields.empty_table(), *parts])

    def _read(self, wanted: set[str], columns: Sequence[str] | None) -> list[pa.Table] | None:
        parts: list[pa.Table] = []
        for pack in self.packs():
            if len(wanted) < len(pack.keys):
                here = {key: group for key in wanted if (group := pack.find(key)) is not None}
            else:
                groups_of = zip(pack.names(), pack.group_of.tolist(), strict=True)
                here = {key: group for key, group in groups_of if key in wanted}
            if not here:
                continue
            groups = sorted(set(here.values()))
            try:
                damaged = damaged_groups(pack, groups)
                if damaged:
                    self._mend(pack, damaged_groups(pack))
                    return None
                table = read_groups(pack, groups, columns)
            except FileNotFoundError:  # merged with others
                return None
            except UntrustedError as reason:
                self._quarantine(pack.path, str(reason))
                return None
            parts.append(_only(table, here) if np.isin(pack.group_of, groups).sum() > len(here) else table)
            wanted -= here.keys()
        return parts

    def write(self, tables: Iterable[pa.Table]) -> Iterator[Pack]:
        """Write cells into new packs.

        Parameters
        ----------
        tables : iterable of pyarrow.Table
            Whole finished cells.

        Yields
        ------
        Pack
            Each when it is durable.
        """
        for path in write_packs(self.path, tables):
            yield open_pack(path)

    def scattered(self) -> bool:
        """Say whether there are so many small packs that they are in the way of readers.

        Returns
        -------
        bool
        """
        return sum(pack.size < PACK_BYTES / 2 for pack in self.packs()) > _MANY_PACKS

    def merge(self) -> None:
        """Put small packs together, so that their number stays small however often there was something to pack."""
        small = [pack for pack in self.packs(whole=True) if pack.size < PACK_BYTES / 2]
        if len(small) <= _SMALL_PACKS:
            return
        seen: set[str] = set()

        def tables() -> Iterator[pa.Table]:
            for pack in small:
                for group in range(len(pack.groups)):
                    table = read_groups(pack, [group])
                    keys = table["cell_key"].unique().to_pylist()
                    fresh = [key for key in keys if key not in seen]
                    seen.update(fresh)
                    yield table if len(fresh) == len(keys) else _only(table, fresh)

        for _ in write_packs(self.path, tables()):
            pass
        for pack in small:
            _remove(pack.path)

    def _mend(self, pack: Pack, damaged: Sequence[int]) -> None:
        """Write the undamaged groups of a pack anew and quarantine it."""
        n_lost = int(np.isin(pack.group_of, damaged).sum())
        good = [group for group in range(len(pack.groups)) if group not in set(damaged)]
        try:
            for _ in write_packs(self.path, (read_groups(pack, [group]) for group in good)):
                pass
        except FileNotFoundError:  # another process was faster
            return
        self._quarantine(
            pack.path,
            f"checksums do not fit: {n_lost} of its {len(pack.keys)} cells are damaged, the others are kept",
        )


def signature_of(path: Path) -> tuple[int, int, int] | None:
    """Return what changes when a file is replaced: inode, size and time of change; None when it is not there.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    tuple or None
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _only(table: pa.Table, keys: Iterable[str]) -> pa.Table:
    return table.filter(pc.is_in(table["cell_key"], value_set=pa.array(list(keys), pa.string())))


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except PermissionError:  # Windows, while another process reads it: its cells are in two packs then
        pass
