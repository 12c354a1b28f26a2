"""Weights beside scikit-rebate's own: on its test data, bundled data and two data sets of the local folder.

``docs/differences.md`` explains each difference, with examples that are run by ``test_docs.py``.
"""

import numpy as np
import pytest
import skrebate
import yaml

import reliefe
from experiments.config.compose import PROJECT_ROOT
from experiments.datasets import load

#: Ours → theirs.
RANKERS = {"SURF": "SURF", "SURFStar": "SURFstar", "MultiSURF": "MultiSURF", "MultiSURFStar": "MultiSURFstar"}
#: What "equal" is to mean.
SAME = {"rtol": 0.0, "atol": 1e-12}
CATEGORIES = {"discrete_features": "auto"}


def theirs(name, X, y, categorical):
    """Weights by skrebate: columns of few values are categories (its default), or all columns are numbers."""
    settings = {} if categorical else {"categorical_features": []}
    return np.asarray(
        getattr(skrebate, RANKERS[name])(n_jobs=1, **settings).fit(X.copy(), y).feature_importances_
    )


def ours(name, X, y, **parameters):
    return getattr(reliefe, name)(**parameters).fit(X, y).feature_importances_


def some_rows(name, n, local_data):
    """Rows of a data set of the benchmark in a random order, without columns that are constant there."""
    stated = yaml.safe_load((PROJECT_ROOT / "conf" / "dataset" / f"{name}.yaml").read_text(encoding="utf-8"))
    data = load(stated, local_data)
    rows = np.random.default_rng(0).permutation(data.X.shape[0])[:n]
    X = data.X[rows].toarray() if hasattr(data.X, "toarray") else data.X[rows]
    return X[:, np.ptp(X, axis=0) > 0], data.y[rows]


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize(
    ("name", "n", "categorical"),
    [
        ("gametes_2way", 400, True),
        ("gametes_3class", 300, True),
        ("multiplexer_6", 500, True),
        ("breast_cancer", 569, False),
        ("digits", 200, False),
    ],
)
def test_compatible_weights_are_theirs(name, n, categorical, ranker, local_data):
    X, y = some_rows(name, n, local_data)
    parameters = CATEGORIES if categorical else {}
    expected = theirs(ranker, X, y, categorical)
    np.testing.assert_allclose(ours(ranker, X, y, compatible="skrebate", **parameters), expected, **SAME)
    if ranker.startswith("Multi") and len(np.unique(y)) == 2:  # there theirs is what was published
        np.testing.assert_allclose(ours(ranker, X, y, **parameters), expected, **SAME)


@pytest.mark.parametrize(("name", "ranker"), [("colon", "MultiSURF"), ("srbct", "SURF")])
def test_gene_expression(name, ranker, local_data):
    X, y = some_rows(name, None, local_data)
    expected = theirs(ranker, X, y, False)
    np.testing.assert_allclose(ours(ranker, X, y, compatible="skrebate"), expected, **SAME)
    if name == "colon":
        np.testing.assert_allclose(ours(ranker, X, y), expected, **SAME)


@pytest.mark.parametrize(
    ("name", "categorical"), [("breast_cancer", True), ("colon", False), ("srbct", True), ("digits", False)]
)
def test_relieff(name, categorical, local_data):
    """With more and with fewer than k = 100 rows in a class, and no equal distances at the hundredth neighbour."""
    X, y = some_rows(name, 120 if name == "digits" else None, local_data)
    settings = {} if categorical else {"categorical_features": []}
    expected = skrebate.ReliefF(**settings).fit(X.copy(), y).feature_importances_
    parameters = CATEGORIES if categorical else {}
    found = reliefe.ReliefF(100, compatible="skrebate", **parameters).fit(X, y).feature_importances_
    np.testing.assert_allclose(found, expected, **SAME)
    if name != "breast_cancer":
        plain = reliefe.ReliefF(100, **parameters).fit(X, y).feature_importances_
        assert np.abs(plain - expected).max() > 1e-3


@pytest.mark.parametrize("ranker", RANKERS)
def test_missing_values(ranker, local_data):
    """Their own file with a tenth of all values missing; SURF's threshold is half of the mean there."""
    path = (
        local_data
        / "gametes"
        / ("GAMETES_Epistasis_2-Way_missing_values_0.1_a_20s_1600her_0.4__maf_0.2_EDM-2_01.tsv.gz")
    )
    table = np.genfromtxt(path, delimiter="\t", skip_header=1)
    table = table[np.random.default_rng(0).permutation(len(table))[:150]]
    X, y = table[:, :-1], table[:, -1].astype(int)
    assert 0.05 < np.isnan(X).mean() < 0.15
    expected = theirs(ranker, X, y, True)
    for compatible in [None, "skrebate"] if ranker.startswith("Multi") else ["skrebate"]:
        found = ours(ranker, X, y, missing="ignore", compatible=compatible, **CATEGORIES)
        np.testing.assert_allclose(found, expected, **SAME)
