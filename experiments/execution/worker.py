"""What a worker process does with one cell."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import joblib
import pyarrow as pa

from experiments.evaluation.cell import Cell
from experiments.evaluation.evaluate import (
    CellResult,
    evaluate_all_features,
    evaluate_measurement,
    evaluate_ranking,
)
from experiments.evaluation.options import FitOptions
from experiments.evaluation.score_cache import ScoreCache
from experiments.evaluation.versions import present
from experiments.execution.scratch import EMBEDDINGS, noted, unshelve, unshelve_names
from experiments.rankers.fitting import FitEnded, Fitted, Fitter, Here, Limits
from experiments.rankers.isolation import SubprocessFitter
from experiments.store.rows import all_ok, is_settled, settled
from experiments.store.store import Quarantined, Store

#: How many scores of all features a process keeps.
_REFERENCES_KEPT = 256

_child_fitter: SubprocessFitter | None = None
_references: OrderedDict[tuple[Path, str], pa.Table] = OrderedDict()


@dataclass(frozen=True)
class WorkOptions:
    """What a worker is told beside its cell."""

    results: str  # folder; a worker writes its cells there itself
    scratch: str  # folder for notes (experiments.execution.scratch)
    limits: Limits = field(default_factory=Limits)  # of the fit of a fold
    n_threads: int = 1  # that a ranker may use
    n_workers_here: int = 1  # workers that share a machine
    apart: bool = False  # fits in a process of their own even without limits: a worker died at this cell
    give_up: bool = False  # the folds of a cell after one that took too long are not tried
    score_cache: bool = True  # scores of the learner that other rankers had are looked up


@dataclass
class Outcome:
    """How a cell ended."""

    cell: Cell
    how: str  # "ran"; "found" when another process had finished it; "lost" when it left no file
    failures: list[tuple[int | None, str]] = field(default_factory=list)  # fold (None: whole cell), error
    status: str = "failed"  # what they all are; "" for folds of several kinds
    warnings: Counter = field(default_factory=Counter)  # (kind, first line) → how often
    quarantined: list[Quarantined] = field(default_factory=list)
    seconds: float = 0.0  # wall clock of the cell


def work_batch(cells: Sequence[Cell], shelved: str, options: WorkOptions) -> list[Outcome]:
    """Do as :func:`work` for several cells of one data set from a shelf (``Scratch.shelve``), in their order.

    Cells of a millisecond cannot wait for the disk one by one: a batch is written at its end, and outcomes are
    given when it is. What a worker that dies has not written by then is missing, like the cell it was at.
    """
    try:
        (X, y), names = unshelve(shelved), unshelve_names(shelved)
    except Exception as error:
        reason = f"{type(error).__name__}: the data cannot be read by this worker: {error}"
        return [Outcome(cell, "lost", failures=[(None, reason)]) for cell in cells]
    if len(cells) == 1:
        return [work(cells[0], X, y, options, names)]
    tables: dict[str, pa.Table] = {}
    outcomes = [
        _worked(cell, X, y, options, partial(_fitter, options), names, write=tables.__setitem__)
        for cell in cells
    ]
    try:
        _store(options.results).write_many(tables)
    except Exception as error:
        for outcome in outcomes:
            if outcome.cell.key in tables:
                outcome.how = "lost"
                outcome.failures = [(None, f"{type(error).__name__}: {error}")]
    return outcomes


def work(cell: Cell, X: Any, y: Any, options: WorkOptions, names: Sequence[str] = ()) -> Outcome:
    """Run one cell, unless it is done already, and write its file; never raises for ranker, learner or disk.

    X and y may be memory maps that cannot be written to; ``names`` of the features are empty if not known.
    """
    return _worked(cell, X, y, options, partial(_fitter, options), names)


def write_off(cell: Cell, X: Any, y: Any, options: WorkOptions, reason: str) -> Outcome:
    """Write failed rows for a cell that ended its worker; "lost" when not even that can be written."""
    whole = cell if cell.reference is None else cell.reference
    if whole.kind == "all_features" and not Store(options.results).has(whole.key):
        # Scoring all features here may kill this process as it has killed the worker.
        return Outcome(cell, "lost", failures=[(None, reason)])
    return _worked(cell, X, y, options, lambda: _Gone(f"ProcessDied: {reason}"))


def _worked(
    cell: Cell,
    X: Any,
    y: Any,
    options: WorkOptions,
    make_fitter: Callable[[], Fitter],
    names: Sequence[str] = (),
    write: Callable[[str, pa.Table], None] | None = None,
) -> Outcome:
    start = time.perf_counter()
    store = _store(options.results)
    store.quarantined.clear()
    outcome = Outcome(cell, "ran")
    with noted(options.scratch, cell):
        try:
            # Another process on the same study may have finished it since this one looked.
            before = store.read_table(cell.key)
            limits = options.limits
            if before is not None and is_settled(before, limits.seconds, limits.memory_mib):
                outcome.how = "found"
            else:
                _same_versions(cell)
                bound_threads(options.n_threads)
                fit_options = FitOptions(
                    fitter=make_fitter(),
                    n_threads=options.n_threads,
                    timed=options.n_workers_here * options.n_threads <= n_cores(),
                    keep=partial(settled, seconds=limits.seconds, memory_mib=limits.memory_mib),
                    give_up=options.give_up,
                    scores=_scores(options.results) if options.score_cache else None,
                    feature_names=names,
                )
                result = _evaluate(cell, X, y, store, before, fit_options, outcome)
                (write or store.write)(cell.key, result.table)
        except Exception as error:
            outcome.how = "lost"
            outcome.failures = [(None, f"{type(error).__name__}: {error}")]
    outcome.quarantined = list(store.quarantined)
    outcome.seconds = time.perf_counter() - start
    return outcome


@lru_cache(maxsize=4)
def _store(results: str) -> Store:
    return Store(results)


@lru_cache(maxsize=4)
def _scores(results: str) -> ScoreCache:
    return ScoreCache(results)


def _evaluate(
    cell: Cell,
    X: Any,
    y: Any,
    store: Store,
    before: pa.Table | None,
    fit_options: FitOptions,
    outcome: Outcome,
) -> CellResult:
    if cell.measure:
        result = evaluate_measurement(cell, X, y, previous=before, fit_options=fit_options)
    elif cell.reference is None:
        result = evaluate_all_features(cell, X, y, previous=before, fit_options=fit_options)
    else:
        # The runner has seen to it; it can be missing still if that cell was lost or its file taken away.
        reference = _reference(store, cell.reference.key)
        if reference is None:
            whole = evaluate_all_features(cell.reference, X, y, fit_options=fit_options)
            store.write(cell.reference.key, whole.table)
            outcome.warnings += whole.warnings
            reference = whole.table
        result = evaluate_ranking(cell, X, y, reference, previous=before, fit_options=fit_options)
    outcome.warnings += result.warnings
    failed = result.table.select(["fold", "status", "error"]).to_pylist()
    outcome.failures = [(row["fold"], row["error"]) for row in failed if row["status"] != "ok"]
    kinds = {row["status"] for row in failed} - {"ok"}
    outcome.status = kinds.pop() if len(kinds) == 1 else ""
    return result


def _reference(store: Store, key: str) -> pa.Table | None:
    """Read the score of all features, once for all rankers that this process is given in a row."""
    known = _references.get((store.results, key))
    if known is None:
        known = store.read_table(key)
        if known is not None and all_ok(known):
            _references[store.results, key] = known
            if len(_references) > _REFERENCES_KEPT:
                _references.popitem(last=False)
    return known


@lru_cache(maxsize=1)
def n_cores() -> int:
    """Return how many cores this process may use."""
    return joblib.cpu_count()


def _same_versions(cell: Cell) -> None:
    """Refuse to compute under a key that names other packages than this process has: on a cluster it may."""
    differ = [
        f"{name} {here or 'missing'} instead of {wanted or 'none'}"
        for name, wanted in cell.versions.items()
        if (here := present(name)) != wanted
    ]
    if differ:
        raise RuntimeError(f"this worker has other packages than the runner: {', '.join(differ)}")


def bound_threads(n_threads: int) -> None:
    """Hold numba's own threads to a number; BLAS and OpenMP are held around each fit."""
    if (numba := sys.modules.get("numba")) is not None:
        numba.set_num_threads(max(1, min(n_threads, numba.config.NUMBA_NUM_THREADS)))
    else:
        os.environ["NUMBA_NUM_THREADS"] = str(n_threads)


def _fitter(options: WorkOptions) -> Fitter:
    global _child_fitter
    if not options.limits and not options.apart:
        return Here(str(Path(options.scratch) / EMBEDDINGS))
    if _child_fitter is None or _child_fitter.limits != options.limits:
        close_fitter()
        _child_fitter = SubprocessFitter(options.limits, options.n_threads)
    return _child_fitter


@atexit.register
def close_fitter() -> None:
    """End the process that fits for this one, if there is one."""
    if _child_fitter is not None:
        _child_fitter.close()


class _Gone:
    """Where a worker would fit, had it not died of it."""

    limits = Limits()
    process = 0

    def __init__(self, error: str):
        self._error = error

    def fit(self, ranking: Mapping[str, Any], X: Any, y: Any, seed: int, warming: bool = False) -> Fitted:
        raise FitEnded(self._error)
