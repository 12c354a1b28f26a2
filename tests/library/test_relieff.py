"""ReliefF against its twin, and the cases on rankers (1, 2, 3, 6)."""

from functools import cache

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from covering import covered
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import SAMPLES, assert_weights_equal

from reliefe import ReliefF

VARIANTS = [(k, abs_mean) for k in (15, "adaptive") for abs_mean in (False, True)]
LABELLED = [[0, 7, 1], [1, 7, 0], [2, 7, 1], [3, 7, 0], [4, 7, 0]], ["lo", "lo", "lo", "mid", "hi"]


def weights_of(X, y, k=15, abs_mean=False, **parameters):
    return ReliefF(n_neighbors=k, abs_mean=abs_mean, **parameters).fit(X, y).feature_importances_


@cache
def twin(name, k, abs_mean):
    X, y, exact = SAMPLES[name]
    return naive.relieff(X, y, k, abs_mean, exact=exact)


# ---------------------------------------------------------------------------------------------- fast == naive


@covered(
    {
        "name": list(SAMPLES),
        "k": [1, 4, 15, 500, "adaptive"],
        "abs_mean": [False, True],
        "storage": [np.ascontiguousarray, sp.csr_matrix],
    },
    full={"name": ["classes_of_1_2_and_15"]},
)
def test_fast_is_naive(name, k, abs_mean, storage):
    X, y, _ = SAMPLES[name]
    expected, used = twin(name, k, abs_mean)
    ranker = ReliefF(n_neighbors=k, abs_mean=abs_mean).fit(storage(X), y)
    assert_weights_equal(ranker.feature_importances_, expected)
    if k == "adaptive":
        assert np.asarray(ranker.n_neighbors_used_).dtype.kind == "i"
        np.testing.assert_array_equal(ranker.n_neighbors_used_, used)
    assert ranker.feature_importances_.dtype == np.float64
    order = np.argsort(-ranker.feature_importances_, kind="stable")
    np.testing.assert_array_equal(ranker.ranking_[order], np.arange(1, X.shape[1] + 1))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_fast_is_naive_on_any_small_integers(data):
    n, p = data.draw(st.integers(3, 12)), data.draw(st.integers(1, 4))
    highs = data.draw(st.lists(st.sampled_from([1, 2, 3, 5, 7, 11, 13]), min_size=p, max_size=p))
    row = st.tuples(*[st.integers(-high // 2, high) for high in highs])
    X = np.array(data.draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    y = np.array([0, 1, *data.draw(st.lists(st.integers(0, 2), min_size=n - 2, max_size=n - 2))])
    k = data.draw(st.sampled_from([1, 2, 3, "adaptive"]))
    abs_mean = data.draw(st.booleans())
    expected, used = naive.relieff(X, y, k, abs_mean, exact=True)
    for storage in (np.asarray, sp.csr_matrix):
        ranker = ReliefF(n_neighbors=k, abs_mean=abs_mean).fit(storage(X), y)
        assert_weights_equal(ranker.feature_importances_, expected)
        if k == "adaptive":
            np.testing.assert_array_equal(ranker.n_neighbors_used_, used)


@pytest.mark.parametrize(("k", "abs_mean"), [*VARIANTS, (3, False)])
def test_ties_hold_when_columns_are_not_integers(k, abs_mean):
    """Sevenths and tenths: the same ties as of integers, though no float holds these numbers exactly."""
    X, y, _ = SAMPLES["ties"]
    expected, used = naive.relieff(X, y, k, abs_mean, exact=True)
    for scaled in (X / 7 + 0.1, X * 0.1 - 1 / 3, X * [1e-9, 1 / 3, 1e9, 0.7]):
        ranker = ReliefF(n_neighbors=k, abs_mean=abs_mean).fit(scaled, y)
        np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-9, atol=1e-12)
        if k == "adaptive":
            np.testing.assert_array_equal(ranker.n_neighbors_used_, used)


@pytest.mark.parametrize(("k", "abs_mean"), VARIANTS)
def test_many_columns_with_many_ties(k, abs_mean):
    rng = np.random.default_rng(9)
    X = rng.integers(0, 2, size=(20, 60)) * rng.integers(1, 4, size=60) + rng.integers(0, 2, size=60)
    X = np.where(rng.random(X.shape) < 0.5, 0, X).astype(float)
    y = rng.integers(0, 2, 20)
    expected, _ = naive.relieff(X, y, k, abs_mean, exact=True)
    assert_weights_equal(weights_of(X, y, k, abs_mean), expected)
    assert_weights_equal(weights_of(sp.csr_matrix(X), y, k, abs_mean), expected)


# ------------------------------------------------------------------------------------------------- iterations


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("k", "abs_mean"), VARIANTS)
@pytest.mark.parametrize("s", [1, 11, 35])
def test_fewer_iterations_use_a_sample_without_replacement(s, k, abs_mean, storage):
    X, y, _ = SAMPLES["random_dense"]
    ranker = ReliefF(n_neighbors=k, abs_mean=abs_mean, n_iterations=s, random_state=3).fit(storage(X), y)
    rows = ranker.sample_indices_
    assert len(set(rows.tolist())) == s and rows.min() >= 0 and rows.max() < len(y)
    expected, used = naive.relieff(X, y, k, abs_mean, rows=rows)
    assert_weights_equal(ranker.feature_importances_, expected)
    if k == "adaptive":
        np.testing.assert_array_equal(ranker.n_neighbors_used_, used)


def test_which_rows_are_used_depends_on_the_seed_alone():
    X, y, _ = SAMPLES["random_dense"]
    rows = [
        tuple(ReliefF(n_iterations=6, random_state=s).fit(X, y).sample_indices_) for s in [*range(40), 0, 1]
    ]
    assert rows[0] == rows[40] and rows[1] == rows[41]
    assert len(set(rows)) > 35
    # 240 draws over 36 rows: a row that never or nearly always comes up would show the sample is not uniform.
    times = np.bincount(np.concatenate(rows[:40]), minlength=36)
    assert times.min() >= 1 and times.max() <= 18
    generator = np.random.RandomState(5)
    first = ReliefF(n_iterations=6, random_state=generator).fit(X, y).sample_indices_
    second = ReliefF(n_iterations=6, random_state=generator).fit(X, y).sample_indices_
    assert first.tolist() != second.tolist()


@pytest.mark.parametrize("s", [None, 36, 37, 10**6])
def test_all_iterations_draw_no_random_number(s):
    X, y, _ = SAMPLES["random_dense"]
    generator = np.random.RandomState(5)
    before = generator.get_state()[2]
    ranker = ReliefF(n_iterations=s, random_state=generator).fit(X, y)
    assert generator.get_state()[2] == before
    assert_weights_equal(ranker.feature_importances_, twin("random_dense", 15, False)[0])


# ------------------------------------------------------------------------------------------ worked examples


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", [list, np.array, sp.csr_matrix])
@pytest.mark.parametrize(
    ("k", "abs_mean", "expected"),
    [
        (1, False, [0.3375, 0, 0.2]),
        (2, False, [0.35, 0, 0.15]),
        (15, False, [0.3875, 0, 0.2]),
        (15, True, [0.4375, 0, 0.2]),
    ],
)
def test_small_classes_and_a_constant_column(k, abs_mean, expected, storage):
    X, y = LABELLED
    found = weights_of(storage(X), y, k, abs_mean)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found[1] == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("k", "abs_mean"), [(1, False), *VARIANTS])
@pytest.mark.parametrize("times", [1, 2, 7, 40])
def test_weights_lie_between_minus_1_and_1(k, abs_mean, times):
    apart = np.array([[0.0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]]), np.array([0, 0, 1, 1])
    for X, y in ((np.array(LABELLED[0], dtype=float), np.array(LABELLED[1])), apart):
        found = weights_of(np.repeat(X, times, axis=0), np.repeat(y, times), k, abs_mean)
        assert np.isfinite(found).all() and np.abs(found).max() <= 1


CLASSES = [2, 2, 2, 2, 5, 5, 9, 9]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "names",
    [
        (2, 5, 9),
        (0, 1, 2),
        (9, 2, 5),
        (-7, 1000, -3),
        ("b", "a", "c"),
        ("", "é", "10"),
        (0.0, -1.0, 3.0),
        (np.int8(-128), np.int8(127), np.int8(0)),
        (2**40, 1, -(2**40)),
    ],
)
def test_names_of_classes_do_not_matter(names):
    column = np.array([[0.0], [1], [2], [3], [4], [5], [6], [10]])
    y = [dict(zip((2, 5, 9), names, strict=True))[c] for c in CLASSES]
    if isinstance(names[0], str):
        forms = [y, np.array(y), np.array(y, dtype=object)]
    else:
        forms = [y, np.array(y), np.array(y).astype(str)]
    for form in forms:
        assert weights_of(column, form, 2) == pytest.approx([0.2333333333333333], rel=1e-12)


def test_boolean_classes():
    X, y, _ = SAMPLES["constant_column"]
    np.testing.assert_array_equal(weights_of(X, y.astype(bool)), weights_of(X, y))
    np.testing.assert_allclose(weights_of(X, 1 - y), weights_of(X, y), rtol=0, atol=1e-12)


@pytest.mark.parametrize("storage", [np.array, sp.csr_matrix])
def test_duplicates_are_neighbours(storage):
    X = storage([[0, 0], [0, 0], [1, 1], [1, 1], [0, 1], [0, 1]])
    assert weights_of(X, [0, 1, 0, 1, 0, 1], 1) == pytest.approx([-1 / 3, -2 / 3], rel=1e-12)


# -------------------------------------------------------------------------------- one matrix, many storages


def _csr_with_entries_twice(X):
    """Every non-zero stored as two halves, in no order, with stored zeros between."""
    row, column = np.nonzero(X)
    value = X[row, column]
    zero_row, zero_column = np.nonzero(X == 0)
    some = slice(None, None, 3)
    row = np.concatenate([row, zero_row[some], row])
    column = np.concatenate([column, zero_column[some], column])
    value = np.concatenate([value - 1, np.zeros(len(zero_row[some])), np.ones_like(value)])
    order = np.random.default_rng(0).permutation(len(row))
    order = order[np.argsort(row[order], kind="stable")]
    pointers = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(X)))])
    return sp.csr_matrix((value[order], column[order], pointers), shape=X.shape)


def _wide_indices(X):
    X = sp.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _unsorted(X):
    X = sp.csr_matrix(X)
    for a, b in zip(X.indptr, X.indptr[1:], strict=False):
        X.indices[a:b], X.data[a:b] = X.indices[a:b][::-1].copy(), X.data[a:b][::-1].copy()
    X.has_sorted_indices = False
    return X


CLOTHES = {
    "list": (lambda X: X.tolist(), float),
    "fortran": (np.asfortranarray, float),
    "strided": (lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3], float),
    "big-endian": (lambda X: X.astype(">f8"), float),
    "float32": (lambda X: X.astype(np.float32), np.float32),
    "int8": (lambda X: X.astype(np.int8), np.int8),
    "int64": (lambda X: X.astype(np.int64), np.int64),
    "uint8": (lambda X: X.astype(np.uint8), np.uint8),
    "bool": (lambda X: X.astype(bool), bool),
    "csr_matrix": (sp.csr_matrix, float),
    "csr_array": (sp.csr_array, float),
    "csr float32": (lambda X: sp.csr_matrix(X.astype(np.float32)), np.float32),
    "csr int8": (lambda X: sp.csr_matrix(X.astype(np.int8)), np.int8),
    "csr uint8": (lambda X: sp.csr_matrix(X.astype(np.uint8)), np.uint8),
    "csr bool": (lambda X: sp.csr_matrix(X.astype(bool)), bool),
    "csc": (sp.csc_matrix, float),
    "csc_array": (sp.csc_array, float),
    "coo": (sp.coo_matrix, float),
    "coo_array": (sp.coo_array, float),
    "64-bit indices": (_wide_indices, float),
    "unsorted": (_unsorted, float),
    "twice and zeros": (_csr_with_entries_twice, float),
}


def _values_for(kind):
    """Whole numbers the type can hold, whose differences it cannot."""
    rng = np.random.default_rng(11)
    zero = rng.random((28, 5)) < 0.4
    if kind is bool:
        return (~zero).astype(float)
    if kind is np.uint8:
        return np.where(zero, 0, rng.choice([1, 2, 3, 100, 200, 255], (28, 5))).astype(float)
    return np.where(zero, 0, rng.choice([-128, -100, -3, 1, 50, 127], (28, 5))).astype(float)


def _memory(X):
    if sp.issparse(X):
        names = ("data", "indices", "indptr", "row", "col", "coords")
        parts = [np.asarray(getattr(X, name)).copy() for name in names if hasattr(X, name)]
    else:
        parts = [np.array(X)]
    return [(part.dtype, part.tobytes()) for part in parts]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("k", "abs_mean"), [(2, False), ("adaptive", True)])
@pytest.mark.parametrize("name", CLOTHES)
def test_same_matrix_in_other_clothes(name, k, abs_mean):
    dress, kind = CLOTHES[name]
    X = _values_for(kind)
    y = np.random.default_rng(12).integers(0, 3, 28)
    expected = weights_of(X, y, k, abs_mean)
    assert_weights_equal(expected, naive.relieff(X, y, k, abs_mean, exact=True)[0])
    dressed = dress(X)
    before, y_before = _memory(dressed), y.copy()
    found = weights_of(dressed, y, k, abs_mean)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert _memory(dressed) == before and (y == y_before).all()


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_float32_of_any_numbers(storage):
    X, y, _ = SAMPLES["random_dense"]
    np.testing.assert_allclose(weights_of(storage(X.astype(np.float32)), y), weights_of(X, y), atol=1e-5)


@pytest.mark.parametrize("storage", [np.array, sp.csr_matrix])
def test_read_only_arrays_are_enough(storage):
    X, y, _ = SAMPLES["mostly_zeros"]
    given_X, given_y = storage(X), y.copy()
    for part in (given_X.data, given_X.indices, given_X.indptr) if sp.issparse(given_X) else (given_X,):
        part.setflags(write=False)
    given_y.setflags(write=False)
    np.testing.assert_array_equal(weights_of(given_X, given_y), weights_of(storage(X), y))


@pytest.mark.parametrize(("k", "abs_mean"), VARIANTS)
def test_dense_and_sparse_agree_to_1e_12(k, abs_mean):
    for X, y, _ in SAMPLES.values():
        difference = weights_of(X, y, k, abs_mean) - weights_of(sp.csr_matrix(X), y, k, abs_mean)
        assert np.abs(difference).max() <= 1e-12


# --------------------------------------------------------------------------------- equal columns and threads


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("k", "abs_mean"), VARIANTS)
def test_equal_columns_and_many_threads(k, abs_mean, storage):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(90, 40)) * (rng.random((90, 40)) < 0.7)
    copies = np.sort(rng.permutation(40)[:30])
    X[:, copies] = X[:, copies[:1]]
    y = rng.integers(0, 3, 90)
    first = ReliefF(n_neighbors=k, abs_mean=abs_mean).fit(storage(X), y)
    assert len(np.unique(first.feature_importances_[copies].view(np.int64))) == 1
    assert (np.diff(first.ranking_[copies]) == 1).all()
    for n_jobs in (1, 2, 4, 8):
        for _ in range(10):
            again = weights_of(storage(X), y, k, abs_mean, n_jobs=n_jobs)
            assert again.tobytes() == first.feature_importances_.tobytes()
