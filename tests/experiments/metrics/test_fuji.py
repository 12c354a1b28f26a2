"""Fuzzy Jaccard index: the slow twin, known answers, properties, speed."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from experiments.metrics.fuji import area_under_fuji, fuji_curve


def naive_order(scores):
    """Descending; a chain of scores each within 1e-12 of the one before it is in the order of the columns."""
    falling = sorted(range(len(scores)), key=lambda j: (-scores[j], j))
    chains = [[falling[0]]]
    for before, j in itertools.pairwise(falling):
        if scores[before] - scores[j] <= 1e-12:
            chains[-1].append(j)
        else:
            chains.append([j])
    return [j for chain in chains for j in sorted(chain)]


def naive_fuji(a, b):
    """FUJI of every size, set by set, as it is defined."""
    orders = naive_order(a), naive_order(b)
    scores = [[max(float(x), 0.0) for x in each] for each in (a, b)]
    curve = []
    for size in range(1, len(a) + 1):
        tops = [set(order[:size]) for order in orders]
        union = tops[0] | tops[1]
        memberships = []
        for top, values in zip(tops, scores, strict=True):
            smallest = min(values[j] for j in top)
            memberships.append(
                {j: 1.0 if j in top or smallest == 0 else min(values[j] / smallest, 1.0) for j in union}
            )
        least = sum(min(memberships[0][j], memberships[1][j]) for j in union)
        largest = sum(max(memberships[0][j], memberships[1][j]) for j in union)
        assert largest == len(union)
        curve.append(least / largest)
    return np.array(curve)


lists = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        *[
            arrays(
                np.float64,
                n,
                elements=st.one_of(
                    st.floats(-1, 1e6),
                    st.integers(-1, 3).map(float),
                    st.floats(0, 1e-11),
                    st.integers(0, 4).map(lambda k: 0.5 + k * 6e-13),
                ),
            )
        ]
        * 2
    )
)


@settings(max_examples=400, deadline=None)
@given(lists)
def test_the_curve_is_that_of_the_definition(pair):
    np.testing.assert_allclose(fuji_curve(*pair, "clip"), naive_fuji(*pair), atol=1e-12)


@settings(max_examples=200, deadline=None)
@given(lists)
def test_it_is_symmetric_and_between_0_and_1_and_ends_in_1(pair):
    curve = fuji_curve(*pair, "clip")
    np.testing.assert_allclose(curve, fuji_curve(pair[1], pair[0], "clip"), atol=1e-14)
    assert ((curve >= 0) & (curve <= 1)).all()
    assert curve[-1] == 1
    assert 0 <= area_under_fuji(curve) <= 1


@settings(max_examples=100, deadline=None)
@given(lists)
def test_a_list_is_exactly_like_itself(pair):
    curve = fuji_curve(pair[0], pair[0], "clip")
    assert (curve == 1).all()
    assert area_under_fuji(curve) == 1


@settings(max_examples=100, deadline=None)
@given(
    st.integers(2, 20).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n)))),
    st.integers(0, 2**32 - 1),
)
def test_scale_and_order_of_columns_do_not_matter(ranks, seed):
    # Distinct whole numbers: no ties, and a scale of 4 is exact.
    a, b = (1.0 + np.array(each) for each in ranks)
    order = np.random.default_rng(seed).permutation(len(a))
    expected = fuji_curve(a, b)
    np.testing.assert_allclose(fuji_curve(4 * a, b), expected, atol=1e-14)
    np.testing.assert_allclose(fuji_curve(a[order], b[order]), expected, atol=1e-14)


def test_known_answer():
    # tops of size 1: {0} and {1}; 1 has 0.5 / 1 in a, 0 has 0.8 / 1 in b: (0.5 + 0.8) / 2
    # tops of size 2: {0, 1} twice. Size 3: all.
    np.testing.assert_allclose(fuji_curve([1, 0.5, 0.1], [0.8, 1, 0.2]), [0.65, 1, 1])
    # size 1: 2 has 0.1 in a, 0 has 0.25 in b; size 2: {0, 1}, {2, 1}: 1 + 0.2 + 0.5 over 3
    curve = fuji_curve([1, 0.5, 0.1], [0.25, 0.5, 1])
    np.testing.assert_allclose(curve, [0.175, 1.7 / 3, 1])
    assert area_under_fuji(curve) == pytest.approx(((0.175 + 1) / 2 + 1.7 / 3) / 2)


def test_nothing_in_common_is_0():
    curve = fuji_curve([1, 0, 0, 0], [0, 0, 0, 1])
    np.testing.assert_allclose(curve[0], 0)
    # From size 2 on both smallest scores are 0, and everything is a member.
    np.testing.assert_array_equal(curve[1:], 1)


def test_one_smallest_score_of_0_is_not_enough():
    a, b = [1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4]
    np.testing.assert_allclose(fuji_curve(a, b), naive_fuji(a, b), atol=1e-15)
    assert (fuji_curve(a, b)[:3] < 1).all()


def test_ties_go_to_the_lower_column():
    # In a all are tied: the order is that of the columns, though the last is larger by a rounding error.
    a = np.array([0.5, 0.5 + 4e-13, 0.5 + 8e-13])
    b = np.array([1.0, 0.5, 0.25])
    np.testing.assert_allclose(fuji_curve(a, b), [1, 1, 1], atol=1e-11)
    apart = np.array([0.5, 0.5 + 4e-12, 0.5 + 8e-12])
    assert fuji_curve(apart, b)[0] < 0.7


def test_a_chain_of_ties_is_one_tie():
    a = 0.5 + 9e-13 * np.arange(40)[::-1]
    np.testing.assert_allclose(fuji_curve(a[::-1], np.arange(40.0)[::-1] + 1), np.ones(40), atol=1e-9)


def test_negative_scores():
    a, b = [0.5, -0.1, -0.3], [0.5, 0.2, 0.1]
    with pytest.raises(ValueError, match=r"score 2 of a is negative \(-0\.3\); negative='clip'"):
        fuji_curve(a, b)
    with pytest.raises(ValueError, match="score 1 of b is negative"):
        fuji_curve(b, [0.5, -0.1, 0.3])
    # The order comes first: -0.1 stands before -0.3, though both count as 0.
    np.testing.assert_allclose(fuji_curve(a, b, "clip"), naive_fuji(a, b))
    reverse = fuji_curve([0.5, -0.3, -0.1], b, "clip")
    assert reverse[1] < fuji_curve(a, b, "clip")[1] == 1


def test_small_scores_beside_large_ones_keep_their_digits():
    rng = np.random.default_rng(0)
    a = 10 ** rng.uniform(-12, 12, 300)
    b = a * 10 ** rng.normal(0, 1, 300)
    np.testing.assert_allclose(fuji_curve(a, b), naive_fuji(a, b), rtol=1e-11)


def test_tied_tiny_scores_of_many_sizes_keep_their_digits():
    # Below 1e-12 all are tied, so large and small ones take turns in the order of the columns.
    for seed in range(50):
        a, b = 10 ** np.random.default_rng(seed).uniform(-300, 300, (2, 20))
        np.testing.assert_allclose(fuji_curve(a, b), naive_fuji(a, b), atol=1e-13)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1.0], [1.0, 2.0], "a has 1 scores and b has 2"),
        ([], [], "a must be one-dimensional and have at least one score"),
        ([[1.0]], [[1.0]], "must be one-dimensional"),
        ([1.0, np.nan], [1.0, 2.0], "score 1 of a is nan"),
        ([1.0, 2.0], [np.inf, 2.0], "score 0 of b is inf"),
    ],
)
def test_bad_lists(a, b, message):
    with pytest.raises(ValueError, match=message):
        fuji_curve(a, b)


def test_bad_parameters():
    with pytest.raises(ValueError, match="negative must be"):
        fuji_curve([1.0], [1.0], "ignore")
    with pytest.raises(ValueError, match="at least one point"):
        area_under_fuji([])


def test_one_feature():
    np.testing.assert_array_equal(fuji_curve([3.0], [0.0]), [1])
    assert area_under_fuji([1.0]) == 1
    assert area_under_fuji([0.25]) == 0.25


def test_inputs_are_not_changed():
    a, b = np.array([1.0, -1.0]), np.array([2.0, 3.0])
    fuji_curve(a, b, "clip")
    np.testing.assert_array_equal(a, [1, -1])
    np.testing.assert_array_equal(b, [2, 3])


def test_time_grows_hardly_faster_than_the_list():
    """20,531 features take milliseconds; what is tested is that it is not quadratic, which would be seconds."""
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 20531))
    seconds = []
    for _ in range(5):
        start = time.thread_time()  # of this processor alone, whatever else runs on the machine
        curve = fuji_curve(a, b)
        seconds.append(time.thread_time() - start)
    assert len(curve) == 20531
    assert min(seconds) < 0.05
