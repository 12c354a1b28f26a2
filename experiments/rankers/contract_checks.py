"""What is asked of every ranker, check by check; run by :mod:`experiments.rankers.contract`.

Each check fits the ranker on tables of a few dozen samples, the way the benchmark does
(:func:`experiments.rankers.rank`), or, where that would hide what is looked for, by calling it directly.
"""

from __future__ import annotations

import os
import pickle
import random
import warnings
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from experiments.locate import is_score_function, locate, parameter_names
from experiments.rankers import RankerError, call, rank
from experiments.rankers.fitting import FitEnded
from experiments.rankers.instrumentation import printed
from experiments.rankers.isolation import Limits, SubprocessFitter

_SEED = 7
#: Weights of dense and sparse data, or of more threads, may differ by this share of the largest one.
_ROUNDING = 1e-6
#: Errors that say what is wrong with the data; any other is a slip in the ranker's code.
_CLEAR = (ValueError, NotImplementedError, RankerError)


class _Verdict(Exception):
    state = ""
    #: What the driver must know beside: "random" or "trace" where one seed gives two results.
    why = ""


class _Failed(_Verdict):
    state = "failed"


class _Random(_Failed):
    why = "random"


class _Trace(_Failed):
    why = "trace"


class _Doubtful(_Verdict):
    state = "doubtful"


class _NotApplicable(_Verdict):
    state = "not applicable"


def run_check(
    name: str, ranker: Mapping[str, Any], first_tries: SubprocessFitter | None = None
) -> tuple[str, str, str]:
    """Run one check: its state, what was found, and for "seed" alone why ("random" or "trace")."""
    try:
        with printed():
            return "passed", CHECKS[name](_Tried(dict(ranker), first_tries)), ""
    except _Verdict as found:
        return found.state, " ".join(str(found).split()), found.why
    except Exception as error:
        return "failed", " ".join(_said(error).split()), ""
    except BaseException as error:  # nobody interrupts this process, so this is the ranker's own
        said = " ".join(_said(error).split())
        return "failed", f"{said}; a ranker must not end the program it runs in", ""


@dataclass(frozen=True)
class _Tried:
    block: dict[str, Any]
    first_tries: SubprocessFitter | None = None

    def weights(self, X: Any, y: Any, seed: int = _SEED, **settings: Any) -> np.ndarray:
        """Rank as the benchmark does."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return rank({**self.block, **settings}, X, y, seed).weights

    def called(self, X: Any, y: Any) -> Any:
        """Call it on these very arrays."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(self.block, X, y, _SEED)

    def outcome(self, X: Any, y: Any, what: str) -> np.ndarray | Exception:
        """Return weights, or the error that says why there are none; anything else is a failure.

        The first try is in another process, which the ranker may take down.
        """
        fitter = SubprocessFitter(Limits()) if self.first_tries is None else self.first_tries
        try:
            fitter.fit(self.block, X, y, _SEED)
        except FitEnded as ended:
            if ended.error.startswith("ProcessDied"):
                raise _Failed(f"{what}: {ended.error.partition(': ')[2]}; raise a ValueError") from ended
        finally:
            if self.first_tries is None:
                fitter.close()
        try:
            return self.weights(X, y)
        except _CLEAR as error:
            if str(error).strip():
                return error
            raise _Failed(f"{what}: {type(error).__name__} without a word; say what is wrong") from error
        except Exception as error:
            raise _Failed(
                f"{what}: {_said(error)}; give weights, or raise a ValueError that says what is wrong"
            ) from error


def _said(error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _table(n: int = 60, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ten features, none negative: 0 tells the classes apart, 3 has few values, the last four are mostly zero."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.random((n, 10))
    X[:, 0] = y + 0.2 * rng.random(n)
    X[:, 3] = rng.integers(0, 3, n)
    X[:, 6:] *= rng.random((n, 4)) < 0.3
    return X, y


def _other_table() -> tuple[np.ndarray, np.ndarray]:
    """As many samples and features, other numbers, and the feature that tells elsewhere."""
    X, y = _table(seed=1)
    return np.roll(X, 4, axis=1), y


def _same(a: np.ndarray, b: np.ndarray, rounding: float = 0.0) -> bool:
    scale = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    return bool(np.all(np.abs(a - b) <= rounding * scale))


# --- the checks: each says what it found, or raises a verdict


def _weights(tried: _Tried) -> str:
    for X, y in (_table(), (_table()[0][:50, :7], _table()[1][:50])):
        try:
            tried.weights(X, y)
        except RankerError as error:
            raise _Failed(
                f"{error}; feature_importances_ (or scores_, coef_, ranking_, or what the function returns) "
                "must be one finite real number per feature"
            ) from error
        except Exception as error:
            raise _Failed(f"a plain table of {X.shape[0]} samples: {_said(error)}") from error
    return "one finite real number per feature"


def _direction(tried: _Tried) -> str:
    weights = tried.weights(*_table())
    if weights[0] <= np.median(weights[1:]):
        raise _Doubtful(
            "a feature that equals the class gets no more than the median of noise; larger must mean more "
            "relevant (reverse ranks and p-values), unless the ranker looks for interactions alone"
        )
    return "the feature that equals the class ranks above noise"


def _seed(tried: _Tried) -> str:
    X, y = _table()
    if not _same(tried.weights(X, y), tried.weights(X, y)):
        one, other = (_in_fresh_process(tried.block, X, y) for _ in range(2))
        if _same(one, other):
            raise _Trace(
                "one seed gives two results in one process, though not in two: an earlier fit leaves a trace; "
                "keep nothing in the class or the module"
            )
        raise _Random(
            "one seed gives two results; take random_state and draw everything from it, nothing from the clock"
        )
    return "one seed, one result"


def _threads(tried: _Tried) -> str:
    obj = locate(tried.block["_target_"])
    leave_out = 2 if is_score_function(obj, tried.block.get("_partial_")) else 0
    if "n_jobs" not in parameter_names(obj, leave_out=leave_out)[0]:
        raise _NotApplicable("no parameter n_jobs")
    X, y = _table()
    if not _same(tried.weights(X, y, n_jobs=1), tried.weights(X, y, n_jobs=2), _ROUNDING):
        raise _Failed("n_jobs changes the weights; give every piece of work a seed of its own")
    return "n_jobs=1 and n_jobs=2 agree"


def _sparse(tried: _Tried) -> str:
    X, y = _table()
    try:
        found = tried.weights(sparse.csr_matrix(X), y)
    except _CLEAR as error:
        if "sparse" in str(error).lower() or "dense" in str(error).lower():
            raise _NotApplicable(f"refused: {_said(error)}") from error
        raise _Failed(
            f"{_said(error)}; without the tag input_tags.sparse it would be given dense data"
        ) from error
    except Exception as error:
        raise _Failed(
            f"{_said(error)}; without the tag input_tags.sparse it would be given dense data"
        ) from error
    if not _same(found, tried.weights(X, y), _ROUNDING):
        raise _Failed("sparse data get other weights than the same data stored dense; zeros are values")
    return "sparse data get the weights of dense data"


def _classes(tried: _Tried) -> str:
    for n_classes in (3, 12):
        try:
            tried.weights(*_table(96, n_classes))
        except _CLEAR as error:
            if "class" in str(error).lower() or "binary" in str(error).lower():
                raise _NotApplicable(f"{n_classes} classes are refused: {_said(error)}") from error
            raise _Failed(
                f"{n_classes} classes: {_said(error)}; say that it takes no more than two"
            ) from error
        except Exception as error:
            raise _Failed(f"{n_classes} classes: {_said(error)}") from error
    return "3 and 12 classes"


def _labels(tried: _Tried) -> str:
    X, y = _table()
    T = np.column_stack([y, X[:, 1] > 0.5, X[:, 2] > 0.7]).astype(np.int8)
    advice = "take a 0/1 matrix, or raise a ValueError that says that it takes one class per sample"
    try:
        tried.weights(X, sparse.csr_matrix(T))
    except _CLEAR as error:
        words = ("label", "one class", "1d array", "multi")
        if any(word in str(error).lower() for word in words):
            raise _NotApplicable(f"refused: {_said(error)}") from error
        raise _Failed(f"several labels per sample: {_said(error)}; {advice}") from error
    except Exception as error:
        raise _Failed(f"several labels per sample: {_said(error)}; {advice}") from error
    return "several labels per sample"


def _negative(tried: _Tried) -> str:
    X, y = _table()
    found = tried.outcome(X - 0.5, y, "negative values")
    if isinstance(found, Exception):
        raise _NotApplicable(f"refused: {_said(found)}")
    return "negative values"


def _input(tried: _Tried) -> str:
    X, y = _table()
    before = X.copy(), y.copy()
    tried.called(X, y)
    for name, now, then in (("X", X, before[0]), ("y", y, before[1])):
        if not np.array_equal(now, then):
            raise _Failed(f"{name} is changed in place; work on a copy")
    return "X and y are not changed"


def _fold(tried: _Tried) -> str:
    X, y = _table()
    others = {"other samples": _other_table(), "the same samples with other labels": (X, _other_table()[1])}
    expect = "weights depend on what is given to fit alone; keep nothing in the class or the module"
    first, seen = tried.weights(X, y), []
    # Sets of text have another order in each of these processes, also where PYTHONHASHSEED is set.
    seeds = [each for each in range(1, 4) if str(each) != os.environ.get("PYTHONHASHSEED")]
    for what, other in others.items():
        seen.append(tried.weights(*other))
        fresh = _in_fresh_process(tried.block, *other, seeds[0])
        if not _same(seen[-1], fresh, _ROUNDING):
            if not _same(fresh, _in_fresh_process(tried.block, *other, seeds[1]), _ROUNDING):
                raise _Failed(
                    f"{what}: two fresh processes give one seed two results; the order of a set, or id()?"
                )
            raise _Failed(
                f"{what}: after an earlier fit they get other weights than in a fresh process: {expect}"
            )
    if not _same(first, tried.weights(X, y)):
        raise _Failed(f"the same samples get other weights after fits on others: {expect}")
    if all(_same(first, each) for each in seen):
        raise _Doubtful("other samples and other labels give the same weights; does it use the data?")
    return "earlier fits, and the labels they were given, leave no trace"


def _in_fresh_process(block: Mapping[str, Any], X: Any, y: Any, hash_seed: int | None = None) -> np.ndarray:
    with closing(SubprocessFitter(Limits(), hash_seed=hash_seed)) as fitter:
        try:
            return fitter.fit(block, X, y, _SEED).result.weights
        except FitEnded as ended:
            raise _Failed(f"in a fresh process: {ended.error}") from ended


def _quiet(tried: _Tried) -> str:
    with printed() as found:
        tried.called(*_table())
    if text := "".join(found).strip():
        first = text.splitlines()[0]
        raise _Failed(f"prints {first[:60]!r}; use logging, or a parameter verbose that is off")
    return "prints nothing"


def _state_of_numpy() -> tuple:
    state = np.random.get_state(legacy=True)  # noqa: NPY002 - the global one is the point here
    assert isinstance(state, tuple)  # what legacy=True gives
    return state


def _global_state(tried: _Tried) -> str:
    callers = random.getstate(), _state_of_numpy()
    try:
        # Another seed than the ranker's, which may go and seed them with it.
        random.seed(_SEED + 1)
        np.random.seed(_SEED + 1)  # noqa: NPY002
        plain, before = random.getstate(), _state_of_numpy()
        tried.called(*_table())
        plain_now, now = random.getstate(), _state_of_numpy()
    finally:
        random.setstate(callers[0])
        np.random.set_state(callers[1])  # noqa: NPY002
    if not (np.array_equal(before[1], now[1]) and before[2:] == now[2:]):
        raise _Failed(
            "draws from or seeds numpy's global generator; use numpy.random.default_rng(random_state) instead"
        )
    if plain != plain_now:
        raise _Failed(
            "draws from or seeds Python's global generator; use random.Random(random_state) instead"
        )
    return "global random generators are left alone"


def _pickle(tried: _Tried) -> str:
    try:
        pickle.dumps(tried.called(*_table()))
    except Exception as error:
        raise _Failed(
            f"cannot be pickled after fit ({_said(error)}); keep no lambdas, open files or locks in it"
        ) from error
    return "can be pickled"


def _few_samples(tried: _Tried) -> str:
    X, _ = _table()
    return _behaved(tried, X[:4], np.array([0, 1, 0, 1]), "four samples")


def _constant(tried: _Tried) -> str:
    X, y = _table()
    X[:, [1, 4]] = [0.0, 2.0]
    found = tried.outcome(X, y, "constant features")
    if isinstance(found, RankerError) and "finite" in str(found):
        raise _Failed(f"constant features: {found}; they occur in folds: give them a finite weight, say 0")
    return _told("constant features", found)


def _one_class(tried: _Tried) -> str:
    X, _ = _table()
    return _behaved(tried, X, np.zeros(len(X), dtype=np.int64), "one class")


def _behaved(tried: _Tried, X: Any, y: Any, what: str) -> str:
    return _told(what, tried.outcome(X, y, what))


def _told(what: str, found: np.ndarray | Exception) -> str:
    return f"{what}: " + (f"refused: {_said(found)}" if isinstance(found, Exception) else "weights")


#: Name → check.
CHECKS: dict[str, Callable[[_Tried], str]] = {
    "weights": _weights,
    "direction": _direction,
    "seed": _seed,
    "threads": _threads,
    "sparse": _sparse,
    "classes": _classes,
    "labels": _labels,
    "negative": _negative,
    "input": _input,
    "fold": _fold,
    "quiet": _quiet,
    "global state": _global_state,
    "pickle": _pickle,
    "few samples": _few_samples,
    "constant": _constant,
    "one class": _one_class,
}
