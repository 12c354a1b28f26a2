"""Some columns of a matrix, for rankers that let another one weigh these."""

from __future__ import annotations


class Chosen:
    """Some columns of a dense matrix that has been checked, where they lie; each is to be kept as bits.

    A ranker of this library fits it as it would fit a copy of these columns, as long as it has no categories, no
    embedding, and does not follow scikit-rebate.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The matrix, with no value that the ranker does not take. Not modified, and not copied.
    profile : reliefe.columns.Profile
        What it holds.
    columns : int64 ndarray of shape (c,)
        Numbers of the columns, rising; all of them among :func:`reliefe.columns.kept_as_bits`.

    Attributes
    ----------
    shape : (int, int)
        Number of rows and of chosen columns.
    profile : reliefe.columns.Profile
        What the chosen columns hold.
    """

    def __init__(self, X, profile, columns):
        self.whole, self.columns = X, columns
        self.shape = (X.shape[0], columns.shape[0])
        self.profile = profile.among(columns)
