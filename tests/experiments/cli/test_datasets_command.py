"""``python run.py datasets``: data against the paper's tables, the list, fetching, the page of it all."""

import socket
import sys

import programs
import pytest
from folders import PROJECT_ROOT
from stated_datasets import NAMES, NEVER_SEEN, PAPER, stated

from experiments.cli import datasets as command
from experiments.datasets.overview import as_markdown, as_text, find_out

PAGE = PROJECT_ROOT / "docs" / "datasets.md"


@pytest.fixture
def run(capsys):
    def do(*argv):
        code = command.main(argv)
        said = capsys.readouterr()
        return code, said.out, said.err

    return do


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


def wine(**changes):
    return {**stated("wine"), **changes}


#: What wine would have to be in the paper to be the same.
SAME = {"rows": 178, "features": 13, "classes": 3, "nonzero_share": 1.0}


# --- check


def test_all_20_are_shown_where_none_is_there(run, tmp_path, no_network):
    code, out, err = run("check", f"paths.local_data={tmp_path}")
    assert code == 0 and err == ""
    rows = {line.split()[0]: line.split() for line in out.splitlines()[1:21]}
    assert set(rows) == set(PAPER)
    assert all(cells[1] == "missing" for cells in rows.values())
    assert rows["chess"][2:] == ["[3196]", "[38]", "[2]", "[0.726558]", "3196", "38", "2", "0.726558"]
    assert str(tmp_path / "genes" / "data.csv") in " ".join(out.split())


def test_check_against_the_paper(run, local_data, no_network):
    code, out, err = run("check", f"paths.local_data={local_data}")
    assert code == 0 and err == ""
    rows = {line.split()[0]: line for line in out.splitlines()[1:21]}
    assert set(rows) == set(PAPER)
    differing = {name for name, row in rows.items() if "differs, see below" in row}
    assert differing == {"delicious", "medical", "bibtex"}
    assert {name for name, row in rows.items() if " missing " in row} == NEVER_SEEN - {"p53"}
    same = {name for name, row in rows.items() if row.endswith("as in the paper")}
    assert same == set(PAPER) - NEVER_SEEN - differing
    assert "two columns (value 0, value 1)" in " ".join(out.split())


def test_a_difference_needs_a_reason(run, monkeypatch):
    paper = {**SAME, "features": 26, "nonzero_share": 0.5}
    for changes, code in (
        ({"paper": SAME}, 0),
        ({"paper": paper}, 1),
        ({"paper": paper, "differs": "coded twice"}, 0),
        ({"paper": {**paper, "note": "coded twice"}}, 0),
        ({"paper": {**SAME, "nonzero_share": 0.999999}}, 1),
    ):
        monkeypatch.setattr(
            command, "_configs", lambda *_, changes=changes: ([wine(**changes)], {"local_data": "."})
        )
        found, out, err = run("check", "wine")
        assert found == code
        if code:
            assert "DIFFERS WITHOUT A REASON" in out and "NO REASON STATED" in out
            assert "wine: differs in" in err and "nonzero_share" in err
        if "note" in changes["paper"] or "differs" in changes:
            assert "differs in features, nonzero_share: coded twice" in out


def test_what_is_not_as_stated_is_wrong(run, monkeypatch):
    config = wine(expected={**SAME, "rows": 177})
    monkeypatch.setattr(command, "_configs", lambda *_: ([config], {"local_data": "."}))
    code, out, err = run("check", "wine")
    assert code == 1 and "WRONG" in out
    assert "rows expected 177, found 178" in err


def test_damaged_file_is_wrong(run, tmp_path, local_data):
    (tmp_path / "chess").mkdir()
    good = (local_data / "chess" / "chess.mat").read_bytes()
    (tmp_path / "chess" / "chess.mat").write_bytes(good[:-1])
    code, out, err = run("check", "chess", "digits", f"paths.local_data={tmp_path}")
    assert code == 1
    assert out.splitlines()[1].split()[:2] == ["chess", "wrong"]
    assert out.splitlines()[2].split()[:2] == ["digits", "bundled"]
    assert "chess.mat" in err and "cut off or changed" in err


# --- list and fetch


def test_list(run, no_network):
    code, out, err = run("list")
    assert code == 0 and err == ""
    rows = {line.split()[0]: line for line in out.splitlines()}
    assert set(rows) == set(NAMES)
    assert {name for name, row in rows.items() if "  paper  " in row} == set(PAPER)
    assert "multilabel" in rows["imdb"] and "120919 × 1001" in rows["imdb"]


def test_fetch_takes_what_is_there(run, local_data, no_network):
    code, out, err = run("fetch", "wine", "emotions", f"paths.local_data={local_data}")
    assert code == 0 and err == ""
    assert out.splitlines() == [
        "wine: bundled, 178 × 13, 3 classes or labels",
        "emotions: local, 593 × 72, 6 classes or labels",
    ]


def test_fetch_says_what_cannot_be_had_and_goes_on(run, tmp_path, no_network):
    code, out, err = run("fetch", "biodeg_p2_discrete", "wine", f"paths.local_data={tmp_path}")
    assert code == 1 and out.startswith("wine: bundled")
    assert "biodeg-p2-discrete.arff" in err and "no public copy is known" in err
    assert len(err.splitlines()) == 2


# --- slips of the pen


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["chek"], "did you mean check"),
        (["check", "ches"], "did you mean chess"),
        (["check", "--markdwon"], "did you mean --markdown"),
        (["list", "--all"], "unknown flag --all of list"),
        (["list", "chess"], "takes no names"),
        (["fetch"], "needs names"),
        (["check", "seed=3"], "only keys of paths"),
        (["check", "paths.local_dta=x"], "local_data"),
        (["check", "csv"], "unknown data set 'csv'"),
    ],
)
def test_slips(run, argv, says):
    code, out, err = run(*argv)
    assert code == 2 and out == "" and says in err


def test_help(run):
    assert run("--help")[0] == 0 and "check" in run("-h")[1]
    assert run()[0] == 2


def test_as_a_program(tmp_path):
    done = programs.run(
        [
            sys.executable,
            "run.py",
            "datasets",
            "check",
            "wine",
            "genes",
            f"paths.local_data={tmp_path}",
        ],
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].split()[:6] == ["wine", "bundled", "178", "13", "3", "1.000000"]


# --- the page


def test_page_describes_every_data_set():
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    for name in NAMES:
        block = stated(name)
        assert f"**{name}** — {' '.join(block['citation'].split())}" in page, name
        for key in ("licence", "url"):
            assert " ".join(str(block[key]).split()).rstrip(".") in page, (name, key)


def test_page_is_what_check_writes(run, local_data):
    code, out, _ = run("check", "--markdown", f"paths.local_data={local_data}")
    assert code == 0
    assert out == PAGE.read_text(encoding="utf-8"), (
        "python run.py datasets check --markdown > docs/datasets.md"
    )


def test_bars_and_line_breaks_do_not_break_the_page():
    config = wine(paper={**SAME, "rows": 1}, differs="one | two\nthree")
    found = find_out(config, {"local_data": "."})
    assert "one \\| two three" in as_markdown([found])
    assert "one | two three" in as_text([found])
