"""Studies in processes of their own: killed, interrupted, doubled, and with workers that die."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import cheap
import numpy as np
import psutil
import pytest
from listening import Listening, text_of

from experiments.runner import run_study
from experiments.store import Store

PROJECT_ROOT = Path(__file__).resolve().parents[1]
N_CELLS, N_REPEATS = 12, 4


def start(results, log, *, n_repeats=N_REPEATS, seconds=0.05, n_workers=2):
    """Start a study of three rankers in a session of its own: a signal to the group is like a key on a terminal."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(PROJECT_ROOT), str(PROJECT_ROOT / "tests")]),
        # What a killed runner cannot clean up goes with the test's own folder.
        "TMPDIR": str(log.parent),
    }
    arguments = [str(each) for each in (results, log, n_repeats, seconds, n_workers)]
    return subprocess.Popen(
        [sys.executable, "-m", "study_process", *arguments],
        env=environment,
        cwd=PROJECT_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def done_cells(results):
    """Finished ranking cells: path → (inode, time), which a cell that is run again would change."""
    store = Store(results)
    found = {}
    for path in results.glob("rows/??/*.parquet"):
        table = store.read_table(path.stem)
        if table["kind"][0].as_py() == "ranking":
            found[path] = (path.stat().st_ino, path.stat().st_mtime_ns)
    assert not store.set_aside
    return found


def undisturbed(tmp_path):
    configs = [
        cheap.config(
            tmp_path / "undisturbed",
            cheap.function("between"),
            ranker_key=name,
            n_repeats=N_REPEATS,
        )
        for name in "abc"
    ]
    return run_study(configs, n_workers=1, progress=Listening()).frame


def wait_for(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def numbers_of(frame):
    """Rows without their keys: where ``logged`` leaves its log is part of the key and changes no number."""
    return text_of(frame.assign(cell_key=""))


def alive(processes):
    """Those still running; one that waits for a parent to take note of its end is not."""
    running = []
    for process in processes:
        try:
            if process.status() != psutil.STATUS_ZOMBIE:
                running.append(process)
        except psutil.NoSuchProcess:
            continue
    return running


def rows_of(results):
    store = Store(results)
    frames = [store.read(path.stem) for path in done_cells(results)]
    return [text for frame in frames for text in numbers_of(frame)]


@pytest.mark.parametrize("n_workers", [1, 2])
def test_killed_at_any_moment_no_finished_cell_is_lost_or_repeated(tmp_path, n_workers):
    results, log = tmp_path / "results", tmp_path / "log"
    moments = random.Random(n_workers)
    before = {}
    for _ in range(2):
        study = start(results, log, n_workers=n_workers, seconds=0.1)
        n_before = len(before)
        wait_for(lambda n_before=n_before: len(done_cells(results)) > n_before)
        time.sleep(moments.uniform(0, 0.4))
        processes = psutil.Process(study.pid).children(recursive=True)
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
    last = start(results, log, n_workers=n_workers, seconds=0.1)
    output, errors = last.communicate(timeout=60)
    assert last.returncode == 0, errors
    n_missing = N_CELLS - len(before)
    assert json.loads(output) == {
        "cells": N_CELLS,
        "missing": n_missing,
        "ran": n_missing,
        "found": 0,
        "lost": 0,
    }
    after = done_cells(results)
    assert len(after) == N_CELLS
    assert {path: after[path] for path in before} == before  # not one was written again
    assert sorted(rows_of(results)) == numbers_of(undisturbed(tmp_path))
    again = start(results, log, n_workers=n_workers, seconds=0.1)
    output, errors = again.communicate(timeout=60)
    assert errors.splitlines() == ["0 of 12 cells missing; running 0"] and json.loads(output)["ran"] == 0


def test_workers_end_with_a_runner_that_was_killed(tmp_path):
    study = start(tmp_path / "results", tmp_path / "log", seconds=60)
    runner = psutil.Process(study.pid)
    assert wait_for(lambda: len(runner.children()) >= 3)  # two workers and joblib's tracker
    assert wait_for(lambda: any((tmp_path / "results").glob("rows/??/*.parquet")))
    time.sleep(1.0)
    children = runner.children(recursive=True)
    study.kill()
    study.communicate()
    wait_for(lambda: not alive(children), 8)
    left = alive(children)
    for process in left:
        process.kill()
    assert not left


def test_ctrl_c_ends_soon_and_says_how_to_go_on(tmp_path):
    results = tmp_path / "results"
    study = start(results, tmp_path / "log", seconds=0.3)
    wait_for(lambda: len(done_cells(results)) >= 1)
    children = psutil.Process(study.pid).children(recursive=True)
    began = time.monotonic()
    os.killpg(study.pid, signal.SIGINT)
    output, errors = study.communicate(timeout=20)
    assert time.monotonic() - began < 5
    assert study.returncode == 130 and output == ""
    assert "Traceback" not in errors
    finished, left = map(
        int, re.search(r"stopped; (\d+) cells .* (\d+) are left: the same command", errors).groups()
    )
    assert finished + left == N_CELLS and 1 <= finished <= len(done_cells(results))
    assert wait_for(lambda: not alive(children), 5)


def test_two_processes_on_one_study_end_with_one_good_file_per_cell(tmp_path):
    results, log = tmp_path / "results", tmp_path / "log"
    studies = [start(results, log, n_workers=1, seconds=0.02) for _ in range(2)]
    for study in studies:
        output, errors = study.communicate(timeout=60)
        assert study.returncode == 0, errors
        counts = json.loads(output)
        assert counts["ran"] + counts["found"] == counts["missing"] and counts["lost"] == 0
    files = [path for path in results.rglob("*") if path.is_file()]
    assert len(done_cells(results)) == N_CELLS and len(files) == N_CELLS + N_REPEATS
    assert sorted(rows_of(results)) == numbers_of(undisturbed(tmp_path))


def test_a_worker_that_is_killed_costs_its_cell_one_more_try_and_no_other(tmp_path, caplog):
    flag, results = tmp_path / "flag", tmp_path / "results"
    flag.touch()
    configs = [
        cheap.config(results, cheap.function("deadly"), ranker_key="always"),
        cheap.config(results, cheap.function("deadly", flag=str(flag)), ranker_key="once"),
        cheap.config(results, cheap.function("between"), ranker_key="good", n_repeats=4),
    ]
    words = Listening()
    result = run_study(configs, n_workers=2, progress=words)
    assert vars(result.counts) == {"cells": 6, "missing": 6, "ran": 5, "found": 0, "lost": 1}
    assert set(result.frame["ranker"]) == {"once", "good"} and (result.frame["status"] == "ok").all()
    (failure,) = result.failures
    assert (failure.ranker, failure.fold) == ("always", None) and "died twice" in failure.error
    assert result.exit_code == 1 and "blobs × always" in caplog.text and "died twice" in words.text
    assert not np.isnan(result.frame["aurf1_micro"]).any()
    flag.touch()
    again = run_study(configs[1:], n_workers=2, progress=words)
    assert again.counts.missing == 0 and flag.exists()
