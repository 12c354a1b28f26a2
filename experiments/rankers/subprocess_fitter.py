"""A second process that does what it is asked, one request after the other, and may die of it."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from experiments.processes import THREAD_VARIABLES, begin_worker, end_tree


class Servant:
    """A process of a group of its own, started when it is needed.

    Parameters
    ----------
    serve : str
        Dotted name of a function without parameters that the process runs; it works on :func:`requests`.
    n_threads : int, default=1
        What numerical libraries in that process may start with.
    """

    def __init__(self, serve: str, n_threads: int = 1):
        self._serve = serve
        self._n_threads = n_threads
        self._process: subprocess.Popen | None = None
        self._answers: queue.Queue = queue.Queue()

    @property
    def process(self) -> int:
        """Number of the process; started if there is none, or it is no more."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        return self._process.pid

    def ask(self, *request: Any) -> None:
        """Send a request to :attr:`process`; the answers come one by one from :meth:`answer`."""
        self.process  # noqa: B018 - starts it
        try:
            pickle.dump(request, self._process.stdin, protocol=5)
            self._process.stdin.flush()
        except OSError:  # it died meanwhile: the answer will say so
            pass

    def answer(self, timeout: float | None) -> tuple:
        """Wait for the next answer.

        Parameters
        ----------
        timeout : float or None
            Seconds.

        Returns
        -------
        tuple
            What was sent; ``("died", words)`` when the process is no more.

        Raises
        ------
        queue.Empty
            When nothing came in that time.
        """
        return self._answers.get(timeout=timeout)

    def close(self) -> None:
        """End the process, and all that it has started."""
        if self._process is not None:
            end_tree(self._process.pid, its_group=True)
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                with suppress(OSError):  # a pipe with something left in it
                    stream.close()
            self._process = None

    def _start(self) -> None:
        self.close()
        environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(self._n_threads))
        # Rankers of the user's own may lie anywhere on this process' path.
        environment["PYTHONPATH"] = os.pathsep.join(each for each in sys.path if each)
        module, _, function = self._serve.rpartition(".")
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {module} import {function}; {function}()", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # a group of its own: ended as one, and deaf to the terminal's Ctrl-C
        )
        self._answers = queue.Queue()
        threading.Thread(
            target=_listen, args=(self._process, self._answers), name="answers", daemon=True
        ).start()


def _listen(process: subprocess.Popen, answers: queue.Queue) -> None:
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
    """Begin to serve: to be called by the function that a :class:`Servant` names.

    Returns
    -------
    requests : iterator of tuple
        Ends when there is nobody any more to ask.
    answer : callable
        Sends a tuple back; does nothing when nobody waits any more.
    """
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
