"""Fits in a process of their own: stopped by a limit, ended by themselves, and otherwise as anywhere."""

import os
import subprocess
import sys
import time

import cheap
import psutil
import pytest
from folders import PROJECT_ROOT, SEARCH_PATH
from studies import patient

from experiments.rankers import isolation
from experiments.rankers.fitting import FitEnded, Here, Limits, described
from experiments.rankers.isolation import SubprocessFitter
from experiments.store.rows import settled

pytestmark = pytest.mark.usefixtures("forked_fitters")

DATA = cheap.blobs()
X, Y = DATA.X, DATA.labels


@pytest.fixture
def fitter():
    made = []

    def make(seconds=None, memory_mib=None):
        made.append(SubprocessFitter(Limits(seconds, memory_mib)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def fit(fitter, name, **settings):
    return fitter.fit(cheap.function(name, **settings), X, Y, 7)


def gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def wait_until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_a_fit_elsewhere_is_the_same_fit(fitter):
    there, here = fitter(seconds=60, memory_mib=4000), Here()
    for name in ("between", "chance", "noisy"):
        far, near = fit(there, name), fit(here, name)
        assert far.result.weights.tobytes() == near.result.weights.tobytes()
        assert far.warnings == near.warnings and (name == "noisy") == bool(far.warnings)
        assert far.result.fit_seconds >= 0
    assert there.process not in (os.getpid(), None) and here.process == os.getpid()
    forest = {"_target_": "sklearn.ensemble.RandomForestClassifier", "n_estimators": 5, "random_state": None}
    one, other = (each.fit(forest, X, Y, 3).result.weights for each in (there, here))
    assert one.tobytes() == other.tobytes()


def test_one_process_serves_many_fits_and_closing_ends_it(fitter):
    there = fitter()
    first = there.process
    fit(there, "between")
    fit(there, "level")
    assert there.process == first
    there.close()
    assert gone(first)
    assert fit(there, "between").result.weights.shape == (6,) and there.process != first


def test_a_fit_past_its_time_is_stopped_with_its_children_and_the_next_one_runs(fitter, tmp_path):
    there, pids = fitter(seconds=2.0), tmp_path / "pids"
    fit(there, "between")  # the start of the process is not in the time
    start = time.monotonic()
    with pytest.raises(FitEnded, match=r"Timeout: .* after 2 s \(launcher.time_limit_seconds\)") as stopped:
        fit(there, "endless", pids=str(pids))
    assert 2.0 <= time.monotonic() - start < patient(10.0)
    assert stopped.value.status == "timeout"
    fitting, child = map(int, pids.read_text().split())
    assert wait_until(lambda: gone(fitting) and gone(child))
    assert fit(there, "between").result.weights.shape == (6,)


@pytest.mark.parametrize(("ranker", "settings"), [("hungry", {"mib": 3000}), ("hungry_child", {})])
def test_a_fit_past_its_memory_is_stopped(fitter, ranker, settings):
    there = fitter(memory_mib=500)
    fit(there, "between")
    with pytest.raises(FitEnded, match=r"OutOfMemory: .* the limit being 500 MiB") as stopped:
        fit(there, ranker, **settings)
    assert stopped.value.status == "out_of_memory"
    assert fit(there, "between").result.weights.shape == (6,)


def test_memory_below_the_limit_is_let_be(fitter):
    there = fitter(memory_mib=1500)
    fitted = fit(there, "hungry", mib=300, seconds=0.3)
    assert fitted.result.weights.shape == (6,)
    assert fitted.peak_memory_mib is None or 300 < fitted.peak_memory_mib < 1500


@pytest.mark.parametrize(
    ("ranker", "words"),
    [
        ("deadly", "ProcessDied: the process of the ranker was ended by signal SIGKILL"),
        ("leaving", "ProcessDied: the process of the ranker ended itself with exit code 3"),
        ("broken", "ValueError: boom"),
        ("quitting", "SystemExit: 3"),
        ("unusual", "Unusual: not today"),
        ("interrupting", "KeyboardInterrupt: by itself"),
        ("nan", "RankerError: nan gave 6 of 6 weights that are not finite"),
    ],
)
def test_what_goes_wrong_is_said_and_the_next_fit_runs(fitter, ranker, words):
    there = fitter()
    with pytest.raises(FitEnded) as ended:
        fit(there, ranker)
    assert ended.value.error.startswith(words) and ended.value.status == "failed"
    assert fit(there, "between").result.weights.shape == (6,)


def test_a_ranker_that_cannot_be_made_in_time_is_stopped_and_the_next_fit_runs(fitter, tmp_path, monkeypatch):
    there, flag = fitter(seconds=60.0), tmp_path / "flag"
    flag.touch()
    hanging = {"_target_": "cheap.HangingAtFirst", "flag": str(flag)}
    fit(there, "between")
    first = there.process
    there.limits = Limits(1.0)
    monkeypatch.setattr(isolation, "MAKING_SECONDS", 3.0)
    with pytest.raises(FitEnded, match=r"Timeout: making the ranker was stopped after 3 s") as stopped:
        there.fit(hanging, X, Y, 7)
    there.limits = Limits(60.0)
    assert stopped.value.status == "timeout" and not stopped.value.made and gone(first)
    flag.unlink()
    made = there.fit(hanging, X, Y, 7).result.weights
    assert made.tobytes() == fit(Here(), "between").result.weights.tobytes()


def test_the_clock_of_the_fit_starts_with_the_fit(fitter, tmp_path, monkeypatch):
    """Each answer is waited for under its own limit: 60 s for making, whatever the fit may take."""
    there, asked = fitter(seconds=1.0), []
    wait = there._wait

    def patient(seconds, memory, what):
        asked.append((what, seconds))
        return wait(600.0, memory, what)

    monkeypatch.setattr(there, "_wait", patient)
    there.fit({"_target_": "cheap.SlowToMake", "seconds": 0.0, "log": str(tmp_path / "log")}, X, Y, 7)
    assert asked == [("making the ranker", 60.0), ("the fit", 1.0)]
    asked.clear()
    with pytest.raises(FitEnded, match="cannot be made: TypeError") as ended:
        there.fit({"_target_": "cheap.SlowToMake", "seconds": "long"}, X, Y, 7)
    assert asked == [("making the ranker", 60.0)] and ended.value.status == "failed" and ended.value.made
    there.limits = Limits(90.0)
    asked.clear()
    fit(there, "between")
    assert asked == [("making the ranker", 90.0), ("the fit", 90.0)]


def test_what_a_ranker_prints_or_reads_is_not_taken_for_an_answer(fitter, capfd):
    there = fitter()
    expected = fit(Here(), "between").result.weights
    for _ in range(2):
        assert fit(there, "talkative").result.weights.tobytes() == expected.tobytes()
    there.close()
    out, err = capfd.readouterr()
    assert out == "" and err.count("a line") == 2


def test_the_process_ends_with_the_one_that_keeps_it(tmp_path):
    script = (
        "from experiments.rankers.fitting import Limits\n"
        "from experiments.rankers.isolation import SubprocessFitter\nimport cheap\n"
        "data, fitter = cheap.blobs(), SubprocessFitter(Limits(600))\n"
        f"fitter.fit(cheap.function('endless', pids={str(tmp_path / 'pids')!r}), data.X, data.labels, 0)\n"
    )
    environment = {**os.environ, "PYTHONPATH": SEARCH_PATH}
    with subprocess.Popen([sys.executable, "-c", script], env=environment, cwd=PROJECT_ROOT) as process:
        assert wait_until(lambda: (tmp_path / "pids").exists() and (tmp_path / "pids").read_text())
        process.kill()
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        assert wait_until(lambda pid=pid: gone(pid))


def test_memory_that_the_system_refuses_is_out_of_memory_without_a_limit_too():
    with pytest.raises(MemoryError) as refused:
        fit(Here(), "refused")
    assert described(refused.value)["status"] == "out_of_memory"
    assert described(KeyError("x")) == {"status": "failed", "error": "KeyError: 'x'"}
    assert len(described(ValueError("x" * 9000))["error"]) == 2000


def test_a_limit_settles_a_fold_until_it_is_raised():
    def row(status, seconds=None, mib=None):
        return {"status": status, "time_limit_seconds": seconds, "memory_limit_mib": mib}

    def is_last(row, limits):
        return settled(row, limits.seconds, limits.memory_mib)

    assert is_last(row("ok"), Limits()) and not is_last(row("failed"), Limits(1, 1))
    assert is_last(row("timeout", 10.0), Limits(10)) and is_last(row("timeout", 10.0), Limits(5))
    assert not is_last(row("timeout", 10.0), Limits(11)) and not is_last(row("timeout", 10.0), Limits())
    assert not is_last(row("timeout", 10.0), Limits(None, 99))
    assert is_last(row("out_of_memory", None, 800.0), Limits(5, 800))
    assert not is_last(row("out_of_memory", None, 800.0), Limits(5, 801))
    assert not is_last(
        row("out_of_memory"), Limits(5, 801)
    )  # refused by the system, on some other machine perhaps
    assert not Limits() and Limits(1) and Limits(None, 1)
