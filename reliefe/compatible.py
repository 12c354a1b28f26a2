"""What scikit-rebate 0.8 does differently where data hold both discrete and continuous columns."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from reliefe.distances import MixedColumns, _Measured
from reliefe.scaling import any_missing


def ramp(X, discrete):
    """Say from which difference on scikit-rebate counts it as 1.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, p)
        float64, finite or NaN; CSR in canonical form without stored zeros.
    discrete : bool ndarray of shape (p,)
        Columns whose difference is 0 or 1.

    Returns
    -------
    float64 ndarray of shape (p,)
        The standard deviation of a column's known values over their range; 0 for discrete columns, 1 for constant
        ones.
    """
    columns = X.tocsc() if sparse.issparse(X) else X
    full = np.zeros(X.shape[1], dtype=np.float64)
    for j in np.flatnonzero(~discrete):
        values = columns[:, [j]].toarray() if sparse.issparse(X) else columns[:, j]
        known = values[~np.isnan(values)]
        extent = np.ptp(known) if known.size else 0.0
        full[j] = known.std() / extent if extent > 0.0 else 1.0
    return full


def distances(Z, discrete, groups):
    """Return where scikit-rebate's distances come from.

    Parameters
    ----------
    Z : ndarray or csr_matrix of shape (n, p)
        Output of :func:`reliefe.scaling.normalise_mixed`.
    discrete : bool ndarray of shape (p,)
        Columns whose difference is 0 or 1; some, but not all.
    groups : reliefe.distances.Groups
        Who is looked for.

    Returns
    -------
    MixedColumns or _TwoKinds
        Where values are missing, its distances are the usual ones. Else the share of discrete columns in which two
        rows differ is multiplied by the number of all columns, not by that of the discrete ones.
    """
    if any_missing(Z):
        return MixedColumns(Z, groups)
    continuous = MixedColumns(Z[:, np.flatnonzero(~discrete)], groups)
    return _TwoKinds(
        continuous, MixedColumns(Z[:, np.flatnonzero(discrete)], groups), Z.shape[1] / discrete.sum()
    )


class _TwoKinds(_Measured):
    """The sum of two distances, the second multiplied by a factor."""

    def __init__(self, first, second, factor):
        super().__init__(
            first.groups,
            first.tolerance + factor * second.tolerance,
            first.work_per_row + second.work_per_row,
        )
        self._parts = first, second
        self._factor = factor

    def measure(self, rows, positions, out):
        """As :meth:`MixedColumns.measure`."""
        first, second = self._parts
        first.measure(rows, positions, out)
        other = np.empty((rows.shape[0], out.shape[1]), dtype=np.float64)
        second.measure(rows, positions, other)
        other *= self._factor
        out[: rows.shape[0]] += other
