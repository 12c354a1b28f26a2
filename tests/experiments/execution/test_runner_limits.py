"""Limits, threads and dead processes as a study sees them."""

import os
import queue
import socket
from pathlib import Path

import cheap
import numpy as np
import pytest
from listening import Listening, text_of

from experiments.cli import main
from experiments.errors import BadInputError
from experiments.evaluation import evaluate
from experiments.evaluation.options import FitOptions
from experiments.execution import runner, worker
from experiments.execution.runner import collect_study, run_study
from experiments.paths import check_folder
from experiments.rankers import isolation
from experiments.rankers.fitting import Limits
from experiments.rankers.isolation import SubprocessFitter
from experiments.store.store import Store

pytestmark = pytest.mark.usefixtures("forked_fitters")


@pytest.fixture(autouse=True)
def cold():
    evaluate._warm.clear()


def study(tmp_path, *rankers, limit=None, memory=None, n_workers=1, **settings):
    launcher = {"n_workers": n_workers, "time_limit_seconds": limit, "memory_limit_mib": memory}
    return [
        cheap.config(
            tmp_path / "results", ranker, ranker_key=name, launcher=launcher, **{"n_splits": 2, **settings}
        )
        for name, ranker in rankers
    ]


def statuses(result):
    return result.frame.groupby("ranker")["status"].agg(list).to_dict()


GOOD = ("good", cheap.function("between"))


@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_slow_ranker_leaves_timeouts_and_the_study_goes_on(tmp_path, n_workers):
    slow = ("slow", cheap.function("endless"))
    configs = study(tmp_path, slow, GOOD, limit=6.0, n_workers=n_workers)
    words = Listening()
    result = run_study(configs, progress=words)
    assert statuses(result) == {"slow": ["timeout"] * 2, "good": ["ok"] * 2}
    assert result.exit_code == 1 and {each.status for each in result.failures} == {"timeout"}
    rows = result.frame[result.frame["ranker"] == "slow"]
    assert rows["error"].str.startswith("Timeout: the fit was stopped after 6 s").all()
    assert (rows["time_limit_seconds"] == 6.0).all() and rows["fit_seconds"].isna().all()
    assert result.frame[result.frame["ranker"] == "good"]["time_limit_seconds"].isna().all()
    assert (
        "timed out: 2 (tried again only under a higher launcher.time_limit_seconds, or none)" in words.lines
    )
    assert not any(line.startswith("failed") for line in words.lines)
    # The same limit, or a lower one, gives the same answer without trying.
    for limit in (6.0, 1.5):
        again = run_study(study(tmp_path, slow, GOOD, limit=limit), progress=words)
        assert again.counts.missing == 0 and again.exit_code == 1 and len(again.failures) == 2
    raised = collect_study(study(tmp_path, slow, GOOD, limit=6.5))
    assert raised.counts.missing == 1


def test_after_a_fold_that_took_too_long_the_others_can_be_given_up(tmp_path):
    def configs(**more):
        these = study(tmp_path, ("slow", cheap.function("endless")), GOOD, limit=1.5, n_splits=3)
        for each in these:
            each["launcher"] |= more
        return these

    result = run_study(configs(give_up=True), progress=Listening())
    assert statuses(result) == {"slow": ["timeout"] * 3, "good": ["ok"] * 3}
    errors = result.frame[result.frame["ranker"] == "slow"]["error"].tolist()
    assert errors[0].startswith("Timeout: the fit was stopped after 1.5 s")
    assert errors[1:] == ["Timeout: not tried, since fold 0 was stopped after 1.5 s (launcher.give_up)"] * 2
    assert collect_study(configs(give_up=True)).counts.missing == 0
    raised = study(tmp_path, ("slow", cheap.function("endless")), GOOD, limit=2.0, n_splits=3)
    assert collect_study(raised).counts.missing == 1


def test_a_ranker_that_cannot_be_made_in_time_holds_up_no_other(tmp_path, monkeypatch):
    """No clock decides: time is up for the one that hangs as soon as it is seen to hang, and for no other."""
    flag = tmp_path / "flag"
    flag.touch()
    wait, within = SubprocessFitter._wait, runner._build_within

    def until_it_hangs(fitter, seconds, memory, what):
        if what != isolation._MAKING:
            return wait(fitter, None, memory, what)
        while not Path(f"{flag}.{fitter.process}").exists():
            try:
                return fitter._child.answer(0.05)
            except queue.Empty:
                continue
        return wait(fitter, 0.0, memory, what)

    monkeypatch.setattr(SubprocessFitter, "_wait", until_it_hangs)
    monkeypatch.setattr(runner, "_build_within", lambda ranking, seconds: within(ranking, 0.2))
    hanging = ("hanging", {"_target_": "cheap.HangingAtFirst", "flag": str(flag)})
    configs = study(tmp_path, hanging, GOOD, limit=1.0, n_splits=3)
    try:
        result = run_study(configs, progress=Listening())
    finally:
        flag.unlink()
    assert statuses(result) == {"hanging": ["timeout"] * 3, "good": ["ok"] * 3}
    errors = result.frame["error"].dropna().tolist()
    assert errors[0].startswith("Timeout: making the ranker was stopped")
    assert errors[1:] == ["Timeout: not tried, since making the ranker was stopped in fold 0"] * 2


def test_making_is_not_the_fit(tmp_path):
    """The constructor takes longer than the limit of a fit, and is run once for a fit."""
    slow = {"_target_": "cheap.SlowToMake", "seconds": 3.0, "log": str(tmp_path / "log")}
    result = run_study(study(tmp_path, ("slow", slow), limit=2.0), progress=Listening())
    assert statuses(result) == {"slow": ["ok"] * 2}
    assert result.frame["fit_seconds"].max() < 3.0
    # One for the check before the first cell, one for the warm-up, and one for each of the two folds.
    assert (tmp_path / "log").read_text().split() == ["made"] * 4


@pytest.mark.parametrize("limit", [None, 60.0])
@pytest.mark.parametrize(
    ("ranker", "words"),
    [
        ({"_target_": "cheap.Quitting"}, "cheap.Quitting cannot be made: SystemExit: 4"),
        ({"_target_": "reliefe.ReliefF", "n_neighbours": 3}, "n_neighbors"),
        ({"_target_": "no.such.Ranker"}, "no.such"),
    ],
)
def test_a_ranker_that_cannot_be_made_is_told_before_the_first_cell(tmp_path, ranker, words, limit):
    with pytest.raises(BadInputError, match=words):
        run_study(study(tmp_path, ("bad", ranker), GOOD, limit=limit), progress=Listening())
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("n_workers", [1, 2])
@pytest.mark.parametrize("limit", [None, 60.0])
@pytest.mark.parametrize(
    ("ranker", "error"),
    [("unusual", "Unusual: not today"), ("interrupting", "KeyboardInterrupt: by itself")],
)
def test_whatever_a_ranker_raises_fails_its_folds_and_the_study_goes_on(
    tmp_path, ranker, error, limit, n_workers
):
    configs = study(tmp_path, ("bad", cheap.function(ranker)), GOOD, limit=limit, n_workers=n_workers)
    result = run_study(configs, progress=Listening())
    assert statuses(result) == {"bad": ["failed"] * 2, "good": ["ok"] * 2}
    assert set(result.frame["error"].dropna()) == {error} and result.counts.lost == 0


def test_a_higher_limit_tries_again_just_the_folds_that_were_stopped(tmp_path):
    flag = tmp_path / "flag"
    flag.touch()
    ranker = ("late", cheap.function("endless_at_first", flag=str(flag)))
    first = run_study(study(tmp_path, ranker, limit=2.0), progress=Listening())
    assert statuses(first) == {"late": ["timeout", "timeout"]}
    flag.unlink()
    second = run_study(study(tmp_path, ranker, limit=30.0), progress=Listening())
    assert statuses(second) == {"late": ["ok", "ok"]} and second.exit_code == 0
    undisturbed = run_study(study(tmp_path / "u", ranker), progress=Listening())
    assert text_of(second.frame) == text_of(undisturbed.frame)


def test_a_hungry_ranker_leaves_out_of_memory(tmp_path):
    hungry = ("hungry", cheap.function("hungry", mib=2000))
    result = run_study(study(tmp_path, hungry, GOOD, memory=500, limit=60), progress=Listening())
    assert statuses(result) == {"hungry": ["out_of_memory"] * 2, "good": ["ok"] * 2}
    rows = result.frame[result.frame["ranker"] == "hungry"]
    assert (rows["memory_limit_mib"] == 500).all() and rows["time_limit_seconds"].isna().all()
    assert collect_study(study(tmp_path, hungry, GOOD, memory=500)).counts.missing == 0
    assert collect_study(study(tmp_path, hungry, GOOD, memory=600)).counts.missing == 1


def test_limits_change_no_number_and_no_key(tmp_path):
    rankers = [GOOD, ("chance", cheap.function("chance"))]
    free = run_study(study(tmp_path / "free", *rankers), progress=Listening())
    bound = run_study(study(tmp_path / "bound", *rankers, limit=60, memory=4000), progress=Listening())
    assert text_of(free.frame) == text_of(bound.frame)


@pytest.mark.parametrize("ranker", ["deadly", "leaving"])
def test_a_ranker_that_ends_its_process_leaves_failed_rows_with_the_reason(tmp_path, ranker):
    configs = study(tmp_path, ("bad", cheap.function(ranker)), GOOD, n_workers=2)
    result = run_study(configs, progress=Listening())
    assert statuses(result) == {"bad": ["failed"] * 2, "good": ["ok"] * 2}
    assert result.frame["error"].dropna().str.startswith("ProcessDied: the process of the ranker ").all()
    # The good cell may be written, and its worker's pool break before that is told.
    assert (result.exit_code, result.counts.lost) == (1, 0)
    assert result.counts.ran + result.counts.found == result.counts.missing == 2
    assert (
        Store(tmp_path / "results").states({each.cell_key for each in result.failures}).popitem()[1]
        == "failed"
    )


def test_a_learner_that_ends_the_worker_twice_leaves_failed_rows(tmp_path):
    configs = study(tmp_path, ("a", cheap.function("between")), GOOD, n_workers=2)
    configs[0]["protocol"] = {**configs[0]["protocol"], "learner": {"_target_": "cheap.Deadly", "below": 6}}
    result = run_study(configs, progress=Listening())
    assert statuses(result) == {"a": ["failed"] * 2, "good": ["ok"] * 2}
    assert "died twice" in result.frame["error"].dropna().iloc[0] and result.counts.lost == 0


# --- threads and timings ---


TIMES = ["fit_seconds", "warm_up_seconds", "learner_seconds"]


@pytest.mark.parametrize(("n_threads", "used"), [(None, 5.0), (3, 3.0), (8, 5.0)])
def test_a_ranker_gets_no_more_threads_than_its_worker_has(n_threads, used):
    (cell,) = evaluate_cells(cheap.function("in_parallel", n_jobs=5))
    data = cheap.blobs()
    reference = evaluate.evaluate_all_features(cell.reference, data.X, data.labels)
    frame = evaluate.evaluate_ranking(
        cell, data.X, data.labels, reference.table, fit_options=FitOptions(n_threads=n_threads)
    ).frame
    assert (frame["n_threads"] == used).all() and all((row == used).all() for row in frame["weights"])


def evaluate_cells(ranker):
    from experiments.evaluation.cell import cells_of

    return cells_of(cheap.config("x", ranker), checksum="0" * 64, task="multiclass")


@pytest.mark.parametrize(
    ("n_here", "n_threads", "timed"), [(2, 2, True), (3, 2, False), (1, 5, False), (4, 1, True)]
)
def test_timings_are_kept_only_where_every_thread_has_a_core(tmp_path, monkeypatch, n_here, n_threads, timed):
    monkeypatch.setattr(worker, "n_cores", lambda: 4)
    (cell,) = evaluate_cells(cheap.function("between"))
    data = cheap.blobs()
    options = worker.WorkOptions(str(tmp_path), str(tmp_path), Limits(), n_threads, n_here)
    assert worker.work(cell, data.X, data.labels, options).how == "ran"
    frame = Store(tmp_path).read(cell.key)
    for column in TIMES:
        assert frame[column].notna().all() if timed else frame[column].isna().all()
    assert frame["aurf1_micro"].notna().all() and (frame["n_threads"] == 1).all()


def test_more_workers_than_cores_are_said_and_not_timed(tmp_path, monkeypatch):
    monkeypatch.setattr(runner.joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(worker, "n_cores", lambda: 2)
    words = Listening()
    configs = study(tmp_path, GOOD)
    configs[0]["launcher"]["n_threads"] = 3
    frame = run_study(configs, progress=words).frame
    assert "1 workers × 3 threads are more than the cores, 2: rows will have no timings" in words.text
    assert frame[TIMES].isna().all(axis=None)
    words = Listening()
    fine = study(tmp_path / "fine", GOOD)
    assert run_study(fine, progress=words).frame[TIMES].notna().all(axis=None) and "timings" not in words.text


def test_workers_and_threads_share_the_cores(monkeypatch):
    from experiments.execution.executors import LocalExecutor

    monkeypatch.setattr("joblib.cpu_count", lambda: 8)

    def executor(n_cells=100, **launcher):
        made = LocalExecutor(launcher, n_cells)
        return made.n_workers, made.n_threads

    assert executor() == (8, 1) and executor(n_workers=2) == (2, 4) and executor(n_threads=4) == (2, 4)
    assert executor(n_workers=8, n_threads=2) == (8, 2)  # what is asked for, with no timings then
    assert executor(n_cells=3) == (3, 2) and executor(n_cells=1) == (2, 4) and executor(n_workers=1) == (1, 8)


# --- results that cannot be written ---


@pytest.mark.parametrize("below", ["file", "/proc"])
def test_a_results_folder_that_cannot_be_written_to_is_said_before_the_first_cell(tmp_path, below):
    log = tmp_path / "log"
    (tmp_path / "file").write_text("not a folder")
    results = tmp_path / "file" / "results" if below == "file" else "/proc/results"
    config = cheap.config(results, cheap.function("logged", log=str(log)))
    with pytest.raises(BadInputError, match=r"cannot be written to: .*\n.*paths.results=FOLDER") as error:
        run_study([config], progress=Listening())
    assert str(results) in str(error.value) and not log.exists()


def in_the_way(kind, place):
    """Put something that is no folder at a place; return where to write instead."""
    if kind == "device":
        return Path("/dev/null")
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(place))
    elif kind == "link that leads nowhere":
        place.symlink_to(place.with_name("nowhere"))
    else:
        place.write_text("not a folder")
    return place


@pytest.mark.parametrize("below", ["", "below", "rows"])
@pytest.mark.parametrize("program", [["run"], ["run", "status"], ["report"]], ids=" ".join)
@pytest.mark.parametrize("kind", ["file", "device", "pipe", "socket", "link that leads nowhere"])
def test_results_that_are_no_folder_are_said_in_one_line(tmp_path, monkeypatch, capsys, kind, program, below):
    monkeypatch.chdir(tmp_path)  # a socket's name must be short
    taken = in_the_way(kind, Path("taken"))
    results = taken / "below" if below == "below" else taken
    if below == "rows":
        results = Path("results")
        results.mkdir()
        (results / "rows").symlink_to(taken.absolute())
    start, *more = program
    code = getattr(main, start)([*more, "dataset=wine", "ranker=anova_f", f"paths.results={results}"])
    out, errors = capsys.readouterr()
    said, instead = errors.splitlines()
    assert (code, out, instead) == (2, "", "name another one with paths.results=FOLDER")
    shown = "link that leads nowhere" if "link" in kind else kind
    folder = results.absolute() / ("rows" if below == "rows" else "")
    assert said.startswith(
        f"error: the results folder {folder} cannot be written to: there is a {shown} of that name"
    )


def test_a_link_to_a_folder_is_a_folder(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    check_folder(tmp_path / "link" / "new" / "newer", "results")
    (tmp_path / "link" / "new").write_text("")
    with pytest.raises(BadInputError, match=r"there is a file of that name \(.*link/new\)\nname another one"):
        check_folder(tmp_path / "link" / "new" / "newer", "results")


def test_nothing_is_left_of_notes_and_shelved_data(tmp_path):
    result = run_study(study(tmp_path, GOOD, n_workers=2), progress=Listening())
    assert result.exit_code == 0 and not np.isnan(result.frame["aurf1_micro"]).any()
    kept = {path.name for path in (tmp_path / "results").iterdir()}
    assert kept - {"score_cache"} == {"rows"}, "scores that are known stay"
