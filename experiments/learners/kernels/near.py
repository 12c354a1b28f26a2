"""Mean targets of the nearest training samples, for a growing number of features."""

from __future__ import annotations

import numpy as np

from experiments.learners.kernels import kernel

#: Distances that differ by less than this share are equal: sums in another order differ by so much.
_TIE = 1e-9


@kernel
def near_means(train, test, targets, ends, k, means):
    """Add up Manhattan distances feature by feature; at each end, average targets of the k nearest.

    ``train`` (p, n) and ``test`` (p, m) have a row for each feature, ``targets`` is (n, c), ``means`` (e, m, c) is
    written. Samples as near as the k-th one count too, so the order of the samples decides nothing.
    """
    n, n_targets = targets.shape
    distances, nearest = np.empty(n), np.empty(k)
    for i in range(test.shape[1]):
        distances[:] = 0.0
        start = 0
        for s in range(ends.shape[0]):
            for j in range(start, ends[s]):
                value = test[j, i]
                for a in range(n):
                    distances[a] += abs(train[j, a] - value)
            start = ends[s]
            nearest[:] = np.inf
            for a in range(n):
                if distances[a] < nearest[k - 1]:
                    place = k - 1
                    while place > 0 and nearest[place - 1] > distances[a]:
                        nearest[place] = nearest[place - 1]
                        place -= 1
                    nearest[place] = distances[a]
            limit = nearest[k - 1] * (1.0 + _TIE)
            number = 0
            means[s, i] = 0.0
            for a in range(n):
                if distances[a] <= limit:
                    number += 1
                    for target in range(n_targets):
                        means[s, i, target] += targets[a, target]
            for target in range(n_targets):
                means[s, i, target] /= number
