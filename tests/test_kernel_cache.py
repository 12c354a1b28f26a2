"""Compiled kernels kept on disk: by whom and in what order they were compiled must not matter."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

FITS = """
import json, sys
import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from reliefe import ReliefE, ReliefF

rng = np.random.default_rng(1)
X = rng.integers(0, 4, (60, 5)).astype(float)
y, T = np.arange(60) % 3, rng.integers(0, 2, (60, 3))
S = sparse.csr_matrix(X)
cheap = TruncatedSVD(2, random_state=0)
fits = {
    "dense": lambda: ReliefF(5).fit(X, y),
    "sparse": lambda: ReliefF(5).fit(S, y),
    "dense adaptive": lambda: ReliefF("adaptive").fit(X, y),
    "sparse adaptive": lambda: ReliefF("adaptive").fit(S, y),
    "dense labels": lambda: ReliefF(5).fit(X, T),
    "sparse labels": lambda: ReliefF(5).fit(S, T),
    "embedded": lambda: ReliefE("adaptive", embedding=cheap).fit(X, y),
}
print(json.dumps({name: fits[name]().feature_importances_.tolist() for name in sys.argv[1:]}))
"""

#: One process after the other, each with the fits it makes, in this order.
HISTORY = [
    ["dense"],
    ["sparse"],
    ["dense labels", "sparse labels"],
    ["sparse adaptive", "dense adaptive"],
    ["embedded", "dense", "sparse"],
    ["dense adaptive", "sparse adaptive", "sparse labels", "dense labels", "embedded"],
]


def run(program, *arguments, cache, cwd=ROOT):
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=cwd,
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"exit code {done.returncode} of {arguments}: {done.stderr}"
    return json.loads(done.stdout)


def test_copies_made_by_several_processes_do_not_mix(tmp_path):
    found = {}
    for names in HISTORY:
        for name, weights in run(FITS, *names, cache=tmp_path).items():
            found.setdefault(name, []).append(weights)
    assert set(map(len, found.values())) == {2}
    for name, (first, second) in found.items():
        assert first == second, name
    for kind in ("", " adaptive", " labels"):
        assert found["dense" + kind][0] == pytest.approx(found["sparse" + kind][0], abs=1e-14)


def test_no_kernel_uses_a_sort_of_numbas():
    for path in (ROOT / "reliefe" / "kernels").glob("*.py"):
        code = path.read_text(encoding="utf-8").partition('"""')[2].partition('"""')[2]
        assert not any(name in code for name in ("np.sort", "argsort", ".sort(", "np.unique", "np.median")), (
            path
        )


CALL = """
import json
import numpy as np
from reliefe.kernels.euclidean import candidates
print(json.dumps(candidates(np.array([3.0, 1.0, 2.0, 9.0]), 0.0, 2, np.empty(2), np.empty(4, dtype=np.int64))))
"""


def test_a_copy_is_made_anew_when_a_kernel_it_calls_has_changed(tmp_path):
    package = tmp_path / "reliefe"
    shutil.copytree(ROOT / "reliefe", package, ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "cache"
    assert run(CALL, cache=cache, cwd=tmp_path) == 2
    called = package / "kernels" / "neighbours.py"
    text = called.read_text(encoding="utf-8")
    assert text.count("    return heap[0]\n") == 1
    called.write_text(text.replace("    return heap[0]\n", "    return heap[0] + 7.0\n"), encoding="utf-8")
    assert run(CALL, cache=cache, cwd=tmp_path) == 4
