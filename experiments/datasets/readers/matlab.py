"""Data sets in MATLAB files."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from experiments.datasets.download import Content, read_file, reason_of
from experiments.datasets.names import Column, check_first_column, listed, suggestion
from experiments.datasets.raw import Matrix, RawData, as_text, numbered_names, without_columns
from experiments.errors import DatasetError
from experiments.paths import Places

#: Where the name of the file stands among its variables; no variable can have this name.
_FILE = "."
_HDF5 = b"\x89HDF\r\n\x1a\n"


def matlab(
    path: str,
    features: str | Sequence[str],
    target: str | Sequence[str],
    *,
    places: Places | Sequence[Path],
    sha256: str | None = None,
    download: Mapping[str, Any] | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Mapping[str, str] | None = None,
    label_names: Sequence[str] | None = None,
    labels_in_rows: bool = False,
    absent: int = 0,
    first_rows: int | None = None,
    make_sparse: bool = False,
    leave_out: Column | Sequence[Column] = (),
    variables: Mapping[str, Any] | None = None,
) -> RawData:
    """Read a MATLAB file (up to version 7.2), plain or packed."""
    if variables is None:
        variables = variables_of(read_file(path, places, sha256, download))
    file = variables[_FILE]
    X = _stacked([_table(variables, name, file) for name in _listed(features)], file, features)
    parts = [_target(variables, name, file, labels_in_rows) for name in _listed(target)]
    labels = _stacked(parts, file, target)
    if labels.ndim == 2 and min(labels.shape) == 1:
        labels = (labels.toarray() if sparse.issparse(labels) else labels).ravel()
    if labels.ndim == 2:
        labels = sparse.csr_matrix(labels)
        if absent:
            labels.data[labels.data == absent] = 0
            labels.eliminate_zeros()
        label_names = label_names or [f"y{number}" for number in range(1, labels.shape[1] + 1)]
    if first_rows is not None:
        X, labels = (X.tocsr() if sparse.issparse(X) else X)[:first_rows], labels[:first_rows]
    if make_sparse:
        X = sparse.csr_matrix(X)
    if not feature_names and not listed(leave_out):
        check_first_column(X, file, "let it not be the first")
    lengths = [int(_variable(variables, name, file).shape[0]) for name in _listed(features)]

    def place_of(row: int) -> str:
        return _place(file, _listed(features), lengths, row)

    names = feature_names or numbered_names(X.shape[1])
    raw = RawData(X, labels, names, class_names, label_names, place_of=place_of)
    return without_columns(raw, leave_out, file)


def _place(file: str, names: Sequence[str], lengths: Sequence[int], row: int) -> str:
    """Say in which variable, and where in it, a row of the stacked parts lies; MATLAB counts from 1."""
    part = 0
    while row >= lengths[part]:
        row -= lengths[part]
        part += 1
    return f"{file}, variable {names[part]!r}, row {row + 1} (counted from 1)"


def variables_of(file: Content) -> dict[str, Any]:
    """Return the variables of a MATLAB file, and its name."""
    if file.data.startswith((b"MATLAB 7.3", _HDF5)):
        raise DatasetError(
            f"{file.name} is a MATLAB 7.3 file (HDF5), which is not read; save it again with save -v7"
        )
    try:
        variables = loadmat(io.BytesIO(file.data))
    except Exception as error:  # scipy raises many kinds on damaged input
        raise DatasetError(
            f"{file.name} cannot be read as a MATLAB file ({reason_of(error, file)})"
        ) from error
    return {_FILE: file.name} | {
        name: value for name, value in variables.items() if not name.startswith("__")
    }


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _variable(variables: Mapping[str, Any], name: str, file: str) -> Any:
    if name not in variables:
        there = ", ".join(each for each in variables if each != _FILE) or "none"
        raise DatasetError(f"{file} has no variable {name!r} (it has {there}){suggestion(name, variables)}")
    return variables[name]


def _table(variables: Mapping[str, Any], name: str, file: str) -> Matrix:
    X = _variable(variables, name, file)
    if getattr(X, "ndim", 0) != 2 or X.dtype.kind not in "biuf":
        kind = f"{X.ndim}-d {X.dtype}" if hasattr(X, "dtype") else type(X).__name__
        raise DatasetError(f"{file}: variable {name!r} is no table of numbers ({kind})")
    return X


def _target(variables: Mapping[str, Any], name: str, file: str, transposed: bool) -> Matrix:
    labels = _variable(variables, name, file)
    if not sparse.issparse(labels):
        labels = _plain(np.asarray(labels), name, file)
    if labels.ndim == 2 and min(labels.shape) > 1:
        return labels.T if transposed else labels
    return (labels.toarray() if sparse.issparse(labels) else labels).reshape(-1, 1)


def _plain(labels: np.ndarray, name: str, file: str) -> np.ndarray:
    """Take texts and numbers out of a cell array, and the blanks that fill up rows of characters off texts."""
    if labels.dtype.kind == "U":
        return np.char.strip(labels)
    if labels.dtype.kind in "biuf":
        return labels
    if labels.dtype.kind != "O":  # structures and the classes of MATLAB
        raise DatasetError(
            f"{file}: variable {name!r} is neither numbers nor text (structures, tables, string and categorical "
            f"arrays are not read); save numbers or cellstr({name}) in its place"
        )
    if labels.ndim != 2 or min(labels.shape) > 1:
        shape = " × ".join(str(each) for each in labels.shape)
        raise DatasetError(
            f"{file}: variable {name!r} is a cell array of {shape}; classes are a single column"
        )
    cells = []
    for row, cell in enumerate(labels.ravel(), start=1):
        cell = np.asarray(cell)
        text = str(cell.item()).strip() if cell.dtype.kind == "U" and cell.size == 1 else ""
        if cell.dtype.kind in "biuf" and cell.size == 1:
            text = as_text(cell.item())
        elif not text:
            what = (
                "is empty, so the row has no class"
                if not cell.size or cell.dtype.kind == "U"
                else (f"holds neither a text nor a number ({cell.dtype}, {' × '.join(map(str, cell.shape))})")
            )
            raise DatasetError(f"{file}: cell {row} of variable {name!r} (counted from 1) {what}")
        cells.append(text)
    return np.array(cells)


def _stacked(parts: list, file: str, names: str | Sequence[str]) -> Matrix:
    if len(parts) == 1:
        return parts[0]
    if len({part.shape[1] for part in parts}) > 1:
        widths = " and ".join(str(part.shape[1]) for part in parts)
        raise DatasetError(f"{file}: the parts {', '.join(_listed(names))} have {widths} columns")
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    return np.vstack(parts)
