"""A study: which cells are missing → run them → all rows."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import joblib
import pandas as pd
import pyarrow as pa

from experiments import datasets
from experiments.cells import Cell, cells_of, learner_of
from experiments.errors import BadInputError
from experiments.evaluate import make_learner
from experiments.launch import end_workers, launch
from experiments.measure import first_line
from experiments.progress import Progress, progress_for
from experiments.rankers import build
from experiments.rows import all_ok, to_frame, to_table
from experiments.splits import check_classes
from experiments.store import SetAside, Store
from experiments.work import Desk, Outcome

logger = logging.getLogger(__name__)

_KINDS_SHOWN = 3


@dataclass(frozen=True)
class Failure:
    """A fold without numbers, or with ``fold`` None a whole cell that left no file."""

    dataset: str
    ranker: str
    protocol: str
    repeat: int
    fold: int | None
    error: str
    cell_key: str


@dataclass(frozen=True)
class Counts:
    """How many ranking cells a study has, and what became of them.

    Attributes
    ----------
    cells : int
        All.
    missing : int
        Not done at the start: no file, or failed folds.
    ran : int
        Run now, failed or not.
    found : int
        Missing at the start, but finished by another process before it was their turn.
    lost : int
        Run now and left no file.
    """

    cells: int = 0
    missing: int = 0
    ran: int = 0
    found: int = 0
    lost: int = 0


@dataclass
class StudyResult:
    """All rows of a study and what there is to know about them.

    Attributes
    ----------
    frame : pandas.DataFrame
        Rows of the ranking cells, columns of ``ROW_SCHEMA``, failed ones too, in the order of the configurations.
        Names of data sets, rankers and protocols are those of the configurations now, not of the files.
    failures : list of Failure
        What has no numbers and was tried.
    warnings : Counter
        (kind, first line) → how often.
    counts : Counts
        How many cells.
    set_aside : list of SetAside
        Files that could not be trusted.
    """

    frame: pd.DataFrame
    failures: list[Failure] = field(default_factory=list)
    warnings: Counter = field(default_factory=Counter)
    counts: Counts = field(default_factory=Counts)
    set_aside: list[SetAside] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 when all is well, 1 when a fold failed or a cell was lost."""
        return 1 if self.failures else 0


def run_study(
    configs: Sequence[Mapping[str, Any]], *, n_workers: int | None = None, progress: Progress | None = None
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

    Returns
    -------
    StudyResult

    Raises
    ------
    BadInputError
        For a data set that cannot be loaded or split, a learner or ranker that cannot be made, two results folders:
        before the first cell, with nothing written.
    KeyboardInterrupt
        Passed on after the workers were ended and a line said how to go on.
    """
    progress = progress_for(sys.stderr) if progress is None else progress
    study = _Study(configs)
    store = Store(study.results)
    store.clean()
    tables = study.read(store)
    missing = [cell for key, cell in study.cells.items() if not _done(tables[key])]
    for ranking in {
        json.dumps(cell.ranking, sort_keys=True, default=str): cell.ranking for cell in missing
    }.values():
        build(ranking)  # a package that is not there, or a wrong parameter, is told once and not fold by fold
    references = {cell.reference.key: cell.reference for cell in missing}
    references = [cell for key, cell in references.items() if not store.has(key)]
    shared = f" and {len(references)} for the score of all features" if references else ""
    progress.note(f"{len(missing)} of {len(study.cells)} cells missing; running {len(missing)}{shared}")
    n_workers = n_workers or configs[0]["launcher"].get("n_workers") or joblib.cpu_count()
    # No process without work, but never down to one, which would mean this one.
    n_workers = min(n_workers, max(2, len(missing), len(references)))
    outcomes = _run(study, [references, missing], n_workers, progress) if missing else []
    changed = {outcome.cell.key for outcome in outcomes}
    tables |= {key: store.read_table(key) for key in tables if key in changed}
    result = study.result(tables, store)
    lost = [outcome for outcome in outcomes if outcome.how == "lost"]
    result.failures += [_failure(each.cell, None, each.failures[0][1]) for each in lost]
    of_missing = Counter(outcome.how for outcome in outcomes if outcome.cell.kind == "ranking")
    result.counts = Counts(
        len(study.cells), len(missing), of_missing["ran"], of_missing["found"], of_missing["lost"]
    )
    for outcome in outcomes:
        result.warnings += outcome.warnings
        result.set_aside += outcome.set_aside
    for line in _closing_words(result):
        progress.note(line)
    return result


def collect_study(configs: Sequence[Mapping[str, Any]]) -> StudyResult:
    """Read the rows of a study that are there, and run nothing.

    Parameters
    ----------
    configs : sequence of mapping
        As for :func:`run_study`.

    Returns
    -------
    StudyResult
        ``counts.missing`` says how many cells are not done.

    Raises
    ------
    BadInputError
        As :func:`run_study`: the data sets are loaded, since their content is part of every cell's key.
    """
    study = _Study(configs)
    store = Store(study.results)
    tables = study.read(store)
    result = study.result(tables, store)
    n_missing = sum(not _done(table) for table in tables.values())
    result.counts = Counts(cells=len(study.cells), missing=n_missing)
    return result


class _Study:
    """The data sets and cells that configurations stand for."""

    def __init__(self, configs: Sequence[Mapping[str, Any]]):
        if not configs:
            raise BadInputError("a study needs at least one data set and one ranker")
        folders = sorted({str(config["paths"]["results"]) for config in configs})
        if len(folders) > 1:
            raise BadInputError(f"a study has one results folder, not {len(folders)}: {', '.join(folders)}")
        self.results = folders[0]
        self.data: dict[str, datasets.Dataset] = {}
        # By names: the same cell may stand in a study under two of them, and is run once.
        self.named: dict[tuple[str, str, str, str], Cell] = {}
        loaded: dict[str, datasets.Dataset] = {}
        checked = set()
        for config in configs:
            for key in ("learner", "multilabel_learner"):  # before the data, which may take long to read
                if config["protocol"].get(key):
                    make_learner(config["protocol"][key], key=key)
            local_data = config["paths"]["local_data"]
            cache = config["paths"].get("cache")
            source = json.dumps([config["dataset"], str(local_data), cache], sort_keys=True, default=str)
            if source not in loaded:
                loaded[source] = datasets.load(config["dataset"], local_data, cache=cache)
            data, n_splits = loaded[source], config["protocol"]["n_splits"]
            learner_of(config["protocol"], data.task)
            if (source, n_splits) not in checked:
                checked.add((source, n_splits))
                check_classes(data.y, n_splits=n_splits, class_names=data.class_names, dataset=data.name)
            self.data[data.checksum] = data
            for cell in cells_of(config, checksum=data.checksum, task=data.task):
                self.named[cell.key, cell.dataset, cell.ranker, cell.protocol] = cell
        self.cells = {cell.key: cell for cell in self.named.values()}

    def read(self, store: Store) -> dict[str, pa.Table | None]:
        return {key: store.read_table(key) for key in self.cells}

    def biggest_first(self, cells: Iterable[Cell]) -> list[Cell]:
        """Order cells so that the last ones to run are short: the workers end at about the same time."""

        def size(cell: Cell) -> int:
            X = self.data[cell.checksum].X
            return X.shape[0] * (X.nnz if hasattr(X, "nnz") else X.size)

        return sorted(cells, key=size, reverse=True)

    def result(self, tables: Mapping[str, pa.Table | None], store: Store) -> StudyResult:
        parts, failures = [to_table([])], []
        for cell in self.named.values():
            table = tables[cell.key]
            if table is None:
                continue
            for name in ("dataset", "ranker", "protocol"):
                place = table.schema.get_field_index(name)
                names = pa.array([getattr(cell, name)] * table.num_rows, type=pa.string())
                table = table.set_column(place, table.schema.field(name), names)
            parts.append(table)
            for row in table.select(["fold", "status", "error"]).to_pylist():
                if row["status"] != "ok":
                    failures.append(_failure(cell, row["fold"], row["error"]))
        return StudyResult(to_frame(pa.concat_tables(parts)), failures, set_aside=list(store.set_aside))


def _run(
    study: _Study, phases: Sequence[Sequence[Cell]], n_workers: int, progress: Progress
) -> list[Outcome]:
    """Run the cells, phase after phase; say at once what fails."""
    cells = [cell for phase in phases for cell in phase]
    outcomes: list[Outcome] = []
    desk = Desk()
    progress.start(cells, n_workers, desk.labels)
    try:
        with warnings.catch_warnings():
            # Workers are renewed now and then to give memory back, and joblib warns of it: no news to anyone.
            warnings.filterwarnings(
                "ignore", message="A worker stopped while some jobs", category=UserWarning
            )
            for phase in phases:
                launched = launch(study.biggest_first(phase), study.data, study.results, n_workers, desk)
                with closing(launched):
                    for outcome in launched:
                        outcomes.append(outcome)
                        progress.done(outcome.cell, outcome.seconds)
                        if outcome.failures:
                            logger.error("%s", _told(outcome))
    except KeyboardInterrupt:
        if n_workers > 1:
            end_workers()
        progress.stop()
        n_done = sum(outcome.cell.kind == "ranking" for outcome in outcomes)
        progress.note(
            f"stopped; {n_done} cells were finished and are kept in {study.results}, "
            f"{len(phases[-1]) - n_done} are left: the same command goes on from there"
        )
        raise
    finally:
        progress.stop()
        desk.close()
    return outcomes


def _done(table: pa.Table | None) -> bool:
    return table is not None and all_ok(table)


def _failure(cell: Cell, fold: int | None, error: str) -> Failure:
    return Failure(cell.dataset, cell.ranker, cell.protocol, cell.repeat, fold, error, cell.key)


def _told(outcome: Outcome) -> str:
    fold, error = outcome.failures[0]
    what = "no rows" if fold is None else f"{len(outcome.failures)} of {outcome.cell.n_splits} folds failed"
    return f"{outcome.cell.label}: {what}: {first_line(error)}"


def _closing_words(result: StudyResult) -> list[str]:
    lines = []
    if result.warnings:
        kinds = [f"{n} × {kind}: {line}" for (kind, line), n in result.warnings.most_common(_KINDS_SHOWN)]
        more = len(result.warnings) - len(kinds)
        lines.append(
            f"{result.warnings.total()} warnings while cells ran: {'; '.join(kinds)}"
            + (f"; and {more} other kinds" if more > 0 else "")
        )
    undefined = result.frame[(result.frame["status"] == "ok") & result.frame["aurf1_micro"].isna()]
    if len(undefined):
        names = ", ".join(undefined["dataset"].unique())
        lines.append(
            f"rF1 is undefined in {len(undefined)} folds, where the F1 of all features is 0: {names}"
        )
    if result.failures:
        places = defaultdict(list)
        for each in result.failures:
            places[each.dataset, each.ranker, each.protocol, first_line(each.error)].append(each)
        lines.append(f"failed: {len(result.failures)} (run again to try just these again)")
        for (dataset, ranker, protocol, error), failures in places.items():
            lines.append(f"  {dataset} × {ranker or 'all features'} ({protocol}), {len(failures)} ×: {error}")
    if result.set_aside:
        lines.append(f"set aside, not read as data: {len(result.set_aside)} files")
        lines += [f"  {each.moved_to}: {each.reason}" for each in result.set_aside]
    return lines
