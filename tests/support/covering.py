"""Few cases for many parameters: each pair of values in one of them, and a full product on a small sample."""

from collections import Counter
from collections.abc import Mapping
from itertools import combinations, product

import pytest


def covering(counts, strength=2):
    """Choose rows of a full product.

    Parameters
    ----------
    counts : list of int
        How many values each parameter has.
    strength : int
        Of how many parameters all values are to meet: 2 for pairs.

    Returns
    -------
    list of tuple of int
        Places of the values, in the order of the full product: all of it where there are no more parameters than
        ``strength``. Equal calls give equal rows.
    """
    strength = min(strength, len(counts))
    places = list(combinations(range(len(counts)), strength))
    meetings = {
        row: [(where, tuple(row[place] for place in where)) for where in places]
        for row in product(*map(range, counts))
    }
    wanted = {meeting for each in meetings.values() for meeting in each}
    used, chosen = Counter(), []
    while wanted:
        row = max(
            meetings,
            key=lambda row: (
                sum(meeting in wanted for meeting in meetings[row]),
                -sum(used[place, value] for place, value in enumerate(row)),
            ),
        )
        wanted.difference_update(meetings.pop(row))
        used.update(enumerate(row))
        chosen.append(row)
    return sorted(chosen)


def covered(parameters, *, strength=2, full=None):
    """Run a test with the rows of a covering array.

    Parameters
    ----------
    parameters : dict
        Name of a parameter → its values, or a dictionary of them by the names that they have in the test's name.
        "a,b" are two parameters that go together.
    strength : int
        See `covering`.
    full : dict, optional
        Name of a parameter → values, by place or by name, that meet all values of all others.

    Returns
    -------
    pytest.MarkDecorator
    """
    values = [list(each.values() if isinstance(each, Mapping) else each) for each in parameters.values()]
    names = [
        list(each) if isinstance(each, Mapping) else [_name_of(value) for value in each]
        for each in parameters.values()
    ]
    counts = [len(each) for each in values]
    rows = set(covering(counts, strength))
    for name, some in (full or {}).items():
        place = list(parameters).index(name)
        kept = {names[place].index(each) if isinstance(each, str) else each for each in some}
        rows |= {row for row in product(*map(range, counts)) if row[place] in kept}
    cases = []
    for row in sorted(rows):
        case = []
        for name, each, place in zip(parameters, values, row, strict=True):
            case += each[place] if "," in name else [each[place]]
        cases.append(
            pytest.param(*case, id="-".join(each[place] for each, place in zip(names, row, strict=True)))
        )
    return pytest.mark.parametrize(",".join(parameters), cases)


def _name_of(value):
    if isinstance(value, tuple):
        return "-".join(map(_name_of, value))
    return getattr(value, "__name__", str(value))
