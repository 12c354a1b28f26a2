"""Nested logistic regressions reach the optimum of scikit-learn's own, whatever the way there."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MaxAbsScaler

from experiments.evaluation.evaluate import make_learner
from experiments.learners import NestedLogisticRegression, multinomial, nested_logistic_regression

TIGHT = {"C": 1.0, "tol": 1e-9, "max_iter": 100_000}


def data(n_rows, n_features, n_classes, as_csr=False, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_features))
    X[:, : n_classes * 2] += 0.7 * (y[:, None] == np.arange(n_classes * 2) % n_classes)
    if as_csr:
        X = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0.0))
    return MaxAbsScaler().fit_transform(X), np.array(["a", "b", "c", "d"])[y]


def only(way, monkeypatch):
    """Let fits go one way: by the curvature of each class, Newton's method, L-BFGS, or from one to the other."""
    monkeypatch.setattr(
        nested_logistic_regression, "_OPERATIONS_AT_MOST", {"curved": 1e12, "all": 1e5}.get(way, 0)
    )
    monkeypatch.setattr(
        nested_logistic_regression, "_NEWTON_AT_MOST", {"newton": 1000, "all": 50}.get(way, 0)
    )


@pytest.mark.parametrize("way", ["curved", "newton", "lbfgs", "all"])
@pytest.mark.parametrize("as_csr", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("n_rows", "n_features"), [(120, 30), (40, 200)])
def test_coefficients_are_those_of_scikit_learn_to_its_tolerance(
    n_rows, n_features, n_classes, as_csr, way, monkeypatch
):
    only(way, monkeypatch)
    X, y = data(n_rows, n_features, n_classes, as_csr)
    sizes = sorted({1, 2, 5, n_features // 4, min(n_rows, 20), n_rows - 1, n_features - 1, n_features})
    sizes = [size for size in sizes if size <= n_features]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        models = list(NestedLogisticRegression(**TIGHT).path(X, y, sizes))
        for size, model in zip(sizes, models, strict=True):
            alone = LogisticRegression(**TIGHT).fit(X[:, :size], y)
            # A gradient of tol leaves an error of tol × n × C at most: the penalty bends the loss by 1 / (n C).
            error = 10 * TIGHT["tol"] * n_rows
            assert np.allclose(model.coef_, alone.coef_, rtol=0, atol=max(error, 1e-6)), size
            assert np.allclose(model.intercept_, alone.intercept_, rtol=0, atol=max(error, 1e-6)), size
            assert np.array_equal(model.predict(X[:, :size]), alone.predict(X[:, :size]))
            assert np.allclose(
                model.predict_proba(X[:, :size]), alone.predict_proba(X[:, :size]), rtol=0, atol=1e-6
            )


def test_both_ways_through_more_columns_than_rows_end_at_the_same_place(monkeypatch):
    X, y = data(50, 300, 3)
    X[7] = X[3]  # rows that span less than their number
    sizes = [40, 60, 100, 300]
    turned = list(NestedLogisticRegression(**TIGHT).path(X, y, sizes))
    monkeypatch.setattr(nested_logistic_regression, "_ROWS_AT_MOST", 10)
    plain = list(NestedLogisticRegression(**TIGHT).path(X, y, sizes))
    for one, other, size in zip(turned, plain, sizes, strict=True):
        assert one.coef_.shape == other.coef_.shape == (3, size)
        assert np.allclose(one.coef_, other.coef_, rtol=0, atol=1e-6)


def test_the_usual_tolerance_ends_where_predictions_do_not_change_any_more():
    data_set = load_breast_cancer()
    X, y = MaxAbsScaler().fit_transform(data_set.data), data_set.target
    sizes = range(1, 31)
    usual = NestedLogisticRegression().path(X[::2], y[::2], sizes)
    tight = NestedLogisticRegression(tol=1e-12).path(X[::2], y[::2], sizes)
    for size, one, other in zip(sizes, usual, tight, strict=True):
        assert np.abs(one.coef_ - other.coef_).max() < 1e-3
        assert np.array_equal(one.predict(X[1::2, :size]), other.predict(X[1::2, :size]))


@pytest.mark.parametrize("solver", ["newton-cholesky", "lbfgs"])
def test_a_start_from_before_saves_iterations(solver, monkeypatch):
    only(solver.partition("-")[0], monkeypatch)
    X, y = data(400, 60, 3)
    sizes = list(range(1, 61, 3))
    nested = sum(int(model.n_iter_.max()) for model in NestedLogisticRegression(tol=1e-6).path(X, y, sizes))
    alone = sum(
        int(LogisticRegression(tol=1e-6, max_iter=10000, solver=solver).fit(X[:, :size], y).n_iter_.max())
        for size in sizes
    )
    assert nested < alone


@pytest.mark.parametrize("as_csr", [False, True])
def test_with_many_classes_predictions_are_those_of_the_optimum(as_csr, monkeypatch):
    X, y = load_digits(return_X_y=True)
    X = MaxAbsScaler().fit_transform(X)[:, np.argsort(-X.std(axis=0), kind="stable")]
    sizes = [1, 2, 5, 10, 20, 40, 60]
    given = sparse.csr_matrix(X) if as_csr else X
    fitted = list(NestedLogisticRegression().path(given[::3], y[::3], sizes))
    for size, model in zip(sizes, fitted, strict=True):
        optimum = LogisticRegression(**TIGHT).fit(X[::3, :size], y[::3])
        assert np.array_equal(model.predict(given[1::3, :size]), optimum.predict(X[1::3, :size]))
        assert np.abs(model.coef_ - optimum.coef_).max() < 1e-4
        assert model.intercept_.sum() == pytest.approx(0, abs=1e-9)
    only("lbfgs", monkeypatch)
    others = NestedLogisticRegression().path(X[::3], y[::3], sizes)
    n_steps = np.array([[each.n_iter_.max() for each in models] for models in (fitted, list(others))])
    assert (n_steps[0, 2:] < n_steps[1, 2:]).all(), "though it goes on to a hundredth of the tolerance"


def test_steps_from_far_away_end_at_the_optimum():
    """The curvature at the start says nothing of that at the end, and every class is certain."""
    X, y = data(120, 10, 4)
    codes = np.unique(y, return_inverse=True)[1]
    columns = np.hstack([X, np.ones((120, 1))])
    start = np.random.default_rng(0).normal(size=(4, 11), scale=300.0)
    found, _, slope = multinomial.solve(columns, codes, start, 1.0, 1e-9, 10_000)
    optimum = LogisticRegression(**TIGHT).fit(X, codes)
    assert slope <= 1e-9
    assert np.allclose(found[:, :-1], optimum.coef_, rtol=0, atol=1e-6)
    differences = found[:, -1] - optimum.intercept_
    assert np.ptp(differences) < 1e-6, "intercepts are known up to one number"


def test_too_few_iterations_warn():
    X, y = data(120, 30, 3)
    with pytest.warns(ConvergenceWarning):
        list(NestedLogisticRegression(max_iter=1, tol=1e-9).path(X, y, [5, 20]))
    with pytest.warns(ConvergenceWarning):
        list(NestedLogisticRegression(max_iter=1, tol=1e-9).path(*data(120, 30, 2), [5, 20]))


def test_it_is_a_learner_like_any_other():
    X, y = data(60, 100, 3)
    made = make_learner({"_target_": "experiments.learners.NestedLogisticRegression", "C": 0.5})
    alone = LogisticRegression(C=0.5, max_iter=10000).fit(X, y)
    assert np.array_equal(made.fit(X, y).predict(X), alone.predict(X))
    assert made.classes_.tolist() == ["a", "b", "c"]
