"""Numbers do not change without their version, and a key is the same wherever the project is installed."""

import json

import numpy as np
import pytest
import stored_numbers
import yaml
from folders import PROJECT_ROOT

from experiments.errors import ConfigError
from experiments.evaluation import versions as module
from experiments.evaluation.cell import cells_of
from experiments.evaluation.versions import NUMBERS, present, versions

STORED = json.loads(stored_numbers.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_those_of_their_version(name):
    """Where this fails on purpose: raise the number in evaluation/versions.py, run support/stored_numbers.py."""
    assert STORED[name]["version"] == NUMBERS[name]
    found = stored_numbers.found(name)
    assert found and found == STORED[name]["digests"]


def test_nothing_is_stored_that_has_no_version():
    assert set(STORED) == set(NUMBERS)
    relief = {name for name in STORED if name in stored_numbers.rankers() and name.startswith("reliefe.")}
    assert len(relief) == 8
    assert all(len(STORED[name]["digests"]) >= 4 for name in relief)
    assert len(STORED["reliefe.ReliefF"]["digests"]) == 6


def test_a_digest_sees_numbers_and_no_rounding():
    values = np.array([0.25, -1.0, 1 / 3])
    assert stored_numbers.digest(values) == stored_numbers.digest(values * (1 + 1e-14))
    assert stored_numbers.digest(values) != stored_numbers.digest(values + np.array([0, 0, 1e-8]))
    assert stored_numbers.digest(np.array([0.0])) == stored_numbers.digest(np.array([-0.0]))


def test_everything_of_the_project_that_is_configured_has_a_version():
    files = [
        file for group in ("ranker", "protocol") for file in (PROJECT_ROOT / "conf" / group).glob("*.yaml")
    ]
    found = set()
    for file in files:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        found |= module._targets(content)
    ours = {name for name in found if name.partition(".")[0] in ("reliefe", "experiments")}
    assert len(ours) > 20
    assert {module.name_in_keys(name) for name in ours} <= set(NUMBERS)


def test_by_whatever_path_something_is_named_it_has_its_version():
    short, long = versions({"_target_": "reliefe.ReliefF"}), versions({"_target_": "reliefe.relieff.ReliefF"})
    assert short["reliefe.ReliefF"] == long["reliefe.ReliefF"] == f"numbers {NUMBERS['reliefe.ReliefF']}"
    nested = {"_target_": "reliefe.TuRF", "estimator": {"_target_": "reliefe.MultiSURF"}}
    assert {"reliefe.TuRF", "reliefe.MultiSURF"} <= set(versions(nested))
    with pytest.raises(ConfigError, match=r"experiments.f1.unknown has no version of its numbers"):
        versions({"_target_": "experiments.f1.unknown"})
    assert present("reliefe.ReliefF") == short["reliefe.ReliefF"]


PROTOCOL = {
    "name": "tiny",
    "n_splits": 3,
    "n_repeats": 1,
    "grid_points": 5,
    "learner": {"_target_": "experiments.learners.NestedLogisticRegression"},
    "multilabel_learner": {"_target_": "sklearn.ensemble.RandomForestClassifier"},
}


def keys(target, task="multiclass"):
    config = {
        "protocol": PROTOCOL,
        "ranker": {"_target_": target},
        "ranker_key": "r",
        "dataset_key": "d",
        "seed": 0,
    }
    (cell,) = cells_of(config, checksum="0" * 64, task=task)
    return cell.key, cell.reference.key


@pytest.mark.parametrize("target", ["reliefe.SURF", "experiments.rankers.scores.anova_f", "reliefe.ReliefE"])
def test_a_key_is_the_same_in_a_checkout_and_in_a_wheel(target, monkeypatch):
    here = keys(target)
    for by_module in ({}, {"experiments": ["reliefe-bench"], "reliefe": ["reliefe-bench"]}):
        monkeypatch.setattr(module, "_by_module", lambda found=by_module: found)
        module._distributions.cache_clear()
        assert keys(target) == here
    module._distributions.cache_clear()


def test_a_release_changes_no_key_and_other_numbers_do(monkeypatch):
    import reliefe

    before, of_labels = keys("reliefe.ReliefF"), keys("reliefe.ReliefF", "multilabel")
    module.installed.cache_clear()
    monkeypatch.setattr(reliefe, "__version__", "99.0")
    assert keys("reliefe.ReliefF") == before
    monkeypatch.setitem(NUMBERS, "reliefe.SURF", 99)
    assert keys("reliefe.ReliefF") == before
    monkeypatch.setitem(NUMBERS, "reliefe.ReliefF", 99)
    assert keys("reliefe.ReliefF")[0] != before[0] and keys("reliefe.ReliefF")[1] == before[1]
    monkeypatch.setitem(NUMBERS, "evaluation.multiclass", 99)
    assert keys("reliefe.ReliefF")[1] != before[1]
    assert keys("reliefe.ReliefF", "multilabel")[1] == of_labels[1]
    module.installed.cache_clear()
