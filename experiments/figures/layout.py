"""The sheet that figures are drawn on: a title above the axes, small print below, nothing on top of anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from experiments.figures import style

#: Points of text, and heights of its lines in inches: of titles, small print, ticks and legends.
_TITLE, NOTE, TICK, _LEGEND = 8, 6, 7, 7
_TITLE_ROW, _NOTE_ROW, _LEGEND_ROW = 0.14, 0.105, 0.125
_MARGIN = 0.06
#: Names beside axes get at most so much, inches.
LONGEST = 2.2
_TO_PATH = TextToPath()


@lru_cache(maxsize=4096)
def text_width(text: str, size: float) -> float:
    """Measure a line of text in the figures' font."""
    font = FontProperties(family=style.FONT, size=size)
    with style.without_glyph_warnings():
        width, _, _ = _TO_PATH.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


def wrapped(text: str, width: float, size: float = NOTE) -> list[str]:
    """Break text into lines that fit."""
    lines = []
    for paragraph in text.splitlines():
        line = ""
        for word, space in _pieces(paragraph):
            while text_width(word, size) > width:
                fits = next(
                    n for n in range(len(word), 0, -1) if n == 1 or text_width(word[:n], size) <= width
                )
                lines += [line, word[:fits]] if line else [word[:fits]]
                line, word = "", word[fits:]
            longer = f"{line}{space}{word}" if line else word
            if text_width(longer, size) <= width:
                line = longer
            else:
                lines.append(line)
                line = word
        if line:
            lines.append(line)
    return lines


def shortened(text: str, width: float = LONGEST, size: float = TICK) -> str:
    """Cut a name down to a width: its beginning and its end, with an ellipsis between them."""
    if text_width(text, size) <= width:
        return text
    kept = len(text) - 1
    while kept > 2 and text_width(_cut(text, kept), size) > width:
        kept -= 1
    return _cut(text, kept)


def _cut(text: str, kept: int) -> str:
    tail = kept // 3
    return f"{text[: kept - tail]}…{text[len(text) - tail :]}"


def _pieces(paragraph: str) -> Iterator[tuple[str, str]]:
    """Give what may stand alone on a line, each with what separates it from the piece before."""
    for word in paragraph.split():
        parts = re.findall(r"[^-]*-+|[^-]+", word)
        yield parts[0], " "
        yield from ((part, "") for part in parts[1:])


@dataclass(frozen=True)
class Legend:
    """Entries below the axes."""

    handles: Sequence = ()
    labels: Sequence[str] = ()

    def columns(self, width: float) -> int:
        """Say in how many columns the entries fit."""
        longest = max((text_width(label, _LEGEND) for label in self.fitting(width)), default=1)
        return max(1, min(len(self.labels) or 1, int((width - 2 * _MARGIN) / (longest + 0.5))))

    def fitting(self, width: float) -> list[str]:
        """Shorten labels that are longer than a line."""
        return [shortened(label, width - 2 * _MARGIN - 0.5, _LEGEND) for label in self.labels]

    def height(self, width: float) -> float:
        """Return the height that the entries take, inches."""
        if not self.labels:
            return 0.0
        return -(-len(self.labels) // self.columns(width)) * _LEGEND_ROW + 0.08


@dataclass
class Sheet:
    """A figure with axes at places given in inches."""

    width: float
    height: float
    title: str
    note: str = ""
    legend: Legend = field(default_factory=Legend)

    def __post_init__(self):
        titles = wrapped(self.title, self.width - 2 * _MARGIN, _TITLE)
        notes = wrapped(self.note, self.width - 2 * _MARGIN)
        self._below = self.legend.height(self.width) + len(notes) * _NOTE_ROW + 2 * _MARGIN
        above = len(titles) * _TITLE_ROW + 2 * _MARGIN
        self._total = self._below + self.height + above
        self.figure = Figure(figsize=(self.width, self._total))
        self.figure.text(
            0.5,
            1 - _MARGIN / self._total,
            "\n".join(titles),
            ha="center",
            va="top",
            fontsize=_TITLE,
            linespacing=1.2,
            gid="title",
        )
        if notes:
            self.figure.text(
                _MARGIN / self.width,
                _MARGIN / self._total,
                "\n".join(notes),
                fontsize=NOTE,
                color="0.3",
                va="bottom",
                linespacing=1.2,
                gid="note",
            )
        if self.legend.labels:
            top = self._below - _MARGIN / 2
            style.legend(
                self.figure,
                self.legend.handles,
                self.legend.fitting(self.width),
                loc="upper center",
                bbox_to_anchor=(0.5, top / self._total),
                ncols=self.legend.columns(self.width),
                borderaxespad=0,
                borderpad=0,
                handlelength=2.4,
                columnspacing=1.2,
                labelspacing=0.25,
            )

    def axes(self, left: float, bottom: float, width: float, height: float, **settings: Any) -> Axes:
        """Add axes."""
        place = (
            left / self.width,
            (self._below + bottom) / self._total,
            width / self.width,
            height / self._total,
        )
        return self.figure.add_axes(place, **settings)


def room_for(labels: Iterable[str], *, least: float = 0.4) -> float:
    """Return the width that tick labels take beside an axis, inches."""
    return max(least, max((text_width(shortened(label), TICK) for label in labels), default=0) + 0.12)


def empty(title: str, why: str, note: str = "") -> Figure:
    """Make a figure that says why there is nothing to see."""
    lines = wrapped(why, style.COLUMN_WIDTH - 0.3, _TITLE)
    height = max(0.7, _TITLE_ROW * len(lines) + 0.2)
    with style.applied():
        sheet = Sheet(style.COLUMN_WIDTH, height, title, note)
        axes = sheet.axes(0.1, 0.05, style.COLUMN_WIDTH - 0.2, height - 0.1)
        axes.set_axis_off()
        axes.text(
            0.5, 0.5, "\n".join(lines), ha="center", va="center", transform=axes.transAxes, gid="nothing"
        )
    return sheet.figure
