"""Tables whose cells are single digits, such as genotypes: read as bytes, never as floats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: Rows from which on a column of single digits cannot hold another value in every row.
_FEWEST_ROWS = 11
_AT_ONCE = 2**22  # bytes


def digits_of(text: str, delimiter: str, n_columns: int, words: Sequence[str] = ()) -> np.ndarray | None:
    """Read rows of single digits with one character between them."""
    width = 2 * n_columns
    if text[width - 1 : width + 1] == "\r\n":
        text = text.replace("\r\n", "\n")
    if len(delimiter) != 1 or text[width - 1 : width] != "\n" or any(map(_is_number, words)):
        return None
    n, left = divmod(len(text) + 1, width)  # the last line has no end
    if left or n < _FEWEST_ROWS or not text.isascii():
        return None
    X = np.empty((n, n_columns), dtype=np.int8)
    ends = np.full(n_columns, ord(delimiter), dtype=np.uint8)
    ends[-1] = ord("\n")
    step = max(1, _AT_ONCE // width)
    for start in range(0, n, step):
        stop = min(n, start + step)
        block = text[start * width : stop * width].encode("ascii") + (b"\n" if stop == n else b"")
        pairs = np.frombuffer(block, dtype=np.uint8).reshape(stop - start, n_columns, 2)
        values = pairs[:, :, 0] - np.uint8(ord("0"))  # what is no digit is large
        if (values > 9).any() or (pairs[:, :, 1] != ends).any():
            return None
        X[start:stop] = values
    return X


def _is_number(word: str) -> bool:
    try:
        float(word.replace(",", "."))
    except ValueError:
        return False
    return word.strip().lower().lstrip("+-") not in ("nan", "inf", "infinity")
