"""How stable rankers are: how alike the rankings of different folds of a data set are.

Two measures per data set and ranker: the area under FUJI of whole rankings, averaged over pairs of folds, and the
measure of Nogueira, Sechidis and Brown for the top features of all folds, with its confidence interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from experiments.analysis.selection import PAIR, Selection, select
from experiments.analysis.ties import equalised
from experiments.formatting import count
from experiments.metrics.stability import (
    fold_pairs,
    orders,
    ranking_stability,
    tied_cuts,
    top_sets,
)
from reliefe.agreement import selection_stability

#: How many top features of each fold make a set.
TOPS = (10, 50, 100)

#: As many rankers are named in a sentence; of more it is said how many.
_NAMED = 4

#: Why a ranker that is complete has no stability.
_NO_WEIGHTS = "the rows hold no weights"
_ONE_WEIGHTED = "one fold alone has weights, and stability is between folds"
_ONE_FOLD = "there is one fold, and stability is between folds"


def phi(top: int) -> str:
    """Return the column of a top set's stability; its interval stands in ``…_lower`` and ``…_upper``."""
    return f"phi_top_{top}"


def stability(
    frame: pd.DataFrame | Selection, expected: pd.DataFrame | None = None, *, tops: Sequence[int] = TOPS
) -> pd.DataFrame:
    """Compute how stable every ranker is on every data set.

    A line for each expected data set, protocol and ranker: ``dataset``, ``protocol``, ``ranker``,
    ``n_features``, ``n_folds`` (with weights, which the numbers are over), ``folds_without`` (complete ones
    without weights), ``n_pairs`` (of folds, :func:`experiments.metrics.stability.fold_pairs`),
    ``aufuji``, for each size ``phi_top_10``, ``phi_top_10_lower``, ``phi_top_10_upper`` and ``tied_top_10``
    (in how many folds the weights of the tenth and the eleventh are equal), and ``reason``: why there are no
    numbers, in words, else "". A top set that holds all features has no stability: NaN.
    """
    selection = select(frame, expected)
    covered = selection.coverage
    groups = dict(iter(selection.rows.groupby(PAIR, sort=False)["weights"]))
    lines = []
    for asked in covered.to_dict("records"):
        pair = tuple(asked[name] for name in PAIR)
        line = dict(zip(PAIR, pair, strict=True))
        lists = groups.get(pair, pd.Series(dtype=object))
        kept = lists.dropna()
        line["reason"] = str(asked["reason"]) if not asked["complete"] else _why_not(lists, kept)
        if not line["reason"]:
            line |= _measured(kept, tops, f"{asked['dataset']} × {asked['ranker']}")
            line["folds_without"] = len(lists) - len(kept)
        lines.append(line)
    counts = ["n_features", "n_folds", "folds_without", "n_pairs"]
    measured = [
        name
        for top in tops
        for name in (phi(top), f"{phi(top)}_lower", f"{phi(top)}_upper", f"tied_top_{top}")
    ]
    found = pd.DataFrame(lines, columns=[*PAIR, *counts, "aufuji", *measured, "reason"])
    whole = [*counts, *(f"tied_top_{top}" for top in tops)]
    numbers = {name: "Int64" if name in whole else "float64" for name in found.columns[3:-1]}
    found = found.astype(numbers)
    # What is compared, the rankers of one data set, is equal where it differs by rounding alone.
    by_dataset = found.groupby(["dataset", "protocol"], sort=False)
    return found.assign(aufuji=by_dataset["aufuji"].transform(equalised))


def stability_table(found: pd.DataFrame, column: str) -> pd.DataFrame:
    """Set one measure out as a table.

    Data sets × rankers, in the order of ``found``; NaN where there is no number. Data sets on which the
    measure is not defined for any ranker are left out.
    """
    table = found.pivot(index="dataset", columns="ranker", values=column)
    table = table.reindex(index=found["dataset"].unique(), columns=found["ranker"].unique())
    return table.dropna(how="all").astype(float)


def unstated(found: pd.DataFrame, labels: Mapping[str, str], tops: Sequence[int] = TOPS) -> list[str]:
    """Say what has no stability although it is complete.

    A sentence each, also for what is over a part of the folds; what is not complete is said where it is said
    of everything.
    """
    lines = []
    n_rankers = found.groupby("dataset")["ranker"].nunique()
    without = found[found["reason"].isin((_NO_WEIGHTS, _ONE_WEIGHTED, _ONE_FOLD))]
    for reason, part in without.groupby("reason", sort=False):
        # Data sets that lack the same rankers share a sentence.
        lacking: dict[tuple[str, ...], list[str]] = {}
        for dataset, mine in part.groupby("dataset", sort=False):
            everyone = len(mine) == n_rankers[dataset]
            lacking.setdefault(() if everyone else tuple(mine["ranker"]), []).append(str(dataset))
        for rankers, datasets in lacking.items():
            who = ", ".join(labels.get(name, name) for name in rankers)
            if len(rankers) > _NAMED:
                who = f"{len(rankers)} of {count(n_rankers[datasets[0]], 'ranker')}"
            lines.append(f"No stability of {who or 'all rankers'} on {', '.join(datasets)}: {reason}")
    partly = found[found["folds_without"].gt(0).fillna(False)]
    for (n_kept, n_bare), part in partly.groupby(["n_folds", "folds_without"], sort=False):
        whose = ", ".join(part["dataset"].unique())
        lines.append(
            f"Weights were kept of {n_kept} of {count(n_kept + n_bare, 'fold')}, which this is over: {whose}"
        )
    for top in tops:
        narrow = found.loc[found["n_features"].le(top).fillna(False), "dataset"].unique()
        if len(narrow):
            lines.append(f"The top {top} are all features, so nothing is chosen: {', '.join(narrow)}")
    return lines


def _why_not(lists: pd.Series, kept: pd.Series) -> str:
    if len(lists) < 2:
        return _ONE_FOLD if len(kept) else _NO_WEIGHTS
    if len(kept) < 2:
        return _ONE_WEIGHTED if len(kept) else _NO_WEIGHTS
    return ""


def _measured(lists: pd.Series, tops: Sequence[int], name: str) -> dict[str, float]:
    lengths = sorted({len(each) for each in lists})
    if len(lengths) > 1:
        raise ValueError(f"{name}: folds have weights of {' and '.join(map(str, lengths))} features")
    weights = np.stack([np.asarray(each, dtype=np.float64) for each in lists])
    n_folds, n_features = weights.shape
    line = {
        "n_features": n_features,
        "n_folds": n_folds,
        "n_pairs": len(fold_pairs(n_folds)),
        "aufuji": ranking_stability(weights),
    }
    order = orders(weights)
    for top in tops:
        column = phi(top)
        found = selection_stability(top_sets(order, top))
        line |= {column: found.value, f"{column}_lower": found.lower, f"{column}_upper": found.upper}
        line[f"tied_top_{top}"] = int(tied_cuts(weights, top).sum())
    return line
