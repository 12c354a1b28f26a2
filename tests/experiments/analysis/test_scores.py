"""Measures, tables of data sets × rankers, groups of a study, and what is missing, on made-up rows."""

import numpy as np
import pandas as pd
import pytest
from made_up import config, failed, frame, repeats, row
from made_up_rows import DISTANCES, RANKERS, mlc_rankers, study
from scipy import stats

from experiments.analysis.groups import groups_of, missing_in_words, missing_of
from experiments.analysis.scores import (
    MEASURES,
    averages,
    common,
    comparable,
    fold_scores,
    score_table,
    speed_ratios,
)
from experiments.analysis.selection import complete_rows, coverage

# --- measures ---

GRID, CURVE = (1, 5, 10, 40, 50, 80, 100, 200), (0.1, 0.3, 0.2, 0.6, 0.5, 0.9, 0.4, 0.8)


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("best_f1", 0.9),
        ("mean_f1", np.mean(CURVE)),
        ("best_f1_top_10", 0.3),
        ("mean_f1_top_10", 0.2),
        ("best_f1_top_50", 0.6),
        ("best_f1_top_100", 0.9),
        ("fit_seconds", 2.5),
    ],
)
def test_measures_of_a_fold(measure, value):
    rows = frame(row(curve=CURVE, grid=GRID, fit_seconds=2.5))
    assert fold_scores(rows, measure) == pytest.approx([value])


def test_the_other_average():
    rows = frame(row(curve=CURVE, grid=GRID))
    assert fold_scores(rows, "best_f1", average="macro") == pytest.approx([0.45])


def test_top_10_of_three_features_is_all_three():
    rows = frame(row(curve=(0.2, 0.4, 0.3), grid=(1, 2, 3)))
    assert fold_scores(rows, "best_f1_top_10") == [0.4]
    assert fold_scores(rows, "mean_f1_top_10") == pytest.approx([0.3])


def test_best_f1_is_what_the_rows_say_of_themselves():
    made, _ = study(["a", "b"], ["x", "y"])
    np.testing.assert_allclose(fold_scores(made, "best_f1"), made["best_f1_micro"], rtol=1e-15)


def test_undefined_areas_are_nan_and_in_no_mean():
    rows = frame(row(fold=0), row(fold=1, curve=(0.3, 0.3, 0.0)))
    assert np.isnan(fold_scores(rows, "aurf1")).tolist() == [False, True]
    assert score_table(rows, "aurf1").loc["d", "a"] == rows["aurf1_micro"][0]


def test_measures_of_curves_of_different_lengths_and_of_none():
    rows = frame(
        row(fold=0, curve=CURVE, grid=GRID), row(fold=1, curve=(0.2, 0.4), grid=(5, 20)), row(fold=2)
    )
    rows.at[2, "f1_micro"] = None
    for measure, values in {
        "best_f1": [0.9, 0.4],
        "mean_f1_top_10": [0.2, 0.2],
        "best_f1_top_50": [0.6, 0.4],
    }.items():
        found = fold_scores(rows, measure)
        assert found[:2] == pytest.approx(values) and np.isnan(found[2])


def test_there_is_no_other_measure():
    with pytest.raises(ValueError, match="best_f1_top_7"):
        fold_scores(frame(row()), "best_f1_top_7")


def test_a_table_holds_means_over_folds_of_complete_rankers_alone():
    states = {("b", "y"): "partial", ("c", "*"): "failed", ("a", "z"): "one failed"}
    made, configs = study(["a", "b", "c"], ["x", "y", "z"], states=states)
    (group,) = groups_of(configs)
    table = score_table(complete_rows(made, group.expected), "best_f1")
    assert list(table.index) == ["a", "b"] and list(table.columns) == ["x", "y", "z"]
    assert table.isna().to_numpy().tolist() == [[False, False, True], [False, True, False]]
    for dataset, ranker in (("a", "x"), ("b", "z")):
        mine = made[(made["dataset"] == dataset) & (made["ranker"] == ranker)]
        assert table.at[dataset, ranker] == pytest.approx(mine["best_f1_micro"].mean(), rel=1e-14)


def test_no_rows_give_empty_tables():
    _, configs = study(["a"], ["x"])
    (group,) = groups_of(configs)
    rows = complete_rows(frame(), group.expected)
    for measure in MEASURES:
        table = score_table(rows, measure)
        assert table.shape == (0, 0)
        assert len(averages(table)) == 0


# --- which rankers are compared ---


def table_of(**columns):
    return pd.DataFrame(
        columns, index=[f"d{n}" for n in range(len(next(iter(columns.values()))))], dtype=float
    )


def test_a_ranker_without_any_number_is_left_out():
    kept, left_out = comparable(table_of(a=[1, 2], b=[np.nan, np.nan], c=[1, np.nan]))
    assert (list(kept.columns), left_out) == (["a", "c"], ["b"])
    assert list(common(kept).index) == ["d0"]


def test_without_a_common_data_set_those_with_the_fewest_go():
    nan = np.nan
    kept, left_out = comparable(table_of(a=[1, 1, nan], b=[1, 1, nan], c=[nan, nan, 1]))
    assert (list(kept.columns), left_out) == (["a", "b"], ["c"])
    kept, left_out = comparable(table_of(a=[1, nan], b=[nan, 1]))
    assert (list(kept.columns), left_out) == (["a"], ["b"])


def test_averages_are_those_of_the_common_data_sets():
    table = table_of(a=[0.5, 0.7, 0.9, 0.1], b=[0.6, 0.8, 0.7, np.nan], c=[np.nan] * 4)
    found = averages(table)
    assert found["ranker"].tolist() == ["a", "b"]  # 0.7 both: as in the table
    assert found.attrs == {"datasets": ["d0", "d1", "d2"], "left_out": ["c"], "not_common": ["d3"]}
    values = table["a"][:3]
    first = found.iloc[0]
    low, high = stats.t.interval(0.95, 2, values.mean(), stats.sem(values))
    np.testing.assert_allclose(
        [first["mean"], first["sd"], first["lower"], first["upper"], first["minus_sd"]],
        [values.mean(), values.std(), low, high, values.mean() - values.std()],
    )
    assert (first["minimum"], first["maximum"], first["n_datasets"]) == (0.5, 0.9, 3)


def test_low_is_best_for_times():
    assert averages(table_of(slow=[9, 9], fast=[1, 2]), higher_is_better=False)["ranker"][0] == "fast"


def test_one_data_set_has_no_spread():
    line = averages(table_of(a=[0.5])).iloc[0]
    assert line["mean"] == 0.5 and np.isnan([line["sd"], line["lower"], line["plus_sd"]]).all()


def test_ratios_of_times():
    table = table_of(slow=[10, np.nan, 30], fast=[1, 2, 3])
    found = speed_ratios(table, ["slow", "unknown"], ["fast"])
    assert found.to_dict("records") == [
        {"dataset": "d0", "slow": "slow", "fast": "fast", "ratio": 10.0},
        {"dataset": "d2", "slow": "slow", "fast": "fast", "ratio": 10.0},
    ]


# --- groups ---


def with_task(made, task, **protocol):
    return made | {
        "dataset": {**made["dataset"], "task": task},
        "study": "s",
        "protocol": made["protocol"] | protocol,
    }


def test_a_study_is_divided_by_protocol_and_kind_of_target():
    one, other = config("a"), config("a", dataset="e")
    groups = groups_of([with_task(one, "multiclass"), with_task(other, "multilabel")])
    assert [(group.name, group.task) for group in groups] == [
        ("s_multiclass", "multiclass"),
        ("s_multilabel", "multilabel"),
    ]
    groups = groups_of([with_task(one, "multiclass"), with_task(other, "multiclass", name="q")])
    assert [group.name for group in groups] == ["s_p", "s_q"]
    groups = groups_of([with_task(one, "multiclass"), with_task(other, "multiclass")])
    assert [(group.name, len(group.expected)) for group in groups] == [("s", 2)]
    assert groups[0].extent == "p: 2 folds × 1 repeat"


def test_what_is_measured_is_no_group():
    measured = with_task(config("a"), "multiclass", measure={"_target_": "x.y"})
    assert groups_of([measured]) == []


def test_iterations_make_families():
    names = ("r[n_iterations=4]", "r", "r[k=3,n_iterations=4]")
    labels = ("R [n_iterations=4]", "R", "R [k=3,n_iterations=4]")
    configs = [
        with_task(config(name, display_name=label), "multiclass")
        for name, label in zip(names, labels, strict=True)
    ]
    for each, n in zip(configs, (4, None, 4), strict=True):
        each["ranker"]["n_iterations"] = n
    (group,) = groups_of(configs)
    assert group.varies_iterations
    assert group.families["family"].tolist() == ["r", "r", "r[k=3]"]
    assert group.families["label"].tolist() == ["R", "R", "R [k=3]"]
    assert not groups_of(configs[:1])[0].varies_iterations


@pytest.mark.parametrize(
    ("target", "branch"),
    [
        ("reliefe.ReliefE", "ReliefE"),
        ("reliefe.ReliefF", "ReliefF of this project"),
        ("reliefe.SURFStar", "SURF and MultiSURF of this project"),
        ("reliefe.MultiSURF", "SURF and MultiSURF of this project"),
        ("skrebate.SURF", "scikit-rebate"),
        ("sklearn.ensemble.RandomForestClassifier", "other"),
    ],
)
def test_branches(target, branch):
    made = with_task(config("a"), "multiclass")
    made["ranker"]["_target_"] = target
    assert groups_of([made])[0].families["branch"].tolist() == [branch]


def test_rankers_of_labels_have_panels_and_variants():
    _, configs = study(["d"], mlc_rankers(), task="multilabel")
    (group,) = groups_of(configs)
    assert len(group.families) == 48
    assert set(group.families["variant"]) == set(DISTANCES.values())
    assert set(group.families["panel"]) == {
        label for key, (label, *_) in RANKERS.items() if "relief" in key[:6]
    }


def test_the_display_names_of_a_group_differ():
    configs = [
        with_task(config("a", display_name="X"), "multiclass"),
        with_task(config("b", display_name="X", dataset="e"), "multiclass"),
    ]
    (group,) = groups_of(configs)
    assert group.labels == {"a": "X (a)", "b": "X (b)"}


# --- what is missing ---


def missing_words(states, datasets=("d", "e", "f"), rankers=("a", "b", "c"), absent=None):
    made, configs = study(list(datasets), list(rankers), states=states)
    (group,) = groups_of(configs, absent)
    missing = missing_of(coverage(made, group.expected), group, made)
    return missing, missing_in_words(missing, group)


def test_nothing_missing_nothing_said():
    missing, words = missing_words({})
    assert not len(missing) and words == []


def test_everything_missing_is_said_and_nothing_else():
    states = {
        ("d", "*"): "missing",
        ("e", "a"): "timeout",
        ("f", "a"): "out_of_memory",
        ("e", "b"): "failed",
        ("f", "b"): "one failed",
        ("e", "c"): "partial",
    }
    missing, words = missing_words(states)
    assert missing.groupby("state").size().to_dict() == {
        "failed": 2,
        "missing": 4,
        "out_of_memory": 1,
        "timeout": 1,
    }
    assert words == [
        "not run, or not all of it: d",
        "A: e (stopped by the time limit); f (stopped by the memory limit)",
        "B: failed everywhere",
        "C: e (not run, or not all of it)",
    ]


def test_rankers_that_lack_the_same_are_named_in_one_line():
    states = {("e", "a"): "partial", ("e", "c"): "partial", ("f", "b"): "timeout"}
    assert missing_words(states)[1] == [
        "A, C: e (not run, or not all of it)",
        "B: f (stopped by the time limit)",
    ]


def test_data_sets_that_are_not_here_are_told_apart_and_no_folder_is_named():
    states = {("d", "*"): "missing", ("e", "*"): "missing"}
    missing, words = missing_words(states, absent={"d": "file d.csv not found; looked at some/where"})
    assert words == ["data sets not available: d", "not run, or not all of it: e"]
    assert not missing["reason"].str.contains("some/where").any()


def test_every_missing_cell_is_in_the_words():
    rng = np.random.default_rng(0)
    kinds = ["ok", "missing", "failed", "timeout", "partial"]
    for _ in range(20):
        states = {(d, r): str(rng.choice(kinds)) for d in "def" for r in "abc"}
        missing, words = missing_words({key: state for key, state in states.items() if state != "ok"})
        for line in missing.itertuples():
            named = {each: set(each.partition(": ")[0].split(", ")) for each in words}
            by_ranker = [each for each in words if line.display_name in named[each]]
            of_all = [each for each in words if not named[each] & set("ABC")]
            told = any(line.dataset in each.partition(": ")[2].split(", ") for each in of_all)
            assert told or any(line.dataset in each or "everywhere" in each for each in by_ranker), (
                line,
                words,
            )


def test_a_failed_row_of_another_ranker_counts_for_itself_alone():
    made = frame(failed("a", 0, 0), failed("a", 0, 1), repeats("b"))
    (group,) = groups_of([config("a") | {"study": "s"}, config("b") | {"study": "s"}])
    missing = missing_of(coverage(made, group.expected), group, made)
    assert missing[["ranker", "state"]].to_numpy().tolist() == [["a", "failed"]]
