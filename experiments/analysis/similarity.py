"""How alike rankers are: the area under FUJI of their weights, or of their rF1 curves, for every pair.

Two rankings of one data set are compared, the numbers averaged over data sets. Which one stands where in a
heat map comes from hierarchical clustering, so that groups of alike rankers are blocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from experiments.analysis.selection import Selection, select
from experiments.analysis.ties import equalised
from experiments.metrics.fuji import area_under_fuji, fuji_curve
from experiments.metrics.stability import rounding_as_zero

#: What can be compared: column of rows, and what is done about negative scores.
_SOURCES = {
    "weights": ("weights", "clip"),
    "rf1_micro": ("rf1_micro", "clip"),
    "rf1_macro": ("rf1_macro", "clip"),
}


def pairwise_fuji(
    frame: pd.DataFrame | Selection, expected: pd.DataFrame | None = None, *, on: str = "weights"
) -> pd.DataFrame:
    """Compute the area under FUJI of every two rankers on every data set.

    ``dataset``, ``protocol``, ``ranker_a``, ``ranker_b``, ``aufuji`` (0 … 1), a line for each two rankers
    that have every expected fold, in the order of the study. NaN where one of them has no rF1 at some
    number of features. Rankers of which a fold is missing or failed are left out;
    :func:`~experiments.analysis.selection.coverage` names them.
    """
    if on not in _SOURCES:
        raise ValueError(f"on must be one of {', '.join(_SOURCES)}, not {on!r}")
    column, negative = _SOURCES[on]
    rows = select(frame, expected).complete
    rows = rows[rows[column].notna()]
    lines = []
    for (dataset, protocol), group in rows.groupby(["dataset", "protocol"], sort=False):
        scores = {
            ranker: _mean_of_lists(lists, f"{dataset} × {ranker}")
            for ranker, lists in group.groupby("ranker", sort=False)[column]
        }
        if column == "weights":
            scores = {ranker: rounding_as_zero(mean) for ranker, mean in scores.items()}
        for a, b in itertools.combinations(scores, 2):
            if len(scores[a]) != len(scores[b]):
                raise ValueError(
                    f"{dataset}: {a} has {len(scores[a])} values of {column}, {b} has {len(scores[b])}"
                )
            known = np.isfinite(scores[a]).all() and np.isfinite(scores[b]).all()
            area = area_under_fuji(fuji_curve(scores[a], scores[b], negative)) if known else np.nan
            lines.append([dataset, protocol, a, b, area])
    return pd.DataFrame(lines, columns=["dataset", "protocol", "ranker_a", "ranker_b", "aufuji"]).astype(
        {"aufuji": float}
    )


def similarity_matrix(pairs: pd.DataFrame) -> pd.DataFrame:
    """Average over data sets, and put alike rankers next to each other.

    Rankers × rankers, symmetric, 1 on the diagonal, both axes in the order of :func:`cluster_order`. A
    mean is over the data sets where both rankers have a value, and NaN where there is none. Means that differ
    by rounding alone are one number.
    """
    names = list(dict.fromkeys([*pairs["ranker_a"], *pairs["ranker_b"]]))
    place = {name: number for number, name in enumerate(names)}
    # The same two rankers may stand in either order when data sets come from several studies.
    a, b = pairs["ranker_a"].map(place).to_numpy(dtype=int), pairs["ranker_b"].map(place).to_numpy(dtype=int)
    mean = pairs["aufuji"].groupby([np.minimum(a, b), np.maximum(a, b)]).mean()
    values = np.full((len(names), len(names)), np.nan)
    first, second = (mean.index.get_level_values(level).to_numpy(dtype=int) for level in (0, 1))
    values[first, second] = values[second, first] = mean
    np.fill_diagonal(values, 1.0)
    # "Most alike", and what is written as 1, must not depend on the last digit of a mean.
    values = equalised(values)
    matrix = pd.DataFrame(values, index=names, columns=names)
    order = cluster_order(matrix)
    return matrix.loc[order, order]


def cluster_order(matrix: pd.DataFrame) -> list[str]:
    """Order rankers so that alike ones are neighbours.

    Leaves of the tree of average linkage on 1 − similarity, turned so that neighbours are as alike as can
    be.
    """
    if len(matrix) < 3:
        return list(matrix.index)
    # Of similarities, not of distances: 1 − similarity has lost its leading digits.
    distance = 1.0 - equalised(np.nan_to_num(matrix.to_numpy(dtype=np.float64), nan=0.0))
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), method="average", optimal_ordering=True)
    return [matrix.index[place] for place in leaves_list(tree)]


def _mean_of_lists(lists: pd.Series, name: str) -> np.ndarray:
    lengths = {len(each) for each in lists}
    if len(lengths) > 1:
        raise ValueError(f"{name}: folds have lists of {sorted(lengths)} values")
    values = np.array([np.asarray(each, dtype=np.float64) for each in lists])
    # Where rF1 is undefined in a fold, it is in no mean (NaN only when it is undefined in all).
    defined = np.isfinite(values)
    total = np.where(defined, values, 0.0).sum(axis=0)
    return np.divide(total, defined.sum(axis=0), out=np.full(len(total), np.nan), where=defined.any(axis=0))


def block_means(similarity: pd.DataFrame, names: Sequence[str]) -> tuple[float, float]:
    """Average the pairs inside a block, and all other pairs.

    Mean inside, mean of all other pairs; NaN where there is no pair with a number.
    """
    inside = similarity.index.isin(list(names))
    both = inside[:, None] & inside[None, :]
    return _mean_of_pairs(similarity, both), _mean_of_pairs(similarity, ~both)


def between(similarity: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]) -> float:
    """Average the pairs of one ranker from each of two blocks.

    NaN when there is no pair with a number.
    """
    one, other = (similarity.index.isin(list(names)) for names in (rows, columns))
    return _mean_of_pairs(similarity, (one[:, None] & other[None, :]) | (other[:, None] & one[None, :]))


def _mean_of_pairs(similarity: pd.DataFrame, chosen: np.ndarray) -> float:
    upper = np.triu(np.ones(similarity.shape, dtype=bool), k=1)
    values = similarity.to_numpy(dtype=float)[chosen & upper]
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else np.nan
