"""The model of the hierarchical test as it stands on paper: all parameters, the whole covariance matrix."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import integrate, ndimage, special, stats


def covariance(n, rho):
    """Correlation of the scores of one data set, before σ²."""
    return np.full((n, n), rho) + (1 - rho) * np.eye(n)


def log_density(scores, rho, bounds, *, delta0, std0, nu, delta, sigma, alpha, beta):
    """Of all parameters, given the scaled differences of every data set; −inf outside the bounds.

    ``bounds`` has the largest |δ0|, std0 and σ.
    """
    if not (abs(delta0) < bounds[0] and 0 < std0 < bounds[1] and 1 < alpha < 2 and 0.01 < beta < 0.1):
        return -np.inf
    if not (nu > 1 and np.all(sigma > 0) and np.all(sigma < bounds[2])):
        return -np.inf
    total = stats.gamma.logpdf(nu - 1, alpha, scale=1 / beta)
    for row, mean, scale in zip(scores, delta, sigma, strict=True):
        total += stats.t.logpdf(mean, nu, delta0, std0)
        total += stats.multivariate_normal.logpdf(
            row, np.full(len(row), mean), scale**2 * covariance(len(row), rho)
        )
    return total


def integrated(scores, rho, bounds, *, delta0, std0, nu, delta):
    """Logarithm of the same density with σ, α and β integrated out numerically, one data set after the other."""
    prior, _ = integrate.dblquad(
        lambda beta, alpha: stats.gamma.pdf(nu - 1, alpha, scale=1 / beta) / 0.09, 1, 2, 0.01, 0.1, epsabs=0
    )
    total = np.log(prior)
    for row, mean in zip(scores, delta, strict=True):
        total += stats.t.logpdf(mean, nu, delta0, std0)
        n, deviation = len(row), row - mean
        quadratic = deviation @ np.linalg.solve(covariance(len(row), rho), deviation)
        mode = np.sqrt(quadratic / len(row))
        top = -len(row) * np.log(mode) - len(row) / 2

        def density(sigma, n=n, quadratic=quadratic, top=top):
            return np.exp(-n * np.log(sigma) - quadratic / (2 * sigma**2) - top)

        # Piece by piece: the peak is narrow, the bound may be far away or cut through it.
        edges = np.unique(np.minimum(np.append(mode * np.geomspace(0.1, 1e6, 60), bounds[2]), bounds[2]))
        pieces = [integrate.quad(density, a, b, epsabs=0)[0] for a, b in itertools.pairwise(edges)]
        total += top + np.log(sum(pieces))
    return total


class Integrated:
    """The posterior of δ0, std0 and ν on a grid, everything else integrated out: slow, and no sampler in it.

    ``probs`` are the shares of the posterior in which each region is the largest. The logarithm of the density is
    smooth, so it is computed at the middles of coarse cells and interpolated to fine ones.
    """

    _COARSE = 50, 60, 36
    _FINER = 4

    def __init__(self, x, y, rope, runs):
        difference = y - x
        q, n = difference.shape
        self.scale = difference.std(axis=1).mean()
        scaled, rope, rho = difference / self.scale, rope / self.scale, runs / n
        within = scaled.std(axis=1).mean()
        among = scaled.mean(axis=1).std() if q > 1 else within
        bound, sigma_high = np.abs(scaled).max(), 1000 * within
        limits = (
            (-bound, bound),
            (np.log(1e-3 * among), np.log(1000 * among)),
            (np.log(1e-3), np.log(1e3)),
        )
        coarse = [_middles(*limit, number) for limit, number in zip(limits, self._COARSE, strict=True)]
        log_post = np.zeros(self._COARSE)
        log_post += coarse[1][:, None] + coarse[2] + _log_prior_of_nu(1 + np.exp(coarse[2]))
        inverse = np.linalg.inv(covariance(n, rho))
        for row in scaled:
            # (row − δ)ᵀ M⁻¹ (row − δ) is a parabola in δ.
            square, mixed, rest = inverse.sum(), inverse.sum(axis=0) @ row, row @ inverse @ row
            parabola = mixed / square, rest - mixed**2 / square, square
            log_post += np.log(
                _likelihood(coarse[0], np.exp(coarse[1]), 1 + np.exp(coarse[2]), n, sigma_high, parabola)
            )
        log_post = ndimage.zoom(log_post, self._FINER, order=3, mode="nearest", grid_mode=True)
        self.posterior = np.exp(log_post - log_post.max())
        self.posterior /= self.posterior.sum()
        fine = [
            _middles(*limit, self._FINER * number) for limit, number in zip(limits, self._COARSE, strict=True)
        ]
        self._edges = [
            low + (np.arange(len(grid)) + 1) * (high - low) / len(grid)
            for (low, high), grid in zip(limits, fine, strict=True)
        ]
        mu, std, nu = fine[0][:, None, None], np.exp(fine[1])[:, None], 1 + np.exp(fine[2])
        below, above = special.stdtr(nu, (-rope - mu) / std), special.stdtr(nu, (mu - rope) / std)
        winner = np.argmax([below, 1 - below - above, above], axis=0)
        self.probs = np.bincount(winner.ravel(), weights=self.posterior.ravel(), minlength=3)

    def share_below(self, parameter, values):
        """Posterior distribution function of one parameter."""
        axis = ("delta0", "std0", "nu").index(parameter)
        at = {"delta0": lambda v: v, "std0": np.log, "nu": lambda v: np.log(v - 1)}[parameter](
            np.asarray(values)
        )
        mass = self.posterior.sum(axis=tuple({0, 1, 2} - {axis}))
        return np.interp(at, self._edges[axis], np.cumsum(mass))


def _t_density(x, nu):
    factor = np.exp(special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2)) / np.sqrt(nu * np.pi)
    return factor * (1 + x * x / nu) ** (-(nu + 1) / 2)


def _middles(low, high, number):
    return low + (np.arange(number) + 0.5) * (high - low) / number


def _log_prior_of_nu(nu):
    nodes, weights = np.polynomial.legendre.leggauss(60)
    alpha, beta = np.meshgrid(1.5 + nodes / 2, 0.055 + 0.045 * nodes, indexing="ij")
    densities = stats.gamma.pdf(nu[:, None, None] - 1, alpha, scale=1 / beta)
    return np.log(np.maximum(np.sum(np.outer(weights, weights) * densities, axis=(1, 2)), 1e-300))


def _likelihood(delta0, std0, nu, n, sigma_high, parabola):
    """Likelihood of one data set at all points of the grid, δ_i and σ_i integrated out."""
    mean, least, square = parabola
    own = np.sqrt(least / square / (n - 2))
    nodes, weights = np.polynomial.legendre.leggauss(80)
    share, weights = (nodes + 1) / 2, weights / 2

    def likelihood(delta):
        quadratic = least + square * (delta - mean) ** 2
        return (quadratic / least) ** (-(n - 1) / 2) * special.gammaincc(
            (n - 1) / 2, quadratic / (2 * sigma_high**2)
        )

    result = np.empty((len(delta0), len(std0), len(nu)))
    wide = stats.t.ppf(share, n - 2)
    own_delta = mean + own * wide
    ratio = likelihood(own_delta) / _t_density(wide, n - 2) * own
    for k, degrees in enumerate(nu):
        narrow = stats.t.ppf(share, degrees)
        for j, scale in enumerate(std0):
            # Nodes where the narrower of the two distributions is.
            if scale < own:
                values = likelihood(delta0[:, None] + scale * narrow)
            else:
                values = ratio * _t_density((own_delta - delta0[:, None]) / scale, degrees) / scale
            result[:, j, k] = values @ weights
    return np.maximum(result, 1e-300)
