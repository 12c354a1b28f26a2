"""Packs of finished cells: the guarantees of single files, for many at once."""

import itertools
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stored import rows, same

from experiments.schema import ADDED_COLUMNS, ROW_SCHEMA
from experiments.store import pack as packs
from experiments.store import pack_folder
from experiments.store.cell_file import UntrustedError
from experiments.store.keys import cell_key
from experiments.store.named_rows import rows_of
from experiments.store.pack import damaged_groups, open_pack
from experiments.store.store import Store

KEYS = [cell_key({"cell": number}) for number in range(40)]


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store whose packs have several groups of a few cells each."""
    monkeypatch.setattr(packs, "GROUP_BYTES", 4 * rows().nbytes)
    return Store(tmp_path / "results")


def filled(store, keys=KEYS):
    for key in keys:
        store.write(key, rows(key, value=KEYS.index(key) / 64))
    return store


def packed(store):
    return sorted(store.results.glob("rows/packs/*.parquet"))


def loose(store):
    return sorted(path.stem for path in store.results.glob("rows/??/*.parquet"))


def fresh(store):
    """The store as another process sees it."""
    pack_folder._known.clear()
    return Store(store.results)


def expected(keys=KEYS):
    return pa.concat_tables([rows(key, value=KEYS.index(key) / 64) for key in keys])


# --- what is packed is read ---


def test_packing_moves_finished_cells_and_changes_no_row(store):
    filled(store)
    assert store.compact(at_least=41) == 0 and not packed(store)
    assert store.compact(at_least=40) == 40
    assert len(packed(store)) == 1 and not loose(store)
    for reader in (store, fresh(store)):
        for key in KEYS[::7]:
            assert same(reader.read_table(key), expected([key])) and reader.has(key)
        assert same(reader.read_tables(KEYS), expected())
    pack = open_pack(packed(store)[0])
    assert len(pack.groups) >= 5 and pack.names() == sorted(KEYS)
    assert pack.find(cell_key({"cell": "none"})) is None
    assert store.read_table(cell_key({"cell": "none"})) is None and not store.quarantined
    assert store.compact(at_least=1) == 0


def test_a_pack_is_parquet_with_checksums_for_everyone(store):
    filled(store).compact(at_least=1)
    table = pq.read_table(packed(store)[0], page_checksum_verification=True)
    assert table.num_rows == 120 and table.schema.metadata[b"rows_version"]
    assert same(
        table.replace_schema_metadata(None).sort_by([("cell_key", "ascending"), ("fold", "ascending")]),
        expected(sorted(KEYS)),
    )


def test_tables_come_in_the_order_asked_for_wherever_they_lie(store):
    filled(store, KEYS[:20]).compact(at_least=1)
    filled(store, KEYS[20:30])
    asked = [KEYS[25], KEYS[3], KEYS[39], KEYS[28], KEYS[0], KEYS[3]]
    assert same(store.read_tables(asked), expected([KEYS[25], KEYS[3], KEYS[28], KEYS[0]]))
    some = store.read_tables(asked, columns=["fold", "weights"])
    assert some.schema.names == ["fold", "weights"]
    assert same(some, expected([KEYS[25], KEYS[3], KEYS[28], KEYS[0]]).select(["fold", "weights"]))
    assert store.read_tables([]).schema.equals(ROW_SCHEMA) and store.read_tables(KEYS[30:]).num_rows == 0


def test_cells_with_failures_stay_in_their_files_and_are_told(store):
    filled(store, KEYS[:5])
    store.write(KEYS[5], rows(KEYS[5], status="failed"))
    store.write(KEYS[6], rows(KEYS[6], status="timeout"))
    assert store.compact(at_least=1) == 5 and loose(store) == sorted(KEYS[5:7])
    assert store.compact(at_least=2) == 0  # those two are known to be of no use
    wanted = {key: "ok" for key in KEYS[:5]} | {KEYS[5]: "failed", KEYS[6]: "timeout"}
    assert store.states(KEYS) == wanted == fresh(store).states(KEYS)
    assert list(store.states(reversed(KEYS))) == [key for key in reversed(KEYS) if key in wanted]
    assert set(store.read_table(KEYS[5])["status"].to_pylist()) == {"failed"}
    assert same(store.read_tables(KEYS[5:]), pa.concat_tables([store.read_table(key) for key in KEYS[5:7]]))


def test_failed_rows_do_not_replace_a_cell_in_a_pack(store):
    filled(store).compact(at_least=1)
    store.write(KEYS[0], rows(KEYS[0], status="failed"))
    assert not loose(store) and store.has(KEYS[0])
    # One that slipped in between the look and the writing does not count either.
    other = Store(store.results.parent / "other")
    other.write(KEYS[0], rows(KEYS[0], status="failed"))
    store.path(KEYS[0]).parent.mkdir(exist_ok=True)
    os.replace(other.path(KEYS[0]), store.path(KEYS[0]))
    assert store.has(KEYS[0]) and store.states(KEYS[:1]) == {KEYS[0]: "ok"}
    assert same(store.read_tables(KEYS), expected())


def test_rows_bear_the_names_that_cells_have_now(store):
    class Named:
        def __init__(self, key, ranker):
            self.key, self.ranker, self.dataset, self.protocol = key, ranker, "d", "p"

    filled(store, KEYS[:6]).compact(at_least=1)
    asked = [Named(KEYS[2], "b"), Named(KEYS[0], "a"), Named(KEYS[9], "none"), Named(KEYS[2], "a")]
    table = rows_of(store, asked)
    assert table["ranker"].to_pylist() == ["b"] * 3 + ["a"] * 6
    assert table["cell_key"].to_pylist() == [KEYS[2]] * 3 + [KEYS[0]] * 3 + [KEYS[2]] * 3
    assert table["fold"].to_pylist() == [0, 1, 2] * 3 and set(table["dataset"].to_pylist()) == {"d"}
    assert table.schema.equals(ROW_SCHEMA) and rows_of(store, []).num_rows == 0
    once = rows_of(store, asked[:3])
    assert once["ranker"].to_pylist() == ["b"] * 3 + ["a"] * 3


def test_rows_of_a_version_with_fewer_columns_are_read(store, monkeypatch):
    old = pa.schema([field for field in ROW_SCHEMA if field.name not in ADDED_COLUMNS])
    monkeypatch.setattr("experiments.store.store.conforming", lambda table: table.select(old.names))
    filled(store, KEYS[:3])
    assert not set(ADDED_COLUMNS) & set(pq.read_schema(store.path(KEYS[0])).names)
    monkeypatch.undo()
    assert same(store.read_tables(KEYS), expected(KEYS[:3])) and not store.quarantined
    assert store.read_tables(KEYS[:1], ["measurement", "fold"]).to_pydict() == {
        "measurement": [None] * 3,
        "fold": [0, 1, 2],
    }
    assert store.compact(at_least=1) == 3
    assert same(store.read_tables(KEYS), expected(KEYS[:3]))


# --- damage ---


def test_no_byte_of_a_pack_can_change_unseen(store):
    filled(store, KEYS[:6]).compact(at_least=1)
    (path,) = packed(store)
    good = path.read_bytes()
    ends = itertools.chain(range(8), range(len(good) - 12, len(good)))
    for place in (*range(0, len(good), 53), *ends):
        bad = bytearray(good)
        bad[place] ^= 0x10
        path.write_bytes(bad)
        try:
            assert damaged_groups(open_pack(path)), place
        except UntrustedError:
            pass
    path.write_bytes(good)
    assert damaged_groups(open_pack(path)) == []


@pytest.mark.parametrize("way", ["states", "read_tables", "read_table"])
def test_damage_costs_the_cells_of_one_group_and_is_named(store, caplog, way):
    filled(store).compact(at_least=1)
    (path,) = packed(store)
    pack = open_pack(path)
    bad = bytearray(path.read_bytes())
    bad[(pack.groups[1].start + pack.groups[1].stop) // 2] ^= 1
    path.write_bytes(bad)
    lost = {key for key in KEYS if pack.find(key) == 1}
    reader = fresh(store)
    if way == "states":
        assert set(reader.states(KEYS)) == set(KEYS) - lost
    elif way == "read_tables":
        assert same(reader.read_tables(KEYS), expected([key for key in KEYS if key not in lost]))
    else:
        assert all(reader.read_table(key) is None for key in lost)
    (aside,) = reader.quarantined
    assert aside.path == path and aside.moved_to.read_bytes() == bytes(bad)
    assert f"{len(lost)} of its 40 cells" in aside.reason and str(path) in caplog.text
    assert same(reader.read_tables(KEYS), expected([key for key in KEYS if key not in lost]))
    filled(reader, sorted(lost))
    assert same(fresh(store).read_tables(KEYS), expected())


def test_damage_that_comes_after_the_look_is_seen_when_rows_are_read(store):
    filled(store).compact(at_least=1)
    assert len(store.states(KEYS)) == 40
    (path,) = packed(store)
    bad = bytearray(path.read_bytes())
    bad[open_pack(path).groups[0].stop - 1] ^= 1
    path.write_bytes(bad)
    left = set(store.read_tables(KEYS)["cell_key"].to_pylist())
    assert 0 < len(left) < 40 and len(store.quarantined) == 1
    assert set(store.states(KEYS)) == left


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all", "cut", "foreign", "folder"])
def test_a_pack_without_a_good_end_is_quarantined(store, content):
    filled(store, KEYS[:3])
    folder = store.results / "rows" / "packs"
    folder.mkdir()
    path = folder / "x.parquet"
    if content == "cut":
        store.compact(at_least=1)
        (whole,) = packed(store)
        path.write_bytes(whole.read_bytes()[:-30])
    elif content == "foreign":
        pq.write_table(rows(), path)
    elif content == "folder":
        path.mkdir()
    else:
        path.write_bytes(content)
    assert set(fresh(store).states(KEYS)) == set(KEYS[:3])
    (aside,) = (store.results / "aside").iterdir()
    assert aside.name.startswith("x.parquet") and not path.exists()


def test_a_torn_file_among_those_to_pack_is_quarantined_and_the_others_packed(store):
    filled(store, KEYS[:5])
    store.path(KEYS[2]).write_bytes(b"torn")
    assert store.compact(at_least=1) == 4
    assert len(store.quarantined) == 1 and set(store.states(KEYS)) == set(KEYS[:5]) - {KEYS[2]}


# --- interrupted, doubled ---


def test_a_full_disk_leaves_cells_where_they_were(store, monkeypatch):
    filled(store)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.compact(at_least=1)
    monkeypatch.undo()
    assert loose(store) == sorted(KEYS) and not packed(store)
    assert not list(store.results.rglob("*.tmp"))
    assert store.compact(at_least=1) == 40


def test_a_pack_is_durable_before_the_first_file_goes(store, monkeypatch):
    filled(store, KEYS[:4])
    order = []
    fsync, replace, unlink = os.fsync, os.replace, type(store.results).unlink
    monkeypatch.setattr(os, "fsync", lambda descriptor: (order.append("sync"), fsync(descriptor)))
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append("rename"), replace(a, b)))
    monkeypatch.setattr(
        type(store.results),
        "unlink",
        lambda path, **settings: (order.append("remove"), unlink(path, **settings)),
    )
    store.compact(at_least=1)
    assert order == ["sync", "rename", "sync", *["remove"] * 4]


def test_files_that_a_killed_process_left_beside_their_pack_go(store):
    filled(store)
    left = {key: store.path(key).read_bytes() for key in KEYS[:10]}
    store.compact(at_least=1)
    for key, content in left.items():
        store.path(key).write_bytes(content)
    assert same(store.read_tables(KEYS), expected())
    assert store.compact(at_least=1) == 10 and not loose(store) and len(packed(store)) == 1
    assert same(fresh(store).read_tables(KEYS), expected())


def test_small_packs_are_put_together_and_cells_in_two_of_them_stay_once(store, monkeypatch):
    for key in KEYS[:12]:
        filled(store, [key])
        store.compact(at_least=1)
    assert 1 < len(packed(store)) <= pack_folder._SMALL_PACKS
    list(packs.write_packs(store.results / "rows" / "packs", [expected(KEYS[:1])]))
    assert same(store.read_tables(KEYS), expected(KEYS[:12]))
    monkeypatch.setattr(pack_folder, "_SMALL_PACKS", 0)
    store._packs.merge()
    (path,) = packed(store)
    assert open_pack(path).names() == sorted(KEYS[:12])
    for reader in (store, fresh(store)):
        assert same(reader.read_tables(KEYS), expected(KEYS[:12]))


def test_tables_without_a_row_are_nothing_to_write(tmp_path):
    nothing = expected(KEYS[:1]).slice(0, 0)
    assert list(packs.write_packs(tmp_path, [nothing])) == [] and list(tmp_path.iterdir()) == []
    (path,) = packs.write_packs(tmp_path, [nothing, expected(KEYS[:2]), nothing])
    assert open_pack(path).names() == sorted(KEYS[:2])


def test_a_pack_that_is_to_be_small_holds_the_same_rows_and_equal_lists_once(tmp_path, monkeypatch):
    monkeypatch.setattr(packs, "GROUP_BYTES", 2**23)
    weights = np.random.default_rng(0).random(100_000)
    place, field = ROW_SCHEMA.get_field_index("weights"), ROW_SCHEMA.field("weights")
    tables = [rows(key, n=1).set_column(place, field, pa.array([weights], field.type)) for key in KEYS[:6]]
    sizes = []
    for small in (False, True):
        folder = tmp_path / str(small) / "rows" / "packs"
        folder.mkdir(parents=True)
        (path,) = packs.write_packs(folder, tables, small=small)
        assert same(Store(tmp_path / str(small)).read_tables(KEYS[:6]), pa.concat_tables(tables))
        sizes.append(path.stat().st_size)
    assert sizes[1] < 2 * weights.nbytes < sizes[0]


def test_packs_are_closed_when_they_are_large(store, monkeypatch):
    monkeypatch.setattr(packs, "PACK_BYTES", 20_000)
    monkeypatch.setattr(pack_folder, "PACK_BYTES", 20_000)
    filled(store).compact(at_least=1)
    assert 2 <= len(packed(store)) < 40
    assert same(fresh(store).read_tables(KEYS), expected())


def test_a_reader_that_looked_before_packs_were_merged_looks_again(store, monkeypatch):
    filled(store).compact(at_least=1)
    reader = fresh(store)
    read_groups = pack_folder.read_groups
    n_calls = []

    def late(pack, groups, columns=None):
        n_calls.append(1)
        if len(n_calls) == 1:
            monkeypatch.setattr(pack_folder, "_SMALL_PACKS", 0)
            monkeypatch.setattr(pack_folder, "read_groups", read_groups)
            Store(store.results)._packs.merge()
        return read_groups(pack, groups, columns)

    monkeypatch.setattr(pack_folder, "read_groups", late)
    before = packed(store)
    assert same(reader.read_tables(KEYS), expected())
    assert packed(store) != before and not reader.quarantined


def test_one_process_packs_at_a_time(store):
    from filelock import FileLock

    filled(store, KEYS[:4])
    (store.results / "rows" / "packs").mkdir()
    with FileLock(store.results / "rows" / "packs" / ".lock"):
        assert store.compact(at_least=1) == 0
    assert store.compact(at_least=1) == 4


def test_temporary_files_of_packs_go_after_a_day(store):
    filled(store, KEYS[:2]).compact(at_least=1)
    old = store.results / "rows" / "packs" / ".abc.1.2.tmp"
    old.write_bytes(b"half")
    os.utime(old, (1, 1))
    assert store.clean() == [old] and len(packed(store)) == 1


def test_numbers_survive_to_the_bit(store):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=1000)
    table = rows(KEYS[0], n=1)
    place = table.schema.get_field_index("weights")
    table = table.set_column(
        place, table.schema.field("weights"), pa.array([weights], pa.list_(pa.float64()))
    )
    store.write(KEYS[0], table)
    store.compact(at_least=1)
    assert np.array_equal(store.read(KEYS[0])["weights"][0], weights)
