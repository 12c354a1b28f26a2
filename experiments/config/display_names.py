"""Display names of the rankers, data sets and studies that a command line asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.config.overrides import Override
from experiments.config.validation import one_line

#: Never decide numbers, so they are no part of a name.
_NAMELESS = ("display_name", "n_jobs", "_partial_", "verbose")

#: Settings of a user's own data for which the file's name stands, as long as it tells them apart.
_STANDING = ("path", "target", "features")

_MISSING = object()


def make_names_distinct(configs: Sequence[dict[str, Any]]) -> None:
    """Give different rankers, and different files, of a study different names.

    Rankers whose targets share a class name (``a.Mine`` and ``b.Mine``) are called by their full target, and a
    user's files of one name by what differs, path or target.

    Parameters
    ----------
    configs : sequence of ResolvedConfig
        The runs of one study; names are changed in place.
    """
    _make_rankers_distinct(configs)
    _make_files_distinct(configs)


def _make_rankers_distinct(configs: Sequence[dict[str, Any]]) -> None:
    targets: dict[str, set[str]] = {}
    for config in configs:
        targets.setdefault(config["ranker_key"], set()).add(config["ranker"]["_target_"])
    for config in configs:
        key, ranker = config["ranker_key"], config["ranker"]
        short = ranker["_target_"].rpartition(".")[2]
        if len(targets[key]) > 1 and key.startswith(short):
            config["ranker_key"] = ranker["_target_"] + key.removeprefix(short)
            if ranker["display_name"].startswith(short):
                ranker["display_name"] = ranker["_target_"] + ranker["display_name"].removeprefix(short)


def _make_files_distinct(configs: Sequence[dict[str, Any]]) -> None:
    of_name: dict[str, list[dict[str, Any]]] = {}
    for config in configs:
        source = config["dataset"].get("source") or {}
        if source not in of_name.setdefault(config["dataset_key"], []):
            of_name[config["dataset_key"]].append(source)
    for config in configs:
        alike = of_name[config["dataset_key"]]
        source = config["dataset"].get("source") or {}
        if len(alike) == 1:
            continue
        differing = _differing(source, alike)
        if differing:
            for holder, key in ((config, "dataset_key"), (config["dataset"], "name")):
                holder[key] += f"[{','.join(differing)}]"


def _differing(source: Mapping[str, Any], alike: Sequence[Mapping[str, Any]]) -> list[str]:
    """List what of a source tells it from the others: path and target, and where these do not, the reader."""

    def what(each: Mapping[str, Any]) -> dict[str, str]:
        shown = {key: _short(each.get(key)) for key in _STANDING}
        return shown | {"reader": str(each.get("_target_", "")).rpartition(".")[2]}

    found, others = what(source), [what(each) for each in alike if each != source]
    keys = [key for key in _STANDING if any(each[key] != found[key] for each in others)]
    if any(all(each[key] == found[key] for key in keys) for each in others):
        keys.append("reader")
    return [f"{key}={found[key]}" for key in keys if any(each[key] != found[key] for each in others)]


def with_changes(study: str, typed: Sequence[Sequence[Override]]) -> str:
    """Name a study after its file and what was typed beside it, so that a part of it is not taken for all of it.

    Parameters
    ----------
    study : str
        The file's name.
    typed : sequence of sequence of Override
        Each key with its values; folders and launchers, which decide nothing, are left out.

    Returns
    -------
    str
        Such as ``"mcc[dataset=chess+madelon]"``; keys and values in alphabetical order.
    """
    changes = [
        f"{values[0].key}={'+'.join(sorted(one_line(_short(each.value)) for each in values))}"
        for values in sorted(typed, key=lambda values: values[0].key)
        if values[0].key.partition(".")[0] not in ("study", "paths", "launcher")
    ]
    return f"{study}[{','.join(changes)}]" if changes else study


def named(
    group: str, chosen: str, stock: dict[str, Any], block: dict[str, Any], changes: Sequence[Override]
) -> tuple[str, dict[str, Any]]:
    """Name a block after its file and what was changed in it: equal names, equal settings.

    A data set whose YAML file leaves the path open is named after the file that was typed.

    Parameters
    ----------
    group : str
        Such as ``"ranker"``.
    chosen : str
        Name of the YAML file.
    stock, block : dict
        The block as in the file, and with the changes; the latter's own names are changed in place.
    changes : sequence of Override
        What was typed.

    Returns
    -------
    (str, dict)
        The name, and the block.
    """
    if group in ("paths", "launcher"):
        return chosen, block
    # Another target is another ranker and not a variant of the file's; ``_target_`` then needs no mention.
    foreign = group == "ranker" and any(each.key == "ranker._target_" for each in changes)
    name = block["_target_"].rpartition(".")[2] if foreign else chosen
    differing = []
    own_file = _own_file(group, stock, block)
    if own_file is not None:
        name = block["name"] = own_file if block["name"] == stock["name"] else block["name"]
    for each in sorted(changes, key=lambda change: change.key):
        path = shown = each.key.split(".")[1:]
        if own_file is not None and path[0] == "source":
            if path[1] in _STANDING:
                continue
            shown = path[1:]
        if path[-1] in (*_NAMELESS, "name") or (foreign and path == ["_target_"]):
            continue
        now, before = _value_at(block, path), _value_at(stock, path)
        if foreign or now != before or isinstance(now, bool) != isinstance(before, bool):
            differing.append(f"{'.'.join(shown)}={_short(now)}")
    suffix = f"[{','.join(differing)}]" if differing else ""
    explicit = [each.key for each in changes]
    if group == "ranker" and "ranker.display_name" not in explicit:
        block["display_name"] += f" {suffix}" if suffix else ""
    if group in ("dataset", "protocol") and f"{group}.name" not in explicit:
        block["name"] += suffix
    return name + suffix, block


def _own_file(group: str, stock: Mapping[str, Any], block: Mapping[str, Any]) -> str | None:
    """Name of the file typed for a data set whose YAML file leaves it open."""
    if group != "dataset" or not isinstance(stock.get("source"), Mapping):
        return None
    path = block["source"].get("path")
    is_open = stock["source"].get("path", "") is None
    return one_line(Path(path).name) if is_open and isinstance(path, str) else None


def _value_at(node: Any, path: Sequence[str]) -> Any:
    for part in path:
        node = node.get(part, _MISSING) if isinstance(node, dict) else _MISSING
    return node


def _short(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return f"[{','.join(map(_short, value))}]"
    return one_line(value)
