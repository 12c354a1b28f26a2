"""Where cells run: processes of this machine, or (:mod:`experiments.execution.dask`) of a cluster."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Protocol

import joblib
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool

from experiments.errors import ConfigError, wrong_name
from experiments.processes import THREAD_VARIABLES, begin_worker
from experiments.schema import BACKENDS

#: An idle worker ends after so many seconds.
_IDLE_SECONDS = 300


class Executor(Protocol):
    """What of ``concurrent.futures.Executor`` is used, and what there is to know of its workers."""

    n_workers: int  # how many cells run at once
    n_workers_here: int  # how many of them share a machine
    n_at_once: int  # how many calls may be submitted and not done
    n_threads: int  # that a ranker may use
    is_local: bool  # whether they are processes of this machine
    is_here: bool  # whether the one worker is this very process, and ``submit`` is not to be used
    deaths: tuple[type[BaseException], ...]  # what a future raises when its worker died

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        """Hand out a call; a future that is cancelled by itself means that all workers are lost."""

    def abandon(self) -> None:
        """Stop at once, leaving cells unfinished."""

    def close(self) -> None:
        """End the workers that this executor has started."""


def executor_for(
    launcher: Mapping[str, Any], n_cells: int, tell: Callable[[str], None], here: bool = True
) -> Executor:
    """Return the executor of a block of ``conf/launcher``; ``here``: one worker is this very process."""
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


class LocalExecutor:
    """Processes of this machine, each a pool of its own, so that one that dies takes no other with it."""

    is_local = True
    deaths: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, launcher: Mapping[str, Any], n_cells: int, here: bool = True):
        n_cores, n_threads = joblib.cpu_count(), launcher.get("n_threads")
        n_workers = launcher.get("n_workers") or max(1, n_cores // (n_threads or 1))
        # No process without work, but never down to one, which may mean this one.
        self.n_workers = self.n_workers_here = self.n_at_once = min(n_workers, max(2, n_cells))
        self.n_threads = n_threads or max(1, n_cores // self.n_workers)
        self.is_here = here and self.n_workers == 1
        self._last: dict[ProcessPoolExecutor, Future] = {}

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        """Hand out a call to a worker that has nothing to do."""
        pool = next((pool for pool, future in self._last.items() if future.done()), None)
        if pool is None:
            pool = ProcessPoolExecutor(
                max_workers=1,
                timeout=_IDLE_SECONDS,
                initializer=begin_worker,
                initargs=(os.getpid(),),
                env=dict.fromkeys(THREAD_VARIABLES, str(self.n_threads)),
            )
        try:
            with _ctrl_c_kept_from_children():
                self._last[pool] = pool.submit(function, *arguments)
        except self.deaths:  # it died with its last call, or since
            del self._last[pool]
            pool.shutdown(wait=False, kill_workers=True)
            return self.submit(function, *arguments)
        return self._last[pool]

    def abandon(self) -> None:
        """Kill the workers."""
        self._end(kill_workers=True)

    def close(self) -> None:
        """End the workers."""
        self._end(kill_workers=False)

    def _end(self, kill_workers: bool) -> None:
        while self._last:
            self._last.popitem()[0].shutdown(wait=False, kill_workers=kill_workers)


@contextmanager
def _ctrl_c_kept_from_children() -> Iterator[None]:
    """Let processes started in the block ignore Ctrl-C from their first moment.

    The terminal sends it to all of them, and each would print a traceback while it still imports. A Ctrl-C
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
