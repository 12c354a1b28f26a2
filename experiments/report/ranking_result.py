"""What came out when the features of one table were ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from experiments.formatting import count, fixed

#: A feature is a finding where q is at most this.
LEVEL = 0.1


@dataclass(frozen=True)
class Curve:
    """Scores of a learner along the ranking.

    Attributes
    ----------
    sizes : int64 ndarray of shape (k,)
        Numbers of best features.
    mean, error : float64 ndarrays of shape (k,)
        Mean score over folds and its standard error.
    macro : float64 ndarray of shape (k,), or None
        Mean macro F1.
    score : str
        Name of the score.
    keep, best : int
        Number of features to keep, and with the best mean.
    n_splits, n_repeats : int
        Folds.
    """

    sizes: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    macro: np.ndarray | None
    score: str
    keep: int
    best: int
    n_splits: int
    n_repeats: int

    def at(self, size: int) -> float:
        """Mean score with so many features."""
        return float(self.mean[np.flatnonzero(self.sizes == size)[0]])


@dataclass(frozen=True)
class Certainty:
    """What permutations and subsamples say.

    Attributes
    ----------
    p, q : float64 ndarrays of shape (p,), or None
        Of the permutation test.
    n_permutations : int
        How many; 0 for none.
    null : str
        ``"feature"`` or ``"pooled"``.
    frequency : float64 ndarray of shape (p,), or None
        Share of subsamples in which the feature was among the best.
    phi, lower, upper : float
        Nogueira's Φ and its 95 % interval.
    n_chosen, n_subsamples : int
        Best features of a subsample, and how many subsamples; 0 for none.
    """

    p: np.ndarray | None = None
    q: np.ndarray | None = None
    n_permutations: int = 0
    null: str = "feature"
    frequency: np.ndarray | None = None
    phi: float = float("nan")
    lower: float = float("nan")
    upper: float = float("nan")
    n_chosen: int = 0
    n_subsamples: int = 0


@dataclass(frozen=True)
class RankedTable:
    """Everything that is shown of one ranking.

    Attributes
    ----------
    name : str
        Of the table.
    target : str
        What the features were ranked for, as a phrase.
    ranker, why : str
        Its name, and why it was taken.
    n_samples : int
        Samples.
    names : sequence of str, length p
        Features in the order of the file.
    kinds : sequence of str, length p
        ``"number"``, ``"category"`` or ``"constant"``.
    missing : int64 ndarray of shape (p,)
        Missing values of each.
    weights : float64 ndarray of shape (p,)
        Theirs.
    ranks : int64 ndarray of shape (p,)
        1 is best.
    curve : Curve
        How many to keep.
    certainty : Certainty
        How sure that is.
    notes : sequence of str
        What was noticed about the table.
    command : str
        What makes all of it again.
    about : dict
        Settings, for JSON.
    """

    name: str
    target: str
    ranker: str
    why: str
    n_samples: int
    names: Sequence[str]
    kinds: Sequence[str]
    missing: np.ndarray
    weights: np.ndarray
    ranks: np.ndarray
    curve: Curve
    certainty: Certainty
    notes: Sequence[str]
    command: str
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> np.ndarray:
        """Features from the best on."""
        return np.argsort(self.ranks)

    def frame(self) -> pd.DataFrame:
        """Return a line for each feature, the best first."""
        columns: dict[str, Any] = {
            "rank": self.ranks,
            "feature": np.array(self.names, dtype=object),
            "weight": self.weights,
        }
        if self.certainty.p is not None:
            columns |= {"p": self.certainty.p, "q": self.certainty.q}
        if self.certainty.frequency is not None:
            columns["frequency"] = self.certainty.frequency
        columns |= {"missing": self.missing, "kind": np.array(self.kinds, dtype=object)}
        return pd.DataFrame(columns).iloc[self.order].reset_index(drop=True)

    def curve_frame(self) -> pd.DataFrame:
        """Return a line for each number of features."""
        columns = {
            "n_features": self.curve.sizes,
            "score": self.curve.mean,
            "standard_error": self.curve.error,
        }
        if self.curve.macro is not None:
            columns["macro_f1"] = self.curve.macro
        return pd.DataFrame(columns)

    def sentences(self) -> list[str]:
        """Say what came out, most important first."""
        curve, certainty = self.curve, self.certainty
        error = float(curve.error[np.flatnonzero(curve.sizes == curve.best)[0]])
        best, kept = fixed(curve.at(curve.best), 3), fixed(curve.at(curve.keep), 3)
        smaller = f"; with {curve.keep} it is {kept}, within one standard error ({fixed(error, 3)}) of that"
        if curve.keep == curve.best:
            smaller = f", and no smaller number is within one standard error ({fixed(error, 3)}) of it"
        whole = ""
        if curve.sizes[-1] == len(self.names):
            whole = f"; with all {len(self.names)} it is {fixed(float(curve.mean[-1]), 3)}"
        said = [
            f"Keep the best {curve.keep} of {count(len(self.names), 'feature')}.",
            f"The largest mean {curve.score} is {best}, with {count(curve.best, 'feature')}{smaller}{whole} (mean "
            f"over {curve.n_repeats} x {curve.n_splits} folds, features ranked inside each training fold).",
        ]
        if certainty.q is not None:
            found = int((certainty.q <= LEVEL).sum())
            said.append(
                f"{count(found, 'feature')} of {len(self.names)} {'has' if found == 1 else 'have'} q at most "
                f"{LEVEL:g} ({certainty.n_permutations} permutations of the target)."
            )
        if certainty.frequency is not None:
            said.append(
                f"Stability of the best {certainty.n_chosen} over {certainty.n_subsamples} halves of the samples: "
                f"Phi = {fixed(certainty.phi, 2)} (95 % interval {fixed(certainty.lower, 2)} to "
                f"{fixed(certainty.upper, 2)}; 1 = always the same features, 0 = chance)."
            )
        return said
