"""Values of the command line as they were written: ``1e3`` and ``true`` may be names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_WORD = re.compile(r"[A-Za-z_][\w./-]*")
_NO_TEXT = ("null", "true", "false", "nan", "inf")

#: Numbers, truth values and null, which the grammar does not keep as they were written.
_LITERAL = re.compile(r"[\w.+-]+")


def pieces(text: str) -> list[str]:
    """Cut at the commas that stand in no quotes, brackets or parentheses, nor behind a backslash.

    Parameters
    ----------
    text : str
        Such as ``a,[b,c],'d,e'``.

    Returns
    -------
    list of str
        Without the blanks around each; empty for an empty text.
    """
    found, start, depth, quote, place = [], 0, 0, "", 0
    while place < len(text):
        mark = text[place]
        if mark == "\\":
            place += 1
        elif quote:
            quote = "" if mark == quote else quote
        elif mark in "'\"":
            quote = mark
        elif mark in "[{(":
            depth += 1
        elif mark in "]})":
            depth -= 1
        elif mark == "," and depth == 0:
            found.append(text[start:place].strip())
            start = place + 1
        place += 1
    last = text[start:].strip()
    return [*found, last] if found or last else []


def spelled(text: str, value: Any) -> str | list[Any] | None:
    """Say how a value was written.

    Parameters
    ----------
    text : str
        As typed.
    value : object
        As the grammar reads it.

    Returns
    -------
    str, list or None
        A list for a list; ``None`` where it is not known, as for the outcome of a function.
    """
    text = text.strip()
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = pieces(text[1:-1]) if text[:1] + text[-1:] == "[]" else []
        if len(parts) != len(value):
            return None
        return [spelled(part, each) for part, each in zip(parts, value, strict=True)]
    return text if _LITERAL.fullmatch(text) else None


def written(value: Any) -> str:
    """Write a value in Hydra's syntax.

    Parameters
    ----------
    value : object
        None, truth value, number, text, or lists and dicts of them.

    Returns
    -------
    str
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return f"[{','.join(map(written, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key}:{written(each)}' for key, each in value.items())}}}"
    if isinstance(value, str) and not (
        _WORD.fullmatch(value) and value.isascii() and value.lower() not in _NO_TEXT
    ):
        return quoted(value)
    return str(value)


def quoted(text: str) -> str:
    """Put a text into the quotes of Hydra's grammar."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def quoted_where_needed(parts: Sequence[str], readable: Any) -> str:
    """Write a list whose parts the grammar may not be able to read.

    Parameters
    ----------
    parts : sequence of str
        As typed.
    readable : callable
        Text → whether the grammar can read it.

    Returns
    -------
    str
    """
    return f"[{','.join(part if readable(part) else quoted(part) for part in parts)}]"
