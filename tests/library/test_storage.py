"""Storage of a table or a label matrix changes no weight: sparse data frames, scipy's formats, types of numbers."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from every_ranker import ALL, NAMES, RAISING, N, T, X, Y, each, weights
from samples import LinearMap, assert_weights_equal

from reliefe import SURF, VLS, MultiSURF, ReliefE, ReliefF
from reliefe.inputs import plain_table

FRAME = pd.DataFrame(T, columns=list("abc"))

# ----------------------------------------------------------------------------------------------- sparse data frames


def _wide():
    """Words, numbers and gaps in one table, as ``pandas.get_dummies`` and a join make them."""
    rng = np.random.default_rng(28)
    words = pd.Series(rng.choice(list("abcde"), N))
    dummies = pd.get_dummies(words)
    numbers = pd.DataFrame({"n": rng.normal(size=N), "z": rng.integers(0, 3, N)})
    return words, dummies, numbers


_WORDS, _DUMMIES, _NUMBERS = _wide()


def _filled(value):
    return pd.DataFrame(
        {
            name: pd.arrays.SparseArray(column, fill_value=value)
            for name, column in zip(NAMES, X.T, strict=True)
        }
    )


SPARSEFRAMES = {
    "dummies": (pd.get_dummies(_WORDS, sparse=True), _DUMMIES),
    "dummies of integers": (pd.get_dummies(_WORDS, sparse=True, dtype=np.uint8), _DUMMIES),
    "dummies of numbers": (pd.get_dummies(_WORDS, sparse=True, dtype=float), _DUMMIES),
    "dummies beside numbers": (
        pd.concat([pd.get_dummies(_WORDS, sparse=True), _NUMBERS], axis=1),
        pd.concat([_DUMMIES, _NUMBERS], axis=1),
    ),
    "numbers first": (
        pd.concat(
            [_NUMBERS.astype({"z": "Int64"}), pd.get_dummies(_WORDS, sparse=True, dtype="int8")], axis=1
        ),
        pd.concat([_NUMBERS, _DUMMIES], axis=1),
    ),
    "0 not stored": (_filled(0.0), X),
    "2 not stored": (_filled(2.0), X),
    "another value not stored": (_filled(7.5), X),
    "NaN not stored": (_filled(np.nan), X),
    "values not stored differ": (_filled(0.0).assign(b=_filled(2.0)["b"], d=_filled(np.nan)["d"]), X),
    "True not stored": (
        pd.DataFrame({n: pd.arrays.SparseArray(X[:, j] > 1, fill_value=True) for j, n in enumerate(NAMES)}),
        X > 1,
    ),
    "from scipy": (pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X)), X),
    "nothing stored": (_filled(0.0).assign(a=pd.arrays.SparseArray(np.zeros(N))), X * [0, 1, 1, 1]),
}


@pytest.mark.filterwarnings("ignore:.*have no near miss")  # TuRF's last features, on 30 samples
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("frame", "dense"), SPARSEFRAMES.values(), ids=SPARSEFRAMES)
@each(
    {
        name: RAISING[name]
        for name in RAISING
        if "E" not in name and "embedding" not in RAISING[name].get_params()
    }
)
def test_sparse_data_frames_have_the_weights_of_dense_ones(ranker, frame, dense):
    dense = np.asarray(dense, dtype=float)
    before = frame.copy(deep=True)
    np.testing.assert_allclose(weights(ranker, frame), weights(ranker, dense), rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(("frame", "dense"), SPARSEFRAMES.values(), ids=SPARSEFRAMES)
def test_sparse_data_frames_with_an_embedding(frame, dense):
    dense = np.asarray(dense, dtype=float)
    first_two = LinearMap(np.eye(dense.shape[1])[:, :2])
    for ranker in (
        ReliefE(3, embedding=first_two),
        SURF(embedding=first_two),
        MultiSURF(embedding=first_two),
    ):
        ranker.set_params(metric="euclidean", sparsify_above=1.0)
        np.testing.assert_allclose(weights(ranker, frame), weights(ranker, dense), rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("frame", "dense"), SPARSEFRAMES.values(), ids=SPARSEFRAMES)
@pytest.mark.parametrize("output", ["default", "pandas"])
def test_sparse_data_frames_are_transformed(frame, dense, output):
    dense = np.asarray(dense, dtype=float)
    ranker = ReliefF(3, n_features_to_select=2).fit(frame, Y)
    ranker.set_output(transform=output)
    got = ranker.transform(frame)
    if hasattr(got, "columns") and isinstance(frame.columns[0], str):
        assert list(got.columns) == list(frame.columns[ranker.get_support()])
    got = got.toarray() if sp.issparse(got) else np.asarray(got, dtype=float)
    np.testing.assert_array_equal(got, dense[:, ranker.get_support()])


def test_sparse_columns_stay_sparse():
    """20,000 rows by 3,000 columns are half a gigabyte when dense."""
    one = pd.get_dummies(pd.Series(np.arange(20_000) % 3_000), sparse=True, dtype=np.int8)
    table = plain_table(one.assign(n=1.0 + np.arange(20_000)))
    assert sp.issparse(table) and table.nnz == 40_000 and table.dtype == np.float64
    assert sp.issparse(plain_table(one)) and plain_table(one).nnz == 20_000
    assert isinstance(plain_table(_filled(7.5)), np.ndarray)


@pytest.mark.parametrize(
    "labels",
    [
        np.ma.array(T),
        list(np.ma.array(T)),
        FRAME.astype("boolean"),
        FRAME.astype("bool[pyarrow]"),
        FRAME.astype({"b": "boolean", "c": bool}),
        FRAME.astype("Sparse[int]"),
        FRAME.astype("Sparse[bool]"),
        FRAME.astype({"a": "Sparse[bool]"}),
        pd.DataFrame({name: pd.arrays.SparseArray(FRAME[name], fill_value=1) for name in "abc"}),
        pl.DataFrame(FRAME.to_dict("list")),
        pa.table(FRAME.to_dict("list")),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_label_matrices_of_these_types(labels):
    assert np.array_equal(weights(RAISING["ReliefF"], X, labels), weights(RAISING["ReliefF"], X, T))


# --------------------------------------------------------------------------------------------- formats and types

FORMATS = [
    f"{form}_{kind}"
    for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    for kind in ("matrix", "array")
]
TYPES = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d", "g"]
SPARSE_X = X * (np.random.default_rng(38).random(X.shape) < 0.5)


@cache
def dense_weights(name, dtype):
    return weights(ALL[name], SPARSE_X.astype(dtype).astype(float))


@cache
def weights_of_labels(name):
    return weights(ALL[name], X, T)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format_and_type_has_the_weights_of_dense_rows(form, dtype):
    dense = SPARSE_X.astype(dtype)
    made = getattr(sp, form)(dense)
    for name in ALL if dtype == "l" else ["ReliefF", "MultiSURF"]:
        expected = dense_weights(name, dtype)
        np.testing.assert_allclose(weights(ALL[name], made), expected, rtol=0, atol=1e-12, err_msg=name)
    selected = ReliefF(3, n_features_to_select=2).fit(made, Y)
    got = selected.transform(made)
    assert np.array_equal(got.toarray(), dense[:, selected.get_support()])
    assert made.dtype == dense.dtype and np.array_equal(made.toarray(), dense)


@pytest.mark.parametrize("dtype", [*TYPES, "e"])
def test_every_type_of_dense_rows(dtype):
    dense = SPARSE_X.astype(dtype)
    for name in ALL if dtype == "l" else ["ReliefF", "MultiSURF"]:
        for order in "CF":
            table = np.array(dense, order=order)
            assert np.array_equal(weights(ALL[name], table), dense_weights(name, dtype)), name


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format_and_type_of_labels(form, dtype):
    labels = getattr(sp, form)(T.astype(dtype))
    for name in ("ReliefF", "ReliefE", "VLS") if dtype == "l" else ("ReliefF",):
        assert np.array_equal(weights(ALL[name], X, labels), weights_of_labels(name)), name


@pytest.mark.parametrize("form", FORMATS)
def test_half_precision_values_put_into_a_sparse_matrix(form):
    """Scipy makes no such matrix, but keeps values that are put into one."""
    made = getattr(sp, form)(SPARSE_X)
    if made.format in ("dok", "lil"):
        with pytest.raises(ValueError, match="float16"):
            made.astype(np.float16)
        return
    made.data = made.data.astype(np.float16)
    np.testing.assert_allclose(
        weights(RAISING["ReliefF"], made), weights(RAISING["ReliefF"], SPARSE_X), rtol=0, atol=1e-12
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_are_refused(form, dtype):
    made = getattr(sp, form)(SPARSE_X.astype(dtype))
    with pytest.raises(ValueError, match="Complex data not supported: X holds complex numbers"):
        weights(RAISING["ReliefF"], made)
    with pytest.raises(ValueError, match="Complex data not supported: y holds complex numbers"):
        weights(RAISING["ReliefF"], X, getattr(sp, form)(T.astype(dtype)))


@pytest.mark.parametrize("form", ["bsr", "coo", "csc", "csr"])
def test_true_stored_twice_is_true(form):
    """As ``toarray`` has it, in rows and in labels."""
    rows, columns = np.nonzero(SPARSE_X)
    twice = sp.coo_matrix(
        (np.ones(2 * len(rows), dtype=bool), (np.tile(rows, 2), np.tile(columns, 2))), shape=X.shape
    )
    made = twice if form == "coo" else twice.asformat(form)
    assert_weights_equal(weights(RAISING["ReliefF"], made), weights(RAISING["ReliefF"], SPARSE_X > 0))
    ends = np.concatenate([[0], np.cumsum(2 * T.sum(axis=1))])
    places = np.concatenate([np.repeat(np.flatnonzero(row), 2) for row in T])
    labels = sp.csr_matrix((np.ones(len(places), dtype=bool), places, ends), shape=T.shape)
    assert np.array_equal(weights(RAISING["ReliefF"], X, labels), weights(RAISING["ReliefF"], X, T))
    assert labels.nnz == len(places)


@pytest.mark.parametrize("ranker", [ReliefF(3), ReliefF(3, target="regression"), SURF(), VLS()])
def test_a_sparse_target_of_one_dimension_is_told_what_to_be(ranker):
    with pytest.raises(ValueError, match=r"y is (a )?sparse"):
        ranker.fit(X, sp.coo_array(Y))
