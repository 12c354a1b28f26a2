"""Rankers that cannot take what a data set holds are refused before anything is read or fitted."""

import time

import cheap
import numpy as np
import pytest
import scipy.sparse as sp
from listening import Listening
from sklearn.base import BaseEstimator

from experiments.cli import main
from experiments.config.compose import compose_runs, names
from experiments.errors import BadInputError, RankerError
from experiments.execution.runner import run_study
from experiments.execution.study import TASKS, _check_tasks
from experiments.paths import conf_folder
from experiments.rankers import rank
from experiments.rankers.refusals import refusal

FILES = names(conf_folder(), "ranker")
DISTANCES = names(conf_folder(), "target_distance")
#: Of the shipped rankers, those of labels; all others take one class per sample.
OF_LABELS = {
    f"{base}{ending}" for base in ("relieff", "reliefe") for ending in ("", "_absmean", "_adaptive")
} | {"relieff_absmean_adaptive", "reliefe_absmean_adaptive", "random_forest"}
OF_LABELS |= {"surf", "multisurf", "turf", "vls"}
#: Relief estimators that predict numbers, and what else does.
OF_NUMBERS = [
    {"_target_": "reliefe.ReliefF", "target": "regression"},
    {"_target_": "reliefe.ReliefE", "target": "regression"},
    {"_target_": "reliefe.MultiSURF", "target": "regression"},
    {"_target_": "reliefe.TuRF", "estimator": {"_target_": "reliefe.ReliefF", "target": "regression"}},
    {"_target_": "reliefe.VLS", "estimator": {"_target_": "reliefe.ReliefF", "target": "regression"}},
    {"_target_": "sklearn.feature_selection.f_regression"},
    {"_target_": "sklearn.feature_selection.r_regression"},
    {"_target_": "sklearn.feature_selection.mutual_info_regression"},
    {"_target_": "sklearn.ensemble.RandomForestRegressor"},
    {"_target_": "sklearn.tree.DecisionTreeRegressor"},
    {"_target_": "sklearn.linear_model.Lasso"},
]
X = np.random.default_rng(0).random((30, 4))
T = sp.csr_matrix((X[:, :3] > 0.5).astype(int))


class NeverMade(BaseEstimator):
    """Tags say nothing of labels, and making one takes for ever."""

    def __init__(self):
        time.sleep(600)


class Plain:
    """Without tags: believed to know what it takes."""

    def __init__(self):
        raise AssertionError("nobody needs one")

    def fit(self, X, y):
        """Never get here."""


def block(name):
    return compose_runs([f"ranker={name}"]).configs[0]["ranker"]


@pytest.mark.parametrize("name", [*FILES, *(f"relieff_{each}" for each in DISTANCES)])
def test_every_shipped_ranker_takes_classes_and_says_whether_it_takes_labels(name):
    assert refusal(block(name), "multiclass", 3) == ""
    why = refusal(block(name), "multilabel")
    takes = name in OF_LABELS or name.removeprefix("relieff_") in DISTANCES
    assert (why == "") == takes
    assert takes or why.startswith("takes one class per sample, not labels (multi-label rankers: relieff")


@pytest.mark.parametrize("name", sorted(OF_LABELS - {each for each in OF_LABELS if "reliefe" in each}))
def test_those_that_take_labels_do(name):
    assert rank(block(name), X, T, 0).weights.shape == (4,)


@pytest.mark.parametrize(
    "name", ["anova_f", "chi2", "mutual_information", "l1_logistic", "surf_star", "multisurf_star"]
)
def test_those_that_do_not_refuse_a_fold_too(name):
    with pytest.raises(RankerError, match="takes one class per sample, not labels"):
        rank(block(name), X, T, 0)


@pytest.mark.parametrize("ranker", OF_NUMBERS, ids=lambda ranker: ranker["_target_"].rpartition(".")[2])
def test_what_predicts_numbers_takes_no_classes(ranker):
    for n_classes in (None, 2, 3):
        assert refusal(ranker, "multiclass", n_classes).startswith("takes numbers, not classes")
    with pytest.raises(RankerError, match="takes numbers, not classes"):
        rank(ranker, X, np.arange(30) % 3, 0)
    if ranker["_target_"].startswith("reliefe.") or ranker["_target_"].endswith("_regression"):
        assert refusal(ranker, "multilabel").startswith("takes one number per sample, not labels")


def test_numbers_in_a_wrapped_ranker_are_named_as_they_are_typed():
    said = refusal(OF_NUMBERS[3], "multiclass")
    assert "set ranker.estimator.target=classification" in said


def test_many_classes_that_skrebate_would_take_for_numbers():
    ranker = {"_target_": "skrebate.ReliefF"}
    assert refusal(ranker, "multiclass", 10) == refusal(ranker, "multiclass") == ""
    assert "would treat 11 classes as a continuous target" in refusal(ranker, "multiclass", 11)
    assert refusal(ranker | {"label_type": "multiclass"}, "multiclass", 11) == ""


def test_what_is_not_known_is_not_refused(monkeypatch):
    monkeypatch.setattr("experiments.rankers.refusals._PATIENCE", 0.2)
    for target in ("Plain", "NeverMade"):
        for task in TASKS:
            assert refusal({"_target_": f"{__name__}.{target}"}, task) == ""
    assert refusal({"_target_": "no.such.Ranker"}, "multilabel") == ""
    assert refusal({"_target_": "reliefe.ReliefF", "k": 5}, "multilabel") == ""
    assert refusal({"_target_": "cheap.between"}, "multilabel") == ""


@pytest.mark.parametrize(
    "typed", [["run"], ["run", "status"], ["report"], ["run", "protocol=paper"]], ids=" ".join
)
def test_a_command_refuses_before_the_data_are_read(tmp_path, monkeypatch, capsys, typed):
    monkeypatch.setattr("experiments.datasets.load", lambda *_, **__: pytest.fail("a data set was read"))
    program, *more = typed
    argv = [
        "dataset=yeast",
        "ranker=relieff,mutual_information,surf_star",
        f"paths.results={tmp_path / 'out'}",
    ]
    assert getattr(main, program)([*more, *argv]) == 2
    out, errors = capsys.readouterr()
    said, hint = errors.splitlines()
    assert out == "" and hint.startswith("leave it out")
    assert said.startswith(
        "error: ranker mutual_information cannot rank yeast: it takes one class per sample"
    )
    assert said.endswith("; likewise surf_star")
    assert not (tmp_path / "out").exists()


def test_a_study_of_both_kinds_names_the_data_sets(tmp_path):
    typed = ["dataset=wine,yeast,medical", "ranker=anova_f", f"paths.results={tmp_path}"]
    with pytest.raises(BadInputError, match="ranker anova_f cannot rank yeast, medical: it takes one class"):
        run_study(compose_runs(typed).configs, progress=Listening())


def test_labels_of_a_file_of_one_s_own_are_known_when_it_is_read(tmp_path):
    lines = ["x,a,b", *(f"{n},{n % 2},{(n // 2) % 2}" for n in range(20))]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    typed = [
        "dataset=csv",
        f"dataset.path={tmp_path / 'mine.csv'}",
        "dataset.target=[a,b]",
        "ranker=surf_star",
    ]
    with pytest.raises(
        BadInputError, match=r"ranker surf_star cannot rank mine.csv: it takes one class per sample"
    ):
        run_study(compose_runs([*typed, f"paths.results={tmp_path}"]).configs, progress=Listening())


def test_too_many_classes_are_known_when_the_data_are_read(tmp_path):
    ranker = {"_target_": "skrebate.ReliefF", "multiclass_threshold": 2, "label_type": None}
    config = cheap.config(tmp_path, ranker, ranker_key="guessing")
    with pytest.raises(BadInputError, match="ranker guessing cannot rank blobs: it would treat 3 classes as"):
        run_study([config], progress=Listening())


@pytest.mark.parametrize("study", names(conf_folder(), "study"))
def test_no_shipped_study_is_refused(study):
    configs = compose_runs([f"study={study}"]).configs
    assert {config["dataset"]["task"] for config in configs} <= set(TASKS)
    _check_tasks(configs)
