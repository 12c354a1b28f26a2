"""Numeric targets: RReliefF against its published definition, and what users hand over."""

import naive
import naive_mixed as twin
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from covering import covered
from neighbourhoods import search_among_columns, search_in_embedding
from samples import SAMPLES, LinearMap, assert_weights_equal

from reliefe import ReliefE, ReliefF
from reliefe.kernels import mixed, regression
from reliefe.targets import Responses

STORAGES = [np.ascontiguousarray, sp.csr_matrix]


def response(n, seed):
    """Numbers with repeats, of which some neighbours have equal ones."""
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 9, n) / 4.0


def fitted(X, y, k=15, **parameters):
    return ReliefF(k, target="regression", **parameters).fit(X, y)


@covered(
    {
        "name": list(SAMPLES),
        "k,sigma": [(1, 20.0), (4, 2.0), (15, None), (500, 20.0), ("adaptive", 3)],
        "abs_mean": [False, True],
        "storage": STORAGES,
    },
    full={"name": ["classes_of_1_2_and_15"]},
)
def test_fast_is_naive(name, k, sigma, abs_mean, storage):
    X, _, exact = SAMPLES[name]
    y = response(len(X), 1)
    expected = twin.rrelieff(X, y, k, sigma, abs_mean, exact=exact)
    found = fitted(storage(X), y, k, sigma=sigma, abs_mean=abs_mean)
    assert_weights_equal(found.feature_importances_, expected)
    assert not hasattr(found, "classes_")


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("abs_mean", [False, True])
@pytest.mark.parametrize(("k", "sigma"), [(3, 2.0), (15, 20.0), ("adaptive", None)])
def test_missing_values_and_discrete_columns(k, sigma, abs_mean, storage):
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(-4, 9, (28, 3)), rng.choice([0, 3, 8, -2], (28, 3))]).astype(float)
    X[rng.random(X.shape) < 0.25] = np.nan
    X[6], X[:, 1] = np.nan, np.nan
    discrete, y = [False] * 3 + [True] * 3, response(28, 3)
    expected = twin.rrelieff(X, y, k, sigma, abs_mean, discrete, exact=True)
    found = fitted(
        storage(X), y, k, sigma=sigma, abs_mean=abs_mean, missing="ignore", discrete_features=discrete
    )
    assert_weights_equal(found.feature_importances_, expected)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("storage", STORAGES)
def test_in_an_embedding(storage, metric):
    X, _, _ = SAMPLES["random_dense"]
    y, matrix = response(36, 4), np.random.default_rng(5).normal(size=(6, 2))
    ranker = ReliefE(4, target="regression", sigma=3.0, embedding=LinearMap(matrix), metric=metric)
    ranker.set_params(sparsify_above=1.0).fit(storage(X), y)
    E = np.array(naive.normalised(naive.table(X))) @ matrix
    assert_weights_equal(ranker.feature_importances_, twin.rrelieff(X, y, 4, 3.0, embedded=E, metric=metric))


@pytest.mark.parametrize("storage", STORAGES)
def test_ranks_follow_the_distance_and_ties_the_row(storage):
    """Influence depends on the order of neighbours: nearest first, equal distances by number."""
    for name in ("ties", "symmetric_ties", "random_dense", "duplicated_rows"):
        X, _, exact = SAMPLES[name]
        n, space = len(X), naive.normalised(naive.table(X, exact))
        for search, metric in (
            (search_among_columns(storage(X), np.zeros(n, dtype=int), 1, 9), "manhattan"),
            (search_in_embedding(storage(np.array(space, dtype=float)), "manhattan", np.zeros(n, dtype=int), 1, 9),
             "manhattan"),
        ):  # fmt: skip
            search.nearest_first = True
            near, counts = np.full((n, 9), -1, dtype=np.int32), np.zeros((n, 1), dtype=np.int64)
            from reliefe._threads import Team
            from reliefe.engine import Phases

            with Team(2) as team:
                search.find(np.arange(n), near, counts, team, Phases())
            for i in range(n):
                assert near[i].tolist() == naive.nearest(i, range(n), space, 9, metric), (name, i)


def test_influence_of_neighbours():
    for sigma in (None, 20.0, 1.5):
        found = Responses(np.array([0.0, 1.0]), sigma)._influence(np.array([[5], [2]]), 5)
        np.testing.assert_allclose(found[0], twin.influences(5, sigma), rtol=1e-14)
        np.testing.assert_allclose(found[1], [*twin.influences(2, sigma), 0, 0, 0], rtol=1e-14)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("missing", [False, True])
def test_small_sigma(missing, storage):
    """The smaller it is, the more the nearest neighbour counts, down to it alone; nothing underflows."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    X = storage(X)
    alone = fitted(X, y, 1, missing="ignore").feature_importances_
    for sigma in (0.15, 0.1, 0.03, 1e-3, 1e-160, 5e-324):
        found = fitted(X, y, 6, sigma=sigma, missing="ignore").feature_importances_
        assert_weights_equal(found, alone)
    assert np.abs(fitted(X, y, 6, sigma=0.6, missing="ignore").feature_importances_ - alone).max() > 1e-6
    above, below = (
        Responses(np.array([0.0, 1.0]), sigma)._influence(np.array([[3]]), 3)[0]
        for sigma in (0.1000001, 0.0999999)
    )
    np.testing.assert_allclose(below, above, rtol=1e-2)  # exp(−300) and smaller
    assert above[1] > 0


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("abs_mean", [False, True])
def test_updates(abs_mean, storage):
    """Both updates for any lists, in pieces, against sums written out."""
    X, _, _ = SAMPLES["mostly_zeros"]
    rng = np.random.default_rng(6)
    z = naive.normalised(naive.table(X))
    Z = storage(np.array(z))
    near = np.array([rng.permutation(32)[:5] for _ in range(32)], dtype=np.int32)
    counts = rng.integers(1, 6, (32, 1))
    influence, targets = rng.random((32, 5)), rng.random((32, 5)).round(1)
    expected = np.zeros((4, 12))
    for i in range(32):
        for j in range(12):
            known = twin.counted(z, i, near[i, : counts[i, 0]], j, [False] * 12, abs_mean)
            far = abs(sum(influence[i, t] * targets[i, t] * gap for t, gap in known))
            expected[0, j] += far
            expected[1, j] += abs(sum(influence[i, t] * gap for t, gap in known)) - far
            expected[2, j] += sum(influence[i, t] * targets[i, t] for t, _ in known)
            expected[3, j] += sum(influence[i, t] * (1 - targets[i, t]) for t, _ in known)
    whole = np.array(expected[2:, :1])
    plain, of_mixed = np.zeros((4, 12)), np.zeros((4, 12))
    full = np.ones(12)
    lists = (near, np.array([0, 5]), counts, np.ones((32, 1)), np.zeros(1, dtype=bool), influence, targets)
    if sp.issparse(Z):
        for lo, hi in ((0, 20), (20, 32)):
            arrays = (Z.indptr, Z.indices, Z.data)
            regression.update_sparse(
                *arrays, np.arange(32), near, counts, influence, targets, abs_mean, lo, hi, plain
            )
            mixed.update_sparse(
                *arrays, full, np.arange(32), *lists, mixed.RESPONSES, abs_mean, lo, hi, of_mixed
            )
        of_mixed[2:] += whole
    else:
        for lo, hi in ((0, 5), (5, 12)):
            regression.update_dense(
                Z, np.arange(32), near, counts, influence, targets, abs_mean, lo, hi, plain
            )
            mixed.update_dense(Z, full, np.arange(32), *lists, mixed.RESPONSES, abs_mean, lo, hi, of_mixed)
    np.testing.assert_allclose(plain[:2], expected[:2], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(of_mixed, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("storage", STORAGES)
def test_threads_make_no_difference(storage):
    rng = np.random.default_rng(7)
    X = storage(rng.integers(0, 6, (300, 40)) * (rng.random((300, 40)) < 0.3) * 1.0)
    y = rng.normal(size=300)
    one, three = (fitted(X, y, n_jobs=jobs).feature_importances_ for jobs in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_columns_that_make_the_target_come_first():
    """A product of two columns, which no column shows alone, and a third one that adds to it."""
    rng = np.random.default_rng(8)
    X = rng.uniform(-1, 1, (600, 10))
    y = 3 * X[:, 2] * X[:, 5] + X[:, 7]
    assert set(np.argsort(fitted(X, y).ranking_)[:3]) == {2, 5, 7}


@pytest.mark.parametrize(
    "y", [[5, 5, 9, 9, 9, 5], [0, 0, 1, 1, 1, 0], [False, False, True, True, True, False]]
)
def test_two_values_with_equal_influence_are_relief_with_all_neighbours(y):
    """With targets 0 and 1, a column's weight is its mean difference to misses less that to hits."""
    X = np.random.default_rng(9).normal(size=(6, 3))
    z = np.array(naive.normalised(naive.table(X)))
    miss, hit = np.zeros(3), np.zeros(3)
    n_miss = n_hit = 0
    for i in range(6):
        for row in range(6):
            if row != i and y[i] != y[row]:
                miss, n_miss = miss + abs(z[i] - z[row]), n_miss + 1
            elif row != i:
                hit, n_hit = hit + abs(z[i] - z[row]), n_hit + 1
    assert_weights_equal(fitted(X, y, 5, sigma=None).feature_importances_, miss / n_miss - hit / n_hit)


def test_the_target_is_never_guessed():
    X, y = SAMPLES["random_dense"].X, response(36, 10)
    with pytest.raises(ValueError, match="continuous"):
        ReliefF().fit(X, y + np.linspace(0, 0.1, 36))
    classes = ReliefF().fit(X, np.arange(36) % 3)
    numbers = fitted(X, np.arange(36) % 3)
    assert (classes.feature_importances_ != numbers.feature_importances_).any()


@pytest.mark.parametrize(
    "make",
    [list, np.array, pd.Series, lambda y: np.array(y, dtype=object), lambda y: np.float32(y) * 100 - 7],
)
def test_forms_of_the_target(make):
    X, y = SAMPLES["random_dense"].X, response(36, 11)
    expected = fitted(X, y).feature_importances_
    np.testing.assert_allclose(fitted(X, make(y.tolist())).feature_importances_, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["low"] * 18 + ["high"] * 18, "takes numbers only"),
        (np.full(36, 2.5), "y is .*2.5.* in every sample"),
        (np.ones((36, 2)), "one number per sample"),
        (sp.csr_matrix(np.ones((36, 2))), "1-D array of numbers"),
        ([np.nan, *range(35)], "contains NaN: sample 0"),
        ([*range(35), np.inf], "contains infinity: sample 35"),
        (range(35), "different lengths"),
        ([None, *range(35)], "contains NaN: sample 0"),
        ([-1.7e308, 1.7e308, *range(34)], "range exceeds"),
        (None, "requires y"),
    ],
)
def test_wrong_targets_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        fitted(SAMPLES["random_dense"].X, list(y) if isinstance(y, range) else y)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"target": "numeric"}, ValueError, "target must be one of"),
        ({"target": None}, ValueError, "target must be one of"),
        ({"sigma": 0}, ValueError, "sigma must be a positive number"),
        ({"sigma": np.inf}, ValueError, "sigma must be a positive number"),
        ({"sigma": "20"}, TypeError, "sigma must be a positive number"),
        ({"sigma": True}, TypeError, "sigma must be a positive number"),
    ],
)
def test_wrong_parameters_are_named(parameters, error, message):
    for kind in (ReliefF, ReliefE):
        with pytest.raises(error, match=message):
            kind(**parameters).fit(SAMPLES["random_dense"].X, SAMPLES["random_dense"].y)


def test_a_target_distance_has_no_effect_and_says_so():
    X, y = SAMPLES["random_dense"].X, response(36, 12)
    with pytest.warns(UserWarning, match="one number per sample"):
        found = fitted(X, y, target_distance="f1")
    np.testing.assert_array_equal(found.feature_importances_, fitted(X, y).feature_importances_)


def test_all_neighbours_on_the_other_end():
    """Nothing near has a similar target, or nothing a different one: the term without a divisor is 0."""
    X = np.array([[0.0, 0.0], [0.1, 0.2], [5.0, 4.0], [5.1, 4.2]])
    far = fitted(X, [0.0, 1.0, 0.0, 1.0], 1).feature_importances_
    assert_weights_equal(far, twin.rrelieff(X, [0.0, 1.0, 0.0, 1.0], 1))
    near = fitted(X, [0.0, 0.0, 1.0, 1.0], 1).feature_importances_
    assert_weights_equal(near, twin.rrelieff(X, [0.0, 0.0, 1.0, 1.0], 1))
    assert (far > 0).all() and (near < 0).all()
