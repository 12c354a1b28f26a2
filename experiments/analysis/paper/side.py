"""The paper's claims about iterations, sparsification, latent dimension, adaptive k and phases of a fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.analysis.measurements import phase_means
from experiments.analysis.pairs import ROPE
from experiments.analysis.paper.claim import AVERAGE, EXISTS, MOST, Check, Claim, Finding, NotThereError
from experiments.analysis.paper.evidence import Evidence
from experiments.analysis.paper.reported import (
    CONVERGENCE_NUMBERS,
    CONVERGING,
    MCC_DATASETS,
    with_iterations,
)
from experiments.formatting import fixed

#: Differences of AUrF1 up to this share count as no difference, for claims that say "the same".
_SAME = 0.01

_EMBEDDED, _PLAIN = CONVERGING


# --- iterations ---


def _curve(evidence: Evidence, dataset: str, family: str) -> pd.Series:
    """Mean AUrF1 by number of iterations, ascending; the last is every sample once."""
    found = {}
    for ranker in evidence.claim.rankers:
        name, _, number = ranker.rstrip("]").partition("[n_iterations=")
        if name == family and not np.isnan(mean := evidence.mean(dataset, ranker, "aurf1")):
            found[int(number) if number else evidence.n_train(dataset)] = mean
    if len(found) < 2 or np.isnan(evidence.mean(dataset, family, "aurf1")):
        raise NotThereError(f"{family} on {dataset} with few iterations and with every sample")
    return pd.Series(found).sort_index()


def _at(curve: pd.Series, n_iterations: int) -> float:
    if n_iterations not in curve.index:
        raise NotThereError(f"{n_iterations} iterations")
    return float(curve[n_iterations])


def _four_enough(dataset: str) -> Check:
    def check(evidence: Evidence) -> Finding:
        curve = _curve(evidence, dataset, _EMBEDDED)
        four, last = _at(curve, 4), float(curve.iloc[-1])
        told = f"AUrF1 {fixed(four, 4)} after 4 iterations, {fixed(last, 4)} after every sample"
        return Finding(four >= (1 - _SAME) * last, told)

    return check


def _converged_at(curve: pd.Series) -> int:
    """Return from which number of iterations on a curve is as high as at its end."""
    low = (curve < (1 - _SAME) * curve.iloc[-1]).to_numpy()[:-1]
    place = int(np.flatnonzero(low)[-1]) + 1 if low.any() else 0
    return int(curve.index[place])


def _slower(evidence: Evidence) -> Finding:
    own, plain = (_converged_at(_curve(evidence, "dlbcl", family)) for family in (_EMBEDDED, _PLAIN))
    told = f"iterations from which AUrF1 stays at 99 % of its end or more: {own} and {plain}"
    return Finding(own > plain, told)


def _stays(evidence: Evidence) -> Finding:
    curve = _curve(evidence, "dlbcl", _EMBEDDED)
    later = curve[curve.index >= 4]
    told = f"AUrF1 from 4 iterations on between {fixed(later.min(), 4)} and {fixed(later.max(), 4)}"
    size = float((later.max() - later.min()) / later.max())
    return Finding(size <= _SAME, told, size=size)


def _drop(evidence: Evidence) -> Finding:
    curve = _curve(evidence, "dlbcl", _PLAIN)
    before, at = _at(curve, 16), _at(curve, 32)
    return Finding(at < before, f"AUrF1 {fixed(before, 4)} after 16 iterations, {fixed(at, 4)} after 32")


def _tumors(evidence: Evidence) -> Finding:
    own, plain = (_curve(evidence, "tumors_c", family) for family in (_EMBEDDED, _PLAIN))
    both = pd.concat([own, plain], axis=1, keys=["own", "plain"]).dropna()
    n = int((both["plain"] > both["own"]).sum())
    told = f"ReliefF has the higher AUrF1 at {n} of {len(both)} numbers of iterations"
    return Finding(n == len(both), told)


def _chess(evidence: Evidence) -> Finding:
    told, widest = [], 0.0
    for family in CONVERGING:
        curve = _curve(evidence, "chess", family)
        widest = max(widest, float(curve.max() - curve.min()))
        told.append(f"{evidence.label(family)} {fixed(curve.min(), 4)} to {fixed(curve.max(), 4)}")
    said = f"AUrF1 over all numbers of iterations: {', '.join(told)}"
    return Finding(widest <= ROPE, said, size=widest)


def _root(evidence: Evidence) -> Finding:
    told, enough = [], 0
    for dataset in evidence.datasets:
        try:
            curve = _curve(evidence, dataset, _EMBEDDED)
        except NotThereError:
            continue
        wanted = np.sqrt(curve.index[-1])
        n_iterations = next(n for n in curve.index if n >= wanted)
        ratio = float(curve[n_iterations] / curve.iloc[-1])
        enough += ratio >= 1 - _SAME
        told.append(f"{dataset} {fixed(ratio, 3)} at {n_iterations}")
    if not told:
        raise NotThereError("a data set with few iterations and with every sample")
    return Finding(
        enough >= 1, f"AUrF1 after about √samples iterations / after every sample: {', '.join(told)}"
    )


# --- measurements ---


def _genes(evidence: Evidence) -> Finding:
    slopes = evidence.measurements().drop_duplicates("rows").set_index("rows")["slope"]
    told = ", ".join(f"{rows} {fixed(slope, 2)}" for rows, slope in slopes.items() if pd.notna(slope))
    return Finding(bool((slopes.round() == 33).any()), f"slopes: {told}")


def _shares(evidence: Evidence, *, estimated: bool) -> pd.DataFrame:
    measured = evidence.measurements()
    mine = measured[measured["estimated"].astype(bool) == estimated]
    if not len(mine):
        raise NotThereError("shares of non-zeros that are left")
    return mine.assign(left=mine["share"] / mine["share_before"])


def _decrease(evidence: Evidence) -> Finding:
    left = _shares(evidence, estimated=True).groupby("dataset", sort=False)["left"].mean()
    n = int((left < 1).sum())
    return Finding(2 * n > len(left), f"fewer non-zeros on {n} of {len(left)} data sets", n, len(left) - n)


def _much_less(evidence: Evidence) -> Finding:
    left = _shares(evidence, estimated=True).groupby("dataset", sort=False)["left"].mean()
    told = ", ".join(f"{dataset} {fixed(share, 3)}" for dataset, share in left.items())
    return Finding(bool((left <= 0.8).all()), f"share of the non-zeros that is left: {told}")


def _large_epsilon(evidence: Evidence) -> Finding:
    tried = _shares(evidence, estimated=False)
    whole = tried[tried["left"] >= 0.95].groupby("dataset")["epsilon"].max()
    total, n = tried["dataset"].nunique(), int((whole >= 1.0).sum())
    told = f"at least 95 % of the non-zeros are left with ε = 1 on {n} of {total} data sets"
    return Finding(2 * n > total, told, n, total - n)


def _weights(evidence: Evidence) -> pd.Series:
    means = phase_means(evidence.measurements())
    mine = means[means["ranker"].str.startswith("reliefe") & (means["phase"] == "weights")]
    if not len(mine):
        raise NotThereError("phases of ReliefE")
    return mine.groupby("dataset", sort=False)["share"].mean()


def _weights_of_one(evidence: Evidence) -> Finding:
    share = float(_weights(evidence).iloc[0])
    return Finding(share > 0.5, f"share of the weight updates: {share:.1%}")


def _weights_of_most(evidence: Evidence) -> Finding:
    shares = _weights(evidence)
    n = int((shares > 0.5).sum())
    told = ", ".join(f"{dataset} {share:.0%}" for dataset, share in shares.items())
    return Finding(2 * n > len(shares), f"share of the weight updates: {told}", n, len(shares) - n)


def _different_k(evidence: Evidence) -> Finding:
    measured = evidence.measurements()
    mine = measured[measured["ranker"].str.startswith("reliefe") & (measured["neighbors"] > 0)]
    medians = {}
    for dataset, part in mine.groupby("dataset", sort=False):
        counts = part.groupby("neighbors")["count"].sum()
        medians[str(dataset)] = int(counts.index[np.searchsorted(np.cumsum(counts), counts.sum() / 2)])
    if len(medians) < 2:
        raise NotThereError("neighbours taken by ReliefE on two data sets")
    low, high = min(medians, key=medians.__getitem__), max(medians, key=medians.__getitem__)
    told = f"median k from {medians[low]} ({low}) to {medians[high]} ({high})"
    return Finding(medians[high] >= 2 * medians[low], told)


_CONVERGENCE = "section 'Convergence to the final ranking', figure 13"
_SPARSITY = "appendix 'Ablation study of data sparsity'"
_PHASES = "appendix 'Detailed analysis of running time'"

_PERCENT = "curves that look the same in the figure are read as within 1 %"


def _iterations(
    key: str,
    place: str,
    statement: str,
    reading: str,
    reason: str,
    check: Check,
    dataset: str,
    families: Sequence[str] = CONVERGING,
    equal_from: int | None = None,
) -> Claim:
    """Make a claim about iterations; from ``equal_from`` iterations on it says that they change nothing."""
    rankers = tuple(
        name for family in families for name in with_iterations(family, CONVERGENCE_NUMBERS[dataset])
    )
    few = {f"[n_iterations={2**power}]" for power in range(20) if 2**power < (equal_from or 0)}
    groups = [
        [name for name in rankers if name.startswith(family) and name.removeprefix(family) not in few]
        for family in families
    ]
    where = ((dataset,), rankers)
    equal = () if equal_from is None else tuple(map(tuple, groups))
    return Claim(
        key,
        "convergence",
        AVERAGE,
        place,
        statement,
        reading,
        reason,
        check,
        *where,
        general=False,
        equal=equal,
    )


def _measured(key, about, form, place, statement, reading, reason, check, datasets=MCC_DATASETS, **settings):
    return Claim(
        key, about, form, place, statement, reading, reason, check, tuple(datasets), noisy=False, **settings
    )


CLAIMS = [
    _iterations(
        "slower convergence on DLBCL",
        _CONVERGENCE + "a",
        "convergence is slower with ReliefE-absMean-adaptive than with ReliefF",
        "on dlbcl it needs more iterations until AUrF1 stays at 99 % or more of that after every sample",
        _PERCENT,
        _slower,
        "dlbcl",
    ),
    _iterations(
        "four iterations on DLBCL",
        _CONVERGENCE + "a",
        "ReliefE-absMean-adaptive performs at its best already after four iterations",
        "on dlbcl its AUrF1 after 4 iterations is at least 99 % of that after every sample",
        _PERCENT,
        _four_enough("dlbcl"),
        "dlbcl",
        (_EMBEDDED,),
    ),
    _iterations(
        "no later change on DLBCL",
        _CONVERGENCE + "a",
        "once ReliefE-absMean-adaptive performs well, more iterations do not change it",
        "on dlbcl its AUrF1 varies by at most 1 % from 4 iterations on",
        _PERCENT,
        _stays,
        "dlbcl",
        (_EMBEDDED,),
        equal_from=4,
    ),
    _iterations(
        "ReliefF drops at 32 iterations on DLBCL",
        _CONVERGENCE + "a",
        "ReliefF gets worse with 32 iterations",
        "on dlbcl the AUrF1 of ReliefF is lower after 32 iterations than after 16",
        "a decrease at a point of the figure is one from the point before",
        _drop,
        "dlbcl",
        (_PLAIN,),
    ),
    _iterations(
        "four iterations on Biodeg",
        _CONVERGENCE + "c",
        "the same is seen on Biodeg",
        "on biodeg_p2_discrete AUrF1 after 4 iterations is at least 99 % of that after every sample",
        _PERCENT,
        _four_enough("biodeg_p2_discrete"),
        "biodeg_p2_discrete",
        (_EMBEDDED,),
    ),
    _iterations(
        "ReliefF better on tumors C",
        _CONVERGENCE + "d",
        "on Tumors C ReliefE-absMean-adaptive is consistently outperformed by ReliefF",
        "at every number of iterations ReliefF has the higher AUrF1",
        "'consistently' is read as at every point of the figure",
        _tumors,
        "tumors_c",
    ),
    _iterations(
        "chess stays the same",
        _CONVERGENCE + "b",
        "performance on chess is consistent for both rankers",
        f"AUrF1 of each of the two varies by at most {ROPE} over all numbers of iterations",
        "no difference that matters is the paper's rope",
        _chess,
        "chess",
        equal_from=1,
    ),
    Claim(
        "√samples iterations enough",
        "convergence",
        EXISTS,
        "section 'Discussion'",
        "adequate performance is reached after √|I| iterations in some cases",
        "on some data set AUrF1 after √samples iterations is at least 99 % of that after every sample",
        "'in some cases' is said of instances",
        _root,
        tuple(CONVERGENCE_NUMBERS),
        with_iterations(_EMBEDDED, max(CONVERGENCE_NUMBERS.values())),
        general=False,
    ),
    _measured(
        "latent dimension of genes",
        "latent_dimension",
        AVERAGE,
        "section 'Estimation of latent dimension', figure 2",
        "the intrinsic dimension of genes is 33",
        "the slope of one of the three fits (samples as embedded, normalised, as they are) rounds to 33",
        "the paper does not say which matrix the figure is of",
        _genes,
        ("genes",),
        general=False,
    ),
    _measured(
        "sparsification needs a large ε",
        "sparsity",
        MOST,
        f"{_SPARSITY}, figure 14",
        "most data sets only get sparser when a rather large error is allowed",
        "on most data sets at least 95 % of the non-zeros are left with ε = 1",
        "the values that ε changes lie in 0 … 1, so an error of 1 is large",
        _large_epsilon,
    ),
    _measured(
        "mostly sparser with the estimated ε",
        "sparsity",
        MOST,
        f"{_SPARSITY}, figure 16",
        "the estimated ε decreases density in most cases",
        "on more than half of the data sets the share of non-zeros gets smaller",
        "most is more than half",
        _decrease,
    ),
    _measured(
        "much sparser: speech and biodeg",
        "sparsity",
        AVERAGE,
        f"{_SPARSITY}, figure 16",
        "the density of pd-speech-features and biodeg-p2-discrete is substantially lowered",
        "on both at most 80 % of the non-zeros are left",
        "substantially is read as by a fifth or more",
        _much_less,
        ("pd_speech_features", "biodeg_p2_discrete"),
        general=False,
    ),
    _measured(
        "different k on different data",
        "adaptive_k",
        EXISTS,
        "appendix 'Adaptive k distributions', figure 17",
        "neighbourhoods of different sizes are found on different data sets",
        "the largest median k of a data set is at least twice the smallest (ReliefE-adaptive)",
        "two data sets that differ are enough; a factor of two is more than the width of a distribution's peak",
        _different_k,
    ),
    _measured(
        "most time for weight updates",
        "phases",
        MOST,
        "section 'Multi-class classification' of the results; " + _PHASES,
        "most time of ReliefE is spent on feature weight updates",
        "on most data sets the phase 'weights' takes more than half of a ReliefE fit, averaged over its variants",
        "the results say so of ReliefE, the figure shows one data set",
        _weights_of_most,
        MCC_DATASETS,
    ),
    _measured(
        "most time for weight updates on p53",
        "phases",
        AVERAGE,
        f"{_PHASES}, figure 19",
        "on p53 the majority of time is spent on weight updates",
        "on p53 the phase 'weights' takes more than half of a ReliefE fit",
        "as the caption says",
        _weights_of_one,
        ("p53",),
        general=False,
    ),
]
