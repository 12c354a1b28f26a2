"""An error about one feature, which callers with more features can raise again."""

from __future__ import annotations


class ColumnError(ValueError):
    """An error about the values of one feature of X.

    It can be raised again for a larger X that this one was a part of.

    Parameters
    ----------
    message : str
        With ``{column}`` where the feature is to be named.
    column : int
        Its number.
    name : str, optional
        Its name.
    """

    def __init__(self, message, column, name=None):
        label = f"feature {column}" if name is None else f"feature {column} ({str(name)!r})"
        super().__init__(message.replace("{column}", label, 1))
        self.message, self.column, self.name = message, column, name

    def __reduce__(self):
        """Say how to make a copy, for other processes."""
        return type(self), (self.message, self.column, self.name)

    def among(self, columns, names):
        """Return the error for a matrix of which this one has the given features; None stands for all of them.

        Parameters
        ----------
        columns : int ndarray, or None
            Feature numbers.
        names : sequence of str, or None
            Names of the features of the larger matrix.

        Returns
        -------
        ColumnError
        """
        column = self.column if columns is None else int(columns[self.column])
        return type(self)(self.message, column, None if names is None else str(names[column]))
