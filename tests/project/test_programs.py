"""A program that is forked from the server of the tests is what a program that is started as usual would be."""

import json
import os
import signal
import subprocess
import sys
import time

import programs
import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

TOLD = """
import json, os, sys
import given
print(json.dumps({
    "argv": sys.argv[1:],
    "path": [os.path.abspath(each) for each in sys.path],
    "name": __name__,
    "file": os.path.abspath(globals().get("__file__") or ""),
    "given": given.__file__,
    "cwd": os.getcwd(),
    "environment": dict(os.environ),
    "encodings": [(each.encoding, each.errors) for each in (sys.stdout, sys.stderr)],
    "read": sys.stdin.read(),
    "writes": sys.dont_write_bytecode,
    "session": os.getsid(0) == os.getpid(),
}))
print("errors", file=sys.stderr)
"""


@pytest.fixture(autouse=True)
def room_for_servers(monkeypatch):
    """Whatever tests before these have started."""
    monkeypatch.setattr(programs, "_MOST_SERVERS", 100)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "given.py").touch()
    (tmp_path / "modules" / "told.py").write_text(TOLD, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "argv", [["-c", TOLD], ["-m", "told"], ["modules/told.py"]], ids=["-c", "-m", "file"]
)
@pytest.mark.parametrize("more", [{}, {"PYTHONIOENCODING": "latin-1"}, {"PYTHONDONTWRITEBYTECODE": "1"}])
def test_arguments_modules_streams_and_variables_are_the_same(folder, argv, more):
    environment = {**os.environ, "PYTHONPATH": str(folder / "modules"), "A": "ä", **more}
    options = {"cwd": folder, "env": environment, "text": True, "stdin": subprocess.DEVNULL}
    found = []
    for start in (programs.start, subprocess.Popen):
        with start(
            [sys.executable, *argv, "x", "--y"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            **options,
        ) as program:
            output, errors = program.communicate(timeout=300)
        found.append((program.returncode, json.loads(output), errors))

    (code, told, errors), usual = found
    assert isinstance(program, subprocess.Popen) and (code, errors) == (0, "errors\n") == (usual[0], usual[2])
    assert told == usual[1] and told["argv"] == ["x", "--y"] and told["session"]


@pytest.mark.parametrize(
    "code",
    [
        "pass",
        "import sys; sys.exit(3)",
        "import sys; sys.exit('a reason')",
        "1 / 0",
        "raise KeyboardInterrupt",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import ctypes; ctypes.string_at(0)",
        "import atexit; atexit.register(print, 'at the end')",
        "import threading, time; threading.Thread(target=lambda: (time.sleep(0.3), print('later'))).start()",
        "import os; print('kept', end=''); os.dup2(os.open(os.devnull, os.O_RDONLY), 1)",
    ],
)
def test_a_program_ends_the_same_way(code):
    forked, usual = (
        each([sys.executable, "-c", code], capture_output=True, text=True)
        for each in (programs.run, subprocess.run)
    )
    assert (forked.returncode, forked.stdout) == (usual.returncode, usual.stdout)
    assert forked.stderr.splitlines()[-1:] == usual.stderr.splitlines()[-1:]


def test_a_program_can_be_waited_for_and_signalled():
    begun = time.monotonic()
    code = "import time; print('here', flush=True); time.sleep(600)"
    for end in ("terminate", "kill"):
        with programs.start([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as program:
            assert isinstance(program, programs.Program)
            assert program.stdout.readline() == "here\n" and program.poll() is None
            with pytest.raises(subprocess.TimeoutExpired):
                program.wait(0.1)
            getattr(program, end)()
            assert program.wait(300) == -{"terminate": signal.SIGTERM, "kill": signal.SIGKILL}[end]
            program.kill()  # nobody is there any more
    with pytest.raises(subprocess.TimeoutExpired):
        programs.run([sys.executable, "-c", code], timeout=0.5)
    assert time.monotonic() - begun < 300


def test_two_programs_draw_different_random_numbers():
    code = "import random, numpy; print(random.random(), numpy.random.random())"
    one, other = (programs.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in "ab")
    assert all(a != b for a, b in zip(one.stdout.split(), other.stdout.split(), strict=True))


def test_a_variable_that_the_tests_themselves_have_by_now_is_passed_on(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "svg")
    code = "import os, matplotlib; print(os.environ['MPLBACKEND'], matplotlib.get_backend())"
    with programs.start([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as program:
        assert isinstance(program, programs.Program)
        assert program.communicate(timeout=300)[0] == "svg svg\n"


def test_what_is_read_when_python_starts_takes_a_start_as_usual():
    # Variables that nobody sets meanwhile: with those of the tests themselves a program could be forked.
    for argv, more in (
        (["-u", "-c", "1"], {}),
        (["-c", "1"], {"OMP_DISPLAY_ENV": "FALSE"}),
        (["-c", "1"], {"LC_PAPER": "C"}),
    ):
        with programs.start([sys.executable, *argv], env={**os.environ, **more}) as program:
            assert isinstance(program, subprocess.Popen) and program.wait(300) == 0
