"""Cost against quality, and places within data sets."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from experiments.analysis.scores import common, comparable
from experiments.analysis.ties import equalised, tied_ranks


def places(scores: pd.DataFrame, *, higher_is_better: bool) -> pd.DataFrame:
    """Rank the rankers of every data set by themselves.

    Of the same shape: 1 is the best of the data set; equal scores share the mean of their places; NaN stays.
    """
    return tied_ranks(scores, higher_is_better=higher_is_better)


def cost_quality(seconds: pd.DataFrame, quality: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Set what rankings cost beside how good they are.

    ``measure``, ``dataset`` ("" for the data sets that all rankers have), ``ranker``, ``seconds``,
    ``quality``, ``best_value``: no other ranker is at least as good in both and better in one. For several
    data sets ``seconds`` is the geometric mean (else the slowest data set is all there is to see) and
    ``quality`` the mean; who is left out of these is as in
    :func:`experiments.analysis.scores.comparable`.

    A fit of zero seconds counts as a nanosecond in the geometric mean.
    """
    lines = []
    for measure, scores in quality.items():
        time = seconds.reindex_like(scores)
        both = scores.notna() & time.notna()
        shared = common(comparable(scores.where(both))[0])
        if shared.size:
            mean = np.exp(np.log(time.loc[shared.index, shared.columns].clip(lower=1e-9)).mean())
            lines += _points(measure, "", mean, shared.mean())
        for dataset in scores.index:
            there = list(scores.columns[both.loc[dataset]])
            lines += _points(measure, dataset, time.loc[dataset, there], scores.loc[dataset, there])
    columns = ["measure", "dataset", "ranker", "seconds", "quality", "best_value"]
    return pd.DataFrame(lines, columns=columns).astype({"best_value": bool})


def _points(measure: str, dataset: str, seconds: pd.Series, quality: pd.Series) -> list[list]:
    time, good = equalised(seconds), equalised(quality)
    # Row i, column j: is j at least as good as i in both, and better in one?
    beaten = (time[None, :] <= time[:, None]) & (good[None, :] >= good[:, None])
    beaten &= (time[None, :] < time[:, None]) | (good[None, :] > good[:, None])
    kept = np.logical_not(beaten.any(axis=1))
    columns = zip(seconds.index, time, good, kept, strict=True)
    return [[measure, dataset, ranker, float(t), float(q), bool(k)] for ranker, t, q, k in columns]
