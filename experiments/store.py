"""Rows on disk: one file per cell, whole or not there.

A file is ordinary Parquet with page checksums. Between its pages and its footer, where readers do not look, lie
32 bytes more: the SHA-256 of everything else. So a file that was cut off or changed anywhere, footer included, is
known before Parquet's parser sees it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.rows import all_ok, from_frame, to_frame
from experiments.schema import ROW_SCHEMA, ROWS_VERSION

logger = logging.getLogger(__name__)

_MAGIC = b"PAR1"
_DIGEST_BYTES = 32
#: A writer needs milliseconds, so what is a day old was left behind.
_STALE_SECONDS = 24 * 3600
_WRITE_ATTEMPTS = 5


@dataclass(frozen=True)
class SetAside:
    """A file that could not be trusted, and where it is now."""

    path: Path
    moved_to: Path
    reason: str


class _Untrusted(Exception):
    """The bytes are not a file this store wrote for this cell."""


def cell_key(content: Mapping[str, Any]) -> str:
    """Hash what decides the numbers of a cell.

    Parameters
    ----------
    content : mapping
        Nested mappings with text keys, lists or tuples, text, numbers (numpy's too), booleans and None.

    Returns
    -------
    str
        SHA-256, 64 hexadecimal digits. The order of keys does not count; neither does list or tuple. 1 and 1.0 do
        differ: ``max_features=1`` is one column to scikit-learn and ``1.0`` all of them, so taking them for
        the same would sooner or later hand out another cell's rows. At worst a cell runs once more.

    Raises
    ------
    ValueError
        For NaN or infinity.
    TypeError
        For any other kind of value or key (paths, arrays, objects): its text could depend on the machine.
    """
    text = json.dumps(_canonical(content, "key"), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _canonical(value: Any, where: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}; only finite numbers can be part of a cell's key")
        return value + 0.0  # −0.0 becomes 0.0
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{where} has the key {key!r}; keys must be text")
        return {str(key): _canonical(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item, f"{where}[{i}]") for i, item in enumerate(value)]
    raise TypeError(f"{where} is a {type(value).__name__}; it cannot be part of a cell's key")


class Store:
    """The rows below one results folder.

    Nothing is created before the first write.

    Parameters
    ----------
    results : path
        The results folder; files lie at ``rows/<first two digits>/<key>.parquet`` below it.

    Attributes
    ----------
    set_aside : list of SetAside
        Files found torn or foreign by this object, oldest first.
    """

    def __init__(self, results: str | os.PathLike[str]):
        self.results = Path(results)
        self.set_aside: list[SetAside] = []

    def path(self, key: str) -> Path:
        """Return where the file of a cell lies, whether it exists or not.

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
            As :func:`experiments.rows.to_frame` makes it; None when there is no good file.
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
        path = self.path(key)
        try:
            return _load(path, key)
        except FileNotFoundError:
            return None
        except _Untrusted as reason:
            return self._put_aside(path, key, str(reason))

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
        table = from_frame(rows) if isinstance(rows, pd.DataFrame) else rows.cast(ROW_SCHEMA)
        if set(table["cell_key"].to_pylist()) != {key}:
            raise ValueError(f"rows of another cell, or none, for {key}")
        if not all_ok(table) and self.has(key):
            return
        content = _dump(table, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(_WRITE_ATTEMPTS):
            temporary = path.with_name(f".{key}.{os.getpid()}.{uuid.uuid4().hex}.tmp")
            try:
                _write_synced(temporary, content)
                os.replace(temporary, path)
            except FileNotFoundError:
                # Another process took the temporary file for a stale one (a clock that jumped), or emptied the
                # folder.
                if attempt == _WRITE_ATTEMPTS - 1:
                    raise
                path.parent.mkdir(parents=True, exist_ok=True)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            else:
                _sync_folder(path.parent)
                return

    def clean(self) -> list[Path]:
        """Delete temporary files that a killed process left more than a day ago.

        Returns
        -------
        list of Path
            What was deleted.
        """
        deleted = []
        for path in (self.results / "rows").glob("??/.*.tmp"):
            try:
                if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()
                    deleted.append(path)
            except FileNotFoundError:
                continue
        return deleted

    def _put_aside(self, path: Path, key: str, reason: str) -> pa.Table | None:
        moved_to = self.results / "aside" / f"{path.name}.{time.time_ns()}.{uuid.uuid4().hex[:8]}"
        moved_to.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(path, moved_to)
        except FileNotFoundError:
            return self.read_table(key)  # another process moved it; by now there may be a good one
        try:
            table = _load(moved_to, key)
        except _Untrusted:
            logger.warning("%s is not read as data: %s; moved to %s", path, reason, moved_to)
            self.set_aside.append(SetAside(path, moved_to, reason))
            return None
        # Between our reading and our moving another process put a good file there: give it back.
        os.replace(moved_to, path)
        return table


def _dump(table: pa.Table, key: str) -> bytes:
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
    footer = _footer_start(raw)
    return raw[:footer] + hashlib.sha256(raw).digest() + raw[footer:]


def _load(path: Path, key: str) -> pa.Table:
    try:
        sealed = path.read_bytes()
    except IsADirectoryError:
        raise _Untrusted("a folder where a file should be") from None
    footer = _footer_start(sealed)
    digest_start = footer - _DIGEST_BYTES
    if digest_start < len(_MAGIC):
        raise _Untrusted("cut off, or not written by this program")
    found = hashlib.sha256(memoryview(sealed)[:digest_start])
    found.update(memoryview(sealed)[footer:])
    if found.digest() != sealed[digest_start:footer]:
        raise _Untrusted(
            "its checksum does not fit its content: cut off, changed, or not written by this program"
        )
    try:
        with pq.ParquetFile(pa.BufferReader(sealed), page_checksum_verification=True) as file:
            table = file.read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise _Untrusted(f"Parquet says: {error}") from error
    metadata = table.schema.metadata or {}
    if metadata.get(b"cell_key") != key.encode() or set(table["cell_key"].to_pylist()) != {key}:
        raise _Untrusted("it holds another cell")
    if metadata.get(b"rows_version") != str(ROWS_VERSION).encode() or not table.schema.equals(ROW_SCHEMA):
        raise _Untrusted("its rows have other columns than this version's")
    return table.replace_schema_metadata(None)


def _footer_start(raw: bytes) -> int:
    """Return where the footer starts, 0 or less when there is none."""
    if len(raw) < 12 or raw[-4:] != _MAGIC:
        return 0
    return len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")


def _write_synced(path: Path, content: bytes) -> None:
    with open(path, "xb", buffering=0) as file:
        view = memoryview(content)
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
