"""How alike several selections of features are: the measure of Nogueira, Sechidis and Brown."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


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

    Examples
    --------
    >>> from reliefe.inspection import selection_stability
    >>> round(selection_stability([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]).value, 3)
    0.333
    """
    from scipy.stats import norm

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
