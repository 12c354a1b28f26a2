"""Slow, obvious twins of the kernels on columns of few values, kept as bits; see ``naive.py``.

A column of the whole numbers low … low + m has m planes: plane s says whether a value exceeds low + s.
"""

import math


def planes(values, cuts, equal=False):
    """One list of 0 and 1 for each cut: whether a value exceeds it, or equals it. A NaN does neither."""
    return [[int(value == cut if equal else value > cut) for value in values] for cut in cuts]


def known(values):
    """One number for each value: whether it is one."""
    return [int(not math.isnan(value)) for value in values]


def words(ones):
    """Whole numbers that hold 64 of the given bits each, the first in the lowest place."""
    return [
        sum(int(bit) << place for place, bit in enumerate(ones[start : start + 64]))
        for start in range(0, len(ones), 64)
    ]


def differing(a, b):
    """In how many places two lists of bits differ."""
    return sum(u != v for u, v in zip(a, b, strict=True))


def tiles(lo, hi, first, mirrored, n, side):
    """Rows and places that are measured: with ``mirrored``, not those to a place in an earlier tile of rows."""
    return [
        (r, m)
        for r in range(lo, hi)
        for m in range(n)
        if not mirrored or m < first or m - first >= r - (r - lo) % side
    ]


def extremes(values):
    """Smallest and largest known value, whether all known values are whole, and whether all are known."""
    numbers = [value for value in values if not math.isnan(value)]
    whole = all(float(value).is_integer() for value in numbers)
    low, high = (min(numbers), max(numbers)) if numbers else (0, 0)
    return low, high, whole, len(numbers) == len(values)


def divided(value, shift, divisor):
    """A value on the scale of its column, as floating point has it."""
    return (float(value) - shift) / divisor + 0.0
