"""Who runs cells: processes of this machine, or the workers of a dask cluster. ``conf/launcher/`` says which.

All of them are used through joblib. Nothing is scheduled here.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import joblib
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import ProcessPoolExecutor, get_reusable_executor
from joblib.externals.loky.process_executor import BrokenProcessPool

from experiments.errors import ConfigError, wrong_name
from experiments.evaluation.cell import Cell
from experiments.execution.worker import Orders, Outcome, work_batch
from experiments.processes import THREAD_VARIABLES, begin_worker

BACKENDS = ("loky", "dask", "slurm")

#: Cells of one data set, where the data are, and what workers are told.
Task = tuple[Sequence[Cell], str, Orders]

#: An idle worker ends after so many seconds, as joblib's do.
_IDLE_SECONDS = 300


class Crew(Protocol):
    """Workers, started once and used for all cells of a study.

    Attributes
    ----------
    n_workers : int
        How many cells run at once.
    n_workers_here : int
        How many of them share a machine.
    n_threads : int
        Threads a ranker may use.
    is_local : bool
        Whether they are processes of this machine.
    is_here : bool
        Whether the one worker is this very process, and :meth:`run` is not to be used.
    deaths : tuple of exception classes
        What :meth:`run` raises when a worker has died and its cell is not to be given to another one.
    """

    n_workers: int
    n_workers_here: int
    n_threads: int
    is_local: bool
    is_here: bool
    deaths: tuple[type[BaseException], ...]

    def run(self, tasks: Iterable[Task]) -> Iterator[list[Outcome]]:
        """Run batches of cells, in about this order, and give their outcomes as batches end."""

    def abandon(self) -> None:
        """Stop at once, leaving cells unfinished: the user has had enough."""

    def close(self) -> None:
        """End the workers that this crew has started."""


def crew_for(
    launcher: Mapping[str, Any], n_cells: int, tell: Callable[[str], None], here: bool = True
) -> Crew:
    """Return the crew that the configuration asks for.

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
    Crew

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
        return LocalCrew(launcher, n_cells, here)
    try:
        from experiments.execution import dask
    except ImportError as error:
        raise ConfigError(
            f"launcher={backend} needs {error.name or error}: pip install -e .[study,cluster]"
        ) from error
    return dask.crew_for(launcher, n_cells, tell)


class LocalCrew:
    """Processes of this machine, started by joblib (loky) when there is work.

    Parameters
    ----------
    launcher : mapping
        ``n_workers`` and ``n_threads``; left open, they share the cores between them.
    n_cells : int
        How many cells there are.
    here : bool, default=True
        Whether a single worker is this process.
    """

    is_local = True
    deaths = (BrokenProcessPool,)

    def __init__(self, launcher: Mapping[str, Any], n_cells: int, here: bool = True):
        n_cores, n_threads = joblib.cpu_count(), launcher.get("n_threads")
        n_workers = launcher.get("n_workers") or max(1, n_cores // (n_threads or 1))
        # No process without work, but never down to one, which may mean this one.
        self.n_workers = self.n_workers_here = min(n_workers, max(2, n_cells))
        self.n_threads = n_threads or max(1, n_cores // self.n_workers)
        self.is_here = here and self.n_workers == 1
        self._pool_of_one: ProcessPoolExecutor | None = None

    def run(self, tasks: Iterable[Task]) -> Iterator[list[Outcome]]:
        """Run batches of cells and give their outcomes as batches end."""
        if self.n_workers == 1:
            yield from self._run_in_turn(tasks)
            return
        with parallel_config(
            backend="loky",
            inner_max_num_threads=self.n_threads,
            initializer=begin_worker,
            initargs=(os.getpid(),),
        ):
            pool = Parallel(
                n_jobs=self.n_workers,
                batch_size=1,  # they are batches already
                return_as="generator_unordered",
            )
            with _ctrl_c_kept_from_children():
                outcomes = pool(delayed(work_batch)(*task) for task in tasks)  # this starts the workers
            yield from outcomes

    def _run_in_turn(self, tasks: Iterable[Task]) -> Iterator[list[Outcome]]:
        """Do so with one process, which ``Parallel(n_jobs=1)`` would not start.

        It is not in loky's reusable pool: joblib would take that one for its own and fail.
        """
        if self._pool_of_one is None:
            self._pool_of_one = ProcessPoolExecutor(
                max_workers=1,
                timeout=_IDLE_SECONDS,
                initializer=begin_worker,
                initargs=(os.getpid(),),
                env=dict.fromkeys(THREAD_VARIABLES, str(self.n_threads)),
            )
        try:
            for task in tasks:
                with _ctrl_c_kept_from_children():
                    outcomes = self._pool_of_one.submit(work_batch, *task)
                yield outcomes.result()
        except self.deaths:
            self.abandon()  # it takes no more tasks
            raise

    def abandon(self) -> None:
        """Kill the worker processes."""
        if self._pool_of_one is not None:
            self._pool_of_one.shutdown(wait=False, kill_workers=True)
            self._pool_of_one = None
        elif self.n_workers > 1:
            get_reusable_executor(reuse=True).shutdown(wait=False, kill_workers=True)

    def close(self) -> None:
        """End a worker that works alone; several are left to joblib, which ends them when long idle."""
        if self._pool_of_one is not None:
            self._pool_of_one.shutdown()
            self._pool_of_one = None


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
