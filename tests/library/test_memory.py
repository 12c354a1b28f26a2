"""Wide data are ranked in little more memory than their own: sparse ones, genotypes, dense floats."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from folders import PROJECT_ROOT

PROGRAM = """
import json, resource, sys
import numpy as np, scipy.sparse as sp
from reliefe import ReliefF

def mib(field):
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(field)) / 1024
    except OSError:  # no /proc: the largest amount so far is all there is
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)

n, p = 20_000, 100_000
rng = np.random.default_rng(0)
columns = rng.integers(0, p, size=n * 20)
X = sp.csr_matrix((rng.normal(size=n * 20), columns, np.arange(0, n * 20 + 1, 20)), shape=(n, p))
y = rng.integers(0, 5, n)
before = mib("VmRSS")
k = json.loads(sys.argv[1])
ranker = ReliefF(n_neighbors=k, abs_mean=k == "adaptive", n_iterations=20, random_state=0).fit(X, y)
print(json.dumps([mib("VmHWM") - before, len(ranker.sample_indices_),
                  bool(np.isfinite(ranker.feature_importances_).all()), len(ranker.feature_importances_)]))
"""


@pytest.mark.parametrize("k", [15, "adaptive"])
def test_wide_and_sparse(k):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(k)],
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    extra_mib, s, finite, p = json.loads(run.stdout)
    assert s == 20 and finite and p == 100_000
    assert extra_mib < 1000, f"{extra_mib:.0f} MiB above the data"


DENSE = """
import sys
import numpy as np
import reliefe

def mib(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) / 1024

kind, n, p, *names = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
rng = np.random.default_rng(0)
X = np.empty((n, p), dtype="int8" if kind == "genotypes" else kind)
for row in X:  # nothing is made beside it that would be there again for the fit
    row[:] = rng.integers(0, 3, p, dtype=np.int8) if kind == "genotypes" else rng.random(p, dtype=kind)
y = rng.integers(0, 2, n)
for name in names:
    def estimator():
        if name == "TuRF":
            return reliefe.TuRF(reliefe.MultiSURF(n_jobs=2))
        return getattr(reliefe, name)(n_jobs=2)
    estimator().fit(X, y)  # whatever is compiled for such data is compiled now
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the largest amount so far is the present one
    before = mib("VmRSS")
    estimator().fit(X, y)
    print(name, (mib("VmHWM") - before) * 2**20 / X.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no high-water mark that can be reset")
@pytest.mark.parametrize(
    ("kind", "n", "p", "most"),
    [("genotypes", 1000, 80_000, 0.6), ("float32", 700, 80_000, 1.1), ("float64", 600, 30_000, 1.1)],
)
def test_dense_data_have_no_second_copy_of_floats(kind, n, p, most):
    """Genotypes are kept as bits beside the matrix, floats rounded to 32 bits."""
    # TuRF works on columns of few values where they lie.
    names = ["MultiSURF", "ReliefF", *(["TuRF"] if kind == "genotypes" else [])]
    run = subprocess.run(
        [sys.executable, "-c", DENSE, kind, str(n), str(p), *names],
        cwd=PROJECT_ROOT,
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"},  # what is freed is given back
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    more = {name: float(share) for name, share in map(str.split, run.stdout.splitlines())}
    assert sorted(more) == names
    assert max(more.values()) <= most, more
