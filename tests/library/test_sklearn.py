"""Both estimators as scikit-learn estimators: its own checks, data frames, pipelines, searches."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from samples import LinearMap
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from reliefe import SURF, VLS, MultiSURF, MultiSURFStar, ReliefE, ReliefF, SURFStar, TuRF

ESTIMATORS = [
    ReliefF(),
    ReliefF(n_neighbors="adaptive", abs_mean=True, n_iterations=5),
    ReliefF(missing="ignore", discrete_features="auto", discrete_threshold=3),
    ReliefF(target="regression"),
    ReliefE(),
    ReliefE(n_neighbors="adaptive", abs_mean=True, metric="euclidean", n_representatives=10),
    ReliefE(embedding=TruncatedSVD(1), metric="manhattan", n_features_to_select=1),
    SURF(),
    SURFStar(compatible="skrebate"),
    MultiSURF(missing="ignore", discrete_features="auto", discrete_threshold=3),
    MultiSURFStar(embedding=TruncatedSVD(1), metric="euclidean"),
    MultiSURF(target="regression"),
    TuRF(),
    TuRF(MultiSURF(missing="ignore"), removed=0.4),
    VLS(),
]
#: Checks that fit with weights of rows, which scikit-rebate does not know: `compatible="skrebate"` refuses them.
OF_WEIGHTS = {
    "check_all_zero_sample_weights_error",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}
# The check on array-API input skips itself unless scipy is put into a special mode; a skip would say nothing.
CHECKS = [
    pytest.param(estimator, check, id=f"{position}-{check.func.__name__}-{number}")
    for position, each in enumerate(ESTIMATORS)
    for number, (estimator, check) in enumerate(estimator_checks_generator(each))
    if check.func.__name__ != "check_array_api_input"
    and not (getattr(each, "compatible", None) and check.func.__name__ in OF_WEIGHTS)
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_weights_of_rows_are_refused_where_skrebate_has_none():
    for each in ESTIMATORS:
        if getattr(each, "compatible", None):
            with pytest.raises(ValueError, match="goes without sample_weight"):
                clone(each).fit([[0.0], [1.0]] * 4, [0, 1] * 4, sample_weight=[1.0, 2.0] * 4)


def test_the_checks_are_all_there():
    assert len(CHECKS) > 40 * len(ESTIMATORS)


@pytest.fixture
def labelled_frame(rng):
    """60 rows; "signal" and "echo" follow the class, the rest is noise."""
    y = rng.integers(0, 2, 60)
    X = pd.DataFrame(rng.normal(size=(60, 6)), columns=["a", "signal", "b", "c", "echo", "d"])
    X["signal"] += 6 * y
    X["echo"] -= 5 * y
    return X, pd.Series(np.where(y == 1, "ill", "well"))


def _ranker(kind, **parameters):
    if kind is ReliefE:
        matrix = np.zeros((6, 2))
        matrix[1, 0] = matrix[4, 1] = 1
        parameters |= {"embedding": LinearMap(matrix), "metric": "euclidean", "sparsify_above": 1.0}
    if kind in (ReliefF, ReliefE):
        parameters |= {"n_neighbors": 5}
    return kind(**parameters)


RANKERS = pytest.mark.parametrize("kind", [ReliefF, ReliefE])
ALL_RANKERS = pytest.mark.parametrize("kind", [ReliefF, ReliefE, SURF, MultiSURF, TuRF])


@ALL_RANKERS
def test_names_of_a_data_frame(kind, labelled_frame):
    X, y = labelled_frame
    before = X.copy(deep=True)
    ranker = _ranker(kind, n_features_to_select=2).fit(X, y)
    pd.testing.assert_frame_equal(X, before)
    assert ranker.feature_names_in_.tolist() == list(X.columns) and ranker.n_features_in_ == 6
    best = ranker.feature_names_in_[np.argsort(ranker.ranking_)[:2]]
    assert sorted(best) == ["echo", "signal"]
    assert ranker.get_feature_names_out().tolist() == ["signal", "echo"]
    assert ranker.get_support().tolist() == [False, True, False, False, True, False]
    np.testing.assert_array_equal(ranker.transform(X), X[["signal", "echo"]])
    kept = ranker.set_output(transform="pandas").transform(X)
    pd.testing.assert_frame_equal(kept, X[["signal", "echo"]])
    same = _ranker(kind).fit(X.to_numpy(), y.to_numpy())
    assert not hasattr(same, "feature_names_in_")
    np.testing.assert_array_equal(same.feature_importances_, ranker.feature_importances_)


@RANKERS
def test_names_in_a_pipeline_under_cross_validation(kind, labelled_frame):
    X, y = labelled_frame
    pipeline = make_pipeline(_ranker(kind, n_features_to_select=2), LogisticRegression())
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for order in (list(X.columns), ["echo", "d", "c", "b", "a", "signal"]):
        if kind is ReliefE:
            matrix = np.zeros((6, 2))
            matrix[order.index("signal"), 0] = matrix[order.index("echo"), 1] = 1
            pipeline.set_params(reliefe__embedding=LinearMap(matrix))
        result = cross_validate(pipeline, X[order], y, cv=folds, return_estimator=True, error_score="raise")
        assert result["test_score"].min() > 0.9
        for fitted in result["estimator"]:
            assert set(fitted[0].get_feature_names_out()) == {"signal", "echo"}
            assert fitted[0].feature_names_in_.tolist() == order
            np.testing.assert_array_equal(fitted[0].transform(X[order]), X[fitted[0].get_feature_names_out()])


@ALL_RANKERS
def test_a_list_of_names_is_not_modified(kind, labelled_frame):
    X, y = labelled_frame
    names = list(X.columns)
    ranker = _ranker(kind, n_features_to_select=3).fit(pd.DataFrame(X.to_numpy(), columns=names), y)
    ranker.get_feature_names_out(names)
    assert names == ["a", "signal", "b", "c", "echo", "d"]
    with pytest.raises(ValueError):
        ranker.get_feature_names_out(names[::-1])


@ALL_RANKERS
def test_a_frame_with_other_columns_is_refused_by_transform(kind, labelled_frame):
    X, y = labelled_frame
    ranker = _ranker(kind).fit(X, y)
    with pytest.raises(ValueError):
        ranker.transform(X[X.columns[::-1]])
    with pytest.raises(ValueError):
        ranker.transform(X[["a", "signal"]])


@RANKERS
@pytest.mark.parametrize(("asked", "kept"), [(None, 6), (1, 1), (4, 4), (6, 6), (0.5, 3), (1.0, 6)])
def test_number_of_columns_kept(kind, asked, kept, labelled_frame):
    X, y = labelled_frame
    ranker = _ranker(kind, n_features_to_select=asked).fit(X, y)
    assert ranker.transform(X).shape == (60, kept)
    assert ranker.get_support().sum() == kept
    assert set(ranker.ranking_[ranker.get_support()]) == set(range(1, kept + 1))


@ALL_RANKERS
def test_sparse_data_stay_sparse_in_transform(kind, labelled_frame):
    X, y = labelled_frame
    found = _ranker(kind, n_features_to_select=2).fit(sp.csr_matrix(X), y).transform(sp.csr_matrix(X))
    assert sp.issparse(found)
    np.testing.assert_array_equal(found.toarray(), X[["signal", "echo"]])


@RANKERS
def test_grid_search(kind, labelled_frame):
    X, y = labelled_frame
    name = kind.__name__.lower()
    search = GridSearchCV(
        make_pipeline(_ranker(kind), LogisticRegression()),
        {f"{name}__n_neighbors": [1, 5, "adaptive"], f"{name}__n_features_to_select": [1, 2]},
        cv=3,
        error_score="raise",
    )
    search.fit(X, y)
    assert search.best_score_ > 0.9
    assert set(search.best_estimator_[0].get_feature_names_out()) <= {"signal", "echo"}


@RANKERS
def test_clone_pickle_and_parameters(kind, labelled_frame):
    X, y = labelled_frame[0].to_numpy(), labelled_frame[1]
    ranker = _ranker(kind, n_features_to_select=2, abs_mean=True, n_iterations=20, random_state=3)
    parameters = ranker.get_params(deep=False)
    fitted = clone(ranker).fit(X, y)
    assert all(fitted.get_params()[key] == value for key, value in parameters.items() if key != "embedding")
    reread = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(reread.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(clone(fitted).fit(X, y).feature_importances_, fitted.feature_importances_)
    with pytest.raises(NotFittedError):
        clone(fitted).transform(X)


@RANKERS
def test_fitting_again_forgets_the_first_fit(kind, labelled_frame):
    X, y = labelled_frame
    ranker = _ranker(kind).set_params(n_neighbors="adaptive", target_distance="cosine", n_iterations=5)
    ranker.fit(X, np.column_stack([y == "ill", y == "well", X["a"] > 0]).astype(int))
    assert hasattr(ranker, "n_neighbors_used_")
    ranker.set_params(n_neighbors=5, target_distance="hamming", n_iterations=None).fit(X.to_numpy(), y)
    fresh = _ranker(kind).fit(X.to_numpy(), y)
    assert set(vars(ranker)) == set(vars(fresh))


def test_defaults_are_the_papers():
    assert ReliefF().get_params() == {
        "n_features_to_select": None,
        "n_neighbors": 15,
        "abs_mean": False,
        "n_iterations": None,
        "n_jobs": None,
        "random_state": None,
        "target_distance": "hamming",
        "verbose": False,
        "memory": None,
        "target": "classification",
        "sigma": 20.0,
        "missing": "raise",
        "discrete_features": None,
        "discrete_threshold": 10,
        "compatible": None,
    }
    of_columns = {"discrete_features", "discrete_threshold", "compatible"}  # not for an embedding
    expected = {
        "metric": "cosine",
        "embedding": "umap",
        "n_components": "twonn",
        "n_representatives": 2048,
        "sparsify_above": 0.15,
    }
    common = {name: value for name, value in ReliefF().get_params().items() if name not in of_columns}
    assert ReliefE().get_params() == common | expected
    of_thresholds = {
        "n_neighbors",
        "abs_mean",
        "n_iterations",
        "memory",
        "sigma",
    }  # not without numbers of neighbours
    common = {name: value for name, value in ReliefF().get_params().items() if name not in of_thresholds}
    of_near = {"target", "target_distance"}
    for kind in (SURF, MultiSURF):
        assert kind().get_params() == common | expected | {"embedding": None}
    for kind in (SURFStar, MultiSURFStar):
        assert kind().get_params() == {
            name: value for name, value in SURF().get_params().items() if name not in of_near
        }
