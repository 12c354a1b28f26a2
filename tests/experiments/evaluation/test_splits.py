"""Folds depend on data set, protocol and seed alone; rare classes are named, not dropped."""

import logging
import os
import subprocess
import sys

import numpy as np
import pytest
from folders import PROJECT_ROOT
from iterstrat.ml_stratifiers import RepeatedMultilabelStratifiedKFold
from scipy import sparse
from sklearn.model_selection import KFold, RepeatedStratifiedKFold

from experiments.evaluation import splits
from experiments.evaluation.splits import SplitError, check_classes, folds

Y = np.repeat([0, 1, 2], [40, 25, 12])


@pytest.mark.parametrize("n_repeats", [3, 10])
def test_folds_are_those_of_scikit_learn_whatever_the_number_of_repeats(n_repeats):
    reference = list(
        RepeatedStratifiedKFold(n_splits=5, n_repeats=n_repeats, random_state=7).split(np.zeros(len(Y)), Y)
    )
    for repeat in range(3):
        for ours, theirs in zip(
            folds(Y, n_splits=5, repeat=repeat, seed=7), reference[repeat * 5 : repeat * 5 + 5], strict=True
        ):
            assert np.array_equal(ours[0], theirs[0])
            assert np.array_equal(ours[1], theirs[1])


def test_each_row_is_tested_once_and_repeats_and_seeds_differ():
    made = {
        (repeat, seed): folds(Y, n_splits=5, repeat=repeat, seed=seed) for repeat in (0, 1) for seed in (0, 1)
    }
    for one in made.values():
        assert np.array_equal(np.sort(np.concatenate([test for _, test in one])), np.arange(len(Y)))
        for train, test in one:
            assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(len(Y)))
    tests = {key: tuple(map(tuple, (test for _, test in one))) for key, one in made.items()}
    assert len(set(tests.values())) == 4


def test_folds_do_not_depend_on_global_state():
    np.random.seed(1)  # noqa: NPY002 - the global state is the point
    first = folds(Y, n_splits=5, repeat=1, seed=3)
    np.random.seed(2)  # noqa: NPY002
    second = folds(Y, n_splits=5, repeat=1, seed=3)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("as_labels", [False, True])
def test_cached_folds_are_the_same_in_any_order_and_made_once(monkeypatch, as_labels):
    y = Y
    if as_labels:
        y = sparse.csr_matrix(np.random.default_rng(0).random((40, 3)) < 0.4, dtype=np.int8)
    fresh = []
    for repeat in range(4):
        splits._memory.clear()
        fresh.append(folds(y, n_splits=5, repeat=repeat, seed=7))
    splits._memory.clear()
    made = []
    repeats = splits._repeats
    monkeypatch.setattr(
        splits, "_repeats", lambda *arguments: (made.append(1) or each for each in repeats(*arguments))
    )
    for repeat in (2, 0, 3, 2, 1):
        again = folds(y.copy(), n_splits=5, repeat=repeat, seed=7)
        for one, other in zip(again, fresh[repeat], strict=True):
            assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])
    assert len(made) == 4
    other = folds(y, n_splits=5, repeat=0, seed=8)
    assert not np.array_equal(other[0][1], fresh[0][0][1])
    assert len(folds(y, n_splits=4, repeat=0, seed=7)) == 4
    for seed in range(20):
        folds(y, n_splits=5, repeat=0, seed=seed)
    assert len(splits._memory) == splits._SETS_KEPT


def test_other_labels_of_the_same_size_have_other_folds():
    y = np.tile([0, 1], 30)
    sorted_y = np.sort(y)
    one, other = (folds(each, n_splits=3, repeat=0, seed=0) for each in (y, sorted_y))
    assert not np.array_equal(one[0][1], other[0][1])
    for target, made in ((y, one), (sorted_y, other)):
        assert all(np.bincount(target[test]).tolist() == [10, 10] for _, test in made)


def test_folds_that_cannot_be_made_are_an_error_each_time_they_are_asked_for():
    for _ in range(2):
        with pytest.raises(SplitError):
            folds(np.repeat([0, 1], 3), n_splits=10, repeat=0, seed=0)


def test_a_rare_class_gives_folds_and_one_warning_that_names_it(caplog, recwarn):
    y = np.repeat([0, 1, 2], [30, 3, 25])
    with caplog.at_level(logging.WARNING):
        assert check_classes(y, n_splits=10, class_names=["a", "rare one", "c"], dataset="zoo") == [
            "rare one"
        ]
    assert len(caplog.records) == 1
    assert "zoo" in caplog.text and "rare one (3)" in caplog.text and "a (" not in caplog.text
    for repeat in range(4):
        made = folds(y, n_splits=10, repeat=repeat, seed=0)
        assert len(made) == 10
        assert all(len(test) > 0 for _, test in made)
    assert not recwarn.list


def test_many_rare_classes_are_shortened(caplog):
    y = np.concatenate([np.zeros(20, int), np.arange(1, 15)])
    assert len(check_classes(y, n_splits=10)) == 14
    assert "and 4 more" in caplog.text


def test_a_singleton_beside_a_class_of_just_enough_rows_leaves_no_empty_fold():
    made = folds(np.repeat([0, 1], [10, 1]), n_splits=10, repeat=0, seed=0)
    assert sorted(len(test) for _, test in made) == [1] * 9 + [2]


@pytest.mark.parametrize(
    ("y", "n_splits", "words"),
    [
        (np.repeat([0, 1], [9, 8]), 10, "zoo cannot be split into 10 folds: its largest class has 9 samples"),
        (np.zeros(20, int), 5, "1 class"),
        (np.repeat([0, 1], 20), 1, "n_splits"),
    ],
)
def test_what_cannot_be_split_is_an_error_that_says_why(y, n_splits, words):
    with pytest.raises(SplitError, match=words):
        check_classes(y, n_splits=n_splits, dataset="zoo")


def test_folds_themselves_refuse_as_well():
    with pytest.raises(SplitError, match="n_splits=10"):
        folds(np.repeat([0, 1], [9, 8]), n_splits=10, repeat=0, seed=0)


# --- labels: iterative stratification ---


def labels(n_rows=120, n_labels=6, seed=0, share=(0.5, 0.3, 0.2, 0.15, 0.1, 0.08)):
    shares = np.resize(share, n_labels)
    return sparse.csr_matrix(np.random.default_rng(seed).random((n_rows, n_labels)) < shares, dtype=np.int8)


@pytest.mark.parametrize("n_repeats", [3, 6])
def test_folds_of_labels_are_those_of_the_package_whatever_the_number_of_repeats(n_repeats):
    T = labels()
    splitter = RepeatedMultilabelStratifiedKFold(n_splits=5, n_repeats=n_repeats, random_state=7)
    reference = list(splitter.split(np.zeros(120), T.toarray()))
    for repeat in range(3):
        ours = folds(T, n_splits=5, repeat=repeat, seed=7)
        for (train, test), theirs in zip(ours, reference[repeat * 5 : repeat * 5 + 5], strict=True):
            assert np.array_equal(train, theirs[0]) and np.array_equal(test, theirs[1])


def test_with_labels_each_row_is_tested_once_and_repeats_and_seeds_differ():
    T = labels()
    made = {
        (repeat, seed): folds(T, n_splits=10, repeat=repeat, seed=seed)
        for repeat in (0, 1)
        for seed in (0, 1)
    }
    for one in made.values():
        assert len(one) == 10 and all(len(test) for _, test in one)
        assert np.array_equal(np.sort(np.concatenate([test for _, test in one])), np.arange(120))
        for train, test in one:
            assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(120))
    assert len({tuple(map(tuple, (test for _, test in one))) for one in made.values()}) == 4


FOLDS_PROCESS = """
import random, sys
import numpy as np
from scipy import sparse
from experiments.evaluation.splits import folds
random.seed(int(sys.argv[1]))
np.random.seed(int(sys.argv[1]))
T = sparse.csr_matrix(np.random.default_rng(0).random((90, 5)) < 0.2, dtype=np.int8)
print([test.tolist() for repeat in (0, 2) for _, test in folds(T, n_splits=4, repeat=repeat, seed=3)])
"""


def test_folds_of_labels_are_the_same_in_two_processes_whatever_the_global_seeds():
    printed = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(PROJECT_ROOT)}
        command = [sys.executable, "-c", FOLDS_PROCESS, seed]
        printed.add(
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        )
    T = sparse.csr_matrix(np.random.default_rng(0).random((90, 5)) < 0.2, dtype=np.int8)
    here = [test.tolist() for repeat in (0, 2) for _, test in folds(T, n_splits=4, repeat=repeat, seed=3)]
    assert printed == {f"{here}\n"}


def test_labels_are_spread_over_the_folds():
    T = labels(n_rows=400)
    ours = [test for _, test in folds(T, n_splits=10, repeat=0, seed=0)]
    random = [test for _, test in KFold(10, shuffle=True, random_state=0).split(np.zeros(400))]

    def unevenness(tests):
        return np.array([T[test].sum(axis=0).A1 for test in tests]).std(axis=0).mean()

    assert unevenness(ours) < 0.5 * unevenness(random)
    assert {len(test) for test in ours} <= set(range(38, 43))


def test_rare_labels_give_folds_and_one_warning_that_names_them(caplog, recwarn):
    T = (
        sparse.hstack([labels(60, 2), sparse.csr_matrix(np.arange(60)[:, None] < [0, 1, 3])])
        .tocsr()
        .astype(np.int8)
    )
    with caplog.at_level(logging.WARNING):
        rare = check_classes(T, n_splits=10, class_names=["a", "b", "none", "one", "three"], dataset="zoo")
    assert rare == ["none", "one", "three"]
    assert len(caplog.records) == 1
    assert "zoo: labels with fewer samples than the 10 folds" in caplog.text
    assert "none (0), one (1), three (3)" in caplog.text and "a (" not in caplog.text
    for repeat in range(3):
        assert all(len(test) for _, test in folds(T, n_splits=10, repeat=repeat, seed=0))
    assert not recwarn.list


@pytest.mark.parametrize("seed", range(20))
def test_no_test_fold_is_empty_however_the_labels_lie(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_splits = int(rng.integers(12, 30)), int(rng.integers(2, 11))
    T = sparse.csr_matrix(rng.random((n_rows, 4)) < rng.choice([0.02, 0.5, 1.0], 4), dtype=np.int8)
    made = folds(T, n_splits=n_splits, repeat=0, seed=seed)
    assert len(made) == n_splits and all(len(test) for _, test in made)


def test_thousands_of_labels():
    T = sparse.random(300, 3000, density=0.004, format="csr", random_state=0)
    T.data[:] = 1
    tests = [test for _, test in folds(T.astype(np.int8), n_splits=3, repeat=0, seed=0)]
    assert np.array_equal(np.sort(np.concatenate(tests)), np.arange(300))
    assert max(map(len, tests)) - min(map(len, tests)) <= 15


@pytest.mark.parametrize(
    ("T", "words"),
    [
        (
            np.arange(60)[:, None] < [9, 3, 0],
            "zoo cannot be split into 10 folds: its largest label has 9 samples",
        ),
        (
            np.zeros((60, 2)),
            "zoo cannot be split: its largest label has 0 samples, and two folds need two of a",
        ),
        (
            np.eye(60, 2),
            "zoo cannot be split: its largest label has 1 sample, and two folds need two of a label",
        ),
        (np.ones((60, 1)), "zoo has 1 label; at least two are needed"),
    ],
)
def test_labels_that_cannot_be_split_are_an_error_that_says_why(T, words):
    with pytest.raises(SplitError, match=words):
        check_classes(sparse.csr_matrix(T, dtype=np.int8), n_splits=10, dataset="zoo")


def test_more_folds_than_rows_with_labels_are_refused_by_the_folds_as_well():
    with pytest.raises(SplitError, match="n_splits=8 greater than"):
        folds(labels(6, 2), n_splits=8, repeat=0, seed=0)


def test_a_class_per_row_is_told_as_no_class():
    with pytest.raises(
        SplitError, match="each of its 9 classes has one sample, so the target looks like numbers"
    ):
        check_classes(np.arange(9), n_splits=3)
