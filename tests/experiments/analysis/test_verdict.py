"""Who is best and how sure that is; cost against quality; where rows come from."""

import json

import made_up
import numpy as np
import pandas as pd
import pytest

from experiments.analysis import provenance
from experiments.analysis.cost import cost_quality, places
from experiments.analysis.verdict import probabilities, verdict
from experiments.report import sentences

LABEL = {"a": "A", "b": "B", "c": "C", "d": "D"}


def posteriors(*lines):
    columns = ["ranker_a", "ranker_b", "p_a", "p_rope", "p_b", "n_datasets"]
    return pd.DataFrame(lines, columns=columns)


def headline(found, **settings):
    given = {"title": "max F1", "scores": {}, "datasets": ["wine"], "complete": list(LABEL)}
    return sentences.headline(found, LABEL, **given | settings)


# --- verdict ------------------------------------------------------------------------------------


def undecided(found):
    """Rankers that the best one was tested against without a sure answer."""
    sure = {*found.surely_beaten, *found.surely_equal, *found.surely_better}
    return tuple(each for each in found.probabilities["ranker"] if each not in sure)


def test_the_lowest_rank_is_best_and_the_critical_distance_says_which_are_different():
    ranks = pd.Series({"c": 3.5, "a": 1.2, "b": 2.1, "d": 3.2})
    found = verdict(ranks, n_datasets=10, critical_distance=2.0)
    assert found.best == ("a",) and found.average_rank == 1.2
    assert (found.runner_up, found.runner_up_rank) == ("b", 2.1)
    assert found.significantly_different == ("d", "c"), "the distance itself is a difference; b is nearer"
    assert headline(found) == "A comes first by max F1, and is significantly different from 2 of 3 others."


def test_posteriors_are_turned_round_so_that_the_best_stands_first():
    pairs = posteriors(
        ("a", "b", 0.97, 0.02, 0.01, 9),
        ("c", "a", 0.00, 0.96, 0.04, 8),
        ("d", "a", 0.96, 0.03, 0.01, 7),
        ("b", "c", 1.0, 0.0, 0.0, 9),
    )
    found = verdict(pd.Series({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}), n_datasets=9, pairs=pairs)
    assert found.probabilities.to_dict("list") == {
        "ranker": ["b", "c", "d"],
        "p_better": [0.97, 0.04, 0.01],
        "p_equal": [0.02, 0.96, 0.03],
        "p_worse": [0.01, 0.00, 0.96],
        "datasets": [9, 8, 7],
    }
    assert (found.surely_beaten, found.surely_equal, found.surely_better) == (("b",), ("c",), ("d",))
    assert undecided(found) == () and found.untested == ()


def test_pairs_without_an_answer_are_untested():
    pairs = posteriors(("a", "b", np.nan, np.nan, np.nan, 0), ("a", "c", 0.4, 0.3, 0.3, 5))
    found = verdict(pd.Series({"a": 1.0, "b": 2.0, "c": 3.0}), n_datasets=5, pairs=pairs)
    assert found.untested == ("b",) and undecided(found) == ("c",)
    assert probabilities("b", ["a"], pairs).empty


def test_a_shared_first_place():
    found = verdict(pd.Series({"a": 1.5, "b": 1.5, "c": 3.0}), n_datasets=4, critical_distance=1.0)
    assert found.best == ("a", "b") and found.runner_up == "c" and found.significantly_different == ("c",)
    assert found.probabilities.empty
    assert headline(found) == "A and B share the first place by max F1."


def test_a_first_place_shared_by_one_ranker_under_two_names_is_not_shared():
    ranks = pd.Series({"a": 1.5, "b": 1.5 * (1 + 2e-16), "c": 3.0, "d": 4.0})
    pairs = posteriors(("a", "c", 0.97, 0.02, 0.01, 9), ("d", "a", 0.5, 0.4, 0.1, 9))
    found = verdict(ranks, n_datasets=9, critical_distance=2.0, pairs=pairs, same=[("b", "a")])
    assert found.best == ("a", "b") and found.one and found.runner_up == "c"
    assert (
        found.surely_beaten == ("c",)
        and undecided(found) == ("d",)
        and found.significantly_different == ("d",)
    )
    # Both others are significantly different: c by the test, d by its rank.
    assert headline(found) == (
        "A, which on these data is the same as B, comes first by max F1, and is significantly different from "
        "2 of 2 others."
    )
    other = verdict(ranks, n_datasets=9, critical_distance=2.0, pairs=pairs, same=[("b", "c")])
    assert not other.one and headline(other) == "A and B share the first place by max F1."


@pytest.mark.parametrize("ranks", [pd.Series(dtype=float), pd.Series({"a": np.nan})])
def test_nothing_to_rank(ranks):
    found = verdict(ranks, n_datasets=3)
    assert found.best == () and np.isnan(found.average_rank)
    assert headline(found, complete=[]).startswith("Nothing can be compared yet")
    assert sentences.sureness(found, LABEL, friedman_p=np.nan, rope=0.05) == []


def test_one_ranker_is_compared_with_nobody():
    assert headline(verdict(pd.Series(dtype=float), n_datasets=0), complete=["c"]).startswith(
        "Only C is complete"
    )


def test_words_for_a_clear_winner_and_for_none():
    ranks = pd.Series({"a": 1.0, "b": 2.5, "c": 3.0})
    clear = verdict(ranks, n_datasets=20, critical_distance=0.8)
    assert headline(clear) == "A is best by max F1."
    sure = sentences.sureness(clear, LABEL, friedman_p=0.0001, rope=0.05)
    assert sure[0].endswith("(Nemenyi, α = 0.05), and 2 of the 2 others are that far away.")
    assert sure[1] == "Friedman's test finds differences among the rankers (p < 0.001)."
    vague = verdict(ranks, n_datasets=2, critical_distance=5.0)
    assert headline(vague).endswith("but is not significantly different from any other ranker.")
    assert (
        "differ by 5.00 to be significantly different (Nemenyi, α = 0.05), more than they can differ."
        in (sentences.sureness(vague, LABEL, friedman_p=np.nan, rope=0.05)[0])
    )
    vague = verdict(ranks.replace(3.0, 2.9), n_datasets=8, critical_distance=1.95)
    assert "none is that far away" in sentences.sureness(vague, LABEL, friedman_p=np.nan, rope=0.05)[0]


def test_all_alike():
    assert (
        headline(verdict(pd.Series({"a": 1.5, "b": 1.5}), n_datasets=3))
        == "All 2 rankers share one place by max F1."
    )


def test_bayes_alone_can_tell_apart():
    pairs = posteriors(("a", "b", 0.99, 0.01, 0.0, 9), ("a", "c", 0.96, 0.04, 0.0, 9))
    found = verdict(
        pd.Series({"a": 1.0, "b": 2.0, "c": 3.0}), n_datasets=9, critical_distance=9.0, pairs=pairs
    )
    assert headline(found) == "A is best by max F1."
    said = sentences.sureness(found, LABEL, friedman_p=0.2, rope=0.05)
    assert "finds no differences" in said[1]
    assert (
        "against B it is better with probability 0.99, practically equal with 0.01, worse with 0.00"
        in said[2]
    )
    assert said[2].endswith(
        "With a probability above 0.95 it is better than 2 of the 2 rankers it was tested against."
    )


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (list("abcd"), "a, b, c and d"),
        (list("abcde"), "a, b, c and 2 others"),
    ],
)
def test_lists_in_sentences(names, text):
    assert sentences.listed(names) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0, "0.00"), (0.001, "< 0.01"), (0.5, "0.50"), (0.9999, "> 0.99"), (1.0, "1.00"), (np.nan, "–")],
)
def test_probabilities_never_look_surer_than_they_are(p, text):
    assert sentences.probability(p) == text


def test_samples_are_doubted_where_chains_disagree():
    assert sentences.sampled(None) == ""
    pairs = posteriors(("a", "b", 0.2, 0.5, 0.3, 9), ("a", "c", 0.2, 0.5, 0.3, 9))
    pairs = pairs.assign(r_hat=[1.001, 1.009], ess=[4321.0, 1500.0], divergences=[0, 1])
    assert (
        sentences.sampled(pairs)
        == "2 pairs; R̂ below 1.01 for all; at least 1,500 effective draws; 1 divergence."
    )
    doubtful = pairs.assign(r_hat=[1.001, 1.01])
    assert "R̂ not below 1.01 for 1, whose numbers are not reliable" in sentences.sampled(doubtful)
    empty = pairs.assign(p_rope=[0.5, np.nan], r_hat=[1.0, np.nan], ess=[4321.0, np.nan])
    assert sentences.sampled(empty).startswith("2 pairs; 1 of them without an answer")


# --- cost ---------------------------------------------------------------------------------------


def test_places_share_ties_and_leave_gaps():
    table = pd.DataFrame({"a": [0.9, np.nan], "b": [0.9, 0.2], "c": [0.8, 0.3]}, index=["d", "e"])
    assert places(table, higher_is_better=True).to_numpy().tolist()[0] == [1.5, 1.5, 3.0]
    second = places(table, higher_is_better=False).loc["e"]
    assert np.isnan(second["a"]) and second["b"] == 1 and second["c"] == 2


def test_nobody_on_the_front_is_beaten():
    seconds = pd.DataFrame({"a": [1.0], "b": [2.0], "c": [2.0], "d": [3.0]}, index=["s"])
    quality = pd.DataFrame({"a": [0.5], "b": [0.7], "c": [0.6], "d": [0.7]}, index=["s"])
    found = cost_quality(seconds, {"m": quality})
    own = found[found["dataset"] == "s"].set_index("ranker")
    assert own["best_value"].to_dict() == {"a": True, "b": True, "c": False, "d": False}


def test_equal_ones_stay_on_the_front_together():
    table = pd.DataFrame({"a": [1.0], "b": [1.0]}, index=["s"])
    assert cost_quality(table, {"m": table})["best_value"].all()


def test_over_several_data_sets_only_what_all_share_counts():
    seconds = pd.DataFrame({"a": [1.0, 100.0, 5.0], "b": [4.0, 25.0, np.nan]}, index=["x", "y", "z"])
    quality = pd.DataFrame({"a": [0.2, 0.4, 0.9], "b": [0.1, 0.5, 0.9]}, index=["x", "y", "z"])
    found = cost_quality(seconds, {"m": quality})
    over = found[found["dataset"] == ""].set_index("ranker")
    np.testing.assert_allclose(over["seconds"], [10.0, 10.0])
    np.testing.assert_allclose(over["quality"], [0.3, 0.3])
    assert found[found["dataset"] == "z"]["ranker"].tolist() == ["a"], "b has no time there"


def test_no_times_no_points():
    quality = pd.DataFrame({"a": [0.5]}, index=["s"])
    found = cost_quality(quality * np.nan, {"m": quality})
    assert found.empty and found["best_value"].dtype == bool
    assert cost_quality(pd.DataFrame(), {"m": pd.DataFrame()}).empty


# --- provenance ---------------------------------------------------------------------------------


def rows():
    machine = {"system": "Linux", "processor": "X", "cores": 4}
    old, new = {"numpy": "1", "zlib": None}, {"numpy": "2", "zlib": None}
    return made_up.frame(
        made_up.row(fold=0, versions=json.dumps(old), machine=json.dumps(machine), n_threads=1),
        made_up.row(fold=1, versions=json.dumps(new), machine=json.dumps(machine), n_threads=1),
        made_up.row(fold=2, versions=json.dumps(new), machine=json.dumps({"system": "Mac"}), n_threads=1),
        made_up.row("b", versions=json.dumps(new), time_limit_seconds=60.0),
    )


def test_versions_and_machines_are_counted():
    assert provenance.versions(rows()).to_numpy().tolist() == [
        ["numpy", "2", 3],
        ["numpy", "1", 1],
        ["zlib", "not installed", 4],
    ]
    assert provenance.machines(rows()).to_numpy().tolist() == [["Linux, X, 4 cores", 2], ["Mac", 1]]


def test_settings_keep_what_is_not_known_apart():
    found = provenance.settings(rows())
    assert found["rows"].tolist() == [3, 1]
    assert found["n_threads"].tolist()[0] == 1 and np.isnan(found["n_threads"][1])
    assert np.isnan(found["time_limit_seconds"][0]) and found["time_limit_seconds"][1] == 60


def test_equal_digests_mean_equal_cells():
    frame = made_up.frame(made_up.repeats("a", 2), made_up.repeats("b", 2))
    found = provenance.keys(frame).set_index("ranker")
    assert found["cells"].tolist() == [2, 2]
    assert found.loc["a", "keys"] == ["a0", "a1"]
    turned = provenance.keys(frame.iloc[::-1]).set_index("ranker")
    assert turned["digest"].to_dict() == found["digest"].to_dict()
    frame.loc[0, "cell_key"] = "other"
    assert provenance.keys(frame).set_index("ranker").loc["a", "digest"] != found.loc["a", "digest"]
    assert provenance.keys(frame).set_index("ranker").loc["b", "digest"] == found.loc["b", "digest"]


def test_no_rows_no_provenance():
    nothing = made_up.frame()
    for function in (provenance.versions, provenance.machines, provenance.settings, provenance.keys):
        assert len(function(nothing)) == 0
