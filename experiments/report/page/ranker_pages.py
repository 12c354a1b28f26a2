"""What the page says of one ranker: its places everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from experiments.analysis.verdict import probabilities
from experiments.formatting import count, rank_shown, similarity_shown
from experiments.report.console import significant
from experiments.report.page import sentences
from experiments.report.page.context import Facts
from experiments.report.page.table import Column, Line, Table, by, number, text

#: Opponents set apart, and neighbours shown.
_BEST, _ALIKE = 3, 5


@dataclass(frozen=True)
class RankerPage:
    """One ranker's page."""

    id: str
    ranker: str
    label: str
    intro: str
    said: list[str]
    ranks: Table
    best: Table
    alike: Table
    cost: Table
    datasets: Table
    opponents: Table


def ranker_page(f: Facts, ranker: str) -> RankerPage:
    """Make a ranker's page."""
    task = f.group.kind
    best, alike = _against(f, ranker, _best_three(f, ranker)), _most_alike(f, ranker)
    return RankerPage(
        id=f.page_id(ranker),
        ranker=ranker,
        label=f.label[ranker],
        intro=_intro(f, ranker),
        said=[
            line
            for line in (
                _said_rank(f, ranker),
                _said_same(f, ranker),
                _said_alike(f, alike),
                _said_cost(f, ranker),
            )
            if line
        ],
        ranks=_own_ranks(f, ranker),
        best=best.of_task(task),
        alike=_own_alike(f, alike).of_task(task),
        cost=_own_cost(f, ranker).of_task(task),
        datasets=_own_datasets(f, ranker),
        opponents=_own_opponents(f, ranker).of_task(task),
    )


def _intro(f: Facts, ranker: str) -> str:
    mine = f.summary[f.summary["ranker"] == ranker]
    n_complete = int(mine["complete"].sum())
    said = f"On the command line: {_typed(f, ranker)}. Complete on {n_complete} of {count(len(mine), 'data set')}."
    told = [
        f"{line.dataset} ({line.reason})"
        for line in f.incomplete[f.incomplete["ranker"] == ranker].itertuples()
    ]
    return said + (f" Missing: {sentences.listed(told)}." if told else "")


def _typed(f: Facts, ranker: str) -> str:
    """Return what names a ranker on the command line: its file, or the target that was typed in place of one."""
    base, _, changed = ranker.partition("[")
    target = f.group.targets.get(ranker, "")
    if base not in (target, target.rpartition(".")[2]) or not target:
        return f"ranker={ranker}"
    settings = [f"ranker.{each}" for each in changed.removesuffix("]").split(",") if each]
    return " ".join([f"ranker._target_={target}", *settings])


def _own_ranks(f: Facts, ranker: str) -> Table:
    columns = [
        Column("by"),
        Column("average rank", True),
        Column("place", True),
        Column("over data sets", True),
    ]
    lines = []
    for key, measure in f.c.measures.items():
        ranks = f.c.ranks[key]
        rank = f.rank_of(key, ranker)
        place = n_used = math.nan
        n_rankers = 0
        if ranks is not None and not math.isnan(rank):
            place = int((ranks.average_ranks < rank - 1e-9).sum()) + 1
            n_rankers, n_used = len(ranks.average_ranks), len(ranks.used)
        cells = [
            text(measure.title, tip=measure.meaning),
            number(rank, rank_shown(rank)),
            number(place, f"{place} of {n_rankers}"),
            number(n_used, str(n_used)),
        ]
        lines.append(Line(cells))
    return Table("own-ranks", "Ranks over all data sets", columns, lines)


def _own_datasets(f: Facts, ranker: str) -> Table:
    columns = [Column("data set")]
    shown = ("best_f1", "mean_f1", "aurf1", "fit_seconds")
    for key in shown:
        columns += [Column(f.c.measures[key].title, True), Column("place", True)]
    lines = []
    for dataset in f.datasets:
        cells = [text(dataset)]
        for key in shown:
            value = f.score(key, dataset, ranker)
            place = f.place(key, dataset, ranker)
            n_there = int(f.places[key].loc[dataset].notna().sum()) if dataset in f.places[key].index else 0
            said = sentences.seconds(value) if key == "fit_seconds" else sentences.score(value)
            tip = "" if not math.isnan(value) else f.reason(dataset, ranker)
            cells += [number(value, said, tip=tip), number(place, f"{place:g} of {n_there}")]
        lines.append(Line(cells, dataset=dataset))
    return Table("own-datasets", "On every data set", columns, lines)


def _own_opponents(f: Facts, ranker: str) -> Table:
    others = [other for other in f.rankers if other != ranker]
    found = _against(f, ranker, others)
    return replace(
        found,
        name="own-opponents",
        caption="Against all others, by the Bayesian test",
        lines=by(found.lines, 2, descending=True),
        sorted_by=2,
        descending=True,
    )


def _against(f: Facts, ranker: str, others: Sequence[str]) -> Table:
    """Set a ranker beside others, in their order, with the posteriors of the pairs that were tested."""
    columns = [
        Column("against"),
        Column("its rank", True, "by max F1, over all data sets"),
        Column("this one better", True, "probability that this ranker is better"),
        Column("practically equal", True, "probability that their F1 differs by less than the rope"),
        Column("this one worse", True),
        Column("data sets", True, "that both finished"),
    ]
    found = probabilities(ranker, others, f.pairs)
    lines = []
    for line in found.itertuples():
        rank = f.rank_of("best_f1", line.ranker)
        shown = [number(p, sentences.probability(p)) for p in (line.p_better, line.p_equal, line.p_worse)]
        cells = [f.cell(line.ranker), number(rank, rank_shown(rank)), *shown]
        lines.append(Line([*cells, number(line.datasets, f"{line.datasets}")], ranker=line.ranker))
    why = f.untested or "the test needs two data sets that both finished"
    empty = f"No pair with this ranker was tested: {why}."
    return Table("own-best", "Against the best three by max F1", columns, lines, empty=empty)


def _best_three(f: Facts, ranker: str) -> list[str]:
    """Name the three rankers with the best average rank by max F1, this one apart."""
    ranks = f.c.ranks["best_f1"]
    if ranks is None:
        return []
    ordered = ranks.average_ranks.dropna().sort_values(kind="stable").index
    return [other for other in ordered if other != ranker][:_BEST]


def _most_alike(f: Facts, ranker: str) -> list[tuple[str, float, float]]:
    """Return the rankers whose weights are most alike, with AUFUJI of weights and of rF1 curves."""
    of_weights, of_curves = f.c.similarity["weights"], f.c.similarity["curves"]
    if ranker not in of_weights.index:
        return []
    near = of_weights.loc[ranker].drop(ranker).dropna().sort_values(ascending=False, kind="stable")
    known = ranker in of_curves.index
    return [
        (str(other), float(value), float(of_curves.at[ranker, other]) if known else math.nan)
        for other, value in near.head(_ALIKE).items()
    ]


def _own_alike(f: Facts, alike: Sequence[tuple[str, float, float]]) -> Table:
    columns = [
        Column("ranker"),
        Column("AUFUJI of weights", True, "1 = the same ranking, mean over data sets"),
        Column("AUFUJI of rF1 curves", True),
    ]
    lines = [
        Line(
            [
                f.cell(other),
                number(weights, similarity_shown(weights)),
                number(curves, similarity_shown(curves)),
            ],
            ranker=other,
        )
        for other, weights, curves in alike
    ]
    empty = "No other ranker is complete on a data set of this one."
    return Table("own-alike", "Most similar rankers, by FUJI", columns, lines, 1, True, empty)


def _own_cost(f: Facts, ranker: str) -> Table:
    columns = [
        Column("data sets"),
        Column("seconds", True, "of a fit; over several data sets their geometric mean"),
        Column("place", True, "1 is fastest"),
        Column("times the fastest", True),
        Column("max F1", True),
        Column(
            "best value", tip="no other ranker is at least as good in both time and max F1, and better in one"
        ),
    ]
    points = f.cost[f.cost["measure"] == "best_f1"]
    lines = []
    for dataset in ["", *f.datasets]:
        there = points[points["dataset"] == dataset]
        mine = there[there["ranker"] == ranker]
        if not len(mine):
            continue
        seconds, quality = float(mine["seconds"].iloc[0]), float(mine["quality"].iloc[0])
        place, fastest = int((there["seconds"] < seconds).sum()) + 1, float(there["seconds"].min())
        times = seconds / fastest if fastest > 0 else math.nan
        cells = [
            text(dataset or "all that the compared rankers share"),
            number(seconds, sentences.seconds(seconds)),
            number(place, f"{place} of {len(there)}"),
            number(times, significant(times)),
            number(quality, sentences.score(quality)),
            text("yes" if bool(mine["best_value"].iloc[0]) else "no"),
        ]
        lines.append(Line(cells, dataset=dataset or None))
    return Table("own-cost", "Cost", columns, lines, empty="No fit of this ranker was timed.")


def _said_rank(f: Facts, ranker: str) -> str:
    ranks, rank = f.c.ranks["best_f1"], f.rank_of("best_f1", ranker)
    if ranks is None or math.isnan(rank):
        return "No average rank: it is not complete on the data sets that the others share."
    place = int((ranks.average_ranks < rank - 1e-9).sum()) + 1
    said, over = f"Average rank by {f.c.measures['best_f1'].title}", count(len(ranks.used), "data set")
    return f"{said}: {rank_shown(rank)}, place {place} of {len(ranks.average_ranks)}, over {over}."


def _said_same(f: Facts, ranker: str) -> str:
    """Name the rankers that are the same as this one, everywhere or on single data sets; "" for none."""
    parts = []
    others = [each for group in f.c.same.everywhere if ranker in group for each in group if each != ranker]
    if others:
        parts.append(f"{sentences.listed([f.label[each] for each in others])} on all data sets")
    for dataset, groups in f.c.same.on.items():
        more = [
            each for group in groups if ranker in group for each in group if each not in (ranker, *others)
        ]
        if more:
            parts.append(f"{sentences.listed([f.label[each] for each in more])} on {dataset}")
    return (
        f"The same ranker (equal {f.group.kind.score} in every fold) as {'; as '.join(parts)}."
        if parts
        else ""
    )


def _said_alike(f: Facts, alike: Sequence[tuple[str, float, float]]) -> str:
    if not alike:
        return ""
    other, value, _ = alike[0]
    return (
        f"Its weights are most like those of {f.label[other]} "
        f"(AUFUJI {similarity_shown(value)}; 1 is the same ranking)."
    )


def _said_cost(f: Facts, ranker: str) -> str:
    overall = f.cost[(f.cost["dataset"] == "") & (f.cost["measure"] == "best_f1")]
    mine = overall[overall["ranker"] == ranker]
    if not len(mine):
        return ""
    seconds = float(mine["seconds"].iloc[0])
    place = int((overall["seconds"] < seconds).sum()) + 1
    return f"A fit takes {sentences.seconds(seconds)} (geometric mean), place {place} of {len(overall)} by speed."
