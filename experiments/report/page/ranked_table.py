"""The page of one person's table: one HTML file that needs no network."""

from __future__ import annotations

import base64
from pathlib import Path

from experiments.formatting import count
from experiments.report.page.rendering import START_TABLES, write_page
from experiments.report.page.table import Column, Line, Table, number, text
from experiments.report.ranking_result import RankedTable

#: Lines of the page's table at most; all are in the files beside it.
_MOST = 1000


def write(ranked: RankedTable, path: Path, figures: Path) -> Path:
    """Write the page.

    Parameters
    ----------
    ranked : RankedTable
        What came out.
    path : Path
        Where to.
    figures : Path
        Folder of the figures ``best_features.svg`` and ``selection_curve.svg``, which are taken in.

    Returns
    -------
    Path
        ``path``.

    Raises
    ------
    BadInputError
        If the file cannot be written.
    """
    return write_page(
        path,
        "ranked_table.html",
        ["base.js", "tables.js", START_TABLES],
        title=f"Features of {ranked.name}, ranked",
        ranked=ranked,
        size=f"{count(ranked.n_samples, 'sample')}, {count(len(ranked.names), 'feature')}",
        sentences=ranked.sentences(),
        images=[
            ("Weights of the best features", _image(figures / "best_features.svg")),
            (f"{ranked.curve.score} on the best features", _image(figures / "selection_curve.svg")),
        ],
        features=_features(ranked),
        curve=_curve(ranked),
    )


def _image(path: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode("ascii")


def _features(ranked: RankedTable) -> Table:
    frame = ranked.frame()
    numbers = [
        name for name in ("weight", "p", "q", "frequency", "missing") if name in frame and name != "missing"
    ]
    columns = [
        Column("feature"),
        Column("rank", True),
        *(Column(name, True) for name in numbers),
        Column("missing", True),
        Column("kind"),
    ]
    lines = [
        Line(
            [
                text(row["feature"]),
                number(row["rank"], str(row["rank"])),
                *(number(row[name], f"{row[name]:.4g}") for name in numbers),
                number(row["missing"], str(row["missing"])),
                text(row["kind"]),
            ]
        )
        for row in frame.head(_MOST).to_dict("records")
    ]
    caption = "All features" if len(frame) <= _MOST else f"The best {_MOST} of {len(frame)} features"
    return Table("features", caption, columns, lines, sorted_by=1)


def _curve(ranked: RankedTable) -> Table:
    frame = ranked.curve_frame()
    titles = {
        "n_features": "features",
        "score": ranked.curve.score,
        "standard_error": "standard error",
        "macro_f1": "macro F1",
    }
    columns = [Column(titles[name], True) for name in frame]
    lines = [
        Line(
            [
                number(row[name], f"{row[name]:g}" if name == "n_features" else f"{row[name]:.4f}")
                for name in frame
            ]
        )
        for row in frame.to_dict("records")
    ]
    return Table("curve", "Scores along the ranking", columns, lines, sorted_by=0)
