"""What is on the axes, and that files are whole and repeatable; not what pixels look like."""

import itertools

import numpy as np
import pandas as pd
import pytest
from made_up import frame, repeats, row
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection

from experiments.analysis.curves import rf1_curve
from experiments.errors import BadInputError
from experiments.figures import rf1_curve as drawing
from experiments.figures import style


def curves(*rankers, n_features=64):
    """Some curves with bands."""
    grid = np.unique(np.geomspace(1, n_features, 20).astype(int))
    made = []
    for place, ranker in enumerate(rankers):
        for fold in range(3):
            curve = 0.5 + 0.4 * np.linspace(0, 1, len(grid)) ** (0.3 + 0.1 * place) + 0.02 * fold
            made.append(row(ranker, 0, fold, curve=curve, grid=tuple(grid)))
    return rf1_curve(frame(made))


def axes_of(points, **settings):
    figure = drawing.figure(points, title="t", **settings)
    (axes,) = figure.axes
    return figure, axes


def lines_of(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def boxes_of(figure):
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    return {
        "axes": figure.axes[0].get_tightbbox(renderer),
        "legend": figure.legends[0].get_window_extent(renderer),
        "note": figure.texts[0].get_window_extent(renderer),
    }, figure.bbox


def test_the_axes_hold_the_frame():
    points = curves("a", "b")
    _, axes = axes_of(points, labels={"a": "Ranker A"})
    lines = lines_of(axes)
    assert list(lines) == ["Ranker A", "b"]
    for label, ranker in (("Ranker A", "a"), ("b", "b")):
        mine = points[points["ranker"] == ranker]
        np.testing.assert_array_equal(lines[label].get_xdata(), mine["n_features"])
        np.testing.assert_array_equal(lines[label].get_ydata(), mine["rf1_mean"])
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() and "rF1" in axes.get_ylabel()


def test_bands_reach_from_lower_to_upper():
    points = curves("a")
    _, axes = axes_of(points)
    (band,) = (each for each in axes.collections if isinstance(each, PolyCollection))
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.round(12)}
    for line in points.itertuples():
        assert (line.n_features, round(line.rf1_lower, 12)) in corners
        assert (line.n_features, round(line.rf1_upper, 12)) in corners


def test_there_is_a_line_at_one_and_it_is_in_sight():
    points = curves("a")
    points[["rf1_mean", "rf1_lower", "rf1_upper"]] *= 0.5
    _, axes = axes_of(points)
    (one,) = (line for line in axes.lines if line.get_gid() == "all features")
    assert set(one.get_ydata()) == {1.0}
    assert axes.get_ylim()[0] < 1 < axes.get_ylim()[1]


def test_all_lines_are_in_sight():
    points = curves("a", "b", "c")
    _, axes = axes_of(points)
    low, high = axes.get_ylim()
    assert low <= points["rf1_mean"].min() and points["rf1_mean"].max() <= high
    low, high = axes.get_xlim()
    assert low < 1 and points["n_features"].max() < high


def test_a_very_wide_band_does_not_flatten_the_lines():
    points = curves("a")
    points["rf1_lower"], points["rf1_upper"] = -30.0, 30.0
    _, axes = axes_of(points)
    low, high = axes.get_ylim()
    assert low >= 0
    assert high - low < 5 * (points["rf1_mean"].max() - points["rf1_mean"].min())


@pytest.mark.parametrize("n_features", [1, 2, 7, 13, 64, 500, 20531, 100000])
def test_ticks_are_few_and_tell_the_number_of_all_features(n_features):
    figure, axes = axes_of(curves("a", n_features=n_features))
    figure.draw(FigureCanvasAgg(figure).get_renderer())
    texts = [tick.get_text() for tick in axes.get_xticklabels()]
    assert str(n_features) == texts[-1]
    assert len(texts) <= 8
    boxes = [tick.get_window_extent() for tick in axes.get_xticklabels()]
    assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))


@pytest.mark.parametrize("names", [["a"], [f"ranker-{n}" for n in range(14)], ["a very long name " * 6, "b"]])
def test_legend_and_note_cover_nothing(names):
    figure, _ = axes_of(curves(*names), note="Not shown: one (3 of 10 repeats).\n" * 4)
    boxes, whole = boxes_of(figure)
    for a, b in itertools.combinations(boxes.values(), 2):
        assert not a.overlaps(b)
    for box in boxes.values():
        assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1


def test_the_figure_is_one_column_wide_with_text_to_be_read_at_that_size():
    figure, axes = axes_of(curves("a"))
    assert figure.get_size_inches()[0] == style.COLUMN_WIDTH == 3.5
    texts = [axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels(), *figure.legends[0].get_texts()]
    assert min(text.get_fontsize() for text in texts) >= 7


def test_the_title_and_the_note_are_there():
    figure = drawing.figure(curves("a"), title="digits (quick)", note="Left out: 2 folds.")
    assert figure.axes[0].get_title() == "digits (quick)"
    assert figure.texts[0].get_text() == "Left out: 2 folds."


def test_looks_differ_in_black_and_white_too():
    looks = style.looks([f"r{n}" for n in range(30)])
    assert len(set(looks.values())) == 30
    assert len({(look.dashes, look.marker) for look in looks.values()}) == 30


def test_a_ranker_keeps_its_look_when_others_are_not_shown():
    looks = style.looks(["a", "b", "c"])
    points = curves("a", "b", "c")
    _, all_shown = axes_of(points, looks=looks)
    _, some_shown = axes_of(points[points["ranker"] != "b"], looks=looks)
    assert lines_of(all_shown)["c"].get_color() == lines_of(some_shown)["c"].get_color()
    assert lines_of(all_shown)["c"].get_linestyle() == lines_of(some_shown)["c"].get_linestyle()


def test_the_palette_is_told_apart_by_colour_blind_eyes():
    def seen(color, kind):
        # Machado, Oliveira, Fernandes (2009), severity 1, on linear RGB.
        matrix = {
            "protan": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
            "deutan": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
        }[kind]  # fmt: skip
        channels = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
        return np.array(matrix) @ channels**2.2

    for kind in ("protan", "deutan"):
        for a, b in itertools.combinations(style.PALETTE, 2):
            assert np.abs(seen(a, kind) - seen(b, kind)).max() > 0.08, (kind, a, b)


def test_no_value_anywhere_is_said_on_the_axes():
    points = rf1_curve(frame(repeats("a", curve=(0.5, 0.5, 0.0))))
    figure, axes = axes_of(points)
    assert [text.get_text() for text in axes.texts] == ["rF1 has no value in any fold"]
    figure.draw(FigureCanvasAgg(figure).get_renderer())


def test_files_are_repeatable_and_undated(tmp_path):
    made = []
    for place in ("one", "two"):
        figure, _ = axes_of(curves("a", "b"))
        made.append(style.save(figure, tmp_path / place / "figures", "x"))
    for one, two in zip(*made, strict=True):
        assert one.read_bytes() == two.read_bytes()
    png, svg = made[0]
    assert (png.name, svg.name) == ("x.png", "x.svg")
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text(encoding="utf-8")
    assert text.rstrip().endswith("</svg>")
    assert "dc:date" not in text
    assert sorted(path.name for path in png.parent.iterdir()) == ["x.png", "x.svg"]


def at_dpi_of_published(figure, folder):
    with style.applied():
        figure.savefig(folder / "as_drawn.png", dpi=120)
    return folder / "as_drawn.png"


def test_published_figures_are_small_and_png_alone(tmp_path):
    from PIL import Image

    points = curves(*(f"ranker{number}" for number in range(4)))
    looks = style.ranker_looks(list(points["ranker"]))
    with style.published():
        small = style.save(axes_of(points)[0], tmp_path / "small", "x")
        again = style.save(axes_of(points)[0], tmp_path / "again", "x")
    large = style.save(axes_of(points)[0], tmp_path / "large", "x")
    as_drawn = at_dpi_of_published(axes_of(points)[0], tmp_path)
    assert [file.name for file in small] == ["x.png"] and [file.name for file in large] == ["x.png", "x.svg"]
    assert small[0].read_bytes() == again[0].read_bytes()
    assert small[0].stat().st_size < 0.5 * large[0].stat().st_size
    with Image.open(small[0]) as few, Image.open(as_drawn) as all_of_them:
        assert few.mode == "P" and few.size == all_of_them.size
        assert few.info["dpi"] == pytest.approx(all_of_them.info["dpi"])
        a, b = (np.asarray(each.convert("RGB")).astype(int) for each in (few, all_of_them))
    assert len(np.unique(a.reshape(-1, 3), axis=0)) <= 256
    # Paper and lines are as drawn, and nothing is far off.
    for color in ("#FFFFFF", *(look.color for look in looks.values())):
        channels = [int(color[place : place + 2], 16) for place in (1, 3, 5)]
        there = (b == channels).all(axis=-1)
        assert there.sum() > 100 and (a[there] == channels).all(), color
    assert np.abs(a - b).mean() < 0.5 and (np.abs(a - b).max(axis=-1) > 40).mean() < 1e-3


def test_a_figure_of_few_colours_keeps_them_all(tmp_path):
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(1, 1))
    figure.add_axes((0, 0, 1, 1)).set_axis_off()
    figure.axes[0].axvspan(0, 0.5, color="#0072B2")
    with style.published():
        (small,) = style.save(figure, tmp_path / "small", "x")
    with Image.open(small) as few, Image.open(at_dpi_of_published(figure, tmp_path)) as all_of_them:
        np.testing.assert_array_equal(few.convert("RGB"), all_of_them.convert("RGB"))


def test_an_older_figure_is_replaced(tmp_path):
    (tmp_path / "x.png").write_bytes(b"old")
    figure, _ = axes_of(curves("a"))
    style.save(figure, tmp_path, "x")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_a_place_that_cannot_be_written_to(tmp_path):
    (tmp_path / "figures").write_text("a file where the folder should be")
    figure, _ = axes_of(curves("a"))
    with pytest.raises(BadInputError, match="cannot be written"):
        style.save(figure, tmp_path / "figures", "x")


def test_global_settings_stay_as_they_were():
    import matplotlib

    before = dict(matplotlib.rcParams)
    axes_of(curves("a"))
    assert dict(matplotlib.rcParams) == before


def test_settings_of_the_user_change_nothing():
    import matplotlib

    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        _, axes = axes_of(curves("a"))
    assert axes.xaxis.label.get_fontsize() == 8
    assert axes.get_facecolor() == (1, 1, 1, 1)


def test_the_frame_is_not_changed():
    points = curves("a")
    before = points.copy(deep=True)
    axes_of(points)
    pd.testing.assert_frame_equal(points, before)
