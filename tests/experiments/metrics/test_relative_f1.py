"""The grid of top features, rF1 and the area under it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from experiments.metrics.f1 import f1_micro_macro
from experiments.metrics.relative_f1 import area_under_relative_f1, feature_grid, relative_f1


def test_few_features_are_all_in_the_grid():
    assert feature_grid(4, 50).tolist() == [1, 2, 3, 4]
    assert feature_grid(50, 50).tolist() == list(range(1, 51))
    assert feature_grid(1, 50).tolist() == [1]


def test_many_features_are_spaced_geometrically_with_10_50_and_100():
    grid = feature_grid(20531, 50)
    assert grid[0] == 1 and grid[-1] == 20531
    assert {10, 50, 100} <= set(grid.tolist())
    steps = set(np.rint(np.geomspace(1, 20531, 50)).astype(int).tolist())
    assert set(grid.tolist()) == steps | {10, 50, 100}
    assert feature_grid(64, 15).tolist() == [1, 2, 3, 4, 6, 8, 10, 11, 14, 20, 26, 35, 48, 50, 64]


@settings(deadline=None)
@given(st.integers(1, 10**6), st.integers(1, 80))
def test_every_grid_grows_from_1_to_all(n_features, n_points):
    grid = feature_grid(n_features, n_points)
    assert grid[0] == 1 and grid[-1] == n_features
    assert (np.diff(grid) > 0).all()
    assert len(grid) <= n_points + 4
    assert {size for size in (10, 50, 100) if size <= n_features} <= set(grid.tolist())


@pytest.mark.parametrize(("n_features", "n_points"), [(0, 50), (5, 0), (-1, 3)])
def test_an_empty_grid_is_an_error(n_features, n_points):
    with pytest.raises(ValueError, match="at least 1"):
        feature_grid(n_features, n_points)


def test_relative_f1_divides_by_the_last_point():
    assert relative_f1([0.2, 0.6, 0.4]).tolist() == [0.5, 1.4999999999999998, 1.0]
    assert relative_f1([[0.5, 0.5], [0.1, 0.2]]).tolist() == [[1.0, 1.0], [0.5, 1.0]]


@pytest.mark.filterwarnings("error")
def test_relative_to_an_f1_of_zero_is_nan_and_never_infinite():
    both = relative_f1([[0.3, 0.0], [0.3, 0.6]])
    assert np.isnan(both[0]).all()
    assert both[1].tolist() == [0.5, 1.0]
    assert np.isnan(relative_f1([0.0])).all()
    areas = area_under_relative_f1(both)
    assert np.isnan(areas[0]) and areas[1] == 0.75


@pytest.mark.parametrize("n_points", [*range(1, 60), 100, 333, 1000])
def test_a_constant_of_one_has_an_area_of_exactly_one(n_points):
    assert area_under_relative_f1(np.ones(n_points)) == 1.0
    assert area_under_relative_f1(np.full(n_points, 0.1)) == 0.1


def test_known_areas():
    x = np.arange(5.0)
    # Simpson's rule is exact for cubics: the mean of x³ over 0 … 4 is 16.
    assert area_under_relative_f1(x**3) == pytest.approx(16.0, rel=1e-15)
    # An even number of points: exact for parabolas, the mean of x² over 0 … 5 is 25/3.
    assert area_under_relative_f1(np.arange(6.0) ** 2) == pytest.approx(25 / 3, rel=1e-15)
    assert area_under_relative_f1([0.5, 1.0]) == 0.75
    assert area_under_relative_f1([0.8]) == 0.8
    # (1 + 4·0.5 + 1)/3 over two steps.
    assert area_under_relative_f1([1.0, 0.5, 1.0]) == pytest.approx(2 / 3, rel=1e-15)


def test_no_point_is_an_error():
    for function in (relative_f1, area_under_relative_f1):
        with pytest.raises(ValueError, match="at least one point"):
            function([])


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=60))
def test_f1_agrees_with_scikit_learn(pairs):
    true, predicted = np.array(pairs).T
    micro, macro = f1_micro_macro(true, predicted, 7)
    assert micro == pytest.approx(f1_score(true, predicted, average="micro", zero_division=0), rel=1e-15)
    assert macro == pytest.approx(f1_score(true, predicted, average="macro", zero_division=0), rel=1e-14)
