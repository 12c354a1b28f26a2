"""Weight updates on columns of few values, a byte each (see :mod:`reliefe.kernels.bits`).

Sums of such differences are whole numbers, which is what :mod:`reliefe.kernels.weights` adds up too where they are
multiples of a power of two: the weights are the same to the last bit.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel

#: Byte of a value that is missing.
UNKNOWN = 128
_TOGETHER = 84  # neighbours whose differences, at most 3 each, have a sum that fits a byte


@kernel()
def to_values(values, columns, low, step, shift, divisor, n_columns, out):
    """Turn bytes into values divided by the range of their column.

    Parameters
    ----------
    values : uint8 array of shape (n, ≥ n_columns)
        Numbers of planes, from :func:`reliefe.kernels.bits.unpack`.
    columns : int64 array of shape (≥ n_columns,)
        Numbers of the columns.
    low, step, shift, divisor : float64 arrays of shape (p,)
        By column: the value that 0 stands for, by how much 1 is more, and as in
        :func:`reliefe.kernels.columns.normalised`. What is :data:`UNKNOWN` becomes NaN.
    n_columns : int
        See above.
    out : float64 array of shape (n, n_columns)
        Overwritten.
    """
    width = n_columns
    lows = np.empty(width, dtype=np.float64)
    steps = np.empty(width, dtype=np.float64)
    less = np.empty(width, dtype=np.float64)
    by = np.empty(width, dtype=np.float64)
    for c in range(width):
        j = columns[c]
        lows[c], steps[c], less[c], by[c] = low[j], step[j], shift[j], divisor[j]
    for i in range(out.shape[0]):
        given = values[i]
        row = out[i]
        for c in range(width):
            value = (lows[c] + np.float64(np.int32(given[c])) * steps[c] - less[c]) / by[c] + 0.0
            row[c] = value if given[c] < UNKNOWN else np.nan


@kernel()
def _apart(a, b):
    """Difference of two bytes."""
    return np.uint8(max(a, b) - min(a, b))


@kernel()
def _sum_up(values, own, near, width, total):
    """Put the sums over a few neighbours of their differences to ``own`` into ``total``."""
    for j in range(width):
        total[j] = 0
    # Four neighbours at a time: the sums are then read and written once per four.
    whole = near.shape[0] - near.shape[0] % 4
    for t in range(0, whole, 4):
        a = values[near[t]]
        b = values[near[t + 1]]
        c = values[near[t + 2]]
        d = values[near[t + 3]]
        for j in range(width):
            two = np.uint8(_apart(own[j], a[j]) + _apart(own[j], b[j]))
            four = np.uint8(two + np.uint8(_apart(own[j], c[j]) + _apart(own[j], d[j])))
            total[j] = np.uint8(total[j] + four)
    for t in range(whole, near.shape[0]):
        a = values[near[t]]
        for j in range(width):
            total[j] = np.uint8(total[j] + _apart(own[j], a[j]))


@kernel()
def update(values, unit, rows, neighbours, segment_ptr, counts, coefficients, n_columns, weights):
    """Add a block's updates to ``weights``: the multi-class update with differences averaged.

    Parameters
    ----------
    values : uint8 array of shape (n, ≥ n_columns)
        The columns, 0 … 3.
    unit : float
        What a difference of 1 counts, a power of two.
    rows, neighbours, segment_ptr, counts, coefficients : arrays
        As in :func:`reliefe.kernels.weights.update_dense`.
    n_columns : int
        See above.
    weights : float64 array of shape (n_columns,)
        Changed in place.
    """
    width = n_columns
    few = np.empty(width, dtype=np.uint8)
    total = np.empty(width, dtype=np.float64)
    for r in range(rows.shape[0]):
        own = values[rows[r]]
        for q in range(counts.shape[1]):
            m = counts[r, q]
            if m == 0:
                continue
            near = neighbours[r, segment_ptr[q] : segment_ptr[q] + m]
            coefficient = coefficients[r, q] / m
            if m <= _TOGETHER:
                _sum_up(values, own, near, width, few)
                for j in range(width):
                    weights[j] += coefficient * (np.float64(np.int32(few[j])) * unit)
                continue
            total[:] = 0.0
            for t in range(0, m, _TOGETHER):
                _sum_up(values, own, near[t : min(m, t + _TOGETHER)], width, few)
                for j in range(width):
                    total[j] += np.float64(np.int32(few[j]))
            for j in range(width):
                weights[j] += coefficient * (total[j] * unit)


@kernel()
def _sum_up_known(values, own, near, categories, width, total, known):
    """As :func:`_sum_up` where both values are known; count these in ``known``."""
    for j in range(width):
        total[j] = 0
        known[j] = 0
    for t in range(near.shape[0]):
        other = values[near[t]]
        for j in range(width):
            a = own[j]
            b = other[j]
            both = np.uint8((a | b) < UNKNOWN)
            apart = np.uint8(a != b) if categories else _apart(a, b)
            total[j] = np.uint8(total[j] + both * apart)
            known[j] = np.uint8(known[j] + both)


@kernel()
def update_known(
    values, unit, categories, rows, neighbours, segment_ptr, counts, coefficients, n_columns, weights
):
    """As :func:`update`, over neighbours whose value is known.

    Parameters
    ----------
    values : uint8 array of shape (n, ≥ n_columns)
        The columns, 0 … 7; :data:`UNKNOWN` where a value is missing.
    unit, rows, neighbours, segment_ptr, counts, coefficients, n_columns, weights
        As there.
    categories : bool
        Whether values differ by 1 or not at all, and ``unit`` is 1.
    """
    width = n_columns
    few = np.empty(width, dtype=np.uint8)
    few_known = np.empty(width, dtype=np.uint8)
    total = np.empty(width, dtype=np.float64)
    known = np.empty(width, dtype=np.float64)
    for r in range(rows.shape[0]):
        own = values[rows[r]]
        for q in range(counts.shape[1]):
            m = counts[r, q]
            total[:] = 0.0
            known[:] = 0.0
            near = neighbours[r, segment_ptr[q] : segment_ptr[q] + m]
            for t in range(0, m, _TOGETHER):
                _sum_up_known(values, own, near[t : min(m, t + _TOGETHER)], categories, width, few, few_known)
                for j in range(width):
                    total[j] += np.float64(np.int32(few[j]))
                    known[j] += np.float64(np.int32(few_known[j]))
            coefficient = coefficients[r, q]
            for j in range(width):
                mean = (total[j] * unit) / max(known[j], 1.0)
                weights[j] += coefficient * mean
