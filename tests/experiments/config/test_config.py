"""The command line: names, overrides, sweeps, and what is said when one of them is wrong."""

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import programs
import pytest
import yaml
from scipy.io import savemat

from experiments.config.compose import GROUPS, PROJECT_ROOT, compose_runs, names
from experiments.datasets import load
from experiments.errors import BadInputError, ConfigError
from experiments.evaluation.cell import cells_of
from experiments.locate import is_score_function, locate, parameter_names

CONF = PROJECT_ROOT / "conf"
RANKERS = names(CONF, "ranker")

OWN_RANKER = """
class Mine:
    def __init__(self, power=1, random_state=None):
        self.power, self.random_state = power, random_state

    def fit(self, X, y):
        self.feature_importances_ = X.std(axis=0) ** self.power
        return self


def spread(X, y, power=1):
    return X.std(axis=0) ** power
"""


def keys(*argv):
    return [
        (each["dataset_key"], each["ranker_key"], each["protocol_key"]) for each in compose_runs(argv).configs
    ]


def only(*argv):
    (config,) = compose_runs(argv).configs
    return config


def run_py(folder, *argv):
    """``python run.py`` as typed in ``folder``."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(PROJECT_ROOT / "run.py"), *argv]
    return programs.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def own_ranker(tmp_path, monkeypatch):
    (tmp_path / "own_ranker_for_tests.py").write_text(OWN_RANKER)
    monkeypatch.syspath_prepend(tmp_path)
    return "own_ranker_for_tests"


# --- what the YAML files say


@pytest.mark.parametrize("group", GROUPS)
def test_every_yaml_file_composes(group):
    for name in names(CONF, group):
        config = only(f"{group}={name}")
        assert config[group]
        if group in ("dataset", "ranker"):
            assert config[f"{group}_key"] == name
        if group in ("dataset", "protocol"):
            assert config[group]["name"] == name, "the name in the file and the file's name differ"


@pytest.mark.parametrize("name", RANKERS)
def test_ranker_file_states_parameters_of_its_target(name):
    block = yaml.safe_load((CONF / "ranker" / f"{name}.yaml").read_text())
    target = locate(block.pop("_target_"))
    skip = 2 if is_score_function(target, block.pop("_partial_", None)) else 0
    block.pop("display_name")
    numeric = block.pop("regression", {})
    valid, _ = parameter_names(target, leave_out=skip)
    assert set(block) <= set(valid)
    if "_target_" not in numeric:
        assert set(numeric) <= {"display_name", *valid}
    assert block.get("random_state") is None  # from the study's seed
    if target.__module__.startswith("reliefe."):
        return
    defaults = {key: each.default for key, each in inspect.signature(target).parameters.items()}
    where = ("n_jobs", "backend")  # no part of what is computed
    differing = {key: value for key, value in block.items() if key not in where and value != defaults[key]}
    assert not differing, "peers run with their own defaults"


def test_our_variants_differ_in_the_two_switches_alone():
    for kind in "fe":
        blocks = {}
        for abs_mean in (False, True):
            for adaptive in (False, True):
                name = f"relief{kind}{'_absmean' * abs_mean}{'_adaptive' * adaptive}"
                block = yaml.safe_load((CONF / "ranker" / f"{name}.yaml").read_text())
                block.pop("regression", None)
                assert block.pop("abs_mean") is abs_mean
                assert block.pop("n_neighbors") == ("adaptive" if adaptive else 15)
                blocks[block.pop("display_name")] = block
        assert len(blocks) == 4
        assert all(block == next(iter(blocks.values())) for block in blocks.values())


# --- what a user types


def test_defaults():
    config = only()
    assert keys() == [("digits", "reliefe_absmean_adaptive", "quick")]
    assert config["seed"] == 0
    assert config["paths"] == {
        "results": str(PROJECT_ROOT / "results"),
        "local_data": str(PROJECT_ROOT / "data"),
        "cache": None,
    }
    assert (config["launcher"]["backend"], config["launcher"]["n_workers"]) == ("loky", None)
    assert "study" not in config


@pytest.mark.parametrize("flags", [[], ["--multirun"], ["-m"]])
def test_lists_are_one_study_with_and_without_multirun(flags):
    found = keys("dataset=wine,digits", "ranker=relieff,reliefe", *flags)
    pairs = [("wine", "relieff"), ("wine", "reliefe"), ("digits", "relieff"), ("digits", "reliefe")]
    assert found == [(*pair, "quick") for pair in pairs]


def test_lists_on_any_key():
    assert [each["seed"] for each in compose_runs(["seed=3,4"]).configs] == [3, 4]
    swept = compose_runs(
        ["protocol.learner.C=1.0,10", "ranker=relieff", "ranker.n_neighbors=5,15,adaptive"]
    ).configs
    assert [(each["protocol"]["learner"]["C"], each["ranker"]["n_neighbors"]) for each in swept] == [
        (C, k) for C in (1.0, 10) for k in (5, 15, "adaptive")
    ]
    assert [each["ranker_key"] for each in swept[:3]] == [
        "relieff[n_neighbors=5]",
        "relieff",
        "relieff[n_neighbors=adaptive]",
    ]
    assert keys("ranker=glob(relieff_abs*)") == [
        ("digits", "relieff_absmean", "quick"),
        ("digits", "relieff_absmean_adaptive", "quick"),
    ]
    assert len(keys("ranker.n_neighbors=range(3,9,2)")) == 3
    assert keys("dataset=wine,wine") == keys("dataset=wine"), "the same run twice is one run"


def test_names_say_what_was_changed_and_nothing_else():
    config = only("ranker=relieff", "ranker.n_iterations=50", "ranker.abs_mean=true", "ranker.n_jobs=2")
    assert config["ranker_key"] == "relieff[abs_mean=true,n_iterations=50]"
    assert config["ranker"]["display_name"] == "ReliefF [abs_mean=true,n_iterations=50]"
    again = only("ranker.abs_mean=true", "ranker.n_iterations=50", "ranker=relieff")
    assert again["ranker_key"] == config["ranker_key"]
    assert only("ranker=relieff", "ranker.n_neighbors=15")["ranker_key"] == "relieff"
    assert only("ranker=relieff", "ranker.abs_mean=0")["ranker_key"] == "relieff[abs_mean=0]", (
        "another cell key"
    )
    assert only("ranker=relieff", "ranker.display_name=x")["ranker_key"] == "relieff"
    changed = only("protocol=paper", "protocol.n_repeats=1")
    assert changed["protocol_key"] == changed["protocol"]["name"] == "paper[n_repeats=1]"
    assert only("seed=5")["protocol"]["name"] == "quick[seed=5]"


def test_targets_that_share_a_class_name_are_told_apart():
    plan = compose_runs(["ranker._target_=reliefe.ReliefF,skrebate.ReliefF", "ranker.n_neighbors=7"])
    names = [(each["ranker_key"], each["ranker"]["display_name"]) for each in plan.configs]
    assert names == [
        ("reliefe.ReliefF[n_neighbors=7]", "reliefe.ReliefF [n_neighbors=7]"),
        ("skrebate.ReliefF[n_neighbors=7]", "skrebate.ReliefF [n_neighbors=7]"),
    ]


def test_parameters_the_file_leaves_out():
    assert "n_features_to_select" not in only("ranker=relieff")["ranker"]
    assert only("ranker=relieff", "ranker.n_features_to_select=3")["ranker"]["n_features_to_select"] == 3
    assert only("ranker=relieff", "+ranker.n_features_to_select=3")["ranker_key"].endswith("=3]")
    forest = only(
        "protocol.multilabel_learner.min_samples_leaf=2", "protocol.multilabel_learner.oob_score=true"
    )
    assert forest["protocol"]["multilabel_learner"]["oob_score"] is True


def test_own_ranker_gets_no_parameter_of_the_one_it_replaces(own_ranker):
    config = only(f"ranker._target_={own_ranker}.Mine", "ranker.power=2")
    assert config["ranker"] == {
        "_target_": f"{own_ranker}.Mine",
        "power": 2,
        "display_name": "Mine [power=2]",
    }
    assert config["ranker_key"] == "Mine[power=2]"
    assert keys(f"ranker._target_={own_ranker}.Mine,{own_ranker}.spread") == [
        ("digits", "Mine", "quick"),
        ("digits", "spread", "quick"),
    ]
    with pytest.raises(
        ConfigError, match=r"unknown parameter of ranker .*'n_neighbors'\nvalid: power, random_state"
    ):
        compose_runs([f"ranker._target_={own_ranker}.Mine", "ranker.n_neighbors=5"])
    with pytest.raises(ConfigError, match="has no 'Mihe'; did you mean Mine"):
        compose_runs([f"ranker._target_={own_ranker}.Mihe"])


def test_objects_among_the_parameters_of_a_ranker_are_typed_too():
    rfe = "ranker._target_=sklearn.feature_selection.RFE"
    svm = "ranker.estimator._target_=sklearn.svm.LinearSVC"
    config = only(svm, "ranker.estimator.C=0.1", rfe, "ranker.step=2")
    assert config["ranker"] == {
        "_target_": "sklearn.feature_selection.RFE",
        "estimator": {"_target_": "sklearn.svm.LinearSVC", "C": 0.1},
        "step": 2,
        "display_name": "RFE [estimator.C=0.1,estimator._target_=sklearn.svm.LinearSVC,step=2]",
    }
    deeper = "ranker.estimator.estimator._target_=sklearn.tree.DecisionTreeClassifier"
    boosted = "ranker.estimator._target_=sklearn.ensemble.AdaBoostClassifier"
    block = only(rfe, deeper, boosted)["ranker"]["estimator"]
    assert block["estimator"] == {"_target_": "sklearn.tree.DecisionTreeClassifier"}
    with pytest.raises(ConfigError, match=r"parameter of ranker.estimator sklearn.svm.LinearSVC:.*'D'"):
        compose_runs([rfe, svm, "ranker.estimator.D=1"])
    with pytest.raises(ConfigError, match=r"parameter of .*RFE.*'estimate'"):
        compose_runs([rfe, "ranker.estimate._target_=sklearn.svm.LinearSVC"])
    with pytest.raises(ConfigError, match=r"ranker\.n_neighbors\.x"):
        compose_runs(["ranker=relieff", "ranker.n_neighbors.x._target_=sklearn.svm.LinearSVC"])


# --- slips of the pen

SLIPS = [
    (["ranker.n_neigbors=5"], "n_neighbors"),
    (["ranker=relief"], "relieff or reliefe"),
    (["dataset=wine,chss"], "chess"),
    (["ranker=random_forest,relieff", "ranker.n_neighbors=5"], "RandomForestClassifier: 'n_neighbors'"),
    (["n_splits=3"], "protocol.n_splits"),
    (["protocol.learner.CC=3"], "did you mean C"),
    (["protocol.n_splits=abc"], "could not be converted to Integer"),
    (["protocol.n_splits=1"], "at least 2"),
    (["protocol.n_repeats=0"], "at least 1"),
    (["launcher.n_workers=1,2"], "one for the whole study"),
    (["seed=-1"], "whole number"),
    (["seed=true"], "whole number"),
    (["ranker"], "not of the form key=value"),
    (["ranker="], "no value"),
    (["ranker=[relieff,reliefe]"], "takes a name"),
    (["ranker=relieff,"], "cannot be read"),
    (["ranker.n_neighbors=[1"], "cannot be read"),
    (["ranker.n_neighbors=${seed}"], "refers to another key"),
    (["ranker.n_neighbors=interval(1,5)"], "range(a,b,step)"),
    (["ranker.n_neighbors.x=5"], "has no keys"),
    (["dataset=wine", "dataset=digits"], "given twice"),
    (["~ranker.n_neighbors"], "cannot be taken away"),
    (["dataset@other=wine"], "packages"),
    (["hydra.run.dir=x"], "unknown key"),
    (["ranker._target_=no_such_module.Ranker"], "no module named 'no_such_module'"),
    (["ranker._target_=sklearn.ensemble.RandomForestClasifier"], "RandomForestClassifier"),
    (["ranker._target_=5"], "dotted name"),
    (["dataset.source.nme=wine"], "name"),
    (["--multrun"], "--multirun"),
    (["--cfg", "hydra"], "--cfg job"),
]


@pytest.mark.parametrize(("argv", "says"), SLIPS, ids=[" ".join(argv) for argv, _ in SLIPS])
def test_slips_are_answered_in_two_lines(argv, says):
    with pytest.raises(ConfigError) as caught:
        compose_runs(argv)
    message = str(caught.value)
    assert says in message
    assert len(message.splitlines()) <= 2


def test_a_module_that_fails_while_imported_says_why(tmp_path, monkeypatch):
    (tmp_path / "broken_for_tests.py").write_text("import no_such_thing_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"importing broken_for_tests fails.*no_such_thing_at_all"):
        compose_runs(["ranker._target_=broken_for_tests.X"])


def test_a_wrong_yaml_file_is_named(tmp_path):
    conf = tmp_path / "conf"
    shutil.copytree(CONF, conf)
    quick = conf / "protocol" / "quick.yaml"
    quick.write_text(quick.read_text().replace("n_splits", "n_split"))
    with pytest.raises(ConfigError, match=r"conf/protocol/quick.yaml.*'n_split'; did you mean n_splits"):
        compose_runs([], conf)
    quick.write_text("name: quick\nn_repeats: 3\n")
    with pytest.raises(ConfigError, match=r"quick.yaml: protocol.n_splits is not stated"):
        compose_runs([], conf)
    quick.write_text("name: [quick\n")
    with pytest.raises(ConfigError, match=r"quick.yaml"):
        compose_runs([], conf)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["ranker.n_neigbors=5"], "n_neighbors"),
        (["ranker=relief"], "relieff"),
        (["dataset=no_such"], "digits"),
        (["dataset=chess", "paths.local_data=nowhere"], "paths.local_data=FOLDER"),
    ],
)
def test_a_slip_ends_the_program_with_exit_code_2_and_writes_nothing(tmp_path, argv, says):
    before = sorted(PROJECT_ROOT.iterdir())
    done = run_py(tmp_path, *argv, f"paths.results={tmp_path / 'results'}")
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []
    assert sorted(PROJECT_ROOT.iterdir()) == before


# --- what is printed instead of running


def test_help_lists_everything_without_composing(tmp_path):
    code = "import sys, run; run.main(['--help']); sys.exit('hydra' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(PROJECT_ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, "Hydra takes half a second to import, which a help page has no need of"
    for group in ("dataset", "ranker", "protocol"):
        for name in names(CONF, group):
            assert [line for line in done.stdout.splitlines() if line.split()[:1] == [name]], name
    assert "paths.local_data=FOLDER" in done.stdout


def test_examples_of_the_help_page_are_right():
    examples = [
        line.split("  print")[0]
        for line in compose_runs(["-h"]).text.splitlines()
        if "  python run.py" in line
    ]
    assert len(examples) >= 5
    for line in examples:
        compose_runs(line.split()[2:])


def test_cfg_job_prints_each_run(tmp_path):
    done = run_py(tmp_path, "ranker=relieff,reliefe", "ranker.n_neighbors=7", "--cfg", "job")
    printed = list(yaml.safe_load_all(done.stdout))
    assert done.returncode == 0
    assert printed == compose_runs(["ranker=relieff,reliefe", "ranker.n_neighbors=7"]).configs
    assert list(tmp_path.iterdir()) == []


# --- where files lie


@pytest.fixture
def local_set(tmp_path):
    """A conf folder with one local data set, and a data folder that holds its file."""
    conf = tmp_path / "conf"
    shutil.copytree(CONF, conf)
    block = {
        "name": "small",
        "task": "multiclass",
        "source": {
            "_target_": "experiments.datasets.readers.matlab.matlab",
            "path": "small/small.mat",
            "features": "a",
            "target": "b",
        },
        "expected": {"rows": 40, "features": 3, "classes": 2},
    }
    (conf / "dataset" / "small.yaml").write_text(yaml.safe_dump(block))
    data = tmp_path / "place" / "data"
    (data / "small").mkdir(parents=True)
    rng = np.random.default_rng(1)
    savemat(data / "small" / "small.mat", {"a": rng.normal(size=(40, 3)), "b": np.arange(40) % 2})
    return conf, data


def test_same_file_and_same_cell_from_wherever_it_is_started(local_set, tmp_path, monkeypatch):
    conf, data = local_set
    starts = [
        (tmp_path, data),
        (tmp_path, Path("place/data")),
        (tmp_path / "place", Path("data")),
        (data / "small", Path("..")),
        (
            PROJECT_ROOT / "tests",
            Path(os.path.relpath(data, PROJECT_ROOT)),
        ),  # found from the project's folder
    ]
    found = set()
    for folder, typed in starts:
        monkeypatch.chdir(folder)
        (config,) = compose_runs(
            ["dataset=small", "ranker=relieff", f"paths.local_data={typed}"], conf
        ).configs
        loaded = load(config["dataset"], config["paths"]["local_data"])
        cells = cells_of(config, checksum=loaded.checksum, task=loaded.task)
        found.add((config["paths"]["local_data"], loaded.checksum, cells[0].key, cells[0].reference.key))
    assert len(found) == 1


def test_missing_file_names_every_place(local_set, tmp_path, monkeypatch):
    conf, _ = local_set
    monkeypatch.chdir(tmp_path)
    (config,) = compose_runs(["dataset=small", "paths.local_data=elsewhere"], conf).configs
    with pytest.raises(BadInputError) as caught:
        load(config["dataset"], config["paths"]["local_data"])
    message = str(caught.value)
    assert "small" in message
    assert str(tmp_path / "elsewhere" / "small" / "small.mat") in message
    assert str(PROJECT_ROOT / "elsewhere" / "small" / "small.mat") in message
    assert "paths.local_data=FOLDER" in message


def test_results_typed_relative_lie_where_they_are_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert only("paths.results=out")["paths"]["results"] == str(tmp_path / "out")
    assert only()["paths"] == {
        "results": str(PROJECT_ROOT / "results"),
        "local_data": str(PROJECT_ROOT / "data"),
        "cache": None,
    }
    assert only("paths.cache=kept")["paths"]["cache"] == str(tmp_path / "kept")
    odd = str(tmp_path / "Größe a=b")
    assert only(f"paths.results={odd}")["paths"]["results"] == odd
    assert only("paths.results='x,y'")["paths"]["results"] == str(tmp_path / "x,y")
    assert not (tmp_path / "out").exists()
