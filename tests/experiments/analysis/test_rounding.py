"""Decisions that the last digit of a sum must not take, beside the order of features and average ranks."""

import warnings

import numpy as np
import pandas as pd
import pytest
from made_up import frame, repeats, row
from sklearn.base import BaseEstimator

from experiments.analysis.bayes import hierarchical_test
from experiments.analysis.curves import rf1_curve
from experiments.analysis.pairs import pairs_of
from experiments.analysis.similarity import cluster_order, pairwise_fuji, similarity_matrix
from experiments.analysis.stability import stability
from experiments.analysis.summary import summary
from experiments.metrics.fuji import area_under_fuji, fuji_curve
from experiments.metrics.stability import ranking_stability, rounding_as_zero
from reliefe import MultiSURF, TuRF

LAST_DIGIT = 1.1e-16


# --- similarity of rankers ---


def alike(seed):
    """Similarities of six rankers, the first two of which are the same one."""
    values = np.random.default_rng(seed).random((6, 6)).round(2)
    values = (values + values.T) / 2
    values[1], values[:, 1] = values[0], values[:, 0]
    values[:2, :2] = 1.0
    np.fill_diagonal(values, 1.0)
    return values


def test_the_order_of_a_heat_map_does_not_depend_on_the_last_digit_of_a_similarity():
    for seed in range(100):
        exact = alike(seed)
        digits = np.random.default_rng(seed).choice([-1, 0, 1], exact.shape)
        upper = np.triu(digits, k=1)
        noisy = np.minimum(exact + LAST_DIGIT * (upper + upper.T), 1.0)
        one, other = (
            cluster_order(pd.DataFrame(each, list("abcdef"), list("abcdef"))) for each in (exact, noisy)
        )
        assert one == other, seed


def test_similarities_equal_but_for_rounding_are_one_number_and_1_is_1():
    pairs = pd.DataFrame(
        [("a", "b", 0.1 + 0.2), ("a", "c", 0.3), ("b", "c", 1 - LAST_DIGIT)],
        columns=["ranker_a", "ranker_b", "aufuji"],
    )
    found = similarity_matrix(pairs)
    assert found.loc["a", "b"] == found.loc["a", "c"]
    assert found.loc["b", "c"] == 1.0


#: The last three features are worth nothing; once as it is on paper, once as sums leave it.
PAPER, SUMS, OTHER = (
    [1.0, 0.5, 0.0, 0.0, 0.0, -0.2],
    [1.0, 0.5, 1e-17, 3e-18, -2e-17, -0.2],
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
)


def test_weights_that_are_0_but_for_rounding_are_as_alike_as_0():
    right = area_under_fuji(fuji_curve(PAPER, OTHER, "clip"))
    assert abs(area_under_fuji(fuji_curve(SUMS, OTHER, "clip")) - right) > 0.1
    rows = frame(*(row(name, weights=list(w)) for name, w in (("a", PAPER), ("b", SUMS), ("c", OTHER))))
    areas = pairwise_fuji(rows).set_index(["ranker_a", "ranker_b"])["aufuji"]
    assert areas["a", "c"] == areas["b", "c"] == right
    assert areas["a", "b"] == 1.0
    assert ranking_stability([SUMS, OTHER]) == right


def test_only_weights_that_rounding_explains_become_0():
    weights = [[1.0, 2e-12, -0.9e-12, 0.0], [1e-20, 1e-21, 0.0, -1e-33]]
    assert rounding_as_zero(weights).tolist() == [[1.0, 2e-12, 0.0, 0.0], [1e-20, 1e-21, 0.0, 0.0]]
    assert rounding_as_zero([0.0, 0.0]).tolist() == [0.0, 0.0]


def test_a_stability_equal_but_for_rounding_is_one_number():
    lists = np.random.default_rng(3).random((4, 7))
    rows = [row("a", 0, fold, weights=list(each)) for fold, each in enumerate(lists)]
    for ranker in "bcdef":  # the same lists in another order of folds
        shuffled = lists[np.random.default_rng(ord(ranker)).permutation(4)]
        assert sorted(map(tuple, shuffled)) == sorted(map(tuple, lists))
        rows += [row(ranker, 0, fold, weights=list(each)) for fold, each in enumerate(shuffled)]
    means = {ranking_stability(lists[np.random.default_rng(ord(each)).permutation(4)]) for each in "bcdef"}
    assert len(means) > 1
    assert stability(frame(*rows))["aufuji"].nunique() == 1


# --- means over folds that are shown side by side ---


def orders_of_folds(key):
    """Rows of two rankers with the same three folds in another order."""
    scores = {"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1]}
    return frame(
        *(
            row(ranker, 0, fold, curve=key(score), grid=(1, 2))
            for ranker, mine in scores.items()
            for fold, score in enumerate(mine)
        )
    )


def test_points_of_curves_equal_but_for_rounding_are_one_number():
    rows = orders_of_folds(lambda score: (score, 1.0))
    means = [sum(curve[0] for curve in rows.loc[rows["ranker"] == each, "rf1_micro"]) / 3 for each in "ab"]
    assert means[0] != means[1]
    found = rf1_curve(rows).query("n_features == 1")["rf1_mean"]
    assert found.nunique() == 1
    assert found.iloc[0] == pytest.approx(0.2)


def test_f1_of_all_features_is_one_number_for_all_rankers():
    rows = orders_of_folds(lambda score: (1.0, score))
    assert rows.groupby("ranker")["f1_micro_all"].agg(lambda scores: sum(scores) / 3).nunique() == 2
    assert summary(rows)["f1_micro_all_mean"].nunique() == 1


def test_who_is_tested_is_not_decided_by_rounding():
    # All four are as far above the mean of a data set as below it: 0 on average, but for rounding.
    scores = {
        "a": [0.663, 0.587, 0.869],
        "b": [0.655, 0.657, 0.807],
        "c": [0.611, 0.675, 0.833],
        "d": [0.619, 0.605, 0.895],
    }
    table = pd.DataFrame(scores)
    above = table.sub(table.mean(axis=1), axis=0).mean()
    assert 0 < above.abs().max() < 1e-15 and above.nunique() > 1
    rows = frame(
        *(
            repeats(ranker, dataset=f"d{place}", curve=(score, score), grid=(1, 2))
            for ranker, mine in scores.items()
            for place, score in enumerate(mine)
        )
    )
    for order in ("acdb", "bcda", "dcba", "abcd"):  # of equal ones, those named first are kept
        assert pairs_of(rows, list(order), most=1)[1] == list(order[2:])


# --- the hierarchical test ---


def test_differences_that_scatter_by_rounding_alone_are_constant():
    x = np.full((3, 20), 0.7)
    scatter = 1e-14 * np.random.default_rng(1).choice([-1, 0, 1], x.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        constant, noisy = (
            hierarchical_test(x, x - 0.1 + each, 0.05, 2, 2000, random_state=0).probs()
            for each in (0, scatter)
        )
    assert noisy == pytest.approx(constant, abs=0.01)


# --- rankers ---


class FirstRow(BaseEstimator):
    """Weights are the first row of the columns; of two columns they are equal but for ``noise``."""

    def __init__(self, noise=0.0):
        self.noise = noise

    def fit(self, X, y):
        """Take them."""
        first = np.asarray(X, dtype=float)[0]
        self.feature_importances_ = first if len(first) > 2 else np.array([0.1, 0.1 + self.noise])
        return self


@pytest.mark.parametrize("noise", [0.0, 1.4e-17, 1e-14])
def test_turf_ranks_dropped_columns_last_when_the_last_weights_are_equal_but_for_rounding(noise):
    X = np.array([[0.3, 0.2, 0.9, 0.8], [0.0, 0.0, 0.0, 1.0]])
    ranker = TuRF(FirstRow(noise), removed=2, n_final=2).fit(X, [0, 1])
    assert ranker.ranking_.tolist() == [3, 4, 1, 2]
    assert ranker.feature_importances_ == pytest.approx([0.09, -0.01, 0.1, 0.1])


def whole_numbers(seed=0):
    """1 … 97 in some order: the standard deviation is exactly 28, as are 69 differences of each column."""
    random = np.random.default_rng(seed)
    X = np.column_stack([*(random.permutation(97) + 1.0 for _ in range(3)), random.integers(0, 3, 97)])
    return X, random.integers(0, 2, 97)


def test_as_scikit_rebate_a_difference_of_one_standard_deviation_is_not_above_it():
    skrebate = pytest.importorskip("skrebate")
    X, y = whole_numbers()
    Z = (X[:, 0] - 1.0) / 96
    sizes = np.abs(np.subtract.outer(Z, Z))[np.subtract.outer(X[:, 0], X[:, 0]) == 28]
    assert len(sizes) == 69 and len(set(sizes)) > 1  # equal but for rounding
    assert (sizes > X[:, 0].std() / 96).any()
    ours = MultiSURF(discrete_features=[3], compatible="skrebate").fit(X, y).feature_importances_
    np.testing.assert_allclose(ours, skrebate.MultiSURF().fit(X, y).feature_importances_, rtol=0, atol=1e-12)


def test_jmi_gives_columns_that_say_the_same_to_the_lower_one():
    information = pytest.importorskip("experiments.rankers.information")
    turned = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        column, y = (random.random(37) < 0.4).astype(float), random.integers(0, 3, 37)
        X = np.column_stack([column, 1.0 - column])
        codes = X.astype(np.int32)
        one, other = (information._information(each, y.astype(np.int32)) for each in codes.T)
        turned += other > one
        assert information.JMI().fit(X, y).order_.tolist() == [0, 1], seed
    assert turned  # by rounding, the second column would come first
