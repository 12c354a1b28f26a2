"""What rankers become on a numeric target, and which of them are refused."""

import numpy as np
import pytest
from listening import Listening
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import f_regression

from experiments.cli import main
from experiments.config.compose import compose_runs, names
from experiments.errors import BadInputError, RankerError
from experiments.evaluation.cell import cells_of
from experiments.execution.runner import run_study
from experiments.paths import conf_folder
from experiments.rankers import build, rank
from experiments.rankers.accepted_targets import _OF_NUMBERS
from experiments.rankers.refusals import refusal
from experiments.rankers.scores import linear_f

FILES = names(conf_folder(), "ranker")
#: Of the shipped rankers, those that take numbers whatever else does.
TAKE = {
    *(
        each
        for each in FILES
        if each.startswith(("relieff", "reliefe")) and not each.endswith("_as_skrebate")
    ),
    *("random_forest", "gradient_boosting", "permutation_importance", "mutual_information", "anova_f"),
    *(each for each in FILES if each.startswith("skrebate")),
}
#: Of classes alone, with nothing that stands for them.
REFUSED = {"chi2", "l1_logistic", "boruta", "mrmr", "jmi", "fast_select_relieff", "fast_select_multisurf"}
RNG = np.random.default_rng(3)
X = RNG.random((40, 4))
Y = 5 * X[:, 2] + X[:, 0] + 0.01 * RNG.random(40)


class Classifying(ClassifierMixin, BaseEstimator):
    """Of one's own, and a classifier by its tags."""

    def fit(self, X, y):
        """Never get here."""


class Silent:
    """Of one's own; says nothing of what it takes."""

    def fit(self, X, y):
        """Weigh by correlation."""
        self.scores_ = np.array([abs(np.corrcoef(column, y)[0, 1]) for column in X.T])


def block(name, dataset="diabetes"):
    return compose_runs([f"dataset={dataset}", f"ranker={name}"]).configs[0]["ranker"]


@pytest.mark.parametrize("name", FILES)
def test_every_shipped_ranker_is_set_to_numbers_or_refused(name):
    why = refusal(block(name), "regression")
    if name in TAKE:
        assert why == ""
    elif name in REFUSED:
        assert why.startswith(
            "takes classes, not numbers (rankers for a numeric target: relieff…, reliefe…, surf, "
        )
    elif name.endswith("_as_skrebate"):
        assert why.startswith(("cannot be made for a numeric target: reliefe.", "takes classes, not numbers"))
    else:  # relatives of ReliefF take numbers once they have the parameter
        parameters = build(block(name)).get_params(deep=True)
        told = {key: value for key, value in parameters.items() if key.rpartition("__")[2] == "target"}
        assert set(told.values()) <= {"regression"}
        assert (why == "") == bool(told)


@pytest.mark.parametrize("name", sorted(TAKE - {each for each in TAKE if "skrebate" in each}))
def test_those_that_are_not_refused_rank_numbers(name):
    (made,) = compose_runs(["dataset=diabetes", f"ranker={name}"]).configs
    if "reliefe" in name:
        made["ranker"]["embedding"] = (
            None if "embedding" not in made["ranker"] else made["ranker"]["embedding"]
        )
        made["ranker"]["n_components"] = 2
    found = rank(made["ranker"], X, Y, 0).weights
    assert found.shape == (4,) and np.isfinite(found).all()
    assert np.argmax(found) == 2 or "reliefe" in name


def test_a_stand_in_for_skrebate_says_why_it_cannot_be_made(tmp_path):
    typed = ["dataset=diabetes", "ranker=relieff_as_skrebate", f"paths.results={tmp_path}"]
    said = 'cannot rank diabetes: it cannot be made for a numeric target: .*compatible="skrebate"'
    with pytest.raises(BadInputError, match=said):
        run_study(compose_runs(typed).configs, progress=Listening())


def test_the_message_names_rankers_that_take_numbers():
    named = [each.strip(" ,").removesuffix("…") for each in _OF_NUMBERS.split(",")][:-1]
    assert len(named) == 11
    assert all(refusal(block(name), "regression") == "" for name in named)


def test_classes_beside_numbers_keep_their_rankers():
    typed = ["dataset=wine,diabetes", "ranker=relieff,random_forest,anova_f,mutual_information"]
    made = {(each["dataset_key"], each["ranker_key"]): each["ranker"] for each in compose_runs(typed).configs}
    assert len(made) == 8
    assert "target" not in made["wine", "relieff"] and made["diabetes", "relieff"]["target"] == "regression"
    targets = {key: each["_target_"].rpartition(".")[2] for key, each in made.items()}
    assert targets["wine", "random_forest"] == "RandomForestClassifier"
    assert targets["diabetes", "random_forest"] == "RandomForestRegressor"
    assert targets["wine", "anova_f"] == "anova_f" and targets["diabetes", "anova_f"] == "linear_f"
    assert targets["diabetes", "mutual_information"] == "mutual_info_regression"
    shown = {key: each["display_name"] for key, each in made.items()}
    assert shown["wine", "relieff"] == "ReliefF" and shown["diabetes", "relieff"] == "RReliefF"
    assert made["wine", "random_forest"] == block("random_forest", "wine")
    assert set(made["diabetes", "random_forest"]) < set(
        made["wine", "random_forest"]
    )  # no criterion, no class_weight
    assert made["diabetes", "random_forest"]["max_features"] == "sqrt"


def test_what_is_typed_stays():
    typed = ["dataset=diabetes", "ranker=relieff", "ranker.sigma=5", "ranker.target=classification"]
    (made,) = compose_runs(typed).configs
    assert made["ranker"]["sigma"] == 5 and made["ranker"]["target"] == "classification"
    said = refusal(made["ranker"], "regression")
    assert said == "takes classes, not numbers (target=classification); set ranker.target=regression"
    ((one,), (other,)) = (
        compose_runs(["dataset=diabetes", "ranker=relieff", *more]).configs
        for more in ([], ["ranker.target=regression"])
    )
    keys = {cells_of(each, checksum="0" * 64, task="regression")[0].key for each in (one, other)}
    assert len(keys) == 1


def test_a_wrapped_ranker_is_told_too():
    typed = ["ranker._target_=reliefe.TuRF", "ranker.estimator._target_=reliefe.ReliefF"]
    told = compose_runs(["dataset=diabetes", *typed]).configs[0]["ranker"]
    assert told["estimator"] == {"_target_": "reliefe.ReliefF", "target": "regression"}
    assert refusal(told, "regression") == ""
    plain = compose_runs(["dataset=wine", *typed]).configs[0]["ranker"]
    assert "set ranker.estimator.target=regression" in refusal(plain, "regression")


@pytest.mark.parametrize(
    ("target", "takes"),
    [
        ("sklearn.ensemble.ExtraTreesClassifier", False),
        ("sklearn.ensemble.ExtraTreesRegressor", True),
        ("sklearn.feature_selection.f_classif", False),
        ("sklearn.feature_selection.f_regression", True),
        ("sklearn.linear_model.Lasso", True),
        ("sklearn.feature_selection.VarianceThreshold", False),
    ],
)
def test_of_scikit_learn(target, takes):
    assert (refusal({"_target_": target}, "regression") == "") == takes


def test_selectors_are_asked_for_their_scores():
    for score, takes in (("f_regression", True), ("chi2", False)):
        ranker = {
            "_target_": "sklearn.feature_selection.SelectKBest",
            "score_func": {"_target_": f"sklearn.feature_selection.{score}", "_partial_": True},
        }
        assert (refusal(ranker, "regression") == "") == takes


def test_rankers_of_one_s_own_are_believed_unless_they_say_that_they_classify():
    mine = {"_target_": f"{__name__}.Silent"}
    assert refusal(mine, "regression") == "" and np.argmax(rank(mine, X, Y, 0).weights) == 2
    assert refusal({"_target_": f"{__name__}.Classifying"}, "regression").startswith(
        "takes classes, not numbers"
    )
    with pytest.raises(RankerError, match="chi2 takes classes, not numbers"):
        rank({"_target_": "experiments.rankers.scores.chi2"}, X, Y, 0)


def test_linear_f_is_in_the_order_of_f_and_finite():
    scores, F = linear_f(X, Y), f_regression(X, Y)[0]
    np.testing.assert_allclose(scores, F / (F + len(Y) - 2), rtol=1e-9)
    perfect = np.column_stack([Y, np.ones(40), X[:, 0]])
    assert linear_f(perfect, Y)[:2].tolist() == [pytest.approx(1.0), 0.0]


@pytest.mark.parametrize("typed", [["run"], ["run", "status"], ["report"]], ids=" ".join)
def test_a_study_with_a_ranker_of_classes_is_refused_before_anything_is_read(
    tmp_path, monkeypatch, capsys, typed
):
    monkeypatch.setattr("experiments.datasets.load", lambda *_, **__: pytest.fail("a data set was read"))
    program, *more = typed
    argv = ["dataset=wine,diabetes", "ranker=relieff,chi2,jmi", f"paths.results={tmp_path / 'out'}"]
    assert getattr(main, program)([*more, *argv]) == 2
    said, hint = capsys.readouterr().err.splitlines()
    assert said.startswith(
        "error: ranker chi2 cannot rank diabetes: it takes classes, not numbers (rankers for a"
    )
    assert said.endswith("; likewise jmi") and hint.startswith("leave it out")
    assert not (tmp_path / "out").exists()


def test_target_distances_say_nothing_of_numbers(tmp_path):
    typed = ["dataset=diabetes", "ranker=relieff", "target_distance=f1,hamming", f"paths.results={tmp_path}"]
    with pytest.raises(
        BadInputError, match="diabetes has a number per sample, for which 2 target distances give"
    ):
        run_study(compose_runs(typed).configs, progress=Listening())
