"""The features of one person's table, ranked: files, the page, and lines on the screen."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures import ranked_table as figures
from experiments.figures import style
from experiments.formatting import count
from experiments.paths import write_whole
from experiments.report.page import numbers, table, write_page
from experiments.report.ranking_result import RankedTable

#: Bars of the figure, and lines of the screen's table.
TOP, _ON_SCREEN = 20, 10
#: Lines of the page's table at most; all are in the files beside it.
_ON_PAGE = 1000

#: What spreadsheets take for the beginning of a formula.
_FORMULA = tuple("=+-@\t\r")

_TIME = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")

#: Characters that an .xlsx file cannot hold.
_NOT_IN_SHEETS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


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
        linear=ranked.curve.linear,
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
    return [_write_page(ranked, folder), *written]


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
    lines = [[each] for each in (*ranked.sentences(), *ranked.look_again(), *ranked.notes)]
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
    for name in ("p", "q", "frequency", "p alone", "q alone"):
        if name in frame:
            shown[name] = [f"{each:.2g}" for each in frame[name]]
    widths = {
        name: max(len(name), *(len(each) for each in column)) for name, column in shown.astype(str).items()
    }
    lines = [_aligned(dict(zip(widths, widths, strict=True)), widths)]
    lines += [_aligned(row, widths) for row in shown.to_dict("records")]
    if len(ranked.names) > _ON_SCREEN:
        lines.append(f"… and {len(ranked.names) - _ON_SCREEN} more in ranking.csv")
    again = ranked.look_again()
    return "\n".join([*lines, "", *ranked.sentences(), *(["", "Look again:", *again] if again else [])])


def _aligned(row: dict[Any, Any], widths: dict[Any, int]) -> str:
    return "  ".join(
        str(row[name]).ljust(width) if name == "feature" else str(row[name]).rjust(width)
        for name, width in widths.items()
    ).rstrip()


def _write_page(ranked: RankedTable, folder: Path) -> Path:
    """Write the page, with the figures ``best_features.svg`` and ``selection_curve.svg`` of its folder in it."""
    return write_page(
        folder / "index.html",
        "ranked_table.html",
        title=f"Features of {ranked.name}, ranked",
        ranked=ranked,
        size=f"{count(ranked.n_samples, 'sample')}, {count(len(ranked.names), 'feature')}",
        sentences=ranked.sentences(),
        again=ranked.look_again(),
        grouped=bool(ranked.about.get("groups")),
        cautions=[each.removeprefix("caution: ") for each in ranked.notes if each.startswith("caution: ")],
        images=[
            ("Weights of the best features", _image(folder / "best_features.svg")),
            (f"{ranked.curve.score} on the best features", _image(folder / "selection_curve.svg")),
        ],
        features=_feature_table(ranked),
        curve=_curve_table(ranked),
    )


def _image(path: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode("ascii")


def _feature_table(ranked: RankedTable) -> str:
    frame = ranked.frame()
    shown = frame.head(_ON_PAGE)
    columns: dict[str, Any] = {"feature": shown["feature"].astype(str), "rank": numbers(shown["rank"], str)}
    for name in ("weight", "p", "q", "frequency", "p alone", "q alone"):
        if name in shown:
            columns[name] = numbers(shown[name], "{:.4g}".format)
    columns |= {"missing": numbers(shown["missing"], str), "kind": shown["kind"].astype(str)}
    caption = "All features" if len(frame) <= _ON_PAGE else f"The best {_ON_PAGE} of {len(frame)} features"
    return table("feature-table", caption, columns)


def _curve_table(ranked: RankedTable) -> str:
    titles = {
        "n_features": "features",
        "score": ranked.curve.score,
        "standard_error": "standard error",
        "macro_f1": "macro F1",
        "linear_score": f"{ranked.curve.score}, linear",
    }
    columns = {
        titles[name]: numbers(cells, "{:g}".format if name == "n_features" else "{:.4f}".format)
        for name, cells in ranked.curve_frame().items()
    }
    return table("curve-table", "Scores along the ranking", columns)
