"""Folds depend on data set, protocol and seed alone; rare classes are named, not dropped."""

import logging

import numpy as np
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold

from experiments.splits import SplitError, check_classes, folds

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
        (np.repeat([0, 1], [9, 8]), 10, "zoo cannot be split into 10 folds: its largest class has 9 rows"),
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
