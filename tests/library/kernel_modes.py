"""Proofs that a run without the compiler, or with bounds checks, is one. Not collected by name.

``test_without_jit.py`` hands this file to pytest with the variable of one mode set to 1. In both modes a read past
the end of an array is an IndexError, which compiled code without checks would not notice.
"""

import os

import numpy as np
import pytest
from numba import config, njit

from reliefe.kernels import multilabel, targets, weights


@njit
def value_at(values, place):
    """Return one value."""
    return values[place]


def test_the_mode_is_on():
    assert {name: os.environ.get(name) == "1" for name in ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK")} == {
        "NUMBA_DISABLE_JIT": bool(config.DISABLE_JIT),
        "NUMBA_BOUNDSCHECK": bool(config.BOUNDSCHECK),
    }
    assert bool(config.DISABLE_JIT) != bool(config.BOUNDSCHECK)
    for kernel in (value_at, targets.between_sets, weights.update_dense, multilabel.update_sparse):
        assert hasattr(kernel, "py_func") != bool(config.DISABLE_JIT)


def test_a_read_past_the_end_is_noticed():
    assert value_at(np.arange(3.0), 2) == 2.0
    with pytest.raises(IndexError):
        value_at(np.arange(3.0), 3)


def test_a_kernel_that_is_given_a_row_too_far_says_so():
    """The project's kernels themselves are the checked ones, not an older compiled copy."""
    V = np.arange(12.0).reshape(6, 2)
    rows, counts, out = np.array([0]), np.array([[1]]), np.empty((1, 1))
    targets.between_vectors(V, targets.COSINE, rows, np.array([[5]], np.int32), counts, 0, 1, out)
    with pytest.raises(IndexError):
        targets.between_vectors(V, targets.COSINE, rows, np.array([[6]], np.int32), counts, 0, 1, out)
