"""Parquet files of rows that show every change to them, and are whole or not there.

A file is ordinary Parquet with page checksums. Between its pages and its footer, where readers do not look, lies a
checksum of the file, so that one that was cut off or changed anywhere, footer included, is known before Parquet's
parser sees it. The checksum of a cell's file is the SHA-256 of everything else, 32 bytes.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from experiments.schema import ADDED_COLUMNS, ROW_SCHEMA, ROWS_VERSION

MAGIC = b"PAR1"
DIGEST_BYTES = 32
_WRITE_ATTEMPTS = 5


class UntrustedError(Exception):
    """The bytes are not what this program wrote at this place."""


def dump_cell(table: pa.Table, key: str) -> bytes:
    """Make the content of a cell's file.

    Parameters
    ----------
    table : pyarrow.Table
        Rows with the columns of ``ROW_SCHEMA``.
    key : str
        The cell's key.

    Returns
    -------
    bytes
    """
    metadata = {**(table.schema.metadata or {}), b"cell_key": key, b"rows_version": str(ROWS_VERSION)}
    sink = pa.BufferOutputStream()
    pq.write_table(
        table.replace_schema_metadata(metadata),
        sink,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
        write_page_checksum=True,
    )
    raw = sink.getvalue().to_pybytes()
    footer = footer_start(raw)
    return raw[:footer] + hashlib.sha256(raw).digest() + raw[footer:]


def load_cell(path: Path, key: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a cell's file.

    Parameters
    ----------
    path : Path
        The file.
    key : str
        The cell it must hold.
    columns : sequence of str, optional
        All when not given; the whole file is checked in any case.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    FileNotFoundError
        If there is none.
    UntrustedError
        If it is torn, changed or foreign, with the reason in words.
    """
    try:
        content = path.read_bytes()
    except IsADirectoryError:
        raise UntrustedError("a folder where a file should be") from None
    footer = footer_start(content)
    digest_start = footer - DIGEST_BYTES
    if digest_start < len(MAGIC):
        raise UntrustedError("cut off, or not written by this program")
    found = hashlib.sha256(memoryview(content)[:digest_start])
    found.update(memoryview(content)[footer:])
    if found.digest() != content[digest_start:footer]:
        raise UntrustedError(
            "its checksum does not fit its content: cut off, changed, or not written by this program"
        )
    try:
        with pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True) as file:
            metadata = file.schema_arrow.metadata or {}
            table = file.read(columns=with_key(columns, file.schema_arrow), use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise UntrustedError(f"Parquet says: {error}") from error
    if metadata.get(b"cell_key") != key.encode() or set(table["cell_key"].to_pylist()) != {key}:
        raise UntrustedError("it holds another cell")
    if metadata.get(b"rows_version") != str(ROWS_VERSION).encode():
        raise UntrustedError("its rows have other columns than this version's")
    return conforming(table, columns)


def with_key(columns: Sequence[str] | None, schema: pa.Schema) -> list[str] | None:
    """Return which columns of a file to read: those asked for that it has, and the key always.

    Parameters
    ----------
    columns : sequence of str or None
        None for all.
    schema : pyarrow.Schema
        Of the file.

    Returns
    -------
    list of str or None
    """
    if columns is None:
        return None
    return [name for name in dict.fromkeys(["cell_key", *columns]) if name in schema.names]


def conforming(table: pa.Table, columns: Sequence[str] | None = None) -> pa.Table:
    """Give rows of this or an earlier version the columns of this one.

    Parameters
    ----------
    table : pyarrow.Table
        As read.
    columns : sequence of str, optional
        The columns to give; those of ``ROW_SCHEMA`` when left out.

    Returns
    -------
    pyarrow.Table
        Without metadata; columns that came later are null.

    Raises
    ------
    UntrustedError
        If columns are missing that were always there, or types differ.
    """
    table = table.replace_schema_metadata(None)
    wanted = ROW_SCHEMA if columns is None else pa.schema([ROW_SCHEMA.field(name) for name in columns])
    if table.schema.equals(wanted):
        return table
    missing = set(wanted.names) - set(table.schema.names)
    unknown = set(table.schema.names) - set(ROW_SCHEMA.names)
    types_differ = any(field.name not in missing and table.field(field.name) != field for field in wanted)
    if unknown or types_differ or not missing <= set(ADDED_COLUMNS):
        raise UntrustedError("its rows have other columns than this version's")
    arrays = [
        pa.nulls(table.num_rows, field.type) if field.name in missing else table[field.name]
        for field in wanted
    ]
    return pa.table(arrays, schema=wanted)


def footer_start(raw: bytes | memoryview) -> int:
    """Return where the footer of a Parquet file starts, 0 or less when there is none.

    Parameters
    ----------
    raw : bytes-like
        The whole file.

    Returns
    -------
    int
    """
    if len(raw) < 12 or bytes(raw[-4:]) != MAGIC:
        return 0
    return len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")


def write_whole_synced(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file beside its place, then rename it; durable once this returns.

    Parameters
    ----------
    path : Path
        Its place; the folder is made when it is not there.
    parts : iterable of bytes-like
        The content.

    Raises
    ------
    OSError
        If the disk is full or refuses; what was at the place before is still there.
    """
    parts = list(parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(_WRITE_ATTEMPTS):
        temporary = path.with_name(f".{path.stem}.{os.getpid()}.{uuid.uuid4().hex}.tmp")
        try:
            _write_synced(temporary, parts)
            os.replace(temporary, path)
        except FileNotFoundError:
            # Another process took the temporary file for a stale one (a clock that jumped), or emptied the folder.
            if attempt == _WRITE_ATTEMPTS - 1:
                raise
            path.parent.mkdir(parents=True, exist_ok=True)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        else:
            _sync_folder(path.parent)
            return


def _write_synced(path: Path, parts: Sequence[bytes | memoryview]) -> None:
    with open(path, "xb", buffering=0) as file:
        for part in parts:
            view = memoryview(part)
            while view:
                view = view[file.write(view) :]
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself durable, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows does not open folders
        return
    try:
        os.fsync(descriptor)
    except OSError:  # some network file systems refuse; the file's own content is synced already
        pass
    finally:
        os.close(descriptor)
