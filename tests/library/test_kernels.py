"""Every kernel by itself, against its twin in ``naive.py``.

``test_without_jit.py`` runs this file again without the compiler and with bounds checks, so inputs are small.
How distances are screened and measured is reached through the searches of ``reliefe.distances``.
"""

import ast
import math
from fractions import Fraction
from pathlib import Path

import naive
import naive_mixed
import naive_near
import naive_packed
import naive_thresholds
import numpy as np
import pytest
import scipy.sparse as sp
from neighbourhoods import found, search_among_columns, search_in_embedding
from samples import SAMPLES

import reliefe.kernels
from reliefe import fixed
from reliefe.kernels import euclidean, multilabel, neighbours, screening, sorting, sparsify, targets, weights
from reliefe.nearest import NearestRows
from reliefe.targets import class_coefficients

KS = [1, 3, 15, "adaptive"]

#: Kernel → its twin in naive.py. Parts of a kernel (names with an underscore) are tested with the whole.
TWINS = {
    "bits.add_differing": naive_packed.differing,
    "bits.add_known": naive_mixed.distance,
    "bits.count_set": naive_packed.planes,
    "bits.pack": naive_packed.planes,
    "bits.unpack": naive_packed.planes,
    "columns.look_at": naive_packed.extremes,
    "columns.normalised": naive_packed.divided,
    "columns.presence": naive_packed.extremes,
    "distances.coarse_columns": naive.table,
    "distances.fixed_columns": naive.table,
    "distances.manhattan_dense": naive.manhattan,
    "distances.manhattan_rows": naive.manhattan,
    "distances.manhattan_sparse": naive.manhattan,
    "distances.metric_dense": naive.METRICS,
    "distances.metric_sparse": naive.METRICS,
    "euclidean.candidates": naive.kth_smallest,
    "euclidean.nearest_dense": naive.nearest_rows,
    "euclidean.nearest_sparse": naive.nearest_rows,
    "euclidean.squared_dense": naive.euclidean,
    "euclidean.squared_sparse": naive.euclidean,
    "few.to_values": naive_packed.divided,
    "few.update": naive.multiclass_update,
    "few.update_known": naive_mixed.class_means,
    "mixed.update_dense": naive_mixed.class_means,
    "mixed.update_sparse": naive_mixed.class_means,
    "mixed_distances.add_dense": naive_mixed.distance,
    "mixed_distances.distances_sparse": naive_mixed.distance,
    "mixed_distances.stretch": naive_mixed.distance,
    "multilabel.update_dense": naive.multilabel_update,
    "multilabel.update_sparse": naive.multilabel_update,
    "near.label_weights": naive_near.label_weights,
    "near.list_near": naive_near.near_rows,
    "near.list_pairs": naive_near.pairs_once,
    "near.set_factors": naive_near.label_weights,
    "near.response_sums": naive_near.response_sums,
    "near.response_weights": naive_near.response_weights,
    "neighbours.nearest_first": naive.in_order,
    "neighbours.nearest_per_class": naive.nearest,
    "pairs.add_pairs": naive_thresholds.weighted_differences,
    "pairs.list_pairs": naive_thresholds.pair_weights,
    "pairs.spread_neighbours": naive.multiclass_update,
    "regression.update_dense": naive_mixed.rrelieff,
    "permuted.permuted_weights": naive_mixed.relieff,
    "regression.update_sparse": naive_mixed.rrelieff,
    "screening.nearest_first": naive.in_order,
    "screening.nearest_screened": naive.nearest,
    "screening.side_by_side": naive.table,
    "sorting.sort": sorted,
    "sorting.sort_pairs": sorted,
    "sparsify.absolute_sums": naive.sparsify_epsilon,
    "sparsify.count_small": naive.sparsify_rule,
    "sparsify.decide": naive.sparsify_rule,
    "targets.between_sets": naive.SET_DISTANCES,
    "targets.between_vectors": naive.EMBEDDED_DISTANCES,
    "tiles.mirror": naive_packed.differing,
    "tiles.tiles": naive_packed.tiles,
    "thresholds.doubtful": naive_thresholds.too_near,
    "thresholds.list_pairs": naive_thresholds.pair_weights,
    "thresholds.list_zones": naive_thresholds.zones,
    "thresholds.zone_factors": naive_thresholds.pair_weights,
    "thresholds.pair_weights": naive_thresholds.pair_weights,
    "thresholds.spread": naive_thresholds.moments,
    "thresholds.update_dense": naive_thresholds.weighted_differences,
    "thresholds.update_sparse": naive_thresholds.weighted_differences,
    "weights.update_dense": naive.multiclass_update,
    "weights.update_sparse": naive.multiclass_update,
    "zones.add_known_zones": naive_mixed.class_means,
    "zones.add_zones": naive_thresholds.weighted_differences,
    "zones.shared": naive_thresholds.pair_weights,
    "zones.turned": naive_packed.words,
    "zones.zone_bits": naive_thresholds.zone,
}


def test_every_kernel_has_a_twin():
    """A new kernel needs a slow, obvious twin; name it above and compare the two."""
    kernels = set()
    for path in Path(reliefe.kernels.__file__).parent.glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any(
                ast.unparse(decorator).startswith("kernel(") for decorator in node.decorator_list
            ):
                kernels.add(f"{path.stem}.{node.name}")
    public = {kernel for kernel in kernels if "._" not in kernel}
    assert public == set(TWINS)
    assert all(twin for twin in TWINS.values())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (40, 3), (33, 17)])
def test_side_by_side(shape, dtype, rng):
    Z, members = rng.random(shape), rng.permutation(shape[0])
    columns = np.full(shape[::-1], -1.0, dtype)
    middle = shape[1] // 2
    screening.side_by_side(Z, members, middle, shape[1], columns)
    assert (columns[:middle] == -1).all()
    screening.side_by_side(Z, members, 0, middle, columns)
    rows = naive.table(Z)
    assert columns.tolist() == [[dtype(rows[m][j]) for m in members] for j in range(shape[1])]


# ---------------------------------------------------------------------------------------------------- sorting


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 11, 12, 13, 14, 50, 400])
def test_sort_and_sort_pairs(n, dtype):
    rng = np.random.default_rng(104)
    ramp = np.arange(n)
    for values in (
        rng.integers(0, 5, n), rng.permutation(n), ramp, ramp[::-1], np.zeros(n), np.abs(ramp - n // 2), ramp % 2,
    ):  # fmt: skip
        keys = np.append(values, [7, 3]).astype(dtype)  # what comes after stays as it is
        expected = [*sorted(keys[:n].tolist()), 7, 3]
        labels = np.append(rng.permutation(n), [9, 1]).astype(np.int32)
        pairs = sorted(zip(keys[:n].tolist(), labels[:n].tolist(), strict=True))
        alone, together = keys.copy(), keys.copy()
        sorting.sort(alone, n)
        sorting.sort_pairs(together, labels, n)
        assert alone.tolist() == expected
        assert together.tolist() == expected
        assert labels.tolist() == [*(label for _, label in pairs), 9, 1]


# ------------------------------------------------------------------------------------------------- neighbours


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 2, 7, 40])
def test_kth_smallest(m, dtype):
    rng = np.random.default_rng(100)
    for values in (rng.integers(0, 9, m), rng.permutation(m), np.arange(m)[::-1], np.zeros(m)):
        keys = values.astype(dtype)
        before = keys.copy()
        for k in range(1, m + 1):
            assert neighbours._kth_smallest(keys, m, k, np.empty(m, dtype)) == naive.kth_smallest(keys, k)
        np.testing.assert_array_equal(keys, before)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("tolerance", [0, 2])
@pytest.mark.parametrize("highest", [1, 6, 40, 10**6])
def test_nearest_by_given_distances(highest, tolerance, dtype):
    """Ties go to the lower row, and within the tolerance they are linked on: 0, 2, 4 are one group."""
    rng = np.random.default_rng(101)
    codes = rng.choice(3, p=[0.6, 0.3, 0.1], size=40)
    codes[:3] = 0, 1, 2
    members = np.argsort(codes, kind="stable")
    class_ptr = np.concatenate([[0], np.cumsum(np.bincount(codes))])
    distances = rng.integers(0, highest + 1, (40, 40)).astype(dtype)  # columns in the order of ``members``
    infinite = dtype(np.iinfo(np.int64).max if dtype is np.int64 else np.inf)
    guesses = np.full((3, 2), 1.0)
    for k in (1, 2, 5, 30, "adaptive"):
        wanted = np.bincount(codes) if k == "adaptive" else np.minimum(np.bincount(codes), k)
        segment_ptr = np.concatenate([[0], np.cumsum(wanted)])
        near = np.full((40, segment_ptr[-1]), -1, dtype=np.int32)
        counts = np.full((40, 3), -1, dtype=np.int64)
        neighbours.nearest_per_class(
            distances.copy(), np.arange(40), members, class_ptr, segment_ptr, 0 if k == "adaptive" else k,
            dtype(tolerance), infinite, guesses, near, counts,
        )  # fmt: skip
        for position, i in enumerate(members):
            for q in range(3):
                places = [t for t in range(class_ptr[q], class_ptr[q + 1]) if t != position]
                others = {int(members[t]): int(distances[position, t]) for t in places}
                best = naive.adaptive_k(sorted(others.values()), tolerance) if k == "adaptive" else k
                expected = sorted(naive.in_order(others, tolerance)[:best])
                found_here = near[position, segment_ptr[q] : segment_ptr[q] + counts[position, q]]
                assert found_here.tolist() == expected, (i, q)


@pytest.mark.parametrize("tolerance", [0, 1, 3])
def test_adaptive_count(tolerance):
    rng = np.random.default_rng(102)
    for m in (0, 1, 2, 3, 12):
        for highest in (0, 4, 60):
            ordered = np.sort(rng.integers(0, highest + 1, m)).astype(np.int64)
            expected = naive.adaptive_k(ordered.tolist(), tolerance)
            assert neighbours._adaptive_count(ordered, np.int64(tolerance)) == expected


def _whole(space):
    """Fractions times their common denominator: distances keep their order and their ties, and take less long."""
    if not isinstance(space[0][0], Fraction):
        return space
    denominator = math.lcm(*{value.denominator for row in space for value in row})
    return [[value.numerator * (denominator // value.denominator) for value in row] for row in space]


def _nearest(space, codes, k, metric="manhattan"):
    """For each row and class, the neighbours by the twin, ascending."""
    space = _whole(space)
    members = [[row for row, c in enumerate(codes) if c == q] for q in range(max(codes) + 1)]
    return [[sorted(naive.nearest(i, rows, space, k, metric)) for rows in members] for i in range(len(space))]


@pytest.mark.parametrize("storage", [np.ascontiguousarray, sp.csr_matrix])
@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("name", SAMPLES)
def test_neighbours_among_columns(name, k, storage):
    """Screen and fixed point together (dense), or fixed point through an inverted index (sparse)."""
    X, y, exact = SAMPLES[name]
    expected = _nearest(naive.normalised(naive.table(X, exact)), y, k)
    search = search_among_columns(storage(X), y, y.max() + 1, k)
    assert found(search) == expected
    some = np.array([5, 2, 11, 2])  # not neighbours in the searched array, one of them twice
    assert found(search, some, n_jobs=2) == [expected[row] for row in some]


def test_neighbours_among_more_columns_than_a_tile_holds():
    """Fours, left-over columns and several tiles of 124 columns; whole numbers, so ties are exact."""
    rng = np.random.default_rng(103)
    for p in (7, 8, 63, 123, 124, 126, 270):
        X = rng.integers(0, 3, size=(14, p)).astype(float)
        y = np.arange(14) % 2
        space = naive.normalised(naive.table(X, exact=True))
        for k in (2, "adaptive"):
            expected = _nearest(space, y, k)
            assert found(search_among_columns(X, y, 2, k)) == expected
            assert found(search_among_columns(sp.csr_matrix(X), y, 2, k)) == expected


@pytest.mark.parametrize("bits", [25, 12, 6, 1])
@pytest.mark.parametrize("k", KS)
def test_how_coarse_the_screen_is_decides_nothing(k, bits, monkeypatch):
    """With few bits almost every row has to be measured again."""
    rng = np.random.default_rng(105)
    monkeypatch.setattr(fixed, "_COARSE_BITS", bits)
    for X in (np.exp(rng.normal(size=(60, 7))), rng.integers(0, 4, size=(60, 130)).astype(float)):
        y = rng.integers(0, 3, 60)
        expected = _nearest(naive.normalised(naive.table(X, exact=True)), y, k)
        assert found(search_among_columns(X, y, 3, k)) == expected
        some = np.array([50, 2, 11, 2])
        assert found(search_among_columns(X, y, 3, k), some, n_jobs=2) == [expected[row] for row in some]


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("metric", naive.METRICS)
def test_neighbours_in_an_embedding(metric, k, storage):
    rng = np.random.default_rng(104)
    lattice = rng.integers(-2, 3, size=(24, 2)).astype(float)  # ties, parallel rows
    lattice[[3, 8]] = 0.0
    y = rng.integers(0, 3, 24)
    for E in (lattice, rng.normal(size=(24, 3)), lattice * 1e-7):
        search = search_in_embedding(storage(E), metric, y, 3, k)
        assert found(search) == _nearest(naive.table(E), y, k, metric)


def test_no_neighbour_in_a_class_that_is_empty_but_for_the_row():
    X, y = np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1])
    for k in (1, 5, "adaptive"):
        assert found(search_among_columns(X, y, 2, k))[2][1] == []
        assert found(search_among_columns(sp.csr_matrix(X), y, 2, k))[2][1] == []
        assert found(search_in_embedding(X, "euclidean", y, 2, k))[2][1] == []


# ------------------------------------------------------------------------- the nearest for dimension and embedding


@pytest.mark.parametrize("storage", [np.ascontiguousarray, sp.csr_matrix])
def test_squared_distances(storage):
    X, Y = _rows(7), _rows(7)[::-1] * 2
    left, right = storage(X), storage(np.ascontiguousarray(Y))
    for i in range(12):
        for m in range(12):
            if sp.issparse(left):
                arrays = [(S.indptr, S.indices, S.data) for S in (left, right)]
                square = euclidean.squared_sparse(*arrays[0], i, *arrays[1], m)
            else:
                square = euclidean.squared_dense(left, i, right, m)
            assert square == pytest.approx(naive.euclidean(X[i], Y[m]) ** 2, rel=1e-13)


def test_candidates_are_those_that_rounding_may_hide():
    rng = np.random.default_rng(111)
    for slack in (0.0, 0.75, 3.0):
        rough = rng.integers(0, 12, 30).astype(float)
        rough[11] = np.inf
        for k in (1, 4, 29):
            out = np.full(30, -1, dtype=np.int64)
            count = euclidean.candidates(rough, slack, k, np.empty(k), out)
            limit = naive.kth_smallest(rough, k) + 2 * slack
            assert out[:count].tolist() == [m for m, value in enumerate(rough) if value <= limit]


@pytest.mark.parametrize("storage", [np.ascontiguousarray, sp.csr_matrix])
@pytest.mark.parametrize("k", [1, 2, 14])
def test_nearest_rows(k, storage):
    """Nearest first, ties to the lower row; far from the origin, where products lose digits, the same."""
    rng = np.random.default_rng(112)
    lattice = rng.integers(0, 3, size=(16, 4)) * (rng.random((16, 4)) < 0.7) * 1.0
    for rows in (lattice, rng.normal(size=(16, 4)), lattice + 2.0**24):
        exact = naive.table(rows, exact=True)  # equal squares are equal
        ids, distances = NearestRows(storage(rows)).among_themselves(k)
        expected = [naive.nearest_rows(exact[i], exact, k, without=i) for i in range(16)]
        assert ids.tolist() == expected
        for i in range(16):
            far = [naive.euclidean(rows[i], rows[m]) for m in expected[i]]
            np.testing.assert_allclose(distances[i], far, rtol=1e-13)
        queries = rows[[3, 9]] + 0.25
        ids, _ = NearestRows(storage(rows)).of(storage(queries), k)
        exact_queries = naive.table(queries, exact=True)
        assert ids.tolist() == [naive.nearest_rows(query, exact, k) for query in exact_queries]


def test_sparsification_step_by_step():
    rng = np.random.default_rng(113)
    B = rng.normal(size=(9, 6)) ** 3
    B[2, 3] = B[5] = 0.0
    rows, columns = sparsify.absolute_sums(B)
    epsilon = max(rows.max(), columns.max()) / 15
    assert epsilon == pytest.approx(naive.sparsify_epsilon(B), rel=1e-14)
    np.testing.assert_allclose(rows, np.abs(B).sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(columns, np.abs(B).sum(axis=0), rtol=1e-14)
    values, probabilities = naive.sparsify_rule(B)
    small = (probabilities > 0) & (probabilities < 1)
    threshold = epsilon / np.sqrt(15)
    assert sparsify.count_small(B.ravel(), threshold) == small.sum() > 5
    draws = rng.random(small.sum())
    changed = B.copy()
    sparsify.decide(changed.reshape(-1), threshold, draws)
    expected = np.where(probabilities == 1, B, 0.0)
    expected[small] = np.where(draws < probabilities[small], values[small], 0.0)
    np.testing.assert_allclose(changed, expected, rtol=1e-14)


# ----------------------------------------------------------------------------------- distances between targets


@pytest.fixture
def block():
    """Five rows of a block, one of them twice, with up to four neighbours each, out of twelve rows."""
    rng = np.random.default_rng(105)
    rows = np.array([4, 0, 11, 7, 4], dtype=np.int64)
    near = rng.integers(0, 12, size=(5, 4)).astype(np.int32)
    return rows, near, np.array([[4], [1], [0], [3], [4]], dtype=np.int64)


def _measured(kernel, arguments, block, distance, vectors):
    """Compare what a kernel fills in, in two pieces, with the twin; the rest must stay as it was."""
    rows, near, counts = block
    out = np.full(near.shape, -7.0)
    kernel(*arguments, rows, near, counts, 0, 2, out)
    assert (out[2:] == -7).all()
    kernel(*arguments, rows, near, counts, 2, 5, out)
    for r, i in enumerate(rows):
        for t in range(counts[r, 0]):
            expected = float(distance(vectors[i], vectors[near[r, t]]))
            assert out[r, t] == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert (out[r, counts[r, 0] :] == -7).all()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("f1", targets.F1),
        ("accuracy", targets.ACCURACY),
        ("subset", targets.SUBSET),
        ("hamming", targets.HAMMING),
    ],
)
def test_distances_between_label_sets(name, kind, block):
    T = (np.random.default_rng(106).random((12, 5)) < 0.4).astype(int)
    T[[0, 4]] = 0
    T[7] = T[3]
    sets = sp.csr_matrix(T)
    arguments = (sets.indptr, sets.indices, 5, kind)
    _measured(targets.between_sets, arguments, block, naive.SET_DISTANCES[name], T.tolist())


@pytest.mark.parametrize(("name", "kind"), [("cosine", targets.COSINE), ("hyperbolic", targets.HYPERBOLIC)])
def test_distances_between_embedded_targets(name, kind, block):
    V = np.random.default_rng(107).normal(size=(12, 3))
    V[4], V[5], V[7] = 0.0, V[0], -2 * V[0]
    _measured(targets.between_vectors, (V, kind), block, naive.EMBEDDED_DISTANCES[name], V.tolist())


# ----------------------------------------------------------------------------------------------------- weights


def _rows(p):
    """Twelve rows of eighths, exact in floating point; every third value is 0, and all of row 4."""
    X = np.random.default_rng(108).integers(-8, 9, size=(12, p)) / 8.0
    X[(np.arange(12 * p) % 3 == 0).reshape(12, p)] = 0.0
    X[4] = 0.0
    return X


def _fractions(X):
    return [[Fraction(value) for value in row] for row in X.tolist()]


@pytest.mark.parametrize("abs_mean", [False, True])
@pytest.mark.parametrize("p", [1, 5, 70])
def test_multiclass_updates(p, abs_mean):
    rng = np.random.default_rng(109)
    X, codes = _rows(p), np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2])
    sizes = np.bincount(codes)
    rows = np.array([4, 0, 11, 7], dtype=np.int64)
    segment_ptr = np.array([0, 3, 6, 8], dtype=np.int64)
    counts = np.array([[3, 1, 0], [2, 3, 2], [0, 0, 1], [3, 3, 1]], dtype=np.int64)
    near = rng.integers(0, 12, size=(4, 8)).astype(np.int32)
    coefficients = class_coefficients(codes, sizes, rows)
    priors = {c: Fraction(int(size), 12) for c, size in enumerate(sizes)}
    start = rng.normal(size=p)
    expected = [Fraction(w) for w in start.tolist()]
    for r, i in enumerate(rows):
        chosen = {q: near[r, segment_ptr[q] : segment_ptr[q] + counts[r, q]].tolist() for q in range(3)}
        added = naive.multiclass_update(_fractions(X), i, codes, chosen, priors, abs_mean)
        expected = [w + a for w, a in zip(expected, added, strict=True)]
    rest = (rows, near, segment_ptr, counts, coefficients, abs_mean)
    dense, middle = start.copy(), p // 2
    weights.update_dense(X, *rest, 0, middle, dense)
    np.testing.assert_array_equal(dense[middle:], start[middle:])
    weights.update_dense(X, *rest, middle, p, dense)
    sparse, S = start.copy(), sp.csr_matrix(X)
    for lo, hi in ((0, 1), (1, 4)):
        weights.update_sparse(S.indptr, S.indices, S.data, *rest, lo, hi, sparse)
    for got in (dense, sparse):
        np.testing.assert_allclose(got, np.array(expected, dtype=float), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("abs_mean", [False, True])
@pytest.mark.parametrize("p", [1, 5, 70])
def test_multilabel_updates(p, abs_mean, block):
    """Target distances of 0 only and of 1 only are among them: a term with denominator 0 adds nothing."""
    rng = np.random.default_rng(110)
    X = _rows(p)
    rows, near, counts = block
    distances = rng.integers(0, 9, size=near.shape) / 8.0
    distances[3], distances[4] = 0.0, 1.0
    start = rng.normal(size=p)
    expected = [Fraction(w) for w in start.tolist()]
    for r, i in enumerate(rows):
        m = counts[r, 0]
        if m == 0:
            continue
        t = [Fraction(value) for value in distances[r, :m].tolist()]
        added = naive.multilabel_update(_fractions(X), i, near[r, :m].tolist(), t, abs_mean)
        expected = [w + a for w, a in zip(expected, added, strict=True)]
    rest = (rows, near, counts, distances, abs_mean)
    dense, middle = start.copy(), p // 2
    multilabel.update_dense(X, *rest, 0, middle, dense)
    np.testing.assert_array_equal(dense[middle:], start[middle:])
    multilabel.update_dense(X, *rest, middle, p, dense)
    sparse, S = start.copy(), sp.csr_matrix(X)
    for lo, hi in ((0, 2), (2, 5)):
        multilabel.update_sparse(S.indptr, S.indices, S.data, *rest, lo, hi, sparse)
    for got in (dense, sparse):
        np.testing.assert_allclose(got, np.array(expected, dtype=float), rtol=1e-12, atol=1e-14)
