"""Bad input ends before any computing, with a message that names the parameter or the place."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from samples import LinearMap

from reliefe import ReliefE, ReliefF

WRONG = (TypeError, ValueError)
RANKERS = [ReliefF, ReliefE]
X = np.random.default_rng(60).normal(size=(12, 4))
Y = np.arange(12) % 2


class Untouched:
    """An embedding that must not be reached."""

    def fit(self, X, y=None):
        raise AssertionError("computing began before the input was checked")

    transform = fit


def make(ranker, **parameters):
    if ranker is ReliefE:
        parameters.setdefault("embedding", Untouched())
    return ranker(**parameters)


# ------------------------------------------------------------------------------------------------- parameters

COMMON = [
    ("n_neighbors", [0, -1, True, False, 2.0, 2.5, "foo", "Adaptive", None, [3], float("nan")]),
    ("abs_mean", ["yes", "False", None, 2, 0.5]),
    ("n_iterations", [0, -5, True, 3.0, "all", float("inf")]),
    ("n_features_to_select", [0, -1, True, 1.5, 0.0, -0.5, "two", float("nan")]),
    ("n_jobs", [0, 1.5, "all", True]),
    ("random_state", ["junk", -1, 1.5, [1, 2], object()]),
]
ONLY_E = [
    ("metric", ["foo", "Cosine", None, 3, ["cosine"]]),
    ("embedding", ["foo", "UMAP", None, 3, object(), LinearMap]),
    ("n_components", [0, -2, True, 2.0, "mle", None]),
    ("n_representatives", [0, -1, True, 100.0, "all", None]),
    ("sparsify_above", [-0.1, 1.1, "auto", None, True, float("nan")]),
]
CASES = [(r, name, value) for r in RANKERS for name, values in COMMON for value in values]
CASES += [(ReliefE, name, value) for name, values in ONLY_E for value in values]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("ranker", "name", "value"), CASES, ids=lambda part: getattr(part, "__name__", None))
def test_a_wrong_parameter_is_named(ranker, name, value):
    with pytest.raises(WRONG, match=name):
        make(ranker, **{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_neighbors", np.int64(3)),
        ("abs_mean", np.True_),
        ("n_iterations", np.int32(3)),
        ("n_jobs", -1),
        ("n_features_to_select", 0.5),
        ("n_features_to_select", 4),
        ("random_state", np.random.RandomState(0)),
        ("random_state", np.int64(7)),
    ],
)
@pytest.mark.parametrize("ranker", RANKERS)
def test_numpy_numbers_are_numbers(ranker, name, value):
    parameters = {"embedding": LinearMap(np.eye(4)[:, :2])} if ranker is ReliefE else {}
    found = ranker(**parameters, **{name: value}).fit(X, Y)
    assert np.isfinite(found.feature_importances_).all()


def test_parameters_after_the_first_are_keyword_only():
    for ranker in RANKERS:
        assert ranker(3).n_neighbors == 3
        with pytest.raises(TypeError):
            ranker(3, 15)


# --------------------------------------------------------------------------------------------------- the data


def frame(**changes):
    return pd.DataFrame({"age": X[:, 0], "weight_kg": X[:, 1], "height": X[:, 2], "dose": X[:, 3]}).assign(
        **changes
    )


def with_value(value, dtype=np.float64):
    changed = X.astype(dtype)
    changed[5, 2] = value
    return changed


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "storage",
    [
        np.asarray,
        np.asfortranarray,
        lambda a: a.astype(np.float32),
        sp.csr_matrix,
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_matrix,
    ],
)
def test_values_that_are_not_finite_are_placed_by_index(storage, value, ranker):
    with pytest.raises(ValueError, match=r"feature (number )?2\b"):
        make(ranker).fit(storage(with_value(value)), Y)


BAD_COLUMNS = {
    "NaN": np.where(np.arange(12) == 5, np.nan, 1.0),
    "infinity": np.where(np.arange(12) == 5, -np.inf, 1.0),
    "text": np.array(["a", "b"] * 6),
    "objects of text": np.array(["a", "b"] * 6, dtype=object),
    "objects of text like numbers": np.array(["1", "2"] * 6, dtype=object),
    "text and numbers": np.array(["a", 2.0] * 6, dtype=object),
    "None": np.array([None, 2.0] * 6, dtype=object),
    "categories": pd.Categorical(["lo", "hi"] * 6),
    "pandas NA": pd.array([1, None] * 6, dtype="Int64"),
    "pandas text": pd.array(["a", None] * 6, dtype="string"),
    "dates": pd.date_range("2020-01-01", periods=12),
    "complex": np.array([1 + 2j, 3.0] * 6),
}


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("column", BAD_COLUMNS.values(), ids=BAD_COLUMNS)
def test_a_bad_column_of_a_data_frame_is_named(column, ranker):
    with pytest.raises(WRONG, match="weight_kg"):
        make(ranker).fit(frame(weight_kg=column), Y)


@pytest.mark.parametrize("ranker", RANKERS)
def test_text_in_an_array_of_objects_is_placed_by_index(ranker):
    text = X.astype(object)
    text[:, 3] = "x"
    with pytest.raises(WRONG, match=r"column (number )?3\b"):
        make(ranker).fit(text, Y)
    with pytest.raises(WRONG, match=r"text|string"):
        make(ranker).fit([["a", "b"], ["c", "d"]], [0, 1])
    with pytest.raises(WRONG, match=r"text|string"):
        make(ranker).fit(X.astype(str), Y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.empty((0, 4)), "0 sample"),
        (sp.csr_matrix((0, 4)), "0 sample"),
        (np.empty((12, 0)), "0 feature"),
        (np.zeros(12), "1D|2D|dimension"),
        (np.zeros((12, 2, 2)), "dim"),
        (np.array([[1j, 2], [3, 4]]), "[Cc]omplex"),
        (None, "X|None|array"),
        ("text", "X|array|string"),
    ],
    ids=lambda part: str(type(part)),
)
def test_data_of_the_wrong_shape(bad, message, ranker):
    n = bad.shape[0] if hasattr(bad, "shape") else 12
    with pytest.raises(WRONG, match=message):
        make(ranker).fit(bad, Y[:n])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_a_range_too_large_for_float64_is_no_infinity(ranker, storage):
    huge = X.copy()
    huge[:2, 1] = [-1.5e308, 1.5e308]
    with pytest.raises(ValueError, match=r"feature (number )?1\b"):
        make(ranker).fit(storage(huge), Y)
    if storage is np.asarray:
        names = [f"n{j}" for j in range(huge.shape[1])]
        with pytest.raises(ValueError, match=r"feature 1 \('n1'\)"):
            make(ranker).fit(pd.DataFrame(huge, columns=names), Y)


# ------------------------------------------------------------------------------------------------- the target


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:-1], "length|inconsistent|samples"),
        (np.append(Y, 0), "length|inconsistent|samples"),
        (np.zeros(12, dtype=int), "class"),
        (["one"] * 12, "class"),
        (np.where(np.arange(12) == 3, np.nan, Y), r"\by\b"),
        (np.where(np.arange(12) == 3, np.inf, Y), r"\by\b"),
        (np.where(np.arange(12) == 3, None, Y.astype(str)), r"\by\b"),
        ([np.nan if i == 3 else str(i % 2) for i in range(12)], r"\by\b"),
        (pd.Series([None if i == 3 else str(i % 2) for i in range(12)]), r"\by\b"),
        (pd.Series(pd.array([None if i == 3 else i % 2 for i in range(12)], dtype="Int64")), r"\by\b"),
        (X[:, 0], r"\by\b|label type"),
        (None, r"\by\b"),
        (np.column_stack([Y, Y + 1, Y]), r"\by\b|label"),
        (np.column_stack([Y, X[:, 0]]), r"\by\b|label"),
        ("text", r"\by\b"),
        (3, r"\by\b"),
        (sp.csr_matrix(Y), r"\by\b"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_a_wrong_target_is_named(y, message, ranker):
    with pytest.raises(WRONG, match=message):
        make(ranker).fit(X, y)


@pytest.mark.parametrize(
    "y",
    [
        [str(c) for c in Y],
        pd.Series(Y, name="label"),
        pd.Series([str(c) for c in Y]),
        pd.Series([str(c) for c in Y], dtype="string"),
        pd.Series(pd.Categorical([str(c) for c in Y])),
        pd.Series(Y, index=np.arange(12)[::-1]),
        pd.Series(pd.array(Y, dtype="Int64")),
        Y.astype(bool),
        Y.astype(np.float32),
        tuple(Y),
    ],
    ids=lambda y: f"{type(y).__name__} {getattr(y, 'dtype', '')}",
)
def test_labels_of_any_kind(y):
    expected = ReliefF(n_neighbors=3).fit(X, Y)
    np.testing.assert_array_equal(
        ReliefF(n_neighbors=3).fit(X, y).feature_importances_, expected.feature_importances_
    )


def test_a_failed_fit_leaves_the_fitted_results_alone():
    ranker = ReliefF(n_neighbors=3).fit(X, Y)
    before = ranker.feature_importances_.copy()
    with pytest.raises(ValueError):
        ranker.fit(with_value(np.nan), Y)
    np.testing.assert_array_equal(ranker.feature_importances_, before)


@pytest.mark.parametrize("ranker", RANKERS)
def test_a_numeric_target_is_told_what_it_needs(ranker):
    with pytest.raises(ValueError, match=r'y holds numbers that are no classes, .* target="regression"'):
        make(ranker).fit(X, X[:, 0])


@pytest.mark.parametrize("ranker", RANKERS)
def test_values_are_shown_as_python_writes_them(ranker):
    with pytest.raises(ValueError, match=r"y holds one class only \(0\.0\)"):
        make(ranker).fit(X, np.zeros(len(X)))


def test_text_in_messages_is_shown_plainly():
    texts = np.array(["a", "b"])
    X = np.array([[1.0], [2.0]])
    with pytest.raises(ValueError, match=r"it holds text, such as 'a'\)"):
        ReliefF(target="regression").fit(X, texts)
    with pytest.raises(ValueError, match=r"column 0 holds text \('a' in row 0\)"):
        ReliefF().fit(np.array([list(texts[:1]), list(texts[1:])], dtype=object), [0, 1])
