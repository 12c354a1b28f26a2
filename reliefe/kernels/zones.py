"""Weighted differences of pairs of rows, for columns kept as bits: bits of rows against bits of columns.

In SURF and its kin, the differences between a row and all rows of a class that are near (or far) count the same.
With a bit for each of these rows, and the bits of a column turned so that a word holds 64 rows of it, the number on
either side of a cut is a population count. No pair is looked at by itself, and the sum of differences is exact.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from reliefe.kernels import kernel
from reliefe.kernels.bits import WORD, _bits_set, _turn

#: Words that are compared at a time.
LANES = 4


if config.DISABLE_JIT:

    def _common_bits(one, i, other, j, vectors):
        words = one[i : i + LANES * vectors] & other[j : j + LANES * vectors]
        return np.uint64(sum(int(word).bit_count() for word in words))

else:

    @intrinsic
    def _common_bits(typing_context, one, i, other, j, vectors):
        """Count the bits that are set both in words from ``one[i]`` on and in as many from ``other[j]`` on.

        A loop of few steps is not made into vector instructions by itself.
        """

        def generate(context, builder, signature, arguments):
            vector = ir.VectorType(ir.IntType(WORD), LANES)
            name = f"llvm.ctpop.v{LANES}i{WORD}"
            count = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector]), name)
            starts = []
            for place in (0, 2):
                array = context.make_array(signature.args[place])(context, builder, arguments[place])
                start = builder.gep(array.data, [arguments[place + 1]])
                starts.append(builder.bitcast(start, vector.as_pointer()))
            total = cgutils.alloca_once_value(builder, ir.Constant(vector, [0] * LANES))
            with cgutils.for_range(builder, arguments[4]) as loop:
                words = [builder.load(builder.gep(start, [loop.index]), align=8) for start in starts]
                counts = builder.call(count, [builder.and_(*words)])
                builder.store(builder.add(builder.load(total), counts), total)
            sums = builder.load(total)
            lanes = [builder.extract_element(sums, ir.Constant(ir.IntType(32), k)) for k in range(LANES)]
            found = lanes[0]
            for lane in lanes[1:]:
                found = builder.add(found, lane)
            return found

        whole = types.int64
        return types.uint64(one, whole, other, whole, whole), generate


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
    near_bits, far_bits : uint64 arrays of shape (b, ≥ ⌈n / 64⌉)
        Rows ``lo … hi − 1`` are overwritten; the second only with ``far``.
    """
    n = distances.shape[1]
    for r in range(lo, hi):
        row = distances[r]
        for w in range((n + WORD - 1) // WORD):
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
def _next_bit(word):
    """Return the place of the lowest bit of a word that has one, and the word without it."""
    low = word & (~word + np.uint64(1))
    return np.int64(_bits_set(low - np.uint64(1))), word ^ low


@kernel()
def shared(zones, first, stretch_ptr, stretch_words, stretch_masks, factors, lo, hi, sums):
    """Add what every bit of a column contributes to :func:`add_zones` by itself, by place, to ``sums``.

    Parameters
    ----------
    zones, first, stretch_ptr, stretch_words, stretch_masks, factors
        As there.
    lo, hi : int
        Rows of the block to work on.
    sums : float64 array of shape (n,)
        At the place of a row in a zone grows by the factor of its class, and at the place of the row that has the
        zone by the factors of all of them.
    """
    for r in range(lo, hi):
        given = 0.0
        for q in range(factors.shape[1]):
            factor = factors[r, q]
            if factor == 0.0:
                continue
            count = np.int64(0)
            for e in range(stretch_ptr[q], stretch_ptr[q + 1]):
                word = zones[r, stretch_words[e]] & stretch_masks[e]
                count += np.int64(_bits_set(word))
                start = WORD * stretch_words[e]
                while word != np.uint64(0):
                    k, word = _next_bit(word)
                    sums[start + k] += factor
            given += factor * count
        sums[first + r] += given


@kernel()
def _by_class(columns, stretch_ptr, stretch_words, stretch_masks, own, by_class):
    """Put the words of columns side by side: all of them, and those of each class in whole vectors.

    A column of which more than half of the bits are set is inverted, which changes no difference; where it is half
    of them, the first row has no bit.
    """
    n_words = columns.shape[0]
    own[:] = 0
    by_class[:] = 0
    for c in range(WORD):
        count = np.int64(0)
        places = np.int64(0)
        for e in range(stretch_words.shape[0]):
            count += np.int64(_bits_set(columns[stretch_words[e], c] & stretch_masks[e]))
            places += np.int64(_bits_set(stretch_masks[e]))
        inverted = 2 * count > places or (2 * count == places and (columns[0, c] & np.uint64(1)) != 0)
        flip = ~np.uint64(0) if inverted else np.uint64(0)
        to = 0
        for q in range(stretch_ptr.shape[0] - 1):
            for e in range(stretch_ptr[q], stretch_ptr[q + 1]):
                word = (columns[stretch_words[e], c] ^ flip) & stretch_masks[e]
                own[c * n_words + stretch_words[e]] |= word
                by_class[c, to + e - stretch_ptr[q]] = word
            to += LANES * ((stretch_ptr[q + 1] - stretch_ptr[q] + LANES - 1) // LANES)


@kernel()
def add_zones(columns, zones, first, stretch_ptr, stretch_words, stretch_masks, factors, sums, gained):
    """Add the weighted differences between the rows of a block and all rows in a zone of theirs.

    With bits b, the difference b_r xor b_m is b_r + b_m − 2 b_r b_m. Of the first two terms, summed over all pairs,
    each set bit has a share that does not depend on the column; the last one needs only the rows that have a bit.

    Parameters
    ----------
    columns : uint64 array of shape (⌈n / 64⌉, 64)
        Bits of 64 columns, from :func:`turned`.
    zones : uint64 array of shape (b, ≥ ⌈n / 64⌉ + LANES − 1)
        Who is in the zone, from :func:`zone_bits`.
    first : int
        Place of the block's first row.
    stretch_ptr : int64 array of shape (c + 1,)
        Class q lies in the words ``stretch_words[stretch_ptr[q]:stretch_ptr[q + 1]]``, which follow one another,
    stretch_words : int64 array
        see above,
    stretch_masks : uint64 array
        and in each of them, these bits are its rows.
    factors : float64 array of shape (b, c)
        Weight of the differences between a row and those of each class in the zone.
    sums : float64 array of shape (n,)
        From :func:`shared`.
    gained : float64 array of shape (64,)
        Grows by the sums of differences, which are 1 where two bits differ.
    """
    b = zones.shape[0]
    n_words = columns.shape[0]
    n_classes = factors.shape[1]
    vectors = np.empty(n_classes, dtype=np.int64)
    begins = np.empty(n_classes, dtype=np.int64)
    total = np.int64(0)
    for q in range(n_classes):
        vectors[q] = (stretch_ptr[q + 1] - stretch_ptr[q] + LANES - 1) // LANES
        begins[q] = stretch_words[stretch_ptr[q]] if vectors[q] > 0 else 0
        total += vectors[q]
    own = np.empty(WORD * n_words, dtype=np.uint64)
    by_class = np.empty((WORD, LANES * total), dtype=np.uint64)
    _by_class(columns, stretch_ptr, stretch_words, stretch_masks, own, by_class)
    flat = by_class.ravel()
    listed = zones.ravel()
    for w in range(n_words):  # 64 rows at a time, whose zones stay in the first-level cache
        inside = ~np.uint64(0)
        if WORD * w < first:
            inside = inside << np.uint64(min(first - WORD * w, WORD - 1))
            if first - WORD * w >= WORD:
                inside = np.uint64(0)
        if WORD * (w + 1) > first + b:
            beyond = WORD * (w + 1) - first - b
            inside &= (~np.uint64(0) >> np.uint64(beyond)) if beyond < WORD else np.uint64(0)
        for c in range(WORD):
            word = own[c * n_words + w]
            alone = 0.0
            both = 0.0
            start = WORD * w
            rest = word
            while rest != np.uint64(0):
                k, rest = _next_bit(rest)
                alone += sums[start + k]
            rest = word & inside
            while rest != np.uint64(0):
                k, rest = _next_bit(rest)
                r = start + k - first
                at = c * by_class.shape[1]
                zone = r * zones.shape[1]
                for q in range(n_classes):
                    common = _common_bits(listed, zone + begins[q], flat, at, vectors[q])
                    both += factors[r, q] * np.float64(np.int64(common))
                    at += LANES * vectors[q]
            gained[c] += alone - 2.0 * both


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
