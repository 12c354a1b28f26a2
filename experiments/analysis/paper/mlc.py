"""The paper's claims about rankings of multi-label data."""

from __future__ import annotations

import numpy as np
import pandas as pd

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
from experiments.analysis.paper.reported import (
    DISTANCES,
    EMBEDDED_DISTANCES,
    MLC_DATASETS,
    MLC_RANKERS,
    RELIEFE,
    RELIEFF,
    of_labels,
)
from experiments.analysis.scores import fold_scores
from experiments.analysis.similarity import between
from experiments.analysis.ties import equalised
from experiments.formatting import fixed

_EMBEDDED, _PLAIN = of_labels(RELIEFE), of_labels(RELIEFF)
#: (ReliefF, ReliefE) and (adaptive, fixed) with the same options and distance.
_COUNTERPARTS = tuple(zip(_PLAIN, _EMBEDDED, strict=True))
_ADAPTIVE = tuple(
    (f"{name}_adaptive_{distance}", f"{name}_{distance}")
    for name in ("relieff", "relieff_absmean")
    for distance in DISTANCES
)
_RAW = tuple(distance for distance in DISTANCES if distance not in EMBEDDED_DISTANCES)


def _by_distance(table: pd.DataFrame) -> pd.Series:
    """Average over data sets and rankers for each distance, highest first."""
    means = {}
    for distance in DISTANCES:
        mine = [name for name in of_labels((*RELIEFE, *RELIEFF), (distance,)) if name in table]
        if mine:
            means[distance] = float(table[mine].to_numpy().mean())
    made = pd.Series(equalised(list(means.values())), index=list(means), dtype=float)
    if len(made) < len(DISTANCES):
        raise NotThereError("rankers with every target distance")
    return made.sort_values(ascending=False, kind="stable")


def _distances_told(means: pd.Series) -> str:
    return ", ".join(f"{distance} {fixed(mean, 4)}" for distance, mean in means.items())


def _worst_distances(evidence: Evidence) -> Finding:
    means = _by_distance(evidence.common("aurf1"))
    places = means.rank(method="min")  # 1 is the lowest
    holds = bool(places[["subset", "hyperbolic"]].max() <= len(means) / 2)
    return Finding(holds, f"mean AUrF1 by distance: {_distances_told(means)}")


def _embedding_helps(evidence: Evidence) -> Finding:
    means = _by_distance(evidence.common("aurf1"))
    raw, embedded = means[list(_RAW)].max(), means[list(EMBEDDED_DISTANCES)].max()
    return Finding(bool(embedded > raw), f"mean AUrF1 by distance: {_distances_told(means)}")


def _lower_times(evidence: Evidence) -> Finding:
    best: tuple[float, str] | None = None
    for name in (*RELIEFE, *RELIEFF):
        ratios = evidence.ratios(of_labels((name,), _RAW), of_labels((name,), EMBEDDED_DISTANCES))
        most = ratios.loc[ratios["ratio"].idxmax()]
        said = f"{evidence.label(most['slow'])} / {evidence.label(most['fast'])} on {most['dataset']}"
        best = max(best or (0.0, ""), (float(most["ratio"]), said))
    if best is None:
        raise NotThereError("times with embedded and other targets")
    return Finding(best[0] > 1, f"largest ratio {checks.seconds(best[0])}: {best[1]}")


def _well_or_not_at_all(evidence: Evidence) -> Finding:
    table = evidence.table("aurf1")
    table = table[table.notna().all(axis=1)]
    if not len(table):
        raise NotThereError("all rankers on one data set")
    places = {}
    for dataset in table.index:
        means = _by_distance(table.loc[[dataset]])
        places[dataset] = int(checks.places_of(means)["hyperbolic"])
    between_them = [dataset for dataset, place in places.items() if place in (3, 4)]
    told = ", ".join(f"{dataset} {place}" for dataset, place in places.items())
    return Finding(not between_them, f"place of the hyperbolic distance among six: {told}")


def _places_move(evidence: Evidence) -> Finding:
    ranks = evidence.ranks("best_f1_top_10")
    moves = [abs(ranks[a] - ranks[b]) for a, b in _ADAPTIVE if a in ranks and b in ranks]
    if len(moves) < len(_ADAPTIVE):
        raise NotThereError("ranks of every ReliefF with and without adaptive k")
    n = sum(move >= 1 for move in moves)
    told = f"average ranks with and without adaptive k differ by a place or more in {n} of {len(moves)} pairs"
    return Finding(2 * n > len(moves), told)


def _hyperbolic_alike(evidence: Evidence) -> Finding:
    near = of_labels(RELIEFF, ("hyperbolic", "subset"))
    others = [name for name in _PLAIN if name not in near]
    similarity = evidence.similarity
    with_near, with_others = between(similarity, _EMBEDDED, near), between(similarity, _EMBEDDED, others)
    if np.isnan(with_near) or np.isnan(with_others):
        raise NotThereError("AUFUJI of ReliefE with ReliefF variants of several distances")
    return Finding(
        checks.above(with_near, with_others),
        f"mean AUFUJI with ReliefE variants: {fixed(with_near, 4)} for hyperbolic and subset, "
        f"{fixed(with_others, 4)} for the other distances",
    )


def _steadier(evidence: Evidence) -> Finding:
    if evidence.folds is None:
        raise NotThereError("rankings")
    gaps = []
    for dataset in evidence.datasets:
        for plain, embedded in _COUNTERPARTS:
            cells = [evidence.folds.cell(dataset, name) for name in (plain, embedded)]
            if any(cell is None for cell in cells):
                continue
            spread = [float(np.std(fold_scores(cell, "best_f1"), ddof=1)) for cell in cells]
            gaps.append(spread)
    if not gaps:
        raise NotThereError("a ranker with and without embedding on one data set")
    plain, embedded = equalised(np.mean(gaps, axis=0))
    n = sum(each[1] < each[0] for each in gaps)
    told = (
        f"mean standard deviation of max F1 over folds {fixed(embedded, 4)} for ReliefE, {fixed(plain, 4)} for "
        f"ReliefF; smaller with embedding in {n} of {len(gaps)} pairs"
    )
    return Finding(bool(embedded < plain), told)


def _delicious_embedded(evidence: Evidence) -> Finding:
    means = evidence.rf1("delicious", 1, 250)
    own, others = (means.reindex(list(names)).dropna() for names in (_EMBEDDED, _PLAIN))
    if not len(own) or not len(others):
        raise NotThereError("rF1 of ReliefE and ReliefF on delicious")
    told = (
        f"mean rF1 of the top 1 to 250: worst ReliefE variant {fixed(own.min(), 4)}, "
        f"best ReliefF variant {fixed(others.max(), 4)}"
    )
    return Finding(bool(own.min() > others.max()), told)


_PLACE = "section 'Multi-label classification' of the results, figure 10"
_TALK = "section 'Discussion'"
_LAST = "section 'Conclusions and further work'"
_MORE_RANKS = "appendix 'Multi-label classification, additional rank diagrams'"
_CASE = "appendix 'Case study with Delicious', figure 27"

_BY_AREA = "places are those of the figure, by mean AUrF1; equal rankers share the better place"

_claim = claims_about("mlc", MLC_DATASETS, MLC_RANKERS)

CLAIMS = [
    _claim(
        "more than an order of magnitude faster",
        AVERAGE,
        "section 'Multi-label classification' of the results, figure 9",
        "the ReliefE branch is more than an order of magnitude faster",
        "mean seconds of ReliefF / mean seconds of ReliefE, over options, distances and data sets, are above 10",
        "the figure shows mean times, so these decide; the geometric mean depends less on the largest data sets",
        checks.paired_faster_by(_COUNTERPARTS, 10),
        times=True,
    ),
    _claim(
        "best rankers do not embed the input",
        AVERAGE,
        _PLACE,
        "the best performing variants do not embed the input space",
        "there is no ReliefE variant in the first five places by mean AUrF1",
        "the discussion counts the best as the top five",
        checks.none_among_first("aurf1", _EMBEDDED, 5),
    ),
    _claim(
        "embedded input loses performance",
        AVERAGE,
        _TALK,
        "by embedding the feature space, performance is lost",
        "the mean AUrF1 of all ReliefE variants is below that of all ReliefF variants",
        "the sentence compares the two branches as wholes",
        checks.higher_mean("aurf1", _PLAIN, _EMBEDDED, ("without embedding", "with")),
    ),
    _claim(
        "cosine first",
        AVERAGE,
        _PLACE,
        "the top performing variant embeds the target space with cosine distance",
        "the first place by mean AUrF1 is that of a ReliefF variant with cosine distance",
        _BY_AREA,
        checks.among_first("aurf1", of_labels(RELIEFF, ("cosine",)), 1),
    ),
    _claim(
        "embedded targets help",
        AVERAGE,
        _LAST,
        "embedding the target space is beneficial for the quality of the ranking",
        "of the six distances, averaged over the eight rankers, one on embedded targets has the highest AUrF1",
        "the same rankers with either kind of distance are compared; the paper finds one of the embedded ones good",
        _embedding_helps,
    ),
    _claim(
        "embedded targets can be faster",
        EXISTS,
        _TALK,
        "embedding the target space can contribute to lower running time",
        "some ranker is faster on some data set with a distance on embedded targets than with another",
        "'can' is said of one instance",
        _lower_times,
        times=True,
    ),
    _claim(
        "Hamming and adaptive k among the best",
        AVERAGE,
        _TALK,
        "ReliefF with adaptive k and Hamming distance is among the best performing options",
        "ReliefF-adaptive with Hamming distance is in the first five places by mean AUrF1",
        "the same passage counts to the top five",
        checks.among_first("aurf1", ("relieff_adaptive_hamming",), 5),
    ),
    _claim(
        "cosine among the top three",
        AVERAGE,
        _TALK,
        "a variant with cosine distance on embedded targets is among the top three",
        "a ReliefF variant with cosine distance is in the first three places by mean AUrF1",
        _BY_AREA,
        checks.among_first("aurf1", of_labels(RELIEFF, ("cosine",)), 3),
    ),
    _claim(
        "absMean among the top five",
        AVERAGE,
        _TALK,
        "the absMean variant of ReliefF is among the top five",
        "a ReliefF-absMean variant is in the first five places by mean AUrF1",
        _BY_AREA,
        checks.among_first("aurf1", of_labels(("relieff_absmean", "relieff_absmean_adaptive")), 5),
    ),
    _claim(
        "best ReliefE with embedded targets is 13th",
        AVERAGE,
        _TALK,
        "the best ReliefE that embeds both spaces is ranked 13th",
        "the best ReliefE variant with cosine or hyperbolic distance has place 13 ± 3 by mean AUrF1",
        "among 48 rankers another seed moves a place or two",
        checks.among_first("aurf1", of_labels(RELIEFE, EMBEDDED_DISTANCES), 16, 10),
    ),
    _claim(
        "subset and hyperbolic among the worst",
        AVERAGE,
        _TALK,
        "the subset and hyperbolic distances are among the worst performing ones",
        "of the six distances, averaged over the eight rankers, both are among the three with the lowest AUrF1",
        "'among the worst' is read as the worse half, not as the two last",
        _worst_distances,
    ),
    _claim(
        "hyperbolic works well or not at all",
        ALL,
        "section 'Relevant negative results'",
        "embedding targets in hyperbolic space either works well, or does not work at all",
        "on every data set the hyperbolic distance, averaged over the eight rankers, is in the first two or the "
        "last two of six places by AUrF1",
        "either end is read as a third of the distances",
        _well_or_not_at_all,
        rankers=MLC_RANKERS,
    ),
    _claim(
        "adaptive k moves ReliefF in the top 10",
        AVERAGE,
        f"{_MORE_RANKS}, caption of figure 25",
        "the adaptive threshold impacts the placing of the top features by ReliefF",
        "in most of the twelve pairs of ReliefF with and without adaptive k average ranks by max F1 of the top 10 "
        "differ by a place or more",
        "the caption says that places move, not that adaptive k is best",
        _places_move,
    ),
    _claim(
        "cosine first by mean of the top 10",
        AVERAGE,
        f"{_MORE_RANKS}, caption of figure 26",
        "with targets embedded by cosine distance ReliefF performs best",
        "the lowest average rank by mean F1 over the top 10 is that of a ReliefF variant with cosine distance",
        "lower average ranks are what the diagram shows; a first place that is shared counts",
        checks.first_by_rank("mean_f1_top_10", of_labels(RELIEFF, ("cosine",))),
    ),
    _claim(
        "embedded rankers alike by FUJI",
        AVERAGE,
        "section 'Relations between ranking algorithms', figure 12",
        "the ReliefE variants are very similar to each other",
        "mean AUFUJI (rF1 curves) among ReliefE variants is above that of all other pairs",
        "the sentence speaks of a block of the heat map",
        checks.alike_by_fuji(_EMBEDDED, "ReliefE variants"),
        draws=20,
    ),
    _claim(
        "hyperbolic and subset like embedded ones",
        AVERAGE,
        f"{_TALK}, figure 12",
        "hyperbolic and subset versions of ReliefF behave like the embedding-based ones",
        "their mean AUFUJI with ReliefE variants is above that of ReliefF with the other distances",
        "similar is read as more similar than others",
        _hyperbolic_alike,
        draws=20,
    ),
    _claim(
        "ReliefE more stable",
        AVERAGE,
        _LAST,
        "for multi-label classification ReliefE can offer more stable performance",
        "the standard deviation of max F1 over folds, averaged over options, distances and data sets, is smaller "
        "for ReliefE than for ReliefF",
        "stable performance is one that varies little between folds; on one data set chance would do for 'can'",
        _steadier,
        noisy=False,
    ),
    _claim(
        "ReliefE better on delicious",
        AVERAGE,
        _LAST,
        "on data sets like Delicious ReliefE can offer better performance",
        "the highest AUrF1 on delicious is that of a ReliefE variant",
        "the sentence names one data set, the paper's summary of a ranking is AUrF1",
        checks.best_on("delicious", "aurf1", _EMBEDDED, "AUrF1"),
        datasets=("delicious",),
        general=False,
    ),
    _claim(
        "delicious up to 250 features",
        AVERAGE,
        _CASE,
        "on delicious ReliefE variants perform consistently better for up to 250 features",
        "mean rF1 over the grid points up to 250 is higher for every ReliefE than for every ReliefF variant",
        "'consistently' is read as all variants",
        _delicious_embedded,
        datasets=("delicious",),
        general=False,
    ),
    _claim(
        "delicious and cosine",
        AVERAGE,
        _CASE,
        "on delicious cosine-based embeddings of the targets are the best option",
        "the highest mean AUrF1 on delicious is that of a ranker with cosine distance",
        "the best option is read as the best of the 48 rankers",
        checks.best_on("delicious", "aurf1", of_labels((*RELIEFE, *RELIEFF), ("cosine",)), "AUrF1"),
        datasets=("delicious",),
        general=False,
    ),
]
