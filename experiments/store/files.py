"""Parquet files of rows: whole or not there, with checksums of their pages, for everyone to read.

The name of a file of many cells ends in the first 16 digits of the SHA-256 of its content.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from experiments.schema import ROW_SCHEMA, ROWS_VERSION
from experiments.store.rows import conforming, without_curves

#: A row group is closed once its rows take so many bytes in memory, a file once it has so many.
GROUP_BYTES = 2 * 2**20
PACK_BYTES = 32 * 2**20
#: Columns whose values repeat; curves and weights hardly ever do.
_REPEATING = [field.name for field in ROW_SCHEMA if not pa.types.is_list(field.type)]
_WRITE_ATTEMPTS = 5


class UntrustedError(Exception):
    """A file that this program did not write, or that was changed; the message says how that is seen."""

    def __init__(self, path: Path, reason: str):
        super().__init__(reason)
        self.path = path


def dump(groups: Iterable[pa.Table], *, small: bool = False) -> bytes:
    """Return a Parquet file with a row group for each table, as many as fit into ``PACK_BYTES``."""
    sink = io.BytesIO()
    with pq.ParquetWriter(
        sink,
        ROW_SCHEMA.with_metadata({b"rows_version": str(ROWS_VERSION)}),
        compression="zstd",
        # Equal lists, such as weights of identical rankers, are found within a page.
        compression_level=19 if small else None,
        data_page_size=4 * GROUP_BYTES if small else None,
        use_dictionary=_REPEATING,
        write_statistics=False,
        write_page_checksum=True,
    ) as writer:
        for group in groups:
            writer.write_table(group, row_group_size=group.num_rows)
            if sink.tell() >= PACK_BYTES:
                break
    return sink.getvalue()


def write_packs(
    folder: Path, tables: Iterable[pa.Table], *, name: str = "cells", small: bool = False
) -> Iterator[Path]:
    """Write whole finished cells into as many files as they need, and yield each once it is durable.

    ``small`` is for what is kept in a repository: it takes half a minute for 50 MB, and leaves out curves
    that follow from others.
    """
    groups = _grouped(without_curves(table) if small else table for table in tables)
    for first in groups:
        content = dump(chain([first], groups), small=small)
        path = folder / f"{name}-{_digest(content)}.parquet"
        write_synced(path, content)
        yield path


def _grouped(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = []
    n_bytes = 0
    for table in tables:
        if not table.num_rows:
            continue
        waiting.append(table)
        n_bytes += table.nbytes
        if n_bytes >= GROUP_BYTES:
            yield pa.concat_tables(waiting)
            waiting, n_bytes = [], 0
    if waiting:
        yield pa.concat_tables(waiting)


def read(path: Path, columns: Sequence[str] | None = None, groups: Sequence[int] | None = None) -> pa.Table:
    """Return columns (all by default) of row groups (all by default). FileNotFoundError or UntrustedError."""
    with _opened(path) as file:
        names = None if columns is None else [name for name in columns if name in file.schema_arrow.names]
        numbers = range(file.num_row_groups) if groups is None else groups
        return conforming(file.read_row_groups(list(numbers), names, use_threads=False), columns)


@lru_cache(maxsize=4096)
def groups_of(path: Path, signature: tuple[int, int, int]) -> dict[str, int]:
    """Return key → row group of a file of many cells, once the whole file was compared with its name.

    ``signature`` is that of now (:func:`signature_of`): a file that was changed is looked at again.
    """
    with _opened(path) as file:
        stated = re.search(r"-([0-9a-f]{16})\.parquet$", path.name)
        if stated and stated[1] != _digest(path.read_bytes()):
            raise ValueError("its checksum does not fit its content: cut off or changed")
        conforming(file.schema_arrow.empty_table())
        return {
            key: group
            for group in range(file.num_row_groups)
            for key in file.read_row_group(group, ["cell_key"])["cell_key"].unique().to_pylist()
        }


def signature_of(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file is replaced: inode, size and time of change. As :func:`read`."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        if os.path.islink(path):
            raise UntrustedError(path, "a link that leads nowhere") from None
        raise
    except OSError as error:
        raise UntrustedError(path, error.strerror or str(error)) from error
    if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for without end
        raise UntrustedError(path, "not a regular file")
    return status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    signature_of(path)
    with open(path, "rb") as raw:
        try:
            with pq.ParquetFile(raw, page_checksum_verification=True) as file:
                if (file.schema_arrow.metadata or {}).get(b"rows_version") != str(ROWS_VERSION).encode():
                    raise ValueError("its rows have other columns than this version's")
                yield file
        except FileNotFoundError:
            raise
        except (pa.ArrowException, OSError, ValueError) as error:
            said = f"Parquet says: {error}" if isinstance(error, (pa.ArrowException, OSError)) else str(error)
            raise UntrustedError(path, said) from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def write_synced(path: Path, content: bytes) -> None:
    """Write a file under another name, then rename it; durable once this returns."""
    for attempt in range(_WRITE_ATTEMPTS):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.stem}.{os.getpid()}.{uuid.uuid4().hex}.tmp")
        try:
            with open(temporary, "xb", buffering=0) as file:
                left = memoryview(content)
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except FileNotFoundError:
            # Another process took the temporary file for a stale one (a clock that jumped), or emptied the
            # folder.
            if attempt == _WRITE_ATTEMPTS - 1:
                raise
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        else:
            break
    with suppress(OSError):  # Windows does not open folders, and some network file systems do not sync them
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
