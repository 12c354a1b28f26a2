"""What a person sees while a study runs: a bar on a terminal, plain lines anywhere else."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import median_low
from typing import Any, Protocol, TextIO

from experiments.evaluation.cell import Cell
from experiments.formatting import count

#: Plain lines come at most this often, seconds: a study of many small cells must not fill a log.
_PLAIN_EVERY = 1.0


class Progress(Protocol):
    """What the runner tells; see :class:`PlainProgress` for the plainest one that fits."""

    def expect(self, seconds: Mapping[tuple[str, str], float]) -> None:
        """Take in what a cell of a data set's checksum and a ranker is estimated to take, before ``start``."""

    def start(self, cells: Sequence[Cell], n_workers: int, at_work: Callable[[], list[str]]) -> None:
        """Begin: these cells will run, and ``at_work()`` says in words which ones are running."""

    def done(self, cell: Cell, seconds: float) -> None:
        """Tell that a cell ended, after so many seconds of its worker's time."""

    def note(self, text: str) -> None:
        """Show some text of one or more lines."""

    def stop(self) -> None:
        """End; called once per ``start``, also after errors."""


class Forecast:
    """Time left, from what cells of the same ranker and data set have taken so far.

    Parameters
    ----------
    cells : sequence of Cell
        All that will run.
    n_workers : int
        Processes they are spread over.
    expected : mapping, optional
        (checksum of the data set, ranker) → seconds of a cell, estimated before the first one.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        n_workers: int,
        expected: Mapping[tuple[str, str], float] | None = None,
    ):
        self._expected = dict(expected or {})
        self._left: dict[tuple[str, str], int] = defaultdict(int)
        for cell in cells:
            self._left[cell.checksum, cell.ranker] += 1
        self._taken: dict[tuple[str, str], tuple[int, float]] = {}
        self._n_workers = max(n_workers, 1)

    def done(self, cell: Cell, seconds: float) -> None:
        """Take in that a cell ended.

        Parameters
        ----------
        cell : Cell
            Which.
        seconds : float
            What it took.
        """
        group = (cell.checksum, cell.ranker)
        self._left[group] -= 1
        n, total = self._taken.get(group, (0, 0.0))
        self._taken[group] = n + 1, total + seconds

    def seconds_left(self) -> float | None:
        """Estimate the wall-clock time left.

        Returns
        -------
        float or None
            Seconds; None before the first cell has ended. Rankers are taken for their mean on the same data set.
            Where they have not ended a cell, what was expected of them counts, times what others took of what was
            expected of these; where nothing was, their mean on other data sets. Those of which nothing is known are
            not in it (:meth:`n_unknown`): another ranker's seconds say nothing of them.
        """
        known = {group: self._mean(group) for group, left in self._left.items() if left}
        if not self._taken:
            return None
        total = sum(self._left[group] * mean for group, mean in known.items() if mean is not None)
        # The last cells keep fewer workers busy than there are.
        return total / max(1, min(self._n_workers, sum(self._left.values())))

    def n_unknown(self) -> int:
        """Return how many cells are left of rankers that have not ended one, and of which nothing was expected."""
        return sum(left for group, left in self._left.items() if left and self._mean(group) is None)

    def _mean(self, group: tuple[str, str]) -> float | None:
        if group in self._taken:
            n, total = self._taken[group]
            return total / n
        if group in self._expected:
            return self._expected[group] * self._pace(group[0])
        like = [total / n for (_, ranker), (n, total) in self._taken.items() if ranker == group[1]]
        return sum(like) / len(like) if like else None

    def _pace(self, checksum: str) -> float:
        """Return what cells took of what was expected of them: those of the data set, else all."""
        ratios = {
            group: total / n / self._expected[group]
            for group, (n, total) in self._taken.items()
            if self._expected.get(group)
        }
        here = [ratio for group, ratio in ratios.items() if group[0] == checksum]
        # The first cell of a worker may have compiled.
        return median_low(here or ratios.values()) if ratios else 1.0

    def words(self) -> str:
        """Say the time left, as far as it is known."""
        return in_words(self.seconds_left(), self.n_unknown())


def in_words(seconds: float | None, n_unknown: int = 0) -> str:
    """Say a duration the way people do.

    Parameters
    ----------
    seconds : float or None
        None means not known yet.
    n_unknown : int, default=0
        Cells that are not in it, since their rankers have not ended one.

    Returns
    -------
    str
    """
    if seconds is None:
        return "time left unknown"
    if seconds < 90:
        said = f"{seconds:.0f} s"
    else:
        said = f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
    if n_unknown and round(seconds) < 1:
        return f"time left unknown ({count(n_unknown, 'cell')} of rankers that have not finished one)"
    if n_unknown:
        return f"more than {said} left ({count(n_unknown, 'cell')} of rankers that have not finished one)"
    return f"about {said} left"


class PlainProgress:
    """One line per finished cell, no more than one a second; for logs and pipes.

    Parameters
    ----------
    stream : text file, optional
        Where to; standard error at the time of writing when not given.
    """

    def __init__(self, stream: TextIO | None = None):
        self._stream = stream
        self._total = self._n_done = 0
        self._last = -_PLAIN_EVERY
        self._expected: Mapping[tuple[str, str], float] = {}
        self._forecast = Forecast([], 1)

    def expect(self, seconds: Mapping[tuple[str, str], float]) -> None:
        """Take in what was estimated."""
        self._expected = seconds

    def start(self, cells: Sequence[Cell], n_workers: int, at_work: Callable[[], list[str]]) -> None:
        """Begin."""
        self._total, self._n_done = len(cells), 0
        self._forecast = Forecast(cells, n_workers, self._expected)

    def done(self, cell: Cell, seconds: float) -> None:
        """Print a line, unless the last one is too near."""
        self._n_done += 1
        self._forecast.done(cell, seconds)
        now = time.monotonic()
        if now - self._last >= _PLAIN_EVERY or self._n_done == self._total:
            self._last = now
            left = "" if self._n_done == self._total else f"; {self._forecast.words()}"
            self.note(f"{self._n_done}/{self._total} {cell.label} ({seconds:.1f} s){left}")

    def note(self, text: str) -> None:
        """Print."""
        print(text, file=self._stream or sys.stderr, flush=True)

    def stop(self) -> None:
        """End."""


class BarProgress:
    """A bar with the cells at work and the time left; for terminals.

    Parameters
    ----------
    stream : text file
        The terminal.
    """

    def __init__(self, stream: TextIO):
        from rich.console import Console

        self._console = Console(file=stream)
        self._bar: Any = None  # rich.progress.Progress
        self._task: Any = None
        self._expected: Mapping[tuple[str, str], float] = {}
        self._forecast = Forecast([], 1)

    def expect(self, seconds: Mapping[tuple[str, str], float]) -> None:
        """Take in what was estimated."""
        self._expected = seconds

    def start(self, cells: Sequence[Cell], n_workers: int, at_work: Callable[[], list[str]]) -> None:
        """Show the bar."""
        from rich import progress
        from rich.table import Column
        from rich.text import Text

        class AtWork(progress.ProgressColumn):
            max_refresh = 0.5

            def render(self, task):
                return Text("; ".join(at_work()), overflow="ellipsis", no_wrap=True)

        forecast = self._forecast = Forecast(cells, n_workers, self._expected)

        class Left(progress.ProgressColumn):
            max_refresh = 0.5

            def render(self, task):
                return Text("" if task.finished else forecast.words())

        self._bar = progress.Progress(
            progress.BarColumn(bar_width=24),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            Left(),
            AtWork(table_column=Column(ratio=1, no_wrap=True)),
            console=self._console,
            refresh_per_second=4,
            transient=True,
            expand=True,
        )
        self._task = self._bar.add_task("", total=len(cells))
        self._bar.start()

    def done(self, cell: Cell, seconds: float) -> None:
        """Move the bar."""
        self._forecast.done(cell, seconds)
        self._bar.advance(self._task)

    def note(self, text: str) -> None:
        """Print above the bar."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def progress_for(stream: TextIO) -> Progress:
    """Return what suits a stream: a bar for a terminal, lines for anything else.

    Parameters
    ----------
    stream : text file
        Usually standard error.

    Returns
    -------
    Progress
    """
    return BarProgress(stream) if stream.isatty() else PlainProgress(stream)
