"""How far a study is: the matrix of its cells, and the time left."""

import io
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from made_up import config, failed, frame, repeats, row

from experiments.analysis.selection import STATES, expected_of, standing, work_left
from experiments.report import status


def stand_of(rows, configs, running=()):
    return standing(frame(rows) if rows else frame([]), expected_of(configs), running)


def counts(line):
    return {state: line[state] for state in STATES if line[state]}


def timed(ranker, n_repeats, seconds, dataset="d"):
    """Repeats of two folds; a cell takes so many seconds, half a second of it the learner's."""
    each = {"fit_seconds": (seconds - 0.5) / 2, "warm_up_seconds": 0.0, "learner_seconds": 0.25}
    return repeats(ranker, n_repeats, dataset=dataset, **each)


def test_every_cell_is_one_thing_and_the_things_add_up():
    stopped = [
        row("a", 4, fold) | {"status": "timeout", "error": "TimeLimit: 5 s"} if fold else row("a", 4, fold)
        for fold in range(2)
    ]
    full = [failed("a", 5, fold) | {"status": "out_of_memory"} for fold in range(2)]
    rows = [*repeats("a", 3), row("a", 3, 0), failed("a", 3, 1), *stopped, *full]
    running = [("d", "p", "a", 7), ("d", "p", "a", 3), ("d", "p", "other", 0), ("e", "p", "a", 0)]
    (line,) = stand_of(rows, [config("a", 10)], running).to_dict("records")
    # Repeat 3 has failed and is being tried again; 6, 8 and 9 have no rows.
    assert counts(line) == {"done": 3, "running": 2, "timeout": 1, "out_of_memory": 1, "missing": 3}
    assert sum(line[state] for state in STATES) == 10
    (idle,) = stand_of(rows, [config("a", 10)]).to_dict("records")
    assert counts(idle) == {"done": 3, "failed": 1, "timeout": 1, "out_of_memory": 1, "missing": 4}


def test_nothing_at_all_and_a_cell_that_lacks_a_fold_are_missing():
    (line,) = stand_of([], [config("a", 2)]).to_dict("records")
    assert counts(line) == {"missing": 2} and np.isnan(line["cell_seconds"])
    (line,) = stand_of(repeats("a", 2)[:-1], [config("a", 2)]).to_dict("records")
    assert counts(line) == {"done": 1, "missing": 1}


def test_scores_of_all_features_do_not_count_and_measurements_do():
    rows = [
        *[each | {"kind": "all_features"} for each in repeats("a")],
        row("b", kind="sparsity", fit_seconds=None),
    ]
    stand = stand_of(rows, [config("a"), config("b", n_splits=1)])
    assert stand["missing"].tolist() == [1, 0] and stand["done"].tolist() == [0, 1]


def test_the_time_left_is_that_of_like_cells():
    stand = stand_of(timed("a", 2, 3.0), [config("a", 10)])
    assert stand["cell_seconds"].tolist() == pytest.approx([3.0])
    assert work_left(stand) == (pytest.approx(8 * 3.0), 0)


def test_a_ranker_unknown_on_a_data_set_is_judged_by_both():
    """On e everything takes four times as long as on d, and b twice as long as a."""
    rows = [*timed("a", 1, 1.0), *timed("b", 1, 2.0), *timed("a", 1, 4.0, dataset="e")]
    configs = [config(ranker, 3, dataset=dataset) for dataset in "de" for ranker in "ab"]
    seconds, n_unknown = work_left(stand_of(rows, configs))
    assert seconds == pytest.approx(2 * 1.0 + 2 * 2.0 + 2 * 4.0 + 3 * 8.0) and n_unknown == 0


def test_what_nothing_is_known_of_is_counted_and_not_guessed():
    rows = timed("a", 1, 1.0)
    configs = [config("a", 2), config("b", 5), config("a", 3, dataset="e")]
    assert work_left(stand_of(rows, configs)) == (pytest.approx(1.0), 8)
    assert work_left(stand_of([], configs)) == (0.0, 10)
    untimed = [each | {"fit_seconds": None} for each in rows]
    assert work_left(stand_of(untimed, configs)) == (0.0, 9)


def shown(rows, configs, running=(), absent=None, n_workers=2, missing=0):
    configs = [{**each, "launcher": {"n_workers": n_workers}} for each in configs]
    cells = [
        SimpleNamespace(dataset=dataset, protocol=protocol, ranker=ranker, repeat=repeat)
        for dataset, protocol, ranker, repeat in running
    ]
    out = io.StringIO()
    result = SimpleNamespace(
        frame=frame(rows), running=cells, absent=absent or {}, counts=SimpleNamespace(missing=missing)
    )
    stand = status.show(result, configs, out)
    return out.getvalue(), stand


def test_the_matrix_shows_it_all():
    rows = [*timed("a", 2, 3.0), failed("b", 0, 0), failed("b", 0, 1), *timed("b", 2, 3.0, dataset="e")]
    configs = [config(ranker, 2, dataset=dataset) for dataset in "de" for ranker in "ab"]
    text, stand = shown(rows, configs, [("e", "p", "a", 1)], {"genes": "no file\nmore"})
    lines = [line.split() for line in text.splitlines()]
    assert ["ranker", "d", "e"] in lines
    assert ["A", "2/2", "0/2", "1r", "1m"] in lines and ["B", "0/2", "1f", "1m", "2/2"] in lines
    assert "4 of 8 cells done; 1 running, 1 failed, 2 missing" in text
    # Four cells of three seconds each for two workers.
    assert "about 6 s left with 2 workers" in text
    assert "d × B (p), 2 folds" in text and "genes: no file" in text
    assert isinstance(stand, pd.DataFrame) and stand["done"].sum() == 4


def test_when_all_is_done_it_says_so_and_without_times_it_gives_none():
    text, _ = shown(repeats("a"), [config("a")])
    assert "1 of 1 cell done" in text and "nothing is left to run" in text
    text, _ = shown([], [config("a", 3)])
    assert "no estimate yet: 3 cells" in text and "0 of 3 cells done; 3 missing" in text


def test_what_was_stopped_is_left_only_under_higher_limits():
    late = {"status": "timeout", "time_limit_seconds": 2.0}
    rows = [failed("a", 0, fold, "Timeout: after 2 s") | late for fold in (0, 1)]
    text, _ = shown(rows, [config("a")])
    assert "0 of 1 cell done; 1 timed out" in text and "nothing is left to run under these limits" in text
    assert "timed out: 2 folds (tried again only under a higher launcher.time_limit_seconds" in text
    assert "failed: " not in text
    text, _ = shown(rows, [config("a")], missing=1)
    assert "nothing is left but what was stopped (1 cell); a run tries it again" in text


def test_many_data_sets_are_shown_in_parts_and_none_is_lost():
    names = [f"data_set_number_{number}" for number in range(11)]
    text, _ = shown([], [config("a", dataset=name) for name in names])
    assert all(len(line) <= 100 for line in text.splitlines())
    assert text.count("0/1 1m") == 11
