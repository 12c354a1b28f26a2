"""Type hints: the project's own are right, and those of the library reach who uses it."""

import subprocess
import sys

import pytest
from folders import PROJECT_ROOT as ROOT

pytestmark = pytest.mark.slow

USE = """
from reliefe import MultiSURF, ReliefE, ReliefF, ReliefG, TuRF

reveal_type(ReliefF(n_neighbors="adaptive").fit([[0], [1]], [0, 1]))
reveal_type(ReliefE(random_state=0).fit([[0], [1]], [0, 1]).feature_importances_)
reveal_type(TuRF(MultiSURF(), removed=0.2).ranking_)
ReliefF(n_neighbors="all")
ReliefE(metric="chebyshev")
MultiSURF(n_jobs="two")
"""


def mypy(*argv, cwd):
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *map(str, argv)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def test_mypy_has_nothing_to_say():
    done = mypy(cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_wrong_type_is_found(tmp_path):
    """The settings do not leave out what they are there for: a body, a call, a hint that is half there."""
    (tmp_path / "wrong.py").write_text(
        "from experiments.formatting import fixed\n"
        "def body():\n    return 1 + 'a'\n"
        "def half(a: int, b):\n    return fixed(a, 'four')\n"
    )
    done = mypy("--config-file", ROOT / "pyproject.toml", tmp_path / "wrong.py", cwd=ROOT)
    assert done.returncode == 1, done.stdout + done.stderr
    for line, kind in ((3, "[operator]"), (4, "[no-untyped-def]"), (5, "[arg-type]")):
        assert any(f"wrong.py:{line}: " in told and kind in told for told in done.stdout.splitlines()), (
            done.stdout
        )


def test_hints_of_the_library_reach_its_users(tmp_path):
    """Outside of the checkout the package's ``py.typed`` says that its hints count."""
    (tmp_path / "use.py").write_text(USE)
    done = mypy("--cache-dir", tmp_path / "cache", "use.py", cwd=tmp_path)
    lines = [line for line in done.stdout.splitlines() if line.startswith("use.py:")]
    wanted = [
        (2, 'has no attribute "ReliefG"'),
        (4, "reliefe.relieff.ReliefF"),
        (5, "numpy.ndarray["),
        (6, "numpy.ndarray["),
        (7, '"n_neighbors" to "ReliefF" has incompatible type'),
        (8, '"metric" to "ReliefE" has incompatible type'),
        (9, '"n_jobs" to "MultiSURF" has incompatible type'),
    ]
    assert len(lines) == len(wanted), done.stdout + done.stderr
    for line, (number, words) in zip(lines, wanted, strict=True):
        assert line.startswith(f"use.py:{number}: ") and words in line, done.stdout
