"""The store: whole files or none, nothing torn read as data, nothing deleted, keys that see every changed input."""

import os
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stored import KEY, OTHER, rows, same, visible

from experiments.store.rows import to_frame, to_table
from experiments.store.store import Store, cell_key


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


# --- keys ---


def test_keys_see_what_decides_and_not_how_it_is_written():
    key = cell_key({"a": 1, "b": {"c": [1.5, "x", None], "d": True}})
    assert len(key) == 64 and set(key) <= set("0123456789abcdef")
    assert key == cell_key({"b": {"d": True, "c": (1.5, "x", None)}, "a": 1})
    assert key == cell_key(
        {"b": {"d": np.True_, "c": [np.float64(1.5), np.str_("x"), None]}, "a": np.int32(1)}
    )
    for other in (
        {"a": 2, "b": {"c": [1.5, "x", None], "d": True}},
        {"a": 1, "b": {"c": [1.5, None, "x"], "d": True}},
        {"a": 1, "b": {"c": [1.5, "x", None], "d": False}},
        {"a": "1", "b": {"c": [1.5, "x", None], "d": True}},
        {"a": 1, "b": {"c": [1.5, "x", None]}, "d": True},
    ):
        assert cell_key(other) != key


def test_a_key_is_the_same_in_every_version_of_this_program():
    assert cell_key({"b": 1.0, "a": [True, None, "ž"]}) == (
        "8fd034f766316b310fa3bff07b1ac26003a060e8f7aea307fda77ae1a948e8a3"
    )


def test_whole_numbers_and_fractions_are_told_apart():
    # max_features=1 is one column, max_features=1.0 is all of them.
    assert cell_key({"max_features": 1}) != cell_key({"max_features": 1.0})
    assert cell_key({"flag": True}) != cell_key({"flag": 1})
    assert cell_key({"x": 0.0}) == cell_key({"x": -0.0})


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), np.float32("nan")])
def test_numbers_that_equal_nothing_are_refused(bad):
    with pytest.raises(ValueError, match=r"key\.ranker\.x\[1\]"):
        cell_key({"ranker": {"x": [1, bad]}})


@pytest.mark.parametrize("bad", [Path("x"), np.zeros(2), {1, 2}, object(), {1: 2}, b"x"])
def test_what_has_no_one_text_is_refused(bad):
    with pytest.raises(TypeError, match=r"key\.x"):
        cell_key({"x": bad})


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(), values, max_size=4))
def test_any_order_of_keys_gives_the_same_key(content):
    def turned(value):
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(each) for each in value] if isinstance(value, list) else value

    assert cell_key(content) == cell_key(turned(content))


# --- one process ---


def test_what_is_written_is_read(store):
    assert store.read(KEY) is None and not store.has(KEY)
    assert not store.results.exists()  # looking makes nothing
    store.write(KEY, rows())
    assert store.has(KEY) and same(store.read_table(KEY), rows())
    frame = store.read(KEY)
    assert frame["fold"].tolist() == [0, 1, 2]
    assert np.isnan(frame["f1_micro"][0][1]) and np.isnan(frame["latent_dimension"][0])
    store.write(OTHER, to_frame(rows(OTHER)))  # a frame does as well
    assert same(store.read_table(OTHER), rows(OTHER))
    assert store.path(KEY) == store.results / "rows" / KEY[:2] / f"{KEY}.parquet"
    assert [path.name for path in store.results.rglob("*") if path.is_file()].count(f"{KEY}.parquet") == 1
    assert not list(store.results.rglob("*.tmp")) and not store.quarantined


def test_a_file_is_parquet_with_checksums_for_everyone(store):
    store.write(KEY, rows())
    table = pq.read_table(store.path(KEY), page_checksum_verification=True)
    assert same(table.replace_schema_metadata(None), rows())
    assert b"rows_version" in table.schema.metadata


def test_failed_rows_are_kept_but_the_cell_is_not_done(store):
    store.write(KEY, rows(status="failed"))
    assert not store.has(KEY)
    assert store.read(KEY)["error"].tolist() == ["ValueError: boom"] * 3
    store.write(KEY, rows())
    assert store.has(KEY)
    store.write(KEY, rows(status="failed"))  # another process, out of memory perhaps
    assert store.has(KEY)


def test_rows_of_another_cell_or_none_are_refused(store):
    with pytest.raises(ValueError, match="another cell"):
        store.write(OTHER, rows(KEY))
    with pytest.raises(ValueError, match="another cell"):
        store.write(KEY, rows(n=0))
    with pytest.raises(ValueError, match="not columns of a row: colour"):
        to_table([{"colour": "red"}])
    with pytest.raises(ValueError, match="fold"):
        store.write(KEY, to_frame(rows()).drop(columns="fold"))
    for key in ("", "x" * 64, "../" + "a" * 61, KEY.upper()):
        with pytest.raises(ValueError, match="not the key"):
            store.path(key)
    assert not store.results.exists()


def test_no_byte_can_change_a_row_unseen(store):
    """Each changed byte is seen, or is one that no number, text or name depends on."""
    store.write(KEY, rows(n=1))
    path, table = store.path(KEY), rows(n=1)
    good = path.read_bytes()
    n_seen = 0
    for place in range(0, len(good), 3):
        bad = bytearray(good)
        bad[place] ^= 1 << place % 8
        path.write_bytes(bad)
        found = store.read_table(KEY)
        assert found is None or same(found, table), place
        assert path.exists() == (found is not None)
        n_seen += found is None
    assert n_seen == len(store.quarantined) > len(good) / 6
    path.write_bytes(good)
    assert same(store.read_table(KEY), table)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99, 1.0])
def test_a_torn_file_is_quarantined_named_and_kept(store, caplog, share):
    store.write(KEY, rows())
    path = store.path(KEY)
    whole = path.read_bytes()
    torn = whole[: int(share * len(whole)) - (share == 1.0)]
    path.write_bytes(torn)
    assert store.read(KEY) is None
    (aside,) = store.quarantined
    assert aside.path == path and not path.exists()
    assert aside.moved_to.parent == store.results / "aside" and aside.moved_to.read_bytes() == torn
    assert str(path) in caplog.text and str(aside.moved_to) in caplog.text
    store.write(KEY, rows())
    assert store.has(KEY) and len(list((store.results / "aside").iterdir())) == 1


def loop(path):
    path.symlink_to(path.name)


FOREIGN = {
    "text": lambda path: path.write_text("not parquet"),
    "parquet": lambda path: pq.write_table(rows(), path),
    "folder": lambda path: path.mkdir(),
    "pipe": lambda path: os.mkfifo(path),
    "loop of links": loop,
    "link that leads nowhere": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("place", ["cell", "pack"])
@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_no_file_of_this_program_is_put_aside(store, kind, place):
    store.write(OTHER, rows(OTHER))
    path = store.path(KEY) if place == "cell" else store.results / "rows" / "packs" / "x.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    FOREIGN[kind](path)
    assert store.states([KEY, OTHER]) == {OTHER: "ok"}
    (aside,) = store.quarantined
    assert os.path.lexists(aside.moved_to) and not os.path.lexists(path) and aside.path == path
    assert not store.has(KEY) and store.has(OTHER)


def test_the_good_file_of_another_cell_is_foreign_here(store):
    store.write(OTHER, rows(OTHER))
    store.path(KEY).parent.mkdir(parents=True, exist_ok=True)
    os.link(store.path(OTHER), store.path(KEY))
    assert store.read(KEY) is None and "another cell" in store.quarantined[0].reason
    assert store.has(OTHER)


def test_rows_of_another_version_are_foreign(store, monkeypatch):
    monkeypatch.setattr("experiments.store.files.ROWS_VERSION", 999)
    store.write(KEY, rows())
    assert store.has(KEY)
    monkeypatch.undo()
    assert store.read(KEY) is None and "columns" in store.quarantined[0].reason


def test_a_good_file_that_came_in_between_is_not_quarantined(store, monkeypatch):
    """Another process replaces the torn file after it was read here and before it is moved."""
    store.write(KEY, rows())
    path = store.path(KEY)
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    rename = os.rename

    def late(source, target):
        path.write_bytes(whole)
        rename(source, target)

    monkeypatch.setattr(os, "rename", late)
    assert same(store.read_table(KEY), rows())
    assert store.has(KEY) and not store.quarantined


def test_a_torn_file_that_was_moved_by_another_process_is_no_error(store, monkeypatch):
    store.write(KEY, rows())
    path = store.path(KEY)
    path.write_bytes(b"torn")

    def first(source, target):
        path.unlink()
        raise FileNotFoundError(source)

    monkeypatch.setattr(os, "rename", first)
    assert store.read(KEY) is None and not store.quarantined


def test_a_full_disk_leaves_things_as_they_were(store, monkeypatch):
    store.write(KEY, rows())
    before = store.path(KEY).read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.write(KEY, rows(value=0.7))
    monkeypatch.undo()
    assert store.path(KEY).read_bytes() == before and not list(store.results.rglob("*.tmp"))


def test_the_content_is_on_disk_before_it_gets_its_name(store, monkeypatch):
    order = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: (order.append("sync"), fsync(descriptor)))
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append("rename"), replace(a, b)))
    store.write(KEY, rows())
    assert order == ["sync", "rename", "sync"]  # the file, its name, the folder


def test_what_a_killed_writer_left_is_no_data_and_goes_after_a_day(store):
    store.write(KEY, rows())
    old, new = (store.path(KEY).with_name(f".{OTHER}.{pid}.abc.tmp") for pid in (1, 2))
    for path in (old, new):
        path.write_bytes(b"half")
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(old, (two_days_ago, two_days_ago))
    os.utime(store.path(KEY), (two_days_ago, two_days_ago))
    assert visible(store) == [store.path(KEY)] and store.read(OTHER) is None
    assert store.clean() == [old]
    assert new.exists() and not old.exists() and store.has(KEY)
    assert Store(store.results / "nowhere").clean() == []


def test_a_clock_that_jumps_does_not_lose_a_row(store, monkeypatch):
    """Another process with a clock a day ahead clears the temporary file away before it gets its name."""
    replace, n_calls = os.replace, []

    def robbed(source, target):
        n_calls.append(1)
        if len(n_calls) == 1:
            os.unlink(source)
        replace(source, target)

    monkeypatch.setattr(os, "replace", robbed)
    store.write(KEY, rows())
    assert store.has(KEY) and len(n_calls) == 2
