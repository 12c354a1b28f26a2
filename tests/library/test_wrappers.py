"""TuRF and VLS against their twins, and as wrappers over any ranker."""

import pickle
from itertools import combinations

import naive_thresholds as twin
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skrebate
from samples import SAMPLES, assert_weights_equal
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

from reliefe import VLS, MultiSURF, MultiSURFStar, ReliefE, ReliefF, TuRF
from reliefe.column_error import ColumnError
from reliefe.vls import draw_subsets, subsets_for_pairs

STORAGE = pytest.mark.parametrize("storage", [np.ascontiguousarray, sp.csr_matrix])


def interacting(seed):
    """80 binary columns and a class that is the exclusive or of the first two, wrong in every fifth row."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(100, 80)).astype(float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    return X, np.where(rng.random(100) < 0.2, 1 - y, y)


def ranks_of_the_pair(ranker):
    """The worse rank of the two that interact, on ten data sets."""
    return [ranker.fit(*interacting(seed)).ranking_[:2].max() for seed in range(10)]


class Fixed(BaseEstimator):
    """A ranker whose weights are looked up: the value in the first row of X."""

    seen = []  # noqa: RUF012 - shared by all copies on purpose

    def __init__(self, factor=1.0, random_state=None):
        self.factor = factor
        self.random_state = random_state

    def fit(self, X, y):
        self.seen.append((X.shape[1], self.random_state))
        self.feature_importances_ = self.factor * np.asarray(X[0], dtype=float).ravel()
        return self


# ------------------------------------------------------------------------------------------------------------ TuRF


@STORAGE
@pytest.mark.parametrize(
    ("removed", "n_final", "expected"),
    [
        (1, None, (1, 1)),
        (4, None, (4, 4)),
        (0.25, None, (3, 3)),
        (5, 1, (5, 1)),
        (0.01, 0.5, (1, 6)),
        (12, 1, (12, 1)),
    ],
)
def test_turf_is_its_twin(removed, n_final, expected, storage):
    X, y, _ = SAMPLES["mostly_zeros"]  # 12 columns

    def weigh(columns):
        return ReliefF(n_neighbors=3).fit(X[:, columns], y).feature_importances_

    ranker = TuRF(ReliefF(n_neighbors=3), removed=removed, n_final=n_final).fit(storage(X), y)
    order = twin.turf(weigh, 12, *expected)
    assert np.argsort(ranker.ranking_).tolist() == order
    assert (np.diff(ranker.feature_importances_[order]) <= 0).all()
    left = sorted(order[: int((ranker.n_fits_ == ranker.n_fits_.max()).sum())])
    assert len(left) <= expected[1]
    assert_weights_equal(ranker.feature_importances_[left], weigh(left))
    assert (np.diff(ranker.n_fits_[order]) <= 0).all()
    np.testing.assert_array_equal(ranker.classes_, np.unique(y))


def test_weights_of_dropped_columns_are_lowered_only_where_need_be():
    X = np.array([[9.0, 1.0, 5.0, 3.0, 7.0, -4.0], [0, 0, 0, 0, 0, 0]])
    Fixed.seen.clear()
    ranker = TuRF(Fixed(), removed=2).fit(X, [0, 1])
    assert [n for n, _ in Fixed.seen] == [6, 4, 2]
    assert ranker.feature_importances_.tolist() == X[0].tolist() and ranker.n_fits_.tolist() == [
        3,
        1,
        2,
        2,
        3,
        1,
    ]

    class Odd(Fixed):
        def fit(self, X, y):
            super().fit(X, y)
            if X.shape[1] < 6:  # worse than what was dropped
                self.feature_importances_ -= 100
            return self

    found = TuRF(Odd(), removed=2).fit(X, [0, 1]).feature_importances_
    np.testing.assert_allclose(
        found, [-91, -95.06, -95, -97, -93, -100.06][:1] + found[1:].tolist(), rtol=1e-14
    )
    assert np.argsort(-found).tolist() == [0, 4, 2, 3, 1, 5]
    assert found[1] == pytest.approx(-97 - 0.02) and found[5] == pytest.approx(-97 - 0.02 - 5)


def test_turf_finds_a_pair_that_one_fit_misses():
    """Dropping columns of noise brings up two that tell the class only together."""
    assert np.median(ranks_of_the_pair(TuRF(MultiSURF(), removed=0.1))) == 2
    assert np.median(ranks_of_the_pair(MultiSURF())) >= 4


# ------------------------------------------------------------------------------------------------------------- VLS


@STORAGE
@pytest.mark.parametrize(("size", "n_subsets"), [(4, 7), (0.25, 4), (5, 9), (12, 2), (1.0, None), (3, None)])
def test_vls_is_its_twin(size, n_subsets, storage):
    X, y, _ = SAMPLES["mostly_zeros"]

    def weigh(columns):
        return MultiSURF().fit(X[:, columns], y).feature_importances_

    ranker = VLS(MultiSURF(), subset_size=size, n_subsets=n_subsets, random_state=5).fit(storage(X), y)
    assert n_subsets is None or len(ranker.subsets_) == n_subsets
    subsets = [subset.tolist() for subset in ranker.subsets_]
    assert_weights_equal(ranker.feature_importances_, twin.vls(weigh, subsets, 12))
    again = VLS(MultiSURF(), subset_size=size, n_subsets=n_subsets, random_state=5).fit(storage(X), y)
    assert [subset.tolist() for subset in again.subsets_] == subsets


@pytest.mark.parametrize(
    ("p", "size", "n"), [(12, 5, 9), (12, 4, 3), (7, 7, 2), (5, 1, 11), (1, 1, 1), (100, 30, 20)]
)
def test_columns_are_dealt_out_evenly(p, size, n):
    subsets = draw_subsets(p, size, n, np.random.RandomState(0))
    assert len(subsets) == n
    for subset in subsets:
        assert len(set(subset.tolist())) == size and (np.diff(subset) > 0).all()
        assert subset.min() >= 0 and subset.max() < p
    times = np.bincount(np.concatenate(subsets), minlength=p)
    rounds = n // -(-p // size)
    assert times.min() >= rounds  # each round deals out every column; the fillers come on top
    assert times.sum() == n * size


@pytest.mark.parametrize(("p", "size"), [(100, 20), (30, 10), (12, 4)])
def test_number_of_subsets_for_pairs(p, size):
    n = subsets_for_pairs(p, size)
    together = size * (size - 1) / (p * (p - 1))
    assert (1 - together) ** n <= 0.05 < (1 - together) ** (n - 1)
    assert subsets_for_pairs(p, p) == subsets_for_pairs(p, 1) == 1


def test_vls_needs_subsets_for_all_columns():
    X, y, _ = SAMPLES["mostly_zeros"]
    with pytest.raises(
        ValueError, match="n_subsets=2 subsets of 4 features leave out some of the 12 features"
    ):
        VLS(subset_size=4, n_subsets=2).fit(X, y)
    assert np.isfinite(VLS(subset_size=4, n_subsets=3, random_state=0).fit(X, y).feature_importances_).all()


def test_vls_finds_a_pair_that_one_fit_misses():
    assert np.median(ranks_of_the_pair(VLS(MultiSURF(), subset_size=0.15, random_state=0))) == 2


def exclusive_or(p, seed):
    """300 rows of p columns of 0 and 1, and a class that is the exclusive or of the last two."""
    X = np.random.default_rng(seed).integers(0, 2, (300, p))
    return X, X[:, -2] ^ X[:, -1]


@pytest.mark.parametrize("p", [*range(3, 11), 12, 14])
def test_vls_finds_a_pair_among_few_columns(p):
    """A fifth of them would be one column, or two, in which MultiSURF sees nothing."""
    for seed in range(10 if p in (5, 10) else 3):
        for data, drawing in ((seed, 0), (34, seed)):
            X, y = exclusive_or(p, data)
            ranker = VLS(MultiSURF(), random_state=drawing).fit(X, y)
            assert sorted(ranker.ranking_[-2:]) == [1, 2], (data, drawing)


@pytest.mark.parametrize("p", [3, 4, 6, 9, 14])
def test_among_few_columns_every_pair_meets(p):
    X, y = exclusive_or(p, 0)
    for seed in range(5):
        subsets = VLS(MultiSURF(), random_state=seed).fit(X, y).subsets_
        pairs = {pair for subset in subsets for pair in combinations(subset.tolist(), 2)}
        assert len(pairs) == p * (p - 1) / 2 and {len(subset) for subset in subsets} == {3}


@pytest.mark.parametrize(
    ("share", "p", "size"),
    [(0.2, 14, 3), (0.2, 15, 3), (0.2, 20, 4), (0.2, 2, 2), (0.2, 1, 1), (0.01, 20, 3), (1.0, 2, 2)],
)
def test_a_share_comes_to_three_columns_at_least(share, p, size):
    X = np.random.default_rng(0).normal(size=(30, p))
    ranker = VLS(MultiSURF(), subset_size=share, random_state=0).fit(X, np.arange(30) % 2)
    assert {len(subset) for subset in ranker.subsets_} == {size}
    assert np.isfinite(ranker.feature_importances_).all()


@pytest.mark.parametrize("size", [1, 2])
def test_a_number_of_columns_is_taken_as_it_is(size):
    X, y = exclusive_or(8, 0)
    subsets = VLS(MultiSURF(), subset_size=size, random_state=0).fit(X, y).subsets_
    assert {len(subset) for subset in subsets} == {size}


@pytest.mark.parametrize(("p", "size"), [(6, 2), (10, 3), (15, 3), (16, 3), (24, 5), (50, 10)])
def test_two_columns_share_a_subset_as_often_as_promised(p, size):
    """Of 2,000 draws at least 95 % but for three standard deviations, for each of four pairs."""
    n = subsets_for_pairs(p, size)
    together = np.zeros(4)
    for seed in range(2000):
        subsets = [set(subset.tolist()) for subset in draw_subsets(p, size, n, np.random.RandomState(seed))]
        for place, pair in enumerate([{0, 1}, {0, p - 1}, {p - 2, p - 1}, {2, p // 2}]):
            together[place] += any(pair <= subset for subset in subsets)
    assert (together / 2000 > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 2000)).all()


# ------------------------------------------------------------------------------------------------- over any ranker


@pytest.mark.parametrize("wrapper", [TuRF, VLS])
@pytest.mark.parametrize(
    "ranker",
    [None, MultiSURF(n_jobs=2), ReliefE(n_neighbors=5), RandomForestClassifier(20), skrebate.SURF(n_jobs=1)],
    ids=lambda ranker: type(ranker).__name__,
)
def test_any_ranker_can_be_wrapped(ranker, wrapper, rng):
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 6))
    X[:, 4] += 6 * y
    settings = {"subset_size": 3} if wrapper is VLS else {"removed": 2}
    found = wrapper(ranker, n_features_to_select=1, random_state=0, **settings).fit(X, y)
    assert found.ranking_[4] == 1 and found.transform(X).shape == (60, 1)
    again = wrapper(ranker, random_state=0, **settings).fit(X, y)
    np.testing.assert_array_equal(again.feature_importances_, found.feature_importances_)


@pytest.mark.parametrize("wrapper", [TuRF, VLS])
def test_seeds_are_handed_on_where_there_are_none(wrapper):
    X = np.arange(12.0).reshape(2, 6)
    Fixed.seen.clear()
    wrapper(Fixed(), random_state=3).fit(X, [0, 1])
    seeds = [seed for _, seed in Fixed.seen]
    assert len(set(seeds)) == len(seeds) > 1 and None not in seeds
    Fixed.seen.clear()
    wrapper(Fixed(random_state=8), random_state=3).fit(X, [0, 1])
    assert {seed for _, seed in Fixed.seen} == {8}


@STORAGE
def test_settings_of_the_wrapped_ranker_that_depend_on_columns(storage, rng):
    """Selecting is left to the wrapper; discrete columns stay discrete wherever they are handed on."""
    X = rng.integers(0, 5, size=(40, 6)).astype(float)
    y = (X[:, 2] == 3).astype(int)
    y[0] = 1
    inner = MultiSURF(5, discrete_features=[2, 4])
    ranker = TuRF(inner, removed=1, n_final=2).fit(storage(X), y)
    assert ranker.ranking_[2] == 1 and ranker.get_support().all()
    kept = np.flatnonzero(ranker.n_fits_ == 5)
    mask = np.isin(kept, [2, 4])
    expected = MultiSURF(discrete_features=mask).fit(X[:, kept], y).feature_importances_
    assert_weights_equal(ranker.feature_importances_[kept], expected)
    assert inner.get_params()["n_features_to_select"] == 5


@pytest.mark.parametrize("wrapper", [TuRF, VLS])
def test_missing_values_are_the_wrapped_rankers_business(wrapper, rng):
    X, y = rng.normal(size=(30, 4)), rng.integers(0, 2, 30)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        wrapper(MultiSURF()).fit(X, y)
    ranker = wrapper(MultiSURF(missing="ignore"), random_state=0).fit(X, y)
    assert np.isfinite(ranker.feature_importances_).all()
    assert (
        ranker.__sklearn_tags__().input_tags.allow_nan
        and not wrapper().__sklearn_tags__().input_tags.allow_nan
    )


WRAPPED = [
    TuRF(MultiSURF(missing="ignore"), removed=2),
    VLS(ReliefF(), subset_size=2, random_state=0),
    VLS(TuRF(MultiSURF(), removed=1), subset_size=3, random_state=0),
    TuRF(VLS(ReliefF(), subset_size=2, random_state=0), removed=2),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ranker", WRAPPED)
@pytest.mark.parametrize("as_frame", [False, True])
@STORAGE
def test_columns_in_errors_are_the_users(ranker, as_frame, storage, rng):
    """Not those of the subset that was handed on, and by name where there are names."""
    names = ["a", "b", "{column}", "d", "e", "f"]
    label = r"feature 4 \('e'\)" if as_frame else r"feature 4\b(?! \()"

    def fit(X):
        made = pd.DataFrame.sparse.from_spmatrix if storage is sp.csr_matrix else pd.DataFrame
        return ranker.fit(made(storage(X), columns=names) if as_frame else storage(X), np.arange(30) % 2)

    X = rng.normal(size=(30, 6))
    for value, kind in ((np.nan, "NaN"), (np.inf, "infinity")):
        X[7, 4] = value
        if np.isnan(value) and ranker is WRAPPED[0]:
            assert np.isfinite(fit(X).feature_importances_).all()
            continue
        with pytest.raises(ValueError, match=f"contains {kind}: sample 7, {label}"):
            fit(X)
    X[:2, 4] = [-1.5e308, 1.5e308]
    X[7, 4] = 0
    with pytest.raises(ValueError, match=f"the range of {label} exceeds"):
        fit(X)


def test_an_error_about_a_column_reaches_other_processes():
    error = ColumnError("{column} is odd, says {column}", 3, "{x}")
    copy = pickle.loads(pickle.dumps(error.among(np.array([5, 6, 7, 8]), None)))
    assert str(error) == "feature 3 ('{x}') is odd, says {column}"
    assert str(copy) == "feature 8 is odd, says {column}" and isinstance(copy, ValueError)
    assert str(copy.among(None, "abcdefghi")) == "feature 8 ('i') is odd, says {column}"


@pytest.mark.parametrize("wrapper", [TuRF, VLS])
def test_label_sets_are_the_wrapped_rankers_business(wrapper, rng):
    X = rng.normal(size=(30, 4))
    T = (rng.random((30, 3)) < 0.5).astype(int)
    assert wrapper(ReliefF(), random_state=0).fit(X, T).ranking_.shape == (4,)
    assert wrapper(MultiSURF(), random_state=0).fit(X, T).ranking_.shape == (4,)
    with pytest.raises(ValueError, match="one class per sample"):
        wrapper(MultiSURFStar()).fit(X, T)


class Broken(Fixed):
    """Too few weights."""

    def fit(self, X, y):
        self.feature_importances_ = np.zeros(1)
        return self


@pytest.mark.parametrize(
    ("ranker", "error", "message"),
    [
        (TuRF(ReliefF), TypeError, "estimator must be None or a ranker with fit"),
        (VLS(7), TypeError, "estimator must be None or a ranker with fit"),
        (TuRF(removed=0), ValueError, "removed must be a positive integer or a share"),
        (TuRF(removed="many"), TypeError, "removed must be a positive integer or a share"),
        (TuRF(n_final=1.5), ValueError, "n_final must be None, a positive integer or a share"),
        (VLS(subset_size=True), TypeError, "subset_size must be a positive integer or a share"),
        (VLS(n_subsets=0), ValueError, "n_subsets must be a positive integer or None"),
        (VLS(random_state="x"), TypeError, "random_state must be None, an integer"),
        (TuRF(Broken()), ValueError, "Broken gave no feature_importances_ with one finite weight"),
    ],
)
def test_wrong_parameters(ranker, error, message):
    X, y, _ = SAMPLES["mostly_zeros"]
    with pytest.raises(error, match=message):
        ranker.fit(X, y)


@pytest.mark.parametrize("wrapper", [TuRF, VLS])
def test_fitting_again_forgets_the_first_fit(wrapper):
    X, y, _ = SAMPLES["mostly_zeros"]
    ranker = wrapper(Fixed()).fit(X, y)
    ranker.set_params(estimator=ReliefF()).fit(X, y)
    fresh = wrapper(ReliefF()).fit(X, y)
    assert set(vars(ranker)) == set(vars(fresh))
    assert not hasattr(wrapper(Fixed()).fit(X, y), "classes_")
