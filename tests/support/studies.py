"""Start, watch and compare studies that run in processes of their own (``study_process``)."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import cheap
import programs
import psutil
import pyarrow.parquet as pq
from folders import PROJECT_ROOT, SEARCH_PATH
from listening import Listening, text_of
from study_process import SETTINGS

from experiments.execution.runner import run_study
from experiments.store.store import Store

_UNDISTURBED = {}


def start(results, *, environment=None, **settings):
    """Start a study in a session of its own: a signal to the group is like a key on a terminal."""
    results.parent.mkdir(parents=True, exist_ok=True)
    return programs.start(
        [sys.executable, "-m", "study_process", str(results), json.dumps(settings)],
        env={
            **os.environ,
            "PYTHONPATH": SEARCH_PATH,
            # What a killed runner cannot clean up goes with the test's own folder.
            "TMPDIR": str(results.parent),
            **(environment or {}),
        },
        cwd=PROJECT_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(study, timeout=600):
    """Wait for a study that is to end well; return its counts and what it said."""
    output, errors = study.communicate(timeout=timeout)
    assert study.returncode == 0, errors
    return json.loads(output), errors


def undisturbed(folder, function="between", names="abc", n_repeats=4, dataset=None):
    """Run the same study in this process, once for all tests, and return its rows."""
    asked = json.dumps([function, names, n_repeats, dataset])
    if asked in _UNDISTURBED:
        return _UNDISTURBED[asked].copy()
    configs = [
        cheap.config(
            folder / "undisturbed",
            cheap.function(function),
            ranker_key=name,
            n_repeats=n_repeats,
            dataset=dataset or SETTINGS["dataset"],
        )
        for name in names
    ]
    _UNDISTURBED[asked] = run_study(configs, n_workers=1, progress=Listening()).frame
    return _UNDISTURBED[asked].copy()


def done_cells(results):
    """Finished ranking cells: path → (inode, time), which a cell that is run again would change."""
    store = Store(results)
    found = {}
    for path in results.glob("rows/??/*.parquet"):
        table = store.read_table(path.stem)
        if table["kind"][0].as_py() == "ranking" and set(table["status"].to_pylist()) == {"ok"}:
            found[path] = (path.stat().st_ino, path.stat().st_mtime_ns)
    assert not store.quarantined
    return found


def numbers_of(frame):
    """Rows without their keys: where ``logged`` leaves its log is part of the key and changes no number."""
    return text_of(frame.assign(cell_key=""))


def rows_of(results):
    """All rows of finished rankings, in files of their own or in packs, in some order."""
    store = Store(results)
    keys = {path.stem for path in done_cells(results)}
    for path in results.glob("rows/packs/*.parquet"):
        keys |= set(pq.read_table(path, columns=["cell_key"])["cell_key"].to_pylist())
    frames = [store.read(key) for key in sorted(keys)]
    whole = [each for each in frames if each["kind"].iloc[0] == "ranking" and (each["status"] == "ok").all()]
    assert not store.quarantined
    return sorted(text for frame in whole for text in numbers_of(frame))


def patient(seconds):
    """Return how long something may take that takes so long on an idle machine, on this one as busy as it is."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return seconds * max(1.0, 2.0 * load / (os.cpu_count() or 1))


def wait_for(condition, seconds=120.0):
    """Wait until a condition holds; say whether it does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


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


def family(study):
    """All processes below a study's."""
    try:
        return psutil.Process(study.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def at_cell(study):
    """Those of them that are at a cell, by their notes."""
    found = []
    for path in Path(study.args[3]).glob("running/*/*.json"):
        if path.name != "runner.json":
            try:
                found.append(psutil.Process(json.loads(path.read_text())["process"]))
            except (OSError, ValueError, psutil.NoSuchProcess):
                continue
    return found
