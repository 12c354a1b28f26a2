"""SURF, SURF*, MultiSURF and MultiSURF* against their twin, and what they promise beyond it."""

import re
import warnings
from functools import cache

import naive
import naive_mixed
import naive_thresholds as twin
import numpy as np
import pytest
import scipy.sparse as sp
from covering import covered
from hypothesis import given, settings
from hypothesis import strategies as st
from mixtures import CATEGORIES, mixture, with_gaps
from samples import SAMPLES, GivenRows, assert_weights_equal

import reliefe
from reliefe import SURF, VLS, MultiSURF, MultiSURFStar, SURFStar, TuRF, distances, fixed, row_pairs
from reliefe.inspection import permutation_test, stability

KINDS = [SURF, SURFStar, MultiSURF, MultiSURFStar]
STORAGES = [np.ascontiguousarray, sp.csr_matrix]
COMPATIBLE = [None, "skrebate"]
KIND = pytest.mark.parametrize("kind", KINDS)
STORAGE = pytest.mark.parametrize("storage", STORAGES)


@cache
def expected_of(kind, name, compatible):
    X, y, exact = SAMPLES[name]
    return twin.weights(kind, X, y, exact=exact, skrebate=compatible is not None)


# ---------------------------------------------------------------------------------------------- fast == naive


@covered(
    {"name": list(SAMPLES), "kind": KINDS, "compatible": COMPATIBLE, "storage": STORAGES},
    full={"name": ["classes_of_1_2_and_15"]},
)
def test_fast_is_naive(name, kind, compatible, storage):
    X, y, _ = SAMPLES[name]
    ranker = kind(compatible=compatible).fit(storage(X), y)
    assert_weights_equal(ranker.feature_importances_, expected_of(kind.__name__, name, compatible))
    assert ranker.feature_importances_.dtype == np.float64
    order = np.argsort(-ranker.feature_importances_, kind="stable")
    np.testing.assert_array_equal(ranker.ranking_[order], np.arange(1, X.shape[1] + 1))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_fast_is_naive_on_any_small_integers(data):
    """Distances equal to a threshold are common here: they are neither near nor far, whatever rounding says."""
    n, p = data.draw(st.integers(2, 10)), data.draw(st.integers(1, 4))
    highs = data.draw(st.lists(st.sampled_from([1, 2, 3, 5, 7, 11, 13]), min_size=p, max_size=p))
    row = st.tuples(*[st.integers(-high // 2, high) for high in highs])
    X = np.array(data.draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    y = np.array([0, 1, *data.draw(st.lists(st.integers(0, 2), min_size=n - 2, max_size=n - 2))])
    kind, compatible = data.draw(st.sampled_from(KINDS)), data.draw(st.sampled_from(COMPATIBLE))
    expected = twin.weights(kind.__name__, X, y, exact=True, skrebate=compatible is not None)
    for storage in STORAGES:
        assert_weights_equal(kind(compatible=compatible).fit(storage(X), y).feature_importances_, expected)


@KIND
def test_ties_hold_when_columns_are_not_integers(kind):
    """Sevenths and tenths: the same ties as of integers, though no float holds these numbers exactly."""
    X, y, _ = SAMPLES["ties"]
    for scaled in (X / 7 + 0.1, X * 0.1 - 1 / 3, X * [1e-9, 1 / 3, 1e9, 0.7]):
        found = kind().fit(scaled, y).feature_importances_
        np.testing.assert_allclose(found, expected_of(kind.__name__, "ties", None), rtol=1e-9, atol=1e-12)


@STORAGE
@KIND
def test_rows_that_are_all_equally_far_have_no_neighbours(kind, storage):
    """The mean of equal distances is that distance, even where summing them up would make it a little more."""
    for n in (2, 3, 7, 49):
        X = np.eye(n) / 3
        found = kind().fit(storage(X), np.arange(n) % 2).feature_importances_
        assert found.tolist() == [0.0] * n
        found = kind().fit(storage(np.ones((n, 3))), np.arange(n) % 2).feature_importances_
        assert found.tolist() == [0.0] * 3


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@STORAGE
@KIND
def test_many_classes_and_classes_of_one_row(kind, storage):
    rng = np.random.default_rng(30)
    X, y = rng.normal(size=(25, 4)), np.array([*range(6), *rng.integers(0, 4, 19)])
    assert_weights_equal(kind().fit(storage(X), y).feature_importances_, twin.weights(kind.__name__, X, y))
    alone = np.arange(25)
    expected = twin.weights(kind.__name__, X, alone)
    assert_weights_equal(kind().fit(storage(X), alone).feature_importances_, expected)


# ---------------------------------------------------------------------------------- missing values and categories


@STORAGE
@KIND
@pytest.mark.parametrize("name", ["random_dense", "ties", "mostly_zeros", "constant_column"])
def test_missing_values(name, kind, storage):
    X, y, exact = SAMPLES[name]
    X = with_gaps(X, 0.2, 1)
    expected = twin.weights(kind.__name__, X, y, exact=exact)
    ranker = kind(missing="ignore").fit(storage(X), y)
    assert_weights_equal(ranker.feature_importances_, expected)
    with pytest.raises(ValueError, match="NaN: sample"):
        kind().fit(storage(X), y)


@STORAGE
@pytest.mark.parametrize("share", [0.0, 0.3])
@KIND
def test_discrete_columns(kind, share, storage):
    X, y = mixture(2), np.random.default_rng(3).integers(0, 3, 30)
    X[np.random.default_rng(4).random(X.shape) < share] = np.nan
    expected = twin.weights(kind.__name__, X, y, CATEGORIES, exact=True)
    ranker = kind(missing="ignore", discrete_features=CATEGORIES).fit(storage(X), y)
    assert_weights_equal(ranker.feature_importances_, expected)
    assert ranker.discrete_features_.tolist() == CATEGORIES
    automatic = kind(missing="ignore", discrete_features="auto", discrete_threshold=4).fit(storage(X), y)
    columns = zip(*naive_mixed.table(X), strict=True)
    assert automatic.discrete_features_.tolist() == [naive_mixed.distinct(column) <= 4 for column in columns]
    expected = twin.weights(kind.__name__, X, y, automatic.discrete_features_, exact=True)
    assert_weights_equal(automatic.feature_importances_, expected)


def test_skrebates_classes_with_missing_values_are_refused_where_they_differ():
    X, y, _ = SAMPLES["random_dense"]
    X = with_gaps(X, 0.2, 1)
    with pytest.raises(ValueError, match="more than two classes"):
        MultiSURF(missing="ignore", compatible="skrebate").fit(X, y)
    two = (y > 0).astype(int)
    with pytest.raises(ValueError, match="in both of the samples 0 and 3"):  # row 3 is missing as a whole
        SURF(missing="ignore", compatible="skrebate").fit(X, two)
    X[:, 0] = SAMPLES["random_dense"][0][:, 0]
    found = SURF(missing="ignore", compatible="skrebate").fit(X, two).feature_importances_
    assert_weights_equal(found, twin.weights("SURF", X, two, skrebate=True))


# ------------------------------------------------------------------------------------------------ in an embedding


@STORAGE
@pytest.mark.parametrize("metric", naive.METRICS)
@KIND
def test_distances_in_an_embedding_and_differences_in_the_columns(kind, metric, storage):
    X, y, _ = SAMPLES["random_dense"]
    E = np.random.default_rng(31).normal(size=(len(y), 2))
    expected = twin.weights(kind.__name__, X, y, embedded=E, metric=metric)
    for n_jobs in (1, 3):
        ranker = kind(embedding=GivenRows(E), metric=metric, n_jobs=n_jobs).fit(storage(X), y)
        assert_weights_equal(ranker.feature_importances_, expected)
    assert ranker.n_components_ == 2


@STORAGE
def test_categories_and_an_embedding(storage):
    X, y = mixture(5), np.random.default_rng(6).integers(0, 2, 30)
    E = np.random.default_rng(32).normal(size=(30, 2))
    ranker = MultiSURFStar(embedding=GivenRows(E), metric="euclidean", discrete_features=CATEGORIES)
    expected = twin.weights("MultiSURFStar", X, y, CATEGORIES, exact=True, embedded=E, metric="euclidean")
    assert_weights_equal(ranker.fit(storage(X), y).feature_importances_, expected)
    X[0, 0] = np.nan  # known to the embedding by the median of its column, to the differences not at all
    ranker.set_params(missing="ignore").fit(storage(X), y)
    expected = twin.weights("MultiSURFStar", X, y, CATEGORIES, exact=True, embedded=E, metric="euclidean")
    assert_weights_equal(ranker.feature_importances_, expected)
    with pytest.raises(
        ValueError, match='missing values, for which compatible="skrebate" knows no embedding'
    ):
        ranker.set_params(compatible="skrebate").fit(storage(X), y)


def test_umap_is_an_embedding_too():
    rng = np.random.default_rng(33)
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 8))
    X[:, :3] += 4 * y[:, None]
    ranker = MultiSURF(embedding="umap", random_state=0).fit(X, y)
    assert set(np.argsort(ranker.ranking_)[:3]) == {0, 1, 2} and ranker.n_components_ >= 2
    again = MultiSURF(embedding="umap", random_state=0, n_jobs=2).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(again.feature_importances_, ranker.feature_importances_, rtol=0, atol=1e-12)


# --------------------------------------------------------------------------------------- blocks, threads, clothes


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 16 rows, pieces of a few: every edge is met with little data."""
    monkeypatch.setattr(row_pairs, "_BLOCK_BYTES", 1)
    monkeypatch.setattr(row_pairs, "_ROW_BYTES", 8 * 70 * 3)
    monkeypatch.setattr(row_pairs, "STEPS", 3000.0)
    monkeypatch.setattr(distances, "_STEPS", 3000.0)


def _seventy():
    rng = np.random.default_rng(34)
    X = rng.integers(-3, 6, size=(70, 9)) * (rng.random((70, 9)) < 0.6) * 1.0
    return X, rng.choice(3, p=[0.6, 0.3, 0.1], size=70)


@STORAGE
@KIND
def test_blocks_change_nothing_but_the_last_digits(kind, storage, small_blocks):
    X, y = _seventy()
    found = kind().fit(storage(X), y).feature_importances_
    assert_weights_equal(found, twin.weights(kind.__name__, X, y, exact=True))
    E = np.random.default_rng(35).normal(size=(70, 2))
    ranker = kind(embedding=GivenRows(E), metric="euclidean").fit(storage(X), y)
    expected = twin.weights(kind.__name__, X, y, embedded=E, metric="euclidean")
    assert_weights_equal(ranker.feature_importances_, expected)
    X[X == 5] = np.nan
    ranker = kind(missing="ignore").fit(storage(X), y)
    assert_weights_equal(ranker.feature_importances_, twin.weights(kind.__name__, X, y, exact=True))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("bits", [26, 19, 14, 2])
@pytest.mark.parametrize("kind", [MultiSURF, MultiSURFStar])
def test_rounding_distances_at_first_changes_no_bit(kind, bits, n_jobs, small_blocks, monkeypatch):
    """With few bits hardly a distance tells by itself on which side of a threshold it lies."""
    rng = np.random.default_rng(210)
    X, y = np.exp(rng.normal(size=(300, 40))), rng.integers(0, 3, 300)
    again, shares = distances.DenseRows.measure_again, []

    def counted(self, first, rows, out, team):
        shares.append(rows.shape[0] / out.shape[0])
        return again(self, first, rows, out, team)

    monkeypatch.setattr(distances.DenseRows, "measure_again", counted)
    monkeypatch.setattr(fixed, "_COARSE_BITS", bits)
    found = kind(n_jobs=n_jobs).fit(X, y).feature_importances_
    few = [share for share in shares if share <= 0.25]
    assert few == shares if bits == 26 else shares
    assert few or bits != 19
    assert few != shares or bits > 14
    whole = distances.DenseRows.__init__
    monkeypatch.setattr(
        distances.DenseRows, "__init__", lambda self, Z, groups, team, coarse: whole(self, Z, groups, team)
    )
    np.testing.assert_array_equal(found, kind(n_jobs=n_jobs).fit(X, y).feature_importances_)


@pytest.mark.parametrize("bits", [26, 19, 2])
@pytest.mark.parametrize("kind", [SURF, SURFStar])
def test_one_threshold_for_all_needs_no_exact_distances(kind, bits, small_blocks, monkeypatch):
    """It comes from the order of the values; rows too near it are measured again."""
    rng = np.random.default_rng(211)
    X, y = np.exp(rng.normal(size=(300, 40))), rng.integers(0, 3, 300)
    X[:, :2] = rng.integers(0, 9, size=(300, 2))
    means, mean_distance = [], distances.DenseRows.mean_distance

    def kept(self, team):
        means.append(mean_distance(self, team) / self._fixed.factor)
        return means[-1] * self._fixed.factor

    monkeypatch.setattr(distances.DenseRows, "mean_distance", kept)
    monkeypatch.setattr(fixed, "_COARSE_BITS", bits)
    found = kind().fit(X, y).feature_importances_
    z = np.array(naive.normalised(naive.table(X)))
    expected = sum(np.abs(z[i] - z[:i]).sum() for i in range(300)) / (300 * 299 / 2)
    assert means == pytest.approx([expected], rel=1e-13)
    whole = distances.DenseRows.__init__
    monkeypatch.setattr(
        distances.DenseRows, "__init__", lambda self, Z, groups, team, coarse: whole(self, Z, groups, team)
    )
    np.testing.assert_array_equal(found, kind().fit(X, y).feature_importances_)


@STORAGE
@pytest.mark.parametrize("blocks", [False, True])
@KIND
def test_threads_change_no_bit(kind, blocks, storage, request):
    if blocks:
        request.getfixturevalue("small_blocks")
    X, y = _seventy()
    gaps = X.copy()
    gaps[X == 5] = np.nan
    for values in (X, gaps):
        one = kind(missing="ignore").fit(storage(values), y).feature_importances_
        for n_jobs in (2, 3, 8):
            many = kind(missing="ignore", n_jobs=n_jobs).fit(storage(values), y).feature_importances_
            np.testing.assert_array_equal(many, one)


@KIND
def test_copies_of_a_column_have_bit_equal_weights(kind):
    rng = np.random.default_rng(36)
    X = rng.normal(size=(50, 40))
    X[:, 5:35] = X[:, [2]]
    y = rng.integers(0, 3, 50)
    for storage in STORAGES:
        ranker = kind(n_jobs=2).fit(storage(X), y)
        assert len({w.hex() for w in ranker.feature_importances_[[2, *range(5, 35)]].tolist()}) == 1
        assert (np.diff(ranker.ranking_[[2, *range(5, 35)]]) == 1).all()


@KIND
def test_same_matrix_in_other_clothes(kind):
    X, y = _seventy()
    expected = kind().fit(X, y).feature_importances_
    wide = sp.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    kinds = [np.asfortranarray, np.int8, sp.csc_matrix, sp.coo_matrix, sp.csr_array]
    for other in [*(make(X) for make in kinds), wide]:
        before = other.copy()
        np.testing.assert_allclose(kind().fit(other, y).feature_importances_, expected, rtol=0, atol=1e-12)
        assert (before != other).sum() == 0
    permuted = np.random.default_rng(37).permutation(70)
    np.testing.assert_allclose(
        kind().fit(X[permuted], y[permuted]).feature_importances_, expected, atol=1e-12
    )
    named = np.array(["b", "a", "z"])[y]
    np.testing.assert_allclose(kind().fit(X, named).feature_importances_, expected, rtol=0, atol=1e-12)


@KIND
def test_constant_columns(kind):
    """Weight 0 exactly; with MultiSURF* what every column gets, which is 0 where each class has a far row."""
    X, y, _ = SAMPLES["constant_column"]
    for storage in STORAGES:
        found = kind().fit(storage(X), y).feature_importances_
        assert found[1] == found[3] == 0.0
    lonely = np.array([0, *[1] * 23])
    found = MultiSURFStar().fit(X, lonely).feature_importances_
    assert (
        found[1] == found[3] == pytest.approx(twin.weights("MultiSURFStar", X, lonely)[1], rel=1e-12) != 0.0
    )


# -------------------------------------------------------------------------------------------------- wrong input


@KIND
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"compatible": "weka"}, ValueError, "compatible must be None or \"skrebate\", got 'weka'"),
        ({"embedding": "tsne"}, ValueError, 'embedding must be "umap" or an object'),
        ({"embedding": object}, TypeError, 'embedding must be "umap" or an object'),
        ({"metric": "l3"}, ValueError, "metric must be one of"),
        ({"missing": True}, ValueError, "missing must be one of"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be None or an integer other than 0"),
        ({"n_features_to_select": 1.5}, ValueError, "n_features_to_select must be None, a positive integer"),
        ({"verbose": 1}, TypeError, "verbose must be True or False"),
        ({"random_state": -1}, ValueError, "random_state must lie in"),
    ],
)
def test_wrong_parameters(kind, parameters, error, message):
    X, y, _ = SAMPLES["random_dense"]
    with pytest.raises(error, match=message):
        kind(**parameters).fit(X, y)


@KIND
def test_wrong_targets(kind):
    X, y, _ = SAMPLES["random_dense"]
    if kind in (SURFStar, MultiSURFStar):  # the others take label sets: see test_near.py
        with pytest.raises(ValueError, match=f"{kind.__name__} takes one class per sample"):
            kind().fit(X, np.column_stack([y == 0, y == 1]).astype(int))
        with pytest.raises(ValueError, match=f"{kind.__name__} takes one class per sample"):
            kind().fit(X, sp.csr_matrix(np.column_stack([y == 0, y == 1]).astype(int)))
    with pytest.raises(ValueError, match="one class only"):
        kind().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="requires y"):
        kind().fit(X, None)


def test_fitting_again_forgets_the_first_fit():
    X, y, _ = SAMPLES["random_dense"]
    ranker = MultiSURF(discrete_features=[0], embedding=GivenRows(X[:, :2])).fit(X, y)
    ranker.set_params(discrete_features=None, embedding=None).fit(X, y)
    assert set(vars(ranker)) == set(vars(MultiSURF().fit(X, y)))


@KIND
def test_docstrings_name_every_parameter(kind):
    for name in kind().get_params():
        assert re.search(rf"\b{name}\b", kind.__doc__), name
    assert "Source: " in kind.__doc__ and kind.__name__ in reliefe.__all__


# --- samples without a near one of a class ---

CLASS = np.arange(20) % 2


def _class_copies(form):
    """Return three features equal to the class, and noise: every distance within a class is below all others."""
    noise = np.random.default_rng(0).random(20)
    X = np.column_stack([CLASS, CLASS, CLASS, noise]).astype(float)
    if form == "bits":
        return X[:, :3], {}
    if form == "sparse":
        return sp.csr_matrix(X), {}
    if form == "gaps":
        X[4, 3] = np.nan
        return X, {"missing": "ignore"}
    return X, {"discrete_features": [0, 1]} if form == "categories" else {}


@pytest.mark.parametrize("form", ["floats", "bits", "sparse", "gaps", "categories"])
@pytest.mark.parametrize("kind", [SURF, SURFStar, MultiSURF, MultiSURFStar])
def test_samples_without_a_near_miss_are_counted(kind, form):
    X, given = _class_copies(form)
    for sample_weight in (None, np.arange(20) % 4 * 1.0):
        with pytest.warns(
            UserWarning, match="of 20 samples, 20 have no near miss .* and 0 no near hit"
        ) as seen:
            kind(**given).fit(X, CLASS, sample_weight)
        assert len(seen) == 1 and seen[0].filename == __file__


@pytest.mark.parametrize("kind", [SURF, SURFStar, MultiSURF, MultiSURFStar])
def test_samples_without_a_near_hit_are_counted(kind):
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), [0, 0, 1, 1]
    with pytest.warns(UserWarning, match="of 4 samples, 0 have no near miss .* and 4 no near hit"):
        kind().fit(X, y)


def test_no_more_than_half_without_a_near_miss_are_no_warning():
    # Two samples of the other class far from the ten: these have a near miss each once ten others are mixed.
    X = np.concatenate([np.zeros(10), np.ones(10), np.zeros(10)])[:, np.newaxis]
    y = np.repeat([0, 1, 1], 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SURF().fit(X, y)  # 10 of 30 have none: those at 1
    with pytest.warns(UserWarning, match="of 20 samples, 20 have no near miss"):
        SURF().fit(X[:20], y[:20])


@pytest.mark.parametrize("run", ["fit", "transform", "turf", "vls", "stability", "test", "target"])
def test_one_warning_for_one_call_at_its_line(run):
    X, _ = _class_copies("floats")
    X = np.column_stack([X, X[:, :2]])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        if run == "fit":
            SURF().fit(X, CLASS)
        elif run == "transform":
            SURF().fit_transform(X, CLASS)
        elif run == "turf":
            TuRF(SURF(), removed=2).fit(X, CLASS)
        elif run == "vls":
            VLS(SURF(), subset_size=3).fit(X, CLASS)
        elif run == "stability":
            stability(SURF(), X, CLASS, n_features=2, n_subsamples=4)
        else:
            permute = "target" if run == "target" else "feature"
            permutation_test(TuRF(SURF(), removed=2), X, CLASS, n_permutations=19, permute=permute)
    seen = [each for each in seen if "no near miss" in str(each.message)]
    assert [each.filename for each in seen] == [__file__]
    ranker = SURF()
    for _ in range(2):  # the second fit of an object warns too
        with pytest.warns(UserWarning, match="no near miss"):
            ranker.fit(X, CLASS)
