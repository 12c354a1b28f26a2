"""Files are named after the study or the selection: nobody writes over what another command has made."""

import io
import itertools
import re
import threading

import pandas as pd
import pytest
from made_up import config, frame, repeats
from made_up_rows import study

from experiments import report
from experiments.config.compose import compose_runs, names
from experiments.paths import conf_folder, file_stem
from experiments.report.names import Names


def written(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def show(folder, *rankers, dataset="digits", protocol="quick", **settings):
    configs = [config(each, dataset=dataset, protocol=protocol) for each in rankers]
    rows = frame(*(repeats(each, dataset=dataset, protocol=protocol) for each in rankers))
    return report.show(rows, configs, {"results": folder}, io.StringIO(), whole=True, **settings)


def test_a_narrower_command_leaves_a_wider_result_as_it_is(tmp_path):
    show(tmp_path, "a", "b", "c")
    wide = written(tmp_path)
    show(tmp_path, "a")
    both = written(tmp_path)
    assert wide.items() <= both.items() and len(both) == 2 * len(wide)
    table = pd.read_csv(tmp_path / "tables" / "digits_quick_a+b+c.csv")
    assert sorted(table["ranker"]) == ["a", "b", "c"]
    assert pd.read_csv(tmp_path / "tables" / "digits_quick_a.csv")["ranker"].tolist() == ["a"]


def test_two_runs_at_once_have_files_of_their_own(tmp_path):
    """Each table, figure and page is that of its run, whoever writes last."""
    pairs = [("a", "b"), ("c",)]
    threads = [threading.Thread(target=show, args=(tmp_path, *rankers)) for rankers in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for rankers in pairs:
        stem = f"digits_quick_{'+'.join(rankers)}"
        found = pd.read_csv(tmp_path / "tables" / f"{stem}.csv")["ranker"]
        assert sorted(found) == list(rankers)
        for place in (f"figures/{stem}_rf1.png", f"figures/{stem}_rf1.svg", f"report/{stem}.html"):
            assert (tmp_path / place).is_file()
    assert len(written(tmp_path)) == 8


def test_the_order_of_names_makes_no_other_files(tmp_path):
    show(tmp_path, "a", "b")
    first = set(written(tmp_path))
    show(tmp_path, "b", "a")
    assert set(written(tmp_path)) == first


def of(*argv):
    return Names(compose_runs(argv).configs)


@pytest.mark.parametrize(
    ("argv", "page"),
    [
        (["dataset=wine", "ranker=relieff"], "wine_quick_relieff"),
        (["dataset=wine,digits", "ranker=surf,relieff"], "digits+wine_quick_relieff+surf"),
        (["dataset=wine", "ranker=relieff", "seed=3"], "wine_quick[seed=3]_relieff"),
        (["dataset=wine", "ranker=relieff", "ranker.n_neighbors=5"], "wine_quick_relieff[n_neighbors=5]"),
        (["study=smoke"], "smoke"),
        (["study=smoke", "launcher.n_workers=1", "paths.results=x"], "smoke"),
        (["study=smoke", "dataset=wine"], "smoke[dataset=wine]"),
        (["study=smoke", "dataset=emotions,wine", "seed=3"], "smoke[dataset=emotions+wine,seed=3]"),
        (["study=smoke", "protocol=paper", "dataset=wine"], "smoke[dataset=wine,protocol=paper]"),
        (["study=smoke", "dataset=wine", "also=surf"], "smoke[dataset=wine]+surf"),
        (["study=smoke", "also._target_=cheap.between"], "smoke+between"),
    ],
)
def test_pages_are_named_after_what_was_asked_for(argv, page):
    assert of(*argv).page == page


def test_many_names_are_counted_and_told_apart_by_their_digest():
    many = of("dataset=wine", "ranker=glob(*)").page
    assert many.startswith("wine_quick_") and "_rankers-" in many and len(many) < 60
    fewer = of("dataset=wine", "ranker=glob(r*)").page
    assert "_rankers-" in fewer and fewer != many


def test_a_selection_that_is_no_whole_table_says_so():
    pairs = [("d", "a"), ("d", "b"), ("e", "a")]
    partly = Names([config(ranker, dataset=dataset) for dataset, ranker in pairs])
    whole = Names([config(ranker, dataset=dataset) for dataset, ranker in [*pairs, ("e", "b")]])
    other = Names([config(ranker, dataset=dataset) for dataset, ranker in [*pairs[:1], ("e", "b")]])
    assert whole.page == "d+e_p_a+b"
    assert partly.page.startswith("d+e_p_a+b_3_of_4-") and other.page.startswith("d+e_p_a+b_2_of_4-")
    assert (partly.of_pair("d", "p"), partly.of_pair("e", "p")) == ("d_p_a+b", "e_p_a")


def test_a_protocol_named_by_hand_is_told_from_another_of_that_name():
    one, other = (
        of("dataset=wine", "ranker=relieff", "protocol.name=mine", f"protocol.n_splits={n}").page
        for n in (3, 4)
    )
    assert one != other and one.startswith("wine_mine-") and other.startswith("wine_mine-")


def own(path, *typed, ranker="relieff"):
    return of("dataset=csv", f"dataset.path={path}", f"ranker={ranker}", *typed).page


def test_files_of_ones_own_are_told_apart_by_path_and_target(tmp_path):
    """Another target, another folder or a name that another data set has: no table is written over."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "my.csv").write_text("x,t,u\n" + "1,p,q\n2,q,p\n" * 4, encoding="utf-8")
    one, other = (tmp_path / folder / "my.csv" for folder in ("a", "b"))
    typed = [
        (one, "dataset.target=t"),
        (one, "dataset.target=u"),
        (one, "dataset.target=[t,u]"),
        (other, "dataset.target=t"),
    ]
    made = [own(*each) for each in typed]
    assert len(set(made)) == len(made)
    assert all(re.fullmatch(r"my\.csv-[0-9a-f]{8}_quick_relieff", each) for each in made)
    assert made == [own(*each) for each in typed]
    called_wine = own(one, "dataset.target=t", "dataset.name=wine")
    assert called_wine.startswith("wine-") and called_wine != of("dataset=wine", "ranker=relieff").page


def test_a_file_of_ones_own_has_one_name_from_every_folder(tmp_path, monkeypatch):
    (tmp_path / "my.csv").write_text("x,t\n" + "1,p\n2,q\n" * 4, encoding="utf-8")
    whole = own(tmp_path / "my.csv", "dataset.target=t")
    monkeypatch.chdir(tmp_path)
    assert own("my.csv", "dataset.target=t") == own("./my.csv", "dataset.target=t") == whole


def test_rankers_of_one_name_in_two_modules_are_told_apart():
    made = []
    for target in ("one.Mine", "two.Mine"):
        asked = config("Mine[k=3]")
        asked["ranker"]["_target_"] = target
        made.append(Names([asked]).page)
    assert len(set(made)) == 2
    assert all(re.fullmatch(r"d_p_Mine\[k=3\]-[0-9a-f]{8}", each) for each in made)


def stems(study):
    """All stems of tables and figures that are named after a study, a data set or a protocol."""
    configs = compose_runs([f"study={study}"]).configs
    made = Names(configs)
    for each in configs:
        protocol = each["protocol"]["name"]
        if each["protocol"].get("measure"):
            kind = each["protocol"]["measure"]["_target_"].rpartition(".")[2]
            yield file_stem(*made.of_measured(protocol), *([] if kind == protocol else [kind]))
        else:
            yield made.of_pair(each["dataset_key"], protocol)
    yield made.page


def test_no_two_shipped_studies_write_the_same_file():
    found = {study: set(stems(study)) for study in names(conf_folder(), "study")}
    for one, other in itertools.combinations(found, 2):
        assert not found[one] & found[other], (one, other)
    assert "mcc_published_chess_paper" in found["mcc_published"]
    assert "mcc_skrebate_chess_paper" in found["mcc_skrebate"]
    assert "truth_recovery" in found["truth"]
    assert "truth_published_truth_recovery" in found["truth_published"]
    assert found["sparsity"] == {"sparsity"}


def test_a_part_of_a_study_leaves_the_study_as_it_is(tmp_path, monkeypatch, undrawn):
    monkeypatch.setattr(
        "experiments.report.posteriors._run", lambda pairs: pytest.fail("one ranker has no pair")
    )
    one = {"a": ("A", 0.0, 1.0)}
    for name, datasets in (("mine", ["d", "e"]), ("mine[dataset=d]", ["d"])):
        made, configs = study(datasets, one, name=name, n_repeats=1, n_splits=3)
        before = written(tmp_path)
        report.show(made, configs, {"results": tmp_path}, io.StringIO(), whole=True)
        assert before.items() <= written(tmp_path).items()
    assert {path.name for path in (tmp_path / "report").iterdir()} == {"mine.html", "mine[dataset=d].html"}
    assert (tmp_path / "tables" / "mine_d_paper.csv").is_file()
    assert (tmp_path / "tables" / "mine[dataset=d]_d_paper.csv").is_file()
