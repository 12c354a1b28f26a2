"""The page of all studies: every complete result once, with its numbers, and filters that work."""

import browser as browsers
import pages
import pytest

from experiments.report.page import all_studies


@pytest.fixture(scope="module")
def shown():
    """Two studies that share a data set; of one a ranker failed in a fold."""
    made = []
    for name, datasets, states in (
        ("first", ["chess", "madelon"], {("madelon", "poor"): "one failed"}),
        ("second", ["chess"], {}),
    ):
        frame, configs = pages.study(datasets, states=states)
        compared = pages.comparisons(frame, configs, tested=False)
        made.append(all_studies.StudyShown(name, f"What {name} is", compared, frame, f"{name}.html"))
    return made


@pytest.fixture(scope="module")
def path(shown, tmp_path_factory):
    return all_studies.write(shown, tmp_path_factory.mktemp("page") / "index.html")


def test_every_complete_result_is_there_once_with_its_numbers(shown, path):
    page = pages.Read(path)
    lines = page.lines("results-table")
    expected = []
    for study in shown:
        frame = study.frame
        for comparison in study.comparisons:
            for ranker, label in comparison.labels.items():
                for dataset in dict.fromkeys(frame["dataset"]):
                    mine = frame[(frame["dataset"] == dataset) & (frame["ranker"] == ranker)]
                    if len(mine) == 0 or (mine["status"] != "ok").any():
                        continue
                    best = [max(scores) for scores in mine["f1_micro"]]
                    mean = sum(best) / len(best)
                    expected.append((study.name, dataset, label, f"{mean:.3f}", str(len(best))))
    found = [
        (each["study"], each["data set"], each["ranker"], each["max F1"].split()[0], each["folds"])
        for each in lines
    ]
    assert sorted(found) == sorted(expected) and len(set(found)) == len(found)
    left_out = [each for each in found if each[:2] == ("first", "madelon")]
    assert len(left_out) == len(shown[0].comparisons[0].labels) - 1


def test_places_are_within_one_study_and_data_set(path):
    lines = pages.Read(path).lines("results-table")
    for study, dataset in {(each["study"], each["data set"]) for each in lines}:
        mine = [each for each in lines if (each["study"], each["data set"]) == (study, dataset)]
        first = max(float(each["max F1"].split()[0]) for each in mine)
        assert all(float(each["max F1"].split()[0]) == first for each in mine if float(each["place"]) < 1.5)
        assert min(float(each["place"]) for each in mine) <= len(mine) / 2


def test_studies_lead_to_their_pages(path):
    page = pages.Read(path)
    assert [each["study"] for each in page.lines("studies-table")] == ["first", "second"]
    leads = [attributes["href"] for tag, attributes in page.elements if tag == "a" and "href" in attributes]
    assert leads.count("first.html") > 1 and leads.count("second.html") > 1


@pytest.mark.browser
def test_filters_choose_data_sets_and_rankers(path):
    with browsers.started() as browser, browsers.opened(browser, path) as page:
        rows = page.locator("#results-table tbody tr:visible")
        whole = rows.count()
        page.locator(".filter[data-filter=dataset] summary").click()
        page.locator(".filter[data-filter=dataset] input[value=madelon]").uncheck()
        left = page.locator("#results-table tbody tr:visible > :nth-child(2)").all_inner_texts()
        assert 0 < len(left) < whole and set(left) == {"chess"}
        page.locator(".filter[data-filter=ranker] summary").click()
        page.locator(".filter[data-filter=ranker] button[data-all='0']").click()
        assert rows.count() == 0
        page.locator(".filter[data-filter=ranker] button[data-all='1']").click()
        assert page.locator("#results-table tbody tr:visible").count() == len(left)
        page.locator("#results-table thead th:nth-child(4) button").click()
        scores = page.locator("#results-table tbody tr:visible > :nth-child(4)").all_inner_texts()
        values = [float(each.split()[0]) for each in scores]
        assert values == sorted(values)
