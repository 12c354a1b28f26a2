"""What ``check-ranker``, ``datasets`` and ``rank`` have in common: help, bad input and Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from experiments.errors import BadInputError
from experiments.printing import prepare_output


def run_subcommand(
    argv: Sequence[str],
    usage: Callable[[], str],
    act: Callable[[Sequence[str]], int],
    *,
    stopped: str = "",
) -> int:
    """Run a subcommand, or print its help.

    Parameters
    ----------
    argv : sequence of str
        Arguments without the program's name. Help is printed where there are none, where the first is ``help``,
        and where ``--help`` or ``-h`` is among them.
    usage : callable
        ``usage()`` → the help text.
    act : callable
        ``act(argv)`` → exit code; may raise BadInputError.
    stopped : str, optional
        What to print after Ctrl-C.

    Returns
    -------
    int
        Exit code: that of ``act``, 0 for help, 2 without arguments and for bad input, 130 for Ctrl-C.
    """
    prepare_output()
    if not argv or argv[0] == "help" or {"--help", "-h"} & set(argv):
        print(usage().rstrip("\n"))
        return 0 if argv else 2
    try:
        return act(argv)
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        if stopped:
            print(stopped, file=sys.stderr)
        return 130
