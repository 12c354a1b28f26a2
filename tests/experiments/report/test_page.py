"""The report page as a file: what stands in it, and that it needs nothing else."""

import base64
import json
import re

import numpy as np
import pages
import pandas as pd
import pytest

from experiments.analysis.claims.check import SCOPES
from experiments.analysis.cost import places
from experiments.analysis.scores import MEASURES
from experiments.errors import BadInputError
from experiments.formatting import fixed, similarity_digits, similarity_shown
from experiments.report import page
from experiments.report.page import charts

HOSTILE = "x</script><script>alert(1)</script>\"'<img src=http://example.com/a.png>&amp;"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A study with gaps, its page, and what it was made from."""
    states = {("genes", "slow"): "timeout", ("dlbcl", "poor"): "one failed", ("chess", "fair"): "partial"}
    frame, configs = pages.study(states=states)
    arguments = ["study=mcc", "dataset=chess,madelon", "paths.local_data=/somewhere/of/mine"]
    path, (comparison,) = pages.write(tmp_path_factory.mktemp("page"), frame, configs, arguments=arguments)
    return pages.Read(path), comparison, frame, configs


def test_the_first_screen_says_what_was_compared_who_is_best_and_how_sure(whole):
    read, comparison, *_ = whole
    ranks = comparison.ranks["best_f1"].average_ranks
    first, second = (comparison.labels[ranker] for ranker in ranks.index[:2])
    assert "4 rankers on 4 data sets with one class per sample" in read.text
    assert "2 repeats of 3-fold cross-validation (protocol paper)" in read.text
    assert "A first look: the paper takes 100 folds, this 6." in read.text
    assert f"{first} comes first by max F1" in read.text
    assert f"average rank {ranks.iloc[0]:.2f} of 4 over 1 data set; next is {second}" in read.text
    assert "3 of 16 pairs of data set and ranker are not complete" in read.text
    p = comparison.posterior.of(ranks.index[0], ranks.index[1])
    assert f"against {second} it is better with probability {p[0]:.2f}" in read.text


def test_it_needs_nothing_but_itself(whole):
    read, *_ = whole
    for tag, attributes in read.elements:
        for name in ("src", "href", "action", "srcset", "poster", "data", "background"):
            value = attributes.get(name) or ""
            assert value.startswith(("#", "data:")) or not value, (tag, name, value)
    (css,) = re.findall(r"<style>(.*?)</style>", read.source, re.S)
    assert "@import" not in css and "url(" not in css
    (script,) = re.findall(r"<script>(.*?)</script>", read.source, re.S)
    assert not re.search(
        r"fetch\(|XMLHttpRequest|import\(|WebSocket|sendBeacon|eval\(|innerHTML|document\.write", script
    )
    policy = next(a["content"] for tag, a in read.elements if a.get("http-equiv"))
    assert "default-src 'none'" in policy and "script-src 'sha256-" in policy
    assert "unsafe" not in policy.partition("script-src")[2]


def test_the_policy_names_the_script_that_is_there(whole):
    import hashlib

    read, *_ = whole
    (script,) = re.findall(r"<script>(.*?)</script>", read.source, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in read.source.replace("&#39;", "'")


def test_ids_are_unique_and_every_link_leads_somewhere(whole):
    read, *_ = whole
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for tag, attributes in read.elements if tag == "a"]
    assert len(links) > 30
    assert {link.lstrip("#") for link in links} <= set(ids)
    named = [
        attributes["aria-labelledby"] for _, attributes in read.elements if "aria-labelledby" in attributes
    ]
    assert set(named) <= set(ids)


def test_curves_are_the_frames(whole):
    read, comparison, *_ = whole
    data = read.data["g0"]
    names = [ranker["key"] for ranker in data["rankers"]]
    n = 0
    for dataset, curves in data["curves"].items():
        for curve in curves:
            own = comparison.curves
            own = own[(own["dataset"] == dataset) & (own["ranker"] == names[curve["ranker"]])]
            assert curve["x"] == own["n_features"].tolist()
            for name, column in (("mean", "rf1_mean"), ("lower", "rf1_lower"), ("upper", "rf1_upper")):
                got = np.array(curve[name], dtype=float)
                np.testing.assert_allclose(got, own[column], rtol=1e-4)
            n += 1
    assert n == 13


def test_ranks_are_the_frames(whole):
    read, comparison, *_ = whole
    data = read.data["g0"]
    names = [ranker["key"] for ranker in data["rankers"]]
    assert list(data["ranks"]) == list(MEASURES)
    for key, given in data["ranks"].items():
        found = comparison.ranks[key]
        assert [names[place] for place in given["rankers"]] == list(found.average_ranks.index)
        np.testing.assert_allclose(given["ranks"], found.average_ranks, rtol=1e-4)
        assert given["used"] == list(found.used)
        assert [[names[place] for place in clique] for clique in given["cliques"]] == [
            list(clique) for clique in found.cliques
        ]


def test_triangles_hold_the_draws(whole):
    read, comparison, *_ = whole
    data = read.data["g0"]
    names = [ranker["key"] for ranker in data["rankers"]]
    assert len(data["pairs"]) == 6
    assert "6 pairs; R̂ below 1.01 for all; at least 1,500 effective draws; 0 divergences." in read.text
    for a, b, p, equal, q, _, _, _, packed in data["pairs"]:
        draws = comparison.posterior.draws[names[a], names[b]]
        np.testing.assert_allclose((p, equal, q), comparison.posterior.of(names[a], names[b]), rtol=1e-3)
        got = np.frombuffer(base64.b64decode(packed), dtype="<u2").reshape(-1, 2) / 65535
        np.testing.assert_allclose(got, draws[:, :2], atol=1e-5)


def test_results_table(whole):
    read, comparison, *_ = whole
    lines = read.lines("g0-all")
    summed = comparison.summary[comparison.summary["complete"]]
    assert len(lines) == len(summed) == 13
    table = places(comparison.scores["best_f1"], higher_is_better=True)
    keys = {label: ranker for ranker, label in comparison.labels.items()}
    for line, own in zip(lines, summed.itertuples(), strict=True):
        assert line["data set"] == own.dataset and keys[line["ranker"]] == own.ranker
        assert line["max F1"] == f"{own.best_f1_micro_mean:.3f} ± {own.best_f1_micro_sd:.3f}"
        assert float(line["place"]) == table.at[own.dataset, own.ranker]


def test_stability_is_the_frames(whole):
    read, comparison, *_ = whole
    lines = {(line["data set"], line["ranker"]): line for line in read.lines("g0-stability-table")}
    there = comparison.stability[comparison.stability["reason"] == ""]
    assert len(lines) == len(there) == 13
    for own in there.itertuples():
        line = lines[own.dataset, comparison.labels[own.ranker]]
        assert line["AUFUJI"] == f"{own.aufuji:.3f}" and line["folds"] == "6"
        for top in (10, 50, 100):
            value, lower, upper = (getattr(own, f"phi_top_{top}{end}") for end in ("", "_lower", "_upper"))
            assert line[f"Φ, top {top}"] == f"{value:.3f} [{lower:.3f}, {upper:.3f}]"
    assert [line["AUFUJI"] for line in read.lines("g0-stable")] == ["1.000"] * 4
    assert any(a.get("href") == "#g0-stability" for _, a in read.elements)


def test_stability_tells_ties_narrow_data_and_missing_weights(tmp_path):
    frame, configs = pages.study(["chess", "genes", "dlbcl"], n_features=60)
    rng = np.random.default_rng(0)
    for place in frame.index:
        dataset, ranker = frame.loc[place, ["dataset", "ranker"]]
        weights = rng.random(60)
        if ranker == "poor":
            weights[np.argsort(-weights)[5:]] = 0.0
        frame.at[place, "weights"] = None if (dataset, ranker) == ("genes", "fair") else weights
    path, (comparison,) = pages.write(tmp_path, frame, configs)
    read = pages.Read(path)
    lines = {(line["data set"], line["ranker"]): line for line in read.lines("g0-stability-table")}
    label = {key: value[0] for key, value in pages.RANKERS.items()}
    assert ("genes", label["fair"]) not in lines and len(lines) == 11
    assert lines["chess", label["poor"]]["Φ, top 10"].endswith("] *")
    assert lines["chess", label["good"]]["Φ, top 10"].endswith("]")
    assert {line["Φ, top 100"] for line in lines.values()} == {"–"}
    assert f"No stability of {label['fair']} on genes: the rows hold no weights." in read.text
    assert "The top 100 are all features, so nothing is chosen: chess, genes, dlbcl." in read.text
    # The mean is over the data sets that all rankers have: not genes.
    own = comparison.stability.query("dataset != 'genes' and ranker == 'good'")["aufuji"].mean()
    means = {line["ranker"]: line for line in read.lines("g0-stable")}
    assert means[label["good"]]["AUFUJI"] == f"{own:.3f}" and means[label["good"]]["Φ, top 100"] == "–"


def test_every_gap_is_told_with_its_reason(whole):
    read, *_ = whole
    lines = {(line["data set"], line["ranker"]): line for line in read.lines("g0-missing-table")}
    label = {key: value[0] for key, value in pages.RANKERS.items()}
    assert set(lines) == {("genes", label["slow"]), ("dlbcl", label["poor"]), ("chess", label["fair"])}
    assert lines["genes", label["slow"]]["state"] == "timed out"
    assert "made up to be timeout" in lines["genes", label["slow"]]["reason"]
    assert lines["chess", label["fair"]]["reason"] == "1 of 2 repeats"
    status = {line["ranker"]: line for line in read.lines("g0-status")}
    assert status[label["poor"]]["dlbcl"] == "1/2 1 failed"
    assert status[label["good"]]["dlbcl"] == "2/2"
    assert [line["folds"] for line in read.lines("g0-failures")] == ["1", "6"]
    states = [line["state"].partition(";")[0] for line in read.lines("g0-failures")]
    assert states == ["failed", "timed out"]
    assert all("tried again" in line["state"] for line in read.lines("g0-failures"))


def test_ranker_pages_have_the_places_everywhere(whole):
    read, comparison, *_ = whole
    for number, ranker in enumerate(comparison.rankers):
        lines = read.lines(f"g0-ranker-{number}-datasets")
        assert [line["data set"] for line in lines] == list(pages.DATASETS)
        table = comparison.scores["best_f1"]
        for line in lines:
            value = table.loc[line["data set"]].get(ranker, np.nan)
            assert line["max F1"] == ("–" if np.isnan(value) else f"{value:.3f}")
        ranks = {line["by"]: line for line in read.lines(f"g0-ranker-{number}-ranks")}
        assert list(ranks) == [measure.title for measure in MEASURES.values()]
        for key, measure in MEASURES.items():
            rank = comparison.ranks[key].average_ranks[ranker]
            assert ranks[measure.title]["average rank"] == f"{rank:.2f}"
        against = read.lines(f"g0-ranker-{number}-opponents")
        assert len(against) == 3
        for line in against:
            other = next(key for key, label in comparison.labels.items() if label == line["against"])
            assert line["practically equal"] == page.sentences.probability(
                comparison.posterior.of(ranker, other)[1]
            )


def test_ranker_pages_have_the_best_three_the_nearest_and_the_cost(whole):
    read, comparison, *_ = whole
    key_of = {label: key for key, label in comparison.labels.items()}
    order = list(comparison.ranks["best_f1"].average_ranks.sort_values(kind="stable").index)
    for number, ranker in enumerate(comparison.rankers):
        best = read.lines(f"g0-ranker-{number}-best")
        assert [key_of[line["against"]] for line in best] == [each for each in order if each != ranker][:3]
        for line in best:
            p = comparison.posterior.of(ranker, key_of[line["against"]])
            assert line["this one better"] == page.sentences.probability(p[0])
            assert line["this one worse"] == page.sentences.probability(p[2])
        alike = read.lines(f"g0-ranker-{number}-alike")
        values = [float(line["AUFUJI of weights"]) for line in alike]
        assert values == sorted(values, reverse=True) and len(values) == 3
        for line in alike:
            expected = comparison.similarity["weights"].at[ranker, key_of[line["ranker"]]]
            assert line["AUFUJI of weights"] == f"{expected:.3f}"
        cost = {line["data sets"]: line for line in read.lines(f"g0-ranker-{number}-cost")}
        seconds = comparison.scores["fit_seconds"].loc["madelon"]
        assert cost["madelon"]["place"] == f"{int((seconds < seconds[ranker]).sum()) + 1} of 4"
        times = seconds[ranker] / seconds.min()
        assert float(cost["madelon"]["times the fastest"].replace(",", "")) == pytest.approx(times, rel=0.01)


def test_provenance(whole):
    read, _, frame, _ = whole
    assert "python run.py study=mcc dataset=chess,madelon" in read.text
    assert "python report.py study=mcc dataset=chess,madelon" in read.text
    assert "/somewhere/of/mine" not in read.source
    (machine,) = read.lines("machines")
    assert machine == {"machine": "Linux, made up, 2 cores", "rows": f"{len(frame)}"}
    assert read.lines("versions") == [{"package": "numpy", "version": "2.0", "rows": f"{len(frame)}"}]
    cells = read.lines("keys")
    assert len(cells) == 16
    assert sum(int(line["cells"]) for line in cells) == frame["cell_key"].nunique()
    assert "How posteriors were sampled" in read.text and "made up" in read.text


def test_unlike_machines_and_versions_are_pointed_out(tmp_path):
    frame, configs = pages.study(["chess"])
    frame.loc[0, "machine"] = json.dumps({"system": "Other", "processor": None, "cores": 64})
    frame.loc[1, "versions"] = json.dumps({"numpy": "1.26"})
    read = pages.Read(pages.write(tmp_path, frame, configs)[0])
    assert "2 kinds of machines" in read.text and "Several versions were at work of: numpy" in read.text


def test_names_and_errors_are_text_and_nothing_else(tmp_path):
    frame, configs = pages.study([HOSTILE, "chess"], {HOSTILE: (HOSTILE, 0.5, 1.0), "b": ("B", 0.4, 1.0)})
    frame.loc[(frame["ranker"] == "b") & (frame["dataset"] == "chess"), ["status", "error"]] = [
        "failed",
        HOSTILE,
    ]
    path, _ = pages.write(tmp_path, frame, configs, arguments=[HOSTILE])
    read = pages.Read(path)
    assert [tag for tag, _ in read.elements].count("script") == 2
    assert not [a for tag, a in read.elements if tag == "img"]
    assert read.data["g0"]["rankers"][0]["label"] == HOSTILE
    assert HOSTILE in [line["ranker"] for line in read.lines("g0-rankers")]
    assert any(HOSTILE in line["error"] for line in read.lines("g0-failures"))


def test_the_same_rows_give_the_same_bytes(tmp_path, whole):
    _, _, frame, configs = whole
    first = pages.write(tmp_path / "a", frame, configs)[0].read_bytes()
    assert pages.write(tmp_path / "b", frame, configs)[0].read_bytes() == first


def test_a_page_that_cannot_be_written(tmp_path):
    frame, configs = pages.study(["chess"])
    (tmp_path / "report").write_text("in the way")
    with pytest.raises(BadInputError, match="cannot be written"):
        pages.write(tmp_path / "report", frame, configs)


def test_where_little_is_shared_it_is_said(tmp_path):
    states = {
        (dataset, ranker): "missing" for dataset, ranker in zip(pages.DATASETS, pages.RANKERS, strict=True)
    }
    frame, configs = pages.study(states=states)
    path, (comparison,) = pages.write(tmp_path, frame, configs)
    (shared,) = comparison.ranks["best_f1"].used
    read = pages.Read(path)
    assert f"On {shared}, the one data set that the compared rankers share, " in read.text
    (away,) = comparison.rank_left_out["best_f1"]
    assert {line["ranker"]: line["rank by max F1"] for line in read.lines("g0-rankers")}[
        comparison.labels[away]
    ] == "–"


# --- little, or nothing -------------------------------------------------------------------------


def test_an_empty_store(tmp_path):
    frame, configs = pages.study(states={("*", "*"): "missing"})
    read = pages.Read(pages.write(tmp_path, frame, configs)[0])
    assert "4 rankers on 0 of 4 data sets" in read.text
    assert "Nothing can be compared yet: no ranker is complete on any data set." in read.text
    assert "16 of 16 pairs of data set and ranker are not complete" in read.text
    assert len(read.lines("g0-missing-table")) == 16
    assert (
        read.data["g0"]["curves"] == {} and read.data["g0"]["ranks"] == {} and read.data["g0"]["cost"] == {}
    )
    assert "ranks need two complete rankers" in read.data["g0"]["reasons"]["best_f1"]


def test_only_failed_cells(tmp_path):
    frame, configs = pages.study(["chess"], states={("*", "*"): "failed"})
    read = pages.Read(pages.write(tmp_path, frame, configs)[0])
    assert "Nothing can be compared yet" in read.text
    assert {line["error"] for line in read.lines("g0-failures")} == {"RankerError: made up to be failed"}
    assert {line["state"] for line in read.lines("g0-missing-table")} == {"failed"}


def test_one_ranker(tmp_path):
    frame, configs = pages.study(rankers={"a": ("A", 0.5, 1.0)})
    read = pages.Read(pages.write(tmp_path, frame, configs)[0])
    assert "1 ranker on 4 data sets" in read.text
    assert "Only A is complete, so there is nothing to compare it with." in read.text
    assert len(read.data["g0"]["curves"]) == 4


def test_one_data_set(tmp_path):
    frame, configs = pages.study(["chess"])
    path, (comparison,) = pages.write(tmp_path, frame, configs, tested=False)
    read = pages.Read(path)
    best = comparison.scores["best_f1"].iloc[0].max()
    assert f"On chess, Slow and <good> comes first by max F1 ({best:.3f})." in read.text
    assert "One data set says nothing about others." in read.text
    assert "That is too little for a test of ranks." in read.text
    assert "Bayesian test (F1" not in read.text
    assert "Friedman's test" not in read.text
    for given in read.data["g0"]["ranks"].values():
        assert given["cd"] is None and given["friedman"] is None and given["cliques"] == []
        assert given["no_test"].startswith("it needs two data sets or more")
    assert (
        read.data["g0"]["untested"]
        == "there is one data set, and the test, which is over data sets, needs two"
    )
    assert "No pair was tested: there is one data set" in read.text


@pytest.mark.parametrize(
    ("settings", "name", "why"),
    [
        ({"rankers": {"a": ("A", 0.5, 1.0)}}, "mcc", "A alone is complete, and a pair needs two"),
        ({"states": {("*", "*"): "missing"}}, "mcc", "no ranker is complete on any data set"),
        (
            {"states": {(each, "*"): "missing" for each in pages.DATASETS[1:]}},
            "mcc",
            "rankers are complete on chess alone, and the test needs two data sets",
        ),
        (
            {
                "states": {
                    **{("chess", ranker): "missing" for ranker in ("fair", "poor")},
                    **{("madelon", ranker): "missing" for ranker in ("slow", "good")},
                },
                "datasets": pages.DATASETS[:2],
            },
            "mcc",
            "no two rankers are complete on the same two data sets, which the test needs",
        ),
        ({}, None, "the report of a study with a name tests them"),
    ],
)
def test_why_no_pair_was_tested(tmp_path, settings, name, why):
    frame, configs = pages.study(**settings)
    made = pages.comparisons(frame, configs, tested=False)
    path = page.write(made, study=name, frame=frame, configs=configs, path=tmp_path / "it.html")
    read = pages.Read(path)
    assert read.data["g0"]["untested"].startswith(why)
    assert f"No pair was tested: {why}" in read.text
    assert "named study tests them" not in read.source


def test_rankers_without_times_have_their_scores(tmp_path):
    frame, configs = pages.study()
    frame.loc[frame["ranker"] == "good", "fit_seconds"] = np.nan
    path, (comparison,) = pages.write(tmp_path, frame, configs, tested=False)
    lines = {line["ranker"]: line for line in pages.Read(path).lines("g0-rankers")}
    line = lines[pages.RANKERS["good"][0]]
    for column, measure in (("max F1", "best_f1"), ("AUrF1", "aurf1")):
        assert line[column] == f"{comparison.scores[measure]['good'].mean():.3f}"
    assert (line["seconds"], line["rank by time"]) == ("–", "–")
    assert lines["Fair"]["seconds"] != "–"


def test_the_first_screen_names_what_average_ranks_leave_out(tmp_path):
    states = {("madelon", "poor"): "missing", ("genes", "poor"): "missing"}
    frame, configs = pages.study(states=states)
    configs = [{**each, "also": each["ranker_key"] == "poor"} for each in configs]
    read = pages.Read(pages.write(tmp_path, frame, configs, tested=False)[0])
    (first,) = re.findall(r'<p class="apart">(.*?)</p>', read.source)
    label = pages.RANKERS["poor"][0]
    assert first.replace("&#39;", "'") == (
        f"Left out of all average ranks: madelon and genes, on which {label} is not complete. "
        "Without also=, average ranks include these data sets."
    )
    frame, configs = pages.study()
    assert 'class="apart"' not in pages.write(tmp_path, frame, configs, tested=False)[0].read_text()


def test_similarity_is_shown_with_as_many_decimals_as_make_it_different(tmp_path):
    names = [f"r{n}" for n in range(6)]
    values = 1 - 0.0025 * np.abs(np.subtract.outer(np.arange(6), np.arange(6)))  # 0.9875 to 0.9975
    packed = charts.square(
        pd.DataFrame(values, index=names, columns=names), dict(zip(names, names, strict=True))
    )
    assert packed["digits"] == 4
    assert len({fixed(value, packed["digits"]) for value in np.ravel(packed["values"])}) == 6
    assert similarity_digits([0.2, 0.9]) == 2 and similarity_digits([0.4, 0.8]) == 3
    assert similarity_digits([0.2, 0.9, 0.9991]) == 3 and similarity_digits([1.0, 1.0]) == 2
    assert (
        similarity_digits([]) == similarity_digits([np.nan]) == 2 and similarity_digits([0.9999999, 1.0]) == 5
    )
    assert (similarity_shown(0.99996), similarity_shown(1.0), similarity_shown(0.9994)) == (
        "> 0.999",
        "1.000",
        "0.999",
    )


def test_numbers_that_the_script_writes_are_not_rounded_twice(whole):
    read, comparison, *_ = whole
    for key, given in read.data["g0"]["ranks"].items():
        np.testing.assert_allclose(given["ranks"], comparison.ranks[key].average_ranks, rtol=1e-11)
    assert (charts.one(11.454900001, 12), charts.one(11.454900001)) == (11.454900001, 11.455)


def test_data_sets_that_are_not_here(tmp_path):
    frame, configs = pages.study(states={("genes", "*"): "missing"})
    read = pages.Read(
        pages.write(tmp_path, frame, configs, absent={"genes": "no file in /secret/place\nmore words"})[0]
    )
    assert "4 rankers on 3 of 4 data sets" in read.text
    left_out = (
        "Not on this machine and cannot be downloaded, so left out: genes (python run.py datasets check"
    )
    assert left_out in read.text
    assert {line["reason"] for line in read.lines("g0-missing-table")} == {"the data set is not available"}
    assert "secret" not in read.source


def test_two_kinds_of_targets_on_one_page(tmp_path):
    one, first = pages.study(["chess"])
    two, second = pages.study(["medical"], task="multilabel")
    read = pages.Read(pages.write(tmp_path, pd.concat([one, two], ignore_index=True), [*first, *second])[0])
    assert list(read.data) == ["g0", "g1"]
    assert "with one class per sample" in read.text and "with several labels per sample" in read.text


def test_measurements_alone(tmp_path):
    frame, configs = pages.study(
        ["chess"], {"a": ("A", 0.5, 1.0)}, n_repeats=1, n_splits=1, protocol="phases"
    )
    frame["kind"] = "phases"
    frame["measurement"] = "{}"
    for config in configs:
        config["protocol"]["measure"] = {"_target_": "x.y"}
    path = page.write(
        [],
        study="phases",
        frame=frame,
        configs=configs,
        path=tmp_path / "p.html",
        unmeasured=["genes × A: no file"],
    )
    read = pages.Read(path)
    (line,) = read.lines("measured")
    assert line["data set"] == "chess" and line["result"] == "2 s: weights 75%, distances 25%"
    assert "genes × A: no file" in read.text
    assert "1 result on 1 of 1 data set (protocol phases)" in read.text


def test_nothing_was_asked_for(tmp_path):
    frame, _ = pages.study(["chess"])
    read = pages.Read(page.write([], study=None, frame=frame, configs=[], path=tmp_path / "p.html"))
    assert "There is nothing to show" in read.text


def test_claims_are_a_table_with_their_outcomes(tmp_path):
    frame, configs = pages.study(["chess"])
    claims = pd.DataFrame(
        {
            "about": ["mcc"] * 3,
            "statement": ["one", "two", "three"],
            "verdict": ["holds", "does not hold", "cannot be decided"],
            "at_hand": ["holds", "does not hold", "no rows"],
            "repeats": ["", "1 of 10", ""],
            "related": ["no rows", "holds", "–"],
            "repeats_related": ["", "7 of 10", ""],
            "evidence": ["0.9 > 0.8", "0.7 < 0.8", ""],
            "evidence_related": ["", "0.82 > 0.81", ""],
            "missing": ["", "", "genes"],
            "place": ["Figure 1", "Table 2", "Section 5"],
            "reading": ["as it stands", "it | wins", "x"],
        }
    )
    read = pages.Read(pages.write(tmp_path, frame, configs, claims=claims)[0])
    assert "on the paper's data sets: holds 1, does not hold 1, cannot be decided 1" in read.text
    lines = read.lines("claims-table")
    assert [[line[f"on {scope}"] for scope in SCOPES] for line in lines] == [
        ["holds", "holds", "no rows"],
        ["does not hold (holds in 1 of 10 repeats)"] * 2 + ["holds (in 7 of 10 repeats)"],
        ["cannot be decided", "no rows", "–"],
    ]
    assert [line["what the rows say"] for line in lines] == [
        "0.9 > 0.8",
        "0.7 < 0.8. Related data sets: 0.82 > 0.81",
        "Missing: genes",
    ]
    assert [line["it holds where"] for line in lines] == ["as it stands", "it | wins", "x"]


def test_figures_are_taken_in(tmp_path):
    class Drawn:
        figure, stem, title, note = "times", "mcc_times", "A figure", "Missing: genes"
        files = (tmp_path / "a.png", tmp_path / "a.svg")

    class Other(Drawn):
        figure, stem = "posterior", "mcc_posterior"

    Drawn.files[1].write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    frame, configs = pages.study(["chess"])
    read = pages.Read(pages.write(tmp_path, frame, configs, drawn=[Drawn, Other])[0])
    (image,) = [attributes for tag, attributes in read.elements if tag == "img"]
    packed = image["src"].removeprefix("data:image/svg+xml;base64,")
    assert base64.b64decode(packed) == Drawn.files[1].read_bytes()
    assert image["alt"] == "A figure. Missing: genes"
    assert "and drawn above from their numbers: a.svg" in read.text, "its numbers are drawn by the page"
    assert "as SVG and PNG." in read.text


def test_a_figure_that_is_png_alone_is_taken_in_as_that(tmp_path):
    class Drawn:
        figure, stem, title, note = "times", "mcc_times", "A figure", ""
        files = (tmp_path / "a.png",)

    class Other(Drawn):
        figure, stem, files = "posterior", "mcc_posterior", (tmp_path / "mcc_posterior.png",)

    Drawn.files[0].write_bytes(b"\x89PNG and so on")
    frame, configs = pages.study(["chess"])
    read = pages.Read(pages.write(tmp_path, frame, configs, drawn=[Drawn, Other])[0])
    (image,) = [attributes for tag, attributes in read.elements if tag == "img"]
    assert base64.b64decode(image["src"].removeprefix("data:image/png;base64,")) == b"\x89PNG and so on"
    assert "and drawn above from their numbers: mcc_posterior.png" in read.text and ", as PNG." in read.text
