"""MATLAB, CLUTO, R and spreadsheet files, parsed copies, and the coding of labels."""

import os

import numpy as np
import pandas as pd
import pytest
from folders import PROJECT_ROOT
from own_data import READERS
from scipy import sparse
from scipy.io import savemat

from experiments.datasets import DatasetError, RawData, load
from experiments.datasets.encoding import coded
from experiments.errors import ConfigError


def block(reader, path=None, task="multiclass", **settings):
    source = {"_target_": READERS[reader], **settings}
    if path:
        source["path"] = path
    return {"name": "small", "task": task, "source": source}


# --- MATLAB


@pytest.fixture
def parts(tmp_path):
    """Two parts with labels in rows and −1 for an absent one, as the reduced Yahoo sets have them."""
    rng = np.random.default_rng(0)
    X, T = (rng.random((7, 4)) < 0.3) * rng.random((7, 4)), rng.random((7, 3)) < 0.4
    T[0] = False
    signed = np.where(T, 1, -1).astype(np.int16)
    savemat(tmp_path / "small.mat", {"a": X[:3], "b": X[3:], "ta": signed[:3].T, "tb": signed[3:].T})
    settings = {"features": ["a", "b"], "target": ["ta", "tb"], "labels_in_rows": True, "absent": -1}
    return X, T, block("matlab", "small.mat", "multilabel", **settings)


def test_matlab_parts_and_signed_labels(parts, tmp_path):
    X, T, stated = parts
    data = load(stated, tmp_path)
    assert np.array_equal(data.X, X) and np.array_equal(data.y.toarray(), T)
    assert data.class_names == ("y1", "y2", "y3")
    stated["source"] |= {"make_sparse": True, "label_names": ["u", "v", "w"], "first_rows": 5}
    data = load(stated, tmp_path)
    assert sparse.issparse(data.X) and np.array_equal(data.X.toarray(), X[:5])
    assert np.array_equal(data.y.toarray(), T[:5]) and data.class_names == ("u", "v", "w")


def test_minus_one_is_no_label_unless_the_file_says_so(parts, tmp_path):
    _, _, stated = parts
    del stated["source"]["absent"]
    with pytest.raises(DatasetError, match=r"row \d+ .*: label 'y\d' is -1, neither 0 nor 1"):
        load(stated, tmp_path)


def test_matlab_parts_must_fit(parts, tmp_path):
    X, _, stated = parts
    savemat(tmp_path / "small.mat", {"a": X[:3], "b": X[3:, :2], "ta": np.eye(3), "tb": np.ones((3, 4))})
    with pytest.raises(DatasetError, match=r"small\.mat: the parts a, b have 4 and 2 columns"):
        load(stated, tmp_path)


def test_matlab_without_the_expected_variable(parts, tmp_path):
    _, _, stated = parts
    stated["source"]["target"] = ["ta", "tc"]
    with pytest.raises(DatasetError, match=r"small\.mat has no variable 'tc' \(it has a, b, ta, tb\)"):
        load(stated, tmp_path)


@pytest.mark.parametrize("start", [b"MATLAB 7.3 MAT-file, Platform: GLNXA64", b"\x89HDF\r\n\x1a\n"])
def test_matlab_73_is_told(tmp_path, start):
    (tmp_path / "small.mat").write_bytes(start + bytes(600))
    with pytest.raises(DatasetError, match=r"small\.mat is a MATLAB 7\.3 file .*save -v7"):
        load(block("matlab", "small.mat", features="X", target="Y"), tmp_path)


# --- CLUTO


def cluto(folder, table, classes):
    (folder / "t.txt").write_text(table)
    (folder / "c.txt").write_text(classes)
    return load(block("cluto", files=[{"path": "t.txt"}, {"path": "c.txt"}]), folder)


def test_cluto(tmp_path):
    data = cluto(tmp_path, "3 4\n2 0 1 3 2\n0\n1 2 5\n", "0 1 0\n1 0 1\n")
    assert sparse.issparse(data.X)
    assert data.X.toarray().tolist() == [[1, 0, 0, 2], [0, 0, 0, 0], [0, 0, 5, 0]]
    assert data.y.tolist() == [1, 0, 1] and data.class_names == ("1", "2")


@pytest.mark.parametrize(
    ("table", "classes", "says"),
    [
        ("3 4 5\n", "0 1 0\n", "t.txt, line 1: 3 numbers"),
        ("3 4\n0\n0\n", "0 1 0\n", "t.txt: 2 rows, but line 1 says 3"),
        ("2 4\n2 0 1\n0\n", "0 1\n1 0\n", "t.txt, line 2: not the 2 pairs"),
        ("2 4\n1 0 1\n1 4 1\n", "0 1\n1 0\n", "t.txt, line 3: a column outside 0 … 3"),
        ("2 4\n1 0 1\n1 two 1\n", "0 1\n1 0\n", "t.txt, line 3"),
        ("2 4\n1 0 1\n0\n", "0 1\n1 1\n", "c.txt: row 1 of the table has 2 classes"),
        ("2 4\n1 0 1\n0\n", "0 1\n1 0 0\n", "c.txt, line 2: not 2 times 0 or 1"),
        ("", "", "t.txt, line 1"),
    ],
)
def test_bad_cluto(tmp_path, table, classes, says):
    with pytest.raises(DatasetError) as caught:
        cluto(tmp_path, table, classes)
    assert says in str(caught.value)


# --- delimited text


def test_white_space_and_a_class_file_of_its_own(tmp_path):
    (tmp_path / "x.data").write_text("485 477  537 \n483 458 460 \n")
    (tmp_path / "x.labels").write_text("-1\n1\n")
    stated = block("delimited", "x.data", delimiter=" ", target=0, target_file={"path": "x.labels"})
    data = load(stated, tmp_path)
    assert data.X.tolist() == [[485, 477, 537], [483, 458, 460]] and data.class_names == ("-1", "1")


def test_parts_of_a_table(tmp_path):
    (tmp_path / "a.tra").write_text("0,1,7\n2,3,8\n")
    (tmp_path / "a.tes").write_text("4,5,7\n")
    stated = block("delimited", files=[{"path": "a.tra"}, {"path": "a.tes"}], target=-1)
    assert load(stated, tmp_path).X.tolist() == [[0, 1], [2, 3], [4, 5]]
    (tmp_path / "a.tes").write_text("4,5,6,7\n")
    with pytest.raises(DatasetError, match=r"a\.tes has other columns than .*a\.tra"):
        load(stated, tmp_path)


def test_missing_cells_are_only_those_that_are_named(tmp_path):
    (tmp_path / "x.csv").write_text("a,b,c\n1,?,no\n2,3,yes\n1,oops,no\n")
    stated = block("delimited", "x.csv", header=True, target="c", missing_cells=["?"])
    with pytest.raises(DatasetError, match=r"x\.csv, line 4: column 'b' holds 'oops'"):
        load({**stated, "missing": "drop_rows"}, tmp_path)
    (tmp_path / "x.csv").write_text("a,b,c\n1,?,no\n2,3,yes\n1,3,no\n")
    assert load({**stated, "missing": "most_frequent"}, tmp_path).X.tolist() == [[1, 3], [2, 3], [1, 3]]
    with pytest.raises(DatasetError, match="row 0, column 'b' is missing"):
        load(stated, tmp_path)


# --- R data and spreadsheets


def test_r_data(local_data):
    stated = block("r_data", str(local_data / "colon" / "alon.RData"), variable="alon")
    assert load(stated, "/").X.shape == (62, 2000)
    stated["source"]["variable"] = "alom"
    with pytest.raises(DatasetError, match=r"alon\.RData has no variable 'alom'.*did you mean alon"):
        load(stated, "/")
    stated["source"] |= {"variable": "alon", "target": "z"}
    with pytest.raises(DatasetError, match=r"has no element of alon 'z' \(it has x, y\)"):
        load(stated, "/")


def test_bad_r_data(tmp_path):
    (tmp_path / "small.RData").write_bytes(b"RDX3\nnothing of the kind")
    with pytest.raises(DatasetError, match=r"small\.RData cannot be read as an R data file"):
        load(block("r_data", "small.RData", variable="small"), tmp_path)


def workbook(path, table, classes):
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        table.to_excel(writer, sheet_name="Data", index=False)
        classes.to_excel(writer, sheet_name="Classes", index=False)


def test_spreadsheet(tmp_path):
    table, classes = pd.DataFrame({"a": [1, 2.5], "b": [3, 4]}), pd.DataFrame({"class": [2, 1]})
    workbook(tmp_path / "small.xlsx", table, classes)
    stated = block("spreadsheet", "small.xlsx", features="Data", target="Classes", class_names={"1": "good"})
    data = load(stated, tmp_path)
    assert data.X.tolist() == [[1, 3], [2.5, 4]] and data.class_names == ("good", "2")
    stated["source"]["target"] = "Class"
    with pytest.raises(DatasetError, match=r"small\.xlsx has no sheet 'Class' .*did you mean Classes"):
        load(stated, tmp_path)
    stated["source"]["target"] = "Classes"
    workbook(tmp_path / "small.xlsx", table.astype(object).replace(2.5, "much"), classes)
    with pytest.raises(DatasetError, match=r"small\.xlsx, sheet 'Data', line 3: column 'a' holds 'much'"):
        load(stated, tmp_path)
    (tmp_path / "small.xlsx").write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(DatasetError, match=r"small\.xlsx cannot be read as a spreadsheet"):
        load(stated, tmp_path)


@pytest.mark.parametrize(
    ("features", "classes", "where"),
    [
        ({"a": [1, 2.5], "b": [3, "=A3*2"]}, {"class": [2, 1]}, r"sheet 'Data': cell B3"),
        ({"a": [1, 2.5], '="b"': [3, 4]}, {"class": [2, 1]}, r"sheet 'Data': cell B1"),
        ({"a": [1, 2.5], "b": [3, 4]}, {"class": [2, "=A2"]}, r"sheet 'Classes': cell A3"),
    ],
)
def test_a_formula_without_a_value_in_a_spreadsheet(tmp_path, features, classes, where):
    workbook(tmp_path / "small.xlsx", pd.DataFrame(features), pd.DataFrame(classes))
    stated = block("spreadsheet", "small.xlsx", features="Data", target="Classes")
    with pytest.raises(
        DatasetError, match=rf"small\.xlsx, {where} holds a formula without a value; open and save"
    ):
        load(stated, tmp_path)


# --- coding


def test_labels_must_fit_the_task():
    X = np.arange(6.0).reshape(3, 2)
    raw = RawData(X, np.array([[0, 1], [1, 0], [0, 0]]), ["a", "b"])
    with pytest.raises(DatasetError, match="one class per sample"):
        coded(raw, "multiclass")
    with pytest.raises(DatasetError, match="a column of 0 and 1 per label"):
        coded(RawData(X, np.array([0, 1, 0]), ["a", "b"]), "multilabel")
    with pytest.raises(DatasetError, match="neither 0 nor 1"):
        coded(RawData(X, np.array([[0, 2], [1, 0], [0, 0]]), ["a", "b"]), "multilabel")
    with pytest.raises(DatasetError, match="a single label is a class"):
        coded(RawData(X, np.array([[0], [1], [0]]), ["a", "b"]), "multilabel")
    with pytest.raises(DatasetError, match="3 label names for 2 label columns"):
        coded(RawData(X, raw.labels, ["a", "b"], label_names=list("xyz")), "multilabel")


def test_label_storage_does_not_matter():
    X = np.arange(6.0).reshape(3, 2)
    T = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    twice = sparse.coo_matrix((np.zeros(1), ([2], [2])), shape=T.shape) + sparse.coo_matrix(T)
    forms = (T, T.astype(bool), T.astype(float), sparse.csc_matrix(T), sparse.coo_array(T), twice)
    for form in forms:
        _, y, _, names = coded(RawData(X, form, ["a", "b"]), "multilabel")
        assert y.dtype == np.int8 and y.format == "csr" and y.nnz == 2 and names == ("y1", "y2", "y3")
        assert np.array_equal(y.toarray(), T) and y.has_canonical_format


def nominal(values, codes, *, sparse_form, **settings):
    X = np.column_stack([np.arange(len(codes)), codes, np.ones(len(codes))]).astype(float)
    X = sparse.csc_matrix(X) if sparse_form else X
    raw = RawData(X, np.arange(len(codes)) % 2, ["a", "n", "b"], nominal={1: values})
    X, _, names, _ = coded(raw, "multiclass", **settings)
    return (X.toarray() if sparse.issparse(X) else X)[:, 1:-1].T.tolist(), names[1:-1]


@pytest.mark.parametrize("sparse_form", [False, True])
@pytest.mark.parametrize(
    ("values", "codes", "columns", "names"),
    [
        (["0", "1"], [0, 1, 1, 0], [[0, 1, 1, 0]], ("n",)),
        (["1", "0"], [0, 1, 1, 0], [[1, 0, 0, 1]], ("n",)),
        (["t", "f"], [0, 1, 1, 0], [[0, 1, 1, 0]], ("n=f",)),
        (["f", "t"], [1, 0, 0, 1], [[0, 1, 1, 0]], ("n=f",)),
        (["c", "a", "b"], [0, 1, 2, 0], [[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]], ("n=a", "n=b", "n=c")),
        (["c", "a", "b"], [0, 2, 2, 0], [[0, 1, 1, 0]], ("n=b",)),
        (["only"], [0, 0, 0, 0], [[1, 1, 1, 1]], ("n=only",)),
    ],
)
def test_nominal_columns(values, codes, columns, names, sparse_form):
    assert nominal(values, codes, sparse_form=sparse_form) == (columns, names)


def test_missing_values_of_sparse_tables():
    X = sparse.csr_matrix(np.array([[1, np.nan, 0], [0, 2, 0], [1, 2, np.nan], [np.nan, 0, 0]]))
    raw = RawData(X, np.array([0, 1, 1, 0]), ["a", "b", "c"])
    with pytest.raises(DatasetError, match=r"row 0, column 'b' is missing \(NaN\); 3 values are missing"):
        coded(raw, "multiclass")
    filled = coded(raw, "multiclass", missing="most_frequent")[0]
    # zeros count as values: c is 0 elsewhere, so its missing value becomes 0, and is not stored
    assert sparse.csr_matrix(filled).toarray().tolist() == [[1, 2, 0], [0, 2, 0], [1, 2, 0], [1, 0, 0]]
    kept, y, _, _ = coded(raw, "multiclass", missing="drop_rows")
    assert kept.shape == (1, 3) and y.tolist() == [0]
    with pytest.raises(DatasetError, match="every sample has a missing value"):
        coded(RawData(np.full((2, 1), np.nan), np.array([0, 1]), ["a"]), "multiclass", missing="drop_rows")
    with pytest.raises(ConfigError, match=r"dataset\.missing"):
        coded(raw, "multiclass", missing="mean")


def test_infinite_is_not_missing():
    raw = RawData(np.array([[1.0], [np.inf]]), np.array([0, 1]), ["a"])
    for missing in ("error", "most_frequent", "drop_rows"):
        with pytest.raises(DatasetError, match="row 1, column 'a' is infinite"):
            coded(raw, "multiclass", missing=missing)


# --- which source


def test_the_first_source_that_is_there_is_taken(tmp_path):
    (tmp_path / "b.csv").write_text("1,0\n2,1\n")
    sources = [
        {"_target_": READERS["delimited"], "path": f"{name}.csv", "target": -1} for name in ("a", "b", "c")
    ]
    stated = {"name": "small", "task": "multiclass", "sources": sources}
    assert load(stated, tmp_path).X.tolist() == [[1], [2]]
    (tmp_path / "a.csv").write_text("5,0\n6,1\n")
    assert load(stated, tmp_path).X.tolist() == [[5], [6]]
    # a changed file is told, though the next source is there
    sources[0]["sha256"] = "0" * 64
    with pytest.raises(DatasetError, match=r"a\.csv .* is cut off or changed"):
        load(stated, tmp_path)
    with pytest.raises(ConfigError, match="small has no source"):
        load({"name": "small", "task": "multiclass"}, tmp_path)
    with pytest.raises(
        ConfigError, match=r"unknown task \(dataset.task\) 'multilable'; did you mean multilabel"
    ):
        load({**stated, "task": "multilable"}, tmp_path)


def test_a_source_names_its_files_one_way(tmp_path):
    with pytest.raises(ConfigError, match="either path or files"):
        load(block("arff", target="c"), tmp_path)
    with pytest.raises(ConfigError, match="unknown key of a file 'sha'; did you mean sha256"):
        load(block("arff", files=[{"path": "a", "sha": "b"}], target="c"), tmp_path)
    with pytest.raises(ConfigError, match="has no path"):
        load(block("arff", files=[{"sha256": "b"}], target="c"), tmp_path)


def test_imdb_is_parsed_in_little_memory(local_data, tmp_path):
    """Far below 1.5 GiB; a dense table of it would take 0.9 GiB alone."""
    import subprocess
    import sys

    code = (
        "import resource, yaml\n"
        # The resource limit counts what the parent had before it started this program; /proc does not.
        "def peak():\n"
        "    try:\n"
        "        lines = open('/proc/self/status').read().splitlines()\n"
        "        return next(int(line.split()[1]) for line in lines if line.startswith('VmHWM')) / 1024\n"
        "    except OSError:\n"
        "        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "from experiments.datasets import load\n"
        "block = yaml.safe_load(open('conf/dataset/imdb.yaml'))\n"
        f"data = load(block, {str(local_data)!r}, cache={str(tmp_path)!r}, download=False)\n"
        "print(peak())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(PROJECT_ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout) < 700
