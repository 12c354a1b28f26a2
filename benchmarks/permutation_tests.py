"""What permutation tests of weights find on data of known truth, and how long they take.

Run from the project root: ``python benchmarks/permutation_tests.py [--tables 100] [--permutations 400]`` for false
discoveries, ``python benchmarks/permutation_tests.py --times [--permutations 1000]`` for CPU seconds beside those
of refits. Both print a table in Markdown.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.base import clone

from reliefe import MultiSURF, ReliefF
from reliefe.inspection import permutation_test

#: Samples, features, how many are relevant, and by how many standard deviations these differ between two classes.
DESIGNS = [
    (60, 40, 0, 0.0),
    (60, 40, 4, 1.3),
    (60, 200, 5, 1.5),
    (60, 40, 4, 2.0),
    (120, 20, 4, 2.0),
    (120, 20, 8, 2.0),
]
RANKERS = {"ReliefF": ReliefF(10), "MultiSURF": MultiSURF()}


def found_in(ranker, design, n_tables, n_permutations, null):
    """Return means over tables: the false share of a selection at q = 0.1, features found, and any false one."""
    n, p, n_relevant, shift = design
    false, found, any_false = np.zeros((3, n_tables))
    for seed in range(n_tables):
        y = np.arange(n) % 2
        X = np.random.default_rng([seed, n, p]).normal(size=(n, p))
        X[:, :n_relevant] += shift * y[:, np.newaxis]
        test = permutation_test(
            ranker, X, y, permute="target", n_permutations=n_permutations, null=null, random_state=seed
        )
        chosen = test.q_values <= 0.1
        false[seed] = chosen[n_relevant:].sum() / max(1, chosen.sum())
        found[seed] = chosen[:n_relevant].mean() if n_relevant else np.nan
        any_false[seed] = (test.family_p_values[n_relevant:] <= 0.05).any()
    return false.mean(), found.mean(), any_false.mean()


def discoveries(n_tables, n_permutations):
    """Print false and true discoveries of each design and ranker."""
    print(f"{n_tables} tables of each kind, {n_permutations} permutations\n")
    print(
        "| samples × features | relevant | shift | ranker | null | false, q ≤ 0.1 | found | any false, p ≤ 0.05 |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for design in DESIGNS:
        for name, ranker in RANKERS.items():
            for null in ("feature", "pooled"):
                false, found, any_false = found_in(ranker, design, n_tables, n_permutations, null)
                n, p, n_relevant, shift = design
                shown = f"{found:.2f}" if n_relevant else ""
                numbers = f"{name} | {null} | {false:.3f} | {shown} | {any_false:.2f}"
                print(f"| {n} × {p} | {n_relevant} | {shift:g} | {numbers} |", flush=True)


def times(n_permutations):
    """Print CPU seconds of tests and of as many refits, the latter from ten of them."""
    print(f"{n_permutations} permutations, CPU seconds on one thread\n")
    print("| samples × features | ranker | refits | kept distances | ratio |")
    print("|---|---|---|---|---|")
    for n, p in ((60, 3000), (200, 5000)):
        rng = np.random.default_rng(0)
        X, y, numbers = rng.normal(size=(n, p)), np.arange(n) % 2, rng.normal(size=n)
        rankers = (ReliefF(), MultiSURF(), ReliefF(target="regression"), ReliefF(abs_mean=True))
        for ranker in rankers:
            target = numbers if getattr(ranker, "target", "") == "regression" else y
            permutation_test(
                ranker, X, target, permute="target", n_permutations=20, random_state=0
            )  # compiles
            started = time.process_time()
            permutation_test(
                ranker, X, target, permute="target", n_permutations=n_permutations, random_state=0
            )
            kept = time.process_time() - started
            started = time.process_time()
            for _ in range(10):
                clone(ranker).fit(X, target[rng.permutation(n)])
            refits = (time.process_time() - started) / 10 * n_permutations
            print(f"| {n} × {p:,} | {ranker} | {refits:.1f} | {kept:.1f} | {refits / kept:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--permutations", type=int)
    parser.add_argument("--times", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # of few permutations
    if asked.times:
        times(asked.permutations or 1000)
    else:
        discoveries(asked.tables, asked.permutations or 400)


if __name__ == "__main__":
    main()
