"""The random decisions of PrMS (Algorithm 1), for values stored one after another."""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel


@kernel()
def absolute_sums(X):
    """Sum up absolute values by row and by column, each from first to last.

    Parameters
    ----------
    X : float64 array of shape (m, p)

    Returns
    -------
    rows : float64 array of shape (m,)
    columns : float64 array of shape (p,)
    """
    m, p = X.shape
    rows = np.zeros(m, dtype=np.float64)
    columns = np.zeros(p, dtype=np.float64)
    for i in range(m):
        total = 0.0
        for j in range(p):
            size = abs(X[i, j])
            total += size
            columns[j] += size
        rows[i] = total
    return rows, columns


@kernel()
def count_small(values, threshold):
    """Count the values other than 0 that do not exceed ``threshold`` in size."""
    count = 0
    for e in range(values.shape[0]):
        size = abs(values[e])
        count += np.int64(size > 0.0) & np.int64(size <= threshold)
    return count


@kernel()
def decide(values, threshold, draws):
    """Set the small values to 0 or to ``threshold``, sign kept, in place.

    Parameters
    ----------
    values : float64 array of shape (e,)
        Changed in place.
    threshold : float
        Larger values stay as they are.
    draws : float64 array
        A number from 0 to 1 for each value that :func:`count_small` counts, in their order.
    """
    used = 0
    for e in range(values.shape[0]):
        size = abs(values[e])
        if 0.0 < size <= threshold:
            kept = draws[used] * threshold < size
            used += 1
            values[e] = np.sign(values[e]) * threshold if kept else 0.0
