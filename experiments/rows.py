"""Rows between plain dictionaries, Arrow tables and data frames; always with the columns of ``ROW_SCHEMA``."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from experiments.schema import ADDED_COLUMNS, ROW_SCHEMA

#: Their versions decide folds and learner scores whatever the ranker is.
_ALWAYS = ("numpy", "scipy", "scikit-learn")

#: Distributions behind a ``_target_``, for those that lean on more than the one they lie in. The longest name
#: that fits counts, so an upgrade of umap-learn does not run ReliefF again.
_BEHIND = {
    "reliefe": ("reliefe-bench", "numba", "umap-learn", "pynndescent"),
    "reliefe.ReliefF": ("reliefe-bench", "numba"),
    "umap": ("umap-learn", "pynndescent", "numba"),
    "sklearn": (),
    "experiments.rankers.scores": ("reliefe-bench",),
    "experiments.rankers.information": ("reliefe-bench", "fast-select", "numba"),
    "experiments.rankers.all_relevant": ("reliefe-bench", "boruta"),
    "fast_select": ("fast-select", "numba"),
}

#: Modules whose versions are told by others.
_NO_FINGERPRINT = ("experiments", "reliefe", "sklearn")

#: Distribution → package, of those whose version is taken from the source.
_OWN = {"reliefe-bench": "reliefe"}


def to_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Make a table of rows.

    Parameters
    ----------
    rows : iterable of mapping
        Column → value; columns left out are null. A NaN outside of lists is null as well.

    Returns
    -------
    pyarrow.Table
        With the columns and types of ``ROW_SCHEMA``.

    Raises
    ------
    ValueError
        If a row has a column that the schema does not know.
    """
    rows = list(rows)
    unknown = sorted({name for row in rows for name in row} - set(ROW_SCHEMA.names))
    if unknown:
        raise ValueError(f"not columns of a row: {', '.join(unknown)}")
    return _assemble({name: [row.get(name) for row in rows] for name in ROW_SCHEMA.names})


def from_frame(frame: pd.DataFrame) -> pa.Table:
    """Turn a frame with the columns of ``ROW_SCHEMA`` into a table; see :func:`to_table`.

    Parameters
    ----------
    frame : pandas.DataFrame
        As :func:`to_frame` gives it.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    ValueError
        If columns are missing or unknown.
    """
    differing = set(frame.columns) ^ set(ROW_SCHEMA.names)
    if not differing <= set(ADDED_COLUMNS):
        raise ValueError(f"columns missing or unknown: {', '.join(sorted(differing))}")
    nothing = [None] * len(frame)
    return _assemble({name: frame[name] if name in frame else nothing for name in ROW_SCHEMA.names})


def _assemble(columns: Mapping[str, Any]) -> pa.Table:
    # from_pandas makes NaN null, which is the same to a reader of scalars, but inside a curve a NaN is a value.
    arrays = [
        pa.array(list(columns[field.name]), type=field.type)
        if pa.types.is_list(field.type)
        else pa.array(columns[field.name], type=field.type, from_pandas=True)
        for field in ROW_SCHEMA
    ]
    return pa.table(arrays, schema=ROW_SCHEMA)


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Turn a table of rows into a frame.

    Parameters
    ----------
    table : pyarrow.Table
        With the columns of ``ROW_SCHEMA``.

    Returns
    -------
    pandas.DataFrame
        Curves, grid and weights are numpy arrays (None where null). Types do not depend on what is null:
        ``latent_dimension`` is always a float (NaN for none), ``learner_converged`` pandas' ``boolean``.
    """
    table = table.combine_chunks()
    dimension = table.schema.get_field_index("latent_dimension")
    table = table.set_column(dimension, "latent_dimension", table["latent_dimension"].cast(pa.float64()))
    return table.to_pandas(types_mapper={pa.bool_(): pd.BooleanDtype()}.get)


def all_ok(table: pa.Table) -> bool:
    """Whether there are rows and every one has status "ok".

    Parameters
    ----------
    table : pyarrow.Table
        Rows of one cell.

    Returns
    -------
    bool
    """
    return table.num_rows > 0 and set(table["status"].to_pylist()) == {"ok"}


def state_of(table: pa.Table) -> str:
    """Say how a cell is in one word.

    Parameters
    ----------
    table : pyarrow.Table
        Its rows, at least one.

    Returns
    -------
    str
        "ok" when every row is, else the status of the first that is not.
    """
    return next((status for status in table["status"].to_pylist() if status != "ok"), "ok")


@lru_cache(maxsize=1)
def machine() -> dict[str, Any]:
    """Describe the machine, without a name that would tell whose it is.

    Returns
    -------
    dict
        ``system``, ``processor``, ``cores``.
    """
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            processor = next(
                (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), processor
            )
    except OSError:
        pass
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor,
        "cores": os.cpu_count(),
    }


def versions(*configs: Any, also: Sequence[str] = ()) -> dict[str, str | None]:
    """Return the versions of the packages that decide the numbers of what is configured.

    Parameters
    ----------
    *configs : mapping, list or value
        Blocks with ``_target_`` at any depth.
    also : sequence of str
        Distributions that decide them too.

    Returns
    -------
    dict
        Distribution → version, sorted; None for one that is not installed. A module that belongs to none, such as a
        user's own, has a fingerprint of its source instead: what it computed before it was changed is not taken for
        what it computes now.
    """
    names, own = {*_ALWAYS, *also}, {}
    for target in _targets(configs):
        found = _distributions(target)
        names.update(found)
        if not found:
            own |= _fingerprint(target.partition(".")[0])
    return dict(sorted(({name: installed(name) for name in names} | own).items()))


def present(name: str) -> str | None:
    """Return what :func:`versions` would state under a name in this process.

    Parameters
    ----------
    name : str
        Of a distribution, or of a module that belongs to none.

    Returns
    -------
    str or None
        None when neither is there.
    """
    version = installed(name)
    return _fingerprint(name).get(name) if version is None else version


def _fingerprint(module: str) -> dict[str, str]:
    """Return the module or package with the first digits of its files' SHA-256; {} for those of the project."""
    if module in _NO_FINGERPRINT or module in sys.stdlib_module_names:
        return {}
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return {}
    if spec is None or not (spec.origin or spec.submodule_search_locations):
        return {}
    files = [Path(spec.origin)] if spec.has_location else []
    for folder in spec.submodule_search_locations or []:
        files += sorted(Path(folder).rglob("*.py"))
    digest = hashlib.sha256()
    for file in files:
        with suppress(OSError):
            digest.update(file.read_bytes())
    return {module: f"source {digest.hexdigest()[:12]}"}


def _targets(config: Any) -> set[str]:
    if isinstance(config, Mapping):
        own = {config["_target_"]} if isinstance(config.get("_target_"), str) else set()
        return own.union(*(_targets(value) for value in config.values()))
    if isinstance(config, list | tuple):
        return set().union(*(_targets(value) for value in config))
    return set()


@lru_cache(maxsize=256)
def _distributions(target: str) -> tuple[str, ...]:
    parts = target.split(".")
    for n_parts in range(len(parts), 0, -1):
        if (name := ".".join(parts[:n_parts])) in _BEHIND:
            return _BEHIND[name]
    return tuple(sorted(set(_by_module().get(parts[0], ()))))


@lru_cache(maxsize=1)
def _by_module() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


@lru_cache(maxsize=256)
def installed(name: str) -> str | None:
    """Return the version of a distribution.

    Parameters
    ----------
    name : str
        The distribution's name.

    Returns
    -------
    str or None
        None when it is not installed. The project's own is that of the source that is imported, so that a checkout
        that is not installed has the same keys of cells as one that is.
    """
    if name in _OWN:
        return importlib.import_module(_OWN[name]).__version__
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
