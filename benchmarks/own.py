"""Measurements of this project alone: memory, threads, growth with the data, start."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import workloads
from benchmarks.processes import Worker, environment
from benchmarks.races import goal, said, summary

MIB = 2**20
# glibc hands every larger block back to the system when it is freed, so what a warm-up left behind cannot hide
# what the measured fit needs.
EXACT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "65536"}


def _result(title, data, *, times=(), goals=(), notes=(), **extra):
    return {
        "title": title,
        "data": data,
        "times": list(times),
        "goals": list(goals),
        "agreement": [],
        "notes": list(notes),
        "versions": {},
        **extra,
    }


def failed(name, reason):
    """Return the result of a workload that could not be run."""
    return _result(name, {}, notes=[f"FAILED: {reason}"], failed=reason)


def _peak(path, python, threads, settings=None):
    with Worker("ours", python, threads, **EXACT_MEMORY) as worker:
        worker.open(path, settings or workloads.ours())
        return worker.ask("peak")


def _csr_bytes(X):
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


def memory(*, pythons, threads, repeats, folder, tiny):
    """Peak resident memory of a fit above the data, sparse and dense, each in a new process."""
    rng = np.random.default_rng(workloads.SEED)
    table = workloads.sparse_table(tiny)
    n, p = (400, 20) if tiny else (50_000, 100)
    dense = workloads.Data(
        rng.standard_normal((n, p)),
        rng.integers(0, 2, size=n),
        f"random normal float64, {n} x {p}, 2 classes",
    )
    said("  sparse")
    sparse_answer = _peak(table.write(Path(folder) / "sparse.npz"), pythons["ours"], threads)
    said("  dense")
    dense_answer = _peak(dense.write(Path(folder) / "dense.npz"), pythons["ours"], threads)
    csr = _csr_bytes(table.X)
    n_classes = np.unique(table.y).shape[0]
    neighbours = 8 * table.X.shape[0] * workloads.K * n_classes
    goals, notes = [], []
    if sparse_answer["peak_bytes"] is None:
        notes.append("This system cannot reset the high-water mark of a process: memory was not measured.")
        goals = [
            goal("peak above the data, sparse, MiB", 3 * csr / MIB, None, at_least=False),
            goal("peak above the data, dense, MiB", 1024.0, None, at_least=False),
        ]
    else:
        above = sparse_answer["peak_bytes"] / MIB
        goals = [
            goal(
                "peak above the data, sparse, MiB (3 x CSR + 8 n k classes bytes)",
                (3 * csr + neighbours) / MIB,
                above,
                at_least=False,
            ),
            goal("peak above the data, dense, MiB", 1024.0, dense_answer["peak_bytes"] / MIB, at_least=False),
        ]
        notes.append(
            f"Sparse: the matrix is {csr / MIB:.1f} MiB, three times that {3 * csr / MIB:.1f} MiB; "
            f"n k classes = {table.X.shape[0] * workloads.K * n_classes:,} neighbours, "
            f"{neighbours / MIB:.1f} MiB at 8 bytes each; measured {above:.1f} MiB."
        )
        notes.append(f"Dense: the data are {dense.X.nbytes / MIB:.1f} MiB.")
    return _result(
        "Peak memory of one ReliefF fit, k = 10",
        {"sparse": table.description, "dense": dense.description},
        times=[
            summary("ours, sparse", [sparse_answer["seconds"]]),
            summary("ours, dense", [dense_answer["seconds"]]),
        ],
        goals=goals,
        notes=notes,
    )


def multisurf_sparse(*, pythons, threads, repeats, folder, tiny):
    """Seconds and peak memory of MultiSURF on sparse data: no array of n x n is made."""
    table = workloads.sparse_table(tiny)
    path = table.write(Path(folder) / "sparse.npz")
    settings = {"ranker": "MultiSURF"}
    with Worker("ours", pythons["ours"], threads) as worker:
        worker.open(path, settings)
        seconds = [worker.ask("fit")["seconds"] for _ in range(repeats)]
    peak = _peak(path, pythons["ours"], threads, settings)["peak_bytes"]
    csr, (n, p) = _csr_bytes(table.X), table.X.shape
    allowed = 6 * csr + 16 * 8 * (n + p) + threads * 4 * MIB
    return _result(
        "MultiSURF, sparse data",
        {"timed": table.description},
        times=[summary("ours", seconds)],
        goals=[
            goal("seconds", 60.0, statistics.median(seconds), at_least=False),
            goal(
                "peak above the data, MiB (6 x CSR + 128 (n + p) bytes + 4 MiB a thread)",
                allowed / MIB,
                None if peak is None else peak / MIB,
                at_least=False,
            ),
        ],
        notes=[
            f"The matrix is {csr / MIB:.1f} MiB; an array of n x n numbers would be {8 * n * n / MIB:,.0f} MiB."
        ],
    )


def two_threads(*, pythons, threads, repeats, folder, tiny):
    """One thread against two, in turn."""
    times, goals, described = [], [], {}
    for name, make in (("optdigits", workloads.optdigits), ("wide", workloads.wide)):
        said(f"  {name}")
        data = make(tiny)
        described[name] = data.description
        path = data.write(Path(folder) / f"{name}.npz")
        with Worker("ours", pythons["ours"], 1) as one, Worker("ours", pythons["ours"], 2) as two:
            seconds = {1: [], 2: []}
            for worker in (one, two):
                worker.open(path, workloads.ours())
            for _ in range(max(repeats, 3 * repeats if name == "optdigits" else repeats)):
                seconds[1].append(one.ask("fit")["seconds"])
                seconds[2].append(two.ask("fit")["seconds"])
        times += [
            summary(f"{name}, {each} thread{'s' if each > 1 else ''}", seconds[each]) for each in (1, 2)
        ]
        ratio = statistics.median(seconds[1]) / statistics.median(seconds[2])
        goals.append(goal(f"{name}: 1 thread / 2 threads", 1.7, ratio, at_least=True))
        ratios = [a / b for a, b in zip(seconds[1], seconds[2], strict=True)]
        goals[-1]["least"], goals[-1]["most"] = min(ratios), max(ratios)
    return _result("ReliefF on one and on two threads, k = 10", described, times=times, goals=goals)


def _slope(x, seconds):
    """Slope of the least-squares line of log seconds on log x."""
    return float(np.polyfit(np.log(x), np.log(seconds), 1)[0])


def growth(*, pythons, threads, repeats, folder, tiny):
    """Time against n and p (dense), and against the work of the columns (sparse), with log-log slopes."""
    rng = np.random.default_rng(workloads.SEED)
    series = {"n": [], "p": [], "sparse": []}
    rows = (100, 200, 400) if tiny else (1000, 2000, 4000, 8000, 16_000)
    columns = (50, 100, 200) if tiny else (1000, 2000, 4000, 8000, 16_000, 32_000)
    densities = (0.01, 0.02, 0.04) if tiny else (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
    with Worker("ours", pythons["ours"], threads) as worker:

        def measure(kind, size, X, y):
            path = workloads.Data(X, y, "").write(Path(folder) / "growth.npz")
            worker.open(path, workloads.ours(), warm_up=not series[kind])
            answers = [worker.ask("fit") for _ in range(repeats)]
            row = summary(f"{kind} = {size:,}", [each["seconds"] for each in answers], size=size)
            finding = [
                each["notes"]["phases"].get("distances", 0.0) + each["notes"]["phases"].get("neighbours", 0.0)
                for each in answers
            ]
            row["neighbours_seconds"] = statistics.median(finding)
            series[kind].append(row)
            said(f"  {row['name']}: {row['median_seconds']:.3f} s")

        for n in rows:
            measure("n", n, rng.standard_normal((n, 64)), rng.integers(0, 5, size=n))
        n = 90 if tiny else 800
        for p in columns:
            measure("p", p, rng.standard_normal((n, p)), rng.integers(0, 5, size=n))
        n, p = (150, 300) if tiny else (4000, 10_000)
        y = rng.integers(0, 5, size=n)
        for density in densities:
            X = workloads.random_sparse(n, p, density, rng)
            work = int(np.square(np.bincount(X.indices, minlength=p).astype(np.int64)).sum())
            measure("sparse", work, X, y)
    slopes = {}
    for kind, found in series.items():
        sizes = [each["size"] for each in found]
        slopes[kind] = _slope(sizes, [each["median_seconds"] for each in found])
        slopes[f"{kind}, upper half"] = _slope(sizes[-3:], [each["median_seconds"] for each in found[-3:]])
        slopes[f"{kind}, neighbours alone"] = _slope(sizes, [each["neighbours_seconds"] for each in found])
    described = {
        "n": f"random normal, n = {rows[0]} to {rows[-1]}, p = 64, 5 classes",
        "p": f"random normal, n = {90 if tiny else 800}, p = {columns[0]} to {columns[-1]}, 5 classes",
        "sparse": f"random sparse, {n} x {p}, {100 * densities[0]:g} to {100 * densities[-1]:g} % non-zeros; "
        "the size is the sum over columns of (non-zeros in the column)^2",
    }
    notes = [f"log-log slope against {kind}: {slope:.2f}" for kind, slope in slopes.items()]
    notes.append(
        "Expected for much data: 2 against n, 1 against p, at most 1 against the work of the columns (there the "
        "choice of neighbours, n^2, is a floor that does not depend on it)."
    )
    times = [row for found in series.values() for row in found]
    return _result(
        "ReliefF: time against the size of the data, k = 10", described, times=times, notes=notes,
        slopes=slopes, series=series,
    )  # fmt: skip


def draw_growth(result, path):
    """Draw :func:`growth`'s result into a PNG file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    labels = {
        "n": "samples n (dense, p = 64)",
        "p": "features p (dense, 800 samples)",
        "sparse": "sum over columns of (non-zeros)² (sparse)",
    }
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), constrained_layout=True)
    for axis, (kind, rows) in zip(axes, result["series"].items(), strict=True):
        size = np.array([row["size"] for row in rows], dtype=float)
        median = np.array([row["median_seconds"] for row in rows])
        low = median - [row["least_seconds"] for row in rows]
        high = np.array([row["most_seconds"] for row in rows]) - median
        axis.errorbar(size, median, [low, high], fmt="o-", capsize=3, label="whole fit, median and range")
        neighbours = [row["neighbours_seconds"] for row in rows]
        axis.plot(size, neighbours, "s:", color="0.5", label="finding neighbours")
        slope, shift = np.polyfit(np.log(size), np.log(median), 1)
        fitted = np.exp(shift) * size**slope
        axis.plot(size, fitted, "--", color="tab:red", label=f"fitted slope {slope:.2f}")
        axis.set(xscale="log", yscale="log", xlabel=labels[kind])
        axis.legend(fontsize=8)
    axes[0].set_ylabel("seconds of one fit")
    figure.savefig(path, dpi=150)
    plt.close(figure)


_IMPORT = """
import json, sys, time
start = time.perf_counter()
import reliefe
print(json.dumps([time.perf_counter() - start, [m for m in ("umap", "numba") if m in sys.modules]]))
"""

_FIRST_FIT = """
import json, sys, time
start = time.perf_counter()
from reliefe import ReliefF
imported = time.perf_counter() - start
from sklearn.datasets import load_digits
X, y = load_digits(return_X_y=True)
start = time.perf_counter()
ReliefF(n_neighbors=10, n_jobs=int(sys.argv[1])).fit(X, y)
print(json.dumps([time.perf_counter() - start, imported]))
"""


def _run(python, code, *arguments, threads, **extra):
    done = subprocess.run(
        [str(python), "-c", code, *map(str, arguments)],
        env=environment(threads, True, **extra),
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def start(*, pythons, threads, repeats, folder, tiny):
    """Import, and first fits with and without compiled kernels on disk, in new processes."""
    python = pythons["ours"]
    imports = [_run(python, _IMPORT, threads=threads) for _ in range(repeats)]
    with tempfile.TemporaryDirectory() as cache:
        said("  compiling into an empty cache")
        compiling = _run(python, _FIRST_FIT, threads, threads=threads, NUMBA_CACHE_DIR=cache)[0]
        first = [
            _run(python, _FIRST_FIT, threads, threads=threads, NUMBA_CACHE_DIR=cache)[0]
            for _ in range(repeats)
        ]
    loaded = sorted({name for _, names in imports for name in names})
    times = [
        summary("import reliefe", [each[0] for each in imports]),
        summary("first fit on digits, nothing compiled", [compiling]),
        summary("first fit on digits, kernels on disk", first),
    ]
    goals = [
        goal("import reliefe, seconds", 1.0, times[0]["median_seconds"], at_least=False),
        goal("first fit with kernels on disk, seconds", 1.5, times[2]["median_seconds"], at_least=False),
        goal("umap and numba loaded by the import", 0, len(loaded), at_least=False),
    ]
    notes = [f"`import reliefe` loads {', '.join(loaded)}."] if loaded else []
    return _result("Start of a process", {"digits": "digits, k = 10"}, times=times, goals=goals, notes=notes)


MEASUREMENTS = {
    "memory": memory,
    "multisurf_sparse": multisurf_sparse,
    "two_threads": two_threads,
    "growth": growth,
    "start": start,
}
