"""Rows → what a person reads: a table on the console, a CSV table, a figure."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from experiments.analysis.best_features import best_features
from experiments.analysis.comparison import compare
from experiments.analysis.curves import rf1_curve
from experiments.analysis.groups import Group, groups_of
from experiments.analysis.same_rankers import same_rankers
from experiments.analysis.selection import expected_of, failures, select
from experiments.analysis.summary import complete, incomplete, publishable, summary
from experiments.report import curves as drawn_curves
from experiments.report import measurements, status, tables
from experiments.report.console import Console
from experiments.report.figures import Drawn
from experiments.report.names import Names
from experiments.report.sentences import places
from experiments.tasks import TASKS

__all__ = ["show", "status"]


def show(
    frame: pd.DataFrame,
    configs: Sequence[Mapping[str, Any]],
    paths: Mapping[str, Any],
    out: TextIO | None = None,
    *,
    absent: Mapping[str, str] | None = None,
    whole: bool = False,
    arguments: Sequence[str] = (),
    claims: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
    feature_names: Mapping[str, Sequence[str]] | None = None,
) -> list[Path]:
    """Show a study: print tables, then write CSV files and figures."""
    absent, asked, results = absent or {}, configs, Path(paths["results"])
    names = Names(asked)
    configs = [config for config in configs if config["dataset_key"] not in absent]
    measured = [config for config in configs if config["protocol"].get("measure")]
    expected = expected_of(config for config in configs if not config["protocol"].get("measure"))
    selection = select(frame, expected)
    summed = summary(selection)
    out = sys.stdout if out is None else out
    console = Console(out)
    groups = list(summed.groupby(["dataset", "protocol"], sort=False))
    parts, same = groups_of(configs), {}
    if any(part.also for part in parts):
        console.place(places([compare(frame, part) for part in parts]))
    for note in notes:
        print(note, file=out, flush=True)  # where nobody reads any more, this ends the program
    rows = selection.complete
    for (dataset, protocol), part in groups:
        mine = rows[(rows["dataset"] == dataset) & (rows["protocol"] == protocol)]
        same[dataset, protocol] = same_rankers(mine).everywhere
        group = _group(parts, dataset, protocol)
        told = drawn_curves.same_of(part, same[dataset, protocol], group)
        task = TASKS["multiclass"] if group is None else group.kind
        console.study(part, complete(part), incomplete(part), same=told, task=task)
    console.failures(failures(selection), expected)
    console.absent(absent)
    named = any("study" in each for each in asked)  # whose report has a table of all data sets
    chosen = None if named and len(expected) > 1 else best_features(selection, names=feature_names)
    if len(expected) == 1 and chosen is not None:
        console.best_features(chosen, tables.best_features_notes(chosen))
    written: list[Path] = []
    drawn: list[Drawn] = []
    try:
        if measured:
            draw = not (whole and named)  # else the whole study is drawn below
            written += measurements.show(frame, measured, results, console, names, draw=draw)
        curves = rf1_curve(selection)
        for (dataset, protocol), part in groups:
            if part["complete"].any():
                mine = curves[(curves["dataset"] == dataset) & (curves["protocol"] == protocol)]
                stem = names.of_pair(dataset, protocol)
                group = _group(parts, dataset, protocol)
                files, figure = _write(part, mine, group, same[dataset, protocol], results, stem)
                written += files
                drawn.append(figure)
                if chosen is not None and not named:
                    mine = chosen[(chosen["dataset"] == dataset) & (chosen["protocol"] == protocol)]
                    if len(mine):
                        mine = mine.drop(columns="protocol")
                        written.append(tables.write_csv(mine, results, stem, "best_features"))
        if whole and (named or _has_rows(frame, configs)):
            known = feature_names or {}
            written += _whole(frame, asked, results, console, absent, arguments, claims, known, drawn)
    finally:
        written = list(dict.fromkeys(written))
        console.written(written)
    return written


def _has_rows(frame: pd.DataFrame, configs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there is any row of what was asked for: without one, what has no name gets no page."""
    asked = {(each["dataset_key"], each["protocol"]["name"], each["ranker_key"]) for each in configs}
    return not asked.isdisjoint(zip(frame["dataset"], frame["protocol"], frame["ranker"], strict=True))


def _whole(
    frame: pd.DataFrame,
    configs: Sequence[Mapping[str, Any]],
    results: Path,
    console: Console,
    absent: Mapping[str, str],
    arguments: Sequence[str],
    claims: pd.DataFrame | None,
    feature_names: Mapping[str, Sequence[str]],
    drawn: Sequence[Drawn],
) -> list[Path]:
    from experiments.report import page, study

    name = configs[0].get("study")
    if name is None:
        groups = groups_of(configs, absent)
        compared = [compare(frame, group, feature_names=feature_names) for group in groups]
        found = study.Findings(compared)
    else:
        found = study.write(
            frame,
            configs,
            results,
            absent=absent,
            say=console.paragraph,
            claims=claims,
            feature_names=feature_names,
        )
        console.claims(found.claims)
    path = results / "report" / f"{Names(configs).page}.html"
    page.write(
        found.comparisons,
        study=name,
        frame=frame,
        configs=configs,
        path=path,
        arguments=arguments,
        absent=absent,
        claims=found.claims,
        drawn=[*drawn, *found.drawn],
        unmeasured=found.unmeasured,
    )
    return [*found.written, path]


def _group(groups: Sequence[Group], dataset: str, protocol: str) -> Group | None:
    return next((each for each in groups if each.protocol == protocol and dataset in each.datasets), None)


def _write(
    part: pd.DataFrame,
    curves: pd.DataFrame,
    group: Group | None,
    same: Sequence[Sequence[str]],
    results: Path,
    stem: str,
) -> tuple[list[Path], Drawn]:
    """Write the table and the figure of one data set and protocol."""
    from experiments.figures import style

    shown = publishable(part)
    of = {ranker: mine[0] for mine in same for ranker in mine[1:]}
    same_as = [of.get(ranker, "") for ranker in shown["ranker"]]
    shown.insert(shown.columns.get_loc("ranker") + 1, "same_as", same_as)
    task = TASKS["multiclass"] if group is None else group.kind
    shown = task.columns(shown)
    written = [tables.write_csv(shown, results, stem)]
    figure, stem = drawn_curves.figure(part, curves, group, same), f"{stem}_{task.column('rf1')}"
    files = style.save(figure, results / "figures", stem)
    title = f"{part['dataset'].iloc[0]}: r{task.score} of the best features"
    name = "" if group is None else group.name
    return [*written, *files], Drawn("rf1", name, stem, title, "", tuple(files))
