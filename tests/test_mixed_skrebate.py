"""Data with both kinds of column, and with missing values, beside scikit-rebate itself."""

import numpy as np
import pytest
import scipy.sparse as sp
import skrebate
from sklearn.datasets import load_digits, load_wine

import reliefe
from experiments.config import compose_runs
from experiments.rankers import rank
from reliefe.compatible import ramp

KINDS = [
    ("SURF", reliefe.SURF),
    ("SURFstar", reliefe.SURFStar),
    ("MultiSURF", reliefe.MultiSURF),
    ("MultiSURFstar", reliefe.MultiSURFStar),
]


def data(name):
    """Name → columns, of which some are discrete to scikit-rebate, and classes."""
    if name == "digits":  # 10 classes, images with few grey levels here and many there
        X, y = load_digits(return_X_y=True)
        return X[:120], y[:120]
    X, y = load_wine(return_X_y=True)
    X = X[::2].copy()
    X[:, ::3] = (X[:, ::3] - X[:, ::3].min(axis=0)) // (np.ptp(X[:, ::3], axis=0) / 4)
    X[:, 1] = X[:, 1] > 2  # two values
    return X, (y[::2] > 0).astype(int) if name == "two classes" else y[::2]


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("theirs", "ours"), KINDS)
@pytest.mark.parametrize("name", ["digits", "wine", "two classes"])
def test_both_kinds_of_column(name, theirs, ours, storage):
    X, y = data(name)
    expected = getattr(skrebate, theirs)().fit(X.copy(), y).feature_importances_
    ranker = ours(compatible="skrebate", discrete_features="auto").fit(storage(X), y)
    assert 0 < ranker.discrete_features_.sum() < X.shape[1]
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-9, atol=1e-12)
    plain = ours(discrete_features="auto").fit(storage(X), y).feature_importances_
    assert np.abs(plain - expected).max() > 1e-3


@pytest.mark.parametrize("ranker", ["surf", "multisurf", "multisurf_star"])
@pytest.mark.parametrize("name", ["digits", "wine", "two classes"])
def test_rankers_that_stand_in_for_theirs(name, ranker):
    """As the benchmark runs them, defaults and all."""
    X, y = data(name)
    both = compose_runs([f"ranker=skrebate_{ranker},{ranker}_as_skrebate"]).configs
    theirs, ours = (rank(config["ranker"], X, y, seed=0).weights for config in both)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert "skrebate" in both[1]["ranker"]["display_name"]


@pytest.mark.parametrize(("theirs", "ours"), KINDS)
def test_missing_values(theirs, ours):
    X, y = data("two classes")
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    expected = getattr(skrebate, theirs)().fit(X.copy(), y).feature_importances_
    ranker = ours(compatible="skrebate", discrete_features="auto", missing="ignore").fit(X, y)
    np.testing.assert_allclose(ranker.feature_importances_, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.15])
def test_relieff_of_two_classes(share):
    """ReliefF's own definition is scikit-rebate's where there are two classes and no equal distances."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(70, 13)), np.arange(70) % 2
    X[rng.random(X.shape) < share] = np.nan
    expected = skrebate.ReliefF(n_neighbors=8, categorical_features=[]).fit(X.copy(), y)
    found = reliefe.ReliefF(8, missing="ignore").fit(X, y)
    np.testing.assert_allclose(
        found.feature_importances_, expected.feature_importances_, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_where_the_ramp_ends(storage):
    X = np.array([[0.0, 5, 1, 2], [1, np.nan, 2, 2], [4, 9, 0, 2], [0, 0, 1, 2]])
    known = np.array([5.0, 9.0, 0.0])
    found = ramp(storage(X), np.array([False, False, True, False]))
    np.testing.assert_allclose(found, [np.std([0, 1, 4, 0]) / 4, known.std() / 9, 0, 1], rtol=1e-15)
