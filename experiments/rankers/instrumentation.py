"""What goes on around a fit: memory, threads, compilation, the warnings it gives, and what it prints."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

from threadpoolctl import ThreadpoolController

from experiments.formatting import first_line


class PeakMemory:
    """Resident high-water mark of this process while the block runs.

    ``mib`` after the block; None where the system cannot reset the mark (other than Linux, some containers).
    """

    def __init__(self):
        self.mib: float | None = None
        self._reset = False

    def __enter__(self):
        try:
            with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
                file.write("5")
            self._reset = True
        except OSError:
            self._reset = False
        return self

    def __exit__(self, *exception):
        if not self._reset:
            return
        try:
            with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
                kib = next((line.split()[1] for line in lines if line.startswith("VmHWM:")), None)
        except OSError:
            return
        self.mib = None if kib is None else int(kib) / 1024


class Compilation:
    """Whether numba compiles functions, or loads compiled ones from disk, while the block runs.

    ``happened`` after the block; true too when numba was imported in it.
    """

    def __init__(self):
        self.happened = False
        self._watch: Any = None

    def __enter__(self):
        if "numba" in sys.modules:
            from reliefe._compiled import compilations

            self._watch = compilations()
            self._begun = self._watch.__enter__()
        return self

    def __exit__(self, *exception):
        if self._watch is None:
            self.happened = "numba" in sys.modules
            return
        self._watch.__exit__(*exception)
        self.happened = self._begun.happened


class Noise:
    """Warnings and logged warnings, counted by kind and first line instead of shown.

    ``counts``: (warning's category or logger's name, first line) → how often.
    """

    def __init__(self):
        self.counts: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def caught(self) -> Iterator[list[warnings.WarningMessage]]:
        """Catch what the block warns of."""
        root = logging.getLogger()
        counting = _Counting(self.counts)
        others = list(root.handlers)
        for handler in others:
            handler.addFilter(_below_warning)
        root.addHandler(counting)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                yield caught
        finally:
            root.removeHandler(counting)
            for handler in others:
                handler.removeFilter(_below_warning)
            for warning in caught:
                self.counts[warning.category.__name__, first_line(str(warning.message))] += 1


class _Counting(logging.Handler):
    def __init__(self, counts: Counter):
        super().__init__(logging.WARNING)
        self.counts = counts

    def emit(self, record):
        self.counts[record.name, first_line(record.getMessage())] += 1


def _below_warning(record: logging.LogRecord) -> bool:
    return record.levelno < logging.WARNING


class _Threads:
    """The native thread pools of this process; looked for again once more modules were imported."""

    controller: ThreadpoolController | None = None
    n_modules = -1

    @classmethod
    def current(cls) -> ThreadpoolController:
        if cls.controller is None or cls.n_modules != len(sys.modules):
            # Looking takes milliseconds, and only an import can bring another library.
            cls.controller, cls.n_modules = ThreadpoolController(), len(sys.modules)
        return cls.controller


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS and OpenMP to one thread while the block runs.

    Sums of several threads depend on their number, so rows would differ between machines, and one fit would take
    the cores of the other workers.
    """
    with _Threads.current().limit(limits=1):
        yield


@contextmanager
def printed() -> Iterator[list[str]]:
    """Catch what the block prints, by compiled code too; what goes through logging is no print."""
    found: list[str] = []
    saved: list[tuple[int, int]] = []
    silent = logging.NullHandler()
    logging.getLogger().addHandler(silent)  # else Python prints messages that nobody handles
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with tempfile.TemporaryFile() as file:
        try:
            for number in (1, 2):
                saved.append((os.dup(number), number))
                os.dup2(file.fileno(), number)
            with open(os.dup(file.fileno()), "w", encoding="utf-8") as text:
                with redirect_stdout(text), redirect_stderr(text):
                    yield found
        finally:
            for copy, number in saved:
                os.dup2(copy, number)
                os.close(copy)
            logging.getLogger().removeHandler(silent)
        file.seek(0)
        found.append(file.read().decode("utf-8", "replace"))
