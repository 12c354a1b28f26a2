"""Relief weights for a multi-class target: blocks of rows → distances → neighbours → updates."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
from scipy import sparse

from reliefe._threads import Team
from reliefe.kernels import weights as weight_kernels

#: Sparse updates are summed in this many pieces per block, however many threads there are, so that the
#: order of every sum is fixed by the data alone.
_PIECES = 16


class Phases:
    """Wall-clock seconds by phase."""

    def __init__(self):
        self.seconds = defaultdict(float)

    @contextmanager
    def __call__(self, phase):
        """Add the time spent inside the block to ``phase``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] += time.perf_counter() - start


def class_coefficients(codes, class_sizes, rows):
    """Weight of every class in the update of every row: −1 for its own, P(q) / (1 − P(own)) for class q.

    Parameters
    ----------
    codes : int ndarray of shape (n,)
        Class of each row.
    class_sizes : int ndarray of shape (c,)
        Number of rows of each class.
    rows : int ndarray of shape (b,)
        Rows to give coefficients for.

    Returns
    -------
    float64 ndarray of shape (b, c)
    """
    own = codes[rows]
    rest = codes.shape[0] - class_sizes[own]
    coefficients = class_sizes[np.newaxis, :] / rest[:, np.newaxis]
    coefficients[np.arange(rows.shape[0]), own] = -1.0
    return coefficients


def multiclass_weights(Z, codes, n_classes, neighbours_of, rows, abs_mean, n_jobs, phases):
    """Relief weights of all columns (Algorithm 1, multi-class branch).

    Parameters
    ----------
    Z : ndarray or csr_matrix of shape (n, p)
        Range-normalised rows; feature differences are taken here.
    codes : int64 ndarray of shape (n,)
        Classes 0 … c − 1.
    n_classes : int
        Number of classes c.
    neighbours_of : DenseColumns, SparseColumns or EmbeddedRows
        Finds neighbours, class by class.
    rows : int64 ndarray of shape (s,)
        The rows to update from, one iteration each.
    abs_mean : bool
        Whether neighbours are averaged before the difference is taken.
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    phases : Phases
        Collects the seconds spent on "distances", "neighbours" and "weights".

    Returns
    -------
    weights : float64 ndarray of shape (p,)
        Divided by s.
    used : int64 ndarray of shape (s, c)
        Number of neighbours taken per row and class.
    """
    class_sizes = np.bincount(codes, minlength=n_classes)
    segment_ptr = neighbours_of.groups.segment_ptr
    b = min(neighbours_of.block_rows, rows.shape[0])
    neighbour_buffer = np.empty((b, segment_ptr[-1]), dtype=np.int32)
    used = np.zeros((rows.shape[0], n_classes), dtype=np.int64)
    weights = np.zeros(Z.shape[1], dtype=np.float64)
    with Team(n_jobs) as team:
        for start in range(0, rows.shape[0], b):
            block = rows[start : start + b]
            near, counts = neighbour_buffer[: block.shape[0]], used[start : start + b]
            neighbours_of.find(block, near, counts, team, phases)
            with phases("weights"):
                coefficients = class_coefficients(codes, class_sizes, block)
                _update(Z, block, near, segment_ptr, counts, coefficients, abs_mean, weights, team)
    return weights / rows.shape[0], used


def _update(Z, block, near, segment_ptr, counts, coefficients, abs_mean, weights, team):
    """Add one block's updates to ``weights``: columns shared out when dense, fixed pieces of rows when sparse."""
    if not sparse.issparse(Z):
        team.split(
            lambda lo, hi: weight_kernels.update_dense(
                Z, block, near, segment_ptr, counts, coefficients, abs_mean, lo, hi, weights
            ),
            Z.shape[1],
        )
        return
    size = block.shape[0]
    n_pieces = min(_PIECES, size)
    bounds = [size * i // n_pieces for i in range(n_pieces + 1)]
    partial = {lo: np.zeros_like(weights) for lo in bounds[:-1]}
    team.each(
        lambda lo, hi: weight_kernels.update_sparse(
            Z.indptr,
            Z.indices,
            Z.data,
            block,
            near,
            segment_ptr,
            counts,
            coefficients,
            abs_mean,
            lo,
            hi,
            partial[lo],
        ),
        list(pairwise(bounds)),
    )
    for lo in bounds[:-1]:
        weights += partial[lo]
