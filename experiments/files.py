"""Files made for people: named after what they show, written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from pathlib import Path

from experiments.errors import BadInputError

#: Longest file name, without its ending, in bytes: common file systems take 255.
_LONGEST = 180


def file_stem(*parts: str) -> str:
    """Join names to a file name that every system takes.

    Parameters
    ----------
    *parts : str
        Names of data sets, protocols and the like, as typed by a person.

    Returns
    -------
    str
        The parts with underscores between them. What may not stand in a file name (slashes, colons, spaces, …)
        becomes an underscore; a name changed that way, or cut because it was too long, ends in a few digits of its
        hash, so that two names never share a file.
    """
    wanted = "_".join(parts)
    stem = re.sub(r"[^\w.,=+\[\]-]", "_", wanted, flags=re.ASCII).lstrip(".") or "_"
    if stem != wanted or len(stem) > _LONGEST:
        digest = hashlib.sha256(wanted.encode()).hexdigest()[:8]
        stem = f"{stem[:_LONGEST]}-{digest}"
    return stem


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file beside its place and rename it, so that no reader ever meets half of it.

    Parameters
    ----------
    path : Path
        Where to. Missing folders are made; a file that is there is replaced.
    content : bytes
        What to write.

    Returns
    -------
    Path
        ``path``.

    Raises
    ------
    BadInputError
        If the place cannot be written to.
    """
    beside = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(content)
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise BadInputError(f"{path} cannot be written: {error.strerror or error}") from error
    return path
