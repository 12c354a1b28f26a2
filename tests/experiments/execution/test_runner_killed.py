"""Studies in processes of their own: killed, interrupted, doubled, and with workers that die."""

import json
import os
import random
import re
import signal
import sys
import time

import cheap
import numpy as np
import pandas as pd
import programs
import pytest
from folders import SEARCH_PATH
from listening import Listening, text_of
from studies import (
    alive,
    at_cell,
    done_cells,
    family,
    finish,
    numbers_of,
    patient,
    rows_of,
    start,
    undisturbed,
    wait_for,
)

from experiments.config.compose import PROJECT_ROOT
from experiments.execution.runner import collect_study, run_study
from experiments.execution.scratch import at_work
from experiments.store.store import Store

pytestmark = pytest.mark.slow

N_CELLS, N_REPEATS = 12, 4
N_KILLS = 10


def logged(log, seconds, **settings):
    """Settings of a study of rankers that take so long per fold."""
    return {"ranker": {"log": f"{log}.{{name}}", "seconds": seconds}, **settings}


@pytest.mark.parametrize("n_workers", [1, 2])
def test_killed_at_any_moment_no_finished_cell_is_lost_or_repeated(tmp_path, n_workers):
    results = tmp_path / "results"
    settings = logged(tmp_path / "log", 0.1, launcher={"n_workers": n_workers})
    moments = random.Random(n_workers)
    before = {}
    for _ in range(2):
        study = start(results, **settings)
        n_before = len(before)
        assert wait_for(lambda n_before=n_before: len(done_cells(results)) > n_before)
        time.sleep(moments.uniform(0, 0.4))
        processes = family(study)
        study.kill()
        errors = study.communicate()[1]
        assert study.returncode == -signal.SIGKILL
        missing, running = map(int, re.search(r"(\d+) of 12 cells missing; running (\d+)", errors).groups())
        assert missing == running == N_CELLS - len(before)
        assert wait_for(lambda processes=processes: not alive(processes))
        after = done_cells(results)
        assert {path: after.get(path) for path in before} == before
        before = after
    assert 2 <= len(before) < N_CELLS
    counts, _ = finish(start(results, **settings))
    n_missing = N_CELLS - len(before)
    assert counts == {"cells": N_CELLS, "missing": n_missing, "ran": n_missing, "found": 0, "lost": 0}
    after = done_cells(results)
    assert len(after) == N_CELLS
    assert {path: after[path] for path in before} == before  # not one was written again
    assert rows_of(results) == sorted(numbers_of(undisturbed(tmp_path)))
    counts, errors = finish(start(results, **settings))
    assert errors.splitlines() == ["0 of 12 cells missing; running 0"] and counts["ran"] == 0


def test_ten_kills_of_runners_and_workers_change_no_row(tmp_path):
    results, n_cells = tmp_path / "results", 6 * 6
    settings = logged(tmp_path / "log", 0.2, names="abcdef", n_repeats=6)
    moments = random.Random(20)
    n_killed = {"runner": 0, "worker": 0}
    before, n_files = {}, 0
    while sum(n_killed.values()) < N_KILLS:
        study = start(results, **settings)
        if moments.random() < 0.8:  # else somewhere in the start
            assert wait_for(lambda n_files=n_files: len(list(results.glob("rows/??/*.parquet"))) > n_files)
            if n_killed["worker"] <= n_killed["runner"]:
                workers = alive(at_cell(study))
                if workers:
                    moments.choice(workers).kill()
                    n_killed["worker"] += 1
        time.sleep(moments.uniform(0, 1.0))
        processes = family(study)
        assert study.poll() is None, "the study was over before it was killed"
        study.kill()
        study.communicate()
        n_killed["runner"] += 1
        assert wait_for(lambda processes=processes: not alive(processes))
        after = done_cells(results)
        assert {path: after.get(path) for path in before} == before
        before, n_files = after, len(list(results.glob("rows/??/*.parquet")))
    assert min(n_killed.values()) >= 3 and 0 < len(before) < n_cells
    counts, _ = finish(start(results, **settings))
    assert counts["ran"] == counts["missing"] == n_cells - len(before)
    assert rows_of(results) == sorted(numbers_of(undisturbed(tmp_path, names="abcdef", n_repeats=6)))


def test_workers_and_their_fits_end_with_a_runner_that_was_killed(tmp_path):
    launcher = {"n_workers": 2, "time_limit_seconds": 600}
    study = start(tmp_path / "results", function="endless", ranker={"tag": "{name}"}, launcher=launcher)
    assert wait_for(lambda: len(at_cell(study)) == 2)
    # Two workers, joblib's tracker, and a process that fits for each worker.
    assert wait_for(lambda: len(family(study)) >= 5)
    time.sleep(1.0)
    children = family(study)
    study.kill()
    study.communicate()
    wait_for(lambda: not alive(children))
    left = alive(children)
    for process in left:
        process.kill()
    assert not left


@pytest.mark.parametrize(
    ("function", "launcher"),
    [
        ("logged", {"n_workers": 2}),
        ("logged", {"n_workers": 1, "time_limit_seconds": 600}),
        ("endless", {"n_workers": 1}),
        ("endless", {"n_workers": 2, "time_limit_seconds": 600}),
    ],
)
def test_ctrl_c_ends_within_five_seconds_and_says_how_to_go_on(tmp_path, function, launcher):
    results = tmp_path / "results"
    settings = logged(tmp_path / "log", 0.3) if function == "logged" else {"ranker": {"tag": "{name}"}}
    study = start(results, function=function, launcher=launcher, **settings)
    if function == "logged":
        assert wait_for(lambda: len(done_cells(results)) >= 1)
    else:
        assert wait_for(lambda: len(at_cell(study)) == launcher["n_workers"])
        time.sleep(1.5)  # into the fit
    children = family(study)
    began = time.monotonic()
    os.killpg(study.pid, signal.SIGINT)
    output, errors = study.communicate(timeout=300)
    assert time.monotonic() - began < patient(5)
    assert study.returncode == 130 and output == ""
    assert "Traceback" not in errors
    finished, left = map(
        int, re.search(r"stopped; (\d+) cells? .* (\d+) cells? left: the same command", errors).groups()
    )
    assert finished + left == N_CELLS
    assert (1 if function == "logged" else 0) <= finished <= len(done_cells(results))
    assert wait_for(lambda: not alive(children))
    assert not (results / "running").exists()


@pytest.mark.parametrize("n_workers", [1, 2])
def test_two_processes_on_one_study_end_with_every_cell_once_and_good(tmp_path, n_workers):
    results = tmp_path / "results"
    settings = logged(tmp_path / "log", 0.02, launcher={"n_workers": n_workers})
    studies = [start(results, **settings) for _ in range(2)]
    for study in studies:
        counts, _ = finish(study)
        assert counts["ran"] + counts["found"] == counts["missing"] and counts["lost"] == 0
    files = [path for path in (results / "rows").rglob("*") if path.is_file()]
    # One worker is given cells this short many at a time, and writes them as packs.
    assert files and {path.suffix for path in files} == {".parquet"}
    assert len(list(results.glob("rows/packs/*"))) or len(files) == N_CELLS + N_REPEATS
    assert rows_of(results) == sorted(numbers_of(undisturbed(tmp_path)))


def test_of_two_runners_on_one_store_one_is_killed_and_the_other_finishes(tmp_path):
    results = tmp_path / "results"
    settings = logged(tmp_path / "log", 0.1)
    one, other = (start(results, **settings) for _ in range(2))
    assert wait_for(lambda: at_cell(one) and len(done_cells(results)) >= 2)
    one.kill()
    one.communicate()
    counts, _ = finish(other)
    assert counts["lost"] == 0 and counts["ran"] + counts["found"] == counts["missing"]
    assert rows_of(results) == sorted(numbers_of(undisturbed(tmp_path)))


def test_a_worker_that_is_killed_costs_its_cell_one_more_try_and_no_other(tmp_path, caplog):
    flag, results = tmp_path / "flag", tmp_path / "results"
    flag.touch()
    once = cheap.config(results, cheap.function("deadly", flag=str(flag)), ranker_key="once")
    always = cheap.config(results, cheap.function("deadly"), ranker_key="always")
    good = cheap.config(results, cheap.function("between"), ranker_key="good", n_repeats=4)
    words = Listening()
    result = run_study([once, good], n_workers=2, progress=words)
    assert not [line for line in caplog.messages if "× good" in line]  # its worker lives
    # A cell may be written, and its worker's pool break before it is told.
    assert (result.counts.ran + result.counts.found, result.counts.lost) == (5, 0)
    assert (result.frame["status"] == "ok").all() and len(result.frame) == 5 * 3
    assert not np.isnan(result.frame["aurf1_micro"]).any()
    assert not flag.exists() and result.exit_code == 0 and "blobs × once" in caplog.text
    result = run_study([always, {**good, "seed": 1}], n_workers=2, progress=words)
    assert (result.counts.ran + result.counts.found, result.counts.lost) == (5, 0)
    assert set(result.frame.loc[result.frame["status"] == "ok", "ranker"]) == {"good"}
    assert {(each.ranker, each.fold) for each in result.failures} == {("always", fold) for fold in range(3)}
    assert all("ended by signal SIGKILL" in each.error for each in result.failures)
    assert result.exit_code == 1 and "blobs × always" in caplog.text and "SIGKILL" in words.text
    flag.touch()
    again = run_study([once, good], n_workers=2, progress=words)
    assert again.counts.missing == 0 and flag.exists()


@pytest.mark.parametrize(("end", "n_workers"), [("segfault", 1), ("leaving", 2)])
def test_a_ranker_that_takes_its_process_down_costs_its_own_folds_however_many_workers(
    tmp_path, end, n_workers
):
    """Cells of a good ranker stand before it and behind it."""
    results = tmp_path / "results"
    command = [sys.executable, str(PROJECT_ROOT / "run.py"), "dataset=wine", "ranker=anova_f,chi2"]
    command += [
        f"also._target_=cheap.{end}",
        "protocol.n_splits=2",
        "protocol.n_repeats=2",
        "protocol.grid_points=3",
    ]
    command += [f"launcher.n_workers={n_workers}", f"paths.results={results}"]
    environment = {
        **os.environ,
        "PYTHONPATH": SEARCH_PATH,
    }
    for n_missing in (6, 2) if end == "segfault" else (6,):  # the second time only what failed is tried again
        done = programs.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 1, done.stderr
        assert f"{n_missing} of 6 cells missing" in done.stderr
        assert f"wine × {end}" in done.stderr and "tried once more" in done.stderr
        store = Store(results)
        frames = [store.read(path.stem) for path in results.glob("rows/??/*.parquet")]
        rows = pd.concat([each for each in frames if each["kind"].iloc[0] == "ranking"])
        assert rows.groupby("ranker").size().to_dict() == {"anova_f": 4, "chi2": 4, end: 4}
        failed = rows[rows["status"] != "ok"]
        assert set(failed["ranker"]) == {end} and len(failed) == 4 and set(failed["status"]) == {"failed"}
        reason = {"segfault": "ended by signal SIGSEGV", "leaving": "ended itself with exit code 3"}[end]
        assert failed["error"].str.contains(reason).all(), failed["error"].tolist()


def test_one_worker_of_its_own_gives_the_rows_of_one_in_this_process(tmp_path):
    def study(folder):
        return [
            cheap.config(tmp_path / folder, cheap.function(name), ranker_key=name, n_repeats=2)
            for name in ("between", "chance")
        ]

    here = run_study(study("here"), progress=Listening())
    apart = run_study(study("apart"), progress=Listening(), in_process=False)
    assert apart.counts == here.counts and apart.exit_code == 0
    assert text_of(apart.frame) == text_of(here.frame)
    assert set(apart.frame["fit_seconds"].notna()) == {True}


def test_notes_tell_who_is_at_work_and_are_not_believed_when_their_writer_is_gone(tmp_path):
    results = tmp_path / "results"
    study = start(results, function="endless", ranker={"tag": "{name}"}, names="a", n_repeats=3)
    try:
        config = cheap.config(results, cheap.function("endless", tag="a"), n_repeats=3)
        # The scores of all features come first, and are no cells of the study's own.
        assert wait_for(lambda: len(collect_study([config]).running) == 2)
        running = collect_study([config]).running
        assert {cell.key for cell in running} == at_work(results) and {cell.ranker for cell in running} == {
            "a"
        }
    finally:
        processes = family(study)
        study.kill()
        study.communicate()
    assert wait_for(lambda: not alive(processes))
    assert any(results.glob("running/*/*.json"))  # no one was left to clear them away
    assert at_work(results) == set() and collect_study([config]).running == []
    run_study([cheap.config(results)], progress=Listening())
    assert not (results / "running").exists()


def test_another_machine_s_notes_count_as_long_as_they_may_be_true(tmp_path):
    note = tmp_path / "running" / "x" / "far-1.json"
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"host": "far", "process": 1, "key": "k", "label": "l"}))
    assert at_work(tmp_path) == {"k"}
    os.utime(note, (time.time() - 30 * 24 * 3600,) * 2)
    assert at_work(tmp_path) == set()


ONE_AND_SEVERAL = """
import sys
import cheap, joblib
from listening import Listening, text_of
from experiments.execution.runner import run_study

def run(n_workers, folder):
    configs = [cheap.config(folder, cheap.function("between"), n_repeats=2)]
    result = run_study(configs, n_workers=n_workers, progress=Listening(), in_process=False)
    assert result.exit_code == 0
    return text_of(result.frame)

first, folder = int(sys.argv[1]), sys.argv[2]
one, two = run(first, folder + "/one"), run(3 - first, folder + "/two")
assert joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(each) for each in (-1, 2)) == [1, 2]
assert run(first, folder + "/again") == one == two
print("the same")
"""


@pytest.mark.parametrize("first", [1, 2])
def test_one_worker_and_several_in_one_program_do_not_get_in_each_others_way(tmp_path, first):
    """In a program of its own, for joblib takes over what pool there is only when it is first used."""
    done = programs.run(
        [sys.executable, "-c", ONE_AND_SEVERAL, str(first), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": SEARCH_PATH},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr


def test_a_module_that_takes_the_process_down_while_it_is_imported_is_named(tmp_path):
    (tmp_path / "deadly_module.py").write_text("import ctypes\nctypes.string_at(0)\n", encoding="utf-8")
    for program in ("run.py", "report.py"):
        done = programs.run(
            [
                sys.executable,
                str(PROJECT_ROOT / program),
                "dataset=wine",
                "ranker._target_=deadly_module.Mine",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == -signal.SIGSEGV
        assert "Segmentation fault" in done.stderr and "deadly_module.py" in done.stderr
