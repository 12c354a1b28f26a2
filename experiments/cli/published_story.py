"""docs/results.md: what comes out of all published studies; their tables are on pages of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from experiments.analysis.comparison import Comparison
from experiments.analysis.paper.claim import HOLDS, HOLDS_NOT, NOISE, counted, lacking
from experiments.cli.publish import Shown
from experiments.formatting import count, rank_shown
from experiments.report.sentences import extent, listed

#: Figures of results/published that the page shows, under the heading where each belongs.
FIGURES = {
    "holds": ("mcc_published_times.png", "Seconds of a fit, `mcc_published`"),
    "holds not": ("mcc_published_critical_distance_best_f1.png", "Average ranks by max F1, `mcc_published`"),
}
#: Rankers that are named of an order.
_FIRST = 3


def story(studies: Sequence[Shown], claims: pd.DataFrame) -> str:
    """Write the page.

    Parameters
    ----------
    studies : sequence of Shown
        All that are published, in their order.
    claims : DataFrame
        From :func:`experiments.analysis.paper.claims.check`.

    Returns
    -------
    str
        Markdown.
    """
    orders = [line for study in studies for group in study.comparisons if (line := _order(study, group))]
    datasets = {each for study in studies for each in study.frame["dataset"]}
    n_rows = sum(len(study.frame) for study in studies)
    return "\n\n".join(
        [
            "# Results",
            "Made by `python publish.py` from the rows in `results/published`; nothing here is typed by hand. "
            f"These are {n_rows:,} rows (a ranker in a fold, or a measurement) of {len(studies)} studies, on "
            f"{count(len(datasets), 'data set')}.",
            "## Which rankers are best",
            "Rankers are ordered by their mean rank over data sets, by the best F1 along the ranking; only studies "
            "of two data sets or more.",
            "\n".join(orders),
            "## What holds of the paper",
            f"{counted(claims)} [Every claim, with its criterion and its numbers](results/claims.md).",
            "On the data sets at hand these hold, beyond the noise of the folds:",
            _claims(claims, HOLDS),
            _figure("holds"),
            "## What does not hold",
            "On the data sets at hand these do not hold, beyond the noise of the folds:",
            _claims(claims, HOLDS_NOT),
            _figure("holds not"),
            "## What is missing",
            lacking(claims) or "Nothing is missing.",
            "## The studies",
            "| study | what it is | data sets | rows |\n|---|---|---|---|\n"
            + "\n".join(
                f"| [{each.name}](results/{each.name}.md) | {_first_sentence(each.about)} | "
                f"{each.frame['dataset'].nunique()} | {len(each.frame):,} |"
                for each in studies
            ),
        ]
    )


def _order(study: Shown, group: Comparison) -> str:
    """Say who comes first in a study, and whether that is more than chance; "" for a single data set."""
    ranks = group.ranks["best_f1"]
    if ranks is None or len(ranks.used) < 2:
        return ""
    first = [f"{group.labels[ranker]} {rank_shown(rank)}" for ranker, rank in ranks.average_ranks.items()][
        :_FIRST
    ]
    best = ranks.average_ranks.iloc[0]
    apart = int((ranks.average_ranks - best >= ranks.cd).sum())
    if math.isnan(ranks.friedman_p):
        test = f"Friedman's test is left out: {ranks.no_test}"
    elif ranks.friedman_p >= 0.05:
        test = f"no significant differences (Friedman, p = {ranks.friedman_p:.3f})"
    else:
        shown = "< 0.001" if ranks.friedman_p < 0.001 else f"= {ranks.friedman_p:.3f}"
        test = (
            f"significant differences (Friedman, p {shown}): the first is significantly different from {apart} of "
            f"the {len(ranks.average_ranks) - 1} others (Nemenyi)"
        )
    return (
        f"* [{study.name}](results/{study.name}.md), {len(ranks.average_ranks)} rankers on {len(ranks.used)} data "
        f"sets, {extent(study.protocols[group.group.protocol])}: {listed(first)}; {test}."
    )


def _claims(claims: pd.DataFrame, verdict: str) -> str:
    chosen = claims[(claims["at_hand"] == verdict) & (claims["noise"] != NOISE)]
    lines = []
    for line in chosen.to_dict("records"):
        more = []
        if line["verdict"] == verdict:
            more.append("on all of the paper's data sets that it needs")
        if line["related"] in (HOLDS, HOLDS_NOT) and line["noise_related"] != NOISE:
            more.append(f"on related ones: {line['related']}")
        lines.append(f"* {line['statement']}" + (f" ({'; '.join(more)})" if more else ""))
    return "\n".join(lines) or "None."


def _figure(place: str) -> str:
    file, title = FIGURES[place]
    return f"![{title}](results/{file})\n\n*{title}.*"


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".") + "."
