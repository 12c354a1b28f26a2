"""What a person sees while a study runs and at its end."""

import io

import cheap
import numpy as np
import pandas as pd
from listening import Listening

from experiments import report
from experiments.evaluation.cell import cells_of
from experiments.execution import runner
from experiments.execution.progress import BarProgress, PlainProgress, progress_for
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


def test_plain_lines_say_how_far_it_is(monkeypatch):
    clock = iter([0.0, 100.0, 100.5, 101.0])
    monkeypatch.setattr("experiments.execution.progress.time.monotonic", lambda: next(clock))
    words = Listening()
    cells = cells_of(cheap.config("x", n_repeats=3), checksum="0" * 64, task="multiclass")
    words.start(cells)
    for cell in cells:
        words.done(cell, 100.0)
    words.stop()
    assert words.lines == [
        "1/3 blobs × a, repeat 0 (100.0 s); about 3 min left",
        "3/3 blobs × a, repeat 2 (100.0 s)",
    ]  # the second came within the same second as the first


def test_the_bar_stays_out_of_the_way_of_messages():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    bar = progress_for(terminal)
    assert isinstance(bar, BarProgress) and isinstance(progress_for(io.StringIO()), PlainProgress)
    bar.note("2 of 2 cells missing")
    cells = cells_of(cheap.config("x", n_repeats=2), checksum="0" * 64, task="multiclass")
    bar.start(cells)
    bar.done(cells[0], 7.0)
    bar._bar.refresh()
    bar.note("[a message]")
    bar.stop()
    bar.stop()
    shown = terminal.getvalue()
    for words in ("2 of 2 cells missing", "1/2", "blobs × a, repeat 0", "left:", "[a message]"):
        assert words in shown, words


def test_one_has_no_plural():
    assert [count(number, "fold") for number in (0, 1, 2)] == ["0 folds", "1 fold", "2 folds"]
    assert count(1, "class", "classes") == "1 class" and count(2, "class", "classes") == "2 classes"
    assert count(np.int64(1), "row") == "1 row" and count(3.0, "row") == "3 rows"
