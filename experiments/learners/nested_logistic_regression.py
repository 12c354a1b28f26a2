"""Logistic regressions on a growing number of columns, each helped by the one before."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from experiments.learners.multinomial import n_operations, solve

#: With more columns than rows, the problem is turned into one with as many unknowns as rows, if there are no more
#: rows than this: turning takes the cube of their number.
_ROWS_AT_MOST = 1500
#: Newton's method, which takes the cube of the number of coefficients, is used up to so many; L-BFGS above.
_NEWTON_AT_MOST = 1000
#: The curvature of each class is used up to so many products, and bytes of columns.
_OPERATIONS_AT_MOST, _BYTES_AT_MOST = 1e10, 2**29
#: Of sparse columns, up to so many.
_SPARSE_COLUMNS_AT_MOST = 200
_SHARE_OF_TOLERANCE = 0.01
#: Eigenvalues below this share of the largest are rounding.
_RANK_TOLERANCE = 1e-13


class NestedLogisticRegression(ClassifierMixin, BaseEstimator):
    """L2-penalised logistic regression, for many sets of columns of which each contains the one before.

    The optimum is that of scikit-learn's ``LogisticRegression`` with the same ``C``, which does the work. It is
    reached with less of it:

    * Each fit starts from the coefficients of the one before; those of new columns start at 0.
    * With more columns than rows, the optimum lies in the span of the rows. There, p unknowns per class become n,
      and since the penalty does not feel rotations, an orthogonal basis of the span turns it into a problem of the
      same form with n columns. The products of rows with rows that this takes grow with the columns.
    * With three classes or more, steps know how curved the loss is for each class
      (:mod:`experiments.learners.multinomial`), as long as that takes less time than it saves. They end at a
      hundredth of ``tol``, where predictions are those at the optimum.
    * Otherwise Newton's method is used up to 1,000 coefficients. It needs few iterations, and so ends close to the
      optimum, where L-BFGS with its usual tolerance stops early enough to change predictions.

    ``tol`` is the largest component of the gradient of the mean loss at which a fit stops; ``max_iter`` counts
    iterations of one fit. ``model_`` is scikit-learn's, fitted on all columns.
    """

    def __init__(self, C: float = 1.0, tol: float = 1e-6, max_iter: int = 10000):
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> NestedLogisticRegression:
        """Fit on all columns."""
        (self.model_,) = self.path(X, y, [X.shape[1]])
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of rows."""
        return self.model_.predict(X)

    def path(self, X: Any, y: Any, sizes: Sequence[int]) -> Iterator[LogisticRegression]:
        """Fit on the first columns, ever more of them.

        The best column comes first; yields scikit-learn's model for each of the ascending ``sizes``.
        """
        rows = _Rows(X) if X.shape[0] <= _ROWS_AT_MOST and max(sizes) > X.shape[0] else None
        before: LogisticRegression | None = None
        for size in sizes:
            before = (
                self._fit_columns(X[:, :size], y, before)
                if rows is None or size <= X.shape[0]
                else self._fit_span(X[:, :size], y, before, rows)
            )
            yield before

    def _fit_columns(self, X: Any, y: Any, before: LogisticRegression | None) -> LogisticRegression:
        start = None
        if before is not None:
            missing = X.shape[1] - before.coef_.shape[1]
            start = np.pad(before.coef_, ((0, 0), (0, missing))), before.intercept_
        return self._fit_from(X, y, start)

    def _fit_span(self, X: Any, y: Any, before: LogisticRegression | None, rows: _Rows) -> LogisticRegression:
        basis, lengths = rows.basis(X.shape[1])
        start = None
        if before is not None:
            # The smallest coefficients that give the training samples what they had.
            n_before = before.coef_.shape[1]
            products = np.asarray(X[:, :n_before] @ before.coef_.T)
            start = (basis.T @ products / lengths[:, None]).T, before.intercept_
        inner = self._fit_from(basis * lengths, y, start)
        outer = LogisticRegression(C=self.C, tol=self.tol, max_iter=self.max_iter)
        of_rows = (inner.coef_ / lengths) @ basis.T
        outer.coef_ = np.asarray((X.T @ of_rows.T).T)
        outer.intercept_, outer.classes_, outer.n_iter_ = inner.intercept_, inner.classes_, inner.n_iter_
        outer.n_features_in_ = X.shape[1]
        return outer

    def _fit_from(self, X: Any, y: Any, start: Any) -> LogisticRegression:
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) > 2 and _curvature_pays(X, len(classes)):
            return self._fit_curved(X, classes, codes, start)
        n_coefficients = (X.shape[1] + 1) * (1 if len(classes) == 2 else len(classes))
        model = LogisticRegression(
            C=self.C,
            tol=self.tol,
            max_iter=self.max_iter,
            solver="newton-cholesky" if n_coefficients <= _NEWTON_AT_MOST else "lbfgs",
            warm_start=True,
        )
        if start is not None:
            model.coef_, model.intercept_ = np.ascontiguousarray(start[0]), start[1]
        return model.fit(X, y)

    def _fit_curved(self, X: Any, classes: np.ndarray, codes: np.ndarray, start: Any) -> LogisticRegression:
        n, d = X.shape
        columns = np.ones((n, d + 1))
        columns[:, :d] = X.toarray() if sparse.issparse(X) else X
        first = np.zeros((len(classes), d + 1))
        if start is not None:
            first[:, :d], first[:, d] = start
        found, n_steps, slope = solve(
            columns, codes, first, self.C, _SHARE_OF_TOLERANCE * self.tol, self.max_iter
        )
        if slope > self.tol:
            warnings.warn(
                f"{n_steps} steps end at a gradient of {slope:.1e}, above tol={self.tol:g}",
                ConvergenceWarning,
                stacklevel=2,
            )
        model = LogisticRegression(C=self.C, tol=self.tol, max_iter=self.max_iter)
        model.coef_, model.intercept_ = found[:, :d].copy(), found[:, d] - found[:, d].mean()
        model.classes_, model.n_features_in_ = classes, d
        model.n_iter_ = np.array([n_steps], dtype=np.int32)
        return model


def _curvature_pays(X: Any, n_classes: int) -> bool:
    """Whether knowing the curvature saves more than it takes: L-BFGS on sparse columns takes little itself."""
    n, d = X.shape
    if sparse.issparse(X) and d > _SPARSE_COLUMNS_AT_MOST:
        return False
    return n_operations(n, d + 1, n_classes) <= _OPERATIONS_AT_MOST and 8 * n * d <= _BYTES_AT_MOST


class _Rows:
    """Products of rows with rows over the first columns, ever more of them."""

    def __init__(self, X):
        self._X = X
        self._products = np.zeros((X.shape[0], X.shape[0]))
        self._n_columns = 0

    def basis(self, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
        """Return U and s of the thin singular value decomposition U s V' of the first columns."""
        new = self._X[:, self._n_columns : n_columns]
        products = new @ new.T
        self._products += products.toarray() if sparse.issparse(products) else products
        self._n_columns = n_columns
        squares, vectors = linalg.eigh(self._products)
        there = squares > _RANK_TOLERANCE * squares[-1]
        return vectors[:, there], np.sqrt(squares[there])
