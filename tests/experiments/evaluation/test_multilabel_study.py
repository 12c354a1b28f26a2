"""Labels from folds to figure: F1, forests, rankers, keys, a study, and the medical data set."""

import json
import os
import sys
import warnings

import cheap
import numpy as np
import pandas as pd
import programs
import pytest
from listening import Listening, text_of
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.neighbors import KNeighborsClassifier

from experiments.config.compose import PROJECT_ROOT, compose_runs
from experiments.errors import BadInputError, ConfigError, RankerError
from experiments.evaluation import cell as cells
from experiments.evaluation import evaluate
from experiments.evaluation.cell import cells_of
from experiments.evaluation.evaluate import evaluate_all_features, evaluate_ranking, fold_seed
from experiments.evaluation.splits import folds
from experiments.execution.runner import run_study
from experiments.learners import forest
from experiments.learners.forest import fit_predict, fit_predict_labels
from experiments.metrics.f1 import f1_micro_macro_labels
from experiments.rankers import rank
from reliefe import SURF, MultiSURF, ReliefE, ReliefF, TuRF

FOREST = {"_target_": "sklearn.ensemble.RandomForestClassifier", "n_estimators": 7, "random_state": None}
NEIGHBOURS = {"_target_": "sklearn.neighbors.KNeighborsClassifier", "n_neighbors": 5}


@pytest.fixture(autouse=True)
def cold():
    evaluate._warm.clear()


def config(results="nowhere", ranker=None, *, learner=FOREST, data=None, ranker_key="a", **protocol):
    source = {"_target_": f"{cheap.MODULE}.labelled", **(data or {})}
    made = cheap.config(
        results,
        ranker or cheap.function("apart"),
        ranker_key=ranker_key,
        dataset=source,
        dataset_key="labelled",
        multilabel_learner=learner,
        **protocol,
    )
    made["dataset"]["task"] = "multilabel"
    return made


def cell(ranker=None, **settings):
    return cells_of(config("nowhere", ranker, **settings), checksum="0" * 64, task="multilabel")[-1]


def data(**settings):
    raw = cheap.labelled(**settings)
    return raw.X, raw.labels


def evaluated(one, X, y):
    return evaluate_ranking(one, X, y, evaluate_all_features(one.reference, X, y).table)


# --- F1 ---


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_f1_of_labels_is_scikit_learns(seed, as_sparse):
    rng = np.random.default_rng(seed)
    true = (rng.random((40, 12)) < rng.choice([0.0, 0.05, 0.3, 1.0], 12)).astype(np.int8)
    given = (rng.random((40, 12)) < rng.choice([0.0, 0.05, 0.3, 1.0], 12)).astype(float)
    ours = f1_micro_macro_labels(sparse.csr_matrix(true), sparse.csc_matrix(given) if as_sparse else given)
    for value, average in zip(ours, ("micro", "macro"), strict=True):
        assert value == pytest.approx(f1_score(true, given, average=average, zero_division=0), abs=1e-15)


def test_f1_is_defined_without_any_positive(recwarn):
    nothing = sparse.csr_matrix((5, 3), dtype=np.int8)
    assert f1_micro_macro_labels(nothing, np.zeros((5, 3))) == (0.0, 0.0)
    assert f1_micro_macro_labels(nothing, np.eye(5, 3)) == (0.0, 0.0)
    one = sparse.csr_matrix(np.eye(5, 3), dtype=np.int8)
    assert f1_micro_macro_labels(one, np.eye(5, 3)) == (1.0, 1.0)
    assert not recwarn.list


def test_stored_zeros_of_a_prediction_are_no_labels():
    predicted = sparse.csr_matrix(np.eye(3))
    predicted.data[2] = 0
    assert f1_micro_macro_labels(sparse.csr_matrix(np.eye(3)), predicted) == (0.8, pytest.approx(2 / 3))


def test_a_prediction_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"\(5, 2\).*\(5, 3\)"):
        f1_micro_macro_labels(sparse.csr_matrix((5, 3)), np.zeros((5, 2)))


# --- forests in parts ---


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("together", [1, 20_000, 2**28])
@pytest.mark.parametrize("as_csr", [False, True])
def test_a_forest_in_parts_predicts_what_the_whole_one_does(monkeypatch, kind, together, as_csr, recwarn):
    X, T = data(n_rows=120, n_features=15, n_labels=5, shift=0.6, as_csr=as_csr, rare=2)
    T = T.toarray().astype(np.uint8)
    T[:, 1] = 1  # a label of every row
    X = X[:, np.random.default_rng(0).permutation(15)]  # sparse columns out of order, as after a ranking
    monkeypatch.setattr(forest, "_TOGETHER", together)
    in_parts = kind(n_estimators=25, random_state=11)
    expected = kind(n_estimators=25, random_state=11).fit(X[:80], T[:80]).predict(X[80:])
    assert np.array_equal(fit_predict_labels(in_parts, X[:80], T[:80], X[80:]), expected)
    assert expected.any() and not expected.all()
    assert in_parts.estimators_ == [None] * 25  # no tree is kept
    assert not recwarn.list


@pytest.mark.parametrize(
    "learner",
    [
        KNeighborsClassifier(3),
        RandomForestClassifier(5, random_state=0, class_weight="balanced"),
        RandomForestClassifier(5, random_state=np.random.RandomState(3)),
        RandomForestClassifier(5, random_state=0, oob_score=True, bootstrap=True),
    ],
)
def test_other_learners_are_fitted_as_they_are(learner):
    X, T = data(n_rows=60)
    T = T.toarray().astype(np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # five trees are few for an out-of-bag score
        predicted = fit_predict_labels(learner, X[:40], T[:40], X[40:])
        assert np.array_equal(predicted, learner.predict(X[40:]))


# --- one cell ---


@pytest.mark.parametrize("as_csr", [False, True])
def test_rows_do_not_depend_on_whose_trees_they_are(monkeypatch, as_csr):
    X, y = data(n_rows=90, n_features=12, as_csr=as_csr, shift=0.7)
    ways = []
    real = evaluate.fit_predict
    monkeypatch.setattr(
        evaluate, "fit_predict", lambda *given: ways.append((done := real(*given))[1]) or done
    )
    tables = []
    for passes in (True, False):
        monkeypatch.setattr(forest, "passes_self_check", lambda passes=passes: passes)
        tables.append(evaluated(cell(grid_points=5), X, y).table)
    # Forests during which functions are compiled are grown once more, for their time.
    n_own, n_learner = ways.count("own_trees"), ways.count("learner")
    assert ways == ["own_trees"] * n_own + ["learner"] * n_learner and n_own >= n_learner > 3
    assert set(tables[0]["learner_way"].to_pylist()) == {"own_trees"}
    assert set(tables[1]["learner_way"].to_pylist()) == {"learner"}
    for column in tables[0].column_names:
        if "seconds" not in column and column not in ("peak_memory_mib", "learner_way"):
            assert tables[0][column].equals(tables[1][column]), column


def test_a_forest_of_classes_is_grown_the_same_way():
    X, y = data(n_rows=90, n_features=12, shift=0.7)
    classes = y.toarray()[:, 0].astype(int)
    predicted, way = fit_predict(RandomForestClassifier(9, random_state=4), X[:60], classes[:60], X[60:])
    assert way == "own_trees"
    assert np.array_equal(
        predicted, RandomForestClassifier(9, random_state=4).fit(X[:60], classes[:60]).predict(X[60:])
    )


@pytest.mark.parametrize("as_csr", [False, True])
def test_curves_are_those_of_scikit_learn_on_unscaled_columns(as_csr):
    X, y = data(n_rows=90, n_features=12, as_csr=as_csr, shift=0.7)
    X = sparse.csr_matrix(X.multiply(np.geomspace(1, 1e4, 12))) if as_csr else X * np.geomspace(1, 1e4, 12)
    frame = evaluated(cell(n_repeats=2, grid_points=5), X, y).frame
    assert frame["status"].tolist() == ["ok"] * 3 and frame["learner_converged"].all()
    splits = folds(y, n_splits=3, repeat=1, seed=0)
    for row, (train, test) in zip(frame.to_dict("records"), splits, strict=True):
        dense, T = (X.toarray() if as_csr else X), y.toarray()
        weights = cheap.apart(dense[train], T[train])
        assert np.array_equal(row["weights"], weights)
        order = np.argsort(-weights, kind="stable")
        for place, size in enumerate(row["grid"]):
            # All features are scored once for all rankers, in the order of the columns.
            used = order[:size] if size < 12 else np.arange(12)
            learner = RandomForestClassifier(7, random_state=fold_seed(0, 1, row["fold"]))
            predicted = learner.fit(dense[train][:, used], T[train]).predict(dense[test][:, used])
            for average in ("micro", "macro"):
                expected = f1_score(T[test], predicted, average=average, zero_division=0)
                assert row[f"f1_{average}"][place] == pytest.approx(expected, abs=1e-15)


def test_a_label_with_no_or_one_positive_in_a_training_fold_leaves_f1_defined():
    X, y = data(n_rows=60, shift=2.0, rare=3)  # three labels: with no row, with one row, with two
    sums = [y[train].sum(axis=0).A1 for train, _ in folds(y, n_splits=10, repeat=0, seed=0)]
    assert {0, 1} <= {int(each[-2]) for each in sums} and all(each[-3] == 0 for each in sums)
    for ranker in (None, {"_target_": "reliefe.ReliefF"}, FOREST):
        result = evaluated(cell(ranker, n_splits=10), X, y)
        frame = result.frame
        assert frame["status"].tolist() == ["ok"] * 10
        for name in ("f1_micro", "f1_macro", "weights"):
            assert np.isfinite(np.stack(frame[name])).all()
        assert (frame["f1_micro_all"] > 0).all() and not result.warnings


def test_an_all_features_f1_of_zero_is_nan():
    X, y = data(n_rows=60, n_labels=2, shift=0.0)
    y = sparse.csr_matrix(np.arange(60)[:, None] % 20 == [0, 1], dtype=np.int8)  # too rare to be predicted
    frame = evaluated(cell(learner=NEIGHBOURS), X, y).frame
    assert (frame["status"] == "ok").all() and (frame["f1_micro_all"] == 0).all()
    assert frame["aurf1_micro"].isna().all()


def test_noise_ranked_inside_the_folds_is_no_better_than_chance(tmp_path):
    inside, leaking = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 5000))
        T = np.column_stack([rng.permutation(np.repeat([0, 1], 30)) for _ in range(2)])
        y = sparse.csr_matrix(T, dtype=np.int8)
        np.save(tmp_path / "all_rows.npy", cheap.apart(X, T))
        rankers = (cheap.function("apart"), cheap.function("stored", path=str(tmp_path / "all_rows.npy")))
        reference = evaluate_all_features(cell(learner=NEIGHBOURS, n_splits=10).reference, X, y).table
        for ranker, scores in zip(rankers, (inside, leaking), strict=True):
            one = cell(ranker, learner=NEIGHBOURS, n_splits=10, grid_points=2)
            frame = evaluate_ranking(one, X, y, reference).frame
            place = frame["grid"][0].tolist().index(10)
            scores.append(np.mean([curve[place] for curve in frame["f1_micro"]]))
    assert 0.40 < np.mean(inside) < 0.65
    assert np.mean(leaking) > 0.70  # what the same code says when the test rows were looked at


@pytest.mark.parametrize("as_csr", [False, True])
def test_other_test_rows_and_labels_leave_the_weights_of_the_fold_unchanged(as_csr, monkeypatch):
    X, y = data(n_rows=60, n_features=20, as_csr=as_csr)
    splits = folds(y, n_splits=3, repeat=0, seed=0)
    # Other labels would make other folds; these stay those of the data as they were.
    monkeypatch.setattr(evaluate, "folds", lambda y, **settings: splits)
    one = cell({"_target_": "reliefe.ReliefF"})
    before = evaluated(one, X, y).frame
    for fold, (_, test) in enumerate(splits):
        changed, other_y = X.tolil() if as_csr else X.copy(), y.tolil()
        changed[test] = np.random.default_rng(fold).normal(5, 100, size=(len(test), 20))
        other_y[test] = 1 - y[test].toarray()
        after = evaluated(one, changed.tocsr() if as_csr else changed, other_y.tocsr()).frame
        assert np.array_equal(after["weights"][fold], before["weights"][fold])
        others = [other for other in range(3) if other != fold]
        assert not any(np.array_equal(after["weights"][other], before["weights"][other]) for other in others)


# --- rankers ---


class TakesNone(BaseEstimator):
    """By its tags, for one target; it would not notice two."""

    def fit(self, X, y):
        self.feature_importances_ = np.ones(X.shape[1])
        return self


class WithoutTags:
    def fit(self, X, y):
        assert isinstance(y, np.ndarray) and y.ndim == 2 and set(np.unique(y)) == {0, 1}
        self.feature_importances_ = np.ones(X.shape[1])
        y[:] = 0
        X[:] = 0
        return self


@pytest.mark.parametrize("name", ["relieff_absmean", "relieff_adaptive", "reliefe"])
def test_relief_gets_the_labels(name):
    X, y = data(n_rows=60)
    block = compose_runs([f"ranker={name}"]).configs[0]["ranker"]
    weights = rank(block, X, y, 5).weights
    kind = ReliefE if name == "reliefe" else ReliefF
    own = kind(
        n_neighbors=block["n_neighbors"],
        abs_mean=block["abs_mean"],
        random_state=5,
        target_distance="hamming",
    )
    assert np.array_equal(weights, own.fit(X, y.toarray()).feature_importances_)
    if kind is ReliefF:
        assert weights[:3].min() > weights[3:].max()


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("surf_f1", SURF(target_distance="f1")),
        ("multisurf", MultiSURF()),
        ("turf", TuRF(MultiSURF(), random_state=5)),
    ],
)
def test_rankers_by_thresholds_get_the_labels(name, own):
    X, y = data(n_rows=60, shift=3.0)
    block = compose_runs([f"ranker={name}"]).configs[0]["ranker"]
    weights = rank(block, X, y, 5).weights
    assert np.array_equal(weights, own.fit(X, y.toarray()).feature_importances_)
    assert weights[:3].min() > weights[3:].max()


def test_a_random_forest_gets_the_labels():
    X, y = data(n_rows=60)
    expected = RandomForestClassifier(7, random_state=5).fit(X, y.toarray()).feature_importances_
    assert np.array_equal(rank(FOREST, X, y, 5).weights, expected)


@pytest.mark.parametrize(
    "name",
    [
        "mutual_information",
        "skrebate_relieff",
        "skrebate_surf",
        "skrebate_multisurf",
        "skrebate_multisurf_star",
    ],
)
def test_rankers_of_classes_say_so(name):
    X, y = data(n_rows=60)
    block = compose_runs([f"ranker={name}"]).configs[0]["ranker"]
    with pytest.raises(RankerError, match="takes one class per sample, not labels") as error:
        rank(block, X, y, 0)
    assert str(error.value).startswith(block["display_name"])


def test_tags_decide_and_what_has_none_is_given_zeros_and_ones():
    X, y = data(n_rows=60)
    before = X.copy(), y.toarray()
    with pytest.raises(RankerError, match="one class per sample"):
        rank({"_target_": f"{__name__}.TakesNone"}, X, y, 0)
    assert rank({"_target_": f"{__name__}.WithoutTags"}, X, y, 0).weights.tolist() == [1.0] * 6
    assert np.array_equal(X, before[0]) and np.array_equal(y.toarray(), before[1])


# --- keys ---


def test_keys_of_classes_do_not_know_of_labels(monkeypatch):
    monkeypatch.setattr(cells, "versions", lambda *blocks, also=(), numbers=(): {"numpy": "1"})
    one = cheap.config("nowhere", n_repeats=2)
    with_more = {**one, "protocol": {**one["protocol"], "multilabel_learner": FOREST}}
    for each in (one, with_more):
        # As they were before there were labels: finished cells of classes are not run again.
        assert [made.key for made in cells_of(each, checksum="0" * 64, task="multiclass")] == [
            "e99e73e476397f1b31e90dd32522cc34cfa9e18556f58d6524db2707df7ae3b0",
            "fe19fdb2b9d20b0c260be3a56f8a887d65f23a68da6026c9945e2c149e82e722",
        ]


def test_keys_of_labels_know_their_learner_and_what_makes_their_folds():
    one = cell()
    assert one.learner == FOREST and "iterative-stratification" in one.versions
    assert "iterative-stratification" in one.reference.versions
    other_forest, other_learner = (
        {**FOREST, "n_estimators": 8},
        {"_target_": "sklearn.naive_bayes.GaussianNB"},
    )
    assert cell(learner=other_forest).key != one.key
    made = config()
    made["protocol"]["learner"] = {**other_learner, "var_smoothing": 1e-3}
    assert cells_of(made, checksum="0" * 64, task="multilabel")[0].key == one.key
    classes = cells_of(cheap.config("nowhere"), checksum="0" * 64, task="multiclass")[0]
    assert "iterative-stratification" not in classes.versions and classes.task == "multiclass"


def test_a_protocol_without_a_learner_of_labels_says_what_to_state(tmp_path):
    with pytest.raises(ConfigError, match=r"tiny has no learner for the task multilabel.*multilabel_learner"):
        run_study([config(tmp_path / "results", learner={})], progress=Listening())
    assert not (tmp_path / "results").exists()


def test_a_wrong_parameter_is_named_with_its_block(tmp_path):
    with pytest.raises(ConfigError, match=r"protocol.multilabel_learner 'n_estimator'.*\n.*n_estimators"):
        run_study([config(tmp_path, learner={**FOREST, "n_estimator": 3})], progress=Listening())


def test_the_protocols_take_the_forest_with_its_defaults():
    for name in ("paper", "quick"):
        learner = compose_runs([f"protocol={name}"]).configs[0]["protocol"]["multilabel_learner"]
        made, default = evaluate.make_learner(learner, 3), RandomForestClassifier(random_state=3)
        assert type(made) is RandomForestClassifier and made.get_params() == default.get_params()


# --- a study ---


@pytest.mark.parametrize("as_csr", [False, True])
def test_one_process_and_two_give_the_same_rows(tmp_path, as_csr):
    sizes = {
        "n_rows": 300,
        "n_features": 40,
        "as_csr": as_csr,
        "rare": 2,
    }  # large enough to go as memory maps
    frames = []
    for n_workers in (1, 2):
        configs = [
            config(tmp_path / str(n_workers), data=sizes, n_repeats=2),
            config(tmp_path / str(n_workers), {"_target_": "reliefe.ReliefF"}, data=sizes, ranker_key="b"),
        ]
        result = run_study(configs, n_workers=n_workers, progress=Listening())
        assert result.exit_code == 0
        frames.append(result.frame)
    assert len(frames[0]) == 9 and text_of(frames[0]) == text_of(frames[1])


@pytest.mark.parametrize("as_csr", [False, True])
def test_a_study_of_labels_with_thresholds(tmp_path, as_csr):
    names = ["surf", "multisurf", "multisurf_cosine"]
    blocks = [compose_runs([f"ranker={name}"]).configs[0]["ranker"] for name in names]
    configs = [
        config(tmp_path, block, data={"as_csr": as_csr}, ranker_key=name)
        for name, block in zip(names, blocks, strict=True)
    ]
    result = run_study(configs, progress=Listening())
    assert result.exit_code == 0
    assert set(result.frame["ranker"]) == set(names)
    assert (result.frame["status"] == "ok").all()
    assert result.frame["error"].isna().all()


def test_a_ranker_of_classes_is_refused_before_anything_runs(tmp_path):
    configs = [
        config(tmp_path, {"_target_": "skrebate.SURF", "display_name": "SURF"}, ranker_key="b"),
        config(tmp_path),
    ]
    with pytest.raises(
        BadInputError, match="b cannot rank labelled: it takes one class per sample, not labels"
    ):
        run_study(configs, progress=Listening())
    assert not list(tmp_path.rglob("*.parquet"))


def test_medical_from_the_command_line(tmp_path, local_data):
    """Table and figure of a real data set; few trees and points, so that it takes seconds."""
    typed = [
        "dataset=medical",
        "ranker=relieff",
        "protocol=quick",
        "protocol.grid_points=3",
        "protocol.n_splits=3",
        "protocol.multilabel_learner.n_estimators=5",
        "launcher.n_workers=1",
        f"paths.local_data={local_data}",
        "paths.results=out",
    ]
    command = [sys.executable, str(PROJECT_ROOT / "run.py"), *typed]
    done = programs.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ}, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "978 samples × 1449 features" in " ".join(done.stdout.split())
    assert "labels with fewer samples than the 3 folds" in done.stderr
    tables = (tmp_path / "out" / "tables").glob("medical*.csv")
    (table,) = [each for each in tables if not each.stem.endswith("_best_features")]
    assert {path.suffix for path in (tmp_path / "out" / "figures").iterdir()} == {".png", ".svg"}
    summed = pd.read_csv(table)
    assert summed["ranker"].tolist() == ["relieff"]
    rows = [pd.read_parquet(path) for path in (tmp_path / "out" / "rows").rglob("*.parquet")]
    frame = pd.concat(rows)
    assert set(frame["status"]) == {"ok"} and len(frame) == 6
    versions = json.loads(frame["versions"].iloc[0])
    assert "iterative-stratification" in versions
    ranking = frame[frame["kind"] == "ranking"]
    # With all features it is about 0.7; the best of a hundred words is as good.
    assert (ranking["best_f1_micro"] > 0.5).all() and (
        ranking["f1_macro_all"] < ranking["f1_micro_all"]
    ).all()
