"""Time implementations in turn, each in a process of its own, and compare their weights."""

from __future__ import annotations

import statistics
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.agreement import compare
from benchmarks.processes import Worker, WorkerError

QUICK_SECONDS = 4.0  # implementations this quick are timed more often than asked for
MOST_ROUNDS = 25


def said(text):
    """Show progress on the error stream."""
    print(text, file=sys.stderr, flush=True)


def summary(name, seconds, **extra):
    """Return median, spread and number of timed fits as a row of the results."""
    return {
        "name": name,
        "median_seconds": statistics.median(seconds),
        "least_seconds": min(seconds),
        "most_seconds": max(seconds),
        "runs": len(seconds),
        "seconds": list(seconds),
        "absent": None,
        **extra,
    }


def absent(name, reason):
    """Return the row of an implementation that is not there."""
    return {
        "name": name,
        "median_seconds": None,
        "least_seconds": None,
        "most_seconds": None,
        "runs": 0,
        "seconds": [],
        "absent": reason,
        "warm_up_seconds": None,
        "notes": {},
    }


def goal(text, wanted, measured, *, at_least):
    """Return a row of goals; ``met`` is None where nothing was measured."""
    met = None if measured is None else bool(measured >= wanted if at_least else measured <= wanted)
    return {"goal": text, "wanted": wanted, "at_least": at_least, "measured": measured, "met": met}


def run_race(workload, *, pythons, threads, repeats, folder):
    """Run one workload.

    Parameters
    ----------
    workload : benchmarks.workloads.Workload
        What to run.
    pythons : dict of str to str
        Implementation → path of the Python it runs in; None or missing where there is none.
    threads : int
        Number of threads of every implementation.
    repeats : int
        Least number of timed fits.
    folder : Path
        For the data, which every process reads from the same files.

    Returns
    -------
    dict
        ``title``, ``data``, ``times``, ``goals``, ``agreement``, ``notes``, ``versions``.
    """
    data = workload.data()
    paths = {name: each.write(Path(folder) / f"{name}.npz") for name, each in data.items()}
    notes = []
    contenders = workload.contenders
    if workload.record_umap:
        calls = str(Path(folder) / "calls.pickle")
        with Worker("ours", pythons["ours"], threads) as recorder:
            settings = {**contenders[0].settings, "record_umap": calls}
            recorder.open(paths["timed"], settings, warm_up=False)
            precomputed = recorder.ask("fit")["notes"]["precomputed"]
        # Without neighbours handed over, the plain calls are the same calls.
        contenders = [
            replace(each, settings={**each.settings, "calls": calls}) if "plain" in each.settings else each
            for each in contenders
            if precomputed or each.settings.get("plain", True)
        ]
    with ExitStack() as stack:
        workers, rows, versions, missing = {}, {}, {}, {}
        for each in contenders:
            said(f"  {each.name}: warm-up")
            try:
                workers[each.name], row = _ready(each, paths["timed"], pythons, threads, stack, versions)
                rows[each.name] = row
            except WorkerError as error:
                missing[each.name] = str(error)
                said(f"  {each.name}: ABSENT ({error})")
        seconds, last = _rounds(contenders, workers, missing, repeats)
        times = [
            summary(each.name, seconds[each.name], **rows[each.name], notes=last[each.name])
            if each.name not in missing
            else absent(each.name, missing[each.name])
            for each in contenders
        ]
        agreement = _agreement(workload, data, paths, workers, missing, folder)
    return {
        "title": workload.title,
        "data": {name: each.description for name, each in data.items()},
        "threads": threads,
        "times": times,
        "goals": _goals(contenders, seconds),
        "agreement": agreement,
        "notes": notes,
        "versions": versions,
    }


def _ready(contender, path, pythons, threads, stack, versions):
    """Start a worker with everything compiled; return it and what its warm-up took."""
    python = pythons.get(contender.implementation)
    if python is None:
        raise WorkerError(f"no Python given for it (--peer-python {contender.implementation}=PATH)")
    if not Path(python).is_file():
        raise WorkerError(f"there is no {python}")
    worker = stack.enter_context(Worker(contender.implementation, python, threads))
    hello = worker.ask("hello")
    versions[contender.name] = hello["versions"]
    # Where one fit takes minutes, a few samples compile as well.
    warm_up = True if contender.once_above == float("inf") else 400
    opened = worker.open(path, contender.settings, contender.storage, warm_up=warm_up)
    return worker, {"warm_up_seconds": opened["warm_up_seconds"], "import_seconds": hello["import_seconds"]}


def _rounds(contenders, workers, missing, repeats):
    """Time fits in turn, A B C A B C, so that a slow minute of the machine hits all alike."""
    seconds = {each.name: [] for each in contenders}
    last = {each.name: {} for each in contenders}
    start = time.perf_counter()
    turn = 0
    while turn < repeats or (turn < MOST_ROUNDS and time.perf_counter() - start < QUICK_SECONDS):
        for each in contenders:
            if each.name in missing or (seconds[each.name] and seconds[each.name][0] > each.once_above):
                continue
            try:
                answer = workers[each.name].ask("fit")
            except WorkerError as error:
                missing[each.name] = str(error)
                said(f"  {each.name}: FAILED ({error})")
                continue
            seconds[each.name].append(answer["seconds"])
            last[each.name] = answer["notes"]
        turn += 1
    return {name: found if name not in missing else [] for name, found in seconds.items()}, last


def _goals(contenders, seconds):
    ours = seconds[contenders[0].name]
    goals = []
    for each in contenders[1:]:
        slower = each.goal is not None
        wanted = each.goal if slower else each.at_most
        if wanted is None:
            continue
        theirs = seconds[each.name]
        text = f"{each.name} / ours" if slower else f"ours / {each.name}"
        above, below = (theirs, ours) if slower else (ours, theirs)
        if not (ours and theirs):
            goals.append(goal(text, wanted, None, at_least=slower))
            continue
        ratio = statistics.median(above) / statistics.median(below)
        # Round by round as well: what the machine did to both at once cancels.
        ratios = [a / b for a, b in zip(above, below, strict=False)]
        row = goal(text, wanted, ratio, at_least=slower)
        goals.append({**row, "least": min(ratios), "most": max(ratios)})
    return goals


def _agreement(workload, data, paths, workers, missing, folder):
    ours = workers.get("ours")
    results = []
    checks = list(workload.checks(data))
    if len(workload.contenders) > 1 and workload.contenders[1].implementation == "ours" and not checks:
        names = [each.name for each in workload.contenders[:2]]
        weights = [_saved(workers[name], Path(folder) / f"{place}.npy") for place, name in enumerate(names)]
        reason = "one definition and exact distances in both storages"
        result = compare(*weights, tolerance=1e-9, reason=reason)
        return [{"peer": names[1], "on": "timed", **result}]
    for each in checks:
        where = {"peer": each.peer, "on": each.on}
        name = next(c.name for c in workload.contenders if c.implementation == each.implementation)
        if name in missing or ours is None or "ours" in missing:
            reason = missing.get(name) or missing.get("ours")
            results.append({**where, "agrees": None, "absent": reason, "reason": each.reason})
            continue
        try:
            weights = []
            for place, (worker, settings) in enumerate(
                ((ours, each.our_settings), (workers[name], each.peer_settings))
            ):
                worker.open(paths[each.on], settings, each.storage, warm_up=False)
                worker.ask("fit")
                weights.append(_saved(worker, Path(folder) / f"{place}.npy"))
        except WorkerError as error:
            results.append({**where, "agrees": None, "absent": str(error), "reason": each.reason})
            continue
        results.append({**where, **compare(*weights, tolerance=each.tolerance, reason=each.reason)})
    return results


def _saved(worker, path):
    worker.ask("save", path=str(path))
    return np.load(path)
