"""The paper's claims about rankings of multi-class data."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np

from experiments.analysis.averages import speed_ratios
from experiments.analysis.claims import (
    MCC_DATASETS,
    MCC_RANKERS,
    RELIEFE,
    RELIEFF,
    SURF,
    Claim,
    Evidence,
    NotThereError,
)
from experiments.analysis.pairs import PAPER_PAIRS, ROPE
from experiments.analysis.similarity_blocks import block_means
from experiments.numbers import rank_shown

#: Who is compared: all Relief rankers, and all but the ReliefE variants.
_RELIEF = (*RELIEFE, *RELIEFF, "skrebate_relieff", *SURF)
_OTHERS = tuple(ranker for ranker in MCC_RANKERS if ranker not in RELIEFE)
_STAR, _EMBEDDED = "skrebate_multisurf_star", "reliefe_absmean_adaptive"


def _first(evidence: Evidence, measure: str, wanted: Sequence[str]) -> tuple[bool, str]:
    ranks = evidence.ranks(measure)
    told = ", ".join(f"{evidence.label(ranker)} {rank_shown(rank)}" for ranker, rank in ranks.head(4).items())
    return str(ranks.index[0]) in wanted, f"lowest average ranks: {told}"


def _best_by_max(evidence: Evidence) -> tuple[bool, str]:
    return _first(evidence, "best_f1", RELIEFE)


def _fewer_by_mean(evidence: Evidence) -> tuple[bool, str]:
    best = {
        measure: min((evidence.ranks(measure).get(ranker, np.inf) for ranker in RELIEFE), default=np.inf)
        for measure in ("best_f1", "mean_f1")
    }
    if not np.isfinite(best["best_f1"]):
        raise NotThereError("a complete ReliefE")
    return best["mean_f1"] > best["best_f1"], (
        f"lowest average rank of a ReliefE variant: {rank_shown(best['best_f1'])} by max F1, "
        f"{rank_shown(best['mean_f1'])} by mean F1"
    )


def _alike(evidence: Evidence, n: int | None) -> tuple[bool, str]:
    areas = evidence.averages("aurf1")
    best = areas if n is None else areas.head(n)
    if best["lower"].isna().any() or len(best) < 2:
        raise NotThereError("AUrF1 of two rankers on two common data sets")
    told = ", ".join(
        f"{evidence.label(line.ranker)} {line.mean:.3f} [{line.lower:.3f}, {line.upper:.3f}]"
        for line in best.iloc[[0, -1]].itertuples()
    )
    return bool(best["lower"].max() <= best["upper"].min()), f"first and last: {told}"


def _slowest(evidence: Evidence) -> tuple[bool, str]:
    times = evidence.averages("fit_seconds").set_index("ranker")["mean"]
    slow = [ranker for ranker in SURF if ranker in times]
    fast = [ranker for ranker in times.index if ranker not in SURF]
    if not slow or not fast:
        raise NotThereError("times of a SURF variant and of another ranker")
    return bool(times[slow].min() > times[fast].max()), (
        f"fastest of the SURF family {times[slow].min():.3g} s, slowest of the others {times[fast].max():.3g} s "
        f"({evidence.label(str(times[fast].idxmax()))})"
    )


def _ratios(evidence: Evidence, slow: Sequence[str], fast: Sequence[str]):
    ratios = speed_ratios(evidence.scores("fit_seconds"), list(slow), list(fast))
    if not len(ratios):
        raise NotThereError("times of both on one data set")
    return ratios


def _magnitude_faster(evidence: Evidence) -> tuple[bool, str]:
    ratios = _ratios(evidence, SURF, RELIEFE)["ratio"]
    middle = float(np.exp(np.log(ratios).mean()))
    return (
        middle >= 10,
        f"geometric mean of the ratios {middle:.3g}, from {ratios.min():.3g} to {ratios.max():.3g}",
    )


def _two_magnitudes(evidence: Evidence) -> tuple[bool, str]:
    ratios = _ratios(evidence, _OTHERS, RELIEFE)
    most = ratios.loc[ratios["ratio"].idxmax()]
    return bool(most["ratio"] >= 100), (
        f"largest ratio {most['ratio']:.3g}: {evidence.label(most['slow'])} / {evidence.label(most['fast'])} "
        f"on {most['dataset']}"
    )


def _always_faster(evidence: Evidence) -> tuple[bool, str]:
    ratios = _ratios(evidence, [ranker for ranker in _RELIEF if ranker not in RELIEFE], RELIEFE)
    slower = ratios[ratios["ratio"] <= 1]
    told = (
        f"ReliefE faster in {len(ratios) - len(slower)} of {len(ratios)} comparisons (data set × two rankers)"
    )
    if len(slower):
        worst = slower.loc[slower["ratio"].idxmin()]
        told += (
            f"; {evidence.label(worst['fast'])} took {1 / worst['ratio']:.3g} times as long as "
            f"{evidence.label(worst['slow'])} on {worst['dataset']}"
        )
    return not len(slower), told


def _dominance(evidence: Evidence) -> tuple[bool, str]:
    three = evidence.posterior(_EMBEDDED, "skrebate_multisurf")
    return 0.75 <= three[
        0
    ] < 0.85, f"P(better, equal, worse) = {three[0]:.3f}, {three[1]:.3f}, {three[2]:.3f}"


def _not_significant(evidence: Evidence) -> tuple[bool, str]:
    three = evidence.posterior(_EMBEDDED, "skrebate_multisurf")
    return three[0] < 0.95, f"P(better) = {three[0]:.3f}"


def _over_star(evidence: Evidence) -> tuple[bool, str]:
    three = evidence.posterior(_EMBEDDED, _STAR)
    return three[0] > 0.3 and three[1] > three[2], (
        f"P(better, equal, worse) = {three[0]:.3f}, {three[1]:.3f}, {three[2]:.3f}"
    )


def _on_par(evidence: Evidence) -> tuple[bool, str]:
    worse = {
        other: evidence.posterior(_EMBEDDED, other)[2] for other in ("skrebate_multisurf", "random_forest")
    }
    told = ", ".join(f"P({evidence.label(other)} better) = {p:.3f}" for other, p in worse.items())
    return max(worse.values()) < 0.5, told


def _few_winners(evidence: Evidence) -> tuple[bool, str]:
    highest = []
    for a, b in PAPER_PAIRS:
        with contextlib.suppress(NotThereError):
            three = evidence.posterior(a, b)
            highest.append(max(three[0], three[2]))
    if not highest:
        raise NotThereError("the hierarchical Bayesian test of the paper's pairs")
    n = sum(each < 0.5 for each in highest)
    return n > len(highest) / 2, f"no ranker better with 50 % in {n} of {len(highest)} pairs"


def _top_50(evidence: Evidence) -> tuple[bool, str]:
    return _first(evidence, "best_f1_top_50", ("reliefe_adaptive", "reliefe_absmean_adaptive"))


def _top_100(evidence: Evidence) -> tuple[bool, str]:
    ranks = evidence.ranks("best_f1_top_100")
    place = [ranks.index.get_loc(ranker) + 1 for ranker in RELIEFE if ranker in ranks.index]
    if not place:
        raise NotThereError("a complete ReliefE")
    return max(place) <= len(ranks) / 2, (
        f"places of the ReliefE variants: {', '.join(map(str, sorted(place)))} of {len(ranks)}"
    )


def _over_surf(evidence: Evidence) -> tuple[bool, str]:
    ranks = evidence.ranks("best_f1")
    own, surf = (ranks.reindex(list(names)).dropna() for names in (RELIEFF, SURF))
    if not len(own) or not len(surf):
        raise NotThereError("ranks of ReliefF and of the SURF family")
    return bool(
        own.mean() < surf.mean()
    ), f"mean of the average ranks: {rank_shown(own.mean())} and {rank_shown(surf.mean())}"


def _adaptive_alike(evidence: Evidence) -> tuple[bool, str]:
    table = evidence.scores("best_f1")
    gaps = {}
    for fixed in ("reliefe", "reliefe_absmean", "relieff", "relieff_absmean"):
        adaptive = f"{fixed}_adaptive"
        if fixed in table and adaptive in table:
            gap = (table[adaptive] - table[fixed]).dropna()
            if len(gap):
                gaps[fixed] = float(gap.mean())
    if not gaps:
        raise NotThereError("a ranker with and without adaptive k")
    told = ", ".join(f"{evidence.label(fixed)} {gap:+.3f}" for fixed, gap in gaps.items())
    return max(abs(gap) for gap in gaps.values()) < ROPE, f"mean change of max F1: {told}"


def _no_winner(evidence: Evidence) -> tuple[bool, str]:
    table = evidence.scores("best_f1")
    wins = {}
    for embedded, plain in zip(RELIEFE, RELIEFF, strict=True):
        if embedded in table and plain in table:
            both = table[[embedded, plain]].dropna()
            wins[embedded] = (int((both[embedded] > both[plain]).sum()), len(both))
    if not any(n for _, n in wins.values()):
        raise NotThereError("a ranker with and without embedding")
    told = ", ".join(f"{evidence.label(name)} on {won} of {n} data sets" for name, (won, n) in wins.items())
    return all(won < n for won, n in wins.values() if n), f"higher max F1 than without embedding: {told}"


def _embedded_alike(evidence: Evidence) -> tuple[bool, str]:
    inside, rest = block_means(evidence.rankings.similarity["curves"], RELIEFE)
    if np.isnan(inside) or np.isnan(rest):
        raise NotThereError("AUFUJI of two ReliefE variants and of other rankers")
    return inside > rest, f"mean AUFUJI {inside:.3f} among ReliefE variants, {rest:.3f} among all other pairs"


def _rf1_at(evidence: Evidence, dataset: str, low: float, high: float):
    """Mean rF1 of every complete ranker over the grid points from ``low`` to ``high`` features."""
    curves = evidence.rankings.curves
    mine = curves[(curves["dataset"] == dataset) & curves["n_features"].between(low, high)]
    if not len(mine):
        raise NotThereError(f"a complete ranker on {dataset}")
    return mine.groupby("ranker")["rf1_mean"].mean()


def _best_of(means, names: Sequence[str], what: str) -> tuple[str, float]:
    found = means.reindex(list(names)).dropna()
    if not len(found):
        raise NotThereError(f"rF1 of {what}")
    return str(found.idxmax()), float(found.max())


def _madelon(evidence: Evidence) -> tuple[bool, str]:
    means = _rf1_at(evidence, "madelon", 200, 300)
    _, own = _best_of(means, RELIEFE, "ReliefE")
    name, other = _best_of(means, _OTHERS, "the other rankers")
    above = [ranker for ranker in _OTHERS if means.get(ranker, 0.0) > 1]
    return own > 1 and not above, (
        f"mean rF1 over 200 to 300 features: best ReliefE variant {own:.3f}, best of the others {other:.3f} "
        f"({evidence.label(name)}); of the others {len(above)} above 1"
    )


def _genes(evidence: Evidence) -> tuple[bool, str]:
    means = _rf1_at(evidence, "genes", 1, 100)
    worst = float(means.reindex(list(RELIEFE)).dropna().min())
    if np.isnan(worst):
        raise NotThereError("rF1 of ReliefE on genes")
    _, other = _best_of(means, ("mutual_information",), "mutual information")
    return (
        worst > other,
        f"mean rF1 of the top 1 to 100: worst ReliefE {worst:.3f}, mutual information {other:.3f}",
    )


def _genes_surf(evidence: Evidence) -> tuple[bool, str]:
    missing = evidence.rankings.missing
    mine = missing[(missing["dataset"] == "genes") & missing["ranker"].isin(SURF)]
    stopped = mine[mine["state"].isin(["timeout", "out_of_memory"])]
    finished = [ranker for ranker in SURF if ranker in evidence.rankings.scores["fit_seconds"].columns]
    table = evidence.rankings.scores["fit_seconds"]
    done = [
        ranker for ranker in finished if "genes" in table.index and not np.isnan(table.at["genes", ranker])
    ]
    if not len(stopped) and not done:
        raise NotThereError("the SURF family on genes")
    return (
        not done,
        f"{len(stopped)} of {len(SURF)} SURF variants were stopped on genes, {len(done)} finished",
    )


_BAYES = "section 'Bayesian ranking comparison of ranking approaches for MCC'"
_MCC = "section 'Multi-class classification' of the results"


def _claim(
    key, place, statement, reading, function, datasets=MCC_DATASETS, rankers=MCC_RANKERS, **settings
) -> Claim:
    return Claim(key, "mcc", place, statement, reading, function, tuple(datasets), tuple(rankers), **settings)


_TESTED = tuple(dict.fromkeys(ranker for pair in PAPER_PAIRS for ranker in pair))

CLAIMS = [
    _claim(
        "lowest rank by max F1",
        f"{_MCC}, figure 5a",
        "ReliefE variants yield the best performing rankings, with the lowest average ranks by max F1",
        "the lowest average rank by max F1 is that of a ReliefE variant",
        _best_by_max,
    ),
    _claim(
        "fewer good rankings by mean F1",
        f"{_MCC}, figure 5b",
        "there are not many such rankings",
        "the best ReliefE variant has a higher (worse) average rank by mean F1 than by max F1",
        _fewer_by_mean,
    ),
    _claim(
        "top five of AUrF1 alike",
        f"{_MCC}; appendix 'Area under the rF1', figure 18",
        "the AUrF1 of the top five rankers are highly similar, within the confidence interval",
        "the 95 % intervals of the mean AUrF1 over data sets of the best five all overlap",
        lambda evidence: _alike(evidence, 5),
    ),
    _claim(
        "all AUrF1 alike",
        "appendix 'Area under the rF1', caption of figure 18",
        "all rankers perform similarly by AUrF1, with no notable differences",
        "the 95 % intervals of the mean AUrF1 over data sets of all rankers overlap",
        lambda evidence: _alike(evidence, None),
    ),
    _claim(
        "SURF slowest",
        f"{_MCC}, figure 6a",
        "the SURF variants are consistently slower than the others",
        "every SURF variant takes longer, on average over common data sets, than every other ranker",
        _slowest,
        times=True,
    ),
    _claim(
        "an order of magnitude faster",
        f"{_MCC}, caption of figure 6",
        "ReliefE variants are an order of magnitude (or more) faster",
        "seconds of the SURF family / seconds of ReliefE variants on the same data set: geometric mean at least 10",
        _magnitude_faster,
        rankers=(*RELIEFE, *SURF),
        times=True,
    ),
    _claim(
        "up to two orders of magnitude faster",
        _BAYES,
        "ReliefE ranks up to two orders of magnitude faster than its competitors",
        "the largest ratio of seconds on one data set, another ranker / ReliefE variant, is at least 100",
        _two_magnitudes,
        times=True,
    ),
    _claim(
        "faster than all Relief rankers",
        "section 'Conclusions and further work'",
        "embedding-based rankers are consistently faster than all other Relief-based ones",
        "on every data set every ReliefE variant is faster than every ReliefF and SURF variant",
        _always_faster,
        rankers=_RELIEF,
        times=True,
    ),
    _claim(
        "80 % against MultiSURF",
        f"{_BAYES}, figure 8",
        "ReliefE-absMean-adaptive dominates MultiSURF with a probability of 80 %",
        "P(ReliefE-absMean-adaptive better than MultiSURF) rounds to 0.8",
        _dominance,
        rankers=(_EMBEDDED, "skrebate_multisurf"),
    ),
    _claim(
        "below 95 % against MultiSURF",
        f"{_BAYES}, figure 8",
        "the difference to MultiSURF does not reach a probability of 95 %",
        "P(ReliefE-absMean-adaptive better than MultiSURF) is below 0.95",
        _not_significant,
        rankers=(_EMBEDDED, "skrebate_multisurf"),
    ),
    _claim(
        "30 % against MultiSURFstar",
        "section 'Discussion'",
        "ReliefE-absMean-adaptive outperforms MultiSURFstar with more than 30 %, and most of the rest is equality",
        "P(better) above 0.3, and P(equal) above P(worse)",
        _over_star,
        rankers=(_EMBEDDED, _STAR),
    ),
    _claim(
        "on par or better",
        f"{_BAYES}, figure 8",
        "ReliefE-absMean-adaptive is on par with, or better than MultiSURF and random forests",
        "P(the other better) is below 0.5 for both",
        _on_par,
        rankers=(_EMBEDDED, "skrebate_multisurf", "random_forest"),
    ),
    _claim(
        "few clear winners",
        f"{_BAYES}, figures 7 and 8",
        "in most comparisons no ranker dominates with a probability of 50 %",
        "in more than half of the ten pairs neither ranker is better with a probability of 0.5 or more",
        _few_winners,
        rankers=_TESTED,
    ),
    _claim(
        "adaptive ReliefE best in the top 50",
        "appendix 'Multi-class classification, additional rank diagrams', figure 21",
        "with the first 50 features the adaptive ReliefE performs best on average",
        "the lowest average rank by max F1 over the top 50 is that of an adaptive ReliefE variant",
        _top_50,
    ),
    _claim(
        "ReliefE well in the top 100",
        "appendix 'Multi-class classification, additional rank diagrams', figure 20",
        "with the first 100 features the ReliefE variants perform well",
        "all ReliefE variants are in the better half by average rank of max F1 over the top 100",
        _top_100,
    ),
    _claim(
        "own ReliefF over SURF",
        "section 'Conclusions and further work'",
        "the re-implemented ReliefF variants perform better than the SURF branch of scikit-rebate",
        "the mean of the average ranks by max F1 is lower for ReliefF variants than for the SURF family",
        _over_surf,
    ),
    _claim(
        "adaptive k alike",
        "section 'Discussion'",
        "adaptive neighbour selection performs very similarly to a fixed number of neighbours",
        f"max F1 changes by less than {ROPE} on average over data sets, for each of the four rankers",
        _adaptive_alike,
        rankers=(*RELIEFE, *RELIEFF),
    ),
    _claim(
        "no consistent gain by embedding",
        "section 'Conclusions and further work'",
        "embedding-based rankers do not consistently outperform those without embedding",
        "no ReliefE variant has a higher max F1 than the ReliefF with the same options on every data set",
        _no_winner,
        rankers=(*RELIEFE, *RELIEFF),
    ),
    _claim(
        "embedded rankers alike by FUJI",
        "section 'Relations between ranking algorithms', figure 11",
        "embedding-based rankings are very similar to each other",
        "mean AUFUJI (rF1 curves) among ReliefE variants is above that of all other pairs",
        _embedded_alike,
    ),
    _claim(
        "madelon at 250 features",
        "appendix 'Case study with Madelon, DLBCL and genes', figure 22",
        "around 250 features rF1 exceeds 1 and ReliefE variants are the only ones to rank well",
        "over 200 to 300 features the best ReliefE variant has a mean rF1 above 1, and no other ranker has",
        _madelon,
        datasets=("madelon",),
    ),
    _claim(
        "genes against mutual information",
        "appendix 'Case study with Madelon, DLBCL and genes', figure 24",
        "on genes ReliefE is consistently better than mutual information in about the first hundred features",
        "mean rF1 over the grid points up to 100 is higher for every ReliefE variant than for mutual information",
        _genes,
        datasets=("genes",),
        rankers=(*RELIEFE, "mutual_information"),
    ),
    _claim(
        "SURF does not finish genes",
        "appendix 'Case study with Madelon, DLBCL and genes', figure 24",
        "the SURF variants do not finish genes in the time given",
        "no SURF variant is complete on genes",
        _genes_surf,
        datasets=("genes",),
        rankers=SURF,
        stand_ins=False,
    ),
]
