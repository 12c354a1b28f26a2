"""The shapes of configuration and of results, written once.

The dataclasses are what the YAML files under ``conf/`` must look like; :data:`ROW_SCHEMA` is what one row of
the store looks like. Units stand in the column names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

#: Version of the columns of a row; part of every cell's key, so raising it leaves all rows behind. Code that gives
#: other numbers has versions of its own: :mod:`experiments.evaluation.versions`.
ROWS_VERSION = 1

_FLOATS = pa.list_(pa.float64())

#: One row = one fold of one cell (data set × ranker × repeat). A failed fold has nulls where numbers would be.
ROW_SCHEMA = pa.schema(
    [
        ("cell_key", pa.string()),  # SHA-256, hex; names the file the row lies in
        ("kind", pa.string()),  # "ranking", or "all_features" for the shared reference score
        ("dataset", pa.string()),
        ("ranker", pa.string()),  # "" for kind "all_features"
        ("protocol", pa.string()),
        ("repeat", pa.int32()),  # 0-based
        ("fold", pa.int32()),  # 0-based
        ("seed", pa.int64()),  # the study's seed
        ("status", pa.string()),  # "ok", "failed", "timeout" or "out_of_memory"
        ("error", pa.string()),  # "Type: message" of a fold that is not ok, else null
        ("n_train", pa.int64()),
        ("n_test", pa.int64()),
        ("n_features", pa.int64()),
        ("fit_seconds", pa.float64()),  # wall clock of the ranker's fit alone
        ("warm_up_seconds", pa.float64()),  # the untimed fit before it, 0 when the process was warm already
        ("learner_seconds", pa.float64()),  # all learner fits and predictions of the fold
        ("peak_memory_mib", pa.float64()),  # resident high-water mark of the process during the fit
        ("n_threads", pa.int32()),  # threads the fit was allowed
        ("learner_converged", pa.bool_()),  # every learner fit of the fold reached its tolerance
        ("grid", pa.list_(pa.int64())),  # numbers of top features
        ("f1_micro", _FLOATS),  # on the grid
        ("f1_macro", _FLOATS),
        ("f1_micro_all", pa.float64()),  # all features, same fold, same learner
        ("f1_macro_all", pa.float64()),
        ("rf1_micro", _FLOATS),  # f1_micro / f1_micro_all; NaN where the denominator is 0
        ("rf1_macro", _FLOATS),
        ("aurf1_micro", pa.float64()),
        ("aurf1_macro", pa.float64()),
        ("best_f1_micro", pa.float64()),
        ("best_f1_macro", pa.float64()),
        ("weights", _FLOATS),  # the ranker's, one per feature; null for kind "all_features"
        ("latent_dimension", pa.int32()),  # null when there is none
        ("phase_seconds", pa.string()),  # JSON object: phase of the fit → seconds; null when not known
        ("versions", pa.string()),  # JSON object: package → version
        ("machine", pa.string()),  # JSON object: system, processor, cores
        # Added later: null in rows from before.
        ("time_limit_seconds", pa.float64()),  # of the ranker's fit, when there was one
        ("memory_limit_mib", pa.float64()),
        ("measurement", pa.string()),  # JSON object: what a side experiment measured; null for rankings
        # "own_trees": forests were grown by experiments.learners; "learner": by the learner itself; "own_trees,
        # learner": some by each. Null for a learner that goes on from fewer features to more.
        ("learner_way", pa.string()),
        # Of a numeric target, whose rows have nulls in the columns of F1: as f1_micro and so on, with R².
        ("r2", _FLOATS),
        ("r2_all", pa.float64()),
        ("rr2", _FLOATS),  # r2 / r2_all; NaN where the denominator is not above 0
        ("aurr2", pa.float64()),
        ("best_r2", pa.float64()),
        # Features that have or share one of the first 20 places of the ranking (experiments.metrics.top_features),
        # best first: columns (0-based), names, places (equal weights share their mean), weights.
        ("top_columns", pa.list_(pa.int64())),
        ("top_names", pa.list_(pa.string())),  # null where the names were not known
        ("top_ranks", _FLOATS),
        ("top_weights", _FLOATS),
    ]
)

#: Columns that rows written by earlier versions do not have.
ADDED_COLUMNS = tuple(ROW_SCHEMA.names[ROW_SCHEMA.names.index("time_limit_seconds") :])


#: Where cells run: processes of this machine, a dask cluster, or jobs of SLURM (``conf/launcher``).
BACKENDS = ("loky", "dask", "slurm")


def _least(name: str, value: float | None, least: int, otherwise: str = "") -> None:
    if value is not None and value < least:
        raise ValueError(f"{name} must be at least {least}{otherwise}, not {value}")


@dataclass
class Shape:
    """What a data set must look like once loaded; ``None`` where not stated."""

    rows: int | None = None
    features: int | None = None
    classes: int | None = None
    nonzero_share: float | None = None
    note: str | None = None


@dataclass
class DatasetConfig:
    """One data set (``conf/dataset/*.yaml``)."""

    name: str
    task: str  # "multiclass", "multilabel" or "regression" (a numeric target), or "auto": classes or labels
    expected: Shape = field(default_factory=Shape)  # classes: the number of labels of a multi-label one
    source: dict[str, Any] | None = None  # where it is read from ...
    sources: list[dict[str, Any]] = field(default_factory=list)  # ... or several, tried in order
    drop_constant: bool = False  # whether columns with one value only are left out
    missing: str = (
        "error"  # what is done about missing values: "error", "most_frequent", "drop_rows" or "ranker"
    )
    missing_values: str = ""  # how many there are and what is done, in words
    groups: str | None = None  # column whose values name groups of samples that folds do not part
    folds: str | None = None  # file with the fold that each sample is tested in, one number per line
    informative: list[str] | None = None  # columns that decide the target, where no others are known to do
    paper: Shape | None = None  # null when the data set is not in the paper's tables
    differs: str | None = None  # why rows, features, classes or share of non-zeros are not the paper's
    licence: str = ""
    citation: str = ""
    url: str = ""


@dataclass
class ProtocolConfig:
    """How rankings are evaluated (``conf/protocol/*.yaml``)."""

    name: str
    n_splits: int
    n_repeats: int
    grid_points: int = 50
    max_rows: int | None = None  # a random subset of the samples where there are more; null: all of them
    learner: dict[str, Any] = field(default_factory=dict)  # for one class per sample; features scaled
    multilabel_learner: dict[str, Any] = field(default_factory=dict)  # for labels; features as they are
    regression_learner: dict[str, Any] = field(
        default_factory=dict
    )  # for a numeric target; features standardised
    # What is measured instead, on all samples at once (``experiments.evaluation.measurements``).
    measure: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        """Check ranges."""
        for name in ("n_repeats", "grid_points"):
            _least(name, getattr(self, name), 1)
        _least("max_rows", self.max_rows, 2, ", or null for all samples")
        if self.measure is None:
            _least("n_splits", self.n_splits, 2)
        elif self.n_splits != 1:
            raise ValueError(
                f"n_splits must be 1 where all samples are measured at once, not {self.n_splits}"
            )
        elif not isinstance(self.measure.get("_target_"), str):
            raise ValueError("measure has no _target_ (the function that measures)")


@dataclass
class PathsConfig:
    """Where results go, where local data files are, and where downloads are kept (``conf/paths/*.yaml``)."""

    results: str
    local_data: str
    cache: str | None = None  # null: RELIEFE_CACHE, else the user's cache folder


@dataclass
class LauncherConfig:
    """How cells are spread over processes (``conf/launcher/*.yaml``)."""

    backend: str = "loky"  # "loky", "dask" or "slurm"
    n_workers: int | None = None  # processes; null: one per core
    n_threads: int | None = None  # threads one ranker may use; null: as many as the cores allow
    time_limit_seconds: float | None = None  # of one fit of a ranker
    memory_limit_mib: float | None = None  # of one fit of a ranker
    give_up: bool = False  # whether the folds of a cell after one that took too long are not tried
    score_cache: bool = True  # whether a learner's score on features that another ranker had is looked up
    scheduler: str | None = None  # dask: address of one that runs, such as tcp://host:8786
    cluster: dict[str, Any] = field(default_factory=dict)  # settings of the dask cluster to be made

    def __post_init__(self) -> None:
        """Check ranges."""
        if self.backend not in BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, not {self.backend}")
        _least("n_workers", self.n_workers, 1, ", or null for all cores")
        _least("n_threads", self.n_threads, 1, ", or null for what the cores allow")
        for name in ("time_limit_seconds", "memory_limit_mib"):
            if (limit := getattr(self, name)) is not None and limit <= 0:
                raise ValueError(f"{name} must be above 0, or null for no limit, not {limit}")


#: Status of a fold without numbers → how it is said.
BAD_STATUSES = {"failed": "failed", "timeout": "timed out", "out_of_memory": "out of memory"}

#: Status → the column with the limit that stopped such a fold.
LIMIT_COLUMNS = {"timeout": "time_limit_seconds", "out_of_memory": "memory_limit_mib"}


def when_again(status: str, limited: bool) -> str:
    """Write when folds without numbers are tried again; ``limited``: a known limit stopped them."""
    if status in LIMIT_COLUMNS and limited:
        return f"tried again only under a higher launcher.{LIMIT_COLUMNS[status]}, or none"
    return "tried again by a run with the same arguments"
