"""Columns of free text, such as abstracts: a feature for each word, the number of times that it occurs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from experiments.datasets.names import Column, as_typed, listed
from experiments.datasets.raw import RawData
from experiments.datasets.readers.frame import FrameReader
from experiments.errors import DatasetError

logger = logging.getLogger(__name__)

#: A word is a feature if it occurs in so many samples.
_LEAST_SAMPLES = 2
#: From so many values on, of which this share is different, a nominal column may be free text.
_TEXT_FROM, _DIFFERENT = 20, 0.9


def with_words(
    reader: FrameReader,
    target: Column | Sequence[Column],
    leave_out: Column | Sequence[Column],
    nominal: Column | Sequence[Column],
    text: Column | Sequence[Column],
) -> RawData:
    """Take a table apart, with columns of free text as counts of words."""
    columns = listed(text)
    places = [reader.place(each, "text") for each in columns]
    for key, others in (("target", target), ("nominal", nominal)):
        twice = [place for place in places if place in {reader.place(each, key) for each in listed(others)}]
        if twice:
            name = as_typed(reader.name(twice[0]))
            raise DatasetError(
                f"dataset.text={name} is named in dataset.{key} too; take it out of one of them"
            )
    for place in places:
        if reader.holds_numbers(place):
            name = as_typed(reader.name(place))
            raise DatasetError(
                f"{reader.file}: dataset.text={name}: the column holds numbers, and dataset.text is for free text; "
                "take it out of dataset.text"
            )
    raw = reader.raw(target, [*listed(leave_out), *columns], nominal)
    if not places:
        _tell_of_free_text(raw, reader, listed(nominal))
        return raw
    parts, names = [sparse.csr_matrix(raw.X, dtype=np.float64)], [str(each) for each in raw.feature_names]
    for place in dict.fromkeys(places):
        name = reader.name(place)
        counts, words = _counted(reader.texts(place), name, reader.file)
        parts.append(counts)
        names += [f"{name}:{word}" for word in words]
    if len(set(names)) < len(names):
        twice_named = next(name for name in names if names.count(name) > 1)
        raise DatasetError(
            f"{reader.file}: two features would be called {twice_named!r}, a column and a word; rename the column"
        )
    return replace(raw, X=sparse.hstack(parts, format="csr"), feature_names=names)


def _counted(texts: Sequence[str], name: str, file: str) -> tuple[sparse.csr_matrix, list[str]]:
    counter = CountVectorizer(min_df=_LEAST_SAMPLES, dtype=np.float64)
    try:
        counts = counter.fit_transform(texts)
    except ValueError as error:  # "empty vocabulary", "no terms remain", fewer samples than min_df
        raise DatasetError(
            f"{file}: in column {name!r} no word occurs in two samples, so there is nothing to count; leave it "
            f"out: dataset.leave_out={as_typed(name)}"
        ) from error
    return sparse.csr_matrix(counts), [str(each) for each in counter.get_feature_names_out()]


def _tell_of_free_text(raw: RawData, reader: FrameReader, nominal: Sequence[Column]) -> None:
    """Tell of nominal columns in which hardly a value occurs twice."""
    named = {reader.name(reader.place(each, "nominal")) for each in nominal}
    for place, values in (raw.nominal or {}).items():
        name = str(raw.feature_names[place])
        n_known = int((~np.isnan(np.asarray(raw.X[:, place], dtype=np.float64))).sum())
        if name not in named and n_known >= _TEXT_FROM and len(values) >= _DIFFERENT * n_known:
            logger.warning(
                "%s: column %s holds %d different texts in %d samples, each a feature of its own; if it is free "
                "text, dataset.text=%s counts its words",
                reader.file,
                name,
                len(values),
                n_known,
                as_typed(name),
            )
