"""The paper's claims about iterations, sparsification, latent dimension, adaptive k and phases of a fit."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.analysis.claims import MCC_DATASETS, Claim, Evidence, NotThereError
from experiments.analysis.convergence import convergence
from experiments.analysis.measurements import phase_means

#: Differences of AUrF1 up to this share count as no difference, for claims that say "the same".
_SAME = 0.01

_EMBEDDED, _PLAIN = "reliefe_absmean_adaptive", "relieff"


def _curve(evidence: Evidence, dataset: str, family: str) -> pd.Series:
    """Mean AUrF1 by number of iterations, ascending; the last is every row once."""
    points = convergence(evidence.frame, evidence.rankings.group)
    mine = points[(points["dataset"] == dataset) & (points["family"] == family)]
    if len(mine) < 2 or not mine["every_row"].any():
        raise NotThereError(f"{family} on {dataset} with few iterations and with every row")
    return mine.set_index("n_iterations")["mean"]


def _at(curve: pd.Series, n_iterations: int) -> float:
    if n_iterations not in curve.index:
        raise NotThereError(f"{n_iterations} iterations")
    return float(curve[n_iterations])


def _four_enough(evidence: Evidence, dataset: str) -> tuple[bool, str]:
    curve = _curve(evidence, dataset, _EMBEDDED)
    four, last = _at(curve, 4), float(curve.iloc[-1])
    return four >= (1 - _SAME) * last, f"AUrF1 {four:.4f} after 4 iterations, {last:.4f} after every row"


def _stays(evidence: Evidence) -> tuple[bool, str]:
    curve = _curve(evidence, "dlbcl", _EMBEDDED)
    later = curve[curve.index >= 4]
    return bool(later.max() - later.min() <= _SAME * later.max()), (
        f"AUrF1 from 4 iterations on between {later.min():.4f} and {later.max():.4f}"
    )


def _drop(evidence: Evidence) -> tuple[bool, str]:
    curve = _curve(evidence, "dlbcl", _PLAIN)
    before, at = _at(curve, 16), _at(curve, 32)
    return at < before, f"AUrF1 {before:.4f} after 16 iterations, {at:.4f} after 32"


def _tumors(evidence: Evidence) -> tuple[bool, str]:
    own, plain = (_curve(evidence, "tumors_c", family) for family in (_EMBEDDED, _PLAIN))
    both = pd.concat([own, plain], axis=1, keys=["own", "plain"]).dropna()
    n = int((both["plain"] > both["own"]).sum())
    return n == len(both), f"ReliefF has the higher AUrF1 at {n} of {len(both)} numbers of iterations"


def _chess(evidence: Evidence) -> tuple[bool, str]:
    told, widest = [], 0.0
    for family in (_EMBEDDED, _PLAIN):
        curve = _curve(evidence, "chess", family)
        widest = max(widest, float(curve.max() - curve.min()))
        told.append(f"{family} {curve.min():.4f} to {curve.max():.4f}")
    return widest <= 0.05, f"AUrF1 over all numbers of iterations: {', '.join(told)}"


def _root(evidence: Evidence) -> tuple[bool, str]:
    told, enough = [], 0
    for dataset in ("dlbcl", "chess", "biodeg_p2_discrete", "tumors_c"):
        try:
            curve = _curve(evidence, dataset, _EMBEDDED)
        except NotThereError:
            continue
        wanted = np.sqrt(curve.index[-1])
        n_iterations = next(n for n in curve.index if n >= wanted)
        ratio = float(curve[n_iterations] / curve.iloc[-1])
        enough += ratio >= 1 - _SAME
        told.append(f"{dataset} {ratio:.3f} at {n_iterations}")
    if not told:
        raise NotThereError("a data set with few iterations and with every row")
    return enough >= 1, f"AUrF1 after about √rows iterations / after every row: {', '.join(told)}"


def _genes(evidence: Evidence) -> tuple[bool, str]:
    mine = evidence.measured
    mine = mine[mine["dataset"] == "genes"] if len(mine) else mine
    if not len(mine):
        raise NotThereError("the latent dimension of genes")
    slopes = mine.drop_duplicates("rows").set_index("rows")["slope"]
    told = ", ".join(f"{rows} {slope:.2f}" for rows, slope in slopes.items() if pd.notna(slope))
    return bool((slopes.round() == 33).any()), f"slopes: {told}"


def _estimated(evidence: Evidence) -> pd.DataFrame:
    measured = evidence.measured
    mine = measured[measured["estimated"].astype(bool)] if len(measured) else measured
    if not len(mine):
        raise NotThereError("the share left with the estimated ε")
    return mine.groupby("dataset", sort=False)[["share_before", "share"]].mean()


def _decrease(evidence: Evidence) -> tuple[bool, str]:
    shares = _estimated(evidence)
    n = int((shares["share"] < shares["share_before"]).sum())
    return n > len(shares) / 2, f"fewer non-zeros on {n} of {len(shares)} data sets"


def _much_less(evidence: Evidence) -> tuple[bool, str]:
    shares = _estimated(evidence)
    shares = shares[shares.index.isin(["pd_speech_features", "biodeg_p2_discrete"])]
    if not len(shares):
        raise NotThereError("pd_speech_features and biodeg_p2_discrete")
    left = shares["share"] / shares["share_before"]
    told = ", ".join(f"{dataset} {share:.3f}" for dataset, share in left.items())
    return bool((left <= 0.8).all()), f"share of the non-zeros that is left: {told}"


def _large_epsilon(evidence: Evidence) -> tuple[bool, str]:
    measured = evidence.measured
    tried = measured[~measured["estimated"].astype(bool)] if len(measured) else measured
    if not len(tried):
        raise NotThereError("shares for several ε")
    kept = tried.assign(left=tried["share"] / tried["share_before"])
    whole = kept[kept["left"] >= 0.95].groupby("dataset")["epsilon"].max()
    n_datasets = kept["dataset"].nunique()
    n = int((whole >= 1.0).sum())
    return (
        n > n_datasets / 2,
        f"at least 95 % of the non-zeros are left with ε = 1 on {n} of {n_datasets} data sets",
    )


def _weights(evidence: Evidence) -> tuple[bool, str]:
    means = phase_means(evidence.measured) if len(evidence.measured) else pd.DataFrame()
    mine = (
        means[(means["dataset"] == "p53") & means["ranker"].str.startswith("reliefe")]
        if len(means)
        else means
    )
    if not len(mine):
        raise NotThereError("phases of ReliefE on p53")
    shares = mine[mine["phase"] == "weights"].set_index("ranker")["share"]
    told = ", ".join(f"{ranker} {share:.1%}" for ranker, share in shares.items())
    return bool(len(shares) and (shares > 0.5).all()), f"share of the weight updates: {told}"


def _different_k(evidence: Evidence) -> tuple[bool, str]:
    measured = evidence.measured
    mine = (
        measured[measured["ranker"].str.startswith("reliefe") & (measured["neighbors"] > 0)]
        if len(measured)
        else measured
    )
    if not len(mine):
        raise NotThereError("neighbours taken by ReliefE")
    medians = {}
    for dataset, part in mine.groupby("dataset", sort=False):
        counts = part.groupby("neighbors")["count"].sum()
        medians[str(dataset)] = int(counts.index[np.searchsorted(np.cumsum(counts), counts.sum() / 2)])
    low, high = min(medians, key=medians.get), max(medians, key=medians.get)
    return medians[high] >= 2 * medians[
        low
    ], f"median k from {medians[low]} ({low}) to {medians[high]} ({high})"


_CONVERGENCE = "section 'Convergence to the final ranking', figure 13"
_SPARSITY = "appendix 'Ablation study of data sparsity'"


def _numbers(last: int) -> tuple[str, ...]:
    powers = [2**power for power in range(12) if 2**power <= last]
    return tuple(
        name
        for family in (_EMBEDDED, _PLAIN)
        for name in (*(f"{family}[n_iterations={power}]" for power in powers), family)
    )


CLAIMS = [
    Claim(
        "four iterations on DLBCL",
        "convergence",
        _CONVERGENCE + "a",
        "ReliefE-absMean-adaptive performs at its best already after four iterations",
        "on dlbcl its AUrF1 after 4 iterations is at least 99 % of that after every row",
        lambda evidence: _four_enough(evidence, "dlbcl"),
        ("dlbcl",),
        _numbers(32),
    ),
    Claim(
        "no later change on DLBCL",
        "convergence",
        _CONVERGENCE + "a",
        "once ReliefE-absMean-adaptive performs well, more iterations do not change it",
        "on dlbcl its AUrF1 varies by at most 1 % from 4 iterations on",
        _stays,
        ("dlbcl",),
        _numbers(32),
    ),
    Claim(
        "ReliefF drops at 32 iterations on DLBCL",
        "convergence",
        _CONVERGENCE + "a",
        "ReliefF gets worse with 32 iterations",
        "on dlbcl the AUrF1 of ReliefF is lower after 32 iterations than after 16",
        _drop,
        ("dlbcl",),
        _numbers(32),
    ),
    Claim(
        "four iterations on Biodeg",
        "convergence",
        _CONVERGENCE + "c",
        "the same is seen on Biodeg",
        "on biodeg_p2_discrete AUrF1 after 4 iterations is at least 99 % of that after every row",
        lambda evidence: _four_enough(evidence, "biodeg_p2_discrete"),
        ("biodeg_p2_discrete",),
        _numbers(128),
    ),
    Claim(
        "ReliefF better on tumors C",
        "convergence",
        _CONVERGENCE + "d",
        "on Tumors C ReliefE-absMean-adaptive is consistently outperformed by ReliefF",
        "at every number of iterations ReliefF has the higher AUrF1",
        _tumors,
        ("tumors_c",),
        _numbers(32),
    ),
    Claim(
        "chess stays the same",
        "convergence",
        _CONVERGENCE + "b",
        "performance on chess is consistent for both rankers",
        "AUrF1 of each of the two varies by at most 0.05 over all numbers of iterations",
        _chess,
        ("chess",),
        _numbers(2048),
    ),
    Claim(
        "√rows iterations enough",
        "convergence",
        "section 'Discussion'",
        "adequate performance is reached after √|I| iterations in some cases",
        "on at least one data set AUrF1 after √rows iterations is at least 99 % of that after every row",
        _root,
        ("dlbcl", "biodeg_p2_discrete", "tumors_c", "chess"),
        (_EMBEDDED,),
    ),
    Claim(
        "latent dimension of genes",
        "latent_dimension",
        "section 'Estimation of latent dimension', figure 2",
        "the intrinsic dimension of genes is 33",
        "the slope of one of the three fits (rows as embedded, normalised, as they are) rounds to 33",
        _genes,
        ("genes",),
    ),
    Claim(
        "sparsification needs a large ε",
        "sparsity",
        f"{_SPARSITY}, figure 14",
        "most data sets only get sparser when a rather large error is allowed",
        "on most data sets at least 95 % of the non-zeros are left with ε = 1",
        _large_epsilon,
        MCC_DATASETS,
    ),
    Claim(
        "mostly sparser with the estimated ε",
        "sparsity",
        f"{_SPARSITY}, figure 16",
        "the estimated ε decreases density in most cases",
        "on more than half of the data sets the share of non-zeros gets smaller",
        _decrease,
        MCC_DATASETS,
    ),
    Claim(
        "much sparser: speech and biodeg",
        "sparsity",
        f"{_SPARSITY}, figure 16",
        "the density of pd-speech-features and biodeg-p2-discrete is substantially lowered",
        "on both at most 80 % of the non-zeros are left",
        _much_less,
        ("pd_speech_features", "biodeg_p2_discrete"),
    ),
    Claim(
        "different k on different data",
        "adaptive_k",
        "appendix 'Adaptive k distributions', figure 17",
        "neighbourhoods of different sizes are found on different data sets",
        "the largest median k of a data set is at least twice the smallest (ReliefE-adaptive)",
        _different_k,
        MCC_DATASETS,
    ),
    Claim(
        "weight updates take most of the time",
        "phases",
        "appendix 'Detailed analysis of running time', figure 19",
        "the majority of time is spent on weight updates",
        "on p53 the phase 'weights' takes more than half of a ReliefE fit",
        _weights,
        ("p53",),
    ),
]
