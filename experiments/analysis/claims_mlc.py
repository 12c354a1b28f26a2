"""The paper's claims about rankings of multi-label data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.analysis.averages import speed_ratios
from experiments.analysis.claims import (
    DISTANCES,
    MLC_DATASETS,
    MLC_RANKERS,
    RELIEFE,
    RELIEFF,
    Claim,
    Evidence,
    NotThereError,
    of_labels,
)
from experiments.analysis.similarity_blocks import between, block_means
from experiments.numbers import rank_shown

_EMBEDDED, _PLAIN = of_labels(RELIEFE), of_labels(RELIEFF)


def _magnitude_faster(evidence: Evidence) -> tuple[bool, str]:
    table = evidence.scores("fit_seconds")
    parts = [
        speed_ratios(table, [f"{plain}_{distance}"], [f"{embedded}_{distance}"])
        for embedded, plain in zip(RELIEFE, RELIEFF, strict=True)
        for distance in DISTANCES
    ]
    ratios = pd.concat(parts, ignore_index=True)["ratio"]
    if not len(ratios):
        raise NotThereError("times of a ranker with and without embedding on one data set")
    middle = float(np.exp(np.log(ratios).mean()))
    return (
        middle > 10,
        f"geometric mean of the ratios {middle:.3g}, from {ratios.min():.3g} to {ratios.max():.3g}",
    )


def _order(evidence: Evidence) -> list[str]:
    return [str(ranker) for ranker in evidence.averages("aurf1")["ranker"]]


def _place(order: Sequence[str], names: Sequence[str], what: str) -> tuple[int, str]:
    for place, ranker in enumerate(order, start=1):
        if ranker in names:
            return place, ranker
    raise NotThereError(f"AUrF1 of {what}")


def _among(evidence: Evidence, names: Sequence[str], what: str, most: int) -> tuple[bool, str]:
    order = _order(evidence)
    place, ranker = _place(order, names, what)
    return (
        place <= most,
        f"best of them: {evidence.label(ranker)}, place {place} of {len(order)} by mean AUrF1",
    )


def _hamming(evidence: Evidence) -> tuple[bool, str]:
    return _among(evidence, ("relieff_adaptive_hamming",), "adaptive ReliefF with Hamming distance", 5)


def _cosine(evidence: Evidence) -> tuple[bool, str]:
    return _among(evidence, of_labels(RELIEFF, ("cosine",)), "ReliefF with cosine distance", 3)


def _cosine_first(evidence: Evidence) -> tuple[bool, str]:
    return _among(evidence, of_labels(RELIEFF, ("cosine",)), "ReliefF with cosine distance", 1)


def _abs_mean(evidence: Evidence) -> tuple[bool, str]:
    names = of_labels(("relieff_absmean", "relieff_absmean_adaptive"))
    return _among(evidence, names, "ReliefF-absMean", 5)


def _thirteenth(evidence: Evidence) -> tuple[bool, str]:
    order = _order(evidence)
    names = of_labels(RELIEFE, ("cosine", "hyperbolic"))
    place, ranker = _place(order, names, "ReliefE with an embedded target space")
    return 10 <= place <= 16, f"{evidence.label(ranker)}, place {place} of {len(order)} by mean AUrF1"


def _best_not_embedded(evidence: Evidence) -> tuple[bool, str]:
    order = _order(evidence)
    _place(order, _EMBEDDED, "ReliefE")  # else nothing is compared
    best = order[:5]
    return not set(best) & set(_EMBEDDED), f"best five: {', '.join(map(evidence.label, best))}"


def _worst_distances(evidence: Evidence) -> tuple[bool, str]:
    areas = evidence.averages("aurf1").set_index("ranker")["mean"]
    means = {}
    for distance in DISTANCES:
        mine = areas.reindex(list(of_labels((*RELIEFE, *RELIEFF), (distance,)))).dropna()
        if len(mine):
            means[distance] = float(mine.mean())
    if len(means) < 3 or not {"subset", "hyperbolic"} <= set(means):
        raise NotThereError("AUrF1 with the subset, the hyperbolic and another distance")
    worst = sorted(means, key=lambda distance: means[distance])[:2]
    told = ", ".join(
        f"{distance} {mean:.3f}" for distance, mean in sorted(means.items(), key=lambda each: -each[1])
    )
    return set(worst) == {"subset", "hyperbolic"}, f"mean AUrF1 by distance: {told}"


def _first(evidence: Evidence, measure: str, names: Sequence[str]) -> tuple[bool, str]:
    ranks = evidence.ranks(measure)
    told = ", ".join(
        f"{evidence.label(str(ranker))} {rank_shown(rank)}" for ranker, rank in ranks.head(3).items()
    )
    return str(ranks.index[0]) in names, f"lowest average ranks: {told}"


def _top_10_max(evidence: Evidence) -> tuple[bool, str]:
    names = of_labels(("relieff_adaptive", "relieff_absmean_adaptive"))
    return _first(evidence, "best_f1_top_10", names)


def _top_10_mean(evidence: Evidence) -> tuple[bool, str]:
    return _first(evidence, "mean_f1_top_10", of_labels(RELIEFF, ("cosine",)))


def _embedded_alike(evidence: Evidence) -> tuple[bool, str]:
    inside, rest = block_means(evidence.rankings.similarity["curves"], _EMBEDDED)
    if np.isnan(inside) or np.isnan(rest):
        raise NotThereError("AUFUJI of two ReliefE variants and of other rankers")
    return inside > rest, f"mean AUFUJI {inside:.3f} among ReliefE variants, {rest:.3f} among all other pairs"


def _hyperbolic_alike(evidence: Evidence) -> tuple[bool, str]:
    similarity = evidence.rankings.similarity["curves"]
    near = of_labels(RELIEFF, ("hyperbolic", "subset"))
    others = [name for name in _PLAIN if name not in near]
    with_near, with_others = between(similarity, _EMBEDDED, near), between(similarity, _EMBEDDED, others)
    if np.isnan(with_near) or np.isnan(with_others):
        raise NotThereError("AUFUJI of ReliefE with ReliefF variants of several distances")
    return with_near > with_others, (
        f"mean AUFUJI with ReliefE variants: {with_near:.3f} for hyperbolic and subset, "
        f"{with_others:.3f} for the other distances"
    )


def _delicious(evidence: Evidence, low: int, high: int) -> pd.Series:
    curves = evidence.rankings.curves
    mine = curves[(curves["dataset"] == "delicious") & curves["n_features"].between(low, high)]
    if not len(mine):
        raise NotThereError("a complete ranker on delicious")
    return mine.groupby("ranker")["rf1_mean"].mean()


def _delicious_embedded(evidence: Evidence) -> tuple[bool, str]:
    means = _delicious(evidence, 1, 250)
    own, others = (means.reindex(list(names)).dropna() for names in (_EMBEDDED, _PLAIN))
    if not len(own) or not len(others):
        raise NotThereError("rF1 of ReliefE and ReliefF on delicious")
    return bool(own.min() > others.max()), (
        f"mean rF1 of the top 1 to 250: worst ReliefE variant {own.min():.3f}, "
        f"best ReliefF variant {others.max():.3f}"
    )


def _delicious_cosine(evidence: Evidence) -> tuple[bool, str]:
    areas = evidence.scores("aurf1", "delicious")
    best = str(areas.idxmax())
    return best.endswith("_cosine"), f"highest AUrF1: {evidence.label(best)} {areas.max():.3f}"


_PLACE = "section 'Multi-label classification' of the results, figure 10"
_TALK = "section 'Discussion'"


def _claim(
    key, place, statement, reading, function, datasets=MLC_DATASETS, rankers=MLC_RANKERS, **settings
) -> Claim:
    return Claim(key, "mlc", place, statement, reading, function, tuple(datasets), tuple(rankers), **settings)


CLAIMS = [
    _claim(
        "more than an order of magnitude faster",
        "section 'Multi-label classification' of the results, figure 9",
        "the ReliefE branch is more than an order of magnitude faster",
        "seconds of ReliefF / seconds of ReliefE, same options, distance and data set: geometric mean above 10",
        _magnitude_faster,
        times=True,
    ),
    _claim(
        "best rankers do not embed the input",
        _PLACE,
        "the best performing variants do not embed the input space",
        "there is no ReliefE variant among the five highest mean AUrF1",
        _best_not_embedded,
    ),
    _claim(
        "cosine first",
        _PLACE,
        "the top performing variant embeds the target space with cosine distance",
        "the highest mean AUrF1 is that of a ReliefF variant with cosine distance",
        _cosine_first,
    ),
    _claim(
        "Hamming and adaptive k among the best",
        _TALK,
        "ReliefF with adaptive k and Hamming distance is among the best performing options",
        "ReliefF-adaptive with Hamming distance is among the five highest mean AUrF1",
        _hamming,
    ),
    _claim(
        "cosine among the top three",
        _TALK,
        "a variant with cosine distance on embedded targets is among the top three",
        "a ReliefF variant with cosine distance is among the three highest mean AUrF1",
        _cosine,
    ),
    _claim(
        "absMean among the top five",
        _TALK,
        "the absMean variant of ReliefF is among the top five",
        "a ReliefF-absMean variant is among the five highest mean AUrF1",
        _abs_mean,
    ),
    _claim(
        "best ReliefE with embedded targets is 13th",
        _TALK,
        "the best ReliefE that embeds both spaces is ranked 13th",
        "the best ReliefE variant with cosine or hyperbolic distance has place 13 ± 3 by mean AUrF1",
        _thirteenth,
    ),
    _claim(
        "subset and hyperbolic worst",
        _TALK,
        "the subset and hyperbolic distances are among the worst performing ones",
        "of the six distances these two have the lowest AUrF1, averaged over the eight rankers",
        _worst_distances,
    ),
    _claim(
        "adaptive ReliefF first by max of the top 10",
        "appendix 'Multi-label classification, additional rank diagrams', figure 25",
        "the adaptive version of ReliefF places the top features best",
        "the lowest average rank by max F1 over the top 10 is that of an adaptive ReliefF variant",
        _top_10_max,
    ),
    _claim(
        "cosine first by mean of the top 10",
        "appendix 'Multi-label classification, additional rank diagrams', figure 26",
        "with targets embedded by cosine distance ReliefF performs best",
        "the lowest average rank by mean F1 over the top 10 is that of a ReliefF variant with cosine distance",
        _top_10_mean,
    ),
    _claim(
        "embedded rankers alike by FUJI",
        "section 'Relations between ranking algorithms', figure 12",
        "the ReliefE variants are very similar to each other",
        "mean AUFUJI (rF1 curves) among ReliefE variants is above that of all other pairs",
        _embedded_alike,
    ),
    _claim(
        "hyperbolic and subset like embedded ones",
        _TALK,
        "hyperbolic and subset versions of ReliefF behave like the embedding-based ones",
        "their mean AUFUJI with ReliefE variants is above that of ReliefF with the other distances",
        _hyperbolic_alike,
    ),
    _claim(
        "delicious up to 250 features",
        "appendix 'Case study with Delicious', figure 27",
        "on delicious ReliefE variants perform consistently better for up to 250 features",
        "mean rF1 over the grid points up to 250 is higher for every ReliefE than for every ReliefF variant",
        _delicious_embedded,
        datasets=("delicious",),
    ),
    _claim(
        "delicious and cosine",
        "appendix 'Case study with Delicious', figure 27",
        "on delicious cosine-based embeddings of the targets are the best option",
        "the highest mean AUrF1 on delicious is that of a ranker with cosine distance",
        _delicious_cosine,
        datasets=("delicious",),
    ),
]
