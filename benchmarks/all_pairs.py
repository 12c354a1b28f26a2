"""Where an exhaustive test of all pairs puts two interacting variants, and what that costs.

Run from the project root: ``python benchmarks/all_pairs.py --noise 1000 10000 --heritability 0.2 0.4 --seeds 0 1``.
The data are those of ``study=truth_wide``, whose rankers take one feature at a time, by distances over all of them.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from experiments.datasets.synthetic import epistasis
from experiments.printing import prepare_output

_BLOCK = 256  # columns whose pairs with all later ones are tested together


def statistics_of(G, y, lo, hi):
    """Chi-squared of the class against the nine pairs of genotypes, of some columns with all from there on.

    Parameters
    ----------
    G : ndarray of shape (n, p)
        Genotypes 0, 1, 2.
    y : ndarray of shape (n,)
        Classes 0 and 1.
    lo, hi : int
        The columns ``lo … hi − 1`` are tested.

    Returns
    -------
    float32 ndarray of shape (hi − lo, p − lo)
    """
    share = np.sqrt((y == 1).sum() / (y == 0).sum())
    counts = []
    for code in (0, 1):
        rows = G[y == code, lo:]
        planes = [(rows == value).astype(np.float32) for value in (1, 2)]
        own = [plane[:, : hi - lo] for plane in planes]
        both = [[a.T @ b for b in planes] for a in own]
        left = [plane.sum(axis=0)[:, np.newaxis] for plane in own]
        right = [plane.sum(axis=0)[np.newaxis] for plane in planes]
        table = [[None] * 3 for _ in range(3)]
        for a in (1, 2):
            table[a][1:] = both[a - 1]
            table[a][0] = left[a - 1] - both[a - 1][0] - both[a - 1][1]
        for b in (1, 2):
            table[0][b] = right[b - 1] - both[0][b - 1] - both[1][b - 1]
        table[0][0] = rows.shape[0] - left[0] - left[1] - table[0][1] - table[0][2]
        counts.append([cell for line in table for cell in line])
    found = np.zeros(counts[0][0].shape, dtype=np.float32)
    for a, b in zip(*counts, strict=True):
        found += np.square(a * share - b / share) / np.maximum(a + b, 1.0)
    return found


def place_of_pair(G, y, pair):
    """Return the rank of a pair of columns among all pairs, its statistic, and the largest one of another pair."""
    p = G.shape[1]
    first, second = sorted(pair)
    own = float(statistics_of(G, y, first, first + 1)[0, second - first])
    above, largest = 0, 0.0
    for lo in range(0, p, _BLOCK):
        hi = min(p, lo + _BLOCK)
        found = statistics_of(G, y, lo, hi)
        found[np.tril_indices(hi - lo, m=p - lo)] = 0.0
        if lo <= first < hi:
            found[first - lo, second - lo] = 0.0
        above += int((found > own).sum())
        largest = max(largest, float(found.max()))
    return above + 1, own, largest


def main(arguments=None):
    """Test all pairs of each data set; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1600)
    parser.add_argument("--noise", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--heritability", type=float, nargs="+", default=[0.2, 0.4])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    options = parser.parse_args(arguments)
    for n_noise in options.noise:
        for heritability in options.heritability:
            for seed in options.seeds:
                raw = epistasis(options.rows, n_noise, heritability=heritability, seed=seed)
                pair = [list(raw.feature_names).index(name) for name in raw.informative]
                G, y = np.asarray(raw.X).astype(np.int8), np.asarray(raw.labels)
                start = time.process_time()
                place, own, largest = place_of_pair(G, y, pair)
                seconds, n_pairs = time.process_time() - start, G.shape[1] * (G.shape[1] - 1) // 2
                print(
                    f"{n_noise:,} noise features, heritability {heritability:g}, seed {seed}: the pair ranks "
                    f"{place:,} of {n_pairs:,} (chi-squared {own:.0f}, any other at most {largest:.0f}); "
                    f"{seconds:.1f} processor seconds",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    prepare_output()
    sys.exit(main())
