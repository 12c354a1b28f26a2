"""``also=``: a ranker beside those of a study, on the command line, in pairs and in keys."""

import sys

import numpy as np
import pages
import pytest

from experiments.analysis.groups import groups_of
from experiments.analysis.pairs import pairs_of
from experiments.analysis.selection import complete_rows
from experiments.config.compose import compose_runs
from experiments.errors import ConfigError
from experiments.evaluation.versions import present, versions
from experiments.report import posteriors

MINE = """
class Mine:
    def __init__(self, power=1):
        self.power = power

    def fit(self, X, y):
        self.scores_ = X.std(axis=0) ** self.power
        return self
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine_for_also.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "mine_for_also.py"
    sys.modules.pop("mine_for_also", None)


def of(*argv):
    return [
        (each["dataset_key"], each["ranker_key"], each.get("also", False))
        for each in compose_runs(argv).configs
    ]


def test_the_study_s_rankers_and_mine(mine):
    plain = of("study=smoke")
    both = of("study=smoke", "also._target_=mine_for_also.Mine")
    assert [each for each in both if not each[2]] == plain
    assert [each for each in both if each[2]] == [("wine", "Mine", True), ("emotions", "Mine", True)]
    configs = compose_runs(["study=smoke", "also._target_=mine_for_also.Mine"]).configs
    assert {config["study"] for config in configs} == {"smoke+Mine"}
    assert {config["protocol"]["name"] for config in configs} == {"smoke"}


def test_mine_is_the_same_ranker_however_it_is_named(mine):
    (beside,) = [
        each
        for each in compose_runs(["study=smoke", "dataset=wine", "also._target_=mine_for_also.Mine"]).configs
        if each.get("also")
    ]
    (alone,) = compose_runs(["study=smoke", "dataset=wine", "ranker._target_=mine_for_also.Mine"]).configs
    for group in ("dataset", "ranker", "protocol", "ranker_key", "protocol_key"):
        assert beside[group] == alone[group]


def test_several_values_and_rankers_with_a_name(mine):
    assert of("dataset=wine", "ranker=relieff", "also._target_=mine_for_also.Mine", "also.power=1,2") == [
        ("wine", "relieff", False),
        ("wine", "Mine[power=1]", True),
        ("wine", "Mine[power=2]", True),
    ]
    assert [each[1] for each in of("dataset=wine", "ranker=relieff", "also=glob(skrebate_s*)")] == [
        "relieff",
        "skrebate_surf",
    ]
    assert of("study=smoke", "dataset=wine", "ranker=relieff", "also=surf,relieff") == [
        ("wine", "relieff", True),
        ("wine", "surf", True),
    ]


def test_settings_of_the_study_s_rankers_are_not_taken_over(mine):
    configs = compose_runs(["study=convergence", "dataset=chess", "also._target_=mine_for_also.Mine"]).configs
    (mine_alone,) = [config for config in configs if config.get("also")]
    assert "n_iterations" not in mine_alone["ranker"]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["study=smoke", "also.power=2"], "which ranker"),
        (["study=smoke", "also=relief"], "did you mean relieff"),
        (["study=smoke", "aslo=relieff"], "did you mean also"),
        (
            ["ranker=relieff,anova_f", "ranker._target_=cheap.between"],
            r"^ranker=relieff,anova_f would not run.*\ntake also._target_=cheap.between to have both$",
        ),
        (
            ["ranker=relieff", "ranker._target_=cheap.between", "ranker.power=2"],
            "^ranker=relieff would not run",
        ),
        (["study=smoke", "ranker=relieff", "ranker._target_=cheap.between"], "^ranker=relieff would not run"),
        (
            ["also=anova_f", "also._target_=cheap.between", "dataset=wine"],
            r"^also=anova_f would not run.*\nto have both, write a file ranker/NAME.yaml .* also=anova_f,NAME",
        ),
        (["study=smoke", "also=anova_f,relieff", "also._target_=cheap.between"], "would not run"),
        (
            ["study=mlc", "target_distance=f1", "ranker._target_=cheap.between"],
            "takes it as ranker.target_distance",
        ),
    ],
)
def test_slips(argv, says):
    with pytest.raises(ConfigError, match=says):
        compose_runs(argv)


def test_a_target_takes_the_place_of_a_study_s_rankers():
    found = of("study=smoke", "ranker._target_=cheap.between")
    assert found == [("wine", "between", False), ("emotions", "between", False)]


def test_a_study_s_file_names_rankers_one_way(tmp_path):
    (tmp_path / "study").mkdir()
    text = "dataset: wine\nranker: [relieff, surf]\nranker._target_: cheap.between\n"
    (tmp_path / "study" / "both_ways.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"both_ways.yaml: ranker=relieff,surf would not run"):
        compose_runs(["study=both_ways", "--config-dir", str(tmp_path)])


def test_pairs_of_an_added_ranker_are_tested_and_the_others_stay():
    frame, configs = pages.study()
    plain = groups_of(configs)[0]
    for config in configs:
        if config["ranker_key"] == "poor":
            config["also"] = True
    (group,) = groups_of(configs)
    assert group.also == ("poor",) and plain.also == ()
    rows = complete_rows(frame, group.expected)
    without = rows[rows["ranker"] != "poor"]
    names = [name for name in group.labels if name != "poor"]
    expected, _ = pairs_of(without, names, most=1)
    found, not_tested = pairs_of(rows, list(group.labels), most=1, also=group.also)
    of_mine = [pair for pair in found if "poor" in (pair.a, pair.b)]
    assert {pair.digest() for pair in found} - {pair.digest() for pair in of_mine} == {
        pair.digest() for pair in expected
    }
    assert len(of_mine) == 2 and len(not_tested) == 1 and "poor" not in not_tested


def test_posteriors_of_another_study_are_taken_up(tmp_path, monkeypatch):
    frame, configs = pages.study()
    sampled = []

    def made_up(pairs):
        sampled.extend((pair.a, pair.b) for pair in pairs)
        nothing = {"r_hat": 1.0, "ess": 500.0, "divergences": 0, "n_draws": 4, "message": ""}
        return [
            {"probabilities": np.array([0.2, 0.3, 0.5]), "draws": np.ones((2, 3)) / 3, **nothing}
            for _ in pairs
        ]

    monkeypatch.setattr(posteriors, "_run", made_up)
    few = [config for config in configs if config["ranker_key"] != "poor"]
    posteriors.of_group(frame, groups_of(few)[0], tmp_path)
    assert len(sampled) == 3
    sampled.clear()
    for config in configs:
        config["study"] = "mcc+poor"
    found = posteriors.of_group(frame, groups_of(configs)[0], tmp_path)
    assert len(found.table) == 6
    assert len(sampled) == 3 and all("poor" in pair for pair in sampled)


def test_rows_of_a_module_of_one_s_own_are_tied_to_its_source(mine):
    block = {"_target_": "mine_for_also.Mine"}
    before = versions(block)
    assert before["mine_for_also"] == present("mine_for_also")
    mine.write_text(MINE + "# another\n")
    assert versions(block)["mine_for_also"] != before["mine_for_also"]
    mine.write_text(MINE)
    assert versions(block) == before
    of_ours = versions(
        {"_target_": "reliefe.ReliefF"}, {"_target_": "skrebate.SURF"}, {"_target_": "sklearn.svm.SVC"}
    )
    assert set(of_ours) == {"numpy", "scipy", "scikit-learn", "numba", "reliefe.ReliefF", "skrebate"}


def test_published_posteriors_are_taken_up(tmp_path, monkeypatch):
    frame, configs = pages.study()
    (group,) = groups_of(configs)
    nothing = {"r_hat": 1.0, "ess": 500.0, "divergences": 0, "n_draws": 4, "message": ""}
    answer = {"probabilities": np.array([0.2, 0.3, 0.5]), "draws": np.ones((2, 3)) / 3, **nothing}
    monkeypatch.setattr(posteriors, "_run", lambda pairs: [answer for _ in pairs])
    posteriors.of_group(frame, group, tmp_path / "published")
    monkeypatch.setattr(posteriors, "_run", lambda pairs: pytest.fail(f"{len(pairs)} pairs sampled again"))
    found = posteriors.of_group(frame, group, tmp_path)
    assert len(found.table) == 6 and found.table["p_rope"].eq(0.3).all()
    assert not (tmp_path / "tables").exists()
