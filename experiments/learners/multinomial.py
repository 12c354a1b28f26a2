"""Multinomial logistic regression by quasi-Newton steps that know how curved the loss is for each class."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from scipy import linalg

#: Rows whose part in the curvature of a class is below this share of the largest are left out of it.
_CUT = 0.03
#: Steps that are kept for the next approximation of the curvature.
_STEPS_KEPT = 10
#: Steps after which curvature is looked at anew.
_STEPS_BEFORE_NEW = 40
#: A step is short enough when the loss falls by this share of what its slope promises.
_ENOUGH = 1e-4
_HALVINGS = 40
#: Added to the curvature along intercepts, which have no penalty.
_LEAST = 1e-9


def solve(
    X: np.ndarray, y: np.ndarray, start: np.ndarray, C: float, tol: float, max_iter: int
) -> tuple[np.ndarray, int, float]:
    """Minimise the mean loss with the penalty 1 / (2 C n) times the sum of squared coefficients.

    The Hessian of the loss has a block for each class, X' diag(p (1 − p)) X / n with p the probability of the class
    in each row, and smaller ones between classes. L-BFGS, started from the inverses of the former, takes a fifth of
    the steps it takes otherwise. Rows whose class is certain do not count in a block, so that blocks cost little.

    The last column of X is 1, for the intercept; y holds codes 0 … K − 1, K ≥ 3.
    Returns coefficients (K, d), the steps taken, and the largest component of the gradient there: above ``tol``
    after ``max_iter`` steps, and where rounding lets no step lower the loss.
    """
    loss = _Loss(X, y, C)
    W = start.copy()
    value, gradient, shares = loss(W)
    blocks = loss.inverse_blocks(shares)
    steps: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=_STEPS_KEPT)
    n_since = 0
    for n_steps in range(max_iter):
        if (largest := float(np.abs(gradient).max())) <= tol:
            return W, n_steps, largest
        if n_since == _STEPS_BEFORE_NEW:
            blocks, n_since = loss.inverse_blocks(shares), 0
            steps.clear()
        direction = _direction(gradient, steps, blocks)
        slope = float(np.vdot(direction, gradient))
        if slope >= 0:  # rounding
            return W, n_steps, largest
        length = 1.0
        for _ in range(_HALVINGS):
            W_next = W + length * direction
            value_next, gradient_next, shares = loss(W_next)
            # Near the optimum, losses differ by rounding only, and the slope at the other end decides.
            flat = abs(value_next - value) <= 1e-13 * abs(value)
            if value_next <= value + _ENOUGH * length * slope or (
                flat and np.vdot(direction, gradient_next) <= 0.9 * abs(slope)
            ):
                break
            length /= 2
        else:
            return W, n_steps, largest
        moved, turned = W_next - W, gradient_next - gradient
        product = float(np.vdot(moved, turned))
        if product > 0:
            steps.append((moved, turned, product))
        W, value, gradient = W_next, value_next, gradient_next
        n_since += 1
    return W, max_iter, float(np.abs(gradient).max())


def n_operations(n: int, d: int, n_classes: int) -> float:
    """Estimate what the blocks take, in products."""
    return n_classes * (d**3 + 0.2 * n * d**2)


class _Loss:
    """Loss, gradient and probabilities at given coefficients."""

    def __init__(self, X: np.ndarray, y: np.ndarray, C: float):
        self._X, self._y, self._rows = X, y, np.arange(len(y))
        self._penalty = 1.0 / (C * len(y))

    def __call__(self, W: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        n = len(self._y)
        shares = self._X @ W.T
        shares -= shares.max(axis=1, keepdims=True)
        of_class = shares[self._rows, self._y]
        np.exp(shares, out=shares)
        sums = shares.sum(axis=1)
        value = float((np.log(sums) - of_class).sum()) / n
        shares /= sums[:, None]
        of_class = shares[self._rows, self._y]
        shares[self._rows, self._y] -= 1.0
        gradient = shares.T @ self._X / n
        shares[self._rows, self._y] = of_class
        gradient[:, :-1] += self._penalty * W[:, :-1]
        value += self._penalty / 2 * float(np.square(W[:, :-1]).sum())
        return value, gradient, shares

    def inverse_blocks(self, shares: np.ndarray) -> np.ndarray:
        """Return the inverse of the Hessian's block of each class, in single precision: it need not be exact."""
        n, d = self._X.shape
        curved = shares * (1.0 - shares)
        blocks = np.empty((shares.shape[1], d, d), dtype=np.float32)
        for code, weights in enumerate(curved.T):
            counted = np.flatnonzero(weights >= _CUT * weights.max())
            some = self._X[counted] * np.sqrt(weights[counted] / n)[:, None]
            block = some.T @ some
            block[np.arange(d - 1), np.arange(d - 1)] += self._penalty
            block[-1, -1] += _LEAST
            inverse, _ = linalg.lapack.dpotri(linalg.cholesky(block, lower=True), lower=1)
            blocks[code] = np.tril(inverse) + np.tril(inverse, -1).T
        return blocks


def _direction(gradient: np.ndarray, steps: Any, blocks: np.ndarray) -> np.ndarray:
    """Return minus the approximate inverse Hessian times the gradient: L-BFGS in its two loops."""
    q, factors = gradient.copy(), []
    for moved, turned, product in reversed(steps):
        factors.append(float(np.vdot(moved, q)) / product)
        q -= factors[-1] * turned
    q = np.matmul(blocks, q.astype(np.float32)[:, :, None])[:, :, 0].astype(np.float64)
    for (moved, turned, product), factor in zip(steps, reversed(factors), strict=True):
        q += (factor - float(np.vdot(turned, q)) / product) * moved
    return -q
