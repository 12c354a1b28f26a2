"""Relative scores that follow from scores are left out of published packs; reading makes them again."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stored import same

from experiments.metrics.relative_f1 import relative_f1
from experiments.schema import ROW_SCHEMA
from experiments.store.derived_curves import SOURCES, with_curves, with_sources, without_curves
from experiments.store.keys import cell_key
from experiments.store.pack import open_pack, read_groups, write_packs
from experiments.store.rows import to_table
from experiments.store.store import Store

KEY = cell_key({"cell": 1})
#: Scores along a ranking; the last one is that of all features.
SCORES = {
    "usual": [0.1, 0.7, 0.3],
    "one point": [0.9],
    "another length": [0.2, 0.25, 1 / 3, 0.1, 0.7],
    "relative to nothing": [0.5, 0.0],
    "relative to a negative": [0.5, -0.25],
    "no number": [0.5, float("nan")],
    "as usual": [0.1, 0.7, 0.3],
}


def row(fold, **columns):
    return {
        "cell_key": KEY, "kind": "ranking", "dataset": "blobs", "ranker": "a", "protocol": "tiny", "repeat": 0,
        "fold": fold, "seed": 0, "status": "ok", **columns,
    }  # fmt: skip


def table(change=lambda name, curve: curve):
    """A row for each of the scores, one of a numeric target, one without a relative curve, a failure."""
    lines = [
        row(
            fold,
            f1_micro=scores,
            rf1_micro=change(name, relative_f1(scores)),
            f1_macro=[1.0],
            rf1_macro=[1.0],
        )
        for fold, (name, scores) in enumerate(SCORES.items())
    ]
    numeric = row(len(lines), r2=[-1.0, 0.25], rr2=[-4.0, 1.0], r2_all=0.25)
    alone = row(len(lines) + 1, f1_micro=[0.5, 0.75])  # without a relative curve
    return to_table([*lines, numeric, alone, row(len(lines) + 2, status="failed", error="ValueError: boom")])


def lists(made, name):
    return made[name].to_pylist()


def test_curves_that_follow_are_left_out_and_made_again_to_the_bit():
    rows = table()
    without = without_curves(rows)
    assert lists(without, "rf1_micro") == [[]] * len(SCORES) + [None] * 3
    assert lists(without, "rf1_macro") == [[]] * len(SCORES) + [None] * 3
    assert lists(without, "rr2") == [None] * len(SCORES) + [[], None, None]
    others = [name for name in ROW_SCHEMA.names if name not in SOURCES]
    assert same(without.select(others), rows.select(others))
    assert same(with_curves(without), rows)
    assert with_curves(rows) is rows


@pytest.mark.parametrize("name", SCORES)
def test_a_curve_of_other_bits_is_kept(name):
    def change(this, curve):
        return np.nextafter(curve, 2) if this == name and not np.isnan(curve).all() else curve + 0.0

    def longer(this, curve):
        return [*curve, 1.0] if this == name else curve

    def of_nothing(this, curve):
        return [0.5] if this == name else curve

    for each in (change, longer, of_nothing):
        rows = table(each)
        without = without_curves(rows)
        place = list(SCORES).index(name)
        kept = lists(without, "rf1_micro")
        if each is not change or not np.isnan(relative_f1(SCORES[name])).all():
            assert repr(kept.pop(place)) == repr(lists(rows, "rf1_micro")[place]) != "[]"
            assert kept == [[]] * (len(SCORES) - 1) + [None] * 3
        assert same(with_curves(without), rows)


def test_parts_of_a_table_are_looked_at_where_they_are():
    rows = table()
    part = pa.concat_tables([rows.slice(2, 4), rows.slice(0, 1), rows.slice(7, 3)])
    assert lists(without_curves(part), "rf1_micro") == [[]] * 5 + [None] * 3
    assert same(with_curves(without_curves(part)), part)
    nothing = rows.slice(0, 0)
    assert same(with_curves(without_curves(nothing)), nothing)


def test_a_small_pack_gives_the_rows_and_any_columns_of_them(tmp_path):
    rows = table()
    folder = tmp_path / "rows" / "packs"
    folder.mkdir(parents=True)
    (path,) = write_packs(folder, [rows], small=True)
    stored = pq.read_table(path)
    assert lists(stored, "rf1_micro") == [[]] * len(SCORES) + [None] * 3
    assert same(Store(tmp_path).read_tables([KEY]), rows)
    pack = open_pack(path)
    for columns in (["rf1_micro"], ["fold", "rr2", "f1_macro"], ["rf1_macro", "f1_macro"], ROW_SCHEMA.names):
        assert same(read_groups(pack, [0], columns), rows.select(columns))
    assert with_sources(["rf1_micro", "fold"]) == ["rf1_micro", "fold", "f1_micro"]
    (larger,) = write_packs(tmp_path, [rows])
    assert same(pq.read_table(larger).replace_schema_metadata(None), rows)
