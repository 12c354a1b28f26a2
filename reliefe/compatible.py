"""What scikit-rebate 0.8 does differently: mixed features, ReliefF's neighbours, and its weighing of classes."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from reliefe._threads import pieces
from reliefe.columns import Columns
from reliefe.distances import MixedColumns, _Measured
from reliefe.ranking import TIE
from reliefe.scaling import any_missing, normalise_mixed
from reliefe.scaling import prepare as prepare_as_published
from reliefe.targets import Classes

_ENTRIES = 2**20  # differences held at a time where classes are weighed feature by feature


def both_kinds(discrete):
    """Say whether some features are discrete and some are not; ``discrete`` is a mask or None."""
    return discrete is not None and bool(discrete.any()) and not bool(discrete.all())


def prepare(X, discrete, in_place=False):
    """Bring features to the scale of their differences, as :func:`reliefe.scaling.prepare`.

    Parameters
    ----------
    X, discrete, in_place
        As there.

    Returns
    -------
    Z, full
        As there; where there are both kinds of feature, ``full`` comes from :func:`ramp`.

    Raises
    ------
    ValueError
        As there, and for two samples without a distance in scikit-rebate.
    """
    refuse_strangers(X)
    if both_kinds(discrete):
        # A difference as large as the ramp on paper is not above it, whatever its last digit.
        return normalise_mixed(X, discrete)[0], ramp(X, discrete) * (1.0 + TIE)
    return prepare_as_published(X, discrete, in_place)


def refuse_strangers(X):
    """Refuse two samples that know no feature in common, between which scikit-rebate has no distance (0/0).

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, p)
        float64, finite or NaN.

    Raises
    ------
    ValueError
        Naming the first such pair.
    """
    if not any_missing(X):
        return
    n, p = X.shape
    if sparse.issparse(X):
        gap = np.isnan(X.data)
        unknown = sparse.csr_matrix(
            (np.ones(gap.sum()), X.indices[gap], np.concatenate([[0], np.cumsum(gap)])[X.indptr]),
            shape=X.shape,
        )
        gaps = np.diff(unknown.indptr)
    else:
        unknown = np.isnan(X)
        gaps = unknown.sum(axis=1)
        unknown = unknown.astype(np.float32)  # counts up to 2²⁴ features exactly
    suspects = np.flatnonzero(gaps + gaps.max() >= p)
    for lo, hi in pieces(suspects.shape[0], max(1, _ENTRIES // n)):
        rows = suspects[lo:hi]
        shared = unknown[rows] @ unknown.T
        shared = shared.toarray() if sparse.issparse(shared) else shared
        strangers = gaps[rows, np.newaxis] + gaps - shared == p
        strangers[np.arange(rows.shape[0]), rows] = False
        if strangers.any():
            first = int(np.flatnonzero(strangers.any(axis=1))[0])
            raise ValueError(
                f'compatible="skrebate": no feature of {p} is known in both of the samples {rows[first]} and '
                f"{strangers[first].argmax()}, and scikit-rebate has no distance between them. Leave out samples "
                "or features with many missing values, or use compatible=None, which gives them the largest "
                "distance."
            )


def ramp(X, discrete):
    """Say from which difference on scikit-rebate counts it as 1.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, p)
        float64, finite or NaN; CSR in canonical form without stored zeros.
    discrete : bool ndarray of shape (p,)
        Features whose difference is 0 or 1.

    Returns
    -------
    float64 ndarray of shape (p,)
        The standard deviation of a feature's known values over their range; 0 for discrete features, 1 for constant
        ones.
    """
    columns = X.tocsc() if sparse.issparse(X) else X
    full = np.zeros(X.shape[1], dtype=np.float64)
    for j in np.flatnonzero(~discrete):
        values = columns[:, [j]].toarray() if sparse.issparse(X) else columns[:, j].astype(np.float64)
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
        Features whose difference is 0 or 1; some, but not all.
    groups : reliefe.distances.Groups
        Who is looked for.

    Returns
    -------
    MixedColumns or _TwoKinds
        Where values are missing, its distances are the usual ones. Else the share of discrete features in which two
        samples differ is multiplied by the number of all features, not by that of the discrete ones.
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


class SkrebateClasses(Classes):
    """A class per sample, as scikit-rebate's ReliefF has it.

    A sample stands at the end of its own list of neighbours, and gets there where its class has no more than k
    samples: a hit without a difference. The mean difference to the neighbours of class q is multiplied by q's share
    of all neighbours of other classes, squared, times the number of other classes. Where values are missing, these
    shares are counted anew in every feature, among the neighbours that are known there.
    """

    _has_gaps = None

    def _coefficients(self, block, counts):
        own = self.codes[block]
        misses = counts.copy()
        misses[np.arange(block.shape[0]), own] = 0
        coefficients = (self._sizes.shape[0] - 1) * np.square(misses / misses.sum(axis=1, keepdims=True))
        coefficients[np.arange(block.shape[0]), own] = -1.0
        return coefficients

    def update(self, Z, block, groups, near, counts, abs_mean, weights, team, full=None, advance=None):
        """As :meth:`Classes.update`."""
        own, counts = self.codes[block], counts.copy()
        small = np.flatnonzero(self._sizes[own] <= groups.k)
        near[small, groups.segment_ptr[own[small]] + counts[small, own[small]]] = block[small]
        counts[small, own[small]] += 1
        if self._has_gaps is None:
            self._has_gaps = not isinstance(Z, Columns) and full is not None and any_missing(Z)
        if not self._has_gaps or counts.shape[1] == 2:
            super().update(Z, block, groups, near, counts, abs_mean, weights, team, full, advance)
            return
        width = max(
            1, _ENTRIES // max(Z.shape[0] if sparse.issparse(Z) else 1, int(counts.sum(axis=1).max()))
        )
        team.each(
            lambda lo, hi: self._by_column(Z, block, groups, near, counts, full, lo, hi, weights),
            pieces(Z.shape[1], width),
        )

    def _by_column(self, Z, block, groups, near, counts, full, lo, hi, weights):
        """Add a block's updates to ``weights[lo:hi]``, with shares of classes of each feature's own."""
        Z = Z[:, lo:hi].toarray() if sparse.issparse(Z) else Z[:, lo:hi]
        for row, listed, taken, own in zip(block, near, counts, self.codes[block], strict=True):
            classes = np.flatnonzero(taken)
            segments = [slice(groups.segment_ptr[q], groups.segment_ptr[q] + taken[q]) for q in classes]
            chosen = np.concatenate([listed[segment] for segment in segments])
            sizes = np.abs(Z[row] - Z[chosen])
            known = ~np.isnan(sizes)
            sizes = np.where(known, np.where(sizes <= full[lo:hi], sizes, 1.0), 0.0)
            starts = np.concatenate([[0], np.cumsum(taken[classes])[:-1]])
            sums = np.add.reduceat(sizes, starts, axis=0)
            found = np.add.reduceat(known.astype(np.int64), starts, axis=0)
            hits = classes == own
            misses = np.maximum(found[~hits].sum(axis=0), 1)
            weights[lo:hi] += (
                (taken.shape[0] - 1) * (sums[~hits] * found[~hits]).sum(axis=0) / np.square(misses)
            )
            weights[lo:hi] -= (sums[hits] / np.maximum(found[hits], 1)).sum(axis=0)
