"""OpenML, end to end: from the server through a YAML block to arrays and to a study."""

import gzip
import hashlib
import os
import sys

import programs
import pytest
import yaml
from folders import PROJECT_ROOT
from openml_table import DENSE, ROWS, SPARSE, VALUES, block, is_right
from scipy import sparse
from server import files_in

from experiments.config.compose import compose_runs
from experiments.datasets import load
from experiments.datasets.openml import openml
from experiments.errors import ConfigError, DatasetError, MissingFileError
from experiments.paths import Places

# --- OpenML


def test_by_number(server, cache, tmp_path):
    server.put_openml(3, "x", DENSE, row_id_attribute="key")
    data = load(block(server, data_id=3), tmp_path, cache=cache)
    assert is_right(data) and data.origin == "downloaded"
    assert server.paths() == ["/api/v1/xml/data/3", "/data/v1/download/50003/x.arff"]
    again = load(block(server, data_id=3), tmp_path, cache=cache)
    assert again.origin == "cached" and again.checksum == data.checksum
    assert len(server.asked) == 2


@pytest.mark.parametrize("ignored", ["key", ["key"], "'key'"])
def test_attributes_to_be_ignored_are_no_features(server, cache, tmp_path, ignored):
    server.put_openml(3, "x", DENSE, ignore_attribute=ignored)
    assert is_right(load(block(server, data_id=3), tmp_path, cache=cache))


def test_by_name_the_oldest_active_version(server, cache, tmp_path):
    other = DENSE.replace(b"r1,", b"r1,1")
    server.put_openml(90, "x", other, version=2, row_id_attribute="key")
    server.put_openml(1134, "x", DENSE, version=1, row_id_attribute="key")
    assert is_right(load(block(server, name="x"), tmp_path, cache=cache))
    data = load(block(server, name="x", version=2), tmp_path, cache=cache)
    assert data.X[1, 0] != VALUES[1, 0]


def test_sparse_stays_sparse(server, cache, tmp_path):
    server.put_openml(399, "x", SPARSE, format="Sparse_ARFF")
    data = load(block(server, data_id=399), tmp_path, cache=cache)
    assert is_right(data)
    assert sparse.issparse(openml(399, server=server.address, places=Places((), cache)).X)


def test_first_rows(server, cache, tmp_path):
    for data_id, content in ((1485, DENSE), (1486, SPARSE)):
        server.put_openml(data_id, "x", content, **({"row_id_attribute": "key"} if data_id == 1485 else {}))
        data = load(block(server, data_id=data_id, first_rows=10), tmp_path, cache=cache)
        assert data.X.shape == (10, 3) and data.y.tolist() == [0, 1] * 5
        with pytest.raises(DatasetError, match="40 rows, not 41"):
            load(block(server, data_id=data_id, first_rows=41), tmp_path, cache=cache)


def test_labels(server, cache, tmp_path):
    text = "@relation x\n@attribute l1 {0,1}\n@attribute a numeric\n@attribute l2 {0,1}\n@data\n"
    text += "0,1,0\n1,2,1\n1,0,0\n"
    server.put_openml(7, "x", text.encode(), default_target_attribute="l1,l2")
    dataset = block(server, data_id=7, target=["l1", "l2"]) | {"task": "multilabel"}
    data = load(dataset, tmp_path, cache=cache)
    assert data.y.toarray().tolist() == [[0, 0], [1, 1], [1, 0]] and data.class_names == ("l1", "l2")


def test_local_file_needs_no_openml(server, cache, tmp_path):
    for path, content in (("openml/3.arff", DENSE), ("mine/x.arff.gz", gzip.compress(DENSE))):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_bytes(content)
        settings = {"path": path} if path.startswith("mine") else {}
        dataset = block(server, data_id=3, target="class", leave_out=["key"], **settings)
        data = load(dataset, tmp_path, cache=cache)
        assert is_right(data) and data.origin == "local"
    assert server.asked == []
    with pytest.raises(ConfigError, match="states no class"):
        load(block(server, data_id=3), tmp_path, cache=cache)


@pytest.mark.parametrize("mood", ["half", "one byte changed", "500", "hang up", "half as whole"])
def test_a_bad_moment_of_openml_is_got_over(server, cache, tmp_path, mood):
    server.put_openml(3, "x", DENSE, mood, "fine", row_id_attribute="key")
    assert is_right(load(block(server, data_id=3), tmp_path, cache=cache))


@pytest.mark.parametrize(
    ("moods", "about", "says"),
    [
        (["one byte changed"], ["fine"], "expected MD5"),
        (["half as whole"], ["fine"], "expected MD5"),
        (["404"], ["fine"], "404"),
        (["page"], ["fine"], "expected MD5"),
        (["fine"], ["412"], "No results"),
        (["fine"], ["half as whole"], "malformed"),
    ],
)
def test_one_clear_error(server, cache, tmp_path, moods, about, says):
    server.put_openml(3, "x", DENSE, *moods, about=about, row_id_attribute="key")
    with pytest.raises(MissingFileError) as caught:
        load(block(server, data_id=3), tmp_path, cache=cache)
    message = str(caught.value)
    assert says in message and len(message.splitlines()) == 2
    for part in ("data set x", str(tmp_path / "openml" / "3.arff"), "paths.local_data=FOLDER"):
        assert part in message
    assert not [name for name in files_in(cache) if name.endswith(".arff")]
    # Whatever the cache holds of it does not stand in the way of the good answer.
    server.put_openml(3, "x", DENSE, row_id_attribute="key")
    assert is_right(load(block(server, data_id=3), tmp_path, cache=cache))


def test_not_what_was_expected(server, cache, tmp_path):
    server.put_openml(3, "x", DENSE, version=2)
    with pytest.raises(DatasetError, match="is version 2, not 1"):
        load(block(server, data_id=3, version=1), tmp_path, cache=cache)
    with pytest.raises(DatasetError, match=f"expected MD5 {'0' * 32}, OpenML states"):
        load(block(server, data_id=3, md5="0" * 32), tmp_path, cache=cache)
    server.put_openml(4, "y", DENSE, format="parquet")
    with pytest.raises(DatasetError, match="of the kind parquet, not ARFF"):
        load(block(server, data_id=4), tmp_path, cache=cache)
    for source in ({}, {"data_id": 1, "name": "x"}):
        with pytest.raises(ConfigError, match="either"):
            load(block(server, **source), tmp_path, cache=cache)


def test_cut_off_file_of_the_cache(server, cache, tmp_path):
    server.put_openml(3, "x", DENSE, row_id_attribute="key")
    load(block(server, data_id=3), tmp_path, cache=cache)
    (file,) = (cache / "downloads").glob("*.arff")
    file.write_bytes(DENSE[: len(DENSE) // 2])
    with pytest.raises(MissingFileError) as caught:
        load(block(server, data_id=3), tmp_path, cache=cache, download=False)
    assert str(file) in str(caught.value) and "expected MD5" in str(caught.value)
    assert is_right(load(block(server, data_id=3), tmp_path, cache=cache))


def test_by_name_from_the_cache_without_a_connection(server, cache, tmp_path):
    server.put_openml(1134, "x", DENSE, row_id_attribute="key")
    load(block(server, name="x"), tmp_path, cache=cache)
    asked = len(server.asked)
    assert is_right(load(block(server, name="x"), tmp_path, cache=cache)) and len(server.asked) == asked


def test_as_typed(server, cache, tmp_path):
    """``dataset=openml dataset.data_id=31`` needs no YAML file of its own."""
    server.put_openml(31, "credit-g", DENSE, row_id_attribute="key")
    (config,) = compose_runs(["dataset=openml", "dataset.data_id=31"]).configs
    config["dataset"]["source"]["server"] = server.address
    data = load(config["dataset"], tmp_path, cache=cache)
    assert data.X.shape == (ROWS, 3) and data.task == "multiclass"


# --- the command line


@pytest.fixture
def run(cache, tmp_path, server):
    """Run a study of the data set ``mine``, whose file the server has."""
    folder = tmp_path / "my conf"
    (folder / "dataset").mkdir(parents=True)
    source = block(server, data_id=3)["source"]
    stated = {"expected": {"rows": ROWS, "features": 3, "classes": 2}, "url": "OpenML 3"}
    mine = {"name": "mine", "task": "multiclass", "source": source, **stated}
    environment = {key: value for key, value in os.environ.items() if key != "RELIEFE_OFFLINE"}

    def go(**source):
        mine["source"] |= source
        (folder / "dataset" / "mine.yaml").write_text(yaml.safe_dump(mine))
        return programs.run(
            [
                *(sys.executable, "run.py", "--config-dir", str(folder), "dataset=mine", "ranker=relieff"),
                *("protocol.n_splits=2", "protocol.n_repeats=1", "launcher.n_workers=1"),
                *(
                    f"paths.results={tmp_path / 'results'}",
                    f"paths.local_data={tmp_path}",
                    f"paths.cache={cache}",
                ),
            ],
            cwd=PROJECT_ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return go


def rows_in(folder):
    return list(folder.rglob("*.parquet"))


def test_run_downloads_once_and_then_needs_nobody(run, server, cache, tmp_path):
    server.put_openml(3, "x", DENSE, row_id_attribute="key")
    done = run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(server.asked) == 2 and rows_in(tmp_path / "results") and (cache / "downloads").is_dir()
    server.close()
    assert run().returncode == 0


def test_run_without_the_file_writes_no_row(run, server, tmp_path):
    server.put_openml(3, "x", DENSE, "half as whole")
    done = run()
    assert done.returncode == 2
    said = done.stdout + done.stderr
    for part in ("data set mine", "OpenML 3", "expected MD5", str(tmp_path / "openml" / "3.arff")):
        assert part in said
    assert not rows_in(tmp_path)


@pytest.mark.parametrize("damage", ["half", "one byte"])
def test_run_with_a_damaged_local_file_writes_no_row(run, server, tmp_path, damage):
    server.put_openml(3, "x", DENSE, row_id_attribute="key")
    bad = DENSE[: len(DENSE) // 2] if damage == "half" else DENSE.replace(b"r1,", b"q1,")
    file = tmp_path / "openml" / "3.arff"
    file.parent.mkdir()
    file.write_bytes(bad)
    done = run(sha256=hashlib.sha256(DENSE).hexdigest(), target="class", leave_out=["key"])
    assert done.returncode == 2
    said = done.stdout + done.stderr
    for part in (
        "mine",
        str(file),
        hashlib.sha256(DENSE).hexdigest(),
        hashlib.sha256(bad).hexdigest(),
        "replace it",
    ):
        assert part in said
    assert not rows_in(tmp_path) and file.read_bytes() == bad
    assert server.asked == []  # a damaged file is told, and not passed over for a download


def test_a_file_that_moved_is_asked_for_anew(server, cache, tmp_path):
    server.put_openml(3, "x", DENSE, "404", row_id_attribute="key")
    with pytest.raises(MissingFileError, match="404"):
        load(block(server, data_id=3), tmp_path, cache=cache)
    moved = server.put("/elsewhere/x.arff", DENSE)
    server.put_openml(3, "x", DENSE, "404", row_id_attribute="key", url=moved)
    assert is_right(load(block(server, data_id=3), tmp_path, cache=cache))
