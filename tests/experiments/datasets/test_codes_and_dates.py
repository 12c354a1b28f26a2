"""Codes keep apart by their text, text of typed formats is text, and dates are no features: in every format."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rdata
from own_data import block, from_arff, from_csv, from_parquet, loaded
from scipy.io import savemat
from sheets_and_r import RFrame, RTimes, sheets, write_r

from experiments.datasets import DatasetError, RawData, load
from experiments.datasets.classes import classes_of_texts
from experiments.datasets.column_kinds import are_dates
from experiments.datasets.encoding import coded

CODES = ["01", "1", "10", "010"]
BIG = [2**53, 2**53 + 1, 5]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(head, *columns):
    return "\n".join([head, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]) + "\n"


# --- codes in text


@pytest.mark.parametrize("kind", ["csv", "parquet", "arff"])
def test_leading_zeros_keep_nominal_features_apart(kind):
    classes = list("abab")
    if kind == "csv":
        data = from_csv(lines("zip,y", CODES, classes), "dataset.nominal=[zip]")
    elif kind == "parquet":
        data = from_parquet({"zip": CODES, "y": classes}, "dataset.nominal=[zip]")
        assert from_parquet({"zip": CODES, "y": classes}).checksum == data.checksum
    else:
        data = from_arff(["zip {01,1,10,010}", "y {a,b}"], lines("%", CODES, classes))
    assert data.feature_names == ("zip=01", "zip=010", "zip=1", "zip=10")
    assert data.X.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]]


@pytest.mark.parametrize(
    ("texts", "names", "codes"),
    [
        (CODES, ("01", "010", "1", "10"), [0, 2, 3, 1]),
        (["3.1", "3.10", "3.2", "3.1"], ("3.1", "3.10", "3.2"), [0, 1, 2, 0]),
        (
            ["9007199254740992", "9007199254740993", "5", "5"],
            ("5", "9007199254740992", "9007199254740993"),
            [1, 2, 0, 0],
        ),
        (["18446744073709551617", "18446744073709551616", "1e3", "1000"], None, [2, 1, 3, 0]),
        (["1", "1.0", "01", "1e0"], ("01", "1", "1.0", "1e0"), [1, 2, 0, 3]),
        (["10", "9", "-1", "9"], ("-1", "9", "10"), [2, 1, 0, 1]),
        (["01", "02", "10", "01"], ("01", "02", "10"), [0, 1, 2, 0]),
    ],
)
def test_classes_are_told_apart_by_their_text(here, texts, names, codes):
    """In the order of numbers where they are different numbers, as text where they are not."""
    data = from_csv(lines("x,y", [1, 2, 3, 4], texts))
    assert data.y.tolist() == codes and (names is None or data.class_names == names)
    for header in (True, False):
        (here / "d.csv").write_text(
            lines("x,y", [1, 2, 3, 4], texts).partition("\n")[2]
            if not header
            else lines("x,y", [1, 2, 3, 4], texts)
        )
        own = load(block("delimited", "d.csv", header=header, target=1), here)
        assert own.checksum == data.checksum and own.class_names == data.class_names


def test_classes_of_text_in_typed_formats(here):
    expected = ("01", "010", "1", "10")
    assert from_parquet({"x": [1, 2, 3, 4], "y": CODES}).class_names == expected
    assert (
        from_arff(["x numeric", "y {01,1,10,010}"], lines("%", [1, 2, 3, 4], CODES)).class_names == expected
    )
    assert from_arff(["x numeric", "y string"], lines("%", [1, 2, 3, 4], CODES)).class_names == expected
    savemat("t.mat", {"X": np.eye(4) + 1, "y": np.array(CODES, dtype=object)[:, None]})
    typed = ["dataset=mat", "dataset.path=t.mat", "dataset.features=X", "dataset.target=y"]
    assert loaded(*typed).class_names == expected
    rdata.write_rda("t.RData", {"t": {"x": np.eye(4), "y": np.array(CODES)}})
    assert load(block("r_data", "t.RData", variable="t"), here).class_names == expected
    sheets({"X": [["a"], [1.5], [2], [3], [4]], "y": [["y"], *([each] for each in CODES)]})
    assert load(block("spreadsheet", "t.xlsx", features="X", target="y"), here).class_names == expected
    (here / "t.tab").write_text("a\ty\nc\td\n\tclass\n1\t01\n2\t1\n3\t10\n4\t010\n")
    assert load(block("orange_tab", "t.tab"), here).class_names == expected


def test_readable_names_go_by_the_text_or_by_the_number():
    classes, names = classes_of_texts(["01", "02", "3"], {"01": "one", "2": "two"})
    assert classes.tolist() == [1, 2, 3] and names == {"1": "one", "2": "two", "3": "3"}


def test_codes_with_a_decimal_comma(here):
    typed = ["dataset.delimiter=semicolon", "dataset.decimal=','"]
    data = from_csv("x;y\n1;3,1\n2;3,10\n3;3,2\n", *typed)
    assert data.class_names == ("3.1", "3.10", "3.2")
    data = from_csv("z;y\n3,1;u\n3,10;v\n3,2;u\n", *typed, "dataset.nominal=z")
    assert data.feature_names == ("z=3.1", "z=3.10", "z=3.2")


def test_text_that_holds_numbers_is_told_of(caplog):
    from_parquet({"zip": ["1", "2", "2"], "y": list("uvu")})
    assert "column zip is text with numbers in it" in caplog.text


# --- whole numbers beyond 2^53


def test_large_whole_numbers_are_not_merged_as_names(here):
    for data in (
        from_csv(lines("a,y", BIG, "uvu"), "dataset.nominal=a"),
        from_parquet({"a": BIG, "y": list("uvu")}, "dataset.nominal=a"),
        from_parquet(
            {"a": [*BIG, None], "y": list("uvuv")}, "dataset.nominal=a", "dataset.missing=drop_rows"
        ),
        from_csv(
            "a,y\n9007199254740992,u\n9007199254740993,v\n5,u\n,v\n",
            "dataset.nominal=a",
            "dataset.missing=drop_rows",
        ),
    ):
        assert data.feature_names == ("a=5", "a=9007199254740992", "a=9007199254740993")
        assert data.X.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


MERGED = "9007199254740993 .*9007199254740992.* are equal as floats"


def test_large_whole_numbers_are_not_merged_as_numbers(here):
    for text in (lines("a,y", BIG, "uvu"), "a,y\n9007199254740992,u\n9007199254740993,v\n,u\n"):
        with pytest.raises(DatasetError, match=rf"t\.csv, line 3: column 'a' holds {MERGED}.*nominal=\[a\]"):
            from_csv(text, "dataset.missing=most_frequent")
    decimals = pa.array([Decimal(each) for each in BIG])
    for values in (BIG, [*BIG[:2], None], pa.array(BIG, pa.uint64()), decimals):
        with pytest.raises(DatasetError, match=MERGED):
            from_parquet({"a": values, "y": list("uvu")}, "dataset.missing=most_frequent")
    with pytest.raises(DatasetError, match=rf"t\.arff, line 6: attribute 'a' holds {MERGED}"):
        from_arff(["a numeric", "y {u,v}"], "9007199254740992,u\n9007199254740993,v\n")
    (here / "d.csv").write_text(lines("a,y", BIG, [0, 1, 0]))
    with pytest.raises(DatasetError, match=rf"line 3: column 'a' holds {MERGED}"):
        load(block("delimited", "d.csv", header=True, target="y"), here)
    savemat("t.mat", {"X": np.array([[each, 1] for each in BIG], dtype=np.int64), "y": np.array([0, 1, 0])})
    with pytest.raises(DatasetError, match=rf"column 'x1' holds {MERGED}"):
        loaded("dataset=mat", "dataset.path=t.mat", "dataset.features=X", "dataset.target=y")
    (here / "t.svm").write_text("9007199254740992 1:2\n9007199254740993 1:3\n")
    with pytest.raises(DatasetError, match=f"the column of classes holds {MERGED}"):
        loaded("dataset=libsvm", "dataset.path=t.svm")


def test_large_numbers_that_floats_hold_are_numbers():
    values = [2**60, 2**61, 3]
    assert from_csv(lines("a,y", values, "uvu")).X[:, 0].tolist() == values
    assert from_parquet({"a": values, "y": list("uvu")}).X[:, 0].tolist() == values


def test_integer_attributes_keep_their_fractions():
    assert from_arff(["a integer", "y {u,v}"], "1.75,u\n2,v\n").X.tolist() == [[1.75], [2]]


# --- dates


DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)]
TIMES = {
    "date32": (pa.array(DAYS, pa.date32()), "dates"),
    "date64": (pa.array(DAYS, pa.date64()), "dates"),
    "timestamp": (pa.array([datetime.datetime(2020, 1, 1)] * 3), "dates"),
    "zone": (pa.array([datetime.datetime(2020, 1, 1)] * 3, pa.timestamp("us", tz="UTC")), "dates"),
    "categories": (pa.array(DAYS).dictionary_encode(), "dates"),
    "time32": (pa.array([datetime.time(3)] * 3, pa.time32("s")), "times of day"),
    "time64": (pa.array([datetime.time(3)] * 3, pa.time64("us")), "times of day"),
    "duration": (pa.array([datetime.timedelta(3)] * 3), "durations"),
}


@pytest.mark.parametrize("kind", TIMES)
def test_parquet_dates_are_no_features_and_no_classes(kind):
    values, called = TIMES[kind]
    words = rf"'when' holds neither numbers nor text \({called}\)"
    for more in ((), ("dataset.nominal=[when]",)):
        with pytest.raises(DatasetError, match=words + r".*dataset\.leave_out=\[when\]"):
            from_parquet({"when": values, "y": list("uvu")}, *more)
    with pytest.raises(DatasetError, match=words + ".*make text of it"):
        from_parquet({"when": values, "x": [1, 2, 3]}, target="when")
    with_gap = pa.concat_arrays(
        [
            values.dictionary_decode() if kind == "categories" else values,
            pa.nulls(1, TIMES["date32"][0].type if kind == "categories" else values.type),
        ]
    )
    with pytest.raises(DatasetError, match=words):
        from_parquet({"when": with_gap, "y": list("uvuv")}, "dataset.missing=most_frequent")


def test_decimals_are_numbers_and_bytes_are_nothing():
    exact = pa.array([Decimal("1.50"), None, Decimal("3.10")])
    data = from_parquet({"a": exact, "y": list("uvu")}, "dataset.missing=most_frequent")
    assert data.X.tolist() == [[1.5], [1.5], [3.1]] and data.feature_names == ("a",)
    classes = from_parquet({"x": [1, 2, 3], "y": pa.array([Decimal("3.1"), Decimal("3.2"), Decimal("3.1")])})
    assert classes.class_names == ("3.1", "3.2")
    with pytest.raises(DatasetError, match=r"'a' holds neither numbers nor text \(bytes\)"):
        from_parquet({"a": [b"u", b"v", b"u"], "y": list("uvu")})


def test_what_polars_writes():
    frame = pl.DataFrame(
        {
            "when": DAYS,
            "wait": [datetime.timedelta(1)] * 3,
            "kind": pl.Series(list("aba"), dtype=pl.Categorical),
            "y": list("uvu"),
        }
    )
    frame.write_parquet("t.parquet")
    typed = ("dataset=parquet", "dataset.path=t.parquet", "dataset.target=y")
    with pytest.raises(DatasetError, match=r"'when' holds neither.*\(dates\)"):
        loaded(*typed)
    with pytest.raises(DatasetError, match=r"'wait' holds neither.*\(durations\)"):
        loaded(*typed, "dataset.leave_out=[when]")
    assert loaded(*typed, "dataset.leave_out=[when,wait]").feature_names == ("kind=a",)


@pytest.mark.parametrize(
    "cells",
    [
        ("2020-01-01", "2020-01-02", "2020-01-01"),
        ("1.2.2020", "12.10.2021", "1.2.2020"),
        ("2020-01-01T10:00:00Z", "2020-01-01 11:00", "2020-01-01"),
        ("12:30", "01:15:59.5", "12:30"),
        ("5-Jan-2020", "Feb 3, 2021", "5-Jan-2020"),
    ],
)
def test_dates_in_text_are_no_features_unless_they_are_names(cells):
    words = r"'d' holds dates or times such as .*dataset\.leave_out=\[d\].*dataset\.nominal=\[d\]"
    quoted = [f'"{each}"' for each in cells]
    with pytest.raises(DatasetError, match=words):
        from_csv(lines("d,y", quoted, "uvu"))
    with pytest.raises(DatasetError, match=words):
        from_parquet({"d": list(cells), "y": list("uvu")})
    assert from_csv(lines("d,y", quoted, "uvu"), "dataset.nominal=d").X.shape[0] == 3


def test_what_looks_like_a_date_in_part_is_text():
    assert not are_dates(np.array(["2020-01-01", "unknown"])) and not are_dates(np.array(["1-2", "3-4"]))
    assert not are_dates(np.array(["192.168.1.1"])) and not are_dates(np.array([], dtype=str))
    assert not are_dates(np.array(["2020-01/02"])) and are_dates(np.array(["31/12/99"]))


def test_arff_dates_are_refused():
    with pytest.raises(DatasetError, match=r"line 2: attributes of this type are not read.*date"):
        from_arff(["when date 'yyyy-MM-dd'", "y {u,v}"], "2020-01-01,u\n2020-01-02,v\n")


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (DAYS[0], r"neither a number nor text \(dates\).*leave_out=\[1\]"),
        (datetime.time(3, 5), r"neither a number nor text \(times of day\)"),
        (datetime.timedelta(days=2), r"neither a number nor text \((durations|dates)\)"),
        ("01", r"holds '01' as text.*put a number there"),
        (None, r"is empty; put a number there"),
        ("much", r"holds 'much', no finite number"),
    ],
)
def test_cells_of_a_spreadsheet_that_are_no_numbers(here, cell, words):
    sheets({"X": [["a", "b"], [1, 2], [2, cell]], "y": [["y"], [1], [2]]})
    with pytest.raises(
        DatasetError,
        match=rf"sheet 'X', line 3: column 'b' {words}|sheet 'X', line 3: column 'b' holds {words}",
    ):
        load(block("spreadsheet", "t.xlsx", features="X", target="y"), here)
    assert load(
        block("spreadsheet", "t.xlsx", features="X", target="y", leave_out=["b"]), here
    ).X.tolist() == [[1], [2]]


def test_classes_of_a_spreadsheet(here):
    rows = [["a"], [1], [2], [3]]
    sheets({"X": rows, "y": [["y"], ["None"], ["NA"], ["Mild"]]})
    assert load(block("spreadsheet", "t.xlsx", features="X", target="y"), here).class_names == (
        "Mild",
        "NA",
        "None",
    )
    sheets({"X": rows, "y": [["y"], ["u"], [" "], ["v"]], "d": [["y"], [DAYS[0]], [DAYS[1]], [DAYS[0]]]})
    with pytest.raises(DatasetError, match="the classes are dates"):
        load(block("spreadsheet", "t.xlsx", features="X", target="d"), here)


@pytest.mark.parametrize(
    ("kind", "called"), [("Date", "dates"), ("POSIXct", "dates"), ("difftime", "durations")]
)
def test_dates_of_r(here, kind, called):
    days = RTimes(kind, [18262, np.nan, 18262])
    write_r(x=np.eye(3), y=RTimes(kind, [18262, 18263, 18262]))
    with pytest.raises(DatasetError, match=rf"y holds {called}; make text"):
        load(block("r_data", "t.RData", variable="t"), here)
    write_r(x=RFrame(when=days), y=np.array([1, 2, 1]))
    with pytest.raises(DatasetError, match=rf"column 'when' holds {called}; leave it out"):
        load(block("r_data", "t.RData", variable="t"), here)


def test_text_in_a_data_frame_of_r_is_no_number(here):
    classes = np.array([1, 2, 1])
    for column in (pd.Series(["01", "1", "10"], dtype=object), pd.Categorical(["01", "1", "10"])):
        table = pd.DataFrame({"a": [1.5, 2, 3], "zip": column})
        rdata.write_rda("t.RData", {"t": {"x": table, "y": classes}})
        with pytest.raises(
            DatasetError, match=r"column 'zip' holds text; leave it out: dataset\.leave_out=\[1\]"
        ):
            load(block("r_data", "t.RData", variable="t"), here)
        assert load(block("r_data", "t.RData", variable="t", leave_out="zip"), here).X.tolist() == [
            [1.5],
            [2],
            [3],
        ]


def test_dates_from_a_reader_of_ones_own():
    raw = RawData(np.eye(3), np.array(["2020-01-01"] * 3, dtype="M8[D]"), ["a", "b", "c"])
    with pytest.raises(DatasetError, match="the classes are dates"):
        coded(raw, "multiclass")
