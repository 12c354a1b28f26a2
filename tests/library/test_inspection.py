"""Permutation tests and stability: numbers beside slow twins, the same for any number of jobs, errors."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier

import reliefe
from reliefe import SURF, MultiSURF, ReliefE, ReliefF, TuRF
from reliefe.inspection import permutation_test, selection_stability, stability
from reliefe.inspection.permutation import permutation
from reliefe.inspection.subsamples import _strata, subsample
from reliefe.ranking import TIE

pytestmark = pytest.mark.filterwarnings("ignore:.*larger weights than under any:UserWarning")


def table(n=40, p=12, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, p))
    X[:, 3] += 2 * y
    return X, y


GROUPS = np.arange(40) // 2


class Correlation(BaseEstimator):
    """A ranker of another library: absolute correlation with the class; draws a number for each fit."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        X, y = np.asarray(X), np.asarray(y, dtype=float)
        self.feature_importances_ = np.abs(np.corrcoef(X.T, y)[-1, :-1])
        self.drawn_ = np.random.RandomState(self.random_state).random_sample()
        self.feature_importances_ += 1e-3 * self.drawn_
        return self


def naive_test(ranker, X, y, n_permutations, seed):
    """Fit everything anew and count, one weight after the other."""
    random_state = np.random.RandomState(seed)
    seed = int(random_state.randint(2**31 - 1))
    X, y = np.asarray(X), np.asarray(y)
    weights = clone(ranker).fit(X, y).feature_importances_
    null = [
        clone(ranker).fit(X, y[permutation(seed, b, len(y))]).feature_importances_
        for b in range(n_permutations)
    ]
    p_values, family = [], []
    for j, weight in enumerate(weights):
        counts = [0, 0]
        for each in null:
            slack = TIE * max(np.abs(weights).max(), np.abs(each).max())
            counts[0] += each[j] >= weight - slack
            counts[1] += max(each) >= weight - slack
        p_values.append((1 + counts[0]) / (1 + n_permutations))
        family.append((1 + counts[1]) / (1 + n_permutations))
    return weights, np.array(null), np.array(p_values), np.array(family)


def naive_q(p_values):
    """Smallest level of Benjamini and Hochberg's procedure at which each hypothesis is rejected."""
    m = len(p_values)
    return [
        min(1.0, min(m * p / sum(other <= p for other in p_values) for p in p_values if p >= mine))
        for mine in p_values
    ]


# --- permutation tests ---


@pytest.mark.parametrize(
    "ranker",
    [ReliefF(3), MultiSURF(), TuRF(ReliefF(3), removed=0.3), RandomForestClassifier(5, random_state=0)],
    ids=lambda each: type(each).__name__,
)
def test_counts_are_those_of_refits(ranker):
    X, y = table()
    found = permutation_test(
        ranker, X, y, permute="target", n_permutations=39, random_state=5, keep_null_weights=True
    )
    weights, null, p_values, family = naive_test(ranker, X, y, 39, 5)
    assert np.array_equal(found.weights, weights)
    np.testing.assert_allclose(found.null_weights, null, rtol=0, atol=1e-12 * np.abs(null).max())
    assert found.p_values.tolist() == p_values.tolist()
    assert found.family_p_values.tolist() == family.tolist()
    np.testing.assert_allclose(found.q_values, naive_q(p_values), rtol=1e-12)
    np.testing.assert_allclose(found.null_mean, null.mean(axis=0), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.null_std, null.std(axis=0, ddof=1), rtol=1e-9)
    np.testing.assert_allclose(found.null_maxima, null.max(axis=1), rtol=1e-12)


def test_many_permutations_are_counted_in_batches_as_one():
    X, y = table(20, 5)
    found = permutation_test(Correlation(0), X, y, permute="target", n_permutations=150, random_state=1)
    _, null, p_values, _ = naive_test(Correlation(0), X, y, 150, 1)
    assert found.p_values.tolist() == p_values.tolist() and found.null_weights is None
    np.testing.assert_allclose(found.null_std, null.std(axis=0, ddof=1), rtol=1e-9)


def test_the_pooled_null_is_of_standardised_weights():
    X, y = table()
    X[:, 7] = 1.0  # constant: its weight never varies
    found = permutation_test(
        ReliefF(3), X, y, permute="target", n_permutations=30, null="pooled", random_state=2
    )
    weights, null, _, _ = naive_test(ReliefF(3), X, y, 30, 2)
    both = np.vstack([null, weights])
    some = np.arange(12) != 7
    z = (both[:, some] - both[:, some].mean(axis=0)) / both[:, some].std(axis=0, ddof=1)
    expected = [(1 + sum(value >= own - 1e-12 for value in z[:-1].ravel())) / (1 + 30 * 11) for own in z[-1]]
    assert found.p_values[some].tolist() == expected
    assert found.p_values[7] == 1.0 and found.null == "pooled" and found.null_weights is None


@pytest.mark.parametrize("ranker", [ReliefF(3), Correlation()], ids=["ours", "another"])
def test_numbers_do_not_depend_on_the_number_of_jobs(ranker):
    X, y = table()
    one, two = (
        permutation_test(ranker, X, y, permute="target", n_permutations=20, random_state=0, n_jobs=k)
        for k in (1, 2)
    )
    for name in (
        "weights",
        "p_values",
        "q_values",
        "family_p_values",
        "null_mean",
        "null_std",
        "null_maxima",
    ):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


def test_a_longer_test_begins_with_the_shorter_one():
    X, y = table()
    short, long = (
        permutation_test(ReliefF(3), X, y, permute="target", n_permutations=k, random_state=0) for k in (5, 9)
    )
    assert np.array_equal(short.null_maxima, long.null_maxima[:5])


def test_all_fits_have_one_seed():
    """A random number that differs from fit to fit would be part of the weights."""
    X, y = table()
    found = permutation_test(
        Correlation(), X, y, permute="target", n_permutations=9, random_state=0, keep_null_weights=True
    )
    same = np.abs(np.corrcoef(X.T, y)[-1, :-1])
    added = found.weights - same
    assert np.ptp(added) < 1e-12 and added[0] > 0
    y0 = y[permutation(int(np.random.RandomState(0).randint(2**31 - 1)), 0, 40)]
    first = np.abs(np.corrcoef(X.T, y0)[-1, :-1])
    np.testing.assert_allclose(found.null_weights[0] - first, added, atol=1e-12)


def test_label_sets_are_permuted_as_wholes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    T = (rng.random((30, 3)) < 0.5).astype(int)
    dense, packed = (
        permutation_test(
            ReliefF(3), X, each, permute="target", n_permutations=12, random_state=0, keep_null_weights=True
        )
        for each in (T, sparse.csr_matrix(T))
    )
    _, null, p_values, _ = naive_test(ReliefF(3), X, T, 12, 0)
    np.testing.assert_allclose(dense.null_weights, null, atol=1e-13)
    assert dense.p_values.tolist() == p_values.tolist() == packed.p_values.tolist()


def test_threshold_is_where_the_family_p_value_turns():
    X, y = table()
    found = permutation_test(ReliefF(3), X, y, permute="target", n_permutations=99, random_state=0)
    for level in (0.05, 0.2):
        limit = found.threshold(level)
        assert np.array_equal(found.weights > limit, found.family_p_values <= level)
        assert (
            (1 + (found.null_maxima > limit).sum()) / 100
            <= level
            < (2 + (found.null_maxima > limit).sum()) / 100
        )
    assert found.threshold(0.005) == np.inf
    with pytest.raises(ValueError, match="between 0 and 1"):
        found.threshold(1.5)


def test_frame_has_names_best_first():
    X, y = table()
    X = pd.DataFrame(X).add_prefix("gene ")
    found = permutation_test(ReliefF(3), X, y, permute="target", n_permutations=19, random_state=0)
    frame = found.to_frame()
    names = ["feature", "rank", "weight", "p", "q", "family_p", "null_mean", "null_std"]
    assert frame.columns.tolist() == names
    assert frame["feature"][0] == "gene 3" and frame["rank"].tolist() == list(range(1, 13))
    line = frame.set_index("feature").loc["gene 5"]
    assert (
        line["weight"] == found.weights[5]
        and line["p"] == found.p_values[5]
        and line["q"] == found.q_values[5]
    )
    bare = permutation_test(ReliefF(3), X.to_numpy(), y, permute="target", n_permutations=19, random_state=0)
    assert bare.feature_names is None and bare.to_frame()["feature"][0] == 3


def test_too_few_permutations_are_said_to_be():
    X, y = table(40, 60)
    X[:, 3] += 4 * y
    with pytest.warns(UserWarning, match=r"n_permutations=\d+ or more here, or null=.pooled."):
        permutation_test(ReliefF(3), X, y, permute="target", n_permutations=100, random_state=0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_permutations": 0}, "n_permutations must be a whole number of at least 1, not 0"),
        ({"n_permutations": 2.0}, "n_permutations must be a whole number"),
        ({"null": "all"}, 'null must be "feature" or "pooled"'),
        ({"y": np.arange(39) % 2}, "X has 40 samples, y has 39"),
        ({"y": [np.nan] * 40}, "y contains NaN: sample 0"),
        ({"ranker": clone(RandomForestClassifier()).set_params(n_estimators=0)}, "n_estimators"),
    ],
)
def test_wrong_parameters_are_named(given, message):
    X, y = table()
    given = {"ranker": ReliefF(3), "X": X, "y": y, **given}
    with pytest.raises(ValueError, match=message):
        permutation_test(given.pop("ranker"), given.pop("X"), given.pop("y"), **given)


def test_a_ranker_without_weights_is_named():
    class Silent(Correlation):
        def fit(self, X, y):
            return self

    with pytest.raises(ValueError, match="permutation_test: Silent gave no feature_importances_"):
        permutation_test(Silent(), *table(), permute="target", n_permutations=3)


@pytest.mark.parametrize("ranker", [ReliefF(3), SURF(), TuRF(SURF())], ids=lambda each: type(each).__name__)
def test_warnings_of_a_fit_name_the_line_that_fits(ranker):
    X, y = table()
    with pytest.warns(UserWarning, match="more than the 12 features") as caught:
        ranker.set_params(n_features_to_select=13).fit(X, y)
    assert [each.filename for each in caught] == [__file__]


# --- stability ---


def naive_frequency(ranker, X, y, n_features, n_subsamples, fraction, seed, strata):
    seed = int(np.random.RandomState(seed).randint(2**31 - 1))
    chosen = np.zeros((n_subsamples, X.shape[1]), dtype=bool)
    for b in range(n_subsamples):
        rows = subsample(seed, b, strata, fraction)
        order = np.argsort(-clone(ranker).fit(X[rows], y[rows]).feature_importances_, kind="stable")
        chosen[b, order[:n_features]] = True
    return chosen


def test_frequencies_are_those_of_refits():
    X, y = table(60, 10, 3)
    found = stability(ReliefF(3), X, y, n_features=2, n_subsamples=15, fraction=0.4, random_state=3)
    strata = [np.flatnonzero(y == q) for q in range(3)]
    chosen = naive_frequency(ReliefF(3), X, y, 2, 15, 0.4, 3, strata)
    assert np.array_equal(found.frequency, chosen.mean(axis=0)) and found.subsample_size == 24
    own = selection_stability(chosen)
    assert (found.stability, found.lower, found.upper) == tuple(own)
    assert np.array_equal(found.ranks <= 2, chosen)
    assert np.array_equal(found.mean_rank, found.ranks.mean(axis=0))
    frame = found.to_frame()
    assert frame.columns.tolist() == ["feature", "frequency", "mean_rank", "mean_weight"]
    assert frame["feature"][0] == 3 and (np.diff(frame["frequency"]) <= 0).all()


def test_every_class_keeps_its_share():
    y = np.repeat([0, 1, 2], [30, 10, 1])
    strata = [np.flatnonzero(y == q) for q in range(3)]
    drawn = [subsample(7, number, strata, 0.5) for number in range(200)]
    assert all(np.bincount(y[rows]).tolist() == [15, 5, 1] for rows in drawn)
    assert all((np.diff(rows) > 0).all() for rows in drawn)
    # Each sample of a class is as likely as any other: 200 draws of a half, within four standard deviations.
    often = np.bincount(np.concatenate(drawn), minlength=41)[:40]
    assert np.abs(often - 100).max() < 4 * np.sqrt(50)


def test_numbers_and_label_sets_are_not_stratified():
    X, _ = table(30, 6)
    y = np.repeat(np.arange(15.0), 2)
    found = stability(
        ReliefF(3, target="regression"), X, y, n_features=2, n_subsamples=3, fraction=0.3, random_state=0
    )
    assert found.subsample_size == 9
    nested = stability(
        TuRF(ReliefF(3, target="regression")),
        X,
        y,
        n_features=2,
        n_subsamples=3,
        fraction=0.3,
        random_state=0,
    )
    assert nested.subsample_size == 9
    T = np.random.default_rng(0).random((30, 3)) < 0.5
    assert stability(ReliefF(3), X, T, n_features=2, n_subsamples=3, random_state=0).subsample_size == 15
    with pytest.raises(ValueError, match="one class per sample"):
        stability(ReliefF(3), X, T, n_features=2, n_subsamples=3, stratify=True)


@pytest.mark.parametrize("form", ["frame", "csr", "coo", "list"])
def test_any_form_of_table(form):
    X, y = table(30, 6)
    expected = stability(ReliefF(3), X, y, n_features=2, n_subsamples=4, random_state=0)
    given = {
        "frame": pd.DataFrame(X).add_prefix("f"),
        "csr": sparse.csr_matrix(X),
        "coo": sparse.coo_matrix(X),
        "list": X.tolist(),
    }[form]
    found = stability(
        ReliefF(3), given, pd.Series(y).map({0: "a", 1: "b"}), n_features=2, n_subsamples=4, random_state=0
    )
    assert np.array_equal(found.ranks, expected.ranks)
    assert (found.feature_names is not None) == (form == "frame")


def test_ties_at_the_cut_are_counted():
    X, y = table(30, 6)
    X[:, 4:] = 0.0
    found = stability(ReliefF(3), X, y, n_features=0.5, n_subsamples=4, random_state=0)
    assert found.n_features == 3
    X[:, 1:] = X[:, :1]
    assert stability(ReliefF(3), X, y, n_features=3, n_subsamples=4, random_state=0).n_tied == 4


def test_stability_does_not_depend_on_the_number_of_jobs():
    X, y = table()
    one, two = (
        stability(Correlation(), X, y, n_features=3, n_subsamples=6, random_state=0, n_jobs=k) for k in (1, 2)
    )
    assert np.array_equal(one.ranks, two.ranks) and np.array_equal(one.mean_weight, two.mean_weight)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_features": 0}, "n_features must be a whole number of at least 1, not 0"),
        ({"n_features": 1.5}, "n_features, as a share, must lie between 0 and 1"),
        ({"n_features": 13}, "n_features=13 is more than the 12 features"),
        ({"n_subsamples": 1}, "n_subsamples must be a whole number of at least 2"),
        ({"fraction": 1.0}, "fraction must lie between 0 and 1"),
        ({"confidence": 0}, "confidence must lie between 0 and 1"),
        ({"stratify": "yes"}, "stratify must be True, False"),
        ({"fraction": 0.01, "stratify": False}, "is 1 in a subsample"),
        ({"fraction": 0.999}, "leaves none out of a subsample"),
        (
            {"groups": np.arange(40) % 2},
            "of the groups leaves none out of a subsample; lower it, or use stratify=False",
        ),
        ({"groups": GROUPS[1:]}, "groups has 39 values, but X has 40 samples"),
        ({"groups": np.where(GROUPS == 3, np.nan, GROUPS)}, "groups is missing for sample 3"),
        ({"groups": [None, *GROUPS[1:]]}, "groups is missing for sample 0"),
        ({"groups": pd.Series(["a", pd.NA] * 20)}, "groups is missing for sample 1"),
        ({"groups": GROUPS * 0}, "of the groups leaves none out"),
    ],
)
def test_wrong_parameters_of_stability_are_named(given, message):
    X, y = table()
    with pytest.raises(ValueError, match=message):
        stability(ReliefF(3), X, y, **{"n_features": 3, "n_subsamples": 3, **given})


def test_samples_of_a_group_stay_together():
    X, y = table(60, 6)
    sizes = np.tile([1, 2, 3], 10)
    of_group = np.repeat(np.arange(30), sizes)
    names = np.array([f"patient {g}" for g in of_group], dtype=object)
    X[:, 5] = of_group  # a ranker that sees which groups it gets
    seen = []

    class Records(Correlation):
        def fit(self, X, y):
            seen.append(X[:, 5].astype(int))
            return super().fit(X, y)

    own = (np.arange(30) % 2)[of_group]
    found = stability(Records(), X, own, n_features=2, n_subsamples=40, groups=names, random_state=0)
    for groups in seen:
        drawn = np.unique(groups)
        assert np.array_equal(np.bincount(groups, minlength=30)[drawn], sizes[drawn])
        assert np.bincount(drawn % 2).tolist() == [8, 8]  # half of the 15 groups of each class
    assert found.subsample_size == min(groups.size for groups in seen)
    # Each group is as likely as any other of its class: within four standard deviations.
    often = np.bincount(np.concatenate([np.unique(groups) for groups in seen]), minlength=30)
    assert np.abs(often - 40 * 8 / 15).max() < 4 * np.sqrt(40 * 8 / 15 * 7 / 15)
    # Groups of one sample each are no groups.
    alone = [stability(ReliefF(3), X, y, n_features=2, random_state=0, groups=g) for g in (None, range(60))]
    assert np.array_equal(alone[0].ranks, alone[1].ranks)


def test_groups_of_several_classes_are_drawn_as_a_class():
    y = np.array([0, 0, 1, 1, 0, 1, 0, 1, 2, 2])
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    strata = [stratum.tolist() for stratum in _strata(y, groups, True)]
    assert strata == [[0], [1], [4], [2, 3]]
    assert [stratum.tolist() for stratum in _strata(y, groups, False)] == [[0, 1, 2, 3, 4]]


def test_a_feature_that_follows_groups_is_unstable_only_over_groups():
    # 6 groups of 10: the effect of a group on a noise feature looks stable where its samples are split up.
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(6), 10)
    y = groups % 2
    X = rng.normal(size=(6, 30))[groups] + 0.1 * rng.normal(size=(60, 30))
    apart, together = (
        stability(Correlation(), X, y, n_features=3, groups=given, random_state=0) for given in (None, groups)
    )
    assert apart.stability > 0.7 > together.stability + 0.2


# --- the module ---


def test_the_module_is_public_and_light():
    code = (
        "import reliefe, sys; reliefe.inspection.stability; "
        "print(*sorted({'matplotlib', 'numba', 'umap'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    assert "inspection" in reliefe.__all__ and reliefe.inspection.stability is stability


@pytest.mark.parametrize("ranker", [SURF(), ReliefE(3, n_components=2)], ids=["SURF", "ReliefE"])
def test_each_ranker_is_tested(ranker):
    X, y = table(30, 6)
    found = permutation_test(ranker, X, y, permute="target", n_permutations=3, random_state=0)
    assert set(found.p_values) <= {0.25, 0.5, 0.75, 1.0} and np.isfinite(found.null_std).all()
