"""Missing values of every type, in tables and targets of every type, are seen; those that a mask hides too."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from covering import covered
from every_ranker import ALL, FOREIGN, IGNORING, NAMES, RAISING, RESPONSE, N, P, T, X, Y, each, weights
from samples import assert_weights_equal
from sklearn.base import clone

from reliefe import ReliefF
from reliefe.inputs import is_missing

ROW, COLUMN, LABEL = 5, 2, 1
GAP = np.zeros((N, P), dtype=bool)
GAP[ROW, COLUMN] = True
LABEL_GAP = np.zeros(T.shape, dtype=bool)
LABEL_GAP[ROW, LABEL] = True
HOLE = [position == ROW for position in range(N)]


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
@covered(
    {"ranker": RAISING, "made": WITH_GAP},
    strength=1,
    full={"ranker": ["ReliefF", "TuRF"], "made": ["masked", "sparse columns, NaN not stored"]},
)
def test_a_missing_value_is_placed(ranker, made):
    table = made()
    label = r" \('c'\)" if hasattr(table, "columns") else r"(?! \()"
    with pytest.raises(ValueError, match=rf"Input X contains NaN: sample {ROW}, feature {COLUMN}\b{label}"):
        weights(ranker, table)


@pytest.mark.filterwarnings("error")
@covered(
    {"ranker": IGNORING, "made": WITH_GAP},
    strength=1,
    full={"ranker": ["ReliefF"], "made": ["masked", "sparse columns, NaN not stored"]},
)
def test_a_missing_value_is_ignored_as_nan_is(ranker, made):
    assert_weights_equal(weights(ranker, made()), weights(ranker, np.where(GAP, np.nan, X)))


@each(FOREIGN)
def test_a_masked_value_reaches_a_ranker_of_another_library_as_nan(ranker):
    got = weights(ranker, np.ma.array(_BEHIND, mask=GAP))
    assert np.array_equal(got, weights(ranker, np.where(GAP, np.nan, X)))


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
if hasattr(np.dtypes, "StringDType"):  # numpy 2
    text = np.array(_holes(TEXT), dtype=np.dtypes.StringDType(na_object=None))
    MISSING_TARGETS |= {
        "numpy text": text,
        "numpy text with NaN": text.astype(np.dtypes.StringDType(na_object=np.nan)),
    }


@pytest.mark.filterwarnings("error")
@covered(
    {"ranker": ALL | {"ReliefF ignoring": IGNORING["ReliefF"]}, "target": MISSING_TARGETS},
    strength=1,
    full={
        "ranker": ["ReliefF", "ReliefF regression", "TuRF of a forest"],
        "target": ["masked integers", "dates", "objects, None"],
    },
)
def test_a_missing_label_is_named_by_its_row(ranker, target):
    """Also with missing="ignore", which is about X: a row without a class belongs to none."""
    with pytest.raises(ValueError, match=rf"Input y contains NaN: sample {ROW}\b"):
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
        *([np.array(TEXT, dtype=np.dtypes.StringDType())] if hasattr(np.dtypes, "StringDType") else []),
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
    for target in (RESPONSE + 1j, (RESPONSE + 1j).tolist(), (RESPONSE + 1j).astype(object)):
        with pytest.raises(ValueError, match='y: target="regression" takes numbers only'):
            weights(RAISING["ReliefF regression"], X, target)


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
@covered(
    {"ranker": ALL | {"ReliefF ignoring": IGNORING["ReliefF"]}, "labels": MISSING_LABELS},
    strength=1,
    full={"ranker": ["ReliefF", "ReliefF regression"], "labels": ["masked", "sparse", "objects, None"]},
)
def test_a_missing_label_of_a_matrix_is_placed(ranker, labels):
    with pytest.raises(ValueError, match=rf"Input y contains NaN: sample {ROW}, column {LABEL}\b"):
        weights(ranker, X, labels)


@pytest.mark.parametrize("labels", MISSING_SPARSE_LABELS.values(), ids=MISSING_SPARSE_LABELS)
@each({name: RAISING[name] for name in ("ReliefF", "ReliefE", "TuRF")})
def test_a_missing_label_of_a_sparse_matrix_is_placed(ranker, labels):
    with pytest.raises(ValueError, match=f"Input y contains NaN: sample {ROW}, column {LABEL}"):
        weights(ranker, X, labels)


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_float64_are_infinite():
    huge = np.where(GAP, np.longdouble("1e4000"), X.astype(np.longdouble))
    for table in (huge, sp.csr_matrix(huge), huge.astype(object), pd.DataFrame(huge, columns=NAMES)):
        with pytest.raises(ValueError, match=rf"contains infinity: sample {ROW}, feature {COLUMN}"):
            weights(RAISING["ReliefF"], table)
    with pytest.raises(ValueError, match=f"contains infinity: sample {ROW}, feature {COLUMN}"):
        weights(RAISING["ReliefF"], with_objects(10**400))
    with pytest.raises(ValueError, match=f"Input y contains infinity: sample {ROW}"):
        weights(RAISING["ReliefF regression"], X, np.where(HOLE, np.longdouble("1e4000"), RESPONSE))
