"""Permutation tests of the weights: how large they get when the target says nothing about the features."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state as as_random_state

from reliefe.inspection import refits
from reliefe.parameters import check_n_jobs, check_random_state
from reliefe.ranking import TIE

_AT_ONCE = 64  # fits whose weights are held before they are counted
_USUAL_LEVEL = 0.1


@dataclass(frozen=True)
class PermutationTest:
    """Weights beside those that the ranker gives when the target is permuted.

    Attributes
    ----------
    weights : float64 ndarray of shape (n_features,)
        Of the ranker fitted on the data themselves.
    p_values : float64 ndarray of shape (n_features,)
        Share of weights under permutation that are at least as large, the weight itself counted as one of them.
    q_values : float64 ndarray of shape (n_features,)
        Benjamini and Hochberg's adjustment: features with q ≤ 0.1 are a selection in which a share of 0.1 at most
        is expected to be false.
    family_p_values : float64 ndarray of shape (n_features,)
        Share of permutations whose largest weight, of all features, is at least as large, this data set counted as
        one of them: the probability of one or more false features in a selection with p ≤ 0.05 is 0.05 at most.
    null_mean, null_std : float64 ndarrays of shape (n_features,)
        Mean and standard deviation (n_permutations − 1 in the denominator) of the weights under permutation.
    null_maxima : float64 ndarray of shape (n_permutations,)
        Largest weight under each permutation.
    n_permutations : int
        Their number.
    null : {"feature", "pooled"}
        What weights were compared with.
    feature_names : object ndarray of shape (n_features,), or None
        Names, where X had them.
    null_weights : float64 ndarray of shape (n_permutations, n_features), or None
        All weights under permutation, if they were to be kept.
    """

    weights: np.ndarray
    p_values: np.ndarray
    q_values: np.ndarray
    family_p_values: np.ndarray
    null_mean: np.ndarray
    null_std: np.ndarray
    null_maxima: np.ndarray
    n_permutations: int
    null: str
    feature_names: np.ndarray | None = None
    null_weights: np.ndarray | None = field(default=None, repr=False)

    def threshold(self, level: float = 0.05) -> float:
        """Return the weight above which the family-wise p value is at most ``level``.

        Parameters
        ----------
        level : float, default=0.05
            In 0 … 1.

        Returns
        -------
        float
            Infinite where there are too few permutations for so low a level.

        Raises
        ------
        ValueError
            If ``level`` is not in 0 … 1.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, not {level}.")
        # (1 + number of maxima that are at least as large) / (1 + all of them) is at most level.
        allowed = int(np.floor(level * (self.n_permutations + 1) * (1 + 1e-12))) - 1
        if allowed < 0:
            return float("inf")
        falling = np.sort(self.null_maxima)[::-1]
        return float(falling[allowed]) if allowed < falling.shape[0] else float("-inf")

    def to_frame(self) -> Any:
        """Return a data frame of pandas with a line for each feature, the best first.

        Returns
        -------
        DataFrame
            ``feature`` (name, or number), ``rank``, ``weight``, ``p``, ``q``, ``family_p``, ``null_mean`` and
            ``null_std``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        from reliefe.inspection.frames import frame

        return frame(
            self.weights,
            self.feature_names,
            p=self.p_values,
            q=self.q_values,
            family_p=self.family_p_values,
            null_mean=self.null_mean,
            null_std=self.null_std,
        )


def permutation_test(
    ranker: Any,
    X: Any,
    y: Any,
    *,
    n_permutations: int = 1000,
    null: Literal["feature", "pooled"] = "feature",
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    keep_null_weights: bool = False,
) -> PermutationTest:
    """Test weights against those that the ranker gives when the target is permuted among the samples.

    The hypothesis is the complete null: the target is independent of all features together, and the samples are
    exchangeable. Under it, p values are uniform, whatever the ranker and whatever the dependence among features.

    Parameters
    ----------
    ranker : estimator
        Any object with ``fit(X, y)`` and then ``feature_importances_``, the higher the more relevant. Cloned; a
        ``random_state`` of None is replaced by a seed, the same for all fits.
    X : array-like, data frame or sparse matrix of shape (n, p)
        As the ranker takes it.
    y : array-like of shape (n,), or array-like or sparse matrix of shape (n, q)
        As the ranker takes it; no value may be missing. Label sets are permuted as wholes.
    n_permutations : int, default=1000
        Number of permutations. No p value is below 1 / (n_permutations + 1).
    null : {"feature", "pooled"}, default="feature"
        What a weight is compared with: the weights of the same feature under permutation, or those of all features,
        each first brought to mean 0 and standard deviation 1 by its own feature's (the data themselves counted as
        one of the permutations). "feature" is right for any features. "pooled" assumes that the weights of all
        features have a distribution of the same shape, which is an approximation, and is for many features: p
        values then go down to 1 / (n_permutations · p + 1).
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations. The first permutations of a longer test are those of a shorter one.
    n_jobs : int or None, default=None
        Number of fits at a time, as in scikit-learn; threads for rankers of this library, processes for others.
        The result does not depend on it.
    keep_null_weights : bool, default=False
        Whether ``null_weights`` is kept, which takes 8 · n_permutations · p bytes. With ``null="pooled"`` they are
        in memory for a time in any case.

    Returns
    -------
    PermutationTest

    Raises
    ------
    TypeError
        For a ``random_state`` of another type, or a ranker that is a class.
    ValueError
        For a wrong parameter, for y with missing values or of another length than X, for a ranker without weights;
        and what the ranker raises.

    Warns
    -----
    UserWarning
        Where weights are above all those under permutation, but too few to have q ≤ 0.1 with so few permutations.

    Notes
    -----
    What the test does not say: a weight is the larger the more the feature differs between near samples of
    different classes, and who is near depends on all features. If some features are relevant, the samples' classes
    are not exchangeable given these features, and the weight of a feature that adds nothing to them may differ
    from what it is under permutation. A small p value then says that the feature goes with the target, also by its
    correlation with a relevant one; it does not say that the feature is needed beside others. A large p value does
    not say that a feature is irrelevant.

    Weights that differ by no more than 1e-12 of the largest are equal, and count as "at least as large".

    Sources: Phipson and Smyth (2010), Permutation p-values should never be zero, Statistical Applications in
    Genetics and Molecular Biology 9; Benjamini and Hochberg (1995), Controlling the false discovery rate, Journal
    of the Royal Statistical Society B 57; Westfall and Young (1993), Resampling-based multiple testing, Wiley (the
    largest weight); Storey and Tibshirani (2003), Statistical significance for genomewide studies, PNAS 100
    (pooled null).

    Examples
    --------
    >>> import numpy as np
    >>> from reliefe import ReliefF
    >>> from reliefe.inspection import permutation_test
    >>> rng = np.random.default_rng(1)
    >>> y = np.arange(40) % 2
    >>> X = rng.normal(size=(40, 10))
    >>> X[:, 3] += 2 * y
    >>> found = permutation_test(ReliefF(5), X, y, n_permutations=199, random_state=0)
    >>> np.flatnonzero(found.q_values <= 0.1).tolist()
    [3]
    """
    from reliefe.validation import target_array
    from reliefe.wrapper import weights_of

    refits.check_ranker(ranker)
    refits.check_number("n_permutations", n_permutations, 1)
    check_n_jobs(n_jobs)
    check_random_state(random_state)
    if null not in ("feature", "pooled"):
        raise ValueError(f'null must be "feature" or "pooled", not {null!r}.')
    n = refits.n_rows_of(X)
    target = target_array(y)
    if target.shape[0] != n:
        raise ValueError(f"X and y have different lengths: X has {n} samples, y has {target.shape[0]}.")
    random_state = as_random_state(random_state)
    seed = refits.draw_seed(random_state)
    ranker = refits.seeded(ranker, random_state)
    fitted = refits.clone(ranker)
    kept = _kept(fitted, X, y, n)
    if kept is None:
        fitted.fit(X, y)
    weights = weights_of(fitted, refits.n_columns_of(X), "permutation_test")
    tally = _Tally(weights, n_permutations, keep_null_weights or null == "pooled")
    orders = (permutation(seed, number, n) for number in range(n_permutations))
    if kept is None:
        _count_refits(tally, ranker, X, target, orders, n_jobs)
    else:
        for found in kept.weights(list(orders), n_jobs):
            tally.add(found)
    found = tally.result(null, keep_null_weights, refits.names_of(X, fitted, weights.shape[0]))
    _warn_of_few(found)
    return found


def permutation(seed: int, number: int, n: int) -> np.ndarray:
    """Return which sample's target each of n samples gets in the permutation of this number, int64 (n,)."""
    return np.random.default_rng([seed, number]).permutation(n)


def _kept(ranker, X, y, n):
    """Fit a ranker of this library whose distances do not depend on y, and keep them; None for others."""
    from reliefe.base import Ranker

    if not isinstance(ranker, Ranker):
        return None
    from reliefe.inspection.kept import kept_weights

    return kept_weights(ranker, X, y, n)


def _count_refits(tally, ranker, X, target, orders, n_jobs):
    fits = ((X, target[order]) for order in orders)
    held = []
    for found in chain(refits.each_fit(ranker, fits, tally.weights.shape[0], n_jobs), [None]):
        if found is not None:
            held.append(found)
        if len(held) == _AT_ONCE or (found is None and held):
            tally.add(np.stack(held))
            held = []


class _Tally:
    """Count weights under permutation as they come."""

    def __init__(self, weights, n_permutations, keep):
        p = weights.shape[0]
        self.weights = weights
        self._largest = np.abs(weights).max(initial=0.0)
        self._n_at_least = np.zeros(p, dtype=np.int64)
        self._sum, self._squares = np.zeros(p), np.zeros(p)  # squares: of deviations from the mean so far
        self._maxima = np.empty(n_permutations)
        self._kept = np.empty((n_permutations, p)) if keep else None
        self._n = 0

    def add(self, found):
        """Count the weights (b, p) of the next b permutations."""
        b = found.shape[0]
        slack = TIE * np.maximum(np.abs(found).max(axis=1, initial=0.0), self._largest)
        self._n_at_least += (found >= self.weights - slack[:, np.newaxis]).sum(axis=0)
        total, mean = found.sum(axis=0), found.mean(axis=0)
        self._squares += np.square(found - mean).sum(axis=0)
        if self._n:
            self._squares += np.square(mean - self._sum / self._n) * (self._n * b / (self._n + b))
        self._sum += total
        self._maxima[self._n : self._n + b] = found.max(axis=1)
        if self._kept is not None:
            self._kept[self._n : self._n + b] = found
        self._n += b

    def result(self, null, keep, names):
        """Make p values of the counts."""
        from scipy.stats import false_discovery_control

        n, mean = self._n, self._sum / self._n
        std = np.sqrt(self._squares / max(1, n - 1))
        p_values = (1.0 + self._n_at_least) / (1.0 + n)
        if null == "pooled":
            p_values = self._pooled(mean)
        largest = TIE * np.maximum(np.abs(self._maxima), self._largest)
        above = np.sort(self._maxima + largest)
        family = (1.0 + n - np.searchsorted(above, self.weights, side="left")) / (1.0 + n)
        return PermutationTest(
            weights=self.weights,
            p_values=p_values,
            q_values=false_discovery_control(p_values),
            family_p_values=family,
            null_mean=mean,
            null_std=std,
            null_maxima=self._maxima,
            n_permutations=n,
            null=null,
            feature_names=names,
            null_weights=self._kept if keep else None,
        )

    def _pooled(self, mean):
        """P values from the standardised weights of all features, the data among the permutations."""
        n, kept = self._n, self._kept
        step = (self.weights - mean) / (n + 1)
        middle = mean + step
        variance = (self._squares + np.square(self.weights - mean) * (n / (n + 1))) / n
        std = np.sqrt(variance)
        varies = std > TIE * max(self._largest, np.abs(kept).max(initial=0.0))
        found = np.ones(self.weights.shape[0])
        if varies.any():
            own = (self.weights[varies] - middle[varies]) / std[varies]
            pool = ((kept[:, varies] - middle[varies]) / std[varies]).ravel()
            pool.sort()
            n_at_least = pool.shape[0] - np.searchsorted(pool, own - TIE * np.abs(own), side="left")
            found[varies] = (1.0 + n_at_least) / (1.0 + pool.shape[0])
        return found


def _warn_of_few(found):
    least = 1.0 / (found.n_permutations + 1)
    n_least = int((found.p_values <= least * (1 + 1e-9)).sum())
    if found.null == "feature" and n_least and found.q_values.min() > _USUAL_LEVEL:
        p = found.weights.shape[0]
        needed = int(np.ceil(p / (_USUAL_LEVEL * n_least))) - 1
        warnings.warn(
            f"{n_least} of {p} features have larger weights than under any of {found.n_permutations} permutations, "
            f"but no q value is below {found.q_values.min():.2g}: q <= {_USUAL_LEVEL} takes n_permutations="
            f'{needed} or more here, or null="pooled".',
            UserWarning,
            stacklevel=3,
        )
