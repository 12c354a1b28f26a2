"""What is typed: ``run.py`` and ``report.py`` of a checkout, ``reliefe-study`` where the project is installed."""

from __future__ import annotations

import faulthandler
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from experiments.errors import BadInputError
from experiments.formatting import count
from experiments.printing import prepare_output
from experiments.programs import is_checkout, program

_DISTRIBUTION = "reliefe-bench"
_MORE = """

Other commands
  {run} rank FILE --target NAME      ranks the features of a table of your own: names, how many, how sure
  {run} report [key=value ...]       table, figures and page from finished results; runs nothing
  {run} datasets check|list|fetch    compare data sets with the paper, list them, download them
  {run} check-ranker TARGET          checks a ranker of your own"""
#: The oldest Python that the project supports.
_NEEDED_PYTHON = (3, 11)
_SET_UP = "python3 bootstrap.py setup, which makes the environment .venv and says how to enter it"
#: Packages that a study cannot do without, asked for where the project itself is not installed.
_NEEDED = ("numpy", "scipy", "sklearn", "numba", "pandas", "pyarrow", "hydra", "matplotlib", "rich")


def main(argv: Sequence[str] | None = None) -> int:
    """Start what ``run.py`` or ``reliefe-study`` was asked for.

    Parameters
    ----------
    argv : sequence of str, optional
        ``report``, ``rank``, ``datasets`` or ``check-ranker`` and their arguments, else those of a run; by default
        the command line's.

    Returns
    -------
    int
        Exit code: 0 = all fine, 1 = a fold failed or a data set is not here, 2 = bad input, or the packages of a
        study are not installed, 130 = Ctrl-C, 141 = nobody reads the output any more.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    begin()
    if not installed("report" if argv[:1] == ["report"] else "run"):
        return 2
    try:
        code = _started(argv)
        print(end="", flush=True)
        return code
    except BrokenPipeError:  # what has been computed is on disk
        for stream in (sys.stdout, sys.stderr):  # nothing is left to be flushed at the very end
            with suppress(AttributeError, OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return 141


def _started(argv: Sequence[str]) -> int:
    # No match statement: an old Python reads this module too, and is to print the line of installed().
    command, rest = (argv[0], argv[1:]) if argv else ("", argv)
    if command == "check-datasets":
        command, rest = "datasets", ["check", *rest]
    if command == "report":
        return report(rest)
    if command == "datasets":
        from experiments.cli import datasets

        return datasets.main(rest)
    if command == "rank":
        from experiments.cli import rank

        return rank.main(rest)
    if command == "check-ranker":
        from experiments.cli import check_ranker

        return check_ranker.main(rest)
    return run(argv)


def installed(action: str) -> bool:
    """Tell whether this Python and its packages can run a study, and print what to do if not.

    Parameters
    ----------
    action : str
        What is started, as :func:`experiments.programs.program` knows it.

    Returns
    -------
    bool
    """
    if sys.version_info < _NEEDED_PYTHON:
        print(_needs_python(program(action)), file=sys.stderr)
        return False
    absent = lacking()
    if absent:
        print(_how_to_get(absent, program(action)), file=sys.stderr)
    return not absent


def _needs_python(started: str) -> str:
    needed, this = ".".join(map(str, _NEEDED_PYTHON)), ".".join(map(str, sys.version_info[:3]))
    told = f"error: {started} needs Python {needed} or newer; this is {this} ({sys.executable})"
    return f"{told}: type {_SET_UP}" if is_checkout() else told


def _how_to_get(absent: Sequence[str], started: str) -> str:
    told = f"{absent[0]} and {count(len(absent) - 1, 'more package')}" if len(absent) > 1 else absent[0]
    if is_checkout():
        return f"error: {started} needs {told}, not installed for {sys.executable}: type {_SET_UP}"
    return (
        f'error: reliefe-study needs {told}, not installed here: pip install "{_DISTRIBUTION}[study]"\n'
        "(or the wheel's file with [study] behind it); the library reliefe does without"
    )


def begin() -> None:
    """Get ready for every encoding, and for a module that takes the process down while it is imported."""
    prepare_output()
    with suppress(AttributeError, OSError, ValueError, RuntimeError):  # where standard error is no file
        faulthandler.enable()


def run(argv: Sequence[str]) -> int:
    """Run one study and show what came out.

    Parameters
    ----------
    argv : sequence of str
        Arguments.

    Returns
    -------
    int
        0 = all fine, 1 = a fold failed or a data set is not here, 2 = bad input, 130 = Ctrl-C.
    """
    begin()
    sys.path.append(os.getcwd())  # a ranker of the user's own may lie where the command is typed
    try:
        from experiments.config.compose import compose_runs

        plan = compose_runs(argv)
        if plan.action in ("help", "show"):
            print(_in_words_of(plan.text, plan.action, program()))
            return 0
        from experiments import report as reports
        from experiments.execution import runner

        in_part = "study" in plan.configs[0]  # a named study runs with the data sets that are here
        if plan.action == "status":
            result = runner.collect_study(plan.configs, skip_absent=in_part)
            reports.status.show(result, plan.configs, sys.stdout)
            return 0
        result = runner.run_study(plan.configs, skip_absent=in_part, in_process=False)
        # The page of a named study needs posteriors, which take minutes: that is for a report.
        more: dict[str, Any] = {"absent": result.absent, "whole": not in_part, "arguments": argv}
        more["feature_names"] = result.feature_names
        reports.show(result.frame, plan.configs, plan.configs[0]["paths"], sys.stdout, **more)
        return result.exit_code
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return getattr(error, "exit_code", 2)
    except KeyboardInterrupt:  # the runner has said what is kept and how to go on
        return 130


def report(argv: Sequence[str]) -> int:
    """Show what a study has so far, from the rows on disk; runs nothing.

    Parameters
    ----------
    argv : sequence of str
        Arguments of a run.

    Returns
    -------
    int
        0 = shown, 2 = bad input, 130 = interrupted.
    """
    begin()
    sys.path.append(os.getcwd())  # as in a run
    try:
        from experiments.config.compose import compose_runs

        plan = compose_runs(argv)
        if plan.action in ("help", "show"):
            print(_in_words_of(plan.text, plan.action, program("report")))
            return 0
        from experiments import report as reports
        from experiments.execution import runner

        result = runner.collect_study(plan.configs, skip_absent="study" in plan.configs[0])
        counts = result.counts
        notes = [
            f"{counts.missing} of {count(counts.cells, 'cell')} missing or to be tried again; nothing is run here"
        ]
        if result.not_read:
            notes.append(runner.not_read_in_words(result.not_read))
        for each in result.quarantined:
            notes.append(f"quarantined, not read as data: {each.moved_to}: {each.reason}")
        more: dict[str, Any] = {"absent": result.absent, "whole": True, "arguments": argv, "notes": notes}
        more["feature_names"] = result.feature_names
        reports.show(result.frame, plan.configs, plan.configs[0]["paths"], sys.stdout, **more)
        return 0
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; a later report goes on from the posteriors that are kept", file=sys.stderr)
        return 130


def lacking() -> list[str]:
    """List the packages that a study needs and that are not installed.

    Returns
    -------
    list of str
        As the installed project names them; where it is not installed, those of a few without which nothing runs.
    """
    try:
        required = metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return [name for name in _NEEDED if find_spec(name) is None]
    needed = [line for line in required if re.search(r"extra == ['\"]study['\"]", line)]
    names = [name for line in needed for name in re.findall(r"^[\w.-]+", line)]
    return [name for name in names if not _installed(name)]


def _installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _in_words_of(text: str, action: str, started: str) -> str:
    if action != "help":
        return text
    return text.replace("python run.py", started) + _MORE.replace("{run}", program())
