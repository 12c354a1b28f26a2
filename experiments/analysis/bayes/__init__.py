"""Hierarchical Bayesian comparison of two rankers on many data sets, fast.

The same model and priors as ``baycomp.HierarchicalTest``, sampled in about a second instead of minutes: the
scores of a data set enter by mean and scatter, so nothing of the size of the score table is left in the
sampler (:mod:`experiments.analysis.bayes.model` has the model, :mod:`experiments.analysis.bayes.sampler` the
sampler). Results are baycomp's ``Posterior``, with its methods and plots.

The sampler is numpyro's NUTS. ``docs/statistics.md`` says why, beside blackjax, nutpie and PyMC, and how fast
it is. JAX is loaded when the first test is asked for, not when this module is imported; compiling takes some
ten seconds once per process and number of data sets (rounded up to a multiple of twelve).

Source: A. Benavoli, G. Corani, J. Demšar, M. Zaffalon: Time for a Change, JMLR 18 (2017), section 4.3; the
model is that of G. Corani et al., Machine Learning 106 (2017), as in baycomp 1.0.3.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from baycomp.multiple import Posterior
from scipy import stats
from sklearn.utils import check_random_state

from experiments.analysis.bayes.input import as_pairs, check_names, check_settings, rows_of
from experiments.analysis.ties import TIE
from experiments.errors import BadScoresError

#: Bound of σ and std0 as a multiple of the scatter within and among data sets; baycomp's.
_UPPER_SIGMA = 1000


class ConvergenceWarning(UserWarning):
    """The chains of a test do not agree, or are too short; its probabilities are not to be relied on."""


#: A rope of less than this share of the largest score is taken for one of another scale.
_LEAST_ROPE = 0.005


class ScaleWarning(UserWarning):
    """The rope of a test looks as if it were on another scale than the scores."""


class HierarchicalPosterior(Posterior):
    """baycomp's ``Posterior`` of a hierarchical test, and how well it was sampled.

    Attributes
    ----------
    sample : float array of shape (n_samples, 3)
        For every draw the probabilities that, on another data set, x is better, the two are equivalent, y is
        better.
    names : (str, str) or None
        Of x and y.
    rope : float
        On the scale of the scores.
    delta0, std0, nu : float arrays of shape (n_samples,)
        The draws: mean and scale of the data sets' differences y − x, on the scale of the scores, and degrees
        of freedom. Empty when nothing had to be sampled.
    rhat, ess : dict of str to float
        Split R-hat and effective sample size of ``delta0``, ``std0``, ``nu``, and the worst of the data sets'
        ``delta``, over all draws that were made. Empty when nothing had to be sampled.
    divergences : int
        Divergent transitions after warm-up.
    n_drawn : int
        Draws made after warm-up; ``sample`` is an evenly spaced selection of them.
    """

    def __init__(
        self,
        sample,
        *,
        names=None,
        rope=0.0,
        delta0=(),
        std0=(),
        nu=(),
        rhat=None,
        ess=None,
        divergences=0,
        n_drawn=0,
    ):
        super().__init__(sample, names=names)
        self.rope = rope
        self.delta0, self.std0, self.nu = (np.asarray(each, dtype=np.float64) for each in (delta0, std0, nu))
        self.rhat, self.ess = dict(rhat or {}), dict(ess or {})
        self.divergences, self.n_drawn = divergences, n_drawn

    @property
    def max_rhat(self) -> float:
        """Largest R-hat; 1 when nothing had to be sampled."""
        return max(self.rhat.values(), default=1.0)

    @property
    def min_ess(self) -> float:
        """Smallest effective sample size; infinite when nothing had to be sampled."""
        return min(self.ess.values(), default=np.inf)

    def standard_errors(self) -> np.ndarray:
        """Return the Monte-Carlo standard errors of :meth:`probs`.

        Returns
        -------
        float array of shape (3,)
            √(p (1 − p) / effective sample size), the smallest of the parameters, and of no more draws than
            ``sample`` has.
        """
        p = np.array(self.probs())
        return np.sqrt(p * (1 - p) / min(self.min_ess, len(self.sample)))


def sampling_in_words(posterior: HierarchicalPosterior) -> str:
    """Say how well a test was sampled.

    Parameters
    ----------
    posterior : HierarchicalPosterior
        Its result.

    Returns
    -------
    str
        Such as "R-hat 1.200 (should be below 1.01), effective sample size 87 (should be at least 400)". A number
        that cannot be computed is "undefined", never "nan" or "inf".
    """
    rhat, ess = posterior.max_rhat, posterior.min_ess
    shown = f"{rhat:.3f}" if np.isfinite(rhat) else "undefined"
    size = f"{ess:.0f}" if np.isfinite(ess) else "undefined"
    return f"R-hat {shown} (should be below 1.01), effective sample size {size} (should be at least 400)"


class _Prepared(NamedTuple):
    data: tuple  # the fields of bayes_model.Data, which must not be imported here
    rope: float  # scaled
    scale: float
    flipped: bool


def hierarchical_test(
    x: Any,
    y: Any,
    rope: float,
    runs: int,
    n_samples: int = 10_000,
    random_state: Any = None,
    *,
    names: Sequence[str] | None = None,
) -> HierarchicalPosterior:
    """Test whether one ranker's scores are better than another's, on data sets at large.

    Parameters
    ----------
    x, y : float arrays of shape (q, n), or sequences of q one-dimensional arrays, or data frames
        Scores of the two rankers; a row per data set, a score per fold, the same folds in the same order in
        both. The number of folds may differ between data sets.
    rope : float
        Differences up to this count as equivalence, in units of the scores; at least 0. For scores in percent
        (0 … 100) what is 0.05 for scores in 0 … 1 is 5.
    runs : int
        Repeats of the cross-validation. Scores are correlated with ρ = ``runs`` / number of scores.
    n_samples : int, default=10000
        Draws in the result, of all chains together.
    random_state : int, RandomState or None, default=None
        Equal seeds give equal results.
    names : sequence of two str, optional
        Names of x and y, for plots.

    Returns
    -------
    HierarchicalPosterior
        ``.probs()`` is (x better, equivalent, y better). Swapped arguments give exactly the swapped result.

    Raises
    ------
    BadScoresError
        If shapes differ, scores are not finite numbers, ``runs`` does not divide the number of scores or leaves one
        fold per repeat, or a data set's differences are constant and ``rope`` is 0; if any other parameter has a
        wrong type or value, by its name.

    Warns
    -----
    ConvergenceWarning
        If R-hat is not below 1.01 or the effective sample size is below 400 after a run eight times as long.
    ScaleWarning
        If there are scores beyond −1 … 1 and ``rope``, above 0, is less than 0.5 % of the largest: then it was
        meant for another scale, such as 0.05 for scores in percent.

    Notes
    -----
    Scores that are equal everywhere give (0, 1, 0) without sampling. Where the differences of a data set are
    constant, σ has no data: as in baycomp they are given the scatter of a uniform distribution on ± ``rope``,
    but not by random numbers, and the data set keeps its mean, which baycomp sets to 0. Data sets with equal
    means have no scatter among them, and std0 is bounded as for one data set.
    """
    return hierarchical_tests([(x, y)], rope, runs, n_samples, random_state, names=[names], n_jobs=1)[0]


def hierarchical_tests(
    pairs: Iterable[tuple] | Mapping[Hashable, tuple],
    rope: float,
    runs: int,
    n_samples: int = 10_000,
    random_state: Any = None,
    *,
    names: Sequence[Sequence[str] | None] | None = None,
    n_jobs: int | None = None,
) -> list[HierarchicalPosterior] | dict[Hashable, HierarchicalPosterior]:
    """Test many pairs of rankers with one compilation.

    Parameters
    ----------
    pairs : iterable of (x, y), or mapping of key to (x, y)
        As for :func:`hierarchical_test`.
    rope, runs, n_samples, random_state
        As for :func:`hierarchical_test`. Every pair uses the same random numbers, so its result does not
        depend on the other pairs.
    names : sequence of (str, str), optional
        One per pair. By default the keys of a mapping whose keys are pairs of text.
    n_jobs : int, optional
        Threads; by default as many as there are cores. Results do not depend on it.

    Returns
    -------
    list of HierarchicalPosterior, or dict with the keys of ``pairs``
        In the order of ``pairs``.

    Raises
    ------
    BadScoresError
        As :func:`hierarchical_test`, naming the pair.

    Warns
    -----
    ConvergenceWarning, ScaleWarning
        As :func:`hierarchical_test`, naming the pair.
    """
    keys = list(pairs) if isinstance(pairs, Mapping) else None
    tables = as_pairs(pairs.values() if isinstance(pairs, Mapping) else pairs)
    if names is None:
        names = [_names_in(key) for key in keys] if keys is not None else [None] * len(tables)
    check_names(names, len(tables))
    check_settings(rope, runs, n_samples, n_jobs)
    try:
        seed = check_random_state(random_state).randint(2**31 - 1)
    except (TypeError, ValueError) as error:
        raise BadScoresError(
            f"random_state must be a whole number, a RandomState or None, not {random_state!r}"
        ) from error
    labels = [_label(each, place, len(tables)) for place, each in enumerate(names)]
    prepared = [
        _prepare(x, y, float(rope), runs, label) for (x, y), label in zip(tables, labels, strict=True)
    ]
    results = _sampled(prepared, seed, int(n_samples), n_jobs or multiprocessing.cpu_count())
    posteriors = []
    for ready, draws, each, label in zip(prepared, results, names, labels, strict=True):
        posteriors.append(_posterior(ready, draws, each, float(rope), int(n_samples)))
        if draws is not None and not draws.good:
            warnings.warn(
                f"{label}the chains did not converge: {sampling_in_words(posteriors[-1])}",
                ConvergenceWarning,
                stacklevel=2,
            )
    return posteriors if keys is None else dict(zip(keys, posteriors, strict=True))


def _sampled(prepared, seed, n_samples, n_jobs):
    """Draws of each pair, None where nothing has to be sampled."""
    open_ones = [place for place, ready in enumerate(prepared) if ready is not None]
    found: list[Any] = [None] * len(prepared)
    if open_ones:
        # Here, not above: loading JAX takes seconds and 200 MiB.
        from experiments.analysis.bayes.model import Data
        from experiments.analysis.bayes.sampler import sample

        datas = [Data(*prepared[place].data) for place in open_ones]
        for place, draws in zip(open_ones, sample(datas, seed, n_samples, n_jobs), strict=True):
            found[place] = draws
    return found


def _posterior(ready: Any, draws: Any, names: Any, rope: Any, n_samples: Any) -> HierarchicalPosterior:
    names = None if names is None else tuple(names)
    if ready is None:
        sample = np.tile([0.0, 1.0, 0.0], (n_samples, 1))
        return HierarchicalPosterior(sample, names=names, rope=rope)
    chosen = np.linspace(0, draws.nu.size - 1, n_samples).round().astype(np.int64)
    delta0, std0, nu = (each.ravel()[chosen] for each in (draws.delta0, draws.std0, draws.nu))
    below = stats.t.cdf(-ready.rope, nu, delta0, std0)
    above = stats.t.sf(ready.rope, nu, delta0, std0)
    sample = np.column_stack([below, np.clip(1 - below - above, 0.0, None), above])
    if ready.flipped:
        sample, delta0 = sample[:, ::-1].copy(), -delta0
    return HierarchicalPosterior(
        sample,
        names=names,
        rope=rope,
        delta0=delta0 * ready.scale,
        std0=std0 * ready.scale,
        nu=nu,
        rhat=draws.rhat,
        ess=draws.ess,
        divergences=draws.divergences,
        n_drawn=draws.nu.size,
    )


def _prepare(x: Any, y: Any, rope: float, runs: int, label: str) -> _Prepared | None:
    """Turn score tables into what the model needs; None when all scores are equal."""
    differences, steady, largest = [], [], 0.0
    for name, a, b in rows_of(x, y, label):
        where = f"{label}data set {name}: "
        if a.shape != b.shape or a.ndim != 1:
            raise BadScoresError(f"{where}x has scores of shape {a.shape} and y of shape {b.shape}")
        for table, scores in (("x", a), ("y", b)):
            if not np.isfinite(scores).all():
                bad = int(np.flatnonzero(~np.isfinite(scores))[0])
                raise BadScoresError(
                    f"{where}score {bad} of {table} is {scores[bad]}; leave data sets out that one of the two "
                    "rankers did not finish"
                )
        if len(a) % runs or len(a) < 2 * runs:
            raise BadScoresError(
                f"{where}{len(a)} scores cannot be {runs} runs of a cross-validation with two folds or more; "
                "runs is the number of repeats"
            )
        difference = b - a
        # Scores that differ by rounding alone are equal.
        difference[np.abs(difference) < TIE * np.maximum(np.abs(a), np.abs(b))] = 0.0
        differences.append(difference)
        largest = max(largest, np.abs(a).max(), np.abs(b).max())
        steady.append(np.ptp(difference) <= TIE * max(np.abs(a).max(), np.abs(b).max()))
    if largest > 1 and 0 < rope < _LEAST_ROPE * largest:
        warnings.warn(
            f"{label}rope={rope:g} is {100 * rope / largest:.2g} % of the largest score, {largest:g}; it is in the "
            "units of the scores: what is 0.05 for scores in 0 … 1 is rope=5 for scores in percent",
            ScaleWarning,
            stacklevel=4,
        )
    if all(np.all(np.abs(each) == 0) for each in differences):
        return None
    if rope == 0 and any(steady):
        raise BadScoresError(
            f"{label}the differences of data set number {steady.index(True)} (from 0) are all the same, which "
            "leaves their scatter without a value unless rope is above 0"
        )
    return _summed_up(differences, steady, rope, runs)


def _summed_up(differences: Any, steady: Any, rope: Any, runs: Any) -> _Prepared:
    n = np.array([len(each) for each in differences], dtype=np.float64)
    mean = np.array(
        [each[0] if flat else each.mean() for each, flat in zip(differences, steady, strict=True)]
    )
    std = np.array([0.0 if flat else each.std() for each, flat in zip(differences, steady, strict=True)])
    largest = np.array([np.abs(each).max() for each in differences])
    # In place of no scatter, that of a uniform distribution on ± rope.
    steady = np.array(steady)
    filled = np.where(steady, rope / np.sqrt(3), std)
    largest = np.where(steady, np.abs(mean) + rope, largest)
    scale = std.mean() if std.any() else filled.mean()
    mean, filled, largest = mean / scale, filled / scale, largest / scale
    # Of two mirrored pairs, one is sampled: x and y swapped is the same test, to the last digit.
    decisive = mean.sum() or mean[np.flatnonzero(mean)[:1]].sum()
    flipped = bool(decisive < 0)
    mean = -mean if flipped else mean
    within = filled.mean()
    # Means that differ by rounding alone do not differ.
    among = mean.std() if np.ptp(mean) > 1e-12 * largest.max() else within
    rho = runs / n
    data = (
        mean,
        n * filled**2 / (1 - rho),
        (1 + (n - 1) * rho) / n,
        n,
        np.ones_like(n),
        float(largest.max()),
        float(among * _UPPER_SIGMA),
        float(within * _UPPER_SIGMA),
    )
    return _Prepared(data, rope / scale, float(scale), flipped)


def _names_in(key):
    return (
        key
        if isinstance(key, tuple) and len(key) == 2 and all(isinstance(part, str) for part in key)
        else None
    )


def _label(names, place, n_pairs):
    if names is not None:
        return f"{names[0]} and {names[1]}: "
    return f"pair {place}: " if n_pairs > 1 else ""
