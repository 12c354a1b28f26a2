"""How long missing cells take, before they have run."""

import time

import cheap
import numpy as np
import pytest
from listening import Listening
from made_up import row

from experiments.evaluation.cell import cells_of
from experiments.execution.estimate import Estimate, estimate, seconds_before_fits
from experiments.execution.runner import collect_study, run_study
from experiments.formatting import duration
from experiments.metrics.duration import Size, fold_seconds

SIZE = Size(100, 30, 3000, 3, False, False)
LONG = Size(1000, 30, 30000, 3, False, False)


def cells(names="ab", n_repeats=2, checksum="0" * 64, dataset="d", learner=None, **settings):
    made = []
    for name in names:
        config = cheap.config(
            "nowhere",
            cheap.function("between", power=float(ord(name))),
            ranker_key=name,
            dataset_key=dataset,
            n_repeats=n_repeats,
            n_splits=3,
            grid_points=3,
            **({"learner": learner} if learner else {}),
            **settings,
        )
        made += cells_of(config, checksum=checksum, task="multiclass")
    return {cell.key: cell for cell in made}


def rows(all_cells, ranker, repeat, *, seconds=1.0, learner=2.0, weights=None, phases=None, dataset="d"):
    (cell,) = (
        each
        for each in all_cells.values()
        if (each.ranker, each.repeat, each.dataset) == (ranker, repeat, dataset)
    )
    return [
        row(
            ranker,
            repeat,
            fold,
            cell_key=cell.key,
            fit_seconds=seconds,
            learner_seconds=learner,
            weights=weights,
            phase_seconds=phases,
        )
        for fold in range(3)
    ]


def missing(all_cells, known):
    done = {each["cell_key"] for each in known}
    return [cell for key, cell in all_cells.items() if key not in done]


DOWN, UP = [3.0, 2.0, 1.0, 0.5], [0.5, 1.0, 2.0, 3.0]


def test_cells_of_a_ranker_take_what_its_others_took():
    all_cells = cells("a", n_repeats=5)
    known = rows(all_cells, "a", 0, weights=DOWN)
    found = estimate(missing(all_cells, known), known, all_cells, {"0" * 64: SIZE})
    assert found == Estimate(pytest.approx(4 * 3 * 3.0), 0)


@pytest.mark.parametrize(("other", "left"), [(DOWN, 0.0), (UP, 2.0)])
def test_scores_that_are_looked_up_take_no_time(other, left):
    all_cells = cells("ab", n_repeats=3)
    known = [*rows(all_cells, "a", 0, weights=DOWN), *rows(all_cells, "b", 0, weights=other)]
    arguments = (missing(all_cells, known), known, all_cells, {"0" * 64: SIZE})
    # Two repeats of three folds for each: all of a, and of b what a had not.
    assert estimate(*arguments).seconds == pytest.approx(2 * 3 * (3.0 + 1.0 + left))
    assert estimate(*arguments, shared=False).seconds == pytest.approx(2 * 3 * 6.0)


def test_an_embedding_is_counted_once():
    all_cells = cells("ab", n_repeats=2)
    phases = '{"embedding": 0.75, "update": 0.25, "total": 1.0}'
    other = phases.replace("0.25", "0.2500001")
    known = [
        *rows(all_cells, "a", 0, weights=DOWN, phases=phases),
        *rows(all_cells, "b", 0, weights=UP, phases=other),
    ]
    found = estimate(missing(all_cells, known), known, all_cells, {"0" * 64: SIZE})
    assert found.seconds == pytest.approx(3 * (3.0 + 2.25))


def test_another_data_set_is_modelled_at_the_speed_of_this_machine():
    here = cells("a", n_repeats=2)
    there = cells("a", n_repeats=2, checksum="1" * 64, dataset="e")
    all_cells, sizes = {**here, **there}, {"0" * 64: SIZE, "1" * 64: LONG}
    (cell, *_), known = there.values(), rows(here, "a", 0, weights=DOWN)
    models = [fold_seconds(cell.ranker_block, cell.learner, size, 3) for size in (SIZE, LONG)]
    of_model = [model.ranking + model.learning for model in models]
    found = estimate(list(there.values()), known, all_cells, sizes)
    assert found.n_modelled == 2
    assert found.seconds == pytest.approx(2 * 3 * 3.0 * of_model[1] / of_model[0])
    alone = estimate(list(there.values()), [], all_cells, sizes)
    assert alone == Estimate(pytest.approx(2 * 3 * of_model[1]), 2)


def test_other_rankers_on_the_same_data_say_what_the_learner_takes():
    """Made-up rows, a learner far slower than the model has it: what is said is within a factor of two."""
    all_cells = cells("abcd", n_repeats=2)
    took = {"a": (1.0, 40.0), "b": (1.2, 36.0), "c": (0.8, 50.0), "d": (1.5, 41.0)}
    known = [
        line
        for name, weights in zip("ab", (DOWN, UP), strict=True)
        for line in rows(all_cells, name, 0, seconds=took[name][0], learner=took[name][1], weights=weights)
    ]
    asked = [cell for cell in all_cells.values() if cell.ranker in "cd"]
    found = estimate(asked, known, all_cells, {"0" * 64: SIZE})
    assert (found.n_modelled, found.n_related) == (0, 4)
    # Two repeats of three folds, in which b found no score of a's: nor will c and d.
    expected = sum(2 * 3 * sum(took[name]) for name in "cd")
    assert expected / 2 < found.seconds < 2 * expected
    model = fold_seconds(asked[0].ranker_block, asked[0].learner, SIZE, 3)
    assert 2 * 2 * 3 * (model.ranking + model.learning) < expected / 100
    assert "(4 cells by other rankers on the same data)" in found.words(2, 4)


def test_what_others_look_up_is_looked_up():
    all_cells = cells("abc", n_repeats=1)
    known = [*rows(all_cells, "a", 0, weights=DOWN), *rows(all_cells, "b", 0, weights=DOWN)]
    asked = [cell for cell in all_cells.values() if cell.ranker == "c"]
    assert estimate(asked, known, all_cells, {"0" * 64: SIZE}).seconds == pytest.approx(3 * 1.0)
    assert estimate(asked, known, all_cells, {"0" * 64: SIZE}, shared=False).seconds == pytest.approx(3 * 3.0)


def test_the_ranking_is_that_of_the_model_times_the_ratio_of_the_same_class():
    """MultiSURF by ReliefF and a foreign ranker; ReliefF with other settings by ReliefF alone."""
    blocks = {
        "relieff": {"_target_": "reliefe.ReliefF"},
        "foreign": {"_target_": "sklearn.ensemble.RandomForestClassifier"},
        "adaptive": {"_target_": "reliefe.ReliefF", "n_neighbors": "adaptive"},
        "multisurf": {"_target_": "reliefe.MultiSURF"},
    }
    all_cells = {}
    for name, block in blocks.items():
        config = cheap.config("nowhere", block, ranker_key=name, dataset_key="d", n_splits=3, grid_points=3)
        all_cells |= {cell.key: cell for cell in cells_of(config, checksum="0" * 64, task="multiclass")}
    models = {
        name: fold_seconds(block, {"_target_": "sklearn.naive_bayes.GaussianNB"}, SIZE, 3)
        for name, block in blocks.items()
    }
    ratios = {"relieff": 5.0, "foreign": 20.0}
    known = []
    for name, ratio in ratios.items():
        known += rows(all_cells, name, 0, seconds=ratio * models[name].ranking, learner=None)
    (adaptive,) = (cell for cell in all_cells.values() if cell.ranker == "adaptive")
    (multisurf,) = (cell for cell in all_cells.values() if cell.ranker == "multisurf")
    found = estimate([adaptive], known, all_cells, {"0" * 64: SIZE})
    assert found.warm_up == pytest.approx(5.0 * models["adaptive"].ranking)
    found = estimate([multisurf], known, all_cells, {"0" * 64: SIZE})
    assert found.warm_up == pytest.approx(np.sqrt(5.0 * 20.0) * models["multisurf"].ranking)


def test_compilation_and_untimed_fits_are_counted():
    found = Estimate(100.0, 0, 0, 10.0, 30.0)
    assert found.elapsed(2, 10) == 85.0 and found.elapsed(4, 1) == 140.0
    assert "about 85 s with 2 workers" in found.words(2, 10)
    config = [
        cheap.config("nowhere", {"_target_": f"reliefe.{name}"}, ranker_key=name)
        for name in ("ReliefF", "MultiSURF", "ReliefE")
    ]
    one, two, three = (
        [cell for each in config[:n] for cell in cells_of(each, checksum="0" * 64, task="multiclass")]
        for n in (1, 2, 3)
    )
    # Measured: 17 s for ReliefF where nothing is on disk, 1.3 s where it is; UMAP adds 10.4 s or 1.8 s.
    assert seconds_before_fits(one, compiled=False) == pytest.approx(17.0)
    assert seconds_before_fits(one, compiled=True) == pytest.approx(1.3)
    assert seconds_before_fits(two, compiled=False) == pytest.approx(25.0)
    assert seconds_before_fits(three, compiled=True) == pytest.approx(3.1)
    assert seconds_before_fits(three, compiled=False) == pytest.approx(25.0 + 8.0 + 10.4)
    assert seconds_before_fits(list(cells("a").values()), compiled=False) == 0.0


def test_a_run_that_compiles_says_so(tmp_path, monkeypatch):
    from experiments.execution import estimate as module

    monkeypatch.setattr(module, "any_kept", lambda: False)
    said = {}
    for name, block in {"ours": {"_target_": "reliefe.ReliefF", "n_neighbors": 3}, "other": None}.items():
        progress = Listening()
        run_study([cheap.config(tmp_path / name, block, ranker_key=name)], n_workers=1, progress=progress)
        said[name] = progress.text
    assert "kernels are compiled first, once per installation" in said["ours"]
    assert "compiled" not in said["other"]
    monkeypatch.setattr(module, "any_kept", lambda: True)
    progress = Listening()
    run_study([cheap.config(tmp_path / "kept", {"_target_": "reliefe.SURF"})], n_workers=1, progress=progress)
    assert "compiled" not in progress.text


def test_nothing_to_run_takes_no_time():
    assert estimate([], [], cells("a"), {"0" * 64: SIZE}) == Estimate(0.0, 0)


RELIEFE, FOREST = {"_target_": "reliefe.ReliefE"}, {"_target_": "RandomForestClassifier", "n_estimators": 100}
RELIEFF, NESTED = (
    {"_target_": "reliefe.ReliefF"},
    {"_target_": "experiments.learners.NestedLogisticRegression"},
)
ADAPTIVE, INFORMATION = {**RELIEFF, "n_neighbors": "adaptive"}, {"_target_": "sklearn.mutual_info_classif"}
OPTDIGITS, CHESS = Size(5620, 62, 178_000, 10, False, False), Size(3196, 38, 88_000, 2, False, False)
#: Ranking, with its embedding, from published rows; learning from the benchmarks of learners and of forests.
MEASURED = [
    (RELIEFF, NESTED, OPTDIGITS, 0.129, 1.55),
    (RELIEFE, NESTED, OPTDIGITS, 3.2, 1.55),
    (RELIEFF, NESTED, Size(2000, 500, 1_000_000, 2, False, False), 0.043, 0.28),
    (ADAPTIVE, NESTED, CHESS, 0.52, 0.085),
    (INFORMATION, NESTED, Size(77, 7070, 544_000, 2, False, False), 9.4, 0.088),
    (RELIEFE, FOREST, Size(978, 1449, 13_101, 45, True, True), 1.13, 2.6),
    (None, FOREST, Size(7395, 1836, 508_000, 159, True, True), None, 34.3),
    (None, FOREST, Size(6428, 37_187, 230_000, 40, True, True), None, 63.1),
    (None, FOREST, Size(16_105, 500, 293_000, 983, True, True), None, 154.0),
    (None, FOREST, Size(120_919, 1001, 2_350_000, 28, True, True), None, 495.0),
    (None, FOREST, Size(2417, 103, 248_000, 14, True, False), None, 23.1),
    (None, FOREST, Size(2407, 294, 704_000, 6, True, False), None, 15.8),
    (None, NESTED, Size(1560, 617, 960_000, 26, False, False), None, 5.9),
    (INFORMATION, NESTED, Size(2463, 2000, 393_000, 17, False, True), 38.5, 5.8),
    (RELIEFE, NESTED, Size(2463, 2000, 393_000, 17, False, True), 4.1, 5.8),
    (None, NESTED, Size(3204, 29_714, 484_000, 6, False, True), None, 18.8),
    (None, NESTED, Size(105, 22_283, 2_300_000, 10, False, False), None, 0.27),
]


@pytest.mark.parametrize("case", range(len(MEASURED)))
def test_the_model_is_within_a_factor_two_of_what_was_measured(case):
    ranking, learner, size, ranked, learnt = MEASURED[case]
    found = fold_seconds(ranking or {}, learner, size, 50)
    if ranking is not None:
        assert ranked / 2 < found.ranking + sum(found.embeddings.values()) < 2 * ranked
    assert learnt / 2 < found.learning < 2 * learnt


def test_a_study_run_here_takes_what_was_said(tmp_path):
    """A learner of 20 ms, half of whose scores are looked up; rows of one repeat say how long three more take."""
    paths = [str(tmp_path / f"{name}.npy") for name in "ab"]
    for path, weights in zip(paths, (np.arange(6.0), np.arange(6.0)), strict=True):
        np.save(path, weights)
    learner = {"_target_": "cheap.Logged", "log": str(tmp_path / "log"), "seconds": 0.02}

    def configs(n_repeats):
        return [
            cheap.config(
                tmp_path / "results",
                cheap.function("stored", path=path),
                ranker_key=name,
                learner=learner,
                grid_points=6,
                n_repeats=n_repeats,
            )
            for name, path in zip("ab", paths, strict=True)
        ]

    run_study(configs(1), n_workers=1, progress=Listening())
    found = collect_study(configs(4)).estimate
    start = time.perf_counter()
    run_study(configs(4), n_workers=1, progress=Listening())
    took = time.perf_counter() - start
    assert found.n_modelled == 0
    # Three repeats of three folds of five fits, which b has from a; what else a run does is not in it.
    assert 0.9 * 3 * 3 * 5 * 0.02 < found.seconds < took
    assert "about" in found.words(2, 6) and "with 2 workers" in found.words(2, 6)


def test_a_long_run_says_so_at_the_start(tmp_path, monkeypatch):
    from experiments.execution import runner

    progress = Listening()
    monkeypatch.setattr(runner, "_WORTH_SAYING", 0.0)
    run_study([cheap.config(tmp_path / "results")], n_workers=1, progress=progress)
    assert "this will take about 0 s with 1 worker (1 cell by the size of the data alone)" in progress.text


def test_durations_in_words():
    told = {40: "40 s", 100: "2 min", 3600 * 3.5: "3.5 h", 3600 * 60: "2.5 days"}
    assert {seconds: duration(seconds) for seconds in told} == told
