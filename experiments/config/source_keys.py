"""The keys of a data set's source, by the types that its reader states: ``header: bool``, ``target: str | int``.

A name of a column is text, though YAML may read a number, a date or a truth value in it: ``5.0``, ``1e3``,
``true``,
``null``. The text is kept as long as it is at hand, from the command line and from a YAML file.
"""

from __future__ import annotations

import collections.abc
import inspect
import re
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.errors import ConfigError
from experiments.locate import RESERVED, locate

_YES = ("true", "yes", "on", "1")
_NO = ("false", "no", "off", "0")

#: A whole number as one writes a place; ``1_000``, ``0x10`` and ``007`` are names.
_PLACE = re.compile(r"0|-?[1-9]\d*")
_WHOLE = re.compile(r"[+-]?\d+")

#: Keys that name a column: typed as ``null`` they name a column called null.
_COLUMNS = ("target",)

#: Keys of the data set itself that are names.
OF_DATASET: dict[str, Any] = {
    "name": str,
    "groups": str | None,
    "folds": str | None,
    "informative": Sequence[str] | None,
}

#: What stands for "no text known".
UNKNOWN = object()


def annotations_of(target: str) -> dict[str, Any]:
    """Return the types of a reader's parameters.

    Parameters
    ----------
    target : str
        Its dotted name.

    Returns
    -------
    dict
        Parameter → type; without those that state none.

    Raises
    ------
    ConfigError
        When there is no such reader.
    """
    reader = locate(target)
    try:
        found = typing.get_type_hints(reader.__init__ if inspect.isclass(reader) else reader)
    except (AttributeError, NameError, TypeError):  # a reader of one's own, with types that are not there
        return {}
    return {name: kind for name, kind in found.items() if name not in ("return", "places")}


def typed_source(source: Mapping[str, Any], *, where: str = "", texts: Any = UNKNOWN) -> dict[str, Any]:
    """Give the keys of a source the types that its reader states.

    Parameters
    ----------
    source : mapping
        A block with ``_target_``.
    where : str
        What a message begins with.
    texts : mapping, optional
        The same block as text, each scalar as it was written.

    Returns
    -------
    dict

    Raises
    ------
    ConfigError
        For a value of another type.
    """
    target = source.get("_target_")
    if not isinstance(target, str):
        return dict(source)
    kinds = annotations_of(target)
    written = texts if isinstance(texts, Mapping) else {}
    return {
        key: value
        if key in RESERVED or key not in kinds
        else converted(value, kinds[key], f"{where}dataset.{key}", written.get(key, UNKNOWN))
        for key, value in source.items()
    }


def typed_sources(dataset: Mapping[str, Any], *, where: str = "", texts: Any = UNKNOWN) -> dict[str, Any]:
    """Do so for all sources of a data set, and for its own keys that are names.

    Parameters
    ----------
    dataset : mapping
        A block of ``conf/dataset``.
    where, texts
        As for :func:`typed_source`.

    Returns
    -------
    dict

    Raises
    ------
    ConfigError
        As :func:`typed_source`.
    """
    written = texts if isinstance(texts, Mapping) else {}
    result = dict(dataset)
    if isinstance(result.get("source"), Mapping):
        result["source"] = typed_source(result["source"], where=where, texts=written.get("source", UNKNOWN))
    listed = result.get("sources")
    if listed:
        several = written.get("sources")
        several = (
            several if isinstance(several, list) and len(several) == len(listed) else [UNKNOWN] * len(listed)
        )
        result["sources"] = [
            typed_source(each, where=where, texts=text) if isinstance(each, Mapping) else each
            for each, text in zip(listed, several, strict=True)
        ]
    for key, kind in OF_DATASET.items():
        if result.get(key) is not None:  # text already, but not always that which was written
            result[key] = converted(written.get(key, result[key]), kind, f"{where}dataset.{key}")
    return result


def texts_of(file: Path) -> Any:
    """Read a YAML file with scalars as the text that stands there; :data:`UNKNOWN` where that is impossible."""
    import yaml

    try:
        return yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return UNKNOWN


def converted(value: Any, kind: Any, key: str, text: Any = UNKNOWN) -> Any:
    """Give a value the type of its key.

    Parameters
    ----------
    value : object
        As YAML or the command line's grammar reads it.
    kind : type
        What the reader states: a class, a union, a sequence or a mapping of them.
    key : str
        For messages.
    text : str, list or mapping, optional
        The value as it was written.

    Returns
    -------
    object

    Raises
    ------
    ConfigError
        When it has another type.
    """
    members = _members(kind)
    if value is None:
        name = key.rpartition(".")[2]
        if isinstance(text, str) and name in _COLUMNS and str in members:
            return text
        if type(None) in members or kind is Any:
            return None
        raise _wrong(key, members, value)
    if Any in members or (isinstance(value, str) and "${" in value):
        return value
    if isinstance(value, Mapping):
        return _mapping(value, members, key, text)
    if isinstance(value, list | tuple):
        return _list(value, members, key, text)
    scalar = _scalar(value, members, text)
    if scalar is not UNKNOWN:
        return scalar
    inner = next((each for each in members if typing.get_origin(each) is collections.abc.Sequence), None)
    if inner is not None:  # a list of one, without its brackets
        return [converted(value, typing.get_args(inner)[0], key, text)]
    raise _wrong(key, members, value)


def _members(kind: Any) -> tuple[Any, ...]:
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return tuple(part for each in typing.get_args(kind) for part in _members(each))
    return (kind,)


def _scalar(value: Any, members: Sequence[Any], text: Any) -> Any:
    """Convert a text, a number or a truth value; :data:`UNKNOWN` when it is none of the types."""
    known = isinstance(text, str)
    if bool in members:
        if isinstance(value, bool):
            return value
        word = str(value).lower()
        if isinstance(value, str | int) and word in (*_YES, *_NO):
            return word in _YES
    if str in members:
        if isinstance(value, str):
            return value
        if int in members and isinstance(value, int) and not isinstance(value, bool):
            return value if not known or _PLACE.fullmatch(text) else text
        if known:
            return text
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, bool):
        return UNKNOWN
    if int in members:
        if isinstance(value, int):
            return value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and _WHOLE.fullmatch(value):
            return int(value)
    if float in members:
        try:
            return float(value)
        except (TypeError, ValueError):
            return UNKNOWN
    known_kinds = (bool, int, float, str, type(None), collections.abc.Sequence, collections.abc.Mapping)
    odd = [each for each in members if (typing.get_origin(each) or each) not in known_kinds]
    return value if odd else UNKNOWN


def _list(value: Sequence[Any], members: Sequence[Any], key: str, text: Any) -> list[Any]:
    inner = next((each for each in members if typing.get_origin(each) is collections.abc.Sequence), None)
    if inner is None:
        odd = [each for each in members if (typing.get_origin(each) or each) in (list, tuple)]
        if odd:
            return list(value)
        raise _wrong(key, members, list(value))
    kind = typing.get_args(inner)[0]
    texts = text if isinstance(text, list) and len(text) == len(value) else [UNKNOWN] * len(value)
    # In a list, null is a word like others: nobody lists nothing.
    return [
        written
        if each is None and isinstance(written, str) and str in _members(kind)
        else "null"
        if each is None and str in _members(kind)
        else converted(each, kind, key, written)
        for each, written in zip(value, texts, strict=True)
    ]


def _mapping(value: Mapping[Any, Any], members: Sequence[Any], key: str, text: Any) -> Any:
    inner = next((each for each in members if typing.get_origin(each) is collections.abc.Mapping), None)
    if inner is None:
        sequence = next(
            (each for each in members if typing.get_origin(each) is collections.abc.Sequence), None
        )
        if (
            sequence is not None
            and typing.get_origin(typing.get_args(sequence)[0]) is collections.abc.Mapping
        ):
            return [_mapping(value, _members(typing.get_args(sequence)[0]), key, text)]
        if any((typing.get_origin(each) or each) is dict for each in members):
            return dict(value)
        raise _wrong(key, members, dict(value))
    kind = typing.get_args(inner)[1]
    # The text has the same keys in the same order, as text.
    written = list(text.items()) if isinstance(text, Mapping) and len(text) == len(value) else []
    result = {}
    for place, (name, each) in enumerate(value.items()):
        name_text, each_text = written[place] if written else (UNKNOWN, UNKNOWN)
        name = converted(name, str, key, name_text)
        result[name] = each if kind is Any else converted(each, kind, f"{key}.{name}", each_text)
    return result


def _wrong(key: str, members: Sequence[Any], value: Any) -> ConfigError:
    wanted = []
    for each in members:
        origin = typing.get_origin(each) or each
        name = _WORDS.get(origin)
        if name is not None and name not in wanted:
            wanted.append(name)
    shown = "null" if value is None else repr(value)
    return ConfigError(
        f"{key}={_shown(value)}: it takes {' or '.join(wanted) or 'another type'}, not {shown}"
    )


def _shown(value: Any) -> str:
    return (
        {None: "null", True: "true", False: "false"}[value]
        if value is None or isinstance(value, bool)
        else str(value)
    )


_WORDS: dict[Any, str] = {
    bool: "yes or no (true, false, on, off, 1, 0)",
    int: "a whole number",
    float: "a number",
    str: "text",
    collections.abc.Sequence: "a list",
    collections.abc.Mapping: "a block of keys",
}
