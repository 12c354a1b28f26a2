"""Files made for people: named after what they show, written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import stat
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


def check_folder(folder: str | os.PathLike[str], key: str) -> None:
    """Refuse a folder that cannot be one: something else is in its place, or in that of a folder above it.

    Parameters
    ----------
    folder : path
        May be missing; then nothing may stand in the way of making it.
    key : str
        Which key of ``paths`` names it, for the message: ``"results"`` or ``"cache"``.

    Raises
    ------
    BadInputError
        For a file, a device, a pipe, a socket, or a link that leads nowhere.
    """
    path = Path(folder).absolute()
    # Of what is there, the nearest one; a link that leads nowhere is there too.
    nearest = next(each for each in (path, *path.parents) if os.path.lexists(each))
    mode = nearest.stat().st_mode if nearest.exists() else None
    if mode is not None and stat.S_ISDIR(mode):
        return
    name = "" if nearest == path else f" ({nearest})"
    raise BadInputError(
        f"the {key} folder {folder} cannot be written to: there is {_kind(mode)} of that name{name}\n"
        f"name another one with paths.{key}=FOLDER"
    )


def _kind(mode: int | None) -> str:
    if mode is None:
        return "a link that leads nowhere"
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "a device"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a file"


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
