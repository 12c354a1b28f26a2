"""Sorting inside kernels, in place (why not numba's own: see :mod:`reliefe.kernels`)."""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel

_SHORT = 12  # below, insertion sort
_DEPTH = 64  # enough for 2³² entries, since the larger part waits


@kernel()
def _insertion_sort(values, low, high):
    """Sort ``values[low]`` to ``values[high]``: quick where there are few, or they are nearly in order."""
    for s in range(low + 1, high + 1):
        value = values[s]
        t = s - 1
        while t >= low and value < values[t]:
            values[t + 1] = values[t]
            t -= 1
        values[t + 1] = value


@kernel()
def sort(values, n):
    """Sort ``values[:n]``, ascending.

    Parameters
    ----------
    values : array of shape (≥ n,)
        Numbers without NaN.
    n : int
        How many to sort.
    """
    lows = np.empty(_DEPTH, dtype=np.int64)
    highs = np.empty(_DEPTH, dtype=np.int64)
    lows[0] = 0
    highs[0] = n - 1
    waiting = 1
    while waiting > 0:
        waiting -= 1
        low = lows[waiting]
        high = highs[waiting]
        while high - low >= _SHORT:
            a = values[low]
            b = values[(low + high) // 2]
            c = values[high]
            pivot = max(min(a, b), min(max(a, b), c))
            i = low
            j = high
            while i <= j:
                while values[i] < pivot:
                    i += 1
                while pivot < values[j]:
                    j -= 1
                if i <= j:
                    values[i], values[j] = values[j], values[i]
                    i += 1
                    j -= 1
            if j - low > high - i:
                lows[waiting] = low
                highs[waiting] = j
                low = i
            else:
                lows[waiting] = i
                highs[waiting] = high
                high = j
            waiting += 1
        _insertion_sort(values, low, high)


@kernel()
def _precedes(key, label, other_key, other_label):
    return key < other_key or (key == other_key and label < other_label)


@kernel()
def sort_pairs(keys, labels, n):
    """Sort ``keys[:n]`` and with them ``labels[:n]``, ascending by key, then by label.

    Parameters
    ----------
    keys : array of shape (≥ n,)
        Numbers without NaN.
    labels : integer array of shape (≥ n,)
        All different.
    n : int
        How many to sort.
    """
    lows = np.empty(_DEPTH, dtype=np.int64)
    highs = np.empty(_DEPTH, dtype=np.int64)
    lows[0] = 0
    highs[0] = n - 1
    waiting = 1
    while waiting > 0:
        waiting -= 1
        low = lows[waiting]
        high = highs[waiting]
        while high - low >= _SHORT:
            middle = (low + high) // 2
            key = keys[middle]
            label = labels[middle]
            i = low
            j = high
            while i <= j:
                while _precedes(keys[i], labels[i], key, label):
                    i += 1
                while _precedes(key, label, keys[j], labels[j]):
                    j -= 1
                if i <= j:
                    keys[i], keys[j] = keys[j], keys[i]
                    labels[i], labels[j] = labels[j], labels[i]
                    i += 1
                    j -= 1
            if j - low > high - i:
                lows[waiting] = low
                highs[waiting] = j
                low = i
            else:
                lows[waiting] = i
                highs[waiting] = high
                high = j
            waiting += 1
        for s in range(low + 1, high + 1):
            key = keys[s]
            label = labels[s]
            t = s - 1
            while t >= low and _precedes(key, label, keys[t], labels[t]):
                keys[t + 1] = keys[t]
                labels[t + 1] = labels[t]
                t -= 1
            keys[t + 1] = key
            labels[t + 1] = label
