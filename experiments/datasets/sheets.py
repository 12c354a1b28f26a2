"""Data sets in R data files and in spreadsheets."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.datasets.files import read_file
from experiments.datasets.parsed_cache import remember
from experiments.datasets.raw import RawData, numbered_names
from experiments.errors import DatasetError, near_names
from experiments.places import Places

#: Raised by one when the same bytes are read differently.
_VERSION = 1


def r_data(
    path: str,
    variable: str,
    *,
    places: Places | Sequence[Path],
    features: str = "x",
    target: str = "y",
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
    class_names: Mapping[str, str] | None = None,
) -> RawData:
    """Read a list of a table and a factor from an R data file.

    Parameters
    ----------
    path, places, sha256, download
        As for :func:`experiments.datasets.files.read_file`.
    variable : str
        Name of the list.
    features, target : str
        Its elements: a matrix or data frame with a row per instance, and the classes.
    class_names : mapping, optional
        Readable names for the classes.

    Returns
    -------
    RawData

    Raises
    ------
    DatasetError
        File missing, damaged, or without this variable or these elements.
    """
    file = read_file(path, places, sha256, download)

    def made() -> RawData:
        import rdata

        try:
            with warnings.catch_warnings():
                # It tells of each attribute of each column that it has no use for.
                warnings.simplefilter("ignore")
                found = rdata.conversion.convert(rdata.parser.parse_data(file.data))
        except Exception as error:  # the package raises many kinds on damaged input
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise DatasetError(f"{file.name} cannot be read as an R data file ({reason})") from error
        listed = _element(found, variable, "variable", file.name)
        if not isinstance(listed, Mapping):
            raise DatasetError(f"{file.name}: {variable} is no list with {features} and {target}")
        X, names = _matrix(_element(listed, features, f"element of {variable}", file.name), file.name)
        labels = np.asarray(_element(listed, target, f"element of {variable}", file.name))
        if labels.dtype.kind not in "biuf":
            labels = np.array([str(each) for each in labels])
        return RawData(X, labels, names, class_names)

    parameters = {
        "variable": variable,
        "features": features,
        "target": target,
        "class_names": class_names,
    }
    return remember(places, "r_data", _VERSION, [file], parameters, made)


def spreadsheet(
    path: str,
    features: str,
    target: str,
    *,
    places: Places | Sequence[Path],
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
    class_names: Mapping[str, str] | None = None,
) -> RawData:
    """Read an ``.xlsx`` file with the features on one sheet and the class on another, names in the first line.

    Parameters
    ----------
    path, places, sha256, download
        As for :func:`experiments.datasets.files.read_file`.
    features : str
        The sheet of the features.
    target : str
        The sheet whose only column is the class.
    class_names : mapping, optional
        Readable names for the classes.

    Returns
    -------
    RawData

    Raises
    ------
    DatasetError
        File missing, damaged, without these sheets, or with a cell that is no number (sheet, line, column).
    """
    file = read_file(path, places, sha256, download)

    def made() -> RawData:
        try:
            sheets = pd.read_excel(io.BytesIO(file.data), sheet_name=None, engine="openpyxl")
        except Exception as error:  # the package raises many kinds on damaged input
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise DatasetError(f"{file.name} cannot be read as a spreadsheet ({reason})") from error
        table = _element(sheets, features, "sheet", file.name)
        classes = _element(sheets, target, "sheet", file.name)
        if classes.shape[1] != 1:
            raise DatasetError(f"{file.name}: sheet {target!r} has {classes.shape[1]} columns, not one")
        if classes.isna().any(axis=None):
            raise DatasetError(f"{file.name}: sheet {target!r} has rows without a class")
        X = np.empty(table.shape)
        for place, name in enumerate(table.columns):
            numbers = pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=np.float64)
            bad = np.flatnonzero(~np.isfinite(numbers))
            if bad.size:
                raise DatasetError(
                    f"{file.name}, sheet {features!r}, line {bad[0] + 2}: column {name!r} holds "
                    f"{table[name].iloc[bad[0]]!r}, no finite number"
                )
            X[:, place] = numbers
        return RawData(X, classes.iloc[:, 0].to_numpy(), [str(each) for each in table.columns], class_names)

    parameters = {"features": features, "target": target, "class_names": class_names}
    return remember(places, "spreadsheet", _VERSION, [file], parameters, made)


def _element(found: Mapping[Any, Any], name: str, what: str, file: str) -> Any:
    there = {str(key): value for key, value in found.items()}
    if name not in there:
        near = near_names(name, there)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise DatasetError(f"{file} has no {what} {name!r} (it has {', '.join(there) or 'none'}){hint}")
    return there[name]


def _matrix(table: Any, file: str) -> tuple[np.ndarray, list[str]]:
    if isinstance(table, pd.DataFrame):
        names = [str(each) for each in table.columns]
        table = table.to_numpy()
    else:  # a labelled array of xarray when the matrix has dimnames, a plain one when not
        coordinates = getattr(table, "coords", {})
        last = getattr(table, "dims", (None,))[-1]
        names = [str(each) for each in coordinates[last].values] if last in coordinates else None
        table = np.asarray(table)
    if table.dtype.kind == "O":  # whole numbers with a type of their own for missing ones
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError):
            pass  # told below
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        raise DatasetError(f"{file}: the features are no table of numbers ({table.ndim}-d {table.dtype})")
    return table, names or numbered_names(table.shape[1])
