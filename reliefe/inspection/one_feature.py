"""Weights of one permuted feature at a time, from distances that are kept.

Distances between samples are sums over features. One feature is subtracted and its permuted values are
added, so that one permutation takes time for the pairs of samples, and none for the other features.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from reliefe._threads import Team, pieces
from reliefe.columns import Columns
from reliefe.distances import Groups
from reliefe.inspection.kept import suits, target_of
from reliefe.kernels import mixed_distances
from reliefe.kernels import permuted as kernels
from reliefe.kernels.mixed import CLASSES, LABEL_SETS, RESPONSES
from reliefe.packed import rounding
from reliefe.relieff import ReliefF
from reliefe.row_pairs import RELATIVE_TOLERANCE
from reliefe.targets import Classes, LabelSets

_TILE = 2**19  # values of a few features that are worked on together
_NOISE = 1e-14  # rounding of a weight, as in reliefe.base.without_noise


def kept_features(ranker, X, y, n):
    """As :func:`reliefe.inspection.kept.kept_weights`, for tests of single features."""
    if not suits(ranker, y, n):
        return None
    return KeptFeatures(ranker, ranker._fit(X, y))


class KeptFeatures:
    """Distances, and how neighbours are chosen and counted; ``prepared`` is what the ranker's fit made of X."""

    def __init__(self, ranker, prepared):
        Z, self._full, given, rows = prepared
        self._p = Z.shape[1]
        if sparse.issparse(Z):
            Z = Z.tocsc()
        self._Z = Z
        if isinstance(Z, Columns):
            self._places = np.empty(self._p, dtype=np.int64)
            self._places[Z.order] = np.arange(self._p)
        else:
            self._places = np.arange(self._p)
        target = target_of(ranker, given, np.arange(Z.shape[0]))
        near = isinstance(ranker, ReliefF)
        self._choice(ranker, target, rows, near)
        with Team(ranker.n_jobs) as team:
            self._measure(team)

    def _choice(self, ranker, target, rows, near):
        n = self._Z.shape[0]
        by_class = isinstance(target, Classes)
        if near:
            k = None if ranker.n_neighbors == "adaptive" else min(ranker.n_neighbors, n)
            groups = target.groups(k)
            self._k, far, similar, abs_mean = groups.k, False, False, bool(ranker.abs_mean)
        else:
            groups = (
                Groups.of(target.codes, ranker.classes_.shape[0], 1)
                if by_class
                else Groups.of(np.zeros(n, dtype=np.int64), 1, 1)
            )
            self._k = kernels.PER_ROW if ranker._per_row else kernels.COMMON
            far, similar, abs_mean = ranker._far, ranker._similarity, False
        self._groups, self._rows = groups, groups.places()[rows]
        members, nothing = groups.members, np.zeros((1, n))
        coefficients, targets, falling = np.zeros((1, 1)), nothing, np.zeros(0)
        if by_class:
            coefficients = target._coefficients(members, None)
        elif isinstance(target, LabelSets):
            everyone, targets = np.tile(members.astype(np.int32), (n, 1)), np.zeros((n, n))
            target.measure(members, everyone, np.full((n, 1), n), 0, n, targets)
        else:
            targets = np.abs(target.values[:, np.newaxis] - target.values)
            if near and target.nearest_first:
                most = max(1, n - 1 if self._k == 0 else self._k)
                falling = target._influence(np.array([[most]]), most)[0]
        kind = CLASSES if by_class else LABEL_SETS if isinstance(target, LabelSets) else RESPONSES
        self._rest = far, similar, kind, abs_mean, np.ascontiguousarray(coefficients), targets, falling

    def _measure(self, team):
        """Measure all distances, by place, in units for which every sum of floats is exact."""
        n, p = self._Z.shape
        width = max(1, _TILE // n)
        stored, missing = np.zeros((2, n), dtype=np.int64)
        tiles = pieces(p, width)
        if isinstance(self._Z, Columns):
            stored, missing = self._Z.not_zero()
            tiles = self._Z.few_columns(width)
        else:
            filled = np.bincount(self._Z.indices, minlength=n)
            stored, missing = filled, np.bincount(self._Z.indices[np.isnan(self._Z.data)], minlength=n)
        gaps = bool(missing.any())
        # A permutation may put one more value, or one more gap, into any row.
        terms, most = 2 * int(stored.max(initial=0)) + 2, int(missing.max(initial=0)) + gaps
        self._unit, self._tolerance = rounding(terms, p, min(p, most))
        distances, known = np.zeros((n, n)), np.zeros((n, n if gaps else 0))
        sums, everyone = (distances, known), np.arange(n)
        for lo, hi in tiles:
            columns = self._rounded(np.ascontiguousarray(self._tile(lo, hi)[self._groups.members].T))
            holes = bool(np.isnan(columns).any())
            if gaps and not holes:
                known += hi - lo
            given = columns, holes, everyone, False
            team.each(
                lambda r0, r1, given=given: mixed_distances.add_dense(*given, r0, r1, *sums),
                pieces(n, 64),
            )
        self._distances, self._known = distances, known
        if gaps:
            distances = distances.copy()
            mixed_distances.stretch(p, known, 0, n, distances)
        self._means = (distances.sum(axis=1) - np.diag(distances)) / max(1, n - 1)

    def _rounded(self, values):
        return np.rint(values / self._unit) * self._unit

    def _tile(self, lo, hi):
        return self._Z.tile(lo, hi) if isinstance(self._Z, Columns) else self._Z[:, lo:hi].toarray()

    def column(self, feature):
        """Return the values (n,) of a feature on the scale of its differences, NaN where they are missing."""
        if isinstance(self._Z, Columns):
            return np.ascontiguousarray(self._Z.column(feature))
        return self._tile(feature, feature + 1)[:, 0]

    def weights(self, feature, orders, observed, slack, tie, wanted):
        """Weigh a feature in one order of its values after the other, until ``wanted`` weights are large.

        Parameters
        ----------
        feature : int
            Its number.
        orders : int64 ndarray of shape (b, n)
            Which sample's value each sample gets.
        observed, slack, tie, wanted
            As in :func:`reliefe.kernels.permuted.permuted_weights`.

        Returns
        -------
        weights : float64 ndarray of shape (at most b,)
        larger : int
            How many of them are large.
        """
        values, groups = self.column(feature), self._groups
        full = 1.0 if self._full is None else float(self._full[self._places[feature]])
        out = np.empty(orders.shape[0])
        done, larger = kernels.permuted_weights(
            self._distances,
            self._known,
            self._p,
            self._means,
            values,
            self._rounded(values),
            full,
            orders,
            groups.members,
            groups.class_ptr,
            groups.segment_ptr,
            self._rows,
            self._k,
            self._tolerance,
            RELATIVE_TOLERANCE,
            *self._rest,
            observed,
            max(slack, _NOISE),
            tie,
            wanted,
            out,
        )
        return out[:done], larger
