"""Which rankers take missing values as they are: those with ``missing="ignore"``, of their own or wrapped."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from experiments.errors import ConfigError
from experiments.locate import locate

#: What estimators of this project's library, and others that follow them, have by default.
_REFUSED = "raise"
_IGNORED = "ignore"


def leaving_missing(ranker: Mapping[str, Any]) -> dict[str, Any]:
    """Set ``missing="ignore"`` where the estimator has that parameter and the configuration does not state it.

    The block is not modified; a wrapped ranker (``estimator``) is set too.
    """
    block = dict(ranker)
    if "missing" in block:
        return block
    if _has_parameter(block):
        block["missing"] = _IGNORED
    elif isinstance(block.get("estimator"), Mapping):
        block["estimator"] = leaving_missing(block["estimator"])
    return block


def takes_missing(ranker: Mapping[str, Any]) -> bool:
    """Whether a configured ranker is given missing values as they are."""
    inner = ranker.get("estimator")
    return ranker.get("missing") == _IGNORED or (isinstance(inner, Mapping) and takes_missing(inner))


def _has_parameter(block: Mapping[str, Any]) -> bool:
    """Look at the default: a parameter of this name may mean something else in other packages."""
    try:
        parameters = inspect.signature(locate(block["_target_"])).parameters
    except (ConfigError, KeyError, TypeError, ValueError):  # a run says what is wrong
        return False
    default = parameters["missing"].default if "missing" in parameters else None
    return isinstance(default, str) and default == _REFUSED
