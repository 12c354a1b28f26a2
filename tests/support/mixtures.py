"""Tables with missing values and discrete columns."""

import numpy as np


def with_gaps(X, share, seed):
    """Some values are missing; one row and one column are missing as a whole, two rows share no column."""
    rng = np.random.default_rng(seed)
    X = np.array(X, dtype=float)
    X[rng.random(X.shape) < share] = np.nan
    X[3] = np.nan
    X[:, 2] = np.nan
    half = X.shape[1] // 2
    X[7, :half], X[8, half:] = np.nan, np.nan
    return X


def mixture(seed, n=30):
    """Two continuous columns, categories with negative, missing and no zero codes, two values, one value."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.integers(-4, 9, n),
            rng.integers(0, 8, n) * (rng.random(n) < 0.4),
            rng.choice([-7, 0, 3, 400], n),
            rng.choice([5, 6, 9], n),
            rng.choice([2, 30], n),
            np.full(n, 4),
            rng.integers(0, 5, n) * (rng.random(n) < 0.3),
        ]
    ).astype(float)


CATEGORIES = [False, False, True, True, True, True, True]
