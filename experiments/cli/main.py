"""What is typed: ``run.py`` and ``report.py`` of a checkout, ``reliefe-study`` where the project is installed."""

from __future__ import annotations

import faulthandler
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata

from experiments.errors import BadInputError
from experiments.formatting import count
from experiments.printing import prepare_output

#: How a run and a report are started: in a checkout, and elsewhere.
CHECKOUT = ("python run.py", "python report.py")
INSTALLED = ("reliefe-study", "reliefe-study report")

_DISTRIBUTION = "reliefe-bench"
_MORE = """

Besides
  reliefe-study report [key=value ...]       table, figures and page from what is on disk; runs nothing
  reliefe-study datasets check|list|fetch    what data there is, against the paper, and getting it
  reliefe-study check-datasets [NAME...]     short for datasets check
  reliefe-study check-ranker TARGET          puts a ranker of your own through the contract of all rankers"""


def main(argv: Sequence[str] | None = None) -> int:
    """Start what ``reliefe-study`` was asked for.

    Parameters
    ----------
    argv : sequence of str, optional
        ``report``, ``datasets``, ``check-datasets`` or ``check-ranker`` and their arguments, else those of a run;
        by default the command line's.

    Returns
    -------
    int
        Exit code, as from :func:`run`, :func:`report` and the modules ``experiments.datasets`` and
        ``experiments.rankers``; 2 when the packages of a study are not installed.
    """
    _begin()
    argv = list(sys.argv[1:] if argv is None else argv)
    absent = lacking()
    if absent:
        told = f"{absent[0]} and {count(len(absent) - 1, 'more package')}" if len(absent) > 1 else absent[0]
        print(
            f'error: reliefe-study needs {told}, not installed here: pip install "{_DISTRIBUTION}[study]"\n'
            "(or the wheel's file with [study] behind it); the library reliefe does without",
            file=sys.stderr,
        )
        return 2
    if argv[:1] == ["report"]:
        return report(argv[1:], INSTALLED)
    if argv[:1] in (["datasets"], ["check-datasets"]):
        from experiments.cli.datasets import main as datasets

        more = argv[1:] if argv[0] == "datasets" else ["check", *argv[1:]]
        return datasets(more, program="reliefe-study datasets")
    if argv[:1] == ["check-ranker"]:
        from experiments.cli.check_ranker import main as rankers

        return rankers(["check", *argv[1:]] if argv[1:] else [], program="reliefe-study check-ranker")
    return run(argv, INSTALLED)


def _begin() -> None:
    """Get ready for readers that leave, and for a module that takes the process down while it is imported."""
    prepare_output()
    with suppress(AttributeError, OSError, ValueError, RuntimeError):  # where standard error is no file
        faulthandler.enable()


def run(argv: Sequence[str], programs: tuple[str, str] = CHECKOUT) -> int:
    """Run one study and show what came out.

    Parameters
    ----------
    argv : sequence of str
        Arguments.
    programs : (str, str)
        How a run and a report are started, for what is printed.

    Returns
    -------
    int
        0 = all fine, 1 = a fold failed or a data set is not here, 2 = bad input, 130 = Ctrl-C.
    """
    _begin()
    sys.path.append(os.getcwd())  # a ranker of the user's own may lie where the command is typed
    try:
        from experiments.config.compose import compose_runs

        plan = compose_runs(argv)
        if plan.action in ("help", "show"):
            print(_in_words_of(plan.text, plan.action, programs[0]))
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
        more = {"absent": result.absent, "whole": not in_part, "arguments": argv, "programs": programs}
        reports.show(result.frame, plan.configs, plan.configs[0]["paths"], sys.stdout, **more)
        return result.exit_code
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # the runner has said what is kept and how to go on
        return 130


def report(argv: Sequence[str], programs: tuple[str, str] = CHECKOUT) -> int:
    """Show what a study has so far, from the rows on disk; runs nothing.

    Parameters
    ----------
    argv : sequence of str
        Arguments of a run.
    programs : (str, str)
        As for :func:`run`.

    Returns
    -------
    int
        0 = shown, 2 = bad input.
    """
    _begin()
    sys.path.append(os.getcwd())  # as in a run
    try:
        from experiments.config.compose import compose_runs

        plan = compose_runs(argv)
        if plan.action in ("help", "show"):
            print(_in_words_of(plan.text, plan.action, programs[1]))
            return 0
        from experiments import report as reports
        from experiments.execution import runner

        result = runner.collect_study(plan.configs, skip_absent="study" in plan.configs[0])
        counts = result.counts
        print(
            f"{counts.missing} of {count(counts.cells, 'cell')} missing or to be tried again; nothing is run here"
        )
        for each in result.set_aside:
            print(f"set aside, not read as data: {each.moved_to}: {each.reason}")
        more = {"absent": result.absent, "whole": True, "arguments": argv, "programs": programs}
        reports.show(result.frame, plan.configs, plan.configs[0]["paths"], sys.stdout, **more)
        return 0
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def lacking() -> list[str]:
    """List the packages that a study needs and that are not installed.

    Returns
    -------
    list of str
        As the installed project names them; [] also where it is not installed and cannot tell.
    """
    try:
        required = metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    names = [
        re.match(r"[\w.-]+", line)[0] for line in required if re.search(r"extra == ['\"]study['\"]", line)
    ]
    return [name for name in names if not _installed(name)]


def _installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _in_words_of(text: str, action: str, program: str) -> str:
    if action != "help":
        return text
    return text.replace(CHECKOUT[0], program) + (_MORE if program == INSTALLED[0] else "")
