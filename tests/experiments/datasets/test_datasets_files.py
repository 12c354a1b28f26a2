"""The data sets that lie in files: the paper's, their relatives, and every file of the local folder."""

import gzip
import re

import numpy as np
import pytest
from folders import PROJECT_ROOT
from scipy import sparse
from stated_datasets import LOCAL, MULTI_LABEL, NAMES, NEVER_SEEN, PAPER, QUANTITIES, stated, well_formed

from experiments.datasets import load
from experiments.locate import locate
from experiments.paths import source_blocks, source_paths


@pytest.mark.parametrize("name", sorted(PAPER))
def test_the_papers_tables_are_stated(name):
    block = stated(name)
    assert tuple(block["paper"][key] for key in QUANTITIES) == PAPER[name]
    assert block["task"] == ("multilabel" if name in MULTI_LABEL else "multiclass")


def test_nothing_else_claims_to_be_of_the_paper():
    assert {name for name in NAMES if stated(name)["paper"]} == set(PAPER)
    assert len(PAPER) == 20


@pytest.mark.parametrize("name", LOCAL)
def test_yaml_file_names_readers_and_checksums(name):
    block = stated(name)
    assert block["missing_values"]
    for source in source_blocks(block):
        assert callable(locate(source["_target_"]))
    if name not in NEVER_SEEN:
        first = source_blocks(block)[0]
        for each in first.get("files", [first]):
            assert re.fullmatch("[0-9a-f]{64}", each["sha256"])


@pytest.mark.parametrize("name", sorted(set(LOCAL) - NEVER_SEEN))
def test_set_loads(name, local_data):
    data = load(stated(name), local_data, download=False)
    well_formed(data)
    assert data.name == name and data.origin == "local"
    again = load(stated(name), local_data, download=False)
    assert again.checksum == data.checksum
    assert (again.feature_names, again.class_names) == (data.feature_names, data.class_names)


def test_every_file_of_the_folder_belongs_to_a_data_set(local_data):
    named = {path for name in LOCAL for block in source_blocks(stated(name)) for path in source_paths(block)}
    there = {str(path.relative_to(local_data)) for path in local_data.rglob("*") if path.is_file()}
    assert there - named == {"SOURCES.md"}


def test_checksums_are_those_of_the_list_of_sources(local_data):
    listed = set(re.findall(r"`([0-9a-f]{64})`", (local_data / "SOURCES.md").read_text()))
    text = "\n".join(path.read_text() for path in (PROJECT_ROOT / "conf" / "dataset").glob("*.yaml"))
    assert len(listed) == 49
    assert not {each for each in listed if f"sha256: {each}" not in text}


@pytest.mark.parametrize("name", sorted(set(LOCAL) - NEVER_SEEN))
def test_download_checksums_are_those_of_the_local_files_unpacked(name, local_data):
    import hashlib

    for source in source_blocks(stated(name)):
        for each in source.get("files", [source]):
            wanted = (each.get("download") or {}).get("sha256")
            if wanted and (local_data / each["path"]).is_file():
                content = (local_data / each["path"]).read_bytes()
                forms = [content]
                if content.startswith(b"\x1f\x8b"):
                    forms.append(gzip.decompress(content))
                assert wanted in [hashlib.sha256(form).hexdigest() for form in forms], each["path"]


# --- two forms of one data set


def sourced(name, place):
    block = stated(name)
    block["source"] = block.pop("sources")[place]
    return block


def test_both_forms_of_chess_are_the_same(local_data):
    """The raw nominal file, coded here, is the authors' own file: columns, order, classes."""
    ours, coded = (load(sourced("chess", place), local_data, download=False) for place in (0, 1))
    assert coded.feature_names == ours.feature_names and coded.class_names == ours.class_names
    assert coded.checksum == ours.checksum


def test_medical_twice_is_medical_with_every_column_doubled(local_data):
    once, twice = (load(stated(name), local_data) for name in ("medical", "medical_twice"))
    zero, one = twice.X[:, 0::2].toarray(), twice.X[:, 1::2].toarray()
    assert np.array_equal(zero, 1 - one)
    rows = np.hstack([once.X.toarray(), once.y.toarray()])
    others = np.hstack([one, twice.y.toarray()])
    assert np.array_equal(rows[np.lexsort(rows.T)], others[np.lexsort(others.T)])


def test_birds_has_rows_without_labels_and_coded_nominal_columns(local_data):
    data = load(stated("birds"), local_data)
    assert np.sum(np.diff(data.y.indptr) == 0) == 143 + 151
    places = [name for name in data.feature_names if name.startswith("location=")]
    assert len(places) == 12 and "hasSegments" in data.feature_names
    columns = [data.feature_names.index(name) for name in places]
    assert (data.X[:, columns].sum(axis=1) == 1).all()


@pytest.mark.parametrize(
    ("name", "density"), [("imdb", 0.071417), ("science1", 0.036244), ("delicious", 0.019349)]
)
def test_labels_are_as_dense_as_stated(name, density, local_data):
    data = load(stated(name), local_data)
    assert sparse.issparse(data.X) and sparse.issparse(data.y)
    assert data.y.nnz / np.prod(data.y.shape) == pytest.approx(density, abs=5e-7)


def test_missing_snps_become_the_most_frequent_value(local_data):
    block = stated("gametes_2way_missing")
    data = load(block, local_data)
    with pytest.raises(Exception, match="3107 values are missing"):
        load({**block, "missing": "error"}, local_data)
    text = gzip.decompress((local_data / block["source"]["path"]).read_bytes()).decode()
    raw = np.array([line.split("\t") for line in text.splitlines()[1:]])[:, :-1]
    for column in range(20):
        known = raw[:, column] != "NA"
        values, counts = np.unique(raw[known, column].astype(float), return_counts=True)
        assert (data.X[~known, column] == values[np.argmax(counts)]).all()
        assert np.array_equal(data.X[known, column], raw[known, column].astype(float))


def test_la1_rows_and_classes_are_those_of_its_files(local_data):
    data = load(stated("la1"), local_data)
    assert np.bincount(data.y).tolist() == [555, 341, 273, 943, 738, 354]
    first = gzip.decompress((local_data / "la1" / "sparse_la1.txt.gz").read_bytes()).decode().splitlines()[1]
    assert data.X[0].nnz == int(first.split()[0])
    assert data.X[0].sum() == sum(float(each) for each in first.split()[2::2])
