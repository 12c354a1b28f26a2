"""The paper's claims about rankings of multi-class data at large; posteriors and single data sets stand apart."""

from __future__ import annotations

import numpy as np

from experiments.analysis.critical_distance import critical_distance
from experiments.analysis.paper import checks
from experiments.analysis.paper.claim import (
    ALL,
    AVERAGE,
    EXISTS,
    Finding,
    NotThereError,
    claims_about,
)
from experiments.analysis.paper.evidence import Evidence
from experiments.analysis.paper.reported import MCC_DATASETS, MCC_RANKERS, RELIEFE, RELIEFF, SURF
from experiments.analysis.similarity import between
from experiments.formatting import fixed, rank_shown

#: Who is compared: all Relief rankers, and all but the ReliefE variants.
RELIEF = (*RELIEFE, *RELIEFF, "skrebate_relieff", *SURF)
OTHERS = tuple(ranker for ranker in MCC_RANKERS if ranker not in RELIEFE)
#: Rankers that the paper did not make.
BASELINES = ("skrebate_relieff", *SURF, "random_forest", "mutual_information")

#: Rankers with and without a change.
ADAPTIVE = tuple(
    (f"{name}_adaptive", name) for name in ("reliefe", "reliefe_absmean", "relieff", "relieff_absmean")
)
ABSMEAN = (
    ("reliefe_absmean", "reliefe"), ("reliefe_absmean_adaptive", "reliefe_adaptive"),
    ("relieff_absmean", "relieff"), ("relieff_absmean_adaptive", "relieff_adaptive"),
)  # fmt: skip


def _not_many(evidence: Evidence) -> Finding:
    best, mean = (evidence.ranks(what) for what in ("best_f1", "mean_f1"))
    first = [set(ranks.index[ranks == ranks.iloc[0]]) for ranks in (best, mean)]
    told = "; ".join(
        f"lowest average rank by {said}: {evidence.label(str(ranks.index[0]))} {rank_shown(ranks.iloc[0])}"
        for ranks, said in ((best, "max F1"), (mean, "mean F1"))
    )
    return Finding(bool(first[0] & set(RELIEFE)) and not first[1] & set(RELIEFE), told)


def _significantly_faster(evidence: Evidence) -> Finding:
    ranks = evidence.ranks("fit_seconds", higher_is_better=False)
    n_datasets = len(evidence.common("fit_seconds"))
    own, others = ranks.reindex(list(RELIEFE)).dropna(), ranks.reindex(list(BASELINES)).dropna()
    if n_datasets < 2 or not len(own) or not len(others):
        raise NotThereError("times of both on two data sets")
    distance = critical_distance(len(ranks), n_datasets)
    n = int((others - own.min() > distance).sum())
    return Finding(
        2 * n >= len(BASELINES),
        f"{n} of {len(others)} baselines have an average rank of time that is more than the critical distance "
        f"{rank_shown(distance)} above {rank_shown(own.min())}, that of {evidence.label(str(own.idxmin()))}",
    )


def _no_winner(evidence: Evidence) -> Finding:
    wins, enough = [], True
    for embedded, plain in zip(RELIEFE, RELIEFF, strict=True):
        both = evidence.table("best_f1", (embedded, plain)).dropna()
        won = int((both[embedded] > both[plain]).sum())
        enough &= won < len(both)
        wins.append(f"{evidence.label(embedded)} on {won} of {len(both)} data sets")
    if not evidence.whole((*RELIEFE, *RELIEFF), "best_f1"):
        raise NotThereError("all rankers with and without embedding on one data set")
    return Finding(enough, f"higher max F1 than without embedding: {', '.join(wins)}")


def _own_like_embedded(evidence: Evidence) -> Finding:
    near = between(evidence.similarity, RELIEFE, RELIEFF)
    far = between(evidence.similarity, RELIEFE, BASELINES)
    if np.isnan(near) or np.isnan(far):
        raise NotThereError("AUFUJI of ReliefE with ReliefF and with the baselines")
    told = (
        f"mean AUFUJI with ReliefE variants: {fixed(near, 4)} for ReliefF, {fixed(far, 4)} for the baselines"
    )
    return Finding(checks.above(near, far), told)


BAYES = "section 'Bayesian ranking comparison of ranking approaches for MCC'"
_MCC = "section 'Multi-class classification' of the results"
_MORE_RANKS = "appendix 'Multi-class classification, additional rank diagrams'"
_LAST = "section 'Conclusions and further work'"
TALK = "section 'Discussion'"
_FUJI = "section 'Relations between ranking algorithms', figure 11"

_RANK = "lower average ranks are what the sentence names; a first place that is shared counts"
_BY_MEAN = (
    "the figure shows mean times, so these decide; the geometric mean depends less on the largest data sets"
)

claim = claims_about("mcc", MCC_DATASETS, MCC_RANKERS)

CLAIMS = [
    claim(
        "lowest rank by max F1",
        AVERAGE,
        f"{_MCC}, figure 5a",
        "ReliefE variants yield the best performing rankings, with the lowest average ranks by max F1",
        "the lowest average rank by max F1 is that of a ReliefE variant",
        _RANK,
        checks.first_by_rank("best_f1", RELIEFE),
    ),
    claim(
        "not many good rankings by mean F1",
        AVERAGE,
        f"{_MCC}, figure 5b",
        "there are not many such rankings",
        "a ReliefE variant has the lowest average rank by max F1, and none has it by mean F1",
        "max F1 needs one good number of features, mean F1 many; were ReliefE first in both, there would be many",
        _not_many,
    ),
    claim(
        "top five of AUrF1 alike",
        AVERAGE,
        f"{_MCC}; appendix 'Area under the rF1', figure 18",
        "the AUrF1 of the top five rankers are highly similar, within the confidence interval",
        "the first by mean AUrF1 is significantly better than none of the next four: paired differences over data "
        "sets, t intervals of 95 % together",
        "intervals of each ranker's own mean are as wide as data sets differ, and would hold any rankers",
        checks.alike("aurf1", 5),
    ),
    claim(
        "all AUrF1 alike",
        AVERAGE,
        "appendix 'Area under the rF1', caption of figure 18",
        "all rankers perform similarly by AUrF1, with no notable differences",
        "the first by mean AUrF1 is significantly better than none of all others, by the same intervals",
        "as for the top five",
        checks.alike("aurf1", None),
    ),
    claim(
        "SURF slowest",
        AVERAGE,
        f"{_MCC}, figure 6a",
        "the SURF variants are consistently slower than the others",
        "every SURF variant takes longer, on average over data sets, than every other ranker",
        "the sentence speaks of the right end of a figure of mean times",
        checks.slowest_on_average(SURF),
        times=True,
    ),
    claim(
        "an order of magnitude faster",
        AVERAGE,
        f"{_MCC}, caption of figure 6",
        "ReliefE variants are an order of magnitude (or more) faster",
        "mean seconds of the SURF family / mean seconds of the ReliefE variants are at least 10",
        _BY_MEAN,
        checks.faster_by(SURF, RELIEFE, 10),
        rankers=(*RELIEFE, *SURF),
        times=True,
    ),
    claim(
        "up to two orders of magnitude faster",
        EXISTS,
        BAYES,
        "ReliefE ranks up to two orders of magnitude faster than its competitors",
        "on some data set some other ranker takes at least 100 times the seconds of a ReliefE variant",
        "'up to' is said of the largest ratio",
        checks.largest_ratio(OTHERS, RELIEFE, 100),
        times=True,
    ),
    claim(
        "significantly faster than many",
        AVERAGE,
        "section 'Introduction', contributions; figure 6b",
        "ReliefE is significantly faster than many state-of-the-art methods",
        "the average rank by time of the fastest ReliefE variant is lower by more than the critical distance than "
        "those of at least three of the six baselines",
        "the paper tells significance of times by a critical-distance diagram; many is read as half",
        _significantly_faster,
        times=True,
    ),
    claim(
        "faster than all Relief rankers",
        ALL,
        _LAST,
        "embedding-based rankers are consistently faster than all other Relief-based ones",
        "on every data set every ReliefE variant takes less time than every ReliefF and SURF variant",
        "'consistently' and 'all' leave no exception",
        checks.always_faster(RELIEFE, [ranker for ranker in RELIEF if ranker not in RELIEFE]),
        rankers=RELIEF,
        times=True,
    ),
    claim(
        "adaptive ReliefE best in the top 50",
        AVERAGE,
        f"{_MORE_RANKS}, figure 21",
        "with the first 50 features the adaptive ReliefE performs best on average",
        "the lowest average rank by max F1 over the top 50 is that of an adaptive ReliefE variant",
        _RANK,
        checks.first_by_rank("best_f1_top_50", ("reliefe_adaptive", "reliefe_absmean_adaptive")),
    ),
    claim(
        "ReliefE well in the top 100",
        AVERAGE,
        f"{_MORE_RANKS}, figure 20",
        "with the first 100 features the ReliefE variants, the adaptive one among them, perform well",
        "all ReliefE variants are in the better half by average rank of max F1 over the top 100",
        "the caption names no place; well is read as better than half of the rankers",
        checks.better_half("best_f1_top_100", RELIEFE),
    ),
    claim(
        "own ReliefF over SURF",
        AVERAGE,
        _LAST,
        "the re-implemented ReliefF variants perform better than the SURF branch of scikit-rebate",
        "the mean of the average ranks by max F1 is lower for ReliefF variants than for the SURF family",
        "two branches are compared, so their means are",
        checks.lower_mean_rank("best_f1", RELIEFF, SURF),
    ),
    claim(
        "skrebate's ReliefF worse than ours",
        AVERAGE,
        "section 'Relevant negative results'",
        "ReliefF as in scikit-rebate differs with a somewhat negative effect on performance",
        "its average rank by max F1 is higher (worse) than that of the re-implemented ReliefF",
        "the paper shows it by its rank diagrams; its two ReliefF take 100 and 15 neighbours",
        checks.lower_mean_rank("best_f1", ("relieff",), ("skrebate_relieff",)),
    ),
    claim(
        "adaptive k alike",
        AVERAGE,
        TALK,
        "adaptive neighbour selection performs very similarly to a fixed number of neighbours",
        "for each of four rankers the mean absolute change of max F1 is at most half of the mean absolute "
        "difference of any two rankers",
        "max F1 of all rankers may lie within any fixed tolerance; the measure is what distinguishes rankers",
        checks.small_change("best_f1", ADAPTIVE, 0.5),
        equal=ADAPTIVE,
    ),
    claim(
        "absMean competitive",
        AVERAGE,
        TALK,
        "the distance to the mean of the neighbours offers competitive results",
        "for each of four rankers the mean loss of max F1 is at most half of the mean absolute difference of any "
        "two rankers",
        "competitive may be better, but not much worse; the measure is that of adaptive k",
        checks.small_change("best_f1", ABSMEAN, 0.5, one_sided=True),
    ),
    claim(
        "no consistent gain by embedding",
        EXISTS,
        _LAST,
        "embedding-based rankers do not consistently outperform those without embedding",
        "each ReliefE variant has a data set where its max F1 is not above that of the ReliefF with its options",
        "it denies a 'for all', so one exception for each variant decides",
        _no_winner,
        rankers=(*RELIEFE, *RELIEFF),
    ),
    claim(
        "embedded rankers alike by FUJI",
        AVERAGE,
        _FUJI,
        "embedding-based rankings are very similar to each other",
        "mean AUFUJI (rF1 curves) among ReliefE variants is above that of all other pairs",
        "the sentence speaks of a block of the heat map",
        checks.alike_by_fuji(RELIEFE, "ReliefE variants"),
        draws=40,
    ),
    claim(
        "ReliefF curves like ReliefE's",
        AVERAGE,
        f"{TALK}, figure 11",
        "versions of ReliefF as implemented here yield performance curves similar to ReliefE's",
        "mean AUFUJI with ReliefE variants is higher for ReliefF variants than for the six baselines",
        "similar is read as more similar than others",
        _own_like_embedded,
        draws=40,
    ),
]
