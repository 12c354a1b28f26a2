"""What a worker process does with one cell, and how others see what it is at."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from experiments.cells import Cell
from experiments.evaluate import evaluate_all_features, evaluate_ranking
from experiments.rows import all_ok
from experiments.store import SetAside, Store

_PREFIX = "reliefe-study-"
_STALE_SECONDS = 24 * 3600
#: How often a worker looks whether its runner is still there, seconds.
_WATCH_EVERY = 0.5


@dataclass
class Outcome:
    """How a cell ended.

    Attributes
    ----------
    cell : Cell
        Which.
    how : str
        "ran"; "found" when another process had finished it; "lost" when it left no file.
    failures : list of (int or None, str)
        Fold and error text; the fold is None when the whole cell was lost.
    warnings : Counter
        (kind, first line) → how often.
    set_aside : list of SetAside
        Files that could not be trusted.
    seconds : float
        Wall clock of the cell.
    """

    cell: Cell
    how: str
    failures: list[tuple[int | None, str]] = field(default_factory=list)
    warnings: Counter = field(default_factory=Counter)
    set_aside: list[SetAside] = field(default_factory=list)
    seconds: float = 0.0


class Desk:
    """A folder of notes that say which worker is at which cell.

    The notes are read for the progress bar, and when a worker was killed, to know what it was at. They lie outside
    of the results: they mean nothing to anyone else.
    """

    def __init__(self):
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):  # by runners that were killed
            try:
                if time.time() - left.stat().st_mtime > _STALE_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)
            except OSError:
                continue
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        self.path = self._folder.name

    def notes(self) -> list[tuple[str, str]]:
        """Return (key, label) of the cells at work."""
        found = []
        for path in sorted(Path(self.path).glob("*.json")):
            try:
                found.append(tuple(json.loads(path.read_text(encoding="utf-8"))))
            except (OSError, ValueError):  # just being written or removed
                continue
        return found

    def labels(self) -> list[str]:
        """Return the cells at work in words."""
        return [label for _, label in self.notes()]

    def clear(self) -> None:
        """Forget the notes of workers that are no more."""
        for path in Path(self.path).glob("*.json"):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()


@contextmanager
def _at_desk(desk: str, cell: Cell):
    note = Path(desk) / f"{os.getpid()}.json"
    try:
        note.write_text(json.dumps([cell.key, cell.label]), encoding="utf-8")
    except OSError:  # not worth losing a cell for
        pass
    try:
        yield
    finally:
        try:
            note.unlink(missing_ok=True)
        except OSError:
            pass


def work(cell: Cell, X, y, results: str, desk: str) -> Outcome:
    """Run one cell, unless it is done already, and write its file.

    Parameters
    ----------
    cell : Cell
        Which.
    X, y : arrays
        The data set; may be memory maps that cannot be written to.
    results : str
        The results folder.
    desk : str
        Folder for the note (:class:`Desk`).

    Returns
    -------
    Outcome
        Never raises for anything a ranker, a learner or the disk does.
    """
    start = time.perf_counter()
    store = Store(results)
    outcome = Outcome(cell, "ran", set_aside=store.set_aside)
    with _at_desk(desk, cell):
        try:
            # Another process on the same study may have finished it since this one looked.
            before = store.read_table(cell.key)
            if before is not None and all_ok(before):
                outcome.how = "found"
            else:
                _evaluate(cell, X, y, store, before, outcome)
        except Exception as error:
            outcome.how = "lost"
            outcome.failures = [(None, f"{type(error).__name__}: {error}")]
    outcome.seconds = time.perf_counter() - start
    return outcome


def _evaluate(cell: Cell, X, y, store: Store, before: pa.Table | None, outcome: Outcome) -> None:
    if cell.reference is None:
        result = evaluate_all_features(cell, X, y, previous=before)
    else:
        # The runner has seen to it; it can be missing still if that cell was lost or its file taken away.
        reference = store.read_table(cell.reference.key)
        if reference is None:
            whole = evaluate_all_features(cell.reference, X, y)
            store.write(cell.reference.key, whole.table)
            outcome.warnings += whole.warnings
            reference = whole.table
        result = evaluate_ranking(cell, X, y, reference, previous=before)
    store.write(cell.key, result.table)
    outcome.warnings += result.warnings
    failed = result.table.select(["fold", "status", "error"]).to_pylist()
    outcome.failures = [(row["fold"], row["error"]) for row in failed if row["status"] != "ok"]


def begin_worker(owner: int) -> None:
    """Make a new worker process end soon after a runner that was killed.

    Otherwise it would go on with its cell, for hours perhaps and for no one. Nothing is lost: a cell's file is
    written whole or not at all.

    Parameters
    ----------
    owner : int
        Process number of the runner, the parent of this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the runner, which ends its workers
    if os.name != "posix":  # elsewhere a process keeps the number of a parent that is no more
        return

    def watch():
        while os.getppid() == owner:
            time.sleep(_WATCH_EVERY)
        os._exit(1)

    threading.Thread(target=watch, name="end with the runner", daemon=True).start()
