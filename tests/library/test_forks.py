"""A fit in a forked process: the process lives, whatever its parent has run."""

import os
import subprocess
import sys

import pytest
from folders import PROJECT_ROOT

PROGRAM = """
import os, sys
import numpy as np
from numba import njit, prange
from reliefe import ReliefE, ReliefF

@njit(parallel=True)
def of_another_library(n):
    total = 0
    for i in prange(n):
        total += i
    return total

if sys.argv[1] == "omp":  # UMAP asks for workqueue, unless threads are there already
    of_another_library(10)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 12)), rng.integers(0, 2, 60)
rankers = [ReliefF(n_jobs=2), ReliefE(n_components=2, n_jobs=2, random_state=0)]
before = [ranker.fit(X, y).feature_importances_ for ranker in rankers]
from numba import threading_layer
print(threading_layer(), flush=True)
child = os.fork()
if child == 0:
    for ranker, expected in zip(rankers, before):
        try:
            print(np.array_equal(ranker.fit(X, y).feature_importances_, expected), flush=True)
        except RuntimeError as error:
            print(error, flush=True)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_a_fit_after_a_fork(layer):
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, layer],
        cwd=PROJECT_ROOT,
        env={**os.environ, "NUMBA_THREADING_LAYER": layer},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    used, relieff, reliefe, code = run.stdout.splitlines()
    assert used == layer and relieff == "True" and code == "7"
    if layer == "omp":
        assert reliefe.startswith("This process was forked from one in which OpenMP's threads had run")
        assert "NUMBA_THREADING_LAYER=workqueue" in reliefe
    else:
        assert reliefe == "True"
