"""``_target_`` of a YAML file: the object it names and the parameters that object takes."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from experiments.errors import ConfigError, meant

#: Keys of a block with ``_target_`` that are not parameters of the target.
RESERVED = ("_target_", "_partial_", "display_name", "regression")

#: Modules that an extra of this project brings → the extra.
_EXTRAS = {"fast_select": "field", "boruta": "field"}


def locate(target: str) -> Any:
    """Import the class or function of a dotted name."""
    parts = target.split(".") if isinstance(target, str) else []
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise ConfigError(f"_target_={target!r} is not a dotted name such as package.module.Class")
    for cut in range(len(parts) - 1, 0, -1):
        module_name = ".".join(parts[:cut])
        try:
            found: Any = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            # Only the module's own absence means "try the shorter name"; a module that is there and lacks one
            # of *its* imports must say so.
            if error.name is not None and (module_name + ".").startswith(error.name + "."):
                continue
            raise ConfigError(
                f"_target_={target}: importing {module_name} fails: {error}{_how_to_get(error.name)}"
            ) from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a script that ends in sys.exit() too
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ConfigError(f"_target_={target}: importing {module_name} fails: {reason}") from error
        for part in parts[cut:]:
            if not hasattr(found, part):
                hint = meant(part, [name for name in dir(found) if not name.startswith("_")])
                raise ConfigError(f"_target_={target}: {module_name} has no {part!r}{hint}")
            found = getattr(found, part)
        if not callable(found):
            raise ConfigError(f"_target_={target} is a {type(found).__name__}, neither class nor function")
        return found
    raise ConfigError(
        f"_target_={target}: no module named {parts[0]!r} is installed or in the current directory"
        f"{_how_to_get(parts[0])}"
    )


def _how_to_get(module: str | None) -> str:
    """Write the command that installs a module of an extra."""
    extra = _EXTRAS.get((module or "").partition(".")[0])
    return (
        f"\npip install -c constraints.txt '.[{extra}]', in the folder of this project, installs it"
        if extra
        else ""
    )


def is_score_function(obj: Callable[..., Any], partial: bool | None) -> bool:
    """Whether a target gives scores for ``(X, y)``: as ``_partial_`` states, else everything but classes."""
    return not inspect.isclass(obj) if partial is None else bool(partial)


def parameter_names(obj: Callable[..., Any], leave_out: int = 0) -> tuple[list[str], bool]:
    """List the keyword parameters but the first ``leave_out``, and whether any name is valid (``**kwargs``)."""
    try:
        parameters = list(inspect.signature(obj).parameters.values())
    except (TypeError, ValueError):  # some C functions have no signature: nothing can be checked
        return [], True
    any_name = any(each.kind is each.VAR_KEYWORD for each in parameters)
    named = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    return named[leave_out:], any_name
