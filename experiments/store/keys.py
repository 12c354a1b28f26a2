"""Keys of cells: a hash of what decides their numbers."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def cell_key(content: Mapping[str, Any]) -> str:
    """Hash what decides the numbers of a cell.

    Parameters
    ----------
    content : mapping
        Nested mappings with text keys, lists or tuples, text, numbers (numpy's too), booleans and None.

    Returns
    -------
    str
        SHA-256, 64 hexadecimal digits. The order of keys does not count; neither does list or tuple. 1 and 1.0 do
        differ: ``max_features=1`` is one column to scikit-learn and ``1.0`` all of them, so taking them for
        the same would sooner or later hand out another cell's rows. At worst a cell runs once more.

    Raises
    ------
    ValueError
        For NaN or infinity.
    TypeError
        For any other kind of value or key (paths, arrays, objects): its text could depend on the machine.
    """
    return hashlib.sha256(_text(_canonical(content, "key")).encode("ascii")).hexdigest()


def keys_of_repeats(content: Mapping[str, Any], repeats: Iterable[int]) -> list[str]:
    """Hash cells that differ in their repeat alone.

    Parameters
    ----------
    content : mapping
        As for :func:`cell_key`, without "repeat".
    repeats : iterable of int
        Which repeats.

    Returns
    -------
    list of str
        ``cell_key({**content, "repeat": repeat})`` for each, in a tenth of the time.

    Raises
    ------
    ValueError, TypeError
        As :func:`cell_key`.
    """
    # JSON with sorted keys is the same text but for one number, and everything before it needs hashing once.
    members = {key: _text(value) for key, value in _canonical(content, "key").items()}
    before = "".join(f"{_text(key)}:{members[key]}," for key in sorted(members) if key < "repeat")
    after = "".join(f",{_text(key)}:{members[key]}" for key in sorted(members) if key > "repeat")
    begun = hashlib.sha256(f'{{{before}"repeat":'.encode("ascii"))
    keys = []
    for repeat in repeats:
        digest = begun.copy()
        digest.update(f"{int(repeat)}{after}}}".encode("ascii"))
        keys.append(digest.hexdigest())
    return keys


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _canonical(value: Any, where: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}; only finite numbers can be part of a cell's key")
        return value + 0.0  # −0.0 becomes 0.0
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{where} has the key {key!r}; keys must be text")
        return {str(key): _canonical(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item, f"{where}[{i}]") for i, item in enumerate(value)]
    raise TypeError(f"{where} is a {type(value).__name__}; it cannot be part of a cell's key")
