"""The features of one person's table, ranked: files, and lines on the screen."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures import ranked_table as figures
from experiments.figures import style
from experiments.formatting import count, fixed
from experiments.paths import write_whole

#: Bars of the figure, and lines of the screen's table.
TOP, _ON_SCREEN = 20, 10

#: A feature is a finding where q is at most this.
LEVEL = 0.1

#: What spreadsheets take for the beginning of a formula.
_FORMULA = tuple("=+-@\t\r")

_TIME = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")

#: Characters that an .xlsx file cannot hold.
_NOT_IN_SHEETS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass(frozen=True)
class Curve:
    """Scores of a learner along the ranking.

    Attributes
    ----------
    sizes : int64 ndarray of shape (k,)
        Numbers of best features.
    mean, error : float64 ndarrays of shape (k,)
        Mean score over folds and its standard error.
    macro : float64 ndarray of shape (k,), or None
        Mean macro F1.
    score : str
        Name of the score.
    keep, best : int
        Number of features to keep, and with the best mean.
    n_splits, n_repeats : int
        Folds.
    """

    sizes: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    macro: np.ndarray | None
    score: str
    keep: int
    best: int
    n_splits: int
    n_repeats: int

    def at(self, size: int) -> float:
        """Mean score with so many features."""
        return float(self.mean[np.flatnonzero(self.sizes == size)[0]])


@dataclass(frozen=True)
class Certainty:
    """What permutations and subsamples say.

    Attributes
    ----------
    p, q : float64 ndarrays of shape (p,), or None
        Of the permutation test.
    n_permutations : int
        How many; 0 for none.
    null : str
        ``"feature"`` or ``"pooled"``.
    frequency : float64 ndarray of shape (p,), or None
        Share of subsamples in which the feature was among the best.
    phi, lower, upper : float
        Nogueira's Φ and its 95 % interval.
    n_chosen, n_subsamples : int
        Best features of a subsample, and how many subsamples; 0 for none.
    """

    p: np.ndarray | None = None
    q: np.ndarray | None = None
    n_permutations: int = 0
    null: str = "feature"
    frequency: np.ndarray | None = None
    phi: float = float("nan")
    lower: float = float("nan")
    upper: float = float("nan")
    n_chosen: int = 0
    n_subsamples: int = 0


@dataclass(frozen=True)
class RankedTable:
    """Everything that is shown of one ranking.

    Attributes
    ----------
    name : str
        Of the table.
    target : str
        What the features were ranked for, as a phrase.
    ranker, why : str
        Its name, and why it was taken.
    n_samples : int
        Samples.
    names : sequence of str, length p
        Features in the order of the file.
    kinds : sequence of str, length p
        ``"number"``, ``"category"`` or ``"constant"``.
    missing : int64 ndarray of shape (p,)
        Missing values of each.
    weights : float64 ndarray of shape (p,)
        Theirs.
    ranks : int64 ndarray of shape (p,)
        1 is best.
    curve : Curve
        How many to keep.
    certainty : Certainty
        How sure that is.
    notes : sequence of str
        What was noticed about the table.
    command : str
        What makes all of it again.
    about : dict
        Settings, for JSON.
    """

    name: str
    target: str
    ranker: str
    why: str
    n_samples: int
    names: Sequence[str]
    kinds: Sequence[str]
    missing: np.ndarray
    weights: np.ndarray
    ranks: np.ndarray
    curve: Curve
    certainty: Certainty
    notes: Sequence[str]
    command: str
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> np.ndarray:
        """Features from the best on."""
        return np.argsort(self.ranks)

    def frame(self) -> pd.DataFrame:
        """Return a line for each feature, the best first."""
        columns: dict[str, Any] = {
            "rank": self.ranks,
            "feature": np.array(self.names, dtype=object),
            "weight": self.weights,
        }
        if self.certainty.p is not None:
            columns |= {"p": self.certainty.p, "q": self.certainty.q}
        if self.certainty.frequency is not None:
            columns["frequency"] = self.certainty.frequency
        columns |= {"missing": self.missing, "kind": np.array(self.kinds, dtype=object)}
        return pd.DataFrame(columns).iloc[self.order].reset_index(drop=True)

    def curve_frame(self) -> pd.DataFrame:
        """Return a line for each number of features."""
        columns = {
            "n_features": self.curve.sizes,
            "score": self.curve.mean,
            "standard_error": self.curve.error,
        }
        if self.curve.macro is not None:
            columns["macro_f1"] = self.curve.macro
        return pd.DataFrame(columns)

    def sentences(self) -> list[str]:
        """Say what came out, most important first."""
        curve, certainty = self.curve, self.certainty
        error = float(curve.error[np.flatnonzero(curve.sizes == curve.best)[0]])
        best, kept = fixed(curve.at(curve.best), 3), fixed(curve.at(curve.keep), 3)
        smaller = f"; with {curve.keep} it is {kept}, within one standard error ({fixed(error, 3)}) of that"
        if curve.keep == curve.best:
            smaller = f", and no smaller number is within one standard error ({fixed(error, 3)}) of it"
        whole = ""
        if curve.sizes[-1] == len(self.names):
            whole = f"; with all {len(self.names)} it is {fixed(float(curve.mean[-1]), 3)}"
        said = [
            f"Keep the best {curve.keep} of {count(len(self.names), 'feature')}.",
            f"The largest mean {curve.score} is {best}, with {count(curve.best, 'feature')}{smaller}{whole} (mean "
            f"over {curve.n_repeats} x {curve.n_splits} folds, features ranked inside each training fold).",
        ]
        if certainty.q is not None:
            found = int((certainty.q <= LEVEL).sum())
            said.append(
                f"{count(found, 'feature')} of {len(self.names)} {'has' if found == 1 else 'have'} q at most "
                f"{LEVEL:g} ({certainty.n_permutations} permutations of the target)."
            )
        if certainty.frequency is not None:
            said.append(
                f"Stability of the best {certainty.n_chosen} over {certainty.n_subsamples} halves of the samples: "
                f"Phi = {fixed(certainty.phi, 2)} (95 % interval {fixed(certainty.lower, 2)} to "
                f"{fixed(certainty.upper, 2)}; 1 = always the same features, 0 = chance)."
            )
        return said


def write(ranked: RankedTable, folder: Path) -> list[Path]:
    """Write tables, figures and the page.

    Parameters
    ----------
    ranked : RankedTable
        What came out.
    folder : Path
        Where to.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    BadInputError
        If the folder cannot be written to.
    """
    from experiments.report.page import ranked_table as page

    frame, curve = ranked.frame(), ranked.curve_frame()
    top = ranked.order[:TOP]
    q = ranked.certainty.q
    names = [ranked.names[place] for place in top]
    bars = figures.bars(names, ranked.weights[top], ranked.curve.keep, None if q is None else q[top])
    line = figures.curve(
        ranked.curve.sizes,
        ranked.curve.mean,
        ranked.curve.error,
        keep=ranked.curve.keep,
        best=ranked.curve.best,
        score=ranked.curve.score,
    )
    written = [
        write_whole(folder / "ranking.csv", frame.to_csv(index=False).encode()),
        write_whole(folder / "curve.csv", curve.to_csv(index=False).encode()),
        write_whole(folder / "ranking.xlsx", workbook(ranked)),
        *style.save(bars, folder, "best_features"),
        *style.save(line, folder, "selection_curve"),
    ]
    about = json.dumps(ranked.about, ensure_ascii=False, indent=2, sort_keys=True)
    written.append(write_whole(folder / "about.json", about.encode()))
    return [page.write(ranked, folder / "index.html", folder), *written]


def workbook(ranked: RankedTable) -> bytes:
    """Write a workbook of the ranking, the curve, and what is known of both.

    Parameters
    ----------
    ranked : RankedTable
        What came out.

    Returns
    -------
    bytes
        An .xlsx file. A name is text whatever it begins with: none is a formula.
    """
    from openpyxl import Workbook

    book = Workbook()
    sheets = {"ranking": ranked.frame(), "curve": ranked.curve_frame()}
    for place, (title, frame) in enumerate(sheets.items()):
        sheet = book.active if place == 0 else book.create_sheet()
        sheet.title = title
        _fill(sheet, [list(frame.columns), *frame.itertuples(index=False, name=None)])
        sheet.freeze_panes = "A2"
    lines = [[each] for each in (*ranked.sentences(), *ranked.notes)]
    _fill(book.create_sheet("about"), [*lines, [f"Made by: {ranked.command}"]])
    book["ranking"].column_dimensions["B"].width = 32
    buffer = io.BytesIO()
    book.save(buffer)
    return _without_times(buffer.getvalue())


def _without_times(workbook: bytes) -> bytes:
    """Take the time of writing out of a workbook: the same ranking gives the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook)) as before, zipfile.ZipFile(buffer, "w") as after:
        for part in before.namelist():
            content = before.read(part)
            if part == "docProps/core.xml":
                content = _TIME.sub(rb"\g<1>2000-01-01T00:00:00Z", content)
            after.writestr(zipfile.ZipInfo(part), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _fill(sheet: Any, rows: Sequence[Sequence[Any]]) -> None:
    for place, row in enumerate(rows, start=1):
        for column, value in enumerate(row, start=1):
            if isinstance(value, str):
                # Set as text, and marked as such: "=1+1" stays these four characters, when it is edited too.
                cell = sheet.cell(place, column)
                cell.value = _NOT_IN_SHEETS.sub("\ufffd", value)[:32767]
                cell.data_type = "s"
                cell.quotePrefix = value.startswith(_FORMULA)
            elif not (isinstance(value, float | np.floating) and not np.isfinite(value)):
                sheet.cell(place, column, value.item() if isinstance(value, np.generic) else value)


def on_screen(ranked: RankedTable) -> str:
    """Write the best features as a table of text, and what came out.

    Parameters
    ----------
    ranked : RankedTable
        What came out.

    Returns
    -------
    str
    """
    frame = ranked.frame().head(_ON_SCREEN)
    shown = pd.DataFrame({"rank": frame["rank"].astype(str)})
    shown["feature"] = [figures.shortened(each) for each in frame["feature"]]
    shown["weight"] = [f"{each:.4g}" for each in frame["weight"]]
    for name in ("p", "q", "frequency"):
        if name in frame:
            shown[name] = [f"{each:.2g}" for each in frame[name]]
    widths = {
        name: max(len(name), *(len(each) for each in column)) for name, column in shown.astype(str).items()
    }
    lines = [_aligned(dict(zip(widths, widths, strict=True)), widths)]
    lines += [_aligned(row, widths) for row in shown.to_dict("records")]
    if len(ranked.names) > _ON_SCREEN:
        lines.append(f"… and {len(ranked.names) - _ON_SCREEN} more in ranking.csv")
    return "\n".join([*lines, "", *ranked.sentences()])


def _aligned(row: dict[Any, Any], widths: dict[Any, int]) -> str:
    return "  ".join(
        str(row[name]).ljust(width) if name == "feature" else str(row[name]).rjust(width)
        for name, width in widths.items()
    ).rstrip()
