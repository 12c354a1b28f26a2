"""Wide sparse data stay sparse (case 4)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

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
def test_case_4_wide_and_sparse(k):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(k)],
        cwd=Path(__file__).resolve().parents[1],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert run.returncode == 0, run.stderr
    extra_mib, s, finite, p = json.loads(run.stdout)
    assert s == 20 and finite and p == 100_000
    assert extra_mib < 1000, f"{extra_mib:.0f} MiB above the data"
