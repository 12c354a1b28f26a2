"""Columns of a matrix as it lies in memory: what values they hold, and their values divided by their range.

A matrix is handed over as ``flat, row_step, column_step``: the value of row i in column j is
``flat[i * row_step + j * column_step]``, whatever the order in which it lies there.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel

_LANES = 256  # values looked at side by side
_COPIED = 16  # rows, or columns, turned at a time


@kernel()
def _look(values, low, high, whole, known):
    """Bring what is known of the columns that ``values`` come from up to date, one value each."""
    for j in range(values.shape[0]):
        value = values[j]
        low[j] = value if value < low[j] else low[j]  # false for a NaN
        high[j] = value if value > high[j] else high[j]
        whole[j] &= np.uint8(np.rint(value) == value) | np.uint8(value != value)
        known[j] &= np.uint8(value == value)


@kernel()
def look_at(flat, row_step, column_step, r0, r1, j0, j1, low, high, whole, known):
    """Find the smallest and the largest value of columns, and whether all are whole numbers and none is missing.

    Parameters
    ----------
    flat : float array of shape (·,)
        The matrix.
    row_step, column_step : int
        Where its values lie.
    r0, r1 : int
        Rows to look at.
    j0, j1 : int
        Columns to look at.
    low, high : arrays of shape (p,), of the type of ``flat``
        Lowered, and raised, in the columns ``j0 … j1 − 1``; a NaN changes nothing.
    whole, known : uint8 arrays of shape (p,)
        Become 0 where a value is not a whole number, and where it is a NaN.
    """
    if column_step == 1:
        for c0 in range(j0, j1, 16 * _LANES):  # so many columns stay in the cache
            c1 = min(j1, c0 + 16 * _LANES)
            for r in range(r0, r1):
                start = r * row_step
                _look(flat[start + c0 : start + c1], low[c0:c1], high[c0:c1], whole[c0:c1], known[c0:c1])
        return
    values = np.empty(_LANES, dtype=flat.dtype)
    lows = np.empty(_LANES, dtype=flat.dtype)
    highs = np.empty(_LANES, dtype=flat.dtype)
    wholes = np.empty(_LANES, dtype=np.uint8)
    knowns = np.empty(_LANES, dtype=np.uint8)
    for j in range(j0, j1):
        for r in range(_LANES):
            lows[r] = low[j]
            highs[r] = high[j]
            wholes[r] = whole[j]
            knowns[r] = known[j]
        for s in range(r0, r1, _LANES):
            width = min(r1, s + _LANES) - s
            start = s * row_step + j * column_step
            for r in range(width):
                values[r] = flat[start + r * row_step]
            _look(values[:width], lows, highs, wholes, knowns)
        for r in range(_LANES):
            low[j] = lows[r] if lows[r] < low[j] else low[j]
            high[j] = highs[r] if highs[r] > high[j] else high[j]
            whole[j] &= wholes[r]
            known[j] &= knowns[r]


@kernel()
def presence(flat, row_step, column_step, columns, low, r0, r1, lo, hi, found):
    """Put down which whole numbers some columns hold.

    Parameters
    ----------
    flat, row_step, column_step : array and int
        The matrix.
    columns : int64 array of shape (c,)
        Numbers of columns.
    low : array of shape (c,), of the type of ``flat``
        Their smallest values; no value is as much as 64 larger.
    r0, r1 : int
        Rows to look at.
    lo, hi : int
        Range of ``columns`` to work on.
    found : uint64 array of shape (c,)
        Gains bit v where a value is ``low + v``. A NaN is none.
    """
    for c0 in range(lo, hi, _COPIED):
        for s in range(r0, r1, _LANES):
            for c in range(c0, min(hi, c0 + _COPIED)):
                least = low[c]
                start = columns[c] * column_step
                seen = np.uint64(0)
                for r in range(s, min(r1, s + _LANES)):
                    value = flat[start + r * row_step]
                    if value == value:
                        seen |= np.uint64(1) << np.uint64(value - least)
                found[c] |= seen


@kernel()
def normalised(flat, row_step, column_step, rows, columns, shift, divisor, lo, hi, out):
    """Divide some columns of some rows by their range.

    Parameters
    ----------
    flat, row_step, column_step : array and int
        The matrix.
    rows : int64 array of shape (r,)
        Numbers of the rows.
    columns : int64 array of shape (c,)
        Numbers of columns.
    shift, divisor : float64 arrays of shape (p,)
        What is taken from the values of each column of the matrix, and what they are divided by then.
    lo, hi : int
        Range of ``columns`` to work on.
    out : float64 array of shape (r, hi − lo)
        Overwritten. No value is −0.0.
    """
    width = hi - lo
    first = columns[lo]
    side_by_side = column_step == 1 and columns[hi - 1] - first == width - 1
    if side_by_side:
        less = shift[first : first + width]
        by = divisor[first : first + width]
        for r in range(rows.shape[0]):
            start = rows[r] * row_step + first
            values = flat[start : start + width]
            row = out[r]
            for j in range(width):
                row[j] = (values[j] - less[j]) / by[j] + 0.0
        return
    for s in range(0, rows.shape[0], _COPIED):
        for c in range(lo, hi, _COPIED):
            for t in range(c, min(hi, c + _COPIED)):
                j = columns[t]
                for r in range(s, min(rows.shape[0], s + _COPIED)):
                    value = flat[rows[r] * row_step + j * column_step]
                    out[r, t - lo] = (value - shift[j]) / divisor[j] + 0.0
