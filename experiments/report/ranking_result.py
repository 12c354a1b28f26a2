"""What came out when the features of one table were ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, rankdata

from experiments.formatting import count, fixed, listed

#: A feature is a finding where q is at most this.
LEVEL = 0.1

#: A feature is strong alone where its q alone is at most this.
_STRONG = 0.01
#: With fewer features, near samples are decided by very few of them.
_FEW = 10


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
    linear : float64 ndarray of shape (k,)
        Mean score of the linear learner.
    together : int or None
        Number of features from which up to ``keep`` nearest neighbours gain, and the linear learner does not.
    guess : float or None
        Score of guessing the largest class, or the mean of numbers; None for labels.
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
    linear: np.ndarray
    together: int | None = None
    guess: float | None = None

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
        How many at most, of the target or of each feature; 0 for none.
    n_made : int
        How many were made, of all features together or of the target.
    permute, hypothesis : str
        "feature" or "target", and what was tested.
    n_tested : int
        Samples that p and q are from.
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
    n_made: int = 0
    permute: str = "feature"
    hypothesis: str = ""
    n_tested: int = 0
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
    p_alone : float64 ndarray of shape (p,), or None
        p value of each feature without the others.
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
    p_alone: np.ndarray | None = None

    @property
    def q_alone(self) -> np.ndarray | None:
        """``p_alone`` after the adjustment of Benjamini and Hochberg."""
        return None if self.p_alone is None else false_discovery_control(self.p_alone)

    def look_again(self) -> list[str]:
        """Sentences on features that are strong alone and not in the ranking; none where there is no such feature.

        Their q alone is at most 0.01, and either q is above 0.1 or they are in the lower half of the ranking, but
        in the upper half by p alone.
        """
        if self.p_alone is None or self.q_alone is None:
            return []
        half = (len(self.names) + 1) / 2
        missed = (self.ranks > half) & (rankdata(self.p_alone, method="min") <= half)
        if self.certainty.q is not None:
            missed |= self.certainty.q > LEVEL
        missed &= self.q_alone <= _STRONG
        places = np.flatnonzero(missed)
        places = places[np.argsort(self.p_alone[places], kind="stable")].tolist()
        if not places:
            return []
        shown = listed(
            [f"{self.names[i]!r} (rank {self.ranks[i]}, q alone {self.q_alone[i]:.2g})" for i in places], 10
        )
        few = len(self.names) < _FEW
        noted = any(repr(self.names[i]) in note for i in places for note in self.notes)
        return [
            f"Strong alone, but with a large q or low in the ranking: {shown}.",
            "Relief compares near samples, and where near samples of different classes or numbers agree in a "
            "feature, its weight is small however much it says alone.",
            *(["A note above names one of them: that may be the cause."] * noted),
            *(
                [f"With {count(len(self.names), 'feature')} Relief needs more of them to find near samples."]
                * few
            ),
        ]

    @property
    def halved(self) -> str:
        """What the halves for stability hold: samples, or whole groups of them."""
        return "groups" if self.about.get("groups") else "samples"

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
        if self.p_alone is not None:
            columns |= {"p alone": self.p_alone, "q alone": self.q_alone}
        columns |= {"missing": self.missing, "kind": np.array(self.kinds, dtype=object)}
        return pd.DataFrame(columns).iloc[self.order].reset_index(drop=True)

    def curve_frame(self) -> pd.DataFrame:
        """Return a line for each number of features."""
        columns = {
            "n_features": self.curve.sizes,
            "score": self.curve.mean,
            "standard_error": self.curve.error,
            "linear_score": self.curve.linear,
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
        first = f"Keep the best {curve.keep} of {count(len(self.names), 'feature')}."
        if curve.guess is not None:
            guessed = "the mean" if self.about.get("task") == "numbers" else "the largest class"
            if curve.at(curve.best) - error <= curve.guess:
                first = f"No number of features does clearly better than guessing {guessed}."
            whole += f"; guessing {guessed} gives {fixed(curve.guess, 3)}"
        said = [
            first,
            f"The largest mean {curve.score} is {best}, with {count(curve.best, 'feature')}{smaller}{whole} (mean "
            f"over {curve.n_repeats} x {curve.n_splits} folds, features ranked inside each training fold; learner: "
            "nearest neighbours).",
        ]
        if curve.together is not None:
            linear = dict(zip(curve.sizes.tolist(), curve.linear, strict=True))
            said.append(
                f"From {curve.together} to {curve.keep} features nearest neighbours gain ({curve.score} "
                f"{fixed(curve.at(curve.together), 3)} to {kept}) and the linear learner does not "
                f"({fixed(linear[curve.together], 3)} to {fixed(linear[curve.keep], 3)}): these features act "
                "together, or not in a straight line."
            )
        highest = int(curve.linear.argmax())
        if curve.linear[highest] > curve.at(curve.best) + error:
            said.append(
                f"The linear learner does better: {fixed(float(curve.linear[highest]), 3)}, with "
                f"{count(int(curve.sizes[highest]), 'feature')}."
            )
        if certainty.q is not None:
            found = int((certainty.q <= LEVEL).sum())
            said.append(
                f"{count(found, 'feature')} of {len(self.names)} {'has' if found == 1 else 'have'} q at most "
                f"{LEVEL:g}: {self.tested()}."
            )
        if certainty.frequency is not None and np.isfinite(certainty.phi):  # not where all features are kept
            said.append(
                f"Stability of the best {certainty.n_chosen} over {certainty.n_subsamples} halves of the "
                f"{self.halved}: Phi = {fixed(certainty.phi, 2)} (95 % interval {fixed(certainty.lower, 2)} to "
                f"{fixed(min(1.0, certainty.upper), 2)}; 1 = always the same features, 0 = chance)."
            )
        return said

    def tested(self) -> str:
        """Say which permutations p and q are from, and what they test."""
        certainty = self.certainty
        of = "the target"
        if certainty.permute == "feature":
            of = f"one feature at a time, {certainty.n_permutations} of each at most"
        part = ""
        if certainty.n_tested < self.n_samples:
            part = f"; p and q from {certainty.n_tested} of {self.n_samples} samples, weights from all"
        return f"{count(certainty.n_made, 'permutation')} of {of}; tested: {certainty.hypothesis}{part}"
