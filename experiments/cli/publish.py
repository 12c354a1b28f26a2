"""Rows that are published with the project, and what is made of them: the commands are in CONTRIBUTING.md."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from experiments.config.compose import compose_runs
from experiments.errors import BadInputError
from experiments.evaluation.cell import Cell
from experiments.evaluation.evaluate import TIMINGS
from experiments.execution.known_data import FILE, KnownData, digest_of, known_text, read_known
from experiments.execution.study import Study
from experiments.metrics.top_features import top_features
from experiments.paths import PROJECT_ROOT, write_whole
from experiments.schema import ROW_SCHEMA
from experiments.store.named_rows import rows_of
from experiments.store.pack import write_packs
from experiments.store.rows import all_ok, to_frame
from experiments.store.store import Store

if TYPE_CHECKING:
    from experiments.analysis.comparison import Comparison

#: Where published rows lie, and what is made of them.
FOLDER = PROJECT_ROOT / "results" / "published"
#: Weights are published for the folds of so many repeats; with those of all, wide data would take gigabytes.
WEIGHTS_OF_REPEATS = 1
#: Nor are those of more columns than this: of the paper's data sets, of others, and of subsets of others' samples.
WEIGHTS_OF_COLUMNS, WEIGHTS_OF_OTHER_COLUMNS, WEIGHTS_OF_SUBSETS = 10_000, 1_500, 300

ResolvedConfig = Mapping[str, Any]


@dataclass(frozen=True)
class Named:
    """A published cell under the names that a study gives it."""

    key: str
    dataset: str
    ranker: str
    protocol: str


def studies(folder: Path = FOLDER) -> list[str]:
    """Return the names of the published studies.

    Parameters
    ----------
    folder : Path, optional
        The folder with ``studies.yaml``.

    Returns
    -------
    list of str

    Raises
    ------
    BadInputError
        If there is no such file, or it is no list of names.
    """
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
    """Copy finished cells of the published studies into the folder; those that were there before are replaced.

    Parameters
    ----------
    source : Path
        The results folder where the studies were run.
    local_data : str, optional
        Where the data sets lie: keys of cells depend on their content.
    folder : Path, optional
        Where to.
    names : sequence of str, optional
        Studies of conf/study; by default those of ``studies.yaml``.
    times : Path, optional
        A results folder with cells that were run while the machine did nothing else. Cells that are there are taken
        from there, and all others lose their times: what other programs do is in a wall clock too.

    Returns
    -------
    dict
        Study → numbers of ranking (or measurement) cells that were copied, and of all that it has.

    Raises
    ------
    BadInputError
        If a study is unknown or none of its data sets is here, or there is no such results folder.
    """
    sources = [source] if times is None else [times, source]
    for each in sources:  # what is collected takes the place of what was published
        if not each.is_dir():
            raise BadInputError(f"there is no results folder {each} to collect rows from")
    stores = [Store(each) for each in sources]
    index, counts = {}, {}
    known: dict[str, KnownData] = {}
    wanted: dict[str, tuple[str, str, int]] = {}  # key of a cell → first study that has it, data set, repeat
    feature_names: dict[str, Sequence[str]] = {}  # by key of a cell
    most_columns: dict[str, int] = {}  # likewise
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
            feature_names.setdefault(cell.key, study.feature_names[cell.dataset])
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
                _lightened(
                    _with_top_features(table, feature_names.get(key, ())),
                    most_columns.get(key, WEIGHTS_OF_COLUMNS),
                )
                for key, table in found
                if table is not None
            )
            for pack in write_packs(packs, light, small=True):
                # Named by study and content: a publication adds to the history what changed, and no more.
                pack.rename(packs / f"{name}-{hashlib.sha256(pack.read_bytes()).hexdigest()[:16]}.parquet")
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
    """Write what the data sets of the published rows hold, so that these rows are found without the files.

    Parameters
    ----------
    local_data : str, optional
        Where the data sets lie. What was known of one that is not there stays.
    folder : Path, optional
        Where rows lie, and where ``rows/datasets.json`` is written.

    Returns
    -------
    int
        How many data sets are known.

    Raises
    ------
    BadInputError
        If a study is unknown or none of its data sets is here or known.
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
    """Read the published rows of a study; needs no data set.

    Parameters
    ----------
    name : str
        The study.
    folder : Path, optional
        Where from.

    Returns
    -------
    frame : DataFrame
        Columns of ``ROW_SCHEMA``.
    configs : list of mapping
        What the study asks for, published or not.

    Raises
    ------
    BadInputError
        If it has not been published.
    """
    file = folder / "rows" / "cells.json"
    try:
        index = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadInputError(f"{file} is missing: nothing has been published") from error
    if name not in index:
        raise BadInputError(f"{name} has not been published; published: {', '.join(index)}")
    table = rows_of(Store(folder), [Named(*each) for each in index[name]])
    return to_frame(table), _configs(name, folder)


def claims(out: TextIO, folder: Path = FOLDER) -> tuple[pd.DataFrame, list[Path]]:
    """Check the paper's claims on the rows of all published studies, and write the table.

    Parameters
    ----------
    out : text file
        Where to say what takes long.
    folder : Path, optional
        Where rows lie, and files are written.

    Returns
    -------
    claims : DataFrame
        From :func:`experiments.analysis.paper.claims.check`.
    written : list of Path
        ``tables/claims.csv``.
    """
    from experiments.report import claims as paper
    from experiments.report.tables import write_claims

    all_rows = [rows(name, folder) for name in studies(folder)]
    found = paper.checked(all_rows, "published", folder, say=lambda text: print(text, file=out))
    return found, write_claims(found, None, folder)


def show(name: str, out: TextIO, folder: Path = FOLDER, *, checked: pd.DataFrame | None = None) -> list[Path]:
    """Make tables, figures and the page of a published study.

    Parameters
    ----------
    name : str
        The study.
    out : text file
        Where to print.
    folder : Path, optional
        Where rows lie, and files are written.
    checked : DataFrame, optional
        From :func:`claims`: those that the study is about are shown. By default they are checked on its rows alone.

    Returns
    -------
    list of Path
        The files written. A figure is a small PNG alone; an SVG of it from an older publication is removed.
    """
    from experiments import report
    from experiments.figures import style

    frame, configs = rows(name, folder)
    known = read_known(folder)
    names = {
        config["dataset_key"]: known[digest].feature_names
        for config in configs
        if (digest := digest_of(config)) in known
    }
    asked: dict[str, Any] = {"arguments": [f"study={name}"], "claims": checked, "feature_names": names}
    with style.published():
        written = report.show(frame, configs, {"results": folder}, out, whole=True, **asked)
    for file in written:
        if file.suffix == ".png":
            file.with_suffix(".svg").unlink(missing_ok=True)
    return written


@dataclass(frozen=True)
class Shown:
    """A published study, compared.

    Attributes
    ----------
    name, about : str
        The study's name, and what the first comment of its configuration says that it is.
    comparisons : list of Comparison
        One for each group of comparable data sets; none where something else than rankings was measured.
    frame : DataFrame
        Its rows.
    configs : list of mapping
        What it asks for, published or not.
    """

    name: str
    about: str
    comparisons: list[Comparison]
    frame: pd.DataFrame
    configs: list[ResolvedConfig]

    @property
    def protocols(self) -> dict[str, ResolvedConfig]:
        """Name → block."""
        return {each["protocol"]["name"]: each["protocol"] for each in self.configs}


def compared(name: str, folder: Path = FOLDER) -> Shown:
    """Compare the rankers of a published study.

    Parameters
    ----------
    name : str
        The study.
    folder : Path, optional
        Where rows lie.

    Returns
    -------
    Shown
    """
    from experiments.analysis.comparison import compare
    from experiments.analysis.groups import groups_of

    frame, configs = rows(name, folder)
    return Shown(name, _about(name), [compare(frame, each) for each in groups_of(configs)], frame, configs)


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


def _with_top_features(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Add the first features of each ranking, with their names, to rows from before these were kept."""
    lists = table["weights"].to_pylist()
    if table["top_columns"].null_count < table.num_rows or None in lists:
        return table
    tops = [top_features(weights) for weights in lists]
    made = {
        "top_columns": [top.columns for top in tops],
        "top_names": [[names[column] for column in top.columns] if len(names) else None for top in tops],
        "top_ranks": [top.ranks for top in tops],
        "top_weights": [top.weights for top in tops],
    }
    for name, values in made.items():
        place, field = table.schema.get_field_index(name), table.schema.field(name)
        table = table.set_column(place, field, pa.array(values, field.type))
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
