"""Rows → what a person reads: a table on the console, a CSV table, a figure."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from experiments.analysis.coverage import expected_of, failures
from experiments.analysis.curves import rf1_curve
from experiments.analysis.tables import complete, incomplete, publishable, summary
from experiments.files import file_stem, write_whole
from experiments.report import measurements, status
from experiments.report.console import Console, count

__all__ = ["show", "status"]


def show(
    frame: pd.DataFrame,
    configs: Sequence[Mapping[str, Any]],
    paths: Mapping[str, Any],
    out: TextIO | None = None,
    *,
    absent: Mapping[str, str] | None = None,
) -> list[Path]:
    """Show a study: print tables, then write CSV files and figures.

    Files are written for a data set and protocol of which at least one ranker is complete:
    ``tables/<data set>_<protocol>.csv`` and ``figures/<data set>_<protocol>_rf1.png`` and ``.svg``. Rankers of
    which a fold is missing or failed are listed with the reason and not compared. What a protocol measures instead
    of rankings has a line each, and ``tables/<protocol>.csv``.

    Parameters
    ----------
    frame : DataFrame
        Rows (columns of ``experiments.schema.ROW_SCHEMA``), as from ``experiments.runner``; may lack cells.
    configs : sequence of mapping
        Resolved configurations: what the study asks for.
    paths : mapping
        ``results``: the folder.
    out : text file, optional
        Where to print; standard output when not given.
    absent : mapping of str to str, optional
        Data set that is not here → why; listed, and otherwise left out.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    BadInputError
        If the results folder cannot be written to. The tables have been printed by then.
    """
    absent = absent or {}
    configs = [config for config in configs if config["dataset_key"] not in absent]
    measured = [config for config in configs if config["protocol"].get("measure")]
    expected = expected_of(config for config in configs if not config["protocol"].get("measure"))
    summed = summary(frame, expected)
    console = Console(sys.stdout if out is None else out)
    groups = list(summed.groupby(["dataset", "protocol"], sort=False))
    for _, part in groups:
        console.study(part, complete(part), incomplete(part))
    console.failures(failures(frame, expected), expected)
    console.absent(absent)
    written: list[Path] = []
    try:
        if measured:
            written += measurements.show(frame, measured, Path(paths["results"]), console)
        for (dataset, protocol), part in groups:
            if part["complete"].any():
                written += _write(frame, expected, part, Path(paths["results"]), dataset, protocol)
    finally:
        console.written(written)
    return written


def _write(
    frame: pd.DataFrame,
    expected: pd.DataFrame,
    part: pd.DataFrame,
    results: Path,
    dataset: str,
    protocol: str,
) -> list[Path]:
    # Drawing takes a second to import; whoever only reads the table has it by now.
    from experiments.figures import rf1_curve as drawing
    from experiments.figures import style

    text = io.StringIO()
    publishable(part).to_csv(text, index=False, lineterminator="\n")
    stem = file_stem(dataset, protocol)
    written = [write_whole(results / "tables" / f"{stem}.csv", text.getvalue().encode())]
    asked = expected[(expected["dataset"] == dataset) & (expected["protocol"] == protocol)]
    figure = drawing.figure(
        rf1_curve(frame, asked),
        title=f"{dataset} ({_extent(part)})",
        note=_note(part),
        labels=dict(zip(part["ranker"], part["display_name"], strict=True)),
        # All rankers of the study get their look, shown or not: it stays the same when more of them are complete.
        looks=style.looks(list(dict.fromkeys(expected["ranker"]))),
    )
    return written + style.save(figure, results / "figures", f"{stem}_rf1")


def _extent(part: pd.DataFrame) -> str:
    first = part.iloc[0]
    return f"{first['protocol']}: {count(first['n_splits'], 'fold')} × {count(first['n_repeats'], 'repeat')}"


def _note(part: pd.DataFrame) -> str:
    lines = [
        "rF1: micro F1 / micro F1 of all features. Bands: 95 % confidence of the mean (corrected resampled t)."
    ]
    chosen = complete(part)
    undefined = int(chosen["rf1_undefined_folds"].max())
    if undefined:
        n_folds = chosen["folds_expected"].iloc[0]
        lines.append(f"Left out: {undefined} of {n_folds} folds, where the F1 of all features is 0.")
    for line in incomplete(part).itertuples():
        lines.append(f"Not shown: {line.display_name} ({line.reason}).")
    return "\n".join(lines)
