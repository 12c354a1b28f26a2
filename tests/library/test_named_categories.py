"""Columns of categories by their names, and by their types."""

import naive_mixed
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from samples import assert_weights_equal

from reliefe import VLS, MultiSURF, ReliefF, TuRF

RANKERS = [ReliefF(5), MultiSURF()]
NUMBERS = [0, 2]  # places of the columns of categories


def frame(rng, n=50):
    """Categories as text, numbers, categories as numbers far apart, few values that are numbers."""
    return pd.DataFrame(
        {
            "site": pd.Categorical(rng.choice(["Ulm", "Bern", "Linz", "Graz"], n)),
            "age": rng.normal(size=n),
            "code": pd.Categorical(rng.choice([7, 1000, -3], n)),
            "dose": rng.integers(0, 3, n),
        }
    )


def coded(X):
    return np.column_stack([X["site"].cat.codes, X["age"], X["code"].cat.codes, X["dose"]]).astype(float)


@pytest.mark.parametrize("ranker", RANKERS)
def test_by_type(ranker, rng):
    X, y = frame(rng), rng.integers(0, 2, 50)
    before = X.copy(deep=True)
    found = ranker.set_params(discrete_features="from_dtype").fit(X, y)
    pd.testing.assert_frame_equal(X, before)
    assert found.discrete_features_.tolist() == [True, False, True, False]
    weights = found.feature_importances_
    expected = ranker.set_params(discrete_features=NUMBERS).fit(coded(X), y).feature_importances_
    np.testing.assert_array_equal(weights, expected)
    assert found.n_features_in_ == 4


def test_by_type_as_the_twin_says(rng):
    X, y = frame(rng, 24), rng.integers(0, 2, 24)
    expected, _ = naive_mixed.relieff(coded(X), y, 5, discrete=[True, False, True, False])
    found = ReliefF(5, discrete_features="from_dtype").fit(X, y).feature_importances_
    assert_weights_equal(found, expected)


@pytest.mark.parametrize("kind", ["polars", "enum", "arrow", "sparse"])
def test_frames_of_other_kinds(kind, rng):
    X, y = frame(rng), rng.integers(0, 2, 50)
    expected = ReliefF(5, discrete_features=NUMBERS).fit(coded(X), y).feature_importances_
    if kind == "arrow":
        given = pa.table(
            {
                "site": pa.array(X["site"].astype(str)).dictionary_encode(),
                "age": X["age"],
                "code": pa.array(X["code"].astype(int)).dictionary_encode(),
                "dose": X["dose"],
            }
        )
    elif kind == "sparse":
        given = X.assign(dose=pd.arrays.SparseArray(X["dose"].to_numpy(), fill_value=0))
    else:
        of_categories = pl.Categorical if kind == "polars" else pl.Enum(["Ulm", "Bern", "Linz", "Graz"])
        columns = {name: X[name].to_numpy() for name in ("age", "dose")}
        columns["site"] = pl.Series(X["site"].astype(str).tolist(), dtype=of_categories)
        columns["code"] = pl.Series(X["code"].astype(str).tolist(), dtype=pl.Categorical)
        given = pl.DataFrame(columns).select(X.columns.tolist())
    found = ReliefF(5, discrete_features="from_dtype").fit(given, y)
    assert found.discrete_features_.tolist() == [True, False, True, False]
    np.testing.assert_allclose(found.feature_importances_, expected, rtol=0, atol=1e-15)


def test_missing_categories(rng):
    X, y = frame(rng), rng.integers(0, 2, 50)
    X.loc[[3, 17], "site"] = np.nan
    expected = coded(X)
    expected[[3, 17], 0] = np.nan
    ranker = ReliefF(5, missing="ignore", discrete_features="from_dtype")
    found = ranker.fit(X, y).feature_importances_
    ranker.set_params(discrete_features=NUMBERS)
    np.testing.assert_array_equal(found, ranker.fit(expected, y).feature_importances_)
    with pytest.raises(ValueError, match=r"sample 3, feature 0 \('site'\)"):
        ReliefF(5, discrete_features="from_dtype").fit(X, y)


@pytest.mark.parametrize("ranker", RANKERS)
def test_by_name(ranker, rng):
    X, y = frame(rng), rng.integers(0, 2, 50)
    X = pd.DataFrame(coded(X), columns=X.columns)
    expected = ranker.set_params(discrete_features=NUMBERS).fit(X, y).feature_importances_
    for names in (["code", "site"], np.array(["site", "code"]), pd.Index(["site", "code"])):
        found = ranker.set_params(discrete_features=names).fit(X, y)
        np.testing.assert_array_equal(found.feature_importances_, expected)
        assert found.discrete_features_.tolist() == [True, False, True, False]


@pytest.mark.parametrize("discrete", [["site", "code"], "from_dtype"])
@pytest.mark.parametrize("wrapper", [TuRF, VLS])
def test_in_subsets_of_columns(wrapper, discrete, rng):
    X, y = frame(rng), rng.integers(0, 2, 50)
    given = X if discrete == "from_dtype" else pd.DataFrame(coded(X), columns=X.columns)
    found = wrapper(MultiSURF(discrete_features=discrete), random_state=0).fit(given, y)
    expected = wrapper(MultiSURF(discrete_features=NUMBERS), random_state=0).fit(coded(X), y)
    np.testing.assert_array_equal(found.feature_importances_, expected.feature_importances_)


def test_what_is_not_there(rng):
    X, y = frame(rng), rng.integers(0, 2, 50)
    numbers = pd.DataFrame(coded(X), columns=X.columns)
    with pytest.raises(
        ValueError, match=r"names the feature 'sight', which X does not have; did you mean 'site'\?"
    ):
        ReliefF(discrete_features=["code", "sight"]).fit(numbers, y)
    with pytest.raises(ValueError, match=r"names the feature 'site', but the features of X have no names"):
        ReliefF(discrete_features=["site"]).fit(coded(X), y)
    for given in (coded(X), sp.csr_matrix(coded(X)), coded(X).tolist()):
        with pytest.raises(
            TypeError, match=r'"from_dtype" needs a data frame, whose columns have types; X is a '
        ):
            ReliefF(discrete_features="from_dtype").fit(given, y)
    with pytest.raises(TypeError, match=r"a list of feature numbers or of names"):
        ReliefF(discrete_features=["site", 2]).fit(numbers, y)
    with pytest.raises(ValueError, match=r'"auto" or "from_dtype", got \'dtype\''):
        ReliefF(discrete_features="dtype").fit(numbers, y)
    with pytest.raises(ValueError, match=r"column 'site' holds text"):
        ReliefF(discrete_features=["site"]).fit(X, y)
