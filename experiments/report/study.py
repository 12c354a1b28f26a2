"""A whole study → tables, figures and the check of the paper's claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis.comparison import Comparison, compare
from experiments.analysis.groups import groups_of
from experiments.analysis.selection import select
from experiments.report import claims as paper
from experiments.report import posteriors, tables
from experiments.report.figures import Drawn, draw_group, draw_measurements
from experiments.report.measurements import missing_lines
from experiments.report.names import Names


@dataclass
class Findings:
    """What was made of a study."""

    comparisons: list[Comparison] = field(default_factory=list)
    claims: pd.DataFrame = field(default_factory=pd.DataFrame)
    drawn: list[Drawn] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    unmeasured: list[str] = field(default_factory=list)


def write(
    frame: pd.DataFrame,
    configs: Sequence[Mapping[str, Any]],
    results: Path,
    *,
    absent: Mapping[str, str] | None = None,
    say: Callable[[str], None] = lambda text: None,
    claims: pd.DataFrame | None = None,
    feature_names: Mapping[str, Sequence[str]] | None = None,
) -> Findings:
    """Write every table and figure of a study."""
    results, absent = Path(results), dict(absent or {})
    found, names = Findings(), Names(configs)
    for group in groups_of(configs, absent):
        selection = select(frame, group.expected)
        posterior = (
            None if group.varies_iterations else posteriors.of_group(selection, group, results, say=say)
        )
        comparison = compare(selection, group, posterior=posterior, feature_names=feature_names)
        found.comparisons.append(comparison)
        found.written += tables.write_group(frame, comparison, results)
        _keep(found, draw_group(comparison, results))
    of_protocol: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for config in configs:
        if config["protocol"].get("measure"):
            kind = config["protocol"]["measure"]["_target_"].rpartition(".")[2]
            of_protocol.setdefault((config["protocol"]["name"], kind), []).append(config)
    for (protocol, kind), asked in of_protocol.items():
        rows = frame[(frame["protocol"] == protocol) & (frame["kind"] == kind)]
        labels = {
            config["ranker_key"]: str(config["ranker"].get("display_name") or config["ranker_key"])
            for config in asked
        }
        missing = missing_lines(rows, asked, absent)
        found.unmeasured += missing
        begin = "_".join(names.of_measured(protocol))
        _keep(found, draw_measurements(rows, begin, kind, labels, missing, results))
    study = str(configs[0].get("study") or "run")
    if claims is None:
        found.claims = paper.checked([(frame, configs)], study, results, say=say)
        found.written += tables.write_claims(found.claims, study, results)
    else:
        found.claims = paper.of_study(claims, configs)
    return found


def _keep(found: Findings, drawn: Sequence[Drawn]) -> None:
    found.drawn += drawn
    found.written += [file for each in drawn for file in each.files]
