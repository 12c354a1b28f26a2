"""rF1 curves of one data set and protocol: which figure, which panels, which bands, and what is small print."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.analysis.groups import Group
from experiments.analysis.same_rankers import same_in_words
from experiments.analysis.summary import complete, incomplete
from experiments.formatting import count
from experiments.tasks import TASKS

#: More rankers than this are drawn in panels: their bands would hide one another.
MOST_BANDS = 5
#: More lines than this cannot be distinguished in a panel.
_MOST_LINES = 6


def figure(
    part: pd.DataFrame, curves: pd.DataFrame, group: Group | None, same: Sequence[Sequence[str]]
) -> Any:
    """Draw the curves of one data set and protocol."""
    # Drawing takes a second to import; whoever only reads the table has it by now.
    from experiments.figures import rf1_curve

    title = f"{part['dataset'].iloc[0]} ({extent(part)})"
    labels = dict(zip(part["ranker"], part["display_name"], strict=True))
    if group is None or curves["ranker"].nunique() <= MOST_BANDS:
        score = TASKS["multiclass"].score if group is None else group.kind.score
        small_print = note(part, same=same, group=group)
        return rf1_curve.figure(curves, title=title, note=small_print, labels=labels, score=score)
    panels, named = panels_of(group, list(dict.fromkeys(curves["ranker"])))
    return rf1_curve.in_panels(
        curves,
        title=title,
        note=note(part, same=same, group=group, panels=True),
        panels=panels,
        labels=labels | named,
        banded=best_of_panels(part, panels),
        same=same,
        score=group.kind.score,
    )


def panels_of(group: Group, rankers: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Divide rankers into panels."""
    of = group.families.set_index("ranker").loc[list(rankers)]
    if (of["variant"] != "").all():
        return {each: f"target distance: {of.at[each, 'variant']}" for each in rankers}, of["panel"].to_dict()
    if group.varies_iterations:
        return of["label"].to_dict(), {each: _iterations(of.at[each, "n_iterations"]) for each in rankers}
    panels = {}
    for branch in dict.fromkeys(of["branch"]):
        mine = [each for each in rankers if of.at[each, "branch"] == branch]
        n_panels = -(-len(mine) // _MOST_LINES)
        for place, ranker in enumerate(mine):
            number = place * n_panels // len(mine) + 1
            panels[ranker] = branch if n_panels == 1 else f"{branch} ({number} of {n_panels})"
    return panels, {}


def best_of_panels(part: pd.DataFrame, panels: Mapping[str, str]) -> list[str]:
    """Choose the ranker of every panel with the highest AUrF1."""
    areas = part.set_index("ranker")["aurf1_micro_mean"].reindex(list(panels)).dropna()
    best: dict[str, str] = {}
    for ranker, area in areas.items():
        leader = best.get(panels[str(ranker)])
        if leader is None or area > areas[leader]:
            best[panels[str(ranker)]] = str(ranker)
    return list(best.values())


def extent(part: pd.DataFrame) -> str:
    """Say protocol, folds and repeats of a part of a summary."""
    first = part.iloc[0]
    return f"{first['protocol']}: {count(first['n_splits'], 'fold')} × {count(first['n_repeats'], 'repeat')}"


def note(
    part: pd.DataFrame,
    *,
    same: Sequence[Sequence[str]] = (),
    group: Group | None = None,
    panels: bool = False,
) -> str:
    """Write the small print of a figure of curves."""
    task = TASKS["multiclass"] if group is None else group.kind
    bands = "95 % confidence of the mean (corrected resampled t)"
    lines = [task.said("rF1: micro F1 / micro F1 of all features.")]
    lines[0] += (
        f" Band: {bands}, of the panel's ranker with the highest AUr{task.score}. Grey: the rankers of the other "
        "panels."
        if panels
        else f" Bands: {bands}."
    )
    if same:
        lines.append(f"The same curve in every fold: {same_of(part, same, group)}.")
    chosen = complete(part)
    undefined = int(chosen["rf1_undefined_folds"].max())
    if undefined:
        n_folds = chosen["folds_expected"].iloc[0]
        lines.append(f"Left out: {undefined} of {count(n_folds, 'fold')}, where {task.undefined}.")
    for line in incomplete(part).itertuples():
        lines.append(f"Not shown: {line.display_name} ({line.reason}).")
    return "\n".join(lines)


def same_of(part: pd.DataFrame, same: Sequence[Sequence[str]], group: Group | None = None) -> str:
    """Name the rankers that are the same on a data set (:mod:`experiments.analysis.same_rankers`)."""
    families = None if group is None else group.families.set_index("ranker")
    return same_in_words(
        same,
        dict(zip(part["ranker"], part["display_name"], strict=True)),
        panels={} if families is None else families["panel"].to_dict(),
        variants={} if families is None else families["variant"].to_dict(),
    )


def _iterations(number: float) -> str:
    return "every sample once" if math.isnan(number) else count(int(number), "iteration")
