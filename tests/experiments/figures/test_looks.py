"""A ranker has one colour in all figures and on the page, whatever else is shown."""

import itertools
import json
import re

import numpy as np
import pages
import pandas as pd
import pytest
from boxes import by_gid
from folders import PROJECT_ROOT
from made_up_rows import RANKERS, mlc_rankers, study
from matplotlib.colors import to_hex

from experiments.analysis.comparison import compare
from experiments.analysis.curves import convergence
from experiments.analysis.groups import groups_of
from experiments.analysis.scores import averages
from experiments.figures import (
    area,
    critical_distance,
    posterior,
    recovery,
    rf1_curve,
    style,
    times,
)
from experiments.figures import convergence as convergence_drawing

OWN = ("mine.Ranker", "mine.Ranker[depth=3]", "kinds.fun")
SOME = ("reliefe", "relieff_absmean", "skrebate_surf", "random_forest", *OWN)


def seen(color, kind):
    """CIE Lab of a colour, as eyes of some kind see it."""
    # Machado, Oliveira, Fernandes (2009), severity 1, on linear RGB.
    matrix = {
        "normal": np.eye(3),
        "protan": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
        "deutan": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    }[kind]  # fmt: skip
    channels = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = (to_xyz @ np.clip(np.array(matrix) @ linear, 0, 1)) / to_xyz.sum(axis=1)
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


@pytest.mark.parametrize("kind", ["normal", "protan", "deutan"])
def test_colours_of_rankers_are_told_apart_by_all_eyes(kind):
    labs = {color: seen(color, kind) for color in style.RANKER_COLORS}
    for a, b in itertools.combinations(labs, 2):
        assert np.linalg.norm(labs[a] - labs[b]) > 16, (a, b)


def test_every_ranker_of_the_project_has_a_colour_and_a_line_of_its_own():
    files = {file.stem for file in (PROJECT_ROOT / "conf" / "ranker").glob("*.yaml")}
    named = [ranker for rankers in style.RANKER_COLORS.values() for ranker in rankers]
    assert files == set(named) and len(named) == len(set(named))
    looks = style.ranker_looks(named)
    assert len({(look.dashes, look.marker) for look in looks.values()}) == len(named)
    # The paper's own have colours that they share with no other of them.
    assert len({style.ranker_color(ranker) for ranker in RANKERS}) == len(RANKERS) == 14


def test_rankers_of_labels_keep_the_colour_and_differ_by_line_and_marker():
    rankers = list(mlc_rankers())
    looks = style.ranker_looks(rankers)
    for ranker in rankers:
        assert looks[ranker].color == style.ranker_color(ranker.rpartition("_")[0])
    assert len({(look.dashes, look.marker) for look in looks.values()}) == 48


def test_colours_do_not_change_with_what_else_is_shown():
    names = [*RANKERS, *OWN, "reliefe_f1", "relieff[n_neighbors=5]"]
    alone = {name: style.ranker_looks([name])[name] for name in names}
    assert style.ranker_looks(names) == alone
    assert style.ranker_looks(names[::-1]) == alone


@pytest.mark.parametrize(
    ("ranker", "color"),
    [
        ("reliefe", "#0072B2"),
        ("reliefe[n_neighbors=5]", "#0072B2"),
        ("reliefe_hyperbolic[n_neighbors=5]", "#0072B2"),
        ("relieff[n_iterations=4096]", "#D55E00"),
        ("relieff[n_iterations=1]", "#F2CFB2"),
        ("surf_as_skrebate", "#009E73"),
        ("skrebate_surf", "#009E73"),
        # A checksum decides; another one would give all users' rankers other colours than in their older figures.
        ("mine.Ranker", "#6E91F4"),
        ("mine.Ranker[depth=3]", "#6E91F4"),
        ("kinds.fun", "#F0A3B4"),
        ("my_f1", "#F0A3B4"),
    ],
)
def test_the_colour_of_a_name(ranker, color):
    assert style.ranker_color(ranker) == color


def test_own_rankers_have_colours_that_no_family_has():
    found = {style.ranker_color(f"package.Ranker{number}") for number in range(100)}
    assert found == set(style.OWN_COLORS)
    families = {style.ranker_color(ranker) for ranker in RANKERS}
    assert not found & families


def test_rankers_that_would_look_alike_get_other_lines():
    names = [f"own{number}" for number in range(200)]
    looks = style.ranker_looks(names)
    assert len(set(looks.values())) == 200
    assert all(looks[name].color == style.ranker_color(name) for name in names)


def test_one_colour_in_all_figures_and_on_the_page(tmp_path):
    rankers = {name: (name.upper(), 0.01 * place, 1.0 + place) for place, name in enumerate(SOME)}
    frame, configs = study(["d", "e", "f"], rankers, n_splits=3, n_repeats=1)
    (group,) = groups_of(configs)
    c = compare(frame, group)
    mine = c.curves[c.curves["dataset"] == "d"]
    shares = pd.DataFrame({"family": "x", "ranker": SOME, "n_noise": 10, "share": 0.5})
    points = convergence(frame, group)
    found: dict[str, set[str]] = {ranker: set() for ranker in SOME}

    def look_at(figure, name):
        for ranker in SOME:
            artists = [
                each
                for each in figure.findobj(lambda artist: hasattr(artist, "get_color"))
                if each.get_gid() == name.format(ranker) and not hasattr(each, "get_text")
            ]
            assert artists, (name, ranker)
            found[ranker] |= {to_hex(each.get_color()).upper() for each in artists}

    look_at(times.figure(c.averages["fit_seconds"], c.scores["fit_seconds"], title="t"), "mean {}")
    look_at(times.figure(c.averages["fit_seconds"], c.scores["fit_seconds"], title="t"), "sd {}")
    look_at(area.figure(c.averages["aurf1"], c.scores["aurf1"], title="t"), "mean {}")
    look_at(area.figure(c.averages["aurf1"], c.scores["aurf1"], title="t"), "interval {}")
    look_at(critical_distance.figure(c.ranks["best_f1"], title="t"), "{}")
    look_at(rf1_curve.figure(mine, title="t"), "curve {}")
    look_at(rf1_curve.in_panels(mine, title="t", panels=dict.fromkeys(SOME, "p")), "curve {}")
    look_at(convergence_drawing.figure(points, title="t"), "{}")
    lines = recovery.figure(shares).axes[0].get_lines()
    found |= {line.get_label(): found[line.get_label()] | {line.get_color()} for line in lines}
    path, _ = pages.write(tmp_path, frame, configs)
    packed = re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8")).group(1)
    for ranker, shown in zip(c.rankers, json.loads(packed)[0]["rankers"], strict=True):
        assert shown["name"] == c.labels[ranker]
        found[ranker].add(shown["color"])
    assert found == {ranker: {style.ranker_color(ranker)} for ranker in SOME}


def test_draws_of_a_posterior_have_the_colour_of_whom_they_favour():
    draws = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.5, 0.3, 0.2]])
    pair = ("reliefe", "random_forest")
    figure = posterior.figure([pair], {pair: draws}, {pair: (0.5, 0.25, 0.25)}, title="t")
    colors = [to_hex(each).upper() for each in by_gid(figure)["draws"].get_facecolor()]
    assert colors == ["#0072B2", "#595959", "#CC79A7", "#0072B2"]


def test_a_branch_has_one_marker_whoever_else_is_drawn():
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0]}, index=["d", "e"])
    branches = {"a": "ReliefE", "b": "scikit-rebate", "c": "other"}
    markers = {}
    for rankers in (["a", "b", "c"], ["b", "c"], ["a", "c"]):
        mine = table[rankers]
        figure = times.figure(averages(mine, higher_is_better=False), mine, title="t", branches=branches)
        found = by_gid(figure.axes[0])
        for ranker in rankers:
            markers.setdefault(ranker, set()).add(found[f"mean {ranker}"].get_marker())
    assert [len(markers[ranker]) for ranker in "abc"] == [1, 1, 1]
    assert len(set.union(*markers.values())) == 3


def test_branches_of_times_have_markers():
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0]}, index=["d", "e"])
    figure = times.figure(
        averages(table, higher_is_better=False), table, title="t", branches={"a": "x", "b": "y", "c": "x"}
    )
    found = by_gid(figure.axes[0])
    markers = [found[f"mean {ranker}"].get_marker() for ranker in "abc"]
    assert markers[0] == markers[2] != markers[1]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["x", "y"]
    assert [handle.get_marker() for handle in legend.legend_handles] == markers[:2]
