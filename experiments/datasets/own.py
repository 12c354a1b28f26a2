"""A user's own data, named on the command line: CSV, Parquet, ARFF, libsvm and MATLAB files.

``python run.py dataset=csv dataset.path=my.csv dataset.target=label`` needs no YAML file. One target column is a
class; a list of them, ``dataset.target=[a,b]``, are labels. Files are looked for in the current directory first,
then in the local data folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from experiments.datasets.download import Content, read_file
from experiments.datasets.names import Column, listed
from experiments.datasets.raw import RawData, as_text, without_columns
from experiments.datasets.readers import arff as arff_files
from experiments.datasets.readers import matlab as matlab_files
from experiments.datasets.readers.delimited import made_different
from experiments.datasets.readers.frame import FrameReader
from experiments.datasets.readers.parquet import parquet_frame
from experiments.datasets.readers.svmlight import svmlight
from experiments.datasets.readers.text_file import TextFile
from experiments.errors import ConfigError, DatasetError
from experiments.paths import Places


def csv(
    path: str | None = None,
    target: Column | Sequence[Column] | None = None,
    *,
    places: Places | Sequence[Path],
    delimiter: str | None = None,
    decimal: str = ".",
    header: bool = True,
    skip_lines: int | None = None,
    na_values: str | Sequence[str] | None = None,
    encoding: str | None = None,
    leave_out: Column | Sequence[Column] = (),
    nominal: Column | Sequence[Column] = (),
) -> RawData:
    """Read a delimited text file with a header line, plain or packed (gzip, bzip2, xz)."""
    needed("csv", path=path, target=target)
    assert path is not None and target is not None
    _check_target("csv", target)
    source = TextFile(
        _read(path, places),
        path,
        delimiter=delimiter,
        decimal=decimal,
        header=header,
        skip_lines=skip_lines,
        na_values=None if na_values is None else [str(each) for each in listed(na_values)],
        encoding=encoding,
        wanted=[*listed(target), *listed(nominal), *listed(leave_out)],
    )
    columns = source.reader()
    as_text = [columns.place(each, "nominal") for each in listed(nominal)]
    if isinstance(target, str | int):
        as_text.append(columns.place(target, "target"))
    source.as_texts(as_text)
    return source.reader().raw(target, leave_out, nominal)


def parquet(
    path: str | None = None,
    target: Column | Sequence[Column] | None = None,
    *,
    places: Places | Sequence[Path],
    na_values: str | Sequence[str] = (),
    leave_out: Column | Sequence[Column] = (),
    nominal: Column | Sequence[Column] = (),
) -> RawData:
    """Read a Parquet file."""
    needed("parquet", path=path, target=target)
    assert path is not None and target is not None
    _check_target("parquet", target)
    file = _read(path, places)
    words = [str(each) for each in listed(na_values)]
    frame, stored = parquet_frame(file, words, listed(target))
    header = list(frame.columns)
    frame.columns = made_different(header)
    reader = FrameReader(frame, file.name, lambda row: f"row {row}", header=header, cells=stored, words=words)
    return reader.raw(target, leave_out, nominal)


def arff(
    path: str | None = None,
    target: Column | Sequence[Column] | None = None,
    *,
    places: Places | Sequence[Path],
    leave_out: Column | Sequence[Column] = (),
) -> RawData:
    """Read an ARFF file, dense or sparse, plain or packed."""
    needed("arff", path=path, target=target)
    assert path is not None and target is not None
    _check_target("arff", target)
    places = with_here(places)
    if isinstance(target, str) and target.endswith(".xml"):
        if listed(leave_out):
            raise ConfigError("dataset.leave_out does not go with an XML list of labels")
        return arff_files.mulan([{"path": path}, {"path": target}], places=places)
    of_kind = {"target": target} if isinstance(target, str | int) else {"labels": list(target)}
    return arff_files.arff(path, places=places, leave_out=leave_out, **of_kind)


def libsvm(
    path: str | None = None,
    *,
    places: Places | Sequence[Path],
    leave_out: Column | Sequence[Column] = (),
) -> RawData:
    """Read a libsvm (svmlight) file, plain or packed."""
    needed("libsvm", path=path)
    assert path is not None
    file = _read(path, places)
    return without_columns(svmlight(file, check_counter=not listed(leave_out)), leave_out, file.name)


def mat(
    path: str | None = None,
    target: str | Sequence[str] | None = None,
    features: str | None = None,
    *,
    places: Places | Sequence[Path],
    leave_out: Column | Sequence[Column] = (),
) -> RawData:
    """Read a MATLAB file (up to version 7.2), plain or packed."""
    needed("mat", path=path, target=target, features=features)
    assert path is not None and target is not None and features is not None
    places = with_here(places)
    if isinstance(target, str):
        raw = matlab_files.matlab(path, features, target, places=places, leave_out=leave_out)
        if raw.labels.ndim == 1:
            return raw
        n_rows, labels = raw.X.shape[0], sparse.csc_matrix(raw.labels)
        turned = labels.shape[0] != n_rows and labels.shape[1] == n_rows
        labels = labels.T if turned else labels
        _check_mat_labels(labels, path, [target] * labels.shape[1], "column" if turned else "row")
        names = [f"y{number}" for number in range(1, labels.shape[1] + 1)]
    else:
        variables = matlab_files.variables_of(_read(path, places))  # once, for all labels
        parts = [
            matlab_files.matlab(path, features, each, places=places, leave_out=leave_out, variables=variables)
            for each in target
        ]
        raw, names = parts[0], list(target)
        for name, part in zip(names, parts, strict=True):
            if part.labels.ndim != 1:
                raise DatasetError(f"{path}: variable {name!r} is no single column")
            if len(part.labels) != raw.X.shape[0]:
                raise DatasetError(f"{path}: {len(part.labels)} labels in {name!r} for {raw.X.shape[0]} rows")
            if part.labels.dtype.kind not in "biuf":
                raise DatasetError(f"{path}: variable {name!r} holds text; a label is 0 or 1, or −1 or 1")
        labels = sparse.csc_matrix(np.column_stack([part.labels for part in parts]))
        _check_mat_labels(labels, path, names, "row")
    labels = sparse.csr_matrix(labels, dtype=np.float64)
    labels.data[labels.data == -1] = 0
    labels.eliminate_zeros()
    return RawData(raw.X, labels, raw.feature_names, label_names=names)


def _check_mat_labels(labels: sparse.spmatrix, path: str, variables: Sequence[str], along: str) -> None:
    stored = labels.tocoo()
    wrong = np.flatnonzero(~np.isin(stored.data, (-1, 0, 1)))
    if wrong.size:
        first = min(wrong, key=lambda place: (stored.row[place], stored.col[place]))
        column = int(stored.col[first])
        of_several = len(set(variables)) < len(variables)
        label = f" ({'row' if along == 'column' else 'column'} {column + 1})" if of_several else ""
        raise DatasetError(
            f"{path}: variable {variables[column]!r}, {along} {stored.row[first] + 1}{label}, counted from 1: "
            f"a label is {as_text(stored.data[first])}, neither 0 nor 1 nor −1"
        )


def needed(dataset: str, **given: Any) -> None:
    """Refuse a data set that lacks a key, saying which."""
    lacking = [key for key, value in given.items() if value is None]
    if lacking:
        example = " ".join(f"dataset.{key}=…" for key in given)
        raise ConfigError(
            f"dataset={dataset} does not say {' and '.join(f'dataset.{key}' for key in lacking)}\n"
            f"needed: dataset={dataset} {example}"
        )


def _check_target(dataset: str, target: Column | Sequence[Column]) -> None:
    """Refuse a list that names no label, or one: a single label is a class."""
    if isinstance(target, str | int) or len(target) > 1:
        return
    if not target:
        raise ConfigError(
            f"dataset={dataset}: dataset.target=[] names no target; give a column: dataset.target=NAME"
        )
    raise ConfigError(
        f"dataset={dataset}: dataset.target=[{target[0]}] is a list of one; a single label is a class: "
        f"dataset.target={target[0]}"
    )


def with_here(places: Places | Sequence[Path]) -> Places:
    """Return places to look at, the current directory first."""
    if isinstance(places, Places):
        return replace(places, local=(Path.cwd(), *places.local))
    return Places((Path.cwd(), *places))


def _read(path: str, places: Places | Sequence[Path]) -> Content:
    return read_file(path, with_here(places))
