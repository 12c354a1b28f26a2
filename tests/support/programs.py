"""Programs of the project in processes of their own, without importing numpy and the like for each of them.

:func:`run` and :func:`start` are used like ``subprocess.run`` and ``subprocess.Popen``. Where the system can fork,
the process comes from one that has imported the packages of others already (:mod:`program_server`), which saves
two seconds of a processor each time. Elsewhere, and for a Python with options or a locale of its own, it is started
as usual.
"""

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time

from folders import TESTS

from experiments.processes import THREAD_VARIABLES

#: Variables that Python or a library reads when it starts or is imported: a program that is to have others than the
#: tests themselves is started as usual.
_READ_AT_START = (
    "APPDATA",
    "BLIS",
    "HOME",
    "JAX",
    "LANG",
    "LC_",
    "LD_",
    "LOCALAPPDATA",
    "MALLOC",
    "MKL",
    "MPL",
    "NUMBA",
    "NUMEXPR",
    "OMP",
    "OPENBLAS",
    "PYTHON",
    "TZ",
    "VECLIB",
    "XDG",
)
#: These can be given to a process that runs already.
_FREE = ("PYTHONPATH", "PYTHONIOENCODING", "PYTHONDONTWRITEBYTECODE")
_servers = {}
#: How many there may be; each takes some 250 MiB and four seconds.
_MOST_SERVERS = 4


class _Server:
    def __init__(self, environment):
        self._channel, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, str(TESTS / "support" / "program_server.py"), str(theirs.fileno())],
                env=environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._asking, self._told = threading.Lock(), threading.Condition()
        self._begun, self._codes, self._gone = [], {}, False
        threading.Thread(target=self._listen, name="programs", daemon=True).start()

    def begin(self, wanted, handles):
        """Return the number of a new process."""
        text = json.dumps(wanted).encode()
        with self._asking:
            socket.send_fds(self._channel, [len(text).to_bytes(4, "big")], handles)
            self._channel.sendall(text)
            with self._told:
                self._told.wait_for(lambda: self._begun or self._gone)
                if not self._begun:
                    raise RuntimeError("the process that forks programs for the tests has ended")
                return self._begun.pop()

    def code_of(self, number, seconds):
        """Return how a process ended, or None if it runs on after so many seconds; None waits for its end."""
        with self._told:
            self._told.wait_for(lambda: number in self._codes or self._gone, seconds)
            # Without the server nobody knows how it ended.
            return self._codes.get(number, -signal.SIGKILL if self._gone else None)

    def _listen(self):
        with self._channel.makefile("r", encoding="utf-8") as lines:
            for line in lines:
                answer = json.loads(line)
                with self._told:
                    if "began" in answer:
                        self._begun.append(answer["began"])
                        self._codes.pop(answer["began"], None)  # of an older process of this number
                    else:
                        self._codes[answer["ended"]] = answer["code"]
                    self._told.notify_all()
        with self._told:
            self._gone = True
            self._told.notify_all()


def _read_at_start(environment):
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_READ_AT_START) and name not in _FREE
    }


def _server(environment):
    """Return the server of this process for what Python and libraries read from an environment."""
    fixed = _read_at_start(environment)
    key = _key(fixed)
    if key not in _servers:
        own = {name: value for name, value in os.environ.items() if not name.startswith(_READ_AT_START)}
        _servers[key] = _Server(own | fixed)
    return _servers[key]


def _key(fixed):
    return (os.getpid(), *sorted(fixed.items()))


def _can_be_forked(command, environment, free=()):
    executable, first, *_ = command
    plain = first in ("-c", "-m") or not first.startswith("-")
    possible = hasattr(os, "fork") and hasattr(socket, "send_fds")
    fixed = _read_at_start(environment)
    # Libraries set variables when they are imported, so what the tests have themselves changes with time.
    asked, own = (
        {name: value for name, value in each.items() if name not in free}
        for each in (fixed, _read_at_start(os.environ))
    )
    served = _key(fixed) in _servers or len(_servers) < _MOST_SERVERS
    return possible and plain and executable == sys.executable and asked == own and served


def start_fitter(command, **options):
    """Start a process that fits, in place of the ``subprocess.Popen`` of ``experiments.rankers.isolation``.

    It ends when its parent is no more: that is the server, which ends with the tests.
    """
    environment = options["env"]
    if not _can_be_forked(command, environment, free=THREAD_VARIABLES):
        return subprocess.Popen(command, **options)
    *command, owner = command
    assert owner == str(os.getpid())
    return Program([*command, str(_server(environment).process.pid)], **options)


def start(command, **options):
    """Start a program; options as those of ``subprocess.Popen``."""
    command = [str(each) for each in command]
    environment = options.get("env") or os.environ
    return (Program if _can_be_forked(command, environment) else subprocess.Popen)(command, **options)


def run(command, *, capture_output=False, timeout=None, **options):
    """Run a program until it ends; options and result as those of ``subprocess.run``."""
    if capture_output:
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start(command, **options) as program:
        try:
            output, errors = program.communicate(timeout=timeout)
        except BaseException:
            program.kill()
            raise
    return subprocess.CompletedProcess(program.args, program.returncode, output, errors)


class Program:
    """A forked program, with what tests use of ``subprocess.Popen``."""

    def __init__(
        self,
        command,
        *,
        cwd=None,
        env=None,
        stdin=None,
        stdout=None,
        stderr=None,
        text=False,
        encoding=None,
        start_new_session=False,
    ):
        self.args, self.returncode, self.stdin = command, None, None
        self._encoding = encoding or ("utf-8" if text else None)
        with contextlib.ExitStack() as given:
            self._pipes, handles = {}, [self._handle(given, 0, stdin)]
            handles.append(self._handle(given, 1, stdout))
            handles.append(handles[1] if stderr == subprocess.STDOUT else self._handle(given, 2, stderr))
            environment = dict(os.environ if env is None else env)
            self._server = _server(environment)
            wanted = {"argv": command[1:], "cwd": os.path.abspath(cwd or "."), "env": environment}
            self.pid = self._server.begin({**wanted, "session": start_new_session}, handles)
        self.stdout, self.stderr = self._pipes.get(1), self._pipes.get(2)

    def _handle(self, given, place, what):
        """Return the descriptor that is to be the program's standard input, output or errors."""
        if what == subprocess.PIPE:
            reader, writer = os.pipe()
            if place == 0:
                self.stdin = open(writer, "wb")
                given.callback(os.close, reader)
                return reader
            mode = {"mode": "r", "encoding": self._encoding} if self._encoding else {"mode": "rb"}
            self._pipes[place] = open(reader, **mode)
            given.callback(os.close, writer)
            return writer
        if what == subprocess.DEVNULL:
            what = os.open(os.devnull, os.O_RDWR)
            given.callback(os.close, what)
        if what is None:
            return place
        return what if isinstance(what, int) else what.fileno()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.wait()
        for pipe in (self.stdin, *self._pipes.values()):
            if pipe is not None:
                pipe.close()

    def poll(self):
        """Return the exit code, or None as long as the program runs."""
        return self._ended_within(0.0)

    def wait(self, timeout=None):
        """Wait for the end, at most so many seconds; return the exit code."""
        if self._ended_within(timeout) is None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def _ended_within(self, seconds):
        if self.returncode is None:
            self.returncode = self._server.code_of(self.pid, seconds)
        return self.returncode

    def communicate(self, timeout=None):
        """Read what the program prints until it ends; return its output and its errors."""
        end = None if timeout is None else time.monotonic() + timeout
        said = {place: [] for place in self._pipes}
        with selectors.DefaultSelector() as waiting:
            for place, pipe in self._pipes.items():
                waiting.register(pipe.fileno(), selectors.EVENT_READ, place)
            while waiting.get_map():
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    raise subprocess.TimeoutExpired(self.args, timeout)
                for key, _ in waiting.select(left):
                    piece = os.read(key.fd, 65536)
                    said[key.data].append(piece)
                    if not piece:
                        waiting.unregister(key.fd)
        self.wait(None if end is None else max(0.0, end - time.monotonic()))
        found = {place: b"".join(pieces) for place, pieces in said.items()}
        if self._encoding:
            # As a file in text mode gives it.
            found = {
                place: each.decode(self._encoding).replace("\r\n", "\n") for place, each in found.items()
            }
        return found.get(1), found.get(2)

    def send_signal(self, number):
        """Send a signal, unless the program has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        """End the program at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        """Ask the program to end."""
        self.send_signal(signal.SIGTERM)
