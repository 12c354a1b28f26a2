"""R² by hand and by scikit-learn, and where it has no value."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from experiments.metrics.r2 import in_range, r2
from experiments.metrics.relative_f1 import area_under_relative_f1, relative_f1


def test_r2_is_scikit_learn_s():
    rng = np.random.default_rng(0)
    for scale, shift in ((1.0, 0.0), (1e-6, 3.0), (1e5, -1e7)):
        true = rng.normal(scale=scale, size=40) + shift
        for predicted in (true, true + rng.normal(scale=scale, size=40), np.full(40, true.mean()), true * 0):
            assert r2(true, predicted) == pytest.approx(r2_score(true, predicted), rel=1e-12, abs=1e-12)
    assert r2(np.array([0.0, 2.0]), np.array([0.0, 0.0])) == -1.0  # 1 − (0 + 4) / (1 + 1)


@pytest.mark.parametrize("value", [0.0, 0.1, -2e3 / 7])
def test_without_two_different_numbers_there_is_no_r2(value):
    with pytest.raises(ValueError, match=f"R² is not defined: all 7 test samples have the target {value:g}"):
        r2(np.full(7, value), np.arange(7.0))


def test_a_prediction_that_is_no_number_is_an_error():
    with pytest.raises(ValueError, match="not finite"):
        r2(np.array([0.0, 1.0]), np.array([0.0, np.nan]))


def test_the_scale_of_a_target_is_changed_only_where_squares_are_no_floats():
    usual = np.array([3.0, -1e90, 1e-200])
    assert in_range(usual) is usual and in_range(np.zeros(3)).tolist() == [0, 0, 0]
    for factor in (2.0**1020, 2.0**-1000):
        y = np.array([0.75, -0.5, 0.3])
        assert in_range(y * factor).tolist() == y.tolist()  # exactly: a power of two


def test_relative_to_an_r2_that_is_not_above_0_there_is_nothing():
    curves = np.array([[0.1, 0.4, 0.5], [0.1, -0.2, -0.1], [0.3, 0.1, 0.0], [-0.5, 0.25, 0.5]])
    relative = relative_f1(curves)
    assert relative[0].tolist() == [0.2, 0.8, 1.0] and relative[3].tolist() == [-1.0, 0.5, 1.0]
    assert np.isnan(relative[1:3]).all()
    area = area_under_relative_f1(relative)
    assert area[0] == pytest.approx((0.2 + 4 * 0.8 + 1.0) / 6) and area[3] == pytest.approx((-1 + 2 + 1) / 6)
    assert np.isnan(area[1:3]).all()
