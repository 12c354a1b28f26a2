"""Features, labels and rows of a forest as its kernels take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from experiments.learners.kernels.describing import by_features, by_rows, describe, fill_ranks
from experiments.learners.kernels.grouping import group_labels, row_hashes, same_rows
from experiments.learners.kernels.layout import Columns

#: Rows that are equal in all features are counted together when there are no more different ones than this share.
_WORTH_GROUPING = 0.7
#: Values of dense features that are sorted in one call.
_SORTED_TOGETHER = 2**16


@dataclass(frozen=True)
class Targets:
    """Labels of rows as lists."""

    n_labels: int  # labels, or classes
    single: bool  # whether every row has one of several classes
    start: np.ndarray  # which labels each row has
    labels: np.ndarray  # which labels each row has
    classes: np.ndarray | None = None  # the classes, or which labels all rows have or none
    always: np.ndarray | None = None  # the classes, or which labels all rows have or none
    never: np.ndarray | None = None  # the classes, or which labels all rows have or none

    @classmethod
    def of(cls, y: np.ndarray) -> Targets:
        """Make them of classes (n,) or 0/1 labels (n, L)."""
        if y.ndim == 1:
            classes, codes = np.unique(y, return_inverse=True)
            start = np.arange(len(y) + 1, dtype=np.int32)
            return cls(len(classes), True, start, codes.astype(np.int32), classes=classes)
        rows, labels = np.nonzero(y)
        start = np.zeros(len(y) + 1, dtype=np.int32)
        np.cumsum(np.bincount(rows, minlength=len(y)), out=start[1:])
        n_with = np.bincount(labels, minlength=y.shape[1])
        return cls(
            y.shape[1],
            False,
            start,
            labels.astype(np.int32),
            always=n_with == len(y),
            never=n_with == 0,
        )


@dataclass(frozen=True)
class Groups:
    """Rows that are equal in all features."""

    group: np.ndarray  # int32 for each row; empty when every row is one of its own
    label_start: np.ndarray
    labels: np.ndarray
    slot: np.ndarray  # where a label of a row is among the labels of its group


def describe_columns(X: Any) -> Columns:
    """Turn features into lists and ranks."""
    n, p = X.shape
    nothing = np.empty(0, dtype=np.int32)
    is_sparse = sparse.issparse(X)
    if is_sparse:
        X = X.astype(np.float32).tocsc()
        X.sum_duplicates()
        X.eliminate_zeros()
        start, row_of = (each.astype(np.int32, copy=False) for each in (X.indptr, X.indices))
        data, step = X.data, p
        dense, order = np.empty((0, 0), dtype=np.float32), np.empty((0, 0), dtype=np.int64)
    else:
        start, row_of, data = nothing, nothing, np.empty(0, dtype=np.float32)
        step = max(1, _SORTED_TOGETHER // n)
    columns = Columns(
        kind=np.empty(p, dtype=np.int8),
        close=np.empty(p, dtype=np.bool_),
        default=np.empty(p, dtype=np.int32),
        value_start=np.zeros(p + 1, dtype=np.int64),
        values=np.empty(0, dtype=np.float32),
        region=np.zeros(p + 1, dtype=np.int64),
        start=np.empty(n + 1, dtype=np.int64),
        feature=nothing,
        rank=nothing,
        list_row=nothing,
        list_key=np.empty(0, dtype=np.int64),
        slot=np.empty(p, dtype=np.int32),
        ranks=np.empty((0, n), dtype=np.int32),
    )
    list_row, list_rank = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
    counters = np.zeros(4, dtype=np.int64)
    for first in range(0, p, step):
        last = min(first + step, p)
        if not is_sparse:
            dense = np.ascontiguousarray(X[:, first:last].T, dtype=np.float32)
            order = np.argsort(dense, axis=1)
        # Room for what these features can have at most.
        n_values, n_entries, n_dense, _ = counters.tolist()
        n_more = len(data) if is_sparse else dense.size
        columns = columns._replace(
            values=_with_room(columns.values, n_values + n_more + last - first),
            ranks=columns.ranks if is_sparse else _with_room(columns.ranks, n_dense + last - first),
        )
        list_row, list_rank = (_with_room(each, n_entries + n_more) for each in (list_row, list_rank))
        describe(start, row_of, data, dense, order, first, last, n, columns, list_row, list_rank, counters)
    n_values, n_entries, n_dense, n_few = counters.tolist()
    columns = columns._replace(
        values=_cut(columns.values, n_values),
        ranks=np.empty((n_dense, n), dtype=np.int32) if is_sparse else _cut(columns.ranks, n_dense),
    )
    if is_sparse:
        fill_ranks(start, row_of, data, columns.slot, columns.value_start, columns.values, columns.ranks)
    del X, start, row_of, data, dense, order  # before as much is made again, row by row
    columns = columns._replace(
        feature=np.empty(n_entries, dtype=np.int32),
        rank=np.empty(n_entries if n_few else 0, dtype=np.int32),
    )
    by_rows(columns.region, list_row, list_rank, n, columns.start, columns.feature, columns.rank)
    return columns


def _with_room(array: np.ndarray, length: int) -> np.ndarray:
    """Return an array that begins with the same and has the length at least."""
    if len(array) >= length:
        return array
    return _cut(array, max(length, len(array) * 9 // 8))


def _cut(array: np.ndarray, length: int) -> np.ndarray:
    """Return an array of another length; the one given is of no more use."""
    # In place: not twice in memory. Nothing else refers to the values of these arrays.
    array.resize((length, *array.shape[1:]), refcheck=False)
    return array


def with_lists(columns: Columns) -> Columns:
    """Add the rows of each feature."""
    list_key = np.empty(len(columns.rank), dtype=np.int64)
    list_row = np.empty(0 if len(list_key) else len(columns.feature), dtype=np.int32)
    n = len(columns.start) - 1
    by_features(columns.start, columns.feature, columns.rank, n, columns.region, list_row, list_key)
    return columns._replace(list_row=list_row, list_key=list_key)


def grouped(columns: Columns, n: int, targets: Targets) -> tuple[Columns, Groups]:
    """Count rows together that are equal in all features, when there are many."""
    nothing = np.empty(0, dtype=np.int32)
    alone = columns, Groups(nothing, nothing, nothing, nothing)
    hashes = np.empty(n, dtype=np.uint64)
    row_hashes(columns.start, columns.feature, columns.rank, columns.ranks, n, hashes)
    first: np.ndarray
    group: np.ndarray
    different, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    if len(different) > _WORTH_GROUPING * n:
        return alone
    # In the order of the rows, which are near each other in memory then.
    order = np.argsort(first)
    number = np.empty(len(first), dtype=np.int32)
    number[order] = np.arange(len(first), dtype=np.int32)
    group, first = number[group], first[order]
    if not same_rows(columns.start, columns.feature, columns.rank, columns.ranks, group, first):
        return alone
    lengths = np.diff(columns.start)[first]
    start = np.zeros(len(first) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    entries = np.repeat(columns.start[first] - start[:-1], lengths) + np.arange(start[-1])
    feature = columns.feature[entries]
    region = np.zeros(len(columns.kind) + 1, dtype=np.int64)
    np.cumsum(np.bincount(feature, minlength=len(columns.kind)), out=region[1:])
    columns = columns._replace(
        region=region,
        start=start,
        feature=feature,
        rank=columns.rank[entries] if len(columns.rank) else columns.rank,
        ranks=np.ascontiguousarray(columns.ranks[:, first]),
    )
    label_start = np.empty(len(first) + 1, dtype=np.int32)
    labels, slot = np.empty_like(targets.labels), np.empty_like(targets.labels)
    in_order = np.argsort(group, kind="stable").astype(np.int32)
    n_labelled = group_labels(
        group, in_order, targets.n_labels, targets.start, targets.labels, label_start, labels, slot
    )
    return columns, Groups(group, label_start, labels[:n_labelled].copy(), slot)
