"""Tables of one's own for tests: written into the current folder, and loaded as typed."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from experiments.config.compose import compose_runs
from experiments.datasets import load

#: Readers of the catalogue, as YAML files name them.
READERS = {
    name: f"experiments.datasets.readers.{module}.{name}"
    for module, names in {
        "arff": ("arff", "mulan"),
        "matlab": ("matlab",),
        "spreadsheet": ("r_data", "spreadsheet"),
        "text": ("cluto", "delimited", "orange_tab"),
    }.items()
    for name in names
}


def loaded(*argv):
    """Load the one data set that a command line stands for."""
    (config,) = compose_runs(argv).configs
    return load(config["dataset"], config["paths"]["local_data"])


def from_csv(text, *more, target="y", name="t.csv"):
    Path(name).write_text(text, encoding="utf-8", newline="")
    return loaded("dataset=csv", f"dataset.path={name}", f"dataset.target={target}", *more)


def from_parquet(columns, *more, target="y"):
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), "t.parquet")
    return loaded("dataset=parquet", "dataset.path=t.parquet", f"dataset.target={target}", *more)


def from_arff(attributes, rows, *more, target="y"):
    declared = "".join(f"@attribute {each}\n" for each in attributes)
    Path("t.arff").write_text(f"@relation t\n{declared}@data\n{rows}", encoding="utf-8")
    return loaded("dataset=arff", "dataset.path=t.arff", f"dataset.target={target}", *more)


def block(reader, path, **source):
    """The block of a data set that a reader of the project reads."""
    return {
        "name": "small",
        "task": "multiclass",
        "source": {"_target_": READERS[reader], "path": path, **source},
    }
