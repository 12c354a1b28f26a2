"""Columns that name the rows are no features: in every format, and with what to type."""

import logging

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import rdata
from own_data import block, from_arff, from_csv, from_parquet, loaded
from scipy.io import savemat

from experiments.datasets import DatasetError, RawData, load
from experiments.datasets.encoding import coded
from experiments.datasets.names import all_whole_and_different, counts_rows, is_nameless

SHUFFLED = [5, 3, 9, 1, 7]
REFUSED = r"counts the rows.*leave it out: dataset\.leave_out=\[0\]"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def csv_rows(numbers, quote=""):
    return "".join(f"{quote}{each}{quote},{each % 3}.5,{'uv'[each % 2]}\n" for each in numbers)


@pytest.mark.parametrize(
    "name", ["", '""', " ", "Unnamed: 0", "Unnamed: 0.1", "__index_level_0__", "row.names", "index"]
)
@pytest.mark.parametrize("numbers", [range(5), range(1, 6), SHUFFLED, [120, 7, 3000, 1, 2]])
def test_a_nameless_column_of_whole_numbers_is_refused(name, numbers):
    with pytest.raises(DatasetError, match=r"t\.csv: column 0 has .*" + REFUSED):
        from_csv(f"{name},a,y\n{csv_rows(numbers)}")


def test_what_write_csv_of_r_writes_is_refused_and_can_be_left_out():
    text = '"","a","y"\n' + csv_rows(range(1, 6), quote='"')
    with pytest.raises(DatasetError, match="column 0 has no name and " + REFUSED):
        from_csv(text)
    for column in ("0", "[0]", "['Unnamed: 0']"):
        assert from_csv(text, f"dataset.leave_out={column}").feature_names == ("a",)


def test_the_index_of_shuffled_rows_is_refused_wherever_it_stands():
    frame = pd.DataFrame({"a": [1.5, 2.5, 1.5, 4.0], "y": list("uvuv")}, index=[7, 2, 9, 4])
    frame.to_csv("t.csv")
    with pytest.raises(DatasetError, match=REFUSED):
        loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=y")
    with pytest.raises(DatasetError, match=r"column 1 has no name.*leave_out=\[1\]"):
        from_csv("a,,y\n1.5,7,u\n2.5,2,v\n1.5,9,u\n")


def test_nominal_does_not_let_names_of_rows_in():
    with pytest.raises(DatasetError, match=REFUSED):
        from_csv(f",a,y\n{csv_rows(SHUFFLED)}", "dataset.nominal=[0]")


def test_names_of_rows_that_are_text_are_refused_in_a_short_table_too():
    with pytest.raises(DatasetError, match=r"column 0 holds another text in every row.*leave_out=\[0\]"):
        from_csv(",a,y\nMazda,1,u\nFiat,1,v\nVolvo,2,u\n")


@pytest.mark.parametrize("cells", [("1", "1", "2"), ("1.5", "2", "3"), ("-0.25", "0.5", "7")])
def test_a_nameless_column_of_other_numbers_is_a_feature(cells):
    data = from_csv(",a,y\n{},1,u\n{},1,v\n{},2,u\n".format(*cells))
    assert data.X[:, 0].tolist() == [float(each) for each in cells]


@pytest.mark.parametrize("numbers", [range(12), range(1, 13), [(37 * each) % 101 for each in range(12)]])
def test_without_names_the_first_column_is_looked_at(numbers):
    text = "".join(f"{each},{place % 3}.5,{place % 2}\n" for place, each in enumerate(numbers))
    with pytest.raises(DatasetError, match=r"column 0 counts the rows.*leave_out=\[0\].*a line of names"):
        from_csv(text, "dataset.header=false", target="-1")
    assert from_csv(text, "dataset.header=false", "dataset.leave_out=0", target="-1").X.shape == (12, 1)


def test_without_names_whole_numbers_in_several_columns_are_measurements():
    text = "".join(f"{(37 * each) % 101},{(7 * each) % 51},{each % 2}\n" for each in range(12))
    assert from_csv(text, "dataset.header=false", target="-1").X.shape == (12, 2)


def test_a_column_with_a_name_that_counts_the_rows_is_told_of(caplog):
    with caplog.at_level(logging.WARNING):
        data = from_csv("id,a,y\n" + "".join(f"{30 - each},{each % 4},{each % 2}\n" for each in range(30)))
    assert data.feature_names == ("id", "a")
    (record,) = caplog.records
    assert "t.csv" in record.getMessage() and "dataset.leave_out=[id]" in record.getMessage()


# --- Parquet


def test_an_index_of_pandas_is_no_feature_of_a_parquet_file(caplog):
    frame = pd.DataFrame({"a": [1.5, 2.5, 1.5], "y": list("uvu")}, index=[5, 3, 9])
    typed = ("dataset=parquet", "dataset.path=t.parquet", "dataset.target=y")
    frame.to_parquet("t.parquet")
    assert loaded(*typed).feature_names == ("a",) and not caplog.records
    frame.rename_axis("patient").to_parquet("t.parquet")
    assert loaded(*typed).feature_names == ("a",)
    assert "no feature: patient" in caplog.text


def test_an_index_of_pandas_may_be_the_target():
    pd.DataFrame({"a": [1.5, 2.5, 1.5]}, index=pd.Index(list("uvu"), name="y")).to_parquet("t.parquet")
    data = loaded("dataset=parquet", "dataset.path=t.parquet", "dataset.target=y")
    assert data.y.tolist() == [0, 1, 0] and data.feature_names == ("a",)


def test_an_index_whose_mark_another_program_lost_is_refused():
    frame = pd.DataFrame({"a": [1.5, 2.5, 1.5], "y": list("uvu")}, index=[5, 3, 9])
    frame.to_parquet("t.parquet")
    bare = pq.read_table("t.parquet").replace_schema_metadata(None)
    with pytest.raises(DatasetError, match=r"'__index_level_0__' and counts the rows.*leave_out=\[2\]"):
        from_parquet(bare)
    assert from_parquet(bare, "dataset.leave_out=[2]").feature_names == ("a",)


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_a_nameless_parquet_column_is_refused(name):
    for values in (SHUFFLED[:3], [str(each) for each in SHUFFLED[:3]], [5, None, 9]):
        with pytest.raises(DatasetError, match=REFUSED):
            from_parquet({name: values, "a": [1.5, 2.5, 1.5], "y": list("uvu")})


# --- the other formats


@pytest.mark.parametrize("name", ["'Unnamed: 0'", "Unnamed:_0", "row_names"])
def test_a_nameless_arff_attribute_is_refused(name):
    parts = ([f"{name} integer", "a numeric", "y {u,v}"], "5,1,u\n3,2,v\n9,1,u\n")
    with pytest.raises(DatasetError, match=REFUSED):
        from_arff(*parts)
    assert from_arff(*parts, "dataset.leave_out=[0]").feature_names == ("a",)


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_the_projects_own_delimited_files(here, name):
    (here / "t.csv").write_text(f"{name},a,y\n5,1.5,0\n3,2.5,1\n9,1.5,0\n")
    with pytest.raises(DatasetError, match=REFUSED):
        load(block("delimited", "t.csv", header=True, target="y"), here)
    assert load(block("delimited", "t.csv", header=True, target="y", leave_out=0), here).feature_names == (
        "a",
    )
    rows = "".join(f"{each},{each % 3}.5,{each % 2}\n" for each in range(1, 13))
    (here / "t.csv").write_text(rows)
    with pytest.raises(DatasetError, match=r"column 0 counts the rows.*leave_out=\[0\]"):
        load(block("delimited", "t.csv", target=-1), here)


def test_orange_tables(here):
    (here / "t.tab").write_text("\ta\ty\nc\tc\td\n\t\tclass\n5\t1.5\tu\n3\t2.5\tv\n9\t1.5\tu\n")
    with pytest.raises(DatasetError, match=r"counts the rows.*role meta in line 3"):
        load(block("orange_tab", "t.tab"), here)


def test_spreadsheets(here):
    table = pd.DataFrame({"a": [1.5, 2.5, 1.5]}, index=[5, 3, 9])
    with pd.ExcelWriter("t.xlsx", engine="openpyxl") as writer:
        table.to_excel(writer, sheet_name="X")
        pd.DataFrame({"y": [1, 2, 1]}).to_excel(writer, sheet_name="y", index=False)
    with pytest.raises(DatasetError, match=r"sheet 'X': column 0 has no name and " + REFUSED):
        load(block("spreadsheet", "t.xlsx", features="X", target="y"), here)
    assert load(block("spreadsheet", "t.xlsx", features="X", target="y", leave_out=[0]), here).X.shape == (
        3,
        1,
    )


def test_r_data_frames(here):
    table = pd.DataFrame({"row.names": [5, 3, 9], "a": [1.5, 2.5, 1.5]})
    rdata.write_rda("t.RData", {"t": {"x": table, "y": np.array([1, 2, 1])}})
    with pytest.raises(DatasetError, match="'row.names' and " + REFUSED):
        load(block("r_data", "t.RData", variable="t"), here)
    assert load(block("r_data", "t.RData", variable="t", leave_out=[0]), here).feature_names == ("a",)


def test_tables_of_numbers_alone(here):
    X = np.column_stack([np.arange(1, 15), np.arange(14) % 3]).astype(float)
    savemat("t.mat", {"X": X, "y": np.arange(14) % 2})
    typed = ["dataset=mat", "dataset.path=t.mat", "dataset.features=X", "dataset.target=y"]
    lines = "".join(f"{row % 2} 1:{row} 2:{row % 3}\n" for row in range(1, 15))
    (here / "t.svm").write_text(lines)
    for argv in (typed, ["dataset=libsvm", "dataset.path=t.svm"]):
        with pytest.raises(DatasetError, match=r"column 0 counts the rows.*leave_out=\[0\]"):
            loaded(*argv)
        for column in ("0", "x1", "[x1]"):
            assert loaded(*argv, f"dataset.leave_out={column}").feature_names == ("x2",)
    with pytest.raises(DatasetError, match=r"t\.svm has no column 'x9' \(dataset\.leave_out\)"):
        loaded("dataset=libsvm", "dataset.path=t.svm", "dataset.leave_out=x9")


def test_a_reader_of_ones_own_lets_no_names_of_rows_through():
    raw = RawData(np.array([[5, 1.5], [3, 2.5], [9, 1.5]]), np.array([0, 1, 0]), ["Unnamed: 0", "a"])
    with pytest.raises(DatasetError, match=r"column 0.*counts the rows"):
        coded(raw, "multiclass")


# --- the rules


def test_the_rules():
    assert all(
        map(is_nameless, ["", "  ", "Unnamed: 3", "...1", "index", "level_0", "rowname", "row_number"])
    )
    assert not any(map(is_nameless, ["x1", "unnamed", "indexes", "a.1", "rows", "level"]))
    for values, whole, counting in (
        ([2, 0, 1], True, True),
        ([3, 1, 2], True, True),
        ([4, 2, 3], True, False),
        ([1, 1, 2], False, False),
        ([1, 2.5, 3], False, False),
        ([7, np.nan, 3], True, False),
        ([7], False, False),
        ([1, np.inf, 3], False, False),
    ):
        values = np.array(values, dtype=float)
        assert (all_whole_and_different(values), counts_rows(values)) == (whole, counting)
