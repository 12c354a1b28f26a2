"""How long random forests take that are grown on what is not zero, against scikit-learn's own.

For each data set: nine tenths of its samples to learn from, features ordered by their squared correlation with the
labels, the first 10, 100, 500 and all of them. Forests are grown in turn, one thread each, with seconds of the
processor, the smaller of both rounds, and predictions are compared. Times are for a forest of as many trees as
given, with all that a fit needs once. Peak memory is that of a process that makes one forest on all features, above
what it had before: scikit-learn's, the same a few trees at a time, and the one that is grown here.

Run from the project root: ``python benchmarks/forest.py [DATASET…] [--local-data FOLDER] [--trees N] [--memory]``
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import joblib
import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments import datasets  # noqa: E402
from experiments.config.compose import compose_runs  # noqa: E402
from experiments.learners.forest import LEARNER, OWN_TREES, fit_predict, fit_predict_labels  # noqa: E402
from experiments.rankers.instrumentation import PeakMemory  # noqa: E402

#: Data set: trees.
TREES = {
    "medical": 50,
    "bibtex": 10,
    "delicious": 3,
    "science1": 20,
    "imdb": 2,
    "yeast": 20,
    "scene": 20,
}
SIZES = (10, 100, 500)


def rows_of(name: str, local_data: str | None):
    """Return features and labels to learn from and features to predict from, features best first."""
    argv = [f"dataset={name}", "ranker=relieff", "protocol=paper"]
    (config,) = compose_runs(argv + ([f"paths.local_data={local_data}"] if local_data else [])).configs
    data = datasets.load(config["dataset"], config["paths"]["local_data"], cache=config["paths"].get("cache"))
    rows = np.random.default_rng(0).permutation(data.X.shape[0])
    n_train = len(rows) * 9 // 10
    train, test = np.sort(rows[:n_train]), np.sort(rows[n_train:])
    X, y = sparse.csr_matrix(data.X[train]), data.y[train].astype(np.uint8)
    means, shares = (np.asarray(each.astype(float).mean(axis=0)).ravel() for each in (X, y))
    spread = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).ravel() - means**2)
    together = np.asarray((X.T @ y.astype(float)).todense()) / n_train - np.outer(means, shares)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations = np.nan_to_num(together / spread[:, None] / np.sqrt(shares * (1 - shares)))
    order = np.argsort(-(correlations**2).sum(axis=1), kind="stable")
    return data.X[train][:, order], y.toarray(), data.X[test][:, order]


def columns(X, n_features: int):
    """Return the first features, dense ones next to each other."""
    return X[:, :n_features] if sparse.issparse(X) else np.ascontiguousarray(X[:, :n_features])


def compare(name: str, local_data: str | None, n_trees: int) -> list[float]:
    """Print a line for each number of features; return how many times as fast."""
    X, y, X_test = rows_of(name, local_data)
    ratios = []
    for size in [size for size in SIZES if size < X.shape[1]] + [X.shape[1]]:
        train, test = columns(X, size), columns(X_test, size)
        fit_predict(
            RandomForestClassifier(1, random_state=0), train, y, test
        )  # compiled, and memory is there
        best = {"ours": np.inf, "theirs": np.inf}
        for _ in range(2):
            start = time.process_time()
            ours, way = fit_predict(RandomForestClassifier(n_trees, random_state=7), train, y, test)
            middle = time.process_time()
            theirs = RandomForestClassifier(n_trees, random_state=7).fit(train, y).predict(test)
            end = time.process_time()
            best = {
                "ours": min(best["ours"], middle - start),
                "theirs": min(best["theirs"], end - middle),
            }
            if way != OWN_TREES or not np.array_equal(ours, theirs):
                raise SystemExit(
                    f"{name}, {size} features: predictions differ, or were not computed here ({way})"
                )
        ratios.append(best["theirs"] / best["ours"])
        print(
            f"| {name} | {train.shape[0]:,} | {size:,} | {y.shape[1]} | {best['theirs'] / n_trees * 1e3:,.2f} "
            f"| {best['ours'] / n_trees * 1e3:,.2f} | {ratios[-1]:.1f} |",
            flush=True,
        )
    return ratios


def memory(file: str, n_trees: int, way: str) -> None:
    """Print the peak memory of one forest on all features, in MiB above what the process had before."""
    X, y, X_test = joblib.load(file)
    learner = RandomForestClassifier(n_trees, random_state=7)
    if way == OWN_TREES:
        fit_predict(RandomForestClassifier(1, random_state=0), X[:50], y[:50], X_test[:50])  # compiled
    with open("/proc/self/statm", encoding="ascii") as file:
        before = int(file.read().split()[1]) * 4096 / 2**20
    with PeakMemory() as peak:
        if way == OWN_TREES:
            fit_predict(learner, X, y, X_test)
        elif way == LEARNER:
            fit_predict_labels(learner, X, y, X_test)
        else:
            learner.fit(X, y).predict(X_test)
    print(f"{peak.mib - before:.0f}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", metavar="DATASET", default=list(TREES))
    parser.add_argument("--local-data")
    parser.add_argument("--trees", type=int, help="trees of a forest (default: fewer where they take long)")
    parser.add_argument("--memory", action="store_true", help="peak memory instead of times")
    parser.add_argument("--one-way", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    ratios: list[float] = []
    with threadpool_limits(limits=1):
        for name in chosen.datasets:
            n_trees = chosen.trees or TREES.get(name, 10)
            if chosen.one_way:  # the name is that of a file then
                memory(name, n_trees, chosen.one_way)
            elif chosen.memory:
                with tempfile.TemporaryDirectory() as folder:
                    # A process of its own that only reads: what is freed before would be used again, uncounted.
                    file = str(Path(folder) / "rows")
                    joblib.dump(rows_of(name, chosen.local_data), file)
                    made = []
                    for way in ("whole", LEARNER, OWN_TREES):
                        argv = [sys.executable, __file__, file, "--one-way", way, "--trees", str(n_trees)]
                        done = subprocess.run(argv, capture_output=True, text=True, check=True)
                        made.append(done.stdout.split()[-1])
                print(f"| {name} | {n_trees} | {' | '.join(made)} |", flush=True)
            else:
                ratios += compare(name, chosen.local_data, n_trees)
    if ratios:
        print(f"geometric mean {np.exp(np.mean(np.log(ratios))):.1f}, least {min(ratios):.1f}")


if __name__ == "__main__":
    main()
