"""Relief weights: blocks of samples → neighbours → updates (the loop of Algorithm 1)."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import contextmanager

import numpy as np
from scipy import sparse

from reliefe._threads import Team, pieces
from reliefe.columns import Columns

_NEIGHBOUR_BYTES = 64 * 2**20
_UPDATES = 4e8  # differences added up before anything else gets a chance


class Phases:
    """Wall-clock seconds by phase, and a progress bar over the samples.

    ``saved`` are seconds of phases that were not spent, their result being in a cache; it is negative where
    writing to the cache itself took time.

    Parameters
    ----------
    title : str or None
        What stands before the bar; None draws none.
    """

    def __init__(self, title=None):
        self.seconds = defaultdict(float)
        self.saved = 0.0
        self._title = title
        self._bar = None

    @contextmanager
    def bar(self, total):
        """Draw a bar of ``total`` steps while the block lasts, on standard error, if it lasts a second or more."""
        if self._title is None:
            yield
            return
        from tqdm import tqdm

        form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
        with tqdm(total=total, desc=self._title, bar_format=form, delay=1.0, leave=False) as self._bar:
            yield
        self._bar = None

    def advance(self, steps):
        """Move the bar on."""
        if self._bar is not None:
            self._bar.update(steps)

    @contextmanager
    def steps(self, number):
        """Move the bar by some steps: bit by bit as ``advance(share)`` is called, and for the rest at the end."""
        done = [0.0, 0]

        def advance(share):
            done[0] += share
            whole = min(number, int(done[0] * number))
            self.advance(whole - done[1])
            done[1] = whole

        yield advance
        self.advance(number - done[1])

    def share(self, seconds, parts):
        """Divide wall-clock seconds among phases in proportion to ``parts``, seconds summed over threads."""
        whole = sum(parts.values())
        for phase, part in parts.items():
            self.seconds[phase] += float(seconds * part / whole) if whole > 0.0 else 0.0

    @contextmanager
    def __call__(self, phase):
        """Add the time spent inside the block to ``phase``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] += time.perf_counter() - start


def relief_weights(Z, target, neighbours_of, rows, abs_mean, n_jobs, phases, full=None):
    """Relief weights of all features.

    Parameters
    ----------
    Z : reliefe.columns.Columns, ndarray or csr_matrix of shape (n, p)
        Range-normalised samples; feature differences are taken here.
    target : reliefe.targets.Classes, reliefe.targets.LabelSets or reliefe.targets.Responses
        Turns neighbours into updates.
    neighbours_of : DenseColumns, PackedRows, MixedRows, SparseColumns, MixedColumns or EmbeddedRows
        Finds neighbours, group by group.
    rows : int64 ndarray of shape (s,)
        The samples to update from, one iteration each.
    abs_mean : bool
        Whether neighbours are averaged before the difference is taken.
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    phases : Phases
        Collects the seconds spent on "distances", "neighbours" and "weights".
    full : float64 ndarray of shape (p,), optional
        For samples from :func:`reliefe.scaling.normalise_mixed`: which differences count as 1.

    Returns
    -------
    weights : float64 ndarray of shape (p,)
        Per iteration.
    used : int64 ndarray of shape (s, c)
        Number of neighbours taken per sample and group.
    """
    groups = neighbours_of.groups
    capacity = int(groups.segment_ptr[-1])
    b = min(neighbours_of.block_rows, rows.shape[0], max(16, _NEIGHBOUR_BYTES // (4 * max(1, capacity))))
    # Samples whose updates take a fraction of a second, so that a fit can be interrupted; the data alone decide.
    width = Z.nnz / Z.shape[0] if sparse.issparse(Z) else Z.shape[1]
    chunk = int(np.clip(_UPDATES / (max(1, capacity) * max(1.0, width)), 16, b))
    if isinstance(Z, Columns):
        chunk = b  # all samples at once, but a few features at a time
    neighbour_buffer = np.empty((b, capacity), dtype=np.int32)
    used = np.zeros((rows.shape[0], groups.class_ptr.shape[0] - 1), dtype=np.int64)
    sums = target.new_sums(Z.shape[1])
    neighbours_of.nearest_first = target.nearest_first
    # Group by group, so that the samples of a block are near one another in the searched array too.
    order = np.argsort(groups.places()[rows])
    sorted_rows = rows[order]
    # Searching counts half of a sample's progress, updating the other half.
    with Team(n_jobs) as team, phases.bar(2 * rows.shape[0]):
        for start in range(0, rows.shape[0], b):
            block = sorted_rows[start : start + b]
            near, counts = neighbour_buffer[: block.shape[0]], used[start : start + b]
            neighbours_of.find(block, near, counts, team, phases)
            with phases("weights"):
                for lo, hi in pieces(block.shape[0], chunk):
                    part = slice(lo, hi)
                    with phases.steps(hi - lo) as advance:
                        target.update(
                            Z,
                            block[part],
                            groups,
                            near[part],
                            counts[part],
                            abs_mean,
                            sums,
                            team,
                            full,
                            advance,
                        )
    in_given_order = np.empty_like(used)
    in_given_order[order] = used
    weights = target.weights(sums, rows.shape[0])
    return Z.in_given_order(weights) if isinstance(Z, Columns) else weights, in_given_order
