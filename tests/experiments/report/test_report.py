"""What a person sees at the end of a run, and report.py, which runs nothing."""

import io
import os
import sys

import pandas as pd
import programs
import pytest
from folders import PROJECT_ROOT
from made_up import config, failed, frame, repeats, row

from experiments import report
from experiments.errors import BadInputError
from experiments.paths import file_stem, write_whole
from experiments.report.console import significant


def shown(rows, configs, results, out=None):
    out = out or io.StringIO()
    files = report.show(rows, configs, {"results": str(results)}, out)
    return out.getvalue() if isinstance(out, io.StringIO) else "", files


def test_the_table_holds_what_was_found(tmp_path):
    rows = frame(
        row(fold=0, curve=(0.5, 1.0, 0.8), fit_seconds=1.0, latent_dimension=11),
        row(fold=1, curve=(0.5, 0.6, 0.8), fit_seconds=2.0, latent_dimension=11),
        repeats("b", curve=(0.2, 0.3, 0.8), fit_seconds=0.25),
    )
    text, _ = shown(rows, [config("b"), config("a")], tmp_path)
    lines = [line.split() for line in text.splitlines()]
    a = next(line for line in lines if line[:1] == ["A"])
    b = next(line for line in lines if line[:1] == ["B"])
    assert a == "A 0.900 ± 0.141 3 0.938 1.50 ± 0.71 11".split()
    assert b == "B 0.800 ± 0.000 4 0.458 0.250 ± 0.000 –".split()
    assert lines.index(a) < lines.index(b), "best first"
    assert "d · p: 2 folds × 1 repeat, 10 samples × 4 features" in text
    assert "micro" in text and "with all features it is 0.800 ± 0.000" in " ".join(text.split())


def test_incomplete_rankers_are_listed_apart_with_the_reason(tmp_path):
    rows = frame(repeats("a", 10), repeats("b", 3))
    text, files = shown(rows, [config("a", 10), config("b", 10)], tmp_path)
    table, _, apart = text.partition("not complete, so not compared:")
    assert "B" not in table.split()
    assert "B: 3 of 10 repeats" in apart
    csv = pd.read_csv(files[0])
    assert csv["ranker"].tolist() == ["a", "b"]
    assert csv.loc[1, ["complete", "reason"]].tolist() == [False, "3 of 10 repeats"]
    assert csv["best_f1_micro_mean"].isna().tolist() == [False, True]
    assert csv["best_f1_macro_mean"].tolist()[0] == 0.5


def test_failed_folds_are_listed(tmp_path):
    rows = frame(repeats("a"), failed("b", 0, 0, "ValueError: no luck\nline 2"), row("b", 0, 1))
    text, _ = shown(rows, [config("a"), config("b"), config("c")], tmp_path)
    assert "failed: 1 fold (tried again by a run with the same arguments)" in text
    assert "d × B (p), 1 fold, first repeat 0, fold 0: ValueError: no luck" in text
    assert "1 of 2 folds failed: ValueError: no luck" in text
    assert "C: 0 of 1 repeat" in text
    assert "line 2" not in text


def stopped(ranker, fold, status, error, **limits):
    return failed(ranker, 0, fold, error) | {"status": status} | limits


def test_what_was_stopped_is_counted_apart_and_said_when_it_is_tried_again(tmp_path):
    rows = frame(
        repeats("a"),
        failed("b", 0, 0),
        stopped("b", 1, "timeout", "Timeout: after 2 s", time_limit_seconds=2.0),
        stopped("c", 0, "timeout", "Timeout: after 2 s", time_limit_seconds=2.0),
        stopped("c", 1, "out_of_memory", "Memory: 9 MiB", memory_limit_mib=9.0),
        stopped("e", 0, "out_of_memory", "MemoryError: x"),
        stopped("e", 1, "out_of_memory", "MemoryError: x", time_limit_seconds=2.0),
    )
    text, _ = shown(rows, [config(name) for name in "abce"], tmp_path)
    text = " ".join(text.split())
    again = "tried again by a run with the same arguments"
    only = "tried again only under a higher launcher"
    assert f"failed: 1 fold ({again}) - d × B" in text
    assert f"timed out: 2 folds ({only}.time_limit_seconds, or none)" in text
    assert f"out of memory: 1 fold ({only}.memory_limit_mib, or none) - d × C" in text
    assert f"out of memory: 2 folds ({again}) - d × E" in text
    assert "1 of 2 folds timed out: Timeout: after 2 s; 1 of 2 folds out of memory: Memory: 9 MiB" in text
    assert "C: 1 of 2 folds failed" not in text


def test_nothing_failed_nothing_said(tmp_path):
    text, _ = shown(frame(repeats("a")), [config("a")], tmp_path)
    words = text.partition("written:")[0]
    assert words and "failed" not in words and "not complete" not in words


def test_undefined_relative_f1_is_said_in_table_and_figure(tmp_path, monkeypatch):
    notes = []
    from experiments.figures import rf1_curve as drawing

    drawn = drawing.figure
    monkeypatch.setattr(
        drawing, "figure", lambda *a, note, **k: notes.append(note) or drawn(*a, note=note, **k)
    )
    rows = frame(row(fold=0), row(fold=1, curve=(0.3, 0.3, 0.0)))
    text, _ = shown(rows, [config("a")], tmp_path)
    assert "rF1 has no value in 1 of 2 folds" in " ".join(text.split())
    assert "1 of 2 folds" in notes[0]


def test_the_figure_says_who_is_not_on_it(tmp_path, monkeypatch):
    notes = []
    from experiments.figures import rf1_curve as drawing

    drawn = drawing.figure
    monkeypatch.setattr(
        drawing, "figure", lambda *a, note, **k: notes.append(note) or drawn(*a, note=note, **k)
    )
    shown(frame(repeats("a", 2), repeats("b", 1)), [config("a", 2), config("b", 2)], tmp_path)
    assert "Not shown: B (1 of 2 repeats)." in notes[0]


def test_learners_that_did_not_converge_are_named(tmp_path):
    rows = frame(repeats("a"), repeats("b", learner_converged=False))
    text, _ = shown(rows, [config("a"), config("b")], tmp_path)
    assert "did not converge: B: 2 of 2." in " ".join(text.split())


def test_one_table_and_figure_per_data_set_and_protocol(tmp_path):
    rows = frame(repeats("a"), repeats("a", dataset="e"), repeats("a", protocol="q[n_splits=2]"))
    configs = [config("a"), config("a", dataset="e"), config("a", protocol="q[n_splits=2]")]
    text, files = shown(rows, configs, tmp_path)
    assert [str(file.relative_to(tmp_path)) for file in files] == [
        place
        for stem in ("d_p_a", "e_p_a", "d_q[n_splits=2]_a")
        for place in (f"tables/{stem}.csv", f"figures/{stem}_rf1.png", f"figures/{stem}_rf1.svg")
    ]
    assert all(file.is_file() and str(file) in text for file in files)


def test_nothing_complete_nothing_written(tmp_path):
    text, files = shown(frame(), [config("a")], tmp_path / "results")
    assert files == []
    assert not (tmp_path / "results").exists()
    assert "no ranker is complete" in text and "A: 0 of 1 repeat" in text


def test_names_with_brackets_are_shown_as_they_are(tmp_path):
    name = "relieff[n_neighbors=5]"
    text, _ = shown(frame(repeats(name), failed("[b]")), [config(name), config("[b]")], tmp_path)
    assert name.upper() in text and "[B]: " in text


def long_study():
    names = [f"a_ranker_with_a_long_name[parameter_{n}=1.2345678]" for n in range(3)]
    rows = [repeats(name, 1, fit_seconds=12345.678, latent_dimension=1234) for name in names]
    rows.append(failed("x", error="ValueError: " + "very long words " * 30))
    return frame(*rows), [config(name) for name in [*names, "x"]]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_a_hundred_columns_without_colours_where_there_is_no_terminal(tmp_path, encoding):
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding)
    rows, configs = long_study()
    shown(rows, configs, tmp_path, out)
    out.flush()
    text = raw.getvalue().decode(encoding)
    assert "\x1b" not in text
    tables = text.partition("written:")[0].splitlines()
    assert max(map(len, tables)) <= 100
    assert ("±" in text) == (encoding != "ascii")
    assert (" ? " in text) == (encoding == "ascii")
    assert ("──" in text) == (encoding == "utf-8")


@pytest.mark.parametrize("columns", [200, 80, 40, 5])
def test_a_terminal_is_never_overrun(tmp_path, monkeypatch, columns):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "dumb")
    rows, configs = long_study()
    text, _ = shown(rows, configs, tmp_path, Terminal())
    tables = text.partition("written:")[0].splitlines()
    assert max(map(len, tables)) <= max(20, min(columns, 100))


def test_paths_are_never_broken(tmp_path):
    deep = tmp_path / ("folder" * 30)
    text, files = shown(frame(repeats("a")), [config("a")], deep)
    assert all(f"  {file}\n" in text for file in files)


def test_a_reader_that_leaves_early(tmp_path):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    _, files = shown(frame(repeats("a")), [config("a")], tmp_path, Closed())
    assert len(files) == 3 and all(file.is_file() for file in files)


def test_the_table_is_printed_even_if_nothing_can_be_written(tmp_path):
    (tmp_path / "tables").write_text("in the way")
    out = io.StringIO()
    with pytest.raises(BadInputError, match="cannot be written"):
        report.show(frame(repeats("a")), [config("a")], {"results": str(tmp_path)}, out)
    assert "1.000 ± 0.000" in out.getvalue()


def test_the_same_rows_give_the_same_bytes(tmp_path):
    rows, configs = frame(repeats("a"), repeats("b")), [config("a"), config("b")]
    first = [file.read_bytes() for file in shown(rows, configs, tmp_path)[1]]
    assert [file.read_bytes() for file in shown(rows, configs, tmp_path)[1]] == first


@pytest.mark.parametrize(
    ("mean", "sd", "text"),
    [
        (1234.4, 56.7, "1234 ± 57"),
        (100.54, 0.3, "100.5 ± 0.3"),
        (12.34, 0.56, "12.3 ± 0.6"),
        (1.234, float("nan"), "1.23"),
        (0.00624, 0.0035, "0.0062 ± 0.0035"),
        (0.0, 0.0, "0.0000 ± 0.0000"),
        (float("nan"), float("nan"), "–"),
    ],
)
def test_durations_in_words(mean, sd, text):
    assert significant(mean, sd) == text


def test_file_stems():
    assert file_stem("digits", "quick[n_repeats=2,seed=1]") == "digits_quick[n_repeats=2,seed=1]"
    odd = [file_stem(name) for name in ("a/b", "a:b", "a b", "..", "ä", "x" * 400, "x" * 401, "")]
    assert len(set(odd)) == len(odd)
    for stem in odd:
        assert stem.isascii() and not set(stem) & set('/\\:*?"<>| ') and not stem.startswith(".")
        assert 0 < len(stem) < 220


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = write_whole(tmp_path / "x", b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(BadInputError, match="No space left"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


# --- report.py ------------------------------------------------------------------------------------


def command(script, *arguments, cwd):
    done = programs.run(
        [sys.executable, str(PROJECT_ROOT / script), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=300,
    )
    return done.returncode, done.stdout, done.stderr


def files_in(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_report_py_shows_what_is_there_and_runs_nothing(tmp_path):
    common = ["dataset=wine", "protocol.n_splits=3", "protocol.grid_points=4", "paths.results=res"]
    code, _, errors = command("run.py", *common, "ranker=relieff", "launcher.n_workers=1", cwd=tmp_path)
    assert code == 0, errors
    rows = {path: path.read_bytes() for path in files_in(tmp_path / "res" / "rows")}
    assert rows
    (page,) = files_in(tmp_path / "res" / "report")
    assert (
        page.name == "wine_quick[grid_points=4,n_splits=3]_relieff.html"
        and "Only ReliefF is complete" in page.read_text(encoding="utf-8")
    )
    code, text, errors = command("report.py", *common, "ranker=relieff,mutual_information", cwd=tmp_path)
    assert (code, errors) == (0, "")
    assert "1 of 2 cells missing" in text
    assert "Mutual information: 0 of 1 repeat" in text
    assert "ReliefF" in text.partition("not complete")[0]
    assert {path: path.read_bytes() for path in files_in(tmp_path / "res" / "rows")} == rows
    # A wider report is made beside the narrower one, which stays as it was.
    stem = "wine_quick[grid_points=4,n_splits=3]_mutual_information+relieff"
    assert len(files_in(tmp_path / "res" / "figures")) == 4
    assert "Only ReliefF is complete" in page.read_text(encoding="utf-8")
    text = page.with_name(f"{stem}.html").read_text(encoding="utf-8")
    assert "1 of 2 pairs of data set and ranker are not complete" in text
    assert "python run.py dataset=wine protocol.n_splits=3 protocol.grid_points=4 ranker=relieff" in text
    assert "paths.results" not in text


def test_report_py_on_an_empty_store_writes_nothing(tmp_path):
    code, text, errors = command("report.py", "dataset=wine", "paths.results=res", cwd=tmp_path)
    assert (code, errors) == (0, "")
    assert "1 of 1 cell missing" in text and "0 of 1 repeat" in text
    assert not files_in(tmp_path)


def test_report_py_answers_slips_of_the_pen(tmp_path):
    code, text, errors = command("report.py", "ranker=relief", cwd=tmp_path)
    assert (code, text) == (2, "")
    assert "relieff" in errors and len(errors.splitlines()) <= 2


def test_report_py_help_speaks_of_report_py(tmp_path):
    code, text, _ = command("report.py", "--help", cwd=tmp_path)
    assert code == 0
    assert "usage: python report.py" in text
