"""Measurements other than rankings: what an embedding or a ranker does to a whole data set.

A protocol with ``measure`` names one of the functions below this package, or any other ``f(subject, **settings)``
that returns a dict for JSON. Each result is a row of the store like any other (column ``measurement``), of a kind
that bears the function's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from experiments.rankers import RankResult

__all__ = ["Subject", "needs"]


_Measure = TypeVar("_Measure", bound=Callable[..., Any])


def needs(*settings: str, instead: str = "", informative: bool = False) -> Callable[[_Measure], _Measure]:
    """Say what a measure needs, so that a study without it is refused before it runs.

    Parameters
    ----------
    *settings : str
        Keys that the ranker's block must have.
    instead : str, default=""
        What to do where one is missing, for the message.
    informative : bool, default=False
        Whether the data set must say which features decide the target.

    Returns
    -------
    callable
        A decorator; it leaves ``needs``, ``instead`` and ``needs_informative`` on the function.
    """

    def mark(measure: _Measure) -> _Measure:
        marked: Any = measure
        marked.needs, marked.instead, marked.needs_informative = settings, instead, informative
        return measure

    return mark


@dataclass(frozen=True)
class Subject:
    """What is measured.

    Attributes
    ----------
    X : ndarray of float64, C order, or csr_matrix; shape (n, p)
        All samples of a data set; may not be written to.
    y : ndarray of int64, shape (n,), csr_matrix of shape (n, L), or ndarray of float64, shape (n,)
        Class codes; which labels each sample has; or a number for each sample.
    seed : int
        For whatever is random.
    ranker : mapping
        The ranker's block.
    fit : callable
        Fits the ranker on all samples, as a fold of a ranking would be (time, memory and limits included), and
        returns its :class:`~experiments.rankers.RankResult`.
    informative : tuple of int
        Features that are known to decide the target; empty where it is not known.
    """

    X: np.ndarray | sparse.csr_matrix
    y: np.ndarray | sparse.csr_matrix
    seed: int
    ranker: Mapping[str, Any]
    fit: Callable[[], RankResult]
    informative: tuple[int, ...] = ()
