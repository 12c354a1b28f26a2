"""Tables of a study: frames as CSV with all digits; ranks, scores and data sets as LaTeX (booktabs) too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from experiments.analysis.comparison import Comparison
from experiments.analysis.data_sets import dataset_table
from experiments.analysis.scores import DIAGRAMS
from experiments.formatting import count, fixed, rank_shown
from experiments.metrics.top_features import TOP
from experiments.paths import file_stem, write_whole


def write_csv(frame: pd.DataFrame, results: Path, *stem: str, index: bool = False) -> Path:
    """Write a frame to ``tables/<stem>.csv``."""
    text = frame.to_csv(index=index, lineterminator="\n")
    return write_whole(Path(results) / "tables" / f"{file_stem(*stem)}.csv", text.encode())


def write_group(frame: pd.DataFrame, comparison: Comparison, results: Path) -> list[Path]:
    """Write all tables of a group: ``tables/<group>_<table>.csv``, and three as ``.tex``."""
    c, name = comparison, comparison.group.name
    sizes, ranks = dataset_table(frame, c.group), _ranks(c)
    tables = {
        "datasets": sizes,
        "missing": c.missing,
        "best_features": c.best_features.drop(columns="protocol"),
    }
    if c.group.varies_iterations:
        tables |= {"convergence": c.convergence}
    else:
        tables |= {"scores": _scores(c), "ranks": c.group.kind.columns(ranks), "stability": c.stability}
        tables |= {c.measures[key].key: c.averages[key] for key in ("aurf1", "best_f1", "fit_seconds")}
        tables |= {} if c.posterior is None else {"posterior": c.posterior.table}
    written = [write_csv(table, results, name, title) for title, table in tables.items()]
    written.append(_write_latex(_sizes_shown(sizes), c, results, "datasets", "Data sets."))
    if c.group.varies_iterations:
        return written
    for kind, matrix in c.similarity.items():
        written.append(write_csv(matrix, results, name, "aufuji", kind, index=True))
    titles = {measure: c.measures[measure].title for measure in DIAGRAMS[c.group.task]}
    shown = ranks[list(titles)].map(rank_shown).rename(columns=titles)
    shown.insert(0, "Ranker", [c.labels[ranker] for ranker in ranks["ranker"]])
    main = c.ranks["best_f1"]
    over = "" if main is None else f" over {count(len(main.used), 'data set')}"
    written.append(_write_latex(shown, c, results, "ranks", f"Average ranks (1 is best){over}."))
    scores = c.scores["best_f1"].T.reindex(c.rankers).map(lambda value: fixed(value, 3))
    scores.insert(0, "Ranker", [c.labels[ranker] for ranker in scores.index])
    title = c.measures["best_f1"].title
    written.append(_write_latex(scores, c, results, "scores", f"{title[0].upper()}{title[1:]}."))
    return written


def write_claims(claims: pd.DataFrame, study: str, results: Path) -> list[Path]:
    """Write the table of the paper's claims; no file when the study is about none of them."""
    return [write_csv(claims, results, study, "claims")] if len(claims) else []


def best_features_notes(found: pd.DataFrame) -> list[str]:
    """Say over how many folds the shares are where it is not all of them, and where nothing is chosen."""
    lines = []
    first = found.drop_duplicates(["dataset", "ranker"])
    partly = first[first["folds_without"] > 0]
    for (n_kept, n_bare), part in partly.groupby(["n_folds", "folds_without"], sort=False):
        datasets = ", ".join(map(str, part["dataset"].unique()))
        lines.append(f"Rankings were kept of {n_kept} of {count(n_kept + n_bare, 'fold')}: {datasets}.")
    if len(first) == 1 and (n_tied := int(first["folds_tied"].iloc[0])):
        lines.append(f"In {count(n_tied, 'fold')} equal weights share the places up to the {TOP}th.")
    narrow = first.loc[first["n_features"] <= TOP, "dataset"].unique()
    if len(narrow):
        lines.append(f"All features are among the first {TOP}: {', '.join(map(str, narrow))}.")
    return lines


def _write_latex(table: pd.DataFrame, c: Comparison, results: Path, title: str, caption: str) -> Path:
    stem = file_stem(c.group.name, title)
    text = table.to_latex(index=False, escape=True, caption=caption, label=f"tbl:{stem}", position="tb")
    notes = [
        "Needs \\usepackage{booktabs}.",
        *c.same_lines,
        *(f"Missing: {line}." for line in c.missing_lines),
    ]
    head = "".join(f"% {line}\n" for line in notes)
    return write_whole(Path(results) / "tables" / f"{stem}.tex", (head + text).encode())


def _scores(c: Comparison) -> pd.DataFrame:
    parts = [
        table.rename_axis(index="dataset", columns="ranker")
        .stack()
        .rename("mean")
        .reset_index()
        .assign(measure=c.measures[key].key)
        for key, table in c.scores.items()
        if table.size
    ]
    columns = ["measure", "dataset", "ranker", "mean"]
    return pd.concat(parts or [pd.DataFrame(columns=columns)], ignore_index=True)[columns]


def _ranks(c: Comparison) -> pd.DataFrame:
    columns: dict[str, list] = {"ranker": c.rankers}
    for measure, found in c.ranks.items():
        ranks = {} if found is None else found.average_ranks
        columns[measure] = [ranks.get(ranker, float("nan")) for ranker in c.rankers]
    return pd.DataFrame(columns)


def _sizes_shown(sizes: pd.DataFrame) -> pd.DataFrame:
    """Write the sizes of data sets, in brackets the paper's number where it is another one."""

    def with_paper(quantity: str, write: Callable[[float], str]) -> list[str]:
        texts = []
        for own, paper in zip(sizes[quantity], sizes[f"paper_{quantity}"], strict=True):
            text = "–" if pd.isna(own) else write(own)
            # Both are rounded as printed: a sixth decimal of a share is not another number.
            other = "" if pd.isna(paper) or write(paper) == text else f" ({write(paper)})"
            texts.append(text + other)
        return texts

    return pd.DataFrame(
        {
            "Data set": sizes["dataset"],
            "Instances": with_paper("rows", "{:.0f}".format),
            "Features": with_paper("features", "{:.0f}".format),
            "Classes": with_paper("classes", "{:.0f}".format),
            "Share of non-zeros": with_paper("nonzero_share", "{:.6f}".format),
        }
    )
