"""Where a configured folder may lie."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[1]


def search_places(local_data: str | os.PathLike[str]) -> list[Path]:
    """Folders a local data folder may stand for.

    Parameters
    ----------
    local_data : path
        As configured.

    Returns
    -------
    list of Path
        Absolute. An absolute path alone; a relative one from the current directory, then from the project's.
    """
    folder = Path(local_data).expanduser()
    if folder.is_absolute():
        return [folder]
    places = [Path(os.path.abspath(base / folder)) for base in (Path.cwd(), PROJECT_ROOT)]
    return list(dict.fromkeys(places))
