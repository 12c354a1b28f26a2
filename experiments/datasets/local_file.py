"""Data sets from files in the local data folder, in the format they were published in.

A reader gets the bytes of the file, and these are the bytes whose SHA-256 was compared: nothing can change in
between. A file is only ever read; none is deleted, moved or fetched from anywhere.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import loadmat

from experiments.datasets.raw import RawData, numbered_names
from experiments.errors import DatasetError, MissingFileError, near_names

_CONTINUOUS = {"continuous", "c", "numeric", "n"}
_ROLE_LEFT_OUT = {"meta", "m", "ignore", "i", "weight", "w"}


def find(path: str, places: Sequence[Path]) -> Path:
    """Find a file in the first folder that has it.

    Parameters
    ----------
    path : str
        Relative to the folders, or absolute.
    places : sequence of Path
        Folders, in the order they are tried.

    Returns
    -------
    Path

    Raises
    ------
    MissingFileError
        When no folder has it: every place looked at, and what to do.
    """
    candidates = list(dict.fromkeys(place / Path(path).expanduser() for place in places))
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    looked_at = ", ".join(str(each) for each in candidates)
    raise MissingFileError(
        f"file {path} not found; looked at {looked_at}\n"
        "put it there, or name the folder that holds it: paths.local_data=FOLDER"
    )


def read_checked(path: str, places: Sequence[Path], sha256: str | None) -> bytes:
    """Read a file whole, compare its checksum, and unpack it when its name ends in ``.gz``.

    Parameters
    ----------
    path, places
        As for :func:`find`.
    sha256 : str or None
        Expected SHA-256 of the file as it lies on disk, hexadecimal; ``None`` skips the comparison.

    Returns
    -------
    bytes
        The unpacked content.

    Raises
    ------
    DatasetError
        File missing, unreadable, of another checksum, or no valid gzip.
    """
    file = find(path, places)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DatasetError(f"{file} cannot be read: {error.strerror or error}") from error
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256.lower():
        raise DatasetError(
            f"{file} ({len(content)} bytes) is cut off or changed: "
            f"expected SHA-256 {sha256.lower()}, found {found}\n"
            "replace it by a good copy, or name a folder that holds one: paths.local_data=FOLDER"
        )
    if file.suffix != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{file} is no whole gzip file: {error}") from error


def matlab(
    path: str,
    features: str,
    target: str,
    *,
    places: Sequence[Path],
    sha256: str | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Mapping[str, str] | None = None,
) -> RawData:
    """Read a MATLAB file (up to version 7.2), plain or gzipped.

    Parameters
    ----------
    path, places, sha256
        As for :func:`read_checked`.
    features, target : str
        Names of the variables with the n × p matrix (dense or sparse) and with the n classes.
    feature_names : sequence of str, optional
        Names for the columns; numbered ones if not given.
    class_names : mapping, optional
        Readable names for the labels.

    Returns
    -------
    RawData
        ``X`` in the file's own storage, dense or sparse.

    Raises
    ------
    DatasetError
        File missing, damaged, no MATLAB file, or without these variables.
    """
    content = read_checked(path, places, sha256)
    try:
        variables = loadmat(io.BytesIO(content))
    except Exception as error:  # scipy raises many kinds on damaged input
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise DatasetError(f"{path} cannot be read as a MATLAB file ({reason})") from error
    there = [name for name in variables if not name.startswith("__")]
    for name in (features, target):
        if name not in there:
            near = near_names(name, there)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise DatasetError(f"{path} has no variable {name!r} (it has {', '.join(there) or 'none'}){hint}")
    X = variables[features]
    labels = variables[target]
    labels = (labels.toarray() if sparse.issparse(labels) else np.asarray(labels)).ravel()
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DatasetError(f"{path}: variable {features!r} is no table of numbers ({X.ndim}-d {X.dtype})")
    return RawData(X, labels, feature_names or numbered_names(X.shape[1]), class_names)


def delimited(
    path: str,
    target: int | str,
    *,
    places: Sequence[Path],
    delimiter: str = ",",
    header: bool = False,
    sha256: str | None = None,
    class_names: Mapping[str, str] | None = None,
) -> RawData:
    """Read delimited text, one row a line, plain or gzipped.

    Parameters
    ----------
    path, places, sha256
        As for :func:`read_checked`.
    target : int or str
        The class column: its name when the file has a header, else its position (0-based; −1 is the last).
    delimiter : str
        What separates the cells.
    header : bool
        Whether the first line holds the column names.
    class_names : mapping, optional
        Readable names for the labels.

    Returns
    -------
    RawData

    Raises
    ------
    DatasetError
        File missing or damaged, uneven lines, no such class column, a cell that is no number (with column and
        line).
    """
    text = _decoded(read_checked(path, places, sha256), path)
    table = _table(text, path, delimiter, header=0 if header else None)
    columns = [str(each) for each in table.columns] if header else numbered_names(table.shape[1])
    table.columns = columns
    if isinstance(target, str):
        if not header:
            raise DatasetError(
                f"{path} has no header line, so its class column needs a number, not {target!r}"
            )
        if target not in columns:
            near = near_names(target, columns)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise DatasetError(f"{path} has no column {target!r} for the class{hint}")
        place = columns.index(target)
    else:
        if not -len(columns) <= target < len(columns):
            raise DatasetError(f"{path} has {len(columns)} columns, so there is no column {target}")
        place = target % len(columns)
    first_line = 2 if header else 1
    kept = [index for index in range(len(columns)) if index != place]
    X = _numbers(table, kept, columns, path, first_line)
    return RawData(X, _labels(table.iloc[:, place], path), [columns[index] for index in kept], class_names)


def orange_tab(
    path: str,
    *,
    places: Sequence[Path],
    sha256: str | None = None,
    class_names: Mapping[str, str] | None = None,
) -> RawData:
    """Read Orange's tab-separated format: names, types and roles in the first three lines.

    The class column is the one whose role is ``class``; columns with the roles meta, ignore and weight are left
    out.

    Parameters
    ----------
    path, places, sha256
        As for :func:`read_checked`.
    class_names : mapping, optional
        Readable names for the labels.

    Returns
    -------
    RawData

    Raises
    ------
    DatasetError
        File missing or damaged, not one class column, a feature that is not continuous, a cell that is no number.
    """
    text = _decoded(read_checked(path, places, sha256), path)
    lines = text.split("\n", 3)
    if len(lines) < 4:
        raise DatasetError(f"{path} has {len(lines)} lines; an Orange table has three before the first row")
    names, types, roles = (line.rstrip("\r").split("\t") for line in lines[:3])
    if not len(names) == len(types) == len(roles):
        raise DatasetError(
            f"{path}: {len(names)} names, {len(types)} types and {len(roles)} roles in lines 1 to 3"
        )
    # A role may carry attributes after it ("class more=words").
    roles = [role.split()[0].lower() if role.strip() else "" for role in roles]
    classes = [index for index, role in enumerate(roles) if role in ("class", "c")]
    if len(classes) != 1:
        raise DatasetError(f"{path} has {len(classes)} columns with the role class; there must be one")
    kept = [index for index, role in enumerate(roles) if index != classes[0] and role not in _ROLE_LEFT_OUT]
    for index in kept:
        if types[index].strip().lower() not in _CONTINUOUS:
            raise DatasetError(
                f"{path}: column {names[index]!r} is {types[index]!r}; only continuous ones are read"
            )
    table = _table(lines[3], path, "\t", header=None)
    if table.shape[1] != len(names):
        raise DatasetError(f"{path}: rows of {table.shape[1]} cells under {len(names)} names")
    X = _numbers(table, kept, names, path, first_line=4)
    return RawData(X, _labels(table.iloc[:, classes[0]], path), [names[index] for index in kept], class_names)


def _decoded(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DatasetError(f"{path}, line {line}: not UTF-8 text ({error.reason})") from error


def _table(text: str, path: str, delimiter: str, header: int | None) -> pd.DataFrame:
    try:
        return pd.read_csv(
            io.StringIO(text.rstrip("\r\n")),
            sep=delimiter,
            header=header,
            low_memory=False,
            skip_blank_lines=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise DatasetError(f"{path} is no even table: {str(error).strip().splitlines()[0]}") from error


def _numbers(
    table: pd.DataFrame, kept: Sequence[int], names: Sequence[str], path: str, first_line: int
) -> np.ndarray:
    X = np.empty((len(table), len(kept)), dtype=np.float64)
    for place, index in enumerate(kept):
        column = table.iloc[:, index]
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if bad.size:
            cell = column.iloc[bad[0]]
            what = "is empty or missing" if pd.isna(cell) else f"holds {str(cell)!r}, no finite number"
            raise DatasetError(f"{path}, line {first_line + bad[0]}: column {names[index]!r} {what}")
        X[:, place] = numbers
    return X


def _labels(column: pd.Series, path: str) -> np.ndarray:
    if column.isna().any():
        raise DatasetError(f"{path}: {int(column.isna().sum())} rows have no class")
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy()
    return np.array([str(each).strip() for each in column])
