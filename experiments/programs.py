"""How the programs of the project are started: the one place that everything printed asks."""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.paths import conf_folder

_CHECKOUT = {"run": "python run.py", "report": "python report.py", "publish": "python publish.py"}
_INSTALLED = "reliefe-study"


def is_checkout() -> bool:
    """Whether the programs are those of a checkout (``run.py``), not the installed ``reliefe-study``."""
    return Path(sys.argv[0]).stem != _INSTALLED and conf_folder().parent.name != "experiments"


def program(action: str = "run") -> str:
    """Return the command of an action or subcommand: ``python run.py rank`` or ``reliefe-study rank``."""
    if is_checkout():
        return _CHECKOUT.get(action) or f"{_CHECKOUT['run']} {action}"
    return _INSTALLED if action == "run" else f"{_INSTALLED} {action}"
