"""Rankers whose F1 curves are equal in every fold are told to be the same."""

import io
import itertools

import numpy as np
import pages
import pandas as pd
import pytest
from made_up import frame, repeats, row
from made_up_rows import study

from experiments import report
from experiments.analysis.groups import groups_of
from experiments.analysis.same_rankers import SameRankers, same_in_words, same_rankers
from experiments.analysis.selection import complete_rows
from experiments.cli import publish
from experiments.report import posteriors
from experiments.report import study as report_of_study

CURVE = (0.3, 0.7, 0.9)


def folds(ranker, *curves, dataset="d", **changes):
    return [
        row(ranker, fold // 2, fold % 2, curve=curve, dataset=dataset, **changes)
        for fold, curve in enumerate(curves)
    ]


def naive(rows):
    """Pairs that are the same, by looking at every fold of every pair."""
    found = set()
    for a, b in itertools.combinations(rows["ranker"].unique(), 2):
        mine, other = (
            {
                (line.dataset, line.repeat, line.fold): [*line.grid, *line.f1_micro, *line.f1_macro]
                for line in rows[rows["ranker"] == each].itertuples()
            }
            for each in (a, b)
        )
        if set(mine) == set(other) and all(
            len(mine[key]) == len(other[key])
            and all(
                x == y or abs(x - y) <= 1e-12 * max(abs(x), abs(y))
                for x, y in zip(mine[key], other[key], strict=True)
            )
            for key in mine
        ):
            found.add((a, b))
    return found


def test_equal_curves_are_the_same_and_rounding_is_no_difference():
    near = tuple(value * (1 + 4e-16) for value in CURVE)
    rows = frame(folds("a", CURVE, CURVE), folds("b", CURVE, near), folds("c", CURVE, (0.3, 0.7 + 1e-9, 0.9)))
    found = same_rankers(rows)
    assert found == SameRankers([("a", "b")], {"d": [("a", "b")]})


def test_equal_means_of_folds_are_not_enough():
    rows = frame(folds("a", CURVE, (0.5, 0.6, 0.9)), folds("b", (0.5, 0.6, 0.9), CURVE))
    assert same_rankers(rows) == SameRankers()


def test_a_difference_in_macro_f1_alone_is_a_difference():
    other = [each | {"f1_macro": np.array([0.1, 0.2, 0.3])} for each in folds("b", CURVE)]
    assert same_rankers(frame(folds("a", CURVE), other)) == SameRankers()


def test_the_same_f1_at_other_numbers_of_features_is_a_difference():
    assert same_rankers(frame(folds("a", CURVE), folds("b", CURVE, grid=(1, 3, 4)))) == SameRankers()


def test_the_same_on_one_data_set_is_told_for_that_one():
    rows = frame(
        folds("a", CURVE), folds("b", CURVE), folds("c", CURVE, dataset="d"),
        folds("a", CURVE, dataset="e"), folds("b", (0.2, 0.3, 0.9), dataset="e"),
        folds("c", (0.2, 0.3, 0.9), dataset="e"), folds("x", CURVE, dataset="e"),
    )  # fmt: skip
    found = same_rankers(rows)
    assert found.everywhere == [("b", "c")]
    assert found.on == {"d": [("a", "b", "c")], "e": [("a", "x"), ("b", "c")]}


def test_rankers_of_different_data_sets_are_not_the_same():
    rows = frame(folds("a", CURVE), folds("a", CURVE, dataset="e"), folds("b", CURVE))
    assert same_rankers(rows) == SameRankers([], {"d": [("a", "b")]})


def test_no_rows_no_groups():
    assert same_rankers(frame(repeats("a")).head(0)) == SameRankers()
    assert same_rankers(frame(repeats("a"))) == SameRankers()


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_those_of_every_pair_looked_at(seed):
    rng = np.random.default_rng(seed)
    kinds = rng.random((3, 2, 2, 4))
    rows = frame(
        [
            row(f"r{ranker}", 0, fold, curve=kinds[kind, fold, number], grid=(1, 2, 3, 4), dataset=dataset)
            for ranker, kind in enumerate(rng.integers(3, size=8))
            for number, dataset in enumerate("de")
            for fold in range(2)
        ]
    )
    pairs = {pair for group in same_rankers(rows).everywhere for pair in itertools.combinations(group, 2)}
    assert pairs == naive(rows) and pairs


def test_abs_mean_is_the_plain_ranker_on_features_with_two_values():
    rows, configs = publish.rows("mcc_published")
    (group,) = groups_of(configs)
    found = same_rankers(complete_rows(rows, group.expected))
    assert found.on["chess"] == [
        ("reliefe", "reliefe_absmean"), ("reliefe_adaptive", "reliefe_absmean_adaptive"),
        ("relieff", "relieff_absmean"), ("relieff_adaptive", "relieff_absmean_adaptive"),
    ]  # fmt: skip
    assert found.everywhere == [], "on the other data sets they differ"


def test_groups_in_words():
    labels = {"a": "A", "b": "B (x)", "c": "C", "d": "D"}
    assert same_in_words([("a", "c"), ("b", "d")], labels) == "A = C; B (x) = D"
    assert same_in_words([], labels) == ""


def test_groups_that_share_a_variant_are_told_together():
    names, kinds = ("e", "e_absmean"), {"f1": "F1", "hamming": "Hamming", "cosine": "cosine"}
    labels = {f"{name}_{kind}": f"{name.upper()} ({said})" for name in names for kind, said in kinds.items()}
    panels = {f"{name}_{kind}": name.upper() for name in names for kind in kinds}
    variants = {f"{name}_{kind}": said for name in names for kind, said in kinds.items()}
    groups = [(f"e_{kind}", f"e_absmean_{kind}") for kind in kinds]
    given = {"panels": panels, "variants": variants}
    assert same_in_words(groups, labels, **given) == "E = E_ABSMEAN (with every target distance)"
    assert same_in_words(groups[:2], labels, **given) == "E = E_ABSMEAN (F1, Hamming)"
    assert same_in_words([("e_f1", "e_hamming")], labels, **given) == "E (F1) = E (Hamming)"


# --- where it is told ---


def twins(datasets=("d", "e"), twin="b", of="a", on=None):
    """A study of three rankers, of which one has the curves of another on some data sets."""
    rankers = {"a": ("A", 0.03, 1.0), "b": ("B", 0.0, 2.0), "c": ("C", 0.01, 3.0)}
    made, configs = study(
        list(datasets), rankers, name="s", n_splits=2, n_repeats=1, n_points=5, n_features=30
    )
    for dataset in datasets if on is None else on:
        mine, other = ((made["dataset"] == dataset) & (made["ranker"] == each) for each in (twin, of))
        for column in made.columns[made.columns.str.contains("f1_")]:
            made.loc[mine, column] = made.loc[other, column].to_numpy()
    return made, configs


def shown(tmp_path, made, configs):
    out = io.StringIO()
    files = report.show(made, configs, {"results": tmp_path}, out)
    return " ".join(out.getvalue().split()), files


def test_the_console_tells_it_for_each_data_set(tmp_path):
    text, _ = shown(tmp_path, *twins(on=["d"]))
    assert text.count("The same on this data set (equal F1 in every fold): A = B.") == 1
    assert text.index("The same on this data set") < text.index("e · paper")
    assert "The same" not in shown(tmp_path, *twins(on=[]))[0]


def test_the_table_of_a_data_set_names_the_first_of_the_same(tmp_path):
    shown(tmp_path, *twins(on=["d"]))
    for dataset, expected in (("d", {"a": "", "b": "a", "c": ""}), ("e", dict.fromkeys("abc", ""))):
        (file,) = (tmp_path / "tables").glob(f"*{dataset}_paper*.csv")
        table = pd.read_csv(file, keep_default_na=False)
        assert dict(zip(table["ranker"], table["same_as"], strict=True)) == expected


def test_tables_figures_and_page_name_the_groups_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(posteriors, "of_group", lambda *args, **settings: None)
    made, configs = twins()
    found = report_of_study.write(made, configs, tmp_path)
    line = "The same ranker on all data sets (equal F1 in every fold): A = B."
    for name in ("ranks", "scores"):
        assert line in " ".join((tmp_path / "tables" / f"s_{name}.tex").read_text("utf-8").split())
    for each in found.drawn:
        about_times = each.figure in ("times", "critical_distance_fit_seconds")
        assert (line in each.note) != about_times, each.figure
    path, _ = pages.write(tmp_path, made, configs, name="s")
    read = pages.Read(path)
    assert read.text.count(line) == 1
    assert "A and B, which are the same ranker on these data sets, come first by max F1." in read.text
    ranks = {each["ranker"]: each["rank by max F1"] for each in read.lines("g0-rankers")}
    assert ranks == {"A": "1.50", "B": "1.50", "C": "3.00"}


def test_what_is_the_same_on_one_data_set_alone_is_told_of_that_one(tmp_path):
    made, configs = twins(on=["e"])
    read = pages.Read(pages.write(tmp_path, made, configs, name="s")[0])
    assert "The same ranker on e (equal F1 in every fold): A = B." in read.text
    assert "on all data sets (equal" not in read.text and "which are the same ranker" not in read.text
    plain = pages.Read(pages.write(tmp_path, *twins(on=[]), name="s")[0])
    assert "The same ranker" not in plain.text
