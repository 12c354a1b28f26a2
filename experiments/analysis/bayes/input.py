"""What the hierarchical test is given, checked: every wrong parameter is answered by its name."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from experiments.errors import BadScoresError


def as_pairs(given: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Return the pairs of score tables as a list.

    Parameters
    ----------
    given : iterable of (x, y)
        Score tables.

    Returns
    -------
    list of tuple

    Raises
    ------
    BadScoresError
        If they are no pairs.
    """
    try:
        tables = [tuple(each) for each in given]
    except TypeError as error:
        raise BadScoresError(f"pairs must be pairs (x, y) of score tables: {error}") from error
    for place, each in enumerate(tables):
        if len(each) != 2:
            raise BadScoresError(
                f"pairs must be pairs (x, y) of score tables; pair {place} has {len(each)} parts"
            )
    return tables


def check_names(names: Any, n_pairs: int) -> None:
    """Check that there are two names for each pair, or None.

    Parameters
    ----------
    names : object
        As given.
    n_pairs : int
        Number of pairs.

    Raises
    ------
    BadScoresError
        Otherwise.
    """

    def fits(each: Any) -> bool:
        if each is None:
            return True
        if isinstance(each, str) or not isinstance(each, Sequence):
            return False
        return len(each) == 2 and all(isinstance(name, str) for name in each)

    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) != n_pairs:
        raise BadScoresError("names must be one pair of names for each pair of score tables")
    if wrong := [each for each in names if not fits(each)]:
        raise BadScoresError(f"names must be two texts, those of x and y, not {wrong[0]!r}")


def check_settings(rope: Any, runs: Any, n_samples: Any, n_jobs: Any) -> None:
    """Check types and ranges of the numbers that a test takes.

    Parameters
    ----------
    rope, runs, n_samples, n_jobs : object
        As for :func:`experiments.analysis.bayes.hierarchical_tests`.

    Raises
    ------
    BadScoresError
        For the first that is wrong, by its name.
    """
    is_number = isinstance(rope, numbers.Real) and not isinstance(rope, bool | np.bool_)
    if not (is_number and np.isfinite(rope) and rope >= 0):
        raise BadScoresError(f"rope must be a number of at least 0, not {rope!r}")
    for name, value in (("runs", runs), ("n_samples", n_samples), ("n_jobs", n_jobs)):
        if name == "n_jobs" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise BadScoresError(f"{name} must be a whole number of at least 1, not {value!r}")


def rows_of(x: Any, y: Any, label: str) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    """List (name, scores of x, scores of y) of every data set.

    Parameters
    ----------
    x, y : array-like or DataFrame of shape (q, n), or sequence of q sequences
        Scores; what is masked is NaN.
    label : str
        Which pair, for messages.

    Returns
    -------
    list of tuple
        The scores as float arrays of any shape.

    Raises
    ------
    BadScoresError
        For scores that are no numbers, and tables that do not have the same data sets.
    """
    tables = []
    for name, table in (("x", x), ("y", y)):
        flat = isinstance(table, np.ndarray) and table.ndim < 2 and table.dtype != object
        if flat or np.isscalar(table):
            raise BadScoresError(
                f"{label}{name} must have a row of scores for each data set; for one data set give [scores]"
            )
        index = list(table.index) if hasattr(table, "index") and hasattr(table, "to_numpy") else None
        rows = table.to_numpy() if index is not None else table
        try:
            tables.append((index, [_numbers(row) for row in rows]))
        except (TypeError, ValueError) as error:
            raise BadScoresError(f"{label}{name} has scores that are not numbers: {error}") from error
    (x_names, x_rows), (y_names, y_rows) = tables
    if len(x_rows) != len(y_rows) or not x_rows:
        raise BadScoresError(f"{label}x has {len(x_rows)} data sets and y has {len(y_rows)}")
    if x_names is not None and y_names is not None and x_names != y_names:
        raise BadScoresError(f"{label}the rows of x and y are not the same data sets in the same order")
    names = x_names or y_names or list(range(len(x_rows)))
    return list(zip(names, x_rows, y_rows, strict=True))


def _numbers(row: Any) -> np.ndarray:
    """Return a row of scores as floats; what is masked is no number, and text is not one either."""
    kind = np.ma.asarray(row).dtype
    if kind.kind not in "biufO":
        raise TypeError(f"{kind}")
    if kind.kind == "O" and (wrong := [each for each in row if not isinstance(each, numbers.Real)]):
        raise TypeError(f"{wrong[0]!r}")
    return np.ma.filled(np.ma.asarray(row, dtype=np.float64), np.nan)
