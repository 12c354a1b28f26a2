"""Results as data frames; pandas is imported here and nowhere else in the library."""

from __future__ import annotations

import numpy as np

from reliefe.ranking import ranks


def frame(weights, names, **columns):
    """Return a DataFrame with a line for each feature, in the order of the weights.

    Parameters
    ----------
    weights : float64 ndarray of shape (p,)
        The higher the better.
    names : ndarray of shape (p,), or None
        Names of the features; None stands for their numbers.
    **columns : ndarray of shape (p,)
        What follows ``feature``, ``rank`` and ``weight``.

    Returns
    -------
    DataFrame
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_frame() makes a data frame of pandas: python -m pip install pandas") from error
    rank = ranks(weights)
    order = np.argsort(rank)
    feature = np.arange(weights.shape[0]) if names is None else names
    given = {"feature": feature, "rank": rank, "weight": weights, **columns}
    return pd.DataFrame({name: np.asarray(values)[order] for name, values in given.items()})
