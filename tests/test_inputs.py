"""Tables and targets in any clothes: what is missing is seen in all of them, and storage changes no weight."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from samples import LinearMap, assert_weights_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from reliefe import SURF, VLS, MultiSURF, MultiSURFStar, ReliefE, ReliefF, SURFStar, TuRF
from reliefe.inputs import is_missing, plain_table

N, P = 30, 4
_RNG = np.random.default_rng(18)
X = _RNG.integers(0, 4, (N, P)).astype(float)
Y = np.arange(N) % 2
RESPONSE = _RNG.integers(0, 9, N)
T = (_RNG.random((N, 3)) < 0.5).astype(int)
ROW, COLUMN, LABEL = 5, 2, 1
GAP = np.zeros((N, P), dtype=bool)
GAP[ROW, COLUMN] = True
LABEL_GAP = np.zeros(T.shape, dtype=bool)
LABEL_GAP[ROW, LABEL] = True
NAMES = list("abcd")
HOLE = [position == ROW for position in range(N)]

IGNORING = {
    "ReliefF": ReliefF(3, missing="ignore"),
    "ReliefF adaptive": ReliefF("adaptive", abs_mean=True, missing="ignore"),
    "ReliefF regression": ReliefF(3, target="regression", missing="ignore"),
    "SURF": SURF(missing="ignore"),
    "SURFStar": SURFStar(missing="ignore"),
    "MultiSURF": MultiSURF(missing="ignore"),
    "MultiSURFStar": MultiSURFStar(missing="ignore"),
    "TuRF": TuRF(MultiSURF(missing="ignore"), removed=1),
    "VLS": VLS(ReliefF(3, missing="ignore"), subset_size=2, random_state=0),
}
RAISING = {
    "ReliefF": ReliefF(3),
    "ReliefF regression": ReliefF(3, target="regression"),
    "ReliefE": ReliefE(3, embedding=LinearMap(np.eye(P)[:, :2]), metric="euclidean", sparsify_above=1.0),
    "SURF": SURF(),
    "SURFStar": SURFStar(),
    "MultiSURF": MultiSURF(),
    "MultiSURFStar": MultiSURFStar(
        embedding=LinearMap(np.eye(P)[:, :2]), metric="euclidean", sparsify_above=1.0
    ),
    "TuRF": TuRF(MultiSURF(), removed=1),
    "VLS": VLS(ReliefF(3), subset_size=2, random_state=0),
}
FOREIGN = {
    "TuRF of a forest": TuRF(RandomForestClassifier(5, random_state=0), removed=2),
    "VLS of a forest": VLS(RandomForestClassifier(5, random_state=0), subset_size=2, random_state=0),
}
ALL = RAISING | FOREIGN


def each(rankers):
    return pytest.mark.parametrize("ranker", rankers.values(), ids=rankers)


def target_of(ranker):
    return RESPONSE if getattr(ranker, "target", None) == "regression" else Y


def weights(ranker, table, target=None):
    return clone(ranker).fit(table, target_of(ranker) if target is None else target).feature_importances_


def with_objects(value):
    table = X.astype(object)
    table[ROW : ROW + 1, COLUMN] = [value]
    return table


def frame_of(dtype):
    """All columns of one type that knows missing values."""
    gap = [None if hole else value for hole, value in zip(HOLE, X[:, COLUMN], strict=True)]
    return pd.DataFrame(
        {name: pd.array(gap if j == COLUMN else X[:, j], dtype=dtype) for j, name in enumerate(NAMES)}
    )


# -------------------------------------------------------------------------------------- missing values of a table

_BEHIND = np.where(GAP, 1e6, X)  # what a mask hides
MISSING = [
    None,
    pd.NA,
    pd.NaT,
    np.nan,
    np.float32("nan"),
    Decimal("NaN"),
    Decimal("sNaN"),
    np.datetime64("NaT"),
]
WITH_GAP = {
    "masked": lambda: np.ma.array(_BEHIND, mask=GAP),
    "masked, Fortran order": lambda: np.ma.array(np.asfortranarray(_BEHIND), mask=GAP),
    "masked float32": lambda: np.ma.array(_BEHIND.astype(np.float32), mask=GAP),
    "masked integers": lambda: np.ma.array(_BEHIND.astype(int), mask=GAP),
    "masked int8": lambda: np.ma.array(np.where(GAP, 100, X).astype(np.int8), mask=GAP),
    "masked infinity": lambda: np.ma.array(np.where(GAP, np.inf, X), mask=GAP),
    "masked text": lambda: np.ma.array(with_objects("text"), mask=GAP),
    "rows that are masked": lambda: list(np.ma.array(_BEHIND.astype(int), mask=GAP)),
    "a list with a masked value": lambda: [
        [np.ma.masked if GAP[i, j] else int(X[i, j]) for j in range(P)] for i in range(N)
    ],
    "CSR of which the values are masked": lambda: _masked_csr(),
    **{f"objects, {value!r}": lambda value=value: with_objects(value) for value in MISSING},
    **{f"a list, {value!r}": lambda value=value: with_objects(value).tolist() for value in MISSING},
    **{
        f"a frame of objects, {value!r}": lambda value=value: pd.DataFrame(with_objects(value), columns=NAMES)
        for value in MISSING
    },
    **{
        dtype: lambda dtype=dtype: frame_of(dtype)
        for dtype in ("Int64", "UInt8", "Float64", "Float32", "int64[pyarrow]", "double[pyarrow]")
    },
    "one column of a frame": lambda: pd.DataFrame(X, columns=NAMES).assign(c=frame_of("Int64")["c"]),
    "categories": lambda: pd.DataFrame(X, columns=NAMES).mask(GAP).astype({"c": "category"}),
    "sparse columns, NaN not stored": lambda: (
        pd.DataFrame(X, columns=NAMES).mask(GAP).astype("Sparse[float]")
    ),
    "sparse columns, 0 not stored": lambda: pd.DataFrame(
        {
            name: pd.arrays.SparseArray(column, fill_value=0.0)
            for name, column in zip(NAMES, np.where(GAP, np.nan, X).T, strict=True)
        }
    ),
    "polars": lambda: pl.DataFrame(frame_of("Float64").astype(object).where(~GAP, None).to_dict("list")),
    "polars integers": lambda: pl.DataFrame(
        {name: [None if GAP[i, j] else int(X[i, j]) for i in range(N)] for j, name in enumerate(NAMES)}
    ),
    "Arrow": lambda: pa.table(
        {name: [None if GAP[i, j] else X[i, j] for i in range(N)] for j, name in enumerate(NAMES)}
    ),
}


def _masked_csr():
    table = sp.csr_matrix(_BEHIND)
    table.data = np.ma.array(table.data, mask=table.data == 1e6)
    return table


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("made", WITH_GAP.values(), ids=WITH_GAP)
@each(RAISING)
def test_a_missing_value_is_placed(ranker, made):
    table = made()
    label = r" \('c'\)" if hasattr(table, "columns") else r"(?! \()"
    with pytest.raises(ValueError, match=rf"Input X contains NaN: row {ROW}, column {COLUMN}\b{label}"):
        weights(ranker, table)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("made", WITH_GAP.values(), ids=WITH_GAP)
@each(IGNORING | FOREIGN)
def test_a_missing_value_is_ignored_as_nan_is(ranker, made):
    assert_weights_equal(weights(ranker, made()), weights(ranker, np.where(GAP, np.nan, X)))


def test_what_lies_behind_a_mask_decides_nothing_and_stays():
    behind = [np.ma.array(np.where(GAP, hidden, X), mask=GAP) for hidden in (0.0, 1e6, -np.inf)]
    found = [weights(IGNORING["ReliefF"], table) for table in behind]
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])
    assert behind[1].data[ROW, COLUMN] == 1e6 and behind[1].mask.sum() == 1


@pytest.mark.parametrize("mask", [np.ma.nomask, np.zeros((N, P), dtype=bool)], ids=["no mask", "all False"])
@pytest.mark.parametrize("dtype", [float, int, np.int8, bool])
@each(ALL)
def test_a_mask_that_hides_nothing(ranker, dtype, mask):
    plain = X.astype(dtype)
    assert np.array_equal(weights(ranker, np.ma.array(plain, mask=mask)), weights(ranker, plain))


@pytest.mark.parametrize("value", [*MISSING, np.ma.masked, np.timedelta64("NaT"), float("nan")])
def test_single_values_that_are_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize(
    "value", [0, 0.0, "", "nan", "None", False, np.inf, Decimal(1), np.array([np.nan, 1]), [], ()]
)
def test_single_values_that_are_not(value):
    assert not is_missing(value)


@pytest.mark.parametrize("made", WITH_GAP.values(), ids=WITH_GAP)
def test_transform_sees_missing_values_too(made):
    """Behind a mask there is nothing to be selected."""
    table = made()
    names = NAMES if hasattr(table, "columns") else None
    plain = np.where(GAP, np.nan, X)
    ignoring = IGNORING["ReliefF"]
    fitted = clone(ignoring).set_params(n_features_to_select=3).fit(table, Y)
    got = fitted.transform(table)
    got = np.asarray(got.toarray() if sp.issparse(got) else got, dtype=float)
    np.testing.assert_array_equal(got, plain[:, fitted.get_support()])
    strict = ReliefF(3).fit(X if names is None else pd.DataFrame(X, columns=names), Y)
    with pytest.raises(ValueError, match="contains NaN"):
        strict.transform(table)


def test_inverse_transform_sees_a_mask():
    fitted = ReliefF(3, n_features_to_select=2).fit(X, Y)
    kept = np.ma.array(fitted.transform(X), mask=np.zeros((N, 2)))
    assert np.array_equal(fitted.inverse_transform(kept), fitted.inverse_transform(kept.data))
    kept[0, 0] = np.ma.masked
    with pytest.raises(ValueError, match="contains NaN"):
        fitted.inverse_transform(kept)


NO_NUMBERS = {
    "dates": (pd.date_range("2020-01-01", periods=N), ValueError, "column 'c' holds dates or times"),
    "times with a zone": (
        pd.date_range("2020", periods=N, tz="UTC"),
        ValueError,
        "column 'c' holds dates or times",
    ),
    "Arrow's times": (
        pd.Series(pd.date_range("2020", periods=N)).astype("timestamp[ns][pyarrow]"),
        ValueError,
        "column 'c' holds dates or times",
    ),
    "durations": (pd.timedelta_range("1s", periods=N), ValueError, "column 'c' holds dates or times"),
    "periods": (pd.period_range("2020", periods=N), TypeError, "column 'c' holds Period"),
    "complex numbers": (X[:, 2] + 1j, ValueError, "Complex data not supported: X: column 'c'"),
    "complex objects": (
        (X[:, 2] + 1j).astype(object),
        ValueError,
        "Complex data not supported: X: column 'c'",
    ),
    "text": (pd.array(["a"] * N, dtype="string"), ValueError, r"column 'c' holds text \('a' in row 0\)"),
    "Arrow's text": (pd.array([None, *"b" * (N - 1)], dtype="string[pyarrow]"), ValueError, "'b' in row 1"),
    "sparse text": (
        pd.arrays.SparseArray([*"a" * 7, *"b" * (N - 7)], fill_value="a"),
        ValueError,
        "'a' in row 0",
    ),
    "lists": ([[1]] * N, TypeError, r"column 'c' holds \[1\] in row 0"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("column", "error", "message"), NO_NUMBERS.values(), ids=NO_NUMBERS)
@each({name: ALL[name] for name in ("ReliefF", "MultiSURF", "TuRF of a forest")})
def test_columns_that_hold_no_numbers(ranker, column, error, message):
    table = pd.DataFrame(X, columns=NAMES).assign(c=column)
    with pytest.raises(error, match=message):
        weights(ranker, table)


# --------------------------------------------------------------------------------- missing values of a target


def labels_with(value):
    labels = np.array(["a", "b"], dtype=object)[Y]
    labels[ROW : ROW + 1] = [value]
    return labels


DAYS = np.datetime64("2020-01-01") + Y
SPANS = Y * np.timedelta64(5, "D")
TEXT = np.array(["a", "b"])[Y]


def _nat(values):
    values = values.copy()
    values[ROW] = "NaT"
    return values


def _holes(values):
    return [None if hole else value for hole, value in zip(HOLE, values.tolist(), strict=True)]


MISSING_TARGETS = {
    "dates": _nat(DAYS),
    "durations": _nat(SPANS),
    "Series of dates": pd.Series(_nat(DAYS)),
    "dates with a zone": pd.Series(_nat(DAYS)).dt.tz_localize("UTC"),
    "Series of durations": pd.Series(_nat(SPANS)),
    "periods": pd.Series(_nat(DAYS)).dt.to_period("D"),
    "string": pd.Series(labels_with(pd.NA), dtype="string"),
    "str": pd.Series(labels_with(None), dtype="str"),
    "boolean": pd.Series(_holes(Y == 1), dtype="boolean"),
    "Int64": pd.Series(_holes(Y), dtype="Int64"),
    "Arrow integers": pd.Series(_holes(Y), dtype="int64[pyarrow]"),
    "Arrow text": pd.Series(labels_with(None), dtype="string[pyarrow]"),
    "Arrow booleans": pd.Series(_holes(Y == 1), dtype="bool[pyarrow]"),
    "Arrow times": pd.Series(_nat(DAYS)).astype("timestamp[ns][pyarrow]"),
    "Arrow dates": pd.Series(_holes(DAYS), dtype=pd.ArrowDtype(pa.date32())),
    "Arrow array": pa.array(_holes(TEXT)),
    "Arrow chunks": pa.chunked_array([_holes(Y)]),
    "categories": pd.Series(labels_with(None)).astype("category"),
    "categories of numbers": pd.Series(_holes(Y)).astype("category"),
    "sparse": pd.Series(pd.arrays.SparseArray(np.where(HOLE, np.nan, Y))),
    "polars text": pl.Series(_holes(TEXT)),
    "polars integers": pl.Series(_holes(Y)),
    "polars booleans": pl.Series(_holes(Y == 1)),
    "polars dates": pl.Series(
        [None if hole else datetime.date(2020, 1, 1 + c) for hole, c in zip(HOLE, Y, strict=True)]
    ),
    "numpy text": np.array(_holes(TEXT), dtype=np.dtypes.StringDType(na_object=None)),
    "numpy text with NaN": np.array(_holes(TEXT), dtype=np.dtypes.StringDType(na_object=None)).astype(
        np.dtypes.StringDType(na_object=np.nan)
    ),
    "masked integers": np.ma.array(Y, mask=HOLE),
    "masked booleans": np.ma.array(Y == 1, mask=HOLE),
    "masked text": np.ma.array(TEXT, mask=HOLE),
    "masked objects": np.ma.array(TEXT.astype(object), mask=HOLE),
    "masked dates": np.ma.array(DAYS, mask=HOLE),
    "masked floats": np.ma.array(np.where(HOLE, 1e6, Y), mask=HOLE),
    "a list with a masked value": [np.ma.masked if hole else int(c) for hole, c in zip(HOLE, Y, strict=True)],
    **{f"objects, {value!r}": labels_with(value) for value in [*MISSING, np.timedelta64("NaT")]},
    **{f"a list, {value!r}": list(labels_with(value)) for value in MISSING},
    **{f"an Index, {value!r}": pd.Index(labels_with(value)) for value in MISSING[:4]},
    **{
        f"numbers and {value!r}": [value if hole else int(c) for hole, c in zip(HOLE, Y, strict=True)]
        for value in MISSING
    },
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("target", MISSING_TARGETS.values(), ids=MISSING_TARGETS)
@each(ALL | {"ReliefF ignoring": IGNORING["ReliefF"]})
def test_a_missing_label_is_named_by_its_row(ranker, target):
    """Also with missing="ignore", which is about X: a row without a class belongs to none."""
    with pytest.raises(ValueError, match=rf"Input y contains NaN: row {ROW}\b"):
        weights(ranker, X, target)


@pytest.mark.parametrize(
    "target",
    [
        np.ma.array(Y),
        np.ma.array(Y, mask=np.zeros(N, dtype=bool)),
        np.ma.array(TEXT),
        DAYS,
        SPANS,
        pd.Series(DAYS),
        pd.Series(DAYS).astype("timestamp[s][pyarrow]"),
        pd.Series(TEXT, dtype="string[pyarrow]"),
        pd.Series(Y == 1, dtype="bool[pyarrow]"),
        pd.Series(pd.arrays.SparseArray(Y)),
        np.array(TEXT, dtype=np.dtypes.StringDType()),
        pl.Series(TEXT.tolist()),
        pa.array(TEXT.tolist()),
    ],
    ids=lambda target: f"{type(target).__name__} {getattr(target, 'dtype', '')}",
)
def test_labels_of_these_types_without_a_gap(target):
    assert np.array_equal(weights(RAISING["ReliefF"], X, target), weights(RAISING["ReliefF"], X))


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_dates_as_a_numeric_target_are_their_distances(unit):
    """To the nanosecond, which float64 cannot tell apart in times of this century."""
    ranker = RAISING["ReliefF regression"]
    days = (np.datetime64("2020-01-01", unit) + RESPONSE.astype(f"m8[{unit}]")).astype(f"M8[{unit}]")
    assert np.array_equal(weights(ranker, X, days), weights(ranker, X, RESPONSE))
    spans = RESPONSE.astype(f"m8[{unit}]")
    assert np.array_equal(weights(ranker, X, spans), weights(ranker, X, RESPONSE))


def test_complex_numbers_are_no_numeric_target():
    with pytest.raises(ValueError, match="takes numbers only"):
        weights(RAISING["ReliefF regression"], X, RESPONSE + 1j)


def label_objects(value):
    labels = T.astype(object)
    labels[ROW : ROW + 1, LABEL] = [value]
    return labels


_FRAME = pd.DataFrame(T, columns=list("abc"))
MISSING_LABELS = {
    "masked": np.ma.array(T, mask=LABEL_GAP),
    "masked booleans": np.ma.array(T == 1, mask=LABEL_GAP),
    "rows that are masked": list(np.ma.array(T, mask=LABEL_GAP)),
    "a list with a masked value": [
        [np.ma.masked if LABEL_GAP[i, j] else int(T[i, j]) for j in range(3)] for i in range(N)
    ],
    "boolean": _FRAME.astype("boolean").mask(LABEL_GAP),
    "one boolean column": _FRAME.astype({"b": "boolean"}).mask(LABEL_GAP),
    "Int8": _FRAME.astype("Int8").mask(LABEL_GAP),
    "Arrow booleans": _FRAME.astype("bool[pyarrow]").mask(LABEL_GAP),
    "floats": _FRAME.mask(LABEL_GAP),
    "sparse": _FRAME.astype(float).mask(LABEL_GAP).astype("Sparse[float]"),
    "dates": np.where(LABEL_GAP, np.datetime64("NaT"), np.datetime64("2020-01-01") + T),
    **{f"objects, {value!r}": label_objects(value) for value in MISSING},
    **{f"a list, {value!r}": label_objects(value).tolist() for value in MISSING},
}
MISSING_SPARSE_LABELS = {
    form: getattr(sp, f"{form}_matrix")(np.where(LABEL_GAP, np.nan, T))
    for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("labels", MISSING_LABELS.values(), ids=MISSING_LABELS)
@each(ALL | {"ReliefF ignoring": IGNORING["ReliefF"]})
def test_a_missing_label_of_a_matrix_is_placed(ranker, labels):
    with pytest.raises(ValueError, match=rf"Input y contains NaN: row {ROW}, column {LABEL}\b"):
        weights(ranker, X, labels)


@pytest.mark.parametrize("labels", MISSING_SPARSE_LABELS.values(), ids=MISSING_SPARSE_LABELS)
@each({name: RAISING[name] for name in ("ReliefF", "ReliefE", "TuRF")})
def test_a_missing_label_of_a_sparse_matrix_is_placed(ranker, labels):
    with pytest.raises(ValueError, match=f"Input y contains NaN in row {ROW}, column {LABEL}"):
        weights(ranker, X, labels)


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


SPARSE_FRAMES = {
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
    "columns of one name": (_filled(0.0).set_axis(list("aabb"), axis=1), X),
    "from scipy": (pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X)), X),
    "nothing stored": (_filled(0.0).assign(a=pd.arrays.SparseArray(np.zeros(N))), X * [0, 1, 1, 1]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("frame", "dense"), SPARSE_FRAMES.values(), ids=SPARSE_FRAMES)
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


@pytest.mark.parametrize(("frame", "dense"), SPARSE_FRAMES.values(), ids=SPARSE_FRAMES)
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
@pytest.mark.parametrize(("frame", "dense"), SPARSE_FRAMES.values(), ids=SPARSE_FRAMES)
@pytest.mark.parametrize("output", ["default", "pandas"])
def test_sparse_data_frames_are_transformed(frame, dense, output):
    dense = np.asarray(dense, dtype=float)
    ranker = ReliefF(3, n_features_to_select=2).set_output(transform="default").fit(frame, Y)
    if output == "pandas" and frame.columns.is_unique and ranker.n_features_in_ == frame.shape[1]:
        ranker.set_output(transform="pandas")
    got = ranker.transform(frame)
    if hasattr(got, "columns"):
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
        _FRAME.astype("boolean"),
        _FRAME.astype("bool[pyarrow]"),
        _FRAME.astype({"b": "boolean", "c": bool}),
        _FRAME.astype("Sparse[int]"),
        _FRAME.astype("Sparse[bool]"),
        _FRAME.astype({"a": "Sparse[bool]"}),
        pd.DataFrame({name: pd.arrays.SparseArray(_FRAME[name], fill_value=1) for name in "abc"}),
        pl.DataFrame(_FRAME.to_dict("list")),
        pa.table(_FRAME.to_dict("list")),
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


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format_and_type_has_the_weights_of_dense_rows(form, dtype):
    dense = SPARSE_X.astype(dtype)
    made = getattr(sp, form)(dense)
    for name, ranker in ALL.items():
        expected = weights(ranker, dense.astype(float))
        np.testing.assert_allclose(weights(ranker, made), expected, rtol=0, atol=1e-12, err_msg=name)
    selected = ReliefF(3, n_features_to_select=2).fit(made, Y)
    got = selected.transform(made)
    assert np.array_equal(got.toarray(), dense[:, selected.get_support()])
    assert made.dtype == dense.dtype and np.array_equal(made.toarray(), dense)


@pytest.mark.parametrize("dtype", [*TYPES, "e"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_type_of_dense_rows(dtype, order):
    dense = np.array(SPARSE_X, dtype=dtype, order=order)
    for name, ranker in ALL.items():
        assert np.array_equal(weights(ranker, dense), weights(ranker, dense.astype(float))), name


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format_and_type_of_labels(form, dtype):
    labels = getattr(sp, form)(T.astype(dtype))
    for name in ("ReliefF", "ReliefE", "TuRF", "VLS"):
        assert np.array_equal(weights(RAISING[name], X, labels), weights(RAISING[name], X, T)), name


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


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_float64_are_infinite():
    huge = np.where(GAP, np.longdouble("1e4000"), X.astype(np.longdouble))
    for table in (huge, sp.csr_matrix(huge), huge.astype(object), pd.DataFrame(huge, columns=NAMES)):
        with pytest.raises(ValueError, match=rf"contains infinity: row {ROW}, column {COLUMN}"):
            weights(RAISING["ReliefF"], table)
    with pytest.raises(ValueError, match=f"contains infinity: row {ROW}, column {COLUMN}"):
        weights(RAISING["ReliefF"], with_objects(10**400))
    with pytest.raises(ValueError, match=f"Input y contains infinity: row {ROW}"):
        weights(RAISING["ReliefF regression"], X, np.where(HOLE, np.longdouble("1e4000"), RESPONSE))
