"""What became of folds without numbers, in words, and when they are tried again."""

from __future__ import annotations

#: Status of a fold without numbers → how it is said.
BAD_STATUSES = {"failed": "failed", "timeout": "timed out", "out_of_memory": "out of memory"}

#: Status → the column with the limit that stopped such a fold.
LIMIT_COLUMNS = {"timeout": "time_limit_seconds", "out_of_memory": "memory_limit_mib"}


def when_again(status: str, limited: bool) -> str:
    """Say when folds without numbers are tried again.

    Parameters
    ----------
    status : str
        One of :data:`BAD_STATUSES`.
    limited : bool
        Whether a limit is known that stopped them. A fold may run out of memory without one.

    Returns
    -------
    str
    """
    if status in LIMIT_COLUMNS and limited:
        return f"tried again only under a higher launcher.{LIMIT_COLUMNS[status]}, or none"
    return "tried again by a run with the same arguments"
