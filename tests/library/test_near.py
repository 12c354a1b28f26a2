"""SURF and MultiSURF with label sets and numeric targets, against their twin and beyond it."""

from fractions import Fraction
from functools import cache

import naive
import naive_near as twin
import numpy as np
import pytest
import scipy.sparse as sp
from covering import covered
from mixtures import CATEGORIES, mixture, with_gaps
from samples import SAMPLES, GivenRows, assert_weights_equal
from sklearn.base import clone
from sklearn.utils import get_tags

import reliefe.embedding
from reliefe import SURF, VLS, MultiSURF, MultiSURFStar, ReliefF, SURFStar, TuRF, near, row_pairs
from reliefe.engine import Phases
from reliefe.kernels import near as kernels
from reliefe.vls import draw_subsets

KINDS = [SURF, MultiSURF]
STORAGES = [np.ascontiguousarray, sp.csr_matrix]
KIND = pytest.mark.parametrize("kind", KINDS)
STORAGE = pytest.mark.parametrize("storage", STORAGES)
#: Kind of target → parameters.
NUMBERS = {"target": "regression"}
TARGETS = {"labels": {}, "numbers": NUMBERS}
TARGET = pytest.mark.parametrize("target", TARGETS)


@cache
def labels(n):
    """Five labels; rows without a label and rows with equal sets are among them."""
    T = (np.random.default_rng(230).random((n, 5)) < 0.3).astype(int)
    T[::7] = 0
    return T


@cache
def numbers(n):
    """Small whole numbers, with ties."""
    return np.random.default_rng(231).integers(-3, 12, n)


def fit(kind, X, target, y=None, **parameters):
    if y is None:
        y = labels(X.shape[0]) if target == "labels" else numbers(X.shape[0])
    return kind(**TARGETS[target], **parameters).fit(X, y).feature_importances_


def expected_of(kind, X, target, y=None, **where):
    n = len(X)
    if target == "labels":
        return twin.of_labels(kind.__name__, X, labels(n) if y is None else y, **where)
    return twin.of_numbers(kind.__name__, X, numbers(n) if y is None else y, **where)


# ---------------------------------------------------------------------------------------------- fast == naive


@covered({"name": list(SAMPLES), "kind": KINDS, "target": list(TARGETS), "storage": STORAGES})
def test_fast_is_naive(name, kind, target, storage):
    X, _, exact = SAMPLES[name]
    assert_weights_equal(fit(kind, storage(X), target), expected_of(kind, X, target, exact=exact))


@covered(
    {
        "name": ["random_dense", "ties", "mostly_zeros", "constant_column"],
        "kind": KINDS,
        "target": list(TARGETS),
        "storage": STORAGES,
    }
)
def test_missing_values(name, kind, target, storage):
    X, _, exact = SAMPLES[name]
    X = with_gaps(X, 0.2, 1)
    found = fit(kind, storage(X), target, missing="ignore")
    assert_weights_equal(found, expected_of(kind, X, target, exact=exact))
    assert found[2] == 0.0  # no value of it is known
    with pytest.raises(ValueError, match="NaN: sample"):
        fit(kind, storage(X), target)


@STORAGE
@pytest.mark.parametrize("share", [0.0, 0.3])
@TARGET
@KIND
def test_discrete_columns(kind, target, share, storage):
    X = mixture(2)
    X[np.random.default_rng(4).random(X.shape) < share] = np.nan
    found = fit(kind, storage(X), target, missing="ignore", discrete_features=CATEGORIES)
    assert_weights_equal(found, expected_of(kind, X, target, discrete=CATEGORIES, exact=True))


@pytest.mark.parametrize("gaps", [False, True])
@TARGET
@KIND
def test_columns_kept_as_bits(kind, target, gaps):
    """Genotypes beside numbers: distances come from bits, differences from both kinds of column."""
    rng = np.random.default_rng(232)
    G = rng.binomial(2, 0.3, size=(26, 70)).astype(float)
    for X in (G, np.hstack([G, rng.integers(0, 99, (26, 5))])):
        if gaps:
            X[rng.random(X.shape) < 0.1] = np.nan
        found = fit(kind, X, target, missing="ignore")
        assert_weights_equal(found, expected_of(kind, X, target, exact=True))


@cache
def sets_and_bits():
    """Few distinct label sets, and features of three values, alone and beside others."""
    rng = np.random.default_rng(247)
    G = rng.binomial(2, 0.3, size=(28, 70)).astype(float)
    return labels(28)[:, :3], G, np.hstack([G, rng.integers(0, 99, (28, 5))])


@cache
def expected_of_bits(kind, distance, number):
    T, *tables = sets_and_bits()
    return expected_of(kind, tables[number], "labels", T, exact=True, target_distance=distance)


@cache
def embedded_sets():
    return np.random.default_rng(248).normal(size=(28, 2))


@cache
def expected_of_embedded(kind, distance):
    T, G, _ = sets_and_bits()
    where = {"embedded": embedded_sets(), "metric": "euclidean"}
    return expected_of(kind, G, "labels", T, target_distance=distance, **where)


@pytest.mark.parametrize("most", [0, 32])
@pytest.mark.parametrize("distance", list(naive.SET_DISTANCES))
@KIND
def test_few_label_sets_and_columns_kept_as_bits(kind, distance, most, monkeypatch):
    """Rows stand in the order of their sets, or as they are: both ways have the same weights."""
    monkeypatch.setattr(near, "_MOST_SETS", most)
    made = []
    by_set = near._SetRows.__init__
    monkeypatch.setattr(
        near._SetRows, "__init__", lambda self, *given: (made.append(1), by_set(self, *given))[1]
    )
    T, G, *tables = sets_and_bits()
    for number, X in enumerate((G, *tables)):
        found = [fit(kind, X, "labels", T, target_distance=distance, n_jobs=n_jobs) for n_jobs in (1, 3)]
        assert_weights_equal(found[0], expected_of_bits(kind, distance, number))
        np.testing.assert_array_equal(*found)
    assert len(made) == (4 if most else 0)
    given = {"embedding": GivenRows(embedded_sets()), "metric": "euclidean"}
    found = fit(kind, G, "labels", T, target_distance=distance, **given)
    assert_weights_equal(found, expected_of_embedded(kind, distance))


@pytest.mark.parametrize("distance", list(naive.SET_DISTANCES))
@KIND
def test_distances_of_label_sets(kind, distance):
    X = SAMPLES["ties"].X
    expected = expected_of(kind, X, "labels", exact=True, target_distance=distance)
    for storage in STORAGES:
        for T in (labels(len(X)), sp.csr_matrix(labels(len(X))), labels(len(X)).astype(bool)):
            assert_weights_equal(fit(kind, storage(X), "labels", T, target_distance=distance), expected)


@STORAGE
@pytest.mark.parametrize("distance", naive.EMBEDDED_DISTANCES)
@KIND
def test_distances_of_embedded_label_sets(kind, distance, storage, monkeypatch):
    """The embedding of the targets is put in by hand: UMAP's has no twin."""
    X = SAMPLES["random_dense"].X
    places = np.random.default_rng(233).normal(size=(len(X), 2))
    asked = []
    monkeypatch.setattr(
        reliefe.embedding, "embed_targets", lambda **given: (asked.append(given), (places, 2))[1]
    )
    found = fit(kind, storage(X), "labels", target_distance=distance, n_representatives=20)
    expected = expected_of(kind, X, "labels", target_distance=distance, embedded_targets=places)
    assert_weights_equal(found, expected)
    assert [each["n_representatives"] for each in asked] == [20]
    assert asked[0]["hyperbolic"] is (distance == "hyperbolic")


@STORAGE
@pytest.mark.parametrize("metric", naive.METRICS)
@TARGET
@KIND
def test_near_in_an_embedding_and_differences_in_the_columns(kind, target, metric, storage):
    X = SAMPLES["random_dense"].X
    E = np.random.default_rng(234).normal(size=(len(X), 2))
    expected = expected_of(kind, X, target, embedded=E, metric=metric)
    for n_jobs in (1, 3):
        found = fit(kind, storage(X), target, embedding=GivenRows(E), metric=metric, n_jobs=n_jobs)
        assert_weights_equal(found, expected)


def test_umap_embeds_rows_and_targets():
    rng = np.random.default_rng(235)
    X = rng.normal(size=(70, 8))
    T = np.column_stack([X[:, :4] + X[:, 4:] > 0.5, rng.random((70, 6)) < 0.3])
    ranker = MultiSURF(embedding="umap", target_distance="cosine", random_state=0).fit(X, T)
    again = MultiSURF(embedding="umap", target_distance="cosine", random_state=0, n_jobs=2)
    np.testing.assert_array_equal(
        again.fit(X, sp.csr_matrix(T)).feature_importances_, ranker.feature_importances_
    )
    assert ranker.target_n_components_ is None or ranker.target_n_components_ >= 2
    assert ranker.classes_.tolist() == list(range(10))
    y = rng.random(70)
    X[:, :3] += 8 * y[:, None]
    response = MultiSURF(embedding="umap", n_components=2, target="regression", random_state=0).fit(X, y)
    assert set(np.argsort(response.ranking_)[:3]) == {0, 1, 2} and response.n_components_ == 2
    assert not hasattr(response, "classes_") and not hasattr(response, "target_n_components_")


@STORAGE
@KIND
def test_weights_of_rows_with_numeric_targets(kind, storage):
    X = SAMPLES["ties"].X
    weight = np.random.default_rng(236).integers(0, 4, len(X))
    for gaps in (X, with_gaps(X, 0.1, 2)):
        ranker = kind(target="regression", missing="ignore").fit(storage(gaps), numbers(len(X)), weight)
        expected = expected_of(kind, gaps, "numbers", exact=True, sample_weight=weight.tolist())
        assert_weights_equal(ranker.feature_importances_, expected)
    with pytest.raises(ValueError, match="sample_weight goes with one class or number per sample"):
        kind().fit(storage(X), labels(len(X)), weight)


# ---------------------------------------------------------------------------------------------------- small data


@STORAGE
@TARGET
@KIND
def test_no_near_rows(kind, target, storage):
    """All rows are equally far: no pair counts, and there is nothing to divide by."""
    for n in (2, 3, 7):
        X = np.eye(n) / 3
        y = np.eye(n, dtype=int) if target == "labels" else np.arange(n)
        assert fit(kind, storage(X), target, y).tolist() == [0.0] * n
        gaps = np.column_stack([X, np.full(n, np.nan)])
        assert fit(kind, storage(gaps), target, y, missing="ignore").tolist() == [0.0] * (n + 1)
        assert fit(kind, storage(np.ones((n, 3))), target, y).tolist() == [0.0] * 3


@STORAGE
@TARGET
@KIND
def test_few_rows_and_one_column(kind, target, storage):
    for n in (2, 3, 4, 5, 9):
        X = np.random.default_rng(n).integers(0, 7, (n, 1)).astype(float)
        X[:2, 0] = 0, 6
        y = np.arange(2 * n).reshape(n, 2) % 3 % 2 if target == "labels" else np.arange(n) % 4
        assert_weights_equal(fit(kind, storage(X), target, y), expected_of(kind, X, target, y, exact=True))


@STORAGE
@TARGET
@KIND
def test_a_term_without_anything_to_divide_by_is_0(kind, target, storage):
    """Near rows have the same target, or one at distance 1."""
    X = np.array([[0.0, 3.0], [1.0, 4.0], [20.0, 21.0], [21.0, 20.0]])
    for y in ([0, 0, 1, 1], [0, 1, 0, 1]):
        T = np.column_stack([y, y]) if target == "labels" else y
        found = fit(kind, storage(X), target, T)
        z = X / [21.0, 18.0]
        near = np.mean([np.abs(z[0] - z[1]), np.abs(z[2] - z[3])], axis=0)
        np.testing.assert_allclose(found, near if y[0] != y[1] else -near, rtol=1e-12)


@TARGET
@KIND
def test_constant_columns_have_weight_0(kind, target):
    for storage in STORAGES:
        found = fit(kind, storage(SAMPLES["constant_column"].X), target)
        assert found[1] == found[3] == 0.0 and (found[[0, 2, 4]] != 0.0).all()


@KIND
def test_two_labels_that_are_complements_are_two_classes(kind):
    """With subset distance, hits and misses are those of two equal classes."""
    X = SAMPLES["random_dense"].X
    y = np.arange(len(X)) % 2
    T = np.column_stack([y, 1 - y])
    np.testing.assert_allclose(
        fit(kind, X, "labels", T, target_distance="subset"), kind().fit(X, y).feature_importances_, atol=1e-14
    )


@STORAGE
def test_all_rows_near_is_rrelieff_with_all_neighbours(storage):
    """A rule that takes every other row as near would be ReliefF with k = n − 1, and σ = None."""
    rng = np.random.default_rng(237)
    # Two rows far from all others and from one another: the others have all of each other as near rows.
    X = np.vstack([rng.random((20, 4)), [[50.0] * 4, [-50.0] * 4]])
    y = rng.random(22)
    y[20:] = y[:2]
    weight = np.array([1.0] * 20 + [0.0] * 2)
    found = SURF(target="regression").fit(storage(X), y, weight).feature_importances_
    k = ReliefF(19, target="regression", sigma=None).fit(storage(X), y, weight).feature_importances_
    np.testing.assert_allclose(found, k, rtol=1e-10)
    assert np.abs(found).min() > 1e-6


# --------------------------------------------------------------------------------------- blocks, threads, clothes


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 16 rows, pieces of a few: every edge is met with little data."""
    monkeypatch.setattr(row_pairs, "_BLOCK_BYTES", 1)
    monkeypatch.setattr(row_pairs, "_ROW_BYTES", 8 * 70 * 3)
    monkeypatch.setattr(row_pairs, "STEPS", 3000.0)
    monkeypatch.setattr("reliefe.distances._STEPS", 3000.0)


def seventy():
    rng = np.random.default_rng(34)
    X = rng.integers(-3, 6, size=(70, 9)) * (rng.random((70, 9)) < 0.6) * 1.0
    return X, np.where(X == 5, np.nan, X)


@STORAGE
@TARGET
@KIND
def test_blocks_change_nothing_but_the_last_digits(kind, target, storage, small_blocks):
    E = np.random.default_rng(35).normal(size=(70, 2))
    for X in seventy():
        found = fit(kind, storage(X), target, missing="ignore")
        assert_weights_equal(found, expected_of(kind, X, target, exact=True))
    X = seventy()[0]
    found = fit(kind, storage(X), target, embedding=GivenRows(E), metric="euclidean")
    assert_weights_equal(found, expected_of(kind, X, target, embedded=E, metric="euclidean"))


@pytest.mark.parametrize("blocks", [False, True])
@STORAGE
@TARGET
@KIND
def test_threads_change_no_bit(kind, target, storage, blocks, request):
    if blocks:
        request.getfixturevalue("small_blocks")
    rng = np.random.default_rng(238)
    for X in (*seventy(), rng.normal(size=(70, 90)), rng.binomial(2, 0.4, (70, 90)).astype(float)):
        one = fit(kind, storage(X), target, missing="ignore")
        for n_jobs in (2, 3, 8):
            np.testing.assert_array_equal(fit(kind, storage(X), target, missing="ignore", n_jobs=n_jobs), one)


@TARGET
@KIND
def test_copies_of_a_column_have_bit_equal_weights(kind, target):
    X = np.random.default_rng(36).normal(size=(50, 40))
    X[:, 5:35] = X[:, [2]]
    for storage in STORAGES:
        found = fit(kind, storage(X), target, n_jobs=2)
        assert len({w.hex() for w in found[[2, *range(5, 35)]].tolist()}) == 1


@TARGET
@KIND
def test_same_matrix_in_other_clothes(kind, target):
    X = seventy()[0]
    expected = fit(kind, X, target)
    for make in (np.asfortranarray, np.int8, np.float32, sp.csc_matrix, sp.coo_matrix, sp.csr_array):
        np.testing.assert_allclose(fit(kind, make(X), target), expected, rtol=0, atol=1e-12)
    order = np.random.default_rng(37).permutation(70)
    y = labels(70) if target == "labels" else numbers(70)
    np.testing.assert_allclose(fit(kind, X[order], target, y[order]), expected, rtol=0, atol=1e-12)
    if target == "numbers":
        np.testing.assert_allclose(fit(kind, X, target, 1e6 - 7.0 * y), expected, rtol=0, atol=1e-12)


# ------------------------------------------------------------------------------------- what is found, and wrappers


@KIND
def test_features_of_a_numeric_target_come_first(kind):
    rng = np.random.default_rng(239)
    X = rng.random((150, 12))
    for y, first in ((X[:, 4] + X[:, 7], {4, 7}), ((X[:, 1] - 0.5) * (X[:, 2] - 0.5), {1, 2})):
        ranker = kind(n_features_to_select=2, target="regression").fit(X, y)
        assert set(np.flatnonzero(ranker.get_support())) == first


@pytest.mark.parametrize("storage", [np.ascontiguousarray, sp.csr_matrix])
@TARGET
@KIND
def test_subsets_of_columns_are_weighed_where_they_lie(kind, target, storage):
    X = np.random.default_rng(245).normal(size=(40, 60))
    y = labels(40) if target == "labels" else numbers(40)
    ranker = VLS(kind(**TARGETS[target]), subset_size=20, n_subsets=3, random_state=0).fit(storage(X), y)
    found = [fit(kind, X[:, subset], target) for subset in draw_subsets(60, 20, 3, np.random.RandomState(0))]
    best = np.full(60, -np.inf)
    for subset, weights in zip(draw_subsets(60, 20, 3, np.random.RandomState(0)), found, strict=True):
        best[subset] = np.maximum(best[subset], weights)
    np.testing.assert_allclose(ranker.feature_importances_, best, rtol=0, atol=1e-14)


@pytest.mark.parametrize("blocks", [False, True])
@STORAGE
@TARGET
@KIND
def test_the_bar_ends_where_the_work_does(kind, target, storage, blocks, request, monkeypatch):
    if blocks:
        request.getfixturevalue("small_blocks")
    totals, steps = [], []
    bar = Phases.bar
    monkeypatch.setattr(Phases, "bar", lambda self, total: (totals.append(total), bar(self, total))[1])
    monkeypatch.setattr(Phases, "advance", lambda self, number: steps.append(number))
    for X in seventy():
        fit(kind, storage(X), target, missing="ignore")
        assert totals.pop() == sum(steps) and not totals
        steps.clear()


def test_a_wrapper_hands_labels_and_numbers_on():
    rng = np.random.default_rng(240)
    X = rng.random((80, 10))
    y = X[:, 3] - X[:, 6]
    T = np.column_stack([X[:, 3] > 0.5, X[:, 6] > 0.5]).astype(int)
    assert sorted(TuRF(MultiSURF(target="regression"), removed=2).fit(X, y).ranking_[[3, 6]]) == [1, 2]
    assert sorted(TuRF(MultiSURF(), removed=2).fit(X, T).ranking_[[3, 6]]) == [1, 2]


# -------------------------------------------------------------------------------------------------- wrong input


@KIND
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target": "numbers"}, "target must be one of"),
        ({"target": None}, "target must be one of"),
        ({"target_distance": "l2"}, "target_distance must be one of"),
        (
            {"target": "regression", "compatible": "skrebate"},
            'compatible="skrebate" goes with target="classification" only',
        ),
    ],
)
def test_wrong_parameters(kind, parameters, message):
    with pytest.raises(ValueError, match=message):
        kind(**parameters).fit(SAMPLES["random_dense"].X, SAMPLES["random_dense"].y)


@KIND
def test_wrong_targets(kind):
    X, y, _ = SAMPLES["random_dense"]
    with pytest.raises(
        ValueError, match='compatible="skrebate" takes one class per sample, but y has 5 labels'
    ):
        kind(compatible="skrebate").fit(X, labels(len(X)))
    with pytest.raises(ValueError, match="the same labels"):
        kind().fit(X, np.ones((len(X), 2)))
    with pytest.raises(ValueError, match="holds one number per sample"):
        kind(target="regression").fit(X, labels(len(X)))
    with pytest.raises(ValueError, match="ranking needs at least 2 different values"):
        kind(target="regression").fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match='SURF or MultiSURF with target="regression"'):
        kind().fit(X, y + 0.5)
    with pytest.warns(UserWarning, match="target_distance='f1' has no effect: y holds one class per sample"):
        kind(target_distance="f1").fit(X, y)
    with pytest.warns(UserWarning, match="y holds one number per sample"):
        kind(target_distance="f1", target="regression").fit(X, y)


@pytest.mark.parametrize("kind", [SURFStar, MultiSURFStar])
def test_rankers_with_far_rows_name_those_that_take_labels_and_numbers(kind):
    X, y, _ = SAMPLES["random_dense"]
    assert not {"target", "target_distance"} & set(kind().get_params())
    with pytest.raises(
        ValueError, match="but y has 5 labels; ReliefF, ReliefE, SURF and MultiSURF take label"
    ):
        kind().fit(X, labels(len(X)))
    with pytest.raises(ValueError, match='ReliefF, ReliefE, SURF or MultiSURF with target="regression"'):
        kind().fit(X, y + 0.5)


def test_tags_say_what_is_taken():
    for kind in KINDS:
        assert get_tags(kind()).classifier_tags.multi_label
        assert not get_tags(kind(compatible="skrebate")).classifier_tags.multi_label
        assert get_tags(kind(target="regression")).classifier_tags is None
    for kind in (SURFStar, MultiSURFStar):
        assert not get_tags(kind()).classifier_tags.multi_label


@KIND
def test_fitting_again_forgets_the_first_fit(kind):
    X, y, _ = SAMPLES["random_dense"]
    ranker = kind(target_distance="cosine", random_state=0).fit(X, labels(len(X)))
    assert hasattr(ranker, "target_n_components_")
    ranker.set_params(target_distance="hamming", target="regression").fit(X, y)
    fresh = clone(ranker).fit(X, y)
    assert set(vars(ranker)) == set(vars(fresh)) and "classes_" not in vars(ranker)


# ------------------------------------------------------------------------------------------------------ kernels

N = 12


def some_distances(dtype):
    half = np.triu(np.random.default_rng(241).integers(1, 9, (N, N)), 1)
    return (half + half.T).astype(dtype)


def near_lists(distances, below):
    return [twin.near_rows(distances[i].tolist(), i, below[i]) for i in range(N)]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_lists_of_near_rows(dtype):
    distances, places = some_distances(dtype), np.arange(N)
    below = np.array([0, 1, 9, 9, 5, 5, 5, 4, 3, 6, 7, 9], dtype=dtype)
    listed, counts = np.full((N, N), -1, dtype=np.int32), np.full((N, 1), -1)
    kernels.list_near(distances, places, below, 0, 5, listed, counts)
    assert (counts[5:] == -1).all() and (listed[5:] == -1).all()
    kernels.list_near(distances, places, below, 5, N, listed, counts)
    expected = near_lists(distances, below)
    assert [listed[i, : counts[i, 0]].tolist() for i in range(N)] == expected
    some = np.array([4, 9])
    kernels.list_near(distances[some], some, below[some], 0, 2, listed, counts)
    assert [listed[r, : counts[r, 0]].tolist() for r in range(2)] == [expected[i] for i in some]


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_weights_of_near_rows(dtype):
    distances, places = some_distances(dtype), np.arange(N)
    below = np.array([0, 1, 9, 9, 5, 5, 5, 4, 3, 6, 7, 9], dtype=dtype)
    lists = near_lists(distances, below)
    eighths = np.random.default_rng(242).integers(0, 9, (N, N))
    eighths[2], eighths[3] = 0, 8
    listed, counts = np.zeros((N, N), dtype=np.int32), np.empty((N, 1), dtype=np.int64)
    kernels.list_near(distances, places, below, 0, N, listed, counts)
    out = np.full((N, N), np.nan)
    kernels.label_weights(listed, counts, eighths / 8, 0, 7, out)
    assert np.isnan(out[7:]).all()
    kernels.label_weights(listed, counts, eighths / 8, 7, N, out)
    for i, listed in enumerate(lists):
        t = [Fraction(int(each), 8) for each in eighths[i, : len(listed)]]
        expected = [0.0] * N
        for m, weight in zip(listed, twin.label_weights(t), strict=True):
            expected[m] = float(weight)
        assert out[i].tolist() == pytest.approx(expected, rel=1e-14, abs=0)

    # The same where rows stand in the order of their sets.
    class_ptr, table = np.array([0, 1, 5, 9, N]), np.random.default_rng(246).integers(0, 9, (4, 4)) / 8
    table[1, 2:], table[0] = 0, 1
    sets = np.repeat(np.arange(4), np.diff(class_ptr))
    factors = np.full((4, N), np.nan)
    for lo, hi in ((0, 7), (7, N)):
        assert np.isnan(factors[:, lo:]).all()
        kernels.set_factors(distances, places, class_ptr, below, table, lo, hi, factors)
    for i, listed in enumerate(lists):
        weights = twin.label_weights([table[sets[i], sets[m]] for m in listed])
        expected = [0.0] * 4
        for m, weight in zip(listed, weights, strict=True):
            expected[sets[m]] = weight
        assert factors[:, i].tolist() == pytest.approx(expected, rel=1e-14, abs=1e-15)

    values = np.random.default_rng(243).integers(0, 9, N) / 8
    found, sums = np.full(N, -1), np.full(N, -1.0)
    kernels.response_sums(distances[3:], places[3:], below[3:], values, 0, N - 3, found, sums)
    assert (found[:3] == -1).all() and (sums[:3] == -1).all()
    kernels.response_sums(distances, places, below, values, 0, 3, found, sums)
    expected = [twin.response_sums(values.tolist(), i, lists[i]) for i in range(N)]
    assert list(zip(found.tolist(), sums.tolist(), strict=True)) == expected
    influence = np.arange(N) / 4
    out[:] = np.nan
    kernels.response_weights(distances, places, below, values, influence, 0.5, 2.0, 0, 4, out)
    assert np.isnan(out[4:]).all()
    kernels.response_weights(distances, places, below, values, influence, 0.5, 2.0, 4, N, out)
    for i, listed in enumerate(lists):
        expected = [0.0] * N
        t = [abs(values[i] - values[m]) for m in listed]
        for m, weight in zip(listed, twin.response_weights(t, influence[i], 0.5, 2.0), strict=True):
            expected[m] = weight
        assert out[i].tolist() == expected


@pytest.mark.parametrize(("first", "b"), [(0, 300), (0, 130), (100, 60), (120, 8), (128, 128), (299, 1)])
def test_lists_of_pairs(first, b):
    n = 300
    pairs = np.random.default_rng(244).integers(-2, 3, (b, n)) / 4.0
    pairs[np.arange(b), first + np.arange(b)] = 0.0
    ids, values = np.full((b, n), -1, dtype=np.int32), np.full((b, n), np.nan)
    ends = np.full((b, 3), -1)
    kernels.list_pairs(pairs, first, 0, b // 2, ids, values, ends)
    assert (ends[b // 2 :] == -1).all()
    kernels.list_pairs(pairs, first, b // 2, b, ids, values, ends)
    found = {}
    for r in range(b):
        start = 0
        for k in range(3):
            for t in range(start, ends[r, k]):
                assert ids[r, t] // 128 == k
                pair = first + r, int(ids[r, t])
                assert pair not in found and pair[::-1] not in found
                found[pair] = values[r, t]
            start = ends[r, k]
    assert found == twin.pairs_once(pairs.tolist(), first) and len(found) > b // 2
