"""A process that has imported what the project's programs need, and forks for each program that is asked for.

Started by :mod:`programs`, which speaks to it through a socket: a request is a text of JSON and three file
descriptors; an answer is the number of the new process, and later how it ended. Only packages of others are
imported here. The project's own modules are imported by each program, from where its PYTHONPATH says.
"""

import atexit
import builtins
import codecs
import contextlib
import gc
import importlib
import io
import json
import os
import random
import runpy
import select
import signal
import socket
import sys
import tempfile
import threading
import types
import warnings

IMPORTED = (
    "hydra",
    "joblib",
    "matplotlib.pyplot",
    "numba",
    "pandas",
    "pyarrow.parquet",
    "scipy.stats",
    "sklearn.ensemble",
    "sklearn.model_selection",
    "sklearn.multiclass",
    "sklearn.preprocessing",
)


def serve(channel):
    """Answer requests until nobody asks any more; in a process that is forked for one, return the request."""
    waker, bell = socket.socketpair()
    for end in (waker, bell):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(bell.fileno())
    while True:
        ready, _, _ = select.select([channel, waker], [], [])
        if waker in ready:
            with contextlib.suppress(BlockingIOError):
                waker.recv(4096)
        while True:
            try:
                number, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not number:
                break
            tell(channel, ended=number, code=os.waitstatus_to_exitcode(status))
        if channel not in ready:
            continue
        text, handles, _, _ = socket.recv_fds(channel, 4, 3)
        if not text:
            return None
        wanted = json.loads(channel.recv(int.from_bytes(text, "big"), socket.MSG_WAITALL))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # libraries have idle threads here, which newer Pythons warn of
            number = os.fork()
        if not number:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for each in (channel, waker, bell):
                each.close()
            for place, handle in enumerate(handles):
                os.dup2(handle, place)
            for handle in handles:
                os.close(handle)
            return wanted
        for handle in handles:
            os.close(handle)
        tell(channel, began=number)


def tell(channel, **answer):
    """Send one answer."""
    channel.sendall(json.dumps(answer).encode() + b"\n")


def become(wanted):
    """Run a program in this process, as ``python`` with these arguments would."""
    if wanted["session"]:
        os.setsid()
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    for place, name in ((1, "stdout"), (2, "stderr")):
        was = getattr(sys, name)
        stream = io.TextIOWrapper(
            open(place, "wb", buffering=0 if unbuffered else -1, closefd=False),
            encoding=codecs.lookup(encoding).name if encoding else was.encoding,
            errors=was.errors if place == 2 or not encoding else errors or "strict",
            line_buffering=place == 2 or os.isatty(place),
            write_through=unbuffered,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    tempfile.tempdir = None
    random.seed()
    sys.modules["numpy"].random.seed()
    first, *rest = wanted["argv"]
    own = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    sys.path[:0] = own
    importlib.invalidate_caches()
    if first == "-m":
        name, *rest = rest
        sys.argv = [name, *rest]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(name, run_name="__main__", alter_sys=True)
        return
    main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    if first == "-c":
        code, *rest = rest
        sys.argv = ["-c", *rest]
        sys.path.insert(0, "")
        exec(compile(code, "<string>", "exec"), main.__dict__)
        return
    main.__file__ = first
    sys.argv = [first, *rest]
    sys.path.insert(0, os.path.dirname(os.path.abspath(first)))
    with open(first, "rb") as file:
        code = compile(file.read(), first, "exec")
    exec(code, main.__dict__)


def exit_code(wanted):
    """Run a program; return its exit code, or the negative number of the signal that ends it."""
    try:
        become(wanted)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def leave(code):
    """End this process as Python ends, but for taking all modules apart, which takes a second of a processor."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            if stream is sys.stdout:
                print(f"Exception ignored in: {stream}: {error}", file=sys.stderr)
                code = 120
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    found = socket.socket(fileno=int(sys.argv[1]))
    del sys.path[0]
    for each in IMPORTED:
        importlib.import_module(each)
    gc.collect()
    gc.freeze()  # what is here is shared by all programs, and none of them looks through it
    asked = serve(found)
    if asked is not None:
        leave(exit_code(asked))
