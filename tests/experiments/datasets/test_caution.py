"""Cautions about a data set: known tables that need one, and bundled ones that need none."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from experiments import datasets
from experiments.config.compose import compose_runs
from experiments.datasets import overview
from experiments.datasets.caution import cautions
from experiments.execution.study import Study

NAMES = [f"f{place}" for place in range(6)]


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(120, 6))


Y = np.arange(120) % 2


def test_nothing_is_said_of_an_ordinary_table(X):
    assert cautions(X, Y, NAMES) == []
    assert cautions(sparse.random(300, 6, 0.3, "csr", random_state=0), np.arange(300) % 2, NAMES) == []


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_repeated_rows_are_counted(X, storage):
    rows = np.arange(120) % 30
    (said,) = cautions(storage(X[rows]), Y[rows], NAMES)
    assert said.startswith("90 of 120 rows repeat others") and said.endswith("dataset.groups=NAME")
    assert cautions(storage(X[rows]), Y[rows], NAMES, grouped=True) == []


def test_rows_that_few_values_let_repeat_are_not():
    X = np.random.default_rng(0).integers(0, 2, size=(500, 6)).astype(float)  # 64 different rows at most
    assert cautions(X, np.arange(500) % 2, NAMES) == []


def test_a_column_that_looks_like_a_group_is_named(X):
    X[:, 2] = 100 + np.arange(120) // 6
    y = np.arange(120) // 6 % 2
    (said,) = cautions(X, y, NAMES, groups="--groups {}")
    assert "'f2' looks like a group: 20 values with 6 rows each" in said and said.endswith("--groups f2")
    X[:, 2] = X[:, 2] % 2  # a copy of the class has as many values as classes
    assert cautions(X, y, NAMES) == []
    X[:, 2] = np.arange(120) % 20  # blocks of both classes
    assert cautions(X, np.arange(120) // 60, NAMES) == []


@pytest.mark.parametrize(
    ("values", "said"),
    [([1e6], "(1e+06; others -"), ([-999.0] * 4, "(-999; others -"), ([-9.0] * 6, "(-9; others 0 to 2)")],
)
def test_a_value_that_sets_the_range_alone_is_named(X, values, said):
    if values[0] == -9:
        X[:, 4] = np.random.default_rng(1).integers(0, 3, 120)
    X[: len(values), 4] = values
    X[50, 4] = np.nan
    (line,) = cautions(X, Y, NAMES)
    assert line.startswith("1 feature with a range that few values set") and f"'f4' {said}" in line
    assert cautions(X, Y, NAMES, categories=[4]) == []


def test_a_target_with_one_far_value_is_named(X):
    y = X[:, 0].copy()
    y[3] = 1e6
    assert any("target's value 1e+06" in line for line in cautions(X, y, NAMES))


@pytest.mark.parametrize("name", ["wine", "breast_cancer", "digits", "diabetes", "xor", "friedman1"])
def test_bundled_data_sets_need_none(name):
    (run,) = compose_runs([f"dataset={name}"]).configs
    data = datasets.load(run["dataset"], run["paths"]["local_data"], download=False)
    assert cautions(data.X, data.y, data.feature_names) == []


@pytest.fixture
def composed(X, tmp_path):
    """A study on a table of one's own in which 90 of 120 rows repeat others."""
    rows = np.arange(120) % 30
    frame = pd.DataFrame(X[rows], columns=NAMES).assign(y=np.where(Y[rows], "u", "v"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    argv = ["dataset=csv", f"dataset.path={tmp_path / 't.csv'}", "dataset.target=y", "protocol=quick"]
    return list(compose_runs([*argv, "ranker=relieff,anova_f", f"paths.results={tmp_path / 'r'}"]).configs)


def test_a_study_on_own_data_is_cautioned_once_before_it_runs(composed, caplog):
    Study(composed, to_run=True)
    (said,) = [each.getMessage() for each in caplog.records if "caution" in each.getMessage()]
    assert "90 of 120 rows repeat others" in said
    caplog.clear()
    Study(composed)  # to be shown, not to be run
    assert not [each for each in caplog.records if "caution" in each.getMessage()]


def test_a_data_set_that_is_checked_is_cautioned_in_a_line_of_its_own(composed):
    text = overview.as_text([overview.find_out(composed[0]["dataset"], composed[0]["paths"])])
    assert "caution: 90 of 120 rows repeat others" in " ".join(text.split())
