"""Rankers of this library that give the weights of skrebate's, and count in their place where those were not run.

They never count for times. ``docs/studies.md`` tells how near their weights are.
"""

from __future__ import annotations

from collections.abc import Sequence

#: Ranker of skrebate → the one that stands for it.
STAND_INS = {
    "skrebate_relieff": "relieff_as_skrebate",
    "skrebate_surf": "surf_as_skrebate",
    "skrebate_multisurf": "multisurf_as_skrebate",
    "skrebate_multisurf_star": "multisurf_star_as_skrebate",
}
_STANDS_FOR = {stand_in: ranker for ranker, stand_in in STAND_INS.items()}


def stands_for(ranker: str) -> str:
    """Return the ranker that one counts as.

    Parameters
    ----------
    ranker : str
        Any ranker.

    Returns
    -------
    str
        skrebate's ranker for a stand-in, else ``ranker`` itself.
    """
    return _STANDS_FOR.get(ranker, ranker)


def stand_ins_said(names: Sequence[str]) -> str:
    """Say which rankers stand for skrebate's.

    Parameters
    ----------
    names : sequence of str
        Names to show, at least one.

    Returns
    -------
    str
        A sentence.
    """
    stand, give = ("stands", "it gives") if len(names) == 1 else ("stand", "they give")
    return f"{', '.join(names)} {stand} for skrebate's own, whose weights {give} but for ties."
