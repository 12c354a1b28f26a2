"""Many processes on one store, some of them killed."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from folders import SEARCH_PATH
from stored import KEY, visible

from experiments.schema import ROW_SCHEMA
from experiments.store.rows import all_ok
from experiments.store.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def run(script, *arguments):
    """Run a script whose forks all have the store loaded already."""
    preamble = """
        import os, random, signal, sys, time
        from pathlib import Path
        from stored import rows, KEY, OTHER
        from experiments.store.keys import cell_key
        from experiments.store.store import Store
        results = sys.argv[1]
    """
    environment = {
        **os.environ,
        "PYTHONPATH": SEARCH_PATH,
    }
    code = textwrap.dedent(preamble) + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_eight_processes_on_one_cell_end_with_one_good_file(store):
    run(
        """
        children = []
        for writer in range(8):
            pid = os.fork()
            if not pid:
                store = Store(results)
                for turn in range(15):
                    store.write(KEY, rows(value=float(writer), n_weights=2000))
                    table = store.read_table(KEY)
                    assert table is not None, store.quarantined
                os._exit(0)
            children.append(pid)
        assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)
        """,
        store.results,
    )
    assert visible(store) == [store.path(KEY)]
    assert [path for path in store.results.rglob("*") if path.is_file()] == [store.path(KEY)]
    weights = np.stack(store.read(KEY)["weights"])
    assert weights.shape == (3, 2000) and len(np.unique(weights)) == 1 and weights[0, 0] in range(8)


def test_two_readers_of_a_torn_file_and_a_writer_end_with_one_good_file(store):
    """Processes find the same torn file, set it aside and write the cell, many times over."""
    run(
        """
        for turn in range(25):
            path = Store(results).path(KEY)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"torn" * 50)
            children = []
            for writer in range(4):
                pid = os.fork()
                if not pid:
                    store = Store(results)
                    if not store.has(KEY):
                        store.write(KEY, rows())
                    os._exit(0 if store.has(KEY) else 1)
                children.append(pid)
            assert all(os.waitpid(pid, 0)[1] == 0 for pid in children), turn
            assert Store(results).has(KEY)
        """,
        store.results,
    )
    aside = list((store.results / "aside").iterdir())
    assert len(aside) == 25 and all(path.read_bytes() == b"torn" * 50 for path in aside)


def test_writers_killed_at_any_moment_leave_whole_files(store):
    n_kills = 50
    output = run(
        """
        for turn in range(int(sys.argv[2])):
            pid = os.fork()
            if not pid:
                store = Store(results)
                n = 0
                while True:  # new cells, and one that is written over and over
                    n += 1
                    key = cell_key({"turn": turn, "n": n})
                    store.write(key, rows(key, n_weights=20000))
                    store.write(KEY, rows(value=float(n), n_weights=20000))
            first = Store(results).path(cell_key({"turn": turn, "n": 1}))
            while not first.exists() or not Store(results).path(KEY).exists():
                time.sleep(0.005)
            time.sleep(random.uniform(0.0, 0.12))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        print(len(list(Path(results).glob("rows/??/.*.tmp"))))
        """,
        store.results,
        n_kills,
    )
    keys = [path.stem for path in visible(store)]
    assert KEY in keys and len(keys) > 10
    for key in keys:
        table = store.read_table(key)
        assert table is not None and all_ok(table) and table.schema.equals(ROW_SCHEMA)
    assert not store.quarantined
    assert int(output) > 0  # some kills came in the middle of a file, or this showed nothing


def test_cells_are_never_out_of_sight_while_others_pack_merge_and_are_killed(store):
    """Writers that pack now and then are killed at random moments; a reader sees every cell that was once done."""
    output = run(
        """
        from experiments.store import files, store as stores
        files.GROUP_BYTES, files.PACK_BYTES, stores.PACK_BYTES = 20_000, 60_000, 60_000
        stores._SMALL_PACKS = 2
        keys = [cell_key({"n": n}) for n in range(400)]
        writers, begun, killed = {}, 0, 0
        seen, store = set(), Store(results)
        packs_of = Path(results, "rows", "packs").glob
        end = time.monotonic() + 400
        while killed < 20 or len(seen) <= 200 or not any(packs_of("*.parquet")):
            assert time.monotonic() < end, (killed, len(seen))
            while len(writers) < 2:
                pid = os.fork()
                if not pid:
                    random.seed(begun)
                    store = Store(results)
                    while True:
                        for key in random.sample(keys, 12):
                            if not store.has(key):
                                store.write(key, rows(key, value=int(key[:6], 16)))
                        store.compact(at_least=5)
                # Longer and longer, so that on a busy machine too some are killed late.
                writers[pid] = time.monotonic() + random.uniform(0.05, 1.5) * (1 + begun / 20)
                begun += 1
            now = set(store.states(keys))
            assert not seen - now, len(seen - now)
            seen |= now
            some = random.sample(sorted(seen), min(len(seen), 20))
            if not some:
                continue
            table = store.read_tables(some)
            assert table["cell_key"].to_pylist() == [key for key in some for _ in range(3)]
            assert all(store.has(key) for key in some)
            for pid, moment in list(writers.items()):
                if time.monotonic() > moment:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    del writers[pid]
                    killed += 1
        for pid in writers:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        assert not store.quarantined, store.quarantined
        table = Store(results).read_tables(sorted(seen), ["cell_key", "weights"])
        assert all(row["weights"][0] == int(row["cell_key"][:6], 16) for row in table.to_pylist())
        assert table.num_rows == 3 * len(seen)
        print(killed, len(seen), len(list(Path(results).glob("rows/packs/*.parquet"))))
        """,
        store.results,
    )
    n_killed, n_seen, n_packs = map(int, output.split())
    assert n_killed >= 10 and n_seen > 100 and n_packs >= 1
