"""Each feature alone: p values beside those of scipy, feature by feature."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chi2_contingency, kruskal, spearmanr
from scipy.stats.contingency import crosstab

from experiments.evaluation.alone import one_per_group, p_alone


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(90, 6)).round(1)  # with ties
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    numbers[:, 5] = 3.0
    categories = rng.integers(0, 3, size=(90, 2)).astype(float)
    categories[:5, 0] = np.nan
    return np.hstack([numbers, categories])


def test_classes(X):
    y = np.random.default_rng(1).integers(0, 3, 90)
    found = p_alone(X, y, "classes", [6, 7])
    for place in range(5):
        known = ~np.isnan(X[:, place])
        assert found[place] == pytest.approx(
            kruskal(*(X[known & (y == code), place] for code in range(3))).pvalue
        )
    for place in (6, 7):
        known = ~np.isnan(X[:, place])
        table = crosstab(X[known, place], y[known]).count
        assert found[place] == pytest.approx(chi2_contingency(table, correction=False).pvalue)
    assert found[5] == 1


def test_numbers(X):
    y = np.random.default_rng(1).normal(size=90).round(1) + np.nan_to_num(X[:, 0])
    found = p_alone(X, y, "numbers", [6, 7])
    for place in range(5):
        known = ~np.isnan(X[:, place])
        assert found[place] == pytest.approx(spearmanr(X[known, place], y[known]).pvalue)
    for place in (6, 7):
        assert found[place] == pytest.approx(kruskal(*(y[X[:, place] == code] for code in range(3))).pvalue)
    assert found[5] == 1


def test_labels_are_the_smallest_times_their_number(X):
    labels = np.random.default_rng(1).integers(0, 2, (90, 3))
    each = [p_alone(X, labels[:, label], "classes", [6, 7]) for label in range(3)]
    found = p_alone(X, sparse.csr_matrix(labels), "labels", [6, 7])
    np.testing.assert_allclose(found, np.minimum(3 * np.min(each, axis=0), 1))


def test_a_group_has_one_value_where_its_target_is_one():
    X = np.array([[1.0, 0], [3, 1], [5, 1], [np.nan, 2], [2, 0]])
    groups = np.array([7, 7, 7, 9, 9])
    means, y = one_per_group(X, np.array([0, 0, 0, 1, 1]), groups, [1])
    np.testing.assert_allclose(means, [[3, 1], [2, 0]])
    assert y.tolist() == [0, 1]
    assert one_per_group(X, np.array([0, 0, 1, 1, 1]), groups) is None
