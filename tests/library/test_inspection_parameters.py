"""Wrong parameters of permutation tests and stability are refused in words that say what is allowed."""

import re

import numpy as np
import pytest

from reliefe import ReliefF
from reliefe.inspection import permutation_test, stability

X, Y = np.random.default_rng(0).random((12, 3)), np.arange(12) % 2

WRONG = [
    ({"n_jobs": 0}, ValueError, "n_jobs must be None or an integer other than 0, got 0."),
    ({"n_jobs": 1.5}, ValueError, "n_jobs must be None or an integer other than 0, got 1.5."),
    ({"n_jobs": "two"}, ValueError, "n_jobs must be None or an integer other than 0, got 'two'."),
    (
        {"random_state": "seed"},
        TypeError,
        "random_state must be None, an integer or a numpy RandomState, got 'seed'.",
    ),
    (
        {"random_state": np.random.default_rng(0)},
        TypeError,
        "random_state must be None, an integer or a numpy RandomState, got Generator(PCG64)",
    ),
    (
        {"random_state": 1.0},
        TypeError,
        "random_state must be None, an integer or a numpy RandomState, got 1.0.",
    ),
    ({"random_state": -1}, ValueError, "random_state must lie in 0 … 2**32 − 1, got -1."),
    ({"ranker": "relieff"}, TypeError, "ranker must be an estimator with fit and then feature_importances_"),
    ({"ranker": ReliefF}, TypeError, "ranker must be an estimator with fit and then feature_importances_"),
]


@pytest.mark.parametrize("function", [permutation_test, stability])
@pytest.mark.parametrize(
    ("given", "kind", "words"), WRONG, ids=[repr(each[0]).split(" at 0x")[0] for each in WRONG]
)
def test_wrong_parameters_are_named(function, given, kind, words):
    ranker = given.get("ranker", ReliefF(3))
    settings = {key: value for key, value in given.items() if key != "ranker"}
    if function is stability:
        settings["n_features"] = 1
    with pytest.raises(kind, match=re.escape(words)):
        function(ranker, X, Y, **settings)
