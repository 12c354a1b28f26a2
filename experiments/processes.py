"""Beginning and end of the processes of a study; imports little, so that they begin soon."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psutil

from experiments.printing import prepare_output

#: What tells libraries how many threads to start with.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
#: How often a worker looks whether its runner is still there, seconds.
_WATCH_EVERY = 0.5


def begin_worker(owner: int, n_threads: int | None = None) -> None:
    """Make a new worker process end soon after a runner that was killed.

    Otherwise it would go on with its cell, for hours perhaps and for no one. Nothing is lost: a cell's file is
    written whole or not at all.
    """
    prepare_output()  # or a ranker that prints would fail for want of one
    if n_threads is not None:
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(n_threads)))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the runner, which ends its workers
    if os.name != "posix":  # elsewhere a process keeps the number of a parent that is no more
        return

    def watch():
        while os.getppid() == owner:
            time.sleep(_WATCH_EVERY)
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
        os._exit(1)

    threading.Thread(target=watch, name="end with the runner", daemon=True).start()


@contextmanager
def ctrl_c_watched() -> Iterator[Callable[[], bool]]:
    """Yield ``pressed()``: whether the user pressed Ctrl-C (a ranker may raise ``KeyboardInterrupt`` too)."""
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield pressed.is_set
        return

    def note(number, frame):
        pressed.set()
        before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        if signal.getsignal(signal.SIGINT) is note:  # a ranker may have put its own there
            signal.signal(signal.SIGINT, before)


def end_tree(pid: int, *, its_group: bool = False) -> None:
    """Kill a process and its descendants; with ``its_group``, its process group, which has the orphans too."""
    family: list[psutil.Process] = []
    with suppress(psutil.NoSuchProcess):
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    if its_group and os.name == "posix":
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
    for each in family:
        with suppress(psutil.NoSuchProcess):
            each.kill()
