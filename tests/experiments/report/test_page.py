"""The report page as a file: what stands in it, and that it needs nothing else."""

import base64
import hashlib
import html
import re

import numpy as np
import pages
import pandas as pd
import pytest

from experiments.analysis.claims.check import SCOPES
from experiments.analysis.cost import places
from experiments.errors import BadInputError
from experiments.report import page

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
    policy = next(a["content"] for tag, a in read.elements if a.get("http-equiv"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy and f"script-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy.partition("script-src")[2]


def test_ids_are_unique_and_every_link_leads_somewhere(whole):
    read, *_ = whole
    ids = [attributes["id"] for _, attributes in read.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    links = {a["href"][1:] for tag, a in read.elements if tag == "a"}
    assert links <= set(ids) and {"g0-ranks", "g0-results", "g0-stability", "provenance"} <= links


def test_tables_hold_the_frames(whole):
    read, comparison, *_ = whole
    label = comparison.labels
    ranks, areas = comparison.ranks["best_f1"].average_ranks, comparison.averages["aurf1"].set_index("ranker")
    lines = read.lines("g0-rankers")
    assert [line["ranker"] for line in lines] == [label[ranker] for ranker in ranks.index]
    for line, (ranker, rank) in zip(lines, ranks.items(), strict=True):
        assert line["rank by max F1"] == f"{rank:.2f}" and line["AUrF1"] == f"{areas.at[ranker, 'mean']:.3f}"
    summed = comparison.summary[comparison.summary["complete"]]
    table = places(comparison.scores["best_f1"], higher_is_better=True)
    assert len(summed) == 13
    for line, own in zip(read.lines("g0-all"), summed.itertuples(), strict=True):
        assert line["data set"] == own.dataset and line["ranker"] == label[own.ranker]
        assert line["max F1"] == f"{own.best_f1_micro_mean:.3f} ± {own.best_f1_micro_sd:.3f}"
        assert float(line["place"]) == table.at[own.dataset, own.ranker]
    pairs = comparison.posterior.table
    for line, own in zip(read.lines("g0-pairs-table"), pairs.itertuples(), strict=True):
        assert (line["first"], line["second"]) == (label[own.ranker_a], label[own.ranker_b])
        assert line["first better"] == page.probability(own.p_a)
    there = comparison.stability[comparison.stability["reason"] == ""]
    for line, own in zip(read.lines("g0-stability-table"), there.itertuples(), strict=True):
        assert line["AUFUJI"] == f"{own.aufuji:.3f}" and line["folds"] == "6 of 6"
        value, lower, upper = own.phi_top_10, own.phi_top_10_lower, own.phi_top_10_upper
        assert line["Φ, top 10"] == f"{value:.3f} [{lower:.3f}, {upper:.3f}]"
    # What is sorted by has all digits.
    assert f'<data value="{float(summed["best_f1_micro_mean"].iloc[0])!r}">' in read.source


@pytest.mark.parametrize("n_best", [1, 2, 3, 4])
def test_the_best_score_is_marked_however_many_share_it(tmp_path, n_best):
    frame, configs = pages.study(["chess", "madelon"])
    rankers = list(pages.RANKERS)
    columns = [name for name in frame.columns if name.startswith(("f1_", "best_f1_", "rf1_", "aurf1_"))]
    for fold in frame.index[(frame["dataset"] == "chess") & (frame["ranker"] == "slow")]:
        same = frame[(frame["dataset"] == "chess") & frame["ranker"].isin(rankers[:n_best])]
        same = same[(same["repeat"] == frame.at[fold, "repeat"]) & (same["fold"] == frame.at[fold, "fold"])]
        for other in same.index:
            for column in columns:
                frame.at[other, column] = frame.at[fold, column]
    read = pages.Read(pages.write(tmp_path, frame, configs, tested=False)[0])
    (table,) = re.findall(r'<table id="T_g0-matrix".*?</table>', read.source, re.S)
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.S)[1:]
    best = [row for row in rows if re.search(r'class="[^"]* c1 best"', row)]
    marked = {html.unescape(re.search(r">([^<]*)</td>", row).group(1)) for row in best}
    assert marked == {pages.RANKERS[ranker][0] for ranker in rankers[:n_best]}


def test_every_gap_is_told_with_its_reason(whole):
    read, *_ = whole
    lines = {(line["data set"], line["ranker"]): line for line in read.lines("g0-missing-table")}
    label = {key: value[0] for key, value in pages.RANKERS.items()}
    assert set(lines) == {("genes", label["slow"]), ("dlbcl", label["poor"]), ("chess", label["fair"])}
    assert lines["genes", label["slow"]]["state"] == "timed out"
    assert "made up to be timeout" in lines["genes", label["slow"]]["reason"]
    assert lines["chess", label["fair"]]["reason"] == "1 of 2 repeats"
    failures = read.lines("g0-failures")
    assert [line["folds"] for line in failures] == ["1", "6"]
    assert [line["state"].partition(";")[0] for line in failures] == ["failed", "timed out"]
    assert all("tried again" in line["state"] for line in failures)
    assert {line["ranker"]: line for line in read.lines("g0-matrix")}[label["slow"]]["genes"] == "–"


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
    assert {line["Φ, top 100"] for line in lines.values()} == {"–"}
    assert f"No stability of {label['fair']} on genes: the rows hold no weights." in read.text
    # The mean is over the data sets that all rankers have: not genes.
    own = comparison.stability.query("dataset != 'genes' and ranker == 'good'")["aufuji"].mean()
    means = {line["ranker"]: line for line in read.lines("g0-stable")}
    assert means[label["good"]]["AUFUJI"] == f"{own:.3f}" and means[label["good"]]["Φ, top 100"] == "–"


def test_provenance(whole):
    read, _, frame, _ = whole
    assert "python run.py study=mcc dataset=chess,madelon" in read.text
    assert "python report.py study=mcc dataset=chess,madelon" in read.text
    assert "/somewhere/of/mine" not in read.source
    (machine,) = read.lines("machines")
    assert machine == {"machine": "Linux, made up, 2 cores", "rows": f"{len(frame)}"}
    assert read.lines("versions") == [{"package": "numpy", "version": "2.0", "rows": f"{len(frame)}"}]
    assert {line["setting"]: line["value"] for line in read.lines("sampling-0")}["sampler"] == "made up"


def test_names_are_never_markup(tmp_path):
    frame, configs = pages.study([HOSTILE, "chess"], {"a": (HOSTILE, 0.5, 1.0), "b": ("B", 0.4, 2.0)})
    path, _ = pages.write(tmp_path, frame, configs, name="mcc", arguments=[f"dataset={HOSTILE}"])
    read = pages.Read(path)
    assert sum(tag == "script" for tag, _ in read.elements) == 2  # data and script
    assert not any(tag == "img" for tag, _ in read.elements)
    assert HOSTILE in {line["ranker"] for line in read.lines("g0-rankers")}
    assert HOSTILE in {line["data set"] for line in read.lines("g0-all")}
    assert HOSTILE in read.tables["T_g0-matrix"][0]


def test_a_failing_write_is_a_clear_error(tmp_path):
    frame, configs = pages.study(["chess"])
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(BadInputError, match="file"):
        pages.write(tmp_path / "file", frame, configs, tested=False)


def test_data_sets_that_are_not_here(tmp_path):
    frame, configs = pages.study(states={("genes", "*"): "missing"})
    read = pages.Read(
        pages.write(tmp_path, frame, configs, absent={"genes": "no file in /secret/place\nmore words"})[0]
    )
    assert "4 rankers on 3 of 4 data sets" in read.text
    assert "so left out: genes (python run.py datasets check" in read.text
    assert {line["reason"] for line in read.lines("g0-missing-table")} == {"the data set is not available"}
    assert "secret" not in read.source


def test_two_kinds_of_targets_on_one_page(tmp_path):
    one, first = pages.study(["chess"])
    two, second = pages.study(["medical"], task="multilabel")
    read = pages.Read(pages.write(tmp_path, pd.concat([one, two], ignore_index=True), [*first, *second])[0])
    assert {"T_g0-rankers", "T_g1-rankers"} <= set(read.tables)
    assert "with one class per sample" in read.text and "with several labels per sample" in read.text


def test_measurements_alone(tmp_path):
    frame, configs = pages.study(
        ["chess"], {"a": ("A", 0.5, 1.0)}, n_repeats=1, n_splits=1, protocol="phases"
    )
    frame["kind"] = "phases"
    frame["measurement"] = "{}"
    for config in configs:
        config["protocol"]["measure"] = {"_target_": "x.y"}
    settings = {"frame": frame, "configs": configs, "path": tmp_path / "p.html"}
    read = pages.Read(page.write([], study="phases", unmeasured=["genes × A: no file"], **settings))
    (line,) = read.lines("measurements")
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
    assert [line["numbers"] for line in lines] == [
        "0.9 > 0.8",
        "0.7 < 0.8. Related data sets: 0.82 > 0.81",
        "Missing: genes",
    ]
    assert [line["it holds where"] for line in lines] == ["as it stands", "it | wins", "x"]


def test_figures_are_taken_in(tmp_path):
    class Drawn:
        figure, of, stem, title, note = "times", "mcc", "mcc_times", "A figure", "Missing: genes"
        files = (tmp_path / "a.png", tmp_path / "a.svg")

    class Small(Drawn):
        figure, note, files = "posterior", "", (tmp_path / "a.png",)

    Drawn.files[0].write_bytes(b"\x89PNG and so on")
    Drawn.files[1].write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    frame, configs = pages.study(["chess"])
    read = pages.Read(pages.write(tmp_path, frame, configs, drawn=[Drawn, Small])[0])
    small, image = [attributes for tag, attributes in read.elements if tag == "img"]
    packed = image["src"].removeprefix("data:image/svg+xml;base64,")
    assert base64.b64decode(packed) == Drawn.files[1].read_bytes()
    assert image["alt"] == "A figure. Missing: genes"
    assert base64.b64decode(small["src"].removeprefix("data:image/png;base64,")) == b"\x89PNG and so on"
