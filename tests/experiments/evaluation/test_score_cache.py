"""Scores of a learner that another ranker had already are looked up: equal rows, fewer fits."""

import json
import math
import os
import time
import warnings
from functools import partial

import cheap
import numpy as np
import pytest
from listening import Listening, text_of
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from experiments.evaluation import evaluate, score_cache
from experiments.evaluation.cell import cells_of
from experiments.evaluation.evaluate import evaluate_all_features, evaluate_ranking
from experiments.evaluation.options import FitOptions
from experiments.evaluation.score_cache import Score, ScoreCache, names_of
from experiments.execution import worker
from experiments.execution.runner import run_study
from experiments.learners import NestedLogisticRegression
from experiments.metrics.relative_f1 import feature_grid
from reliefe.ranking import descending_order

FOREST = {"_target_": "sklearn.ensemble.RandomForestClassifier", "n_estimators": 5}
NESTED = {"_target_": "experiments.learners.NestedLogisticRegression", "C": 1.0}
LISTED = [f"r{number}" for number in range(5)]
#: Numbers of top features that a ranker's learner is fitted on, in each of so many folds.
SIZES = feature_grid(12, 6)[:-1].tolist()
N_SIZES, N_FOLDS = len(SIZES), 6


@pytest.fixture(autouse=True)
def no_memory(monkeypatch):
    """Every test starts in a process that knows nothing, and writes whatever it has computed."""
    monkeypatch.setattr(score_cache, "_WORTH_WRITING", 0.0)
    forget()
    yield
    forget()


def forget():
    """Do as a new process."""
    worker._scores.cache_clear()
    evaluate._warm.clear()


def weights_of_rankers(folder, n_features=12):
    """Five rankers: equal orders, a common beginning, the same features in another order, another order."""
    down = np.arange(n_features, 0.0, -1.0)
    swapped, late = down.copy(), down.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    late[[6, 7]] = late[[7, 6]]
    given = [down, 3 * down, late, swapped, down[::-1]]
    paths = []
    for number, weights in enumerate(given):
        paths.append(str(folder / f"weights{number}.npy"))
        np.save(paths[-1], weights)
    return given, paths


def configs(tmp_path, results="results", learner=None, names=LISTED, launcher=None, **protocol):
    _, paths = weights_of_rankers(tmp_path)
    learner = learner or {"_target_": "cheap.Logged", "log": str(tmp_path / "log"), "seconds": 0.001}
    made = [
        cheap.config(
            tmp_path / results,
            cheap.function("stored", path=path),
            ranker_key=name,
            dataset={"n_features": 12},
            launcher=launcher,
            **{"learner": learner, "grid_points": 6, "n_repeats": 2, **protocol},
        )
        for name, path in zip(LISTED, paths, strict=True)
    ]
    return [each for each in made if each["ranker_key"] in names]


def run(made, **settings):
    return run_study(made, progress=Listening(), **{"n_workers": 1, **settings})


def off(tmp_path, **settings):
    """The rows with nothing looked up."""
    return run(configs(tmp_path, "without", launcher={"score_cache": False}, **settings)).frame


def n_fits(tmp_path):
    log = tmp_path / "log"
    return len(log.read_text().split()) if log.exists() else 0


def n_different(given):
    """How many sequences of features there are along the rankings, by looking at each."""
    return len({tuple(np.argsort(-weights, kind="stable")[:size]) for weights in given for size in SIZES})


# --- rows ---


@pytest.mark.parametrize(
    "learner", [None, FOREST, NESTED, {"_target_": "sklearn.linear_model.LogisticRegression"}]
)
def test_rows_are_the_same_with_and_without(tmp_path, learner):
    without = off(tmp_path, learner=learner)
    assert not (tmp_path / "without" / "score_cache").exists()
    assert text_of(run(configs(tmp_path, learner=learner)).frame) == text_of(without)
    # A second run in a new process, all from the files.
    for path in (tmp_path / "results" / "rows").rglob("*.parquet"):
        path.unlink()
    forget()
    frame = run(configs(tmp_path, learner=learner)).frame
    assert text_of(frame) == text_of(without)
    assert (frame["learner_seconds"] > 0).all()
    assert len(list((tmp_path / "results" / "score_cache").glob("??/*.scores"))) == 6  # one per fold


@pytest.mark.parametrize("as_csr", [False, True])
def test_forests_of_labels_are_the_same_with_and_without(as_csr, tmp_path):
    raw = cheap.labelled(80, 12, 4, as_csr=as_csr)
    counted = Counted()
    rows = {}
    for scores in (None, ScoreCache(tmp_path)):
        for power in (1.0, 2.0):
            one = labels_cell(cheap.function("apart", power=power))
            reference = evaluate_all_features(one.reference, raw.X, raw.labels)
            with counted as fits:
                result = evaluate_ranking(
                    one, raw.X, raw.labels, reference.table, fit_options=FitOptions(scores=scores)
                )
            rows[scores is None, power] = text_of(result.frame), len(fits)
    # The square of a weight is as good as the weight: the second ranker has no forest grown.
    assert [rows[key][1] for key in rows] == [3 * N_SIZES] * 3 + [0]
    assert [rows[True, power][0] for power in (1.0, 2.0)] == [rows[False, power][0] for power in (1.0, 2.0)]


class Counted:
    """Counts what is fitted while it is entered: numbers of columns."""

    def __enter__(self):
        self.fits = []
        self.patch = pytest.MonkeyPatch()
        real = evaluate.fit_predict

        def counting(learner, X_train, y_train, X_test):
            self.fits.append(X_train.shape[1])
            return real(learner, X_train, y_train, X_test)

        self.patch.setattr(evaluate, "fit_predict", counting)
        return self.fits

    def __exit__(self, *exception):
        self.patch.undo()


def labels_cell(ranker, checksum="0" * 64):
    config = cheap.config("nowhere", ranker, multilabel_learner=FOREST, grid_points=6)
    return cells_of(config, checksum=checksum, task="multilabel")[-1]


# --- fits ---


def test_every_sequence_of_features_is_fitted_once(tmp_path):
    given, _ = weights_of_rankers(tmp_path)
    run(configs(tmp_path))
    assert n_fits(tmp_path) == N_FOLDS * (n_different(given) + 1)
    assert n_different(given) < len(given) * N_SIZES  # some are shared


def test_without_it_every_ranker_is_fitted(tmp_path):
    off(tmp_path)
    assert n_fits(tmp_path) == N_FOLDS * (5 * N_SIZES + 1)


def test_a_later_run_goes_on_with_what_is_known(tmp_path):
    given, _ = weights_of_rankers(tmp_path)
    run(configs(tmp_path, names=LISTED[:1]))
    before = n_fits(tmp_path)
    forget()
    run(configs(tmp_path, names=LISTED[1:3]))
    assert n_fits(tmp_path) - before == N_FOLDS * (n_different(given[:3]) - n_different(given[:1]))


def test_two_workers_share_what_they_know(tmp_path):
    slow = {"_target_": "cheap.Logged", "log": str(tmp_path / "log"), "seconds": 0.01}
    without = off(tmp_path, learner=slow)
    (tmp_path / "log").unlink()
    made = configs(tmp_path, learner=slow)
    assert text_of(run(made, n_workers=2, in_process=False).frame) == text_of(without)
    shared = n_fits(tmp_path)
    given, _ = weights_of_rankers(tmp_path)
    assert N_FOLDS * (n_different(given) + 1) <= shared < N_FOLDS * (5 * N_SIZES + 1)
    for path in (tmp_path / "results" / "rows").rglob("*.parquet"):
        path.unlink()
    assert text_of(run(made, n_workers=2, in_process=False).frame) == text_of(without)
    assert n_fits(tmp_path) == shared + N_FOLDS, "the scores of all features alone are fitted again"


def test_what_decides_a_score_is_told_apart(tmp_path):
    learner = {"_target_": "cheap.Logged", "log": str(tmp_path / "log")}
    made = configs(tmp_path, names=LISTED[:1], learner=learner)
    run(made)
    once = n_fits(tmp_path)
    changed = [
        {**made[0], "seed": 1},
        {**made[0], "dataset": {**made[0]["dataset"], "source": {**made[0]["dataset"]["source"], "seed": 1}}},
        {**made[0], "protocol": {**made[0]["protocol"], "learner": {**learner, "var_smoothing": 1e-8}}},
    ]
    for each in changed[:2]:
        before = n_fits(tmp_path)
        run([each])
        assert n_fits(tmp_path) - before == once
    keys = {
        cells_of(each, checksum=checksum, task="multiclass")[0].reference.key
        for each in (
            made[0],
            changed[0],
            changed[2],
            {**made[0], "protocol": {**made[0]["protocol"], "n_splits": 4}},
        )
        for checksum in ("0" * 64, "1" * 64)
    }
    assert len(keys) == 8


def test_a_finer_grid_shares_what_it_can_with_a_coarser_one(tmp_path):
    run(configs(tmp_path, names=LISTED[:1]))
    before = n_fits(tmp_path)
    run(configs(tmp_path, names=LISTED[:1], grid_points=12))
    sizes = set(feature_grid(12, 12)) - set(feature_grid(12, 6))
    assert n_fits(tmp_path) - before == N_FOLDS * len(sizes)


def test_a_path_is_looked_up_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    fitted = []
    real = NestedLogisticRegression._fit_from

    def counting(self, X, y, start):
        fitted.append(X.shape[1])
        return real(self, X, y, start)

    monkeypatch.setattr(NestedLogisticRegression, "_fit_from", counting)
    n_of = {}
    for name in LISTED:
        fitted.clear()
        run(configs(tmp_path, names=[name], learner=NESTED))
        n_of[name] = len(fitted)
    # r1 has the order of r0; r2 the same beginning only.
    assert n_of == {
        "r0": N_FOLDS * (N_SIZES + 1),
        "r1": 0,
        "r2": N_FOLDS * N_SIZES,
        "r3": N_FOLDS * N_SIZES,
        "r4": N_FOLDS * N_SIZES,
    }


def test_a_ranker_that_is_the_same_by_construction_needs_no_fit(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix((rng.random((90, 25)) < 0.3).astype(float))
    y = (X[:, 3].toarray().ravel() + 2 * (rng.random(90) < 0.3)).astype(int)
    scores, fits = ScoreCache(tmp_path), []
    for abs_mean in (False, True):
        ranker = {"_target_": "reliefe.ReliefF", "abs_mean": abs_mean}
        config = cheap.config("nowhere", ranker, learner=FOREST, grid_points=10)
        one = cells_of(config, checksum="0" * 64, task="multiclass")[-1]
        reference = evaluate_all_features(one.reference, X, y)
        with Counted() as counted:
            frame = evaluate_ranking(one, X, y, reference.table, fit_options=FitOptions(scores=scores)).frame
        assert (frame["status"] == "ok").all()
        fits.append(len(counted))
    assert fits[0] > 20 and fits[1] == 0


# --- files ---


def swapped(files):
    a, b = files[0].read_bytes(), files[1].read_bytes()
    files[0].write_bytes(b)
    files[1].write_bytes(a)


def each_of(files, change):
    for path in files:
        path.write_bytes(change(path.read_bytes()))


def changed_at(place, content):
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


DAMAGES = {
    "empty": lambda files: each_of(files, lambda content: b""),
    "cut off": lambda files: each_of(files, lambda content: content[:-1]),
    "an entry too few": lambda files: each_of(files, lambda content: content[:-45]),
    "a bit of a score": lambda files: each_of(files, partial(changed_at, 70)),
    "a bit at the end": lambda files: each_of(files, partial(changed_at, -1)),
    "not ours": lambda files: each_of(files, lambda content: b"x" * len(content)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_count_as_absent(tmp_path, damage):
    run(configs(tmp_path, names=LISTED[:1]))
    once, whole = n_fits(tmp_path), off(tmp_path, names=LISTED[:2])
    (tmp_path / "log").unlink()
    files = sorted((tmp_path / "results" / "score_cache").glob("??/*.scores"))
    DAMAGES[damage](files)
    forget()
    frame = run(configs(tmp_path, names=LISTED[:2])).frame
    assert text_of(frame) == text_of(whole)
    assert n_fits(tmp_path) == once - N_FOLDS, "all but the scores of all features, which are rows"
    (tmp_path / "log").unlink()
    forget()
    run(configs(tmp_path, names=LISTED[:2], n_repeats=2, grid_points=5))
    fresh = set(feature_grid(12, 5)) - set(feature_grid(12, 6))
    assert n_fits(tmp_path) == N_FOLDS * len(fresh), "the files are whole again"


def test_the_file_of_another_fold_is_not_read(tmp_path):
    run(configs(tmp_path, names=LISTED[:1]))
    once = n_fits(tmp_path)
    swapped(sorted((tmp_path / "results" / "score_cache").glob("??/*.scores"))[:2])
    forget()
    frame = run(configs(tmp_path, names=LISTED[:2])).frame
    assert n_fits(tmp_path) - once == 2 * N_SIZES
    assert text_of(frame) == text_of(off(tmp_path, names=LISTED[:2]))


def test_a_disk_that_refuses_costs_no_row(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "score_cache").write_text("a file where a folder should be")
    frame = run(configs(tmp_path)).frame
    assert text_of(frame) == text_of(off(tmp_path))


def test_scores_of_other_processes_are_added_and_not_overwritten(tmp_path):
    one, other = (ScoreCache(tmp_path).of_fold("ab" * 32, 0) for _ in range(2))
    one.add(b"1" * 16, Score(0.25, 0.5, 2.0, "own_trees"), 2.0)
    one.write()
    other.add(b"\0" * 16, Score(0.75, 1.0, math.nan, None), 1.0)
    other.write()
    found = ScoreCache(tmp_path).of_fold("ab" * 32, 0)
    assert found.get(b"1" * 16) == Score(0.25, 0.5, 2.0, "own_trees")
    assert found.get(b"\0" * 16)[:2] == (0.75, 1.0) and math.isnan(found.get(b"\0" * 16).seconds)
    assert found.get(b"2" * 16) is None
    assert one.get(b"\0" * 16) is None
    one.refresh()
    assert one.get(b"\0" * 16) is not None
    assert ScoreCache(tmp_path).of_fold("ab" * 32, 1).get(b"1" * 16) is None
    assert ScoreCache(tmp_path).of_fold("ac" * 32, 0).get(b"1" * 16) is None
    assert [path.name for path in tmp_path.rglob("*.tmp")] == []


def test_what_takes_no_time_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(score_cache, "_WORTH_WRITING", 0.02)
    cache = ScoreCache(tmp_path)
    known = cache.of_fold("ab" * 32, 0)
    known.add(b"1" * 16, Score(0.5, 0.5, 0.01), 0.01)
    known.write()
    assert not (tmp_path / "score_cache").exists()
    known.add(b"2" * 16, Score(0.5, 0.5, 0.015), 0.015)
    known.write()
    assert len(ScoreCache(tmp_path).of_fold("ab" * 32, 0)) == 2


def test_a_long_fold_is_written_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(score_cache, "_WRITE_EVERY", -1.0)
    ScoreCache(tmp_path).of_fold("ab" * 32, 0).add(b"1" * 16, Score(0.5, 0.5, 0.1), 0.1)
    assert ScoreCache(tmp_path).of_fold("ab" * 32, 0).get(b"1" * 16) == Score(0.5, 0.5, 0.1)


def test_what_was_fitted_before_a_failure_is_kept(tmp_path):
    refusing = {"_target_": "cheap.Refusing", "most": 4}
    run(configs(tmp_path, names=LISTED[:1], learner=refusing))
    reference = {"_target_": "cheap.Refusing", "most": 100}
    assert not list(tmp_path.rglob("*.scores")), "no score of all features, so nothing along the ranking"
    run(configs(tmp_path, names=LISTED[:1], learner=reference))
    assert len(list(tmp_path.rglob("*.scores"))) == 6


# --- bounds ---


def test_a_fold_keeps_so_many_scores_and_the_oldest_go(tmp_path, monkeypatch):
    monkeypatch.setattr(score_cache, "_MOST_OF_FOLD", 3)
    known = ScoreCache(tmp_path).of_fold("ab" * 32, 0)
    for number in range(5):
        known.add(bytes([number]) * 16, Score(0.5, 0.5, 0.1), 0.1)
    known.write()
    found = ScoreCache(tmp_path).of_fold("ab" * 32, 0)
    assert len(found) == len(known) == 3
    assert [found.get(bytes([number]) * 16) is not None for number in range(5)] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_memory_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(score_cache, "_MOST_IN_MEMORY", 4)
    cache = ScoreCache(tmp_path)
    for fold in range(6):
        known = cache.of_fold("ab" * 32, fold)
        for number in range(2):
            known.add(bytes([number]) * 16, Score(0.5, 0.5, 0.1), 0.1)
        known.write()
    assert len(cache._folds) <= 3
    assert cache.of_fold("ab" * 32, 0).get(bytes(16)) is not None, "from its file"


def test_the_disk_is_bounded_and_the_oldest_go(tmp_path, monkeypatch):
    cache = ScoreCache(tmp_path)
    paths = []
    for fold in range(5):
        known = cache.of_fold("ab" * 32, fold)
        known.add(b"1" * 16, Score(0.5, 0.5, 0.1), 0.1)
        known.write()
        paths.append(tmp_path / "score_cache" / "ab" / f"{'ab' * 32}-{fold}.scores")
        os.utime(paths[-1], (1000 - fold, 1000 - fold))
    size = paths[0].stat().st_size
    left = paths[0].with_name(".left.tmp")
    left.write_text("by a process that was killed")
    os.utime(left, (1000, 1000))
    monkeypatch.setattr(score_cache, "_MOST_BYTES", 2 * size)
    cache.shrink()
    assert [path.exists() for path in paths] == [True, True, False, False, False]
    assert not left.exists()
    monkeypatch.setattr(score_cache, "_LOOK_EVERY_BYTES", size)
    for fold in range(6, 9):
        known = cache.of_fold("ab" * 32, fold)
        known.add(b"1" * 16, Score(0.5, 0.5, 0.1), 0.1)
        known.write()
        time.sleep(0.01)
    assert len(list(tmp_path.rglob("*.scores"))) <= 3, "looked at while writing, too"


# --- names ---


def test_names_are_of_the_order_and_not_of_the_set():
    order = np.array([5, 3, 9, 0, 1])
    names = names_of(order, [1, 3, 5], nested=False)
    assert len(set(names)) == 3 and {len(name) for name in names} == {16}
    assert names_of(order[::-1], [5], nested=False) != names[2:]
    assert names_of(np.array([5, 3, 9, 1, 0]), [1, 3], nested=False) == names[:2]
    assert names_of(order.astype(np.int32), [3], nested=False) == names[1:2], "whatever was asked for before"


def test_names_of_a_path_are_of_the_sizes_before_too():
    order = np.arange(5)
    names = names_of(order, [1, 3, 5], nested=True)
    assert names_of(order, [1, 3], nested=True) == names[:2]
    assert names_of(order, [1, 2, 3], nested=True)[0] == names[0]
    assert names_of(order, [1, 2, 3], nested=True)[2] not in names
    assert not set(names) & set(names_of(order, [1, 3, 5], nested=False))


# --- what rows say ---


class Warning_(GaussianNB):
    """Warns of every fit."""

    def fit(self, X, y):
        warnings.warn("odd", RuntimeWarning, stacklevel=1)
        return super().fit(X, y)


def test_fits_that_warn_are_done_again_and_counted(tmp_path):
    X, y = cheap.blobs(60, 6).X, cheap.blobs(60, 6).labels
    scores, counts = ScoreCache(tmp_path), []
    config = cheap.config("nowhere", learner={"_target_": f"{__name__}.Warning_"})
    one = cells_of(config, checksum="0" * 64, task="multiclass")[-1]
    reference = evaluate_all_features(one.reference, X, y)
    for _ in range(2):
        with Counted() as fits:
            result = evaluate_ranking(one, X, y, reference.table, fit_options=FitOptions(scores=scores))
        counts.append((len(fits), result.warnings["RuntimeWarning", "odd"]))
    assert counts == [(9, 9)] * 2


def seconds_of(one, X, y, reference, scores, **fit_options):
    table = evaluate_ranking(
        one, X, y, reference.table, fit_options=FitOptions(scores=scores, **fit_options)
    ).table
    return table["learner_seconds"].to_pylist()


def test_seconds_are_those_of_the_fits(monkeypatch, tmp_path):
    X, y = cheap.blobs(60, 6).X, cheap.blobs(60, 6).labels
    log = tmp_path / "log"
    config = cheap.config("nowhere", learner={"_target_": "cheap.Logged", "log": str(log), "seconds": 0.01})
    one = cells_of(config, checksum="0" * 64, task="multiclass")[-1]
    reference = evaluate_all_features(one.reference, X, y)
    timed = partial(seconds_of, one, X, y, reference)
    scores = ScoreCache(tmp_path)
    first = timed(scores)
    assert min(first) >= 0.03  # three fits
    fits = log.read_text()
    assert fits and timed(scores) == first
    assert log.read_text() == fits  # the same seconds, and no fit
    # Seconds of another machine, or of more threads than cores, are not passed on.
    monkeypatch.setattr(score_cache, "_machine_number", lambda: 7)
    assert timed(scores) == [None] * 3
    untimed = ScoreCache(tmp_path / "untimed")
    assert timed(untimed, timed=False) == [None] * 3
    assert timed(untimed) == [None] * 3


def test_the_configuration_has_a_switch():
    from experiments.config.compose import compose_runs

    for text, expected in (("true", True), ("false", False)):
        plan = compose_runs(["dataset=digits", "ranker=anova_f", f"launcher.score_cache={text}"])
        assert plan.configs[0]["launcher"]["score_cache"] is expected
    assert json.dumps(plan.configs[0]["launcher"]).count("score_cache") == 1


def test_order_is_that_of_the_ranking():
    """Ties of weights, which most of the sharing comes from, go to the lower column."""
    assert descending_order(np.array([1.0, 1.0 + 1e-15, 2.0])).tolist() == [2, 0, 1]
