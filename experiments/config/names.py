"""Names of rankers with a target distance, and the names that tables and figures show for what was composed.

A ranker is one file, or a file and a target distance (``relieff_absmean_f1``): ten multi-label rankers and
six target distances are 60 rankers from 16 files. A changed block is named after its file and the changes
(``relieff[n_neighbors=5]``): equal names, equal settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.config.overrides import Override, Part, check_name, one_line, shown
from experiments.config.validation import read_yaml
from experiments.errors import ConfigError, meant, wrong_name
from experiments.locate import locate, parameter_names

#: The group, and the ranker's parameter that it sets.
DISTANCE = "target_distance"

#: Settings that never decide numbers, so they are not part of a name.
_NAMELESS = ("display_name", "n_jobs", "_partial_", "verbose", "name")

#: Settings of your own data that its file's name stands for, as long as the name is unique in the study.
_STANDING = ("path", "target", "features")


@dataclass(frozen=True)
class RankerNames:
    """The YAML files of rankers and of target distances, by name, and the default ranker."""

    files: Mapping[str, Path]
    distances: Mapping[str, Path]
    default: str

    def split(self, name: str) -> tuple[str, str | None]:
        """Return the name of the ranker's file, and of its target distance if it has one."""
        base, _, distance = name.rpartition("_")
        if name in self.files:
            return name, None
        if base in self.files and distance in self.distances and self._takes_distance(base):
            return base, distance
        made = [] if distance in self.distances else [f"{base}_{each}" for each in self.distances]
        hint = meant(name, [*self.files, *(made if base in self.files else ())])
        raise ConfigError(
            f"unknown ranker {name!r}{hint}\nvalid: {', '.join(self.files)}; for labels, relieff…, reliefe…, surf "
            f"and multisurf with {', '.join(f'_{each}' for each in self.distances)} behind them too"
        )

    def _takes_distance(self, base: str) -> bool:
        block = read_yaml(self.files[base])
        if block.get("compatible"):  # as another library has it, which has no label sets
            return False
        try:
            return DISTANCE in parameter_names(locate(block.get("_target_", "")))[0]
        except ConfigError:  # of a package that is not installed
            return False

    def with_distances(self, part: Part) -> Part:
        """Replace ``ranker=a,b target_distance=x,y`` by the names of the rankers that these make."""
        if DISTANCE not in part:
            return part
        wanted, part = part[DISTANCE], {key: values for key, values in part.items() if key != DISTANCE}
        if "ranker._target_" in part:
            raise ConfigError(
                f"{wanted[0].typed}: the ranker given by ranker._target_ takes it as ranker.{DISTANCE}=…"
            )
        for each in wanted:
            check_name(each, self.distances)
            if each.value not in self.distances:
                raise wrong_name(DISTANCE, each.value, self.distances)
        names = []
        for ranker in part.get("ranker") or [Override("ranker", self.default)]:
            check_name(ranker, self.files)
            base, distance = self.split(ranker.value)
            if distance is not None:
                raise ConfigError(
                    f"{ranker.typed} has a target distance already: leave out {wanted[0].typed}"
                )
            if not self._takes_distance(base):
                raise ConfigError(
                    f"ranker={base} compares no label sets, so {wanted[0].typed} means nothing to it\n"
                    f"valid: {', '.join(each for each in self.files if self._takes_distance(each))}"
                )
            names += [f"{base}_{each.value}" for each in wanted]
        rankers = [Override("ranker", name) for name in dict.fromkeys(names)]
        return {**part, "ranker": rankers} if "ranker" in part else {"ranker": rankers, **part}

    def without_distances(self, rankers: Sequence[Override]) -> list[Override]:
        """Return the rankers without their target distances, each once."""
        return [
            Override("ranker", name) for name in dict.fromkeys(self.split(each.value)[0] for each in rankers)
        ]


def named(
    group: str, chosen: str, stock: Mapping[str, Any], block: dict[str, Any], changes: Sequence[Override]
) -> str:
    """Return the name of a changed block, and put it into the block where the user has not named it."""
    if group in ("paths", "launcher"):
        return chosen
    # Another target is another ranker and not a variant of the file's; ``_target_`` then needs no mention.
    foreign = group == "ranker" and any(each.key == "ranker._target_" for each in changes)
    name = block["_target_"].rpartition(".")[2] if foreign else chosen
    own_file = _own_file(group, stock, block)
    if own_file is not None:
        name = block["name"] = own_file if block["name"] == stock["name"] else block["name"]
    differing = []
    for each in sorted(changes, key=lambda change: change.key):
        path = said = each.key.split(".")[1:]
        if own_file is not None and path[0] == "source" and len(path) > 1:
            if path[1] in _STANDING:
                continue
            said = path[1:]
        if path[-1] in _NAMELESS or (foreign and path == ["_target_"]):
            continue
        now, before = _value_at(block, path), _value_at(stock, path)
        if foreign or now != before or isinstance(now, bool) != isinstance(before, bool):
            differing.append(f"{'.'.join(said)}={shown(now)}")
    suffix = f"[{','.join(differing)}]" if differing else ""
    typed = {each.key for each in changes}
    if group == "ranker" and suffix and "ranker.display_name" not in typed:
        block["display_name"] += f" {suffix}"
    if group in ("dataset", "protocol") and f"{group}.name" not in typed:
        block["name"] += suffix
    return name + suffix


def _own_file(group: str, stock: Mapping[str, Any], block: Mapping[str, Any]) -> str | None:
    """Return the name of the file typed for a data set whose YAML file leaves the path open."""
    if group != "dataset" or not isinstance(stock.get("source"), Mapping):
        return None
    path = block["source"].get("path")
    is_open = stock["source"].get("path", "") is None
    return one_line(Path(path).name) if is_open and isinstance(path, str) else None


def _value_at(node: Any, path: Sequence[str]) -> Any:
    for part in path:
        node = node.get(part, ...) if isinstance(node, dict) else ...
    return node


def with_changes(study: str, typed: Part) -> str:
    """Name a study after its file and the typed changes, such as ``mcc[dataset=chess+madelon]``."""
    changes = [
        f"{key}={'+'.join(sorted(one_line(shown(each.value)) for each in values))}"
        for key, values in sorted(typed.items())
        if key.partition(".")[0] not in ("study", "paths", "launcher")
    ]
    return f"{study}[{','.join(changes)}]" if changes else study


def make_names_distinct(configs: Sequence[dict[str, Any]]) -> None:
    """Change names in place where different rankers, or different files, of a study have the same one."""
    targets: dict[str, set[str]] = {}
    sources: dict[str, list[dict[str, Any]]] = {}
    for config in configs:
        targets.setdefault(config["ranker_key"], set()).add(config["ranker"]["_target_"])
        source, alike = config["dataset"].get("source") or {}, sources.setdefault(config["dataset_key"], [])
        if source not in alike:
            alike.append(source)
    for config in configs:
        key, ranker, dataset = config["ranker_key"], config["ranker"], config["dataset"]
        short = ranker["_target_"].rpartition(".")[2]
        if len(targets[key]) > 1 and key.startswith(short):  # a.Mine and b.Mine
            config["ranker_key"] = ranker["_target_"] + key.removeprefix(short)
            if ranker["display_name"].startswith(short):
                ranker["display_name"] = ranker["_target_"] + ranker["display_name"].removeprefix(short)
        if differing := _differing(dataset.get("source") or {}, sources[config["dataset_key"]]):
            config["dataset_key"] += f"[{','.join(differing)}]"
            dataset["name"] += f"[{','.join(differing)}]"


def _differing(source: Mapping[str, Any], alike: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the path and target of a source that others do not have; where these are the same, its reader."""

    def settings(each: Mapping[str, Any]) -> dict[str, str]:
        values = {key: shown(each.get(key)) for key in _STANDING}
        return values | {"reader": str(each.get("_target_", "")).rpartition(".")[2]}

    own, others = settings(source), [settings(each) for each in alike if each != source]
    keys = [key for key in _STANDING if any(each[key] != own[key] for each in others)]
    if any(all(each[key] == own[key] for key in keys) for each in others):
        keys.append("reader")
    return [f"{key}={own[key]}" for key in keys if any(each[key] != own[key] for each in others)]
