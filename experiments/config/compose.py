"""From the command line to the configurations of one study.

``conf/`` holds the YAML files, :mod:`experiments.schema` their shapes, Hydra composes them. Everything wrong is a
:class:`~experiments.errors.ConfigError` of one or two lines before anything runs or is written.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from experiments.config import catalog, help
from experiments.config.display_names import make_names_distinct, named, with_changes
from experiments.config.numeric_targets import for_numbers
from experiments.config.override_texts import spelled, written
from experiments.config.overrides import Override, combinations, read_arguments, read_overrides
from experiments.config.ranker_names import DISTANCE, RankerNames
from experiments.config.source_keys import (
    OF_DATASET,
    UNKNOWN,
    annotations_of,
    converted,
    texts_of,
    typed_sources,
)
from experiments.config.study_file import ALSO, beside, check_one_way, study_parts, without_also
from experiments.config.validation import conforming
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
from experiments.tasks import REGRESSION

__all__ = ["GROUPS", "PROJECT_ROOT", "Plan", "ResolvedConfig", "compose_runs"]

GROUPS = ("dataset", "ranker", "protocol", "paths", "launcher")

#: Groups that leave no block of their own: a study stands for keys, a target distance for a part of the ranker.
_SHORTHANDS = ("study", DISTANCE)

#: One run: plain dicts, lists and scalars with the keys dataset, ranker, protocol, paths, launcher, seed, and
#: dataset_key, ranker_key, protocol_key: the chosen names, with what was changed: ``relieff[n_neighbors=5]``. With
#: the key study, its name, when one was named (``mcc+mine`` with ``also=mine``, ``mcc[dataset=chess]`` with a part
#: of it), and also (true) for a ranker that was named that way.
ResolvedConfig = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What a command line asks for.

    Attributes
    ----------
    action : str
        ``"run"``, ``"status"``, ``"help"`` or ``"show"``.
    configs : list of ResolvedConfig
        The runs, all parts of one study; empty for ``"help"``.
    text : str
        What to print instead of running, for ``"help"`` and ``"show"``; else empty.
    """

    action: str
    configs: list[ResolvedConfig]
    text: str = ""


def compose_runs(argv: Sequence[str], conf: Path | None = None) -> Plan:
    """Compose every run a command line stands for.

    ``key=a,b`` means both, with or without ``--multirun``; several such keys mean every combination. The order is
    that of the arguments, the last one's values changing fastest. ``study=NAME`` stands for the keys of
    ``conf/study/NAME.yaml``; what is typed beside it is laid over them. ``also=NAME`` adds a ranker to those of the
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
    folders, groups = [conf], (*GROUPS, *_SHORTHANDS)
    if command.config_dir is not None:
        folders.append(catalog.own_folder(command.config_dir, conf, groups))
    if command.action == "help":
        return Plan("help", [], help.help_text(folders, groups))
    choices = {group: catalog.files(folders, group) for group in groups}
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf.resolve()), version_base="1.3"):
        composer = _Composer(choices, folders)
        listed = {group: list(each) for group, each in choices.items()}
        listed[ALSO] = listed["ranker"]
        further = dict.fromkeys(("ranker", ALSO), composer.rankers.composed)
        also, typed = without_also(read_overrides(command.overrides, listed, further))
        check_one_way(typed)
        study, parts = _study(typed, composer.rankers, choices)
        of_names: dict[tuple[str, ...], list[ResolvedConfig]] = {}
        distinct, added = [], []
        for part in parts:
            for is_added, combination in _runs(part, also):
                config = composer.run(combination) | ({} if study is None else {"study": study})
                alike = of_names.setdefault(
                    tuple(config[f"{each}_key"] for each in ("dataset", "ranker", "protocol")), []
                )
                if config not in alike:
                    alike.append(config)
                    distinct.append(config)
                if is_added:
                    added.append(alike[alike.index(config)])
    make_names_distinct(distinct)
    if study is not None and (named_so := with_changes(study, typed)) != study:
        study = named_so
        for config in distinct:
            config["study"] = study
    if study is not None and added:
        study = "+".join(dict.fromkeys([study, *(config["ranker_key"] for config in added)]))
        for config in distinct:
            config["study"] = study
    for config in added:
        config["also"] = True
    for config in distinct:
        if config["dataset"]["task"] == REGRESSION:  # after names: under these a ranker is typed
            config["ranker"] = for_numbers(config["ranker"])
    text = help.shown(distinct) if command.action == "show" else ""
    return Plan(command.action, distinct, text)


def _runs(part: list[list[Override]], also: list[list[Override]]) -> list[tuple[bool, tuple[Override, ...]]]:
    """List the combinations of a part, with whether they are those of rankers from ``also``."""
    runs = [(False, each) for each in combinations(part)]
    return runs + [(True, each) for each in combinations(beside(part, also)) if also]


def _study(
    typed: Sequence[list[Override]], rankers: RankerNames, choices: Mapping[str, Mapping[str, Path]]
) -> tuple[str | None, list[list[list[Override]]]]:
    """Return the name of the study that was typed, if one was, and the parts of what there is to run."""
    named_study = next((values for values in typed if values[0].key == "study"), None)
    if named_study is None:
        return None, [rankers.combined(typed)]
    if len(named_study) > 1:
        raise ConfigError(
            "one study at a time; a study of several is a YAML file with parts (docs/studies.md)"
        )
    study = named_study[0].value
    if study not in choices["study"]:
        raise wrong_name("study", str(study), choices["study"])
    rest = [values for values in typed if values[0].key != "study"]
    return study, study_parts(
        choices["study"][study], rest, rankers, {group: choices[group] for group in GROUPS}
    )


class _Composer:
    """Composes group by group, each distinct one once: 14 rankers × 20 data sets are 34 compositions, not 280."""

    def __init__(self, choices: dict[str, dict[str, Path]], folders: Sequence[Path]) -> None:
        self._choices = choices
        self._blocks: dict[tuple[str, ...], tuple[str, dict[str, Any]]] = {}
        self._own_folders = list(folders[1:])
        quoted = [
            "'file://" + str(each).replace("\\", "\\\\").replace("'", "\\'") + "'"
            for each in self._own_folders
        ]
        self._search = [f"hydra.searchpath=[{','.join(quoted)}]"] if quoted else []
        kept = _Kept({}, {}, {}) if self._own_folders else _kept(folders[0])
        self._stock, self._written, self._composed = kept
        self._root, self._defaults = self._compose([])
        self.rankers = RankerNames(choices["ranker"], choices[DISTANCE], self._defaults["ranker"])
        self._seed = self._root["seed"]
        self._top_level = [*GROUPS, *_SHORTHANDS, ALSO, *(key for key in self._root if key not in GROUPS)]

    def _compose(self, overrides: Sequence[str]) -> tuple[dict[str, Any], dict[str, str]]:
        if (asked := tuple(overrides)) not in self._composed:
            while len(self._composed) >= _MOST_KEPT:
                del self._composed[next(iter(self._composed))]
            self._composed[asked] = _hydra_compose(overrides, self._search)
        return copy.deepcopy(self._composed[asked])

    def run(self, overrides: Sequence[Override]) -> ResolvedConfig:
        for each in overrides:
            if each.key.split(".")[0] not in self._top_level or each.key.split(".")[0] in _SHORTHANDS:
                raise self._wrong_key(each)
        config: ResolvedConfig = {}
        keys = {}
        for group in GROUPS:
            mine = [each for each in overrides if each.key.split(".")[0] == group]
            keys[group], config[group] = self._block(group, mine)
        config["seed"] = self._checked_seed(overrides)
        if config["seed"] != self._seed:  # other folds: not to be mixed with the default ones under one name
            keys["protocol"] += f"[seed={config['seed']}]"
            if not any(each.key == "protocol.name" for each in overrides):
                config["protocol"]["name"] += f"[seed={config['seed']}]"
        config = _without_interpolation(config)
        for group in ("dataset", "ranker", "protocol"):
            config[f"{group}_key"] = keys[group]
        _resolve_paths(config, [each.key for each in overrides])
        return config

    def _checked_seed(self, overrides: Sequence[Override]) -> int:
        seed = next((each.value for each in overrides if each.key == "seed"), self._seed)
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**32:
            raise ConfigError(f"seed={seed}: expected a whole number from 0 to {2**32 - 1}")
        return seed

    def _block(self, group: str, overrides: Sequence[Override]) -> tuple[str, dict[str, Any]]:
        cache_key = (group, *(each.typed for each in overrides))
        if cache_key not in self._blocks:
            self._blocks[cache_key] = self._composed_block(group, overrides)
        name, block = self._blocks[cache_key]
        return name, copy.deepcopy(block)

    def _stock_of(self, group: str, name: str) -> dict[str, Any]:
        """Return the block of one YAML file, as it is."""
        if (group, name) not in self._stock:
            file = self._choices[group][name]
            stock = self._as_written(group, name)
            if stock is None:
                stock = self._compose([f"{group}={name}"])[0][group]
            is_own = file.parents[1] in self._own_folders
            stock = conforming(group, stock, str(file) if is_own else f"conf/{group}/{name}.yaml")
            if group == "dataset" and is_own:
                stock = typed_sources(stock, where=f"{file}: ", texts=texts_of(file))
            self._stock[group, name] = stock
        return self._stock[group, name]

    def _as_written(self, group: str, name: str) -> dict[str, Any] | None:
        """Return the block of one YAML file before its settings are checked; None where Hydra is needed for it."""
        if (group, name) not in self._written:
            is_default = name == self._defaults[group]
            self._written[group, name] = (
                self._root[group] if is_default else _plain(self._choices[group][name])
            )
        return copy.deepcopy(self._written[group, name])

    def _changed(self, group: str, name: str, overrides: Sequence[str]) -> dict[str, Any]:
        """Return the block of one YAML file with overrides laid over it."""
        plain, whole = self._as_written(group, name), [f"{group}={name}", *overrides]
        if plain is None:
            return self._compose(whole)[0][group]
        return _laid_over(group, plain, whole)

    def _composed_block(self, group: str, overrides: Sequence[Override]) -> tuple[str, dict[str, Any]]:
        chosen = next((each.value for each in overrides if each.key == group), self._defaults[group])
        base, distance = self.rankers.split(chosen) if group == "ranker" else (chosen, None)
        if base not in self._choices[group]:
            raise wrong_name(group, chosen, self._choices[group])
        stock = copy.deepcopy(self._stock_of(group, base))
        added = {} if distance is None else self.rankers.block(distance)
        if added:
            stock["display_name"] += f" ({added.pop('display_name')})"
            stock |= added
        changes = [_into_source(each, stock) for each in overrides if each.key != group]
        if group == "dataset":
            changes = [_typed(each, changes, stock) for each in changes]
        block = copy.deepcopy(stock)
        # A target from the outside takes none of the parameters written for the target it replaces.
        replaced = [each.key.rpartition(".")[0] for each in changes if each.key.endswith("._target_")]
        replaced.sort(key=lambda path: path.count("."))
        for path in replaced:
            _block_at(block, path.split(".")[1:], path).clear()
        targets_first = sorted(
            changes, key=lambda change: change.key.count(".") if change.key.endswith("._target_") else 99
        )
        for each in targets_first:
            self._check_key(block, each, group, chosen)
        if changes:
            of_distance = [f"++{group}.{key}={value}" for key, value in added.items()]
            composed = self._changed(group, base, [*of_distance, *(f"++{each.typed}" for each in changes)])
            if added and not any(each.key == "ranker.display_name" for each in changes):
                composed["display_name"] = stock["display_name"]
            for path in replaced:
                kept = {
                    each.key.split(".")[path.count(".") + 1]
                    for each in changes
                    if each.key.startswith(path + ".")
                }
                node = _at(composed, path.split(".")[1:], path)
                for key in [key for key in node if key not in kept]:
                    del node[key]
            block = conforming(group, composed, ", ".join(each.typed for each in changes))
        return named(group, chosen, stock, block, changes)

    def _check_key(self, block: dict[str, Any], change: Override, group: str, chosen: str) -> None:
        """Let through keys of the YAML file, and parameters of a block's target that the file leaves out."""
        *path, last = change.key.split(".")[1:]
        node: dict[str, Any] = block
        outer: dict[str, Any] = {}
        for depth, part in enumerate(path):
            if part not in node:
                raise self._wrong_key(change, path[:depth], node)
            if not isinstance(node[part], dict):
                where = ".".join([group, *path[: depth + 1]])
                raise ConfigError(f"{change.typed}: {where} of {chosen} is a single value and has no keys")
            outer, node = node, node[part]
        if last == "_target_":
            locate(change.value)
            if "_target_" in outer:  # this block is to be one of its parameters
                _check_parameter(outer, path[-1], ".".join([group, *path[:-1]]))
        if last in node:
            return
        if last in RESERVED:
            node[last] = change.value
            return
        target = node.get("_target_")
        if target is None:
            raise self._wrong_key(change, path, node)
        obj = locate(target)
        scores = group == "ranker" and not path and is_score_function(obj, node.get("_partial_"))
        _check_parameter(node, last, ".".join([group, *path]), leave_out=2 if scores else 0)

    def _wrong_key(
        self, change: Override, path: Sequence[str] = (), node: Mapping[str, Any] | None = None
    ) -> ConfigError:
        """Build the error for a key; near names come from everywhere, valid ones from where it would belong."""
        known = list(self._top_level)
        for group in GROUPS:
            known += [f"{group}.{key}" for key in self._root[group] if key != "_target_"]
        valid = self._top_level
        if node is not None:
            prefix = ".".join([change.key.split(".")[0], *path])
            valid = [f"{prefix}.{key}" for key in node]
            if not path and change.key.startswith("dataset."):
                valid += [f"dataset.{key}" for key in _source_parameters(node)]
        error = wrong_name("key", change.key, dict.fromkeys([*valid, *known]))
        return ConfigError(f"{str(error).splitlines()[0]}\nvalid: {', '.join(valid)}")


def _check_parameter(node: Mapping[str, Any], name: str, where: str, leave_out: int = 0) -> None:
    """Let through the names of parameters of a block's target."""
    target = node["_target_"]
    names, any_name = parameter_names(locate(target), leave_out=leave_out)
    names = [each for each in names if each != "places"]
    if not any_name and name not in names:
        settings = [each for each in _settings(node) if each != name]
        raise wrong_name(f"parameter of {where} {target}:", name, dict.fromkeys([*settings, *names]))


def _settings(node: Mapping[str, Any]) -> list[str]:
    return [key for key in node if key not in RESERVED]


def _at(node: dict[str, Any], path: Sequence[str], typed: str) -> dict[str, Any]:
    found: Any = node
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        raise ConfigError(f"{typed} is no block of keys, so it takes no _target_")
    return found


def _block_at(node: dict[str, Any], path: Sequence[str], typed: str) -> dict[str, Any]:
    """Return a block; a parameter of a target becomes one, so that an object can be given for it."""
    if path:
        parent = _at(node, path[:-1], typed)
        if "_target_" in parent or not parent:  # one without any has just been replaced
            if not isinstance(parent.get(path[-1]), dict):
                parent[path[-1]] = {}
    return _at(node, path, typed)


def _source_parameters(dataset: Mapping[str, Any]) -> list[str]:
    """Names of the parameters of a data set's reader that are no keys of the data set itself."""
    from experiments.schema import DatasetConfig

    source = dataset.get("source")
    if not isinstance(source, Mapping) or "_target_" not in source:
        return []
    known = {each.name for each in fields(DatasetConfig)}
    return [name for name in parameter_names(locate(source["_target_"]))[0] if name not in {"places", *known}]


def _into_source(change: Override, stock: Mapping[str, Any]) -> Override:
    """Let ``dataset.path=…`` stand for ``dataset.source.path=…``, and so for every parameter of the reader."""
    group, _, key = change.key.partition(".")
    if group != "dataset" or key in stock or key.split(".")[0] not in _source_parameters(stock):
        return change
    return replace(change, key=f"dataset.source.{key}")


def _typed(change: Override, changes: Sequence[Override], stock: Mapping[str, Any]) -> Override:
    """Give a typed key of a data set the type that its reader states; a name of a column stays as typed."""
    _, *path = change.key.split(".")
    if len(path) == 1 and path[0] in OF_DATASET:
        kind = OF_DATASET[path[0]]
    elif len(path) == 2 and path[0] == "source" and path[1] not in RESERVED:
        source = stock.get("source")
        target = source.get("_target_") if isinstance(source, Mapping) else None
        target = next((each.value for each in changes if each.key == "dataset.source._target_"), target)
        kind = annotations_of(target).get(path[1]) if isinstance(target, str) else None
    else:
        return change
    if kind is None:
        return change
    text = spelled(change.text, change.value)
    value = converted(change.value, kind, f"dataset.{path[-1]}", UNKNOWN if text is None else text)
    same = type(value) is type(change.value) and repr(value) == repr(change.value)
    return change if same else replace(change, text=written(value), value=value)


class _Kept(NamedTuple):
    """What is known of a folder of YAML files: blocks, checked and as they are written, and compositions."""

    stock: dict[tuple[str, str], dict[str, Any]]
    written: dict[tuple[str, str], dict[str, Any] | None]
    composed: dict[tuple[str, ...], tuple[dict[str, Any], dict[str, str]]]


#: That of this process, by name, time and size of all YAML files.
_KEPT: dict[tuple[tuple[str, int, int], ...], _Kept] = {}
_MOST_KEPT = 200


def _kept(folder: Path) -> _Kept:
    """Return the blocks and compositions that are known, none once a YAML file has changed."""
    states = [(str(file), file.stat()) for file in sorted(folder.rglob("*.yaml"))]
    state = tuple((name, each.st_mtime_ns, each.st_size) for name, each in states)
    if state not in _KEPT:
        _KEPT.clear()
    return _KEPT.setdefault(state, _Kept({}, {}, {}))


def _plain(file: Path) -> dict[str, Any] | None:
    """Return the block of a YAML file that Hydra would take as it is: a twentieth of a composition's time.

    None for a file that says how it is to be composed, and for one that cannot be read: its error is Hydra's.
    """
    from omegaconf import OmegaConf

    try:
        if "@package" in file.read_text(encoding="utf-8"):
            return None
        block: Any = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    except Exception:
        return None
    return block if block and isinstance(block, dict) and "defaults" not in block else None


def _hydra_compose(
    overrides: Sequence[str], search: Sequence[str] = ()
) -> tuple[dict[str, Any], dict[str, str]]:
    """Compose ``config.yaml``; also return which file each group came from."""
    from hydra import compose
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        composed = compose("config", overrides=[*search, *overrides], return_hydra_config=True)
        chosen = composed.hydra.runtime.choices
        plain: Any = OmegaConf.to_container(composed, resolve=False)
        del plain["hydra"]
        return plain, {group: chosen[group] for group in GROUPS}
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        raise _not_composed(overrides, error) from error


def _laid_over(group: str, block: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Lay overrides over a block as Hydra does when it has composed it, without composing it.

    The first override names the file of the block; the others begin with ``++``.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    config = OmegaConf.create({group: block})
    try:
        for each in OverridesParser.create().parse_overrides(overrides=list(overrides[1:])):
            OmegaConf.update(config, each.key_or_group, each.value(), merge=True, force_add=True)
        plain: Any = OmegaConf.to_container(config, resolve=False)
    except (HydraException, OmegaConfBaseException) as error:
        raise _not_composed(overrides, error) from error
    changed: dict[str, Any] = plain[group]
    return changed


def _not_composed(overrides: Sequence[str], error: Exception) -> ConfigError:
    reason = " ".join(str(error.__cause__ or error).split())
    typed = " ".join(each.lstrip("+") for each in overrides)
    return ConfigError(f"{typed or 'conf/config.yaml'}: {reason}")


def _without_interpolation(config: ResolvedConfig) -> ResolvedConfig:
    if "${" not in repr(config):  # going through OmegaConf takes seconds for a large study
        return config
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        resolved: Any = OmegaConf.to_container(OmegaConf.create(config), resolve=True)
        return resolved
    except OmegaConfBaseException as error:
        raise ConfigError(f"the configuration cannot be resolved: {' '.join(str(error).split())}") from error


def _resolve_paths(config: ResolvedConfig, typed: Sequence[str]) -> None:
    """Make folders absolute, so that no worker or later change of directory can mistake them.

    Relative folders of a YAML file are taken from ``base_folder()``, typed ones from the current directory. The
    environment variable ``RELIEFE_LOCAL_DATA`` stands in for a ``paths.local_data`` that was not typed.
    A data file that was typed and lies there is made absolute too.
    ``local_data`` stays relative in one case: when it was typed and none of the folders it may stand for holds the
    data set's file. The error of the loader then names them all.
    """
    paths = config["paths"]
    if "paths.local_data" not in typed and (given := os.environ.get("RELIEFE_LOCAL_DATA")):
        paths["local_data"] = os.path.abspath(Path(given).expanduser())
    base = Path.cwd() if "paths.results" in typed else base_folder()
    paths["results"] = os.path.abspath(base / Path(paths["results"]).expanduser())
    if paths.get("cache"):
        base = Path.cwd() if "paths.cache" in typed else base_folder()
        paths["cache"] = os.path.abspath(base / Path(paths["cache"]).expanduser())
    places = [Path(os.path.abspath(base_folder() / Path(paths["local_data"]).expanduser()))]
    files = [path for block in source_blocks(config["dataset"]) for path in source_paths(block)]
    if "paths.local_data" in typed:
        places = search_places(paths["local_data"])
        if files and len(places) > 1:
            places = [place for place in places if any((place / file).is_file() for file in files)]
    if places:
        paths["local_data"] = str(places[0])
    source = config["dataset"].get("source") or {}
    if {"dataset.path", "dataset.source.path"} & set(typed) and isinstance(source.get("path"), str):
        file = Path.cwd() / Path(source["path"]).expanduser()
        if file.is_file():
            source["path"] = os.path.abspath(file)
