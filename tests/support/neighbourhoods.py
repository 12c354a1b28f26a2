"""Ask the library's own searches for neighbour sets, so that tests can look at what goes into the weights."""

import numpy as np
import scipy.sparse as sp

from reliefe._threads import Team
from reliefe.columns import Columns
from reliefe.distances import DenseColumns, EmbeddedRows, ExactColumns, Groups, SparseColumns
from reliefe.engine import Phases
from reliefe.scaling import normalise


def search_among_columns(X, codes, n_classes, k):
    """What ReliefF searches in; ``k`` is a number or "adaptive"."""
    groups = Groups.of(np.asarray(codes), n_classes, None if k == "adaptive" else k)
    Z = normalise(X)
    if sp.issparse(Z):
        return SparseColumns(Z, groups)
    return (DenseColumns if groups.k else ExactColumns)(Columns.normalised(Z), groups)


def search_in_embedding(E, metric, codes, n_classes, k):
    """What ReliefE searches in."""
    groups = Groups.of(np.asarray(codes), n_classes, None if k == "adaptive" else k)
    return EmbeddedRows(E, metric, groups)


def found(search, rows=None, n_jobs=None):
    """For each row asked for, a list with the neighbours of each class, as lists of row numbers."""
    groups = search.groups
    rows = np.arange(len(groups.members)) if rows is None else np.asarray(rows)
    result = []
    with Team(n_jobs) as team:
        for start in range(0, len(rows), search.block_rows):
            block = rows[start : start + search.block_rows].astype(np.int64)
            near = np.full((len(block), groups.segment_ptr[-1]), -1, dtype=np.int32)
            counts = np.full((len(block), len(groups.class_ptr) - 1), -1, dtype=np.int64)
            search.find(block, near, counts, team, Phases())
            for r in range(len(block)):
                starts = groups.segment_ptr[:-1]
                result.append([near[r, a : a + m].tolist() for a, m in zip(starts, counts[r], strict=True)])
    return result
