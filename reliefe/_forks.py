"""Forked processes: UMAP's loops run on numba's threads, which OpenMP does not carry over a fork.

UMAP asks for threads that can be forked, but takes OpenMP's where another library has started these through numba.
A process that was forked afterwards is ended by the first loop that asks for them. That is known before it happens,
so that a fit can say what to do instead.
"""

from __future__ import annotations

import os
import sys

_after_openmp: list[int] = []


def _note():
    """Run in the child, right after a fork."""
    parallel = sys.modules.get("numba.np.ufunc.parallel")
    if getattr(parallel, "_is_initialized", False) and parallel.threading_layer() == "omp":
        _after_openmp.append(os.getpid())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note)


def refuse_after_fork():
    """Refuse to run UMAP where the process would be ended.

    Raises
    ------
    RuntimeError
        In a process that was forked from one that had used OpenMP through numba.
    """
    if _after_openmp:
        raise RuntimeError(
            "This process was forked from one in which OpenMP's threads had run, and UMAP would end it. Start "
            'processes otherwise (joblib\'s default, or multiprocessing with "spawn" or "forkserver"), or set '
            "NUMBA_THREADING_LAYER=workqueue before the first fit."
        )
