"""Container, conda recipe, and what messages and pages say about installing: each agrees with pyproject.toml."""

import fnmatch
import json
import re
import shlex
import tomllib

import pytest
import yaml
from folders import PROJECT_ROOT as ROOT
from packaging.requirements import Requirement

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


# --- Dockerfile ---


def instructions():
    """The Dockerfile's lines as (instruction, rest), comments left out and continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines()]


def copied():
    sources = []
    for instruction, rest in instructions():
        if instruction == "COPY":
            *some, target = shlex.split(rest)
            assert target == "./" or some == [target]  # where the other steps look for it
            sources += some
    return sources


def test_the_container_starts_from_the_plain_image_of_a_python_that_is_supported():
    assert instructions()[0] == ("FROM", "python:3.11-slim")
    assert {each[0] for each in instructions()} <= {"FROM", "WORKDIR", "COPY", "RUN", "CMD"}
    assert "Programming Language :: Python :: 3.11" in PROJECT["classifiers"]


def test_what_the_container_copies_is_there_and_not_ignored():
    patterns = [
        line
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    assert patterns[0] == "*"
    let_in = {pattern[1:] for pattern in patterns if pattern.startswith("!")}
    for source in copied():
        assert (ROOT / source).exists(), source
        assert source in let_in, source
    assert let_in == set(copied())
    left_out = [pattern.removeprefix("**/") for pattern in patterns if pattern.startswith("**/")]
    for name in ("__pycache__", "a.nbi", "a.nbc"):
        assert any(fnmatch.fnmatch(name, pattern) for pattern in left_out), name


def test_the_container_installs_with_fixed_versions():
    (command,) = (rest for instruction, rest in instructions() if instruction == "RUN")
    words = shlex.split(command)
    assert words[:4] == ["python", "-m", "pip", "install"]
    assert words[words.index("-c") + 1] in copied()
    assert words[words.index("-e") + 1] == ".[study]" and "study" in EXTRAS
    # What the build of the package reads.
    assert {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]} <= set(copied())
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert set(wheel["targets"]["wheel"]["only-include"]) <= set(copied())


def test_the_container_does_what_the_first_command_of_the_readme_does(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    import bootstrap

    (command,) = (rest for instruction, rest in instructions() if instruction == "CMD")
    words = json.loads(command)
    assert words[0] == "python" and words[1] in copied()
    assert words[2:] == bootstrap.DEMO
    assert "python3 bootstrap.py demo" in (ROOT / "README.md").read_text(encoding="utf-8")
    config = [word.partition("=")[2] for word in words[2:] if word.startswith("ranker=")]
    for name in config[0].split(","):
        assert (ROOT / "conf" / "ranker" / f"{name}.yaml").exists()


# --- conda ---


def test_the_recipe_has_the_dependencies_of_the_project():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe" / "meta.yaml").read_text(encoding="utf-8"))
    assert recipe["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}

    def parts(lines):
        found = [Requirement(line) for line in lines]
        return {each.name.lower(): str(each.specifier) for each in found}

    run = parts(recipe["requirements"]["run"])
    assert run.pop("python") == PROJECT["requires-python"]
    assert run == parts([*PROJECT["dependencies"], *EXTRAS["study"]])
    host = parts(recipe["requirements"]["host"])
    assert host.pop("python") == PROJECT["requires-python"] and host.pop("pip") == ""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    assert host == parts(build["requires"])
    assert recipe["build"]["entry_points"] == [f"{name} = {at}" for name, at in PROJECT["scripts"].items()]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert (ROOT / "conda" / "recipe" / recipe["about"]["license_file"]).resolve() == ROOT / "LICENSE"
    assert (ROOT / "conda" / "recipe" / recipe["source"]["path"]).resolve() == ROOT


# --- what is said about installing ---

#: Packages of others that a page shows as an example.
_EXAMPLES = {"lightgbm"}
_WORD = r"(?:'[^']*'|\"[^\"]*\"|[^\s`'\"(),:;#\[]+(?:\[[\w,]+\])?)"
_HINT = re.compile(rf"pip install ({_WORD}(?: +{_WORD})*)")
_OF_PROJECT = re.compile(r"(?:\.|reliefe-bench|dist/reliefe_bench-[\w.]+-py3-none-any\.whl)(?:\[([\w,]+)\])?")


def hints():
    files = [ROOT / "README.md", ROOT / "constraints.txt", ROOT / "Dockerfile"]
    for folder, endings in (
        ("docs", (".md",)),
        ("experiments", (".py",)),
        ("reliefe", (".py",)),
        ("conf", (".yaml",)),
        (".github", (".yml",)),
    ):
        files += [file for file in sorted((ROOT / folder).rglob("*")) if file.suffix in endings]
    for file in files:
        text = file.read_text(encoding="utf-8").replace('\\"', '"')
        for found in _HINT.finditer(text):
            yield file.relative_to(ROOT).as_posix(), found[1]


def names_of_packages():
    every = [*PROJECT["dependencies"], *(each for some in EXTRAS.values() for each in some)]
    return {Requirement(each).name.lower() for each in every}


def wrong_words(hint):
    """Return what a hint names that is neither this project with extras of its, nor a package it takes."""
    wrong, words = [], hint.replace("{_DISTRIBUTION}", PROJECT["name"])
    try:
        words = shlex.split(words)
    except ValueError:
        words = words.replace("'", "").replace('"', "").split()
    skipped = False
    for place, word in enumerate(words):
        if skipped:
            skipped = False
        elif word in ("-c", "--upgrade-strategy"):
            skipped = True
            if word == "-c" and words[place + 1] not in ("constraints.txt", "oldest.txt"):
                wrong.append(words[place + 1])
        elif not word.startswith("-"):
            ours = _OF_PROJECT.fullmatch(word)
            if ours:
                wrong += [each for each in (ours[1] or "").split(",") if each and each not in EXTRAS]
            elif (
                "{" not in word
                and re.split(r"[<>=\[]", word)[0].lower() not in names_of_packages() | _EXAMPLES
            ):
                wrong.append(word)
    return wrong


@pytest.mark.parametrize(
    ("hint", "wrong"),
    [
        ("-c constraints.txt -e '.[study,dev]'", []),
        ("'reliefe-bench[plink]'", []),
        ("'reliefe-bench[plnk]'", ["plnk"]),
        ('"dist/reliefe_bench-0.1.0-py3-none-any.whl[study]"', []),
        ("no-such-package", ["no-such-package"]),
        ("-c other.txt pandas", ["other.txt"]),
    ],
)
def test_wrong_hints_are_found(hint, wrong):
    assert wrong_words(hint) == wrong


def test_hints_name_extras_and_packages_that_there_are():
    found = list(hints())
    files = {file for file, _ in found}
    assert {
        "README.md",
        "docs/own-data.md",
        "experiments/cli/main.py",
        "experiments/datasets/plink.py",
    } <= files
    assert {
        "reliefe/inspection/plotting.py",
        "experiments/execution/executors.py",
        "experiments/locate.py",
    } <= files
    assert not [(file, hint) for file, hint in found if wrong_words(hint)]


def test_modules_that_an_extra_brings_are_in_it():
    from experiments import locate

    for module, extra in locate._EXTRAS.items():
        named = {Requirement(each).name.replace("-", "_") for each in EXTRAS[extra]}
        assert module in named, module


def test_what_tells_of_the_extra_names_the_packages_that_are_in_it():
    text = (ROOT / "experiments" / "datasets" / "plink.py").read_text(encoding="utf-8")
    assert "needs the package bed-reader: pip install 'reliefe-bench[plink]'" in text
    assert [Requirement(each).name for each in EXTRAS["plink"]] == ["bed-reader"]
    assert {"dask", "distributed"} <= {Requirement(each).name for each in EXTRAS["cluster"]}
