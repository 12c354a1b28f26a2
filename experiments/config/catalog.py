"""Which YAML files there are: the project's, and a user's own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from experiments.errors import ConfigError


def names(conf: Path, group: str) -> list[str]:
    """Names of the YAML files of a group, sorted.

    Parameters
    ----------
    conf : Path
        Folder with the groups.
    group : str
        Such as ``"ranker"``.

    Returns
    -------
    list of str
    """
    return sorted(path.stem for path in (conf / group).glob("*.yaml"))


def files(folders: Sequence[Path], group: str) -> dict[str, Path]:
    """YAML files of a group by name, sorted, from several folders; of two with one name that of the first folder.

    Parameters
    ----------
    folders : sequence of Path
        Folders with the groups.
    group : str
        Such as ``"ranker"``.

    Returns
    -------
    dict of str to Path
    """
    found = {
        name: folder / group / f"{name}.yaml" for folder in reversed(folders) for name in names(folder, group)
    }
    return dict(sorted(found.items()))


def own_folder(typed: str, conf: Path, groups: Sequence[str]) -> Path:
    """Check a folder of a user's own YAML files.

    Parameters
    ----------
    typed : str
        The folder; a relative one from the current directory.
    conf : Path
        The project's folder.
    groups : sequence of str
        Groups there may be.

    Returns
    -------
    Path
        Absolute.

    Raises
    ------
    ConfigError
        When it is no folder, has no file of a group, or one with the name of a file of the project.
    """
    folder = Path(os.path.abspath(Path(typed).expanduser()))
    if not folder.is_dir():
        raise ConfigError(f"--config-dir {typed}: there is no folder {folder}")
    found = {group: names(folder, group) for group in groups}
    if not any(found.values()):
        raise ConfigError(
            f"--config-dir {typed}: {folder} has no YAML files where they are looked for: "
            f"{', '.join(f'{group}/NAME.yaml' for group in groups[:3])}"
        )
    for group, listed in found.items():
        for name in listed:
            if name in names(conf, group):
                raise ConfigError(
                    f"--config-dir {typed}: {group}/{name}.yaml has the name of a file of the project; "
                    "give it another"
                )
    return folder
