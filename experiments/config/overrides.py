"""The command line of ``run.py``, taken apart: flags, overrides and sweeps.

Hydra's own grammar reads each ``key=value``; what Hydra would answer with a traceback, or by silently starting
several jobs, is answered here with one line or one study.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.config.override_texts import pieces, quoted, quoted_where_needed
from experiments.errors import ConfigError, meant

FLAGS = ("--help", "--cfg job", "--multirun", "--config-dir FOLDER")

#: Groups of which one file holds for the whole study.
_ONE_FOR_ALL = ("study", "paths", "launcher")

#: Keys whose value is taken as text when Hydra's grammar cannot read it.
_AS_TYPED = (
    *tuple(
        f"dataset.{source}{key}"
        for source in ("", "source.")
        for key in (
            "path",
            "target",
            "leave_out",
            "nominal",
            "text",
            "na_values",
            "features",
            "labels",
            "missing_cells",
        )
    ),
    "dataset.informative",
    "dataset.name",
)


@dataclass(frozen=True)
class CommandLine:
    """Arguments sorted by kind.

    Attributes
    ----------
    action : str
        ``"run"``, ``"status"``, ``"help"`` or ``"show"`` (print the composed configuration).
    overrides : tuple of str
        The ``key=value`` arguments, as typed.
    config_dir : str or None
        A folder with further YAML files, as typed.
    """

    action: str
    overrides: tuple[str, ...]
    config_dir: str | None = None


@dataclass(frozen=True)
class Override:
    """One value for one key.

    Attributes
    ----------
    key : str
        Dotted, such as ``"ranker.n_neighbors"``, or the name of a group.
    text : str
        The value in Hydra's syntax.
    value : object
        The value as Python sees it.
    """

    key: str
    text: str
    value: Any

    @property
    def typed(self) -> str:
        """The override as one would type it."""
        return f"{self.key}={self.text}"


def check_name(override: Override, valid: Iterable[str]) -> None:
    """Refuse a value that is no name, where a name of a file is wanted: a list, a block, a number, null.

    Parameters
    ----------
    override : Override
        Of a group, such as ``dataset``.
    valid : iterable of str
        The names that exist.

    Raises
    ------
    ConfigError
        If the value is not text, or empty. Whether there is such a name is not looked at.
    """
    if isinstance(override.value, str) and override.value:
        return
    what = "one name" if override.key in _ONE_FOR_ALL else "a name, or several with commas between them"
    raise ConfigError(f"{override.typed}: {override.key} takes {what}\nvalid: {', '.join(valid)}")


def read_arguments(argv: Sequence[str]) -> CommandLine:
    """Tell flags from overrides.

    ``--multirun`` and ``-m`` are accepted and change nothing: a list of values always means all of them.

    Raises
    ------
    ConfigError
        For a flag that does not exist, or lacks its value.
    """
    action = "run"
    config_dir = None
    overrides = []
    arguments = list(argv)
    while arguments:
        argument = arguments.pop(0)
        if argument in ("--help", "-h"):
            action = "help"
        elif argument in ("--multirun", "-m"):
            continue
        elif argument == "status":
            action = "status" if action == "run" else action
        elif argument in ("--cfg", "-c") or argument.startswith("--cfg="):
            given = argument.partition("=")[2] or (arguments.pop(0) if arguments else "")
            if given != "job":
                raise ConfigError(
                    f"--cfg {given}: only --cfg job is there (prints the composed configuration)"
                )
            action = "show" if action in ("run", "status") else action
        elif argument in ("--config-dir", "-cd") or argument.startswith("--config-dir="):
            given = argument.partition("=")[2] or (arguments.pop(0) if arguments else "")
            if not given or config_dir is not None:
                what = "is given twice" if given else "needs a folder"
                raise ConfigError(f"--config-dir {what} (with dataset/NAME.yaml and the like in it)")
            config_dir = given
        elif argument.startswith("-"):
            hint = meant(argument, ["--help", "--cfg", "--multirun", "--config-dir"])
            raise ConfigError(f"unknown flag {argument}{hint}\nvalid: {', '.join(FLAGS)}")
        else:
            overrides.append(argument)
    return CommandLine(action, tuple(overrides), config_dir)


def read_overrides(
    typed: Sequence[str],
    choices: Mapping[str, list[str]],
    further: Mapping[str, Callable[[], list[str]]] | None = None,
) -> list[list[Override]]:
    """Parse overrides; each becomes the list of values it stands for.

    Parameters
    ----------
    typed : sequence of str
        ``key=value`` arguments.
    choices : dict of str to list of str
        The groups and the names in each; ``glob(...)`` picks from these.
    further : mapping of str to callable, optional
        Group → what gives more names, from which ``glob(...)`` picks where it fits none of the others.

    Returns
    -------
    list of list of Override
        One inner list per argument; longer than 1 for ``key=a,b``, ``choice(…)``, ``range(…)``, ``glob(…)``.

    Raises
    ------
    ConfigError
        For what is no override, is given twice, deletes a key, sweeps a key that is one for the whole study, or
        gives a group what is no name.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parser = OverridesParser.create()
    seen: dict[str, str] = {}
    result = []
    for argument in typed:
        values = _parsed(parser, argument, choices, further or {})
        key = values[0].key
        if key in seen:
            raise ConfigError(f"{key} is given twice: {seen[key]} and {argument} (several values: {key}=a,b)")
        seen[key] = argument
        if len(values) > 1 and key.split(".")[0] in ("paths", "launcher"):
            raise ConfigError(
                f"{argument}: {key} is one for the whole study"
                " (a comma that belongs to the value goes inside quotes)"
            )
        if key in choices:
            for each in values:
                check_name(each, choices[key])
        result.append(values)
    return result


def combinations(overrides: Sequence[Sequence[Override]]) -> list[tuple[Override, ...]]:
    """All combinations of values, the last argument's value changing fastest."""
    return list(itertools.product(*overrides))


def _parsed_override(parser: Any, argument: str) -> Any:
    from hydra.errors import HydraException

    try:
        return parser.parse_override(argument)
    except HydraException:
        # Folders and columns may hold brackets or equals signs, and asking for two layers of quotes helps nobody.
        key, _, text = argument.partition("=")
        if not key.startswith("paths.") and key not in _AS_TYPED:
            raise
        if key in _AS_TYPED and text[:1] + text[-1:] == "[]":
            text = quoted_where_needed(pieces(text[1:-1]), lambda part: _readable(parser, part))
            return parser.parse_override(f"{key}={text}")
        return parser.parse_override(f"{key}={quoted(text)}")


def _readable(parser: Any, text: str) -> bool:
    from hydra.errors import HydraException

    try:
        parser.parse_override(f"key=[{text}]")
    except HydraException:
        return False
    return True


def _parsed(
    parser: Any,
    argument: str,
    choices: Mapping[str, list[str]],
    further: Mapping[str, Callable[[], list[str]]],
) -> list[Override]:
    from hydra.core.override_parser.types import OverrideType, ValueType
    from hydra.errors import HydraException

    if argument.startswith("~"):
        raise ConfigError(f"{argument}: keys cannot be taken away; give the key another value (key=null)")
    if "=" not in argument:
        hint = meant(argument, ["status"])
        raise ConfigError(f"{argument!r} is not of the form key=value{hint} (see --help)")
    try:
        override = _parsed_override(parser, argument)
    except HydraException as error:
        reason = str(error).splitlines()[0]
        if "expecting {" in reason:  # the list of the grammar's tokens helps nobody
            reason = reason.split(" expecting {")[0]
        raise ConfigError(
            f"{argument!r} cannot be read ({reason}); a value with , = : or brackets in it "
            "goes inside quotes, as in \"key='a,b'\""
        ) from error
    key = override.key_or_group
    if argument.endswith("=") or "${" in argument:
        what = "has no value" if argument.endswith("=") else "refers to another key; write the value itself"
        raise ConfigError(f"{argument}: {key} {what}")
    if override.package is not None:
        raise ConfigError(f"{argument}: packages (group@package) are not used here; write {key}=…")
    if override.type not in (OverrideType.CHANGE, OverrideType.ADD, OverrideType.FORCE_ADD):
        raise ConfigError(f"{argument}: this kind of override is not used here; write key=value")
    if override.is_interval_sweep():
        raise ConfigError(
            f"{argument}: an interval has no single values; write {key}=a,b or {key}=range(a,b,step)"
        )
    if override.value_type == ValueType.GLOB_CHOICE_SWEEP:
        if key not in choices:
            raise ConfigError(
                f"{argument}: glob(…) picks names of files, so it fits {', '.join(choices)} only"
            )
        names = override.value().filter(choices[key])
        if not names and key in further:
            names = override.value().filter(further[key]())
        if not names:
            raise ConfigError(f"{argument} fits no {key}\nvalid: {', '.join(choices[key])}")
        return [Override(key, name, name) for name in names]
    if override.is_sweep_override():
        texts = list(dict.fromkeys(_sweep_texts(key, argument, override)))
        return [Override(key, text, parser.parse_override(f"{key}={text}").value()) for text in texts]
    return [Override(key, override.input_line.split("=", 1)[1], override.value())]


def _sweep_texts(key: str, argument: str, override: Any) -> Iterable[str]:
    """List the values of a sweep; those of a data set as typed, since ``1e3`` may be a name."""
    texts = list(override.sweep_string_iterator())
    typed = argument.partition("=")[2].strip()
    if typed.startswith("choice(") and typed.endswith(")"):
        typed = typed.removeprefix("choice(")[:-1]
    parts = pieces(typed) if key.startswith("dataset.") else []
    return parts if len(parts) == len(texts) > 1 else texts
