"""Data sets made on the spot, of which it is known which features decide the class or the number.

The place of the informative features is random, and their names tell them: ``informative_1`` and so on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.datasets.raw import RawData
from experiments.errors import ConfigError

_GENOTYPES = 3
_ATTEMPTS = 200
_ROUNDS = 400


def epistasis(
    n_rows: int = 800,
    n_noise: int = 100,
    order: int = 2,
    heritability: float = 0.2,
    minor_allele_frequency: float = 0.4,
    prevalence: float = 0.5,
    seed: int = 0,
) -> RawData:
    """Genotypes of which some decide the class together, and none alone."""
    _check("n_rows", n_rows, n_rows >= 4, "at least 4")
    _check("n_noise", n_noise, n_noise >= 0, "at least 0")
    _check("order", order, 2 <= order <= 6, "from 2 to 6")
    _check("heritability", heritability, 0.0 < heritability <= 1.0, "above 0 and at most 1")
    rate = minor_allele_frequency
    _check("minor_allele_frequency", rate, 0.0 < rate <= 0.5, "above 0 and at most 0.5")
    _check("prevalence", prevalence, 0.0 < prevalence < 1.0, "between 0 and 1")
    rng = np.random.default_rng(seed)
    table = penetrance_table(order, heritability, rate, prevalence, rng)
    population = genotype_shares(order, rate)
    y = np.arange(n_rows) % 2
    telling = np.empty((n_rows, order), dtype=np.int64)
    for code, risk in ((0, 1.0 - table), (1, table)):
        shares = (population * risk).ravel()
        cells = rng.choice(shares.size, size=int((y == code).sum()), p=shares / shares.sum())
        telling[y == code] = np.column_stack(np.unravel_index(cells, table.shape))
    rates = rng.uniform(0.05, 0.5, n_noise)
    noise = rng.binomial(_GENOTYPES - 1, rates, size=(n_rows, n_noise))
    return _shuffled(telling, noise, y, rng)


def genotype_shares(order: int, minor_allele_frequency: float) -> np.ndarray:
    """Return the share of each combination of genotypes in the population, in Hardy–Weinberg proportions."""
    q = minor_allele_frequency
    one = np.array([(1.0 - q) ** 2, 2.0 * q * (1.0 - q), q**2])
    shares = one
    for _ in range(order - 1):
        shares = np.multiply.outer(shares, one)
    return shares


def penetrance_table(
    order: int,
    heritability: float,
    minor_allele_frequency: float,
    prevalence: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw a penetrance table of a given heritability without any effect of fewer features than all."""
    shares = genotype_shares(order, minor_allele_frequency)
    one = genotype_shares(1, minor_allele_frequency)
    spread = np.sqrt(heritability * prevalence * (1.0 - prevalence))
    for _ in range(_ATTEMPTS):
        effect = rng.normal(size=shares.shape)
        # Between the two conditions in turn: no effect of fewer features, and probabilities between 0 and 1.
        for _ in range(_ROUNDS):
            for axis in range(order):
                effect = effect - np.expand_dims(np.tensordot(effect, one, axes=(axis, 0)), axis)
            effect *= spread / np.sqrt((shares * effect**2).sum())
            table = prevalence + effect
            if table.min() >= 0.0 and table.max() <= 1.0:
                return table
            effect = np.clip(effect, -prevalence, 1.0 - prevalence)
    raise ConfigError(
        f"no penetrance table with heritability={heritability} for order={order}, "
        f"minor_allele_frequency={minor_allele_frequency}, prevalence={prevalence}; lower the heritability, or "
        "bring the frequency near 0.5"
    )


def parity(
    n_rows: int = 800, n_noise: int = 100, order: int = 2, flipped: float = 0.0, seed: int = 0
) -> RawData:
    """Binary features of which some decide the class by whether the number of ones among them is odd."""
    _check("n_rows", n_rows, n_rows >= 4, "at least 4")
    _check("n_noise", n_noise, n_noise >= 0, "at least 0")
    _check("order", order, order >= 2, "at least 2")
    _check("flipped", flipped, 0.0 <= flipped <= 0.5, "from 0 to 0.5")
    rng = np.random.default_rng(seed)
    telling = rng.integers(0, 2, (n_rows, order))
    y = (telling.sum(axis=1) % 2) ^ (rng.random(n_rows) < flipped)
    return _shuffled(telling, rng.integers(0, 2, (n_rows, n_noise)), y, rng)


def clusters(
    n_rows: int = 2000,
    n_informative: int = 5,
    n_redundant: int = 15,
    n_noise: int = 480,
    flipped: float = 0.01,
    seed: int = 0,
) -> RawData:
    """Clusters at the corners of a cube in ``n_informative`` dimensions, each corner of one of two classes."""
    from sklearn.datasets import make_classification

    _check("n_informative", n_informative, 2 <= n_informative <= 10, "from 2 to 10")
    _check("n_redundant", n_redundant, n_redundant >= 0, "at least 0")
    _check("n_noise", n_noise, n_noise >= 0, "at least 0")
    _check("n_rows", n_rows, n_rows >= 2 ** (n_informative + 1), f"at least {2 ** (n_informative + 1)}")
    _check("flipped", flipped, 0.0 <= flipped <= 1.0, "from 0 to 1")
    telling = n_informative + n_redundant
    X, y = make_classification(
        n_samples=n_rows,
        n_features=telling + n_noise,
        n_informative=n_informative,
        n_redundant=n_redundant,
        n_repeated=0,
        n_classes=2,
        n_clusters_per_class=2 ** (n_informative - 1),
        flip_y=flipped,
        shuffle=False,
        random_state=seed,
    )
    return _shuffled(X[:, :telling], X[:, telling:], y, np.random.default_rng(seed))


def friedman1(n_rows: int = 500, n_noise: int = 45, noise: float = 1.0, seed: int = 0) -> RawData:
    """Five uniform features that decide a number, two of them together, among features that say nothing."""
    from sklearn.datasets import make_friedman1

    _check("n_rows", n_rows, n_rows >= 4, "at least 4")
    _check("n_noise", n_noise, n_noise >= 0, "at least 0")
    _check("noise", noise, 0.0 <= noise < np.inf, "at least 0")
    X, y = make_friedman1(n_samples=n_rows, n_features=5 + n_noise, noise=noise, random_state=seed)
    return _shuffled(X[:, :5], X[:, 5:], y, np.random.default_rng(seed))


def _check(name: str, value: Any, holds: bool, allowed: str) -> None:
    if not holds:
        raise ConfigError(f"{name}={value}: expected {allowed}")


def _shuffled(telling: np.ndarray, noise: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> RawData:
    """Mix features and samples, so that no ranker profits from where things stand."""
    names = [f"informative_{number + 1}" for number in range(telling.shape[1])]
    everything = np.hstack([telling, noise]).astype(np.float64)
    order, rows = rng.permutation(everything.shape[1]), rng.permutation(everything.shape[0])
    all_names = [*names, *(f"noise_{number + 1}" for number in range(noise.shape[1]))]
    return RawData(
        everything[rows][:, order],
        (y if y.dtype.kind == "f" else y.astype(np.int64))[rows],
        [all_names[column] for column in order],
        informative=tuple(names),
    )
