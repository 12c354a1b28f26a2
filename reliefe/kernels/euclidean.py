"""Exact Euclidean neighbours out of rough squared distances (for the latent dimension and the embedding)."""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel
from reliefe.kernels.neighbours import kth_smallest


@kernel(fastmath={"reassoc", "nsz"})
def squared_dense(left, i, right, m):
    """Squared distance of ``left[i]`` and ``right[m]``, from the differences themselves."""
    total = 0.0
    for j in range(left.shape[1]):
        gap = left[i, j] - right[m, j]
        total += gap * gap
    return total


@kernel()
def squared_sparse(indptr, indices, values, i, other_indptr, other_indices, other_values, m):
    """As :func:`squared_dense`, for CSR rows with sorted columns."""
    total = 0.0
    e, end = indptr[i], indptr[i + 1]
    f, other_end = other_indptr[m], other_indptr[m + 1]
    while e < end or f < other_end:
        if f >= other_end or (e < end and indices[e] < other_indices[f]):
            gap = values[e]
            e += 1
        elif e >= end or other_indices[f] < indices[e]:
            gap = other_values[f]
            f += 1
        else:
            gap = values[e] - other_values[f]
            e += 1
            f += 1
        total += gap * gap
    return total


@kernel()
def candidates(rough, slack, k, heap, out):
    """List who may be among the k nearest, given squared distances off by at most ``slack``.

    Parameters
    ----------
    rough : float64 array of shape (n,)
        Infinite for whoever is out of the question.
    slack : float
        Bound of the error.
    k : int
        From 1 to the number of finite entries.
    heap : float64 array of shape (k,)
        Scratch.
    out : int64 array of shape (n,)
        Filled with the candidates, ascending.

    Returns
    -------
    int
        How many there are.
    """
    limit = kth_smallest(rough, rough.shape[0], k, heap) + 2.0 * slack
    count = 0
    for m in range(rough.shape[0]):
        if rough[m] <= limit:
            out[count] = m
            count += 1
    return count


@kernel()
def _keep_nearest(listed, exact, count, ids, squares):
    """Write the nearest of ``count`` candidates, ascending by distance, then by number."""
    for t in range(ids.shape[0]):
        best = t
        for u in range(t + 1, count):
            # Swaps mix up the order of the numbers, so that ties are settled by the numbers themselves.
            if exact[u] < exact[best] or (exact[u] == exact[best] and listed[u] < listed[best]):
                best = u
        exact[t], exact[best] = exact[best], exact[t]
        listed[t], listed[best] = listed[best], listed[t]
        ids[t] = listed[t]
        squares[t] = exact[t]


@kernel()
def nearest_dense(rough, slack, left, first, right, lo, hi, ids, squares):
    """Find the nearest rows of ``right`` to the rows ``left[first + lo : first + hi]``.

    Parameters
    ----------
    rough : float64 array of shape (b, n)
        Squared distances from a block of rows of ``left``, which begins with row ``first``, to all rows of
        ``right``, off by at most ``slack``; infinite where a row must not be found.
    slack : float
        Bound of the error.
    left, right : float64 arrays of shape (·, p)
        The rows.
    first : int
        Row of ``left`` that row 0 of ``rough`` belongs to.
    lo, hi : int
        Range of rows of ``rough`` to work on.
    ids : int32 array of shape (b, k)
        Filled with row numbers of ``right``, nearest first, ties to the lower number.
    squares : float64 array of shape (b, k)
        Filled with their squared distances.
    """
    n = rough.shape[1]
    k = ids.shape[1]
    heap = np.empty(k, dtype=np.float64)
    listed = np.empty(n, dtype=np.int64)
    exact = np.empty(n, dtype=np.float64)
    for r in range(lo, hi):
        count = candidates(rough[r], slack, k, heap, listed)
        for t in range(count):
            exact[t] = squared_dense(left, first + r, right, listed[t])
        _keep_nearest(listed, exact, count, ids[r], squares[r])


@kernel()
def nearest_sparse(
    rough,
    slack,
    indptr,
    indices,
    values,
    first,
    other_indptr,
    other_indices,
    other_values,
    lo,
    hi,
    ids,
    squares,
):
    """As :func:`nearest_dense`, for CSR rows with sorted columns."""
    n = rough.shape[1]
    k = ids.shape[1]
    heap = np.empty(k, dtype=np.float64)
    listed = np.empty(n, dtype=np.int64)
    exact = np.empty(n, dtype=np.float64)
    for r in range(lo, hi):
        count = candidates(rough[r], slack, k, heap, listed)
        for t in range(count):
            exact[t] = squared_sparse(
                indptr, indices, values, first + r, other_indptr, other_indices, other_values, listed[t]
            )
        _keep_nearest(listed, exact, count, ids[r], squares[r])
