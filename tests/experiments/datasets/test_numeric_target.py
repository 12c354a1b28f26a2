"""A numeric target: read as it stands, never guessed, and refused with a reason where it is none."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_diabetes, make_friedman1

from experiments.config.compose import compose_runs
from experiments.datasets import load
from experiments.datasets.loading import checksum_of, subsample
from experiments.errors import ConfigError, DatasetError

N = 30
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 3))
Y = np.round(RNG.normal(scale=50, size=N), 3)


def loaded(folder, *typed, file="my.csv", kind="csv", target="y", task="regression"):
    arguments = [f"dataset={kind}", f"dataset.path={folder / file}"]
    arguments += [] if target is None else [f"dataset.target={target}"]
    arguments += [] if task is None else [f"dataset.task={task}"]
    return load(compose_runs([*arguments, *typed]).configs[0]["dataset"], folder)


def table(folder, y, file="my.csv", **more):
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    if file.endswith(".parquet"):
        frame.to_parquet(folder / file)
    else:
        frame.to_csv(folder / file, index=False, **more)
    return folder


def test_a_column_of_numbers_is_the_target_where_it_is_said_to_be(tmp_path):
    data = loaded(table(tmp_path, Y))
    assert (data.task, data.class_names, data.feature_names) == ("regression", (), ("a", "b", "c"))
    assert data.y.dtype == np.float64 and data.y.tolist() == Y.tolist()
    assert data.checksum == checksum_of("regression", data.X, Y)
    other = Y.copy()
    other[3] = np.nextafter(other[3], np.inf)
    assert checksum_of("regression", data.X, other) != data.checksum


@pytest.mark.parametrize("task", [None, "multiclass", "auto"])
def test_it_is_never_guessed(tmp_path, task):
    with pytest.raises(
        DatasetError, match=r"the target column 'y' is numeric: 30 .*; say dataset.task=regression"
    ):
        loaded(table(tmp_path, Y), task=task)


def test_a_task_that_there_is_not_is_answered_with_those_that_there_are(tmp_path):
    with pytest.raises(
        ConfigError, match=r"unknown task \(dataset.task\) 'regresion'; did you mean regression"
    ):
        loaded(table(tmp_path, Y), task="regresion")


@pytest.mark.parametrize(
    "cells", [["1.0", "1.00", "01", "+1", "2"], ["1e2", "100", "-.5", "7.", "12345678.25"]]
)
def test_texts_are_read_as_the_numbers_they_are(tmp_path, cells):
    many = (cells * N)[:N]
    assert loaded(table(tmp_path, many)).y.tolist() == [float(each) for each in many]


def test_a_decimal_comma(tmp_path):
    table(tmp_path, Y, sep=";", decimal=",")
    data = loaded(tmp_path, "dataset.delimiter=semicolon", "dataset.decimal=','")
    assert data.y.tolist() == Y.tolist()


def test_whole_numbers_and_two_values_are_numbers_too(tmp_path):
    two = np.arange(N) % 2
    data = loaded(table(tmp_path, two))
    assert data.y.dtype == np.float64 and data.y.tolist() == two.tolist()
    assert data.checksum != loaded(tmp_path, task=None).checksum


@pytest.mark.parametrize("kind", ["float32", "int16", "Float64", "Int64", "object"])
def test_parquet_of_any_type_of_number(tmp_path, kind):
    y = pd.Series(np.arange(N) * 3 - 7).astype(kind)
    data = loaded(table(tmp_path, y, "my.parquet"), file="my.parquet", kind="parquet")
    assert data.y.tolist() == (np.arange(N) * 3.0 - 7).tolist()


def test_arff_libsvm_and_matlab(tmp_path):
    from scipy.io import savemat

    lines = ["@relation r", *(f"@attribute {name} numeric" for name in "abcy"), "@data"]
    lines += [",".join(map(repr, map(float, (*row, y)))) for row, y in zip(X, Y, strict=True)]
    (tmp_path / "my.arff").write_text("\n".join(lines))
    assert loaded(tmp_path, file="my.arff", kind="arff").y.tolist() == Y.tolist()
    dump_svmlight_file(X, Y, str(tmp_path / "my.svm"))
    assert loaded(tmp_path, file="my.svm", kind="libsvm", target=None).y.tolist() == Y.tolist()
    savemat(tmp_path / "my.mat", {"X": X, "y": Y[:, None]})
    assert loaded(tmp_path, "dataset.features=X", file="my.mat", kind="mat").y.tolist() == Y.tolist()


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (np.full(N, 2.5), r"the target 'y' is 2.5 in each of the 30 samples; there is nothing to predict"),
        (
            ["low", *Y[1:]],
            r"my.csv, line 2.*: the target 'y' is 'low', no number; dataset.task=regression takes",
        ),
        (["1,5", *Y[1:]], r"the target 'y' is '1,5', no number"),
        ([True, False] * 15, r"the target 'y' is 'True', no number"),
        (pd.date_range("2020-01-01", periods=N), r"the target 'y' is '2020-01-01', no number"),
        ([*Y[:4], "1e999", *Y[5:]], r"line 6.*: the target 'y' is infinite \(1 sample is without a number\)"),
        ([*Y[:4], "inf", *Y[5:]], r"line 6.*: the target 'y' is 'inf', no number"),
    ],
    ids=["constant", "text", "comma", "truth", "dates", "beyond floats", "inf"],
)
def test_what_is_no_number_is_named_with_its_place(tmp_path, y, said):
    with pytest.raises(DatasetError, match=said):
        loaded(table(tmp_path, y))


def test_a_missing_number_is_said_to_be_one(tmp_path):
    y = [*map(str, Y[:4]), "", "", *map(str, Y[6:])]
    with pytest.raises(DatasetError, match=r"line 6.*: no number in column 'y' \(2 of 30 rows have none\)"):
        loaded(table(tmp_path, y))
    y[4:6] = ["NA", "3"]
    with pytest.raises(
        DatasetError, match="'NA' in column 'y' means a missing value, so the row has no number"
    ) as e:
        loaded(table(tmp_path, y))
    assert "class" not in str(e.value)
    table(tmp_path, pd.Series(Y).mask(np.arange(N) == 3), "my.parquet")
    with pytest.raises(DatasetError, match="no number in column 'y'"):
        loaded(tmp_path, file="my.parquet", kind="parquet")


def test_truth_values_and_dates_of_parquet(tmp_path):
    table(tmp_path, np.arange(N) % 2 == 0, "my.parquet")
    with pytest.raises(
        DatasetError, match=r"the target 'y' holds truth values \(bool\); dataset.task=regression"
    ):
        loaded(tmp_path, file="my.parquet", kind="parquet")
    table(tmp_path, pd.date_range("2020-01-01", periods=N), "my.parquet")
    with pytest.raises(DatasetError, match="date"):
        loaded(tmp_path, file="my.parquet", kind="parquet")


def test_several_targets_are_labels_and_no_number(tmp_path):
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=np.arange(N) % 2, z=np.arange(N) // 15)
    frame.to_csv(tmp_path / "my.csv", index=False)
    said = r"2 target columns, but dataset.task=regression takes one number per sample; name one: dataset.target="
    for target, one in (("[y,z]", "y"), ("[a,z]", "a"), ("['b',0]", "b")):
        with pytest.raises(DatasetError, match=f"{said}{one}$"):
            loaded(tmp_path, target=target)
    frame.to_parquet(tmp_path / "my.parquet")
    with pytest.raises(DatasetError, match=f"{said}a$"):
        loaded(tmp_path, target="[a,b]", file="my.parquet", kind="parquet")


def test_samples_that_are_left_out_take_their_numbers_with_them(tmp_path):
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=Y)
    frame.loc[[2, 11], "b"] = np.nan
    frame.to_csv(tmp_path / "my.csv", index=False)
    assert loaded(tmp_path, "dataset.missing=drop_rows").y.tolist() == np.delete(Y, [2, 11]).tolist()


@pytest.mark.parametrize("task", ["regression", None])
def test_groups_that_are_numbers_are_no_numeric_target(tmp_path, task):
    """There are more than ten of them, with two samples each."""
    table(tmp_path, Y if task else np.arange(N) % 2)
    frame = pd.read_csv(tmp_path / "my.csv").assign(patient=np.arange(N) // 2 + 100)
    frame.to_csv(tmp_path / "my.csv", index=False)
    data = loaded(tmp_path, "dataset.groups=patient", task=task)
    assert data.assignment.numbers.tolist() == (np.arange(N) // 2).tolist()


def test_diabetes_is_scikit_learn_s():
    data = load(compose_runs(["dataset=diabetes"]).configs[0]["dataset"], ".")
    bunch = load_diabetes()
    assert np.array_equal(data.X, bunch.data) and np.array_equal(data.y, bunch.target)
    assert data.feature_names == tuple(bunch.feature_names)


def test_friedman1_is_the_published_function_of_its_informative_features():
    typed = [
        "dataset=friedman1",
        "dataset.noise=0",
        "dataset.n_rows=60",
        "dataset.n_noise=7",
        "dataset.seed=3",
    ]
    data = load(compose_runs(typed).configs[0]["dataset"], ".")
    assert data.X.shape == (60, 12) and len(data.informative) == 5
    a, b, c, d, e = (data.X[:, data.feature_names.index(f"informative_{number}")] for number in range(1, 6))
    by_hand = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
    assert np.allclose(data.y, by_hand, rtol=1e-12)
    assert sorted(data.y) == sorted(make_friedman1(60, 12, noise=0.0, random_state=3)[1])
    assert sorted(data.informative) == sorted(
        place for place, name in enumerate(data.feature_names) if name.startswith("informative")
    )
    with pytest.raises(ConfigError, match="noise=-1"):
        load(compose_runs([*typed[:1], "dataset.noise=-1"]).configs[0]["dataset"], ".")


def test_a_sample_of_the_rows_keeps_numbers(tmp_path):
    data = loaded(table(tmp_path, Y))
    some = subsample(data, 12, 0)
    assert some.X.shape == (12, 3) and some.y.dtype == np.float64
    rows = [int(np.flatnonzero((data.X == row).all(axis=1))[0]) for row in some.X]
    assert rows == sorted(rows) and some.y.tolist() == Y[rows].tolist()
    assert some.checksum == checksum_of("regression", some.X, some.y)


def test_sparse_and_dense_features_have_one_checksum():
    dense = np.where(X > 0.5, X, 0.0)
    assert checksum_of("regression", dense, Y) == checksum_of("regression", sparse.csr_matrix(dense), Y)
