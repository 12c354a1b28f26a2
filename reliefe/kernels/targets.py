"""Distances between the label sets of a row and of its neighbours (the paper's table of target distances)."""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel

#: Codes of the distances between label sets, and of those between embedded targets.
F1, ACCURACY, SUBSET, HAMMING = 0, 1, 2, 3
COSINE, HYPERBOLIC = 4, 5


@kernel()
def _between_directions(product, own, others, kind):
    """Distance of two different vectors from their product and their squared norms."""
    if kind == COSINE:
        size = np.sqrt(own) * np.sqrt(others)
        cosine = product / size if size > 0.0 else 0.0
        return min(1.0, max(0.0, (1.0 - cosine) / 2.0))
    h = np.arccosh(max(1.0, np.sqrt(1.0 + own) * np.sqrt(1.0 + others) - product))
    return h / (1.0 + h)


@kernel()
def between_sets(indptr, indices, n_labels, kind, rows, neighbours, counts, lo, hi, out):
    """Distances in 0 … 1 between the label sets of ``rows[lo:hi]`` and of their neighbours.

    Parameters
    ----------
    indptr, indices : int arrays
        Label sets as CSR without values: the labels of each row, ascending.
    n_labels : int
        Number of labels.
    kind : int
        :data:`F1`, :data:`ACCURACY` (Jaccard), :data:`SUBSET` (0 when equal, else 1) or :data:`HAMMING`;
        :data:`COSINE` or :data:`HYPERBOLIC` where labels are not embedded but taken as vectors themselves.
    rows : int64 array of shape (b,)
        Row numbers of the block.
    neighbours : int32 array of shape (b, k)
        Row numbers of the neighbours.
    counts : int64 array of shape (b, 1)
        Number of neighbours of each row.
    lo, hi : int
        Range of positions in ``rows`` to work on.
    out : float64 array of shape (b, k)
        Filled; 0 between two empty sets.
    """
    for r in range(lo, hi):
        i = rows[r]
        size = indptr[i + 1] - indptr[i]
        for t in range(counts[r, 0]):
            other = neighbours[r, t]
            other_size = indptr[other + 1] - indptr[other]
            shared = 0
            a = indptr[i]
            b = indptr[other]
            while a < indptr[i + 1] and b < indptr[other + 1]:
                if indices[a] == indices[b]:
                    shared += 1
                    a += 1
                    b += 1
                elif indices[a] < indices[b]:
                    a += 1
                else:
                    b += 1
            union = size + other_size - shared
            if union == 0 or union == shared:
                out[r, t] = 0.0
            elif kind == F1:
                out[r, t] = (size + other_size - 2 * shared) / (size + other_size)
            elif kind == ACCURACY:
                out[r, t] = (union - shared) / union
            elif kind == SUBSET:
                out[r, t] = 1.0
            elif kind == HAMMING:
                out[r, t] = (union - shared) / n_labels
            else:
                out[r, t] = _between_directions(float(shared), float(size), float(other_size), kind)


@kernel()
def between_vectors(V, kind, rows, neighbours, counts, lo, hi, out):
    """Distances in 0 … 1 between embedded targets; equal vectors are at distance exactly 0.

    Parameters
    ----------
    V : float64 array of shape (n, d)
        Embedded targets.
    kind : int
        :data:`COSINE`, (1 − cos) / 2, with cos = 0 where one vector is zero; or :data:`HYPERBOLIC`, h / (1 + h)
        with h the distance on the hyperboloid of the points that have ``V`` as space-like coordinates.
    rows, neighbours, counts, lo, hi, out
        As in :func:`between_sets`.
    """
    d = V.shape[1]
    for r in range(lo, hi):
        i = rows[r]
        for t in range(counts[r, 0]):
            other = neighbours[r, t]
            product = 0.0
            own = 0.0
            others = 0.0
            equal = True
            for j in range(d):
                a = V[i, j]
                b = V[other, j]
                equal = equal and a == b
                product += a * b
                own += a * a
                others += b * b
            out[r, t] = 0.0 if equal else _between_directions(product, own, others, kind)
