"""What nested logistic regression saves along a ranking, and how near the optimum each way ends.

For each data set: the first training fold, features ordered by ReliefF, the grid of the protocol ``paper``. Prints
the seconds of each way through the grid (one thread), at how many points of the grid its F1 differs from that at
the optimum, and by how much its coefficients do. The optimum is that of a tolerance of 1e-10.

Run from the project root: ``python benchmarks/learners.py DATASET… [--local-data FOLDER]``.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MaxAbsScaler
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments import datasets  # noqa: E402
from experiments.config.compose import compose_runs  # noqa: E402
from experiments.evaluation.splits import folds  # noqa: E402
from experiments.learners import NestedLogisticRegression  # noqa: E402
from experiments.metrics.relative_f1 import feature_grid  # noqa: E402
from experiments.printing import prepare_output  # noqa: E402
from reliefe import ReliefF  # noqa: E402


def alone(X, y, sizes: Sequence[int]) -> Iterator[LogisticRegression]:
    """Fit scikit-learn's own anew for each number of columns, with its usual solver and tolerance."""
    for size in sizes:
        yield LogisticRegression(C=1.0, max_iter=10_000).fit(X[:, :size], y)


def compare(name: str, local_data: str | None) -> None:
    """Print the lines of one data set."""
    argv = [f"dataset={name}", "ranker=relieff", "protocol=paper"]
    (config,) = compose_runs(argv + ([f"paths.local_data={local_data}"] if local_data else [])).configs
    data = datasets.load(config["dataset"], config["paths"]["local_data"], cache=config["paths"].get("cache"))
    train, test = next(
        iter(folds(data.y, n_splits=config["protocol"]["n_splits"], repeat=0, seed=config["seed"]))
    )
    weights = ReliefF().fit(data.X[train], data.y[train]).feature_importances_
    order = np.argsort(-weights, kind="stable")
    scaler = MaxAbsScaler()
    X, X_test = scaler.fit_transform(data.X[train][:, order]), scaler.transform(data.X[test][:, order])
    y, y_test = data.y[train], data.y[test]
    sizes = feature_grid(X.shape[1], config["protocol"]["grid_points"])[:-1]
    ways = {
        "optimum": NestedLogisticRegression(tol=1e-10).path(X, y, sizes),
        "scikit-learn, tol 1e-4": alone(X, y, sizes),
        "nested, tol 1e-6": NestedLogisticRegression().path(X, y, sizes),
    }
    print(
        f"{name}: {X.shape[0]} × {X.shape[1]}, {len(np.unique(y))} classes, {len(sizes)} points", flush=True
    )
    optimum = None
    for way, models in ways.items():
        start = time.perf_counter()
        ended = [
            ((model.predict(X_test[:, :size]) == y_test).mean(), model.coef_)
            for size, model in zip(sizes, models, strict=True)
        ]
        seconds = time.perf_counter() - start
        optimum = ended if optimum is None else optimum
        pairs = list(zip(ended, optimum, strict=True))
        n_other = sum(one[0] != best[0] for one, best in pairs)
        largest = max(abs(one[0] - best[0]) for one, best in pairs)
        apart = max(np.abs(one[1] - best[1]).max() for one, best in pairs)
        print(
            f"  {way:24s} {seconds:8.3f} s   F1 differs at {n_other:2d} points, by {largest:.4f} at most; "
            f"coefficients by {apart:.1e}",
            flush=True,
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.add_argument("--local-data")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # that 10,000 iterations of L-BFGS were not enough shows in the numbers
    with threadpool_limits(limits=1):
        for name in chosen.datasets:
            compare(name, chosen.local_data)


if __name__ == "__main__":
    prepare_output()
    main()
