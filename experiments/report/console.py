"""Tables and lists on a console, or in whatever a console is piped into."""

from __future__ import annotations

import io
import math
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import pandas as pd
from rich import box
from rich.console import Console as RichConsole
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from experiments.analysis.claims.check import UNDECIDED, shown
from experiments.formatting import count, fixed, percent
from experiments.metrics.top_features import TOP
from experiments.printing import readable
from experiments.schema import BAD_STATUSES, when_again
from experiments.tasks import TASKS, Task

_WIDEST = 100
#: As many features of a ranker are listed.
_BEST = 10
#: Columns of a matrix take at least this much.
_MATRIX_COLUMN = 12


def significant(mean: float, sd: float = math.nan) -> str:
    """Write a duration or the like with about three digits, and its deviation with as many places."""
    if math.isnan(mean):
        return "–"
    places = 0 if mean >= 100 else 1 if mean >= 10 else 2 if mean >= 1 else 3 if mean >= 0.1 else 4
    if 0 < sd < 0.5 * 10**-places:
        places += 1  # rather one digit more than a deviation of 0
    return f"{mean:.{places}f}" + ("" if math.isnan(sd) else f" ± {sd:.{places}f}")


def _score(mean: float, sd: float = math.nan) -> str:
    if math.isnan(mean):
        return "–"
    return f"{mean:.3f}" + ("" if math.isnan(sd) else f" ± {sd:.3f}")


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:g}"


class Console:
    """Prints the parts of a report."""

    def __init__(self, out: TextIO):
        self._out = out
        self._terminal = out.isatty()
        columns = shutil.get_terminal_size((_WIDEST, 24)).columns if self._terminal else _WIDEST
        self._width = max(20, min(_WIDEST, columns))
        self._encoding = getattr(out, "encoding", None)
        lines = str(box.SIMPLE_HEAD)
        self._box = box.SIMPLE_HEAD if readable(lines, self._encoding) == lines else box.ASCII2

    def study(
        self,
        part: pd.DataFrame,
        compared: pd.DataFrame,
        apart: pd.DataFrame,
        *,
        same: str = "",
        task: Task = TASKS["multiclass"],
    ) -> None:
        """Print one data set under one protocol."""
        first = part.iloc[0]
        extent = f"{count(first['n_splits'], 'fold')} × {count(first['n_repeats'], 'repeat')}"
        self._print(
            self._text(f"\n{first['dataset']} · {first['protocol']}: {extent}{_size(part)}", style="bold")
        )
        if len(compared):
            self._print(self._table(compared, task))
            self._print(Padding(self._text(_legend(compared, task), style="dim"), (0, 0, 0, 1)))
            if same:
                told = f"The same on this data set (equal {task.score} in every fold): {same}."
                self._print(Padding(self._text(told), (0, 0, 0, 1)))
        else:
            self._print(
                Padding(self._text("no ranker is complete, so there is nothing to compare yet"), (0, 0, 0, 1))
            )
        if len(apart):
            self._print(Padding(self._text("not complete, so not compared:", style="yellow"), (0, 0, 0, 1)))
            for line in apart.itertuples():
                self._item(f"{line.display_name}: {line.reason}{_so_far(line, task)}")

    def failures(self, failed: pd.DataFrame, expected: pd.DataFrame) -> None:
        """List what failed, what took too long and what ran out of memory, each with when it is tried again."""
        if not len(failed):
            return
        keys = ["dataset", "protocol", "ranker"]
        named = failed.merge(expected[[*keys, "display_name"]], on=keys, how="left")
        for status, said in BAD_STATUSES.items():
            for limited in (True, False):
                part = named[(named["status"] == status) & (named["limited"] == limited)]
                if not len(part):
                    continue
                total = count(part["folds"].sum(), "fold")
                self._print(
                    self._text(f"\n{said}: {total} ({when_again(status, limited)})", style="bold red")
                )
                for line in part.itertuples():
                    times = f"{count(line.folds, 'fold')}, first {line.first}"
                    self._item(
                        f"{line.dataset} × {line.display_name} ({line.protocol}), {times}: {line.error}"
                    )

    def matrix(
        self,
        title: str,
        corner: str,
        rows: Sequence[str],
        columns: Sequence[str],
        cells: Mapping[tuple[str, str], str],
    ) -> None:
        """Print a table of rows × columns, below each other in parts when it is too wide."""
        self._print(self._text(f"\n{title}", style="bold"))
        widest = max((len(name) for name in rows), default=0)
        room = self._width - min(max(widest, len(corner)), 34) - 4
        n_columns = max(1, room // _MATRIX_COLUMN)
        for start in range(0, len(columns), n_columns):
            part = columns[start : start + n_columns]
            table = Table(box=self._box, pad_edge=False, padding=(0, 1))
            table.add_column(self._plain(corner), overflow="fold", max_width=34)
            for name in part:
                table.add_column(self._text(name), overflow="fold", justify="right", vertical="top")
            for row in rows:
                table.add_row(self._text(row), *(self._text(cells.get((row, name), "")) for name in part))
            self._print(table)

    def paragraph(self, text: str) -> None:
        """Print some text."""
        self._print(self._text(text))

    def place(self, sentences: Sequence[str]) -> None:
        """Print the places of added rankers."""
        for sentence in sentences:
            self._print(self._text(sentence, style="bold"))

    def absent(self, absent: Mapping[str, str]) -> None:
        """List data sets that are not here."""
        if not absent:
            return
        self._print(
            self._text(f"\nnot available, so left out: {count(len(absent), 'data set')}", style="yellow")
        )
        for name, reason in absent.items():
            self._item(f"{name}: {reason.strip().splitlines()[0]}")

    def measurements(self, protocol: str, summed: pd.DataFrame, missing: Sequence[str]) -> None:
        """Print what was measured under one protocol, a line each, and what was not."""
        self._print(self._text(f"\n{protocol}", style="bold"))
        repeated = len(summed) and summed["repeat"].max() > 0
        for line in summed.itertuples():
            times = f", repeat {line.repeat}" if repeated else ""
            self._item(f"{line.dataset} × {line.ranker}{times}: {line.result}")
        if missing:
            self._print(Padding(self._text("missing or failed:", style="yellow"), (0, 0, 0, 1)))
            for line in missing:
                self._item(line)

    def best_features(self, found: pd.DataFrame, notes: Sequence[str]) -> None:
        """Print the features that one ranker chose on one data set."""
        if not len(found):
            return
        shown = found[found["place"] <= _BEST]
        n_folds = count(found["n_folds"].iloc[0], "fold")
        title = f"best features of {found['n_features'].iloc[0]}, by {n_folds}"
        self._print(self._text(f"\n{title}", style="bold"))
        table = Table(box=self._box, pad_edge=False, padding=(0, 1))
        table.add_column("feature", overflow="fold", min_width=12)
        for heading in (f"among the\nfirst {TOP}", "mean\nrank", "mean\nweight"):
            table.add_column(heading, justify="right", vertical="top")
        for line in shown.itertuples():
            numbers = (percent(line.chosen), fixed(line.mean_rank, 1), f"{line.mean_weight:.4g}")
            table.add_row(self._text(line.feature), *map(self._text, numbers))
        self._print(table)
        for note in notes:
            self._print(Padding(self._text(note, style="dim"), (0, 0, 0, 1)))

    def claims(self, claims: pd.DataFrame) -> None:
        """Print the paper's claims that a study is about, by outcome."""
        if not len(claims):
            return
        self._print(self._text("\nthe paper's claims on these rows", style="bold"))
        for verdict, part in claims.groupby("verdict", sort=False):
            # Of claims without a cell evaluated as the paper's nothing is said; the table lists what they need.
            known = part[part["evidence"] != ""]
            more = f"; of {len(part) - len(known)} no whole cell is there" if len(known) < len(part) else ""
            self._print(Padding(self._text(f"{verdict}: {len(part)}{more}", style="yellow"), (0, 0, 0, 1)))
            for line in known.itertuples():
                available = shown(line.at_hand, line.repeats)
                where = f"{available} on the data sets available: " if verdict == UNDECIDED else ""
                self._item(f"{line.claim}: {where}{line.evidence}")

    def written(self, files: list[Path]) -> None:
        """Say where files are, one a line and never broken, so that they can be copied."""
        if not files:
            return
        self._print(self._text("\nwritten:"))
        for file in files:
            self._write(f"  {self._plain(_from_here(file))}\n")

    def _table(self, lines: pd.DataFrame, task: Task) -> Table:
        table = Table(box=self._box, pad_edge=False, padding=(0, 1))
        table.add_column("ranker", overflow="fold", min_width=12)
        headings = ("best F1\n± sd", "at\nfeatures", "AUrF1", "fit seconds\n± sd", "latent\ndimension")
        for heading in headings:
            table.add_column(self._plain(task.said(heading)), justify="right", vertical="top")
        for line in lines.itertuples():
            table.add_row(
                *(
                    self._text(cell)  # not str: rich would take [n_neighbors=5] for markup
                    for cell in (
                        line.display_name,
                        _score(line.best_f1_micro_mean, line.best_f1_micro_sd),
                        _number(line.best_f1_micro_at),
                        _score(line.aurf1_micro_mean),
                        significant(line.fit_seconds_mean, line.fit_seconds_sd),
                        _number(line.latent_dimension),
                    )
                )
            )
        return table

    def _item(self, text: str) -> None:
        table = Table.grid(padding=(0, 1))
        table.add_column(width=2, justify="right")
        table.add_column(overflow="fold")
        table.add_row(self._text("-"), self._text(text))
        self._print(table)

    def _print(self, what: Any) -> None:
        buffer = io.StringIO()
        console = RichConsole(
            file=buffer,
            width=self._width,
            height=25,  # without it rich takes 80 columns on some terminals, whatever the width given
            force_terminal=self._terminal,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )
        console.print(what)
        lines = buffer.getvalue().split("\n")
        self._write("\n".join(line.rstrip(" ") for line in lines))

    def _text(self, text: str, style: str = "") -> Text:
        return Text(self._plain(text), style=style)

    def _plain(self, text: str) -> str:
        return readable(text, self._encoding)

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:
            # The reader has seen enough (`| head`). Files are still written, and Python's own flush at the end
            # must not fail on the same pipe.
            if self._out is sys.stdout:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._out = io.StringIO()


def _size(part: pd.DataFrame) -> str:
    known = part.dropna(subset=["n_rows"])
    if not len(known):
        return ""
    first = known.iloc[0]
    return f", {count(first['n_rows'], 'sample')} × {count(first['n_features'], 'feature')}"


def _legend(lines: pd.DataFrame, task: Task) -> str:
    whole = _score(lines["f1_micro_all_mean"].iloc[0], lines["f1_micro_all_sd"].iloc[0])
    scored = (
        f"R², of which 1 is the most, and 0 is no better than the mean, is {whole} with all features."
        if task.numeric
        else f"F1 is micro-averaged (macro is in the CSV file); with all features it is {whole}."
    )
    deviation = (
        "± is the standard deviation over folds. AUrF1: area under the curve of F1 relative to all features."
    )
    sentences = [scored, task.said(deviation)]
    undefined = int(lines["rf1_undefined_folds"].max())
    if undefined:
        n_folds = lines["folds_expected"].iloc[0]
        sentences.append(
            f"r{task.score} has no value in {undefined} of {count(n_folds, 'fold')}, where {task.undefined}; "
            f"AUr{task.score} is over the others."
        )
    wandering = lines[lines["learner_not_converged_folds"] > 0]
    if len(wandering):
        named = "; ".join(
            f"{line.display_name}: {int(line.learner_not_converged_folds)} of {line.folds_ok}"
            for line in wandering.itertuples()
        )
        sentences.append(f"Folds in which the learner did not converge: {named}.")
    return " ".join(sentences)


def _so_far(line: Any, task: Task) -> str:
    if not line.folds_ok:
        return ""
    score = _score(line.best_f1_micro_mean, line.best_f1_micro_sd)
    return f" (so far, over {count(line.folds_ok, 'fold')}: best {task.score} {score})"


def _from_here(file: Path) -> str:
    try:
        return os.path.relpath(file) if file.resolve().is_relative_to(Path.cwd()) else str(file)
    except (OSError, ValueError):  # another drive
        return str(file)
