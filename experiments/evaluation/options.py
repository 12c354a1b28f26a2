"""Under what conditions a cell is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.evaluation.score_cache import ScoreCache
from experiments.rankers.fitting import Fitter, Here


@dataclass(frozen=True)
class FitOptions:
    """Under what conditions a cell is evaluated; none of them changes its numbers.

    Attributes
    ----------
    fitter : Fitter
        Where rankers are fitted, and within what limits.
    n_threads : int or None
        Threads a ranker may use; a larger ``n_jobs`` is lowered to it. None = what ``n_jobs`` says.
    timed : bool
        Whether timings count. They do not where more threads are at work than there are cores; then they are null.
    keep : callable
        Row (a mapping) → whether it is kept when a cell runs again.
    give_up : bool
        Whether the folds of a cell after one that took too long are not tried.
    scores : ScoreCache or None
        Where scores of the learner are looked up and kept; None = every one is computed.
    feature_names : sequence of str
        In column order, for the rows; empty where they are not known.
    """

    fitter: Fitter = field(default_factory=Here)
    n_threads: int | None = None
    timed: bool = True
    keep: Callable[[Mapping[str, Any]], bool] = lambda row: row["status"] == "ok"
    give_up: bool = False
    scores: ScoreCache | None = None
    feature_names: Sequence[str] = ()
