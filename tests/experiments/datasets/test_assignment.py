"""Folds that the data set decides: groups of samples that stay together, and folds from a file."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedGroupKFold

from experiments.config.compose import compose_runs
from experiments.datasets import load
from experiments.datasets.assignment import Assignment
from experiments.datasets.loading import subsample
from experiments.errors import ConfigError, DatasetError
from experiments.evaluation.cell import cells_of
from experiments.evaluation.splits import SplitError, folds
from experiments.execution.runner import run_study
from experiments.execution.study import Study

N = 60


@pytest.fixture
def table(tmp_path):
    """A table with four samples of each of 15 patients, whose names are numbers with zeros in front."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    patient = rng.permutation(np.repeat(np.arange(15), 4))
    frame.insert(2, "patient", [f"0{each}" for each in patient])
    frame["class"] = np.where(patient % 2 == 0, "ill", "well")
    frame.to_csv(tmp_path / "my.csv", index=False)
    return tmp_path, frame


def configured(folder, *typed):
    arguments = [
        "dataset=csv",
        f"dataset.path={folder / 'my.csv'}",
        "dataset.target=class",
        "ranker=relieff",
        "protocol=quick",
        f"paths.results={folder / 'results'}",
        *typed,
    ]
    return compose_runs(arguments).configs[0]


def loaded(folder, *typed):
    config = configured(folder, *typed)
    return load(config["dataset"], folder)


def test_a_column_of_groups_is_no_feature_and_parts_no_group(table):
    folder, frame = table
    data = loaded(folder, "dataset.groups=patient")
    assert data.feature_names == ("a", "b", "c", "d")
    assert data.checksum == loaded(folder, "dataset.leave_out=patient").checksum
    patients = frame["patient"].astype(int).to_numpy()  # numbers are sorted as numbers
    names, codes = np.unique(patients, return_inverse=True)
    assert len(names) == 15 and data.assignment.numbers.tolist() == codes.tolist()
    rng = np.random.RandomState(7)
    for repeat in range(2):
        made = folds(data.y, n_splits=3, repeat=repeat, seed=7, assignment=data.assignment)
        splitter = StratifiedGroupKFold(3, shuffle=True, random_state=rng)
        for (train, test), (train_there, test_there) in zip(
            made, splitter.split(data.X, data.y, patients), strict=True
        ):
            assert train.tolist() == train_there.tolist() and test.tolist() == test_there.tolist()
            assert not set(patients[train]) & set(patients[test])
        assert sorted(np.concatenate([test for _, test in made])) == list(range(N))


def test_groups_of_labels_stay_together():
    rng = np.random.default_rng(0)
    labels = sparse.csr_matrix(rng.integers(0, 2, (40, 3)), dtype=np.int8)
    groups = np.repeat(np.arange(10), 4)
    given = Assignment.of("groups", groups)
    made = [folds(labels, n_splits=5, repeat=each, seed=1, assignment=given) for each in (0, 1, 0)]
    assert all(not set(groups[train]) & set(groups[test]) for each in made for train, test in each)
    tests = [[test.tolist() for _, test in each] for each in made]
    assert tests[0] == tests[2] != tests[1]


def test_folds_from_a_file_are_those_of_the_file(table):
    folder, _ = table
    numbers = np.random.default_rng(1).integers(0, 3, N) * 5 + 1  # folds 1, 6 and 11
    (folder / "folds.txt").write_text("\n".join(map(str, numbers)) + "\n\n")
    data = loaded(folder, "dataset.leave_out=patient", f"dataset.folds={folder / 'folds.txt'}")
    made = folds(data.y, n_splits=3, repeat=0, seed=7, assignment=data.assignment)
    for (train, test), number in zip(made, (1, 6, 11), strict=True):
        assert test.tolist() == [row for row in range(N) if numbers[row] == number]
        assert train.tolist() == [row for row in range(N) if numbers[row] != number]


def test_samples_that_are_left_out_take_their_groups_along(table):
    folder, frame = table
    frame.loc[[4, 30], "a"] = None
    frame.to_csv(folder / "my.csv", index=False)
    (folder / "folds.txt").write_text("\n".join(str(row % 4) for row in range(N)))
    kept = [row for row in range(N) if row not in (4, 30)]
    grouped = loaded(folder, "dataset.groups=patient", "dataset.missing=drop_rows")
    own = loaded(
        folder,
        "dataset.leave_out=patient",
        "dataset.missing=drop_rows",
        f"dataset.folds={folder / 'folds.txt'}",
    )
    _, codes = np.unique(frame["patient"][kept].astype(int), return_inverse=True)
    assert grouped.assignment.numbers.tolist() == codes.tolist()
    assert own.assignment.numbers.tolist() == [row % 4 for row in kept]
    few = subsample(grouped, 20, seed=0)
    rows = [np.flatnonzero((grouped.X == row).all(axis=1))[0] for row in few.X]
    _, codes = np.unique(grouped.assignment.numbers[rows], return_inverse=True)
    assert few.assignment.numbers.tolist() == codes.tolist()


def test_keys_tell_groups_apart_and_know_none_where_there_are_none(table):
    folder, _ = table
    config = configured(folder, "dataset.leave_out=patient")
    known = {"checksum": "0" * 64, "task": "multiclass"}
    given = [None, Assignment.of("groups", [0, 0, 1]), Assignment.of("folds", [0, 0, 1])]
    given.append(Assignment.of("groups", [0, 1, 1]))
    cells = [cells_of(config, **known, assignment=each)[0] for each in given]
    assert len({cell.key for cell in cells}) == 4 and len({cell.reference.key for cell in cells}) == 4
    assert cells[0].key == cells_of(config, **known)[0].key
    assert cells[1] == cells_of(config, **known, assignment=Assignment.of("groups", ["a", "a", "b"]))[0]


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["dataset.groups=nobody"], r"no column 'nobody' \(dataset\.groups\)"),
        (["dataset.groups=class"], "dataset.groups=class is the target too"),
        (["dataset.folds=nowhere.txt"], r"nowhere\.txt not found"),
        (["dataset.folds=short.txt"], r"dataset\.folds=short\.txt has 2 lines for 60 samples"),
        (["dataset.folds=text.txt"], r"dataset\.folds=text\.txt, line 2: 'x' is no number of a fold"),
        (["dataset.groups=patient", "dataset.folds=short.txt"], "either dataset.groups or dataset.folds"),
    ],
)
def test_what_is_no_group_and_no_fold(table, typed, says):
    folder, _ = table
    (folder / "short.txt").write_text("0\n1\n")
    (folder / "text.txt").write_text("0\nx\n")
    with pytest.raises((DatasetError, ConfigError), match=says):
        loaded(
            folder,
            "dataset.leave_out=patient" if "groups" not in typed[0] else "dataset.missing=error",
            *typed,
        )


def test_a_group_that_is_missing_is_named_by_its_line(table):
    folder, frame = table
    frame.loc[7, "patient"] = None
    frame.to_csv(folder / "my.csv", index=False)
    with pytest.raises(DatasetError, match=r"dataset\.groups=patient: .*line 9: no group"):
        loaded(folder, "dataset.groups=patient")


def test_a_format_without_columns_has_no_groups(table):
    folder, _ = table
    (folder / "my.svm").write_text("1 1:2\n2 1:3\n")
    config = compose_runs(["dataset=libsvm", f"dataset.path={folder / 'my.svm'}", "dataset.groups=x1"])
    with pytest.raises(ConfigError, match=r"dataset\.groups=x1 is the name of a column"):
        load(config.configs[0]["dataset"], folder)


def test_folds_that_the_protocol_does_not_have_are_refused_before_anything_runs(table):
    folder, _ = table
    (folder / "folds.txt").write_text("\n".join(str(row % 4) for row in range(N)))
    own = ["dataset.leave_out=patient", f"dataset.folds={folder / 'folds.txt'}"]
    with pytest.raises(SplitError, match=r"has 4 folds of its own.*protocol.n_splits=4 protocol.n_repeats=1"):
        Study([configured(folder, *own, "protocol.n_splits=5")])
    with pytest.raises(SplitError, match="has 15 groups for 20 folds"):
        Study([configured(folder, "dataset.groups=patient", "protocol.n_splits=20")])


def test_a_study_is_evaluated_on_these_folds(table):
    folder, frame = table
    numbers = np.repeat([0, 1, 2], [10, 15, 35])
    (folder / "folds.txt").write_text("\n".join(map(str, numbers)))
    small = ["protocol.n_splits=3", "protocol.n_repeats=1", "protocol.grid_points=2", "launcher.n_workers=1"]
    own = configured(folder, "dataset.leave_out=patient", f"dataset.folds={folder / 'folds.txt'}", *small)
    grouped = configured(folder, "dataset.groups=patient", *small)
    rows = run_study([own]).frame
    assert rows["n_test"].tolist() == [10, 15, 35] and rows["status"].tolist() == ["ok"] * 3
    patients, y = frame["patient"].astype(int).to_numpy(), (frame["class"] == "well").to_numpy().astype(int)
    splitter = StratifiedGroupKFold(3, shuffle=True, random_state=np.random.RandomState(own["seed"]))
    expected = [len(test) for _, test in splitter.split(np.empty(N), y, patients)]
    rows = run_study([grouped]).frame
    assert rows["n_test"].tolist() == expected and rows["status"].tolist() == ["ok"] * 3
