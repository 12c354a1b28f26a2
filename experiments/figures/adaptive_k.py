"""Figure: densities of the numbers of neighbours that adaptive rankers take."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from experiments.figures import style
from experiments.figures.layout import Legend, Sheet, empty, shortened

_AXES_HEIGHT = 1.7


def figure(
    density: pd.DataFrame, *, title: str, note: str = "", labels: Mapping[str, str] | None = None
) -> Figure:
    """Draw a panel per ranker, a line per data set.

    Parameters
    ----------
    density : DataFrame
        From :func:`experiments.analysis.paper.densities.density_of_neighbors`. Where a data set has a single
        number of neighbours, or too few for a density, they are ticks at the bottom.
    title : str
        Above the panels.
    note : str, default=""
        Small print.
    labels : mapping, optional
        Ranker → name to show.

    Returns
    -------
    Figure
    """
    if not len(density):
        return empty(title, "nothing has been measured", note)
    datasets, rankers = (list(dict.fromkeys(density[name])) for name in ("dataset", "ranker"))
    with style.applied():
        looks = style.looks(datasets)
        handles = [
            Line2D([], [], color=look.color, linestyle=look.dashes, marker=look.marker)
            for look in looks.values()
        ]
        width, each = style.COLUMN_WIDTH + 1, _AXES_HEIGHT + 0.62
        sheet = Sheet(width, len(rankers) * each + 0.05, title, note, Legend(handles, datasets))
        first = None
        for place, ranker in enumerate(rankers):
            bottom = (len(rankers) - 1 - place) * each + 0.4
            axes = sheet.axes(0.5, bottom, width - 0.64, _AXES_HEIGHT, sharex=first)
            first = first or axes
            axes.set_xscale("log")
            for number, (dataset, mine) in enumerate(
                density[density["ranker"] == ranker].groupby("dataset", sort=False)
            ):
                look = looks[str(dataset)]
                if mine["density"].isna().all():
                    axes.plot(
                        mine["k"], [0] * len(mine), look.marker, color=look.color, clip_on=False, zorder=4,
                        markersize=5, gid=f"single {dataset}",
                    )  # fmt: skip
                    continue
                every = max(1, len(mine) // 4)
                axes.plot(
                    mine["k"], mine["density"], color=look.color, linestyle=look.dashes, marker=look.marker,
                    markevery=(number * 7 % every, every), gid=str(dataset),
                )  # fmt: skip
            axes.set_ylim(bottom=0)
            axes.xaxis.set_major_formatter(style.PowersOfTen())
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_title(shortened((labels or {}).get(str(ranker), str(ranker)), width - 0.7, 8), pad=3)
            axes.set_xlabel("neighbours taken, k")
            axes.set_ylabel("density per decade of k")
    return sheet.figure
