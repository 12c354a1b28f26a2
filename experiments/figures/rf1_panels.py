"""Figure: rF1 curves of many rankers of one data set, a panel per ranker and a line per variant of it."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.figures import rf1_curve, style
from experiments.figures.sheet import Legend, Sheet, empty, shortened

_AXES_HEIGHT = 1.25
_MOST_COLUMNS = 2


def figure(
    curves: pd.DataFrame,
    *,
    title: str,
    note: str = "",
    panels: Mapping[str, str],
    variants: Mapping[str, str],
) -> Figure:
    """Draw small multiples with the same axes.

    Parameters
    ----------
    curves : DataFrame
        From :func:`experiments.analysis.curves.rf1_curve`, one data set and protocol.
    title : str
        Above the panels.
    note : str, default=""
        Small print.
    panels, variants : mapping
        Ranker → name of its panel, and of its variant, such as its target distance. A variant looks the same in all
        panels, and is in the legend even when no panel shows it.

    Returns
    -------
    Figure
    """
    if not len(curves):
        return empty(title, "no ranker is complete on this data set", note)
    named = list(dict.fromkeys(panels[ranker] for ranker in curves["ranker"]))
    with style.applied():
        looks = style.looks(list(dict.fromkeys(variants.values())))
        handles = [
            Line2D([], [], color=look.color, linestyle=look.dashes, marker=look.marker)
            for look in looks.values()
        ]
        n_columns = min(_MOST_COLUMNS, len(named))
        n_rows = -(-len(named) // n_columns)
        width = style.PAGE_WIDTH if n_columns > 1 else style.COLUMN_WIDTH
        each, room = _AXES_HEIGHT + 0.62, width / n_columns
        sheet = Sheet(width, n_rows * each + 0.05, title, note, Legend(handles, list(looks)))
        lowest, highest = [], []
        for place, panel in enumerate(named):
            row, column = divmod(place, n_columns)
            bottom = (n_rows - 1 - row) * each + 0.4
            axes = sheet.axes(column * room + 0.52, bottom, room - 0.66, _AXES_HEIGHT)
            mine = curves[curves["ranker"].map(panels) == panel]
            of_ranker = {ranker: looks[variants[ranker]] for ranker in mine["ranker"].unique()}
            rf1_curve.draw(axes, mine, looks=of_ranker, labels=variants)
            axes.set_title(shortened(panel, room - 0.7, 8), pad=3)
            if column:
                axes.set_ylabel("")
            lowest.append(axes.get_ylim()[0])
            highest.append(axes.get_ylim()[1])
        for axes in sheet.figure.axes:
            axes.set_ylim(min(lowest), max(highest))
    return sheet.figure
