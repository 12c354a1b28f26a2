"""bootstrap.py: an environment is made once, and never trusted when it is not whole."""

import ast
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import psutil
import pytest
from folders import PROJECT_ROOT, SEARCH_PATH, TESTS
from studies import alive, wait_for

from experiments.cli import main


@pytest.fixture
def project(tmp_path, monkeypatch):
    """bootstrap.py in a small project of its own; installing costs nothing and is counted."""
    for name in ("bootstrap.py", "pyproject.toml", "constraints.txt"):
        shutil.copy(PROJECT_ROOT / name, tmp_path)
    spec = importlib.util.spec_from_file_location("bootstrap_under_test", tmp_path / "bootstrap.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.installed = []
    module.broken = False

    def install():
        module.installed.append(True)
        if module.broken:
            raise module.SetupError("no network")
        make_distribution(Path(module.VENV))

    monkeypatch.setattr(module, "install", install)
    return module


def make_distribution(venv):
    (site,) = venv.glob("lib/python*/site-packages")
    folder = site / "reliefe_bench-0.1.0.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: reliefe-bench\nVersion: 0.1.0\n")
    (site / "of_the_package.py").write_text("")
    (folder / "RECORD").write_text("of_the_package.py,,\nreliefe_bench-0.1.0.dist-info/METADATA,,\n")


def mark(project):
    """Leave a file in the environment that goes when it is made again."""
    path = Path(project.VENV, "mark")
    path.write_text("", encoding="utf-8")
    return path


def test_made_once_then_found_good_then_brought_up_to_date(project, capsys):
    assert project.main(["setup"]) == 0
    assert project.main(["setup"]) == 0
    assert len(project.installed) == 1
    made = mark(project)
    with open(os.path.join(project.ROOT, "constraints.txt"), "a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert project.main(["setup"]) == 0
    assert len(project.installed) == 2
    assert made.exists(), "only installed again"
    assert "making it again" not in capsys.readouterr().err


def test_half_made_ones_are_made_again(project, capsys):
    # Stopped while the environment was made, then while packages were installed, then without network.
    os.makedirs(project.VENV)
    Path(project.STAMP).write_text(project.BEGUN, encoding="utf-8")
    project.broken = True
    assert project.main(["setup"]) == 3
    assert "no network" in capsys.readouterr().err
    assert Path(project.STAMP).read_text(encoding="utf-8") == project.BEGUN
    made = mark(project)
    project.broken = False
    assert project.main(["setup"]) == 0
    assert "making it again" in capsys.readouterr().err
    assert not made.exists()
    # A file is missing although the stamp is good.
    (lost,) = Path(project.VENV).glob("lib/python*/site-packages/of_the_package.py")
    lost.unlink()
    assert project.main(["setup"]) == 0
    assert lost.is_file()
    # Its Python is gone.
    for python in Path(project.VENV, "bin").glob("python*"):
        python.unlink()
    assert project.main(["setup"]) == 0
    assert project.is_whole()


def test_without_network_the_environment_that_was_there_stays(project, capsys):
    assert project.main(["setup"]) == 0
    made = mark(project)
    (lost,) = Path(project.VENV).glob("lib/python*/site-packages/of_the_package.py")
    lost.unlink()
    project.broken = True
    assert project.main(["setup"]) == 3
    assert "no network" in capsys.readouterr().err
    assert made.exists() and not os.path.lexists(project.BEFORE)
    # Newer requirements that cannot be had leave it as it was, and it is asked for them again.
    lost.write_text("")
    with open(os.path.join(project.ROOT, "constraints.txt"), "a", encoding="utf-8") as file:
        file.write("# changed\n")
    for _ in range(2):
        assert project.main(["setup"]) == 3
        assert made.exists() and "making it again" not in capsys.readouterr().err
    project.broken = False
    assert project.main(["setup"]) == 0
    assert made.exists()


def test_one_that_was_killed_while_it_replaced_the_environment_gives_it_back(project):
    assert project.main(["setup"]) == 0
    made = mark(project)
    os.rename(project.VENV, project.BEFORE)
    os.makedirs(project.VENV)
    Path(project.STAMP).write_text(project.BEGUN, encoding="utf-8")
    assert project.main(["setup"]) == 0
    assert made.exists() and not os.path.lexists(project.BEFORE)
    assert len(project.installed) == 1
    # Killed after the new one was finished: the old one goes.
    os.makedirs(os.path.join(project.BEFORE, "lib"))
    assert project.main(["setup"]) == 0
    assert made.exists() and not os.path.lexists(project.BEFORE)


def test_packages_of_the_old_format_are_no_damage(project):
    assert project.main(["setup"]) == 0
    (site,) = Path(project.VENV).glob("lib/python*/site-packages")
    legacy = site / "old-1.0-py3.11.egg-info"
    legacy.mkdir()
    (legacy / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: old\nVersion: 1.0\n")
    (legacy / "SOURCES.txt").write_text("setup.py\nold.py\n")
    (legacy / "top_level.txt").write_text("old\n")
    (site / "old.py").write_text("")
    assert project.main(["setup"]) == 0
    assert len(project.installed) == 1
    (site / "old.py").unlink()
    assert not project.is_whole()


def test_an_environment_of_someone_else_is_moved_and_not_deleted(project, capsys):
    os.makedirs(project.VENV)
    Path(project.VENV, "dear").write_text("mine", encoding="utf-8")
    assert project.main(["setup"]) == 0
    assert Path(project.VENV + "-old-1", "dear").read_text(encoding="utf-8") == "mine"
    assert ".venv-old-1" in capsys.readouterr().err


def test_an_environment_of_another_place_or_python_is_not_trusted(project):
    assert project.main(["setup"]) == 0
    stamp = Path(project.STAMP)
    stamp.write_text(stamp.read_text(encoding="utf-8").replace("Python 3", "Python 2"), encoding="utf-8")
    made = mark(project)
    assert project.main(["setup"]) == 0
    assert not made.exists()


def test_no_environment_can_be_made(project, monkeypatch, capsys):
    monkeypatch.setattr(project.subprocess, "call", lambda *_, **__: 1)
    assert project.main(["demo"]) == 3
    error = capsys.readouterr().err
    assert "apt install python" in error and "Traceback" not in error
    assert not project.installed


def test_half_a_project_is_said(project, capsys):
    os.unlink(os.path.join(project.ROOT, "constraints.txt"))
    assert project.main(["test"]) == 3
    assert "constraints.txt is missing" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["--help"], 0), (["dmo"], 2)])
def test_usage(project, capsys, arguments, code):
    assert project.main(arguments) == code
    shown = capsys.readouterr()
    assert "bootstrap.py demo" in shown.out + shown.err
    assert not os.path.exists(project.VENV)


def test_an_old_python_is_told_what_it_lacks(project, monkeypatch, capsys):
    monkeypatch.setattr(project.sys, "version_info", (3, 10, 13, "final", 0))
    assert project.main(["demo"]) == 2
    assert "Python 3.11 or newer is needed; this is 3.10.13" in capsys.readouterr().err


def handed_over(project, monkeypatch, arguments):
    found = []
    monkeypatch.setattr(project, "set_up", lambda: None)
    monkeypatch.setattr(project.os, "execv", lambda _, command: found.extend(command))
    monkeypatch.chdir(project.ROOT)
    monkeypatch.setattr(project.subprocess, "call", lambda *_: 0)
    project.main(arguments)
    return found


def test_what_is_started(project, monkeypatch):
    python, script, *arguments = handed_over(project, monkeypatch, ["demo"])
    assert python == project.python_of(project.VENV)
    assert script == os.path.join(project.ROOT, "run.py")
    assert arguments == [
        "dataset=digits",
        "ranker=reliefe_absmean_adaptive,relieff,mutual_information",
        "protocol=quick",
    ]


def test_docs_are_built_where_the_project_lies(project, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    python, *arguments = handed_over(project, monkeypatch, ["docs"])
    assert python == project.python_of(project.VENV)
    assert arguments == ["-m", "mkdocs", "build", "--strict"]
    assert os.getcwd() == os.path.realpath(project.ROOT)


def test_more_arguments_are_passed_on(project, monkeypatch):
    started = handed_over(project, monkeypatch, ["demo", "dataset=wine", "seed=3"])
    assert started[-2:] == ["dataset=wine", "seed=3"]
    assert "dataset=digits" not in started and "protocol=quick" in started
    started = handed_over(project, monkeypatch, ["test", "-k", "store"])
    assert started[1:3] == ["-m", "pytest"] and started[-2:] == ["-k", "store"]


def test_exit_codes_are_passed_on(tmp_path):
    code = textwrap.dedent(
        f"""
        import sys; sys.path.insert(0, {str(PROJECT_ROOT)!r})
        import bootstrap
        bootstrap.python_of = lambda _: sys.executable
        bootstrap.hand_over(["-c", "import sys; sys.exit(7)"], {str(tmp_path)!r})
        """
    )
    assert subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 7


@pytest.mark.parametrize("name", ["run", "report", "publish"])
def test_programs_started_outside_of_the_environment_say_what_to_type(name):
    """Without site-packages, as with a Python that the environment was not made for."""
    done = subprocess.run(
        [sys.executable, "-S", "-E", f"{name}.py"],
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: python {name}.py needs ")
    assert f"not installed for {sys.executable}: type python3 bootstrap.py setup" in line


PROGRAMS = ("run.py", "report.py", "publish.py")


@pytest.fixture(scope="module")
def read_first():
    """Files that the programs read before they say what is missing, those of the standard library left out."""
    code = textwrap.dedent(
        f"""
        import runpy, sys
        for name in {PROGRAMS}:
            sys.argv = [name]
            try:
                runpy.run_path(name, run_name="__main__")
            except SystemExit as ended:
                assert ended.code == 2
        print(*(sys.modules[name].__file__ for name in sys.modules if name.startswith("experiments")), sep="\\n")
        """
    )
    command = [sys.executable, "-S", "-E", "-c", code]
    done = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    files = [PROJECT_ROOT / name for name in PROGRAMS] + [
        Path(line) for line in done.stdout.split("\n") if line
    ]
    assert PROJECT_ROOT / "experiments" / "cli" / "main.py" in files
    return files


def test_programs_read_as_an_old_python_would(read_first):
    """Syntax of Python 3.8, and type hints that are not evaluated: ``list[str]`` fails there."""
    for file in read_first:
        tree = ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 8))
        hints = any(
            getattr(node, "annotation", None) or getattr(node, "returns", None) for node in ast.walk(tree)
        )
        later = [
            node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        ]
        assert later or not hints, file


def test_an_old_python_is_told_so_by_the_programs(monkeypatch, capsys):
    requires = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert requires["requires-python"] == ">=" + ".".join(map(str, main._NEEDED_PYTHON))
    assert main.installed("run")
    monkeypatch.setattr(main, "_NEEDED_PYTHON", (99, 1))
    assert main.main(["dataset=wine", "ranker=relieff"]) == 2
    shown = capsys.readouterr()
    (line,) = shown.err.splitlines()
    assert shown.out == ""
    assert "needs Python 99.1 or newer; this is " + ".".join(map(str, sys.version_info[:3])) in line
    assert line.endswith(main._SET_UP)


def test_it_reads_as_an_old_python_would():
    tree = ast.parse((PROJECT_ROOT / "bootstrap.py").read_text(encoding="utf-8"), feature_version=(3, 6))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported <= set(sys.stdlib_module_names)


# --- a browser for the tests --------------------------------------------------------------------


@pytest.fixture
def bare(project, monkeypatch):
    """A machine on which only what a test puts there is on PATH; what is called is kept."""
    project.here, project.called = {"apt-get"}, []
    monkeypatch.delenv("RELIEFE_BROWSER", raising=False)
    monkeypatch.setattr(
        project.shutil, "which", lambda name: f"/bin/{name}" if name in project.here else None
    )
    monkeypatch.setattr(project.os, "geteuid", lambda: 0, raising=False)

    def call(command, **_):
        project.called.append(command)
        if "install" in command and len(project.called) > project.failing:
            project.here.add("chromium")
            return 0
        return 1 if "install" in command else 0

    project.failing = 0
    monkeypatch.setattr(project.subprocess, "call", call)
    return project


def test_a_browser_that_is_there_is_enough(bare):
    bare.here.add("google-chrome")
    assert bare.main(["browser"]) == 0
    assert bare.called == [] and not os.path.exists(bare.VENV)


def test_a_browser_is_installed_by_root(bare):
    assert bare.main(["browser"]) == 0
    assert [command[1] for command in bare.called] == ["update", "install"]
    assert "chromium" in bare.called[1]


def test_a_mirror_that_fails_is_asked_again(bare):
    bare.failing = 4
    assert bare.main(["browser"]) == 0
    assert [command[1] for command in bare.called] == ["update", "install"] * 3


def test_a_browser_cannot_be_had(bare, monkeypatch, capsys):
    bare.failing = 99
    assert bare.main(["browser"]) == 3
    assert "could not be installed" in capsys.readouterr().err
    monkeypatch.setattr(bare.os, "geteuid", lambda: 1000, raising=False)
    assert bare.main(["browser"]) == 3
    assert "install one by hand" in capsys.readouterr().err


def test_the_tests_look_for_the_same_browsers(project):
    from browser import NAMES

    assert NAMES == project.BROWSERS


@pytest.mark.skipif(os.name != "posix", reason="Windows has no signal TERM")
def test_tests_that_are_told_to_end_leave_no_worker_and_no_word(tmp_path):
    (tmp_path / "test_long.py").write_text(
        "import os, time\n\n"
        "def test_waits():\n"
        f"    open(os.path.join({str(tmp_path)!r}, 'begun'), 'w').close()\n"
        "    time.sleep(600)\n"
    )
    path = os.pathsep.join([SEARCH_PATH, str(TESTS)])
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "conftest",
            "-n",
            "2",
            "-c",
            os.devnull,
            "--rootdir",
            str(tmp_path),
            "-p",
            "no:cacheprovider",
            str(tmp_path),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as run:
        end = time.monotonic() + 600
        while not (tmp_path / "begun").exists() and time.monotonic() < end:
            time.sleep(0.1)
        workers = psutil.Process(run.pid).children(recursive=True)
        assert len(workers) >= 2
        run.terminate()
        output, _ = run.communicate(timeout=300)
    assert run.returncode == -signal.SIGTERM
    assert wait_for(lambda: not alive(workers))
    assert "Warning" not in output and "Traceback" not in output, output
