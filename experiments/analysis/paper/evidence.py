"""What a check of a claim looks at: means over folds, ranks, curves and posteriors; and the same for drawn folds.

Another run of the same cross-validation would give other means. How far they can be trusted is told by draws: the
means of all rankers on a data set are drawn together from the multivariate t distribution around what was measured,
with the scatter of the folds and the corrected resampled variance (1/n + n_test/n_train) of a mean of n folds that
share training samples. The same draw serves all rankers and measures of a data set, so that differences are paired.
A check that more than one draw in twenty turns is within the noise of the folds: for two rankers on one data set
this is the one-sided corrected resampled t-test at 5 %.

Source: C. Nadeau, Y. Bengio: Inference for the Generalization Error, Machine Learning 52 (2003).
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd
from scipy import stats

from experiments.analysis.pairs import Posteriors
from experiments.analysis.paper.claim import Claim, Finding, NotThereError
from experiments.analysis.paper.pool import Rankings
from experiments.analysis.scores import fold_scores, speed_ratios
from experiments.analysis.ties import equalised, equalised_rows, tied_ranks
from experiments.metrics.fuji import areas_under_fuji

_SEED = 0


def drawn_means(
    values: np.ndarray, ratio: float, normals: np.ndarray, uniforms: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Average over folds, and draw what other folds might have given.

    Parameters
    ----------
    values : ndarray, shape (n_folds, n_columns)
        NaN where a fold has none.
    ratio : float
        Test samples / training samples of a fold.
    normals : ndarray, shape (n_draws, n_folds)
        Standard normal numbers.
    uniforms : ndarray, shape (n_draws,)
        Numbers in 0 … 1, for the scale of each draw.

    Returns
    -------
    means : ndarray, shape (n_columns,)
        NaN without a value.
    draws : ndarray, shape (n_draws, n_columns)
        Multivariate t with n − 1 degrees of freedom around the means, with scale matrix (1/n + ratio) times the
        covariance of the folds; the means themselves where there is one fold.
    """
    there = ~np.isnan(values)
    n = there.sum(axis=0)
    means = np.where(there, values, 0.0).sum(axis=0) / np.maximum(n, 1)
    if not len(normals):
        return np.where(n > 0, means, np.nan), np.empty((0, len(means)))
    apart = np.where(there, values - means, 0.0)
    draws = np.repeat(means[None, :], len(normals), axis=0)
    for size in np.unique(n[n > 1]):
        mine = n == size
        heavy = np.sqrt((size - 1) / stats.chi2.ppf(uniforms, size - 1))
        scale = np.sqrt((1 / size + ratio) / (size - 1)) * heavy
        draws[:, mine] += scale[:, None] * (normals @ apart[:, mine])
    means, draws = np.where(n > 0, means, np.nan), np.where(n > 0, draws, np.nan)
    return means, draws


class Folds:
    """Fold scores of rankings, and draws of their means.

    Parameters
    ----------
    rankings : Rankings
        The cells.
    n_draws : int
        How many draws.
    """

    def __init__(self, rankings: Rankings, n_draws: int):
        self.rankings, self.n_draws = rankings, n_draws
        self._cells = {
            times: {
                (str(dataset), str(ranker)): mine
                for (dataset, ranker), mine in rows.groupby(["dataset", "ranker"], sort=False)
            }
            for times, rows in ((False, rankings.scored), (True, rankings.timed))
        }
        self._kept: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}
        self._tables: dict[tuple, pd.DataFrame] = {}

    def cell(self, dataset: str, ranker: str, *, times: bool = False) -> pd.DataFrame | None:
        """Return the rows of a whole cell, in the order of folds; None where there is none."""
        return self._cells[times].get((dataset, ranker))

    def of(self, dataset: str, ranker: str, what: str) -> tuple[np.ndarray, np.ndarray]:
        """Return means over folds and draws of them.

        Parameters
        ----------
        dataset, ranker : str
            The cell.
        what : str
            A measure, or "rf1" for the curve.

        Returns
        -------
        means, draws : ndarray, shapes (n_columns,) and (n_draws, n_columns)
            A single NaN for a cell that is not whole.
        """
        key = (dataset, ranker, what)
        if key not in self._kept:
            rows = self.cell(dataset, ranker, times=what == "fit_seconds")
            self._kept[key] = self._drawn(dataset, rows, what)
        return self._kept[key]

    def table(
        self, datasets: tuple[str, ...], rankers: tuple[str, ...], what: str, draw: int | None
    ) -> pd.DataFrame:
        """Return data sets × rankers; means that differ by rounding alone are equal.

        Parameters
        ----------
        datasets, rankers : tuple of str
            Which.
        what : str
            A measure.
        draw : int or None
            Which draw; None for the means themselves.

        Returns
        -------
        DataFrame
            NaN for cells that are not whole. Not to be changed.
        """
        key = (datasets, rankers, what, draw)
        if key not in self._tables:
            place = (0, 0) if draw is None else (1, (draw, 0))
            numbers = [
                [self.of(one, other, what)[place[0]][place[1]] for other in rankers] for one in datasets
            ]
            made = pd.DataFrame(numbers, index=list(datasets), columns=list(rankers), dtype=float)
            self._tables[key] = equalised_rows(made)
        return self._tables[key]

    def _drawn(self, dataset: str, rows: pd.DataFrame | None, what: str) -> tuple[np.ndarray, np.ndarray]:
        if rows is None:
            return np.full(1, np.nan), np.full((self.n_draws, 1), np.nan)
        if what == "rf1":
            values = np.array([np.asarray(each, dtype=float) for each in rows["rf1_micro"]])
        else:
            values = fold_scores(rows, what)[:, None]
        ratio = float(rows["n_test"].sum() / rows["n_train"].sum())
        folds = list(zip(rows["repeat"].tolist(), rows["fold"].tolist(), strict=True))
        normals, uniforms = _numbers(dataset, self.n_draws, max(each[0] for each in folds) + 1)
        chosen = np.array([normals[:, repeat, fold] for repeat, fold in folds]).T
        return drawn_means(values, ratio, chosen, uniforms)


@lru_cache(maxsize=64)
def _numbers(dataset: str, n_draws: int, n_repeats: int) -> tuple[np.ndarray, np.ndarray]:
    """Random numbers of a data set: those of a fold do not depend on how many there are."""
    rng = np.random.default_rng([_SEED, zlib.crc32(dataset.encode())])
    uniforms = rng.random(n_draws)
    normals = [
        np.random.default_rng([_SEED, zlib.crc32(dataset.encode()), repeat]).normal(size=(n_draws, 64))
        for repeat in range(n_repeats)
    ]
    return np.stack(normals, axis=1), uniforms


@dataclass(frozen=True)
class Evidence:
    """What a check looks at.

    Attributes
    ----------
    claim : Claim
        Its rankers and data sets alone count.
    datasets : tuple of str
        That are looked at.
    folds : Folds or None
        None for claims about measurements.
    posteriors : Posteriors or None
        Of pairs of rankers.
    measured : DataFrame
        Measurements of the claim's kind; empty for claims about rankings.
    draw : int or None
        Which draw of the folds; None for what was measured.
    level : bool
        Whether a draw is one in which rankers that the claim says are equal have the same mean.
    """

    claim: Claim
    datasets: tuple[str, ...]
    folds: Folds | None = None
    posteriors: Posteriors | None = None
    measured: pd.DataFrame | None = None
    draw: int | None = None
    level: bool = False

    # --- names ---

    @property
    def rankings(self) -> Rankings:
        """The cells, which a claim about rankings always has."""
        if self.folds is None:
            raise NotThereError("rankings")
        return self.folds.rankings

    def label(self, ranker: str) -> str:
        """Name a ranker for people, with those of the claim that are the same on all data sets looked at."""
        if self.draw is not None:  # nobody reads what is said of a draw
            return ranker
        labels = self.rankings.labels
        twins = set(self.claim.rankers) if self.datasets else {ranker}
        for dataset in self.datasets:
            groups = self.rankings.same.on.get(dataset, [])
            twins &= next((set(group) for group in groups if ranker in group), {ranker})
        if ranker not in twins:
            return labels.get(ranker, ranker)
        return " = ".join(labels.get(each, each) for each in self.claim.rankers if each in twins)

    def whole(self, rankers: Sequence[str], what: str) -> list[str]:
        """Return the data sets on which all of some rankers have a number."""
        return [
            each
            for each in self.datasets
            if all(not np.isnan(self.mean(each, ranker, what)) for ranker in rankers)
        ]

    # --- numbers ---

    def values(self, dataset: str, ranker: str, what: str) -> np.ndarray:
        """Return means over folds: of a measure one number, of "rf1" one for each number of features."""
        if self.folds is None:
            raise NotThereError("rankings")
        means, draws = self.folds.of(dataset, ranker, what)
        if self.draw is None:
            return means
        drawn = draws[self.draw]
        equal = next((group for group in self.claim.equal if ranker in group), ()) if self.level else ()
        if not equal:
            return drawn
        shared = np.array(
            [self.folds.of(dataset, each, what)[0] for each in equal if self._there(dataset, each)]
        )
        return drawn - means + shared.mean(axis=0) if len(shared) else drawn

    def _there(self, dataset: str, ranker: str) -> bool:
        return self.folds is not None and self.folds.cell(dataset, ranker) is not None

    def mean(self, dataset: str, ranker: str, what: str) -> float:
        """Return the mean over folds of a measure; NaN where the cell is not whole."""
        return float(self.values(dataset, ranker, what)[0])

    def table(self, what: str, rankers: Sequence[str] | None = None) -> pd.DataFrame:
        """Return data sets × rankers; means that differ by rounding alone are equal."""
        rankers = self.claim.rankers if rankers is None else rankers
        if self.folds is None:
            raise NotThereError("rankings")
        if self.level:
            numbers = [[self.mean(one, other, what) for other in rankers] for one in self.datasets]
            return equalised_rows(pd.DataFrame(numbers, index=list(self.datasets), columns=list(rankers)))
        return self.folds.table(self.datasets, tuple(rankers), what, self.draw)

    def common(self, what: str, rankers: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the data sets on which all rankers that ended anywhere have a number."""
        table = self.table(what, rankers)
        table = table.loc[:, table.notna().any(axis=0)]
        table = table[table.notna().all(axis=1)]
        if not len(table) or table.shape[1] < 2:
            raise NotThereError("two rankers on a common data set")
        return table

    def ranks(self, what: str, *, higher_is_better: bool = True) -> pd.Series:
        """Return average ranks over common data sets, best first; equal ones are equal."""
        means = tied_ranks(self.common(what), higher_is_better=higher_is_better).mean()
        return pd.Series(equalised(means), index=means.index).sort_values(kind="stable")

    def averages(self, what: str, rankers: Sequence[str] | None = None) -> pd.Series:
        """Return means over common data sets, highest first; equal ones are equal."""
        means = self.common(what, rankers).mean()
        return pd.Series(equalised(means), index=means.index).sort_values(ascending=False, kind="stable")

    def ratios(self, slow: Sequence[str], fast: Sequence[str]) -> pd.DataFrame:
        """Return seconds of one ranker / seconds of another, wherever both have times."""
        both = list(dict.fromkeys([*slow, *fast]))
        found = speed_ratios(self.table("fit_seconds", both), list(slow), list(fast))
        if not len(found):
            raise NotThereError("times of both on one data set")
        return found

    def grid(self, dataset: str) -> np.ndarray:
        """Return the numbers of features of a data set's curves."""
        for ranker in self.claim.rankers:
            rows = self.folds.cell(dataset, ranker) if self.folds is not None else None
            if rows is not None:
                return np.asarray(rows["grid"].iloc[0])
        raise NotThereError(f"a whole ranker on {dataset}")

    def rf1(self, dataset: str, low: float, high: float) -> pd.Series:
        """Return the mean rF1 of every ranker from ``low`` to ``high`` features."""
        grid = self.grid(dataset)
        inside = (grid >= low) & (grid <= high)
        if not inside.any():
            raise NotThereError(f"curves of {dataset} from {low:g} to {high:g} features")
        means = {
            ranker: float(curve[inside].mean())
            for ranker in self.claim.rankers
            if len(curve := self.values(dataset, ranker, "rf1")) == len(grid)
        }
        return pd.Series(equalised(list(means.values())), index=list(means), dtype=float)

    def n_train(self, dataset: str) -> int:
        """Return the largest number of training samples of a fold."""
        rows = self.rankings.scored
        return int(rows.loc[rows["dataset"] == dataset, "n_train"].max())

    # --- what is made of several rankers ---

    @cached_property
    def similarity(self) -> pd.DataFrame:
        """Mean AUFUJI of the rF1 curves of every two rankers, over the data sets that both have."""
        rankers = list(self.claim.rankers)
        total, count = np.zeros((len(rankers), len(rankers))), np.zeros((len(rankers), len(rankers)))
        for dataset in self.datasets:
            curves = {
                place: np.maximum(curve, 0.0)
                for place, ranker in enumerate(rankers)
                if not np.isnan(curve := self.values(dataset, ranker, "rf1")).any()
            }
            places = list(curves)
            pairs = [(i, j) for i in range(len(places)) for j in range(i)]
            if not pairs:
                continue
            areas = areas_under_fuji(list(curves.values()), pairs)
            for (i, j), area in zip(pairs, areas, strict=True):
                a, b = places[i], places[j]
                total[a, b] += area
                total[b, a] += area
                count[a, b] += 1
                count[b, a] += 1
        means = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
        np.fill_diagonal(means, 1.0)
        return pd.DataFrame(means, index=rankers, columns=rankers)

    def posterior(self, a: str, b: str) -> tuple[float, float, float]:
        """Return the probabilities that a is better, that there is no difference, that b is better."""
        if self.posteriors is None:
            raise NotThereError("the hierarchical Bayesian test, on two data sets or more")
        three = self.posteriors.of(a, b)
        if three[0] != three[0]:
            raise NotThereError(f"a posterior of {self.label(a)} and {self.label(b)}")
        return three if self.draw is None else self.posteriors.resampled(a, b, self.draw)

    def measurements(self) -> pd.DataFrame:
        """Return the measurements, of which there is at least one."""
        if self.measured is None or not len(self.measured):
            raise NotThereError("measurements")
        return self.measured


def within_noise(
    check: Callable[[Evidence], Finding], evidence: Evidence, n_draws: int, most: float = 0.05
) -> bool:
    """Say whether draws of the folds turn a check.

    Where rankers are equal if the claim is true (``Claim.equal``), and it fails, the noise may be all that makes
    them differ: then draws with equal means differ as much as what was measured.

    Parameters
    ----------
    check : callable
        Evidence → what the claim's check finds.
    evidence : Evidence
        What was measured.
    n_draws : int
        How many draws are looked at.
    most : float, default=0.05
        Share of draws with the other answer (or a difference as large) above which it is within the noise.

    Returns
    -------
    bool
        Draws in which there is no answer count as the same one.
    """
    found, n_other, n_as_large = check(evidence), 0, 0
    level = bool(evidence.claim.equal) and not found.holds
    for draw in range(n_draws):
        with contextlib.suppress(NotThereError):
            n_other += check(replace(evidence, draw=draw)).holds != found.holds
            if level:
                n_as_large += check(replace(evidence, draw=draw, level=True)).size >= found.size
        if max(n_other, n_as_large) > most * n_draws:
            return True
    return False
