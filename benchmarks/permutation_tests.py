"""What permutation tests of weights find on generated data, and how long they take.

Run from the project root: ``python benchmarks/permutation_tests.py [--values 200]`` for false and
found features, ``--agree`` for the number of features from which both tests agree, ``--times`` for CPU seconds.
All print tables in Markdown.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reliefe import MultiSURF, ReliefF
from reliefe.inspection import permutation_test

RELIEFF, MULTISURF = ReliefF(), MultiSURF()


class Design(NamedTuple):
    """A kind of table: noise first, the features that depend on other noise at its end, then the relevant ones."""

    name: str
    n: int
    n_noise: int
    relevant: Callable = lambda rng, y: np.empty((y.shape[0], 0))
    ranker: object = RELIEFF
    share: float = 0.5
    kind: str = ""


def copies(share, q=1):
    """Return a maker of q 0/1 features that equal the class in this share of the samples."""
    return lambda rng, y: np.abs(y[:, np.newaxis] - (rng.random((y.shape[0], q)) >= share))


def shifted(shift, q):
    """Return a maker of q normal features whose mean is higher in class 1."""
    return lambda rng, y: rng.normal(size=(y.shape[0], q)) + shift * y[:, np.newaxis]


def xor_pair(rng, y):
    """Return two 0/1 features that differ in class 1 alone."""
    first = rng.integers(0, 2, y.shape[0])
    return np.column_stack([first, first ^ y])


DESIGNS = [
    Design("nothing relevant; 12 noise", 120, 12),
    Design("0/1, 95 %; 2 noise", 120, 2, copies(0.95)),
    Design("0/1, 85 %; 3 noise", 120, 3, copies(0.85)),
    Design("0/1, 90 %; 3 noise", 300, 3, copies(0.9)),
    Design("0/1, 90 %; 8 noise", 120, 8, copies(0.9)),
    Design("0/1, 90 %; 25 noise", 120, 25, copies(0.9)),
    Design("0/1, 90 %; 4 noise, 2 of noise twice", 120, 4, copies(0.9), kind="twice"),
    Design("0/1, 90 %; 3 noise, 6 correlated", 120, 3, copies(0.9), kind="correlated"),
    Design("5 shifted by 1.2; 45 noise", 100, 45, shifted(1.2, 5)),
    Design("xor pair; 8 noise", 200, 8, xor_pair),
    Design("0/1, 90 %; 8 noise; 10 % in class 1", 200, 8, copies(0.9), share=0.1),
    Design("label sets (3 labels), one 90 %; 5 noise", 120, 5, copies(0.9), kind="labels"),
    Design("number, correlation 0.9; 5 noise", 120, 5, ranker=ReliefF(target="regression"), kind="number"),
    Design("genotypes, 2 additive; 18 noise", 200, 18, kind="genotypes"),
    Design("20 groups of 5, none relevant; 8 noise", 100, 8, kind="groups"),
    Design("the same without `groups`", 100, 8, kind="no groups"),
    Design("0/1, 95 %; 2 noise", 120, 2, copies(0.95), MULTISURF),
    Design("0/1, 90 %; 3 noise", 300, 3, copies(0.9), MULTISURF),
    Design("0/1, 90 %; 8 noise", 120, 8, copies(0.9), MULTISURF),
    Design("5 shifted by 1.2; 45 noise", 100, 45, shifted(1.2, 5), MULTISURF),
    Design("xor pair; 8 noise", 200, 8, xor_pair, MULTISURF),
]


def generate(design, seed):
    """Return X, target, groups or None, and how many columns are independent noise and dependent noise."""
    rng = np.random.default_rng([seed, design.n, design.n_noise, len(design.kind)])
    n, kind = design.n, design.kind
    y = (np.arange(n) < design.share * n).astype(int)
    noise, groups, target = rng.normal(size=(n, design.n_noise)), None, y
    dependent = np.empty((n, 0))
    relevant = design.relevant(rng, y)
    if kind == "twice":
        dependent = np.repeat(rng.normal(size=(n, 2)), 2, axis=1)
    elif kind == "correlated":
        dependent = 0.9 * rng.normal(size=(n, 1)) + np.sqrt(1 - 0.81) * rng.normal(size=(n, 6))
    elif kind == "labels":
        target = np.column_stack([y, rng.random((n, 2)) < 0.4]).astype(int)
    elif kind == "number":
        target = rng.normal(size=n)
        relevant = (0.9 * target + np.sqrt(1 - 0.81) * rng.normal(size=n))[:, np.newaxis]
    elif kind == "genotypes":
        noise = rng.binomial(2, 0.3, size=noise.shape)
        relevant = rng.binomial(2, np.where(y, 0.55, 0.2)[:, np.newaxis], size=(n, 2))
    elif "groups" in kind:
        groups = np.repeat(np.arange(n // 5), 5)
        noise = 0.5 * noise + rng.normal(size=(n // 5, design.n_noise))[groups]
    X = np.column_stack([noise, dependent, relevant]).astype(float)
    return X, target, groups if kind == "groups" else None, noise.shape[1], dependent.shape[1]


def test_tables(design, n_tables, permute, n_tested=None):
    """Return, by table: shares with p <= 0.05 of noise and of dependent noise, false at q <= 0.1, and found."""
    rows = []
    n_permutations = 199 if design.n_noise < 19 else 399  # q of a single feature is then at most 0.1
    for seed in range(n_tables):
        X, target, groups, n_noise, n_dependent = generate(design, seed)
        given = {"permute": permute, "n_permutations": n_permutations, "groups": groups, "random_state": seed}
        given["features"] = None if n_tested is None else range(n_tested)
        test = permutation_test(design.ranker, X, target, **given)
        small, chosen, end = test.p_values <= 0.05, test.q_values <= 0.1, n_noise + n_dependent
        rows.append((
            small[: n_tested or n_noise].mean(),
            small[n_noise:end].mean() if n_dependent else np.nan,
            chosen[:end].sum() / max(1, chosen.sum()),
            chosen[end:].mean() if end < X.shape[1] else np.nan,
        ))  # fmt: skip
    return np.array(rows)


def shown(values):
    """Return mean and standard error as text; nothing where there are no values."""
    if np.isnan(values).all():
        return ""
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(values.shape[0]):.3f}"


def discoveries(n_values):
    """Print false and found shares of each design with both tests."""
    print("Mean over tables ± standard error\n")
    print(
        "| ranker | samples × (features) | tables | permuted | noise, p ≤ 0.05 | dependent noise | "
        "false, q ≤ 0.1 | found |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for design in DESIGNS:
        for permute in ("feature", "target"):
            n_tables = max(20, n_values // design.n_noise) if permute == "feature" else 20
            rates = test_tables(design, n_tables, permute)
            cells = " | ".join(shown(values) for values in rates.T)
            name = type(design.ranker).__name__
            print(f"| {name} | {design.n} × ({design.name}) | {n_tables} | {permute} | {cells} |", flush=True)


def agreement(n_tables):
    """Print the share of noise features with p <= 0.05 for tables of more and more features."""
    print(f"Share of noise features with p ≤ 0.05, {n_tables} tables of 100 samples; mean ± standard error\n")
    print("| ranker | relevant (0/1, 90 %) | features | feature permuted | target permuted |")
    print("|---|---|---|---|---|")
    for ranker in (RELIEFF, MULTISURF):
        for q in (1, 10):
            for p in (20, 50, 100, 200, 500):
                design = Design("", 100, p - q, copies(0.9, q), ranker)
                rates = [
                    test_tables(design, n_tables, permute, n_tested=10)[:, 0]
                    for permute in ("feature", "target")
                ]
                name = type(ranker).__name__
                print(f"| {name} | {q} | {p} | {' | '.join(map(shown, rates))} |", flush=True)


def times():
    """Print CPU seconds of both tests."""
    print("1,000 permutations, CPU seconds on one thread\n")
    print("| samples × features | ranker | feature permuted | target permuted |")
    print("|---|---|---|---|")
    for n, p in ((120, 10), (569, 30), (60, 3000), (1000, 50)):
        rng = np.random.default_rng(0)
        y = np.arange(n) % 2
        X = np.column_stack([shifted(1.2, 3)(rng, y), rng.normal(size=(n, p - 3))])
        for ranker in (RELIEFF, MULTISURF):
            seconds = []
            for permute in ("feature", "target"):
                permutation_test(
                    ranker, X, y, permute=permute, n_permutations=5, features=[0], random_state=0
                )
                started = time.process_time()
                permutation_test(ranker, X, y, permute=permute, random_state=0)
                seconds.append(time.process_time() - started)
            numbers = " | ".join(f"{value:.1f}" for value in seconds)
            print(f"| {n} × {p:,} | {type(ranker).__name__} | {numbers} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--values", type=int, default=200, help="noise features in all tables of a row")
    parser.add_argument("--agree", action="store_true")
    parser.add_argument("--times", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # of few permutations, and of samples without a near miss
    if asked.times:
        times()
    elif asked.agree:
        agreement(asked.values // 5)
    else:
        discoveries(asked.values)


if __name__ == "__main__":
    main()
