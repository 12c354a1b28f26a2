"""A name is never markup: in every figure, in LaTeX, on the page and on the console."""

import functools
import inspect
import io
import re

import numpy as np
import pandas as pd
import pytest
from boxes import assert_tidy, drawn, texts
from made_up_rows import study
from matplotlib.text import Text

from experiments import report
from experiments.analysis import bayes
from experiments.cli.main import run
from experiments.config.compose import compose_runs
from experiments.config.validation import one_line
from experiments.figures import (
    area,
    convergence,
    layout,
    posterior,
    ranked_table,
    recovery,
    rf1_curve,
    side_experiments,
    similarity,
    style,
    times,
)
from experiments.paths import PROJECT_ROOT

#: What matplotlib, LaTeX, HTML or a spreadsheet would take for something else.
NAMES = ["_hidden", "$5 vs $10", "R$_$F", r"a\frac{1}^{b", "100 % & <b>x</b> #1", "=1+1", "*[0]"]
LONG = ["a_name_without_a_blank" * 9, "one two " * 25]

FIGURES = ["rf1_curve", "rf1_panels", "recovery", "times", "area", "similarity", "posterior", "convergence"]
FIGURES += [
    "sparsification",
    "densities",
    "adaptive_k",
    "phases",
    "latent_dimension",
    "ranked_table",
    "empty",
]


class Answer:
    """What the sampler would say."""

    max_rhat, min_ess, divergences, n_drawn = 1.001, 5000.0, 0, 4000
    sample = np.tile([0.2, 0.5, 0.3], (50, 1))

    def probs(self):
        return 0.2, 0.5, 0.3


def curves_of(rankers, shares=False):
    """Points of a curve for every ranker."""
    grid = [1, 10, 100, 1000]
    points = pd.DataFrame([(ranker, f) for ranker in rankers for f in grid], columns=["ranker", "n_features"])
    points["rf1_mean"], points["rf1_lower"], points["rf1_upper"] = 0.9, 0.8, 1.0
    return points.assign(dataset="_d", protocol="p", n_noise=points["n_features"], share=0.5, family="_f$_$")


def averages_of(names):
    found = pd.DataFrame({"ranker": names, "mean": 0.5, "sd": 0.1, "lower": 0.4, "upper": 0.6})
    found["minus_sd"], found["plus_sd"] = 0.4, 0.6
    found.attrs |= {"datasets": names, "not_common": [], "left_out": []}
    return found


def measured(name, **columns):
    return pd.DataFrame({"dataset": name, "protocol": "p", "ranker": name, "repeat": 0, **columns})


@functools.cache
def figures_of(*names):
    """Figures of every kind by name."""
    return dict(every_figure(list(names)))


def every_figure(names):
    """One figure of every kind, with names of rankers and of data sets."""
    title, note = " ".join(names), "\n".join(names)
    labels = {name: name for name in names}
    table = pd.DataFrame(0.5, index=names, columns=names)
    sparsity = {
        "epsilon": [0.1, 10.0, 1.0],
        "share_before": 0.9,
        "share": 0.5,
        "estimated": [False, False, True],
    }
    ks = {"k": [1.0, 10.0, 100.0], "density": [0.1, 0.3, 0.1], "median": 10.0, "n": 9}
    points = {"rows": "raw", "log_ratio": [0.1, 0.2], "minus_log_rest": [0.3, 0.6], "slope": 3.0}
    of_names = {"ignore_index": True}
    sparse = pd.concat([measured(name, **sparsity) for name in names], **of_names)
    yield "rf1_curve", rf1_curve.figure(curves_of(names), title=title, note=note, labels=labels)
    yield (
        "rf1_panels",
        rf1_curve.in_panels(curves_of(names), title=title, note=note, panels=labels, labels=labels),
    )
    yield "recovery", recovery.figure(curves_of(names), labels=labels, note=note)
    yield (
        "times",
        times.figure(averages_of(names), table, title=title, note=note, labels=labels, branches=labels),
    )
    yield "area", area.figure(averages_of(names), table, title=title, note=note, labels=labels)
    yield "similarity", similarity.figure(table, title=title, note=note, labels=labels)
    yield (
        "posterior",
        posterior.figure(
            [(names[0], each) for each in names[1:]],
            {(names[0], each): Answer.sample for each in names[1:]},
            {(names[0], each): (0.2, 0.5, 0.3) for each in names[1:]},
            title=title,
            note=note,
            labels=labels,
        ),
    )
    yield (
        "convergence",
        convergence.figure(
            pd.concat(
                [
                    measured(name, family=name, label=name, n_iterations=[1, 2, 4], every_row=False, mean=0.9)
                    for name in names
                ],
                **of_names,
            ).assign(lower=0.8, upper=1.0, minimum=0.7, maximum=1.0, n_folds=3),
            title=title,
            note=note,
        ),
    )
    yield "sparsification", side_experiments.sparsification(sparse, title=title, note=note)
    yield "densities", side_experiments.densities(sparse, pd.DataFrame(), title=title, note=note)
    yield (
        "adaptive_k",
        side_experiments.adaptive_k(
            pd.concat([measured(name, **ks) for name in names], **of_names),
            title=title,
            note=note,
            labels=labels,
        ),
    )
    yield (
        "phases",
        side_experiments.phases(
            pd.concat(
                [measured(name, phase=names, seconds=0.1, share=0.1, total=1.0) for name in names], **of_names
            ).assign(before=lambda frame: 0.1 * (frame.index % len(names)), n_repeats=1),
            title=title,
            note=note,
            labels=labels,
        ),
    )
    yield (
        "latent_dimension",
        side_experiments.latent_dimension(measured("x", **points), title=title, note=note),
    )
    weights = np.linspace(1, -0.2, len(names))
    yield "ranked_table", ranked_table.bars(names, weights, keep=2, q_values=np.abs(weights))
    yield "empty", layout.empty(title, title, note)


def test_no_figure_is_left_out():
    assert list(figures_of(*NAMES)) == FIGURES
    modules = {path.stem for path in (PROJECT_ROOT / "experiments" / "figures").glob("*.py")}
    # Three are no figures; critical distances are drawn by the report below.
    others = {"__init__", "style", "layout", "heatmap", "critical_distance"}
    functions = inspect.getmembers(side_experiments, inspect.isfunction)
    side = {
        name for name, each in functions if each.__module__ == side_experiments.__name__ and name[0] != "_"
    }
    assert side and side <= set(FIGURES)
    drawn_by = {"rf1_panels": "rf1_curve", **dict.fromkeys(side, "side_experiments")}
    assert modules - others == {drawn_by.get(name, name) for name in FIGURES} - {"empty"}


def read_as_formulas(figure):
    """Texts in which matplotlib looks for formulas."""
    with style.applied():  # ticks are made when they are drawn
        drawn(figure)
        return [text.get_text() for text in figure.findobj(Text) if text.get_parse_math()]


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_writes_names_as_they_are(tmp_path, name):
    figure = figures_of(*NAMES)[name]
    assert not read_as_formulas(figure)
    words = re.sub(r"\s", "", texts(figure))
    for each in NAMES:
        assert re.sub(r"\s", "", each) in words
    assert "mathdefault" not in words
    style.save(figure, tmp_path, "x")


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_room_for_long_names(tmp_path, name):
    figure = figures_of(*LONG, "short")[name]
    assert_tidy(figure)
    style.save(figure, tmp_path, "x")


@pytest.mark.parametrize("name", ["rf1_curve", "rf1_panels", "recovery", "times", "convergence", "densities"])
def test_a_name_that_begins_with_an_underscore_is_in_the_legend(name):
    figure = figures_of(*NAMES)[name]
    # One for the whole figure, or one below each panel.
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend() is not None)]
    assert [text.get_text() for legend in legends for text in legend.get_texts()] == NAMES
    assert sum(len(legend.legend_handles) for legend in legends) == len(NAMES)


def test_rankers_of_one_name_have_an_entry_each():
    figure = recovery.figure(curves_of(["a", "b"]), labels={"a": "same", "b": "same"})
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["same", "same"]
    assert len({handle.get_color() for handle in legend.legend_handles}) == 2


def test_powers_of_ten_without_markup():
    written = style.PowersOfTen()
    values = [1e-12, 0.001, 1.0, 10.0, 1e5]
    assert [written(value) for value in values] == ["10⁻¹²", "10⁻³", "10⁰", "10¹", "10⁵"]


def test_a_long_name_keeps_its_beginning_and_its_end():
    assert layout.shortened("short") == "short"
    name = "beginning " + "x" * 200 + " end"
    cut = layout.shortened(name)
    assert cut.startswith("beginning") and cut.endswith(" end") and cut.count("…") == 1
    assert 2.0 < layout.text_width(cut, 7) <= layout.LONGEST


@pytest.mark.parametrize("task", ["multiclass", "multilabel"])
def test_a_whole_report_of_such_names(tmp_path, monkeypatch, task):
    monkeypatch.setattr(bayes, "hierarchical_tests", lambda pairs, *_, **__: [Answer() for _ in pairs])
    saved = {}

    def save(figure, folder, stem):
        saved[stem] = figure
        return kept(figure, folder, stem)

    kept = style.save
    monkeypatch.setattr(style, "save", save)
    rankers = {f"r{place}": (name, 0.01 * place, 1.0 + place) for place, name in enumerate([*NAMES, *LONG])}
    datasets = ["cost $a_$b^{.csv", "_e"]
    made, configs = study(datasets, rankers, name="mine", task=task, n_repeats=1, n_splits=3)
    out = io.StringIO()
    report.show(made, configs, {"results": tmp_path}, out, whole=True)
    assert all(name in out.getvalue() for name in [*NAMES, *datasets])
    for stem, figure in saved.items():
        assert not read_as_formulas(figure), stem
        if not stem.endswith("posterior"):
            assert "_hidden" in texts(figure), stem
    for file in (tmp_path / "tables").glob("*.tex"):
        body = file.read_text(encoding="utf-8")
        body = "".join(line for line in body.splitlines(keepends=True) if not line.startswith("%"))
        assert not re.search(r"(?<!\\)\$", body), file
    (page,) = (tmp_path / "report").iterdir()
    assert "<b>x</b>" not in page.read_text(encoding="utf-8")


def test_from_a_file_and_a_ranker_with_such_names_to_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = "cost $a_$b^{.csv"
    lines = ["weight,kind", *(f"{value},{'ab'[value % 2]}" for value in range(30))]
    (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    argv = ["dataset=csv", f"dataset.path='{name}'", "dataset.target=kind", "ranker._target_=cheap.between"]
    argv += [
        "ranker.display_name='R$_$F'",
        "protocol.n_splits=3",
        "paths.results=out",
        "launcher.n_workers=1",
    ]
    assert run(argv) == 0
    out = capsys.readouterr().out
    assert name in out and "R$_$F" in out
    (page,) = (tmp_path / "out" / "report").iterdir()
    assert "R$_$F" in page.read_text(encoding="utf-8")


def test_names_are_one_line_that_can_be_printed():
    assert one_line(" a\n b\tc ") == "a b c"
    assert one_line("bell\x07, cut\udcff, é, 漢, $_$") == "bell\\x07, cut\\udcff, é, 漢, $_$"

    def shown(*argv):
        (config,) = compose_runs(["dataset=wine", *argv]).configs
        return config["ranker"]["display_name"]

    assert shown("ranker=relieff", 'ranker.display_name="two\nlines"') == "two lines"
    assert shown("ranker._target_=cheap.between", "ranker.display_name=null") == "between"
    assert shown("ranker._target_=cheap.between", "ranker.display_name=' '") == "between"
