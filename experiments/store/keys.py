"""Keys of cells: a hash of what decides their numbers."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def cell_key(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what decides the numbers of a cell, as 64 hexadecimal digits."""
    # Neither the order of keys counts nor list or tuple. 1 and 1.0 differ: max_features=1 is one column to
    # scikit-learn and 1.0 is all of them. At worst a cell runs once more.
    text = json.dumps(_canonical(content, "key"), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


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
    # The text of a path, an array or an object could depend on the machine.
    raise TypeError(f"{where} is a {type(value).__name__}; it cannot be part of a cell's key")
