"""How long missing cells take, before they have run."""

import time

import cheap
import numpy as np
import pytest
from listening import Listening
from made_up import row

from experiments.evaluation.cell import cells_of
from experiments.execution.estimate import Estimate, estimate
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
    models = [fold_seconds(cell.ranking, cell.learner, size, 3) for size in (SIZE, LONG)]
    of_model = [model.ranking + model.learning for model in models]
    found = estimate(list(there.values()), known, all_cells, sizes)
    assert found.n_modelled == 2
    assert found.seconds == pytest.approx(2 * 3 * 3.0 * of_model[1] / of_model[0])
    alone = estimate(list(there.values()), [], all_cells, sizes)
    assert alone == Estimate(pytest.approx(2 * 3 * of_model[1]), 2)


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
