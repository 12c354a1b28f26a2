"""All data sets side by side with the paper's tables: what is here, what it measures, and why it differs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.datasets.caution import cautions
from experiments.datasets.loading import SHARE_TOLERANCE, load, nonzero_share
from experiments.errors import DatasetError, MissingFileError
from experiments.programs import program
from experiments.tasks import REGRESSION

QUANTITIES = ("rows", "features", "classes", "nonzero_share")
#: Where others have a number of classes.
_NUMERIC = "numeric"
_TITLES = ("instances", "features", "classes", "non-zero")


@dataclass(frozen=True)
class Finding:
    """One data set as it was found."""

    config: Mapping[str, Any]
    state: str
    measured: dict[str, float]
    error: str = ""
    cautions: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Of the data set."""
        return self.config["name"]

    @property
    def paper(self) -> dict[str, float]:
        """The paper's values; empty when the data set is not in its tables."""
        return {key: value for key, value in (self.config.get("paper") or {}).items() if key in QUANTITIES}

    @property
    def differing(self) -> list[str]:
        """The quantities that are not the paper's."""
        if not self.measured:
            return []
        return [key for key, value in self.paper.items() if not _same(key, value, self.measured[key])]

    @property
    def reason(self) -> str:
        """Why they differ, as the YAML file states it; empty when it does not."""
        return self.config.get("differs") or (self.config.get("paper") or {}).get("note") or ""

    @property
    def fine(self) -> bool:
        """Whether nothing is wrong: absent data is not, a difference without a reason is."""
        return self.state != "wrong" and not (self.differing and not self.reason)


def find_out(config: Mapping[str, Any], paths: Mapping[str, Any], *, download: bool = False) -> Finding:
    """Load a data set and measure it."""
    try:
        data = load(config, paths["local_data"], cache=paths.get("cache"), download=download)
    except MissingFileError as error:
        return Finding(config, "missing", {}, str(error))
    except DatasetError as error:
        return Finding(config, "wrong", {}, str(error))
    values = (*data.X.shape, len(data.class_names), nonzero_share(data.X))
    measured = dict(zip(QUANTITIES, values, strict=True))
    if data.task == REGRESSION:
        del measured["classes"]
    warned = cautions(data.X, data.y, data.feature_names, grouped=data.assignment is not None)
    return Finding(config, data.origin, measured, cautions=warned)


def as_text(findings: Sequence[Finding]) -> str:
    """Write findings as a table for the screen, and under it the reasons and errors."""
    head = ["data set", "state", *_TITLES, *(f"{title} (paper)" for title in _TITLES), ""]
    rows = [head]
    for each in findings:
        stated = _stated(each)
        rows.append(
            [
                each.name,
                each.state,
                *(_shown(key, stated.get(key), sure=bool(each.measured)) for key in QUANTITIES),
                *(_shown(key, each.paper.get(key)) for key in QUANTITIES),
                _verdict(each),
            ]
        )
    widths = [max(len(row[place]) for row in rows) for place in range(len(head))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if place in (0, 1, len(head) - 1) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines += ["", "Sources, reasons and errors ([…] is what a YAML file states and nobody measured here):"]
    for each in findings:
        lines += _noted(each.name, f"from {each.config.get('url') or 'nowhere stated'}")
        if each.differing:
            lines += _noted(
                "", f"differs in {', '.join(each.differing)}: {each.reason or 'NO REASON STATED'}"
            )
        for line in each.cautions:
            lines += _noted("", f"caution: {line}")
        if each.error:
            # Of what is missing: where it was looked for. What to do is the same for all.
            error = each.error.removeprefix(f"data set {each.name}: ")
            lines += _noted("", error.splitlines()[0] if each.state == "missing" else error)
    if any(each.state == "missing" for each in findings):
        lines += [
            "",
            "Missing files go where they were looked for, or to another folder named by paths.local_data=FOLDER;",
        ]
        lines += [f"{program('datasets')} fetch NAME downloads what can be had."]
    return "\n".join(lines)


def as_markdown(findings: Sequence[Finding]) -> str:
    """Write findings as a page of documentation."""
    groups = {
        "The paper's multi-class data sets": [
            each for each in findings if each.paper and each.config["task"] == "multiclass"
        ],
        "The paper's multi-label data sets": [
            each for each in findings if each.paper and each.config["task"] == "multilabel"
        ],
        "Not in the paper's tables": [each for each in findings if not each.paper],
    }
    page = [
        "# Data sets",
        "",
        "Written by `python run.py datasets check --markdown`; not to be edited by hand. Sizes are as",
        "loaded, after coding (nominal columns as 0/1 features, constant ones left out where the file says so).",
        "A size in brackets is what the YAML file states: the data set was not at hand when this page was written.",
        "The share is that of non-zeros. For multi-label data, classes are labels; numeric is a numeric target.",
    ]
    for title, group in groups.items():
        if not group:
            continue
        with_paper = bool(group[0].paper)
        head = ["data set", *_TITLES, *(["the paper's four", "if not the same: why"] if with_paper else [])]
        page += ["", f"## {title}", "", _markdown_row(head), _markdown_row(["---"] * len(head))]
        for each in group:
            stated = _stated(each)
            row = [each.name]
            row += [_shown(key, stated.get(key), sure=bool(each.measured)) for key in QUANTITIES]
            if with_paper:
                row.append(", ".join(_shown(key, each.paper[key]) for key in QUANTITIES))
                row.append(_differs_in_words(each))
            page.append(_markdown_row(row))
        page.append("")
        for each in group:
            page += _described(each.config)
    return "\n".join(page).rstrip() + "\n"


def as_list(configs: Iterable[Mapping[str, Any]]) -> str:
    """Write the names of data sets with their task, stated size and origin, one a line."""
    rows = []
    for config in configs:
        expected = config.get("expected") or {}
        rows.append(
            (
                config["name"],
                config["task"],
                " × ".join(_shown(key, expected.get(key)) for key in QUANTITIES[:2]),
                _NUMERIC if config["task"] == REGRESSION else _shown("classes", expected.get("classes")),
                "paper" if config.get("paper") else "",
                " ".join(str(config.get("url", "")).split()),
            )
        )
    widths = [max(len(row[place]) for row in rows) for place in range(5)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:5], widths, strict=True)), row[5]])
        for row in rows
    )


def _same(quantity: str, stated: float, found: float) -> bool:
    return abs(stated - found) <= (SHARE_TOLERANCE if quantity == "nonzero_share" else 0)


def _stated(finding: Finding) -> dict[str, Any]:
    """Return what was measured, or else what the YAML file states."""
    stated = dict(finding.measured or finding.config.get("expected") or {})
    return stated | {"classes": _NUMERIC} if finding.config["task"] == REGRESSION else stated


def _shown(quantity: str, value: float | str | None, *, sure: bool = True) -> str:
    if value is None:
        return "?"
    shown = f"{value:.6f}" if quantity == "nonzero_share" else str(value)
    return shown if sure else f"[{shown}]"


def _verdict(finding: Finding) -> str:
    if finding.state in ("missing", "wrong"):
        return finding.state.upper() if finding.state == "wrong" else ""
    if not finding.paper:
        return ""
    if not finding.differing:
        return "as in the paper"
    return "differs, see below" if finding.reason else "DIFFERS WITHOUT A REASON"


def _differs_in_words(finding: Finding) -> str:
    if finding.measured and not finding.differing:
        return "same"
    return finding.reason or ("not measured here" if not finding.measured else "no reason stated")


def _noted(name: str, text: str) -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()),
        width=116,
        initial_indent=f"  {name}: " if name else "    ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(str(cell).split()).replace("|", "\\|") for cell in cells) + " |"


def _described(config: Mapping[str, Any]) -> list[str]:
    parts = {
        "From": config.get("url"),
        "Licence": config.get("licence"),
        "Missing values": config.get("missing_values"),
    }
    said = " ".join(
        f"{key}: {' '.join(str(value).split()).rstrip('.')}." for key, value in parts.items() if value
    )
    text = f"**{config['name']}** — {' '.join(str(config.get('citation', '')).split())} {said}"
    return textwrap.wrap(
        text,
        width=116,
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
