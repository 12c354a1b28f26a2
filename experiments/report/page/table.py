"""Tables of the page, as the templates take them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from experiments.tasks import Task


@dataclass(frozen=True)
class Cell:
    """One cell."""

    text: str
    sort: float | str | None = None
    href: str = ""
    kind: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Line:
    """One line; the page's filters go by ``dataset`` and ``ranker`` where they are given."""

    cells: Sequence[Cell]
    dataset: str | None = None
    ranker: str | None = None


@dataclass(frozen=True)
class Column:
    """A heading; ``tip`` explains it, numbers stand to the right, ``dataset`` makes it go with the data set."""

    title: str
    number: bool = False
    tip: str = ""
    dataset: str | None = None


@dataclass(frozen=True)
class Table:
    """A table that can be sorted."""

    name: str
    caption: str
    columns: Sequence[Column]
    lines: Sequence[Line] = field(default_factory=list)
    sorted_by: int | None = None
    descending: bool = False
    empty: str = "Nothing to show."

    def of_task(self, task: Task) -> Table:
        """Name the score of a kind of target in caption and headings, which speak of F1."""
        columns = [
            column
            if column.dataset is not None
            else replace(column, title=task.said(column.title), tip=task.said(column.tip))
            for column in self.columns
        ]
        return replace(self, caption=task.said(self.caption), columns=columns)


def text(said: Any, *, href: str = "", kind: str = "", tip: str = "") -> Cell:
    """Make a cell of text."""
    said = str(said)
    return Cell(said, said.casefold() or None, href, kind, tip)


def number(value: float, said: str, *, kind: str = "", tip: str = "", href: str = "") -> Cell:
    """Make a cell of a number; one that is not there is a dash and comes last."""
    if value is None or not math.isfinite(value):
        return Cell("–", None, kind="number faint", tip=tip)
    return Cell(said, float(value), href, f"number {kind}".strip(), tip)


def by(lines: Iterable[Line], column: int, *, descending: bool = False) -> list[Line]:
    """Sort lines; empty cells come last whatever the direction."""

    def key(line: Line) -> Any:  # a column holds texts or numbers, not both
        return line.cells[column].sort

    lines = list(lines)
    there = [line for line in lines if line.cells[column].sort is not None]
    return sorted(there, key=key, reverse=descending) + [
        line for line in lines if line.cells[column].sort is None
    ]
