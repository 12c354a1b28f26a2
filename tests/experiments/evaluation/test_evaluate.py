"""One cell: no look at the test rows, the numbers of scikit-learn's own pipeline, failures kept to their fold."""

import json
import logging

import cheap
import numpy as np
import pytest
from listening import LASTING
from scipy import sparse
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from experiments.errors import ConfigError
from experiments.evaluation import evaluate
from experiments.evaluation.cell import cells_of
from experiments.evaluation.evaluate import (
    evaluate_all_features,
    evaluate_ranking,
    fold_seed,
    make_learner,
)
from experiments.evaluation.options import FitOptions
from experiments.evaluation.splits import folds
from experiments.metrics.relative_f1 import feature_grid
from experiments.schema import ROW_SCHEMA
from experiments.store.rows import from_frame, to_frame

LOGISTIC = {"_target_": "sklearn.linear_model.LogisticRegression", "C": 1.0, "max_iter": 10000}


@pytest.fixture(autouse=True)
def cold():
    """Every test starts in a process that has fitted nothing."""
    evaluate._warm.clear()
    evaluate._compiles_always.clear()


def data(n_rows=60, n_features=6, as_csr=False, **settings):
    raw = cheap.blobs(n_rows, n_features, as_csr=as_csr, **settings)
    return raw.X, raw.labels


def cell(ranker=None, checksum="0" * 64, **protocol):
    config = cheap.config("nowhere", ranker, **protocol)
    return cells_of(config, checksum=checksum, task="multiclass")[-1]


def evaluated(one, X, y, **settings):
    reference = evaluate_all_features(one.reference, X, y)
    return evaluate_ranking(one, X, y, reference.table, **settings)


# --- numbers ---


@pytest.mark.parametrize("as_csr", [False, True])
def test_curves_are_those_of_a_scikit_learn_pipeline(as_csr):
    X, y = data(90, 12, as_csr=as_csr, shift=0.4)
    one = cell(learner=LOGISTIC, n_repeats=2, grid_points=5)
    frame = evaluated(one, X, y).frame
    assert frame["repeat"].tolist() == [1, 1, 1] and frame["fold"].tolist() == [0, 1, 2]
    for row, (train, test) in zip(
        frame.to_dict("records"), folds(y, n_splits=3, repeat=1, seed=0), strict=True
    ):
        dense = X.toarray() if as_csr else X
        weights = cheap.between(dense[train], y[train])
        assert np.array_equal(row["weights"], weights)
        order = np.argsort(-weights, kind="stable")
        assert np.array_equal(row["grid"], feature_grid(12, 5))
        micro, macro = [], []
        for size in row["grid"]:
            pipeline = make_pipeline(MaxAbsScaler(), LogisticRegression(C=1.0, max_iter=10000))
            pipeline.fit(X[train][:, order[:size]], y[train])
            predicted = pipeline.predict(X[test][:, order[:size]])
            micro.append(f1_score(y[test], predicted, average="micro", zero_division=0))
            macro.append(f1_score(y[test], predicted, average="macro", zero_division=0))
        # The last point is the shared score, fitted on the columns in their own order.
        assert row["f1_micro"][:-1] == pytest.approx(micro[:-1], abs=1e-15)
        assert row["f1_macro"][:-1] == pytest.approx(macro[:-1], abs=1e-15)
        assert row["f1_micro_all"] == pytest.approx(micro[-1], abs=1e-15)
        assert row["f1_micro"][-1] == row["f1_micro_all"] and row["f1_macro"][-1] == row["f1_macro_all"]
        assert row["rf1_micro"] == pytest.approx(np.array(micro) / micro[-1], abs=1e-14)
        assert row["best_f1_micro"] == max(row["f1_micro"])
        assert row["learner_converged"] is True or row["learner_converged"] == np.True_


def test_dense_and_csr_give_the_same_scores():
    X, y = data(90, 12, as_csr=True, shift=0.5)
    one = cell(learner=LOGISTIC)
    in_csr, in_dense = evaluated(one, X, y).frame, evaluated(one, X.toarray(), y).frame
    for name in ("weights", "f1_micro", "f1_macro"):
        assert np.allclose(np.stack(in_csr[name]), np.stack(in_dense[name]), rtol=0, atol=1e-12)


def test_ties_go_to_the_lower_column():
    X, y = data(60, 8)
    same = evaluated(cell(cheap.function("level")), X, y).frame
    for row, (train, test) in zip(
        same.to_dict("records"), folds(y, n_splits=3, repeat=0, seed=0), strict=True
    ):
        learner = make_learner(cell().learner)
        for size, f1 in zip(row["grid"], row["f1_micro"], strict=True):
            predicted = learner.fit(X[train][:, :size], y[train]).predict(X[test][:, :size])
            assert f1 == f1_score(y[test], predicted, average="micro")


def test_a_row_has_all_columns_and_types():
    X, y = data()
    result = evaluated(cell(), X, y)
    assert result.table.schema.equals(ROW_SCHEMA)
    frame = result.frame
    assert result.ok and frame["status"].tolist() == ["ok"] * 3 and frame["error"].isna().all()
    assert frame["n_train"].tolist() == [40] * 3 and frame["n_test"].tolist() == [20] * 3
    assert (frame["n_features"] == 6).all() and (frame["n_threads"] == 1).all()
    assert (frame["fit_seconds"] > 0).all() and (frame["learner_seconds"] > 0).all()
    assert frame["latent_dimension"].isna().all() and frame["latent_dimension"].dtype == float
    assert {"numpy", "scikit-learn", "python"} <= set(json.loads(frame["versions"][0]))
    assert set(json.loads(frame["machine"][0])) == {"system", "processor", "cores"}
    assert from_frame(frame).equals(result.table)


def test_one_feature_needs_no_learner_of_its_own(tmp_path):
    X, y = data(30, 1)
    log = tmp_path / "log"
    one = cell(learner={"_target_": "cheap.Logged", "log": str(log)})
    frame = evaluated(one, X, y).frame
    assert log.read_text().split() == ["1"] * 3
    assert all(row.tolist() == [1.0] for row in frame["rf1_micro"])
    assert frame["aurf1_micro"].tolist() == [1.0] * 3


def test_an_all_features_f1_of_zero_is_nan_and_not_infinite():
    y = np.tile([0, 1], 30)
    X = np.random.default_rng(0).normal(size=(60, 5))
    # Test rows are of class 0 and 1; the learner names class 2, which only the data set as a whole knows.
    y = np.concatenate([y, np.repeat(2, 3)])
    X = np.vstack([X, np.zeros((3, 5))])
    one = cell(learner={"_target_": "cheap.Wrong", "right_below": 3}, n_splits=6)
    frame = evaluated(one, X, y).frame
    lost = frame[frame["f1_micro_all"] == 0]
    assert len(lost) == 3  # the folds without a row of class 2
    assert lost["aurf1_micro"].isna().all()
    assert all(np.isnan(curve).all() for curve in lost["rf1_micro"])
    assert (lost["best_f1_micro"] > 0).all()
    assert frame.drop(lost.index)["aurf1_micro"].notna().all()


# --- no look at the test rows ---


def test_noise_ranked_inside_the_folds_is_no_better_than_chance(tmp_path):
    inside, leaking = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 5000)), rng.permutation(np.repeat([0, 1], 30))
        # Only the score at 10 features counts, so the reference may come from a learner that costs nothing.
        cheap_reference = evaluate_all_features(cell(n_splits=10).reference, X, y).table
        weights = tmp_path / "all_rows.npy"
        np.save(weights, f_classif(X, y)[0])
        for ranker, scores in (
            (cheap.function("between", power=2.0), inside),
            (cheap.function("stored", path=str(weights)), leaking),
        ):
            one = cell(ranker, learner=LOGISTIC, n_splits=10, grid_points=2)
            frame = evaluate_ranking(one, X, y, cheap_reference).frame
            place = frame["grid"][0].tolist().index(10)
            scores.append(np.mean([curve[place] for curve in frame["f1_micro"]]))
    assert 0.40 < np.mean(inside) < 0.65
    assert np.mean(leaking) > 0.8  # what the same code says when the test rows were looked at


@pytest.mark.parametrize("as_csr", [False, True])
def test_other_test_rows_leave_the_weights_of_the_fold_unchanged(as_csr):
    X, y = data(60, 20, as_csr=as_csr)
    one = cell(learner=LOGISTIC)
    before = evaluated(one, X, y).frame
    for fold, (_, test) in enumerate(folds(y, n_splits=3, repeat=0, seed=0)):
        changed = X.tolil() if as_csr else X.copy()
        changed[test] = np.random.default_rng(fold).normal(5, 100, size=(len(test), 20))
        after = evaluated(one, changed.tocsr() if as_csr else changed, y).frame
        assert np.array_equal(after["weights"][fold], before["weights"][fold])
        others = [other for other in range(3) if other != fold]
        assert not any(np.array_equal(after["weights"][other], before["weights"][other]) for other in others)


def test_neither_ranker_nor_learner_changes_the_data_of_others():
    X, y = data()
    X.setflags(write=False)
    y.setflags(write=False)
    vandal, good = evaluated(cell(cheap.function("vandal")), X, y), evaluated(cell(), X, y)
    assert vandal.ok
    for name in ("weights", "f1_micro", "f1_macro"):
        assert np.array_equal(np.stack(vandal.frame[name]), np.stack(good.frame[name]))


# --- seeds ---


def test_fold_seeds_are_fixed_and_all_different():
    seeds = [fold_seed(seed, repeat, fold) for seed in range(3) for repeat in range(10) for fold in range(10)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**32 for seed in seeds)
    assert fold_seed(0, 0, 0) == int(np.random.SeedSequence([0, 0, 0]).generate_state(1)[0])


def test_random_rankers_repeat_themselves():
    X, y = data()
    one = cell(cheap.function("chance"))
    first = evaluated(one, X, y)
    np.random.seed(99)  # noqa: NPY002 - the global state must not matter
    second = evaluated(one, X, y)  # also: warm by now
    assert first.table.select(LASTING).equals(second.table.select(LASTING))
    assert len({tuple(weights) for weights in first.frame["weights"]}) == 3


# --- failures ---


@pytest.mark.parametrize(
    ("ranker", "text"),
    [
        (cheap.function("broken"), "ValueError: boom"),
        (cheap.function("quitting"), "SystemExit: 3"),
        (cheap.function("unusual"), "Unusual: not today"),
        (cheap.function("interrupting"), "KeyboardInterrupt: by itself"),
        (cheap.function("unreal"), "RankerError: unreal gave weights that are no numbers: they are complex"),
        (cheap.function("nan"), "RankerError"),
    ],
)
def test_a_failing_ranker_is_rows_with_the_error(ranker, text):
    X, y = data()
    result = evaluated(cell(ranker), X, y)
    frame = result.frame
    assert not result.ok
    assert frame["status"].tolist() == ["failed"] * 3
    assert all(error.startswith(text) for error in frame["error"])
    numbers = ["fit_seconds", "f1_micro_all", "aurf1_micro", "best_f1_macro", "learner_converged", "weights"]
    assert frame[numbers].isna().all(axis=None)
    assert frame["n_train"].tolist() == [40] * 3 and frame["fold"].tolist() == [0, 1, 2]


def test_a_failing_fold_leaves_the_others_and_is_all_that_runs_again(tmp_path):
    X, y = data()
    flag, log = tmp_path / "flag", tmp_path / "log"
    flag.write_text("0")
    one = cell(
        cheap.function("broken_at", flag=str(flag)), learner={"_target_": "cheap.Logged", "log": str(log)}
    )
    reference = evaluate_all_features(one.reference, X, y).table
    first = evaluate_ranking(one, X, y, reference)
    # Calls: warm-up fine, fold 0 fails; fold 1 fine (warm by then), fold 2 fails.
    assert first.frame["status"].tolist() == ["failed", "ok", "failed"]
    assert first.frame["error"][0] == "ArithmeticError: every second time"
    flag.unlink()
    log.unlink()
    second = evaluate_ranking(one, X, y, reference, previous=first.table)
    assert second.ok
    assert second.table.slice(1, 1).equals(first.table.slice(1, 1))
    n_points = len(second.frame["grid"][0])
    assert len(log.read_text().split()) == 2 * (n_points - 1)


def test_a_failing_learner_is_a_failed_row_here_and_with_every_ranker():
    X, y = data()
    one = cell(learner={"_target_": "cheap.Refusing", "most": 5})
    reference = evaluate_all_features(one.reference, X, y)
    assert set(reference.frame["error"]) == {"RuntimeError: 6 columns are too many"}
    ranking = evaluate_ranking(one, X, y, reference.table)
    assert ranking.frame["status"].tolist() == ["failed"] * 3
    assert "6 columns are too many" in ranking.frame["error"][0]
    partly = evaluate_ranking(
        cell(learner={"_target_": "cheap.Refusing", "most": 2}),
        X,
        y,
        evaluate_all_features(cell().reference, X, y).table,
    )
    assert set(partly.frame["error"]) == {"RuntimeError: 3 columns are too many"}


def test_a_learner_that_does_not_exist_or_has_other_parameters_is_named():
    with pytest.raises(ConfigError, match="max_iter"):
        make_learner({**LOGISTIC, "max_iters": 5})
    with pytest.raises(ConfigError, match="LogisticRegresion"):
        make_learner({"_target_": "sklearn.linear_model.LogisticRegresion"})
    with pytest.raises(ConfigError, match="_target_"):
        make_learner({})


# --- around the fit ---


def test_warm_up_runs_once_per_ranker_and_data_set_and_is_stored_apart(tmp_path):
    X, y = data()
    log = tmp_path / "log"
    one = cell(cheap.function("logged", log=str(log), seconds=0.01))
    frame = evaluated(one, X, y).frame
    assert len(log.read_text().split()) == 4
    assert frame["warm_up_seconds"][0] >= 0.01 and frame["warm_up_seconds"].tolist()[1:] == [0, 0]
    assert (evaluated(one, X, y).frame["warm_up_seconds"] == 0).all()
    other_data = cell(cheap.function("logged", log=str(log), seconds=0.01), checksum="1" * 64)
    assert evaluated(other_data, X, y).frame["warm_up_seconds"][0] > 0
    assert set(log.read_text().split()) == {"40"}  # training rows alone, in the warm-up too


def test_a_fit_that_compiles_after_the_warm_up_is_done_again(tmp_path):
    """The first fold has no missing values, say, and the second has."""
    X, y = data()
    log = tmp_path / "log"
    frame = evaluated(cell(cheap.function("compiling", log=str(log), number=3)), X, y).frame
    assert log.read_text() == "....."  # warm-up, fold 0, fold 1 twice, fold 2
    assert frame["fit_seconds"].max() < 0.5 <= frame["warm_up_seconds"][1]
    assert frame["warm_up_seconds"][2] == 0
    plain = evaluated(cell(), X, y).frame
    assert frame["f1_micro"].map(list).tolist() == plain["f1_micro"].map(list).tolist()


def test_compilation_in_every_fit_belongs_to_the_fit(tmp_path):
    X, y = data()
    log = tmp_path / "log"
    ranker = cheap.function("compiling", log=str(log))
    frame = evaluated(cell(ranker), X, y).frame
    assert log.read_text() == "....."  # fold 0 once more, to know
    assert frame["fit_seconds"].min() >= 0.5
    assert (evaluated(cell(ranker), X, y).frame["warm_up_seconds"] == 0).all()
    assert len(log.read_text()) == 8


def test_nothing_is_done_again_where_timings_do_not_count(tmp_path):
    X, y = data()
    log, learner_log = tmp_path / "log", tmp_path / "learner"
    learner = {"_target_": f"{cheap.MODULE}.Compiling", "log": str(learner_log), "number": 2}
    one = cell(cheap.function("compiling", log=str(log), number=3), learner=learner)
    options = FitOptions(timed=False)
    reference = evaluate_all_features(one.reference, X, y, fit_options=options)
    evaluate_ranking(one, X, y, reference.table, fit_options=options)
    assert log.read_text() == "...."
    assert len(learner_log.read_text()) == 3 + 3 * (len(feature_grid(6, 4)) - 1)


def test_compilation_is_not_in_the_time_of_the_learner(tmp_path):
    X, y = data()
    log = tmp_path / "log"
    learner = {"_target_": f"{cheap.MODULE}.Compiling", "log": str(log), "number": 2}
    frame = evaluate_all_features(cell(learner=learner).reference, X, y).frame
    assert log.read_text() == "...."  # fold 1 twice
    assert frame["learner_seconds"].max() < 0.5


def test_convergence_is_recorded_and_warnings_are_counted_not_shown(recwarn, caplog):
    X, y = data(90, 12)
    short = evaluated(cell(learner={**LOGISTIC, "max_iter": 1}), X, y)
    assert short.ok and not short.frame["learner_converged"].any()
    assert sum(n for (kind, _), n in short.warnings.items() if kind == "ConvergenceWarning") == 3 * 4
    noisy = evaluated(cell(cheap.function("noisy")), X, y)
    assert noisy.warnings == {("RuntimeWarning", "something odd"): 3, ("somewhere", "lowered k to 3"): 3}
    assert not recwarn.list and not caplog.records
    logging.getLogger("somewhere").warning("afterwards")
    assert "afterwards" in caplog.text


def test_convergence_of_the_reference_counts():
    X, y = data(90, 12)
    short, long = cell(learner={**LOGISTIC, "max_iter": 1}), cell(learner=LOGISTIC)
    reference = evaluate_all_features(short.reference, X, y)
    assert not evaluate_ranking(long, X, y, reference.table).frame["learner_converged"].any()


def test_one_thread_during_the_fit():
    X, y = data()
    frame = evaluated(cell(cheap.function("threads")), X, y).frame
    assert {tuple(weights) for weights in frame["weights"]} == {(1.0,) * 6}


def test_peak_memory_is_that_of_the_fit(tmp_path):
    X, y = data()
    frame = evaluated(cell(), X, y).frame
    if frame["peak_memory_mib"].isna().all():
        # Not Linux: stated as unknown.
        with pytest.raises(OSError):
            open("/proc/self/clear_refs", "w").write("5")
    else:
        assert (frame["peak_memory_mib"] > 10).all()


def test_frames_keep_their_types_when_things_are_null():
    X, y = data()
    good, bad = evaluated(cell(), X, y), evaluated(cell(cheap.function("broken")), X, y)
    assert good.frame.dtypes.to_dict() == bad.frame.dtypes.to_dict()
    assert to_frame(bad.table)["learner_converged"].isna().all()


def test_estimators_are_ranked_on_csr():
    X, y = data(60, 20, as_csr=True)
    assert sparse.issparse(X)
    forest = {"_target_": "sklearn.ensemble.RandomForestClassifier", "n_estimators": 3}
    result = evaluated(cell(forest, learner=LOGISTIC), X, y)
    assert result.ok
    assert evaluated(cell(forest, learner=LOGISTIC), X, y).table["weights"].equals(result.table["weights"])
