"""Average ranks of rankers over data sets, and which of them differ: Friedman's test, then Nemenyi's.

Neither scikit-posthocs nor Orange does what is needed here: the first brings statsmodels and seaborn along
and gives p-values of pairs, not the critical distance; the second has it from a table that ends at 20
rankers. Both tests are a line each with scipy, whose studentized range knows any number of rankers.

Source: J. Demšar: Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7 (2006), section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy import stats

from experiments.analysis.ties import equalised, equalised_rows, tied_ranks
from experiments.errors import BadScoresError

#: Of fewer, Friedman's test says nothing.
_FEWEST_DATASETS, _FEWEST_RANKERS = 2, 3


@dataclass(frozen=True)
class RankComparison:
    """Average ranks, and all that belongs on a critical-distance diagram."""

    average_ranks: pd.Series
    """Average rank of every ranker, best first."""
    cd: float
    """Average ranks that differ by at least this much are different; NaN for one data set."""
    cliques: tuple[tuple[str, ...], ...]
    """Largest groups of two or more rankers that are not different, best first. Overlapping ones are not merged."""
    used: tuple[str, ...]
    """Data sets that all rankers finished."""
    left_out: dict[str, tuple[str, ...]]
    """The other data sets, and the rankers that did not finish them."""
    alpha: float
    friedman_statistic: float
    """Chi-square, corrected for ties; NaN where the test is left out (``no_test``)."""
    friedman_p: float
    """Its p-value; NaN likewise."""

    def differs(self, a: str, b: str) -> bool:
        """Whether two average ranks differ by at least the critical distance (Demšar, 2006)."""
        return bool(abs(self.average_ranks[a] - self.average_ranks[b]) >= self.cd)

    @property
    def no_test(self) -> str:
        """Why Friedman's test is left out, in words; "" where it is not."""
        if len(self.used) < _FEWEST_DATASETS:
            return "it needs two data sets or more: on one, every order of the rankers gives the same p"
        if len(self.average_ranks) < _FEWEST_RANKERS:
            return "it needs three rankers or more"
        return "all rankers are tied everywhere" if np.isnan(self.friedman_p) else ""

    @property
    def out_of_reach(self) -> bool:
        """Whether the critical distance is longer than average ranks can be apart."""
        return bool(self.cd > len(self.average_ranks) - 1)


def average_ranks(frame: pd.DataFrame, *, higher_is_better: bool = True) -> pd.Series:
    """Average the ranks that rankers have on the data sets.

    Parameters
    ----------
    frame : DataFrame
        Data sets × rankers: one number each, NaN where a ranker did not finish. A data set may have several
        rows (folds), with its name in the index or in the first level of it; their mean counts, and is
        missing where one of them is.
    higher_is_better : bool, default=True
        False for times.

    Returns
    -------
    Series
        Ranker → average rank over the data sets that all rankers finished, in the order of the columns. 1 is
        best; ties share their average, and scores (or means over folds) that differ by rounding alone are tied
        (:mod:`experiments.analysis.ties`).

    Raises
    ------
    BadScoresError
        If there are no rankers, a ranker is there twice, a number is infinite, or no data set was finished by
        all.
    """
    table = _common(_per_dataset(frame))
    means = tied_ranks(table, higher_is_better=higher_is_better).mean()
    # Average ranks, too, are equal when they differ by rounding alone.
    return pd.Series(equalised(means), index=means.index, name="rank")


def critical_distance(n_rankers: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return the critical distance of the Nemenyi test.

    q √(k (k + 1) / (6 N)), q the upper ``alpha`` quantile of the studentized range with infinitely many
    degrees of freedom, divided by √2.
    """
    if n_rankers < 2 or n_datasets < 1 or not 0 < alpha < 1:
        raise BadScoresError(
            f"a critical distance needs at least 2 rankers, 1 data set and alpha between 0 and 1, not {n_rankers}, "
            f"{n_datasets} and {alpha}"
        )
    q = _studentized_range(alpha, n_rankers) / np.sqrt(2)
    return float(q * np.sqrt(n_rankers * (n_rankers + 1) / (6 * n_datasets)))


@cache
def _studentized_range(alpha: float, n_rankers: int) -> float:
    """Upper quantile with infinitely many degrees of freedom; scipy finds it by integrating, again and again."""
    return float(stats.studentized_range.isf(alpha, n_rankers, np.inf))


def compare_ranks(
    frame: pd.DataFrame, *, higher_is_better: bool = True, alpha: float = 0.05
) -> RankComparison:
    """Rank, test, and group what is not different.

    On one data set ranks are told and nothing is tested.
    """
    whole = _per_dataset(frame)
    table = _common(whole)
    ranks = average_ranks(table, higher_is_better=higher_is_better).sort_values(kind="stable")
    distance = critical_distance(len(ranks), len(table), alpha)
    if len(table) < _FEWEST_DATASETS:
        # Any difference of two ranks would be one of this data set, about which nothing is asked.
        distance = float("nan")
    statistic, p = _friedman(table)
    missing = whole[whole.isna().any(axis=1)]
    return RankComparison(
        average_ranks=ranks,
        cd=distance,
        cliques=() if np.isnan(distance) else _cliques(ranks, distance),
        used=tuple(table.index),
        left_out={name: tuple(row.index[row.isna()]) for name, row in missing.iterrows()},
        alpha=alpha,
        friedman_statistic=statistic,
        friedman_p=p,
    )


def _per_dataset(frame: pd.DataFrame) -> pd.DataFrame:
    if frame.shape[1] == 0:
        raise BadScoresError("there are no rankers to rank")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise BadScoresError(
            f"ranker {twice} is there twice; rankers that are compared need names of their own"
        )
    try:
        frame = frame.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise BadScoresError(f"scores must be numbers: {error}") from error
    if np.isinf(frame.to_numpy()).any():
        name = frame.columns[np.isinf(frame.to_numpy()).any(axis=0)][0]
        raise BadScoresError(
            f"ranker {name} has an infinite score; leave it out, or give NaN for not finished"
        )
    # skipna: a mean over the folds that are there would compare rankers on different folds.
    if frame.index.nlevels == 1 and frame.index.is_unique and not frame.index.hasnans:
        return frame
    return frame.groupby(level=0, sort=False).agg(lambda values: values.mean(skipna=False))


def _common(table: pd.DataFrame) -> pd.DataFrame:
    common = table.dropna()
    if common.empty:
        counts = table.notna().sum().sort_values(kind="stable")
        fewest = ", ".join(f"{name} ({n} of {len(table)})" for name, n in counts.head(3).items())
        raise BadScoresError(
            f"no data set was finished by all {table.shape[1]} rankers; compare fewer rankers. Those that finished "
            f"fewest data sets: {fewest}"
        )
    return common


def _friedman(table: pd.DataFrame) -> tuple[float, float]:
    values = equalised_rows(table).to_numpy()
    tied = (values == values[:, :1]).all()
    # With two rankers it is a sign test in disguise, and scipy refuses it. On one data set without ties chi-square
    # is the number of rankers less one, whatever the scores.
    if values.shape[1] < _FEWEST_RANKERS or len(values) < _FEWEST_DATASETS or tied:
        return float("nan"), float("nan")
    result = stats.friedmanchisquare(*values.T)
    return float(result.statistic), float(result.pvalue)


def _cliques(ranks: pd.Series, distance: float) -> tuple[tuple[str, ...], ...]:
    values = ranks.to_numpy()
    ends = [int(np.flatnonzero(values - first < distance)[-1]) for first in values]
    found, reached = [], -1
    for start, end in enumerate(ends):
        # A group that ends where an earlier one does lies within it.
        if end > max(start, reached):
            found.append(tuple(ranks.index[start : end + 1]))
        reached = max(reached, end)
    return tuple(found)
