"""Each feature alone: p values of Kruskal and Wallis, of χ², and of Spearman, without a look at the others."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import chi2, rankdata
from scipy.stats import t as student

#: Values of X at a time.
_BLOCK = 2**22


def p_alone(X: np.ndarray, y: Any, task: str, categories: Collection[int] = ()) -> np.ndarray:
    """Return the p value of the hypothesis that target and feature are independent, for each column of X (n, p).

    Numbers × classes and categories × numbers: Kruskal–Wallis; categories × classes: χ² without a correction;
    numbers × numbers: Spearman. Labels: the smallest p value of them times their number, at most 1. Samples with a
    missing value (NaN) of the feature are left out. 1 where the feature, or the target beside it, has one value.
    """
    if task == "labels":
        labels = y.toarray() if sparse.issparse(y) else np.asarray(y)
        of_labels = [p_alone(X, labels[:, label], "classes", categories) for label in range(labels.shape[1])]
        return np.minimum(len(of_labels) * np.min(of_labels, axis=0), 1.0)
    found = np.ones(X.shape[1])
    numbers = np.setdiff1d(np.arange(X.shape[1]), list(categories))
    n_columns = max(1, _BLOCK // max(1, len(X)))
    for start in range(0, len(numbers), n_columns):
        places = numbers[start : start + n_columns]
        found[places] = (_spearman if task == "numbers" else _kruskal)(X[:, places], y)
    for place in categories:
        known = ~np.isnan(X[:, place])
        codes = X[known, place].astype(np.int64)
        if task == "numbers":
            found[place] = _kruskal(y[known, np.newaxis].astype(np.float64), codes)[0]
        else:
            found[place] = _chi_squared(codes, y[known])
    return found


def _kruskal(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Kruskal–Wallis of each column: H is n − 1 times the share of the ranks' variance that is between groups."""
    known = ~np.isnan(values)
    ranks = rankdata(values, axis=0, nan_policy="omit")
    n = known.sum(axis=0)
    deviations = np.where(known, ranks - (n + 1) / 2, 0.0)
    between, n_groups = np.zeros(values.shape[1]), np.zeros(values.shape[1], dtype=np.int64)
    for code in np.unique(codes):
        members = codes == code
        size = known[members].sum(axis=0)
        between += deviations[members].sum(axis=0) ** 2 / np.maximum(size, 1)
        n_groups += size > 0
    total = (deviations**2).sum(axis=0)
    varies = (total > 0) & (n_groups > 1)
    H = (n - 1) * between / np.where(varies, total, 1.0)
    return np.where(varies, chi2.sf(H, np.maximum(n_groups - 1, 1)), 1.0)


def _spearman(values: np.ndarray, y: np.ndarray) -> np.ndarray:
    known = ~np.isnan(values)
    targets = np.where(known, y[:, np.newaxis], np.nan)
    n = known.sum(axis=0)
    a, b = (
        np.where(known, rankdata(each, axis=0, nan_policy="omit") - (n + 1) / 2, 0.0)
        for each in (values, targets)
    )
    scale = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    varies = (scale > 0) & (n > 2)
    r = np.clip((a * b).sum(axis=0) / np.where(varies, scale, 1.0), -1.0, 1.0)
    with np.errstate(divide="ignore"):
        statistic = np.abs(r) * np.sqrt(np.maximum(n - 2, 1) / (1.0 - r**2))
    return np.where(varies, 2.0 * student.sf(statistic, np.maximum(n - 2, 1)), 1.0)


def _chi_squared(codes: np.ndarray, classes: np.ndarray) -> float:
    _, rows = np.unique(codes, return_inverse=True)
    _, columns = np.unique(classes, return_inverse=True)
    if not len(rows) or rows.max() == 0 or columns.max() == 0:
        return 1.0
    observed = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(observed, (rows, columns), 1.0)
    expected = observed.sum(axis=1, keepdims=True) * observed.sum(axis=0) / len(rows)
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, rows.max() * columns.max()))


def one_per_group(X: np.ndarray, y: Any, groups: np.ndarray, categories: Collection[int] = ()) -> Any:
    """Return X and y with one sample for each group, or None where the target varies within a group.

    Numbers are means of the known values of the group, categories the most frequent one.
    """
    _, codes = np.unique(groups, return_inverse=True)
    first = np.unique(codes, return_index=True)[1]
    varies = y != y[first][codes]
    if varies.nnz if sparse.issparse(y) else varies.any():
        return None
    known = ~np.isnan(X)
    sums, sizes = np.zeros((len(first), X.shape[1])), np.zeros((len(first), X.shape[1]))
    np.add.at(sums, codes, np.where(known, X, 0.0))
    np.add.at(sizes, codes, known)
    means = np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)
    for place in categories:
        for code in range(len(first)):
            values = X[(codes == code) & known[:, place], place].astype(np.int64)
            means[code, place] = np.bincount(values).argmax() if len(values) else np.nan
    return means, y[first]
