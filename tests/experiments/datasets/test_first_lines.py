"""What stands before the first row of a text file, and numeric targets."""

import numpy as np
import pytest
from own_data import block, from_arff, from_csv, from_parquet, loaded
from scipy.io import savemat

from experiments.datasets import DatasetError, load
from experiments.datasets.classes import is_numeric_target
from experiments.errors import BadInputError, ConfigError
from experiments.evaluation.splits import SplitError, check_classes

TABLE = "a,y\n1,u\n2,v\n"
SEMICOLONS = "a;y\n1;u\n2;v\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        "\ufeff" + TABLE,
        "\n\n  \n" + TABLE,
        ",,\n \n" + TABLE,
        "# comment\n" + TABLE,
        "# made by me, yesterday, here\n#\n\n# again\n" + TABLE,
        "\ufeff# comment\r\na,y\r\n1,u\r\n2,v\r\n",
        "# x, y2\n" + TABLE,
        "sep=,\n" + TABLE,
        "sep=;\n" + SEMICOLONS,
        "SEP=;\r\n" + SEMICOLONS,
        '\ufeff"sep=;"\n' + SEMICOLONS,
        "sep=\t\n" + SEMICOLONS.replace(";", "\t"),
        "sep=|\n# comment\n\n" + SEMICOLONS.replace(";", "|"),
        "a,y,\n1,u\n2,v\n",
        "a,y,,,\n1,u\n2,v\n",
        "a,y,\n1,u,\n2,v,\n",
        "a,y\n1,u,\n2,v,\n",
        "a,y,\n1,u,\n2,v\n",
        "a,y\r1,u\r2,v\r",
        '"a","y"\n"1","u"\n"2","v"',
    ],
)
def test_first_lines_that_are_read(here, text):
    data = from_csv(text)
    assert (data.X.tolist(), data.y.tolist()) == ([[1], [2]], [0, 1])
    assert data.feature_names == ("a",) and data.class_names == ("u", "v")
    if ";" not in text and "\t" not in text and "|" not in text:
        own = load(block("delimited", "t.csv", header=True, target="y"), here)
        assert own.checksum == data.checksum


@pytest.mark.parametrize("text", ["# c\n1,u\n2,v\n", "sep=;\n1;u\n2;v\n", "\n\n1,u\n2,v\n", "1,u,\n2,v,\n"])
def test_first_lines_before_a_table_without_names(text):
    data = from_csv(text, "dataset.header=no", target="1")
    assert data.X.tolist() == [[1], [2]] and data.class_names == ("u", "v")


def test_a_typed_delimiter_goes_before_that_of_excel():
    assert from_csv("sep=;\n" + TABLE, "dataset.delimiter=comma").X.tolist() == [[1], [2]]


def test_a_header_that_begins_with_a_hash_is_one_if_it_names_what_is_asked_for():
    assert from_csv("#a,y\n1,u\n2,v\n").feature_names == ("#a",)
    assert from_csv("# more\n#a,y\n1,u\n2,v\n").feature_names == ("#a",)
    assert from_csv("a,#y\n1,u\n2,v\n", target="#y").class_names == ("u", "v")


def test_a_comment_that_may_be_the_header_is_asked_about():
    for more, ask in (((), "dataset.skip_lines=1, if it is a line of the table, dataset.skip_lines=0"),):
        with pytest.raises(DatasetError, match=rf"t\.csv, line 1: begins with # .*{ask}"):
            from_csv("# p, q\n" + TABLE, *more, target="1")
    assert from_csv("# p, q\n" + TABLE, "dataset.skip_lines=1", target="1").feature_names == ("a",)
    rows = "# p,q\n1,u\n2,v\n"
    assert from_csv(rows, "dataset.skip_lines=0", target="q").feature_names == ("# p",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("My table\n" + TABLE, r"line 1 has 1, line 2 2; if line 1 is no part .*dataset\.skip_lines=1"),
        ("My table\n\n" + TABLE, r"line 1 has 1, line 3 2; if line 1 is no part .*dataset\.skip_lines=1"),
        ("My table,\n" + TABLE, r"no column 'y' .*line 2 holds it: .*dataset\.skip_lines=1"),
        ("My,table\nof mine,\n" + TABLE, r"no column 'y' .*line 3 holds it: .*dataset\.skip_lines=2"),
        (
            '"a","y"\n"r1",1,"u"\n"r2",2,"v"\n',
            r"line 1 has 2, line 2 3; .*begin line 1 with a name .*dataset\.leave_out=\[0\]",
        ),
        ("a,,y\n1,,u\n2,,v\n", r"column 1 has neither a name nor values.*dataset\.leave_out=\[1\]"),
        ("sep=;\n" + TABLE, r"no column 'y' "),
        ("", "holds no table: it is empty"),
        ("\n \n", "holds no table: it is empty"),
        ("sep=;\n", "holds no table: no line holds a cell"),
    ],
)
def test_first_lines_that_are_not_read_are_named(text, words):
    with pytest.raises(BadInputError, match=words) as error:
        from_csv(text)
    assert len(str(error.value).splitlines()) <= 2


def test_lines_at_the_top_can_be_passed_over():
    for lines in (1, 2, 3):
        top = "My table, of, three\n# and more\n,\n"[: [0, 20, 31, 33][lines]]
        assert from_csv(top + TABLE, f"dataset.skip_lines={lines}").X.tolist() == [[1], [2]]
    for value, words in (
        ("-1", "not negative"),
        ("two", "takes a whole number"),
        ("1.5", "takes a whole number"),
    ):
        with pytest.raises(ConfigError, match=rf"dataset\.skip_lines={value}: .*{words}"):
            from_csv(TABLE, f"dataset.skip_lines={value}")


def test_lines_are_counted_from_the_top_of_the_file(here):
    with pytest.raises(DatasetError, match=r"t\.csv, line 6: column 'a' holds 'x'"):
        from_csv("\n# c\n\na,y\n1,u\nx,v\n")
    with pytest.raises(DatasetError, match=r"no even table: .* line 6"):
        from_csv("\n# c\n\na,y\n1,u\n3,v,w\n")
    with pytest.raises(DatasetError, match=r"t\.csv, line 4, column 'a' is missing"):
        from_csv("sep=;\na;y\n1;u\n?;v\n")
    with pytest.raises(DatasetError, match=r"t\.csv, line 6: no class"):
        from_csv("\n# c\n\na,y\n1,u\n2,\n")
    (here / "t.csv").write_text("\n# c\na,y\n1,u\nx,v\n")
    with pytest.raises(DatasetError, match=r"t\.csv, line 5: column 'a' holds 'x'"):
        load(block("delimited", "t.csv", header=True, target="y"), here)


def test_a_byte_order_mark_before_other_text_formats(here):
    mark = b"\xef\xbb\xbf"
    (here / "t.svm").write_bytes(mark + b"1 1:2\n2 1:3\n")
    assert loaded("dataset=libsvm", "dataset.path=t.svm").class_names == ("1", "2")
    (here / "t.arff").write_bytes(
        mark + b"@relation t\n@attribute a numeric\n@attribute y {u,v}\n@data\n1,u\n2,v\n"
    )
    assert loaded("dataset=arff", "dataset.path=t.arff", "dataset.target=y").X.tolist() == [[1], [2]]
    (here / "t.tab").write_bytes(mark + b"a\ty\nc\td\n\tclass\n1\tu\n2\tv\n")
    assert load(block("orange_tab", "t.tab"), here).X.tolist() == [[1], [2]]


# --- numeric targets

WHOLE = [each if each < 148 else 5 for each in range(150)]
NUMERIC = r"is numeric: 148 different numbers in 150 rows; .*dataset\.target"


@pytest.mark.parametrize("factor", [1, 1.5, -0.001, 10**12])
def test_a_numeric_target_is_called_so(here, factor):
    prices = [each * factor for each in WHOLE]
    other = [each % 7 for each in range(150)]
    rows = "".join(f"{x},{price}\n" for x, price in zip(other, prices, strict=True))
    for target in ("price", "-1"):
        with pytest.raises(DatasetError, match=rf"the target column 'price' {NUMERIC}"):
            from_csv("x,price\n" + rows, target=target)
    with pytest.raises(DatasetError, match=NUMERIC):
        from_parquet({"x": other, "price": prices}, target="price")
    with pytest.raises(DatasetError, match=NUMERIC):
        from_arff(["x numeric", "price numeric"], rows, target="price")
    savemat("t.mat", {"X": np.array(other)[:, None], "price": np.array(prices)})
    with pytest.raises(DatasetError, match=NUMERIC):
        loaded("dataset=mat", "dataset.path=t.mat", "dataset.features=X", "dataset.target=price")
    (here / "t.svm").write_text("".join(f"{price} 1:{x}\n" for x, price in zip(other, prices, strict=True)))
    with pytest.raises(DatasetError, match=NUMERIC):
        loaded("dataset=libsvm", "dataset.path=t.svm")
    with pytest.raises(DatasetError, match=NUMERIC):
        load(block("delimited", "t.csv", header=True, target="price"), here)


def test_classes_with_numbers_for_names_are_classes():
    assert not is_numeric_target([str(each) for each in range(40)], 400)
    assert not is_numeric_target([str(each) for each in range(10)], 12)
    assert not is_numeric_target([f"c{each}" for each in range(150)], 150)
    assert is_numeric_target([str(each) for each in range(60)], 150)


def test_folds_that_cannot_be_made_ask_about_a_numeric_target():
    y = np.repeat(np.arange(20), 5)
    with pytest.raises(SplitError, match="its 20 classes are numbers: is the target numeric"):
        check_classes(y, n_splits=10, class_names=[str(each) for each in range(20)])
    with pytest.raises(SplitError, match="use a protocol with at most 5 folds"):
        check_classes(y, n_splits=10, class_names=[f"class {each}" for each in range(20)])
