"""Rankers of ours that stand for skrebate's in the paper's pairs: which pairs, in what order, under what names."""

import numpy as np
import pages
import pytest
from boxes import by_gid, texts
from made_up_rows import RANKERS, study

from experiments.analysis.comparison import compare
from experiments.analysis.groups import groups_of
from experiments.analysis.pairs import PAPER_PAIRS, pairs_of, paper_pairs, posteriors_of
from experiments.analysis.same_rankers import STAND_INS, stands_for
from experiments.analysis.selection import complete_rows
from experiments.figures import style
from experiments.report.figures import draw_group

FEW = {"n_splits": 2, "n_repeats": 1, "n_points": 4, "n_features": 30}
OURS = {STAND_INS.get(name, name): each for name, each in RANKERS.items()}
#: The paper's pairs with ours in the place of skrebate's.
PAIRS_OF_OURS = tuple((STAND_INS.get(a, a), STAND_INS.get(b, b)) for a, b in PAPER_PAIRS)


def ours():
    """The paper's rankers, ours named as stand-ins."""
    return {
        name: (label.replace("(skrebate)", "(as skrebate's)"), skill, seconds)
        for name, (label, skill, seconds) in OURS.items()
    }


def paired(rankers, datasets=("d", "e"), **settings):
    made, configs = study(datasets, rankers, **FEW, **settings)
    (group,) = groups_of(configs)
    pairs, _ = pairs_of(complete_rows(made, group.expected), list(group.labels))
    return made, group, pairs


def answered(pairs):
    """Posteriors that are made up."""
    rng = np.random.default_rng(0)
    answers = [
        {"probabilities": (0.2, 0.7, 0.1), "draws": rng.dirichlet([1, 2, 3], 30), "r_hat": 1.0, "ess": 500.0,
         "divergences": 0, "n_draws": 100, "message": ""}
        for _ in pairs
    ]  # fmt: skip
    return posteriors_of(pairs, answers, {"sampler": "made up"})


def test_stand_ins_make_all_of_the_papers_pairs():
    _, _, pairs = paired(ours())
    assert tuple((pair.a, pair.b) for pair in pairs[:10]) == PAIRS_OF_OURS
    assert len(pairs) == len({frozenset((pair.a, pair.b)) for pair in pairs}) == 91
    table = answered(pairs).table
    assert table["in_paper"].tolist() == [True] * 10 + [False] * 81


def test_skrebates_own_count_before_their_stand_ins_where_both_are_complete():
    _, _, pairs = paired({**ours(), **RANKERS})
    assert tuple((pair.a, pair.b) for pair in pairs[:10]) == PAPER_PAIRS
    table = answered(pairs).table
    assert table["in_paper"].sum() == 10 and table["in_paper"].head(10).all()


def test_the_stand_in_counts_where_it_has_more_data_sets():
    states = {("e", "skrebate_surf"): "timeout", ("f", "skrebate_multisurf"): "missing"}
    _, _, pairs = paired({**ours(), **RANKERS}, ("d", "e", "f"), states=states)
    wanted = [
        tuple(STAND_INS[each] if each in ("skrebate_surf", "skrebate_multisurf") else each for each in pair)
        for pair in PAPER_PAIRS
    ]
    assert [(pair.a, pair.b) for pair in pairs[:10]] == wanted
    assert all(len(pair.datasets) == 3 for pair in pairs[:10])


def test_of_pairs_in_any_order_the_papers_are_found():
    tested = [
        ("skrebate_surf", "skrebate_multisurf_star", 3),
        ("surf_as_skrebate", "multisurf_star_as_skrebate", 5),
        ("random_forest", "mutual_information", 5),
    ]
    found = paper_pairs(tested)
    assert found == {
        ("skrebate_multisurf_star", "skrebate_surf"): ("surf_as_skrebate", "multisurf_star_as_skrebate")
    }
    assert paper_pairs(tested[:1]) == {("skrebate_multisurf_star", "skrebate_surf"): tested[0][:2]}
    assert paper_pairs([]) == {}


def test_what_a_ranker_stands_for():
    assert [stands_for(each) for each in ("surf_as_skrebate", "skrebate_surf", "surf")] == [
        "skrebate_surf", "skrebate_surf", "surf",
    ]  # fmt: skip


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were saved, by the end of their names."""
    kept = {}
    save = style.save
    monkeypatch.setattr(
        style, "save", lambda figure, folder, stem: kept.update({stem: figure}) or save(figure, folder, stem)
    )
    return kept


def test_the_figure_shows_all_ten_pairs_and_names_the_stand_ins(tmp_path, drawn):
    made, group, pairs = paired(ours())
    found = draw_group(compare(made, group, posterior=answered(pairs)), tmp_path)
    (figure,) = (each for stem, each in drawn.items() if stem.endswith("_posterior"))
    shown = [
        (by_gid(axes)["a"].get_text().split("\n", 1)[1], by_gid(axes)["b"].get_text().split("\n", 1)[1])
        for axes in figure.axes
    ]
    assert [tuple("".join(each.split()) for each in pair) for pair in shown] == [
        tuple("".join(group.labels[each].split()) for each in pair) for pair in PAIRS_OF_OURS
    ]
    note = next(each.note for each in found if each.figure == "posterior")
    names = ", ".join(f"{name} (as skrebate's)" for name in ("MultiSURF*", "SURF", "ReliefF", "MultiSURF"))
    assert f"{names} stand for skrebate's own, whose weights they give but for ties." in note
    assert "not tested" not in note and "stand for skrebate's" in " ".join(texts(figure).split())


def test_pairs_of_the_paper_that_are_not_tested_are_named(tmp_path, drawn, undrawn):
    some = {name: each for name, each in ours().items() if name != "mutual_information"}
    made, group, pairs = paired(some)
    found = draw_group(compare(made, group, posterior=answered(pairs)), tmp_path)
    note = next(each.note for each in found if each.figure == "posterior")
    assert "Of the paper's 10 pairs not tested: skrebate_multisurf_star – mutual_information." in note


def test_the_page_shows_the_pairs_and_names_the_stand_ins(tmp_path):
    made, configs = study(["d", "e"], ours(), **FEW)
    path, _ = pages.write(tmp_path, made, configs)
    read = pages.Read(path)
    assert "MultiSURF* (as skrebate's)" in read.text and "stand for skrebate's own" in read.text
    labels = compare(made, groups_of(configs)[0]).labels
    tested = {(line["first"], line["second"]) for line in read.lines("g0-pairs-table")}
    assert {(labels[a], labels[b]) for a, b in PAIRS_OF_OURS} <= tested
    made, configs = study(["d", "e"], **FEW)
    path, _ = pages.write(tmp_path, made, configs)
    assert "stand for skrebate's own" not in pages.Read(path).text


def test_no_rows_no_pairs():
    made, configs = study(["d", "e"], ours(), **FEW)
    (group,) = groups_of(configs)
    assert pairs_of(complete_rows(made, group.expected).head(0), list(group.labels)) == ([], [])
