"""Packs: Parquet files with many finished cells in them, for stores that have too many to open one by one.

A pack holds groups of whole cells (Parquet row groups). Between its pages and footer lie an index, its length, and
a checksum, the SHA-256 of index and footer; the index names each group's cells, where its bytes are, and their
SHA-256. So what a pack holds is known from its end alone, any change is seen, and damage costs the cells of
one group.

Packs bear random names, are never written to again, and are renamed into place like cells. A cell may be in
several packs, or in a pack and in a file of its own, when a process was killed or two were at it: its rows are the
same everywhere, times apart.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.schema import ROW_SCHEMA, ROWS_VERSION
from experiments.store.cell_file import (
    DIGEST_BYTES,
    MAGIC,
    UntrustedError,
    conforming,
    footer_start,
    with_key,
    write_whole_synced,
)
from experiments.store.derived_curves import with_curves, with_sources, without_curves

#: A group is closed once its rows take so many bytes in memory.
GROUP_BYTES = 2 * 2**20
#: A pack is closed once its file has so many bytes.
PACK_BYTES = 32 * 2**20
_LENGTH_BYTES = 8
#: Columns whose values repeat; curves and weights hardly ever do.
_REPEATING = [field.name for field in ROW_SCHEMA if not pa.types.is_list(field.type)]


@dataclass(frozen=True)
class Group:
    """Some cells of a pack: bytes ``start`` to ``stop`` of the file, and the SHA-256 of these, hexadecimal."""

    start: int
    stop: int
    sha256: str


@dataclass(frozen=True)
class Pack:
    """What a pack holds.

    Attributes
    ----------
    path : Path
        The file.
    size : int
        Of the file, bytes.
    groups : tuple of Group
        In the order of the file.
    keys : bytes array, shape (n_cells,)
        Of the cells, ascending.
    group_of : int array, shape (n_cells,)
        In which group each cell is.
    """

    path: Path
    size: int
    groups: tuple[Group, ...]
    keys: np.ndarray
    group_of: np.ndarray

    def find(self, key: str) -> int | None:
        """Return the group of a cell, None when it is not here.

        Parameters
        ----------
        key : str
            The cell's.

        Returns
        -------
        int or None
        """
        sought = key.encode()
        place = int(np.searchsorted(self.keys, sought))
        return int(self.group_of[place]) if place < len(self.keys) and self.keys[place] == sought else None

    def names(self) -> list[str]:
        """Return the keys of all cells.

        Returns
        -------
        list of str
        """
        return self.keys.astype(str).tolist()


def write_packs(folder: Path, tables: Iterable[pa.Table], *, small: bool = False) -> Iterator[Path]:
    """Write cells into as many packs as they need.

    Parameters
    ----------
    folder : Path
        Where packs lie.
    tables : iterable of pyarrow.Table
        Whole finished cells, one or several in each table; taken one by one.
    small : bool, default=False
        Whether to take half a minute for 50 MB, so that the packs get smaller: for what is kept in a repository.
        Curves that follow from others are left out then (:mod:`experiments.store.derived_curves`).

    Yields
    ------
    Path
        A pack that is durable by now.
    """
    writer = _Writer(small)
    waiting, n_bytes = [], 0
    for table in tables:
        if table.num_rows == 0:  # all its cells were in tables before
            continue
        if small:
            table = without_curves(table)
        waiting.append(table)
        n_bytes += table.nbytes
        if n_bytes >= GROUP_BYTES:
            writer.add(pa.concat_tables(waiting))
            waiting, n_bytes = [], 0
            if writer.size >= PACK_BYTES:
                yield writer.finish(folder)
                writer = _Writer(small)
    if waiting:
        writer.add(pa.concat_tables(waiting))
    if writer.groups:
        yield writer.finish(folder)


class _Writer:
    """A pack in memory until it is whole."""

    def __init__(self, small: bool = False):
        self._sink = io.BytesIO()
        self._parquet = pq.ParquetWriter(
            self._sink,
            ROW_SCHEMA.with_metadata({b"rows_version": str(ROWS_VERSION)}),
            compression="zstd",
            # Equal lists, such as weights of rankers that are the same, are found within a page.
            compression_level=19 if small else None,
            data_page_size=4 * GROUP_BYTES if small else None,
            use_dictionary=_REPEATING,
            write_statistics=False,
            write_page_checksum=True,
        )
        self.groups: list[dict] = []

    @property
    def size(self) -> int:
        return self._sink.tell()

    def add(self, table: pa.Table) -> None:
        start = self.groups[-1]["stop"] if self.groups else 0
        self._parquet.write_table(table, row_group_size=table.num_rows)
        written = self._sink.getbuffer()[start:]
        digest = hashlib.sha256(written).hexdigest()
        keys = list(dict.fromkeys(table["cell_key"].to_pylist()))
        self.groups.append(
            {"start": start, "stop": start + len(written), "sha256": digest, "keys": "".join(keys)}
        )
        written.release()  # or the buffer could not grow

    def finish(self, folder: Path) -> Path:
        self._parquet.close()
        raw = self._sink.getbuffer()
        footer = footer_start(raw)
        index = json.dumps({"rows_version": ROWS_VERSION, "groups": self.groups}).encode("ascii")
        index += len(index).to_bytes(_LENGTH_BYTES, "little")
        digest = hashlib.sha256(index)
        digest.update(raw[footer:])
        path = folder / f"{uuid.uuid4().hex}.parquet"
        write_whole_synced(path, [raw[:footer], index, digest.digest(), raw[footer:]])
        return path


def open_pack(path: Path) -> Pack:
    """Read what a pack holds from its end, without its rows.

    Parameters
    ----------
    path : Path
        The pack.

    Returns
    -------
    Pack

    Raises
    ------
    FileNotFoundError
        If there is none.
    UntrustedError
        If its end is torn, changed or foreign, with the reason in words.
    """
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            end = _read(file, max(0, size - 8), 8)
            footer = size - 8 - int.from_bytes(end[:4], "little") if end[4:] == MAGIC else 0
            if footer <= DIGEST_BYTES + _LENGTH_BYTES:
                raise UntrustedError("cut off, or not written by this program")
            tail = _read(file, footer - DIGEST_BYTES - _LENGTH_BYTES, size)
            length = tail[:_LENGTH_BYTES]
            start = footer - DIGEST_BYTES - _LENGTH_BYTES - int.from_bytes(length, "little")
            index = _read(file, start, int.from_bytes(length, "little")) if start > 0 else b""
    except IsADirectoryError:
        raise UntrustedError("a folder where a file should be") from None
    digest = hashlib.sha256(index + length)
    digest.update(tail[_LENGTH_BYTES + DIGEST_BYTES :])
    if digest.digest() != tail[_LENGTH_BYTES:][:DIGEST_BYTES]:
        raise UntrustedError(
            "its checksum does not fit its content: cut off, changed, or not written by this program"
        )
    content = json.loads(index)
    if content["rows_version"] != ROWS_VERSION:
        raise UntrustedError("its rows have other columns than this version's")
    groups = content["groups"]
    keys = np.frombuffer("".join(group["keys"] for group in groups).encode("ascii"), dtype="S64")
    group_of = np.repeat(np.arange(len(groups)), [len(group["keys"]) // 64 for group in groups])
    order = np.argsort(keys, kind="stable")
    return Pack(
        path,
        size,
        tuple(Group(group["start"], group["stop"], group["sha256"]) for group in groups),
        keys[order],
        group_of[order],
    )


def damaged_groups(pack: Pack, groups: Collection[int] | None = None) -> list[int]:
    """Compare the bytes of groups with their checksums.

    Parameters
    ----------
    pack : Pack
        Which.
    groups : collection of int, optional
        Which groups; all when not given.

    Returns
    -------
    list of int
        Those that are not as written.

    Raises
    ------
    FileNotFoundError
        If the pack is gone.
    """
    bad = []
    with open(pack.path, "rb") as file:
        for number in range(len(pack.groups)) if groups is None else sorted(groups):
            group = pack.groups[number]
            content = _read(file, group.start, group.stop - group.start)
            if hashlib.sha256(content).hexdigest() != group.sha256:
                bad.append(number)
    return bad


def read_groups(pack: Pack, groups: Sequence[int], columns: Sequence[str] | None = None) -> pa.Table:
    """Read rows of a pack whose groups are undamaged.

    Parameters
    ----------
    pack : Pack
        Which.
    groups : sequence of int
        Which groups.
    columns : sequence of str, optional
        All when not given.

    Returns
    -------
    pyarrow.Table
        With ``columns`` (those of ``ROW_SCHEMA`` when left out).

    Raises
    ------
    FileNotFoundError
        If the pack is gone.
    UntrustedError
        If Parquet cannot read it, or it has other columns than this version's.
    """
    asked = None if columns is None else with_sources(columns)
    with open(pack.path, "rb") as raw:
        try:
            with pq.ParquetFile(raw, page_checksum_verification=True) as file:
                wanted = with_key(asked, file.schema_arrow)
                table = file.read_row_groups(list(groups), columns=wanted, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise UntrustedError(f"Parquet says: {error}") from error
    whole = with_curves(conforming(table, asked))
    return whole if columns is None else whole.select(list(columns))


def _read(file: Any, start: int, length: int) -> bytes:
    file.seek(start)
    return file.read(length)
