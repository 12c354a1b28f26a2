"""Tables of the rankings of folds: which features rankers chose, and how stable that is; CSV and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from experiments.analysis.comparison import Comparison
from experiments.analysis.scores import averages
from experiments.analysis.stability import TOPS, phi, stability_table, unstated
from experiments.formatting import count, percent
from experiments.metrics.top_features import TOP
from experiments.report.tables import Tables, formula, three

#: Of each data set and ranker, so many features stand in the LaTeX table.
_SHOWN_FEATURES = 3
#: What of a frame of best features stands in a CSV table.
_LEFT_OUT = ["protocol"]
#: Of the sizes of top sets, the one that LaTeX shows for every data set.
_SHOWN_TOP = TOPS[0]
_PHI = formula(r"\Phi")


def write_best_features(comparison: Comparison, results: Path) -> list[Path]:
    """Write which features the rankers of a group chose."""
    group, found = comparison.group, comparison.best_features
    tables = Tables(results)
    tables.csv(found.drop(columns=_LEFT_OUT), group.name, "best_features")
    firsts = found[found["place"] <= _SHOWN_FEATURES]
    texts = {
        pair: "; ".join(f"{line.feature} ({percent(line.chosen)})" for line in part.itertuples())
        for pair, part in firsts.groupby(["dataset", "ranker"], sort=False)
    }
    shown = _by_dataset(comparison, found["dataset"].unique(), texts)
    tables.latex(
        shown,
        group.name,
        "best_features",
        caption=f"Features that rankers chose most often in the study {group.study}, {group.extent}; in brackets "
        f"the share of folds in which the feature is among the first {TOP}.",
        notes=[*best_features_notes(found), *(f"Missing: {line}." for line in comparison.missing_lines)],
        columns="l" * shown.shape[1],
    )
    return tables.written


def write_best_features_of_pair(found: pd.DataFrame, stem: str, results: Path) -> list[Path]:
    """Write which features the rankers chose on one data set."""
    if not len(found):
        return []
    tables = Tables(results)
    tables.csv(found.drop(columns=_LEFT_OUT), stem, "best_features")
    return tables.written


def best_features_notes(found: pd.DataFrame) -> list[str]:
    """Say over how many folds the shares are where it is not all of them, and where nothing is chosen."""
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


def write_stability(comparison: Comparison, results: Path) -> list[Path]:
    """Write how stable the rankers of a group are."""
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
    """Set out the top features' stability on each data set."""
    texts = {
        (line["dataset"], line["ranker"]): _interval(line) for line in comparison.stability.to_dict("records")
    }
    return _by_dataset(comparison, comparison.stability["dataset"].unique(), texts)


def _by_dataset(
    comparison: Comparison, datasets: Iterable[str], texts: Mapping[tuple[str, str], str]
) -> pd.DataFrame:
    """Set out the texts of (data set, ranker): a line for each ranker, a column for each data set."""
    shown = {"Ranker": [comparison.labels[ranker] for ranker in comparison.rankers]}
    for dataset in datasets:
        shown[str(dataset)] = [texts.get((dataset, ranker), "–") for ranker in comparison.rankers]
    return pd.DataFrame(shown)


def _interval(line: dict) -> str:
    value, lower, upper = (line[f"{phi(_SHOWN_TOP)}{end}"] for end in ("", "_lower", "_upper"))
    return three(value) + ("" if pd.isna(lower) else f" [{lower:.3f}, {upper:.3f}]")
