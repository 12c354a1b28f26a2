"""Checks that several of the paper's claims share: who is first, in which place, alike, faster, surely better."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from experiments.analysis.paper.claim import Check, Finding, NotThereError
from experiments.analysis.paper.evidence import Evidence
from experiments.analysis.similarity import block_means
from experiments.analysis.ties import equalised
from experiments.formatting import fixed, rank_shown

#: Share of a time or a difference that is shown.
_FIGURES = 3


def seconds(value: float) -> str:
    """Write a number with three significant digits, never as a power of ten."""
    return np.format_float_positional(value, precision=_FIGURES, unique=False, fractional=False, trim="-")


def above(a: float, b: float) -> bool:
    """Say whether a number is larger than another by more than rounding."""
    larger, smaller = equalised([a, b])
    return bool(larger > smaller)


# --- ranks and places ---


def first_by_rank(what: str, names: Sequence[str]) -> Check:
    """Check that the lowest average rank is that of one of some rankers; a place that is shared counts."""

    def check(evidence: Evidence) -> Finding:
        ranks = evidence.ranks(what)
        best = ranks.index[ranks == ranks.iloc[0]]
        return Finding(bool(set(best) & set(names)), f"lowest average ranks: {_ranks_told(evidence, ranks)}")

    return check


def _ranks_told(evidence: Evidence, ranks: pd.Series, n: int = 4) -> str:
    """Name the first rankers; those that are the same ranker once."""
    told = dict.fromkeys(f"{evidence.label(ranker)} {rank_shown(rank)}" for ranker, rank in ranks.items())
    return ", ".join(list(told)[:n])


def better_half(what: str, names: Sequence[str]) -> Check:
    """Check that all of some rankers are in the better half by average rank."""

    def check(evidence: Evidence) -> Finding:
        ranks = evidence.ranks(what)
        places = places_of(ranks, ascending=True).reindex(list(names)).dropna()
        if not len(places):
            raise NotThereError("ranks of the rankers that the claim is about")
        told = ", ".join(sorted({_place(each) for each in places}, key=lambda each: float(each)))
        return Finding(bool(places.max() <= len(ranks) / 2), f"places {told} of {len(ranks)}")

    return check


def places_of(values: pd.Series, *, ascending: bool = False) -> pd.Series:
    """Return the places of numbers, 1 for the first; equal ones have the best place that they share."""
    made = pd.Series(equalised(values), index=values.index)
    return made.rank(ascending=ascending, method="min")


def _place(value: float) -> str:
    return str(int(value))


def among_first(what: str, names: Sequence[str], most: int, fewest: int = 1) -> Check:
    """Check that the best of some rankers has a place from ``fewest`` to ``most`` by the mean of a measure."""

    def check(evidence: Evidence) -> Finding:
        means = evidence.averages(what)
        mine = means.reindex(list(names)).dropna()
        if not len(mine):
            raise NotThereError("a mean of the rankers that the claim is about")
        ranker = str(mine.idxmax())
        place = int(places_of(means)[ranker])
        told = f"best of them: {evidence.label(ranker)}, place {place} of {len(means)}"
        return Finding(fewest <= place <= most, told)

    return check


def none_among_first(what: str, names: Sequence[str], n: int) -> Check:
    """Check that none of some rankers has one of the first places by the mean of a measure."""

    def check(evidence: Evidence) -> Finding:
        means = evidence.averages(what)
        if not set(names) & set(means.index):
            raise NotThereError("a mean of the rankers that the claim is about")
        best = means.index[places_of(means) <= n]
        told = dict.fromkeys(evidence.label(str(each)) for each in best)
        return Finding(not set(best) & set(names), f"first {n} places: {', '.join(told)}")

    return check


def lower_mean_rank(what: str, better: Sequence[str], worse: Sequence[str]) -> Check:
    """Check that the mean of the average ranks of some rankers is lower than that of others."""

    def check(evidence: Evidence) -> Finding:
        ranks = evidence.ranks(what)
        one, other = (ranks.reindex(list(names)).dropna() for names in (better, worse))
        if not len(one) or not len(other):
            raise NotThereError("ranks of both")
        a, b = equalised([one.mean(), other.mean()])
        many = "mean of the average ranks" if len(one) > 1 or len(other) > 1 else "average ranks"
        return Finding(bool(a < b), f"{many}: {rank_shown(a)} against {rank_shown(b)}")

    return check


# --- means ---


def higher_mean(what: str, better: Sequence[str], worse: Sequence[str], said: tuple[str, str]) -> Check:
    """Check that the mean of a measure over some rankers is higher than that over others."""

    def check(evidence: Evidence) -> Finding:
        table = evidence.common(what)
        one, other = (table.reindex(columns=list(names)).dropna(axis=1) for names in (better, worse))
        if not one.size or not other.size:
            raise NotThereError("means of both")
        a, b = equalised([one.to_numpy().mean(), other.to_numpy().mean()])
        return Finding(bool(a > b), f"{fixed(a, 4)} {said[0]}, {fixed(b, 4)} {said[1]}")

    return check


def best_on(dataset: str, what: str, names: Sequence[str], title: str) -> Check:
    """Check that the highest mean of a measure on one data set is that of one of some rankers."""

    def check(evidence: Evidence) -> Finding:
        row = evidence.table(what).loc[dataset].dropna()
        mine, others = row.reindex(list(names)).dropna(), row.drop(list(names), errors="ignore")
        if not len(mine) or not len(others):
            raise NotThereError(f"{title} of both on {dataset}")
        told = ", ".join(
            f"{evidence.label(str(part.idxmax()))} {fixed(part.max(), 4)}" for part in (mine, others)
        )
        return Finding(bool(mine.max() > others.max()), f"best {title}, then best of the others: {told}")

    return check


def alike(what: str, n: int | None, confidence: float = 0.95) -> Check:
    """Check that paired differences over data sets tell the best ranker's mean from that of none of the next."""

    def check(evidence: Evidence) -> Finding:
        means = evidence.averages(what)
        table = evidence.common(what)
        chosen = list(means.index if n is None else means.index[:n])
        if len(table) < 2 or len(chosen) < 2:
            raise NotThereError("two rankers on two common data sets")
        best, others = chosen[0], chosen[1:]
        level = 1 - (1 - confidence) / len(others)
        half_widths, gaps = [], []
        for other in others:
            gap = (table[best] - table[other]).to_numpy()
            spread = float(gap.std(ddof=1)) / np.sqrt(len(gap))
            gaps.append(float(gap.mean()))
            half_widths.append(float(stats.t.ppf(0.5 + level / 2, len(gap) - 1)) * spread)
        apart = [gap > half for gap, half in zip(gaps, half_widths, strict=True)]
        clear = [
            gap / half if half else (np.inf if gap > 0 else 0.0)
            for gap, half in zip(gaps, half_widths, strict=True)
        ]
        shown = int(np.argmax(clear))
        low, high = gaps[shown] - half_widths[shown], gaps[shown] + half_widths[shown]
        told = (
            f"{evidence.label(best)} is significantly better than {sum(apart)} of the {len(others)} others; "
            f"clearest difference {fixed(gaps[shown], 4)} to {evidence.label(others[shown])}, interval "
            f"{fixed(low, 4)} to {fixed(high, 4)}"
        )
        return Finding(not any(apart), told)

    return check


def small_change(
    what: str, pairs: Sequence[tuple[str, str]], share: float, *, one_sided: bool = False
) -> Check:
    """Check that a change of rankers matters little beside the usual difference of two rankers."""

    def check(evidence: Evidence) -> Finding:
        table = evidence.table(what)
        table = table.loc[:, table.notna().any(axis=0)]
        present = [(a, b) for a, b in pairs if a in table and b in table]
        known = table[table.notna().all(axis=1)]
        if not present or not len(known):
            raise NotThereError("a ranker with and without the change, among all others")
        values = known.to_numpy()
        place = {name: number for number, name in enumerate(known)}
        first, second = np.triu_indices(values.shape[1], k=1)
        usual = float(np.abs(values[:, first] - values[:, second]).mean())
        changes = {}
        for changed, plain in present:
            gap = values[:, place[changed]] - values[:, place[plain]]
            changes[plain] = float(-gap.mean() if one_sided else np.abs(gap).mean())
        worst = max(changes.values())
        size = worst / usual if usual else 0.0
        told = ", ".join(f"{evidence.label(name)} {fixed(change, 4)}" for name, change in changes.items())
        what_said = "mean loss" if one_sided else "mean absolute change"
        return Finding(
            bool(worst <= share * usual),
            f"{what_said}: {told}; mean absolute difference of any two rankers {fixed(usual, 4)}",
            size=size,
        )

    return check


# --- times ---


def faster_by(slow: Sequence[str], fast: Sequence[str], least: float) -> Check:
    """Check that the mean time of some rankers is so many times that of others; tell the geometric mean as well."""

    def check(evidence: Evidence) -> Finding:
        both = [*slow, *fast]
        table = evidence.common("fit_seconds", both)
        one, other = (table.reindex(columns=list(names)).dropna(axis=1) for names in (slow, fast))
        if not one.size or not other.size:
            raise NotThereError("times of both on one data set")
        arithmetic = float(one.to_numpy().mean() / other.to_numpy().mean())
        geometric = float(np.exp(np.log(one.to_numpy()).mean() - np.log(other.to_numpy()).mean()))
        ratios = evidence.ratios(slow, fast)["ratio"]
        told = (
            f"ratio of the mean times {seconds(arithmetic)}, geometric mean of the ratios {seconds(geometric)} "
            f"(from {seconds(ratios.min())} to {seconds(ratios.max())})"
        )
        return Finding(arithmetic >= least, told)

    return check


def paired_faster_by(pairs: Sequence[tuple[str, str]], least: float) -> Check:
    """Check as :func:`faster_by` does, each slow ranker against the fast one with the same options."""

    def check(evidence: Evidence) -> Finding:
        names = list(dict.fromkeys(itertools.chain(*pairs)))
        table = evidence.common("fit_seconds", names)
        there = [(slow, fast) for slow, fast in pairs if slow in table and fast in table]
        if not there:
            raise NotThereError("times of a ranker with and without embedding on one data set")
        one, other = (table[list(each)].to_numpy() for each in zip(*there, strict=True))
        ratios = one / other
        arithmetic, geometric = one.mean() / other.mean(), np.exp(np.log(ratios).mean())
        told = (
            f"ratio of the mean times {seconds(arithmetic)}, geometric mean of the ratios {seconds(geometric)} "
            f"(from {seconds(ratios.min())} to {seconds(ratios.max())})"
        )
        return Finding(bool(arithmetic > least), told)

    return check


def always_faster(fast: Sequence[str], slow: Sequence[str]) -> Check:
    """Check that each of some rankers takes less time than each of others, on every data set."""

    def check(evidence: Evidence) -> Finding:
        ratios = evidence.ratios(slow, fast)
        wrong = ratios[ratios["ratio"] <= 1]
        told = f"slower in {_slower(ratios)} comparisons (data set × two rankers)"
        whole = evidence.whole([*fast, *slow], "fit_seconds")
        if whole and set(ratios["dataset"]) - set(whole):
            inside = ratios["dataset"].isin(whole)
            told = (
                f"slower in {_slower(ratios[inside])} comparisons (data set × two rankers) on {', '.join(whole)}, "
                f"and in {_slower(ratios[~inside])} where not all rankers have times"
            )
        if len(wrong):
            worst = wrong.loc[wrong["ratio"].idxmin()]
            told += (
                f"; {evidence.label(worst['fast'])} took {seconds(1 / worst['ratio'])} times as long as "
                f"{evidence.label(worst['slow'])} on {worst['dataset']}"
            )
        return Finding(not len(wrong), told)

    return check


def _slower(ratios: pd.DataFrame) -> str:
    return f"{int((ratios['ratio'] <= 1).sum())} of {len(ratios)}"


def largest_ratio(slow: Sequence[str], fast: Sequence[str], least: float) -> Check:
    """Check that one ranker takes so many times the seconds of another on some data set."""

    def check(evidence: Evidence) -> Finding:
        ratios = evidence.ratios(slow, fast)
        most = ratios.loc[ratios["ratio"].idxmax()]
        told = (
            f"largest ratio {seconds(most['ratio'])}: {evidence.label(most['slow'])} / "
            f"{evidence.label(most['fast'])} on {most['dataset']}"
        )
        return Finding(bool(most["ratio"] >= least), told)

    return check


def slowest_on_average(slow: Sequence[str]) -> Check:
    """Check that each of some rankers takes longer than every other, by mean times over data sets."""

    def check(evidence: Evidence) -> Finding:
        times = evidence.averages("fit_seconds")
        own, others = times.reindex(list(slow)).dropna(), times.drop(list(slow), errors="ignore")
        if not len(own) or not len(others):
            raise NotThereError("times of both")
        told = (
            f"fastest of them {evidence.label(str(own.idxmin()))} {seconds(own.min())} s, slowest of the others "
            f"{evidence.label(str(others.idxmax()))} {seconds(others.max())} s"
        )
        return Finding(bool(own.min() > others.max()), told)

    return check


# --- similarity and posteriors ---


def alike_by_fuji(names: Sequence[str], said: str) -> Check:
    """Check that some rankers are more alike by AUFUJI than all other pairs are on average."""

    def check(evidence: Evidence) -> Finding:
        inside, rest = block_means(evidence.similarity, names)
        if np.isnan(inside) or np.isnan(rest):
            raise NotThereError("AUFUJI of two of the rankers and of others")
        told = f"mean AUFUJI {fixed(inside, 4)} among {said}, {fixed(rest, 4)} among all other pairs"
        return Finding(above(inside, rest), told)

    return check


def three_told(three: tuple[float, float, float]) -> str:
    """Write three probabilities."""
    return f"P(better, equal, worse) = {', '.join(fixed(each, 3) for each in three)}"


def posterior_of(a: str, b: str, test: Callable[[float, float, float], bool]) -> Check:
    """Check that the posterior of a pair (a better, equal, b better) has some property."""

    def check(evidence: Evidence) -> Finding:
        three = evidence.posterior(a, b)
        return Finding(bool(test(*three)), three_told(three))

    return check


def posteriors_all(pairs: Sequence[tuple[str, str]], test: Callable[[float, float, float], bool]) -> Check:
    """Check that the posteriors of all of some pairs have a property."""

    def check(evidence: Evidence) -> Finding:
        found = {pair: evidence.posterior(*pair) for pair in pairs}
        told = "; ".join(
            f"{evidence.label(a)} – {evidence.label(b)}: {', '.join(fixed(each, 3) for each in three)}"
            for (a, b), three in found.items()
        )
        return Finding(
            all(test(*three) for three in found.values()), f"P(better, equal, worse), pair by pair: {told}"
        )

    return check


def counted_pairs(pairs: Sequence[tuple[str, str]], level: float, most: Callable[[int], float]) -> Check:
    """Check that at most so many pairs have a ranker that is better with some probability or more."""

    def check(evidence: Evidence) -> Finding:
        highest = [max(three[0], three[2]) for three in (evidence.posterior(*pair) for pair in pairs)]
        n = sum(each >= level for each in highest)
        told = f"a ranker better with a probability of {level:g} or more in {n} of {len(pairs)} pairs"
        return Finding(n <= most(len(pairs)), told)

    return check
