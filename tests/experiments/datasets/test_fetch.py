"""Downloads: a right file or one clear error, whatever the server does."""

import gzip
import hashlib
import os
import socket
import time
from email.utils import formatdate

import pytest
from downloads import DATA, MD5, SHA256, obtain
from server import files_in, zipped
from studies import patient

from experiments.datasets.download import cache as fetch
from experiments.datasets.download import http
from experiments.errors import ConfigError, DownloadError, MissingFileError

# --- what a server may do

#: Moods after which the file is right all the same.
MENDED = [
    ["fine"],
    ["slow"],
    ["in chunks"],
    ["no ranges"],
    ["redirect"],
    ["500", "fine"],
    ["503", "500", "fine"],
    ["429", "fine"],
    ["busy", "fine"],
    ["hang up", "fine"],
    ["half", "fine"],
    ["half", "half", "fine"],
    ["half", "no ranges"],
    ["half", "wrong range", "fine"],
    ["half in chunks", "fine"],
    ["half then silence", "fine"],
]

#: With a stated checksum these are mended too; without one nothing could tell.
MENDED_BY_CHECKSUM = [
    ["one byte changed", "fine"],
    ["half as whole", "fine"],
    ["half", "one byte changed", "fine"],
]

#: Moods that never end well, and a word of the error.
HOPELESS = [
    (["404"], "404"),
    (["403"], "403"),
    (["410"], "410"),
    (["500"], "HTTP 500"),
    (["half"], "broke off after"),
    (["half in chunks"], "broke off after"),
    (["half then silence"], "timed out"),
    (["hang up"], "cannot be downloaded"),
    (["round"], "redirects"),
    (["page"], "a web page (We are sorry) instead of the file"),
    (["redirect to page"], "a web page"),
    (["pointer"], "Git LFS pointer"),
    (["endless"], "the disk is full"),
    (["empty"], "empty"),
    (["wrong range"], "tried 3 times"),
]

HOPELESS_BY_CHECKSUM = [
    (["one byte changed"], "expected"),
    (["half as whole"], "expected"),
    (["half of unknown length"], "expected"),
]


@pytest.mark.parametrize("checksum", [{}, {"sha256": SHA256}, {"md5": MD5.upper()}])
@pytest.mark.parametrize("moods", MENDED, ids=", ".join)
def test_right_file(server, cache, moods, checksum):
    path = obtain(server.put("/data.csv", DATA, *moods), cache, **checksum)
    assert path.read_bytes() == DATA
    assert files_in(cache) == {"data.csv": DATA}
    asked = len(server.asked)
    assert obtain(server.address + "/data.csv", cache, **checksum) == path
    assert len(server.asked) == asked  # the second time nobody was asked


@pytest.mark.parametrize("moods", MENDED_BY_CHECKSUM, ids=", ".join)
def test_right_file_by_its_checksum(server, cache, moods):
    path = obtain(server.put("/data.csv", DATA, *moods), cache, sha256=SHA256)
    assert path.read_bytes() == DATA


@pytest.mark.parametrize(("moods", "says"), HOPELESS + HOPELESS_BY_CHECKSUM, ids=str)
def test_one_clear_error_and_no_file(server, cache, moods, says):
    checksum = {"sha256": SHA256} if (moods, says) in HOPELESS_BY_CHECKSUM else {}
    url = server.put("/data.csv", DATA, *moods)
    with pytest.raises(DownloadError, match=r"data\.csv") as caught:
        obtain(url, cache, **checksum)
    message = str(caught.value)
    assert says in message and len(message.splitlines()) == 1
    assert files_in(cache) == {}
    # Nothing of it is left to be taken for the file, or mixed with it, once the server has come to its senses.
    server.moods["/data.csv"] = ["fine"]
    assert obtain(url, cache, **checksum).read_bytes() == DATA


def test_checksums_are_told(server, cache):
    url = server.put("/data.csv", DATA, "one byte changed")
    changed = bytearray(DATA)
    changed[len(changed) // 2] ^= 1
    for kind, expected in (("sha256", SHA256), ("md5", MD5)):
        with pytest.raises(DownloadError) as caught:
            obtain(url, cache, **{kind: expected})
        found = hashlib.new(kind, changed).hexdigest()
        assert f"expected {'SHA-256' if kind == 'sha256' else 'MD5'} {expected}, found {found}" in str(
            caught.value
        )


def test_half_a_file_without_a_marked_end_needs_a_checksum(server, cache):
    url = server.put("/data.csv", DATA, "half of unknown length")
    with pytest.raises(DownloadError, match="does not say how long"):
        obtain(url, cache)
    assert files_in(cache) == {}


@pytest.mark.parametrize(
    "content", [gzip.compress(DATA), zipped({"a.csv": DATA}), DATA], ids=["gzip", "zip", "csv"]
)
def test_truncated_packed_file_is_noticed_without_a_checksum(server, cache, content):
    packed = content != DATA
    url = server.put("/data.csv.gz", content, "half as whole")
    if not packed:
        # Half a text file that the server calls whole is a text file: only a checksum, or the sizes that the YAML
        # file states, can tell.
        assert obtain(url, cache).read_bytes() == DATA[: len(DATA) // 2]
        return
    with pytest.raises(DownloadError, match=r"no whole (gzip|zip)"):
        obtain(url, cache)
    assert files_in(cache) == {}
    server.moods["/data.csv.gz"] = ["half as whole", "fine"]
    assert obtain(url, cache).read_bytes() == content


def test_goes_on_where_it_stopped(server, cache):
    url = server.put("/data.csv", DATA, "half", "fine")
    obtain(url, cache)
    first, second = (headers for _, headers in server.asked)
    assert "Range" not in first
    resumed = int(second["Range"].removeprefix("bytes=").removesuffix("-"))
    assert len(DATA) // 2 - 65536 <= resumed <= len(DATA) // 2
    assert second["If-Range"].startswith('"')  # the file's tag: the server sends a range of that file, or all


def test_starts_again_where_the_server_does_not_tell_files_apart(server, cache):
    url = server.put("/data.csv", DATA, "half untagged", "fine")
    assert obtain(url, cache).read_bytes() == DATA
    assert [headers.get("Range") for _, headers in server.asked] == [None, None]


def test_killed_after_the_last_byte(server, cache):
    """Asked for what comes after the end, a server answers 416."""
    url = server.put("/data.csv", DATA, "half")
    with pytest.raises(DownloadError):
        obtain(url, cache)
    (part,) = cache.rglob("part")
    part.write_bytes(DATA)
    server.moods["/data.csv"] = ["fine"]
    assert obtain(url, cache).read_bytes() == DATA
    assert [headers.get("Range") for _, headers in server.asked[-2:]] == [f"bytes={len(DATA)}-", None]


def test_another_file_in_the_meantime_is_not_mixed_with_the_first(server, cache):
    other = bytes(reversed(DATA))
    url = server.put("/data.csv", DATA, "half")
    with pytest.raises(DownloadError):
        obtain(url, cache)
    server.put("/data.csv", other)
    assert obtain(url, cache).read_bytes() == other
    assert "Range" in server.asked[-1][1]  # asked to go on, and told that it cannot


def test_waits_longer_each_time(server, cache, monkeypatch):
    waits = []
    monkeypatch.setattr(http.time, "sleep", waits.append)
    monkeypatch.setattr(http, "PATIENCE", http.Patience(attempts=5, first_wait=1, longest_wait=6))
    with pytest.raises(DownloadError, match="tried 5 times"):
        obtain(server.put("/data.csv", DATA, "500"), cache)
    assert waits == [0, 2, 4, 6] and len(server.asked) == 5


def test_waits_as_long_as_the_server_asks_for(server, cache, monkeypatch):
    waits = []
    monkeypatch.setattr(http.time, "sleep", waits.append)
    monkeypatch.setattr(http, "PATIENCE", http.Patience(longest_wait=6))
    for asked in ("1", formatdate(time.time() + 100, usegmt=True), "soon", "-3"):
        server.retry_after = asked
        obtain(server.put(f"/{len(waits)}.csv", DATA, "busy", "fine"), cache)
    assert waits == [1, 6, 0, 0]


@pytest.mark.parametrize("mood", ["404", "page", "endless"])
def test_what_will_not_change_is_not_asked_for_again_and_again(server, cache, mood):
    with pytest.raises(DownloadError):
        obtain(server.put("/data.csv", DATA, mood), cache)
    assert len(server.asked) <= 2


def test_nobody_there(cache):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/data.csv"
        started = time.monotonic()
        with pytest.raises(DownloadError, match="refused"):
            obtain(url, cache)
    assert time.monotonic() - started < patient(5)


# --- archives


def test_members_of_archives(server, cache):
    inner = {"set/data.csv": DATA, "set/labels.csv": b"a\nb\n", "other/labels.csv": b"c\n"}
    url = server.put_uci(401, "gene+expression", {"readme.txt": b"hello", "inner.tar.gz": inner})
    assert obtain(url, cache, member=["inner.tar.gz", "set/data.csv"]).read_bytes() == DATA
    assert obtain(url, cache, member=["inner.tar.gz", "data.csv"]).read_bytes() == DATA
    assert obtain(url, cache, member=["inner.tar.gz", "set/labels.csv"]).read_bytes() == b"a\nb\n"
    assert obtain(url, cache, member="readme.txt").read_bytes() == b"hello"
    assert len(server.asked) == 1  # one download serves them all
    for member, says in (
        ("data.csv", "no file data.csv; there are: readme.txt, inner.tar.gz"),
        (["inner.tar.gz", "labels.csv"], "2 files labels.csv"),
        (["readme.txt", "x"], "no whole zip, tar or rar archive"),
    ):
        with pytest.raises(DownloadError, match=says):
            obtain(url, cache, member=member)


def test_damaged_archive(server, cache):
    archive = zipped({"data.csv": os.urandom(50000)})
    changed = bytearray(archive)
    changed[25000] ^= 1
    url = server.put("/data.zip", bytes(changed))
    with pytest.raises(DownloadError, match="no whole zip archive"):
        obtain(url, cache, member="data.csv")
    # A checksum of the archive is compared with the archive, and not with what is taken out of it.
    stated = hashlib.sha256(archive).hexdigest()
    with pytest.raises(DownloadError, match=stated):
        obtain(url, cache, member="data.csv", sha256=stated)
    server.put("/data.zip", archive)
    assert len(obtain(url, cache, member="data.csv", sha256=stated).read_bytes()) == 50000


def test_damaged_member_is_taken_out_again(server, cache):
    url = server.put("/data.zip", zipped({"data.csv": DATA}))
    path = obtain(url, cache, member="data.csv")
    path.write_bytes(DATA[:-5])
    assert obtain(url, cache, member="data.csv").read_bytes() == DATA
    assert len(server.asked) == 1


# --- slips


@pytest.mark.parametrize(
    ("download", "says"),
    [
        ({"url": "http://127.0.0.1/x", "sha": "1"}, "'sha'; did you mean sha256"),
        ({"url": "data.csv"}, "expected an address"),
        ({}, "expected an address"),
        ({"url": "http://127.0.0.1/x", "sha256": "abc"}, "64 hexadecimal digits"),
        ({"url": "http://127.0.0.1/x", "md5": "g" * 32}, "32 hexadecimal digits"),
    ],
)
def test_slips(cache, download, says):
    with pytest.raises(ConfigError, match=says):
        fetch.obtain("data.csv", download=download, cache=cache)


def test_no_address(cache, tmp_path):
    with pytest.raises(MissingFileError, match=f"data.csv not found .*{tmp_path}.* no address"):
        fetch.obtain("data.csv", places=[tmp_path], cache=cache)


def test_unknown_protocol_and_unreadable_address(cache):
    for url in ("gopher://127.0.0.1/x", "http://127.0.0.1:notaport/x", "http:///x"):
        with pytest.raises(DownloadError, match="cannot be downloaded"):
            obtain(url, cache)
