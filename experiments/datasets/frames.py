"""Tables with named columns of numbers and text, taken apart into features and a class or labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets.raw import RawData, as_text
from experiments.errors import DatasetError, near_names

Column = str | int

#: Text columns with at least this many values, all different, are taken for names of rows and refused.
_NAMES_FROM = 20

#: What pandas calls columns without a name; writing a frame with its index makes one.
_NAMELESS = "Unnamed: "

_LABEL_TEXTS = {"0": 0, "1": 1, "false": 0, "true": 1}


class FrameReader:
    """A data frame that becomes features and a class, or features and labels.

    Parameters
    ----------
    frame : DataFrame
        Columns named by text.
    file : str
        Where it is from, for messages.
    place_of : callable
        Row number (0-based) → where the row stands in the file, for messages.
    hint : str
        What a message adds when a column is not there.
    """

    def __init__(
        self, frame: pd.DataFrame, file: str, place_of: Callable[[int], str], hint: str = ""
    ) -> None:
        self._frame = frame
        self._names = [str(each) for each in frame.columns]
        self._file = file
        self._place_of = place_of
        self._hint = hint

    def raw(
        self,
        target: Column | Sequence[Column],
        leave_out: Sequence[Column],
        nominal: Sequence[Column],
    ) -> RawData:
        """Take the frame apart.

        Parameters
        ----------
        target : str, int, or sequence of them
            The class column, by name or place; several are labels.
        leave_out : sequence of str or int
            Columns that are no features.
        nominal : sequence of str or int
            Columns that hold names even where they look like numbers.

        Returns
        -------
        RawData

        Raises
        ------
        DatasetError
            No such column; text among numbers, dates, names of rows; a row without a class; a label other than 0
            and 1.
        """
        single = isinstance(target, str) or not isinstance(target, Sequence)
        wanted = [self._place(each, "target") for each in ([target] if single else target)]
        if len(set(wanted)) < len(wanted):
            raise DatasetError(f"{self._file}: a column is named twice in dataset.target")
        named = {self._place(each, "nominal") for each in nominal}
        gone = {*wanted, *(self._place(each, "leave_out") for each in leave_out)}
        kept = [place for place in range(len(self._names)) if place not in gone]
        X = np.empty((len(self._frame), len(kept)))
        values = {}
        for new, place in enumerate(kept):
            X[:, new], listed = self._feature(place, place in named)
            if listed is not None:
                values[new] = listed
        names = [self._names[place] for place in kept]
        if single:
            return RawData(X, self._classes(wanted[0]), names, nominal=values or None)
        labels = (
            np.column_stack([self._label(place) for place in wanted]) if wanted else np.empty((len(X), 0))
        )
        label_names = [self._names[place] for place in wanted]
        return RawData(X, sparse.csr_matrix(labels), names, label_names=label_names, nominal=values or None)

    def _place(self, column: Column, key: str) -> int:
        if str(column) in self._names:
            return self._names.index(str(column))
        n_columns = len(self._names)
        if isinstance(column, int) and not isinstance(column, bool) and -n_columns <= column < n_columns:
            return column % n_columns
        near = near_names(str(column), self._names)
        near = f"; did you mean {' or '.join(near)}?" if near else ""
        raise DatasetError(
            f"{self._file} has no column {column!r} (dataset.{key}) among its {n_columns}{near}{self._hint}"
        )

    def _feature(self, place: int, as_names: bool) -> tuple[np.ndarray, list[str] | None]:
        """Return a column's numbers; for a nominal one places in a list of values, and that list."""
        column, name = self._frame.iloc[:, place], self._names[place]
        kind = column.dtype
        if name.startswith(_NAMELESS) and np.array_equal(column, np.arange(len(column))):
            raise DatasetError(
                f"{self._file}: column {place} has no name and counts the rows, so it is no feature; "
                f"leave it out: dataset.leave_out=[{place}]"
            )
        if isinstance(kind, pd.CategoricalDtype):
            as_names = True
        elif pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind):
            if not as_names:
                return column.to_numpy(dtype=np.float64, na_value=np.nan), None
        elif not (pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind)):
            raise DatasetError(
                f"{self._file}: column {name!r} holds neither numbers nor text ({kind}); "
                f"leave it out: dataset.leave_out=[{name}]"
            )
        there = column.notna().to_numpy()
        if not as_names:
            numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
            is_number = ~np.isnan(numbers)
            if is_number[there].all():
                return numbers, None
            if is_number.any():
                row = int(np.flatnonzero(there & ~is_number)[0])
                raise DatasetError(
                    f"{self._file}, {self._place_of(row)}: column {name!r} holds {str(column.iloc[row])!r} among "
                    f"numbers; if its values are names, say dataset.nominal=[{name}]"
                )
        texts = [as_text(each).strip() for each in column[there]]
        distinct, codes = np.unique(texts, return_inverse=True)
        if len(distinct) == len(texts) >= _NAMES_FROM and not as_names:
            raise DatasetError(
                f"{self._file}: column {name!r} holds another text in every row; if it names the rows, leave it "
                f"out: dataset.leave_out=[{name}]; if not, say dataset.nominal=[{name}]"
            )
        coded = np.full(len(column), np.nan)
        coded[there] = codes
        return coded, [str(each) for each in distinct]

    def _classes(self, place: int) -> np.ndarray:
        column, name = self._frame.iloc[:, place], self._names[place]
        missing = np.flatnonzero(column.isna().to_numpy())
        if missing.size:
            raise DatasetError(
                f"{self._file}, {self._place_of(int(missing[0]))}: no class in column {name!r} "
                f"({missing.size} of {len(column)} rows have none)"
            )
        if pd.api.types.is_numeric_dtype(column.dtype):
            return column.to_numpy()
        return np.array([as_text(each).strip() for each in column])

    def _label(self, place: int) -> np.ndarray:
        column, name = self._frame.iloc[:, place], self._names[place]
        texts = [as_text(each).strip().lower() for each in column]
        for row, text in enumerate(texts):
            if text not in _LABEL_TEXTS:
                raise DatasetError(
                    f"{self._file}, {self._place_of(row)}: label {name!r} is {str(column.iloc[row])!r}, "
                    "neither 0 nor 1"
                )
        return np.array([_LABEL_TEXTS[text] for text in texts], dtype=np.int8)
