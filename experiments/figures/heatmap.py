"""Heat maps, and what is written into their cells."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from experiments.figures import style
from experiments.figures.layout import shortened
from experiments.formatting import fixed


def heat_map(
    axes: Axes,
    table: pd.DataFrame,
    *,
    low: float,
    high: float,
    numbers: int | None = 2,
    size: float = 5.5,
    hidden: np.ndarray | None = None,
) -> None:
    """Draw a table as coloured cells; a cell without a number is hatched, never coloured."""
    values = table.to_numpy(dtype=float)
    hidden = np.zeros(values.shape, dtype=bool) if hidden is None else hidden
    shown = np.ma.masked_array(values, mask=np.isnan(values) | hidden)
    colors = matplotlib.colormaps[style.HEAT]
    norm = Normalize(low, high if high > low else low + 1)
    axes.imshow(shown, cmap=colors, norm=norm, aspect="auto", interpolation="nearest", gid="cells")
    for (row, column), value in np.ndenumerate(values):
        if hidden[row, column]:
            continue
        if np.isnan(value):
            axes.add_patch(
                Rectangle(
                    (column - 0.5, row - 0.5),
                    1,
                    1,
                    facecolor="white",
                    edgecolor="0.6",
                    hatch="///",
                    linewidth=0,
                    gid=f"nothing {row} {column}",
                )
            )
        elif numbers is not None:
            red, green, blue, _ = colors(norm(value))
            # Rec. 709 luma decides which of black and white is read better.
            dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45
            axes.text(
                column, row, fixed(value, numbers), ha="center", va="center", fontsize=size,
                color="white" if dark else "black",
            )  # fmt: skip
    axes.set_xticks(range(values.shape[1]), [shortened(str(each)) for each in table.columns], rotation=90)
    axes.set_yticks(range(values.shape[0]), [shortened(str(each)) for each in table.index])
    axes.tick_params(length=0)
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)


def scale(axes: Axes, *, low: float, high: float, label: str) -> None:
    """Draw what the colours mean."""
    top = high if high > low else low + 1
    axes.imshow(
        np.linspace(top, low, 256)[:, None],
        cmap=style.HEAT,
        norm=Normalize(low, top),
        aspect="auto",
        extent=(0, 1, low, top),
    )
    axes.set_xticks([])
    axes.yaxis.tick_right()
    axes.locator_params(axis="y", nbins=6)
    axes.set_title(label, fontsize=7, pad=4)
    axes.grid(False)
