"""What data sets of published rows hold, so that their rows are found where the files are not.

A row belongs to a data set by the checksum of its content. Beside published rows lies ``datasets.json``: for each
data set that is read from files, its checksum and what else its cells need, under a digest of the configuration
that reads it. Another configuration (other columns, another file, other samples) has another digest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.datasets import Dataset
from experiments.datasets.raw import numbered_names
from experiments.errors import BadInputError
from experiments.metrics.duration import Size
from experiments.store.keys import cell_key
from experiments.tasks import TASKS

FILE = "datasets.json"

#: Settings of a data set that decide its content → what they are where they are not stated.
_DECIDING: dict[str, Any] = {
    "task": None,
    "source": None,
    "sources": [],
    "drop_constant": False,
    "missing": "error",
    "informative": None,
    "groups": None,
    "folds": None,
}
#: Settings of a source that do not decide its content: where else the same file may be had.
_ELSEWHERE = "download"


@dataclass(frozen=True)
class KnownData:
    """A data set whose content is known and was not read.

    Attributes
    ----------
    name : str
        As in its YAML file.
    task : str
        A key of :data:`experiments.tasks.TASKS`.
    checksum : str
        Of its content.
    size : Size
        Its shape, number of classes or labels, and the like.
    informative : tuple of int
        Columns that decide the target, where it is known that no others do.
    feature_names : tuple of str
        In column order.
    """

    name: str
    task: str
    checksum: str
    size: Size
    informative: tuple[int, ...] = ()
    feature_names: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: Dataset) -> KnownData:
        """Describe a loaded data set.

        Parameters
        ----------
        data : Dataset
            Loaded.

        Returns
        -------
        KnownData
        """
        return cls(
            data.name,
            data.task,
            data.checksum,
            size_of(data),
            tuple(data.informative),
            tuple(data.feature_names),
        )


def size_of(data: Dataset) -> Size:
    """Describe a loaded data set for estimates of time.

    Parameters
    ----------
    data : Dataset
        Loaded.

    Returns
    -------
    Size
    """
    X, y = data.X, data.y
    stored = X.nnz if hasattr(X, "nnz") else int(np.count_nonzero(X))
    labels = data.task == "multilabel"
    n_targets = y.shape[1] if labels else 1 if TASKS[data.task].numeric else int(y.max()) + 1
    return Size(X.shape[0], X.shape[1], stored, n_targets, labels, hasattr(X, "nnz"))


def digest_of(config: Mapping[str, Any]) -> str | None:
    """Hash what decides the content of the data set of a configuration.

    Parameters
    ----------
    config : mapping
        Resolved: its data set, seed and the protocol's ``max_rows`` are looked at.

    Returns
    -------
    str or None
        SHA-256, hexadecimal. None for a data set that states groups or folds, leaves missing values to rankers, or
        has settings that are no plain values: these are always read.
    """
    dataset, max_rows = config["dataset"], config["protocol"].get("max_rows")
    content = {
        key: default if dataset.get(key) is None else dataset[key] for key, default in _DECIDING.items()
    }
    if content["groups"] is not None or content["folds"] is not None or content["missing"] == "ranker":
        return None
    sources = [content.pop("source"), *content.pop("sources")]
    content["sources"] = [
        {key: value for key, value in source.items() if key != _ELSEWHERE} for source in sources if source
    ]
    content["sample"] = None if max_rows is None else [max_rows, config["seed"]]
    try:
        return cell_key(content)
    except (TypeError, ValueError):
        return None


def read_known(results: Path) -> dict[str, KnownData]:
    """Read what is known of the data sets of the published rows that a results folder has.

    Parameters
    ----------
    results : Path
        The results folder, or the folder of published rows itself.

    Returns
    -------
    dict
        Digest (:func:`digest_of`) → data set; empty without published rows.

    Raises
    ------
    BadInputError
        If the file is not what :func:`known_text` writes.
    """
    found: dict[str, KnownData] = {}
    for rows in (results / "published" / "rows", results / "rows"):
        file = rows / FILE
        try:
            lines = json.loads(file.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            raise _not_ours(file) from error
        try:
            found |= {digest: _from_line(line) for digest, line in lines.items()}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _not_ours(file) from error
    return found


def known_text(known: Mapping[str, KnownData]) -> str:
    """Write what is known of data sets.

    Parameters
    ----------
    known : mapping
        Digest → data set.

    Returns
    -------
    str
        JSON, a line for each, in the order of their names; numbered names (x1, x2, …) are left out.
    """
    ordered = sorted(known.items(), key=lambda item: (item[1].name, item[1].size.rows, item[0]))
    lines = [f"{json.dumps(digest)}: {json.dumps(_line(data))}" for digest, data in ordered]
    return "{" + ",\n".join(lines) + "}\n"


def _line(data: KnownData) -> dict[str, Any]:
    line = asdict(data)
    if list(data.feature_names) == numbered_names(data.size.features):
        line["feature_names"] = None
    return line


def _from_line(line: Mapping[str, Any]) -> KnownData:
    size, names = Size(**line["size"]), line["feature_names"]
    if names is None:
        names = numbered_names(size.features)
    if len(names) != size.features:
        raise ValueError("as many names as features are needed")
    plain = (str(line["name"]), str(line["task"]), str(line["checksum"]))
    return KnownData(*plain, size, tuple(map(int, line["informative"])), tuple(map(str, names)))


def _not_ours(file: Path) -> BadInputError:
    return BadInputError(
        f"{file} does not say what the published data sets hold; take the repository's own copy of it, or make it "
        "again with python publish.py datasets"
    )
