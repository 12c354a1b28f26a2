"""Tables of the features that rankers chose: CSV and LaTeX."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.analysis.comparison import Comparison
from experiments.formatting import count, percent
from experiments.metrics.top_features import TOP
from experiments.report.tables import Tables

#: Of each data set and ranker, so many features stand in the LaTeX table.
_SHOWN = 3
#: What of a frame of best features stands in a CSV table.
_LEFT_OUT = ["protocol"]


def write(comparison: Comparison, results: Path) -> list[Path]:
    """Write which features the rankers of a group chose.

    Parameters
    ----------
    comparison : Comparison
        Its frames.
    results : Path
        The results folder.

    Returns
    -------
    list of Path
        ``tables/<group>_best_features.csv`` (the best 20 of every data set and ranker) and ``.tex`` (the best
        three).
    """
    group, found, labels = comparison.group, comparison.best_features, comparison.labels
    tables = Tables(results)
    tables.csv(found.drop(columns=_LEFT_OUT), group.name, "best_features")
    firsts = found[found["place"] <= _SHOWN]
    texts = {
        pair: "; ".join(f"{line.feature} ({percent(line.chosen)})" for line in part.itertuples())
        for pair, part in firsts.groupby(["dataset", "ranker"], sort=False)
    }
    shown = {"Ranker": [labels[ranker] for ranker in comparison.rankers]}
    for dataset in found["dataset"].unique():
        shown[str(dataset)] = [texts.get((dataset, ranker), "–") for ranker in comparison.rankers]
    tables.latex(
        pd.DataFrame(shown),
        group.name,
        "best_features",
        caption=f"Features that rankers chose most often in the study {group.study}, {group.extent}; in brackets "
        f"the share of folds in which the feature is among the first {TOP}.",
        notes=[*notes(found), *(f"Missing: {line}." for line in comparison.missing_lines)],
        columns="l" * len(shown),
    )
    return tables.written


def write_pair(found: pd.DataFrame, stem: str, results: Path) -> list[Path]:
    """Write which features the rankers chose on one data set.

    Parameters
    ----------
    found : DataFrame
        From :func:`experiments.analysis.best_features.best_features`, one data set and protocol.
    stem : str
        How the data set's files begin.
    results : Path
        The results folder.

    Returns
    -------
    list of Path
        ``tables/<stem>_best_features.csv``; none where the rows hold no rankings.
    """
    if not len(found):
        return []
    tables = Tables(results)
    tables.csv(found.drop(columns=_LEFT_OUT), stem, "best_features")
    return tables.written


def notes(found: pd.DataFrame) -> list[str]:
    """Say over how many folds the shares are where it is not all of them, and where nothing is chosen.

    Parameters
    ----------
    found : DataFrame
        From :func:`experiments.analysis.best_features.best_features`.

    Returns
    -------
    list of str
        A sentence each.
    """
    lines = []
    first = found.drop_duplicates(["dataset", "ranker"])
    partly = first[first["folds_without"] > 0]
    for (n_kept, n_bare), part in partly.groupby(["n_folds", "folds_without"], sort=False):
        whose = ", ".join(map(str, part["dataset"].unique()))
        lines.append(f"Rankings were kept of {n_kept} of {count(n_kept + n_bare, 'fold')}: {whose}.")
    if len(first) == 1 and (n_tied := int(first["folds_tied"].iloc[0])):
        lines.append(f"In {count(n_tied, 'fold')} equal weights share the places up to the {TOP}th.")
    narrow = first.loc[first["n_features"] <= TOP, "dataset"].unique()
    if len(narrow):
        lines.append(f"All features are among the first {TOP}: {', '.join(map(str, narrow))}.")
    return lines
