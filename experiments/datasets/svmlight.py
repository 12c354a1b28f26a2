"""Data sets in libsvm (svmlight) files: a row a line, its classes first, then pairs of a column and a value."""

from __future__ import annotations

import io
import re

from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MultiLabelBinarizer

from experiments.datasets.files import Content
from experiments.datasets.raw import RawData, as_text, numbered_names
from experiments.errors import DatasetError

#: The most columns that are read. Each takes memory for its name and its weight whatever the rows hold, so one
#: index with a digit too many would use up all there is.
MOST_COLUMNS = 10_000_000

_INDEX = re.compile(rb"(?:^|\s)(\d+):")


def svmlight(file: Content) -> RawData:
    """Read a libsvm (svmlight) file.

    Parameters
    ----------
    file : Content
        Plain or packed.

    Returns
    -------
    RawData
        ``X`` sparse. The number at the start of a line is the class; where a line starts with several, with commas
        between them, they are the labels the row has. A line that starts with none is a row without a label.

    Raises
    ------
    DatasetError
        Damaged, no rows, a line that cannot be read or an index beyond :data:`MOST_COLUMNS` (with its line).
    """
    starts = [line.split(None, 1)[0] for line in file.data.splitlines() if line.split(b"#")[0].strip()]
    if not starts:
        raise DatasetError(f"{file.name} has no rows")
    several = any(b"," in start or b":" in start for start in starts)
    try:
        X, labels = load_svmlight_file(io.BytesIO(file.data), multilabel=several)
    except (ValueError, OverflowError) as error:
        if isinstance(error, OverflowError):  # as a rule an index too large for the reader's integers
            _check_indices(file)
        raise DatasetError(f"{file.name}, {_bad_line(file, several)}: {error}") from error
    if X.shape[1] > MOST_COLUMNS:
        _check_indices(file)
    names = numbered_names(X.shape[1])
    if not several:
        return RawData(X, labels, names)
    binarizer = MultiLabelBinarizer(sparse_output=True)
    T = binarizer.fit_transform(labels)
    return RawData(X, T, names, label_names=[as_text(each) for each in binarizer.classes_])


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
