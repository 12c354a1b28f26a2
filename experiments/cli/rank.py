"""``run.py rank FILE --target NAME``: which features of a person's table count, how many, and how sure that is."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml

from experiments.cli.rank_arguments import command, in_own_words, layout_of, option, parser
from experiments.cli.rank_folder import placed, result_folder
from experiments.config.help import names as names_of_files
from experiments.datasets.table import Table, read_table
from experiments.errors import BadInputError, ConfigError, near_names, wrong_name
from experiments.evaluation.selection_curve import selection_curve, smallest_within_one_error
from experiments.formatting import count, duration
from experiments.metrics.relative_f1 import feature_grid
from experiments.paths import conf_folder
from experiments.printing import prepare_output
from experiments.rankers import build, rank
from experiments.rankers.adapters import call
from reliefe.ranking import ranks

#: MultiSURF, which looks at all pairs of samples, up to so many.
_ALL_PAIRS = 2000
#: A first fit that takes longer than this, seconds, compiles.
_COMPILES = 3.0
#: With more features than this, weights are compared with those of all features.
_POOLED = 100
#: Longer waits, seconds, are told of beforehand.
_LONG = 60.0


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
    prepare_output()
    try:
        if not argv or argv[0] == "help":
            parser().print_help()
            return 0 if argv else 2
        arguments = parser().parse_args(list(argv))
    except SystemExit as ended:  # --help
        return int(ended.code or 0)
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        _run(arguments, argv)
    except BadInputError as error:
        print(f"error: {in_own_words(str(error), arguments.transpose)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; nothing was written", file=sys.stderr)
        return 130
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
        )
    notes = [*_seen(table), *(in_own_words(each, arguments.transpose) for each in notes)]
    print("\n".join(notes), flush=True)
    key, block, why = _ranker(table, arguments)
    settings = _settings(table, arguments, key, block)
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    folder = result_folder(arguments.file, arguments.out, digest)
    another = "" if arguments.ranker else "; --ranker takes another"
    print(f"ranker: {block['display_name']} ({why}{another})", flush=True)
    ranked = _ranked(table, arguments, argv, (key, block, why), notes, {**settings, "digest": digest})
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
    near = near_names(file.name, beside)
    hint = f"; did you mean {' or '.join(near)}?" if near else f" (looked in {file.parent.absolute()})"
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


def _seen(table: Table) -> list[str]:
    """Say what is in the table."""
    n, p = table.X.shape
    said = [f"{table.file}: {count(n, 'sample')}, {count(p, 'feature')}"]
    if table.task == "classes":
        sizes = np.bincount(table.y, minlength=len(table.class_names))
        shown = [f"{name} ({size})" for name, size in zip(table.class_names, sizes, strict=True)]
        more = f", and {len(shown) - 10} more" if len(shown) > 10 else ""
        said.append(f"target {table.targets[0]!r}: {len(shown)} classes: {', '.join(shown[:10])}{more}")
    elif table.task == "labels":
        sizes = np.asarray(table.y.sum(axis=0)).ravel()
        shown = [f"{name} ({size})" for name, size in zip(table.class_names, sizes, strict=True)]
        said.append(f"targets: {len(shown)} labels: {', '.join(shown[:10])}")
    else:
        said.append(
            f"target {table.targets[0]!r}: numbers from {table.y.min():g} to {table.y.max():g}, ranked for by "
            "RReliefF; --as classes takes each number for a class"
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
            f"{count(int(missing.any(axis=1).sum()), 'sample')}: the ranker leaves them out"
        )
    return said


def _ranker(table: Table, arguments: Any) -> tuple[str, dict[str, Any], str]:
    """Choose the ranker and tell it what the table holds."""
    n = len(table.X)
    key, why = arguments.ranker, "as asked for"
    if key is None and table.task == "classes":
        small = n <= _ALL_PAIRS
        key = "multisurf" if small else "relieff"
        why = (
            f"it needs no number of neighbours, and {n} samples are few enough to look at all pairs"
            if small
            else f"{n} samples are too many for MultiSURF to look at all pairs in short time"
        )
    elif key is None:
        key, why = (
            "relieff",
            "it takes several labels" if table.task == "labels" else "it takes numeric targets",
        )
    valid = names_of_files(conf_folder(), "ranker")
    if key not in valid:
        raise wrong_name("ranker", key, valid)
    block = yaml.safe_load((conf_folder() / "ranker" / f"{key}.yaml").read_text(encoding="utf-8"))
    block = {"display_name": key, **block}
    parameters = build(block).get_params(deep=False) if not block.get("_partial_") else {}
    if table.missing.any():
        if "missing" not in parameters:
            raise BadInputError(
                f"{block['display_name']} takes no missing values, and the table has "
                f"{int(table.missing.sum())}; use {option('--ranker', 'multisurf')} or relieff, or fill them in"
            )
        block["missing"] = "ignore"
    several = [place for place, values in table.categories.items() if len(values) > 2]
    if table.categories and "discrete_features" in parameters:
        block["discrete_features"] = sorted(table.categories)
    elif several:
        raise BadInputError(
            f"{block['display_name']} takes no categories, and {table.names[several[0]]!r} is one; use "
            f"{option('--ranker', 'multisurf')} or relieff, or {option('--leave-out', table.names[several[0]])}"
        )
    if table.task == "numbers":
        if "target" not in parameters:
            raise BadInputError(
                f"{block['display_name']} takes no numeric target; use {option('--ranker', 'relieff')} (RReliefF), "
                "or --as classes"
            )
        block["target"] = "regression"
        block["display_name"] = block["display_name"].replace("ReliefF", "RReliefF")
    return key, block, why


def _settings(table: Table, arguments: Any, key: str, block: dict[str, Any]) -> dict[str, Any]:
    """Gather everything that decides the numbers."""
    names = (
        "kind",
        "keep",
        "leave_out",
        "categories",
        "folds",
        "repeats",
        "permutations",
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


def _ranked(
    table: Table,
    arguments: Any,
    argv: Sequence[str],
    chosen: tuple[str, dict[str, Any], str],
    notes: Sequence[str],
    settings: dict[str, Any],
) -> Any:
    from experiments.report.ranked_table import Curve, RankedTable

    _, block, why = chosen
    seed = arguments.seed
    block = {**block, "n_jobs": arguments.jobs or -1} if "n_jobs" in block else block

    def weigh(X: np.ndarray, y: Any, seed: int) -> np.ndarray:
        try:
            if table.task == "numbers":
                return np.asarray(call(block, X, y, seed).feature_importances_)
            return rank(block, X, y, seed).weights
        except BadInputError:
            raise
        except Exception as error:  # whatever a ranker says of data or target
            raise BadInputError(f"{block['display_name']} cannot rank this table: {error}") from error

    _warm_up(weigh, table)
    begun = time.perf_counter()
    weights = weigh(table.X, table.y, seed)
    seconds = time.perf_counter() - begun
    found = _curve(weigh, table, arguments, seconds)
    keep, best = (int(found.sizes[place]) for place in smallest_within_one_error(found))
    curve = Curve(
        found.sizes,
        found.mean,
        found.standard_error,
        None if found.macro is None else found.macro.mean(axis=(0, 1)),
        "R²" if table.task == "numbers" else "micro F1",
        keep,
        best,
        found.scores.shape[1],
        found.scores.shape[0],
    )
    certainty, more = _certainty(table, block, arguments, keep, seconds)
    constant = set(table.constant)
    kinds = [
        "constant" if name in constant else ("category" if place in table.categories else "number")
        for place, name in enumerate(table.names)
    ]
    target = " and ".join(repr(each) for each in table.targets)
    target = f"{table.task} {target}" if table.task != "classes" else f"the classes of {target}"
    return RankedTable(
        Path(arguments.file).name,
        target,
        block["display_name"],
        why,
        len(table.X),
        table.names,
        kinds,
        table.missing.sum(axis=0),
        weights,
        ranks(weights),
        curve,
        certainty,
        [*notes, *more],
        command(argv),
        settings,
    )


def _warm_up(weigh: Any, table: Table) -> None:
    """Fit on a few made-up samples, and say so if that takes long: then kernels are compiled."""
    rng = np.random.default_rng(0)
    p = min(table.X.shape[1], 40)
    if table.categories or not p:
        X, y = table.X, table.y
    else:
        X = rng.random((24, p))
        X[rng.random(X.shape) < 0.05] = np.nan if table.missing.any() else 0.5
        y = table.y[:24] if table.task != "classes" else np.arange(24) % 2
        if (len(table.y.shape) and table.y.shape[0] < 24) or table.task == "labels":
            X, y = table.X, table.y
    told = threading.Timer(
        _COMPILES,
        lambda: print("compiling kernels, once per installation (half a minute or more) …", flush=True),
    )
    told.daemon = True
    told.start()
    try:
        weigh(X, y, 0)
    finally:
        told.cancel()


def _curve(weigh: Any, table: Table, arguments: Any, seconds: float) -> Any:
    n_splits = arguments.folds
    if table.task == "classes":
        smallest = int(np.bincount(table.y).min())
        if smallest < n_splits:
            n_splits = max(2, min(n_splits, smallest))
            print(f"{n_splits} folds, since the smallest class has {count(smallest, 'sample')}", flush=True)
    n_splits = min(n_splits, len(table.X))
    protocol = yaml.safe_load((conf_folder() / "protocol" / "paper.yaml").read_text(encoding="utf-8"))
    fits = n_splits * arguments.repeats
    print(
        f"selection curve: {arguments.repeats} x {n_splits} folds, ranked in each{_about(fits * seconds)}",
        flush=True,
    )
    shown = sys.stderr.isatty()

    def progress(done: int, of: int) -> None:
        if shown:
            print(
                f"\r  fold {done} of {of}{chr(13) if done == of else ''}", end="", file=sys.stderr, flush=True
            )

    return selection_curve(
        weigh,
        table.X,
        table.y,
        task=table.task,
        sizes=feature_grid(table.X.shape[1], 50),
        learner=protocol["multilabel_learner" if table.task == "labels" else "learner"],
        n_splits=n_splits,
        n_repeats=arguments.repeats,
        seed=arguments.seed,
        categories={place: len(values) for place, values in table.categories.items()},
        progress=progress,
    )


def _about(seconds: float) -> str:
    return f" (about {duration(seconds)})" if seconds > _LONG else ""


def _certainty(
    table: Table, block: dict[str, Any], arguments: Any, keep: int, seconds: float
) -> tuple[Any, list[str]]:
    """Ask permutations and subsamples how sure the ranking is."""
    from experiments.report.ranked_table import Certainty
    from reliefe.inspection import permutation_test, stability

    p = table.X.shape[1]
    ranker = build({**block, "n_jobs": 1} if "n_jobs" in block else block)
    if not hasattr(ranker, "fit"):
        return Certainty(), [
            f"no p values and no stability: {block['display_name']} is a function, no estimator"
        ]
    given: dict[str, Any] = {"random_state": arguments.seed, "n_jobs": arguments.jobs or -1}
    found: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if arguments.permutations:
            null: Literal["pooled", "feature"] = "pooled" if p > _POOLED else "feature"
            expected = _about(arguments.permutations * seconds)
            print(
                f"permutation test: {arguments.permutations} permutations of the target{expected}", flush=True
            )
            test = permutation_test(
                ranker, table.X, table.y, n_permutations=arguments.permutations, null=null, **given
            )
            found |= {
                "p": test.p_values,
                "q": test.q_values,
                "n_permutations": arguments.permutations,
                "null": null,
            }
        if arguments.subsamples:
            n_chosen = min(keep, p)
            expected = _about(arguments.subsamples * seconds / 2)
            print(f"stability: {arguments.subsamples} halves of the samples{expected}", flush=True)
            stable = stability(
                ranker, table.X, table.y, n_features=n_chosen, n_subsamples=arguments.subsamples, **given
            )
            found |= {
                "frequency": stable.frequency,
                "phi": stable.stability,
                "lower": stable.lower,
                "upper": stable.upper,
                "n_chosen": n_chosen,
                "n_subsamples": arguments.subsamples,
            }
    told = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
    return Certainty(**found), list(dict.fromkeys(told))
