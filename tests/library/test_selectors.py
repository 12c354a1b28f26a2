"""scikit-learn's selectors, which take absolute values of importances or their squares, keep the ranker's order."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reliefe import SURF, VLS, MultiSURF, MultiSURFStar, ReliefE, ReliefF, SURFStar, TuRF
from reliefe.base import unsigned
from reliefe.ranking import ranks

RANKERS = {
    "TuRF of MultiSURF": TuRF(MultiSURF()),
    "TuRF of ReliefF": TuRF(ReliefF(5), removed=2),
    "ReliefF": ReliefF(5),
    "ReliefE": ReliefE(5, n_components=2, random_state=0),
    "SURF": SURF(),
    "SURFStar": SURFStar(),
    "MultiSURF": MultiSURF(),
    "MultiSURFStar": MultiSURFStar(),
    "VLS": VLS(MultiSURF(), subset_size=3, random_state=0),
}
EACH = pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)


def table():
    """Six columns of which three tell the class apart, each less than the one before; weights of both signs."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 6))
    X[:, [1, 4, 2]] += np.outer(y, [2.0, 1.2, 0.8])
    return X, y


def best(ranker, k):
    return ranker.ranking_ <= k


@EACH
@pytest.mark.parametrize("k", range(1, 7))
def test_select_from_model_keeps_the_best(ranker, k):
    X, y = table()
    fitted = clone(ranker).fit(X, y)
    chosen = SelectFromModel(ranker, max_features=k, threshold=-np.inf).fit(X, y)
    assert np.array_equal(chosen.get_support(), best(fitted, k))
    prefit = SelectFromModel(fitted, max_features=k, threshold=-np.inf, prefit=True).fit(X, y)
    assert np.array_equal(prefit.get_support(), best(fitted, k))


def test_this_table_shows_the_difference():
    """By absolute values TuRF's three worst are the best."""
    ranker = TuRF(MultiSURF()).fit(*table())
    absolute = np.argsort(-np.abs(ranker.feature_importances_))
    assert set(ranker.ranking_[absolute[:3]]) != {1, 2, 3}


@EACH
def test_thresholds_mean_what_they_say(ranker):
    X, y = table()
    fitted = clone(ranker).fit(X, y)
    weights = fitted.feature_importances_
    for threshold in [0.001, 0.01, 0.02, 0.05, *weights[weights > 0].tolist()]:
        chosen = SelectFromModel(ranker, threshold=threshold).fit(X, y).get_support()
        assert np.array_equal(chosen, weights >= threshold)
    chosen = SelectFromModel(ranker, threshold="median").fit(X, y).get_support()
    assert np.array_equal(chosen, weights >= np.median(weights))
    chosen = SelectFromModel(ranker, threshold="mean").fit(X, y).get_support()
    assert np.array_equal(chosen, weights >= np.maximum(weights, 0).mean())


@EACH
def test_rfe_drops_the_worst_of_each_fit(ranker):
    X, y = table()
    left = np.arange(6)
    while len(left) > 3:
        left = np.delete(left, clone(ranker).fit(X[:, left], y).ranking_.argmax())
    assert np.array_equal(RFE(ranker, n_features_to_select=3).fit(X, y).get_support(indices=True), left)


def test_in_a_pipeline():
    X, y = table()
    steps = make_pipeline(StandardScaler(), TuRF(MultiSURF()))
    chosen = SelectFromModel(
        steps, importance_getter="named_steps.turf.coef_", max_features=3, threshold=-np.inf
    )
    assert np.array_equal(chosen.fit(X, y).get_support(), best(steps.fit(X, y)[-1], 3))


@EACH
def test_weights_themselves_keep_their_sign(ranker):
    with pytest.raises(NotFittedError):
        _ = clone(ranker).coef_
    assert not hasattr(clone(ranker), "coef_")
    fitted = clone(ranker).fit(*table())
    assert "coef_" not in vars(fitted)
    positive = fitted.feature_importances_ > 0
    assert np.array_equal(fitted.coef_[positive], fitted.feature_importances_[positive])
    assert (fitted.coef_ >= 0).all()


@pytest.mark.parametrize(
    "weights",
    [
        [0.5, -0.5, 0.0, -3.0, 0.2],
        [-1.0, -2.0, -3.0, -1.5],
        [-1.0, -1.0, -1.0],
        [0.0, 0.0, 0.0],
        [0.3, 0.1, 0.2],
        [-0.1],
        [1e-300, -1e-300, -2e-300, 0.0],
        [1e300, -1e300, -1e299, 1e-5, 0.0],
        [0.3, 0.3 + 4e-17, 0.1, 0.3 - 4e-17, -0.2, -0.2 + 3e-17],
        np.random.default_rng(1).normal(size=200).round(1),
        np.random.default_rng(2).normal(size=200),
    ],
    ids=len,
)
def test_importances_without_sign_are_in_the_order_of_the_ranks(weights):
    weights = np.array(weights)
    ranking = ranks(weights)
    found = unsigned(weights, ranking)
    expected = np.argsort(ranking)
    assert np.isfinite(found).all() and (found >= 0).all()
    assert np.argsort(-np.abs(found), kind="stable").tolist() == expected.tolist()
    if np.abs(weights).max() > 1e-200:  # squares of smaller ones are 0
        with np.errstate(over="ignore"):
            squares = found**2
        if np.isfinite(squares).all():
            assert np.argsort(-squares, kind="stable").tolist() == expected.tolist()
