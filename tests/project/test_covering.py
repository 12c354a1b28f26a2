"""The helper that chooses cases of tests with many parameters."""

from itertools import combinations, product

import pytest
from covering import covered, covering


@pytest.mark.parametrize(
    "counts", [[8, 3, 6, 2], [4, 4, 2, 2, 2, 2], [5, 2], [3], [2, 2, 2], [9, 4, 2, 2], [1, 7, 1, 2]]
)
def test_all_pairs_of_values_are_covered_with_few_rows(counts):
    rows = covering(counts)
    for a, b in combinations(range(len(counts)), 2):
        assert {(row[a], row[b]) for row in rows} == set(product(range(counts[a]), range(counts[b])))
    assert len(rows) == len(set(rows)) and rows == sorted(rows) == covering(counts)
    assert set(rows) <= set(product(*map(range, counts)))
    *_, second, first = sorted([1, *counts])
    assert first * second <= len(rows) <= 1.5 * first * second


@pytest.mark.parametrize("counts", [[5, 3], [9, 47], [2, 3, 4]])
def test_strength_one_meets_each_value_and_takes_turns(counts):
    rows = covering(counts, strength=1)
    assert len(rows) == max(counts)
    for place, count in enumerate(counts):
        met = [sum(row[place] == value for row in rows) for value in range(count)]
        assert min(met) >= 1 and max(met) - min(met) <= 1


def test_strength_three_meets_all_triples():
    counts = [3, 2, 2, 4]
    rows = covering(counts, strength=3)
    for some in combinations(range(4), 3):
        met = {tuple(row[place] for place in some) for row in rows}
        assert met == set(product(*(range(counts[place]) for place in some)))
    assert len(rows) < 48


def cases_of(mark):
    return mark.args[0], [each.values for each in mark.args[1]], [each.id for each in mark.args[1]]


def test_one_value_can_meet_the_full_product_of_the_others():
    letters, numbers, flags = "abcde", [1, 2, 3], [False, True]
    names, cases, ids = cases_of(covered({"x": letters, "y": numbers, "z": flags}, full={"x": ["b"]}))
    assert names == "x,y,z"
    assert {case[1:] for case in cases if case[0] == "b"} == set(product(numbers, flags))
    assert {case[:2] for case in cases} == set(product(letters, numbers))
    assert len(cases) < 30 and ids[cases.index(("b", 3, True))] == "b-3-True" and len(set(ids)) == len(ids)


def test_values_have_names_and_parameters_go_together():
    given = {
        "ranker": {"one": 1.5, "two": 2.5},
        "k,abs_mean": [(3, True), (4, False)],
        "storage": [list, set],
    }
    names, cases, ids = cases_of(covered(given))
    assert names == "ranker,k,abs_mean,storage"
    assert {case[:3] for case in cases} == {
        (r, *pair) for r in (1.5, 2.5) for pair in ((3, True), (4, False))
    }
    assert ids[0] == "one-3-True-list"
