"""A comparison → what the templates show of it: tables, sentences, and the data of its charts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from experiments.analysis.comparison import Comparison
from experiments.analysis.pairs import ROPE
from experiments.analysis.stability import unstated
from experiments.report.page import sentences
from experiments.report.page.charts import data_of
from experiments.report.page.context import Facts
from experiments.report.page.group_tables import tables
from experiments.report.page.ranker_pages import RankerPage, ranker_page
from experiments.report.page.table import Table


@dataclass(frozen=True)
class GroupView:
    """All that the page shows of one comparison."""

    id: str
    name: str
    title: str
    score: str
    compared: str
    headline: str
    speed: str
    gaps: str
    apart: str
    same: list[str]
    sure: list[str]
    datasets: list[tuple[str, str]]
    rankers: list[tuple[str, str]]
    tables: dict[str, Table]
    ranker_pages: list[RankerPage]
    missing: list[str]
    unstated: list[str]
    sampled: str
    sampling: list[tuple[str, str]]
    data: dict[str, Any] = field(repr=False)


def group_view(
    comparison: Comparison,
    frame: pd.DataFrame,
    protocol: Mapping[str, Any],
    number: int,
    *,
    named: bool = True,
) -> GroupView:
    """Make the view of one comparison."""
    f = Facts(comparison, frame, f"g{number}", named=named)
    main = f.verdicts["best_f1"]
    ranks = f.c.ranks["best_f1"]
    overall = f.cost[(f.cost["dataset"] == "") & (f.cost["measure"] == "best_f1")]
    one = f.c.scores["best_f1"]
    return GroupView(
        id=f.own,
        name=f.group.name,
        title=f.group.kind.target[0].upper() + f.group.kind.target[1:],
        score=f.group.kind.score,
        same=f.c.same_lines,
        compared=sentences.compared(
            n_rankers=len(f.rankers),
            datasets=f.here,
            n_asked=len(f.datasets),
            task=f.group.task,
            protocol=protocol,
        ),
        headline=sentences.headline(
            main,
            f.label,
            title=f.c.measures["best_f1"].title,
            scores={} if not len(one) else one.iloc[0].dropna().to_dict(),
            datasets=[] if ranks is None else list(ranks.used),
            n_here=len(f.here),
            complete=list(f.summary.loc[f.summary["complete"], "ranker"].unique()),
            same=f.c.same.everywhere,
        ),
        speed=sentences.speed(f.verdicts["fit_seconds"], f.label, overall.to_dict("records")),
        gaps=sentences.gaps(len(f.incomplete), len(f.group.expected), list(f.group.absent)),
        apart=sentences.left_out(
            {} if ranks is None else ranks.left_out, f.c.rank_left_out["best_f1"], f.label, f.group.also
        ),
        sure=sentences.sureness(
            main,
            f.label,
            friedman_p=math.nan if ranks is None else ranks.friedman_p,
            rope=ROPE,
            score=f.group.kind.score,
        ),
        datasets=[(name, name) for name in f.datasets],
        rankers=[(name, f.label[name]) for name in f.rankers],
        tables=tables(f),
        ranker_pages=[ranker_page(f, ranker) for ranker in f.rankers],
        missing=f.c.missing_lines,
        unstated=unstated(f.c.stability, f.label),
        sampled=sentences.sampled(f.pairs),
        sampling=[] if f.c.posterior is None else [(k, str(v)) for k, v in f.c.posterior.sampling.items()],
        data=data_of(f),
    )
