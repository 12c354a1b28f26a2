"""What is on a critical-distance diagram, and that nothing on it covers anything else."""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from experiments.analysis.critical_distance import compare_ranks
from experiments.figures import critical_distance as drawing
from experiments.figures import style


def table(n_datasets, n_rankers, spread=0.05, name="ReliefE-absMean-adaptive {}"):
    rng = np.random.default_rng(n_rankers)
    level = np.linspace(0.9, 0.5, n_rankers)
    return pd.DataFrame(
        level + rng.normal(0, spread, (n_datasets, n_rankers)),
        index=[f"set {n}" for n in range(n_datasets)],
        columns=[name.format(n) for n in range(n_rankers)],
    )


def tied(n_rankers=6):
    frame = table(10, n_rankers)
    for column in frame.columns[1:4]:
        frame[column] = frame.iloc[:, 1]
    return frame


CASES = {
    "two": table(9, 2),
    "two without difference": table(9, 2, spread=1),
    "three": table(5, 3),
    "fourteen": table(11, 14),
    "fifty": table(20, 50),
    "fifty, two data sets": table(2, 50),
    "fifty, one data set": table(1, 50),
    "ties": tied(),
    "all tied": pd.DataFrame(np.ones((4, 7)), columns=list("abcdefg"), index=list("wxyz")),
    "long names": table(9, 8, name="a ranker with a name that does not end, number {}, and on and on"),
    "one word": table(9, 5, name="x" * 90 + "{}"),
}


def drawn(frame, **settings):
    compared = compare_ranks(frame)
    figure = drawing.figure(compared, title="max F1", **settings)
    (axes,) = figure.axes
    return compared, figure, axes


def by(artists, gid):
    return [artist for artist in artists if artist.get_gid() == gid]


def boxes(figure):
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    texts = [*figure.axes[0].texts, *figure.texts]
    return [(text, text.get_window_extent(renderer)) for text in texts if text.get_text()], renderer


@pytest.fixture(params=list(CASES), ids=list(CASES))
def case(request):
    return drawn(CASES[request.param])


def test_ranks_are_where_the_axis_says(case):
    compared, _, axes = case
    assert axes.get_xlim() == (1, len(compared.average_ranks))
    for name, rank in compared.average_ranks.items():
        (line,) = by(axes.lines, name)
        x, y = line.get_xdata(), line.get_ydata()
        assert x[0] == x[1] == rank and y[0] == 0  # from the axis straight down
        assert x[2] in (1, len(compared.average_ranks)) and y[1] == y[2]  # and to the name
        (text,) = by(axes.texts, name)
        assert text.xy == (x[2], y[2])
        assert text.get_text().endswith(f"  {rank:.2f}")
        assert text.get_text().replace("\n", " ").replace(" ", "").startswith(name.replace(" ", ""))


def test_bars_reach_over_their_rankers_and_no_further(case):
    compared, _, axes = case
    bars = by(axes.lines, "clique")
    assert len(bars) == len(compared.cliques)
    for bar, clique in zip(bars, compared.cliques, strict=True):
        low, high = compared.average_ranks[list(clique)].min(), compared.average_ranks[list(clique)].max()
        reach = 0.005 * (len(compared.average_ranks) - 1)
        assert low - reach <= bar.get_xdata()[0] < low and high < bar.get_xdata()[1] <= high + reach


def test_bars_do_not_touch_each_other(case):
    _, _, axes = case
    for a, b in itertools.combinations(by(axes.lines, "clique"), 2):
        if a.get_ydata()[0] == b.get_ydata()[0]:
            assert a.get_xdata()[1] < b.get_xdata()[0] or b.get_xdata()[1] < a.get_xdata()[0]
        else:
            # A level is further from the next one than a bar is thick.
            inches = abs(a.get_ydata()[0] - b.get_ydata()[0])
            assert inches * 72 > a.get_linewidth() + 1


def test_lines_to_names_turn_below_all_bars(case):
    compared, _, axes = case
    lowest = max(
        (bar.get_ydata()[0] + bar.get_linewidth() / 72 / 2 for bar in by(axes.lines, "clique")), default=0
    )
    for name in compared.average_ranks.index:
        # A name's horizontal piece next to a bar would look like a part of it. Inches grow downwards.
        assert by(axes.lines, name)[0].get_ydata()[1] > lowest + 0.02, name


def test_no_text_overlaps_another_or_a_bar_or_leaves_the_figure(case):
    _, figure, axes = case
    texts, renderer = boxes(figure)
    for (a, one), (b, other) in itertools.combinations(texts, 2):
        assert not one.overlaps(other), (a.get_text(), b.get_text())
    whole = figure.bbox
    for text, box in texts:
        inside = whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1
        assert inside, text.get_text()
    thick = figure.dpi / 72
    for line in axes.lines:
        box = line.get_window_extent(renderer).padded(line.get_linewidth() / 2 * thick)
        for text, place in texts:
            assert not box.overlaps(place) or not crosses(line, place, axes), (
                line.get_gid(),
                text.get_text(),
            )


def crosses(line, box, axes):
    """Whether a line of horizontal and vertical pieces really enters a box, not only its bounding box does."""
    points = axes.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if min(x0, x1) < box.x1 and max(x0, x1) > box.x0 and min(y0, y1) < box.y1 and max(y0, y1) > box.y0:
            return True
    return False


def test_an_inch_down_is_an_inch_of_paper(case):
    _, figure, axes = case
    low, high = axes.get_ylim()
    height = axes.get_position().height * figure.get_size_inches()[1]
    assert low - high == pytest.approx(height)


def test_lines_to_names_do_not_cross(case):
    compared, _, axes = case
    lines = [by(axes.lines, name)[0] for name in compared.average_ranks.index]
    for a, b in itertools.permutations(lines, 2):
        # b's vertical piece against a's horizontal one; equal ranks share their vertical piece
        (x0, x1), y = sorted(a.get_xdata()[1:]), a.get_ydata()[1]
        crossing = x0 < b.get_xdata()[0] < x1 and y < b.get_ydata()[1]
        assert not crossing


def test_the_distance_is_as_long_as_it_says():
    compared, _, axes = drawn(CASES["fourteen"])
    (bar,) = by(axes.lines, "distance")
    assert bar.get_xdata()[1] - bar.get_xdata()[0] == pytest.approx(compared.cd)
    (text,) = by(axes.texts, "distance")
    assert text.get_text() == f"CD = {compared.cd:.2f}"


def test_a_distance_longer_than_the_axis_ends_with_it_and_says_so():
    compared, _, axes = drawn(CASES["fifty, two data sets"])
    (bar,) = by(axes.lines, "distance")
    assert list(bar.get_xdata()) == [1, 50]
    assert by(axes.texts, "distance")[0].get_text() == f"CD = {compared.cd:.2f} (longer than the axis)"
    assert len(by(axes.lines, "stop")) == 1


def test_on_one_data_set_no_distance_and_no_test_is_shown():
    _, figure, axes = drawn(CASES["fifty, one data set"])
    assert not by(axes.lines, "distance") and not by(axes.lines, "clique") and not by(axes.texts, "distance")
    told = " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    assert (
        "Friedman's test is left out: it needs two data sets or more" in told and "Nemenyi's likewise" in told
    )
    assert "chi-square" not in told and "Bars join" not in told


def test_halves_are_rounded_up_as_on_the_page():
    frame = pd.DataFrame([[4, 3, 2, 1]] * 7 + [[3, 4, 2, 1]], columns=list("abcd"), index=list("stuvwxyz"))
    compared, _, axes = drawn(frame)
    assert compared.average_ranks["a"] == 1.125  # format() makes it 1.12
    assert by(axes.texts, "a")[0].get_text().endswith("  1.13")


@pytest.mark.parametrize("k", [2, 3, 10, 11, 14, 25, 50, 120, 300])
def test_ticks_are_few_and_have_both_ends(k):
    ticks = drawing._ticks(k)
    assert ticks[0] == 1 and ticks[-1] == k
    assert ticks == sorted(set(ticks)) and len(ticks) <= 12
    assert k > 11 or ticks == list(range(1, k + 1))


def test_used_and_left_out_data_sets_are_printed():
    frame = table(9, 4, name="ranker {}")
    frame.loc["set 2", "ranker 1"] = np.nan
    frame.loc["set 5", ["ranker 1", "ranker 3"]] = np.nan
    _, figure, _ = drawn(frame, labels={"ranker 1": "SURF"}, note="One more thing.")
    (note,) = by(figure.texts, "note")
    told = note.get_text().replace("\n", " ")
    assert "over 7 data sets: set 0, set 1, set 3, set 4, set 6, set 7, set 8." in told
    assert "Left out: set 2 (not finished by SURF); set 5 (not finished by SURF, ranker 3)." in told
    assert "Friedman's test: chi-square" in told and "p = " in told
    assert told.endswith("One more thing.")


def test_tests_that_are_not_made_or_find_nothing_are_named():
    def told(name):
        return " ".join(drawing.small_print(compare_ranks(CASES[name])))

    assert "Friedman's test is left out: it needs three rankers or more." in told("two")
    assert "all rankers are tied everywhere" in told("all tied")
    assert "It finds no difference" not in told("fourteen")
    said = "With so few data sets no two of 50 rankers can be significantly different."
    assert said in told("fifty, two data sets")
    assert "So few data sets" not in told("fourteen")
    noise = pd.DataFrame(np.random.default_rng(0).random((6, 5)), columns=list("abcde"))
    assert "It finds no difference at 0.05" in " ".join(drawing.small_print(compare_ranks(noise)))


def test_labels_are_shown_and_the_best_is_first_on_the_left():
    compared, _, axes = drawn(CASES["fourteen"], labels={"ReliefE-absMean-adaptive 0": "The best"})
    assert compared.average_ranks.index[0] == "ReliefE-absMean-adaptive 0"
    (text,) = by(axes.texts, "ReliefE-absMean-adaptive 0")
    assert text.get_text() == f"The best  {compared.average_ranks.iloc[0]:.2f}"
    assert text.xy[0] == 1
    names = [by(axes.texts, name)[0].xy[1] for name in compared.average_ranks.index]
    assert names[0] == min(names) and names[-1] == min(names)


@pytest.mark.parametrize("width", [3.5, style.PAGE_WIDTH])
def test_width_and_size_of_text(width):
    _, figure, axes = drawn(CASES["fourteen"], width=width)
    assert figure.get_size_inches()[0] == width
    assert min(text.get_fontsize() for text in axes.texts) >= 7
    assert axes.get_position().width >= 0.25


def test_files_are_repeatable(tmp_path):
    made = [style.save(drawn(CASES["ties"])[1], tmp_path / place, "cd") for place in ("one", "two")]
    for one, two in zip(*made, strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_settings_of_the_user_change_nothing():
    import matplotlib

    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"font.size": 30, "font.family": "monospace"}):
        _, figure, axes = drawn(CASES["three"])
    assert {text.get_fontsize() for text in axes.texts} == {7}
    assert figure.get_size_inches()[1] == drawn(CASES["three"])[1].get_size_inches()[1]
    assert dict(matplotlib.rcParams) == before
