"""From the command line to the configurations of one study.

``conf/`` holds the YAML files, :mod:`experiments.schema` their shapes. Hydra composes ``config.yaml`` and
parses overrides. A block is its file with the overrides laid over it; files of groups have no ``defaults``
list. Wrong input is a ConfigError of one or two lines before anything runs or is written.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from experiments.config import help
from experiments.config.names import DISTANCE, RankerNames, make_names_distinct, named, with_changes
from experiments.config.overrides import (
    Override,
    Part,
    combinations,
    read_arguments,
    read_overrides,
)
from experiments.config.study_file import ALSO, beside, check_one_way, study_parts, without_also
from experiments.config.validation import conforming, read_yaml, typed_source
from experiments.errors import ConfigError, wrong_name
from experiments.locate import RESERVED, is_score_function, locate, parameter_names
from experiments.paths import (
    PROJECT_ROOT,
    base_folder,
    conf_folder,
    search_places,
    source_blocks,
    source_paths,
)
from experiments.schema import DatasetConfig
from experiments.tasks import REGRESSION

__all__ = ["GROUPS", "PROJECT_ROOT", "Plan", "ResolvedConfig", "compose_runs", "names"]

GROUPS = ("dataset", "ranker", "protocol", "paths", "launcher")

#: Groups without a block of their own: a study stands for keys, a target distance for a part of the ranker.
_SHORTHANDS = ("study", DISTANCE)

#: In ``regression`` of a ranker's file, which is laid over it for a numeric target: leave the parameter out.
_OWN_DEFAULT = "???"

#: One run: plain dicts, lists and scalars with the keys dataset, ranker, protocol, paths, launcher, seed, and
#: dataset_key, ranker_key, protocol_key: the chosen names with the changes, ``relieff[n_neighbors=5]``. With
#: the key study, its name, if one was named (``mcc+mine`` with ``also=mine``, ``mcc[dataset=chess]`` for a part
#: of it), and also (true) for a ranker that was named that way.
ResolvedConfig = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What a command line asks for: an action ("run", "status", "help", "show"), runs, and text to print."""

    action: str
    configs: list[ResolvedConfig]
    text: str = ""


def compose_runs(argv: Sequence[str], conf: Path | None = None) -> Plan:
    """Compose every run a command line stands for.

    ``key=a,b`` means both, with or without ``--multirun``; several such keys mean every combination. The order is
    that of the arguments, the last one's values changing fastest. ``study=NAME`` stands for the keys of
    ``conf/study/NAME.yaml``; other typed keys are laid over them. ``also=NAME`` adds a ranker to those of the
    study, or of the command line, on the same data sets under the same protocol.

    Parameters
    ----------
    argv : sequence of str
        Arguments without the program's name.
    conf : Path, optional
        Folder with the YAML files; the project's if not given.

    Returns
    -------
    Plan

    Raises
    ------
    ConfigError
        For anything wrong with a name, a value or a YAML file.
    """
    conf = conf_folder() if conf is None else Path(conf)
    command = read_arguments(argv)
    files = {group: _files(conf, group) for group in (*GROUPS, *_SHORTHANDS)}
    if command.config_dir is not None:
        files = _with_own_files(command.config_dir, files)
    if command.action == "help":
        return Plan("help", [], help.help_text(files, read_yaml(conf / "config.yaml")["defaults"]))
    composer = _Composer(conf, files)
    also, typed = without_also(read_overrides(command.overrides, {**files, ALSO: files["ranker"]}))
    check_one_way(typed)
    study, parts = _study(typed, composer.rankers, files)
    distinct: list[ResolvedConfig] = []
    of_names: dict[tuple[str, ...], list[ResolvedConfig]] = {}
    added: list[ResolvedConfig] = []
    for part in parts:
        runs = [(False, each) for each in combinations(part)]
        runs += [(True, each) for each in combinations(beside(part, also)) if also]
        for is_added, overrides in runs:
            config = composer.run(overrides)
            key = tuple(config[f"{group}_key"] for group in ("dataset", "ranker", "protocol"))
            alike = of_names.setdefault(key, [])
            if config not in alike:
                alike.append(config)
                distinct.append(config)
            if is_added:
                added.append(alike[alike.index(config)])
    make_names_distinct(distinct)
    if study is not None:
        study = "+".join(dict.fromkeys([with_changes(study, typed), *(each["ranker_key"] for each in added)]))
        for config in distinct:
            config["study"] = study
    for config in distinct:
        regression = config["ranker"].pop(REGRESSION, {})
        if config["dataset"]["task"] == REGRESSION:  # after names: under these a ranker is typed
            block = _told(config["ranker"]) | regression
            config["ranker"] = {key: value for key, value in block.items() if value != _OWN_DEFAULT}
    for config in added:
        config["also"] = True
    return Plan(command.action, distinct, help.shown_configs(distinct) if command.action == "show" else "")


def names(conf: Path, group: str) -> list[str]:
    """Return the names of the YAML files of a group, sorted."""
    return list(_files(conf, group))


def _files(folder: Path, group: str) -> dict[str, Path]:
    return {path.stem: path for path in sorted((folder / group).glob("*.yaml"))}


def _with_own_files(typed: str, files: Mapping[str, Mapping[str, Path]]) -> dict[str, dict[str, Path]]:
    """Add the files of ``--config-dir``, which may not have the name of a file of the project."""
    folder = Path(os.path.abspath(Path(typed).expanduser()))
    own = {group: _files(folder, group) for group in files}
    if not any(own.values()):
        what = "there is no folder" if not folder.is_dir() else "no YAML files such as ranker/NAME.yaml in"
        raise ConfigError(f"--config-dir {typed}: {what} {folder}")
    for group, listed in own.items():
        for name in set(listed) & set(files[group]):
            raise ConfigError(
                f"--config-dir {typed}: {group}/{name}.yaml has the name of a file of the project; give it another"
            )
    return {group: dict(sorted({**files[group], **listed}.items())) for group, listed in own.items()}


def _study(
    typed: Part, rankers: RankerNames, files: Mapping[str, Mapping[str, Path]]
) -> tuple[str | None, list[Part]]:
    """Return the name of the study that was typed, if one was, and the parts to run."""
    if "study" not in typed:
        return None, [rankers.with_distances(typed)]
    if len(typed["study"]) > 1:
        raise ConfigError(
            "one study at a time; a study of several is a YAML file with parts (docs/studies.md)"
        )
    study = typed["study"][0].value
    if study not in files["study"]:
        raise wrong_name("study", study, files["study"])
    rest = {key: values for key, values in typed.items() if key != "study"}
    return study, study_parts(files["study"][study], rest, rankers, {group: files[group] for group in GROUPS})


@lru_cache(maxsize=8)
def _root(conf: Path, text: str) -> dict[str, Any]:
    """Compose ``config.yaml``, which has this text: its own keys, and each group's default file."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(conf.resolve()), version_base="1.3"):
            composed = compose("config", return_hydra_config=True)
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        raise ConfigError(
            f"{conf / 'config.yaml'}: {' '.join(str(error.__cause__ or error).split())}"
        ) from error
    own = {str(key): value for key, value in composed.items() if key not in (*GROUPS, "hydra")}
    return own | {group: str(composed.hydra.runtime.choices[group]) for group in GROUPS}


class _Composer:
    """Composes each distinct block once: 14 rankers × 20 data sets are 34 compositions, not 280."""

    def __init__(self, conf: Path, files: Mapping[str, Mapping[str, Path]]) -> None:
        self._files = files
        self._root = _root(conf, (conf / "config.yaml").read_text(encoding="utf-8"))
        self.rankers = RankerNames(files["ranker"], files[DISTANCE], self._root["ranker"])
        self._top_level = [*GROUPS, *_SHORTHANDS, ALSO, *(key for key in self._root if key not in GROUPS)]
        self._stock: dict[tuple[str, str], dict[str, Any]] = {}
        self._blocks: dict[str, tuple[str, dict[str, Any]]] = {}

    def run(self, overrides: Sequence[Override]) -> ResolvedConfig:
        """Compose one run."""
        config: ResolvedConfig = {}
        by_group: dict[str, list[Override]] = {group: [] for group in (*GROUPS, "seed")}
        for each in overrides:
            group = each.key.partition(".")[0]
            if group not in by_group or (group == "seed" and each.key != group):
                raise self._wrong_key(each)
            by_group[group].append(each)
        seed = by_group.pop("seed")[0].value if by_group["seed"] else self._root["seed"]
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**32:
            raise ConfigError(f"seed={seed}: expected a whole number from 0 to {2**32 - 1}")
        keys = {}
        for group in GROUPS:
            asked = repr((group, by_group[group]))
            if asked not in self._blocks:
                self._blocks[asked] = self._block(group, by_group[group])
            keys[group], config[group] = copy.deepcopy(self._blocks[asked])
        config["seed"] = seed
        if seed != self._root["seed"]:  # other folds: not to be mixed with the default ones under one name
            keys["protocol"] += f"[seed={seed}]"
            if not any(each.key == "protocol.name" for each in overrides):
                config["protocol"]["name"] += f"[seed={seed}]"
        config |= {f"{group}_key": keys[group] for group in ("dataset", "ranker", "protocol")}
        _resolve_paths(config, {each.key for each in overrides})
        return config

    def _file(self, group: str, name: str) -> dict[str, Any]:
        """Return the block of one YAML file."""
        if (group, name) not in self._stock:
            file = self._files[group][name]
            block = read_yaml(file)
            if "defaults" in block:
                raise ConfigError(f"{file}: a defaults list has no meaning here; write out the keys")
            block = block if group == DISTANCE else conforming(group, block, str(file))
            self._stock[group, name] = block
        return copy.deepcopy(self._stock[group, name])

    def _block(self, group: str, overrides: Sequence[Override]) -> tuple[str, dict[str, Any]]:
        """Return the name and the block of a file with overrides laid over it."""
        chosen = next((each.value for each in overrides if each.key == group), self._root[group])
        base, distance = self.rankers.split(chosen) if group == "ranker" else (chosen, None)
        if base not in self._files[group]:
            raise wrong_name(group, chosen, self._files[group])
        stock = self._file(group, base)
        if distance is not None:
            of_distance = self._file(DISTANCE, distance)
            shown = f"{stock['display_name']} ({of_distance.pop('display_name', distance)})"
            stock |= {**of_distance, "display_name": shown}
        changes = [_into_source(each, stock) for each in overrides if each.key != group]
        regression = stock.pop(REGRESSION, {}) if group == "ranker" else {}
        block = copy.deepcopy(stock)
        self._lay_over(block, changes, group, chosen)
        if changes:
            block = conforming(group, block, ", ".join(each.typed for each in changes))
        if changes and group == "dataset" and isinstance(block["source"], dict):
            block["source"] = typed_source(block["source"])
        name = named(group, chosen, stock, block, changes)
        typed = {each.key.partition(".")[2] for each in changes}
        if group == "ranker" and "_target_" not in typed:
            block[REGRESSION] = {key: value for key, value in regression.items() if key not in typed}
            if "display_name" in block[REGRESSION]:
                more = str(block["display_name"]).removeprefix(stock["display_name"])
                block[REGRESSION]["display_name"] += more
        return name, block

    def _lay_over(self, block: dict[str, Any], changes: Sequence[Override], group: str, chosen: str) -> None:
        # Targets first, outer ones before inner ones: a typed target takes none of the parameters written for
        # the target that it replaces.
        ordered = sorted(
            changes, key=lambda each: each.key.count(".") if each.key.endswith("._target_") else 99
        )
        for each in ordered:
            *path, last = each.key.split(".")[1:]
            if last == "_target_":
                locate(each.value)
                node = self._node(block, path, each, chosen)
                node.clear()
                node["_target_"] = each.value
        for each in ordered:
            *path, last = each.key.split(".")[1:]
            node = self._node(block, path, each, chosen)
            self._check_key(node, last, each, is_ranker=group == "ranker" and not path)
            both = isinstance(node.get(last), dict) and isinstance(each.value, dict)
            node[last] = _merged(node[last], each.value) if both else each.value

    def _node(
        self, block: dict[str, Any], path: Sequence[str], change: Override, chosen: str
    ) -> dict[str, Any]:
        """Return the block of keys at a path; where an object is typed for a parameter, make one."""
        node, group = block, change.key.partition(".")[0]
        for depth, part in enumerate(path):
            where = ".".join([group, *path[:depth]])
            is_new_object = depth + 1 == len(path) and change.key.endswith("._target_") and "_target_" in node
            if is_new_object:
                _check_parameter(node, part, where)
                if not isinstance(node.get(part), dict):
                    node[part] = {}
            if part not in node:
                raise self._wrong_key(change, path[:depth], node)
            if not isinstance(node[part], dict):
                raise ConfigError(
                    f"{change.typed}: {where}.{part} of {chosen} is a single value and has no keys"
                )
            node = node[part]
        return node

    def _check_key(self, node: dict[str, Any], key: str, change: Override, *, is_ranker: bool) -> None:
        """Let through keys of the YAML file, and parameters of a block's target that the file leaves out."""
        if key in node or (key in RESERVED and key != REGRESSION):
            return
        *path, _ = change.key.split(".")[1:]
        if "_target_" not in node:
            raise self._wrong_key(change, path, node)
        scores = is_ranker and is_score_function(locate(node["_target_"]), node.get("_partial_"))
        where = change.key.rpartition(".")[0]
        _check_parameter(node, key, where, leave_out=2 if scores else 0)

    def _wrong_key(
        self, change: Override, path: Sequence[str] = (), node: Mapping[str, Any] | None = None
    ) -> ConfigError:
        """Return the error for a key; near names are from everywhere, valid ones from where it would belong."""
        known = list(self._top_level)
        for group in GROUPS:
            known += [f"{group}.{key}" for key in self._file(group, self._root[group]) if key != "_target_"]
        valid = self._top_level
        if node is not None:
            prefix = ".".join([change.key.split(".")[0], *path])
            valid = [f"{prefix}.{key}" for key in node]
            if not path and change.key.startswith("dataset."):
                valid += [f"dataset.{key}" for key in _source_parameters(node)]
        error = wrong_name("key", change.key, dict.fromkeys([*valid, *known]))
        return ConfigError(f"{str(error).splitlines()[0]}\nvalid: {', '.join(valid)}")


def _merged(block: dict[str, Any], changes: dict[str, Any]) -> Any:
    from omegaconf import OmegaConf

    return OmegaConf.to_container(OmegaConf.merge(block, changes))


def _check_parameter(node: Mapping[str, Any], name: str, where: str, leave_out: int = 0) -> None:
    """Let through the names of parameters of a block's target."""
    target = node["_target_"]
    valid, any_name = parameter_names(locate(target), leave_out=leave_out)
    if not any_name and (name not in valid or name == "places"):
        listed = dict.fromkeys([*(key for key in node if key not in RESERVED), *valid])
        raise wrong_name(f"parameter of {where} {target}:", name, [key for key in listed if key != "places"])


def _source_parameters(dataset: Mapping[str, Any]) -> list[str]:
    """Return the parameters of a data set's reader that are not keys of the data set."""
    source = dataset.get("source")
    if not isinstance(source, Mapping) or "_target_" not in source:
        return []
    known = {"places", *(each.name for each in fields(DatasetConfig))}
    return [name for name in parameter_names(locate(source["_target_"]))[0] if name not in known]


def _into_source(change: Override, stock: Mapping[str, Any]) -> Override:
    """Let ``dataset.path=…`` stand for ``dataset.source.path=…``, and so for every parameter of the reader."""
    group, _, key = change.key.partition(".")
    if group != "dataset" or key in stock or key.split(".")[0] not in _source_parameters(stock):
        return change
    return Override(f"dataset.source.{key}", change.value)


def _told(block: Mapping[str, Any]) -> dict[str, Any]:
    """Set a ranker of the library, and those that it fits, to a numeric target."""
    told = {
        key: _told(value) if isinstance(value, Mapping) and "_target_" in value else value
        for key, value in block.items()
    }
    target = str(block["_target_"])
    takes_target = target.startswith("reliefe.") and "target" in parameter_names(locate(target))[0]
    return told | ({"target": REGRESSION} if takes_target and told.get("target") is None else {})


def _resolve_paths(config: ResolvedConfig, typed: set[str]) -> None:
    """Make folders absolute, so that no worker or later change of directory can mistake them.

    Relative folders of a YAML file are taken from ``base_folder()``, typed ones from the current directory. The
    environment variable ``RELIEFE_LOCAL_DATA`` stands in for a ``paths.local_data`` that was not typed.
    ``local_data`` stays relative in one case: when it was typed and none of the folders it may stand for holds the
    data set's file. The error of the loader then names them all.
    """
    paths = config["paths"]
    for key in ("results", "cache"):
        if paths.get(key):
            base = Path.cwd() if f"paths.{key}" in typed else base_folder()
            paths[key] = os.path.abspath(base / Path(paths[key]).expanduser())
    if "paths.local_data" not in typed:
        given = os.environ.get("RELIEFE_LOCAL_DATA")
        folder = Path(given or base_folder() / Path(paths["local_data"]).expanduser()).expanduser()
        paths["local_data"] = os.path.abspath(folder)
    else:
        places = search_places(paths["local_data"])
        files = [path for block in source_blocks(config["dataset"]) for path in source_paths(block)]
        if files and len(places) > 1:
            places = [place for place in places if any((place / file).is_file() for file in files)]
        paths["local_data"] = str(places[0]) if places else paths["local_data"]
    source = config["dataset"].get("source") or {}
    if {"dataset.path", "dataset.source.path"} & typed and isinstance(source.get("path"), str):
        file = Path.cwd() / Path(source["path"]).expanduser()
        if file.is_file():
            source["path"] = os.path.abspath(file)
