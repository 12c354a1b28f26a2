"""Cells handed to workers, and what happens when one of them dies."""

from __future__ import annotations

import logging
import math
from collections import defaultdict, deque
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import replace

from experiments.datasets import Dataset
from experiments.errors import LauncherError
from experiments.evaluation.cell import Cell
from experiments.execution.executors import Executor
from experiments.execution.scratch import Scratch
from experiments.execution.worker import Outcome, WorkOptions, close_fitter, work, work_batch, write_off
from experiments.formatting import first_line

logger = logging.getLogger(__name__)

#: Deaths of workers in a row, none of them at a cell, after which it makes no sense to go on.
_DEATHS_AT_MOST = 3
#: Cells are handed out together when they take no longer than this, seconds, and are no more than that.
_BATCH_SECONDS, _BATCH_CELLS = 0.5, 200
#: The slowest of so many cells before counts.
_PACE_OF = 8


def launch(
    cells: Sequence[Cell],
    data: Mapping[str, Dataset],
    executor: Executor,
    scratch: Scratch,
    options: WorkOptions,
) -> Generator[Outcome, None, None]:
    """Run cells, started in this order, and yield one outcome for each as they end.

    The cell at which a worker dies is tried once more, its fits in a process of their own, so that a deadly
    ranker fails its folds; other cells go on. When the worker dies again, all folds of that cell fail. When
    workers keep dying before they take a cell, all that is left is lost. LauncherError: the cluster is gone.
    """
    if executor.is_here:  # a ranker that takes the process down without limits takes the study with it
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
    pace = _Pace()
    waiting, suspects = deque(cells), deque[Cell]()
    running: dict[Future, tuple[list[Cell], bool]] = {}
    n_idle_deaths = 0
    while waiting or suspects or running:
        while (waiting or suspects) and len(running) < executor.n_at_once:
            apart = bool(suspects)
            batch = [suspects.popleft()] if apart else pace.batch(waiting)
            its_options = replace(options, apart=True) if apart else options
            future = executor.submit(work_batch, batch, shelved[batch[0].checksum], its_options)
            running[future] = batch, apart
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            batch, apart = running.pop(future)
            try:
                outcomes = future.result()
            except CancelledError as error:
                raise LauncherError(
                    "the connection to the dask scheduler is lost; finished cells are kept, and the same "
                    "command continues from there once a scheduler runs again"
                ) from error
            except executor.deaths as error:
                at_work = scratch.noted_of(batch)
                n_idle_deaths = 0 if at_work else n_idle_deaths + 1
                waiting.extendleft(cell for cell in reversed(batch) if cell not in at_work)
                if apart:
                    reason = "the worker process died twice (killed, or out of memory?)"
                    for cell in at_work:
                        yield write_off(cell, data[cell.checksum].X, data[cell.checksum].y, options, reason)
                    continue
                suspects += at_work
                logger.error(
                    "a worker process died (killed, or out of memory?); to be tried once more: %s",
                    "; ".join(cell.label for cell in at_work) or "none",
                )
                if n_idle_deaths >= _DEATHS_AT_MOST:
                    reason = f"worker processes keep dying: {first_line(str(error))}"
                    left = [*waiting, *suspects]
                    waiting.clear()
                    suspects.clear()
                    yield from (Outcome(cell, "lost", failures=[(None, reason)]) for cell in left)
            else:
                n_idle_deaths = 0
                for outcome in outcomes:
                    pace.add(outcome)
                yield from outcomes


class _Pace:
    """How long cells of a ranker on a data set take."""

    def __init__(self):
        self._last: dict[tuple[str, str, str], deque[float]] = defaultdict(lambda: deque(maxlen=_PACE_OF))

    def add(self, outcome: Outcome) -> None:
        """Take in that a cell ended."""
        self._last[_group(outcome.cell)].append(outcome.seconds)

    def batch(self, waiting: deque[Cell]) -> list[Cell]:
        """Take the next cell, and those of its data set behind it as far as they are known to be quick."""
        batch = [waiting.popleft()]
        seconds = self._seconds(batch[0])
        while waiting and len(batch) < _BATCH_CELLS and waiting[0].checksum == batch[0].checksum:
            seconds += self._seconds(waiting[0])
            if seconds > _BATCH_SECONDS:
                break
            batch.append(waiting.popleft())
        return batch

    def _seconds(self, cell: Cell) -> float:
        """Return what the slowest of the last cells of its group took; infinity when there was none."""
        return max(self._last[_group(cell)], default=math.inf)


def _group(cell: Cell) -> tuple[str, str, str]:
    return cell.checksum, cell.ranker, cell.kind
