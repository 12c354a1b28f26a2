"""How alike the rankings of different folds are: Nogueira's measure of their top sets, FUJI of the whole lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from experiments.metrics.fuji import areas_under_fuji
from reliefe.ranking import TIE, descending_order, tied_with_next


class Stability(NamedTuple):
    """Stability of a selection, with the ends of its confidence interval."""

    value: float
    lower: float
    upper: float


def selection_stability(selected: Any, confidence: float = 0.95) -> Stability:
    """Compute how stable a selection of features is, as Nogueira, Sechidis and Brown define it.

    Parameters
    ----------
    selected : bool array of shape (n_sets, n_features)
        Which features each set holds; at least two sets. They may differ in size.
    confidence : float, default=0.95
        Of the interval, in 0 … 1.

    Returns
    -------
    Stability
        ``value`` is 1 when all sets are the same, 0 in the mean over sets drawn at random, and at least
        −1 / (n_sets − 1). ``lower`` and ``upper`` are the article's approximate interval: normal, for many sets
        drawn independently, and not cut off at 1; NaN for two sets, since two always add the same to the estimate.
        All three are NaN when no set holds a feature or every set holds all: nothing was chosen then.

    Raises
    ------
    ValueError
        If there are fewer than two sets, no features, or something else than yes and no.

    Notes
    -----
    With p the share of sets that hold a feature, Φ = 1 − mean(n_sets / (n_sets − 1) · p (1 − p)) / (q (1 − q)),
    where q is the mean share of features in a set.

    Source: S. Nogueira, K. Sechidis, G. Brown: On the Stability of Feature Selection Algorithms, Journal of Machine
    Learning Research 18 (174), 2018.
    """
    selected = _checked(selected)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    n_sets, n_features = selected.shape
    often = selected.mean(axis=0)
    share = selected.mean(axis=1)
    mean_share = float(often.mean())
    chance = mean_share * (1 - mean_share)
    if not selected.any() or selected.all():
        return Stability(np.nan, np.nan, np.nan)
    value = 1.0 - n_sets / (n_sets - 1) * float((often * (1 - often)).mean()) / chance
    if n_sets == 2:
        return Stability(value, np.nan, np.nan)
    # What each set adds to the estimate; the scatter of these is that of the estimate.
    agreed = selected @ often / n_features
    expected = (2 * mean_share - 1) * share - mean_share + 1
    parts = (agreed - share * mean_share + value / 2 * expected) / chance
    half = norm.ppf(0.5 + confidence / 2) * 2 * parts.std() / np.sqrt(n_sets)
    return Stability(value, float(value - half), float(value + half))


def orders(weights: Any) -> np.ndarray:
    """Put the features of every list in order, best first.

    Parameters
    ----------
    weights : float array of shape (n_lists, n_features)
        Higher is better.

    Returns
    -------
    int array of shape (n_lists, n_features)
        Ties go to the lower index, as where rankings are evaluated.
    """
    return descending_order(weights)


def top_sets(order: Any, size: int) -> np.ndarray:
    """Mark the features that come first.

    Parameters
    ----------
    order : int array of shape (n_lists, n_features)
        From :func:`orders`.
    size : int
        How many; at least 1.

    Returns
    -------
    bool array of shape (n_lists, n_features)
        For :func:`selection_stability`; all True when there are no more features than ``size``.

    Raises
    ------
    ValueError
        If ``size`` is below 1.
    """
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    order = np.asarray(order)
    marked = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(marked, order[:, :size], True, axis=1)
    return marked


def tied_cuts(weights: Any, size: int) -> np.ndarray:
    """Tell where the last feature of a top set and the first one outside have the same weight.

    Which of them is in the set is then decided by their index, the same in all lists, and not by the ranker: the
    set looks more stable than it is.

    Parameters
    ----------
    weights : float array of shape (n_lists, n_features)
        The lists.
    size : int
        Of the top sets; at least 1.

    Returns
    -------
    bool array of shape (n_lists,)
        False where there are no more features than ``size``.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if size >= weights.shape[1]:
        return np.zeros(len(weights), dtype=bool)
    return tied_with_next(weights)[:, size - 1]


def rounding_as_zero(weights: Any) -> np.ndarray:
    """Set weights to 0 that differ from 0 by rounding alone.

    Parameters
    ----------
    weights : float array of shape (n_features,) or (n_lists, n_features)
        Finite numbers.

    Returns
    -------
    float64 array of the same shape
        0 where a weight is at most :data:`reliefe.ranking.TIE` of the largest absolute weight of its list.

    Notes
    -----
    FUJI divides by the smallest score inside a top set, and memberships are 1 where that is 0: a score of 1e-17
    that is 0 on paper gives other memberships altogether.
    """
    weights = np.asarray(weights, dtype=np.float64)
    sizes = np.abs(weights)
    return np.where(sizes <= TIE * sizes.max(axis=-1, keepdims=True, initial=0.0), 0.0, weights)


def fold_pairs(n_folds: int, at_most: int = 100) -> list[tuple[int, int]]:
    """Choose which folds are compared.

    Parameters
    ----------
    n_folds : int
        Their number.
    at_most : int, default=100
        Pairs there may be, unless there are more folds than that.

    Returns
    -------
    list of (int, int)
        All pairs when they are not too many (up to 14 folds with the default). Else every fold with the next one,
        then with the next but one, and so on, round the end to the beginning, as long as whole rounds fit: each
        fold is in equally many pairs. Of one fold there is none.
    """
    pairs: list[tuple[int, int]] = []
    for step in range(1, n_folds // 2 + 1):
        # Half way round, a round meets every pair twice.
        length = n_folds if 2 * step < n_folds else n_folds // 2
        if pairs and len(pairs) + length > at_most:
            break
        pairs += [(fold, (fold + step) % n_folds) for fold in range(length)]
    return pairs


def ranking_stability(weights: Any, at_most: int = 100) -> float:
    """Average the area under FUJI over pairs of lists.

    Parameters
    ----------
    weights : float array of shape (n_lists, n_features)
        At least two lists; negative weights, and those of :func:`rounding_as_zero`, count as 0.
    at_most : int, default=100
        For :func:`fold_pairs`.

    Returns
    -------
    float
        In 0 … 1; 1 for lists that are all the same.

    Raises
    ------
    ValueError
        If there are fewer than two lists, no features, or weights that are not finite.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 2 or len(weights) < 2:
        raise ValueError(f"stability needs two lists or more, not an array of shape {weights.shape}")
    weights = rounding_as_zero(weights)
    return float(np.mean(areas_under_fuji(weights, fold_pairs(len(weights), at_most), negative="clip")))


def _checked(selected: Any) -> np.ndarray:
    selected = np.asarray(selected)
    if selected.ndim != 2 or selected.shape[0] < 2 or selected.shape[1] < 1:
        raise ValueError(
            f"stability needs two sets or more of features, not an array of shape {selected.shape}"
        )
    if selected.dtype != bool:
        if not np.isin(selected, (0, 1)).all():
            raise ValueError("selected must say yes or no (True or False, 1 or 0) for every feature")
        selected = selected.astype(bool)
    return selected
