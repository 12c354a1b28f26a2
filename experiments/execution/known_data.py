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

from experiments.datasets import Dataset
from experiments.errors import BadInputError
from experiments.store.keys import cell_key

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
#: Settings of a source that do not decide its content: where else the same file may be had, and who reads it.
_INDIFFERENT = ("download", "_target_")


@dataclass(frozen=True)
class KnownData:
    """A data set whose content is known and was not read."""

    name: str
    task: str
    checksum: str
    n_classes: int | None = None  # of a multi-class one
    informative: tuple[int, ...] = ()  # columns that decide the target, where it is known that no others do

    @classmethod
    def of(cls, data: Dataset) -> KnownData:
        """Describe a loaded data set."""
        return cls(data.name, data.task, data.checksum, n_classes_of(data), tuple(map(int, data.informative)))


def n_classes_of(data: Dataset) -> int | None:
    """Return the number of classes of a multi-class data set, None for any other."""
    return len(set(data.y.tolist())) if data.task == "multiclass" else None


def digest_of(config: Mapping[str, Any]) -> str | None:
    """Return the digest of what decides the content of a data set, None for one that is always read."""
    dataset, max_rows = config["dataset"], config["protocol"].get("max_rows")
    content = {
        key: default if dataset.get(key) is None else dataset[key] for key, default in _DECIDING.items()
    }
    if content["groups"] is not None or content["folds"] is not None or content["missing"] == "ranker":
        return None
    content["sources"] = [
        {key: value for key, value in source.items() if key not in _INDIFFERENT}
        for source in [content.pop("source"), *content["sources"]]
        if source
    ]
    content["sample"] = None if max_rows is None else [max_rows, config["seed"]]
    try:
        return cell_key(content)
    except (TypeError, ValueError):
        return None


def read_known(results: Path) -> dict[str, KnownData]:
    """Return digest → data set of the rows published in a results folder, or in this folder."""
    found: dict[str, KnownData] = {}
    for rows in (results / "published" / "rows", results / "rows"):
        file = rows / FILE
        try:
            lines = json.loads(file.read_text(encoding="utf-8"))
            for digest, line in lines.items():
                found[digest] = KnownData(**{**line, "informative": tuple(line["informative"])})
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
            raise BadInputError(
                f"{file} does not say what the published data sets hold; take the repository's own copy, or "
                "make it again with python publish.py datasets"
            ) from error
    return found


def known_text(known: Mapping[str, KnownData]) -> str:
    """Return JSON with a line for each data set, in the order of their names."""
    ordered = sorted(known.items(), key=lambda item: (item[1].name, item[0]))
    lines = [f"{json.dumps(digest)}: {json.dumps(asdict(data))}" for digest, data in ordered]
    return "{" + ",\n".join(lines) + "}\n"
