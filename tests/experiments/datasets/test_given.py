"""What a reader of one's own hands over: masks, missing values of any kind, and every storage of a table."""

import datetime

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from experiments.datasets.encoding import coded
from experiments.datasets.raw import RawData
from experiments.errors import DatasetError

RNG = np.random.default_rng(3)
X = RNG.integers(0, 3, (12, 4)).astype(float)
Y = np.arange(12) % 2
T = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 0]] * 3)
GAP = np.zeros(X.shape, dtype=bool)
GAP[3, 2] = True
BEHIND = np.where(GAP, 1e6, X)


def raw(table=X, labels=Y):
    return RawData(table, labels, list("abcd"))


def dense(table):
    return table.toarray() if sparse.issparse(table) else table


def masked_csr():
    table = sparse.csr_matrix(BEHIND)
    table.data = np.ma.array(table.data, mask=table.data == 1e6)
    return table


def with_object(value):
    table = X.astype(object)
    table[GAP] = value
    return table


WITH_GAP = {
    "masked": lambda: np.ma.array(BEHIND, mask=GAP),
    "masked integers": lambda: np.ma.array(BEHIND.astype(int), mask=GAP),
    "masked sparse values": masked_csr,
    **{repr(each): lambda each=each: with_object(each) for each in (None, np.nan, pd.NA, pd.NaT)},
    "frame": lambda: pd.DataFrame(X, columns=list("abcd")).astype("Int64").mask(GAP),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("made", WITH_GAP.values(), ids=WITH_GAP)
def test_a_missing_value_of_any_kind_is_one(made):
    with pytest.raises(DatasetError, match=r"row 3, column 'c' is missing \(NaN\); 1 value is"):
        coded(raw(made()), "multiclass")
    filled = coded(raw(made()), "multiclass", missing="most_frequent")[0]
    known, counts = np.unique(X[:, 2][~GAP[:, 2]], return_counts=True)
    assert np.array_equal(dense(filled), np.where(GAP, known[np.argmax(counts)], X))
    kept, y, _, _ = coded(raw(made()), "multiclass", missing="drop_rows")
    rows = np.arange(12) != 3
    assert np.array_equal(dense(kept), X[rows]) and np.array_equal(y, Y[rows])


def test_a_masked_table_is_not_modified():
    table = np.ma.array(BEHIND.copy(), mask=GAP)
    coded(raw(table), "multiclass", missing="most_frequent")
    assert table.data[3, 2] == 1e6 and table.mask.sum() == 1


@pytest.mark.parametrize("classes", [Y, np.array(["u", "v"])[Y]], ids=["numbers", "text"])
def test_a_masked_class_is_missing(classes):
    with pytest.raises(DatasetError, match=r"row 3: (the class label is NaN|no class \(1 of 12)"):
        coded(raw(labels=np.ma.array(classes, mask=np.arange(12) == 3)), "multiclass")


def masked_labels():
    labels = sparse.csr_matrix(T)
    labels.data = np.ma.array(labels.data, mask=np.arange(labels.nnz) == 1)
    return labels


def labels_of_numpy():
    labels = T.astype(object)
    labels[0, 0] = np.str_("yes")
    assert isinstance(labels[0, 0], np.str_)
    return labels


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.ma.array(T, mask=GAP[:, 1:]), "row 3: label 'y2' is nan, neither 0 nor 1"),
        (np.where(GAP[:, 1:], pd.NA, T.astype(object)), "row 3: label 'y2' is missing, neither 0 nor 1"),
        (np.where(GAP[:, 1:], "yes", T.astype(object)), "row 3: label 'y2' is 'yes', neither 0 nor 1"),
        (labels_of_numpy(), "row 0: label 'y1' is 'yes', neither 0 nor 1"),
        (np.where(GAP[:, 1:], 0.5, T.astype(object)), "row 3: label 'y2' is 0.5, neither 0 nor 1"),
        (masked_labels(), "row 0: label 'y3' is nan, neither 0 nor 1"),
    ],
    ids=["masked", "pandas.NA", "text", "text of numpy", "half", "masked sparse values"],
)
def test_a_label_that_is_none_is_placed(labels, words):
    with pytest.raises(DatasetError, match=words):
        coded(raw(labels=labels), "multilabel")


def test_labels_that_are_objects_are_labels():
    assert np.array_equal(coded(raw(labels=T.astype(object)), "multilabel")[1].toarray(), T)


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("storage", ["csr", "csc", "coo", "dok", "lil", "dia", "bsr"])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.uint16, np.int64, np.float32, float])
def test_every_storage_is_the_same_table(storage, kind, dtype):
    form = getattr(sparse, f"{storage}_{kind}")
    table = X.astype(dtype)
    found = coded(raw(form(sparse.coo_matrix(table))), "multiclass")[0]
    assert np.array_equal(dense(found), table.astype(float))
    labels = coded(raw(labels=form(sparse.coo_matrix(T.astype(dtype)))), "multilabel")[1]
    assert isinstance(labels, sparse.csr_matrix) and labels.has_canonical_format
    assert np.array_equal(labels.toarray(), T)


def test_what_is_stored_twice():
    twice = sparse.coo_matrix((np.ones(3, dtype=np.int8), ([0, 0, 1], [2, 2, 0])), shape=T.shape)
    labels = coded(raw(labels=twice), "multilabel")[1]
    assert labels.data.tolist() == [1, 1] and labels[0, 2] == labels[1, 0] == 1
    true = sparse.coo_matrix((np.ones(3, dtype=bool), ([0, 0, 1], [2, 2, 0])), shape=X.shape)
    assert dense(coded(raw(true), "multiclass")[0]).max() == 1
    number = sparse.coo_matrix(([1.5, 1.0, 1.0], ([0, 0, 1], [2, 2, 0])), shape=X.shape)
    assert dense(coded(raw(number), "multiclass")[0])[0, 2] == 2.5


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (X.astype("M8[D]"), r"column 'a' holds neither numbers nor text \(dates\)"),
        (X.astype("m8[s]"), r"column 'a' holds neither numbers nor text \(durations\)"),
        (with_object(datetime.date(2020, 1, 1)), r"column 'c' holds neither numbers nor text \(dates\)"),
        (X + 1j, r"column 'a' holds neither numbers nor text \(complex numbers\)"),
        (sparse.csr_matrix(X + 1j), r"no table of numbers \(complex128\)"),
        (with_object("7"), r"column 'c' holds text \('7' in row 3\); a reader hands over places"),
        (X.astype(str), r"column 'a' holds text"),
        (X[:, 0], r"no table of samples and features \(shape \(12,\)\)"),
    ],
    ids=["dates", "durations", "a date", "complex", "sparse complex", "a text", "text", "1-d"],
)
def test_what_is_no_number(table, words):
    with pytest.raises(DatasetError, match=words):
        coded(raw(table), "multiclass")


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix, sparse.dok_matrix, pd.DataFrame])
def test_large_whole_numbers_are_not_merged(storage):
    table = X.astype(np.int64)
    table[3:5, 1] = 2**53, 2**53 + 1
    with pytest.raises(DatasetError, match=r"column 'b' holds 9007199254740993 beside 9007199254740992"):
        coded(raw(storage(table)), "multiclass")
    with pytest.raises(DatasetError, match=r"column 'b' holds 9007199254740993 beside 9007199254740992"):
        coded(raw(table.astype(object)), "multiclass")


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        (
            np.array([1, "1"] * 6, dtype=object),
            "row 1: the class 1 is text in some rows and a number in others",
        ),
        (np.array([np.inf, 1.0] * 6, dtype=object), "row 0: the class label is NaN or infinite"),
        (np.array([b"u", b"v"] * 6), "the classes are bytes"),
        (Y + 1j, "the classes are complex numbers"),
        (np.array([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)] * 6), "the classes are dates"),
    ],
    ids=["1 and '1'", "infinite", "bytes", "complex", "dates"],
)
def test_what_is_no_class(classes, words):
    with pytest.raises(DatasetError, match=words):
        coded(raw(labels=classes), "multiclass")
