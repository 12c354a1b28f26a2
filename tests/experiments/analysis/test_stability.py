"""Stability between folds: values worked out by hand, known limits, the slow twins, rows with gaps."""

import itertools
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_up import config, failed, frame, row
from scipy.stats import norm

from experiments.analysis.selection import expected_of
from experiments.analysis.stability import stability, stability_table, unstated
from experiments.metrics.fuji import area_under_fuji, areas_under_fuji, fuji_curve
from experiments.metrics.stability import (
    fold_pairs,
    orders,
    ranking_stability,
    tied_cuts,
    top_sets,
)
from reliefe.inspection import selection_stability


def sets(n_features, *chosen):
    return np.array([[feature in each for feature in range(n_features)] for each in chosen])


# --- Nogueira's measure ---


def test_values_worked_out_by_hand():
    # p = 1, 1/2, 1/2, 0: mean of 2 p (1 - p) is 1/4, as by chance.
    assert selection_stability(sets(4, {0, 1}, {0, 2})).value == pytest.approx(0)
    # p = 2/3, 1/3, 0, 0: mean of 3/2 p (1 - p) is 1/6, by chance 3/16.
    found = selection_stability(sets(4, {0}, {0}, {1}))
    assert found.value == pytest.approx(1 / 9)
    # The three sets add 1/6, 1/6, 1/12 (over 3/16): variance 32/729, times 4/3.
    half = norm.ppf(0.975) * np.sqrt(128 / 2187)
    assert (found.lower, found.upper) == pytest.approx((1 / 9 - half, 1 / 9 + half))
    # Sets of two sizes, {0} and {0, 1} and {0, 1}: p = 1, 2/3, 0; 3/2 p (1 - p) averages 1/9, by chance 20/81.
    assert selection_stability(sets(3, {0}, {0, 1}, {0, 1})).value == pytest.approx(1 - 9 / 20)


def naive_interval(selected, confidence):
    """The measure as agreement of raters beyond chance, set by set, and its interval."""
    n_sets, n_features = selected.shape
    share = selected.mean()
    by_chance = 1 - 2 * share * (1 - share)
    often = [sum(bool(each[f]) for each in selected) / n_sets for f in range(n_features)]
    observed = 1 - 2 / n_features * n_sets / (n_sets - 1) * sum(p * (1 - p) for p in often)
    value = (observed - by_chance) / (1 - by_chance)
    parts = []
    for each in selected:
        mine = each.mean()
        agreed = (
            1 - mine - share + 2 / n_features * sum(p for p, there in zip(often, each, strict=True) if there)
        )
        chance = (1 - value) * (share * mine + (1 - share) * (1 - mine))
        parts.append((agreed - chance) / (1 - by_chance))
    half = norm.ppf(0.5 + confidence / 2) * np.sqrt(
        4 / n_sets**2 * sum((p - np.mean(parts)) ** 2 for p in parts)
    )
    return value, value - half, value + half


@settings(max_examples=200, deadline=None)
@given(
    st.tuples(st.integers(3, 7), st.integers(2, 9)).flatmap(lambda shape: arrays(bool, shape)),
    st.sampled_from([0.5, 0.9, 0.95]),
)
def test_it_is_agreement_beyond_chance(selected, confidence):
    found = selection_stability(selected, confidence)
    if not selected.any() or selected.all():
        assert np.isnan(found).all()
        return
    np.testing.assert_allclose(found, naive_interval(selected, confidence), atol=1e-9)
    assert -1 / (len(selected) - 1) - 1e-9 <= found.value <= 1 + 1e-9


def test_equal_sets_are_stable_and_random_ones_are_not():
    assert selection_stability(sets(9, *[{1, 4, 5}] * 7)) == (1, 1, 1)
    rng = np.random.default_rng(0)
    values = [
        selection_stability(top_sets(orders(rng.random((20, 50))), size)).value
        for size in (1, 10, 49)
        for _ in range(60)
    ]
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(len(values))
    assert np.abs(values).max() < 0.2


def test_the_interval_covers_what_it_says():
    """Every feature is chosen with a probability of its own, so the true value is known."""
    rng = np.random.default_rng(1)
    probabilities = np.linspace(0.05, 0.95, 20)
    share = probabilities.mean()
    true = 1 - (probabilities * (1 - probabilities)).mean() / (share * (1 - share))
    inside = 0
    for _ in range(400):
        found = selection_stability(rng.random((100, 20)) < probabilities)
        inside += found.lower <= true <= found.upper
    assert 0.91 < inside / 400 < 0.985


def test_what_is_not_defined():
    assert np.isnan(selection_stability(sets(3, {0, 1, 2}, {0, 1, 2}, {0, 1, 2}))).all()
    assert np.isnan(selection_stability(np.zeros((3, 4), dtype=bool))).all()
    two = selection_stability(sets(5, {0, 1}, {0, 2}))
    assert np.isfinite(two.value) and np.isnan([two.lower, two.upper]).all()
    with pytest.raises(ValueError, match=r"two sets or more of features, not an array of shape \(1, 4\)"):
        selection_stability(sets(4, {0}))
    with pytest.raises(ValueError, match=r"shape \(4,\)"):
        selection_stability([1, 0, 1, 1])
    with pytest.raises(ValueError, match="yes or no"):
        selection_stability([[0.5, 1], [0, 1]])
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1, not 95"):
        selection_stability(sets(4, {0}, {1}), 95)
    with pytest.raises(ValueError, match="size must be at least 1, not 0"):
        top_sets(orders([[1.0, 2.0]]), 0)


def test_top_sets_take_ties_as_evaluation_does_and_the_cut_is_told():
    weights = np.array([[0.5, 0.9, 0.5, 0.1], [0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.0, 0.0]])
    order = orders(weights)
    assert order.tolist() == [[1, 0, 2, 3], [3, 2, 1, 0], [0, 1, 2, 3]]
    assert np.array_equal(top_sets(order, 2), sets(4, {0, 1}, {2, 3}, {0, 1}))
    assert tied_cuts(weights, 2).tolist() == [True, False, True]
    assert tied_cuts(weights, 3).tolist() == [False, False, True]
    assert tied_cuts(weights, 4).tolist() == [False] * 3
    assert top_sets(order, 9).all()


# --- FUJI between folds ---


def test_few_folds_are_compared_in_all_pairs_and_many_evenly():
    for n_folds in (2, 3, 5, 10, 14):
        pairs = fold_pairs(n_folds)
        assert sorted(map(sorted, pairs)) == sorted(map(list, itertools.combinations(range(n_folds), 2)))
    for n_folds in (15, 20, 33, 50, 100, 250):
        pairs = fold_pairs(n_folds)
        assert len({frozenset(pair) for pair in pairs}) == len(pairs) <= max(100, n_folds)
        assert all(a != b for a, b in pairs)
        assert len(set(np.bincount(np.ravel(pairs), minlength=n_folds))) == 1
    assert fold_pairs(100) == [(fold, (fold + 1) % 100) for fold in range(100)]
    assert fold_pairs(1) == []


def test_many_pairs_are_each_pair():
    rng = np.random.default_rng(0)
    lists = rng.normal(size=(4, 30)).round(1)
    pairs = [(0, 1), (3, 1), (2, 2)]
    expected = [area_under_fuji(fuji_curve(lists[a], lists[b], "clip")) for a, b in pairs]
    assert areas_under_fuji(lists, pairs, "clip").tolist() == expected
    assert expected[2] == 1 > expected[0]
    with pytest.raises(ValueError, match="of list 0 is negative"):
        areas_under_fuji(np.minimum(lists, -0.1), pairs)
    with pytest.raises(ValueError, match="lists have 2, 3 scores"):
        areas_under_fuji([[1.0, 2.0], [1.0, 2.0, 3.0]], [(0, 1)])


def test_ranking_stability_is_the_mean_over_pairs():
    weights = np.random.default_rng(0).random((3, 12))
    areas = [area_under_fuji(fuji_curve(a, b)) for a, b in itertools.combinations(weights, 2)]
    assert ranking_stability(weights) == pytest.approx(np.mean(areas))
    assert ranking_stability(np.tile(weights[0], (5, 1))) == 1
    with pytest.raises(ValueError, match=r"two lists or more, not an array of shape \(1, 12\)"):
        ranking_stability(weights[:1])


# --- rows ---

A, B = [0.9, 0.5, 0.1, -0.2], [0.5, 0.9, 0.2, 0.1]


def test_rows_become_a_line_for_each_data_set_and_ranker():
    made = frame(
        row("a", 0, 0, weights=A),
        row("a", 0, 1, weights=B),
        row("b", 0, 0, weights=B),
        row("b", 0, 1, weights=B),
    )
    found = stability(made, tops=(1, 2))
    assert found["ranker"].tolist() == ["a", "b"] and (found["reason"] == "").all()
    assert found[["n_features", "n_folds", "n_pairs"]].to_numpy().tolist() == [[4, 2, 1]] * 2
    assert found["aufuji"].tolist() == [area_under_fuji(fuji_curve(A, B, "clip")), 1]
    # The first of four differs: 2 p (1 - p) averages 1/4, by chance 3/16. The first two are the same.
    assert found["phi_top_1"].tolist() == pytest.approx([1 - 4 / 3, 1])
    assert found["phi_top_2"].tolist() == [1, 1]
    assert (
        stability_table(found, "aufuji").loc["d"].to_dict() == found.set_index("ranker")["aufuji"].to_dict()
    )


def test_the_interval_and_ties_of_folds_are_kept():
    weights = [[0.5, 0.1, 0.1, 0.0], [0.5, 0.4, 0.1, 0.0], [0.1, 0.5, 0.4, 0.0]]
    made = frame(*(row("a", 0, fold, weights=each) for fold, each in enumerate(weights)))
    (line,) = stability(made, tops=(1, 2)).to_dict("records")
    expected = selection_stability(sets(4, {0}, {0}, {1}))
    assert (line["phi_top_1"], line["phi_top_1_lower"], line["phi_top_1_upper"]) == expected
    assert (line["tied_top_1"], line["tied_top_2"]) == (0, 1)


def test_what_is_not_complete_or_has_no_weights_is_named_and_no_error():
    made = frame(
        *(row("whole", 0, fold, weights=A) for fold in (0, 1)),
        row("broken", 0, 0, weights=A),
        failed("broken", 0, 1),
        *(row("bare", 0, fold) for fold in (0, 1)),
        row("half", 0, 0, weights=A),
        row("half", 0, 1),
    )
    asked = ["whole", "broken", "bare", "half", "never"]
    found = stability(made, expected_of([config(name) for name in asked])).set_index("ranker")
    assert found.index.tolist() == asked
    assert found.loc["whole", "aufuji"] == 1
    assert found.loc[asked[1:], "aufuji"].isna().all() and found.loc[asked[1:], "n_folds"].isna().all()
    assert found["reason"].to_dict() == {
        "whole": "",
        "broken": "1 of 2 folds failed: ValueError: no luck",
        "bare": "the rows hold no weights",
        "half": "one fold alone has weights, and stability is between folds",
        "never": "0 of 1 repeat",
    }
    lines = unstated(found.reset_index(), {"bare": "Bare"}, (4,))
    assert lines == [
        "No stability of Bare on d: the rows hold no weights",
        "No stability of half on d: one fold alone has weights, and stability is between folds",
        "The top 4 are all features, so nothing is chosen: d",
    ]
    alone = found.reset_index().query("ranker == 'bare'")
    assert unstated(alone, {}, ()) == ["No stability of all rankers on d: the rows hold no weights"]
    assert stability_table(found.reset_index(), "phi_top_10").empty


def test_folds_with_weights_are_used_where_others_have_none():
    made = frame(
        *(
            row("a", repeat, fold, weights=(A, B)[fold] if not repeat else None)
            for repeat in (0, 1)
            for fold in (0, 1)
        ),
    )
    kept = frame(*(row("a", 0, fold, weights=(A, B)[fold]) for fold in (0, 1)))
    (found,), (alone,) = (stability(each, tops=(2,)).to_dict("records") for each in (made, kept))
    assert (found["n_folds"], found["folds_without"], found["reason"]) == (2, 2, "")
    assert (alone["n_folds"], alone["folds_without"]) == (2, 0)
    assert found["aufuji"] == alone["aufuji"] and found["phi_top_2"] == alone["phi_top_2"]
    lines = unstated(stability(made, tops=(2,)), {}, (2,))
    assert lines == ["Weights were kept of 2 of 4 folds, which this is over: d"]


def test_data_sets_that_lack_the_same_share_a_sentence():
    rankers = [f"r{n}" for n in range(6)]
    bare = [
        row(name, 0, fold, dataset=dataset) for dataset in "de" for name in rankers[:5] for fold in (0, 1)
    ]
    whole = [row("r5", 0, fold, dataset=dataset, weights=A) for dataset in "de" for fold in (0, 1)]
    told = unstated(stability(frame(*bare, *whole)), {}, ())
    assert told == ["No stability of 5 of 6 rankers on d, e: the rows hold no weights"]
    told = unstated(stability(frame(*bare)), {}, ())
    assert told == ["No stability of all rankers on d, e: the rows hold no weights"]


def test_one_fold_has_no_stability():
    found = stability(frame(row("a", weights=A)))
    assert np.isnan(found["aufuji"].iloc[0])
    assert found["reason"].tolist() == ["there is one fold, and stability is between folds"]
    assert stability(frame()).empty and unstated(stability(frame()), {}) == []


def test_weights_of_different_numbers_of_features_are_named():
    with pytest.raises(ValueError, match="d × a: folds have weights of 3 and 4 features"):
        stability(frame(row("a", 0, 0, weights=A), row("a", 0, 1, weights=A[:3])))


def test_a_wide_data_set_takes_seconds():
    """A ranker on 20,531 features and 100 folds; fourteen of them are to take a minute or so."""
    rng = np.random.default_rng(0)
    true = rng.gamma(0.5, size=20_531)
    made = pd.DataFrame(
        {
            "kind": "ranking", "dataset": "d", "protocol": "p", "ranker": "a", "status": "ok", "error": None,
            "repeat": np.repeat(range(10), 10), "fold": np.tile(range(10), 10),
            "weights": [true + 0.1 * rng.normal(size=len(true)) for _ in range(100)],
        }
    )  # fmt: skip
    start = time.process_time()
    (line,) = stability(made).to_dict("records")
    assert time.process_time() - start < 15
    assert line["n_pairs"] == 100 and 0 < line["phi_top_10"] < 1 and 0.5 < line["aufuji"] < 1
