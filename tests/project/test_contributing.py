"""What contributors and their machines go by: CONTRIBUTING.md, the workflow, the forms of issues."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import coverage
import pytest
import yaml
from folders import PROJECT_ROOT as ROOT
from packaging.requirements import Requirement
from packaging.version import Version

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
JOBS = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]

#: Names of programs that the packages of the extra dev, or GitHub's machines, bring.
PROGRAMS = {"ruff", "lint-imports", "mypy", "pre-commit"}
#: Written by a command before, or a place of the user's own.
MADE = {"oldest.txt", "path/to/data", ".venv/bin/activate"}


def runs(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def check_command(line):
    """Whether a command's program, module, files, extras and plugins are there."""
    words = shlex.split(line.partition(">")[0])
    program, *rest = words
    if program == "source":
        assert rest[0] in MADE
        return
    if program in ("python", "python3"):
        if rest[0] == "-m":
            assert find_spec(rest[1]), line
        else:
            assert (ROOT / rest[0]).is_file(), line
    else:
        assert program in PROGRAMS, line
        beside = Path(sys.executable).parent
        assert shutil.which(program, path=str(beside)), line
    for word in rest:
        if extras := re.fullmatch(r"\.\[([\w,]+)\]", word):
            assert set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"]), line
        elif (
            ("/" in word or word.endswith((".txt", ".py"))) and not word.startswith("-") and word not in MADE
        ):
            assert (ROOT / word).exists(), line
    for option, plugin in (("-n", "xdist"), ("--dist", "xdist"), ("--cov", "pytest_cov")):
        if option in rest:
            assert find_spec(plugin), line


# --- the workflow -------------------------------------------------------------------------------


def test_the_workflow_names_the_pythons_and_systems_that_are_promised():
    promised = [
        each.rpartition(" ")[2]
        for each in PROJECT["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", each)
    ]
    matrix = JOBS["tests"]["strategy"]["matrix"]
    assert matrix["python"] == promised == sorted(promised, key=Version)
    assert PROJECT["requires-python"] == f">={promised[0]}"
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    for name, python in (("oldest", promised[0]), ("newest", promised[-1])):
        (used,) = [
            step["with"]["python-version"]
            for step in JOBS[name]["steps"]
            if "setup-python" in step.get("uses", "")
        ]
        assert used == python and JOBS[name]["runs-on"] == "ubuntu-latest"


@pytest.mark.parametrize("name", JOBS)
def test_commands_of_the_workflow_exist(name):
    assert runs(JOBS[name])
    for line in runs(JOBS[name]):
        check_command(line)


def test_the_workflow_checks_style_imports_types_and_keeps_the_coverage():
    assert {"ruff check .", "ruff format --check .", "lint-imports", "mypy"} <= set(runs(JOBS["lint"]))
    kept = [step["with"] for step in JOBS["tests"]["steps"] if "upload-artifact" in step.get("uses", "")]
    assert [each["path"] for each in kept] == ["coverage.xml"]
    assert any("--cov-report=xml" in line for line in runs(JOBS["tests"]))


def test_the_workflow_has_no_secrets_and_may_not_write():
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    assert "secrets" not in text and yaml.safe_load(text)["permissions"] == {"contents": "read"}
    for job in JOBS.values():
        for step in job["steps"]:
            assert "run" in step or re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])


def test_the_oldest_requirements_are_the_lower_bounds():
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "oldest.py"], capture_output=True, text=True, check=True
    )
    pins = [Requirement(line) for line in done.stdout.splitlines()]
    bounds = [Requirement(line) for line in PROJECT["dependencies"]]
    assert [each.name for each in pins] == [each.name for each in bounds]
    for pin, bound in zip(pins, bounds, strict=True):
        (exact,), (lowest,) = pin.specifier, bound.specifier
        assert (exact.operator, lowest.operator, exact.version) == ("==", ">=", lowest.version)


# --- issues and pull requests -------------------------------------------------------------------


def test_there_are_forms_for_a_wrong_number_a_ranker_and_a_data_set():
    assert [form.stem for form in FORMS] == ["bug", "config", "dataset", "ranker"]
    assert "- [ ] " in (ROOT / ".github" / "pull_request_template.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "form", [each for each in FORMS if each.stem != "config"], ids=lambda each: each.stem
)
def test_forms_are_what_github_takes(form):
    content = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert set(content) == {"name", "description", "labels", "body"}
    names = [part["id"] for part in content["body"]]
    assert len(names) == len(set(names)) >= 4
    for part in content["body"]:
        assert part["type"] in ("textarea", "input", "checkboxes") and part["attributes"]["label"]
        assert (part["type"] == "checkboxes") == ("options" in part["attributes"])
    assert any(part.get("validations", {}).get("required") for part in content["body"])


# --- CONTRIBUTING.md and texts ------------------------------------------------------------------


def test_commands_of_contributing_exist():
    blocks = re.findall(r"^```bash\n(.*?)^```$", CONTRIBUTING, flags=re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) >= 8
    for line in lines:
        check_command(line)


def test_places_named_in_contributing_are_there():
    links = re.findall(r"\]\(([^)#]+)\)", CONTRIBUTING)
    places = [place for place in re.findall(r"`([\w.]+(?:/[\w.]+)*/?)`", CONTRIBUTING) if "/" in place]
    places = [place for place in places if "NAME" not in place]
    assert len(links) >= 4 and len(places) >= 6
    for place in [*links, *places]:
        assert (ROOT / place).exists() or place == "results/", place


def test_coverage_is_configured():
    settings = coverage.Coverage(config_file=str(ROOT / "pyproject.toml"))
    assert settings.get_option("run:source") == ["experiments", "reliefe"]
    assert settings.get_option("run:branch") is True


def test_texts_refer_to_pages_of_the_project_alone():
    found = [*ROOT.glob("*.md"), *ROOT.glob("*.py"), ROOT / "pyproject.toml", ROOT / "mkdocs.yml"]
    for folder in ("reliefe", "experiments", "docs", "conf", "tests", ".github"):
        found += [
            file for file in (ROOT / folder).rglob("*") if file.suffix in (".py", ".md", ".yaml", ".yml")
        ]
    pages = {file.name for file in [*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("docs/*/*.md")]}
    assert len(found) > 400 and {"README.md", "architecture.md"} <= pages
    wrong = []
    for file in found:
        text = file.read_text(encoding="utf-8")
        if file.relative_to(ROOT).parts[0] != "tests":  # tests write pages of their own
            wrong += [f"{file}: {name}" for name in re.findall(r"[\w-]+\.md\b", text) if name not in pages]
        wrong += [
            f"{file}: {words}" for words in re.findall(r"\b[Dd]ecisions,? § ?\d|\bdef test_case_\d+", text)
        ]
    assert not wrong
