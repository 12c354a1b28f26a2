"""The best features as people see them: on the console, in tables, on the page."""

import io

import numpy as np
import pages
import pandas as pd
import pytest

from experiments import report
from experiments.analysis.best_features import best_features
from experiments.formatting import fixed, percent
from experiments.report import study as whole_study

HOSTILE = "x</script><b>&\"', %_$"


def named(frame):
    """Names of the 200 features of made-up data sets; one of them is no one's friend."""
    names = tuple(HOSTILE if column == 0 else f"gene {column}" for column in range(200))
    return dict.fromkeys(frame["dataset"].unique(), names)


@pytest.fixture(scope="module")
def few():
    """A study in which one ranker is not complete, and weights differ between folds."""
    frame, configs = pages.study(states={("genes", "slow"): "timeout"})
    rng = np.random.default_rng(5)
    weights = [None if own is None else own + rng.normal(size=200) / 3 for own in frame["weights"]]
    return frame.assign(weights=weights), configs


def shown(frame, configs, tmp_path, **settings):
    out = io.StringIO()
    written = report.show(frame, configs, {"results": tmp_path}, out, **settings)
    return out.getvalue(), [file.name for file in written]


def one_of(few):
    """Rows and configuration of one ranker on one data set, typed without a study."""
    frame, configs = few
    (config,) = (
        {key: value for key, value in each.items() if key != "study"}
        for each in configs
        if (each["dataset_key"], each["ranker_key"]) == ("chess", "good")
    )
    return frame, [config]


def test_the_console_lists_ten_features_of_one_ranker(few, tmp_path):
    frame, configs = one_of(few)
    text, _ = shown(frame, configs, tmp_path, feature_names=named(frame))
    found = best_features(frame, names=named(frame))
    found = found[(found["dataset"] == "chess") & (found["ranker"] == "good")]
    lines = text.splitlines()
    start = lines.index("best features of 200, by 6 folds")
    body = [line for line in lines[start:] if "%" in line]
    assert len(body) == 10 and lines.index("written:") > lines.index(body[-1])
    for line, each in zip(body, found.itertuples(), strict=False):
        told = f"{percent(each.chosen)} {fixed(each.mean_rank, 1)} {each.mean_weight:.4g}"
        assert " ".join(line.split()) == " ".join(f"{each.feature} {told}".split())


def test_several_rankers_get_a_table_and_no_list(few, tmp_path):
    frame, configs = few
    configs = [{key: value for key, value in each.items() if key != "study"} for each in configs]
    text, files = shown(frame, configs[:4], tmp_path, feature_names=named(frame))
    assert "best features of" not in text
    (file,) = (name for name in files if name.endswith("_best_features.csv"))
    table = pd.read_csv(tmp_path / "tables" / file)
    found = best_features(frame, names=named(frame))
    expected = found[found["dataset"] == "chess"].drop(columns="protocol").reset_index(drop=True)
    pd.testing.assert_frame_equal(table, expected)
    assert HOSTILE in set(table["feature"])


def test_what_limits_the_counts_is_said(few, tmp_path):
    frame, configs = one_of(few)
    frame = frame[frame["dataset"].eq("chess") & frame["ranker"].eq("good")]
    kept = [own if fold else None for own, fold in zip(frame["weights"], frame["fold"], strict=True)]
    frame = frame.assign(weights=kept)
    text, _ = shown(frame, configs, tmp_path)
    assert "best features of 200, by 4 folds" in text
    assert "Rankings were kept of 4 of 6 folds: chess." in text
    assert f"feature {best_features(frame)['column'].iloc[0]} " in text  # without names features are counted
    tied = frame.assign(weights=[np.repeat(np.arange(25.0), 8)] * len(frame))
    text, _ = shown(tied, configs, tmp_path)
    assert "In 6 folds equal weights share the places up to the 20th." in text


def test_a_study_has_tables_of_all_data_sets_and_rankers(few, tmp_path, monkeypatch, undrawn):
    monkeypatch.setattr(whole_study.posteriors, "of_group", lambda *_, **__: None)
    frame, configs = few
    found = whole_study.write(frame, configs, tmp_path, feature_names=named(frame))
    assert "mcc_best_features.csv" in {file.name for file in found.written}
    table = pd.read_csv(tmp_path / "tables" / "mcc_best_features.csv")
    assert len(table) == 15 * 20  # 4 data sets × 4 rankers, one of which is not complete on one


def test_the_page_has_the_first_five_of_each_data_set_and_ranker(few, tmp_path):
    frame, configs = few
    path, (comparison,) = pages.write(tmp_path, frame, configs, tested=False)
    lines = pages.Read(path).lines("g0-best")
    best = comparison.best_features.query("place <= 5")
    assert len(lines) == len(best) == 15 * 5  # one ranker is not complete on one of four data sets
    for line, own in zip(lines, best.itertuples(), strict=True):
        assert (line["data set"], line["ranker"]) == (own.dataset, comparison.labels[own.ranker])
        assert (line["place"], line["feature"]) == (str(own.place), str(own.feature))
        assert line["share of folds"] == percent(own.chosen) and line["mean rank"] == f"{own.mean_rank:.1f}"
