"""Measurements → lines on the console, one CSV table per protocol, and the figure of what rankers find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis import measurements
from experiments.report.console import Console
from experiments.report.figures import draw_measurements
from experiments.report.names import Names
from experiments.report.tables import write_csv
from experiments.schema import BAD_STATUSES


def show(
    frame: pd.DataFrame,
    configs: Sequence[Mapping[str, Any]],
    results: Path,
    console: Console,
    names: Names,
    *,
    draw: bool = True,
) -> list[Path]:
    """Show what was measured, and write it to ``tables/<study>_<protocol>_<kind>.csv``."""
    written = []
    protocols = dict.fromkeys(config["protocol"]["name"] for config in configs)
    for protocol in protocols:
        asked = [config for config in configs if config["protocol"]["name"] == protocol]
        rows = frame[frame["protocol"] == protocol]
        summed = measurements.summary(rows)
        missing = missing_lines(rows, asked)
        console.measurements(protocol, summed, missing)
        for kind in summed["kind"].unique():
            table = measurements.points(rows, kind) if kind in measurements.KINDS else summed
            begin = names.of_measured(protocol)
            written.append(write_csv(table, results, *begin, *([] if protocol == kind else [kind])))
            if kind == "recovery" and draw:
                labels = {each["ranker_key"]: _label(each) for each in asked}
                drawn = draw_measurements(rows, "_".join(begin), kind, labels, missing, results)
                written += [file for each in drawn for file in each.files]
    return written


def _label(config: Mapping[str, Any]) -> str:
    return str(config["ranker"].get("display_name") or config["ranker_key"])


def missing_lines(
    rows: pd.DataFrame, asked: Sequence[Mapping[str, Any]], absent: Mapping[str, str] | None = None
) -> list[str]:
    """Say what has no number, and why."""
    of_pair: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows[["dataset", "ranker", "status", "error"]].to_dict("records"):
        of_pair.setdefault((row["dataset"], row["ranker"]), []).append(row)
    gone = [
        name for name in dict.fromkeys(config["dataset_key"] for config in asked) if name in (absent or {})
    ]
    lines = [f"data sets not available: {', '.join(gone)}"] if gone else []
    short: dict[str, dict[str, list[str]]] = {}
    for config in asked:
        if config["dataset_key"] in gone:
            continue
        mine = of_pair.get((config["dataset_key"], config["ranker_key"]), [])
        what = f"{config['dataset_key']} × {_label(config)}"
        bad = [row for row in mine if row["status"] != "ok"]
        n_asked = config["protocol"]["n_repeats"]
        for status, said in BAD_STATUSES.items():
            of_kind = [row for row in bad if row["status"] == status]
            if of_kind:
                error = str(of_kind[0]["error"]).strip().partition("\n")[0]
                lines.append(f"{what}: {len(of_kind)} of {n_asked} {said}: {error}")
        if len(mine) < n_asked:
            label = _label(config)
            told = f"{len(mine)} of {n_asked} are there"
            short.setdefault(told, {}).setdefault(label, []).append(config["dataset_key"])
    for told, of_label in short.items():
        alike: dict[tuple[str, ...], list[str]] = {}
        for label, datasets in of_label.items():
            alike.setdefault(tuple(datasets), []).append(label)
        lines += [f"{', '.join(each)} × {', '.join(labels)}: {told}" for each, labels in alike.items()]
    return lines
