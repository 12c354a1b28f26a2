"""Figure: the points that the latent dimension is fitted to, with the line through the origin."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from experiments.figures import style
from experiments.figures.layout import Sheet, empty

_AXES_HEIGHT = 1.8
_TITLES = {
    "ranked": "samples as ReliefE embeds them",
    "normalised": "range-normalised samples",
    "raw": "original features",
}


def figure(points: pd.DataFrame, *, title: str, note: str = "") -> Figure:
    """Draw a panel for each kind of rows of one data set.

    Parameters
    ----------
    points : DataFrame
        From :func:`experiments.analysis.paper.measurements.points`, kind
        "latent_dimension", one data set and repeat.
        A slope of NaN has no line.
    title : str
        Above the panels.
    note : str, default=""
        Small print.

    Returns
    -------
    Figure
    """
    if not len(points):
        return empty(title, "there are no points to fit a line to", note)
    kinds = list(dict.fromkeys(points["rows"]))
    with style.applied():
        width = style.PAGE_WIDTH if len(kinds) > 1 else style.COLUMN_WIDTH
        room = (width - 0.1) / len(kinds)
        sheet = Sheet(width, _AXES_HEIGHT + 0.68, title, note)
        for place, kind in enumerate(kinds):
            mine = points[points["rows"] == kind]
            slope = mine["slope"].iloc[0]
            axes = sheet.axes(place * room + 0.5, 0.42, room - 0.58, _AXES_HEIGHT)
            axes.plot(
                mine["log_ratio"].to_numpy(dtype=float), mine["minus_log_rest"].to_numpy(dtype=float), "o",
                color=style.PALETTE[0], markersize=2, zorder=2, gid="points", rasterized=len(mine) > 500,
            )  # fmt: skip
            if pd.notna(slope):
                axes.axline(
                    (0, 0), slope=float(slope), color=style.PALETTE[1], linewidth=1.2, zorder=3, gid="line"
                )
            said = f"slope {slope:.2f}" if pd.notna(slope) else "no slope"
            axes.set_title(f"{_TITLES.get(str(kind), kind)}\n{said}", pad=3)
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0, top=float(mine["minus_log_rest"].max()) * 1.05 or None)
            axes.locator_params(axis="x", nbins=4)
            axes.set_xlabel("log μ")
            if place == 0:
                axes.set_ylabel("−log(1 − EMP(μ))")
    return sheet.figure
