"""Published rows are found and shown where the data files are not; what is missing is not run without them."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from listening import Listening

from experiments.analysis.best_features import best_features
from experiments.cli import publish
from experiments.cli.main import main
from experiments.config.compose import compose_runs
from experiments.errors import BadInputError, MissingFileError
from experiments.execution import known_data
from experiments.execution.runner import collect_study, run_study

SMALL = ["protocol.n_splits=2", "protocol.n_repeats=1", "protocol.grid_points=2"]
READ = ["dataset=csv", "dataset.path=tiny.csv", "dataset.target=kind"]


def arguments(results, data, ranker="anova_f", *more):
    places = [f"paths.results={results}", f"paths.local_data={data}", f"paths.cache={data}/cache"]
    return [*READ, f"ranker={ranker}", *SMALL, *places, *more]


def composed(*given):
    return compose_runs(arguments(*given)).configs


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A results folder with published rows of two rankers, a folder with the data, and one without."""
    folder = tmp_path_factory.mktemp("published")
    data, empty = folder / "data", folder / "empty"
    data.mkdir()
    empty.mkdir()
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.random((24, 3)).round(3), columns=["left", "right", "a, b"])
    table["kind"] = np.tile(["x", "y", "z"], 8)
    table.to_csv(data / "tiny.csv", index=False)
    ran = run_study(
        composed(folder / "ran", data, "anova_f,mutual_information"), n_workers=1, progress=Listening()
    )
    assert ran.exit_code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            publish, "_configs", lambda *_: composed(folder / "ran", data, "anova_f,mutual_information")
        )
        assert publish.collect(folder / "ran", None, folder / "published", ["tiny"]) == {"tiny": (2, 2)}
    return ran.frame, folder, data, empty


@pytest.fixture
def published(made, tmp_path):
    """Fresh results with these published rows, and the folders with and without the data."""
    frame, folder, data, empty = made
    shutil.copytree(folder / "published", tmp_path / "results" / "published")
    return frame, tmp_path / "results", data, empty


def same_rows(a, b):
    columns = ["cell_key", "dataset", "ranker", "fold", "f1_micro", "weights"]
    pd.testing.assert_frame_equal(a[columns], b[columns])


@pytest.mark.parametrize("read", [collect_study, run_study])
def test_published_rows_are_found_without_the_file(published, read):
    frame, results, _, empty = published
    found = read(composed(results, empty, "anova_f,mutual_information"))
    same_rows(found.frame, frame)
    assert (found.counts.missing, found.counts.ran, found.exit_code) == (0, 0, 0)
    assert found.not_read == ["tiny.csv"]
    assert not (empty / "cache").exists()  # nothing was downloaded or parsed


def test_the_file_is_read_where_it_is(published):
    _, results, data, _ = published
    found = collect_study(composed(results, data))
    assert found.not_read == [] and found.counts.missing == 0


def test_another_file_of_the_name_has_no_published_rows(published, tmp_path):
    _, results, data, _ = published
    other = tmp_path / "other"
    other.mkdir()
    text = (data / "tiny.csv").read_text()
    (other / "tiny.csv").write_text(text.replace("0.", "1.", 1))
    found = collect_study(composed(results, other))
    assert found.counts.missing == 1 and not len(found.frame)


@pytest.mark.parametrize(
    "change",
    [
        "dataset.drop_constant=true",
        "dataset.missing=drop_rows",
        "dataset.leave_out=right",
        "dataset.groups=left",
    ],
)
def test_another_way_of_reading_is_not_known(published, change):
    _, results, _, empty = published
    with pytest.raises(MissingFileError, match=r"tiny\.csv"):
        collect_study(composed(results, empty, "anova_f", change))


def test_a_sample_of_the_samples_is_not_known(published):
    _, results, _, empty = published
    with pytest.raises(MissingFileError, match=r"tiny\.csv"):
        collect_study(composed(results, empty, "anova_f", "protocol.max_rows=12"))


def test_missing_cells_are_told_and_not_run_without_the_file(published):
    frame, results, data, empty = published
    asked = composed(results, empty, "anova_f,chi2")
    found = collect_study(asked)
    assert (found.counts.cells, found.counts.missing) == (2, 1)
    same_rows(found.frame, frame[frame["ranker"] == "anova_f"].reset_index(drop=True))
    with pytest.raises(MissingFileError, match=r"tiny\.csv"):
        run_study(asked, progress=Listening())
    assert not (results / "rows").exists()
    ran = run_study(composed(results, data, "anova_f,chi2"), n_workers=1, progress=Listening())
    assert ran.counts.ran == 1 and ran.exit_code == 0


def test_the_commands_show_them_and_say_that_the_file_is_not_here(published, capsys):
    _, results, _, empty = published
    asked = arguments(results, empty, "anova_f,mutual_information")
    told = "published rows of tiny.csv: the data file is not here and not needed for them\n"
    assert main(asked) == 0
    ran = capsys.readouterr()
    assert told in ran.err and "0 of 2 cells missing; running 0" in ran.err
    assert "24 samples × 3 features" in ran.out
    assert main(["report", *asked]) == 0
    assert (
        f"0 of 2 cells missing or to be tried again; nothing is run here\n{told}" in capsys.readouterr().out
    )


def test_what_is_known_is_written_and_read_back(published, tmp_path):
    _, results, data, _ = published
    known = known_data.read_known(results)
    (one,) = known.values()
    assert one == known_data.KnownData.of(publish.Study(composed(results, data)).data[one.checksum])
    again = tmp_path / "again" / "rows"
    again.mkdir(parents=True)
    (again / known_data.FILE).write_text(known_data.known_text(known))
    assert known_data.read_known(tmp_path / "again") == known
    assert known_data.read_known(tmp_path / "nothing") == {}


@pytest.mark.parametrize("text", ["", "[]", '{"a": {}}', '{"a": 1}', "null"])
def test_a_file_of_another_kind_is_named(tmp_path, text):
    file = tmp_path / "rows" / known_data.FILE
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(BadInputError, match=r"datasets\.json .*publish\.py datasets"):
        known_data.read_known(tmp_path)


def test_every_published_data_set_of_a_file_is_known():
    """After a change of conf/dataset: python publish.py datasets --local-data FOLDER."""
    n_checked = 0
    names = json.loads((publish.FOLDER / "rows" / "cells.json").read_text(encoding="utf-8"))
    known = known_data.read_known(publish.FOLDER)
    for study, cells in names.items():
        files = ",".join(dict.fromkeys(dataset for _, dataset, _, _ in cells if "[" not in dataset))
        # Data sets are asked for alone, so one ranker will do; those with changed sources are made, not read.
        for config in compose_runs([f"study={study}", f"dataset={files}", "ranker=relieff"]).configs:
            block = config["dataset"]
            sources = block.get("sources") or [block["source"]]
            if any("path" in source for source in sources):
                assert known_data.digest_of(config) in known, (study, config["dataset_key"])
                n_checked += 1
    assert n_checked > 20


def test_collecting_keeps_the_best_features_of_folds_whose_weights_are_left_out(made, tmp_path, monkeypatch):
    _, _, data, _ = made
    argv = [each for each in arguments(tmp_path / "ran", data, "anova_f") if "n_repeats" not in each]
    configs = compose_runs([*argv, "protocol.n_repeats=2"]).configs
    new = run_study(configs, n_workers=1, progress=Listening()).frame
    added = [name for name in new if name.startswith("top_")]
    assert len(added) == 4
    monkeypatch.setattr(publish, "_configs", lambda *_: configs)
    publish.collect(tmp_path / "ran", None, tmp_path / "published", ["tiny"])
    kept, _ = publish.rows("tiny", tmp_path / "published")
    assert kept["weights"].isna().tolist() == [False, False, True, True]
    pd.testing.assert_frame_equal(kept[added], new[added])
    assert kept["top_names"].map(set).eq({"left", "right", "a, b"}).all()
    expected = best_features(new)
    assert expected["n_folds"].eq(4).all()
    pd.testing.assert_frame_equal(best_features(kept), expected)
