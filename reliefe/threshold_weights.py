"""Relief weights from every sample within a distance (the SURF rankers): distances → thresholds → weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from reliefe._threads import Team
from reliefe.columns import Columns
from reliefe.row_pairs import DensePairs, MixedPairs, SparsePairs
from reliefe.scaling import any_missing


@dataclass(frozen=True)
class Rule:
    """What tells the members of the family apart.

    Attributes
    ----------
    per_row : bool
        Thresholds from each sample's own distances (mean ∓ half their standard deviation), or one threshold for
        all: the mean over all pairs.
    far : bool
        Whether far samples count, with the sign turned.
    similarity : bool
        Whether far samples add 1 − difference in place of −difference. That is the same up to a constant that all
        features get, and the constant is 0 where every class has a far sample.
    """

    per_row: bool
    far: bool
    similarity: bool = False


def threshold_weights(
    Z, full, groups, source, rule, skrebate, n_jobs, phases, sample_weight=None, lacking=None
):
    """Weights of all features from pairs of samples that are near (and far).

    Parameters
    ----------
    Z : reliefe.columns.Columns, ndarray or csr_matrix of shape (n, p)
        Range-normalised samples; feature differences are taken here.
    full : float64 ndarray of shape (p,), or None
        From :func:`reliefe.scaling.prepare`; None where no value is missing and no feature holds codes.
    groups : reliefe.distances.Groups
        Samples by class.
    source : DenseRows, PackedRows, MixedRows, SparseColumns, MixedColumns or EmbeddedRows
        Where distances come from.
    rule : Rule
        Which member of the family.
    skrebate : bool
        Whether to weigh classes and to place SURF's threshold as scikit-rebate does.
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    phases : reliefe.engine.Phases
        Collects the seconds spent on "distances", "neighbours" and "weights".
    sample_weight : float64 ndarray of shape (n,), optional
        What each sample counts; not with ``skrebate``.
    lacking : bool ndarray of shape (2, n), optional
        Filled with whether each sample, by place, has no near sample of its class, and none of another class.

    Returns
    -------
    float64 ndarray of shape (p,)
    """
    n = groups.members.shape[0]
    if isinstance(Z, np.ndarray) and full is None:
        Z = Columns.normalised(Z)
    if full is not None:
        rows = MixedPairs(Z, full, groups, source)
    else:
        rows = (SparsePairs if sparse.issparse(Z) else DensePairs)(Z, groups, source)
    rows.lacking = lacking
    if sample_weight is not None:
        rows.weigh_rows(sample_weight)
    passes = 1 if rule.per_row or rows.at_once or hasattr(source, "mean_distance") else 2
    with Team(n_jobs) as team, phases.bar(passes * n):
        threshold = None
        if not rule.per_row:
            threshold = common_threshold(rows, source, team, phases)
            if skrebate:  # the mean over the whole square, its diagonal of zeros among it
                threshold *= (n - 1) / n
                gaps = Z.has_gaps if isinstance(Z, Columns) else any_missing(Z)
                if gaps:  # and the half above it, which is then left at 0
                    threshold /= 2.0
        weights, offset = rows.weigh(rule, skrebate, threshold, team, phases)
    if isinstance(Z, Columns):
        weights = Z.in_given_order(weights)
    weights /= n
    if rule.similarity:
        weights += offset / n
    return weights


def common_threshold(rows, source, team, phases):
    """Return the mean distance of all pairs of samples."""
    if not hasattr(source, "mean_distance"):
        return rows.means(team, phases).mean()
    with phases("distances"):
        return source.mean_distance(team)
