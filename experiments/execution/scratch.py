"""What a runner and its workers share beside the rows: notes of who is at which cell, and the data.

The notes are read for the progress bar, by other processes that show the state of a study, and when a worker was
killed, to know what it was at. All lies beside the rows, where workers of other machines reach it too.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import psutil

from experiments.datasets import Dataset
from experiments.evaluation.cell import Cell

_FOLDER = "running"
_RUNNER = "runner.json"
#: Behind the name of a file with arrays: that with the names of the features.
_NAMES = ".names"
#: Below a scratch: embeddings that several rankers of a study need.
EMBEDDINGS = "embeddings"
#: What is this old and was left by another machine, whose processes cannot be seen, is of no one any more.
_STALE_SECONDS = 7 * 24 * 3600


class Scratch:
    """The notes of one runner's workers, and the data sets they work on.

    Parameters
    ----------
    results : path
        The results folder.

    Attributes
    ----------
    path : str
        Its folder.
    """

    def __init__(self, results: str | os.PathLike[str]):
        folder = Path(results) / _FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob("*/"):  # by runners that were killed
            if not _alive(left / _RUNNER):
                shutil.rmtree(left, ignore_errors=True)
        self.path = tempfile.mkdtemp(dir=folder)
        _write(Path(self.path) / _RUNNER, {})
        self._shelved: dict[str, str] = {}

    def shelve(self, data: Dataset) -> str:
        """Put the arrays of a data set into a file that workers map into their memory instead of copying it.

        Parameters
        ----------
        data : Dataset
            Written once, however often it is asked for.

        Returns
        -------
        str
            For :func:`unshelve`.

        Raises
        ------
        OSError
            If the disk is full or refuses.
        """
        if data.checksum not in self._shelved:
            path = str(Path(self.path) / f"{data.checksum[:32]}.data")
            joblib.dump((data.X, data.y), path)
            joblib.dump(data.feature_names, f"{path}{_NAMES}")
            self._shelved[data.checksum] = path
        return self._shelved[data.checksum]

    def notes(self) -> list[tuple[str, str]]:
        """Return (key, label) of the cells at work, or of those their workers died at."""
        return [(note["key"], note["label"]) for _, note in _notes(Path(self.path))]

    def labels(self) -> list[str]:
        """Return the cells at work in words."""
        return [label for _, label in self.notes()]

    def clear(self) -> None:
        """Forget the notes of workers that are no more."""
        for path, _ in _notes(Path(self.path)):
            with suppress(OSError):
                path.unlink()

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):  # another runner's notes may lie there
            Path(self.path).parent.rmdir()


@lru_cache(maxsize=64)
def unshelve(path: str) -> tuple[Any, Any]:
    """Map the arrays of a data set into memory.

    Parameters
    ----------
    path : str
        From :meth:`Scratch.shelve`.

    Returns
    -------
    X, y : arrays
        As in the data set; they cannot be written to. Pages are shared by all processes of a machine.
    """
    return joblib.load(path, mmap_mode="r")


@lru_cache(maxsize=64)
def unshelve_names(path: str) -> tuple[str, ...]:
    """Read the names of the features of a data set.

    Parameters
    ----------
    path : str
        From :meth:`Scratch.shelve`.

    Returns
    -------
    tuple of str
        In column order; empty where they cannot be read, for which no cell is given up.
    """
    try:
        return tuple(joblib.load(f"{path}{_NAMES}"))
    except OSError:
        return ()


def at_work(results: str | os.PathLike[str]) -> set[str]:
    """Return the keys of cells that some process is at, whoever started it.

    Parameters
    ----------
    results : path
        The results folder.

    Returns
    -------
    set of str
        Notes of processes that are no more are left out, as far as that can be seen from this machine.
    """
    folders = (Path(results) / _FOLDER).glob("*/")
    return {note["key"] for folder in folders for path, note in _notes(folder) if _alive(path)}


@contextmanager
def noted(scratch: str, cell: Cell) -> Iterator[None]:
    """Leave a note while the block runs.

    Parameters
    ----------
    scratch : str
        The folder.
    cell : Cell
        What this process is at.
    """
    path = Path(scratch) / f"{_host()}-{os.getpid()}.json"
    with suppress(OSError):  # not worth losing a cell for
        _write(path, {"key": cell.key, "label": cell.label})
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def _write(path: Path, content: dict) -> None:
    text = json.dumps({"host": _host(), "process": os.getpid(), **content})
    path.write_text(text, encoding="utf-8")


def _notes(folder: Path) -> Iterator[tuple[Path, dict]]:
    for path in sorted(folder.glob("*.json")):
        if path.name == _RUNNER:
            continue
        try:
            yield path, json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # just being written or removed
            continue


def _alive(path: Path) -> bool:
    """Whether the writer of a note is still there; on another machine, whether it may be."""
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        if note["host"] == _host():
            return psutil.Process(note["process"]).status() != psutil.STATUS_ZOMBIE
        return time.time() - path.stat().st_mtime < _STALE_SECONDS
    except (OSError, ValueError, psutil.NoSuchProcess):
        return False


@lru_cache(maxsize=1)
def _host() -> str:
    """Return what tells this machine from others without naming it."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:12]
