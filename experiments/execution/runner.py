"""A study: which cells are missing → run them → all rows."""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import pyarrow.compute as pc

from experiments.errors import BadInputError, LauncherError
from experiments.evaluation.cell import Cell
from experiments.evaluation.score_cache import ScoreCache
from experiments.execution.executors import Executor, executor_for
from experiments.execution.progress import Progress, progress_for
from experiments.execution.scheduler import launch
from experiments.execution.scratch import Scratch, at_work
from experiments.execution.study import Study
from experiments.execution.worker import Outcome, WorkOptions
from experiments.formatting import count, first_line
from experiments.rankers import build
from experiments.rankers.fitting import Limits
from experiments.rankers.isolation import MAKING_SECONDS
from experiments.schema import BAD_STATUSES, LIMIT_COLUMNS, when_again
from experiments.store.rows import to_frame
from experiments.store.store import Quarantined, Store
from experiments.tasks import REGRESSION, TASKS, as_scores

logger = logging.getLogger(__name__)

#: Finished cells are packed together each time so many have ended.
_PACK_EVERY = 2000
_KINDS_SHOWN = 3


@dataclass(frozen=True)
class Failure:
    """A fold without numbers, or with ``fold`` None a whole cell that left no file.

    ``limited`` is whether a limit of time or memory is known that stopped it.
    """

    dataset: str
    ranker: str
    protocol: str
    repeat: int
    fold: int | None
    error: str
    cell_key: str
    status: str = "failed"
    limited: bool = False


@dataclass(frozen=True)
class Counts:
    """How many ranking cells a study has, and what became of them."""

    cells: int = 0
    missing: int = (
        0  # at the start: no file, failed folds, or folds stopped by a limit lower than the one of now
    )
    ran: int = 0  # now, failed or not
    found: int = 0  # missing at the start, but finished by another process before it was their turn
    lost: int = 0  # run now and left no file


@dataclass
class StudyResult:
    """All rows of a study and what there is to know about them."""

    #: Rows of the ranking cells, columns of ``ROW_SCHEMA``, failed ones too, in the order of the
    #: configurations, whose names of data sets, rankers and protocols they bear.
    frame: pd.DataFrame
    failures: list[Failure] = field(default_factory=list)  # what has no numbers and was tried
    warnings: Counter = field(default_factory=Counter)  # (kind, first line) → how often
    counts: Counts = field(default_factory=Counts)
    quarantined: list[Quarantined] = field(default_factory=list)  # files that could not be trusted
    running: list[Cell] = field(default_factory=list)  # that some process was at when the rows were read
    absent: dict[str, str] = field(default_factory=dict)  # data set that was left out → why
    not_read: list[str] = field(
        default_factory=list
    )  # data sets whose published rows were found without files
    feature_names: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by data set that was read

    @property
    def exit_code(self) -> int:
        """0 when all is well, 1 when a fold failed or was stopped, a cell was lost, or data are not here."""
        return 1 if self.failures or self.absent else 0


def run_study(
    configs: Sequence[Mapping[str, Any]],
    *,
    n_workers: int | None = None,
    progress: Progress | None = None,
    skip_absent: bool = False,
    in_process: bool = True,
) -> StudyResult:
    """Run the cells of a study that are missing or failed, and read all of its rows.

    Parameters
    ----------
    configs : sequence of mapping
        Resolved configurations (``experiments.config``); all of them are one study.
    n_workers : int, optional
        Number of processes; by default what ``launcher.n_workers`` says, or one per core.
    progress : Progress, optional
        Shows what happens; by default a bar or lines on standard error.
    skip_absent : bool, default=False
        Whether data sets that are not here and cannot be had are left out, listed, and make the exit code 1,
        instead of being an error.
    in_process : bool, default=True
        Whether one worker is this very process, which is good for debugging, and for rankers that no other process
        can import, such as those defined in a notebook. A ranker that takes its process down takes this one with
        it, unless there are limits. With False, as on the command line, one worker is a process of its own.

    Returns
    -------
    StudyResult

    Raises
    ------
    BadInputError
        For a data set that cannot be loaded or split, a learner or ranker that cannot be made, two results folders,
        or one that cannot be written to: before the first cell, with nothing written.
    LauncherError
        If no workers can be had, or a cluster is lost; what was finished is kept.
    KeyboardInterrupt
        Passed on after the workers were ended and a line said how to go on.
    """
    progress = progress_for(sys.stderr) if progress is None else progress
    study = Study(configs, skip_absent=skip_absent, to_run=True)
    launcher = dict(configs[0]["launcher"])
    launcher["n_workers"] = n_workers or launcher.get("n_workers")
    limits = _limits(launcher)
    store = Store(study.results)
    missing = study.missing(store, limits)
    _check_rankers(missing, limits)
    references = _references_to_run(study, store, missing)
    if missing or references:
        _check_writable(study.results)
    if study.not_read:
        progress.note(not_read_in_words(study.not_read))
    shared = f" and {len(references)} for the score of all features" if references else ""
    progress.note(
        f"{len(missing)} of {count(len(study.cells), 'cell')} missing; running {len(missing)}{shared}"
    )
    tally = _Tally()
    if missing or references:
        store.clean()
        ScoreCache(study.results).shrink()
        here = in_process or bool(limits)  # with limits, fits are in a process of their own
        executor = executor_for(launcher, max(len(missing), len(references)), progress.note, here)
        try:
            if _compiles(missing):
                progress.note("kernels are compiled first, once per installation (half a minute or more)")
            options = {
                "give_up": bool(launcher.get("give_up")),
                "score_cache": bool(launcher.get("score_cache", True)),
            }
            _run(study, [references, missing], executor, limits, options, progress, store, tally)
        finally:
            executor.close()
    result = _result(study, store)
    result.failures += tally.lost
    result.warnings = tally.warnings
    result.quarantined += tally.quarantined
    result.counts = replace(tally.counts, cells=len(study.cells), missing=len(missing))
    for line in _closing_words(result):
        progress.note(line)
    return result


def _compiles(missing: Sequence[Cell]) -> bool:
    """Return whether the first fits compile kernels of the library or of forests."""
    for cell in missing:
        package = str(cell.ranker_block.get("_target_")).partition(".")[0]
        grown = cell.task == "multilabel" and "Forest" in str(cell.learner.get("_target_"))
        if grown or package in ("reliefe", "fast_select"):
            from reliefe import _compiled

            return not _compiled.any_kept()
    return False


def not_read_in_words(names: Sequence[str]) -> str:
    """Return a sentence that names the data sets whose published rows are shown without their files."""
    files = "file is" if len(names) == 1 else "files are"
    return f"published rows of {', '.join(names)}: the data {files} not here and not needed for them"


def collect_study(configs: Sequence[Mapping[str, Any]], *, skip_absent: bool = False) -> StudyResult:
    """Read the rows of a study that are there, and run nothing.

    Parameters
    ----------
    configs, skip_absent
        As for :func:`run_study`.

    Returns
    -------
    StudyResult
        ``counts.missing`` says how many cells are not done.

    Raises
    ------
    BadInputError
        As :func:`run_study`: the data sets are loaded, since their content is part of every cell's key. Those of
        published rows whose files are not here need not be.
    """
    study = Study(configs, skip_absent=skip_absent)
    store = Store(study.results)
    running = at_work(study.results)
    store.states(_references(study))  # what is torn is said
    missing = study.missing(store, _limits(configs[0]["launcher"]))
    result = _result(study, store)
    result.counts = Counts(cells=len(study.cells), missing=len(missing))
    result.running = [cell for key, cell in study.cells.items() if key in running]
    return result


def _references_to_run(study: Study, store: Store, missing: Sequence[Cell]) -> list[Cell]:
    """Return the scores of all features that missing cells need, and those that have no good file."""
    needed = {cell.reference.key for cell in missing if cell.reference is not None}
    states = store.states(_references(study))
    return [
        cell
        for key, cell in _references(study).items()
        if cell.checksum in study.data and (key not in states or (key in needed and states[key] != "ok"))
    ]


def _references(study: Study) -> dict[str, Cell]:
    return {cell.reference.key: cell.reference for cell in study.cells.values() if cell.reference is not None}


def _result(study: Study, store: Store) -> StudyResult:
    table = store.rows_of(list(study.named.values()))
    columns = ["dataset", "ranker", "protocol", "repeat", "fold", "error", "cell_key", "status"]
    bad = table.select([*columns, *LIMIT_COLUMNS.values()]).filter(pc.not_equal(table["status"], "ok"))
    failures = [
        Failure(
            **{name: row[name] for name in columns},
            limited=row.get(LIMIT_COLUMNS.get(row["status"])) is not None,
        )
        for row in bad.to_pylist()
    ]
    return StudyResult(
        to_frame(table),
        failures,
        quarantined=list(store.quarantined),
        absent=dict(study.absent),
        not_read=study.not_read,
        feature_names=dict(study.feature_names),
    )


@dataclass
class _Tally:
    """What is kept of the cells that have ended: little, however many they are."""

    counts: Counts = field(default_factory=Counts)
    lost: list[Failure] = field(default_factory=list)
    warnings: Counter = field(default_factory=Counter)
    quarantined: list[Quarantined] = field(default_factory=list)
    n_ended: int = 0

    def add(self, outcome: Outcome) -> None:
        cell = outcome.cell
        if outcome.how == "lost":
            self.lost.append(
                Failure(
                    cell.dataset,
                    cell.ranker,
                    cell.protocol,
                    cell.repeat,
                    None,
                    outcome.failures[0][1],
                    cell.key,
                )
            )
        if cell.kind != "all_features":
            self.counts = replace(self.counts, **{outcome.how: getattr(self.counts, outcome.how) + 1})
        self.warnings += outcome.warnings
        self.quarantined += outcome.quarantined
        self.n_ended += 1


def _check_rankers(cells: Sequence[Cell], limits: Limits) -> None:
    """Tell of a package that is not there, or of a wrong parameter, once and not fold by fold."""
    rankings = {
        json.dumps(cell.ranker_block, sort_keys=True, default=str): cell.ranker_block
        for cell in cells
        if cell.ranker_block
    }
    for ranking in rankings.values():
        if limits.seconds is None:
            build(ranking)
        else:
            _build_within(ranking, max(limits.seconds, MAKING_SECONDS))


def _build_within(ranking: Mapping[str, Any], seconds: float) -> None:
    """Make a ranker, and go on when that takes too long: its folds will say so, and others are not held up."""
    raised: list[BaseException] = []

    def make():
        try:
            build(ranking)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=make, name="making a ranker", daemon=True)
    thread.start()
    thread.join(seconds)
    if raised:
        raise raised[0]


def _limits(launcher: Mapping[str, Any]) -> Limits:
    return Limits(launcher.get("time_limit_seconds"), launcher.get("memory_limit_mib"))


def _check_writable(results: str) -> None:
    """Say now what would otherwise be said once for every cell, after it has run."""
    try:
        Path(results).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=results) as file:
            file.write(b"rows")
    except OSError as error:
        raise BadInputError(
            f"the results folder {results} cannot be written to: {error.strerror or error}\n"
            "name another one with paths.results=FOLDER"
        ) from error


def _run(
    study: Study,
    phases: Sequence[Sequence[Cell]],
    executor: Executor,
    limits: Limits,
    options: Mapping[str, bool],
    progress: Progress,
    store: Store,
    tally: _Tally,
) -> None:
    """Run the cells, phase after phase; say at once what fails."""
    n_cells = len(phases[-1])
    if executor.is_local and executor.n_workers * executor.n_threads > joblib.cpu_count():
        progress.note(
            f"{executor.n_workers} workers × {executor.n_threads} threads are more than the cores, "
            f"{joblib.cpu_count()}: rows will have no timings"
        )
    scratch = Scratch(study.results)
    told = WorkOptions(
        study.results, scratch.path, limits, executor.n_threads, executor.n_workers_here, **options
    )
    progress.start([cell for phase in phases for cell in phase])
    try:
        with warnings.catch_warnings():
            # Workers are renewed now and then to give memory back, and joblib warns of it: no news to anyone.
            warnings.filterwarnings(
                "ignore", message="A worker stopped while some jobs", category=UserWarning
            )
            for phase in phases:
                with closing(
                    launch(study.biggest_first(phase), study.data, executor, scratch, told)
                ) as launched:
                    for outcome in launched:
                        tally.add(outcome)
                        progress.done(outcome.cell, outcome.seconds)
                        if outcome.failures:
                            logger.error("%s", _told(outcome))
                        if tally.n_ended % _PACK_EVERY == 0:
                            _pack(store)
        _pack(store)
    except (KeyboardInterrupt, LauncherError) as error:
        executor.abandon()
        progress.stop()
        n_done = tally.counts.ran + tally.counts.found
        what = "stopped" if isinstance(error, KeyboardInterrupt) else "broken off"
        progress.note(
            f"{what}; {count(n_done, 'cell')} finished and kept in {study.results}, "
            f"{count(n_cells - n_done, 'cell')} left: the same command continues from there"
        )
        raise
    finally:
        progress.stop()
        scratch.close()


def _pack(store: Store) -> None:
    try:
        store.compact()
    except OSError as error:
        logger.warning("finished cells stay in files of their own, packing them failed: %s", error)


def _told(outcome: Outcome) -> str:
    fold, error = outcome.failures[0]
    kind = BAD_STATUSES.get(outcome.status, "failed or stopped")
    n_bad = f"{len(outcome.failures)} of {count(outcome.cell.n_splits, 'fold')} {kind}"
    what = "no rows" if fold is None else n_bad
    return f"{outcome.cell.label}: {what}: {first_line(error)}"


def _closing_words(result: StudyResult) -> list[str]:
    lines = []
    if result.warnings:
        kinds = [f"{n} × {kind}: {line}" for (kind, line), n in result.warnings.most_common(_KINDS_SHOWN)]
        more = len(result.warnings) - len(kinds)
        lines.append(
            f"{count(result.warnings.total(), 'warning')} while cells ran: {'; '.join(kinds)}"
            + (f"; and {count(more, 'other kind')}" if more > 0 else "")
        )
    ranked = result.frame[(result.frame["kind"] == "ranking") & (result.frame["status"] == "ok")]
    # A fold counts once, however many rankers have a row for it, as under the tables.
    for (dataset, protocol), rows in as_scores(ranked).groupby(["dataset", "protocol"], sort=False):
        folds = rows.groupby(["repeat", "fold"])["aurf1_micro"].apply(lambda values: values.isna().any())
        if folds.any():
            task = TASKS[REGRESSION if rows["r2_all"].notna().any() else "multiclass"]
            lines.append(
                f"r{task.score} has no value in {int(folds.sum())} of {count(len(folds), 'fold')} of {dataset} "
                f"({protocol}), where {task.undefined}"
            )
    for status, said in BAD_STATUSES.items():
        for limited in (True, False):
            failures = [each for each in result.failures if (each.status, each.limited) == (status, limited)]
            if not failures:
                continue
            lines.append(f"{said}: {len(failures)} ({when_again(status, limited)})")
            places = Counter(
                (each.dataset, each.ranker, each.protocol, first_line(each.error)) for each in failures
            )
            for (dataset, ranker, protocol, error), n in places.items():
                lines.append(f"  {dataset} × {ranker or 'all features'} ({protocol}), {n} ×: {error}")
    if result.absent:
        lines.append(f"data sets that are not available: {len(result.absent)}, left out")
        lines += [f"  {name}: {'; '.join(why.splitlines())}" for name, why in result.absent.items()]
    if result.quarantined:
        lines.append(f"quarantined, not read as data: {count(len(result.quarantined), 'file')}")
        lines += [f"  {each.moved_to}: {each.reason}" for each in result.quarantined]
    return lines
