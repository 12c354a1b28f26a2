"""Which features a ranker chose: how often each is among the first 20 of a fold's ranking, and its mean place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from experiments.analysis.selection import PAIR, Selection, select
from experiments.analysis.ties import equalised
from experiments.metrics.top_features import TOP, TopFeatures, chosen_shares, top_features

#: Columns of the table of best features.
COLUMNS = [
    *PAIR,
    "place",
    "feature",
    "column",
    "chosen",
    "mean_rank",
    "mean_weight",
    "n_features",
    "n_folds",
    "folds_without",
    "folds_tied",
]


def best_features(
    frame: pd.DataFrame | Selection,
    expected: pd.DataFrame | None = None,
    *,
    names: Mapping[str, Sequence[str]] | None = None,
    most: int = TOP,
) -> pd.DataFrame:
    """List the features that each ranker chose most often on each data set.

    Of every ranker that is complete on a data set and whose rows hold rankings: ``dataset``, ``protocol``,
    ``ranker``, ``place`` (from 1), ``feature`` (its name; "feature 7", counted from 0, where no name is known),
    ``column`` (from 0), ``chosen`` (mean share over folds,
    :func:`experiments.metrics.top_features.chosen_shares`), ``mean_rank`` and ``mean_weight`` (over the folds
    in which it has or shares one of the first 20 places), ``n_features``, ``n_folds`` (whose rankings the rows
    hold), ``folds_without`` (complete ones without), ``folds_tied`` (folds in which the 20th and the 21st
    weight are equal).

    The most often chosen feature comes first; then the lower mean rank, then the lower column. Shares and ranks
    that differ by rounding alone are equal (:mod:`experiments.analysis.ties`). Equal weights share places and are
    chosen to equal shares, so ``chosen`` and ``mean_rank`` do not depend on the order of columns. Rows of earlier
    versions hold weights of all features, of which the same is computed.
    """
    parts = []
    for pair, rows in select(frame, expected).complete.groupby(PAIR, sort=False):
        kept = _tops(rows)
        if not kept:
            continue
        part = _counted(kept, most)
        own = None if names is None else names.get(pair[0])
        stored = _stored_names(rows) if own is None else {}
        columns = part["column"].tolist()
        part["feature"] = [
            str(own[column]) if own is not None else stored.get(column, f"feature {column}")
            for column in columns
        ]
        n_features = int(rows["n_features"].iloc[0])
        n_tied = sum(_is_tied(top.ranks, n_features) for top in kept)
        part = part.assign(
            **dict(zip(PAIR, pair, strict=True)),
            place=np.arange(1, len(part) + 1),
            n_features=n_features,
            n_folds=len(kept),
            folds_without=len(rows) - len(kept),
            folds_tied=n_tied,
        )
        parts.append(part[COLUMNS])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def _tops(rows: pd.DataFrame) -> list[TopFeatures]:
    """Return the first features of every fold; those of rows from earlier versions are found from their weights."""
    nothing = [None] * len(rows)
    stored = [rows.get(name, nothing) for name in ("top_columns", "top_ranks", "top_weights")]
    found = []
    for columns, ranks, own, weights in zip(*stored, rows.get("weights", nothing), strict=True):
        if columns is not None:
            floats = (np.asarray(values, dtype=np.float64) for values in (ranks, own))
            found.append(TopFeatures(np.asarray(columns, dtype=np.int64), *floats))
        elif weights is not None:
            found.append(top_features(weights))
    return found


def _counted(kept: Sequence[TopFeatures], most: int) -> pd.DataFrame:
    columns, place = np.unique(np.concatenate([top.columns for top in kept]), return_inverse=True)
    n_there = np.bincount(place, minlength=len(columns))
    chosen = np.concatenate([chosen_shares(top.ranks) for top in kept])
    part = pd.DataFrame(
        {
            "column": columns,
            "chosen": np.bincount(place, chosen, len(columns)) / len(kept),
            "mean_rank": np.bincount(place, np.concatenate([top.ranks for top in kept]), len(columns))
            / n_there,
            "mean_weight": np.bincount(place, np.concatenate([top.weights for top in kept]), len(columns))
            / n_there,
        }
    )
    order = np.lexsort((columns, equalised(part["mean_rank"]), -equalised(part["chosen"])))
    return part.iloc[order[:most]].reset_index(drop=True)


def _stored_names(rows: pd.DataFrame) -> dict[int, str]:
    if "top_names" not in rows:
        return {}
    found: dict[int, str] = {}
    for columns, names in zip(rows["top_columns"], rows["top_names"], strict=True):
        if columns is not None and names is not None:
            found.update(zip(map(int, columns), map(str, names), strict=True))
    return found


def _is_tied(ranks: np.ndarray, n_features: int) -> bool:
    """Whether equal weights stand on both sides of the end of the first places."""
    return len(ranks) != min(TOP, n_features)
