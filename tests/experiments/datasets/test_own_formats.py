"""What is wrong with libsvm and MATLAB files, with single values, and with copies and downloads that broke."""

import numpy as np
import pytest
from scipy.io import savemat
from written_tables import loaded, typed

from experiments.datasets.encoding import coded
from experiments.datasets.raw import RawData
from experiments.datasets.readers import matlab, svmlight
from experiments.errors import DatasetError


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("index", [2_000_000_000, 99_999_999_999, 10**40, svmlight.MOST_COLUMNS + 1])
@pytest.mark.parametrize("start", ["0", "1,2"])
def test_an_index_too_large_is_refused_before_names_are_made(here, monkeypatch, index, start):
    def refuse(n_features):
        raise AssertionError("names were made")

    monkeypatch.setattr(svmlight, "numbered_names", refuse)
    (here / "t.svm").write_text(f"# 7:1\n1 1:2\n{start} 1:1 {index}:3\n1 2:1\n")
    with pytest.raises(DatasetError, match=r"t\.svm, line 3: index \d+ would .* 10,000,000 columns") as error:
        loaded("dataset=libsvm", "dataset.path=t.svm")
    assert str(index)[:30] in str(error.value)


def test_the_largest_index_allowed_is_read(here, monkeypatch):
    monkeypatch.setattr(svmlight, "MOST_COLUMNS", 5)
    (here / "t.svm").write_text("1 1:2 5:1\n0 2:1\n")
    assert loaded("dataset=libsvm", "dataset.path=t.svm").X.shape == (2, 5)
    (here / "t.svm").write_text("1 1:2 6:1\n0 2:1\n")
    with pytest.raises(DatasetError, match=r"line 1: index 6"):
        loaded("dataset=libsvm", "dataset.path=t.svm")


def test_single_values_of_mat_files_are_named(here):
    X = np.arange(12.0).reshape(4, 3)
    labels = np.array([[0, 1], [1, 0], [1, 5], [0, 0]])
    savemat(
        "t.mat", {"X": X, "T": labels, "l1": labels[:, 0], "l2": labels[:, 1], "text": np.array(["a"] * 4)}
    )
    with pytest.raises(
        DatasetError, match=r"t\.mat: variable 'T', row 3 \(column 2\).* is 5, neither 0 nor 1"
    ):
        loaded(*typed("mat", "t.mat", "T"))
    with pytest.raises(DatasetError, match=r"t\.mat: variable 'l2', row 3, .* is 5, neither 0 nor 1"):
        loaded(*typed("mat", "t.mat", "[l1,l2]"))
    with pytest.raises(DatasetError, match=r"variable 'text' holds text"):
        loaded(*typed("mat", "t.mat", "[l1,text]"))
    X[2, 1] = np.nan
    savemat("t.mat", {"X": X, "y": labels[:, 0]})
    words = (
        r"t\.mat, variable 'X', row 3 \(counted from 1\), column 'x2' is missing \(NaN\); 1 value is missing"
    )
    with pytest.raises(DatasetError, match=words):
        loaded(*typed("mat", "t.mat", "y"))


def cells(*values):
    made = np.empty((len(values), 1), dtype=object)
    made[:, 0] = values
    return made


def test_a_cell_array_of_texts_is_a_class(here):
    X = np.arange(12.0).reshape(4, 3)
    savemat("t.mat", {"X": X, "y": cells("red", "blue", "red ", "blue"), "part": cells("a", "", "b", "b")})
    data = loaded(*typed("mat", "t.mat", "y"))
    assert data.class_names == ("blue", "red") and data.y.tolist() == [1, 0, 1, 0]
    with pytest.raises(DatasetError, match=r"cell 2 of variable 'part' .* is empty"):
        loaded(*typed("mat", "t.mat", "part"))
    savemat("t.mat", {"X": X, "y": cells("a", np.eye(2), "b", "b"), "s": {"field": 1}})
    with pytest.raises(DatasetError, match=r"cell 2 of variable 'y' .* holds neither a text nor a number"):
        loaded(*typed("mat", "t.mat", "y"))
    with pytest.raises(DatasetError, match=r"variable 's' is neither numbers nor text .*cellstr\(s\)"):
        loaded(*typed("mat", "t.mat", "s"))


def test_a_place_is_that_of_the_source_though_rows_are_left_out():
    raw = RawData(np.array([[1.0], [np.nan], [np.inf]]), np.array([0, 1, 1]), ["a"])
    with pytest.raises(DatasetError, match=r"row 2, column 'a' is infinite; .*put a finite number"):
        coded(raw, "multiclass", missing="drop_rows")
    raw = RawData(np.full((2, 1), np.nan), np.array([0, 1]), ["a"])
    with pytest.raises(DatasetError, match="column 'a' holds missing values only"):
        coded(raw, "multiclass", missing="most_frequent")
    with pytest.raises(DatasetError, match=r"2 values are missing.*most_frequent .*drop_rows .*error"):
        coded(raw, "multiclass")


def test_a_mat_file_is_parsed_once_for_all_labels(here, monkeypatch):
    parsed = []
    read = matlab.loadmat
    monkeypatch.setattr(matlab, "loadmat", lambda *args: parsed.append(1) or read(*args))
    X = np.arange(12.0).reshape(4, 3)
    savemat("t.mat", {"X": X, **{f"l{place}": np.array([0, 1, 1, place % 2]) for place in range(5)}})
    data = loaded(*typed("mat", "t.mat", "[l0,l1,l2,l3,l4]"))
    assert data.y.shape == (4, 5) and len(parsed) == 1
