"""Similarity of rankers from rows: known pairs, means over data sets, and the order of a heat map."""

import itertools

import numpy as np
import pandas as pd
import pytest
from made_up import config, failed, frame, repeats, row

from experiments.analysis.selection import expected_of
from experiments.analysis.similarity import cluster_order, pairwise_fuji, similarity_matrix
from experiments.metrics.fuji import area_under_fuji, fuji_curve

A, B, C = [0.9, 0.5, 0.1, -0.2], [0.5, 0.9, 0.2, 0.1], [0.1, 0.2, 0.9, 0.5]


def fold(ranker, weights, number=0, **changes):
    return row(ranker, 0, number, weights=weights, **changes)


def area(a, b, negative="clip"):
    return area_under_fuji(fuji_curve(a, b, negative))


def value(pairs, a, b, dataset="d"):
    line = pairs.query("ranker_a == @a and ranker_b == @b and dataset == @dataset")
    assert len(line) == 1
    return line["aufuji"].iloc[0]


def test_weights_are_averaged_over_folds():
    rows = frame(fold("a", A), fold("a", C, 1), fold("b", B), fold("b", B, 1))
    pairs = pairwise_fuji(rows)
    assert pairs.columns.tolist() == ["dataset", "protocol", "ranker_a", "ranker_b", "aufuji"]
    assert value(pairs, "a", "b") == pytest.approx(area((np.array(A) + C) / 2, B))


def test_negative_weights_count_as_nothing():
    rows = frame(fold("a", A), fold("b", B))
    assert value(pairwise_fuji(rows), "a", "b") == pytest.approx(area(np.maximum(A, 0), B, "raise"))


def test_rf1_curves_are_compared_as_scores_of_grid_points():
    rows = frame(
        row("a", fold=0, curve=(0.5, 1.0, 0.8)),
        row("a", fold=1, curve=(0.7, 0.9, 0.8)),
        row("b", fold=0, curve=(0.9, 0.1, 0.8)),
        row("b", fold=1, curve=(0.9, 0.3, 0.8)),
    )
    a, b = np.array([0.6, 0.95, 0.8]) / 0.8, np.array([0.9, 0.2, 0.8]) / 0.8
    assert value(pairwise_fuji(rows, on="rf1_micro"), "a", "b") == pytest.approx(area(a, b))
    # macro is half of micro, relative to a half
    assert value(pairwise_fuji(rows, on="rf1_macro"), "a", "b") == pytest.approx(area(a, b))


def test_a_fold_without_rf1_is_in_no_mean():
    rows = frame(
        row("a", fold=0, curve=(0.5, 1.0, 0.8)),
        row("a", fold=1, curve=(0.5, 0.5, 0.0)),
        row("b", fold=0, curve=(0.9, 0.1, 0.8)),
        row("b", fold=1, curve=(0.9, 0.1, 0.8)),
    )
    expected = area(np.array([0.5, 1.0, 0.8]) / 0.8, np.array([0.9, 0.1, 0.8]) / 0.8)
    assert value(pairwise_fuji(rows, on="rf1_micro"), "a", "b") == pytest.approx(expected)
    nowhere = frame(row("a", curve=(0.5, 0.5, 0.0)), row("b", curve=(0.9, 0.1, 0.8)))
    assert np.isnan(value(pairwise_fuji(nowhere, on="rf1_micro"), "a", "b"))


def test_rankers_that_are_not_complete_are_left_out():
    rows = frame(
        fold("a", A), fold("a", A, 1), fold("b", B), failed("b", 0, 1), fold("c", C), fold("c", C, 1)
    )
    pairs = pairwise_fuji(rows, expected_of([config("a"), config("b"), config("c")]))
    assert pairs[["ranker_a", "ranker_b"]].to_numpy().tolist() == [["a", "c"]]


def test_lists_of_different_lengths_are_named():
    with pytest.raises(ValueError, match="d: a has 4 values of weights, b has 3"):
        pairwise_fuji(frame(fold("a", A), fold("b", B[:3])))
    with pytest.raises(ValueError, match=r"d × a: folds have lists of \[3, 4\] values"):
        pairwise_fuji(frame(fold("a", A), fold("a", A[:3], 1)))
    with pytest.raises(ValueError, match="on must be one of weights, rf1_micro"):
        pairwise_fuji(frame(), on="fit_seconds")


def test_the_matrix_averages_over_the_data_sets_that_both_have():
    rows = frame(
        fold("a", A), fold("b", B), fold("c", C), fold("a", B, dataset="e"), fold("b", B, dataset="e")
    )
    matrix = similarity_matrix(pairwise_fuji(rows))
    assert matrix.loc["a", "b"] == pytest.approx((area(A, B) + 1) / 2)
    assert matrix.loc["a", "c"] == pytest.approx(area(A, C))
    assert (np.diag(matrix) == 1).all()
    pd.testing.assert_frame_equal(matrix, matrix.T)


def test_the_order_of_two_rankers_may_differ_between_data_sets():
    pairs = pd.DataFrame(
        [["d", "p", "a", "b", 0.2], ["e", "p", "b", "a", 0.6], ["f", "p", "a", "b", 0.4]],
        columns=["dataset", "protocol", "ranker_a", "ranker_b", "aufuji"],
    )
    assert similarity_matrix(pairs).loc["b", "a"] == pytest.approx(0.4)


def test_clusters_are_blocks():
    names = [f"r{n}" for n in range(9)]
    group = np.arange(9) % 3
    rng = np.random.default_rng(0)
    noise = rng.uniform(0, 0.1, (9, 9))
    values = np.where(group[:, None] == group, 0.9, 0.2) + (noise + noise.T) / 4
    np.fill_diagonal(values, 1)
    order = cluster_order(pd.DataFrame(values, index=names, columns=names))
    found = [group[names.index(name)] for name in order]
    assert sorted(order) == names
    assert sum(a != b for a, b in itertools.pairwise(found)) == 2


def test_few_rankers_and_missing_values_have_an_order_too():
    empty = similarity_matrix(pairwise_fuji(frame()))
    assert empty.shape == (0, 0)
    assert pairwise_fuji(frame(fold("a", A))).empty
    two = similarity_matrix(pairwise_fuji(frame(fold("a", A), fold("b", B))))
    assert list(two.index) == ["a", "b"]
    nothing_shared = frame(fold("a", A), fold("b", B), fold("b", B, dataset="e"), fold("c", C, dataset="e"))
    matrix = similarity_matrix(pairwise_fuji(nothing_shared))
    assert np.isnan(matrix.loc["a", "c"])
    assert sorted(matrix.index) == list("abc")


def test_the_rows_are_not_changed():
    rows = frame(repeats("a"), repeats("b"))
    before = rows.copy(deep=True)
    pairwise_fuji(rows, on="rf1_micro")
    pd.testing.assert_frame_equal(rows, before)
