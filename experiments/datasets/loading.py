"""From a data set's YAML block to checked arrays."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from experiments.datasets.raw import RawData, as_text
from experiments.errors import ConfigError, DatasetError, MissingFileError, wrong_name
from experiments.places import search_places
from experiments.targets import RESERVED, locate, parameter_names

#: Shares of non-zeros are stated to six decimals, as in the paper's tables: half a unit of the last one, and a
#: little for the rounding of the division.
SHARE_TOLERANCE = 0.5e-6 + 1e-12

#: A sparse file with a larger share of non-zeros is kept dense: above it CSR takes more memory than the full
#: matrix (12 bytes a non-zero and more against 8 a cell) and every ranker is slower on it.
DENSE_ABOVE = 0.5


@dataclass(frozen=True)
class Dataset:
    """A data set as rankers and learners see it.

    Attributes
    ----------
    name : str
        For people.
    task : str
        ``"multiclass"``.
    X : ndarray of float64, C order, or csr_matrix of float64; shape (n, p)
        Finite numbers. CSR is canonical: sorted indices, nothing stored twice, no stored zeros.
    y : ndarray of int64, shape (n,)
        Codes 0 … c − 1, in the sorted order of the original labels.
    class_names : tuple of str, length c
        What code i stands for.
    feature_names : tuple of str, length p
        In column order.
    checksum : str
        SHA-256, hexadecimal, of task, X and y: the same for dense and CSR, whatever the folder or file format.
    """

    name: str
    task: str
    X: np.ndarray | sparse.csr_matrix
    y: np.ndarray
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    checksum: str


def load(dataset: Mapping[str, Any], local_data: str | os.PathLike[str]) -> Dataset:
    """Load a data set, and check it against what its YAML file states.

    Nothing is downloaded, written or deleted.

    Parameters
    ----------
    dataset : mapping
        A block of ``conf/dataset``.
    local_data : path
        Folder with local files; relative ones are looked for as :func:`experiments.places.search_places` says.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        File missing, cut off, changed or unreadable; values that are not finite; or rows, features, classes or
        share of non-zeros other than stated. Names the data set, and each quantity that differs.
    ConfigError
        When the source or one of its parameters does not exist.
    """
    name = dataset["name"]
    try:
        raw = _read(dataset["source"], search_places(local_data))
        X, feature_names = _checked_table(raw, bool(dataset.get("drop_constant", False)))
        y, class_names = _coded(raw)
    except MissingFileError as error:
        address = f"; it comes from {dataset['url']}" if dataset.get("url") else ""
        raise MissingFileError(f"data set {name}: {error}{address}") from error
    except DatasetError as error:
        raise DatasetError(f"data set {name}: {error}") from error
    _compare(name, dataset.get("expected") or {}, X, len(class_names))
    task = dataset["task"]
    return Dataset(name, task, X, y, class_names, feature_names, _checksum(task, X, y))


def nonzero_share(X: np.ndarray | sparse.csr_matrix) -> float:
    """Share of cells that are not zero.

    Parameters
    ----------
    X : ndarray or scipy sparse, shape (n, p)
        n and p at least 1.

    Returns
    -------
    float
    """
    count = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return count / (X.shape[0] * X.shape[1])


def _read(source: Mapping[str, Any], places: list[Path]) -> RawData:
    target = source.get("_target_")
    if target is None:
        raise ConfigError("dataset.source has no _target_ (the function that reads it)")
    reader = locate(target)
    names, any_name = parameter_names(reader)
    settings = {key: value for key, value in source.items() if key not in RESERVED}
    for key in settings:
        if not any_name and key not in names:
            raise wrong_name(f"parameter of {target}", key, [each for each in names if each != "places"])
    if "places" in names:
        settings["places"] = places
    try:
        raw = reader(**settings)
    except TypeError as error:
        raise ConfigError(f"{target} cannot read this source: {error}") from error
    if not isinstance(raw, RawData):
        raise ConfigError(f"{target} gave a {type(raw).__name__}, not RawData")
    return raw


def _checked_table(
    raw: RawData, drop_constant: bool
) -> tuple[np.ndarray | sparse.csr_matrix, tuple[str, ...]]:
    X, names = raw.X, [str(each) for each in raw.feature_names]
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise DatasetError(f"the table is empty ({X.shape[0]} rows × {X.shape[1]} columns)")
    if len(names) != X.shape[1]:
        raise DatasetError(f"{len(names)} column names for {X.shape[1]} columns")
    if sparse.issparse(X):
        X = sparse.csr_matrix(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
    stored = X.data if sparse.issparse(X) else X
    if not np.isfinite(stored).all():
        rows, columns = X.nonzero() if sparse.issparse(X) else np.nonzero(~np.isfinite(X))
        place = np.flatnonzero(~np.isfinite(stored))[0] if sparse.issparse(X) else 0
        raise DatasetError(f"row {rows[place]}, column {names[columns[place]]!r} is NaN or infinite")
    if drop_constant:
        kept = np.flatnonzero(~_constant_columns(X))
        X = X[:, kept]
        names = [names[index] for index in kept]
        if not names:
            raise DatasetError("all columns are constant")
    if sparse.issparse(X) and nonzero_share(X) > DENSE_ABOVE:
        X = X.toarray()
    if sparse.issparse(X):
        X.sort_indices()  # choosing columns need not keep them in order
    else:
        X = np.ascontiguousarray(X)
    return X, tuple(names)


def _constant_columns(X: np.ndarray | sparse.csr_matrix) -> np.ndarray:
    if sparse.issparse(X):  # implicit zeros count as values (``decisions.md`` §1.1)
        return np.asarray(X.max(axis=0).todense()).ravel() == np.asarray(X.min(axis=0).todense()).ravel()
    return X.max(axis=0) == X.min(axis=0)


def _coded(raw: RawData) -> tuple[np.ndarray, tuple[str, ...]]:
    labels = np.asarray(raw.labels)
    if labels.shape != (raw.X.shape[0],):
        raise DatasetError(f"{labels.shape[0] if labels.ndim else 0} labels for {raw.X.shape[0]} rows")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise DatasetError("a class label is NaN or infinite")
    if labels.dtype.kind == "O":
        labels = np.array([as_text(each) for each in labels])
    distinct, codes = np.unique(labels, return_inverse=True)
    texts = [as_text(each) for each in distinct]
    readable = {str(key): str(value) for key, value in (raw.class_names or {}).items()}
    return codes.astype(np.int64), tuple(readable.get(text, text) for text in texts)


def _compare(
    name: str, expected: Mapping[str, Any], X: np.ndarray | sparse.csr_matrix, n_classes: int
) -> None:
    found = {
        "rows": X.shape[0],
        "features": X.shape[1],
        "classes": n_classes,
        "nonzero_share": nonzero_share(X),
    }
    differing = []
    for quantity, value in found.items():
        stated = expected.get(quantity)
        tolerance = SHARE_TOLERANCE if quantity == "nonzero_share" else 0
        if stated is not None and abs(value - stated) > tolerance:
            shown = f"{value:.6f}" if quantity == "nonzero_share" else value
            differing.append(f"{quantity} expected {stated}, found {shown}")
    if differing:
        raise DatasetError(f"data set {name} is not what its YAML file states: " + "; ".join(differing))


def _checksum(task: str, X: np.ndarray | sparse.csr_matrix, y: np.ndarray) -> str:
    # CSR is the common form: the same matrix has the same checksum however it was stored. Fixed byte order and
    # integer width keep it the same on every machine.
    canonical = sparse.csr_matrix(X)
    digest = hashlib.sha256(f"{task} {X.shape[0]} {X.shape[1]}\n".encode())
    for array, kind in (
        (canonical.indptr, "<i8"),
        (canonical.indices, "<i8"),
        (canonical.data, "<f8"),
        (y, "<i8"),
    ):
        digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
    return digest.hexdigest()
