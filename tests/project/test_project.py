"""The project as a whole: arrows between its parts, set-up, versions, and what README promises."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from folders import PROJECT_ROOT as ROOT
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import reliefe

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


# --- arrows between the parts -------------------------------------------------------------------


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path):
    """Full names of all that a file imports, at any depth: ``from a import b`` gives a and a.b."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


SOURCES = {
    module_name(path): path
    for folder in ("reliefe", "experiments")
    for path in sorted((ROOT / folder).rglob("*.py"))
}


KERNELS = ["reliefe.kernels", "experiments.learners.kernels"]
#: Says where copies of compiled code are kept; holds none.
CACHE = "reliefe._compiled"


def within(name, *packages):
    return any(name == package or name.startswith(package + ".") for package in packages)


def lint_imports(root):
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command; lint_imports_command()",
    ]
    environment = {**os.environ, "PYTHONPATH": str(root), "COLUMNS": "200"}
    return subprocess.run(
        [*command, "--no-cache"], cwd=root, env=environment, capture_output=True, text=True, timeout=300
    )


def test_imports_go_down():
    """The contracts are in pyproject.toml, under importlinter."""
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 kept, 0 broken" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("experiments/analysis/ties.py", "from experiments.execution import runner"),
        ("experiments/datasets/raw.py", "from experiments.rankers import accepted_targets"),
        ("reliefe/ranking.py", "import experiments.errors"),
        ("experiments/metrics/f1.py", "import matplotlib"),
    ],
)
def test_an_import_the_wrong_way_is_found(tmp_path, file, line):
    for name in ("reliefe", "experiments"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with open(tmp_path / file, "a", encoding="utf-8") as opened:
        opened.write(f"\n\ndef _late():\n    {line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1 and line.split()[1] in done.stdout, done.stdout


def test_the_library_imports_nothing_but_its_requirements():
    # joblib and threadpoolctl are requirements of scikit-learn, tqdm is one of umap-learn, llvmlite of numba.
    allowed = {"reliefe", "numpy", "scipy", "numba", "sklearn", "umap"}
    allowed |= {"joblib", "threadpoolctl", "tqdm", "llvmlite"}
    # Optional: for a result as a data frame, and for a figure.
    optional = {("reliefe.inspection.frames", "pandas"), ("reliefe.inspection.plotting", "matplotlib")}
    tops = {
        top
        for module, path in SOURCES.items()
        if within(module, "reliefe")
        for top in {name.partition(".")[0] for name in imports_of(path)}
        if (module, top) not in optional
    }
    assert tops - allowed <= set(sys.stdlib_module_names)


def test_compiled_code_lies_in_kernels_alone():
    for module, path in SOURCES.items():
        if not within(module, *KERNELS, CACHE):
            assert not any(within(name, "numba") for name in imports_of(path)), module


def test_kernels_hold_no_text_assertions_or_randomness():
    for module, path in SOURCES.items():
        if not within(module, *KERNELS):
            continue
        parsed = ast.parse(path.read_text(encoding="utf-8"))
        functions = [each for each in ast.walk(parsed) if isinstance(each, ast.FunctionDef)]
        # What makes code for the compiler runs while a kernel is compiled, and not in it.
        made = [each for each in functions if "intrinsic" in map(ast.unparse, each.decorator_list)]
        made += [each for outer in made for each in ast.walk(outer) if each is not outer]
        for function in functions:
            if function in made:
                continue
            has_docstring = ast.get_docstring(function) is not None
            for statement in function.body[has_docstring:]:
                for node in ast.walk(statement):
                    where = f"{module}.{function.name}"
                    assert not isinstance(node, ast.Assert | ast.Raise | ast.JoinedStr), where
                    assert not (isinstance(node, ast.Constant) and isinstance(node.value, str)), where
                    assert not (isinstance(node, ast.Attribute) and node.attr == "random"), where


def test_figures_do_without_the_state_of_pyplot():
    for module, path in SOURCES.items():
        if within(module, "experiments.figures", "experiments.report"):
            assert not {"matplotlib.pyplot", "pylab"} & imports_of(path), module


def test_the_library_does_without_the_benchmarks_packages():
    # scikit-learn takes pandas along where it is there; here it is not there.
    absent = ["hydra", "omegaconf", "pandas", "pyarrow", "matplotlib", "rich", "skrebate", "psutil"]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({absent}))\n"
        "import reliefe; X = [[0], [1], [2], [3]]; y = [0, 0, 1, 1]\n"
        "print(reliefe.ReliefF().fit(X, y).ranking_)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["[1]"], done.stderr


@pytest.mark.parametrize(
    ("statement", "more"),
    [("import reliefe", ["sklearn", "scipy", "numpy"]), ("from reliefe import ReliefE, ReliefF", [])],
)
def test_importing_the_library_is_light(statement, more):
    heavy = ["umap", "pynndescent", "numba", "hydra", "omegaconf", "matplotlib", "experiments", *more]
    code = f"{statement}; import sys; print(*sorted(set({heavy}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_library_has_no_other_names():
    assert set(reliefe.__all__) <= set(dir(reliefe))
    missing = "ReliefG"
    with pytest.raises(AttributeError, match="no attribute 'ReliefG'"):
        getattr(reliefe, missing)


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["run.py", "report.py"])
def test_entry_points_are_short(name):
    assert len(text_of(name).splitlines()) < 40


def test_versions_agree():
    version = PROJECT["version"]
    assert reliefe.__version__ == version
    assert yaml.safe_load(text_of("CITATION.cff"))["version"] == version
    released = re.findall(r"^## \[(\d[^\]]*)\]", text_of("CHANGELOG.md"), flags=re.M)
    assert released[0] == version


def test_the_licence_is_the_one_that_is_named():
    assert text_of("LICENSE").startswith("BSD 3-Clause License")
    assert PROJECT["license"] == yaml.safe_load(text_of("CITATION.cff"))["license"] == "BSD-3-Clause"


def test_ruff_has_nothing_to_say():
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", "."],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_hooks_are_valid():
    hooks = [
        hook for repo in yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"] for hook in repo["hooks"]
    ]
    assert {"ruff-format", "ruff-check", "nbstripout"} <= {hook["id"] for hook in hooks}
    for hook in hooks:
        if hook["id"].startswith("ruff"):
            assert hook["additional_dependencies"] == [f"ruff=={pins()['ruff']}"]


# --- requirements -------------------------------------------------------------------------------


def pins():
    """Name → version in constraints.txt."""
    found = {}
    for line in text_of("constraints.txt").splitlines():
        line = line.partition("#")[0].strip()
        if line:
            name, equals, version = line.partition("==")
            assert equals and Version(version), line
            assert canonicalize_name(name) not in found, line
            found[canonicalize_name(name)] = Version(version)
    return found


def test_constraints_name_versions_and_no_places():
    text = text_of("constraints.txt")
    assert "://" not in text and "@" not in text
    assert not re.search(r"^\s*(-|\.|/)", text, flags=re.M)
    assert "reliefe-bench" not in pins()
    assert len(pins()) > 20


def required():
    extras = PROJECT["optional-dependencies"]
    return [Requirement(line) for line in [*PROJECT["dependencies"], *extras["study"], *extras["dev"]]]


def test_the_library_alone_needs_five_packages():
    names = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    assert names == {"numpy", "scipy", "numba", "scikit-learn", "umap-learn"}


def test_constraints_meet_the_requirements():
    for requirement in required():
        assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)]), requirement


def test_constraints_cover_what_the_requirements_require():
    """All of the closure is pinned, and every pin runs on the oldest Python promised."""
    lowest = str(PROJECT["requires-python"]).lstrip(">=")
    waiting, seen = required(), set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        assert name in pins(), f"{name} is not in constraints.txt"
        if (name, frozenset(requirement.extras)) in seen:
            continue
        seen.add((name, frozenset(requirement.extras)))
        distribution = metadata.distribution(name)
        if Version(distribution.version) == pins()[name]:
            supported = SpecifierSet(distribution.metadata.get("Requires-Python") or "")
            assert supported.contains(f"{lowest}.0"), f"{name} does not run on Python {lowest}"
        for line in distribution.requires or []:
            needed = Requirement(line)
            for extra in ["", *requirement.extras]:
                environment = {**default_environment(), "extra": extra}
                if needed.marker is None or needed.marker.evaluate(environment):
                    waiting.append(needed)
    assert len(seen) > 30


# --- README -------------------------------------------------------------------------------------


def blocks(language, text=README):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.M | re.S)


def commands(text=README):
    return [line for block in blocks("bash", text) for line in block.splitlines() if line.strip()]


COMMAND_LINE = text_of("docs/command-line.md")


def test_set_up_is_exactly_two_commands():
    section = README.partition("## Set up")[2].partition("\n## ")[0]
    assert commands(section) == ["python3 bootstrap.py demo", "python3 bootstrap.py test"]


def test_every_other_command_is_a_run_or_a_report():
    others = [line for line in commands() if "bootstrap.py" not in line]
    assert len(others) >= 6
    assert all(re.match(r"python (run|report)\.py ", line) for line in others), others


def test_every_command_of_the_command_line_page_is_a_run_or_a_report():
    found = commands(COMMAND_LINE)
    assert len(found) >= 12
    assert all(re.match(r"python (run|report)\.py ", line) for line in found), found


@pytest.mark.parametrize(
    "line", dict.fromkeys(line for line in commands() + commands(COMMAND_LINE) if line.startswith("python "))
)
def test_commands_of_readme_and_command_line_page_mean_something(line):
    from experiments.cli.rank_arguments import parser
    from experiments.config.compose import compose_runs

    if line.split()[2] == "rank":
        assert parser().parse_args(line.split()[3:]).target
    else:
        assert compose_runs(line.split()[2:]).configs


def test_the_ranker_file_of_the_docs_works():
    from experiments.rankers import build

    (example,) = [
        each for each in blocks("yaml", text_of("docs/add-a-ranker.md")) if "ExtraTreesClassifier" in each
    ]
    assert build(yaml.safe_load(example)).n_estimators == 50


def test_the_library_example_of_the_readme_works(capsys):
    (example,) = blocks("python")
    names = {}
    exec(compile(example, "README.md", "exec"), names)
    *weights, best = capsys.readouterr().out.splitlines()
    weights = [float(each) for each in " ".join(weights).strip("[]").split()]
    assert len(weights) == names["X"].shape[1]
    assert best.strip("[]'") == names["X"].columns[weights.index(max(weights))]


def test_places_named_in_the_readme_are_there():
    assert {"conf/dataset/", "docs/index.md", "CITATION.cff"} <= set(re.findall(r"[\w./]+", README))
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).is_file(), link
    table = README.partition("## What lies where")[2].partition("\n## ")[0]
    named = [
        place
        for place in re.findall(r"`([\w/.]+)`", table)
        if place not in ("rows/", "tables/", "figures/", "report/")
    ]
    assert len(named) >= 8
    for place in named:
        assert (ROOT / place).exists(), place


_TEXTS = (".py", ".md", ".toml", ".yaml", ".txt", ".cff", ".ipynb", ".html", ".css", ".js")


def test_no_machine_is_named_in_any_text():
    """Paths of a machine and addresses of package indexes do not belong into the project."""
    pattern = re.compile(r"(?<![\w.])/(?:home|root|tmp|opt|work|Users)/\w|index-url|pypi\.org|simple/")
    bad = []
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT).parts
        if inside[0] in (
            ".git",
            ".venv",
            "data",
            "results",
            "site",
            ".ruff_cache",
            ".pytest_cache",
            ".hypothesis",
        ):
            continue
        if path.suffix in _TEXTS and path != Path(__file__):
            bad += [
                f"{path.relative_to(ROOT)}: {found.group()}"
                for found in pattern.finditer(path.read_text(encoding="utf-8", errors="replace"))
            ]
    assert not bad
