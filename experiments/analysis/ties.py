"""Which means of folds are equal: those that differ by rounding alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

#: Means this close to one another are equal, as a share of the larger one.
TIE = 1e-12
#: Far more than a tie, as a share: any number equal to the highest by a chain of ties has its next link within.
_NEAR = 1e-6


def equalised(values: Any) -> np.ndarray:
    """Give numbers that differ by rounding alone one value, so that ``==``, ``<`` and ranks see them as equal.

    In ascending order, a number that differs from the next by less than :data:`TIE` of the larger absolute
    value is equal to it; all numbers that hang together so get the largest of them.

    The mean of the same fold scores in another order of summing differs in its last digits.
    """
    values = np.asarray(values, dtype=np.float64)
    flat = values.ravel()
    order = np.argsort(flat, kind="stable")  # NaN comes last
    order = order[: np.count_nonzero(~np.isnan(flat))]
    ordered = flat[order]
    if not len(ordered):
        return values.copy()
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        larger = np.maximum(np.abs(ordered[1:]), np.abs(ordered[:-1]))
        apart = np.diff(ordered) >= TIE * larger
    same = ordered[1:] == ordered[:-1]
    group = np.concatenate([[0], np.cumsum(apart & ~same)])
    last = np.append(np.flatnonzero(np.diff(group)), len(group) - 1)
    made = flat.copy()
    made[order] = ordered[last[group]]
    return made.reshape(values.shape)


def equalised_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Do so within every row of a table.

    Of the same shape, float64.
    """
    made = [equalised(row) for row in table.to_numpy(dtype=np.float64)]
    return pd.DataFrame(
        np.array(made, dtype=np.float64).reshape(table.shape), index=table.index, columns=table.columns
    )


def tied_ranks(table: pd.DataFrame, *, higher_is_better: bool = True) -> pd.DataFrame:
    """Rank within every row of a table.

    Of the same shape: 1 is the best of the row; equal numbers (:func:`equalised`) share the mean of their
    places.
    """
    return equalised_rows(table).rank(axis=1, ascending=not higher_is_better, method="average")


def first_bests(curves: Sequence[Any] | np.ndarray) -> list[int]:
    """Find in each of several curves the first point that is as high as its highest.

    Positions; a point that differs from the highest by rounding alone is as high.
    """
    if len({len(curve) for curve in curves}) == 1:
        table = np.array([*curves], dtype=np.float64)
        highest = table.max(axis=1, keepdims=True)
        # Where no other point comes near the highest, whatever hangs together below does not matter.
        with np.errstate(invalid="ignore"):  # ∞ − ∞
            near = (table >= highest - _NEAR * np.abs(highest)) & (table != highest)
        found = table.argmax(axis=1)
        for row in np.flatnonzero(near.any(axis=1)):
            found[row] = np.argmax(equalised(table[row]))
        return found.tolist()
    return [int(np.argmax(equalised(curve))) for curve in curves]


def first_best(curve: Any) -> int:
    """As :func:`first_bests`, of one curve: a point that differs from the highest by rounding alone is as high."""
    return first_bests([curve])[0]
