"""Near rows whose differences do not all count the same: SURF and MultiSURF with label sets and numeric targets.

Rows within a distance are found as in :mod:`reliefe.kernels.thresholds`. What the difference to each of them counts
depends on its target distance t: with label sets it is t / Σt − (1 − t) / Σ(1 − t), sums over the near rows of a
row, and with numeric targets d t / Σ d t − d (1 − t) / Σ d (1 − t), sums over all rows and their near rows.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel
from reliefe.kernels.multilabel import _shares
from reliefe.kernels.thresholds import TILE_ROWS, _list_some


@kernel()
def list_near(distances, places, below, lo, hi, near, counts):
    """List the near rows of some rows.

    Parameters
    ----------
    distances : array of shape (b, n)
        Distances to all rows.
    places : int64 array of shape (b,)
        Numbers of the rows themselves, which are left out.
    below : array of shape (b,), of the type of ``distances``
        A row is near when its distance is less.
    lo, hi : int
        Rows to work on.
    near : int32 array of shape (b, n)
        Row numbers, rising. Rows ``lo … hi − 1`` are overwritten as far as ``counts`` says.
    counts : int64 array of shape (b, 1)
        How many there are.
    """
    for r in range(lo, hi):
        row = distances[r]
        low = below[r]
        place = places[r]
        listed = near[r]
        c = 0
        for m in range(row.shape[0]):
            if row[m] < low and m != place:
                listed[c] = m
                c += 1
        counts[r, 0] = c


@kernel()
def label_weights(near, counts, targets, lo, hi, out):
    """Weights of the differences to near rows for label sets, as seen from some rows.

    Parameters
    ----------
    near, counts : arrays
        From :func:`list_near`.
    targets : float64 array of shape (b, n)
        Target distances of these rows, in 0 … 1.
    lo, hi : int
        Rows to work on.
    out : float64 array of shape (b, n)
        By row number; 0 for rows that are not near. Rows ``lo … hi − 1`` are overwritten.
    """
    for r in range(lo, hi):
        m = counts[r, 0]
        weights = out[r]
        weights[:] = 0.0
        misses, hits = _shares(targets[r], m)
        for t in range(m):
            weights[near[r, t]] = targets[r, t] * misses - (1.0 - targets[r, t]) * hits


@kernel()
def set_factors(distances, places, class_ptr, below, table, lo, hi, factors):
    """Weights of the differences to near rows for label sets, where rows stand in the order of their sets.

    Parameters
    ----------
    distances : array of shape (b, n)
        Distances to all rows.
    places : int64 array of shape (b,)
        Where the rows themselves stand; left out.
    class_ptr : int64 array of shape (c + 1,)
        The rows of set q stand at ``class_ptr[q] … class_ptr[q + 1] − 1``.
    below : array of shape (b,), of the type of ``distances``
        A row is near when its distance is less.
    table : float64 array of shape (c, c)
        Target distances of the sets, in 0 … 1.
    lo, hi : int
        Rows to work on.
    factors : float64 array of shape (c, b)
        Weight of the difference to a near row of each set, 0 where there is none. Columns ``lo … hi − 1`` are
        overwritten.
    """
    n_sets = table.shape[0]
    for r in range(lo, hi):
        row = distances[r]
        low = below[r]
        place = places[r]
        own = 0
        while place >= class_ptr[own + 1]:
            own += 1
        far = 0.0
        alike = 0.0
        for q in range(n_sets):
            members = row[class_ptr[q] : class_ptr[q + 1]]
            count = np.int64(0)
            for m in range(members.shape[0]):
                count += np.int64(members[m] < low)
            if q == own:
                count -= np.int64(row[place] < low)
            factors[q, r] = np.float64(count)
            far += count * table[own, q]
            alike += count * (1.0 - table[own, q])
        misses = 1.0 / far if far > 0.0 else 0.0
        hits = 1.0 / alike if alike > 0.0 else 0.0
        for q in range(n_sets):
            t = table[own, q]
            factors[q, r] = t * misses - (1.0 - t) * hits if factors[q, r] > 0.0 else 0.0


@kernel()
def response_sums(distances, places, below, values, lo, hi, counts, sums):
    """Count the near rows of some rows, and add up their target distances.

    Parameters
    ----------
    distances, places, below
        As in :func:`list_near`.
    values : float64 array of shape (n,)
        Range-normalised target.
    lo, hi : int
        Rows to work on.
    counts : int64 array of shape (n,)
        By row number; entries of the rows worked on are overwritten.
    sums : float64 array of shape (n,)
        As ``counts``: the sum of the target distances to the near rows.
    """
    for r in range(lo, hi):
        row = distances[r]
        low = below[r]
        i = places[r]
        own = values[i]
        count = np.int64(0)
        total = 0.0
        for m in range(row.shape[0]):
            is_near = row[m] < low
            count += np.int64(is_near)
            total += abs(own - values[m]) if is_near else 0.0
        counts[i] = count - np.int64(row[i] < low)  # its own target distance is 0
        sums[i] = total


@kernel()
def response_weights(distances, places, below, values, influence, far, alike, lo, hi, out):
    """Weights of the differences to near rows for numeric targets, as seen from some rows.

    Parameters
    ----------
    distances, places, below, values
        As in :func:`response_sums`.
    influence : float64 array of shape (n,)
        d of every near row of a row, by its number.
    far, alike : float
        1 / Σ d t and 1 / Σ d (1 − t), 0 where there is nothing to divide by.
    lo, hi : int
        Rows to work on.
    out : float64 array of shape (b, n)
        By row number; 0 for rows that are not near. Rows ``lo … hi − 1`` are overwritten.
    """
    for r in range(lo, hi):
        row = distances[r]
        low = below[r]
        i = places[r]
        own = values[i]
        d = influence[i]
        weights = out[r]
        for m in range(row.shape[0]):
            t = abs(own - values[m])
            weights[m] = d * (t * far - (1.0 - t) * alike) if row[m] < low else 0.0
        weights[i] = 0.0


@kernel()
def list_pairs(pairs, first, lo, hi, ids, values, ends):
    """List the pairs of a block of consecutive rows that have a weight, each pair inside the block once.

    Parameters
    ----------
    pairs : float64 array of shape (b, n)
        Weights as seen from the rows ``first … first + b − 1``; 0 for a row and itself.
    first : int
        See above.
    lo, hi : int
        Rows of the block to work on.
    ids, values, ends : arrays
        As in :func:`reliefe.kernels.thresholds.list_pairs`, but for ``values``, which lies apart from ``pairs``.
    """
    b, n = pairs.shape
    both = np.empty(n, dtype=np.float64)
    for r in range(lo, hi):
        both[:] = pairs[r]
        for t in range(r + 1, b):
            both[first + t] += pairs[t, first + r]
        count = 0
        for k in range(ends.shape[1]):
            start = k * TILE_ROWS
            stop = min(n, start + TILE_ROWS)
            # What stands in the block before the row is listed there.
            count = _list_some(both, start, max(start, min(stop, first)), ids[r], values[r], count)
            start = max(start, first + r + 1)
            count = _list_some(both, start, max(start, stop), ids[r], values[r], count)
            ends[r, k] = count
