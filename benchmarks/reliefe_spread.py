"""How far ReliefE's weights move when nothing that matters changes: another seed, shifted columns, renamed classes.

Run from the project root: ``python benchmarks/reliefe_spread.py [--seeds 10] [--rows 3000]``. It prints two tables
in Markdown. A line compares two fits, or two means over several seeds, and says how far apart they are; the lines
of the other seeds are the scale to read the others by.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer, make_classification

from reliefe import ReliefE
from reliefe.ranking import descending_order

TOP = 10


def fit(X, y, seed):
    """Weights of one fit, (p,)."""
    return ReliefE(random_state=seed).fit(X, y).feature_importances_


def distance(a, b):
    """Compare two lists of weights.

    Parameters
    ----------
    a, b : float64 ndarrays of shape (p,)
        Weights, not all the same.

    Returns
    -------
    tuple of three floats
        The largest difference as a share of the spread of ``a``, Spearman's rank correlation, and the share of the
        first 10 columns that both have.
    """
    ranks = np.corrcoef(rankdata(a), rankdata(b))[0, 1]
    first = [set(descending_order(weights)[:TOP].tolist()) for weights in (a, b)]
    return float(np.abs(a - b).max() / np.ptp(a)), float(ranks), len(first[0] & first[1]) / len(first[0])


def line(name, pairs):
    """One line of a table: medians over pairs of lists of weights, and the largest difference of all."""
    found = np.array([distance(a, b) for a, b in pairs])
    moved, ranks, shared = np.median(found, axis=0)
    return f"| {name} | {len(found)} | {moved:.2f} | {found[:, 0].max():.2f} | {ranks:.2f} | {shared:.2f} |"


def table(title, base, others):
    """Lines for pairs of seeds, for each change with the same seed, and for means over halves of the seeds.

    Parameters
    ----------
    title : str
        What stands above the table.
    base : float64 ndarray of shape (n_seeds, p)
        Weights by seed.
    others : dict of str to float64 ndarray of shape (n_seeds, p)
        Weights by seed after a change.
    """
    half = len(base) // 2
    lines = [
        f"\n{title}\n",
        "| change | pairs | median move | largest move | rank correlation | top 10 shared |",
    ]
    lines += ["|---|---|---|---|---|---|", line("another seed", list(combinations(base, 2)))]
    for name, weights in others.items():
        lines.append(line(name, list(zip(base, weights, strict=True))))
    lines.append(
        line(f"other seeds, mean of {half}", [(base[:half].mean(axis=0), base[half : 2 * half].mean(axis=0))])
    )
    for name, weights in others.items():
        lines.append(line(f"{name}, mean of {len(base)}", [(base.mean(axis=0), weights.mean(axis=0))]))
    return "\n".join(lines)


def shifted(seeds):
    """Fits on columns of two values and of many, and on the same columns with something added."""
    X, y = load_breast_cancer(return_X_y=True)
    two_values = (X > np.median(X, axis=0)).astype(float)
    changes = {"1/2 for 0/1": two_values + 1.0, "−1/0 for 0/1": two_values - 1.0}
    first = _changed(f"breast cancer, above the median or not, {X.shape}", two_values, changes, y, seeds)
    # With 1 added only rounding changes; with means taken off, 0 comes inside the ranges.
    changes = {"1 added to all columns": X + 1.0, "means taken off": X - X.mean(axis=0)}
    return first + "\n" + _changed(f"breast cancer as it is, {X.shape}", X, changes, y, seeds)


def _changed(title, X, changes, y, seeds):
    base = np.array([fit(X, y, seed) for seed in seeds])
    others = {name: np.array([fit(changed, y, seed) for seed in seeds]) for name, changed in changes.items()}
    return table(title, base, others)


def renamed(seeds, n):
    """Fits on more rows than there are representatives, with classes under other names."""
    X, y = make_classification(n, 20, n_informative=8, n_redundant=0, n_classes=4, random_state=0)
    base = np.array([fit(X, y, seed) for seed in seeds])
    others = {"classes renamed": np.array([fit(X, np.array([2, 0, 3, 1])[y], seed) for seed in seeds])}
    return table(f"synthetic classes, {X.shape}", base, others)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10, help="seeds per line, 4 at least")
    parser.add_argument("--rows", type=int, default=3000, help="rows of the second data set, more than 2048")
    arguments = parser.parse_args()
    seeds = range(arguments.seeds)
    print(shifted(seeds), flush=True)
    print(renamed(seeds, arguments.rows), flush=True)


if __name__ == "__main__":
    main()
