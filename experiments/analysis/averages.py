"""Tables of data sets × rankers → one line per ranker, over the data sets that all of them have."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from scipy import stats

from experiments.analysis.scores import common, comparable
from experiments.analysis.ties import equalised


def averages(table: pd.DataFrame, *, higher_is_better: bool = True, confidence: float = 0.95) -> pd.DataFrame:
    """Average over the data sets on which all compared rankers have a number.

    Parameters
    ----------
    table : DataFrame
        From :func:`experiments.analysis.scores.score_table`.
    higher_is_better : bool, default=True
        Which end is best.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    DataFrame
        Best first: ``ranker``, ``mean`` and ``sd`` over data sets (n − 1; NaN for one), ``minus_sd``, ``plus_sd``
        (mean ∓ sd), ``lower``, ``upper`` (t interval of the mean over data sets; NaN for one), ``minimum``,
        ``maximum``, ``n_datasets``. Rankers that :func:`~experiments.analysis.scores.comparable` leaves out are not
        among them. ``attrs["datasets"]`` lists the data sets, ``attrs["left_out"]`` the rankers left out and
        ``attrs["not_common"]`` the data sets that some compared ranker lacks.
    """
    kept, left_out = comparable(table)
    shared = common(kept) if kept.shape[1] else kept.iloc[:0]
    n = len(shared)
    lines = []
    for ranker in shared.columns if n else []:
        values = shared[ranker].to_numpy(dtype=float)
        mean, sd = float(values.mean()), float(values.std(ddof=1)) if n > 1 else np.nan
        half = stats.t.ppf(0.5 + confidence / 2, n - 1) * sd / np.sqrt(n) if n > 1 else np.nan
        around = [mean - sd, mean + sd, mean - half, mean + half]
        lines.append([ranker, mean, sd, *around, float(values.min()), float(values.max()), n])
    columns = ["ranker", "mean", "sd", "minus_sd", "plus_sd", "lower", "upper", "minimum", "maximum"]
    found = pd.DataFrame(lines, columns=[*columns, "n_datasets"])
    found["mean"] = equalised(found["mean"])
    found = found.sort_values("mean", ascending=not higher_is_better, kind="stable", ignore_index=True)
    found.attrs["datasets"] = [str(each) for each in shared.index]
    found.attrs["left_out"] = left_out
    found.attrs["not_common"] = [str(each) for each in kept.index if each not in shared.index]
    return found


def speed_ratios(table: pd.DataFrame, slow: list[str], fast: list[str]) -> pd.DataFrame:
    """Divide the times of some rankers by those of others, data set by data set.

    Parameters
    ----------
    table : DataFrame
        Data sets × rankers, seconds.
    slow, fast : list of str
        Rankers; those that the table lacks are passed over.

    Returns
    -------
    DataFrame
        ``dataset``, ``slow``, ``fast``, ``ratio`` (seconds of the slow one / seconds of the fast one), wherever
        both have a time.
    """
    names, values = list(table.columns), table.to_numpy(dtype=float)
    place = {name: number for number, name in enumerate(names)}
    lines = []
    for dataset, seconds in zip(table.index, values, strict=True):
        for one, other in itertools.product(slow, fast):
            if one in place and other in place:
                above, below = seconds[place[one]], seconds[place[other]]
                if above > 0 and below > 0:
                    lines.append([str(dataset), one, other, float(above / below)])
    return pd.DataFrame(lines, columns=["dataset", "slow", "fast", "ratio"])
