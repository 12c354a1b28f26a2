"""Keys of a source have types, and names of columns are found by their text, whatever YAML reads in it."""

import itertools
import unicodedata

import numpy as np
import pytest
import yaml
from own_data import block, from_arff, from_csv, from_parquet, loaded
from scipy.io import savemat

from experiments.config.compose import PROJECT_ROOT, compose_runs
from experiments.config.override_texts import pieces, spelled, written
from experiments.config.source_keys import annotations_of, converted, typed_source, typed_sources
from experiments.datasets import DatasetError, RawData, load
from experiments.errors import BadInputError, ConfigError

TABLE = "x,y\n1,a\n2,b\n"
NAMES = [
    "5.0", "1.", "1e3", "0x10", "1_000", "010", "+5", "007", "-0", "true", "True", "false", "null", "Null", "~x",
    "yes", "no", "on", "None", "nan", "NaN", "inf", "2020-01-01", "12:30", "1:30:00", "a b",
    "a (b)", "[0,1]x", "é", "#x",
    "a=b", "a'b", "%", "5.0.1",
]  # fmt: skip
SOME = ("5.0", "1e3", "010", "null", "true", "2020-01-01", "é")
READERS = [
    *(f"own.{name}" for name in ("csv", "parquet", "arff", "libsvm", "mat")),
    "readers.arff.arff", "readers.text.cluto", "readers.text.delimited", "readers.matlab.matlab",
    "readers.arff.mulan", "readers.text.orange_tab",
    "readers.spreadsheet.r_data", "readers.spreadsheet.spreadsheet",
    "openml.openml", "bundled.scikit_learn", "plink.plink",
    *(f"synthetic.{name}" for name in ("epistasis", "parity", "clusters")),
]  # fmt: skip


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- types


@pytest.mark.parametrize("word", ["yes", "on", "true", "1", "YES", "On", "True", "'true'"])
def test_words_for_yes(word):
    data = from_csv(TABLE, f"dataset.header={word}")
    assert data.X.tolist() == [[1], [2]] and data.feature_names == ("x",)


@pytest.mark.parametrize("word", ["no", "off", "false", "0", "NO", "Off", "False", "'false'"])
def test_words_for_no(word):
    data = from_csv(TABLE.partition("\n")[2], f"dataset.header={word}", target="1")
    assert data.X.tolist() == [[1], [2]] and data.feature_names == ("x1",)
    (config,) = compose_runs(
        ["dataset=csv", "dataset.path=t.csv", "dataset.target=1", f"dataset.header={word}"]
    ).configs
    assert config["dataset"]["source"]["header"] is False and config["dataset_key"] == "t.csv[header=false]"


@pytest.mark.parametrize("word", ["maybe", "2", "1.0", "null", "[]", "[true]", "nein"])
def test_another_word_is_neither(word):
    with pytest.raises(ConfigError, match=r"^dataset\.header=.*: it takes yes or no"):
        from_csv(TABLE, f"dataset.header={word}")
    with pytest.raises(ConfigError, match=r"it takes yes or no"):
        compose_runs(
            ["dataset=csv", "dataset.path=t.csv", "dataset.target=y", f"dataset.source.header={word}"]
        )


def test_the_data_sets_own_keys_have_types():
    assert from_csv("x,z,y\n1,3,a\n2,3,b\n", "dataset.drop_constant=yes").feature_names == ("x",)
    assert from_csv("x,z,y\n1,3,a\n2,3,b\n", "dataset.drop_constant=no").feature_names == ("x", "z")
    with pytest.raises(ConfigError, match="drop_constant"):
        from_csv(TABLE, "dataset.drop_constant=maybe")


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_states_the_type_of_every_key(reader):
    import inspect

    from experiments.locate import locate

    target = f"experiments.datasets.{reader}"
    parameters = set(inspect.signature(locate(target)).parameters) - {"places"}
    assert parameters == set(annotations_of(target))


WRONG = {bool: ["maybe", 2, [], None], int: ["two", 1.5, True, []], float: ["much", True, []]}


@pytest.mark.parametrize("reader", READERS)
def test_every_key_of_every_reader_is_checked(reader):
    """A truth value, a number, a list or a block where another kind is wanted is refused by its name."""
    target = f"experiments.datasets.{reader}"
    for key, kind in annotations_of(target).items():
        wrong = WRONG.get(kind, [{"a": {"b": 1}}] if "Mapping" not in str(kind) else [5])
        for value in wrong:
            with pytest.raises(ConfigError, match=rf"dataset\.{key}=.*it takes "):
                typed_source({"_target_": target, key: value})


def test_the_projects_own_files_have_the_types_already():
    for file in sorted((PROJECT_ROOT / "conf" / "dataset").glob("*.yaml")):
        (config,) = compose_runs([f"dataset={file.stem}"]).configs
        assert typed_sources(config["dataset"]) == config["dataset"]


def test_types_are_checked_when_a_block_is_loaded(here):
    (here / "t.csv").write_text(TABLE)
    assert load(block("delimited", "t.csv", header="yes", target="y"), here).X.shape == (2, 1)
    assert load(block("delimited", "t.csv", header="off", skip_lines="1", target=1), here).X.shape == (2, 1)
    with pytest.raises(ConfigError, match=r"dataset\.header=maybe: it takes yes or no"):
        load(block("delimited", "t.csv", header="maybe", target="y"), here)
    with pytest.raises(ConfigError, match=r"dataset\.download=5: it takes a block of keys"):
        load(block("delimited", "t.csv", header=True, target="y", download=5), here)


def own_reader(n_rows, power: float = 1.0, names: list[str] | None = None):
    return RawData(np.arange(float(n_rows))[:, None] ** power, np.arange(n_rows) % 2, names or ["a"])


def test_a_reader_of_ones_own_is_checked_as_far_as_it_states_types(monkeypatch):
    monkeypatch.setattr("experiments.datasets.bundled.own_reader", own_reader, raising=False)
    stated = {
        "name": "own",
        "task": "multiclass",
        "source": {"_target_": "experiments.datasets.bundled.own_reader", "n_rows": 3},
    }
    stated["source"] |= {"power": "2", "names": ["b"]}
    assert load(stated, "/").X.tolist() == [[0], [1], [4]]
    stated["source"]["power"] = "much"
    with pytest.raises(ConfigError, match=r"dataset\.power=much: it takes a number, not 'much'"):
        load(stated, "/")


def test_conversions():
    assert converted(2.0, int, "k") == 2 and converted("-3", int | None, "k") == -3
    assert converted("0.5", float, "k") == 0.5 and converted(None, int | None, "k") is None
    assert converted(True, str, "k") == "true" and converted(1e3, str, "k", "1e3") == "1e3"
    assert converted("${oc.env:X}", bool, "k") == "${oc.env:X}"
    with pytest.raises(ConfigError, match="k=null: it takes a whole number, not null"):
        converted(None, int, "k")


# --- names


@pytest.mark.parametrize("name", NAMES)
def test_a_target_is_found_by_its_text(here, name):
    quoted = f'"{name}"'
    data = from_csv(f"a,{quoted}\n1,u\n2,v\n", target=name)
    assert data.class_names == ("u", "v") and data.feature_names == ("a",)
    if name in SOME:
        assert from_parquet({"a": [1, 2], name: ["u", "v"]}, target=name).checksum == data.checksum
        assert (
            from_arff(["a numeric", f"'{name}' {{u,v}}"], "1,u\n2,v\n", target=name).checksum == data.checksum
        )


@pytest.mark.parametrize("name", SOME)
def test_columns_of_a_list_are_found_by_their_text(name):
    text = f'a,"{name}",1.0,y\n1,5,7,u\n2,5,9,v\n3,6,7,u\n'
    assert from_csv(text, f"dataset.leave_out=[{name},1.0]").feature_names == ("a",)
    assert from_csv(text, f"dataset.nominal=[{name}]").feature_names == ("a", f"{name}=5", "1.0")
    labels = from_csv(f'a,"{name}",on\n1,0,1\n2,1,0\n', target=f"[{name},on]")
    assert labels.class_names == (name, "on") and labels.y.toarray().tolist() == [[0, 1], [1, 0]]


def test_the_header_of_numbers():
    text = "1.0,2.0,3.0,4.0,5.0\n1,2,3,4,u\n2,3,4,5,v\n"
    assert from_csv(text, target="5.0").feature_names == ("1.0", "2.0", "3.0", "4.0")
    with pytest.raises(DatasetError, match=r"no column '5\.00' .*did you mean 5\.0"):
        from_csv(text, target="5.00")
    assert from_csv(text, target="4").feature_names == ("1.0", "2.0", "3.0", "4.0")


def test_several_targets_one_after_the_other():
    argv = ["dataset=csv", "dataset.path=t.csv", "dataset.target=1e3,true,010,1", "ranker=relieff"]
    targets = [each["dataset"]["source"]["target"] for each in compose_runs(argv).configs]
    assert targets == ["1e3", "true", "010", 1]


@pytest.mark.parametrize("name", [*SOME, "1_000", "0x10", "yes", "12:30", "a=b", "-0"])
def test_names_in_a_yaml_file_of_ones_own(here, name):
    """Written plainly where YAML allows it, they are read as the text that stands there."""
    (here / "t.csv").write_text(f'a,b,"{name}"\n1,5,u\n2,6,v\n', encoding="utf-8")
    (here / "conf" / "dataset").mkdir(parents=True)
    plain = name if not set(name) & set("[#%~(") and name != "null" and name != "Null" else f"'{name}'"
    (here / "conf" / "dataset" / "mine.yaml").write_text(
        "name: mine\ntask: auto\nsource:\n  _target_: experiments.datasets.own.csv\n  path: t.csv\n"
        f"  target: {plain}\n  header: on\n  leave_out: [b]\n  nominal: []\n",
        encoding="utf-8",
    )
    data = loaded("dataset=mine", "--config-dir", "conf")
    assert data.class_names == ("u", "v") and data.feature_names == ("a",)


def test_names_of_classes_and_of_informative_columns_in_a_yaml_file(here):
    (here / "t.csv").write_text("1.0,1e3,y\n1,5,0\n2,6,1\n")
    (here / "conf" / "dataset").mkdir(parents=True)
    (here / "conf" / "dataset" / "mine.yaml").write_text(
        "name: 1e3\ntask: multiclass\nsource:\n"
        "  _target_: experiments.datasets.readers.text.delimited\n  path: t.csv\n"
        "  target: y\n  header: yes\n  class_names: {0: no, 1: yes}\ninformative: [1e3]\n"
    )
    data = loaded("dataset=mine", "--config-dir", "conf", f"paths.local_data={here}")
    assert (data.name, data.class_names, data.informative) == ("1e3", ("no", "yes"), (1,))


def test_names_typed_for_the_data_set():
    data = from_csv("1.0,1e3,y\n1,5,u\n2,6,v\n", "dataset.informative=[1e3]", "dataset.name=1e3")
    assert data.informative == (1,) and data.name == "1e3"


def test_a_matlab_variable_is_found_by_its_text():
    savemat("t.mat", {"e1": np.eye(2) + 1, "true": np.array([1, 2])})
    typed = ["dataset=mat", "dataset.path=t.mat", "dataset.features=e1", "dataset.target=true"]
    assert loaded(*typed).y.tolist() == [0, 1]


# --- accents


FORMS = [unicodedata.normalize(form, "étiquette ñ") for form in ("NFC", "NFD")]


@pytest.mark.parametrize(("there", "asked"), list(itertools.product(FORMS, FORMS)))
def test_accents_are_one_name_in_both_forms(here, there, asked):
    data = from_csv(f"a,b,{there}\n1,5,u\n2,6,v\n", target=asked)
    assert data.class_names == ("u", "v")
    assert from_parquet({"a": [1, 2], "b": [5, 6], there: ["u", "v"]}, target=asked).checksum == data.checksum
    assert (
        from_arff(["a numeric", "b numeric", f"'{there}' {{u,v}}"], "1,5,u\n2,6,v\n", target=asked).checksum
        == data.checksum
    )
    (here / "t.csv").write_text(f"a,{there},y\n1,5,u\n2,6,v\n", encoding="utf-8")
    own = block("delimited", "t.csv", header=True, target="y", leave_out=[asked])
    assert load(own, here).feature_names == ("a",)
    left_out = from_csv(f"a,{there},y\n1,5,u\n2,6,v\n", f"dataset.leave_out=[{asked}]")
    assert left_out.feature_names == ("a",)
    informative = from_csv(f"a,{there},y\n1,5,u\n2,6,v\n", f"dataset.informative=[{asked}]")
    assert informative.informative == (1,)


def test_the_very_name_goes_before_its_other_form():
    data = from_csv("a,é,e\u0301\n1,u,3\n2,v,4\n", target="é")
    assert data.class_names == ("u", "v") and data.feature_names == ("a", "e\u0301")
    with pytest.raises(DatasetError, match=r"2 columns are called"):
        from_csv("a,ñ\u0301e\u0301,n\u0303\u0301é\n1,u,3\n2,v,4\n", target="n\u0303\u0301e\u0301")


def test_names_that_only_look_the_same_are_said_to(here):
    with pytest.raises(BadInputError, match=r"did you mean .*\(other characters that look the same\)"):
        from_csv("a,my\u00a0class\n1,u\n2,v\n", target="my class")


# --- text of overrides


def test_pieces_of_a_value():
    assert pieces("a,[b,c],'d,e',f\\,g, h(1,2)") == ["a", "[b,c]", "'d,e'", "f\\,g", "h(1,2)"]
    assert pieces("") == [] and pieces("a,") == ["a", ""]
    assert spelled(" 1e3 ", 1000.0) == "1e3" and spelled("[1.0,true]", [1.0, True]) == ["1.0", "true"]
    assert spelled("float(5)", 5.0) is None and spelled("[1,2]", [1]) is None
    for value in (None, True, 5, 2.5, "a", "5.0", "null", "it's", "é", ["a", ["b c", 1]], {"a": 1}):
        from hydra.core.override_parser.overrides_parser import OverridesParser

        assert OverridesParser.create().parse_override(f"k={written(value)}").value() == value
    assert yaml.safe_load("1e3") == "1e3"  # YAML's own reader and OmegaConf's differ here
