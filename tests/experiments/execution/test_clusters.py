"""Studies on dask: on this machine, on a scheduler that runs already, and through SLURM's commands."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import cheap
import programs
import pytest
from folders import SEARCH_PATH
from listening import Listening
from studies import (
    PROJECT_ROOT,
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

import experiments.execution
from experiments.cli import main
from experiments.config.compose import compose_runs
from experiments.errors import ConfigError, LauncherError
from experiments.execution.executors import executor_for
from experiments.execution.runner import run_study

pytestmark = pytest.mark.cluster

DASK = {"backend": "dask", "n_workers": 2}
N_CELLS = 12
#: Rankers that take so long per fold that someone can be killed meanwhile.
SLOW = {"function": "slow", "ranker": {"seconds": 0.2, "tag": "{name}"}}


@pytest.fixture
def background():
    """Start programs of dask that end with the test."""
    started = []

    def run(*arguments):
        environment = {
            **os.environ,
            "PYTHONPATH": SEARCH_PATH,
        }
        process = programs.start(
            [sys.executable, "-m", *map(str, arguments)],
            env=environment,
            cwd=PROJECT_ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def scheduler(background, folder, n_threads=1, n_workers=2):
    """Start a scheduler and workers; return its process and address."""
    file = folder / f"scheduler-{time.monotonic_ns()}.json"
    process = background(
        "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard",
        "--dashboard-address", "127.0.0.1:0", "--scheduler-file", file,
    )  # fmt: skip
    assert wait_for(lambda: file.exists() and file.read_text())
    address = json.loads(file.read_text())["address"]
    if n_workers:
        background(
            "distributed.cli.dask_worker", address, "--nthreads", n_threads, "--nworkers", n_workers,
            "--host", "127.0.0.1", "--no-dashboard", "--death-timeout", 60, "--local-directory", folder,
        )  # fmt: skip
        from distributed import Client

        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=300)
    return process, address


def expected(tmp_path):
    return sorted(numbers_of(undisturbed(tmp_path)))


def test_a_cluster_on_this_machine_gives_the_same_rows(tmp_path):
    rankers = {
        "chance": cheap.function("chance"),
        "between": cheap.function("between"),
        "forest": {
            "_target_": "sklearn.ensemble.RandomForestClassifier",
            "n_estimators": 5,
            "random_state": None,
        },
    }

    def study(folder, launcher):
        return [
            cheap.config(tmp_path / folder, ranker, ranker_key=name, n_repeats=3, launcher=launcher)
            for name, ranker in rankers.items()
        ]

    words = Listening()
    there = run_study(study("there", DASK), progress=words)
    here = run_study(study("here", {"n_workers": 1}), progress=Listening())
    assert (
        there.exit_code == 0 and there.counts.ran == 9 and words.lines[0].startswith("9 of 9 cells missing")
    )
    assert numbers_of(there.frame) == numbers_of(here.frame)
    assert (there.frame["n_threads"] == 1).all()
    assert not (tmp_path / "there" / "running").exists()


def test_the_cell_of_a_dask_worker_that_is_killed_is_done_elsewhere(tmp_path):
    results = tmp_path / "results"
    study = start(results, launcher=DASK, **SLOW)
    assert wait_for(lambda: at_cell(study) and len(done_cells(results)) >= 1)
    time.sleep(0.1)
    victim = alive(at_cell(study))[0]
    victim.kill()
    counts, errors = finish(study)
    # It may have been killed between writing its cell and saying so: then the one who is given it finds it done.
    assert counts["found"] in (0, 1) and counts["ran"] + counts["found"] == N_CELLS
    assert (counts["cells"], counts["missing"], counts["lost"]) == (N_CELLS, N_CELLS, 0)
    assert not alive([victim]) and "failed" not in errors and "died" not in errors
    assert rows_of(results) == expected(tmp_path)


def test_a_ranker_that_kills_every_dask_worker_it_meets_fails_and_the_others_finish(tmp_path):
    configs = [
        cheap.config(tmp_path / "results", cheap.function(name), ranker_key=name, n_repeats=n, launcher=DASK)
        for name, n in (("deadly", 1), ("between", 4))
    ]
    result = run_study(configs, progress=Listening())
    assert result.frame.groupby("ranker")["status"].agg(list).to_dict() == {
        "deadly": ["failed"] * 3,
        "between": ["ok"] * 12,
    }
    assert all("SIGKILL" in each.error for each in result.failures) and result.counts.lost == 0


def test_limits_hold_on_dask_too(tmp_path):
    launcher = {**DASK, "time_limit_seconds": 2.0}
    configs = [
        cheap.config(tmp_path / "results", cheap.function(name), ranker_key=name, launcher=launcher)
        for name in ("endless", "between")
    ]
    result = run_study(configs, progress=Listening())
    assert result.frame["status"].tolist() == ["timeout"] * 3 + ["ok"] * 3


def test_a_lost_scheduler_is_a_clear_error_and_nothing_is_lost(tmp_path, background):
    results = tmp_path / "results"
    process, address = scheduler(background, tmp_path)
    study = start(results, launcher={"backend": "dask", "scheduler": address}, **SLOW)
    assert wait_for(lambda: len(done_cells(results)) >= 2)
    before = done_cells(results)
    process.kill()
    began = time.monotonic()
    output, errors = study.communicate(timeout=300)
    assert time.monotonic() - began < patient(20)
    assert study.returncode == 2 and output == "" and "Traceback" not in errors
    assert re.search(r"error: the connection to the dask scheduler is lost; finished cells are kept", errors)
    assert re.search(r"broken off; \d+ cells? finished and kept in .*, \d+ cells? left: the same", errors)
    _, address = scheduler(background, tmp_path)
    counts, _ = finish(start(results, launcher={"backend": "dask", "scheduler": address}, **SLOW))
    assert counts["lost"] == 0 and counts["missing"] <= N_CELLS - len(before)
    after = done_cells(results)
    assert {path: after[path] for path in before} == before
    assert rows_of(results) == expected(tmp_path)


def test_ctrl_c_ends_a_study_on_dask_within_five_seconds(tmp_path):
    results = tmp_path / "results"
    study = start(results, launcher=DASK, function="endless", ranker={"tag": "{name}"})
    assert wait_for(lambda: len(at_cell(study)) == 2)
    time.sleep(1.0)
    children = family(study)
    began = time.monotonic()
    os.killpg(study.pid, signal.SIGINT)
    output, errors = study.communicate(timeout=300)
    assert time.monotonic() - began < patient(5)
    assert study.returncode == 130 and output == "" and "Traceback" not in errors
    assert "stopped; 0 cells finished" in errors and "the same command continues" in errors
    assert wait_for(lambda: not alive(children))


def test_a_scheduler_that_is_not_there_or_not_as_needed_is_said(tmp_path, background):
    with pytest.raises(
        LauncherError, match=r"no dask scheduler answers at tcp://127.0.0.1:1 \(launcher.scheduler\)"
    ):
        executor_for({"backend": "dask", "scheduler": "tcp://127.0.0.1:1"}, 5, print)
    _, address = scheduler(background, tmp_path, n_workers=0)
    with pytest.raises(LauncherError, match=f"the dask scheduler {address} has no workers yet"):
        executor_for({"backend": "dask", "scheduler": address}, 5, print)
    _, address = scheduler(background, tmp_path, n_threads=2, n_workers=1)
    with pytest.raises(ConfigError, match="start them with --nthreads 1"):
        executor_for({"backend": "dask", "scheduler": address}, 5, print)


# --- SLURM ---

SBATCH = """#!/usr/bin/env bash
for script; do :; done
cp "$script" "$FAKE_SLURM/job.$$"
grep -q '^#SBATCH' "$script" || exit 1
setsid bash "$FAKE_SLURM/job.$$" > "$FAKE_SLURM/log.$$" 2>&1 < /dev/null &
echo "Submitted batch job $!"
"""
SCANCEL = """#!/usr/bin/env bash
echo "$@" >> "$FAKE_SLURM/cancelled"
for job; do kill -KILL -- "-$job"; done
"""
REFUSE = """#!/bin/sh
echo "sbatch: error: invalid account" >&2
exit 1
"""
SLURM = {
    "backend": "slurm",
    "n_workers": 2,
    "cluster": {"memory": "2GB", "interface": "lo", "account": "physics"},
}


def slurm(tmp_path, sbatch=SBATCH):
    """Put commands like SLURM's on the path; a job runs here at once."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, text in (("sbatch", sbatch), ("scancel", SCANCEL)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "FAKE_SLURM": str(folder)}


def test_jobs_of_slurm_do_the_cells_and_are_cancelled_afterwards(tmp_path):
    results, environment = tmp_path / "results", slurm(tmp_path)
    study = start(results, environment=environment, launcher=SLURM, **SLOW)
    counts, errors = finish(study)
    assert counts == {"cells": N_CELLS, "missing": N_CELLS, "ran": N_CELLS, "found": 0, "lost": 0}
    assert "waiting for SLURM to start the first worker" in errors
    assert rows_of(results) == expected(tmp_path)
    jobs = [path.read_text() for path in (tmp_path / "slurm").glob("job.*")]
    assert len(jobs) == 2
    for text in jobs:
        assert (
            "#SBATCH -A physics" in text
            and "#SBATCH --mem=2G" in text
            and "#SBATCH --cpus-per-task=1" in text
        )
        assert "export NUMBA_NUM_THREADS=1" in text
    assert len((tmp_path / "slurm" / "cancelled").read_text().split()) >= 1
    store_of_jobs = [
        path for path in results.rglob("*") if path.is_file() and path.suffix not in (".parquet", ".scores")
    ]
    assert store_of_jobs == []


def test_a_job_of_slurm_that_ends_early_is_replaced(tmp_path):
    results, environment = tmp_path / "results", slurm(tmp_path)
    one = {**SLURM, "n_workers": 1}
    study = start(results, environment=environment, launcher=one, **SLOW)
    assert wait_for(lambda: at_cell(study) and len(done_cells(results)) >= 1)
    os.killpg(os.getpgid(alive(at_cell(study))[0].pid), signal.SIGKILL)
    counts, _ = finish(study)
    assert counts["lost"] == 0 and counts["ran"] + counts["found"] == N_CELLS
    assert len(list((tmp_path / "slurm").glob("job.*"))) == 2
    assert rows_of(results) == expected(tmp_path)


def test_a_job_that_slurm_refuses_is_said_with_its_words(tmp_path):
    study = start(tmp_path / "results", environment=slurm(tmp_path, REFUSE), launcher=SLURM, **SLOW)
    output, errors = study.communicate(timeout=300)
    assert study.returncode == 2 and output == "" and "Traceback" not in errors
    assert "error: SLURM does not take the job" in errors and "sbatch: error: invalid account" in errors


def test_what_slurm_needs_is_said_before_anything_is_submitted(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LauncherError, match="needs SLURM's command sbatch"):
        executor_for(SLURM, 5, print)
    for key, value in slurm(tmp_path).items():
        monkeypatch.setenv(key, value)
    with pytest.raises(ConfigError, match=r"launcher\.n_workers="):
        executor_for({**SLURM, "n_workers": None}, 5, print)
    with pytest.raises(ConfigError, match=r"launcher\.cluster\.memory="):
        executor_for({**SLURM, "cluster": {"memory": None}}, 5, print)
    with pytest.raises(ConfigError, match=r"launcher\.cluster: .*quue"):
        executor_for({**SLURM, "cluster": {"memory": "1GB", "quue": "long"}}, 5, print)
    assert not list((tmp_path / "slurm").glob("job.*"))


# --- choosing ---


def test_launchers_are_chosen_and_set_on_the_command_line():
    (config,) = compose_runs(
        ["launcher=slurm", "launcher.n_workers=40", "launcher.cluster.memory=8GB"]
    ).configs
    launcher = config["launcher"]
    assert (launcher["backend"], launcher["n_workers"], launcher["cluster"]["memory"]) == ("slurm", 40, "8GB")
    (config,) = compose_runs(["launcher=dask", "launcher.scheduler=tcp://host:8786"]).configs
    assert config["launcher"]["backend"] == "dask" and config["launcher"]["scheduler"] == "tcp://host:8786"
    (config,) = compose_runs(["launcher.time_limit_seconds=60", "launcher.memory_limit_mib=4000"]).configs
    assert (config["launcher"]["time_limit_seconds"], config["launcher"]["memory_limit_mib"]) == (60, 4000)
    assert config["ranker_key"] == "reliefe_absmean_adaptive" and config["protocol"]["name"] == "quick"
    with pytest.raises(ConfigError, match="launcher"):
        compose_runs(["launcher=loki"])
    with pytest.raises(ConfigError, match=r"launcher\.backend"):
        executor_for({"backend": "lokky"}, 5, print)


def test_a_launcher_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.delattr(experiments.execution, "dask", raising=False)
    monkeypatch.setitem(sys.modules, "experiments.execution.dask", None)
    with pytest.raises(ConfigError, match=r"launcher=dask needs .*pip install 'reliefe-bench\[cluster\]'"):
        executor_for({"backend": "dask"}, 5, print)


def test_dask_workers_that_die_while_they_start_are_said_in_one_line(tmp_path, capsys, monkeypatch):
    deadly = tmp_path / "deadly.py"
    deadly.write_text("import os\nos._exit(3)\n")
    launcher = {**DASK, "n_workers": 1, "cluster": {"preload": str(deadly)}}
    with pytest.raises(LauncherError) as caught:
        executor_for(launcher, 5, print)

    def run_study(*arguments, **settings):
        raise caught.value

    monkeypatch.setattr("experiments.execution.runner.run_study", run_study)
    assert main.run(["dataset=wine", "ranker=anova_f", f"paths.results={tmp_path / 'results'}"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: workers of dask died while they started: ")
