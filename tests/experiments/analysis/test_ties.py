"""What differs by rounding alone is equal: weights in an order of features, means in ranks and places."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from stored_numbers import Projection

from experiments.analysis.bayes import hierarchical_test
from experiments.analysis.cost import cost_quality, places
from experiments.analysis.critical_distance import average_ranks, compare_ranks
from experiments.analysis.scores import MEASURES, averages, score_table
from experiments.analysis.ties import TIE, equalised, first_best, first_bests, tied_ranks
from experiments.config.compose import compose_runs
from experiments.datasets.loading import load
from experiments.evaluation.cell import cells_of
from experiments.evaluation.evaluate import evaluate_all_features, evaluate_ranking
from experiments.metrics.stability import orders, tied_cuts
from reliefe import MultiSURF, ReliefE, ReliefF, SURFStar, TuRF
from reliefe.ranking import descending_order, ranks, tied_with_next

TINY = 1e-13  # far below the tolerance, far above the rounding of a single sum


def naive_order(weights, tolerance=None):
    """Repeatedly: take the highest weight left, and all that hang together with it; lower index first."""
    if tolerance is None:
        tolerance = 1e-12 * max((abs(w) for w in weights), default=0.0)
    left, order = sorted(range(len(weights)), key=lambda i: -weights[i]), []
    while left:
        group = [left.pop(0)]
        while left and weights[group[-1]] - weights[left[0]] <= tolerance:
            group.append(left.pop(0))
        order += sorted(group)
    return order


# --- order of features ---


@pytest.mark.parametrize(
    ("weights", "order"),
    [
        ([0.5, 0.5 + TINY, 0.1], [0, 1, 2]),
        ([0.5, 0.5 + 1e-11, 0.1], [1, 0, 2]),
        ([-1.0, 1e-13, 0.0, 2e-13], [1, 2, 3, 0]),  # relative to the largest absolute weight
        ([1e-20, 2e-20], [1, 0]),  # small weights are weights
        ([0.0, 0.0, 0.0], [0, 1, 2]),
        ([3.0], [0]),
        # Each is within the tolerance of the next, the ends are not: one tie.
        ([1.0 - 1.8e-12, 1.0 - 0.9e-12, 1.0, 0.0], [0, 1, 2, 3]),
        ([1.7e308, -1.7e308], [0, 1]),
    ],
)
def test_weights_that_differ_by_rounding_go_by_index(weights, order):
    assert descending_order(weights).tolist() == order == naive_order(weights)
    assert ranks(weights).tolist() == [order.index(i) + 1 for i in range(len(weights))]


@given(
    st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.25, 1.0]), st.integers(-4, 4)), min_size=1, max_size=30),
    st.sampled_from([1.0, 1e-9, 1e6]),
)
def test_the_order_is_that_of_the_slow_twin(parts, scale):
    weights = [scale * (base + 4e-13 * step) for base, step in parts]
    order = naive_order(weights)
    assert descending_order(weights).tolist() == order
    assert descending_order([weights, weights]).tolist() == [order, order]
    tied = tied_with_next(weights)
    high = sorted(weights, reverse=True)
    top = max(abs(w) for w in weights)
    assert tied.tolist() == [a - b <= 1e-12 * top for a, b in itertools.pairwise(high)]


def test_no_order_of_what_is_no_number():
    for bad in ([1.0, np.nan], [np.inf, 0.0]):
        with pytest.raises(ValueError, match="must be finite"):
            descending_order(bad)
    with pytest.raises(ValueError, match="one or two dimensions"):
        descending_order(np.zeros((1, 1, 1)))


def test_a_stable_order_of_lists_and_the_cut_inside_a_tie():
    weights = np.array([[0.3, 0.3 + TINY, 0.1, 0.3], [0.1, 0.2, 0.3, 0.4]])
    assert orders(weights).tolist() == [[0, 1, 3, 2], [3, 2, 1, 0]]
    assert tied_cuts(weights, 2).tolist() == [True, False]
    assert tied_cuts(weights, 3).tolist() == [False, False]


def two_valued(n=120, p=300, share=0.05, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n, p)) < share).astype(float)


def label_sets(n, n_labels=5, seed=1):
    return (np.random.default_rng(seed).random((n, n_labels)) < 0.3).astype(int)


@pytest.mark.parametrize(
    "ranker",
    [ReliefF(), ReliefF(n_neighbors="adaptive"), ReliefF(abs_mean=True), MultiSURF(), SURFStar(), TuRF()],
    ids=str,
)
@pytest.mark.parametrize("labels", [False, True])
def test_storage_and_the_order_of_samples_do_not_decide_the_order_of_features(ranker, labels):
    X = two_valued()
    y = label_sets(len(X)) if labels else np.random.default_rng(2).integers(0, 3, len(X))
    if labels and type(ranker) is not ReliefF:
        y = y[:, 0]
    dense = ranker.fit(X, y).ranking_.copy()
    weights = ranker.feature_importances_.copy()
    assert len(np.unique(weights)) > 1
    assert np.array_equal(ranker.fit(sparse.csr_matrix(X), y).ranking_, dense)
    if type(ranker) is ReliefF and ranker.n_neighbors == "adaptive":
        # Among samples at equal distances, none comes first: the largest gap does not depend on their order.
        other = np.random.default_rng(3).permutation(len(X))
        moved = ranker.fit(X[other], y[other])
        assert np.allclose(moved.feature_importances_, weights, rtol=0, atol=1e-9 * np.abs(weights).max())
        assert np.array_equal(moved.ranking_, dense)


@pytest.mark.parametrize("target_distance", ["f1", "accuracy", "subset", "hamming"])
@pytest.mark.parametrize("n_neighbors", [15, "adaptive"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_with_two_values_abs_mean_is_the_same_ranker(target_distance, n_neighbors, storage):
    X, Y = two_valued(seed=4), label_sets(120, seed=5)
    settings = {"n_neighbors": n_neighbors, "target_distance": target_distance}
    plain = ReliefF(**settings).fit(storage(X), Y)
    mean = ReliefF(**settings, abs_mean=True).fit(storage(X), Y)
    assert np.array_equal(plain.ranking_, mean.ranking_)
    assert len(np.unique(plain.ranking_)) == X.shape[1]


@pytest.mark.parametrize("n_neighbors", [15, "adaptive"])
def test_with_two_values_abs_mean_is_the_same_ranker_in_an_embedding_too(n_neighbors):
    X, Y = two_valued(seed=6), label_sets(120, seed=7)
    settings = {"n_neighbors": n_neighbors, "embedding": Projection(), "random_state": 0}
    plain, mean = (ReliefE(**settings, abs_mean=each).fit(X, Y) for each in (False, True))
    assert np.array_equal(plain.ranking_, mean.ranking_)


def test_rankers_that_are_the_same_have_the_same_curves():
    X, Y = two_valued(90, 60, seed=8), sparse.csr_matrix(label_sets(90, seed=9))
    curves = []
    for abs_mean in (False, True):
        config = {
            "protocol": {
                "name": "tiny",
                "n_splits": 3,
                "n_repeats": 1,
                "grid_points": 50,
                "multilabel_learner": {
                    "_target_": "sklearn.ensemble.RandomForestClassifier",
                    "n_estimators": 5,
                },
            },
            "ranker": {"_target_": "reliefe.ReliefF", "abs_mean": abs_mean, "target_distance": "f1"},
            "ranker_key": "relieff",
            "dataset_key": "words",
            "seed": 0,
        }
        (cell,) = cells_of(config, checksum="0" * 64, task="multilabel")
        reference = evaluate_all_features(cell.reference, X, Y).table
        curves.append(np.stack(evaluate_ranking(cell, X, Y, reference).frame["f1_micro"]))
    assert curves[0].shape == (3, 32) and len(np.unique(curves[0])) > 10
    assert np.array_equal(*curves)


# --- means of folds ---


def test_numbers_that_hang_together_become_one():
    values = np.array([0.3, 0.1 + 0.2, 0.1, np.nan, 0.3 - 1e-9, -np.inf, np.inf, 0.0, 0.0])
    made = equalised(values)
    assert made[0] == made[1] == 0.1 + 0.2
    assert np.array_equal(made[2:], values[2:], equal_nan=True)
    assert np.array_equal(equalised(np.array([])), [])
    assert np.array_equal(equalised([np.nan]), [np.nan], equal_nan=True)
    # The tolerance is a share of the larger, also for small and negative numbers.
    assert np.ptp(equalised([-1e-20, -1e-20 * (1 + 1e-14)])) == 0
    assert np.ptp(equalised([1e-20, 2e-20])) == 1e-20


def test_of_points_as_high_as_the_highest_the_first_counts():
    assert first_best([0.1, 0.3, 0.1 + 0.2, 0.2]) == 1
    assert first_best([0.1, 0.3, 0.3 + 1e-9]) == 2


def first_of_the_highest(curve):
    """Slow, obvious twin of ``first_bests``: down from the highest while the next one is within rounding."""
    ordered = sorted(curve, reverse=True)
    equal = {ordered[0]}
    for higher, lower in itertools.pairwise(ordered):
        if higher - lower >= TIE * max(abs(higher), abs(lower)) and higher != lower:
            break
        equal.add(lower)
    return next(place for place, value in enumerate(curve) if value in equal)


@pytest.mark.parametrize("scale", [1.0, -1.0, 1e-9])
def test_first_points_of_many_curves_are_those_of_each(scale):
    rng = np.random.default_rng(4)
    levels = rng.integers(0, 4, (300, 9)) / 4  # zeros among them
    curves = scale * levels * (1.0 + 3e-13 * rng.integers(-6, 7, levels.shape))
    expected = [first_of_the_highest(curve) for curve in curves.tolist()]
    assert first_bests(curves) == expected
    assert expected != curves.argmax(axis=1).tolist()  # ties decide some
    shorter = [curve[: 3 + place % 7] for place, curve in enumerate(curves.tolist())]
    assert first_bests(shorter) == [first_of_the_highest(curve) for curve in shorter]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert first_bests([[1.0, np.inf, np.inf], [0.5, 0.2, 0.5]]) == [1, 0]
    assert first_bests(np.array([[1.0 - place * 0.9e-12 for place in range(6, -1, -1)]])) == [0]


def orders_of_three(n_datasets=20):
    """A, B and C have the scores 0.1, 0.2, 0.3 on every data set, in another order of folds each."""
    folds = {"A": [0.1, 0.2, 0.3], "B": [0.3, 0.2, 0.1], "C": [0.3, 0.1, 0.2]}
    index = pd.MultiIndex.from_product([[f"d{i}" for i in range(n_datasets)], range(3)])
    return pd.DataFrame({name: scores * n_datasets for name, scores in folds.items()}, index=index)


def test_the_same_scores_in_another_order_share_every_place():
    frame = orders_of_three()
    means = frame.groupby(level=0).agg(lambda scores: sum(scores) / len(scores))
    assert means.nunique(axis=1).max() > 1  # summed in another order, they differ in the last digit
    assert average_ranks(frame).tolist() == [2.0, 2.0, 2.0]
    compared = compare_ranks(frame)
    assert np.isnan(compared.friedman_p)
    assert compared.no_test == "all rankers are tied everywhere"
    assert (places(means, higher_is_better=True) == 2.0).all(axis=None)
    assert (tied_ranks(means, higher_is_better=False) == 2.0).all(axis=None)
    assert averages(means)["mean"].nunique() == 1
    cheapest = cost_quality(means * 0 + 1.0, {"best_f1": means})
    assert cheapest["best_value"].all()


def test_scores_apart_by_more_than_rounding_keep_their_places():
    frame = pd.DataFrame({"A": [0.5, 0.5], "B": [0.5 + 1e-9, 0.5], "C": [0.4, 0.6]}, index=["d", "e"])
    assert average_ranks(frame).to_dict() == {"A": 2.25, "B": 1.75, "C": 2.0}


def test_score_tables_hold_equal_means_as_one_number():
    frame = orders_of_three(1)
    rows = pd.DataFrame(
        [
            {"dataset": "d0", "ranker": name, "grid": np.array([1]), "f1_micro": np.array([score])}
            for name in frame
            for score in frame[name]
        ]
    )
    table = score_table(rows, "best_f1")
    assert table.loc["d0"].nunique() == 1
    assert table.loc["d0", "A"] == pytest.approx(0.2, abs=1e-15)
    assert "best_f1" in MEASURES


def test_scores_equal_but_for_rounding_are_equal_to_the_hierarchical_test():
    x = np.full((3, 20), 0.3)
    assert hierarchical_test(x, np.full((3, 20), 0.1 + 0.2), 0.05, 2).probs() == (0.0, 1.0, 0.0)
    assert hierarchical_test(x, np.full((3, 20), 0.1 + 0.2), 0.0, 2).probs() == (0.0, 1.0, 0.0)


def exact_ranks(rows, n_test):
    """Average ranks from numbers of correct predictions, in fractions."""
    table = {}
    for (dataset, ranker), mine in rows.groupby(["dataset", "ranker"], sort=False):
        folds = []
        for _, fold in mine.iterrows():
            correct = [round(float(f1) * fold[n_test]) for f1 in fold["f1_micro"]]
            assert np.allclose(np.array(correct) / fold[n_test], fold["f1_micro"], rtol=0, atol=1e-12)
            folds.append(Fraction(max(correct), int(fold[n_test])))
        table[dataset, ranker] = sum(folds) / len(folds)
    datasets, rankers = (list(dict.fromkeys(names)) for names in zip(*table, strict=True))
    totals = dict.fromkeys(rankers, Fraction(0))
    for dataset in datasets:
        scores = [table[dataset, ranker] for ranker in rankers]
        for ranker, score in zip(rankers, scores, strict=True):
            better = sum(other > score for other in scores)
            equal = sum(other == score for other in scores)
            totals[ranker] += better + Fraction(equal + 1, 2)
    return {ranker: total / len(datasets) for ranker, total in totals.items()}, table


def test_published_average_ranks_are_those_of_exact_fractions():
    from experiments.cli.publish import rows as published_rows

    frame, _ = published_rows("mcc_published")
    rankings = frame[frame["kind"] == "ranking"]
    exact, table = exact_ranks(rankings, "n_test")
    scores = score_table(rankings, "best_f1")
    found = compare_ranks(scores)
    assert {ranker: round(float(rank), 10) for ranker, rank in exact.items()} == {
        ranker: round(rank, 10) for ranker, rank in found.average_ranks.items()
    }
    datasets, rankers = (list(dict.fromkeys(names)) for names in zip(*table, strict=True))
    values = [[float(table[dataset, ranker]) for dataset in datasets] for ranker in rankers]
    assert found.friedman_p == pytest.approx(stats.friedmanchisquare(*values).pvalue, abs=1e-12)


def test_text_with_labels_has_one_order_whatever_the_storage(local_data):
    (config,) = compose_runs(["dataset=science1", "ranker=relieff", f"paths.local_data={local_data}"]).configs
    loaded = load(config["dataset"], local_data, download=False)
    rows = np.random.default_rng(0).permutation(loaded.X.shape[0])[:400]
    X, Y = loaded.X[rows], loaded.y[rows]
    ranker = ReliefF()
    weights = ranker.fit(X, Y).feature_importances_
    order = descending_order(weights)
    tied = int(tied_with_next(weights).sum())
    assert tied > X.shape[1] // 2
    assert np.array_equal(descending_order(ReliefF().fit(X.toarray(), Y).feature_importances_), order)
    moved = np.random.default_rng(1).permutation(len(rows))
    again = ReliefF(n_neighbors="adaptive")
    first = again.fit(X, Y).ranking_.copy()
    assert np.array_equal(again.fit(X[moved], Y[moved]).ranking_, first)
