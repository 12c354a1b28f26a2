"""Figure: seconds of a fit, a line per ranker, mean and standard deviation over data sets."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from experiments.figures import style
from experiments.figures.layout import Legend, Sheet, empty, room_for, shortened
from experiments.formatting import BRANCHES

_ROW = 0.16


def draw(
    axes: Axes,
    times: pd.DataFrame,
    seconds: pd.DataFrame,
    *,
    labels: Mapping[str, str] | None = None,
    branches: Mapping[str, str] | None = None,
) -> None:
    """Draw the times."""
    labels, branches = labels or {}, branches or {}
    markers = _markers(branches)
    shared = seconds.loc[times.attrs["datasets"]]
    lowest = np.nanmin(shared[times["ranker"]].to_numpy(dtype=float))
    highest = np.nanmax([*times["plus_sd"].dropna(), *shared[times["ranker"]].max()])
    left, right = lowest / 1.6, highest * 1.6
    for place, line in enumerate(times.itertuples()):
        color, marker = style.ranker_color(line.ranker), markers[branches.get(line.ranker, "")]
        dots = shared[line.ranker].to_numpy(dtype=float)
        axes.plot(
            dots, np.full(dots.size, place), "|", color="0.55", markersize=5, markeredgewidth=0.7, zorder=2,
            gid=f"data sets {line.ranker}",
        )  # fmt: skip
        if not np.isnan(line.plus_sd):
            # On this scale a deviation as large as the mean has no lower end; the whisker reaches the edge then.
            start = line.minus_sd if line.minus_sd > left else left
            axes.plot(
                [start, line.plus_sd], [place, place], color=color, linewidth=1, zorder=3,
                gid=f"sd {line.ranker}",
            )  # fmt: skip
        axes.plot(
            [line.mean], [place], marker, color=color, markersize=5, zorder=4,
            gid=f"mean {line.ranker}",
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(len(times) - 0.4, -0.6)
    axes.set_yticks(range(len(times)), [shortened(labels.get(each, each)) for each in times["ranker"]])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("seconds of a fit")
    axes.grid(True, axis="x")
    axes.grid(False, axis="y")
    axes.xaxis.set_major_locator(LogLocator(numticks=8))
    axes.xaxis.set_major_formatter(style.PowersOfTen())
    axes.xaxis.set_minor_formatter(NullFormatter())


def figure(
    times: pd.DataFrame,
    seconds: pd.DataFrame,
    *,
    title: str,
    note: str = "",
    labels: Mapping[str, str] | None = None,
    branches: Mapping[str, str] | None = None,
    nothing: str = "no ranker is complete on any data set",
) -> Figure:
    """Make the whole figure."""
    if not len(times):
        return empty(title, nothing, note)
    labels = dict(labels or {})
    branches = {ranker: name for ranker, name in (branches or {}).items() if ranker in set(times["ranker"])}
    with style.applied():
        markers = {branch: marker for branch, marker in _markers(branches).items() if branch}
        handles = [
            Line2D([], [], color="0.3", marker=marker, linestyle="", markersize=5)
            for marker in markers.values()
        ]
        legend = Legend(handles, list(markers)) if len(markers) > 1 else Legend()
        left = room_for(labels.get(each, each) for each in times["ranker"])
        width = max(style.COLUMN_WIDTH, left + 2.4)
        height = _ROW * len(times) + 0.1
        sheet = Sheet(width, height + 0.42, title, note, legend)
        axes = sheet.axes(left, 0.4, width - left - 0.16, height)
        draw(axes, times, seconds, labels=labels, branches=branches)
    return sheet.figure


def _markers(branches: Mapping[str, str]) -> dict[str, str]:
    """Give every branch a marker, in the order of rankers; "" is of those without a branch."""
    own = style.looks(BRANCHES)
    names = dict.fromkeys(branches.values())
    looks = style.looks([*BRANCHES, *(name for name in names if name not in own)])
    return {"": "o"} | {name: looks[name].marker for name in names}
