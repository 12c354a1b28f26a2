"""``run.py check-ranker NAME``: puts a ranker through the contract of the benchmark."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence

from experiments.cli.subcommand import run_subcommand
from experiments.config.compose import compose_runs
from experiments.errors import ConfigError
from experiments.programs import program
from experiments.rankers.contract import CHECKS, SECONDS, outcomes

_STATES = ("passed", "failed", "doubtful", "not applicable", "not judged")
_LIMIT = "--time-limit"
USAGE = """PROGRAM NAME [key=value …] [--config-dir FOLDER] [--time-limit SECONDS]
    NAME is package.module.Class, package.module.function, or a name of conf/ranker; key=value sets its parameters
    (n_neighbors=5). One line per check: passed, failed with what to do, doubtful (look for yourself), not
    applicable, or not judged (hidden by what another check has found). A check that takes longer than the limit, by
    default 60 seconds, has failed.

Ends with 0 when no check failed, 1 when one did, 2 for bad input."""


def main(argv: Sequence[str]) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str
        Arguments without the program's name.

    Returns
    -------
    int
        Exit code: 0, 1 when a check failed, 2 for bad input, 130 for Ctrl-C.
    """
    return run_subcommand(argv, lambda: USAGE.replace("PROGRAM", program("check-ranker")), _check)


def _check(argv: Sequence[str]) -> int:
    sys.path.append(os.getcwd())  # as in run.py
    seconds, argv = _seconds(argv)
    name, ranker = _ranker(argv)
    width, states = max(map(len, CHECKS)), []
    for each in outcomes(ranker, seconds=seconds):
        print(f"{each.state:<14}  {each.check:<{width}}  {each.said}", flush=True)
        states.append(each.state)
    counts = {state: states.count(state) for state in _STATES}
    shown = (f"{n} {state}" for state, n in counts.items() if n or state not in ("doubtful", "not judged"))
    print(f"{name}: " + ", ".join(shown))
    return 1 if counts["failed"] else 0


def _seconds(argv: Sequence[str]) -> tuple[float, list[str]]:
    """Take the time limit out of the arguments."""
    rest: list[str] = []
    typed: str | None = None
    left = iter(argv)
    for each in left:
        if each == _LIMIT:
            typed = next(left, "")
        elif each.startswith(f"{_LIMIT}="):
            typed = each.partition("=")[2]
        else:
            rest.append(each)
    if typed is None:
        return SECONDS, rest
    try:
        seconds = float(typed)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < math.inf:
        raise ConfigError(f"{_LIMIT} needs a number of seconds above 0, such as {_LIMIT}=300, not {typed!r}")
    return seconds, rest


def _ranker(argv: Sequence[str]) -> tuple[str, dict]:
    if argv[0].startswith("-") or "=" in argv[0]:
        raise ConfigError(
            "check-ranker needs the name of a ranker: package.module.Class, or a name of conf/ranker"
        )
    name, *more = argv
    arguments = [f"ranker._target_={name}" if "." in name else f"ranker={name}"]
    for each in more:
        is_setting = (
            "=" in each and not each.startswith(("-", "ranker.")) and more[more.index(each) - 1] != "-cd"
        )
        arguments.append(f"ranker.{each}" if is_setting else each)
    plan = compose_runs(arguments)
    if plan.action != "run":
        raise ConfigError(f"check-ranker takes a ranker and its parameters, not {' '.join(more)}")
    rankers = {config["ranker_key"]: config["ranker"] for config in plan.configs}
    if len(rankers) > 1:
        raise ConfigError(f"one ranker at a time, not {', '.join(rankers)}")
    return next(iter(rankers.items()))
