"""Average ranks, Friedman, Nemenyi and cliques: published values, scipy's, and what is left out."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.analysis.critical_distance import average_ranks, compare_ranks, critical_distance
from experiments.analysis.verdict import verdict
from experiments.errors import BadInputError
from experiments.formatting import rank_shown

#: AUC of four variants of C4.5: J. Demšar, JMLR 7 (2006), table 6. Two of "voting" are printed as 0.975 and have
#: the ranks 2 and 3: the first must have been the larger one before it was rounded.
DEMSAR = pd.DataFrame(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ],
    columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
    index=[
        "adult",
        "breast cancer",
        "breast cancer wisconsin",
        "cmc",
        "ionosphere",
        "iris",
        "liver disorders",
        "lung cancer",
        "lymphography",
        "mushroom",
        "primary tumor",
        "rheum",
        "voting",
        "wine",
    ],
)


def table(n_datasets=9, n_rankers=5, seed=0, spread=0.05):
    rng = np.random.default_rng(seed)
    level = np.linspace(0.9, 0.5, n_rankers)
    return pd.DataFrame(
        level + rng.normal(0, spread, (n_datasets, n_rankers)),
        index=[f"d{n}" for n in range(n_datasets)],
        columns=[f"r{n}" for n in range(n_rankers)],
    )


# --- published and known --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "k", "n", "expected"),
    [
        (0.05, 2, 20, 0.438261),
        (0.05, 4, 14, 1.253559),
        (0.05, 25, 9, 12.690740),
        (0.05, 30, 20, 10.435599),
        (0.10, 5, 11, 1.658205),
    ],
)
def test_critical_distances(alpha, k, n, expected):
    assert critical_distance(k, n, alpha) == pytest.approx(expected, abs=5e-7)


def test_two_rankers_have_the_quantile_of_the_normal_distribution():
    # The range of two normals is |difference|; k = 2 needs no table.
    expected = stats.norm.isf(0.025) * np.sqrt(2 * 3 / (6 * 20))
    assert critical_distance(2, 20) == pytest.approx(expected)


def test_the_worked_example_of_the_article_that_proposed_the_diagrams():
    ranks = average_ranks(DEMSAR)
    np.testing.assert_allclose(ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    k, n = 4, 14
    chi_square = 12 * n / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    assert chi_square == pytest.approx(9.28, abs=0.005)  # there without correction for ties
    compared = compare_ranks(DEMSAR)
    assert compared.cd == pytest.approx(1.25, abs=0.005)
    assert compare_ranks(DEMSAR, alpha=0.1).cd == pytest.approx(1.12, abs=0.005)
    # At 0.05 "we cannot tell any two apart"; at 0.1 C4.5 is worse than C4.5+m and C4.5+m+cf, and the article says
    # that of C4.5+cf the data are not enough to conclude which group it belongs to: two overlapping groups.
    assert [set(clique) for clique in compared.cliques] == [set(DEMSAR.columns)]
    assert [set(clique) for clique in compare_ranks(DEMSAR, alpha=0.1).cliques] == [
        {"C4.5+m+cf", "C4.5+m", "C4.5+cf"},
        {"C4.5+cf", "C4.5"},
    ]


def test_friedman_is_scipys():
    compared = compare_ranks(DEMSAR)
    expected = stats.friedmanchisquare(*DEMSAR.to_numpy().T)
    assert compared.friedman_statistic == pytest.approx(expected.statistic)
    assert compared.friedman_p == pytest.approx(expected.pvalue)
    ties = sum(
        (counts**3 - counts).sum()
        for row in DEMSAR.to_numpy()
        for counts in [np.unique(row, return_counts=True)[1]]
    )
    corrected = 9.2786 / (1 - ties / (14 * 4 * 15))
    assert compared.friedman_statistic == pytest.approx(corrected, rel=1e-3)


# --- ranks ----------------------------------------------------------------------------------------


def test_ties_share_their_average():
    ranks = average_ranks(pd.DataFrame([[0.9, 0.9, 0.8]], columns=list("abc"), index=["d"]))
    assert ranks.to_dict() == {"a": 1.5, "b": 1.5, "c": 3}
    assert ranks.name == "rank"


def test_high_is_good_for_scores_and_low_for_times():
    scores = pd.DataFrame({"best": [0.9, 0.8, 0.9], "middle": [0.7, 0.7, 0.6], "worst": [0.1, 0.2, 0.3]})
    seconds = pd.DataFrame({"worst": [9.0, 8, 7], "best": [0.1, 0.1, 0.2], "middle": [1.0, 2, 3]})
    assert average_ranks(scores)["best"] == 1
    assert average_ranks(seconds, higher_is_better=False)["best"] == 1
    assert average_ranks(seconds)["best"] == 3
    # in the order of the columns
    assert list(average_ranks(seconds).index) == ["worst", "best", "middle"]


def test_folds_are_averaged_before_ranking():
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product([[f"d{n}" for n in range(9)], range(100)], names=["dataset", "fold"])
    folds = pd.DataFrame(rng.random((900, 3)), index=index, columns=list("abc"))
    means = folds.groupby(level=0).mean()
    compared = compare_ranks(folds)
    assert len(compared.used) == 9
    pd.testing.assert_series_equal(average_ranks(folds), average_ranks(means))
    assert compared.cd == critical_distance(3, 9)
    flat = folds.set_axis(folds.index.get_level_values(0), axis=0)
    pd.testing.assert_series_equal(average_ranks(flat), average_ranks(means))


def test_a_data_set_of_which_a_fold_is_missing_is_not_finished():
    index = pd.MultiIndex.from_product([["d0", "d1"], range(3)])
    folds = pd.DataFrame(np.arange(12.0).reshape(6, 2), index=index, columns=["a", "b"])
    folds.iloc[1, 0] = np.nan
    compared = compare_ranks(folds)
    assert compared.used == ("d1",) and compared.left_out == {"d0": ("a",)}


def test_ranks_are_over_the_data_sets_that_all_finished():
    frame = table(9, 5)
    frame.loc["d3", "r1"] = np.nan
    frame.loc["d7", "r1"] = np.nan
    frame.loc["d7", "r4"] = np.nan
    compared = compare_ranks(frame)
    assert compared.used == ("d0", "d1", "d2", "d4", "d5", "d6", "d8")
    assert compared.left_out == {"d3": ("r1",), "d7": ("r1", "r4")}
    common = frame.drop(["d3", "d7"])
    pd.testing.assert_series_equal(average_ranks(frame), average_ranks(common))
    assert compared.cd == critical_distance(5, 7)
    assert compared.friedman_p == pytest.approx(stats.friedmanchisquare(*common.to_numpy().T).pvalue)


def test_the_sum_of_ranks_is_what_it_must_be():
    ranks = average_ranks(table(20, 50).round(2))
    assert ranks.sum() == pytest.approx(50 * 51 / 2)


# --- what is not different ------------------------------------------------------------------------


def ranks_of(*orders):
    """A table in which rankers a, b, c … have the given ranks."""
    return pd.DataFrame(
        [[-rank for rank in order] for order in orders], columns=list("abcdefgh"[: len(orders[0])])
    )


def test_cliques_are_the_largest_groups_within_the_distance():
    compared = compare_ranks(table(9, 12, spread=0.06))
    ranks, distance = compared.average_ranks, compared.cd
    assert list(ranks) == sorted(ranks)
    # By brute force: runs of neighbours, and none inside another.
    names = list(ranks.index)
    close = [
        names[i : j + 1]
        for i in range(12)
        for j in range(i + 1, 12)
        if ranks.iloc[j] - ranks.iloc[i] < distance
    ]
    largest = [group for group in close if not any(set(group) < set(other) for other in close)]
    assert [list(clique) for clique in compared.cliques] == largest
    assert len(largest) >= 3
    for i in range(12):
        for j in range(i + 1, 12):
            together = any({names[i], names[j]} <= set(clique) for clique in compared.cliques)
            assert together == (ranks.iloc[j] - ranks.iloc[i] < distance)


def test_a_single_ranker_is_no_group():
    compared = compare_ranks(ranks_of(*[(1, 2, 3)] * 60))
    assert compared.cliques == ()
    assert compared.cd < 1


def test_a_difference_of_exactly_the_distance_is_a_difference(monkeypatch):
    from experiments.analysis import critical_distance as module

    monkeypatch.setattr(module, "critical_distance", lambda *_: 1.0)
    assert compare_ranks(ranks_of((1, 2, 3), (1, 2, 3))).cliques == ()
    monkeypatch.setattr(module, "critical_distance", lambda *_: 1.0 + 1e-9)
    assert compare_ranks(ranks_of((1, 2, 3), (1, 2, 3))).cliques == (("a", "b"), ("b", "c"))


def test_equal_ranks_are_one_group_in_the_order_of_the_columns():
    compared = compare_ranks(ranks_of(*[(1.5, 3, 1.5)] * 100))
    assert compared.cliques == (("a", "c"),)


# --- at the edges ---------------------------------------------------------------------------------


def test_two_rankers_have_no_friedman_test():
    compared = compare_ranks(table(20, 2))
    assert np.isnan(compared.friedman_p) and np.isnan(compared.friedman_statistic)
    assert compared.cd == pytest.approx(0.438261, abs=1e-6)


def test_all_tied():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compared = compare_ranks(pd.DataFrame(np.ones((5, 4)), columns=list("abcd")))
    assert (compared.average_ranks == 2.5).all()
    assert np.isnan(compared.friedman_p)
    assert compared.cliques == (tuple("abcd"),)


def test_one_data_set_and_fifty_rankers():
    compared = compare_ranks(table(1, 50))
    assert sorted(compared.average_ranks) == list(range(1, 51))
    assert np.isnan(compared.cd) and compared.cliques == ()


@pytest.mark.parametrize("seed", range(3))
def test_on_one_data_set_nothing_is_tested(seed):
    # scipy would say chi-square = k - 1 and one p for any scores.
    compared = compare_ranks(table(1, 6, seed=seed))
    assert np.isnan([compared.cd, compared.friedman_statistic, compared.friedman_p]).all()
    assert compared.no_test.startswith("it needs two data sets or more")
    assert len(compared.average_ranks) == 6 and not compared.out_of_reach


def test_why_a_test_is_left_out():
    assert compare_ranks(table(9, 2)).no_test == "it needs three rankers or more"
    assert compare_ranks(table(9, 3)).no_test == ""
    tied = pd.DataFrame(np.ones((5, 4)), columns=list("abcd"))
    assert compare_ranks(tied).no_test == "all rankers are tied everywhere"


def test_two_data_sets_cannot_tell_many_rankers_apart():
    two = compare_ranks(table(2, 13, spread=0.0))
    assert two.out_of_reach and two.cd > 12 and len(two.cliques) == 1 and two.friedman_p < 0.05
    assert not compare_ranks(table(9, 5)).out_of_reach


@pytest.mark.parametrize(
    ("value", "shown"),
    [(5.125, "5.13"), (8.375, "8.38"), (11.4549, "11.45"), (2.0, "2.00"), (8 / 3, "2.67"), (np.nan, "–")],
)
def test_halves_of_ranks_are_rounded_up(value, shown):
    assert rank_shown(value) == shown


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame(index=["d"]), "there are no rankers"),
        (table(3, 1), "at least 2 rankers"),
        (table(0, 3), "no data set was finished by all 3 rankers"),
        (
            pd.DataFrame([[1.0, np.nan], [np.nan, 1.0]], columns=["a", "b"]),
            r"fewest data sets: a \(1 of 2\), b \(1 of 2\)",
        ),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "ranker a is there twice"),
        (pd.DataFrame([[1.0, np.inf]], columns=["a", "b"]), "ranker b has an infinite score"),
        (pd.DataFrame([["x", "y"]], columns=["a", "b"]), "scores must be numbers"),
    ],
)
def test_what_cannot_be_ranked_is_said(frame, message):
    with pytest.raises(BadInputError, match=message):
        compare_ranks(frame)


@pytest.mark.parametrize("numbers", [(1, 5, 0.05), (3, 0, 0.05), (3, 5, 0.0), (3, 5, 1.0)])
def test_distances_of_impossible_sizes(numbers):
    with pytest.raises(BadInputError, match="at least 2 rankers, 1 data set"):
        critical_distance(*numbers)


def test_the_frame_is_not_changed():
    frame = table(4, 3)
    before = frame.copy(deep=True)
    compare_ranks(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_rows_without_a_name_belong_to_no_data_set():
    frame = DEMSAR.copy()
    expected = compare_ranks(frame.iloc[1:])
    frame.index = [None, *frame.index[1:]]
    found = compare_ranks(frame)
    assert found.used == expected.used and found.average_ranks.equals(expected.average_ranks)


def test_the_critical_distance_is_itself_a_difference_wherever_it_is_asked():
    ranks = pd.Series({"a": 1.0, "b": 2.5, "c": 2.75})
    found = compare_ranks(pd.DataFrame([[0.9, 0.8, 0.7], [0.9, 0.7, 0.8]], columns=["a", "b", "c"]))
    exact = replace(found, average_ranks=ranks, cd=1.5)
    assert exact.differs("a", "b") and exact.differs("b", "a") and not exact.differs("b", "c")
    assert verdict(ranks, n_datasets=9, critical_distance=1.5).significantly_different == ("b", "c")
