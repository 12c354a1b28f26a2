"""Small nodes: each feature is a word with a bit for every row, and the rows of a node are a word as well."""

from __future__ import annotations

import numpy as np

from experiments.learners.kernels import inner_kernel
from experiments.learners.kernels.bits import lowest
from experiments.learners.kernels.layout import DENSE, FEW, FIRST, LAST


@inner_kernel
def make_masks(columns, work, start, end):
    """Make the words of the features that the rows of a node do not all have the default of; return how many."""
    n_touched = 0
    feature, entries, mask = columns.feature, columns.start, work.mask
    touched, is_touched = work.touched, work.is_touched
    one = np.uint64(1)
    for a in range(start, end):
        i = work.rows[a]
        bit = one << np.uint64(a - start)
        for q in range(entries[i], entries[i + 1]):
            f = feature[q]
            if mask[f] == 0:
                touched[n_touched] = f
                n_touched += 1
                is_touched[f >> 6] |= one << np.uint64(f & 63)
            mask[f] |= bit
    return n_touched


@inner_kernel
def clear_masks(touched, n_touched, mask, is_touched):
    """Forget the words of features."""
    for a in range(n_touched):
        f = touched[a]
        mask[f] = 0
        is_touched[f >> 6] &= ~(np.uint64(1) << np.uint64(f & 63))


@inner_kernel
def count_labels(word, rows, word_start, about, pairs, total, present_bits, present):
    """Count the labels of the rows of a word.

    Returns
    -------
    n_present : int
        How many labels there are; ``present`` holds them, ascending.
    squares : int
        Sum of the squares of their counts.
    """
    squares = np.int64(0)
    rest = word
    while rest != 0:
        i = rows[word_start + lowest(rest)]
        rest &= rest - np.uint64(1)
        for q in range(about[i, FIRST], about[i, LAST]):
            k = pairs[q, 0]
            c = np.int64(pairs[q, 1])
            before = np.int64(total[k, 0])
            squares += c * (2 * before + c)
            total[k, 0] = before + c
            present_bits[k >> 6] |= np.uint64(1) << np.uint64(k & 63)
    n_present = 0
    for b in range(present_bits.shape[0]):
        rest = present_bits[b]
        present_bits[b] = 0
        while rest != 0:
            present[n_present] = (b << 6) + lowest(rest)
            n_present += 1
            rest &= rest - np.uint64(1)
    return n_present, squares


@inner_kernel
def stored_rank(feature, rank, low, high, f):
    """Return the rank of a value that is not the default, of a row with the entries from ``low`` to ``high``."""
    high -= 1
    while low < high:
        middle = (low + high) >> 1
        if feature[middle] < f:
            low = middle + 1
        else:
            high = middle
    return np.int64(rank[low])


@inner_kernel
def word_rows(word, rows, word_start, some_rows):
    """Write the rows of a word; return how many."""
    n = 0
    while word != 0:
        some_rows[n] = rows[word_start + lowest(word)]
        n += 1
        word &= word - np.uint64(1)
    return n


@inner_kernel
def word_keys(columns, word, rows, word_start, f, keys):
    """Make keys of the rows of a word that are stored for a feature; return how many."""
    feature, rank, entries = columns.feature, columns.rank, columns.start
    n = 0
    while word != 0:
        i = rows[word_start + lowest(word)]
        word &= word - np.uint64(1)
        keys[n] = (stored_rank(feature, rank, entries[i], entries[i + 1], f) << 32) | i
        n += 1
    return n


@inner_kernel
def word_keys_dense(word, rows, word_start, ranks, keys):
    """Make keys of the rows of a word for a dense feature; return how many."""
    n = 0
    while word != 0:
        i = rows[word_start + lowest(word)]
        word &= word - np.uint64(1)
        keys[n] = (np.int64(ranks[i]) << 32) | i
        n += 1
    return n


@inner_kernel
def word_part(columns, work, word, word_start, f, low):
    """Return the rows of a word whose value of a feature has rank ``low`` or less, as a word."""
    kind = columns.kind[f]
    stored = word if kind == DENSE else word & work.mask[f]
    left = np.uint64(0)
    if kind != DENSE and columns.default[f] <= low:
        left = word & ~stored
    if kind == DENSE or kind == FEW:
        rest = stored
        while rest != 0:
            a = lowest(rest)
            rest &= rest - np.uint64(1)
            i = work.rows[word_start + a]
            if kind == DENSE:
                rank = np.int64(columns.ranks[columns.slot[f], i])
            else:
                rank = stored_rank(columns.feature, columns.rank, columns.start[i], columns.start[i + 1], f)
            if rank <= low:
                left |= np.uint64(1) << np.uint64(a)
    elif columns.default[f] > low:
        left = stored
    return left
