"""What a claim of the paper is, and what a check of it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

HOLDS, HOLDS_NOT, UNDECIDED = "holds", "does not hold", "cannot be decided"
#: Said of data sets of which there are no rows, and of other data sets than the one that a claim is about.
NO_ROWS, NOT_ASKED = "no rows", "–"
#: Said beside a verdict that another draw of the folds could turn.
NOISE = "within the noise of the folds"

#: Forms of claims. One instance decides "there is", one counterexample "for all", and "most" is decided as soon as
#: the data sets that are missing cannot turn it; an average needs all of them.
EXISTS, ALL, MOST, AVERAGE = "there is", "for all", "most", "average"


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
