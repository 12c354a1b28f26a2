"""Figure: rF1 curves of many rankers of one data set, a panel for every few of them before all others in grey."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.figures import rf1_curve, style
from experiments.figures.layout import Legend, Sheet, empty, shortened

_AXES_HEIGHT = 1.35
_TITLE_HEIGHT, _X_LABEL_HEIGHT, _LEFT, _RIGHT = 0.24, 0.42, 0.52, 0.14
_MOST_COLUMNS = 2
_OTHERS = "0.82"


def figure(
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
    """Draw small multiples with the same axes.

    Parameters
    ----------
    curves : DataFrame
        From :func:`experiments.analysis.curves.rf1_curve`, one data set and protocol.
    title : str
        Above the panels.
    note : str, default=""
        Small print.
    panels : mapping of str to str
        Ranker → name of its panel. Panels stand in the order of ``curves``.
    labels : mapping of str to str, optional
        Ranker → name to show in its panel's legend.
    banded : collection of str, default=()
        Rankers whose bands are drawn; their names in the legend say so.
    same : sequence of sequence of str, default=()
        Rankers that are the same on this data set. Those of one panel are one line, under all their names.
    score : str, default="F1"
        As for :func:`experiments.figures.rf1_curve.draw`.

    Returns
    -------
    Figure
        A ranker has the colour that it has everywhere (:func:`experiments.figures.style.ranker_looks`). The curves
        of the other panels are thin grey lines without a name.
    """
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
            bottom = sum(heights[number:]) - _TITLE_HEIGHT - _AXES_HEIGHT
            for column, name in enumerate(row):
                axes = sheet.axes(column * room + _LEFT, bottom, room - _LEFT - _RIGHT, _AXES_HEIGHT)
                shown = [each[0] for each in lines[name]]
                _draw_others(axes, curves[curves["ranker"].map(panels) != name])
                rf1_curve.draw(
                    axes, bare[bare["ranker"].isin(shown)], looks=looks, labels=labels, score=score
                )
                axes.set_title(shortened(name, room - 0.7, 8), pad=3)
                if column:
                    axes.set_ylabel("")
                _add_legend(axes, legends[name], room - 0.1)
        for axes in sheet.figure.axes:
            rf1_curve.limit_y(axes, bare, score)
    return sheet.figure


def _row_height(legends: Iterable[float]) -> float:
    return _TITLE_HEIGHT + _AXES_HEIGHT + _X_LABEL_HEIGHT + max(legends)


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
        bbox_to_anchor=(0.5, -(_X_LABEL_HEIGHT - 0.02) / _AXES_HEIGHT),
        ncols=legend.columns(width),
        borderaxespad=0,
        borderpad=0,
        handlelength=2.4,
        columnspacing=1.2,
        labelspacing=0.25,
    )
