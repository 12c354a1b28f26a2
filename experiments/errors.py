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


def near_names(name: str, valid: Iterable[str], most: int = 3) -> list[str]:
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

    Returns
    -------
    list of str
        Best first; empty when nothing is near.
    """
    valid = list(dict.fromkeys(valid))
    last_part = name.rpartition(".")[2]
    found = [each for each in valid if each.rpartition(".")[2] == last_part]
    found += difflib.get_close_matches(name, valid, n=most, cutoff=0.6)
    tails = {each.rpartition(".")[2]: each for each in reversed(valid)}
    found += [tails[tail] for tail in difflib.get_close_matches(last_part, tails, n=most, cutoff=0.75)]
    # A cut-off name ("relief" for "reliefe_absmean") is far by edit distance and still what was meant.
    found += [each for each in valid if len(name) > 2 and each.startswith(name)]
    return list(dict.fromkeys(found))[:most]


def meant(name: str, valid: Iterable[str]) -> str:
    """Write the end of a message: what may have been meant.

    Parameters
    ----------
    name, valid
        As for :func:`near_names`.

    Returns
    -------
    str
        "; did you mean …?", or empty when nothing is near.
    """
    near = near_names(name, valid)
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
