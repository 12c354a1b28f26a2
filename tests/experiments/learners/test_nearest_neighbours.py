"""Nearest neighbours along a ranking, beside distances written out."""

import numpy as np
import pytest

from experiments.learners.nearest_neighbours import neighbour_means


@pytest.mark.parametrize(("n", "k"), [(20, 5), (150, 10)])
@pytest.mark.parametrize("whole", [True, False])
def test_means_are_those_of_the_nearest_with_ties(n, k, whole):
    rng = np.random.default_rng(0)
    train, test = (rng.integers(0, 3, (m, 7)) if whole else rng.random((m, 7)) for m in (n, 90))
    train, test, targets = train.astype(float), test.astype(float), rng.random((n, 2))
    found = neighbour_means(train, test, targets, [1, 4, 7])
    for place, size in enumerate((1, 4, 7)):
        for sample in range(90):
            distances = np.abs(train[:, :size] - test[sample, :size]).sum(axis=1)
            near = distances <= np.sort(distances)[k - 1] + 1e-9
            np.testing.assert_allclose(found[place, sample], targets[near].mean(axis=0))
    assert (neighbour_means(train, test, targets, [1, 4, 7], n_jobs=2) == found).all()
