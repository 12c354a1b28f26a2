"""Cells: what one is, and its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.datasets.assignment import Assignment
from experiments.errors import ConfigError
from experiments.evaluation.filling import VERSION
from experiments.evaluation.versions import name_in_keys, versions
from experiments.rankers.missing import leaving_missing
from experiments.schema import ROWS_VERSION
from experiments.store.keys import cell_key
from experiments.tasks import TASKS

#: Settings that never decide numbers, so changing them runs nothing again.
_INDIFFERENT = ("display_name", "n_jobs", "verbose")


@dataclass(frozen=True, slots=True)
class Cell:
    """Data set × ranker × repeat, or data set × repeat for the score of all features.

    A cell that measures something else than a ranking takes all samples at once, as one fold.

    Attributes
    ----------
    key : str
        SHA-256 of what decides its numbers; names its file.
    kind : str
        "ranking" or "all_features".
    checksum : str
        Of the data set.
    task : str
        The data set's, a key of :data:`experiments.tasks.TASKS`.
    dataset, ranker, protocol : str
        Names for people, not part of the key. ``ranker`` is "" for kind "all_features".
    repeat : int
        From 0.
    seed : int
        The study's.
    n_splits, grid_points : int
        As in the protocol.
    learner : dict
        The protocol's learner block for the task.
    ranker_block : dict
        The ranker's settings; empty for kind "all_features".
    versions : dict
        Package → version, as in the key.
    reference : Cell or None
        For kind "ranking", the cell with the score of all features in the same folds.
    measure : dict
        The protocol's ``measure`` block; empty for kinds "ranking" and "all_features".
    informative : tuple of int
        For a measurement, the features that are known to decide the target.
    assignment : Assignment or None
        Groups of samples, or their folds, where the data set states them; part of the key.
    gaps : tuple of tuple of int, or None
        Where values of the data set are missing (``dataset.missing=ranker``): columns of one nominal feature each,
        by which they are filled in; part of the key.
    """

    key: str
    kind: str
    checksum: str
    task: str
    dataset: str
    ranker: str
    protocol: str
    repeat: int
    seed: int
    n_splits: int
    grid_points: int
    learner: dict[str, Any]
    ranker_block: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str | None] = field(default_factory=dict)
    reference: Cell | None = None
    measure: dict[str, Any] = field(default_factory=dict)
    informative: tuple[int, ...] = ()
    assignment: Assignment | None = None
    gaps: tuple[tuple[int, ...], ...] | None = None

    @property
    def label(self) -> str:
        """The cell in words."""
        return f"{self.dataset} × {self.ranker or 'all features'}, repeat {self.repeat}"


def learner_of(protocol: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Return the learner block of a protocol for a task.

    Parameters
    ----------
    protocol : mapping
        A block of ``conf/protocol``.
    task : str
        A key of :data:`experiments.tasks.TASKS`.

    Returns
    -------
    dict

    Raises
    ------
    ConfigError
        If the protocol has none for this task, or there is no such task.
    """
    if task not in TASKS:
        raise ConfigError(f"no protocol for the task {task!r} (only {', '.join(TASKS)})")
    key = TASKS[task].learner
    if not protocol.get(key):
        raise ConfigError(
            f"the protocol {protocol['name']} has no learner for the task {task}; "
            f"state protocol.{key}: {{_target_: package.module.Class, …}} in its YAML file"
        )
    return dict(protocol[key])


def cells_of(
    config: Mapping[str, Any],
    *,
    checksum: str,
    task: str,
    informative: Sequence[int] = (),
    assignment: Assignment | None = None,
    gaps: tuple[tuple[int, ...], ...] | None = None,
) -> list[Cell]:
    """Return the cells of one configuration, one per repeat: rankings, or what the protocol measures instead.

    Parameters
    ----------
    config : mapping
        One resolved configuration (``experiments.config``).
    checksum : str
        Of the loaded data set.
    task : str
        The data set's task.
    informative : sequence of int
        Features known to decide the target. They are part of the key of a measurement, where there are any.
    assignment : Assignment, optional
        Of the loaded data set; part of the keys of rankings and their references where there is one.
    gaps : tuple of tuple of int, optional
        Of the loaded data set, where values are missing; part of the keys. Rankers with a parameter ``missing``
        are then configured to ignore missing values, unless their configuration states it.

    Returns
    -------
    list of Cell
        Rankings each with its reference. The reference's key leaves out the ranker and the grid, so all rankers,
        and protocols that differ in the grid alone, share it. Neither key knows the number of repeats: more can be
        asked for later.
    """
    if gaps is not None:
        config = {**config, "ranker": leaving_missing(config["ranker"])}
    protocol, ranker = config["protocol"], config["ranker"]
    if protocol.get("measure"):
        return _measurements(config, checksum, task, tuple(informative), gaps)
    learner, of_folds = learner_of(protocol, task), TASKS[task].fold_packages
    common = {
        "rows_version": ROWS_VERSION,
        "checksum": checksum,
        "task": task,
        "n_splits": protocol["n_splits"],
        "learner": _deciding(learner),
        "seed": config["seed"],
    }
    if assignment is not None:
        common["assignment"] = assignment.digest
    if gaps is not None:
        common["filled"] = _filling(gaps)
    of_task = [f"evaluation.{task}"]
    of_learner = versions(learner, also=of_folds, numbers=of_task)
    of_both = versions(learner, ranker, also=of_folds, numbers=[*of_task, "evaluation.ranking"])
    content = {
        **common,
        "kind": "ranking",
        "ranker": _deciding(ranker),
        "grid_points": protocol["grid_points"],
        "versions": of_both,
    }
    repeats = range(protocol["n_repeats"])
    of_reference = {**common, "kind": "all_features", "versions": of_learner}
    # What all repeats have in common is one object: there may be 100,000 cells.
    shared = {
        "checksum": checksum,
        "task": task,
        "dataset": config["dataset_key"],
        "protocol": protocol["name"],
        "seed": config["seed"],
        "n_splits": protocol["n_splits"],
        "learner": learner,
        "grid_points": protocol["grid_points"],
        "assignment": assignment,
        "gaps": gaps,
    }
    of_ranking = {**shared, "ranker": config["ranker_key"], "ranker_block": dict(ranker), "versions": of_both}
    made = []
    for repeat in repeats:
        reference = Cell(
            key=cell_key({**of_reference, "repeat": repeat}),
            kind="all_features",
            ranker="",
            repeat=repeat,
            versions=of_learner,
            **shared,
        )
        key = cell_key({**content, "repeat": repeat})
        made.append(Cell(key=key, kind="ranking", repeat=repeat, reference=reference, **of_ranking))
    return made


def _measurements(
    config: Mapping[str, Any],
    checksum: str,
    task: str,
    informative: tuple[int, ...],
    gaps: tuple[tuple[int, ...], ...] | None,
) -> list[Cell]:
    """Return the cells of a protocol that measures all samples at once; the kind is the measure's name."""
    protocol, ranker, measure = config["protocol"], config["ranker"], config["protocol"]["measure"]
    kind, packages = measure["_target_"].rpartition(".")[2], versions(measure, ranker)
    made = []
    for repeat in range(protocol["n_repeats"]):
        content = {
            "rows_version": ROWS_VERSION,
            "checksum": checksum,
            "task": task,
            "kind": kind,
            "measure": {**measure, "_target_": name_in_keys(measure["_target_"])},
            "ranker": _deciding(ranker),
            "repeat": repeat,
            "seed": config["seed"],
            "versions": packages,
        }
        if informative:
            content["informative"] = list(informative)
        if gaps is not None:
            content["filled"] = _filling(gaps)
        made.append(
            Cell(
                key=cell_key(content),
                kind=kind,
                checksum=checksum,
                task=task,
                dataset=config["dataset_key"],
                ranker=config["ranker_key"],
                protocol=protocol["name"],
                repeat=repeat,
                seed=config["seed"],
                n_splits=1,
                grid_points=0,
                learner={},
                ranker_block=dict(ranker),
                versions=packages,
                measure=dict(measure),
                informative=informative,
                gaps=gaps,
            )
        )
    return made


def _filling(gaps: tuple[tuple[int, ...], ...]) -> dict[str, Any]:
    return {"version": VERSION, "nominal": [list(each) for each in gaps]}


def _deciding(block: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key not in _INDIFFERENT}
