"""Columns of few values as bits: packing, unpacking, and distances by counting bits that differ.

A column of the whole numbers 0 … m takes m planes, of which plane s holds the bit ``value > s``: the difference of
two values is the number of planes in which they differ. Rows are cut into tiles of a few thousand columns; a row of
a tile holds one plane after the other, each in the same number of 64-bit words. Distances are then sums over words,
and what a few columns hold lies close together.
"""

from __future__ import annotations

import numpy as np
from numba import config, types
from numba.extending import intrinsic

from reliefe.kernels import kernel
from reliefe.kernels.tiles import SIDE, tiles

#: Columns in a word.
WORD = 64
_PAIRS = 0x0003000300030003
_FOURS = 0x0000000F0000000F
_ONES = 0x0101010101010101


if config.DISABLE_JIT:

    def _bits_set(word):
        return np.uint64(int(word).bit_count())

else:

    @intrinsic
    def _bits_set(typing_context, word):
        def generate(context, builder, signature, arguments):
            return builder.ctpop(arguments[0])

        return types.uint64(types.uint64), generate


@kernel()
def _squeeze(eight):
    """Bring eight bytes of 0 or 1 together in the lowest byte."""
    eight = (eight | (eight >> np.uint64(7))) & np.uint64(_PAIRS)
    eight = (eight | (eight >> np.uint64(14))) & np.uint64(_FOURS)
    return (eight | (eight >> np.uint64(28))) & np.uint64(255)


@kernel()
def _eight_bytes(byte):
    """Undo :func:`_squeeze`."""
    byte = (byte | (byte << np.uint64(28))) & np.uint64(_FOURS)
    byte = (byte | (byte << np.uint64(14))) & np.uint64(_PAIRS)
    return (byte | (byte << np.uint64(7))) & np.uint64(_ONES)


@kernel()
def _put_words(eights, n_words, words):
    """Turn bytes of 0 or 1, eight in each of ``eights``, into words."""
    for w in range(n_words):
        word = np.uint64(0)
        for b in range(8):
            word |= _squeeze(eights[8 * w + b]) << np.uint64(8 * b)
        words[w] = word


@kernel()
def _turn(block):
    """Turn 64 words of 64 bits: bit c of word r becomes bit r of word c."""
    half = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while half > 0:
        shift = np.uint64(half)
        for start in range(0, WORD, 2 * half):
            for k in range(start, start + half):
                moved = ((block[k] >> shift) ^ block[k + half]) & mask
                block[k] ^= moved << shift
                block[k + half] ^= moved
        half //= 2
        mask ^= mask << np.uint64(half)


@kernel()
def _take(flat, start, step, columns, c0, c1, values):
    """Copy the values of one row in the columns ``columns[c0:c1]``, which rise, to ``values``."""
    width = c1 - c0
    first = columns[c0]
    if step == 1 and columns[c1 - 1] - first == width - 1:
        near = flat[start + first : start + first + width]
        for j in range(width):
            values[j] = near[j]
    else:
        for j in range(width):
            values[j] = flat[start + columns[c0 + j] * step]


@kernel()
def _compare(values, cut, step, equal, ones):
    """Put down where ``values`` exceed ``cut``, or are equal to it; a step of 0 compares all with one cut."""
    if equal:
        for j in range(values.shape[0]):
            ones[j] = np.uint8(values[j] == cut[j * step])
    else:
        for j in range(values.shape[0]):
            ones[j] = np.uint8(values[j] > cut[j * step])


@kernel()
def _pack_by_row(flat, row_step, column_step, columns, cuts, equal, with_gaps, c0, lo, hi, width, tile):
    """Pack one tile of a matrix whose rows lie in one piece."""
    c1 = min(columns.shape[0], c0 + width * WORD)
    n_words = (c1 - c0 + WORD - 1) // WORD
    values = np.empty(c1 - c0, dtype=flat.dtype)
    eights = np.zeros(n_words * WORD // 8, dtype=np.uint64)
    ones = eights.view(np.uint8)
    for i in range(lo, hi):
        words = tile[i]
        words[:] = 0
        for c in range(c0, c1, WORD):  # a word at a time, most of which lie side by side in the matrix
            _take(flat, i * row_step, column_step, columns, c, min(c1, c + WORD), values[c - c0 :])
        plane = 0
        if with_gaps:
            _compare(values, values, 1, np.bool_(True), ones)
            _put_words(eights, n_words, words)
            plane = 1
        for s in range(cuts.shape[0]):
            _compare(values, cuts[s, c0:c1], 1, equal, ones)
            _put_words(eights, n_words, words[(plane + s) * width :])


@kernel()
def _pack_by_column(flat, row_step, column_step, columns, cuts, equal, with_gaps, c0, lo, hi, width, tile):
    """Pack one tile of a matrix whose columns lie in one piece: 64 rows of 64 columns at a time, and turn them."""
    c1 = min(columns.shape[0], c0 + width * WORD)
    values = np.empty(WORD, dtype=flat.dtype)
    eights = np.zeros(WORD // 8, dtype=np.uint64)
    ones = eights.view(np.uint8)
    first_plane = 1 if with_gaps else 0
    n_planes = cuts.shape[0] + first_plane
    blocks = np.empty((n_planes, WORD), dtype=np.uint64)
    for i in range(lo, hi):
        tile[i] = 0
    for c in range(c0, c1, WORD):
        w = (c - c0) // WORD
        for i in range(lo, hi, WORD):
            height = min(hi, i + WORD) - i
            blocks[:] = 0
            ones[:] = 0
            for k in range(min(c1, c + WORD) - c):
                start = i * row_step + columns[c + k] * column_step
                for r in range(height):
                    values[r] = flat[start + r * row_step]
                if with_gaps:
                    _compare(values[:height], values, 1, np.bool_(True), ones)
                    _put_words(eights, 1, blocks[0, k:])
                for s in range(cuts.shape[0]):
                    _compare(values[:height], cuts[s, c + k :], 0, equal, ones)
                    _put_words(eights, 1, blocks[first_plane + s, k:])
            for plane in range(n_planes):
                _turn(blocks[plane])
                for r in range(height):
                    tile[i + r, plane * width + w] = blocks[plane, r]


@kernel()
def pack(flat, row_step, column_step, columns, cuts, equal, with_gaps, lo, hi, packed):
    """Pack some columns of some rows.

    Parameters
    ----------
    flat : array of shape (·,)
        The matrix as it lies in memory: row i of column j is ``flat[i * row_step + j * column_step]``.
    row_step, column_step : int
        See there.
    columns : int64 array of shape (c,)
        Numbers of the columns, rising.
    cuts : array of shape (s, c), of the type of ``flat``
        Plane s holds the bit ``value > cuts[s]``; a NaN has no bit.
    equal : bool
        Whether it holds the bit ``value == cuts[s]`` instead.
    with_gaps : bool
        Whether another plane, before the others, holds which values are known.
    lo, hi : int
        Rows to work on.
    packed : uint64 array of shape (tiles, n, words)
        Rows ``lo … hi − 1`` are overwritten. ``words`` is a multiple of the number of planes; what lies beyond the
        last column is 0.
    """
    width = packed.shape[2] // (cuts.shape[0] + (1 if with_gaps else 0))
    for t in range(packed.shape[0]):
        c0 = t * width * WORD
        matrix = (flat, row_step, column_step, columns, cuts, equal, with_gaps, c0, lo, hi, width)
        if row_step < column_step:
            _pack_by_column(*matrix, packed[t])
        else:
            _pack_by_row(*matrix, packed[t])


@kernel()
def unpack(packed, tile, n_planes, with_gaps, ranked, w0, w1, lo, hi, values):
    """Sum up the planes of some words of a tile, value by value.

    Parameters
    ----------
    packed : uint64 array of shape (tiles, n, words)
        From :func:`pack`.
    tile : int
        Which tile.
    n_planes : int
        Number of planes that are summed up.
    with_gaps : bool
        Whether there is a plane of known values before them.
    ranked : bool
        Whether a bit of plane s counts s, and not 1.
    w0, w1 : int
        Words of each plane, counted from its first.
    lo, hi : int
        Rows to work on.
    values : uint64 array of shape (n, ≥ 8 (w1 − w0))
        Overwritten in the rows ``lo … hi − 1``: eight values of a byte each. An unknown value is 128.
    """
    first = 1 if with_gaps else 0
    width = packed.shape[2] // (n_planes + first)
    for i in range(lo, hi):
        words = packed[tile, i]
        row = values[i]
        for w in range(w0, w1):
            place = 8 * (w - w0)
            for b in range(8):
                shift = np.uint64(8 * b)
                total = np.uint64(0)
                if with_gaps:
                    total = (
                        _eight_bytes((words[w] >> shift) & np.uint64(255)) ^ np.uint64(_ONES)
                    ) << np.uint64(7)
                for s in range(n_planes):
                    word = words[(first + s) * width + w]
                    ones = _eight_bytes((word >> shift) & np.uint64(255))
                    total += ones * np.uint64(s) if ranked else ones
                row[place + b] = total


@kernel()
def count_set(packed, w0, w1, lo, hi, counts):
    """Add the number of bits in some words of every tile to ``counts``, row by row.

    Parameters
    ----------
    packed : uint64 array of shape (tiles, n, words)
        From :func:`pack`.
    w0, w1 : int
        Words of each tile to look at.
    lo, hi : int
        Rows to work on.
    counts : int64 array of shape (n,)
        Changed in place.
    """
    for t in range(packed.shape[0]):
        for i in range(lo, hi):
            total = np.uint64(0)
            words = packed[t, i, w0:w1]
            for w in range(words.shape[0]):
                total += _bits_set(words[w])
            counts[i] += np.int64(total)


@kernel()
def _count_four(a, b, counts, r, c):
    """Add the numbers of bits in which four rows differ from four others to ``counts[r:r + 4, c:c + 4]``."""
    a0, a1, a2, a3 = a
    b0, b1, b2, b3 = b
    none = np.uint64(0)
    s00, s01, s02, s03 = none, none, none, none
    s10, s11, s12, s13 = none, none, none, none
    s20, s21, s22, s23 = none, none, none, none
    s30, s31, s32, s33 = none, none, none, none
    for w in range(a0.shape[0]):
        x0, x1, x2, x3 = a0[w], a1[w], a2[w], a3[w]
        y0, y1, y2, y3 = b0[w], b1[w], b2[w], b3[w]
        s00 += _bits_set(x0 ^ y0)
        s01 += _bits_set(x0 ^ y1)
        s02 += _bits_set(x0 ^ y2)
        s03 += _bits_set(x0 ^ y3)
        s10 += _bits_set(x1 ^ y0)
        s11 += _bits_set(x1 ^ y1)
        s12 += _bits_set(x1 ^ y2)
        s13 += _bits_set(x1 ^ y3)
        s20 += _bits_set(x2 ^ y0)
        s21 += _bits_set(x2 ^ y1)
        s22 += _bits_set(x2 ^ y2)
        s23 += _bits_set(x2 ^ y3)
        s30 += _bits_set(x3 ^ y0)
        s31 += _bits_set(x3 ^ y1)
        s32 += _bits_set(x3 ^ y2)
        s33 += _bits_set(x3 ^ y3)
    counts[r, c] += s00
    counts[r, c + 1] += s01
    counts[r, c + 2] += s02
    counts[r, c + 3] += s03
    counts[r + 1, c] += s10
    counts[r + 1, c + 1] += s11
    counts[r + 1, c + 2] += s12
    counts[r + 1, c + 3] += s13
    counts[r + 2, c] += s20
    counts[r + 2, c + 1] += s21
    counts[r + 2, c + 2] += s22
    counts[r + 2, c + 3] += s23
    counts[r + 3, c] += s30
    counts[r + 3, c + 1] += s31
    counts[r + 3, c + 2] += s32
    counts[r + 3, c + 3] += s33


@kernel()
def _four(rows, members, place, last, w0, w1):
    """Words ``w0 … w1 − 1`` of four rows, the last one again where there are fewer."""
    return (
        rows[members[place], w0:w1],
        rows[members[min(place + 1, last)], w0:w1],
        rows[members[min(place + 2, last)], w0:w1],
        rows[members[min(place + 3, last)], w0:w1],
    )


@kernel()
def add_differing(packed, w0, w1, weight, members, positions, mirrored, fresh, lo, hi, out):
    """Distances from the rows ``positions[lo:hi]`` to all rows: bits that differ, times a weight.

    Parameters
    ----------
    packed : uint64 array of shape (tiles, n, words)
        From :func:`pack`.
    w0, w1 : int
        Words of each tile to look at.
    weight : number of the type of ``out``
        What a bit counts.
    members : int64 array of shape (n,)
        Row numbers in the order in which they stand in ``out``.
    positions : int64 array of shape (b,)
        Rows to measure from, as places in ``members``.
    mirrored : bool
        Whether ``positions`` are consecutive numbers. Distances to places among them that come before the row are
        then left to :func:`reliefe.kernels.tiles.mirror`.
    fresh : bool
        Whether to overwrite, instead of adding to what is there.
    lo, hi : int
        Range of ``positions`` to work on.
    out : array of shape (b, n)
        Distances.
    """
    n = members.shape[0]
    rows = members[positions]
    counts = np.empty((SIDE, SIDE), dtype=np.uint64)
    for r0, r1, m0, m1 in tiles(lo, hi, positions[0], mirrored, n, SIDE):
        counts[:] = 0
        for t in range(packed.shape[0]):
            tile = packed[t]
            for r in range(r0, r1, 4):
                a = _four(tile, rows, r, r1 - 1, w0, w1)
                for m in range(m0, m1, 4):
                    _count_four(a, _four(tile, members, m, m1 - 1, w0, w1), counts, r - r0, m - m0)
        for r in range(r0, r1):
            row = out[r, m0:m1]
            found = counts[r - r0]
            for m in range(m1 - m0):
                distance = weight * np.int64(found[m])
                row[m] = distance if fresh else row[m] + distance


@kernel()
def _count_known(a, b, width, n_planes, counts, known, r, c):
    """As :func:`_count_four` for two rows and four others where both are known; count these in ``known``."""
    a0, a1 = a
    b0, b1, b2, b3 = b
    none = np.uint64(0)
    s00, s01, s02, s03 = none, none, none, none
    s10, s11, s12, s13 = none, none, none, none
    for w in range(width):
        x0, x1 = a0[w], a1[w]
        y0, y1, y2, y3 = b0[w], b1[w], b2[w], b3[w]
        s00 += _bits_set(x0 & y0)
        s01 += _bits_set(x0 & y1)
        s02 += _bits_set(x0 & y2)
        s03 += _bits_set(x0 & y3)
        s10 += _bits_set(x1 & y0)
        s11 += _bits_set(x1 & y1)
        s12 += _bits_set(x1 & y2)
        s13 += _bits_set(x1 & y3)
    known[r, c] += s00
    known[r, c + 1] += s01
    known[r, c + 2] += s02
    known[r, c + 3] += s03
    known[r + 1, c] += s10
    known[r + 1, c + 1] += s11
    known[r + 1, c + 2] += s12
    known[r + 1, c + 3] += s13
    for plane in range(n_planes):
        start = (plane + 1) * width
        p0, p1 = a0[start : start + width], a1[start : start + width]
        q0, q1 = b0[start : start + width], b1[start : start + width]
        q2, q3 = b2[start : start + width], b3[start : start + width]
        s00, s01, s02, s03 = none, none, none, none
        s10, s11, s12, s13 = none, none, none, none
        for w in range(width):
            x0, x1 = p0[w], p1[w]
            y0, y1, y2, y3 = q0[w], q1[w], q2[w], q3[w]
            k0, k1 = a0[w], a1[w]
            l0, l1, l2, l3 = b0[w], b1[w], b2[w], b3[w]
            s00 += _bits_set((x0 ^ y0) & k0 & l0)
            s01 += _bits_set((x0 ^ y1) & k0 & l1)
            s02 += _bits_set((x0 ^ y2) & k0 & l2)
            s03 += _bits_set((x0 ^ y3) & k0 & l3)
            s10 += _bits_set((x1 ^ y0) & k1 & l0)
            s11 += _bits_set((x1 ^ y1) & k1 & l1)
            s12 += _bits_set((x1 ^ y2) & k1 & l2)
            s13 += _bits_set((x1 ^ y3) & k1 & l3)
        counts[plane, r, c] += s00
        counts[plane, r, c + 1] += s01
        counts[plane, r, c + 2] += s02
        counts[plane, r, c + 3] += s03
        counts[plane, r + 1, c] += s10
        counts[plane, r + 1, c + 1] += s11
        counts[plane, r + 1, c + 2] += s12
        counts[plane, r + 1, c + 3] += s13


@kernel()
def add_known(packed, weights, members, positions, mirrored, lo, hi, out, known):
    """As :func:`add_differing` for columns with gaps, where only what is known of both rows counts.

    Parameters
    ----------
    packed : uint64 array of shape (tiles, n, words)
        From :func:`pack`, with the plane of known values.
    weights : array of shape (s,), of the type of ``out``
        What a bit of each plane counts.
    members, positions, mirrored, lo, hi
        As there.
    out : array of shape (b, n)
        Distances, which grow.
    known : array of shape (b, n)
        Grows by the number of columns that are known in both rows.
    """
    n = members.shape[0]
    n_planes = weights.shape[0]
    width = packed.shape[2] // (n_planes + 1)
    rows = members[positions]
    counts = np.empty((n_planes, SIDE, SIDE), dtype=np.uint64)
    both = np.empty((SIDE, SIDE), dtype=np.uint64)
    words = packed.shape[2]
    for r0, r1, m0, m1 in tiles(lo, hi, positions[0], mirrored, n, SIDE):
        counts[:] = 0
        both[:] = 0
        for t in range(packed.shape[0]):
            tile = packed[t]
            for r in range(r0, r1, 2):
                a = (tile[rows[r]], tile[rows[min(r + 1, r1 - 1)]])
                for m in range(m0, m1, 4):
                    b = _four(tile, members, m, m1 - 1, 0, words)
                    _count_known(a, b, width, n_planes, counts, both, r - r0, m - m0)
        for r in range(r0, r1):
            row = out[r, m0:m1]
            row_known = known[r, m0:m1]
            found = both[r - r0]
            for m in range(m1 - m0):
                row_known[m] += np.int64(found[m])
            for plane in range(n_planes):
                differing = counts[plane, r - r0]
                weight = weights[plane]
                for m in range(m1 - m0):
                    row[m] += weight * np.int64(differing[m])
