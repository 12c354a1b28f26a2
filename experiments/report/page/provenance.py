"""Where the page's numbers come from, as the page tells it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.analysis import provenance as found
from experiments.analysis.selection import PAIR
from experiments.programs import program
from experiments.report.page.table import Cell, Column, Line, Table, number, text


def provenance(
    frame: pd.DataFrame,
    configs: Sequence[Mapping[str, Any]],
    *,
    study: str | None,
    arguments: Sequence[str],
) -> dict[str, Any]:
    """Make what the page's last part shows."""
    asked = [(c["dataset_key"], c["protocol"]["name"], c["ranker_key"]) for c in configs]
    order = pd.DataFrame(asked, columns=PAIR).drop_duplicates()
    rows = order.merge(frame, on=PAIR, how="inner")
    machines, versions, keys = found.machines(rows), found.versions(rows), found.keys(rows)
    own = versions.loc[versions["package"] == "reliefe-bench", "version"]
    return {
        "commands": _commands(study, arguments),
        "machines": _counted("machines", "Machines", machines, ["machine"]),
        "settings": _settings(found.settings(rows)),
        "versions": _counted("versions", "Versions that decide numbers", versions, ["package", "version"]),
        "keys": _keys(keys),
        "n_cells": int(keys["cells"].sum()),
        "mixed": _mixed(machines, versions),
        "version": ", ".join(own),
    }


def _commands(study: str | None, arguments: Sequence[str]) -> list[str]:
    kept = [each for each in arguments if not each.startswith("paths.")]
    kept = kept or ([f"study={study}"] if study else [])
    return [" ".join([program(action), *map(shlex.quote, kept)]) for action in ("run", "report")]


def _mixed(machines: pd.DataFrame, versions: pd.DataFrame) -> str:
    said = []
    if len(machines) > 1:
        said.append(
            f"These rows come from {len(machines)} kinds of machines: their times may not be comparable."
        )
    several = versions.loc[versions["package"].duplicated(keep=False), "package"].unique()
    if len(several):
        said.append(f"Several versions were at work of: {', '.join(several)}.")
    return " ".join(said)


def _counted(name: str, caption: str, frame: pd.DataFrame, columns: list[str]) -> Table:
    lines = [
        Line([*(text(line[column]) for column in columns), number(line["rows"], f"{line['rows']:,}")])
        for line in frame.to_dict("records")
    ]
    return Table(name, caption, [*(Column(column) for column in columns), Column("rows", True)], lines)


def _settings(frame: pd.DataFrame) -> Table:
    columns = [
        Column("seed", True),
        Column("threads of a fit", True),
        Column("time limit", True),
        Column("memory limit", True),
        Column("rows", True),
    ]
    lines = [
        Line(
            [
                number(line.seed, f"{line.seed:.0f}"),
                number(line.n_threads, f"{line.n_threads:.0f}"),
                _limit(line.time_limit_seconds, "s"),
                _limit(line.memory_limit_mib, "MiB"),
                number(line.rows, f"{line.rows:,}"),
            ]
        )
        for line in frame.itertuples()
    ]
    return Table("settings", "Seeds, threads and limits", columns, lines)


def _limit(value: float, unit: str) -> Cell:
    return number(value, f"{value:g} {unit}") if not math.isnan(value) else text("none")


def _keys(frame: pd.DataFrame) -> Table:
    columns = [
        Column("data set"),
        Column("ranker"),
        Column("cells", True),
        Column("digest", tip="first digits of the SHA-256 of the cells' keys, sorted, one a line"),
        Column("keys, in the order of repeats"),
    ]
    lines = [
        Line(
            [
                text(line.dataset),
                text(line.ranker),
                number(line.cells, f"{line.cells}"),
                text(line.digest),
                text(" ".join(line.keys), kind="keys"),
            ]
        )
        for line in frame.itertuples()
    ]
    return Table("keys", "Cells behind this page", columns, lines)
