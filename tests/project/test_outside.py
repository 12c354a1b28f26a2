"""The wheel, installed into a folder of its own and used from another: the library alone, and studies."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import programs
import pytest
from folders import PROJECT_ROOT
from packaging.markers import default_environment
from packaging.requirements import Requirement

pytestmark = pytest.mark.slow

PAGE = (PROJECT_ROOT / "docs" / "outside.md").read_text(encoding="utf-8")


def call(*command, cwd, **variables):
    return subprocess.run(
        list(map(str, command)), cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The project's wheel, built without network."""
    folder = tmp_path_factory.mktemp("wheel")
    done = call(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=PROJECT_ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder with the wheel installed, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    options = ["--no-deps", "--no-index", "--no-input", "--disable-pip-version-check", "--target", folder]
    done = call(sys.executable, "-m", "pip", "install", *options, wheel, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    take_compiled_code_along(folder)
    return folder


def take_compiled_code_along(folder):
    """Copy what has been compiled in the checkout; numba knows a source file by its size and time.

    How it is compiled where there is nothing yet is tested in ``test_kernel_cache.py``.
    """
    for package in ("reliefe/kernels", "experiments/learners/kernels"):
        for source in (PROJECT_ROOT / package).glob("*.py"):
            state = source.stat()
            os.utime(folder / package / source.name, ns=(state.st_atime_ns, state.st_mtime_ns))
        (folder / package / "__pycache__").mkdir(exist_ok=True)
        for compiled in (PROJECT_ROOT / package / "__pycache__").glob("*.nb[ic]"):
            shutil.copy2(compiled, folder / package / "__pycache__")


@pytest.fixture
def study(installed, tmp_path):
    """Run ``reliefe-study`` with all packages of this environment, in an empty folder."""

    def run(*argv):
        return programs.run(
            [sys.executable, installed / "bin" / "reliefe-study", *argv],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
        )

    return run


@pytest.fixture(scope="module")
def alone(installed, tmp_path_factory):
    """Run a Python that sees the wheel and what it requires without extras, but for the standard library."""
    folder = tmp_path_factory.mktemp("alone")
    waiting, seen = ["reliefe-bench"], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name == "reliefe-bench":
            (found,) = metadata.distributions(path=[str(installed)])
        else:
            found = metadata.distribution(name)
            for top in {file.parts[0] for file in found.files if file.parts[0] not in ("..", "__pycache__")}:
                if not (folder / top).exists():
                    (folder / top).symlink_to(found.locate_file(top))
        for line in found.requires or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({**default_environment(), "extra": ""}):
                waiting.append(needed.name)
    assert len(seen) >= 6

    def run(*command):
        # -S: the environment's own packages are not looked at.
        path = os.pathsep.join(map(str, (installed, folder)))
        return call(sys.executable, "-S", *command, cwd=folder, PYTHONPATH=path)

    return run


def test_the_wheel_holds_library_benchmark_and_yaml_files(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
        held = {name: packed.read(name) for name in names}
    wanted = {
        str(path.relative_to(PROJECT_ROOT)): path
        for folder in ("reliefe", "experiments")
        for path in (PROJECT_ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    wanted |= {
        f"experiments/{path.relative_to(PROJECT_ROOT)}": path
        for path in (PROJECT_ROOT / "conf").rglob("*.yaml")
    }
    assert len(wanted) > 250
    assert names == set(wanted) and "reliefe/py.typed" in names
    for name, path in wanted.items():
        assert held[name] == path.read_bytes(), name


def test_an_editable_installation_leads_to_the_checkout(tmp_path):
    code = f"import hatchling.build as build; print(build.build_editable({str(tmp_path)!r}))"
    done = call(sys.executable, "-c", code, cwd=PROJECT_ROOT)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / done.stdout.strip()) as packed:
        (link,) = [name for name in packed.namelist() if ".dist-info/" not in name]
        assert Path(packed.read(link).decode().strip()) == PROJECT_ROOT


def test_the_library_alone_ranks(alone, installed):
    code = """
import importlib.util, sys
import numpy as np
from sklearn.datasets import load_wine
import reliefe
X, y = load_wine(return_X_y=True)
for ranker in (reliefe.ReliefF(), reliefe.ReliefE(random_state=0)):
    weights = ranker.fit(X, y).feature_importances_
    assert weights.shape == (13,) and np.isfinite(weights).all() and weights.max() > 0 == sum(weights == 0), weights
print(reliefe.__file__)
print(*[name for name in ("pandas", "hydra", "matplotlib", "yaml") if importlib.util.find_spec(name)])
print(*[name for name in sys.modules if name.partition(".")[0] == "experiments"])
"""
    done = alone("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(installed / "reliefe" / "__init__.py"), "", ""]


@pytest.mark.parametrize(
    "argv",
    [["--help"], ["dataset=wine"], ["report", "study=smoke"], ["datasets", "check"], ["check-ranker", "x.Y"]],
)
def test_without_the_packages_of_studies_it_is_said_what_to_install(alone, installed, argv):
    done = alone(installed / "bin" / "reliefe-study", *argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: reliefe-study needs baycomp and ")
    assert 'pip install "reliefe-bench[study]"' in done.stderr and "Traceback" not in done.stderr


def test_a_study_from_outside_is_run_and_reported(study, installed, tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Spread:\n    def fit(self, X, y):\n        self.scores_ = X.std(axis=0)\n        return self\n"
    )
    few = ["dataset=wine", "protocol.n_splits=3", "protocol.grid_points=4", "launcher.n_workers=1"]
    done = study(*few, "ranker._target_=mine.Spread")
    assert done.returncode == 0, done.stderr
    results = tmp_path / "results"
    (file,) = (results / "report").iterdir()
    assert re.fullmatch(r"wine_quick\[grid_points=4,n_splits=3\]_Spread-[0-9a-f]{8}\.html", file.name)
    assert f"results/report/{file.name}" in done.stdout
    assert {each.name for each in results.iterdir() if each.is_dir()} >= {
        "figures",
        "report",
        "rows",
        "tables",
    }
    page = file.read_text(encoding="utf-8")
    command = " ".join([*few, "ranker._target_=mine.Spread"])
    assert (
        f"<code>reliefe-study {command}</code>" in page
        and f"<code>reliefe-study report {command}</code>" in page
    )
    assert "run.py" not in page and "report.py" not in page
    again = study("report", *few, "ranker._target_=mine.Spread")
    assert (
        again.returncode == 0
        and "0 of 1 cell missing or to be tried again; nothing is run here" in again.stdout
    )
    # All of it was the wheel's code, and nothing was written there.
    where = call(sys.executable, "-c", "import experiments.paths as p; print(p.__file__, p.conf_folder())",
                 cwd=tmp_path, PYTHONPATH=str(installed))  # fmt: skip
    assert where.stdout.split() == [str(installed / "experiments" / each) for each in ("paths.py", "conf")]
    assert not (installed / "results").exists() and not (installed.parent / "results").exists()


def test_every_command_of_the_page_works(study, tmp_path):
    commands = [line.split()[1:] for line in PAGE.splitlines() if line.startswith("reliefe-study ")]
    assert len(commands) >= 6
    for argv in commands:
        done = study(*argv)
        assert done.returncode == 0, (argv, done.stderr)
        assert "Traceback" not in done.stderr and done.stdout.strip(), argv
    assert (tmp_path / "results" / "report" / "smoke.html").is_file()


def test_help_and_errors_speak_of_the_command_that_was_typed(study):
    for argv, usage in (
        (["--help"], "usage: reliefe-study [study=NAME]"),
        (["report", "--help"], "usage: reliefe-study report [study=NAME]"),
        (["datasets", "--help"], "reliefe-study datasets check [NAME"),
        (["check-datasets", "--help"], "reliefe-study datasets check [NAME"),
        (["check-ranker", "--help"], "reliefe-study check-ranker NAME [key=value"),
    ):
        text = study(*argv).stdout
        assert text.startswith(usage), argv
        assert "run.py" not in text and "report.py" not in text and "python -m" not in text
    assert "reliefe-study report [key=value ...]" in study("--help").stdout
    wrong = study("ranker=relief")
    assert wrong.returncode == 2 and "did you mean relieff" in wrong.stderr


def test_a_ranker_of_the_current_folder_is_checked(study, tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Spread:\n    def fit(self, X, y):\n        self.scores_ = X.std(axis=0)\n        return self\n"
        "class Short(Spread):\n    def fit(self, X, y):\n        self.scores_ = X.std(axis=0)[1:]\n"
        "        return self\n"
    )
    good, bad = study("check-ranker", "mine.Spread"), study("check-ranker", "mine.Short")
    assert good.returncode == 0 and "0 failed" in good.stdout, good.stdout + good.stderr
    assert re.search(r"^passed +fold ", good.stdout, flags=re.M)
    assert bad.returncode == 1 and re.search(r"^failed +weights ", bad.stdout, flags=re.M)
    for argv, says in (([], "reliefe-study check-ranker NAME"), (["mine.Spred"], "did you mean Spread")):
        done = study("check-ranker", *argv)
        assert done.returncode == 2 and says in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_data_sets_are_checked_under_either_name(study):
    for argv, code in ((["wine"], 0), (["chess"], 0), (["chss"], 2), (["wine", "--al"], 2)):
        short, long = study("check-datasets", *argv), study("datasets", "check", *argv)
        assert (short.returncode, short.stdout, short.stderr) == (long.returncode, long.stdout, long.stderr)
        assert short.returncode == code and (short.stdout if code == 0 else short.stderr)


def test_local_data_and_own_yaml_files_are_those_of_the_current_folder(study, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "own" / "dataset").mkdir(parents=True)
    (tmp_path / "data" / "mine.csv").write_text(
        "a,b,label\n" + "".join(f"{i},{i % 2},{i % 2}\n" for i in range(40))
    )
    (tmp_path / "own" / "dataset" / "mine.yaml").write_text(
        "name: mine\ntask: multiclass\nsource:\n  _target_: experiments.datasets.own.csv\n  path: mine.csv\n"
        "  target: label\n"
    )
    done = study(
        "--config-dir", "own", "dataset=mine", "ranker=relieff", "protocol.n_splits=2", "launcher.n_workers=1"
    )
    assert done.returncode == 0, done.stderr
    missing = study("dataset=chess", "ranker=relieff")
    assert missing.returncode != 0
    assert str(tmp_path / "data") in missing.stderr + missing.stdout
    assert "site-packages" not in missing.stderr and str(PROJECT_ROOT) not in missing.stderr


def test_the_name_of_the_wheel_on_the_page_is_its_name(wheel):
    assert set(re.findall(r"[\w.-]+\.whl", PAGE)) == {wheel.name}


def test_published_rows_are_found_wherever_the_project_is_installed(study, tmp_path, local_data):
    shutil.copytree(
        PROJECT_ROOT / "results" / "published" / "rows", tmp_path / "results" / "published" / "rows"
    )
    done = study("report", "study=mcc_published", "dataset=dlbcl", f"paths.local_data={local_data}")
    assert done.returncode == 0, done.stderr
    assert "0 of 140 cells missing or to be tried again; nothing is run here" in done.stdout
