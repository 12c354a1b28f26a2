"""A study in one process: what is missing runs, nothing else does, and what fails is said."""

import logging

import cheap
import pytest
from listening import Listening, text_of

from experiments import datasets
from experiments.errors import BadInputError, ConfigError, DatasetError
from experiments.evaluation import evaluate
from experiments.execution.runner import collect_study, run_study
from experiments.schema import ROW_SCHEMA
from experiments.store.store import Store

FOREST = {"_target_": "sklearn.ensemble.RandomForestClassifier", "n_estimators": 5, "random_state": None}
LOGISTIC = {"_target_": "sklearn.linear_model.LogisticRegression", "C": 1.0, "max_iter": 10000}


@pytest.fixture(autouse=True)
def cold():
    evaluate._warm.clear()


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


def calls(log):
    return len(log.read_text().split()) if log.exists() else 0


def logged(tmp_path, log, key="a", **settings):
    return cheap.config(
        tmp_path / "results", cheap.function("logged", log=str(log)), ranker_key=key, **settings
    )


# --- what runs ---


def test_a_second_run_runs_nothing(tmp_path, log):
    configs = [
        logged(tmp_path, log, n_repeats=2),
        cheap.config(tmp_path / "results", ranker_key="b", n_repeats=2),
    ]
    first_words, second_words = Listening(), Listening()
    first = run_study(configs, progress=first_words)
    assert first_words.lines[0] == "4 of 4 cells missing; running 4 and 2 for the score of all features"
    assert vars(first.counts) == {"cells": 4, "missing": 4, "ran": 4, "found": 0, "lost": 0}
    n_calls = calls(log)
    assert n_calls == 2 * 3 + 1  # the folds and the warm-up
    second = run_study(configs, progress=second_words)
    assert second_words.lines == ["0 of 4 cells missing; running 0"]
    assert vars(second.counts) == {"cells": 4, "missing": 0, "ran": 0, "found": 0, "lost": 0}
    assert calls(log) == n_calls
    assert text_of(first.frame) == text_of(second.frame) and len(first.frame) == 12
    assert first.exit_code == second.exit_code == 0
    assert first.frame[["ranker", "repeat", "fold"]].values.tolist() == [
        [ranker, repeat, fold] for ranker in "ab" for repeat in range(2) for fold in range(3)
    ]


def test_names_order_of_keys_and_threads_run_nothing_and_names_are_those_of_now(tmp_path, log):
    config = logged(tmp_path, log)
    before = run_study([config], progress=Listening())
    n_calls = calls(log)
    renamed = {key: config[key] for key in reversed(config)}
    renamed["ranker"] = {key: config["ranker"][key] for key in reversed(config["ranker"])}
    renamed["ranker"] |= {"display_name": "Another", "n_jobs": 2}
    renamed["protocol"] = {key: config["protocol"][key] for key in reversed(config["protocol"])} | {
        "name": "p2"
    }
    renamed["dataset"] = {**config["dataset"], "name": "Blobs!", "licence": "CC0"}
    renamed |= {"dataset_key": "blobs2", "ranker_key": "a2"}
    words = Listening()
    after = run_study([renamed], progress=words)
    assert words.lines == ["0 of 1 cell missing; running 0"] and calls(log) == n_calls
    assert set(after.frame["dataset"]) == {"blobs2"} and set(after.frame["ranker"]) == {"a2"}
    assert set(after.frame["protocol"]) == {"p2"}
    assert text_of(after.frame) == text_of(before.frame)
    both = run_study([config, renamed], progress=words)
    assert both.counts.cells == 1 and len(both.frame) == 6 and calls(log) == n_calls


@pytest.mark.parametrize(
    ("group", "change"),
    [
        ("ranker", {"seconds": 0.001}),
        ("protocol", {"n_splits": 4}),
        ("protocol", {"grid_points": 3}),
        ("protocol", {"learner": {**LOGISTIC, "C": 2.0}}),
        ("dataset", {"source": {"_target_": "cheap.blobs", "seed": 1}}),
        (None, {"seed": 1}),
    ],
)
def test_one_changed_number_runs_that_cell(tmp_path, log, group, change):
    config = logged(tmp_path, log)
    run_study([config], progress=Listening())
    n_calls = calls(log)
    changed = {**config, **change} if group is None else {**config, group: {**config[group], **change}}
    words = Listening()
    result = run_study([config, {**changed, "ranker_key": "changed"}], progress=words)
    assert words.lines[0].startswith("1 of 2 cells missing; running 1")
    assert calls(log) > n_calls and set(result.frame["ranker"]) == {"a", "changed"}


def test_more_repeats_run_only_the_new_ones(tmp_path, log):
    run_study([logged(tmp_path, log, n_repeats=1)], progress=Listening())
    words = Listening()
    result = run_study([logged(tmp_path, log, n_repeats=3)], progress=words)
    assert words.lines[0].startswith("2 of 3 cells missing; running 2")
    assert sorted(set(result.frame["repeat"])) == [0, 1, 2]
    fewer = run_study([logged(tmp_path, log, n_repeats=1)], progress=Listening())
    assert fewer.counts.missing == 0 and len(fewer.frame) == 3


def test_a_torn_file_is_named_and_only_its_cell_runs(tmp_path, log):
    config = logged(tmp_path, log, n_repeats=3)
    before = run_study([config], progress=Listening())
    store = Store(tmp_path / "results")
    key = before.frame["cell_key"].unique()[1]
    whole = store.path(key).read_bytes()
    store.path(key).write_bytes(whole[: len(whole) // 2])
    words = Listening()
    after = run_study([config], progress=words)
    assert words.lines[0] == "1 of 3 cells missing; running 1"
    assert len(after.quarantined) == 1 and str(after.quarantined[0].moved_to) in words.text
    assert key in words.text
    assert text_of(after.frame) == text_of(before.frame)


def test_collecting_runs_nothing(tmp_path, log):
    some, more = logged(tmp_path, log, n_repeats=1), logged(tmp_path, log, n_repeats=2)
    run_study([some], progress=Listening())
    n_calls = calls(log)
    result = collect_study(
        [more, cheap.config(tmp_path / "results", cheap.function("level"), ranker_key="b")]
    )
    assert (result.counts.cells, result.counts.missing) == (3, 2)
    assert len(result.frame) == 3 and calls(log) == n_calls
    empty = collect_study([cheap.config(tmp_path / "elsewhere")])
    assert empty.frame.empty and list(empty.frame.columns) == ROW_SCHEMA.names
    assert not (tmp_path / "elsewhere").exists()


# --- shared and equal ---


def test_the_score_of_all_features_is_computed_once_for_all_rankers(tmp_path):
    log = tmp_path / "fits"
    learner = {"_target_": "cheap.Logged", "log": str(log)}
    results = tmp_path / "results"
    configs = [
        cheap.config(results, cheap.function(name), ranker_key=name, learner=learner, grid_points=points)
        for name, points in (("between", 4), ("level", 4), ("chance", 3))
    ]
    frame = run_study(configs, progress=Listening()).frame
    assert log.read_text().split().count("6") == 3  # one per fold, whatever the ranker and the grid
    for _, folds in frame.groupby("fold"):
        assert folds["f1_micro_all"].nunique() == 1 and folds["f1_macro_all"].nunique() == 1


def test_rows_do_not_depend_on_workers_or_order(tmp_path):
    def study(results, turned=False):
        rankers = {"between": cheap.function("between"), "chance": cheap.function("chance"), "forest": FOREST}
        configs = [
            cheap.config(
                results,
                ranker,
                ranker_key=key,
                dataset=dataset,
                dataset_key=name,
                learner=LOGISTIC,
                n_repeats=2,
            )
            for name, dataset in (
                ("dense", {"n_rows": 300, "n_features": 30}),
                ("csr", {"n_rows": 80, "n_features": 300, "as_csr": True}),
            )
            for key, ranker in rankers.items()
        ]
        return configs[::-1] if turned else configs

    one = run_study(study(tmp_path / "one"), n_workers=1, progress=Listening())
    turned = run_study(study(tmp_path / "turned", turned=True), n_workers=1, progress=Listening())
    two = run_study(study(tmp_path / "two"), n_workers=2, progress=Listening())
    assert one.exit_code == turned.exit_code == two.exit_code == 0
    assert len(one.frame) == 2 * 3 * 2 * 3
    assert text_of(one.frame) == text_of(turned.frame) == text_of(two.frame)
    assert (two.frame["n_threads"] == 1).all()
    names = ["dataset", "ranker", "repeat", "fold"]
    assert one.frame[names].equals(two.frame[names])


# --- failures ---


def test_the_middle_ranker_raises_and_the_others_finish(tmp_path, log, caplog):
    results = tmp_path / "results"

    def study(message="boom"):
        return [
            logged(tmp_path, log, "first"),
            cheap.config(results, cheap.function("broken", message=message), ranker_key="middle"),
            cheap.config(results, cheap.function("level"), ranker_key="last"),
        ]

    words, seen = Listening(), []
    words_done = words.done
    words.done = lambda cell, seconds: (
        seen.append((cell.ranker, len(caplog.records))),
        words_done(cell, seconds),
    )
    with caplog.at_level(logging.ERROR):
        result = run_study(study(), progress=words)
    by_ranker = result.frame.groupby("ranker")["status"].agg(list).to_dict()
    assert by_ranker == {"first": ["ok"] * 3, "middle": ["failed"] * 3, "last": ["ok"] * 3}
    assert set(result.frame["error"].dropna()) == {"ValueError: boom"}
    assert result.exit_code == 1 and len(result.failures) == 3
    assert {(each.ranker, each.fold, each.error) for each in result.failures} == {
        ("middle", fold, "ValueError: boom") for fold in range(3)
    }
    assert [record.getMessage() for record in caplog.records] == [
        "blobs × middle, repeat 0: 3 of 3 folds failed: ValueError: boom"
    ]
    assert dict(seen)["last"] == 1  # said before the last ranker had ended
    assert words.lines[-2:] == [
        "failed: 3 (tried again by a run with the same arguments)",
        "  blobs × middle (tiny), 3 ×: ValueError: boom",
    ]
    n_calls = calls(log)
    again = run_study(study(), progress=words)
    assert vars(again.counts) == {"cells": 3, "missing": 1, "ran": 1, "found": 0, "lost": 0}
    assert again.exit_code == 1 and calls(log) == n_calls


def test_only_the_failed_folds_of_a_cell_run_again(tmp_path):
    flag, fits = tmp_path / "flag", tmp_path / "fits"
    flag.write_text("0")
    config = cheap.config(
        tmp_path / "results",
        cheap.function("broken_at", flag=str(flag)),
        learner={"_target_": "cheap.Logged", "log": str(fits)},
    )
    first = run_study([config], progress=Listening())
    assert first.frame["status"].tolist() == ["failed", "ok", "failed"] and first.exit_code == 1
    flag.unlink()
    fits.unlink()
    second = run_study([config], progress=Listening())
    assert second.frame["status"].tolist() == ["ok"] * 3 and second.exit_code == 0
    assert set(fits.read_text().split()) == {"1", "2", "3"} and len(fits.read_text().split()) == 2 * 3
    assert second.frame["fit_seconds"][1] == first.frame["fit_seconds"][1]


def test_a_disk_that_is_full_loses_the_cell_and_says_so(tmp_path, log, monkeypatch, caplog):
    write = Store.write

    def full(self, key, table):
        if table["ranker"][0].as_py() == "a" and table["repeat"][0].as_py() == 1:
            raise OSError(28, "No space left on device")
        write(self, key, table)

    monkeypatch.setattr(Store, "write", full)
    config = logged(tmp_path, log, n_repeats=3)
    words = Listening()
    result = run_study([config], progress=words)
    assert vars(result.counts) == {"cells": 3, "missing": 3, "ran": 2, "found": 0, "lost": 1}
    assert result.exit_code == 1 and result.failures[0].fold is None
    assert "No space left" in caplog.text and "No space left" in words.text
    monkeypatch.undo()
    words = Listening()
    assert run_study([config], progress=words).exit_code == 0
    assert words.lines[0] == "1 of 3 cells missing; running 1"


def test_a_cell_finished_meanwhile_by_another_process_is_not_run(tmp_path, log):
    config = logged(tmp_path, log, n_repeats=2)
    other = run_study([{**config, "paths": {**config["paths"], "results": str(tmp_path / "other")}}])
    n_calls = calls(log)

    class Meddling(Listening):
        def start(self, cells):  # after the look at what is missing, before the first cell
            super().start(cells)
            for cell in cells:
                if cell.repeat == 1 or cell.kind == "all_features":
                    table = Store(tmp_path / "other").read_table(cell.key)
                    Store(tmp_path / "results").write(cell.key, table)

    result = run_study([config], progress=Meddling())
    assert vars(result.counts) == {"cells": 2, "missing": 2, "ran": 1, "found": 1, "lost": 0}
    assert calls(log) == n_calls + 3
    assert text_of(result.frame) == text_of(other.frame)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"n_splits": 30}, BadInputError, "blobs cannot be split into 30 folds"),
        ({"learner": {**LOGISTIC, "c": 1.0}}, ConfigError, "valid: .*C"),
    ],
)
def test_what_cannot_work_is_an_error_before_the_first_cell(tmp_path, log, change, error, words):
    good, bad = logged(tmp_path, log), logged(tmp_path, log, key="b", **change)
    with pytest.raises(error, match=words):
        run_study([good, bad], progress=Listening())
    assert not (tmp_path / "results").exists() and calls(log) == 0


@pytest.mark.parametrize(
    ("ranker", "words"),
    [
        ({"_target_": "no_such_package.Ranker"}, "no_such_package"),
        ({**FOREST, "n_estimatorz": 5}, "n_estimatorz"),
        ({"_target_": "reliefe.ReliefF", "n_neighbors": 0}, "n_neighbors must be a positive integer"),
    ],
)
def test_a_ranker_that_cannot_be_made_is_an_error_before_the_first_cell(tmp_path, log, ranker, words):
    bad = logged(tmp_path, log, key="b")
    bad["ranker"] = ranker
    with pytest.raises(ConfigError, match=words):
        run_study([logged(tmp_path, log), bad], progress=Listening())
    assert not (tmp_path / "results").exists() and calls(log) == 0


def test_data_that_are_not_as_stated_are_an_error_before_the_first_cell(tmp_path, log):
    bad = logged(tmp_path, log)
    bad["dataset"]["expected"] = {"rows": 61}
    with pytest.raises(DatasetError, match="61"):
        run_study([logged(tmp_path, log), bad], progress=Listening())
    bad["dataset"] |= {"expected": {}, "task": "multilabel"}
    with pytest.raises(BadInputError):
        run_study([bad], progress=Listening())
    two_folders = [logged(tmp_path, log), logged(tmp_path / "b", log)]
    with pytest.raises(BadInputError, match="one results folder"):
        run_study(two_folders, progress=Listening())
    with pytest.raises(BadInputError, match="at least one"):
        run_study([])
    assert not (tmp_path / "results").exists() and calls(log) == 0


def test_each_data_set_is_loaded_once(tmp_path, monkeypatch):
    loads = []
    load = datasets.load
    monkeypatch.setattr(
        datasets,
        "load",
        lambda *arguments, **settings: (loads.append(arguments[0]["name"]), load(*arguments, **settings))[1],
    )
    results = tmp_path / "results"
    configs = [
        cheap.config(results, cheap.function(name), ranker_key=name, dataset={"seed": seed}, dataset_key=key)
        for name in ("between", "level")
        for key, seed in (("one", 1), ("two", 2))
    ]
    run_study(configs, progress=Listening())
    assert sorted(loads) == ["one", "two"]
