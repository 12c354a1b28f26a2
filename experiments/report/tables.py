"""Tables of a study: frames → CSV, and LaTeX (booktabs) where a paper would have them."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from experiments.analysis.comparison import Comparison
from experiments.analysis.paper.claim import SCOPES, lacking, told
from experiments.analysis.paper.tables import N_FITTED, complexity_table, dataset_table
from experiments.analysis.scores import DIAGRAMS, Measure
from experiments.formatting import fixed, rank_shown
from experiments.paths import file_stem, write_whole
from experiments.report.console import significant


class Tables:
    """Writes tables into one folder."""

    def __init__(self, results: Path):
        self._folder = Path(results) / "tables"
        self.written: list[Path] = []

    def csv(self, frame: pd.DataFrame, *stem: str, index: bool = False) -> None:
        """Write a frame as CSV."""
        text = io.StringIO()
        frame.to_csv(text, index=index, lineterminator="\n")
        self.written.append(write_whole(self._folder / f"{file_stem(*stem)}.csv", text.getvalue().encode()))

    def latex(
        self,
        frame: pd.DataFrame,
        *stem: str,
        caption: str,
        notes: Sequence[str] = (),
        columns: str | None = None,
    ) -> None:
        """Write a frame of texts as a LaTeX table."""
        shown = frame.map(escaped).rename(columns=escaped)
        label = file_stem(*stem)
        body = shown.to_latex(
            index=False,
            escape=False,
            column_format=columns or _alignment(frame),
            caption=escaped(caption),
            label=f"tbl:{label}",
            position="tb",
        )
        if notes:
            below = "\n".join(rf"\par\footnotesize {escaped(line)}" for line in notes)
            body = body.replace(r"\end{table}", f"{below}\n\\end{{table}}")
        text = "% Needs \\usepackage{booktabs}. Made from rows.\n" + body
        self.written.append(write_whole(self._folder / f"{label}.tex", text.encode()))


#: Around a formula in a text. No name holds them: they are control characters.
_FORMULA = ("\x02", "\x03")


def formula(latex: str) -> str:
    """Mark a formula, so that :func:`escaped` leaves it as it is."""
    begin, end = _FORMULA
    return f"{begin}{latex}{end}"


def escaped(text: object) -> str:
    """Escape a text for LaTeX; nothing in it is markup, but for what :func:`formula` made."""
    begin, end = _FORMULA
    first, *rest = str(text).split(begin)
    parts = [_escape(first)]
    for part in rest:
        latex, _, words = part.partition(end)
        parts.append(f"${latex}${_escape(words)}")
    whole = "".join(parts)
    return f"{{}}{whole}" if whole[:1] in ("[", "*") else whole  # behind a line's end these are its options


def _escape(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in text if sign not in _FORMULA)


_SIGNS = {
    "\\": r"\textbackslash{}",
    "$": r"\$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "×": r"$\times$",
    "±": r"$\pm$",
    "ε": r"$\varepsilon$",
    "μ": r"$\mu$",
    "√": r"$\surd$",
    "–": "--",
    "−": "$-$",
    "…": r"\dots{}",
}


def _alignment(frame: pd.DataFrame) -> str:
    numbers = [
        frame[column].map(lambda text: str(text).replace(" ", "")[:1] in "0123456789–-").all()
        for column in frame
    ]
    return "".join("r" if each and place else "l" for place, each in enumerate(numbers))


def write_group(frame: pd.DataFrame, comparison: Comparison, results: Path) -> list[Path]:
    """Write all tables of a group."""
    group, tables, labels = comparison.group, Tables(results), comparison.labels
    notes = [*comparison.same_lines, *(f"Missing: {line}." for line in comparison.missing_lines)]
    sizes = dataset_table(frame, group)
    tables.csv(sizes, group.name, "datasets")
    tables.latex(
        _datasets(sizes),
        group.name,
        "datasets",
        caption=f"Data sets of the study {group.study}; in brackets the paper's number where it is another one.",
        notes=[f"{line.dataset}: {line.differs}" for line in sizes.itertuples() if line.differs],
    )
    tables.csv(comparison.missing, group.name, "missing")
    if group.varies_iterations:
        tables.csv(comparison.convergence, group.name, "convergence")
        return tables.written
    complexity = complexity_table(comparison.scores["fit_seconds"], sizes)
    tables.csv(complexity, group.name, "complexity")
    tables.latex(
        _complexity(complexity, labels),
        group.name,
        "complexity",
        caption="Complexity as the paper states it, and how the mean times of a fit grow in this study: "
        "seconds "
        + formula(r"\propto |I|^a |F|^b")
        + ", least squares over data sets, in brackets the 95 % interval.",
        notes=[*_complexity_notes(complexity), *notes],
    )
    scores = pd.concat(
        [
            table.rename_axis(index="dataset", columns="ranker")
            .stack()
            .rename("mean")
            .reset_index()
            .assign(measure=comparison.measures[key].key)
            for key, table in comparison.scores.items()
            if table.size
        ]
        or [pd.DataFrame(columns=["dataset", "ranker", "mean", "measure"])],
        ignore_index=True,
    )
    tables.csv(scores[["measure", "dataset", "ranker", "mean"]], group.name, "scores")
    ranks = _ranks(comparison)
    tables.csv(group.kind.columns(ranks), group.name, "ranks")
    tables.latex(
        _named(ranks[["ranker", *DIAGRAMS[group.task]]], labels, comparison),
        group.name,
        "ranks",
        caption=f"Average ranks (1 = best) in the study {group.study}, {group.extent}.",
        notes=[*_rank_notes(comparison), *notes],
    )
    for measure in ("aurf1", "best_f1", "fit_seconds"):
        means, what = comparison.averages[measure], comparison.measures[measure]
        tables.csv(means, group.name, what.key)
        over = ", ".join(means.attrs["datasets"]) or "no data set"
        tables.latex(
            _means(means, labels, what),
            group.name,
            what.key,
            caption=f"{what.title[0].upper()}{what.title[1:]} in the study {group.study}, {group.extent}: "
            f"mean and standard deviation over data sets ({over}).",
            notes=notes,
        )
    for kind, matrix in comparison.similarity.items():
        tables.csv(matrix, group.name, "aufuji", kind, index=True)
    if comparison.posterior is not None:
        table = comparison.posterior.table
        tables.csv(table, group.name, "posterior")
        shown = pd.DataFrame(
            {
                "Ranker a": table["ranker_a"].map(labels),
                "Ranker b": table["ranker_b"].map(labels),
                "P(a better)": table["p_a"].map(three),
                "P(equal)": table["p_rope"].map(three),
                "P(b better)": table["p_b"].map(three),
                "data sets": table["n_datasets"].map(str),
            }
        )
        sampling = "; ".join(f"{word}: {value}" for word, value in comparison.posterior.sampling.items())
        tables.latex(
            shown,
            group.name,
            "posterior",
            caption=f"Hierarchical Bayesian test on max {group.kind.score} in the study {group.study}, "
            f"{group.extent}.",
            notes=[sampling, *notes],
        )
    return tables.written


def write_claims(claims: pd.DataFrame, study: str | None, results: Path) -> list[Path]:
    """Write the table of the paper's claims."""
    if not len(claims):
        return []
    tables = Tables(results)
    name = "claims" if study is None else file_stem(study, "claims")
    rows = "all studies" if study is None else f"the study {study}"
    tables.csv(claims, name)
    titles = {"claim": "The paper's claim", "reading": "It holds where", "numbers": "Numbers"}
    titles |= {where: f"On {where}" for where in SCOPES}
    shown = told(claims).drop(columns="place").rename(columns=titles)
    tables.latex(
        shown,
        name,
        caption=f"Claims of the paper, checked on the rows of {rows}.",
        notes=[lacking(claims)] if lacking(claims) else [],
    )
    return tables.written


def three(value: float) -> str:
    """Write a number with three decimals."""
    return "–" if pd.isna(value) else fixed(value, 3)


def _datasets(sizes: pd.DataFrame) -> pd.DataFrame:
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


def _complexity(table: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    def order(growth: str) -> str:
        return formula(rf"\mathcal{{O}}({growth})") if growth else "–"

    def exponents(size: str) -> list[str]:
        columns = [f"{size}_{part}" for part in ("exponent", "lower", "upper")]
        return [
            "–" if pd.isna(value) else f"{value:.2f} [{lower:.1f}, {upper:.1f}]".replace("-", "−")
            for value, lower, upper in table[columns].itertuples(index=False, name=None)
        ]

    return pd.DataFrame(
        {
            "Algorithm": [labels.get(line.ranker, line.algorithm) for line in table.itertuples()],
            "Time": table["time"].map(order),
            "Space": table["space"].map(order),
            formula("a"): exponents("rows"),
            formula("b"): exponents("features"),
            "Data sets": table["n_datasets"].map(str),
        }
    )


def _complexity_notes(table: pd.DataFrame) -> list[str]:
    """Say how little the exponents stand on."""
    fitted = table.loc[table["rows_exponent"].notna(), "n_datasets"]
    if not len(fitted):
        return [
            f"No exponents: {N_FITTED} numbers (a, b and a constant) are fitted, for which no ranker has times on "
            "enough data sets."
        ]
    low, high = int(fitted.min()), int(fitted.max())
    over = f"{low}" if low == high else f"{low} to {high}"
    left = f"{low - N_FITTED}" if low == high else f"{low - N_FITTED} to {high - N_FITTED}"
    return [
        f"{N_FITTED} numbers (a, b and a constant) are fitted to {over} data sets, which leaves {left} degrees of "
        "freedom."
    ]


def _ranks(comparison: Comparison) -> pd.DataFrame:
    columns = {"ranker": comparison.rankers}
    for measure, found in comparison.ranks.items():
        ranks = {} if found is None else found.average_ranks.to_dict()
        columns[measure] = [ranks.get(ranker, float("nan")) for ranker in comparison.rankers]
    return pd.DataFrame(columns)


def _rank_notes(comparison: Comparison) -> list[str]:
    notes = []
    for measure in DIAGRAMS[comparison.group.task]:
        title, found = comparison.measures[measure].title, comparison.ranks[measure]
        if found is None:
            notes.append(f"{title}: {comparison.rank_reasons[measure]}.")
        else:
            told = "no critical distance, which needs two data sets or more"
            if not pd.isna(found.cd):
                told = f"critical distance {rank_shown(found.cd)}"
            notes.append(f"{title}: {told}; data sets: {', '.join(map(str, found.used))}.")
    return list(dict.fromkeys(notes))


def _named(table: pd.DataFrame, labels: Mapping[str, str], comparison: Comparison) -> pd.DataFrame:
    shown = table.drop(columns="ranker").map(rank_shown)
    shown.insert(0, "Ranker", [labels.get(ranker, ranker) for ranker in table["ranker"]])
    return shown.rename(columns={key: measure.title for key, measure in comparison.measures.items()})


def _means(means: pd.DataFrame, labels: Mapping[str, str], what: Measure) -> pd.DataFrame:
    if what.unit:
        texts = [significant(line.mean, line.sd) for line in means.itertuples()]
    else:
        texts = [
            f"{line.mean:.3f}" + ("" if pd.isna(line.sd) else f" ± {line.sd:.3f}")
            for line in means.itertuples()
        ]
    unit = f" ({what.unit})" if what.unit else ""
    return pd.DataFrame(
        {
            "Ranker": [labels.get(ranker, ranker) for ranker in means["ranker"]],
            f"{what.title}{unit}": texts,
        }
    )
