"""Studies as YAML files, rankers composed with target distances, and what typed keys do to them."""

import hashlib
import json
import os
import re
import sys

import cheap
import programs
import pytest
import yaml
from folders import SEARCH_PATH

from experiments.config.compose import PROJECT_ROOT, compose_runs, names
from experiments.errors import BadInputError, ConfigError
from experiments.evaluation import cell as cells
from experiments.evaluation.cell import cells_of
from experiments.execution.runner import run_study
from experiments.rankers import build

CONF = PROJECT_ROOT / "conf"
DISTANCES = ("f1", "accuracy", "subset", "hamming", "cosine", "hyperbolic")
OURS = [
    f"relief{kind}{variant}"
    for kind in "fe"
    for variant in ("", "_absmean", "_adaptive", "_absmean_adaptive")
]
MCC = [
    *("chess", "biodeg_p2_discrete", "optdigits", "madelon", "har", "pd_speech_features", "dlbcl"),
    *("tumors_c", "ap_ovary_kidney", "ohscal", "genes"),
]
MLC = [
    "delicious",
    "imdb",
    "medical",
    "bibtex",
    "education1",
    "health1",
    "entertainment1",
    "science1",
    "social1",
]


def composed(*argv):
    return compose_runs(argv).configs


def pairs(configs):
    return [(each["dataset_key"], each["ranker_key"]) for each in configs]


def run_py(folder, *argv):
    paths = {"PYTHONPATH": SEARCH_PATH, "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {**os.environ, **paths}
    command = [sys.executable, str(PROJECT_ROOT / "run.py"), *argv, f"paths.results={folder / 'results'}"]
    return programs.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture
def own(tmp_path):
    """Write a study of one's own; gives the flag that names its folder."""

    def write(text, name="mine"):
        (tmp_path / "own" / "study").mkdir(parents=True, exist_ok=True)
        (tmp_path / "own" / "study" / f"{name}.yaml").write_text(text, encoding="utf-8")
        return f"--config-dir={tmp_path / 'own'}"

    return write


# --- rankers with a target distance


def test_48_rankers_of_labels_have_names_and_no_files_of_their_own():
    configs = composed(f"ranker={','.join(OURS)}", f"target_distance={','.join(DISTANCES)}")
    found = [each["ranker_key"] for each in configs]
    assert found == [f"{base}_{distance}" for base in OURS for distance in DISTANCES]
    assert len({each["ranker"]["display_name"] for each in configs}) == 48
    assert not set(found) & set(names(CONF, "ranker"))
    of_name = {each["ranker_key"]: each["ranker"] for each in configs}
    for base in OURS:
        plain = yaml.safe_load((CONF / "ranker" / f"{base}.yaml").read_text())
        plain.pop("regression", None)
        for distance in DISTANCES:
            block = dict(of_name[f"{base}_{distance}"])
            assert block.pop("target_distance") == distance
            assert {**block, "display_name": plain["display_name"]} == plain
    # Each called by its name is the same.
    by_name = composed(f"ranker={','.join(found)}")
    assert by_name == configs
    assert all(build(each["ranker"]).target_distance == each["ranker"]["target_distance"] for each in configs)


def test_distances_of_the_files_are_those_of_the_library():
    from reliefe.targets import EMBEDDED_DISTANCES, SET_DISTANCES

    assert (
        sorted(names(CONF, "target_distance"))
        == sorted(DISTANCES)
        == sorted([*SET_DISTANCES, *EMBEDDED_DISTANCES])
    )
    for name in DISTANCES:
        assert (
            yaml.safe_load((CONF / "target_distance" / f"{name}.yaml").read_text())["target_distance"] == name
        )


def test_names_with_a_distance_go_wherever_a_ranker_is_named():
    assert pairs(composed("dataset=medical", "ranker=relieff,relieff_absmean_adaptive_f1")) == [
        ("medical", "relieff"),
        ("medical", "relieff_absmean_adaptive_f1"),
    ]
    assert [each["ranker_key"] for each in composed("target_distance=cosine")] == [
        "reliefe_absmean_adaptive_cosine"
    ]
    changed = composed("ranker=relieff_f1", "ranker.n_neighbors=5")[0]
    assert changed["ranker_key"] == "relieff_f1[n_neighbors=5]"
    assert changed["ranker"]["display_name"] == "ReliefF (F1) [n_neighbors=5]"
    assert (changed["ranker"]["n_neighbors"], changed["ranker"]["target_distance"]) == (5, "f1")
    other = composed("ranker=relieff_f1", "ranker.target_distance=subset")[0]
    assert other["ranker_key"] == "relieff_f1[target_distance=subset]"
    assert other["ranker"]["target_distance"] == "subset"


def test_the_same_settings_under_two_names_are_one_cell():
    typed = composed("dataset=wine", "ranker=relieff", "ranker.target_distance=f1")[0]
    named = composed("dataset=wine", "ranker=relieff_f1")[0]
    one, other = (cells_of(each, checksum="0" * 64, task="multilabel")[0] for each in (typed, named))
    assert one.key == other.key and one.ranker != other.ranker


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["ranker=surf_star", "target_distance=f1"], "compares no label sets"),
        (["ranker=multisurf_star_f1"], "did you mean multisurf_star"),
        (["ranker=relieff_as_skrebate", "target_distance=f1"], "compares no label sets"),
        (["ranker=relieff_f2"], "relieff_f1"),
        (["ranker=relieff_f1", "target_distance=cosine"], "has a target distance already"),
        (["target_distance=haming"], "did you mean hamming"),
        (["ranker._target_=reliefe.ReliefF", "target_distance=f1"], "ranker.target_distance"),
        (["target_distance.x=1"], "target_distance"),
        (["ranker=glob(*_f3)"], "fits no name"),
        (["study=mc"], "mcc"),
        (["study=mcc,mlc"], "one study at a time"),
        (["stduy=mcc"], "study"),
        (["study=mcc", "target_distance=f1"], "compares no label sets"),
        (["study=smoke", "dataset=wine", "ranker=relieff_f1"], "no part of the study smoke"),
        (["study=mcc", "statsu"], "did you mean status"),
        (["study=mcc", "protocol.n_splits=1"], "at least 2"),
        (["study=sparsity", "protocol.n_splits=3"], "must be 1"),
        (["study=sparsity", "protocol.measure.epsilon=[1]"], "epsilons"),
        (["launcher.backend=lokky"], "one of loky, dask, slurm"),
        (["launcher.time_limit_seconds=0"], "launcher.time_limit_seconds must be above 0"),
        (["launcher.give_up=maybe"], "launcher.give_up"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_slips_are_answered_in_two_lines(argv, says):
    with pytest.raises(ConfigError) as caught:
        compose_runs(argv)
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 2


GROUPS = ("dataset", "ranker", "target_distance", "also", "protocol", "launcher", "paths")
NO_NAMES = ("[dlbcl,tumors_c]", "{a:1}", "1", "null", "true", "''")


@pytest.mark.parametrize("value", NO_NAMES)
@pytest.mark.parametrize("before", [[], ["study=mcc_published"]], ids=lambda before: " ".join(before))
def test_what_is_no_name_is_refused_with_and_without_a_study(before, value):
    for group in (*GROUPS, *([] if before else ["study"])):
        with pytest.raises(ConfigError) as caught:
            compose_runs([*before, f"{group}={value}"])
        first, *rest = str(caught.value).splitlines()
        wanted = "takes one name" if group in ("study", "launcher", "paths") else "takes a name, or several"
        assert f": {group} {wanted}" in first and first.startswith(f"{group}=") and len(rest) == 1
        assert rest[0].startswith("valid: ")


# --- the studies of the paper


def test_a_study_is_what_one_would_type():
    ranker = f"ranker={','.join(dict.fromkeys(each['ranker_key'] for each in composed('study=mcc')))}"
    typed = composed(f"dataset={','.join(MCC)}", ranker, "protocol=paper")
    assert [{**each, "study": "mcc"} for each in typed] == composed("study=mcc")


@pytest.mark.parametrize("study", ["sparsity", "adaptive_k", "phases", "latent_dimension"])
def test_side_experiments_are_measurements_of_all_rows(study):
    configs = composed(f"study={study}")
    assert {each["dataset_key"] for each in configs} >= set(MCC)
    assert ("p53" in {each["dataset_key"] for each in configs}) is (study == "phases")
    made = [cells_of(each, checksum="0" * 64, task="multiclass") for each in configs]
    assert {cell.kind for several in made for cell in several} == {study}
    if study == "adaptive_k":
        assert {each["ranker"]["n_iterations"] for each in configs} == {100}
        assert {each["ranker"]["n_neighbors"] for each in configs} == {"adaptive"}


# --- what is typed beside a study


def test_typed_keys_change_a_study():
    assert pairs(composed("study=mcc", "dataset=chess,wine", "ranker=relieff")) == [
        ("chess", "relieff"),
        ("wine", "relieff"),
    ]
    quick = composed("study=mcc", "protocol=quick", "dataset=chess")
    assert {each["protocol"]["n_splits"] for each in quick} == {5}
    fewer = composed("study=mcc", "protocol.n_repeats=2", "seed=7", "dataset=chess", "ranker=relieff")[0]
    assert (fewer["protocol"]["n_repeats"], fewer["seed"]) == (2, 7)
    assert fewer["protocol"]["name"] == "paper[n_repeats=2][seed=7]"
    assert composed("study=mcc", "launcher.n_workers=1")[0]["launcher"]["n_workers"] == 1
    swept = composed("study=mlc", "dataset=medical", "ranker=relieff_f1", "ranker.n_neighbors=5,15")
    assert [each["ranker_key"] for each in swept] == ["relieff_f1[n_neighbors=5]", "relieff_f1"]


def test_a_typed_distance_takes_the_place_of_the_studys():
    configs = composed("study=mlc", "target_distance=f1,cosine", "dataset=medical")
    assert [each["ranker_key"] for each in configs] == [
        f"{base}_{each}" for base in (*OURS[4:], *OURS[:4]) for each in ("f1", "cosine")
    ]
    both = composed("study=mlc", "ranker=relieff", "target_distance=f1", "dataset=medical")
    assert pairs(both) == [("medical", "relieff_f1")]


def test_typed_names_pick_the_parts_that_list_them():
    assert {each["dataset"]["task"] for each in composed("study=smoke", "dataset=wine")} == {"multiclass"}
    assert pairs(composed("study=smoke", "ranker=relieff_f1")) == [("emotions", "relieff_f1")]
    every = composed("study=convergence", "dataset=dlbcl,wine", "ranker=relieff")
    iterations = [each["ranker"]["n_iterations"] for each in every if each["dataset_key"] == "dlbcl"]
    assert iterations == [1, 2, 4, 8, 16, 32, None], "dlbcl belongs to one part"
    assert len([each for each in every if each["dataset_key"] == "wine"]) == 13, (
        "wine to all, equal ones once"
    )
    assert (
        composed("study=convergence", "ranker.n_iterations=3", "dataset=chess", "ranker=relieff")[0][
            "ranker_key"
        ]
        == "relieff[n_iterations=3]"
    )


# --- studies of one's own


def test_a_study_of_ones_own(own):
    flag = own(
        "# Mine.\nprotocol: quick\nparts:\n"
        "  - {dataset: [wine, digits], ranker: relieff, ranker.n_neighbors: [5, adaptive]}\n"
        "  - {dataset: wine, ranker: [random_forest], ranker.max_features: null, ranker.criterion: 'entropy'}\n"
    )
    configs = composed("study=mine", flag)
    assert pairs(configs) == [
        ("wine", "relieff[n_neighbors=5]"),
        ("wine", "relieff[n_neighbors=adaptive]"),
        ("digits", "relieff[n_neighbors=5]"),
        ("digits", "relieff[n_neighbors=adaptive]"),
        ("wine", "random_forest[criterion=entropy,max_features=null]"),
    ]
    assert "mine" in compose_runs(["--help", flag]).text


def test_values_of_a_study_mean_what_they_mean_in_yaml(own):
    flag = own(
        "dataset: csv\ndataset.path: 'a (b)=c, d.csv'\ndataset.target: [[red, two words]]\n"
        "ranker: relieff\nranker.abs_mean: true\nranker.n_iterations: '7'\n"
    )
    config = composed("study=mine", flag)[0]
    source = config["dataset"]["source"]
    assert (source["path"], source["target"]) == ("a (b)=c, d.csv", ["red", "two words"])
    assert config["ranker"]["abs_mean"] is True and config["ranker"]["n_iterations"] == "7"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("dataset: [wine, chss]\n", "did you mean chess"),
        ("dataset: wine\nranker: relief\n", "relieff"),
        ("dataset: wine\nranker: random_forest\ntarget_distance: f1\n", "compares no label sets"),
        ("dataset: []\n", "has no value"),
        ("dataset: [[wine, digits]]\n", "dataset takes a name"),
        ("dataset: wine\nranker: [{a: [1]}]\n", "ranker takes a name"),
        ("dataset: wine\nparts: wine\n", "parts must be a list"),
        ("dataset: wine\nstudy: mcc\n", "unknown key 'study'"),
        ("part:\n- dataset: wine\n", "did you mean parts"),
        ("parts:\n- ranker: relieff\n", "a part of the study has no dataset"),
        ("dataset: wine\n", "a part of the study has no ranker"),
        ("dataset: wine\nlauncher.n_workers: [1, 2]\n", "one for the whole study"),
        ("dataset: [wine\n", "expected ',' or ']'"),
        ("- wine\n", "no keys in it"),
    ],
)
def test_a_wrong_study_file_is_named(own, text, says):
    flag = own(text)
    with pytest.raises(ConfigError) as caught:
        compose_runs(["study=mine", flag])
    assert says in str(caught.value) and "mine.yaml" in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 2


def test_status_is_a_word_of_its_own():
    plan = compose_runs(["study=mcc", "dataset=chess", "status"])
    assert plan.action == "status" and len(plan.configs) == 14
    assert compose_runs(["status", "--cfg", "job"]).action == "show"
    assert compose_runs(["status", "--help"]).action == "help"


def test_commands_and_the_file_of_the_docs_mean_something(own):
    text = (PROJECT_ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    commands = [line.split()[2:] for line in text.splitlines() if line.startswith("python run.py ")]
    assert len(commands) >= 8
    for argv in commands:
        assert compose_runs(argv).configs
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", text, flags=re.M | re.S)
    assert len(composed("study=mine", own(example))) == 2 * 2 * 3 + 2
    for study in names(CONF, "study"):
        assert f"| `{study}` |" in text, "every study has a line"


# --- keys of cells


def test_the_name_of_a_study_the_launcher_and_the_measure_of_others_are_in_no_key():
    (typed,) = composed("dataset=chess", "ranker=relieff", "protocol=paper")
    (named,) = composed("study=mcc", "dataset=chess", "ranker=relieff", "launcher.time_limit_seconds=5")
    one, other = (
        [cell.key for cell in cells_of(each, checksum="0" * 64, task="multiclass")] for each in (typed, named)
    )
    assert one == other and len(set(one)) == 10


DIGESTS = {
    "mcc_published": "b3b907d40f365db4",
    "mcc_times": "c74ce775c664a137",
    "mcc_skrebate": "46190c95241076ec",
    "mcc_related": "f319795eac33b784",
    "mcc_five_folds": "1663a20e1a4573bd",
    "mlc_published": "600ae12ebfdf537e",
    "mlc_medical": "da338aa9c8c66eeb",
    "mlc_sampled": "80952202006ba589",
    "mlc_related": "57642290ea217145",
    "mlc_related_sampled": "dc1caba6b3c9122c",
    "convergence": "c343212dffeee4b0",
    "truth_published": "908d2ffd681253c8",
    "phases": "4babad362cdc13e2",
    "adaptive_k": "b357291431da2412",
    "sparsity": "9cc77f958705df9d",
    "latent_dimension": "67b3b68632449e24",
}


@pytest.mark.parametrize("study", DIGESTS)
def test_published_studies_stand_for_the_same_cells(study, monkeypatch):
    """Names, order and keys, apart from versions of packages; published rows are found under these."""
    monkeypatch.setattr(cells, "versions", lambda *blocks, also=(), numbers=(): {"numpy": "1"})
    lines = []
    for config in composed(f"study={study}"):
        made = cells_of(config, checksum="0" * 64, task=config["dataset"]["task"])
        names = (config["dataset_key"], config["ranker_key"], config["protocol_key"])
        lines.append((*names, config["ranker"]["display_name"], *(cell.key for cell in made)))
    assert hashlib.sha256(json.dumps(lines).encode()).hexdigest()[:16] == DIGESTS[study]


# --- from the command line


def test_data_sets_that_are_missing_are_listed_and_the_rest_runs(tmp_path, own):
    flag = own("dataset: [wine, chess, genes]\nranker: cheapest\nprotocol: quick\nprotocol.n_splits: 2\n")
    (tmp_path / "own" / "ranker").mkdir()
    block = {**cheap.function("between")}
    (tmp_path / "own" / "ranker" / "cheapest.yaml").write_text(yaml.safe_dump(block), encoding="utf-8")
    nowhere = f"paths.local_data={tmp_path / 'nowhere'}"
    typed = ("study=mine", flag, nowhere, "launcher.n_workers=1")
    done, again = run_py(tmp_path, *typed), run_py(tmp_path, *typed)
    status = run_py(tmp_path, "study=mine", flag, nowhere, "status")
    none = run_py(tmp_path, "study=mine", flag, nowhere, "dataset=chess,genes")
    assert done.returncode == again.returncode == 1, done.stderr
    for text in (done.stdout, done.stderr):
        assert "chess" in text and "genes" in text and "Traceback" not in text
    assert "left out: 2 data sets" in done.stdout
    assert (tmp_path / "results" / "tables").is_dir() and "wine" in done.stdout
    assert "0 of 1 cell missing" in again.stderr
    assert status.returncode == 0 and "wine" in status.stdout and "genes" in status.stdout
    assert none.returncode == 2 and "paths.local_data=FOLDER" in none.stderr


# --- what could not work, said before the first cell


def test_distances_between_label_sets_are_not_tried_on_classes(tmp_path):
    argv = ["study=mlc", "dataset=wine", f"paths.results={tmp_path / 'results'}"]
    with pytest.raises(
        BadInputError, match="wine has one class per sample, for which 6 target distances"
    ) as told:
        run_study(compose_runs(argv).configs, skip_absent=True)
    assert "dataset=wine ranker=relieff" in str(told.value) and not (tmp_path / "results").exists()
    one = compose_runs(["dataset=wine", "ranker=relieff_f1", "protocol.n_splits=2", argv[-1]]).configs
    assert run_study(one).exit_code == 0


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (
            ["study=sparsity", "dataset=wine", "ranker=relieff"],
            "cannot measure ranker relieff.* sparsify_above",
        ),
        (["study=latent_dimension", "dataset=wine", "ranker=random_forest"], "ranker random_forest"),
        (["dataset=wine", "protocol=truth", "ranker=relieff"], "needs to know which features decide"),
    ],
)
def test_what_a_side_experiment_cannot_measure_is_said_at_once(tmp_path, argv, says):
    configs = compose_runs([*argv, f"paths.results={tmp_path / 'results'}"]).configs
    with pytest.raises(BadInputError, match=says):
        run_study(configs, skip_absent=True)
    assert not (tmp_path / "results").exists()


def test_a_folder_of_local_data_may_stand_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("RELIEFE_LOCAL_DATA", str(tmp_path))
    (config,) = compose_runs(["dataset=wine"]).configs
    assert config["paths"]["local_data"] == str(tmp_path)
    (typed,) = compose_runs(["dataset=wine", f"paths.local_data={tmp_path / 'other'}"]).configs
    assert typed["paths"]["local_data"] == str(tmp_path / "other")
