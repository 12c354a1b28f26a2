"""What a block of the configuration must look like: keys and types from the dataclasses, and ranges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from experiments import schema
from experiments.errors import ConfigError, wrong_name


def one_line(name: object) -> str:
    r"""Make a name fit for tables, figures and files: one line of characters that can be printed.

    Parameters
    ----------
    name : object
        Its ``str`` counts; a file's name may hold bytes that are no text.

    Returns
    -------
    str
        White space is single spaces; what cannot be printed is written as Python does (``\x07``).
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode()
        for each in " ".join(str(name).split())
    )


def conforming(group: str, block: Any, origin: str) -> dict[str, Any]:
    """Give a block the types of its dataclass, and check the ranges that types cannot say.

    Parameters
    ----------
    group : str
        Such as ``"protocol"``.
    block : dict
        As composed.
    origin : str
        Where it comes from, for the messages.

    Returns
    -------
    dict

    Raises
    ------
    ConfigError
        For a key that does not exist or is not stated, and for a value of the wrong type or out of range.
    """
    shapes = {
        "dataset": schema.DatasetConfig,
        "protocol": schema.ProtocolConfig,
        "paths": schema.PathsConfig,
        "launcher": schema.LauncherConfig,
    }
    if not isinstance(block, dict):
        raise ConfigError(f"{origin}: {group} holds no keys")
    if group == "ranker":
        return _conforming_ranker(block, origin)
    shape = shapes[group]
    from omegaconf import OmegaConf
    from omegaconf.errors import ConfigKeyError, OmegaConfBaseException

    valid = [each.name for each in fields(shape)]
    for key in block:
        if key not in valid:
            raise wrong_name(f"key in {origin}:", key, valid)
    try:
        block = OmegaConf.to_container(OmegaConf.merge(OmegaConf.structured(shape), block), resolve=False)
    except ConfigKeyError as error:
        raise ConfigError(f"{origin}: unknown key {group}.{error.full_key}") from error
    except OmegaConfBaseException as error:
        reason = str(error.msg if hasattr(error, "msg") and error.msg else error).splitlines()[0]
        raise ConfigError(f"{origin}: {group}.{error.full_key}: {reason}") from error
    for key, value in block.items():
        if value == "???":
            raise ConfigError(f"{origin}: {group}.{key} is not stated")
    for key, (fits, what) in _RANGES.get(group, {}).items():
        if not fits(block[key]):
            name = f"{group}.{key}"
            where = "" if origin.startswith(f"{name}=") else f"{origin}: "
            raise ConfigError(f"{where}{name} must be {what}, not {block[key]}")
    if group == "protocol":
        _check_measure(block, origin)
    if "name" in block:
        block["name"] = one_line(block["name"])
    return block


def _check_measure(protocol: dict[str, Any], origin: str) -> None:
    """Check that a protocol splits the samples, or measures all of them."""
    measure, n_splits = protocol["measure"], protocol["n_splits"]
    if measure is None and n_splits < 2:
        raise ConfigError(f"{origin}: protocol.n_splits must be at least 2, not {n_splits}")
    if measure is not None and n_splits != 1:
        raise ConfigError(
            f"{origin}: protocol.n_splits must be 1 where something is measured on all samples, not {n_splits}"
        )
    if measure is not None and not isinstance(measure.get("_target_"), str):
        raise ConfigError(f"{origin}: protocol.measure has no _target_ (the function that measures)")


#: Who runs cells: processes of this machine, a dask cluster, or jobs of SLURM (``conf/launcher``).
BACKENDS = ("loky", "dask", "slurm")

_RANGES: dict[str, dict[str, tuple[Callable[[Any], bool], str]]] = {
    "protocol": {
        "n_splits": (lambda value: value >= 1, "at least 2, or 1 where something is measured on all samples"),
        "n_repeats": (lambda value: value >= 1, "at least 1"),
        "grid_points": (lambda value: value >= 1, "at least 1"),
        "max_rows": (lambda value: value is None or value >= 2, "at least 2, or null for all samples"),
    },
    "launcher": {
        "backend": (lambda value: value in BACKENDS, f"one of {', '.join(BACKENDS)}"),
        "n_workers": (lambda value: value is None or value >= 1, "at least 1, or null for all cores"),
        "n_threads": (
            lambda value: value is None or value >= 1,
            "at least 1, or null for what the cores allow",
        ),
        "time_limit_seconds": (lambda value: value is None or value > 0, "above 0, or null for no limit"),
        "memory_limit_mib": (lambda value: value is None or value > 0, "above 0, or null for no limit"),
    },
}


def _conforming_ranker(block: dict[str, Any], origin: str) -> dict[str, Any]:
    target = block.get("_target_")
    if not isinstance(target, str) or not target:
        raise ConfigError(f"{origin}: ranker._target_ must name a class or function, not {target!r}")
    if not isinstance(block.get("_partial_", False), bool):
        raise ConfigError(f"{origin}: ranker._partial_ must be true or false, not {block['_partial_']!r}")
    block["display_name"] = one_line(block.get("display_name") or "") or target.rpartition(".")[2]
    return block
