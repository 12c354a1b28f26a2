"""What permutation tests promise, on data where it is known which features are relevant. All seeds are fixed."""

import numpy as np
import pytest
from scipy import stats

from reliefe import MultiSURF, ReliefF
from reliefe.inspection import permutation_test, stability

pytestmark = pytest.mark.filterwarnings("ignore:.*larger weights than under any:UserWarning")


def noise_and_shifted(seed, n, p, n_relevant, shift):
    """Return normal noise whose first features are shifted in the second of two classes."""
    X = np.random.default_rng([11, seed]).normal(size=(n, p))
    y = np.arange(n) % 2
    X[:, :n_relevant] += shift * y[:, np.newaxis]
    return X, y


def at_most(share, n):
    """Mean of n values in 0 … 1 of expectation ``share`` that is exceeded with probability 0.01 at most.

    Values in 0 … 1 vary most when they are 0 or 1, so that their sum is binomial.
    """
    return stats.binom.ppf(0.99, n, share) / n


def false_and_found(ranker, n_tables, n, p, n_relevant, shift, **given):
    """Return the share of false features in each selection at q = 0.1, and of relevant ones that are in it."""
    false, found = np.zeros(n_tables), np.zeros(n_tables)
    for seed in range(n_tables):
        X, y = noise_and_shifted(seed, n, p, n_relevant, shift)
        chosen = permutation_test(ranker, X, y, permute="target", random_state=seed, **given).q_values <= 0.1
        false[seed] = chosen[n_relevant:].sum() / max(1, chosen.sum())
        found[seed] = chosen[:n_relevant].mean()
    return false, found


def test_p_values_are_uniform_without_relevant_features():
    p_values, family = np.empty(120), np.empty(120)
    for seed in range(120):
        X, y = noise_and_shifted(seed, 30, 8, 0, 0.0)
        X[:, 4:] += X[:, :4]  # dependence among features changes nothing
        found = permutation_test(ReliefF(5), X, y, permute="target", n_permutations=199, random_state=seed)
        p_values[seed], family[seed] = found.p_values[seed % 8], found.family_p_values.min()
    assert stats.kstest(p_values, "uniform").pvalue > 0.05
    assert stats.kstest(family, "uniform").pvalue > 0.05
    assert (p_values <= 0.05).mean() <= at_most(0.05, 120) and (family <= 0.05).mean() <= at_most(0.05, 120)


@pytest.mark.parametrize(
    ("ranker", "least"), [(ReliefF(10), 0.9), (MultiSURF(), 0.8)], ids=["ReliefF", "MultiSURF"]
)
def test_false_discoveries_are_as_few_as_promised_and_planted_features_are_found(ranker, least):
    false, found = false_and_found(ranker, 80, 60, 40, 4, 1.3, n_permutations=199)
    assert false.mean() <= at_most(0.1, 80)
    assert found.mean() >= least


def test_the_pooled_null_finds_few_among_many_with_few_permutations():
    """Of 300 features at 99 permutations, q is 0.1 for thirty features at once or for none."""
    given = {"n_tables": 40, "n": 60, "p": 300, "n_relevant": 3, "shift": 2.0, "n_permutations": 99}
    false, found = false_and_found(ReliefF(10), null="pooled", **given)
    assert false.mean() <= at_most(0.1, 40) and found.mean() >= 0.95
    _, found = false_and_found(ReliefF(10), null="feature", **given)
    assert found.mean() <= 0.05


def test_the_pooled_null_is_for_features_of_different_kinds():
    """Rare and common categories beside numbers: their weights have different spreads, not different p values."""
    p_values = []
    for seed in range(60):
        rng = np.random.default_rng([13, seed])
        X = rng.normal(size=(60, 24))
        X[:, 8:16] = rng.random((60, 8)) < 0.5
        X[:, 16:] = rng.random((60, 8)) < 0.2
        found = permutation_test(
            ReliefF(5),
            X,
            np.arange(60) % 2,
            permute="target",
            n_permutations=60,
            null="pooled",
            random_state=seed,
        )
        p_values.append(found.p_values)
    for kind in np.split(np.array(p_values), 3, axis=1):
        # Features of one table depend on one another a little: eight of them count as one.
        assert abs((kind <= 0.1).mean() - 0.1) < 3 * np.sqrt(0.1 * 0.9 / 60)
        assert abs(kind.mean() - 0.5) < 3 * np.sqrt(1 / 12 / 60)


def test_where_much_is_relevant_more_is_false_than_promised():
    """The docs say so: noise features of near samples are not exchangeable beside many strong features."""
    false, found = false_and_found(ReliefF(15), 30, 120, 20, 8, 2.0, n_permutations=199)
    assert found.mean() == 1.0
    assert 0.12 < false.mean() < 0.35


def test_planted_features_are_chosen_from_every_subsample_and_noise_is_not_stable():
    X, y = noise_and_shifted(0, 80, 30, 3, 2.5)
    found = stability(ReliefF(10), X, y, n_features=3, n_subsamples=60, random_state=0)
    assert found.frequency[:3].min() > 0.9 and found.frequency[3:].max() < 0.1
    assert found.lower <= found.stability <= found.upper and found.stability > 0.9
    rng = np.random.default_rng(5)
    noise = stability(
        ReliefF(10), X[:, 3:], rng.permutation(y), n_features=3, n_subsamples=60, fraction=0.2, random_state=0
    )
    assert noise.stability < 0.4
