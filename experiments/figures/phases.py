"""Figure: what share of a fit's time each of its phases takes."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from experiments.figures import style
from experiments.figures.layout import Legend, Sheet, empty, room_for, shortened

_BAR = 0.17


def figure(
    means: pd.DataFrame, *, title: str, note: str = "", labels: Mapping[str, str] | None = None
) -> Figure:
    """Draw a bar per data set and ranker, divided by phase; its seconds stand beside it.

    Parameters
    ----------
    means : DataFrame
        From :func:`experiments.analysis.paper.measurements.phase_means`, and ``total`` (seconds of all phases).
    title : str
        Above the bars.
    note : str, default=""
        Small print.
    labels : mapping, optional
        Ranker → name to show.

    Returns
    -------
    Figure
    """
    if not len(means):
        return empty(title, "no times are known", note)
    phases = list(dict.fromkeys(means["phase"]))
    bars = means[["dataset", "ranker", "total"]].drop_duplicates(["dataset", "ranker"])
    names = [f"{line.dataset}: {(labels or {}).get(line.ranker, line.ranker)}" for line in bars.itertuples()]
    with style.applied():
        looks = style.areas(phases)
        handles = [
            Patch(facecolor=color, hatch=hatch, edgecolor="white", linewidth=0.3)
            for color, hatch in looks.values()
        ]
        left, right = room_for(names), 0.62
        width = max(style.COLUMN_WIDTH, left + 2.4 + right)
        height = _BAR * len(bars) + 0.06
        sheet = Sheet(width, height + 0.42, title, note, Legend(handles, phases))
        axes = sheet.axes(left, 0.4, width - left - right, height)
        for place, line in enumerate(bars.itertuples()):
            mine = means[(means["dataset"] == line.dataset) & (means["ranker"] == line.ranker)]
            for part in mine.itertuples():
                color, hatch = looks[part.phase]
                axes.barh(
                    place, part.share, left=part.before, height=0.78, color=color, hatch=hatch,
                    edgecolor="white", linewidth=0.3, gid=f"{line.dataset} {line.ranker} {part.phase}",
                )  # fmt: skip
            axes.text(1.01, place, f"{line.total:.3g} s", va="center", fontsize=7)
        axes.set_ylim(len(bars) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_yticks(range(len(bars)), [shortened(name) for name in names])
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_xlabel("share of the fit's time")
        axes.grid(False)
    return sheet.figure
