"""The computations behind ``rank``: ranker, selection curve, permutations and subsamples for one table."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml
from scipy.stats import false_discovery_control

from experiments.cli.rank_arguments import command, option
from experiments.config.compose import names as names_of_files
from experiments.datasets.assignment import GROUPS, Assignment
from experiments.datasets.classes import is_numeric_target
from experiments.datasets.table import Table
from experiments.errors import BadInputError, wrong_name
from experiments.evaluation.alone import one_per_group, p_alone
from experiments.evaluation.selection_curve import act_together, selection_curve, smallest_within_one_error
from experiments.formatting import count
from experiments.metrics.relative_f1 import feature_grid
from experiments.paths import conf_folder
from experiments.rankers import build, rank
from experiments.rankers.adapters import call, seed_estimator
from reliefe.inspection.permutation import predicted_seconds
from reliefe.ranking import ranks

#: MultiSURF, which looks at all pairs of samples, up to so many.
_ALL_PAIRS = 2000
#: With the target permuted and more features than this, weights are compared with those of all features.
_POOLED = 100
#: Folds are drawn once where there are more samples.
_ONE_REPEAT = 5000
#: p is not from fewer samples than this for the sake of time.
_LEAST_TESTED = 500


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
    n, p = table.X.shape
    key, why, neighbours = arguments.ranker, "as asked for", None
    if key is None and table.task == "classes" and 2**p < n:  # benchmarks/few_features.py
        neighbours = max(10, int(np.sort(np.bincount(table.y))[0]) // 4)
        key, why = (
            "relieff",
            f"with {count(p, 'feature')}, {neighbours} neighbours find the relevant ones best",
        )
    elif key is None and table.task == "classes":
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
    block = {"display_name": key, **block, **({} if neighbours is None else {"n_neighbors": neighbours})}
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

    weights = weigh(table.X, table.y, seed)
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
        found.linear.mean(axis=(0, 1)),
        _together(found, keep),
        _guess(table),
    )
    certainty = _certainty(table, block, arguments, weights, keep)
    alone = _alone(table)
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
        alone,
    )


def _guess(table: Table) -> float | None:
    """Return the score of guessing the largest class, or the mean of numbers; None for labels."""
    if table.task == "classes":
        return float(np.bincount(table.y).max() / len(table.y))
    return 0.0 if table.task == "numbers" else None


def _warn_of_few_orders(groups: np.ndarray) -> None:
    """Warn where groups of equal size can be exchanged in few ways, which p cannot be below."""
    sizes = np.bincount(np.bincount(groups))  # how many groups have each size
    ways = math.prod(math.factorial(min(each, 7)) for each in sizes.tolist())
    if 1 < ways < 1000:
        warnings.warn(
            f"groups of equal size can be exchanged in {ways} ways only: no p of a feature that varies within "
            f"groups is below about {1 / ways:.2g}",
            stacklevel=2,
        )


def _together(found: Any, keep: int) -> int | None:
    place = act_together(found, int(np.flatnonzero(found.sizes == keep)[0]))
    return None if place is None else int(found.sizes[place])


def _alone(table: Table) -> np.ndarray | None:
    """Return the p value of each feature alone; from one value per group where there are groups."""
    X, y = table.X, table.y
    if table.groups is not None:
        single = one_per_group(X, y, table.groups, table.categories)
        if single is None:
            warnings.warn(
                "no p alone: it takes samples as independent, and the target varies within groups",
                stacklevel=2,
            )
            return None
        X, y = single
    return p_alone(X, y, table.task, table.categories)


def _curve(weigh: Any, table: Table, arguments: Any) -> Any:
    n_splits = _n_folds(table, arguments.folds)
    protocol = yaml.safe_load((conf_folder() / "protocol" / "paper.yaml").read_text(encoding="utf-8"))
    n_repeats = arguments.repeats or (3 if len(table.X) <= _ONE_REPEAT else 1)
    print(f"selection curve: {n_repeats} x {n_splits} folds, ranked in each", flush=True)
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
        learner=protocol["regression_learner" if table.task == "numbers" else "learner"],
        n_splits=n_splits,
        n_repeats=n_repeats,
        seed=arguments.seed,
        categories={place: len(values) for place, values in table.categories.items()},
        assignment=None if table.groups is None else Assignment.of(GROUPS, table.groups.tolist()),
        n_jobs=arguments.jobs or os.cpu_count() or 1,
        progress=progress,
    )


def _n_folds(table: Table, wanted: int) -> int:
    """Choose as many folds as two classes have samples for, and name classes that are not in every test fold."""
    n_groups = len(table.X) if table.groups is None else int(table.groups.max()) + 1
    if table.task == "labels":
        return min(wanted, n_groups)
    if table.task == "numbers":  # R² takes two test samples
        n_splits = min(wanted, len(table.X) // 2, n_groups)
        if n_splits < wanted:
            why = "there are few groups" if n_splits == n_groups else "R² takes two samples in each"
            print(f"{n_splits} folds, not {wanted}: {why}", flush=True)
        return n_splits
    members = np.arange(len(table.y)) if table.groups is None else table.groups
    sizes = np.bincount(
        np.unique(np.column_stack([table.y, members]), axis=0)[:, 0].astype(np.int64),
        minlength=len(table.class_names),
    )  # of groups, where there are some
    n_splits = max(2, min(wanted, int(np.sort(sizes)[-2])))
    if n_splits < wanted:
        unit = "samples" if table.groups is None else "groups"
        largest = table.class_names[int(sizes.argmax())]
        print(
            f"{n_splits} folds, not {wanted}: there are few {unit} of other classes than {largest!r}",
            flush=True,
        )
    small = [f"{table.class_names[code]} ({sizes[code]})" for code in np.flatnonzero(sizes < n_splits)]
    if small:
        shown = ", ".join(small[:10]) + (f" and {len(small) - 10} more" if len(small) > 10 else "")
        print(f"classes with fewer samples than {n_splits}, so not in every test fold: {shown}", flush=True)
    return n_splits


def with_more_permutations(
    p: np.ndarray,
    n_used: np.ndarray,
    again: Callable[[np.ndarray, int], Any],
    fits: Callable[[int, int], bool],
) -> tuple[np.ndarray, np.ndarray]:
    """Test features again that none of their permutations reached, until q can be 0.1 for so many: p and n_used.

    p stays valid: p ≤ x takes as few larger weights among the first permutations, or, where x is less than these
    allow, among all. ``again`` makes the test of some features with a number of permutations.
    """
    from experiments.report.ranking_result import LEVEL

    p, n_used = p.copy(), n_used.copy()
    while True:
        best = np.flatnonzero(p <= (1 + 1e-9) / (n_used + 1))
        needed = int(np.ceil(len(p) / (LEVEL * max(1, len(best)))))
        if not len(best) or needed <= n_used[best].min():
            return p, n_used
        if not fits(len(best), needed):
            warnings.warn(
                f"{count(len(best), 'feature')} of {len(p)} had no larger weight in any permutation, too few for "
                f"q <= {LEVEL:g} with so few; n_permutations={needed} or a larger --budget decides it",
                stacklevel=2,
            )
            return p, n_used
        test = again(best, needed)
        p[best], n_used[best] = test.p_values[best], test.n_used[best]


def tested_samples(
    table: Table, ranker: Any, budget: float, n_permutations: int, seed: int
) -> tuple[np.ndarray, Literal["feature", "target"]]:
    """Choose the samples that p and q are from, and what is permuted, by the predicted time alone.

    All samples where features can be permuted within the budget; else the largest random subset (stratified for
    classes, groups whole) for which they can, of 500 samples at least; else all, with the target permuted.
    """
    n = len(table.X)

    def fits(size: int) -> bool:  # which samples makes no difference, only how many
        return predicted_seconds(ranker, table.X[:size], table.y[:size], n_permutations) <= budget

    if fits(n):
        return np.arange(n), "feature"
    low, high = _LEAST_TESTED, n
    if n <= low or not fits(low):
        return np.arange(n), "target"
    while high - low > 50:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    order = _spread(table, np.random.default_rng(seed))
    if table.groups is not None:  # whole groups only: the last one may be cut
        last = table.groups[order[low - 1]]
        if table.groups[order[low]] == last:
            low = int(np.flatnonzero(table.groups[order] == last)[0])
    return np.sort(order[:low]), "feature"


def _spread(table: Table, rng: np.random.Generator) -> np.ndarray:
    """Order the samples at random so that the first of them have the shares of the classes; groups stay whole."""
    n = len(table.X)
    if table.groups is not None:
        order = rng.permutation(int(table.groups.max()) + 1)[table.groups]
        return np.argsort(order, kind="stable")
    place = rng.permutation(n)
    if table.task != "classes":
        return np.argsort(place)
    share = np.empty(n)
    for code in np.unique(table.y):
        members = np.flatnonzero(table.y == code)
        share[members] = (np.argsort(np.argsort(place[members])) + 0.5) / len(members)
    return np.lexsort((place, share))


def _certainty(table: Table, block: dict[str, Any], arguments: Any, weights: np.ndarray, keep: int) -> Any:
    """Ask permutations and subsamples how sure the ranking is; what they cannot say is warned of."""
    from experiments.report.ranking_result import Certainty
    from reliefe.inspection import permutation_test, stability

    n, p = table.X.shape
    ranker = build({**block, "n_jobs": 1} if "n_jobs" in block else block)
    if not hasattr(ranker, "fit"):
        warnings.warn(
            f"no p values and no stability: {block['display_name']} is a function, no estimator", stacklevel=2
        )
        return Certainty()
    seed_estimator(ranker, arguments.seed)  # p is to be that of the weight that is shown
    given: dict[str, Any] = {"random_state": arguments.seed, "n_jobs": arguments.jobs or -1}
    found: dict[str, Any] = {}

    number = 1000 if arguments.permutations is None else int(arguments.permutations)

    def permute() -> dict[str, Any]:
        rows, way = tested_samples(table, ranker, arguments.budget, number, arguments.seed)
        null: Literal["pooled", "feature"] = "pooled" if way == "target" and p > _POOLED else "feature"
        which = "" if len(rows) == n else f", {len(rows)} of {n} samples (--budget {arguments.budget})"
        of = "each feature, at most" if way == "feature" else "the target"
        print(f"permutation test: {count(number, 'permutation')} of {of}{which}", flush=True)
        X, y = table.X[rows], table.y[rows]
        groups = None if table.groups is None else table.groups[rows]
        if groups is not None:
            _warn_of_few_orders(np.unique(groups, return_inverse=True)[1])

        def made(features: np.ndarray | None, number: int) -> Any:
            with warnings.catch_warnings():
                if arguments.permutations is None and way == "feature":  # more are made where they can decide
                    warnings.filterwarnings("ignore", ".*larger weights than under any")
                return permutation_test(
                    ranker,
                    X,
                    y,
                    permute=way,
                    n_permutations=number,
                    null=null,
                    groups=groups,
                    features=features,
                    **given,
                )

        test = made(None, number)
        same = np.allclose(test.weights, weights, rtol=1e-9, atol=1e-12 * np.abs(weights).max(initial=1.0))
        if len(rows) == n and not same:
            raise RuntimeError(f"{block['display_name']} gives other weights when it is fitted again")
        p_values, n_used = test.p_values, test.n_used
        if way == "feature" and arguments.permutations is None:
            each = predicted_seconds(ranker, X, y, number, n_tested=3) / (3 * number)
            p_values, n_used = with_more_permutations(
                p_values, n_used, made, lambda features, number: features * number * each <= arguments.budget
            )
        return {
            "p": p_values,
            "q": false_discovery_control(p_values),
            "n_permutations": max(number, int(n_used.max())),
            "n_made": int(n_used.sum()) if way == "feature" else number,
            "null": null,
            "permute": way,
            "hypothesis": test.hypothesis,
            "n_tested": len(rows),
        }

    def subsample() -> dict[str, Any]:
        number, n_chosen = arguments.subsamples, min(keep, p)
        unit = "samples" if table.groups is None else "groups"
        print(f"stability: {count(number, 'half', 'halves')} of the {unit}", flush=True)
        stable = stability(
            ranker,
            table.X,
            table.y,
            n_features=n_chosen,
            n_subsamples=number,
            groups=table.groups,
            **given,
        )
        return {
            "frequency": stable.frequency,
            "phi": stable.stability,
            "lower": stable.lower,
            "upper": stable.upper,
            "n_chosen": n_chosen,
            "n_subsamples": number,
        }

    steps: list[tuple[str, int, Callable[[], dict[str, Any]]]] = [
        ("no p and q values", number, permute),
        ("no stability", arguments.subsamples, subsample),
    ]
    for without, times, step in steps:
        try:
            found |= step() if times else {}
        except (ValueError, RuntimeError) as error:  # the ranking and the curve are worth having
            warnings.warn(f"{without}: {error}", stacklevel=2)
    return Certainty(**found)
