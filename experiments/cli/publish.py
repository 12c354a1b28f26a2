"""Rows that are published with the project, and what is made of them: the commands are in CONTRIBUTING.md."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import jinja2
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from experiments.analysis.claims.check import SCOPES, counted, for_people
from experiments.analysis.comparison import Comparison, compare
from experiments.analysis.groups import groups_of
from experiments.analysis.selection import select
from experiments.config.compose import compose_runs
from experiments.errors import BadInputError
from experiments.evaluation.cell import Cell
from experiments.evaluation.evaluate import TIMINGS
from experiments.execution.known_data import FILE, KnownData, digest_of, known_text
from experiments.execution.study import Study
from experiments.formatting import rank_shown
from experiments.paths import PROJECT_ROOT, write_whole
from experiments.report import posteriors
from experiments.report.claims import checked
from experiments.schema import ROW_SCHEMA
from experiments.store.files import write_packs
from experiments.store.rows import all_ok, to_frame
from experiments.store.store import Store

#: Where published rows lie, and what is made of them.
FOLDER = PROJECT_ROOT / "results" / "published"
#: Weights are published for the folds of so many repeats; with those of all, wide data would take gigabytes.
WEIGHTS_OF_REPEATS = 1
#: Nor are those of more columns than this: of the paper's data sets, of others, and of subsets of others' samples.
WEIGHTS_OF_COLUMNS, WEIGHTS_OF_OTHER_COLUMNS, WEIGHTS_OF_SUBSETS = 10_000, 1_500, 300

#: The study whose table stands in README.md and docs/results.md, and whose page and picture are in git.
MAIN = "mcc_published"

ResolvedConfig = Mapping[str, Any]


@dataclass(frozen=True)
class Named:
    """A published cell under the names that a study gives it."""

    key: str
    dataset: str
    ranker: str
    protocol: str


def studies(folder: Path = FOLDER) -> list[str]:
    """Return the names of the published studies, in the order of ``studies.yaml``."""
    file = folder / "studies.yaml"
    try:
        names = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise BadInputError(f"{file}: {error}") from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadInputError(f"{file}: expected a list of names of studies")
    return names


def collect(
    source: Path,
    local_data: str | None = None,
    folder: Path = FOLDER,
    names: Sequence[str] | None = None,
    *,
    times: Path | None = None,
) -> dict[str, tuple[int, int]]:
    """Copy finished cells of the published studies from a results folder in place of those published before.

    ``times``: a results folder of runs that had the machine for themselves; only its times are published. Returns
    study → (copied cells, all cells).
    """
    sources = [source] if times is None else [times, source]
    for each in sources:  # what is collected takes the place of what was published
        if not each.is_dir():
            raise BadInputError(f"there is no results folder {each} to collect rows from")
    stores = [Store(each) for each in sources]
    index, counts = {}, {}
    known: dict[str, KnownData] = {}
    wanted: dict[str, tuple[str, str, int]] = {}  # key of a cell → first study that has it, data set, repeat
    most_columns: dict[str, int] = {}  # by key of a cell
    for name in studies(folder) if names is None else names:
        configs = _configs(name, folder, local_data)
        study = Study(configs, skip_absent=True)
        states = [store.states(study.cells) for store in stores]
        done = [cell for cell in study.named.values() if any(each.get(cell.key) == "ok" for each in states)]
        counts[name] = (len(done), len(study.named))
        known |= _known(study, configs, done)
        most = {each["dataset_key"]: _most_columns(each) for each in configs}
        index[name] = [[cell.key, cell.dataset, cell.ranker, cell.protocol] for cell in done]
        for cell in done:
            for key in [*([cell.reference.key] if cell.reference is not None else []), cell.key]:
                wanted.setdefault(key, (name, cell.dataset, cell.repeat))
            most_columns[cell.key] = most[cell.dataset]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as new:
        packs = Path(new) / "rows" / "packs"
        packs.mkdir(parents=True)
        for name in counts:
            # Rankers of one repeat side by side: those that are the same take little room then.
            mine = sorted((key for key, about in wanted.items() if about[0] == name), key=wanted.__getitem__)
            found = ((key, _found(stores, key, timed=times is None)) for key in mine)
            light = (
                _lightened(table, most_columns.get(key, WEIGHTS_OF_COLUMNS))
                for key, table in found
                if table is not None
            )
            for _ in write_packs(packs, light, name=name, small=True):
                pass  # names are of study and content: a publication adds to the history what changed alone
        # A line for each cell: what changes between two publications can be read.
        lists = {name: ",\n".join(map(json.dumps, cells)) for name, cells in index.items()}
        text = ",\n".join(f"{json.dumps(name)}: [\n{cells}\n]" for name, cells in lists.items())
        (Path(new) / "rows" / "cells.json").write_text(f"{{{text}}}\n", encoding="utf-8")
        (Path(new) / "rows" / FILE).write_text(known_text(known), encoding="utf-8")
        shutil.rmtree(folder / "rows", ignore_errors=True)
        (Path(new) / "rows").rename(folder / "rows")
    return counts


def _most_columns(config: ResolvedConfig) -> int:
    """Return up to how many features the weights of a cell are published."""
    if config["dataset"].get("paper"):
        return WEIGHTS_OF_COLUMNS
    return WEIGHTS_OF_SUBSETS if config["protocol"].get("max_rows") else WEIGHTS_OF_OTHER_COLUMNS


def note_datasets(local_data: str | None = None, folder: Path = FOLDER) -> int:
    """Write what the data sets of the published rows contain; return how many are known.

    What was known of a data set that is not on this machine stays.
    """
    store = Store(folder)
    known: dict[str, KnownData] = {}
    for name in studies(folder):
        configs = _configs(name, folder, local_data)
        study = Study(configs, skip_absent=True)
        states = store.states(study.cells)
        known |= _known(study, configs, [each for each in study.named.values() if each.key in states])
    write_whole(folder / "rows" / FILE, known_text(known).encode())
    return len(known)


def rows(name: str, folder: Path = FOLDER) -> tuple[pd.DataFrame, list[ResolvedConfig]]:
    """Return the published rows of a study and its configurations; needs no data set."""
    file = folder / "rows" / "cells.json"
    try:
        index = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadInputError(f"{file} is missing: nothing has been published") from error
    if name not in index:
        raise BadInputError(f"{name} has not been published; published: {', '.join(index)}")
    table = Store(folder).rows_of([Named(*each) for each in index[name]])
    return to_frame(table), _configs(name, folder)


def claims(out: TextIO, folder: Path = FOLDER) -> pd.DataFrame:
    """Check the paper's claims on all published rows; sample and keep the posteriors that are missing."""
    used: posteriors.Answers = {}
    say = partial(print, file=out)
    read = [rows(name, folder) for name in studies(folder)]
    found = checked(read, "published", folder, say=say, used=used)
    for frame, configs in read:
        for group in groups_of(configs):
            if not group.varies_iterations:
                posteriors.of_group(select(frame, group.expected), group, folder, say=say, used=used)
    posteriors.keep(used, folder)
    return found


def texts(claims: pd.DataFrame, folder: Path = FOLDER) -> dict[Path, str]:
    """Return file → text of docs/results.md, docs/claims.md and README.md, from the published rows."""
    names = studies(folder)
    if MAIN not in names:
        raise BadInputError(f"{folder / 'studies.yaml'} does not name {MAIN}, whose table README.md shows")
    read = {name: rows(name, folder) for name in names}
    groups = {
        name: [compare(frame, each) for each in groups_of(configs)] for name, (frame, configs) in read.items()
    }
    (main,) = groups[MAIN]
    absent = [each for each in _datasets("mcc", folder) if each not in _datasets(MAIN, folder)]
    known = {
        "claims": claims,
        "counted": counted(claims),
        "lines": for_people(claims),
        "scopes": list(SCOPES),
        "main": MAIN,
        "table": markdown(main_table(main)),
        "extent": main.group.extent,
        "same": main.same_lines,
        "absent": absent,
        "studies": [_summary(name, *read[name], groups[name]) for name in names],
        "n_rows": sum(len(frame) for frame, _ in read.values()),
        "n_datasets": len({each for frame, _ in read.values() for each in frame["dataset"]}),
        "markdown": markdown,
    }
    loader = jinja2.PackageLoader("experiments.cli", "templates")
    templates = jinja2.Environment(
        loader=loader, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    readme = PROJECT_ROOT / "README.md"
    part = templates.get_template("README.md.j2").render(known)
    return {
        readme: update_part(readme.read_text(encoding="utf-8"), "published", part),
        **{
            PROJECT_ROOT / "docs" / name: templates.get_template(f"{name}.j2").render(known)
            for name in ("results.md", "claims.md")
        },
    }


def write_texts(claims: pd.DataFrame, folder: Path = FOLDER) -> list[Path]:
    """Write what :func:`texts` returns."""
    return [write_whole(file, text.encode()) for file, text in texts(claims, folder).items()]


def main_table(comparison: Comparison) -> pd.DataFrame:
    """Return the best F1 of every ranker on every data set, mean rank and seconds, as texts, best first."""
    ranks = comparison.ranks["best_f1"]
    table, seconds = comparison.scores["best_f1"], comparison.scores["fit_seconds"]
    mean_rank = (
        pd.Series(np.nan, table.columns) if ranks is None else ranks.average_ranks.reindex(table.columns)
    )
    # Means over different data sets are not comparable: only those on which all rankers with times have them.
    timed = seconds.dropna(axis="columns", how="all").dropna()
    lines = []
    for ranker in mean_rank.sort_values(kind="stable").index:
        took = timed[ranker].mean() if ranker in timed else np.nan
        scores = [_text(value, "{:.3f}") for value in table[ranker]]
        rank, second = _text(mean_rank[ranker], "{:.2f}"), _text(took, "{:.2g}")
        lines.append([comparison.labels[ranker], rank, *scores, second])
    return pd.DataFrame(lines, columns=["ranker", "mean rank", *table.index, "seconds"])


def _text(value: float, form: str) -> str:
    return form.format(value) if np.isfinite(value) else "–"


def markdown(table: pd.DataFrame) -> str:
    """Return a table of texts in Markdown."""
    lines = [list(map(str, table.columns)), ["---"] * table.shape[1], *table.astype(str).to_numpy().tolist()]
    return "\n".join(
        "| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in line) + " |" for line in lines
    )


def _summary(
    name: str, frame: pd.DataFrame, configs: Sequence[ResolvedConfig], groups: Sequence[Comparison]
) -> dict[str, Any]:
    """Return what docs/results.md says of a study."""
    orders = []
    for group in groups:
        ranks = group.ranks["best_f1"]
        if ranks is None or len(ranks.used) < 2:
            continue
        means = ranks.average_ranks
        apart = sum(ranks.differs(means.index[0], ranker) for ranker in means.index[1:])
        orders.append(
            {
                "extent": group.group.extent,
                "n_rankers": len(means),
                "n_datasets": len(ranks.used),
                "first": ", ".join(
                    f"{group.labels[k]} {rank_shown(rank)}" for k, rank in means.head(3).items()
                ),
                "p": ranks.friedman_p,
                "apart": apart,
            }
        )
    about = _about(name)
    return {
        "name": name,
        "about": about.partition(". ")[0].rstrip("."),
        "n_datasets": frame["dataset"].nunique(),
        "n_rows": len(frame),
        "orders": orders,
    }


def _datasets(name: str, folder: Path) -> list[str]:
    return list(dict.fromkeys(each["dataset_key"] for each in _configs(name, folder)))


def update_part(text: str, name: str, content: str) -> str:
    """Replace the text between two marks of a Markdown file."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, mark, rest = text.partition(begin)
    _, last, after = rest.partition(end)
    if not mark or not last:
        raise BadInputError(f"the marks {begin} and {end} are missing")
    return f"{before}{begin}\n{content.strip()}\n{end}{after}"


def show(out: TextIO, claims: pd.DataFrame, folder: Path = FOLDER) -> list[Path]:
    """Make the page and the picture of the main study, which are in git, with its other tables and figures."""
    from experiments import report
    from experiments.figures import style

    frame, configs = rows(MAIN, folder)
    asked: dict[str, Any] = {"arguments": [f"study={MAIN}"], "claims": claims}
    with style.published():
        return report.show(frame, configs, {"results": folder}, out, whole=True, **asked)


def _about(name: str) -> str:
    file = PROJECT_ROOT / "conf" / "study" / f"{name}.yaml"
    comment = re.match(r"(?:#[^\n]*\n)*", file.read_text(encoding="utf-8")) if file.is_file() else None
    return " ".join(comment.group().replace("#", "").split()) if comment else ""


def _configs(name: str, folder: Path, local_data: str | None = None) -> list[ResolvedConfig]:
    argv = [f"study={name}", f"paths.results={folder}"]
    if local_data is not None:
        argv.append(f"paths.local_data={local_data}")
    return list(compose_runs(argv).configs)


def _known(study: Study, configs: Sequence[ResolvedConfig], done: Sequence[Cell]) -> dict[str, KnownData]:
    """Describe the data sets of published cells that are read from files, by digest."""
    checksums = {(cell.dataset, cell.protocol): cell.checksum for cell in done}
    found = {}
    for config in configs:
        checksum = checksums.get((config["dataset_key"], config["protocol"]["name"]))
        digest = digest_of(config)
        if checksum is None or digest is None or digest in found:
            continue
        data = study.data.get(checksum)
        if data is None:
            found[digest] = study.known[checksum]
        elif data.origin != "bundled":  # others are made or installed, and always there
            found[digest] = KnownData.of(data)
    return found


def _found(stores: Sequence[Store], key: str, *, timed: bool) -> pa.Table | None:
    """Read a finished cell from the first store that has it; only the first one's times count, or all do."""
    for place, store in enumerate(stores):
        table = store.read_table(key)
        if table is not None and all_ok(table):
            return table if timed or place == 0 else _without(table, *TIMINGS)
    return None


def _without(table: pa.Table, *names: str) -> pa.Table:
    for name in names:
        place, field = table.schema.get_field_index(name), table.schema.field(name)
        table = table.set_column(place, field, pa.nulls(table.num_rows, field.type))
    return table


def _lightened(table: pa.Table, most_columns: int) -> pa.Table:
    """Leave out the weights of later repeats, and of very many columns."""
    place = table.schema.get_field_index("weights")
    late = pc.greater_equal(table["repeat"], WEIGHTS_OF_REPEATS)
    left_out = pc.or_(late, pc.greater(table["n_features"], most_columns))
    nothing = pa.nulls(table.num_rows, ROW_SCHEMA.field("weights").type)
    return table.set_column(
        place, ROW_SCHEMA.field("weights"), pc.if_else(left_out, nothing, table["weights"])
    )
