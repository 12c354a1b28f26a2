"""The cache of downloads: full disks, damaged copies, several processes, processes that are killed."""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from downloads import DATA, SHA256, obtain
from folders import PROJECT_ROOT
from server import HASTY, files_in, zipped

from experiments.datasets.download import cache as fetch
from experiments.datasets.download import http
from experiments.errors import DatasetError, DownloadError, MissingFileError

# --- disk


def test_full_disk(server, cache, monkeypatch):
    url = server.put("/data.csv", DATA)
    path_open = Path.open

    def onto_full_disk(self, mode="r", *rest, **more):
        return path_open(Path("/dev/full") if self.name == "part" else self, mode, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", onto_full_disk)
        with pytest.raises(DownloadError) as caught:
            obtain(url, cache)
    for part in (url, str(cache), "the disk is full", "paths.cache=FOLDER", "RELIEFE_CACHE"):
        assert part in str(caught.value)
    assert files_in(cache) == {}
    assert obtain(url, cache).read_bytes() == DATA


def test_full_disk_while_unpacking(server, cache, monkeypatch):
    url = server.put("/data.zip", zipped({"data.csv": DATA}))
    path_open = Path.open

    def onto_full_disk(self, mode="r", *rest, **more):
        return path_open(Path("/dev/full") if self.name == "member0" else self, mode, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", onto_full_disk)
        with pytest.raises(DownloadError, match="the disk is full"):
            obtain(url, cache, member="data.csv")
    assert "data.csv" not in files_in(cache)
    assert obtain(url, cache, member="data.csv").read_bytes() == DATA


@pytest.mark.parametrize("limit", [4096, 60000])
def test_no_room_for_more_in_a_process_of_its_own(server, cache, limit):
    url = server.put("/data.csv", DATA)
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
    done = in_process(url, cache, before=code)
    assert done.returncode == 1 and "paths.cache=FOLDER" in done.stderr
    assert files_in(cache) == {} and list(cache.rglob("part")) == []
    assert obtain(url, cache).read_bytes() == DATA


def test_cache_that_cannot_be_made(server, cache):
    cache.write_text("a file where the folder should be")
    with pytest.raises(DownloadError, match=r"paths\.cache=FOLDER"):
        obtain(server.put("/data.csv", DATA), cache)
    assert server.asked == []


# --- what is in the cache


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a socket was opened")

    return lambda: [
        monkeypatch.setattr(socket, name, refuse) for name in ("socket", "create_connection", "getaddrinfo")
    ]


@pytest.mark.parametrize("checksum", [{}, {"sha256": SHA256}])
def test_cached_file_needs_no_network_and_stays(server, cache, no_network, checksum):
    url = server.put("/data.csv", DATA)
    path = obtain(url, cache, **checksum)
    before = {each: each.stat().st_mtime_ns for each in cache.rglob("*")}
    no_network()
    assert obtain(url, cache, **checksum) == path
    assert fetch.obtain("x", download={"url": url, **checksum}, cache=cache, allow_download=False) == path
    assert {each: each.stat().st_mtime_ns for each in cache.rglob("*")} == before


def test_local_file_comes_first(server, cache, tmp_path, no_network):
    local = tmp_path / "local" / "data.csv"
    local.parent.mkdir()
    local.write_bytes(DATA)
    no_network()
    download = {"url": server.address + "/data.csv"}
    settings = {"places": [tmp_path / "nowhere", local.parent], "download": download, "cache": cache}
    assert fetch.obtain("data.csv", sha256=SHA256, **settings) == local
    assert not cache.exists()
    local.write_bytes(DATA[:-1])
    with pytest.raises(DatasetError) as caught:
        fetch.obtain("data.csv", sha256=SHA256, **settings)
    assert not isinstance(caught.value, MissingFileError)  # never passed over for a download
    for part in (str(local), SHA256, hashlib.sha256(DATA[:-1]).hexdigest(), "replace it"):
        assert part in str(caught.value)
    assert local.read_bytes() == DATA[:-1]


@pytest.mark.parametrize("checksum", [{}, {"sha256": SHA256}])
@pytest.mark.parametrize("damage", ["half", "one byte", "empty"])
def test_damaged_copy_is_never_used(server, cache, damage, checksum):
    url = server.put("/data.csv", DATA)
    path = obtain(url, cache, **checksum)
    middle = len(DATA) // 2
    bad = {"half": DATA[:middle], "one byte": DATA[:middle] + b"#" + DATA[middle + 1 :], "empty": b""}[damage]
    path.write_bytes(bad)
    server.moods["/data.csv"] = ["404"]
    for settings in ({"allow_download": False}, {}):
        with pytest.raises(MissingFileError) as caught:
            fetch.obtain("data.csv", download={"url": url, **checksum}, cache=cache, **settings)
        for part in (str(path), SHA256, hashlib.sha256(bad).hexdigest()):
            assert part in str(caught.value)
    assert path.read_bytes() == bad  # deletes nothing
    server.moods["/data.csv"] = ["fine"]
    assert obtain(url, cache, **checksum).read_bytes() == DATA


def test_checksum_is_recorded_on_first_use_and_binds(server, cache):
    url = server.put("/data.csv", DATA)
    path = obtain(url, cache)
    record = json.loads(path.with_name(path.name + ".json").read_text())
    assert record["sha256"] == SHA256 and record["url"] == url and record["bytes"] == len(DATA)
    path.unlink()
    server.put("/data.csv", DATA + b"1,1\n")
    with pytest.raises(DownloadError, match=r"recorded on first use.*delete .*\.json"):
        obtain(url, cache)
    path.with_name(path.name + ".json").unlink()
    assert obtain(url, cache).read_bytes() == DATA + b"1,1\n"


def test_file_without_a_record_is_not_trusted(server, cache):
    url = server.put("/data.csv", DATA)
    path = obtain(url, cache)
    for damage in (lambda record: record.unlink(), lambda record: record.write_text("{")):
        path.write_bytes(DATA[:100])
        damage(path.with_name(path.name + ".json"))
        assert obtain(url, cache).read_bytes() == DATA


def test_offline(server, cache, monkeypatch):
    url = server.put("/data.csv", DATA)
    monkeypatch.setenv("RELIEFE_OFFLINE", "1")
    with pytest.raises(MissingFileError, match="RELIEFE_OFFLINE is set"):
        obtain(url, cache)
    assert server.asked == []
    monkeypatch.delenv("RELIEFE_OFFLINE")
    path = obtain(url, cache)
    monkeypatch.setenv("RELIEFE_OFFLINE", "1")
    assert obtain(url, cache) == path


def test_default_cache_is_named_by_the_environment(server, cache, monkeypatch):
    monkeypatch.setenv("RELIEFE_CACHE", str(cache))
    assert obtain(server.put("/data.csv", DATA), None).is_relative_to(cache)


def test_names_that_are_no_file_names(server, cache):
    url = server.put("/get", DATA) + "?id=1&file=../../etc/x"
    server.put("/get?id=1&file=../../etc/x", DATA)
    path = obtain(url, cache)
    assert path.parent == cache / "downloads" and path.read_bytes() == DATA


# --- processes

PROGRAM = """
import sys
from experiments.datasets.download import cache as fetch
from experiments.datasets.download import http
from experiments.errors import BadInputError
{before}
http.PATIENCE = http.{patience!r}
try:
    print(fetch.obtain("data.csv", download={download!r}, cache={cache!r}))
except BadInputError as error:
    sys.exit(str(error))
"""


def program(url, cache, before="", patience=HASTY, **download):
    text = PROGRAM.format(
        before=before, patience=patience, download={"url": url, **download}, cache=str(cache)
    )
    environment = {key: value for key, value in os.environ.items() if key != "RELIEFE_OFFLINE"}
    return {
        "args": [sys.executable, "-c", text],
        "cwd": PROJECT_ROOT,
        "env": environment,
        "text": True,
    }


def in_process(url, cache, **settings):
    return subprocess.run(**program(url, cache, **settings), capture_output=True, timeout=300)


def test_processes_at_once_download_once(server, cache):
    url = server.put("/data.zip", zipped({"data.csv": DATA}), "slow")
    running = [
        subprocess.Popen(
            **program(url, cache, member="data.csv"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(6)
    ]
    outcomes = [each.communicate(timeout=300) for each in running]
    assert [each.returncode for each in running] == [0] * 6, outcomes
    assert len({out for out, _ in outcomes}) == 1
    assert Path(outcomes[0][0].strip()).read_bytes() == DATA
    assert len(server.asked) == 1


def test_killed_in_the_middle(server, cache):
    url = server.put("/data.csv", DATA, "half then silence", "fine")
    patient = http.Patience(read_timeout=30)
    running = subprocess.Popen(**program(url, cache, patience=patient), stdout=subprocess.PIPE)
    deadline = time.monotonic() + 300  # a busy machine starts programs slowly
    while not [each for each in cache.rglob("part") if each.stat().st_size >= len(DATA) // 2 - 65536]:
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert files_in(cache) == {}
    assert obtain(url, cache).read_bytes() == DATA
    assert "Range" in server.asked[-1][1]  # what the dead process had got was not thrown away
    assert list((cache / "downloads").glob("*.arriving")) == []


def test_progress_is_shown_on_a_terminal_only(server, cache):
    url = server.put("/data.csv", DATA, "slow")
    assert in_process(url, cache / "log").stderr == ""
    terminal, inner = os.openpty()
    termios.tcsetwinsize(inner, (24, 80))
    running = subprocess.Popen(**program(url, cache / "screen"), stdout=subprocess.DEVNULL, stderr=inner)
    os.close(inner)
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:  # the other side is closed
        pass
    os.close(terminal)
    assert running.wait(300) == 0
    assert b"data.csv" in shown and b"100%" in shown and b"B/s" in shown
