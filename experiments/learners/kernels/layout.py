"""The arrays that the kernels share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: Kinds of features: two values; most rows share one value; neither.
TWO, FEW, DENSE = 0, 1, 2
#: Most rows that are one word.
WORD = 64
#: Bits of a key that are the row; the rank of its value lies above. In a list, the entry lies above.
ROW = 0xFFFFFFFF
#: Places in ``Sample.about``.
WEIGHT, SIZE, FIRST, LAST = 0, 1, 2, 3


class Columns(NamedTuple):
    """The features of the training rows."""

    kind: np.ndarray  # (p,) int8
    close: np.ndarray  # (p,) bool: has different values that scikit-learn takes as equal
    default: np.ndarray  # (p,) int32: rank of the value that is not stored; -1 where all are
    value_start: np.ndarray  # (p + 1,) int64
    values: np.ndarray  # float32: the different values of each feature, ascending
    region: np.ndarray  # (p + 1,) int64: where the list of a feature begins
    start: np.ndarray  # (n + 1,) int64
    feature: np.ndarray  # int32: of the stored entries, row by row, ascending
    rank: np.ndarray  # int32: of their values; empty when all sparse features have two values
    list_row: (
        np.ndarray
    )  # int32: rows of the entries, feature by feature, when ``rank`` is empty and trees keep no lists
    list_key: np.ndarray  # int64: their rows and the ranks of their values, when only the latter is so
    slot: np.ndarray  # (p,) int32: row of ``ranks``, for dense features
    ranks: np.ndarray  # (number of dense features, n) int32


class Sample(NamedTuple):
    """The rows that a tree is grown on."""

    about: np.ndarray  # (n, 4) int32: how often drawn, how many rows it stands for, its part of ``pairs``
    pairs: np.ndarray  # (many, 2) int32: a label and the weight with that label


class Tree(NamedTuple):
    """A tree."""

    feature: np.ndarray  # int32; -1 for leaves
    threshold: np.ndarray  # float64
    left: np.ndarray  # int32
    right: np.ndarray  # int32
    leaf_start: np.ndarray  # int32: first place in ``leaf_rows``
    leaf_end: np.ndarray  # int32
    leaf_rows: np.ndarray  # int32


class Work(NamedTuple):
    """Room for growing a tree, used again for the next."""

    rows: np.ndarray  # int32: those that were drawn; those of a node are next to each other
    place: np.ndarray  # int32: where a row is in ``rows``; -1 for nowhere
    some_rows: np.ndarray  # int32
    keys: np.ndarray  # int64
    spare: np.ndarray  # int64
    histogram: np.ndarray  # int64
    features: np.ndarray  # int32: in the order that draws make
    bounds: np.ndarray  # (p, 2) int32: the list of a feature in the current node
    end_before: np.ndarray  # (p,) int32; -1 for features that were not touched
    moved: np.ndarray  # (p,) int32: lists that lost rows
    loaded: np.ndarray  # (p,) int32: lists that are not empty
    lists: np.ndarray  # int64: row and entry
    entry_place: np.ndarray  # int32: where an entry is in ``lists``
    saved: np.ndarray  # (many, 3) int32: lists of nodes that wait: feature, begin, end
    mask: np.ndarray  # (p,) uint64: which rows of a small node do not have the default of a feature
    touched: np.ndarray  # (p,) int32: features with a word
    is_touched: np.ndarray  # uint64: a bit for each of them, and for dense ones
    total: np.ndarray  # (L, 2) int32: weight with a label in a large node, and on one side of a split
    small_total: np.ndarray  # (L, 2) int32: the same in a small node
    present: np.ndarray  # (L,) int32: labels that rows of the node have
    present_bits: np.ndarray  # uint64
    stack: np.ndarray  # (deep, 10) int64
    impurity: np.ndarray  # (deep,) float64
    word: np.ndarray  # (deep,) uint64
    best: np.ndarray  # (8,) float64
    counters: np.ndarray  # (2,) int64


class Node(NamedTuple):
    """What splits of a node are judged with."""

    weight: int
    size: int
    n_groups: int
    squares: int  # |t|² of its label counts t
    n_present: int
    n_labels: int
    single: bool
    min_leaf: int
    margin: float


#: Places in ``Work.best``.
CHEAP, VALUE, IMPURITY_LEFT, IMPURITY_RIGHT, WEIGHT_LEFT, CHOSEN, LOW, HIGH = range(8)
