"""Rows of rankers with several numbers of iterations → quality against iterations."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.analysis.curves import mean_and_half_width
from experiments.analysis.groups import Group
from experiments.analysis.scores import fold_scores
from experiments.analysis.selection import Selection, complete_rows


def convergence(
    frame: pd.DataFrame | Selection, group: Group, *, measure: str = "aurf1", confidence: float = 0.95
) -> pd.DataFrame:
    """Average a measure for every number of iterations.

    Parameters
    ----------
    frame : DataFrame or Selection
        Rows.
    group : Group
        What was asked for.
    measure : str, default="aurf1"
        A key of :data:`experiments.analysis.scores.MEASURES`.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    DataFrame
        One line per data set × family of rankers × number of iterations, ascending: ``dataset``, ``ranker``,
        ``family``, ``label``, ``n_iterations`` (for "every sample once" the largest number of training rows of a
        fold), ``every_row`` (bool), ``mean``, ``lower``, ``upper`` (corrected resampled t; NaN with one fold),
        ``minimum``, ``maximum``, ``n_folds``. Rankers of which a fold is missing or failed are left out.

    Notes
    -----
    Source: the paper's section "Convergence to the final ranking".
    """
    rows = complete_rows(frame, group.expected)
    rows = rows.assign(value=fold_scores(rows, measure))
    families = group.families.set_index("ranker")
    lines = []
    for (dataset, ranker), mine in rows.groupby(["dataset", "ranker"], sort=False):
        of_ranker = families.loc[ranker]
        every_row = bool(np.isnan(of_ranker["n_iterations"]))
        n_iterations = int(mine["n_train"].max()) if every_row else int(of_ranker["n_iterations"])
        values, n_test, n_train = (
            mine[name].to_numpy(dtype=float) for name in ("value", "n_test", "n_train")
        )
        mean, half, n_folds = (
            each.item() for each in mean_and_half_width(values[:, None], n_test, n_train, confidence)
        )
        where = [dataset, ranker, of_ranker["family"], of_ranker["label"], n_iterations, every_row]
        ends = [np.nan, np.nan] if n_folds == 0 else [np.nanmin(values), np.nanmax(values)]
        lines.append([*where, mean, mean - half, mean + half, *ends, n_folds])
    columns = ["dataset", "ranker", "family", "label", "n_iterations", "every_row"]
    columns += ["mean", "lower", "upper", "minimum", "maximum", "n_folds"]
    found = pd.DataFrame(lines, columns=columns)
    order = {name: place for place, name in enumerate(dict.fromkeys(group.expected["dataset"]))}
    of_family = {name: place for place, name in enumerate(dict.fromkeys(group.families["family"]))}
    placed = found.assign(_dataset=found["dataset"].map(order), _family=found["family"].map(of_family))
    placed = placed.sort_values(["_dataset", "_family", "n_iterations"], kind="stable", ignore_index=True)
    return placed[columns]
