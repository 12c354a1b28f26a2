"""Errors that users can mend, and messages that name near and valid names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BadInputError(Exception):
    """Something the user gave is wrong; the message says what and what would be right.

    The command line prints the message, one or two lines, and ends with exit code 2.
    """


class ConfigError(BadInputError):
    """A name, an override or a YAML file of the configuration is wrong."""


class DatasetError(BadInputError):
    """A data set's file is missing or damaged, or its content is not what its YAML file states."""


class MissingFileError(DatasetError):
    """A data set's file is in none of the folders it may be in."""


class DownloadError(MissingFileError):
    """A data set's file could not be downloaded, or what came is not the file."""


class BadScoresError(BadInputError, ValueError):
    """Scores or settings that a statistical test cannot work with."""


class LauncherError(BadInputError):
    """Workers cannot be had, or those who hand out the work are gone."""


class RankerError(RuntimeError):
    """A ranker ran and gave no usable weights; fails its fold, not the study."""


def near_names(name: str, valid: Iterable[str], most: int = 3, *, dotted: bool = True) -> list[str]:
    """Return valid names near ``name``, best first; ``dotted`` names match by their last part too."""
    valid = list(dict.fromkeys(valid))
    last_part = name.rpartition(".")[2]
    found = [each for each in valid if dotted and each.rpartition(".")[2] == last_part]
    found += difflib.get_close_matches(name, valid, n=most, cutoff=0.6)
    if dotted:
        tails = {each.rpartition(".")[2]: each for each in reversed(valid)}
        found += [tails[tail] for tail in difflib.get_close_matches(last_part, tails, n=most, cutoff=0.75)]
    # A cut-off name ("relief" for "reliefe_absmean") is far by edit distance and still what was meant.
    found += [each for each in valid if len(name) > 2 and each.startswith(name)]
    return list(dict.fromkeys(found))[:most]


def meant(name: str, valid: Iterable[str], *, dotted: bool = True) -> str:
    """Write the end of a message: "; did you mean …?", or nothing where no valid name is near."""
    return _asked(near_names(name, valid, dotted=dotted))


def meant_file(name: str, beside: Iterable[str]) -> str:
    """Write the end of a message as :func:`meant` does, for a file: near by its name without the ending."""
    stems: dict[str, list[str]] = {}
    for each in sorted(beside):
        stems.setdefault(_stem(each), []).append(each)
    near = near_names(_stem(name), stems, dotted=False)
    return _asked([each for stem in near for each in stems[stem]][:3])


def _stem(file: str) -> str:
    """Take the ending off a name, and that of a compressed file before it."""
    for packed in (".gz", ".bz2", ".xz"):
        file = file.removesuffix(packed)
    return file.rpartition(".")[0] or file


def _asked(near: list[str]) -> str:
    return f"; did you mean {' or '.join(near)}?" if near else ""


def wrong_name(what: str, name: str, valid: Iterable[str]) -> ConfigError:
    """Return the error for a name that does not exist: near names, and on a second line all valid ones."""
    valid = list(valid)
    hint = meant(name, valid)
    return ConfigError(f"unknown {what} {name!r}{hint}\nvalid: {', '.join(valid) or 'none'}")
