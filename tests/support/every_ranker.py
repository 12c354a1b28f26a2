"""One small table, targets for it, and a ranker of every kind, for tests of what a table may look like."""

import numpy as np
import pytest
from samples import LinearMap
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from reliefe import SURF, VLS, MultiSURF, MultiSURFStar, ReliefE, ReliefF, SURFStar, TuRF

N, P = 30, 4
_RNG = np.random.default_rng(18)
X = _RNG.integers(0, 4, (N, P)).astype(float)
Y = np.arange(N) % 2
RESPONSE = _RNG.integers(0, 9, N)
T = (_RNG.random((N, 3)) < 0.5).astype(int)
NAMES = list("abcd")

#: Rankers that take missing values.
IGNORING = {
    "ReliefF": ReliefF(3, missing="ignore"),
    "ReliefF adaptive": ReliefF("adaptive", abs_mean=True, missing="ignore"),
    "ReliefF regression": ReliefF(3, target="regression", missing="ignore"),
    "ReliefE": ReliefE(
        3, embedding=LinearMap(np.eye(P)[:, :2]), metric="euclidean", missing="ignore", sparsify_above=1.0
    ),
    "SURF": SURF(missing="ignore"),
    "SURF regression": SURF(target="regression", missing="ignore"),
    "SURFStar": SURFStar(missing="ignore"),
    "MultiSURF": MultiSURF(missing="ignore"),
    "MultiSURFStar": MultiSURFStar(missing="ignore"),
    "TuRF": TuRF(MultiSURF(missing="ignore"), removed=1),
    "VLS": VLS(ReliefF(3, missing="ignore"), subset_size=3, n_subsets=3, random_state=0),
}
#: Rankers that do not.
RAISING = {
    "ReliefF": ReliefF(3),
    "ReliefF regression": ReliefF(3, target="regression"),
    "ReliefE": ReliefE(3, embedding=LinearMap(np.eye(P)[:, :2]), metric="euclidean", sparsify_above=1.0),
    "SURF": SURF(),
    "MultiSURF regression": MultiSURF(target="regression"),
    "SURFStar": SURFStar(),
    "MultiSURF": MultiSURF(),
    "MultiSURFStar": MultiSURFStar(
        embedding=LinearMap(np.eye(P)[:, :2]), metric="euclidean", sparsify_above=1.0
    ),
    "TuRF": TuRF(MultiSURF(), removed=1),
    "VLS": VLS(ReliefF(3), subset_size=3, n_subsets=3, random_state=0),
}
#: Wrappers over a ranker of another library, which takes NaN.
FOREIGN = {
    "TuRF of a forest": TuRF(RandomForestClassifier(2, random_state=0), removed=2),
    "VLS of a forest": VLS(
        RandomForestClassifier(2, random_state=0), subset_size=3, n_subsets=2, random_state=0
    ),
}
ALL = RAISING | FOREIGN


def each(rankers):
    """Run a test with each of some rankers."""
    return pytest.mark.parametrize("ranker", rankers.values(), ids=rankers)


def target_of(ranker):
    """Return a target that a ranker takes."""
    return RESPONSE if getattr(ranker, "target", None) == "regression" else Y


def weights(ranker, table, target=None):
    """Fit a copy of a ranker; its own kind of target where none is given."""
    return clone(ranker).fit(table, target_of(ranker) if target is None else target).feature_importances_
