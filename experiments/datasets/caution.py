"""What makes scores and p values of a data set wrong although nothing in it is: said before they are computed."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from experiments.formatting import count, listed

#: Rows repeat others: at least this share of them, and ten times what independent features would give.
_REPEATED, _BEYOND_CHANCE = 0.02, 10
#: A group: this many values at least, and no block more than twice as large as another.
_LEAST_GROUPS, _UNEVEN = 4, 2
#: A range is set by few values where that of all but the lowest and highest 1 % is less than a tenth of it.
_TAIL, _TENTH, _LEAST_SAMPLES = 0.01, 0.1, 20
#: Numbers that stand for a missing value in many files, where they are far from all others.
_CODES = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)
#: Values of X at a time.
_BLOCK = 2**22


def cautions(
    X: Any,
    y: Any,
    names: Sequence[str],
    *,
    categories: Collection[int] = (),
    grouped: bool = False,
    groups: str = "dataset.groups={}",
    missing: str = "dataset.na_values=[NA,{}]",
) -> list[str]:
    """Return a line for each caution: repeated rows, columns that look like groups, values that set a range alone.

    ``X`` (n, p) is dense or sparse, NaN where a value is missing; ``categories`` are columns without numbers.
    ``grouped``: samples that belong together are named already. ``groups`` and ``missing`` are the options to name.
    """
    if X.shape[0] < 2 or not X.shape[1]:
        return []
    lines = [] if grouped else [*_repeated(X, y, groups), *_group_columns(X, y, names, groups)]
    lines += _ranges(X, names, categories, missing)
    target = y if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind == "f" else None
    if target is not None and (found := _outside(target)):
        lines.append(
            f"the target's value {found[0]:g} is far from all others ({found[1]:g} to {found[2]:g}) and decides "
            "R² and ranking; if it is an error, correct it or take the sample out"
        )
    return lines


def _repeated(X: Any, y: Any, groups: str) -> Iterator[str]:
    n = X.shape[0]
    n_repeats = n - len({*zip(_row_bytes(X), _row_bytes(y), strict=True)})
    if n_repeats < max(2, _REPEATED * n):
        return
    pairs = n * (n - 1) / 2 * (1.0 if sparse.issparse(y) else _same_share(y))
    for column in range(X.shape[1]):
        if pairs * _BEYOND_CHANCE < n_repeats:
            break
        pairs *= _same_share(X[:, [column]].toarray().ravel() if sparse.issparse(X) else X[:, column])
    if pairs * _BEYOND_CHANCE < n_repeats:
        yield (
            f"{n_repeats} of {n} rows repeat others, so p values and scores look better than they are; take the "
            f"repeats out, or keep them together by a column that is equal in them: {groups.format('NAME')}"
        )


def _row_bytes(values: Any) -> Iterator[bytes]:
    if sparse.issparse(values):
        rows = sparse.csr_matrix(values, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        for start, end in zip(rows.indptr, rows.indptr[1:], strict=False):
            yield rows.indices[start:end].tobytes() + rows.data[start:end].tobytes()
    else:
        for row in np.ascontiguousarray(values):
            yield (row + 0.0).tobytes()  # -0 is 0


def _same_share(values: np.ndarray) -> float:
    """Return the share of pairs of samples with the same value."""
    sizes = np.unique(values, return_counts=True)[1].astype(np.float64)
    return float((sizes * (sizes - 1)).sum() / max(1, len(values) * (len(values) - 1)))


def _group_columns(X: Any, y: Any, names: Sequence[str], groups: str) -> Iterator[str]:
    if sparse.issparse(X):
        return
    n = len(X)
    targets = y.toarray() if sparse.issparse(y) else np.asarray(y)
    n_classes = len(np.unique(targets, axis=0)) if targets.dtype.kind != "f" else 1
    for start, block in _blocks(X):
        with np.errstate(invalid="ignore"):
            whole = (block == np.floor(block)).all(axis=0) & (np.ptp(block, axis=0) >= _LEAST_GROUPS - 1)
        for place in np.flatnonzero(whole).tolist():
            _, first, codes, sizes = np.unique(
                block[:, place], return_index=True, return_inverse=True, return_counts=True
            )
            few = max(_LEAST_GROUPS, n_classes + 1) <= len(sizes) <= n // 2
            if few and sizes.max() <= _UNEVEN * sizes.min() and (targets == targets[first][codes]).all():
                size = str(sizes.min()) if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"
                name = names[start + place]
                yield (
                    f"column {name!r} looks like a group: {len(sizes)} values with {size} rows each, all of one "
                    f"class or number; if rows of a value belong together: {groups.format(shlex.quote(name))}"
                )


def _ranges(X: Any, names: Sequence[str], categories: Collection[int], missing: str) -> Iterator[str]:
    found: list[tuple[int, tuple[float, float, float]]] = []
    if sparse.issparse(X):
        found = _sparse_outside(sparse.csc_matrix(X))
    else:
        n_tail = max(1, int(len(X) * _TAIL))
        for start, block in _blocks(X) if len(X) >= _LEAST_SAMPLES else ():
            low, high = block.min(axis=0), block.max(axis=0)  # NaN where a value is missing
            parts = np.partition(block, (n_tail, len(X) - 1 - n_tail), axis=0)
            inner = parts[-1 - n_tail] - parts[n_tail]
            looked_at = np.isnan(low) | ((inner > 0) & (inner < _TENTH * (high - low)))
            looked_at |= np.isin(low, _CODES) | np.isin(high, _CODES)
            places = {*(np.flatnonzero(looked_at) + start).tolist()} - {*categories}
            found += [(place, each) for place in sorted(places) if (each := _outside(X[:, place]))]
    if found:
        shown = listed(
            [f"{names[i]!r} ({v:g}; others {low:g} to {high:g})" for i, (v, low, high) in found], 3
        )
        yield (
            f"{count(len(found), 'feature')} with a range that few values set, so that other differences hardly "
            f"count: {shown}; correct or leave out such values, or if they mean missing: "
            f"{missing.format(f'{found[0][1][0]:g}')}"
        )


def _outside(values: np.ndarray) -> tuple[float, float, float] | None:
    """Return the value that sets the range alone, and the range of the others; None where no value does."""
    ordered = np.sort(values[~np.isnan(values)])
    if len(ordered) < _LEAST_SAMPLES:
        return None
    n_tail = max(1, int(len(ordered) * _TAIL))
    low, high = ordered[n_tail], ordered[-1 - n_tail]
    if 0 < high - low < _TENTH * (ordered[-1] - ordered[0]):
        above = ordered[-1] - high > low - ordered[0]
        return float(ordered[-1] if above else ordered[0]), float(low), float(high)
    for value in (ordered[0], ordered[-1]):
        others = ordered[ordered != value]
        if value in _CODES and len(others) and others[0] < others[-1]:
            if min(abs(others[0] - value), abs(others[-1] - value)) > others[-1] - others[0]:
                return float(value), float(others[0]), float(others[-1])
    return None


def _sparse_outside(X: Any) -> list[tuple[int, tuple[float, float, float]]]:
    """As :func:`_outside`, for columns of which more than 1 % of the values are stored."""
    n, found = X.shape[0], []
    for place in np.flatnonzero(np.diff(X.indptr) > max(1, int(n * _TAIL))):
        stored = X.data[X.indptr[place] : X.indptr[place + 1]]
        if np.abs(stored).max() > np.abs(stored).min():  # two values, 0 and another, are a mark
            each = _outside(np.concatenate([stored, np.zeros(n - len(stored))]))
            found += [(int(place), each)] if each else []
    return found


def _blocks(X: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    n_columns = max(1, _BLOCK // len(X))
    for start in range(0, X.shape[1], n_columns):
        yield start, X[:, start : start + n_columns]
