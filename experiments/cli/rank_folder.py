"""Where results of ``rank`` go: a folder that is whole or not there, and never that of another command."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from experiments.errors import BadInputError
from experiments.paths import base_folder, check_folder, file_stem

#: In every folder: the settings that its numbers come from.
_ABOUT = "about.json"


def result_folder(file: str, out: str | None, digest: str) -> Path:
    """Choose the folder of results.

    Parameters
    ----------
    file : str
        The table.
    out : str or None
        As it was typed; None for a folder called as the file.
    digest : str
        Of everything that decides the results.

    Returns
    -------
    Path
        It is not there, empty, or holds the results of the same command on the same file.

    Raises
    ------
    BadInputError
        If the folder that was typed holds anything else.
    """
    if out is not None:
        folder = Path(out).expanduser().absolute()
        _check_place(folder)
        if not _free(folder, digest):
            raise BadInputError(
                f"{out} holds {'results of another command' if (folder / _ABOUT).exists() else 'other files'}, "
                "which are not overwritten; name another folder with --out"
            )
        return folder
    name = Path(file).name
    for ending in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(ending)
    stem = file_stem(Path(name).stem)
    parent = base_folder() / "results" / "rank"
    _check_place(parent)
    first = parent / stem
    return first if _free(first, digest) else parent / f"{stem}-{digest[:8]}"


def _check_place(folder: Path) -> None:
    try:
        check_folder(folder, "results")
    except BadInputError as error:
        raise BadInputError(f"{str(error).splitlines()[0]}; name another one with --out") from error


def _free(folder: Path, digest: str) -> bool:
    if not folder.exists() or not any(folder.iterdir()):
        return True
    try:
        return json.loads((folder / _ABOUT).read_text(encoding="utf-8"))["digest"] == digest
    except (OSError, ValueError, KeyError, TypeError):
        return False


@contextmanager
def placed(folder: Path) -> Iterator[Path]:
    """Give a temporary folder, which takes the place of ``folder`` when all of it is written.

    Parameters
    ----------
    folder : Path
        As :func:`result_folder` chose it.

    Yields
    ------
    Path
        Beside it; removed if anything goes wrong.

    Raises
    ------
    BadInputError
        If the place cannot be written to.
    """
    made = folder.with_name(f".{uuid.uuid4().hex}.tmp")
    old = folder.with_name(f".{uuid.uuid4().hex}.old")
    try:
        made.mkdir(parents=True)
        yield made
        if folder.exists():
            os.replace(folder, old)
        os.replace(made, folder)
    except OSError as error:
        raise BadInputError(f"{folder} cannot be written: {error.strerror or error}") from error
    finally:
        if old.exists() and not folder.exists():
            os.replace(old, folder)
        for each in (made, old):
            shutil.rmtree(each, ignore_errors=True)
