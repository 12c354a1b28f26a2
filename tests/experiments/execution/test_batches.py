"""Tiny cells are handed out and written together; slow and unknown ones go alone."""

import json
import os
from collections import deque
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import cheap
import pyarrow as pa
import pytest
from listening import Listening, text_of
from stored import rows, same

from experiments.evaluation.cell import cells_of
from experiments.execution import scheduler
from experiments.execution.runner import run_study
from experiments.execution.scratch import Scratch
from experiments.execution.worker import Outcome, WorkOptions, work_batch
from experiments.store.keys import cell_key
from experiments.store.store import Store

KEYS = [cell_key({"cell": number}) for number in range(5)]


def cells(name, n_repeats, checksum="0" * 64):
    config = cheap.config("nowhere", cheap.function("between"), ranker_key=name, n_repeats=n_repeats)
    return cells_of(config, checksum=checksum, task="multiclass")


def sizes(these, pace):
    waiting, batches = deque(these), []
    while waiting:
        batches.append(pace.batch(waiting))
    assert [cell for batch in batches for cell in batch] == these
    assert all(len({cell.checksum for cell in batch}) == 1 for batch in batches)
    return [len(batch) for batch in batches]


def test_only_cells_known_to_be_quick_go_together():
    pace = scheduler._Pace()
    quick, slow, new = cells("quick", 10), cells("slow", 3), cells("new", 3)
    assert sizes([*quick, *slow], pace) == [1] * 13
    pace.add(Outcome(quick[0], "ran", seconds=0.001))
    pace.add(Outcome(slow[0], "ran", seconds=60.0))
    assert sizes([*quick, *slow, *new], pace) == [10, 1, 1, 1, 1, 1, 1]
    pace.add(Outcome(quick[0], "ran", seconds=0.2))
    assert sizes(quick, pace) == [2] * 5  # the slowest of late counts
    for _ in range(scheduler._PACE_OF):
        pace.add(Outcome(quick[0], "ran", seconds=0.001))
    assert sizes(quick, pace) == [10]


def test_a_batch_is_of_one_data_set_and_bounded():
    pace = scheduler._Pace()
    here, there = cells("a", 300), cells("a", 4, checksum="1" * 64)
    for cell in (here[0], there[0]):
        pace.add(Outcome(cell, "ran", seconds=1e-6))
    assert sizes([*here, *there], pace) == [200, 100, 4]


class Death(Exception):
    """Of a worker."""


class Workers:
    """Three workers that take no time; a worker dies at the cells of ``deadly``, so often."""

    is_here, n_at_once, deaths = False, 3, (Death,)

    def __init__(self, scratch, deadly, noted=True):
        self.scratch, self.deadly, self.noted, self.calls = scratch, deadly, noted, []

    def submit(self, function, batch, shelved, options):
        self.calls.append(([cell.key for cell in batch], options.apart))
        future = Future()
        died_at = next((cell for cell in batch if self.deadly.get(cell.key)), None)
        if died_at is None:
            future.set_result([Outcome(cell, "ran", seconds=9.0) for cell in batch])
        else:
            self.deadly[died_at.key] -= 1
            if self.noted:
                note = json.dumps({"process": 1, "key": died_at.key})
                Path(self.scratch.path, f"here-{len(self.calls)}.json").write_text(note)
            future.set_exception(Death("ended"))
        return future


def launched(tmp_path, these, deadly, **settings):
    scratch = Scratch(tmp_path)
    workers = Workers(scratch, deadly, **settings)
    blobs = cheap.blobs()
    data = {"0" * 64: SimpleNamespace(X=blobs.X, y=blobs.labels, checksum="0" * 64, feature_names=())}
    options = WorkOptions(str(tmp_path), scratch.path)
    outcomes = list(scheduler.launch(these, data, workers, scratch, options))
    assert sorted(each.cell.key for each in outcomes) == sorted(cell.key for cell in these)  # each once
    return outcomes, workers.calls


def test_only_the_cell_at_which_a_worker_died_is_tried_again(tmp_path):
    these = cells("a", 9)
    outcomes, calls = launched(tmp_path, these, {these[1].key: 1, these[2].key: 1})
    assert {each.how for each in outcomes} == {"ran"} and len(calls) == 9 + 2
    again = [place for place, (_, apart) in enumerate(calls) if apart]
    assert sorted(calls[place][0] for place in again) == sorted([[these[1].key], [these[2].key]])
    assert again[1] < len(calls) - 1  # the others do not wait for them, nor they for one another
    # What died twice is written off.
    outcomes, calls = launched(tmp_path, these, {these[1].key: 2})
    assert [each.cell.key for each in outcomes if each.how == "lost"] == [these[1].key] and len(calls) == 10


def test_workers_that_die_before_they_take_a_cell_are_given_three_tries(tmp_path):
    these = cells("a", 9)
    outcomes, calls = launched(tmp_path, these, {these[0].key: 2}, noted=False)
    assert {each.how for each in outcomes} == {"ran"} and len(calls) == 9 + 2
    outcomes, calls = launched(tmp_path, these, {cell.key: 9 for cell in these}, noted=False)
    assert {each.how for each in outcomes} == {"lost"} and len(calls) < 9
    assert "worker processes keep dying: ended" in outcomes[0].failures[0][1]


def test_a_runner_that_starts_leaves_the_folder_of_one_that_has_just_started(tmp_path):
    one = Scratch(tmp_path)
    (tmp_path / "running" / "nowhere-1-x").mkdir()
    os.utime(tmp_path / "running" / "nowhere-1-x", (1, 1))
    other = Scratch(tmp_path)
    assert sorted(map(str, (tmp_path / "running").iterdir())) == sorted([one.path, other.path])
    one.close()
    other.close()
    assert not (tmp_path / "running").exists()


def test_cells_written_together_are_read_and_failures_keep_their_files(tmp_path):
    store = Store(tmp_path)
    tables = {key: rows(key, value=number) for number, key in enumerate(KEYS)}
    tables[KEYS[4]] = rows(KEYS[4], status="failed")
    store.write_many(tables)
    assert [path.stem for path in tmp_path.glob("rows/??/*.parquet")] == [KEYS[4]]
    assert len(list(tmp_path.glob("rows/packs/*.parquet"))) == 1
    assert same(Store(tmp_path).read_tables(KEYS), pa.concat_tables(tables.values()))
    store.write_many({KEYS[4]: rows(KEYS[4])})
    assert store.states(KEYS) == dict.fromkeys(KEYS, "ok")
    with pytest.raises(ValueError, match="another cell"):
        store.write_many({KEYS[0]: rows(KEYS[0]), KEYS[1]: rows(KEYS[2])})
    store.write_many({})


def test_many_packs_of_batches_are_put_together(tmp_path):
    store = Store(tmp_path)
    for number in range(40):
        keys = [cell_key({"batch": number, "cell": cell}) for cell in range(2)]
        store.write_many({key: rows(key) for key in keys})
    assert len(list(tmp_path.glob("rows/packs/*.parquet"))) == 40
    assert store.compact() == 0
    assert len(list(tmp_path.glob("rows/packs/*.parquet"))) == 1
    assert len(store.states(cell_key({"batch": n, "cell": c}) for n in range(40) for c in range(2))) == 80


def test_a_full_disk_loses_the_batch_and_says_so(tmp_path, monkeypatch):
    data = cheap.blobs()
    monkeypatch.setattr("experiments.execution.worker.unshelve", lambda path: (data.X, data.labels))

    def full(self, tables):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "write_many", full)
    done = work_batch(cells("a", 3), "here", WorkOptions(str(tmp_path), str(tmp_path)))
    assert [outcome.how for outcome in done] == ["lost"] * 3
    assert all("No space left" in outcome.failures[0][1] for outcome in done)


def test_a_study_in_batches_has_the_rows_of_one_without(tmp_path):
    def study(results):
        return [
            cheap.config(tmp_path / results, cheap.function(name), ranker_key=name, n_repeats=40)
            for name in ("between", "chance")
        ]

    one = run_study(study("one"), n_workers=1, progress=Listening())
    two = run_study(study("two"), n_workers=2, progress=Listening())
    assert one.exit_code == two.exit_code == 0
    assert text_of(one.frame) == text_of(two.frame) and len(two.frame) == 240
    assert list((tmp_path / "two").glob("rows/packs/*.parquet"))  # some went together, or this showed nothing
    again = run_study(study("two"), n_workers=2, progress=Listening())
    assert again.counts.missing == 0 and text_of(again.frame) == text_of(one.frame)
