"""What a data set says of its folds: samples that stay together, or the fold that each is tested in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.errors import DatasetError
from experiments.formatting import count

GROUPS, FOLDS = "groups", "folds"


@dataclass(frozen=True)
class Assignment:
    """A number for each sample.

    Attributes
    ----------
    kind : str
        "groups": samples of one number are never on both sides of a split. "folds": the fold that a sample is
        tested in.
    codes : bytes
        One 32-bit whole number (little-endian) per sample, from 0. In this form cells can be compared and sent.
    """

    kind: str
    codes: bytes

    @classmethod
    def of(cls, kind: str, values: Sequence) -> Assignment:
        """Give each value its place among the sorted values.

        Parameters
        ----------
        kind : str
            "groups" or "folds".
        values : sequence of length n
            Text or whole numbers.

        Returns
        -------
        Assignment
        """
        _, codes = np.unique(np.asarray(values), return_inverse=True)
        return cls(kind, codes.astype("<i4").tobytes())

    @property
    def numbers(self) -> np.ndarray:
        """The numbers, int32 of shape (n,)."""
        return np.frombuffer(self.codes, dtype="<i4")

    @property
    def digest(self) -> str:
        """SHA-256 of kind and numbers, hexadecimal."""
        return hashlib.sha256(self.kind.encode() + b"\n" + self.codes).hexdigest()

    def of_rows(self, rows: np.ndarray) -> Assignment:
        """Return that of some samples, numbered anew.

        Parameters
        ----------
        rows : int array
            Which.

        Returns
        -------
        Assignment
        """
        return Assignment.of(self.kind, self.numbers[rows])


def folds_of_text(text: str, file: str, n_rows: int) -> np.ndarray:
    """Read the folds of samples.

    Parameters
    ----------
    text : str
        One whole number per line, in the order of the samples; empty lines at the end do not count.
    file : str
        For messages.
    n_rows : int
        How many samples there are.

    Returns
    -------
    int64 array of shape (n_rows,)

    Raises
    ------
    DatasetError
        A line that is no whole number, or more or fewer lines than samples.
    """
    lines = text.removeprefix("\ufeff").rstrip().splitlines()
    folds = []
    for number, line in enumerate(lines, 1):
        if not line.strip().isdecimal():
            raise DatasetError(
                f"dataset.folds={file}, line {number}: {line.strip()[:40]!r} is no number of a fold; the file has "
                "one whole number per line, the fold in which the sample is tested"
            )
        folds.append(int(line))
    if len(folds) != n_rows:
        raise DatasetError(
            f"dataset.folds={file} has {count(len(folds), 'line')} for {count(n_rows, 'sample')}; one line per "
            "sample, in the order of the samples"
        )
    return np.array(folds)
