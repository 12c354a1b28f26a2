"""Missing values and discrete columns: ReliefF against its twin, and what users hand over."""

import naive_mixed as twin
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from covering import covered
from mixtures import CATEGORIES, mixture, with_gaps
from samples import SAMPLES, assert_weights_equal

from reliefe import ReliefE, ReliefF
from reliefe.kernels import mixed
from reliefe.scaling import distinct_values, normalise, normalise_mixed, prepare

STORAGES = [np.ascontiguousarray, sp.csr_matrix]


@covered(
    {"name": list(SAMPLES), "k": [1, 3, 15, "adaptive"], "abs_mean": [False, True], "storage": STORAGES},
    full={"name": ["classes_of_1_2_and_15"]},
)
def test_missing_values(name, k, abs_mean, storage):
    X, y, exact = SAMPLES[name]
    X = with_gaps(X, 0.2, 1)
    expected, used = twin.relieff(X, y, k, abs_mean, exact=exact)
    ranker = ReliefF(n_neighbors=k, abs_mean=abs_mean, missing="ignore").fit(storage(X), y)
    assert_weights_equal(ranker.feature_importances_, expected)
    assert ranker.feature_importances_[2] == 0.0
    if k == "adaptive":
        np.testing.assert_array_equal(ranker.n_neighbors_used_, used)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("abs_mean", [False, True])
@pytest.mark.parametrize("k", [1, 4, "adaptive"])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_discrete_columns(share, k, abs_mean, storage):
    X, y = mixture(2), np.random.default_rng(3).integers(0, 3, 30)
    X[np.random.default_rng(4).random(X.shape) < share] = np.nan
    expected, _ = twin.relieff(X, y, k, abs_mean, CATEGORIES, exact=True)
    ranker = ReliefF(n_neighbors=k, abs_mean=abs_mean, missing="ignore", discrete_features=CATEGORIES)
    assert_weights_equal(ranker.fit(storage(X), y).feature_importances_, expected)
    # What the categories are called does not matter, as long as 0 stays 0 where zeros are not stored.
    renamed = X.copy()
    for j in (2, 3, 6):
        renamed[:, j] = np.where(X[:, j] == 0, 0, np.cos(X[:, j]) * 1e5)
    again = ranker.fit(storage(renamed), y).feature_importances_
    np.testing.assert_array_equal(again, ranker.fit(storage(X), y).feature_importances_)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("abs_mean", [False, True])
@pytest.mark.parametrize("target_distance", ["hamming", "f1", "subset"])
def test_label_sets(target_distance, abs_mean, storage):
    X, rng = mixture(5), np.random.default_rng(6)
    X[rng.random(X.shape) < 0.25] = np.nan
    T = (rng.random((30, 4)) < 0.4).astype(int)
    for k in (3, 15):
        expected = twin.relieff_multilabel(X, T, k, abs_mean, target_distance, CATEGORIES, exact=True)
        ranker = ReliefF(k, abs_mean=abs_mean, target_distance=target_distance, missing="ignore")
        ranker.set_params(discrete_features=CATEGORIES).fit(storage(X), T)
        assert_weights_equal(ranker.feature_importances_, expected)


@pytest.mark.parametrize("parameters", [{}, {"n_neighbors": "adaptive", "abs_mean": True}])
def test_storage_and_threads_make_no_difference(parameters):
    rng = np.random.default_rng(7)
    X = rng.integers(0, 6, (300, 70)) * (rng.random((300, 70)) < 0.3) * rng.choice([1.0, 0.37], 70)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = rng.integers(0, 3, 300)
    parameters |= {"missing": "ignore", "discrete_features": np.arange(0, 70, 2)}
    one = ReliefF(**parameters).fit(X, y)
    two = ReliefF(**parameters, n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(one.feature_importances_, two.feature_importances_)
    by_row = [ReliefF(**parameters, n_jobs=jobs).fit(sp.csr_matrix(X), y) for jobs in (1, 3)]
    np.testing.assert_array_equal(by_row[0].feature_importances_, by_row[1].feature_importances_)
    assert_weights_equal(by_row[0].feature_importances_, one.feature_importances_)
    if parameters.get("n_neighbors"):
        np.testing.assert_array_equal(by_row[0].n_neighbors_used_, one.n_neighbors_used_)


@pytest.mark.parametrize("storage", STORAGES)
def test_a_long_table_has_tiles(storage):
    """More rows than are measured side by side, more columns than a tile holds."""
    rng = np.random.default_rng(8)
    X = rng.integers(0, 4, (1100, 66)) * (rng.random((1100, 66)) < 0.5) * 1.0
    X[rng.random(X.shape) < 0.1] = np.nan
    discrete = np.arange(66) % 3 == 0
    Z, full = normalise_mixed(storage(X), discrete)
    np.testing.assert_array_equal(full, ~discrete)
    from reliefe.distances import Groups, MixedColumns

    codes = rng.integers(0, 2, 1100)
    search = MixedColumns(Z, Groups.of(codes, 2, 3))
    members, rows = search.groups.members, np.array([5, 1099, 640])
    found = np.empty((3, 1100))
    search.measure(rows, search.groups.places()[rows], found)
    z = twin.prepared(twin.table(X, exact=True), discrete)
    for r, i in enumerate(rows):
        for place in range(0, 1100, 7):
            expected = twin.distance(z[i], z[members[place]], discrete)
            assert found[r, place] == pytest.approx(float(expected), abs=1e-10)


@pytest.mark.parametrize("storage", STORAGES)
def test_without_gaps_and_codes_nothing_changes(storage):
    """The plain path is taken, bit by bit: no value missing, no discrete column of three values."""
    X, y, _ = SAMPLES["mostly_zeros"]
    X = np.column_stack([X, np.arange(32) % 2 * 3.0])
    plain = ReliefF().fit(storage(X), y).feature_importances_
    for parameters in ({"missing": "ignore"}, {"discrete_features": [12]}):
        ranker = ReliefF(**parameters).fit(storage(X), y)
        np.testing.assert_array_equal(ranker.feature_importances_, plain)
    assert prepare(storage(X), np.arange(13) == 12)[1] is None
    assert prepare(storage(X), np.arange(13) == 0)[1].tolist() == [0.0] + [1.0] * 12


@pytest.mark.parametrize("storage", STORAGES)
def test_scaling_of_columns(storage):
    X = mixture(9)
    Z, full = normalise_mixed(storage(X), CATEGORIES)
    assert full.tolist() == [1, 1, 0, 0, 1, 1, 0]
    dense = Z.toarray() if sp.issparse(Z) else Z
    if sp.issparse(Z):
        assert (Z.data != 0).all() and Z.has_sorted_indices
    plain = normalise(X)
    for j in range(7):
        if full[j] == 1.0:
            np.testing.assert_array_equal(dense[:, j], plain[:, j])
            continue
        assert (dense[:, j] == np.rint(dense[:, j])).all()
        same = X[:, [j]] == X[:, j]
        np.testing.assert_array_equal(dense[:, [j]] == dense[:, j], same)
        if (X[:, j] == 0).any():
            np.testing.assert_array_equal(dense[:, j] == 0, X[:, j] == 0)
    gaps = X.copy()
    gaps[0], gaps[:, 5] = np.nan, np.nan
    Z, _ = normalise_mixed(storage(gaps), CATEGORIES)
    np.testing.assert_array_equal(np.isnan(Z.toarray() if sp.issparse(Z) else Z), np.isnan(gaps))


@pytest.mark.parametrize("storage", STORAGES)
def test_distinct_values(storage):
    X = mixture(10)
    X[4:9, :4] = np.nan
    X[:, 5] = np.nan
    expected = [twin.distinct(column) for column in zip(*twin.table(X), strict=True)]
    assert distinct_values(storage(X)).tolist() == expected
    assert expected[5] == 0


# ------------------------------------------------------------------------------------------- what users hand over


@pytest.mark.parametrize("storage", STORAGES)
def test_auto_takes_columns_of_few_values(storage):
    X, y = mixture(11), np.arange(30) % 2
    for threshold in (1, 2, 3, 4, 10):
        expected = [twin.distinct(column) <= threshold for column in zip(*twin.table(X), strict=True)]
        ranker = ReliefF(discrete_features="auto", discrete_threshold=threshold).fit(storage(X), y)
        assert ranker.discrete_features_.tolist() == expected
        given = ReliefF(discrete_features=np.flatnonzero(expected)).fit(storage(X), y)
        np.testing.assert_array_equal(ranker.feature_importances_, given.feature_importances_)
    assert not hasattr(ranker.set_params(discrete_features=None).fit(X, y), "discrete_features_")


def test_codes_are_one_hot_columns_but_for_their_number():
    """With categories only, the order of rows by distance is that of one-hot columns; differences are halves."""
    rng = np.random.default_rng(12)
    X, y = rng.integers(0, 4, (60, 5)).astype(float), rng.integers(0, 2, 60)
    hot = np.hstack([X[:, [j]] == np.arange(4) for j in range(5)]).astype(float)
    codes = ReliefF(7, discrete_features="auto").fit(X, y).feature_importances_
    summed = ReliefF(7).fit(hot, y).feature_importances_.reshape(5, 4).sum(axis=1) / 2
    assert_weights_equal(codes, summed)


def test_frames_with_missing_values():
    frame = pd.DataFrame({"a": [1, 2, None, 4, 5, 6], "b": pd.array([1, 0, 1, None, 0, 1], dtype="Int64")})
    y = [0, 1, 0, 1, 0, 1]
    found = ReliefF(2, missing="ignore").fit(frame, y)
    expected, _ = twin.relieff(frame.to_numpy(dtype=float, na_value=np.nan), y, 2)
    assert_weights_equal(found.feature_importances_, expected)
    with pytest.raises(ValueError, match=r"NaN: sample 2, feature 0 \('a'\).*missing=\"ignore\""):
        ReliefF().fit(frame, y)


@pytest.mark.parametrize("storage", STORAGES)
def test_infinity_is_never_missing(storage):
    X = mixture(13)
    X[4, 0], X[9, 1] = np.nan, -np.inf
    with pytest.raises(ValueError, match="infinity: sample 9, feature 1"):
        ReliefF(missing="ignore").fit(storage(X), np.arange(30) % 2)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"missing": "drop"}, ValueError, "missing must be one of"),
        ({"missing": None}, ValueError, "missing must be one of"),
        ({"discrete_features": "all"}, ValueError, '"auto" or "from_dtype", got \'all\''),
        ({"discrete_features": [True, False]}, ValueError, "mask for 2 features, but X has 7"),
        ({"discrete_features": [0, 7]}, ValueError, "names the feature 7; X has the features 0 … 6"),
        ({"discrete_features": [-1]}, ValueError, "names the feature -1"),
        ({"discrete_features": [0.5]}, TypeError, "discrete_features must be"),
        (
            {"discrete_features": ["a"]},
            ValueError,
            "names the feature 'a', but the features of X have no names",
        ),
        ({"discrete_features": [[1]]}, TypeError, "discrete_features must be"),
        ({"discrete_features": "auto", "discrete_threshold": 0}, ValueError, "discrete_threshold must be"),
        ({"discrete_threshold": 2.5}, TypeError, "discrete_threshold must be"),
    ],
)
def test_wrong_parameters_are_named(parameters, error, message):
    with pytest.raises(error, match=message):
        ReliefF(**parameters).fit(mixture(14), np.arange(30) % 2)


def test_no_column_may_be_named_and_none_is_discrete_then():
    X, y = mixture(15), np.arange(30) % 2
    plain = ReliefF().fit(X, y).feature_importances_
    for nothing in ([], np.zeros(7, dtype=bool)):
        np.testing.assert_array_equal(
            ReliefF(discrete_features=nothing).fit(X, y).feature_importances_, plain
        )


def test_an_embedding_takes_no_categories_and_no_missing_values_unasked():
    assert not {"discrete_features", "discrete_threshold"} & set(ReliefE().get_params())
    with pytest.raises(ValueError, match="contains NaN"):
        ReliefE().fit(with_gaps(SAMPLES["ties"].X, 0.1, 16), SAMPLES["ties"].y)


def test_tags_say_whether_missing_values_are_taken():
    assert ReliefF(missing="ignore").__sklearn_tags__().input_tags.allow_nan
    assert not ReliefF().__sklearn_tags__().input_tags.allow_nan
    assert ReliefE(missing="ignore").__sklearn_tags__().input_tags.allow_nan
    assert not ReliefE().__sklearn_tags__().input_tags.allow_nan


# ----------------------------------------------------------------------------------------------- groups of far rows


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("abs_mean", [False, True])
def test_means_of_similarity(abs_mean, storage):
    """Groups marked as similar give 1 − mean difference; sparse updates leave the whole to the caller."""
    X, rng = mixture(17), np.random.default_rng(18)
    X[rng.random(X.shape) < 0.25] = np.nan
    X[5], X[:, 1] = np.nan, np.nan
    Z, full = normalise_mixed(storage(X), CATEGORIES)
    z = twin.prepared(twin.table(X), CATEGORIES)
    near = np.array([rng.permutation(30)[:9] for _ in range(30)], dtype=np.int32)
    segment_ptr, counts = (
        np.array([0, 4, 9]),
        np.column_stack([rng.integers(0, 5, 30), rng.integers(0, 6, 30)]),
    )
    coefficients, similar = rng.normal(size=(30, 2)), np.array([False, True])
    expected = np.zeros(7)
    for i in range(30):
        for q in range(2):
            listed = near[i, segment_ptr[q] : segment_ptr[q] + counts[i, q]]
            for j, mean in enumerate(twin.class_means(z, i, listed, CATEGORIES, abs_mean)):
                if mean is not None:
                    expected[j] += coefficients[i, q] * (1 - mean if similar[q] else mean)
    sums = np.zeros((1, 7))
    shares = np.ones(near.shape), np.zeros(near.shape)
    rest = (np.arange(30), near, segment_ptr, counts, coefficients, similar, *shares, mixed.CLASSES, abs_mean)
    if sp.issparse(Z):
        for lo, hi in ((0, 11), (11, 30)):
            mixed.update_sparse(Z.indptr, Z.indices, Z.data, full, *rest, lo, hi, sums)
        sums += coefficients[counts[:, 1] > 0, 1].sum()
    else:
        for lo, hi in ((0, 3), (3, 7)):
            mixed.update_dense(Z, full, *rest, lo, hi, sums)
    np.testing.assert_allclose(sums[0], expected, rtol=1e-12, atol=1e-12)
