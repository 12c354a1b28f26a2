"""dataset.missing=ranker: missing values are left to rankers that take them, and filled in by fold for the rest."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from experiments.config.compose import compose_runs
from experiments.datasets import load
from experiments.datasets.encoding import coded
from experiments.datasets.raw import RawData
from experiments.errors import DatasetError
from experiments.evaluation.cell import cells_of
from experiments.evaluation.evaluate import evaluate_all_features, evaluate_ranking, fold_seed
from experiments.evaluation.filling import filled
from experiments.evaluation.splits import folds
from experiments.execution.study import Study
from experiments.rankers.missing import leaving_missing, takes_missing
from reliefe import MultiSURF, ReliefF, TuRF

NAN = np.nan
TRAIN = np.array([[1, NAN, 1, 0, 1], [2, NAN, 0, 1, 0], [10, NAN, 0, 1, 1], [NAN, NAN, NAN, NAN, 0]])
TEST = np.array([[NAN, 5, NAN, NAN, NAN], [7, NAN, 1, 0, 1]])
#: Medians 2 and none, the second of two values, and a 0/1 column with as many 0 as 1.
WHOLE_TRAIN = [[1, 0, 1, 0, 1], [2, 0, 0, 1, 0], [10, 0, 0, 1, 1], [2, 0, 0, 1, 0]]
WHOLE_TEST = [[2, 5, 0, 1, 0], [7, 0, 1, 0, 1]]
NOMINAL = ((2, 3), (4,))


@pytest.mark.parametrize("storage", [np.array, sparse.csr_matrix])
def test_training_samples_decide_what_is_filled_in(storage):
    train, test = storage(TRAIN), storage(TEST)
    found = filled(train, test, NOMINAL)
    dense = [each.toarray() if sparse.issparse(each) else each for each in found]
    assert dense[0].tolist() == WHOLE_TRAIN
    assert dense[1].tolist() == WHOLE_TEST
    assert all(type(new) is type(old) for new, old in zip(found, (train, test), strict=True))
    again = train.toarray() if sparse.issparse(train) else train
    assert np.array_equal(again, TRAIN, equal_nan=True)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(5)
    n = 60
    y = np.repeat(["a", "b"], n // 2)
    frame = pd.DataFrame({f"x{place}": rng.normal(size=n) + (y == "a") * (place == 0) for place in range(3)})
    frame["site"] = rng.choice(["north", "south", "west"], n)
    frame.loc[rng.choice(n, 12, replace=False), "x0"] = NAN
    frame.loc[rng.choice(n, 9, replace=False), "site"] = None
    frame["class"] = y
    frame.to_csv(tmp_path / "my.csv", index=False)
    return tmp_path


def configured(folder, *typed, missing="ranker"):
    arguments = [
        "dataset=csv",
        f"dataset.path={folder / 'my.csv'}",
        "dataset.target=class",
        f"dataset.missing={missing}",
        "protocol=quick",
        f"paths.results={folder / 'results'}",
    ]
    return compose_runs([*arguments, *typed]).configs


def test_missing_values_stay_and_nominal_columns_are_missing_together(table):
    (config,) = configured(table, "ranker=relieff")
    data = load(config["dataset"], table)
    assert data.feature_names == ("x0", "x1", "x2", "site=north", "site=south", "site=west")
    assert data.nominal == data.gaps == ((3, 4, 5),)
    gaps = np.isnan(data.X)
    assert gaps.sum(axis=0).tolist() == [12, 0, 0, 9, 9, 9]
    assert (gaps[:, 3:].sum(axis=1) % 3 == 0).all()


def one_cell(folder, ranker):
    (config,) = configured(folder, f"ranker={ranker}")
    study = Study([config])
    cell = next(each for each in study.cells.values() if each.repeat == 0)
    return cell, study.data[cell.checksum]


def expected_fold(cell, data):
    train, test = folds(data.y, n_splits=cell.n_splits, repeat=0, seed=cell.seed)[0]
    return train, test, fold_seed(cell.seed, 0, 0)


def ranked(cell, data, X=None):
    X = data.X if X is None else X
    reference = evaluate_all_features(cell.reference, X, data.y)
    assert reference.ok
    result = evaluate_ranking(cell, X, data.y, reference.table)
    assert result.ok, result.frame["error"].tolist()
    return result.frame


def test_a_ranker_that_takes_missing_values_gets_them(table):
    cell, data = one_cell(table, "multisurf")
    assert cell.ranker_block["missing"] == "ignore"
    train, _, _ = expected_fold(cell, data)
    expected = MultiSURF(missing="ignore").fit(data.X[train], data.y[train]).feature_importances_
    np.testing.assert_array_equal(ranked(cell, data)["weights"][0], expected)


def test_a_wrapped_ranker_gets_them_too(table):
    cell, data = one_cell(table, "turf")
    assert cell.ranker_block["estimator"]["missing"] == "ignore" and "missing" not in cell.ranker_block
    train, _, seed = expected_fold(cell, data)
    ranker = TuRF(MultiSURF(missing="ignore"), removed=0.1, random_state=seed)
    expected = ranker.fit(data.X[train], data.y[train]).feature_importances_
    np.testing.assert_array_equal(ranked(cell, data)["weights"][0], expected)


def test_a_ranker_that_takes_none_gets_filled_ones(table):
    from sklearn.feature_selection import f_classif

    cell, data = one_cell(table, "anova_f")
    train, test, _ = expected_fold(cell, data)
    X = filled(data.X[train], data.X[test], data.nominal)[0]
    F = f_classif(X, data.y[train])[0]
    share = F / (F + len(train) - 2)  # of the variance between two classes
    np.testing.assert_allclose(ranked(cell, data)["weights"][0], share, rtol=1e-9)


def test_a_configuration_that_refuses_missing_values_gets_filled_ones(table):
    (config,) = configured(table, "ranker=relieff", "ranker.missing=raise")
    cell = Study([config]).cells.popitem()[1]
    assert cell.ranker_block["missing"] == "raise" and not takes_missing(cell.ranker_block)
    _, data = one_cell(table, "relieff")
    train, test, _ = expected_fold(cell, data)
    X = filled(data.X[train], data.X[test], data.nominal)[0]
    expected = (
        ReliefF(n_neighbors=cell.ranker_block["n_neighbors"]).fit(X, data.y[train]).feature_importances_
    )
    np.testing.assert_array_equal(ranked(cell, data)["weights"][0], expected)


def test_test_samples_decide_nothing(table):
    for ranker in ("multisurf", "anova_f"):
        cell, data = one_cell(table, ranker)
        _, test, _ = expected_fold(cell, data)
        other = data.X.copy()
        other[test] = np.where(np.isnan(other[test]), 100.0, NAN)
        before, after = ranked(cell, data), ranked(cell, data, other)
        np.testing.assert_array_equal(before["weights"][0], after["weights"][0])
    train = np.setdiff1d(np.arange(len(data.X)), test)
    found = filled(data.X[train], other[test], data.nominal)[0]
    np.testing.assert_array_equal(found, filled(data.X[train], data.X[test], data.nominal)[0])


def test_a_column_without_a_value_in_the_training_samples_is_ranked_as_constant(table):
    cell, data = one_cell(table, "multisurf")
    train, test, _ = expected_fold(cell, data)
    X = data.X.copy()
    X[train, 1] = NAN
    first = ranked(cell, data, X).iloc[0]
    assert first["weights"][1] == 0.0
    assert (filled(X[train], X[test], data.nominal)[0][:, 1] == 0.0).all()


def test_keys_know_of_filling_only_where_values_are_missing(table):
    (config,) = configured(table, "ranker=relieff")
    common = {"checksum": "0" * 64, "task": "multiclass"}
    usual, with_gaps, others = (cells_of(config, **common, gaps=gaps)[0] for gaps in (None, (), ((3, 4, 5),)))
    assert usual == cells_of(config, **common)[0] and "missing" not in usual.ranker_block
    keys = {key for each in (usual, with_gaps, others) for key in (each.key, each.reference.key)}
    assert len(keys) == 6
    frame = pd.read_csv(table / "my.csv").dropna()
    frame.to_csv(table / "my.csv", index=False)
    with_ranker, plain = (
        Study(configured(table, "ranker=relieff", missing=missing)).cells.keys()
        for missing in ("ranker", "error")
    )
    assert with_ranker == plain


def test_only_a_parameter_that_means_it_is_set():
    ours = {"_target_": "reliefe.ReliefF"}
    assert leaving_missing(ours)["missing"] == "ignore" and ours == {"_target_": "reliefe.ReliefF"}
    assert leaving_missing({"_target_": "reliefe.ReliefE"})["missing"] == "ignore"
    for target in ("sklearn.ensemble.RandomForestClassifier", "nowhere.Ranker", "skrebate.ReliefF"):
        assert leaving_missing({"_target_": target}) == {"_target_": target}


def test_columns_with_one_known_value_are_constant_and_infinite_ones_refused():
    labels = np.array([0, 1, 0, 1])
    X = np.array([[1, 3, NAN, 0], [NAN, 3, NAN, 1], [1, NAN, NAN, NAN], [1, 3, NAN, 1]])
    for storage in (np.array, sparse.csr_matrix):
        raw = RawData(storage(X), labels, list("abcd"))
        _, _, names, _ = coded(raw, "multiclass", drop_constant=True, missing="ranker")
        assert names == ("d",)
    X[0, 0] = np.inf
    with pytest.raises(DatasetError, match="column 'a' is infinite"):
        coded(RawData(X, labels, list("abcd")), "multiclass", missing="ranker")
