"""The paper's table of data sets, with what the rows of a study contain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.groups import Group

_QUANTITIES = ("rows", "features", "classes", "nonzero_share")


def dataset_table(frame: pd.DataFrame, group: Group) -> pd.DataFrame:
    """Return a line for each data set of a group: sizes, the paper's sizes (``paper_…``), source.

    ``rows``, ``features``, ``classes`` (labels), ``nonzero_share``: NaN where they are not known; ``differs``: why
    they are not the paper's; ``here``: False where the data set is not on this machine.
    """
    lines = []
    for name, block in group.datasets.items():
        stated, paper = block.get("expected") or {}, block.get("paper") or {}
        seen = frame[(frame["dataset"] == name) & (frame["status"] == "ok") & (frame["kind"] == "ranking")]
        line: dict[str, Any] = {"dataset": name}
        line |= {each: _number(stated.get(each)) for each in _QUANTITIES}
        if len(seen):
            line["rows"] = float((seen["n_train"] + seen["n_test"]).max())
            line["features"] = float(seen["n_features"].max())
        differs = [str(block.get("differs") or "")]
        if group.max_rows is not None and (stated.get("rows") or 0) > group.max_rows:
            line["nonzero_share"] = np.nan  # stated of all samples
            differs.append(
                f"A random subset of {group.max_rows:,} of {stated['rows']:,} samples (protocol {group.protocol})."
            )
        line |= {f"paper_{each}": _number(paper.get(each)) for each in _QUANTITIES}
        line |= {
            "differs": " ".join(" ".join(differs).split()),
            "here": name not in group.absent,
            "citation": " ".join(str(block.get("citation") or "").split()),
            "licence": " ".join(str(block.get("licence") or "").split()),
        }
        lines.append(line)
    columns = ["dataset", *_QUANTITIES, *(f"paper_{each}" for each in _QUANTITIES)]
    return pd.DataFrame(lines, columns=[*columns, "differs", "here", "citation", "licence"])


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
