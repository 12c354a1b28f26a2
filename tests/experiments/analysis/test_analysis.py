"""Frames of numbers from rows: known answers, and nothing compared that cannot be compared."""

import numpy as np
import pandas as pd
import pytest
from made_up import config, failed, frame, repeats, row
from scipy import stats

from experiments.analysis.curves import rf1_curve
from experiments.analysis.selection import (
    SameNameError,
    coverage,
    expected_of,
    failures,
    study_rows,
)
from experiments.analysis.summary import complete, incomplete, publishable, summary


def only(table):
    assert len(table) == 1
    return table.iloc[0]


# --- coverage -------------------------------------------------------------------------------------


def test_three_of_ten_repeats_are_incomplete_and_say_so():
    covered = coverage(
        frame(repeats("a", 10), repeats("b", 3)), expected_of([config("a", 10), config("b", 10)])
    )
    assert covered["complete"].tolist() == [True, False]
    assert covered["reason"].tolist() == ["", "3 of 10 repeats"]
    assert covered["folds_ok"].tolist() == [20, 6]
    assert covered["folds_expected"].tolist() == [20, 20]


def test_a_repeat_that_lacks_a_fold_does_not_count_as_a_repeat():
    line = only(coverage(frame(repeats("a", 2)[:-1]), expected_of([config("a", 2)])))
    assert (line["repeats"], line["folds_ok"], line["complete"]) == (1, 3, False)
    assert line["reason"] == "1 of 2 repeats"


def test_failed_folds_are_counted_with_their_errors():
    rows = repeats("a", 25)
    rows[3] = failed("a", 1, 1, "ValueError: no luck\nwith a traceback")
    rows[9] = failed("a", 4, 1, "ValueError: no luck")
    line = only(coverage(frame(rows), expected_of([config("a", 25)])))
    assert line["reason"] == "2 of 50 folds failed: ValueError: no luck"
    assert (line["complete"], line["repeats"], line["folds_failed"]) == (False, 25, 2)


def test_missing_repeats_and_different_errors_are_all_told():
    rows = [*repeats("a", 1), failed("a", 1, 0, "ValueError: x"), failed("a", 1, 1, "KeyError: y")]
    line = only(coverage(frame(rows), expected_of([config("a", 4)])))
    assert line["reason"] == "2 of 4 repeats; 2 of 8 folds failed: 1 × ValueError: x, 1 × KeyError: y"


def test_many_kinds_of_errors_are_cut_short():
    rows = [failed("a", 0, fold, f"ValueError: {fold}") for fold in range(6)]
    line = only(coverage(frame(rows), expected_of([config("a", 1, 6)])))
    assert line["reason"].endswith(", and 3 other errors")


def test_a_ranker_without_any_row_is_listed():
    covered = coverage(frame(repeats("a")), expected_of([config("a"), config("b")]))
    assert covered["reason"].tolist() == ["", "0 of 1 repeat"]


def test_an_empty_store():
    expected = expected_of([config("a"), config("b")])
    assert coverage(frame(), expected)["reason"].tolist() == ["0 of 1 repeat"] * 2
    assert summary(frame(), expected)["best_f1_micro_mean"].isna().all()
    assert len(rf1_curve(frame(), expected)) == len(failures(frame(), expected)) == 0
    assert len(summary(frame())) == len(rf1_curve(frame())) == 0


def test_repeats_beyond_those_asked_for_are_left_out():
    rows = [*repeats("a", 1), *repeats("a", 3, curve=(0.1, 0.1, 0.1))[2:]]
    line = only(summary(frame(rows), expected_of([config("a", 1)])))
    assert (line["folds_ok"], line["best_f1_micro_mean"]) == (2, 1.0)


def test_other_data_sets_protocols_and_kinds_are_left_out():
    rows = frame(
        repeats("a"),
        repeats("a", dataset="other"),
        repeats("a", protocol="other"),
        repeats("", kind="all_features"),
    )
    assert len(study_rows(rows, expected_of([config("a")]))) == 2


def test_without_a_study_the_fullest_ranker_of_a_data_set_is_what_is_expected():
    covered = coverage(frame(repeats("a", 2), repeats("b", 1), repeats("b", 1, dataset="e")))
    reasons = covered.set_index(["dataset", "ranker"])["reason"].to_dict()
    assert reasons == {("d", "a"): "", ("d", "b"): "1 of 2 repeats", ("e", "b"): ""}


def test_two_cells_under_one_name_are_not_mixed():
    with pytest.raises(SameNameError, match=r"two different cells are called d × a \(p\)"):
        summary(frame(repeats("a"), repeats("a")))


def test_equal_display_names_are_told_apart():
    configs = [config("a", display_name="X"), config("b", display_name="X"), config("c")]
    assert expected_of(configs)["display_name"].tolist() == ["X (a)", "X (b)", "C"]


def test_failures_are_grouped_by_error():
    rows = frame(
        repeats("a"),
        failed("b", 0, 0),
        failed("b", 0, 1),
        failed("c", 0, 1, "KeyError: 'x'\nmore"),
        row("c", 0, 0),
    )
    told = failures(rows, expected_of([config("a"), config("b"), config("c")]))
    assert told[["ranker", "error", "folds", "first"]].to_numpy().tolist() == [
        ["b", "ValueError: no luck", 2, "repeat 0, fold 0"],
        ["c", "KeyError: 'x'", 1, "repeat 0, fold 1"],
    ]


# --- summary --------------------------------------------------------------------------------------


def test_summary_of_known_rows():
    rows = frame(
        row(fold=0, curve=(0.5, 1.0, 0.8), fit_seconds=1.0, latent_dimension=3, warm_up_seconds=5.0),
        row(fold=1, curve=(0.5, 0.6, 0.8), fit_seconds=2.0, latent_dimension=6, learner_converged=False),
    )
    line = only(summary(rows))
    assert line["complete"]
    assert line["best_f1_micro_mean"] == pytest.approx(0.9)
    assert line["best_f1_micro_sd"] == pytest.approx(np.sqrt(0.02))  # 1.0 and 0.8, n − 1
    assert line["best_f1_micro_at"] == 3.0  # reached at 2 and at 4
    assert line["best_f1_macro_mean"] == pytest.approx(0.45)
    # Simpson over rF1 (0.625, 1.25, 1) and (0.625, 0.75, 1): (first + 4 middle + last) / 6
    assert line["aurf1_micro_mean"] == pytest.approx((6.625 + 4.625) / 12)
    assert line["f1_micro_all_mean"] == pytest.approx(0.8)
    assert line["f1_micro_all_sd"] == 0
    assert line["f1_macro_all_mean"] == pytest.approx(0.4)
    assert (line["fit_seconds_mean"], line["warm_up_seconds_max"]) == (1.5, 5.0)
    assert line["fit_seconds_sd"] == pytest.approx(np.sqrt(0.5))
    assert line["latent_dimension"] == 4.5
    assert line["learner_not_converged_folds"] == 1
    assert (line["n_rows"], line["n_features"], line["peak_memory_mib_max"]) == (10, 4, 100)


def test_folds_without_times_are_not_in_the_mean_time():
    rows = frame(row(fold=0, fit_seconds=2.0), row(fold=1, fit_seconds=None), row(fold=2, fit_seconds=4.0))
    line = only(summary(rows))
    assert line["fit_seconds_mean"] == 3.0 and line["fit_seconds_sd"] == pytest.approx(np.sqrt(2.0))
    none = only(summary(frame(row(fit_seconds=None))))
    assert none["complete"] and np.isnan(none["fit_seconds_mean"])


def test_of_equal_best_scores_the_smallest_number_of_features_counts():
    assert only(summary(frame(row(curve=(0.4, 0.9, 0.9)))))["best_f1_micro_at"] == 2


def test_a_fold_without_a_curve_is_in_no_number_of_the_curve():
    """Rows that say "ok" and have none, such as of an earlier version."""
    rows = frame(row(fold=0, curve=(0.4, 0.9, 0.9)), row(fold=1), row(fold=2, curve=(0.4, 0.5, 0.9)))
    rows.at[1, "f1_macro"] = None
    line = only(summary(rows))
    assert line["best_f1_macro_at"] == 3.0  # of 2 and 4
    rows["f1_macro"] = None
    none = only(summary(rows))
    assert np.isnan(none["best_f1_macro_at"]) and none["best_f1_micro_at"] == line["best_f1_micro_at"]


def test_one_fold_has_no_deviation():
    line = only(summary(frame(row())))
    assert np.isnan(line["best_f1_micro_sd"]) and np.isnan(line["fit_seconds_sd"])


def test_no_latent_dimension_is_nan_and_not_zero():
    assert np.isnan(only(summary(frame(row())))["latent_dimension"])


def test_undefined_relative_f1_is_counted_and_in_no_mean():
    rows = frame(row(fold=0, curve=(0.5, 1.0, 0.8)), row(fold=1, curve=(0.5, 0.6, 0.0)))
    line = only(summary(rows))
    assert line["rf1_undefined_folds"] == 1
    assert line["aurf1_micro_mean"] == pytest.approx(6.625 / 6)
    assert line["best_f1_micro_mean"] == pytest.approx(0.8)  # F1 itself is defined in both


def test_relative_f1_undefined_everywhere():
    line = only(summary(frame(repeats("a", curve=(0.5, 0.5, 0.0)))))
    assert (line["rf1_undefined_folds"], line["complete"]) == (2, True)
    assert np.isnan(line["aurf1_micro_mean"])


def test_complete_ones_stand_best_first_and_incomplete_ones_apart():
    rows = frame(
        repeats("low", 2, curve=(0.1, 0.2, 0.3)),
        repeats("half", 1, curve=(0.9, 0.9, 0.9)),
        repeats("high", 2, curve=(0.1, 0.7, 0.3)),
    )
    summed = summary(rows, expected_of([config(name, 2) for name in ("low", "half", "high", "none")]))
    assert complete(summed)["ranker"].tolist() == ["high", "low"]
    assert incomplete(summed)["ranker"].tolist() == ["half", "none"]


def test_the_table_for_a_file_has_no_numbers_of_incomplete_rankers():
    rows = frame(repeats("half", 1), repeats("whole", 2))
    table = publishable(summary(rows, expected_of([config("half", 2), config("whole", 2)])))
    assert table["ranker"].tolist() == ["whole", "half"]
    half = table.iloc[1]
    assert half["reason"] == "1 of 2 repeats"
    numbers = table.columns[list(table.columns).index("reason") + 1 :]
    assert half[numbers].isna().all()
    assert table.iloc[0][["best_f1_micro_mean", "best_f1_macro_mean", "aurf1_macro_mean"]].notna().all()


# --- curves ---------------------------------------------------------------------------------------


def test_the_band_is_the_corrected_resampled_t():
    heights = [0.5, 0.7, 0.9, 0.6]
    rows = frame([row(fold=fold, curve=(h, 1.0), grid=(1, 2)) for fold, h in enumerate(heights)])
    curve = rf1_curve(rows)
    assert curve["n_features"].tolist() == [1, 2]
    first = curve.iloc[0]
    mean, sd = np.mean(heights), np.std(heights, ddof=1)
    half = stats.t.ppf(0.975, 3) * sd * np.sqrt(1 / 4 + 2 / 8)
    assert first["rf1_mean"] == pytest.approx(mean)
    assert first["rf1_upper"] == pytest.approx(mean + half)
    assert first["rf1_lower"] == pytest.approx(mean - half)
    # By hand: s² = 0.0875 / 3, quantile 3.1824, √(1/4 + 1/4) = 0.7071
    assert half == pytest.approx(3.182446 * 0.170783 * 0.707107, rel=1e-5)
    last = curve.iloc[1]
    assert (last["rf1_mean"], last["rf1_lower"], last["rf1_upper"]) == (1, 1, 1)


def test_one_fold_has_no_band():
    curve = rf1_curve(frame(row()))
    assert curve["rf1_mean"].notna().all()
    assert curve[["rf1_lower", "rf1_upper"]].isna().all(axis=None)


def test_undefined_folds_are_left_out_of_the_curve_and_counted():
    rows = frame(row(fold=0), row(fold=1, curve=(0.3, 0.3, 0.0)), row(fold=2))
    curve = rf1_curve(rows)
    assert curve["n_undefined"].tolist() == [1, 1, 1]
    assert curve["n_folds"].tolist() == [2, 2, 2]
    np.testing.assert_allclose(curve["rf1_mean"], [0.625, 1.25, 1.0])
    assert np.isfinite(curve[["rf1_mean", "rf1_lower", "rf1_upper"]].to_numpy()).all()


def test_a_curve_without_any_value_is_nan_and_never_infinite():
    curve = rf1_curve(frame(repeats("a", curve=(0.5, 0.5, 0.0))))
    assert curve["rf1_mean"].isna().all()
    assert curve["n_folds"].tolist() == [0, 0, 0]


def test_incomplete_rankers_have_no_curve():
    rows = frame(repeats("a", 2), repeats("b", 1), repeats("c", 1), failed("c", 1, 0), row("c", 1, 1))
    expected = expected_of([config(name, 2) for name in "abc"])
    assert rf1_curve(rows, expected)["ranker"].unique().tolist() == ["a"]


def test_macro_curve():
    rows = row(rf1_macro=np.array([0.1, 0.2, 1.0]))
    assert rf1_curve(frame(rows), average="macro")["rf1_mean"].tolist() == [0.1, 0.2, 1.0]


@pytest.mark.parametrize("settings", [{"average": "weighted"}, {"confidence": 95}, {"confidence": 0}])
def test_wrong_settings_of_a_curve(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        rf1_curve(frame(row()), **settings)


def test_rows_are_not_changed():
    rows = frame(repeats("a"), failed("b"))
    before = rows.copy(deep=True)
    expected = expected_of([config("a"), config("b")])
    summary(rows, expected), rf1_curve(rows, expected), failures(rows, expected)
    pd.testing.assert_frame_equal(rows, before)
