"""How often each ranker puts every relevant feature before every noise feature in tables of few features.

Run from the project root: ``python benchmarks/few_features.py [--tables 40]``. It prints tables in
Markdown: the share of generated tables in which each relevant feature has a larger weight than each noise feature.
Half of the noise features are normal, half are 0/1; the two classes have equal sizes.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
import pandas as pd

from reliefe import SURF, MultiSURF, MultiSURFStar, ReliefF, SURFStar

SAMPLES = (60, 200, 1000)
NOISE = (2, 5, 10, 20, 50)


def copies(rng, y, share):
    """Return a 0/1 feature that equals the class in this share of the samples."""
    equal = rng.permutation(y.shape[0]) < round(share * y.shape[0])
    return np.where(equal, y, 1 - y)


def xor_pair(rng, y):
    """Return two 0/1 features that have different values in one class, and equal values in the other."""
    first = rng.integers(0, 2, y.shape[0])
    return np.column_stack([first, first ^ y])


RELEVANT = {
    "0/1, 80 %": lambda rng, y: copies(rng, y, 0.8),
    "0/1, 90 %": lambda rng, y: copies(rng, y, 0.9),
    "0/1, 100 %": lambda rng, y: copies(rng, y, 1.0),
    "two 0/1, 90 %": lambda rng, y: np.column_stack([copies(rng, y, 0.9), copies(rng, y, 0.9)]),
    "normal, shift 2": lambda rng, y: rng.normal(size=y.shape[0]) + 2 * y,
    "xor pair": xor_pair,
}


def rankers(n):
    """Return the rankers compared for n samples, by name; k is the number of neighbours in each class."""
    chosen = {f"ReliefF, k = {k}": ReliefF(k) for k in (5, 10, 15, 30)}
    chosen |= {"ReliefF, k = n/8": ReliefF(n // 8), "ReliefF, k = n/4": ReliefF(n // 4)}
    chosen |= {"ReliefF, all": ReliefF(n)}
    return chosen | {type(r).__name__: r for r in (SURF(), SURFStar(), MultiSURF(), MultiSURFStar())}


def shares(n_tables):
    """Return a frame: for each kind of table and ranker, the share of tables with the relevant features first."""
    rows = []
    for n, n_noise, (number, kind) in product(SAMPLES, NOISE, enumerate(RELEVANT)):
        first = dict.fromkeys(rankers(n), 0)
        for seed in range(n_tables):
            rng = np.random.default_rng([seed, n, n_noise, number])
            y = np.arange(n) % 2
            relevant = RELEVANT[kind](rng, y).reshape(n, -1)
            noise = rng.normal(size=(n, n_noise))
            noise[:, 1::2] = noise[:, 1::2] > 0
            X = np.column_stack([relevant, noise])
            for name, ranker in rankers(n).items():
                weights = ranker.fit(X, y).feature_importances_
                first[name] += weights[: relevant.shape[1]].min() > weights[relevant.shape[1] :].max()
        rows += [(n, n_noise, kind, name, count / n_tables) for name, count in first.items()]
    return pd.DataFrame(rows, columns=["samples", "noise", "relevant", "ranker", "share"])


def show(frame, columns):
    """Print mean shares in Markdown: a line for each ranker."""
    means = frame.groupby(["ranker", columns], sort=False)["share"].mean().unstack()
    print(f"| ranker | {' | '.join(str(name) for name in means.columns)} | mean |")
    print("|---" * (means.shape[1] + 2) + "|")
    for name, row in means.iterrows():
        print(f"| {name} | {' | '.join(f'{value:.2f}' for value in (*row, row.mean()))} |")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--csv", help="where to write all shares")
    asked = parser.parse_args()
    frame = shares(asked.tables)
    if asked.csv:
        frame.to_csv(asked.csv, index=False)
    print(f"{asked.tables} tables of each kind; the standard error of a share of one kind is at most "
          f"{0.5 / np.sqrt(asked.tables):.2f}\n")  # fmt: skip
    for title, part in (("2 to 5", frame.noise <= 5), ("10 to 50", frame.noise >= 10)):
        print(f"Noise features: {title}\n")
        show(frame[part], "relevant")
    for n in SAMPLES:
        print(f"{n} samples, by the number of noise features\n")
        show(frame[frame.samples == n], "noise")


if __name__ == "__main__":
    main()
