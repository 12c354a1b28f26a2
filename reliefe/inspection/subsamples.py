"""How often each feature is among the best when the ranker sees a part of the samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state as as_random_state

from reliefe.agreement import selection_stability
from reliefe.inspection import refits
from reliefe.inspection.exchange import group_codes
from reliefe.parameters import check_n_jobs, check_random_state
from reliefe.ranking import ranks, tied_with_next


@dataclass(frozen=True)
class SubsampleStability:
    """Which features a ranker puts first on subsamples of the data.

    Attributes
    ----------
    n_features : int
        How many features were chosen from each subsample: those with the highest weights, equal weights in the
        order of the features.
    frequency : float64 ndarray of shape (p,)
        Share of the subsamples from which each feature was chosen.
    stability : float
        Φ of Nogueira, Sechidis and Brown: 1 if the same features are chosen every time, 0 on average for features
        chosen at random. NaN if all features are chosen.
    lower, upper : float
        Ends of its approximate confidence interval.
    confidence : float
        Of the interval.
    mean_rank : float64 ndarray of shape (p,)
        Mean rank of each feature; 1 is best.
    mean_weight : float64 ndarray of shape (p,)
        Mean weight of each feature.
    n_subsamples : int
        Their number.
    subsample_size : int
        Samples in each; of the smallest one, where groups have different sizes.
    n_tied : int
        From how many subsamples the last feature chosen has the same weight as the first one that was not: the
        order of the features then decided, the same every time, and the stability looks higher than it is.
    feature_names : object ndarray of shape (p,), or None
        Names, where X had them.
    ranks : int32 ndarray of shape (n_subsamples, p)
        Rank of each feature on each subsample.
    """

    n_features: int
    frequency: np.ndarray
    stability: float
    lower: float
    upper: float
    confidence: float
    mean_rank: np.ndarray
    mean_weight: np.ndarray
    n_subsamples: int
    subsample_size: int
    n_tied: int
    feature_names: np.ndarray | None = None
    ranks: np.ndarray = field(default_factory=lambda: np.empty((0, 0), dtype=np.int32), repr=False)

    def to_frame(self) -> Any:
        """Return a data frame of pandas with a line for each feature, the one that is chosen most often first.

        Returns
        -------
        DataFrame
            ``feature`` (name, or number), ``frequency``, ``mean_rank`` and ``mean_weight``; equal frequencies stand
            in the order of the mean rank.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        from reliefe.inspection.frames import frame

        found = frame(
            self.mean_weight, self.feature_names, frequency=self.frequency, mean_rank=self.mean_rank
        )
        found = found.rename(columns={"weight": "mean_weight"})
        found = found.sort_values(["frequency", "mean_rank"], ascending=[False, True], kind="stable")
        return found[["feature", "frequency", "mean_rank", "mean_weight"]].reset_index(drop=True)


def stability(
    ranker: Any,
    X: Any,
    y: Any,
    *,
    n_features: float,
    n_subsamples: int = 100,
    fraction: float = 0.5,
    stratify: bool | Literal["auto"] = "auto",
    groups: Any = None,
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> SubsampleStability:
    """Find out how often each feature is among the best when the ranker is fitted on parts of the samples.

    Parameters
    ----------
    ranker : estimator
        Any object with ``fit(X, y)`` and then ``feature_importances_``, the higher the more relevant. Cloned; a
        ``random_state`` of None is replaced by a seed, the same for all fits.
    X : array-like, data frame or sparse matrix of shape (n, p)
        As the ranker takes it.
    y : array-like of shape (n,), or array-like or sparse matrix of shape (n, q)
        As the ranker takes it; no value may be missing.
    n_features : int or float
        How many features are chosen, as a number or a share in (0, 1) of all.
    n_subsamples : int, default=100
        Number of subsamples; at least 2, and an interval takes 3.
    fraction : float, default=0.5
        Share of the samples in a subsample, drawn without replacement; half of them is what stability selection
        takes.
    stratify : bool or "auto", default="auto"
        Whether each class has its share in every subsample, one sample or more. "auto" is True where y holds
        classes, and False for numeric targets and label sets.
    groups : array-like of shape (n,), optional
        Group of each sample, such as its patient; numbers or text, none missing. The samples of a group
        stay together. ``fraction`` is then the share of the groups, and subsamples have different sizes if groups
        have. With ``stratify``, the groups of each class keep their share. Groups with samples of several classes
        are drawn as if they were a class of their own, so that shares of classes may vary.
    confidence : float, default=0.95
        Of the interval of Φ.
    random_state : int, RandomState instance or None, default=None
        Seed of the subsamples. The first subsamples of a longer run are those of a shorter one.
    n_jobs : int or None, default=None
        Number of fits at a time, as in scikit-learn; threads for rankers of this library, processes for others.
        The result does not depend on it.

    Returns
    -------
    SubsampleStability

    Raises
    ------
    TypeError
        For a ``random_state`` of another type, or a ranker that is a class.
    ValueError
        For a wrong parameter, for y with missing values or of another length than X, for groups likewise, for
        subsamples without two samples or with all, for a ranker without weights; and what the ranker raises.

    Notes
    -----
    Φ and frequencies describe the ranker on subsamples of these samples. They overlap, so that the interval, which
    is for sets that are drawn independently, is about more subsamples of the same samples and not about other
    samples from the same population. A feature may be chosen every time and be irrelevant, where an irrelevant
    feature looks relevant in these samples; :func:`permutation_test` is about that.

    Sources: Nogueira, Sechidis and Brown (2018), On the stability of feature selection algorithms, Journal of
    Machine Learning Research 18 (174); Meinshausen and Bühlmann (2010), Stability selection, Journal of the Royal
    Statistical Society B 72.

    Examples
    --------
    >>> import numpy as np
    >>> from reliefe import ReliefF
    >>> from reliefe.inspection import stability
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> X = rng.normal(size=(60, 10))
    >>> X[:, [3, 7]] += 3 * y[:, np.newaxis]
    >>> found = stability(ReliefF(5), X, y, n_features=2, n_subsamples=50, random_state=0)
    >>> found.frequency[[3, 7]].tolist(), found.stability
    ([1.0, 1.0], 1.0)
    """
    from reliefe.base import amount_of
    from reliefe.validation import target_array

    refits.check_ranker(ranker)
    refits.check_number("n_subsamples", n_subsamples, 2)
    check_n_jobs(n_jobs)
    check_random_state(random_state)
    _check_share("fraction", fraction)
    _check_share("confidence", confidence)
    if not (isinstance(stratify, bool | np.bool_) or stratify == "auto"):
        raise ValueError(f'stratify must be True, False or "auto", not {stratify!r}.')
    n = refits.n_rows_of(X)
    target = target_array(y)
    if target.shape[0] != n:
        raise ValueError(f"X and y have different lengths: X has {n} samples, y has {target.shape[0]}.")
    p = refits.n_columns_of(X)
    if isinstance(n_features, Real) and not isinstance(n_features, bool | int | np.integer):
        _check_share("n_features, as a share,", n_features)
    else:
        refits.check_number("n_features", n_features, 1)
    wanted = amount_of(n_features, p)
    if wanted > p:
        raise ValueError(f"n_features={n_features} is more than the {p} features of X.")
    random_state = as_random_state(random_state)
    seed = refits.draw_seed(random_state)
    ranker = refits.seeded(ranker, random_state)
    if stratify == "auto":
        stratify = refits.holds_classes(target, ranker)
    codes = np.arange(n) if groups is None else group_codes(groups, n)
    strata = _strata(target, codes, bool(stratify))
    table = _rows_can_be_taken(X)
    draws = [subsample(seed, number, strata, fraction) for number in range(n_subsamples)]
    if groups is not None:
        draws = [np.flatnonzero(np.isin(codes, drawn)) for drawn in draws]
    size = min(rows.shape[0] for rows in draws)
    if size < 2:
        raise ValueError(
            f"fraction={fraction} of {n} samples is {size} in a subsample; a ranker takes 2 or more."
        )
    if size == n:
        unit = "samples" if groups is None else "groups"
        raise ValueError(
            f"fraction={fraction} of the {unit} leaves none out of a subsample; lower it, or use stratify=False."
        )
    fits = ((_rows(table, rows), target[rows]) for rows in draws)
    weights = np.stack(list(refits.each_fit(ranker, fits, p, n_jobs, warn=True)))
    return _summary(weights, wanted, confidence, size, refits.names_of(X, ranker, p))


def subsample(seed: int, number: int, strata: list[np.ndarray], fraction: float) -> np.ndarray:
    """Return the samples, or groups, of this subsample, rising: a share of each stratum, at least one."""
    rng = np.random.default_rng([seed, number])
    parts = [
        rng.choice(rows, max(1, int(np.floor(fraction * rows.shape[0] + 0.5))), replace=False)
        for rows in strata
    ]
    return np.sort(np.concatenate(parts))


def _strata(target, groups, stratify):
    """Return the groups of each class, and those of several."""
    if not stratify:
        return [np.unique(groups)]
    if target.ndim != 1:
        raise ValueError("stratify=True takes one class per sample; use stratify=False for label sets.")
    _, codes = np.unique(target, return_inverse=True)
    held = np.zeros((groups.max() + 1, codes.max() + 1), dtype=bool)
    held[groups, codes] = True
    own = np.where(held.sum(axis=1) == 1, held.argmax(axis=1), codes.max() + 1)
    return [np.flatnonzero(own == code) for code in np.unique(own)]


def _rows_can_be_taken(X):
    if hasattr(X, "tocsr"):
        return X.tocsr()
    return X if hasattr(X, "shape") else np.asarray(X)


def _rows(X, rows):
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)


def _summary(weights, wanted, confidence, size, names):
    order = np.stack([ranks(each) for each in weights]).astype(np.int32)
    chosen = order <= wanted
    found = selection_stability(chosen, confidence)
    tied = tied_with_next(weights)[:, wanted - 1].sum() if wanted < weights.shape[1] else 0
    return SubsampleStability(
        n_features=wanted,
        frequency=chosen.mean(axis=0),
        stability=found.value,
        lower=found.lower,
        upper=found.upper,
        confidence=confidence,
        mean_rank=order.mean(axis=0),
        mean_weight=weights.mean(axis=0),
        n_subsamples=weights.shape[0],
        subsample_size=size,
        n_tied=int(tied),
        feature_names=names,
        ranks=order,
    )


def _check_share(name, value):
    if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 < value < 1.0:
        raise ValueError(f"{name} must lie between 0 and 1, not {value!r}.")
