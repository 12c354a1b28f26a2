"""Verdicts on claims in words, the same on the page, in tables and in texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from experiments.analysis.paper.claim import HOLDS, HOLDS_NOT, NO_ROWS, NOISE, NOT_ASKED, UNDECIDED

#: Where a verdict is of → the columns with it and with what is said of its noise.
SCOPES = {
    "the paper's data sets": ("verdict", "noise"),
    "those at hand": ("at_hand", "noise"),
    "related data sets": ("related", "noise_related"),
}
#: What claims are about, in words.
_ABOUT = {
    "mcc": "claims about multi-class rankings",
    "mlc": "claims about multi-label rankings",
    "convergence": "claims about iterations",
    "sparsity": "claims about sparsification",
    "phases": "claims about phases of a fit",
}
#: What verdicts are counted as, of one claim and of several.
_COUNTED = {
    HOLDS: ("holds", "hold"),
    HOLDS_NOT: ("does not hold", "do not hold"),
    UNDECIDED: ("cannot be decided", "cannot be decided"),
    NO_ROWS: ("has no rows", "have no rows"),
}


def shown(verdict: str, noise: str) -> str:
    """Write a verdict with what is said of its noise.

    Parameters
    ----------
    verdict : str
        A verdict.
    noise : str
        "within the noise of the folds", or "".

    Returns
    -------
    str
    """
    return f"{verdict}, {noise}" if noise and verdict in (HOLDS, HOLDS_NOT) else verdict


def told(claims: pd.DataFrame) -> pd.DataFrame:
    """Set out claims for people, a line each.

    Parameters
    ----------
    claims : DataFrame
        From :func:`experiments.analysis.paper.claims.check`.

    Returns
    -------
    DataFrame
        Texts: ``claim``, ``reading`` (with its reason), the keys of :data:`SCOPES` (verdicts), ``numbers``,
        ``place``. What most claims lack is left out (:func:`shared_missing`).
    """
    own = dict.fromkeys(claims.index, "")
    for _, part in claims.groupby("about", sort=False):
        own |= dict(zip(part.index, shared_missing(part["missing"].tolist())[1], strict=True))
    lines = []
    for line, lacking in zip(claims.to_dict("records"), own.values(), strict=True):
        numbers = [line["evidence"], line["evidence_related"], lacking]
        named = [*zip(("", "Related data sets: ", "Missing: "), numbers, strict=True)]
        lines.append(
            {
                "claim": line["statement"],
                "reading": f"{line['reading']} ({line['reason']})",
                **{where: shown(line[verdict], line[noise]) for where, (verdict, noise) in SCOPES.items()},
                "numbers": ". ".join(f"{before}{text}" for before, text in named if text),
                "place": line["place"],
            }
        )
    return pd.DataFrame(lines, columns=["claim", "reading", *SCOPES, "numbers", "place"])


def counted(claims: pd.DataFrame) -> str:
    """Count verdicts in a sentence or three.

    Parameters
    ----------
    claims : DataFrame
        From :func:`experiments.analysis.paper.claims.check`.

    Returns
    -------
    str
    """
    said = []
    for where, (verdict, noise) in SCOPES.items():
        asked = claims[claims[verdict] != NOT_ASKED]
        counts = asked[verdict].value_counts()
        parts = [
            f"{counts[name]} {one if counts[name] == 1 else several}"
            for name, (one, several) in _COUNTED.items()
            if counts.get(name, 0)
        ]
        n_noisy = int((asked[noise].eq(NOISE) & asked[verdict].isin([HOLDS, HOLDS_NOT])).sum())
        noisy = f" ({n_noisy} of these verdicts within the noise of the folds)" if n_noisy else ""
        if parts:
            said.append(f"on {where} {', '.join(parts)}{noisy}")
    many = f"Of {len(claims)} claims of the paper" if len(claims) != 1 else "Of one claim of the paper"
    return f"{many}: {'; '.join(said)}."


def lacking(claims: pd.DataFrame) -> str:
    """Say what most claims lack that cannot be decided.

    Parameters
    ----------
    claims : DataFrame
        From :func:`experiments.analysis.paper.claims.check`.

    Returns
    -------
    str
        A sentence; "" for nothing.
    """
    parts = []
    for about, part in claims.groupby("about", sort=False):
        shared, _ = shared_missing(part["missing"].tolist())
        if shared:
            parts.append(f"{shared}, for {_ABOUT.get(str(about), 'other claims')}")
    said = "Missing, evaluated as the paper's, where a line says nothing else"
    return f"{said}: {'; '.join(parts)}." if parts else ""


def shared_missing(missing: Sequence[str]) -> tuple[str, list[str]]:
    """Take out of what claims lack what most of them lack, so that it can be said once.

    Parameters
    ----------
    missing : sequence of str
        The column ``missing`` of :func:`check`.

    Returns
    -------
    shared : str
        What at least half of the claims that lack something lack, and more than one; "" for nothing.
    own : list of str
        For each claim: "" where it lacks nothing or just that, "also …" where it lacks more, else all that it
        lacks.
    """
    split = [each.split("; ") if each else [] for each in missing]
    n_lacking = sum(bool(parts) for parts in split)
    counts = Counter(part for parts in split for part in parts)
    known = [part for part, n in counts.items() if n >= max(2, n_lacking / 2)]
    own = []
    for parts in split:
        more = [part for part in parts if part not in known]
        if known and set(known) <= set(parts):
            own.append(f"also {'; '.join(more)}" if more else "")
        else:
            own.append("; ".join(parts))
    return "; ".join(known), own
