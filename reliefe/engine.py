"""Relief weights: blocks of rows → neighbours → updates (the loop of Algorithm 1)."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import contextmanager

import numpy as np

from reliefe._threads import Team

_NEIGHBOUR_BYTES = 64 * 2**20


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


def relief_weights(Z, target, neighbours_of, rows, abs_mean, n_jobs, phases):
    """Relief weights of all columns.

    Parameters
    ----------
    Z : ndarray or csr_matrix of shape (n, p)
        Range-normalised rows; feature differences are taken here.
    target : reliefe.targets.Classes or reliefe.targets.LabelSets
        Turns neighbours into updates.
    neighbours_of : DenseColumns, SparseColumns or EmbeddedRows
        Finds neighbours, group by group.
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
        Number of neighbours taken per row and group.
    """
    groups = neighbours_of.groups
    capacity = int(groups.segment_ptr[-1])
    b = min(neighbours_of.block_rows, rows.shape[0], max(16, _NEIGHBOUR_BYTES // (4 * max(1, capacity))))
    neighbour_buffer = np.empty((b, capacity), dtype=np.int32)
    used = np.zeros((rows.shape[0], groups.class_ptr.shape[0] - 1), dtype=np.int64)
    weights = np.zeros(Z.shape[1], dtype=np.float64)
    # Group by group, so that the rows of a block are near one another in the searched array too.
    place = np.empty(Z.shape[0], dtype=np.int64)
    place[groups.members] = np.arange(Z.shape[0])
    order = np.argsort(place[rows])
    sorted_rows = rows[order]
    with Team(n_jobs) as team:
        for start in range(0, rows.shape[0], b):
            block = sorted_rows[start : start + b]
            near, counts = neighbour_buffer[: block.shape[0]], used[start : start + b]
            neighbours_of.find(block, near, counts, team, phases)
            with phases("weights"):
                target.update(Z, block, groups, near, counts, abs_mean, weights, team)
    in_given_order = np.empty_like(used)
    in_given_order[order] = used
    return weights / rows.shape[0], in_given_order
