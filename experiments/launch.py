"""Cells handed to workers, and what happens when one of them dies."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from experiments.cells import Cell
from experiments.crews import Crew
from experiments.datasets import Dataset
from experiments.desk import Desk
from experiments.errors import LauncherError
from experiments.measure import first_line
from experiments.work import Orders, Outcome, close_fitter, work, write_off

logger = logging.getLogger(__name__)

#: Deaths of workers in a row, none of them at a cell, after which it makes no sense to go on.
_DEATHS_AT_MOST = 3


def launch(
    cells: Sequence[Cell], data: Mapping[str, Dataset], crew: Crew, desk: Desk, orders: Orders
) -> Iterator[Outcome]:
    """Run cells and give their outcomes as they end.

    Parameters
    ----------
    cells : sequence of Cell
        Started in this order.
    data : mapping
        Checksum → data set.
    crew : Crew
        Who works. A crew of one works in this process: good for debugging, but without limits a ranker that takes
        the process down takes the study with it, and Ctrl-C waits until compiled code returns.
    desk : Desk
        Where workers note what they are at.
    orders : Orders
        What workers are told.

    Yields
    ------
    Outcome
        One per cell. A cell whose worker dies is tried once more by itself, its fits in a process of their own, so
        that a deadly ranker fails its folds and no innocent neighbour is blamed. When the worker dies again, all
        folds of that cell fail. When workers keep dying before they take a cell, all that is left is lost.

    Raises
    ------
    LauncherError
        When a cluster is gone.
    """
    if crew.n_workers == 1 and crew.is_local:
        try:
            for cell in cells:
                yield work(cell, data[cell.checksum].X, data[cell.checksum].y, orders)
        finally:
            close_fitter()
        return
    try:
        shelved = {cell.checksum: desk.shelve(data[cell.checksum]) for cell in cells}
    except OSError as error:
        raise LauncherError(
            f"the data cannot be put where workers find them, {desk.path}: {error.strerror or error}"
        ) from error
    waiting = {cell.key: cell for cell in cells}
    once_more: list[Cell] = []
    n_idle_deaths = 0
    while waiting:
        try:
            for outcome in crew.run(
                (cell, shelved[cell.checksum], orders) for cell in list(waiting.values())
            ):
                waiting.pop(outcome.cell.key, None)
                n_idle_deaths = 0
                yield outcome
        except crew.deaths as error:
            suspects = [waiting.pop(key) for key, _ in desk.notes() if key in waiting]
            desk.clear()
            once_more += suspects
            n_idle_deaths += not suspects
            if n_idle_deaths >= _DEATHS_AT_MOST:
                reason = f"worker processes keep dying: {first_line(str(error))}"
                yield from (_lost(cell, reason) for cell in waiting.values())
                break
            names = "; ".join(cell.label for cell in suspects) or "none"
            logger.error(
                "a worker process died (killed, or out of memory?); cells at work, to be tried once more: %s",
                names,
            )
    apart = replace(orders, apart=True)
    for cell in once_more:
        try:
            yield from crew.run([(cell, shelved[cell.checksum], apart)])
        except crew.deaths:
            desk.clear()
            reason = "the worker process died twice (killed, or out of memory?)"
            yield write_off(cell, data[cell.checksum].X, data[cell.checksum].y, orders, reason)


def _lost(cell: Cell, reason: str) -> Outcome:
    return Outcome(cell, "lost", failures=[(None, reason)])
