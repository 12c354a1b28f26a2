"""A study: the cells that configurations stand for, and which of them are missing."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments import datasets
from experiments.datasets.sampling import sampled
from experiments.errors import BadInputError, MissingFileError
from experiments.evaluation.cell import Cell, cells_of, learner_of
from experiments.evaluation.evaluate import make_learner
from experiments.evaluation.splits import check_assignment, check_classes, check_numbers
from experiments.execution.worker import is_settled
from experiments.locate import locate
from experiments.paths import check_folder
from experiments.rankers.fitting import Limits
from experiments.rankers.refusals import refusal
from experiments.store.store import Store
from experiments.tasks import TASKS


class Study:
    """The data sets and cells that configurations stand for.

    Parameters
    ----------
    configs : sequence of mapping
        Resolved configurations (``experiments.config``).
    skip_absent : bool, default=False
        Whether data sets that are not here and cannot be had are left out instead of being an error.

    Attributes
    ----------
    results : str
        The results folder.
    data : dict
        Checksum → data set.
    named : dict
        (key, data set, ranker, protocol) → cell; the same cell may stand in a study under two names.
    cells : dict
        Key → cell.
    absent : dict
        Name of a data set left out → why.

    Raises
    ------
    BadInputError
        For a data set that cannot be loaded or split, a learner that cannot be made, a ranker that cannot take what
        a data set holds, two results folders; when no data set is left.
    """

    def __init__(self, configs: Sequence[Mapping[str, Any]], *, skip_absent: bool = False):
        if not configs:
            raise BadInputError("a study needs at least one data set and one ranker")
        folders = sorted({str(config["paths"]["results"]) for config in configs})
        if len(folders) > 1:
            raise BadInputError(f"a study has one results folder, not {len(folders)}: {', '.join(folders)}")
        self.results = folders[0]
        for place in ("", "rows", "rows/packs"):
            check_folder(Path(self.results) / place, "results")
        self.data: dict[str, datasets.Dataset] = {}
        self.absent: dict[str, str] = {}
        # By names: the same cell may stand in a study under two of them, and is run once.
        self.named: dict[tuple[str, str, str, str], Cell] = {}
        loaded: dict[str, datasets.Dataset] = {}
        samples: dict[tuple[str, int | None, int], datasets.Dataset] = {}
        gaps: dict[tuple[str, int | None, int], Any] = {}
        # Of data sets without labels, where they mean nothing.
        distances: dict[tuple[str, str], set[str]] = defaultdict(set)
        checked: set[tuple[Any, ...]] = set()
        # Before the data are read, which tells what "auto" is and may take long.
        _check_tasks(config for config in configs if config["dataset"].get("task") in TASKS)
        for config in configs:
            for key in (task.learner for task in TASKS.values()):
                if config["protocol"].get(key):
                    make_learner(config["protocol"][key], key=key)
            local_data = config["paths"]["local_data"]
            cache = config["paths"].get("cache")
            source = json.dumps([config["dataset"], str(local_data), cache], sort_keys=True, default=str)
            if config["dataset_key"] in self.absent:
                continue
            if source not in loaded:
                try:
                    loaded[source] = datasets.load(config["dataset"], local_data, cache=cache)
                except MissingFileError as error:
                    if not skip_absent:
                        raise
                    self.absent[config["dataset_key"]] = str(error)
                    continue
            max_rows, n_splits = config["protocol"].get("max_rows"), config["protocol"]["n_splits"]
            drawn = (source, max_rows, config["seed"])
            if drawn not in samples:
                samples[drawn] = sampled(loaded[source], max_rows, config["seed"])
                gaps[drawn] = samples[drawn].gaps
            data = samples[drawn]
            _check_tasks([config], data)
            if data.task != "multilabel" and "target_distance" in config["ranker"]:
                distance = json.dumps(config["ranker"]["target_distance"], default=str)
                distances[config["dataset_key"], TASKS[data.task].target].add(distance)
            if measure := config["protocol"].get("measure"):  # which has neither learner nor folds
                _check_measure(measure, config, data)
            else:
                learner_of(config["protocol"], data.task)
                split = (*drawn, n_splits, config["protocol"]["n_repeats"])
                if split not in checked:
                    # More repeats of the same folds have the same classes.
                    told = any(each[:-1] == split[:-1] for each in checked)
                    checked.add(split)
                    _check_split(data, config, again=told)
            self.data[data.checksum] = data
            known: dict[str, Any] = {
                "checksum": data.checksum,
                "task": data.task,
                "informative": data.informative,
                "assignment": data.assignment,
                "gaps": gaps[drawn],
            }
            for cell in cells_of(config, **known):
                self.named[cell.key, cell.dataset, cell.ranker, cell.protocol] = cell
        if self.absent and not self.named:
            reasons = "\n".join(self.absent.values())
            raise BadInputError(f"none of the study's data sets is available ({len(self.absent)})\n{reasons}")
        _check_distances(distances)
        self.cells = {cell.key: cell for cell in self.named.values()}

    def missing(self, store: Store, limits: Limits) -> list[Cell]:
        """Return the cells that are to be run.

        Parameters
        ----------
        store : Store
            What is there.
        limits : Limits
            Folds that were stopped by lower ones are tried again.

        Returns
        -------
        list of Cell
        """
        states = store.states(self.cells)

        def done(key: str) -> bool:
            state = states.get(key)
            if state in (None, "ok", "failed"):
                return state == "ok"
            table = store.read_table(key)  # stopped by a limit, but by which?
            return table is not None and is_settled(table, limits)

        return [cell for key, cell in self.cells.items() if not done(key)]

    def biggest_first(self, cells: Iterable[Cell]) -> list[Cell]:
        """Order cells so that the last ones to run are short: the workers end at about the same time.

        Parameters
        ----------
        cells : iterable of Cell
            Any of this study's.

        Returns
        -------
        list of Cell
        """

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


def _check_tasks(configs: Iterable[Mapping[str, Any]], data: datasets.Dataset | None = None) -> None:
    """Refuse rankers that cannot take what the data sets hold; all of them are named."""
    refused: dict[tuple[str, str], list[str]] = {}
    for config in configs:
        ranker = config["ranker"]
        n_classes = None if data is None or data.task != "multiclass" else len(np.unique(data.y))
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


@lru_cache(maxsize=256)
def _refusal(ranker: str, task: str, n_classes: int | None) -> str:
    return refusal(json.loads(ranker), task, n_classes)


def _check_measure(measure: Mapping[str, Any], config: Mapping[str, Any], data: datasets.Dataset) -> None:
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
