"""Figure: how alike rankers are, as a heat map in the order of a clustering."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures import style
from experiments.figures.heatmap import heat_map, scale
from experiments.figures.layout import Sheet, empty, room_for
from experiments.formatting import similarity_digits

_CELL = 0.24
_SMALLEST = 0.105
_SCALE = 0.12


def figure(
    similarity: pd.DataFrame,
    *,
    title: str,
    note: str = "",
    labels: Mapping[str, str] | None = None,
) -> Figure:
    """Draw the lower triangle of a similarity matrix; the diagonal is 1 and left out."""
    n = len(similarity)
    if n < 2:
        return empty(title, "similarity needs two complete rankers", note)
    named = [str((labels or {}).get(each, each)) for each in similarity.index]
    cells = pd.DataFrame(similarity.to_numpy(dtype=float)[1:, :-1], index=named[1:], columns=named[:-1])
    hidden = np.triu(np.ones(cells.shape, dtype=bool), k=1)
    seen = cells.to_numpy()[~hidden]
    low, high = (float(np.nanmin(seen)), float(np.nanmax(seen))) if (~np.isnan(seen)).any() else (0.0, 1.0)
    with style.applied():
        room = room_for(named)
        cell = max(_SMALLEST, min(_CELL, (style.PAGE_WIDTH - room - 0.2) / (n - 1)))
        side = cell * (n - 1)
        width = max(style.COLUMN_WIDTH, room + side + 0.75)
        sheet = Sheet(width, side + room + 0.08, title, note)
        axes = sheet.axes(room, room, side, side)
        digits = similarity_digits(seen)
        numbers = digits if cell > 0.2 else None
        heat_map(axes, cells, low=low, high=high, numbers=numbers, size=5 if digits < 4 else 4, hidden=hidden)
        if cell < 0.14:
            axes.tick_params(labelsize=6)
        bar = sheet.axes(room + side + 0.1, room + side * 0.35, _SCALE, side * 0.65)
        scale(bar, low=low, high=high, label="AUFUJI")
    return sheet.figure
