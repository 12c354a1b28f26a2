"""Keys of a source have the types that its reader states; a quoted value is text."""

import pytest
from own_data import from_csv

from experiments.config.compose import compose_runs
from experiments.config.validation import typed_source
from experiments.errors import ConfigError

TABLE = "x,y\n1,a\n2,b\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def source(*argv):
    (config,) = compose_runs(["dataset=csv", "dataset.path=t.csv", *argv]).configs
    return config["dataset"]["source"]


@pytest.mark.parametrize("word", ["yes", "on", "true", "1", "YES", "'true'"])
def test_words_for_yes(word):
    data = from_csv(TABLE, f"dataset.header={word}")
    assert data.X.tolist() == [[1], [2]] and data.feature_names == ("x",)


@pytest.mark.parametrize("word", ["no", "off", "false", "0", "NO", "'false'"])
def test_words_for_no(word):
    data = from_csv(TABLE.partition("\n")[2], f"dataset.header={word}", target="1")
    assert data.X.tolist() == [[1], [2]] and data.feature_names == ("x1",)
    assert source("dataset.target=1", f"dataset.header={word}")["header"] is False


@pytest.mark.parametrize("word", ["maybe", "2", "1.0", "null", "[]", "[true]", "nein"])
def test_another_word_is_neither(word):
    for key in ("header", "source.header"):
        with pytest.raises(ConfigError, match=r"^dataset\.header=.*: it takes yes or no"):
            compose_runs(["dataset=csv", "dataset.path=t.csv", "dataset.target=y", f"dataset.{key}={word}"])


def test_types_of_a_yaml_file_are_checked_when_it_is_loaded():
    block = {"_target_": "experiments.datasets.own.csv", "header": "off", "skip_lines": "1", "target": 1}
    assert typed_source(block) == block | {"header": False, "skip_lines": 1}
    for key, value in (("header", "maybe"), ("skip_lines", 1.5), ("skip_lines", True)):
        with pytest.raises(ConfigError, match=rf"^dataset\.{key}=.*: it takes (yes or no|a whole number)"):
            typed_source(block | {key: value})
    power = {"_target_": "experiments.datasets.synthetic.friedman1", "noise": "much"}
    with pytest.raises(ConfigError, match=r"^dataset\.noise=much: it takes a number, not 'much'"):
        typed_source(power)


@pytest.mark.parametrize(
    "name", ["1e3", "true", "null", "1_000", "a=b", "a,b", "(a)", "é", "'é'", "12:30", "5.0"]
)
def test_a_quoted_name_is_text(name):
    name = name.strip("'")
    (found,) = source(f"dataset.target=[z,'{name}']")["target"][1:]
    assert found == name and source(f"dataset.target='{name}'")["target"] == name


def test_names_that_need_no_quotes():
    text = "1.0,2.0,5.0,é\n1,2,u,5\n2,3,v,6\n"
    assert from_csv(text, target="5.0").feature_names == ("1.0", "2.0", "é")
    assert from_csv(text, "dataset.leave_out=[1.0]", target="5.0").feature_names == ("2.0", "é")
    assert source("dataset.target=étiquette")["target"] == "étiquette"
    assert source("dataset.target=-1")["target"] == -1, "a place"
    data = from_csv("1.0,1e3,y\n1,5,u\n2,6,v\n", "dataset.informative=['1e3']", "dataset.name='1e3'")
    assert data.informative == (1,) and data.name == "1e3"


def test_a_name_read_as_a_number_is_refused_not_mistaken():
    for typed in ("1e3", "true"):
        with pytest.raises(Exception, match="no column"):
            from_csv(f"a,{typed}x\n1,u\n2,v\n", target=typed)


def test_what_cannot_be_read_says_how_to_quote():
    with pytest.raises(ConfigError, match=r"goes inside quotes, as in \"key='a,b'\""):
        source("dataset.target=(a)")
