"""A random subset of a data set's samples, for protocols that are smaller than the paper's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.utils import resample

from experiments.datasets.loading import Dataset, checksum_of
from experiments.tasks import REGRESSION


def sampled(data: Dataset, max_rows: int | None, seed: int) -> Dataset:
    """Draw samples without replacement, where a data set has more than may be used.

    Parameters
    ----------
    data : Dataset
        Not modified.
    max_rows : int or None
        How many samples may be used; None means all.
    seed : int
        The study's: the same seed draws the same samples for every ranker.

    Returns
    -------
    Dataset
        The same one when it has no more samples than that. Otherwise with ``max_rows`` samples in their old order
        and a checksum of its own. Classes keep their shares, to rounding, and those without a sample left are gone;
        all labels stay. Features stay as they are, those that have become constant among them.
    """
    n = data.X.shape[0]
    if max_rows is None or n <= max_rows:
        return data
    by_class = None if sparse.issparse(data.y) or data.task == REGRESSION else data.y
    rows = np.sort(
        resample(np.arange(n), replace=False, n_samples=max_rows, random_state=seed, stratify=by_class)
    )
    X, y, class_names = data.X[rows], data.y[rows], data.class_names
    if by_class is not None:
        present, y = np.unique(y, return_inverse=True)
        y, class_names = y.astype(np.int64), tuple(class_names[code] for code in present)
    checksum = checksum_of(data.task, X, y)
    assignment = None if data.assignment is None else data.assignment.of_rows(rows)
    return replace(data, X=X, y=y, class_names=class_names, checksum=checksum, assignment=assignment)
