"""What a study asks for → groups that are compared within themselves: one protocol and one kind of target each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from experiments.analysis.selection import PAIR, expected_of
from experiments.formatting import BRANCH_OF, BRANCHES, count
from experiments.tasks import TASKS, Task

#: Where a ranker's number of iterations stands in its block.
_ITERATIONS = "n_iterations"


@dataclass(frozen=True)
class Group:
    """Data sets × rankers that may be compared.

    Attributes
    ----------
    name : str
        Of the study, with the kind of target and the protocol where the study has several.
    study : str
        Name of the study.
    protocol : str
        Name of the protocol.
    task : str
        A key of :data:`experiments.tasks.TASKS`.
    expected : DataFrame
        From :func:`experiments.analysis.selection.expected_of`.
    labels : dict
        Ranker → name to show, in the study's order.
    families : DataFrame
        One line per ranker: ``ranker``, ``family`` (the ranker whatever its number of iterations), ``label`` (of
        the family), ``n_iterations`` (NaN: every sample once), ``branch`` (whose ranker it is), ``panel``
        and ``variant`` (the label of a multi-label ranker without its target distance, and that distance; else the
        label and "").
    datasets : dict
        Data set → its block in the configuration.
    absent : dict
        Data set that is not here → why.
    also : tuple of str
        Rankers that were added to those of the study: all their pairs are tested.
    targets : dict of str to str
        Ranker → its ``_target_``.
    max_rows : int or None
        How many samples of a data set the protocol uses at most; None means all.
    """

    name: str
    study: str
    protocol: str
    task: str
    expected: pd.DataFrame
    labels: dict[str, str]
    families: pd.DataFrame
    datasets: dict[str, dict[str, Any]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    targets: dict[str, str] = field(default_factory=dict)
    max_rows: int | None = None

    @property
    def kind(self) -> Task:
        """The kind of target, and what its score is called."""
        return TASKS[self.task]

    @property
    def varies_iterations(self) -> bool:
        """Whether the same ranker is asked for with several numbers of iterations."""
        return bool(self.families.groupby("family")[_ITERATIONS].nunique(dropna=False).gt(1).any())

    @property
    def extent(self) -> str:
        """Protocol, folds, repeats and samples in words."""
        first = self.expected.iloc[0]
        folds, repeats = int(first["n_splits"]), int(first["n_repeats"])
        samples = "" if self.max_rows is None else f", a random subset of at most {self.max_rows:,} samples"
        return f"{self.protocol}: {count(folds, 'fold')} × {count(repeats, 'repeat')}{samples}"


def groups_of(configs: Iterable[Mapping[str, Any]], absent: Mapping[str, str] | None = None) -> list[Group]:
    """Divide a study into groups.

    In the order of the configurations.
    """
    configs = [config for config in configs if not config["protocol"].get("measure")]
    parts: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for config in configs:
        parts.setdefault((config["protocol"]["name"], _task(config["dataset"])), []).append(config)
    tasks, protocols = {task for _, task in parts}, {protocol for protocol, _ in parts}
    made = []
    for (protocol, task), mine in parts.items():
        study = str(mine[0].get("study") or "run")
        names = [study, *([task] if len(tasks) > 1 else []), *([protocol] if len(protocols) > 1 else [])]
        expected = expected_of(mine)
        datasets = {config["dataset_key"]: dict(config["dataset"]) for config in mine}
        made.append(
            Group(
                name="_".join(names),
                study=study,
                protocol=protocol,
                task=task,
                expected=expected,
                labels=_labels(expected),
                families=_families(mine),
                datasets=datasets,
                absent={name: why for name, why in (absent or {}).items() if name in datasets},
                also=tuple(dict.fromkeys(config["ranker_key"] for config in mine if config.get("also"))),
                targets={config["ranker_key"]: str(config["ranker"].get("_target_")) for config in mine},
                max_rows=mine[0]["protocol"].get("max_rows"),
            )
        )
    return made


def _task(dataset: Mapping[str, Any]) -> str:
    """Name the kind of target of a data set; one that does not state it has labels if it names several columns."""
    if dataset["task"] != "auto":
        return str(dataset["task"])
    target = (dataset.get("source") or {}).get("target")
    return "multilabel" if isinstance(target, list | tuple) and len(target) > 1 else "multiclass"


def _labels(expected: pd.DataFrame) -> dict[str, str]:
    """Name every ranker; two with one display name on different data sets have the typed name beside it."""
    names = expected.drop_duplicates("ranker").set_index("ranker")["display_name"]
    shared = names.duplicated(keep=False)
    both = names + " (" + names.index + ")"
    return names.mask(shared, both).to_dict()


def _families(configs: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    lines = {}
    for config in configs:
        n_iterations = config["ranker"].get(_ITERATIONS)
        changed = f"{_ITERATIONS}={n_iterations}"
        lines[config["ranker_key"]] = {
            "ranker": config["ranker_key"],
            "family": _without(config["ranker_key"], changed),
            "label": _without(str(config["ranker"].get("display_name") or config["ranker_key"]), changed),
            _ITERATIONS: float("nan") if n_iterations is None else float(n_iterations),
            "branch": branch_of(str(config["ranker"].get("_target_"))),
            **_variant(config["ranker"], config["ranker_key"]),
        }
    columns = ["ranker", "family", "label", _ITERATIONS, "branch", "panel", "variant"]
    return pd.DataFrame(list(lines.values()), columns=columns)


def _variant(ranker: Mapping[str, Any], key: str) -> dict[str, str]:
    label, distance = str(ranker.get("display_name") or key), ranker.get("target_distance")
    name, bracket, rest = label.partition(" (")
    if distance is None or not bracket:
        return {"panel": label, "variant": ""}
    said, _, more = rest.partition(")")  # such as " [n_neighbors=5]"
    return {"panel": name + more, "variant": said}


def branch_of(target: str) -> str:
    """Say which branch of rankers one belongs to.

    One of :data:`BRANCHES`.
    """
    return next((branch for start, branch in BRANCH_OF.items() if target.startswith(start)), BRANCHES[-1])


def _without(name: str, changed: str) -> str:
    """Take one change out of a name such as ``relieff[n_iterations=4,n_neighbors=5]``."""
    head, bracket, tail = name.partition("[")
    if not bracket:
        return name
    rest = [part for part in tail.rstrip("]").split(",") if part.strip() != changed]
    return f"{head}[{','.join(rest)}]" if rest else head.strip()


def missing_of(covered: pd.DataFrame, group: Group, frame: pd.DataFrame) -> pd.DataFrame:
    """List every data set × ranker that is not compared, and why.

    ``dataset``, ``ranker``, ``display_name``, ``state`` ("absent": the data set is not here; "timeout",
    "out_of_memory" or "failed": what the first bad fold is; "missing": not run, or not all of it), ``reason``
    (in words).
    """
    bad = frame[frame["status"] != "ok"].drop_duplicates(PAIR)
    states = bad.set_index(PAIR)["status"].to_dict()
    lines = []
    for line in covered[~covered["complete"]].to_dict("records"):
        absent = line["dataset"] in group.absent
        state = "absent" if absent else states.get(tuple(line[name] for name in PAIR), "missing")
        # Why it is not here tells of folders of this machine, which have no place in a table.
        reason = "the data set is not available" if absent else line["reason"]
        lines.append([line["dataset"], line["ranker"], group.labels[line["ranker"]], state, reason])
    return pd.DataFrame(lines, columns=["dataset", "ranker", "display_name", "state", "reason"])


def missing_in_words(missing: pd.DataFrame, group: Group) -> list[str]:
    """Say what is missing as shortly as nothing is left out.

    Whole data sets first, then rankers, those that lack the same in one line; [] when nothing is missing.
    """
    n_of = group.expected.groupby("dataset", sort=False)["ranker"].nunique()
    alike = missing.groupby("dataset", sort=False)["state"].agg(["size", "nunique", "first"])
    alike = alike[(alike["size"] == n_of.reindex(alike.index)) & (alike["nunique"] == 1)]
    lines = [
        f"{_WHOLE[state]}: {', '.join(map(str, part.index))}"
        for state, part in sorted(alike.groupby("first"), key=lambda each: list(_WHOLE).index(each[0]))
    ]
    rest = missing[~missing["dataset"].isin(alike.index)]
    n_left = len(n_of) - len(alike)
    lacking: dict[str, list[str]] = {}
    for ranker, mine in rest.groupby("ranker", sort=False):
        label = group.labels[str(ranker)]
        by_state = {
            _SAID[str(state)]: list(part["dataset"]) for state, part in mine.groupby("state", sort=False)
        }
        if len(mine) == n_left and len(by_state) == 1:
            told = f"{next(iter(by_state))} everywhere"
        else:
            told = "; ".join(f"{', '.join(datasets)} ({said})" for said, datasets in by_state.items())
        lacking.setdefault(told, []).append(label)
    return lines + [f"{', '.join(labels)}: {told}" for told, labels in lacking.items()]


_WHOLE = {
    "absent": "data sets not available",
    "missing": "not run, or not all of it",
    "failed": "failed with every ranker",
    "timeout": "every ranker stopped by the time limit",
    "out_of_memory": "every ranker stopped by the memory limit",
}
_SAID = {
    "absent": "data set not available",
    "missing": "not run, or not all of it",
    "failed": "failed",
    "timeout": "stopped by the time limit",
    "out_of_memory": "stopped by the memory limit",
}
