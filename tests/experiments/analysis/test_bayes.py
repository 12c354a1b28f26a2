"""The hierarchical test: its density is that of the full model, its numbers are baycomp's, its limits are said."""

import json
import re
import subprocess
import sys
import warnings
from functools import cache

import matplotlib
import numpy as np
import pandas as pd
import pytest
from baycomp.multiple import Posterior
from folders import DATA, PROJECT_ROOT
from full_model import Integrated, integrated, log_density

from experiments.analysis.bayes import (
    ConvergenceWarning,
    HierarchicalPosterior,
    ScaleWarning,
    hierarchical_test,
    hierarchical_tests,
    sampling_in_words,
)
from experiments.errors import BadInputError, BadScoresError

REFERENCE = json.loads((DATA / "baycomp_reference.json").read_text(encoding="utf-8"))
ROPE = 0.05


def scores(q=4, n=20, level=0.0, scatter=0.03, seed=0, among=0.02):
    """Scores of two rankers; x is better by about ``level``."""
    rng = np.random.default_rng(seed)
    y = rng.normal(0.7, 0.03, (q, n))
    return y + rng.normal(level, among, (q, 1)) + rng.normal(0, scatter, (q, n)), y


@pytest.fixture(scope="module")
def posterior():
    return hierarchical_test(*scores(level=0.03), ROPE, 2, 2000, random_state=0, names=("a", "b"))


# --- the density ----------------------------------------------------------------------------------


def model_of(q, n, rho, sigma_high, seed=0):
    from experiments.analysis.bayes.model import Data

    rng = np.random.default_rng(seed)
    scaled = rng.normal(0, 1, (q, n)) * rng.uniform(0.3, 3, (q, 1)) + rng.normal(0, 1, (q, 1))
    mean = scaled.mean(axis=1)
    residual = ((scaled - mean[:, None]) ** 2).sum(axis=1) / (1 - rho)
    spread = np.full(q, (1 + (n - 1) * rho) / n)
    data = Data(mean, residual, spread, np.full(q, float(n)), np.ones(q), 6.0, 50.0, sigma_high)
    return scaled, data


def parameters_of(q, rng):
    return {
        "delta0": rng.uniform(-5, 5),
        "std0": np.exp(rng.uniform(-4, 3)),
        "nu": 1 + np.exp(rng.uniform(-3, 6)),
        "delta": rng.normal(0, 2, q),
    }


def constant_difference(pairs, tolerance):
    differences = np.array([ours - full for ours, full in pairs])
    assert np.isfinite(differences).all()
    assert np.ptp(differences) < tolerance
    values = np.array(pairs)[:, 1]
    assert np.ptp(values) > 20  # and the densities themselves are far from constant


@pytest.mark.parametrize(("n", "rho"), [(100, 0.1), (30, 0.2), (4, 0.5)])
def test_the_collapsed_density_is_that_of_the_full_covariance_matrix(n, rho):
    import jax

    from experiments.analysis.bayes import model

    q = 5
    scaled, data = model_of(q, n, rho, 40.0)
    rng = np.random.default_rng(1)
    pairs = []
    with jax.enable_x64(True):
        for _ in range(8):
            drawn = parameters_of(q, rng) | {
                "sigma": np.exp(rng.uniform(-1, 1.5, q)),
                "alpha": rng.uniform(1, 2),
                "beta": rng.uniform(0.01, 0.1),
            }
            full = log_density(scaled, rho, (6.0, 50.0, 40.0), **drawn)
            pairs.append((float(jax.jit(model.log_density)(**drawn, data=data)), full))
    constant_difference(pairs, 1e-8)


@pytest.mark.parametrize(
    "changed", [{"delta0": 6.5}, {"std0": 51.0}, {"nu": 0.9}, {"alpha": 2.5}, {"sigma": 41.0}]
)
def test_outside_the_bounds_there_is_nothing(changed):
    from experiments.analysis.bayes import model

    scaled, data = model_of(3, 10, 0.1, 40.0)
    inside = {"delta0": 1.0, "std0": 1.0, "nu": 5.0, "delta": np.zeros(3), "alpha": 1.5, "beta": 0.05}
    inside["sigma"] = np.ones(3)
    assert np.isfinite(float(model.log_density(**inside, data=data)))
    outside = inside | changed
    outside["sigma"] = np.broadcast_to(outside["sigma"], 3)
    assert float(model.log_density(**outside, data=data)) == -np.inf
    assert log_density(scaled, 0.1, (6.0, 50.0, 40.0), **outside) == -np.inf


@pytest.mark.parametrize(
    ("n", "rho", "sigma_high", "bounded"),
    [(100, 0.1, 1000.0, False), (10, 0.1, 1000.0, False), (4, 0.5, 4.0, True)],
)
def test_what_is_sampled_is_the_full_density_integrated(n, rho, sigma_high, bounded):
    import jax

    from experiments.analysis.bayes import model

    q = 3
    scaled, data = model_of(q, n, rho, sigma_high)
    rng = np.random.default_rng(2)
    pairs = []
    with jax.enable_x64(True):
        for _ in range(8):
            drawn = parameters_of(q, rng)
            point = model.Point(**drawn)
            ours = float(model.log_marginal(point, data, bounded=bounded))
            pairs.append((ours, integrated(scaled, rho, (6.0, 50.0, sigma_high), **drawn)))
    constant_difference(pairs, 1e-6)


def test_the_map_to_the_parameters_has_the_jacobian_it_states():
    import jax

    from experiments.analysis.bayes import model

    _, data = model_of(3, 10, 0.1, 40.0)

    def flat(vector):
        position = {"delta0": vector[0], "std0": vector[1], "nu": vector[2], "z": vector[3:]}
        return position, model.constrain(position, data)

    def parameters(vector):
        point = flat(vector)[1][0]
        return jax.numpy.concatenate([jax.numpy.stack([point.delta0, point.std0, point.nu]), point.delta])

    rng = np.random.default_rng(3)
    differences = []
    with jax.enable_x64(True):
        for _ in range(20):
            vector = rng.normal(0, 1.5, 6) + np.array([0, -4, 2, 0, 0, 0])
            sign, determinant = np.linalg.slogdet(jax.jacfwd(parameters)(vector))
            assert sign == 1
            # Factors that never change are left out of the stated one.
            differences.append(float(flat(vector)[1][1]) - determinant)
            assert abs(float(flat(vector)[1][0].delta0)) < data.delta0_bound
    assert np.ptp(differences) < 1e-8


def test_filling_arrays_up_has_no_influence():
    import jax

    from experiments.analysis.bayes import model, sampler

    _, data = model_of(3, 20, 0.1, 40.0)
    filled = sampler._fill(data)
    width = len(filled.n)
    rng = np.random.default_rng(0)
    with jax.enable_x64(True):
        for bounded in (True, False):
            z = rng.normal(0, 2, width)
            position = {"delta0": 0.3, "std0": -5.0, "nu": 2.0}
            whole = model.potential(position | {"z": z}, filled, bounded=bounded)
            own = model.potential(position | {"z": z[:3]}, data, bounded=bounded)
            # What fills up is a standard normal of its own.
            assert float(whole - own) == pytest.approx((z[3:] ** 2).sum() / 2, rel=1e-9)


# --- the numbers ----------------------------------------------------------------------------------


@cache
def of_table(name):
    """Sample for a table of the reference, once for all that is compared."""
    (table,) = (each for each in REFERENCE["tables"] if each["name"] == name)
    x, y = np.array(table["x"]), np.array(table["y"])
    return hierarchical_test(x, y, table["rope"], table["runs"], 10_000, random_state=1)


def allowed(p, *effective):
    """Five standard errors of the difference of two shares, and what a share of 0 or 1 hides."""
    noise = sum(1 / each for each in effective)
    return 5 * np.sqrt(np.maximum(p * (1 - p), 0.25 * noise) * noise)


@pytest.mark.parametrize("table", REFERENCE["tables"], ids=lambda table: table["name"])
def test_probabilities_and_parameters_are_those_of_baycomp(table):
    ours = of_table(table["name"])
    effective = min(ours.min_ess, 10_000), min(table["ess"].values())
    assert ours.max_rhat < 1.01 and ours.min_ess > 1000
    expected = np.array(table["probs"])
    assert (np.abs(ours.probs() - expected) < allowed(expected, *effective)).all()
    # baycomp's parameters are on its scale: differences y − x divided by their mean standard deviation.
    scale = (np.array(table["y"]) - np.array(table["x"])).std(axis=1).mean()
    draws = {"delta0": ours.delta0 / scale, "std0": ours.std0 / scale, "nu": ours.nu}
    levels = np.array(REFERENCE["quantile_levels"])
    for name, values in draws.items():
        shares = (values[:, None] < np.array(table["quantiles"][name])).mean(axis=0)
        # Where Stan had divergences it did not get to the smallest std0; numerical integration, below, did.
        compared = levels >= (0.5 if name == "std0" and table["divergences"] else 0)
        assert (np.abs(shares - levels) < allowed(levels, *effective))[compared].all(), name


@pytest.mark.parametrize("name", ["six scores", "five data sets", "two data sets"])
def test_probabilities_and_parameters_are_those_of_numerical_integration(name):
    (table,) = (each for each in REFERENCE["tables"] if each["name"] == name)
    exact = Integrated(np.array(table["x"]), np.array(table["y"]), table["rope"], table["runs"])
    ours = of_table(table["name"])
    effective = min(ours.min_ess, 10_000)
    assert (np.abs(ours.probs() - exact.probs) < allowed(exact.probs, effective)).all()
    draws = {"delta0": ours.delta0 / exact.scale, "std0": ours.std0 / exact.scale, "nu": ours.nu}
    for parameter, values in draws.items():
        at = np.quantile(values, [0.1, 0.3, 0.5, 0.7, 0.9])
        levels = exact.share_below(parameter, at)
        shares = (values[:, None] < at).mean(axis=0)
        assert (np.abs(shares - levels) < allowed(levels, effective)).all(), parameter


def test_the_reference_is_baycomps_and_of_several_sizes():
    assert any(version.startswith("baycomp 1.0.3") for version in REFERENCE["made_with"])
    shapes = {np.shape(table["x"]) for table in REFERENCE["tables"]}
    assert {(11, 100), (5, 20), (2, 100), (1, 100)} <= shapes
    between = [table for table in REFERENCE["tables"] if 0.05 < sorted(table["probs"])[1] < 0.5]
    assert len(between) >= 4


def test_the_order_is_x_better_rope_y_better():
    x, y = scores(q=5, n=100, level=0.2, among=0.01)
    assert hierarchical_test(x, y, ROPE, 10, 2000, random_state=0).probs()[0] > 0.99
    assert hierarchical_test(y, x, ROPE, 10, 2000, random_state=0).probs()[2] > 0.99
    x, y = scores(q=5, n=100, level=0.0, among=0.001)
    assert hierarchical_test(x, y, ROPE, 10, 2000, random_state=0).probs()[1] > 0.99


def test_swapped_arguments_give_the_swapped_result_to_the_last_digit(posterior):
    x, y = scores(level=0.03)
    other = hierarchical_test(y, x, ROPE, 2, 2000, random_state=0, names=("b", "a"))
    np.testing.assert_array_equal(other.sample, posterior.sample[:, ::-1])
    np.testing.assert_array_equal(other.delta0, -posterior.delta0)
    assert other.probs() == posterior.probs()[::-1]
    assert other.names == posterior.names[::-1]


def test_the_scale_of_the_scores_does_not_matter():
    x, y = scores(level=0.03)
    percent = hierarchical_test(x * 100, y * 100, ROPE * 100, 2, 2000, random_state=0)
    plain = hierarchical_test(x, y, ROPE, 2, 2000, random_state=0)
    np.testing.assert_allclose(percent.probs(), plain.probs(), atol=0.05)
    assert np.median(percent.std0) == pytest.approx(100 * np.median(plain.std0), rel=0.1)


# --- the result -----------------------------------------------------------------------------------


def test_the_result_is_baycomps_posterior(posterior):
    assert isinstance(posterior, Posterior)
    assert posterior.sample.shape == (2000, 3)
    np.testing.assert_allclose(posterior.sample.sum(axis=1), 1)
    assert (posterior.sample >= 0).all()
    shares = np.bincount(posterior.sample.argmax(axis=1), minlength=3) / 2000
    np.testing.assert_array_equal(posterior.probs(), shares)
    left, right = posterior.probs(with_rope=False)
    assert left + right == pytest.approx(1)


def test_it_says_how_well_it_was_sampled(posterior):
    assert set(posterior.rhat) == set(posterior.ess) == {"delta0", "std0", "nu", "delta"}
    assert posterior.max_rhat < 1.01 and posterior.min_ess >= 400
    assert posterior.n_drawn >= 2000 and posterior.divergences <= 2
    assert posterior.delta0.shape == posterior.std0.shape == posterior.nu.shape == (2000,)
    errors = posterior.standard_errors()
    p = np.array(posterior.probs())
    np.testing.assert_allclose(errors, np.sqrt(p * (1 - p) / min(posterior.min_ess, 2000)))


def test_the_draws_are_what_the_regions_are_made_of(posterior):
    from scipy import stats

    below = stats.t.cdf(-ROPE, posterior.nu, posterior.delta0, posterior.std0)
    np.testing.assert_allclose(posterior.sample[:, 0], below, rtol=1e-6)
    # x is better, so differences y − x are negative
    assert posterior.delta0.mean() < 0


@pytest.mark.parametrize("kind", ["plot", "plot_simplex", "plot_histogram"])
def test_baycomps_plots_work(posterior, kind):
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure = getattr(posterior, kind)(None) if kind == "plot_histogram" else getattr(posterior, kind)()
    texts = [text.get_text() for text in figure.axes[0].texts]
    plt.close(figure)
    assert any(f"p(a) = {posterior.probs()[0]:.3f}" in text for text in texts) or kind == "plot_histogram"
    # baycomp's histogram knows no rope; its names stand on their sides all the same
    assert any("p(a)" in text for text in texts) and any("p(b)" in text for text in texts)


def test_corners_of_the_triangle_are_swapped_with_the_arguments(posterior):
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    def corners(result):
        figure = result.plot_simplex()
        found = {round(text.get_position()[0], 3): text.get_text() for text in figure.axes[0].texts}
        plt.close(figure)
        return found[0.0], found[1.0]

    x, y = scores(level=0.03)
    other = hierarchical_test(y, x, ROPE, 2, 2000, random_state=0, names=("b", "a"))
    assert corners(other) == corners(posterior)[::-1]


def test_one_seed_one_result_whatever_the_threads_and_the_company(posterior):
    x, y = scores(level=0.03)
    others = [scores(q=3, seed=seed) for seed in range(3)]
    one = hierarchical_tests([others[0], (x, y), *others[1:]], ROPE, 2, 2000, random_state=0, n_jobs=1)
    two = hierarchical_tests([(x, y), *others], ROPE, 2, 2000, random_state=0, n_jobs=3)
    for result in (one[1], two[0]):
        np.testing.assert_array_equal(result.sample, posterior.sample)
    np.testing.assert_array_equal(one[3].sample, two[3].sample)
    changed = hierarchical_test(x, y, ROPE, 2, 2000, random_state=1)
    assert not np.array_equal(changed.sample, posterior.sample)


def test_a_mapping_keeps_its_keys_as_names():
    pairs = {("a", "b"): scores(level=0.03), ("a", "c"): scores(seed=1)}
    found = hierarchical_tests(pairs, ROPE, 2, 500, random_state=0)
    assert list(found) == list(pairs)
    assert [each.names for each in found.values()] == list(pairs)
    assert hierarchical_tests({1: scores()}, ROPE, 2, 500, random_state=0)[1].names is None
    assert hierarchical_tests({}, ROPE, 2) == {} and hierarchical_tests([], ROPE, 2) == []


def test_unequal_numbers_of_scores():
    x, y = scores(q=4, n=40, level=0.03)
    ragged = [row[: 40 - 10 * (place % 2)] for place, row in enumerate(x)]
    other = [row[: 40 - 10 * (place % 2)] for place, row in enumerate(y)]
    result = hierarchical_test(ragged, other, ROPE, 2, 2000, random_state=0)
    assert result.max_rhat < 1.01
    whole = hierarchical_test(x, y, ROPE, 2, 2000, random_state=0)
    np.testing.assert_allclose(result.probs(), whole.probs(), atol=0.2)
    assert not np.array_equal(result.sample, whole.sample)


def test_correlation_comes_from_the_number_of_runs():
    x, y = scores(q=3, n=100, level=0.03)
    prepared = __import__("experiments.analysis.bayes", fromlist=["_prepare"])._prepare(x, y, ROPE, 10, "")
    _, residual, spread, n, *_ = prepared.data
    rho = 0.1
    np.testing.assert_allclose(spread, (1 + 99 * rho) / 100)
    difference = (y - x) / (y - x).std(axis=1).mean()
    np.testing.assert_allclose(residual, 100 * difference.var(axis=1) / (1 - rho))
    np.testing.assert_array_equal(n, 100)


# --- at the edges ---------------------------------------------------------------------------------


def test_equal_scores_are_equivalent():
    x, _ = scores(q=5, n=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = hierarchical_test(x, x.copy(), ROPE, 10, names=("a", "b"))
    assert result.probs() == (0, 1, 0)
    assert result.sample.shape == (10_000, 3)
    assert (result.max_rhat, result.divergences, result.n_drawn) == (1, 0, 0)
    assert (result.standard_errors() == 0).all()
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure = result.plot()
    assert "p(rope) = 1.000" in [text.get_text() for text in figure.axes[0].texts]
    plt.close(figure)


def test_a_constant_difference_everywhere_is_a_difference():
    _, y = scores(q=5)
    # y + 0.2 − y is 0.2 but for rounding, which is no scatter.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for level, winner in ((0.2, 0), (-0.2, 2), (-0.01, 1)):
            result = hierarchical_test(y + level, y, ROPE, 2, 2000, random_state=0)
            assert result.probs()[winner] > 0.99
            assert np.median(result.delta0) == pytest.approx(-level, abs=0.02)


def test_data_sets_without_scatter_keep_their_mean():
    x, y = scores(q=5, n=20, level=0.2, among=0.01)
    x[0] = y[0] + 0.2
    x[1] = y[1] + 0.21
    result = hierarchical_test(x, y, ROPE, 2, 2000, random_state=0)
    assert result.max_rhat < 1.01
    assert result.probs()[0] > 0.95
    x[0] = y[0]
    assert hierarchical_test(x, y, ROPE, 2, 2000, random_state=0).max_rhat < 1.01


def test_without_a_rope_scatter_must_come_from_the_scores():
    x, y = scores(q=3)
    assert hierarchical_test(x, y, 0.0, 2, 1000, random_state=0).probs()[1] == 0
    x[1] = y[1] + 0.1
    with pytest.raises(BadInputError, match=r"data set number 1 .* are all the same"):
        hierarchical_test(x, y, 0.0, 2)


def test_one_data_set():
    x, y = scores(q=1, n=100, level=0.04)
    result = hierarchical_test(x, y, ROPE, 10, 2000, random_state=0)
    assert result.max_rhat < 1.01
    assert result.probs()[0] > result.probs()[2]
    with pytest.raises(BadInputError, match=r"for one data set give \[scores\]"):
        hierarchical_test(x[0], y[0], ROPE, 10)


def test_equal_means_of_all_data_sets():
    x, y = scores(q=3, n=20)
    x = y + (x - y) - (x - y).mean(axis=1, keepdims=True)
    result = hierarchical_test(x, y, ROPE, 2, 2000, random_state=0)
    assert result.max_rhat < 1.01 and result.probs()[1] > 0.5
    # The data sets' means are known to a third of a fold's scatter, and no bound keeps std0 far below that.
    assert np.quantile(result.std0, 0.9) > 0.1 * (x - y).std() / 3


def bad(**changes):
    x, y = scores(q=3, n=20)
    return {"x": x, "y": y, "rope": ROPE, "runs": 2, "n_samples": 100} | changes


def with_value(value):
    x, _ = scores(q=3, n=20)
    x[1, 7] = value
    return x


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (bad(x=with_value(np.nan)), "data set 1: score 7 of x is nan; leave data sets out"),
        (bad(y=with_value(np.inf)), "data set 1: score 7 of y is inf"),
        (bad(runs=3), "data set 0: 20 scores cannot be 3 runs"),
        (bad(runs=20), "20 runs of a cross-validation with two folds or more"),
        (bad(runs=0), "runs must be a whole number"),
        (bad(runs=2.5), "runs must be a whole number"),
        (bad(rope=-0.1), "rope must be a number of at least 0"),
        (bad(rope=np.nan), "rope must be a number"),
        (bad(rope="0.05"), "rope must be a number of at least 0, not '0.05'"),
        (bad(rope=None), "rope must be a number of at least 0, not None"),
        (bad(rope=True), "rope must be a number"),
        (bad(rope=np.array([0.05])), "rope must be a number"),
        (bad(rope=0.05j), "rope must be a number"),
        (bad(runs="2"), "runs must be a whole number of at least 1, not '2'"),
        (bad(runs=None), "runs must be a whole number"),
        (bad(runs=True), "runs must be a whole number"),
        (bad(n_samples="100"), "n_samples must be a whole number of at least 1, not '100'"),
        (bad(n_samples=100.0), "n_samples must be a whole number"),
        (bad(random_state="0"), "random_state must be a whole number, a RandomState or None, not '0'"),
        (bad(names="ab"), "names must be two texts, those of x and y, not 'ab'"),
        (bad(names=("a", 1)), "names must be two texts"),
        (bad(x=[["0.5"] * 20] * 3), "x has scores that are not numbers"),
        (bad(y=[[None] * 20] * 3), "y has scores that are not numbers: None"),
        (bad(x=np.full((3, 20), 0.5j)), "x has scores that are not numbers: complex128"),
        (bad(x=np.full((3, 20), np.datetime64("2020-01-01"))), "x has scores that are not numbers"),
        (bad(x=np.ma.masked_greater(with_value(1e6), 1e5)), "data set 1: score 7 of x is nan"),
        (bad(n_samples=0), "n_samples must be a whole number"),
        (bad(x=np.zeros((2, 20))), "x has 2 data sets and y has 3"),
        (bad(x=np.zeros((3, 10))), r"data set 0: x has scores of shape \(10,\) and y of shape \(20,\)"),
        (bad(x=np.zeros((0, 20)), y=np.zeros((0, 20))), "x has 0 data sets"),
        (bad(x=[["a"] * 20] * 3), "x has scores that are not numbers"),
        (bad(x=1.0), "x must have a row of scores for each data set"),
    ],
)
def test_what_cannot_be_tested_is_said(given, message):
    with pytest.raises(BadInputError, match=message):
        hierarchical_test(**given)
    assert issubclass(BadInputError, Exception)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pairs": 5}, "pairs must be pairs"),
        ({"pairs": [[[0.5] * 20]]}, "pairs must be pairs .*; pair 0 has 1 parts"),
        ({"n_jobs": "2"}, "n_jobs must be a whole number of at least 1, not '2'"),
        ({"n_jobs": 0}, "n_jobs must be a whole number of at least 1, not 0"),
        ({"names": "ab"}, "names must be one pair of names for each pair"),
        ({"names": [("a", "b"), ("c", "d")]}, "names must be one pair of names for each pair"),
        ({"names": ["ab"]}, "names must be two texts"),
    ],
)
def test_what_is_no_list_of_pairs_is_said(settings, message):
    given = {"pairs": [scores(q=3, n=20)], "rope": ROPE, "runs": 2} | settings
    with pytest.raises(BadScoresError, match=message):
        hierarchical_tests(**given)


def test_a_rope_of_another_scale_than_the_scores_is_warned_of():
    x, _ = scores(q=2, n=20)

    def warned(factor, rope):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            hierarchical_test(x * factor, x * factor, rope, 2, 10)
        return [str(each.message) for each in caught if each.category is ScaleWarning]

    (said,) = warned(100, 0.05)
    assert said.startswith("rope=0.05 is 0.0") and "% of the largest score" in said
    assert "rope=5 for scores in percent" in said
    assert warned(100, 5) == warned(1, 0.05) == warned(1, 0.001) == warned(100, 0) == []
    with pytest.warns(ScaleWarning, match="a and b: rope=0.05"):
        hierarchical_test(x * 100, x * 100, 0.05, 2, 10, names=("a", "b"))


def test_numbers_of_every_type_are_scores():
    x = np.round(np.linspace(0, 1, 60).reshape(3, 20), 2)
    for table in (x.tolist(), x.astype(object), x.astype(np.float32), (x * 10).astype(int), x > 0.5):
        assert hierarchical_test(table, table, np.float64(1), np.int64(2), np.int32(10)).probs() == (0, 1, 0)


def test_a_number_of_draws_that_is_not_there_is_undefined():
    sampled = {"rhat": {"nu": np.nan}, "ess": {"nu": np.inf}}
    said = sampling_in_words(HierarchicalPosterior(np.ones((1, 3)), **sampled))
    assert said.startswith("R-hat undefined (") and "sample size undefined (" in said
    sampled = {"rhat": {"nu": 1.2, "std0": 1.0}, "ess": {"nu": 87.4, "std0": 900.0}}
    said = sampling_in_words(HierarchicalPosterior(np.ones((1, 3)), **sampled))
    assert said == "R-hat 1.200 (should be below 1.01), effective sample size 87 (should be at least 400)"


def test_names_of_data_sets_and_rankers_are_in_messages():
    x, y = scores(q=2, n=20)
    frame = pd.DataFrame(x, index=["chess", "genes"])
    frame.loc["genes", 3] = np.nan
    with pytest.raises(BadInputError, match="a and b: data set genes: score 3 of x is nan"):
        hierarchical_tests({("a", "b"): (frame, pd.DataFrame(y, index=frame.index))}, ROPE, 2)
    with pytest.raises(BadInputError, match="not the same data sets in the same order"):
        hierarchical_test(pd.DataFrame(x, index=["a", "b"]), pd.DataFrame(y, index=["b", "a"]), ROPE, 2)
    with pytest.raises(BadInputError, match="pair 1: data set 0"):
        hierarchical_tests([(x, y), (x, y[:, :10])], ROPE, 2)


def test_chains_that_do_not_agree_run_on_and_then_say_so(monkeypatch):
    from experiments.analysis.bayes import sampler

    x, y = scores(level=0.03)
    monkeypatch.setattr(sampler, "LEAST_EFFECTIVE", 10**9)
    with pytest.warns(ConvergenceWarning, match=r"a and b: the chains did not converge: R-hat 1\.0"):
        result = hierarchical_tests({("a", "b"): (x, y)}, ROPE, 2, 1000, random_state=0)[("a", "b")]
    assert result.n_drawn == 8 * 2000
    assert len(result.sample) == 1000
    monkeypatch.setattr(sampler, "LEAST_EFFECTIVE", 2500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = hierarchical_test(x, y, ROPE, 2, 1000, random_state=0)
    assert 2000 < result.n_drawn < 16_000


def test_r_hat_sees_chains_that_disagree(monkeypatch):
    """The number that is reported is that of the chains: shifted ones must show in it."""
    from experiments.analysis.bayes import sampler

    summed_up = sampler._summed_up

    def shifted(blocks, q):
        moved = [
            (point._replace(delta0=point.delta0 + np.array([[0.0], [0], [0], [1]]) * 9), diverging)
            for point, diverging in blocks
        ]
        return summed_up(moved, q)

    monkeypatch.setattr(sampler, "_summed_up", shifted)
    with pytest.warns(ConvergenceWarning):
        result = hierarchical_test(*scores(level=0.03), ROPE, 2, 500, random_state=0)
    assert result.rhat["delta0"] > 1.1 and result.rhat["nu"] < 1.01


# --- manners --------------------------------------------------------------------------------------


def test_jax_stays_away_until_there_is_something_to_sample():
    code = """
import sys
import numpy as np
import experiments.analysis.bayes as bayes
x = np.random.default_rng(0).normal(0.7, 0.05, (2, 10))
assert bayes.hierarchical_test(x, x, 0.05, 2).probs() == (0, 1, 0)
print(*sorted({"jax", "numpyro", "matplotlib", "stan"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT_ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [], "")


def test_the_example_of_the_docs_works(capsys):
    text = (PROJECT_ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", text, flags=re.M | re.S)
    names = {}
    exec(compile(example, "statistics.md", "exec"), names)
    assert names["posterior"].probs()[0] > 0.99
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    import jax

    monkeypatch.chdir(tmp_path)
    hierarchical_test(*scores(), ROPE, 2, 500, random_state=0)
    assert list(tmp_path.iterdir()) == []
    # Double precision is for the test alone; whoever uses JAX for something else keeps their setting.
    assert jax.numpy.ones(1).dtype == "float32"
    assert "stan" not in sys.modules


def test_inputs_are_not_changed():
    x, y = scores()
    x[0] = y[0]
    before = x.copy(), y.copy()
    hierarchical_test(x, y, ROPE, 2, 500, random_state=0)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(y, before[1])


def test_global_random_numbers_are_not_touched():
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    hierarchical_test(*scores(), ROPE, 2, 500, random_state=0)
    assert np.random.random() == expected  # noqa: NPY002
