"""A study's YAML file (``conf/study/*.yaml``): which data sets and rankers, under which protocol.

It holds overrides, as one would type them: ``dataset: [wine, digits]``, ``ranker.n_neighbors: 5``. A list means
every one of its values. ``parts`` lists studies that are run together as one; keys beside it hold for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.config.override_texts import written
from experiments.config.overrides import Override, check_name
from experiments.config.ranker_names import DISTANCE, RankerNames, read_yaml
from experiments.errors import ConfigError, wrong_name

#: Keys of which a typed value picks the parts that list it.
_CHOSEN = ("dataset", "ranker")
#: What keys may begin with.
_KEYS = (*_CHOSEN, DISTANCE, "protocol", "launcher", "paths", "seed")

#: The key of rankers that are compared with those of a study, or of a command line.
ALSO = "also"

#: Key → its values.
Part = dict[str, list[Override]]


def study_parts(
    file: Path,
    typed: Sequence[Sequence[Override]],
    rankers: RankerNames,
    choices: Mapping[str, Mapping[str, Path]],
) -> list[list[list[Override]]]:
    """Read a study and lay typed overrides over it.

    A typed ``dataset`` or ``ranker`` goes to the parts that list it; one that no part lists takes the place of
    those of every part. A typed ``protocol`` or ``launcher`` takes the place of the study's, with all that the
    study changes in it. Any other key replaces the study's value.

    Parameters
    ----------
    file : Path
        The study's YAML file.
    typed : sequence of sequence of Override
        What was typed, without ``study``.
    rankers : RankerNames
        The names of rankers.
    choices : mapping of str to mapping
        The groups, and the files in each.

    Returns
    -------
    list of list of list of Override
        Per part, each key with its values.

    Raises
    ------
    ConfigError
        If the file is no study.
    """
    parts = [_composed(part, rankers, file) for part in _read(file)]
    for part in parts:
        check_one_way(list(part.values()), f"{file}: ")
        _check_names(part, rankers, choices, file)
    given = {values[0].key: list(values) for values in typed}
    if "ranker._target_" in given and "ranker" not in given:  # it takes the place of the study's rankers
        parts = [{key: values for key, values in part.items() if key != "ranker"} for part in parts]
    if DISTANCE in given and {"ranker", "ranker._target_"} & set(given):
        given = {values[0].key: values for values in rankers.combined(list(given.values()))}
    merged = []
    for part in parts:
        if (laid := _laid_over(part, given, parts, rankers)) is not None:
            for key in _CHOSEN:
                if not any(each.partition(".")[0] == key for each in laid):
                    raise ConfigError(f"{file}: a part of the study has no {key}, and none was typed")
            merged.append(list(laid.values()))
    if not merged:
        wanted = " ".join(
            f"{key}={','.join(each.text for each in given[key])}" for key in _CHOSEN if key in given
        )
        raise ConfigError(f"no part of the study {file.stem} has {wanted} together")
    return merged


def without_also(
    typed: Sequence[list[Override]],
) -> tuple[list[list[Override]], list[list[Override]]]:
    """Take ``also=…`` and ``also.…=…`` out of what was typed.

    Parameters
    ----------
    typed : sequence of list of Override
        Each key with its values.

    Returns
    -------
    also : list of list of Override
        As keys of ``ranker``; empty when nobody else is to be compared.
    rest : list of list of Override
        What else was typed.

    Raises
    ------
    ConfigError
        When parameters are typed for no ranker.
    """
    mine = [values for values in typed if values[0].key.partition(".")[0] == ALSO]
    named = (ALSO, f"{ALSO}._target_")
    if mine and not any(values[0].key in named for values in mine):
        raise ConfigError(
            f"{mine[0][0].typed}: which ranker? also=NAME, or also._target_=package.module.Class"
        )
    check_one_way(mine, key=ALSO)
    also = [[replace(each, key=f"ranker{each.key.removeprefix(ALSO)}") for each in values] for values in mine]
    return also, [values for values in typed if values not in mine]


def check_one_way(part: Sequence[list[Override]], where: str = "", key: str = "ranker") -> None:
    """Refuse rankers by name together with a class or function that would take their place.

    Parameters
    ----------
    part : sequence of list of Override
        Each key with its values.
    where : str, default=""
        Where it was read, for the message.
    key : {"ranker", "also"}
        Which of the keys that name rankers is looked at.

    Raises
    ------
    ConfigError
        For ``ranker=NAME ranker._target_=…``: no ranker of that name would run.
    """
    by_key = {values[0].key: values for values in part}
    if key in by_key and f"{key}._target_" in by_key:
        names = ",".join(each.text for each in by_key[key])
        target = ",".join(each.text for each in by_key[f"{key}._target_"])
        instead = (
            f"take {ALSO}._target_={target} to have both"
            if key == "ranker"
            else f"to have both, write a file ranker/NAME.yaml with _target_: {target} and "
            f"take {ALSO}={names},NAME --config-dir FOLDER"
        )
        raise ConfigError(
            f"{where}{key}={names} would not run: {key}._target_={target} takes its place\n{instead}"
        )


def beside(part: Sequence[list[Override]], also: Sequence[list[Override]]) -> list[list[Override]]:
    """Put other rankers in the place of a part's own, whose settings they do not take.

    Parameters
    ----------
    part : sequence of list of Override
        Each key with its values.
    also : sequence of list of Override
        From :func:`without_also`.

    Returns
    -------
    list of list of Override
    """
    return [*(values for values in part if values[0].key.partition(".")[0] != "ranker"), *also]


def _read(file: Path) -> list[Part]:
    content = read_yaml(file)
    parts = content.pop("parts", None)
    if parts is None:
        parts = [{}]
    if not isinstance(parts, list) or not parts or not all(isinstance(each, dict) for each in parts):
        raise ConfigError(f"{file}: parts must be a list of blocks with keys")
    whole = [{**content, **part} for part in parts]
    if wrong := next((str(key) for block in whole for key in block if _first(key) not in _KEYS), None):
        raise ConfigError(f"{file}: {wrong_name('key', wrong, [*_KEYS, 'parts'])}")
    return [{key: _values(key, value, file) for key, value in block.items()} for block in whole]


def _first(key: Any) -> str:
    return str(key).partition(".")[0]


def _values(key: Any, value: Any, file: Path) -> list[Override]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ConfigError(f"{file}: {key} has no value")
    if len(values) > 1 and key.partition(".")[0] in ("paths", "launcher"):
        raise ConfigError(f"{file}: {key} is one for the whole study")
    return [Override(key, written(each), each) for each in values]


def _composed(part: Part, rankers: RankerNames, file: Path) -> Part:
    try:
        return {values[0].key: values for values in rankers.combined(list(part.values()))}
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from error


def _check_names(
    part: Part, rankers: RankerNames, choices: Mapping[str, Mapping[str, Path]], file: Path
) -> None:
    try:
        for group, listed in choices.items():
            for each in part.get(group, []):
                check_name(each, listed)
                if group == "ranker":
                    rankers.split(each.value)
                elif each.value not in listed:
                    raise wrong_name(group, str(each.value), listed)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from error


def _laid_over(part: Part, given: Part, parts: Sequence[Part], rankers: RankerNames) -> Part | None:
    """Lay what was typed over one part; None when none of the data sets or rankers that were typed is its own."""
    laid = dict(part)
    for key, values in given.items():
        if key in _CHOSEN:
            listed = [{each.value for each in other.get(key, [])} for other in parts]
            mine = {each.value for each in part.get(key, [])}
            kept = [
                each
                for each in values
                if each.value in mine or not any(each.value in other for other in listed)
            ]
            if not kept:
                return None
            laid[key] = kept
        elif key == DISTANCE:
            laid["ranker"] = rankers.bases(part["ranker"]) if "ranker" in part else []
            combined = rankers.combined([each for each in (laid["ranker"], values) if each])
            laid["ranker"] = combined[0]
        else:
            if key in ("protocol", "launcher", "paths"):
                laid = {name: each for name, each in laid.items() if not name.startswith(f"{key}.")}
            laid[key] = values
    return laid
