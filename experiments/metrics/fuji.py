"""Fuzzy Jaccard index of two lists of scores, along all sizes of their top sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.integrate import trapezoid

from reliefe.ranking import descending_order

#: A score that is not further below the one before it in the order is tied with it.
TIE = 1e-12


def fuji_curve(a: Any, b: Any, negative: str = "raise") -> np.ndarray:
    """Compare two lists of scores by the fuzzy Jaccard index of their top-s sets, for every s.

    In the set of the s best features of a list, a feature's membership is 1 inside, and outside its score
    divided by the smallest score inside (1 when that is 0). FUJI(s) is the sum of the smaller of the two
    memberships over the sum of the larger, over the union of both sets, where the larger is always 1.
    Features that just missed count nearly as much as those inside, which the plain Jaccard index does not
    see.

    Notes
    -----
    Features stand in descending order of their unclipped scores. A score within 1e-12 of the one before it is
    a tie, and ties go to the lower index. A tied feature outside may have a larger score than one inside; its
    membership is 1.

    One pass instead of n: a feature is in one set and not yet in the other for a stretch of sizes, over which
    its score counts for a sum that is then divided by the smallest score inside. Sums are accumulated from
    the largest size down, so that the terms never get smaller and what was added and taken away leaves no
    rounding that matters. O(n log n).

    Source: M. Petković, B. Škrlj, D. Kocev, N. Simidjievski: Fuzzy Jaccard Index: A robust comparison of
    ordered lists, Applied Soft Computing 113 (2021).

    Returns FUJI(1) … FUJI(n), in 0 … 1, symmetric in the two lists; the last one is 1. Scores are higher for
    better features; ``negative="clip"`` counts those below 0 as 0, after features were put in order.
    """
    a, b = _prepared(a, "a", negative), _prepared(b, "b", negative)
    if len(a[0]) != len(b[0]):
        raise ValueError(f"a has {len(a[0])} scores and b has {len(b[0])}")
    return _curve(*a, *b)


def areas_under_fuji(
    lists: Sequence, pairs: Iterable[tuple[int, int]], negative: str = "raise"
) -> np.ndarray:
    """Compute the area under FUJI of many pairs of lists, putting each list in order once."""
    made = [_prepared(scores, f"list {number}", negative) for number, scores in enumerate(lists)]
    sizes = sorted({len(scores) for scores, _ in made})
    if len(sizes) > 1:
        raise ValueError(f"lists have {', '.join(map(str, sizes))} scores")
    return np.array([area_under_fuji(_curve(*made[a], *made[b])) for a, b in pairs])


def area_under_fuji(curve: Any) -> float:
    """Return the area under a FUJI curve by the trapezoidal rule, per step.

    In 0 … 1; 1 for lists that agree at all sizes. A curve of one point gives that point.
    """
    curve = np.asarray(curve, dtype=np.float64)
    if curve.ndim != 1 or curve.size == 0:
        raise ValueError("curve must be one-dimensional and have at least one point")
    if curve.size == 1:
        return float(curve[0])
    # As deviations from 1, so that a curve of ones gives exactly 1.
    return float(1.0 + trapezoid(curve - 1.0) / (curve.size - 1))


def _curve(a: np.ndarray, place_a: np.ndarray, b: np.ndarray, place_b: np.ndarray) -> np.ndarray:
    n = len(a)
    inside_both = np.cumsum(np.bincount(np.maximum(place_a, place_b), minlength=n))
    shared = inside_both + _fuzzy(a, place_a, place_b) + _fuzzy(b, place_b, place_a)
    return np.minimum(shared / (2 * np.arange(1, n + 1) - inside_both), 1.0)


def _prepared(scores: Any, name: str, negative: str) -> tuple[np.ndarray, np.ndarray]:
    """Check a list; return its scores, negative ones as 0, and the places of its features."""
    if negative not in ("raise", "clip"):
        raise ValueError(f"negative must be 'raise' or 'clip', not {negative!r}")
    scores = _checked(scores, name, negative)
    return np.maximum(scores, 0.0), _places(scores)


def _checked(scores: Any, name: str, negative: str) -> np.ndarray:
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 1 or scores.size == 0:
        raise ValueError(
            f"{name} must be one-dimensional and have at least one score, not of shape {scores.shape}"
        )
    if not np.isfinite(scores).all():
        bad = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise ValueError(f"score {bad} of {name} is {scores[bad]}")
    if negative == "raise" and scores.min() < 0:
        bad = int(scores.argmin())
        raise ValueError(
            f"score {bad} of {name} is negative ({scores[bad]:g}); negative='clip' counts those as 0"
        )
    return scores


def _places(scores: np.ndarray) -> np.ndarray:
    """Place of every feature in the order, from 0."""
    order = descending_order(scores, tolerance=TIE)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


def _fuzzy(scores: np.ndarray, own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Sum, for every size, the memberships in this list's top set of what is in the other's only.

    ``own`` and ``other`` are places in this list and the other.
    """
    n = len(scores)
    smallest = np.empty(n)
    smallest[own] = scores
    smallest = np.minimum.accumulate(smallest)
    # A feature waits from the size at which the other list takes it up to that at which this one does. From
    # `full` on its membership is 1: the smallest score inside is 0, or below its own (a tie).
    full = np.minimum(np.searchsorted(-smallest, -scores, side="right"), np.searchsorted(-smallest, 0.0))
    waits = other < own
    start, end = other[waits], own[waits]
    full = np.clip(full[waits], start, end)
    waiting = _active(start, full, scores[waits], n)
    whole = _active(full, end, np.ones(len(end)), n)
    divisor = np.where(smallest > 0, smallest, 1.0)
    return np.maximum(waiting, 0.0) / divisor + whole


def _active(start: np.ndarray, end: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """Sum, at 0 … n − 1, the values of the stretches start … end − 1 that cover it."""
    # A large value on an empty stretch would take the digits of small ones along when it cancels.
    there = start < end
    opened = np.bincount(start[there], values[there], minlength=n + 1)
    closed = np.bincount(end[there], values[there], minlength=n + 1)
    # Position i lies in a stretch that closes after it and does not open after it.
    return np.cumsum((closed - opened)[::-1])[::-1][1:]
