"""Where files of data sets may lie."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent
PROJECT_ROOT = _PACKAGE.parent


@dataclass(frozen=True)
class Places:
    """Where a reader may look for its files, and what it used.

    Attributes
    ----------
    local : tuple of Path
        Folders with files put there by hand, in the order they are tried.
    cache : Path or None
        Folder of downloads and parsed copies; ``None`` for the default one.
    download : bool
        Whether a file that is in none of them may be downloaded.
    used : list of str
        What readers met, in order: "local", "cached" or "downloaded".
    """

    local: tuple[Path, ...]
    cache: Path | None = None
    download: bool = False
    used: list[str] = field(default_factory=list, compare=False)

    def __iter__(self) -> Iterator[Path]:
        """Iterate over the local folders."""
        return iter(self.local)


def conf_folder() -> Path:
    """Return the folder of the YAML files: inside an installed package, in a checkout beside it."""
    inside = _PACKAGE / "conf"
    return inside if inside.is_dir() else PROJECT_ROOT / "conf"


def base_folder() -> Path:
    """Return the folder that relative folders of YAML files are taken from.

    Returns
    -------
    Path
        The checkout; where the package is installed, the current directory.
    """
    return PROJECT_ROOT if conf_folder().parent == PROJECT_ROOT else Path.cwd()


def default_cache() -> Path:
    """Return the folder of downloads and parsed copies: ``RELIEFE_CACHE``, else one in the user's cache folder."""
    given = os.environ.get("RELIEFE_CACHE")
    if given:
        return Path(os.path.abspath(Path(given).expanduser()))
    import platformdirs

    return Path(platformdirs.user_cache_dir("reliefe-bench"))


def search_places(local_data: str | os.PathLike[str]) -> list[Path]:
    """Folders a local data folder may stand for.

    Parameters
    ----------
    local_data : path
        As configured.

    Returns
    -------
    list of Path
        Absolute. An absolute path alone; a relative one from the current directory, then from :func:`base_folder`.
    """
    folder = Path(local_data).expanduser()
    if folder.is_absolute():
        return [folder]
    places = [Path(os.path.abspath(base / folder)) for base in (Path.cwd(), base_folder())]
    return list(dict.fromkeys(places))


def source_blocks(dataset: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List the sources of a data set in the order they are tried.

    Parameters
    ----------
    dataset : mapping
        A block of ``conf/dataset``, with ``source``, ``sources`` or both (``source`` then comes first).

    Returns
    -------
    list of dict
    """
    first = dataset.get("source")
    return [*([first] if first else []), *(dataset.get("sources") or [])]


def source_paths(block: Mapping[str, Any]) -> list[str]:
    """List the local paths of all files of one source."""
    files = block.get("files") or []
    blocks = [block, *(files.values() if isinstance(files, Mapping) else files)]
    return [
        each["path"] for each in blocks if isinstance(each, Mapping) and isinstance(each.get("path"), str)
    ]
