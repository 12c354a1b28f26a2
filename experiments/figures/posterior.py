"""Figure: posteriors of pairs of rankers, as points in triangles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures import style
from experiments.figures.layout import NOTE, Sheet, empty, wrapped

_SIDE = 1.5
_GAP = 0.25
#: Width of a name below a corner, and heights of its lines and of what is above a triangle, inches.
_NAME, _LINE, _ABOVE = (_SIDE + _GAP) / 2 - 0.06, 0.105, 0.2
_HEIGHT = math.sqrt(3) / 2
#: Colour of draws that favour neither.
_EQUAL = "#595959"


def project(draws: np.ndarray) -> np.ndarray:
    """Place probabilities in the triangle."""
    draws = np.asarray(draws, dtype=float)
    return np.column_stack([draws[:, 2] + draws[:, 1] / 2, draws[:, 1] * _HEIGHT])


def draw(
    axes: Axes,
    draws: np.ndarray,
    probabilities: Sequence[float],
    names: tuple[str, str],
    *,
    colors: tuple[str, str, str] = (_EQUAL, _EQUAL, _EQUAL),
) -> None:
    """Draw one triangle."""
    axes.set_axis_off()
    axes.set_aspect("equal")
    corners = np.array([[0, 0], [1, 0], [0.5, _HEIGHT], [0, 0]])
    axes.plot(*corners.T, color="0.2", linewidth=0.8, zorder=3, gid="triangle")
    centre = np.array([0.5, _HEIGHT / 3])
    for middle in ((0.5, 0.0), (0.25, _HEIGHT / 2), (0.75, _HEIGHT / 2)):
        axes.plot([centre[0], middle[0]], [centre[1], middle[1]], color="0.5", linewidth=0.6, zorder=3)
    points = project(draws)
    axes.scatter(
        points[:, 0],
        points[:, 1],
        s=2.5,
        color=[colors[place] for place in np.asarray(draws, dtype=float).argmax(axis=1)],
        alpha=max(0.12, min(0.6, 200 / max(len(points), 1))),
        linewidths=0,
        zorder=2,
        gid="draws",
        rasterized=True,
    )
    a, rope, b = probabilities
    for number, name, x, side, gid in ((a, names[0], -0.06, "left", "a"), (b, names[1], 1.06, "right", "b")):
        text = "\n".join([f"{number:.3f}", *wrapped(name, _NAME)])
        axes.text(x, -0.05, text, ha=side, va="top", fontsize=NOTE, linespacing=1.15, gid=gid)
    axes.text(0.5, _HEIGHT + 0.04, f"{rope:.3f} equal", ha="center", va="bottom", fontsize=NOTE, gid="rope")
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(-0.04, _HEIGHT + 0.02)


def figure(
    pairs: Sequence[tuple[str, str]],
    draws: Mapping[tuple[str, str], np.ndarray],
    probabilities: Mapping[tuple[str, str], Sequence[float]],
    *,
    title: str,
    note: str = "",
    labels: Mapping[str, str] | None = None,
    n_columns: int = 2,
) -> Figure:
    """Draw several triangles side by side."""
    shown = [pair for pair in pairs if len(draws.get(pair, ()))]
    if not shown:
        return empty(title, "no pair of rankers could be tested", note)
    labels = labels or {}
    n_columns = min(n_columns, len(shown))
    n_rows = -(-len(shown) // n_columns)
    with style.applied():
        width = max(style.COLUMN_WIDTH, n_columns * (_SIDE + _GAP))
        cell = width / n_columns
        triangle = _SIDE * _HEIGHT
        n_lines = max(len(wrapped(labels.get(each, each), _NAME)) for pair in shown for each in pair)
        below = (n_lines + 1) * _LINE + 0.12
        each = triangle + _ABOVE + below
        sheet = Sheet(width, n_rows * each, title, note)
        for place, pair in enumerate(shown):
            row, column = divmod(place, n_columns)
            bottom = (n_rows - 1 - row) * each + below
            axes = sheet.axes(column * cell + (cell - _SIDE) / 2, bottom, _SIDE, triangle)
            draw(
                axes,
                draws[pair],
                probabilities[pair],
                (labels.get(pair[0], pair[0]), labels.get(pair[1], pair[1])),
                colors=(style.ranker_color(pair[0]), _EQUAL, style.ranker_color(pair[1])),
            )
    return sheet.figure
