"""Rows of rankings with wanted means, for checks of the paper's claims."""

from dataclasses import replace

import numpy as np
import pandas as pd
from made_up_rows import config

from experiments.analysis.claims import check as claims
from experiments.analysis.claims.cells import expand, pool_of
from experiments.analysis.pairs import Posteriors

GRID = (1, 5, 10, 50, 100, 150, 200, 250, 300, 400)
#: Folds and repeats that count as the paper's in tests.
EXTENTS = {"mcc": (4, 1), "mlc": (4, 1), "convergence": (3, 1)}
FLAT = np.ones(len(GRID))


def rows(
    table, *, seconds=None, areas=None, curves=None, folds=(4, 1), jitter=None, protocol="paper", seed=0,
    status="ok", **columns,
):  # fmt: skip
    """Rows of data sets × rankers.

    ``table``: data set → ranker → F1 along the whole curve (all features have 1, so that it is rF1 too);
    ``seconds``, ``areas`` (AUrF1): the same, or one mapping of rankers for all data sets; ``curves``: (data set,
    ranker) → curve; ``jitter``: (data set, ranker) → what is added fold by fold.
    """
    lines = []
    for dataset, scores in table.items():
        for ranker, score in scores.items():
            curve = np.asarray((curves or {}).get((dataset, ranker), FLAT * score), dtype=float)
            for place in range(folds[0] * folds[1]):
                repeat, fold = divmod(place, folds[0])
                more = (jitter or {}).get((dataset, ranker), np.zeros(folds[0] * folds[1]))[place]
                lines.append(
                    {
                        "kind": "ranking", "dataset": dataset, "ranker": ranker, "protocol": protocol,
                        "repeat": repeat, "fold": fold, "seed": seed, "status": status, "error": None,
                        "n_train": 90, "n_test": 10, "fit_seconds": _of(seconds, dataset, ranker, np.nan),
                        "grid": np.array(GRID), "f1_micro": curve + more, "f1_macro": curve + more,
                        "rf1_micro": curve + more, "aurf1_micro": _of(areas, dataset, ranker, score) + more,
                        "weights": None, "measurement": None, **columns,
                    }
                )  # fmt: skip
    return pd.DataFrame(lines)


def _of(numbers, dataset, ranker, otherwise):
    if numbers is None:
        return otherwise
    return numbers.get(dataset, numbers).get(ranker, otherwise)


def configs(table, task="multiclass", *, protocol="paper", folds=(4, 1), **settings):
    """What a study of these data sets × rankers asks for."""
    return [
        config(
            dataset,
            ranker,
            ranker,
            task=task,
            name=protocol,
            n_splits=folds[0],
            n_repeats=folds[1],
            **settings,
        )
        for dataset, scores in table.items()
        for ranker in scores
    ]


def study(table, task="multiclass", *, folds=(4, 1), protocol="paper", settings=None, **wanted):
    """Rows and configurations of one study."""
    asked = configs(table, task, folds=folds, protocol=protocol, **(settings or {}))
    return rows(table, folds=folds, protocol=protocol, **wanted), asked


def everywhere(scores, datasets=("chess", "madelon")):
    """The same rankers on several data sets: a score, or one for each data set."""
    return {
        dataset: {
            ranker: score[place] if isinstance(score, (tuple, list)) else score
            for ranker, score in scores.items()
        }
        for place, dataset in enumerate(datasets)
    }


def mcc(**scores):
    """All multi-class rankers at 0.5, but for those that are named."""
    return {ranker: 0.5 for ranker in expand("mcc_rankers")} | scores


def mlc(**scores):
    """All rankers of labels at 0.5, but for those that are named."""
    return {ranker: 0.5 for ranker in expand("mlc_rankers")} | scores


def claim(about, key):
    """Find a claim."""
    (found,) = [each for each in claims.all_claims() if (each.about, each.claim) == (about, key)]
    return found


def line(about, key, made, *, answers=None, extents=EXTENTS, datasets=None):
    """Check one claim, on the data sets that are there as if they were all of the paper's."""
    wanted = claim(about, key)
    there = tuple(dict.fromkeys(made[0]["dataset"])) if datasets is None else tuple(datasets)
    if wanted.general:
        wanted = replace(wanted, datasets=there)
    pool = pool_of([made], extents)
    return claims.check(pool, {about: answers}, claims=[wanted]).iloc[0]


def verdict(about, key, made, **settings):
    """The verdict of :func:`line`."""
    return line(about, key, made, **settings)["verdict"]


def posteriors(answers):
    """Posteriors of pairs: (a, b) → (P(a better), P(equal), P(b better))."""
    columns = ["ranker_a", "ranker_b", "p_a", "p_rope", "p_b"]
    return Posteriors(pd.DataFrame([[*pair, *three] for pair, three in answers.items()], columns=columns))
