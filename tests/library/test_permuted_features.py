"""One feature permuted: weights beside refits and a plain twin, sequential p values, groups, known truth."""

import naive
import naive_mixed
import naive_near
import naive_thresholds
import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import BaseEstimator, clone

from reliefe import SURF, MultiSURF, MultiSURFStar, ReliefE, ReliefF, SURFStar, TuRF
from reliefe.inspection import permutation_test, plot_weights
from reliefe.inspection.exchange import Exchange
from reliefe.inspection.one_feature import kept_features
from reliefe.inspection.permutation import predicted_seconds
from reliefe.inspection.sequential import orders_of, with_permuted

pytestmark = pytest.mark.filterwarnings("ignore:.*larger weights than under any:UserWarning")

N = 37
FEATURES = [0, 7, 15, 30, 44]  # numbers, categories, and features that are kept as bits
STRONG = 0.9  # share of samples in which the strong feature equals the class


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def table(kind, rng):
    X = rng.normal(size=(N, 50))
    X[:, 5:10] = rng.integers(0, 4, size=(N, 5))
    X[:, 12:] = rng.binomial(2, 0.3, size=(N, 38))  # so many that they are kept as bits, and full of ties
    if "sparse" in kind:
        X[rng.random(X.shape) < 0.6] = 0.0
    if "missing" in kind:
        X[rng.random(X.shape) < 0.15] = np.nan
        X[3, :48] = np.nan
    return sparse.csr_matrix(X) if "sparse" in kind else X


def parameters_of(kind):
    given = {"missing": "ignore"} if "missing" in kind else {}
    return given | ({"discrete_features": [5, 6, 7, 8, 9, *range(20, 35)]} if "categories" in kind else {})


def check(ranker, X, y, n_orders=3):
    """Weights and counts are those of refits on X with the permuted column."""
    ranker = clone(ranker)
    fitted = clone(ranker)
    kept = kept_features(fitted, X, y, N)
    observed, largest = fitted.feature_importances_, np.abs(fitted.feature_importances_).max()
    itself = np.arange(N)[np.newaxis]
    for j in FEATURES:
        (orders,) = orders_of(j, Exchange(N), False, 5, n_orders)
        refits = np.array(
            [clone(ranker).fit(with_permuted(X, j, order), y).feature_importances_[j] for order in orders]
        )
        found, larger = kept.weights(j, orders, observed[j], 1e-12 * largest, 1e-12, N)
        np.testing.assert_allclose(found, refits, rtol=0, atol=2e-14)
        assert larger == (refits >= observed[j] - 1e-12 * np.maximum(largest, np.abs(refits))).sum()
        own, _ = kept.weights(j, itself, observed[j], 0.0, 0.0, N)
        assert abs(own[0] - observed[j]) < 2e-14


KINDS = [
    "numbers", "sparse", "categories", "missing",
    "sparse categories", "sparse missing", "missing categories", "sparse missing categories",
]  # fmt: skip
NEAR = {
    "plain": {},
    "mean": {"abs_mean": True},
    "adaptive": {"n_neighbors": "adaptive"},
    "all": {"n_neighbors": 1000},
    "some": {"n_iterations": 10, "random_state": 0},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parameters", NEAR.values(), ids=NEAR)
def test_weights_of_relieff_are_those_of_refits(kind, parameters, rng):
    ranker = ReliefF(**{"n_neighbors": 4, **parameters, **parameters_of(kind)})
    check(ranker, table(kind, rng), rng.integers(0, 3, N))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", [SURF, SURFStar, MultiSURF, MultiSURFStar])
def test_weights_by_thresholds_are_those_of_refits(kind, rule, rng):
    check(rule(**parameters_of(kind)), table(kind, rng), rng.integers(0, 3, N))


@pytest.mark.parametrize("kind", KINDS)
def test_weights_with_numbers_and_label_sets_are_those_of_refits(kind, rng):
    X, given = table(kind, rng), parameters_of(kind)
    y, T = rng.normal(size=N), (rng.random((N, 4)) < 0.3).astype(int)
    for ranker in (
        ReliefF(4, target="regression", **given),
        ReliefF(4, target="regression", sigma=None, abs_mean=True, **given),
        ReliefF("adaptive", target="regression", sigma=1e-3, **given),
        SURF(target="regression", **given),
        MultiSURF(target="regression", **given),
    ):
        check(ranker, X, y, 2)
    for ranker in (
        ReliefF(4, **given),
        ReliefF("adaptive", abs_mean=True, target_distance="f1", **given),
        SURF(**given),
        MultiSURF(target_distance="f1", **given),
    ):
        check(ranker, X, T, 2)


CATEGORIES = [False, True, False, False]
TWINS = {
    "ReliefF": (ReliefF(2), lambda X, y: naive_mixed.relieff(X, y % 3, 2, discrete=CATEGORIES)[0]),
    "MultiSURFStar": (
        MultiSURFStar(),
        lambda X, y: naive_thresholds.weights("MultiSURFStar", X, y % 3, CATEGORIES),
    ),
    "RReliefF": (
        ReliefF(3, target="regression"),
        lambda X, y: naive_mixed.rrelieff(X, y, 3, discrete=CATEGORIES),
    ),
    "SURF, numbers": (
        SURF(target="regression"),
        lambda X, y: naive_near.of_numbers("SURF", X, y, discrete=CATEGORIES),
    ),
}


@pytest.mark.parametrize(("ranker", "twin"), TWINS.values(), ids=TWINS)
@pytest.mark.parametrize("gaps", [False, True])
def test_the_kernel_is_its_twin(ranker, twin, gaps, rng):
    """Small, since it runs without the compiler too."""
    X, y = rng.normal(size=(13, 4)), np.arange(13)
    X[:, 1] = rng.integers(0, 3, 13)
    if gaps:
        X[2, [0, 1, 3]] = X[5:7, 1] = X[9, 0] = np.nan
    ranker = clone(ranker).set_params(discrete_features=CATEGORIES, missing="ignore")
    kept = kept_features(ranker, X, y if "regression" in str(ranker) else y % 3, 13)
    for j in (0, 1):
        (orders,) = orders_of(j, Exchange(13), False, 0, 2)
        found, _ = kept.weights(j, orders, 0.0, 0.0, 0.0, 3)
        expected = [twin(with_permuted(X, j, order), y)[j] for order in orders]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


# --- the test ---


def plain_p_values(X, y, k, most, seed):
    """Dense, ReliefF, everything computed anew for each permutation."""

    def weight(X, j):
        return naive.relieff(X, y, k)[0][j]

    p_values, used = [], []
    for j in range(X.shape[1]):
        rng = np.random.default_rng([int(np.random.RandomState(seed).randint(2**31 - 1)), j, 1])
        observed, larger = weight(X, j), 0
        used.append(0)
        while used[-1] < most and larger < 10:
            used[-1] += 1
            changed = X.copy()
            changed[:, j] = X[rng.permutation(len(y)), j]
            larger += weight(changed, j) >= observed - 1e-12
        p_values.append(larger / used[-1] if larger == 10 else (1 + larger) / (1 + most))
    return p_values, used


def small(seed=0, n=24, p=5):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p))
    X[:, 2] += 1.5 * y
    return X, y


def test_p_values_are_those_of_a_plain_twin():
    X, y = small()
    found = permutation_test(ReliefF(3), X, y, n_permutations=40, random_state=4)
    p_values, used = plain_p_values(X, y, 3, 40, 4)
    assert found.p_values.tolist() == p_values and found.n_used.tolist() == used
    assert 40 in used and min(used) < 30
    in_order = np.argsort(p_values)
    holm = np.minimum(1, np.maximum.accumulate(np.array(p_values)[in_order] * [5, 4, 3, 2, 1]))
    assert found.family_p_values[in_order].tolist() == holm.tolist()
    np.testing.assert_allclose(found.q_values, stats.false_discovery_control(p_values))
    assert found.permute == "feature" and found.n_permutations == 40 and found.null == "feature"
    assert found.hypothesis == "each feature is independent of the other features and the target"


class Correlation(BaseEstimator):
    """A ranker of another library: absolute correlation with the class."""

    def fit(self, X, y):
        self.feature_importances_ = np.abs(np.corrcoef(np.asarray(X, float).T, y)[-1, :-1])
        return self


@pytest.mark.parametrize(
    "ranker", [ReliefF(3), MultiSURF(), Correlation(), TuRF(ReliefF(3)), ReliefE(3, n_components=2)]
)
def test_p_values_do_not_depend_on_jobs_or_on_other_features_and_are_those_of_refits(ranker, monkeypatch):
    from reliefe.inspection import kept

    X, y = small(n=20)
    given = {"permute": "feature", "n_permutations": 30, "random_state": 1}
    if isinstance(ranker, ReliefE):
        given["n_permutations"] = 3
    one, two = (permutation_test(ranker, X, y, n_jobs=k, **given) for k in (1, 2))
    some = permutation_test(ranker, X, y, features=[3, 1], **given)
    assert np.array_equal(one.p_values, two.p_values) and np.array_equal(one.n_used, two.n_used)
    assert np.array_equal(some.p_values[[1, 3]], one.p_values[[1, 3]])
    assert np.isnan(some.p_values[[0, 2, 4]]).all() and np.isnan(some.q_values[[0, 2, 4]]).all()
    assert some.n_used.tolist() == [0, one.n_used[1], 0, one.n_used[3], 0]
    np.testing.assert_allclose(some.q_values[[1, 3]], stats.false_discovery_control(one.p_values[[1, 3]]))
    monkeypatch.setattr(kept, "_LARGEST_TABLE", 0)
    refitted = permutation_test(ranker, X, y, **given)
    assert np.array_equal(one.p_values, refitted.p_values) and np.array_equal(one.n_used, refitted.n_used)


def test_a_longer_test_begins_with_the_shorter_one():
    X, y = small()
    short, long = (permutation_test(MultiSURF(), X, y, n_permutations=k, random_state=0) for k in (60, 150))
    early = short.n_used < 60
    assert early.any() and not early.all()
    assert np.array_equal(short.p_values[early], long.p_values[early])


def test_a_constant_feature_has_p_1():
    X, y = small()
    X[:, 1] = 3.0
    found = permutation_test(ReliefF(3), X, y, n_permutations=50, random_state=0)
    assert found.p_values[1] == 1.0 and found.n_used[1] == 10


def test_features_are_given_by_name_too():
    X, y = small()
    frame = pd.DataFrame(X, columns=list("abcde"))
    found = permutation_test(ReliefF(3), frame, y, features=["c"], n_permutations=20, random_state=0)
    assert np.flatnonzero(found.n_used).tolist() == [2] and found.p_values[2] == found.q_values[2]
    shown = found.to_frame()
    assert shown.columns.tolist() == ["feature", "rank", "weight", "p", "q", "family_p", "n_used"]
    target = permutation_test(
        ReliefF(3), frame, y, features=["c"], permute="target", n_permutations=20, random_state=0
    )
    everything = permutation_test(ReliefF(3), X, y, permute="target", n_permutations=20, random_state=0)
    assert target.p_values[2] == everything.p_values[2] == target.q_values[2] == target.family_p_values[2]
    assert np.isnan(target.p_values[[0, 1, 3, 4]]).all()


@pytest.mark.parametrize("kind", ["frame", "sparse", "list"])
def test_every_kind_of_table_is_refitted_as_an_array(kind):
    X, y = small(n=20)
    other = {"frame": pd.DataFrame(X), "sparse": sparse.csr_matrix(X), "list": X.tolist()}[kind]
    ranker = TuRF(ReliefF(3))
    plain, found = (permutation_test(ranker, Z, y, n_permutations=15, random_state=0) for Z in (X, other))
    assert plain.permute == "feature" and np.array_equal(plain.n_used, found.n_used)
    order = np.random.default_rng(0).permutation(20)
    changed = with_permuted(other, 2, order)
    changed = changed.toarray() if kind == "sparse" else np.asarray(changed)
    assert np.array_equal(changed[:, 2], X[order, 2])
    assert np.array_equal(np.delete(changed, 2, axis=1), np.delete(X, 2, axis=1))


def test_what_features_do_not_have_is_not_there():
    X, y = small()
    found = permutation_test(ReliefF(3), X, y, n_permutations=99, random_state=0)
    assert found.null_mean is None and found.null_std is None and found.null_maxima is None
    with pytest.raises(ValueError, match="permutations of the target"):
        found.threshold(0.05)
    ax = plot_weights(found)
    assert len(ax.lines) == 1  # the line at 0 alone


# --- which way is taken ---


def test_auto_takes_features_within_the_budget():
    X, y = small()
    seconds = predicted_seconds(ReliefF(3), X, y, 20)
    given = {"n_permutations": 20, "random_state": 0}
    assert permutation_test(ReliefF(3), X, y, budget=seconds, **given).permute == "feature"
    found = permutation_test(ReliefF(3), X, y, budget=0.99 * seconds, **given)
    assert found.permute == "target" and found.n_used.tolist() == [20] * 5
    assert found.hypothesis == "the target is independent of all features together"
    assert permutation_test(ReliefF(3), X, y, null="pooled", **given).permute == "target"
    kept = permutation_test(ReliefF(3), X, y, keep_null_weights=True, **given)
    assert kept.permute == "target" and kept.null_weights.shape == (20, 5)


def test_the_prediction_grows_with_sizes_and_leaves_half_a_million_features_to_the_target():
    y = np.arange(200) % 2
    X = np.zeros((200, 500))
    base = predicted_seconds(ReliefF(), X, y, 1000)
    assert base == predicted_seconds(ReliefF(), X.copy(), y, 1000)
    assert base < predicted_seconds(ReliefF(), np.zeros((200, 1000)), y, 1000)
    assert base < predicted_seconds(ReliefF(), X, y, 5000)
    assert base < predicted_seconds(ReliefF(), np.zeros((400, 500)), np.arange(400) % 2, 1000)
    assert base < predicted_seconds(TuRF(ReliefF()), X, y, 1000)
    variants = sparse.csr_matrix((300, 500_000))
    assert predicted_seconds(MultiSURF(), variants, np.arange(300) % 2, 1000) > 600
    many = np.zeros((20_000, 30))
    assert predicted_seconds(ReliefF(), many, np.arange(20_000) % 2, 1000) > 600


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"permute": "features"}, 'permute must be "auto", "feature" or "target"'),
        ({"permute": "feature", "null": "pooled"}, 'null="pooled" is for permuted targets'),
        ({"permute": "feature", "keep_null_weights": True}, "keep_null_weights is for permuted targets"),
        ({"budget": -1}, "budget must be a number of seconds"),
        ({"budget": "60"}, "budget must be a number of seconds"),
        ({"features": [0, 5]}, "X has 5 features, numbered from 0; there is no 5"),
        ({"features": ["a"]}, "X has no feature named 'a'"),
        ({"features": []}, "features must be numbers or names"),
        ({"groups": [0, 1]}, "groups has 2 values, but X has 24 samples"),
        ({"groups": [0.0, np.nan] * 12}, "groups is missing for sample 1"),
        ({"groups": ["a", None] * 12}, "groups is missing for sample 1"),
        ({"groups": [7] * 24}, "groups has a single group"),
        ({"groups": [0] * 23 + [1]}, "no two groups have the same size"),
        ({"groups": [[0, 1]] * 24}, "groups must be one value for each sample"),
    ],
)
def test_wrong_parameters_are_named(given, message):
    X, y = small()
    with pytest.raises(ValueError, match=message):
        permutation_test(ReliefF(3), X, y, n_permutations=5, **given)


# --- groups ---


def test_groups_of_the_same_size_are_exchanged_as_wholes():
    groups = np.array(["a", "b", "a", "c", "b", "c", "c", "d"])  # sizes 2, 2, 3, 1
    exchange = Exchange(8, groups)
    orders = {tuple(exchange.order(np.random.default_rng(seed)).tolist()) for seed in range(30)}
    assert orders == {(0, 1, 2, 3, 4, 5, 6, 7), (1, 0, 4, 3, 2, 5, 6, 7)}


def test_what_is_constant_within_groups_is_permuted_among_all_of_them():
    groups = np.array([5, 9, 5, 7, 9, 9])
    exchange = Exchange(6, groups)
    values = np.array([0.5, np.nan, 0.5, 2.0, np.nan, np.nan])
    assert exchange.is_constant(values) and not exchange.is_constant(np.arange(6))
    assert exchange.is_constant(sparse.csr_matrix(np.array([[1, 0]] * 6)))
    assert not exchange.is_constant(sparse.csr_matrix(np.eye(6)))
    found = set()
    for seed in range(60):
        permuted = values[exchange.order(np.random.default_rng(seed), constant=True)]
        assert exchange.is_constant(permuted)
        found.add(tuple(np.nan_to_num(permuted[[0, 1, 3]], nan=-1.0)))
    assert len(found) == 6  # all orders of three groups


def test_without_groups_all_orders_are_drawn():
    exchange = Exchange(3)
    found = {tuple(exchange.order(np.random.default_rng(seed)).tolist()) for seed in range(60)}
    assert len(found) == 6 and not exchange.is_constant(np.zeros(3))


# --- known truth ---


def most(share, n):
    """Number of n independent events of this probability that is exceeded with probability 0.01 at most."""
    return stats.binom.ppf(0.99, n, share)


def beside_a_strong_one(seed, n, n_noise):
    rng = np.random.default_rng([43, seed])
    y = np.arange(n) % 2
    strong = np.where(rng.random(n) < STRONG, y, 1 - y)
    return np.column_stack([strong, rng.normal(size=(n, n_noise))]), y


def test_noise_beside_a_strong_feature_has_a_small_p_as_seldom_as_promised():
    """The target permuted says that noise is relevant, in more than half of the cases."""
    small_p = {"feature": 0, "target": 0}
    for seed in range(30):
        X, y = beside_a_strong_one(seed, 80, 2)
        for permute in small_p:
            found = permutation_test(ReliefF(10), X, y, permute=permute, n_permutations=99, random_state=seed)
            small_p[permute] += int(found.p_values[1] <= 0.05)  # one feature of each table: independent
    assert small_p["feature"] <= most(0.05, 30)
    assert small_p["target"] > 15


def test_an_interaction_is_found():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, size=(120, 8)).astype(float)
    y = X[:, 0].astype(int) ^ X[:, 1].astype(int)
    found = permutation_test(ReliefF(10), X, y, n_permutations=199, random_state=0)
    assert np.flatnonzero(found.q_values <= 0.1).tolist() == [0, 1]


def test_samples_of_one_patient_are_no_evidence_where_groups_are_given():
    """Twenty patients with five samples each: effects of the patient, none of the class."""
    patients = np.repeat(np.arange(20), 5)
    small_p = {(permute, given): 0 for permute in ("feature", "target") for given in (False, True)}
    for seed in range(25):
        rng = np.random.default_rng([45, seed])
        y = rng.permutation(np.arange(20) % 2)[patients]
        X = rng.normal(size=(20, 6))[patients] + 0.3 * rng.normal(size=(100, 6))
        for permute, given in small_p:
            found = permutation_test(
                ReliefF(10),
                X,
                y,
                permute=permute,
                groups=patients if given else None,
                features=[0],
                n_permutations=99,
                random_state=seed,
            )
            small_p[permute, given] += int(found.p_values[0] <= 0.05)
    for permute in ("feature", "target"):
        assert small_p[permute, True] <= most(0.05, 25)
        assert small_p[permute, False] > 10
