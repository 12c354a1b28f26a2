"""What the page says of one ranker: its places everywhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

from experiments.analysis.scores import MEASURES
from experiments.analysis.verdict import probabilities
from experiments.report.console import count
from experiments.report.page import words
from experiments.report.page.facts import Facts
from experiments.report.page.tables import Column, Line, Table, by, number, text


@dataclass(frozen=True)
class RankerPage:
    """One ranker's page: an introduction, ranks, results on every data set, and probabilities against others."""

    id: str
    ranker: str
    label: str
    intro: str
    ranks: Table
    datasets: Table
    opponents: Table


def ranker_page(f: Facts, ranker: str) -> RankerPage:
    """Make a ranker's page.

    Parameters
    ----------
    f : Facts
        Of the comparison.
    ranker : str
        The ranker.

    Returns
    -------
    RankerPage
    """
    return RankerPage(
        id=f.page_id(ranker),
        ranker=ranker,
        label=f.label[ranker],
        intro=_intro(f, ranker),
        ranks=_own_ranks(f, ranker),
        datasets=_own_datasets(f, ranker),
        opponents=_own_opponents(f, ranker),
    )


def _intro(f: Facts, ranker: str) -> str:
    mine = f.summary[f.summary["ranker"] == ranker]
    n_complete = int(mine["complete"].sum())
    said = (
        f"On the command line: ranker={ranker}. Complete on {n_complete} of {count(len(mine), 'data set')}."
    )
    told = [
        f"{line.dataset} ({line.reason})"
        for line in f.incomplete[f.incomplete["ranker"] == ranker].itertuples()
    ]
    return said + (f" Missing: {words.listed(told)}." if told else "")


def _own_ranks(f: Facts, ranker: str) -> Table:
    columns = [
        Column("by"),
        Column("average rank", True),
        Column("place", True),
        Column("over data sets", True),
    ]
    lines = []
    for key, measure in MEASURES.items():
        ranks = f.c.ranks[key]
        rank = f.rank_of(key, ranker)
        there = ranks is not None and not math.isnan(rank)
        place = int((ranks.average_ranks < rank - 1e-9).sum()) + 1 if there else math.nan
        n_rankers = len(ranks.average_ranks) if there else 0
        cells = [
            text(measure.title, tip=measure.meaning),
            number(rank, f"{rank:.2f}"),
            number(place, f"{place} of {n_rankers}"),
            number(len(ranks.used) if there else math.nan, str(len(ranks.used)) if there else ""),
        ]
        lines.append(Line(cells))
    return Table("own-ranks", "Ranks over all data sets", columns, lines)


def _own_datasets(f: Facts, ranker: str) -> Table:
    columns = [Column("data set")]
    shown = ("best_f1", "mean_f1", "aurf1", "fit_seconds")
    for key in shown:
        columns += [Column(MEASURES[key].title, True), Column("place", True)]
    lines = []
    for dataset in f.datasets:
        cells = [text(dataset)]
        for key in shown:
            value = f.score(key, dataset, ranker)
            place = f.place(key, dataset, ranker)
            n_there = int(f.places[key].loc[dataset].notna().sum()) if dataset in f.places[key].index else 0
            said = words.seconds(value) if key == "fit_seconds" else words.score(value)
            tip = "" if not math.isnan(value) else f.reason(dataset, ranker)
            cells += [number(value, said, tip=tip), number(place, f"{place:g} of {n_there}")]
        lines.append(Line(cells, dataset=dataset))
    return Table("own-datasets", "On every data set", columns, lines)


def _own_opponents(f: Facts, ranker: str) -> Table:
    columns = [
        Column("against"),
        Column("better", True, "probability that this ranker is better"),
        Column("practically equal", True),
        Column("worse", True),
        Column("data sets", True),
    ]
    found = probabilities(ranker, [other for other in f.rankers if other != ranker], f.pairs)
    lines = [
        Line(
            [
                f.cell(line.ranker),
                *(number(p, words.probability(p)) for p in (line.p_better, line.p_equal, line.p_worse)),
                number(line.datasets, f"{line.datasets}"),
            ],
            ranker=line.ranker,
        )
        for line in found.itertuples()
    ]
    empty = "No pair with this ranker was tested."
    return Table(
        "own-opponents",
        "Against others, by the Bayesian test",
        columns,
        by(lines, 1, descending=True),
        1,
        empty=empty,
        descending=True,
    )
