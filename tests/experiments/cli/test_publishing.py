"""Published rows: copied whole, read without data, found by whoever runs the same, and what is said of them."""

import io
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from folders import PROJECT_ROOT
from listening import LASTING, Listening

import bootstrap
import publish as publishing
from experiments import datasets
from experiments.analysis.comparison import compare
from experiments.analysis.groups import groups_of
from experiments.cli import main, publish
from experiments.config.compose import compose_runs
from experiments.errors import BadInputError
from experiments.evaluation import versions as package_versions
from experiments.execution.runner import run_study
from experiments.execution.study import Study
from experiments.store.store import Store

pytestmark = pytest.mark.slow

ARGV = [
    "dataset=wine,breast_cancer",
    "ranker=relieff,random_forest",
    "protocol.n_splits=3",
    "protocol.n_repeats=2",
]


def configs(name, folder, local_data=None):
    assert name == "tiny"
    rankers = ["ranker=relieff,mutual_information", *ARGV[2:], "protocol.grid_points=4", ARGV[0]]
    return compose_runs([*rankers, f"paths.results={folder}"]).configs


@pytest.fixture(scope="module", autouse=True)
def read_once():
    """The project's own published rows are read once for all tests here; each is given a copy."""
    read, kept = publish.rows, {}

    def rows(name, folder=publish.FOLDER):
        if folder != publish.FOLDER:
            return read(name, folder)
        if name not in kept:
            kept[name] = read(name, folder)
        frame, asked = kept[name]
        return frame.copy(), list(asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish, "rows", rows)
        yield


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A small study that was run once, and its published copy."""
    results = tmp_path_factory.mktemp("study") / "results"
    result = run_study(configs("tiny", results), n_workers=1, progress=Listening())
    assert result.exit_code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish, "_configs", configs)
        assert publish.collect(results, None, results / "published", ["tiny"]) == {"tiny": (8, 8)}
    return result.frame, results


@pytest.fixture
def run(ran, tmp_path, monkeypatch):
    """The same in a folder of the test's own."""
    frame, results = ran
    shutil.copytree(results, tmp_path / "results")
    monkeypatch.setattr(publish, "_configs", configs)
    return frame.copy(), tmp_path / "results" / "published"


def test_published_rows_are_those_that_were_run_but_for_weights_of_later_repeats(run, monkeypatch):
    frame, folder = run
    monkeypatch.setattr(datasets, "load", None)  # needs no data set
    found, asked = publish.rows("tiny", folder)
    assert len(asked) == 4 and len(found) == len(frame) == 24
    lasting = [name for name in LASTING if name != "weights"]
    for name in [*lasting, "fit_seconds", "learner_seconds", "dataset", "ranker", "protocol"]:
        ours, theirs = (
            [each.tolist() if isinstance(each, np.ndarray) else each for each in these[name]]
            for these in (found, frame)
        )
        assert repr(ours) == repr(theirs)
    first = (frame["repeat"] == 0).to_numpy()
    assert found["weights"][~first].isna().all() and first.sum() == 12
    assert all(
        a.tobytes() == b.tobytes()
        for a, b in zip(found["weights"][first], frame["weights"][first], strict=True)
    )


def test_weights_of_very_many_columns_are_not_published(run, tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "WEIGHTS_OF_OTHER_COLUMNS", 20)  # wine has 13, breast_cancer 30
    folder = tmp_path / "narrow"
    publish.collect(tmp_path / "results", None, folder, ["tiny"])
    found, _ = publish.rows("tiny", folder)
    first = found[found["repeat"] == 0]
    wide = first["dataset"] == "breast_cancer"
    assert first["weights"][wide].isna().all() and first["weights"][~wide].notna().all() and wide.any()


def test_fewer_weights_of_a_subset_of_the_samples_are_published(run, tmp_path, monkeypatch):
    def of_subset(name, folder, local_data=None):
        return [
            {**each, "protocol": {**each["protocol"], "max_rows": 10_000}} for each in configs(name, folder)
        ]

    monkeypatch.setattr(publish, "_configs", of_subset)
    for most, published in ((20, {"wine"}), (30, {"wine", "breast_cancer"})):
        monkeypatch.setattr(publish, "WEIGHTS_OF_SUBSETS", most)
        folder = tmp_path / str(most)
        publish.collect(tmp_path / "results", None, folder, ["tiny"])
        found, _ = publish.rows("tiny", folder)
        assert set(found.loc[found["weights"].notna(), "dataset"]) == published


def test_more_weights_of_the_papers_data_sets_are_published(run, tmp_path, monkeypatch):
    def of_paper(name, folder, local_data=None):
        return [
            {**each, "dataset": {**each["dataset"], "paper": {"rows": 1}}} for each in configs(name, folder)
        ]

    monkeypatch.setattr(publish, "WEIGHTS_OF_OTHER_COLUMNS", 1)
    monkeypatch.setattr(publish, "_configs", of_paper)
    folder = tmp_path / "paper"
    publish.collect(tmp_path / "results", None, folder, ["tiny"])
    found, _ = publish.rows("tiny", folder)
    assert found[found["repeat"] == 0]["weights"].notna().all()


def test_what_is_published_is_not_run_again(run, tmp_path):
    _, folder = run
    other = tmp_path / "other"
    (other / "published").parent.mkdir()
    folder.rename(other / "published")
    again = run_study(configs("tiny", other), n_workers=1, progress=Listening())
    assert again.counts.missing == 0 and len(again.frame) == 24 and not (other / "rows").exists()
    mine = [*configs("tiny", other), *compose_runs(
        ["dataset=wine", "ranker=surf", *ARGV[2:], "protocol.grid_points=4", f"paths.results={other}"]
    ).configs]  # fmt: skip
    both = run_study(mine, n_workers=1, progress=Listening())
    assert both.counts.missing == 2 and both.counts.ran == 2 and set(both.frame["status"]) == {"ok"}
    keys = set(both.frame["cell_key"])
    assert set(Store(other).states(keys).values()) == {"ok"} and len(keys) == 10
    assert Store(tmp_path / "nowhere").states(keys) == {}


def test_times_are_published_from_one_folder_alone_when_it_is_named(run, tmp_path):
    frame, _ = run
    quiet = configs("tiny", tmp_path / "quiet")
    for config in quiet:
        config["protocol"]["n_repeats"] = 1
    timed = run_study(quiet, n_workers=1, progress=Listening()).frame
    counts = publish.collect(
        tmp_path / "results", None, tmp_path / "copy", ["tiny"], times=tmp_path / "quiet"
    )
    assert counts == {"tiny": (8, 8)}
    found, _ = publish.rows("tiny", tmp_path / "copy")
    first = found[found["repeat"] == 0]
    keys = ["cell_key", "fold"]
    both = first.merge(timed, on=keys, suffixes=("", "_quiet"))
    assert len(both) == len(timed) == 12 and (both["fit_seconds"] == both["fit_seconds_quiet"]).all()
    later = found[found["repeat"] == 1]
    assert later[["fit_seconds", "warm_up_seconds", "learner_seconds"]].isna().all(axis=None)
    assert later["aurf1_micro"].tolist() == frame[frame["repeat"] == 1]["aurf1_micro"].tolist()


def packs(folder):
    return {file.name: file.read_bytes() for file in (folder / "rows" / "packs").iterdir()}


def test_each_study_has_a_pack_that_changes_with_its_own_rows_alone(run, tmp_path, monkeypatch):
    def two(name, folder, local_data=None):
        whole = configs("tiny", folder)
        return (
            whole
            if name == "tiny"
            else [{**each, "protocol": {**each["protocol"], "n_repeats": 3}} for each in whole]
        )

    monkeypatch.setattr(publish, "_configs", two)
    results, folder = tmp_path / "results", tmp_path / "copy"
    publish.collect(results, None, folder, ["tiny", "longer"])
    before = packs(folder)
    assert [name.partition("-")[0] for name in before] == [
        "tiny"
    ]  # the other has no finished cell of its own
    assert run_study(two("longer", results), n_workers=1, progress=Listening()).counts.ran > 0
    publish.collect(results, None, folder, ["tiny", "longer"])
    after = packs(folder)
    assert before.items() <= after.items()
    assert sorted(name.partition("-")[0] for name in after) == ["longer", "tiny"]
    found, _ = publish.rows("longer", folder)
    assert sorted(found["repeat"].unique()) == [0, 1, 2]


def test_cells_that_are_not_done_are_not_published(run, tmp_path):
    _, folder = run
    store = Store(tmp_path / "results")
    (gone, *_) = json.loads((folder / "rows" / "cells.json").read_text())["tiny"]
    store.path(gone[0]).unlink()
    before = publish.collect(tmp_path / "results", None, tmp_path / "copy", ["tiny"])
    assert before == {"tiny": (8, 8)}  # it is still there, published
    assert publish.collect(tmp_path / "results", None, folder, ["tiny"]) == {"tiny": (8, 8)}


def test_what_is_not_there_is_named(tmp_path, run):
    _, folder = run
    with pytest.raises(BadInputError, match="nothing has been published"):
        publish.rows("tiny", tmp_path / "nowhere")
    with pytest.raises(BadInputError, match="other has not been published; published: tiny"):
        publish.rows("other", folder)
    with pytest.raises(BadInputError, match=r"studies.yaml"):
        publish.studies(folder)
    (folder / "studies.yaml").write_text("- tiny\n")
    with pytest.raises(BadInputError, match=r"does not name mcc_published, whose table README.md shows"):
        publish.texts(pd.DataFrame(), folder)
    (folder / "studies.yaml").write_text("- mcc\n- 3\n")
    with pytest.raises(BadInputError, match="list of names"):
        publish.studies(folder)


def test_the_main_table_has_the_numbers_of_the_rows(run):
    frame, folder = run
    untimed = (frame["dataset"] == "wine") & (frame["ranker"] == "relieff")
    partly = frame.assign(fit_seconds=frame["fit_seconds"].mask(untimed))
    (group,) = groups_of(configs("tiny", folder))
    table = publish.main_table(compare(partly, group)).set_index("ranker")
    for ranker, name in (("relieff", "ReliefF"), ("mutual_information", "Mutual information")):
        for dataset in ("wine", "breast_cancer"):
            mine = frame[(frame["ranker"] == ranker) & (frame["dataset"] == dataset)]
            assert table.loc[name, dataset] == f"{np.mean([max(curve) for curve in mine['f1_micro']]):.3f}"
        # Seconds are a mean over the data sets on which all rankers with times have them: breast_cancer alone.
        mine = frame[(frame["ranker"] == ranker) & (frame["dataset"] == "breast_cancer")]
        assert table.loc[name, "seconds"] == f"{mine['fit_seconds'].mean():.2g}"
    less = frame[~untimed]
    table = publish.main_table(compare(less, group)).set_index("ranker")
    assert table.loc["ReliefF", "wine"] == "–" and table.loc["ReliefF", "breast_cancer"] != "–"


def test_a_table_in_markdown_keeps_its_cells():
    text = publish.markdown(pd.DataFrame({"a | b": ["1\n2"], "c": ["|"]}))
    assert text == "| a \\| b | c |\n| --- | --- |\n| 1 2 | \\| |"


def test_numbers_in_the_texts_are_those_of_the_published_rows(tmp_path, monkeypatch):
    """The claims are checked with the posteriors in git: none is sampled, and the file of them stays as it is."""
    monkeypatch.setattr(publish.posteriors, "_run", lambda pairs: pytest.fail(f"{len(pairs)} pairs sampled"))
    kept = (publish.FOLDER / "posteriors.npz").read_bytes()
    claims = publish.claims(io.StringIO())
    assert (publish.FOLDER / "posteriors.npz").read_bytes() == kept
    for file, text in publish.texts(claims).items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name} is stale: python publish.py"


def test_few_generated_files_are_in_git_and_they_are_small():
    made = [
        publish.FOLDER / "posteriors.npz",
        PROJECT_ROOT / "docs" / "results.md",
        PROJECT_ROOT / "docs" / "claims.md",
    ]
    made += [
        publish.FOLDER / "figures" / "mcc_published_aurf1.png",
        publish.FOLDER / "report" / "mcc_published.html",
    ]
    assert sum(file.stat().st_size for file in made) < 2 * 2**20


def test_a_part_of_a_text_is_replaced():
    text = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n"
    assert publish.update_part(text, "x", "new\n") == text.replace("old", "new")
    for wrong in (text.replace("begin", "start"), text.replace("end", "stop"), ""):
        with pytest.raises(BadInputError, match="x: begin"):
            publish.update_part(wrong, "x", "new")


def test_published_cells_are_found_by_whoever_runs_the_same(local_data, monkeypatch):
    frame, _ = publish.rows("mcc_published")
    versions = {
        name: version for each in frame["versions"].unique() for name, version in json.loads(each).items()
    }
    # The keys of other versions are others: those of the rows, whatever is installed here.
    monkeypatch.setattr(package_versions, "installed", versions.get)
    argv = ["study=mcc_published", "dataset=chess,dlbcl", f"paths.local_data={local_data}"]
    asked = Study(compose_runs(argv).configs)
    found = Store(publish.FOLDER.parent).states(asked.cells)
    assert len(asked.cells) == 280 and set(found.values()) == {"ok"} and len(found) == 280


def test_a_first_run_works_and_is_not_read_from_published_rows():
    """A study that shares its cells with the default protocol would leave nothing to run for a newcomer."""
    for argv in (
        bootstrap.DEMO,
        ["dataset=wine,breast_cancer", "ranker=relieff,random_forest,mutual_information"],
    ):
        cells = Study(compose_runs(argv).configs).cells
        assert cells and Store(publish.FOLDER).states(cells) == {}


def test_published_studies_are_there_and_hold_no_path_of_a_machine():
    names = publish.studies()
    assert publish.MAIN in names
    for name in names:
        frame, asked = publish.rows(name)
        assert len(frame) and set(frame["status"]) == {"ok"}
        assert set(frame["dataset"]) <= {each["dataset_key"] for each in asked}
    size = sum(file.stat().st_size for file in (publish.FOLDER / "rows").rglob("*") if file.is_file())
    assert size < 40 * 2**20
    for file in publish.FOLDER.rglob("*"):
        if file.suffix in (".csv", ".json", ".html", ".svg", ".tex", ".yaml"):
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"/(tmp|home|root|work|Users|mnt|srv)/", text), file


@pytest.mark.parametrize("place", ["/dev/null", "gone", "file"])
def test_rows_are_collected_from_a_folder_that_is_there(tmp_path, place):
    """What was published stays as it was."""
    (tmp_path / "published" / "rows").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInputError, match="there is no results folder"):
        publish.collect(tmp_path / place, None, tmp_path / "published", ["smoke"])
    assert (tmp_path / "published" / "rows").is_dir()


def interrupted(*args, **settings):
    raise KeyboardInterrupt


def test_ctrl_c_ends_report_and_publish_without_a_traceback(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("experiments.report.show", interrupted)
    asked = ["dataset=wine", "ranker=relieff", f"paths.results={tmp_path}"]
    assert main.report(asked) == 130
    monkeypatch.setattr(publish, "claims", interrupted)
    assert publishing.main([]) == 130
    assert "interrupted" in capsys.readouterr().err
