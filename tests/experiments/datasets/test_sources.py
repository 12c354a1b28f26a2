"""The other layouts of public sources, and the real files from the addresses of the project's own YAML files."""

import bz2
import gzip
import hashlib
import json
from urllib.parse import urlsplit

import pytest
from openml_table import CLASSES, ROWS, VALUES, is_right
from stated_datasets import NAMES, stated

from experiments.datasets import load
from experiments.datasets.download import obtain, unpacked
from experiments.errors import DatasetError, MissingFileError
from experiments.paths import Places, source_blocks

CSV = "a,b,c,class\n" + "".join(f"{','.join(map(str, VALUES[row]))},{CLASSES[row]}\n" for row in range(ROWS))


def delimited(**source):
    source = {
        "_target_": "experiments.datasets.readers.text.delimited",
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
    source = {"_target_": "experiments.datasets.readers.arff.mulan", "files": files}
    data = load({"name": "x", "task": "multilabel", "source": source}, tmp_path, cache=cache)
    assert data.y.toarray().tolist() == [[1, 0], [0, 1]] and data.X.toarray().tolist() == [[2], [0]]


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
    url = server.put_github("Waikato/meka", "src/main/data/X.arff.bz2", bz2.compress(MULAN_ARFF))
    source = {
        "_target_": "experiments.datasets.readers.arff.arff",
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


# --- the real files, from the addresses of the project's own YAML files


def file_blocks(source):
    """The blocks of a source that name a file and where it can be had."""
    blocks = [source, *(source.get("files") or []), source.get("target_file") or {}]
    return [each for each in blocks if "path" in each and "download" in each]


def there(local_data):
    """Every (data set, file block) whose file is in the local folder."""
    return [
        (name, each)
        for name in NAMES
        for source in source_blocks(stated(name))
        for each in file_blocks(source)
        if (local_data / each["path"]).is_file()
    ]


def test_stated_checksums_of_downloads_are_those_of_the_files(local_data, server, cache):
    found = there(local_data)
    assert len({name for name, _ in found}) >= 25
    for name, each in found:
        stored = (local_data / each["path"]).read_bytes()
        sha256 = each["download"].get("sha256")
        assert sha256, (name, each["path"])
        # A local copy may be packed where the source has the file as it is.
        content = next(
            part
            for part in (stored, unpacked(stored, each["path"]))
            if hashlib.sha256(part).hexdigest() == sha256
        )
        path = urlsplit(each["download"]["url"]).path
        download = each["download"] | {"url": server.put(path, content)}
        assert obtain(download, Places((), cache, True)).stored == content


def redirected(name, server):
    """The block of a data set, with the server in place of every public address."""
    text = json.dumps(stated(name))
    for host in ("raw.githubusercontent.com", "media.githubusercontent.com", "archive.ics.uci.edu"):
        text = text.replace(f"https://{host}", server.address)
    dataset = json.loads(text)
    for source in source_blocks(dataset):
        if source["_target_"].endswith(".openml"):
            source["server"] = server.address
    return dataset


def test_chess_of_openml_is_the_papers(local_data, server, cache, tmp_path):
    arff = gzip.decompress((local_data / "chess" / "kr-vs-kp.arff.gz").read_bytes())
    server.put_openml(3, "kr-vs-kp", arff, "500", "fine")
    data = load(redirected("chess", server), tmp_path, cache=cache)  # nobody else has it here
    assert data.origin == "downloaded" and "/data/v1/download/50003/kr-vs-kp.arff" in server.paths()
    assert data.checksum == load(stated("chess"), local_data).checksum


@pytest.mark.parametrize("name", ["emotions", "dlbcl", "optdigits"])
def test_downloaded_data_set_is_the_local_one(local_data, server, cache, tmp_path, name):
    for _, each in there(local_data):
        stored = (local_data / each["path"]).read_bytes()
        server.put(urlsplit(each["download"]["url"]).path, unpacked(stored, each["path"]), "half", "fine")
    if name == "optdigits":  # an archive, of which the two parts are members
        lines = gzip.decompress((local_data / "optdigits" / "optdigits.dat.gz").read_bytes()).splitlines()
        parts = {"optdigits.tra": lines[:3823], "optdigits.tes": lines[3823:]}
        archive = {part: b"\n".join(each) + b"\n" for part, each in parts.items()}
        server.put_uci(80, "optical+recognition+of+handwritten+digits", archive)
    dataset = redirected(name, server)
    for source in source_blocks(dataset):
        for each in file_blocks(source) if name == "optdigits" else ():
            each["download"].pop("sha256", None)  # of the archive as UCI packs it
    data = load(dataset, tmp_path, cache=cache)
    assert data.origin == "downloaded"
    assert data.checksum == load(stated(name), local_data).checksum
