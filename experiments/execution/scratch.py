"""What a runner and its workers share in the results folder: notes of who is at which cell, and the data.

The notes say which cells are running, and which one a worker died at, on other machines too.
Names of folders and notes begin with their writer, ``HOST-PROCESS``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import psutil

from experiments.datasets import Dataset
from experiments.evaluation.cell import Cell

_FOLDER = "running"
#: Ending of the file with the names of the features, behind the name of that with the arrays.
_NAMES = ".names"
#: Below a scratch: embeddings that several rankers of a study need.
EMBEDDINGS = "embeddings"
#: What is this old and was left by another machine, whose processes cannot be seen, is no longer used.
_STALE_SECONDS = 7 * 24 * 3600


class Scratch:
    """The notes of one runner's workers, and the data sets they work on, in the folder ``path``."""

    def __init__(self, results: str | os.PathLike[str]):
        folder = Path(results) / _FOLDER
        self.path = ""
        while not self.path:
            folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # another runner has ended and removed the folder
                self.path = tempfile.mkdtemp(prefix=f"{_writer()}-", dir=folder)
        for left in folder.glob("*/"):  # by runners that were killed
            if not _alive(left):
                shutil.rmtree(left, ignore_errors=True)
        self._shelved: dict[str, str] = {}

    def shelve(self, data: Dataset) -> str:
        """Put a data set, once, into a file for :func:`unshelve`; return its path."""
        if data.checksum not in self._shelved:
            path = str(Path(self.path) / f"{data.checksum[:32]}.data")
            joblib.dump((data.X, data.y), path)
            joblib.dump(data.feature_names, f"{path}{_NAMES}")
            self._shelved[data.checksum] = path
        return self._shelved[data.checksum]

    def noted_of(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return those of the cells that a worker was at when it died, and forget its notes."""
        keys = set()
        for path, key in _notes(Path(self.path)):
            if any(cell.key == key for cell in cells):
                keys.add(key)
                path.unlink(missing_ok=True)
        return [cell for cell in cells if cell.key in keys]

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):  # another runner's notes may lie there
            Path(self.path).parent.rmdir()


@lru_cache(maxsize=64)
def unshelve(path: str) -> tuple[Any, Any]:
    """Map the arrays of a data set into memory, shared by all processes and read-only."""
    return joblib.load(path, mmap_mode="r")


@lru_cache(maxsize=64)
def unshelve_names(path: str) -> tuple[str, ...]:
    """Return the names of the features; none where they cannot be read, for which no cell is given up."""
    try:
        return tuple(joblib.load(f"{path}{_NAMES}"))
    except OSError:
        return ()


def at_work(results: str | os.PathLike[str]) -> set[str]:
    """Return the keys of cells that a process is at; of other machines, those that may be."""
    folders = (Path(results) / _FOLDER).glob("*/")
    return {key for folder in folders for path, key in _notes(folder) if _alive(path)}


@contextmanager
def noted(scratch: str, cell: Cell) -> Iterator[None]:
    """Leave a note that this process is at a cell while the block runs."""
    path = Path(scratch) / f"{_writer()}.json"
    with suppress(OSError):  # not worth losing a cell for
        path.write_text(json.dumps({"process": os.getpid(), "key": cell.key}), encoding="utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def _notes(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.glob("*.json")):
        with suppress(OSError, ValueError):  # just being written or removed
            yield path, json.loads(path.read_text(encoding="utf-8"))["key"]


def _alive(path: Path) -> bool:
    """Whether the writer of a note or folder still runs; on another machine, whether it may."""
    host, _, process = path.stem.partition("-")
    try:
        if host == _host():
            return psutil.Process(int(process.partition("-")[0])).status() != psutil.STATUS_ZOMBIE
        return time.time() - path.stat().st_mtime < _STALE_SECONDS
    except (OSError, ValueError, psutil.NoSuchProcess):
        return False


def _writer() -> str:
    return f"{_host()}-{os.getpid()}"


@lru_cache(maxsize=1)
def _host() -> str:
    """Return what tells this machine from others without naming it."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:12]
