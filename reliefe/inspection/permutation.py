"""Permutation tests of the weights: how large they get when a feature, or the target, is permuted."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from itertools import chain
from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state as as_random_state

from reliefe.inspection import refits
from reliefe.inspection.exchange import Exchange
from reliefe.inspection.sequential import STOP, features_by_permutation
from reliefe.parameters import check_n_jobs, check_random_state
from reliefe.ranking import TIE

_AT_ONCE = 64  # fits whose weights are held before they are counted
_USUAL_LEVEL = 0.1
_OF_FEATURE = "each feature is independent of the other features and the target"
_OF_TARGET = "the target is independent of all features together"

#: Seconds for :func:`predicted_seconds`, measured on one thread. With kept distances: of a permutation, of a pair
#: of samples, of a sample with a number of neighbours and with thresholds; then of a difference in the table of
#: distances. Of refits: of any, of a difference of two values, of an embedded sample; for other libraries, of any
#: and of a value.
_SECONDS_EACH, _SECONDS_PAIR, _SECONDS_NEAR, _SECONDS_ZONES = 1e-5, 2.2e-9, 5e-7, 1.2e-7
_SECONDS_TABLE = 4e-10
_SECONDS_REFIT, _SECONDS_DIFFERENCE, _SECONDS_EMBEDDED = 3e-3, 1.5e-10, 3e-3
_SECONDS_OTHER, _SECONDS_VALUE = 0.1, 1e-7
_FITS = 5  # fits of all features that a fit of TuRF or VLS amounts to


@dataclass(frozen=True)
class PermutationTest:
    """Weights, and how probable so large ones are where a feature, or the target, is permuted.

    Attributes
    ----------
    weights : float64 ndarray of shape (n_features,)
        Of the ranker fitted on the data themselves.
    p_values : float64 ndarray of shape (n_features,)
        Share of weights under permutation that are at least as large; NaN for features that were not tested.
    q_values : float64 ndarray of shape (n_features,)
        Benjamini and Hochberg's adjustment over the tested features.
    family_p_values : float64 ndarray of shape (n_features,)
        Family-wise p values over the tested features. Features permuted: Holm's adjustment of ``p_values``.
        Target permuted: share of permutations whose largest weight is at least as large, this data set
        counted as one.
    n_permutations : int
        The most that a feature may take.
    permute : {"feature", "target"}
        What was permuted.
    hypothesis : str
        The hypothesis that a p value is about.
    n_used : int64 ndarray of shape (n_features,)
        Permutations that each feature took; 0 for features that were not tested.
    null : {"feature", "pooled"}
        What weights were compared with.
    null_mean, null_std : float64 ndarrays of shape (n_features,), or None
        Mean and standard deviation (n_permutations − 1 in the denominator) of the weights under permutation.
        None where features were permuted: a feature stops early, and its weights until then are not
        representative.
    null_maxima : float64 ndarray of shape (n_permutations,), or None
        Largest weight of the tested features under each permutation of the target.
    feature_names : object ndarray of shape (n_features,), or None
        Names, where X had them.
    null_weights : float64 ndarray of shape (n_permutations, n_features), or None
        All weights under permutation of the target, if they were to be kept.
    """

    weights: np.ndarray
    p_values: np.ndarray
    q_values: np.ndarray
    family_p_values: np.ndarray
    n_permutations: int
    permute: str
    hypothesis: str
    n_used: np.ndarray
    null: str
    null_mean: np.ndarray | None = None
    null_std: np.ndarray | None = None
    null_maxima: np.ndarray | None = None
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
            If ``level`` is not in 0 … 1, or if features were permuted: each then has weights of its own only.
        """
        if self.null_maxima is None:
            raise ValueError(
                'threshold() needs permutations of the target (permute="target"); use family_p_values here.'
            )
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
            ``feature`` (name, or number), ``rank``, ``weight``, ``p``, ``q``, ``family_p``; then ``n_used``
            where features were permuted, ``null_mean`` and ``null_std`` where the target was.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        from reliefe.inspection.frames import frame

        given: dict[str, Any] = {"p": self.p_values, "q": self.q_values, "family_p": self.family_p_values}
        if self.permute == "feature":
            given["n_used"] = self.n_used
        else:
            given |= {"null_mean": self.null_mean, "null_std": self.null_std}
        return frame(self.weights, self.feature_names, **given)


def permutation_test(
    ranker: Any,
    X: Any,
    y: Any,
    *,
    permute: Literal["auto", "feature", "target"] = "auto",
    n_permutations: int = 1000,
    null: Literal["feature", "pooled"] = "feature",
    groups: Any = None,
    features: Any = None,
    budget: float = 60.0,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    keep_null_weights: bool = False,
) -> PermutationTest:
    """Test weights against those that the ranker gives when a feature, or the target, is permuted.

    With ``permute="feature"`` each feature is permuted alone; the other features and the target stay. The
    hypothesis is that this feature is independent of the other features and the target. It holds whatever
    the others are.

    With ``permute="target"`` the hypothesis is that the target is independent of all features together. If
    some features are relevant, this says nothing about the others: with few features and a strong one, noise
    gets small p values.

    Parameters
    ----------
    ranker : estimator
        Any object with ``fit(X, y)`` and then ``feature_importances_``, the higher the more relevant.
        Cloned; a ``random_state`` of None is replaced by a seed, the same for all fits.
    X : array-like, data frame or sparse matrix of shape (n, p)
        As the ranker takes it.
    y : array-like of shape (n,), or array-like or sparse matrix of shape (n, q)
        As the ranker takes it; no value may be missing. Label sets are permuted as wholes.
    permute : {"auto", "feature", "target"}, default="auto"
        What is permuted. "auto" takes "feature" where :func:`predicted_seconds` is at most ``budget``, else
        "target". With ``null="pooled"`` or ``keep_null_weights=True`` it takes "target".
    n_permutations : int, default=1000
        Number of permutations; with features permuted, the most that each takes. No p value is below
        1 / (n_permutations + 1).
    null : {"feature", "pooled"}, default="feature"
        What a weight is compared with where the target is permuted: the weights of the same feature under
        permutation, or those of all tested features, each first brought to mean 0 and standard deviation 1
        by its own feature's (the data themselves counted as one of the permutations). "feature" is right for
        any features. "pooled" assumes that the weights of all features have a distribution of the same
        shape, which is an approximation, and is for many features: p values then go down to 1 /
        (n_permutations · p + 1).
    groups : array-like of shape (n,), optional
        Samples that belong together, such as those of one patient. Whole groups are exchanged with groups of
        the same size, samples inside a group in their order; a group whose size occurs once keeps its
        values. A target, or a feature, that is constant within every group is permuted among all groups,
        whatever their size. A target that varies within groups goes from group to group as a whole.
    features : array-like of int or str, optional
        Numbers or names of the features to test; all by default. Others have NaN for p and q.
    budget : float, default=60.0
        Seconds that the prediction may take with ``permute="auto"``.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations. The first permutations of a longer test are those of a shorter one.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn; processes for rankers of other libraries. The result does not
        depend on it.
    keep_null_weights : bool, default=False
        Whether ``null_weights`` is kept, which takes 8 · n_permutations · p bytes; for the target only. With
        ``null="pooled"`` they are in memory for a time in any case.

    Returns
    -------
    PermutationTest

    Raises
    ------
    TypeError
        For a ``random_state`` of another type, or a ranker that is a class.
    ValueError
        For a wrong parameter, for y with missing values or of another length than X, for groups with missing
        values, of another length, or that cannot be exchanged, for a ranker without weights; and what the
        ranker raises.

    Warns
    -----
    UserWarning
        Where weights are above all those under permutation, but too few to have q ≤ 0.1 with so few
        permutations.

    Notes
    -----
    **Features permuted.** A feature stops after h = 10 weights that are at least as large (Besag and
    Clifford); its p value is then h / b with b the number of its permutations, else (1 + number at least as
    large) / (1 + n_permutations). Random numbers depend on the seed and the number of the feature alone, so
    p is the same whichever other features are tested. For ``ReliefF`` (without embedded targets) and for
    ``SURF``, ``SURFStar``, ``MultiSURF`` and ``MultiSURFStar`` (without an embedding) the distances among up
    to 4,096 samples are kept, and only the weight of the permuted feature is computed; p is that of refits
    with the same permutations. Other rankers, and more samples, take a refit for each permutation. A small p
    value of a feature that goes with a relevant one does not say that it is needed beside it. A large p
    value does not say that a feature is irrelevant.

    **Ties.** With features permuted, a weight counts as "at least as large" if it is not below the feature's
    own weight by more than 1e-12 of the largest absolute value among this weight and those of all features
    of the data themselves. With the target permuted, it is 1e-12 of the largest weight of both fits.

    Sources: Candès et al. (2018), Panning for gold, Journal of the Royal Statistical Society B 80
    (conditional randomisation); Besag and Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78;
    Phipson and Smyth (2010), Permutation p-values should never be zero, Statistical Applications in Genetics
    and Molecular Biology 9; Benjamini and Hochberg (1995), Controlling the false discovery rate, Journal of
    the Royal Statistical Society B 57; Holm (1979), A simple sequentially rejective multiple test procedure,
    Scandinavian Journal of Statistics 6; Westfall and Young (1993), Resampling-based multiple testing, Wiley
    (the largest weight); Storey and Tibshirani (2003), Statistical significance for genomewide studies, PNAS
    100 (pooled null).

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
    >>> found.permute
    'feature'
    >>> np.flatnonzero(found.q_values <= 0.1).tolist()
    [3]
    """
    from reliefe.validation import target_array
    from reliefe.wrapper import weights_of

    refits.check_ranker(ranker)
    refits.check_number("n_permutations", n_permutations, 1)
    check_n_jobs(n_jobs)
    check_random_state(random_state)
    _check_choices(permute, null, budget, keep_null_weights)
    n, p = refits.n_rows_of(X), refits.n_columns_of(X)
    target = target_array(y)
    if target.shape[0] != n:
        raise ValueError(f"X and y have different lengths: X has {n} samples, y has {target.shape[0]}.")
    exchange = Exchange(n, groups)
    tested = _numbers_of(features, X, p)
    if permute == "auto":
        by_target = null == "pooled" or keep_null_weights
        by_target = by_target or predicted_seconds(ranker, X, y, n_permutations, tested.shape[0]) > budget
        permute = "target" if by_target else "feature"
    random_state = as_random_state(random_state)
    seed = refits.draw_seed(random_state)
    ranker = refits.seeded(ranker, random_state)
    fitted = refits.clone(ranker)
    kept = (_kept if permute == "target" else _kept_features)(fitted, X, y, n)
    if kept is None:
        fitted.fit(X, y)
    weights = weights_of(fitted, p, "permutation_test")
    names = refits.names_of(X, fitted, weights.shape[0])
    if permute == "feature":
        given = (ranker, X, target, exchange, weights, seed, n_permutations)
        n_larger, n_used = features_by_permutation(kept, tested, *given, n_jobs)
        found = _of_features(weights, tested, n_larger, n_used, n_permutations, names)
    else:
        tally = _Tally(weights, tested, n_permutations, keep_null_weights or null == "pooled")
        constant = exchange.is_constant(target)
        orders = (
            exchange.order(np.random.default_rng([seed, number]), constant)
            for number in range(n_permutations)
        )
        if kept is None:
            _count_refits(tally, ranker, X, target, orders, n_jobs)
        else:
            for each in kept.weights(list(orders), n_jobs):
                tally.add(each)
        found = tally.result(null, keep_null_weights, names)
    _warn_of_few(found)
    return found


def _check_choices(permute, null, budget, keep_null_weights):
    if permute not in ("auto", "feature", "target"):
        raise ValueError(f'permute must be "auto", "feature" or "target", not {permute!r}.')
    if null not in ("feature", "pooled"):
        raise ValueError(f'null must be "feature" or "pooled", not {null!r}.')
    if isinstance(budget, bool) or not isinstance(budget, Real) or not budget >= 0:
        raise ValueError(f"budget must be a number of seconds, 0 or more, not {budget!r}.")
    if permute == "feature" and null == "pooled":
        raise ValueError('null="pooled" is for permuted targets; use permute="target".')
    if permute == "feature" and keep_null_weights:
        raise ValueError(
            'keep_null_weights is for permuted targets, since features stop early; use permute="target".'
        )


def _numbers_of(features, X, p):
    """Return the numbers of the features to test, rising."""
    if features is None:
        return np.arange(p)
    given = np.atleast_1d(np.asarray(features))
    if given.dtype.kind in "UO":
        names = [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
        missing = [str(name) for name in given if str(name) not in names]
        if missing:
            raise ValueError(f"features: X has no feature named {missing[0]!r}.")
        given = np.array([names.index(str(name)) for name in given])
    if given.ndim != 1 or given.dtype.kind not in "iu" or given.size == 0:
        raise ValueError("features must be numbers or names of one feature or more, or None.")
    wrong = given[(given < 0) | (given >= p)]
    if wrong.size:
        raise ValueError(f"features: X has {p} features, numbered from 0; there is no {wrong[0]}.")
    return np.unique(given).astype(np.int64)


def predicted_seconds(ranker: Any, X: Any, y: Any, n_permutations: int, n_tested: int | None = None) -> float:
    """Return about how long a test with ``permute="feature"`` takes on one thread, kernels compiled.

    A formula of sizes, sparsity and kind of ranker whose constants were measured on one machine: no clock is
    read, and the same data give the same number everywhere. Most features are expected to stop early: one
    without relevance takes about h (1 + ln(n_permutations / h)) permutations. A tenth of the features, and
    at least three, are expected to take all.

    Parameters
    ----------
    ranker, X, y, n_permutations
        As for :func:`permutation_test`.
    n_tested : int, optional
        Number of features that are tested; all by default.

    Returns
    -------
    float
        Seconds.
    """
    from reliefe.base import Ranker
    from reliefe.inspection.kept import suits

    n, p = refits.n_rows_of(X), refits.n_columns_of(X)
    tested = p if n_tested is None else n_tested
    few = min(n_permutations, STOP * (1.0 + np.log(max(1.0, n_permutations / STOP))))
    strong = min(tested, max(3, tested // 10))
    total = strong * n_permutations + (tested - strong) * few
    if not isinstance(ranker, Ranker):
        return float(total * (_SECONDS_OTHER + _SECONDS_VALUE * n * p))
    if suits(ranker, y, n):
        rate = _SECONDS_NEAR if hasattr(ranker, "n_neighbors") else _SECONDS_ZONES
        each = _SECONDS_EACH + rate * n + _SECONDS_PAIR * n * n
        return float(total * each + _SECONDS_TABLE * n * n * p)
    fit = _SECONDS_REFIT + _SECONDS_DIFFERENCE * n * n * (X.nnz / n if hasattr(X, "nnz") else p)
    if not hasattr(ranker, "discrete_features"):  # one that fits others, several times
        fit *= _FITS
    if getattr(ranker, "embedding", None) is not None:
        fit += _SECONDS_EMBEDDED * n
    return float(total * fit)


def permutation(seed: int, number: int, n: int) -> np.ndarray:
    """Return which sample's target each of n samples gets in a permutation of the target, int64 (n,)."""
    return np.random.default_rng([seed, number]).permutation(n)


def _of_features(weights, tested, n_larger, n_used, n_permutations, names):
    """Make p values of counts by feature."""
    from scipy.stats import false_discovery_control

    m = tested.shape[0]
    p_values = np.where(n_larger == STOP, n_larger / n_used, (1.0 + n_larger) / (1.0 + n_permutations))
    order = np.argsort(p_values, kind="stable")
    holm = np.empty(m)
    holm[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * np.arange(m, 0, -1)))
    every = [np.full(weights.shape[0], np.nan) for _ in range(3)]
    for values, out in zip((p_values, false_discovery_control(p_values), holm), every, strict=True):
        out[tested] = values
    used = np.zeros(weights.shape[0], dtype=np.int64)
    used[tested] = n_used
    return PermutationTest(
        weights, *every, n_permutations, "feature", _OF_FEATURE, used, "feature", feature_names=names
    )


def _kept_features(ranker, X, y, n):
    """As :func:`_kept`, for tests of single features."""
    from reliefe.base import Ranker

    if not isinstance(ranker, Ranker):
        return None
    from reliefe.inspection.one_feature import kept_features

    return kept_features(ranker, X, y, n)


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

    def __init__(self, weights, tested, n_permutations, keep):
        p = weights.shape[0]
        self.weights, self._tested = weights, tested
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
        self._maxima[self._n : self._n + b] = found[:, self._tested].max(axis=1)
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
        tested = self._tested
        every = [np.full(p_values.shape[0], np.nan) for _ in range(3)]
        largest = TIE * np.maximum(np.abs(self._maxima), self._largest)
        above = np.sort(self._maxima + largest)
        family = (1.0 + n - np.searchsorted(above, self.weights, side="left")) / (1.0 + n)
        p_values = p_values[tested]
        for values, out in zip(
            (p_values, false_discovery_control(p_values), family[tested]), every, strict=True
        ):
            out[tested] = values
        used = np.zeros(self.weights.shape[0], dtype=np.int64)
        used[tested] = n
        return PermutationTest(
            self.weights,
            *every,
            permute="target",
            hypothesis=_OF_TARGET,
            n_used=used,
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
        some = np.zeros(varies.shape[0], dtype=bool)
        some[self._tested] = True
        varies &= some
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
    tested = ~np.isnan(found.p_values)
    n_least = int((found.p_values[tested] <= least * (1 + 1e-9)).sum())
    lowest = found.q_values[tested].min()
    if found.null == "feature" and n_least and lowest > _USUAL_LEVEL:
        p = int(tested.sum())
        needed = int(np.ceil(p / (_USUAL_LEVEL * n_least))) - 1
        other = ', or null="pooled"' if found.permute == "target" else ""
        warnings.warn(
            f"{n_least} of {p} features have larger weights than under any of {found.n_permutations} "
            f"permutations, but no q value is below {lowest:.2g}: q <= {_USUAL_LEVEL} takes n_permutations="
            f"{needed} or more here{other}.",
            UserWarning,
            stacklevel=3,
        )
