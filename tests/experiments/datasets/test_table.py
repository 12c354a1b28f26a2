"""Tables of a person's own whose features are to be ranked: formats, sample names, kinds of columns, bad input."""

import gzip
import logging
import re
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from experiments.datasets.table import Layout, column_names, read_table
from experiments.errors import BadInputError

FRAME = pd.DataFrame(
    {
        "sample": [f"s{place}" for place in range(12)],
        "a b": [0.5, 1.5, np.nan, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5],
        "colour": ["red", "blue", "red", None, "green", "red", "blue", "blue", "red", "red", "red", "blue"],
        "count": [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3],
        "y": ["no", "yes"] * 6,
    }
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def written(text, name="t.csv", encoding="utf-8"):
    Path(name).write_bytes(text.encode(encoding))
    return name


def to_csv():
    FRAME.to_csv("t.csv", index=False)
    return "t.csv", Layout()


def to_tsv_gz():
    Path("t.tsv.gz").write_bytes(gzip.compress(FRAME.to_csv(index=False, sep="\t").encode()))
    return "t.tsv.gz", Layout()


def to_xlsx():
    with pd.ExcelWriter("t.xlsx") as book:
        pd.DataFrame({"note": ["x"]}).to_excel(book, sheet_name="read me", index=False)
        FRAME.to_excel(book, sheet_name="data", index=False, startrow=2)
    return "t.xlsx", Layout(sheet="data", skip_rows=2)


def to_parquet():
    FRAME.to_parquet("t.parquet")
    return "t.parquet", Layout()


def to_arff():
    kinds = {
        "sample": "string",
        "a b": "numeric",
        "colour": "{green,red,blue}",
        "count": "numeric",
        "y": "{no,yes}",
    }
    lines = [f"@attribute '{name}' {kind}" for name, kind in kinds.items()]
    rows = FRAME.to_csv(index=False, header=False, na_rep="?")
    written("\n".join(["@relation t", *lines, "@data", rows]), "t.arff")
    return "t.arff", Layout()


def to_transposed_csv():
    FRAME.set_index("sample").T.to_csv("t.csv")
    return "t.csv", Layout(transpose=True)


def to_transposed_xlsx():
    FRAME.set_index("sample").T.to_excel("t.xlsx")
    return "t.xlsx", Layout(transpose=True)


def to_transposed_parquet():
    FRAME.set_index("sample").T.astype(str).replace({"nan": None, "None": None}).reset_index().to_parquet(
        "t.pq"
    )
    return "t.pq", Layout(transpose=True)


@pytest.mark.parametrize(
    "make",
    [
        to_csv,
        to_tsv_gz,
        to_xlsx,
        to_parquet,
        to_arff,
        to_transposed_csv,
        to_transposed_xlsx,
        to_transposed_parquet,
    ],
)
def test_every_format_gives_the_same_table(make):
    path, layout = make()
    table = read_table(path, ["y"], layout=layout)
    assert table.names == ("a b", "colour", "count")
    assert table.task == "classes" and table.class_names == ("no", "yes") and table.targets == ("y",)
    assert table.y.tolist() == [0, 1] * 6
    np.testing.assert_array_equal(table.X[:, [0, 2]], FRAME[["a b", "count"]].to_numpy(float))
    assert table.categories == {1: ["blue", "green", "red"]}
    codes = FRAME["colour"].map({"blue": 0, "green": 1, "red": 2}).to_numpy(float)
    np.testing.assert_array_equal(table.X[:, 1], codes)
    assert [why for _, why in table.name_columns] == ["holds another value in each row"]
    assert table.missing.sum() == 2 and table.constant == []


def in_csv(frame):
    frame.to_csv("t.csv", index=False)
    return "t.csv", Layout()


def in_xlsx(frame):
    frame.to_excel("t.xlsx", index=False)
    return "t.xlsx", Layout()


def in_parquet(frame):
    frame.to_parquet("t.parquet")
    return "t.parquet", Layout()


def in_arff(frame):
    kinds = ["numeric" if pd.api.types.is_numeric_dtype(kind) else "string" for kind in frame.dtypes]
    lines = [f"@attribute '{name}' {kind}" for name, kind in zip(frame, kinds, strict=True)]
    written("\n".join(["@relation t", *lines, "@data", frame.to_csv(index=False, header=False)]), "t.arff")
    return "t.arff", Layout()


def in_transposed_csv(frame):
    turned = frame.rename(index="s{}".format).T
    turned.to_csv("t.csv")
    return "t.csv", Layout(transpose=True)


def in_transposed_parquet(frame):
    turned = frame.rename(index="s{}".format).T.astype(str)
    turned.reset_index().to_parquet("t.parquet")
    return "t.parquet", Layout(transpose=True)


FORMATS = [in_csv, in_xlsx, in_parquet, in_arff, in_transposed_csv, in_transposed_parquet]


@pytest.mark.parametrize("make", FORMATS)
@pytest.mark.parametrize("typed", ["the class", " the class ", "the class "])
def test_names_are_without_spaces_around_them(make, typed):
    frame = pd.DataFrame({" a": [1.5, 2, 3], "b  c ": [3.5, 2, 2], " the class ": ["u", "v", "u"]})
    path, layout = make(frame)
    table = read_table(path, [typed], layout=layout)
    assert (table.names, table.targets) == (("a", "b  c"), ("the class",))
    assert column_names(path, layout)[-3:] == ["a", "b  c", "the class"]


@pytest.mark.parametrize("make", [each for each in FORMATS if each is not in_arff])
def test_names_that_differ_in_spaces_around_them_are_one(make):
    path, layout = make(pd.DataFrame({"a": [1.5, 2], "a ": [3.5, 2], "y": ["u", "v"]}))
    first = 2 if layout.transpose else 1
    with pytest.raises(BadInputError) as error:
        read_table(path, ["y"], layout=layout)
    assert (
        f"2 columns are called 'a' (columns {first}, {first + 1}; names are compared without spaces around them); "
        "give them different names"
    ) in str(error.value)


def test_attributes_that_differ_in_spaces_around_them_are_one():
    path, _ = in_arff(pd.DataFrame({"a": [1.5, 2], "a ": [3.5, 2], "y": ["u", "v"]}))
    with pytest.raises(
        BadInputError, match=r"line 3: attribute 'a' is declared twice .*compared without spaces around them"
    ):
        read_table(path, ["y"])


def test_codes_as_text_in_a_sheet_stay_names(caplog):
    frame = pd.DataFrame(
        {"dose": ["0.5", "1.25", "0.5", "3"], "site": ["1", "2", "2", "1"], "y": list("abab")}
    )
    frame["zip"] = ["01", "10", "01", "10"]
    frame.to_excel("t.xlsx", index=False)
    with caplog.at_level(logging.WARNING):
        table = read_table("t.xlsx", ["y"])
    assert table.names == ("dose", "site", "zip")
    assert table.X[:, 0].tolist() == [0.5, 1.25, 0.5, 3]
    assert table.categories == {1: ["1", "2"], 2: ["01", "10"]}
    assert "column site is text with numbers in it" in caplog.text


# --- names of samples


def ids(values, name, **more):
    n = len(values)
    frame = pd.DataFrame({name: values, "f": np.arange(n) % 3, "y": ["a", "b"] * (n // 2)})
    frame.to_csv("t.csv", index=False)
    return read_table("t.csv", ["y"], **more)


@pytest.mark.parametrize(
    ("values", "name", "why"),
    [
        (["P01", "P02", "x7", "q"], "code", "holds another value in each row"),
        ([1001, 1007, 1003, 1020], "patient", "holds another whole number in each row"),
        ([1001, 1007, 1003, 1020], "Patient_ID", "holds another whole number in each row"),
        ([1001, 1007, 1003, 1020], "sampleId", "holds another whole number in each row"),
        ([7, 3, 9, 1], "", "has no name of its own, and another whole number in each row"),
        (list(range(1, 13)), "anything", "counts the rows"),
    ],
)
def test_a_column_of_sample_names_is_found(values, name, why):
    table = ids(values, name)
    assert table.name_columns == ((name or "number 1", why),)
    assert table.names == ("f",)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([1001, 1007, 1003, 1020], "platelets"),  # whole and different, as measurements are
        ([0.5, 1.25, 3.5, 2.125], "patient"),
        ([1, 1, 2, 3], "id"),
        (["a", "a", "b", "c"], "patient"),
    ],
)
def test_a_feature_is_not_taken_for_sample_names(values, name):
    table = ids(values, name)
    assert table.names == (name, "f") and table.name_columns == ()


@pytest.mark.parametrize("values", [["P01", "P02", "x7", "q"], [1001, 1007, 1003, 1020]])
def test_keep_makes_a_feature_of_it(values):
    table = ids(values, "patient", keep=["patient"])
    assert table.names == ("patient", "f") and table.name_columns == ()
    assert (0 in table.categories) == isinstance(values[0], str)


# --- the target


@pytest.mark.parametrize("values", [["P01", "P02", "x7", "q"], [1001, 1007, 1003, 1020], [1, 2, 3, 4]])
@pytest.mark.parametrize("make", FORMATS)
def test_keep_takes_what_a_column_without_a_name_is_called(values, make, caplog):
    frame = pd.DataFrame({"": values, "f": [0.5, 1.5, 0.5, 2.5], "y": list("abab")})
    if make in (in_transposed_csv, in_transposed_parquet):
        frame = frame.drop(columns="").set_index(pd.Index(values))
    path, layout = make(frame)
    ((called, _),) = read_table(path, ["y"], layout=layout).name_columns
    assert called == {in_transposed_parquet: "index"}.get(make, "number 1")
    with caplog.at_level(logging.WARNING):
        table = read_table(path, ["y"], layout=layout, keep=[called])
        assert table.X.tolist() == read_table(path, ["y"], layout=layout, keep=["0"]).X.tolist()
    assert table.name_columns == () and table.names[1:] == ("f",) and not caplog.records
    assert 0 in table.categories or table.X[:, 0].tolist() == values
    assert read_table(path, ["y"], layout=layout, leave_out=[called]).names == ("f",)


def test_a_name_goes_before_a_number_of_a_column():
    written("number 2,number 1,y\n1,5,a\n2,6,b\n2,7,a\n1,9,b\n")
    assert read_table("t.csv", ["y"], leave_out=["number 1"]).names == ("number 2",)
    assert read_table("t.csv", ["number 3"], leave_out=["number 2"]).names == ("number 1",)
    with pytest.raises(BadInputError, match=r"has no column 'number 4' \(dataset.leave_out\) among its 3"):
        read_table("t.csv", ["y"], leave_out=["number 4"])


def test_numbers_classes_and_labels():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"f": rng.random(40), "age": rng.permutation(40) * 1.5, "dose": rng.integers(0, 4, 40)}
    )
    frame["red"], frame["round"] = np.arange(40) % 2, np.arange(40) // 20
    frame.to_csv("t.csv", index=False)
    numbers = read_table("t.csv", ["age"])
    assert numbers.task == "numbers" and numbers.y.tolist() == frame["age"].tolist()
    assert numbers.names == ("f", "dose", "red", "round")
    classes = read_table("t.csv", ["dose"])
    assert classes.task == "classes" and classes.class_names == ("0", "1", "2", "3")
    assert classes.y.tolist() == frame["dose"].tolist()
    forced = read_table("t.csv", ["dose"], kind="numbers")
    assert forced.task == "numbers" and forced.y.tolist() == frame["dose"].tolist()
    for typed in (["red,round"], ["red", "round"], ["red", "-1"]):
        labels = read_table("t.csv", typed)
        assert labels.task == "labels" and labels.class_names == ("red", "round")
        assert labels.y.toarray().tolist() == frame[["red", "round"]].to_numpy().tolist()


def test_a_name_with_a_comma_is_one_target():
    written('f,"red,round",red,round\n1,a,0,1\n2,b,1,0\n3,a,1,1\n4,b,0,0\n')
    assert read_table("t.csv", ["red,round"]).class_names == ("a", "b")


def test_a_name_with_a_dash_or_a_number_is_found():
    written("-x,3,y\n1,5,a\n2,6,b\n2,7,a\n1,9,b\n")
    assert read_table("t.csv", ["y"], leave_out=["-x"]).names == ("3",)
    assert read_table("t.csv", ["-1"], leave_out=["3"]).names == ("-x",)


# --- what is wrong is named


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        ("a,b,y\n1,2,x\n3,4,y\n", "z", "has no column 'z'"),
        (
            "a,b,a,y\n1,2,3,x\n3,4,5,y\n",
            "y",
            "2 columns are called 'a' (columns 1, 3; names are compared without spaces around them); give them "
            "different names",
        ),
        ("a,y\n1,x\n2,\n", "y", "line 3: no class in column 'y' (1 of 2 rows have none)"),
        ("a,y\n1,x\ninf,z\n", "y", "line 3: column 'a' is infinite"),
        ("a,y\n1,x\n2,z\nabc,x\n", "y", "line 4: column 'a' holds 'abc' among numbers"),
        ("a,y\n2020-01-01,x\n2020-02-01,z\n", "y", "column 'a' holds dates or times such as '2020-01-01'"),
        ("a,y\nx,1\nz,2\n", "y", "no column is left that could be a feature"),
        ("a;y\n1;x\n2;z\n", "y", "its first line has a semicolon in it"),
        ("a,y\n1,x\n1,2,z\n", "y", "t.csv is no even table"),
    ],
)
def test_bad_tables(text, target, said):
    written(text)
    with pytest.raises(BadInputError) as error:
        read_table("t.csv", [target])
    assert said in str(error.value)


def test_a_numeric_target_without_a_number():
    values = [f"{place / 4 + 0.1}" for place in range(30)]
    written(
        "a,y\n" + "".join(f"{place},{'' if place == 6 else value}\n" for place, value in enumerate(values))
    )
    with pytest.raises(BadInputError, match=r"line 8: the target 'y' is missing \(1 of 30 samples"):
        read_table("t.csv", ["y"])


def test_encodings():
    text = "größe,y\n1,schön\n2,übel\n1,schön\n"
    written(text, encoding="cp1252")
    with pytest.raises(BadInputError, match=r"line 1: not UTF-8 text .* dataset\.encoding=cp1252"):
        read_table("t.csv", ["y"])
    table = read_table("t.csv", ["y"], layout=Layout(encoding="cp1252"))
    assert table.names == ("größe",) and table.class_names == ("schön", "übel")
    written(text, encoding="utf-16")
    with pytest.raises(BadInputError, match="is UTF-16 text"):
        read_table("t.csv", ["y"])
    assert read_table("t.csv", ["y"], layout=Layout(encoding="utf-16")).names == ("größe",)
    with pytest.raises(BadInputError, match="there is no such encoding"):
        read_table("t.csv", ["y"], layout=Layout(encoding="utf-99"))


def test_lines_at_the_top_and_words_for_missing_values():
    written("made by us\n\na,b,y\n1,-999,x\n2,5,z\n-999,6,x\n", "t.txt")
    table = read_table("t.txt", ["y"], layout=Layout(skip_rows=2, na_values=("-999",)))
    np.testing.assert_array_equal(table.X, [[1, np.nan], [2, 5], [np.nan, 6]])


def test_sheets_are_named():
    book = openpyxl.Workbook()
    book.active.append(["a", "y"])
    book.create_sheet("two").append(["a", "y"])
    book["two"].append([1, "x"])
    book.save("t.xlsx")
    with pytest.raises(
        BadInputError, match=r"has 2 sheets; say which one: dataset.sheet=NAME\nthey are: 'Sheet', 'two'"
    ):
        read_table("t.xlsx", ["y"])
    with pytest.raises(BadInputError, match=r"unknown sheet of .* 'too'; did you mean two\?"):
        read_table("t.xlsx", ["y"], layout=Layout(sheet="too"))
    assert column_names("t.xlsx", Layout(sheet="2")) == ["a", "y"]


GENES = {
    "gene": ["g1", "class", "g2", "age"],
    "s1": ["0.5", "u", "1.5", "61"],
    "s2": ["1.5", "v", "2.5", "62"],
}
GENES["s3"] = ["1", "u", "2", "63"]


@pytest.mark.parametrize(
    ("make", "places"),
    [(in_csv, ("line 3", "line 5")), (in_xlsx, ("line 3", "line 5")), (in_parquet, ("row 2", "row 4"))],
)
def test_a_target_that_is_a_line_is_told_of(make, places):
    path, _ = make(pd.DataFrame(GENES))
    for target, place in zip(("class", "age"), places, strict=True):
        with pytest.raises(BadInputError) as error:
            read_table(path, [target])
        assert str(error.value).endswith(
            f"has no column {target!r} (dataset.target) among its 4; {place} begins with it: if the table has a "
            "line for each feature, such as genes × samples, write it with lines and columns exchanged"
        )
    assert read_table(path, ["class"], layout=Layout(transpose=True)).names == ("g1", "g2", "age")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "made by us,,\nclass,a,b\nu,1,2\nv,3,4\n",
            "; line 2 holds it: if that line holds the names, type dataset.skip_lines=1",
        ),
        ("id,Class,b\n1,u,class\n2,v,x\n", "did you mean Class?; line 2 holds it: if that"),
        ("clas,a;b,c\nu,1,2\nv,3,4\n", "among its 3; did you mean clas?"),
        ("z,a;b,c\nu,1,2\nv,3,4\n", "among its 3"),
        (
            "z;a;b\nu;1;2\nv;3;4\n",
            "has a semicolon in it, so is ',' what separates the cells (dataset.delimiter=semicolon)?",
        ),
        (
            "z;a,1;b\nu;1;2\nv;3;4\n",
            "has a semicolon in it, so is ',' what separates the cells (dataset.delimiter=semicolon)?",
        ),
    ],
)
def test_what_a_missing_target_hints_at(text, said):
    written(text)
    with pytest.raises(BadInputError) as error:
        read_table("t.csv", ["class"])
    assert said in str(error.value) and "exchanged" not in str(error.value)
    assert ("semicolon" in str(error.value)) == ("semicolon" in said)


def sheet_of(*rows, name="t.xlsx"):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(name)


def with_sheet_changed(change, name="t.xlsx"):
    """Write what another program would: openpyxl writes no values of formulas, and always the table's size."""
    with zipfile.ZipFile(name) as file:
        parts = {each: file.read(each) for each in file.namelist()}
    (sheet,) = (each for each in parts if "worksheets/" in each)
    changed = change(parts[sheet].decode())
    assert changed != parts[sheet].decode()
    with zipfile.ZipFile(name, "w") as file:
        for each, content in (parts | {sheet: changed.encode()}).items():
            file.writestr(each, content)


@pytest.mark.parametrize(
    ("rows", "cell"),
    [
        ([["a", "b", "y"], [1, "=A2*2", "u"], [2, 3, "v"]], "B2"),
        ([["a", '="b"', "y"], [1, 2, "u"], [2, 3, "v"]], "B1"),
        ([["a", "b", "y"], [1, 2, "u"], [2, 3, "=A3"]], "C3"),
        ([["a", "y", "=A1"], [1, "u", "=A2"], [2, "v", "=A3"]], "C1"),
        ([["=B1", "y"], ["=1", "=2"]], "A1"),
    ],
)
def test_a_formula_without_a_value_is_no_empty_cell(rows, cell):
    sheet_of(*rows)
    for layout in (Layout(), Layout(transpose=True), Layout(sheet="1")):
        with pytest.raises(BadInputError) as error:
            read_table("t.xlsx", ["y"], layout=layout)
        assert str(error.value).endswith(
            f"t.xlsx, sheet 'Sheet': cell {cell} holds a formula without a value; open and save the file in a "
            "spreadsheet program first"
        )


def test_a_formula_in_a_line_that_is_passed_over_and_on_another_sheet():
    sheet_of(["=TODAY()"], ["a", "b", "y"], [1, None, "u"], [2, 3, "v"])
    assert read_table("t.xlsx", ["y"], layout=Layout(skip_rows=1)).names == ("a", "b")
    with pytest.raises(BadInputError, match="cell A1 holds a formula"):
        read_table("t.xlsx", ["y"])
    book = openpyxl.load_workbook("t.xlsx")
    book.create_sheet("sums").append(["=Sheet!A3"])
    book.save("t.xlsx")
    with pytest.raises(BadInputError, match="has 2 sheets; say which one"):
        read_table("t.xlsx", ["y"], layout=Layout(skip_rows=1))
    assert read_table("t.xlsx", ["y"], layout=Layout(sheet="Sheet", skip_rows=1)).names == ("a", "b")


def test_values_of_formulas_are_read():
    sheet_of(["a", "b", "c", "y"], [1, "=A2*2", '=""', "u"], [2, 3, 5, "v"], [4, 9, None, "v"])

    def computed(text):
        text = re.sub(r"<f>A2\*2</f><v ?/?>(</v>)?", "<f>A2*2</f><v>2.5</v>", text)
        return re.sub(r'<c r="C2"><f>""</f><v ?/?>(</v>)?', '<c r="C2" t="str"><f>""</f><v></v>', text)

    with_sheet_changed(computed)
    table = read_table("t.xlsx", ["y"])
    np.testing.assert_array_equal(table.X, [[1, 2.5, np.nan], [2, 3, 5], [4, 9, np.nan]])


def test_a_sheet_is_read_to_its_end_whatever_size_it_states():
    sheet_of(["a", "b", "y"], [1, 2, "u"], [2, 3, "v"])
    with_sheet_changed(lambda text: text.replace('<dimension ref="A1:C3"', '<dimension ref="A1"'))
    assert read_table("t.xlsx", ["y"]).X.tolist() == [[1, 2], [2, 3]]


def test_a_transposed_table_with_uneven_lines():
    written("gene,s1,s2\ng1,1,2\ng2,3\n")
    with pytest.raises(BadInputError, match="the line that begins with 'g2' has 2 cells, the first one 3"):
        read_table("t.csv", ["g2"], layout=Layout(transpose=True))
