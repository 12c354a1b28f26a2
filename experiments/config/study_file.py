"""A study's YAML file (``conf/study/*.yaml``): which data sets and rankers, under which protocol.

It holds overrides, as one would type them: ``dataset: [wine, digits]``, ``ranker.n_neighbors: 5``. A list means
every one of its values. ``parts`` lists studies that are run together as one; the other keys hold for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.config.names import DISTANCE, RankerNames
from experiments.config.overrides import Override, Part, check_name
from experiments.config.validation import read_yaml
from experiments.errors import ConfigError, wrong_name

#: Keys of which a typed value picks the parts that list it.
_CHOSEN = ("dataset", "ranker")
#: What keys may begin with.
_KEYS = (*_CHOSEN, DISTANCE, "protocol", "launcher", "paths", "seed")

#: The key of rankers that are compared with those of a study, or of a command line.
ALSO = "also"


def study_parts(
    file: Path, typed: Part, rankers: RankerNames, choices: Mapping[str, Mapping[str, Path]]
) -> list[Part]:
    """Read the parts of a study and lay typed overrides over each.

    A typed ``dataset`` or ``ranker`` goes to the parts that list it, and to every part if none does. A typed
    ``protocol`` or ``launcher`` takes the place of the study's, with all that the study changes in it. Any
    other key replaces the study's value.
    """
    try:
        parts = [rankers.with_distances(part) for part in _read(file)]
        for part in parts:
            check_one_way(part)
            _check_names(part, rankers, choices)
    except ConfigError as error:
        raise ConfigError(f"{file}: {str(error).removeprefix(f'{file}: ')}") from error
    if "ranker._target_" in typed and "ranker" not in typed:  # it takes the place of the study's rankers
        parts = [{key: values for key, values in part.items() if key != "ranker"} for part in parts]
    if {"ranker", "ranker._target_"} & set(typed):
        typed = rankers.with_distances(typed)
    merged = [laid for part in parts if (laid := _laid_over(part, typed, parts, rankers)) is not None]
    for part in merged:
        for key in _CHOSEN:
            if not any(each.partition(".")[0] == key for each in part):
                raise ConfigError(f"{file}: a part of the study has no {key}, and none was typed")
    if not merged:
        wanted = " ".join(
            f"{key}={','.join(str(each.value) for each in typed[key])}" for key in _CHOSEN if key in typed
        )
        raise ConfigError(f"no part of the study {file.stem} has {wanted} together")
    return merged


def without_also(typed: Part) -> tuple[Part, Part]:
    """Separate ``also=…`` and ``also.…=…``, as keys of ``ranker``, from the other overrides."""
    also = {key: values for key, values in typed.items() if key.partition(".")[0] == ALSO}
    if also and not {ALSO, f"{ALSO}._target_"} & set(also):
        raise ConfigError(
            f"{next(iter(also.values()))[0].typed}: which ranker? also=NAME, or also._target_=package.module.Class"
        )
    check_one_way(also, ALSO)
    renamed = {f"ranker{key.removeprefix(ALSO)}": values for key, values in also.items()}
    also_part = {key: [Override(key, each.value) for each in values] for key, values in renamed.items()}
    return also_part, {key: values for key, values in typed.items() if key not in also}


def check_one_way(part: Part, key: str = "ranker") -> None:
    """Refuse ``ranker=NAME ranker._target_=…``: no ranker of that name would run."""
    if key not in part or f"{key}._target_" not in part:
        return
    names, target = (",".join(str(each.value) for each in part[each]) for each in (key, f"{key}._target_"))
    instead = (
        f"take {ALSO}._target_={target} to have both"
        if key == "ranker"
        else f"to have both, write a file ranker/NAME.yaml with _target_: {target} and "
        f"take {ALSO}={names},NAME --config-dir FOLDER"
    )
    raise ConfigError(f"{key}={names} would not run: {key}._target_={target} takes its place\n{instead}")


def beside(part: Part, also: Part) -> Part:
    """Put other rankers in the place of a part's own, whose settings they do not take."""
    return {key: values for key, values in part.items() if key.partition(".")[0] != "ranker"} | also


def _read(file: Path) -> list[Part]:
    content = read_yaml(file)
    parts = content.pop("parts", [{}])
    if not isinstance(parts, list) or not parts or not all(isinstance(each, dict) for each in parts):
        raise ConfigError("parts must be a list of blocks with keys")
    whole = [content | part for part in parts]
    for key in (str(key) for block in whole for key in block):
        if key.partition(".")[0] not in _KEYS:
            raise wrong_name("key", key, [*_KEYS, "parts"])
    return [{key: _values(key, value) for key, value in block.items()} for block in whole]


def _values(key: str, value: Any) -> list[Override]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ConfigError(f"{key} has no value")
    if len(values) > 1 and key.partition(".")[0] in ("paths", "launcher"):
        raise ConfigError(f"{key} is one for the whole study")
    return [Override(key, each) for each in values]


def _check_names(part: Part, rankers: RankerNames, choices: Mapping[str, Mapping[str, Path]]) -> None:
    for group, listed in choices.items():
        for each in part.get(group, []):
            check_name(each, listed)
            if group == "ranker":
                rankers.split(each.value)
            elif each.value not in listed:
                raise wrong_name(group, each.value, listed)


def _laid_over(part: Part, typed: Part, parts: list[Part], rankers: RankerNames) -> Part | None:
    """Lay typed overrides over one part; None when none of the typed data sets or rankers is its own."""
    laid = dict(part)
    for key, values in typed.items():
        if key in _CHOSEN:
            own = {each.value for each in part.get(key, [])}
            listed = {each.value for other in parts for each in other.get(key, [])}
            laid[key] = [each for each in values if each.value in own or each.value not in listed]
            if not laid[key]:
                return None
        elif key == DISTANCE:
            plain = {"ranker": rankers.without_distances(part["ranker"])} if "ranker" in part else {}
            laid["ranker"] = rankers.with_distances({**plain, key: values})["ranker"]
        else:
            if key in ("protocol", "launcher", "paths"):
                laid = {name: each for name, each in laid.items() if not name.startswith(f"{key}.")}
            laid[key] = values
    return laid
