"""What a claim of the paper is, what a check of it says, and verdicts in words, the same everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd

HOLDS, HOLDS_NOT, UNDECIDED = "holds", "does not hold", "cannot be decided"
#: Said of data sets of which there are no rows, and of other data sets than the one that a claim is about.
NO_ROWS, NOT_ASKED = "no rows", "–"
#: Said beside a verdict that another draw of the folds could turn.
NOISE = "within the noise of the folds"

#: Forms of claims. One instance decides "there is", one counterexample "for all", and "most" is decided as soon as
#: the data sets that are missing cannot turn it; an average needs all of them.
EXISTS, ALL, MOST, AVERAGE = "there is", "for all", "most", "average"

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


class NotThereError(Exception):
    """Raised by a check that finds nothing to look at; the text says what it would need."""


@dataclass(frozen=True)
class Finding:
    """What a check says.

    Attributes
    ----------
    holds : bool
        Whether the claim holds on what was looked at.
    told : str
        The numbers, in words.
    yes, no : int
        For claims about most: how many data sets (or pairs) agree, and do not.
    size : float
        For claims that rankers are equal (``Claim.equal``): how large the difference is that decides.
    """

    holds: bool
    told: str
    yes: int = 0
    no: int = 0
    size: float = 0.0


#: What looks at the evidence (:class:`experiments.analysis.paper.evidence.Evidence`).
Check: TypeAlias = Callable[[Any], Finding]


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes
    ----------
    key : str
        Short name.
    about : str
        What its rows are: "mcc", "mlc", "convergence" or the kind of a measurement.
    form : str
        :data:`EXISTS`, :data:`ALL`, :data:`MOST` or :data:`AVERAGE`: what is enough to decide it.
    place : str
        Where in the paper.
    statement : str
        What the paper says, in our words.
    reading : str
        When it holds.
    reason : str
        Why it is read so.
    check : callable
        Evidence → :class:`Finding`; raises :class:`NotThereError`.
    datasets, rankers : tuple of str
        The cells that it needs.
    times : bool
        Whether it is about times: one repeat with times is enough, and no stand-in counts.
    general : bool
        Whether it is about data sets at large; one about named data sets is not asked of others.
    pairs : tuple of (str, str)
        Pairs of rankers whose posterior it needs.
    noisy : bool
        Whether its numbers are means over folds, so that their noise can be told. Posteriors have theirs in them.
    draws : int
        How many draws of the folds are looked at.
    equal : tuple of tuple of str
        Groups of rankers that are equal where the claim is true. Noise makes differences larger and never smaller,
        so a claim that fails on one is looked at with draws in which the rankers of a group have one mean.
    """

    key: str
    about: str
    form: str
    place: str
    statement: str
    reading: str
    reason: str
    check: Check
    datasets: tuple[str, ...] = ()
    rankers: tuple[str, ...] = ()
    times: bool = False
    general: bool = True
    pairs: tuple[tuple[str, str], ...] = ()
    noisy: bool = True
    draws: int = 200
    equal: tuple[tuple[str, ...], ...] = ()


def claims_about(about: str, datasets: Sequence[str], rankers: Sequence[str]) -> Callable[..., Claim]:
    """Return a function that makes claims about one kind of rows.

    Parameters
    ----------
    about : str
        As :attr:`Claim.about`.
    datasets, rankers : sequence of str
        What a claim needs where it does not say.

    Returns
    -------
    callable
        Takes the attributes of a :class:`Claim` in their order, without ``about``.
    """

    def claim(
        key: str,
        form: str,
        place: str,
        statement: str,
        reading: str,
        reason: str,
        check: Check,
        datasets: Sequence[str] = datasets,
        rankers: Sequence[str] = rankers,
        **settings: Any,
    ) -> Claim:
        where = (tuple(datasets), tuple(rankers))
        return Claim(key, about, form, place, statement, reading, reason, check, *where, **settings)

    return claim


def decided(form: str, found: Finding, n_missing: int) -> str:
    """Say what a finding on a part of the paper's cells says of all of them.

    Parameters
    ----------
    form : str
        The claim's.
    found : Finding
        On what is there.
    n_missing : int
        How many data sets are not there, or not whole; 0 for none.

    Returns
    -------
    str
        :data:`HOLDS`, :data:`HOLDS_NOT` or :data:`UNDECIDED`.
    """
    if n_missing:
        sure = {EXISTS: found.holds, ALL: not found.holds, AVERAGE: False}.get(form)
        if sure is None:
            total = found.yes + found.no + n_missing
            sure = 2 * found.yes > total or 2 * (found.no) >= total
        if not sure:
            return UNDECIDED
    return HOLDS if found.holds else HOLDS_NOT


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
        The column ``missing`` of :func:`experiments.analysis.paper.claims.check`.

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
