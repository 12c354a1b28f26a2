"""One look for all figures: colours, sizes, and how they are saved.

Colours of rankers
    A ranker has one colour in all figures and on all pages, whatever else is shown: it depends on the ranker's name
    alone (:func:`ranker_color`). Blues are ReliefE, oranges ReliefF of this project, greens SURF, MultiSURF and
    scikit-rebate's rankers; implementations of the same algorithm share their colour. Settings
    (``relieff[n_neighbors=5]``) and target distances (``reliefe_f1``) keep the colour and change line style and
    marker. A ranker that is not of this project gets colour, line style and marker by a checksum of its name.

    Any two of the colours differ by at least 16 (CIE 1976 ΔE) to normal, protanopic and deuteranopic eyes. Line
    style and marker differ with the ranker too, so that figures can be read in black and white.
"""

from __future__ import annotations

import io
import math
import re
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.ticker import LogFormatterSciNotation

from experiments.paths import write_whole

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
#: For characters that it lacks, such as Chinese ones in names; those that are installed.
_FALLBACKS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans",
    "Malgun Gothic",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Arial Unicode MS",
)

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


#: Colour → the known rankers that have it. The first four lines are families, darker where a ranker is adaptive.
RANKER_COLORS = {
    "#0072B2": ("reliefe",),
    "#56B4E9": ("reliefe_absmean",),
    "#2E5ACD": ("reliefe_adaptive",),
    "#14286B": ("reliefe_absmean_adaptive",),
    "#D55E00": ("relieff",),
    "#E69F00": ("relieff_absmean",),
    "#9F4310": ("relieff_adaptive",),
    "#5F1A08": ("relieff_absmean_adaptive",),
    "#6F7F45": ("skrebate_relieff", "relieff_as_skrebate", "fast_select_relieff", "surf_star"),
    "#009E73": ("skrebate_surf", "surf_as_skrebate", "surf"),
    "#74BD5A": ("skrebate_multisurf", "multisurf_as_skrebate", "multisurf", "fast_select_multisurf"),
    "#0B5B45": ("skrebate_multisurf_star", "multisurf_star_as_skrebate", "multisurf_star"),
    "#CC79A7": ("random_forest",),
    "#000000": ("mutual_information",),
    "#A44581": ("turf", "gradient_boosting", "chi2"),
    "#4D3051": ("vls", "boruta", "anova_f"),
    "#F0A3B4": ("mrmr", "permutation_importance"),
    "#6E91F4": ("jmi",),
    "#5A20D8": ("l1_logistic",),
}
#: Of rankers that are not known; none of the families above has them.
OWN_COLORS = tuple(RANKER_COLORS)[-5:]
_KNOWN = {ranker: color for color, rankers in RANKER_COLORS.items() for ranker in rankers}
#: Their order decides line style and marker: the multi-label rankers are the first eight.
_ORDER = {ranker: place for place, ranker in enumerate(_KNOWN)}
_ITERATIONS = re.compile(r"\bn_iterations=(\d+)\b")
_TARGET_DISTANCES = ("f1", "accuracy", "subset", "hamming", "cosine", "hyperbolic")
_OF_LABELS = 8


@dataclass(frozen=True)
class Look:
    """How one ranker, or whatever else has a line of its own, is drawn."""

    color: str
    dashes: Any  # as matplotlib takes them
    marker: str


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Give every name a look of its own, by its place: for data sets and the like."""
    return {
        name: Look(PALETTE[place % len(PALETTE)], *_line(place))
        for place, name in enumerate(dict.fromkeys(names))
    }


def ranker_color(ranker: str) -> str:
    """Return the colour of a ranker, the same everywhere."""
    known, _, settings = _parts(ranker)
    color = _KNOWN.get(known) or OWN_COLORS[zlib.crc32(known.encode()) % len(OWN_COLORS)]
    iterations = _ITERATIONS.search(settings)
    return _paler(color, int(iterations[1])) if iterations else color


def ranker_looks(rankers: Sequence[str]) -> dict[str, Look]:
    """Give every ranker its look."""
    given: dict[str, Look] = {}
    for ranker in dict.fromkeys(rankers):
        color, place = ranker_color(ranker), _place(ranker)
        taken = set(given.values())
        tries = (Look(color, *_line(place + more)) for more in range(_N_LINES))
        given[ranker] = next((look for look in tries if look not in taken), Look(color, *_line(place)))
    return given


def _paler(color: str, n_iterations: int) -> str:
    """Mix a colour with white: 7 parts of 10 for one iteration, none from 4,096 on, evenly by the logarithm."""
    white = 0.7 * (1 - min(math.log2(max(n_iterations, 1)), 12) / 12)
    channels = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(channel + white * (255 - channel)):02X}" for channel in channels)


def _parts(ranker: str) -> tuple[str, str, str]:
    """Split a ranker's name into that of its file, its target distance and its settings."""
    base, _, settings = ranker.partition("[")
    if base in _KNOWN:
        return base, "", settings
    start, _, distance = base.rpartition("_")
    if start in _KNOWN and distance in _TARGET_DISTANCES:
        return start, distance, settings
    return base, "", settings


def _place(ranker: str) -> int:
    base, distance, settings = _parts(ranker)
    if settings or base not in _KNOWN:
        return zlib.crc32(ranker.encode()) % _N_LINES
    return _ORDER[base] + _OF_LABELS * (1 + _TARGET_DISTANCES.index(distance) if distance else 0)


_N_LINES = len(_DASHES) * len(_MARKERS)


def _line(place: int) -> tuple[str | tuple, str]:
    return _DASHES[place % len(_DASHES)], _MARKERS[place % len(_MARKERS)]


def areas(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Give every name a colour and a hatch."""
    return {
        name: (AREAS[place % len(AREAS)], HATCHES[place % len(HATCHES)])
        for place, name in enumerate(dict.fromkeys(names))
    }


@contextmanager
def applied() -> Iterator[None]:
    """Draw and save in this project's style while the block runs, whatever the user's own settings are."""
    own = {**_STYLE, "font.family": [FONT, *_other_fonts()]}
    with matplotlib.style.context(["default", own]), without_glyph_warnings():
        yield


@lru_cache(maxsize=1)
def _other_fonts() -> tuple[str, ...]:
    """Return the installed fonts among those for characters that the usual one lacks."""
    installed = set(font_manager.get_font_names())
    return tuple(name for name in _FALLBACKS if name in installed)


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """Say nothing of characters that no font has: a box stands for them, and tables have the name as it is."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from ", category=UserWarning)
        warnings.filterwarnings(
            "ignore", message=r"Matplotlib currently does not support", category=UserWarning
        )
        yield


def legend(figure: Figure | Axes, handles: Sequence[Any], labels: Sequence[str], **settings: Any) -> Legend:
    """Add a legend with every label in it; matplotlib by itself leaves out those that begin with ``_``."""
    made = figure.legend(list(handles), [str(place) for place in range(len(labels))], **settings)
    for text, label in zip(made.get_texts(), labels, strict=True):
        text.set_text(label)
    return made


class PowersOfTen(LogFormatterSciNotation):
    """Formatter for the ticks of a logarithmic axis, such as "10⁻²": matplotlib's, without its markup."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Write one tick; empty where matplotlib would write none."""
        if not super().__call__(x, pos):
            return ""
        power = round(math.log10(x)) if x > 0 else 0
        is_power = x > 0 and math.isclose(x, 10.0**power, rel_tol=1e-9)
        return f"10{str(power).translate(_RAISED)}" if is_power else f"{x:g}"


@contextmanager
def published() -> Iterator[None]:
    """Save figures as small PNG files alone while the block runs: for what is kept in a repository."""
    token = _PUBLISHED.set(True)
    try:
        yield
    finally:
        _PUBLISHED.reset(token)


_PUBLISHED = ContextVar("published", default=False)
#: Enough for the screen; the page in git has all figures of its study inside.
_PUBLISHED_DPI = 120
#: Colours of a palette, and those of them that are as drawn.
_MOST_COLORS, _EXACT_COLORS = 256, 160


def save(figure: Figure, folder: Path, stem: str) -> list[Path]:
    """Save a figure as PNG and SVG, or inside :func:`published` as a small PNG."""
    small = _PUBLISHED.get()
    formats = (
        {"png": {"Software": None}}
        if small
        else {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
    )
    paths = []
    for ending, metadata in formats.items():
        buffer = io.BytesIO()
        with applied():
            figure.savefig(buffer, format=ending, metadata=metadata, dpi=_PUBLISHED_DPI if small else None)
        content = _with_few_colors(buffer.getvalue()) if small else buffer.getvalue()
        paths.append(write_whole(Path(folder) / f"{stem}.{ending}", content))
    return paths


def _with_few_colors(png: bytes) -> bytes:
    """Write a PNG with a palette."""
    from PIL import Image
    from scipy.spatial import cKDTree

    with Image.open(io.BytesIO(png)) as image:
        dpi = image.info.get("dpi")
        pixels = np.asarray(image.convert("RGB"))
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    colors, place, counts = np.unique(packed, return_inverse=True, return_counts=True)
    channels = np.stack([colors >> 16, colors >> 8 & 255, colors & 255], axis=1).astype(np.uint8)
    # Of equal counts the darker colour first, so that the palette does not depend on how a sort breaks ties.
    order = np.lexsort((colors, -counts))
    palette, rest = channels[order[:_EXACT_COLORS]], channels[order[_EXACT_COLORS:]]
    if len(colors) <= _MOST_COLORS:
        palette = channels
    else:
        row = np.repeat(rest, counts[order[_EXACT_COLORS:]], axis=0)[None]
        cut = Image.fromarray(row).quantize(_MOST_COLORS - _EXACT_COLORS, method=Image.Quantize.MEDIANCUT)
        palette = np.concatenate([palette, np.array(cut.getpalette(), dtype=np.uint8).reshape(-1, 3)])
    nearest = cKDTree(palette.astype(float)).query(channels.astype(float))[1]
    few = Image.fromarray(nearest.astype(np.uint8)[place].reshape(packed.shape), mode="P")
    few.putpalette(palette.tobytes())
    buffer = io.BytesIO()
    few.save(buffer, format="png", optimize=True, **({} if dpi is None else {"dpi": dpi}))
    return buffer.getvalue()
