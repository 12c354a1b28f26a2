"""Rankers that are one and the same on some data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

#: Of two names of rankers, the part that only one has: they are the same where features have two values.
_OPTION = "_absmean"
#: Weights and scores this close to one another are equal, as a share of the largest.
_CLOSE = 1e-9


@dataclass(frozen=True)
class Same:
    """Two rankers that are the same on some data sets.

    Attributes
    ----------
    one, other : str
        The rankers; ``other`` is ``one`` with the absMean update.
    datasets : tuple of str
        Where they are the same.
    """

    one: str
    other: str
    datasets: tuple[str, ...]


def same_rankers(rows: pd.DataFrame) -> tuple[Same, ...]:
    """Find rankers that are the same with and without the absMean update.

    Parameters
    ----------
    rows : DataFrame
        Rows with status "ok", of whole cells: ``dataset``, ``ranker``, ``repeat``, ``fold``, ``f1_micro``,
        ``weights``.

    Returns
    -------
    tuple of Same
        Pairs that have the same F1 at every number of features in every fold of a data set, and the same weights to
        rounding in the folds whose weights are there.

    Notes
    -----
    |x − mean of the neighbours| is the mean of |x − neighbour| where all features have two values. The paper
    compares both updates there, as if they were two rankers.
    """
    names = list(dict.fromkeys(rows["ranker"]))
    pairs = [(name.replace(_OPTION, ""), name) for name in names if _OPTION in name]
    pairs = [(one, other) for one, other in pairs if one in names]
    wanted = {name for pair in pairs for name in pair}
    rows = rows[rows["ranker"].isin(wanted)]
    cells = {
        (str(dataset), str(ranker)): mine.set_index(["repeat", "fold"]).sort_index()
        for (dataset, ranker), mine in rows.groupby(["dataset", "ranker"], sort=False)
    }
    datasets = list(dict.fromkeys(rows["dataset"]))
    found = []
    for one, other in pairs:
        both = [
            dataset
            for dataset in datasets
            if (dataset, one) in cells
            and (dataset, other) in cells
            and _equal(cells[dataset, one], cells[dataset, other])
        ]
        if both:
            found.append(Same(one, other, tuple(both)))
    return tuple(found)


def _equal(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    if not one.index.equals(other.index):
        return False
    for a, b in zip(one["f1_micro"], other["f1_micro"], strict=True):
        if not _close(a, b):
            return False
    if "weights" not in one or "weights" not in other:
        return True
    return all(
        _close(a, b)
        for a, b in zip(one["weights"], other["weights"], strict=True)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    )


def _close(a, b) -> bool:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape:
        return False
    return bool(np.abs(a - b).max(initial=0.0) <= _CLOSE * np.abs(a).max(initial=0.0))
