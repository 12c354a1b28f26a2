"""What a disk, a clock or a stranger can do to a study."""

import json
import os
import re
import subprocess
import sys
import time

import cheap
import programs
import pytest
from folders import SEARCH_PATH
from listening import Listening, text_of
from studies import done_cells, finish, numbers_of, rows_of, start, undisturbed

from experiments.config.compose import PROJECT_ROOT
from experiments.execution.runner import collect_study, run_study
from experiments.store.store import Store

pytestmark = pytest.mark.usefixtures("forked_fitters")

WIDE = {"n_features": 3000, "n_rows": 40}


def test_a_disk_that_takes_no_more_in_the_middle_of_a_file_loses_those_cells_alone(tmp_path):
    """A file may grow to 64 KiB: the score of all features fits, weights of 3,000 columns do not."""
    results = tmp_path / "results"
    settings = {
        "function": "chance",
        "dataset": WIDE,
        "names": "a",
        "n_repeats": 2,
        "launcher": {"n_workers": 1},
        "in_process": True,  # or the data would be written too
    }
    study = start(results, file_size=64 * 1024, **settings)
    output, errors = study.communicate(timeout=300)
    assert study.returncode == 1 and json.loads(output)["lost"] == 2, errors
    assert "File too large" in errors and "tried again by a run with the same arguments" in errors
    assert done_cells(results) == {} and len(list(results.glob("rows/??/*.parquet"))) == 2
    assert not [
        path for path in results.rglob("*") if path.is_file() and path.suffix not in (".parquet", ".scores")
    ]
    counts, _ = finish(start(results, **settings))
    assert counts["ran"] == 2
    assert rows_of(results) == sorted(numbers_of(undisturbed(tmp_path, "chance", "a", 2, WIDE)))


def test_data_that_do_not_fit_beside_the_results_are_an_error_before_the_first_cell(tmp_path):
    results = tmp_path / "results"
    study = start(results, function="chance", dataset=WIDE, names="a", n_repeats=2, file_size=100 * 1024)
    output, errors = study.communicate(timeout=300)
    assert study.returncode == 2 and output == "" and "Traceback" not in errors
    assert re.search(r"error: the data cannot be put where workers find them, .*: File too large", errors)
    assert not [path for path in results.rglob("*") if path.is_file()]


@pytest.mark.parametrize("days", [2.0, -2.0])
def test_a_clock_that_jumps_changes_no_row_and_no_time(tmp_path, days):
    results = tmp_path / "results"
    settings = {
        "function": "jumping",
        "ranker": {"days": days, "tag": "{name}"},
        "names": "ab",
        "n_repeats": 6,
    }
    runners = [start(results, launcher={"n_workers": n}, **settings) for n in (1, 2)]
    for runner in runners:
        counts, errors = finish(runner)
        assert counts["lost"] == 0 and counts["ran"] + counts["found"] == counts["missing"], errors
    assert rows_of(results) == sorted(numbers_of(undisturbed(tmp_path, names="ab", n_repeats=6)))
    store = Store(results)
    for path in done_cells(results):
        frame = store.read(path.stem)
        for column in ("fit_seconds", "warm_up_seconds", "learner_seconds"):
            assert frame[column].dropna().between(0, 60).all()


@pytest.mark.parametrize("days", [3, -3])
def test_the_age_of_what_others_left_does_not_hurt_those_at_work(tmp_path, monkeypatch, days):
    """A runner whose clock is days off begins while another one is in the middle of a file."""
    config = cheap.config(tmp_path / "results", n_repeats=2)
    run_study([config], progress=Listening())
    store = Store(tmp_path / "results")
    (path, *_) = done_cells(tmp_path / "results")
    unfinished = path.with_name(f".{path.stem}.1.tmp")
    unfinished.write_bytes(b"half")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + days * 24 * 3600)
    config["protocol"]["n_repeats"] = 3
    result = run_study([config], progress=Listening())
    assert result.counts.ran == 1 and result.exit_code == 0 and not result.quarantined
    assert unfinished.exists() == (days < 0)
    assert store.has(path.stem)


@pytest.mark.parametrize("damage", ["cut", "byte", "empty", "foreign", "folder"])
def test_a_corrupted_cell_file_is_set_aside_by_name_and_its_cell_runs_again(tmp_path, damage):
    config = cheap.config(tmp_path / "results", n_repeats=3)
    before = run_study([config], progress=Listening())
    store = Store(tmp_path / "results")
    key = before.frame["cell_key"].unique()[1]
    whole = bytearray(store.path(key).read_bytes())
    whole[len(whole) // 3] ^= 1
    content = {"cut": whole[:-40], "byte": whole, "empty": b"", "foreign": b"PAR1 something else PAR1"}
    if damage == "folder":
        store.path(key).unlink()
        store.path(key).mkdir()
    else:
        store.path(key).write_bytes(content[damage])
    words = Listening()
    after = run_study([config], progress=words)
    assert words.lines[0] == "1 of 3 cells missing; running 1" and len(after.quarantined) == 1
    moved = after.quarantined[0].moved_to
    assert str(moved) in words.text and key in moved.name and moved.exists()
    assert os.path.isdir(moved) if damage == "folder" else moved.read_bytes() == content[damage]
    assert text_of(after.frame) == text_of(before.frame)


@pytest.mark.parametrize("damage", ["cut", "byte"])
def test_so_is_the_score_of_all_features_when_nothing_else_is_missing(tmp_path, damage):
    config = cheap.config(tmp_path / "results", n_repeats=2)
    before = run_study([config], progress=Listening())
    store = Store(tmp_path / "results")
    ranked = set(before.frame["cell_key"])
    path = next(each for each in (tmp_path / "results").glob("rows/??/*") if each.stem not in ranked)
    rows = store.read(path.stem)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 3] ^= 1
    path.write_bytes(whole if damage == "byte" else whole[:-40])
    seen = collect_study([config])
    assert [path.stem in each.moved_to.name for each in seen.quarantined] == [True] and not path.exists()
    if damage == "byte":  # else a report has put it aside, and the run makes it again all the same
        path.write_bytes(whole)
    words = Listening()
    after = run_study([config], progress=words)
    assert words.lines[0] == "0 of 2 cells missing; running 0 and 1 for the score of all features"
    assert [each.path.stem for each in after.quarantined] == [path.stem] * (damage == "byte")
    assert all(str(each.moved_to) in words.text for each in after.quarantined) and after.exit_code == 0
    assert text_of(store.read(path.stem)) == text_of(rows) and text_of(after.frame) == text_of(before.frame)
    again = Listening()
    assert not run_study([config], progress=again).quarantined
    assert again.lines == ["0 of 2 cells missing; running 0"]


# --- a reader who has seen enough


ENVIRONMENT = {**os.environ, "PYTHONPATH": SEARCH_PATH}


def unread(*argv, cwd, errors_too=False):
    """Run Python with a standard output that nobody reads; return exit code and errors."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = programs.run(
            [sys.executable, *argv],
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=writer if errors_too else subprocess.PIPE,
            text=True,
            cwd=cwd,
            env=ENVIRONMENT,
            timeout=300,
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.parametrize("errors_too", [False, True])
@pytest.mark.parametrize(
    "argv",
    [
        ["run.py", "--help"],
        ["-u", "run.py", "--help"],
        ["report.py", "dataset=wine", "paths.results=nowhere"],
        ["run.py", "datasets", "list"],
    ],
    ids=lambda each: " ".join(each[-3:]),
)
def test_a_program_whose_output_nobody_reads_ends_in_silence(tmp_path, argv, errors_too):
    files = [str(PROJECT_ROOT / each) if each.endswith(".py") else each for each in argv]
    ended, errors = unread(*files, cwd=tmp_path, errors_too=errors_too)
    assert ended == 141
    assert not errors


def test_a_study_whose_output_is_closed_keeps_what_it_has_computed(tmp_path):
    run = [str(PROJECT_ROOT / "run.py"), "dataset=wine", "ranker._target_=cheap.talkative"]
    run += ["protocol.n_splits=2", "protocol.n_repeats=3", "protocol.grid_points=4", "launcher.n_workers=1"]
    run += [f"paths.results={tmp_path / 'results'}"]
    code, _ = unread(*run, cwd=tmp_path, errors_too=True)
    assert code in (0, 141)
    done = programs.run([sys.executable, *run], cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert "quarantined" not in done.stdout + done.stderr
    assert [each.suffix for each in (tmp_path / "results" / "report").iterdir()] == [".html"]


def test_a_disk_that_is_full_is_no_closed_output(tmp_path):
    """What is dropped is what nobody reads, not what cannot be kept."""
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, str(PROJECT_ROOT / "run.py"), "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            timeout=300,
        )
    assert done.returncode != 0 and "No space left on device" in done.stderr
