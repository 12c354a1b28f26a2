"""Cells handed to workers, and what happens when one of them dies."""

from __future__ import annotations

import logging
import math
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from experiments.datasets import Dataset
from experiments.errors import ConfigError, LauncherError, wrong_name
from experiments.evaluation.cell import Cell
from experiments.execution.backend import Batch, Executor
from experiments.execution.local import LocalExecutor
from experiments.execution.scratch import Scratch
from experiments.execution.worker import Outcome, WorkOptions, close_fitter, work, write_off
from experiments.formatting import first_line
from experiments.schema import BACKENDS

logger = logging.getLogger(__name__)

#: Deaths of workers in a row, none of them at a cell, after which it makes no sense to go on.
_DEATHS_AT_MOST = 3
#: Cells are handed out together when they take no longer than this, seconds, and are no more than that.
_BATCH_SECONDS, _BATCH_CELLS = 0.5, 200
#: The slowest of so many cells before counts.
_PACE_OF = 8


def executor_for(
    launcher: Mapping[str, Any], n_cells: int, tell: Callable[[str], None], here: bool = True
) -> Executor:
    """Return the executor that the configuration asks for.

    Parameters
    ----------
    launcher : mapping
        A block of ``conf/launcher``.
    n_cells : int
        How many cells there are; no process is started without work.
    tell : callable
        Shows a line to the person who waits.
    here : bool, default=True
        Whether one worker of this machine is this very process.

    Returns
    -------
    Executor

    Raises
    ------
    ConfigError
        If a setting is wrong, or a package is missing.
    LauncherError
        If no workers can be had.
    """
    backend = launcher.get("backend") or "loky"
    if backend not in BACKENDS:
        raise wrong_name("launcher.backend", backend, BACKENDS)
    if backend == "loky":
        return LocalExecutor(launcher, n_cells, here)
    try:
        from experiments.execution import dask
    except ImportError as error:
        raise ConfigError(
            f"launcher={backend} needs {error.name or error}: pip install 'reliefe-bench[cluster]'"
        ) from error
    return dask.cluster_executor(launcher, n_cells, tell)


def launch(
    cells: Sequence[Cell],
    data: Mapping[str, Dataset],
    executor: Executor,
    scratch: Scratch,
    options: WorkOptions,
) -> Generator[Outcome, None, None]:
    """Run cells and give their outcomes as they end.

    Parameters
    ----------
    cells : sequence of Cell
        Started in this order.
    data : mapping
        Checksum → data set.
    executor : Executor
        Who works. Where that is this process, a ranker that takes the process down without limits takes the study
        with it, and Ctrl-C waits until compiled code returns.
    scratch : Scratch
        Where workers note what they are at.
    options : WorkOptions
        What workers are told.

    Yields
    ------
    Outcome
        One per cell. A cell whose worker dies is tried once more by itself, its fits in a process of their own, so
        that a deadly ranker fails its folds and no innocent neighbour is blamed. When the worker dies again, all
        folds of that cell fail. When workers keep dying before they take a cell, all that is left is lost.

    Raises
    ------
    LauncherError
        When a cluster is gone.
    """
    if executor.is_here:
        try:
            for cell in cells:
                its = data[cell.checksum]
                yield work(cell, its.X, its.y, options, its.feature_names)
        finally:
            close_fitter()
        return
    try:
        shelved = {cell.checksum: scratch.shelve(data[cell.checksum]) for cell in cells}
    except OSError as error:
        raise LauncherError(
            f"the data cannot be put where workers find them, {scratch.path}: {error.strerror or error}"
        ) from error
    waiting = {cell.key: cell for cell in cells}
    once_more: list[Cell] = []
    n_idle_deaths = 0
    pace = _Pace()
    while waiting:
        try:
            for outcomes in executor.run(_batches(list(waiting.values()), pace, shelved, options)):
                for outcome in outcomes:
                    waiting.pop(outcome.cell.key, None)
                    pace.add(outcome)
                n_idle_deaths = 0
                yield from outcomes
        except executor.deaths as error:
            suspects = [waiting.pop(key) for key, _ in scratch.notes() if key in waiting]
            scratch.clear()
            once_more += suspects
            n_idle_deaths += not suspects
            if n_idle_deaths >= _DEATHS_AT_MOST:
                reason = f"worker processes keep dying: {first_line(str(error))}"
                yield from (_lost(cell, reason) for cell in waiting.values())
                break
            names = "; ".join(cell.label for cell in suspects) or "none"
            logger.error(
                "a worker process died (killed, or out of memory?); cells at work, to be tried once more: %s",
                names,
            )
    apart = replace(options, apart=True)
    for cell in once_more:
        try:
            for outcomes in executor.run([([cell], shelved[cell.checksum], apart)]):
                yield from outcomes
        except executor.deaths:
            scratch.clear()
            reason = "the worker process died twice (killed, or out of memory?)"
            yield write_off(cell, data[cell.checksum].X, data[cell.checksum].y, options, reason)


class _Pace:
    """How long cells of a ranker on a data set take."""

    def __init__(self):
        self._last: dict[tuple[str, str, str], deque[float]] = defaultdict(lambda: deque(maxlen=_PACE_OF))

    def add(self, outcome: Outcome) -> None:
        self._last[_kin(outcome.cell)].append(outcome.seconds)

    def seconds(self, cell: Cell) -> float:
        """Return what the slowest of the last cells of its kin took; infinity when there was none."""
        return max(self._last[_kin(cell)], default=math.inf)


def _kin(cell: Cell) -> tuple[str, str, str]:
    return cell.checksum, cell.ranker, cell.kind


def _batches(
    cells: Sequence[Cell], pace: _Pace, shelved: Mapping[str, str], options: WorkOptions
) -> Iterator[Batch]:
    """Put cells that follow each other together, as far as they are known to be quick.

    Taken one by one while cells end, so what is known grows on the way.
    """
    start = 0
    while start < len(cells):
        first, stop, seconds = cells[start], start + 1, pace.seconds(cells[start])
        while stop < min(len(cells), start + _BATCH_CELLS) and cells[stop].checksum == first.checksum:
            seconds += pace.seconds(cells[stop])
            if seconds > _BATCH_SECONDS:
                break
            stop += 1
        yield cells[start:stop], shelved[first.checksum], options
        start = stop


def _lost(cell: Cell, reason: str) -> Outcome:
    return Outcome(cell, "lost", failures=[(None, reason)])
