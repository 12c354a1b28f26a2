"""The computations behind ``rank``: ranker, selection curve, permutations and subsamples for one table."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml

from experiments.cli.rank_arguments import command, option
from experiments.config.compose import names as names_of_files
from experiments.datasets.classes import is_numeric_target
from experiments.datasets.table import Table
from experiments.errors import BadInputError, wrong_name
from experiments.evaluation.selection_curve import selection_curve, smallest_within_one_error
from experiments.formatting import count, duration
from experiments.metrics.relative_f1 import feature_grid
from experiments.paths import conf_folder
from experiments.rankers import build, rank
from experiments.rankers.adapters import call, seed_estimator
from reliefe.ranking import ranks

#: MultiSURF, which looks at all pairs of samples, up to so many.
_ALL_PAIRS = 2000
#: With more features than this, weights are compared with those of all features.
_POOLED = 100
#: Longer waits, seconds, are told of beforehand.
_LONG = 60.0


def chosen_ranker(table: Table, arguments: Any) -> tuple[str, dict[str, Any], str]:
    """Choose the ranker and tell it what the table holds.

    Parameters
    ----------
    table : Table
        The table.
    arguments : argparse.Namespace
        As typed.

    Returns
    -------
    key : str
        Its name in ``conf/ranker``.
    block : dict
        Its block, with parameters for missing values, categories and numeric targets.
    why : str
        Why it was taken.

    Raises
    ------
    BadInputError
        For a ranker that there is not, or that cannot take what the table holds.
    """
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
    parameters = build(block).get_params(deep=True) if not block.get("_partial_") else {}
    if table.missing.any():
        if "missing" in parameters:
            block["missing"] = "ignore"
        elif "estimator__missing" in parameters:  # a ranker that fits another one
            block["estimator"] = {**block["estimator"], "missing": "ignore"}
        else:
            raise BadInputError(
                f"{block['display_name']} takes no missing values, and the table has "
                f"{int(table.missing.sum())}; use {option('--ranker', 'multisurf')} or relieff, or fill them in"
            )
    several = [place for place, values in table.categories.items() if len(values) > 2]
    if table.categories and "discrete_features" in parameters:
        block["discrete_features"] = sorted(table.categories)
    elif several:
        raise BadInputError(
            f"{block['display_name']} takes no categories, and {table.names[several[0]]!r} is one; use "
            f"{option('--ranker', 'multisurf')} or relieff, or {option('--leave-out', table.names[several[0]])}"
        )
    if table.task == "numbers":
        if "target" in parameters:
            block["target"] = "regression"
        elif "estimator__target" in parameters:
            block["estimator"] = {**block["estimator"], "target": "regression"}
        else:
            raise BadInputError(
                f"{block['display_name']} takes no numeric target; use {option('--ranker', 'relieff')} (RReliefF) "
                f"or multisurf{', or --as classes' if could_be_classes(table) else ''}"
            )
        block["display_name"] = block["display_name"].replace("ReliefF", "RReliefF")
    return key, block, why


def could_be_classes(table: Table) -> bool:
    """Whether the numbers of a target may be taken for classes, each number for one.

    Parameters
    ----------
    table : Table
        With a numeric target.

    Returns
    -------
    bool
    """
    return not is_numeric_target([f"{value:.17g}" for value in np.unique(table.y)], len(table.y))


def ranked_table(
    table: Table,
    arguments: Any,
    argv: Sequence[str],
    chosen: tuple[str, dict[str, Any], str],
    notes: Sequence[str],
    settings: dict[str, Any],
) -> Any:
    """Rank the features, and find out how many to keep and how sure that is.

    Parameters
    ----------
    table : Table
        The table.
    arguments : argparse.Namespace
        As typed.
    argv : sequence of str
        The same as words.
    chosen : (str, dict, str)
        From :func:`chosen_ranker`.
    notes : sequence of str
        What was noticed about the table.
    settings : dict
        What decides the numbers.

    Returns
    -------
    RankedTable

    Raises
    ------
    BadInputError
        For what the ranker says of the table.
    """
    from experiments.report.ranking_result import Curve, RankedTable

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
    found = _curve(weigh, table, arguments)
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
    certainty = _certainty(table, block, arguments, weights, keep, seconds)
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
        notes,
        command(argv),
        settings,
    )


def _warm_up(weigh: Any, table: Table) -> None:
    """Fit on a few made-up samples, so that what is timed next does not compile."""
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
    weigh(X, y, 0)


def _curve(weigh: Any, table: Table, arguments: Any) -> Any:
    n_splits = _n_folds(table, arguments.folds)
    protocol = yaml.safe_load((conf_folder() / "protocol" / "paper.yaml").read_text(encoding="utf-8"))
    print(f"selection curve: {arguments.repeats} x {n_splits} folds, ranked in each", flush=True)
    shown = sys.stderr.isatty()
    ended: list[float] = []

    def progress(done: int, of: int) -> None:
        # The first fold may have compiled, and waited for what is loaded once.
        ended.append(time.perf_counter())
        if done == 2:
            _say_if_long((of - 2) * (ended[1] - ended[0]))
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


def _n_folds(table: Table, wanted: int) -> int:
    """Choose as many folds as two classes have samples for, and name classes that are not in every test fold."""
    if table.task == "labels":
        return min(wanted, len(table.X))
    if table.task == "numbers":  # R² takes two test samples
        n_splits = min(wanted, len(table.X) // 2)
        if n_splits < wanted:
            print(f"{n_splits} folds, not {wanted}: R² takes two samples in each", flush=True)
        return n_splits
    sizes = np.bincount(table.y, minlength=len(table.class_names))
    n_splits = max(2, min(wanted, int(np.sort(sizes)[-2])))
    if n_splits < wanted:
        largest = table.class_names[int(sizes.argmax())]
        print(
            f"{n_splits} folds, not {wanted}: there are few samples of other classes than {largest!r}",
            flush=True,
        )
    small = [f"{table.class_names[code]} ({sizes[code]})" for code in np.flatnonzero(sizes < n_splits)]
    if small:
        shown = ", ".join(small[:10]) + (f" and {len(small) - 10} more" if len(small) > 10 else "")
        print(f"classes with fewer samples than {n_splits}, so not in every test fold: {shown}", flush=True)
    return n_splits


def _say_if_long(seconds: float) -> None:
    if seconds > _LONG:
        print(f"  about {duration(seconds)} left of it", flush=True)


def forecast(some: Callable[[int], Any], number: int) -> float:
    """Time a computation for two small numbers, a 100th and a 25th, and say what it takes for a large one.

    Parameters
    ----------
    some : callable
        Does the computation for a number of permutations or subsamples. What it warns of is not said.
    number : int
        The large number.

    Returns
    -------
    float
        Seconds: those of the first trial, and its rise to the second one for every further permutation. Where
        distances are found once for all permutations, they are in the first part alone.
    """
    few = max(number // 100, 2), max(number // 25, 8)
    took = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        some(2)  # compiles what the others need
        for each in few:
            begun = time.perf_counter()
            some(each)
            took.append(time.perf_counter() - begun)
    rise = max(took[1] - took[0], 0.0) / (few[1] - few[0])
    return took[0] + rise * max(number - few[0], 0)


def _certainty(
    table: Table, block: dict[str, Any], arguments: Any, weights: np.ndarray, keep: int, seconds: float
) -> Any:
    """Ask permutations and subsamples how sure the ranking is; what they cannot say is warned of."""
    from experiments.report.ranking_result import Certainty
    from reliefe.inspection import permutation_test, stability

    p = table.X.shape[1]
    ranker = build({**block, "n_jobs": 1} if "n_jobs" in block else block)
    if not hasattr(ranker, "fit"):
        warnings.warn(
            f"no p values and no stability: {block['display_name']} is a function, no estimator", stacklevel=2
        )
        return Certainty()
    seed_estimator(ranker, arguments.seed)  # p is to be that of the weight that is shown
    given: dict[str, Any] = {"random_state": arguments.seed, "n_jobs": arguments.jobs or -1}
    found: dict[str, Any] = {}
    data = (ranker, table.X, table.y)
    null: Literal["pooled", "feature"] = "pooled" if p > _POOLED else "feature"

    def permute() -> dict[str, Any]:
        number = arguments.permutations
        print(f"permutation test: {count(number, 'permutation')} of the target", flush=True)
        settings = {"null": null, **given}
        if number * seconds > _LONG:  # one by one, of which the test saves a part
            _say_if_long(
                forecast(lambda few: permutation_test(*data, n_permutations=few, **settings), number)
            )
        test = permutation_test(*data, n_permutations=number, **settings)
        if not np.allclose(test.weights, weights, rtol=1e-9, atol=1e-12 * np.abs(weights).max(initial=1.0)):
            raise RuntimeError(f"{block['display_name']} gives other weights when it is fitted again")
        return {"p": test.p_values, "q": test.q_values, "n_permutations": number, "null": null}

    def subsample() -> dict[str, Any]:
        number, n_chosen = arguments.subsamples, min(keep, p)
        print(f"stability: {count(number, 'half', 'halves')} of the samples", flush=True)
        if number * seconds > _LONG:
            fits = {"n_features": n_chosen, **given}
            _say_if_long(forecast(lambda few: stability(*data, n_subsamples=few, **fits), number))
        stable = stability(ranker, table.X, table.y, n_features=n_chosen, n_subsamples=number, **given)
        return {
            "frequency": stable.frequency,
            "phi": stable.stability,
            "lower": stable.lower,
            "upper": stable.upper,
            "n_chosen": n_chosen,
            "n_subsamples": number,
        }

    steps: list[tuple[str, int, Callable[[], dict[str, Any]]]] = [
        ("no p and q values", arguments.permutations, permute),
        ("no stability", arguments.subsamples, subsample),
    ]
    for without, number, step in steps:
        try:
            found |= step() if number else {}
        except (ValueError, RuntimeError) as error:  # the ranking and the curve are worth having
            warnings.warn(f"{without}: {error}", stacklevel=2)
    return Certainty(**found)
