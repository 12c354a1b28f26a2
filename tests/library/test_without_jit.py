"""The kernels once without the compiler and once with bounds checks: compiled code reads past an array in silence.

Both are environment variables that numba reads when it is imported, so each takes a process of its own.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from folders import PROJECT_ROOT

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
#: What each mode runs. The first file proves that the mode is on. The interpreter runs the files that reach every
#: kernel by itself, on inputs small enough for it; a read past the end is an error there as well. Compiled code
#: with checks runs the estimators around them: blocks, threads, groups of classes of 1, 2 and 15 samples.
CHOSEN = {
    "NUMBA_DISABLE_JIT": [
        "kernel_modes.py",
        "test_kernels.py",
        "test_threshold_kernels.py",
        "test_packed_kernels.py",
        "test_relieff.py::test_small_classes_and_a_constant_column",
        "test_relieff.py::test_fewer_iterations_use_a_sample_without_replacement",
        "test_multilabel.py::test_fewer_iterations",
        "test_reliefe.py::test_fewer_iterations",
        "test_surf.py::test_many_classes_and_classes_of_one_row",
        "test_surf.py::test_many_classes_and_classes_of_one_row",
        "test_near.py::test_few_rows_and_one_column",
        "test_near.py::test_lists_of_near_rows",
        "test_near.py::test_weights_of_near_rows",
        "test_mixed.py::test_label_sets",
        "test_mixed.py::test_means_of_similarity",
        "test_permuted_features.py::test_the_kernel_is_its_twin",
        "test_regression.py::test_missing_values_and_discrete_columns",
        "test_regression.py::test_updates",
    ],
    "NUMBA_BOUNDSCHECK": [
        "kernel_modes.py",
        "test_relieff.py::test_fast_is_naive",
        "test_relieff.py::test_equal_columns_and_many_threads",
        "test_many_rows.py",
        "test_multilabel.py::test_fast_is_naive",
        "test_surf.py::test_blocks_change_nothing_but_the_last_digits",
        "test_near.py::test_blocks_change_nothing_but_the_last_digits",
        "test_near.py::test_few_rows_and_one_column",
        "test_near.py::test_lists_of_near_rows",
        "test_near.py::test_lists_of_pairs",
        "test_near.py::test_weights_of_near_rows",
        "test_mixed.py::test_a_long_table_has_tiles",
        "test_mixed.py::test_discrete_columns",
        "test_mixed.py::test_label_sets",
        "test_mixed.py::test_means_of_similarity",
        "test_permuted_features.py::test_the_kernel_is_its_twin",
        "test_regression.py::test_missing_values_and_discrete_columns",
        "test_regression.py::test_ranks_follow_the_distance_and_ties_the_row",
        "test_regression.py::test_updates",
    ],
}


@pytest.mark.parametrize(("mode", "least"), [("NUMBA_DISABLE_JIT", 600), ("NUMBA_BOUNDSCHECK", 240)])
def test_the_kernels_pass_with(mode, least, tmp_path):
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST", "NUMBA", "COVERAGE", "COV_"))
    }
    # Bounds are checked whatever LLVM makes of the code, and compiling takes a third less without most of its work.
    # (Without any of it, kernels cannot be kept: references that are never used stay in the code.)
    environment |= {"NUMBA_OPT": "1", "NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}
    # Numba's stored machine code does not say whether it checks bounds: without a folder of its own, this run would
    # take the unchecked code, and leave checked code to the runs after it.
    environment |= {mode: "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    chosen = [str(HERE / name) for name in CHOSEN[mode]]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *chosen],
        cwd=PROJECT_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    closing = run.stdout.strip().splitlines()[-1]
    numbers = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", closing.partition(" in ")[0])}
    assert set(numbers) <= {"passed", "warning", "warnings"}, closing
    assert numbers["passed"] >= least, closing
    compiled = list(tmp_path.rglob("*.nbc"))
    assert bool(compiled) == (mode == "NUMBA_BOUNDSCHECK")
