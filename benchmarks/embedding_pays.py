"""Where does the embedding pay? ReliefE against ReliefF, both this project's, as n, p and density vary.

Dense data: ten random factors plus noise, five classes that depend on the factors, so that there is a
low-dimensional shape to embed. Sparse data: uniformly placed values. Each ranker runs in a process of its own with
fixed threads; compilation is done before, on a few samples; each fit is timed ``--repeats`` times, in turn.

Run from the project root: ``python benchmarks/embedding_pays.py --out FOLDER [--repeats 1] [--threads 2]
[--only rows columns corner density]``. Writes ``embedding_pays.json``, ``.md`` and ``.png``.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import workloads  # noqa: E402
from benchmarks.peers import commit, machine  # noqa: E402
from benchmarks.processes import Worker  # noqa: E402
from benchmarks.races import said  # noqa: E402
from experiments.printing import prepare_output  # noqa: E402

# name: (title, axis, fixed part, [(n, p, density)])
SERIES = {
    "rows": (
        "samples n", 0, "p = 200, dense",
        [(n, 200, 1.0) for n in (500, 1000, 2000, 5000, 10_000, 20_000)],
    ),
    "columns": (
        "features p", 1, "n = 2000, dense",
        [(2000, p, 1.0) for p in (20, 200, 2000, 20_000)],
    ),
    "corner": (
        "samples n", 0, "p = 20,000, dense",
        [(n, 20_000, 1.0) for n in (500, 1000, 2000, 5000)],
    ),
    "density": (
        "share of non-zeros", 2, "n = 5000, p = 5000",
        [(5000, 5000, d) for d in (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)],
    ),
}  # fmt: skip
TINY = {
    "rows": [(60, 15, 1.0), (120, 15, 1.0)],
    "columns": [(80, 12, 1.0), (80, 30, 1.0)],
    "corner": [(60, 60, 1.0), (90, 60, 1.0)],
    "density": [(90, 80, 1.0), (90, 80, 0.1)],
}
RANKERS = ("ReliefF", "ReliefE")


def data(n, p, density):
    """Return data of the given shape; seeded."""
    rng = np.random.default_rng(workloads.SEED)
    if density >= 1.0:
        X, y = workloads.low_dimensional(n, p, rng)
    else:
        X, y = workloads.random_sparse(n, p, density, rng), rng.integers(0, 5, size=n)
    return workloads.Data(X, y, f"{n} x {p}, {100 * density:g} % non-zeros")


def measure(points, workers, repeats, folder):
    """Time both rankers on each point; return one dict a point."""
    rows = []
    for n, p, density in points:
        path = data(n, p, density).write(Path(folder) / "data.npz")
        for ranker, worker in workers.items():
            settings = {"ranker": ranker, "parameters": {"random_state": 0}}
            worker.open(path, settings, warm_up=min(n, 300))
        answers = {ranker: [] for ranker in workers}
        for _ in range(repeats):
            for ranker, worker in workers.items():
                answers[ranker].append(worker.ask("fit"))
        row = {"n": n, "p": p, "density": density}
        for ranker, found in answers.items():
            seconds = [each["seconds"] for each in found]
            row[ranker] = {
                "median_seconds": statistics.median(seconds),
                "least_seconds": min(seconds),
                "most_seconds": max(seconds),
                "seconds": seconds,
                "phases": found[-1]["notes"]["phases"],
            }
        row["n_components"] = answers["ReliefE"][-1]["notes"]["n_components"]
        row["relieff_over_reliefe"] = row["ReliefF"]["median_seconds"] / row["ReliefE"]["median_seconds"]
        rows.append(row)
        said(
            f"  {n} x {p}, {100 * density:g} %: ReliefF {row['ReliefF']['median_seconds']:.3f} s, "
            f"ReliefE {row['ReliefE']['median_seconds']:.3f} s"
        )
    return rows


def markdown(results):
    """Return the results as Markdown."""
    where = results["machine"]
    lines = [
        "# Where the embedding pays",
        "",
        f"Seconds of one fit, k = 15, {results['threads']} threads, median of {results['repeats']}; "
        f"{where['processor']}, {where['cores']} cores, Python {where['python']}, commit {results['commit']}, "
        f"{results['date']}, load before the start {where['load']}. Above 1 in the last column, ReliefE is the "
        "faster one.",
    ]
    for name, rows in results["series"].items():
        lines += [
            "",
            f"## {SERIES[name][0]} ({'tiny data' if results['tiny'] else SERIES[name][2]})",
            "",
            "| n | p | non-zeros | ReliefF s | ReliefE s | of it embedding s | dimensions | ReliefF / ReliefE |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for row in rows:
            phases = row["ReliefE"]["phases"]
            around = sum(phases.get(key, 0.0) for key in ("sparsify", "latent_dimension", "embedding"))
            dimensions = "embedding skipped" if row["n_components"] is None else row["n_components"]
            lines.append(
                f"| {row['n']:,} | {row['p']:,} | {100 * row['density']:g} % "
                f"| {row['ReliefF']['median_seconds']:.3f} | {row['ReliefE']['median_seconds']:.3f} | {around:.3f} "
                f"| {dimensions} | {row['relieff_over_reliefe']:.3g} |"
            )
    return "\n".join(lines) + "\n"


def draw(results, path):
    """Draw both rankers' seconds along each series into a PNG file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    keys = ("n", "p", "density")
    figure, axes = plt.subplots(
        1,
        len(results["series"]),
        figsize=(3.6 * len(results["series"]), 3.6),
        sharey=True,
        squeeze=False,
        constrained_layout=True,
    )
    for axis, (name, rows) in zip(axes[0], results["series"].items(), strict=True):
        title, which, fixed, _ = SERIES[name]
        along = [row[keys[which]] for row in rows]
        for ranker, style in zip(RANKERS, ("o-", "s--"), strict=True):
            median = np.array([row[ranker]["median_seconds"] for row in rows])
            low = median - [row[ranker]["least_seconds"] for row in rows]
            high = np.array([row[ranker]["most_seconds"] for row in rows]) - median
            axis.errorbar(along, median, [low, high], fmt=style, capsize=3, label=ranker)
        for row, place in zip(rows, along, strict=True):
            if row["n_components"] is None:
                where = (place, row["ReliefE"]["median_seconds"])
                axis.annotate("skipped", where, fontsize=7, ha="center", va="bottom")
        axis.set(xscale="log", yscale="log", xlabel=title)
        axis.set_title("tiny data" if results["tiny"] else fixed, fontsize=9)
    axes[0][0].set_ylabel("seconds of one fit")
    axes[0][0].legend()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(arguments=None):
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--only", nargs="+", choices=list(SERIES), default=list(SERIES))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--tiny", action="store_true", help="a few samples of everything, to see that it runs"
    )
    options = parser.parse_args(arguments)
    results = {
        "machine": machine(),
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
        "threads": options.threads,
        "repeats": options.repeats,
        "tiny": options.tiny,
        "series": {},
    }
    with tempfile.TemporaryDirectory() as folder:
        workers = {ranker: Worker("ours", sys.executable, options.threads) for ranker in RANKERS}
        try:
            for name in options.only:
                said(name)
                points = TINY[name] if options.tiny else SERIES[name][3]
                results["series"][name] = measure(points, workers, options.repeats, folder)
                options.out.mkdir(parents=True, exist_ok=True)
                text = json.dumps(results, indent=1) + "\n"
                (options.out / "embedding_pays.json").write_text(text, encoding="utf-8")
                (options.out / "embedding_pays.md").write_text(markdown(results), encoding="utf-8")
        finally:
            for worker in workers.values():
                worker.close()
    draw(results, options.out / "embedding_pays.png")
    print(markdown(results))


if __name__ == "__main__":
    prepare_output()
    main()
