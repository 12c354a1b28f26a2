"""Parsed copies of files that take long to parse.

A copy is named after everything that decides its content: the checksums of the files, the reader, its version and
its parameters. It is made whole or not at all, and one that cannot be read is made anew, so a damaged copy never
does harm. This is why it is an ``.npz`` file, which has a checksum (CRC-32) for each array, and no
:class:`joblib.Memory`: that one was seen to give a wrong value, without a word, for a copy with one changed bit.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets.download.files import Content
from experiments.datasets.raw import RawData
from experiments.paths import Places, default_cache

logger = logging.getLogger(__name__)

#: Raised by one when the layout of copies changes.
_LAYOUT = 1


def cached_parse(
    places: Places | Sequence[Path],
    reader: str,
    version: int,
    files: Sequence[Content],
    parameters: Mapping[str, Any],
    parse: Callable[[], RawData],
) -> RawData:
    """Return the parsed copy of files, or parse them and keep a copy.

    Parameters
    ----------
    places : Places, or sequence of Path
        Names the cache; there is none for a plain sequence.
    reader : str
        Name of the reader.
    version : int
        Of the reader; raised when it reads the same bytes differently.
    files : sequence of Content
        What is parsed.
    parameters : mapping
        Of the reader, all that decides the outcome; as JSON can hold them.
    parse : callable
        Does the work.

    Returns
    -------
    RawData
    """
    if not isinstance(places, Places):
        return parse()
    key = json.dumps(
        [_LAYOUT, reader, version, [each.sha256 for each in files], dict(parameters)],
        sort_keys=True,
        default=str,
    )
    copy = (
        (places.cache or default_cache())
        / "parsed"
        / f"{reader}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"
    )
    raw = _read(copy, key)
    if raw is None:
        raw = parse()
        _write(copy, key, raw)
    return raw


def _write(copy: Path, key: str, raw: RawData) -> None:
    if (
        not sparse.issparse(raw.labels)
        and np.asarray(raw.labels).dtype.kind == "O"
        and pd.isna(raw.labels).any()
    ):
        return  # text would be made of what is missing; the data set is refused anyway
    arrays = {"names": np.array([str(each) for each in raw.feature_names])}
    if raw.label_names is not None:
        arrays["label_names"] = np.array([str(each) for each in raw.label_names])
    for part, matrix in (("X", raw.X), ("labels", raw.labels)):
        if sparse.issparse(matrix):
            matrix = matrix.tocsr()
            arrays |= {f"{part}_data": matrix.data, f"{part}_indices": matrix.indices}
            arrays |= {f"{part}_indptr": matrix.indptr, f"{part}_shape": np.array(matrix.shape)}
        else:
            matrix = np.asarray(matrix)
            arrays[part] = matrix.astype(str) if matrix.dtype.kind == "O" else matrix
    rest = {
        "key": key,
        "class_names": raw.class_names and dict(raw.class_names),
        "nominal": raw.nominal and [[int(place), list(values)] for place, values in raw.nominal.items()],
    }
    arrays["rest"] = np.array(json.dumps(rest))
    beside = copy.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
            with beside.open("wb") as file:  # not by way of memory: the largest tables take most of a GiB
                np.savez(file, allow_pickle=False, **arrays)
            os.replace(beside, copy)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:  # the data set is there all the same
        logger.warning("no parsed copy is kept: %s cannot be written: %s", copy, error.strerror or error)


def _read(copy: Path, key: str) -> RawData | None:
    """Read a copy; ``None`` when there is none, or none that is whole."""
    try:
        with np.load(copy, allow_pickle=False) as arrays:
            there = {name: arrays[name] for name in arrays.files}
        rest = json.loads(str(there["rest"]))
        if rest["key"] != key:
            return None
        X, labels = (
            there[part]
            if part in there
            else sparse.csr_matrix(
                tuple(there[f"{part}_{each}"] for each in ("data", "indices", "indptr")),
                shape=tuple(there[f"{part}_shape"]),
            )
            for part in ("X", "labels")
        )
        label_names = there["label_names"].tolist() if "label_names" in there else None
        nominal = dict(rest["nominal"]) if rest["nominal"] else None
        return RawData(X, labels, there["names"].tolist(), rest["class_names"], label_names, nominal)
    except FileNotFoundError:
        return None
    except Exception as error:  # zipfile and numpy raise many kinds, depending on which byte is damaged
        logger.warning("%s is damaged and made anew (%s: %s)", copy, type(error).__name__, error)
        return None
