"""Tables of single digits, such as genotypes, stay bytes, and nobody can tell but by their memory."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_data import loaded
from scipy import sparse

from experiments.datasets import loading
from experiments.datasets.loading import checksum_of
from experiments.datasets.readers import delimited
from experiments.datasets.readers.digits import digits_of
from experiments.rankers.adapters import rank


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(rng, n=30, p=9, highest=2):
    return rng.integers(0, highest + 1, size=(n, p))


def write(path, X, y=None, header=True, delimiter=",", end="\n"):
    columns = np.column_stack([X, y]) if y is not None else X
    lines = [delimiter.join(map(str, row)) for row in columns.tolist()]
    if header:
        names = [f"rs{place}" for place in range(X.shape[1])] + ["class"] * (y is not None)
        lines.insert(0, delimiter.join(names))
    path.write_bytes(end.join([*lines, ""]).encode())


def both(monkeypatch, *overrides):
    """The data set by way of bytes, and by way of pandas' numbers."""
    fast = loaded("dataset=csv", *overrides)
    with monkeypatch.context() as patch:
        patch.setattr(delimited, "digits_of", lambda *given: None)
        slow = loaded("dataset=csv", *overrides)
    assert slow.X.dtype == np.float64
    return fast, slow


def same(fast, slow):
    np.testing.assert_array_equal(fast.X, slow.X)
    y, expected = ((each.toarray() if sparse.issparse(each) else each) for each in (fast.y, slow.y))
    np.testing.assert_array_equal(y, expected)
    for name in ("feature_names", "class_names", "task", "checksum"):
        assert getattr(fast, name) == getattr(slow, name)


@pytest.mark.parametrize("target", ["class", "-1", "rs3", "[rs2,rs4]"])
@pytest.mark.parametrize("leave_out", ["[]", "[rs0,5]"])
def test_the_data_set_is_that_of_the_general_reader(target, leave_out, here, rng, monkeypatch):
    X = table(rng)
    X[:, [2, 4]] = X[:, [2, 4]] > 0
    write(here / "t.csv", X, rng.integers(0, 2, 30))
    fast, slow = both(
        monkeypatch, "dataset.path=t.csv", f"dataset.target={target}", f"dataset.leave_out={leave_out}"
    )
    same(fast, slow)
    assert fast.X.dtype == np.int8 and fast.X.flags.c_contiguous


@pytest.mark.parametrize(
    "given",
    [dict(header=False), dict(delimiter=";"), dict(delimiter="\t"), dict(end="\r\n")],
)
def test_other_ways_to_write_it(given, here, rng, monkeypatch):
    write(here / "t.csv", table(rng), rng.integers(0, 3, 30), **given)
    more = [] if given.get("header", True) else ["dataset.header=no"]
    if "delimiter" in given:
        more.append(f"dataset.delimiter={ {';': 'semicolon'}.get(given['delimiter'], 'tab') }")
    fast, slow = both(monkeypatch, "dataset.path=t.csv", "dataset.target=-1", *more)
    same(fast, slow)
    assert fast.X.dtype == np.int8


def test_nominal_columns_and_digits_that_mean_a_missing_value(here, rng, monkeypatch):
    X = table(rng, highest=3)
    write(here / "t.csv", X, rng.integers(0, 2, 30))
    common = ["dataset.path=t.csv", "dataset.target=class"]
    same(*both(monkeypatch, *common, "dataset.nominal=[rs1]"))
    fast, slow = both(monkeypatch, *common, "dataset.na_values=[3]", "dataset.missing=most_frequent")
    same(fast, slow)
    assert fast.X.max() == 2


def test_few_rows_may_be_numbers_of_rows(here):
    """Ten rows and the numbers 0 to 9 in a column without a name: names of rows, whatever they look like."""
    (here / "t.csv").write_text(",b,class\n" + "".join(f"{row},1,{row % 2}\n" for row in range(10)))
    with pytest.raises(Exception, match="leave it out"):
        loaded("dataset=csv", "dataset.path=t.csv", "dataset.target=class")


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=11, max_size=20), st.data())
def test_digits_are_found_where_there_is_nothing_else(rows, data):
    text = "\n".join(",".join(map(str, row)) for row in rows)
    np.testing.assert_array_equal(digits_of(text, ",", 3), rows)
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from([" ", "-", "x", '"', ".", "é", "٣", ",", "\n", "12", ""]))
    changed = text[:place] + other + text[place + 1 :]
    if changed != text:
        assert digits_of(changed, ",", 3) is None
    assert digits_of(text, ",", 3, ["5"]) is None
    assert digits_of(text, ";", 3) is None
    assert digits_of(text, ",", 3, ["NA", "nan", "", "1.#IND"]) is not None


@pytest.mark.parametrize("at_once", [3, 20, 10**6])
def test_the_checksum_is_that_of_the_matrix_as_csr(at_once, rng, monkeypatch):
    monkeypatch.setattr(loading, "_AT_ONCE", at_once)
    X, y = table(rng, 12, 7), np.arange(12) % 2
    X[3] = 0
    stored = sparse.csr_matrix(X.astype(np.float64))
    expected = hashlib.sha256(b"multiclass 12 7\n")
    for array, kind in ((stored.indptr, "<i8"), (stored.indices, "<i8"), (stored.data, "<f8"), (y, "<i8")):
        expected.update(array.astype(kind).tobytes())
    for given_X in (X.astype(np.int8), X.astype(np.float64), stored):
        assert checksum_of("multiclass", given_X, y) == expected.hexdigest()


def test_rankers_of_the_library_see_bytes_and_others_floats(rng):
    X, y = table(rng).astype(np.int8), np.arange(30) % 2
    seen = []

    def score(X, y):
        seen.append(X.dtype)
        return X.std(axis=0)

    from reliefe import ReliefF

    fit = ReliefF.fit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReliefF, "fit", lambda self, X, y: (seen.append(X.dtype), fit(self, X, y))[1])
        patch.setattr("experiments.rankers.scores.own_score", score, raising=False)
        found = rank({"_target_": "reliefe.ReliefF"}, X, y, 0).weights
        rank({"_target_": "experiments.rankers.scores.own_score"}, X, y, 0)
        rank({"_target_": "sklearn.tree.DecisionTreeClassifier"}, X, y, 0)
    assert seen == [np.int8, np.float64]
    np.testing.assert_array_equal(found, rank({"_target_": "reliefe.ReliefF"}, X.astype(float), y, 0).weights)
