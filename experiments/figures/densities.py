"""Figure: shares of non-zeros before and after sparsification, with the density of the points."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from experiments.figures import style
from experiments.figures.layout import Legend, Sheet, empty

_SIDE = 2.6


def figure(points: pd.DataFrame, density: pd.DataFrame, *, title: str, note: str = "") -> Figure:
    """Draw points over lines of equal density.

    Parameters
    ----------
    points : DataFrame
        ``dataset``, ``share_before``, ``share``.
    density : DataFrame
        From :func:`experiments.analysis.paper.densities.density_of_shares`; may be empty.
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
            Line2D([], [], color=look.color, linestyle="", marker=look.marker, markersize=4)
            for look in looks.values()
        ]
        sheet = Sheet(style.COLUMN_WIDTH, _SIDE + 0.5, title, note, Legend(handles, datasets))
        axes = sheet.axes(0.55, 0.42, _SIDE, _SIDE)
        if len(density):
            # The lowest level would colour all of the square.
            levels = MaxNLocator(8).tick_values(0, float(density["density"].max()))[1:]
            grid = density.pivot(index="after", columns="before", values="density")
            axes.contourf(
                grid.columns.to_numpy(dtype=float), grid.index.to_numpy(dtype=float), grid.to_numpy(dtype=float),
                levels=levels, cmap="Greys", alpha=0.7, zorder=1,
            )  # fmt: skip
        axes.plot([0, 1], [0, 1], color="0.45", linewidth=0.8, zorder=2, gid="as before")
        for dataset, mine in points.groupby("dataset", sort=False):
            look = looks[str(dataset)]
            axes.plot(
                mine["share_before"].to_numpy(dtype=float), mine["share"].to_numpy(dtype=float), look.marker,
                color=look.color, markersize=4, zorder=3, gid=str(dataset),
            )  # fmt: skip
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        axes.set_xticks(np.linspace(0, 1, 6))
        axes.set_yticks(np.linspace(0, 1, 6))
        axes.set_xlabel("share of non-zeros before")
        axes.set_ylabel("share of non-zeros after")
    return sheet.figure
