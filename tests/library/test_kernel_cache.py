"""Compiled kernels kept on disk: by whom and in what order they were compiled must not matter."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from folders import PROJECT_ROOT

pytestmark = pytest.mark.slow

FITS = """
import json, sys
import numpy as np
from scipy import sparse
from reliefe import ReliefF

rng = np.random.default_rng(1)
X = rng.integers(0, 4, (60, 5)).astype(float)
y, S = np.arange(60) % 3, sparse.csr_matrix(X)
fits = {
    "dense": lambda: ReliefF(5).fit(X, y),
    "sparse": lambda: ReliefF(5).fit(S, y),
    "dense adaptive": lambda: ReliefF("adaptive").fit(X, y),
    "sparse adaptive": lambda: ReliefF("adaptive").fit(S, y),
}
print(json.dumps({name: fits[name]().feature_importances_.tolist() for name in sys.argv[1:]}))
"""

#: One process after the other, each with the fits it makes, in this order.
HISTORY = [
    ["dense"],
    ["sparse"],
    ["sparse adaptive", "dense adaptive"],
    ["dense adaptive", "sparse adaptive", "sparse", "dense"],
]


def run(program, *arguments, cache=None, cwd=PROJECT_ROOT):
    """Run a program; without a folder for copies, with those that all tests share."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=cwd,
        env=os.environ | ({"NUMBA_CACHE_DIR": str(cache)} if cache else {}),
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
    for kind in ("", " adaptive"):
        assert found["dense" + kind][0] == pytest.approx(found["sparse" + kind][0], abs=1e-14)


def test_no_kernel_uses_a_sort_of_numbas():
    for path in (PROJECT_ROOT / "reliefe" / "kernels").glob("*.py"):
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
    shutil.copytree(PROJECT_ROOT / "reliefe", package, ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "cache"
    assert run(CALL, cache=cache, cwd=tmp_path) == 2
    called = package / "kernels" / "neighbours.py"
    text = called.read_text(encoding="utf-8")
    assert text.count("    return heap[0]\n") == 1
    called.write_text(text.replace("    return heap[0]\n", "    return heap[0] + 7.0\n"), encoding="utf-8")
    assert run(CALL, cache=cache, cwd=tmp_path) == 4


# ------------------------------------------------------------------------------------------- no place to keep them

UNKEPT = "Compiled code cannot be kept on disk"


def without_a_place(folder, packages):
    """Copy packages to where nothing can be written beside them, not even by root: a file has the folder's name."""
    for source in packages:
        package = folder / source.name
        shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
        for each in [package, *(path for path in package.rglob("*") if path.is_dir())]:
            (each / "__pycache__").touch()


def run_without_a_place(program, *arguments, cwd, **more):
    """Run a program without a home folder, or anything else that numba could write to; also return what it says."""
    lost = ("NUMBA", "XDG", "PYTHONPATH", "PYTHONWARNINGS", "LOCALAPPDATA")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(lost)}
    environment |= {"HOME": "/dev/null/home", "PYTHONDONTWRITEBYTECODE": "1", **more}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


WHERE = """
import json, sys
import reliefe
assert reliefe.__file__.startswith(sys.argv[-1]), reliefe.__file__
sys.argv.pop()
"""


def test_without_a_place_kernels_are_compiled_all_the_same(tmp_path):
    """Without a home, a whole fit; with a folder that cannot be, one kernel and those that it calls."""
    without_a_place(tmp_path, [PROJECT_ROOT / "reliefe"])
    found, said = run_without_a_place(WHERE + FITS, "sparse", str(tmp_path), cwd=tmp_path)
    assert found["sparse"] == pytest.approx(run(FITS, "sparse")["sparse"], abs=1e-14)
    assert said.count(UNKEPT) == 1 and said.count("Warning") == 1 and "NUMBA_CACHE_DIR" in said
    wrong = {"NUMBA_CACHE_DIR": "/dev/null/cache"}
    found, said = run_without_a_place(WHERE + CALL, str(tmp_path), cwd=tmp_path, **wrong)
    assert found == 2 and said.count(UNKEPT) == 1 and said.count("Warning") == 1 and "NUMBA_CACHE_DIR" in said


UMAP_FIT = """
import json
import numpy as np
from reliefe.embedding import _ExactNeighbours, _umap
X = np.random.default_rng(0).normal(size=(40, 6))
E = _umap(2, _ExactNeighbours(X, 1), 0).fit(X).embedding_
import umap, pynndescent
telling = bool((np.ptp(E, axis=0) > 0).all())
print(json.dumps([umap.__file__, pynndescent.__file__, E.shape[1], telling]))
"""


def test_without_a_place_umap_is_compiled_too(tmp_path):
    """It asks for a cache itself, and importing it ends in an error without one; called as ReliefE calls it."""
    import pynndescent
    import umap

    without_a_place(
        tmp_path, [PROJECT_ROOT / "reliefe", *(Path(each.__file__).parent for each in (umap, pynndescent))]
    )
    with pytest.raises(AssertionError, match="no locator available"):
        run_without_a_place("import umap", cwd=tmp_path)
    (*files, d, telling), said = run_without_a_place(UMAP_FIT, cwd=tmp_path)
    assert all(file.startswith(str(tmp_path)) for file in files)
    assert d == 2 and telling and said.count(UNKEPT) == 1


KEPT_BY_UMAP = """
from umap import layouts, umap_
kept = [umap_.smooth_knn_dist, umap_.compute_membership_strengths]
kept.append(layouts._nb_optimize_layout_euclidean_single_epoch)
uses = [[sum(each.stats.cache_hits.values()), sum(each.stats.cache_misses.values())] for each in kept]
print(json.dumps([uses, E.tolist()]))
"""


def test_what_umap_compiles_in_each_process_is_kept():
    program = UMAP_FIT.rpartition("import umap")[0] + KEPT_BY_UMAP
    first, later = (run(program) for _ in range(2))  # the first one compiles if nobody has
    assert later[0] == [[1, 0]] * 3
    assert later[1] == first[1]


LATER = """
import json, shutil, sys, warnings
from pathlib import Path
from reliefe._compiled import kept_where_possible
sys.path.insert(0, sys.argv[1])
with kept_where_possible():
    import kept
folder = Path(sys.argv[1]) / "__pycache__"
shutil.rmtree(folder)
folder.touch()  # as a disk that is full, or a folder that is taken away after the start
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found = [kept.twice(3), kept.thrice(3), kept.thrice(3.5), kept.plus(2, 2).item()]
print(json.dumps([found, [str(each.message) for each in caught]]))
"""
KEPT = """
from numba import njit, vectorize

@njit(cache=True)
def twice(x):
    return 2 * x

@njit(cache=True)
def thrice(x):
    return 3 * x

@vectorize(cache=True)
def plus(x, y):
    return x + y
"""


def test_a_place_that_is_lost_later_costs_one_warning(tmp_path):
    (tmp_path / "kept.py").write_text(KEPT, encoding="utf-8")
    (found, warned), _ = run_without_a_place(LATER, str(tmp_path), cwd=PROJECT_ROOT)
    assert found == [6, 9, 10.5, 4]
    assert len(warned) == 1 and UNKEPT in warned[0]


def test_where_there_is_a_place_code_is_kept_and_nothing_said(tmp_path):
    package = tmp_path / "reliefe"
    shutil.copytree(PROJECT_ROOT / "reliefe", package, ignore=shutil.ignore_patterns("__pycache__"))
    assert list(package.rglob("*.nbi")) == []
    found, said = run_without_a_place(CALL, cwd=tmp_path)
    assert found == 2 and said == ""
    assert list(package.rglob("*.nbi"))


SAID = """
import logging, sys
from reliefe._compiled import kept_where_possible
logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
sys.path.insert(0, sys.argv[1])
with kept_where_possible():
    import kept
print(kept.twice(3), kept.thrice(3.5))
"""


def test_the_first_process_says_that_it_compiles_and_later_ones_do_not(tmp_path):
    (tmp_path / "kept.py").write_text(KEPT.replace("@vectorize(cache=True)\n", ""), encoding="utf-8")
    done = [
        subprocess.run(
            [sys.executable, "-c", SAID, str(tmp_path)], cwd=PROJECT_ROOT, capture_output=True, text=True
        )
        for _ in range(2)
    ]
    assert [each.stdout.split() for each in done] == [["6", "10.5"]] * 2
    told = "reliefe: compiling kernels, once per installation (half a minute or more)"
    assert [each.stderr.splitlines() for each in done] == [[told], []]
