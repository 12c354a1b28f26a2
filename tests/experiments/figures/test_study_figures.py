"""Figures of a study: what is on the axes is what is in the frames, and nothing lies on anything else."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from boxes import assert_ticks_apart, assert_tidy, by_gid, texts
from made_up_rows import MLC_DATASETS, mlc_rankers, study

from experiments.analysis import measurements
from experiments.analysis.comparison import compare
from experiments.analysis.curves import rf1_curve
from experiments.analysis.groups import branch_of, groups_of
from experiments.analysis.scores import averages, score_table
from experiments.analysis.selection import complete_rows
from experiments.figures import (
    area,
    convergence,
    layout,
    posterior,
    side_experiments,
    similarity,
    style,
    times,
)
from experiments.figures.rf1_curve import in_panels
from experiments.report.curves import best_of_panels, panels_of
from experiments.report.figures import draw_group, draw_measurements

NOTE = "Missing: a long story about many rankers and data sets, which does not end soon. " * 4


@pytest.fixture(scope="module")
def mcc():
    """A study with a ranker that lacks a data set, and one that lacks them all."""
    made, configs = study(
        states={("genes", "skrebate_surf"): "timeout", ("*", "mutual_information"): "failed"}
    )
    (group,) = groups_of(configs)
    return complete_rows(made, group.expected), group


@pytest.fixture(scope="module")
def mlc():
    """48 multi-label rankers."""
    made, configs = study(MLC_DATASETS[:3], mlc_rankers(), task="multilabel", n_splits=2, n_repeats=1)
    (group,) = groups_of(configs)
    return complete_rows(made, group.expected), group


@pytest.fixture(params=["mcc", "mlc"])
def group_and_rows(request):
    rows, group = request.getfixturevalue(request.param)
    return group, rows


# --- times ---


def test_times_are_those_of_the_frames(group_and_rows):
    group, rows = group_and_rows
    table = score_table(rows, "fit_seconds")
    means = averages(table, higher_is_better=False)
    branches = dict(zip(group.families["ranker"], ["x", "y"] * (len(group.families) // 2), strict=True))
    figure = times.figure(means, table, title="times", note=NOTE, labels=group.labels, branches=branches)
    (axes,) = figure.axes
    found = by_gid(axes)
    for place, line in enumerate(means.itertuples()):
        assert found[f"mean {line.ranker}"].get_xydata().tolist() == [[line.mean, place]]
        dots = found[f"data sets {line.ranker}"]
        assert dots.get_xdata().tolist() == table.loc[means.attrs["datasets"], line.ranker].tolist()
        start, end = found[f"sd {line.ranker}"].get_xdata()
        assert end == line.plus_sd
        assert start == (line.minus_sd if line.minus_sd > axes.get_xlim()[0] else axes.get_xlim()[0])
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert shown == [group.labels[ranker] for ranker in means["ranker"]]
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["x", "y"]
    assert_tidy(figure)
    assert_ticks_apart(axes)


def without_times(rankers, **settings):
    """A study some of whose rankers are complete without times."""
    made, configs = study(["d", "e"], ["a", "b", "c"], n_splits=2, n_repeats=1, **settings)
    made.loc[made["ranker"].isin(list(rankers)), "fit_seconds"] = np.nan
    (group,) = groups_of(configs)
    return made, group


@pytest.mark.parametrize(
    ("states", "said", "ranks_said"),
    [
        ({}, "3 rankers are complete, but their rows hold no times", "their rows hold no times"),
        ({("*", "*"): "missing"}, "no ranker is complete", "ranks need two complete rankers"),
    ],
)
def test_times_that_are_not_there_have_the_true_reason(states, said, ranks_said, tmp_path):
    made, group = without_times("abc", states=states)
    comparison = compare(made, group)
    drawn = {each.figure: each for each in draw_group(comparison, tmp_path)}
    assert said in comparison.nothing("fit_seconds")
    assert ranks_said in comparison.rank_reasons["fit_seconds"]
    for name in ("times", "critical_distance_fit_seconds"):
        for wrong in ("share too few", "some ranker lacks", "no data set"):
            assert wrong not in drawn[name].note


def test_the_reason_stands_on_the_figure(tmp_path, monkeypatch):
    kept, save = {}, style.save
    monkeypatch.setattr(
        style, "save", lambda figure, folder, stem: kept.update({stem: figure}) or save(figure, folder, stem)
    )
    made, group = without_times("abc")
    draw_group(compare(made, group), tmp_path)
    for name in ("times", "critical_distance_fit_seconds"):
        said = " ".join(by_gid(kept[f"{group.name}_{name}"])["nothing"].get_text().split())
        assert said.startswith("3 rankers are complete, but their rows hold no times"), name


def test_rankers_without_times_are_named_apart(tmp_path):
    made, group = without_times("b")
    comparison = compare(made, group)
    drawn = {each.figure: each for each in draw_group(comparison, tmp_path)}
    assert "Complete, but without times: B." in drawn["times"].note
    assert "share too few" not in drawn["times"].note
    assert list(comparison.averages["fit_seconds"]["ranker"]) == ["a", "c"]


def test_times_of_one_data_set_have_no_whiskers():
    table = pd.DataFrame({"a": [1.0], "b": [3.0]}, index=["d"])
    figure = times.figure(averages(table, higher_is_better=False), table, title="t")
    assert not [gid for gid in by_gid(figure.axes[0]) if gid.startswith("sd ")]
    assert_tidy(figure)


# --- areas ---


def cells_of(axes):
    (image,) = axes.images
    return np.ma.filled(image.get_array(), np.nan)


def test_areas_are_those_of_the_frames(group_and_rows):
    group, rows = group_and_rows
    table = score_table(rows, "aurf1")
    means = averages(table)
    figure = area.figure(means, table, title="areas", note=NOTE, labels=group.labels)
    heat, line = figure.axes
    np.testing.assert_array_equal(cells_of(heat), table[means["ranker"]].T.to_numpy())
    assert [label.get_text() for label in heat.get_yticklabels()] == [
        group.labels[r] for r in means["ranker"]
    ]
    assert [label.get_text() for label in heat.get_xticklabels()] == list(table.index)
    found = by_gid(line)
    for place, each in enumerate(means.itertuples()):
        assert found[f"mean {each.ranker}"].get_xydata().tolist() == [[each.mean, place]]
        assert list(found[f"interval {each.ranker}"].get_xdata()) == [each.lower, each.upper]
    assert_tidy(figure)
    assert_ticks_apart(heat)


def test_a_cell_without_a_number_is_hatched_and_not_coloured(mcc):
    rows, group = mcc
    table = score_table(rows, "aurf1")
    figure = area.figure(averages(table), table, title="areas", labels=group.labels)
    hatched = [each for each in figure.axes[0].patches if each.get_gid().startswith("nothing")]
    assert len(hatched) == table.isna().sum().sum() == 1
    assert hatched[0].get_hatch()
    row, column = map(int, hatched[0].get_gid().split()[1:])
    assert np.isnan(cells_of(figure.axes[0])[row, column])
    assert "SURF" in figure.axes[0].get_yticklabels()[row].get_text()
    assert figure.axes[0].get_xticklabels()[column].get_text() == "genes"


def test_numbers_in_cells_are_read_on_their_colour(mcc):
    rows, _ = mcc
    table = score_table(rows, "aurf1")
    figure = area.figure(averages(table), table, title="areas")
    written = {text.get_text() for text in figure.axes[0].texts}
    assert f"{table.max().max():.2f}" in written and f"{table.min().min():.2f}" in written
    brightest = max(figure.axes[0].texts, key=lambda text: float(text.get_text()))
    darkest = min(figure.axes[0].texts, key=lambda text: float(text.get_text()))
    assert (brightest.get_color(), darkest.get_color()) == ("black", "white")


# --- similarity ---


@pytest.mark.parametrize("n", [2, 14, 48])
def test_similarity_is_the_lower_triangle(n):
    rng = np.random.default_rng(0)
    values = rng.uniform(0.5, 1, (n, n))
    values = (values + values.T) / 2
    names = [f"ranker number {place}" for place in range(n)]
    frame = pd.DataFrame(values, index=names, columns=names)
    frame.iloc[1, 0] = frame.iloc[0, 1] = np.nan if n > 2 else 0.7
    figure = similarity.figure(frame, title="similarity", note=NOTE, labels={names[0]: "first"})
    axes = figure.axes[0]
    cells = cells_of(axes)
    assert cells.shape == (n - 1, n - 1)
    for row in range(n - 1):
        for column in range(n - 1):
            expected = frame.iloc[row + 1, column] if column <= row else np.nan
            np.testing.assert_equal(cells[row, column], expected)
    assert axes.get_xticklabels()[0].get_text() == "first"
    assert len([each for each in axes.patches if (each.get_gid() or "").startswith("nothing")]) == (n > 2)
    assert_tidy(figure)
    assert_ticks_apart(axes)


def test_similarity_of_rankers_that_are_nearly_the_same():
    names = [f"ranker {place}" for place in range(9)]
    values = 1 - 0.0021 * np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
    figure = similarity.figure(pd.DataFrame(values, index=names, columns=names), title="similarity")
    written = {text.get_text() for text in figure.axes[0].texts}
    assert {"0.9979", "0.9832"} <= written
    assert figure.axes[1].get_title() == "AUFUJI"
    assert_tidy(figure)


# --- posteriors ---


def test_corners_of_the_triangle():
    corners = posterior.project(np.eye(3))
    np.testing.assert_allclose(corners, [[0, 0], [0.5, np.sqrt(3) / 2], [1, 0]])
    np.testing.assert_allclose(posterior.project([[1 / 3] * 3]), corners.mean(axis=0)[None])


@pytest.mark.parametrize("n_pairs", [1, 2, 9, 10])
def test_triangles_show_draws_and_probabilities(n_pairs):
    rng = np.random.default_rng(0)
    long = "ReliefE-absMean-adaptive"
    pairs = [(f"{long}-{place}", "MultiSURF* (skrebate)") for place in range(n_pairs)]
    draws = {pair: rng.dirichlet([1, 2, 3], 50) for pair in pairs}
    probabilities = {pair: (0.125, 0.25, 0.625) for pair in pairs}
    figure = posterior.figure(pairs, draws, probabilities, title="posterior", note=NOTE)
    assert len(figure.axes) == n_pairs
    for axes, pair in zip(figure.axes, pairs, strict=True):
        found = by_gid(axes)
        np.testing.assert_allclose(found["draws"].get_offsets(), posterior.project(draws[pair]))
        a, rope, b = (found[gid].get_text() for gid in ("a", "rope", "b"))
        assert a.replace("\n", "") == f"0.125{pair[0]}"
        assert " ".join(b.split()) == f"0.625 {pair[1]}"
        assert rope == "0.250 equal"
        assert found["a"].get_position()[0] < 0.5 < found["b"].get_position()[0]
    assert_tidy(figure)


def test_pairs_without_draws_are_left_out():
    draws = {("a", "b"): np.empty((0, 3)), ("a", "c"): np.full((5, 3), 1 / 3)}
    figure = posterior.figure(list(draws), draws, {("a", "c"): (0.1, 0.8, 0.1)}, title="t")
    assert len(figure.axes) == 1
    nothing = posterior.figure([("a", "b")], draws, {}, title="t")
    assert "no pair" in by_gid(nothing)["nothing"].get_text()


# --- convergence ---


def points_of(datasets=("d",), iterations=(1, 2, 4, 40)):
    lines = [
        [d, f, f, f.upper(), n, n == iterations[-1], 0.9 + 0.01 * place, 0.8, 1.0, 0.85, 0.95, 3]
        for d in datasets
        for f in ("one", "two")
        for place, n in enumerate(iterations)
    ]
    columns = ["dataset", "ranker", "family", "label", "n_iterations", "every_row"]
    return pd.DataFrame(lines, columns=[*columns, "mean", "lower", "upper", "minimum", "maximum", "n_folds"])


@pytest.mark.parametrize("datasets", [["d"], ["d", "e", "f"]])
def test_convergence_shows_means_and_folds(datasets):
    points = points_of(datasets)
    figure = convergence.figure(points, title="convergence", note=NOTE)
    assert [axes.get_title() for axes in figure.axes] == datasets
    found = by_gid(figure.axes[0])
    mine = points[(points["dataset"] == "d") & (points["family"] == "two")]
    np.testing.assert_array_equal(found["two"].get_xydata(), mine[["n_iterations", "mean"]])
    np.testing.assert_array_equal(
        [each[:, 1] for each in found["folds two"].get_segments()], mine[["minimum", "maximum"]]
    )
    assert_tidy(figure)
    for axes in figure.axes:
        assert_ticks_apart(axes)


@pytest.mark.parametrize("last", [33, 40, 54, 2876])
def test_ticks_of_iterations_stay_apart(last):
    powers = [2**power for power in range(12) if 2**power < last]
    figure = convergence.figure(points_of(["d", "e"], (*powers, last)), title="t")
    ticks = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert ticks[0] == "1" and ticks[-1] == str(last)
    assert_ticks_apart(figure.axes[0])


# --- measurements ---


def sparsity_points(datasets=("d", "e")):
    lines = []
    for place, dataset in enumerate(datasets):
        before = 1 - 0.1 * place
        for epsilon, share in ((0.1, before), (1.0, 0.8 * before), (10.0, 0.1)):
            lines.append([dataset, "p", "r", 0, epsilon, before, share, False])
        lines.append([dataset, "p", "r", 0, 0.5, before, 0.9 * before, True])
    columns = ["dataset", "protocol", "ranker", "repeat", "epsilon", "share_before", "share", "estimated"]
    return pd.DataFrame(lines, columns=columns)


def test_sparsification_shows_all_and_the_estimate():
    points = sparsity_points()
    figure = side_experiments.sparsification(points, title="sparsification", note=NOTE)
    found = by_gid(figure.axes[0])
    mine = points[(points["dataset"] == "e") & ~points["estimated"]]
    np.testing.assert_array_equal(found["e"].get_xydata(), mine[["epsilon", "share"]])
    np.testing.assert_array_equal(found["estimated e"].get_xydata(), [[0.5, 0.9 * 0.9]])
    assert found["estimated e"].get_markerfacecolor() == "white"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["d", "e"]
    assert_tidy(figure)


def test_densities_show_points_over_their_density():
    points = sparsity_points([f"data set {n}" for n in range(8)])
    density = measurements.density_of_shares(points["share_before"], points["share"])
    figure = side_experiments.densities(points, density, title="densities", note=NOTE)
    found = by_gid(figure.axes[0])
    mine = points[points["dataset"] == "data set 3"]
    np.testing.assert_array_equal(found["data set 3"].get_xydata(), mine[["share_before", "share"]])
    assert found["as before"].get_xydata().tolist() == [[0, 0], [1, 1]]
    assert_tidy(figure)
    bare = side_experiments.densities(points.head(4), measurements.density_of_shares([1.0], [0.5]), title="t")
    assert "data set 0" in by_gid(bare.axes[0])


def test_density_of_shares_is_that_of_scipy():
    from scipy.stats import gaussian_kde

    rng = np.random.default_rng(0)
    before, after = rng.random(20), rng.random(20)
    found = measurements.density_of_shares(before, after, n_points=5)
    expected = gaussian_kde(np.array([before, after]))(found[["before", "after"]].to_numpy().T)
    np.testing.assert_allclose(found["density"], expected)
    assert not len(measurements.density_of_shares([0.5, 0.5, 0.5], [0.1, 0.2, 0.3]))
    assert not len(measurements.density_of_shares([], []))


@pytest.mark.parametrize(("n_points", "there"), [(5, False), (18, False), (19, True), (40, True)])
def test_few_points_have_no_density(n_points, there):
    rng = np.random.default_rng(1)
    before, after = rng.random(n_points), rng.random(n_points)
    assert bool(len(measurements.density_of_shares(before, after))) is there
    # The same points many times are no more points.
    assert bool(len(measurements.density_of_shares(np.tile(before, 9), np.tile(after, 9)))) is there


@pytest.mark.parametrize(("counts", "there"), [([1, 2], False), ([1, 3], True)])
def test_few_numbers_of_neighbours_have_no_density(counts, there):
    found = measurements.density_of_neighbors(counted([2, 50], counts))
    assert found["density"].notna().all() == there
    if not there:
        assert found["k"].tolist() == [2.0, 50.0] and found["n"].tolist() == [3, 3]
        figure = side_experiments.adaptive_k(found, title="k")
        assert by_gid(figure.axes[0])["single d"].get_xydata().tolist() == [[2, 0], [50, 0]]


def test_few_points_are_drawn_as_points_and_the_note_says_why(tmp_path, monkeypatch):
    kept, save = {}, style.save
    monkeypatch.setattr(
        style, "save", lambda figure, folder, stem: kept.update({stem: figure}) or save(figure, folder, stem)
    )
    spread = sparsity_points(["d", "e", "f", "g", "h"])
    monkeypatch.setattr(measurements, "points", lambda frame, kind: spread)
    drawn = {each.figure: each for each in draw_measurements(spread, "p", "sparsity", {}, [], tmp_path)}
    note = drawn["densities_estimated"].note
    assert note == "No density: 5 different points on a plane, of which it needs 19."
    axes = kept["p_densities_estimated"].axes[0]
    assert not axes.collections, "no grey"
    mine = spread[spread["estimated"] & (spread["dataset"] == "f")]
    np.testing.assert_array_equal(by_gid(axes)["f"].get_xydata(), mine[["share_before", "share"]])


def counted(neighbors, counts, class_size=100, dataset="d", ranker="r"):
    columns = ["dataset", "ranker", "class_number", "class_size", "neighbors", "count"]
    return pd.DataFrame(
        [[dataset, ranker, 0, class_size, k, n] for k, n in zip(neighbors, counts, strict=True)],
        columns=columns,
    )


@pytest.mark.parametrize("neighbors", [[1, 2, 99], [1], [100], [3, 40]])
def test_densities_of_k_have_area_one_between_one_and_the_class(neighbors):
    found = measurements.density_of_neighbors(counted(neighbors, [5] * len(neighbors)), n_points=2000)
    assert found["k"].min() == pytest.approx(1) and found["k"].max() == pytest.approx(100)
    assert np.trapezoid(found["density"], np.log10(found["k"])) == pytest.approx(1, abs=1e-3)
    assert found["n"].iloc[0] == 5 * len(neighbors)


def test_median_k_goes_by_counts_and_rows_without_neighbours_do_not_count():
    found = measurements.density_of_neighbors(counted([0, 1, 7, 50], [100, 2, 5, 2]))
    assert found["median"].unique().tolist() == [7.0]
    assert found["n"].unique().tolist() == [9]


def test_a_single_possible_k_has_no_density():
    found = measurements.density_of_neighbors(counted([1], [4], class_size=1))
    assert found["k"].tolist() == [1.0] and found["density"].isna().all()


def test_adaptive_k_has_a_panel_per_ranker():
    parts = [
        counted([1, 5, 30], [3, 4, 5], dataset=dataset, ranker=ranker)
        for dataset in "de"
        for ranker in ("r", "s")
    ]
    parts.append(counted([1], [9], class_size=1, dataset="single"))
    density = measurements.density_of_neighbors(pd.concat(parts))
    figure = side_experiments.adaptive_k(density, title="k", note=NOTE, labels={"r": "R"})
    assert [axes.get_title() for axes in figure.axes] == ["R", "s"]
    mine = density[(density["ranker"] == "s") & (density["dataset"] == "e")]
    np.testing.assert_array_equal(by_gid(figure.axes[1])["e"].get_xydata(), mine[["k", "density"]])
    assert by_gid(figure.axes[0])["single single"].get_xydata().tolist() == [[1, 0]]
    assert_tidy(figure)


def test_phases_add_up_to_the_whole_bar():
    lines = [
        ["p53", "r", "embed", 3.0, 0.75, 0.0, 4.0, 3],
        ["p53", "r", "weights", 1.0, 0.25, 0.75, 4.0, 3],
        ["chess", "r", "embed", 0.5, 1.0, 0.0, 0.5, 3],
    ]
    columns = ["dataset", "ranker", "phase", "seconds", "share", "before", "total", "n_repeats"]
    figure = side_experiments.phases(
        pd.DataFrame(lines, columns=columns), title="phases", note=NOTE, labels={"r": "R"}
    )
    (axes,) = figure.axes
    bars = {each.get_gid(): (each.get_x(), each.get_width()) for each in axes.patches}
    assert bars["p53 r embed"] == (0.0, 0.75) and bars["p53 r weights"] == (0.75, 0.25)
    assert len({(each.get_facecolor(), each.get_hatch()) for each in axes.patches}) == 2
    assert [label.get_text() for label in axes.get_yticklabels()] == ["p53: R", "chess: R"]
    assert "4 s" in texts(figure) and "0.5 s" in texts(figure)
    assert_tidy(figure)


def test_the_line_of_the_latent_dimension_goes_through_the_origin():
    lines = [
        ["d", "p", "r", 0, rows, x, 3 * x + 0.1, slope]
        for rows, slope in (("ranked", 3.2), ("raw", np.nan))
        for x in (0.1, 0.2, 0.5)
    ]
    columns = ["dataset", "protocol", "ranker", "repeat", "rows", "log_ratio", "minus_log_rest", "slope"]
    points = pd.DataFrame(lines, columns=columns)
    figure = side_experiments.latent_dimension(points, title="dimension", note=NOTE)
    ranked, raw = figure.axes
    found = by_gid(ranked)
    np.testing.assert_array_equal(found["points"].get_xydata(), points[["log_ratio", "minus_log_rest"]][:3])
    assert (found["line"].get_xy1(), found["line"].get_slope()) == ((0, 0), 3.2)
    assert "slope 3.20" in ranked.get_title() and "no slope" in raw.get_title()
    assert "line" not in by_gid(raw)
    assert_tidy(figure)


# --- curves in panels ---


def with_branches(group):
    """The made-up rankers in the branches of those whose names they bear."""
    first = {"reliefe": "reliefe.ReliefE", "relieff": "reliefe.ReliefF", "skrebate": "skrebate.SURF"}
    branches = [branch_of(first.get(ranker.split("_")[0], "")) for ranker in group.families["ranker"]]
    return dataclasses.replace(group, families=group.families.assign(branch=branches))


def panels_figure(rows, group, dataset, **settings):
    group = with_branches(group)
    mine = rows[rows["dataset"] == dataset]
    points = rf1_curve(mine)
    panels, named = panels_of(group, list(points["ranker"].unique()))
    figure = in_panels(
        points, title="curves", note=NOTE, panels=panels, labels=group.labels | named, **settings
    )
    return points, panels, figure


def coloured(axes, panels):
    """Lines of a panel that have a name: ranker → line."""
    curves = {str(line.get_gid()).removeprefix("curve "): line for line in axes.lines}
    return {ranker: line for ranker, line in curves.items() if ranker in panels}


@pytest.mark.parametrize(("study_of", "n_panels"), [("mcc", 4), ("mlc", 6)])
def test_panels_show_all_rankers_once(study_of, n_panels, request):
    rows, group = request.getfixturevalue(study_of)
    points, panels, figure = panels_figure(rows, group, rows["dataset"].iloc[0])
    assert len(figure.axes) == n_panels
    assert [axes.get_title() for axes in figure.axes] == list(dict.fromkeys(panels.values()))
    seen = []
    for axes in figure.axes:
        lines, others = coloured(axes, panels), set()
        for ranker, line in lines.items():
            assert panels[ranker] == axes.get_title()
            mine = points[points["ranker"] == ranker]
            np.testing.assert_array_equal(line.get_xydata(), mine[["n_features", "rf1_mean"]])
            assert line.get_color() == style.ranker_color(ranker)
        for line in axes.lines:
            if str(line.get_gid()).startswith("other "):
                others.add(line.get_gid().removeprefix("other "))
                mine = points[points["ranker"] == line.get_gid().removeprefix("other ")]
                np.testing.assert_array_equal(line.get_xydata(), mine[["n_features", "rf1_mean"]])
                assert (line.get_color(), line.get_marker()) == ("0.82", "None")
        assert others == set(panels) - set(lines), "all others stand behind, in grey"
        seen += lines
    assert sorted(seen) == sorted(panels)
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert_tidy(figure)


def bands_of(figure):
    return {
        each.get_gid().removeprefix("band "): each
        for axes in figure.axes
        for each in axes.collections
        if str(each.get_gid()).startswith("band ")
    }


def test_only_the_bands_that_are_asked_for_are_drawn(mcc):
    rows, group = mcc
    dataset = rows["dataset"].iloc[0]
    points, _, figure = panels_figure(rows, group, dataset, banded=["relieff", "reliefe"])
    bands = bands_of(figure)
    assert sorted(bands) == ["reliefe", "relieff"]
    mine = points[points["ranker"] == "relieff"]
    corners = {tuple(corner) for corner in bands["relieff"].get_paths()[0].vertices.round(12)}
    assert corners >= {
        (line.n_features, round(end, 12))
        for line in mine.itertuples()
        for end in (line.rf1_lower, line.rf1_upper)
    }
    named = [text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts()]
    assert sorted(each for each in named if each.endswith(" (band)")) == ["ReliefE (band)", "ReliefF (band)"]
    low, high = figure.axes[0].get_ylim()
    assert low <= points["rf1_mean"].min() and points["rf1_mean"].max() <= high
    assert not bands_of(panels_figure(rows, group, dataset)[2])


def test_rankers_that_are_the_same_are_one_line_under_all_names(mcc):
    rows, group = mcc
    same = [("reliefe", "reliefe_absmean"), ("relieff_adaptive", "skrebate_relieff")]
    _, panels, figure = panels_figure(
        rows, group, rows["dataset"].iloc[0], same=same, banded=["reliefe_absmean"]
    )
    first = next(axes for axes in figure.axes if axes.get_title() == "ReliefE")
    assert sorted(coloured(first, panels)) == ["reliefe", "reliefe_absmean_adaptive", "reliefe_adaptive"]
    named = [text.get_text() for text in first.get_legend().get_texts()]
    assert named == ["ReliefE = ReliefE-absMean (band)", "ReliefE-adaptive", "ReliefE-absMean-adaptive"]
    assert list(bands_of(figure)) == ["reliefe"]
    # Of two panels: a line in each.
    lines = [ranker for axes in figure.axes for ranker in coloured(axes, panels)]
    assert "relieff_adaptive" in lines and "skrebate_relieff" in lines
    assert_tidy(figure)


def test_names_in_the_legend_of_a_panel_are_shown_as_they_are(mcc):
    rows, _group = mcc
    points = rf1_curve(rows[rows["dataset"] == rows["dataset"].iloc[0]])
    panels = dict.fromkeys(points["ranker"], "$p$")
    labels = {"reliefe": "_mine", "relieff": "R$_$F", "random_forest": "cost $a_$b^{"}
    figure = in_panels(points, title="t", panels=panels, labels=labels)
    named = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert set(labels.values()) <= set(named) and len(named) == len(panels)
    assert_tidy(figure)


def test_panels_of_many_rankers_of_one_kind_and_of_numbers_of_iterations(mcc):
    _, group = mcc
    rankers = [f"own_{number}" for number in range(8)]
    families = group.families.head(1)
    families = pd.concat([families.assign(ranker=each, branch="other") for each in rankers])
    made = dataclasses.replace(group, families=families)
    panels, _ = panels_of(made, rankers)
    assert list(panels.values()) == ["other (1 of 2)"] * 4 + ["other (2 of 2)"] * 4
    families = families.head(3).assign(
        family="relieff", label="ReliefF", n_iterations=[1.0, 16.0, np.nan], variant=""
    )
    panels, labels = panels_of(dataclasses.replace(group, families=families), rankers[:3])
    assert set(panels.values()) == {"ReliefF"}
    assert list(labels.values()) == ["1 iteration", "16 iterations", "every sample once"]


def test_the_band_is_that_of_the_panels_best():
    part = pd.DataFrame({"ranker": list("abcde"), "aurf1_micro_mean": [0.9, 0.95, 0.95, np.nan, 0.1]})
    assert best_of_panels(part, {"a": "x", "b": "x", "c": "x", "d": "y", "e": "z"}) == ["b", "e"]


# --- nothing to draw ---


@pytest.mark.parametrize(
    "make",
    [
        lambda: times.figure(averages(pd.DataFrame()), pd.DataFrame(), title="t", note=NOTE),
        lambda: area.figure(averages(pd.DataFrame()), pd.DataFrame(), title="t", note=NOTE),
        lambda: similarity.figure(pd.DataFrame(), title="t", note=NOTE),
        lambda: similarity.figure(pd.DataFrame([[1.0]], index=["a"], columns=["a"]), title="t", note=NOTE),
        lambda: posterior.figure([], {}, {}, title="t", note=NOTE),
        lambda: convergence.figure(points_of().head(0), title="t", note=NOTE),
        lambda: side_experiments.sparsification(sparsity_points().head(0), title="t", note=NOTE),
        lambda: side_experiments.densities(sparsity_points().head(0), pd.DataFrame(), title="t", note=NOTE),
        lambda: side_experiments.adaptive_k(
            measurements.density_of_neighbors(counted([], [])), title="t", note=NOTE
        ),
        lambda: side_experiments.phases(pd.DataFrame(), title="t", note=NOTE),
        lambda: side_experiments.latent_dimension(pd.DataFrame(), title="t", note=NOTE),
        lambda: in_panels(pd.DataFrame(), title="t", note=NOTE, panels={}),
    ],
)
def test_without_numbers_a_figure_says_so(make):
    figure = make()
    assert by_gid(figure)["nothing"].get_text()
    assert "Missing" in by_gid(figure)["note"].get_text()
    assert_tidy(figure)


# --- text ---


def test_lines_of_small_print_fit_and_lose_nothing():
    words = "a bb ccc-dddd " * 30 + "x" * 300
    lines = layout.wrapped(words, 2.0)
    assert all(layout.text_width(line, layout.NOTE) <= 2.0 for line in lines)
    assert "".join(lines).replace(" ", "") == words.replace(" ", "")


def test_the_measured_width_is_the_drawn_width():
    from boxes import drawn
    from matplotlib.figure import Figure

    with style.applied():
        figure = Figure(figsize=(8, 1), dpi=300)
        text = figure.text(0, 0, "numbers of neighbours, WWW iii", fontsize=7)
        wide = text.get_window_extent(drawn(figure)).width / 300
    assert layout.text_width(text.get_text(), 7) == pytest.approx(wide, rel=0.03)


def test_areas_differ_in_black_and_white():
    looks = style.areas([f"a{n}" for n in range(9)])
    assert len({hatch for _, hatch in looks.values()}) == len({color for color, _ in looks.values()}) == 9
