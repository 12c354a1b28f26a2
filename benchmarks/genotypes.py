"""Genotypes: races against fast-select, and what a cohort takes in seconds and memory."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np

from benchmarks.own import EXACT_MEMORY, MIB, _result
from benchmarks.processes import Worker
from benchmarks.races import goal, said, summary
from benchmarks.workloads import SEED, Check, Contender, Data, K, Workload, ours

_MULTISURF = {"ranker": "MultiSURF"}
_LARGE_GOALS = {"ReliefF": 12.0, "MultiSURF": 25.0}
_MOST_MEMORY = 0.4 * 1000**3 / MIB
_HUGE_TOTAL = 8 * 1000**3 / MIB


def genotypes(n, p):
    """Draw copies of an allele, 0, 1 or 2, of frequency 0.05 to 0.5, one byte each; the classes say nothing."""
    rng = np.random.default_rng(SEED)
    frequency = rng.uniform(0.05, 0.5, p).astype(np.float32)
    X = np.empty((n, p), dtype=np.int8)
    for row in X:
        np.add(*((rng.random(p, dtype=np.float32) < frequency).view(np.int8) for _ in range(2)), out=row)
    return Data(X, rng.integers(0, 2, size=n), f"random genotypes, int8, {n:,} x {p:,}, 2 classes")


def race_workloads(tiny=False):
    """Return the races on genotypes, by name; a fit of fast-select takes a minute or more and is timed once."""
    n, p = (60, 300) if tiny else (1000, 100_000)
    found = {}
    for name, settings, theirs in (
        ("genotypes", ours(), {"parameters": {"n_neighbors": K, "discrete_limit": 0}}),
        ("multisurf_genotypes", _MULTISURF, {**_MULTISURF, "parameters": {"discrete_limit": 0}}),
    ):
        found[name] = Workload(
            f"{settings.get('ranker', 'ReliefF')}, genotypes",
            lambda: {"timed": genotypes(n, p)},
            [
                Contender("ours", "ours", settings),
                Contender("fast_select, all continuous", "fast_select", theirs, goal=60, once_above=10.0),
            ],
            lambda data, settings=settings, theirs=theirs: [
                Check(
                    "fast_select",
                    "fast_select",
                    "timed",
                    "one definition but for ties, of which genotypes are full: exact with us, decided by single "
                    "precision here",
                    None,
                    theirs,
                    settings,
                )
            ],
        )
    return found


def cohort(*, pythons, threads, repeats, folder, tiny):
    """Seconds and peak memory of a cohort of 2,350 x 230,000."""
    data = genotypes(*((60, 900) if tiny else (2350, 230_000)))
    path = data.write(Path(folder) / "cohort.npz")
    times, goals = [], []
    for ranker, seconds_wanted in _LARGE_GOALS.items():
        said(f"  {ranker}")
        settings = ours() if ranker == "ReliefF" else {"ranker": ranker}
        with Worker("ours", pythons["ours"], threads, **EXACT_MEMORY) as worker:
            worker.open(path, settings, warm_up=400)
            answers = [worker.ask("peak") for _ in range(repeats)]
        seconds = [each["seconds"] for each in answers]
        peaks = [each["peak_bytes"] for each in answers if each["peak_bytes"] is not None]
        times.append(summary(ranker, seconds))
        goals += [
            goal(f"{ranker}, seconds", seconds_wanted, statistics.median(seconds), at_least=False),
            goal(
                f"{ranker}, peak above the data, MiB",
                _MOST_MEMORY,
                max(peaks) / MIB if peaks else None,
                at_least=False,
            ),
        ]
    return _result(
        "A cohort of genotypes",
        {"timed": data.description},
        times=times,
        goals=goals,
        notes=[f"The data are {data.X.nbytes / MIB:,.0f} MiB."],
    )


def huge(*, pythons, threads, repeats, folder, tiny):
    """5,000 x 500,000 within 8 GB in all, one fit each."""
    data = genotypes(*((60, 900) if tiny else (5000, 500_000)))
    path = data.write(Path(folder) / "huge.npz")
    held = data.X.nbytes / MIB
    del data.X
    times, goals = [], []
    for ranker in _LARGE_GOALS:
        said(f"  {ranker}")
        settings = ours() if ranker == "ReliefF" else {"ranker": ranker}
        with Worker("ours", pythons["ours"], threads, **EXACT_MEMORY) as worker:
            worker.open(path, settings, warm_up=400)
            answer = worker.ask("peak")
        times.append(summary(ranker, [answer["seconds"]]))
        above = answer["peak_bytes"]
        goals.append(
            goal(
                f"{ranker}, data and peak above them, MiB",
                _HUGE_TOTAL,
                None if above is None else held + above / MIB,
                at_least=False,
            )
        )
    return _result("Half a million variants", {"timed": data.description}, times=times, goals=goals)


def genotypes_two_threads(*, pythons, threads, repeats, folder, tiny):
    """One thread against two, in turn."""
    data = genotypes(*((60, 900) if tiny else (1000, 100_000)))
    path = data.write(Path(folder) / "genotypes.npz")
    times, goals = [], []
    for ranker in _LARGE_GOALS:
        settings = ours() if ranker == "ReliefF" else {"ranker": ranker}
        seconds = {1: [], 2: []}
        with Worker("ours", pythons["ours"], 1) as one, Worker("ours", pythons["ours"], 2) as two:
            for worker in (one, two):
                worker.open(path, settings)
            for _ in range(repeats):
                seconds[1].append(one.ask("fit")["seconds"])
                seconds[2].append(two.ask("fit")["seconds"])
        times += [summary(f"{ranker}, {each} thread{'s' * (each > 1)}", seconds[each]) for each in (1, 2)]
        ratio = statistics.median(seconds[1]) / statistics.median(seconds[2])
        ratios = [a / b for a, b in zip(seconds[1], seconds[2], strict=True)]
        row = goal(f"{ranker}: 1 thread / 2 threads", 1.7, ratio, at_least=True)
        goals.append({**row, "least": min(ratios), "most": max(ratios)})
    return _result(
        "Genotypes on one and on two threads", {"timed": data.description}, times=times, goals=goals
    )


MEASUREMENTS = {"cohort": cohort, "huge": huge, "genotypes_two_threads": genotypes_two_threads}
