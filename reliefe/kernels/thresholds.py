"""Kernels of the rankers that use every row within a distance: SURF, SURF*, MultiSURF, MultiSURF*.

What such a ranker does comes down to one number per pair of rows: how much the differences of the pair add to the
weights, the same for all columns. Distances of a row give the thresholds (:func:`spread`), distances and thresholds
give the weights of its pairs (:func:`zone_factors`), and a weighted sum of differences remains. Rows stand in the
order of their classes, so that a class is a stretch of a row of distances.
"""

from __future__ import annotations

import numpy as np

from reliefe.kernels import kernel

#: Places whose pairs are listed, and worked on, together.
TILE_ROWS = 128
_TILE_COLUMNS = 64  # a tile is then 64 KiB


@kernel(fastmath={"reassoc"})  # the last digits of a threshold decide nothing: see the tolerance of a tie
def spread(distances, positions, lo, hi, means, deviations):
    """Mean and standard deviation of the distances of rows to all other rows.

    Parameters
    ----------
    distances : array of shape (b, n)
        Distances to all rows, the row itself among them.
    positions : int64 array of shape (b,)
        Where the rows themselves stand; left out.
    lo, hi : int
        Rows to work on.
    means, deviations : float64 arrays of shape (b,)
        Entries ``lo … hi − 1`` are overwritten. The deviation is that of all n − 1 distances (divided by n − 1).
    """
    n = distances.shape[1]
    for r in range(lo, hi):
        before = distances[r, : positions[r]]
        after = distances[r, positions[r] + 1 :]
        total = 0.0
        for m in range(before.shape[0]):
            total += np.float64(before[m])
        for m in range(after.shape[0]):
            total += np.float64(after[m])
        mean = total / (n - 1)
        squares = 0.0
        for m in range(before.shape[0]):
            d = np.float64(before[m]) - mean
            squares += d * d
        for m in range(after.shape[0]):
            d = np.float64(after[m]) - mean
            squares += d * d
        means[r] = mean
        deviations[r] = np.sqrt(squares / (n - 1))


@kernel()
def doubtful(distances, positions, below, above, far, margins, lo, hi, found):
    """Tell in which rows a distance is so near a threshold that an error could put it on the other side.

    Parameters
    ----------
    distances : int64 array of shape (b, n)
        Distances to all rows, each within an error of the right one.
    positions : int64 array of shape (b,)
        Where the rows themselves stand; left out.
    below, above : int64 arrays of shape (b,)
        Thresholds, as in :func:`zone_factors`, from these distances.
    far : bool
        Whether far rows count.
    margins : int64 array of shape (b,)
        How near is too near.
    lo, hi : int
        Rows to work on.
    found : bool array of shape (b,)
        Entries ``lo … hi − 1`` are overwritten.
    """
    for r in range(lo, hi):
        row = distances[r]
        low = below[r]
        high = above[r] if far else low
        margin = margins[r]
        count = 0
        for m in range(row.shape[0]):
            count += np.int64(abs(row[m] - low) <= margin) | np.int64(abs(row[m] - high) <= margin)
        own = row[positions[r]]
        count -= np.int64(abs(own - low) <= margin) | np.int64(abs(own - high) <= margin)
        found[r] = count > 0


@kernel()
def _shares(counts, own, class_ptr, skrebate, factors):
    """Weight of a pair for every class, from how many rows of each lie in a zone; return the weights' sum.

    Ours is ReliefF's rule: the mean over the rows of a class, times −1 for the row's own class and
    P(q) / (1 − P(own)) for class q. scikit-rebate weighs the mean over the rows of class q by q's share of the
    misses in the zone, squared, times the number of other classes.
    """
    n_classes = counts.shape[0]
    n = class_ptr[n_classes]
    others = n - (class_ptr[own + 1] - class_ptr[own])
    misses = 0
    for q in range(n_classes):
        if q != own:
            misses += counts[q]
    present = (
        0  # rows of the other classes that are in the zone, and of all of them: whole numbers, so that a
    )
    total = 0.0  # sum that is 0 on paper is 0 here
    for q in range(n_classes):
        c = counts[q]
        factors[q] = 0.0
        if c == 0:
            continue
        if q == own:
            factors[q] = -1.0 / c
        elif skrebate:
            factors[q] = np.float64(c) * (n_classes - 1) / (np.float64(misses) * misses)
            total += factors[q] * c
        else:
            size = class_ptr[q + 1] - class_ptr[q]
            factors[q] = size / (np.float64(others) * c)
            present += size
    if skrebate:
        return total - 1.0 if counts[own] > 0 else total
    return (present - others) / others if counts[own] > 0 else present / others


@kernel()
def zone_factors(
    distances, positions, class_ptr, below, above, far, skrebate, lo, hi, near_factors, far_factors, offsets
):
    """Weights of the pairs of some rows, as seen from these rows: one number per zone and class.

    Parameters
    ----------
    distances : array of shape (b, n)
        Distances to all rows.
    positions : int64 array of shape (b,)
        Where the rows themselves stand; left out.
    class_ptr : int64 array of shape (c + 1,)
        The rows of class q stand at ``class_ptr[q] … class_ptr[q + 1] − 1``.
    below, above : arrays of shape (b,), of the type of ``distances``
        A row is near when its distance is less than ``below``, and far when it is more than ``above``.
    far : bool
        Whether far rows count. Their differences are then subtracted.
    skrebate : bool
        Whether classes are weighed as scikit-rebate does, which differs from ReliefF's rule with three or more.
    lo, hi : int
        Rows to work on.
    near_factors, far_factors : float64 arrays of shape (c, b)
        Weight of the difference to a near row, and to a far row, of each class. Columns ``lo … hi − 1`` are
        overwritten; 0 where there are no such rows.
    offsets : float64 array of shape (b,)
        What the far rows add to every column if 1 − difference is counted in place of −difference.
    """
    n_classes = class_ptr.shape[0] - 1
    near_counts = np.empty(n_classes, dtype=np.int64)
    far_counts = np.empty(n_classes, dtype=np.int64)
    factors = np.empty(n_classes, dtype=np.float64)
    for r in range(lo, hi):
        row = distances[r]
        position = positions[r]
        low = below[r]
        high = above[r]
        own = _class_of(position, class_ptr)
        for q in range(n_classes):
            near = 0
            beyond = 0
            members = row[
                class_ptr[q] : class_ptr[q + 1]
            ]  # counted from 0, which makes it a loop without checks
            for m in range(members.shape[0]):
                near += np.int64(members[m] < low)
                beyond += np.int64(members[m] > high)
            near_counts[q] = near
            far_counts[q] = beyond
        near_counts[own] -= np.int64(row[position] < low)
        far_counts[own] -= np.int64(row[position] > high)
        _shares(near_counts, own, class_ptr, skrebate, factors)
        for q in range(
            n_classes
        ):  # loops: numba compiles a second's worth of checks for assignments to slices
            near_factors[q, r] = factors[q]
            far_factors[q, r] = 0.0
        offsets[r] = 0.0
        if far:
            offsets[r] = _shares(far_counts, own, class_ptr, skrebate, factors)
            for q in range(n_classes):
                far_factors[q, r] = -factors[q]


@kernel()
def _class_of(position, class_ptr):
    """Class of the row that stands at ``position``."""
    own = 0
    while position >= class_ptr[own + 1]:
        own += 1
    return own


@kernel()
def _one_way(row, r, class_ptr, low, high, near_factors, far_factors, start, stop, out):
    """Put the weights of one row's pairs with the rows ``start … stop − 1``, as seen from it, into ``out``."""
    for q in range(class_ptr.shape[0] - 1):
        near = near_factors[q, r]
        beyond = far_factors[q, r]
        begin = max(start, class_ptr[q])
        end = min(stop, class_ptr[q + 1])
        if begin >= end:
            continue
        members = row[begin:end]
        weights = out[begin:end]
        for m in range(members.shape[0]):
            d = members[m]
            weights[m] = near if d < low else (beyond if d > high else 0.0)


@kernel()
def pair_weights(distances, positions, class_ptr, below, above, near_factors, far_factors, lo, hi, out):
    """Weights of the pairs of some rows, as seen from these rows, pair by pair.

    Parameters
    ----------
    distances, positions, class_ptr, below, above, near_factors, far_factors : arrays
        As in :func:`zone_factors`.
    lo, hi : int
        Rows to work on.
    out : float64 array of shape (b, n)
        Weights of the differences, 0 for a row and itself. Rows ``lo … hi − 1`` are overwritten.
    """
    start = np.int64(0)
    for r in range(lo, hi):
        row = distances[r]
        _one_way(
            row, r, class_ptr, below[r], above[r], near_factors, far_factors, start, row.shape[0], out[r]
        )
        out[r, positions[r]] = 0.0


@kernel()
def _list_some(weights, start, stop, ids, values, count):
    """List the places among ``start … stop − 1`` that have a weight, after ``count`` others; return how many."""
    some = weights[start:stop]
    for m in range(some.shape[0]):
        ids[count] = start + m  # overwritten by the next where there is no weight
        values[count] = some[m]
        count += np.int64(some[m] != 0.0)
    return count


@kernel()
def list_pairs(
    distances, first, class_ptr, below, above, near_factors, far_factors, lo, hi, ids, values, ends
):
    """List the pairs of a block of consecutive rows that have a weight, each pair inside the block once.

    Parameters
    ----------
    distances : array of shape (b, n)
        Distances of the rows that stand at ``first … first + b − 1``.
    first : int
        See above.
    class_ptr, below, above, near_factors, far_factors : arrays
        As in :func:`zone_factors`.
    lo, hi : int
        Rows of the block to work on.
    ids : int32 array of shape (b, n)
        Places of the others, rising. Rows ``lo … hi − 1`` are overwritten; beyond ``ends`` stands nothing of use.
    values : float64 array of shape (b, n)
        Weight of each; of a pair inside the block, the sum of both directions. It may lie where ``distances``
        lie: a row is read before it is written.
    ends : int64 array of shape (b, ⌈n / TILE_ROWS⌉)
        How many are listed up to the end of each :data:`TILE_ROWS` places.
    """
    b, n = distances.shape
    both = np.empty(n, dtype=np.float64)
    for r in range(lo, hi):
        row = distances[r]
        own = _class_of(first + r, class_ptr)
        # What stands in the block before the row is listed there.
        _one_way(row, r, class_ptr, below[r], above[r], near_factors, far_factors, np.int64(0), first, both)
        _one_way(row, r, class_ptr, below[r], above[r], near_factors, far_factors, first + r + 1, n, both)
        later = row[first + r + 1 : first + b]
        sums = both[first + r + 1 : first + b]
        low = below[r + 1 : b]
        high = above[r + 1 : b]
        near = near_factors[own, r + 1 : b]
        beyond = far_factors[own, r + 1 : b]
        for t in range(later.shape[0]):
            d = later[t]
            sums[t] += near[t] if d < low[t] else (beyond[t] if d > high[t] else 0.0)
        count = np.int64(0)
        for k in range(ends.shape[1]):
            start = k * TILE_ROWS
            stop = min(n, start + TILE_ROWS)
            count = _list_some(both, start, max(start, min(stop, first)), ids[r], values[r], count)
            start = max(start, first + r + 1)
            count = _list_some(both, start, max(start, stop), ids[r], values[r], count)
            ends[r, k] = count


@kernel(fastmath={"contract"})
def update_dense(Z, members, first, ids, values, ends, lo, hi, weights):
    """Add the weighted differences of listed pairs to ``weights[lo:hi]``.

    Parameters
    ----------
    Z : float64 array of shape (n, p)
        Range-normalised rows.
    members : int64 array of shape (n,)
        Row number of each place.
    first : int
        Place of the block's first row.
    ids, values, ends : arrays
        As filled by :func:`list_pairs`.
    lo, hi : int
        Range of columns to work on.
    weights : float64 array of shape (p,)
        Changed in place.
    """
    n = members.shape[0]
    step = max(1, min(_TILE_COLUMNS, hi - lo))
    tile = np.empty((n, step), dtype=np.float64)  # a few columns by place, so that few bytes are moved about
    total = np.empty(step, dtype=np.float64)
    for j0 in range(lo, hi, step):
        width = min(step, hi - j0)
        gained = weights[j0 : j0 + width]
        for m in range(n):
            row = Z[members[m], j0 : j0 + width]
            copy = tile[m]
            for j in range(width):
                copy[j] = row[j]
        for k in range(ends.shape[1]):
            for r in range(ends.shape[0]):
                start = ends[r, k - 1] if k > 0 else 0
                stop = ends[r, k]
                if start == stop:
                    continue
                own = tile[first + r]
                total[:] = 0.0
                # Four pairs at a time: the sums are then read and written once per four.
                whole = stop - (stop - start) % 4
                for t in range(start, whole, 4):
                    a = tile[ids[r, t]]
                    b = tile[ids[r, t + 1]]
                    c = tile[ids[r, t + 2]]
                    d = tile[ids[r, t + 3]]
                    wa = values[r, t]
                    wb = values[r, t + 1]
                    wc = values[r, t + 2]
                    wd = values[r, t + 3]
                    for j in range(width):
                        # One after the other, so that there is one way only to fuse each product into the sum.
                        sum_ = total[j] + wa * abs(own[j] - a[j])
                        sum_ += wb * abs(own[j] - b[j])
                        sum_ += wc * abs(own[j] - c[j])
                        total[j] = sum_ + wd * abs(own[j] - d[j])
                for t in range(whole, stop):
                    a = tile[ids[r, t]]
                    wa = values[r, t]
                    for j in range(width):
                        total[j] += wa * abs(own[j] - a[j])
                for j in range(width):
                    gained[j] += total[j]


@kernel()
def update_sparse(
    rows, pairs, indptr, indices, values, col_indptr, col_rows, col_values, lo, hi, received, weights
):
    """Add the weighted differences of the pairs of some rows, for sparse storage.

    Where only one of two rows has a value, the difference is its size: that part needs nothing but the sum of a
    row's pair weights. Only pairs of rows that share a column are looked at one by one.

    Parameters
    ----------
    rows : int64 array of shape (b,)
        Row numbers.
    pairs : float64 array of shape (b, n)
        Weights of their pairs, by place.
    indptr, indices, values : arrays
        The matrix by rows (CSR).
    col_indptr, col_rows, col_values : arrays
        The same matrix by columns (CSC), its rows given as places.
    lo, hi : int
        Rows to work on.
    received : float64 array of shape (n,)
        Grows by the pair weights, by place. Times the sizes of the values of the row at that place, it is what is
        left to be added to ``weights`` in the end.
    weights : float64 array of shape (p,)
        Changed in place.
    """
    n = pairs.shape[1]
    for r in range(lo, hi):
        pair = pairs[r]
        given = 0.0
        for m in range(n):
            given += pair[m]
            received[m] += pair[m]
        i = rows[r]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            v = values[e]
            size = abs(v)
            total = given * size
            for f in range(col_indptr[j], col_indptr[j + 1]):
                u = col_values[f]
                total += pair[col_rows[f]] * (abs(v - u) - size - abs(u))
            weights[j] += total


@kernel()
def list_zones(
    pairs, distances, below, class_ptr, segment_ptr, members, far, lo, hi, neighbours, counts, sums
):
    """List the near rows of every class, and after them the far ones, with the weight of each class.

    Parameters
    ----------
    pairs : float64 array of shape (b, n)
        From :func:`pair_weights`.
    distances, below : arrays
        As there.
    class_ptr, segment_ptr : int64 arrays of shape (c + 1,) and (2 c + 1,), or (c + 1,) without far rows
        Where classes stand in a row of ``pairs``, and where their near and far rows go in a row of ``neighbours``.
    members : int64 array of shape (n,)
        Row number of each place.
    far : bool
        Whether far rows are listed.
    lo, hi : int
        Rows to work on.
    neighbours : int32 array of shape (b, segment_ptr[-1])
        Row numbers. Rows ``lo … hi − 1`` are overwritten as far as ``counts`` says.
    counts : int64 array of shape (b, segments)
        How many there are in each segment.
    sums : float64 array of shape (b, segments)
        Sum of the pair weights of each segment.
    """
    n_classes = class_ptr.shape[0] - 1
    for r in range(lo, hi):
        for s in range(2 * n_classes if far else n_classes):
            q = s % n_classes
            beyond = s >= n_classes
            c = 0
            total = 0.0
            for m in range(class_ptr[q], class_ptr[q + 1]):
                w = pairs[r, m]
                if w != 0.0 and (distances[r, m] < below[r]) != beyond:
                    neighbours[r, segment_ptr[s] + c] = members[m]
                    c += 1
                    total += w
            counts[r, s] = c
            sums[r, s] = total
