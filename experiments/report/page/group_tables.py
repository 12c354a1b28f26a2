"""Tables of a whole comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from experiments.analysis.scores import averages
from experiments.analysis.selection import STATES, standing
from experiments.analysis.stability import TOPS, phi, stability_table
from experiments.formatting import rank_shown
from experiments.report.page import sentences
from experiments.report.page.context import Facts
from experiments.report.page.table import Cell, Column, Line, Table, by, number, text
from experiments.schema import BAD_STATUSES, when_again

__all__ = ["tables"]

_SAID = {
    "running": "running",
    **BAD_STATUSES,
    "missing": "missing",
}


def tables(f: Facts) -> dict[str, Table]:
    """Make all tables of a comparison."""
    made = (_rankers, _matrix, _results, _pairs, _stable, _stability, _missing, _failures, _status)
    return {each.__name__.lstrip("_"): each(f).of_task(f.group.kind) for each in made}


def _rankers(f: Facts) -> Table:
    overall = f.cost[(f.cost["dataset"] == "") & (f.cost["measure"] == "best_f1")].set_index("ranker")[
        "seconds"
    ]
    means = {key: f.c.averages[key].set_index("ranker")["mean"] for key in ("best_f1", "aurf1")}
    against = f.verdicts["best_f1"].probabilities.set_index("ranker")
    first = f.verdicts["best_f1"].best
    n_complete = f.summary.groupby("ranker")["complete"].sum()
    n_asked = f.group.expected.groupby("ranker")["dataset"].nunique()
    columns = [
        Column("ranker"),
        Column("rank by max F1", True, "average over data sets; 1 is best"),
        Column("rank by mean F1", True),
        Column("rank by AUrF1", True),
        Column("rank by time", True, "1 is fastest"),
        Column("max F1", True, "mean over the data sets that all compared rankers share"),
        Column("AUrF1", True, "the same mean"),
        Column("seconds", True, "of a fit: geometric mean over the data sets that all timed rankers share"),
        Column("data sets", True, "complete, of those asked for"),
    ]
    if len(against):
        told = f"probabilities; the first is {f.label[first[0]]}"
        columns.append(Column("first better / equal / this better", True, told))
    lines = []
    for ranker in f.rankers:
        cells = [f.cell(ranker)]
        for key in ("best_f1", "mean_f1", "aurf1", "fit_seconds"):
            rank = f.rank_of(key, ranker)
            cells.append(number(rank, rank_shown(rank)))
        for own in means.values():
            value = float(own.get(ranker, math.nan))
            cells.append(number(value, sentences.score(value)))
        took = float(overall.get(ranker, math.nan))
        cells.append(number(took, sentences.seconds(took)))
        cells.append(number(n_complete[ranker], f"{n_complete[ranker]} of {n_asked[ranker]}"))
        if len(against):
            if ranker in against.index:
                line = against.loc[ranker]
                told = " / ".join(
                    sentences.probability(line[name]) for name in ("p_better", "p_equal", "p_worse")
                )
                cells.append(number(line["p_better"], told))
            else:
                cells.append(Cell("–", None, kind="number faint"))
        lines.append(Line(cells, ranker=ranker))
    return Table("rankers", "Rankers over all data sets", columns, by(lines, 1), 1)


def score_cells(line: Mapping[str, Any], place: float) -> list[Cell]:
    """Make the cells of a ranker on a data set."""
    return [
        number(
            line["best_f1_micro_mean"],
            plus_minus(line["best_f1_micro_mean"], line["best_f1_micro_sd"]),
        ),
        number(line["best_f1_micro_at"], f"{line['best_f1_micro_at']:g}"),
        number(place, f"{place:g}"),
        number(line["aurf1_micro_mean"], sentences.score(line["aurf1_micro_mean"])),
        number(line["f1_micro_all_mean"], sentences.score(line["f1_micro_all_mean"])),
        number(line["fit_seconds_mean"], sentences.seconds(line["fit_seconds_mean"], line["fit_seconds_sd"])),
    ]


def _results(f: Facts) -> Table:
    columns = [
        Column("data set"),
        Column("ranker"),
        Column("max F1", True, "mean over folds ± standard deviation"),
        Column("at features", True, "median number of features at which it is first reached"),
        Column("place", True, "within the data set, by max F1"),
        Column("AUrF1", True),
        Column("F1, all features", True),
        Column("seconds", True, "of a fit ± standard deviation"),
        Column("MiB", True, "highest memory of the process during a fit"),
        Column("latent dimension", True),
    ]
    lines = []
    for line in f.summary.to_dict("records"):
        if not line["complete"]:
            continue
        dataset, ranker = line["dataset"], line["ranker"]
        place = f.place("best_f1", dataset, ranker)
        cells = [
            text(dataset),
            f.cell(ranker),
            *score_cells(line, place),
            number(line["peak_memory_mib_max"], f"{line['peak_memory_mib_max']:.0f}"),
            number(line["latent_dimension"], f"{line['latent_dimension']:g}"),
        ]
        lines.append(Line(cells, dataset=dataset, ranker=ranker))
    empty = "No ranker is complete on any data set."
    return Table("results", "Every data set and ranker that is complete", columns, lines, empty=empty)


def _matrix(f: Facts) -> Table:
    columns = [Column("ranker"), Column("rank", True, "average, by max F1")]
    columns += [Column(dataset, True, dataset=dataset) for dataset in f.datasets]
    lines = []
    for ranker in f.rankers:
        rank = f.rank_of("best_f1", ranker)
        cells = [f.cell(ranker), number(rank, rank_shown(rank))]
        for dataset in f.datasets:
            value = f.score("best_f1", dataset, ranker)
            first = f.place("best_f1", dataset, ranker) < 2
            tip = "" if not math.isnan(value) else f.reason(dataset, ranker)
            cells.append(number(value, sentences.score(value), kind="good" if first else "", tip=tip))
        lines.append(Line(cells, ranker=ranker))
    return Table("matrix", "Max F1 of every ranker on every data set", columns, by(lines, 1), 1)


def _stable(f: Facts) -> Table:
    columns = [Column("ranker")]
    means = {}
    for column, title, tip in _STABILITY:
        means[column] = averages(stability_table(f.c.stability, column))
        over = sentences.listed(means[column].attrs["datasets"]) or "no data set"
        columns.append(
            Column(title, True, f"{tip}; mean over the data sets that all compared rankers share: {over}")
        )
    lines = []
    for ranker in f.rankers:
        cells = [f.cell(ranker)]
        for column in means:
            own = means[column].set_index("ranker")["mean"]
            value = float(own.get(ranker, math.nan))
            cells.append(number(value, sentences.score(value)))
        lines.append(Line(cells, ranker=ranker))
    caption = "Rankers by stability between folds"
    return Table("stable", caption, columns, by(lines, 1, descending=True), 1, descending=True)


def _stability(f: Facts) -> Table:
    columns = [
        Column("data set"),
        Column("ranker"),
        *(Column(title, True, tip) for _, title, tip in _STABILITY),
        Column("folds", True),
    ]
    lines = []
    for line in f.c.stability.to_dict("records"):
        if line["reason"]:
            continue
        cells = [
            text(line["dataset"]),
            f.cell(line["ranker"]),
            number(line["aufuji"], sentences.score(line["aufuji"])),
        ]
        for top in TOPS:
            value, lower, upper = (line[f"{phi(top)}{end}"] for end in ("", "_lower", "_upper"))
            said = sentences.score(value) + ("" if math.isnan(lower) else f" [{lower:.3f}, {upper:.3f}]")
            tied = line[f"tied_top_{top}"]
            tip = f"in {tied} folds the set ends between equal weights" if tied else ""
            tip = "all features: nothing is chosen" if line["n_features"] <= top else tip
            cells.append(number(value, said + (" *" if tied else ""), tip=tip))
        n_bare = line["folds_without"]
        of = f" of {line['n_folds'] + n_bare}" if n_bare else ""
        cells.append(number(line["n_folds"], f"{line['n_folds']}{of}"))
        lines.append(Line(cells, dataset=line["dataset"], ranker=line["ranker"]))
    empty = "No ranker is complete, with weights, on any data set."
    return Table("stability", "Stability on every data set", columns, lines, empty=empty)


#: Columns of stability: where the number stands, heading, what it is.
_STABILITY = (
    ("aufuji", "AUFUJI", "of whole rankings, averaged over pairs of folds"),
    *(
        (
            phi(top),
            f"Φ, top {top}",
            f"measure of Nogueira, Sechidis and Brown for the best {top} features of each fold",
        )
        for top in TOPS
    ),
)


def _status(f: Facts) -> Table:
    stand = standing(f.frame, f.group.expected)
    columns = [Column("ranker"), *(Column(dataset, dataset=dataset) for dataset in f.datasets)]
    found = {(line["ranker"], line["dataset"]): line for line in stand.to_dict("records")}
    lines = []
    for ranker in f.rankers:
        cells = [f.cell(ranker)]
        for dataset in f.datasets:
            line = found.get((ranker, dataset))
            if line is None:
                cells.append(Cell("", None))
                continue
            wrong = [f"{line[state]} {_SAID[state]}" for state in STATES[1:] if line[state]]
            kind = "open" if wrong else "good"
            if any(line[state] for state in ("failed", "timeout", "out_of_memory")):
                kind = "bad"
            said = "not available" if dataset in f.group.absent else ", ".join(wrong)
            done = f"{line['done']}/{line['n_repeats']}"
            cells.append(Cell(f"{done} {said}".strip(), float(line["done"]), kind=kind))
        lines.append(Line(cells, ranker=ranker))
    return Table("status", "Repeats done, of those asked for", columns, lines)


def _missing(f: Facts) -> Table:
    columns = [Column("data set"), Column("ranker"), Column("state"), Column("reason")]
    lines = [
        Line(
            [
                text(line.dataset),
                f.cell(line.ranker),
                text(_SAID.get(line.state, "not available")),
                text(line.reason, kind="long"),
            ],
            dataset=line.dataset,
            ranker=line.ranker,
        )
        for line in f.incomplete.itertuples()
    ]
    return Table("missing", "Not complete, so not compared", columns, lines, empty="Everything is complete.")


def _failures(f: Facts) -> Table:
    columns = [
        Column("data set"),
        Column("ranker"),
        Column("state"),
        Column("folds", True),
        Column("first"),
        Column("error"),
    ]
    lines = [
        Line(
            [
                text(line.dataset),
                f.cell(line.ranker),
                text(f"{_SAID[line.status]}; {when_again(line.status, line.limited)}"),
                number(line.folds, str(line.folds)),
                text(line.first, kind="name"),
                text(line.error, kind="long"),
            ],
            dataset=line.dataset,
            ranker=line.ranker,
        )
        for line in f.c.failures.itertuples()
    ]
    return Table(
        "failures",
        "Folds that failed or were stopped",
        columns,
        lines,
        empty="No fold failed or was stopped.",
    )


def _pairs(f: Facts) -> Table:
    columns = [
        Column("first"),
        Column("second"),
        Column("first better", True, "probability"),
        Column("practically equal", True, "probability"),
        Column("second better", True, "probability"),
        Column("data sets", True),
        Column("R̂", True, "of the sampler's chains; below 1.01 is good"),
        Column("effective draws", True),
        Column("note"),
    ]
    lines = []
    for line in () if f.pairs is None else f.pairs.itertuples():
        lines.append(
            Line(
                [
                    f.cell(line.ranker_a),
                    f.cell(line.ranker_b),
                    *(
                        number(value, sentences.probability(value))
                        for value in (line.p_a, line.p_rope, line.p_b)
                    ),
                    number(line.n_datasets, f"{line.n_datasets}"),
                    number(line.r_hat, f"{line.r_hat:.4f}"),
                    number(line.ess, f"{line.ess:.0f}"),
                    text(line.message or ""),
                ]
            )
        )
    empty = f"No pair was tested: {f.untested}." if f.untested else "No pair was tested."
    return Table("pairs", "All pairs, by the hierarchical Bayesian test", columns, lines, empty=empty)


def plus_minus(mean: float, sd: float) -> str:
    """Write a score with its standard deviation; NaN for none."""
    return sentences.score(mean) + ("" if math.isnan(sd) else f" ± {sd:.3f}")
