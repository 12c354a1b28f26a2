"""Similarity matrices → means over blocks of rankers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd


def block_means(similarity: pd.DataFrame, names: Sequence[str]) -> tuple[float, float]:
    """Average the pairs inside a block, and all other pairs.

    Parameters
    ----------
    similarity : DataFrame
        Square and symmetric.
    names : sequence of str
        The block; names that the matrix lacks are passed over.

    Returns
    -------
    tuple of float
        Mean inside, mean of all other pairs; NaN where there is no pair with a number.
    """
    inside = similarity.index.isin(list(names))
    both = inside[:, None] & inside[None, :]
    return _mean(similarity, both), _mean(similarity, ~both)


def between(similarity: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]) -> float:
    """Average the pairs of one ranker from each of two blocks.

    Parameters
    ----------
    similarity : DataFrame
        Square and symmetric.
    rows, columns : sequence of str
        The blocks, without a ranker in common.

    Returns
    -------
    float
        NaN when there is no pair with a number.
    """
    one, other = (similarity.index.isin(list(names)) for names in (rows, columns))
    return _mean(similarity, (one[:, None] & other[None, :]) | (other[:, None] & one[None, :]))


def _mean(similarity: pd.DataFrame, chosen: np.ndarray) -> float:
    upper = np.triu(np.ones(similarity.shape, dtype=bool), k=1)
    values = similarity.to_numpy(dtype=float)[chosen & upper]
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else np.nan
