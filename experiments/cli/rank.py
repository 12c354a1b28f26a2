"""``run.py rank FILE --target NAME``: which features of a person's table count, how many, and how sure that is."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.cli.rank_arguments import command, in_own_words, layout_of, option, parser, turned
from experiments.cli.rank_folder import placed, result_folder
from experiments.cli.ranking import chosen_ranker, could_be_classes, ranked_table
from experiments.cli.subcommand import run_subcommand
from experiments.datasets.caution import cautions
from experiments.datasets.table import Table, read_table
from experiments.errors import BadInputError, ConfigError, meant_file
from experiments.formatting import count, duration

#: Samples that a numeric target needs: R² of a fold takes two, and so does a ranking.
_LEAST_NUMBERS = 4


def main(argv: Sequence[str]) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str
        Arguments without the program's name.

    Returns
    -------
    int
        Exit code: 0, 2 for bad input, 130 for Ctrl-C.
    """
    return run_subcommand(
        argv, lambda: parser().format_help(), _parsed, stopped="stopped; nothing was written"
    )


def _parsed(argv: Sequence[str]) -> int:
    arguments = parser().parse_args(list(argv))
    try:
        _run(arguments, argv)
    except BadInputError as error:
        raise BadInputError(in_own_words(str(error), arguments.transpose)) from error
    return 0


def _run(arguments: Any, argv: Sequence[str]) -> None:
    started = time.perf_counter()
    _check_file(arguments.file)
    if not arguments.target:
        raise ConfigError(
            f"say which column holds the class: {command([*argv, '--target'])} NAME\n"
            f"columns: {_columns(arguments)}"
        )
    notes: list[str] = []
    with _told(notes):
        table = read_table(
            arguments.file,
            arguments.target,
            kind=arguments.kind,
            layout=layout_of(arguments),
            keep=arguments.keep,
            leave_out=arguments.leave_out,
            categories=arguments.categories,
            groups=arguments.groups,
        )
    seen = [turned(each) for each in _seen(table)] if arguments.transpose else _seen(table)
    notes = [*seen, *(in_own_words(each, arguments.transpose) for each in notes)]
    print("\n".join(notes), flush=True)
    _check_learnable(table)
    warned = [
        f"caution: {each}"
        for each in cautions(
            table.X,
            table.y,
            table.names,
            categories=table.categories,
            grouped=table.groups is not None,
            groups="--groups {}",
            missing="--na-values NA,{}",
        )
    ]
    warned = [turned(each) for each in warned] if arguments.transpose else warned
    print("\n".join(warned), end="\n" if warned else "", flush=True)
    notes += warned
    key, block, why = chosen_ranker(table, arguments)
    settings = _settings(table, arguments, key, block)
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    folder = result_folder(arguments.file, arguments.out, digest)
    another = "; it leaves missing values out" if table.missing.any() else ""
    another += "" if arguments.ranker else "; --ranker takes another"
    print(f"ranker: {block['display_name']} ({why}{another})", flush=True)
    with warnings.catch_warnings(record=True) as caught, _compiling_said():
        warnings.simplefilter("always")
        ranked = ranked_table(
            table, arguments, argv, (key, block, why), notes, {**settings, "digest": digest}
        )
    more = _warned(caught)
    ranked = replace(ranked, notes=[*ranked.notes, *more])
    print("\n".join(more), end="\n" if more else "", flush=True)
    from experiments.report.ranked_table import on_screen, write

    with placed(folder) as made:
        write(ranked, made)
    print(f"\n{on_screen(ranked)}\n\nwritten to {folder}: index.html (all of it), ranking.xlsx, ranking.csv,")
    print("curve.csv, best_features.png, selection_curve.png (both also .svg)")
    print(f"took {duration(time.perf_counter() - started)}")


def _check_file(path: str) -> None:
    file = Path(path).expanduser()
    if file.is_file():
        return
    if file.is_dir():
        raise BadInputError(f"{path} is a folder; give the file in it that holds the table")
    beside = [each.name for each in file.parent.iterdir()] if file.parent.is_dir() else []
    hint = meant_file(file.name, beside) or f" (looked in {file.parent.absolute()})"
    raise BadInputError(f"file {path} not found{hint}")


def _columns(arguments: Any) -> str:
    from experiments.datasets.table import column_names

    names = column_names(arguments.file, layout_of(arguments))
    shown = [*names[:5], "…", *names[-5:]] if len(names) > 12 else names
    return ", ".join(each if each == "…" else repr(each) for each in shown)


@contextmanager
def _told(notes: list[str]) -> Iterator[None]:
    """Gather what readers warn of."""

    class Gather(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            notes.append(record.getMessage())

    logger, handler = logging.getLogger("experiments"), Gather(logging.WARNING)
    before = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = before


@contextmanager
def _compiling_said() -> Iterator[None]:
    """Show what the library says while it works, such as that it compiles."""

    class Show(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            print(record.getMessage(), flush=True)

    logger, handler = logging.getLogger("reliefe"), Show(logging.INFO)
    before, spread = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        logger.propagate = spread


def _seen(table: Table) -> list[str]:
    """Say what is in the table."""
    n, p = table.X.shape
    said = [f"{table.file}: {count(n, 'sample')}, {count(p, 'feature')}"]
    if table.groups is not None:
        said[0] += f", {count(int(table.groups.max()) + 1, 'group')} of samples that stay together"
    if table.task == "classes":
        sizes = np.bincount(table.y, minlength=len(table.class_names))
        shown = [f"{name} ({size})" for name, size in zip(table.class_names, sizes, strict=True)]
        more = f", and {len(shown) - 10} more" if len(shown) > 10 else ""
        kinds = count(len(shown), "class", "classes")
        said.append(f"target {table.targets[0]!r}: {kinds}: {', '.join(shown[:10])}{more}")
    elif table.task == "labels":
        sizes = np.asarray(table.y.sum(axis=0)).ravel()
        shown = [f"{name} ({size})" for name, size in zip(table.class_names, sizes, strict=True)]
        said.append(f"targets: {len(shown)} labels: {', '.join(shown[:10])}")
    else:
        said.append(
            f"target {table.targets[0]!r}: numbers from {table.y.min():g} to {table.y.max():g}"
            + ("; --as classes takes each number for a class" if could_be_classes(table) else "")
        )
    for name, why in table.name_columns:
        said.append(
            f"column {name!r} {why}: taken as sample names, not as a feature; {option('--keep', name)} keeps it"
        )
    if table.left_out:
        said.append(f"left out: {', '.join(repr(each) for each in table.left_out)}")
    constant = table.constant
    if constant:
        more = f" and {len(constant) - 10} more" if len(constant) > 10 else ""
        said.append(
            f"{count(len(constant), 'feature')} with one value only, or none (weight 0): "
            f"{', '.join(repr(each) for each in constant[:10])}{more}"
        )
    if table.categories:
        shown = [repr(table.names[place]) for place in sorted(table.categories)]
        more = f" and {len(shown) - 10} more" if len(shown) > 10 else ""
        said.append(f"{count(len(shown), 'category', 'categories')}: {', '.join(shown[:10])}{more}")
    missing = table.missing
    if missing.any():
        said.append(
            f"{count(int(missing.sum()), 'value')} missing ({100 * missing.mean():.2g} %), in "
            f"{count(int(missing.any(axis=0).sum()), 'feature')} and "
            f"{count(int(missing.any(axis=1).sum()), 'sample')}"
        )
    return said


def _check_learnable(table: Table) -> None:
    """Refuse features and targets that nothing can be learnt of."""
    if len(table.constant) == len(table.names):
        raise BadInputError(
            f"no feature of {table.file} can be ranked: each has one value only, or none "
            f"({count(len(table.names), 'feature')})"
        )
    if table.task == "numbers" and len(table.y) < _LEAST_NUMBERS:
        raise BadInputError(
            f"{table.file} has {count(len(table.y), 'sample')}; a numeric target needs {_LEAST_NUMBERS} or "
            "more, two to rank and two to test"
        )
    if table.task != "classes":
        return
    name, sizes = table.targets[0], np.bincount(table.y)
    if len(sizes) < 2:
        raise BadInputError(
            f"the target {name!r} holds one class only, {table.class_names[0]!r}; ranking needs at least two"
        )
    if sizes.max() < 2:
        raise BadInputError(
            f"the target {name!r} holds another value in each row, which are no classes; choose another column"
            + (", or say that these are numbers: --as numbers" if _are_numbers(table.class_names) else "")
        )
    if np.sort(sizes)[-2] < 2:
        raise BadInputError(
            f"only one of the {len(sizes)} classes of {name!r} has two samples or more; choose another target"
        )


def _are_numbers(texts: Sequence[str]) -> bool:
    try:
        return all(np.isfinite(float(each)) for each in texts)
    except ValueError:
        return False


def _settings(table: Table, arguments: Any, key: str, block: dict[str, Any]) -> dict[str, Any]:
    """Gather everything that decides the numbers."""
    names = (
        "kind",
        "keep",
        "leave_out",
        "categories",
        "groups",
        "folds",
        "repeats",
        "permutations",
        "budget",
        "subsamples",
        "seed",
    )
    return {
        "sha256": table.sha256,
        "targets": list(table.targets),
        "task": table.task,
        "ranker": {name: value for name, value in block.items() if name != "n_jobs"},
        "layout": vars(layout_of(arguments)),
        **{name: getattr(arguments, name) for name in names},
        "ranker_name": key,
    }


def _warned(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Say what rankers and tests warned of, once each, in the words of the options."""
    said = [str(each.message) for each in caught if issubclass(each.category, UserWarning | RuntimeWarning)]
    said = [re.sub(r"n_permutations=(\d+)", r"--permutations \1", each) for each in said]
    return list(dict.fromkeys(each.replace(', or null="pooled"', "") for each in said))
