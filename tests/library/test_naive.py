"""The twins themselves, against numbers worked out by hand; a twin that is wrong would hide the same mistake."""

import math
from fractions import Fraction

import naive
import numpy as np
import pytest

LABELLED = [[0, 7, 1], [1, 7, 0], [2, 7, 1], [3, 7, 0], [4, 7, 0]], ["lo", "lo", "lo", "mid", "hi"]


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("k", "abs_mean", "expected"),
    [
        (1, False, [0.3375, 0, 0.2]),
        (2, False, [0.35, 0, 0.15]),
        (15, False, [0.3875, 0, 0.2]),
        (15, True, [0.4375, 0, 0.2]),
    ],
)
def test_worked_example_with_small_classes(k, abs_mean, expected, exact):
    weights, _ = naive.relieff(*LABELLED, k=k, abs_mean=abs_mean, exact=exact)
    np.testing.assert_allclose(weights, expected, rtol=1e-14, atol=0)


def test_worked_example_with_duplicates():
    column = [[v] for v in (0, 1, 2, 3, 4, 5, 6, 10)]
    weights, used = naive.relieff(column, [2, 2, 2, 2, 5, 5, 9, 9], k=2, exact=True)
    assert weights[0] == pytest.approx(0.233333, abs=5e-7)
    assert used[4].tolist() == [2, 1, 2]
    doubled = [[0, 0], [0, 0], [1, 1], [1, 1], [0, 1], [0, 1]]
    assert naive.relieff(doubled, [0, 1] * 3, k=1, exact=True)[0].tolist() == [-1 / 3, -2 / 3]


def test_order_of_neighbours_with_rounded_distances():
    third = {4: 0.1 + 0.2, 1: 0.3, 0: 0.5, 9: 0.0}
    assert naive.in_order(third, 1e-12) == [9, 1, 4, 0]
    assert naive.in_order({4: 0.1, 1: 0.2}, 0) == [4, 1]
    linked = {3: 0.0, 2: 0.9e-12, 1: 1.8e-12, 0: 1.0}
    assert naive.in_order(linked, 1e-12) == [1, 2, 3, 0]


@pytest.mark.parametrize(
    ("distances", "k"),
    [([5], 1), ([1, 2, 9, 10], 2), ([0, 3, 6], 1), ([1, 1, 1], 1), ([0, 1, 2, 9], 3), ([], 0)],
)
def test_adaptive_k(distances, k):
    assert naive.adaptive_k([Fraction(d) for d in distances], 0) == k


def test_a_row_is_left_out_by_its_index_not_its_distance():
    space = [[0.0], [0.0], [5.0]]
    assert naive.nearest(1, [0, 1, 2], space, 1) == [0]
    assert naive.nearest(1, [1], space, 1) == []


def test_cosine_of_zero_vectors():
    assert naive.cosine([0, 0], [1, 2]) == naive.cosine([0, 0], [0, 0]) == 1
    assert naive.cosine([1, 0], [-2, 0]) == 2


@pytest.mark.parametrize(
    ("a", "b", "f1", "accuracy", "subset", "hamming"),
    [
        ([1, 1, 0, 0], [1, 0, 1, 0], "1/2", "2/3", 1, "1/2"),
        ([1, 1, 0, 1], [1, 1, 0, 1], 0, 0, 0, 0),
        ([0, 0, 0, 0], [0, 0, 0, 0], 0, 0, 0, 0),
        ([0, 0, 0, 0], [0, 0, 0, 1], 1, 1, 1, "1/4"),
        ([1, 1, 1, 0], [0, 1, 0, 0], "1/2", "2/3", 1, "1/2"),
    ],
)
def test_distances_between_label_sets(a, b, f1, accuracy, subset, hamming):
    found = [naive.SET_DISTANCES[name](a, b) for name in ("f1", "accuracy", "subset", "hamming")]
    assert found == [Fraction(f1), Fraction(accuracy), Fraction(subset), Fraction(hamming)]


def test_distances_between_embedded_targets():
    assert naive.cosine_target_distance([1, 0], [-3, 0]) == 1
    assert naive.cosine_target_distance([1, 7], [3, 21]) == 0
    assert naive.cosine_target_distance([1, 0], [0, 2]) == naive.cosine_target_distance([0, 0], [0, 2]) == 0.5
    assert naive.cosine_target_distance([0, 0], [0, 0]) == 0
    # On a line through the origin sinh(u) has height cosh(u): the hyperbolic distance is the difference of u.
    apart = naive.hyperbolic_target_distance([math.sinh(0.5), 0], [math.sinh(2.0), 0])
    assert float(apart) == pytest.approx(1.5 / 2.5)
    assert naive.hyperbolic_target_distance([3, 4], [3, 4]) == 0


def test_multilabel_update_by_hand():
    # Row 0 is (0, 0), its two neighbours (1, 1/2) and (−1/2, 0), at target distances 1/2 and 1; so t = 3/4.
    z = [[Fraction(0), Fraction(0)], [Fraction(1), Fraction(1, 2)], [Fraction(-1, 2), Fraction(0)]]
    t = [Fraction(1, 2), Fraction(1)]
    # Plain, column 0: d = 3/4, td = 1/2. Column 1: d = 1/4, td = 1/8.
    plain = naive.multilabel_update(z, 0, [1, 2], t, abs_mean=False)
    assert plain == [Fraction(2, 3) - 1, Fraction(1, 6) - Fraction(1, 2)]
    # absMean, column 0: d = |−1/4|, td = |−1/2 + 1/2| / 2 = 0. Column 1 has one sign and stays.
    mean = naive.multilabel_update(z, 0, [1, 2], t, abs_mean=True)
    assert mean == [Fraction(-1), Fraction(1, 6) - Fraction(1, 2)]


@pytest.mark.parametrize(("t", "expected"), [(0, -1), (1, 1)])
def test_multilabel_update_of_pure_hits_and_pure_misses(t, expected):
    z = [[Fraction(0)], [Fraction(1)]]
    assert naive.multilabel_update(z, 0, [1], [Fraction(t)], abs_mean=False) == [expected]


@pytest.mark.parametrize("distance", naive.SET_DISTANCES)
def test_multilabel_ranks_the_column_that_is_the_label(distance):
    rng = np.random.default_rng(0)
    T = rng.integers(0, 2, size=(24, 2))
    X = np.column_stack([T[:, 0], rng.integers(0, 4, size=(24, 2))])
    for abs_mean in (False, True):
        weights, used = naive.relieff_multilabel(X, T, 16, abs_mean, distance, exact=True)
        assert weights.argmax() == 0 and weights[0] > 0.1
        assert used.tolist() == [16] * 24
        weights, used = naive.relieff_multilabel(X, T, "adaptive", abs_mean, distance, exact=True)
        assert np.isfinite(weights).all() and used.shape == (24,) and used.min() >= 1


def test_sparsification_by_hand():
    # m + p = 5; the largest absolute sum is the second row's, 7; the threshold is 7 / 5 / √5 = 0.626.
    B = [[0.1, 0.0, -0.5], [-4.0, 3.0, 0.0]]
    assert naive.sparsify_epsilon(B) == 7 / 5
    values, probabilities = naive.sparsify_rule(B)
    threshold = 7 / 5 / math.sqrt(5)
    np.testing.assert_allclose(values, [[threshold, 0, -threshold], [-4, 3, 0]])
    np.testing.assert_allclose(probabilities, [[0.1 / threshold, 0, 0.5 / threshold], [1, 1, 0]])
    np.testing.assert_allclose(values * probabilities, B)


def test_latent_dimension_by_hand():
    # Points 0, 1, 3, 7 on a line in two columns: ratios 3, 2, 1.5, 1.5, so shares below 3/4, 1/2, 0, 0 and a
    # slope of (ln 3 · ln 4 + ln 2 · ln 2) / (ln²3 + ln²2 + 2 ln²1.5) = 0.99, raised to 2.
    line = [[0, 0], [1, 0], [3, 0], [7, 0]]
    assert naive.latent_dimension(line, exact=True) == 2
    assert naive.latent_dimension([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], exact=True) == 2
    assert naive.latent_dimension(np.eye(6), exact=True) is None
    assert naive.latent_dimension([[0], [1], [3], [7]], exact=True) is None
    assert naive.latent_dimension([[0, 0]] * 5 + [[1, 1]] * 5, exact=True) is None


@pytest.mark.parametrize(
    "chosen",
    [
        [0, 3, 1],
        [0, 3, 5, 0],
        [0, 1, 3, 5],
        [0, 3, 5, 8],
    ],
)
def test_representatives_that_break_the_rule_are_noticed(chosen):
    targets = ["a", "a", "a", "b", "b", "c"]
    naive.check_representatives(targets, 4, [2, 4, 5, 0])
    naive.check_representatives(targets, 5, [2, 4, 5, 0, 3])
    naive.check_representatives(targets, 6, range(6))
    naive.check_representatives(targets, 2, [5, 0])
    with pytest.raises(AssertionError):
        naive.check_representatives(targets, 4, chosen)
