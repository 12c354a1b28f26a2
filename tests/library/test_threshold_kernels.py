"""The kernels of SURF and its kin by themselves, against their twins; see ``test_kernels.py``."""

from fractions import Fraction

import naive
import naive_thresholds as twin
import numpy as np
import pytest
import scipy.sparse as sp

from reliefe.kernels import distances as measuring
from reliefe.kernels import thresholds as kernels

CODES = np.array([0] * 7 + [1] * 4 + [2])
CLASS_PTR = np.array([0, 7, 11, 12], dtype=np.int64)
MEMBERS = np.array([3, 0, 7, 1, 9, 4, 11, 2, 5, 6, 10, 8], dtype=np.int64)  # place → row


def rows_of_eighths(p):
    """Twelve rows, exact in floating point; every third value is 0, and all of row 4."""
    X = np.random.default_rng(201).integers(-8, 9, size=(12, p)) / 8.0
    X[(np.arange(12 * p) % 3 == 0).reshape(12, p)] = 0.0
    X[4] = 0.0
    return X


def symmetric(highest, dtype=np.int64):
    """Distances of twelve rows, many of them equal; to themselves 0."""
    half = np.triu(np.random.default_rng(202).integers(0, highest + 1, (12, 12)), 1)
    return (half + half.T).astype(dtype)


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (40, 3), (33, 17)])
def test_columns_in_fixed_point(shape):
    rng = np.random.default_rng(206)
    Z, members = rng.normal(size=shape), rng.permutation(shape[0])
    columns = np.full(shape[::-1], -1, dtype=np.int64)
    middle = shape[1] // 2
    measuring.fixed_columns(Z, members, 2.0**20, middle, shape[1], columns)
    assert (columns[:middle] == -1).all()
    measuring.fixed_columns(Z, members, 2.0**20, 0, middle, columns)
    rows = naive.table(Z, exact=True)
    assert columns.tolist() == [[round(rows[m][j] * 2**20) for m in members] for j in range(shape[1])]


@pytest.mark.parametrize("p", [1, 3, 4, 5, 7, 8, 9, 33, 100])
def test_fixed_point_distances(p):
    rng = np.random.default_rng(203)
    X = rng.integers(-(2**40), 2**40, size=(14, p))
    expected = [[naive.manhattan(a, b) for b in X.tolist()] for a in X.tolist()]
    data = np.ascontiguousarray(X.T), X.sum(axis=1)
    for first, n_rows in ((0, 14), (3, 6), (13, 1), (0, 1)):
        positions = np.arange(first, first + n_rows)
        for cut in {0, 1, n_rows // 2, n_rows}:
            for depth in (4, 7, p):
                out = np.full((n_rows, 14), -1, dtype=np.int64)
                measuring.manhattan_dense(*data, depth, 1, positions, True, 0, cut, out)
                measuring.manhattan_dense(*data, depth, 1, positions, True, cut, n_rows, out)
                assert out.tolist() == expected[first : first + n_rows]
    for positions in ([7, 2, 2, 13, 0], [3, 4, 5, 6, 7]):
        out = np.full((5, 14), -1, dtype=np.int64)
        measuring.manhattan_dense(*data, 4, 2, np.array(positions), False, 1, 5, out)
        assert out[0].tolist() == [-1] * 14
        assert out[1:].tolist() == [[2 * d for d in expected[i]] for i in positions[1:]]


@pytest.mark.parametrize(("n", "b"), [(150, 150), (1200, 70)])
def test_fixed_point_distances_of_more_rows_than_a_tile(n, b):
    rng = np.random.default_rng(204)
    X = rng.integers(0, 50, size=(n, 5))
    expected = np.abs(X[:, None] - X[None]).sum(axis=2)
    data = np.ascontiguousarray(X.T), X.sum(axis=1)
    for first in {0, n - b, (n - b) // 2}:
        positions = np.arange(first, first + b)
        out = np.full((b, n), -1, dtype=np.int64)
        measuring.manhattan_dense(*data, 4, 1, positions, True, 0, b // 2 + 5, out)
        measuring.manhattan_dense(*data, 4, 1, positions, True, b // 2 + 5, b, out)
        assert (out == expected[positions]).all()
    positions = rng.integers(0, n, size=b)
    measuring.manhattan_dense(*data, 5, 1, positions, False, 0, b, out)
    assert (out == expected[positions]).all()


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (40, 3), (33, 17)])
def test_columns_in_coarse_fixed_point(shape):
    rng = np.random.default_rng(207)
    Z, members = rng.random(shape) - 0.5, rng.permutation(shape[0])
    columns = np.full(shape[::-1], 7, dtype=np.uint32)
    sums, errors = np.full(shape[0], 5, dtype=np.int64), np.full(shape[0], 1, dtype=np.int64)
    middle = shape[1] // 2
    measuring.coarse_columns(Z, members, 2.0**30, 10, middle, shape[1], columns, sums, errors)
    assert (columns[:middle] == 7).all()
    measuring.coarse_columns(Z, members, 2.0**30, 10, 0, middle, columns, sums, errors)
    off = [1] * shape[0]
    for j, column in enumerate(zip(*naive.table(Z, exact=True), strict=True)):
        fine = [round(value * 2**30) for value in column]
        for m, i in enumerate(members):
            value = fine[i] - min(fine)
            assert columns[j, m] == (value + 2**9) // 2**10
            off[m] += abs(value - int(columns[j, m]) * 2**10)
    assert errors.tolist() == off
    assert (sums == 5 + columns.astype(np.int64).sum(axis=0)).all()


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
@pytest.mark.parametrize("p", [1, 7, 8, 31, 62, 63, 64, 150])
def test_distances_of_32_bit_columns(p, dtype):
    columns = np.random.default_rng(208).integers(0, 2**26 + 1, size=(p, 14), dtype=np.uint32)
    columns[:, 0], columns[:, 1] = 2**26, 0  # no sum of 63 of them may run over
    X = columns.T.astype(np.int64)
    unit = 8 if dtype is np.int64 else 2.0**-20
    expected = [[dtype(naive.manhattan(a, b) * unit) for b in X.tolist()] for a in X.tolist()]
    for first, n_rows in ((0, 14), (3, 6)):
        out = np.full((n_rows, 14), -1, dtype=dtype)
        positions = np.arange(first, first + n_rows)
        measuring.manhattan_dense(columns, X.sum(axis=1), 63, unit, positions, True, 0, n_rows, out)
        assert out.tolist() == expected[first : first + n_rows]


@pytest.mark.parametrize("p", [1, 9, 600])
def test_distances_of_a_few_rows(p):
    Z = np.random.default_rng(209).random((12, p))
    fixed = [[round(value * 2**20) for value in row] for row in naive.table(Z, exact=True)]
    found = np.full((2, 12), 1, dtype=np.int64)
    for lo, hi in ((0, 7), (7, 12)):
        measuring.manhattan_rows(Z[[3, 5]], Z[lo:hi], 2.0**20, found[:, lo:hi])
    expected = [[1 + naive.manhattan(fixed[i], row) for row in fixed] for i in (3, 5)]
    assert found.tolist() == expected


@pytest.mark.parametrize("far", [False, True])
def test_rows_with_a_distance_too_near_a_threshold(far):
    distances, places = symmetric(40), np.arange(12)
    below, above = np.arange(12) * 2 + 4, np.arange(12) * 2 + 20
    margins = np.arange(12) % 3
    found = np.zeros(12, dtype=np.bool_)
    zones = (distances, places, below, above, far, margins)
    kernels.doubtful(*zones, 0, 5, found)
    kernels.doubtful(*zones, 5, 12, found)
    expected = [
        twin.too_near(distances[i], i, [below[i], above[i]] if far else [below[i]], margins[i])
        for i in range(12)
    ]
    assert found.tolist() == expected and 0 < sum(expected) < 12


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_spread(dtype):
    distances = symmetric(30, dtype)
    places = np.arange(12)
    means, deviations = np.full(12, -1.0), np.full(12, -1.0)
    kernels.spread(distances, places, 2, 12, means, deviations)
    assert (means[:2] == -1).all() and (deviations[:2] == -1).all()
    kernels.spread(distances, places, 0, 2, means, deviations)
    for i in range(12):
        mean, variance = twin.moments([Fraction(int(d)) for m, d in enumerate(distances[i]) if m != i])
        assert means[i] == pytest.approx(float(mean), rel=1e-14)
        assert deviations[i] ** 2 == pytest.approx(float(variance), rel=1e-13)
    some = np.array([5, 9])
    kernels.spread(distances[some], some, 0, 2, means, deviations)
    assert means[:2].tolist() == means[some].tolist() and deviations[:2].tolist() == deviations[some].tolist()


def zones_of(distances, below, above):
    """Near and far places of each row by the definition."""
    return [
        (
            [m for m in range(12) if m != i and distances[i, m] < below[i]],
            [m for m in range(12) if m != i and distances[i, m] > above[i]],
        )
        for i in range(12)
    ]


def listed_pairs(distances, first, class_ptr, below, above, near, beyond):
    """Pairs of places with their weights, as listed in two pieces; a pair inside the block from its first row."""
    b, n = distances.shape
    ids, ends = np.full((b, n), -1, np.int32), np.full((b, -(-n // kernels.TILE_ROWS)), -1)
    kept = distances.copy()  # overwritten by the weights, as where they share their memory
    values = kept.view(np.float64)
    factors = np.ascontiguousarray(near), np.ascontiguousarray(beyond)
    arguments = (kept, first, class_ptr, below, above, *factors)
    kernels.list_pairs(*arguments, 0, b // 2, ids, values, ends)
    assert (ends[b // 2 :] == -1).all()
    kernels.list_pairs(*arguments, b // 2, b, ids, values, ends)
    found = {}
    for r in range(b):
        start = 0
        for k in range(ends.shape[1]):
            for t in range(start, ends[r, k]):
                assert ids[r, t] // kernels.TILE_ROWS == k
                pair = first + r, int(ids[r, t])
                assert pair not in found and pair[::-1] not in found
                found[pair] = values[r, t]
            start = ends[r, k]
    return found


def once_inside(first, b, pairs):
    """Pairs of a block of rows from their weights as seen from each row, those inside the block summed up."""
    whole = {}
    for r in range(b):
        for m in range(pairs.shape[1]):
            pair = (first + r, m) if (m, first + r) not in whole else (m, first + r)
            whole[pair] = whole.get(pair, 0.0) + pairs[first + r, m]
    return {pair: w for pair, w in whole.items() if w != 0.0}


@pytest.mark.parametrize(("first", "b"), [(0, 300), (0, 130), (100, 60), (120, 8), (128, 128), (299, 1)])
def test_pairs_of_more_rows_than_a_tile(first, b):
    n, class_ptr = 300, np.array([0, 90, 91, 300])
    rng = np.random.default_rng(210)
    half = np.triu(rng.integers(1, 100, size=(n, n)), 1)
    distances, below, above = half + half.T, rng.integers(0, 60, size=n), rng.integers(60, 120, size=n)
    near, beyond = rng.integers(-4, 5, size=(2, 3, n)) / 4.0
    pairs = np.zeros((n, n))
    kernels.pair_weights(distances, np.arange(n), class_ptr, below, above, near, beyond, 0, n, pairs)
    block = slice(first, first + b)
    zones = (below[block], above[block], near[:, block], beyond[:, block])
    listed = listed_pairs(distances[block], first, class_ptr, *zones)
    assert listed == once_inside(first, b, pairs) and len(listed) > b // 2


@pytest.mark.parametrize("skrebate", [False, True])
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("limits", [(4, 6), (0, 0), (1, 9), (7, 8), (20, 20), (-1, -1)])
def test_weights_of_pairs_and_lists_of_zones(limits, dtype, far, skrebate):
    distances = symmetric(9, dtype)
    below, above = np.full(12, limits[0], dtype), np.full(12, limits[1], dtype)
    below[3], above[3] = 5, 5
    near, beyond = np.full((3, 12), -7.0), np.full((3, 12), -7.0)
    pairs, offsets = np.full((12, 12), -7.0), np.full(12, -7.0)
    arguments = (distances, np.arange(12), CLASS_PTR, below, above)
    kernels.zone_factors(*arguments, far, skrebate, 5, 12, near, beyond, offsets)
    assert (near[:, :5] == -7).all() and (beyond[:, :5] == -7).all() and (offsets[:5] == -7).all()
    kernels.zone_factors(*arguments, far, skrebate, 0, 5, near, beyond, offsets)
    kernels.pair_weights(*arguments, near, beyond, 5, 12, pairs)
    assert (pairs[:5] == -7).all()
    kernels.pair_weights(*arguments, near, beyond, 0, 5, pairs)
    y = CODES.tolist()
    zones = zones_of(distances, below, above)
    for i, (near_rows, far_rows) in enumerate(zones):
        expected = twin.pair_weights(i, near_rows, far_rows, y, far, skrebate)
        np.testing.assert_allclose(pairs[i], np.array(expected, dtype=float), rtol=1e-14)
        offset = -sum(Fraction(w) for m, w in enumerate(expected) if m in far_rows) if far else 0
        assert offsets[i] == (0.0 if offset == 0 else pytest.approx(float(offset), rel=1e-14))
    for first, b in ((0, 12), (0, 5), (4, 8), (11, 1)):
        block = slice(first, first + b)
        listed = listed_pairs(
            distances[block], first, CLASS_PTR, below[block], above[block], near[:, block], beyond[:, block]
        )
        assert listed == once_inside(first, b, pairs)

    segment_ptr = np.concatenate([[0], np.cumsum(np.tile(np.diff(CLASS_PTR), 2 if far else 1))])
    n_segments = segment_ptr.shape[0] - 1
    neighbours = np.full((12, segment_ptr[-1]), -1, dtype=np.int32)
    counts, sums = np.full((12, n_segments), -1), np.full((12, n_segments), -7.0)
    lists = (pairs, distances, below, CLASS_PTR, segment_ptr, MEMBERS, far)
    kernels.list_zones(*lists, 0, 4, neighbours, counts, sums)
    assert (counts[4:] == -1).all()
    kernels.list_zones(*lists, 4, 12, neighbours, counts, sums)
    for i, zone in enumerate(zones):
        for s in range(n_segments):
            members = [m for m in zone[s // 3] if y[m] == s % 3]
            listed = neighbours[i, segment_ptr[s] : segment_ptr[s] + counts[i, s]]
            assert listed.tolist() == [MEMBERS[m] for m in members]
            assert sums[i, s] == pytest.approx(sum(pairs[i, m] for m in members), rel=1e-14)


@pytest.mark.parametrize("p", [1, 5, 70, 300])
def test_sums_over_pairs(p):
    rng = np.random.default_rng(205)
    X = rows_of_eighths(p)
    pairs = rng.integers(-4, 5, size=(5, 12)) * (rng.random((5, 12)) < 0.6) / 4.0
    rows = MEMBERS[4:9]
    pairs[np.arange(5), np.arange(4, 9)] = 0.0
    weighted = {
        (int(rows[r]), int(MEMBERS[m])): Fraction(pairs[r, m])
        for r in range(5)
        for m in range(12)
        if pairs[r, m]
    }
    z = [[Fraction(value) for value in row] for row in X.tolist()]
    start = rng.integers(-9, 10, size=p) / 8.0
    added = twin.weighted_differences(z, weighted)
    expected = [float(Fraction(s) + w) for s, w in zip(start, added, strict=True)]

    ids, values, ends = np.full((5, 12), -1, np.int32), np.full((5, 12), np.nan), np.zeros((5, 2), np.int64)
    for r in range(5):
        chosen = np.flatnonzero(pairs[r])
        ends[r] = (chosen < 6).sum(), len(chosen)
        ids[r, : ends[r, 1]], values[r, : ends[r, 1]] = chosen, pairs[r, chosen]
    dense = start.copy()
    kernels.update_dense(X, MEMBERS, 4, ids, values, ends, 0, p // 2, dense)
    np.testing.assert_array_equal(dense[p // 2 :], start[p // 2 :])
    kernels.update_dense(X, MEMBERS, 4, ids, values, ends, p // 2, p, dense)
    np.testing.assert_allclose(dense, expected, rtol=1e-12, atol=1e-14)

    S, C = sp.csr_matrix(X), sp.csc_matrix(X[MEMBERS])
    by_row, by_column = (S.indptr, S.indices, S.data), (C.indptr, C.indices, C.data)
    sparse, received = start.copy(), np.zeros(12)
    for lo, hi in ((0, 2), (2, 5)):
        kernels.update_sparse(rows, pairs, *by_row, *by_column, lo, hi, received, sparse)
    np.testing.assert_allclose(received, pairs.sum(axis=0), rtol=1e-14, atol=1e-14)
    sparse += np.abs(X[MEMBERS]).T @ received
    np.testing.assert_allclose(sparse, expected, rtol=1e-12, atol=1e-14)
