"""One look for all figures: colours, sizes, and how they are saved."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.ticker import LogFormatterSciNotation

from experiments.files import write_whole

#: Width of a text column, inches. Figures are drawn at the size they are printed at: 8 points are 8 points.
COLUMN_WIDTH = 3.5
#: Width of a page of two columns, inches.
PAGE_WIDTH = 7.16

#: Okabe and Ito's palette, told apart with every common kind of colour blindness; its yellow is left out because it
#: vanishes on white paper. (M. Okabe, K. Ito: Color Universal Design, 2008.)
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")

# Line style and marker change with the colour, so that lines differ in black and white too.
_DASHES = ("solid", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p")

#: For areas: the palette with its yellow and two greys, instead of black; the hatch changes with the colour.
AREAS = (*PALETTE[:-1], "#F0E442", "0.45", "0.75")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++", "oo", "||||", "**")

#: Colours of heat maps: lighter means more, evenly in grey too, and alike to all eyes (matplotlib's cividis).
HEAT = "cividis"

#: Comes with matplotlib, so figures look the same on every machine.
FONT = "DejaVu Sans"

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_STYLE = {
    "font.family": FONT,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.2,
    "lines.markeredgewidth": 0,
    # A name is never markup: "$5 vs $10" is no formula.
    "text.parse_math": False,
    "savefig.dpi": 300,
    # Text as outlines: the file looks the same wherever it is opened.
    "svg.fonttype": "path",
    # Names inside an SVG are random without it, and the same figure would differ from run to run.
    "svg.hashsalt": "reliefe-bench",
}


@dataclass(frozen=True)
class Look:
    """How one ranker is drawn."""

    color: str
    dashes: str | tuple
    marker: str


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Give every name a look of its own.

    Parameters
    ----------
    names : sequence of str
        In a fixed order, that of the study: a ranker then looks the same in all figures of the study.

    Returns
    -------
    dict
        Name → look. Colour, line style and marker have 7, 5 and 11 values, so 385 names differ.
    """
    return {
        name: Look(
            PALETTE[place % len(PALETTE)],
            _DASHES[place % len(_DASHES)],
            _MARKERS[place % len(_MARKERS)],
        )
        for place, name in enumerate(dict.fromkeys(names))
    }


def areas(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Give every name a colour and a hatch.

    Parameters
    ----------
    names : sequence of str
        In a fixed order.

    Returns
    -------
    dict
        Name → (colour, hatch); 9 and 10 values, so 90 names differ.
    """
    return {
        name: (AREAS[place % len(AREAS)], HATCHES[place % len(HATCHES)])
        for place, name in enumerate(dict.fromkeys(names))
    }


@contextmanager
def applied() -> Iterator[None]:
    """Draw and save in this project's style while the block runs, whatever the user's own settings are."""
    with matplotlib.style.context(["default", _STYLE]):
        yield


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], **settings: Any) -> Legend:
    """Add a legend with every label in it; matplotlib by itself leaves out those that begin with ``_``.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Where to.
    handles : sequence of artist
        One for each label.
    labels : sequence of str
        Any text, equal ones too.
    **settings
        For ``Figure.legend``.

    Returns
    -------
    matplotlib.legend.Legend
    """
    made = figure.legend(list(handles), [str(place) for place in range(len(labels))], **settings)
    for text, label in zip(made.get_texts(), labels, strict=True):
        text.set_text(label)
    return made


class PowersOfTen(LogFormatterSciNotation):
    """Formatter for the ticks of a logarithmic axis, such as "10⁻²": matplotlib's, without its markup.

    Takes the parameters of ``matplotlib.ticker.LogFormatterSciNotation``; values that are no power of ten are
    written as they are.
    """

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Write one tick; empty where matplotlib would write none."""
        if not super().__call__(x, pos):
            return ""
        power = round(math.log10(x)) if x > 0 else 0
        is_power = x > 0 and math.isclose(x, 10.0**power, rel_tol=1e-9)
        return f"10{str(power).translate(_RAISED)}" if is_power else f"{x:g}"


def save(figure: Figure, folder: Path, stem: str) -> list[Path]:
    """Save a figure as PNG and SVG.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn inside :func:`applied`.
    folder : Path
        Made when missing.
    stem : str
        File name without its ending.

    Returns
    -------
    list of Path
        The two files. Each is whole or not there, and the same figure gives the same bytes.

    Raises
    ------
    BadInputError
        If the folder cannot be written to.
    """
    paths = []
    for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
        buffer = io.BytesIO()
        with applied():
            figure.savefig(buffer, format=ending, metadata=metadata)
        paths.append(write_whole(Path(folder) / f"{stem}.{ending}", buffer.getvalue()))
    return paths
