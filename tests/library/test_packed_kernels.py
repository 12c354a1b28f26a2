"""The kernels that read a matrix where it lies, and those on columns of few values, against their twins.

``test_without_jit.py`` runs this file again without the compiler and with bounds checks, so inputs are small.
"""

from fractions import Fraction

import naive
import naive_mixed
import naive_packed as twin
import naive_thresholds
import numpy as np
import pytest
from covering import covered

from reliefe._threads import Team
from reliefe.bands import Band
from reliefe.columns import Columns, Profile, _strided
from reliefe.kernels import bits, columns, few, tiles, zones
from reliefe.packed import _stretches
from reliefe.targets import class_coefficients

DTYPES = pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, np.float32, np.float64])
ORDERS = pytest.mark.parametrize("order", ["C", "F", "every other"])


def laid_out(X, order):
    """The same matrix in another layout, and how kernels are told of it."""
    if order == "every other":
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
        wide[::2, ::3] = X
        X = wide[::2, ::3]
    else:
        X = np.array(X, order=order)
    return X, _strided(X)


def packed_by_hand(X, columns, cuts, equal, width, with_gaps):
    """(tiles, n, words) from the twin: tile by tile, row by row, plane after plane."""
    tiles = []
    for start in range(0, len(columns), 64 * width):
        rows = []
        for row in X.tolist():
            chosen = [row[j] for j in columns[start : start + 64 * width]]
            by_plane = [
                [twin.planes([value], [cut[start + c]], equal)[0][0] for c, value in enumerate(chosen)]
                for cut in cuts
            ]
            given = ([twin.known(chosen)] if with_gaps else []) + by_plane
            rows.append([word for ones in given for word in (twin.words(ones) + [0] * width)[:width]])
        tiles.append(rows)
    return np.array(tiles, dtype=np.uint64)


@DTYPES
@ORDERS
@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (7, 64), (5, 130)])
def test_looking_at_columns(shape, order, dtype):
    rng = np.random.default_rng(500)
    X = rng.integers(0, 9, size=shape).astype(dtype)
    if np.dtype(dtype).kind == "f":
        X[:, ::2] -= rng.random(X[:, ::2].shape).astype(dtype)
        X[rng.random(shape) < 0.1] = np.nan
        X[:, -1:] = np.nan
    X, (flat, row_step, column_step) = laid_out(X, order)

    with Team(None) as team:
        profile = Profile.of(X, team)
    found = zip(profile.low, profile.high, profile.whole, profile.known, strict=True)
    assert [tuple(each) for each in found] == [twin.extremes(column) for column in X.T.tolist()]
    assert flat.base is not None and np.shares_memory(flat, X) and not flat.flags.writeable
    if np.dtype(dtype).kind != "f":
        return
    p = shape[1]
    low, high = np.full(p, 4.0, dtype), np.full(p, 5.0, dtype)
    whole, known = np.ones(p, np.uint8), np.ones(p, np.uint8)
    middle = p // 2
    columns.look_at(flat, row_step, column_step, 0, shape[0], middle, p, low, high, whole, known)
    assert (low[:middle] == 4).all() and (high[:middle] == 5).all()
    for j in range(middle, p):
        least, most, is_whole, is_known = twin.extremes(X[:, j].tolist())
        if np.isnan(X[:, j]).all():
            least = most = 4.5
        assert (low[j], high[j], whole[j], known[j]) == (min(least, 4), max(most, 5), is_whole, is_known)


@DTYPES
@ORDERS
def test_normalising_a_few_columns(order, dtype):
    rng = np.random.default_rng(501)
    X, memory = laid_out(rng.integers(0, 99, size=(19, 40)).astype(dtype), order)
    shift, divisor = rng.random(40) * 9, rng.random(40) + 0.5
    shift[3], divisor[3] = X[0, 3], np.inf
    rows = rng.permutation(19)[:17]
    for chosen in (np.arange(40), np.sort(rng.permutation(40)[:21])):
        for lo, hi in ((0, 1), (1, 20), (3, 21)):
            out = np.full((17, hi - lo), -1.0)
            columns.normalised(*memory, rows, chosen, shift, divisor, lo, hi, out)
            expected = [[twin.divided(X[i, j], shift[j], divisor[j]) for j in chosen[lo:hi]] for i in rows]
            assert out.tolist() == expected
            assert not np.signbit(out[out == 0]).any()


def packed(X, memory, chosen, n_planes, categories, with_gaps, width=2):
    """Pack columns of the whole numbers from 3 on, and compare that with the twin."""
    cuts = np.full((n_planes, len(chosen)), 3, X.dtype) + np.arange(n_planes, dtype=X.dtype)[:, None]
    expected = packed_by_hand(X, chosen, cuts.tolist(), categories, width, with_gaps)
    found = np.full(expected.shape, 77, dtype=np.uint64)
    bits.pack(*memory, chosen, cuts, categories, with_gaps, 2, len(X), found)
    assert (found[:, :2] == 77).all()
    bits.pack(*memory, chosen, cuts, categories, with_gaps, 0, 2, found)
    np.testing.assert_array_equal(found, expected)
    return found


@covered(
    {
        "with_gaps": [False, True],
        "categories": [False, True],
        "n_planes": [1, 2, 3],
        "order": ["C", "F", "every other"],
        "dtype": [np.uint8, np.int8, np.int64, np.float32, np.float64],
    },
    full={"dtype": ["float32"]},
)
def test_packing_and_unpacking(with_gaps, categories, n_planes, order, dtype):
    rng = np.random.default_rng(502)
    n, p = 5, 170
    X = rng.integers(3, 3 + n_planes + (not categories), size=(n, p)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        X[rng.random((n, p)) < 0.2] = np.nan
    X, memory = laid_out(X, order)
    for chosen in (np.arange(p), np.arange(40, 40 + 64), np.sort(rng.permutation(p)[:131])):
        found = packed(X, memory, chosen, n_planes, categories, with_gaps)
        counts = np.full(n, 5)
        bits.count_set(found, 1, 3, 1, n, counts)
        set_ = [5 + sum(int(w).bit_count() for w in found[:, i, 1:3].ravel()) for i in range(n)]
        assert counts.tolist() == [5, *set_[1:]]
        for tile in range(len(found)):
            for w0, w1 in ((0, 1), (0, 2), (1, 2)):
                values = np.full((n, 8 * (w1 - w0)), 99, dtype=np.uint64)
                bits.unpack(found, tile, n_planes, with_gaps, categories, w0, w1, 0, n, values)
                start = 64 * (2 * tile + w0)
                near = chosen[start : start + 64 * (w1 - w0)]
                got = values.view(np.uint8)[:, : len(near)].tolist()
                missing = 128 if with_gaps else 0
                given = X[:, near].astype(float).tolist()
                assert got == [[missing if np.isnan(v) else int(v) - 3 for v in row] for row in given]


def test_packing_columns_of_many_rows():
    """More rows than a word has bits, column by column."""
    rng = np.random.default_rng(509)
    X = rng.integers(3, 6, size=(131, 70)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    X, memory = laid_out(X, "F")
    packed(X, memory, np.arange(70), 2, False, True)
    packed(X, memory, np.arange(3, 60), 3, True, False, width=1)


@DTYPES
@ORDERS
def test_which_whole_numbers_there_are(order, dtype):
    rng = np.random.default_rng(510)
    X = (rng.integers(0, 64, size=(300, 20)) ** 2 // 64 + 5).astype(dtype)
    if np.dtype(dtype).kind == "f":
        X[::3] = np.nan
    X, memory = laid_out(X, order)
    chosen = np.sort(rng.permutation(20)[:18])
    low = np.nanmin(X[:, chosen].astype(float), axis=0)
    found = np.zeros(18, dtype=np.uint64)
    for lo, hi in ((0, 5), (5, 18)):
        for r0, r1 in ((0, 299), (299, 300)):
            columns.presence(*memory, chosen, low.astype(dtype), r0, r1, lo, hi, found)
    for c, j in enumerate(chosen):
        values = {int(value - low[c]) for value in X[:, j].astype(float) if not np.isnan(value)}
        assert int(found[c]) == sum(1 << value for value in values)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("n_planes", [1, 2, 3])
def test_distances_in_columns_with_gaps(n_planes, mirrored):
    rng = np.random.default_rng(511)
    n, p = 70, 150
    X = rng.integers(3, 4 + n_planes, size=(n, p)).astype(float)
    X[rng.random((n, p)) < 0.3] = np.nan
    X[5] = np.nan
    X, memory = laid_out(X, "C")
    found = np.zeros((2, n, 2 * (n_planes + 1)), dtype=np.uint64)
    cuts = np.full((n_planes, p), 3.0) + np.arange(n_planes)[:, None]
    bits.pack(*memory, np.arange(p), cuts, False, True, 0, n, found)
    members = rng.permutation(n)
    positions = np.arange(2, 2 + 66) if mirrored else rng.permutation(n)[:66]
    out, known = np.full((66, n), 3.0), np.full((66, n), 2.0)
    weights = 2.0 ** np.arange(n_planes)
    for lo, hi in ((0, 65), (65, 66)):
        bits.add_known(found, weights, members, positions, mirrored, lo, hi, out, known)
        for each in (out, known) if mirrored else ():
            tiles.mirror(2, lo, hi, each)
    rows = naive_mixed.table(X, exact=True)
    worth = {value: 2**plane for plane, value in enumerate(range(4, 4 + n_planes))}
    for r, place in enumerate(positions):
        for m, other in enumerate(members):
            pairs = zip(rows[members[place]], rows[other], strict=True)
            both = [(a, b) for a, b in pairs if a is not None and b is not None]
            apart = [sum(worth[v] for v in worth if min(a, b) < v <= max(a, b)) for a, b in both]
            assert (out[r, m], known[r, m]) == (3 + sum(apart), 2 + len(both))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("mirrored", [False, True])
def test_counting_bits_that_differ(mirrored, dtype):
    rng = np.random.default_rng(503)
    n = 70  # more than are measured at a time, and no multiple of four
    packed = rng.integers(0, 2**64, size=(2, n, 3), dtype=np.uint64)
    ones = [
        [int(b) for t in range(2) for w in packed[t, i, 1:3].tolist() for b in f"{w:064b}"] for i in range(n)
    ]
    members = rng.permutation(n)
    positions = np.arange(2, 2 + 66) if mirrored else rng.permutation(n)[:66]
    expected = [[5 * twin.differing(ones[members[r]], ones[i]) for i in members] for r in positions]
    out = np.full((66, n), 3, dtype)
    given = (packed, 1, 3, dtype(5), members, positions, mirrored)
    for lo, hi in ((0, 65), (65, 66)):
        bits.add_differing(*given, True, lo, hi, out)
        if mirrored:
            tiles.mirror(2, lo, hi, out)
    np.testing.assert_array_equal(out, expected)
    for lo, hi in ((65, 66), (0, 65)):
        bits.add_differing(*given, False, lo, hi, out)
    for lo, hi in ((0, 65), (65, 66)):
        if mirrored:
            tiles.mirror(2, lo, hi, out)
    np.testing.assert_array_equal(out, 2 * np.array(expected))


@pytest.mark.parametrize("highest", [1, 2])
@pytest.mark.parametrize("k", [1, 4, 6, 300])
def test_updates_on_bytes(k, highest):
    """So many neighbours that sums do not fit a byte are among them."""
    rng = np.random.default_rng(504)
    n, p, unit = 12, 70, 1.0 / highest
    codes = np.array([0] * 6 + [1] * 4 + [2] * 2)
    values = rng.integers(0, highest + 1, size=(n, 128)).astype(np.uint8)
    values[:6, 0], values[6:, 0] = 0, highest  # the largest sum there can be
    rows = np.array([0, 7, 11, 3])
    segment_ptr = np.arange(0, 4 * k, k)
    near = rng.integers(0, n, size=(4, 3 * k)).astype(np.int32)
    counts = np.array([[k, k, k], [max(1, k - 1), 0, k], [k, 1, 1], [0, 0, k]])
    sizes = np.bincount(codes)
    coefficients = class_coefficients(codes, sizes, rows)
    priors = {c: Fraction(int(size), n) for c, size in enumerate(sizes)}
    z = [[Fraction(int(v)) / highest for v in row[:p]] for row in values]
    start = rng.normal(size=p)
    expected = [Fraction(w) for w in start.tolist()]
    for r, i in enumerate(rows):
        chosen = {q: near[r, segment_ptr[q] : segment_ptr[q] + counts[r, q]].tolist() for q in range(3)}
        added = naive.multiclass_update(z, i, codes, chosen, priors, False)
        expected = [w + a for w, a in zip(expected, added, strict=True)]
    weights = start.copy()
    few.update(values, unit, rows, near, segment_ptr, counts, coefficients, p, weights)
    np.testing.assert_allclose(weights, np.array(expected, dtype=float), rtol=1e-12, atol=1e-14)


def test_bytes_to_values():
    rng = np.random.default_rng(505)
    values = rng.integers(0, 4, size=(6, 64)).astype(np.uint8)
    chosen = np.sort(rng.permutation(90)[:50])
    low, shift, divisor = (
        rng.integers(-3, 3, 90) * 1.0,
        rng.integers(-3, 3, 90) * 1.0,
        rng.integers(1, 4, 90) * 1.0,
    )
    step = rng.choice([0.5, 1.0], 90)
    out = np.full((6, 50), -1.0)
    few.to_values(values, chosen, low, step, shift, divisor, 50, out)
    expected = [
        [
            twin.divided(low[j] + int(values[i, c]) * step[j], shift[j], divisor[j])
            for c, j in enumerate(chosen)
        ]
        for i in range(6)
    ]
    assert out.tolist() == expected


@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("k", [1, 4, 6, 300])
def test_updates_on_bytes_with_gaps(k, categories):
    rng = np.random.default_rng(512)
    n, p, unit = 12, 70, 1.0 if categories else 0.5
    values = rng.integers(0, 3, size=(n, 128)).astype(np.uint8)
    values[rng.random(values.shape) < 0.3] = few.UNKNOWN
    values[:, 1] = few.UNKNOWN
    rows = np.array([0, 7, 11, 3])
    segment_ptr = np.arange(0, 4 * k, k)
    near = rng.integers(0, n, size=(4, 3 * k)).astype(np.int32)
    counts = np.array([[k, k, k], [max(1, k - 1), 0, k], [k, 1, 1], [0, 0, k]])
    coefficients = rng.integers(-8, 9, size=(4, 3)) / 4.0
    z = [[None if v == few.UNKNOWN else Fraction(int(v)) * Fraction(unit) for v in row[:p]] for row in values]
    start = rng.normal(size=p)
    expected = [Fraction(w) for w in start.tolist()]
    for r, i in enumerate(rows):
        for q in range(3):
            chosen = near[r, segment_ptr[q] : segment_ptr[q] + counts[r, q]].tolist()
            for j, mean in enumerate(naive_mixed.class_means(z, i, chosen, [categories] * p, False)):
                expected[j] += 0 if mean is None else Fraction(coefficients[r, q]) * mean
    weights = start.copy()
    rest = (rows, near, segment_ptr, counts, coefficients, p)
    few.update_known(values, unit, categories, *rest, weights)
    np.testing.assert_allclose(weights, np.array(expected, dtype=float), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("similar", [False, True])
def test_means_over_zones(similar):
    rng = np.random.default_rng(513)
    n, b = 150, 3
    X = rng.integers(3, 6, size=(n, 64)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 7] = np.nan
    X, memory = laid_out(X, "C")
    found = np.zeros((1, n, 3), dtype=np.uint64)
    bits.pack(*memory, np.arange(64), np.array([[3.0] * 64, [4.0] * 64]), False, True, 0, n, found)
    members = rng.permutation(n)
    turned = np.empty((3, 1, 3, 64), dtype=np.uint64)
    for plane in range(3):
        zones.turned(found, 0, plane, members, turned[plane])
    class_ptr = np.array([0, 1, 100, 150])
    places = rng.permutation(n)[:b]
    inside = rng.random((b, n)) < 0.4
    inside[1, 100:] = False
    inside[np.arange(b), places] = False
    listed = np.array([twin.words(row) for row in inside.astype(int).tolist()], dtype=np.uint64)
    factors = rng.integers(1, 5, size=(3, b)) / 4.0
    gained = np.full(64, 0.5)
    columns_, known = np.ascontiguousarray(turned[1:, 0]), turned[0, 0]
    given = (columns_, known, 0.5, listed, places, *_stretches(class_ptr), factors)
    zones.add_known_zones(*given, similar, gained)
    z = [[None if v is None else v / 2 for v in row] for row in naive_mixed.table(X, exact=True)]
    expected = [Fraction(1, 2)] * 64
    for r, place in enumerate(places):
        for q in range(3):
            chosen = [int(members[m]) for m in range(class_ptr[q], class_ptr[q + 1]) if inside[r, m]]
            for j, mean in enumerate(naive_mixed.class_means(z, members[place], chosen, [False] * 64, False)):
                if mean is not None:
                    coefficient = Fraction(factors[q, r]) * len(chosen)
                    expected[j] += coefficient * (mean - 1 if similar else mean)
    np.testing.assert_allclose(gained, np.array(expected, dtype=float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
@pytest.mark.parametrize("far", [False, True])
def test_bits_of_near_and_far_rows(far, dtype):
    rng = np.random.default_rng(506)
    n = 131
    distances = rng.integers(0, 20, size=(5, n)).astype(dtype)
    positions = np.array([0, 63, 64, 130, 70])
    below, above = rng.integers(4, 9, 5).astype(dtype), rng.integers(9, 15, 5).astype(dtype)
    near, beyond = (np.full((5, 3), 7, dtype=np.uint64) for _ in range(2))
    for lo, hi in ((0, 2), (2, 5)):
        zones.zone_bits(distances, positions, below, above, far, lo, hi, near, beyond)
    for r in range(5):
        listed = [[m != positions[r] and d < below[r] for m, d in enumerate(distances[r])]]
        listed += [[m != positions[r] and d > above[r] for m, d in enumerate(distances[r])]]
        assert near[r].tolist() == twin.words(listed[0])
        assert beyond[r].tolist() == (twin.words(listed[1]) if far else [7, 7, 7])


@pytest.mark.parametrize("n", [1, 64, 131])
def test_turning_words(n):
    rng = np.random.default_rng(507)
    packed, members = rng.integers(0, 2**64, size=(2, n, 5), dtype=np.uint64), rng.permutation(n)
    columns = np.full((2, -(-n // 64), 64), 7, dtype=np.uint64)
    zones.turned(packed, 1, 3, members, columns)
    for v in range(2):
        for c in range(64):
            ones = [int(packed[1, i, 3 + v]) >> c & 1 for i in members]
            assert columns[v, :, c].tolist() == twin.words(ones)


def zones_by_hand(first, b):
    """Classes that end within a word, one of a single row, one that no zone has a row of; and what pairs count."""
    rng = np.random.default_rng(508)
    n = 400
    class_ptr = np.array([0, 1, 30, 300, 390, 400])
    inside = (rng.random((b, n)) < 0.4) & (np.arange(n) < 390)
    inside[np.arange(b), first + np.arange(b)] = False
    listed = np.zeros((b, 7 + zones.LANES - 1), dtype=np.uint64)
    listed[:, :7] = [twin.words(row) for row in inside.astype(int).tolist()]
    factors = rng.integers(-4, 5, size=(b, 5)) / 4.0
    classes = np.repeat(np.arange(5), np.diff(class_ptr))
    pairs = {
        (first + r, m): Fraction(factors[r, classes[m]]) for r in range(b) for m in range(n) if inside[r, m]
    }
    return (listed, first, *_stretches(class_ptr), factors), pairs


@pytest.mark.parametrize(("first", "b"), [(0, 1), (63, 2), (200, 5), (64, 64), (60, 71), (270, 130)])
def test_sums_over_zones(first, b):
    """Columns of few and of many bits, and of exactly half, whose rows stand anywhere in the words of a block."""
    rng = np.random.default_rng(509)
    given, pairs = zones_by_hand(first, b)
    ones = (rng.random((400, 64)) < np.linspace(0.0, 1.0, 64)).astype(int)
    for j, start in ((20, 0), (40, 1)):
        ones[:, j] = np.arange(start, start + 400) % 2
    columns = np.array([twin.words(column) for column in ones.T.tolist()], dtype=np.uint64).T.copy()
    start = rng.normal(size=64)
    gained, sums = start.copy(), np.zeros(400)
    for lo, hi in ((0, b // 2), (b // 2, b)):
        zones.shared(*given, lo, hi, sums)
    zones.add_zones(columns, *given, sums, gained)
    expected = naive_thresholds.weighted_differences(ones.tolist(), pairs)
    np.testing.assert_allclose(gained, start + np.array(expected, dtype=float), rtol=1e-12, atol=1e-11)
    assert gained[0] == start[0] and gained[63] == start[63]  # constant columns
    assert gained[20] - start[20] == pytest.approx(gained[40] - start[40], abs=1e-12)  # one inverts the other


def test_what_a_bit_contributes_by_itself():
    given, pairs = zones_by_hand(63, 5)
    sums = np.zeros(400)
    zones.shared(*given, 0, 5, sums)
    expected = [Fraction(0)] * 400
    for pair, weight in pairs.items():
        for place in pair:
            expected[place] += weight
    np.testing.assert_allclose(sums, np.array(expected, dtype=float), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("lo", "hi", "first", "n"), [(0, 0, 0, 5), (3, 130, 0, 130), (0, 70, 65, 400), (64, 70, 2, 90)]
)
@pytest.mark.parametrize("width", [50, 64])
@pytest.mark.parametrize("mirrored", [False, True])
def test_tiles_hold_each_pair_once(mirrored, width, lo, hi, first, n):
    found = tiles.tiles(lo, hi, first, mirrored, n, width)
    assert all(r1 - r0 <= tiles.SIDE and m1 - m0 <= width for r0, r1, m0, m1 in found)
    pairs = [(r, m) for r0, r1, m0, m1 in found for r in range(r0, r1) for m in range(m0, m1)]
    assert len(pairs) == len(set(pairs))
    assert sorted(pairs) == twin.tiles(lo, hi, first, mirrored, n, tiles.SIDE)


def test_a_band_in_several_tiles():
    band = Band(np.arange(20_000), 2)
    assert band.per_tile % 64 == 0 and 20_000 > band.per_tile >= 4096 - 64 * 8
    assert Columns.normalised(np.zeros((2, 3))).n_packed == 0
