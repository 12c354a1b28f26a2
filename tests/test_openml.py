"""OpenML, and the other layouts of public sources, end to end: from the server through a YAML block to arrays."""

import bz2
import gzip
import hashlib
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy import sparse
from server import files_in

from experiments.datasets import load
from experiments.datasets.openml_source import openml
from experiments.errors import ConfigError, DatasetError, MissingFileError
from experiments.places import Places

PROJECT_ROOT = Path(__file__).resolve().parents[1]

ROWS = 40
_rng = np.random.default_rng(5)
VALUES = _rng.integers(0, 4, size=(ROWS, 3))
CLASSES = np.array(["no", "yes"])[np.arange(ROWS) % 2]

DENSE = (
    "@relation x\n@attribute key string\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n"
)
DENSE += "@attribute class {no,yes}\n@data\n"
DENSE += "".join(f"r{row},{','.join(map(str, VALUES[row]))},{CLASSES[row]}\n" for row in range(ROWS))
DENSE = DENSE.encode()

SPARSE = "@relation x\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n"
SPARSE += "@attribute class {no,yes}\n@data\n"
for row in range(ROWS):
    cells = [f"{place} {value}" for place, value in enumerate(VALUES[row]) if value]
    cells += ["3 yes"] if CLASSES[row] == "yes" else []
    SPARSE += "{" + ",".join(cells) + "}\n"
SPARSE = SPARSE.encode()


def block(server, **source):
    return {
        "name": "x",
        "task": "multiclass",
        "source": {
            "_target_": "experiments.datasets.openml_source.openml",
            "server": server.address + "/",
            **source,
        },
    }


def is_right(data):
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    assert np.array_equal(X, VALUES)
    assert data.feature_names == ("a", "b", "c") and data.class_names == ("no", "yes")
    assert np.array_equal(data.y, np.arange(ROWS) % 2)
    return True


# --- OpenML


def test_by_number(server, cache, tmp_path):
    server.put_openml(3, "x", DENSE, row_id_attribute="key")
    data = load(block(server, data_id=3), tmp_path, cache=cache)
    assert is_right(data) and data.origin == "downloaded"
    assert server.paths() == ["/api/v1/json/data/3", "/data/v1/download/50003/x.arff"]
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
    server.put_openml(91, "x", other, version=3, row_id_attribute="key", status="deactivated")
    data = load(block(server, name="x", version=3), tmp_path, cache=cache)
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
    dataset = block(server, data_id=7, labels=["l1", "l2"]) | {"task": "multilabel"}
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
    with pytest.raises(ConfigError, match="State target"):
        load(block(server, data_id=3), tmp_path, cache=cache)


@pytest.mark.parametrize("mood", ["half", "one byte changed", "500", "hang up", "half as whole"])
def test_a_bad_moment_of_openml_is_got_over(server, cache, tmp_path, mood):
    # OpenML states no checksum of its description: a byte that changed there is not seen, half of it is.
    about = "500" if mood == "one byte changed" else mood
    server.put_openml(3, "x", DENSE, mood, "fine", about=[about, "fine"], row_id_attribute="key")
    assert is_right(load(block(server, data_id=3), tmp_path, cache=cache))


@pytest.mark.parametrize(
    ("moods", "about", "says"),
    [
        (["half"], ["fine"], "broke off after"),
        (["one byte changed"], ["fine"], "expected MD5"),
        (["half as whole"], ["fine"], "expected MD5"),
        (["404"], ["fine"], "404"),
        (["page"], ["fine"], "a web page"),
        (["fine"], ["412"], "HTTP 412 Precondition Failed: No results"),
        (["fine"], ["page"], "a web page"),
        (["fine"], ["half as whole"], "answer cannot be read"),
        (["fine"], ["500"], "HTTP 500"),
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
    # Whatever the cache remembers of it does not stand in the way of the good answer.
    server.put_openml(3, "x", DENSE, row_id_attribute="key")
    assert is_right(load(block(server, data_id=3), tmp_path, cache=cache))


def test_not_what_was_expected(server, cache, tmp_path):
    server.put_openml(3, "x", DENSE, version=2)
    with pytest.raises(DatasetError, match="is version 2, not 1"):
        load(block(server, data_id=3, version=1), tmp_path, cache=cache)
    with pytest.raises(DatasetError, match=f"expected MD5 {'0' * 32}, OpenML states"):
        load(block(server, data_id=3, md5="0" * 32), tmp_path, cache=cache)
    server.put_openml(4, "y", DENSE, format="parquet")
    with pytest.raises(DatasetError, match="is no ARFF file but parquet"):
        load(block(server, data_id=4), tmp_path, cache=cache)
    server.put("/api/v1/json/data/5", b'{"data": 1}')
    with pytest.raises(MissingFileError, match="answer cannot be read"):
        load(block(server, data_id=5), tmp_path, cache=cache)
    with pytest.raises(MissingFileError, match="404"):
        load(block(server, name="nobody"), tmp_path, cache=cache)
    server.put("/api/v1/json/data/list/data_name/z/limit/100/status/active", b'{"data": {"dataset": []}}')
    with pytest.raises(MissingFileError, match="no data set named z"):
        load(block(server, name="z"), tmp_path, cache=cache)
    for source in ({}, {"data_id": 1, "name": "x"}):
        with pytest.raises(ConfigError, match="either data_id or name"):
            load(block(server, **source), tmp_path, cache=cache)


def test_cut_off_file_of_the_cache(server, cache, tmp_path):
    server.put_openml(3, "x", DENSE, row_id_attribute="key")
    load(block(server, data_id=3), tmp_path, cache=cache)
    (file,) = (cache / "downloads").glob("*.arff")
    file.write_bytes(DENSE[: len(DENSE) // 2])
    with pytest.raises(MissingFileError) as caught:
        load(block(server, data_id=3), tmp_path, cache=cache, download=False)
    assert str(file) in str(caught.value) and "expected SHA-256" in str(caught.value)
    assert is_right(load(block(server, data_id=3), tmp_path, cache=cache))


# --- the other layouts

CSV = "a,b,c,class\n" + "".join(f"{','.join(map(str, VALUES[row]))},{CLASSES[row]}\n" for row in range(ROWS))


def delimited(**source):
    source = {
        "_target_": "experiments.datasets.local_file.delimited",
        "header": True,
        "target": "class",
    } | source
    return {"name": "x", "task": "multiclass", "source": source}


def test_uci_archive_within_an_archive(server, cache, tmp_path):
    data = "".join(line.rpartition(",")[0] + "\n" for line in CSV.splitlines())
    labels = "class\n" + "".join(f"{each}\n" for each in CLASSES)
    inner = {"set/data.csv": data.encode(), "set/labels.csv": labels.encode()}
    url = server.put_uci(401, "gene+expression", {"set.tar.gz": inner}, "half", "fine")
    download = {"url": url, "member": ["set.tar.gz", "set/data.csv"]}
    target_file = {
        "path": "x/labels.csv",
        "download": {"url": url, "member": ["set.tar.gz", "set/labels.csv"]},
    }
    found = load(
        delimited(path="x/data.csv", download=download, target_file=target_file), tmp_path, cache=cache
    )
    assert is_right(found) and len(server.asked) == 2


def rar(name, content):
    """Bytes of a rar archive (version 3) that holds one file as it is."""

    def header(kind, flags, fields, name=b""):
        body = (
            bytes([kind]) + flags.to_bytes(2, "little") + (7 + len(fields) + len(name)).to_bytes(2, "little")
        )
        body += fields + name
        return (zlib.crc32(body) & 0xFFFF).to_bytes(2, "little") + body

    size = len(content).to_bytes(4, "little")
    fields = size + size + b"\x03" + zlib.crc32(content).to_bytes(4, "little") + bytes(4) + b"\x14\x30"
    fields += len(name).to_bytes(2, "little") + (0o100644).to_bytes(4, "little")
    return (
        b"Rar!\x1a\x07\x00"
        + header(0x73, 0, bytes(6))
        + header(0x74, 0x8000, fields, name.encode())
        + content
        + header(0x7B, 0x4000, b"")
    )


def test_uci_rar_within_a_zip(server, cache, tmp_path):
    url = server.put_uci(470, "parkinson", {"x.rar": rar("x.csv", CSV.encode())})
    download = {"url": url, "member": ["x.rar", "x.csv"]}
    assert is_right(load(delimited(path="x/x.csv", download=download), tmp_path, cache=cache))
    changed = rar("x.csv", CSV.encode()).replace(b"yes", b"nay", 1)
    download["url"] = server.put_uci(471, "parkinson", {"x.rar": changed})
    with pytest.raises(MissingFileError, match=r"x\.csv in x\.rar .* cut off or damaged"):
        load(delimited(path="x/x.csv", download=download), tmp_path, cache=cache)


MULAN_ARFF = (
    b"@relation x\n@attribute a numeric\n@attribute l1 {0,1}\n@attribute l2 {0,1}\n@data\n{0 2,1 1}\n{2 1}\n"
)
MULAN_XML = b'<?xml version="1.0" ?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n'
MULAN_XML += b'<label name="l1"></label><label name="l2"></label></labels>\n'


def test_mulan_on_github(server, cache, tmp_path):
    files = []
    for name, content in (("x.arff", MULAN_ARFF), ("x.xml", MULAN_XML)):
        url = server.put_github("tsoumakas/mulan", f"data/multi-label/x/{name}", content, "500", "fine")
        files.append({"path": f"x/{name}", "download": {"url": url}})
    source = {"_target_": "experiments.datasets.local_file.mulan", "files": files}
    data = load({"name": "x", "task": "multilabel", "source": source}, tmp_path, cache=cache)
    assert data.y.toarray().tolist() == [[1, 0], [0, 1]] and data.X.toarray().tolist() == [[2], [0]]
    # What a Git LFS repository sends in place of a large file is not taken for the file.
    other = server.put_github("mrapp-ke/Boomer-Datasets", "x.arff", MULAN_ARFF, "pointer")
    files[0]["download"] = {"url": other}
    with pytest.raises(MissingFileError, match="Git LFS pointer"):
        load({"name": "x", "task": "multilabel", "source": source}, tmp_path, cache=cache)


def test_half_a_text_file_that_nothing_else_tells_is_not_what_is_stated(server, cache, tmp_path):
    url = server.put("/x.csv", "".join(CSV.splitlines(keepends=True)[:20]).encode())
    dataset = delimited(path="x.csv", download={"url": url}) | {"expected": {"rows": ROWS}}
    for _ in range(2):
        with pytest.raises(DatasetError, match=f"rows expected {ROWS}, found 19") as caught:
            load(dataset, tmp_path, cache=cache)
        assert str(cache / "downloads") in str(caught.value) and len(str(caught.value).splitlines()) == 2
    server.put("/x.csv", CSV.encode())
    for file in (cache / "downloads").iterdir():
        file.unlink()
    assert is_right(load(dataset, tmp_path, cache=cache))


def test_meka_on_github(server, cache, tmp_path):
    url = server.put_github(
        "Waikato/meka", "src/main/data/X.arff.bz2", bz2.compress(MULAN_ARFF), "half as whole", "fine"
    )
    source = {
        "_target_": "experiments.datasets.local_file.arff",
        "path": "x.arff.bz2",
        "labels": ["l2", "l1"],
    }
    data = load(
        {"name": "x", "task": "multilabel", "source": source | {"download": {"url": url}}},
        tmp_path,
        cache=cache,
    )
    assert data.y.toarray().tolist() == [[1, 0], [0, 1]]


def test_sources_are_tried_in_order(server, cache, tmp_path):
    gone = server.put("/gone.csv", CSV.encode(), "404")
    here = server.put("/here.csv", CSV.encode())
    first = delimited(path="first.csv", download={"url": gone})["source"]
    second = delimited(path="second.csv", download={"url": here})["source"]
    dataset = {"name": "x", "task": "multiclass", "sources": [first, second]}
    assert is_right(load(dataset, tmp_path, cache=cache))
    asked = len(server.asked)
    assert load(dataset, tmp_path, cache=cache).origin == "cached"
    assert len(server.asked) == asked  # what is in the cache comes before what might be downloaded
    server.moods["/here.csv"] = ["500"]
    with pytest.raises(MissingFileError) as caught:
        load(dataset, tmp_path, cache=tmp_path / "other")
    message = str(caught.value)
    assert len(message.splitlines()) == 2
    for part in (gone, here, "404", "500", str(tmp_path / "first.csv"), str(tmp_path / "second.csv")):
        assert part in message


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
        return subprocess.run(
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
    assert len(server.asked) == 2 and rows_in(tmp_path / "results")
    assert (cache / "downloads").is_dir() and (cache / "parsed").is_dir()
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
    assert json.dumps(server.paths()).count("/data/v1/download/") == 2  # once more, and then no more


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


def test_a_data_set_that_was_withdrawn_is_told(server, cache, tmp_path, caplog):
    server.put_openml(3, "x", DENSE, row_id_attribute="key", status="deactivated")
    assert is_right(load(block(server, data_id=3), tmp_path, cache=cache))
    assert "data set 3 of OpenML (x) is deactivated" in caplog.text


def test_a_file_that_moved_is_asked_for_anew(server, cache, tmp_path):
    server.put_openml(3, "x", DENSE, "404", row_id_attribute="key")
    with pytest.raises(MissingFileError, match="404"):
        load(block(server, data_id=3), tmp_path, cache=cache)
    moved = server.put("/elsewhere/x.arff", DENSE)
    server.put_openml(3, "x", DENSE, "404", row_id_attribute="key", url=moved)
    assert is_right(load(block(server, data_id=3), tmp_path, cache=cache))
