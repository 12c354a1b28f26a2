"""Worker processes of this machine, through joblib. Nothing is scheduled here."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import joblib
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import ProcessPoolExecutor, get_reusable_executor
from joblib.externals.loky.process_executor import BrokenProcessPool

from experiments.execution.backend import Batch
from experiments.execution.worker import Outcome, work_batch
from experiments.processes import THREAD_VARIABLES, begin_worker

#: An idle worker ends after so many seconds, as joblib's do.
_IDLE_SECONDS = 300


class LocalExecutor:
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
    deaths: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, launcher: Mapping[str, Any], n_cells: int, here: bool = True):
        n_cores, n_threads = joblib.cpu_count(), launcher.get("n_threads")
        n_workers = launcher.get("n_workers") or max(1, n_cores // (n_threads or 1))
        # No process without work, but never down to one, which may mean this one.
        self.n_workers = self.n_workers_here = min(n_workers, max(2, n_cells))
        self.n_threads = n_threads or max(1, n_cores // self.n_workers)
        self.is_here = here and self.n_workers == 1
        self._pool_of_one: ProcessPoolExecutor | None = None

    def run(self, batches: Iterable[Batch]) -> Iterator[list[Outcome]]:
        """Run batches of cells and give their outcomes as batches end."""
        if self.n_workers == 1:
            yield from self._run_in_turn(batches)
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
                outcomes = pool(delayed(work_batch)(*batch) for batch in batches)  # this starts the workers
            yield from outcomes

    def _run_in_turn(self, batches: Iterable[Batch]) -> Iterator[list[Outcome]]:
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
            for batch in batches:
                with _ctrl_c_kept_from_children():
                    outcomes = self._pool_of_one.submit(work_batch, *batch)
                yield outcomes.result()
        except self.deaths:
            self.abandon()  # it takes no more batches
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
