"""What runs cells, wherever its workers are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from experiments.evaluation.cell import Cell
from experiments.execution.worker import Outcome, WorkOptions

#: Cells of one data set, where the data are, and what workers are told.
Batch = tuple[Sequence[Cell], str, WorkOptions]


class Executor(Protocol):
    """Workers, started once and used for all cells of a study.

    Attributes
    ----------
    n_workers : int
        How many cells run at once.
    n_workers_here : int
        How many of them share a machine.
    n_threads : int
        Threads a ranker may use.
    is_local : bool
        Whether they are processes of this machine.
    is_here : bool
        Whether the one worker is this very process, and :meth:`run` is not to be used.
    deaths : tuple of exception classes
        What :meth:`run` raises when a worker has died and its cell is not to be given to another one.
    """

    n_workers: int
    n_workers_here: int
    n_threads: int
    is_local: bool
    is_here: bool
    deaths: tuple[type[BaseException], ...]

    def run(self, batches: Iterable[Batch]) -> Iterator[list[Outcome]]:
        """Run batches of cells, in about this order, and give their outcomes as batches end."""

    def abandon(self) -> None:
        """Stop at once, leaving cells unfinished: the user has had enough."""

    def close(self) -> None:
        """End the workers that this executor has started."""
