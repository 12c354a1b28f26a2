"""Figure: quality against the number of iterations, a panel per data set."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from experiments.figures import style
from experiments.figures.layout import Legend, Sheet, empty, shortened

_AXES_HEIGHT = 1.5


def draw(axes: Axes, points: pd.DataFrame, looks: Mapping[str, style.Look]) -> None:
    """Draw one data set."""
    for family, mine in points.groupby("family", sort=False):
        look = looks[str(family)]
        axes.vlines(
            mine["n_iterations"],
            mine["minimum"],
            mine["maximum"],
            color=look.color,
            linewidth=0.8,
            alpha=0.6,
            zorder=2,
            gid=f"folds {family}",
        )
        axes.plot(
            mine["n_iterations"], mine["mean"], color=look.color, linestyle=look.dashes, marker=look.marker,
            label=str(mine["label"].iloc[0]), zorder=3, gid=str(family),
        )  # fmt: skip
    axes.axhline(1.0, color="0.45", linewidth=0.8, zorder=1, gid="all features")
    axes.set_xscale("log", base=2)
    ticks = sorted(set(points["n_iterations"]))
    shown = ticks[::2] if len(ticks) > 8 else list(ticks)
    if ticks[-1] not in shown:
        shown.append(ticks[-1])
    if len(shown) > 1 and shown[-1] / shown[-2] < 1.8:
        del shown[-2]
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    low, high = points["minimum"].min(), points["maximum"].max()
    if low == low:  # NaN where AUrF1 has no value in any fold
        margin = 0.06 * max(high - low, 0.02)
        axes.set_ylim(min(low, 1.0) - margin, max(high, 1.0) + margin)


def figure(points: pd.DataFrame, *, title: str, note: str = "", score: str = "F1") -> Figure:
    """Make the whole figure, two panels in a row."""
    if not len(points):
        return empty(title, "no ranker is complete on any data set", note)
    datasets = list(dict.fromkeys(points["dataset"]))
    names = dict(zip(points["family"], points["label"], strict=True))
    with style.applied():
        looks = style.ranker_looks(list(names))
        handles = [
            Line2D([], [], color=look.color, linestyle=look.dashes, marker=look.marker)
            for look in looks.values()
        ]
        n_columns = min(2, len(datasets))
        width = style.PAGE_WIDTH if n_columns == 2 else style.COLUMN_WIDTH
        n_rows = -(-len(datasets) // n_columns)
        each = _AXES_HEIGHT + 0.62
        sheet = Sheet(width, n_rows * each + 0.05, title, note, Legend(handles, list(names.values())))
        room = width / n_columns
        for place, dataset in enumerate(datasets):
            row, column = divmod(place, n_columns)
            bottom = (n_rows - 1 - row) * each + 0.4
            axes = sheet.axes(column * room + 0.52, bottom, room - 0.64, _AXES_HEIGHT)
            draw(axes, points[points["dataset"] == dataset], looks)
            axes.set_title(shortened(str(dataset), room - 0.7, 8), pad=3)
            axes.set_xlabel("iterations (last point: every sample once)")
            if column == 0:
                axes.set_ylabel(f"AUr{score}")
    return sheet.figure
