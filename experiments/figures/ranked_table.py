"""Figures of one person's table: bars of the best features, and the score of a learner along the ranking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from experiments.figures import style

_ROW, _MARGIN = 0.16, 0.75
_LONGEST = 40
_CHOSEN, _OTHER = style.PALETTE[0], "0.65"


def bars(names: Sequence[str], weights: np.ndarray, keep: int, q_values: np.ndarray | None = None) -> Figure:
    """Draw the weights of the best features.

    Parameters
    ----------
    names : sequence of str
        The best first.
    weights : ndarray of shape (len(names),)
        Theirs.
    keep : int
        How many of them are to be kept: those bars are dark.
    q_values : ndarray of shape (len(names),), optional
        A star stands beside a bar with q ≤ 0.1.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style.applied():
        figure = Figure(figsize=(style.COLUMN_WIDTH * 1.3, _MARGIN + _ROW * len(names)), layout="constrained")
        axes = figure.add_subplot()
        places = np.arange(len(names))
        colors = [_CHOSEN if place < keep else _OTHER for place in places]
        axes.barh(places, weights, color=colors, height=0.75)
        axes.set_yticks(places, [shortened(name) for name in names])
        axes.invert_yaxis()
        axes.margins(y=0.01)
        axes.grid(axis="y", visible=False)
        axes.grid(axis="x", visible=True)
        axes.axvline(0, color="0.3", linewidth=0.6)
        said = ["dark: kept"] if keep < len(names) else []
        said += ["*: q ≤ 0.1"] if q_values is not None and (q_values <= 0.1).any() else []
        axes.set_xlabel(f"weight   ({'; '.join(said)})" if said else "weight")
        if q_values is not None:
            for place, (weight, q) in enumerate(zip(weights, q_values, strict=True)):
                if q <= 0.1:
                    axes.annotate("*", (max(weight, 0), place), (2, -3.5), textcoords="offset points")
    return figure


def curve(
    sizes: np.ndarray,
    mean: np.ndarray,
    error: np.ndarray,
    *,
    keep: int,
    best: int,
    score: str,
    linear: np.ndarray | None = None,
) -> Figure:
    """Draw the score of a learner on the best features.

    Parameters
    ----------
    sizes : int ndarray of shape (k,)
        Numbers of features.
    mean, error : ndarrays of shape (k,)
        Mean score over folds and its standard error.
    keep, best : int
        Numbers of features to keep, and of those with the best mean.
    score : str
        Its name.
    linear : ndarray of shape (len(sizes),), optional
        Mean score of the linear learner.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style.applied():
        figure = Figure(figsize=(style.COLUMN_WIDTH * 1.3, 2.5), layout="constrained")
        axes = figure.add_subplot()
        axes.fill_between(sizes, mean - error, mean + error, color=_CHOSEN, alpha=0.18, linewidth=0)
        marker = "o" if len(sizes) <= 60 else ""
        axes.plot(sizes, mean, color=_CHOSEN, marker=marker, label="nearest neighbours")
        if linear is not None:
            axes.plot(sizes, linear, color=_OTHER, linewidth=0.9, label="linear")
            lowest = min((mean - error).min(), linear.min())
            if lowest < (mean - error).min() - np.ptp(mean) - 0.2:  # a linear fit that went wrong
                axes.set_ylim(bottom=(mean - error).min() - 0.2)
            axes.legend(loc="best", fontsize=7, frameon=False)
        place = int(np.flatnonzero(sizes == best)[0])
        axes.axhline(mean[place] - error[place], color="0.45", linewidth=0.8, linestyle=(0, (4, 2)))
        axes.axvline(keep, color=style.PALETTE[1], linewidth=1.0)
        axes.annotate(
            f"keep {keep}",
            (keep, 0.02),
            (3, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            color=style.PALETTE[1],
            fontsize=7,
        )
        if sizes[-1] > 30:
            axes.set_xscale("log")
            ticks = [tick for tick in _ticks(int(sizes[-1]))]
            axes.xaxis.set_major_locator(FixedLocator(ticks))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_minor_formatter(NullFormatter())
        else:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("number of best features")
        axes.set_ylabel(score)
    return figure


def _ticks(largest: int) -> list[int]:
    steps = (1, 2, 5) if largest <= 3000 else (1,)
    return [step * 10**power for power in range(8) for step in steps if step * 10**power <= largest]


def shortened(name: str) -> str:
    """Cut a long name in its middle, and show line ends as spaces."""
    name = " ".join(name.split()) or "(no name)"
    return name if len(name) <= _LONGEST else f"{name[:24]}…{name[-15:]}"
