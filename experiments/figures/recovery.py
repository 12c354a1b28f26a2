"""Figure: share of the informative features that rankers find, against the number of noise features."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from experiments.figures import style
from experiments.figures.layout import shortened, wrapped

_PANEL_HEIGHT = 1.05
_GAP = 0.54
_TOP, _BOTTOM, _LEFT, _RIGHT = 0.34, 0.34, 0.42, 0.12
_BETWEEN = 0.16
_LEGEND_ROW = 0.123
_NOTE_ROW = 0.105
_PANELS_IN_A_ROW = 2
_TITLE_CHARACTERS = 28


def draw(
    axes: Axes, shares: pd.DataFrame, *, labels: Mapping[str, str], looks: Mapping[str, style.Look]
) -> None:
    """Draw one family of data sets."""
    for ranker, points in shares.groupby("ranker", sort=False):
        look = looks[ranker]
        axes.plot(
            points["n_noise"].to_numpy(dtype=float),
            points["share"],
            color=look.color,
            linestyle=look.dashes,
            marker=look.marker,
            label=labels.get(ranker, ranker),
            gid=f"curve {ranker}",
            clip_on=False,
            zorder=3,
        )
    ticks = sorted(shares["n_noise"].unique())
    if ticks[0] > 0:
        axes.set_xscale("log")
    if len(ticks) > 1 and ticks[0] > 0:
        axes.set_xlim(ticks[0] / 1.3, ticks[-1] * 1.3)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(0.0, 1.0)
    axes.yaxis.set_major_locator(FixedLocator([0.0, 0.5, 1.0]))


def figure(
    shares: pd.DataFrame,
    *,
    labels: Mapping[str, str] | None = None,
    looks: Mapping[str, style.Look] | None = None,
    note: str = "",
) -> Figure:
    """Make the whole figure: two panels in a row, below them the legend, below that a note."""
    labels = dict(labels or {})
    rankers = list(dict.fromkeys(shares["ranker"]))
    looks = looks or style.ranker_looks(rankers)
    families = list(dict.fromkeys(shares["family"]))
    n_across = min(_PANELS_IN_A_ROW, len(families))
    n_down = math.ceil(len(families) / n_across)
    lines = [
        "Share of the informative features among as many top-ranked features, mean over seeds, "
        "against the number of noise features.",
        *note.splitlines(),
    ]
    note_lines = wrapped("\n".join(lines), style.COLUMN_WIDTH - 0.15)
    legend = _LEGEND_ROW * math.ceil(len(rankers) / 2) + 0.08
    small_print = _NOTE_ROW * len(note_lines) + 0.06
    width = style.COLUMN_WIDTH
    total = _TOP + n_down * _PANEL_HEIGHT + (n_down - 1) * _GAP + _BOTTOM + legend + small_print
    panel_width = (width - _LEFT - _RIGHT - (n_across - 1) * _BETWEEN) / n_across
    with style.applied():
        made = Figure(figsize=(width, total))
        for place, family in enumerate(families):
            down, across = divmod(place, n_across)
            left = _LEFT + across * (panel_width + _BETWEEN)
            bottom = total - _TOP - (down + 1) * _PANEL_HEIGHT - down * _GAP
            axes = made.add_axes((left / width, bottom / total, panel_width / width, _PANEL_HEIGHT / total))
            draw(axes, shares[shares["family"] == family], labels=labels, looks=looks)
            axes.set_title(_title(family), fontsize=7)
            if across:
                axes.set_yticklabels([])
            else:
                axes.set_ylabel("share found")
        handles = {line.get_gid(): line for axes in made.axes for line in axes.lines}
        style.legend(
            made,
            [handles[f"curve {ranker}"] for ranker in rankers],
            [shortened(labels.get(ranker, ranker), width / 2 - 0.45) for ranker in rankers],
            loc="upper center",
            bbox_to_anchor=(0.5, (small_print + legend) / total),
            ncols=min(2, len(rankers)),
            borderaxespad=0,
            borderpad=0,
            handlelength=2.6,
            columnspacing=1.2,
            labelspacing=0.25,
        )
        made.text(
            _LEFT / width / 4,
            small_print / total,
            "\n".join(note_lines),
            fontsize=6,
            color="0.35",
            verticalalignment="top",
            linespacing=1.15,
        )
    return made


def _title(family: str) -> str:
    name, _, changes = family.removesuffix("]").partition("[")
    lines = [name.replace("_", " "), *([changes.replace(",", ", ")] if changes else [])]
    return "\n".join(textwrap.shorten(line, _TITLE_CHARACTERS, placeholder="…") for line in lines)
