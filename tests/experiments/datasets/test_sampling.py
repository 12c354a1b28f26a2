"""Samples of rows: which rows, what becomes of classes and labels, and that everything says so."""

import numpy as np
import pytest
from scipy import sparse

from experiments.analysis.data_sets import dataset_table
from experiments.analysis.groups import groups_of
from experiments.config.compose import compose_runs
from experiments.datasets.loading import Dataset, checksum_of, subsample
from experiments.errors import ConfigError
from experiments.execution.runner import run_study
from experiments.report.sentences import extent


def made_up(X, y, task="multiclass"):
    n_classes = y.shape[1] if task == "multilabel" else int(y.max()) + 1
    names = tuple("abcdefgh"[:n_classes])
    features = tuple(f"f{j}" for j in range(X.shape[1]))
    return Dataset("made up", task, X, y, names, features, checksum_of(task, X, y))


@pytest.fixture
def classes():
    """100 rows that say their number; 60 of class a, 39 of b, one of c."""
    X = np.column_stack([np.arange(100.0), np.arange(100.0) % 2])
    y = np.random.default_rng(3).permutation(np.repeat([0, 1, 2], [60, 39, 1])).astype(np.int64)
    return made_up(X, y)


def test_rows_stay_whole_and_in_order_and_classes_keep_their_shares(classes):
    drawn = subsample(classes, 50, seed=0)
    rows = drawn.X[:, 0].astype(int)
    assert drawn.X.shape == (50, 2) and np.all(np.diff(rows) > 0)
    assert np.array_equal(drawn.X[:, 1], rows % 2)
    named = [drawn.class_names[code] for code in drawn.y]
    assert named == [classes.class_names[code] for code in classes.y[rows]]
    counts = {name: named.count(name) for name in "abc"}
    assert counts["a"] == 30 and counts["b"] in (19, 20) and counts["b"] + counts["c"] == 20
    assert sorted(set(drawn.y)) == list(range(len(drawn.class_names)))


def test_a_class_without_a_row_left_is_gone():
    y = np.repeat([0, 1, 2], [1, 60, 40]).astype(np.int64)
    drawn = subsample(made_up(np.arange(101.0)[:, None], y), 10, seed=0)
    assert drawn.class_names == ("b", "c") and np.bincount(drawn.y).tolist() == [6, 4]


def test_the_seed_alone_decides_which_rows(classes):
    first, again, other = (subsample(classes, 50, seed=seed) for seed in (0, 0, 1))
    assert first.checksum == again.checksum and np.array_equal(first.X, again.X)
    assert other.checksum != first.checksum and len({first.checksum, classes.checksum}) == 2
    assert first.checksum == checksum_of("multiclass", first.X, first.y)


@pytest.mark.parametrize("max_rows", [None, 100, 101])
def test_a_data_set_that_is_small_enough_is_taken_as_it_is(classes, max_rows):
    assert subsample(classes, max_rows, seed=0) is classes


def test_columns_of_labels_stay_in_sparse_data_too():
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix((rng.random((40, 6)) < 0.3) * np.arange(1.0, 41.0)[:, None])
    y = sparse.csr_matrix((rng.random((40, 5)) < 0.2).astype(np.int8))
    drawn = subsample(made_up(X, y, "multilabel"), 7, seed=0)
    assert sparse.isspmatrix_csr(drawn.X) and drawn.X.shape == (7, 6) and drawn.y.shape == (7, 5)
    assert drawn.class_names == tuple("abcde")
    places = [int(row.data[0]) - 1 for row in drawn.X if row.nnz]
    with_values = [r for r in range(7) if drawn.X[r].nnz]
    assert places == sorted(places) and len(places) > 2
    assert np.array_equal(drawn.y[with_values].toarray(), y[places].toarray())
    as_dense = subsample(made_up(X.toarray(), y, "multilabel"), 7, seed=0)
    assert as_dense.checksum == drawn.checksum


def test_a_study_of_a_sample_says_so_in_its_rows_and_words(tmp_path):
    argv = ["dataset=breast_cancer", "ranker=relieff,random_forest", "protocol=quick", "protocol.n_splits=2"]
    argv += [f"paths.results={tmp_path / 'results'}"]
    whole = compose_runs(argv).configs
    configs = compose_runs([*argv, "protocol.max_rows=80"]).configs
    outcome = run_study(configs, n_workers=1)
    assert outcome.exit_code == 0
    frame = outcome.frame[outcome.frame["kind"] == "ranking"]
    assert set(frame["n_train"] + frame["n_test"]) == {80} and len(frame) == 4
    (group,) = groups_of(configs)
    assert group.max_rows == 80 and "a random subset of at most 80 samples" in group.extent
    assert "a random subset of at most 80 samples" in extent(configs[0]["protocol"])
    (line,) = dataset_table(outcome.frame, group).to_dict("records")
    assert line["rows"] == 80 and np.isnan(line["nonzero_share"])
    assert "A random subset of 80 of 569 samples" in line["differs"]
    (group,) = groups_of(whole)
    assert group.max_rows is None and "sample" not in group.extent
    (line,) = dataset_table(outcome.frame.iloc[:0], group).to_dict("records")
    assert line["rows"] == 569 and "sample" not in line["differs"]


def test_a_sample_of_one_row_is_refused():
    with pytest.raises(
        ConfigError, match=r"protocol\.max_rows must be at least 2, or null for all samples, not 1"
    ):
        compose_runs(["protocol.max_rows=1"])
