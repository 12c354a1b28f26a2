"""Data with both kinds of column, and with missing values, beside scikit-rebate itself."""

import naive_thresholds
import numpy as np
import pytest
import scipy.sparse as sp
import skrebate
from sklearn.datasets import load_digits, load_wine

import reliefe
from experiments.config.compose import compose_runs
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


@pytest.mark.parametrize("ranker", ["surf", "multisurf", "multisurf_star", "relieff"])
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


@pytest.mark.parametrize("share", [0.0, 0.15])
@pytest.mark.parametrize("both_kinds", [False, True])
@pytest.mark.parametrize("k", [5, 12, 100])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_relieff(n_classes, k, both_kinds, share):
    """Classes larger than k and smaller, one of a single row, both kinds of column, gaps, both storages."""
    rng = np.random.default_rng(n_classes)
    X, y = rng.normal(size=(33, 7)), rng.permutation(np.arange(33) % (n_classes - 1))
    y[0], y[1:6] = n_classes - 1, 0
    if both_kinds:
        X[:, ::3] = rng.integers(0, 3, (33, 3))
    continuous = X[:, 1].copy()
    X[rng.random(X.shape) < share] = np.nan
    X[:, 1] = continuous  # known everywhere, so that no distances are equal
    expected = skrebate.ReliefF(n_neighbors=k).fit(X.copy(), y).feature_importances_
    parameters = {"discrete_features": "auto", "missing": "ignore"}
    for storage in (np.asarray, sp.csr_matrix):
        found = reliefe.ReliefF(k, compatible="skrebate", **parameters).fit(storage(X), y)
        np.testing.assert_allclose(found.feature_importances_, expected, rtol=1e-9, atol=1e-12)
    if k > 5 and n_classes > 2:
        plain = reliefe.ReliefF(k, **parameters).fit(X, y).feature_importances_
        assert np.abs(plain - expected).max() > 1e-3


@pytest.mark.parametrize("share", [0.0, 0.2])
@pytest.mark.parametrize("kind", ["continuous", "discrete"])
@pytest.mark.parametrize("k", [1, 4, 9, 30])
def test_relieff_and_its_twin(k, kind, share):
    """Where distances tie, theirs follow the order of a sort; ours go to the lower row, with exact sums."""
    rng = np.random.default_rng(k)
    X, y = rng.integers(0, 4, (24, 5)).astype(float), rng.permutation(np.repeat([0, 1, 2], [14, 7, 3]))
    X[rng.random(X.shape) < share] = np.nan
    X[:, 0] = rng.integers(0, 4, 24)  # so that all rows have a column in common
    discrete = [kind == "discrete"] * 5
    expected = naive_thresholds.relieff_as_skrebate(X, y, k, discrete, exact=True)
    for storage in (np.asarray, sp.csr_matrix):
        for n_jobs in (1, 3):
            ranker = reliefe.ReliefF(
                k, compatible="skrebate", missing="ignore", discrete_features=discrete, n_jobs=n_jobs
            )
            np.testing.assert_allclose(
                ranker.fit(storage(X), y).feature_importances_, expected, rtol=0, atol=1e-12
            )


def test_relieff_column_by_column(monkeypatch):
    """Classes are weighed a few columns at a time where values are missing; how many makes no difference."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 11)), np.arange(20) % 3
    X[rng.random(X.shape) < 0.1] = np.nan
    ranker = reliefe.ReliefF(4, compatible="skrebate", missing="ignore")
    whole = ranker.fit(X, y).feature_importances_
    monkeypatch.setattr("reliefe.compatible._ENTRIES", 30)
    for storage in (np.asarray, sp.csr_matrix):
        np.testing.assert_array_equal(ranker.fit(storage(X), y).feature_importances_, whole)


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({"target": "regression"}, np.arange(6.0), "target='classification' only, got 'regression'"),
        ({"abs_mean": True}, np.arange(6) % 2, "abs_mean=False only, got True"),
        ({"n_iterations": 3}, np.arange(6) % 2, "n_iterations=None only, got 3"),
        ({"n_neighbors": "adaptive"}, np.arange(6) % 2, "n_neighbors as a number"),
        ({}, np.eye(6, 2, dtype=int), "one class per sample, but y has 2 labels"),
        ({"compatible": "weka"}, np.arange(6) % 2, "None or \"skrebate\", got 'weka'"),
    ],
)
def test_what_skrebate_has_not(parameters, y, message):
    with pytest.raises(ValueError, match=message):
        reliefe.ReliefF(**{"compatible": "skrebate", **parameters}).fit(np.arange(12.0).reshape(6, 2), y)


RANKERS = [ranker for _, ranker in KINDS] + [reliefe.ReliefF]


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_rows_that_know_no_column_in_common(storage, ranker, monkeypatch):
    """Theirs would have NaN for a distance; ours names the first two rows, however few are looked at at a time."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(14, 6)), np.arange(14) % 2
    X[12, :3] = X[9, 3:] = X[4, :4] = X[5, [0, 1, 4]] = np.nan
    ranker = ranker(compatible="skrebate", missing="ignore")
    for entries in (2**20, 1):
        monkeypatch.setattr("reliefe.compatible._ENTRIES", entries)
        with pytest.raises(ValueError, match="no feature of 6 is known in both of the samples 4 and 9,"):
            ranker.fit(storage(X), y)
    assert np.isfinite(ranker.set_params(compatible=None).fit(storage(X), y).feature_importances_).all()
    ranker.set_params(compatible="skrebate")
    X[9, 4:] = 0.0  # known; an implicit zero in a sparse matrix
    X[12, 2] = 1.0
    found = ranker.fit(storage(X), y).feature_importances_
    np.testing.assert_allclose(found, ranker.fit(X, y).feature_importances_, rtol=0, atol=1e-12)
    X[13] = np.nan
    with pytest.raises(ValueError, match="in both of the samples 0 and 13,"):
        ranker.fit(storage(X), y)


def test_reliefe_has_no_such_parameter():
    """There is no embedding in skrebate that its weights could be compared with."""
    assert "compatible" not in reliefe.ReliefE().get_params()


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_where_the_ramp_ends(storage):
    X = np.array([[0.0, 5, 1, 2], [1, np.nan, 2, 2], [4, 9, 0, 2], [0, 0, 1, 2]])
    known = np.array([5.0, 9.0, 0.0])
    found = ramp(storage(X), np.array([False, False, True, False]))
    np.testing.assert_allclose(found, [np.std([0, 1, 4, 0]) / 4, known.std() / 9, 0, 1], rtol=1e-15)
