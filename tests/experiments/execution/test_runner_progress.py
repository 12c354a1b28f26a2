"""What a person sees while a study runs and at its end."""

import io

import cheap
import numpy as np
import pandas as pd
from listening import Listening

from experiments import report
from experiments.evaluation.cell import cells_of
from experiments.execution import runner
from experiments.execution.progress import (
    BarProgress,
    Forecast,
    PlainProgress,
    in_words,
    progress_for,
)
from experiments.execution.runner import run_study
from experiments.formatting import count


def test_warnings_are_summed_up_in_one_line(tmp_path, caplog, recwarn):
    words = Listening()
    result = run_study([cheap.config(tmp_path / "results", cheap.function("noisy"))], progress=words)
    assert result.warnings == {("RuntimeWarning", "something odd"): 3, ("somewhere", "lowered k to 3"): 3}
    (line,) = [line for line in words.lines if "something odd" in line]
    assert line.startswith("6 warnings while cells ran: 3 × ")
    assert not caplog.records and not recwarn.list


def test_undefined_rf1_is_counted_and_named(tmp_path):
    learner = {"_target_": "cheap.Wrong", "right_below": 3}
    config = cheap.config(tmp_path / "results", learner=learner, n_splits=6, dataset={"n_rows": 63})
    words = Listening()
    frame = run_study([config], progress=words).frame
    assert frame["f1_micro_all"].min() > 0 and "undefined" not in words.text
    frame = frame.assign(aurf1_micro=[np.nan, *frame["aurf1_micro"][1:]])
    protocol = config["protocol"]["name"]
    said = f"rF1 has no value in 1 of 6 folds of blobs ({protocol}), where the F1 of all features is 0"
    assert runner._closing_words(runner.StudyResult(frame)) == [said]
    # Two rankers share the fold: it is one fold still, as under the table.
    both = pd.concat([frame, frame.assign(ranker="b")], ignore_index=True)
    assert runner._closing_words(runner.StudyResult(both)) == [said]
    asked = [config, {**config, "ranker_key": "b"}]
    out = io.StringIO()
    report.show(both, asked, {"results": tmp_path / "results"}, out)
    assert "rF1 has no value in 1 of 6 folds, where" in " ".join(out.getvalue().split())
    other = frame.assign(dataset="x", aurf1_micro=[np.nan] * 2 + [0.5] * 4)
    lines = runner._closing_words(runner.StudyResult(pd.concat([both, other], ignore_index=True)))
    assert lines == [said, said.replace("in 1 of", "in 2 of").replace("blobs", "x")]


def test_plain_lines_say_how_far_it_is():
    words = Listening()
    cells = cells_of(cheap.config("x", n_repeats=3), checksum="0" * 64, task="multiclass")
    words.start(cells, 1, list)
    for cell in cells:
        words.done(cell, 100.0)
    words.stop()
    assert words.lines == [
        "1/3 blobs × a, repeat 0 (100.0 s); about 3 min left",
        "3/3 blobs × a, repeat 2 (100.0 s)",
    ]  # the second came within the same second as the first


def test_the_bar_shows_cells_at_work_and_stays_out_of_the_way_of_messages():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    bar = progress_for(terminal)
    assert isinstance(bar, BarProgress) and isinstance(progress_for(io.StringIO()), PlainProgress)
    bar.note("2 of 2 cells missing")
    cells = cells_of(cheap.config("x", n_repeats=2), checksum="0" * 64, task="multiclass")
    bar.start(cells, 1, lambda: ["blobs × a, repeat 1"])
    bar.done(cells[0], 7.0)
    bar._bar.refresh()
    bar.note("[a message]")
    bar.stop()
    bar.stop()
    shown = terminal.getvalue()
    for words in ("2 of 2 cells missing", "1/2", "blobs × a, repeat 1", "about 7 s left", "[a message]"):
        assert words in shown, words


def cells_for(*rankers, n_repeats=3, checksum="0"):
    configs = [
        cheap.config("x", cheap.function("level"), ranker_key=name, n_repeats=n_repeats) for name in rankers
    ]
    return [cells_of(config, checksum=checksum * 64, task="multiclass") for config in configs]


def test_a_ranker_that_has_not_ended_a_cell_is_told_and_not_guessed():
    """What it compiles first in every worker is not known from the cells of another one."""
    quick, umap = cells_for("quick", "umap")
    forecast = Forecast([*quick, *umap], n_workers=2)
    assert forecast.words() == "time left unknown"
    forecast.done(quick[0], 1.0)
    assert forecast.words() == "more than 1 s left (3 cells of rankers that have not finished one)"
    forecast.done(umap[0], 31.0)
    assert (forecast.seconds_left(), forecast.n_unknown()) == ((2 * 1 + 2 * 31) / 2, 0)
    forecast.done(umap[1], 1.0)
    forecast.done(quick[1], 1.0)
    forecast.done(quick[2], 1.0)
    # One cell keeps one worker busy.
    assert forecast.words() == "about 16 s left"
    assert in_words(3.0, 1) == "more than 3 s left (1 cell of rankers that have not finished one)"
    assert in_words(0.2, 2) == "time left unknown (2 cells of rankers that have not finished one)"


def test_a_ranker_is_known_from_other_data_sets():
    (one,), (other,) = cells_for("a"), cells_for("a", checksum="1")
    forecast = Forecast([*one, *other], n_workers=1)
    forecast.done(one[0], 5.0)
    assert (forecast.seconds_left(), forecast.n_unknown()) == (5 * 5.0, 0)


def test_time_left_is_learnt_per_ranker():
    configs = [
        cheap.config("x", cheap.function(name), ranker_key=name, n_repeats=3) for name in ("level", "between")
    ]
    slow, fast = (cells_of(config, checksum="0" * 64, task="multiclass") for config in configs)
    forecast = Forecast([*slow, *fast], n_workers=2)
    assert forecast.seconds_left() is None and in_words(None) == "time left unknown"
    forecast.done(slow[0], 10.0)
    assert (forecast.seconds_left(), forecast.n_unknown()) == (2 * 10 / 2, 3)
    forecast.done(fast[0], 1.0)
    assert forecast.seconds_left() == (2 * 10 + 2 * 1) / 2
    assert in_words(11) == "about 11 s left" and in_words(600) == "about 10 min left"
    assert in_words(9000) == "about 2.5 h left"


def test_one_has_no_plural():
    assert [count(number, "fold") for number in (0, 1, 2)] == ["0 folds", "1 fold", "2 folds"]
    assert count(1, "class", "classes") == "1 class" and count(2, "class", "classes") == "2 classes"
    assert count(np.int64(1), "row") == "1 row" and count(3.0, "row") == "3 rows"


def test_an_estimate_stands_in_for_rankers_that_have_not_ended_a_cell():
    a, b, c = cells_for("a", "b", "c")
    (other,) = cells_for("b", checksum="1")
    here, there = a[0].checksum, other[0].checksum
    expected = {(here, "a"): 2.0, (here, "b"): 10.0, (there, "b"): 100.0}
    forecast = Forecast([*a, *b, *other], 1, expected)
    n = len(a)
    forecast.done(a[0], 6.0)
    # Three times what was expected, on the other data set too as long as nothing has ended there.
    assert (forecast.seconds_left(), forecast.n_unknown()) == ((n - 1) * 6.0 + n * 30.0 + n * 300.0, 0)
    forecast.done(other[0], 100.0)
    assert forecast.seconds_left() == (n - 1) * 6.0 + n * 30.0 + (n - 1) * 100.0
    # Of a ranker of which nothing was expected, nothing is known.
    forecast = Forecast([*a, *c], 1, expected)
    forecast.done(a[0], 2.0)
    assert (forecast.seconds_left(), forecast.n_unknown()) == ((n - 1) * 2.0, n)


def test_the_estimate_of_a_run_reaches_its_progress(tmp_path):
    shown = Listening()
    rankers = {name: cheap.function("slow", seconds=0.05, tag=name) for name in "ab"}
    configs = [cheap.config(tmp_path, ranker, ranker_key=name) for name, ranker in rankers.items()]
    result = run_study(configs, progress=shown)
    assert result.exit_code == 0
    assert sorted(ranker for _, ranker in shown._expected) == ["a", "b"]
    assert all(seconds > 0 for seconds in shown._expected.values())
