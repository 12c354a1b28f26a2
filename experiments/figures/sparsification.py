"""Figure: what share of non-zeros sparsification leaves, against the error ε that is allowed."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.figures import style
from experiments.figures.layout import Legend, Sheet, empty

_AXES_HEIGHT = 2.2


def figure(points: pd.DataFrame, *, title: str, note: str = "") -> Figure:
    """Draw a line per data set; a hollow marker is the estimated ε.

    Parameters
    ----------
    points : DataFrame
        From :func:`experiments.analysis.paper.measurements.points`, kind "sparsity".
    title : str
        Above the axes.
    note : str, default=""
        Small print.

    Returns
    -------
    Figure
    """
    if not len(points):
        return empty(title, "nothing has been measured", note)
    datasets = list(dict.fromkeys(points["dataset"]))
    with style.applied():
        looks = style.looks(datasets)
        handles = [
            Line2D([], [], color=look.color, linestyle=look.dashes, marker=look.marker)
            for look in looks.values()
        ]
        width = style.COLUMN_WIDTH + 1
        sheet = Sheet(width, _AXES_HEIGHT + 0.5, title, note, Legend(handles, datasets))
        axes = sheet.axes(0.5, 0.42, width - 0.64, _AXES_HEIGHT)
        for dataset, mine in points.groupby("dataset", sort=False):
            look = looks[str(dataset)]
            line = mine[~mine["estimated"].astype(bool)].sort_values("epsilon")
            at = mine[mine["estimated"].astype(bool)]
            axes.plot(
                line["epsilon"], line["share"], color=look.color, linestyle=look.dashes, marker=look.marker,
                gid=str(dataset),
            )  # fmt: skip
            axes.plot(
                at["epsilon"], at["share"], look.marker, color=look.color, markerfacecolor="white",
                markeredgewidth=1, markersize=5.5, zorder=4, gid=f"estimated {dataset}",
            )  # fmt: skip
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(style.PowersOfTen())
        axes.xaxis.set_minor_formatter(style.PowersOfTen(labelOnlyBase=False))
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("ε allowed (hollow: the estimated ε)")
        axes.set_ylabel("share of non-zeros left")
    return sheet.figure
