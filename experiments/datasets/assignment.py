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
    """A number for each sample."""

    kind: str
    codes: bytes

    @classmethod
    def of(cls, kind: str, values: Sequence) -> Assignment:
        """Give each value its place among the sorted values."""
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
        """Return that of some samples, numbered anew."""
        return Assignment.of(self.kind, self.numbers[rows])


def folds_of_text(text: str, file: str, n_rows: int) -> np.ndarray:
    """Read the folds of samples."""
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
