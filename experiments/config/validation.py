"""Checks of blocks: keys, types and ranges of the schema's dataclasses, and types that readers state."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from experiments import schema
from experiments.config.overrides import one_line, shown
from experiments.errors import ConfigError, wrong_name
from experiments.locate import locate

_SHAPES = {
    "dataset": schema.DatasetConfig,
    "protocol": schema.ProtocolConfig,
    "paths": schema.PathsConfig,
    "launcher": schema.LauncherConfig,
}


def read_yaml(file: Path) -> dict[str, Any]:
    """Read a YAML file of keys, with references to the environment (``${oc.env:NAME}``) resolved."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        block: Any = OmegaConf.to_container(OmegaConf.load(file), resolve=True)
    except (OmegaConfBaseException, YAMLError, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: {' '.join(str(error).split())}") from error
    if not isinstance(block, dict) or not block:
        raise ConfigError(f"{file}: no keys in it")
    return block


def conforming(group: str, block: Any, origin: str) -> dict[str, Any]:
    """Give a block the types of its dataclass and check their ranges; ``origin`` says where it comes from."""
    from omegaconf import OmegaConf
    from omegaconf.errors import ConfigKeyError, MissingMandatoryValue, OmegaConfBaseException

    if group == "ranker":
        return _conforming_ranker(block, origin)
    shape = _SHAPES[group]
    valid = [each.name for each in fields(shape)]
    for key in block:
        if key not in valid:
            raise wrong_name(f"key in {origin}:", key, valid)
    try:
        made: Any = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(shape), block))
        block = asdict(made)
    except ConfigKeyError as error:
        raise ConfigError(f"{origin}: unknown key {group}.{error.full_key}") from error
    except MissingMandatoryValue as error:
        missing = next(key for key in valid if key not in block)
        raise ConfigError(f"{origin}: {group}.{missing} is not stated") from error
    except OmegaConfBaseException as error:
        reason = str(error.msg or error).splitlines()[0]
        raise ConfigError(f"{origin}: {group}.{error.full_key}: {reason}") from error
    except ValueError as error:  # a range of the schema
        raise ConfigError(f"{origin}: {group}.{error}") from error
    if "name" in block:
        block["name"] = one_line(block["name"])
    return block


def _conforming_ranker(block: dict[str, Any], origin: str) -> dict[str, Any]:
    target = block.get("_target_")
    if not isinstance(target, str) or not target:
        raise ConfigError(f"{origin}: ranker._target_ must name a class or function, not {target!r}")
    if not isinstance(block.get("_partial_", False), bool):
        raise ConfigError(f"{origin}: ranker._partial_ must be true or false, not {block['_partial_']!r}")
    block["display_name"] = one_line(block.get("display_name") or "") or target.rpartition(".")[2]
    return block


def typed_source(source: Mapping[str, Any]) -> dict[str, Any]:
    """Give the keys of a source the types that its reader states, so that ``header=no`` is not true."""
    target = source.get("_target_")
    if not isinstance(target, str):
        return dict(source)
    reader = locate(target)
    try:
        kinds = typing.get_type_hints(reader.__init__ if inspect.isclass(reader) else reader)
    except (AttributeError, NameError, TypeError):  # a user's reader, with types that cannot be imported
        return dict(source)
    return {
        key: _typed(key, value, kinds[key]) if key in kinds and not key.startswith("_") else value
        for key, value in source.items()
    }


def _typed(key: str, value: Any, kind: Any) -> Any:
    members = typing.get_args(kind) or (kind,)
    plain = [each for each in members if each is not type(None)]
    if value is None and len(plain) < len(members):
        return None
    if len(plain) > 1 or plain[0] not in _CONVERSIONS:
        return _texts(value, keep=(int,) if int in members else ()) if "str" in str(kind) else value
    wanted, convert = _CONVERSIONS[plain[0]]
    try:
        return convert(str(value))
    except (KeyError, ValueError) as error:
        raise ConfigError(f"dataset.{key}={shown(value)}: it takes {wanted}, not {value!r}") from error


_WORDS = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)
_CONVERSIONS: dict[Any, tuple[str, Callable[[str], Any]]] = {
    bool: ("yes or no (true, false, on, off, 1, 0)", lambda text: _WORDS[text.lower()]),
    int: ("a whole number", int),
    float: ("a number", float),
}


def _texts(value: Any, keep: tuple[type, ...]) -> Any:
    """Turn numbers and truth values into text where text is wanted; in lists null too."""
    if isinstance(value, list):
        return ["null" if each is None else _texts(each, keep) for each in value]
    is_number = isinstance(value, bool | int | float) and type(value) not in keep
    return shown(value) if is_number else value
