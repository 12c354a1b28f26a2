"""Studies of data sets with a numeric target, beside plain scikit-learn."""

import json

import numpy as np
import pandas as pd
import pytest
from listening import Listening
from scipy import sparse
from scipy.integrate import simpson
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import mutual_info_regression
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupKFold, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments.config.compose import compose_runs
from experiments.datasets import load
from experiments.datasets.assignment import Assignment
from experiments.errors import BadInputError
from experiments.evaluation.cell import cells_of
from experiments.evaluation.evaluate import evaluate_all_features, evaluate_ranking, fold_seed
from experiments.evaluation.splits import SplitError, check_numbers, folds
from experiments.execution.runner import run_study
from reliefe import ReliefF

RIDGE = {"_target_": "sklearn.linear_model.Ridge", "alpha": 1.0, "tol": 1e-10}


def composed(results, *typed):
    return compose_runs([*typed, f"paths.results={results}", "launcher.n_workers=1"]).configs


def run(results, *typed):
    return run_study(composed(results, *typed), progress=Listening()).frame


def config(ranker, learner=None, **protocol):
    protocol = {
        "name": "tiny",
        "n_splits": 3,
        "n_repeats": 1,
        "grid_points": 50,
        "regression_learner": learner or RIDGE,
        **protocol,
    }
    return {"protocol": protocol, "ranker": ranker, "ranker_key": "r", "dataset_key": "d", "seed": 5}


def evaluated(X, y, ranker, learner=None, **protocol):
    """The rows of the first repeat of a ranker."""
    (cell, *_) = cells_of(config(ranker, learner, **protocol), checksum="0" * 64, task="regression")
    whole = evaluate_all_features(cell.reference, X, y)
    return evaluate_ranking(cell, X, y, whole.table).frame


def table(n=60, p=4, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] * 3 + X[:, 1] ** 2 + rng.normal(size=n)


def by_hand(X, y, train, test, order, size, learner):
    used = order[:size]
    fitted = make_pipeline(StandardScaler(), learner).fit(X[train][:, used], y[train])
    return r2_score(y[test], fitted.predict(X[test][:, used]))


F = {"_target_": "experiments.rankers.scores.linear_f", "_partial_": True}


def test_a_study_of_diabetes_is_what_scikit_learn_computes(tmp_path):
    frame = run(tmp_path, "dataset=diabetes", "ranker=relieff,anova_f", "protocol=quick")
    data = load(compose_runs(["dataset=diabetes"]).configs[0]["dataset"], tmp_path)
    X, y = data.X, data.y
    splits = list(RepeatedKFold(n_splits=5, n_repeats=1, random_state=0).split(X))
    assert len(frame) == 10 and set(frame["status"]) == {"ok"}
    for row in frame.itertuples():
        train, test = splits[row.fold]
        weights = {
            "relieff": lambda train=train: (
                ReliefF(target="regression").fit(X[train], y[train]).feature_importances_
            ),
            "anova_f": lambda train=train: [
                np.corrcoef(column, y[train])[0, 1] ** 2 for column in X[train].T
            ],
        }[row.ranker]()
        np.testing.assert_allclose(row.weights, weights, rtol=1e-9)
        order = np.argsort(-np.asarray(weights), kind="stable")
        curve = [by_hand(X, y, train, test, order, size, Ridge()) for size in range(1, 11)]
        np.testing.assert_allclose(row.r2, curve, rtol=1e-9)
        assert row.r2_all == pytest.approx(curve[-1]) and row.best_r2 == pytest.approx(max(curve))
        relative = np.array(curve) / curve[-1]
        np.testing.assert_allclose(row.rr2, relative, rtol=1e-9)
        assert row.aurr2 == pytest.approx(simpson(relative) / 9)
        for name in ("f1_micro", "f1_macro", "rf1_micro", "f1_micro_all", "aurf1_micro", "best_f1_macro"):
            assert pd.isna(getattr(row, name))
    learnt = frame.groupby("fold")["r2_all"].nunique()
    assert (learnt == 1).all()  # computed once for both


def test_the_learner_may_be_another_regressor(tmp_path):
    X, y = table()
    forest = {"_target_": "sklearn.ensemble.RandomForestRegressor", "n_estimators": 5, "random_state": None}
    frame = evaluated(X, y, F, learner=forest)
    splits = list(RepeatedKFold(n_splits=3, n_repeats=1, random_state=5).split(X))
    for row in frame.itertuples():
        train, test = splits[row.fold]
        order = np.argsort(-np.asarray(row.weights), kind="stable")
        grown = RandomForestRegressor(n_estimators=5, random_state=fold_seed(5, 0, row.fold))
        expected = [by_hand(X, y, train, test, order, size, grown) for size in (1, 2, 3)]
        np.testing.assert_allclose(row.r2[:3], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("ranker", "weigh"),
    [
        ("mutual_information", lambda X, y, seed: mutual_info_regression(X, y, random_state=seed)),
        (
            "random_forest",
            lambda X, y, seed: (
                RandomForestRegressor(max_features="sqrt", random_state=seed).fit(X, y).feature_importances_
            ),
        ),
    ],
)
def test_rankers_of_scikit_learn_are_its_regressors(ranker, weigh):
    X, y = table()
    (made,) = compose_runs(["dataset=diabetes", f"ranker={ranker}"]).configs
    for row in evaluated(X, y, made["ranker"], grid_points=2).itertuples():
        train = folds(y, n_splits=3, repeat=0, seed=5)[row.fold][0]
        np.testing.assert_allclose(
            row.weights, weigh(X[train], y[train], fold_seed(5, 0, row.fold)), rtol=1e-9
        )


def test_folds_are_shuffled_anew_and_keep_groups():
    _, y = table(n=40)
    wanted = list(RepeatedKFold(n_splits=4, n_repeats=3, random_state=9).split(y))
    for repeat in (2, 0, 1):
        made = folds(y, n_splits=4, repeat=repeat, seed=9)
        for (train, test), (other, tested) in zip(made, wanted[4 * repeat :][:4], strict=True):
            assert train.tolist() == other.tolist() and test.tolist() == tested.tolist()
    groups = Assignment.of("groups", np.arange(40) // 4)
    rng = np.random.RandomState(9)
    for repeat in range(2):
        splitter = GroupKFold(4, shuffle=True, random_state=rng)
        made = folds(y, n_splits=4, repeat=repeat, seed=9, assignment=groups)
        for (_, test), (_, tested) in zip(made, splitter.split(y, None, groups.numbers), strict=True):
            assert test.tolist() == tested.tolist()
    own = Assignment.of("folds", np.arange(40) % 5)
    made = folds(y, n_splits=5, repeat=0, seed=9, assignment=own)
    assert [test.tolist() for _, test in made] == [list(range(fold, 40, 5)) for fold in range(5)]


def test_sparse_features_give_what_dense_ones_do():
    X, y = table(n=90, p=30)
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    y = X[:, 0] - 2 * X[:, 7] + 0.1 * y
    relieff = {"_target_": "reliefe.ReliefF", "target": "regression"}
    dense, thin = (evaluated(each, y, relieff) for each in (X, sparse.csr_matrix(X)))
    assert set(thin["status"]) == {"ok"}
    for a, b in zip(dense.itertuples(), thin.itertuples(), strict=True):
        np.testing.assert_allclose(a.weights, b.weights, atol=1e-12)
        np.testing.assert_allclose(a.r2, b.r2, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("factor", [1e300, 2.0**-1000, -1e280])
def test_neither_rankings_nor_scores_depend_on_the_scale_of_the_target(factor):
    X, y = table()
    for ranker in ({"_target_": "reliefe.ReliefF", "target": "regression"}, F):
        usual, extreme = evaluated(X, y, ranker), evaluated(X, y * factor, ranker)
        assert set(extreme["status"]) == {"ok"}
        for a, b in zip(usual.itertuples(), extreme.itertuples(), strict=True):
            np.testing.assert_allclose(a.weights, b.weights, rtol=1e-7, atol=1e-12)
            np.testing.assert_allclose(a.r2, b.r2, rtol=1e-9)


def test_relative_to_an_r2_that_is_not_above_0_rows_have_no_number(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 12))).add_prefix("x").assign(y=rng.normal(size=40))
    frame.to_csv(tmp_path / "noise.csv", index=False)
    typed = [
        "dataset=csv",
        f"dataset.path={tmp_path / 'noise.csv'}",
        "dataset.target=y",
        "dataset.task=regression",
    ]
    listening = Listening()
    rows = run_study(composed(tmp_path, *typed, "ranker=anova_f"), progress=listening).frame
    undefined = rows[~(rows["r2_all"] > 0)]
    assert len(undefined) and undefined["aurr2"].isna().all() and undefined["best_r2"].notna().all()
    assert all(np.isnan(curve).all() for curve in undefined["rr2"])
    n = len(undefined)
    said = "folds of noise.csv[task=regression] (quick), where the R² of all features is not above 0"
    assert f"rR² has no value in {n} of 5 {said}" in listening.text


def test_a_test_fold_with_one_number_only_is_refused_before_anything_runs(tmp_path):
    y = np.zeros(40)
    y[:5] = [3.0, 1.0, 4.0, 1.0, 5.0]
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(40, 3)), columns=list("abc")).assign(y=y)
    frame.to_csv(tmp_path / "many.csv", index=False)
    typed = [
        "dataset=csv",
        f"dataset.path={tmp_path / 'many.csv'}",
        "dataset.target=y",
        "dataset.task=regression",
    ]
    said = (
        r"cannot be scored by R²: in repeat 0, fold \d, all 4 test samples have the target 0, of 5 different"
    )
    with pytest.raises(SplitError, match=said):
        run_study(
            composed(tmp_path / "out", *typed, "ranker=anova_f", "protocol=paper"), progress=Listening()
        )
    assert not list((tmp_path / "out").glob("rows/**/*.parquet"))


def test_folds_need_two_samples_each_and_there_are_two_folds():
    y = np.arange(7.0)
    with pytest.raises(
        SplitError, match=r"cannot be split into 4 folds: it has 7 samples, .* at most 3 folds"
    ):
        check_numbers(y, n_splits=4, n_repeats=1, seed=0)
    check_numbers(y, n_splits=3, n_repeats=2, seed=0)
    with pytest.raises(SplitError, match="at least 2"):
        check_numbers(y, n_splits=1, n_repeats=1, seed=0)
    own = Assignment.of("folds", [0, 1, 1, 1, 2, 2, 2])
    with pytest.raises(SplitError, match="fold 0, the one test sample has the target 0"):
        check_numbers(y, n_splits=3, n_repeats=1, seed=0, assignment=own)


def test_two_values_are_numbers_and_a_warning(caplog):
    y = np.arange(40.0) % 2
    check_numbers(y, n_splits=4, n_repeats=1, seed=0, dataset="mine")
    assert "mine: the numeric target has two values, 0 and 1" in caplog.text
    X = np.random.default_rng(2).normal(size=(40, 3)) + y[:, None]
    frame = evaluated(X, y, {"_target_": "reliefe.ReliefF", "target": "regression"})
    assert set(frame["status"]) == {"ok"} and frame["r2_all"].mean() > 0.2


def test_a_learner_that_is_no_regressor_or_none_is_named(tmp_path):
    typed = ["dataset=diabetes", "ranker=anova_f", "protocol.regression_learner.alpah=2"]
    with pytest.raises(
        BadInputError, match=r"protocol.regression_learner sklearn.linear_model.Ridge: 'alpah'"
    ):
        composed(tmp_path, *typed)
    without = config(F)
    del without["protocol"]["regression_learner"]
    with pytest.raises(
        BadInputError, match=r"tiny has no learner for the task regression; state protocol.regression"
    ):
        cells_of(without, checksum="0" * 64, task="regression")


def test_the_learner_of_numbers_is_in_no_key_of_classes():
    (made,) = compose_runs(["dataset=wine", "ranker=relieff"]).configs
    before = json.loads(json.dumps(made))
    del before["protocol"]["regression_learner"]
    keys = [
        [(cell.key, cell.reference.key) for cell in cells_of(each, checksum="0" * 64, task="multiclass")]
        for each in (made, before)
    ]
    assert keys[0] == keys[1]
    of_numbers = cells_of(made, checksum="0" * 64, task="regression")[0]
    assert of_numbers.key not in [key for pair in keys[0] for key in pair]
    assert of_numbers.versions["evaluation.regression"] == "numbers 1"


def test_informative_features_of_a_numeric_target_are_found(tmp_path):
    typed = ["dataset=friedman1", "dataset.n_noise=10", "dataset.n_rows=300", "ranker=relieff,anova_f"]
    frame = run(tmp_path, *typed, "protocol=truth")
    assert set(frame["status"]) == {"ok"}
    found = {row.ranker: json.loads(row.measurement)["ranks"] for row in frame.itertuples()}
    assert found["relieff"] == [1, 2, 3, 4, 5]
    assert found["anova_f"][:4] == [1, 2, 3, 4] and found["anova_f"][4] > 5  # the square has no linear part


def test_adaptive_neighbours_of_a_numeric_target_are_among_all_samples(tmp_path):
    typed = ["dataset=diabetes", "ranker=relieff_adaptive", "ranker.n_iterations=20", "protocol=adaptive_k"]
    (row,) = run(tmp_path, *typed).itertuples()
    measured = json.loads(row.measurement)
    assert measured["class_sizes"] == [442] and sum(measured["counts"][0]) == 20
