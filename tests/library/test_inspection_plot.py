"""The plot of weights: what is drawn, for whom, and what is said where something is missing."""

import sys
from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import colors

from reliefe import ReliefF
from reliefe.inspection import permutation_test, plot_weights, stability

matplotlib.use("agg")
from matplotlib import pyplot as plt

LONG = "ENSG00000141510|TP53|cellular tumour antigen p53 (chromosome 17)"


@pytest.fixture(autouse=True)
def figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 12))
    X[:, [2, 7]] += 3 * y[:, np.newaxis]
    names = [f"gene {j}" for j in range(12)]
    names[2], names[7] = LONG, "$x_1$ of $x$"
    return pd.DataFrame(X, columns=names), y


@pytest.fixture(scope="module")
def inspected(table):
    found = permutation_test(ReliefF(5), *table, permute="target", n_permutations=199, random_state=0)
    return found, stability(ReliefF(5), *table, n_features=2, n_subsamples=20, random_state=0)


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_best_features_stand_at_the_top_with_their_weights():
    ax = plot_weights([0.1, -0.3, 0.4, 0.2], n_best=3)
    assert labels(ax) == ["2", "3", "0"]
    assert [bar.get_width() for bar in ax.patches] == [0.4, 0.2, 0.1]
    top, bottom = (ax.transData.transform((0, place))[1] for place in (0, 2))
    assert top > bottom and not ax.figure.legends


def test_names_come_from_the_ranker_and_long_ones_keep_both_ends(table):
    ranker = ReliefF(5).fit(*table)
    ax = plot_weights(ranker, n_best=2)
    short = next(label for label in labels(ax) if label != "$x_1$ of $x$")
    assert set(labels(ax)) == {"$x_1$ of $x$", short} and len(short) == 40
    before, after = short.split("…")
    assert LONG.startswith(before) and LONG.endswith(after) and min(len(before), len(after)) >= 19
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())  # dollars are dollars
    given = plot_weights(ranker, feature_names=[f"a{j}" for j in range(12)], n_best=2)
    assert set(labels(given)) == {"a2", "a7"}


def test_names_are_inside_the_figure(table):
    ax = plot_weights(ReliefF(5).fit(*table))
    ax.figure.canvas.draw()
    assert min(label.get_window_extent().x0 for label in ax.get_yticklabels()) >= 0


def test_a_test_colours_bars_and_draws_a_line(inspected):
    found, _ = inspected
    ax = plot_weights(found, level=0.1, family_level=0.05)
    drawn = [colors.to_hex(bar.get_facecolor()) for bar in ax.patches]
    chosen = found.q_values[np.argsort(-found.weights)] <= 0.1
    dark, pale = (
        {each for each, yes in zip(drawn, chosen, strict=True) if yes == side} for side in (True, False)
    )
    assert len(dark) == len(pale) == 1 and dark != pale
    # They differ in lightness, for eyes and printers without colours.
    light = [np.dot(colors.to_rgb(each.pop()), [0.21, 0.72, 0.07]) for each in (dark, pale)]
    assert light[1] - light[0] > 0.3
    assert ax.lines[-1].get_xdata()[0] == found.threshold(0.05)
    (legend,) = ax.figure.legends
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == ["q ≤ 0.1", "q > 0.1", "largest weight by chance, p = 0.05"]
    few = replace(found, null_maxima=found.null_maxima[:9], n_permutations=9)
    assert (
        len(plot_weights(few).lines) == 1
    )  # nine permutations give no p <= 0.05: there is the line at 0 alone


def test_frequencies_stand_beside_their_bars(inspected):
    found, often = inspected
    ax = plot_weights(found.weights, stability=often, n_best=4)
    order = np.argsort(-found.weights)[:4]
    texts = {text.get_position()[1]: text.get_text() for text in ax.texts[1:]}
    assert texts == {place: f"{100 * often.frequency[j]:.0f} %" for place, j in enumerate(order)}
    assert ax.texts[0].get_text() == "in top 2"
    assert labels(ax)[2:] == often.feature_names[order[2:]].tolist()


def test_axes_of_the_user_are_drawn_on(inspected):
    _, ax = plt.subplots()
    assert plot_weights(inspected[0], ax=ax) is ax and ax.get_legend() is not None


@pytest.mark.parametrize(
    ("weights", "given", "message"),
    [
        ([1.0, 2.0], {"n_best": 0}, "n_best must be a whole number of at least 1"),
        ([1.0, 2.0], {"feature_names": ["a"]}, "feature_names is of 1 features, but there are 2 weights"),
        ([[1.0, 2.0]], {}, "weights must be one number for each feature"),
        (ReliefF(), {}, "ReliefF has no feature_importances_; fit it first"),
    ],
)
def test_wrong_parameters_are_named(weights, given, message):
    with pytest.raises(ValueError, match=message):
        plot_weights(weights, **given)


def test_tests_of_other_features_are_refused(inspected):
    found, often = inspected
    with pytest.raises(ValueError, match="test is of 12 features, but there are 2 weights"):
        plot_weights([1.0, 2.0], test=found)
    with pytest.raises(ValueError, match="stability is of 12 features"):
        plot_weights([1.0, 2.0], stability=often)


def test_what_is_not_installed_is_named(inspected, monkeypatch):
    found, often = inspected
    for missing, call in (
        ("matplotlib", lambda: plot_weights(found)),
        ("pandas", found.to_frame),
        ("pandas", often.to_frame),
    ):
        monkeypatch.setitem(sys.modules, missing, None)
        with pytest.raises(ImportError, match=f"python -m pip install {missing}"):
            call()
