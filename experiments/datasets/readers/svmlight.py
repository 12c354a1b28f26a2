"""Data sets in libsvm (svmlight) files: a row a line, its classes first, then pairs of a column and a value."""

from __future__ import annotations

import codecs
import io
import re

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MultiLabelBinarizer

from experiments.datasets.column_kinds import EXACT, LargeNumbers, equal_as_floats, merged
from experiments.datasets.download import Content
from experiments.datasets.names import check_first_column
from experiments.datasets.raw import RawData, as_text, numbered_names
from experiments.errors import DatasetError

#: The most columns that are read. Each takes memory for its name and its weight whatever the rows hold, so one
#: index with a digit too many would use up all there is.
MOST_COLUMNS = 10_000_000

_PAIR = re.compile(r"(?:^|\s)(\d+):(\S+)")
_INDEX = re.compile(rb"(?:^|\s)(\d+):")


def svmlight(file: Content, *, check_counter: bool = True) -> RawData:
    """Read a libsvm (svmlight) file."""
    data = file.data.removeprefix(codecs.BOM_UTF8)
    starts = [line.split(None, 1)[0] for line in data.splitlines() if line.split(b"#")[0].strip()]
    if not starts:
        raise DatasetError(f"{file.name} has no rows")
    several = any(b"," in start or b":" in start for start in starts)
    try:
        X, labels = load_svmlight_file(io.BytesIO(data), multilabel=several)
    except (ValueError, OverflowError) as error:
        if isinstance(error, OverflowError):  # as a rule an index too large for the reader's integers
            _check_indices(file)
        raise DatasetError(f"{file.name}, {_bad_line(file, several)}: {error}") from error
    if X.shape[1] > MOST_COLUMNS:
        _check_indices(file)
    _check_exact(file, starts, several)
    if (np.abs(X.data) >= EXACT).any():
        _check_large_values(file, data)
    if check_counter:
        check_first_column(X, file.name, "let it not be the first")
    names = numbered_names(X.shape[1])
    if not several:
        return RawData(X, labels, names)
    binarizer = MultiLabelBinarizer(sparse_output=True)
    T = binarizer.fit_transform(labels)
    return RawData(X, T, names, label_names=[as_text(each) for each in binarizer.classes_])


def _check_exact(file: Content, starts: list[bytes], several: bool) -> None:
    """Refuse classes or labels beyond 2^53 that are different numbers in the file and equal as floats."""
    texts = [
        text.decode("ascii", "replace")
        for start in starts
        if not (several and b":" in start)
        for text in start.split(b",")
    ]
    cells = np.array([each for each in texts if len(each) > 15], dtype=object)
    found = merged(cells, np.array([float(each) for each in cells], dtype=np.float64))
    if found:
        told = equal_as_floats("the column of classes", found[1], found[2], "number the classes from 1")
        raise DatasetError(f"{file.name}: {told}")


def _check_large_values(file: Content, data: bytes) -> None:
    """Refuse values beyond 2^53 that are different numbers in a column of the file and equal as floats."""
    large = LargeNumbers()
    for number, line in enumerate(data.splitlines(), start=1):
        pairs = _PAIR.findall(line.split(b"#")[0].decode("ascii", "replace"))
        columns = np.array([int(index) for index, _ in pairs], dtype=np.int64)
        texts = [text for _, text in pairs]
        values = np.array([float(text) for text in texts])
        large.check(columns, values, texts, f"{file.name}, line {number}")


def _check_indices(file: Content) -> None:
    """Refuse the largest index with its line if it is too large; the reader does not tell where it was."""
    largest, place = -1, 0
    for number, line in enumerate(file.data.splitlines(), start=1):
        for index in _INDEX.findall(line.split(b"#")[0]):
            # Digits beyond any index are not worth a number of their own.
            if (found := int(index[:30])) > largest:
                largest, place = found, number
    if largest >= MOST_COLUMNS:
        raise DatasetError(
            f"{file.name}, line {place}: index {largest} would make more than the {MOST_COLUMNS:,} columns that "
            "are read at most; if it is right, number the columns that occur anew, from 1"
        )


def _bad_line(file: Content, several: bool) -> str:
    """Find the first line that cannot be read by itself; the reader does not tell."""
    for number, line in enumerate(file.data.splitlines(), start=1):
        try:
            load_svmlight_file(io.BytesIO(line), multilabel=several, n_features=None)
        except (ValueError, OverflowError) as error:
            if "n_features" not in str(error):
                return f"line {number}"
    return "somewhere"
