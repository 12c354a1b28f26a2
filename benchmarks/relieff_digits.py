"""Seconds of one ReliefF fit on digits (1797 × 64, k = 15), after compilation, on given numbers of threads.

Run from the project root: ``python benchmarks/relieff_digits.py [--runs 9] [--threads 1 2]``.
"""

from __future__ import annotations

import argparse
import statistics
import time

from sklearn.datasets import load_digits

from experiments.printing import prepare_output
from reliefe import ReliefF


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    X, y = load_digits(return_X_y=True)
    for n_jobs in options.threads:
        ranker = ReliefF(n_neighbors=15, n_jobs=n_jobs)
        start = time.perf_counter()
        ranker.fit(X, y)
        first = time.perf_counter() - start
        seconds = []
        for _ in range(options.runs):
            start = time.perf_counter()
            ranker.fit(X, y)
            seconds.append(time.perf_counter() - start)
        print(
            f"digits {X.shape[0]} × {X.shape[1]}, k = 15, {n_jobs} thread(s): "
            f"median {statistics.median(seconds):.3f} s "
            f"({min(seconds):.3f} to {max(seconds):.3f}, {options.runs} runs; the first fit {first:.2f} s)"
        )


if __name__ == "__main__":
    prepare_output()
    main()
