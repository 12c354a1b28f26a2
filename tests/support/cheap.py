"""Rankers, learners and data that cost nothing or misbehave on purpose; importable by worker processes."""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numba import njit
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_info

from experiments.datasets.raw import RawData, numbered_names

MODULE = __name__


# --- data ---


def blobs(n_rows=60, n_features=6, n_classes=3, seed=0, shift=1.0, as_csr=False):
    """Normal noise; the first columns carry the class."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_features))
    X[:, 0] += shift * labels
    X[:, n_features // 2] -= shift * labels
    if as_csr:
        X = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0.0))
    return RawData(X, labels, numbered_names(n_features))


def labelled(n_rows=60, n_features=6, n_labels=3, seed=0, shift=1.0, as_csr=False, rare=0):
    """Normal noise; the first columns carry a label each. ``rare`` more labels have no row, one row, two rows, …"""
    rng = np.random.default_rng(seed)
    T = rng.random((n_rows, n_labels)) < 0.4
    X = rng.normal(size=(n_rows, n_features))
    X[:, :n_labels] += shift * T[:, :n_features]
    if as_csr:
        X = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0.0))
    few = np.arange(n_rows)[:, None] < np.arange(rare)
    T = sparse.csr_matrix(np.hstack([T, few]), dtype=np.int8)
    names = [f"label {number}" for number in range(T.shape[1])]
    return RawData(X, T, numbered_names(n_features), label_names=names)


def config(
    results, ranker=None, *, ranker_key="a", dataset=None, dataset_key="blobs", launcher=None, **protocol
):
    """A resolved configuration with a cheap ranker and learner."""
    return {
        "dataset": {
            "name": dataset_key,
            "task": "multiclass",
            "source": {"_target_": f"{MODULE}.blobs", **(dataset or {})},
            "expected": {},
        },
        "ranker": ranker or function("between"),
        "protocol": {
            "name": "tiny",
            "n_splits": 3,
            "n_repeats": 1,
            "grid_points": 4,
            "learner": {"_target_": "sklearn.naive_bayes.GaussianNB"},
            **protocol,
        },
        "paths": {"results": str(results), "local_data": str(results)},
        "launcher": {"n_workers": 1, **(launcher or {})},
        "seed": 0,
        "dataset_key": dataset_key,
        "ranker_key": ranker_key,
    }


def function(name, **settings):
    return {"_target_": f"{MODULE}.{name}", "_partial_": True, "display_name": name, **settings}


# --- rankers ---


def between(X, y, power=1.0):
    """Spread of the class means, over the spread within."""
    means = np.array([X[y == code].mean(axis=0) for code in np.unique(y)])
    return (means.std(axis=0) / (X.std(axis=0) + 1e-12)) ** power


def apart(X, Y, power=1.0):
    """Distance of the means of rows with and without a label, summed over labels; Y is an array of 0 and 1."""
    weights = np.zeros(X.shape[1])
    for label in Y.T.astype(bool):
        if label.any() and not label.all():
            weights += np.abs(X[label].mean(axis=0) - X[~label].mean(axis=0))
    return (weights / (X.std(axis=0) + 1e-12)) ** power


def level(X, y, value=0.0):
    """All columns alike."""
    return np.full(X.shape[1], value)


def stored(X, y, path=None):
    """Weights made beforehand."""
    return np.load(path)


def chance(X, y, random_state=None):
    """Random, from the seed it is given and from numpy's global generator."""
    return np.random.default_rng(random_state).random(X.shape[1]) + np.random.rand(X.shape[1])  # noqa: NPY002


def logged(X, y, log=None, seconds=0.0):
    """As ``between``; leaves a line per call."""
    time.sleep(seconds)
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{X.shape[0]}\n")
    return between(X, y)


def _compile_at(log, number):
    """Note a call, and in the one of this number, or with 0 in each, compile a function for half a second."""
    n_calls = 1 + (len(Path(log).read_text()) if Path(log).exists() else 0)
    with open(log, "a", encoding="utf-8") as file:
        file.write(".")
    if number in (0, n_calls):
        njit(lambda value: value + 1)(1)
        time.sleep(0.5)


def compiling(X, y, log=None, number=0):
    """As ``between``; compiles in one call, or in each."""
    _compile_at(log, number)
    return between(X, y)


def slow(X, y, seconds=0.0, tag=None):
    """As ``between``, after a while; ``tag`` tells one such ranker from another."""
    time.sleep(seconds)
    return between(X, y)


def broken(X, y, message="boom"):
    raise ValueError(message)


def broken_at(X, y, flag=None):
    """Fail on every second call, as long as the flag file is there."""
    path = Path(flag)
    if path.exists():
        n_calls = int(path.read_text() or 0)
        path.write_text(str(n_calls + 1))
        if n_calls % 2:
            raise ArithmeticError("every second time")
    return between(X, y)


def quitting(X, y):
    sys.exit(3)


class Unusual(BaseException):
    """No Exception."""


def unusual(X, y):
    raise Unusual("not today")


def interrupting(X, y):
    """Raise what Ctrl-C raises, without Ctrl-C."""
    raise KeyboardInterrupt("by itself")


class HangingAtFirst:
    """A ranker that cannot be made as long as the flag file is there."""

    def __init__(self, flag=None):
        while Path(flag).exists():
            Path(f"{flag}.{os.getpid()}").touch()  # says which process hangs
            time.sleep(0.05)

    def fit(self, X, y):
        self.scores_ = between(X, y)


class SlowToMake:
    """A ranker that takes long to make and none to fit; a line in the log for each one made."""

    def __init__(self, seconds=0.0, log=None):
        time.sleep(seconds)
        with open(log, "a", encoding="utf-8") as file:
            file.write("made\n")

    def fit(self, X, y):
        self.scores_ = between(X, y)


class Quitting:
    """A ranker that ends the program when it is made."""

    def __init__(self):
        sys.exit(4)

    def fit(self, X, y):
        """Never get here."""


def unreal(X, y):
    return between(X, y) + 1j


def nan(X, y):
    return np.full(X.shape[1], np.nan)


def vandal(X, y):
    """Write over what it was given."""
    weights = between(X, y)
    X[...] = 0.0
    y[...] = 0
    return weights


def noisy(X, y):
    import logging
    import warnings

    warnings.warn("something odd\nsecond line", RuntimeWarning, stacklevel=1)
    logging.getLogger("somewhere").warning("lowered k to %d", 3)
    return between(X, y)


def deadly(X, y, flag=None):
    """Kill the process it runs in; once only, when there is a flag file to remove."""
    if flag is None:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        os.unlink(flag)
    except FileNotFoundError:
        return between(X, y)
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def segfault(X, y):
    """Read where there is nothing."""
    ctypes.string_at(0)


def leaving(X, y, code=3):
    """End the process without a word."""
    os._exit(code)


def endless(X, y, pids=None, tag=None):
    """Stay in compiled code that hears no signal; a child process of the fit sleeps beside it."""
    if pids is not None:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(pids).write_text(f"{os.getpid()} {child.pid}")
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 500_000_000)


def endless_at_first(X, y, flag=None):
    """Never end, as long as the flag file is there."""
    if Path(flag).exists():
        time.sleep(600)
    return between(X, y)


def hungry(X, y, mib=1000, seconds=30.0):
    """Take memory, touch it, and hold it for a while."""
    taken = [np.ones((2**20) // 8) for _ in range(mib)]
    time.sleep(seconds)
    return between(X, y) + 0.0 * taken[0][0]


def hungry_child(X, y, mib=400):
    """Let a child process take the memory."""
    code = f"import time; taken = [bytearray(b'x' * 2**20) for _ in range({mib})]; time.sleep(600)"
    subprocess.run([sys.executable, "-c", code], check=True)


def refused(X, y):
    """Ask for more memory than there can be."""
    return np.ones(2**50)


def talkative(X, y):
    """Print, and read what is not there."""
    print("a line", flush=True)
    sys.stdin.read()
    return between(X, y)


def in_parallel(X, y, n_jobs=1):
    """The number of jobs it was given."""
    return np.full(X.shape[1], float(n_jobs))


def jumping(X, y, days=2.0, tag=None):
    """Put this process' clock on and back, and stay a while."""
    real = getattr(time.time, "real", time.time)
    offset = next(_offsets) * days * 24 * 3600

    def jumped():
        return real() + offset

    jumped.real = real
    time.time = jumped
    time.sleep(0.01)
    return between(X, y)


_offsets = itertools.cycle((1, -1, 400, -400, 0))


def threads(X, y):
    """The number of threads of the most threaded library."""
    return np.full(X.shape[1], max(pool["num_threads"] for pool in threadpool_info()), dtype=float)


# --- learners ---


class Logged(GaussianNB):
    """Leaves a line with the number of columns per fit, which takes a while."""

    def __init__(self, log=None, seconds=0.0):
        super().__init__()
        self.log = log
        self.seconds = seconds

    def fit(self, X, y):
        time.sleep(self.seconds)
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(f"{X.shape[1]}\n")
        return super().fit(X, y)


class Wrong(ClassifierMixin, BaseEstimator):
    """Always predicts another class than the right one would be likely to be; right with few columns."""

    def __init__(self, right_below=0):
        self.right_below = right_below

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(X.shape[0], 0 if X.shape[1] < self.right_below else self.classes_.max() + 0)


class Compiling(GaussianNB):
    """Compiles in one fit, or in each."""

    def __init__(self, log=None, number=0):
        super().__init__()
        self.log = log
        self.number = number

    def fit(self, X, y):
        _compile_at(self.log, self.number)
        return super().fit(X, y)


class Refusing(GaussianNB):
    """Does not take more than so many columns."""

    def __init__(self, most=2):
        super().__init__()
        self.most = most

    def fit(self, X, y):
        if X.shape[1] > self.most:
            raise RuntimeError(f"{X.shape[1]} columns are too many")
        return super().fit(X, y)


class Deadly(GaussianNB):
    """Takes its process down with fewer columns than so many."""

    def __init__(self, below=0):
        super().__init__()
        self.below = below

    def fit(self, X, y):
        if X.shape[1] < self.below:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)
