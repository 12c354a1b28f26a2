"""Folders of the project and of data sets, names of files, and files that are written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.errors import BadInputError

_PACKAGE = Path(__file__).resolve().parent
PROJECT_ROOT = _PACKAGE.parent


@dataclass(frozen=True)
class Places:
    """Where a reader may look for its files, and what it used."""

    local: tuple[Path, ...]  # folders with files put there by hand, in the order they are tried
    cache: Path | None = None  # folder of downloads and parsed copies; ``None`` for the default one
    download: bool = False  # whether a file that is in none of them may be downloaded
    # What readers met, in order: "local", "cached" or "downloaded".
    used: list[str] = field(default_factory=list, compare=False)

    def __iter__(self) -> Iterator[Path]:
        """Iterate over the local folders."""
        return iter(self.local)


def conf_folder() -> Path:
    """Return the folder of the YAML files: inside an installed package, in a checkout beside it."""
    inside = _PACKAGE / "conf"
    return inside if inside.is_dir() else PROJECT_ROOT / "conf"


def base_folder() -> Path:
    """Return where relative folders of YAML files start: the checkout; installed, the current directory."""
    return PROJECT_ROOT if conf_folder().parent == PROJECT_ROOT else Path.cwd()


def default_cache() -> Path:
    """Return the folder of downloads and parsed copies: ``RELIEFE_CACHE``, else one in the user's cache folder."""
    given = os.environ.get("RELIEFE_CACHE")
    if given:
        return Path(os.path.abspath(Path(given).expanduser()))
    import platformdirs

    return Path(platformdirs.user_cache_dir("reliefe-bench"))


def search_places(local_data: str | os.PathLike[str]) -> list[Path]:
    """Absolute folders that a local data folder may mean: from here, then from :func:`base_folder`."""
    folder = Path(local_data).expanduser()
    if folder.is_absolute():
        return [folder]
    places = [Path(os.path.abspath(base / folder)) for base in (Path.cwd(), base_folder())]
    return list(dict.fromkeys(places))


def source_blocks(dataset: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List the sources of a data set (``source``, then ``sources``) in the order they are tried."""
    first = dataset.get("source")
    return [*([first] if first else []), *(dataset.get("sources") or [])]


def source_paths(block: Mapping[str, Any]) -> list[str]:
    """List the local paths of all files of one source."""
    files = block.get("files") or []
    blocks = [block, *(files.values() if isinstance(files, Mapping) else files)]
    return [
        each["path"] for each in blocks if isinstance(each, Mapping) and isinstance(each.get("path"), str)
    ]


#: Longest file name, without its ending, in bytes: common file systems take 255.
_LONGEST = 180


def file_stem(*parts: str) -> str:
    """Join names with underscores to a file name that every system takes.

    A name with other characters, or too long, ends in digits of its hash: two names never share a file.
    """
    wanted = "_".join(parts)
    stem = re.sub(r"[^\w.,=+\[\]-]", "_", wanted, flags=re.ASCII).lstrip(".") or "_"
    if stem != wanted or len(stem) > _LONGEST:
        digest = hashlib.sha256(wanted.encode()).hexdigest()[:8]
        stem = f"{stem[:_LONGEST]}-{digest}"
    return stem


def check_folder(folder: str | os.PathLike[str], key: str) -> None:
    """Refuse a folder (``key`` of ``paths``) where a file, a device or a dead link is in its place or above."""
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
    """Write a temporary file and rename it, so that no reader meets half of it; missing folders are made."""
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
