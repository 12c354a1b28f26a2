"""The hierarchical model behind :mod:`experiments.analysis.bayes`, as densities that JAX can differentiate.

Scores x_i of data set i (differences, scaled) are equally correlated: x_i ~ N(δ_i, σ_i² M) with M = (1 − ρ) I
+ ρ J. Above them stand δ_i ~ t(ν; δ0, std0), σ_i, δ0 and std0 uniform between bounds, ν − 1 ~ Gamma(α, β),
and α and β uniform in 1 … 2 and 0.01 … 0.1. This is the model of ``baycomp.HierarchicalTest``. What is
different is how it is put to a sampler:

- By the Sherman–Morrison formula the quadratic form of M⁻¹ needs the mean and the scatter of x_i only:
  scatter / (1 − ρ) + (mean − δ_i)² / v with v = (1 + (n − 1) ρ) / n. No matrix is left.
- σ_i is integrated out in closed form, α and β by Gauss–Legendre quadrature (:func:`log_marginal`).
- δ_i is written as m_i + s_i z_i, where m_i and s_i are mean and standard deviation of a normal approximation
  to δ_i given δ0, std0 and ν; the logit of δ0 likewise, given std0. That is centred where data say much, not
  centred where they say little, and what is sampled is close to independent normals everywhere: no funnel,
  hardly a divergence.

Importing this module loads JAX; :mod:`experiments.analysis.bayes` does so when a test is asked for.

Source: G. Corani, A. Benavoli, J. Demšar, F. Mangili, M. Zaffalon: Statistical comparison of classifiers
through Bayesian hierarchical modelling, Machine Learning 106 (2017), section 3; A. Gelman et al., Bayesian
Data Analysis, for the scaled Student form of σ integrated out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import stats
from jax.scipy.special import gammaincc, logsumexp
from scipy.special import gammaln

ALPHA_LOW, ALPHA_HIGH = 1.0, 2.0
BETA_LOW, BETA_HIGH = 0.01, 0.1

#: From this number of scores on, the upper bound of σ takes less than 1e-11 from any density and is left out.
SCORES_WITHOUT_BOUND = 10

_NODES = 8
#: 1 / variance of the logistic distribution, which the logit of a uniform number has.
_LOGISTIC_PRECISION = 3 / np.pi**2


class Data(NamedTuple):
    """What the model needs of one pair of score tables. Arrays have shape (q,), one entry per data set."""

    mean: np.ndarray
    """Mean difference, scaled."""
    residual: np.ndarray
    """Sum of squared deviations from the mean, divided by 1 − ρ; greater than 0."""
    spread: np.ndarray
    """v: variance of the mean of correlated scores, as a multiple of σ²."""
    n: np.ndarray
    """Number of scores."""
    present: np.ndarray
    """1, or 0 for an entry that only fills the array up and has no influence."""
    delta0_bound: float
    """|δ0| lies below."""
    std0_high: float
    sigma_high: float


class Point(NamedTuple):
    """A position of the sampler on the scale of the data."""

    delta0: jax.Array
    std0: jax.Array
    nu: jax.Array
    delta: jax.Array


def log_density(
    delta0: Any, std0: Any, nu: Any, delta: Any, sigma: Any, alpha: Any, beta: Any, data: Data
) -> Any:
    """Log-density of all parameters, the scores given by mean and scatter alone.

    Parameters
    ----------
    delta0, std0, nu, alpha, beta : float
        Parameters that all data sets share.
    delta, sigma : array of shape (q,)
        Parameters of the data sets.
    data : Data

    Returns
    -------
    float
        Up to a constant that depends on the numbers of scores and ρ only. −inf outside the bounds.
    """
    inside = (jnp.abs(delta0) < data.delta0_bound) & (0 < std0) & (std0 < data.std0_high) & (nu > 1)
    inside &= (ALPHA_LOW < alpha) & (alpha < ALPHA_HIGH) & (BETA_LOW < beta) & (beta < BETA_HIGH)
    inside &= jnp.all((0 < sigma) & (sigma < data.sigma_high))
    quadratic = data.residual + (data.mean - delta) ** 2 / data.spread
    likelihood = -data.n * jnp.log(sigma) - quadratic / (2 * sigma**2)
    prior = stats.gamma.logpdf(nu - 1, alpha, scale=1 / beta)
    level = stats.t.logpdf(delta, nu, delta0, std0)
    return jnp.where(inside, prior + jnp.sum(data.present * (level + likelihood)), -jnp.inf)


def log_marginal(point: Point, data: Data, *, bounded: bool) -> Any:
    """Log-density with σ, α and β integrated out.

    Parameters
    ----------
    point : Point
        Inside the bounds.
    data : Data
    bounded : bool
        Whether the upper bound of σ counts; see :data:`SCORES_WITHOUT_BOUND`.

    Returns
    -------
    float
        Up to a constant.
    """
    shape = (data.n - 1) / 2
    quadratic = data.residual + (data.mean - point.delta) ** 2 / data.spread
    likelihood = -shape * jnp.log(quadratic)
    if bounded:
        likelihood += jnp.log(gammaincc(shape, quadratic / (2 * data.sigma_high**2)))
    level = stats.t.logpdf(point.delta, point.nu, point.delta0, point.std0)
    return _log_prior_of_nu(point.nu - 1) + jnp.sum(data.present * (level + likelihood))


def _gamma_nodes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes of α and β, and logarithms of weight × what does not depend on ν. β is even on a logarithmic scale."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    alpha = (ALPHA_LOW + ALPHA_HIGH) / 2 + (ALPHA_HIGH - ALPHA_LOW) / 2 * nodes
    half = np.log(BETA_HIGH / BETA_LOW) / 2
    beta = np.exp(np.log(BETA_LOW * BETA_HIGH) / 2 + half * nodes)
    alpha, beta = (each.ravel() for each in np.meshgrid(alpha, beta, indexing="ij"))
    weight = np.outer(weights, weights * half).ravel() / 2 * beta / (BETA_HIGH - BETA_LOW)
    return alpha, beta, np.log(weight) + alpha * np.log(beta) - gammaln(alpha)


_ALPHA, _BETA, _LOG_WEIGHT = _gamma_nodes()


def _log_prior_of_nu(nu_minus_one):
    return logsumexp(_LOG_WEIGHT + (_ALPHA - 1) * jnp.log(nu_minus_one) - _BETA * nu_minus_one)


def constrain(position: dict, data: Data) -> tuple[Point, Any]:
    """Map an unconstrained position to the parameters.

    Parameters
    ----------
    position : dict
        ``delta0``, ``std0``, ``nu`` (real numbers) and ``z`` (array of shape (q,)).
    data : Data

    Returns
    -------
    point : Point
    log_jacobian : float
        Logarithm of the determinant of the map's derivative.
    """
    std0 = data.std0_high * jax.nn.sigmoid(position["std0"])
    nu = 1 + jnp.exp(position["nu"])
    log_jacobian = (
        jax.nn.log_sigmoid(position["std0"]) + jax.nn.log_sigmoid(-position["std0"]) + position["nu"]
    )

    # The logit of δ0's place between its bounds, relative to where std0 lets it be expected.
    variance = data.residual / (data.n - 1) * data.spread
    weights = data.present / (std0**2 + variance)
    pull = jnp.sum(weights) * (data.delta0_bound / 2) ** 2
    width = 1 / jnp.sqrt(pull + _LOGISTIC_PRECISION)
    expected = jnp.sum(weights * data.mean) / jnp.sum(weights) / data.delta0_bound
    logit = pull * width**2 * 2 * jnp.arctanh(expected) + width * position["delta0"]
    delta0 = data.delta0_bound * jnp.tanh(logit / 2)
    log_jacobian += jnp.log(width) + jax.nn.log_sigmoid(logit) + jax.nn.log_sigmoid(-logit)

    # The t distribution is a mixture of normals; of an outlier it is a wide one that has δ_i in its data's
    # hands. Where the weight comes from decides how well the z_i behave, not what is sampled.
    weight = (nu + 1) / (nu + (data.mean - delta0) ** 2 / (std0**2 + variance))
    precision = 1 / variance + weight / std0**2
    centre = (data.mean / variance + weight * delta0 / std0**2) / precision
    delta = centre + position["z"] / jnp.sqrt(precision)
    log_jacobian -= jnp.sum(data.present * jnp.log(precision)) / 2
    return Point(delta0, std0, nu, delta), log_jacobian


def potential(position: dict, data: Data, *, bounded: bool) -> Any:
    """Negative log-density of an unconstrained position, for a sampler.

    Parameters
    ----------
    position, data
        See :func:`constrain`.
    bounded : bool
        See :func:`log_marginal`.

    Returns
    -------
    float
    """
    point, log_jacobian = constrain(position, data)
    filling = -jnp.sum((1 - data.present) * position["z"] ** 2) / 2
    return -(log_marginal(point, data, bounded=bounded) + log_jacobian + filling)
