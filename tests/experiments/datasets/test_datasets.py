"""Data sets: every YAML file loads, and damaged, missing or unexpected data is told apart from good."""

import gzip
import hashlib
import socket
from pathlib import Path

import numpy as np
import pytest
from own_data import READERS
from scipy import sparse
from scipy.io import savemat
from stated_datasets import BUNDLED, LOCAL, stated, well_formed

from experiments.datasets import DatasetError, RawData, load, nonzero_share
from experiments.errors import ConfigError


def source(reader, path, **settings):
    block = {"_target_": READERS[reader], "path": Path(path).name, **settings}
    return {"name": "small", "task": "multiclass", "source": block}


def write(folder, text, name="small.txt"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# --- the YAML files


def test_first_data_sets_are_there():
    assert {"digits", "breast_cancer", "wine"} <= set(BUNDLED)
    assert {"chess", "optdigits", "madelon", "dlbcl"} <= set(LOCAL)


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_set_loads(name, tmp_path):
    data = load(stated(name), tmp_path / "no such folder")
    well_formed(data)
    assert data.name == name


def test_chess_columns_and_classes_are_those_of_the_raw_file(local_data):
    data = load(stated("chess"), local_data)
    text = gzip.decompress((local_data / "chess" / "kr-vs-kp.arff.gz").read_bytes()).decode()
    lines = text.splitlines()
    attributes = [line.split("'")[1] for line in lines if line.lower().startswith("@attribute")]
    rows = [[cell.strip("'") for cell in line.split(",")] for line in lines if line.startswith("'")]
    column = {name: np.array(cells) for name, cells in zip(attributes, zip(*rows, strict=True), strict=True)}
    for place, name in enumerate(data.feature_names):
        attribute, _, value = name.partition("=")
        assert np.array_equal(data.X[:, place], column[attribute] == value), name
    assert np.array_equal(np.array(data.class_names)[data.y], column["class"])


def test_optdigits_leaves_out_the_two_empty_pixels(local_data):
    data = load(stated("optdigits"), local_data)
    left_out = {f"x{number}" for number in range(1, 65)} - set(data.feature_names)
    assert left_out == {"x1", "x40"}
    assert data.class_names == tuple("0123456789")


# --- damaged, missing, unexpected


@pytest.fixture
def small(tmp_path):
    """A small MATLAB file, its block with checksum and expectations, and its content."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(30, 4)).astype(float)
    y = np.arange(30) % 3
    path = tmp_path / "small.mat"
    savemat(path, {"a": sparse.csc_matrix(X), "b": y})
    block = source(
        "matlab", path, features="a", target="b", sha256=hashlib.sha256(path.read_bytes()).hexdigest()
    )
    block["expected"] = {
        "rows": 30,
        "features": 4,
        "classes": 3,
        "nonzero_share": round(float((X != 0).mean()), 6),
    }
    return path, block, X, y


def test_loads_without_network_and_deletes_nothing(small, tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    path, block, X, y = small
    before = path.read_bytes()
    data = load(block, tmp_path)
    assert np.array_equal(data.X, X) and np.array_equal(data.y, y)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("damage", ["half", "one byte", "empty"])
def test_damaged_file_is_refused_and_left_alone(small, tmp_path, damage):
    path, block, _, _ = small
    good = path.read_bytes()
    middle = len(good) // 2
    bad = {
        "half": good[:middle],
        "one byte": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
        "empty": b"",
    }[damage]
    path.write_bytes(bad)
    with pytest.raises(DatasetError) as caught:
        load(block, tmp_path)
    message = str(caught.value)
    for part in (
        "small",
        str(path),
        hashlib.sha256(good).hexdigest(),
        hashlib.sha256(bad).hexdigest(),
        "replace it",
    ):
        assert part in message
    assert len(message.splitlines()) <= 2
    assert path.read_bytes() == bad


@pytest.mark.parametrize("name", ["small.mat", "small.mat.gz", "small.tab", "small.txt.gz"])
def test_half_a_file_without_stated_checksum_is_an_error_too(tmp_path, name):
    whole = b"1,2\n" * 100 if name.startswith("small.txt") else b"MATLAB 5.0 MAT-file" + bytes(range(256))
    content = gzip.compress(whole)[:-9] if name.endswith(".gz") else whole
    write(tmp_path, content, name)
    reader = {"small.tab": "orange_tab", "small.txt.gz": "delimited"}.get(name, "matlab")
    settings = {"matlab": {"features": "a", "target": "b"}, "delimited": {"target": 0}}.get(reader, {})
    with pytest.raises(DatasetError, match="small"):
        load(source(reader, name, **settings), tmp_path)


def test_missing_file(small, tmp_path):
    _, block, _, _ = small
    with pytest.raises(DatasetError) as caught:
        load(block, tmp_path / "elsewhere")
    message = str(caught.value)
    assert "data set small" in message and str(tmp_path / "elsewhere" / "small.mat") in message
    assert "paths.local_data=FOLDER" in message and len(message.splitlines()) <= 2
    assert not (tmp_path / "elsewhere").exists()


def test_each_quantity_that_differs_is_named(small, tmp_path):
    _, block, X, _ = small
    share = float((X != 0).mean())
    block["expected"] = {"rows": 31, "features": 4, "classes": 2, "nonzero_share": round(share, 6) + 2e-6}
    with pytest.raises(DatasetError) as caught:
        load(block, tmp_path)
    message = str(caught.value)
    assert "rows expected 31, found 30" in message
    assert "classes expected 2, found 3" in message
    assert f"found {share:.6f}" in message
    assert "features" not in message
    block["expected"] = {"rows": None}
    assert load(block, tmp_path).X.shape == (30, 4)


def test_wrong_source(small, tmp_path):
    path, block, _, _ = small
    block["source"]["feature"] = block["source"].pop("features")
    with pytest.raises(ConfigError, match=r"unknown parameter.*'feature'; did you mean features"):
        load(block, tmp_path)
    with pytest.raises(ConfigError, match=r"cannot read this source.*target"):
        load(source("matlab", path, features="a"), tmp_path)
    with pytest.raises(DatasetError, match=r"no variable 'c' \(it has a, b\)"):
        load(source("matlab", path, features="c", target="b"), tmp_path)


# --- coding


def coded(raw, **block):
    """Load raw data through a block whose source is a function of this module."""
    global _raw
    _raw = raw
    return load(
        {"name": "raw", "task": "multiclass", "source": {"_target_": f"{__name__}.hand_over"}, **block}, "."
    )


def hand_over():
    return _raw


@pytest.mark.parametrize(
    ("labels", "codes", "class_names"),
    [
        (["lo", "hi", "lo", "mid"], [1, 0, 1, 2], ("hi", "lo", "mid")),
        ([10, -3, 9, 10], [2, 0, 1, 2], ("-3", "9", "10")),
        ([2.0, 1.0, 2.0, 1.5], [2, 0, 2, 1], ("1", "1.5", "2")),
        ([True, False, True, True], [1, 0, 1, 1], ("False", "True")),
    ],
)
def test_labels_are_coded_in_their_sorted_order(labels, codes, class_names):
    data = coded(RawData(np.arange(8).reshape(4, 2), np.array(labels), ["a", "b"]))
    assert data.y.tolist() == codes and data.class_names == class_names


def test_class_names_can_be_given():
    data = coded(
        RawData(np.arange(8).reshape(4, 2), np.array([0, 1, 0, 2]), ["a", "b"], {"0": "no", "1": "yes"})
    )
    assert data.class_names == ("no", "yes", "2")


def test_constant_columns_are_dropped_when_asked_for():
    X = np.array([[0, 7, 1, 0], [1, 7, 0, 0], [2, 7, 0, 0], [3, 7, 0, 0], [4, 7, 0, 0]])
    labels = np.array([0, 1, 0, 1, 0])
    for matrix in (X, sparse.csc_matrix(X)):
        kept = coded(RawData(matrix, labels, list("abcd")))
        dropped = coded(RawData(matrix, labels, list("abcd")), drop_constant=True)
        assert kept.feature_names == tuple("abcd")
        # c has one stored value only, but its implicit zeros are values too
        assert dropped.feature_names == ("a", "c") and dropped.X.shape == (5, 2)


def test_storage_is_the_files_own_unless_it_is_mostly_non_zero():
    rng = np.random.default_rng(0)
    labels = np.arange(20) % 2
    dense = rng.normal(size=(20, 5))
    thin = dense * (rng.random((20, 5)) < 0.3)
    assert sparse.issparse(coded(RawData(sparse.csc_matrix(thin), labels, list("abcde"))).X)
    assert not sparse.issparse(coded(RawData(sparse.csc_matrix(dense), labels, list("abcde"))).X)
    assert not sparse.issparse(coded(RawData(thin, labels, list("abcde"))).X)


def test_checksum_is_of_the_content():
    rng = np.random.default_rng(0)
    thin = rng.normal(size=(20, 5)) * (rng.random((20, 5)) < 0.3)
    labels = np.arange(20) % 2
    names = list("abcde")
    dense = coded(RawData(thin, labels, names))
    row, column = np.argwhere(thin == 0)[0]
    stored_zero = sparse.csr_matrix(
        (np.append(thin[thin != 0], 0.0), tuple(np.column_stack([np.nonzero(thin), [row, column]]))),
        shape=thin.shape,
    )
    assert stored_zero.nnz > np.count_nonzero(thin)
    plain = sparse.csr_matrix(thin)
    stored_twice = sparse.csr_matrix(
        (np.repeat(plain.data / 2, 2), np.repeat(plain.indices, 2), plain.indptr * 2), shape=thin.shape
    )
    assert stored_twice.nnz == 2 * plain.nnz
    for same in (
        sparse.csc_matrix(thin),
        stored_zero,
        stored_twice,
        sparse.coo_matrix(thin),
        np.asfortranarray(thin),
    ):
        assert coded(RawData(same, labels, names)).checksum == dense.checksum
    assert coded(RawData(thin, np.array(["n", "y"])[labels], names)).checksum == dense.checksum
    other = thin.copy()
    other[3, 2] += 1e-12
    assert coded(RawData(other, labels, names)).checksum != dense.checksum
    assert coded(RawData(thin, 1 - labels, names)).checksum != dense.checksum
    assert coded(RawData(thin.reshape(10, 10), labels[:10], list("abcdefghij"))).checksum != dense.checksum


def test_no_value_that_is_not_finite_gets_through():
    X = np.arange(8.0).reshape(4, 2)
    X[2, 1] = np.inf
    for matrix in (X, sparse.csr_matrix(X)):
        with pytest.raises(DatasetError, match="row 2, column 'b'"):
            coded(RawData(matrix, np.array([0, 1, 0, 1]), ["a", "b"]))
    with pytest.raises(DatasetError, match="3 labels for 4 rows"):
        coded(RawData(np.ones((4, 2)), np.array([0, 1, 0]), ["a", "b"]))
    with pytest.raises(DatasetError, match="empty"):
        coded(RawData(np.ones((0, 2)), np.array([]), ["a", "b"]))


def test_nonzero_share():
    X = np.array([[0.0, 1.0], [0.0, 0.0]])
    stored_zero = sparse.csr_matrix(
        (np.array([1.0, 0.0]), np.array([1, 0]), np.array([0, 1, 2])), shape=(2, 2)
    )
    assert nonzero_share(X) == nonzero_share(stored_zero) == 0.25


# --- text formats


def test_delimited_text_with_and_without_names(tmp_path):
    named = write(tmp_path, "class;a;b\nx;1;2\ny;3;4.5\n\n")
    data = load(source("delimited", named, delimiter=";", header=True, target="class"), tmp_path)
    assert data.X.tolist() == [[1, 2], [3, 4.5]] and data.class_names == ("x", "y")
    assert data.feature_names == ("a", "b")
    bare = write(tmp_path, gzip.compress(b"1,2,7\r\n3,4,8\r\n"), "bare.dat.gz")
    data = load(source("delimited", bare, target=-1), tmp_path)
    assert data.X.tolist() == [[1, 2], [3, 4]] and data.class_names == ("7", "8")
    assert data.feature_names == ("x1", "x2")


@pytest.mark.parametrize(
    ("text", "settings", "says"),
    [
        ("a,b,c\n1,2,0\n1,oops,1\n", {"header": True, "target": "c"}, "line 3: column 'b' holds 'oops'"),
        ("1,2,0\n1,,1\n", {"target": -1}, "line 2: column 'x2' is empty"),
        ("1,2,0\n1,inf,1\n", {"target": -1}, "line 2: column 'x2' holds 'inf'"),
        ("1,2,0\n1,2,3,1\n", {"target": -1}, "no even table"),
        ("1,2,0\n1,2,1\n", {"target": 3}, "no column 3"),
        ("1,2,0\n1,2,1\n", {"target": "c"}, "no header"),
        ("a,b,klass\n1,2,1\n", {"header": True, "target": "class"}, "did you mean klass"),
        ("1,2,0\n1,2,\n", {"target": -1}, "1 row has no class"),
        ("", {"target": -1}, "holds no table: it is empty"),
        (b"a,b\n1,2\n\xff,3\n", {"target": 0}, "line 3: not UTF-8"),
    ],
)
def test_bad_delimited_text(tmp_path, text, settings, says):
    path = write(tmp_path, text)
    with pytest.raises(DatasetError, match="data set small") as caught:
        load(source("delimited", path, **settings), tmp_path)
    assert says in str(caught.value)


TAB = "g1\tid\tstate\tg2\nc\tstring\td\tcontinuous\n\tmeta\tclass\t\n1\tp1\tsick\t2\n3\tp2\twell\t-4\n"


def test_orange_table_finds_the_class_by_its_role(tmp_path):
    path = write(tmp_path, TAB.replace("\n", "\r\n"), "small.tab")
    data = load(source("orange_tab", path), tmp_path)
    assert data.X.tolist() == [[1, 2], [3, -4]]
    assert data.feature_names == ("g1", "g2") and data.class_names == ("sick", "well")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("\tclass\t", "\t\t", "0 columns with the role class"),
        ("\tmeta\t", "\tclass\t", "2 columns with the role class"),
        ("c\tstring", "d\tstring", "column 'g1' is 'd'"),
        ("3\tp2", "x\tp2", "line 5: column 'g1' holds 'x'"),
        ("g1\tid", "g1", "3 names, 4 types"),
        ("\tsick\t2", "\tsick\t2\t5", "under 4 names"),
    ],
)
def test_bad_orange_table(tmp_path, old, new, says):
    assert old in TAB
    path = write(tmp_path, TAB.replace(old, new), "small.tab")
    with pytest.raises(DatasetError) as caught:
        load(source("orange_tab", path), tmp_path)
    assert says in str(caught.value)


def test_matlab_table_must_be_numbers(tmp_path):
    path = tmp_path / "small.mat"
    savemat(path, {"a": np.array(["x", "y"]), "b": np.arange(2)})
    with pytest.raises(DatasetError, match="no table of numbers"):
        load(source("matlab", path, features="a", target="b"), tmp_path)
    write(tmp_path, b"no MATLAB at all", "other.mat")
    with pytest.raises(DatasetError, match="cannot be read as a MATLAB file"):
        load(source("matlab", "other.mat", features="a", target="b"), tmp_path)


def test_a_missing_file_is_told_with_the_address_it_comes_from(tmp_path):
    block = {
        "name": "far",
        "task": "multiclass",
        "source": {
            "_target_": "experiments.datasets.readers.text.delimited",
            "path": "far/far.csv",
            "target": -1,
        },
        "url": "a shelf in the attic",
    }
    with pytest.raises(
        DatasetError, match=r"data set far: .*far\.csv(.|\n)*it comes from a shelf in the attic"
    ):
        load(block, tmp_path)
