"""Files of many finished cells: the guarantees of single files, for many at once."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stored import rows, same

from experiments.metrics.relative_f1 import relative_f1
from experiments.schema import ADDED_COLUMNS, ROW_SCHEMA
from experiments.store import files
from experiments.store import store as stores
from experiments.store.keys import cell_key
from experiments.store.rows import CURVES, to_frame, to_table, without_curves
from experiments.store.store import Store

KEYS = [cell_key({"cell": number}) for number in range(40)]


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store whose packs have several groups of a few cells each."""
    monkeypatch.setattr(files, "GROUP_BYTES", 4 * rows().nbytes)
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
    files.groups_of.cache_clear()
    return Store(store.results)


def expected(keys=KEYS):
    return pa.concat_tables([rows(key, value=KEYS.index(key) / 64) for key in keys])


# --- what is packed is read ---


def test_packing_moves_finished_cells_and_changes_no_row(store):
    filled(store)
    assert store.compact(at_least=41) == 0 and not packed(store)
    assert store.compact(at_least=40) == 40
    (pack,) = packed(store)
    assert not loose(store) and pq.ParquetFile(pack).num_row_groups >= 5
    for reader in (store, fresh(store)):
        for key in KEYS[::7]:
            assert same(reader.read_table(key), expected([key])) and reader.has(key)
        assert same(reader.read_tables(KEYS), expected())
    assert store.read_table(cell_key({"cell": "none"})) is None and not store.quarantined
    assert store.compact(at_least=1) == 0


def test_a_pack_is_parquet_for_everyone(store):
    filled(store).compact(at_least=1)
    table = pq.read_table(packed(store)[0], page_checksum_verification=True)
    assert table.num_rows == 120 and table.schema.metadata[b"rows_version"]
    assert same(table.replace_schema_metadata(None), expected(sorted(KEYS)))


def test_tables_come_in_the_order_asked_for_wherever_they_lie(store):
    filled(store, KEYS[:20]).compact(at_least=1)
    filled(store, KEYS[20:30])
    asked = [KEYS[25], KEYS[3], KEYS[39], KEYS[28], KEYS[0], KEYS[3]]
    wanted = expected([KEYS[25], KEYS[3], KEYS[28], KEYS[0]])
    assert same(store.read_tables(asked), wanted)
    assert same(store.read_tables(asked, columns=["fold", "weights"]), wanted.select(["fold", "weights"]))
    assert store.read_tables([]).schema.equals(ROW_SCHEMA) and store.read_tables(KEYS[30:]).num_rows == 0


def test_cells_with_failures_stay_in_their_files_and_are_told(store):
    filled(store, KEYS[:5])
    store.write(KEYS[5], rows(KEYS[5], status="failed"))
    store.write(KEYS[6], rows(KEYS[6], status="timeout"))
    assert store.compact(at_least=1) == 5 and loose(store) == sorted(KEYS[5:7])
    wanted = {key: "ok" for key in KEYS[:5]} | {KEYS[5]: "failed", KEYS[6]: "timeout"}
    assert store.states(KEYS) == wanted == fresh(store).states(KEYS)
    assert list(store.states(reversed(KEYS))) == [key for key in reversed(KEYS) if key in wanted]
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
    table = store.rows_of(asked)
    assert table["ranker"].to_pylist() == ["b"] * 3 + ["a"] * 6
    assert table["cell_key"].to_pylist() == [KEYS[2]] * 3 + [KEYS[0]] * 3 + [KEYS[2]] * 3
    assert table["fold"].to_pylist() == [0, 1, 2] * 3 and set(table["dataset"].to_pylist()) == {"d"}
    assert table.schema.equals(ROW_SCHEMA) and store.rows_of([]).num_rows == 0
    assert store.rows_of(asked[:3])["ranker"].to_pylist() == ["b"] * 3 + ["a"] * 3


def test_columns_that_came_later_are_null_in_older_rows(store):
    filled(store, KEYS[:3])
    for key in KEYS[:3]:
        table = pq.read_table(store.path(key))
        pq.write_table(table.drop_columns(list(ADDED_COLUMNS)), store.path(key))
    assert same(store.read_tables(KEYS), expected(KEYS[:3])) and not store.quarantined
    assert store.read_tables(KEYS[:1], ["measurement", "fold"]).to_pydict() == {
        "measurement": [None] * 3,
        "fold": [0, 1, 2],
    }
    assert store.compact(at_least=1) == 3
    assert same(store.read_tables(KEYS), expected(KEYS[:3]))


# --- damage ---


@pytest.mark.parametrize("way", ["states", "read_tables", "read_table"])
def test_a_damaged_pack_goes_aside_by_name_and_its_cells_are_missing(store, caplog, way):
    filled(store, KEYS[:30]).compact(at_least=1)
    (path,) = packed(store)
    filled(store, KEYS[30:]).compact(at_least=1)
    bad = bytearray(path.read_bytes())
    for place in range(0, len(bad), len(bad) // 7):  # wherever it is
        path.write_bytes(bad[:place] + bytes([bad[place] ^ 1]) + bad[place + 1 :])
        reader = fresh(store)
        if way == "states":
            assert set(reader.states(KEYS)) == set(KEYS[30:])
        elif way == "read_tables":
            assert same(reader.read_tables(KEYS), expected(KEYS[30:]))
        else:
            assert reader.read_table(KEYS[0]) is None and reader.has(KEYS[35])
        (aside,) = reader.quarantined
        assert aside.path == path and not path.exists() and aside.moved_to.parent == store.results / "aside"
        assert str(path) in caplog.text and str(aside.moved_to) in caplog.text
    filled(store, KEYS[:30])
    assert same(fresh(store).read_tables(KEYS), expected())


def test_damage_that_comes_after_the_look_is_seen_when_rows_are_read(store):
    filled(store).compact(at_least=1)
    assert len(store.states(KEYS)) == 40
    (path,) = packed(store)
    before = os.stat(path)
    bad = bytearray(path.read_bytes())
    bad[len(bad) // 3] ^= 1
    path.write_bytes(bad)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # so that only its pages tell
    assert store.read_tables(KEYS).num_rows == 0 and len(store.quarantined) == 1
    assert store.states(KEYS) == {}


def test_a_damaged_published_pack_stays_where_it_is_and_its_cells_run_again(store, caplog):
    filled(store, KEYS[:6]).compact(at_least=1)
    published = store.results / "published" / "rows" / "packs"
    published.mkdir(parents=True)
    (path,) = packed(store)
    os.rename(path, published / path.name)
    assert same(fresh(store).read_tables(KEYS), expected(KEYS[:6]))
    bad = bytearray((published / path.name).read_bytes())
    bad[len(bad) // 2] ^= 1
    (published / path.name).write_bytes(bad)
    reader = fresh(store)
    assert reader.states(KEYS) == {} and reader.read_tables(KEYS).num_rows == 0
    (seen,) = reader.quarantined
    assert seen.path == seen.moved_to == published / path.name and "stays where it is" in caplog.text
    filled(reader, KEYS[:6]).compact(at_least=1)
    assert same(reader.read_tables(KEYS), expected(KEYS[:6]))
    assert (published / path.name).read_bytes() == bytes(bad) and [*published.iterdir()] == [
        published / path.name
    ]


def test_a_torn_file_among_those_to_pack_is_put_aside_and_the_others_packed(store):
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
    assert 1 < len(packed(store)) <= stores._SMALL_PACKS
    list(files.write_packs(store.results / "rows" / "packs", [expected(KEYS[:2])]))
    assert same(store.read_tables(KEYS), expected(KEYS[:12]))
    monkeypatch.setattr(stores, "_SMALL_PACKS", 0)
    for _ in range(2):  # the second time a pack is written that is there already, under its own name
        assert store.compact(at_least=1) == 0
        (path,) = packed(store)
        assert pq.read_table(path).num_rows == 36
        for reader in (store, fresh(store)):
            assert same(reader.read_tables(KEYS), expected(KEYS[:12]))


def test_packs_are_closed_when_they_are_large_and_hold_no_table_without_rows(store, monkeypatch):
    monkeypatch.setattr(files, "PACK_BYTES", 20_000)
    monkeypatch.setattr(stores, "PACK_BYTES", 20_000)
    filled(store).compact(at_least=1)
    assert 2 <= len(packed(store)) < 40
    assert same(fresh(store).read_tables(KEYS), expected())
    assert list(files.write_packs(store.results / "x", [expected(KEYS[:1]).slice(0, 0)])) == []


def test_a_reader_that_looked_before_packs_were_merged_looks_again(store, monkeypatch):
    filled(store, KEYS[:20]).compact(at_least=1)
    filled(store, KEYS[20:]).compact(at_least=1)
    reader, read = fresh(store), files.read

    def late(*arguments):
        monkeypatch.setattr(stores, "read", read)
        monkeypatch.setattr(stores, "_SMALL_PACKS", 0)
        Store(store.results).compact(at_least=1)
        return read(*arguments)

    monkeypatch.setattr(stores, "read", late)
    before = packed(store)
    assert same(reader.read_tables(KEYS), expected())
    assert len(before) == 2 and len(packed(store)) == 1 and not reader.quarantined


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


# --- published packs ---


def test_a_pack_that_is_to_be_small_holds_the_same_rows_and_equal_lists_once(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "GROUP_BYTES", 2**23)
    weights = np.random.default_rng(0).normal(size=100_000)
    place, field = ROW_SCHEMA.get_field_index("weights"), ROW_SCHEMA.field("weights")
    tables = [rows(key, n=1).set_column(place, field, pa.array([weights], field.type)) for key in KEYS[:6]]
    sizes = []
    for small in (False, True):
        (path,) = files.write_packs(tmp_path / str(small) / "rows" / "packs", tables, small=small)
        store = Store(tmp_path / str(small))
        assert same(store.read_tables(KEYS[:6]), pa.concat_tables(tables))
        assert np.array_equal(store.read(KEYS[0])["weights"][0], weights)
        sizes.append(path.stat().st_size)
    assert sizes[1] < 2 * weights.nbytes < sizes[0]


def test_curves_that_follow_from_scores_are_left_out_and_made_again_to_the_bit(tmp_path):
    row = {name: rows().to_pylist()[0][name] for name in ("cell_key", "kind", "dataset", "status", "seed")}
    curves = [[0.1, 0.7, 0.3], [0.9], [0.2, 0.25, 1 / 3], [0.5, 0.0], [0.5, -0.25], [0.5, np.nan]]
    lines = [{**row, "f1_micro": scores, "rf1_micro": relative_f1(scores)} for scores in curves]
    lines += [
        {**row, "f1_micro": [0.5, 0.75], "rf1_micro": np.nextafter(relative_f1([0.5, 0.75]), 2)},  # kept
        {**row, "f1_micro": [0.5, 0.75], "rf1_micro": [0.5]},  # kept
        {**row, "f1_micro": [0.5, 0.75]},  # without a relative curve
        {**row, "r2": [-1.0, 0.25], "rr2": [-4.0, 1.0]},
        {**row, "status": "failed"},
    ]
    table = to_table({**line, "fold": fold} for fold, line in enumerate(lines))
    without = without_curves(table)
    kept = [0, 0, 0, 0, 0, 0, 2, 1, None, None, None]
    assert [None if curve is None else len(curve) for curve in without["rf1_micro"].to_pylist()] == kept
    assert without["rr2"].to_pylist() == [None] * 9 + [[], None]
    others = [name for name in ROW_SCHEMA.names if name not in CURVES]
    assert same(without.select(others), table.select(others))
    for name in CURVES:
        for one, other in zip(to_frame(without)[name], to_frame(table)[name], strict=True):
            assert one is other is None or one.tobytes() == other.tobytes()
