"""The report page in a real browser: clicked, sorted, filtered, on a scratch and on a phone."""

import browser as browsers
import numpy as np
import pages
import pandas as pd
import pytest

from experiments.analysis.scores import MEASURES
from experiments.figures import style
from experiments.formatting import fixed, similarity_digits

pytestmark = pytest.mark.browser

PHONE = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
}


@pytest.fixture(scope="module")
def browser():
    with browsers.started() as running:
        yield running


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Pages by name: path and the comparisons behind them."""
    folder = tmp_path_factory.mktemp("pages")
    states = {("genes", "slow"): "timeout", ("dlbcl", "poor"): "one failed"}
    found = {}
    frame, configs = pages.study(states=states)
    found["few"] = pages.write(folder, frame, configs, name="few")
    many = {
        f"r{n}": (f"Ranker {n} with a long name (hyperbolic)", 0.3 + 0.01 * n, 1.0 + n) for n in range(30)
    }
    frame, configs = pages.study(["chess", "madelon"], many, n_repeats=1)
    found["many"] = pages.write(folder, frame, configs, name="many", tested=False)
    frame, configs = pages.study(states={("*", "*"): "missing"})
    found["empty"] = pages.write(folder, frame, configs, name="empty")
    return found


@pytest.fixture
def few(browser, made):
    path, (comparison,) = made["few"]
    with browsers.opened(browser, path) as page:
        yield page, comparison


def column(page, table, number):
    return page.locator(f"#{table} tbody tr:visible > :nth-child({number})").all_inner_texts()


def heading(page, table, number):
    return page.locator(f"#{table} thead th:nth-child({number})")


def test_a_click_sorts_and_another_one_turns_it_round(few):
    page, _ = few
    table, number = "g0-all", 8  # seconds
    texts = column(page, table, number)
    assert len(texts) == 14
    seconds = sorted(float(text.split()[0]) for text in texts)
    heading(page, table, number).get_by_role("button").click()
    assert [float(text.split()[0]) for text in column(page, table, number)] == seconds
    assert heading(page, table, number).get_attribute("aria-sort") == "ascending"
    heading(page, table, number).get_by_role("button").click()
    assert [float(text.split()[0]) for text in column(page, table, number)] == seconds[::-1]
    assert heading(page, table, number).get_attribute("aria-sort") == "descending"
    heading(page, table, 1).get_by_role("button").click()
    assert heading(page, table, number).get_attribute("aria-sort") is None
    assert column(page, table, 1) == sorted(column(page, table, 1))


def test_what_is_not_there_comes_last_both_ways(few):
    page, _ = few
    for _ in range(2):
        heading(page, "g0-matrix", 6).get_by_role("button").click()  # genes, which one ranker lacks
        texts = column(page, "g0-matrix", 6)
        assert texts[-1] == "–" and "–" not in texts[:-1]


def test_sorting_by_keyboard(few):
    page, _ = few
    before = column(page, "g0-rankers", 1)
    heading(page, "g0-rankers", 5).get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert heading(page, "g0-rankers", 5).get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert column(page, "g0-rankers", 1) != before


def test_filter_by_data_set(few):
    page, _ = few
    page.locator(".filter[data-filter=dataset] summary").click()
    page.get_by_label("madelon", exact=True).uncheck()
    assert set(column(page, "g0-all", 1)) == {"chess", "dlbcl", "genes"}
    assert "4 of 4 rankers, 3 of 4 data sets" in page.locator(".filter-said").inner_text()
    assert "madelon" not in page.locator("#g0-matrix thead").inner_text()
    assert page.locator("#g0-matrix tbody tr").first.locator(":scope > :visible").count() == 5
    assert "(10 of 14 lines)" in page.locator("#g0-all caption").inner_text()
    options = page.locator("[data-chart=curves] select option").all_inner_texts()
    assert options == ["chess", "dlbcl", "genes"]
    page.locator(".filter[data-filter=dataset] [data-all='0']").click()
    assert column(page, "g0-all", 1) == []
    assert "leave no data set" in page.locator("[data-chart=curves]").inner_text()
    page.locator(".filter[data-filter=dataset] [data-all='1']").click()
    assert len(column(page, "g0-all", 1)) == 14
    assert page.locator("[data-chart=curves] svg.curves").count() == 1


def test_filter_by_ranker(few):
    page, comparison = few
    page.locator(".filter[data-filter=ranker] summary").click()
    page.locator(".filter[data-filter=ranker] .name-part").fill("GOOD")
    assert page.locator(".filter[data-filter=ranker] fieldset label:visible").count() == 2
    page.locator(".filter[data-filter=ranker] [data-all='0']").click()
    left = [comparison.labels["fair"], comparison.labels["poor"]]
    assert sorted(column(page, "g0-rankers", 1)) == sorted(left)
    assert page.locator("[data-chart=curves] path.curve").count() == 2
    assert page.locator("[data-chart=ranks] g.dim").count() == 2
    assert page.locator("[data-chart=cost] [data-point]").count() == 2
    assert page.locator("[data-chart=pairs] table.heat tbody tr").count() == 2
    # Ranks stay those of the study.
    shown = page.locator("#g0-rankers tbody tr:visible").first.locator("td").first.inner_text()
    assert shown == f"{comparison.ranks['best_f1'].average_ranks['fair']:.2f}"


def test_curves_can_be_chosen_and_read(few):
    page, comparison = few
    chart = page.locator("[data-chart=curves]")
    chart.locator("select").select_option("madelon")
    assert chart.locator("path.curve").count() == 4
    chart.locator("svg.curves").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    curves = comparison.curves[comparison.curves["dataset"] == "madelon"]
    size = np.unique(curves["n_features"])[-2]
    there = curves[curves["n_features"] == size].sort_values("rf1_mean", ascending=False)
    readout = chart.locator(".readout")
    assert chart.get_by_role("slider").get_attribute("aria-valuenow") == str(size)
    assert f"Top {size} features" in readout.inner_text()
    wanted = [
        f"{comparison.labels[line.ranker]} {line.rf1_mean:.3f} ({line.rf1_lower:.3f} to {line.rf1_upper:.3f})"
        for line in there.itertuples()
    ]
    assert readout.locator("li").all_inner_texts() == wanted
    chart.get_by_role("button", name=comparison.labels["fair"], exact=True).click()
    assert chart.locator("path.curve").count() == 3
    assert (
        chart.get_by_role("button", name=comparison.labels["fair"], exact=True).get_attribute("aria-pressed")
        == "false"
    )
    chart.get_by_label("95 % bands").uncheck()
    assert chart.locator("path.band").count() == 0
    chart.get_by_role("button", name="none").click()
    assert chart.locator("path.curve").count() == 0
    chart.get_by_role("button", name="all curves").click()
    assert chart.locator("path.curve").count() == 4


def test_pointing_at_curves_reads_the_nearest_size(few):
    page, comparison = few
    svg = page.locator("[data-chart=curves] svg.curves")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 14, box["y"] + box["height"] / 2)
    largest = comparison.curves["n_features"].max()
    assert f"Top {largest} features" in page.locator("[data-chart=curves] .readout").inner_text()


@pytest.mark.parametrize("measure", ["mean_f1", "fit_seconds"])
def test_ranks_by_another_measure(few, measure):
    page, comparison = few
    chart = page.locator("[data-chart=ranks]")
    chart.locator("select").select_option(MEASURES[measure].title)
    ranks = comparison.ranks[measure].average_ranks
    assert chart.locator("[data-ranker-row]").evaluate_all(
        "rows => rows.map(row => row.dataset.rankerRow)"
    ) == list(ranks.index)
    across = chart.locator("[data-ranker-row] > path").evaluate_all(
        "rows => rows.map(row => row.getBoundingClientRect().x)"
    )
    order = np.argsort(across, kind="stable")
    assert (np.diff(ranks.to_numpy()[order]) >= 0).all()
    assert f"critical distance {comparison.ranks[measure].cd:.2f}" in chart.inner_text()


def test_pairs_can_be_chosen_and_swapped(few):
    page, comparison = few
    chart = page.locator("[data-chart=pairs]")
    label = comparison.labels
    chart.locator(".choose-first select").select_option(label["poor"])
    chart.locator(".choose-second select").select_option(label["good"])
    p = comparison.posterior.of("poor", "good")
    said = chart.locator(".probabilities").inner_text()
    assert said.startswith(
        f"{label['poor']} better: {p[0]:.2f}; practically equal (F1 within 0.05): {p[1]:.2f}"
    )
    assert chart.locator(".one-pair path.draws").get_attribute("data-draws") == "400"
    chart.get_by_role("button", name="swap").click()
    assert chart.locator(".probabilities").inner_text().startswith(f"{label['good']} better: {p[2]:.2f}")
    cell = chart.get_by_role("button", name=f"{label['fair']} against {label['slow']}")
    cell.click()
    assert chart.locator(".choose-first select").input_value() == "2"
    assert chart.locator("td[aria-current=true]").count() == 1


def test_draws_lie_where_they_belong(few):
    """The share of points nearest to a corner is the probability of that corner."""
    page, comparison = few
    chart = page.locator("[data-chart=pairs]")
    chart.locator(".choose-first select").select_option(comparison.labels["slow"])
    chart.locator(".choose-second select").select_option(comparison.labels["poor"])
    path = chart.locator(".one-pair path.draws").get_attribute("d")
    points = np.array([[float(each) for each in part.rstrip("h0").split()] for part in path.split("M")[1:]])
    edge = chart.locator(".one-pair path.axis").get_attribute("d").strip("Mz").split("L")
    corners = np.array([[float(each) for each in corner.split()] for corner in edge])
    assert corners[0, 0] < corners[1, 0] < corners[2, 0] and corners[1, 1] < corners[0, 1] == corners[2, 1]
    nearest = ((points[:, None, :] - corners[None]) ** 2).sum(axis=2).argmin(axis=1)
    shares = np.bincount(nearest, minlength=3) / len(points)
    np.testing.assert_allclose(shares, comparison.posterior.of("slow", "poor"), atol=0.02)


def test_cost_and_quality(few):
    page, comparison = few
    chart = page.locator("[data-chart=cost]")
    chart.locator("select").nth(1).select_option("chess")
    points = {
        key: (box["x"], box["y"])
        for key in comparison.rankers
        for box in [chart.locator(f"[data-point={key}] path").bounding_box()]
    }
    seconds = comparison.scores["fit_seconds"].loc["chess"]
    quality = comparison.scores["best_f1"].loc["chess"]
    assert sorted(points, key=lambda key: points[key][0]) == list(seconds.sort_values().index)
    assert sorted(points, key=lambda key: -points[key][1]) == list(quality.sort_values().index)


def test_a_name_leads_to_the_rankers_page(few):
    page, comparison = few
    assert page.locator("[data-ranker-page]:visible").count() == 1
    page.locator("#g0-all").get_by_role("link", name="Fair").first.click()
    assert page.locator("[data-ranker-page]:visible h3").inner_text() == "Fair"
    assert page.locator("[data-ranker-page]:visible").evaluate("page => page === document.activeElement")
    page.locator(".choose-ranker").select_option(comparison.labels["poor"])
    assert page.locator("[data-ranker-page]:visible h3").inner_text() == comparison.labels["poor"]
    page.go_back()
    assert page.locator("[data-ranker-page]:visible h3").inner_text() == "Fair"


def test_similarity(few):
    page, comparison = few
    chart = page.locator("[data-chart=similarity]")
    chart.locator("select").select_option(label="weights of the features")
    table = comparison.similarity["weights"]
    names = chart.locator("tbody th").all_inner_texts()
    assert names == [f"{place + 1} {comparison.labels[key]}" for place, key in enumerate(table.index)]
    assert chart.locator("tbody tr").first.locator("td").nth(1).inner_text() == fixed(
        table.iloc[0, 1], similarity_digits(table.to_numpy()[~np.eye(len(table), dtype=bool)])
    )


# --- other screens, other readers ---------------------------------------------------------------


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("name", ["few", "many", "empty"])
def test_a_phone_needs_no_sideways_scrolling(browser, made, name, width):
    settings = PHONE | {"viewport": {"width": width, "height": 700}}
    with browsers.opened(browser, made[name][0], **settings) as page:
        page.evaluate("document.querySelectorAll('details').forEach(each => (each.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = page.evaluate(
            "width => [...document.querySelectorAll('body *')].filter(each => !each.closest('.scroll, pre, svg') &&"
            " each.getClientRects().length && each.getBoundingClientRect().right > width + 1)"
            ".map(each => each.outerHTML.slice(0, 80))",
            width,
        )
        assert wide == []


def test_a_phone_shows_claims_one_below_the_other_and_names_apart(browser, tmp_path):
    rankers = {
        f"r{place}{number}": (f"{own} ({distance})", 0.3 + 0.01 * place, 1.0)
        for place, own in enumerate(("ReliefE-absMean-adaptive", "ReliefE-adaptive", "ReliefE-absMean"))
        for number, distance in enumerate(("F1", "accuracy", "hyperbolic"))
    }
    frame, configs = pages.study(["chess", "madelon"], rankers, n_repeats=1)
    long = "so far it holds: " + "a sentence that goes on, " * 20
    claims = pd.DataFrame(
        {
            "about": ["mcc"] * 2,
            "statement": ["one", "two"],
            "reading": ["the best has rank 1"] * 2,
            "verdict": ["cannot be decided"] * 2,
            "at_hand": ["holds"] * 2,
            "repeats": ["7 of 10"] * 2,
            "related": ["no rows"] * 2,
            "repeats_related": [""] * 2,
            "evidence": [long] * 2,
            "evidence_related": [""] * 2,
            "missing": [""] * 2,
            "place": ["figure 1"] * 2,
        }
    )
    path, _ = pages.write(tmp_path, frame, configs, claims=claims, tested=False)
    with browsers.opened(browser, path, **PHONE) as page:
        cells = page.locator("#claims-table tbody tr").first.locator("th, td")
        assert cells.count() == 7
        for place in range(7):
            box = cells.nth(place).bounding_box()
            assert 0 <= box["x"] and box["x"] + box["width"] <= 390
        assert cells.first.bounding_box()["height"] < 60, "no blank below a short claim"
        scopes = [cells.nth(n).evaluate("e => getComputedStyle(e, '::before').content") for n in (2, 3, 4)]
        assert [each.strip('"\\') for each in scopes] == [
            "the paper's data sets: ",
            "those available: ",
            "related ones: ",
        ]
        chart = page.locator("[data-chart=ranks]")
        names = chart.locator("[data-ranker-row] a text").evaluate_all(
            "all => all.map(e => e.firstChild.data)"
        )
        assert len(set(names)) == len(names) == 9 and any("…" in name for name in names)
        distance = chart.get_by_text("critical distance").bounding_box()
        assert "longer than the axis" in chart.get_by_text("critical distance").text_content()
        assert distance["x"] >= 0 and distance["x"] + distance["width"] <= 390


def test_a_phone_is_touched(browser, made):
    with browsers.opened(browser, made["few"][0], **PHONE) as page:
        first = page.locator(".headline").bounding_box()
        assert first["y"] + first["height"] < 844, "who is best stands on the first screen"
        heading(page, "g0-rankers", 2).get_by_role("button").tap()
        assert heading(page, "g0-rankers", 2).get_attribute("aria-sort") == "descending"
        page.locator("[data-chart=curves] svg.curves").tap()
        assert "Top " in page.locator("[data-chart=curves] .readout").inner_text()


def test_charts_follow_the_width(few):
    page, _ = few
    svg = page.locator("[data-chart=cost] svg")
    wide = svg.bounding_box()["width"]
    page.set_viewport_size({"width": 500, "height": 800})
    page.wait_for_function("document.querySelector('[data-chart=cost] svg').viewBox.baseVal.width < 500")
    assert svg.bounding_box()["width"] < min(wide, 500)


def test_many_rankers_are_not_all_drawn_at_first(browser, made):
    with browsers.opened(browser, made["many"][0]) as page:
        chart = page.locator("[data-chart=curves]")
        assert chart.locator("path.curve").count() == 10
        assert "10 of 30 curves are drawn" in chart.inner_text()
        area = made["many"][1][0].scores["aurf1"].loc["chess"]
        drawn = chart.locator("path.curve").evaluate_all("lines => lines.map(line => line.dataset.curve)")
        assert set(drawn) == set(area.nlargest(10).index)
        chart.get_by_role("button", name="all curves").click()
        assert chart.locator("path.curve").count() == 30


def test_nothing_is_there_and_nothing_breaks(browser, made):
    with browsers.opened(browser, made["empty"][0]) as page:
        for chart in page.locator(".chart").all():
            assert chart.inner_text().strip()
        assert "Nothing can be compared yet" in page.locator(".headline").inner_text()


def no_times(frame):
    frame["fit_seconds"] = np.nan


def no_scores_of_all_features(frame):
    for name in ("rf1_micro", "rf1_macro"):
        frame[name] = [np.full(len(grid), np.nan) for grid in frame["grid"]]
    frame["aurf1_micro"] = frame["aurf1_macro"] = np.nan


def one_score_for_all(frame):
    for name in ("f1_micro", "rf1_micro"):
        frame[name] = [np.ones(len(grid)) for grid in frame["grid"]]
    for name in ("aurf1_micro", "best_f1_micro", "f1_micro_all"):
        frame[name] = 1.0


def extreme_times(frame):
    frame["fit_seconds"] = np.where(frame["ranker"] == "slow", 1e7, 0.0)


@pytest.mark.parametrize("change", [no_times, no_scores_of_all_features, one_score_for_all, extreme_times])
def test_odd_numbers_are_drawn_or_passed_over(browser, tmp_path, change):
    frame, configs = pages.study(["chess", "genes"])
    change(frame)
    with browsers.opened(browser, pages.write(tmp_path, frame, configs)[0]) as page:
        for chart in page.locator(".chart").all():
            for number in range(chart.locator("select").count()):
                for option in range(chart.locator("select").nth(number).locator("option").count()):
                    chart.locator("select").nth(number).select_option(index=option)
        broken = page.locator("svg *").evaluate_all(
            "all => all.filter(each => [...each.attributes].some(a => /NaN|undefined|Infinity/.test(a.value)))"
            ".map(each => each.outerHTML.slice(0, 100))"
        )
        assert broken == []
        assert not {"NaN", "undefined", "Infinity"} & set(page.locator("body").inner_text().split())


def test_without_scripts_all_numbers_are_there(browser, made):
    path, (comparison,) = made["few"]
    with browsers.opened(browser, path, java_script_enabled=False) as page:
        assert page.locator("[data-ranker-page]:visible").count() == len(comparison.rankers)
        assert page.locator("#g0-all tbody tr:visible").count() == 14
        assert page.get_by_text("Charts, sorting and filters need JavaScript").is_visible()


def test_colours_are_those_of_the_figures_and_lighter_on_a_dark_page(browser, made):
    """In light mode to the digit; in dark mode mixed with white, so that nearly black ones can be seen."""
    path, _ = made["few"]
    seen = {}
    for scheme in ("light", "dark"):
        with browsers.opened(browser, path, color_scheme=scheme) as page:
            seen[scheme] = page.locator("path[data-curve]").evaluate_all(
                "all => all.map(each => [each.dataset.curve, getComputedStyle(each).stroke.match(/[0-9.]+/g)"
                ".slice(-3).map(Number)])"
            )
    assert seen["light"] and [key for key, _ in seen["light"]] == [key for key, _ in seen["dark"]]
    for (key, light), (_, dark) in zip(seen["light"], seen["dark"], strict=True):
        color = style.ranker_color(key)
        expected = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)])
        scale = 255 if max(*light, *dark) <= 1 else 1  # browsers write mixtures as shares
        np.testing.assert_allclose(np.multiply(light, scale), expected, atol=1)
        np.testing.assert_allclose(np.multiply(dark, scale), 0.6 * expected + 0.4 * 255, atol=1)


def test_dark_mode(browser, made):
    def brightness(page, element, what):
        red, green, blue = page.locator(element).first.evaluate(
            f"each => getComputedStyle(each).{what}.match(/[0-9.]+/g).slice(0, 3).map(Number)"
        )
        return 0.299 * red + 0.587 * green + 0.114 * blue

    for scheme, dark in (("light", False), ("dark", True)):
        with browsers.opened(browser, made["few"][0], color_scheme=scheme) as page:
            ground, ink = brightness(page, ".card", "backgroundColor"), brightness(page, ".headline", "color")
            assert (ground < ink) == dark
            assert abs(ground - ink) > 150
            assert abs(brightness(page, ".chart text", "fill") - ground) > 90


def test_what_a_screen_reader_meets(few):
    page, _ = few
    unnamed = page.locator("button, select, input, svg[role], [role=region], table").evaluate_all(
        """all => all.filter(each => {
          const around = each.closest('label');
          return !(each.getAttribute('aria-label') || each.getAttribute('aria-labelledby')
            || each.textContent.trim() || (around && around.textContent.trim()));
        }).map(each => each.outerHTML.slice(0, 100))"""
    )
    assert unnamed == []
    levels = page.locator("h1, h2, h3").evaluate_all("all => all.map(each => Number(each.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")
