"""The paper's claims about the hierarchical Bayesian tests of multi-class rankings, figures 7 and 8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.analysis.pairs import PAPER_PAIRS, ROPE
from experiments.analysis.paper import checks
from experiments.analysis.paper.claim import AVERAGE, Check, Claim, Finding
from experiments.analysis.paper.evidence import Evidence
from experiments.analysis.paper.mcc import BAYES, TALK, claim
from experiments.analysis.paper.reported import SURF
from experiments.formatting import fixed

STAR, EMBEDDED = "skrebate_multisurf_star", "reliefe_absmean_adaptive"
_MULTISURF = "skrebate_multisurf"

#: The pairs of figures 7 and 8.
FIGURE_7, FIGURE_8 = PAPER_PAIRS[:6], PAPER_PAIRS[6:]
_SURF_OVER_INFORMATION = tuple((ranker, "mutual_information") for ranker in SURF)

_MORE_LIKELY = "the same section takes 50 % for the border of dominance"


def _small_wins(evidence: Evidence) -> Finding:
    told, small = [], True
    for a, b in FIGURE_8:
        three = evidence.posterior(a, b)
        gap = float((evidence.table("best_f1")[a] - evidence.table("best_f1")[b]).mean())
        small &= three[0] > three[2] and 0 < gap < ROPE
        told.append(f"{evidence.label(b)} {fixed(three[0], 3)} against {fixed(three[2], 3)}, {fixed(gap, 4)}")
    return Finding(small, f"P(better) against P(worse), mean gain of max F1: {'; '.join(told)}")


def _highest_against_multisurf(evidence: Evidence) -> Finding:
    found = {b: evidence.posterior(a, b)[0] for a, b in FIGURE_8}
    told = ", ".join(f"{evidence.label(b)} {fixed(p, 3)}" for b, p in found.items())
    return Finding(found[_MULTISURF] == max(found.values()), f"P(better) than: {told}")


def _tested(
    key: str,
    form: str,
    place: str,
    statement: str,
    reading: str,
    reason: str,
    check: Check,
    *,
    pairs: Sequence[tuple[str, str]] = PAPER_PAIRS,
    noisy: bool = False,
    **settings: Any,
) -> Claim:
    """Make a claim about posteriors, in which the noise of folds is already; ``noisy`` if it compares several."""
    rankers = tuple(dict.fromkeys(ranker for pair in pairs for ranker in pair))
    said = (key, form, place, statement, reading, reason, check)
    return claim(*said, rankers=rankers, pairs=tuple(pairs), noisy=noisy, **settings)


CLAIMS = [
    _tested(
        "SURF dominates mutual information",
        AVERAGE,
        f"{BAYES}, figure 7a",
        "the dominance of the SURF branch over mutual information was confirmed",
        "P(better than mutual information) is at least 0.5 for each of the three SURF rankers",
        _MORE_LIKELY,
        checks.posteriors_all(_SURF_OVER_INFORMATION, lambda better, equal, worse: better >= 0.5),
        pairs=_SURF_OVER_INFORMATION,
    ),
    _tested(
        "very few clear winners",
        AVERAGE,
        f"{BAYES}, figures 7 and 8",
        "very few comparisons yield clear winners",
        "in at most two of the ten pairs a ranker is better with a probability of 0.95 or more",
        "95 % is the convention that the section names; very few is read as a fifth",
        checks.counted_pairs(PAPER_PAIRS, 0.95, lambda n: n / 5),
    ),
    _tested(
        "no dominance in most pairs",
        AVERAGE,
        f"{BAYES}, figures 7 and 8",
        "in most comparisons no ranker dominates with a probability of 50 %",
        "in less than half of the ten pairs a ranker is better with a probability of 0.5 or more",
        "as the sentence says",
        checks.counted_pairs(PAPER_PAIRS, 0.5, lambda n: (n - 1) // 2),
    ),
    _tested(
        "no dominance in figure 7",
        AVERAGE,
        f"{BAYES}, figure 7",
        "this is the case also for the diagrams of MultiSURFstar",
        "in less than half of its six pairs a ranker is better with a probability of 0.5 or more",
        "as the sentence says",
        checks.counted_pairs(FIGURE_7, 0.5, lambda n: (n - 1) // 2),
        pairs=FIGURE_7,
    ),
    _tested(
        "on par or better",
        AVERAGE,
        f"{BAYES}, figure 8",
        "ReliefE-absMean-adaptive is on par with, or better than MultiSURF and random forests",
        "P(the other better) is below 0.5 for both",
        _MORE_LIKELY,
        checks.posteriors_all(
            [(EMBEDDED, _MULTISURF), (EMBEDDED, "random_forest")], lambda better, equal, worse: worse < 0.5
        ),
        pairs=((EMBEDDED, _MULTISURF), (EMBEDDED, "random_forest")),
    ),
    _tested(
        "small win rates",
        AVERAGE,
        f"{BAYES}, figure 8",
        "ReliefE-absMean-adaptive offers a small, incremental win rate against the other methods",
        f"against each of the four P(better) exceeds P(worse), and its mean max F1 is higher by less than {ROPE}",
        "a win is more probable than a loss; small is what the paper's rope calls no difference that matters",
        _small_wins,
        pairs=FIGURE_8,
        noisy=True,
    ),
    _tested(
        "80 % against MultiSURF",
        AVERAGE,
        f"{BAYES}, figure 8",
        "ReliefE-absMean-adaptive dominates MultiSURF with a probability of 80 %",
        "P(ReliefE-absMean-adaptive better than MultiSURF) rounds to 0.8",
        "the number is given with one digit",
        checks.posterior_of(EMBEDDED, _MULTISURF, lambda better, equal, worse: 0.75 <= better < 0.85),
        pairs=((EMBEDDED, _MULTISURF),),
    ),
    _tested(
        "highest probability against MultiSURF",
        AVERAGE,
        f"{BAYES}, figure 8",
        "its dominance is most probable against MultiSURF",
        "of the four pairs of the figure the one with MultiSURF has the highest P(better)",
        "'with the highest probability' compares the figure's diagrams",
        _highest_against_multisurf,
        pairs=FIGURE_8,
        noisy=True,
    ),
    _tested(
        "below 95 % against MultiSURF",
        AVERAGE,
        f"{BAYES}, figure 8",
        "the difference to MultiSURF does not reach a probability of 95 %",
        "P(ReliefE-absMean-adaptive better than MultiSURF) is below 0.95",
        "as the sentence says",
        checks.posterior_of(EMBEDDED, _MULTISURF, lambda better, equal, worse: better < 0.95),
        pairs=((EMBEDDED, _MULTISURF),),
    ),
    _tested(
        "similar performance overall",
        AVERAGE,
        BAYES,
        "the method has similar performance to its competitors",
        "in each of the four pairs of figure 8 equality is the most probable of the three",
        "the test's own word for similar is equality within the rope",
        checks.posteriors_all(FIGURE_8, lambda better, equal, worse: equal >= max(better, worse)),
        pairs=FIGURE_8,
    ),
    _tested(
        "30 % against MultiSURFstar",
        AVERAGE,
        TALK,
        "ReliefE-absMean-adaptive outperforms MultiSURFstar with more than 30 %, and most of the rest is equality",
        "P(better) is above 0.3, and P(equal) above P(worse)",
        "most of the rest is more than half of it",
        checks.posterior_of(EMBEDDED, STAR, lambda better, equal, worse: better > 0.3 and equal > worse),
        pairs=((EMBEDDED, STAR),),
    ),
]
