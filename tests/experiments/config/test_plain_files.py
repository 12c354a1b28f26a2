"""YAML files that are read without a composition: as Hydra composes them, and all others left to it."""

import copy
import shutil

import pytest

from experiments.config import compose
from experiments.config.catalog import files
from experiments.config.compose import GROUPS, PROJECT_ROOT, compose_runs
from experiments.errors import ConfigError

CONF = PROJECT_ROOT / "conf"


def test_shipped_files_are_the_blocks_that_hydra_composes():
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from omegaconf import OmegaConf

    shipped = {group: files([CONF], group) for group in GROUPS}
    # All files of a group side by side, each at a place of its own.
    asked = [f"+{group}@{group}s.{name}={name}" for group, each in shipped.items() for name in each]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        composed = OmegaConf.to_container(hydra_compose("config", overrides=asked), resolve=False)
    for group, each in shipped.items():
        for name, file in each.items():
            assert repr(compose._plain(file)) == repr(composed[f"{group}s"][name]), (group, name)


#: What a ranker's file may hold that Hydra does not take as it is, or not at all.
OTHERS = {
    "defaults": "defaults: [relieff, _self_]\nn_neighbors: 4\n",
    "package": "# @package ranker\n_target_: reliefe.ReliefF\nn_neighbors: 4\n",
    "empty": "",
    "list": "- _target_: reliefe.ReliefF\n",
    "broken": "_target_: [reliefe.ReliefF\n",
    "twice": "_target_: reliefe.ReliefF\nn_neighbors: 4\nn_neighbors: 5\n",
    "bytes": b"_target_: reliefe.ReliefF\ndisplay_name: \xff\n",
}


def composed(folder):
    try:
        return compose_runs(["ranker=mine", "--config-dir", str(folder)]).configs[0]["ranker"]
    except (ConfigError, UnicodeDecodeError) as error:
        return str(error)


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_left_to_hydra(name, tmp_path):
    file = tmp_path / "ranker" / "mine.yaml"
    file.parent.mkdir()
    text = OTHERS[name]
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = composed(tmp_path)
    assert compose._plain(file) is None
    if name in ("defaults", "package"):
        assert found["_target_"].endswith("ReliefF") and found["n_neighbors"] == 4
    else:
        assert isinstance(found, str)


@pytest.mark.parametrize("text", ["n_neighbors: 1e1\n", "n_neighbors: ${seed}\n", "n_neighbors: 0o7\n"])
def test_numbers_and_references_are_read_as_hydra_reads_them(text, tmp_path, monkeypatch):
    file = tmp_path / "ranker" / "mine.yaml"
    file.parent.mkdir()
    file.write_text("_target_: reliefe.ReliefF\n" + text, encoding="utf-8")
    assert compose._plain(file) is not None
    found = composed(tmp_path)
    monkeypatch.setattr(compose, "_plain", lambda file: None)
    assert repr(found) == repr(composed(tmp_path))


def test_a_changed_file_is_read_again(tmp_path):
    """Blocks that a process has composed are kept, but not past a change of a file, or of a block by its taker."""
    conf = tmp_path / "conf"
    shutil.copytree(CONF, conf)
    asked = ["ranker=surf,relieff", "ranker.n_jobs=2", "dataset=wine"]
    first = compose_runs(asked, conf).configs
    kept = copy.deepcopy(first)
    for config in first:
        config["ranker"].clear()
        config["protocol"]["learner"] = None
    assert compose_runs(asked, conf).configs == kept
    for name, old, new in (
        ("ranker/relieff", "n_neighbors: 15", "n_neighbors: 16"),
        ("config", "seed: 0", "seed: 1"),
    ):
        file = conf / f"{name}.yaml"
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1
        file.write_text(text.replace(old, new), encoding="utf-8")
    changed = compose_runs(asked, conf).configs
    assert [each["seed"] for each in changed] == [1, 1] and [each["seed"] for each in kept] == [0, 0]
    assert changed[1]["ranker"] == kept[1]["ranker"] | {"n_neighbors": 16}
    assert changed[0]["ranker"] == kept[0]["ranker"]


#: What may be laid over a block: values of every kind, blocks, references, targets, and what is refused.
CHANGES = [
    ["ranker=relieff", "ranker.n_neighbors=7"],
    ["ranker=relieff", "ranker.n_neighbors=null"],
    ["ranker=relieff", "ranker.n_neighbors=1e1"],
    ["ranker=relieff", "ranker.n_neighbors=0x10"],
    ["ranker=relieff", "ranker.n_neighbors=010"],
    ["ranker=relieff", "ranker.n_neighbors=${seed}"],
    ["ranker=relieff", "ranker.n_neighbors=${nowhere}"],
    ["ranker=relieff", "ranker.verbose=true", "ranker.verbose=false"],
    ["ranker=relieff", "ranker.display_name='null'"],
    ["ranker=relieff", 'ranker.display_name="a b, c"'],
    ["ranker=relieff", "ranker.display_name='it\\'s'"],
    ["ranker=relieff", "ranker.discrete_features=[0,2,a]"],
    ["ranker=relieff", "ranker.n_neighbors={a:1}"],
    ["ranker=relieff_hamming", "ranker.n_neighbors=3"],
    ["ranker=reliefe_cosine", "ranker.display_name=mine"],
    ["ranker=turf", "ranker.estimator._target_=reliefe.SURF", "ranker.estimator.verbose=true"],
    ["ranker=turf", "ranker.estimator={_target_:reliefe.SURF}"],
    ["ranker._target_=sklearn.feature_selection.f_classif"],
    ["protocol.learner.C=10", "protocol.n_splits=3"],
    ["protocol=paper", "protocol.learner={_target_:sklearn.naive_bayes.GaussianNB}"],
    ["protocol=paper", "protocol.learner={C:3.5}", "protocol.multilabel_learner.random_state=1"],
    ["dataset=csv", "dataset.path=t.csv", "dataset.target=y", "dataset.na_values=[-,'?']"],
    ["dataset=csv", "dataset.path='a=b.csv'", "dataset.target=y"],
    ["launcher.n_workers=3", "launcher=dask"],
    ["paths.results=/some/where"],
    ["seed=3", "ranker=relieff", "ranker.random_state=4"],
]


@pytest.mark.parametrize("typed", CHANGES, ids=" ".join)
def test_changes_are_laid_over_a_block_as_by_hydra(typed, monkeypatch):
    def configs():
        try:
            return repr(compose_runs(typed).configs)
        except ConfigError as error:
            return str(error)

    found = configs()
    composed = []
    hydra_compose = compose._hydra_compose
    monkeypatch.setattr(compose, "_KEPT", {})
    monkeypatch.setattr(compose, "_plain", lambda file: None)
    monkeypatch.setattr(compose._Composer, "_as_written", lambda *_: None)
    monkeypatch.setattr(
        compose, "_hydra_compose", lambda *given: composed.append(given) or hydra_compose(*given)
    )
    assert configs() == found
    assert composed
