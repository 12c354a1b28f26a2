"""Folds, made from the target values, the protocol and the seed alone."""

from __future__ import annotations

import hashlib
import logging
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import GroupKFold, RepeatedKFold, RepeatedStratifiedKFold, StratifiedGroupKFold

from experiments.datasets.assignment import FOLDS, GROUPS, Assignment
from experiments.datasets.classes import are_many_numbers
from experiments.errors import BadInputError
from experiments.formatting import count

logger = logging.getLogger(__name__)

#: How many data sets' folds a process keeps.
_SETS_KEPT = 4

_ENDLESS = 2**31 - 1

#: How many class names a message lists before it says "and … more".
_NAMES_SHOWN = 10


class SplitError(BadInputError):
    """The data set cannot be split as the protocol asks."""


def folds(
    y: Any, *, n_splits: int, repeat: int, seed: int, assignment: Assignment | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the folds of one repeat of a cross-validation, stratified for classes and labels.

    They are the ones ``RepeatedStratifiedKFold`` gives for that repeat, for labels
    ``RepeatedMultilabelStratifiedKFold`` (iterative stratification), and for numbers ``RepeatedKFold``. Neither the
    ranker nor the number of repeats asked for changes them, so every ranker sees the same folds and repeats can be
    added later. A repeat's folds can only be had after those of all repeats before, which takes minutes where there
    are many labels: a process keeps what it has made.

    Parameters
    ----------
    y : int array of shape (n,), csr_matrix of shape (n, L), or float array of shape (n,)
        Class of each sample, which labels it has, or its number.
    n_splits : int
        Number of folds.
    repeat : int
        Which repeat, from 0.
    seed : int
        Seed of the study, 0 … 2³² − 1.
    assignment : Assignment, optional
        Groups of samples that stay together: the folds are those of ``StratifiedGroupKFold``, for labels and
        numbers of ``GroupKFold``, shuffled anew for each repeat. Or the fold of each sample, which decides alone.

    Returns
    -------
    list of (int64 array, int64 array)
        Training and test samples of each fold, ascending. No test fold is empty; together the test folds hold
        every sample once.

    Raises
    ------
    SplitError
        If no class has ``n_splits`` samples, or there are fewer samples than that.

    Notes
    -----
    Source: the paper's evaluation section (ten-fold stratified cross-validation, ten times). Iterative
    stratification: Sechidis, Tsoumakas, Vlahavas, On the stratification of multi-label data, ECML PKDD 2011.
    """
    if assignment is not None and assignment.kind == FOLDS:
        tests = assignment.numbers
    else:
        of_data = _digest(y) if assignment is None else _digest(y) + assignment.digest.encode()
        tests = _cached_repeat((of_data, n_splits, seed), y, repeat, assignment)
    # What the stratifiers give, from the number of each sample's fold.
    return [(np.flatnonzero(tests != fold), np.flatnonzero(tests == fold)) for fold in range(n_splits)]


class _Repeats:
    """Repeats as far as they were asked for, and the way to more."""

    def __init__(self, more: Iterator[np.ndarray]):
        self.made: list[np.ndarray] = []
        self.more = more


_memory: OrderedDict[tuple[bytes, int, int], _Repeats] = OrderedDict()


def _digest(y: Any) -> bytes:
    digest = hashlib.sha256(f"{y.shape}".encode())
    for array in (y.indptr, y.indices, y.data) if sparse.issparse(y) else (y,):
        digest.update(np.ascontiguousarray(array).data)
        digest.update(str(array.dtype).encode())
    return digest.digest()


def _cached_repeat(
    name: tuple[bytes, int, int], y: Any, repeat: int, assignment: Assignment | None
) -> np.ndarray:
    if name not in _memory:
        made = _repeats(y, *name[1:]) if assignment is None else _grouped(y, assignment.numbers, *name[1:])
        _memory[name] = _Repeats(made)
        if len(_memory) > _SETS_KEPT:
            _memory.popitem(last=False)
    _memory.move_to_end(name)
    known = _memory[name]
    try:
        while len(known.made) <= repeat:
            known.made.append(next(known.more))
    except BaseException:  # a generator that was interrupted does not go on
        del _memory[name]
        raise
    return known.made[repeat]


def _are_numbers(y: Any) -> bool:
    """Whether a target holds a number per sample: classes are whole numbers, and of an integer type."""
    return y.dtype.kind == "f"


def _repeats(y: Any, n_splits: int, seed: int) -> Iterator[np.ndarray]:
    """Yield, repeat after repeat, in which fold each sample is tested."""
    if sparse.issparse(y):
        from iterstrat.ml_stratifiers import RepeatedMultilabelStratifiedKFold

        # The package wants the whole label matrix; a byte a label is the least it comes in. A fold without a sample
        # is first choice for every label, so none stays empty.
        of_kind, target = RepeatedMultilabelStratifiedKFold, y.astype(bool).toarray()
    elif _are_numbers(y):
        of_kind, target = RepeatedKFold, None
    else:
        of_kind, target = RepeatedStratifiedKFold, y
    n_rows = y.shape[0]
    # As many repeats as anyone asks for; each is drawn when the one before is used up.
    splits = of_kind(n_splits=n_splits, n_repeats=_ENDLESS, random_state=seed).split(np.empty(n_rows), target)
    while True:
        tests = np.empty(n_rows, dtype=np.int32)
        for fold in range(n_splits):
            with warnings.catch_warnings():
                # `check_classes` has said it once, with the names of the classes.
                warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
                try:
                    _, test = next(splits)
                except ValueError as error:
                    raise SplitError(str(error)) from error
            tests[test] = fold
        yield tests


def _grouped(y: Any, groups: np.ndarray, n_splits: int, seed: int) -> Iterator[np.ndarray]:
    """Yield, repeat after repeat, in which fold each sample is tested; no group is in two."""
    rng = np.random.RandomState(seed)  # what scikit-learn's splitters take
    stratified = not (sparse.issparse(y) or _are_numbers(y))
    of_kind, target = (StratifiedGroupKFold, y) if stratified else (GroupKFold, None)
    while True:
        splitter = of_kind(n_splits=n_splits, shuffle=True, random_state=rng)
        tests = np.empty(len(groups), dtype=np.int32)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
            for fold, (_, test) in enumerate(splitter.split(np.empty(len(groups)), target, groups)):
                if not len(test):
                    raise SplitError(
                        f"the groups cannot be spread over {n_splits} folds: one is left without a sample; use "
                        "fewer folds (protocol.n_splits)"
                    )
                tests[test] = fold
        yield tests


def check_assignment(
    assignment: Assignment, *, n_splits: int, n_repeats: int, dataset: str = "the data set"
) -> None:
    """Check before the first cell that groups, or folds of one's own, go with the protocol.

    Parameters
    ----------
    assignment : Assignment
        Of the data set.
    n_splits, n_repeats : int
        Of the protocol.
    dataset : str
        Name of the data set, for the messages.

    Raises
    ------
    SplitError
        If there are fewer groups than folds; if there are other folds than the protocol has, or it repeats them.
    """
    n = int(assignment.numbers.max()) + 1
    if assignment.kind == GROUPS and n < n_splits:
        raise SplitError(
            f"{dataset} has {count(n, 'group')} for {n_splits} folds; use a protocol with at most "
            f"{count(n, 'fold')} (protocol.n_splits)"
        )
    if assignment.kind == FOLDS and n < 2:
        raise SplitError(f"{dataset}: dataset.folds has one fold; at least two are needed")
    if assignment.kind == FOLDS and (n_splits, n_repeats) != (n, 1):
        raise SplitError(
            f"{dataset} has {count(n, 'fold')} of its own, which are not drawn anew: "
            f"protocol.n_splits={n} protocol.n_repeats=1"
        )


def check_numbers(
    y: np.ndarray,
    *,
    n_splits: int,
    n_repeats: int,
    seed: int,
    assignment: Assignment | None = None,
    dataset: str = "the data set",
) -> None:
    """Check before the first cell that R² is defined in every test fold of a numeric target.

    Parameters
    ----------
    y : float array of shape (n,)
        A number per sample.
    n_splits, n_repeats, seed, assignment
        As for :func:`folds`; all repeats are looked at.
    dataset : str
        Name of the data set, for the messages.

    Raises
    ------
    SplitError
        If there are fewer than two folds, or a test fold has fewer than two different numbers.
    """
    if n_splits < 2:
        raise SplitError(f"protocol.n_splits must be at least 2, got {n_splits}")
    n_distinct = len(np.unique(y))
    if len(y) < 2 * n_splits:
        raise SplitError(
            f"{dataset} cannot be split into {n_splits} folds: it has {count(len(y), 'sample')}, and R² needs two "
            f"in each test fold; use a protocol with at most {count(max(len(y) // 2, 1), 'fold')} "
            "(protocol.n_splits)"
        )
    if n_distinct == 2:
        logger.warning(
            "%s: the numeric target has two values, %g and %g; as classes (without dataset.task=regression) it "
            "would be scored by F1 on stratified folds",
            dataset,
            *np.unique(y),
        )
    for repeat in range(n_repeats):
        made = folds(y, n_splits=n_splits, repeat=repeat, seed=seed, assignment=assignment)
        for fold, (_, test) in enumerate(made):
            if y[test].min() == y[test].max():
                have = "the one test sample has" if len(test) == 1 else f"all {len(test)} test samples have"
                advice = ", another seed, or take the values as classes" if assignment is None else ""
                raise SplitError(
                    f"{dataset} cannot be scored by R²: in repeat {repeat}, fold {fold}, {have} the target "
                    f"{y[test[0]]:g}, of {n_distinct} different values; use fewer folds (protocol.n_splits){advice}"
                )


def check_classes(
    y: Any, *, n_splits: int, class_names: Sequence | None = None, dataset: str = "the data set"
) -> list[str]:
    """Check before the first cell that the classes, or labels, are large enough for the folds.

    A class or label with fewer samples than folds is missing from some test folds: one warning names all such.

    Parameters
    ----------
    y : int array of shape (n,), or csr_matrix of shape (n, L)
        Class codes, 0 … c − 1, or which labels each sample has.
    n_splits : int
        Number of folds.
    class_names : sequence, optional
        Name of each class code or label, for the messages; the codes themselves by default.
    dataset : str
        Name of the data set, for the messages.

    Returns
    -------
    list of str
        Names of the classes or labels with fewer than ``n_splits`` samples.

    Raises
    ------
    SplitError
        If there are fewer than two folds, two classes or two labels, or no class or label has ``n_splits`` samples.
    """
    if n_splits < 2:
        raise SplitError(f"protocol.n_splits must be at least 2, got {n_splits}")
    if sparse.issparse(y):
        kind, kinds = "label", "labels"
        sizes = np.bincount(y.indices, minlength=y.shape[1])
        present = np.arange(y.shape[1])  # one that no sample has is still to be predicted, and is named
    else:
        kind, kinds = "class", "classes"
        sizes = np.bincount(np.asarray(y))
        present = np.flatnonzero(sizes)
    if len(present) < 2:
        raise SplitError(f"{dataset} has {count(len(present), kind, kinds)}; at least two are needed")
    small = [int(code) for code in present if sizes[code] < n_splits]
    names = [str(code if class_names is None else class_names[code]) for code in small]
    if sizes.max() == 1 and kind == "class":
        raise SplitError(
            f"{dataset} cannot be split: each of its {len(present)} classes has one sample, so the target looks "
            "like numbers or names of samples, not classes; choose another target column"
        )
    if len(small) == len(present):
        largest = f"its largest {kind} has {count(sizes.max(), 'sample')}"
        if sizes.max() < 2:
            raise SplitError(f"{dataset} cannot be split: {largest}, and two folds need two of a {kind}")
        numeric = kind == "class" and class_names is not None and are_many_numbers(names)
        advice = (
            f"its {len(present)} classes are numbers: is the target numeric? Then say dataset.task=regression"
            if numeric
            else f"use a protocol with at most {count(sizes.max(), 'fold')} (protocol.n_splits)"
        )
        raise SplitError(f"{dataset} cannot be split into {n_splits} folds: {largest}; {advice}")
    if small:
        sized = [f"{name} ({sizes[code]})" for code, name in zip(small, names, strict=True)]
        shown = ", ".join(sized[:_NAMES_SHOWN])
        if len(sized) > _NAMES_SHOWN:
            shown += f" and {len(sized) - _NAMES_SHOWN} more"
        logger.warning(
            "%s: %s with fewer samples than the %d folds, so not in every test fold: %s",
            dataset,
            kinds,
            n_splits,
            shown,
        )
    return names
