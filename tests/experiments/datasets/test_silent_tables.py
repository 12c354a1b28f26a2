"""Tables that were read without a word, and wrongly: large numbers, words with blanks, times of R, odd targets."""

import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from own_data import block, from_csv, from_parquet, loaded
from sheets_and_r import RFrame, RTimes, sheets, write_r

from experiments.datasets import RawData, load
from experiments.datasets.classes import is_numeric_target
from experiments.datasets.encoding import coded
from experiments.datasets.names import is_nameless
from experiments.datasets.table import read_table
from experiments.errors import DatasetError

FIRST, SECOND = 2**53, 2**53 + 1


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def libsvm(text, *more):
    Path("t.svm").write_text(text)
    return loaded("dataset=libsvm", "dataset.path=t.svm", *more)


def cluto(here, table, classes="1 0 1\n0 1 0\n", **source):
    Path("t.mat").write_text(table)
    Path("t.rclass").write_text(classes)
    stated = block("cluto", "", files=[{"path": "t.mat"}, {"path": "t.rclass"}], **source)
    del stated["source"]["path"]
    return load(stated, here)


# --- whole numbers beyond 2^53


def test_large_values_of_libsvm_are_not_merged(here):
    with pytest.raises(DatasetError, match=rf"t\.svm, line 3: column 2 holds {SECOND} beside {FIRST}"):
        libsvm(f"0 1:1 2:{FIRST}\n1 1:{SECOND}\n0 1:1 2:{SECOND} # {FIRST}\n")
    apart = libsvm(f"0 1:1 2:{FIRST}\n1 1:{SECOND}\n0 1:1 2:{FIRST}.0\n")
    assert apart.X[0, 1] == apart.X[2, 1] == FIRST and apart.X[1, 1] == 0


def test_large_values_of_cluto_are_not_merged(here):
    with pytest.raises(DatasetError, match=rf"t\.mat, line 4: column 1 holds {SECOND} beside {FIRST}"):
        cluto(here, f"3 2\n2 0 1 1 {FIRST}\n1 0 2\n1 1 {SECOND}\n")
    assert cluto(here, f"3 2\n2 0 1 1 {FIRST}\n1 0 {SECOND}\n1 1 {FIRST}\n").X[0, 1] == FIRST


# --- dates and times


@pytest.mark.parametrize(
    "kind", ["IDate", "ITime", "hms", "dates", "chron", "times", "yearmon", "yearqtr", "integer64"]
)
def test_classes_of_packages_of_r_are_refused(here, kind):
    write_r(x=RFrame(when=RTimes(kind, [3, np.nan, 5])), y=np.array([1, 2, 1]))
    with pytest.raises(DatasetError, match=rf"R's class {kind} are not read; convert"):
        load(block("r_data", "t.RData", variable="t"), here)


# --- missing or not


def test_blanks_after_a_word_that_means_missing(here):
    rows = "NA ,1,u\nMild,2 ,v\nMild, 3,u\n"
    with pytest.raises(DatasetError, match=r"line 2, column 'c' is missing \('NA' means that"):
        from_csv("c,a,y\n" + rows)
    data = from_csv("c,a,y\n" + rows + "Severe,NA ,v\n", "dataset.missing=drop_rows")
    assert data.feature_names == ("c=Mild", "a") and data.X.tolist() == [[1, 2], [1, 3]]
    numbers = from_csv('a,b,y\n1,1,u\n" NA ",2,v\n3,3,u\n3,4,v\n', "dataset.missing=most_frequent")
    assert numbers.feature_names == ("a", "b") and numbers.X[:, 0].tolist() == [1, 3, 3, 3]
    with pytest.raises(DatasetError, match=r"line 2: column 'c' holds 'None' among names"):
        from_csv("c,a,y\nNone ,1,u\nMild,2,v\n", "dataset.missing=most_frequent")


def test_a_blank_class_of_a_spreadsheet_is_none(here):
    sheets({"X": [["a"], [1], [2], [3]], "y": [["y"], ["u"], ["  "], ["v"]]})
    with pytest.raises(DatasetError, match=r"sheet 'y', line 3: the cell is empty; 1 row without a class"):
        load(block("spreadsheet", "t.xlsx", features="X", target="y"), here)


@pytest.mark.parametrize("mark", ["?", ".", "~", "NA", ""])
def test_unknown_values_of_orange_are_missing(here, mark):
    stated = block("orange_tab", "t.tab")
    head = "a\ty\nc\td\n\tclass\n"
    Path("t.tab").write_text(f"{head}1.5\tu\n2.5\t{mark}\n1.5\tv\n")
    with pytest.raises(DatasetError, match=r"line 5: no class in column 'y'.*1 row has no class"):
        load(stated, here)
    Path("t.tab").write_text(f"{head}1.5\tu\n{mark}\tv\n1.5\tv\n")
    with pytest.raises(DatasetError, match="row 1, column 'a' is missing"):
        load(stated, here)
    assert load({**stated, "missing": "most_frequent"}, here).X.tolist() == [[1.5]] * 3


# --- names of rows


def test_a_first_column_of_cluto_that_counts_the_rows(here):
    rows = "".join(f"2 0 {row + 1} 1 {row % 3 + 1}\n" for row in range(12))
    classes = f"{'1 0 ' * 6}\n{'0 1 ' * 6}\n"
    with pytest.raises(DatasetError, match=r"column 0 counts the rows.*leave_out=\[0\]"):
        cluto(here, f"12 2\n{rows}", classes)
    assert cluto(here, f"12 2\n{rows}", classes, leave_out=[0]).feature_names == ("x2",)


@pytest.mark.parametrize("pair", ["0 1 0 2", "0.5 1 1 2"])
def test_a_column_of_cluto_stands_once_and_is_whole(here, pair):
    with pytest.raises(DatasetError, match=r"line 2: a column is no whole number, or occurs twice"):
        cluto(here, f"3 2\n2 {pair}\n1 0 2\n1 1 3\n")


def test_a_name_of_characters_that_nobody_sees_is_none():
    assert all(map(is_nameless, ["\u200b", "\ufeff", " \u2060 ", "Unnamed: 0\u200b"]))
    assert not is_nameless("a\u200b")


def test_numbers_of_rows_taken_twice_are_told_of(here, caplog):
    rows = "".join(f"{row},{row % 3}.5,{'uv'[row % 2]}\n" for row in [*range(15), *range(15)])
    with caplog.at_level(logging.WARNING):
        data = from_csv(",a,y\n" + rows)
    assert data.feature_names == ("Unnamed: 0", "a")
    assert "without a name, and taken for features: columns 0" in caplog.text
    assert "dataset.leave_out=[0]" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        from_csv("n,a,y\n" + rows)
        from_csv(",a,y\n" + "".join(f"{row % 2},{row % 3}.5,{'uv'[row % 2]}\n" for row in range(30)))
    assert "without a name" not in caplog.text


# --- numeric targets


@pytest.mark.parametrize("form", ["{0},{1:03d}", "1,{1:03d}", "{0}.{1:03d},5", "-{0},{1}e3"])
def test_numbers_with_commas_are_a_numeric_target(form):
    assert is_numeric_target([form.format(row % 7, row) for row in range(40)], 40)
    assert is_numeric_target([*(f"{row}.5" for row in range(40)), "inf"], 41)


def test_names_with_commas_are_classes():
    assert not is_numeric_target([f"a,{row}" for row in range(40)], 40)
    assert not is_numeric_target([str(row) for row in range(40)], 400)
    assert not is_numeric_target([f"1,{row}" for row in range(10)], 10)


# --- one rule for a numeric target, in the benchmark and in rank


@pytest.mark.parametrize(
    ("n_values", "rows_each", "numeric"), [(12, 9, True), (12, 10, False), (10, 2, False)]
)
def test_one_rule_for_a_numeric_target(here, n_values, rows_each, numeric):
    rows = "".join(f"{row}.5,{row % n_values}\n" for row in range(n_values * rows_each))
    (here / "t.csv").write_text("a,y\n" + rows)
    assert (read_table("t.csv", ["y"]).task == "numbers") == numeric
    if numeric:
        with pytest.raises(DatasetError, match=r"is numeric: 12 different numbers in 108 rows"):
            from_csv("a,y\n" + rows)
    else:
        assert from_csv("a,y\n" + rows).task == "multiclass"


# --- what else a table may hold


def test_groups_beside_columns_that_are_left_out():
    rows = "".join(f"s{row},p{row // 2},{row % 7},{'uv'[row % 2]}\n" for row in range(30))
    more = ("dataset.leave_out=[sample]", "dataset.groups=patient")
    data = from_csv("sample,patient,a,y\n" + rows, *more)
    assert data.feature_names == ("a",) and data.assignment.numbers.max() == 14


def test_missing_words_of_many_columns_take_one_pass(monkeypatch):
    rows = "".join(",".join(["NA", "red", "blue"][row % 3] for _ in range(30)) + ",u\n" for row in range(9))
    header = ",".join(f"c{place}" for place in range(30)) + ",y\n"
    passes = []
    read = pd.read_csv
    monkeypatch.setattr(pd, "read_csv", lambda *args, **settings: passes.append(1) or read(*args, **settings))
    from_csv(header + rows.replace("blue,u", "blue,v"), "dataset.missing=most_frequent")
    assert len(passes) <= 3


@pytest.mark.parametrize("column", ["a", "y"])
def test_a_nul_character_is_refused_and_never_dropped(here, column):
    with pytest.raises(DatasetError, match=r"t\.csv, line 3: a NUL character"):
        from_csv("a,y\n1,u\n2,u\0\n3,v\n")
    columns = {"a": ["b", "c", "b"], "y": ["u", "v", "u"]}
    columns[column][0] += "\0"
    with pytest.raises(DatasetError, match=f"column '{column}' has a NUL character"):
        from_parquet(columns)
    raw = RawData(np.eye(3), np.array(["a", "a\0", "b"], dtype=object), ["a", "b", "c"])
    assert len(coded(raw, "multiclass")[3]) == 3
