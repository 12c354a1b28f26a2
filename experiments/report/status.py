"""How far a study is: what is done, running, failed, stopped and missing, and how long the rest may take."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import pandas as pd

from experiments.analysis.selection import STATES, expected_of, failures, standing, work_left
from experiments.formatting import count, duration
from experiments.report.console import Console
from experiments.schema import BAD_STATUSES

__all__ = ["show"]

#: State → how a table has it, and how a sentence has it.
_SIGNS = {
    "running": ("r", "running"),
    **{status: (said[0], said) for status, said in BAD_STATUSES.items()},
    "missing": ("m", "missing"),
}


def show(result: Any, configs: Sequence[Mapping[str, Any]], out: TextIO | None = None) -> pd.DataFrame:
    """Print how far a study is."""
    expected = expected_of(configs)
    running = [(cell.dataset, cell.protocol, cell.ranker, cell.repeat) for cell in result.running]
    stand = standing(result.frame, expected, running)
    console = Console(sys.stdout if out is None else out)
    for protocol, part in stand.groupby("protocol", sort=False):
        datasets = list(part["dataset"].unique())
        cells = {
            (line.display_name, line.dataset): _sign(line)
            for line in part.itertuples()  # a ranker's name is its own within data set and protocol
        }
        rankers = list(part["display_name"].unique())
        console.matrix(f"{protocol}: cells done", "ranker", rankers, datasets, cells)
    console.paragraph("f failed, m missing, o out of memory, r running, t timed out; no letter: all done")
    console.failures(failures(result.frame, expected), expected)
    for name, reason in result.absent.items():
        console.paragraph(f"not available: {name}: {reason}")
    console.paragraph(_total(stand))
    console.paragraph(_left(stand, _n_workers(configs[0]), result.counts.missing))
    return stand


def _sign(line: Any) -> str:
    parts = [f"{line.done}/{line.n_repeats}"]
    parts += [f"{getattr(line, state)}{sign}" for state, (sign, _) in _SIGNS.items() if getattr(line, state)]
    return " ".join(parts)


def _total(stand: pd.DataFrame) -> str:
    total = {state: int(stand[state].sum()) for state in STATES}
    rest = ", ".join(f"{total[state]} {words}" for state, (_, words) in _SIGNS.items() if total[state])
    return f"{total['done']} of {count(sum(total.values()), 'cell')} done" + (f"; {rest}" if rest else "")


def _left(stand: pd.DataFrame, n_workers: int, n_to_run: int) -> str:
    seconds, n_unknown = work_left(stand)
    if not int((stand["missing"] + stand["running"] + stand["failed"]).sum()):
        # Those that were stopped run again under higher limits, which may have been typed just now.
        stopped = f"nothing is left but what was stopped ({count(n_to_run, 'cell')}); a run tries it again"
        return stopped if n_to_run else "nothing is left to run under these limits"
    busy = max(1, min(n_workers, int((stand["missing"] + stand["running"] + stand["failed"]).sum())))
    words = f"about {duration(seconds / busy)} left with {count(n_workers, 'worker')}"
    if not n_unknown:
        return words
    unknown = f"{count(n_unknown, 'cell')} of which the data set or the ranker has not finished anything yet"
    return f"no estimate yet: {unknown}" if seconds == 0 else f"{words}, without {unknown}"


def _n_workers(config: Mapping[str, Any]) -> int:
    return config["launcher"].get("n_workers") or os.cpu_count() or 1
