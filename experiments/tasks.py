"""The kinds of target: what each is called, which learner it takes, and what the learner's score is called.

Analysis and reports know one score along a ranking. Its columns bear the names of F1, and :func:`as_scores` puts R²
under them; :meth:`Task.said` and :meth:`Task.columns` give it its own name where a person reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

#: Columns of rows for a numeric target → those of classes and labels that stand for the same thing.
_OF_R2 = {
    "r2": "f1_{}",
    "r2_all": "f1_{}_all",
    "rr2": "rf1_{}",
    "aurr2": "aurf1_{}",
    "best_r2": "best_f1_{}",
}
_AVERAGES = ("micro", "macro")
#: Longer ones first: each may hold the next.
_WORDS = (("micro F1", "R²"), ("F1", "R²"))
_NAMES = (("rf1_micro", "rr2"), ("f1_micro", "r2"), ("rf1", "rr2"), ("f1", "r2"))


@dataclass(frozen=True)
class Task:
    """A kind of target."""

    name: str  # as data sets state it: "multiclass", "multilabel" or "regression"
    target: str  # what a sample has, in words
    learner: str  # key of the learner in a protocol
    fold_packages: tuple[str, ...] = ()  # distributions beside the usual ones that make the folds
    score: str = "F1"  # name of the learner's score
    # When the score relative to that of all features has no value, in words.
    undefined: str = "the F1 of all features is 0"

    @property
    def numeric(self) -> bool:
        """Whether the target is a number."""
        return self.name == REGRESSION

    def said(self, text: str) -> str:
        """Name this task's score in a text about F1: for a numeric target "rF1" becomes "rR²"."""
        return _replaced(text, _WORDS) if self.numeric else text

    def column(self, name: str) -> str:
        """Name a column of a table by this task's score: ``best_f1_micro_mean`` becomes ``best_r2_mean``."""
        return _replaced(name, _NAMES) if self.numeric else name

    def columns(self, frame: Any) -> Any:
        """Name the columns of a table by this task's score; a numeric target has no macro averages."""
        if not self.numeric:
            return frame
        kept = [name for name in frame.columns if "_macro" not in str(name)]
        return frame[kept].rename(columns={name: self.column(str(name)) for name in kept})


REGRESSION = "regression"

#: Name → kind of target.
TASKS = {
    task.name: task
    for task in (
        Task("multiclass", "one class per sample", "learner"),
        Task(
            "multilabel",
            "several labels per sample",
            "multilabel_learner",
            fold_packages=("iterative-stratification",),
        ),
        Task(
            REGRESSION,
            "a number per sample",
            "regression_learner",
            score="R²",
            undefined="the R² of all features is not above 0",
        ),
    )
}


def as_scores(rows: Any) -> Any:
    """Return rows with R² under the names of F1, both averages, where any row has R²."""
    if "r2_all" not in rows.columns or not rows["r2_all"].notna().any():
        return rows
    numeric = rows["r2_all"].notna()
    rows = rows.copy()
    for own, name in _OF_R2.items():
        for average in _AVERAGES:
            rows[name.format(average)] = rows[name.format(average)].where(~numeric, rows[own])
    return rows


def _replaced(text: str, pairs: Iterable[tuple[str, str]]) -> str:
    for old, new in pairs:
        text = text.replace(old, new)
    return text
