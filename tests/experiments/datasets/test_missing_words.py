"""Which words mean a missing value: the key that says so, the default list, and what is told."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import rdata
from own_data import block, from_arff, from_csv, from_parquet

from experiments.config.compose import PROJECT_ROOT
from experiments.datasets import DatasetError, RawData, load
from experiments.datasets.encoding import coded
from experiments.datasets.readers.delimited import MISSING_WORDS

GRADES = "x,y\n1,None\n2,Mild\n3,Severe\n4,None\n"
NOMINAL = "g,y\nNone,0\nMild,1\nMild,1\nSevere,0\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("word", MISSING_WORDS)
def test_a_class_that_means_missing_is_named_with_the_key(word):
    with pytest.raises(DatasetError) as error:
        from_csv(f'x,y\n1,u\n2,"{word}"\n3,v\n')
    assert f"line 3: {word!r} in column 'y' means a missing value" in str(error.value)
    assert "dataset.na_values=" in str(error.value) and "1 of 3 rows" in str(error.value)


def test_what_the_error_advises_makes_it_a_class():
    for text in (GRADES, GRADES.replace("None", "NA")):
        with pytest.raises(DatasetError) as error:
            from_csv(text)
        advice = re.search(r"dataset\.na_values=\S+", str(error.value))[0]
        assert len(from_csv(text, advice).class_names) == 3


def test_the_words_are_those_that_are_said():
    assert from_csv(GRADES, "dataset.na_values=[]").class_names == ("Mild", "None", "Severe")
    assert from_csv(GRADES, "dataset.na_values=NA").class_names == ("Mild", "None", "Severe")
    with pytest.raises(DatasetError, match=r"line 3: 'Mild' in column 'y' means a missing value"):
        from_csv(GRADES, "dataset.na_values=[Mild]")
    for words in ("[null,nan,-999,?]", "['null','nan','-999','?']"):
        data = from_csv(
            "a,y\nnull,u\nnan,v\n-999.0,u\n?,v\n2,u\n3,v\n",
            f"dataset.na_values={words}",
            "dataset.missing=drop_rows",
        )
        assert data.X.tolist() == [[2], [3]]
    assert from_csv("a,y\nnull,u\nnan,v\nx,u\n", "dataset.na_values=[]").feature_names == (
        "a=nan",
        "a=null",
        "a=x",
    )


def test_the_empty_cell_is_always_missing():
    with pytest.raises(DatasetError, match=r"line 3: no class in column 'y'"):
        from_csv("x,y\n1,u\n2,\n", "dataset.na_values=[]")


@pytest.mark.parametrize("missing", ["error", "most_frequent", "drop_rows"])
def test_none_among_names_is_never_filled_in_unasked(missing):
    with pytest.raises(
        DatasetError,
        match=r"line 2: column 'g' holds 'None' among names; .*"
        r"dataset\.na_values=\[None\] if it is one, dataset\.na_values=\[\] if it is a name",
    ):
        from_csv(NOMINAL, f"dataset.missing={missing}")
    with pytest.raises(DatasetError, match="holds 'None' among names"):
        from_csv("g,y\nNone,0\n1,1\n1,1\n2,0\n", f"dataset.missing={missing}", "dataset.nominal=g")
    as_name = from_csv(NOMINAL, f"dataset.missing={missing}", "dataset.na_values=[NA]")
    assert as_name.feature_names == ("g=Mild", "g=None", "g=Severe")
    assert as_name.X.tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1]]


def test_none_is_missing_where_it_is_said_or_among_numbers():
    data = from_csv(NOMINAL, "dataset.missing=most_frequent", "dataset.na_values=[None,NA]")
    assert data.feature_names == ("g=Mild",) and data.X.tolist() == [[1], [1], [1], [0]]
    numbers = "g,y\nNone,0\n1,1\n1,1\n2,0\n"
    with pytest.raises(
        DatasetError, match=r"line 2, column 'g' is missing \('None' means that by dataset\.na_values\)"
    ):
        from_csv(numbers)
    assert from_csv(numbers, "dataset.missing=most_frequent").X.tolist() == [[1], [1], [1], [2]]


SETTING = re.compile(r"""(?<=[ :])(["']?)dataset\.na_values=\[.*?\]\1(?= |$|;)""")


@pytest.mark.parametrize(
    "word",
    [
        "<0.5",
        "-",
        "n.d.",
        "n/a, see note",
        "#DIV/0!",
        "it's",
        'in "mm"',
        "[x]",
        "$HOME",
        "`x`",
        "~",
        "a b",
        "*",
    ],
)
@pytest.mark.parametrize("given", [None, "[-999,NA,?]"])
def test_a_word_that_is_proposed_comes_with_those_in_force(word, given):
    frame = pd.DataFrame(
        {"a": ["1.5", "NA", word, "?", "-999"], "b": ["x", "x", "z", "?", "z"], "y": list("uvuvu")}
    )
    frame.to_csv("t.csv", index=False)
    text = Path("t.csv").read_text(encoding="utf-8")
    typed = [] if given is None else [f"dataset.na_values={given}"]
    with pytest.raises(DatasetError) as error:
        from_csv(text, *typed)
    proposed = SETTING.search(str(error.value))[0]
    (argument,) = shlex.split(proposed)
    data = from_csv(text, argument, "dataset.missing=ranker")
    expected = [1.5, np.nan, np.nan, np.nan, -999 if given is None else np.nan]
    np.testing.assert_array_equal(data.X[:, 0], expected)
    assert np.isnan(data.X[3, 1]) and data.feature_names == ("a", "b=x")


def test_what_is_proposed_for_none_keeps_the_other_words():
    text = "g,a,y\nNone,?,u\nMild,1.5,v\nMild,2.5,u\nSevere,3.5,v\n"
    with pytest.raises(DatasetError, match="holds 'None' among names") as error:
        from_csv(text)
    one, name = (shlex.split(each[0])[0] for each in SETTING.finditer(str(error.value)))
    for argument, known in ((one, 3), (name, 4)):
        data = from_csv(text, argument, "dataset.missing=ranker")
        np.testing.assert_array_equal(data.X[:, -1], [np.nan, 1.5, 2.5, 3.5])
        assert (~np.isnan(data.X[:, 0])).sum() == known


def test_other_words_among_names_are_told_of(caplog):
    text = NOMINAL.replace("None", "NA")
    assert from_csv(text, "dataset.missing=most_frequent").feature_names == ("g=Mild",)
    assert "in column g 'NA' (1 times) means a missing value; dataset.na_values" in caplog.text
    caplog.clear()
    from_csv(text, "dataset.missing=most_frequent", "dataset.na_values=[NA]")
    from_csv(NOMINAL.replace("None", "?"), "dataset.missing=most_frequent")
    from_csv(NOMINAL.replace("None", ""), "dataset.missing=most_frequent")
    assert not caplog.records


def test_a_missing_label_is_named_with_its_word():
    with pytest.raises(DatasetError, match=r"line 2: label 'q' is missing \('NA': dataset\.na_values\)"):
        from_csv("a,p,q\n1,0,NA\n2,1,1\n", target="[p,q]")
    with pytest.raises(DatasetError, match=r"line 3: label 'q' is missing, neither"):
        from_csv("a,p,q\n1,0,1\n2,1,\n", target="[p,q]")


def test_the_default_list_is_documented():
    for file in ("conf/dataset/csv.yaml", "docs/own-data.md"):
        text = (PROJECT_ROOT / file).read_text()
        assert all(word in text for word in MISSING_WORDS) and "na_values" in text
    listed = re.search(r"by default: (.*?)\.\s", (PROJECT_ROOT / "docs/own-data.md").read_text(), re.DOTALL)[
        1
    ]
    assert re.findall(r"`([^`]+)`", listed) == list(MISSING_WORDS)


# --- formats that know what is missing


def test_words_are_text_in_typed_formats(here):
    words = ["None", "NA", "Mild"]
    assert from_parquet({"x": [1, 2, 3], "y": words}).class_names == ("Mild", "NA", "None")
    nominal = from_parquet({"g": words, "y": [0, 1, 0]}, "dataset.missing=most_frequent")
    assert nominal.feature_names == ("g=Mild", "g=NA", "g=None")
    assert from_arff(["x numeric", "y {None,NA,Mild}"], "1,None\n2,NA\n3,Mild\n").class_names == (
        "Mild",
        "NA",
        "None",
    )
    rdata.write_rda("t.RData", {"t": {"x": np.eye(3), "y": np.array(words)}})
    assert load(block("r_data", "t.RData", variable="t"), here).class_names == ("Mild", "NA", "None")


def test_parquet_takes_the_words_that_are_said():
    columns = {"g": ["NA", "Mild", "Mild"], "n": [-999, 1, 2], "y": list("uvu")}
    said = "dataset.na_values=[NA,-999]"
    with pytest.raises(
        DatasetError, match=r"row 0, column 'g' is missing \('NA' means that by dataset\.na_values\)"
    ):
        from_parquet(columns, said)
    data = from_parquet(columns, said, "dataset.missing=most_frequent")
    assert data.feature_names == ("g=Mild", "n") and data.X.tolist() == [[1, 1], [1, 1], [1, 2]]
    with pytest.raises(
        DatasetError, match=r"row 1: 'u' in column 'y' means .*dataset\.na_values=\[\] \(1 of 3"
    ):
        from_parquet({"x": [1, 2, 3], "y": list("vuv")}, "dataset.na_values=u")
    categories = pa.array(["NA", "b", "b", "c"]).dictionary_encode()
    data = from_parquet({"g": categories, "y": list("uvuv")}, said, "dataset.missing=drop_rows")
    assert data.feature_names == ("g=b",) and data.X.tolist() == [[1], [1], [0]]


def test_missing_cells_of_the_projects_own_files(here):
    (here / "t.csv").write_text("a,y\n1,None\n2,NA\n3,Mild\n")
    stated = block("delimited", "t.csv", header=True, target="y")
    assert load(stated, here).class_names == ("Mild", "NA", "None")
    stated["source"]["missing_cells"] = ["NA"]
    with pytest.raises(
        DatasetError, match=r"line 3: no class in column 'y', 'NA' means a missing value \(missing_cells\)"
    ):
        load(stated, here)
    (here / "t.csv").write_text("a,y\n1,u\nNA,v\n3,u\n")
    assert load({**stated, "missing": "most_frequent"}, here).X.tolist() == [[1], [1], [3]]
    del stated["source"]["missing_cells"]
    with pytest.raises(DatasetError, match=r"line 3: column 'a' holds 'NA'.*missing_cells names it: \[NA\]"):
        load(stated, here)


@pytest.mark.parametrize(
    "classes",
    [
        pd.Categorical(["u", None, "v"]),
        np.array(["u", None, "v"], dtype=object),
        np.array([1.0, np.nan, 2.0]),
    ],
)
def test_rows_of_r_without_a_class(here, classes):
    write_with_na({"x": np.eye(3), "y": classes})
    with pytest.raises(DatasetError, match=r"row 2 \(counted from 1\): no class in y \(NA\); 1 row has none"):
        load(block("r_data", "t.RData", variable="t"), here)


def test_missing_whole_numbers_of_r_are_missing(here):
    lowest = -(2**31)
    X = np.array([[1, 2], [lowest, 5], [3, 4]], dtype=np.int32)
    rdata.write_rda("t.RData", {"t": {"x": X, "y": np.array([1, 2, 1])}})
    stated = block("r_data", "t.RData", variable="t")
    with pytest.raises(DatasetError, match="row 1, column 'x1' is missing"):
        load(stated, here)
    assert load({**stated, "missing": "drop_rows"}, here).X.tolist() == [[1, 2], [3, 4]]
    table = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int32"), "b": [1.5, 2, 3]})
    rdata.write_rda("t.RData", {"t": {"x": table, "y": np.array([1, 2, 1])}})
    assert load({**stated, "missing": "drop_rows"}, here).X.tolist() == [[1, 1.5], [3, 3]]
    rdata.write_rda("t.RData", {"t": {"x": np.eye(3), "y": np.array([1, lowest, 1], dtype=np.int32)}})
    with pytest.raises(DatasetError, match=r"row 2 .*no class in y \(NA\)"):
        load(stated, here)


def write_with_na(elements):
    """Write an R data file; a factor's NA is a code of its own in R, which rdata writes as 0."""
    from rdata.conversion import to_r

    def factor(data, converter):
        codes = np.where(data.codes < 0, np.int32(-(2**31)), data.codes + 1).astype(np.int32)
        attributes = converter.convert_to_r_attributes(
            {"levels": np.array(list(data.categories)), "class": "factor"}
        )
        value = np.ma.masked_equal(codes, -(2**31))
        return to_r.build_r_object(to_r.RObjectType.INT, value=value, is_object=True, attributes=attributes)

    rdata.write_rda(
        "t.RData", {"t": elements}, constructor_dict={**to_r.DEFAULT_CLASS_MAP, pd.Categorical: factor}
    )


def test_a_reader_of_ones_own_makes_no_class_of_what_is_missing():
    for missing in (None, np.nan, pd.NA, pd.NaT):
        raw = RawData(np.eye(3), np.array(["u", missing, "v"], dtype=object), ["a", "b", "c"])
        with pytest.raises(DatasetError, match=r"row 1: no class \(1 of 3 rows have none\)"):
            coded(raw, "multiclass")
