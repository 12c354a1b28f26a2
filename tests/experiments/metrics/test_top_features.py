"""The best features of a ranking: which are kept, and how equal weights share their places."""

import itertools

import numpy as np
import pytest

from experiments.metrics.top_features import MOST, TOP, chosen_shares, top_features
from reliefe.ranking import TIE


def naive(weights):
    """Feature → (place, share of the first 20), of every feature that has or shares one of the first 20 places."""
    scale = max(abs(weight) for weight in weights)
    order = sorted(range(len(weights)), key=lambda column: -weights[column])
    groups = [[order[0]]]
    for before, column in itertools.pairwise(order):
        if weights[before] - weights[column] <= TIE * scale:
            groups[-1].append(column)
        else:
            groups.append([column])
    found, start = {}, 0
    for group in groups:
        free = min(TOP - start, len(group))
        if free <= 0:
            break
        if free == len(group) or start + len(group) <= MOST:
            mean = sum(range(start + 1, start + len(group) + 1)) / len(group)
            found |= {column: (mean, free / len(group)) for column in sorted(group)}
        start += len(group)
    return found


def check(weights):
    found, expected = top_features(weights), naive(list(weights))
    assert found.columns.tolist() == list(expected)
    assert found.ranks.tolist() == [mean for mean, _ in expected.values()]
    np.testing.assert_allclose(
        chosen_shares(found.ranks), [share for _, share in expected.values()], rtol=1e-15
    )
    assert found.weights.tolist() == [weights[column] for column in expected]
    return found


@pytest.mark.parametrize("n_features", [1, 2, 19, 20, 21, 99, 100, 101, 102, 103, 250, 3000])
@pytest.mark.parametrize("n_values", [1, 2, 3, 8, 60, None])
def test_as_counted_one_by_one(n_features, n_values):
    rng = np.random.default_rng(n_features)
    for _ in range(5):
        values = rng.normal(size=n_features if n_values is None else n_values)
        check(values if n_values is None else rng.choice(values, n_features))


def test_rounding_does_not_part_equal_weights():
    weights = np.r_[np.full(30, 0.1), -5.0]
    weights[:30] += (
        np.arange(30) * 1e-15
    )  # the largest absolute weight, which is negative, says what is equal
    found = check(weights)
    assert found.columns.tolist() == list(range(30)) and set(found.ranks) == {15.5}
    assert chosen_shares(found.ranks) == pytest.approx(20 / 30)


def test_the_order_of_columns_decides_nothing():
    rng = np.random.default_rng(0)
    weights = rng.choice(rng.normal(size=12), 60)

    def by_feature(order):
        found = top_features(weights[order])
        shares = chosen_shares(found.ranks)
        return {
            int(order[column]): (rank, share)
            for column, rank, share in zip(found.columns, found.ranks, shares, strict=True)
        }

    expected = by_feature(np.arange(60))
    assert any(0 < share < 1 for _, share in expected.values())
    for _ in range(5):
        assert by_feature(rng.permutation(60)) == expected


def test_shares_add_up_to_twenty():
    weights = np.repeat(np.arange(12.0), 7)
    assert chosen_shares(top_features(weights).ranks).sum() == pytest.approx(TOP, abs=1e-12)


@pytest.mark.parametrize("at_once", [80, 81, 82])
def test_a_group_that_is_too_large_is_left_out(at_once):
    """Nineteen features, then a group from the 20th place on: with 81 there are 100, with 82 too many."""
    weights = np.r_[np.arange(40.0, 21.0, -1), np.ones(at_once), np.zeros(500)]
    found = check(weights)
    assert len(found.columns) == (19 + at_once if at_once <= 81 else 19)


def test_equal_weights_everywhere_choose_nothing():
    found = check(np.ones(500))
    assert len(found.columns) == 0 and len(chosen_shares(found.ranks)) == 0
    found = check(np.zeros(13))
    assert set(found.ranks) == {7.0} and set(chosen_shares(found.ranks)) == {1.0}


@pytest.mark.parametrize("bad", [[1.0, np.nan], [1.0, np.inf], [[1.0]]])
def test_what_is_no_ranking_is_refused(bad):
    with pytest.raises(ValueError, match="weights must"):
        top_features(bad)
    if np.ndim(bad) == 1:
        with pytest.raises(ValueError, match="finite"):
            top_features(np.r_[np.arange(300.0), bad])
