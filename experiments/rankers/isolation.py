"""A second process that does what it is asked, one request after the other, and may die of it.

It is no worker of loky, joblib's pool of processes: a future of such a pool has one answer, and a fit sends
two (the clock of its limit starts with the first); and its workers stay in the process group of the terminal,
whose Ctrl-C then reaches the fit before the program has kept what is finished.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import psutil

from experiments.processes import THREAD_VARIABLES, begin_worker, end_tree
from experiments.rankers.fitting import FitEnded, Fitted, Here, Limits, described


class ChildProcess:
    """A process of a group of its own, started when it is needed.

    It runs the function with the dotted name ``serve``, which works on :func:`requests`. ``hash_seed`` is its
    ``PYTHONHASHSEED``; None: as in this process.
    """

    def __init__(self, serve: str, n_threads: int = 1, hash_seed: int | None = None):
        self._serve = serve
        self._n_threads = n_threads
        self._hash_seed = hash_seed
        self._process: subprocess.Popen | None = None
        self._answers: queue.Queue = queue.Queue()

    @property
    def process(self) -> int:
        """Number of the process; started if there is none, or it is no more."""
        return self._running().pid

    def ask(self, *request: Any) -> None:
        """Send a request to :attr:`process`; the answers come one by one from :meth:`answer`."""
        stdin = self._running().stdin
        assert stdin is not None  # a pipe
        try:
            pickle.dump(request, stdin, protocol=5)
            stdin.flush()
        except OSError:  # it died meanwhile: the answer will say so
            pass

    def answer(self, timeout: float | None) -> tuple:
        """Wait for the next answer: ``("died", words)`` if the process is gone; queue.Empty after a time."""
        return self._answers.get(timeout=timeout)

    def close(self) -> None:
        """End the process, and all that it has started."""
        if self._process is not None:
            end_tree(self._process.pid, its_group=True)
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                with suppress(OSError):  # a pipe with something left in it
                    if stream is not None:
                        stream.close()
            self._process = None

    def _running(self) -> subprocess.Popen:
        if self._process is None or self._process.poll() is not None:
            self._process = self._started()
        return self._process

    def _started(self) -> subprocess.Popen:
        self.close()
        environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(self._n_threads))
        # Rankers of the user's own may lie anywhere on this process' path.
        environment["PYTHONPATH"] = os.pathsep.join(each for each in sys.path if each)
        if self._hash_seed is not None:
            environment["PYTHONHASHSEED"] = str(self._hash_seed)
        module, _, function = self._serve.rpartition(".")
        process = subprocess.Popen(
            [sys.executable, "-c", f"from {module} import {function}; {function}()", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # a group of its own: ended as one, and deaf to the terminal's Ctrl-C
        )
        self._answers = queue.Queue()
        threading.Thread(target=_listen, args=(process, self._answers), name="answers", daemon=True).start()
        return process


def _listen(process: subprocess.Popen, answers: queue.Queue) -> None:
    assert process.stdout is not None  # a pipe
    while True:
        try:
            answers.put(pickle.load(process.stdout))
        except Exception:  # the end of the stream, or half an answer
            break
    code = process.wait()
    if code >= 0:
        answers.put(("died", f"ended itself with exit code {code}"))
        return
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    guess = " (by itself, from outside, or by the system for want of memory)" if name == "SIGKILL" else ""
    answers.put(("died", f"was ended by signal {name}{guess}"))


def requests() -> tuple[Iterator[tuple], Callable[[tuple], None]]:
    """Begin to serve, in the function that a :class:`ChildProcess` names: requests, and how to answer them."""
    begin_worker(int(sys.argv[1]))
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    # What prints or reads must not end up in the middle of the messages.
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def asked() -> Iterator[tuple]:
        while True:
            try:
                yield pickle.load(incoming)
            except EOFError:
                return

    def answer(message: tuple) -> None:
        with suppress(BrokenPipeError):
            outgoing.write(pickle.dumps(message, protocol=5))
            outgoing.flush()

    return asked(), answer


#: How often memory is looked at, seconds; a process can take about a gigabyte a second.
_LOOK_EVERY = 0.05
#: How often the processes that a fit has started are looked for, seconds; that reads the whole process table.
_COUNT_EVERY = 0.5
#: What making a ranker may take at least, seconds, however low the limit is: its packages are imported then, and
#: its constructor runs. Under a higher limit it may take as long as a fit.
MAKING_SECONDS = 60.0
_MAKING = "making the ranker"


class SubprocessFitter:
    """Fits in a second process, and ends it with all it has started when a fit goes past its limits.

    The limit of time is for the ranker's own ``fit`` alone. Making the ranker has a clock of its own, which runs to
    :data:`MAKING_SECONDS` or to that limit, whichever is longer; that of memory holds for both.
    """

    def __init__(self, limits: Limits, n_threads: int = 1, hash_seed: int | None = None):
        self.limits = limits
        self._child = ChildProcess("experiments.rankers.isolation.serve", n_threads, hash_seed)

    @property
    def process(self) -> int:
        """Number of the process that fits; another one after a fit that had to be ended."""
        return self._child.process

    def fit(self, ranking: Mapping[str, Any], X: Any, y: Any, seed: int, warming: bool = False) -> Fitted:
        """Do as :meth:`Here.fit`, within the limits and without a cache; FitEnded when there are no weights."""
        kind, *content = self._send(self.process, dict(ranking), X, y, seed)
        if kind == "fitted":
            return content[0]
        if kind == "raised":
            raise FitEnded(**content[0])
        self.close()
        raise FitEnded(f"ProcessDied: the process of the ranker {content[0]}")

    def close(self) -> None:
        """End the process, and all that it has started."""
        self._child.close()

    def _send(self, pid: int, *request: Any) -> tuple:
        self._child.ask(*request)
        memory = None if self.limits.memory_mib is None else _TreeMemory(pid)
        seconds = self.limits.seconds
        making = None if seconds is None else max(seconds, MAKING_SECONDS)
        try:
            answer = self._wait(making, memory, _MAKING)
            # The clock of the fit starts when the ranker's own `fit` does.
            return self._wait(seconds, memory, "the fit") if answer[0] == "begun" else answer
        except BaseException:  # a limit, or Ctrl-C
            self.close()
            raise

    def _wait(self, seconds: float | None, memory: _TreeMemory | None, what: str) -> tuple:
        limits, begun = self.limits, time.monotonic()
        while True:
            left = None if seconds is None else max(0.0, begun + seconds - time.monotonic())
            wait = left if memory is None else min(_LOOK_EVERY, _LOOK_EVERY if left is None else left)
            try:
                return self._child.answer(wait)
            except queue.Empty:
                pass
            if seconds is not None and time.monotonic() - begun >= seconds:
                raise FitEnded(
                    f"Timeout: {what} was stopped after {seconds:g} s (launcher.time_limit_seconds)",
                    "timeout",
                    made=what != _MAKING,
                )
            most = limits.memory_mib
            if memory is not None and most is not None and (used := memory.mib()) > most:
                raise FitEnded(
                    f"OutOfMemory: {what} was stopped at {used:.0f} MiB, the limit being "
                    f"{most:g} MiB (launcher.memory_limit_mib)",
                    "out_of_memory",
                )


class _TreeMemory:
    """Resident memory of a process and of those it has started."""

    def __init__(self, pid: int):
        self._pid = pid
        self._children: list[psutil.Process] = []
        self._counted = -_COUNT_EVERY

    def mib(self) -> float:
        total = 0.0
        try:
            process = psutil.Process(self._pid)
            if time.monotonic() - self._counted >= _COUNT_EVERY:
                self._children = process.children(recursive=True)
                self._counted = time.monotonic()
            total = process.memory_info().rss
        except psutil.Error:  # it has just ended
            return 0.0
        for child in self._children:
            try:
                # What a forked process shares with its parent counts there already.
                total += child.memory_full_info().uss
            except psutil.Error:
                continue
        return total / 2**20


def serve() -> None:
    """Be the second process: fit what comes in, until nothing does."""
    asked, answer = requests()
    here = Here()
    for ranking, X, y, seed in asked:
        try:
            # Importing its packages and making it come before "begun".
            found: tuple[str, Any] = (
                "fitted",
                here.fit(ranking, X, y, seed, begun=lambda: answer(("begun",))),
            )
        except (
            BaseException
        ) as error:  # nobody interrupts this process: what looks like Ctrl-C is the ranker's own
            found = ("raised", described(error))
        answer(found)
