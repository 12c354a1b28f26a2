"""Relief weights for a multi-class target: blocks of rows → distances → neighbours → updates."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
from scipy import sparse

from reliefe._threads import Team
from reliefe.kernels import neighbours as neighbour_kernels
from reliefe.kernels import weights as weight_kernels

_BLOCK_BYTES = 32 * 2**20
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


def block_length(n, p, n_rows):
    """How many rows to work on at once, so that a block's distances and queries stay small."""
    return int(
        np.clip(min(_BLOCK_BYTES // (8 * n), _BLOCK_BYTES // (16 * p)), 16, max(16, min(1024, n_rows)))
    )


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


def multiclass_weights(Z, codes, n_classes, distances, rows, n_neighbors, abs_mean, n_jobs, phases):
    """Relief weights of all columns (Algorithm 1, multi-class branch).

    Parameters
    ----------
    Z : ndarray or csr_matrix of shape (n, p)
        Range-normalised rows; feature differences are taken here.
    codes : int64 ndarray of shape (n,)
        Classes 0 … c − 1.
    n_classes : int
        Number of classes c.
    distances : ColumnDistances or EmbeddedDistances
        Where neighbours are looked for.
    rows : int64 ndarray of shape (s,)
        The rows to update from, one iteration each.
    n_neighbors : int or None
        k; None for the adaptive number (Algorithm 3).
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
    n, p = Z.shape
    class_sizes = np.bincount(codes, minlength=n_classes)
    members = np.argsort(codes, kind="stable").astype(np.int64)
    class_ptr = np.concatenate(([0], np.cumsum(class_sizes))).astype(np.int64)
    capacity = class_sizes if n_neighbors is None else np.minimum(class_sizes, n_neighbors)
    segment_ptr = np.concatenate(([0], np.cumsum(capacity))).astype(np.int64)
    k = 0 if n_neighbors is None else int(min(n_neighbors, n))

    b = block_length(n, p, rows.shape[0])
    distance_buffer = np.empty((b, n), dtype=distances.dtype)
    neighbour_buffer = np.empty((b, segment_ptr[-1]), dtype=np.int32)
    used = np.zeros((rows.shape[0], n_classes), dtype=np.int64)
    weights = np.zeros(p, dtype=np.float64)
    tolerance = distances.dtype.type(distances.tolerance)
    with Team(n_jobs) as team:
        for start in range(0, rows.shape[0], b):
            block = rows[start : start + b]
            size = block.shape[0]
            found, near, counts = distance_buffer[:size], neighbour_buffer[:size], used[start : start + size]
            with phases("distances"):
                distances.block(block, found, team)
            with phases("neighbours"):
                team.split(
                    lambda lo, hi, block=block, found=found, near=near, counts=counts: (
                        neighbour_kernels.nearest_per_class(
                            found, block, members, class_ptr, segment_ptr, k, tolerance, lo, hi, near, counts
                        )
                    ),
                    size,
                )
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
