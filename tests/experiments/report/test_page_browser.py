"""The report page in a real browser: sorted, filtered, attacked, offline, on a screen and on a phone."""

import re

import browser as browsers
import pages
import pytest

pytestmark = pytest.mark.browser

HOSTILE = "x</script><script>window.hit=1</script><img src=http://127.0.0.1:9/a.png onerror=window.hit=1>"


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
    frame, configs = pages.study([HOSTILE, "chess"], {"a": (HOSTILE, 0.5, 1.0), "b": ("B", 0.4, 2.0)})
    found["hostile"] = pages.write(folder, frame, configs, name="hostile")
    return found


@pytest.fixture
def few(browser, made):
    path, (comparison,) = made["few"]
    with browsers.opened(browser, path) as page:
        yield page, comparison


def column(page, table, number):
    return page.locator(f"#T_{table} tbody tr:visible > :nth-child({number})").all_inner_texts()


def test_a_click_sorts_by_all_digits_and_another_one_turns_it_round(few):
    page, comparison = few
    done = comparison.summary[comparison.summary["complete"]]
    head = page.locator("#T_g0-all thead th", has_text="max F1")
    for ascending, said in ((True, "ascending"), (False, "descending")):
        head.locator("button").click()
        own = done.sort_values("best_f1_micro_mean", ascending=ascending, kind="stable")
        assert column(page, "g0-all", 2) == [comparison.labels[each] for each in own["ranker"]]
        assert head.get_attribute("aria-sort") == said
    head = page.locator("#T_g0-all thead th", has_text="data set")
    head.locator("button").press("Enter")
    assert column(page, "g0-all", 1) == sorted(done["dataset"])


def test_what_is_missing_comes_last_both_ways(few):
    page, _ = few
    head = page.locator("#T_g0-matrix thead th", has_text="genes").locator("button")
    for _ in range(2):
        head.click()
        values = column(page, "g0-matrix", 5)
        assert values[-1] == "–" and "–" not in values[:-1]
    numbers = [float(value) for value in values[:-1]]
    assert numbers == sorted(numbers, reverse=True)


def test_typed_words_choose_lines_of_all_tables(few):
    page, comparison = few
    page.locator("#filter").fill("fair MADELON")
    assert column(page, "g0-all", 1) == ["madelon"] and column(page, "g0-all", 2) == ["Fair"]
    assert column(page, "g0-matrix", 1) == []  # no line of it has both words
    n_shown = page.locator("table.sortable tbody tr:visible").count()
    n_all = page.locator("table.sortable tbody tr").count()
    assert page.locator("#filtered").inner_text() == f"{n_shown} of {n_all} lines"
    page.locator("#filter").fill("<good>")
    assert set(column(page, "g0-all", 2)) == {"Slow and <good>"}
    page.locator("#filter").press("Enter")  # sends nothing, leaves the page as it is
    page.locator("#filter").fill("")
    assert len(column(page, "g0-all", 1)) == int(comparison.summary["complete"].sum())


@pytest.mark.parametrize("dataset", ["chess", "madelon"])
def test_pointing_at_a_curve_tells_its_ranker_and_value(few, dataset):
    page, comparison = few
    chart = page.locator("#g0-curves-chart")
    chart.locator("select").select_option(dataset)
    chart.scroll_into_view_if_needed()
    curves = comparison.curves[comparison.curves["dataset"] == dataset]
    assert chart.locator("svg [aria-label=line] path").count() == curves["ranker"].nunique()
    box = chart.locator("svg").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 3)
    tip = chart.locator("[aria-label=tip] text").text_content().replace("\u200b", "")
    size, value = re.search(r"(\d+) features: rF1 (\d\.\d{3})$", tip).groups()
    near = curves[(curves["n_features"] == int(size)) & (curves["rf1_mean"].map("{:.3f}".format) == value)]
    assert any(comparison.labels[ranker] in tip for ranker in near["ranker"])


def test_pointing_at_a_dot_tells_seconds_and_quality(few):
    page, comparison = few
    chart = page.locator("#g0-cost-chart")
    chart.locator("select").select_option("madelon")
    chart.scroll_into_view_if_needed()
    assert chart.locator("svg circle").count() == 4
    chart.locator("svg circle").nth(1).hover(force=True)
    tip = chart.locator("[aria-label=tip] text").text_content().replace("\u200b", "")
    score = comparison.scores["best_f1"].loc["madelon", "good"]
    seconds = comparison.scores["fit_seconds"].loc["madelon", "good"]
    assert tip.startswith(pages.RANKERS["good"][0])
    assert tip.endswith(f"max F1 {score:.3f}")
    assert float(re.search(r"([\d.]+) s,", tip)[1]) == pytest.approx(seconds, rel=0.01)


def test_names_never_run_and_nothing_is_asked_for(browser, made):
    with browsers.opened(
        browser, made["hostile"][0]
    ) as page:  # checks complaints and requests when it closes
        assert page.evaluate("window.hit") is None
        assert HOSTILE in column(page, "g0-rankers", 1)


def test_the_policy_keeps_the_network_out(browser, made):
    page = browsers.Opened(browser, made["few"][0])
    fetched = page.page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', (error) => 'refused')")
    assert fetched == "refused" and any("Content Security Policy" in each for each in page.complaints)
    assert page.page.evaluate("document.styleSheets.length") > 0
    page.context.close()


@pytest.mark.parametrize("width", [360, 390, 820, 1440])
@pytest.mark.parametrize("name", ["few", "many", "empty", "hostile"])
def test_no_width_needs_sideways_scrolling(browser, made, name, width):
    with browsers.opened(browser, made[name][0], viewport={"width": width, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_all_numbers_are_there(browser, made):
    with browsers.opened(browser, made["few"][0], java_script_enabled=False) as page:
        assert page.locator(".without-script").is_visible() and not page.locator("#filter").is_visible()
        assert page.locator("#T_g0-all tbody tr").count() == 14


def test_dark_mode(browser, made):
    def brightness(page, what):
        color = page.evaluate(f"getComputedStyle(document.querySelector('.card')).{what}")
        return sum(map(int, color[4:-1].split(",")))

    for scheme, dark in (("light", False), ("dark", True)):
        with browsers.opened(browser, made["few"][0], color_scheme=scheme) as page:
            assert (brightness(page, "backgroundColor") < brightness(page, "color")) == dark


def test_what_a_screen_reader_meets(few):
    page, _ = few
    names = page.locator("[role=region]").evaluate_all("all => all.map((each) => each.ariaLabel)")
    assert all(names) and len(names) == page.locator("table.sortable").count()
    assert page.locator("th:not([scope])").count() == 0
    assert page.get_by_label("Show lines that contain").count() == 1
