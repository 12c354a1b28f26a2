"""Figure: average ranks on an axis, rankers that are not different joined by a bar, the critical distance above.

scikit-posthocs (0.17) draws such diagrams too, into axes whose size and margins the caller has to find: with 50
rankers in 4 inches of height its names run into each other, and long names run off the figure. It shows ranks to
two digits (13.2 as 13), and has no place for the data sets. Here the figure grows with the names and the bars.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from experiments.figures import style
from experiments.formatting import rank_shown

#: Heights and widths in inches.
_ROW = 0.145
_LINE = 0.115
_BAR = 0.07
_ABOVE = 0.44
_TITLE = 0.2
_NOTE_ROW = 0.105
_EDGE = 0.06
_GAP = 0.05
#: The axis gets at least this share of the width; labels that leave less are broken.
_AXIS_SHARE = 0.3
_TICK = 0.04
_MOST_TICKS = 11


def draw(axes: Axes, comparison: Any, *, labels: Mapping[str, str] | None = None) -> None:
    """Draw a diagram into axes that :func:`figure` has made, or into any others."""
    labels = labels or {}
    ranks = comparison.average_ranks
    n = len(ranks)
    levels = _levels(comparison)
    axes.set_axis_off()
    axes.set_xlim(1, n)
    axes.plot([1, n], [0, 0], color="black", linewidth=0.8, clip_on=False, gid="axis")
    for tick in _ticks(n):
        axes.plot([tick, tick], [0, -_TICK], color="black", linewidth=0.8, clip_on=False, gid="tick")
        axes.text(tick, -_TICK - 0.02, f"{tick}", ha="center", va="bottom", fontsize=7, gid="tick")
    _draw_distance(axes, comparison, n)
    first_row = _BAR * (1 + max(levels.values(), default=-1)) + 0.13
    shown = {name: labels.get(name, name) for name in ranks.index}
    for side, names in enumerate(_sides(ranks.index)):
        y = first_row
        for name in names:
            n_lines = shown[name].count("\n") + 1
            middle = y + _LINE * (n_lines - 1) / 2
            _draw_name(
                axes,
                ranks[name],
                f"{shown[name]}  {rank_shown(ranks[name])}",
                middle,
                right=bool(side),
                gid=name,
            )
            y += _ROW + _LINE * (n_lines - 1)
    reach = 0.004 * (n - 1)
    for clique, level in levels.items():
        low, high = ranks[clique[0]], ranks[clique[-1]]
        axes.plot(
            [low - reach, high + reach],
            [0.07 + _BAR * level] * 2,
            color="black",
            linewidth=2.4,
            solid_capstyle="butt",
            clip_on=False,
            gid="clique",
            zorder=3,
        )
    axes.set_ylim(_depth(comparison, shown), -_ABOVE)


def figure(
    comparison: Any,
    *,
    title: str,
    note: str = "",
    labels: Mapping[str, str] | None = None,
    width: float = style.PAGE_WIDTH,
) -> Figure:
    """Make the whole figure: diagram, and below it the data sets it stands on."""
    labels = {name: (labels or {}).get(name, name) for name in comparison.average_ranks.index}
    with style.applied():
        made = Figure(figsize=(width, 1.0))
        canvas = FigureCanvasAgg(made)
        labels = _broken(labels, canvas, width)
        shown = [f"{labels[name]}  {rank_shown(rank)}" for name, rank in comparison.average_ranks.items()]
        sides = _sides(shown)
        left, right = (
            max((_width(text, canvas) for text in side), default=0.0) + _GAP + _EDGE for side in sides
        )
        # The outermost ticks' numbers, and the left end of the distance, reach out a little.
        left, right = max(left, 0.15), max(right, 0.15)
        notes = _wrapped([*small_print(comparison, labels), *note.splitlines()], width)
        title_lines = _wrapped([title], width, fontsize=8)
        depth = _depth(comparison, labels) + _ABOVE
        below = _NOTE_ROW * len(notes) + 0.12
        above = _TITLE + 0.14 * (len(title_lines) - 1)
        height = below + depth + above
        made.set_size_inches(width, height)
        axes = made.add_axes((left / width, below / height, (width - left - right) / width, depth / height))
        draw(axes, comparison, labels=labels)
        made.text(_EDGE / width, 1 - 0.04 / height, "\n".join(title_lines), va="top", fontsize=8, gid="title")
        made.text(
            _EDGE / width,
            0.05 / height,
            "\n".join(notes),
            fontsize=6,
            color="0.3",
            va="bottom",
            linespacing=1.2,
            gid="note",
        )
    return made


def small_print(comparison: Any, labels: Mapping[str, str] | None = None) -> list[str]:
    """Say in words which data sets were used, which left out and why, and what the tests found."""
    labels = labels or {}

    def named(rankers):
        return ", ".join(labels.get(name, name).replace("\n", " ") for name in rankers)

    n, used = len(comparison.used), ", ".join(map(str, comparison.used))
    lines = [f"Average ranks (1 is best) over {n} data set{'s' if n > 1 else ''}: {used}."]
    if comparison.left_out:
        told = "; ".join(
            f"{name} (not finished by {named(who)})" for name, who in comparison.left_out.items()
        )
        lines.append(f"Left out: {told}.")
    if comparison.no_test:
        test = f"Friedman's test is left out: {comparison.no_test}."
    else:
        test = f"Friedman's test: chi-square {comparison.friedman_statistic:.2f}, p = {comparison.friedman_p:.2g}."
        if comparison.friedman_p >= comparison.alpha:
            test += (
                f" It finds no difference at {comparison.alpha:g}, so bars and distance have nothing to add."
            )
    if np.isnan(comparison.cd):
        return [*lines, f"{test} Nemenyi's likewise."]
    nemenyi = (
        f"Bars join rankers that are not significantly different (Nemenyi's test) at {comparison.alpha:g}."
    )
    if comparison.out_of_reach:
        n_rankers = len(comparison.average_ranks)
        nemenyi += f" With so few data sets no two of {n_rankers} rankers can be significantly different."
    lines.append(f"{test} {nemenyi}")
    return lines


def _draw_distance(axes: Axes, comparison: Any, n: int) -> None:
    distance = comparison.cd
    if np.isnan(distance):
        return
    y = -_ABOVE + 0.2
    text = f"CD = {rank_shown(distance)}"
    if distance > n - 1:
        text += " (longer than the axis)"
    end = 1 + min(distance, n - 1)
    axes.plot([1, end], [y, y], color="black", linewidth=0.8, clip_on=False, gid="distance")
    stops = [1, end] if distance <= n - 1 else [1]
    for stop in stops:
        axes.plot([stop, stop], [y - 0.03, y + 0.03], color="black", linewidth=0.8, clip_on=False, gid="stop")
    axes.text(1, y - 0.05, text, ha="left", va="bottom", fontsize=7, gid="distance")


def _draw_name(axes: Axes, rank: float, text: str, y: float, *, right: bool, gid: str) -> None:
    edge = axes.get_xlim()[int(right)]
    color = style.ranker_color(gid)
    axes.plot([rank, rank, edge], [0, y, y], color=color, linewidth=0.9, clip_on=False, gid=gid, zorder=2)
    points = 72 * _GAP * (1 if right else -1)
    axes.annotate(
        text,
        (edge, y),
        xytext=(points, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="center",
        fontsize=7,
        linespacing=1.1,
        multialignment="left" if right else "right",
        annotation_clip=False,
        gid=gid,
    )


def _sides(names: Iterable[str]) -> tuple[list, list]:
    """Split into the left column, best first, and the right one, worst first; lines then never cross."""
    names = list(names)
    half = (len(names) + 1) // 2
    return names[:half], names[half:][::-1]


def _levels(comparison: Any) -> dict[tuple[str, ...], int]:
    """Give every clique the highest level on which its bar touches no other."""
    ranks = comparison.average_ranks
    reached: list[float] = []
    gap = 0.02 * (len(ranks) - 1)
    levels = {}
    for clique in comparison.cliques:
        low, high = ranks[clique[0]], ranks[clique[-1]]
        level = next((place for place, end in enumerate(reached) if end + gap < low), len(reached))
        reached[level : level + 1] = [high]
        levels[clique] = level
    return levels


def _depth(comparison: Any, labels: Mapping[str, str]) -> float:
    """Inches from the rank axis down to below the last name."""
    n_bars = 1 + max(_levels(comparison).values(), default=-1)
    rows = max(
        sum(_ROW + _LINE * labels[name].count("\n") for name in side)
        for side in _sides(comparison.average_ranks.index)
    )
    return _BAR * n_bars + 0.13 + rows


def _ticks(n: int) -> list[int]:
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if (n - 1) / step < _MOST_TICKS)
    inner = [
        tick
        for tick in range(step if step > 1 else 1, n, step)
        if tick == 1 or step == 1 or tick >= 1 + step / 2
    ]
    # The first and the last rank are always there; a round number too near to the last makes way.
    return sorted({1, *(tick for tick in inner if n - tick >= step / 2), n})


def _broken(labels: Mapping[str, str], canvas: FigureCanvasAgg, width: float) -> dict[str, str]:
    room = (1 - _AXIS_SHARE) / 2 * width - _GAP - _EDGE
    broken = {}
    for name, label in labels.items():
        characters = len(label)
        while _width(f"{label}  00.00", canvas) > room and characters > 8:
            characters -= 1
            label = textwrap.fill(labels[name], characters)
        broken[name] = label
    return broken


def _width(text: str, canvas: FigureCanvasAgg, fontsize: float = 7) -> float:
    """Inches that a text takes."""
    artist = Text(0, 0, text, fontsize=fontsize, figure=canvas.figure)
    return artist.get_window_extent(canvas.get_renderer()).width / canvas.figure.dpi


def _wrapped(lines: Iterable[str], width: float, fontsize: float = 6) -> list[str]:
    # A character is half as wide as it is high, on average and with something to spare.
    characters = int((width - 2 * _EDGE) * 72 / (0.55 * fontsize))
    return [part for line in lines for part in textwrap.wrap(line, characters)]
