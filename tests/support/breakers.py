"""Rankers that break one rule of the contract each, and one that breaks none; importable by other processes."""

import ctypes
import os
import random
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

MODULE = __name__
_REMEMBERED = {}


class Keeps(BaseEstimator):
    """Breaks nothing: the between-class share of each column's spread."""

    def __init__(self, random_state=None, n_jobs=None):
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        self.feature_importances_ = self._score(X, y)
        return self

    def _score(self, X, y):
        if np.ndim(y) != 1:
            raise ValueError("takes one class per sample, not several labels")
        means = np.array([np.asarray(X[y == each].mean(axis=0)).ravel() for each in np.unique(y)])
        return np.ptp(means, axis=0)


class OneShort(Keeps):
    def _score(self, X, y):
        return super()._score(X, y)[:-1]


class NotANumber(Keeps):
    def _score(self, X, y):
        return np.where(np.arange(X.shape[1]) == 3, np.nan, super()._score(X, y))


class Complex(Keeps):
    def _score(self, X, y):
        return super()._score(X, y) + 1j


class GivesNone(Keeps):
    def _score(self, X, y):
        return None


class Empty:
    def fit(self, X, y):
        return self


class Texts(Keeps):
    def _score(self, X, y):
        return [str(each) for each in super()._score(X, y)]


class Masked(Keeps):
    def _score(self, X, y):
        return np.ma.masked_array(super()._score(X, y), mask=np.arange(X.shape[1]) == 2)


class Named(Keeps):
    """Under names that the benchmark has never told it."""

    def _score(self, X, y):
        return pd.Series(super()._score(X, y), index=[f"f{each}" for each in range(X.shape[1])])


class Exits(Keeps):
    def _score(self, X, y):
        sys.exit(0)


class Interrupts(Keeps):
    def _score(self, X, y):
        raise KeyboardInterrupt


class LeavesAtOnce(Keeps):
    def _score(self, X, y):
        os._exit(0)


class Crashes(Keeps):
    def _score(self, X, y):
        ctypes.string_at(0)


class ExitsWhenMade(Keeps):
    def __init__(self):
        sys.exit(0)


class ExitsOfOneClass(Keeps):
    def _score(self, X, y):
        if len(np.unique(y)) < 2:
            sys.exit("one class")
        return super()._score(X, y)


class Hangs(Keeps):
    def _score(self, X, y):
        time.sleep(3600)


class HangsOfOneClass(Keeps):
    def _score(self, X, y):
        if len(np.unique(y)) < 2:
            time.sleep(3600)
        return super()._score(X, y)


class HangsSecond:
    """Two fits end, those of the first check."""

    def __init__(self, flag):
        self.flag = flag

    def fit(self, X, y):
        n_fits = len(Path(self.flag).read_text()) if os.path.exists(self.flag) else 0
        if n_fits == 2:
            time.sleep(3600)
        Path(self.flag).write_text("x" * (n_fits + 1))
        self.scores_ = X.std(axis=0)


class ByTheClock(Keeps):
    def _score(self, X, y):
        return super()._score(X, y) + time.perf_counter()


class ByTheOrderOfASet(Keeps):
    """Which text comes first is another one in another process."""

    def _score(self, X, y):
        return super()._score(X, y) * np.arange(1, X.shape[1] + 1) ** (hash("column") % 1000)


class LowIsGood(Keeps):
    def _score(self, X, y):
        return -super()._score(X, y)


class Unseeded(Keeps):
    def _score(self, X, y):
        return super()._score(X, y) + np.random.default_rng().random(X.shape[1])


class ByThreads(Keeps):
    def _score(self, X, y):
        return super()._score(X, y) * np.arange(X.shape[1]) ** (self.n_jobs or 1)


class TakesSparse(Keeps):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class OtherWhenSparse(TakesSparse):
    def _score(self, X, y):
        return np.ones(X.shape[1]) if hasattr(X, "indptr") else super()._score(X, y)


class FailsWhenSparse(TakesSparse):
    def _score(self, X, y):
        return super()._score(np.sort(X), y)


class RefusesSparse(TakesSparse):
    def _score(self, X, y):
        if hasattr(X, "indptr"):
            raise ValueError("sparse rows are not taken")
        return super()._score(X, y)


class TwoClasses(Keeps):
    def _score(self, X, y):
        if len(np.unique(y)) > 2:
            raise ValueError("more than two classes are not taken")
        return super()._score(X, y)


class TwoClassesInSilence(Keeps):
    def _score(self, X, y):
        assert len(np.unique(y)) == 2
        return super()._score(X, y)


class Labels:
    """No estimator of scikit-learn, so it is given label matrices too, and fails on them by accident."""

    def fit(self, X, y):
        self.scores_ = np.abs(X[y == 1].mean(axis=0) - X[y != 1].mean(axis=0))


class TakesLabels:
    def fit(self, X, y):
        y = y.reshape(len(y), -1)
        self.scores_ = sum(np.abs(X[t == 1].mean(axis=0) - X[t != 1].mean(axis=0)) for t in y.T)


class NotNegative(Keeps):
    def _score(self, X, y):
        if X.min() < 0:
            raise ValueError("negative values are not taken")
        return super()._score(X, y)


class FailsOnNegative(Keeps):
    def _score(self, X, y):
        return super()._score(X, y) + [0.0][int(X.min() < 0)]


class ChangesRows(Keeps):
    def _score(self, X, y):
        X -= X.mean(axis=0)
        return super()._score(X, y)


class ChangesClasses(Keeps):
    def _score(self, X, y):
        found = super()._score(X, y)
        y[:] = 0
        return found


class Remembers(Keeps):
    """Adds up the weights of all fits of the process."""

    def _score(self, X, y):
        found = super()._score(X, y)
        _REMEMBERED["sum"] = _REMEMBERED.get("sum", 0.0) + found.sum()
        return found + _REMEMBERED["sum"]


class FirstForEver(Keeps):
    """Ranks the first data that the process ever saw."""

    def _score(self, X, y):
        return _REMEMBERED.setdefault(("first", X.shape), super()._score(X, y))


class PeeksAtLabels(Keeps):
    """Looks the classes of known rows up instead of taking those of the fold."""

    def _score(self, X, y):
        return super()._score(X, _REMEMBERED.setdefault(X.tobytes(), np.array(y)))


class Prints(Keeps):
    def _score(self, X, y):
        print("fitting")
        return super()._score(X, y)


class PrintsFromBelow(Keeps):
    """As compiled code prints."""

    def _score(self, X, y):
        os.write(1, b"fitting\n")
        return super()._score(X, y)


class SeedsNumpy(Keeps):
    def _score(self, X, y):
        np.random.seed(self.random_state)  # noqa: NPY002
        return super()._score(X, y)


class DrawsFromPython(Keeps):
    def _score(self, X, y):
        return super()._score(X, y) + random.random() * 1e-9


class HoldsALambda(Keeps):
    def _score(self, X, y):
        self.key = lambda column: column
        return super()._score(X, y)


class NeedsManyRows(Keeps):
    def _score(self, X, y):
        return super()._score(X, y) + np.sort(X, axis=0)[10] * 0


class DividesBySpread(Keeps):
    def _score(self, X, y):
        with np.errstate(all="ignore"):
            return super()._score(X, y) / X.std(axis=0)


class DiesOfOneClass(Keeps):
    def _score(self, X, y):
        if len(np.unique(y)) < 2:
            os._exit(3)
        return super()._score(X, y)


class Wordless(Keeps):
    def _score(self, X, y):
        if len(np.unique(y)) < 2:
            raise ValueError
        return super()._score(X, y)


def spread(X, y):
    return X.std(axis=0)
