"""Where rows come from: versions, machines, limits, and the keys of their cells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from experiments.analysis.selection import PAIR

#: Hexadecimal digits of a key that are shown.
KEY_DIGITS = 12


def versions(frame: pd.DataFrame) -> pd.DataFrame:
    """List the packages behind rows.

    ``package``, ``version`` ("not installed" where rows say so), ``rows``; more than one line for a package of
    which rows name several versions. Sorted by package, then by number of rows, most first.
    """
    return _counted(frame["versions"], ("package", "version"), _version_of)


def machines(frame: pd.DataFrame) -> pd.DataFrame:
    """List the machines that rows were made on.

    ``machine`` (system, processor and cores in words), ``rows``; most rows first.
    """
    counted = _counted(frame["machine"], ("machine",), _machine_of)
    return counted.sort_values("rows", ascending=False, kind="stable", ignore_index=True)


def settings(frame: pd.DataFrame) -> pd.DataFrame:
    """List under which seed, threads and limits rows were made.

    ``seed``, ``n_threads``, ``time_limit_seconds``, ``memory_limit_mib`` (NaN for none), ``rows``; one line for
    each combination, most rows first.
    """
    names = ["seed", "n_threads", "time_limit_seconds", "memory_limit_mib"]
    counted = frame[names].astype("float64").groupby(names, dropna=False).size().reset_index(name="rows")
    return counted.sort_values("rows", ascending=False, kind="stable", ignore_index=True)


def keys(frame: pd.DataFrame) -> pd.DataFrame:
    """List the cells behind rows.

    One line per data set × protocol × ranker, in the order of the rows: ``dataset``, ``protocol``,
    ``ranker``, ``cells`` (their number), ``digest`` (the first digits of the SHA-256 of their keys, sorted,
    one a line: equal digests mean equal cells), ``keys`` (list: the first digits of each, in the order of
    repeats).
    """
    cells = frame[[*PAIR, "repeat", "cell_key"]].drop_duplicates()
    lines = []
    for pair, group in cells.groupby(PAIR, sort=False):
        whole = group.sort_values("repeat", kind="stable")["cell_key"].astype(str).tolist()
        digest = hashlib.sha256("".join(f"{key}\n" for key in sorted(whole)).encode()).hexdigest()
        lines.append([*pair, len(whole), digest[:KEY_DIGITS], [key[:KEY_DIGITS] for key in whole]])
    return pd.DataFrame(lines, columns=[*PAIR, "cells", "digest", "keys"])


def _counted(texts: pd.Series, names: tuple[str, ...], lines_of: Any) -> pd.DataFrame:
    counts: dict[tuple[Any, ...], int] = {}
    for text, n_rows in texts.dropna().value_counts().items():  # few distinct texts, many rows
        for line in lines_of(json.loads(text)):
            counts[line] = counts.get(line, 0) + int(n_rows)
    lines: list[tuple[Any, ...]] = [(*line, n_rows) for line, n_rows in counts.items()]
    lines.sort(key=lambda line: (line[0].lower(), -line[-1], line))
    return pd.DataFrame(lines, columns=[*names, "rows"])


def _version_of(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for package, version in found.items():
        yield package, "not installed" if version is None else str(version)


def _machine_of(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    cores = found.get("cores")
    told = [found.get("system"), found.get("processor"), f"{cores} cores" if cores else None]
    yield (", ".join(str(each) for each in told if each) or "not told",)
