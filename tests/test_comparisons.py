"""From rows to comparisons of all rankers: over which data sets, with which folds, and what is missing."""

import numpy as np
import pandas as pd
import pytest
from made_up import config, failed, frame, row

from experiments.analysis.bayes import hierarchical_test
from experiments.analysis.comparisons import compare_rankers, f1_along, score_table
from experiments.analysis.critical_distance import average_ranks
from experiments.analysis.selection import expected_of
from experiments.errors import BadInputError

LEVELS = {"a": 0.85, "b": 0.65, "c": 0.64}
DATASETS = ("d", "e", "f")


def rows_of(ranker, dataset, n_repeats=2, n_splits=5):
    rng = np.random.default_rng([ord(ranker), ord(dataset)])
    best = LEVELS[ranker] + rng.normal(0, 0.02, (n_repeats, n_splits))
    return [
        row(ranker, repeat, fold, curve=(0.4, best[repeat, fold], 0.5), dataset=dataset)
        for repeat in range(n_repeats)
        for fold in range(n_splits)
    ]


def study(rankers="abc", datasets=DATASETS):
    return expected_of([config(ranker, 2, 5, dataset) for dataset in datasets for ranker in rankers])


@pytest.fixture(scope="module")
def rows():
    return [each for dataset in DATASETS for ranker in "abc" for each in rows_of(ranker, dataset)]


def folds(rows, ranker, dataset):
    return [max(each["f1_micro"]) for each in rows if (each["ranker"], each["dataset"]) == (ranker, dataset)]


def test_scores_are_means_over_folds(rows):
    table = score_table(frame(rows), study())
    assert list(table.index) == list(DATASETS) and list(table.columns) == list("abc")
    for dataset in DATASETS:
        for ranker in "abc":
            assert table.loc[dataset, ranker] == pytest.approx(np.mean(folds(rows, ranker, dataset)))
    assert average_ranks(table)["a"] == 1


def test_what_is_not_finished_is_missing(rows):
    less = [each for each in rows if (each["ranker"], each["dataset"]) != ("b", "e")]
    less = [*less, *rows_of("b", "e")[:-1], failed("b", 1, 4, dataset="e")]
    table = score_table(frame(less), study())
    assert np.isnan(table.loc["e", "b"]) and table.notna().sum().sum() == 8
    assert np.isnan(score_table(frame(rows), study("abcx"))["x"]).all()


def test_folds_without_a_number_are_not_left_out_in_silence(rows):
    changed = frame(rows)
    changed.loc[0, "aurf1_micro"] = np.nan
    table = score_table(changed, study(), score="aurf1_micro")
    assert np.isnan(table.loc["d", "a"]) and table.notna().sum().sum() == 8


def test_rankers_are_tested_on_folds_in_the_same_order(rows):
    shuffled = frame(rows).sample(frac=1, random_state=0, ignore_index=True)
    table, posteriors = compare_rankers(shuffled, study(), n_samples=1000)
    assert table[["ranker_a", "ranker_b"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    x, y = ([folds(rows, ranker, dataset) for dataset in DATASETS] for ranker in "ab")
    direct = hierarchical_test(x, y, 0.05, 2, 1000, random_state=0)
    np.testing.assert_array_equal(posteriors["a", "b"].sample, direct.sample)
    line = table.iloc[0]
    assert (line["p_a"], line["p_rope"], line["p_b"]) == direct.probs()
    assert line["p_a"] > 0.95 and table.iloc[2]["p_rope"] > 0.5
    assert line["max_rhat"] == direct.max_rhat < 1.01
    assert line["min_ess"] == direct.min_ess and line["standard_error"] == direct.standard_errors().max()
    assert line["datasets"] == DATASETS and line["left_out"] == () and line["n_datasets"] == 3
    assert posteriors["a", "b"].names == ("a", "b")


def test_a_pair_is_tested_on_the_data_sets_that_both_finished(rows):
    less = [
        each for each in rows if (each["ranker"], each["dataset"]) not in [("b", "e"), ("c", "d"), ("c", "f")]
    ]
    table, posteriors = compare_rankers(frame(less), study(), n_samples=500)
    found = {(line.ranker_a, line.ranker_b): line for line in table.itertuples()}
    assert found["a", "b"].datasets == ("d", "f") and found["a", "b"].left_out == ("e",)
    assert found["a", "c"].datasets == ("e",)
    assert found["b", "c"].n_datasets == 0 and np.isnan(found["b", "c"].p_rope)
    assert set(posteriors) == {("a", "b"), ("a", "c")}


def test_chosen_pairs_and_other_scores(rows):
    table, posteriors = compare_rankers(
        frame(rows), study(), pairs=[("c", "a")], score="best_f1_macro", n_samples=500
    )
    assert list(posteriors) == [("c", "a")]
    assert table.iloc[0]["p_b"] > 0.9


def test_one_protocol_at_a_time(rows):
    other = [each | {"protocol": "q"} for each in rows]
    with pytest.raises(BadInputError, match="under one protocol; these rows have p, q"):
        score_table(frame([*rows, *other]))
    with pytest.raises(BadInputError, match="these rows have none"):
        compare_rankers(frame())
    uneven = expected_of([config("a", 2, 5, "d"), config("b", 2, 5, "d"), config("a", 1, 5, "e")])
    with pytest.raises(BadInputError, match=r"different numbers of repeats \(\[1, 2\]\)"):
        compare_rankers(frame(rows), uneven)


def test_numbers_of_curves():
    made = frame(row(curve=(0.2, 0.9, 0.4), grid=(1, 60, 100)), failed("b"))
    assert f1_along(made).tolist()[0] == pytest.approx(0.9)
    assert f1_along(made, top=50).iloc[0] == pytest.approx(0.2)
    assert f1_along(made, top=60).iloc[0] == pytest.approx(0.9)
    assert f1_along(made, statistic="mean").iloc[0] == pytest.approx(0.5)
    assert f1_along(made, statistic="mean", average="macro", top=60).iloc[0] == pytest.approx(0.275)
    assert np.isnan(f1_along(made).iloc[1])
    with pytest.raises(ValueError, match="no such numbers"):
        f1_along(made, statistic="median")
    with pytest.raises(ValueError, match="top must be at least 1"):
        f1_along(made, top=0)


def test_added_columns_can_be_averaged(rows):
    made = frame(rows)
    table = score_table(made.assign(top=f1_along(made, top=1)), study(), score="top")
    np.testing.assert_allclose(table, 0.4)


def test_the_rows_are_not_changed(rows):
    made = frame(rows)
    before = made.copy(deep=True)
    compare_rankers(made, study(), n_samples=500)
    pd.testing.assert_frame_equal(made, before)
