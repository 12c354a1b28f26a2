"""Representatives, sparsification and latent dimension, each against its twin."""

import tracemalloc

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import reliefe.embedding
from reliefe.embedding import latent_dimension, representatives, sparsify

# -------------------------------------------------------------------------------------------- representatives


@pytest.mark.parametrize("n_representatives", [1, 3, 4, 10, 25, 49, 50, 51, 2048])
@pytest.mark.parametrize("seed", [0, 1])
def test_representatives_take_the_classes_in_turn(n_representatives, seed):
    y = np.random.default_rng(40).choice([0, 1, 2, 3], p=[0.6, 0.3, 0.06, 0.04], size=50)
    y[:4] = [0, 1, 2, 3]
    chosen = representatives(y, n_representatives, seed)
    naive.check_representatives(y, n_representatives, chosen)
    np.testing.assert_array_equal(chosen, representatives(y, n_representatives, seed))


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.integers(1, 32), st.integers(0, 5))
def test_representatives_of_any_classes(values, n_representatives, seed):
    codes = np.unique(values, return_inverse=True)[1]
    naive.check_representatives(codes, n_representatives, representatives(codes, n_representatives, seed))


def test_which_row_stands_for_a_class_is_random():
    y = np.repeat([0, 1], [20, 5])
    first = {tuple(representatives(y, 2, seed)) for seed in range(60)}
    assert {row for pair in first for row in pair} >= set(range(20, 25))
    assert len({pair[0] for pair in first}) > 10
    in_order_of_rows = [np.all(np.diff(representatives(y, 10, seed)[::2]) > 0) for seed in range(20)]
    assert not all(in_order_of_rows)


def test_more_values_than_representatives_are_chosen_at_random():
    y = np.repeat(np.arange(12), 3)
    taken = [set(y[representatives(y, 4, seed)]) for seed in range(60)]
    assert all(len(values) == 4 for values in taken)
    assert set().union(*taken) == set(range(12))


# --------------------------------------------------------------------------------------------- sparsification


def _matrices():
    rng = np.random.default_rng(41)
    wide, tall = rng.exponential(size=(6, 25)), rng.normal(size=(30, 5))
    tall[3, 2], tall[5] = 0.0, 0.0
    one_large_row = rng.normal(size=(9, 9)) * 1e-3
    one_large_row[4] *= 1e5
    return {"wide": wide, "tall": tall, "one large row": one_large_row, "one entry": np.array([[-2.5]])}


MATRICES = _matrices()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("name", MATRICES)
def test_every_entry_has_one_of_its_two_values(name, storage):
    B = MATRICES[name]
    values, probabilities = naive.sparsify_rule(B)
    given_B = storage(B.copy())
    found = sparsify(given_B, random_state=0)
    np.testing.assert_array_equal(given_B.toarray() if sp.issparse(given_B) else given_B, B)
    assert sp.issparse(found) and found.format == "csr" and found.shape == B.shape
    assert found.dtype == np.float64 and (found.data != 0).all()
    found = found.toarray()
    kept = probabilities == 1
    np.testing.assert_array_equal(found[kept], B[kept])
    changed = (found != 0) & ~kept
    np.testing.assert_allclose(found[changed], values[changed], rtol=1e-14)
    assert (np.sign(found[changed]) == np.sign(B[changed])).all()
    assert (found[B == 0] == 0).all()


@pytest.mark.parametrize("name", MATRICES)
def test_expectation_is_the_matrix(name):
    B, draws = MATRICES[name], 1500
    generator = np.random.RandomState(0)
    values, probabilities = naive.sparsify_rule(B)
    total, times = np.zeros_like(B), np.zeros_like(B)
    for _ in range(draws):
        one = sparsify(B, generator).toarray()
        total += one
        times += one != 0
    spread = np.sqrt(probabilities * (1 - probabilities) / draws)
    # 5 standard errors of a share, and half a draw where the share is nearly 0 or 1.
    assert (np.abs(times / draws - probabilities) <= 5 * spread + 0.5 / draws).all()
    assert (
        np.abs(total / draws - B) <= np.abs(values) * (5 * spread + 0.5 / draws) + 1e-12 * np.abs(B)
    ).all()


def test_errors_of_all_entries_together_are_those_of_chance():
    """An entry is kept in a binomial number of draws; sums of z-scores and of their squares follow from it.

    One part in a thousand added to every probability would move the sum of the z-scores by 6 standard deviations.
    """
    rng = np.random.default_rng(51)
    B, draws = rng.uniform(0.001, 0.06, size=(40, 60)) * rng.choice([-1, 1], (40, 60)), 3000
    B[17] *= 40.0  # this row decides the threshold and keeps its values
    _, probabilities = naive.sparsify_rule(B)
    generator, kept = np.random.RandomState(1), np.zeros_like(B)
    for _ in range(draws):
        kept += sparsify(B, generator).toarray() != 0
    chance = (probabilities > 0.01) & (probabilities < 0.99)
    assert chance.sum() > 2000
    share = probabilities[chance]
    variance = draws * share * (1 - share)
    z = (kept[chance] - draws * share) / np.sqrt(variance)
    # Of a binomial z, E z² = 1 and E z⁴ = 3 + (1 − 6 p (1 − p)) / variance.
    sum_variance = (2 + (1 - 6 * share * (1 - share)) / variance).sum()
    assert abs((z**2).sum() - len(z)) < 4 * np.sqrt(sum_variance)
    assert abs(z.sum()) < 4 * np.sqrt(len(z))
    assert np.abs(z).max() < 5


def test_sparsification_removes_small_entries_of_a_dense_matrix():
    B = np.random.default_rng(42).exponential(size=(300, 200)) ** 3
    assert sparsify(B, 0).nnz < 0.8 * B.size


def test_sparsification_depends_on_the_seed_alone():
    B = MATRICES["wide"]
    first, again, sparse, other = (
        sparsify(X, seed).toarray() for X, seed in ((B, 0), (B, 0), (sp.csr_matrix(B), 0), (B, 1))
    )
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, sparse)
    assert (first != other).any()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_a_matrix_of_zeros_stays_one(storage):
    assert sparsify(storage(np.zeros((4, 3))), 0).nnz == 0


def test_the_block_matrix_is_never_built():
    B = np.random.default_rng(43).random((6000, 20))  # 1 MB; the block matrix would take 290 MB
    sparsify(B[:10], 0)
    tracemalloc.start()
    sparsify(B, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 15 * B.nbytes


# ------------------------------------------------------------------------------------------- latent dimension


@pytest.mark.parametrize("seed", range(5))
def test_two_for_a_plane_in_50_columns(seed):
    rng = np.random.default_rng(seed)
    plane = rng.uniform(size=(500, 2))
    padded = np.zeros((500, 50))
    padded[:, [7, 31]] = plane
    for X in (padded, plane @ rng.normal(size=(2, 50)), sp.csr_matrix(padded)):
        d = latent_dimension(X)
        assert d == 2 and isinstance(d, int)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("d", [1, 2, 4, 8, 15])
def test_fast_is_naive_on_a_ball_of_d_dimensions(d, storage):
    rng = np.random.default_rng(44)
    X = rng.normal(size=(120, d)) @ rng.normal(size=(d, 20))
    assert latent_dimension(storage(X)) == naive.latent_dimension(X)
    moved = X * 1e-5 + 3.0
    assert latent_dimension(storage(moved)) == naive.latent_dimension(X)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("seed", range(12))
def test_fast_is_naive_on_lattice_points(seed, storage):
    """Equal ratios: EMP counts those strictly below, so rounding must not part them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(60, 5)) * (rng.random((60, 5)) < 0.6)
    expected = naive.latent_dimension(X, exact=True)
    assert latent_dimension(storage(X.astype(float))) == expected
    for scale in (1 / 3, 0.1, 1e-7):
        assert latent_dimension(storage(X * scale)) == expected


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1.0, 1 / 3, 0.1])
def test_all_ratios_equal_to_one_have_no_slope(scale):
    grid = np.array([[a, b, c] for a in range(4) for b in range(4) for c in range(4)]) * scale
    for X in (grid, np.eye(6) * scale, np.tile(np.eye(6), (3, 1)) * scale):
        assert latent_dimension(X) is None
        assert latent_dimension(sp.csr_matrix(X)) is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_repeated_rows_are_taken_once(storage):
    rng = np.random.default_rng(45)
    X = rng.normal(size=(100, 3)) @ rng.normal(size=(3, 12))
    once = latent_dimension(storage(X))
    assert once == naive.latent_dimension(X)
    twice = np.vstack([X, X])[rng.permutation(200)]
    assert latent_dimension(storage(twice)) == once == naive.latent_dimension(twice)
    uneven = np.vstack([X, np.repeat(X[:1], 300, axis=0)])
    assert latent_dimension(storage(uneven)) == once


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_seven_distinct_rows_of_2000(storage):
    rng = np.random.default_rng(46)
    distinct = rng.normal(size=(7, 30))
    X = distinct[np.concatenate([np.arange(7), rng.integers(0, 7, 1993)])]
    d = latent_dimension(storage(X))
    # 2,000 rows of 30 columns: the largest dimension allowed is 30, and 7 rows alone would allow only 5.
    assert d == naive.latent_dimension(X) and 2 <= d <= 30


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(
    ("shape", "largest"),
    [((3, 9), None), ((2, 9), None), ((1, 9), None), ((9, 1), None), ((4, 9), 2), ((9, 2), 2), ((7, 500), 5)],
)
def test_range_of_the_dimension(shape, largest, storage):
    X = np.random.default_rng(47).normal(size=shape)
    d = latent_dimension(storage(X))
    assert d == naive.latent_dimension(X)
    assert d is None if largest is None else 2 <= d <= largest


def test_high_dimension_is_held_at_the_largest_allowed():
    X = np.random.default_rng(48).normal(size=(12, 400))
    assert latent_dimension(X) == naive.latent_dimension(X) == 10


@pytest.fixture
def slope_of(monkeypatch):
    """A function that gives the estimate before it is rounded."""
    seen, original = [], reliefe.embedding._two_nn_slope
    monkeypatch.setattr(
        reliefe.embedding, "_two_nn_slope", lambda *rest: seen.append(original(*rest)) or seen[-1]
    )

    def slope_of(X):
        seen.clear()
        latent_dimension(X)
        (slope,) = seen
        return slope

    return slope_of


def _slope(first, second):
    """TwoNN line through the origin from the distances to the two nearest rows, no two ratios being equal."""
    log_ratio = np.sort(np.log(second / first))
    height = -np.log1p(-np.arange(len(log_ratio)) / len(log_ratio))
    return (log_ratio @ height) / (log_ratio @ log_ratio)


def _two_nearest(distances):
    np.fill_diagonal(distances, np.inf)
    return np.partition(distances, 1, axis=1)[:, :2].T


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_the_slope_is_the_twins(storage, slope_of):
    rng = np.random.default_rng(52)
    for d in (1, 3, 9):
        X = np.round(rng.normal(size=(90, d)), 3) @ rng.normal(size=(d, 12))
        assert slope_of(storage(X)) == pytest.approx(naive.two_nn_slope(X), rel=1e-9)
        twice = np.vstack([X, X])[rng.permutation(180)]
        assert slope_of(storage(twice)) == pytest.approx(naive.two_nn_slope(twice), rel=1e-9)


@pytest.mark.parametrize(
    ("d", "mean", "deviation"), [(2, 1.988, 0.068), (5, 4.681, 0.144), (10, 8.578, 0.297), (20, 15.50, 0.428)]
)
def test_uniform_cube_in_100_columns(d, mean, deviation, slope_of):
    """2,000 uniform points of a cube with d sides, turned into 100 columns: within 10 % for d = 2 and 5.

    TwoNN takes the density to be even around each row; then log μ is exponential with rate d (Facco et al.), and
    the line through the origin has a slope of 0.994 d at n = 2000 (EMP counts strictly below). In a cube, rows near
    a face have neighbours on one side only, and with more sides nearly every row is near a face: the estimate falls
    short by 14 % at d = 10 and 22 % at d = 20. ``mean`` and ``deviation`` are those of 60 simulated cubes. This
    error is the method's: with opposite faces glued together, which leaves no face, all four are met within 10 %.
    """
    rng = np.random.default_rng(53)
    cube = rng.random((2000, d))
    X = cube @ np.linalg.qr(rng.normal(size=(100, d)))[0].T
    slope = slope_of(X)
    assert slope == pytest.approx(_slope(*_two_nearest(cdist(X, X))), rel=1e-9)
    assert abs(slope - mean) < 4 * deviation
    assert latent_dimension(X) == round(slope)
    if d <= 5:
        assert abs(latent_dimension(X) - d) <= 0.1 * d

    squared = np.zeros((2000, 2000))
    for column in cube.T:
        gap = np.abs(column[:, np.newaxis] - column)
        squared += np.minimum(gap, 1 - gap) ** 2
    assert abs(_slope(*_two_nearest(np.sqrt(squared))) - d) < 0.1 * d

    again = np.vstack([X, X])[rng.permutation(4000)]
    assert slope_of(again) == pytest.approx(slope, rel=1e-12)
    uneven = np.vstack([X[:1].repeat(500, axis=0), X])
    assert slope_of(uneven) == pytest.approx(slope, rel=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_distinct", [1, 2])
def test_fewer_than_three_distinct_rows_have_no_dimension(n_distinct):
    X = np.random.default_rng(49).normal(size=(n_distinct, 5))[np.arange(40) % n_distinct]
    assert latent_dimension(X) is None and naive.latent_dimension(X) is None


def test_label_sets_as_rows():
    """The same estimate is made on label matrices, where few rows are distinct."""
    T = (np.random.default_rng(50).random((90, 6)) < 0.3).astype(np.int8)
    assert latent_dimension(T) == naive.latent_dimension(T, exact=True)
    assert latent_dimension(sp.csr_matrix(T)) == naive.latent_dimension(T, exact=True)


@pytest.mark.parametrize("factor", [1e-320, 1e-200, 1e-100, 1e100, 1e200, 1e300])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_the_unit_of_the_values_does_not_matter(factor, storage, recwarn):
    X = np.zeros((500, 12))
    X[:, :4] = np.random.default_rng(5).integers(1, 10_000, (500, 4))
    assert latent_dimension(storage(X * factor)) == latent_dimension(X) == 4
    assert not recwarn.list


@pytest.mark.parametrize("function", [latent_dimension, sparsify])
@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[np.nan, 1.0], [2.0, 3.0]], "X contains NaN"),
        ([1.0, 2.0], "2D array"),
        (np.zeros((0, 3)), "0 sample"),
    ],
)
def test_bad_input_is_named(function, X, words):
    with pytest.raises(ValueError, match=words):
        function(X)


@pytest.mark.parametrize("factor", [1e-300, 1e150, 1e307])
def test_sparsification_does_not_depend_on_the_unit(factor, rng):
    X = rng.random((30, 20))
    expected = sparsify(X, 1).toarray()
    power = 2.0 ** np.round(np.log2(factor))
    assert np.array_equal(sparsify(X * power, 1).toarray(), expected * power)
