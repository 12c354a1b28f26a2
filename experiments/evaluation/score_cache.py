"""Scores of a learner on sequences of features, kept so that no two rankers have the same learner fitted twice.

Within a fold, many rankers put the same features first in the same order. What a learner scores on them depends on
the data set, the split, the seed, the learner and the versions of what computes it, all of which are in the key of
the score of all features, on the fold, and on the sequence of features. Under these it is kept: in memory, and in
one file per fold below the results folder, for other workers and for later runs.

A file is written beside its place and renamed, ends with a checksum, and one that does not fit counts as absent.
Processes that write the file of a fold at the same moment may lose each other's last scores, which are computed
again then; no lock is needed, which network file systems may not have.

Bounds: 20,000 scores a fold (900 kB), 100,000 in the memory of a process (some 30 MB), and 256 MiB on disk, which
is looked at when a run starts and whenever a process has written 16 MiB. The oldest go first.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
import time
import uuid
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.learners.forest import LEARNER, OWN_TREES
from experiments.store.rows import machine

FOLDER = "score_cache"
_SUFFIX = ".scores"
_MAGIC = b"scores 1\n"
_CHECK_BYTES = 16
#: Name, micro and macro F1, seconds, how it was computed, machine.
_ENTRY = struct.Struct("<16sdddBI")
_WAYS = (None, OWN_TREES, LEARNER)

_MOST_OF_FOLD = 20_000
_MOST_IN_MEMORY = 100_000
_MOST_BYTES = 256 * 2**20
_LOOK_EVERY_BYTES = 16 * 2**20
#: What was computed within so many seconds, in a fold, is not worth a file.
_WORTH_WRITING = 0.02
#: A fold that takes longer is written on the way, seconds.
_WRITE_EVERY = 30.0
_STALE_SECONDS = 24 * 3600


class Score(NamedTuple):
    """What came of fitting a learner and predicting once.

    Attributes
    ----------
    micro, macro : float
        F1 on the test samples.
    seconds : float
        What it took when it was computed; NaN where that was not measured, or on another kind of machine.
    way : str or None
        As :func:`experiments.learners.forest.fit_predict` says it.
    """

    micro: float
    macro: float
    seconds: float
    way: str | None = None


def names_of(order: np.ndarray, sizes: Sequence[int] | np.ndarray, *, nested: bool) -> list[bytes]:
    """Name the sequences of features that a learner is given along a ranking.

    Parameters
    ----------
    order : int array
        Features, the best first.
    sizes : sequence of int
        Numbers of top features, ascending.
    nested : bool
        Whether each fit starts from the one before, as those of a learner with a ``path`` do. Then a score depends
        on the sizes before, too, and names differ where they do.

    Returns
    -------
    list of bytes
        16 bytes for each size; equal where the sequences are.
    """
    order = np.ascontiguousarray(order, dtype="<i8")
    begun = hashlib.blake2b(b"nested" if nested else b"", digest_size=16)
    names, before = [], 0
    for size in sizes:
        if nested:
            begun.update(int(size).to_bytes(8, "little"))
        begun.update(order[before:size].data)
        names.append(begun.copy().digest())
        before = size
    return names


class FoldScores:
    """The known scores of one fold; from :meth:`ScoreCache.of_fold`."""

    def __init__(self, cache: ScoreCache, scope: bytes, path: Path):
        self._cache, self._scope, self._path = cache, scope, path
        self._known: dict[bytes, tuple] = {}
        self._signature: tuple[int, int, int] | None = None
        self._seconds_unwritten = 0.0
        self._written = time.monotonic()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, name: bytes) -> Score | None:
        """Return a score, or None when it is not known.

        Parameters
        ----------
        name : bytes
            From :func:`names_of`.

        Returns
        -------
        Score or None
        """
        found = self._known.get(name)
        if found is None:
            return None
        micro, macro, seconds, way, where = found
        return Score(micro, macro, seconds if where == _machine_number() else math.nan, _WAYS[way])

    def add(self, name: bytes, score: Score, seconds: float) -> None:
        """Keep a score.

        Parameters
        ----------
        name : bytes
            From :func:`names_of`.
        score : Score
            What is kept.
        seconds : float
            What it took, known in any case: it decides when the file is written.
        """
        entry = (score.micro, score.macro, score.seconds, _WAYS.index(score.way), _machine_number())
        self._known[name] = entry
        if len(self._known) > _MOST_OF_FOLD:
            del self._known[next(iter(self._known))]
        self._seconds_unwritten += seconds
        if time.monotonic() - self._written > _WRITE_EVERY:
            self.write()

    def refresh(self) -> None:
        """Read the file again if another process has written it."""
        with suppress(OSError):
            signature = _signature(self._path)
            if signature != self._signature:
                self._known |= _load(self._path, self._scope)
                self._signature = signature

    def write(self) -> None:
        """Write what is new, if it took long enough; a disk that refuses costs no more than computing it again."""
        if self._seconds_unwritten < _WORTH_WRITING:
            return
        self.refresh()
        kept = list(self._known.items())[-_MOST_OF_FOLD:]
        self._known = dict(kept)
        content = b"".join([_MAGIC, self._scope, *(_ENTRY.pack(name, *entry) for name, entry in kept)])
        content += hashlib.blake2b(content, digest_size=_CHECK_BYTES).digest()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            beside = self._path.with_name(f".{self._path.stem}.{os.getpid()}.{uuid.uuid4().hex}.tmp")
            try:
                beside.write_bytes(content)
                os.replace(beside, self._path)
            finally:
                with suppress(OSError):
                    beside.unlink()
            self._signature = _signature(self._path)
            self._cache.wrote(len(content))
        except OSError:
            pass
        self._seconds_unwritten, self._written = 0.0, time.monotonic()


class ScoreCache:
    """Known scores of all folds below one results folder.

    Parameters
    ----------
    results : path
        The results folder; files lie in ``score_cache`` below it. Nothing is created before the first write.
    """

    def __init__(self, results: str | os.PathLike[str]):
        self._folder = Path(results) / FOLDER
        self._folds: OrderedDict[bytes, FoldScores] = OrderedDict()
        self._n_written = 0

    def of_fold(self, key: str, fold: int) -> FoldScores:
        """Return the known scores of a fold.

        Parameters
        ----------
        key : str
            Of the cell with the score of all features: it holds what decides a score beside the features.
        fold : int
            Which.

        Returns
        -------
        FoldScores
            With what other processes have written by now.
        """
        scope = hashlib.sha256(f"{key} {fold}".encode()).digest()
        found = self._folds.pop(scope, None)
        if found is None:
            found = FoldScores(self, scope, self._folder / key[:2] / f"{key}-{fold}{_SUFFIX}")
        found.refresh()
        self._folds[scope] = found
        n_known = sum(map(len, self._folds.values()))
        while n_known > _MOST_IN_MEMORY and len(self._folds) > 1:
            n_known -= len(self._folds.popitem(last=False)[1])
        return found

    def wrote(self, n_bytes: int) -> None:
        """Take in that a file was written, and look at the size of all from time to time."""
        self._n_written += n_bytes
        if self._n_written > _LOOK_EVERY_BYTES:
            self._n_written = 0
            self.shrink()

    def shrink(self) -> None:
        """Delete the oldest files above the bound, and temporary ones of processes that were killed."""
        files = []
        for path in self._folder.glob("??/*"):
            with suppress(OSError):
                state = path.stat()
                if path.name.endswith(_SUFFIX):
                    files.append((state.st_mtime_ns, state.st_size, path))
                elif path.name.endswith(".tmp") and time.time() - state.st_mtime > _STALE_SECONDS:
                    path.unlink()
        n_bytes = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if n_bytes <= _MOST_BYTES:
                break
            with suppress(OSError):
                path.unlink()
            n_bytes -= size


def _load(path: Path, scope: bytes) -> dict[bytes, tuple]:
    """Read a file; {} where it is not whole, or that of another fold."""
    content = path.read_bytes()
    body, check = content[:-_CHECK_BYTES], content[-_CHECK_BYTES:]
    begin = _MAGIC + scope
    if (
        not body.startswith(begin)
        or (len(body) - len(begin)) % _ENTRY.size
        or hashlib.blake2b(body, digest_size=_CHECK_BYTES).digest() != check
    ):
        return {}
    entries = _ENTRY.iter_unpack(memoryview(body)[len(begin) :])
    return {name: tuple(entry) for name, *entry in entries}


def _signature(path: Path) -> tuple[int, int, int]:
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


@lru_cache(maxsize=1)
def _machine_number() -> int:
    """Tell this kind of machine from others: seconds of another say nothing here."""
    return zlib.crc32(json.dumps(machine(), sort_keys=True).encode())
