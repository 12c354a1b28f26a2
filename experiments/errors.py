"""The errors a person can mend, and how a wrong name is answered with the right ones."""

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
    """Names that ``name`` may have been meant to be.

    Parameters
    ----------
    name : str
        What was typed.
    valid : iterable of str
        The names that exist. Dotted names also match by their last part, so that a forgotten group
        (``n_splits`` for ``protocol.n_splits``) is found.
    most : int
        The largest number of names returned.
    dotted : bool
        Whether what comes after the last dot is a name by itself, as in names of keys.

    Returns
    -------
    list of str
        Best first; empty when nothing is near.
    """
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
    """Write the end of a message: what may have been meant.

    Parameters
    ----------
    name, valid, dotted
        As for :func:`near_names`.

    Returns
    -------
    str
        "; did you mean …?", or empty when nothing is near.
    """
    return _asked(near_names(name, valid, dotted=dotted))


def meant_file(name: str, beside: Iterable[str]) -> str:
    """Write the end of a message: which file may have been meant, by its name without the ending.

    Parameters
    ----------
    name : str
        Of a file that is not there.
    beside : iterable of str
        Names of those that are.

    Returns
    -------
    str
        As :func:`meant`.
    """
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
    """Build the error for a name that does not exist.

    Parameters
    ----------
    what : str
        What kind of name it is, such as ``"ranker"``.
    name : str
        What was typed.
    valid : iterable of str
        The names that exist.

    Returns
    -------
    ConfigError
        Two lines: what is wrong with near names, then all valid names.
    """
    valid = list(valid)
    hint = meant(name, valid)
    return ConfigError(f"unknown {what} {name!r}{hint}\nvalid: {', '.join(valid) or 'none'}")
