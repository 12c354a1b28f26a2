"""A user's own data, named on the command line: CSV, Parquet, ARFF, libsvm and MATLAB files.

``python run.py dataset=csv dataset.path=my.csv dataset.target=label`` needs no YAML file. One target column is a
class; a list of them, ``dataset.target=[a,b]``, are labels. Files are looked for in the current directory first,
then in the local data folder.
"""

from __future__ import annotations

import csv as csv_module
import io
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets import arff as arff_files
from experiments.datasets import matlab as matlab_files
from experiments.datasets.files import Content, read_file
from experiments.datasets.frames import Column, FrameReader, listed
from experiments.datasets.raw import RawData, as_text, numbered_names
from experiments.datasets.svmlight import svmlight
from experiments.errors import ConfigError, DatasetError
from experiments.places import Places

#: What stands for a missing value beside an empty cell and what pandas knows (NA, NaN, null, …).
_MISSING = ("?",)

#: Words, and what else is typed, for what separates cells; a shell or YAML may keep a tab itself from getting here.
_DELIMITERS = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ","}


def csv(
    path: str | None = None,
    target: Column | Sequence[Column] | None = None,
    *,
    places: Places | Sequence[Path],
    delimiter: str | None = None,
    decimal: str = ".",
    header: bool = True,
    leave_out: Column | Sequence[Column] = (),
    nominal: Column | Sequence[Column] = (),
) -> RawData:
    """Read a delimited text file with a header line, plain or packed (gzip, bzip2, xz).

    Parameters
    ----------
    path : str
        The file; from the current directory, else from the local data folder.
    target : str, int, or sequence of them
        The class column, by name or place (0-based; −1 is the last; a name goes first); several are labels.
    places : Places, or sequence of Path
        Where to look beside the current directory.
    delimiter : str, optional
        What separates the cells: one character, or the words tab, semicolon, comma; by default a tab in files that
        end in ``.tsv`` or ``.tab``, else a comma.
    decimal : str
        The decimal point of numbers, ``"."`` or ``","``.
    header : bool
        Whether the first line holds the column names; without it they are ``x1``, ``x2``, …
    leave_out : str, int, or sequence of them
        Columns that are no features, such as names of rows.
    nominal : str, int, or sequence of them
        Columns whose values are names though they look like numbers, or only some of them do. Columns of text are
        nominal anyway.

    Returns
    -------
    RawData
        NaN where a cell is empty, ``?``, or what else pandas takes for missing.

    Raises
    ------
    DatasetError
        File missing or damaged, no such column or two of that name, a text cell among numbers or a number with
        another decimal point (with line and column), a row without a class, labels other than 0 and 1.
    ConfigError
        When path or target is not given, the target is a list of none or one, or delimiter or decimal is another.
    """
    _needed("csv", path=path, target=target)
    _check_target("csv", target)
    if decimal not in (".", ","):
        raise ConfigError(f"dataset.decimal={decimal!r} is neither '.' nor ','")
    file = _read(path, places)
    delimiter = _delimiter(delimiter, path)
    text = file.text.rstrip("\r\n")
    hint = _delimiter_hint(text, delimiter)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "error", pd.errors.ParserWarning
            )  # lines longer than the header are cut else
            frame = pd.read_csv(
                io.StringIO(text),
                sep=delimiter,
                decimal=decimal,
                header=0 if header else None,
                na_values=list(_MISSING),
                low_memory=False,
                skip_blank_lines=False,
                skipinitialspace=True,
                index_col=False,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        if isinstance(error, pd.errors.ParserWarning):
            reason = "lines have more cells than the first one has names"
        raise DatasetError(f"{file.name} is no even table: {reason}{hint}") from error
    frame.columns = (
        [str(each).strip() for each in frame.columns] if header else numbered_names(frame.shape[1])
    )
    first_line = 2 if header else 1
    if frame.shape[1] == 1 and not hint:
        hint = f"; the whole line is one column, so is {delimiter!r} what separates the cells (dataset.delimiter)?"
    table = FrameReader(
        frame,
        file.name,
        lambda row: f"line {first_line + row}",
        hint,
        decimal=decimal,
        header=_header(text, delimiter, frame) if header else None,
    )
    return table.raw(target, leave_out, nominal)


def parquet(
    path: str | None = None,
    target: Column | Sequence[Column] | None = None,
    *,
    places: Places | Sequence[Path],
    leave_out: Column | Sequence[Column] = (),
    nominal: Column | Sequence[Column] = (),
) -> RawData:
    """Read a Parquet file.

    Parameters
    ----------
    path, target, places, leave_out, nominal
        As for :func:`csv`.

    Returns
    -------
    RawData
        NaN where a value is null. Text and categorical columns are nominal.

    Raises
    ------
    DatasetError, ConfigError
        As :func:`csv`; for what is no Parquet file.
    """
    _needed("parquet", path=path, target=target)
    _check_target("parquet", target)
    file = _read(path, places)
    try:
        frame = pd.read_parquet(io.BytesIO(file.data))
    except Exception as error:  # pyarrow raises many kinds on damaged input
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise DatasetError(f"{file.name} cannot be read as a Parquet file ({reason})") from error
    frame.columns = [str(each) for each in frame.columns]
    return FrameReader(frame, file.name, lambda row: f"row {row}").raw(target, leave_out, nominal)


def arff(
    path: str | None = None,
    target: Column | Sequence[str] | None = None,
    *,
    places: Places | Sequence[Path],
    leave_out: str | Sequence[str] = (),
) -> RawData:
    """Read an ARFF file, dense or sparse, plain or packed.

    Parameters
    ----------
    path, places
        As for :func:`csv`.
    target : str, int, or sequence of str
        The class attribute by name or place; several names, or the path of an XML label list of Mulan
        (``labels.xml``), are labels.
    leave_out : str or sequence of str
        Attributes that are no features.

    Returns
    -------
    RawData

    Raises
    ------
    DatasetError, ConfigError
        As :func:`experiments.datasets.arff.arff`.
    """
    _needed("arff", path=path, target=target)
    _check_target("arff", target)
    leave_out = listed(leave_out)
    places = _with_here(places)
    if isinstance(target, str) and target.endswith(".xml"):
        if leave_out:
            raise ConfigError("dataset.leave_out does not go with an XML list of labels")
        return arff_files.mulan([{"path": path}, {"path": target}], places=places)
    of_kind = {"target": target} if isinstance(target, str | int) else {"labels": list(target)}
    return arff_files.arff(path, places=places, leave_out=leave_out, **of_kind)


def libsvm(path: str | None = None, *, places: Places | Sequence[Path]) -> RawData:
    """Read a libsvm (svmlight) file, plain or packed.

    Parameters
    ----------
    path, places
        As for :func:`csv`.

    Returns
    -------
    RawData
        ``X`` sparse. The number at the start of a line is the class; where a line starts with several, with commas
        between them, they are the labels the row has. A line that starts with none is a row without a label.

    Raises
    ------
    DatasetError
        File missing or damaged, a line that cannot be read or an index that is too large (with the line's number).
    ConfigError
        When path is not given.
    """
    _needed("libsvm", path=path)
    return svmlight(_read(path, places))


def mat(
    path: str | None = None,
    target: str | Sequence[str] | None = None,
    features: str | None = None,
    *,
    places: Places | Sequence[Path],
) -> RawData:
    """Read a MATLAB file (up to version 7.2), plain or packed.

    Parameters
    ----------
    path, places
        As for :func:`csv`.
    target : str or sequence of str
        The variable with the n classes (numbers, rows of characters, or a cell array of texts), or with the labels
        as n × L or L × n; several variables are a label each.
        A label is 0 or 1, or −1 or 1.
    features : str
        The variable with the n × p table, dense or sparse.

    Returns
    -------
    RawData

    Raises
    ------
    DatasetError
        As :func:`experiments.datasets.matlab.matlab`.
    ConfigError
        When path, target or features is not given.
    """
    _needed("mat", path=path, target=target, features=features)
    places = _with_here(places)
    if isinstance(target, str):
        raw = matlab_files.matlab(path, features, target, places=places)
        if raw.labels.ndim == 1:
            return raw
        n_rows, labels = raw.X.shape[0], sparse.csc_matrix(raw.labels)
        turned = labels.shape[0] != n_rows and labels.shape[1] == n_rows
        labels = labels.T if turned else labels
        _check_mat_labels(labels, path, [target] * labels.shape[1], "column" if turned else "row")
        names = [f"y{number}" for number in range(1, labels.shape[1] + 1)]
    else:
        parts = [matlab_files.matlab(path, features, each, places=places) for each in target]
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


def _needed(dataset: str, **given) -> None:
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


def _delimiter(typed: str | None, path: str) -> str:
    if typed is None:
        name = path.lower().removesuffix(".gz").removesuffix(".bz2").removesuffix(".xz")
        return "\t" if name.endswith((".tsv", ".tab")) else ","
    found = _DELIMITERS.get(typed.lower(), typed) if isinstance(typed, str) else ""
    if len(found) != 1 or found in '\r\n"':
        raise ConfigError(
            f"dataset.delimiter={typed!r}: it must be one character that separates cells, such as ';', or one of "
            f"the words {', '.join(each for each in _DELIMITERS if each.isalpha())}"
        )
    return found


def _delimiter_hint(text: str, delimiter: str) -> str:
    """Say what the first line holds besides the delimiter that may separate the cells."""
    first = text.partition("\n")[0]
    for word in ("semicolon", "tab"):
        mark = _DELIMITERS[word]
        if mark in first and delimiter != mark:
            return (
                f"; its first line has a {word} in it, so is {delimiter!r} what separates the cells "
                f"(dataset.delimiter={word})?"
            )
    return ""


def _header(text: str, delimiter: str, frame: pd.DataFrame) -> list[str] | None:
    """Return the names as they stand in the file; pandas calls the second ``a`` of a line ``a.1``."""
    first = csv_module.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    names = [each.strip() for each in next(first, [])]
    if len(names) != frame.shape[1]:
        return None
    return [name or str(made) for name, made in zip(names, frame.columns, strict=True)]


def _with_here(places: Places | Sequence[Path]) -> Places:
    """Look in the current directory first."""
    if isinstance(places, Places):
        return replace(places, local=(Path.cwd(), *places.local))
    return Places((Path.cwd(), *places))


def _read(path: str, places: Places | Sequence[Path]) -> Content:
    return read_file(path, _with_here(places))
