"""Tables of stability between folds: CSV and LaTeX."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from experiments.analysis.comparison import Comparison
from experiments.analysis.scores import averages
from experiments.analysis.stability import TOPS, phi, stability_table, unstated
from experiments.report.tables import Tables, formula, three

#: Of the sizes of top sets, the one that LaTeX shows for every data set.
_SHOWN_TOP = TOPS[0]
_PHI = formula(r"\Phi")


def write(comparison: Comparison, results: Path) -> list[Path]:
    """Write how stable the rankers of a group are.

    Parameters
    ----------
    comparison : Comparison
        Its frames.
    results : Path
        The results folder.

    Returns
    -------
    list of Path
        ``tables/<group>_stability.csv`` (all numbers), ``_stability.tex`` (means over data sets) and
        ``_stability_datasets.tex`` (the top 10 on every data set).
    """
    group, found, labels = comparison.group, comparison.stability, comparison.labels
    tables = Tables(results)
    tables.csv(found, group.name, "stability")
    missing = [f"Missing: {line}." for line in comparison.missing_lines]
    notes = [*(f"{line}." for line in unstated(found, labels)), *missing]
    means, over = _means(comparison)
    tables.latex(
        means,
        group.name,
        "stability",
        caption=f"Stability between folds in the study {group.study}, {group.extent}: mean and standard deviation "
        f"over data sets that all compared rankers share. {_PHI} is the measure of Nogueira, Sechidis and Brown.",
        notes=[*over, *notes],
    )
    tables.latex(
        _of_each(comparison),
        group.name,
        "stability_datasets",
        caption=f"Stability between folds of the top {_SHOWN_TOP} features ({_PHI}, with its 95 % confidence "
        f"interval) in the study {group.study}, {group.extent}.",
        notes=notes,
    )
    return tables.written


def _means(comparison: Comparison) -> tuple[pd.DataFrame, list[str]]:
    """Average over data sets; also say over which."""
    shown, over = {"Ranker": [comparison.labels[ranker] for ranker in comparison.rankers]}, []
    for column, title in {"aufuji": "AUFUJI", **{phi(top): f"{_PHI} top {top}" for top in TOPS}}.items():
        means = averages(stability_table(comparison.stability, column))
        own = {
            line.ranker: three(line.mean) + ("" if pd.isna(line.sd) else f" ± {line.sd:.3f}")
            for line in means.itertuples()
        }
        shown[title] = [own.get(ranker, "–") for ranker in comparison.rankers]
        over.append(f"{title}: {', '.join(means.attrs['datasets']) or 'no data set'}.")
    return pd.DataFrame(shown), over


def _of_each(comparison: Comparison) -> pd.DataFrame:
    """Set out the top features' stability: a line for each ranker, a column for each data set."""
    texts = {
        (line["dataset"], line["ranker"]): _interval(line) for line in comparison.stability.to_dict("records")
    }
    shown = {"Ranker": [comparison.labels[ranker] for ranker in comparison.rankers]}
    for dataset in comparison.stability["dataset"].unique():
        shown[str(dataset)] = [texts.get((dataset, ranker), "–") for ranker in comparison.rankers]
    return pd.DataFrame(shown)


def _interval(line: dict) -> str:
    value, lower, upper = (line[f"{phi(_SHOWN_TOP)}{end}"] for end in ("", "_lower", "_upper"))
    return three(value) + ("" if pd.isna(lower) else f" [{lower:.3f}, {upper:.3f}]")
