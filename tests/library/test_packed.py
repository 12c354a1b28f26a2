"""Columns of few values are kept as bits, and nobody can tell: weights are those of the plain path."""

import naive
import naive_mixed
import naive_thresholds
import numpy as np
import pytest
from covering import covered
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import assert_weights_equal

from reliefe import SURF, VLS, MultiSURF, MultiSURFStar, ReliefF, SURFStar, TuRF, bands, packed, row_pairs
from reliefe import columns as columns_of
from reliefe.chosen import Chosen
from reliefe.columns import Columns

DTYPES = [
    bool,
    np.int8,
    np.uint8,
    np.int16,
    np.uint16,
    np.int32,
    np.uint32,
    np.int64,
    np.uint64,
    np.float32,
    np.float64,
]


@pytest.fixture
def plainly(monkeypatch):
    """Fit a ranker without packing anything."""

    def fit(ranker, X, y):
        with monkeypatch.context() as patch:
            patch.setattr(
                columns_of, "kinds_of", lambda profile, coded: np.zeros(coded.shape[0], dtype=np.int64)
            )
            return ranker.fit(X, y)

    return fit


@pytest.fixture
def packed_columns(monkeypatch):
    """How many columns of each matrix were packed, in the order of the fits."""
    found = []
    make = Columns.__init__

    def counted(self, X, *rest):
        make(self, X, *rest)
        found.append(self.n_packed)

    monkeypatch.setattr(Columns, "__init__", counted)
    return found


@pytest.fixture
def small_pieces(monkeypatch):
    """Tiles of two words, and pieces of a word."""
    monkeypatch.setattr(bands, "_WORDS", 4)
    monkeypatch.setattr(bands, "PACKED_AT_ONCE", 100)
    monkeypatch.setattr(columns_of, "_CACHED", 64)
    monkeypatch.setattr(columns_of, "_LOOKED_AT", 100)
    monkeypatch.setattr(packed, "_TILE_BYTES", 64)


def genotypes(rng, n, p, highest=2):
    return rng.binomial(highest, rng.uniform(0.05, 0.5, p), (n, p)).astype(np.float64)


def mixture(rng, n, p, highest=3):
    """Columns of 1 to four values, and others, in any order; some are constant, some start below 0."""
    X = genotypes(rng, n, p, highest) - rng.integers(-2, 3, p)
    X[:, rng.random(p) < 0.2] = 7
    some = rng.random(p) < 0.3
    X[:, some] = rng.normal(size=(n, some.sum()))
    some = rng.random(p) < 0.1
    X[:, some] = rng.integers(-4, 9, size=(n, some.sum()))
    return X


RANKERS = {
    "k = 1": dict(n_neighbors=1),
    "k = 15": dict(),
    "k = 200": dict(n_neighbors=200),
    "adaptive": dict(n_neighbors="adaptive"),
    "abs_mean": dict(abs_mean=True),
    "sampled": dict(n_iterations=9, random_state=1),
    "regression": dict(target="regression"),
    "regression, abs_mean": dict(target="regression", abs_mean=True),
    "labels": dict(target_distance="f1"),
    "skrebate": dict(compatible="skrebate"),
}


def target(rng, n, name):
    if name.startswith("regression"):
        return rng.normal(size=n)
    return (rng.random((n, 3)) < 0.4).astype(int) if name == "labels" else rng.integers(0, 3, n)


@covered(
    {"name": list(RANKERS), "highest": [2, 3], "make": [genotypes, mixture], "n_jobs": [1, 3]},
    full={"name": [0]},
)
def test_weights_are_those_of_the_plain_path_to_the_last_bit(
    name, highest, make, n_jobs, plainly, packed_columns, small_pieces
):
    rng = np.random.default_rng(600)
    n, p = 90, 331
    X, y = make(rng, n, p, highest), target(rng, n, name)
    ranker = ReliefF(n_jobs=n_jobs, **RANKERS[name])
    found = ranker.fit(X, y).feature_importances_
    expected = plainly(ReliefF(**RANKERS[name]), X, y)
    np.testing.assert_array_equal(found, expected.feature_importances_)
    np.testing.assert_array_equal(ranker.ranking_, expected.ranking_)
    if name == "adaptive":
        np.testing.assert_array_equal(ranker.n_neighbors_used_, expected.n_neighbors_used_)
    few = packed_columns[0]
    assert few == p if make is genotypes else 32 <= few < p
    assert packed_columns[1] == 0


@pytest.mark.parametrize("n_jobs", [3])
@pytest.mark.parametrize("make", [genotypes, mixture])
@pytest.mark.parametrize("highest", [2, 3])
@pytest.mark.parametrize("compatible", [None, "skrebate"])
@pytest.mark.parametrize("kind", [SURF, SURFStar, MultiSURF, MultiSURFStar])
def test_weights_by_thresholds_are_those_of_the_plain_path(
    kind, compatible, highest, make, n_jobs, plainly, packed_columns, small_pieces, monkeypatch
):
    monkeypatch.setattr(row_pairs, "_BLOCK_BYTES", 8 * 90 * 40)  # more than one block
    rng = np.random.default_rng(605)
    n, p = 90, 331
    X, y = make(rng, n, p, highest), rng.integers(0, 3, n)
    ranker = kind(n_jobs=n_jobs, compatible=compatible)
    found = ranker.fit(X, y).feature_importances_
    assert_weights_equal(found, plainly(kind(compatible=compatible), X, y).feature_importances_)
    few = packed_columns[0]
    assert few == p if make is genotypes else 32 <= few < p
    np.testing.assert_array_equal(found, kind(compatible=compatible).fit(X, y).feature_importances_)


def with_gaps(rng, X, share=0.1):
    """Missing values in most columns, one column of which nothing is known, one row of which nothing is."""
    X = X.copy()
    X[(rng.random(X.shape) < share) & (rng.random(X.shape[1]) < 0.7)] = np.nan
    X[:, 3] = np.nan
    X[5] = np.nan
    return X


MIXED = {
    "gaps": (True, None),
    "categories": (False, "auto"),
    "gaps and categories": (True, "auto"),
    "some categories": (True, np.arange(0, 200, 3)),
}


@covered(
    {
        "name": [name for name in RANKERS if name != "skrebate"],
        "highest": [2, 3],
        "make": [genotypes, mixture],
        "mixed": list(MIXED),
    },
    full={"name": [0]},
)
def test_missing_values_and_categories_change_no_bit(
    name, highest, make, mixed, plainly, packed_columns, small_pieces
):
    gaps, discrete = MIXED[mixed]
    rng = np.random.default_rng(608)
    n, p = 70, 201
    X, y = make(rng, n, p, highest), target(rng, n, name)
    X = with_gaps(rng, X) if gaps else X
    given = dict(missing="ignore", discrete_features=discrete, **RANKERS[name])
    ranker = ReliefF(n_jobs=2, **given)
    found = ranker.fit(X, y).feature_importances_
    np.testing.assert_array_equal(found, plainly(ReliefF(**given), X, y).feature_importances_)
    few = packed_columns[0]
    assert few == p if make is genotypes else 32 <= few < p
    assert packed_columns[1] == 0


@pytest.mark.parametrize("mixed", MIXED)
@pytest.mark.parametrize("make", [genotypes, mixture])
@pytest.mark.parametrize("kind", [SURF, SURFStar, MultiSURF, MultiSURFStar])
def test_thresholds_with_missing_values_and_categories(
    kind, make, mixed, plainly, packed_columns, small_pieces, monkeypatch
):
    monkeypatch.setattr(row_pairs, "_BLOCK_BYTES", 64 * 70 * 30)
    gaps, discrete = MIXED[mixed]
    rng = np.random.default_rng(609)
    X, y = make(rng, 70, 201, 3), rng.integers(0, 3, 70)
    X = with_gaps(rng, X) if gaps else X
    given = dict(missing="ignore", discrete_features=discrete)
    found = kind(n_jobs=2, **given).fit(X, y).feature_importances_
    assert_weights_equal(found, plainly(kind(**given), X, y).feature_importances_)
    assert packed_columns[0] >= 32 and packed_columns[1] == 0
    np.testing.assert_array_equal(found, kind(**given).fit(X, y).feature_importances_)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_small_tables_with_gaps_and_categories_are_as_the_twins_say(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, p = data.draw(st.integers(4, 12)), data.draw(st.integers(1, 6))
    X = rng.integers(0, data.draw(st.integers(2, 8)), size=(n, p)).astype(float)
    X[rng.random((n, p)) < data.draw(st.sampled_from([0.0, 0.2]))] = np.nan
    y = np.array([0, 1, *rng.integers(0, data.draw(st.integers(1, 3)), n - 2)])
    discrete = rng.random(p) < 0.5
    given = dict(missing="ignore", discrete_features=discrete)
    k = data.draw(st.sampled_from([1, 3, "adaptive"]))
    expected, _ = naive_mixed.relieff(X, y, k, discrete=discrete, exact=True)
    assert_weights_equal(ReliefF(k, **given).fit(X, y).feature_importances_, expected)
    kind = data.draw(st.sampled_from([SURF, SURFStar, MultiSURF, MultiSURFStar]))
    expected = naive_thresholds.weights(kind.__name__, X, y, discrete=discrete, exact=True)
    assert_weights_equal(kind(**given).fit(X, y).feature_importances_, expected)


@pytest.mark.parametrize("step", [1.0, 0.5, 1e-300])
def test_categories_that_are_no_whole_numbers(step, plainly):
    """They have codes, whether they lie in order, near one another or far apart."""
    rng = np.random.default_rng(610)
    whole = rng.integers(-2, 5, size=(60, 40)).astype(float)
    y = rng.integers(0, 2, 60)
    expected = plainly(ReliefF(discrete_features="auto"), whole, y).feature_importances_
    found = ReliefF(discrete_features="auto").fit(whole * step, y).feature_importances_
    np.testing.assert_array_equal(found, expected)


def test_thresholds_on_many_rows_of_many_classes(plainly):
    """Bits of rows beyond a word, classes that begin and end within one."""
    rng = np.random.default_rng(606)
    X, y = genotypes(rng, 700, 40), np.minimum(rng.geometric(0.2, 700), 30)
    for kind in (SURF, SURFStar, MultiSURF, MultiSURFStar):
        found = kind().fit(X, y).feature_importances_
        assert_weights_equal(found, plainly(kind(), X, y).feature_importances_)


def test_subsets_of_columns(plainly, packed_columns):
    rng = np.random.default_rng(607)
    X, y = genotypes(rng, 60, 200).astype(np.int8), rng.integers(0, 2, 60)
    for make in (lambda: TuRF(MultiSURF()), lambda: VLS(ReliefF(), n_subsets=6, random_state=0)):
        found = make().fit(X, y).feature_importances_
        assert packed_columns and all(packed_columns)
        expected = plainly(make(), X.astype(np.float64), y)
        assert_weights_equal(found, expected.feature_importances_)
        packed_columns.clear()


@pytest.mark.parametrize("dtype", [np.int8, np.float32, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_subsets_are_ranked_where_they_lie(order, dtype, monkeypatch):
    """The weights of copies of the columns, to the last bit; and no copy is made."""
    rng = np.random.default_rng(611)
    X = np.array(genotypes(rng, 70, 150, 1 if dtype is bool else 2), dtype=dtype, order=order)
    y = rng.integers(0, 3, 70)
    gaps = dtype is np.float32
    if gaps:
        X[rng.random(X.shape) < 0.05] = np.nan
    missing = {"missing": "ignore" if gaps else "raise"}

    class Copied(MultiSURF):
        """As MultiSURF, but handed copies, as any ranker that is not known is."""

    def fits(kind):
        seen = []
        fit = kind.fit
        with monkeypatch.context() as patch:
            patch.setattr(
                kind, "fit", lambda self, X, *rest: seen.append(isinstance(X, Chosen)) or fit(self, X, *rest)
            )
            for wrapper in (TuRF(kind(**missing)), VLS(kind(**missing), n_subsets=7, random_state=0)):
                yield wrapper.fit(X, y).feature_importances_
        yield seen

    *found, chosen = fits(MultiSURF)
    *expected, copied = fits(Copied)
    assert len(chosen) == len(copied) == 17 and all(chosen) and not any(copied)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_subsets_with_other_columns_are_copied(plainly):
    rng = np.random.default_rng(612)
    X, y = genotypes(rng, 60, 90).astype(np.float64), rng.integers(0, 2, 60)
    X[:, ::9] = rng.random((60, 10))
    found = VLS(MultiSURF(), subset_size=4, n_subsets=40, random_state=0).fit(X, y)
    assert {bool((subset % 9 == 0).any()) for subset in found.subsets_} == {False, True}
    expected = plainly(VLS(MultiSURF(), subset_size=4, n_subsets=40, random_state=0), X, y)
    assert_weights_equal(found.feature_importances_, expected.feature_importances_)


def test_duplicates_and_ties(plainly):
    """Rows that are there three times, and few columns: hardly a distance is unlike all others."""
    rng = np.random.default_rng(601)
    X = np.repeat(rng.integers(0, 3, (60, 5)), 3, axis=0)
    y = rng.integers(0, 2, 180)
    for k in (1, 4, "adaptive"):
        found = ReliefF(k).fit(X, y).feature_importances_
        np.testing.assert_array_equal(found, plainly(ReliefF(k), X, y).feature_importances_)
        assert_weights_equal(found, naive.relieff(X, y, k, exact=True)[0])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_types_and_orders_change_no_bit(dtype, order, plainly, packed_columns):
    rng = np.random.default_rng(602)
    highest = 1 if dtype is bool else 2
    X = genotypes(rng, 70, 150, highest)
    y = rng.integers(0, 2, 70)
    given = np.array(X, dtype=dtype, order=order)
    before = given.copy()
    found = ReliefF().fit(given, y).feature_importances_
    np.testing.assert_array_equal(given, before)
    np.testing.assert_array_equal(found, plainly(ReliefF(), X, y).feature_importances_)
    assert packed_columns == [150, 0]


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.float32])
def test_other_numbers_keep_their_type_too(dtype):
    """Columns of many values, and a wide table of them, which is never normalised as a whole."""
    rng = np.random.default_rng(603)
    for shape in ((40, 30), (24, 50_000)):
        X = rng.integers(0, 100, size=shape).astype(dtype)
        y = rng.integers(0, 2, shape[0])
        found = ReliefF(3).fit(X, y).feature_importances_
        np.testing.assert_array_equal(found, ReliefF(3).fit(X.astype(np.float64), y).feature_importances_)


@pytest.mark.parametrize("X", [np.arange(400.0).reshape(20, 20)[::-1], np.arange(400)[::2].reshape(20, 10)])
def test_views_of_other_arrays(X):
    y = np.arange(20) % 2
    for view in (
        X,
        X[:, 1::3],
        X.T[:20].T,
        np.broadcast_to(X[:, :1], (20, 4)),
        X.astype(X.dtype.newbyteorder()),
    ):
        expected = ReliefF(3).fit(np.array(view, dtype=np.float64), y).feature_importances_
        np.testing.assert_array_equal(ReliefF(3).fit(view, y).feature_importances_, expected)


def test_a_mapped_file_stays_where_it_is(tmp_path, monkeypatch):
    rng = np.random.default_rng(604)
    X, y = genotypes(rng, 40, 90).astype(np.int8), rng.integers(0, 2, 40)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    seen = []
    make = Columns.__init__
    monkeypatch.setattr(Columns, "__init__", lambda self, X, *rest: (seen.append(X), make(self, X, *rest))[1])
    found = ReliefF().fit(mapped, y).feature_importances_
    np.testing.assert_array_equal(found, ReliefF().fit(X, y).feature_importances_)
    assert np.shares_memory(seen[0], mapped)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_any_mixture_of_columns(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, p = data.draw(st.integers(4, 40)), data.draw(st.integers(1, 90))
    X = (mixture if data.draw(st.booleans()) else genotypes)(rng, n, p, data.draw(st.integers(1, 3)))
    y = np.array([0, 1, *rng.integers(0, data.draw(st.integers(1, 3)), n - 2)])
    k, abs_mean = data.draw(st.sampled_from([1, 3, 8, "adaptive"])), data.draw(st.booleans())
    found = ReliefF(k, abs_mean=abs_mean).fit(X, y).feature_importances_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns_of, "kinds_of", lambda profile, coded: np.zeros(p, dtype=np.int64))
        expected = ReliefF(k, abs_mean=abs_mean).fit(X, y).feature_importances_
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("value", [2.0**53, -(2.0**60), 1e300])
def test_whole_numbers_too_large_to_tell_apart_are_left_alone(value, packed_columns):
    X = np.arange(80.0).reshape(20, 4) % 3 + value
    X[0] = value * 1.5
    y = np.arange(20) % 2
    assert np.isfinite(ReliefF(3).fit(X, y).feature_importances_).all()
    assert packed_columns == [0]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("kind", [ReliefF, MultiSURF])
def test_whole_numbers_beyond_floats_are_ranked_as_floats(kind, dtype):
    rng = np.random.default_rng(613)
    X, y = genotypes(rng, 30, 3).astype(dtype), np.arange(30) % 2
    X[:, 0] += dtype(2**62)  # as floats one number, so of weight 0
    found = kind().fit(X, y).feature_importances_
    assert found[0] == 0.0
    np.testing.assert_array_equal(found, kind().fit(X.astype(np.float64), y).feature_importances_)
