"""Cells spread over processes of this machine, and what happens when one of them dies."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool

from experiments.cells import Cell
from experiments.datasets import Dataset
from experiments.measure import first_line
from experiments.work import Desk, Outcome, begin_worker, work

logger = logging.getLogger(__name__)

#: Arrays from this size on go to workers as memory maps instead of a copy with every cell.
_MAP_FROM = "50K"
#: Deaths of workers in a row, none of them at a cell, after which it makes no sense to go on.
_DEATHS_AT_MOST = 3


def launch(
    cells: Sequence[Cell], data: Mapping[str, Dataset], results: str, n_workers: int, desk: Desk
) -> Iterator[Outcome]:
    """Run cells and give their outcomes as they end.

    Parameters
    ----------
    cells : sequence of Cell
        Started in this order.
    data : mapping
        Checksum → data set.
    results : str
        The results folder; every worker writes its cells there itself.
    n_workers : int
        Number of processes. With 1 everything runs in this process: good for debugging, but a ranker that takes
        the process down takes the study with it, and Ctrl-C waits until compiled code returns.
    desk : Desk
        Where workers note what they are at.

    Yields
    ------
    Outcome
        One per cell. A cell whose worker dies is tried once more by itself, so that no innocent neighbour is
        blamed, and is lost when its worker dies again. When workers keep dying before they take a cell, all that
        is left is lost.
    """
    if n_workers == 1:
        for cell in cells:
            yield work(cell, *_arrays(data[cell.checksum]), results, desk.path)
        return
    waiting = {cell.key: cell for cell in cells}
    once_more: list[Cell] = []
    n_idle_deaths = 0
    while waiting:
        try:
            for outcome in _pool(list(waiting.values()), data, results, n_workers, desk):
                del waiting[outcome.cell.key]
                n_idle_deaths = 0
                yield outcome
        except BrokenProcessPool as error:
            suspects = [waiting.pop(key) for key, _ in desk.notes() if key in waiting]
            desk.clear()
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
    for cell in once_more:
        try:
            yield from _pool([cell], data, results, 2, desk)
        except BrokenProcessPool:
            desk.clear()
            yield _lost(cell, "the worker process died twice (killed, or out of memory?)")


def _lost(cell: Cell, reason: str) -> Outcome:
    return Outcome(cell, "lost", failures=[(None, reason)])


def _arrays(data: Dataset):
    return data.X, data.y


def _pool(
    cells: Sequence[Cell], data: Mapping[str, Dataset], results: str, n_workers: int, desk: Desk
) -> Iterator[Outcome]:
    tasks = (delayed(work)(cell, *_arrays(data[cell.checksum]), results, desk.path) for cell in cells)
    with parallel_config(
        backend="loky", inner_max_num_threads=1, initializer=begin_worker, initargs=(os.getpid(),)
    ):
        pool = Parallel(
            n_jobs=n_workers,
            return_as="generator_unordered",
            max_nbytes=_MAP_FROM,
            mmap_mode="r",
        )
        with _ctrl_c_kept_from_children():
            outcomes = pool(tasks)  # this starts the workers
        yield from outcomes


@contextmanager
def _ctrl_c_kept_from_children() -> Iterator[None]:
    """Let processes started in the block ignore Ctrl-C from their first moment.

    The terminal sends it to all of them, and each would print a traceback while it is still importing. A Ctrl-C
    that comes within the block reaches this process when the block ends.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if handler is None else handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def end_workers() -> None:
    """Kill the worker processes, for when the user has had enough."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=False, kill_workers=True)
