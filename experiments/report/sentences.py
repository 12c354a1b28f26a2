"""Sentences made from numbers: who is best, how sure that is, what is missing, the place of an added ranker."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.analysis.comparison import Comparison
from experiments.analysis.critical_distance import RankComparison
from experiments.analysis.scores import MEASURES
from experiments.analysis.verdict import SURE, Verdict
from experiments.formatting import count, fixed, listed, rank_shown
from experiments.programs import program
from experiments.report.console import significant
from experiments.tasks import TASKS

#: Chains with an R̂ below this agree.
R_HAT = 1.01
#: Folds of the paper's protocol: ten repeats of ten.
PAPER_FOLDS = 100
#: The measure that ranks are told by.
MEASURE = "best_f1"
#: As many names are written out; of more it is said how many.
_NAMED = 6


def score(value: float, digits: int = 3) -> str:
    """Write a score; "–" for none."""
    return fixed(value, digits)


def probability(value: float) -> str:
    """Write a probability with two digits, and never as certain where it is not."""
    if value is None or math.isnan(value):
        return "–"
    if 0 < value < 0.005:
        return "< 0.01"
    if 0.995 < value < 1:
        return "> 0.99"
    return fixed(value, 2)


def seconds(value: float, sd: float = math.nan) -> str:
    """Write a duration of any size with its unit."""
    return "–" if value is None or math.isnan(value) else f"{significant(value, sd)} s"


def extent(protocol: Mapping[str, Any]) -> str:
    """Say how a protocol splits: "10 repeats of 10-fold cross-validation"."""
    n_splits, n_repeats = int(protocol["n_splits"]), int(protocol["n_repeats"])
    once = f"{n_splits}-fold cross-validation"
    if protocol.get("max_rows"):
        once += f" of a random subset of at most {int(protocol['max_rows']):,} samples"
    return once if n_repeats == 1 else f"{n_repeats} repeats of {once}"


def compared(
    *, n_rankers: int, datasets: Sequence[str], n_asked: int, task: str, protocol: Mapping[str, Any]
) -> str:
    """Say what was compared."""
    kind = TASKS[task]
    block = protocol.get(kind.learner) or {}
    learner = str(block.get("_target_", "")).rpartition(".")[2]
    where = (
        count(n_asked, "data set")
        if len(datasets) == n_asked
        else f"{len(datasets)} of {count(n_asked, 'data set')}"
    )
    scored = f", scored with {learner} on its best features" if learner else ""
    n_folds = int(protocol["n_splits"]) * int(protocol["n_repeats"])
    first = (
        ""
        if n_folds >= PAPER_FOLDS or kind.numeric  # of which the paper has nothing
        else f" A first look: the paper takes {PAPER_FOLDS} folds, this {n_folds}."
    )
    how = "the score is R²" if kind.numeric else "F1 is micro-averaged"
    return (
        f"{count(n_rankers, 'ranker')} on {where} with {kind.target}. Each ranking was made on the training "
        f"samples of {extent(protocol)} (protocol {protocol['name']}){scored}; {how}.{first}"
    )


def headline(
    verdict: Verdict,
    label: Mapping[str, str],
    *,
    title: str,
    scores: Mapping[str, float],
    datasets: Sequence[str],
    complete: Sequence[str],
    n_here: int = 1,
    same: Sequence[Sequence[str]] = (),
) -> str:
    """Say in a sentence or two who does best."""
    if len(complete) == 1:
        return f"Only {label[complete[0]]} is complete, so there is nothing to compare it with."
    if not verdict.best:
        return "Nothing can be compared yet: no ranker is complete on any data set."
    names = listed([label[ranker] for ranker in verdict.best])
    if len(verdict.best) > 1 and any(set(verdict.best) <= set(group) for group in same):
        return f"{names}, which are the same ranker on these data sets, come first by {title}."
    if len(verdict.best) == verdict.n_rankers:
        return f"All {verdict.n_rankers} rankers share one place by {title}."
    verb = "comes first" if verdict.one else "share the first place"
    if verdict.one and len(verdict.best) > 1:
        twins = listed([label[ranker] for ranker in verdict.best[1:]])
        names = f"{label[verdict.best[0]]}, which on these data is the same as {twins},"
    if verdict.n_datasets == 1:
        value = scores.get(verdict.best[0], math.nan)
        told = "" if math.isnan(value) else f" ({value:.3f})"
        where = (
            datasets[0] if n_here < 2 else f"{datasets[0]}, the one data set that the compared rankers share"
        )
        return f"On {where}, {names} {verb} by {title}{told}. One data set says nothing about others."
    if not verdict.one:
        return f"{names} {verb} by {title}."
    n_others = verdict.n_rankers - len(verdict.best)
    if len(verdict.significantly_different) == n_others or len(verdict.surely_beaten) == n_others:
        return f"{names} is best by {title}."
    if not (verdict.significantly_different or verdict.surely_beaten):
        return f"{names} {verb} by {title}, but is not significantly different from any other ranker."
    n_different = len(set(verdict.significantly_different) | set(verdict.surely_beaten))
    return (
        f"{names} {verb} by {title}, and is significantly different from {n_different} of {n_others} others."
    )


def sureness(
    verdict: Verdict, label: Mapping[str, str], *, friedman_p: float, rope: float, score: str = "F1"
) -> list[str]:
    """Say how sure the headline is."""
    if not verdict.best or verdict.n_rankers < 2 or verdict.runner_up is None:
        return []
    lines = []
    over = count(verdict.n_datasets, "data set")
    rank = f"average rank {rank_shown(verdict.average_rank)} of {verdict.n_rankers} over {over}"
    following = f"next is {label[verdict.runner_up]} with {rank_shown(verdict.runner_up_rank)}"
    if verdict.n_datasets > 1 and not math.isnan(verdict.critical_distance):
        n_others = verdict.n_rankers - len(verdict.best)
        out_of_reach = verdict.critical_distance > verdict.n_rankers - 1
        far = len(verdict.significantly_different)
        apart = "none is" if not far else f"{far} of the {n_others} others {'is' if far == 1 else 'are'}"
        far_away = "more than they can differ" if out_of_reach else f"and {apart} that far away"
        distance = rank_shown(verdict.critical_distance)
        lines.append(
            f"By ranks: {rank}; {following}. Ranks must differ by {distance} to be significantly different "
            f"(Nemenyi, α = 0.05), {far_away}."
        )
    else:
        lines.append(f"By ranks: {rank}; {following}. That is too little for a test of ranks.")
    if not math.isnan(friedman_p):
        small = friedman_p < 0.05
        shown = "< 0.001" if friedman_p < 0.001 else f"= {friedman_p:.3f}"
        lines.append(
            f"Friedman's test {'finds' if small else 'finds no'} differences among the rankers (p {shown})."
        )
    if len(verdict.probabilities):
        first = verdict.probabilities.iloc[0]
        parts = [
            f"better than {len(verdict.surely_beaten)}" if verdict.surely_beaten else "",
            f"practically equal to {len(verdict.surely_equal)}" if verdict.surely_equal else "",
            f"worse than {len(verdict.surely_better)}" if verdict.surely_better else "",
        ]
        decided = listed([part for part in parts if part]) or "better or worse than none"
        lines.append(
            f"By the Bayesian test ({score} within {rope:g} counts as equal): against {label[first['ranker']]} it "
            f"is better with probability {probability(first['p_better'])}, practically equal with "
            f"{probability(first['p_equal'])}, worse with {probability(first['p_worse'])}. With a probability "
            f"above {SURE:g} it is {decided} of the {count(len(verdict.probabilities), 'ranker')} it was tested "
            "against."
        )
    return lines


def left_out(
    datasets: Mapping[str, Sequence[str]],
    rankers: Sequence[str],
    label: Mapping[str, str],
    also: Sequence[str] = (),
) -> str:
    """Say what average ranks do without."""
    parts = []
    if datasets:
        blamed: dict[tuple[str, ...], list[str]] = {}
        for dataset, who in datasets.items():
            blamed.setdefault(tuple(who), []).append(str(dataset))
        told = "; ".join(
            f"{listed(names, len(names))}, on which {listed([label.get(each, each) for each in who])} "
            f"{'is' if len(who) == 1 else 'are'} not complete"
            for who, names in blamed.items()
        )
        parts.append(f"Left out of all average ranks: {told}.")
        guilty = {each for who in datasets.values() for each in who}
        if guilty <= set(also):
            parts.append("Without also=, average ranks include these data sets.")
    if rankers:
        named = listed([label.get(each, each) for each in rankers])
        parts.append(f"Without an average rank, since too little is complete: {named}.")
    return " ".join(parts)


def sampled(pairs: pd.DataFrame | None) -> str:
    """Say whether the samples of posteriors can be trusted."""
    if pairs is None or not len(pairs):
        return ""
    there = pairs[pairs["p_rope"].notna()]
    said = [f"{count(len(pairs), 'pair')}"]
    if len(there) < len(pairs):
        said.append(f"{len(pairs) - len(there)} of them without an answer (see the table's notes)")
    r_hat, ess = there["r_hat"].dropna(), there["ess"].dropna()
    if len(r_hat):
        bad = int((r_hat >= R_HAT).sum())
        whole = (
            "below 1.01 for all" if not bad else f"not below 1.01 for {bad}, whose numbers are not reliable"
        )
        said.append(f"R̂ {whole}")
        said.append(f"at least {ess.min():,.0f} effective draws" if len(ess) else "")
        said.append(f"{count(int(there['divergences'].sum()), 'divergence')}")
    return "; ".join(part for part in said if part) + "."


def speed(verdict: Verdict, label: Mapping[str, str], points: Sequence[Mapping[str, Any]]) -> str:
    """Say who is fastest."""
    points = sorted(
        (point for point in points if not math.isnan(point["seconds"])), key=lambda point: point["seconds"]
    )
    if not verdict.best or len(points) < 2:
        return ""
    quick, slow = points[0], points[-1]
    ratio = slow["seconds"] / quick["seconds"] if quick["seconds"] > 0 else math.inf
    times = f", {significant(ratio)} times faster than {label[slow['ranker']]} ({seconds(slow['seconds'])})"
    return (
        f"Fastest by geometric mean: {label[quick['ranker']]}, {seconds(quick['seconds'])} a fit"
        f"{times if math.isfinite(ratio) else ''}."
    )


def gaps(n_incomplete: int, n_asked: int, absent: Sequence[str]) -> str:
    """Say how much is missing."""
    parts = []
    if n_incomplete:
        parts.append(
            f"{n_incomplete} of {n_asked} pairs of data set and ranker are not complete and are left out of every "
            "comparison."
        )
    if absent:
        # What the loader says names folders of the machine, which are nobody's business on a page.
        parts.append(
            f"Not on this machine and cannot be downloaded, so left out: {listed(list(absent), len(absent))} "
            f"({program('datasets')} check says which files are needed and where)."
        )
    return " ".join(parts) or "Nothing is missing."


def places(comparisons: Sequence[Comparison]) -> list[str]:
    """Say which place every added ranker has (``also=``)."""
    return [
        (f"{comparison.group.name}: " if len(comparisons) > 1 else "") + _place(comparison, ranker)
        for comparison in comparisons
        for ranker in comparison.group.also
    ]


def _place(comparison: Comparison, ranker: str) -> str:
    label, ranks = comparison.labels[ranker], comparison.ranks[MEASURE]
    if ranks is None or ranker not in ranks.average_ranks.index:
        return f"{label} has no place by average rank: {_why_none(comparison, ranker)}."
    rank = float(ranks.average_ranks[ranker])
    place = int((ranks.average_ranks < rank).sum()) + 1
    twins = [
        comparison.labels[other]
        for other, value in ranks.average_ranks.items()
        if value == rank and other != ranker
    ]
    shared = f", shared with {listed(twins, _NAMED)}," if twins else ""
    over = f"{count(len(ranks.used), 'data set')} ({listed(ranks.used, _NAMED)})"
    return (
        f"{label} has place {place} of {len(ranks.average_ranks)}{shared} by average rank ({rank_shown(rank)}, by "
        f"{MEASURES[MEASURE].title}) over {over}; {_differences(comparison, ranks, rank)}."
    )


def _differences(comparison: Comparison, ranks: RankComparison, rank: float) -> str:
    if len(ranks.used) < 2:
        return "one data set cannot say whether it is significantly different from other rankers"
    test = f"Nemenyi, α = {ranks.alpha:g}"
    if ranks.out_of_reach:
        n_rankers, on = count(len(ranks.average_ranks), "ranker"), count(len(ranks.used), "data set")
        return f"{on} cannot say which of {n_rankers} are significantly different ({test})"
    away = ranks.average_ranks - rank
    better = [comparison.labels[other] for other in away.index[away >= ranks.cd]]
    worse = [comparison.labels[other] for other in away.index[-away >= ranks.cd]]
    parts = [
        f"significantly {word} than {listed(names, _NAMED)}"
        for word, names in (("better", better), ("worse", worse))
        if names
    ]
    return f"it is {' and '.join(parts) or 'significantly different from no other ranker'} ({test})"


def _why_none(comparison: Comparison, ranker: str) -> str:
    mine = comparison.summary[comparison.summary["ranker"] == ranker]
    there = [str(name) for name in mine.loc[mine["complete"], "dataset"]]
    if not there:
        return f"it is complete on none of {count(len(mine), 'data set')}"
    if why := comparison.rank_reasons.get(MEASURE):
        return f"{why} (it is complete on {listed(there, _NAMED)})"
    return f"it is complete on {listed(there, _NAMED)} alone, which the compared rankers do not share"
