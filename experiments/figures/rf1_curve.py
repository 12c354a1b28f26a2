"""Figure: rF1 against the number of top-ranked features, one line per ranker.

Of many rankers there is a panel for every few of them, before all others in grey.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from experiments.figures import style
from experiments.figures.layout import Legend, Sheet, empty, shortened, text_width, wrapped

_AXES_HEIGHT = 2.2
_TITLE_HEIGHT = 0.26
_X_LABEL_HEIGHT = 0.42
_LEGEND_ROW = 0.123
_NOTE_ROW = 0.105
_LEFT, _RIGHT = 0.56, 0.14
#: Width of the legend's labels, in two columns and in one, inches.
_LABEL_WIDTH = {2: style.COLUMN_WIDTH / 2 - 0.4, 1: style.COLUMN_WIDTH - 0.6}
_MOST_TICKS = 8
#: Width of a digit of the ticks, inches.
_DIGIT = 0.062
_PANEL_HEIGHT = 1.35
_PANEL_TITLE, _PANEL_LEFT, _PANEL_RIGHT = 0.24, 0.52, 0.14
_MOST_COLUMNS = 2
_OTHERS = "0.82"


def draw(
    axes: Axes,
    curves: pd.DataFrame,
    *,
    labels: Mapping[str, str] | None = None,
    looks: Mapping[str, style.Look] | None = None,
    score: str = "F1",
) -> None:
    """Draw the curves of one data set."""
    labels = labels or {}
    looks = looks or style.ranker_looks(list(curves["ranker"]))
    axes.axhline(1.0, color="0.45", linewidth=0.8, zorder=1, gid="all features")
    groups = list(curves.groupby("ranker", sort=False))
    n_bands = sum(bool(points["rf1_lower"].notna().any()) for _, points in groups)
    for place, (ranker, points) in enumerate(groups):
        look = looks[ranker]
        x = points["n_features"].to_numpy(dtype=float)
        banded = points["rf1_lower"].notna().to_numpy()
        if banded.any():
            axes.fill_between(
                x,
                points["rf1_lower"],
                points["rf1_upper"],
                where=banded,
                color=look.color,
                alpha=min(0.15, 0.6 / n_bands),
                linewidth=0,
                zorder=2,
                gid=f"band {ranker}",
            )
        # Markers at staggered points, a handful per line: they name the line where colours do not.
        every = max(1, math.ceil(len(x) / 6))
        axes.plot(
            x,
            points["rf1_mean"],
            color=look.color,
            linestyle=look.dashes,
            marker=look.marker,
            markevery=(place % every, every),
            label=labels.get(ranker, ranker),
            gid=f"curve {ranker}",
            zorder=3,
        )
    axes.set_ylabel(f"r{score} (1 = all features)")
    axes.set_xlabel("number of top-ranked features")
    _limit_x(axes, curves["n_features"].to_numpy(dtype=float))
    limit_y(axes, curves, score)


def figure(
    curves: pd.DataFrame,
    *,
    title: str,
    note: str = "",
    labels: Mapping[str, str] | None = None,
    looks: Mapping[str, style.Look] | None = None,
    score: str = "F1",
) -> Figure:
    """Make the whole figure, one column wide: axes, below them the legend, below that a note."""
    labels = {ranker: (labels or {}).get(ranker, ranker) for ranker in curves["ranker"].unique()}
    n_columns = 2 if all(text_width(label, 7) <= _LABEL_WIDTH[2] for label in labels.values()) else 1
    labels = {key: "\n".join(wrapped(label, _LABEL_WIDTH[n_columns], 7)) for key, label in labels.items()}
    n_rows = sum(label.count("\n") + 1 for label in labels.values())
    if n_columns == 2:
        n_rows = math.ceil(len(labels) / 2)
    title_lines = wrapped(title, style.COLUMN_WIDTH - _LEFT + _RIGHT - 0.2, 8)  # centred over the axes
    note_lines = wrapped(note, style.COLUMN_WIDTH - 0.15)
    heights = {
        "title": _TITLE_HEIGHT + 0.14 * max(len(title_lines) - 1, 0),
        "axes": _AXES_HEIGHT,
        "x label": _X_LABEL_HEIGHT,
        "legend": _LEGEND_ROW * n_rows + 0.06,
        "note": _NOTE_ROW * len(note_lines) + 0.06,
    }
    total = sum(heights.values())
    width = style.COLUMN_WIDTH
    with style.applied():
        made = Figure(figsize=(width, total))
        bottom = heights["note"] + heights["legend"] + heights["x label"]
        axes = made.add_axes(
            (_LEFT / width, bottom / total, (width - _LEFT - _RIGHT) / width, _AXES_HEIGHT / total)
        )
        draw(axes, curves, labels=labels, looks=looks, score=score)
        axes.set_title("\n".join(title_lines))
        handles = [line for line in axes.lines if (line.get_gid() or "").startswith("curve ")]
        if handles:
            style.legend(
                made,
                handles,
                [str(line.get_label()) for line in handles],
                loc="upper center",
                bbox_to_anchor=(0.5, (heights["note"] + heights["legend"]) / total),
                ncols=min(n_columns, len(handles)),
                borderaxespad=0,
                borderpad=0,
                handlelength=2.6,
                columnspacing=1.2,
                labelspacing=0.25,
            )
        made.text(
            0.03, 0.05 / total, "\n".join(note_lines), fontsize=6, color="0.3", va="bottom", linespacing=1.2
        )
    return made


def _limit_x(axes: Axes, sizes: np.ndarray) -> None:
    largest = sizes.max() if sizes.size else 1.0
    axes.set_xscale("log")
    axes.set_xlim(0.93, max(largest, 1.2) * 1.07)
    label_width = _DIGIT * (len(f"{largest:.0f}") + 1)
    decade = (style.COLUMN_WIDTH - _LEFT - _RIGHT) / math.log10(max(largest, 1.2) * 1.15)
    distance = 10 ** (label_width / decade)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        n_decades = math.floor(math.log10(largest)) + 1
        ticks = [step * 10**power for power in range(n_decades) for step in steps]
        # The number of all features is always there; a round number too near to it makes way.
        ticks = [tick for tick in ticks if tick * distance < largest] + [largest]
        if len(ticks) <= _MOST_TICKS:
            break
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())


def limit_y(axes: Axes, curves: pd.DataFrame, score: str = "F1") -> None:
    """Set the limits of y so that every mean is in sight, and of the bands what does not flatten the lines."""
    means = curves["rf1_mean"].dropna().to_numpy()
    if means.size == 0:
        axes.set_ylim(0, 1.1)
        axes.text(0.5, 0.5, f"r{score} has no value in any fold", transform=axes.transAxes, ha="center")
        return
    lower = np.nanmin([*curves["rf1_lower"], means.min()])
    upper = np.nanmax([*curves["rf1_upper"], means.max(), 1.0])
    # Two folds make bands of any width; the lines must stay readable.
    reach = max(means.max() - means.min(), 0.05)
    least = 0.0 if means.min() >= 0 else -math.inf
    bottom = max(least, lower, means.min() - reach)
    top = min(upper, max(means.max(), 1.0) + reach)
    margin = 0.04 * max(top - bottom, 0.05)
    axes.set_ylim(max(bottom - margin, least), top + margin)


def in_panels(
    curves: pd.DataFrame,
    *,
    title: str,
    note: str = "",
    panels: Mapping[str, str],
    labels: Mapping[str, str] | None = None,
    banded: Collection[str] = (),
    same: Sequence[Sequence[str]] = (),
    score: str = "F1",
) -> Figure:
    """Draw small multiples with the same axes."""
    if not len(curves):
        return empty(title, "no ranker is complete on this data set", note)
    labels = labels or {}
    rankers = list(dict.fromkeys(curves["ranker"]))
    looks = style.ranker_looks(rankers)
    names = list(dict.fromkeys(panels[ranker] for ranker in rankers))
    lines = {name: _lines(name, rankers, panels, same) for name in names}
    bare = curves.copy()
    kept = {each[0] for mine in lines.values() for each in mine if set(each) & set(banded)}
    bare.loc[~bare["ranker"].isin(kept), ["rf1_lower", "rf1_upper"]] = float("nan")
    with style.applied():
        legends = {
            name: Legend(
                [_handle(looks[each[0]]) for each in mine], [_named(each, labels, banded) for each in mine]
            )
            for name, mine in lines.items()
        }
        n_columns = min(_MOST_COLUMNS, len(names))
        width = style.PAGE_WIDTH if n_columns > 1 else style.COLUMN_WIDTH
        room = width / n_columns
        rows = [names[start : start + n_columns] for start in range(0, len(names), n_columns)]
        heights = [_row_height(legends[name].height(room - 0.1) for name in row) for row in rows]
        sheet = Sheet(width, sum(heights) + 0.05, title, note)
        for number, row in enumerate(rows):
            bottom = sum(heights[number:]) - _PANEL_TITLE - _PANEL_HEIGHT
            for column, name in enumerate(row):
                axes = sheet.axes(
                    column * room + _PANEL_LEFT, bottom, room - _PANEL_LEFT - _PANEL_RIGHT, _PANEL_HEIGHT
                )
                shown = [each[0] for each in lines[name]]
                _draw_others(axes, curves[curves["ranker"].map(panels) != name])
                draw(axes, bare[bare["ranker"].isin(shown)], looks=looks, labels=labels, score=score)
                axes.set_title(shortened(name, room - 0.7, 8), pad=3)
                if column:
                    axes.set_ylabel("")
                _add_legend(axes, legends[name], room - 0.1)
        for axes in sheet.figure.axes:
            limit_y(axes, bare, score)
    return sheet.figure


def _row_height(legends: Iterable[float]) -> float:
    return _PANEL_TITLE + _PANEL_HEIGHT + _X_LABEL_HEIGHT + max(legends)


def _lines(
    panel: str, rankers: Sequence[str], panels: Mapping[str, str], same: Sequence[Sequence[str]]
) -> list[tuple[str, ...]]:
    """Return what a panel draws: for each line its rankers, which are the same when they are several."""
    group_of = {ranker: tuple(group) for group in same for ranker in group}
    inside = [ranker for ranker in rankers if panels[ranker] == panel]
    lines = [tuple(each for each in inside if each in group_of.get(ranker, (ranker,))) for ranker in inside]
    return list(dict.fromkeys(lines))


def _named(line: Sequence[str], labels: Mapping[str, str], banded: Collection[str]) -> str:
    said = " = ".join(labels.get(ranker, ranker) for ranker in line)
    return f"{said} (band)" if set(line) & set(banded) else said


def _handle(look: style.Look) -> Line2D:
    return Line2D([], [], color=look.color, linestyle=look.dashes, marker=look.marker)


def _draw_others(axes: Axes, curves: pd.DataFrame) -> None:
    for ranker, points in curves.groupby("ranker", sort=False):
        axes.plot(
            points["n_features"], points["rf1_mean"], color=_OTHERS, linewidth=0.6, zorder=1.5,
            gid=f"other {ranker}",
        )  # fmt: skip


def _add_legend(axes: Axes, legend: Legend, width: float) -> None:
    style.legend(
        axes,
        legend.handles,
        legend.fitting(width),
        loc="upper center",
        bbox_to_anchor=(0.5, -(_X_LABEL_HEIGHT - 0.02) / _PANEL_HEIGHT),
        ncols=legend.columns(width),
        borderaxespad=0,
        borderpad=0,
        handlelength=2.4,
        columnspacing=1.2,
        labelspacing=0.25,
    )
