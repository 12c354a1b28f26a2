"""Downloads: a right file or one clear error, whatever the server does; archives and packed files within bounds."""

import bz2
import gzip
import hashlib
import io
import os
import socket
import tarfile

import pytest
from downloads import DATA, MD5, SHA256, obtain
from server import files_in, zipped

from experiments.datasets import download
from experiments.datasets.download import Content, find, read_file, read_files
from experiments.errors import ConfigError, DatasetError, DownloadError, MissingFileError
from experiments.paths import Places

MENDED = ["fine", "in chunks", "slow", "redirect"]
MENDED_BY_ANOTHER_TRY = ["500", "429", "hang up", "half", "half in chunks"]
WITH_CHECKSUM = ["one byte changed", "half as whole", "half of unknown length", "page", "empty"]


@pytest.mark.parametrize("checksum", [{}, {"sha256": SHA256}, {"md5": MD5.upper()}])
@pytest.mark.parametrize(
    "moods", [*([each] for each in MENDED), *([each, "fine"] for each in MENDED_BY_ANOTHER_TRY)]
)
def test_right_file_and_the_second_time_no_connection(server, cache, moods, checksum):
    url = server.put("/data.csv", DATA, *moods)
    assert obtain(url, cache, **checksum) == DATA and files_in(cache) == {"data.csv": DATA}
    asked = len(server.asked)
    assert obtain(url, cache, allow=False, **checksum) == DATA and len(server.asked) == asked


@pytest.mark.parametrize("mood", WITH_CHECKSUM)
@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_another_file_than_stated(server, cache, mood, kind):
    expected = {"sha256": SHA256, "md5": MD5}
    url = server.put("/data.csv", DATA, mood)
    with pytest.raises(DownloadError) as caught:
        obtain(url, cache, **{kind: expected[kind]})
    assert expected[kind] in str(caught.value) and len(str(caught.value).splitlines()) == 1
    assert files_in(cache) == {}
    server.moods["/data.csv"] = [mood, "fine"]
    assert obtain(url, cache, **{kind: expected[kind]}) == DATA


@pytest.mark.parametrize(
    ("mood", "says", "tries"),
    [
        ("404", "404", 1),
        ("410", "410", 1),
        ("500", "500", 3),
        ("half", "bytes", 3),
        ("hang up", "closed", 3),
        ("round", "redirects", 3),
        ("controls", "404", 1),
        ("odd length", "int", 3),
        ("long length", "digits", 3),
    ],
)
def test_one_clear_error_and_no_file(server, cache, mood, says, tries):
    url = server.put("/data.csv", DATA, mood)
    with pytest.raises(DownloadError, match=r"data\.csv cannot be downloaded") as caught:
        obtain(url, cache)
    message = str(caught.value)
    assert says in message and message.isprintable() and files_in(cache) == {}
    assert mood == "round" or len(server.asked) == tries


def test_nothing_listens(cache):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = unused.getsockname()[1]
    with pytest.raises(DownloadError, match="cannot be downloaded"):
        obtain(f"http://127.0.0.1:{address}/data.csv", cache)


def test_an_answer_that_unpacks_itself_has_a_bound(server, cache, monkeypatch):
    monkeypatch.setattr(download, "MOST_BYTES", 10**6)
    for mood in ("fine", "packed"):
        url = server.put(f"/{mood}.csv", b"0" * (10**6 + 1), mood)
        with pytest.raises(DownloadError, match=r"it sends more than .* GiB"):
            obtain(url, cache)
        assert files_in(cache) == {}


def test_a_file_of_the_cache_that_was_cut_is_downloaded_again(server, cache):
    url = server.put("/data.csv", DATA)
    obtain(url, cache, sha256=SHA256)
    (file,) = (cache / "downloads").iterdir()
    file.write_bytes(DATA[:-5])
    with pytest.raises(MissingFileError, match=f"is cut off or changed: expected SHA-256 {SHA256}"):
        obtain(url, cache, allow=False, sha256=SHA256)
    assert obtain(url, cache, sha256=SHA256) == DATA and len(server.asked) == 2


def test_offline(server, cache, monkeypatch):
    url = server.put("/data.csv", DATA)
    monkeypatch.setenv("RELIEFE_OFFLINE", "1")
    with pytest.raises(MissingFileError, match="RELIEFE_OFFLINE is set"):
        obtain(url, cache)
    assert not server.asked


# --- local, cached, downloaded


def test_local_before_cache_before_download(server, cache, tmp_path):
    local = tmp_path / "local"
    block = {"url": server.put("/data.csv", DATA), "sha256": SHA256}
    places = Places((local,), cache, True)
    assert read_file("data.csv", places, download=block).data == DATA
    assert read_file("data.csv", places, download=block).data == DATA
    local.mkdir()
    (local / "data.csv").write_bytes(b"mine")
    assert read_file("data.csv", places, download=block).data == b"mine"
    assert places.used == ["downloaded", "cached", "local"] and len(server.asked) == 1
    with pytest.raises(DatasetError, match="expected SHA-256"):
        read_file("data.csv", places, sha256=SHA256, download=block)


def test_a_folder_of_the_name_does_not_end_the_search(server, cache, tmp_path):
    (tmp_path / "data.csv").mkdir()
    with pytest.raises(MissingFileError, match=r"data\.csv is a folder; give the file in it"):
        find("data.csv", [tmp_path])
    block = {"url": server.put("/data.csv", DATA)}
    assert read_file("data.csv", Places((tmp_path,), cache, True), download=block).data == DATA


@pytest.mark.skipif(os.name != "posix", reason="no pipes with names on this system")
def test_a_pipe_is_not_a_file(tmp_path):
    os.mkfifo(tmp_path / "data.csv")
    with pytest.raises(MissingFileError, match="is not a regular file"):
        find("data.csv", [tmp_path])


# --- packed files and archives


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_damaged_and_empty_packed_files(pack):
    assert Content("a", pack(DATA), "").data == DATA
    with pytest.raises(DatasetError, match="damaged or truncated"):
        _ = Content("a", pack(DATA)[:-9], "").data
    with pytest.raises(DatasetError, match="it is empty"):
        _ = Content("a.gz", b"", "").data


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_unpacking_is_bounded_by_memory(pack, monkeypatch):
    monkeypatch.setattr(download, "MEMORY_SHARE", 1e-9)
    with pytest.raises(DatasetError, match=r"larger than .* GiB when it is unpacked"):
        _ = Content("a", pack(b"0" * 10**6), "").data


def test_members_of_archives(server, cache):
    inner = {"set/data.csv": DATA, "set/labels.csv": b"a\nb\n", "other/labels.csv": b"c\n"}
    url = server.put_uci(401, "gene+expression", {"readme.txt": b"hello", "inner.tar.gz": inner})
    assert obtain(url, cache, member=["inner.tar.gz", "set/data.csv"]) == DATA
    assert obtain(url, cache, member=["inner.tar.gz", "data.csv"]) == DATA
    assert obtain(url, cache, member="readme.txt") == b"hello"
    assert len(server.asked) == 1
    for member, says in (
        ("data.csv", "holds 0 files data.csv; it holds: readme.txt, inner.tar.gz"),
        (["inner.tar.gz", "labels.csv"], "2 files labels.csv"),
        (["readme.txt", "x"], "not a zip or tar archive"),
    ):
        with pytest.raises(DownloadError, match=says):
            obtain(url, cache, member=member)


def test_damaged_archive(server, cache, monkeypatch):
    archive = zipped({"data.csv": os.urandom(50000)})
    url = server.put("/data.zip", archive[:25000] + bytes([archive[25000] ^ 1]) + archive[25001:])
    with pytest.raises(DownloadError, match="damaged"):
        obtain(url, cache, member="data.csv")
    with pytest.raises(DownloadError, match="expected SHA-256"):
        obtain(url, cache, member="data.csv", sha256=hashlib.sha256(archive).hexdigest())
    monkeypatch.setattr(download, "MEMORY_SHARE", 1e-9)
    with pytest.raises(DatasetError, match="larger than"):
        obtain(server.put("/other.zip", archive), cache, member="data.csv")


def test_links_in_archives_are_not_followed(server, cache):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        link = tarfile.TarInfo("data.csv")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(DownloadError, match="0 files"):
        obtain(server.put("/data.tar", buffer.getvalue()), cache, member="data.csv")


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ({"url": "http://127.0.0.1/x", "sha": "1"}, "'sha'; did you mean sha256"),
        ({"url": "data.csv"}, "expected an address"),
        ({}, "expected an address"),
        ({"url": "http://127.0.0.1/x", "sha256": "abc"}, "64 hexadecimal digits"),
        ({"url": "http://127.0.0.1/x", "md5": "g" * 32}, "32 hexadecimal digits"),
    ],
)
def test_slips(cache, block, says):
    with pytest.raises(ConfigError, match=says):
        read_file("data.csv", Places((), cache, True), download=block)


def test_files_of_a_source(tmp_path):
    with pytest.raises(ConfigError, match="either path or files"):
        read_files([tmp_path], "a", [{"path": "b"}])
    with pytest.raises(ConfigError, match="'pth'; did you mean path"):
        read_files([tmp_path], files=[{"pth": "b"}])
