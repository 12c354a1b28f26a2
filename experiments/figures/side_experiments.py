"""Figures of the paper's side experiments: sparsification, latent dimension, adaptive k, phases of a fit.

What is drawn are the points of :mod:`experiments.analysis.measurements` and densities of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, NullFormatter, PercentFormatter

from experiments.figures import style
from experiments.figures.layout import Legend, Sheet, empty, room_for, shortened

#: Sizes of axes, inches.
_NEIGHBORS_HEIGHT = 1.7
_DENSITY_SIDE = 2.6
_POINTS_HEIGHT = 1.8
_BAR = 0.17
_EPSILON_HEIGHT = 2.2
_POINTS_TITLES = {
    "ranked": "samples as ReliefE embeds them",
    "normalised": "range-normalised samples",
    "raw": "original features",
}


def adaptive_k(
    density: pd.DataFrame, *, title: str, note: str = "", labels: Mapping[str, str] | None = None
) -> Figure:
    """Draw densities of the numbers of neighbours taken: a panel per ranker, a line per data set."""
    if not len(density):
        return empty(title, "nothing has been measured", note)
    datasets, rankers = (list(dict.fromkeys(density[name])) for name in ("dataset", "ranker"))
    with style.applied():
        looks, legend = _of_datasets(datasets)
        width, each = style.COLUMN_WIDTH + 1, _NEIGHBORS_HEIGHT + 0.62
        sheet = Sheet(width, len(rankers) * each + 0.05, title, note, legend)
        first = None
        for place, ranker in enumerate(rankers):
            bottom = (len(rankers) - 1 - place) * each + 0.4
            axes = sheet.axes(0.5, bottom, width - 0.64, _NEIGHBORS_HEIGHT, sharex=first)
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


def densities(points: pd.DataFrame, density: pd.DataFrame, *, title: str, note: str = "") -> Figure:
    """Draw shares of non-zeros before and after sparsification, points over lines of equal density."""
    if not len(points):
        return empty(title, "nothing has been measured", note)
    datasets = list(dict.fromkeys(points["dataset"]))
    with style.applied():
        looks, legend = _of_datasets(datasets, linestyle="", markersize=4)
        sheet = Sheet(style.COLUMN_WIDTH, _DENSITY_SIDE + 0.5, title, note, legend)
        axes = sheet.axes(0.55, 0.42, _DENSITY_SIDE, _DENSITY_SIDE)
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


def latent_dimension(points: pd.DataFrame, *, title: str, note: str = "") -> Figure:
    """Draw the points and the line of a latent dimension, a panel for each form of the samples."""
    if not len(points):
        return empty(title, "there are no points to fit a line to", note)
    kinds = list(dict.fromkeys(points["rows"]))
    with style.applied():
        width = style.PAGE_WIDTH if len(kinds) > 1 else style.COLUMN_WIDTH
        room = (width - 0.1) / len(kinds)
        sheet = Sheet(width, _POINTS_HEIGHT + 0.68, title, note)
        for place, kind in enumerate(kinds):
            mine = points[points["rows"] == kind]
            slope = mine["slope"].iloc[0]
            axes = sheet.axes(place * room + 0.5, 0.42, room - 0.58, _POINTS_HEIGHT)
            axes.plot(
                mine["log_ratio"].to_numpy(dtype=float), mine["minus_log_rest"].to_numpy(dtype=float), "o",
                color=style.PALETTE[0], markersize=2, zorder=2, gid="points", rasterized=len(mine) > 500,
            )  # fmt: skip
            if pd.notna(slope):
                axes.axline(
                    (0, 0), slope=float(slope), color=style.PALETTE[1], linewidth=1.2, zorder=3, gid="line"
                )
            said = f"slope {slope:.2f}" if pd.notna(slope) else "no slope"
            axes.set_title(f"{_POINTS_TITLES.get(str(kind), kind)}\n{said}", pad=3)
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0, top=float(mine["minus_log_rest"].max()) * 1.05 or None)
            axes.locator_params(axis="x", nbins=4)
            axes.set_xlabel("log μ")
            if place == 0:
                axes.set_ylabel("−log(1 − EMP(μ))")
    return sheet.figure


def phases(
    means: pd.DataFrame, *, title: str, note: str = "", labels: Mapping[str, str] | None = None
) -> Figure:
    """Draw the share of a fit's time that each phase takes, a bar for each data set and ranker."""
    if not len(means):
        return empty(title, "no times are known", note)
    found = list(dict.fromkeys(means["phase"]))
    bars = means[["dataset", "ranker", "total"]].drop_duplicates(["dataset", "ranker"])
    names = [f"{line.dataset}: {(labels or {}).get(line.ranker, line.ranker)}" for line in bars.itertuples()]
    with style.applied():
        looks = style.areas(found)
        handles = [
            Patch(facecolor=color, hatch=hatch, edgecolor="white", linewidth=0.3)
            for color, hatch in looks.values()
        ]
        left, right = room_for(names), 0.62
        width = max(style.COLUMN_WIDTH, left + 2.4 + right)
        height = _BAR * len(bars) + 0.06
        sheet = Sheet(width, height + 0.42, title, note, Legend(handles, found))
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


def sparsification(points: pd.DataFrame, *, title: str, note: str = "") -> Figure:
    """Draw the share of non-zeros left against ε, a line per data set; a hollow marker is the estimated ε."""
    if not len(points):
        return empty(title, "nothing has been measured", note)
    datasets = list(dict.fromkeys(points["dataset"]))
    with style.applied():
        looks, legend = _of_datasets(datasets)
        width = style.COLUMN_WIDTH + 1
        sheet = Sheet(width, _EPSILON_HEIGHT + 0.5, title, note, legend)
        axes = sheet.axes(0.5, 0.42, width - 0.64, _EPSILON_HEIGHT)
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


def _of_datasets(datasets: Sequence[str], **line: Any) -> tuple[dict[str, style.Look], Legend]:
    """Return how each data set looks, and the legend that says so; ``line`` changes the lines of the legend."""
    looks = style.looks(datasets)
    drawn = [
        {"color": look.color, "linestyle": look.dashes, "marker": look.marker} for look in looks.values()
    ]
    return looks, Legend([Line2D([], [], **{**each, **line}) for each in drawn], datasets)
