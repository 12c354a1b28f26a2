"""The command line of ``run.py``, taken apart: flags, overrides and sweeps, in the grammar of Hydra."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from experiments.errors import ConfigError, meant

FLAGS = ("--help", "--cfg job", "--multirun", "--config-dir FOLDER")

#: Groups of which one file holds for the whole study.
ONE_FOR_ALL = ("study", "paths", "launcher")


@dataclass(frozen=True)
class CommandLine:
    """Arguments by kind: "run", "status", "help" or "show"; ``key=value``; the folder of ``--config-dir``."""

    action: str
    overrides: tuple[str, ...]
    config_dir: str | None = None


@dataclass(frozen=True)
class Override:
    """One value for one key."""

    key: str  # dotted, such as "ranker.n_neighbors", or the name of a group
    value: Any

    @property
    def typed(self) -> str:
        """The override as one would type it, for messages."""
        return f"{self.key}={shown(self.value)}"


#: Key → its values, several for a sweep.
Part = dict[str, list[Override]]


def shown(value: Any) -> str:
    """Write a value as in YAML, on one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"[{','.join(map(shown, value))}]" if isinstance(value, list) else one_line(value)


def one_line(name: object) -> str:
    r"""Write a name on one line: white space becomes single spaces, unprintable characters ``\x07``."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode()
        for each in " ".join(str(name).split())
    )


def check_name(override: Override, valid: Iterable[str]) -> None:
    """Refuse a list, a block, a number, null or an empty text where the name of a file is wanted."""
    if not isinstance(override.value, str) or not override.value:
        several = "one name" if override.key in ONE_FOR_ALL else "a name, or several with commas between them"
        raise ConfigError(f"{override.typed}: {override.key} takes {several}\nvalid: {', '.join(valid)}")


def read_arguments(argv: Sequence[str]) -> CommandLine:
    """Separate flags from overrides; ``--multirun`` changes nothing: a list means all of its values."""
    action, config_dir = "run", None
    overrides, arguments = [], list(argv)
    while arguments:
        argument = arguments.pop(0)
        flag, _, value = argument.partition("=") if argument.startswith("-") else (argument, "", "")
        if flag in ("--cfg", "-c", "--config-dir", "-cd") and not value and arguments:
            value = arguments.pop(0)
        if argument in ("--help", "-h"):
            action = "help"
        elif argument == "status":
            action = "status" if action == "run" else action
        elif flag in ("--cfg", "-c"):
            if value != "job":
                raise ConfigError(f"--cfg {value}: only --cfg job exists (prints the composed configuration)")
            action = "show" if action in ("run", "status") else action
        elif flag in ("--config-dir", "-cd"):
            if not value or config_dir is not None:
                what = "is given twice" if value else "needs a folder"
                raise ConfigError(f"--config-dir {what} (with dataset/NAME.yaml and the like in it)")
            config_dir = value
        elif argument.startswith("-") and argument not in ("--multirun", "-m"):
            hint = meant(argument, [each.split()[0] for each in FLAGS])
            raise ConfigError(f"unknown flag {argument}{hint}\nvalid: {', '.join(FLAGS)}")
        elif not argument.startswith("-"):
            overrides.append(argument)
    return CommandLine(action, tuple(overrides), config_dir)


def read_overrides(typed: Sequence[str], choices: Mapping[str, Iterable[str]]) -> Part:
    """Parse overrides; ``choices`` holds the groups, with the names of their files."""
    part: Part = {}
    for argument in typed:
        values = _parsed(argument, choices)
        key = values[0].key
        if key in part:
            raise ConfigError(f"{argument}: {key} is given twice (several values: {key}=a,b)")
        if len(values) > 1 and key.split(".")[0] in ("paths", "launcher"):
            raise ConfigError(
                f"{argument}: {key} is one for the whole study"
                " (a comma that belongs to the value goes inside quotes)"
            )
        for each in values if key in choices else ():
            check_name(each, choices[key])
        part[key] = values
    return part


def combinations(part: Part) -> list[tuple[Override, ...]]:
    """List all combinations of values, the last key's value changing fastest."""
    return list(itertools.product(*part.values()))


def _parsed(argument: str, choices: Mapping[str, Iterable[str]]) -> list[Override]:
    """Return the values of one argument; ``a,b``, ``choice(…)``, ``range(…)`` and ``glob(…)`` are several."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import Glob, OverrideType, ValueType
    from hydra.errors import HydraException

    key, equals, text = argument.partition("=")
    if argument.startswith("~"):
        raise ConfigError(f"{argument}: keys cannot be taken away; give the key another value (key=null)")
    if not equals:
        hint = meant(argument, ["status"])
        raise ConfigError(f"{argument!r} is not of the form key=value{hint} (see --help)")
    if not text or "${" in text:
        what = "refers to another key; write the value itself" if text else "has no value"
        raise ConfigError(f"{argument}: {key} {what}")
    parser = OverridesParser.create()
    try:
        try:
            override = parser.parse_override(argument)
        except HydraException:
            override = parser.parse_override(f"{key}={_quoted(text)}")
    except HydraException as error:
        reason = str(error).splitlines()[0].split(" expecting {")[0]
        raise ConfigError(
            f"{argument!r} cannot be read ({reason}); a value with , = : or brackets in it "
            "goes inside quotes, as in \"key='a,b'\""
        ) from error
    key = override.key_or_group
    if override.package is not None:
        raise ConfigError(f"{argument}: packages (group@package) are not used here; write {key}=…")
    if override.type not in (OverrideType.CHANGE, OverrideType.ADD, OverrideType.FORCE_ADD):
        raise ConfigError(f"{argument}: this kind of override is not used here; write key=value")
    if override.is_interval_sweep():
        raise ConfigError(f"{argument}: an interval is not a list; write {key}=a,b or {key}=range(a,b,step)")
    if override.value_type == ValueType.GLOB_CHOICE_SWEEP:
        names, pattern = list(choices.get(key, ())), cast(Glob, override.value())
        if matches := pattern.filter(names):
            return [Override(key, name) for name in matches]
        raise ConfigError(f"{argument} fits no name\nvalid: {', '.join(names or choices)}")
    if not override.is_sweep_override():
        return [Override(key, override.value())]
    texts = dict.fromkeys(override.sweep_string_iterator())
    return [Override(key, parser.parse_override(f"{key}={each}").value()) for each in texts]


def _quoted(text: str) -> str:
    """Quote parts that the grammar cannot read (accents), unless the value has quotes or brackets."""
    ends = "[]" if text[:1] + text[-1:] == "[]" else ""
    parts = text[1:-1].split(",") if ends else text.split(",")
    if not set("()[]{}'\"\\").isdisjoint("".join(parts)):
        return text
    quoted = ",".join(each if re.fullmatch(r"[\w.+-]*", each, re.ASCII) else f"'{each}'" for each in parts)
    return f"[{quoted}]" if ends else quoted
