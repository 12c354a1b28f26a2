"""What README.md, docs/results.md and its pages say of the published studies, from their rows and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.cli import publish
from experiments.cli.publish import FOLDER, Shown
from experiments.cli.published_story import FIGURES, story
from experiments.config.compose import compose_runs
from experiments.errors import BadInputError
from experiments.formatting import fixed, rank_shown
from experiments.paths import PROJECT_ROOT, write_whole

ResolvedConfig = Mapping[str, Any]


def update_part(text: str, name: str, content: str) -> str:
    """Replace what stands between two marks of a Markdown file.

    Parameters
    ----------
    text : str
        The file's text, with ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``.
    name : str
        Of the marks.
    content : str
        What is to stand there.

    Returns
    -------
    str

    Raises
    ------
    BadInputError
        If a mark is missing.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, mark, rest = text.partition(begin)
    _, last, after = rest.partition(end)
    if not mark or not last:
        raise BadInputError(f"the marks {begin} and {end} are missing")
    return f"{before}{begin}\n{content.strip()}\n{end}{after}"


def overview(study: Shown) -> str:
    """Say in Markdown what came out of a published study: who was best, scores, what is missing.

    Parameters
    ----------
    study : Shown
        From :func:`experiments.cli.publish.compared`.

    Returns
    -------
    str
    """
    from experiments.report.sentences import extent

    protocols = study.protocols
    parts = []
    for comparison in study.comparisons:
        group = comparison.group
        ranks = comparison.ranks["best_f1"]
        asked = dict.fromkeys(
            each["dataset_key"] for each in study.configs if each["protocol"]["name"] == group.protocol
        )
        table, seconds = (comparison.scores[each].reindex(list(asked)) for each in ("best_f1", "fit_seconds"))
        order = list(table.columns)
        if ranks is not None:
            order = list(ranks.average_ranks.index) + [
                each for each in order if each not in ranks.average_ranks
            ]
        # Means over different data sets would not be comparable: those on which all have times that have any.
        timed = list(seconds.dropna(axis="columns", how="all").dropna().index)
        where = "mean over data sets" if len(timed) in (0, len(seconds)) else f"mean over {', '.join(timed)}"
        lines = [
            f"Protocol `{group.protocol}`: {extent(protocols[group.protocol])}. Best micro F1 along the ranking, "
            f"mean over folds; seconds of one fit, {where}.",
            "",
            f"| ranker | mean rank | {' | '.join(table.index)} | seconds |",
            f"|---|---|{'---|' * len(table.index)}---|",
        ]
        for ranker in order:
            mean = "" if ranks is None else rank_shown(ranks.average_ranks.get(ranker, np.nan))
            scores = " | ".join(_number(table.loc[each, ranker], 3) for each in table.index)
            took = seconds.loc[timed, ranker].mean(skipna=False)
            lines.append(f"| {_in_cell(group.labels[ranker])} | {mean} | {scores} | {_number(took, None)} |")
        for line in comparison.same_lines:
            lines += ["", line]
        if comparison.missing_lines:
            lines += ["", "Missing:", "", *(f"* {line}" for line in comparison.missing_lines)]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, *_measured(study.frame, study.configs)])


def _measured(frame: pd.DataFrame, configs: Sequence[ResolvedConfig]) -> list[str]:
    """Set out what was measured in place of rankings, a table for each protocol."""
    from experiments.analysis.paper import measurements
    from experiments.report.measurements import missing_lines

    asked: dict[str, list[ResolvedConfig]] = {}
    for config in configs:
        if config["protocol"].get("measure"):
            asked.setdefault(config["protocol"]["name"], []).append(config)
    parts = []
    for protocol, own in asked.items():
        rows = frame[frame["protocol"] == protocol]
        labels = {
            each["ranker_key"]: each["ranker"].get("display_name") or each["ranker_key"] for each in own
        }
        lines = [f"Protocol `{protocol}`.", "", "| data set | ranker | result |", "|---|---|---|"]
        for line in measurements.averaged(rows).itertuples():
            cells = (line.dataset, labels.get(line.ranker, line.ranker), line.result)
            lines.append(f"| {' | '.join(_in_cell(each) for each in cells)} |")
        asked_for = dict.fromkeys(each["dataset_key"] for each in own)
        never = [each for each in asked_for if each not in set(rows["dataset"])]
        missing = [f"not run: {', '.join(never)}"] if never else []
        missing += missing_lines(rows, [each for each in own if each["dataset_key"] not in never])
        if missing:
            lines += ["", "Missing:", "", *(f"* {each}" for each in missing)]
        parts.append("\n".join(lines))
    return parts


def _number(value: float, digits: int | None) -> str:
    if not np.isfinite(value):
        return "–"
    return f"{value:.2g}" if digits is None else fixed(value, digits)


def claims_overview(folder: Path = FOLDER) -> str:
    """Say in Markdown which of the paper's claims hold on the published rows; from the table that was made of them.

    Parameters
    ----------
    folder : Path, optional
        Where its tables lie.

    Returns
    -------
    str
        A sentence that counts, then a table.

    Raises
    ------
    BadInputError
        If there is no table.
    """
    from experiments.analysis.paper.claim import SCOPES, counted, lacking, told

    claims = _read_claims(folder)
    lines = [each for line in (counted(claims), lacking(claims)) if line for each in (line, "")]
    titles = ["the paper's claim", "it holds where", *(f"on {where}" for where in SCOPES), "numbers"]
    lines += [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    shown = told(claims).drop(columns="place")
    lines += [f"| {' | '.join(map(_in_cell, line))} |" for line in shown.itertuples(index=False, name=None)]
    return "\n".join(lines)


def _read_claims(folder: Path) -> pd.DataFrame:
    file = folder / "tables" / "claims.csv"
    try:
        return pd.read_csv(file, keep_default_na=False)
    except FileNotFoundError as error:
        raise BadInputError(f"{file} is missing: python publish.py makes it") from error


#: What the verdicts mean, above their table.
_ABOUT_CLAIMS = (
    "The claims are checked on all published rows with the paper's evaluation. Each claim has three verdicts: "
    "on the paper's data sets (all of them are needed, except for claims that one instance or counterexample "
    "decides), on those of them that are at hand, and on related data sets. Rows of a random subset of the "
    "samples, or with other folds, do not count. [statistics.md](../statistics.md#noise-of-the-folds) says when a "
    "verdict is within the noise of the folds."
)


def _in_cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


_MADE = "Made by `python publish.py`; nothing here is typed by hand."

#: Where the pages of single studies lie.
_PAGES = PROJECT_ROOT / "docs" / "results"

#: The study whose table stands in README.md.
_MAIN = "mcc_published"


def texts(folder: Path = FOLDER) -> dict[Path, str]:
    """Write the numbers of README.md, docs/results.md and its pages from the published rows.

    Parameters
    ----------
    folder : Path, optional
        Where the rows and what was made of them lie.

    Returns
    -------
    dict of Path to str
        File → its whole text.

    Raises
    ------
    BadInputError
        If something is missing.
    """
    claims = claims_overview(folder)
    names = publish.studies(folder)
    if _MAIN not in names:
        raise BadInputError(f"{folder / 'studies.yaml'} does not name {_MAIN}, whose table README.md shows")
    back = f"[All results](../results.md). {_MADE}"
    studies = {name: publish.compared(name, folder) for name in names}
    overviews = {name: overview(study) for name, study in studies.items()}
    pages = {
        _PAGES / f"{name}.md": "\n\n".join([f"# {name}", back, study.about, overviews[name]])
        for name, study in studies.items()
    }
    readme = PROJECT_ROOT / "README.md"
    absent = _absent(_MAIN)
    short = "\n\n".join(
        [
            overviews[_MAIN],
            claims.partition("\n")[0]
            + " [docs/results.md](docs/results.md) tells what holds and what does not, and leads to the claims one "
            "by one and to the other studies.",
            f"The paper's other data sets are missing: {', '.join(absent)}. On a machine with internet access, "
            "this command downloads and runs them:",
            f"```bash\npython run.py study=mcc dataset={','.join(absent)}\n```",
        ]
    )
    pages[_PAGES / "claims.md"] = "\n\n".join(["# The paper's claims", back, _ABOUT_CLAIMS, claims])
    pages[_PAGES.parent / "results.md"] = story(list(studies.values()), _read_claims(folder))
    return {
        readme: update_part(readme.read_text(encoding="utf-8"), "published", short),
        **{file: text + "\n" for file, text in pages.items()},
    }


def write_texts(folder: Path = FOLDER) -> list[Path]:
    """Write what :func:`texts` gives.

    Parameters
    ----------
    folder : Path, optional
        As there.

    Returns
    -------
    list of Path
    """
    written = []
    whole = texts(folder)
    _PAGES.mkdir(exist_ok=True)
    for page in set(_PAGES.glob("*.md")) - set(whole):  # of a study that is no longer published
        page.unlink()
    for file, text in whole.items():
        written.append(write_whole(file, text.encode()))
    for name, _ in FIGURES.values():
        drawn = folder / "figures" / name
        if drawn.is_file():  # publish.py texts in a new copy of the repository draws none
            written.append(write_whole(_PAGES / name, drawn.read_bytes()))
    return written


def _absent(name: str) -> list[str]:
    """Return the data sets of the paper's study that a published one leaves out."""
    whole = dict.fromkeys(each["dataset_key"] for each in compose_runs(["study=mcc"]).configs)
    here = {each["dataset_key"] for each in compose_runs([f"study={name}"]).configs}
    return [each for each in whole if each not in here]
