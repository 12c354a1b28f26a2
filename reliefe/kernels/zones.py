"""Weighted differences of pairs of rows, for columns kept as bits: bits of rows against bits of columns.

In SURF and its kin, the differences between a row and all rows of a class that are near (or far) count the same.
With a bit for each of these rows, and the bits of a column turned so that a word holds 64 rows of it, the number on
either side of a cut is a population count. No pair is looked at by itself, and the sum of differences is exact.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel
from reliefe.kernels.bits import WORD, _bits_set, _turn


@kernel()
def zone_bits(distances, positions, below, above, far, lo, hi, near_bits, far_bits):
    """Put down who is near and who is far, a bit for each.

    Parameters
    ----------
    distances : array of shape (b, n)
        Distances to all rows.
    positions : int64 array of shape (b,)
        Where the rows themselves stand; neither near nor far.
    below, above : arrays of shape (b,), of the type of ``distances``
        A row is near when its distance is less than ``below``, and far when it is more than ``above``.
    far : bool
        Whether far rows are wanted.
    lo, hi : int
        Rows to work on.
    near_bits, far_bits : uint64 arrays of shape (b, ⌈n / 64⌉)
        Rows ``lo … hi − 1`` are overwritten; the second only with ``far``.
    """
    n = distances.shape[1]
    for r in range(lo, hi):
        row = distances[r]
        for w in range(near_bits.shape[1]):
            stretch = row[WORD * w : min(n, WORD * (w + 1))]
            near = np.uint64(0)
            beyond = np.uint64(0)
            for m in range(stretch.shape[0]):
                near |= np.uint64(stretch[m] < below[r]) << np.uint64(m)
                beyond |= np.uint64(stretch[m] > above[r]) << np.uint64(m)
            near_bits[r, w] = near
            if far:
                far_bits[r, w] = beyond
        w = positions[r] // WORD
        others = ~(np.uint64(1) << np.uint64(positions[r] % WORD))
        near_bits[r, w] &= others
        if far:
            far_bits[r, w] &= others


@kernel()
def turned(packed, tile, w0, members, columns):
    """Turn some words of a tile, so that rows are side by side.

    Parameters
    ----------
    packed : uint64 array of shape (tiles, n, words)
        From :func:`reliefe.kernels.bits.pack`.
    tile : int
        Which tile.
    w0 : int
        First word of a row that is wanted.
    members : int64 array of shape (n,)
        Row numbers in the order in which they are to stand.
    columns : uint64 array of shape (k, ⌈n / 64⌉, 64)
        Overwritten with the words from ``w0`` on: ``columns[v, w, c]`` holds 64 rows of bit c of word ``w0 + v``.
    """
    n = members.shape[0]
    block = np.zeros((columns.shape[0], WORD), dtype=np.uint64)
    for w in range(columns.shape[1]):
        block[:] = 0
        for k in range(min(n - WORD * w, WORD)):
            words = packed[tile, members[WORD * w + k]]
            for v in range(columns.shape[0]):
                block[v, k] = words[w0 + v]
        for v in range(columns.shape[0]):
            _turn(block[v])
            columns[v, w] = block[v]


@kernel()
def _own_bits(columns, position, total, count, factor, gained):
    """Turn numbers of rows with a bit into sums of differences to one row, and add these times a factor."""
    word = columns[position // WORD]
    shift = np.uint64(position % WORD)
    for c in range(WORD):
        own = np.int64((word[c] >> shift) & np.uint64(1))
        ones = np.int64(total[c])
        gained[c] += factor * np.float64(np.int32(ones + own * (count - 2 * ones)))


@kernel()
def add_zones(columns, zones, places, stretch_ptr, stretch_words, stretch_masks, factors, gained):
    """Add the weighted differences between the rows of a block and all rows in a zone of theirs.

    Parameters
    ----------
    columns : uint64 array of shape (⌈n / 64⌉, 64)
        Bits of 64 columns, from :func:`turned`.
    zones : uint64 array of shape (b, ⌈n / 64⌉)
        Who is in the zone, from :func:`zone_bits`.
    places : int64 array of shape (b,)
        Where the rows of the block stand.
    stretch_ptr : int64 array of shape (c + 1,)
        Class q lies in the words ``stretch_words[stretch_ptr[q]:stretch_ptr[q + 1]]``,
    stretch_words : int64 array
        see above,
    stretch_masks : uint64 array
        and in each of them, these bits are its rows.
    factors : float64 array of shape (c, b)
        Weight of the differences between a row and those of each class in the zone.
    gained : float64 array of shape (64,)
        Grows by the sums of differences, which are 1 where two bits differ.
    """
    b = zones.shape[0]
    total = np.empty(WORD, dtype=np.uint64)
    other = np.empty(WORD, dtype=np.uint64)
    for r in range(0, b, 2):  # two rows at a time, and four words: columns and sums are then read less often
        twin = min(r + 1, b - 1)
        one = zones[r]
        two = zones[twin]
        for q in range(factors.shape[0]):
            if factors[q, r] == 0.0 and factors[q, twin] == 0.0:
                continue
            e = stretch_ptr[q]
            stop = stretch_ptr[q + 1]
            count = np.uint64(0)
            other_count = np.uint64(0)
            total[:] = 0
            other[:] = 0
            while e < stop:
                last = stop - 1
                e1, e2, e3 = min(e + 1, last), min(e + 2, last), min(e + 3, last)
                w0, w1, w2, w3 = stretch_words[e], stretch_words[e1], stretch_words[e2], stretch_words[e3]
                m0 = stretch_masks[e]
                m1 = stretch_masks[e1] if e + 1 < stop else np.uint64(0)
                m2 = stretch_masks[e2] if e + 2 < stop else np.uint64(0)
                m3 = stretch_masks[e3] if e + 3 < stop else np.uint64(0)
                a0, a1, a2, a3 = one[w0] & m0, one[w1] & m1, one[w2] & m2, one[w3] & m3
                b0, b1, b2, b3 = two[w0] & m0, two[w1] & m1, two[w2] & m2, two[w3] & m3
                count += (_bits_set(a0) + _bits_set(a1)) + (_bits_set(a2) + _bits_set(a3))
                other_count += (_bits_set(b0) + _bits_set(b1)) + (_bits_set(b2) + _bits_set(b3))
                x0, x1, x2, x3 = columns[w0], columns[w1], columns[w2], columns[w3]
                for c in range(WORD):
                    total[c] += (_bits_set(a0 & x0[c]) + _bits_set(a1 & x1[c])) + (
                        _bits_set(a2 & x2[c]) + _bits_set(a3 & x3[c])
                    )
                    other[c] += (_bits_set(b0 & x0[c]) + _bits_set(b1 & x1[c])) + (
                        _bits_set(b2 & x2[c]) + _bits_set(b3 & x3[c])
                    )
                e += 4
            _own_bits(columns, places[r], total, np.int64(count), factors[q, r], gained)
            if twin > r:
                _own_bits(columns, places[twin], other, np.int64(other_count), factors[q, twin], gained)


@kernel()
def _own_mean(columns, known, position, ones, both, coefficient, similar, unit, gained):
    """Turn numbers of rows with a bit of each plane into a mean difference to one row, times a number."""
    w = position // WORD
    shift = np.uint64(position % WORD)
    for c in range(WORD):
        n_known = np.int64(both[c]) * np.int64((known[w, c] >> shift) & np.uint64(1))
        total = np.int64(0)
        for plane in range(columns.shape[0]):
            own = np.int64((columns[plane, w, c] >> shift) & np.uint64(1))
            set_ = np.int64(ones[plane, c])
            total += set_ + own * (np.int64(both[c]) - 2 * set_)
        mean = np.float64(np.int32(total)) * unit / max(np.float64(np.int32(n_known)), 1.0)
        if similar:
            mean = 1.0 - mean
        gained[c] += coefficient * mean if n_known > 0 else 0.0


@kernel()
def add_known_zones(
    columns,
    known,
    unit,
    zones,
    places,
    stretch_ptr,
    stretch_words,
    stretch_masks,
    factors,
    similar,
    gained,
):
    """As :func:`add_zones` for columns with gaps: means over the rows of a class in the zone that are known.

    Parameters
    ----------
    columns : uint64 array of shape (s, ⌈n / 64⌉, 64)
        Bits of 64 columns plane by plane, from :func:`turned`; a missing value has none.
    known : uint64 array of shape (⌈n / 64⌉, 64)
        Which values are known.
    unit : float
        What two values differ by that differ in one plane.
    zones, places, stretch_ptr, stretch_words, stretch_masks
        As there.
    factors : float64 array of shape (c, b)
        What each row of the class counts; a mean counts as much as all of them.
    similar : bool
        Whether means of 1 − difference are subtracted, instead of means of differences being added.
    gained : float64 array of shape (64,)
        Changed in place.
    """
    n_planes = columns.shape[0]
    ones = np.empty((n_planes, WORD), dtype=np.uint64)
    both = np.empty(WORD, dtype=np.uint64)
    for r in range(zones.shape[0]):
        zone = zones[r]
        for q in range(factors.shape[0]):
            if factors[q, r] == 0.0:
                continue
            count = np.uint64(0)
            both[:] = 0
            ones[:] = 0
            for e in range(stretch_ptr[q], stretch_ptr[q + 1]):
                w = stretch_words[e]
                inside = zone[w] & stretch_masks[e]
                count += _bits_set(inside)
                here = known[w]
                for c in range(WORD):
                    both[c] += _bits_set(inside & here[c])
                for plane in range(n_planes):
                    word = columns[plane, w]
                    total = ones[plane]
                    for c in range(WORD):
                        total[c] += _bits_set(inside & word[c])
            coefficient = factors[q, r] * np.float64(np.int64(count))
            if similar:
                coefficient = -coefficient
            _own_mean(columns, known, places[r], ones, both, coefficient, similar, unit, gained)
