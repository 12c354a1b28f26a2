"""Whether a ranker can take a data set at all, known before anything is fitted."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Mapping
from typing import Any

from sklearn.base import RegressorMixin

from experiments.errors import ConfigError
from experiments.locate import is_score_function, locate
from experiments.rankers.accepted_targets import NUMBERS, why_no_classes, why_no_labels, why_no_numbers
from experiments.rankers.adapters import build
from experiments.tasks import REGRESSION

#: Packages whose estimators are made to be asked; their constructors only keep what they are given.
_ASKED = ("reliefe", "sklearn", "skrebate", "fast_select", "experiments")
#: How long a constructor is waited for, seconds.
_PATIENCE = 10.0


def refusal(ranker: Mapping[str, Any], task: str, n_classes: int | None = None) -> str:
    """Say why a ranker cannot rank a data set.

    The rest of a sentence that begins with the ranker's name; empty when it can, and when that is not known
    before it is fitted. What cannot be made is refused here for a numeric target alone.
    """
    try:
        target = locate(ranker["_target_"])
    except ConfigError:
        return ""
    if is_score_function(target, ranker.get("_partial_")):
        return _why(functools.partial(target), task, n_classes)
    is_known = str(getattr(target, "__module__", "")).partition(".")[0] in _ASKED
    if task != "multiclass":
        is_asked = is_known or hasattr(target, "__sklearn_tags__")
    else:
        if inspect.isclass(target) and issubclass(target, RegressorMixin):
            return NUMBERS
        is_asked = is_known
    built = _made(ranker) if is_asked else None
    if (
        isinstance(built, ConfigError) and task == REGRESSION
    ):  # it may be made for classes, and not for numbers
        return f"cannot be made for a numeric target: {built}"
    return "" if built is None or isinstance(built, Exception) else _why(built, task, n_classes)


def _why(built: Any, task: str, n_classes: int | None) -> str:
    try:
        if task == REGRESSION:
            return why_no_numbers(built)
        return why_no_labels(built) if task == "multilabel" else why_no_classes(built, n_classes)
    except Exception:  # tags that raise; its folds will say so
        return ""


def _made(ranker: Mapping[str, Any]) -> Any:
    """Make the ranker; what it raises instead, or None when it does not come back."""
    made: list[Any] = []

    def make() -> None:
        try:
            made.append(build(ranker))
        except Exception as error:  # a run says what is wrong
            made.append(error)
        except BaseException:  # sys.exit(): it must not end the program
            return

    thread = threading.Thread(target=make, name="asking a ranker", daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    return made[0] if made else None
