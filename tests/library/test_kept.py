"""Weights under permutation from kept distances: the kernels beside their twins, the numbers beside refits."""

import naive_thresholds
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from reliefe import SURF, MultiSURF, MultiSURFStar, ReliefE, ReliefF, SURFStar, TuRF
from reliefe.inspection import permutation_test
from reliefe.inspection.kept import kept_weights
from reliefe.inspection.permutation import permutation
from reliefe.kernels import pairs as kernels

pytestmark = pytest.mark.filterwarnings("ignore:.*larger weights than under any:UserWarning")

N = 41
RULES = [SURF, SURFStar, MultiSURF, MultiSURFStar]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def table(kind, rng):
    if kind == "sparse":
        return sparse.csr_matrix(np.where(rng.random((N, 30)) < 0.2, rng.normal(size=(N, 30)), 0.0))
    X = rng.normal(size=(N, 30))
    G = rng.binomial(2, 0.3, size=(N, 60)).astype(
        np.int8
    )  # so many that they are kept as bits, and full of ties
    return {"numbers": X, "genotypes": G, "both": np.hstack([X, G])}[kind]


def refitted(ranker, X, target, n_permutations, seed=3):
    seed = int(np.random.RandomState(seed).randint(2**31 - 1))
    orders = [permutation(seed, number, target.shape[0]) for number in range(n_permutations)]
    return np.stack([clone(ranker).fit(X, target[order]).feature_importances_ for order in orders])


def check(ranker, X, target, n_permutations=5):
    assert kept_weights(clone(ranker), X, target, target.shape[0]) is not None
    given = {"n_permutations": n_permutations, "random_state": 3, "keep_null_weights": True}
    found = permutation_test(ranker, X, target, permute="target", **given)
    expected = refitted(ranker, X, target, n_permutations)
    assert np.array_equal(found.weights, clone(ranker).fit(X, target).feature_importances_)
    np.testing.assert_allclose(found.null_weights, expected, rtol=0, atol=2e-14 * np.abs(expected).max())
    at_least = (expected >= found.weights - 1e-12 * np.abs(expected).max()).sum(axis=0)
    assert found.p_values.tolist() == ((1 + at_least) / (1 + n_permutations)).tolist()
    return found.null_weights, expected


NEAR = {
    "plain": {},
    "mean": {"abs_mean": True},
    "adaptive": {"n_neighbors": "adaptive"},
    "all": {"n_neighbors": 1000},
    "some": {"n_iterations": 10, "random_state": 0},
}


@pytest.mark.parametrize("kind", ["numbers", "genotypes", "both", "sparse"])
@pytest.mark.parametrize("parameters", NEAR.values(), ids=NEAR)
def test_relieff(kind, parameters, rng):
    check(ReliefF(**{"n_neighbors": 4, **parameters}), table(kind, rng), rng.integers(0, 3, N))


@pytest.mark.parametrize("kind", ["numbers", "genotypes", "both", "sparse"])
@pytest.mark.parametrize("rule", RULES)
def test_thresholds(kind, rule, rng):
    check(rule(), table(kind, rng), rng.integers(0, 3, N))


@pytest.mark.parametrize("kind", ["numbers", "genotypes", "sparse"])
@pytest.mark.parametrize("sigma", [20.0, None, 1e-3])
def test_numeric_targets(kind, sigma, rng):
    check(ReliefF(4, target="regression", sigma=sigma), table(kind, rng), rng.normal(size=N))


@pytest.mark.parametrize("kind", ["numbers", "genotypes", "sparse"])
@pytest.mark.parametrize("distance", ["f1", "accuracy", "subset", "hamming"])
def test_label_sets(kind, distance, rng):
    T = (rng.random((N, 4)) < 0.3).astype(int)  # some are empty, and some equal: all hits, or all misses
    check(ReliefF(2, target_distance=distance), table(kind, rng), T)


@pytest.mark.parametrize("kind", ["numbers", "genotypes", "both", "sparse"])
@pytest.mark.parametrize("rule", [SURF, MultiSURF])
def test_label_sets_and_numeric_targets_by_thresholds(rule, kind, rng):
    X = table(kind, rng)
    T = (rng.random((N, 4)) < 0.3).astype(int)
    check(rule(), X, T)
    check(rule(target_distance="f1"), X, sparse.csr_matrix(T))
    check(rule(target="regression"), X, rng.normal(size=N))


@pytest.mark.parametrize("rule", [SURF, MultiSURF])
def test_thresholds_with_missing_values_and_other_targets(rule, rng):
    X = table("both", rng).astype(np.float64)
    T = (rng.random((N, 4)) < 0.3).astype(int)
    categories = {"discrete_features": list(range(28, 50))}
    check(rule(target="regression", **categories), X, rng.normal(size=N))
    X[rng.random(X.shape) < 0.1] = np.nan
    for ranker, y in ((rule(target="regression"), rng.normal(size=N)), (rule(), T)):
        found, expected = check(ranker.set_params(missing="ignore", **categories), X, y)
        assert np.array_equal(found, expected)  # weighed as in a fit


@pytest.mark.parametrize(
    "ranker", [ReliefF(4), SURF(), MultiSURFStar()], ids=lambda each: type(each).__name__
)
def test_missing_values_and_categories(ranker, rng):
    X = table("both", rng).astype(np.float64)
    y = rng.integers(0, 2, N)
    categories = clone(ranker).set_params(discrete_features=list(range(28, 50)))
    check(categories, X, y)
    X[rng.random(X.shape) < 0.1] = np.nan
    found, expected = check(categories.set_params(missing="ignore"), X, y)
    assert np.array_equal(found, expected)  # weighed as in a fit


def test_weights_are_the_same_bits_where_no_sum_is_rounded(rng):
    """Differences are halves, and means of neighbours have divisors that are powers of two."""
    X = rng.integers(0, 3, size=(32, 40))
    X[0], X[1] = 0, 2
    found, expected = check(ReliefF(4), X, np.arange(32) % 2)
    assert np.array_equal(found, expected) and len(np.unique(found)) > 20


def test_numbers_do_not_depend_on_jobs_or_on_how_many_are_worked_on_together(rng, monkeypatch):
    from reliefe.inspection import kept

    X, y = table("both", rng), rng.integers(0, 3, N)
    orders = [permutation(0, number, N) for number in range(30)]
    for ranker in (ReliefF(4), ReliefF(4, abs_mean=True), MultiSURF()):
        fitted = kept_weights(clone(ranker), X, y, N)
        one = np.vstack(list(fitted.weights(orders, None)))
        assert np.array_equal(one, np.vstack(list(fitted.weights(orders, 3))))
        with monkeypatch.context() as patch:
            patch.setattr(kept, "_LISTED", 1)
            parts = list(fitted.weights(orders, None))
        assert np.array_equal(one, np.vstack(parts))
        if fitted._by_pairs:
            assert [len(part) for part in parts] == [8, 8, 8, 6]


@pytest.mark.parametrize(
    "ranker",
    [
        ReliefE(4, n_components=2),
        TuRF(ReliefF(4)),
        ReliefF(4, compatible="skrebate"),
        MultiSURF(embedding="umap"),
        ReliefF(4, target_distance="cosine"),
        SURF(target_distance="cosine"),
    ],
    ids=["ReliefE", "TuRF", "skrebate", "embedding", "embedded targets", "by threshold"],
)
def test_what_depends_on_the_target_is_fitted_anew(ranker, rng):
    X, T = rng.normal(size=(N, 5)), (rng.random((N, 3)) < 0.5).astype(int)
    y = T if getattr(ranker, "target_distance", "") == "cosine" else T[:, 0]
    assert kept_weights(ranker, X, y, N) is None
    assert not hasattr(ranker, "feature_importances_")


def test_tables_of_distances_have_a_limit(rng, monkeypatch):
    from reliefe.inspection import kept

    X, y = table("numbers", rng), rng.integers(0, 2, N)
    monkeypatch.setattr(kept, "_LARGEST_TABLE", 8 * N * N - 1)
    assert kept_weights(ReliefF(4), X, y, N) is None


# --- kernels ---


def directed_pairs(n, share, rng):
    return np.where(rng.random((n, n)) < share, rng.normal(size=(n, n)), 0.0) * (1 - np.eye(n))


@pytest.mark.parametrize(("n", "share"), [(2, 1.0), (17, 0.0), (17, 1.0), (40, 0.2)])
def test_pairs_are_listed_in_order_with_both_directions(n, share, rng):
    directed = directed_pairs(n, share, rng)
    n_pairs = n * (n - 1) // 2
    pairs, values = np.empty(n_pairs + 1, dtype=np.int32), np.empty(n_pairs + 1)
    block_ptr = np.empty(-(-n_pairs // kernels.PAIRS) + 1, dtype=np.int64)
    m = kernels.list_pairs(directed, pairs, values, block_ptr)
    every = [(i, k) for i in range(n) for k in range(i + 1, n)]
    expected = [(e, directed[i, k] + directed[k, i]) for e, (i, k) in enumerate(every)]
    expected = [(e, value) for e, value in expected if value != 0.0]
    assert list(zip(pairs[:m].tolist(), values[:m].tolist(), strict=True)) == expected
    blocks = [sum(e < kernels.PAIRS * block for e, _ in expected) for block in range(len(block_ptr))]
    assert block_ptr.tolist() == blocks


@pytest.mark.parametrize(("n", "width", "share"), [(2, 1, 1.0), (30, 64, 0.1), (40, 65, 0.3), (17, 3, 1.0)])
def test_weighted_differences(n, width, share, rng):
    Z = rng.random((n, width))
    Z[:, -1] = rng.integers(0, 4, n)  # codes of categories
    first, second = (each.astype(np.int32) for each in np.triu_indices(n, 1))
    every = [directed_pairs(n, share, rng) for _ in range(3)]
    lists, begins = [], 0
    for directed in every:
        pairs, values = np.empty(len(first) + 1, dtype=np.int32), np.empty(len(first) + 1)
        block_ptr = np.empty(-(-len(first) // kernels.PAIRS) + 1, dtype=np.int64)
        m = kernels.list_pairs(directed, pairs, values, block_ptr)
        lists.append((pairs[:m], values[:m], block_ptr + begins))
        begins += m
    out = np.ones((3, width))
    arrays = (np.concatenate([each[part] for each in lists]) for part in (0, 1))
    kernels.add_pairs(Z, first, second, *arrays, np.stack([each[2] for each in lists]), out)
    for directed, found in zip(every, out, strict=True):
        weighted = {(i, k): directed[i, k] for i in range(n) for k in range(n) if directed[i, k] != 0.0}
        expected = naive_thresholds.weighted_differences(Z, weighted)
        differing = {pair: value for pair, value in weighted.items() if Z[pair[0], -1] != Z[pair[1], -1]}
        expected[-1] = sum(differing.values())
        np.testing.assert_allclose(found - 1.0, expected, rtol=0, atol=1e-11)


def test_coefficients_of_neighbours_find_their_places():
    near = np.array([[4, 2, 9, 1, 9], [0, 9, 9, 3, 4]], dtype=np.int32)
    counts = np.array([[2, 1], [1, 2]])
    coefficients = np.arange(1.0, 11.0).reshape(2, 5)
    directed = np.zeros((5, 5))
    kernels.spread_neighbours(np.array([0, 2]), near, np.array([0, 3, 5]), counts, coefficients, directed)
    expected = np.zeros((5, 5))
    expected[0, [4, 2, 1]] = [1, 2, 4]
    expected[2, [0, 3, 4]] = [6, 9, 10]
    assert np.array_equal(directed, expected)
