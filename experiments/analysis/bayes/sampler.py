"""NUTS for the hierarchical model: compiled once per shape, run for one pair of rankers after the other.

The sampler is numpyro's. Its four chains advance in lockstep, as one vectorised program; pairs go through
that program one at a time, several at once on threads, so that a hard pair does not hold up easy ones. The
program advances by blocks of iterations, warm-up included, which makes one compilation serve any number of
draws and longer runs.

Importing this module loads JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
from numpyro.infer.hmc import hmc

from experiments.analysis.bayes.model import SCORES_WITHOUT_BOUND, Data, constrain, potential

N_CHAINS = 4
#: R-hat below this, and at least this many effective draws of every parameter: else the chains run on.
RHAT_LIMIT = 1.01
LEAST_EFFECTIVE = 400

_BLOCK = 250
_WARM_UP_BLOCKS = 2
_LEAST_BLOCKS = 2
#: The longest run, as a multiple of what was asked for.
_LONGEST = 8
#: Trees have 3 or 4 levels on these posteriors; a chain gone astray costs less with a bound.
_TREE_DEPTH = 8
#: Arrays of data sets are filled up to a multiple of this, so that few shapes have to be compiled.
_WIDTH = 12


@dataclass(frozen=True)
class Draws:
    """Draws of one pair after warm-up."""

    delta0: np.ndarray
    """Shape (chains, draws), as ``std0`` and ``nu``."""
    std0: np.ndarray
    nu: np.ndarray
    rhat: dict[str, float]
    """Split R-hat of δ0, log std0, log(ν − 1), and the largest of the δ_i."""
    ess: dict[str, float]
    """Effective sample size of the same, the smallest of the δ_i."""
    divergences: int

    @property
    def good(self) -> bool:
        """Whether the chains agree and are long enough."""
        return max(self.rhat.values()) < RHAT_LIMIT and min(self.ess.values()) >= LEAST_EFFECTIVE


def sample(datas: Sequence[Data], seed: int, n_draws: int, n_jobs: int) -> list[Draws]:
    """Draw from the posterior of every pair.

    Parameters
    ----------
    datas : sequence of Data
        One per pair, numpy arrays, without filling.
    seed : int
        The same for every pair: what a pair's draws are does not depend on the others, or on their order.
    n_draws : int
        Draws wanted of all chains together; it may be some more.
    n_jobs : int
        Threads.

    Returns
    -------
    list of Draws
    """
    n_blocks = max(_LEAST_BLOCKS, -(-n_draws // (N_CHAINS * _BLOCK)))
    jobs = [(_fill(data), bool(data.n.min() < SCORES_WITHOUT_BOUND), len(data.n)) for data in datas]
    for width, bounded in {(len(data.n), bounded) for data, bounded, _ in jobs}:
        _program(width, bounded)

    def run(job: tuple[Data, bool, int]) -> Draws:
        return _sample_one(*job, seed, n_blocks)

    if min(n_jobs, len(jobs)) <= 1:
        return [run(job) for job in jobs]
    with ThreadPoolExecutor(min(n_jobs, len(jobs))) as threads:
        return list(threads.map(run, jobs))


def _sample_one(data: Data, bounded: bool, q: int, seed: int, n_blocks: int) -> Draws:
    start, advance = _program(len(data.n), bounded)
    # The setting belongs to the thread; whoever uses JAX for something else keeps theirs.
    with jax.enable_x64(True):
        state = start(data, jax.random.split(jax.random.key(seed), N_CHAINS))
        for _ in range(_WARM_UP_BLOCKS):
            state, _ = advance(state, data)
        blocks: list[Any] = []
        wanted = n_blocks
        while True:
            while len(blocks) < wanted:
                state, block = advance(state, data)
                blocks.append(jax.tree.map(np.asarray, block))
            draws = _summed_up(blocks, q)
            if draws.good or wanted >= _LONGEST * n_blocks:
                return draws
            wanted *= 2


def _summed_up(blocks: list, q: int) -> Draws:
    point, diverging = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1), *blocks)
    watched = {
        "delta0": point.delta0,
        "std0": np.log(point.std0),
        "nu": np.log(point.nu - 1),
        "delta": point.delta[..., :q],
    }
    return Draws(
        point.delta0,
        point.std0,
        point.nu,
        rhat={name: float(np.max(split_gelman_rubin(values))) for name, values in watched.items()},
        ess={name: float(np.min(effective_sample_size(values))) for name, values in watched.items()},
        divergences=int(diverging.sum()),
    )


def _fill(data: Data) -> Data:
    missing = -len(data.n) % _WIDTH
    fillings = {"mean": 0.0, "residual": 1.0, "spread": 1.0, "n": 2.0, "present": 0.0}
    filled: dict[str, Any] = {
        name: np.append(np.asarray(getattr(data, name), dtype=np.float64), np.full(missing, value))
        for name, value in fillings.items()
    }
    scalars: dict[str, Any] = {
        name: np.float64(getattr(data, name)) for name in data._fields if name not in fillings
    }
    return Data(**filled, **scalars)


@cache
def _program(width: int, bounded: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Compile, for arrays of ``width`` data sets, what starts the chains and what advances them by a block."""
    init_kernel, sample_kernel = hmc(
        potential_fn_gen=lambda data: partial(potential, data=data, bounded=bounded), algo="NUTS"
    )

    def start(data, key):
        key, key_init = jax.random.split(key)
        # Spread far wider than the posterior, so that R-hat can tell whether they forgot where they came
        # from.
        u = jax.random.uniform(key_init, (3 + width,), minval=-1.0, maxval=1.0)
        position = {
            "delta0": u[0],
            "std0": jnp.log(1e-3) + 2 * u[1],
            "nu": jnp.log(20.0) + 1.5 * u[2],
            "z": 2 * u[3:],
        }
        return init_kernel(
            position,
            num_warmup=_WARM_UP_BLOCKS * _BLOCK,
            target_accept_prob=0.8,
            max_tree_depth=_TREE_DEPTH,
            model_args=(data,),
            rng_key=key,
        )

    def advance(state, data):
        def step(state, _):
            state = sample_kernel(state, (data,), {})
            point, _ = constrain(state.z, data)
            return state, (point, state.diverging)

        return jax.lax.scan(step, state, None, length=_BLOCK)

    with jax.enable_x64(True):
        blank = _fill(Data(*(np.ones(width),) * 5, 1.0, 1.0, 1.0))
        keys = jax.random.split(jax.random.key(0), N_CHAINS)
        # Chains are the first axis of states and keys; data are shared by them.
        start = jax.jit(jax.vmap(start, in_axes=(None, 0))).lower(blank, keys).compile()
        state = start(blank, keys)
        advance = jax.jit(jax.vmap(advance, in_axes=(0, None))).lower(state, blank).compile()
    return start, advance
