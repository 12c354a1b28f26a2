"""A study: the cells that configurations stand for, and which of them are missing."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from experiments import datasets
from experiments.datasets.caution import cautions
from experiments.datasets.loading import subsample
from experiments.errors import BadInputError, MissingFileError
from experiments.evaluation.cell import Cell, cells_of, learner_of
from experiments.evaluation.evaluate import make_learner
from experiments.evaluation.splits import check_assignment, check_classes, check_numbers
from experiments.execution.known_data import KnownData, digest_of, n_classes_of, read_known
from experiments.locate import locate
from experiments.paths import check_folder, source_blocks
from experiments.rankers.fitting import Limits
from experiments.rankers.refusals import refusal
from experiments.store.rows import is_settled
from experiments.store.store import Store
from experiments.tasks import TASKS

logger = logging.getLogger(__name__)

#: Readers of data that users name on the command line.
_OWN = "experiments.datasets.own."


class Study:
    """The data sets and cells that configurations (``experiments.config``) stand for; all is checked at once.

    ``skip_absent``: data sets that cannot be had are left out instead of being an error. ``to_run``: missing
    cells are to be run, so data sets of published rows whose files are not here are left unread only where all
    of their cells in this study are done. BadInputError: data that cannot be loaded or split, a learner that
    cannot be made, a ranker that cannot take what a data set holds, two results folders, no data set left.
    """

    results: str
    data: dict[str, datasets.Dataset]  # by checksum
    known: dict[str, KnownData]  # by checksum: data sets that were not read
    feature_names: dict[str, tuple[str, ...]]  # by name of a data set that was read
    absent: dict[str, str]  # name of a data set that was left out → why
    #: By key, data set, ranker and protocol: the same cell may have two names, and is run once.
    named: dict[tuple[str, str, str, str], Cell]
    cells: dict[str, Cell]  # by key

    def __init__(
        self, configs: Sequence[Mapping[str, Any]], *, skip_absent: bool = False, to_run: bool = False
    ):
        if not configs:
            raise BadInputError("a study needs at least one data set and one ranker")
        folders = sorted({str(config["paths"]["results"]) for config in configs})
        if len(folders) > 1:
            raise BadInputError(f"a study has one results folder, not {len(folders)}: {', '.join(folders)}")
        self.results = folders[0]
        for place in ("", "rows", "rows/packs"):
            check_folder(Path(self.results) / place, "results")
        self.data = {}
        self.known = {}
        self.feature_names = {}
        self.absent = {}
        self.named = {}
        # Of data sets without labels, where they mean nothing.
        distances: dict[tuple[str, str], set[str]] = defaultdict(set)
        checked: set[tuple[Any, ...]] = set()
        # Before the data are read, which tells what "auto" is and may take long.
        _check_tasks(config for config in configs if config["dataset"].get("task") in TASKS)
        loader = _Loader(configs, Store(self.results) if to_run else None)
        for config in configs:
            for key in (task.learner for task in TASKS.values()):
                if config["protocol"].get(key):
                    make_learner(config["protocol"][key], key=key)
            if config["dataset_key"] in self.absent:
                continue
            try:
                data = loader.load(config)
            except MissingFileError as error:
                if not skip_absent:
                    raise
                self.absent[config["dataset_key"]] = str(error)
                continue
            _check_tasks([config], data)
            if data.task != "multilabel" and "target_distance" in config["ranker"]:
                distance = json.dumps(config["ranker"]["target_distance"], default=str)
                distances[config["dataset_key"], TASKS[data.task].target].add(distance)
            if measure := config["protocol"].get("measure"):  # which has neither learner nor folds
                _check_measure(measure, config, data)
            else:
                learner_of(config["protocol"], data.task)
                split = (*_drawn(config), config["protocol"]["n_splits"], config["protocol"]["n_repeats"])
                if isinstance(data, datasets.Dataset) and split not in checked:
                    # More repeats of the same folds have the same classes.
                    told = any(each[:-1] == split[:-1] for each in checked)
                    checked.add(split)
                    _check_split(data, config, again=told)
            if isinstance(data, datasets.Dataset):
                self.data[data.checksum] = data
                self.feature_names[config["dataset_key"]] = data.feature_names
            else:
                self.known[data.checksum] = data
            for cell in loader.cells(config):
                self.named[cell.key, cell.dataset, cell.ranker, cell.protocol] = cell
        if self.absent and not self.named:
            reasons = "\n".join(self.absent.values())
            raise BadInputError(f"none of the study's data sets is available ({len(self.absent)})\n{reasons}")
        _check_distances(distances)
        self.cells = {cell.key: cell for cell in self.named.values()}

    @property
    def not_read(self) -> list[str]:
        """Names of the data sets whose rows were found without their files."""
        return list(
            dict.fromkeys(cell.dataset for cell in self.named.values() if cell.checksum in self.known)
        )

    def missing(self, store: Store, limits: Limits) -> list[Cell]:
        """Return the cells to be run, those with folds that were stopped by lower limits too."""
        states = store.states(self.cells)

        def done(key: str) -> bool:
            state = states.get(key)
            if state in (None, "ok", "failed"):
                return state == "ok"
            table = store.read_table(key)  # stopped by a limit, but by which?
            return table is not None and is_settled(table, limits.seconds, limits.memory_mib)

        return [cell for key, cell in self.cells.items() if not done(key)]

    def biggest_first(self, cells: Iterable[Cell]) -> list[Cell]:
        """Order cells so that the last ones are short: the workers end at about the same time."""

        def size(cell: Cell) -> int:
            X = self.data[cell.checksum].X
            return X.shape[0] * (X.nnz if hasattr(X, "nnz") else X.size)

        return sorted(cells, key=size, reverse=True)


def _check_split(data: datasets.Dataset, config: Mapping[str, Any], *, again: bool) -> None:
    """Say before the first cell what a fold would fail with."""
    n_splits, n_repeats = (config["protocol"][key] for key in ("n_splits", "n_repeats"))
    numeric = TASKS[data.task].numeric
    if not (numeric or again):
        check_classes(data.y, n_splits=n_splits, class_names=data.class_names, dataset=data.name)
    if data.assignment is not None:
        check_assignment(data.assignment, n_splits=n_splits, n_repeats=n_repeats, dataset=data.name)
    if numeric:
        check_numbers(
            data.y,
            n_splits=n_splits,
            n_repeats=n_repeats,
            seed=config["seed"],
            assignment=data.assignment,
            dataset=data.name,
        )


class _Loader:
    """Loads each data set once; one of published rows is not read where it is known and its files are not here.

    With a store, the cells of such a data set must be done there; without one, none of them is to be run.
    """

    def __init__(self, configs: Sequence[Mapping[str, Any]], store: Store | None):
        self._configs, self._store = configs, store
        self._published = read_known(Path(str(configs[0]["paths"]["results"])))
        self._loaded: dict[str, datasets.Dataset] = {}
        self._sampled: dict[tuple, datasets.Dataset | KnownData] = {}
        self._gaps: dict[tuple, tuple[tuple[int, ...], ...] | None] = {}

    def load(self, config: Mapping[str, Any]) -> datasets.Dataset | KnownData:
        """Return the data set of a configuration, or what is known of it."""
        drawn = _drawn(config)
        if drawn not in self._sampled:
            self._sampled[drawn] = self._unread(config) or self._read(config)
        return self._sampled[drawn]

    def cells(self, config: Mapping[str, Any]) -> list[Cell]:
        """Return the cells of a configuration whose data set was loaded."""
        drawn = _drawn(config)
        data = self._sampled[drawn]
        if isinstance(data, KnownData):
            return _known_cells(config, data)
        if drawn not in self._gaps:
            self._gaps[drawn] = data.gaps
        return cells_of(
            config,
            checksum=data.checksum,
            task=data.task,
            informative=data.informative,
            assignment=data.assignment,
            gaps=self._gaps[drawn],
        )

    def _read(self, config: Mapping[str, Any], *, download: bool = True) -> datasets.Dataset:
        source, max_rows, seed = _drawn(config)
        if source not in self._loaded:
            paths = config["paths"]
            self._loaded[source] = datasets.load(
                config["dataset"], paths["local_data"], cache=paths.get("cache"), download=download
            )
            own = any(str(each.get("_target_")).startswith(_OWN) for each in source_blocks(config["dataset"]))
            if own and self._store is not None:  # cells are to run
                data = self._loaded[source]
                for line in cautions(data.X, data.y, data.feature_names, grouped=data.assignment is not None):
                    logger.warning("caution: %s: %s", data.name, line)
        return subsample(self._loaded[source], max_rows, seed)

    def _unread(self, config: Mapping[str, Any]) -> datasets.Dataset | KnownData | None:
        """Return the data set if it is published: read where its files are here, else what is known of it."""
        if not self._published:
            return None
        known = self._published.get(digest_of(config) or "")
        if known is None:
            return None
        try:
            return self._read(config, download=False)
        except MissingFileError:
            return known if self._all_done(config, known) else None

    def _all_done(self, config: Mapping[str, Any], known: KnownData) -> bool:
        if self._store is None:
            return True
        drawn = _drawn(config)
        keys = [
            cell.key for each in self._configs if _drawn(each) == drawn for cell in _known_cells(each, known)
        ]
        states = self._store.states(keys)
        return all(states.get(key) == "ok" for key in keys)


def _drawn(config: Mapping[str, Any]) -> tuple[str, int | None, int]:
    """Tell data sets apart: what is read from where, and which random subset of its samples is drawn."""
    paths = config["paths"]
    where = [config["dataset"], str(paths["local_data"]), paths.get("cache")]
    source = json.dumps(where, sort_keys=True, default=str)
    return source, config["protocol"].get("max_rows"), config["seed"]


def _known_cells(config: Mapping[str, Any], data: KnownData) -> list[Cell]:
    return cells_of(config, checksum=data.checksum, task=data.task, informative=data.informative)


def _check_tasks(
    configs: Iterable[Mapping[str, Any]], data: datasets.Dataset | KnownData | None = None
) -> None:
    """Refuse rankers that cannot take what the data sets hold; all of them are named."""
    refused: dict[tuple[str, str], list[str]] = {}
    for config in configs:
        ranker = config["ranker"]
        n_classes = _n_classes(data)
        task = config["dataset"]["task"] if data is None else data.task
        if why := _refusal(json.dumps(ranker, sort_keys=True, default=str), task, n_classes):
            refused.setdefault((config["ranker_key"], why), []).append(config["dataset_key"])
    if refused:
        (name, why), sets = next(iter(refused.items()))
        more = [other for other, _ in list(refused)[1:]]
        also = f"; likewise {', '.join(dict.fromkeys(more))}" if more else ""
        raise BadInputError(
            f"ranker {name} cannot rank {', '.join(dict.fromkeys(sets))}: it {why}{also}\n"
            "leave it out, or run it on other data sets in a study of its own"
        )


def _n_classes(data: datasets.Dataset | KnownData | None) -> int | None:
    if data is None:
        return None
    return n_classes_of(data) if isinstance(data, datasets.Dataset) else data.n_classes


@lru_cache(maxsize=256)
def _refusal(ranker: str, task: str, n_classes: int | None) -> str:
    return refusal(json.loads(ranker), task, n_classes)


def _check_measure(
    measure: Mapping[str, Any], config: Mapping[str, Any], data: datasets.Dataset | KnownData
) -> None:
    """Say before the first cell what every cell of this ranker, or of this data set, would fail with."""
    function = locate(measure["_target_"])
    for key in getattr(function, "needs", ()):
        if key not in config["ranker"]:
            raise BadInputError(
                f"protocol {config['protocol']['name']} cannot measure ranker {config['ranker_key']}, which has no "
                f"{key}: {function.instead}"
            )
    if getattr(function, "needs_informative", False) and not data.informative:
        raise BadInputError(
            f"protocol {config['protocol']['name']} needs to know which features decide the target, and data set "
            f"{config['dataset_key']} does not say (informative: [names] in its YAML)"
        )


def _check_distances(distances: Mapping[tuple[str, str], set[str]]) -> None:
    """Refuse a study that would rank once for every distance between label sets where there are no labels."""
    for (name, target), several in distances.items():
        if len(several) > 1:
            raise BadInputError(
                f"{name} has {target}, for which {len(several)} target distances give the same ranking "
                f"{len(several)} times; leave the distance out (dataset={name} ranker=relieff), or take a "
                "multi-label data set"
            )
