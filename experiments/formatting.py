"""Numbers and messages as text: the same on figures, in tables, in sentences and in the page's script."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal

#: Characters of a message that are shown.
_LINE_LENGTH = 200
#: Decimals of a similarity: at least and at most, and how many steps its range is to have.
_FEWEST, _MOST, _STEPS = 2, 5, 50

#: Beginning of a ranker's target → whose it is.
BRANCH_OF = {
    "reliefe.ReliefE": "ReliefE",
    "reliefe.ReliefF": "ReliefF of this project",
    "reliefe.SURF": "SURF and MultiSURF of this project",
    "reliefe.MultiSURF": "SURF and MultiSURF of this project",
    "skrebate.": "scikit-rebate",
}
#: Branches of rankers, in the order in which figures tell them.
BRANCHES = (*dict.fromkeys(BRANCH_OF.values()), "other")


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number of things: "1 fold", "5 folds", "0 folds"."""
    return f"{int(number)} {noun if number == 1 else plural or f'{noun}s'}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """List names in a sentence: "a", "a and b", "a, b and 3 others"."""
    names = [str(name) for name in names]
    if len(names) > most:
        names = [*names[: most - 1], count(len(names) - most + 1, "other")]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def duration(seconds: float) -> str:
    """Write a duration in seconds as "40 s", "15 min", "3.5 h" or "2.1 days"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def fixed(value: float | None, digits: int) -> str:
    """Write a number with so many decimals, halves rounded away from 0; "–" for None and NaN."""
    # As JavaScript's toFixed does, so that the page agrees; Python's format rounds 5.125 to 5.12.
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return str(value)
    return str(Decimal(float(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def percent(share: float) -> str:
    """Write a share from 0 to 1 in percent: "7 %"; "100 %" only for all, "0 %" only for none."""
    said = fixed(100 * share, 0)
    if said == "100" and share < 1:
        return "> 99 %"
    return "< 1 %" if said == "0" and share > 0 else f"{said} %"


def rank_shown(value: float) -> str:
    """Write an average rank or a critical distance, with two decimals; "–" for NaN."""
    return fixed(value, 2)


def similarity_digits(values: Iterable[float]) -> int:
    """Return how many decimals, 2 to 5, show about 50 steps of the range and write only a 1 as 1."""
    there = [float(value) for value in values if not math.isnan(value)]
    if not there:
        return _FEWEST
    span = max(there) - min(there)
    below = max((value for value in there if value < 1), default=0.0)
    for digits in range(_FEWEST, _MOST):
        fine = span * 10**digits >= _STEPS or span == 0
        if fine and float(fixed(below, digits)) < 1:
            return digits
    return _MOST


def first_line(text: str) -> str:
    """Return the first line of a message, cut where it is very long."""
    line = text.strip().partition("\n")[0].strip()
    return line if len(line) <= _LINE_LENGTH else line[: _LINE_LENGTH - 1] + "…"
