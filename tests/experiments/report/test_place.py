"""A ranker beside those of a study: its place is the first sentence of the console and of the page."""

import io
import math
import re

import made_up_rows
import pages
import pytest

from experiments import report
from experiments.analysis.comparison import compare
from experiments.analysis.groups import groups_of
from experiments.report.sentences import places

#: Demšar (2006), table 5a: critical values of the two-tailed Nemenyi test at α = 0.05, by number of rankers.
Q = {4: 2.569}


def added(name, *, datasets=made_up_rows.MCC_DATASETS, **settings):
    frame, configs = pages.study(datasets=datasets, **settings)
    return frame, [{**each, "also": each["ranker_key"] == name} for each in configs]


def told(frame, configs):
    return places([compare(frame, group) for group in groups_of(configs)])


def by_hand(frame, name):
    """Average ranks and critical distance, from the rows alone."""
    scores = frame.groupby(["dataset", "ranker"])["best_f1_micro"].mean().unstack()
    ranks = scores.rank(axis=1, ascending=False).mean()
    k, n = len(ranks), len(scores)
    cd = Q[k] * math.sqrt(k * (k + 1) / (6 * n))
    return ranks, cd


@pytest.mark.parametrize("name", ["slow", "fair", "poor"])
def test_the_place_and_what_is_significantly_different(name):
    frame, configs = added(name)
    (sentence,) = told(frame, configs)
    ranks, cd = by_hand(frame, name)
    label = {key: value[0] for key, value in pages.RANKERS.items()}
    place = int((ranks < ranks[name]).sum()) + 1
    rank = f"average rank ({ranks[name]:.2f}, by max F1)"
    start = f"{label[name]} has place {place} of 4 by {rank} over 11 data sets "
    assert sentence.startswith(start)
    for word, away in (("better", ranks - ranks[name]), ("worse", ranks[name] - ranks)):
        mine = [other for other in ranks.sort_values().index if away[other] >= cd]
        names = [label[each] for each in mine]
        listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        assert mine or f"significantly {word}" not in sentence
        assert not mine or f"significantly {word} than {listed}" in sentence
    assert sentence.endswith("(Nemenyi, α = 0.05).")


def test_data_sets_are_named():
    frame, configs = added("fair", datasets=pages.DATASETS)
    (sentence,) = told(frame, configs)
    assert "over 4 data sets (chess, madelon, dlbcl and genes)" in sentence
    frame, configs = added("fair")
    assert "(chess, biodeg_p2_discrete, optdigits, madelon, har and 6 others)" in told(frame, configs)[0]


def test_where_it_cannot_be_said():
    frame, configs = added("fair", datasets=["chess"])
    assert told(frame, configs)[0].endswith(
        "over 1 data set (chess); one data set cannot say whether it is significantly different from other rankers."
    )
    # The critical distance of 4 rankers on 2 data sets is 3.32, and their ranks differ by 3 at most.
    frame, configs = added("fair", datasets=["chess", "genes"])
    assert told(frame, configs)[0].endswith(
        "2 data sets cannot say which of 4 rankers are significantly different (Nemenyi, α = 0.05)."
    )


def test_a_shared_place_is_said():
    frame, configs = added("fair", datasets=pages.DATASETS)
    frame = frame.copy()
    curves = frame["ranker"] == "good"
    for column in frame.columns.difference(["ranker", "cell_key"]):
        frame.loc[frame["ranker"] == "fair", column] = frame.loc[curves, column].to_numpy()
    assert 'of 4, shared with Good & "quick", by average rank' in told(frame, configs)[0]


def test_without_a_place_it_is_said_why():
    names = pages.DATASETS
    frame, configs = added("poor", datasets=names, states={(name, "poor"): "missing" for name in names})
    label = pages.RANKERS["poor"][0]
    assert told(frame, configs) == [
        f"{label} has no place by average rank: it is complete on none of 4 data sets."
    ]
    others = {(name, ranker): "missing" for name in names for ranker in ("slow", "good", "fair")}
    frame, configs = added("poor", datasets=names, states=others)
    assert told(frame, configs) == [
        f"{label} has no place by average rank: ranks need two complete rankers on one data set; there is 1 (it is "
        "complete on chess, madelon, dlbcl and genes)."
    ]


def test_nobody_added_nothing_said():
    frame, configs = pages.study()
    assert told(frame, configs) == []


def test_the_console_begins_with_it(tmp_path):
    frame, configs = added("fair", datasets=pages.DATASETS)
    (sentence,) = told(frame, configs)
    out = io.StringIO()
    report.show(frame, configs, {"results": tmp_path}, out, notes=["3 of 4 cells missing"])
    said = " ".join(out.getvalue().split())
    assert said.startswith(f"{sentence} 3 of 4 cells missing chess · paper")


def test_the_page_begins_with_it(tmp_path):
    frame, configs = added("fair", datasets=pages.DATASETS)
    (sentence,) = told(frame, configs)
    path, _ = pages.write(tmp_path, frame, configs, tested=False)
    read = pages.Read(path)
    assert read.text.index(sentence) < read.text.index("Ranks")
    assert re.search(r'</h1>\s*<p class="headline place">Fair has place \d of 4', read.source)
    frame, configs = pages.study()
    plain = pages.write(tmp_path, frame, configs, tested=False)[0].read_text()
    assert '<p class="headline place">' not in plain
