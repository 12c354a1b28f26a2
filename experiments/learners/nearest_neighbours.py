"""Nearest neighbours along a ranking: a learner that uses interactions, in little more time than one fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from experiments.learners.kernels.near import near_means

#: As many neighbours as ReliefF has by default; fewer where samples are few.
_NEIGHBOURS = 10
#: Test samples at a time, whatever the number of threads.
_BLOCK = 64


def neighbour_means(
    train: np.ndarray, test: np.ndarray, targets: np.ndarray, ends: Sequence[int], n_jobs: int = 1
) -> np.ndarray:
    """Return the mean targets (e, m, c) of the nearest training samples on the first ends[0], ends[1], … columns.

    The nearest are the ten (at most the square root of n) with the smallest Manhattan distance, and all others at
    the distance of the last of these. ``train`` (n, p) and ``test`` (m, p) are on comparable scales and without
    missing values, ``targets`` is (n, c).
    """
    k = min(_NEIGHBOURS, math.ceil(math.sqrt(len(train))))
    columns, targets = np.ascontiguousarray(train.T), np.ascontiguousarray(targets, dtype=np.float64)
    places = np.asarray(ends, dtype=np.int64)

    def block(start: int) -> np.ndarray:
        part = np.ascontiguousarray(test[start : start + _BLOCK].T)
        means = np.empty((len(places), part.shape[1], targets.shape[1]))
        near_means(columns, part, targets, places, k, means)
        return means

    with ThreadPoolExecutor(n_jobs) as pool:
        return np.concatenate(list(pool.map(block, range(0, len(test), _BLOCK))), axis=1)
