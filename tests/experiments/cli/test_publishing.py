"""Published rows: copied whole, read without data, found by whoever runs the same, and what is said of them."""

import io
import json
import re
import shutil
from dataclasses import replace

import made_up_rows
import numpy as np
import pandas as pd
import pytest
from folders import PROJECT_ROOT
from listening import LASTING, Listening
from PIL import Image

import bootstrap
from experiments import datasets, report
from experiments.analysis.paper import measurements
from experiments.cli import publish, published_story, published_texts
from experiments.config.compose import compose_runs
from experiments.errors import BadInputError
from experiments.evaluation import versions as package_versions
from experiments.execution.runner import run_study
from experiments.execution.study import Study
from experiments.figures import style
from experiments.report.figures import draw_group
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


def test_seconds_are_means_over_data_sets_that_all_with_times_have(run, tmp_path, monkeypatch):
    frame, folder = run
    untimed = (frame["dataset"] == "wine") & (frame["ranker"] == "relieff")
    partly = frame.assign(fit_seconds=frame["fit_seconds"].mask(untimed))
    monkeypatch.setattr(publish, "rows", lambda *_: (partly, configs("tiny", folder)))
    text = published_texts.overview(publish.compared("tiny", folder))
    assert "seconds of one fit, mean over breast_cancer." in text
    (line,) = [each for each in text.splitlines() if each.startswith("| Mutual information |")]
    mine = frame[(frame["dataset"] == "breast_cancer") & (frame["ranker"] == "mutual_information")]
    assert float(line.split("|")[-2]) == pytest.approx(mine["fit_seconds"].mean(), rel=0.06)


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


def test_published_figures_are_one_small_file_each(run):
    _, folder = run
    (folder / "figures").mkdir()
    stem = "wine_quick[grid_points=4,n_repeats=2,n_splits=3]_mutual_information+relieff"
    stale, other = (folder / "figures" / name for name in (f"{stem}_rf1.svg", "of_someone_else.svg"))
    for file in (stale, other):
        file.write_text("<svg/>")
    written = publish.show("tiny", io.StringIO(), folder)
    figures = [file for file in written if file.parent.name == "figures"]
    assert figures and {file.suffix for file in figures} == {".png"}
    for file in figures:
        with Image.open(file) as image:
            assert image.mode == "P", file.name
    assert stale.with_suffix(".png") in figures and not stale.exists()
    assert other.exists(), "what no study makes is left alone"
    # Whoever runs a study by themselves gets both.
    frame, asked = publish.rows("tiny", folder)
    mine = report.show(frame, asked, {"results": folder.parent / "mine"}, io.StringIO())
    assert {file.suffix for file in mine if file.parent.name == "figures"} == {".png", ".svg"}


def test_the_overview_has_the_numbers_of_the_rows(run):
    frame, folder = run
    text = published_texts.overview(publish.compared("tiny", folder))
    for ranker, name in (("relieff", "ReliefF"), ("mutual_information", "Mutual information")):
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for place, dataset in enumerate(("wine", "breast_cancer"), start=2):
            mine = frame[(frame["ranker"] == ranker) & (frame["dataset"] == dataset)]
            assert cells[place] == f"{np.mean([max(curve) for curve in mine['f1_micro']]):.3f}"
    assert "2 repeats of 3-fold" in text and "Missing" not in text
    index = json.loads((folder / "rows" / "cells.json").read_text())
    index["tiny"] = [each for each in index["tiny"] if each[1:3] != ["wine", "relieff"]]
    (folder / "rows" / "cells.json").write_text(json.dumps(index))
    text = published_texts.overview(publish.compared("tiny", folder))
    (line,) = [line for line in text.splitlines() if line.startswith("| ReliefF |")]
    assert line.split("|")[3].strip() == "–"
    assert "seconds of one fit, mean over breast_cancer." in text  # the one on which both have times
    assert "* ReliefF: wine (not run, or not all of it)" in text


@pytest.mark.parametrize("name", ["phases", "adaptive_k", "sparsity", "latent_dimension"])
def test_measurements_have_their_numbers_in_the_overview(name):
    frame, asked = publish.rows(name)
    text = published_texts.overview(publish.compared(name))
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    pairs = frame[frame["status"] == "ok"][["dataset", "ranker"]].drop_duplicates()
    assert len(lines) == len(pairs) > 0
    assert [line[0] for line in lines] == pairs["dataset"].tolist()
    if name != "phases":
        assert [line[2] for line in lines] == measurements.summary(frame)["result"].tolist()
    else:
        means = measurements.phase_means(measurements.points(frame, "phases"))
        totals = means.drop_duplicates(["dataset", "ranker"])["total"]
        assert [float(line[2].split()[0]) for line in lines] == pytest.approx(totals.tolist(), rel=0.01)
        assert all(line[2].endswith("(mean of 3 fits)") for line in lines)
    never = dict.fromkeys(
        each["dataset_key"] for each in asked if each["dataset_key"] not in set(frame["dataset"])
    )
    assert not never or f"* not run: {', '.join(never)}\n" in f"{text}\n"


def test_claims_in_the_texts_have_their_criterion_and_say_once_what_all_lack(tmp_path):
    (tmp_path / "tables").mkdir()
    lacking = "har, genes (every ranker)"
    noise = "within the noise of the folds"
    pd.DataFrame(
        {
            "about": ["mlc", "mlc"],
            "statement": ["it is 13th", "it | wins"],
            "reading": ["place 13 ± 3", "rank 1"],
            "reason": ["seeds move it", "so it says"],
            "verdict": ["cannot be decided"] * 2,
            "at_hand": ["holds", "no rows"],
            "noise": [noise, ""],
            "related": ["does not hold", "–"],
            "noise_related": ["", ""],
            "evidence": ["place 11 of 48", ""],
            "evidence_related": ["place 30 of 48", ""],
            "missing": [lacking, f"{lacking}; times of chess × A"],
        }
    ).assign(place="figure 1").to_csv(tmp_path / "tables" / "claims.csv", index=False)
    text = published_texts.claims_overview(tmp_path)
    assert text.count(lacking) == 1
    assert text.startswith(
        "Of 2 claims of the paper: on the paper's data sets 2 cannot be decided; on those at hand 1 holds, 1 has "
        "no rows (1 of these verdicts within the noise of the folds); on related data sets 1 does not hold.\n"
    )
    assert (
        f"| it is 13th | place 13 ± 3 (seeds move it) | cannot be decided | holds, {noise} | does not hold | "
        "place 11 of 48. Related data sets: place 30 of 48 |"
    ) in text
    assert (
        "| it \\| wins | rank 1 (so it says) | cannot be decided | no rows | – | "
        "Missing: also times of chess × A |"
    ) in text


def test_the_page_of_all_studies_lists_what_is_decided_beyond_the_noise_and_who_is_first(run):
    _, folder = run
    noise = "within the noise of the folds"
    claims = pd.DataFrame(
        [
            ("a", "holds", "holds", "", "no rows", ""),
            ("b", "cannot be decided", "holds", "", "does not hold", ""),
            ("c", "cannot be decided", "holds", noise, "no rows", ""),
            ("d", "does not hold", "does not hold", "", "does not hold", noise),
            ("e", "cannot be decided", "does not hold", noise, "no rows", ""),
            ("f", "cannot be decided", "no rows", "", "no rows", ""),
        ],
        columns=["statement", "verdict", "at_hand", "noise", "related", "noise_related"],
    ).assign(about="mcc", missing="")
    told = replace(publish.compared("tiny", folder), about="Small. And more.")
    text = published_story.story([told], claims)
    _, _, rest = text.partition("## What holds of the paper")
    holds, _, rest = rest.partition("## What does not hold")
    listed = re.findall(r"^\* (.+)$", holds, re.M)
    assert listed == [
        "a (on all of the paper's data sets that it needs)",
        "b (on related ones: does not hold)",
    ]
    assert re.findall(r"^\* (.+)$", rest, re.M) == ["d (on all of the paper's data sets that it needs)"]
    frame, _ = publish.rows("tiny", folder)
    assert f"| [tiny](results/tiny.md) | Small. | {frame['dataset'].nunique()} | {len(frame)} |" in text
    ranks = told.comparisons[0].ranks["best_f1"].average_ranks
    first = f"{told.comparisons[0].labels[ranks.index[0]]} {ranks.iloc[0]:.2f}"
    assert re.search(rf"^\* \[tiny\]\(results/tiny.md\), .*: {re.escape(first)}.*; ", text, re.M)


def test_figures_of_the_texts_are_those_of_the_published_rows(tmp_path):
    files = {file for file, _ in published_story.FIGURES.values()}
    studies = {name for name in publish.studies() if any(file.startswith(f"{name}_") for file in files)}
    with style.published():
        for name in studies:
            told = publish.compared(name)
            for comparison in told.comparisons:
                draw_group(comparison, tmp_path)
    for file in files:
        shown, drawn = (
            np.asarray(Image.open(folder / file).convert("RGB"), dtype=int)
            for folder in (PROJECT_ROOT / "docs" / "results", tmp_path / "figures")
        )
        assert shown.shape == drawn.shape and np.abs(shown - drawn).max() <= 2, file


def test_texts_are_written_where_figures_are_not_made(run, monkeypatch, tmp_path):
    _, folder = run
    monkeypatch.setattr(published_texts, "_PAGES", tmp_path)
    monkeypatch.setattr(published_texts, "texts", lambda folder: {tmp_path / "a.md": "a"})
    assert published_texts.write_texts(folder) == [tmp_path / "a.md"]
    (name, _), *_ = published_story.FIGURES.values()
    (folder / "figures").mkdir(exist_ok=True)
    (folder / "figures" / name).write_bytes(b"picture")
    assert published_texts.write_texts(folder) == [tmp_path / "a.md", tmp_path / name]
    (folder / "figures" / name).unlink()


def test_claims_are_checked_on_the_rows_of_all_published_studies(tmp_path, monkeypatch):
    rankers = dict(list(made_up_rows.RANKERS.items())[:8])
    times, times_configs = made_up_rows.study(["madelon"], rankers, name="one", n_repeats=1, n_splits=10)
    chess, chess_configs = made_up_rows.study(["chess"], rankers, name="two", n_repeats=10, n_splits=10)
    both = {"one": (times, times_configs), "two": (chess, chess_configs)}
    monkeypatch.setattr(publish, "studies", lambda folder: list(both))
    monkeypatch.setattr(publish, "rows", lambda name, folder: both[name])
    found, files = publish.claims(io.StringIO(), tmp_path)
    assert [file.name for file in files] == ["claims.csv"]
    line = found.set_index("claim").loc["faster than all Relief rankers"]
    assert "0 of 32 comparisons" in line["evidence"] and "on chess, madelon" in line["evidence"]
    text = published_texts.claims_overview(tmp_path)
    assert "slower in 0 of 32 comparisons" in text


def test_what_is_not_there_is_named(tmp_path, run):
    _, folder = run
    with pytest.raises(BadInputError, match="nothing has been published"):
        publish.rows("tiny", tmp_path / "nowhere")
    with pytest.raises(BadInputError, match="other has not been published; published: tiny"):
        publish.rows("other", folder)
    with pytest.raises(BadInputError, match=r"claims.csv is missing"):
        published_texts.claims_overview(folder)
    with pytest.raises(BadInputError, match=r"studies.yaml"):
        publish.studies(folder)
    (folder / "studies.yaml").write_text("- tiny\n")
    (folder / "tables").mkdir(exist_ok=True)
    shutil.copy(publish.FOLDER / "tables" / "claims.csv", folder / "tables")
    with pytest.raises(BadInputError, match=r"does not name mcc_published, whose table README.md shows"):
        published_texts.texts(folder)
    (folder / "studies.yaml").write_text("- mcc\n- 3\n")
    with pytest.raises(BadInputError, match="list of names"):
        publish.studies(folder)


def test_a_part_of_a_text_is_replaced():
    text = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n"
    assert published_texts.update_part(text, "x", "new\n") == text.replace("old", "new")
    for wrong in (text.replace("begin", "start"), text.replace("end", "stop"), ""):
        with pytest.raises(BadInputError, match="x: begin"):
            published_texts.update_part(wrong, "x", "new")


def test_numbers_in_the_texts_are_those_of_the_published_rows():
    for file, text in published_texts.texts().items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name} is stale: python publish.py texts"


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
    assert published_texts._MAIN in names
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
