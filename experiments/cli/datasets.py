"""``run.py datasets check|list|fetch``: compare data sets with the paper, list them, download them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import yaml

from experiments.cli.subcommand import run_subcommand
from experiments.config.compose import compose_runs, names
from experiments.datasets.overview import as_list, as_markdown, as_text, find_out
from experiments.errors import ConfigError, meant, wrong_name
from experiments.paths import conf_folder, source_blocks
from experiments.programs import program

USAGE = """PROGRAM check [NAME…] [--all] [--markdown]
    compares the available data sets with the paper's tables; downloads nothing. Without names: the paper's data
    sets; --all: the others too; --markdown writes the page docs/datasets.md (and implies --all).
PROGRAM list
    shows names, tasks, stated sizes and sources.
PROGRAM fetch NAME… | paper
    downloads data sets that are neither in a local folder nor in the cache.

check ends with 1 when data is damaged, is not what its YAML file states, or differs from the paper without a stated
reason; fetch when a data set is not available. Folders: paths.local_data=FOLDER and the other keys of paths."""

_COMMANDS = ("check", "list", "fetch")
_FLAGS = ("--all", "--markdown")


def main(argv: Sequence[str]) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str
        Arguments without the program's name.

    Returns
    -------
    int
        Exit code: 0, 1 for what is wrong with data, 2 for bad input, 130 for Ctrl-C.
    """
    return run_subcommand(argv, lambda: USAGE.replace("PROGRAM", program("datasets")), _run)


def _run(argv: Sequence[str]) -> int:
    command, chosen, flags, overrides = _arguments(argv)
    if command == "list":
        print(as_list(_files().values()))
        return 0
    if command == "fetch":
        return _fetch(chosen, overrides)
    return _check(chosen, flags, overrides)


def _arguments(argv: Sequence[str]) -> tuple[str, list[str], set[str], list[str]]:
    command, *rest = argv
    if command not in _COMMANDS:
        raise wrong_name("command", command, _COMMANDS)
    flags = {each for each in rest if each.startswith("-")}
    for flag in flags:
        if flag not in _FLAGS or command != "check":
            hint = meant(flag, _FLAGS) if command == "check" else ""
            raise ConfigError(f"unknown flag {flag} of {command}{hint}")
    overrides = [each for each in rest if "=" in each and not each.startswith("-")]
    for each in overrides:
        if not each.startswith("paths."):
            raise ConfigError(f"{each}: only keys of paths can be set here, such as paths.local_data=FOLDER")
    chosen = [each for each in rest if each not in flags and each not in overrides]
    if command == "list" and chosen:
        raise ConfigError("list takes no names; check NAME tells of one")
    everything = list(_files())
    for each in chosen:
        if each not in everything and each != "paper":
            raise wrong_name("data set", each, everything)
    return command, chosen, flags, overrides


@cache
def _files() -> dict[str, dict[str, Any]]:
    """Read the YAML files of all data sets but those that stand for a user's own data."""
    folder = conf_folder() / "dataset"
    blocks = {
        name: yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8"))
        for name in names(conf_folder(), "dataset")
    }
    return {name: block for name, block in blocks.items() if not _is_own(block)}


def _is_own(block: Mapping[str, Any]) -> bool:
    """Whether a block stands for data of a user's own: its source has a path that is to be typed."""
    return any("path" in each and each["path"] is None for each in source_blocks(dict(block)))


def _configs(chosen: Sequence[str], overrides: Sequence[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the blocks of data sets, and the folders as ``run.py`` would understand them."""
    # The blocks need no composing, which takes longer than most data sets take to load.
    (run,) = compose_runs([f"dataset={chosen[0]}", *overrides]).configs
    return [_files()[name] for name in chosen], run["paths"]


def _paper_names() -> list[str]:
    """Names of the paper's data sets in the order of its tables: classes, then labels, by number of features."""
    of_paper = {name: block for name, block in _files().items() if block.get("paper")}
    order = {
        name: (block["task"] == "multilabel", block["paper"]["features"]) for name, block in of_paper.items()
    }
    return sorted(order, key=order.__getitem__)


def _check(chosen: list[str], flags: set[str], overrides: Sequence[str]) -> int:
    of_paper = _paper_names()
    wanted = [name for each in chosen for name in (of_paper if each == "paper" else [each])] or of_paper
    if flags:
        wanted += [name for name in _files() if "--all" in flags or "--markdown" in flags]
    wanted = list(dict.fromkeys(wanted))
    configs, paths = _configs(wanted, overrides)
    findings = [find_out(config, paths) for config in configs]
    print(as_markdown(findings).rstrip() if "--markdown" in flags else as_text(findings))
    wrong = [each for each in findings if not each.fine]
    for each in wrong:
        what = each.error or f"differs in {', '.join(each.differing)} and its YAML file states no reason"
        print(f"{each.name}: {what}", file=sys.stderr)
    return 1 if wrong else 0


def _fetch(chosen: list[str], overrides: Sequence[str]) -> int:
    if not chosen:
        raise ConfigError(
            f"fetch needs names of data sets, or paper for its 20\nvalid: {', '.join(_files())}"
        )
    wanted = [name for each in chosen for name in (_paper_names() if each == "paper" else [each])]
    configs, paths = _configs(list(dict.fromkeys(wanted)), overrides)
    failed = 0
    for config in configs:
        found = find_out(config, paths, download=True)
        if found.measured:
            size = " × ".join(str(found.measured[key]) for key in ("rows", "features"))
            n_classes = found.measured.get("classes")
            held = "a numeric target" if n_classes is None else f"{n_classes} classes or labels"
            print(f"{found.name}: {found.state}, {size}, {held}")
        else:
            failed += 1
            print(found.error, file=sys.stderr)
    return 1 if failed else 0
