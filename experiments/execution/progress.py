"""What is shown while a study runs: a bar on a terminal, plain lines anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any, Protocol, TextIO

from experiments.evaluation.cell import Cell
from experiments.formatting import duration

#: Plain lines come at most this often, seconds: a study of many small cells must not fill a log.
_PLAIN_EVERY = 1.0


class Progress(Protocol):
    """What the runner says; see :class:`PlainProgress` for the plainest one that fits."""

    def start(self, cells: Sequence[Cell]) -> None:
        """Begin: these cells will run."""

    def done(self, cell: Cell, seconds: float) -> None:
        """Show that a cell ended, after so many seconds of its worker's time."""

    def note(self, text: str) -> None:
        """Show some text of one or more lines."""

    def stop(self) -> None:
        """End; called once per ``start``, also after errors."""


class PlainProgress:
    """One line per finished cell, no more than one a second, to a stream (default: standard error)."""

    def __init__(self, stream: TextIO | None = None):
        self._stream = stream
        self._total = self._n_done = 0
        self._begun, self._last = 0.0, -_PLAIN_EVERY

    def start(self, cells: Sequence[Cell]) -> None:
        """Begin."""
        self._total, self._n_done, self._begun = len(cells), 0, time.monotonic()

    def done(self, cell: Cell, seconds: float) -> None:
        """Print a line, unless the last one is too near."""
        self._n_done += 1
        now, n_left = time.monotonic(), self._total - self._n_done
        if now - self._last >= _PLAIN_EVERY or not n_left:
            self._last = now
            left = f"; about {duration((now - self._begun) / self._n_done * n_left)} left" if n_left else ""
            self.note(f"{self._n_done}/{self._total} {cell.label} ({seconds:.1f} s){left}")

    def note(self, text: str) -> None:
        """Print."""
        print(text, file=self._stream or sys.stderr, flush=True)

    def stop(self) -> None:
        """End."""


class BarProgress:
    """A bar with the time left, for terminals."""

    def __init__(self, stream: TextIO):
        from rich.console import Console

        self._console = Console(file=stream)
        self._bar: Any = None  # rich.progress.Progress
        self._task: Any = None

    def start(self, cells: Sequence[Cell]) -> None:
        """Show the bar."""
        from rich import progress

        self._bar = progress.Progress(
            progress.BarColumn(bar_width=24),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left:"),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.description}", markup=False),
            console=self._console,
            refresh_per_second=4,
            transient=True,
        )
        self._task = self._bar.add_task("", total=len(cells))
        self._bar.start()

    def done(self, cell: Cell, seconds: float) -> None:
        """Move the bar."""
        self._bar.update(self._task, advance=1, description=cell.label)

    def note(self, text: str) -> None:
        """Print above the bar."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def progress_for(stream: TextIO) -> Progress:
    """Return what suits a stream: a bar for a terminal, lines for anything else."""
    return BarProgress(stream) if stream.isatty() else PlainProgress(stream)
