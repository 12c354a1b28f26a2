"""Does a ranker keep to what the benchmark asks of every ranker? ``run.py check-ranker …``.

The checks (:mod:`experiments.rankers.contract_checks`) run in a process of their own, which the ranker may take
down or occupy for ever: that is a failed check, and the next one has another process.
"""

from __future__ import annotations

import queue
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from experiments.errors import ConfigError
from experiments.rankers import build
from experiments.rankers.contract_checks import CHECKS, run_check
from experiments.rankers.isolation import MAKING_SECONDS, ChildProcess, Limits, SubprocessFitter, requests

__all__ = ["CHECKS", "SECONDS", "Outcome", "check", "outcomes"]

#: What a check may take, seconds.
SECONDS = 60.0
#: Checks that compare two fits, and say nothing where equal fits differ.
_COMPARE = ("threads", "sparse", "fold")
#: Threads there may be: the check of n_jobs asks for two.
_THREADS = 2


@dataclass(frozen=True)
class Outcome:
    """What one check found."""

    check: str  # its name
    # "passed", "failed", "doubtful" (a person must look; not a breach), "not applicable", or "not judged"
    # (what another check has found hides it).
    state: str
    said: str  # what was found and, for "failed" and "doubtful", what to do


def check(
    ranker: Mapping[str, Any], only: Iterable[str] | None = None, seconds: float = SECONDS
) -> list[Outcome]:
    """Put a ranker through the contract.

    Parameters
    ----------
    ranker : mapping
        A block of ``conf/ranker``, as for :func:`experiments.rankers.build`. Its target must be in a module that
        another process can import.
    only : iterable of str, optional
        Names of checks (keys of :data:`CHECKS`); all of them if not given. "weights" always comes first: without
        weights there is nothing else to check.
    seconds : float, default=60
        What each check may take; one that takes longer has failed.

    Returns
    -------
    list of Outcome
        In the order of :data:`CHECKS`.

    Raises
    ------
    ConfigError
        When the ranker cannot be made.
    """
    return list(outcomes(ranker, only, seconds))


def outcomes(
    ranker: Mapping[str, Any], only: Iterable[str] | None = None, seconds: float = SECONDS
) -> Iterator[Outcome]:
    """Do as :func:`check`, giving each outcome as it comes.

    Parameters
    ----------
    ranker, only, seconds
        As for :func:`check`.

    Yields
    ------
    Outcome

    Raises
    ------
    ConfigError
        As from :func:`check`, before the first one.
    """
    wanted = list(CHECKS) if only is None else ["weights", *(name for name in only if name != "weights")]
    with closing(_Bench(dict(ranker), seconds)) as bench:
        made = bench.make()
        first = bench.run("weights") if made is None else made
        yield first[0]
        for name in wanted[1:]:
            if first[0].state == "failed":
                yield Outcome(name, "not applicable", "needs weights")
                continue
            if name in _COMPARE:
                seed, why = bench.run("seed")
                if seed.state == "failed" and (name, why) != ("fold", "trace"):
                    yield Outcome(name, "not judged", "one seed does not give one result: see seed")
                    continue
            yield bench.run(name)[0]


class _Bench:
    """Runs checks in a process that may die or not come back."""

    def __init__(self, block: dict[str, Any], seconds: float):
        self._block = block
        self._seconds = seconds
        self._child = ChildProcess("experiments.rankers.contract.serve", _THREADS)
        self._made = False
        self._known: dict[str, tuple[Outcome, str]] = {}

    def make(self) -> tuple[Outcome, str] | None:
        """Make the ranker; return an outcome when that does not even end."""
        # Its packages are imported now.
        state, said, why = self._ask(None, max(self._seconds, MAKING_SECONDS))
        if state == "wrong":
            raise ConfigError(said)
        self._made = state == "made"
        return None if self._made else (Outcome("weights", state, f"making the ranker: {said}"), why)

    def run(self, name: str) -> tuple[Outcome, str]:
        """Run a check, once; return what it found and why."""
        if name not in self._known:
            if not self._made:  # the last process is no more: starting another one is not this check's time
                self.make()
            state, said, why = self._ask(name, self._seconds)
            self._known[name] = Outcome(name, state, said), why
        return self._known[name]

    def close(self) -> None:
        self._made = False
        self._child.close()

    def _ask(self, name: str | None, seconds: float) -> tuple[str, str, str]:
        self._child.ask(name, self._block)
        try:
            answer = self._child.answer(seconds)
        except queue.Empty:
            self.close()
            return (
                "failed",
                f"no answer within {seconds:g} s (if it is only slow, allow more: --time-limit)",
                "",
            )
        if answer[0] == "died":
            self.close()
            return "failed", f"its process {answer[1]}; a ranker must not end the program it runs in", ""
        return answer


def serve() -> None:
    """Be the process that the checks run in."""
    asked, answer = requests()
    first_tries = SubprocessFitter(Limits())  # ended with this process and all that it has started
    for name, block in asked:
        if name is not None:
            answer(run_check(name, block, first_tries))
            continue
        try:
            build(block)
            answer(("made", "", ""))
        except ConfigError as error:
            answer(("wrong", str(error), ""))
        except BaseException as error:  # nobody interrupts this process: it is the ranker's own
            answer(("failed", f"{type(error).__name__}: {error}".rstrip(": "), ""))
