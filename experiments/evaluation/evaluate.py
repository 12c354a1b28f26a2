"""One cell: rank inside each training fold, then score the learner along the ranking.

The paper's evaluation section is followed.
"""

from __future__ import annotations

import json
import math
import platform
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from experiments.datasets.raw import Matrix
from experiments.errors import ConfigError, wrong_name
from experiments.evaluation.cell import Cell
from experiments.evaluation.filling import filled
from experiments.evaluation.measurements import Subject
from experiments.evaluation.options import FitOptions
from experiments.evaluation.score_cache import FoldScores, Score, names_of
from experiments.evaluation.splits import folds
from experiments.evaluation.versions import installed
from experiments.learners.forest import fit_predict
from experiments.locate import locate, parameter_names
from experiments.metrics.f1 import f1_micro_macro, f1_micro_macro_labels
from experiments.metrics.r2 import in_range, r2
from experiments.metrics.relative_f1 import area_under_relative_f1, feature_grid, relative_f1
from experiments.metrics.top_features import top_features
from experiments.processes import ctrl_c_watched
from experiments.rankers import RankResult, built_value
from experiments.rankers.fitting import FitEnded, described
from experiments.rankers.instrumentation import Compilation, Noise, one_thread
from experiments.rankers.missing import takes_missing
from experiments.store.rows import all_ok, machine, to_frame, to_table
from experiments.tasks import TASKS
from reliefe.ranking import descending_order

#: What is null in the rows when timings do not count.
TIMINGS = ("fit_seconds", "warm_up_seconds", "learner_seconds", "phase_seconds")

#: Versions that stand in the rows and not in the keys.
_INFORMATIVE = {"python": platform.python_version(), "reliefe-bench": installed("reliefe-bench")}

#: (ranker, data, process) of fits that were done already.
_warm: set[tuple[str, str, int]] = set()
#: Rankers that compile in each fit, as UMAP does: what they compile belongs to the fit, by process.
_compiles_always: set[tuple[str, int]] = set()


@dataclass
class CellResult:
    """The rows of a cell, and what was warned of on the way.

    Attributes
    ----------
    table : pyarrow.Table
        One row per fold, in order, with the columns of ``ROW_SCHEMA``.
    warnings : Counter
        (kind, first line) → how often.
    """

    table: pa.Table
    warnings: Counter = field(default_factory=Counter)

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a data frame."""
        return to_frame(self.table)

    @property
    def ok(self) -> bool:
        """Whether no fold failed."""
        return all_ok(self.table)


def fold_seed(seed: int, repeat: int, fold: int) -> int:
    """Derive the seed of one fold: the same for every ranker, different between folds, repeats and studies.

    Parameters
    ----------
    seed, repeat, fold : int
        The study's seed, and the places of the repeat and the fold; not negative.

    Returns
    -------
    int
        0 … 2³² − 1.
    """
    return int(np.random.SeedSequence([seed, repeat, fold]).generate_state(1, dtype=np.uint32)[0])


def make_learner(config: Mapping[str, Any], seed: int = 0, *, key: str = "learner") -> Any:
    """Make the protocol's learner.

    Parameters
    ----------
    config : mapping
        ``_target_``, a scikit-learn classifier or regressor, and its parameters.
    seed : int, default=0
        Given to a ``random_state`` that the configuration leaves open.
    key : str, default="learner"
        What the protocol calls it, for the messages.

    Returns
    -------
    estimator
        Not fitted.

    Raises
    ------
    ConfigError
        If it cannot be imported or does not have a parameter of that name, with the valid ones.
    """
    if not config.get("_target_"):
        raise ConfigError(f"protocol.{key} has no _target_ (package.module.Class)")
    target, names, any_name = _located(config["_target_"])
    settings = {key: value for key, value in config.items() if key != "_target_"}
    for name in settings:
        if not any_name and name not in names:
            raise wrong_name(f"parameter of protocol.{key}", name, names)
    if "random_state" in names and settings.get("random_state") is None:
        settings["random_state"] = seed
    try:
        return target(**settings)
    except Exception as error:
        raise ConfigError(f"protocol.{key} cannot be made: {type(error).__name__}: {error}") from error


@lru_cache(maxsize=32)
def _located(target: str) -> tuple[Any, list[str], bool]:
    obj = locate(target)
    return obj, *parameter_names(obj)


_USUAL_OPTIONS = FitOptions()


def evaluate_all_features(
    cell: Cell, X: Any, y: Any, *, previous: pa.Table | None = None, fit_options: FitOptions = _USUAL_OPTIONS
) -> CellResult:
    """Score the learner on all features in every fold of one repeat.

    Parameters
    ----------
    cell : Cell
        Of kind "all_features".
    X : float64 ndarray of shape (n, p), or csr_matrix
        Not modified.
    y : int array of shape (n,), csr_matrix of shape (n, L), or float array of shape (n,)
        Class codes, 0 … c − 1; which labels each sample has; or a number for each sample, by ``cell.task``.
    previous : pyarrow.Table, optional
        Rows of the same cell from before; those that ``fit_options.keep`` approves of are kept, only the other
        folds run.
    fit_options : FitOptions, optional
        Threads, limits, and what is kept.

    Returns
    -------
    CellResult
        A fold whose learner fails is a row with status "failed" and the error.
    """

    def score(part: _Part, noise: Noise) -> dict[str, Any]:
        grid = np.array([part.n_features])
        learnt = _learn(cell, part, np.arange(part.n_features), grid, noise, timed=fit_options.timed)
        return {
            "learner_seconds": learnt.seconds,
            "learner_converged": learnt.converged,
            "learner_way": learnt.way,
            **_scores(cell.task, grid, learnt.micro, learnt.macro),
        }

    return _each_fold(cell, X, y, previous, fit_options, score)


def evaluate_ranking(
    cell: Cell,
    X: Any,
    y: Any,
    reference: pa.Table,
    *,
    previous: pa.Table | None = None,
    fit_options: FitOptions = _USUAL_OPTIONS,
) -> CellResult:
    """Rank the features in every training fold of one repeat and score the learner along the ranking.

    The ranker sees the training samples alone. Features stand in descending order of weight, ties by lower index.
    Before the first fit of a ranker on a data set in this process the same fit runs once untimed, and a fit in
    which functions are compiled nevertheless is done again, so that compilation is not in ``fit_seconds`` (but for
    rankers that compile in every fit).

    With ``fit_options.scores``, a learner is not fitted again on features that it was given in the same order
    in this fold for another ranker. ``learner_seconds`` is in any case what the fits took when they were done.

    Parameters
    ----------
    cell : Cell
        Of kind "ranking".
    X : float64 ndarray of shape (n, p), or csr_matrix
        Not modified.
    y : int array of shape (n,), csr_matrix of shape (n, L), or float array of shape (n,)
        Class codes, 0 … c − 1; which labels each sample has; or a number for each sample, by ``cell.task``.
    reference : pyarrow.Table
        Rows of ``cell.reference``: the score of all features is not computed again.
    previous : pyarrow.Table, optional
        Rows of the same cell from before; those that ``fit_options.keep`` approves of are kept, only the other
        folds run.
    fit_options : FitOptions, optional
        Threads, limits, and what is kept.

    Returns
    -------
    CellResult
        A fold whose ranker or learner fails, or that has no score of all features, is a row with status "failed"
        and the error.
    """
    micro_all, macro_all = ("r2_all",) * 2 if TASKS[cell.task].numeric else ("f1_micro_all", "f1_macro_all")
    columns = list(dict.fromkeys(["fold", "status", "error", micro_all, macro_all, "learner_converged"]))
    of_fold = {row["fold"]: row for row in reference.select(columns).to_pylist()}

    def score(part: _Part, noise: Noise) -> dict[str, Any]:
        whole = of_fold[part.fold]
        if whole["status"] != "ok":
            raise RuntimeError(f"no score of all features in this fold ({whole['error']})")
        ranked, numbers = _rank(cell, part, noise, fit_options)
        grid = feature_grid(part.n_features, cell.grid_points)
        order = descending_order(ranked.weights)
        known = None
        if fit_options.scores is not None and cell.reference is not None:
            known = fit_options.scores.of_fold(cell.reference.key, part.fold)
        learnt = _learn(cell, part, order, grid[:-1], noise, known, timed=fit_options.timed)
        return {
            **numbers,
            "learner_seconds": learnt.seconds,
            "learner_converged": learnt.converged and whole["learner_converged"],
            "learner_way": learnt.way,
            **_scores(cell.task, grid, [*learnt.micro, whole[micro_all]], [*learnt.macro, whole[macro_all]]),
        }

    return _each_fold(cell, X, y, previous, fit_options, score)


def evaluate_measurement(
    cell: Cell, X: Any, y: Any, *, previous: pa.Table | None = None, fit_options: FitOptions = _USUAL_OPTIONS
) -> CellResult:
    """Measure something else than a ranking on all samples at once.

    Parameters
    ----------
    cell : Cell
        With ``measure``: the block of a function of :mod:`experiments.evaluation.measurements`, or one like them.
    X : float64 ndarray of shape (n, p), or csr_matrix
        Not modified.
    y : int array of shape (n,), csr_matrix of shape (n, L), or float array of shape (n,)
        Class codes, 0 … c − 1; which labels each sample has; or a number for each sample, by ``cell.task``.
    previous : pyarrow.Table, optional
        Rows of the same cell from before; one that ``fit_options.keep`` approves of is kept.
    fit_options : FitOptions, optional
        Threads, limits, and what is kept.

    Returns
    -------
    CellResult
        One row, fold 0, with the result as JSON in ``measurement`` and, where the ranker was fitted, its time and
        the like as for a ranking. When the measure fails, status and error say so.
    """

    def score(part: _Part, noise: Noise) -> dict[str, Any]:
        numbers: dict[str, Any] = {}

        def fit() -> RankResult:
            ranked, more = _rank(cell, part, noise, fit_options)
            numbers.update(more)
            return ranked

        measure = built_value({**cell.measure, "_partial_": True})
        with noise.caught():
            subject = Subject(part.X_train, part.y_train, part.seed, cell.ranker_block, fit, cell.informative)
            measured = measure(subject)
        return {**numbers, "measurement": json.dumps(measured, allow_nan=False)}

    return _each_fold(cell, X, y, previous, fit_options, score)


@dataclass(frozen=True)
class _Part:
    """The samples of one fold."""

    fold: int
    seed: int
    n_classes: int  # or labels; 0 for numbers
    X_train: Any
    y_train: Matrix
    X_test: Any
    y_test: Matrix
    X_ranked: Any  # of the training samples, as the ranker gets them: it may take missing values

    @property
    def n_features(self) -> int:
        return self.X_train.shape[1]


@dataclass
class _Learnt:
    micro: list[float] = field(default_factory=list)
    macro: list[float] = field(default_factory=list)
    seconds: float = 0.0
    converged: bool = True
    ways: set[str] = field(
        default_factory=set
    )  # how predictions came about, as experiments.learners.forest says it

    @property
    def way(self) -> str | None:
        return ", ".join(sorted(self.ways, reverse=True)) or None


def _each_fold(
    cell: Cell,
    X: Any,
    y: np.ndarray | sparse.csr_matrix,
    previous: pa.Table | None,
    fit_options: FitOptions,
    score: Callable[[_Part, Noise], dict[str, Any]],
) -> CellResult:
    kept = {row["fold"]: row for row in previous.to_pylist() if fit_options.keep(row)} if previous else {}
    noise = Noise()
    common = {
        "cell_key": cell.key,
        "kind": cell.kind,
        "dataset": cell.dataset,
        "ranker": cell.ranker,
        "protocol": cell.protocol,
        "repeat": cell.repeat,
        "seed": cell.seed,
        "n_features": X.shape[1],
        "n_threads": _n_threads(cell, fit_options),
        "versions": json.dumps({**_INFORMATIVE, **cell.versions}),
        "machine": json.dumps(machine()),
    }
    n_classes = 0
    if TASKS[cell.task].numeric:
        y = in_range(y)
    else:
        n_classes = y.shape[1] if sparse.issparse(y) else int(np.max(y)) + 1
    rows = []
    if cell.measure:
        splits = [(np.arange(X.shape[0]), np.arange(0))]
    else:
        splits = folds(
            y,
            n_splits=cell.n_splits,
            repeat=cell.repeat,
            seed=cell.seed,
            assignment=cell.assignment,
        )
    too_long: int | None = None  # the first fold that was
    not_made: int | None = None  # the fold for which the ranker could not be made in time
    with ctrl_c_watched() as pressed:
        for fold, (train, test) in enumerate(splits):
            if fold in kept:
                rows.append(kept[fold])
                continue
            row = {**common, "fold": fold, "n_train": len(train), "n_test": len(test)}
            try:
                if fit_options.give_up and too_long is not None:
                    raise FitEnded(
                        f"Timeout: not tried, since fold {too_long} was stopped after "
                        f"{fit_options.fitter.limits.seconds:g} s (launcher.give_up)",
                        "timeout",
                    )
                if not_made is not None:  # no fold makes it another ranker
                    raise FitEnded(
                        f"Timeout: not tried, since making the ranker was stopped in fold {not_made}",
                        "timeout",
                    )
                part = _part(cell, fold, n_classes, X, y, train, test)
                with one_thread():
                    row.update(score(part, noise), status="ok")
            except BaseException as error:
                if pressed():
                    raise
                # Whatever a ranker or learner does wrong is this fold's result; the other folds are worth having.
                row.update(described(error))
                if isinstance(error, FitEnded) and not error.made:
                    not_made = fold
                if row["status"] == "timeout":
                    row["time_limit_seconds"] = fit_options.fitter.limits.seconds
                    too_long = fold if too_long is None else too_long
                elif row["status"] == "out_of_memory":
                    row["memory_limit_mib"] = fit_options.fitter.limits.memory_mib
            if not fit_options.timed:
                row.update(dict.fromkeys(TIMINGS))
            rows.append(row)
    return CellResult(to_table(rows), noise.counts)


def _part(
    cell: Cell, fold: int, n_classes: int, X: Any, y: Any, train: np.ndarray, test: np.ndarray
) -> _Part:
    X_train, X_test = X[train], X[test]
    X_ranked = X_train
    if cell.gaps is not None:
        X_train, X_test = filled(X_train, X_test, cell.gaps)
        X_ranked = X_ranked if takes_missing(cell.ranker_block) else X_train
    seed = fold_seed(cell.seed, cell.repeat, fold)
    return _Part(fold, seed, n_classes, X_train, y[train], X_test, y[test], X_ranked)


def _n_threads(cell: Cell, fit_options: FitOptions) -> int:
    """Return how many threads the fit may use: BLAS and OpenMP one, so it is up to the ranker's ``n_jobs``."""
    try:
        wanted = effective_n_jobs(cell.ranker_block.get("n_jobs", 1))
    except (TypeError, ValueError):
        return 1  # no number of jobs at all: the ranker will say so
    return wanted if fit_options.n_threads is None else min(wanted, fit_options.n_threads)


def _rank(
    cell: Cell, part: _Part, noise: Noise, fit_options: FitOptions
) -> tuple[RankResult, dict[str, Any]]:
    ranking, n_threads = cell.ranker_block, _n_threads(cell, fit_options)
    if isinstance(ranking.get("n_jobs"), int) and ranking["n_jobs"] not in (1, n_threads):
        ranking = {**ranking, "n_jobs": n_threads}
    fitter = fit_options.fitter
    pair = (json.dumps(cell.ranker_block, sort_keys=True, default=str), cell.checksum, fitter.process)
    warm_up = 0.0
    if pair not in _warm:
        start = time.perf_counter()
        # What it warns of comes again.
        fitter.fit(ranking, part.X_ranked, part.y_train, part.seed, warming=True)
        warm_up = time.perf_counter() - start
        _warm.add(pair)
    start = time.perf_counter()
    fitted = fitter.fit(ranking, part.X_ranked, part.y_train, part.seed)
    always = str(ranking.get("_target_")), fitter.process
    if fitted.compiled and fit_options.timed and always not in _compiles_always:
        # Where a fold takes a way that the first one did not, such as one that has missing values.
        warm_up += time.perf_counter() - start
        fitted = fitter.fit(ranking, part.X_ranked, part.y_train, part.seed, warming=True)
        if fitted.compiled:
            _compiles_always.add(always)
    noise.counts += fitted.warnings
    phases = fitted.result.info.get("phase_seconds")
    top, names = top_features(fitted.result.weights), fit_options.feature_names
    return fitted.result, {
        "fit_seconds": fitted.result.fit_seconds,
        "warm_up_seconds": warm_up,
        "peak_memory_mib": fitted.peak_memory_mib,
        "weights": fitted.result.weights,
        "top_columns": top.columns,
        "top_names": [names[column] for column in top.columns] if len(names) else None,
        "top_ranks": top.ranks,
        "top_weights": top.weights,
        "latent_dimension": fitted.result.info.get("latent_dimension"),
        "phase_seconds": None if phases is None else json.dumps(phases),
    }


def _learn(
    cell: Cell,
    part: _Part,
    order: np.ndarray,
    sizes: np.ndarray,
    noise: Noise,
    known: FoldScores | None = None,
    timed: bool = True,
) -> _Learnt:
    """Fit and test the learner on the first ``size`` features of ``order``, for each of the growing sizes."""
    learnt = _Learnt()
    if len(sizes) == 0:
        return learnt
    learner = make_learner(cell.learner, part.seed)
    # A learner may know how to go on from fewer columns to more. Where each fit starts is rounding in the next, so
    # its scores are looked up for a whole sequence of features, or not at all.
    nested = hasattr(learner, "path")
    found: list[Score | None] = [None] * len(sizes)
    if known is not None:
        names = names_of(order, sizes, nested=nested)
        found = [known.get(name) for name in names]
        if nested and None in found:
            found = [None] * len(sizes)
    along = _LearnerAlong(cell, part, order, sizes, timed) if None in found else None
    try:
        with noise.caught() as caught:
            for place, size in enumerate(sizes):
                score = found[place]
                if score is None:
                    assert along is not None  # a score is missing
                    n_told = len(caught), noise.counts.total()
                    score = along.score(size)
                    quiet = n_told == (len(caught), noise.counts.total())
                    if (
                        known is not None and quiet
                    ):  # a warning is to be counted in every row that it is about
                        seconds = score.seconds if timed else math.nan
                        known.add(names[place], score._replace(seconds=seconds), score.seconds)
                learnt.micro.append(score.micro)
                learnt.macro.append(score.macro)
                learnt.seconds += score.seconds
                if score.way is not None:
                    learnt.ways.add(score.way)
    finally:
        if known is not None:
            known.write()
    learnt.converged = not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    return learnt


class _LearnerAlong:
    """The learner of a fold on ever more features."""

    def __init__(self, cell: Cell, part: _Part, order: np.ndarray, sizes: np.ndarray, timed: bool):
        self._cell, self._part, self._timed = cell, part, timed
        used = order[: sizes[-1]]
        train, test = (_floats(X[:, used]) for X in (part.X_train, part.X_test))
        if cell.task == "multilabel":
            # Learners of label matrices take them dense only; a byte a label is the least that can be. Columns are
            # left as they are: scaling is there for logistic regression to converge.
            self._y = part.y_train.astype(np.uint8).toarray()
            self._score: Callable[..., tuple[float, float]] = f1_micro_macro_labels
        else:
            self._y = part.y_train
            # Scaling works column by column, so that of the features used is that of all of them, once per fold.
            if TASKS[cell.task].numeric:
                self._score = _r2_twice
                # Zeros of sparse data stay zeros; where a feature is centred, linear regression does not care.
                scaler = StandardScaler(copy=False, with_mean=not sparse.issparse(train))
            else:
                self._score = partial(f1_micro_macro, n_classes=part.n_classes)
                scaler = MaxAbsScaler(copy=False)
            train = scaler.fit_transform(train)
            test = scaler.transform(test)
        self._train, self._test = train, test
        learner = make_learner(cell.learner, part.seed)
        self._path = learner.path(train, self._y, sizes) if hasattr(learner, "path") else None

    def score(self, size: int) -> Score:
        X_test, way = self._test[:, :size], None
        start = time.perf_counter()
        if self._path is None:
            with Compilation() as compilation:
                predicted, way = self._predicted(size, X_test)
            if compilation.happened and self._timed:
                start = time.perf_counter()
                predicted, way = self._predicted(size, X_test)
        else:
            predicted = next(self._path).predict(X_test)
        seconds = time.perf_counter() - start
        micro, macro = self._score(self._part.y_test, predicted)
        return Score(micro, macro, seconds, way)

    def _predicted(self, size: int, X_test: Any) -> tuple[Any, str]:
        learner = make_learner(self._cell.learner, self._part.seed)  # cheaper than a clone
        return fit_predict(learner, self._train[:, :size], self._y, X_test)


def _floats(X: Any) -> Any:
    """Return the columns that a learner is to see as floats; what is kept as int8 is so to save memory."""
    return X if X.dtype.kind == "f" else X.astype(np.float64)


def _r2_twice(true: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Return R² in the places of micro and macro F1."""
    score = r2(true, predicted)
    return score, score


def _scores(task: str, grid: np.ndarray, micro: Sequence[float], macro: Sequence[float]) -> dict[str, Any]:
    if TASKS[task].numeric:
        return {"grid": grid, **_along(micro, "r2", "rr2")}
    return {
        "grid": grid,
        **_along(micro, "f1_micro", "rf1_micro"),
        **_along(macro, "f1_macro", "rf1_macro"),
    }


def _along(scores: Sequence[float], name: str, relative_name: str) -> dict[str, Any]:
    curve = np.array(scores)
    relative = relative_f1(curve)
    return {
        name: curve,
        f"{name}_all": curve[-1],
        relative_name: relative,
        f"au{relative_name}": area_under_relative_f1(relative),
        f"best_{name}": curve.max(),
    }
