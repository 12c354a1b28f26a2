"""Programs print on consoles of every encoding."""

import os
import sys

import programs
import pytest
from folders import SEARCH_PATH

from experiments.paths import PROJECT_ROOT
from experiments.printing import readable

EIGHT_BITS = ["cp1252", "ascii", "koi8-r"]
STUDY = "import sys; from experiments.cli.main import main; sys.exit(main(sys.argv[1:]))"
#: Arguments, exit code, and a piece of what is printed.
PROGRAMS = [
    (["run.py", "dataset=wne"], 2, "unknown dataset 'wne'; did you mean wine"),
    (["report.py", "dataset=wine", "paths.results=nowhere"], 0, "wine ? quick: 5 folds ? 1 repeat"),
    (["run.py", "study=smoke", "status", "paths.results=nowhere"], 0, "cells done"),
    (["publish.py", "--help"], 0, "publish.py collect [FOLDER]"),
    (["publish.py", "collect", "--wrong"], 2, "unrecognized arguments: --wrong"),
    (["bootstrap.py", "--help"], 0, "usage: python3 bootstrap.py demo"),
    (["-c", STUDY, "--help"], 0, "569 samples ? 30 features"),
    (["run.py", "datasets", "--help"], 0, "check [NAME?]"),
    (["run.py", "datasets", "list"], 0, "569 ? 30"),
    (["run.py", "datasets", "check", "wine", "madelon"], 0, "madelon: from PyPI"),
    (["run.py", "check-ranker", "--help"], 0, "[key=value ?]"),
    (["run.py", "check-ranker", "relieff", "n_neighbours=5"], 2, "did you mean n_neighbors?"),
    *(
        ([f"benchmarks/{name}.py", "--help"], 0, "usage: ")
        for name in ("bayes", "embedding_pays", "learners", "peers", "relieff_digits", "study_scale")
    ),
]


def printed(argv, cwd, **environment):
    """Run a program; return its exit code and what it printed, as bytes."""
    argv = [str(PROJECT_ROOT / each) if each.endswith(".py") else each for each in argv]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT_ROOT), **environment}
    done = programs.run([sys.executable, *argv], cwd=cwd, env=environment, capture_output=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("argv", "code", "piece"), PROGRAMS, ids=[" ".join(each[0][-3:]) for each in PROGRAMS]
)
def test_every_program_prints_on_an_ascii_console(tmp_path, argv, code, piece):
    ended, out, errors = printed(argv, tmp_path, PYTHONIOENCODING="ascii")
    said = (out + errors).decode("ascii")
    assert ended == code, said
    assert piece in said and "Traceback" not in said


@pytest.mark.parametrize("encoding", [each for each in EIGHT_BITS if each != "ascii"])
def test_a_help_page_in_every_code_page(tmp_path, encoding):
    code, out, errors = printed(["run.py", "--help"], tmp_path, PYTHONIOENCODING=encoding)
    assert (code, errors) == (0, b"")
    text = out.decode(encoding)
    sign = readable("×", encoding)
    assert f"569 samples {sign} 30 features" in text and f"data sets {sign} rankers" in text
    assert (sign == "×") == (encoding == "cp1252")


@pytest.mark.parametrize(
    "more", [{}, {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}], ids=["utf-8", "ascii"]
)
def test_no_locale(tmp_path, more):
    environment = {"LC_ALL": "C", "PYTHONIOENCODING": "", **more}
    code, out, errors = printed(["run.py", "--help"], tmp_path, **environment)
    assert (code, errors) == (0, b"")
    assert ("569 samples ? 30 features" if more else "569 samples × 30 features") in out.decode()


def test_a_run_and_its_report_with_names_that_the_code_page_lacks(tmp_path, encoding="ascii"):
    lines = ["weight,kind", *(f"{value},{'ab'[value % 2]}" for value in range(30))]
    name = "Größe → €.csv"
    (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    argv = ["dataset=csv", f"dataset.path={name}", "dataset.target=kind", "ranker._target_=cheap.talkative"]
    argv += ["ranker.display_name='Šum × µ'", "protocol.n_splits=3", "paths.results=out"]
    path = SEARCH_PATH
    for program in ("run.py", "report.py"):
        code, out, errors = printed(
            [program, *argv], tmp_path, PYTHONIOENCODING=encoding, PYTHONPATH=path, PYTHONUTF8="1"
        )
        assert code == 0, errors.decode(encoding)
        assert b"Traceback" not in errors
        text = out.decode(encoding)
        assert readable(name, encoding) in text and readable("Šum × µ", encoding) in text


def test_what_an_encoding_lacks_becomes_a_question_mark():
    assert readable("0.5 ± 0.1, 3 × 4 – €", "cp1252") == "0.5 ± 0.1, 3 × 4 – €"
    assert readable("3 × 4 – €", "latin-1") == "3 × 4 ? ?"
    assert readable("cut\udcff", "utf-8") == "cut?"  # a file name that is not text
    assert readable("× é", None) == readable("× é", "no such encoding") == "× é"


def test_a_handler_that_was_asked_for_stays(tmp_path):
    code, out, _ = printed(["run.py", "--help"], tmp_path, PYTHONIOENCODING="ascii:backslashreplace")
    assert code == 0 and rb"569 samples \xd7 30 features" in out
