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

from experiments.datasets.download.files import Content, read_file
from experiments.datasets.names import Column, listed
from experiments.datasets.raw import RawData, as_text, without_columns
from experiments.datasets.readers import arff as arff_files
from experiments.datasets.readers import matlab as matlab_files
from experiments.datasets.readers.delimited import made_different
from experiments.datasets.readers.frame import FrameReader
from experiments.datasets.readers.parquet import parquet_frame
from experiments.datasets.readers.svmlight import svmlight
from experiments.datasets.readers.text_file import TextFile
from experiments.datasets.readers.words import with_words
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
    text: Column | Sequence[Column] = (),
) -> RawData:
    """Read a delimited text file with a header line, plain or packed (gzip, bzip2, xz).

    Parameters
    ----------
    path : str
        The file; from the current directory, else from the local data folder.
    target : str, int, or sequence of them
        The class column, by name or place (0-based; −1 is the last; a name goes first); several are labels. Classes
        are told apart by their text: ``1`` and ``01`` are two.
    places : Places, or sequence of Path
        Where to look beside the current directory.
    delimiter : str, optional
        What separates the cells: one character, or the words tab, semicolon, comma; by default what a first line
        ``sep=;`` says, else a tab in files that end in ``.tsv`` or ``.tab``, else a comma.
    decimal : str
        The decimal point of numbers, ``"."`` or ``","``.
    header : bool
        Whether the first line holds the column names; without it they are ``x1``, ``x2``, …
    skip_lines : int, optional
        Lines at the top that are no part of the table. By default those without a cell, ``sep=;`` and comments that
        begin with ``#``.
    na_values : str or sequence of str, optional
        Words that mean a missing value, in place of
        :data:`experiments.datasets.readers.delimited.MISSING_WORDS`. The empty cell always does. In columns of
        numbers a word that is a number stands for all its spellings.
    encoding : str, optional
        How the text is encoded, such as ``cp1252``; by default UTF-8.
    leave_out : str, int, or sequence of them
        Columns that are no features, such as names of rows.
    nominal : str, int, or sequence of them
        Columns whose values are names though they look like numbers, or only some of them do; they are told apart
        by their text. Columns of text are nominal anyway.
    text : str, int, or sequence of them
        Columns of free text, such as abstracts: features are the words, with the number of times that they occur.

    Returns
    -------
    RawData
        NaN where a cell is empty or holds a word that means a missing value.

    Raises
    ------
    DatasetError
        File missing or damaged, no such column or two of that name, a text cell among numbers or a number with
        another decimal point (with line and column), a row without a class, labels other than 0 and 1.
    ConfigError
        When path or target is not given, the target is a list of none or one, or delimiter, decimal, skip_lines or
        encoding is another.
    """
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
        wanted=[*listed(target), *listed(nominal), *listed(leave_out), *listed(text)],
        digits=not listed(nominal) and not listed(text),
    )
    columns = source.reader()
    as_text = [columns.place(each, "nominal") for each in listed(nominal)]
    as_text += [columns.place(each, "text") for each in listed(text)]
    if isinstance(target, str | int):
        as_text.append(columns.place(target, "target"))
    source.as_texts(as_text)
    return with_words(source.reader(), target, leave_out, nominal, text)


def parquet(
    path: str | None = None,
    target: Column | Sequence[Column] | None = None,
    *,
    places: Places | Sequence[Path],
    na_values: str | Sequence[str] = (),
    leave_out: Column | Sequence[Column] = (),
    nominal: Column | Sequence[Column] = (),
    text: Column | Sequence[Column] = (),
) -> RawData:
    """Read a Parquet file.

    Parameters
    ----------
    path, target, places, leave_out, nominal, text
        As for :func:`csv`. A column that pandas stored as the index is a feature only where it is the target;
        a text
        is a text, even where it could be a number.
    na_values : str or sequence of str
        Texts that mean a missing value beside null; none by default.

    Returns
    -------
    RawData
        NaN where a value is null. Text and categorical columns are nominal.

    Raises
    ------
    DatasetError, ConfigError
        As :func:`csv`; for what is no Parquet file.
    """
    needed("parquet", path=path, target=target)
    assert path is not None and target is not None
    _check_target("parquet", target)
    file = _read(path, places)
    words = [str(each) for each in listed(na_values)]
    frame, stored = parquet_frame(file, words, listed(target))
    header = list(frame.columns)
    frame.columns = made_different(header)
    reader = FrameReader(frame, file.name, lambda row: f"row {row}", header=header, cells=stored, words=words)
    return with_words(reader, target, leave_out, nominal, text)


def arff(
    path: str | None = None,
    target: Column | Sequence[Column] | None = None,
    *,
    places: Places | Sequence[Path],
    leave_out: Column | Sequence[Column] = (),
) -> RawData:
    """Read an ARFF file, dense or sparse, plain or packed.

    Parameters
    ----------
    path, places
        As for :func:`csv`.
    target : str, int, or sequence of them
        The class attribute by name or place; several, or the path of an XML label list of Mulan (``labels.xml``),
        are labels.
    leave_out : str, int, or sequence of them
        Attributes that are no features.

    Returns
    -------
    RawData

    Raises
    ------
    DatasetError, ConfigError
        As :func:`experiments.datasets.readers.arff.arff`.
    """
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
    """Read a libsvm (svmlight) file, plain or packed.

    Parameters
    ----------
    path, places
        As for :func:`csv`.
    leave_out : str, int, or sequence of them
        Columns that are no features: ``x1`` or 0 is the first.

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
    leave_out : str, int, or sequence of them
        Columns of the table that are no features: ``x1`` or 0 is the first.

    Returns
    -------
    RawData

    Raises
    ------
    DatasetError
        As :func:`experiments.datasets.readers.matlab.matlab`.
    ConfigError
        When path, target or features is not given.
    """
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
        parts = [
            matlab_files.matlab(path, features, each, places=places, leave_out=leave_out) for each in target
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
    """Refuse a data set that lacks a key, saying which.

    Parameters
    ----------
    dataset : str
        As it is typed.
    **given
        Values of the keys that it needs; None where one was not given.

    Raises
    ------
    ConfigError
        Naming the keys, with an example.
    """
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
