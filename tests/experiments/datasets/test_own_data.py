"""A user's own data without a YAML file, and YAML files of one's own in any folder."""

import gzip
import os
import sys

import numpy as np
import pandas as pd
import programs
import pytest
import yaml
from scipy import sparse
from scipy.io import savemat
from written_tables import WRITERS, arff, features, loaded, table, typed

from experiments.config.compose import PROJECT_ROOT, compose_runs
from experiments.datasets import load
from experiments.errors import BadInputError, ConfigError, DatasetError, MissingFileError


def run_py(folder, *argv, program="run.py"):
    command = [sys.executable, str(PROJECT_ROOT / program), *argv]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return programs.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- every format ---


@pytest.mark.parametrize("kind", WRITERS)
def test_a_class_in_every_format(here, kind):
    frame = table()
    data = loaded(*typed(kind, WRITERS[kind](here, frame, ["label"]), "label"))
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    assert data.task == "multiclass" and np.array_equal(X, features(frame))
    assert np.array_equal(data.y, frame["label"]) and data.class_names == ("0", "1", "2")
    assert data.feature_names == ("x1", "x2", "x3")


@pytest.mark.parametrize("kind", WRITERS)
def test_labels_in_every_format(here, kind):
    frame = table()
    data = loaded(*typed(kind, WRITERS[kind](here, frame, ["l1", "l2"]), "[l1,l2]"))
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    assert data.task == "multilabel" and np.array_equal(X, features(frame))
    assert np.array_equal(data.y.toarray(), frame[["l1", "l2"]])
    assert data.class_names == (("1", "2") if kind == "libsvm" else ("l1", "l2"))


def test_the_format_is_no_part_of_the_checksum(here):
    """One file saved in another format runs nothing again."""
    frame = table()
    for targets, target in ((["label"], "label"), (["l1", "l2"], "[l1,l2]")):
        found = {
            loaded(*typed(kind, write(here, frame, targets), target)).checksum
            for kind, write in WRITERS.items()
        }
        assert len(found) == 1


def test_packed_files_and_other_separators(here):
    frame = table()
    (here / "t.tsv.gz").write_bytes(gzip.compress(frame.to_csv(index=False, sep="\t").encode("utf-8-sig")))
    (here / "t.txt").write_text(frame.to_csv(index=False, sep=";"))
    packed = loaded("dataset=csv", "dataset.path=t.tsv.gz", "dataset.target=label")
    other = loaded("dataset=csv", "dataset.path=t.txt", "dataset.target=label", "dataset.delimiter=';'")
    assert packed.checksum == other.checksum and packed.X.shape == (40, 5)


def test_a_file_without_a_header_and_targets_by_place(here):
    frame = table()
    frame.to_csv("t.csv", index=False, header=False)
    by_place = loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=-1", "dataset.header=false")
    assert np.array_equal(by_place.y, frame["label"]) and by_place.feature_names[-1] == "x5"
    frame.to_csv("named.csv", index=False)
    assert loaded("dataset=csv", "dataset.path=named.csv", "dataset.target=5").checksum == by_place.checksum
    several = loaded(
        "dataset=csv", "dataset.path=named.csv", "dataset.target=[3,l2]", "dataset.leave_out=[label]"
    )
    assert several.class_names == ("l1", "l2") and several.feature_names == ("x1", "x2", "x3")


def test_a_column_whose_name_is_a_number_goes_before_the_place(here):
    (here / "t.csv").write_text("1,0,2\n5,a,6\n7,b,8\n")
    data = loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=0")
    assert data.class_names == ("a", "b") and data.feature_names == ("1", "2")


def test_text_becomes_columns_and_missing_cells_are_asked_about(here):
    (here / "t.csv").write_text("size,colour,grade,y\n1,red,a,yes\n2,blue,b,no\n?,red,c,no\n4,red,a, yes\n")
    typed_here = ["dataset=csv", "dataset.path=t.csv", "dataset.target=y"]
    with pytest.raises(DatasetError, match=r"t\.csv, line 4, column 'size' is missing.*dataset\.missing"):
        loaded(*typed_here)
    data = loaded(*typed_here, "dataset.missing=drop_rows")
    assert (
        data.feature_names == ("size", "colour=blue", "grade=a", "grade=b") or data.feature_names[0] == "size"
    )
    assert data.X.shape[0] == 3 and data.class_names == ("no", "yes") and data.y.tolist() == [1, 0, 1]
    filled = loaded(*typed_here, "dataset.missing=most_frequent")
    assert filled.feature_names == ("size", "colour=blue", "grade=a", "grade=b", "grade=c")
    assert filled.X.tolist() == [[1, 0, 1, 0, 0], [2, 1, 0, 1, 0], [1, 0, 0, 0, 1], [4, 0, 1, 0, 0]]


def test_parquet_keeps_its_kinds(here):
    frame = pd.DataFrame(
        {
            "number": [1.5, None, 3.0],
            "whole": pd.array([1, 2, 3], dtype="Int64"),
            "flag": [True, False, True],
            "kind": pd.Categorical(["1", "3", "1"]),
            "y": ["a", "b", "b"],
        }
    )
    frame.to_parquet("t.parquet")
    data = loaded(
        "dataset=parquet", "dataset.path=t.parquet", "dataset.target=y", "dataset.missing=most_frequent"
    )
    assert data.feature_names == ("number", "whole", "flag", "kind=1")
    assert data.X.tolist() == [[1.5, 1, 1, 1], [1.5, 2, 0, 0], [3, 3, 1, 1]]


def test_labels_of_mulan_by_their_list(here):
    arff(here, table(), ["l1", "l2"])
    (here / "t.xml").write_text('<labels><label name="l2"/><label name="l1"/></labels>')
    data = loaded("dataset=arff", "dataset.path=t.arff", "dataset.target=t.xml")
    assert data.task == "multilabel" and data.class_names == ("l1", "l2")
    assert np.array_equal(data.y.toarray(), table()[["l1", "l2"]])


@pytest.mark.parametrize("transposed", [False, True])
def test_a_matrix_of_plus_and_minus_one_is_labels(here, transposed):
    frame = table()
    T = 2.0 * frame[["l1", "l2"]].to_numpy() - 1
    savemat("t.mat", {"X": sparse.csc_matrix(features(frame)), "T": T.T if transposed else T})
    data = loaded(*typed("mat", "t.mat", "T"))
    assert np.array_equal(data.y.toarray(), frame[["l1", "l2"]]) and data.class_names == ("y1", "y2")


def test_libsvm_rows_without_a_label(here):
    (here / "t.svm").write_text("1,3 1:2 4:1\n 2:1 # none\n3 1:1\n")
    data = loaded("dataset=libsvm", "dataset.path=t.svm")
    assert data.y.toarray().tolist() == [[1, 1], [0, 0], [0, 1]] and data.class_names == ("1", "3")
    assert data.X.toarray().tolist() == [[2, 0, 0, 1], [0, 1, 0, 0], [1, 0, 0, 0]]


# --- what is wrong with a file ---


@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        (
            "a,y\n1,0\noops,1\n3,0\n",
            [],
            r"t\.csv, line 3: column 'a' holds 'oops' among numbers.*nominal=\[a\]",
        ),
        (
            "a,y\n1,0\n2\n3,0\n",
            [],
            r"t\.csv, line 3 \(1 of 2 cells\): no class in column 'y' \(1 of 3 rows have none\)",
        ),
        ("a,y\n1,0\n2,1,7\n", [], r"t\.csv is no even table: .*line 3"),
        ("a,y\n1,0,7\n2,1,7\n", [], r"no even table: lines have more cells"),
        ("", [], r"t\.csv holds no table: it is empty; give it a line of names"),
        ("a,y\n", [], r"the table is empty"),
        (
            "a;y\n1;0\n",
            [],
            r"no column 'y' .*is ',' what separates the cells \(dataset\.delimiter=semicolon\)",
        ),
        ("a,yy\n1,0\n", [], r"no column 'y' \(dataset\.target\) among its 2; did you mean yy\?"),
        ("a,y\n1,0\n", ["dataset.leave_out=[b]"], r"no column 'b' \(dataset\.leave_out\)"),
        (",a,y\n0,5,0\n1,6,1\n2,5,1\n", [], r"column 0 has no name and counts the rows.*leave_out=\[0\]"),
        (
            "\n".join(["name,y", *(f"row {row},{row % 2}" for row in range(30))]),
            [],
            r"'name'.*leave_out=\[name\]",
        ),
        ("a,y\n1,0\ninf,1\n", [], r"t\.csv, line 3, column 'a' is infinite; 1 value is infinite: put"),
    ],
)
def test_a_bad_table_is_named_with_its_place(here, text, more, words):
    (here / "t.csv").write_text(text)
    with pytest.raises(DatasetError, match=words) as error:
        loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=y", *more)
    assert str(error.value).startswith("data set t.csv") and len(str(error.value).splitlines()) <= 2


def test_labels_other_than_0_and_1_are_named_with_their_line(here):
    (here / "t.csv").write_text("a,p,q\n1,0,true\n2,1,False\n3,2,true\n")
    with pytest.raises(DatasetError, match=r"line 4: label 'p' is '2', neither 0 nor 1"):
        loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=[p,q]")
    with pytest.raises(ConfigError, match="single label is a class"):
        loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=[q]")
    with pytest.raises(DatasetError, match="named twice"):
        loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=[q,2]")


def test_names_that_are_not_utf_8(here):
    (here / "t.csv").write_bytes("a,naïve\n1,0\n".encode("latin-1"))
    with pytest.raises(DatasetError, match=r"t\.csv, line 1: not UTF-8"):
        loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=a")


def test_what_is_no_file_of_the_kind(here):
    (here / "t.bin").write_bytes(b"PAR1 not really")
    for kind, target in (("parquet", "y"), ("mat", "y"), ("arff", "y"), ("libsvm", "")):
        with pytest.raises(DatasetError, match=r"t\.bin"):
            loaded(*typed(kind, "t.bin", target))
    (here / "t.svm").write_text("1 1:2\n2 2:x\n")
    with pytest.raises(DatasetError, match=r"t\.svm, line 2"):
        loaded("dataset=libsvm", "dataset.path=t.svm")
    with pytest.raises(DatasetError, match=r"no rows"):
        (here / "t.svm").write_text("# nothing\n")
        loaded("dataset=libsvm", "dataset.path=t.svm")


def test_dates_are_no_features(here):
    pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"]), "y": [0, 1]}).to_parquet("t.parquet")
    with pytest.raises(DatasetError, match=r"'when' holds neither numbers nor text.*leave_out=\[when\]"):
        loaded("dataset=parquet", "dataset.path=t.parquet", "dataset.target=y")


def test_a_file_that_is_not_there_names_every_place(here, tmp_path):
    with pytest.raises(MissingFileError) as error:
        loaded("dataset=csv", "dataset.path=no.csv", "dataset.target=y", f"paths.local_data={tmp_path}/data")
    assert f"{tmp_path}/no.csv" in str(error.value) and f"{tmp_path}/data/no.csv" in str(error.value)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([], r"dataset=csv does not say dataset.path and dataset.target\nneeded: .*dataset.target"),
        (["dataset.path=t.csv"], r"does not say dataset.target"),
    ],
)
def test_what_is_not_typed_is_asked_for(here, more, words):
    with pytest.raises(ConfigError, match=words):
        loaded("dataset=csv", *more)


# --- names and places ---


def keys(*argv):
    return [each["dataset_key"] for each in compose_runs(argv).configs]


def test_a_file_is_known_by_its_name(here):
    typed_here = ["dataset=csv", "dataset.path=some/where/t.csv"]
    assert keys(*typed_here, "dataset.target=y") == ["t.csv"]
    assert keys(*typed_here, "dataset.target=y", "dataset.name=mine") == ["mine"]
    assert keys(*typed_here, "dataset.target=[a,b]", "dataset.leave_out=[c,1]") == ["t.csv[leave_out=[c,1]]"]
    assert keys(*typed_here, "dataset.target=y,z") == ["t.csv[target=y]", "t.csv[target=z]"]
    assert keys("dataset=csv", "dataset.target=y", "dataset.path=a/t.csv,b/t.csv,c/u.csv") == [
        "t.csv[path=a/t.csv]",
        "t.csv[path=b/t.csv]",
        "u.csv",
    ]
    assert keys("dataset=csv,arff", "dataset.target=y", "dataset.path=t.csv") == [
        "t.csv[reader=csv]",
        "t.csv[reader=arff]",
    ]
    assert keys("dataset=csv,arff", "dataset.target=y,z", "dataset.path=t.csv") == [
        f"t.csv[target={target},reader={reader}]" for reader in ("csv", "arff") for target in "yz"
    ]
    assert keys("dataset=csv", "dataset.target=y", "dataset.path='t (1, new) [2].csv'") == [
        "t (1, new) [2].csv"
    ]


def test_a_typed_file_is_found_from_where_it_was_typed(here, tmp_path):
    table().to_csv("t.csv", index=False)
    (config,) = compose_runs(["dataset=csv", "dataset.path=t.csv", "dataset.target=label"]).configs
    os.makedirs("elsewhere")
    os.chdir("elsewhere")
    assert config["dataset"]["source"]["path"] == str(tmp_path / "t.csv")
    assert load(config["dataset"], config["paths"]["local_data"]).X.shape == (40, 5)
    in_data = ["dataset=csv", "dataset.path=t.csv", "dataset.target=label", f"paths.local_data={tmp_path}"]
    assert loaded(*in_data).X.shape == (40, 5)


def test_every_parameter_of_a_reader_is_a_key_of_the_data_set():
    (config,) = compose_runs(["dataset=wine"]).configs
    assert "path" not in config["dataset"]["source"]
    with pytest.raises(ConfigError, match=r"unknown key 'dataset.pth'; did you mean dataset.path"):
        compose_runs(["dataset=csv", "dataset.pth=3"])
    (config,) = compose_runs(["dataset=csv", "dataset.source.path=t.csv", "dataset.target=y"]).configs
    assert config["dataset_key"] == "t.csv" and config["dataset"]["source"]["target"] == "y"


# --- the whole thing ---


QUICK = [
    "ranker=relieff",
    "protocol.n_splits=3",
    "protocol.grid_points=3",
    "launcher.n_workers=1",
    "paths.results=out",
]


def test_a_csv_file_runs_the_whole_thing(here):
    table(60).to_csv("my.csv", index=False)
    typed_here = ["dataset=csv", "dataset.path=my.csv", "dataset.target=label", *QUICK]
    done = run_py(here, *typed_here)
    assert done.returncode == 0, done.stderr
    assert "my.csv" in done.stdout and "60 samples × 5 features" in " ".join(done.stdout.split())
    assert list((here / "out" / "tables").glob("my.csv-*.csv")) and list(
        (here / "out" / "figures").glob("*.svg")
    )
    again = run_py(here, *typed_here)
    assert "0 of 1 cell missing" in again.stderr
    shown = run_py(here, *typed_here, program="report.py")
    assert shown.returncode == 0 and "0 of 1 cell missing" in shown.stdout


def test_several_targets_run_as_labels(here):
    table(60).to_csv("my.csv", index=False)
    labels = ["dataset=csv", "dataset.path=my.csv", "dataset.target=[l1,l2]", "dataset.leave_out=[label]"]
    done = run_py(here, *labels, *QUICK, "protocol.multilabel_learner.n_estimators=5")
    assert done.returncode == 0, done.stderr
    assert "60 samples × 3 features" in " ".join(done.stdout.split())


def test_a_slip_is_told_in_two_lines_and_writes_nothing(here):
    table(60).to_csv("my.csv", index=False)
    done = run_py(here, "dataset=csv", "dataset.path=my.csv", "dataset.target=labl", *QUICK)
    assert done.returncode == 2 and "did you mean label" in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2 and not (here / "out").exists()


# --- YAML files of one's own ---


@pytest.fixture
def own_folder(here):
    folder = here / "conf of mine (1), 'new'"
    (folder / "dataset").mkdir(parents=True)
    (folder / "ranker").mkdir()
    table(60).to_csv(here / "my.csv", index=False)
    block = {
        "name": "mine",
        "task": "multilabel",
        "source": {
            "_target_": "experiments.datasets.own.csv",
            "path": str(here / "my.csv"),
            "target": ["l1", "l2"],
            "leave_out": ["label"],
        },
        "expected": {"rows": 60, "features": 3, "classes": 2},
    }
    (folder / "dataset" / "mine.yaml").write_text(yaml.safe_dump(block))
    ranker = {"_target_": "reliefe.ReliefF", "n_neighbors": 3, "display_name": "Three"}
    (folder / "ranker" / "three.yaml").write_text(yaml.safe_dump(ranker))
    return folder


@pytest.mark.parametrize("joined", [False, True])
def test_yaml_files_of_any_folder(here, own_folder, joined):
    flag = [f"--config-dir={own_folder.name}"] if joined else ["--config-dir", own_folder.name]
    plan = compose_runs([*flag, "dataset=mine,wine", "ranker=three,relieff"])
    assert [(each["dataset_key"], each["ranker_key"]) for each in plan.configs] == [
        ("mine", "three"),
        ("mine", "relieff"),
        ("wine", "three"),
        ("wine", "relieff"),
    ]
    data = load(plan.configs[0]["dataset"], plan.configs[0]["paths"]["local_data"])
    assert data.task == "multilabel" and data.X.shape == (60, 3)
    (changed,) = compose_runs(["dataset=mine", "ranker=three", "ranker.n_neighbors=5", *flag]).configs
    assert changed["ranker_key"] == "three[n_neighbors=5]"


def test_yaml_files_of_any_folder_run(here, own_folder):
    done = run_py(here, "--config-dir", own_folder.name, "dataset=mine", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "mine" in done.stdout


def test_the_help_page_lists_them(here, own_folder):
    text = compose_runs(["--config-dir", str(own_folder), "--help"]).text
    assert (
        "mine" in text and "three" in text and "dataset=csv dataset.path=my.csv dataset.target=label" in text
    )
    listed = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ")}
    assert "60 samples × 3 features, 2 labels" in listed["mine"]
    assert (
        listed["csv"].split(maxsplit=1)[1].startswith("A table of your own in a text file with a header line")
    )
    assert "978 samples × 1449 features, 45 labels" in listed["medical"]
    assert "Three: reliefe.ReliefF" not in compose_runs(["--help"]).text


def test_a_data_set_that_is_not_what_its_own_file_states(here, own_folder):
    file = own_folder / "dataset" / "mine.yaml"
    file.write_text(file.read_text().replace("classes: 2", "classes: 3"))
    with pytest.raises(DatasetError, match="classes expected 3, found 2"):
        loaded("--config-dir", own_folder.name, "dataset=mine")


def test_slips_in_a_file_of_ones_own_name_the_file(here, own_folder):
    file = own_folder / "dataset" / "mine.yaml"
    file.write_text(file.read_text().replace("expected:", "expcted:"))
    with pytest.raises(ConfigError, match=r"mine\.yaml.*expcted.*did you mean expected"):
        compose_runs(["--config-dir", own_folder.name, "dataset=mine"])


def test_slips_with_the_folder(here, own_folder):
    cases = [
        (["--config-dir", "nowhere"], "there is no folder"),
        (["--config-dir"], "needs a folder"),
        (["--config-dir", ".", "--config-dir", "."], "given twice"),
        (
            ["--config-dir", str(own_folder / "dataset")],
            r"no YAML files such as ranker/NAME\.yaml",
        ),
        (["--confg-dir", "."], "did you mean --config-dir"),
        (["--config-dir", own_folder.name, "dataset=mein"], "did you mean mine"),
    ]
    for argv, words in cases:
        with pytest.raises(BadInputError, match=words):
            compose_runs(argv)
    (own_folder / "dataset" / "wine.yaml").write_text("name: wine\n")
    with pytest.raises(ConfigError, match=r"dataset/wine\.yaml has the name of a file of the project"):
        compose_runs(["--config-dir", own_folder.name])
