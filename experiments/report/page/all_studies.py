"""One page over several studies: every result in one table, with filters by data set and ranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from experiments.analysis.comparison import Comparison
from experiments.analysis.cost import places
from experiments.formatting import count
from experiments.report.page.group_tables import score_cells
from experiments.report.page.rendering import write_page
from experiments.report.page.table import Column, Line, Table, number, text

_FILTERS = (
    'document.documentElement.classList.add("scripted");\n'
    'for (const table of document.querySelectorAll("table.sortable")) sortable(table);\n'
    'new Filters(document.querySelector(".group"), DATA);\n'
)


@dataclass(frozen=True)
class StudyShown:
    """A study on the page."""

    name: str
    about: str
    comparisons: Sequence[Comparison]
    frame: pd.DataFrame
    page: str = ""


def write(studies: Sequence[StudyShown], path: Path) -> Path:
    """Write the page."""
    results = _results(studies)
    datasets = sorted({str(line.dataset) for line in results.lines}, key=str.casefold)
    rankers = list(dict.fromkeys(str(line.ranker) for line in results.lines))
    n_rows = sum(len(study.frame) for study in studies)
    return write_page(
        path,
        "all_studies.html",
        ["base.js", "tables.js", _FILTERS],
        data={"datasets": datasets, "rankers": [{"key": each} for each in rankers]},
        title="All studies",
        intro=f"{count(len(rankers), 'ranker')} on {count(len(datasets), 'data set')} in "
        f"{count(len(studies), 'study', 'studies')}; {n_rows:,} rows.",
        datasets=[(each, each) for each in datasets],
        rankers=[(each, each) for each in rankers],
        studies=_studies(studies),
        results=results,
    )


def _studies(studies: Sequence[StudyShown]) -> Table:
    columns = [Column("study"), Column("what it is"), Column("data sets", True), Column("rows", True)]
    lines = []
    for study in studies:
        n_datasets = study.frame["dataset"].nunique()
        cells = [
            text(study.name, href=study.page),
            text(study.about.replace("`", ""), kind="long"),
            number(n_datasets, str(n_datasets)),
            number(len(study.frame), f"{len(study.frame):,}"),
        ]
        lines.append(Line(cells))
    return Table("studies", "Studies", columns, lines)


def _results(studies: Sequence[StudyShown]) -> Table:
    columns = [
        Column("study"),
        Column("data set"),
        Column("ranker"),
        Column("max F1", True, "mean over folds of the best F1 along the ranking ± standard deviation"),
        Column("at features", True, "median number of features at which it is first reached"),
        Column("place", True, "by max F1, within the study and the data set"),
        Column("AUrF1", True),
        Column("F1, all features", True),
        Column("seconds", True, "of a fit ± standard deviation"),
        Column("folds", True),
    ]
    lines = []
    for study in studies:
        for comparison in study.comparisons:
            if comparison.group.kind.numeric:  # R² has no place in columns of F1; the study's own page has it
                continue
            place_of = places(comparison.scores["best_f1"], higher_is_better=True)
            for line in comparison.summary.to_dict("records"):
                if not line["complete"]:
                    continue
                dataset, ranker = line["dataset"], line["ranker"]
                label = comparison.labels[ranker]
                place = place_of.loc[dataset, ranker]
                cells = [
                    text(study.name, href=study.page),
                    text(dataset),
                    text(label),
                    *score_cells(line, place),
                    number(line["folds_ok"], f"{line['folds_ok']}"),
                ]
                lines.append(Line(cells, dataset=dataset, ranker=label))
    empty = "No ranker is complete on any data set."
    return Table("results", "Every study, data set and ranker that is complete", columns, lines, empty=empty)
