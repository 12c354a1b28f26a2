"""Slips in a user's own tables: numbers with commas, doubled names, separators, lists of one."""

import logging

import numpy as np
import pandas as pd
import pytest

from experiments.config.compose import compose_runs
from experiments.datasets import load
from experiments.errors import BadInputError, ConfigError, DatasetError


def loaded(*argv):
    (config,) = compose_runs(argv).configs
    return load(config["dataset"], config["paths"]["local_data"])


def csv(text, *more, target="y"):
    with open("t.csv", "w", encoding="utf-8") as file:
        file.write(text)
    return loaded("dataset=csv", "dataset.path=t.csv", f"dataset.target={target}", *more)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- numbers


@pytest.mark.parametrize("cells", [("1,5", "2,25"), ("1,5", "2"), ("1,500,000", "2,000"), ("-1,5e3", ",5")])
def test_numbers_with_a_comma_are_no_names(cells):
    with pytest.raises(
        DatasetError, match=r"t\.csv, line [23]: column 'a' holds '.*,.*dataset\.decimal=','"
    ) as e:
        csv("a;y\n{};0\n{};1\n".format(*cells), "dataset.delimiter=semicolon")
    assert "dataset.nominal=[a]" in str(e.value)


def test_a_decimal_comma_can_be_said():
    comma = ["dataset.delimiter=';'", "dataset.decimal=','"]
    data = csv("a;b;y\n1,5;2;u\n-2,25;3;v\n", *comma)
    assert data.X.tolist() == [[1.5, 2], [-2.25, 3]] and data.feature_names == ("a", "b")
    quoted = csv('a,b,y\n"1,5",2,u\n"-2,25",3,v\n', "dataset.decimal=','")
    assert quoted.checksum == data.checksum
    assert csv("a;y\n1,5;u\n2;v\n", *comma, "dataset.nominal=a").feature_names == ("a=1.5",)


def test_with_a_decimal_comma_a_point_is_refused_and_text_is_found():
    comma = ["dataset.delimiter=';'", "dataset.decimal=','"]
    with pytest.raises(DatasetError, match=r"line 3: column 'a' holds '2\.5', a number with a point"):
        csv("a;y\n1,5;0\n2.5;1\n", *comma)
    with pytest.raises(DatasetError, match=r"line 2: column 'a' holds '1\.234,5', a number with a point"):
        csv("a;y\n1.234,5;0\n2.345,5;1\n", *comma)
    with pytest.raises(DatasetError, match=r"line 4: column 'a' holds 'oops' among numbers"):
        csv("a;y\n1,5;0\n2,5;1\noops;1\n", *comma)


def test_hexadecimal_numbers_are_no_names():
    with pytest.raises(DatasetError, match=r"line 2: column 'a' holds '0x1F', a hexadecimal number"):
        csv("a,y\n0x1F,0\n0x20,1\n")


def test_texts_with_commas_that_are_no_numbers_stay_names():
    data = csv('a,y\n"red, dark",0\n"1,2,3 x",1\n12.05.2020,0\n')
    assert data.X.shape == (3, 3)


def test_another_decimal_is_refused():
    with pytest.raises(ConfigError, match=r"dataset\.decimal=';' is neither"):
        csv("a,y\n1,0\n2,1\n", "dataset.decimal=';'")


# --- names


@pytest.mark.parametrize(
    ("key", "more"),
    [("target", []), ("leave_out", ["dataset.leave_out=[y]"]), ("nominal", ["dataset.nominal=[y]"])],
)
def test_a_name_that_two_columns_have_is_refused(key, more):
    with pytest.raises(
        DatasetError,
        match=rf"2 columns are called 'y' \(dataset\.{key}\): 1, 3, from 0 \(names are compared w",
    ):
        csv("a,y,z, y\n1,0,0,5\n2,1,1,6\n", *more, target="y" if key == "target" else "z")


def test_columns_of_one_name_are_told_apart_by_place_and_warned_of(caplog):
    with caplog.at_level(logging.WARNING):
        data = csv("a,y,a,y\n1,0,0,5\n2,1,1,6\n", target="1")
    assert data.y.tolist() == [0, 1] and data.feature_names == ("a", "a.1", "y.1")
    (record,) = caplog.records
    assert "t.csv" in record.getMessage() and "a, a.1" in record.getMessage()


def test_names_of_parquet_are_without_spaces_around_them(caplog):
    frame = pd.DataFrame({" a": [1.5, 2.5], "a ": [3.5, 4.5], "": [5.5, 6.5], " y ": [0, 1]})
    frame.to_parquet("t.parquet")
    with caplog.at_level(logging.WARNING):
        data = loaded("dataset=parquet", "dataset.path=t.parquet", "dataset.target=y")
        frame.to_csv("t.csv", index=False)
        same = loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=y")
    assert data.feature_names == same.feature_names == ("a", "a.1", "Unnamed: 2")
    assert data.checksum == same.checksum
    assert "known as a, a.1 (names are compared without spaces around them)" in caplog.text


def test_names_that_differ_are_not_warned_of(caplog):
    with caplog.at_level(logging.WARNING):
        assert csv('"a, b",a.1,y\n1,0,0\n2,1,1\n').feature_names == ("a, b", "a.1")
    assert not caplog.records


@pytest.mark.parametrize("key", ["leave_out", "nominal"])
def test_one_name_is_not_taken_for_letters(key):
    data = csv("id,i,d,y\n7,1,5,0\n9,2,6,1\n8,3,7,1\n", f"dataset.{key}=id")
    made = ("i", "d") if key == "leave_out" else ("id=7", "id=8", "id=9", "i", "d")
    assert data.feature_names == made


def test_one_place_is_enough():
    assert csv("id,i,y\n7,1,0\n9,2,1\n", "dataset.leave_out=0").feature_names == ("i",)


def test_one_attribute_is_not_taken_for_letters():
    with open("t.arff", "w") as file:
        file.write("@relation t\n@attribute id numeric\n@attribute b numeric\n@attribute y {u,v}\n")
        file.write("@data\n1,5,u\n2,6,v\n")
    data = loaded("dataset=arff", "dataset.path=t.arff", "dataset.target=y", "dataset.leave_out=id")
    assert data.feature_names == ("b",)


@pytest.mark.parametrize("kind", ["csv", "parquet", "arff"])
def test_a_list_of_one_or_none_is_no_target(kind):
    for target, words in (
        ("[red]", r"dataset\.target=red$"),
        ("[]", r"dataset\.target=\[\] names no target"),
    ):
        with open("t", "w") as file:
            file.write("red,y\n0,1\n1,0\n")
        with pytest.raises(ConfigError, match=words):
            loaded(f"dataset={kind}", "dataset.path=t", f"dataset.target={target}")


# --- separators


@pytest.mark.parametrize("typed", ["tab", r"'\t'", r"\t", "TAB"])
def test_a_tab_by_any_name(typed):
    assert csv("a\ty\n1\t0\n2\t1\n", f"dataset.delimiter={typed}").X.tolist() == [[1], [2]]


def test_a_semicolon_by_its_word():
    assert csv("a;y\n1;0\n2;1\n", "dataset.delimiter=semicolon").X.tolist() == [[1], [2]]


@pytest.mark.parametrize("typed", ["';;'", "tabs", "''", "3.5"])
def test_a_delimiter_is_one_character(typed):
    with pytest.raises(ConfigError, match=r"dataset\.delimiter=.*one character"):
        csv("a;y\n1;0\n2;1\n", f"dataset.delimiter={typed}")


@pytest.mark.parametrize(("mark", "word"), [(";", "semicolon"), ("\t", "tab")])
@pytest.mark.parametrize("rows", ["1,5{0}0\n2,5{0}1\n", "1{0}0\n2{0}1\n"])
@pytest.mark.parametrize("names", ["a{0}y", "a, b{0}y"])
def test_the_first_line_tells_of_another_delimiter(mark, word, rows, names):
    with pytest.raises(BadInputError, match=rf"is ',' what separates .*\(dataset\.delimiter={word}\)\?"):
        csv(f"{names.format(mark)}\n{rows.format(mark)}")


def test_a_parquet_column_of_text_with_commas_names_no_key_it_has_not():
    pd.DataFrame({"a": ["1,5", "2,5"], "y": [0, 1]}).to_parquet("t.parquet")
    with pytest.raises(DatasetError, match="store it as a number") as error:
        loaded("dataset=parquet", "dataset.path=t.parquet", "dataset.target=y")
    assert "decimal=" not in str(error.value)


def test_lists_in_a_parquet_column_are_no_names():
    pd.DataFrame({"a": [np.arange(2), np.arange(3)], "y": [0, 1]}).to_parquet("t.parquet")
    with pytest.raises(DatasetError, match=r"row 0: column 'a' holds lists.*dataset\.leave_out=\[a\]"):
        loaded("dataset=parquet", "dataset.path=t.parquet", "dataset.target=y")


# --- files, and columns that are made


def test_two_columns_of_one_made_name():
    with pytest.raises(DatasetError, match=r"two columns would be called 'colour=red'.*dataset\.leave_out"):
        csv("colour,colour=red,y\nred,5,0\nblue,6,1\ngreen,7,1\n")


def test_a_folder_is_no_file(here):
    (here / "data").mkdir()
    with pytest.raises(DatasetError, match="data is a folder; give the file in it"):
        loaded("dataset=csv", "dataset.path=data", "dataset.target=y")


def test_text_that_is_not_utf_8_has_a_remedy(here):
    (here / "t.csv").write_bytes("a,y\ncafé,0\n".encode("latin-1"))
    with pytest.raises(DatasetError, match=r"t\.csv, line 2: not UTF-8.*; save it as UTF-8"):
        loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=y")
    (here / "t.csv").write_bytes("größe,y\n1,übel\n2,gut\n".encode("cp1252"))
    data = loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=y", "dataset.encoding=cp1252")
    assert data.feature_names == ("größe",) and data.class_names == ("gut", "übel")
    assert data.X.tolist() == [[1.0], [2.0]] and data.y.tolist() == [1, 0]


def test_a_data_set_need_not_state_its_size(here):
    (here / "conf" / "dataset").mkdir(parents=True)
    (here / "t.csv").write_text("a,y\n1,0\n2,1\n")
    (here / "conf" / "dataset" / "mine.yaml").write_text(
        "name: mine\ntask: auto\nsource:\n  _target_: experiments.datasets.own.csv\n  path: t.csv\n  target: y\n"
    )
    assert loaded("dataset=mine", "--config-dir", "conf").X.shape == (2, 1)
