"""The place of a ranker that was added to those of a study, in a sentence: what its author wants to know first."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.analysis.comparison import Comparison
from experiments.analysis.critical_distance import RankComparison
from experiments.analysis.scores import MEASURES
from experiments.formatting import count, listed, rank_shown

#: The measure that ranks are told by.
MEASURE = "best_f1"
#: As many names are written out; of more it is said how many.
_NAMED = 6


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
