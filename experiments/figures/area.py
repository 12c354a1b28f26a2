"""Figure: area under the relative F1 curve, rankers × data sets, with the mean and its interval."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures import style
from experiments.figures.heatmap import heat_map
from experiments.figures.layout import Sheet, empty, room_for

_ROW = 0.15
_MEANS = 1.5
_CELL = 0.36


def figure(
    areas: pd.DataFrame,
    table: pd.DataFrame,
    *,
    title: str,
    note: str = "",
    labels: Mapping[str, str] | None = None,
    score: str = "F1",
) -> Figure:
    """Draw a heat map, and beside it the means."""
    if not table.size or not table.notna().any(axis=None):
        return empty(title, f"no ranker has an AUr{score} on any data set", note)
    labels = dict(labels or {})
    order = [*areas["ranker"], *(each for each in table.columns if each not in set(areas["ranker"]))]
    cells = table[order].T
    cells.index = [labels.get(each, each) for each in cells.index]
    values = cells.to_numpy(dtype=float)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    with style.applied():
        left, above = room_for(cells.index), room_for(cells.columns)
        width = min(style.PAGE_WIDTH, max(style.COLUMN_WIDTH, left + _CELL * cells.shape[1] + _MEANS + 0.3))
        height = _ROW * len(cells)
        map_width = width - left - _MEANS - 0.3
        sheet = Sheet(width, height + above + 0.42, title, note)
        axes = sheet.axes(left, 0.4, map_width, height)
        heat_map(axes, cells, low=low, high=high, numbers=2 if map_width / cells.shape[1] > 0.24 else None)
        axes.xaxis.tick_top()
        means = sheet.axes(left + map_width + 0.15, 0.4, _MEANS, height, sharey=axes)
        for place, line in enumerate(areas.itertuples()):
            color = style.ranker_color(str(line.ranker))
            if not np.isnan(line.lower):
                means.plot(
                    [line.lower, line.upper], [place, place], color=color, linewidth=1,
                    gid=f"interval {line.ranker}",
                )  # fmt: skip
            means.plot([line.mean], [place], "o", color=color, gid=f"mean {line.ranker}")
        means.axvline(1.0, color="0.45", linewidth=0.8, zorder=1, gid="all features")
        means.tick_params(axis="y", left=False, labelleft=False)
        means.set_xlabel(f"mean AUr{score}, 95 % interval")
        means.grid(True, axis="x")
        means.grid(False, axis="y")
        means.margins(x=0.08)
        means.locator_params(axis="x", nbins=4)
    return sheet.figure
