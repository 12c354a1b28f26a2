"""Kinds of claims as functions: scores and arguments of claims.yaml → whether it holds, and the numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from experiments.analysis.claims.cells import Cells, expand, n_iterations
from experiments.analysis.critical_distance import critical_distance
from experiments.analysis.measurements import phase_means
from experiments.analysis.pairs import Posteriors
from experiments.analysis.scores import speed_ratios
from experiments.analysis.similarity import between, block_means
from experiments.analysis.ties import equalised, first_best, tied_ranks
from experiments.formatting import fixed, rank_shown
from experiments.metrics.fuji import areas_under_fuji

Names = Sequence[str]
Pairs = Sequence[tuple[str, str]]


class NoAnswerError(Exception):
    """Raised by a predicate without the rows that it needs; the text names them."""


class Result(NamedTuple):
    """Whether a claim holds, and the numbers that decide."""

    holds: bool
    value: str


@dataclass(frozen=True)
class Scores:
    """What a predicate looks at: the claim's rankers on some data sets, or measurements."""

    cells: Cells
    rankers: tuple[str, ...]
    datasets: tuple[str, ...]
    posteriors: Posteriors | None = None
    measured: pd.DataFrame | None = None
    #: None: means over all repeats.
    repeat: int | None = None

    def label(self, ranker: str) -> str:
        """Return a ranker's name to show."""
        return self.cells.labels.get(ranker, ranker)

    def table(self, measure: str, rankers: Names | None = None) -> pd.DataFrame:
        """Return data sets × rankers; NaN: not whole."""
        names = self.rankers if rankers is None else rankers
        return self.cells.table(measure, self.datasets, names, self.repeat)

    def common(self, measure: str, rankers: Names | None = None) -> pd.DataFrame:
        """Return the data sets on which all rankers that have a number anywhere have one."""
        table = self.table(measure, rankers).dropna(axis=1, how="all").dropna()
        if not len(table) or table.shape[1] < 2:
            raise NoAnswerError("two rankers on a common data set")
        return table

    def ranks(self, measure: str, *, higher_is_better: bool = True) -> pd.Series:
        """Return average ranks over common data sets, best first."""
        ranks = _equal(tied_ranks(self.common(measure), higher_is_better=higher_is_better).mean())
        return ranks.sort_values(kind="stable")

    def means(self, measure: str) -> pd.Series:
        """Return means over common data sets, highest first."""
        return _equal(self.common(measure).mean()).sort_values(ascending=False, kind="stable")

    def ratios(self, slow: Names, fast: Names) -> pd.DataFrame:
        """Return seconds of a slow ranker / seconds of a fast one, wherever both have times."""
        both = list(dict.fromkeys([*slow, *fast]))
        ratios = speed_ratios(self.table("fit_seconds", both), list(slow), list(fast))
        if not len(ratios):
            raise NoAnswerError("times of both on one data set")
        return ratios

    def grid(self, dataset: str) -> np.ndarray:
        """Return the numbers of features of a data set's curves."""
        rows = self.cells.scored
        rows = rows[(rows["dataset"] == dataset) & rows["ranker"].isin(list(self.rankers))]
        if not len(rows):
            raise NoAnswerError(f"a whole ranker on {dataset}")
        return np.asarray(rows["grid"].iloc[0])

    def curves(self, dataset: str) -> dict[str, np.ndarray]:
        """Return the mean rF1 curve of every ranker that is whole on a data set."""
        curves = {ranker: self.cells.curve(dataset, ranker, self.repeat) for ranker in self.rankers}
        return {ranker: curve for ranker, curve in curves.items() if curve is not None}

    def rf1(self, dataset: str, low: float, high: float) -> pd.Series:
        """Return the mean rF1 of every ranker from ``low`` to ``high`` features."""
        grid = self.grid(dataset)
        inside = (grid >= low) & (grid <= high)
        if not inside.any():
            raise NoAnswerError(f"curves of {dataset} from {low:g} to {high:g} features")
        means = {ranker: float(curve[inside].mean()) for ranker, curve in self.curves(dataset).items()}
        return _equal(pd.Series(means, dtype=float))

    @cached_property
    def similarity(self) -> pd.DataFrame:
        """Mean AUFUJI of the rF1 curves of every two rankers, over the data sets that both have."""
        rankers = self.rankers
        key = ("similarity", rankers, self.datasets, self.repeat)
        if key in self.cells._tables:
            return self.cells._tables[key]
        total, count = (np.zeros((len(rankers), len(rankers))) for _ in range(2))
        place = {ranker: number for number, ranker in enumerate(rankers)}
        for dataset in self.datasets:
            curves = {k: curve for k, curve in self.curves(dataset).items() if not np.isnan(curve).any()}
            own = [place[name] for name in curves]
            pairs = [(i, j) for i in range(len(own)) for j in range(i)]
            if not pairs:
                continue
            areas = areas_under_fuji([np.maximum(curve, 0.0) for curve in curves.values()], pairs)
            for (i, j), area in zip(pairs, areas, strict=True):
                total[own[i], own[j]] += area
                count[own[i], own[j]] += 1
        total, count = total + total.T, count + count.T
        means = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
        np.fill_diagonal(means, 1.0)
        made = pd.DataFrame(means, index=list(rankers), columns=list(rankers))
        self.cells._tables[key] = made
        return made

    def tested(self, pairs: Pairs) -> pd.DataFrame:
        """Return ``better``, ``equal``, ``worse``, ``gain`` (mean difference of max F1)."""
        if self.posteriors is None:
            raise NoAnswerError("the hierarchical Bayesian test on two data sets or more")
        table, lines = self.table("best_f1"), []
        for a, b in pairs:
            three = self.posteriors.of(a, b)
            if np.isnan(three[0]):
                raise NoAnswerError(f"a posterior of {self.label(a)} and {self.label(b)}")
            lines.append(
                [f"{self.label(a)} – {self.label(b)}", b, *three, float((table[a] - table[b]).mean())]
            )
        return pd.DataFrame(lines, columns=["pair", "other", "better", "equal", "worse", "gain"])

    @property
    def measurements(self) -> pd.DataFrame:
        """The measurements, of which there is at least one."""
        if self.measured is None or not len(self.measured):
            raise NoAnswerError("measurements")
        return self.measured


def _equal(values: pd.Series) -> pd.Series:
    return pd.Series(equalised(values), index=values.index, dtype=float)


def _places(values: pd.Series, *, ascending: bool = False) -> pd.Series:
    """Return places, 1 for the first; equal numbers have the best place that they share."""
    return _equal(values).rank(ascending=ascending, method="min")


def _own(values: pd.Series, names: Names, what: str) -> pd.Series:
    found = values.reindex(list(names)).dropna()
    if not len(found):
        raise NoAnswerError(what)
    return found


def _number(value: float) -> str:
    return np.format_float_positional(value, precision=3, unique=False, fractional=False, trim="-")


def _reaches(value: float, at_least: float | None, more_than: float | None) -> bool:
    return value >= at_least if at_least is not None else value > (more_than or 0)


# --- ranks and means ---


def first_by_rank(scores: Scores, measure: str, rankers: Names) -> Result:
    """Whether one of some rankers has the lowest average rank; a place that is shared counts."""
    ranks = scores.ranks(measure)
    first = ranks.index[ranks == ranks.iloc[0]]
    value = ", ".join(f"{scores.label(ranker)} {rank_shown(rank)}" for ranker, rank in ranks.head(4).items())
    return Result(bool(set(first) & set(rankers)), f"lowest average ranks: {value}")


def first_by_one_of_two(scores: Scores, rankers: Names, first: str, not_first: str) -> Result:
    """Whether one of some rankers has the lowest average rank by one measure, and none of them by another."""
    one, other = (first_by_rank(scores, measure, rankers) for measure in (first, not_first))
    value = f"{one.value} ({first}); {other.value} ({not_first})"
    return Result(one.holds and not other.holds, value)


def better_half(scores: Scores, measure: str, rankers: Names) -> Result:
    """Whether all of some rankers are in the better half by average rank."""
    ranks = scores.ranks(measure)
    places = _own(_places(ranks, ascending=True), rankers, "ranks of the claim's rankers")
    value = ", ".join(str(int(place)) for place in sorted(set(places)))
    return Result(bool(places.max() <= len(ranks) / 2), f"places {value} of {len(ranks)}")


def among_first(scores: Scores, measure: str, rankers: Names, to: int, start: int = 1) -> Result:
    """Whether the best of some rankers by the mean of a measure has a place from ``start`` to ``to``."""
    means = scores.means(measure)
    best = str(_own(means, rankers, "a mean of the claim's rankers").idxmax())
    place = int(_places(means)[best])
    return Result(start <= place <= to, f"best: {scores.label(best)}, place {place} of {len(means)}")


def none_among_first(scores: Scores, measure: str, rankers: Names, places: int) -> Result:
    """Whether none of some rankers has one of the first places by the mean of a measure."""
    means = scores.means(measure)
    _own(means, rankers, "a mean of the claim's rankers")
    best = means.index[_places(means) <= places]
    value = f"first {places} places: {', '.join(map(scores.label, best))}"
    return Result(not set(best) & set(rankers), value)


def lower_mean_rank(scores: Scores, measure: str, better: Names, worse: Names) -> Result:
    """Whether the mean of the average ranks of some rankers is lower than that of others."""
    ranks = scores.ranks(measure)
    a, b = equalised([_own(ranks, names, "ranks of both").mean() for names in (better, worse)])
    return Result(bool(a < b), f"average rank {rank_shown(a)} against {rank_shown(b)}")


def higher_mean(scores: Scores, measure: str, better: Names, worse: Names) -> Result:
    """Whether the mean of a measure over some rankers is higher than that over others."""
    table = scores.common(measure)
    one, other = (table.reindex(columns=list(names)).dropna(axis=1) for names in (better, worse))
    if not one.size or not other.size:
        raise NoAnswerError("means of both")
    a, b = equalised([one.to_numpy().mean(), other.to_numpy().mean()])
    return Result(bool(a > b), f"{fixed(a, 4)} against {fixed(b, 4)}")


def best_on(scores: Scores, dataset: str, measure: str, rankers: Names) -> Result:
    """Whether one of some rankers has the highest mean of a measure on one data set, and no other has it."""
    row = scores.table(measure).loc[dataset].dropna()
    own = row.reindex(list(rankers)).dropna()
    others = row.drop(list(rankers), errors="ignore")
    if not len(own) or not len(others):
        raise NoAnswerError(f"{measure} of both on {dataset}")
    value = " against ".join(
        f"{scores.label(str(each.idxmax()))} {fixed(each.max(), 4)}" for each in (own, others)
    )
    return Result(bool(own.max() > others.max()), value)


def not_better_than_next(scores: Scores, measure: str, first: int | None = None) -> Result:
    """Whether the first by mean is significantly better than none of the next (paired t, 95 % together)."""
    means, table = scores.means(measure), scores.common(measure)
    best, *others = means.index[:first]
    if len(table) < 2 or not others:
        raise NoAnswerError("two rankers on two common data sets")
    n = len(table)
    gaps = table[others].rsub(table[best], axis=0)
    half = stats.t.ppf(1 - 0.05 / len(others) / 2, n - 1) * gaps.std(ddof=1) / np.sqrt(n)
    apart = int((gaps.mean() > half).sum())
    value = f"{scores.label(str(best))} is significantly better than {apart} of the {len(others)} others"
    return Result(apart == 0, value)


def small_change(
    scores: Scores, measure: str, changed: Names, plain: Names, share: float, loss: bool = False
) -> Result:
    """Whether a change of rankers matters at most a share of the mean absolute difference of any two rankers."""
    table = scores.table(measure).dropna(axis=1, how="all").dropna()
    pairs = [(a, b) for a, b in zip(changed, plain, strict=True) if a in table and b in table]
    if not pairs or not len(table):
        raise NoAnswerError("a ranker with and without the change, with all others")
    usual = np.mean([(table[a] - table[b]).abs().mean() for a, b in itertools.combinations(table, 2)])
    changes = [(table[b] - table[a]).mean() if loss else (table[a] - table[b]).abs().mean() for a, b in pairs]
    value = ", ".join(
        f"{scores.label(b)} {fixed(each, 4)}" for (_, b), each in zip(pairs, changes, strict=True)
    )
    what = "loss" if loss else "absolute change"
    return Result(
        bool(max(changes) <= share * usual), f"mean {what}: {value}; any two rankers {fixed(usual, 4)}"
    )


def not_always_better(scores: Scores, changed: Names, plain: Names) -> Result:
    """Whether each changed ranker has a data set where its max F1 is not above that of the plain one."""
    value, holds = [], True
    for own, other in zip(changed, plain, strict=True):
        both = scores.table("best_f1", (own, other)).dropna()
        wins = int((both[own] > both[other]).sum())
        holds &= wins < len(both)
        value.append(f"{scores.label(own)} on {wins} of {len(both)}")
    if not len(scores.table("best_f1", (*changed, *plain)).dropna()):
        raise NoAnswerError("all rankers with and without embedding on one data set")
    return Result(holds, f"data sets with a higher max F1: {', '.join(value)}")


def places_move(scores: Scores, measure: str, changed: Names, plain: Names) -> Result:
    """Whether in most pairs the average ranks differ by a place or more."""
    ranks = scores.ranks(measure)
    if not {*changed, *plain} <= set(ranks.index):
        raise NoAnswerError("ranks with and without the change")
    n = sum(abs(ranks[a] - ranks[b]) >= 1 for a, b in zip(changed, plain, strict=True))
    return Result(2 * n > len(changed), f"in {n} of {len(changed)} pairs")


def steadier(scores: Scores, measure: str, better: Names, worse: Names) -> Result:
    """Whether the standard deviation over folds is smaller for some rankers than for their counterparts."""
    folds = scores.cells.folds(measure)
    folds = folds if scores.repeat is None else folds[folds["repeat"] == scores.repeat]
    spread = folds.groupby(["dataset", "ranker"])["value"].std(ddof=1).unstack("ranker")
    spread = spread.reindex(index=list(scores.datasets), columns=[*better, *worse])
    a, b = spread[list(better)].to_numpy(), spread[list(worse)].to_numpy()
    both = ~np.isnan(a) & ~np.isnan(b)
    if not both.any():
        raise NoAnswerError("a ranker with and without embedding on one data set")
    one, other = equalised([a[both].mean(), b[both].mean()])
    n = int((a[both] < b[both]).sum())
    value = f"mean sd {fixed(one, 4)} against {fixed(other, 4)}, smaller in {n} of {both.sum()} pairs"
    return Result(bool(one < other), value)


# --- target distances ---


def _by_distance(scores: Scores, rankers: Names, table: pd.DataFrame) -> pd.Series:
    """Average a table of AUrF1 for each target distance."""
    means = {}
    for distance in expand("distances"):
        own = [name for name in rankers if name.endswith(f"_{distance}") and name in table]
        if not own:
            raise NoAnswerError("rankers with every target distance")
        means[distance] = float(table[own].to_numpy().mean())
    return _equal(pd.Series(means)).sort_values(ascending=False, kind="stable")


def _distances_shown(means: pd.Series) -> str:
    return "mean AUrF1: " + ", ".join(f"{name} {fixed(mean, 4)}" for name, mean in means.items())


def distances_in_worse_half(scores: Scores, distances: Names) -> Result:
    """Whether some distances are in the worse half by mean AUrF1."""
    means = _by_distance(scores, scores.rankers, scores.common("aurf1"))
    places = means.rank(method="min")
    return Result(bool(places[list(distances)].max() <= len(means) / 2), _distances_shown(means))


def first_distance(scores: Scores, distances: Names) -> Result:
    """Whether one of some distances has a higher mean AUrF1 than all others."""
    means = _by_distance(scores, scores.rankers, scores.common("aurf1"))
    own = means[list(distances)]
    return Result(bool(own.max() > means.drop(list(distances)).max()), _distances_shown(means))


def distance_at_an_end(scores: Scores, distance: str) -> Result:
    """Whether on every data set a distance is among the first two or the last two of six by AUrF1."""
    table = scores.table("aurf1").dropna()
    if not len(table):
        raise NoAnswerError("all rankers on one data set")
    places = {
        dataset: int(_places(_by_distance(scores, scores.rankers, table.loc[[dataset]]))[distance])
        for dataset in table.index
    }
    value = ", ".join(f"{dataset} {place}" for dataset, place in places.items())
    return Result(not {3, 4} & set(places.values()), f"places: {value}")


# --- times ---


def times_faster(scores: Scores, fast: Names, slow: Names, at_least: float) -> Result:
    """Whether the mean time of some rankers is so many times that of others."""
    table = scores.common("fit_seconds", [*slow, *fast])
    one, other = (table.reindex(columns=list(names)).dropna(axis=1).to_numpy() for names in (slow, fast))
    if not one.size or not other.size:
        raise NoAnswerError("times of both on one data set")
    ratio, geometric = one.mean() / other.mean(), np.exp(np.log(one).mean() - np.log(other).mean())
    value = f"ratio of mean times {_number(ratio)}, geometric mean of ratios {_number(geometric)}"
    return Result(bool(ratio >= at_least), value)


def pairwise_times_faster(scores: Scores, fast: Names, slow: Names, more_than: float) -> Result:
    """Whether slow rankers take so many times the mean time of fast ones with the same options."""
    table = scores.common("fit_seconds", list(dict.fromkeys([*slow, *fast])))
    pairs = [(a, b) for a, b in zip(slow, fast, strict=True) if a in table and b in table]
    if not pairs:
        raise NoAnswerError("times of a ranker with and without embedding on one data set")
    one, other = (table[list(names)].to_numpy() for names in zip(*pairs, strict=True))
    ratio, geometric = one.mean() / other.mean(), np.exp(np.log(one / other).mean())
    value = f"ratio of mean times {_number(ratio)}, geometric mean of ratios {_number(geometric)}"
    return Result(bool(ratio > more_than), value)


def first_by_time(scores: Scores, fast: Names, slow: Names, share: float) -> Result:
    """Whether the best average rank by time is the critical distance or more below those of a share of others."""
    ranks = scores.ranks("fit_seconds", higher_is_better=False)
    n_datasets = len(scores.common("fit_seconds"))
    own, others = (_own(ranks, names, "times of both") for names in (fast, slow))
    if n_datasets < 2:
        raise NoAnswerError("times on two data sets")
    distance = critical_distance(len(ranks), n_datasets)
    n = int((others - own.min() >= distance).sum())
    value = f"{n} of {len(others)} are {rank_shown(distance)} or more above {rank_shown(own.min())}"
    return Result(n >= share * len(slow), value)


def always_faster(scores: Scores, fast: Names, slow: Names) -> Result:
    """Whether each of some rankers takes less time than each of others, on every data set."""
    ratios = scores.ratios(slow, fast)
    wrong = int((ratios["ratio"] <= 1).sum())
    return Result(wrong == 0, f"slower in {wrong} of {len(ratios)} comparisons (data set × two rankers)")


def largest_ratio(
    scores: Scores,
    fast: Names,
    slow: Names,
    at_least: float | None = None,
    more_than: float | None = None,
    same_options: bool = False,
) -> Result:
    """Whether one ranker takes so many times the seconds of another (of the same options) on some data set."""
    ratios = scores.ratios(slow, fast)
    if same_options:
        options = [ratios[name].str.rpartition("_")[0] for name in ("slow", "fast")]
        ratios = ratios[options[0] == options[1]]
    if not len(ratios):
        raise NoAnswerError("times of both on one data set")
    most = ratios.loc[ratios["ratio"].idxmax()]
    who = f"{scores.label(most['slow'])} / {scores.label(most['fast'])} on {most['dataset']}"
    return Result(
        _reaches(most["ratio"], at_least, more_than), f"largest ratio {_number(most['ratio'])}: {who}"
    )


def slowest(scores: Scores, rankers: Names) -> Result:
    """Whether each of some rankers takes longer than every other, by mean times over data sets."""
    times = scores.means("fit_seconds")
    own, others = _own(times, rankers, "times of both"), times.drop(list(rankers), errors="ignore")
    if not len(others):
        raise NoAnswerError("times of both")
    parts = [(str(own.idxmin()), own.min()), (str(others.idxmax()), others.max())]
    value = " against ".join(f"{scores.label(name)} {_number(seconds)} s" for name, seconds in parts)
    return Result(bool(own.min() > others.max()), value)


# --- similarity and posteriors ---


def alike_by_fuji(scores: Scores, rankers: Names) -> Result:
    """Whether some rankers are more alike by AUFUJI than all other pairs are on average."""
    return _closer(*block_means(scores.similarity, rankers))


def closer_by_fuji(scores: Scores, reference: Names, better: Names, worse: Names) -> Result:
    """Whether some rankers are nearer to others by AUFUJI than a third group is."""
    return _closer(*(between(scores.similarity, reference, names) for names in (better, worse)))


def _closer(near: float, far: float) -> Result:
    if np.isnan(near) or np.isnan(far):
        raise NoAnswerError("AUFUJI of both groups of rankers")
    a, b = equalised([near, far])
    return Result(bool(a > b), f"mean AUFUJI {fixed(near, 4)} against {fixed(far, 4)}")


def posteriors(scores: Scores, pairs: Pairs, where: str, at_most: int | None = None) -> Result:
    """Whether all pairs (or at most so many) meet a condition on ``better``, ``equal``, ``worse`` and ``gain``."""
    tested = scores.tested(pairs)
    n = int(tested.eval(where).sum())
    shown = [
        f"{line.pair}: {', '.join(fixed(each, 3) for each in (line.better, line.equal, line.worse))}"
        for line in tested.itertuples()
    ]
    value = f"{n} of {len(pairs)} pairs; P(better, equal, worse): {'; '.join(shown)}"
    return Result(n == len(pairs) if at_most is None else n <= at_most, value)


def most_probable(scores: Scores, pairs: Pairs, other: str) -> Result:
    """Whether of some pairs the one with ``other`` has the highest P(better)."""
    tested = scores.tested(pairs).set_index("other")["better"]
    value = ", ".join(f"{scores.label(str(name))} {fixed(p, 3)}" for name, p in tested.items())
    return Result(bool(tested[other] == tested.max()), f"P(better) than {value}")


# --- curves of one data set ---


def curve_among_best(
    scores: Scores, dataset: str, rankers: Names, low: int, high: int, above: float
) -> Result:
    """Whether all of some rankers have a mean rF1 above a number and are in the better half."""
    means = scores.rf1(dataset, low, high)
    own = _own(means, rankers, f"rF1 of the claim's rankers on {dataset}")
    places = _places(means).reindex(own.index)
    value = ", ".join(
        f"{scores.label(name)} {fixed(own[name], 3)} (place {int(places[name])})" for name in own.index
    )
    return Result(bool((own > above).all() and places.max() <= len(means) / 2), f"{value} of {len(means)}")


def only_curves_above(
    scores: Scores, dataset: str, rankers: Names, low: int, high: int, above: float
) -> Result:
    """Whether the best of some rankers has a mean rF1 above a number, and no other ranker has."""
    means = scores.rf1(dataset, low, high)
    own = _own(means, rankers, f"rF1 of the claim's rankers on {dataset}")
    others = means.drop(list(rankers), errors="ignore").dropna()
    if own.max() <= above and len(own) < len(rankers):
        raise NoAnswerError(f"rF1 of all of the claim's rankers on {dataset}")
    if not len(others):
        raise NoAnswerError(f"rF1 of other rankers on {dataset}")
    value = f"best {fixed(own.max(), 3)}, best of the others {fixed(others.max(), 3)}"
    return Result(bool(own.max() > above and others.max() <= above), value)


def peaks_before(scores: Scores, dataset: str, rankers: Names, before: int) -> Result:
    """Whether the mean rF1 of all of some rankers is highest below a number of features."""
    grid, curves = scores.grid(dataset), scores.curves(dataset)
    peaks = {name: int(grid[first_best(curves[name])]) for name in rankers if name in curves}
    if not peaks:
        raise NoAnswerError(f"rF1 on {dataset}")
    value = ", ".join(f"{scores.label(name)} {peak}" for name, peak in peaks.items())
    return Result(max(peaks.values()) < before, f"features at the highest rF1: {value}")


def higher_curve(
    scores: Scores, dataset: str, better: Names, worse: Names, to: int, every: bool = False
) -> Result:
    """Whether the best (every) of some rankers has a higher mean rF1 up to a number of features than all others."""
    means = scores.rf1(dataset, 1, to)
    own, others = (_own(means, names, f"rF1 of both on {dataset}") for names in (better, worse))
    least = own.min() if every else own.max()
    return Result(bool(least > others.max()), f"{fixed(least, 4)} against {fixed(others.max(), 4)}")


def not_finished(scores: Scores, dataset: str, rankers: Names) -> Result:
    """Whether none of some rankers ended with a number on a data set."""
    ended = [name for name in rankers if (dataset, name) in scores.cells.ended]
    done = scores.table("fit_seconds", rankers).reindex([dataset]).dropna(axis=1).shape[1]
    if not ended and not done:
        raise NoAnswerError(f"the rankers on {dataset}")
    return Result(done == 0, f"{len(ended)} of {len(rankers)} were stopped, {done} finished")


# --- numbers of iterations ---


def _by_iterations(scores: Scores, dataset: str, family: str) -> pd.Series:
    """Return mean AUrF1 by number of iterations; the last is every sample once."""
    rows = scores.cells.scored
    every = rows.loc[rows["dataset"] == dataset, "n_train"].max()
    own = [name for name in scores.rankers if name.partition("[")[0] == family]
    row = scores.cells.table("aurf1", [dataset], scores.rankers, scores.repeat).loc[dataset, own].dropna()
    if len(row) < 2 or family not in row:
        raise NoAnswerError(f"{family} on {dataset} with few iterations and with every sample")
    return pd.Series({n_iterations(name) or int(every): value for name, value in row.items()}).sort_index()


def _at(curve: pd.Series, n: int) -> float:
    if n not in curve.index:
        raise NoAnswerError(f"{n} iterations")
    return float(curve[n])


def iterations_enough(scores: Scores, dataset: str, family: str, iterations: int, share: float) -> Result:
    """Whether AUrF1 after so many iterations is at least a share of that after every sample."""
    curve = _by_iterations(scores, dataset, family)
    first, last = _at(curve, iterations), float(curve.iloc[-1])
    return Result(first >= share * last, f"AUrF1 {fixed(first, 4)} against {fixed(last, 4)}")


def root_iterations_enough(scores: Scores, family: str, share: float) -> Result:
    """Whether on some data set AUrF1 after √samples iterations is at least a share of that after every sample."""
    ratios = {}
    for dataset in scores.datasets:
        try:
            curve = _by_iterations(scores, dataset, family)
        except NoAnswerError:
            continue
        n = curve.index[curve.index >= np.sqrt(curve.index[-1])][0]
        ratios[f"{dataset} ({n})"] = float(curve[n] / curve.iloc[-1])
    if not ratios:
        raise NoAnswerError("a data set with few iterations and with every sample")
    value = ", ".join(f"{name} {fixed(ratio, 3)}" for name, ratio in ratios.items())
    return Result(max(ratios.values()) >= share, f"share of AUrF1: {value}")


def converges_later(scores: Scores, dataset: str, better: str, worse: str, share: float) -> Result:
    """Whether ``worse`` needs more iterations than ``better`` until AUrF1 stays at a share of its end or more."""
    needed = []
    for family in (worse, better):
        curve = _by_iterations(scores, dataset, family)
        low = np.flatnonzero((curve < share * curve.iloc[-1]).to_numpy()[:-1])
        needed.append(int(curve.index[low[-1] + 1 if len(low) else 0]))
    return Result(needed[0] > needed[1], f"iterations: {needed[0]} against {needed[1]}")


def iterations_range(
    scores: Scores, dataset: str, families: Names, at_most: float, start: int = 1, relative: bool = False
) -> Result:
    """Whether AUrF1 of every family varies by at most a number from ``start`` iterations on."""
    value, widest = [], 0.0
    for family in families:
        curve = _by_iterations(scores, dataset, family)
        curve = curve[curve.index >= start]
        low, high = float(curve.min()), float(curve.max())
        widest = max(widest, (high - low) / (high if relative else 1.0))
        value.append(f"{scores.label(family)} {fixed(low, 4)} to {fixed(high, 4)}")
    return Result(widest <= at_most, f"AUrF1: {', '.join(value)}")


def drops_at(scores: Scores, dataset: str, family: str, iterations: int) -> Result:
    """Whether AUrF1 after so many iterations is lower than after half of them."""
    curve = _by_iterations(scores, dataset, family)
    before, at = _at(curve, iterations // 2), _at(curve, iterations)
    return Result(at < before, f"AUrF1 {fixed(before, 4)}, then {fixed(at, 4)}")


def always_above(scores: Scores, dataset: str, better: str, worse: str) -> Result:
    """Whether at every number of iterations one ranker has the higher AUrF1."""
    one, other = (_by_iterations(scores, dataset, family) for family in (better, worse))
    both = one.index.intersection(other.index)
    n = int((one[both] > other[both]).sum())
    return Result(n == len(both), f"higher at {n} of {len(both)} numbers of iterations")


# --- measurements ---


def _on_data_sets(holds: pd.Series, values: pd.Series, all_of_them: bool) -> Result:
    """Whether a condition holds on all data sets, or on more than half of them."""
    n = int(holds.sum())
    value = ", ".join(f"{dataset} {fixed(each, 3)}" for dataset, each in values.items())
    return Result(n == len(holds) if all_of_them else 2 * n > len(holds), f"on {n} of {len(holds)}: {value}")


def slope_rounds_to(scores: Scores, number: int) -> Result:
    """Whether one of the fitted slopes rounds to a number."""
    slopes = scores.measurements.drop_duplicates("rows").set_index("rows")["slope"].dropna()
    value = ", ".join(f"{rows} {fixed(slope, 2)}" for rows, slope in slopes.items())
    return Result(bool((slopes.round() == number).any()), f"slopes: {value}")


def _left(scores: Scores, *, estimated: bool) -> pd.DataFrame:
    measured = scores.measurements
    own = measured[measured["estimated"].astype(bool) == estimated]
    if not len(own):
        raise NoAnswerError("shares of non-zeros that are left")
    return own.assign(left=own["share"] / own["share_before"])


def sparser(
    scores: Scores, below: float | None = None, at_most: float | None = None, every: bool = False
) -> Result:
    """Whether with the estimated ε the share of non-zeros that is left is small on most (every) data sets."""
    left = _left(scores, estimated=True).groupby("dataset", sort=False)["left"].mean()
    return _on_data_sets(left < below if at_most is None else left <= at_most, left, every)


def dense_at(scores: Scores, epsilon: float, at_least: float) -> Result:
    """Whether on most data sets a share of the non-zeros is left with an ε as large as this."""
    tried = _left(scores, estimated=False)
    kept = tried[tried["left"] >= at_least].groupby("dataset")["epsilon"].max()
    largest = kept.reindex(tried["dataset"].unique(), fill_value=0.0)
    return _on_data_sets(largest >= epsilon, largest, all_of_them=False)


def phase_share(scores: Scores, phase: str, more_than: float, every: bool = False) -> Result:
    """Whether a phase takes more than a share of the fits of ReliefE, on most (every) data sets."""
    means = phase_means(scores.measurements)
    own = means[means["ranker"].str.startswith("reliefe") & (means["phase"] == phase)]
    if not len(own):
        raise NoAnswerError("phases of ReliefE")
    share = own.groupby("dataset", sort=False)["share"].mean()
    return _on_data_sets(share > more_than, share, every)


def different_neighbors(scores: Scores, at_least: float) -> Result:
    """Whether the largest median number of neighbours of a data set is so many times the smallest."""
    measured = scores.measurements
    own = measured[measured["ranker"].str.startswith("reliefe") & (measured["neighbors"] > 0)]
    medians = {}
    for dataset, part in own.groupby("dataset", sort=False):
        counts = part.groupby("neighbors")["count"].sum()
        medians[str(dataset)] = int(counts.index[np.searchsorted(np.cumsum(counts), counts.sum() / 2)])
    if len(medians) < 2:
        raise NoAnswerError("neighbours taken by ReliefE on two data sets")
    value = ", ".join(f"{dataset} {k}" for dataset, k in medians.items())
    return Result(max(medians.values()) >= at_least * min(medians.values()), f"median k: {value}")


PREDICATES: dict[str, Callable[..., Result]] = {
    name: function
    for name, function in list(globals().items())
    if callable(function) and getattr(function, "__annotations__", {}).get("return") == "Result"
    and not name.startswith("_")
}  # fmt: skip
