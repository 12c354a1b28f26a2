"""What surrounds the weights: names, frames, selection, searches, tags, targets and times."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

import reliefe
from reliefe import MultiSURF, ReliefE, ReliefF, TuRF

NAMES = ["age", "signal", "dose", "echo", "weight"]


class FirstColumns:
    """An embedding that keeps the columns "signal" and "echo", whatever fold it is shown."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return (X.toarray() if sp.issparse(X) else np.asarray(X))[:, [1, 3]]


def ranker_of(kind, **parameters):
    parameters = {"n_neighbors": 5, **parameters}
    if kind is ReliefE:
        parameters |= {"embedding": FirstColumns(), "metric": "euclidean", "sparsify_above": 1.0}
    return kind(**parameters)


RANKERS = pytest.mark.parametrize("kind", [ReliefF, ReliefE])


@pytest.fixture(scope="module")
def data():
    """60 rows; "signal" and "echo" follow the class."""
    rng = np.random.default_rng(130)
    y = rng.permutation(np.arange(60) % 2)
    X = rng.normal(size=(60, 5))
    X[:, 1] += 6 * y
    X[:, 3] -= 5 * y
    return X, y


@pytest.fixture(scope="module")
def labels(data):
    """Three labels, the first of which is the class; rows without a label are among them."""
    return np.column_stack([data[1], np.random.default_rng(131).random((60, 2)) < 0.3]).astype(int)


# ------------------------------------------------------------------------------------------------ data frames

FRAMES = {
    "pandas": (lambda X, names: pd.DataFrame(X, columns=names), pd.DataFrame, pd.Series),
    "polars": (lambda X, names: pl.DataFrame(X, schema=names), pl.DataFrame, pl.Series),
}


@RANKERS
@pytest.mark.parametrize("given", FRAMES)
@pytest.mark.parametrize("wanted", FRAMES)
def test_names_go_in_and_come_out(given, wanted, kind, data):
    X, y = data
    make, _, series = FRAMES[given]
    ranker = ranker_of(kind, n_features_to_select=2).set_output(transform=wanted)
    kept = ranker.fit_transform(make(X, NAMES), series(np.where(y == 1, "ill", "well")))
    assert type(kept) is FRAMES[wanted][1] and list(kept.columns) == ["signal", "echo"]
    np.testing.assert_array_equal(kept.to_numpy(), X[:, [1, 3]])
    assert ranker.feature_names_in_.tolist() == NAMES and ranker.feature_names_in_.dtype == object
    assert ranker.get_feature_names_out().tolist() == ["signal", "echo"]
    assert ranker.get_feature_names_out(NAMES).tolist() == ["signal", "echo"]
    assert ranker.classes_.tolist() == ["ill", "well"]
    plain = ranker_of(kind).fit(X, 1 - y)  # "ill" comes first
    np.testing.assert_array_equal(ranker.feature_importances_, plain.feature_importances_)
    with pytest.raises(ValueError, match="feature names"):
        ranker.transform(make(X, NAMES[::-1]))


@RANKERS
@pytest.mark.parametrize("given", FRAMES)
def test_a_label_matrix_may_be_a_frame(given, kind, data, labels):
    X, _ = data
    make = FRAMES[given][0]
    ranker = ranker_of(kind).fit(make(X, NAMES), make(labels, ["a", "b", "c"]))
    np.testing.assert_array_equal(
        ranker.feature_importances_, ranker_of(kind).fit(X, labels).feature_importances_
    )
    with pytest.raises(ValueError, match="column"):
        ranker_of(kind).fit(X, make(labels[:, :1], ["a"]))


def test_numbers_of_any_type_in_a_polars_frame():
    rng = np.random.default_rng(132)
    whole, yes = rng.integers(0, 200, 30), rng.random(30) < 0.5
    frame = pl.DataFrame(
        {
            "u8": pl.Series(whole, dtype=pl.UInt8),
            "i64": pl.Series(whole - 100),
            "f32": pl.Series(whole / 4, dtype=pl.Float32),
            "yes": pl.Series(yes),
        }
    )
    X = np.column_stack([whole, whole - 100, whole / 4, yes]).astype(float)
    y = rng.integers(0, 2, 30)
    np.testing.assert_array_equal(
        ReliefF(3).fit(frame, pl.Series(y)).feature_importances_, ReliefF(3).fit(X, y).feature_importances_
    )


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([1.0, None] * 15),
        pl.Series([1, None] * 15),
        pl.Series([1.0, float("inf")] * 15),
        pl.Series(["a", "b"] * 15),
        pl.Series(["a", None] * 15),
        pl.Series(["a", "b"] * 15, dtype=pl.Categorical),
        pl.Series([1, 2] * 15).cast(pl.Date),
    ],
    ids=lambda column: str(column.dtype),
)
def test_a_bad_column_of_a_polars_frame_is_named(column):
    frame = pl.DataFrame({"age": np.arange(30.0), "weight_kg": column})
    with pytest.raises(ValueError, match="weight_kg"):
        ReliefF().fit(frame, np.arange(30) % 2)


@pytest.mark.parametrize("y", [pl.Series(["a", "b", None] * 10), pl.Series([0, 1, None] * 10)])
def test_a_missing_class_in_a_polars_series(y):
    with pytest.raises(ValueError, match=r"\by\b.*sample 2"):
        ReliefF().fit(np.arange(60.0).reshape(30, 2), y)


# ----------------------------------------------------------------------------------------------- selection


@RANKERS
@pytest.mark.parametrize(("asked", "kept"), [(None, 5), (1, 1), (3, 3), (5, 5), (0.4, 2), (0.1, 1), (1.0, 5)])
def test_a_number_a_share_or_all(kind, asked, kept, data):
    X, y = data
    ranker = ranker_of(kind, n_features_to_select=asked).fit(X, y)
    indices, mask = ranker.get_support(indices=True), ranker.get_support()
    np.testing.assert_array_equal(indices, np.sort(np.argsort(ranker.ranking_)[:kept]))
    np.testing.assert_array_equal(np.flatnonzero(mask), indices)
    np.testing.assert_array_equal(ranker.transform(X), X[:, indices])
    assert ranker.get_feature_names_out().tolist() == [f"x{j}" for j in indices]
    assert ranker.inverse_transform(ranker.transform(X)).shape == X.shape
    ranker.set_params(n_features_to_select=1)  # the weights are there: another number needs no other fit
    assert ranker.transform(X).shape == (60, 1)


@RANKERS
@pytest.mark.parametrize("storage", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.coo_array])
def test_sparse_stays_sparse(kind, storage, data, labels):
    X, y = data
    for target in (y, labels, sp.csr_matrix(labels)):
        kept = ranker_of(kind, n_features_to_select=2).fit_transform(storage(X), target)
        assert sp.issparse(kept) and kept.shape == (60, 2)
        ranker = ranker_of(kind, n_features_to_select=2).fit(X, target)
        np.testing.assert_allclose(kept.toarray(), ranker.transform(X))


@pytest.mark.parametrize(
    ("share", "p", "kept"), [(0.29, 100, 29), (0.58, 50, 29), (0.295, 100, 29), (1e-9, 9, 1)]
)
def test_a_share_is_taken_as_it_is_written(share, p, kept):
    """0.29 · 100 is 28.999…996 in floating point; who writes 0.29 means 29 of 100."""
    X = np.random.default_rng(137).normal(size=(10, p))
    assert ReliefF(n_features_to_select=share).fit(X, np.arange(10) % 2).get_support().sum() == kept


@pytest.mark.parametrize("kind", [ReliefF, ReliefE, MultiSURF, TuRF])
def test_all_columns_are_kept_where_more_are_asked_for(kind, data):
    """In a pipeline, a step before the ranker may leave fewer columns than one thinks."""
    X, y = data
    make = ranker_of if kind in (ReliefF, ReliefE) else lambda kind, **given: kind(**given)
    ranker = make(kind, n_features_to_select=6)
    with pytest.warns(
        UserWarning, match=r"n_features_to_select=6 is more than the 5 features of X; all of them are kept"
    ):
        pipeline = make_pipeline(ranker).fit(X, y)
    np.testing.assert_array_equal(pipeline.transform(X), X)
    assert pipeline.get_feature_names_out().tolist() == [f"x{j}" for j in range(5)]


# ----------------------------------------------------------------------------------- pipelines and searches


@RANKERS
def test_grid_search_over_how_many_columns(kind, data):
    X, y = data
    pipeline = Pipeline([("rank", ranker_of(kind)), ("learn", LogisticRegression())]).set_output(
        transform="polars"
    )
    grid = {"rank__n_features_to_select": [1, 2, 0.8, None], "rank__abs_mean": [False, True]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(pl.DataFrame(X, schema=NAMES), y)
    assert len(search.cv_results_["params"]) == 8 and search.best_score_ > 0.95
    best = search.best_estimator_
    asked = search.best_params_["rank__n_features_to_select"]
    assert best["learn"].n_features_in_ == {1: 1, 2: 2, 0.8: 4, None: 5}[asked]
    assert best["learn"].feature_names_in_.tolist() == best["rank"].get_feature_names_out().tolist()


@RANKERS
def test_cross_validation_with_a_label_matrix(kind, data, labels):
    X, _ = data
    # Enough neighbours to reach rows without the label, of which a fold has 20.
    ranker = ranker_of(kind, n_neighbors=30, n_features_to_select=2, target_distance="hamming")
    pipeline = make_pipeline(ranker, DecisionTreeClassifier(random_state=0))
    found = cross_validate(
        pipeline, X, labels, cv=KFold(3), return_estimator=True, scoring="f1_micro", error_score="raise"
    )
    for fitted in found["estimator"]:
        assert (fitted.predict(X)[:, 0] == labels[:, 0]).mean() > 0.9
        assert fitted[0].get_support(indices=True).tolist() == [1, 3] and fitted[0].classes_.tolist() == [
            0,
            1,
            2,
        ]


@RANKERS
def test_a_clone_knows_nothing_of_the_fit(kind, data):
    X, y = data
    fitted = ranker_of(kind, n_neighbors="adaptive", n_features_to_select=0.4, n_iterations=9, random_state=0)
    fitted.fit(X, y)
    copy = clone(fitted)
    assert not [name for name in vars(copy) if name.endswith("_")]
    np.testing.assert_array_equal(copy.fit(X, y).feature_importances_, fitted.feature_importances_)


def test_relieff_and_reliefe_are_siblings():
    assert not isinstance(ReliefE(), ReliefF) and not isinstance(ReliefF(), ReliefE)
    (parent,) = ReliefF.__bases__
    assert ReliefE.__bases__ == (parent,) and parent.__name__ not in reliefe.__all__
    own = {"metric", "embedding", "n_components", "n_representatives", "sparsify_above"}
    absent = {"discrete_features", "discrete_threshold", "compatible"}
    ours, theirs = ReliefE().get_params(), ReliefF().get_params()
    assert ours.keys() - theirs.keys() == own and theirs.keys() - ours.keys() == absent
    assert all(ours[name] == theirs[name] for name in ours.keys() & theirs.keys())


# ------------------------------------------------------------------------------------------------------- tags


@pytest.mark.parametrize("ranker", [ReliefF(), ReliefE()])
def test_tags(ranker):
    """A selector that takes classes or labels says so as scikit-learn's RFE around a multi-label learner does."""
    tags = get_tags(ranker)
    assert tags.input_tags.sparse and tags.input_tags.two_d_array
    assert not (tags.input_tags.allow_nan or tags.input_tags.string or tags.input_tags.categorical)
    assert tags.target_tags.required and tags.target_tags.single_output
    # Labels as input in place of X, as of a LabelBinarizer.
    assert not (tags.target_tags.one_d_labels or tags.target_tags.two_d_labels)
    assert tags.classifier_tags.multi_class and tags.classifier_tags.multi_label
    assert tags.transformer_tags is not None and tags.requires_fit and not tags.no_validation
    assert not is_classifier(ranker)
    # A learner of labels that refuses several columns of classes has the same tags; one that takes them, another.
    assert not tags.target_tags.multi_output
    assert not get_tags(MLPClassifier()).target_tags.multi_output
    assert get_tags(MultiOutputClassifier(LogisticRegression())).target_tags.multi_output
    assert get_tags(RFE(MLPClassifier())).classifier_tags.multi_label


@RANKERS
def test_tags_mean_what_they_say(kind, data, labels):
    X, y = data
    ranker_of(kind).fit(sp.csr_matrix(X), y)
    ranker_of(kind).fit(sp.csr_matrix(X), labels)
    with pytest.raises(ValueError, match="0 and 1"):
        ranker_of(kind).fit(X, np.column_stack([y, y + 1]))
    with pytest.raises(ValueError, match="y is None"):
        ranker_of(kind).fit(X, None)


# ------------------------------------------------------------------------------------------------ the target


@RANKERS
@pytest.mark.parametrize("distance", ["f1", "accuracy", "subset", "cosine", "hyperbolic"])
def test_a_target_distance_without_labels_is_warned_of(kind, distance, data):
    X, y = data
    with pytest.warns(UserWarning, match=f"target_distance='{distance}' has no effect") as caught:
        ranker = ranker_of(kind, target_distance=distance).fit(X, y)
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = ranker_of(kind, target_distance="hamming").fit(X, y)
    np.testing.assert_array_equal(ranker.feature_importances_, plain.feature_importances_)
    assert not hasattr(ranker, "target_n_components_")


@RANKERS
@pytest.mark.parametrize(
    "storage", [np.array, np.ndarray.tolist, pd.DataFrame, pl.DataFrame, sp.csr_matrix, sp.coo_array]
)
def test_one_column_of_classes_is_an_error_that_says_what_to_do(kind, storage, data):
    X, y = data
    with pytest.raises(ValueError, match=r"shape \(60, 1\).*1-D y.*ravel"):
        ranker_of(kind).fit(X, storage(y.reshape(-1, 1)))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0, 1], [1]] * 30, r"\by\b.*same length"),
        (np.zeros((60, 2, 2)), r"\by\b.*3 dimensions"),
        (pd.DataFrame({"a": pd.array([0, 1, None] * 20, dtype="Int64"), "b": [0, 1, 1] * 20}), r"\by\b"),
        (pl.DataFrame({"a": [0, 1, None] * 20, "b": [0, 1, 1] * 20}), r"\by\b.*NaN: sample 2, column 0"),
        (pl.DataFrame({"a": ["0", "1"] * 30, "b": ["1", "1"] * 30}), r"\by\b.*0 and 1 only"),
    ],
    ids=["ragged", "3-D", "pandas NA", "polars null", "polars text"],
)
def test_a_wrong_label_matrix_is_named(y, message, data):
    with pytest.raises(ValueError, match=message):
        ReliefF().fit(data[0], y)


@RANKERS
def test_more_neighbours_than_a_number_can_hold(kind, data, labels):
    X, y = data
    for target in (y, labels):
        every, most = (ranker_of(kind, n_neighbors=k).fit(X, target) for k in (60, 10**30))
        np.testing.assert_array_equal(most.feature_importances_, every.feature_importances_)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("storage", [np.array, sp.csr_matrix])
def test_large_values_pass_without_a_warning(storage, data):
    X, y = data
    scale = 2.0**1018
    np.testing.assert_array_equal(
        ReliefF(3).fit(storage(np.abs(X) * scale), y).feature_importances_,
        ReliefF(3).fit(storage(np.abs(X)), y).feature_importances_,
    )
    both = X.copy()
    both[4, 2], both[9, 2] = np.inf, -np.inf
    with pytest.raises(ValueError, match="infinity: sample 4, feature 2"):
        ReliefF().fit(storage(both), y)


@pytest.mark.filterwarnings("error")
def test_a_lazy_frame_has_to_be_collected(data):
    X, y = data
    with pytest.raises(TypeError, match=r"X.*collect\(\)"):
        ReliefF().fit(pl.DataFrame(X).lazy(), y)


# ------------------------------------------------------------------------------------------------------ times

COLUMN_PHASES = {"validation", "normalise", "distances", "neighbours", "weights"}
EMBEDDING_PHASES = {"representatives", "sparsify", "embedding"}


@pytest.mark.parametrize("storage", [np.array, sp.csr_matrix])
@pytest.mark.parametrize("multilabel", [False, True])
@RANKERS
def test_times_by_phase_add_up(kind, multilabel, storage):
    rng = np.random.default_rng(133)
    X = storage(rng.normal(size=(2500, 30)) * (rng.random((2500, 30)) < 0.5))
    y = (rng.random((2500, 4)) < 0.4).astype(int) if multilabel else rng.integers(0, 3, 2500)
    shares = []
    for _ in range(4):  # the first time, kernels are loaded; later ones show what is left out of the phases
        timings = ranker_of(kind).fit(X, y).timings_
        phases = {name: seconds for name, seconds in timings.items() if name != "total"}
        assert set(phases) == COLUMN_PHASES | (EMBEDDING_PHASES if kind is ReliefE else set())
        assert all(isinstance(seconds, float) and seconds >= 0 for seconds in timings.values())
        assert sum(phases.values()) <= timings["total"]
        shares.append(sum(phases.values()) / timings["total"])
    assert max(shares) > 0.8, shares
