"""A study's report as one HTML file that needs no network.

Numbers come from :mod:`experiments.analysis`; the page's own script sorts, filters and draws what the file holds.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis.comparison import Comparison
from experiments.analysis.paper import measurements
from experiments.analysis.paper.claim import SCOPES, counted, lacking, told
from experiments.formatting import count
from experiments.report.page.provenance import provenance
from experiments.report.page.rendering import write_page
from experiments.report.page.sentences import gaps
from experiments.report.page.table import Column, Line, Table, number, text
from experiments.report.page.view import group_view
from experiments.report.place import places

__all__ = ["write"]

_SCRIPTS = ("base.js", "tables.js", "charts.js", "pairs.js", "cost.js", "features.js", "start.js")
#: Parts of a comparison: id → name in the navigation.
_PARTS = (
    ("ranks", "Ranks"),
    ("results", "Results"),
    ("curves", "Curves"),
    ("pairs", "Pairs"),
    ("cost", "Cost and quality"),
    ("similarity", "Similarity"),
    ("features", "Best features"),
    ("stability", "Stability"),
    ("missing", "Missing"),
    ("one", "One ranker"),
)
#: Figures that the page draws from its data.
_DRAWN_HERE = ("critical_distance", "posterior", "aufuji", "rf1")
#: Ending of a figure's file → its type, the preferred one first.
_IMAGES = {".svg": "image/svg+xml", ".png": "image/png"}
_OUTCOMES = {"holds": "good", "does not hold": "bad"}


def write(
    comparisons: Sequence[Comparison],
    *,
    study: str | None,
    frame: pd.DataFrame,
    configs: Sequence[Mapping[str, Any]],
    path: Path,
    arguments: Sequence[str] = (),
    absent: Mapping[str, str] | None = None,
    claims: pd.DataFrame | None = None,
    drawn: Sequence[Any] = (),
    unmeasured: Sequence[str] = (),
) -> Path:
    """Write the page of a study."""
    protocols = {config["protocol"]["name"]: config["protocol"] for config in configs}
    groups = [
        group_view(each, frame, protocols[each.group.protocol], number, named=study is not None)
        for number, each in enumerate(comparisons)
    ]
    measured = _measured(frame, configs)
    return write_page(
        path,
        "page.html",
        _SCRIPTS,
        data={view.id: view.data for view in groups},
        title=f"Study {study}" if study else "Feature rankers compared",
        intro=_intro(groups, absent or {}),
        places=places(comparisons),
        groups=groups,
        parts=_PARTS,
        claims=_claims(claims),
        claims_said=_claims_said(claims),
        measured=measured,
        measured_said=_measured_said(measured, frame, configs),
        unmeasured=unmeasured,
        figures=[_figure(each) for each in drawn if not _drawn_here(each)],
        other_figures=", ".join(_best_file(each).name for each in drawn if _drawn_here(each)),
        endings=_endings(drawn),
        **provenance(frame, configs, study=study, arguments=arguments),
    )


def _intro(groups: Sequence[Any], absent: Mapping[str, str]) -> str:
    return "" if groups or not absent else gaps(0, 0, list(absent))


def _drawn_here(drawn: Any) -> bool:
    return str(drawn.figure).startswith(_DRAWN_HERE)


def _best_file(drawn: Any) -> Path:
    """Choose the file of a figure that is sharp at every size, where there is one."""
    return min((Path(file) for file in drawn.files), key=lambda file: list(_IMAGES).index(file.suffix))


def _endings(drawn: Sequence[Any]) -> str:
    there = {Path(file).suffix for each in drawn for file in each.files}
    return " and ".join(ending.lstrip(".").upper() for ending in _IMAGES if ending in there)


def _figure(drawn: Any) -> dict[str, str]:
    file = _best_file(drawn)
    # As an image: names inside one SVG then cannot meet those of another.
    source = f"data:{_IMAGES[file.suffix]};base64," + base64.b64encode(file.read_bytes()).decode("ascii")
    return {"title": str(drawn.title).rstrip("."), "note": str(drawn.note or ""), "source": source}


def _claims(claims: pd.DataFrame | None) -> Table | None:
    if claims is None or not len(claims):
        return None
    columns = [
        Column("claim"),
        Column("it holds where"),
        *(Column(f"on {where}") for where in SCOPES),
        Column("what the rows say"),
        Column("in the paper"),
    ]
    lines = []
    for line, verdicts in zip(told(claims).to_dict("records"), claims.to_dict("records"), strict=True):
        cells = [
            text(line["claim"], kind="long"),
            text(line["reading"], kind="long"),
            *(
                text(line[where], kind=_OUTCOMES.get(verdicts[verdict], "open"))
                for where, (verdict, _) in SCOPES.items()
            ),
            text(line["numbers"], kind="long"),
            text(line["place"]),
        ]
        lines.append(Line(cells))
    return Table("claims", "What the paper says, held against these rows", columns, lines)


def _claims_said(claims: pd.DataFrame | None) -> str:
    if claims is None or not len(claims):
        return ""
    return " ".join(each for each in (counted(claims), lacking(claims)) if each)


def _measured(frame: pd.DataFrame, configs: Sequence[Mapping[str, Any]]) -> Table | None:
    protocols = {config["protocol"]["name"] for config in configs if config["protocol"].get("measure")}
    if not protocols:
        return None
    summed = measurements.summary(frame[frame["protocol"].isin(protocols)])
    columns = [Column("data set"), Column("ranker"), Column("repeat", True), Column("result")]
    lines = [
        Line(
            [
                text(line.dataset),
                text(line.ranker),
                number(line.repeat, f"{line.repeat}"),
                text(line.result, kind="long"),
            ]
        )
        for line in summed.itertuples()
    ]
    return Table("measured", "Results of all measurements", columns, lines, empty="Nothing is measured yet.")


def _measured_said(measured: Table | None, frame: pd.DataFrame, configs: Sequence[Mapping[str, Any]]) -> str:
    if measured is None:
        return ""
    mine = [config for config in configs if config["protocol"].get("measure")]
    asked = {config["dataset_key"] for config in mine}
    names = {config["protocol"]["name"] for config in mine}
    there = frame[(frame["status"] == "ok") & frame["protocol"].isin(names) & frame["dataset"].isin(asked)]
    several = " A line of the table stands for several of them." if len(measured.lines) < len(there) else ""
    return (
        f"{count(len(there), 'result')} on {there['dataset'].nunique()} of {count(len(asked), 'data set')} "
        f"(protocol {', '.join(sorted(names))}); all samples of a data set were used at once.{several}"
    )
